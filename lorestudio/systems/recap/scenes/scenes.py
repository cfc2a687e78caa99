"""Scenes: breaks on messages, the ranges between them, the versions of their recaps, and what locks a scene.

A break stands on the last message of its scene (rules: recap-memory 1, 11, 13). A recap is a text, or the lists of four
steps; models spell those in many ways, and what is stored has one shape (rules: recap-memory 13.2, 21.3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from msgspec import Struct

from lorestudio.domain.javascript import Json, base36, code_units, head, length, to_string, trim, truthy
from lorestudio.domain.json_text import items_in, json_or_none, mapping_in, number_in, object_in, spell, text_in
from lorestudio.systems.recap.records import Record, get_data, namespace, set_data, with_values

Range: TypeAlias = tuple[int, int]
"""First and last position, both included."""

CHECKED: Final = "auto_scene_break_checked"
"""The messages of a range that was looked through for breaks already."""

PINNED_HIDDEN: Final = "pinned_hidden"
"""A message that a person hid and that hiding by scenes is not to show; our own, the original does not know it."""

_OF_A_BREAK: Final = (
    "scene_break", "scene_break_visible", "scene_break_name", "scene_break_recap", "scene_recap_memory",
    "scene_recap_hash", "scene_recap_metadata", "scene_break_collapsed", "scene_recap_versions",
    "scene_recap_current_index",
)  # fmt: skip
"""What clearing a break removes; whether the message was looked through stays."""


def is_break(message: Record) -> bool:
    """Whether the message has a break, shown or hidden."""
    return truthy(get_data(message, "scene_break"))


def is_visible_break(message: Record) -> bool:
    """Whether the message ends a scene: a break whose visibility nobody said counts as visible."""
    data = namespace(message)
    return truthy(data.get("scene_break")) and ("scene_break_visible" not in data or data["scene_break_visible"] is None
                                                or truthy(data["scene_break_visible"]))  # fmt: skip


def has_recap(message: Record) -> bool:
    """Whether the message carries a scene recap."""
    return truthy(get_data(message, "scene_recap_memory"))


def recap_of(message: Record) -> str:
    """The scene recap that the message carries, as it is stored; empty without one."""
    return text_in(get_data(message, "scene_recap_memory"))


def name_of(message: Record, where: Range) -> str:
    """What the scene of a break is called, by its messages where it has no name."""
    return text_in(get_data(message, "scene_break_name")) or f"Scene {where[0]}-{where[1]}"


def visible_breaks(messages: Sequence[Record]) -> tuple[int, ...]:
    """Positions of the breaks that end a scene, in order."""
    return tuple(index for index, message in enumerate(messages) if is_visible_break(message))


def scene_recaps(messages: Sequence[Record]) -> tuple[int, ...]:
    """Positions of all scene recaps, whether their break is visible or not (rules: recap-memory 14.2)."""
    return tuple(index for index, message in enumerate(messages) if has_recap(message))


def generation_range(breaks: Sequence[int], index: int, scenes: int) -> Range:
    """The range of the last `scenes` scenes as the reference generates from it: bookmarks end scenes, too."""
    before = [place for place in breaks if place <= index]
    return (before[-scenes - 1] + 1 if scenes >= 0 and len(before) > scenes else 0, index)


def display_range(breaks: Sequence[int], recaps: Sequence[int], index: int) -> Range:
    """From behind the nearest earlier visible break that has a recap; bookmarks are passed over."""
    earlier = [place for place in breaks if place < index]
    return scene_ranges([*earlier, index], recaps)[index]


def scene_ranges(breaks: Sequence[int], recaps: Sequence[int]) -> dict[int, Range]:
    """What is displayed of the scene of each break."""
    known, start = frozenset(recaps), 0
    found: dict[int, Range] = {}
    for index in breaks:
        found[index] = start, index
        start = index + 1 if index in known else start
    return found


def effective_range(breaks: Sequence[int], recaps: Sequence[int], index: int, scenes: int) -> Range:
    """What a recap is made from: for one scene what is displayed, so that no message is left out."""
    return display_range(breaks, recaps, index) if scenes == 1 else generation_range(breaks, index, scenes)


class SceneLock(Struct, frozen=True):
    """Why a scene must not change: its own recap went into the running one, or a later one's did."""

    by_itself: bool = False
    by_later: bool = False

    @property
    def locked(self) -> bool:
        """Whether it is locked at all."""
        return self.by_itself or self.by_later


def is_combined(message: Record) -> bool:
    """Whether the current version of the scene's recap was combined into the running recap."""
    data = namespace(message)
    versions = object_in(data, "scene_recap_metadata")
    return truthy(object_in(versions, str(current_index(message))).get("combined_at"))


def current_index(message: Record) -> int:
    """Which version of the scene recap is in force; 0 where nothing says it."""
    return int(number_in(get_data(message, "scene_recap_current_index")) or 0)


def locks(messages: Sequence[Record]) -> dict[int, SceneLock]:
    """Every break with what locks it."""
    found: dict[int, SceneLock] = {}
    later = False
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if not is_break(message):
            continue
        combined = is_combined(message)
        found[index] = SceneLock(combined, later)
        later = later or (combined and has_recap(message))
    return dict(sorted(found.items()))


def toggle(messages: Sequence[Record], index: int) -> tuple[Record, ...]:
    """Set, hide or show a break. Hiding one makes the following scene count as not looked through any more.

    A hidden break keeps its recap.
    """
    result = list(messages)
    message = result[index]
    if not is_break(message):
        result[index] = with_values(message, {"scene_break": True, "scene_break_visible": True})
        return tuple(result)
    shown = is_visible_break(message)
    result[index] = set_data(message, "scene_break_visible", not shown)
    if shown:
        after = (place for place in range(index + 1, len(result)) if is_visible_break(result[place]))
        unchecked(result, index, next(after, len(result)))
    return tuple(result)


def unchecked(messages: list[Record], start: int, stop: int) -> None:
    """Make messages from `start` up to but without `stop` count as not looked through, in the given list."""
    for place in range(max(start, 0), min(stop, len(messages))):
        if truthy(get_data(messages[place], CHECKED)):
            messages[place] = set_data(messages[place], CHECKED, value=False)


def checked(messages: Sequence[Record], first: int, last: int) -> tuple[Record, ...]:
    """The messages with those of a range counting as looked through."""
    return tuple(
        set_data(message, CHECKED, value=True) if first <= place <= last else message
        for place, message in enumerate(messages)
    )


def cleared(message: Record) -> Record:
    """The message without its break and everything that belongs to it."""
    return with_values(message, {}, without=_OF_A_BREAK)


def with_visibility(messages: Sequence[Record]) -> tuple[Record, ...]:
    """Every break says whether it is visible, as after the original has drawn it."""
    return tuple(
        set_data(message, "scene_break_visible", value=True)
        if is_break(message) and get_data(message, "scene_break_visible") is None
        else message
        for message in messages
    )


LONGEST_NAME: Final = 50
_QUOTES: Final = "\"'"
_LEFT_EMPTY: Final = ("allEntries", "entries", "created_entry_uids")


def recap_hash(text: str) -> str:
    """The fingerprint of a recap: the trimmed text through a 32-bit hash, in base 36 (rules: recap-memory 13.6)."""
    units = code_units(trim(text))
    value = 0
    for place in range(0, len(units), 2):
        value = (31 * value + units[place] + 256 * units[place + 1]) & 0xFFFFFFFF
    signed = value - 2**32 if value >= 2**31 else value
    return base36(abs(signed))


class SceneVersions(Struct, frozen=True):
    """The versions of one scene's recap, oldest first, and which is in force."""

    texts: tuple[str, ...] = ()
    current: int = 0

    @property
    def words(self) -> str:
        """`2/3`, or nothing without versions."""
        return f"{self.current + 1}/{len(self.texts)}" if self.texts else ""


def versions_of(message: Record) -> SceneVersions:
    """The versions on a break; a recap that came without any, or with one empty version, is the first."""
    stored, recap = namespace(message).get("scene_recap_versions"), text_in(get_data(message, "scene_break_recap"))
    texts = tuple(text_in(item) for item in stored) if isinstance(stored, list | tuple) else ()
    return SceneVersions((recap,) if recap and texts in ((), ("",)) else texts, current_index(message))


def scene_name(recap: str, existing: str | None, where: Range, *, append_range: bool) -> str | None:
    """The name of a scene: the one it has, or the one its recap gives as JSON; None where it gives none."""
    if existing:
        return existing
    named = _named(as_object(recap))
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
        values["scene_recap_metadata"] = {**object_in(data, "scene_recap_metadata"), str(len(texts) - 1): described}
    named = scene_name(recap, text_in(data.get("scene_break_name")) or None, where, append_range=append_range)
    if named is not None and not truthy(data.get("scene_break_name")):
        values["scene_break_name"] = named
    return with_values(message, values)


def edited(message: Record, text: str) -> Record:
    """The break with another text for its current version; JSON is written compactly."""
    versions = versions_of(message)
    written = _compact(text)
    place = max(min(versions.current, len(versions.texts) - 1), 0)
    texts = [*versions.texts[:place], written, *versions.texts[place + 1 :]]
    values: dict[str, Json] = {"scene_recap_versions": texts, "scene_recap_current_index": place}
    return with_values(message, {**values, **_mirrored(written)})


def turned(message: Record, step: int) -> Record:
    """The break with the version `step` further on in force; the same object at either end."""
    versions = versions_of(message)
    place = versions.current + step
    if not 0 <= place < len(versions.texts):
        return message
    return with_values(message, {"scene_recap_current_index": place, **_mirrored(versions.texts[place])})


def with_combined(message: Record, now_ms: int | None) -> Record:
    """The break whose current version is part of the running recap since `now_ms`, and so locked; None for no more."""
    data = namespace(message)
    every = object_in(data, "scene_recap_metadata")
    key = str(current_index(message))
    marked = {name: value for name, value in object_in(every, key).items() if name != "combined_at"}
    if now_ms is not None:
        marked["combined_at"] = now_ms
    return with_values(message, {"scene_recap_metadata": {**every, key: marked}})


def _mirrored(recap: str) -> dict[str, Json]:
    """The recap in force under all of its names, and its fingerprint."""
    return {"scene_break_recap": recap, "scene_recap_memory": recap, "scene_recap_hash": recap_hash(recap)}


def _named(recap: Mapping[str, Json]) -> str | None:
    """The first text among `sn`, `scene_name` and the first stage's `sn`; an empty one ends the search."""
    stage = recap.get("stage1")
    for value in (recap.get("sn"), recap.get("scene_name"), mapping_in(stage).get("sn")):
        if isinstance(value, str):
            return value
    return None


def _compact(text: str) -> str:
    value = json_or_none(text)
    return spell(value) if isinstance(value, Mapping | list) else text


def as_object(recap: str) -> Mapping[str, Json]:
    """A recap's JSON object, empty where it is plain text."""
    return mapping_in(json_or_none(recap))


LISTS: Final = ("developments", "open", "state", "resolved")
_FACETS: Final = (
    "plot", "goals", "reveals", "state", "tone", "stance", "voice", "quotes", "appearance", "verbatim", "docs",
)  # fmt: skip


def text_lines(value: Json) -> list[Json]:
    """A list of texts from a text or a list; what is blank goes."""
    if isinstance(value, str):
        return [trim(value)] if trim(value) else []
    if isinstance(value, list | tuple):
        found = [trim(item if isinstance(item, str) else spell(item)) for item in value if item is not None]
        return [text for text in found if text]
    return []


def stage_entity(value: Json) -> dict[str, Json] | None:
    """One entity under its full names, None where it is none."""
    if not isinstance(value, Mapping):
        return None
    content = _first(value, "content", "c")
    found: dict[str, Json] = {
        "type": text_in(_first(value, "type", "t")) or "unknown",
        "name": text_in(_first(value, "name", "n")),
        "keywords": text_lines(_first(value, "keywords", "k", "keys")),
        "content": text_lines(content),
    }
    uid = _first(value, "uid", "u")
    return found if uid is None else {**found, "uid": uid}


def stage_entities(value: Json) -> list[Json]:
    """The entities of a list."""
    return [found for item in items_in(value) if (found := stage_entity(item)) is not None]


def extracted_stage(value: Json) -> dict[str, Json]:
    """Step 1: `{sn, extracted}`. Raises ValueError where there is nothing in it."""
    stored = mapping_in(value)
    name = text_in(stored.get("sn"))
    listed: Sequence[Json]
    if isinstance(value, list | tuple):
        listed = text_lines(value)
    elif "extracted" in stored or "chronological_items" in stored:
        listed = text_lines(stored.get("extracted", stored.get("chronological_items")))
    else:
        plot = _first(stored, "plot", "rc", "recap")
        listed = [
            *text_lines(plot),
            *(item for facet in _FACETS if facet != "plot" for item in text_lines(stored.get(facet))),
        ]
    if not listed:
        raise ValueError("The model's extracts are empty.")
    found: dict[str, Json] = {"sn": name, "extracted": list(listed)}
    return {**found, "entities": stage_entities(stored["entities"])} if "entities" in stored else found


def organised_stage(value: Json) -> dict[str, Json]:
    """Step 2: `{sn, recap: {outcomes, threads, state}, entities}`. Raises ValueError where it has no recap."""
    stored = mapping_in(value)
    recap = stored.get("recap")
    if isinstance(recap, Mapping):
        parts = {name: text_lines(recap.get(name)) for name in ("outcomes", "threads", "state")}
    elif "plot" in stored:
        parts = {"outcomes": text_lines(stored["plot"]), "threads": text_lines(stored.get("goals")), "state": []}
    else:
        raise ValueError("The model's answer has no “recap”.")
    recaps: dict[str, Json] = dict(parts)
    return {"sn": text_in(stored.get("sn")), "recap": recaps, "entities": stage_entities(stored.get("entities"))}


def parsed_stage(value: Json) -> dict[str, Json]:
    """Step 3: the four lists, any of which may be empty. Raises ValueError where there is none of them."""
    stored = mapping_in(value)
    recap = stored.get("recap")
    inside = recap if isinstance(recap, Mapping) else stored
    if isinstance(rc := inside.get("rc"), str):
        return {name: text_lines(rc) if name == "developments" else [] for name in LISTS}
    if not any(name in inside for name in LISTS):
        raise ValueError("The model's answer has none of the lists that were asked for.")
    return {name: text_lines(inside.get(name)) for name in LISTS}


def kept_entities(value: Json) -> dict[str, Json]:
    """Step 4: `{entities}`. Raises ValueError where there is no list of them."""
    listed = value if isinstance(value, list | tuple) else mapping_in(value).get("entities")
    if isinstance(listed, list | tuple):
        return {"entities": stage_entities(listed)}
    raise ValueError("The model's answer has no list of entities.")


def recap_in_words(recap: str) -> str:
    """A stored scene recap as text: the last step that it holds, or the plain text that it is."""
    stored = as_object(recap)
    if not stored:
        return trim(recap)
    for stage, names in (("stage3", LISTS), ("stage2", ("outcomes", "threads", "state")), ("stage1", ("extracted",))):
        inside = object_in(stored, stage)
        inside = mapping_in(inside["recap"]) if isinstance(inside.get("recap"), Mapping) else inside
        parts = [(name, "\n".join(to_string(item) for item in text_lines(inside.get(name)))) for name in names]
        text = "\n\n".join(f"{name.upper()}:\n{part}" for name, part in parts if part)
        if text:
            return text
    return trim(text_in(stored.get("recap"))) or trim(recap)


def is_empty_stage3(recap: str) -> bool:
    """Whether the third step found nothing new, so that there is nothing to combine."""
    stage = as_object(recap).get("stage3")
    return isinstance(stage, Mapping) and not any(text_lines(stage.get(name)) for name in LISTS)


def _first(stored: Mapping[str, Json], *names: str) -> Json:
    return next((stored[name] for name in names if stored.get(name) is not None), None)
