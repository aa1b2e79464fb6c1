"""Claude Code: one JSON object a line, each naming the line that it continues.

The tool is closed source; what is known of its files comes from files that people published and from reports about it.
What this reader takes for certain, each with a case in `tests/cases/sessions/`:

- `type: user|assistant` lines hold an Anthropic message in `message`; lines of all other types are passed through.
- One API message is several lines with the same `message.id`; results stand between and beside them.
- `parentUuid` links the lines of a chain, through lines of other types as well. A compaction starts a new chain, whose
  `logicalParentUuid` says what was there before; the model sees nothing beyond the summary, except for what
  `compactMetadata` says was kept.
- Lines with `isSidechain` are an agent's own conversation. An error of the API (`isApiErrorMessage`) is for the user
  only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Final

from suture.sessions.base import Mended, Sample, Session, Thread
from suture.sessions.claude_chain import Branch, Forest, Turn
from suture.sessions.claude_index import ClaudeIndex, index_file
from suture.sessions.claude_write import rewritten
from suture.sessions.files import fingerprint, problems_of

__all__ = ["NAME", "WIRE", "history", "lines_of", "load", "probe", "read", "write"]

NAME: Final = "claude_code"
WIRE: Final = "anthropic"

_MARKS: Final = ("sessionId", "parentUuid", "leafUuid", "isSidechain", "snapshot")
"""At least one of these is on nearly every line."""


def probe(sample: Sample) -> bool:
    """Whether most records of a sample have a type and a mark of Claude Code."""
    records = sample.records
    marked = sum(isinstance(record.get("type"), str) and any(mark in record for mark in _MARKS) for record in records)
    return bool(records) and 2 * marked > len(records)


def read(path: Path) -> Session:
    """The session in a file.

    Raises:
        SessionError: the file cannot be read.
    """
    taken = fingerprint(path)
    index = index_file(path)
    forest = Forest(index)
    damages = sorted(index.damages + forest.damages, key=lambda damage: damage.offset)
    return Session(path=path, format=NAME, fingerprint=taken, damages=damages, body=forest)


def history(session: Session) -> list[Thread]:
    """The conversations of a session as Anthropic message lists, the live one first; branches share message objects.

    Raises:
        SessionError: the file changed since it was read.
    """
    forest: Forest = session.body
    reading = _Reading(forest)
    with problems_of(session.path), session.path.open("rb") as stream:
        return [reading.thread(branch, stream) for branch in forest.branches]


def write(session: Session, mended: Sequence[Mended]) -> Iterator[bytes]:
    """The new content of the file, chunk by chunk; see `Reader.write`."""
    return rewritten(session.path, session.body, mended)


def load(index: ClaudeIndex, stream: BinaryIO, turn: Turn) -> tuple[dict[str, Any], list[tuple[int, int]]]:
    """A turn as an Anthropic message, and per row how many of its content blocks come from it.

    Raises:
        SessionError: the file changed since it was read.
    """
    contents = [index.value(stream, row)["message"]["content"] for row in turn.rows]
    counts = [len(content) if isinstance(content, list) else 1 for content in contents]
    sources = list(zip(turn.rows, counts, strict=True))
    if len(contents) == 1:
        return {"role": turn.role, "content": contents[0]}, sources
    blocks: list[Any] = []
    for content in contents:
        blocks += content if isinstance(content, list) else [{"type": "text", "text": content}]
    return {"role": turn.role, "content": blocks}, sources


def lines_of(index: ClaudeIndex, turn: Turn, sources: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """The line of each content block of a turn; its first line where it has none."""
    lines = tuple(index.numbers[row] for row, count in sources for _ in range(count))
    return lines or (index.numbers[turn.rows[0]],)


class _Reading:
    """Reads each message of a file once, however many branches hold it."""

    def __init__(self, forest: Forest) -> None:
        self.forest = forest
        self.made: dict[tuple[int, ...], tuple[dict[str, Any], list[tuple[int, int]]]] = {}
        self.held: set[int] = set()

    def thread(self, branch: Branch, stream: BinaryIO) -> Thread:
        index = self.forest.index
        messages: list[Any] = []
        lines: list[tuple[int, ...]] = []
        trace: list[list[tuple[int, int]]] = []
        own_from: int | None = None
        for turn in self.forest.turns(self.forest.path(branch.leaf)):
            if own_from is None and not self.held.issuperset(turn.rows):
                own_from = len(messages)
            key = tuple(turn.rows)
            if key not in self.made:
                self.made[key] = load(index, stream, turn)
            message, sources = self.made[key]
            messages.append(message)
            trace.append(sources)
            lines.append(lines_of(index, turn, sources))
        self.held.update(row for sources in trace for row, _ in sources)
        return Thread(
            name=branch.name,
            format=WIRE,
            messages=messages,
            lines=lines,
            own_from=len(messages) if own_from is None else own_from,
            trace=(branch, trace),
        )
