"""Session files with bytes and lines that are lost, doubled or swapped: whatever is in them, the commands end well."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from suture.cli.group import cli
from tests.cli.running import EXAMPLES, SESSIONS, suture_json

FILES = sorted([*EXAMPLES.glob("*.jsonl"), *SESSIONS.glob("*.jsonl")])


def damaged(dice: random.Random) -> bytes:
    """A session file to which a few things happened."""
    data = dice.choice(FILES).read_bytes()
    for _ in range(dice.randint(1, 4)):
        at = dice.randrange(len(data) or 1)
        lines = data.split(b"\n")
        other = dice.randrange(len(lines))
        match dice.randrange(7):
            case 0:
                data = data[:at] + data[at + dice.randint(1, 40) :]
            case 1:
                data = data[:at] + bytes(dice.randint(1, 30)) + data[at:]
            case 2:
                data = data[:at] + dice.randbytes(1) + data[at + 1 :]
            case 3:
                data = b"\n".join(lines[:other] + lines[other + 1 :])
            case 4:
                data = b"\n".join([*lines[:other], lines[other], *lines[other:]])
            case 5:
                dice.shuffle(lines)
                data = b"\n".join(lines)
            case _:
                data = data.replace(b"\n", b"", 1)
    return data


def run(*arguments: str | Path) -> Result:
    """Run a command that may find anything, but not fail."""
    done = CliRunner().invoke(cli, [str(argument) for argument in arguments])
    assert done.exit_code in {0, 1, 2}, done.output
    assert "a defect of Suture" not in done.stderr, done.stderr
    return done


@pytest.mark.parametrize("case", FILES, ids=lambda case: case.name)
def test_a_check_of_a_case_agrees_with_its_repair(case: Path, tmp_path: Path) -> None:
    """A check finds something exactly where a repair changes something, and nothing in what the repair has written."""
    path = tmp_path / case.name
    path.write_bytes(case.read_bytes())
    assert run("check", path).exit_code == run("repair", path).exit_code

    assert run("repair", "--write", path).exit_code == 0
    assert run("check", path).exit_code == 0


@pytest.mark.parametrize("seed", range(60))
def test_check_and_repair_end_well_and_agree(seed: int, tmp_path: Path) -> None:
    """A repair has something to do where a check finds something; what it writes is clean, or it says what is not."""
    path = tmp_path / "session.jsonl"
    path.write_bytes(damaged(random.Random(seed)))
    found, planned = run("check", path), run("repair", path)
    assert found.exit_code == planned.exit_code
    if found.exit_code == 2:
        return

    (left,) = [one["left"] for one in suture_json("repair", path, code=found.exit_code)["files"]]
    written = run("repair", "--write", path)
    assert bool(left) == bool(written.exit_code)
    assert len(left) == suture_json("check", path, code=written.exit_code)["summary"]["findings"]
