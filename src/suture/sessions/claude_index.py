"""Where everything stands in a Claude Code file, and which line continues which: some fifty bytes a line, no content.

Only lines that take part in a chain are in the index: those of the conversation, and those with a `uuid`. Identifiers
are kept as eight-byte hashes, so the index of a file of a gigabyte is some tens of megabytes.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, Final

import msgspec
from msgspec import UNSET, UnsetType

from suture.errors import SessionError
from suture.sessions.damage import Damage
from suture.sessions.files import problems_of
from suture.sessions.lines import Piece, RawLine, decode, is_utf8, raw_lines, salvage

__all__ = [
    "ASSISTANT",
    "BOUNDARY",
    "MAIN",
    "RELINKED",
    "RESULT",
    "SUMMARY",
    "TALK",
    "TEXT",
    "UNNAMED",
    "ClaudeIndex",
    "index_file",
    "is_record",
    "tag",
]

TALK: Final = 1
"""A message that the model sees."""
ASSISTANT: Final = 2
TEXT: Final = 4
"""A user's message without any tool result."""
RESULT: Final = 8
"""A user's message of nothing but tool results."""
SUMMARY: Final = 16
"""What a compaction put in the place of everything before."""
BOUNDARY: Final = 32
"""Where a compaction cut."""
RELINKED: Final = 64
"""The parent that the line names is not in the file; `parents` holds what takes its place."""
SALVAGED: Final = 128
"""The record was taken out of a damaged line."""

MAIN: Final = 0
"""The chain of the conversation itself; every agent's side chain has a number of its own."""
UNNAMED: Final = 1
"""All side chains of old files, which name no agent."""

_RECENT: Final = 200_000
"""Nearly every parent is among the lines just before; older ones are looked up once, at the end."""


class _Block(msgspec.Struct):
    type: str | None = None
    id: str | None = None
    tool_use_id: str | None = None


class _Message(msgspec.Struct):
    id: str | None = None
    role: str | None = None
    content: str | list[_Block] | None = None


class _Kept(msgspec.Struct, rename="camel"):
    anchor_uuid: str | None = None
    uuids: list[str] = []
    head_uuid: str | None = None
    tail_uuid: str | None = None


class _Compaction(msgspec.Struct, rename="camel"):
    preserved_messages: _Kept | None = None
    preserved_segment: _Kept | None = None


class _Envelope(msgspec.Struct, rename="camel"):
    """What the index wants to know of a line."""

    type: str | None = None
    subtype: str | None = None
    uuid: str | None = None
    parent_uuid: str | UnsetType | None = UNSET
    logical_parent_uuid: str | None = None
    is_sidechain: bool | None = None
    agent_id: str | None = None
    is_compact_summary: bool | None = None
    is_api_error_message: bool | None = None
    message: _Message | None = None
    compact_metadata: _Compaction | None = None


_DECODER: Final = msgspec.json.Decoder(_Envelope)


def tag(name: str) -> int:
    """Eight bytes for an identifier; 0 stands for none."""
    return hash(name) & 0xFFFF_FFFF_FFFF_FFFF or 1


def is_record(value: Any) -> bool:
    """Whether an object is a whole line of a Claude Code file rather than a part of one."""
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        return False
    return any(key in value for key in ("sessionId", "parentUuid", "leafUuid")) or (
        "messageId" in value and "snapshot" in value
    )


class ClaudeIndex:
    """One row a record, in the order of the file; the arrays are its columns."""

    def __init__(self) -> None:
        """An empty index."""
        self.offsets: array[int] = array("Q")
        self.lengths: array[int] = array("Q")
        self.numbers: array[int] = array("I")
        self.flags: array[int] = array("B")
        self.chains: array[int] = array("I")
        self.parents: array[int] = array("i")
        """The row that this one continues, or -1."""
        self.uuids: array[int] = array("Q")
        self.groups: array[int] = array("Q")
        """The API message that an assistant's line is a part of, or 0."""
        self.tools: array[int] = array("Q")
        """The first tool call, or the first result's call, or 0."""
        self.more_tools: dict[int, tuple[int, ...]] = {}
        """All of them, for the rare row with several."""
        self.pieces: dict[int, int] = {}
        """Which record of its line a row is, where it is not the first."""
        self.agents: list[str] = ["", ""]
        """The names of the chains."""
        self.preserved: dict[int, tuple[int, list[int]]] = {}
        """What a compaction kept: its boundary's row, the row that the kept ones follow, the kept rows in order."""
        self.damages: list[Damage] = []

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.offsets)

    def place_of(self, row: int) -> tuple[int, int]:
        """The number of a row's line, and which record on that line it is."""
        return self.numbers[row], self.pieces.get(row, 0)

    def tools_of(self, row: int) -> tuple[int, ...]:
        """The tool calls that a row makes or answers."""
        return self.more_tools.get(row) or ((self.tools[row],) if self.tools[row] else ())

    def value(self, stream: BinaryIO, row: int) -> dict[str, Any]:
        """The record itself, read from the file.

        Raises:
            SessionError: the file is no longer what it was.
        """
        value = self._piece(stream, row).value
        assert isinstance(value, dict)
        return value

    def data(self, stream: BinaryIO, row: int) -> bytes:
        """The record as it is written in the file, without the end of its line.

        Raises:
            SessionError: the file is no longer what it was.
        """
        return self._piece(stream, row).data

    def _piece(self, stream: BinaryIO, row: int) -> Piece:
        stream.seek(self.offsets[row])
        data = stream.read(self.lengths[row])
        raw = RawLine(self.numbers[row], self.offsets[row], len(data), data)
        try:
            if self.flags[row] & SALVAGED:
                return salvage(raw, is_record).pieces[self.pieces.get(row, 0)]
            return Piece(raw.text, decode(raw.text))
        except (ValueError, IndexError, RecursionError) as error:
            raise SessionError(str(getattr(stream, "name", "")), "the file changed while it was being read") from error


def index_file(path: Path) -> ClaudeIndex:
    """Reads a file once, line by line.

    Raises:
        SessionError: the file cannot be read.
    """
    building = _Building()
    with problems_of(path), path.open("rb") as stream:
        for raw in raw_lines(stream):
            building.add_line(raw)
    building.link_rest()
    building.index.damages.sort(key=lambda damage: damage.offset)
    return building.index


class _Building:
    """Fills an index from the first line to the last, then links what could not be linked on the way."""

    def __init__(self) -> None:
        self.index = ClaudeIndex()
        self.recent: dict[int, int] = {}
        self.last_talk: dict[int, int] = {}
        self.chain_numbers: dict[str, int] = {}
        self.unlinked: list[tuple[int, int, int, bool]] = []
        """Row, the parent's tag, the row that takes its place, whether that is damage."""
        self.kept: list[tuple[int, _Kept]] = []
        self.forward = False
        """Whether a line continues a later one; only then can links close a circle."""

    def add_line(self, raw: RawLine) -> None:
        envelope = _quick(raw)
        if envelope is not None:
            self.add(envelope, raw, 0, 0)
            return
        line = salvage(raw, is_record)
        self.index.damages += line.damages
        for number, piece in enumerate(line.pieces):
            self.add(_tolerant(piece.value), raw, number, 0 if line.verbatim else SALVAGED)

    def add(self, line: _Envelope, raw: RawLine, piece: int, flags: int) -> None:
        index, row = self.index, len(self.index)
        flags |= _flags_of(line)
        if line.uuid is None and not flags & TALK:
            return
        index.offsets.append(raw.offset)
        index.lengths.append(raw.length)
        index.numbers.append(raw.number)
        index.flags.append(flags)
        index.chains.append(self.chain_of(line))
        index.uuids.append(tag(line.uuid) if line.uuid else 0)
        index.groups.append(tag(line.message.id) if flags & ASSISTANT and line.message and line.message.id else 0)
        tools = _tools_of(line) if flags & TALK else ()
        index.tools.append(tools[0] if tools else 0)
        index.parents.append(-1)
        if len(tools) > 1:
            index.more_tools[row] = tools
        if piece:
            index.pieces[row] = piece
        self.link(row, line)
        self.remember(row, line)

    def chain_of(self, line: _Envelope) -> int:
        if not line.is_sidechain:
            return MAIN
        if not line.agent_id:
            return UNNAMED
        number = self.chain_numbers.setdefault(line.agent_id, len(self.index.agents))
        if number == len(self.index.agents):
            self.index.agents.append(line.agent_id)
        return number

    def link(self, row: int, line: _Envelope) -> None:
        """Sets the parent, where the lines so far are enough to know it."""
        index = self.index
        before = self.last_talk.get(index.chains[row], -1)
        cut = bool(index.flags[row] & (BOUNDARY | SUMMARY))
        named = line.parent_uuid
        if cut and not named:
            # The model sees nothing beyond, but the file is one conversation: what was compacted is not a branch.
            named = line.logical_parent_uuid
        if named:
            parent = self.recent.get(tag(named))
            if parent is not None:
                self.settle(row, parent, before, missing=not cut)
            else:
                self.unlinked.append((row, tag(named), before, not cut))
        elif cut or (named is UNSET and index.flags[row] & TALK):
            index.parents[row] = before

    def settle(self, row: int, parent: int, before: int, *, missing: bool) -> None:
        """Links to a parent that is in the file, unless it belongs to another chain."""
        index = self.index
        if index.chains[parent] == index.chains[row]:
            index.parents[row] = parent
        elif index.chains[row] == MAIN:
            self.relink(row, before, "a line of a side chain", missing=missing)

    def relink(self, row: int, before: int, what: str, *, missing: bool) -> None:
        """Links to the conversation line before, in the place of a parent that cannot be used."""
        index = self.index
        if before >= 0 and self.reaches(before, row):
            before = -1  # the line before it continues from it
        index.parents[row] = before
        if before < 0 or not missing:
            return
        index.flags[row] |= RELINKED
        index.damages.append(
            Damage(
                code="SU905",
                line=index.numbers[row],
                offset=index.offsets[row],
                found=f"a line that continues from {what}",
                salvaged=f"its chain, linked to line {index.numbers[before]}, the conversation line before it",
            )
        )

    def remember(self, row: int, line: _Envelope) -> None:
        index = self.index
        if index.uuids[row]:
            self.recent[index.uuids[row]] = row
            if len(self.recent) > 2 * _RECENT:
                self.recent = dict(list(self.recent.items())[_RECENT:])
        if index.flags[row] & TALK:
            self.last_talk[index.chains[row]] = row
        if line.compact_metadata:
            kept = line.compact_metadata.preserved_messages or line.compact_metadata.preserved_segment
            if kept:
                self.kept.append((row, kept))

    def link_rest(self) -> None:
        """Links what names a line that is far back, further on, or nowhere."""
        index = self.index
        wanted = {parent for _, parent, _, _ in self.unlinked}
        for _, kept in self.kept:
            wanted.update(map(tag, _names_in(kept)))
        rows = {name: row for row, name in enumerate(index.uuids) if name in wanted} if wanted else {}
        for row, name, before, missing in self.unlinked:
            parent = rows.get(name, -1)
            if parent < 0 or self.reaches(parent, row):
                self.relink(row, before, "a line that is not in the file", missing=missing)
            else:
                self.settle(row, parent, before, missing=missing)
        for row, kept in self.kept:
            self.keep(row, kept, rows)

    def reaches(self, start: int, row: int) -> bool:
        """Whether a chain from `start` upwards comes to `row`: a link that closes a circle is no link."""
        if start > row:
            self.forward = True
        elif not self.forward:
            return start == row
        while start >= 0 and start != row:
            start = self.index.parents[start]
        return start == row

    def keep(self, row: int, kept: _Kept, rows: dict[int, int]) -> None:
        """Notes the rows that a compaction kept word for word behind its summary."""
        found = [rows[tag(name)] for name in kept.uuids if tag(name) in rows]
        head, tail = (rows.get(tag(name or ""), -1) for name in (kept.head_uuid, kept.tail_uuid))
        if not found and head >= 0:
            while tail > head:
                found.append(tail)
                tail = self.index.parents[tail]
            found = [*found, head][::-1] if tail == head else []
        anchor = rows.get(tag(kept.anchor_uuid or ""), row)
        if found:
            self.index.preserved[row] = (anchor, [kept_row for kept_row in found if self.index.flags[kept_row] & TALK])


def _quick(raw: RawLine) -> _Envelope | None:
    """The envelope of a line that is in order; None means that it has to be looked at closely."""
    text = raw.text
    if not text or not is_utf8(text):
        return None
    try:
        return _DECODER.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None


def _tolerant(value: Any) -> _Envelope:
    """The envelope of any value: what does not have the type that it should have is left out."""
    if not isinstance(value, dict):
        return _Envelope()
    fields: dict[str, Any] = {}
    for field in msgspec.structs.fields(_Envelope):
        if field.encode_name in value:
            with suppress(msgspec.ValidationError):
                fields[field.name] = msgspec.convert(value[field.encode_name], field.type)
    return _Envelope(**fields)


def _flags_of(line: _Envelope) -> int:
    if line.type == "system" and line.subtype == "compact_boundary":
        return BOUNDARY
    message = line.message
    if line.type not in {"user", "assistant"} or message is None or message.content is None:
        return 0
    if line.is_api_error_message:
        # It is shown to the user as if the model had said it; the model never sees it.
        return 0
    if line.type == "assistant":
        return TALK | ASSISTANT
    blocks = message.content if isinstance(message.content, list) else []
    results = sum(block.type == "tool_result" for block in blocks)
    flags = TALK | SUMMARY if line.is_compact_summary else TALK
    if not results:
        return flags | TEXT
    return flags | RESULT if results == len(blocks) else flags


def _tools_of(line: _Envelope) -> tuple[int, ...]:
    content = line.message.content if line.message else None
    if not isinstance(content, list):
        return ()
    names = ((block.id if block.type == "tool_use" else block.tool_use_id) for block in content if block.type)
    return tuple(tag(name) for name in names if name)


def _names_in(kept: _Kept) -> Iterable[str]:
    return (name for name in (kept.anchor_uuid, kept.head_uuid, kept.tail_uuid, *kept.uuids) if name)
