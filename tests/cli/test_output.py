"""What commands print: colour where it is wanted, and nothing that steers a terminal."""

from __future__ import annotations

import errno
import json

import click
import pytest

from suture.cli.output import Printer, counted, finding_line, json_text, paint, sentence
from suture.cli.problems import Problem
from suture.errors import ChangedFileError, InputError, UnknownFormatError
from tests.cli.running import EXAMPLES, suture

BROKEN = EXAMPLES / "broken-claude-code.jsonl"


@pytest.mark.parametrize(
    ("option", "environment", "terminal", "colour"),
    [
        ("auto", {}, True, True),
        ("auto", {}, False, False),
        ("auto", {"NO_COLOR": "1"}, True, False),
        ("auto", {"NO_COLOR": ""}, True, True),
        ("auto", {"TERM": "dumb"}, True, False),
        ("always", {"NO_COLOR": "1"}, False, True),
        ("never", {}, True, False),
    ],
)
def test_colour_is_for_terminals(
    option: str, environment: dict[str, str], terminal: bool, colour: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless somebody says otherwise."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.stdout.isatty", lambda: terminal)

    assert colour == Printer(option).color


@pytest.mark.parametrize("command", ["check", "repair", "rules"])
def test_every_command_has_the_option(command: str) -> None:
    """Colour changes nothing but the colour."""
    path = [] if command == "rules" else [BROKEN]
    code = 0 if command == "rules" else 1
    plain = suture(command, *path, code=code).stdout
    coloured = suture(command, "--color", "always", *path, code=code).stdout

    assert "\x1b[" not in plain
    assert "\x1b[" in coloured
    assert sum(map(len, plain.splitlines())) < len(coloured)


def test_what_files_hold_cannot_steer_a_terminal() -> None:
    """Control characters, marks that turn text around, and bytes that are no text stand as escapes."""
    assert "a\\x1b[2Jb\\x9b\\u202e\\xe9\tc" == paint("a\x1b[2Jb\x9b\u202e\udce9\tc")
    assert "\x1b[31m\\x1b\x1b[0m" == paint("\x1b", "red")
    assert '"\\ud83d \\u001b é"' == json_text("\ud83d \x1b é")


def test_a_finding_says_which_call() -> None:
    """Unless its message does already."""
    problem = Problem(
        code="SU1", rule="r", line=None, path="messages[0]", thread="branch 2", call_id="c", message="it is"
    )

    assert "f: messages[0]: SU1 it is (c, branch 2)" == click.unstyle(finding_line("f", problem))


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ChangedFileError("/long/path"), "p: the file changed since it was read"),
        (InputError("messages[0]", "an object", 3), "p: messages[0]: expected an object, got int"),
        (UnknownFormatError(None, ("a",), "name it with `format`"), "name it with --format"),
        (PermissionError(errno.EACCES, "Permission denied", "x"), "p: Permission denied"),
        (OSError("odd"), "p: odd"),
        (RecursionError(), "p: its JSON is nested too deeply"),
        (MemoryError(), "p: there is not enough memory"),
        (KeyError("x"), "p: a defect of Suture, please report it (KeyError: 'x')"),
    ],
)
def test_every_error_is_a_sentence(error: Exception, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the path as the user wrote it."""
    monkeypatch.delenv("SUTURE_TRACEBACK", raising=False)

    assert text in sentence(error, "p")
    assert "\n" not in sentence(error, "p")


def test_a_defect_shows_its_traceback_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    """For a report."""
    monkeypatch.setenv("SUTURE_TRACEBACK", "1")
    with pytest.raises(KeyError):
        sentence(KeyError("x"))


def test_json_takes_any_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    """ASCII, also for what has no encoding."""
    Printer("never").json({"é": "\ud83d"})
    text = capsys.readouterr().out

    assert text.isascii()
    assert {"é": "\ud83d"} == json.loads(text)


def test_numbers() -> None:
    """As people read them."""
    assert ["1 file", "0 files", "12,345 files"] == [counted(number, "file") for number in (1, 0, 12345)]
