"""Checks a Claude Code file of any size in little memory, in time that grows with its length.

The index says which lines make which conversation. Each conversation is then read in windows, cut where no check
looks across: before a user's text, or between a step's results and the next step, and never between a call and its
result, however far apart they are. What a window cannot know of those before it, it is given in short: a beginning,
and those calls whose ids it uses again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Final

import msgspec

from suture.repair.report import Finding
from suture.sessions.base import Check, Located, place_of
from suture.sessions.claude_chain import Branch, Forest, Turn
from suture.sessions.claude_code import WIRE, lines_of, load
from suture.sessions.claude_index import ASSISTANT, TEXT, ClaudeIndex, index_file, tag
from suture.sessions.damage import Damage
from suture.sessions.files import problems_of

__all__ = ["WINDOW", "check_stream"]

WINDOW: Final = 4 * 2**20
"""How many bytes of lines are decoded at once: more only where there is no place to cut."""

_MOST: Final = 16
"""A window that is this many times too large is cut between any two turns, even between a call and a late result."""


def check_stream(path: Path, check: Check, *, window: int = WINDOW) -> Iterator[Damage | Located]:
    """The damage of a file, in the order of its lines, then what `check` finds in each of its conversations.

    What is found is what `check` finds in the threads of `history`, with two exceptions: a result that stands more than
    sixteen windows away from its call counts as missing there and as without a call here, and in a branch, a call id is
    not compared with those of the part that it shares with the main thread.

    Args:
        path: The file.
        check: `suture.pipeline.check`, or anything that is called like it.
        window: How many bytes of lines to decode at once.

    Raises:
        SessionError: the file cannot be read.
    """
    index = index_file(path)
    forest = Forest(index)
    yield from sorted(index.damages + forest.damages, key=lambda damage: damage.offset)
    held = bytearray(len(index))
    with problems_of(path), path.open("rb") as stream:
        for branch in forest.branches:
            yield from _Checking(forest, branch, stream, check, window).run(held)


class _Window(msgspec.Struct):
    """A stretch of a conversation."""

    turns: list[Turn]
    following: Turn | None
    """The message after it, where that is needed to judge its end."""


class _Checking:
    """Goes through one conversation, window by window."""

    def __init__(self, forest: Forest, branch: Branch, stream: BinaryIO, check: Check, window: int) -> None:
        self.forest = forest
        self.index: ClaudeIndex = forest.index
        self.branch = branch
        self.stream = stream
        self.check = check
        self.window = window
        self.path = forest.path(branch.leaf, self._start())
        self.seen: set[int] = set()

    def _start(self) -> int:
        """The row to start at; -1 for the first.

        Of what a branch shares, it is enough to begin at a user's text above all calls that its own results answer.
        """
        index = self.index
        wanted: set[int] = set()
        for row in self.forest.path(self.branch.leaf, self.branch.own):
            if index.flags[row] & ASSISTANT:
                wanted.difference_update(index.tools_of(row))
            else:
                wanted.update(index.tools_of(row))
        row = index.parents[self.branch.own]
        while row >= 0 and (wanted or not index.flags[row] & TEXT):
            if index.flags[row] & ASSISTANT:
                wanted.difference_update(index.tools_of(row))
            row = index.parents[row]
        return row

    def run(self, held: bytearray) -> Iterator[Located]:
        """The findings on messages of which any row is not yet in `held`; adds all rows to it."""
        own = False
        for number, window in enumerate(self._windows()):
            if not own and all(held[row] for turn in window.turns for row in turn.rows):
                continue
            loaded = [load(self.index, self.stream, turn) for turn in window.turns]
            messages = [message for message, _ in loaded]
            before = self._before(messages) if number else []
            after = [load(self.index, self.stream, window.following)[0]] if window.following else []
            findings: list[list[tuple[int, Finding]]] = [[] for _ in messages]
            for finding in self.check([*before, *messages, *after], WIRE):
                place, part = place_of(finding.path)
                if len(before) <= place < len(before) + len(messages):
                    findings[place - len(before)].append((part, finding))
            for place, turn in enumerate(window.turns):
                own = own or not all(held[row] for row in turn.rows)
                for row in turn.rows:
                    held[row] = 1
                if own:
                    yield from self._located(lines_of(self.index, turn, loaded[place][1]), findings[place])
            self.seen.update(tag(call["id"]) for message in messages for call in _calls_in(message))

    def _located(self, lines: Sequence[int], findings: Sequence[tuple[int, Finding]]) -> Iterator[Located]:
        for part, finding in findings:
            line = lines[min(part, len(lines) - 1)]
            moved = msgspec.structs.replace(finding, path=f"line {line}")
            yield Located(thread=self.branch.name, line=line, finding=moved)

    def _far_apart(self) -> list[tuple[int, int]]:
        """The stretches of turns between calls and results that are not neighbours, in order and disjoint."""
        calls: dict[int, int] = {}
        strays: dict[int, list[int]] = {}
        stretches: list[tuple[int, int]] = []
        for number, turn in enumerate(self.forest.turns(self.path)):
            for tool in self._tools_of(turn):
                if turn.role == "assistant":
                    calls[tool] = number
                elif tool not in calls or number - calls.pop(tool) > 1:
                    strays.setdefault(tool, []).append(number)
        # Strays are few, so their calls are looked for once more rather than all calls kept in mind.
        for number, turn in enumerate(self.forest.turns(self.path) if strays else ()):
            if turn.role == "assistant":
                found = [stray for tool in self._tools_of(turn) for stray in strays.get(tool, ())]
                stretches += [(min(number, stray), max(number, stray)) for stray in found]
        joined: list[tuple[int, int]] = []
        for start, end in sorted(stretches):
            if joined and start < joined[-1][1]:
                joined[-1] = joined[-1][0], max(end, joined[-1][1])
            else:
                joined.append((start, end))
        return joined

    def _tools_of(self, turn: Turn) -> Iterator[int]:
        return (tool for row in turn.rows for tool in self.index.tools_of(row))

    def _windows(self) -> Iterator[_Window]:
        stretches = self._far_apart()
        turns: list[Turn] = []
        size = at = 0
        for number, turn in enumerate(self.forest.turns(self.path)):
            while at < len(stretches) and stretches[at][1] < number:
                at += 1
            inside = at < len(stretches) and stretches[at][0] < number
            large = size >= (_MOST if inside else 1) * self.window
            if large and self._can_cut(turns[-1], turn):
                # A step's results may end a conversation; what else may stand last depends on what comes after it.
                yield _Window(turns, None if turn.role == "assistant" else turn)
                turns, size = [], 0
            turns.append(turn)
            size += sum(self.index.lengths[row] for row in turn.rows)
        if turns:
            yield _Window(turns, None)

    def _can_cut(self, former: Turn, turn: Turn) -> bool:
        """Whether nothing but far-off results ties two turns together."""
        if turn.role == "assistant":
            return former.role == "user"
        return bool(self.index.flags[turn.rows[0]] & TEXT)

    def _before(self, messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """What stands for all the windows before: a beginning, and the calls whose ids are used again here."""
        again = {
            call["id"]: call for message in messages for call in _calls_in(message) if tag(call["id"]) in self.seen
        }
        beginning: list[dict[str, Any]] = []
        if again or messages[0]["role"] == "assistant":
            beginning.append({"role": "user", "content": "Go on."})
        if again:
            results = [{"type": "tool_result", "tool_use_id": name, "content": "Done."} for name in again]
            beginning += [{"role": "assistant", "content": list(again.values())}, {"role": "user", "content": results}]
        return beginning


def _calls_in(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if message["role"] == "assistant" and isinstance(message["content"], list):
        for block in message["content"]:
            if block.get("type") == "tool_use" and isinstance(block.get("id"), str):
                yield {"type": "tool_use", "id": block["id"], "name": "earlier", "input": {}}
