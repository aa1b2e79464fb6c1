"""`suture.sessions.claude_code`: what the model sees of a file, whatever shape the file has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from suture.errors import SessionError
from suture.sessions import claude_code, claude_index
from suture.sessions.base import Sample, Session, Thread
from tests.sessions.claude_lines import Transcript
from tests.sessions.mending import summary


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a test's file is."""
    return tmp_path / "session.jsonl"


def read(made: Transcript, path: Path) -> tuple[Session, dict[str, Thread]]:
    """The session of a file, and its threads by name."""
    session = claude_code.read(made.save(path))
    return session, {thread.name: thread for thread in claude_code.history(session)}


def codes(session: Session) -> list[tuple[str, int]]:
    """The damage of a session and its lines."""
    return [(damage.code, damage.line) for damage in session.damages]


def test_parallel_calls_are_one_message(path: Path) -> None:
    """Results that hang off their calls are no branches; they follow the message that made the calls, in its order."""
    made = Transcript().user("u", "go", None).says("t", "m1", "both").call("a", "m1", "A").call("b", "m1", "B")
    made.result("rb", "B", "b").result("ra", "A", "a").says("n", "m2", "fine", "rb")
    session, threads = read(made, path)

    assert ["user: go", "assistant: both call A call B", "user: result A result B", "assistant: fine"] == summary(
        threads["main"]
    )
    assert [(1,), (2, 3, 4), (6, 5), (7,)] == threads["main"].lines
    assert ([], ["main"]) == (codes(session), list(threads))


def test_a_lone_result_at_the_end_does_not_hide_the_others(path: Path) -> None:
    """The last line of a file may be a result that hangs off the first of several calls."""
    made = Transcript().user("u", "go", None).call("a", "m1", "A").call("b", "m1", "B").call("c", "m1", "C")
    made.result("rc", "C", "c").result("rb", "B", "b").result("ra", "A", "a")
    session, threads = read(made, path)

    assert ["user: go", "assistant: call A call B call C", "user: result A result B result C"] == summary(
        threads["main"]
    )
    assert ([], ["main"]) == (codes(session), list(threads))


def test_a_late_lone_result_belongs_to_the_live_branch(path: Path) -> None:
    """A result that was written after the conversation had gone on does not take the conversation's place."""
    made = Transcript().user("u", "go", None).call("a", "m1", "A").call("b", "m1", "B").result("rb", "B", "b")
    made.says("n", "m2", "fine").result("ra", "A", "a")
    _, threads = read(made, path)

    assert ["main"] == list(threads)
    assert "assistant: fine" == summary(threads["main"])[-1]


def test_results_between_the_parts_of_a_message_follow_it(path: Path) -> None:
    """Streamed tools write their results before the message's last line; a text between waits until after them."""
    made = (
        Transcript().user("u", "go", None).call("a", "m1", "A").result("ra", "A").user("w", "wait").call("b", "m1", "B")
    )
    made.result("rb", "B").says("n", "m2", "fine")
    _, threads = read(made, path)

    assert [
        "user: go",
        "assistant: call A call B",
        "user: result A result B",
        "user: wait",
        "assistant: fine",
    ] == summary(threads["main"])


def test_a_late_result_stays_where_it_is(path: Path) -> None:
    """A result behind a user's text is a fault, and is not tidied away by the reading."""
    made = Transcript().user("u", "go", None).call("a", "m1", "A").call("b", "m1", "B").result("ra", "A")
    made.user("w", "hm").result("rb", "B")
    _, threads = read(made, path)

    assert ["user: go", "assistant: call A call B", "user: result A", "user: hm", "user: result B"] == summary(
        threads["main"]
    )


def test_hooks_between_lines_are_no_branches(path: Path) -> None:
    """Progress lines take part in the chain; an answer that follows one of them still has its result."""
    made = Transcript().user("u", "go", None).call("a", "m1", "A").add("p", type="progress", data={})
    made.result("ra", "A", "a").says("n", "m2", "fine", "p")
    session, threads = read(made, path)

    assert ["user: go", "assistant: call A", "user: result A", "assistant: fine"] == summary(threads["main"])
    assert ([], ["main"]) == (codes(session), list(threads))


def test_calls_without_a_message_id_have_their_results(path: Path) -> None:
    """Old lines that name no API message are messages of their own."""
    made = Transcript().user("u", "go", None).call("a", "m1", "A").result("ra", "A", "a").user("n", "on", "a")
    del made.rows[1]["message"]["id"]
    _, threads = read(made, path)

    assert ["user: go", "assistant: call A", "user: result A", "user: on"] == summary(threads["main"])


def test_branches_are_threads_of_their_own(path: Path) -> None:
    """The branch that was written last is live; the other one shares the beginning, object by object."""
    made = Transcript().user("u", "go", None).call("a", "m1", "A").result("ra", "A").says("n", "m2", "one")
    made.user("v", "again", "ra").says("w", "m3", "two")
    session, threads = read(made, path)
    main, branch = threads["main"], threads["branch 2"]

    assert ["user: again", "assistant: two"] == summary(main)[3:]
    assert ["assistant: one"] == summary(branch)[3:]
    assert (0, 3) == (main.own_from, branch.own_from)
    assert all(one is other for one, other in zip(main.messages[:3], branch.messages[:3], strict=True))
    assert [("SU906", 4)] == codes(session)
    assert "from line 3 on, which ends at line 4" in session.damages[0].found


def test_two_terminals_do_not_share_results(path: Path) -> None:
    """A call is never paired with the result of another branch, also where both branches have the call."""
    made = Transcript().user("u", "go", None).call("a", "m1", "A").result("ra", "A").says("n", "m2", "fine")
    made.user("v", "are you there?", "a")
    _, threads = read(made, path)

    assert ["user: go", "assistant: call A", "user: are you there?"] == summary(threads["main"])
    assert ["user: go", "assistant: call A", "user: result A", "assistant: fine"] == summary(threads["branch 2"])


def test_a_second_result_of_a_call_is_a_branch(path: Path) -> None:
    """Two results that both hang off a call: the one on the path counts, the other is reported as a branch."""
    made = Transcript().user("u", "go", None).call("a", "m1", "A").result("r1", "A").result("r2", "A", "a")
    made.says("n", "m2", "fine", "r2")
    session, threads = read(made, path)

    assert ["user: go", "assistant: call A", "user: result A", "assistant: fine"] == summary(threads["main"])
    assert (["main", "branch 2"], [("SU906", 3)]) == (list(threads), codes(session))


def test_sidechains_are_threads_of_their_own(path: Path) -> None:
    """Agents have names or are told apart by where they begin."""
    named: dict[str, Any] = {"isSidechain": True, "agentId": "x1"}
    made = Transcript().user("u", "go", None).call("a", "m1", "A")
    made.user("s", "look", None, **named).says("t", "m2", "found", **named).user("s2", "more", "s", **named)
    made.user("o", "old", None, isSidechain=True).says("p", "m3", "seen", isSidechain=True)
    made.user("q", "older", None, isSidechain=True)
    made.result("ra", "A", "a")
    session, threads = read(made, path)

    assert ["user: go", "assistant: call A", "user: result A"] == summary(threads["main"])
    assert ["user: look", "user: more"] == summary(threads["sidechain x1"])
    assert ["user: look", "assistant: found"] == summary(threads["sidechain x1 branch 2"])
    assert {"main", "sidechain x1", "sidechain x1 branch 2", "sidechain 1", "sidechain 2"} == set(threads)
    assert [("SU906", 4)] == codes(session)


def test_a_compaction_begins_anew(path: Path) -> None:
    """The model sees nothing before the summary, and what was compacted is no branch."""
    made = Transcript().user("u", "go", None).says("a", "m1", "done")
    made.add("c", None, type="system", subtype="compact_boundary", logicalParentUuid=Transcript().uuid("a"))
    made.user("s", "summary", isCompactSummary=True).says("n", "m2", "on")
    session, threads = read(made, path)

    assert ["user: summary", "assistant: on"] == summary(threads["main"])
    assert (["main"], []) == (list(threads), codes(session))


@pytest.mark.parametrize("parent", ["elsewhere", None])
def test_a_compaction_may_name_a_line_that_is_gone(path: Path, parent: str | None) -> None:
    """Old files link a compaction to nothing at all; that is no damage and no branch."""
    made = Transcript().user("u", "go", None).says("a", "m1", "done")
    made.add("c", None, type="system", subtype="compact_boundary", logicalParentUuid=parent)
    made.user("s", "summary", isCompactSummary=True)
    session, threads = read(made, path)

    assert (["user: summary"], ["main"], []) == (summary(threads["main"]), list(threads), codes(session))


def test_a_branch_from_before_a_compaction_is_reported(path: Path) -> None:
    """A rewind that was abandoned before a compaction is still a branch of the file."""
    made = Transcript().user("u", "go", None).says("a", "m1", "one").says("b", "m2", "two", "u")
    made.add("c", None, type="system", subtype="compact_boundary", logicalParentUuid=Transcript().uuid("b"))
    made.user("s", "summary", isCompactSummary=True)
    session, threads = read(made, path)

    assert ["user: go", "assistant: one"] == summary(threads["branch 2"])
    assert [("SU906", 2)] == codes(session)


def test_parallel_calls_before_a_compaction_are_no_branches(path: Path) -> None:
    """Results that hang off their calls belong to what was compacted, however often it was."""
    made = Transcript()
    for turn in ("1", "2"):
        made.user("u" + turn, "go", None if turn == "1" else "")
        made.call("a" + turn, "m" + turn, "A" + turn).call("b" + turn, "m" + turn, "B" + turn)
        made.result("ra" + turn, "A" + turn, "a" + turn).result("rb" + turn, "B" + turn, "b" + turn)
        made.add("c" + turn, None, type="system", subtype="compact_boundary", logicalParentUuid=made.uuid("rb" + turn))
        made.user("s" + turn, "summary", isCompactSummary=True)
    session, threads = read(made, path)

    assert (["user: summary"], ["main"], []) == (summary(threads["main"]), list(threads), codes(session))


@pytest.mark.parametrize("how", ["by name", "as a segment"])
def test_a_compaction_keeps_messages(path: Path, how: str) -> None:
    """Messages that a compaction kept word for word follow its summary."""
    made = Transcript().user("u", "go", None).says("a", "m1", "done").user("v", "next").says("w", "m2", "ok")
    names = [made.uuid(name) for name in ("a", "v", "w")]
    kept: dict[str, Any] = {"anchorUuid": made.uuid("s")}
    if how == "by name":
        kept = {"preservedMessages": kept | {"uuids": [*names, made.uuid("gone")]}}
    else:
        kept = {"preservedSegment": kept | {"headUuid": names[0], "tailUuid": names[2]}}
    made.add("c", None, type="system", subtype="compact_boundary", logicalParentUuid=names[2], compactMetadata=kept)
    made.user("s", "summary", isCompactSummary=True).user("x", "on")
    session, threads = read(made, path)

    assert ["user: summary", "assistant: done", "user: next", "assistant: ok", "user: on"] == summary(threads["main"])
    assert (["main"], []) == (list(threads), codes(session))


def test_a_missing_parent_is_bridged(path: Path) -> None:
    """A line whose parent was never written goes on from the conversation line before it."""
    made = Transcript().user("u", "go", None).says("a", "m1", "one").user("v", "lost", "nowhere").says("b", "m2", "two")
    session, threads = read(made, path)

    assert ["user: go", "assistant: one", "user: lost", "assistant: two"] == summary(threads["main"])
    assert [("SU905", 3)] == codes(session)
    assert "linked to line 2" in session.damages[0].salvaged


def test_a_first_line_may_go_on_from_another_file(path: Path) -> None:
    """A resumed session names a line of the file that it continues: no damage."""
    session, threads = read(Transcript().user("u", "go", "elsewhere").says("a", "m1", "one"), path)

    assert (["user: go", "assistant: one"], []) == (summary(threads["main"]), codes(session))


def test_the_main_chain_does_not_go_on_from_a_sidechain(path: Path) -> None:
    """A link from the conversation into an agent's own is not followed."""
    made = Transcript().user("u", "go", None).user("s", "look", None, isSidechain=True).user("v", "on", "s")
    session, threads = read(made, path)

    assert ["user: go", "user: on"] == summary(threads["main"])
    assert [("SU905", 3)] == codes(session)


def test_an_agent_may_begin_at_a_line_of_the_main_chain(path: Path) -> None:
    """An agent whose first line names the call that started it has its own conversation all the same."""
    made = Transcript().user("u", "go", None).call("a", "m1", "A").user("s", "look", "a", isSidechain=True, agentId="x")
    session, threads = read(made, path)

    assert ["user: look"] == summary(threads["sidechain x"])
    assert [] == codes(session)


def test_circles_are_cut(path: Path) -> None:
    """Lines that continue each other in a circle are read once, and none is lost."""
    made = Transcript().user("u", "go", None).user("a", "one", "c").user("b", "two", "a").user("c", "three", "b")
    session, threads = read(made, path)

    assert ["user: go", "user: one", "user: two", "user: three"] == summary(threads["main"])
    assert [("SU905", 2)] == codes(session)


def test_bridging_a_missing_parent_makes_no_circle(path: Path) -> None:
    """Where the line before continues from the very line whose parent is missing, that line begins the conversation."""
    made = Transcript().user("u", "go", None).user("b", "two", "a").user("a", "one", "gone").user("c", "three", "b")
    session, threads = read(made, path)

    assert ["user: one", "user: two", "user: three"] == summary(threads["main"])
    assert [] == codes(session)


def test_lines_out_of_order_are_linked(path: Path) -> None:
    """A line may stand before the one that it continues."""
    made = Transcript().user("u", "go", None).user("b", "two", "a").user("a", "one", "u").user("c", "three", "b")
    session, threads = read(made, path)

    assert ["user: go", "user: one", "user: two", "user: three"] == summary(threads["main"])
    assert [] == codes(session)


def test_far_parents_are_found(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A parent that is far back is found, although only the last lines are kept in mind."""
    monkeypatch.setattr(claude_index, "_RECENT", 1)
    made = Transcript().user("u", "go", None)
    for number in range(9):
        made.user(f"n{number}", str(number))
    session, threads = read(made.user("v", "back", "n0"), path)

    assert ["user: go", "user: 0", "user: back"] == summary(threads["main"])
    assert [("SU906", 3)] == codes(session)


def test_lines_without_links_are_in_order(path: Path) -> None:
    """Lines that have neither `uuid` nor `parentUuid` follow each other."""
    made = Transcript().user("u", "go", None).says("a", "m1", "one")
    for row in made.rows:
        del row["uuid"], row["parentUuid"]
    session, threads = read(made, path)

    assert (["user: go", "assistant: one"], []) == (summary(threads["main"]), codes(session))


def test_what_the_model_never_saw_is_left_out(path: Path) -> None:
    """Errors of the API, snapshots, queues and lines of unknown types or shapes are passed over in silence."""
    made = Transcript().raw({"type": "summary", "summary": "x", "leafUuid": "y"}).user("u", "go", None)
    made.says("e", "m1", "API Error: 400", isApiErrorMessage=True).user("v", "on")
    made.raw({"type": "from-the-future", "uuid": 7, "parentUuid": {"a": 1}})
    made.add("x", type="user", message={"role": "user", "content": None})
    made.add("y", type="user", message={"role": "user", "content": ["text"]})
    made.add("z", type="assistant", message="text")
    session, threads = read(made, path)

    assert (["user: go", "user: on"], []) == (summary(threads["main"]), codes(session))


def test_damaged_lines_are_read_as_far_as_they_go(path: Path) -> None:
    """Padding, glue and tears cost nothing but what is torn."""
    made = Transcript().user("u", "go", None).says("a", "m1", "one").user("v", "two").says("b", "m2", "three")
    one, two, three, four = made.data.splitlines()
    path.write_bytes(one + b"\n" + b"\0" * 9 + b"\n" + two + three + b"\n" + b'{"type":"us' + four + b"\n" + one[:50])
    session = claude_code.read(path)
    (thread,) = claude_code.history(session)

    assert ["user: go", "assistant: one", "user: two", "assistant: three"] == summary(thread)
    assert [(1,), (3,), (3,), (4,)] == thread.lines
    assert [("SU902", 2), ("SU903", 3), ("SU901", 4), ("SU901", 5)] == codes(session)


def test_an_empty_file_has_no_threads(path: Path) -> None:
    """Nothing is found in nothing."""
    session, threads = read(Transcript(), path)

    assert ({}, []) == (threads, session.damages)


def test_a_file_that_is_gone_is_a_session_error(path: Path) -> None:
    """Reading says what the operating system says."""
    with pytest.raises(SessionError, match="No such file"):
        claude_code.read(path)


def test_a_file_that_changed_is_noticed(path: Path) -> None:
    """What is read later must still be what was read first."""
    session, _ = read(Transcript().user("u", "go", None), path)
    path.write_bytes(b"{")

    with pytest.raises(SessionError, match="changed while"):
        claude_code.history(session)
    path.unlink()
    with pytest.raises(SessionError, match="No such file"):
        claude_code.history(session)
    with pytest.raises(SessionError, match="No such file"):
        list(claude_code.write(session, []))


def test_findings_have_lines(path: Path) -> None:
    """A finding's path leads to the line of the very content block."""
    made = Transcript().user("u", "go", None).call("a", "m1", "A").call("b", "m1", "B")
    thread = read(made, path)[1]["main"]

    assert [1, 2, 3, 3, None, None] == [
        thread.line_of(where)
        for where in (
            "messages[0]",
            "messages[1]",
            "messages[1].content[1]",
            "messages[1].content[9]",
            "messages[7]",
            "messages",
        )
    ]


@pytest.mark.parametrize(
    ("data", "answer"),
    [
        (Transcript().user("u", "go", None).data, True),
        (b'{"type":"summary","summary":"x","leafUuid":"y"}\n', True),
        (b'{"type":"session_meta","payload":{}}\n', False),
        (b'[{"role":"user"}]', False),
        (b"", False),
    ],
)
def test_probe(path: Path, data: bytes, answer: bool) -> None:
    """Files of this format are told from others by their lines."""
    assert answer is claude_code.probe(Sample(path, data))
