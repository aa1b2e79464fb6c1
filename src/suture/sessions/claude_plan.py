"""What becomes of which line of a Claude Code file, over all threads that a repair changed.

A new line stands in the chain behind the line that it follows in the conversation, and what followed that line in the
chain follows the new one. Where threads share lines, the first one decides about them, and about what stands between
them.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from typing import Any, BinaryIO, Final

import msgspec

from suture.sessions.base import Mended
from suture.sessions.claude_chain import Branch, Forest
from suture.sessions.claude_edits import Kept, edits_of
from suture.sessions.claude_index import RELINKED, TALK, ClaudeIndex
from suture.sessions.rewrite import moved

__all__ = ["NewLine", "Plan"]

_NAMESPACE: Final = uuid.UUID("5f0d6a0e-3c1f-5c0e-9f0e-2f7b8a6f5d31")
"""Never to change: the identifiers of new lines hang on it."""


class NewLine(msgspec.Struct, eq=False):
    """A line to be added."""

    kept: Kept
    uuid: str
    beside: int
    """The row that it stands next to in the file."""
    ahead: bool
    """Whether it stands before that row: it is the new beginning of a chain."""
    call: int | None
    """The row of the call that it answers."""
    group: dict[str, Any]
    """What it shares with the other lines of its API message."""
    parent: int | NewLine | str | None = None
    """As in `Plan.parents`."""


class Plan:
    """Everything that is to be written in another way than it stands in the file."""

    def __init__(self, forest: Forest, stream: BinaryIO) -> None:
        """Nothing yet; `stream` is the file."""
        self.forest = forest
        self.index: ClaudeIndex = forest.index
        self.stream = stream
        self.contents: dict[int, Any] = {}
        """The new content of rows."""
        self.parents: dict[int, int | NewLine | str | None] = {}
        """What a row is linked to: another row, a new line, or what the file says."""
        self.gone: set[int] = set()
        """The rows that are to be left out."""
        self.ends: dict[int, int] = {}
        """The rows that end a conversation now, and those that did before: the last end in a file is the live one."""
        self.new: dict[str, NewLine] = {}
        self.decided: set[int] = set()
        """The rows of the threads so far."""
        self.ahead_of: dict[int, list[NewLine]] = {}
        """The new lines that a row follows."""
        self.hung: set[tuple[int | None, Any]] = set()
        """The calls that got a result which hangs beside the chain."""
        self.chained: bool = any(self.index.uuids)
        """Whether lines name their parents; in files where none has a name, their order alone links them."""
        self.named: dict[int, str] = {}
        """The names of rows that had none of their own until something was linked to them."""
        self.shared: set[int] = _repeated(self.index.uuids)
        """The tags of names that several rows have: they do not say which one is meant."""

    def value(self, row: int) -> dict[str, Any]:
        """The record of a row, as it is in the file."""
        return self.index.value(self.stream, row)

    def name(self, row: int) -> Any:
        """The `uuid` of a row, as it is in the file."""
        return self.value(row).get("uuid")

    def linked_name(self, row: int) -> str | None:
        """The `uuid` to link to a row by: a new one where it has none, or not for itself."""
        if row < 0 or not self.chained:
            return None
        if self.index.uuids[row] and self.index.uuids[row] not in self.shared:
            found: str = self.name(row)
            return found
        line, piece = self.index.place_of(row)
        return self.named.setdefault(row, str(uuid.uuid5(_NAMESPACE, f"{line}.{piece}:{json.dumps(self.value(row))}")))

    def add_thread(self, mended: Mended) -> None:
        """Takes in what a repair did to one thread."""
        branch: Branch
        branch, trace = mended.thread.trace
        order = [row for sources in trace for row, _ in sources]
        path = self.forest.path(branch.leaf)
        if mended.messages is not mended.thread.messages:
            kept, gone = edits_of(mended.thread.messages, trace, mended.messages)
            self.gone |= gone - self.decided
            _Weaving(self, path, order, kept).run()
        self.decided.update(order, path)

    def relinked(self) -> dict[int, str | None]:
        """The new parents of rows: also of those whose parent is not in the file, or will not be."""
        if not self.chained:
            return {}
        index = self.index
        named = {row: self.parents.get(row, index.parents[row]) for row in range(len(index)) if row not in self.gone}
        found = {
            row: self.name_of(parent)
            for row, parent in named.items()
            if row in self.parents or parent in self.gone or index.flags[row] & RELINKED
        }
        # New lines name rows too; all new names have to be known before the next step.
        for line in self.new.values():
            self.name_of(line.parent)
            self.linked_name(-1 if line.call is None else line.call)
        # What was linked already to a row with a new name is linked to that name.
        return found | {row: self.name_of(parent) for row, parent in named.items() if parent in self.named}

    def name_of(self, line: int | NewLine | str | None) -> str | None:
        """The `uuid` to link to: that of a line, or of the nearest one before it that stays."""
        while isinstance(line, int) and line in self.gone:
            line = self.parents.get(line, self.index.parents[line])
        if isinstance(line, int):
            return self.linked_name(line)
        return line.uuid if isinstance(line, NewLine) else line


class _Weaving:
    """Puts the lines of one repaired thread into its chain."""

    def __init__(self, plan: Plan, path: Sequence[int], order: Sequence[int], kept: Sequence[Kept]) -> None:
        self.plan = plan
        self.path = path
        self.kept = kept
        self.number_of = {row: number for number, row in enumerate(order)}
        moves = moved([self.number_of[line.row] for line in kept if line.row is not None])
        self.moves = {order[number] for number in moves} - plan.decided
        self.place = {row: at for at, row in enumerate(path) if row not in self.moves and row not in plan.gone}
        """Where on the path the rows stand that stay there."""
        self.behind: dict[int, list[int | NewLine]] = {}
        """What comes in behind a place on the path."""
        self.calls: dict[str, int] = {}
        self.parts: dict[int, list[Kept]] = {}
        """The lines of each repaired message."""
        for line in kept:
            self.parts.setdefault(line.message, []).append(line)

    def run(self) -> None:
        """Finds a place for every line, then links the chain."""
        at, before = -1, -1
        inherited: list[NewLine] = []
        for line in self.kept:
            # Lines of other types that another thread goes through as well stay where they are in its chain.
            while at + 1 < len(self.path) and self._is_passed(self.path[at + 1]):
                at += 1
                inherited += self.plan.ahead_of.get(self.path[at], [])
            if line.row is None:
                if not any(line.content == other.kept.content for other in inherited):
                    self._add(line, at, before)
                continue
            self.calls.update((call, line.row) for call in _calls_in(line))
            if line.changed and line.row not in self.plan.decided:
                self.plan.contents[line.row] = line.content
            if line.row in self.moves:
                self.behind.setdefault(at, []).append(line.row)
            else:
                at, before = max(at, self.place.get(line.row, -1)), line.row
                inherited = []
        self._keep_what_is_decided()
        self._link()

    def _is_passed(self, row: int) -> bool:
        return row in self.plan.decided and row not in self.number_of

    def _add(self, line: Kept, at: int, before: int) -> None:
        """A line for a message that was not there."""
        path = self.path
        block = line.content[0] if isinstance(line.content, list) and line.content else {}
        answered = block.get("tool_use_id") if isinstance(block, dict) else None
        call = self.calls.get(answered) if isinstance(answered, str) else None
        hangs = call is not None and call not in self.place and call not in self.moves
        if hangs and (call, answered) in self.plan.hung:
            return
        seed = f"{self.plan.name(max(before, path[0]))}:{line.role}:{json.dumps(line.content)}"
        if call is not None:
            seed = f"{self.plan.name(call)}:{str(answered).encode(errors='backslashreplace').decode()}"
        identifier = str(uuid.uuid5(_NAMESPACE, seed))
        while identifier in self.plan.new:
            # Another branch has a line for the same call, or this one says the same twice.
            identifier = str(uuid.uuid5(_NAMESPACE, identifier))
        fresh = NewLine(
            line,
            identifier,
            beside=before if hangs else max(before, path[max(at, 0)]),
            ahead=before < 0 and at < 0,
            call=call,
            group=self._group(line) if line.role == "assistant" else {},
        )
        self.plan.new[identifier] = fresh
        if hangs:
            # The call hangs beside the chain, so its result hangs off the call, for all branches.
            fresh.parent = call
            self.plan.hung.add((call, answered))
        else:
            self.behind.setdefault(at, []).append(fresh)

    def _group(self, line: Kept) -> dict[str, Any]:
        """What the lines of one API message have in common, for a new line of it."""
        parts = self.parts[line.message]
        for part in parts:
            if part.row is not None:
                message = self.plan.value(part.row)["message"]
                return {key: message[key] for key in ("model", "id", "type", "usage") if key in message}
        made = uuid.uuid5(_NAMESPACE, json.dumps([part.content for part in parts]))
        usage = {"input_tokens": 0, "output_tokens": 0}
        return {"model": "<synthetic>", "id": f"msg_{made.hex[:24]}", "type": "message", "usage": usage}

    def _keep_what_is_decided(self) -> None:
        """Takes back what would come to stand between two lines that another thread has decided about."""
        for at in list(self.behind):
            following = next((row for row in islice(self.path, at + 1, None) if row in self.place), None)
            if following in self.plan.decided:
                for line in self.behind.pop(at):
                    if isinstance(line, NewLine):
                        del self.plan.new[line.uuid]
                    else:
                        self.place[line] = -1

    def _link(self) -> None:
        """Sets the parent of every line of the chain whose line before is no longer the one that it names."""
        chain: list[int | NewLine] = list(self.behind.get(-1, []))
        for number, row in enumerate(self.path):
            if row in self.place:
                chain.append(row)
            elif row in self.plan.gone and chain:
                self._set_parent(row, chain[-1])
            chain += self.behind.get(number, [])
        if chain and chain[0] != self.path[0]:
            self._set_parent(chain[0], self._parent_of_all(chain[0]))
        for former, line in pairwise(chain):
            if isinstance(line, NewLine) or former != self.plan.index.parents[line]:
                self._set_parent(line, former)
        self._note_new_lines(chain)
        if self.path[-1] not in self.place and chain:
            self._end_with(chain[-1])

    def _end_with(self, last: int | NewLine) -> None:
        """Has the new end of the chain stand in the file where the old one did."""
        leaf = self.path[-1]
        if isinstance(last, NewLine):
            last.beside, last.ahead = leaf, False
        elif last not in self.plan.decided:
            self.plan.ends[last] = leaf

    def _parent_of_all(self, head: int | NewLine) -> str | None:
        """What the new first line of the chain continues: what the old one did.

        A first line may continue from another file. Anywhere else in the file, such a parent counts as lost.
        """
        index, old = self.plan.index, self.path[0]
        named: str | None = self.plan.value(old).get("parentUuid")
        if index.parents[old] >= 0 or named is None:
            return named
        at = head if isinstance(head, int) else head.beside
        after = isinstance(head, NewLine) and not head.ahead
        before = islice(index.flags, at + after)
        chains = (chain for flags, chain in zip(before, index.chains, strict=False) if flags & TALK)
        return None if index.chains[old] in chains else named

    def _set_parent(self, line: int | NewLine, parent: int | NewLine | str | None) -> None:
        if isinstance(line, NewLine):
            line.parent = parent
        elif line not in self.plan.decided:
            self.plan.parents[line] = parent

    def _note_new_lines(self, chain: Sequence[int | NewLine]) -> None:
        run: list[NewLine] = []
        for line in chain:
            if isinstance(line, NewLine):
                run.append(line)
            elif run:
                self.plan.ahead_of[line], run = run, []


def _repeated(names: Sequence[int]) -> set[int]:
    once: set[int] = set()
    again: set[int] = set()
    for name in names:
        if name:
            (again if name in once else once).add(name)
    return again


def _calls_in(line: Kept) -> Iterator[str]:
    """The ids of the tool calls on a line."""
    if line.role == "assistant" and isinstance(line.content, list):
        for block in line.content:
            if isinstance(block, dict) and block.get("type") == "tool_use" and isinstance(block.get("id"), str):
                yield block["id"]
