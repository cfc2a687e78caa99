"""Files that grow by a line of JSON at a time; a damaged line is told and passed over."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from lorestudio.domain.javascript import Json


class JsonLines(Struct, frozen=True):
    """The objects of a file in order, each with its line counted from 1, and sentences about lines that hold none."""

    numbered: tuple[tuple[int, Mapping[str, Json]], ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def records(self) -> tuple[Mapping[str, Json], ...]:
        """The objects alone."""
        return tuple(record for _, record in self.numbered)


def json_line(record: Mapping[str, Json]) -> bytes:
    """One object as a line; halves of surrogate pairs stay as escapes."""
    return json.dumps(record, separators=(",", ":")).encode() + b"\n"


def append_lines(path: Path, records: Sequence[Mapping[str, Json]], *, sync: bool = True) -> None:
    """Add the records at the end of the file, all or none of them; `sync` waits until the disk has them.

    A line that was cut off by a crash is ended first, so that it spoils nothing but itself. Raises OSError; then the
    file is as it was.
    """
    data = b"".join(json_line(record) for record in records)
    with path.open("ab+") as file:
        size = file.seek(0, os.SEEK_END)
        if size:
            file.seek(size - 1)
            if file.read(1) != b"\n":
                data = b"\n" + data
        try:
            file.write(data)
            file.flush()
            if sync:
                os.fsync(file.fileno())
        except OSError:
            with suppress(OSError):
                os.ftruncate(file.fileno(), size)
            raise


def read_lines(path: Path) -> JsonLines:
    """What the file holds; nothing where there is none. Raises OSError."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return JsonLines()
    records: list[tuple[int, Mapping[str, Json]]] = []
    problems: list[str] = []
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            record = None
        if isinstance(record, dict):
            records.append((number, record))
        else:
            problems.append(damaged(path, number))
    return JsonLines(tuple(records), tuple(problems))


def damaged(path: Path, number: int) -> str:
    """A sentence about a line, counted from 1, that says nothing that can be used."""
    return f"“{path}”, line {number} is damaged and was passed over. What is told in the other lines is still there."
