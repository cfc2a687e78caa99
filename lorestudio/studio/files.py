"""Writing results: all or nothing."""

from __future__ import annotations

from pathlib import Path

from lorestudio.exchange.problems import InputError
from lorestudio.settings.files import write_atomically


def write_text(path: Path, text: str) -> None:
    """Write `text` as UTF-8; the file is whole or as it was before. Raises InputError where it cannot be written."""
    try:
        write_atomically(path, text.encode("utf-8", "surrogatepass"))
    except OSError as error:
        raise InputError(path, f"the file cannot be written: {error.strerror or error}.") from error
