"""One entry of a World Info file as SillyTavern reads it (rules: sillytavern 5.3).

What is said here of fields is also what `lorebook` tells people about: a field that is neither used nor known to be
without effect is remarked on.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from typing import Final

from lorestudio.domain.javascript import Json, trim, truthy
from lorestudio.exchange.lorebooks.entry import (
    DEFAULT_DEPTH,
    DEFAULT_ORDER,
    DEFAULT_WEIGHT,
    BookEntry,
    BookPlace,
    Extra,
    Logic,
    split_decorators,
)

_KEY_PARTS: Final = re.compile(r"[,\n]")

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


def native_entry(raw: Mapping[str, Json], name: str) -> BookEntry:
    """The entry; what it does not say has SillyTavern's default. `name` is its uid where it has none of its own."""
    decorators, content = split_decorators(_text(raw.get("content")))
    chars = raw.get("characterFilter")
    chars = chars if isinstance(chars, Mapping) else {}
    level = raw.get("delayUntilRecursion")
    return BookEntry(
        uid=str(raw.get("uid", name)),
        keys=_keys(raw.get("key")),
        secondary=_keys(raw.get("keysecondary")),
        comment=_text(raw.get("comment")),
        content=content,
        constant=truthy(raw.get("constant")),
        selective=truthy(raw.get("selective", True)),
        logic=_logic(raw.get("selectiveLogic")),
        order=number_of(raw.get("order"), DEFAULT_ORDER),
        place=_place(raw.get("position")),
        disabled=truthy(raw.get("disable")),
        exclude_recursion=truthy(raw.get("excludeRecursion")),
        prevent_recursion=truthy(raw.get("preventRecursion")),
        recursion_level=1 if level is True else int(number_of(level, 0)),
        probability=100 if _off(raw.get("useProbability")) else number_of(raw.get("probability"), 100),
        depth=int(number_of(raw.get("depth"), DEFAULT_DEPTH)),
        role=int(number_of(raw.get("role"), 0)),
        group=_text(raw.get("group")),
        group_override=truthy(raw.get("groupOverride")),
        group_weight=number_of(raw.get("groupWeight"), DEFAULT_WEIGHT),
        group_scoring=_flag(raw.get("useGroupScoring")),
        scan_depth=None if raw.get("scanDepth") is None else int(number_of(raw.get("scanDepth"), 0)),
        case_sensitive=_flag(raw.get("caseSensitive")),
        whole_words=_flag(raw.get("matchWholeWords")),
        sticky=int(number_of(raw.get("sticky"), 0)),
        cooldown=int(number_of(raw.get("cooldown"), 0)),
        delay=int(number_of(raw.get("delay"), 0)),
        characters=_keys(chars.get("names")),
        characters_excluded=truthy(chars.get("isExclude")),
        tags=_keys(chars.get("tags")),
        vectorized=truthy(raw.get("vectorized")),
        outlet=trim(_text(raw.get("outletName"))),
        triggers=_keys(raw.get("triggers")),
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


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""


def _keys(value: Json) -> tuple[str, ...]:
    if isinstance(value, str):  # very old files
        return tuple(key for part in _KEY_PARTS.split(value) if (key := trim(part)))
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list | tuple) else ()


def _off(value: Json) -> bool:
    """Whether something that is on unless said otherwise was switched off."""
    return value is not None and not truthy(value)


def _flag(value: Json) -> bool | None:
    return value if isinstance(value, bool) else None


def _logic(value: Json) -> Logic:
    number = int(number_of(value, 0))
    return Logic(number) if number in set(Logic) else Logic.AND_ANY


def _place(value: Json) -> BookPlace:
    number = int(number_of(value, 0))
    return BookPlace(number) if number in set(BookPlace) else BookPlace.NOWHERE


def _digest(raw: Mapping[str, Json]) -> str:
    text = json.dumps(raw, sort_keys=True, ensure_ascii=False, default=list)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
