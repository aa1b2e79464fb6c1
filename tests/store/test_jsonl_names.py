"""`suture.store.jsonl_names`."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from suture.store.jsonl_names import CUT, file_name, session_name

NAMES = st.text(max_size=30) | st.text("aA.%~/ é", max_size=6) | st.integers(30, 300).map("aB/".__mul__)


@pytest.mark.parametrize(
    ("session", "file"),
    [
        ("support-42", "support-42.jsonl"),
        ("0b5e7d1c-8f4e-4c1b-9d55-2f9a0c6a7a10", "0b5e7d1c-8f4e-4c1b-9d55-2f9a0c6a7a10.jsonl"),
        ("v1.2_final", "v1.2_final.jsonl"),
        ("Chat", "%43hat.jsonl"),
        ("a/b c", "a%2fb%20c.jsonl"),
        ("..", "%2e..jsonl"),
        ("naïve", "na%c3%afve.jsonl"),
        ("con", "%63on.jsonl"),
        ("nul.txt", "%6eul.txt.jsonl"),
        ("console", "console.jsonl"),
        ("", "%.jsonl"),
        ("%", "%25.jsonl"),
    ],
)
def test_plain_names_stay_as_they_are(session: str, file: str) -> None:
    """And what is not plain can be read back by anything that knows percent-encoding."""
    assert file == file_name(session)
    assert session == session_name(file)


@given(NAMES, NAMES)
@example("a", "A")
@example("\ud83d\ude00", "😀")
@example("x" * 121, "x" * 122)
def test_no_two_sessions_share_a_file(one: str, other: str) -> None:
    """Not even where capitals do not count; and every file system takes the name."""
    assert (one == other) == (file_name(one).casefold() == file_name(other).casefold())
    assert re.fullmatch(r"[a-z0-9%_-][a-z0-9%._~-]*\.jsonl", file_name(one))
    assert len(file_name(one)) <= 126


@given(NAMES)
def test_the_way_back(session: str) -> None:
    """A name that was cut needs the file's word for it, which does not count in another file."""
    file = file_name(session)
    assert session_name(file) == (None if CUT in file else session)
    assert session_name(file, session) == session
    assert session_name(file, session + "!") == (None if CUT in file else session)


@pytest.mark.parametrize("file", ["Chat.jsonl", "a b.jsonl", "%41.txt", "%2E.jsonl", "%ff.jsonl", "~.jsonl", ".jsonl"])
def test_a_file_that_no_session_has(file: str) -> None:
    """It is not taken for one."""
    assert session_name(file) is None
