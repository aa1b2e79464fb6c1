"""What cannot be checked or repaired: one sentence on standard error, exit code 2, and no file is touched."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.running import EXAMPLES, HEALTHY, program, save, suture

CONTENTS = {
    "text": (b"not JSON\n", "this is no session"),
    "number": (b"3", "this is no session"),
    "string": (b'"go"', "this is no session"),
    "object": (b'{"name": "x"}', "this is no session"),
    "array of numbers": (b"[1, 2]", "messages[0]: expected an object, got int"),
    "array of other objects": (b'[{"name": "x"}]', "not recognised"),
    "array that is cut off": (b'[{"role": "user", "content": "g', "this is not JSON"),
    "nested too deeply": (b"[" * 100_000, "nested too deeply"),
    "empty": (b"", "the file is empty"),
    "NUL bytes": (bytes(4096), "this is no session"),
    "binary": (bytes(range(256)) * 20, "this is no session"),
    "compressed": (b"\x28\xb5\x2f\xfd" + bytes(range(128, 256)), "decompress it"),
}


@pytest.mark.parametrize("command", ["check", "repair"])
@pytest.mark.parametrize("name", CONTENTS)
def test_a_file_that_holds_no_session(name: str, command: str, tmp_path: Path) -> None:
    """The sentence names the file and says what is wrong with it."""
    content, problem = CONTENTS[name]
    path = tmp_path / "a.json"
    path.write_bytes(content)
    write = ["--write"] if command == "repair" else []
    done = suture(command, *write, path, code=2)

    assert done.stderr.startswith(f"Error: {path}: ")
    assert problem in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert (content, [path]) == (path.read_bytes(), list(tmp_path.iterdir()))


@pytest.mark.parametrize("name", ["text", "NUL bytes", "binary"])
@pytest.mark.parametrize("format", ["claude_code", "codex", "messages"])
def test_a_repair_never_leaves_nothing_of_a_file(name: str, format: str, tmp_path: Path) -> None:
    """Also where the user insists on a format: what cannot be read at all stays."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(CONTENTS[name][0])
    done = suture("repair", "--write", "--format", format, path, code=2)

    assert "nothing in it can be read" in done.stderr
    assert CONTENTS[name][0] == path.read_bytes()


@pytest.mark.parametrize("command", ["check", "repair"])
def test_a_path_that_cannot_be_opened(command: str, tmp_path: Path) -> None:
    """What the system says is the sentence."""
    loop = tmp_path / "loop.json"
    loop.symlink_to(loop)
    missing = tmp_path / "missing.json"
    done = suture(command, loop, missing, code=2)

    assert [line.partition(": ")[2].partition(": ")[0] for line in done.stderr.splitlines()] == [
        str(loop),
        str(missing),
    ]
    assert f"{missing}: No such file or directory" in done.stderr


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file(tmp_path: Path) -> None:
    """A file without permission, and a directory without, are errors also in a directory; nothing else is left out."""
    save(tmp_path / "a.json", HEALTHY)
    save(tmp_path / "b.json", HEALTHY).chmod(0)
    (tmp_path / "c").mkdir(mode=0)
    done = suture("check", tmp_path, code=2)

    assert "No problems in 1 file." in done.stdout
    assert done.stderr.count("Permission denied") == 2


def test_a_directory_that_cannot_be_entered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is named, and the others are checked."""
    save(tmp_path / "a.json", HEALTHY)
    (tmp_path / "closed").mkdir()
    scandir = os.scandir

    def closed(path: str | int) -> object:
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", closed)
    done = suture("check", tmp_path, code=2)

    assert done.stderr == f"Error: {tmp_path / 'closed'}: Permission denied\n"
    assert done.stdout == "No problems in 1 file.\n"


@pytest.mark.parametrize("command", ["check", "repair"])
def test_a_directory_without_session_files(command: str, tmp_path: Path) -> None:
    """A mistyped directory must not pass for a clean one."""
    (tmp_path / "a.json").write_text("{}")
    done = suture(command, tmp_path, code=2)

    assert done.stderr == f"Error: {tmp_path}: there are no session files here\n"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--format", "cobol"], "unknown format 'cobol'; expected one of claude_code, codex, messages, openai_chat"),
        (["--format", "openai_chat"], "this is no openai_chat: it looks like claude_code"),
        (["--format", "codex"], "this is no codex: it looks like claude_code"),
        (["--request", "{"], "not JSON"),
        (["--request", "[]"], "expected a JSON object, got []"),
        (["--color", "blue"], "'blue' is not one of"),
        (["--frobnicate"], "No such option"),
    ],
)
@pytest.mark.parametrize("command", ["check", "repair"])
def test_a_wrong_option(command: str, arguments: list[str], sentence: str) -> None:
    """Nothing is done, and the sentence says what was expected."""
    assert sentence in suture(command, *arguments, EXAMPLES / "broken-claude-code.jsonl", code=2).stderr


def test_no_path_at_all() -> None:
    """The usage is shown."""
    assert "Missing argument 'PATH…'" in suture("check", code=2).stderr


def test_a_real_run_shows_no_traceback(tmp_path: Path) -> None:
    """As a user sees it."""
    done = program("check", tmp_path / "missing.json", tmp_path)

    assert done.returncode == 2
    assert b"Traceback" not in done.stderr
    assert done.stdout == b""
