"""`suture.sessions.files`: a file is replaced as a whole or not at all, and what was there can be had back."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from suture.errors import ChangedFileError, SessionError
from suture.sessions import files
from suture.sessions.files import backups, fingerprint, replace, undo


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file to replace."""
    path = tmp_path / "session [1].jsonl"
    path.write_bytes(b"old\n")
    path.chmod(0o640)
    return path


def names(path: Path) -> list[str]:
    """What is in the file's directory."""
    return sorted(entry.name for entry in path.parent.iterdir())


def test_the_content_is_replaced_and_kept(path: Path) -> None:
    """The new content stands in the file, the old one in the backup, with the old permissions and time."""
    os.utime(path, ns=(10**18, 10**18))
    backup = replace(path, [b"new", b"\n"], fingerprint(path))

    assert (b"new\n", b"old\n") == (path.read_bytes(), backup.read_bytes())
    assert path.with_name(path.name + ".suture-backup") == backup
    assert (0o640, 0o640) == (stat.S_IMODE(path.stat().st_mode), stat.S_IMODE(backup.stat().st_mode))
    assert 10**18 == backup.stat().st_mtime_ns < path.stat().st_mtime_ns
    assert [path.name, backup.name] == names(path)


def test_backups_are_numbered(path: Path) -> None:
    """Each replacement has its own backup; `undo` goes back one by one."""
    for number in range(3):
        replace(path, [b"%d" % number], fingerprint(path))

    assert ["", ".2", ".3"] == [backup.name.partition(".suture-backup")[2] for backup in backups(path)]
    assert [b"old\n", b"0", b"1"] == [backup.read_bytes() for backup in backups(path)]
    for content in (b"1", b"0", b"old\n"):
        undo(path)
        assert content == path.read_bytes()
    assert [path.name] == names(path)
    with pytest.raises(SessionError, match="no backup"):
        undo(path)


def test_what_was_written_since_is_not_lost(path: Path) -> None:
    """A file that was written to after the repair is brought back by force only; one that is gone always."""
    replace(path, [b"new\n"], fingerprint(path))
    with path.open("ab") as stream:
        stream.write(b"later\n")
    os.utime(path, ns=(2**62, 2**62))
    with pytest.raises(SessionError, match=r"written to after .*suture-backup was made"):
        undo(path)
    assert b"new\nlater\n" == path.read_bytes()

    undo(path, force=True)
    assert (b"old\n", [path.name]) == (path.read_bytes(), names(path))
    replace(path, [b"new\n"], fingerprint(path))
    path.unlink()
    undo(path)
    assert b"old\n" == path.read_bytes()


def test_backups_of_other_files_are_left_alone(path: Path) -> None:
    """Only a number may follow the suffix, and special characters in names mean nothing."""
    for name in (f"{path.name}.suture-backup.old", "session 1.jsonl.suture-backup"):
        (path.parent / name).write_bytes(b"")

    assert [] == backups(path)


def test_a_link_stays_a_link(path: Path) -> None:
    """The file that a link names is replaced, and the backup is beside that file."""
    link = path.parent / "link.jsonl"
    link.symlink_to(path)
    backup = replace(link, [b"new"], fingerprint(link))

    assert link.is_symlink()
    assert (b"new", b"old\n") == (path.read_bytes(), backup.read_bytes())
    undo(link)
    assert (True, b"old\n") == (link.is_symlink(), path.read_bytes())


@pytest.mark.parametrize("change", ["append", "same size", "touch", "other file", "gone"])
def test_a_changed_file_is_refused(path: Path, change: str) -> None:
    """Whatever happened to a file since it was read, nothing is written over it."""
    read = fingerprint(path)
    times = (path.stat().st_atime_ns, path.stat().st_mtime_ns)
    if change == "append":
        path.write_bytes(b"old\nmore\n")
    elif change == "same size":
        path.write_bytes(b"odd\n")
        os.utime(path, ns=times)
    elif change == "touch":
        os.utime(path, ns=(times[0], times[1] + 1))
    elif change == "other file":
        other = path.with_name("other")
        other.write_bytes(b"old\n")
        os.utime(other, ns=times)
        other.replace(path)
    else:
        path.unlink()
    before = names(path)

    with pytest.raises(ChangedFileError, match="nothing was written"):
        replace(path, [b"new"], read)
    assert before == names(path)


def test_a_change_during_the_writing_is_refused(path: Path) -> None:
    """The file is looked at once more before it is replaced."""

    def chunks() -> Iterator[bytes]:
        yield b"new"
        with path.open("ab") as stream:
            stream.write(b"late\n")

    with pytest.raises(ChangedFileError):
        replace(path, chunks(), fingerprint(path))
    assert (b"old\nlate\n", [path.name]) == (path.read_bytes(), names(path))


def test_a_full_disk_leaves_all_as_it_was(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A write that fails leaves neither a torn file nor a stray one."""

    def full(_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    read = fingerprint(path)
    monkeypatch.setattr(files, "_sync", full)
    with pytest.raises(SessionError, match="No space left"):
        replace(path, [b"new"], read)
    assert (b"old\n", [path.name]) == (path.read_bytes(), names(path))


def test_a_backup_that_fails_leaves_all_as_it_was(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a backup nothing is replaced."""
    read = fingerprint(path)
    synced = files._sync
    calls: list[int] = []

    def second_fails(stream: Any) -> None:
        calls.append(1)
        if len(calls) == 2:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        synced(stream)

    monkeypatch.setattr(files, "_sync", second_fails)
    with pytest.raises(SessionError):
        replace(path, [b"new"], read)
    assert (b"old\n", [path.name]) == (path.read_bytes(), names(path))


def test_content_that_cannot_be_made_leaves_all_as_it_was(path: Path) -> None:
    """An error while the content is produced is the caller's to see, and changes nothing."""

    def chunks() -> Iterator[bytes]:
        yield b"new"
        raise RuntimeError

    with pytest.raises(RuntimeError):
        replace(path, chunks(), fingerprint(path))
    assert (b"old\n", [path.name]) == (path.read_bytes(), names(path))


def test_a_directory_that_cannot_be_written_is_a_session_error(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a place for the new file nothing is touched."""

    def refused(*_: Any, **__: Any) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr("tempfile.mkstemp", refused)
    with pytest.raises(SessionError, match="Permission denied"):
        replace(path, [b"new"], fingerprint(path))
    assert b"old\n" == path.read_bytes()


def test_the_owner_is_kept(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file stays its user's, and one that cannot be given away is replaced all the same."""
    owners: list[tuple[int, int]] = []

    def refused(_: Any, user: int, group: int) -> None:
        owners.append((user, group))
        raise PermissionError

    monkeypatch.setattr("os.chown", refused)
    replace(path, [b"new"], fingerprint(path))

    assert ([(path.stat().st_uid, path.stat().st_gid)], b"new") == (owners, path.read_bytes())


def test_a_missing_file_is_a_session_error(tmp_path: Path) -> None:
    """A file that is not there cannot be read."""
    with pytest.raises(SessionError, match="No such file"):
        fingerprint(tmp_path / "none")


def test_a_directory_that_cannot_be_synced_is_no_error(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where directories cannot be opened, the rename has to do."""

    def refused(*_: Any) -> int:
        raise PermissionError

    with monkeypatch.context() as patch:
        patch.setattr("os.open", refused)
        files._sync_directory(path.parent)
