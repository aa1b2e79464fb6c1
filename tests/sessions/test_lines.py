"""`suture.sessions.lines`: every byte of a damaged file ends up in a record or in a damage."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suture.sessions import lines
from suture.sessions.lines import Line, decode, encode, is_utf8, raw_lines, salvage

FIRST = b'{"type":"user","sessionId":"s"}'
SECOND = b'{"type":"assistant","sessionId":"s"}'


def is_record(value: Any) -> bool:
    """What the tests take for a whole record."""
    return isinstance(value, dict) and "sessionId" in value


def read(data: bytes) -> list[Line]:
    """All lines of a file."""
    return [salvage(raw, is_record) for raw in raw_lines(io.BytesIO(data))]


def codes(line: Line) -> list[str]:
    """The damage of a line."""
    return [damage.code for damage in line.damages]


def test_lines_are_numbered_and_located() -> None:
    """Each line knows its number, its first byte and its length, whatever its end."""
    found = [(raw.number, raw.offset, raw.length, raw.text) for raw in raw_lines(io.BytesIO(b"a\r\n\nbc"))]

    assert [(1, 0, 3, b"a"), (2, 3, 1, b""), (3, 4, 2, b"bc")] == found


def test_marks_ends_and_blanks_are_no_damage() -> None:
    """A byte order mark, CRLF, blank lines, foreign types and a missing last line end pass silently."""
    found = read(b"\xef\xbb\xbf" + FIRST + b"\r\n\r\n  \n[1]\nnull\n" + SECOND)

    assert [["user"], [], [], [None], [None], ["assistant"]] == [
        [piece.value.get("type") if isinstance(piece.value, dict) else None for piece in line.pieces] for line in found
    ]
    assert all(line.verbatim and not line.damages for line in found)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b'{"a":"\\ud83d"}', {"a": "\ud83d"}),
        (b'{"a":Infinity}', {"a": float("inf")}),
        (b'{"a":123456789012345678901234567890}', {"a": 123456789012345678901234567890}),
    ],
)
def test_what_javascript_writes_is_read(text: bytes, value: Any) -> None:
    """Lone surrogates and numbers out of range are read by the standard module."""
    assert value == decode(text)


def test_numbers_that_are_none_are_read() -> None:
    """NaN is no JSON, but Python writes it."""
    assert str(decode(b'{"a":NaN}')["a"]) == "nan"


def test_lone_surrogates_are_written_with_escapes() -> None:
    """A text that has no UTF-8 form is escaped; any other is not."""
    assert b'{"a":"\\ud83d \\u00e9"}' == encode({"a": "\ud83d é"})
    assert '{"a":"é"}'.encode() == encode({"a": "é"})


def test_a_torn_record_is_reported_and_not_completed() -> None:
    """Nothing of a torn record is used, not even a part that is complete in itself."""
    (line,) = read(b'{"type":"user","message":{"sessionId":"s","role":"user"},"uuid":"4f')

    assert [[], []] == [line.pieces[1:], [damage for damage in line.damages if damage.code != "SU901"][1:]]
    assert "SU901" in codes(line)


def test_a_part_of_a_torn_record_is_no_record() -> None:
    """An object inside a torn record that does not look like a record is not mistaken for one."""
    (line,) = read(b'{"type":"user","message":{"role":"user","content":"hi"},"uuid":"4f')

    assert ([], ["SU901"]) == (line.pieces, codes(line))


def test_nul_bytes_are_stripped() -> None:
    """Padding goes, what it padded stays."""
    padded, empty = read(b"\0\0" + FIRST + b"\0\n\0\0\0\n")

    assert ([FIRST], ["SU902"]) == ([piece.data for piece in padded.pieces], codes(padded))
    assert ([], ["SU902"]) == (empty.pieces, codes(empty))
    assert "3 NUL bytes" in empty.damages[0].found


def test_glued_records_are_taken_apart() -> None:
    """Complete records on one line are all read, also such as are of no known kind."""
    (line,) = read(FIRST + b'{"a":1} ' + SECOND + b"\n")

    assert ([FIRST, b'{"a":1}', SECOND], ["SU903"]) == ([piece.data for piece in line.pieces], codes(line))
    assert not line.verbatim


def test_the_record_behind_a_torn_one_is_salvaged() -> None:
    """A torn record with the next one glued to it costs the torn one only."""
    (line,) = read(b'{"type":"us' + SECOND + b"\n")

    assert ([SECOND], ["SU901"]) == ([piece.data for piece in line.pieces], codes(line))


def test_the_record_before_a_torn_one_is_salvaged() -> None:
    """A complete record with a torn one glued to it is read."""
    (line,) = read(FIRST + b'{"type":"as')

    assert ([FIRST], ["SU901"]) == ([piece.data for piece in line.pieces], codes(line))
    assert len(FIRST) == line.damages[0].offset


def test_a_cut_character_is_replaced() -> None:
    """Bytes that are not UTF-8 become U+FFFD; the record is read."""
    (line,) = read(b'{"sessionId":"caf\xc3"}\n')

    assert ({"sessionId": "caf\ufffd"}, ["SU904"]) == (line.pieces[0].value, codes(line))
    assert line.damages[0].offset == len(b'{"sessionId":"caf')


def test_other_text_is_reported() -> None:
    """A line that is no JSON at all is left out."""
    (line,) = read(b"npm warn deprecated\n")

    assert ([], ["SU908"]) == (line.pieces, codes(line))


def test_deep_nesting_is_damage() -> None:
    """A line that no parser can hold is reported and stays in the file."""
    (line,) = read(b'{"a":' + b"[" * 2000 + b"]" * 2000 + b"}\n")

    assert ([], ["SU908"], True) == (line.pieces, codes(line), line.verbatim)


def test_deep_nesting_behind_a_torn_record_is_damage() -> None:
    """What cannot be parsed on a damaged line does not stop the reading."""
    (line,) = read(b'{"a" {"sessionId":' + b"[" * 100_000)

    assert [] == line.pieces
    assert {"SU901"} == set(codes(line))


def test_a_line_that_is_too_long_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line beyond the limit is not read; the lines around it are."""
    monkeypatch.setattr(lines, "MAX_LINE", 64)
    before, long, after = read(FIRST + b"\n" + b'{"a":"' + b"x" * 200 + b'"}\n' + SECOND + b"\n")

    assert (["SU908"], True, []) == (codes(long), long.verbatim, long.pieces)
    assert ([FIRST], [SECOND]) == ([before.pieces[0].data], [after.pieces[0].data])


def test_a_last_line_that_is_too_long_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """It need not have an end, nor be longer than the limit."""
    monkeypatch.setattr(lines, "MAX_LINE", len(FIRST))

    assert [(len(FIRST), None), (len(FIRST) + 1, None)] == [
        next((raw.length, raw.data) for raw in raw_lines(io.BytesIO(data))) for data in (FIRST, FIRST + b"x")
    ]


def test_the_search_behind_a_torn_record_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only so many starts are tried."""
    monkeypatch.setattr(lines, "_MAX_STARTS", 3)
    (line,) = read(b'{"' * 10 + SECOND)

    assert ([], ["SU901"]) == (line.pieces, codes(line))


def test_utf8_is_checked_in_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """A character across two steps is whole."""
    monkeypatch.setattr(lines, "_UTF8_STEP", 1)

    assert [True, False, False] == [is_utf8("é".encode()), is_utf8("é".encode()[:1]), is_utf8(b"\xff")]


@given(st.binary(max_size=60), st.integers(0, 60), st.sampled_from([FIRST, b"\0" * 9, b'{"a":[{"b":1}]}', b"\xc3"]))
def test_no_bytes_stop_the_reading(noise: bytes, at: int, more: bytes) -> None:
    """Any bytes are read to the end, and a line without a record is blank or damaged."""
    data = noise[:at] + more + noise[at:]
    for raw, line in zip(raw_lines(io.BytesIO(data)), read(data), strict=True):
        assert line.pieces or line.damages or not raw.text.strip()
        assert all(raw.offset <= damage.offset <= raw.offset + raw.length for damage in line.damages)


@given(st.lists(st.sampled_from([FIRST, SECOND, b'{"a":"\\ud83d"}']), min_size=1, max_size=5), st.integers(0, 40))
def test_whole_records_survive_any_glue(records: list[bytes], cut: int) -> None:
    """Behind a torn record all whole ones with the mark of a record are found."""
    torn = FIRST[: min(cut, len(FIRST) - 1)]
    (line,) = read(torn + b"".join(records))
    whole = [json.loads(record) for record in records]
    known = whole[next((n for n, value in enumerate(whole) if is_record(value)), len(whole)) if torn else 0 :]

    assert known == [piece.value for piece in line.pieces][-len(known) :] or not known
