"""`suture repair`: what would change is shown, what is written is clean, and the way back is open."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from suture.cli import plan
from suture.cli.repair import repair
from suture.sessions import Mended, Session
from tests.cli.running import EXAMPLES, HEALTHY, OPEN, SESSIONS, save, suture, suture_json

FILES = [path for path in sorted([*EXAMPLES.iterdir(), *SESSIONS.iterdir()]) if path.name != "index.json"]
TAIL = OPEN[:2]
"""A history that ends in a call that may be running."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file with one thing to repair."""
    return save(tmp_path / "history.json", OPEN)


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """The example that the README repairs."""
    copy = tmp_path / "session.jsonl"
    copy.write_bytes((EXAMPLES / "broken-claude-code.jsonl").read_bytes())
    return copy


@pytest.mark.parametrize("case", FILES, ids=lambda path: str(path.name))
def test_written_and_checked_and_brought_back(case: Path, tmp_path: Path) -> None:
    """What is written is clean, a second repair finds nothing, and `--undo` brings the same bytes back."""
    path = tmp_path / case.name
    path.write_bytes(case.read_bytes())
    code = suture_json("check", path, code=_code_of(path))["summary"]["findings"] > 0
    suture("repair", path, code=int(code))
    assert case.read_bytes() == path.read_bytes()

    suture("repair", "--write", path)
    suture("check", path)
    repaired = path.read_bytes()
    suture("repair", "--write", path)
    assert repaired == path.read_bytes()
    assert code == (repaired != case.read_bytes())

    if code:
        done = suture("repair", "--undo", path)
        assert f"Brought back: {path}, from {case.name}.suture-backup" in done.stdout
    assert (case.read_bytes(), [path]) == (path.read_bytes(), list(tmp_path.iterdir()))


def _code_of(path: Path) -> int:
    """The exit code that a check of a case has."""
    index = json.loads((SESSIONS / "index.json").read_text(encoding="utf-8"))
    if path.name not in index:
        return 1
    case = index[path.name]
    return int(bool(case["findings"] or [code for code, _ in case["damages"] if code != "SU906"]))


def test_each_repair_says_what_was_wrong_and_what_is_done(session: Path) -> None:
    """A finding, a line about it, then the diff of the lines that change, and how to go on."""
    lines = suture("repair", session, code=1).stdout.splitlines()

    assert f"{session}:16: SU101 the call 'toolu_01JDzYfup6jc6iJkKjiB9e3MqA' of 'Bash' has no result" == lines[0]
    assert "    repair: settled with a synthetic result" == lines[1]
    assert lines[2].startswith(f"{session}:26: SU901 ")
    assert "    salvaged: nothing of it: a torn record is not completed" == lines[3]
    assert ["", f"--- {session}", f"+++ {session} (repaired)", "@@ new, after line 19 @@", "+{"] == lines[4:9]
    assert '+        "tool_use_id": "toolu_01JDzYfup6jc6iJkKjiB9e3MqA",' in lines
    assert "@@ line 26, gone @@" in lines
    assert "2 repairs in 1 file; no result, text or call is lost." in lines
    assert f"    suture repair --write {session}" == lines[-1]


def test_in_a_json_file_messages_are_compared(path: Path) -> None:
    """The file is written in its own notation; what is shown is the messages that change."""
    shown = suture("repair", path, code=1).stdout

    assert "@@ messages[2] @@" in shown
    assert '-  "content": "are you there?"' in shown
    assert '+      "tool_use_id": "toolu_1",' in shown
    assert '"content": "go"' not in shown


def test_writing_says_where_and_where_the_backup_is(path: Path) -> None:
    """The words in which the user named the file are kept."""
    before = path.read_bytes()
    shown = suture("repair", "--write", path).stdout

    assert f"Written: {path}; the backup is {path}.suture-backup" in shown
    assert "Nothing is written" not in shown
    assert before == Path(f"{path}.suture-backup").read_bytes()


def test_a_healthy_file_is_not_written(tmp_path: Path) -> None:
    """No backup, no new file, exit code 0."""
    path = save(tmp_path / "a.json", HEALTHY)

    assert "Nothing to repair in 1 file." in suture("repair", "--write", path).stdout
    assert [path] == list(tmp_path.iterdir())


def test_a_file_that_changed_is_left_alone(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An agent that writes in the meantime must not lose what it wrote."""
    original = plan._write

    def meanwhile(session: Session, mended: list[Mended], content: Path) -> bool:
        done = original(session, mended, content)
        path.write_bytes(path.read_bytes() + b" ")
        return done

    monkeypatch.setattr(plan, "_write", meanwhile)
    done = suture("repair", "--write", path, code=2)

    assert "the file changed since it was read; nothing was written" in done.stderr
    assert path.read_bytes().endswith(b" ")
    assert [path] == list(path.parent.iterdir())


def test_what_a_repair_leaves_is_said_loudly(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Should the new content not be clean, the exit code and a warning say so."""

    def unchanged(session: Session, mended: list[Mended], content: Path) -> bool:
        return content.write_bytes(path.read_bytes()) < 0

    monkeypatch.setattr(plan, "_write", unchanged)
    done = suture("repair", path, code=1)

    assert f"Warning: 1 problem of {path} would still be found after the repair" in done.stdout
    assert ["SU101"] == [one["code"] for one in suture_json("repair", path, code=1)["files"][0]["left"]]


def test_calls_that_may_be_running_are_kept_on_request(tmp_path: Path) -> None:
    """`--open-calls keep` is for a conversation that is not over."""
    path = save(tmp_path / "a.json", TAIL)

    suture("repair", path, code=1)
    assert "Nothing to repair" in suture("repair", "--open-calls", "keep", path).stdout


@pytest.mark.parametrize(
    ("policy", "action", "lost"),
    [("rebuild", "its call was rebuilt", False), ("text", "text", False), ("drop", "dropped", True)],
)
def test_results_without_a_call(policy: str, action: str, lost: bool, tmp_path: Path) -> None:
    """`--orphans` says what becomes of them, and what is lost is said in full."""
    orphan = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_9", "content": "4 C"}]}
    path = save(tmp_path / "a.json", [orphan, {"role": "assistant", "content": "Cold."}, HEALTHY[0]])
    document = suture_json("repair", "--orphans", policy, path, code=1)
    shown = suture("repair", "--orphans", policy, path, code=1).stdout
    (fix,) = (fix for fix in document["files"][0]["repairs"] if fix["code"] == "SU102")

    assert action in fix["action"]
    assert lost == (fix["lost"] is not None)
    assert lost == ("    lost: " in shown) == ("no result, text or call is lost" not in shown)
    suture("repair", "--orphans", policy, "--write", path)


def test_json_is_one_document_with_stable_keys(path: Path) -> None:
    """The keys are those that `--help` names; a repair has those of a finding, too."""
    document = suture_json("repair", "--write", path)
    (fix,) = document["files"][0].pop("repairs")

    assert {
        "files": [
            {
                "file": str(path),
                "changed": True,
                "written": str(path),
                "backup": f"{path}.suture-backup",
                "request": {},
                "left": [],
            }
        ],
        "errors": [],
        "summary": {"files": 1, "repairs": 1, "written": 1, "skipped": 0, "errors": 0},
    } == document
    assert ("SU101", "settled with a synthetic result", None) == (fix["code"], fix["action"], fix["lost"])
    named = (repair.epilog or "").replace(",", " ").replace("(", " ").split()
    assert {*document, *document["files"][0], *document["summary"], "repairs"} <= set(named)


def test_settings_that_the_request_needs_are_named(tmp_path: Path) -> None:
    """Where only a change of the request helps there is nothing to write."""
    path = save(tmp_path / "a.json", [*OPEN[:2], _result("toolu_1")], tools=[])
    before = path.read_bytes()
    shown = suture("repair", "--write", path, code=1).stdout

    assert "send it with tools = ['run']" in shown
    assert {"tools": ["run"]} == suture_json("repair", path, code=1)["files"][0]["request"]
    assert before == path.read_bytes()


def _result(call: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call, "content": "ok"}]}


def test_the_content_can_go_elsewhere(path: Path, tmp_path: Path) -> None:
    """`--output` leaves the file as it is; its target is written also where nothing had to change."""
    before, elsewhere = path.read_bytes(), tmp_path / "new" / "healthy.json"
    elsewhere.parent.mkdir()
    suture("repair", "--output", elsewhere, path)
    suture("check", elsewhere)
    assert before == path.read_bytes()

    again = tmp_path / "again.json"
    suture("repair", "-o", again, elsewhere)
    assert elsewhere.read_bytes() == again.read_bytes()
    assert [elsewhere] == list(elsewhere.parent.iterdir())


def test_as_a_filter(path: Path, tmp_path: Path) -> None:
    """Standard input to standard output; what is said about it goes to standard error."""
    done = suture("repair", "--output", "-", "-", given=path.read_bytes())
    healthy = tmp_path / "healthy.json"
    healthy.write_text(done.stdout, encoding="utf-8")

    suture("check", healthy)
    assert "-: messages[1].content[0]: SU101" in done.stderr


def test_the_filter_passes_on_what_is_healthy() -> None:
    """Byte for byte."""
    content = json.dumps(HEALTHY, indent=7)

    assert content == suture("repair", "-o", "-", "-", given=content.encode()).stdout


def test_an_output_that_cannot_be_written(path: Path, tmp_path: Path) -> None:
    """One sentence, and nothing half-written."""
    done = suture("repair", "--output", tmp_path / "missing" / "a.json", path, code=2)

    assert done.stderr == f"Error: {path}: No such file or directory\n"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--write", "--undo", "a.json"], "exclude each other"),
        (["--write", "--output", "b.json", "a.json"], "exclude each other"),
        (["--output", "b.json", "a.json", "c.json"], "--output takes one PATH"),
        (["--write", "-"], "standard input cannot be written"),
        (["--force", "a.json"], "--force goes with --undo"),
        (["--undo", "-"], "standard input cannot be written"),
        (["--orphans", "sell", "a.json"], "'sell' is not one of"),
    ],
)
def test_options_that_do_not_fit(arguments: list[str], sentence: str) -> None:
    """Said before anything is read."""
    assert sentence in suture("repair", *arguments, code=2).stderr


def test_there_may_be_nothing_to_bring_back(path: Path) -> None:
    """One sentence a file; the others are brought back."""
    other = save(path.with_name("other.json"), OPEN)
    before = other.read_bytes()
    suture("repair", "--write", other)
    document = suture_json("repair", "--undo", path, other, code=2)

    assert [{"file": str(other), "backup": f"{other}.suture-backup"}] == document["files"]
    assert "there is no backup" in document["errors"][0]["message"]
    assert before == other.read_bytes()


def test_an_undo_takes_nothing_back_that_came_later(path: Path) -> None:
    """What an agent wrote after the repair is lost only by force."""
    before = path.read_bytes()
    suture("repair", "--write", path)
    os.utime(path, ns=(2**62, 2**62))
    assert "which can be forced" in suture("repair", "--undo", path, code=2).stderr

    assert "Brought back" in suture("repair", "--undo", "--force", path).stdout
    assert before == path.read_bytes()


def test_one_bad_file_does_not_keep_the_others(path: Path, tmp_path: Path) -> None:
    """All are processed; the worst exit code counts."""
    done = suture("repair", "--write", tmp_path / "missing.json", path, code=2)

    assert f"Written: {path}" in done.stdout
    suture("check", path)


def test_a_branch_shows_what_it_does_not_share(tmp_path: Path) -> None:
    """What branches share is repaired once and shown once."""
    repairs = suture_json("repair", SESSIONS / "claude-two-terminals.jsonl", code=1)["files"][0]["repairs"]

    assert ["SU101"] == [fix["code"] for fix in repairs]
