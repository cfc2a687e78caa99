"""One entry of a World Info file as SillyTavern reads it (rules: sillytavern 5.3).

What is said here of fields is also what `lorebook` tells people about: a field that is neither used nor known to be
without effect is remarked on.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Final

from lorestudio.domain.digests import text_digest
from lorestudio.domain.javascript import Json, to_number, truthy
from lorestudio.domain.json_text import text_in, texts_in
from lorestudio.exchange.lorebooks.entry import (
    DEFAULT_DEPTH,
    DEFAULT_WEIGHT,
    BookEntry,
    BookPlace,
    Extra,
    Logic,
    split_decorators,
)

WITHOUT_EFFECT: Final = frozenset({"addMemo", "displayIndex", "world", "hash", "decorators"})
"""Fields that say how SillyTavern's editor shows an entry, or that it makes up itself."""

USED: Final = frozenset({
    "uid", "key", "keysecondary", "comment", "content", "constant", "vectorized", "selective", "selectiveLogic",
    "order", "position", "disable", "excludeRecursion", "preventRecursion", "delayUntilRecursion", "probability",
    "useProbability", "depth", "role", "group", "groupOverride", "groupWeight", "useGroupScoring", "scanDepth",
    "caseSensitive", "matchWholeWords", "sticky", "cooldown", "delay", "characterFilter", "outletName", "triggers",
    "ignoreBudget", *Extra,
})  # fmt: skip
"""Fields that decide here as they do in SillyTavern."""


NEW_ENTRY: Final[Mapping[str, Json]] = {
    "key": [], "keysecondary": [], "comment": "", "content": "", "constant": False, "vectorized": False,
    "selective": True, "selectiveLogic": 0, "addMemo": False, "order": 100, "position": 0, "disable": False,
    "ignoreBudget": False, "excludeRecursion": False, "preventRecursion": False, "matchPersonaDescription": False,
    "matchCharacterDescription": False, "matchCharacterPersonality": False, "matchCharacterDepthPrompt": False,
    "matchScenario": False, "matchCreatorNotes": False, "delayUntilRecursion": 0, "probability": 100,
    "useProbability": True, "depth": 4, "outletName": "", "group": "", "groupOverride": False, "groupWeight": 100,
    "scanDepth": None, "caseSensitive": None, "matchWholeWords": None, "useGroupScoring": None, "automationId": "",
    "role": 0, "sticky": None, "cooldown": None, "delay": None, "triggers": [],
}  # fmt: skip
"""An entry as SillyTavern's editor makes it, which is also what its imports begin with."""


def native_entry(raw: Mapping[str, Json], name: str) -> BookEntry:
    """The entry as the scan takes it, which fills in no default. `name` is its uid where it has none of its own."""
    decorators, content = split_decorators(text_in(raw.get("content")))
    chars = raw.get("characterFilter")
    chars = chars if isinstance(chars, Mapping) else {}
    uid = str(raw.get("uid", name))
    return BookEntry(
        uid=uid,
        name=uid,
        keys=texts_in(raw.get("key")),
        secondary=texts_in(raw.get("keysecondary")),
        comment=text_in(raw.get("comment")),
        content=content,
        constant=truthy(raw.get("constant")),
        selective=truthy(raw.get("selective")),
        logic=_logic(raw.get("selectiveLogic")),
        order=_numeric(raw, "order"),
        place=_place(raw.get("position")),
        disabled=to_number(raw.get("disable")) == 1,
        exclude_recursion=truthy(raw.get("excludeRecursion")),
        prevent_recursion=truthy(raw.get("preventRecursion")),
        recursion_level=_level(raw.get("delayUntilRecursion")),
        probability=_probability(raw),
        depth=int(number_of(raw.get("depth"), DEFAULT_DEPTH)),
        role=int(number_of(raw.get("role"), 0)),
        group=text_in(raw.get("group")),
        group_override=truthy(raw.get("groupOverride")),
        group_weight=number_of(raw.get("groupWeight"), DEFAULT_WEIGHT),
        group_scoring=_flag(raw.get("useGroupScoring")),
        scan_depth=None if raw.get("scanDepth") is None else int(number_of(raw.get("scanDepth"), 0)),
        case_sensitive=_flag(raw.get("caseSensitive")),
        whole_words=_flag(raw.get("matchWholeWords")),
        sticky=int(number_of(raw.get("sticky"), 0)),
        cooldown=int(number_of(raw.get("cooldown"), 0)),
        delay=int(number_of(raw.get("delay"), 0)),
        characters=texts_in(chars.get("names")),
        characters_excluded=truthy(chars.get("isExclude")),
        tags=texts_in(chars.get("tags")),
        vectorized=truthy(raw.get("vectorized")),
        outlet=text_in(raw.get("outletName")),
        triggers=texts_in(raw.get("triggers")),
        ignores_budget=truthy(raw.get("ignoreBudget")),
        extras=tuple(extra for extra in Extra if truthy(raw.get(extra))),
        activates="@@activate" in decorators,
        never_activates="@@dont_activate" in decorators,
        digest=_digest(raw),
    )


def number_of(value: Json, otherwise: float) -> float:
    """A number, also one that is written as text; `otherwise` for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return otherwise
    try:
        number = float(value)
    except ValueError:
        return otherwise
    return number if math.isfinite(number) else otherwise


def _numeric(raw: Mapping[str, Json], name: str) -> float:
    """A number as arithmetic takes it; NaN for what is none, and for what is not said."""
    return float(to_number(raw[name])) if name in raw else math.nan


def _probability(raw: Mapping[str, Json]) -> float | None:
    """In per cent, None where no lot is drawn; one that is no number never wins, as one below 0."""
    if not truthy(raw.get("useProbability")) or raw.get("probability") == 100:
        return None
    chance = _numeric(raw, "probability")
    return -1 if math.isnan(chance) else chance


def _level(value: Json) -> int:
    """From which level of recursion on the entry comes in, 0 for an entry that does not wait for one."""
    return int(number_of(1 if value is True else value, 1)) if truthy(value) else 0


def _flag(value: Json) -> bool | None:
    return value if isinstance(value, bool) else None


def _logic(value: Json) -> Logic:
    number = int(number_of(value, 0))
    return Logic(number) if number in set(Logic) else Logic.AND_ANY


def _place(value: Json) -> BookPlace:
    known = isinstance(value, int | float) and not isinstance(value, bool) and value in set(BookPlace)
    return BookPlace(int(value)) if known else BookPlace.NOWHERE  # type: ignore[arg-type]  # it is a number


def _digest(raw: Mapping[str, Json]) -> str:
    text = json.dumps(raw, sort_keys=True, ensure_ascii=False, default=list)
    return text_digest(text)[:16]
