"""DeepLore's state of a chat in its metadata, read and put back: pins, blocks, filter, context and notes.

In the chat's file only the header line changes, and in it only the keys that are written; every other byte stays.
Rules: deeplore 0.7; deeplore-tools 4.7.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from lorestudio.domain.entry import Folder, VaultIndex
from lorestudio.domain.javascript import Json, is_finite_number, to_number
from lorestudio.domain.json_text import (
    MOST_NESTED,
    is_deep,
    items_in,
    kind_words,
    mapping_in,
    object_in,
    objects_in,
    text_in,
    texts_in,
)
from lorestudio.domain.records import Terse
from lorestudio.domain.state import ChatControls, EngineState, EntryRule, LoggedGeneration, LoggedInjection
from lorestudio.domain.texts import shorten
from lorestudio.exchange.chats.document import METADATA
from lorestudio.exchange.chats.notepad import NOTEPAD_KEY, PINS_KEY
from lorestudio.exchange.chats.sillytavern import is_header
from lorestudio.exchange.json_file import FileChange, change_of, read_file, set_members
from lorestudio.exchange.problems import InputError
from lorestudio.settings.files import SettingsError, parse_json


class StateKey(Struct, frozen=True):
    """One key of the metadata, the field of `ChatControls` that it holds, and what people call that.

    `read` makes the field's value of any that stands there.
    """

    key: str
    field: str
    title: str
    read: Callable[[Json], Any] = text_in


def _rules(value: Json) -> tuple[EntryRule, ...]:
    rules: list[EntryRule] = []
    for item in items_in(value):
        if isinstance(item, str):
            rules.append(EntryRule(item))
        elif isinstance(item, Mapping):
            rules.append(EntryRule(text_in(item.get("title")), text_in(item.get("vaultSource")) or None))
    return tuple(rules)


def _context(value: Json) -> Mapping[str, Json]:
    return {name: item for name, item in mapping_in(value).items() if not is_deep(item)}


STATE_KEYS: Final = (
    StateKey("deeplore_pins", "pins", "Pins", _rules),
    StateKey("deeplore_blocks", "blocks", "Blocks", _rules),
    StateKey("deeplore_folder_filter", "folders", "Folder filter", texts_in),
    StateKey("deeplore_context", "context", "Context", _context),
    StateKey("deeplore_notebook", "notebook", "Author's notebook"),
    StateKey(NOTEPAD_KEY, "notepad", "AI notepad"),
    StateKey("deeplore_lastScribeSummary", "scribe_summary", "Last session note"),
)


def read_controls(metadata: Mapping[str, Json]) -> ChatControls:
    """The person's choices for the chat; what has another shape than expected counts as not there."""
    return ChatControls(**{each.field: each.read(metadata.get(each.key)) for each in STATE_KEYS})


def read_state(metadata: Mapping[str, Json], seed: int = 0) -> EngineState:
    """The trackers that survive in the metadata; all others start empty, as when the chat is opened."""
    return EngineState(
        random_state=seed,
        injection_log=_log(metadata.get("deeplore_injection_log")),
        chat_counts={
            key: int(count)
            for key, count in object_in(metadata, "deeplore_chat_counts").items()
            if is_finite_number(count)
        },
        swipe_keys={
            place: texts_in(keys) for place, keys in object_in(metadata, "deeplore_swipe_injected_keys").items()
        },
    )


def sign_of_newer(metadata: Mapping[str, Json]) -> str:
    """What in the metadata only DeepLore 2.5 and later writes, "" for nothing (rules: deeplore-newer 4)."""
    if PINS_KEY in metadata:
        return PINS_KEY
    log = _log(metadata.get("deeplore_injection_log"))
    return "vaultSource in deeplore_injection_log" if any(each.vault for one in log for each in one.entries) else ""


def with_controls(
    metadata: Mapping[str, Json], controls: ChatControls, known: Iterable[Folder] = ()
) -> Mapping[str, Json]:
    """The metadata with the person's choices in them; keys that say the same already stay as they are.

    Folders that the vault does not have (`known` are those it has) are no choice and stay in the filter.
    """
    there = read_controls(metadata)
    changes: dict[str, Json] = {}
    for each in STATE_KEYS:
        now, before = getattr(controls, each.field), getattr(there, each.field)
        filtered = each.field == "folders" and now == existing_folders(there.folders, known)
        if now != before and not filtered:
            changes[each.key] = written(each, now, metadata.get(each.key))
    return {**metadata, **changes} if changes else metadata


def written(key: StateKey, value: object, before: Json) -> Json:
    """A choice as DeepLore writes it; rules that stand in the file already keep their spelling there (`before`)."""
    if isinstance(value, Mapping):
        return {name: item for name, item in mapping_in(before).items() if is_deep(item)} | dict(value)
    if not isinstance(value, tuple):
        return str(value)
    return list(value) or None if key.field == "folders" else _written_rules(value, before)


def _written_rules(rules: Sequence[EntryRule], before: Json) -> list[Json]:
    spelled = {known[0]: item for item in items_in(before) if (known := _rules([item]))}
    return [spelled.get(rule, {"title": rule.title, "vaultSource": rule.vault}) for rule in rules]


def existing_folders(folders: Iterable[str], known: Iterable[Folder]) -> tuple[str, ...]:
    """The chosen folders that the index has; all of them while it has no folder at all (rules: deeplore 5.9)."""
    paths = {folder.path for folder in known}
    return tuple(folder for folder in folders if folder in paths) if paths else tuple(folders)


def known_counts(counts: Mapping[str, int], index: VaultIndex) -> dict[str, int]:
    """The chat's counts without those of entries that the index does not have (rules: deeplore 6.1)."""
    keys = {entry.tracker_key for entry in index.entries}
    return {key: count for key, count in counts.items() if key in keys} if keys else dict(counts)


def _log(value: Json) -> tuple[LoggedGeneration, ...]:
    return tuple(map(_generation, objects_in(value)))


def _generation(record: Mapping[str, Json]) -> LoggedGeneration:
    number = to_number(record.get("gen"))
    injections = tuple(
        LoggedInjection(
            text_in(item.get("title")),
            to_number(item.get("pos")),
            to_number(item.get("depth")),
            to_number(item.get("role")),
            text_in(item.get("contentHash")),
            text_in(item.get("vaultSource")),
        )
        for item in objects_in(record.get("entries"))
    )
    return LoggedGeneration(int(number) if math.isfinite(number) else 0, injections)


_SHAPES: Final[Mapping[str, tuple[type | tuple[type, ...], str]]] = {
    "pins": ((list, tuple), "no list, so it counts as empty"),
    "blocks": ((list, tuple), "no list, so it counts as empty"),
    "folders": ((list, tuple), "no list of folders, so all folders are used"),
    "context": (Mapping, "no object of fields and values, so it counts as empty"),
}
_TEXT: Final = (str, "no text, so it counts as empty")


def control_problems(metadata: Mapping[str, Json]) -> tuple[str, ...]:
    """A sentence for each part of the metadata that `read_controls` has to pass over, in the order of the keys."""
    there = ((each, metadata.get(each.key)) for each in STATE_KEYS)
    return tuple(problem for each, value in there if value is not None for problem in _problems(each, value))


def _problems(each: StateKey, value: Json) -> Iterator[str]:
    shape, otherwise = _SHAPES.get(each.field, _TEXT)
    if not isinstance(value, shape):
        yield f"{each.key} is {kind_words(value)} and {otherwise}."
    elif isinstance(value, Mapping):
        for name, item in value.items():
            if is_deep(item):
                yield f"{each.key}, field “{name}”: it is nested more than {MOST_NESTED} deep, so it counts as empty."
                continue
            items = item if isinstance(item, list | tuple) else [item]
            if any(isinstance(one, Mapping | list | tuple) for one in items):
                yield f"{each.key}, field “{name}”: its value is {kind_words(item)}; write a text or a list of texts."
    elif isinstance(value, list | tuple):
        told = _folder_problem if each.field == "folders" else _rule_problem
        for number, item in enumerate(value, start=1):
            if problem := told(item):
                yield f"{each.key}, item {number}: {problem}."


def _folder_problem(item: Json) -> str:
    return "" if isinstance(item, str) else f"it is {kind_words(item)} and no folder, so it is passed over"


def _rule_problem(item: Json) -> str:
    if isinstance(item, Mapping):
        title = item.get("title")
        return "" if isinstance(title, str) and title else "it has no title, so it fits no entry"
    if not isinstance(item, str):
        return f"it is {kind_words(item)} and names no entry, so it is passed over"
    return "" if item else "the title is empty, so it fits no entry"


ADVICE: Final = "Close the chat in SillyTavern first: it writes the whole file again when something is said in it."


class StateChange(Struct, frozen=True):
    """One key that would be written. `clashes` says that the file holds another value than the one that was changed."""

    key: StateKey
    before: str
    after: str
    clashes: bool = False


class StatePlan(Terse, frozen=True):
    """What writing the state would do. `file` is None where nothing would change."""

    unprinted = ("file",)

    changes: tuple[StateChange, ...]
    file: FileChange | None = None


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
    return shorten(str(value), 80) or "none"


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
