"""Replaces a file safely: a backup first, then all or nothing, and never over a change that somebody else made.

The new file takes the old one's permissions and owner, and has its own modification time: the conversation did change,
and agents list sessions by that time. A symbolic link is followed, so the file that it names is replaced and the link
stays.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from suture.errors import ChangedFileError, SessionError

__all__ = ["BACKUP_SUFFIX", "Fingerprint", "backups", "fingerprint", "problems_of", "replace", "undo"]

BACKUP_SUFFIX: Final = ".suture-backup"
"""The backup of `a.jsonl` is `a.jsonl.suture-backup`, the next ones `a.jsonl.suture-backup.2` and so on."""

_STEP: Final = 2**20


class Fingerprint(msgspec.Struct, frozen=True):
    """What a file was when it was read: any write to it, and any other file in its place, gives another one."""

    size: int
    mtime_ns: int
    inode: int
    content: bytes


def fingerprint(path: Path) -> Fingerprint:
    """The fingerprint of a file, which is read once from end to end.

    Raises:
        SessionError: the file cannot be read.
    """
    with problems_of(path), path.open("rb") as stream:
        # The state is taken before the content: a write in between makes the two disagree with any later look.
        state = os.fstat(stream.fileno())
        content = hashlib.file_digest(stream, "blake2b").digest()
    return Fingerprint(state.st_size, state.st_mtime_ns, state.st_ino, content)


def backups(path: Path) -> list[Path]:
    """The backups of a file, the oldest first."""
    real = path.resolve()
    found: list[tuple[int, Path]] = []
    for candidate in real.parent.glob(f"{_escaped(real.name)}{BACKUP_SUFFIX}*"):
        number = candidate.name[len(real.name) + len(BACKUP_SUFFIX) :]
        if not number:
            found.append((1, candidate))
        elif number.startswith(".") and number[1:].isdecimal():
            found.append((int(number[1:]), candidate))
    return [candidate for _, candidate in sorted(found)]


def replace(path: Path, chunks: Iterable[bytes], read: Fingerprint) -> Path:
    """Puts `chunks` in the place of the file's content and gives back the path of the backup.

    Either all of it happens or the file stays as it was: the new content is written beside the file and takes its
    place in one step, after it has reached the disk.

    Args:
        path: The file, or a link to it.
        chunks: The new content; may read from the old file as it goes.
        read: The file's fingerprint, taken before it was read.

    Raises:
        ChangedFileError: the file is no longer what it was when it was read.
        SessionError: the file, or the directory that it is in, cannot be written.
    """
    real = path.resolve()
    with problems_of(path):
        _require_unchanged(real, read)
        temporary = _write_beside(real, chunks)
        try:
            # Agents append at any moment: the last look is as late as it can be.
            _require_unchanged(real, read)
            backup = _backup(real)
            temporary.replace(real)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        _sync_directory(real.parent)
    return backup


def undo(path: Path, *, force: bool = False) -> Path:
    """Brings the newest backup back in one step, as the file that it was; gives back the path that the backup had.

    Args:
        path: The file, or a link to it.
        force: Bring it back also over what was written to the file since the backup was made.

    Raises:
        SessionError: there is no backup, it cannot be put back, or something was written to the file since.
    """
    kept = backups(path)
    if not kept:
        raise SessionError(str(path), f"there is no backup ({path.name}{BACKUP_SUFFIX}) to bring back")
    real = path.resolve()
    with problems_of(path):
        if not force and _was_written_since(real, kept[-1]):
            found = f"it was written to after {kept[-1].name} was made, and that would be lost"
            raise SessionError(str(path), f"{found}; nothing was brought back, which can be forced")
        kept[-1].replace(real)
        _sync_directory(real.parent)
    return kept[-1]


def _was_written_since(path: Path, backup: Path) -> bool:
    """Whether a file was written to after its backup was made.

    A repair writes the new content first and makes the backup then, whose own modification time is the old file's: when
    it was made is the time of its last change of state.
    """
    return path.exists() and path.stat().st_mtime_ns > backup.stat().st_ctime_ns


def _escaped(name: str) -> str:
    """A file name with nothing in it that means anything to `glob`."""
    return "".join(f"[{sign}]" if sign in "*?[" else sign for sign in name)


@contextmanager
def problems_of(path: Path) -> Iterator[None]:
    """Turns what the operating system refuses into the library's error."""
    try:
        yield
    except OSError as error:
        raise SessionError(str(path), error.strerror or str(error)) from error


def _require_unchanged(path: Path, read: Fingerprint) -> None:
    try:
        unchanged = fingerprint(path) == read
    except SessionError:
        unchanged = False
    if not unchanged:
        raise ChangedFileError(str(path))


def _write_beside(path: Path, chunks: Iterable[bytes]) -> Path:
    """A new file in the same directory, hence on the same disk, with the same permissions."""
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".suture-new", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            for chunk in chunks:
                stream.write(chunk)
            _sync(stream)
        shutil.copymode(path, temporary)
        _copy_owner(path, temporary)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return temporary


def _copy_owner(path: Path, temporary: Path) -> None:
    """Keeps the owner, where that is possible at all: a file that a superuser repairs is still its user's."""
    state = path.stat()
    if hasattr(os, "chown"):
        with suppress(OSError):
            os.chown(temporary, state.st_uid, state.st_gid)


def _backup(path: Path) -> Path:
    """A copy of the file under the first free backup name, with its times; it is on the disk when this returns."""
    taken = backups(path)
    last = 0 if not taken else int(taken[-1].name.rpartition(BACKUP_SUFFIX)[2].lstrip(".") or 1)
    target = path.with_name(path.name + BACKUP_SUFFIX + (f".{last + 1}" if last else ""))
    try:
        with path.open("rb") as source, target.open("xb") as stream:
            shutil.copyfileobj(source, stream, _STEP)
            _sync(stream)
        shutil.copystat(path, target)
    except BaseException:
        target.unlink(missing_ok=True)
        raise
    return target


def _sync(stream: BinaryIO) -> None:
    stream.flush()
    os.fsync(stream.fileno())


def _sync_directory(directory: Path) -> None:
    """Makes a rename last; on systems where a directory cannot be opened there is nothing to do."""
    try:
        descriptor = os.open(directory, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
