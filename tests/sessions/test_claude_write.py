"""`suture.sessions.claude_write`, `claude_plan` and `claude_edits`: a repaired file says what the repair said."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from suture.pipeline import check, repair
from suture.sessions import claude_code
from suture.sessions.base import Mended
from tests.sessions.claude_lines import Transcript
from tests.sessions.mending import mend, messages_of, said, summary
from tests.sessions.strategies import transcripts


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a test's file is."""
    return tmp_path / "session.jsonl"


def rewrite(path: Path, name: str, change: Any) -> list[dict[str, Any]]:
    """Changes the messages of a thread, writes the file anew, and gives back its records."""
    session = claude_code.read(path)
    thread = next(thread for thread in claude_code.history(session) if thread.name == name)
    path.write_bytes(b"".join(claude_code.write(session, [Mended(thread=thread, messages=change(thread.messages))])))
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def result(call: str) -> dict[str, Any]:
    """A synthetic result."""
    return {
        "type": "tool_result",
        "tool_use_id": call,
        "content": [{"type": "text", "text": "unknown"}],
        "is_error": True,
    }


def test_an_untouched_file_is_the_same_bytes(path: Path) -> None:
    """Keys, their order, spaces, escapes, endings and foreign lines stay as they are."""
    made = Transcript().user("u", "go", None).says("a", "m1", "one")
    data = b"\xef\xbb\xbf" + made.data.replace(b"\n", b"\r\n") + b'\n \n{ "type" : "x", "n": 1.0e0, "n": "\\u00e9" }'
    path.write_bytes(data)
    session = claude_code.read(path)
    mended = [Mended(thread=thread, messages=thread.messages) for thread in claude_code.history(session)]

    assert data == b"".join(claude_code.write(session, mended))


def test_a_missing_result_is_a_new_line(path: Path) -> None:
    """It has the shape of its neighbours and stands in file and chain between the line before and the line after."""
    made = (
        Transcript().user("u", "go", None).call("a", "m1", "A").call("b", "m1", "B").result("rb", "B", slug="quiet-fox")
    )
    made.add("p", type="attachment", attachment={}).user("v", "are you there?")
    old = made.save(path).read_bytes().splitlines()
    rows = rewrite(
        path, "main", lambda them: [*them[:2], {"role": "user", "content": [*them[2]["content"], result("A")]}, them[3]]
    )
    new = rows[4]

    assert [made.uuid("rb"), new["uuid"], made.uuid("p")] == [rows[n]["parentUuid"] for n in (4, 5, 6)]
    assert {"sessionId": made.session, "slug": "quiet-fox", "isSidechain": False, "cwd": "/home/dev/app"} == {
        key: new[key] for key in ("sessionId", "slug", "isSidechain", "cwd")
    }
    assert ("user", rows[3]["timestamp"], "Error: unknown", made.uuid("a")) == (
        new["type"],
        new["timestamp"],
        new["toolUseResult"],
        new["sourceToolAssistantUUID"],
    )
    assert [line for line in path.read_bytes().splitlines() if line in old] == [old[n] for n in (0, 1, 2, 3, 5)]


def test_new_lines_are_deterministic(path: Path) -> None:
    """The same repair of the same file gives the same bytes."""
    made = Transcript().user("u", "go", None).call("a", "m1", "A").user("v", "hm")

    assert mend(claude_code.read(made.save(path))) == mend(claude_code.read(made.save(path)))


def test_only_the_line_of_a_changed_block_is_written_anew(path: Path) -> None:
    """A block of a message of several lines changes its own line, which keeps all other keys in their order."""
    made = Transcript().user("u", "go", None).call("a", "m1", "A").call("b", "m1", "B")
    made.result("ra", "A", "a").result("rb", "B", "b")
    old = made.save(path).read_bytes().splitlines()

    def change(messages: list[Any]) -> list[Any]:
        blocks = [messages[1]["content"][0], messages[1]["content"][1] | {"input": {}}]
        return [messages[0], messages[1] | {"content": blocks}, *messages[2:]]

    rows = rewrite(path, "main", change)

    assert [2] == [n for n, line in enumerate(path.read_bytes().splitlines()) if line != old[n]]
    assert {} == rows[2]["message"]["content"][0]["input"]
    assert [*json.loads(old[2])] == [*rows[2]]


def test_a_late_result_is_moved_by_its_links(path: Path) -> None:
    """The line stays where it is in the file; its place in the chain changes."""
    made = (
        Transcript().user("u", "go", None).call("a", "m1", "A").user("v", "hm").result("ra", "A").says("b", "m2", "ok")
    )
    made.save(path)
    rows = rewrite(path, "main", lambda them: [them[0], them[1], them[3], them[2], them[4]])

    assert ["a", "ra", "v"] == [
        name for name in ("a", "ra", "v") if made.uuid(name) in {row["parentUuid"] for row in rows}
    ]
    assert ["user: go", "assistant: call A", "user: result A", "user: hm", "assistant: ok"] == summary(
        claude_code.history(claude_code.read(path))[0]
    )


def test_a_line_that_is_gone_is_bridged(path: Path) -> None:
    """What followed a removed line follows the line before it, lines of other types as well."""
    made = Transcript().user("u", "go", None).result("r", "lost").add("p", type="progress").user("v", "hm")
    made.save(path)
    rows = rewrite(path, "main", lambda them: [them[0], them[2]])

    assert [None, made.uuid("u"), made.uuid("p")] == [row["parentUuid"] for row in rows]


def test_a_new_beginning_stands_first(path: Path) -> None:
    """A message before the first one is the new root."""
    made = Transcript().raw({"type": "summary", "summary": "x", "leafUuid": "y"}).says("a", "m1", "hello", None)
    made.save(path)
    rows = rewrite(path, "main", lambda them: [{"role": "user", "content": "(start)"}, *them])

    assert ["summary", "user", "assistant"] == [row["type"] for row in rows]
    assert [None, rows[1]["uuid"]] == [row["parentUuid"] for row in rows[1:]]


def test_a_new_call_is_an_api_message(path: Path) -> None:
    """A rebuilt call has what readers expect of the model's lines, and belongs to its message if it has one."""
    made = Transcript().user("u", "go", None).says("a", "m1", "one")
    made.save(path)
    call = {"type": "tool_use", "id": "A", "name": "Bash", "input": {}}

    def change(them: list[Any]) -> list[Any]:
        grown = them[1] | {"content": [*them[1]["content"], call]}
        return [them[0], grown, {"role": "user", "content": [result("A")]}, {"role": "assistant", "content": [call]}]

    rows = rewrite(path, "main", change)

    assert ["m1", "m1"] == [row["message"]["id"] for row in rows[1:3]]
    assert ("<synthetic>", "message") == (rows[4]["message"]["model"], rows[4]["message"]["type"])
    assert ["user: go", "assistant: one call A", "user: error A", "assistant: call A"] == summary(
        claude_code.history(claude_code.read(path))[0]
    )


def test_two_blocks_of_a_line_can_part(path: Path) -> None:
    """A block that moves away from its line becomes a line of its own."""
    blocks = [{"type": "tool_result", "tool_use_id": name, "content": name} for name in "AB"]
    made = (
        Transcript().user("u", "go", None).call("a", "m1", "A").user("r", blocks).call("b", "m2", "B").user("v", "hm")
    )
    made.save(path)

    def change(them: list[Any]) -> list[Any]:
        first, second = them[2]["content"]
        return [
            *them[:2],
            {"role": "user", "content": [first]},
            them[3],
            {"role": "user", "content": [second]},
            them[4],
        ]

    rewrite(path, "main", change)

    assert ["user: result A", "assistant: call B", "user: result B", "user: hm"] == summary(
        claude_code.history(claude_code.read(path))[0]
    )[2:]


def test_a_text_and_its_block_are_the_same(path: Path) -> None:
    """A message's text that a repair turned into a block is not written anew; a text that changed is."""
    made = Transcript().user("u", "go", None).user("v", "").user("w", "on")
    old = made.save(path).read_bytes().splitlines()

    def change(them: list[Any]) -> list[Any]:
        block = {"role": "user", "content": [{"type": "text", "text": "go"}]}
        return [block, them[1] | {"content": "(empty)"}, them[2]]

    rows = rewrite(path, "main", change)

    assert [old[0], old[2]] == [path.read_bytes().splitlines()[n] for n in (0, 2)]
    assert "(empty)" == rows[1]["message"]["content"]


def test_a_role_that_changed_is_another_line(path: Path) -> None:
    """A line of the model never holds what the user says."""
    block = {"type": "tool_result", "tool_use_id": "A", "content": "x"}
    made = Transcript().user("u", "go", None).call("a", "m1", "A").part("r", "m2", block)
    made.save(path)
    rows = rewrite(path, "main", lambda them: [*them[:2], {"role": "user", "content": them[2]["content"]}])

    assert ["user", "assistant", "user"] == [row["type"] for row in rows]


def test_a_message_without_content_is_written(path: Path) -> None:
    """Also an empty message is what the repair said."""
    Transcript().user("u", "go", None).save(path)
    rows = rewrite(path, "main", lambda them: [*them, {"role": "assistant", "content": []}])

    assert [] == rows[1]["message"]["content"]


def test_the_result_of_a_call_beside_the_chain_hangs_there(path: Path) -> None:
    """A call that a compaction kept gets its result where it is, so that the chain stays as it was."""
    made = Transcript().user("u", "go", None).call("a", "m1", "A")
    kept = {"preservedMessages": {"anchorUuid": made.uuid("s"), "uuids": [made.uuid("a")]}}
    made.add(
        "c", None, type="system", subtype="compact_boundary", logicalParentUuid=made.uuid("a"), compactMetadata=kept
    )
    made.user("s", "summary", isCompactSummary=True).user("v", "on").save(path)
    path.write_bytes(mend(claude_code.read(path)))
    rows = [json.loads(line) for line in path.read_bytes().splitlines()]

    assert made.uuid("a") == rows[2]["parentUuid"]
    assert ["user: summary", "assistant: call A", "user: error A", "user: on"] == summary(
        claude_code.history(claude_code.read(path))[0]
    )


def test_damage_is_mended_without_a_repair(path: Path) -> None:
    """Glue is taken apart, padding and torn records go, and links are set right, line for line."""
    made = Transcript().user("u", "go", None).says("a", "m1", "one").user("v", "on", "nowhere").says("b", "m2", "two")
    one, two, three, four = made.data.splitlines()
    path.write_bytes(one + two + b"\n\0\0\n" + b'{"a":' + three + b"\nnot json\n" + four + b"\n" + four[:20])
    session = claude_code.read(path)
    path.write_bytes(b"".join(claude_code.write(session, [])))
    lines = path.read_bytes().splitlines()

    assert [one, two, four] == [lines[n] for n in (0, 1, 3)]
    assert json.loads(three) | {"parentUuid": made.uuid("a")} == json.loads(lines[2])
    assert [] == claude_code.read(path).damages


def test_lines_beyond_reading_are_copied(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line that is too long to be held goes into the new file as it is."""
    monkeypatch.setattr("suture.sessions.lines.MAX_LINE", 2000)
    long = json.dumps({"type": "attachment", "data": "x" * 3000}).encode() + b"\n"
    made = Transcript().user("u", "go", None).call("a", "m1", "A").user("v", "hm")
    path.write_bytes(made.data + long)
    data = mend(claude_code.read(path))

    assert data.endswith(long)
    assert 5 == len(data.splitlines())


def test_branches_are_repaired_on_their_own(path: Path) -> None:
    """What branches share is repaired once, and each has its own result where the call is the last thing they share."""
    made = Transcript().user("u", "go", None).call("a", "m1", "A").user("v", "hm").call("b", "m2", "B")
    made.user("w", "one").user("x", "two", "b")
    path.write_bytes(mend(claude_code.read(made.save(path))))

    assert ["user: error A", "user: hm", "assistant: call B", "user: error B", "user: two"] == summary(
        claude_code.history(claude_code.read(path))[0]
    )[2:]
    assert [] == check(messages_of(path, "branch 2"), "anthropic")
    assert 9 == len(path.read_bytes().splitlines())


def test_branches_share_what_stands_before_a_shared_line(path: Path) -> None:
    """A result before a hook's line that both branches go through is written once."""
    made = Transcript().user("u", "go", None).call("a", "m1", "A").add("p", type="progress").user("v", "one")
    path.write_bytes(mend(claude_code.read(made.user("w", "two", "p").save(path))))

    assert 6 == len(path.read_bytes().splitlines())
    assert ["user: error A", "user: two"] == summary(claude_code.history(claude_code.read(path))[0])[2:]
    assert ["user: error A", "user: one"] == summary(claude_code.history(claude_code.read(path))[1])[2:]


def test_branches_share_a_result_beside_the_chain(path: Path) -> None:
    """A call that hangs off a line of both branches gets one result."""
    made = Transcript().user("u", "go", None).call("a", "m1", "A").call("b", "m1", "B").result("ra", "A", "a")
    made.user("v", "one").user("w", "two", "ra")
    path.write_bytes(mend(claude_code.read(made.save(path))))

    assert 7 == len(path.read_bytes().splitlines())
    for thread in claude_code.history(claude_code.read(path)):
        assert ["assistant: call A call B", "user: result A error B"] == summary(thread)[1:3]


def test_the_first_thread_decides_about_shared_lines(path: Path) -> None:
    """A branch cannot move its own result between lines that the main thread has; nothing is lost all the same."""
    made = (
        Transcript().user("u", "go", None).call("a", "m1", "A").user("v", "hm").result("ra", "A").user("w", "on", "v")
    )
    path.write_bytes(mend(claude_code.read(made.save(path))))
    main, branch = claude_code.history(claude_code.read(path))

    assert ["user: error A", "user: hm", "user: on"] == summary(main)[2:]
    assert ["user: error A", "user: hm", "user: result A"] == summary(branch)[2:]


def test_the_live_branch_stays_the_live_one(path: Path) -> None:
    """It is the one that ends last in the file, also where its last line moves up to its call."""
    made = Transcript().user("u", "go", None).call("a", "m1", "A").user("v", "hm").user("w", "other", "a")
    path.write_bytes(mend(claude_code.read(made.result("r", "A", "v").save(path))))
    main, branch = claude_code.history(claude_code.read(path))

    assert ["user: go", "assistant: call A", "user: result A", "user: hm"] == summary(main)
    assert ["user: error A", "user: other"] == summary(branch)[2:]


def test_a_line_is_found_beside_one_that_moved(path: Path) -> None:
    """What comes before it in the conversation may have stood behind it in the file."""
    made = Transcript().user("u", "go", None).call("a", "m1", "A").call("b", "m1", "B").call("c", "m2", "C")
    before = made.user("v", "again").result("r", "B").data
    path.write_bytes(before)
    path.write_bytes(mend(claude_code.read(path)))

    assert before.splitlines()[4].split(b',"isSidechain"')[1] in path.read_bytes()


def test_a_result_is_not_taken_for_one_above_that_says_the_same(path: Path) -> None:
    """A duplicate that goes and a result whose call is renamed are told apart by where they stand."""
    made = Transcript().user("u", "go", None).call("a", "m1", "A").result("r", "A").call("b", "m1", "B")
    made.result("s", "A").user("v", "one").user("w", "two", "s").call("c", "m2", "A").result("t", "A").save(path)
    path.write_bytes(mend(claude_code.read(path)))
    main, branch = claude_code.history(claude_code.read(path))

    assert ["user: result A error B", "user: two"] == summary(main)[2:4]
    assert ["user: result A error B", "user: one"] == summary(branch)[2:]


def test_any_text_can_be_a_call_id(path: Path) -> None:
    """Also one that has no UTF-8 form."""
    made = Transcript().user("u", "go", None).call("a", "m1", "A\ud83d").user("v", "hm").save(path)
    data = mend(claude_code.read(made))

    assert 4 == len(data.splitlines())


@settings(max_examples=min(settings().max_examples, 2000))  # each writes to a disk
@given(transcripts())
def test_a_repaired_file_says_what_the_repair_said(made: Transcript) -> None:
    """Whatever the file was, the new one is clean and says the same as the repaired messages."""
    with tempfile.TemporaryDirectory() as directory:
        path = made.save(Path(directory) / "session.jsonl")
        session = claude_code.read(path)
        threads = claude_code.history(session)
        repaired = [repair(thread.messages, thread.format).messages for thread in threads]
        mended = [Mended(thread=thread, messages=them) for thread, them in zip(threads, repaired, strict=True)]
        data = b"".join(claude_code.write(session, mended))
        path.write_bytes(data)
        again = claude_code.read(path)
        main = claude_code.history(again)[0]

        assert said(repaired[0]) == said(main.messages)
        assert [] == check(main.messages, main.format)
        assert [] == [damage for damage in again.damages if damage.mended]
        assert data == b"".join(claude_code.write(again, []))
