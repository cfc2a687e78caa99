from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from lorestudio.exchange.problems import InputError
from lorestudio.studio.project.files import write_bytes


def test_a_file_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_bytes(b"old")
    write_bytes(path, b"new\n")
    assert path.read_bytes() == b"new\n"
    assert [item.name for item in tmp_path.iterdir()] == ["out.jsonl"]


def test_what_cannot_be_written_is_said_and_nothing_is_left_behind(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match="the file cannot be written") as caught:
        write_bytes(tmp_path / "folder", b"x")
    assert caught.value.source == tmp_path / "folder"
    assert [item.name for item in tmp_path.iterdir()] == ["folder"]


@pytest.mark.skipif(sys.platform == "win32", reason="there are no named pipes")
def test_what_is_no_file_is_never_replaced(tmp_path: Path) -> None:
    os.mkfifo(pipe := tmp_path / "pipe")
    (link := tmp_path / "link").symlink_to(pipe)
    for path in (pipe, link):
        with pytest.raises(InputError, match="a device or a pipe"):
            write_bytes(path, b"x")
    assert pipe.is_fifo()
    assert sorted(item.name for item in tmp_path.iterdir()) == ["link", "pipe"]
