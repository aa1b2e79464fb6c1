"""Before and after: a unified diff of the records or messages that change, each printed over several lines."""

from __future__ import annotations

import difflib
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, Final

import msgspec

from suture.cli.output import json_text
from suture.sessions.lines import decode

__all__ = ["Hunk", "hunks_of_lines", "hunks_of_messages", "unified"]

_CONTEXT: Final = 1
"""How many unchanged lines are shown around changed ones."""

_WIDTH: Final = 160
"""How many characters of a line are shown."""

_HEIGHT: Final = 60
"""How many lines of a record are shown."""

_REACH: Final = 20
"""How many new records are looked at for the new version of an old one."""

_MOST: Final = 1_000_000
"""How many pairs of lines are compared between two anchors."""

_ALIKE: Final = 0.5
"""The share of equal lines from which on two records are versions of one."""


class Hunk(msgspec.Struct, frozen=True):
    """A record or message that changes, as printed lines; one side is empty where it is new or gone."""

    place: int
    """Its number among the old ones, counted from 0; for a new one that of the old one before it, or -1."""
    before: list[str]
    after: list[str]


def hunks_of_lines(old: bytes, new: bytes) -> list[Hunk]:
    """What changes between two files of one record a line."""
    before, after = old.split(b"\n"), new.split(b"\n")
    hunks: list[Hunk] = []
    for start, stop, new_start, new_stop in _changes(before, after):
        rest = after[new_start:new_stop]
        whole: list[int] = []
        for place in range(start, stop):
            if _is_json(before[place]):
                whole.append(place)
                continue
            # Two records on a line, or one behind what is torn: what is read from it stands in it.
            readable = before[place].replace(b"\0", b"").decode(errors="replace").encode()
            kept = [line for line in rest if line.strip() and line in readable]
            hunks.append(_damaged(place, before[place], kept))
            if kept:
                first = rest.index(kept[0])
                hunks += _hunks(before, whole, rest[:first], start - 1, _printed_line)
                rest = [line for line in rest[first:] if line not in kept]
                whole = []
        hunks += _hunks(before, whole, rest, start - 1, _printed_line)
    return sorted(hunks, key=lambda hunk: (hunk.place, not hunk.before))


def hunks_of_messages(old: Sequence[Any], new: Sequence[Any]) -> list[Hunk]:
    """What changes between two lists of messages, in which an untouched message is the same object."""
    stretches = _changes([id(message) for message in old], [id(message) for message in new])
    return [
        hunk
        for start, stop, new_start, new_stop in stretches
        for hunk in _hunks(old, range(start, stop), new[new_start:new_stop], start - 1, _printed)
    ]


def unified(hunks: Sequence[Hunk], place_name: Callable[[int], str], name: str) -> Iterator[str]:
    """The diff, line by line.

    Args:
        hunks: What changes.
        place_name: What the record or message with this number is called, such as `line 3`.
        name: The file's.
    """
    yield f"--- {name}"
    yield f"+++ {name} (repaired)"
    for hunk in hunks:
        if not hunk.before:
            where = f"new, after {place_name(hunk.place)}" if hunk.place >= 0 else "new, at the beginning"
        else:
            where = place_name(hunk.place) + ("" if hunk.after else ", gone")
        yield f"@@ {where} @@"
        lines = list(_changed(hunk))
        yield from map(_clipped, lines[:_HEIGHT])
        if len(lines) > _HEIGHT:
            yield f"  … {len(lines) - _HEIGHT:,} more lines"


def _changed(hunk: Hunk) -> Iterator[str]:
    """The lines that change, with their context."""
    lines = list(difflib.unified_diff(hunk.before, hunk.after, n=_CONTEXT, lineterm=""))[2:]
    for number, line in enumerate(lines):
        if not line.startswith("@@"):
            yield line
        elif number:
            yield "  …"


def _hunks(
    old: Sequence[Any], places: Sequence[int], new: Sequence[Any], former: int, printed: Callable[[Any], list[str]]
) -> Iterator[Hunk]:
    """What changes between the old ones at these places and their new versions; `former` is the place before them."""
    before = [printed(old[place]) for place in places]
    for number, left, right in _pairs(before, [printed(value) for value in new]):
        if left != right:
            yield Hunk(places[number] if number >= 0 else former, left, right)


def _pairs(before: list[list[str]], after: list[list[str]]) -> Iterator[tuple[int, list[str], list[str]]]:
    """Old and new versions beside each other, in the order of the new ones; an empty side where there is no other.

    With each comes the number of the old one, or of the one before it.
    """
    partners = _partners(before, after)
    done = 0
    for number, new in enumerate(after):
        partner = partners.get(number)
        while partner is not None and done < partner:
            yield done, before[done], []
            done += 1
        if partner is None:
            yield done - 1, [], new
        else:
            yield partner, before[partner], new
            done = partner + 1
    for place in range(done, len(before)):
        yield place, before[place], []


def _partners(before: list[list[str]], after: list[list[str]]) -> dict[int, int]:
    """Which new one is a version of which old one."""
    if len(before) == len(after):
        return {number: number for number in range(len(after))}
    partners: dict[int, int] = {}
    start = 0
    for place, old in enumerate(before):
        alike = [(_likeness(old, new), -number) for number, new in enumerate(after[start : start + _REACH], start)]
        likeness, number = max(alike, default=(0.0, 0))
        if likeness >= _ALIKE:
            partners[-number] = place
            start = 1 - number
    return partners


def _likeness(old: list[str], new: list[str]) -> float:
    """The share of lines that two printed records have in common."""
    return len(set(old) & set(new)) / max(len(old), len(new), 1)


def _changes(old: Sequence[Hashable], new: Sequence[Hashable]) -> Iterator[tuple[int, int, int, int]]:
    """The stretches that differ, as (start, stop) in `old` and `new`; in time that grows with the length.

    Keys that occur once on both sides and in the same order hold the two together; what lies between two of them is
    mostly little, and compared in full.
    """
    at, new_at = 0, 0
    for place, new_place in [*_anchors(old, new), (len(old), len(new))]:
        for _, start, stop, new_start, new_stop in _compared(old[at:place], new[new_at:new_place]):
            yield at + start, at + stop, new_at + new_start, new_at + new_stop
        at, new_at = place + 1, new_place + 1


def _compared(old: Sequence[Hashable], new: Sequence[Hashable]) -> Iterable[tuple[str, int, int, int, int]]:
    """The stretches that differ between two anchors."""
    if not old and not new:
        return ()
    if len(old) * len(new) > _MOST:
        # Thousands of lines that repeat: looking for the shortest difference would take for ever.
        places = [place for place, (one, other) in enumerate(zip(old, new, strict=False)) if one != other]
        common = min(len(old), len(new))
        changed = [("replace", place, place + 1, place, place + 1) for place in places]
        return [*changed, ("replace", common, len(old), common, len(new))]
    opcodes = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [code for code in opcodes if code[0] != "equal"]


def _anchors(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[tuple[int, int]]:
    """The longest run of places of unique common keys that rises on both sides."""
    counts, new_counts = Counter(old), Counter(new)
    places = {key: place for place, key in enumerate(new) if new_counts[key] == 1}
    common = [(place, places[key]) for place, key in enumerate(old) if counts[key] == 1 and key in places]
    ends: list[int] = []
    best: list[int] = []
    before: list[int] = []
    for number, (_, new_place) in enumerate(common):
        # Patience sorting: `ends` holds the lowest end of a rising run of each length, `best` where it is.
        length = bisect_left(ends, new_place)
        ends[length : length + 1] = [new_place]
        best[length : length + 1] = [number]
        before.append(best[length - 1] if length else -1)
    run: list[tuple[int, int]] = []
    number = best[-1] if best else -1
    while number >= 0:
        run.append(common[number])
        number = before[number]
    return run[::-1]


def _printed(value: Any) -> list[str]:
    """A JSON value over several lines."""
    return json_text(value, indent=2).split("\n")


def _printed_line(line: bytes) -> list[str]:
    """The record on a line of a file, over several lines."""
    return _printed(decode(line)) if line.strip() else []


def _is_json(line: bytes) -> bool:
    """Whether a line holds one record, or nothing."""
    try:
        return not line.strip() or decode(line) is not None
    except (ValueError, RecursionError):
        return False


def _damaged(place: int, old: bytes, kept: Sequence[bytes]) -> Hunk:
    """A damaged line, and those that what it holds comes to stand on, each on one printed line."""
    before = re.sub("\0+", lambda match: f"({len(match[0])} NUL bytes)", old.decode(errors="surrogateescape"))
    after = [line.decode(errors="replace") for line in kept]
    bad = re.search("[\udc80-\udcff]", before)
    start = max(bad.start() - _WIDTH // 2, 0) if bad else 0
    cut = "… " if start else ""
    return Hunk(place, [cut + before[start:]], [cut + line[start:] for line in after])


def _clipped(line: str) -> str:
    """A line that is not much longer than a terminal is wide; its end is shown too, for it may be what differs."""
    if len(line) <= _WIDTH:
        return line
    return f"{line[: _WIDTH - 50]} … {len(line) - _WIDTH + 10:,} characters … {line[-40:]}"
