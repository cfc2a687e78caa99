"""The four steps of a scene recap in lists, and readers that take any of their results (spec: recap-memory 13.2, 21.3).

Models spell the same thing in many ways; what is stored has one shape. A scene with nothing new gives empty lists,
which the reference would ask for again and again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from lorestudio.domain.javascript import Json, to_string, trim
from lorestudio.domain.json_text import spell
from lorestudio.systems.recap.records import mapping, text_of
from lorestudio.systems.recap.scenes import as_object

LISTS: Final = ("developments", "open", "state", "resolved")
_FACETS: Final = (
    "plot", "goals", "reveals", "state", "tone", "stance", "voice", "quotes", "appearance", "verbatim", "docs",
)  # fmt: skip


def lines(value: Json) -> list[Json]:
    """A list of texts from a text or a list; what is blank goes."""
    if isinstance(value, str):
        return [trim(value)] if trim(value) else []
    if isinstance(value, list | tuple):
        found = [trim(item if isinstance(item, str) else spell(item)) for item in value if item is not None]
        return [text for text in found if text]
    return []


def entity(value: Json) -> dict[str, Json] | None:
    """One entity under its full names, None where it is none."""
    if not isinstance(value, Mapping):
        return None
    content = _first(value, "content", "c")
    found: dict[str, Json] = {
        "type": text_of(_first(value, "type", "t")) or "unknown",
        "name": text_of(_first(value, "name", "n")),
        "keywords": lines(_first(value, "keywords", "k", "keys")),
        "content": lines(content),
    }
    uid = _first(value, "uid", "u")
    return found if uid is None else {**found, "uid": uid}


def entities(value: Json) -> list[Json]:
    """The entities of a list."""
    listed = value if isinstance(value, list | tuple) else []
    return [found for item in listed if (found := entity(item)) is not None]


def extracted(value: Json) -> dict[str, Json]:
    """Step 1: `{sn, extracted}`. Raises ValueError where there is nothing in it."""
    stored = mapping(value)
    name = text_of(stored.get("sn"))
    listed: Sequence[Json]
    if isinstance(value, list | tuple):
        listed = lines(value)
    elif "extracted" in stored or "chronological_items" in stored:
        listed = lines(stored.get("extracted", stored.get("chronological_items")))
    else:
        plot = _first(stored, "plot", "rc", "recap")
        listed = [*lines(plot), *(item for facet in _FACETS if facet != "plot" for item in lines(stored.get(facet)))]
    if not listed:
        raise ValueError("The model's extracts are empty.")
    found: dict[str, Json] = {"sn": name, "extracted": list(listed)}
    return {**found, "entities": entities(stored["entities"])} if "entities" in stored else found


def organised(value: Json) -> dict[str, Json]:
    """Step 2: `{sn, recap: {outcomes, threads, state}, entities}`. Raises ValueError where it has no recap."""
    stored = mapping(value)
    recap = stored.get("recap")
    if isinstance(recap, Mapping):
        parts = {name: lines(recap.get(name)) for name in ("outcomes", "threads", "state")}
    elif "plot" in stored:
        parts = {"outcomes": lines(stored["plot"]), "threads": lines(stored.get("goals")), "state": []}
    else:
        raise ValueError("The model's answer has no “recap”.")
    recaps: dict[str, Json] = dict(parts)
    return {"sn": text_of(stored.get("sn")), "recap": recaps, "entities": entities(stored.get("entities"))}


def filtered(value: Json) -> dict[str, Json]:
    """Step 3: the four lists, any of which may be empty. Raises ValueError where there is none of them."""
    stored = mapping(value)
    recap = stored.get("recap")
    inside = recap if isinstance(recap, Mapping) else stored
    if isinstance(rc := inside.get("rc"), str):
        return {name: lines(rc) if name == "developments" else [] for name in LISTS}
    if not any(name in inside for name in LISTS):
        raise ValueError("The model's answer has none of the lists that were asked for.")
    return {name: lines(inside.get(name)) for name in LISTS}


def kept_entities(value: Json) -> dict[str, Json]:
    """Step 4: `{entities}`. Raises ValueError where there is no list of them."""
    listed = value if isinstance(value, list | tuple) else mapping(value).get("entities")
    if isinstance(listed, list | tuple):
        return {"entities": entities(listed)}
    raise ValueError("The model's answer has no list of entities.")


def recap_in_words(recap: str) -> str:
    """A stored scene recap as text: the last step that it holds, or the plain text that it is."""
    stored = as_object(recap)
    if not stored:
        return trim(recap)
    for stage, names in (("stage3", LISTS), ("stage2", ("outcomes", "threads", "state")), ("stage1", ("extracted",))):
        inside = mapping(stored.get(stage))
        inside = mapping(inside["recap"]) if isinstance(inside.get("recap"), Mapping) else inside
        parts = [(name, "\n".join(to_string(item) for item in lines(inside.get(name)))) for name in names]
        text = "\n\n".join(f"{name.upper()}:\n{part}" for name, part in parts if part)
        if text:
            return text
    return trim(text_of(stored.get("recap"))) or trim(recap)


def is_empty_stage3(recap: str) -> bool:
    """Whether the third step found nothing new, so that there is nothing to combine."""
    stage = as_object(recap).get("stage3")
    return isinstance(stage, Mapping) and not any(lines(stage.get(name)) for name in LISTS)


def _first(stored: Mapping[str, Json], *names: str) -> Json:
    return next((stored[name] for name in names if stored.get(name) is not None), None)
