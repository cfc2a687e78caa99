"""An entry of a World Info file as SillyTavern reads it, and as the text of a note (rules: sillytavern 5.3, 5.6).

What is said here of fields is also what `lorebook` tells people about: a field that is neither used nor known to be
without effect is remarked on. As a note, an entry has World Info's own fields as front matter above its text; those
that say what a new entry of SillyTavern's says are left out, and a changed text changes the fields that it changes.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from enum import IntEnum, StrEnum
from typing import Final, TypeVar

from msgspec import Struct

from lorestudio.domain.javascript import WS, Json, to_number, to_string, truthy
from lorestudio.domain.json_text import object_in, stringified, text_in
from lorestudio.domain.records import replace
from lorestudio.domain.texts import text_digest
from lorestudio.exchange.json_file import same_value
from lorestudio.vault.front_matter import parse, split
from lorestudio.vault.note.document import NoteDocument
from lorestudio.vault.note.spelling import plain_is_safe

DEFAULT_DEPTH: Final = 4
DEFAULT_WEIGHT: Final = 100
DEFAULT_ORDER: Final = 100

OWN: Final = "lorestudio"
"""How the members of an entry's `extensions` begin in which the studio carries what has no other place there."""

_DECORATORS: Final = ("@@activate", "@@dont_activate")
_GROUP_PARTS: Final = re.compile(rf",{WS}*")


class Logic(IntEnum):
    """How secondary keys count."""

    AND_ANY = 0
    NOT_ALL = 1
    NOT_ANY = 2
    AND_ALL = 3
    UNKNOWN = 4
    """What SillyTavern does not know: with secondary keys such an entry never comes in."""
    UNSAID = 5
    """As any of them, but they add nothing to a score within a group."""


LOGICS: Final = (Logic.AND_ANY, Logic.NOT_ALL, Logic.NOT_ANY, Logic.AND_ALL)
"""Those that a file can name."""


class BookPlace(IntEnum):
    """Where an entry stands in the prompt."""

    BEFORE = 0
    AFTER = 1
    NOTE_TOP = 2
    NOTE_BOTTOM = 3
    AT_DEPTH = 4
    EXAMPLES_TOP = 5
    EXAMPLES_BOTTOM = 6
    OUTLET = 7
    NOWHERE = 8
    """A number that SillyTavern does not know: such an entry becomes active and is put nowhere."""


class Extra(StrEnum):
    """What an entry may have searched beside the chat, under the name of its field (newer SillyTavern)."""

    PERSONA = "matchPersonaDescription"
    DESCRIPTION = "matchCharacterDescription"
    PERSONALITY = "matchCharacterPersonality"
    DEPTH_PROMPT = "matchCharacterDepthPrompt"
    SCENARIO = "matchScenario"
    CREATOR_NOTES = "matchCreatorNotes"


class BookEntry(Struct, frozen=True, gc=False):  # no part of a cycle, and there are thousands of them
    """One entry. None means that the global setting decides; for a timed effect and a level that there is none.

    `content` is without its decorators; `digest` tells whether the entry has changed since a timed effect began.
    `uid` is unique within the entries of a run; `name` is what SillyTavern knows the entry by, which two of a book may
    share; those without a uid in their file (`unnumbered`) are all one to it. `world` is the lorebook that the entry
    comes from. `probability` is in per cent, None where no lot is drawn. `group` is the text that names its inclusion
    groups, `triggers` are the kinds of generation that it is for (all where empty). `depth` is None where it counts and
    none is said. Numbers may be NaN, which is what a file's text that is no number counts as; `group_weight` and
    `recursion_level` stay texts where they are, because SillyTavern adds and compares them as such.
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
    place: BookPlace = BookPlace.BEFORE
    disabled: bool = False
    exclude_recursion: bool = False
    prevent_recursion: bool = False
    recursion_level: float | str | None = None
    probability: float | None = None
    depth: int | None = DEFAULT_DEPTH
    role: int = 0
    group: str = ""
    group_override: bool = False
    group_weight: float | str = DEFAULT_WEIGHT
    group_scoring: bool | None = None
    scan_depth: float | None = None
    case_sensitive: bool | None = None
    whole_words: bool | None = None
    sticky: float | None = None
    cooldown: float | None = None
    delay: float | None = None
    characters: tuple[str, ...] = ()
    characters_excluded: bool = False
    tags: tuple[str, ...] = ()
    vectorized: bool = False
    outlet: str = ""
    triggers: tuple[str, ...] = ()
    ignores_budget: bool = False
    extras: tuple[Extra, ...] = ()
    world: str = ""
    name: str = ""
    unnumbered: bool = False
    activates: bool = False
    never_activates: bool = False
    digest: str = ""

    @property
    def groups(self) -> tuple[str, ...]:
        """The inclusion groups, as SillyTavern takes them apart."""
        return tuple(name for name in _GROUP_PARTS.split(self.group) if name)

    @property
    def looks_nowhere(self) -> bool:
        """Whether no text is searched for its keys: a scan depth of its own leaves nothing."""
        return self.scan_depth is not None and self.scan_depth <= 0


def of_1_12(entry: BookEntry) -> BookEntry:
    """The entry with the fields that SillyTavern 1.12.6 knows (rules: sillytavern 5.6 "Version 1.18")."""
    place = BookPlace.NOWHERE if entry.place is BookPlace.OUTLET else entry.place
    return replace(entry, place=place, triggers=(), extras=(), ignores_budget=False)


class BookError(ValueError):
    """A file that is no lorebook; the message names the field and what to do."""


def split_decorators(content: str) -> tuple[tuple[str, ...], str]:
    """The decorators that count at the beginning of a text, and the text without them (rules: sillytavern 5.6).

    A line counts when it begins with a known name; it has an effect only when nothing else stands in it.
    """
    if not content.startswith("@@"):
        return (), content
    lines = content.split("\n")
    found: list[str] = []
    fallback = False
    for place, line in enumerate(lines):
        if not line.startswith("@@"):
            return tuple(found), "\n".join(lines[place:])
        name = line.removeprefix("@") if line.startswith("@@@") else line
        if line.startswith("@@@") and not fallback:
            continue
        known = any(name.startswith(decorator) for decorator in _DECORATORS)
        if known:
            found.append(name)
        fallback = not known
    return tuple(found), content  # no line of text follows: all of it is kept


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
AS_NEW: Final[Mapping[str, tuple[Json, ...]]] = {
    "sticky": (0,), "cooldown": (0,), "delay": (0,), "role": (None,), "delayUntilRecursion": (False, None),
    "characterFilter": ({"isExclude": False, "names": [], "tags": []},), "content": (None,), "comment": (None,),
    "group": (None,), "automationId": (None,), "outletName": (None,), "addMemo": (True, None), "triggers": (None,),
    "key": (None,), "keysecondary": (None,),
}  # fmt: skip
"""Values that mean the same as a new entry's."""


_Member = TypeVar("_Member", bound=IntEnum)
_Other = TypeVar("_Other")


def native_entry(raw: Mapping[str, Json], name: str) -> BookEntry:
    """The entry as the scan takes it, which fills in no default. `name` is its uid where it has none of its own."""
    decorators, content = split_decorators(text_in(raw.get("content")))
    chars = object_in(raw, "characterFilter")
    uid, logic = to_string(raw.get("uid", name)), raw.get("selectiveLogic")
    return BookEntry(
        uid=uid,
        name=uid,
        unnumbered="uid" not in raw,
        keys=_keys(raw.get("key")),
        secondary=_keys(raw.get("keysecondary")),
        comment=text_in(raw.get("comment")),
        content=content,
        constant=truthy(raw.get("constant")),
        selective=truthy(raw.get("selective")),
        logic=Logic.UNSAID if logic is None else choice(logic, LOGICS, Logic.UNKNOWN),
        order=_numeric(raw, "order"),
        place=_place(raw),
        disabled=to_number(raw.get("disable")) == 1,
        exclude_recursion=truthy(raw.get("excludeRecursion")),
        prevent_recursion=truthy(raw.get("preventRecursion")),
        recursion_level=_as_written(level, 0) if truthy(level := raw.get("delayUntilRecursion")) else None,
        probability=_probability(raw),
        depth=None if raw.get("depth") is None and raw.get("position") == 4 else _whole(raw, "depth", DEFAULT_DEPTH),
        role=_whole(raw, "role", 0),
        group=text_in(raw.get("group")),
        group_override=truthy(raw.get("groupOverride")),
        group_weight=_as_written(raw.get("groupWeight", DEFAULT_WEIGHT), DEFAULT_WEIGHT),
        group_scoring=_flag(raw.get("useGroupScoring")),
        scan_depth=None if raw.get("scanDepth") is None else _numeric(raw, "scanDepth"),
        case_sensitive=_flag(raw.get("caseSensitive")),
        whole_words=_flag(raw.get("matchWholeWords")),
        sticky=_lasting(raw.get("sticky")),
        cooldown=_lasting(raw.get("cooldown")),
        delay=_lasting(raw.get("delay"), None),
        characters=_allowed(chars.get("names")),
        characters_excluded=truthy(chars.get("isExclude")),
        tags=_allowed(chars.get("tags")),
        vectorized=truthy(raw.get("vectorized")),
        outlet=to_string(outlet) if truthy(outlet := raw.get("outletName")) else "",
        triggers=() if isinstance(raw.get("triggers"), str) else _allowed(raw.get("triggers")),
        ignores_budget=truthy(raw.get("ignoreBudget")),
        extras=tuple([extra for name, extra in _EXTRAS if truthy(raw.get(name))]),
        activates="@@activate" in decorators,
        never_activates="@@dont_activate" in decorators,
        digest=text_digest(_SPELLED(raw))[:16],
    )


def _numeric(raw: Mapping[str, Json], name: str) -> float:
    """A number as arithmetic takes it; NaN for what is none, and for what is not said."""
    return float(to_number(raw[name])) if name in raw else math.nan


def _whole(raw: Mapping[str, Json], name: str, otherwise: int) -> int:
    number = _numeric(raw, name)
    return int(number) if math.isfinite(number) else otherwise


def _probability(raw: Mapping[str, Json]) -> float | None:
    """In per cent, None where no lot is drawn; one that is no number never wins, as one below 0."""
    if not truthy(raw.get("useProbability")) or raw.get("probability") == 100:
        return None
    chance = _numeric(raw, "probability")
    return -1 if math.isnan(chance) else chance


FOR_EVER: Final = 2**53
"""Messages that no chat has: an effect that lasts “abc” messages ends never."""


def _lasting(value: Json, odd: float | None = FOR_EVER) -> float | None:
    """How many messages a timed effect lasts, None for not at all; `odd` for what is no number."""
    number = to_number(value) if truthy(value) else None
    return odd if number is not None and math.isnan(number) else number


def _as_written(value: Json, otherwise: float) -> float | str:
    """A number as JavaScript adds and compares it: a text, and what is written as one, stays one."""
    if value is None or isinstance(value, bool | int | float):
        return otherwise if value is None else float(value)
    return to_string(value)


def _keys(value: Json) -> tuple[str, ...]:
    """The keys of a list as texts, none of what is no list; what counts as no is a key that is never found."""
    return tuple([to_string(key) if truthy(key) else "" for key in value]) if isinstance(value, list | tuple) else ()


def are_keys(value: Json) -> bool:
    """Whether it is a list of keys; a number counts as its digits."""
    return isinstance(value, list | tuple) and all(isinstance(key, str | int | float) for key in value)


def _allowed(value: Json) -> tuple[str, ...]:
    """What a filter lets through. What is no text is in it as JSON, as which nothing is called."""
    if value is None or value == []:
        return ()
    listed = value if isinstance(value, list | tuple) else [value] if isinstance(value, str) and value else []
    return tuple(item if isinstance(item, str) else stringified(item) for item in listed)


def _flag(value: Json) -> bool | None:
    return None if value is None else truthy(value)


_EXTRAS: Final = tuple((extra.value, extra) for extra in Extra)
_NUMBERS: Final = (int, float)
_DEEPEST: Final = 10_000
_ROLES: Final = (0, 1, 2)


def _place(raw: Mapping[str, Json]) -> BookPlace:
    """Where the text stands. In the chat only a whole depth from 0 to 10,000 and a role that there is are looked at."""
    place = choice(raw.get("position"), BookPlace, BookPlace.NOWHERE)
    if place is BookPlace.AT_DEPTH:
        depth, role = _numeric(raw, "depth"), to_number(raw.get("role"))
        if not (0 <= depth <= _DEEPEST and depth.is_integer() and role in _ROLES):
            return BookPlace.NOWHERE
    return place


def choice(value: Json, members: Iterable[_Member], otherwise: _Other) -> _Member | _Other:
    """The one of these numbers that a value is; texts and booleans are none."""
    if isinstance(value, _NUMBERS) and not isinstance(value, bool):
        for member in members:
            if member == value:
                return member
    return otherwise


_SPELLED: Final = json.JSONEncoder(sort_keys=True, ensure_ascii=False, default=list).encode


# ---- an entry and its text ------------------------------------------------------------------------------------------

ALWAYS: Final = ("comment", "key", "order", "position")
"""The fields that the text of every entry has."""
_FILTER: Final = "characterFilter"
_FILTERED: Final[Mapping[str, Json]] = {"names": [], "tags": [], "isExclude": False}
_MISSED: Final = frozenset({"order", "position", "selective"})
"""What an entry without this field says is something else than what a new one says; the text has it with no value."""
_IN_ORDER: Final = tuple(dict.fromkeys((*ALWAYS, *NEW_ENTRY)))
_NOT_SHOWN: Final = WITHOUT_EFFECT | {"uid", "content"}


def entry_text(raw: Mapping[str, Json]) -> str:
    """An entry as World Info has it, as the text of a note. What no property can spell is left out, and so kept."""
    shown = _shown(raw)
    lines = {name: line for name, value in shown.items() if (line := _line(name, value))}
    if not _says("".join(lines.values()), {name: shown[name] for name in lines}):  # all at once, as that is quicker
        lines = {name: line for name, line in lines.items() if _says(line, {name: shown[name]})}
    front = "".join(lines.values())
    content = raw.get("content")
    return f"---\n{front}---\n{content if isinstance(content, str) else ''}"


def _shown(raw: Mapping[str, Json]) -> dict[str, Json]:
    wanted: dict[str, Json] = {}
    for name in (*_IN_ORDER, *[other for other in raw if other not in NEW_ENTRY]):
        value = raw.get(name)
        if name in raw:
            usual = NEW_ENTRY.get(name)
            as_new = value is usual or any(same_value(value, each) for each in (usual, *AS_NEW.get(name, ())))
            told = name in ALWAYS or not (as_new or name in _NOT_SHOWN)
            if value is True and name == "delayUntilRecursion":
                value = 1  # as SillyTavern's older versions write the first level
        else:
            told = name in _MISSED and (name != "selective" or bool(raw.get("keysecondary")))
        if told and not isinstance(value, Mapping):
            wanted[name] = value
    own = raw.get(_FILTER)
    if isinstance(own, Mapping):
        wanted |= {f"{_FILTER}.{part}": own[part] for part, usual in _FILTERED.items() if own.get(part, usual) != usual}
    return wanted


def _line(name: str, value: Json) -> str:
    """The lines of a property, "" where a note cannot say it."""
    if value is None or isinstance(value, int | float):
        return f"{name}: {'null' if value is None else to_string(value)}\n"
    if isinstance(value, list) and not all(isinstance(item, str) for item in value):
        return ""
    if isinstance(value, str) and plain_is_safe(value):
        return f"{name}: {value}\n"
    if isinstance(value, list) and all(map(plain_is_safe, value)):
        return "".join((f"{name}:\n", *(f"  - {item}\n" for item in value))) if value else f"{name}: []\n"
    from lorestudio.vault.note.yaml_handler import compose_note  # noqa: PLC0415  # runs write no note

    try:
        return compose_note({name: value}, "", alike=True).removeprefix("---\n").removesuffix("---\n")
    except ValueError:
        return ""


def _says(front: str, wanted: Mapping[str, Json]) -> bool:
    """Whether a note with these lines is read so that it says just that."""
    found = parse(split(f"---\n{front}---\n")[0] or "")
    return found.keys() == wanted.keys() and all(same_value(found[name], value) for name, value in wanted.items())


def changed_entry(raw: Mapping[str, Json], text: str) -> dict[str, Json]:
    """The entry with what its text says otherwise; a property that was taken out says what a new entry does.

    Raises ValueError, with a sentence, where a value cannot be one of its field.
    """
    before, note = NoteDocument(entry_text(raw)), NoteDocument(text)
    old = {each.name: each.value for each in before.properties}
    now = {each.name: each.value for each in note.properties}
    changed = dict(raw)
    for name in dict.fromkeys((*old, *now)):
        if name in old and name in now and same_value(old[name], now[name]):
            continue
        if name in _MISSED and name not in raw and name in now and now[name] is None:
            continue  # it is as little said as before
        _set(changed, name, now.get(name), gone=name not in now)
    if note.body != before.body:
        changed["content"] = note.body
    return changed


def without_unsaid(raw: Mapping[str, Json], text: str) -> dict[str, Json]:
    """The entry without the fields that the text has with no value: the entry that it was made of did not have them."""
    unsaid = {each.name for each in NoteDocument(text).properties if each.name in _MISSED and each.value is None}
    return {name: value for name, value in raw.items() if name not in unsaid}


def _set(entry: dict[str, Json], name: str, value: Json, *, gone: bool) -> None:
    outer, dot, part = name.partition(".")
    if outer == _FILTER and dot and part in _FILTERED:
        now = entry.get(_FILTER)
        own: Mapping[str, Json] = now if isinstance(now, Mapping) else _FILTERED
        entry[_FILTER] = {**own, part: _FILTERED[part] if gone else _fitting(name, value, _FILTERED[part])}
    elif not gone:
        entry[name] = _fitting(name, value, NEW_ENTRY[name]) if name in NEW_ENTRY else value
    elif name in NEW_ENTRY:
        usual = NEW_ENTRY[name]
        entry[name] = list(usual) if isinstance(usual, list) else usual
    else:
        entry.pop(name, None)


def _fitting(name: str, value: Json, usual: Json) -> Json:
    """The value as its field has it, which a new entry has as `usual`. Raises ValueError."""
    if isinstance(usual, list):
        return [] if value is None else [to_string(item) for item in (value if isinstance(value, list) else [value])]
    if isinstance(usual, str):
        return "" if value is None else to_string(value)
    fits = isinstance(value, int | float) and (not isinstance(usual, bool) or isinstance(value, bool))
    if fits or (value is None and usual is None):
        return value
    wanted = "true or false" if isinstance(usual, bool) else "a number"
    raise ValueError(f"“{name}” takes {wanted}, not “{to_string(value)}”.")
