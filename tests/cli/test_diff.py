"""The diff of a repair: which records changed, and how that is shown."""

from __future__ import annotations

import json
import time

import pytest

from suture.cli.diff import Hunk, hunks_of_lines, hunks_of_messages, unified


def lines(*records: object) -> bytes:
    """A file of one record a line; bytes stand as they are."""
    return b"".join((one if isinstance(one, bytes) else json.dumps(one).encode()) + b"\n" for one in records)


def shown(old: bytes, new: bytes) -> list[str]:
    """The diff without its head."""
    return list(unified(hunks_of_lines(old, new), lambda place: f"line {place + 1}", "f"))[2:]


A, B, C = ({"id": name, "kind": "record", "more": [1, 2], "size": 3} for name in "abc")


@pytest.mark.parametrize(
    ("old", "new", "diff"),
    [
        (lines(A, B), lines(A, B), []),
        (lines(A)[:-1], lines(A), []),
        (lines(A, 7), lines(A, 5, 7), ["@@ new, after line 1 @@", "+5"]),
        (lines(A), lines(5, A), ["@@ new, at the beginning @@", "+5"]),
        (lines(A, 5, B), lines(A, B), ["@@ line 2, gone @@", "-5"]),
        (lines(A, b"{torn", B), lines(A, B), ["@@ line 2, gone @@", "-{torn"]),
        (
            lines(b'{"a":1}{"b":2}'),
            lines(b'{"a":1}', b'{"b":2}'),
            ["@@ line 1 @@", '-{"a":1}{"b":2}', '+{"a":1}', '+{"b":2}'],
        ),
        (lines(A, bytes(9) + b"{}"), lines(A, b"{}"), ["@@ line 2 @@", "-(9 NUL bytes){}", "+{}"]),
        (lines(b'"\xc3"'), lines(b'"\xef\xbf\xbd"'), ["@@ line 1 @@", '-"\udcc3"', '+"\ufffd"']),
    ],
)
def test_lines(old: bytes, new: bytes, diff: list[str]) -> None:
    """New, gone and damaged lines are named by the number that they have, or had, in the file."""
    assert diff == shown(old, new)


def test_a_changed_record_is_told_from_a_new_one_beside_it() -> None:
    """The version that is most like the old one is compared with it, and only what differs is shown."""
    diff = shown(lines(A, B), lines(A, {"new": True, "kind": "record"}, B | {"size": 4}))

    assert ["@@ new, after line 1 @@", "+{", '+  "new": true,', '+  "kind": "record"', "+}"] == diff[:5]
    assert ["@@ line 2 @@", "   ],", '-  "size": 3', '+  "size": 4', " }"] == diff[5:]


def test_a_record_that_moves_is_gone_here_and_new_there() -> None:
    """Both places are shown."""
    diff = shown(lines(A, B, C), lines(B, C, A))

    assert ["@@ line 1, gone @@", "@@ new, after line 3 @@"] == [line for line in diff if line.startswith("@@")]


def test_a_torn_line_does_not_hide_what_is_new_beside_it() -> None:
    """A record that was read from a damaged line is shown as that line's; other new ones are shown in full."""
    diff = shown(lines(A, b'{"torn":"{"b":2}'), lines(A, 5, b'{"b":2}'))

    assert ["@@ new, after line 1 @@", "+5", "@@ line 2 @@", '-{"torn":"{"b":2}', '+{"b":2}'] == diff


def test_messages_are_compared_by_identity() -> None:
    """An untouched message is the same object, and is not looked into."""
    new = {"role": "user", "content": "b"}
    hunks = hunks_of_messages([A, B, C], [A, new, C])

    assert [Hunk(1, json.dumps(B, indent=2).splitlines(), json.dumps(new, indent=2).splitlines())] == hunks
    assert [] == hunks_of_messages([A, B], [A, dict(B)])


def test_long_lines_and_long_records_are_cut() -> None:
    """Both ends of a line stay, and what was left out is counted."""
    (head, line) = shown(lines("x" * 500 + "y"), b"")
    assert ("@@ line 1, gone @@", 160 > len(line) - 30, True) == (head, True, line.endswith('xy"'))
    assert "… 354 characters …" in line

    diff = shown(lines(list(range(100))), b"")
    assert "  … 42 more lines" == diff[-1]


def test_parts_of_a_record_that_are_far_apart() -> None:
    """What stands between them is left out."""
    old = {str(number): number for number in range(20)}
    diff = shown(lines(old), lines(old | {"2": 0, "15": 0}))

    assert ["  …"] == [line for line in diff if line.strip() == "…"]


def test_a_large_file_takes_no_quadratic_time() -> None:
    """Many changes in many lines, and lines that repeat."""
    records = [{"n": number, "same": "x"} for number in range(40_000)] + [{"same": "y"}] * 20_000
    changed = [record | {"n": -1} if number % 50 == 0 else record for number, record in enumerate(records)]
    start = time.perf_counter()
    hunks = hunks_of_lines(lines(*records), lines(*changed))

    assert 1200 == len(hunks)
    assert time.perf_counter() - start < 60
