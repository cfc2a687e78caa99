"""What the form knows about each property of a note, and about each field of a lorebook's entry in World Info.

That is its name, its sort, its range, one line of help, its meaning. Qt is not needed here.
Rules: deeplore 1.4, 1.5; sillytavern 5.3, 5.6.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from msgspec import Struct

from lorestudio.domain.entry import MAX_DEPTH, FieldDefinition, Position
from lorestudio.domain.javascript import Json, to_string, trim
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.ui.shell.words import number, tr
from lorestudio.vault.entries import LOGIC_FIELD, ParseRules
from lorestudio.vault.note.document import NoteDocument
from lorestudio.vault.note.text_edits import TextEdit


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


class FieldSpec(Struct, frozen=True):
    """One property that is read. `low` and `high` are its useful range, both included.

    `choices` are the values it may have with what they are called, `literal` where these are numbers or flags and no
    texts; `general` says what holds where there is none, "" where the settings do; `icon` is a glyph's name.
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
    general: str = ""
    literal: bool = False


_POSITIONS: Final = (
    ("before", "before the main prompt"),
    ("after", "after the main prompt"),
    ("in_chat", "in the chat"),
)
_LOGICS: Final = (
    ("and_any", "at least one"),
    ("and_all", "all of them"),
    ("not_all", "not all of them"),
    ("not_any", "none of them"),
)
_ROLES: Final = (("system", "system"), ("user", "user"), ("assistant", "assistant"))


def _keys(name: str, title: str, text: str) -> FieldSpec:
    return FieldSpec(name, title, FieldKind.KEYS, text, "key")


def _titles(name: str, title: str, text: str, icon: str = "link") -> FieldSpec:
    return FieldSpec(name, title, FieldKind.TITLES, text, icon)


def _line(name: str, title: str, text: str, icon: str, general: str = "") -> FieldSpec:
    return FieldSpec(name, title, FieldKind.LINE, text, icon, general=general)


def _words(name: str, title: str, text: str, icon: str, values: tuple[str, ...] = ()) -> FieldSpec:
    return FieldSpec(name, title, FieldKind.WORDS, text, icon, values=values)


def _flag(name: str, title: str, text: str, icon: str = "check", *, default: bool = False) -> FieldSpec:
    return FieldSpec(name, title, FieldKind.FLAG, text, icon, flag_default=default)


def _number(
    name: str,
    title: str,
    text: str,
    general: str = "",
    low: float | None = 0,
    high: float | None = None,
    *,
    step: float = 1,
    icon: str = "number",
) -> FieldSpec:
    return FieldSpec(name, title, FieldKind.NUMBER, text, icon, low, high, step, general=general)


KNOWN: Final[tuple[FieldSpec, ...]] = (
    _keys("keys", "keys", "The entry fires when one of these words occurs in the chat."),
    _keys("refine_keys", "refine keys", "At least one of these must occur as well before a key counts."),
    FieldSpec(
        LOGIC_FIELD,
        "refine logic",
        FieldKind.CHOICE,
        "How many of the refine keys must occur. The rules of DeepLore 2.6 read it, those of 2.0.2 do not.",
        "key",
        choices=_LOGICS,
    ),
    FieldSpec(
        "tags", "tags", FieldKind.TAGS, "Tags sort notes; the entry tag makes a note part of the lorebook.", "tag"
    ),
    _flag("enabled", "enabled", "Switched off, the note is left out as if it were not in the vault.", default=True),
    _flag("constant", "constant", "The entry is part of every prompt, keys or not.", "constant"),
    _number("priority", "priority", "Who survives the budget: lower numbers go in first.", low=None),
    FieldSpec(
        "summary",
        "summary",
        FieldKind.SUMMARY,
        "What the AI reads about the entry when it chooses; say what it is and when to take it.",
        "lines",
    ),
    _titles("requires", "requires", "The entry goes in only together with all of these entries."),
    _titles("excludes", "excludes", "The entry stays out when one of these entries is in.", "slash"),
    _titles("cascade_links", "cascade links", "Entries that come along whenever this one matches."),
    FieldSpec(
        "position", "position", FieldKind.CHOICE, "Where in the prompt the text goes.", "place", choices=_POSITIONS
    ),
    _number(
        "depth", "depth", "In the chat: how many messages stand below the text; 0 is the very end.", high=MAX_DEPTH
    ),
    FieldSpec("role", "role", FieldKind.CHOICE, "Who speaks the text in the chat.", "place", choices=_ROLES),
    _line("outlet", "outlet", "The name of an outlet that the text goes to instead of a position.", "place"),
    _number(
        "scanDepth", "scan depth", "How many of the last messages are searched for this entry's keys.", high=10_000
    ),
    _number("cooldown", "cooldown", "After it went in, the entry rests for so many generations.", icon="pause"),
    _number("warmup", "warmup", "Its keys must occur so many times in the searched messages before it fires."),
    _number(
        "probability",
        "probability",
        "How likely it fires when its keys match: 0 is never, 1 always.",
        high=1,
        step=0.05,
    ),
    _flag(
        "excludeRecursion",
        "exclude recursion",
        "Its own text wakes no other entries; it can still be woken itself.",
        "slash",
    ),
    _flag("graph", "graph", "Whether the entry appears in the graph.", "dot", default=True),
    _words("aliases", "aliases", "Other names that links in Obsidian may use; DeepLore does not read them.", "tag"),
)
"""In the order in which the form shows them."""

ALWAYS: Final = ("keys", "tags")
"""Rows that are shown even where the note does not have them."""


def gating_spec(definition: FieldDefinition) -> FieldSpec:
    """How a gating field of the project is edited (rules: deeplore 1.7, 5.4)."""
    kinds = {"number": FieldKind.NUMBER, "boolean": FieldKind.FLAG}
    kind = kinds.get(definition.type) or (FieldKind.WORDS if definition.multi else FieldKind.LINE)
    label = definition.label or definition.name
    how = tr("Not compared at present.") if not definition.gating else tr(_OPERATORS[definition.operator])
    text = tr("Gating field, held against “{key}” of the chat's context. {how}", key=definition.key, how=how)
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
    found = {spec.name: spec for spec in KNOWN}
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


class Fires(StrEnum):
    """When an entry goes in; everything but `KEYS` is said by a tag (or the property `constant`)."""

    KEYS = "keys"
    CONSTANT = "constant"
    SEED = "seed"
    BOOTSTRAP = "bootstrap"
    GUIDE = "guide"
    NEVER = "never"


FIRES_WORDS: Final = {
    Fires.KEYS: "when its keys match",
    Fires.CONSTANT: "always (constant)",
    Fires.SEED: "as background of a new chat (seed)",
    Fires.BOOTSTRAP: "always while the chat is short (bootstrap)",
    Fires.GUIDE: "never: it guides the Librarian (guide)",
    Fires.NEVER: "never (never-insert)",
}
"""What a person reads of them."""


class TagNames(Struct, frozen=True):
    """The tags that mean something, in lower case; "" where the settings switch one off."""

    entry: str
    special: tuple[tuple[Fires, str], ...]

    @classmethod
    def of(cls, rules: ParseRules) -> TagNames:
        """The tags of these rules."""
        named = (
            (Fires.CONSTANT, rules.constant_tag),
            (Fires.SEED, rules.seed_tag),
            (Fires.BOOTSTRAP, rules.bootstrap_tag),
            (Fires.GUIDE, rules.guide_tag),
            (Fires.NEVER, rules.never_insert_tag),
        )
        return cls(rules.lorebook_tag, tuple((fires, tag) for fires, tag in named if tag))

    def find(self, tag: str) -> Fires | None:
        """What a tag says about when the entry fires."""
        return next((fires for fires, name in self.special if name == tag.lower()), None)


def items(spec: FieldSpec, value: Json, *, lenient: bool) -> list[str]:
    """The items of a list property as DeepLore reads it (rules: deeplore 1.5)."""
    if isinstance(value, list | tuple):
        return [to_string(item) for item in value]
    if value is None or value is False or value in (0, ""):
        return []
    text = to_string(value)
    if spec.name == "tags":
        return [text] if isinstance(value, str) else []
    if spec.name == "keys":
        return [key for part in text.split(",") if (key := trim(part))] if lenient and "," in text else [text]
    return [trim(text)] if trim(text) else []


def tags(note: NoteDocument) -> list[str]:
    """The note's tags as written."""
    found = note.find("tags")
    value = found.value if found is not None else None
    if isinstance(value, list | tuple):
        return [to_string(item) for item in value]
    return [value] if isinstance(value, str) else []


def fires(note: NoteDocument, names: TagNames) -> tuple[Fires, ...]:
    """What the note says about when it fires: usually one thing, several where tags say several."""
    found = [said for tag in tags(note) if (said := names.find(tag)) is not None]
    constant = note.find("constant")
    if constant is not None and constant.value is True:
        found.append(Fires.CONSTANT)
    return tuple(dict.fromkeys(found)) or (Fires.KEYS,)


def set_fires(note: NoteDocument, names: TagNames, wanted: Fires) -> tuple[TextEdit, ...]:
    """Let the note fire in this way: one special tag in place of those it has."""
    now = tags(note)
    place = next((place for place, tag in enumerate(now) if names.find(tag) is not None), len(now))
    kept = [tag for tag in now if names.find(tag) is None]
    tag = next((name for said, name in names.special if said is wanted), "")
    constant = note.find("constant")
    edits: list[TextEdit] = []
    if constant is not None and constant.value is True:
        if wanted is Fires.CONSTANT:
            tag = ""
        else:
            edits.append(note.remove(constant.name))
    if tag:
        kept.insert(min(place, len(kept)), tag)
    if kept != now:
        edits.append(set_items(note, "tags", kept))
    return tuple(edits)


def set_items(note: NoteDocument, name: str, now: Sequence[str]) -> TextEdit:
    """Write a list property; where the note spells the name otherwise, under that spelling."""
    found = note.find(name)
    return note.set(found.name if found is not None else name, list(now))


def is_list(spec: FieldSpec) -> bool:
    """Whether a property is edited as chips."""
    return spec.kind in {FieldKind.KEYS, FieldKind.TAGS, FieldKind.TITLES, FieldKind.WORDS}


_BOOK_LOGICS: Final = (
    ("0", "AND ANY: at least one"), ("3", "AND ALL: all of them"), ("1", "NOT ALL: not all of them"),
    ("2", "NOT ANY: none of them"),
)  # fmt: skip
_PLACES: Final = (
    ("0", "before the character"),
    ("1", "after the character"),
    ("2", "above the author's note"),
    ("3", "below the author's note"),
    ("4", "in the chat"),
    ("5", "above the examples"),
    ("6", "below the examples"),
    ("7", "outlet"),
)
_BOOK_ROLES: Final = (("0", "system"), ("1", "user"), ("2", "assistant"))
_EITHER: Final = (("true", "yes"), ("false", "no"))
_TRIGGERS: Final = ("normal", "continue", "impersonate", "swipe", "regenerate", "quiet")
_NOTHING: Final = "nothing is said"
_AS_SET: Final = "as World Info's settings say"


def _choice(name: str, title: str, text: str, choices: tuple[tuple[str, str], ...], general: str) -> FieldSpec:
    return FieldSpec(name, title, FieldKind.CHOICE, text, "place", choices=choices, general=general, literal=True)


def _extra(name: str, title: str) -> FieldSpec:
    return _flag(name, title, "The entry's keys are looked for there, too, not in the chat alone.")


BOOK_FIELDS: Final[tuple[FieldSpec, ...]] = (
    _line("comment", "title", "What SillyTavern's list calls the entry.", "lines", "none"),
    _keys("key", "keys", "The entry fires when one of these occurs in the chat."),
    _keys("keysecondary", "secondary keys", "Further keys; the logic says how many of them."),
    _choice("selectiveLogic", "logic", "How many of the secondary keys must occur.", _BOOK_LOGICS, "at least one"),
    _flag("selective", "selective", "Whether secondary keys count at all.", default=True),
    _flag("disable", "disabled", "The entry takes no part."),
    _flag("constant", "constant", "The entry is part of every prompt, keys or not.", "constant"),
    _flag("vectorized", "vectorized", "The entry fires when it is like the last messages, where vectors are on."),
    _choice("position", "position", "Where in the prompt the text goes.", _PLACES, "nowhere"),
    _number("depth", "depth", "In the chat: how many messages stand below the text.", "4", 0, MAX_DEPTH),
    _choice("role", "role", "Who speaks the text in the chat.", _BOOK_ROLES, "system"),
    _line("outletName", "outlet", "The name of the outlet.", "place", _NOTHING),
    _number("order", "order", "Higher numbers are offered to the budget first, and stand further down.", "none", None),
    _number("probability", "probability", "How likely it fires, in per cent.", "100", high=100, step=5),
    _flag("useProbability", "use probability", "Whether the probability counts.", default=True),
    _flag("ignoreBudget", "ignore budget", "The entry goes in though the budget is spent."),
    _flag("excludeRecursion", "non-recursable", "The texts of other entries do not wake it."),
    _flag("preventRecursion", "prevent recursion", "Its own text wakes no other entries."),
    _number("delayUntilRecursion", "recursion level", "Delayed until recursion of this level; 0 is no such wait.", "0"),
    _number("sticky", "sticky", "Once it fired, it stays in for so many messages.", "none"),
    _number("cooldown", "cooldown", "After that it rests for so many messages.", "none"),
    _number("delay", "delay", "It waits until the chat has so many messages.", "none"),
    _number("scanDepth", "scan depth", "How many of the last messages are searched for its keys.", _AS_SET, 0, 1000),
    _choice("caseSensitive", "case-sensitive", "Whether large and small letters differ.", _EITHER, _AS_SET),
    _choice("matchWholeWords", "whole words", "Whether keys match whole words only.", _EITHER, _AS_SET),
    _line("group", "inclusion group", "Of entries of one group only one goes in.", "list", "none"),
    _flag("groupOverride", "prioritize", "In its group the highest order decides, and no lot."),
    _number("groupWeight", "group weight", "How likely its group chooses it.", "100", 1, 10_000),
    _choice("useGroupScoring", "group scoring", "Whether those with more keys found win the group.", _EITHER, _AS_SET),
    _words("triggers", "triggers", "For which generations it is.", "list", _TRIGGERS),
    _words("characterFilter.names", "characters", "For whose chats it is.", "gate"),
    _words("characterFilter.tags", "character tags", "The ids of characters' tags.", "gate"),
    _flag("characterFilter.isExclude", "exclude them", "The characters and tags are those that it is not for."),
    _extra("matchPersonaDescription", "in persona"),
    _extra("matchCharacterDescription", "in description"),
    _extra("matchCharacterPersonality", "in personality"),
    _extra("matchCharacterDepthPrompt", "in char. note"),
    _extra("matchScenario", "in scenario"),
    _extra("matchCreatorNotes", "in creator notes"),
    _line("automationId", "automation", "The quick reply that it runs.", "code", "none"),
)
"""In the order in which the form shows them, called as SillyTavern's own editor calls them."""
