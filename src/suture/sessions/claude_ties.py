"""What ties lines of a Claude Code file together that stand far apart, so that a look at a branch begins above it."""

from __future__ import annotations

from array import array
from typing import Final

from suture.sessions.claude_chain import Forest
from suture.sessions.claude_index import ASSISTANT, TALK, TEXT, ClaudeIndex

__all__ = ["Ties"]

_NEAR: Final = 64
"""How many lines above a result its call is looked for; further up, it counts as far, which costs time only."""


class Ties:
    """The calls and results that a branch may hold one of and not the other; empty for a file without branches."""

    def __init__(self, forest: Forest) -> None:
        """The ties of a file; the cost grows with the number of lines."""
        self.far: set[int] = set()
        """The rows of calls and results that have one another in the file, but not as neighbours."""
        self.first: dict[int, int] = {}
        """The first of them in each chain."""
        self.repeated: set[int] = set()
        """The calls whose ids are used more than once."""
        self.forward: bool = False
        """Whether a line continues a later one, so that row numbers do not say what is above what."""
        if len(forest.branches) > 1:
            self._fill(forest.index)

    def _fill(self, index: ClaudeIndex) -> None:
        rows = array("i", (row for row in range(len(index)) if index.flags[row] & TALK and index.tools[row]))
        self.forward = any(parent > row for row, parent in enumerate(index.parents))
        self.repeated = _repeated(index, rows)
        strays = {tool for row in rows for tool in _strays(index, row)}
        for wanted in (True, False) if strays else ():
            # Without a call of its own anywhere, a result is the same in all branches that hold it.
            found = {
                tool
                for row in rows
                if bool(index.flags[row] & ASSISTANT) is wanted
                for tool in index.tools_of(row)
                if tool in strays
            }
            strays &= found
        self.far = {row for row in rows if strays and not strays.isdisjoint(index.tools_of(row))}
        for row in sorted(self.far, reverse=True):
            self.first[index.chains[row]] = row


def _repeated(index: ClaudeIndex, rows: array[int]) -> set[int]:
    once: set[int] = set()
    again: set[int] = set()
    for row in rows:
        if index.flags[row] & ASSISTANT:
            for tool in index.tools_of(row):
                (again if tool in once else once).add(tool)
    return again


def _strays(index: ClaudeIndex, row: int) -> list[int]:
    """The calls that a row answers and that are not just above it."""
    if index.flags[row] & ASSISTANT:
        return []
    return [tool for tool in index.tools_of(row) if not _is_near(index, row, tool)]


def _is_near(index: ClaudeIndex, row: int, tool: int) -> bool:
    group: int | None = None
    for _ in range(_NEAR):
        row = index.parents[row]
        if row < 0 or index.flags[row] & TEXT:
            return False
        if index.flags[row] & ASSISTANT:
            if tool in index.tools_of(row):
                return True
            if group not in {None, index.groups[row]} or not index.groups[row]:
                return False
            group = index.groups[row]
    return False
