"""Writing results: all or nothing."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from lorestudio.exchange.problems import InputError
from lorestudio.settings.files import write_atomically
from lorestudio.vault.data_folder import refused


def write_bytes(path: Path, data: bytes) -> None:
    """Write `data`; the file is whole or as it was before. Raises InputError where it cannot be written."""
    with refused(partial(InputError, path), "the file cannot be written: {reason}."):
        write_atomically(path, data)
