from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

import pytest

from lorestudio.settings.files import read_whole


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
