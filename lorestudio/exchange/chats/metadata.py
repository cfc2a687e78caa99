"""DeepLore's per-chat state in a chat's metadata (rules: deeplore 0.7; deeplore-tools 4.7)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from lorestudio.domain.entry import Folder, VaultIndex
from lorestudio.domain.javascript import Json, to_number
from lorestudio.domain.state import ChatControls, EngineState, EntryRule, LoggedGeneration, LoggedInjection


def read_controls(metadata: Mapping[str, Json]) -> ChatControls:
    """The person's choices for the chat; what has another shape than expected counts as not there."""
    return ChatControls(
        pins=_rules(metadata.get("deeplore_pins")),
        blocks=_rules(metadata.get("deeplore_blocks")),
        folders=_texts(metadata.get("deeplore_folder_filter")),
        context=_mapping(metadata.get("deeplore_context")),
        notebook=_text(metadata.get("deeplore_notebook")),
        notepad=_text(metadata.get("deeplore_ai_notepad")),
        scribe_summary=_text(metadata.get("deeplore_lastScribeSummary")),
    )


def read_state(metadata: Mapping[str, Json], seed: int = 0) -> EngineState:
    """The trackers that survive in the metadata; all others start empty, as when the chat is opened."""
    return EngineState(
        random_state=seed,
        injection_log=_log(metadata.get("deeplore_injection_log")),
        chat_counts={
            key: int(count)
            for key, count in _mapping(metadata.get("deeplore_chat_counts")).items()
            if isinstance(count, int | float) and not isinstance(count, bool) and math.isfinite(count)
        },
        swipe_keys={
            place: _texts(keys) for place, keys in _mapping(metadata.get("deeplore_swipe_injected_keys")).items()
        },
    )


def with_controls(
    metadata: Mapping[str, Json], controls: ChatControls, known: Iterable[Folder] = ()
) -> Mapping[str, Json]:
    """The metadata with the person's choices in them; keys that say the same already stay as they are.

    Folders that the vault does not have (`known` are those it has) are no choice and stay in the filter.
    """
    there = read_controls(metadata)
    changes: dict[str, Json] = {}
    for key, now, before in (
        ("deeplore_pins", controls.pins, there.pins),
        ("deeplore_blocks", controls.blocks, there.blocks),
    ):
        if now != before:
            changes[key] = written_rules(now, metadata.get(key))
    if controls.folders not in (there.folders, existing_folders(there.folders, known)):
        changes["deeplore_folder_filter"] = list(controls.folders) or None
    if controls.context != there.context:
        changes["deeplore_context"] = controls.context
    texts = (
        ("deeplore_notebook", controls.notebook, there.notebook),
        ("deeplore_ai_notepad", controls.notepad, there.notepad),
        ("deeplore_lastScribeSummary", controls.scribe_summary, there.scribe_summary),
    )
    changes |= {key: text for key, text, before in texts if text != before}
    return {**metadata, **changes} if changes else metadata


def written_rules(rules: Sequence[EntryRule], before: Json) -> list[Json]:
    """Rules as DeepLore writes them; those that stand in the file already keep their spelling there."""
    spelled = {known[0]: item for item in (before if isinstance(before, list) else ()) if (known := _rules([item]))}
    return [spelled.get(rule, {"title": rule.title, "vaultSource": rule.vault}) for rule in rules]


def existing_folders(folders: Iterable[str], known: Iterable[Folder]) -> tuple[str, ...]:
    """The chosen folders that the index has; all of them while it has no folder at all (rules: deeplore 5.9)."""
    paths = {folder.path for folder in known}
    return tuple(folder for folder in folders if folder in paths) if paths else tuple(folders)


def known_counts(counts: Mapping[str, int], index: VaultIndex) -> dict[str, int]:
    """The chat's counts without those of entries that the index does not have (rules: deeplore 6.1)."""
    keys = {entry.tracker_key for entry in index.entries}
    return {key: count for key, count in counts.items() if key in keys} if keys else dict(counts)


def _rules(value: Json) -> tuple[EntryRule, ...]:
    rules: list[EntryRule] = []
    for item in value if isinstance(value, list | tuple) else ():
        if isinstance(item, str):
            rules.append(EntryRule(item))
        elif isinstance(item, Mapping):
            vault = item.get("vaultSource")
            rules.append(EntryRule(_text(item.get("title")), vault if isinstance(vault, str) and vault else None))
    return tuple(rules)


def _log(value: Json) -> tuple[LoggedGeneration, ...]:
    records: list[LoggedGeneration] = []
    for record in value if isinstance(value, list | tuple) else ():
        if isinstance(record, Mapping):
            entries = record.get("entries")
            injections = [
                LoggedInjection(
                    _text(item.get("title")),
                    to_number(item.get("pos")),
                    to_number(item.get("depth")),
                    to_number(item.get("role")),
                    _text(item.get("contentHash")),
                )
                for item in (entries if isinstance(entries, list | tuple) else ())
                if isinstance(item, Mapping)
            ]
            number = to_number(record.get("gen"))
            records.append(LoggedGeneration(int(number) if math.isfinite(number) else 0, tuple(injections)))
    return tuple(records)


def _texts(value: Json) -> tuple[str, ...]:
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list | tuple) else ()


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""


def _mapping(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else {}


def control_problems(metadata: Mapping[str, Json]) -> tuple[str, ...]:
    """A sentence for each part of the metadata that `read_controls` has to pass over, in the order of the keys."""
    return (
        *_rule_problems(metadata, "deeplore_pins"),
        *_rule_problems(metadata, "deeplore_blocks"),
        *_folder_problems(metadata),
        *_context_problems(metadata),
        *(
            f"{key} is {_kind(metadata[key])} and no text, so it counts as empty."
            for key in ("deeplore_notebook", "deeplore_ai_notepad", "deeplore_lastScribeSummary")
            if metadata.get(key) is not None and not isinstance(metadata[key], str)
        ),
    )


def _rule_problems(metadata: Mapping[str, Json], key: str) -> Iterator[str]:
    value = metadata.get(key)
    if value is None:
        return
    if not isinstance(value, list | tuple):
        yield f"{key} is {_kind(value)} and no list, so it counts as empty."
        return
    for number, item in enumerate(value, start=1):
        if isinstance(item, Mapping):
            title = item.get("title")
            if not isinstance(title, str) or not title:
                yield f"{key}, item {number}: it has no title, so it fits no entry."
        elif not isinstance(item, str):
            yield f"{key}, item {number}: it is {_kind(item)} and names no entry, so it is passed over."
        elif not item:
            yield f"{key}, item {number}: the title is empty, so it fits no entry."


def _folder_problems(metadata: Mapping[str, Json]) -> Iterator[str]:
    key = "deeplore_folder_filter"
    value = metadata.get(key)
    if value is None:
        return
    if not isinstance(value, list | tuple):
        yield f"{key} is {_kind(value)} and no list of folders, so all folders are used."
        return
    for number, item in enumerate(value, start=1):
        if not isinstance(item, str):
            yield f"{key}, item {number}: it is {_kind(item)} and no folder, so it is passed over."


def _context_problems(metadata: Mapping[str, Json]) -> Iterator[str]:
    key = "deeplore_context"
    value = metadata.get(key)
    if value is None:
        return
    if not isinstance(value, Mapping):
        yield f"{key} is {_kind(value)} and no object of fields and values, so it counts as empty."
        return
    for name, item in value.items():
        items = item if isinstance(item, list | tuple) else [item]
        if any(isinstance(each, Mapping | list | tuple) for each in items):
            yield f"{key}, field “{name}”: its value is {_kind(item)}; write a text or a list of texts."


def _kind(value: Json) -> str:
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "a text"
    return "an object" if isinstance(value, Mapping) else "a list"
