"""`suture.sessions.claude_stream`: a look through small windows finds what a look at the whole finds."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suture.errors import SessionError
from suture.pipeline import check, repair
from suture.repair.report import Finding
from suture.sessions import claude_code, claude_stream
from suture.sessions.base import place_of
from suture.sessions.claude_stream import check_stream
from suture.sessions.damage import Damage
from tests.sessions.claude_lines import Transcript
from tests.sessions.strategies import transcripts

Found = tuple[str, int | None, str, str | None]


def streamed(path: Path, window: int) -> list[Found]:
    """What the stream finds: thread or damage, line, code, call."""
    return [
        ("", found.line, found.code, None)
        if isinstance(found, Damage)
        else (found.thread, found.line, found.finding.code, found.finding.call_id)
        for found in check_stream(path, check, window=window)
    ]


def whole(path: Path) -> list[Found]:
    """What a look at the whole threads finds; what branches share counts once."""
    session = claude_code.read(path)
    found: list[Found] = [("", damage.line, damage.code, None) for damage in session.damages]
    known: set[tuple[Any, ...]] = set()
    for thread in claude_code.history(session):
        for finding in check(thread.messages, thread.format):
            line = thread.line_of(finding.path)
            key = (line, finding.code, finding.call_id, finding.message)
            if place_of(finding.path)[0] >= thread.own_from or key not in known:
                found.append((thread.name, line, finding.code, finding.call_id))
            known.add(key)
    return found


def compared(found: list[Found]) -> list[str]:
    """Findings in an order of their own."""
    return sorted(map(str, found))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a test's file is."""
    return tmp_path / "session.jsonl"


def long(steps: int) -> Transcript:
    """A long healthy conversation."""
    made = Transcript().user("u", "go", None)
    for step in range(steps):
        made.call(f"a{step}", f"m{step}", f"A{step}").call(f"b{step}", f"m{step}", f"B{step}")
        made.result(f"ra{step}", f"A{step}", f"a{step}").result(f"rb{step}", f"B{step}", f"b{step}")
        if step % 3 == 0:
            made.says(f"t{step}", f"n{step}", "fine").user(f"u{step}", "on")
    return made


def test_a_healthy_file_has_no_findings(path: Path) -> None:
    """However small the windows, their edges are no faults."""
    long(12).save(path)

    assert [[], [], []] == [streamed(path, window) for window in (1, 700, 10**6)]


def test_windows_are_small(path: Path) -> None:
    """No window holds more than a step where there is a place to cut."""
    sizes: list[int] = []

    def counting(messages: Any, wire: str) -> list[Any]:
        sizes.append(len(messages))
        return check(messages, wire)

    long(30).save(path)
    assert [] == list(check_stream(path, counting, window=1))
    assert (True, True) == (len(sizes) > 30, max(sizes) <= 4)


def test_a_call_and_its_late_result_are_seen_together(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows are not cut between them, unless they are too far apart."""
    made = Transcript().user("u", "go", None).call("x", "mx", "X")
    for number in range(20):
        made.user(f"v{number}", "hm").says(f"t{number}", f"n{number}", "fine")
    made.result("rx", "X").result("ry", "X").save(path)

    monkeypatch.setattr(claude_stream, "_MOST", 10**6)
    assert compared(whole(path)) == compared(streamed(path, 1))
    monkeypatch.setattr(claude_stream, "_MOST", 1)
    assert {("main", 2, "SU101", "X"), ("main", 43, "SU102", "X")} <= set(streamed(path, 1))


def test_an_id_that_is_used_again_is_found(path: Path) -> None:
    """Also where the first use was windows ago."""
    made = long(9).call("x", "mx", "A0").result("rx", "A0").save(path)

    assert [("main", 44, "SU202", "A0")] == streamed(made, 1) == whole(made)


def test_shared_lines_are_reported_once(path: Path) -> None:
    """What a branch shares is the main thread's to report."""
    made = Transcript().user("u", "go", None).call("a", "m1", "A").user("v", "hm").call("b", "m2", "B")
    made.user("w", "one").user("x", "two", "v").save(path)

    assert [("", 4, "SU906", None), ("main", 2, "SU101", "A"), ("branch 2", 4, "SU101", "B")] == streamed(path, 1)


def test_a_call_that_only_the_main_branch_answers_is_found(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other branch has the call too, and no result of it, however far above the fork the call is."""
    made = Transcript().user("u", "go", None).call("a", "m1", "A").user("v", "hm").result("r", "A", "a")
    made.user("w", "on").save(path)
    assert [("", 3, "SU906", None), ("branch 2", 2, "SU101", "A")] == streamed(path, 1) == whole(path)

    monkeypatch.setattr(claude_stream, "_MOST", 10**6)
    apart = Transcript().user("u", "go", None).call("a", "m1", "A").user("v", "hm").says("t", "m2", "fine")
    apart.user("w", "one").says("x", "m3", "fine").user("y", "two", "w").result("r", "A").save(path)
    assert ("branch 2", 2, "SU101", "A") in streamed(path, 1)
    assert compared(whole(path)) == compared(streamed(path, 1))


def test_an_id_of_the_shared_part_is_found_again_in_a_branch(path: Path) -> None:
    """A branch begins far above its own lines where it uses an id once more."""
    made = long(9).call("x", "mx", "A0", "u6").result("rx", "A0").user("v", "on", "u6").save(path)

    assert ("branch 2", 44, "SU202", "A0") in streamed(made, 1)
    assert compared(whole(path)) == compared(streamed(path, 1))


def test_what_a_compaction_kept_is_judged_in_each_branch(path: Path) -> None:
    """Behind the summary that ends one branch, a call stands without the result that it has in the other."""
    made = Transcript().user("u", "go", None).call("a", "m1", "A")
    kept = {"preservedMessages": {"anchorUuid": made.uuid("s"), "uuids": [made.uuid("a")]}}
    cut = {"type": "system", "subtype": "compact_boundary", "logicalParentUuid": made.uuid("a")}
    made.add("b", None, **cut, compactMetadata=kept)
    made.user("s", "summary", isCompactSummary=True).result("r", "L", "a").save(path)

    assert ("branch 2", 2, "SU101", "A") in streamed(path, 1)
    assert compared(whole(path)) == compared(streamed(path, 1))


def test_findings_outside_of_messages_are_dropped(path: Path) -> None:
    """A finding about what stands around a window is not the file's."""
    long(3).save(path)
    other = Finding(code="SU999", rule="x", path="messages", message="x", confidence="seen")

    assert [] == list(check_stream(path, lambda *_: [other], window=1))


def test_damage_comes_first(path: Path) -> None:
    """Damage is told in the order of the lines, before any finding."""
    made = Transcript().user("u", "go", None).call("a", "m1", "A").user("v", "lost", "nowhere")
    path.write_bytes(made.data + b"\0\n" + made.data[:30])

    assert [("", 3, "SU905"), ("", 4, "SU902"), ("", 5, "SU901"), ("main", 2, "SU101")] == [
        found[:3] for found in streamed(path, 1)
    ]


def test_a_file_that_is_gone_is_a_session_error(path: Path) -> None:
    """Reading says what the operating system says."""
    with pytest.raises(SessionError, match="No such file"):
        list(check_stream(path, check))


@settings(max_examples=min(settings().max_examples, 2000))  # each writes to a disk
@given(transcripts(max_steps=12, beside=True), st.sampled_from([1, 1000, 3000]))
def test_windows_find_what_the_whole_shows(made: Transcript, window: int) -> None:
    """Whatever the file and wherever the cuts, the findings and their lines are the same."""
    with tempfile.TemporaryDirectory() as directory, pytest.MonkeyPatch.context() as patch:
        patch.setattr(claude_stream, "_MOST", 10**6)
        path = made.save(Path(directory) / "session.jsonl")

        assert compared(whole(path)) == compared(streamed(path, window))


@settings(max_examples=min(settings().max_examples, 2000))  # each writes to a disk
@given(transcripts(max_steps=12, beside=True), st.sampled_from([1, 1000, 3000]))
def test_a_check_finds_what_a_repair_changes(made: Transcript, window: int) -> None:
    """Whatever branches there are, a check says something about a file exactly where a repair does something."""
    with tempfile.TemporaryDirectory() as directory, pytest.MonkeyPatch.context() as patch:
        patch.setattr(claude_stream, "_MOST", 10**6)
        path = made.save(Path(directory) / "session.jsonl")
        repaired = {
            (thread.line_of(done.finding.path), done.finding.code, done.finding.call_id)
            for thread in claude_code.history(claude_code.read(path))
            for done in repair(thread.messages, thread.format).repairs
        }
        found = {one[1:] for one in streamed(path, window) if one[0]}

        assert bool(repaired) == bool(found)
        assert {line for line, _, _ in found} <= {line for line, _, _ in repaired}
