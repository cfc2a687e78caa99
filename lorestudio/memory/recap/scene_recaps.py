"""Recaps of scenes: versions on the break, their names and their fingerprints (spec: recap-memory 13)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from lorestudio.domain.javascript import Json, base36, code_units, head, length, trim, truthy
from lorestudio.llm.json_text import parse_json, spell
from lorestudio.memory.recap.records import Record, mapping, namespace, text_of, with_values
from lorestudio.memory.recap.scenes import Range, current_index

LONGEST_NAME: Final = 50
_QUOTES: Final = "\"'"
_LEFT_EMPTY: Final = ("allEntries", "entries", "created_entry_uids")


def recap_hash(text: str) -> str:
    """The fingerprint of a recap: the trimmed text through a 32-bit hash, in base 36 (spec: recap-memory 13.6)."""
    units = code_units(trim(text))
    value = 0
    for place in range(0, len(units), 2):
        value = (31 * value + units[place] + 256 * units[place + 1]) & 0xFFFFFFFF
    signed = value - 2**32 if value >= 2**31 else value
    return base36(abs(signed))


@dataclass(frozen=True, slots=True)
class SceneVersions:
    """The versions of one scene's recap, oldest first, and which is in force."""

    texts: tuple[str, ...] = ()
    current: int = 0

    @property
    def text(self) -> str:
        """The recap in force, empty where there is none."""
        return self.texts[self.current] if 0 <= self.current < len(self.texts) else ""

    @property
    def words(self) -> str:
        """`2/3`, or nothing without versions."""
        return f"{self.current + 1}/{len(self.texts)}" if self.texts else ""


def versions_of(message: Record) -> SceneVersions:
    """The versions on a break."""
    stored = namespace(message).get("scene_recap_versions")
    texts = tuple(text_of(item) for item in stored) if isinstance(stored, list | tuple) else ()
    return SceneVersions(texts, current_index(message))


def with_first_version(message: Record) -> Record:
    """The break as the original leaves it when it draws it: with one version, empty where there is no recap yet."""
    data = namespace(message)
    recap = text_of(data.get("scene_break_recap"))
    versions = versions_of(message).texts
    if versions and not (versions == ("",) and recap):
        return message
    mirrored = _mirrored(recap)
    del mirrored["scene_break_recap"]  # where it is missing, drawing does not make it
    return with_values(message, {"scene_recap_versions": [recap], "scene_recap_current_index": 0, **mirrored})


def scene_name(recap: str, existing: str | None, where: Range, *, append_range: bool) -> str | None:
    """The name of a scene: the one it has, or the one its recap gives as JSON; None where it gives none."""
    if existing:
        return existing
    try:
        value = parse_json(recap)
    except ValueError:
        return None
    if not isinstance(value, Mapping):
        return None
    named = _named(value)
    if named is None:
        return None
    name = trim(named)
    name = name[1:] if name[:1] and name[0] in _QUOTES else name
    name = name[:-1] if name and name[-1] in _QUOTES else name
    name = trim(name.replace("\r\n", " ").replace("\n", " ").replace("\r", " "))
    if not name:
        return None
    if length(name) > LONGEST_NAME:
        name = head(name, LONGEST_NAME - 3) + "..."
    return f"{name} {where[0]}-{where[1]}" if append_range else name


def with_recap(
    message: Record, recap: str, where: Range, *, append_range: bool, metadata: Mapping[str, Json] | None = None
) -> Record:
    """The break with one more version, which comes into force, and a name where it had none.

    `metadata` is kept for the new version; what it says about lorebook entries comes later.
    """
    data = namespace(message)
    before = versions_of(message).texts
    texts = (*before, recap)
    values: dict[str, Json] = {
        "scene_recap_versions": list(texts),
        "scene_recap_current_index": len(texts) - 1,
        **_mirrored(recap),
    }
    if metadata is not None:
        kept = {name: value for name, value in metadata.items() if name not in (*_LEFT_EMPTY, "entryNames")}
        described = {**kept, **{name: [] for name in _LEFT_EMPTY}}
        values["scene_recap_metadata"] = {**mapping(data.get("scene_recap_metadata")), str(len(texts) - 1): described}
    named = scene_name(recap, text_of(data.get("scene_break_name")) or None, where, append_range=append_range)
    if named is not None and not truthy(data.get("scene_break_name")):
        values["scene_break_name"] = named
    return with_values(message, values)


def edited(message: Record, text: str) -> Record:
    """The break with another text for its current version; JSON is written compactly."""
    versions = versions_of(message)
    written = _compact(text)
    if not versions.texts:
        return with_values(
            message, {"scene_recap_versions": [written], "scene_recap_current_index": 0, **_mirrored(written)}
        )
    place = min(max(versions.current, 0), len(versions.texts) - 1)
    texts = [*versions.texts[:place], written, *versions.texts[place + 1 :]]
    return with_values(message, {"scene_recap_versions": texts, **_mirrored(written)})


def turned(message: Record, step: int) -> Record:
    """The break with the version `step` further on in force; the same object at either end."""
    versions = versions_of(message)
    place = versions.current + step
    if not 0 <= place < len(versions.texts):
        return message
    return with_values(message, {"scene_recap_current_index": place, **_mirrored(versions.texts[place])})


def with_combined(message: Record, now_ms: int) -> Record:
    """The break whose current version is now part of the running recap, and so locked."""
    data = namespace(message)
    every = mapping(data.get("scene_recap_metadata"))
    key = str(current_index(message))
    marked = {**mapping(every.get(key)), "combined_at": now_ms}
    return with_values(message, {"scene_recap_metadata": {**every, key: marked}})


def _mirrored(recap: str) -> dict[str, Json]:
    """The recap in force under all of its names, and its fingerprint."""
    return {"scene_break_recap": recap, "scene_recap_memory": recap, "scene_recap_hash": recap_hash(recap)}


def _named(recap: Mapping[str, Json]) -> str | None:
    """The first text among `sn`, `scene_name` and the first stage's `sn`; an empty one ends the search."""
    stage = recap.get("stage1")
    for value in (recap.get("sn"), recap.get("scene_name"), mapping(stage).get("sn")):
        if isinstance(value, str):
            return value
    return None


def _compact(text: str) -> str:
    try:
        value = parse_json(text)
    except ValueError:
        return text
    return spell(value) if isinstance(value, Mapping | list) else text


def as_object(recap: str) -> Mapping[str, Json]:
    """A recap's JSON object, empty where it is plain text."""
    try:
        value: Json = json.loads(recap)
    except (ValueError, RecursionError):
        return {}
    return mapping(value)
