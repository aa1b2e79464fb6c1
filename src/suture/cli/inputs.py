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

__all__ = ["STDIN", "Kind", "Target", "is_other_file", "kind_of", "targets"]

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
            yield from (Target(Path(path), path, found=True) for path in _inside(os.path.normpath(name)))
        else:
            yield Target(Path(name), name)


def _inside(directory: str) -> Iterator[str]:
    """The files in a directory that may be sessions, by their names, in order."""
    for folder, folders, names in os.walk(directory):
        folders[:] = sorted(name for name in folders if name not in _NOT_ENTERED)
        yield from (os.path.join(folder, name) for name in sorted(names) if name.endswith(_SUFFIXES))  # noqa: PTH118


def kind_of(target: Target, format: str | None) -> Kind:
    """What a file holds: as the user says, or as it looks.

    Raises:
        UnknownFormatError: there is no format of that name, or it is not the file's.
        SessionError: the file cannot be read, or looks like no session.
    """
    path = target.path
    if format is not None and format not in (*READERS, *ADAPTERS, *PROFILES):
        raise UnknownFormatError(format, (*READERS, *ADAPTERS, *PROFILES))
    if format in READERS and not target.found:
        return Kind(format, None)
    reader = detect_reader(path)
    if format in READERS and reader != format:
        raise SessionError(str(path), f"this is no {format} session")
    if reader in _AGENTS:
        if format not in (None, reader, _AGENTS[reader]):
            raise UnknownFormatError(format, (reader,), f"the messages of this session are {_AGENTS[reader]}")
        return Kind(reader, None)
    if reader is None and format is None:
        raise SessionError(
            str(path), f"this is no session: {_EXPECTED}" if path.stat().st_size else "the file is empty"
        )
    return Kind(reader or messages.NAME, None if format in READERS else format)


def is_other_file(target: Target, error: Exception) -> bool:
    """Whether a file from a directory turned out to hold no session, as opposed to one that cannot be read."""
    return target.found and isinstance(error, SutureError) and not isinstance(error.__cause__, OSError)
