"""`suture.sessions`: any session file by its path alone, and the cases in `tests/cases/sessions`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from suture import sessions
from suture.errors import SessionError, UnknownFormatError
from suture.pipeline import check
from suture.sessions import DAMAGES, READERS, detect_reader, open_session, replace, undo
from tests.sessions.mending import mend

ROOT = Path(__file__).parents[2]
CASES = ROOT / "tests" / "cases" / "sessions"
INDEX: dict[str, Any] = json.loads((CASES / "index.json").read_text())
REPORTED = [json.loads(line) for line in (ROOT / "tests" / "cases" / "claude_code.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("name", INDEX)
def test_case(name: str, tmp_path: Path) -> None:
    """A case shows the damage and the findings that its entry says, and a repair leaves nothing to find."""
    path = tmp_path / name
    path.write_bytes((CASES / name).read_bytes())
    expected = INDEX[name]
    session = open_session(path)
    reader = READERS[session.format]
    threads = reader.history(session)
    findings = [
        [thread.name, thread.line_of(finding.path), finding.code]
        for thread in threads
        for finding in check(thread.messages, thread.format, request=session.request)
    ]

    assert expected["format"] == session.format
    assert expected["threads"] == [thread.name for thread in threads]
    assert expected["damages"] == [[damage.code, damage.line] for damage in session.damages]
    assert expected["findings"] == findings

    replace(path, [mend(session)], session.fingerprint)
    again = open_session(path)
    assert [] == [damage for damage in again.damages if damage.mended]
    for thread in reader.history(again):
        assert [] == check(thread.messages, thread.format, request=again.request)
    assert path.read_bytes() == mend(again)
    undo(path)
    assert (CASES / name).read_bytes() == path.read_bytes()


def test_every_case_is_in_the_index() -> None:
    """A case without an entry would test nothing."""
    assert sorted(INDEX) == sorted(path.name for path in CASES.iterdir() if path.name != "index.json")


@pytest.mark.parametrize("name", ["broken-claude-code.jsonl", "broken-codex.jsonl"])
def test_example(name: str, tmp_path: Path) -> None:
    """The examples are broken as they say, and can be repaired."""
    path = tmp_path / name
    path.write_bytes((ROOT / "examples" / name).read_bytes())
    session = open_session(path)
    (thread,) = READERS[session.format].history(session)

    assert ["SU101"] == [finding.code for finding in check(thread.messages, thread.format)]
    path.write_bytes(mend(session))
    (thread,) = READERS[session.format].history(open_session(path))
    assert [] == check(thread.messages, thread.format)


@pytest.mark.parametrize("row", REPORTED)
def test_reported_files(row: dict[str, Any], tmp_path: Path) -> None:
    """Files from bug reports are clean after a repair, branch by branch."""
    path = tmp_path / "session.jsonl"
    lines = "".join(json.dumps(line) + "\n" for line in row["input"].get("lines", ()))
    path.write_text(row["input"].get("raw", lines))
    path.write_bytes(mend(open_session(path)))
    session = open_session(path)

    assert [] == [damage for damage in session.damages if damage.mended]
    for thread in READERS[session.format].history(session):
        assert [] == check(thread.messages, thread.format)


def test_readers_have_their_names() -> None:
    """What users type leads to the reader that says so."""
    assert list(READERS) == [reader.NAME for reader in READERS.values()]


def test_a_named_format_is_not_guessed(tmp_path: Path) -> None:
    """A name overrules what the file looks like."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"role":"user","content":"x"}\n')

    assert ["messages", "claude_code"] == [open_session(path).format, open_session(str(path), "claude_code").format]


def test_an_unknown_format_is_an_error(tmp_path: Path) -> None:
    """Both a file of no format and a name of no format say what there is."""
    path = tmp_path / "a.txt"
    path.write_bytes(b"hello\n")

    with pytest.raises(UnknownFormatError, match="claude_code, codex, messages"):
        open_session(path)
    with pytest.raises(UnknownFormatError, match="'word'"):
        open_session(path, "word")
    assert detect_reader(path) is None


def test_a_file_that_is_gone_is_a_session_error(tmp_path: Path) -> None:
    """Looking at a file says what the operating system says."""
    with pytest.raises(SessionError, match="No such file"):
        open_session(tmp_path / "none")


def test_damages_are_described() -> None:
    """Every kind of damage has a name, one line and a page."""
    for code, rule in DAMAGES.items():
        assert code == rule.code
        assert all((rule.name, rule.summary.endswith("."), len(rule.page) > 100))


def test_exports() -> None:
    """Everything in `__all__` is there."""
    assert all(hasattr(sessions, name) for name in sessions.__all__)
