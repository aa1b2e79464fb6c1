"""A session's file as the operating system has it: opened, locked against other processes, grown, brought to disk."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["ends_of", "grow", "lines_from", "opened", "remove", "sync_folder"]

if sys.platform == "win32":
    import errno
    import msvcrt

    # A lock keeps others also from reading what it covers: it covers one byte that no file of ours reaches.
    _FAR = 2**31 - 2

    def _lock(file: io.FileIO, *, shared: bool) -> None:  # noqa: ARG001 - there is but one kind of lock
        file.seek(_FAR)
        while True:
            try:
                msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
            except OSError as error:  # it gives up after ten seconds
                if error.errno != errno.EDEADLK:
                    raise
            else:
                return

    def _unlock(file: io.FileIO) -> None:
        file.seek(_FAR)
        msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _lock(file: io.FileIO, *, shared: bool) -> None:
        fcntl.flock(file, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)

    def _unlock(file: io.FileIO) -> None:
        fcntl.flock(file, fcntl.LOCK_UN)


@contextmanager
def opened(path: Path, *, write: bool = False, make: bool = False) -> Iterator[io.FileIO]:
    """The file, unbuffered, and no other process writing to it; what is written goes to its end.

    A file that was made and got no content is taken away again.

    Raises:
        OSError: it cannot be opened or locked.
    """
    while True:
        file = _open(path, write=write, make=make)
        try:
            _lock(file, shared=not write)
            try:
                if not _is_at(file, path):  # it was deleted while we waited
                    continue
                try:
                    yield file
                finally:
                    if make and not os.fstat(file.fileno()).st_size:
                        with suppress(OSError):
                            path.unlink()
            finally:
                _unlock(file)
        finally:
            file.close()
        return


def _open(path: Path, *, write: bool, make: bool) -> io.FileIO:
    def opener(name: str, _: int) -> int:
        flags = os.O_RDWR | os.O_APPEND if write else os.O_RDONLY
        return os.open(name, flags | (os.O_CREAT if make else 0) | getattr(os, "O_BINARY", 0), 0o666)

    return io.FileIO(str(path), "a+" if write else "r", opener=opener)


def _is_at(file: io.FileIO, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def lines_from(file: io.FileIO, offset: int) -> Iterator[bytes]:
    """The lines of a file from an offset on, with their ends, one in memory at a time."""
    file.seek(offset)
    with open(file.fileno(), "rb", 2**18, closefd=False) as reader:
        yield from reader


def ends_of(file: io.FileIO, length: int, head: int) -> tuple[bytes, bytes]:
    """The first and the last `head` bytes of the first `length`."""
    file.seek(0)
    first = file.read(head)
    file.seek(length - head)
    return first, file.read(head)


def grow(file: io.FileIO, data: bytes, *, sync: bool) -> None:
    """Write at the end of the file, all or nothing.

    Raises:
        OSError: it could not be written; as far as that is possible, the file is what it was.
    """
    size = os.fstat(file.fileno()).st_size
    try:
        rest = memoryview(data)
        while rest:  # once, as a rule: a disk that is full takes a part before it refuses
            rest = rest[file.write(rest) :]
        if sync:
            os.fsync(file.fileno())
    except OSError:
        # Where even this fails, the next one to read finds a line that was cut off, and begins a new one behind it.
        with suppress(OSError):
            _shrink(file, size)
        raise


def _shrink(file: io.FileIO, size: int) -> None:
    file.truncate(size)
    os.fsync(file.fileno())


def remove(path: Path) -> None:
    """Take a file away when nobody is writing to it.

    Raises:
        OSError: it cannot be, or is not there.
    """
    with opened(path, write=True):
        if sys.platform != "win32":
            path.unlink()
    if sys.platform == "win32":  # a file that is open stays where it is
        path.unlink()
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Bring to disk which files are in a folder; where folders cannot be opened there is nothing to do."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
