"""What a repair did to a thread, in terms of lines: which stay, which change, which are new, which are gone.

`repair` gives back every untouched content block as the same object, so a block is found again by identity. A block
that is not the same object either takes the place of one that is gone (same kind, same call) or is new.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, Final

import msgspec

from suture.sessions.rewrite import moved

__all__ = ["Kept", "edits_of"]

_IDS: Final = ("id", "tool_use_id")


class Kept(msgspec.Struct):
    """One line of the thread after the repair, in the order of the conversation."""

    role: str
    content: Any
    """Its content blocks, or a text where the message's content is one and has changed."""
    row: int | None
    """The row of the line that it was, or None for a new line."""
    changed: bool
    """Whether the line's content has to be written anew."""
    message: int
    """Which message of the repaired list it belongs to."""


class _Place(msgspec.Struct):
    """Where a content block of the thread stands."""

    role: str
    row: int
    home: int
    """The number of its message."""
    number: int
    """Its own number, counted over all messages."""
    block: Any
    taken: bool = False


def edits_of(
    messages: Sequence[Any], trace: Sequence[Sequence[tuple[int, int]]], repaired: Sequence[Any]
) -> tuple[list[Kept], set[int]]:
    """The lines of a thread after a repair, and the rows of those that are gone.

    Args:
        messages: The thread's messages.
        trace: Per message, the rows that it comes from and how many content blocks each has.
        repaired: What `repair` made of the messages.
    """
    finding = _Finding(messages, trace)
    finding.claim(repaired)
    kept: list[Kept] = []
    written: set[int] = set()
    for number, message in enumerate(repaired):
        for line in finding.lines(number, message):
            # A line stands in one place; what a repair moved away from its neighbours becomes a line of its own.
            if line.row in written or (line.row is not None and finding.roles[line.row] != line.role):
                line.row, line.changed = None, True
            if line.row is not None:
                written.add(line.row)
            kept.append(line)
    return kept, finding.roles.keys() - written


class _Finding:
    """Finds the places of repaired content blocks in the messages that they come from."""

    def __init__(self, messages: Sequence[Any], trace: Sequence[Sequence[tuple[int, int]]]) -> None:
        self.whole = {id(message): number for number, message in enumerate(messages)}
        self.trace = trace
        self.roles: dict[int, str] = {}
        self.counts: dict[int, int] = {}
        self.places: list[list[_Place]] = []
        self.count = 0
        self.by_identity: dict[int, _Place] = {}
        self.by_call: dict[tuple[str, str], list[_Place]] = {}
        self.claimed: dict[tuple[int, int], _Place] = {}
        """Repaired message and block number: the place that the block takes."""
        for message, sources in zip(messages, trace, strict=True):
            self.places.append(list(self._places_in(message, sources)))

    def _places_in(self, message: Any, sources: Sequence[tuple[int, int]]) -> Iterator[_Place]:
        blocks = iter(_blocks_of(message))
        for row, count in sources:
            self.roles[row], self.counts[row] = message["role"], count
            for _ in range(count):
                block = next(blocks)
                place = _Place(message["role"], row, len(self.places), self.count, block)
                self.count += 1
                if isinstance(block, dict):
                    self.by_identity[id(block)] = place
                    if key := _call_key(block):
                        self.by_call.setdefault(key, []).append(place)
                yield place

    def claim(self, repaired: Sequence[Any]) -> None:
        """Gives each repaired block its place: by identity, then by its call, then by what is left beside it."""
        changed = []
        for number, message in enumerate(repaired):
            if id(message) not in self.whole:
                changed.append((number, message))
                continue
            for place in self.places[self.whole[id(message)]]:
                place.taken = True
        blocks = [
            ((number, part), block) for number, message in changed for part, block in enumerate(_blocks_of(message))
        ]
        for where, block in blocks:
            self._take_first(where, [self.by_identity[id(block)]] if id(block) in self.by_identity else [])
        left = [(where, block) for where, block in blocks if where not in self.claimed]
        self._claim_by_call(left, self._reached(repaired) if left else [])
        self._claim_in_gaps(repaired)

    def _reached(self, repaired: Sequence[Any]) -> list[int]:
        """For each repaired message, which original one the messages before it reach to, as far as they are found."""
        astray = self._astray(repaired)
        reached = [0]
        for number, message in enumerate(repaired):
            reached.append(max([reached[-1], *self._homes(number, message, astray)]))
        return reached

    def _claim_by_call(self, blocks: Sequence[tuple[tuple[int, int], Any]], reached: Sequence[int]) -> None:
        """Finds calls and results again: first those whose id alone has changed, as another may have its id now.

        Of several that say the same, the first one that stands no further up than what comes before it.
        """
        tied = [(where, block) for where, block in blocks if isinstance(block, dict) and _call_key(block)]
        if not tied:
            return
        same: dict[str, list[_Place]] = {}
        for place in sorted(chain.from_iterable(self.by_call.values()), key=lambda place: place.number):
            if not place.taken:
                same.setdefault(_apart_from_ids(place.block), []).append(place)
        for where, block in tied:
            self._take_nearest(where, same.get(_apart_from_ids(block), ()), reached[where[0]])
        for where, block in tied:
            if where not in self.claimed:
                self._take_nearest(where, self.by_call.get(_call_key(block) or ("", ""), ()), reached[where[0]])

    def _take_nearest(self, where: tuple[int, int], places: Sequence[_Place], reached: int) -> None:
        self._take_first(where, chain((place for place in places if place.home >= reached), places))

    def _take_first(self, where: tuple[int, int], places: Iterable[_Place]) -> None:
        for place in places:
            if not place.taken:
                place.taken = True
                self.claimed[where] = place
                return

    def _claim_in_gaps(self, repaired: Sequence[Any]) -> None:
        """Between two messages that were found, what is left on both sides is matched in order."""
        astray = self._astray(repaired)
        at = 0
        for number, message in enumerate(repaired):
            if id(message) not in self.whole:
                homes = self._homes(number, message, astray)
                near = range(min([at, *homes]), self._last_free(max([at, *homes])) + 1)
                for part, block in enumerate(_blocks_of(message)):
                    if (number, part) not in self.claimed:
                        free = (place for home in near for place in self.places[home] if place.role == message["role"])
                        self._take_first((number, part), (place for place in free if _replaces(block, place.block)))
            at = max([at, *self._homes(number, message, astray)])

    def _astray(self, repaired: Sequence[Any]) -> set[int]:
        """The blocks that were moved up or down: they say nothing about where their new neighbours come from."""
        found = (self._found(number, message) for number, message in enumerate(repaired))
        return moved([place.number for places in found for place in places])

    def _homes(self, number: int, message: Any, astray: set[int]) -> list[int]:
        """The original messages that the blocks of a repaired message come from, but for those that were moved."""
        return [place.home for place in self._found(number, message) if place.number not in astray]

    def _found(self, number: int, message: Any) -> list[_Place]:
        """The places that the blocks of a repaired message come from, as far as they have been found."""
        if id(message) in self.whole:
            return self.places[self.whole[id(message)]]
        found = (self.claimed.get((number, part)) for part in range(len(_blocks_of(message))))
        return [place for place in found if place]

    def _last_free(self, at: int) -> int:
        """The last message before the next one behind `at` that has been found."""
        for number in range(at + 1, len(self.places)):
            if any(place.taken for place in self.places[number]):
                return number - 1
        return len(self.places) - 1

    def lines(self, number: int, message: Any) -> Iterator[Kept]:
        """The lines of a repaired message."""
        role = message["role"]
        if id(message) in self.whole:
            blocks = iter(_blocks_of(message))
            for source, count in self.trace[self.whole[id(message)]]:
                yield Kept(role, list(islice(blocks, count)), source, changed=False, message=number)
            return
        run: list[Any] = []
        originals: list[Any] = []
        row: int | None = None
        for part, block in enumerate(_blocks_of(message)):
            place = self.claimed.get((number, part))
            # A new block is a line of its own; blocks of one line stay on it.
            if run and (place is None or place.row != row):
                yield self._line(number, role, run, originals, row)
                run, originals = [], []
            row = None if place is None else place.row
            run.append(block)
            originals += [place.block] if place else []
        if run:
            yield self._line(number, role, run, originals, row)
        else:
            yield Kept(role, [], None, changed=True, message=number)

    def _line(self, number: int, role: str, blocks: list[Any], originals: list[Any], row: int | None) -> Kept:
        content: Any = blocks[0] if isinstance(blocks[0], str) else blocks
        same = row is not None and len(originals) == self.counts[row] and all(map(_unchanged, blocks, originals))
        return Kept(role, content, row, changed=not same, message=number)


def _blocks_of(message: Any) -> list[Any]:
    """The content blocks of a message; content that is a text counts as one block."""
    content = message["content"]
    return content if isinstance(content, list) else [content]


def _call_key(block: dict[str, Any]) -> tuple[str, str] | None:
    """What ties a block to its call, for blocks that are tied to one."""
    for key in _IDS:
        if isinstance(block.get(key), str):
            return f"{block.get('type')}.{key}", block[key]
    return None


def _apart_from_ids(block: dict[str, Any]) -> str:
    """All that a block says, except for the call that it is tied to."""
    return json.dumps({key: value for key, value in block.items() if key not in _IDS}, sort_keys=True)


def _replaces(block: Any, original: Any) -> bool:
    """Whether a block can be what a repair made of another one at the same place."""
    if isinstance(block, str) or isinstance(original, str):
        return bool(_kind(block) == _kind(original))
    if block.get("type") != original.get("type"):
        return False
    return _call_key(original) is None


def _kind(block: Any) -> Any:
    return "text" if isinstance(block, str) else block.get("type")


def _unchanged(block: Any, original: Any) -> bool:
    """Whether a block says what the original says: it is the same object, or the same text in the other notation."""
    if isinstance(original, str):
        alike: bool = block in (original, {"type": "text", "text": original})
        return alike
    return block is original
