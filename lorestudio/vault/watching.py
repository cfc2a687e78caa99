"""Noticing changes in vaults' folders as they happen, or by looking now and then where the system cannot tell."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from pathlib import Path
from typing import Final, TypeAlias

from msgspec import Struct
from watchfiles import Change, awatch

from lorestudio.vault.files import VaultError, reason_of
from lorestudio.vault.folder import Stamp, file_stamp, list_folder

_log = logging.getLogger(__name__)

_Seen: TypeAlias = Mapping[str, Stamp | None] | None
"""Every note's stamp, None for a folder that cannot be listed."""


class WatchTimes(Struct, frozen=True):
    """How quickly things are noticed: debounce in ms, the others in seconds."""

    debounce_ms: int = 400
    """Changes that come within this time of each other are told together; editors write a file in several steps."""
    check_s: float = 1.0
    """How often is checked that a watched folder is still the same one."""
    poll_s: float = 5.0
    retry_s: float = 30.0
    """How long polling goes on before watching is tried again."""


DEFAULT_TIMES: Final = WatchTimes()


async def watch_folder(folder: Path, times: WatchTimes = DEFAULT_TIMES) -> AsyncGenerator[frozenset[str], None]:
    """The names of what changes below the folder, gathered over the debounce time; those with a dot do not count.

    Names are relative to the folder. The first event has none and says that changes are noticed from now on; later ones
    without names say that anything may have changed. It goes on until it is closed or its task is cancelled. A folder
    that cannot be watched is polled, which the log says with the reason, and watching is tried again after a while.
    """
    told = ""
    watched = True  # so that the first round of polling begins with an event
    seen: _Seen = None
    while True:
        reason = f"The folder “{folder}” is not there."
        try:
            async with aclosing(_watch(folder, times)) as events:
                async for changes in events:
                    watched, told = True, ""
                    yield changes
        except (OSError, RuntimeError) as error:
            reason = _reason(folder, error)
        if reason != told:
            _log.warning("%s It is looked at every %g s instead.", reason, times.poll_s)
            told = reason
        if watched:
            watched = False
            seen = await asyncio.to_thread(_stamps, folder)
            yield frozenset()
        rounds = max(1, round(times.retry_s / times.poll_s))
        while rounds:
            await asyncio.sleep(times.poll_s)
            before, seen = seen, await asyncio.to_thread(_stamps, folder)
            if seen != before:
                yield _difference(before, seen)
            # A folder that is back can be watched again at once.
            rounds = 0 if before is None and seen is not None else rounds - 1


async def _watch(folder: Path, times: WatchTimes) -> AsyncGenerator[frozenset[str], None]:
    """Changes as the system tells them; ends when the folder is gone. Raises OSError or RuntimeError."""
    identity = await asyncio.to_thread(_identity, folder)
    if identity is None:
        return
    root = await asyncio.to_thread(folder.resolve)
    events = awatch(
        root,
        watch_filter=None,
        debounce=times.debounce_ms,
        step=min(50, times.debounce_ms),
        rust_timeout=max(1, round(1000 * times.check_s)),
        yield_on_timeout=True,
        ignore_permission_denied=True,
    )
    started = False
    async with aclosing(events):
        async for found in events:
            if await asyncio.to_thread(_identity, folder) != identity:
                return  # the watch is on a folder that was removed or replaced
            if not started:
                started = True
                yield frozenset()
            names = _names(root, found)
            if names:
                yield names


def _names(root: Path, found: set[tuple[Change, str]]) -> frozenset[str]:
    names = set()
    for _, path in found:
        with contextlib.suppress(ValueError):
            parts = Path(path).relative_to(root).parts
            if parts and not any(part.startswith(".") for part in parts):
                names.add("/".join(parts))
    return frozenset(names)


def _identity(folder: Path) -> tuple[int, int] | None:
    try:
        status = folder.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _stamps(folder: Path) -> _Seen:
    try:
        listing = list_folder(folder)
    except VaultError:
        return None
    return {filename: file_stamp(place) for filename, place in listing.found}


def _difference(old: _Seen, new: _Seen) -> frozenset[str]:
    if old is None or new is None:
        return frozenset()
    return frozenset(name for name, _ in old.items() ^ new.items())


def _reason(folder: Path, error: Exception) -> str:
    text = reason_of(error)
    advice = ""
    if "limit" in text or getattr(error, "errno", None) in (28, 24):
        advice = " The system's number of watched files is used up; it can be raised (fs.inotify.max_user_watches)."
    return f"The folder “{folder}” cannot be watched ({text}).{advice}"
