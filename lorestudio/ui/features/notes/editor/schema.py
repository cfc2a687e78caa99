"""What the form knows about each property of a note: its name, its sort, its range and one line of help.

Source: spec deeplore-engine 1.4 and 1.5. Qt is not needed here.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from lorestudio.domain.entry import FieldDefinition, Position
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.ui.shell.words import number, tr


class FieldKind(StrEnum):
    """How a property is edited."""

    KEYS = "keys"
    TAGS = "tags"
    TITLES = "titles"
    WORDS = "words"
    NUMBER = "number"
    CHOICE = "choice"
    FLAG = "flag"
    LINE = "line"
    SUMMARY = "summary"


@dataclass(frozen=True, slots=True)
class FieldSpec:
    """One property that DeepLore reads. `low` and `high` are its useful range, both included.

    `choices` are the values it may have with what they are called; `icon` is a glyph's name.
    """

    name: str
    title: str
    kind: FieldKind
    help: str
    icon: str = "dot"
    low: float | None = None
    high: float | None = None
    step: float = 1
    choices: tuple[tuple[str, str], ...] = ()
    values: tuple[str, ...] = ()
    flag_default: bool = False


_POSITIONS: Final = (
    ("before", "before the main prompt"),
    ("after", "after the main prompt"),
    ("in_chat", "in the chat"),
)
_ROLES: Final = (("system", "system"), ("user", "user"), ("assistant", "assistant"))

KNOWN: Final[tuple[FieldSpec, ...]] = (
    FieldSpec("keys", "keys", FieldKind.KEYS, "The entry fires when one of these words occurs in the chat.", "key"),
    FieldSpec(
        "refine_keys",
        "refine keys",
        FieldKind.KEYS,
        "At least one of these must occur as well before a key counts.",
        "key",
    ),
    FieldSpec(
        "tags", "tags", FieldKind.TAGS, "Tags sort notes; the entry tag makes a note part of the lorebook.", "tag"
    ),
    FieldSpec(
        "enabled",
        "enabled",
        FieldKind.FLAG,
        "Switched off, the note is left out as if it were not in the vault.",
        "check",
        flag_default=True,
    ),
    FieldSpec("constant", "constant", FieldKind.FLAG, "The entry is part of every prompt, keys or not.", "constant"),
    FieldSpec(
        "priority",
        "priority",
        FieldKind.NUMBER,
        "Who survives the budget: lower numbers go in first.",
        "number",
    ),
    FieldSpec(
        "summary",
        "summary",
        FieldKind.SUMMARY,
        "What the AI reads about the entry when it chooses; say what it is and when to take it.",
        "lines",
    ),
    FieldSpec(
        "requires",
        "requires",
        FieldKind.TITLES,
        "The entry goes in only together with all of these entries.",
        "link",
    ),
    FieldSpec(
        "excludes", "excludes", FieldKind.TITLES, "The entry stays out when one of these entries is in.", "slash"
    ),
    FieldSpec(
        "cascade_links",
        "cascade links",
        FieldKind.TITLES,
        "Entries that come along whenever this one matches.",
        "link",
    ),
    FieldSpec(
        "position", "position", FieldKind.CHOICE, "Where in the prompt the text goes.", "place", choices=_POSITIONS
    ),
    FieldSpec(
        "depth",
        "depth",
        FieldKind.NUMBER,
        "In the chat: how many messages stand below the text; 0 is the very end.",
        "number",
        low=0,
        high=10_000,
    ),
    FieldSpec("role", "role", FieldKind.CHOICE, "Who speaks the text in the chat.", "place", choices=_ROLES),
    FieldSpec(
        "outlet",
        "outlet",
        FieldKind.LINE,
        "The name of an outlet that the text goes to instead of a position.",
        "place",
    ),
    FieldSpec(
        "scanDepth",
        "scan depth",
        FieldKind.NUMBER,
        "How many of the last messages are searched for this entry's keys.",
        "number",
        low=0,
        high=10_000,
    ),
    FieldSpec(
        "cooldown",
        "cooldown",
        FieldKind.NUMBER,
        "After it went in, the entry rests for so many generations.",
        "pause",
        low=0,
    ),
    FieldSpec(
        "warmup",
        "warmup",
        FieldKind.NUMBER,
        "Its keys must occur so many times in the searched messages before it fires.",
        "number",
        low=0,
    ),
    FieldSpec(
        "probability",
        "probability",
        FieldKind.NUMBER,
        "How likely it fires when its keys match: 0 is never, 1 always.",
        "number",
        low=0,
        high=1,
        step=0.05,
    ),
    FieldSpec(
        "excludeRecursion",
        "exclude recursion",
        FieldKind.FLAG,
        "Its own text wakes no other entries; it can still be woken itself.",
        "slash",
    ),
    FieldSpec("graph", "graph", FieldKind.FLAG, "Whether the entry appears in the graph.", "dot", flag_default=True),
    FieldSpec(
        "aliases",
        "aliases",
        FieldKind.WORDS,
        "Other names that links in Obsidian may use; DeepLore does not read them.",
        "tag",
    ),
)
"""In the order in which the form shows them."""

ALWAYS: Final = ("keys", "tags")
"""Rows that are shown even where the note does not have them."""

_BY_NAME: Final = {spec.name: spec for spec in KNOWN}


def gating_spec(definition: FieldDefinition) -> FieldSpec:
    """How a gating field of the project is edited (spec 1.7, 5.4)."""
    kinds = {"number": FieldKind.NUMBER, "boolean": FieldKind.FLAG}
    kind = kinds.get(definition.type) or (FieldKind.WORDS if definition.multi else FieldKind.LINE)
    label = definition.label or definition.name
    text = tr(
        "Gating field, held against “{key}” of the chat's context. {how}",
        key=definition.key,
        how=tr("Not compared at present.") if not definition.gating else tr(_OPERATORS[definition.operator]),
    )
    return FieldSpec(definition.name, label, kind, text, "gate", values=definition.values)


_OPERATORS: Final = {
    "match_any": "One of its values must be in the context.",
    "match_all": "All of its values must be in the context.",
    "not_any": "None of its values may be in the context.",
    "exists": "It must have a value, whichever the context has.",
    "not_exists": "It must have no value.",
    "gt": "Its number must be greater than the context's.",
    "lt": "Its number must be smaller than the context's.",
    "eq": "Both must be equal.",
}


def specs(definitions: tuple[FieldDefinition, ...]) -> dict[str, FieldSpec]:
    """Every property that the form knows, by name, in order."""
    found = dict(_BY_NAME)
    for definition in definitions:
        found.setdefault(definition.name, gating_spec(definition))
    return found


def general_value(name: str, settings: DeepLoreSettings) -> str:
    """What holds where the note does not have the property, in a few words; "" where nothing does."""
    if name in {"scanDepth", "depth"}:
        value = settings.scan_depth if name == "scanDepth" else settings.injection_depth
        return tr("general one: {value} (from the settings)", value=number(value))
    if name == "position":
        place = {Position.IN_CHAT: 2, Position.AFTER: 1, Position.BEFORE: 0}.get(Position(settings.injection_position))
        return tr("general one: {value}", value=tr(_POSITIONS[place][1] if place is not None else "an outlet"))
    if name == "role":
        return tr("general one: {value}", value=tr(_ROLES[settings.injection_role][1]))
    return tr(_WITHOUT[name]) if name in _WITHOUT else ""


_WITHOUT: Final = {
    "priority": "100 where nothing is said",
    "cooldown": "no rest",
    "warmup": "one is enough",
    "probability": "1, always",
    "outlet": "none",
}
