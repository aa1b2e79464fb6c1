"""Writes a Claude Code file anew: lines that a repair did not touch byte for byte, and every link between lines right.

A new line stands in the file and in the chain behind the line that it follows in the conversation, and what followed
that line in the chain follows the new one. Its `uuid` is derived from the call that it answers, so the same repair of
the same file gives the same bytes.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO, Final

import msgspec

from suture.sessions.base import Mended
from suture.sessions.claude_chain import Branch, Forest
from suture.sessions.claude_edits import Kept, edits_of
from suture.sessions.claude_index import RELINKED, ClaudeIndex, is_record
from suture.sessions.lines import decode, encode
from suture.sessions.rewrite import Change, moved, rewritten_lines

__all__ = ["rewritten"]

_NAMESPACE: Final = uuid.UUID("5f0d6a0e-3c1f-5c0e-9f0e-2f7b8a6f5d31")
"""Never to change: the identifiers of new lines hang on it."""

_COPIED: Final = (
    *("isSidechain", "agentId", "teamName", "agentName", "userType", "entrypoint"),
    *("cwd", "sessionId", "version", "gitBranch", "slug"),
)
"""What a new line takes over from the line that it follows."""


class _New(msgspec.Struct):
    """A line to be added."""

    kept: Kept
    uuid: str
    beside: int
    """The row that it stands next to in the file."""
    ahead: bool
    """Whether it stands before that row: it is the new beginning of a chain."""
    call: int | None = None
    """The row of the call that it answers."""
    parent: str | None = None
    group: dict[str, Any] = {}
    """What it shares with the other lines of its API message."""
    data: bytes = b""


def rewritten(path: Path, forest: Forest, mended: Sequence[Mended]) -> Iterator[bytes]:
    """The new content of a file."""
    with path.open("rb") as stream:
        plan = _Plan(forest, stream)
        for thread in mended:
            if thread.messages is not thread.thread.messages:
                plan.add_thread(thread)
        plan.close()
    yield from rewritten_lines(path, _changes(plan), forest.index.damages, is_record)


class _Plan:
    """What becomes of which line, over all threads; where threads share a line, the first one decides."""

    def __init__(self, forest: Forest, stream: BinaryIO) -> None:
        self.forest = forest
        self.index: ClaudeIndex = forest.index
        self.stream = stream
        self.contents: dict[int, Any] = {}
        self.parents: dict[int, str | None] = {}
        self.gone: set[int] = set()
        self.new: dict[str, _New] = {}
        self.names: dict[int, str | None] = {}

    def name(self, row: int) -> str | None:
        """The `uuid` of a row."""
        if row not in self.names:
            self.names[row] = self.value(row).get("uuid")
        return self.names[row]

    def value(self, row: int) -> dict[str, Any]:
        """The record of a row, as it is in the file."""
        return self.index.value(self.stream, row)

    def add_thread(self, mended: Mended) -> None:
        """Takes in what a repair did to one thread."""
        branch: Branch
        branch, trace = mended.thread.trace
        kept, gone = edits_of(mended.thread.messages, trace, mended.messages)
        path = self.forest.path(branch.leaf)
        order = [row for sources in trace for row, _ in sources]
        number_of = {row: number for number, row in enumerate(order)}
        moves = moved([number_of[line.row] for line in kept if line.row is not None])
        place = {row: number for number, row in enumerate(path) if number_of.get(row) not in moves and row not in gone}
        calls = _calls(mended.thread.messages, trace, kept)
        behind: dict[int, list[int | _New]] = {}
        at, before = -1, -1
        for line in kept:
            if line.row is None:
                beside = max(before, path[at] if at >= 0 else -1)
                fresh = self._new_line(line, kept, calls, path[0] if beside < 0 else beside, ahead=beside < 0)
                if fresh.call is None or fresh.call in place or number_of[fresh.call] in moves:
                    behind.setdefault(at, []).append(fresh)
                else:
                    # The call hangs beside the chain, so its result hangs off the call.
                    fresh.parent = self.name(fresh.call)
                continue
            if line.changed:
                self.contents.setdefault(line.row, line.content)
            if number_of[line.row] in moves:
                behind.setdefault(at, []).append(line.row)
            else:
                at, before = max(at, place.get(line.row, -1)), line.row
        self.gone |= gone
        self._relink(path, place, behind)

    def _new_line(self, line: Kept, kept: Sequence[Kept], calls: dict[str, int], beside: int, *, ahead: bool) -> _New:
        """The line for a message that was not there; the same one when several threads ask for it."""
        block = line.content[0] if isinstance(line.content, list) and line.content else {}
        answered = block.get("tool_use_id") if isinstance(block, dict) else None
        call = calls.get(answered) if isinstance(answered, str) else None
        text = json.dumps(line.content)
        seed = f"{self.name(beside)}:{line.role}:{text}" if call is None else f"{self.name(call)}:{answered}"
        identifier = str(uuid.uuid5(_NAMESPACE, seed))
        if identifier in self.new and self.new[identifier].kept.content != line.content:
            identifier = str(uuid.uuid5(_NAMESPACE, f"{seed}:{text}"))
        group = self._group(line, kept) if line.role == "assistant" else {}
        return self.new.setdefault(identifier, _New(line, identifier, beside, ahead, call, group=group))

    def _group(self, line: Kept, kept: Sequence[Kept]) -> dict[str, Any]:
        """What the lines of one API message have in common, for a new line of it."""
        for other in kept:
            if other.message == line.message and other.row is not None:
                message = self.value(other.row)["message"]
                return {key: message[key] for key in ("model", "id", "type", "usage") if key in message}
        made = uuid.uuid5(_NAMESPACE, json.dumps([part.content for part in kept if part.message == line.message]))
        usage = {"input_tokens": 0, "output_tokens": 0}
        return {"model": "<synthetic>", "id": f"msg_{made.hex[:24]}", "type": "message", "usage": usage}

    def _relink(self, path: Sequence[int], place: dict[int, int], behind: dict[int, list[int | _New]]) -> None:
        """Sets the parent of every line of a chain whose line before is no longer the one that it names."""
        chain: list[int | _New] = list(behind.get(-1, []))
        for number, row in enumerate(path):
            chain += [row] if row in place else []
            chain += behind.get(number, [])
        if chain and chain[0] != path[0]:
            self._set_parent(chain[0], self.value(path[0]).get("parentUuid"))
        for former, line in pairwise(chain):
            if isinstance(line, _New) or former != self.index.parents[line]:
                self._set_parent(line, former.uuid if isinstance(former, _New) else self.name(former))

    def _set_parent(self, line: int | _New, parent: str | None) -> None:
        if isinstance(line, _New):
            line.parent = parent
        else:
            self.parents.setdefault(line, parent)

    def close(self) -> None:
        """Links what names a line that is not in the file, or will not be, and makes the new lines."""
        index = self.index
        for row in range(len(index)):
            parent = index.parents[row]
            if row in self.gone or row in self.parents:
                continue
            if index.flags[row] & RELINKED or parent in self.gone:
                while parent in self.gone:
                    parent = index.parents[parent]
                self.parents[row] = self.name(parent) if parent >= 0 else None
        for fresh in self.new.values():
            fresh.data = encode(self._record(fresh))

    def _record(self, fresh: _New) -> dict[str, Any]:
        """A new line in the shape that Claude Code gives such lines."""
        beside = self.value(fresh.beside)
        record: dict[str, Any] = {"parentUuid": fresh.parent} if "uuid" in beside else {}
        record |= {key: beside[key] for key in _COPIED if key in beside}
        record["type"] = fresh.kept.role
        if fresh.kept.role == "assistant":
            own = {"role": "assistant", "content": fresh.kept.content, "stop_reason": None, "stop_sequence": None}
            usage = {"usage": fresh.group["usage"]} if "usage" in fresh.group else {}
            record["message"] = {key: value for key, value in fresh.group.items() if key != "usage"} | own | usage
        else:
            record["message"] = {"role": "user", "content": fresh.kept.content}
        record |= {"uuid": fresh.uuid} if "uuid" in beside else {}
        record |= {"timestamp": beside["timestamp"]} if "timestamp" in beside else {}
        if fresh.call is not None:
            record["toolUseResult"] = _shown(fresh.kept.content[0])
            record["sourceToolAssistantUUID"] = self.name(fresh.call)
        return record


def _shown(result: dict[str, Any]) -> str:
    """What Claude Code shows its user of a result: for one that failed, a text that begins with "Error: "."""
    content = result.get("content")
    if isinstance(content, list):
        content = "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return f"Error: {content or ''}" if result.get("is_error") else str(content or "")


def _calls(messages: Sequence[Any], trace: Sequence[Sequence[tuple[int, int]]], kept: Sequence[Kept]) -> dict[str, int]:
    """The row of each tool call, under the id that it has after the repair."""
    calls: dict[str, int] = {}
    for message, sources in zip(messages, trace, strict=True):
        if message["role"] == "assistant" and isinstance(message["content"], list):
            rows = (row for row, count in sources for _ in range(count))
            calls.update(_calls_in(zip(message["content"], rows, strict=True)))
    for line in kept:
        if line.row is not None and line.changed and line.role == "assistant" and isinstance(line.content, list):
            calls.update(_calls_in((block, line.row) for block in line.content))
    return calls


def _calls_in(blocks: Iterable[tuple[Any, int]]) -> Iterator[tuple[str, int]]:
    for block, row in blocks:
        if isinstance(block, dict) and block.get("type") == "tool_use" and isinstance(block.get("id"), str):
            yield block["id"], row


def _changes(plan: _Plan) -> dict[tuple[int, int], Change]:
    """What becomes of the records that something becomes of."""
    index = plan.index
    beside: dict[int, list[_New]] = {}
    for fresh in plan.new.values():
        beside.setdefault(fresh.beside, []).append(fresh)
    changes: dict[tuple[int, int], Change] = {}
    for row in {row for rows in (plan.contents, plan.parents, plan.gone, beside) for row in rows}:
        edited = row in plan.gone or row in plan.contents or row in plan.parents
        changes[index.numbers[row], index.pieces.get(row, 0)] = Change(
            before=[line.data for line in beside.get(row, ()) if line.ahead],
            edit=partial(_edited, plan, row) if edited else None,
            after=[line.data for line in beside.get(row, ()) if not line.ahead],
        )
    return changes


def _edited(plan: _Plan, row: int, data: bytes) -> bytes | None:
    """A record with a new content, a new parent or both; every other key stays, in its order."""
    if row in plan.gone:
        return None
    record = decode(data)
    if row in plan.contents:
        record["message"]["content"] = plan.contents[row]
    if row in plan.parents:
        record["parentUuid"] = plan.parents[row]
    return encode(record)
