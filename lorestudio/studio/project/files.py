"""Writing results: all or nothing."""

from __future__ import annotations

from pathlib import Path

from lorestudio.exchange.problems import InputError
from lorestudio.settings.files import write_atomically


def write_bytes(path: Path, data: bytes) -> None:
    """Write `data`; the file is whole or as it was before. Raises InputError where it cannot be written."""
    try:
        write_atomically(path, data)
    except OSError as error:
        raise InputError(path, f"the file cannot be written: {error.strerror or error}.") from error
