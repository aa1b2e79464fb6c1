"""The agent of `suture chat` where no model is named: a scripted model, and real tools in a folder of its own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

from suture.harness import Agent, ToolContext, tool
from suture.harness.tools import AnyTool
from suture.models import ModelRequest, Piece, ScriptedModel, Step
from suture.store import Store
from suture.transcript import Message, TextPart, ToolPart, output_text

__all__ = ["demo_agent"]

_BUILD_SECONDS: Final = 20
_PAUSE: Final = 0.02
"""Seconds between two words, so that there is something to see."""

_HELLO: Final = """This is a demonstration: a scripted model, with real tools in `{folder}`. Say

- **build**: writes a note, then runs a tool for 20 seconds. Press Ctrl-C, or kill this program, in the middle of it;
- **delete**: asks for your approval first;
- **ask**: asks you a question.

Start `suture chat` again whenever you like: the conversation goes on, and what was cut off says so."""


class _Unhurried(ScriptedModel):
    """Speaks word by word."""

    async def stream(self, request: ModelRequest, /) -> AsyncIterator[Piece]:
        async for piece in super().stream(request):
            await asyncio.sleep(_PAUSE)
            yield piece


def demo_agent(folder: Path, store: Store | str) -> Agent:
    """The agent, whose tools work in a folder, which is made where it is not there."""
    folder.mkdir(parents=True, exist_ok=True)

    def answer(request: ModelRequest) -> Step | str:
        last = request.messages[-1]
        return _opening(last, folder) if last.role == "user" else _following(last)

    return Agent(model=_Unhurried(answer, name="demo"), tools=_tools(folder), store=store)


def _tools(folder: Path) -> list[AnyTool]:
    @tool(effect="pure")
    def list_notes() -> list[str]:
        """List the notes."""
        return sorted(path.name for path in folder.glob("*.txt"))

    @tool(effect="idempotent")
    def write_note(name: str, text: str) -> str:
        """Write a note."""
        path = folder / f"{Path(name).stem}.txt"
        path.write_text(text, encoding="utf-8")
        return f"wrote {path.name}"

    @tool(effect="once", needs_approval=True)
    def delete_note(name: str) -> str:
        """Delete a note."""
        path = folder / f"{Path(name).stem}.txt"
        path.unlink(missing_ok=True)
        return f"deleted {path.name}"

    @tool(effect="once")
    async def build(target: str, ctx: ToolContext) -> str:
        """Build something; it takes a while."""
        log = folder / "build.log"
        for second in range(1, _BUILD_SECONDS + 1):
            await asyncio.sleep(1)
            with log.open("a", encoding="utf-8") as file:
                file.write(f"{target}: step {second}\n")
            ctx.progress(f"step {second} of {_BUILD_SECONDS}")
        return f"built {target} in {_BUILD_SECONDS} steps"

    @tool(client=True, if_interrupted="answer_by_next_message")
    def ask_user(question: str) -> str:
        """Ask the user."""
        raise NotImplementedError

    return [list_notes, write_note, delete_note, build, ask_user]


def _opening(message: Message, folder: Path) -> Step | str:
    """What the model says to a message, by a word in it."""
    words = " ".join(part.text for part in message.parts if isinstance(part, TextPart)).casefold()
    note = ("write_note", {"name": "build", "text": "The build was begun."})
    steps = {
        "build": Step(
            reasoning="A note first, so that somebody knows of it.",
            text="I make a note, and build it.",
            calls=(note, ("build", {"target": "the site"})),
        ),
        "delete": Step(text="That needs your word.", calls=(("delete_note", {"name": "build"}),)),
        "ask": Step(calls=(("ask_user", {"question": "Which colour shall it be?"}),)),
        "list": Step(calls=(("list_notes", {}),)),
    }
    return next((step for word, step in steps.items() if word in words), _HELLO.format(folder=folder))


def _following(message: Message) -> str:
    """What the model makes of what came of its calls."""
    calls = [part for part in message.parts if isinstance(part, ToolPart)]
    last = calls[-1]
    said = output_text(last.output)
    if last.state == "output-denied":
        return "Then it stays."
    if last.name == "ask_user" and last.state == "output-available":
        return f"**{said}**, then."
    if last.state == "output-error":
        return f"`{last.name}` did not come to its end. What I know of it:\n\n> {said}"
    return f"Done: {said}."
