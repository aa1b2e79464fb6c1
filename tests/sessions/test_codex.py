"""`suture.sessions.codex`: what the model sees of a rollout, and a repaired rollout that says the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from suture.errors import SessionError
from suture.sessions import codex
from suture.sessions.base import Mended, Sample, Thread

Item = dict[str, Any]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a test's file is."""
    return tmp_path / "rollout-2026-02-03T09-00-00-0190.jsonl"


def line(kind: str, payload: Item) -> Item:
    """A line of a rollout."""
    return {"timestamp": "2026-02-03T09:00:00.000Z", "type": kind, "payload": payload}


def item(**payload: Any) -> Item:
    """A line with an item."""
    return line("response_item", payload)


def says(role: str, text: str) -> Item:
    """A line with a message."""
    kind = "output_text" if role == "assistant" else "input_text"
    return item(type="message", role=role, content=[{"type": kind, "text": text}])


def call(name: str) -> Item:
    """A line with a call."""
    return item(type="function_call", name="exec", arguments="{}", call_id=name)


def output(name: str, text: str = "done") -> Item:
    """A line with an output."""
    return item(type="function_call_output", call_id=name, output=text)


def event(kind: str, **payload: Any) -> Item:
    """A line for the display."""
    return line("event_msg", {"type": kind, **payload})


META = line("session_meta", {"id": "0190", "cwd": "/home/dev/app"})


def save(path: Path, rows: list[Item]) -> Path:
    """Writes a rollout, with spaces as a compact writer would not have them."""
    path.write_bytes(b"".join(json.dumps(row).encode() + b"\n" for row in rows))
    return path


def summary(thread: Thread) -> list[str]:
    """A thread in short."""
    return [
        found["content"][0]["text"] if found["type"] == "message" else f"{found['type']} {found.get('call_id', '-')}"
        for found in thread.messages
    ]


def seen(path: Path, rows: list[Item]) -> list[str]:
    """What the model sees of a rollout, in short."""
    return summary(codex.history(codex.read(save(path, rows)))[0])


def rewrite(path: Path, rows: list[Item], change: Callable[[list[Item]], list[Item]]) -> list[Item]:
    """Changes the items of a rollout, writes the file anew, and gives back its records."""
    session = codex.read(save(path, rows))
    (thread,) = codex.history(session)
    path.write_bytes(b"".join(codex.write(session, [Mended(thread=thread, messages=change(thread.messages))])))
    return [json.loads(text) for text in path.read_bytes().splitlines()]


def test_items_are_the_history(path: Path) -> None:
    """Lines for the display, snapshots and unknown lines are passed over in silence."""
    rows = [META, event("task_started"), says("user", "go"), event("user_message", message="go"), call("A")]
    rows += [
        item(type="ghost_snapshot", ghost_commit={}),
        line("from_the_future", {}),
        {"record_type": "state"},
        output("A"),
    ]

    assert ["go", "function_call A", "function_call_output A"] == seen(path, rows)
    assert [(3,), (5,), (9,)] == codex.history(codex.read(path))[0].lines
    assert [] == codex.read(path).damages


def test_old_files_have_no_envelopes(path: Path) -> None:
    """The first files hold bare items behind a bare head."""
    head = {"id": "0190", "timestamp": "2025-05-01T09:00:00.000Z", "instructions": None}
    rows = [head, *(row["payload"] for row in (says("user", "go"), item(type="reasoning", summary=[]), call("A")))]

    assert ["go", "reasoning -", "function_call A"] == seen(path, rows)
    assert codex.probe(Sample(path, path.read_bytes()))


def test_a_compaction_replaces_what_was_before(path: Path) -> None:
    """By the items that it gives, or else by its summary; only the last one counts."""
    compacted = [says("user", "kept")["payload"], "no item", call("A")["payload"]]
    rows = [says("user", "go"), line("compacted", {"message": "first"}), says("user", "on")]

    assert ["first", "on"] == seen(path, rows)
    rows += [line("compacted", {"message": "", "replacement_history": compacted}), output("A")]
    assert ["kept", "function_call A", "function_call_output A"] == seen(path, rows)
    assert [(4,), (4,), (5,)] == codex.history(codex.read(path))[0].lines


def test_a_rollback_takes_turns_away(path: Path) -> None:
    """The last turns of the user go, with what followed them; messages that Codex wrote itself are no turns."""
    rows = [says("user", "<environment_context>"), says("user", "one"), says("assistant", "1"), says("user", "two")]
    rows += [says("user", "<turn_aborted>"), event("thread_rolled_back", num_turns=1)]

    assert ["<environment_context>", "one", "1"] == seen(path, rows)
    assert ["<environment_context>", "one", "1", "three"] == seen(path, [*rows, says("user", "three")])
    assert ["<environment_context>"] == seen(path, [*rows, event("thread_rolled_back", num_turns=9)])
    assert ["<environment_context>", "one", "1"] == seen(path, [*rows, event("thread_rolled_back", num_turns="x")])


def test_a_rollback_takes_a_compaction_with_its_turn(path: Path) -> None:
    """What was compacted in a turn that was taken back is there again."""
    rows = [event("task_started"), says("user", "one"), event("task_started"), says("user", "two"), says("user", "2")]
    rows += [line("compacted", {"message": "short"}), says("assistant", "x"), event("thread_rolled_back", num_turns=1)]

    assert ["one", "on"] == seen(path, [*rows, says("user", "on")])


def test_an_untouched_file_is_the_same_bytes(path: Path) -> None:
    """Spaces, keys and foreign lines stay as they are."""
    session = codex.read(save(path, [META, says("user", "go"), call("A")]))
    mended = [Mended(thread=thread, messages=thread.messages) for thread in codex.history(session)]

    assert path.read_bytes() == b"".join(codex.write(session, mended))


def test_a_new_output_is_a_line(path: Path) -> None:
    """It stands behind the call, with the call's time; all other lines are the same bytes."""
    rows = [META, says("user", "go"), call("A"), event("turn_aborted"), says("user", "still there?")]
    new = output("A", "unknown")["payload"]
    old = save(path, rows).read_bytes().splitlines()

    assert [*rows[:3], item(**new), *rows[3:]] == rewrite(path, rows, lambda them: [*them[:2], new, them[2]])
    assert old == [text for text in path.read_bytes().splitlines() if b"unknown" not in text]


def test_bare_items_stay_bare(path: Path) -> None:
    """A new item in a file without envelopes has none."""
    rows = [row["payload"] for row in (says("user", "go"), call("A"))]
    new = output("A")["payload"]

    assert [*rows, new] == rewrite(path, rows, lambda them: [*them, new])
    assert [{**rows[0], "x": 1}, rows[1]] == rewrite(path, rows, lambda them: [them[0] | {"x": 1}, them[1]])


def test_changed_moved_and_removed_items(path: Path) -> None:
    """A changed item is written on its line, a moved one goes to its place, one that is gone leaves no line."""
    rows = [call("A"), says("user", "hm"), output("A"), output("lost"), says("user", "on")]

    def change(them: list[Item]) -> list[Item]:
        return [them[0] | {"arguments": '{"a":1}'}, them[2], them[1], them[4]]

    new = rewrite(path, rows, change)

    assert [item(**(rows[0]["payload"] | {"arguments": '{"a":1}'})), rows[2], rows[1], rows[4]] == new


def test_an_id_that_changed_is_the_same_item(path: Path) -> None:
    """A call that got another id keeps its line; a new item of the same kind does not take one over."""
    rows = [call("A"), output("A"), call("A"), says("user", "on")]

    def change(them: list[Item]) -> list[Item]:
        return [*them[:2], them[2] | {"call_id": "B"}, output("B", "unknown")["payload"], them[3]]

    assert [*rows[:2], call("B"), output("B", "unknown"), rows[3]] == rewrite(path, rows, change)


def test_a_new_item_is_not_taken_for_one_that_is_still_there(path: Path) -> None:
    """Between two items that stay, a new one of the same kind is a line of its own."""
    rows = [says("user", "one"), says("user", "two")]
    new = says("user", "between")["payload"]

    assert [rows[0], item(**new), rows[1]] == rewrite(path, rows, lambda them: [them[0], new, them[1]])


def test_a_new_first_item_stands_first(path: Path) -> None:
    """An item before all others stands before their lines, behind what is not the conversation's."""
    new = says("user", "(start)")["payload"]

    assert [META, item(**new), call("A")] == rewrite(path, [META, call("A")], lambda them: [new, *them])


def test_items_of_a_compaction_change_on_its_line(path: Path) -> None:
    """What stands among them is written among them, what stands behind them is a line."""
    kept = [says("user", "kept")["payload"], call("A")["payload"], says("user", "hm")["payload"], call("B")["payload"]]
    rows = [says("user", "go"), line("compacted", {"message": "", "replacement_history": kept}), says("user", "on")]
    one, two = output("A", "unknown")["payload"], output("B", "unknown")["payload"]
    new = rewrite(path, rows, lambda them: [them[0], them[1], one, them[2], them[3], two, them[4]])

    assert [kept[0], kept[1], one, kept[2], kept[3]] == new[1]["payload"]["replacement_history"]
    assert [rows[0], item(**two), rows[2]] == [new[0], *new[2:]]
    assert new == rewrite(path, new, list)
    assert [] == rewrite(path, new, lambda _: [])[1]["payload"]["replacement_history"]


def test_a_summary_is_never_written(path: Path) -> None:
    """A compaction that gave a summary only keeps its line, whatever a repair makes of the summary."""
    rows = [line("compacted", {"message": "short"}), call("A")]

    assert rows == rewrite(path, rows, lambda them: [them[0] | {"x": 1}, them[1]])
    assert rows == rewrite(path, rows, lambda them: them[1:])


def test_damage_is_salvaged_and_mended(path: Path) -> None:
    """Glue is taken apart; the payload of a torn line is not mistaken for an item."""
    one, two, three = (json.dumps(row).encode() for row in (says("user", "go"), call("A"), output("A")))
    path.write_bytes(one + two + b"\n" + one[:-3] + b"\n" + one[:20] + three + b"\n")
    session = codex.read(path)

    assert ["go", "function_call A", "function_call_output A"] == summary(codex.history(session)[0])
    assert [("SU903", 1), ("SU901", 2), ("SU901", 3)] == [(damage.code, damage.line) for damage in session.damages]
    assert [one, two, three] == b"".join(codex.write(session, [])).splitlines()


@pytest.mark.parametrize(("name", "data"), [("a.jsonl", b"\x28\xb5\x2f\xfd..."), ("a.jsonl.zst", b"{}")])
def test_a_compressed_file_is_a_session_error(tmp_path: Path, name: str, data: bytes) -> None:
    """The error says what to do."""
    path = tmp_path / name
    path.write_bytes(data)

    with pytest.raises(SessionError, match="zstd -d"):
        codex.read(path)


def test_probe(path: Path) -> None:
    """Rollouts are told from other files by their lines."""

    def probed(data: bytes) -> bool:
        return codex.probe(Sample(path, data))

    assert probed(save(path, [META, says("user", "go"), {"record_type": "state"}]).read_bytes())
    assert probed(b"\x28\xb5\x2f\xfd...")
    assert not any(map(probed, (b"", b'{"type":"user","message":{}}', b'[{"role":"user"}]', b'{"role":"user"}')))


def test_bytes_that_a_repair_takes_out_do_not_decide(path: Path) -> None:
    """NUL bytes in the header of a file without envelopes: it is the same session before and after they are gone."""
    header = b'{"id":"0190","timestamp":"2025-05-01T09:00:00.000Z","instructions":null}'
    whole = header + b'\n{"record_type":"state"}' * 3

    for data in (whole, whole.replace(b"instructions", b"instru\0\0ctions", 1)):
        assert codex.probe(Sample(path, data))
