from __future__ import annotations

import os
import sys
import threading
import tracemalloc
from contextlib import nullcontext
from pathlib import Path

import pytest

from lorestudio.settings.files import append_line, read_whole, write_atomically

MEBIBYTE = 1024 * 1024
PICTURE, ARCHIVE, JPEG = b"\x89PNG\r\n\x1a\n", b"PK\x03\x04", b"\xff\xd8\xff"


def large(path: Path, beginning: bytes, size: int) -> Path:
    path.write_bytes(beginning)
    os.truncate(path, size)
    return path


@pytest.mark.parametrize(("beginning", "most"), [(b"{}", 64), (b"\0", 64), (PICTURE, 256), (ARCHIVE, 256), (JPEG, 256)])
def test_a_file_that_is_too_large_is_given_up_and_nothing_of_it_read(
    beginning: bytes, most: int, tmp_path: Path
) -> None:
    file = large(tmp_path / "file", beginning, most * MEBIBYTE + 1)
    tracemalloc.start()
    with pytest.raises(OSError, match=f"larger than {most} MiB"):
        read_whole(file)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < MEBIBYTE


def test_an_archive_may_be_larger_than_a_text(tmp_path: Path) -> None:
    size = 64 * MEBIBYTE + 1
    assert len(read_whole(large(tmp_path / "file", ARCHIVE, size))) == size
    assert len(read_whole(large(tmp_path / "text", b"{}", size - 1))) == size - 1


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such device")
def test_a_device_is_given_up_sooner_than_a_file() -> None:
    with pytest.raises(OSError, match="larger than 64 MiB"):
        read_whole(Path("/dev/zero"))


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        read_whole(tmp_path)
    for folder in (tmp_path, Path(tmp_path.anchor)):
        with pytest.raises(IsADirectoryError):
            write_atomically(folder, b"x")
    assert not [*tmp_path.iterdir()]


@pytest.mark.skipif(sys.platform == "win32", reason="there are no named pipes")
def test_a_pipe_is_read_to_its_end_where_somebody_writes_and_nobody_is_waited_for(tmp_path: Path) -> None:
    os.mkfifo(pipe := tmp_path / "pipe")
    assert read_whole(pipe) == b""
    ends = os.pipe()
    late = threading.Timer(0.1, lambda: (os.write(ends[1], b"late"), os.close(ends[1])))
    late.start()
    assert read_whole(Path(f"/dev/fd/{ends[0]}")) == b"late"
    late.join()
    os.close(ends[0])


@pytest.mark.parametrize(
    ("platform", "held", "writes"), [("win32", 3, True), ("win32", 90, False), ("linux", 1, False)]
)
def test_a_file_that_another_program_has_open_is_replaced_as_soon_as_it_lets_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, platform: str, held: int, writes: bool
) -> None:
    path, replace, refusals, waited = tmp_path / "file", Path.replace, [0], [0.0]
    path.write_bytes(b"old")

    def replaced(temporary: Path, target: Path) -> Path:
        refusals[0] += 1
        if refusals[0] <= held:
            raise PermissionError(13, "The process cannot access the file, which is used by another process")
        return replace(temporary, target)

    def sleep(seconds: float) -> None:
        waited[0] += seconds

    monkeypatch.setattr(Path, "replace", replaced)
    monkeypatch.setattr("time.sleep", sleep)
    monkeypatch.setattr("time.monotonic", lambda: waited[0])
    monkeypatch.setattr(sys, "platform", platform)
    with nullcontext() if writes else pytest.raises(PermissionError, match="used by another"):
        write_atomically(path, b"new")
    assert [each.read_bytes() for each in tmp_path.iterdir()] == [b"new" if writes else b"old"]


def test_a_line_is_added_behind_one_that_was_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    append_line(path, b"one\n")
    path.write_bytes(path.read_bytes() + b"cut o")
    append_line(path, b"two\n")
    append_line(path, b"three\n")
    assert path.read_bytes() == b"one\ncut o\ntwo\nthree\n"


def test_a_line_that_the_disk_does_not_take_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    path = tmp_path / "lines"
    append_line(path, b"one\n")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        append_line(path, b"two\n")
    assert path.read_bytes() == b"one\n"
    append_line(path, b"two\n", sync=False)
    assert path.read_bytes() == b"one\ntwo\n"


@pytest.mark.parametrize("full", [False, True])
def test_a_disk_that_does_not_clear_away_either_says_what_it_said_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, full: bool
) -> None:
    def refuse(*_given: object, **_named: object) -> None:
        raise OSError(5, "Input/output error")

    def sync(_descriptor: int) -> None:
        if full:
            raise OSError(28, "No space left on device")

    path = tmp_path / "file"
    monkeypatch.setattr(Path, "unlink", refuse)
    monkeypatch.setattr(os, "fsync", sync)
    with pytest.raises(OSError, match="No space left") if full else nullcontext() as error:
        write_atomically(path, b"new")
    assert path.exists() is not full
    assert error is None or error.value.filename == str(path)
