"""The program as a shell runs it: quick to start, silent about pipes that close, and gone on Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import suture as library
from tests.cli.running import EXAMPLES, OPEN, program, suture

BROKEN = EXAMPLES / "broken-claude-code.jsonl"
POSIX = pytest.mark.skipif(os.name != "posix", reason="signals and pipes of POSIX")


def test_version_and_help() -> None:
    """The version is the package's; every command has a line in the help, and examples in its own."""
    assert suture("--version").stdout == f"suture {library.__version__}\n"
    for command in ("check", "repair", "rules"):
        assert f"  {command} " in suture("--help").stdout
        assert "Examples:" in suture(command, "--help").stdout
    assert suture("-h").stdout == suture("--help").stdout


def test_no_arguments_show_the_help() -> None:
    """As of a mistake."""
    assert "Commands:" in suture(code=2).output


@pytest.mark.parametrize("arguments", [[], ["check"], ["repair"], ["rules"]])
def test_help_loads_nothing_but_click(arguments: list[str]) -> None:
    """What a command needs is loaded when it runs."""
    text = (
        "import sys\n"
        "from suture.cli import main\n"
        f"sys.argv = ['suture', *{arguments!r}, '--help']\n"
        "try:\n    main()\n"
        "except SystemExit:\n    print({'msgspec', 'rich', 'suture.pipeline'} & set(sys.modules))\n"
    )
    done = subprocess.run([sys.executable, "-I", "-c", text], check=True, capture_output=True, text=True)

    assert done.stdout.splitlines()[-1] == "set()"


def test_without_click_a_sentence_says_what_to_install() -> None:
    """The library is installed without what only the command needs."""
    text = "import sys\nsys.modules['click'] = None\nfrom suture.cli import main\nmain()"
    done = subprocess.run([sys.executable, "-I", "-c", text], check=False, capture_output=True, text=True)

    assert (2, "") == (done.returncode, done.stdout)
    assert done.stderr.startswith("Error: the command needs click and rich")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.jsonl")), ids=lambda path: str(path.name))
def test_a_broken_example_is_shown_and_left_alone(path: Path) -> None:
    """The command that the README begins with."""
    before = path.read_bytes()
    done = program("repair", path)

    assert (1, b"") == (done.returncode, done.stderr)
    assert before == path.read_bytes()


def test_a_pipe_into_the_program(tmp_path: Path) -> None:
    """Bytes in, bytes out."""
    content = BROKEN.read_bytes()
    done = program("repair", "--output", "-", "-", input=content)

    assert (0, content.splitlines()[:19]) == (done.returncode, done.stdout.splitlines()[:19])
    assert 0 == program("check", "-", input=done.stdout).returncode


@POSIX
@pytest.mark.parametrize("arguments", [["check"], ["check", "--json"], ["repair"]])
def test_a_closed_pipe_is_silent(arguments: list[str], tmp_path: Path) -> None:
    """As for `suture … | head -1`; where Python notices it too late, the exit code is the one of the findings."""
    path = tmp_path / "long.jsonl"
    path.write_text("".join(json.dumps(message) + "\n" for message in OPEN * 2000))
    script = Path(sys.executable).with_name("suture")
    with subprocess.Popen([script, *arguments, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.read(10)
        running.stdout.close()
        assert b"" == running.stderr.read()
    assert running.returncode in {141, 1}


@POSIX
def test_ctrl_c_ends_it_without_a_word() -> None:
    """With the exit code that shells give it."""
    # A shell that runs the tests in the background has its children ignore the signal.
    program = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from suture.cli import main; raise SystemExit(main())"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, "check", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as running:
        assert running.stdin is not None
        # More than a pipe holds: once it is written, the program is reading.
        running.stdin.write(b"[" * 200_000)
        running.stdin.flush()
        running.send_signal(signal.SIGINT)
        assert (b"", b"") == running.communicate(timeout=60)
    assert 130 == running.returncode


@POSIX
def test_names_that_are_no_text(tmp_path: Path) -> None:
    """A file name is bytes; what cannot be printed is escaped."""
    path = tmp_path / os.fsdecode(b"a\xff\x1b.json")
    path.write_text(json.dumps(OPEN), encoding="utf-8")
    done = program("check", path)

    assert 1 == done.returncode
    assert b"a\\xff\\x1b.json: messages[1].content[0]: SU101" in done.stdout
    assert 1 == program("check", "--json", path).returncode


def test_a_terminal_without_unicode(tmp_path: Path) -> None:
    """What it cannot show is escaped."""
    path = tmp_path / "é.json"
    path.write_text(json.dumps(OPEN), encoding="utf-8")
    done = program("repair", path, environment={"PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"})

    assert 1 == done.returncode
    assert b"SU101" in done.stdout
