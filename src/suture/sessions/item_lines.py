"""Writes a file of one item a line anew: a new item is a line behind the one that it follows, all else stays as it is.

The items of a compaction in a Codex rollout stand on one line, so a change among them rewrites that line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import msgspec

from suture.sessions.base import Mended, Session
from suture.sessions.codex_history import Record, Source
from suture.sessions.lines import decode, encode
from suture.sessions.rewrite import Change, moved, rewritten_lines

__all__ = ["rewritten"]


def rewritten(session: Session, mended: Sequence[Mended], is_record: Callable[[Any], bool]) -> Iterator[bytes]:
    """The new content of a file; `is_record` told records from parts of records when it was read."""
    changes: dict[tuple[int, int], Change] = {}
    for thread in mended:
        if thread.messages is not thread.thread.messages:
            changes |= _Changes(thread.thread.messages, thread.thread.trace, thread.messages).run()
    return rewritten_lines(session.path, changes, session.damages, is_record)


class _Kept(msgspec.Struct):
    """One item after the repair."""

    item: dict[str, Any]
    place: int
    """Which item it was, or -1 for a new one."""


class _Changes:
    """What a repair of the items means for the lines."""

    def __init__(self, items: Sequence[Any], sources: Sequence[Source], repaired: Sequence[Any]) -> None:
        self.items = items
        self.sources = sources
        self.kept = _kept(items, repaired)
        self.changes: dict[tuple[int, int], Change] = {}

    def run(self) -> dict[tuple[int, int], Change]:
        """The changes, by line and record."""
        compacted = sum(source.number >= 0 for source in self.sources)
        inside = [number for number, kept in enumerate(self.kept) if 0 <= kept.place < compacted]
        cut = inside[-1] + 1 if inside else 0
        replacement = [kept.item for kept in self.kept[:cut]]
        if compacted and list(map(id, replacement)) != list(map(id, self.items[:compacted])):
            self._change(self.sources[0].record).edit = partial(_with_replacement, replacement)
        rest = self.kept[cut:]
        self._lines(rest, self.sources[0].record if compacted else None)
        written = {kept.place for kept in rest}
        for place in range(compacted, len(self.items)):
            if place not in written and not self.sources[place].record.compacts:
                self._change(self.sources[place].record).edit = _gone
        return self.changes

    def _same(self, kept: _Kept) -> bool:
        return kept.place >= 0 and kept.item is self.items[kept.place]

    def _lines(self, rest: Sequence[_Kept], at: Record | None) -> None:
        """Puts each item behind the one before it; those that did not move stay where they are."""
        moves = moved([kept.place for kept in rest if kept.place >= 0])
        for kept in rest:
            if kept.place >= 0 and kept.place not in moves:
                at = self.sources[kept.place].record
                if not self._same(kept) and not at.compacts:
                    self._change(at).edit = partial(_with_item, kept.item)
                continue
            if at is None:
                self._change(self.sources[0].record).before.append(_line(kept.item, self.sources[0].record))
            else:
                self._change(at).after.append(_line(kept.item, at))
            if kept.place >= 0:
                self._change(self.sources[kept.place].record).edit = _gone

    def _change(self, record: Record) -> Change:
        return self.changes.setdefault((record.line, record.piece), Change())


def _kept(items: Sequence[Any], repaired: Sequence[Any]) -> list[_Kept]:
    """Finds the repaired items among the original ones: by identity, then between two that were found."""
    places = {id(item): place for place, item in enumerate(items)}
    kept = [_Kept(item, places.get(id(item), -1)) for item in repaired]
    found = {one.place for one in kept}
    at = 0
    for one in kept:
        if one.place >= 0:
            at = max(at, one.place + 1)
            continue
        for place in range(at, len(items)):
            if place not in found and _replaces(one.item, items[place]):
                one.place = place
                found.add(place)
                break
            if place in found:
                break
    return kept


def _replaces(item: dict[str, Any], original: dict[str, Any]) -> bool:
    """Whether an item can be what a repair made of another one at the same place."""
    if item.get("type") != original.get("type") or item.get("role") != original.get("role"):
        return False
    ids = {"id", "call_id"}
    if item.get("call_id") == original.get("call_id"):
        return True
    return all(item.get(key) == value for key, value in original.items() if key not in ids)


def _line(item: dict[str, Any], beside: Record) -> bytes:
    """A new line, of the kind of the one that it stands next to, and with its time."""
    if "payload" not in beside.value:
        return encode(item)
    time = {"timestamp": beside.value["timestamp"]} if "timestamp" in beside.value else {}
    return encode(time | {"type": "response_item", "payload": item})


def _with_item(item: dict[str, Any], data: bytes) -> bytes:
    record = decode(data)
    return encode(record | {"payload": item} if "payload" in record else item)


def _with_replacement(items: list[dict[str, Any]], data: bytes) -> bytes:
    record = decode(data)
    record["payload"]["replacement_history"] = items
    return encode(record)


def _gone(_: bytes) -> None:
    return None
