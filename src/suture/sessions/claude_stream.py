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
from suture.sessions.claude_ties import Ties
from suture.sessions.damage import Damage
from suture.sessions.files import problems_of

__all__ = ["WINDOW", "check_stream"]

WINDOW: Final = 4 * 2**20
"""How many bytes of lines are decoded at once: more only where there is no place to cut."""

_MOST: Final = 16
"""A window that is this many times too large is cut between any two turns, even between a call and a late result."""


def check_stream(path: Path, check: Check, *, window: int = WINDOW) -> Iterator[Damage | Located]:
    """The damage of a file, in the order of its lines, then what `check` finds in each of its conversations.

    What is found is what `check` finds in the threads of `history`, with one exception: a result that stands more than
    sixteen windows away from its call counts as missing there and as without a call here. What several branches share
    is reported once, by the first in which it is found.

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
    ties = Ties(forest)
    reported: set[int] = set()
    with problems_of(path), path.open("rb") as stream:
        for branch in forest.branches:
            yield from _Checking(forest, branch, stream, check, window=window, ties=ties).run(held, reported)


class _Window(msgspec.Struct):
    """A stretch of a conversation."""

    turns: list[Turn]
    following: Turn | None
    """The message after it, where that is needed to judge its end."""


class _Checking:
    """Goes through one conversation, window by window."""

    def __init__(
        self, forest: Forest, branch: Branch, stream: BinaryIO, check: Check, *, window: int, ties: Ties
    ) -> None:
        self.forest = forest
        self.index: ClaudeIndex = forest.index
        self.branch = branch
        self.stream = stream
        self.check = check
        self.window = window
        self.ties = ties
        self.near: int = self._text_above(forest.index.parents[branch.own])
        """The row from which on a message may be judged in another way than in the branches before."""
        self.path = forest.path(branch.leaf, self._start())
        if ties.repeated and any(
            not ties.repeated.isdisjoint(self._tools_of(turn)) for turn in forest.turns(self.path)
        ):
            # An id that was used before is found only where all before is known.
            self.path = forest.path(branch.leaf)
        self.seen: set[int] = set()

    def _start(self) -> int:
        """The row to start at; -1 for the first.

        Of what a branch shares, it is enough to begin at a user's text above all calls that its own results answer,
        and above all that is far from its other half: that may be in another branch.
        """
        index = self.index
        wanted: set[int] = set()
        for row in self.forest.path(self.branch.leaf, self.branch.own):
            if index.flags[row] & ASSISTANT:
                wanted.difference_update(index.tools_of(row))
            else:
                wanted.update(index.tools_of(row))
        first = self.ties.first.get(self.branch.chain, len(index))
        row = -1 if self.ties.forward else index.parents[self.branch.own]
        while row >= 0 and (wanted or row > first or not index.flags[row] & TEXT):
            if index.flags[row] & ASSISTANT:
                wanted.difference_update(index.tools_of(row))
            row = index.parents[row]
        return row

    def _text_above(self, row: int) -> int:
        """The nearest row with a user's text, from `row` upwards; -1 without one."""
        while row >= 0 and not self.index.flags[row] & TEXT:
            row = self.index.parents[row]
        return row

    def run(self, held: bytearray, reported: set[int]) -> Iterator[Located]:
        """The findings that are not yet in `reported`, or on messages of which any row is not yet in `held`."""
        own, differs = False, self.near < 0
        for number, window in enumerate(self._windows()):
            rows = [row for turn in window.turns for row in turn.rows]
            # Behind its own lines, a branch may hold shared ones once more: those that a compaction kept.
            differs = differs or self.near in rows or not all(held[row] for row in rows)
            if not differs and self.ties.far.isdisjoint(rows):
                calls = (row for row in rows if self.index.flags[row] & ASSISTANT)
                self.seen.update(tool for row in calls for tool in self.index.tools_of(row))
                continue
            for turn, lines, findings in self._judged(window, first=not number):
                own = own or not all(held[row] for row in turn.rows)
                for row in turn.rows:
                    held[row] = 1
                for found in self._located(lines, findings):
                    key = hash((found.line, found.finding.code, found.finding.call_id, found.finding.message))
                    if own or key not in reported:
                        reported.add(key)
                        yield found

    def _judged(
        self, window: _Window, *, first: bool
    ) -> Iterator[tuple[Turn, Sequence[int], list[tuple[int, Finding]]]]:
        """The messages of a window, with the lines of their content blocks and what is found on those."""
        loaded = [load(self.index, self.stream, turn) for turn in window.turns]
        messages = [message for message, _ in loaded]
        before = [] if first and not self.seen else self._before(messages)
        after = [load(self.index, self.stream, window.following)[0]] if window.following else []
        findings: list[list[tuple[int, Finding]]] = [[] for _ in messages]
        for finding in self.check([*before, *messages, *after], WIRE):
            place, part = place_of(finding.path)
            if len(before) <= place < len(before) + len(messages):
                findings[place - len(before)].append((part, finding))
        self.seen.update(tag(call["id"]) for message in messages for call in _calls_in(message))
        for place, turn in enumerate(window.turns):
            yield turn, lines_of(self.index, turn, loaded[place][1]), findings[place]

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
