"""What the user's paths and `--format` name: files, standard input, and the session files in directories."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from suture.errors import SessionError, SutureError, UnknownFormatError
from suture.sessions import READERS, claude_code, codex, detect_reader, messages
from suture.wire import ADAPTERS, PROFILES

__all__ = ["STDIN", "Kind", "Target", "is_other_file", "kind_of", "require_known", "targets"]

STDIN: Final = "-"

_AGENTS: Final = {claude_code.NAME: claude_code.WIRE, codex.NAME: codex.WIRE}
"""Formats in which an agent keeps its session, with the wire format that its messages have."""

_SUFFIXES: Final = (".json", ".jsonl")
_NOT_ENTERED: Final = frozenset({".git", ".venv", "__pycache__", "node_modules"})
_EXPECTED: Final = (
    "expected a JSON array of messages, an object with `messages` or `input`, or JSON lines: messages, "
    "a Claude Code session or a Codex rollout"
)


class Target(msgspec.Struct, frozen=True):
    """A file to work on."""

    path: Path
    shown: str
    """How it is called in what is printed."""
    found: bool = False
    """It was found in a directory: where it turns out to be something else, it is skipped."""
    closed: OSError | None = None
    """Why it cannot be looked into, where it is a directory in a directory."""


class Kind(msgspec.Struct, frozen=True):
    """What a file holds."""

    reader: str
    """The session format."""
    wire: str | None
    """The wire format of its messages, where the user named it."""

    @property
    def is_agents(self) -> bool:
        """Whether it is an agent's session, which goes on with the user's next message."""
        return self.reader in _AGENTS

    def settings(self, held: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
        """The request settings: those that the file holds, and over them those that the user gave."""
        return {**held, **({"next_role": "user"} if self.is_agents else {}), **given}


def targets(paths: Sequence[str], folder: Path) -> Iterator[Target]:
    """The files that the paths name, in their order; standard input is copied into `folder`."""
    for name in paths:
        if name == STDIN:
            copy = folder / "stdin"
            with copy.open("wb") as stream:
                shutil.copyfileobj(sys.stdin.buffer, stream)
            yield Target(copy, STDIN)
        elif os.path.isdir(name):  # noqa: PTH112 (as `Path`, a name would lose what the user wrote before it)
            yield from _inside(os.path.normpath(name))
        else:
            yield Target(Path(name), name)


def _inside(directory: str) -> Iterator[Target]:
    """The files in a directory that may be sessions, by their names, in order."""
    closed: list[OSError] = []
    for folder, folders, names in os.walk(directory, onerror=closed.append):
        folders[:] = sorted(name for name in folders if name not in _NOT_ENTERED)
        paths = (os.path.join(folder, name) for name in sorted(names) if name.endswith(_SUFFIXES))  # noqa: PTH118
        yield from (Target(Path(path), path, found=True) for path in paths)
    yield from (Target(Path(error.filename), error.filename, closed=error) for error in closed)


def require_known(format: str | None) -> None:
    """Refuse a `--format` that does not exist.

    Raises:
        UnknownFormatError: says which there are.
    """
    known = (*READERS, *ADAPTERS, *PROFILES)
    if format is not None and format not in known:
        raise UnknownFormatError(format, known)


def kind_of(target: Target, format: str | None) -> Kind:
    """What a file holds: as the user says, or as it looks.

    Raises:
        OSError: it is a directory that cannot be read.
        SessionError: the file cannot be read, looks like no session, or like one of another format.
    """
    path = target.path
    if target.closed is not None:
        raise target.closed
    reader = detect_reader(path)
    if reader is None and format in READERS and not target.found:
        return Kind(format, None)
    if reader is None and format is None:
        empty = not path.stat().st_size
        raise SessionError(str(path), "the file is empty" if empty else f"this is no session: {_EXPECTED}")
    fits = (None, reader, _AGENTS[reader]) if reader in _AGENTS else (None, messages.NAME, *ADAPTERS, *PROFILES)
    if format not in fits:
        raise SessionError(str(path), f"this is no {format}: it looks like {reader}")
    return Kind(reader or messages.NAME, None if format in READERS or reader in _AGENTS else format)


def is_other_file(target: Target, error: Exception) -> bool:
    """Whether a file from a directory turned out to hold no session, as opposed to one that cannot be read."""
    return target.found and isinstance(error, SutureError) and not isinstance(error.__cause__, OSError)
