from __future__ import annotations

import errno
import hashlib
import os
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from lorestudio.settings.files import alone
from lorestudio.vault.files import ChangedOnDisk, SaveError, VaultError
from lorestudio.vault.writer import (
    STALE_S,
    move_note,
    read_note,
    remove_note,
    same_place,
    save_note,
    sweep,
    temporary_name,
)
from tests.digests import digest


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


@pytest.mark.skipif(sys.platform == "win32", reason="there are no named pipes")
def test_a_pipe_in_the_place_of_a_note_is_not_waited_for(note: Path) -> None:
    text, digest = read_note(note)
    note.unlink()
    os.mkfifo(note)
    with pytest.raises(ChangedOnDisk):
        save_note(note, text, digest)


@pytest.mark.skipif(sys.platform == "win32", reason="there no file is locked")
def test_two_studios_that_save_at_one_moment_do_not_overwrite_each_other(note: Path) -> None:
    text, digest = read_note(note)
    outcome: list[Exception] = []

    def other() -> None:
        try:
            save_note(note, text + "other", digest)
        except VaultError as error:
            outcome.append(error)

    thread = threading.Thread(target=other)
    with alone(note):
        thread.start()
        deadline = time.monotonic() + 0.5
        while len(names_in(note.parent)) < 2 and time.monotonic() < deadline:
            time.sleep(0.001)
        time.sleep(0.05)  # it has written its text and waits
        (mine := note.with_name("mine")).write_text("mine", encoding="utf-8")
        mine.replace(note)
    thread.join()
    assert [type(error) for error in outcome] == [ChangedOnDisk]
    assert note.read_text(encoding="utf-8") == "mine"


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
    (tmp_path / "bad.md").write_bytes(b"a\n\xff")
    with pytest.raises(VaultError, match=r"“bad.md” is not UTF-8 text: byte 0xFF in line 2 \(byte offset 2\)"):
        read_note(tmp_path / "bad.md")


def test_a_new_note_never_replaces_one_that_comes_into_being(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, link = tmp_path / "new.md", os.link

    def late(source: Path, target: Path, **options: bool) -> None:
        path.write_bytes(b"somebody else")
        link(source, target, **options)

    monkeypatch.setattr(os, "link", late)
    with pytest.raises(ChangedOnDisk, match="exists already"):
        save_note(path, "mine", None)
    assert path.read_bytes() == b"somebody else"
    assert names_in(tmp_path) == ["new.md"]


def test_a_disk_without_hard_links(note: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    target = note.with_name("target.md")
    save_note(target, "made", None)
    with pytest.raises(ChangedOnDisk, match=r"“note.md” was not moved to “target.md”: .*exists already") as caught:
        move_note(note, target)
    assert caught.value.path == target
    assert (note.read_bytes(), target.read_bytes()) == (b"old", b"made")
    move_note(note, note.with_name("other.md"))
    assert sorted(names_in(note.parent)) == ["other.md", "target.md"]


def test_moving_keeps_the_file_itself(note: Path) -> None:
    before = note.stat()
    target = note.with_name("new name.md")
    move_note(note, target)
    assert names_in(note.parent) == ["new name.md"]
    assert (target.stat().st_ino, target.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_moving_fails_with_the_file_where_it_was(note: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SaveError, match="folder is gone"):
        move_note(note, note.parent / "gone" / "note.md")
    unlink = Path.unlink

    def fail(self: Path, missing_ok: bool = False) -> None:
        if self == note:
            raise PermissionError(errno.EACCES, "Permission denied")
        unlink(self, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", fail)
    with pytest.raises(SaveError, match="may not write here"):
        move_note(note, note.with_name("b.md"))
    assert names_in(note.parent) == ["note.md"]


def test_two_names_of_one_file_are_two_places(note: Path) -> None:
    other = note.with_name("NOTE.md")
    os.link(note, other)
    assert not same_place(note, other)
    assert not same_place(note, note)
    with pytest.raises(ChangedOnDisk):
        move_note(note, other)
    assert sorted(names_in(note.parent)) == ["NOTE.md", "note.md"]


def test_removing(note: Path) -> None:
    with pytest.raises(ChangedOnDisk, match=r"“note.md” was not deleted: the file has changed"):
        remove_note(note, hashlib.sha256(b"other").hexdigest())
    assert note.read_bytes() == b"old"
    remove_note(note, digest(note))
    with pytest.raises(ChangedOnDisk, match=r"“note.md” was not deleted: the file has been deleted"):
        remove_note(note, hashlib.sha256(b"old").hexdigest())
    assert names_in(note.parent) == []


def test_sweeping_takes_only_what_saving_left(note: Path) -> None:
    folder = note.parent
    done = subprocess.run(
        [sys.executable, "-c", "from lorestudio.vault.writer import temporary_name; print(temporary_name())"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    of_the_dead = done.stdout.strip()
    of_this_process = temporary_name()
    elsewhere = f".{'0' * 16}-{'0' * 8}-1.tmp"  # another computer's
    old_elsewhere = f".{'1' * 16}-{'0' * 8}-1.tmp"
    earlier_version = f".{'2' * 16}.tmp"
    strange = [".x.tmp", "0123456789abcdef.tmp", f".{'g' * 16}.tmp", f".{'3' * 16}.tmp.md"]
    (folder / "sub").mkdir()
    (folder / ".git").mkdir()
    (folder / "sub" / "back").symlink_to(folder)
    now = time.time()
    for name in (of_this_process, elsewhere, old_elsewhere, earlier_version, *strange):
        (folder / name).write_bytes(b"x")
        if name not in {of_this_process, elsewhere}:
            os.utime(folder / name, (now - STALE_S, now - STALE_S))
    for place in (folder / "sub", folder / ".git"):
        (place / of_the_dead).write_bytes(b"x")
    (folder / f".{'4' * 16}.tmp").mkdir()
    assert sweep(folder, now) == []
    assert names_in(folder / "sub") == ["back"]
    left = {"note.md", "sub", ".git", f".{'4' * 16}.tmp", of_this_process, elsewhere, *strange}
    assert set(names_in(folder)) == left
    assert names_in(folder / ".git") == [of_the_dead]


def test_sweeping_tells_what_it_cannot_delete(note: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = note.with_name(f".{'2' * 16}.tmp")
    left.write_bytes(b"x")

    def fail(self: Path, missing_ok: bool = False) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "unlink", fail)
    (problem,) = sweep(note.parent, time.time() + STALE_S)
    assert str(left) in problem
    assert left.exists()
