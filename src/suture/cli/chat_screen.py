"""What a person sees of a turn: text as it streams, tools as they run, and what became of them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import singledispatchmethod
from typing import Final

import jiter
from rich.console import Console, Group
from rich.live import Live
from rich.markdown import Markdown
from rich.progress import Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.text import Text

from suture.cli.output import safe
from suture.harness.notices import (
    AnswerText,
    CallArguments,
    CallEnded,
    CallProgress,
    CallRunning,
    ModelRemark,
    Notice,
    Reasoning,
    StepDone,
    TranscriptRepaired,
    TurnDone,
)
from suture.transcript import Message, TextPart, ToolPart, output_text
from suture.transcript.codec import dumps

__all__ = ["Screen", "call_line"]

_LONGEST: Final = 200


def call_line(part: ToolPart) -> str:
    """A call as a person reads it: `charge_card(amount="5 EUR")`."""
    given = part.input if isinstance(part.input, dict) else {}
    return safe(f"{part.name}({', '.join(f'{key}={dumps(value)}' for key, value in given.items())})")


def _composed(name: str, text: str) -> str:
    """A call whose arguments are still being written: for looking at only, what runs is read when all is there."""
    try:
        given = jiter.from_json(text.encode(), partial_mode="trailing-strings") if text else {}
    except ValueError:
        return safe(f"{name}({text}")
    shown = ", ".join(f"{key}={dumps(value)}" for key, value in given.items()) if isinstance(given, dict) else text
    return _short(f"{name}({shown}")


def _short(text: str) -> str:
    line = " ".join(safe(text).split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


class Screen:
    """Shows notices on a terminal; elsewhere the same words, without what moves."""

    def __init__(self, console: Console, *, reasoning: bool) -> None:
        """`reasoning` shows what the model thinks in full."""
        self.console: Console = console
        self._reasoning = reasoning
        self._said = ""
        self._thought = ""
        self._composed: dict[str, tuple[str, str]] = {}
        """The calls that the model is still writing: by their ids the name, and the arguments so far."""
        self._live: Live | None = None
        self._running: dict[str, tuple[float, TaskID]] = {}
        self._progress: Progress | None = None

    @singledispatchmethod
    def show(self, notice: Notice) -> None:
        """Show one thing; what is not for a person is not shown."""

    def line(self, text: str, style: str = "") -> None:
        """Print a line below everything else."""
        self.settle()
        self.console.print(Text(text, style=style))

    def settle(self) -> None:
        """Leave what was said where it stands."""
        if self._thought:
            thought, self._thought = self._thought, ""
            words = thought if self._reasoning else f"thought: {_short(thought)}"
            self.console.print(Text(safe(words), style="dim italic"))
        said, self._said = self._said, ""
        self._composed = {}
        if self._live is not None:
            self._live.update(Markdown(safe(said)), refresh=True)
            self._live.stop()
            self._live = None
        elif said:
            self.console.print(Markdown(safe(said)))

    def history(self, messages: Sequence[Message]) -> None:
        """Print messages that were there before."""
        for message in messages:
            for part in message.parts:
                if isinstance(part, TextPart) and message.role == "user":
                    self.console.print(Text(f"> {safe(part.text)}", style="bold"))
                elif isinstance(part, TextPart):
                    self.console.print(Markdown(safe(part.text)))
                elif isinstance(part, ToolPart):
                    self._outcome(part, "")

    # --- one kind of notice each ------------------------------------------------------------------------------------

    @show.register
    def _text(self, notice: AnswerText) -> None:
        if not self._said:
            self.settle()
        self._said += notice.text
        self._move()

    @show.register
    def _arguments(self, notice: CallArguments) -> None:
        _, before = self._composed.get(notice.call, ("", ""))
        self._composed[notice.call] = notice.name, before + notice.arguments
        self._move()

    def _move(self) -> None:
        """Bring what moves up to date: the answer so far, and the calls that are being written."""
        if not self.console.is_terminal:
            return
        if self._live is None:
            self._live = Live(console=self.console, refresh_per_second=10, vertical_overflow="visible")
            self._live.start()
        calls = [Text(f"▸ {_composed(name, text)}", style="dim") for name, text in self._composed.values()]
        self._live.update(Group(Markdown(safe(self._said)), *calls))

    @show.register
    def _thinking(self, notice: Reasoning) -> None:
        self._thought += notice.text

    @show.register
    def _step(self, _: StepDone) -> None:
        self.settle()

    @show.register
    def _call(self, notice: CallRunning) -> None:
        self.settle()
        if self._progress is None:
            columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
            self._progress = Progress(*columns, console=self.console, transient=True)
            self._progress.start()
        task = self._progress.add_task(call_line(notice.call))
        self._running[notice.call.call_id] = time.monotonic(), task

    @show.register
    def _call_progress(self, notice: CallProgress) -> None:
        if self._progress is not None and notice.call in self._running:
            _, task = self._running[notice.call]
            name = str(self._progress.tasks[self._progress.task_ids.index(task)].description).split("  ")[0]
            self._progress.update(task, description=f"{name}  {_short(output_text(notice.output))}")

    @show.register
    def _call_end(self, notice: CallEnded) -> None:
        began, task = self._running.pop(notice.call.call_id, (None, None))
        if task is not None and self._progress is not None:
            self._progress.remove_task(task)
        self.settle()
        self._outcome(notice.call, "" if began is None else f"  {time.monotonic() - began:.1f} s")
        self._rest()

    def _rest(self) -> None:
        if self._progress is not None and not self._running:
            self._progress.stop()
            self._progress = None

    def _outcome(self, part: ToolPart, took: str) -> None:
        mark, style = _CUT_OFF if part.synthetic else _MARKS.get(part.state if not part.preliminary else "", _OPEN)
        said = f": {_short(output_text(part.output))}" if part.settled else ""
        self.console.print(Text(f"{mark} {call_line(part)}{took}{said}", style=style))

    @show.register
    def _repaired(self, notice: TranscriptRepaired) -> None:
        names = ", ".join(safe(getattr(repair.part, "name", "a question")) for repair in notice.repairs)
        count = len(notice.repairs)
        self.line(f"! mended {count} interrupted call{'s' if count != 1 else ''}: {names}", "yellow")

    @show.register
    def _remark(self, notice: ModelRemark) -> None:
        self.line(f"! {_short(notice.text)}", "yellow")

    @show.register
    def _end(self, notice: TurnDone) -> None:
        self._running.clear()
        self._rest()
        self.settle()
        if notice.outcome in _ENDS:
            self.line(f"! {_ENDS[notice.outcome]}{f': {_short(notice.detail)}' if notice.detail else ''}", "red")


_MARKS: Final[dict[str, tuple[str, str]]] = {
    "output-available": ("✓", "green"),
    "output-error": ("✗", "red"),
    "output-denied": ("✗", "yellow"),
    "approval-requested": ("?", "yellow"),
}
"""How a call stands, in one sign."""

_OPEN: Final = ("▸", "")
"""A call that has no outcome yet."""

_CUT_OFF: Final = ("⚡", "yellow")
"""A call whose outcome is not its tool's: it was cut off."""

_ENDS: Final = {
    "stopped": "stopped",
    "failed": "failed",
    "out_of_steps": "too many steps",
    "interrupted": "taken over by another process",
}
"""What is said of a turn that did not simply end."""
