from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

import pytest

from lorestudio.settings.files import append_line, read_whole


def test_a_file_that_is_too_large_is_given_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("lorestudio.settings.files.READ_AT_MOST", 1000)
    (tmp_path / "whole").write_bytes(b"x" * 1000)
    (tmp_path / "more").write_bytes(b"x" * 1001)
    assert len(read_whole(tmp_path / "whole")) == 1000
    with pytest.raises(OSError, match="larger than"):
        read_whole(tmp_path / "more")


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such device")
def test_a_device_is_given_up_sooner_than_a_file() -> None:
    with pytest.raises(OSError, match="larger than 64 MiB"):
        read_whole(Path("/dev/zero"))


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        read_whole(tmp_path)


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
