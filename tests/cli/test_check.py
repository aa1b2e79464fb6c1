"""`suture check`: what is printed, in which form, and with which exit code."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from suture.cli.check import check
from suture.sessions import READERS
from suture.wire import ADAPTERS, PROFILES
from tests.cli.running import EXAMPLES, HEALTHY, OPEN, SESSIONS, save, suture, suture_json

INDEX: dict[str, dict[str, Any]] = json.loads((SESSIONS / "index.json").read_text(encoding="utf-8"))
NOTES = {"SU906"}
"""Damage that no repair mends."""


@pytest.mark.parametrize("name", INDEX)
def test_a_session_file_has_the_findings_that_its_case_names(name: str) -> None:
    """Findings and damage are in one list, each with its line and thread."""
    expected = INDEX[name]
    clean = not [code for code, _ in expected["damages"] if code not in NOTES] and not expected["findings"]
    found = suture_json("check", SESSIONS / name, code=0 if clean else 1)["findings"]

    damages = [(one["code"], one["line"]) for one in found if one["offset"] is not None]
    findings = [(one["thread"], one["line"], one["code"]) for one in found if one["offset"] is None]
    assert Counter(map(tuple, expected["damages"])) == Counter(damages)
    assert Counter(map(tuple, expected["findings"])) == Counter(findings)
    assert [one["note"] for one in found] == [one["code"] in NOTES for one in found]


def test_a_finding_is_one_line_with_path_line_and_code() -> None:
    """The form is that of a linter; the byte of damage, and the thread that is not the main one, stand behind it."""
    lines = suture("check", EXAMPLES / "broken-claude-code.jsonl", SESSIONS / "claude-sidechain.jsonl", code=1).stdout
    example, sidechain = EXAMPLES / "broken-claude-code.jsonl", SESSIONS / "claude-sidechain.jsonl"
    first, second, third, fourth, *summary = lines.splitlines()

    assert first == f"{example}:16: SU101 the call 'toolu_01JDzYfup6jc6iJkKjiB9e3MqA' of 'Bash' has no result"
    assert second.startswith(f"{example}:26: SU901 a record that was cut off: ")
    assert second.endswith("(byte 15937)")
    assert third == f"{sidechain}:4: SU101 the call 'toolu_01A' of 'Bash' has no result"
    assert fourth == f"{sidechain}:8: SU101 the call 'toolu_01T' of 'Bash' has no result (sidechain x1)"
    assert summary[0] == "Found 4 problems in 2 of 2 files."


def test_in_a_json_file_a_finding_has_the_place_in_the_json(tmp_path: Path) -> None:
    """Lines of a JSON file mean nothing; an array, and the body of a request, are the same."""
    array = save(tmp_path / "array.json", OPEN)
    body = save(tmp_path / "body.json", OPEN, model="m")
    items = tmp_path / "items.json"
    items.write_text('{"input": [{"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}]}')

    for path in (array, body):
        assert f"{path}: messages[1].content[0]: SU101 " in suture("check", path, code=1).stdout
    assert f"{items}: input[0]: SU101 " in suture("check", items, code=1).stdout


def test_json_is_one_document_with_stable_keys(tmp_path: Path) -> None:
    """The keys are those that `--help` names."""
    path, missing = save(tmp_path / "a.json", OPEN), tmp_path / "missing.json"
    document = suture_json("check", path, missing, code=2)

    assert document == {
        "findings": [
            {
                "file": str(path),
                "code": "SU101",
                "rule": "unanswered-call",
                "line": None,
                "path": "messages[1].content[0]",
                "offset": None,
                "thread": "main",
                "call_id": "toolu_1",
                "message": "the call 'toolu_1' of 'run' has no result",
                "salvaged": None,
                "confidence": "documented",
                "contract": "ANT-01",
                "note": False,
            }
        ],
        "errors": [{"file": str(missing), "message": f"{missing}: No such file or directory"}],
        "summary": {"files": 1, "findings": 1, "skipped": 0, "errors": 1},
    }
    assert set(document["findings"][0]) <= set((check.epilog or "").replace(",", " ").split())


def test_a_healthy_file_is_clean(tmp_path: Path) -> None:
    """Exit code 0, and a line that says so; `--quiet` says nothing."""
    path = save(tmp_path / "a.json", HEALTHY)

    assert suture("check", path).stdout == "No problems in 1 file.\n"
    assert suture("check", "--quiet", path).stdout == ""


def test_quiet_prints_findings_alone(tmp_path: Path) -> None:
    """No summary."""
    lines = suture("check", "--quiet", save(tmp_path / "a.json", OPEN), code=1).stdout.splitlines()

    assert len(lines) == 1


def test_the_worst_of_several_paths_counts(tmp_path: Path) -> None:
    """All are checked, whatever happens to one."""
    healthy, broken = save(tmp_path / "a.json", HEALTHY), save(tmp_path / "b.json", OPEN)

    suture("check", healthy, healthy)
    suture("check", healthy, broken, code=1)
    done = suture("check", tmp_path / "missing.json", broken, healthy, code=2)
    assert "SU101" in done.stdout
    assert done.stderr == f"Error: {tmp_path / 'missing.json'}: No such file or directory\n"


def test_a_directory_is_its_session_files(tmp_path: Path) -> None:
    """Files in it that are no sessions are counted and skipped; those of a package manager are not even looked at."""
    save(tmp_path / "a.json", OPEN)
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "er" / "b.jsonl").write_text("".join(json.dumps(message) + "\n" for message in HEALTHY))
    (tmp_path / "c.json").write_text('{"name": "no session"}')
    (tmp_path / "d.json").write_text('[{"name": "no message"}]')
    (tmp_path / "e.txt").write_text("not looked at")
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules" / "f.json").write_text("[]")
    done = suture("check", tmp_path, code=1)

    assert done.stdout.splitlines()[1] == "Found 1 problem in 1 of 2 files."
    assert done.stdout.splitlines()[-1] == "Skipped 2 files without a session."
    assert suture_json("check", tmp_path, code=1)["summary"] == {"files": 2, "findings": 1, "skipped": 2, "errors": 0}


def test_a_directory_with_one_format_named(tmp_path: Path) -> None:
    """Files of other formats are skipped."""
    save(tmp_path / "a.json", OPEN)
    for path in EXAMPLES.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    summary = suture_json("check", "--format", "codex", tmp_path, code=1)["summary"]

    assert summary == {"files": 1, "findings": 1, "skipped": 2, "errors": 0}


@pytest.mark.parametrize("name", ["broken-claude-code.jsonl", "broken-codex.jsonl"])
def test_standard_input(name: str) -> None:
    """`-` is what comes through a pipe; it finds what the file has."""
    path = EXAMPLES / name
    piped = suture("check", "-", given=path.read_bytes(), code=1).stdout

    assert piped == suture("check", path, code=1).stdout.replace(str(path), "-")


def test_a_format_of_messages_can_be_named(tmp_path: Path) -> None:
    """A host's rules hold only where the host is named."""
    path = save(tmp_path / "a.json", [{"role": "developer", "content": "Be brief."}, {"role": "user", "content": "go"}])

    suture("check", path)
    assert "SU506" in suture("check", "--format", "qwen", path, code=1).stdout


def test_settings_of_the_request(tmp_path: Path) -> None:
    """What is given as `--request` decides which rules hold, over what the file says."""
    path = save(tmp_path / "a.json", HEALTHY)

    suture("check", "--format", "anthropic", path)
    assert "SU502" in suture("check", "-f", "anthropic", "-r", '{"prefill": false}', path, code=1).stdout


def test_the_end_of_a_session_is_judged_only_on_request(tmp_path: Path) -> None:
    """The user's next message follows a stored session, unless the user says otherwise."""
    line = {"sessionId": "s", "uuid": "u1", "parentUuid": None, "isSidechain": False}
    answer = line | {"uuid": "a1", "parentUuid": "u1", "type": "assistant", "message": HEALTHY[1]}
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(line | {"type": "user", "message": HEALTHY[0]}) + "\n" + json.dumps(answer) + "\n")

    suture("check", "--request", '{"prefill": false}', path)
    assert "SU502" in suture("check", "-r", '{"prefill": false, "next_role": "assistant"}', path, code=1).stdout


def test_the_help_names_every_format() -> None:
    """The text is typed, as importing the formats for it would be slow."""
    text = " ".join(suture("check", "--help").stdout.split())

    assert [] == [name for name in (*READERS, *ADAPTERS, *PROFILES) if name not in text]
