"""Writing results: all or nothing, and the folders that are the studio's own."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from lorestudio.domain.resources import OWN_FOLDERS
from lorestudio.exchange.problems import InputError
from lorestudio.settings.files import write_atomically
from lorestudio.vault.files import LOOK_THERE, refused


def write_bytes(path: Path, data: bytes) -> None:
    """Write `data`; the file is whole or as it was before. Raises InputError where it cannot be written."""
    with refused(partial(InputError, path), f"the file cannot be written: {{reason}}. {LOOK_THERE}"):
        write_atomically(path, data)


def own_folders() -> dict[str, Path]:
    """Where the studio keeps settings, profiles, runs and memories, by what people call these folders."""
    return {
        "Settings folder": OWN_FOLDERS.user_config_path,
        "Data folder": OWN_FOLDERS.user_data_path,
        "Cache folder": OWN_FOLDERS.user_cache_path,
    }
