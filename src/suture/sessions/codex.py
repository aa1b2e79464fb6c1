"""Codex: a rollout file, one JSON object a line, in the order of the conversation.

What the model sees is made of the `response_item` lines (in files of early 2025: items without an envelope):

- a `compacted` line replaces everything before it, by its `replacement_history` or else by its summary;
- `thread_rolled_back` takes away the last turns, with the compactions in them; a turn begins at `task_started` or, in
  files
  without such events, at a user's message that Codex did not write itself;
- `ghost_snapshot` items are Codex's own. `event_msg`, `turn_context`, `turn_aborted` and all other lines are for
  display
  and are passed through byte for byte.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, Final

from suture.errors import SessionError
from suture.sessions.base import Mended, Sample, Session, Thread
from suture.sessions.codex_history import Record, Source, Turns, is_envelope, is_record
from suture.sessions.damage import Damage
from suture.sessions.files import fingerprint, problems_of
from suture.sessions.item_lines import rewritten
from suture.sessions.lines import raw_lines, salvage

__all__ = ["NAME", "WIRE", "history", "probe", "read", "write"]

NAME: Final = "codex"
WIRE: Final = "openai_responses"

_ZSTD: Final = b"\x28\xb5\x2f\xfd"


def probe(sample: Sample) -> bool:
    """Whether most records of a sample are a rollout's, or the file is a compressed one."""
    if sample.data.startswith(_ZSTD):
        return True
    records = sample.records
    known = sum(is_record(record) for record in records)
    begins = bool(records) and {"id", "timestamp", "instructions"} <= records[0].keys() and "type" not in records[0]
    return bool(records) and (begins or 2 * known > len(records))


def read(path: Path) -> Session:
    """The session in a file.

    Raises:
        SessionError: the file cannot be read, or is compressed.
    """
    taken = fingerprint(path)
    turns = Turns()
    damages: list[Damage] = []
    with problems_of(path), path.open("rb") as stream:
        _require_plain(path, stream)
        for raw in raw_lines(stream):
            line = salvage(raw, is_envelope)
            damages += line.damages
            for number, piece in enumerate(line.pieces):
                if is_record(piece.value):
                    turns.add(Record(raw.number, number, piece.value))
    damages.sort(key=lambda damage: damage.offset)
    return Session(path=path, format=NAME, fingerprint=taken, damages=damages, body=turns.records)


def _require_plain(path: Path, stream: BinaryIO) -> None:
    if stream.read(len(_ZSTD)) == _ZSTD or path.suffix == ".zst":
        raise SessionError(str(path), "the file is compressed; decompress it first: zstd -d " + path.name)
    stream.seek(0)


def history(session: Session) -> list[Thread]:
    """The conversation as a list of Responses items."""
    sources = [(Source(record, number), item) for record in session.body for number, item in record.items]
    return [
        Thread(
            name="main",
            format=WIRE,
            messages=[item for _, item in sources],
            lines=[(source.record.line,) for source, _ in sources],
            trace=[source for source, _ in sources],
        )
    ]


def write(session: Session, mended: Sequence[Mended]) -> Iterator[bytes]:
    """The new content of the file, chunk by chunk; see `Reader.write`."""
    return rewritten(session, mended, is_envelope)
