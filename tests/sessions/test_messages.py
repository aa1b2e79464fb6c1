"""`suture.sessions.messages`: plain JSON, whose notation and other keys survive a repair."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from suture.errors import SessionError
from suture.sessions import messages
from suture.sessions.base import Mended, Sample

ONE: dict[str, Any] = {"role": "user", "content": "go"}
TWO: dict[str, Any] = {"role": "assistant", "content": "fine"}
NEW: dict[str, Any] = {"role": "user", "content": "é"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a test's file is."""
    return tmp_path / "messages.json"


def write(path: Path, data: bytes, added: list[Any]) -> bytes:
    """The new content of a file with messages added."""
    path.write_bytes(data)
    session = messages.read(path)
    (thread,) = messages.history(session)
    them = [*thread.messages, *added] if added else thread.messages
    return b"".join(messages.write(session, [Mended(thread=thread, messages=them)]))


@pytest.mark.parametrize(
    ("value", "wire"),
    [([ONE, TWO], None), ({"model": "m", "messages": [ONE, TWO]}, None), ({"input": [ONE, TWO]}, "openai_responses")],
)
def test_messages_are_found(path: Path, value: Any, wire: str | None) -> None:
    """An array is a list of messages, and so is what an object has under a known key."""
    path.write_text(json.dumps(value))
    (thread,) = messages.history(messages.read(path))

    assert (wire, [ONE, TWO], [(), ()]) == (thread.format, thread.messages, thread.lines)
    assert messages.probe(Sample(path, path.read_bytes()))


@pytest.mark.parametrize(
    "data",
    [
        b'[{"role":"user","content":"go"}]',
        b'[{"role": "user", "content": "go"}, {"role": "assistant", "content": "fine"}]\n',
        b'[\n  {\n    "role": "user",\n    "content": "go"\n  }\n]\n',
        b'\xef\xbb\xbf[\r\n\t{\r\n\t\t"role": "user",\r\n\t\t"content": "go"\r\n\t}\r\n]\r\n\r\n',
        b'{"system":"caf\\u00e9","messages":[{"role":"user","content":"go"}],"z":[1]}',
        '{"system":"café","messages":[{"role":"user","content":"go"}],"z":[1]}'.encode(),
    ],
)
def test_the_notation_is_kept(path: Path, data: bytes) -> None:
    """Indentation, spaces, escapes, line ends and the end of the file are as they were."""
    assert data == write(path, data, [])
    grown = write(path, data, [ONE, NEW])
    value = json.loads(grown.decode("utf-8-sig"))
    them = value if isinstance(value, list) else value["messages"]

    assert NEW == them[-1]
    del them[-2:]
    again = write(path, grown, [])
    path.write_bytes(grown)
    session = messages.read(path)
    (thread,) = messages.history(session)
    back = b"".join(messages.write(session, [Mended(thread=thread, messages=thread.messages[:-2])]))
    assert (grown, data) == (again, back)


def test_one_message_a_line(path: Path) -> None:
    """Lines of messages are kept byte for byte, and new ones are lines."""
    data = b'{"role": "user", "content": "go"}\n\n{"role": "assistant", "content": "fine"}\n{"role":"us'
    path.write_bytes(data)
    session = messages.read(path)
    (thread,) = messages.history(session)

    assert ([ONE, TWO], [(1,), (3,)], None) == (thread.messages, thread.lines, thread.format)
    assert ["SU901"] == [damage.code for damage in session.damages]
    assert data.rpartition(b"\n")[0] + '\n{"role":"user","content":"é"}\n'.encode() == write(path, data, [NEW])
    assert [ONE] == messages.history(messages.read(_saved(path, b'{"role":"user","content":"go"}')))[0].messages


def _saved(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b'{"a":1}', "expected an array of messages"),
        (b'"text"', "expected an array of messages"),
        (b"[" * 5000, "nested too deeply"),
        (b'[{"role":"user","content":"cut o', "this is not JSON"),
        (b'{\n  "messages": [\n    {"role": "user", "content": "go"},\n  ]\n}\n', "this is not JSON: .*line 4"),
    ],
)
def test_other_json_is_a_session_error(path: Path, data: bytes, problem: str) -> None:
    """A file without messages says what was expected; one that is broken JSON is not taken for lines."""
    with pytest.raises(SessionError, match=problem):
        messages.read(_saved(path, data))


@pytest.mark.parametrize(
    ("body", "request_"),
    [
        ({}, {}),
        ({"model": "m", "store": False, "max_tokens": 5}, {"model": "m", "store": False}),
        ({"thinking": {"type": "enabled", "budget_tokens": 1024}}, {"thinking": True}),
        ({"thinking": {"type": "adaptive"}}, {"thinking": True}),
        ({"thinking": {"type": "disabled"}}, {"thinking": False}),
        ({"thinking": True}, {"thinking": True}),
        ({"thinking": {"type": "new"}, "model": 1, "store": "x", "tools": None}, {}),
        (
            {"previous_response_id": "r", "conversation": {"id": "c"}},
            {"previous_response_id": "r", "conversation": "c"},
        ),
        ({"conversation": "c"}, {"conversation": "c"}),
        (
            {
                "tools": [
                    {"name": "a", "input_schema": {}},
                    {"type": "function", "function": {"name": "b"}},
                    {"type": "web_search"},
                    "c",
                    {"name": 1},
                    7,
                ]
            },
            {"tools": ["a", "b", "web_search", "c"]},
        ),
    ],
)
def test_a_body_says_what_the_request_is(body: dict[str, Any], request_: dict[str, Any]) -> None:
    """Settings that rules know are handed on in one notation, and nothing is made up."""
    assert request_ == messages.request_of(body)


def test_a_file_hands_its_request_on(path: Path) -> None:
    """A captured request is repaired under its own settings."""
    session = messages.read(_saved(path, json.dumps({"model": "m", "messages": [ONE]}).encode()))

    assert {"model": "m"} == session.request


@pytest.mark.parametrize(
    ("data", "answer"),
    [
        (b" [", True),
        (b'{"model":"m",\n "messages": [', True),
        (b'{"role":"user","content":"x"}\n', True),
        (b'{"type":"session_meta","payload":{}}', False),
        (b"", False),
    ],
)
def test_probe(path: Path, data: bytes, answer: bool) -> None:
    """Nearly any JSON with messages is taken."""
    assert answer is messages.probe(Sample(path, data))


@pytest.mark.parametrize(
    "data",
    [
        b'[{"role":"user","content":"caf\xc3"}]',
        b'\xef\xbb\xbf{"messages":[{"role":"user","content":"caf\xc3"}],"z":1}\n',
        b'{\r\n  "input": [\r\n    {"role": "user", "content": "caf\xc3"}\r\n  ]\r\n}',
    ],
)
def test_a_cut_character_is_replaced(path: Path, data: bytes) -> None:
    """The rest of the document stays as it is, and the damage is where the bytes are."""
    assert data.replace(b"\xc3", "\ufffd".encode()) == write(path, data, [])
    session = messages.read(path)
    (thread,) = messages.history(session)

    assert ["caf\ufffd"] == [message["content"] for message in thread.messages]
    assert [("SU904", data[: data.index(b"\xc3")].count(b"\n") + 1, data.index(b"\xc3"))] == [
        (damage.code, damage.line, damage.offset) for damage in session.damages
    ]


def test_a_document_that_is_more_than_cut_is_refused(path: Path) -> None:
    """Only characters are made up for, nothing of the JSON is."""
    path.write_bytes(b'[\n{"role":"user","content":"caf\xc3"}')
    with pytest.raises(SessionError, match="not JSON"):
        messages.read(path)


def test_what_is_no_message_stands_between_messages(path: Path) -> None:
    """Notes of a program are kept byte for byte where they stand, and are not taken for messages."""
    note = b'{"type": "meta",  "ts": 1}\n'
    one, two, new = (
        json.dumps(message, separators=(",", ":"), ensure_ascii=False).encode() for message in (ONE, TWO, NEW)
    )
    data = note + one + b"\n" + note + two + b"\n" + note

    assert note + one + b"\n" + note + two + b"\n" + new + b"\n" + note == write(path, data, [NEW])
    assert [ONE, TWO] == messages.history(messages.read(path))[0].messages[:2]
    assert messages.probe(Sample(path, data))


def test_a_message_without_a_role_is_one(path: Path) -> None:
    """What can be a broken message, or an item of the Responses API, is not left out."""
    them = [ONE, {"content": "lost"}, {"type": "reasoning", "id": "rs_1"}, {"type": "web_search_call", "id": "ws_1"}]
    path.write_text("".join(json.dumps(message) + "\n" for message in them))

    assert them == messages.history(messages.read(path))[0].messages
