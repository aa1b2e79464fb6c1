"""Writes a file of JSON lines anew: changed records in their places, everything else byte for byte."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Final

import msgspec

from suture.sessions.damage import Damage
from suture.sessions.files import problems_of
from suture.sessions.lines import Piece, RawLine, line_end, raw_lines, salvage

__all__ = ["Change", "moved", "rewritten_lines"]

_CHAIN_DAMAGE: Final = frozenset({"SU905", "SU906"})
"""Damage of the links between lines, which says nothing about a line itself."""

_STEP: Final = 2**20


class Change(msgspec.Struct):
    """What becomes of one record."""

    before: list[bytes] = []
    """New records in front of it."""
    edit: Callable[[bytes], bytes | None] | None = None
    """What it is replaced by, which may be nothing; it stays where this is None."""
    after: list[bytes] = []
    """New records behind it."""


def rewritten_lines(
    path: Path,
    changes: Mapping[tuple[int, int], Change],
    damages: Sequence[Damage],
    is_record: Callable[[Any], bool],
) -> Iterator[bytes]:
    """The new content of a file, line by line.

    Records that shared a line come to stand on lines of their own, and what is torn is left out.

    Args:
        path: The file.
        changes: By the number of a line and of a record on it, counted from 1 and from 0.
        damages: What was found when the file was read.
        is_record: What told records from parts of records then.
    """
    changed = {number for number, _ in changes}
    damaged = {damage.line for damage in damages if damage.code not in _CHAIN_DAMAGE}
    with problems_of(path), path.open("rb") as stream, path.open("rb") as copied:
        for raw in raw_lines(stream):
            if raw.data is None:
                yield from _copy(copied, raw)
                continue
            line = salvage(raw, is_record) if raw.number in damaged else None
            if raw.number not in changed and (line is None or line.verbatim):
                yield raw.data
                continue
            end = line_end(raw.data) or b"\n"
            for number, piece in enumerate(line.pieces if line else [Piece(raw.text, None)]):
                for data in _around(piece.data, changes.get((raw.number, number))):
                    yield data + end


def _around(data: bytes, change: Change | None) -> Iterator[bytes]:
    if change is None:
        yield data
        return
    yield from change.before
    kept = change.edit(data) if change.edit else data
    if kept is not None:
        yield kept
    yield from change.after


def _copy(stream: BinaryIO, raw: RawLine) -> Iterator[bytes]:
    """A line that is too long to be held, step by step."""
    stream.seek(raw.offset)
    left = raw.length
    while left and (data := stream.read(min(left, _STEP))):
        left -= len(data)
        yield data


def moved(places: Sequence[int]) -> set[int]:
    """The fewest places that have to move so that the others are in rising order; no place occurs twice."""
    ends: list[int] = []
    before: dict[int, int] = {}
    for place in places:
        # The longest rising run, by patience sorting: `ends` holds the lowest end of a run of each length.
        length = bisect_left(ends, place)
        ends[length : length + 1] = [place]
        if length:
            before[place] = ends[length - 1]
    rest = set(places)
    last = ends[-1] if ends else None
    while last is not None:
        rest.discard(last)
        last = before.get(last)
    return rest
