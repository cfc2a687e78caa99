from __future__ import annotations

import errno
import hashlib
import os
import stat
from pathlib import Path

import pytest

from lorestudio.vault import ChangedOnDisk, SaveError, VaultError, digest, read_note, save_note


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


@pytest.fixture
def note(tmp_path: Path) -> Path:
    path = tmp_path / "note.md"
    path.write_bytes(b"old")
    return path


def test_saving_gives_the_new_digest(note: Path) -> None:
    text, before = read_note(note)
    assert (text, before) == ("old", hashlib.sha256(b"old").hexdigest())
    after = save_note(note, "new", before)
    assert note.read_bytes() == b"new"
    assert after == digest(note) == hashlib.sha256(b"new").hexdigest()
    assert save_note(note, "newer", after) == digest(note)


@pytest.mark.parametrize("data", [b"\xef\xbb\xbfa\r\nb\rc\nd", b"", b"\n", "e\u0301 \u2028 😀\0".encode()])
def test_bytes_survive_reading_and_saving(note: Path, data: bytes) -> None:
    note.write_bytes(data)
    text, before = read_note(note)
    assert save_note(note, text, before) == before
    assert note.read_bytes() == data


def test_changed_on_disk(note: Path) -> None:
    _, before = read_note(note)
    note.write_bytes(b"somebody else")
    with pytest.raises(ChangedOnDisk, match="has changed on disk") as caught:
        save_note(note, "mine", before)
    assert caught.value.path == note
    assert note.read_bytes() == b"somebody else"
    assert names_in(note.parent) == ["note.md"]


def test_changed_while_saving(note: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, before = read_note(note)
    fsync = os.fsync

    def slow(descriptor: int) -> None:
        fsync(descriptor)
        note.write_bytes(b"somebody else")

    monkeypatch.setattr(os, "fsync", slow)
    with pytest.raises(ChangedOnDisk):
        save_note(note, "mine", before)
    assert note.read_bytes() == b"somebody else"
    assert names_in(note.parent) == ["note.md"]


def test_deleted_on_disk(note: Path) -> None:
    _, before = read_note(note)
    note.unlink()
    with pytest.raises(ChangedOnDisk, match="deleted, moved or renamed"):
        save_note(note, "mine", before)
    assert names_in(note.parent) == []


def test_new_note(tmp_path: Path) -> None:
    path = tmp_path / "new.md"
    assert save_note(path, "text", None) == digest(path)
    assert names_in(tmp_path) == ["new.md"]
    with pytest.raises(ChangedOnDisk, match="exists already"):
        save_note(path, "other", None)
    assert path.read_bytes() == b"text"


def test_new_note_in_a_folder_that_is_gone(tmp_path: Path) -> None:
    with pytest.raises(SaveError, match="folder is gone"):
        save_note(tmp_path / "gone" / "new.md", "text", None)


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSPC, "The disk is full"),
        (errno.EROFS, "read-only"),
        (errno.EACCES, "You may not write here"),
        (errno.EIO, "Nothing is lost"),
    ],
)
def test_failure_in_the_middle(note: Path, monkeypatch: pytest.MonkeyPatch, number: int, words: str) -> None:
    _, before = read_note(note)

    def fail(descriptor: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(SaveError, match=words) as caught:
        save_note(note, "new", before)
    assert "“note.md”" in str(caught.value)
    assert note.read_bytes() == b"old"
    assert names_in(note.parent) == ["note.md"]


def test_failure_at_the_end(note: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, before = read_note(note)

    def fail(self: Path, target: Path) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(SaveError, match="Operation not permitted"):
        save_note(note, "new", before)
    assert note.read_bytes() == b"old"
    assert names_in(note.parent) == ["note.md"]


def test_write_protected_file(note: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, before = read_note(note)
    monkeypatch.setattr(os, "access", lambda _, mode: mode != os.W_OK)
    with pytest.raises(SaveError, match="write-protected"):
        save_note(note, "new", before)
    assert note.read_bytes() == b"old"


def test_half_a_character(note: Path) -> None:
    _, before = read_note(note)
    with pytest.raises(SaveError, match="line 2"):
        save_note(note, "a\nb\ud83d", before)
    assert note.read_bytes() == b"old"


def test_permissions_stay(note: Path) -> None:
    note.chmod(0o640)
    _, before = read_note(note)
    save_note(note, "new", before)
    assert stat.S_IMODE(note.stat().st_mode) == 0o640


def test_a_link_stays_a_link(note: Path) -> None:
    link = note.parent / "link.md"
    link.symlink_to(note)
    _, before = read_note(link)
    save_note(link, "new", before)
    assert link.is_symlink()
    assert note.read_bytes() == b"new"


def test_reading_fails_with_a_reason(tmp_path: Path) -> None:
    with pytest.raises(VaultError, match=r"“gone.md” cannot be read"):
        read_note(tmp_path / "gone.md")
    with pytest.raises(VaultError, match=r"“gone.md” cannot be read"):
        digest(tmp_path / "gone.md")
    (tmp_path / "bad.md").write_bytes(b"a\n\xff")
    with pytest.raises(VaultError, match=r"“bad.md” is not UTF-8 text: byte 0xFF in line 2 \(byte offset 2\)"):
        read_note(tmp_path / "bad.md")
