"""Plain JSON: messages as a program keeps them, or the body of a request to a provider.

An array of messages; an object with such an array under `messages`, `input` or `items`, whose other keys are kept
and, as far as they are settings that rules know, handed on as the request; or one message a line. Other
objects that stand between such lines are kept byte for byte, and are no part of the messages.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from suture.errors import SessionError
from suture.sessions.base import Mended, Sample, Session, Thread
from suture.sessions.codex_history import Record, Source
from suture.sessions.damage import Damage
from suture.sessions.files import fingerprint, problems_of
from suture.sessions.item_lines import rewritten
from suture.sessions.lines import decode, is_utf8, raw_lines, salvage
from suture.wire.openai_responses_read import CALLS, NOT_PRODUCED, OUTPUTS

__all__ = ["NAME", "history", "probe", "read", "request_of", "write"]

NAME: Final = "messages"

_KEYS: Final[dict[str, str | None]] = {"messages": None, "input": "openai_responses", "items": "openai_responses"}
"""Where an object may have its messages, and what they then are; None is for `detect` to find out."""

_LIST_IN_OBJECT: Final = re.compile(rb'"(?:messages|input|items)"\s*:\s*\[')
_DOCUMENT: Final = re.compile(rb"\s*(?:\[|\{\s*\n)")
"""How an array or an object that stands on several lines begins: one message a line does not begin so."""

_SAID: Final = frozenset({"role", "content", "parts", "call_id", "tool_call_id", "tool_calls"})
"""An object with none of these on a line of its own is no message, unless its type says that it is an item."""

_ITEMS: Final = frozenset({"message", "reasoning", "item_reference", "compaction", *CALLS, *OUTPUTS, *NOT_PRODUCED})
_ITEM_ENDS: Final = ("_call", "_call_output")

_ROLES: Final = frozenset({"assistant", "developer", "model", "system", "tool", "user"})

_BOM: Final = b"\xef\xbb\xbf"


class _Document(msgspec.Struct):
    """A file that is one JSON value."""

    value: Any
    key: str | None
    """Where the messages are; None for an array of messages."""
    data: bytes

    @property
    def messages(self) -> list[Any]:
        """The messages."""
        found: list[Any] = self.value if self.key is None else self.value[self.key]
        return found


def probe(sample: Sample) -> bool:
    """Whether a file begins like an array, like an object that holds messages, or with a message on a line."""
    data = sample.data.removeprefix(_BOM).lstrip()
    if data.startswith(b"[") or (data.startswith(b"{") and _LIST_IN_OBJECT.search(data)):
        return True
    records = sample.records
    if not records:
        return False
    # What a program notes between its messages may be as many lines as they are, or more.
    certain = sum(
        record.get("role") in _ROLES and not _SAID.isdisjoint(record.keys() - {"role"})
        for record in records
        if isinstance(record.get("role"), str)
    )
    return 2 * sum(map(_is_message, records)) > len(records) or 4 * certain >= len(records)


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("role"), str)


def _may_be_message(value: dict[str, Any]) -> bool:
    """Whether an object can be a message in any format, be it a broken one."""
    kind = value.get("type")
    return not _SAID.isdisjoint(value) or (isinstance(kind, str) and (kind in _ITEMS or kind.endswith(_ITEM_ENDS)))


def read(path: Path) -> Session:
    """The messages in a file.

    Raises:
        SessionError: the file cannot be read, or holds no messages.
    """
    taken = fingerprint(path)
    with problems_of(path):
        data = path.read_bytes()
    try:
        value, data, damages = _decoded(data)
    except RecursionError as error:
        raise SessionError(str(path), "its JSON is nested too deeply to be read") from error
    except ValueError as error:
        if _DOCUMENT.match(data.removeprefix(_BOM)):
            # Reading it as lines would leave nearly nothing of it.
            raise SessionError(str(path), f"this is not JSON: {error}") from error
        return _read_lines(path)
    if _is_message(value):
        return _read_lines(path)
    key = None if isinstance(value, list) else next((key for key in _KEYS if _has_list(value, key)), "")
    if key == "":
        raise SessionError(str(path), "expected an array of messages, or one under 'messages', 'input' or 'items'")
    request = request_of(value) if isinstance(value, dict) else {}
    body = _Document(value, key, data)
    return Session(path=path, format=NAME, fingerprint=taken, damages=damages, request=request, body=body)


def _decoded(data: bytes) -> tuple[Any, bytes, list[Damage]]:
    """The value of a file that is one JSON text, its bytes with U+FFFD for cut characters, and where those were.

    Raises:
        ValueError: it is not JSON.
        RecursionError: it is nested too deeply.
    """
    text = data.removeprefix(_BOM)
    try:
        return decode(text), data, []
    except ValueError:
        if is_utf8(text):
            raise
    whole = text.decode(errors="replace").encode()
    return decode(whole), data[: len(data) - len(text)] + whole, list(_cut_characters(data))


def _cut_characters(data: bytes) -> Iterator[Damage]:
    """The lines of a JSON text that are not UTF-8."""
    offset = 0
    for number, line in enumerate(data.split(b"\n"), 1):
        try:
            line.decode()
        except UnicodeDecodeError as error:
            yield Damage(
                code="SU904",
                line=number,
                offset=offset + error.start,
                found="bytes that are not UTF-8",
                salvaged="the line, with U+FFFD in their place",
            )
        offset += len(line) + 1


def _has_list(value: Any, key: str) -> bool:
    return isinstance(value, dict) and isinstance(value.get(key), list)


def _read_lines(path: Path) -> Session:
    """A file of one message a line."""
    taken = fingerprint(path)
    records: list[Record] = []
    damages: list[Damage] = []
    with problems_of(path), path.open("rb") as stream:
        for raw in raw_lines(stream):
            line = salvage(raw, _is_message)
            damages += line.damages
            values = enumerate(piece.value for piece in line.pieces)
            records += [Record(raw.number, number, value) for number, value in values if isinstance(value, dict)]
    damages.sort(key=lambda damage: damage.offset)
    said = [record for record in records if _may_be_message(record.value)]
    return Session(path=path, format=NAME, fingerprint=taken, damages=damages, body=said or records)


def history(session: Session) -> list[Thread]:
    """The messages, as one thread; its format is None where only the messages themselves can tell."""
    if isinstance(session.body, _Document):
        messages = session.body.messages
        wire = _KEYS.get(session.body.key or "")
        return [Thread(name="main", format=wire, messages=messages, lines=[()] * len(messages), trace=None)]
    return [
        Thread(
            name="main",
            format=None,
            messages=[record.value for record in session.body],
            lines=[(record.line,) for record in session.body],
            trace=[Source(record, -1) for record in session.body],
        )
    ]


def write(session: Session, mended: Sequence[Mended]) -> Iterator[bytes]:
    """The new content of the file; see `Reader.write`.

    One JSON value is written anew as a whole, in the notation of the old one; other keys keep their order.
    """
    if not isinstance(session.body, _Document):
        yield from rewritten(session, mended, _is_message)
        return
    document = session.body
    changed = [thread.messages for thread in mended if thread.messages is not thread.thread.messages]
    if not changed:
        yield document.data
        return
    value = list(changed[0]) if document.key is None else document.value | {document.key: list(changed[0])}
    yield _in_notation(value, document.data)


def _in_notation(value: Any, data: bytes) -> bytes:
    """A JSON text that is indented, spaced and escaped as `data` is, and ends as it ends."""
    text = data.removeprefix(_BOM)
    indent = re.match(rb"\s*[\[{]\r?\n([ \t]+)", text)
    colon = b": " if re.search(rb'"\s*: ', text[:4096]) else b":"
    comma = b", " if not indent and re.search(rb'[\]}"\d], ["{\[]', text[:4096]) else b","
    written = json.dumps(
        value,
        indent=indent[1].decode() if indent else None,
        separators=(comma.decode(), colon.decode()),
        ensure_ascii=text.isascii() and b"\\u" in text,
    )
    end = text[len(text.rstrip()) :]
    body = written.encode(errors="surrogatepass")
    return data[: len(data) - len(text)] + (body.replace(b"\n", b"\r\n") if b"\r\n" in text else body) + end


def request_of(body: Mapping[str, Any]) -> dict[str, Any]:
    """The settings in a request's body that decide which rules hold, in the form that `check` and `repair` take.

    Settings that are not there are left out, as nothing is known about them.
    """
    request: dict[str, Any] = {}
    if isinstance(body.get("model"), str):
        request["model"] = body["model"]
    thinking = body.get("thinking")
    if isinstance(thinking, bool):
        request["thinking"] = thinking
    elif isinstance(thinking, dict) and thinking.get("type") in {"enabled", "adaptive", "disabled"}:
        request["thinking"] = thinking["type"] != "disabled"
    if isinstance(body.get("tools"), list):
        names = (_tool_name(tool) for tool in body["tools"])
        request["tools"] = [name for name in names if name]
    if isinstance(body.get("store"), bool):
        request["store"] = body["store"]
    for key in ("previous_response_id", "conversation"):
        value = body.get(key)
        value = value.get("id") if isinstance(value, dict) else value
        if isinstance(value, str):
            request[key] = value
    return request


def _tool_name(tool: Any) -> str | None:
    """The name of a tool in any provider's notation; what a provider runs itself may have a type only."""
    if not isinstance(tool, dict):
        return tool if isinstance(tool, str) else None
    function = tool.get("function")
    name = function.get("name") if isinstance(function, dict) else tool.get("name", tool.get("type"))
    return name if isinstance(name, str) else None
