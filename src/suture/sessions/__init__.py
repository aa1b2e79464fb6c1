"""The session files that agents leave on disk: one format a module, all of the shape that `base.Reader` describes.

Reading, mending and writing back, with `repair` from `suture.pipeline`:

    session = open_session("session.jsonl")
    reader = READERS[session.format]
    mended = []
    for thread in reader.history(session):
        repaired = repair(thread.messages, thread.format, request=session.request)
        mended.append(Mended(thread=thread, messages=repaired.messages))
    replace(session.path, reader.write(session, mended), session.fingerprint)
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from suture.errors import UnknownFormatError
from suture.sessions import claude_code, codex, messages
from suture.sessions.base import SAMPLE_SIZE, Check, Located, Mended, Reader, Sample, Session, Thread
from suture.sessions.claude_stream import check_stream
from suture.sessions.damage import DAMAGES, Damage, DamageRule
from suture.sessions.files import Fingerprint, backups, fingerprint, problems_of, replace, undo
from suture.sessions.messages import request_of

__all__ = [
    "DAMAGES",
    "READERS",
    "Check",
    "Damage",
    "DamageRule",
    "Fingerprint",
    "Located",
    "Mended",
    "Reader",
    "Session",
    "Thread",
    "backups",
    "check_stream",
    "detect_reader",
    "fingerprint",
    "open_session",
    "replace",
    "request_of",
    "undo",
]

READERS: Final[dict[str, Reader]] = {
    "claude_code": claude_code,
    "codex": codex,
    "messages": messages,
}
"""Every session format by name, in the order in which they are tried: the one that takes nearly any JSON is last."""


def detect_reader(path: str | Path) -> str | None:
    """The name of the format that a file looks like; None if it looks like none.

    Raises:
        SessionError: the file cannot be read.
    """
    path = Path(path)
    with problems_of(path), path.open("rb") as stream:
        sample = Sample(path, stream.read(SAMPLE_SIZE))
    return next((name for name, reader in READERS.items() if reader.probe(sample)), None)


def open_session(path: str | Path, name: str | None = None) -> Session:
    """Reads a session file, in the format `name` or else in the one that it looks like.

    Raises:
        UnknownFormatError: there is no format of that name, or the file looks like none.
        SessionError: the file cannot be read.
    """
    found = name or detect_reader(path)
    if found is None or found not in READERS:
        raise UnknownFormatError(found, tuple(READERS), hint="name the format of the session file")
    return READERS[found].read(Path(path))
