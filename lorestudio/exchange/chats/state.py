"""Putting a chat's pins, blocks, filter, context and notes back into its file (rules: deeplore-tools 4.7).

Only the header line changes, and in it only the keys that are written; every other byte of the file stays.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from msgspec import Struct

from lorestudio.domain.javascript import Json
from lorestudio.domain.state import ChatControls, EntryRule
from lorestudio.exchange.chats.metadata import STATE_KEYS, StateKey, read_controls, written
from lorestudio.exchange.chats.records import METADATA
from lorestudio.exchange.chats.sillytavern import is_header
from lorestudio.exchange.json_file import FileChange, change_of, read_file
from lorestudio.exchange.json_spelling import set_members
from lorestudio.exchange.problems import InputError
from lorestudio.settings.files import SettingsError, parse_json

ADVICE: Final = "Close the chat in SillyTavern first: it writes the whole file again when something is said in it."


class StateChange(Struct, frozen=True):
    """One key that would be written. `clashes` says that the file holds another value than the one that was changed."""

    key: StateKey
    before: str
    after: str
    clashes: bool = False


@dataclass(frozen=True, slots=True)
class StatePlan:
    """What writing the state would do. `file` is None where nothing would change."""

    changes: tuple[StateChange, ...]
    file: FileChange | None = field(default=None, repr=False)


def plan_state(
    path: Path, controls: ChatControls, known: ChatControls, keys: Collection[str] | None = None
) -> StatePlan:
    """What writing the choices that differ from `known`, what was read, into the chat file at `path` would do.

    A key that was not changed here stays as it is in the file, whatever it is there by now; of the changed ones,
    `keys` leaves only these. Nothing is written yet. Raises InputError for a file without a header line.
    """
    data = read_file(path)
    start, end, header = _header(path, data)
    metadata = header.get(METADATA)
    if METADATA in header and not isinstance(metadata, Mapping):
        raise InputError(path, "no object stands here, so nothing is written.", 1, METADATA)
    found = metadata if isinstance(metadata, Mapping) else {}
    there = read_controls(found)
    changes: list[StateChange] = []
    values: dict[str, Json] = {}
    for each in STATE_KEYS:
        ours, before, now = (getattr(one, each.field) for one in (controls, known, there))
        if ours in (before, now) or (keys is not None and each.key not in keys):
            continue
        changes.append(StateChange(each, shown(now), shown(ours), clashes=_differs(each, now, before)))
        values[each.key] = written(each, ours, found.get(each.key))
    if not changes:
        return StatePlan(())
    line = set_members(data[start:end].decode("utf-8"), (METADATA,), values)
    encoded = line.encode("utf-8", "backslashreplace")
    return StatePlan(tuple(changes), change_of(path, data, data[:start] + encoded + data[end:]))


def _differs(key: StateKey, now: object, before: object) -> bool:
    """Whether the file says something else than what was read; folders that the vault does not have were not read."""
    if key.field == "folders" and isinstance(now, tuple) and isinstance(before, tuple):
        return tuple(folder for folder in now if folder in before) != before
    return now != before


def shown(value: object) -> str:
    """A choice in one line: titles, folders, `era = after the flood`, or the beginning of a text."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key} = {_plain(item)}" for key, item in value.items()) or "none"
    if isinstance(value, tuple):
        names = [item.title + (f" ({item.vault})" if item.vault else "") if isinstance(item, EntryRule) else str(item)
                 for item in value]  # fmt: skip
        return ", ".join(names) or "none"
    line = " ".join(str(value).split())
    return (line if len(line) <= 80 else f"{line[:79]}…") or "none"


def _plain(value: object) -> str:
    return " + ".join(map(str, value)) if isinstance(value, Sequence) and not isinstance(value, str) else str(value)


def _header(path: Path, data: bytes) -> tuple[int, int, Mapping[str, Json]]:
    """Where the header line begins and ends, without its line end, and what it holds."""
    start = 3 if data.startswith(b"\xef\xbb\xbf") else 0
    while start < len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        if data[start:end].strip():
            break
        start = end + 1
    else:
        raise InputError(path, "the file is empty.")
    end = start + len(data[start:end].rstrip())
    start += len(data[start:end]) - len(data[start:end].lstrip())
    try:
        record = parse_json(data[start:end], path)
    except SettingsError:
        record = None
    if not isinstance(record, Mapping) or not is_header(record):
        raise InputError(
            path,
            "it has no header line, so there is no place for a chat's choices. SillyTavern keeps those of group chats "
            "in the group's own file, and plain text has none.",
            data.count(b"\n", 0, start) + 1,
        )
    return start, end, record


def state_json(controls: ChatControls) -> str:
    """The choices as JSON under DeepLore's keys, for somebody who puts them in by hand."""
    values = {each.key: written(each, getattr(controls, each.field), None) for each in STATE_KEYS}
    return json.dumps(values, ensure_ascii=False, indent=4) + "\n"
