"""What the form knows about the fields of a lorebook's entry, as SillyTavern's World Info has them.

Rules: sillytavern 5.3, 5.6. Qt is not needed here.
"""

from __future__ import annotations

from typing import Final

from lorestudio.ui.features.notes.editor.schema import FieldKind, FieldSpec

_LOGICS: Final = (("0", "at least one"), ("3", "all of them"), ("1", "not all of them"), ("2", "none of them"))
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
_ROLES: Final = (("0", "system"), ("1", "user"), ("2", "assistant"))
_EITHER: Final = (("true", "yes"), ("false", "no"))
_TRIGGERS: Final = ("normal", "continue", "impersonate", "swipe", "regenerate", "quiet")
_NOTHING: Final = "nothing is said"
_AS_SET: Final = "as World Info's settings say"


def _choice(name: str, title: str, text: str, choices: tuple[tuple[str, str], ...], general: str) -> FieldSpec:
    return FieldSpec(name, title, FieldKind.CHOICE, text, "place", choices=choices, general=general, literal=True)


def _number(
    name: str, title: str, text: str, general: str, low: float | None = 0, high: float | None = None
) -> FieldSpec:
    return FieldSpec(name, title, FieldKind.NUMBER, text, "number", low, high, general=general)


def _flag(name: str, title: str, text: str) -> FieldSpec:
    return FieldSpec(name, title, FieldKind.FLAG, text, "check")


def _extra(name: str, title: str) -> FieldSpec:
    return _flag(name, title, "The entry's keys are looked for there, too, not in the chat alone.")


BOOK_FIELDS: Final[tuple[FieldSpec, ...]] = (
    FieldSpec("comment", "title", FieldKind.LINE, "What SillyTavern's list calls the entry.", "lines", general="none"),
    FieldSpec("key", "keys", FieldKind.KEYS, "The entry fires when one of these occurs in the chat.", "key"),
    FieldSpec(
        "keysecondary", "secondary keys", FieldKind.KEYS, "Further keys; the logic says how many of them.", "key"
    ),
    _choice("selectiveLogic", "logic", "How many of the secondary keys must occur.", _LOGICS, "at least one"),
    FieldSpec(
        "selective", "selective", FieldKind.FLAG, "Whether secondary keys count at all.", "check", flag_default=True
    ),
    _flag("disable", "switched off", "The entry takes no part."),
    FieldSpec("constant", "constant", FieldKind.FLAG, "The entry is part of every prompt, keys or not.", "constant"),
    _flag("vectorized", "by likeness", "The entry fires when it is like the last messages, where vectors are on."),
    _choice("position", "position", "Where in the prompt the text goes.", _PLACES, "nowhere"),
    _number("depth", "depth", "In the chat: how many messages stand below the text.", "4", 0, 10_000),
    _choice("role", "role", "Who speaks the text in the chat.", _ROLES, "system"),
    FieldSpec("outletName", "outlet", FieldKind.LINE, "The name of the outlet.", "place", general=_NOTHING),
    _number("order", "order", "Higher numbers are offered to the budget first, and stand further down.", "none", None),
    FieldSpec("probability", "probability", FieldKind.NUMBER, "In per cent.", "number", 0, 100, 5, general="100"),
    FieldSpec(
        "useProbability", "draw lots", FieldKind.FLAG, "Whether the probability counts.", "check", flag_default=True
    ),
    _flag("ignoreBudget", "ignore budget", "The entry goes in though the budget is spent."),
    _flag("excludeRecursion", "not by recursion", "The texts of other entries do not wake it."),
    _flag("preventRecursion", "wakes none", "Its own text wakes no other entries."),
    _number("delayUntilRecursion", "from level", "Only recursion of this level wakes it; 0 is no such wait.", "0"),
    _number("sticky", "sticky", "Once it fired, it stays in for so many messages.", "none"),
    _number("cooldown", "cooldown", "After that it rests for so many messages.", "none"),
    _number("delay", "delay", "It waits until the chat has so many messages.", "none"),
    _number("scanDepth", "scan depth", "How many of the last messages are searched for its keys.", _AS_SET, 0, 1000),
    _choice("caseSensitive", "case counts", "Whether large and small letters differ.", _EITHER, _AS_SET),
    _choice("matchWholeWords", "whole words", "Whether keys match whole words only.", _EITHER, _AS_SET),
    FieldSpec("group", "group", FieldKind.LINE, "Of entries of one group only one goes in.", "list", general="none"),
    _flag("groupOverride", "goes first", "In its group the highest order decides, and no lot."),
    _number("groupWeight", "group weight", "How likely its group chooses it.", "100", 1, 10_000),
    _choice("useGroupScoring", "group scoring", "Whether those with more keys found win the group.", _EITHER, _AS_SET),
    FieldSpec("triggers", "kinds of reply", FieldKind.WORDS, "For which generations it is.", "list", values=_TRIGGERS),
    FieldSpec("characterFilter.names", "characters", FieldKind.WORDS, "For whose chats it is.", "gate"),
    FieldSpec("characterFilter.tags", "character tags", FieldKind.WORDS, "The ids of characters' tags.", "gate"),
    _flag("characterFilter.isExclude", "not for those", "The characters and tags are those that it is not for."),
    _extra("matchPersonaDescription", "in persona"),
    _extra("matchCharacterDescription", "in description"),
    _extra("matchCharacterPersonality", "in personality"),
    _extra("matchCharacterDepthPrompt", "in char. note"),
    _extra("matchScenario", "in scenario"),
    _extra("matchCreatorNotes", "in creator notes"),
    FieldSpec("automationId", "automation", FieldKind.LINE, "The quick reply that it runs.", "code", general="none"),
)
"""In the order in which the form shows them."""
