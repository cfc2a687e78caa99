"""What the front ends need to know of recap memory beside a session: its settings, and how far a queue is."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lorestudio.domain.javascript import Json
from lorestudio.exchange.problems import InputError
from lorestudio.memory.recap.worker import QueueProgress
from lorestudio.settings.files import json_bytes, parse_json, read_bytes, write_atomically
from lorestudio.settings.recap import LoadedRecapSettings, RecapSettings, load_recap_settings, recap_declarations

__all__ = ["LoadedRecapSettings", "QueueProgress", "RecapSettings", "keep_recap_settings", "recap_settings"]


def recap_settings(path: Path | None) -> LoadedRecapSettings:
    """The settings of a file, or the ones that come with the program. Raises SettingsError."""
    return LoadedRecapSettings(RecapSettings()) if path is None else load_recap_settings(path)


def keep_recap_settings(path: Path, settings: RecapSettings) -> None:
    """Write the settings that differ from the defaults; keys of the file that are not known here stay.

    Raises SettingsError where the file that is there cannot be read, InputError where it cannot be written.
    """
    there = parse_json(read_bytes(path), path) if path.exists() else {}
    known = recap_declarations()
    names = {each.name for each in known}
    kept = {key: value for key, value in there.items() if key not in names} if isinstance(there, Mapping) else {}
    changed = {each.name: getattr(settings, each.name) for each in known}
    document: dict[str, Json] = kept | {
        each.name: changed[each.name] for each in known if changed[each.name] != each.default
    }
    try:
        write_atomically(path, json_bytes(document))
    except OSError as error:
        raise InputError(path, f"the settings cannot be written: {error.strerror or error}.") from error
