"""The entries of a native lorebook, from SillyTavern's JSON (spec: deeplore-ai-and-tools 5.3)."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from lorestudio.domain.javascript import Json, trim

DEFAULT_DEPTH: Final = 4
DEFAULT_WEIGHT: Final = 100
DEFAULT_ORDER: Final = 100

_DECORATORS: Final = ("@@activate", "@@dont_activate")
_KEY_PARTS: Final = re.compile(r"[,\n]")


class Logic(IntEnum):
    """How secondary keys count."""

    AND_ANY = 0
    NOT_ALL = 1
    NOT_ANY = 2
    AND_ALL = 3


class Place(IntEnum):
    """Where an entry stands in the prompt."""

    BEFORE = 0
    AFTER = 1
    NOTE_TOP = 2
    NOTE_BOTTOM = 3
    AT_DEPTH = 4
    EXAMPLES_TOP = 5
    EXAMPLES_BOTTOM = 6
    OUTLET = 7


@dataclass(frozen=True, slots=True)
class BookEntry:
    """One entry. None means that the global setting decides; 0 for a timed effect means that there is none.

    `content` is without its decorators; `digest` tells whether the entry has changed since a timed effect began.
    """

    uid: str
    keys: tuple[str, ...] = ()
    secondary: tuple[str, ...] = ()
    comment: str = ""
    content: str = ""
    constant: bool = False
    selective: bool = True
    logic: Logic = Logic.AND_ANY
    order: float = DEFAULT_ORDER
    place: Place = Place.BEFORE
    disabled: bool = False
    exclude_recursion: bool = False
    prevent_recursion: bool = False
    recursion_level: int = 0
    probability: float = 100
    depth: int = DEFAULT_DEPTH
    role: int = 0
    groups: tuple[str, ...] = ()
    group_override: bool = False
    group_weight: float = DEFAULT_WEIGHT
    group_scoring: bool | None = None
    scan_depth: int | None = None
    case_sensitive: bool | None = None
    whole_words: bool | None = None
    sticky: int = 0
    cooldown: int = 0
    delay: int = 0
    characters: tuple[str, ...] = ()
    characters_excluded: bool = False
    activates: bool = False
    never_activates: bool = False
    digest: str = ""

    @property
    def group(self) -> str:
        """The groups as they were written, which is what an already active entry is recognised by."""
        return ",".join(self.groups)


class BookError(ValueError):
    """A file that is no lorebook; the message names the field and what to do."""


def read_book(document: Json) -> tuple[BookEntry, ...]:
    """The entries of a World Info file or of a card's embedded book, in their order. Raises BookError."""
    entries = document.get("entries") if isinstance(document, Mapping) else None
    if isinstance(entries, Mapping):
        listed = list(entries.items())
    elif isinstance(entries, list):
        listed = [(str(place), entry) for place, entry in enumerate(entries)]
    else:
        raise BookError("entries: a lorebook has its entries there. Give a World Info file that SillyTavern exported.")
    found = []
    for name, raw in listed:
        if not isinstance(raw, Mapping):
            raise BookError(f"entries.{name}: an object is expected here.")
        found.append(_from_card(raw, name) if "keys" in raw and "key" not in raw else _native(raw, name))
    return tuple(found)


def split_decorators(content: str) -> tuple[tuple[str, ...], str]:
    """The decorators that count at the beginning of a text, and the text without them (spec: 5.6)."""
    if not content.startswith("@@"):
        return (), content
    lines = content.split("\n")
    found: list[str] = []
    fallback = False
    place = 0
    for place, line in enumerate(lines):
        if not line.startswith("@@"):
            return tuple(found), "\n".join(lines[place:])
        name = line.removeprefix("@") if line.startswith("@@@") else line
        if line.startswith("@@@") and not fallback:
            continue
        known = any(name.startswith(decorator) for decorator in _DECORATORS)
        if known:
            found.append(name.split(" ")[0])
        fallback = not known
    return tuple(found), ""


def entry_of(raw: Mapping[str, Json], name: str) -> BookEntry:
    """One native entry; what it does not say has SillyTavern's default."""
    return _native(raw, name)


def _native(raw: Mapping[str, Json], name: str) -> BookEntry:
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
        constant=raw.get("constant") is True,
        selective=raw.get("selective", True) is True,
        logic=_logic(raw.get("selectiveLogic")),
        order=_number(raw.get("order"), DEFAULT_ORDER),
        place=_place(raw.get("position")),
        disabled=raw.get("disable") is True,
        exclude_recursion=raw.get("excludeRecursion") is True,
        prevent_recursion=raw.get("preventRecursion") is True,
        recursion_level=1 if level is True else int(_number(level, 0)),
        probability=100 if raw.get("useProbability") is False else _number(raw.get("probability"), 100),
        depth=int(_number(raw.get("depth"), DEFAULT_DEPTH)),
        role=int(_number(raw.get("role"), 0)),
        groups=tuple(group for part in _text(raw.get("group")).split(",") if (group := trim(part))),
        group_override=raw.get("groupOverride") is True,
        group_weight=_number(raw.get("groupWeight"), DEFAULT_WEIGHT),
        group_scoring=_flag(raw.get("useGroupScoring")),
        scan_depth=None if raw.get("scanDepth") is None else int(_number(raw.get("scanDepth"), 0)),
        case_sensitive=_flag(raw.get("caseSensitive")),
        whole_words=_flag(raw.get("matchWholeWords")),
        sticky=int(_number(raw.get("sticky"), 0)),
        cooldown=int(_number(raw.get("cooldown"), 0)),
        delay=int(_number(raw.get("delay"), 0)),
        characters=_keys(chars.get("names")),
        characters_excluded=chars.get("isExclude") is True,
        activates="@@activate" in decorators,
        never_activates="@@dont_activate" in decorators,
        digest=_digest(raw),
    )


def _from_card(raw: Mapping[str, Json], name: str) -> BookEntry:
    """An entry of a card's embedded book, as SillyTavern takes it in (spec: 5.5)."""
    own = raw.get("extensions")
    own = own if isinstance(own, Mapping) else {}
    place: Json = own.get("position")
    if place is None:
        place = int(Place.AFTER if raw.get("position") == "after_char" else Place.BEFORE)
    native: dict[str, Json] = {
        "uid": raw.get("id", name),
        "key": raw.get("keys"),
        "keysecondary": raw.get("secondary_keys"),
        "comment": raw.get("comment") or raw.get("name"),
        "content": raw.get("content"),
        "constant": raw.get("constant") is True,
        "selective": raw.get("selective") is True,
        "order": raw.get("insertion_order"),
        "disable": raw.get("enabled") is False,
        "position": place,
    }
    spellings = {
        "exclude_recursion": "excludeRecursion",
        "prevent_recursion": "preventRecursion",
        "delay_until_recursion": "delayUntilRecursion",
        "probability": "probability",
        "useProbability": "useProbability",
        "depth": "depth",
        "role": "role",
        "selectiveLogic": "selectiveLogic",
        "group": "group",
        "group_override": "groupOverride",
        "group_weight": "groupWeight",
        "scan_depth": "scanDepth",
        "case_sensitive": "caseSensitive",
        "match_whole_words": "matchWholeWords",
        "use_group_scoring": "useGroupScoring",
        "sticky": "sticky",
        "cooldown": "cooldown",
        "delay": "delay",
    }
    native |= {ours: own[theirs] for theirs, ours in spellings.items() if theirs in own}
    return _native(native, name)


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""


def _keys(value: Json) -> tuple[str, ...]:
    if isinstance(value, str):  # very old files
        return tuple(key for part in _KEY_PARTS.split(value) if (key := trim(part)))
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list | tuple) else ()


def _number(value: Json, otherwise: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return otherwise
    try:
        number = float(value)
    except ValueError:
        return otherwise
    return number if math.isfinite(number) else otherwise


def _flag(value: Json) -> bool | None:
    return value if isinstance(value, bool) else None


def _logic(value: Json) -> Logic:
    number = int(_number(value, 0))
    return Logic(number) if number in set(Logic) else Logic.AND_ANY


def _place(value: Json) -> Place:
    number = int(_number(value, 0))
    return Place(number) if number in set(Place) else Place.BEFORE


def _digest(raw: Mapping[str, Json]) -> str:
    text = json.dumps(raw, sort_keys=True, ensure_ascii=False, default=list)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
