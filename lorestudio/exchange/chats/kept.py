"""Keeping the version of a chat file that is about to be overwritten."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from pathlib import Path

from lorestudio.domain.digests import text_digest
from lorestudio.exchange.problems import InputError
from lorestudio.settings.files import real_path, write_atomically
from lorestudio.vault.data_folder import refused
from lorestudio.vault.writer import digest_of


def keep_version(data: bytes, path: Path, folder: Path | None, now: datetime, *, foreign: bool = False) -> Path | None:
    """Keep `data`, which is what the file at `path` holds; where it is then, None where nothing had to be kept.

    Kept are the first version of each file, and any that is `foreign`: written by others since it was read. Without a
    `folder` none is. Raises InputError where it cannot be kept.
    """
    if folder is None:
        return None
    key = text_digest(str(real_path(path)))[:12]
    own = folder / f"{path.stem[:60]}-{key}"
    if not foreign and own.is_dir() and any(not each.name.startswith(".") for each in own.iterdir()):  # no half ones
        return None
    target = own / f"{file_date(now)}-{digest_of(data)[:8]}{path.suffix}"
    unkept = "nothing was saved, because the version that is there could not be kept ({reason})."
    with refused(partial(InputError, path), unkept):
        write_atomically(target, data)
    return target


def file_date(now: datetime) -> str:
    """A time as SillyTavern has it in names of files: `2024-09-28@14h05m09s`."""
    return f"{now.year}-{now.month:02d}-{now.day:02d}@{now.hour:02d}h{now.minute:02d}m{now.second:02d}s"
