"""What DeepLore's per-chat choices in a chat's metadata say that cannot be used (spec: deeplore-ai-and-tools 4.7)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lorestudio.domain.javascript import Json


def control_problems(metadata: Mapping[str, Json]) -> tuple[str, ...]:
    """A sentence for each part of the metadata that `read_controls` has to pass over, in the order of the keys."""
    return (
        *_rules(metadata, "deeplore_pins"),
        *_rules(metadata, "deeplore_blocks"),
        *_folders(metadata),
        *_context(metadata),
        *(
            f"{key} is {_kind(metadata[key])} and no text, so it counts as empty."
            for key in ("deeplore_notebook", "deeplore_ai_notepad", "deeplore_lastScribeSummary")
            if metadata.get(key) is not None and not isinstance(metadata[key], str)
        ),
    )


def _rules(metadata: Mapping[str, Json], key: str) -> Iterator[str]:
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


def _folders(metadata: Mapping[str, Json]) -> Iterator[str]:
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


def _context(metadata: Mapping[str, Json]) -> Iterator[str]:
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
