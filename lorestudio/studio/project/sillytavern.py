"""What of SillyTavern's own folder can be opened here: chats and settings. It is only read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

from lorestudio.exchange.problems import InputError
from lorestudio.settings.files import SettingsError
from lorestudio.settings.store import load
from lorestudio.vault.data_folder import refused

_USERS: Final = ("", "default-user", "data/default-user", "public")
"""Where the files of a user lie below the folder that people name: as it is, or as versions of it arrange it."""


@dataclass(frozen=True, slots=True)
class FoundChat:
    """A chat of an installation; `when` is the time of its file, in UTC."""

    path: Path
    character: str
    when: datetime


@dataclass(frozen=True, slots=True)
class SillyTavernFolder:
    """The chats, the newest first, and the `settings.json`, None where DeepLore's settings are not in it."""

    chats: tuple[FoundChat, ...]
    settings: Path | None = None


def look_into(folder: Path) -> SillyTavernFolder:
    """Find what a folder of SillyTavern has. Raises InputError where there are no chats in it."""
    users = [folder / name for name in _USERS]
    user = next((place for place in users if (place / "chats").is_dir()), None)
    if user is None:
        expected = "expected is a folder with “chats” in it, such as SillyTavern/data/default-user."
        raise InputError(folder, f"this is no folder of SillyTavern: {expected}")
    with refused(partial(InputError, folder), "the chats cannot be listed: {reason}."):
        files = [(path.stat().st_mtime, path) for path in (user / "chats").glob("*/*.jsonl")]
    if not files:
        raise InputError(user / "chats", "there is no chat in this folder yet.")
    chats = [FoundChat(path, path.parent.name, datetime.fromtimestamp(when, UTC)) for when, path in files]
    settings = user / "settings.json"
    return SillyTavernFolder(tuple(sorted(chats, key=lambda chat: chat.when, reverse=True)), _usable(settings))


def _usable(settings: Path) -> Path | None:
    try:
        load(settings)
    except (OSError, SettingsError):
        return None
    return settings
