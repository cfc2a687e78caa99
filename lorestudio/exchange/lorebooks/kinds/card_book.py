"""Entries of the book in a character card, and of a book of that kind on its own (rules: lorebooks 4, 5).

Of decorators, lines `@@name value` at the beginning of an entry's text, those with a counterpart in World Info are read
and leave the text; all others stay where they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias

from pydantic.alias_generators import to_camel

from lorestudio.domain.javascript import Json
from lorestudio.domain.json_text import object_in, text_in
from lorestudio.exchange.lorebooks.crossing import (
    WORLD_INFO,
    EntryForm,
    FieldLink,
    Raw,
    alike,
    chance,
    effective,
    number,
    split_keys,
    texts,
    without_kept,
)
from lorestudio.exchange.lorebooks.entry import NEW_ENTRY, BookPlace, Logic

_LINE: Final = re.compile(r"@@(?!@)(\w+)[ \t]*(.*)")
_WHOLE: Final = re.compile(r"\d{1,5}")
_ROLES: Final = ("system", "user", "assistant")
_PLACES: Final = {"before_desc": BookPlace.BEFORE, "after_desc": BookPlace.AFTER}
Values: TypeAlias = Mapping[str, list[str]]
_Reader: TypeAlias = Callable[[Values], dict[str, Json]]

_FOR_EVER: Final = 10000
"""Messages that an entry stays for, where it is to stay for good: the most that SillyTavern's editor takes."""


DECORATED: Final = "the decorators in its first lines become World Info's own fields, as near as it has them"


def without_decorators(content: str, *, may_have_keys: bool = True) -> tuple[dict[str, Json], str]:
    """The World Info fields that the decorators of a text say, and the text without those lines.

    A line whose fallback (`@@@`) follows stays, as it is the next program's to choose; so do further keys of an entry
    that has secondary keys already.
    """
    if not content.startswith("@@"):
        return {}, content
    lines = content.split("\n")
    amount = next((place for place, line in enumerate(lines) if not line.startswith("@@")), len(lines))
    found: dict[str, list[tuple[int, str]]] = {}
    for place, line in enumerate(lines[:amount]):
        parts = _LINE.fullmatch(line)
        if parts is not None and not lines[min(place + 1, len(lines) - 1)].startswith("@@@"):
            found.setdefault(parts[1], []).append((place, parts[2].strip()))
    fields: dict[str, Json] = {}
    used: set[int] = set()
    for names, read in _READERS:
        values = [found[name] for name in names if name in found]
        said = read({name: [value for _place, value in found[name]] for name in names if name in found})
        if said and not fields.keys() & said.keys() and (may_have_keys or "keysecondary" not in said):
            fields |= said
            used |= {place for each in values for place, _value in each}
    return fields, "\n".join(line for place, line in enumerate(lines) if place not in used)


NOT_QUITE: Final[Mapping[str, str]] = {
    "delay": "it counts the model's messages only",
    "sticky": "for good is 10,000 messages, and nothing shorter can be said",
}
"""Of those, what a decorator says only approximately."""


def is_decorated(content: str) -> bool:
    """Whether a text says something with decorators that World Info has a field for."""
    return bool(without_decorators(content)[0])


def _one(values: Values, name: str) -> str:
    return values[name][0] if len(values.get(name, ())) == 1 else ""


def _whole(values: Values, name: str) -> int | None:
    value = _one(values, name)
    return int(value) if _WHOLE.fullmatch(value) else None


def _depth(values: Values) -> dict[str, Json]:
    depth, role = _whole(values, "depth"), _one(values, "role")
    if depth is None or ("role" in values and role not in _ROLES):
        return {}
    place: dict[str, Json] = {"position": int(BookPlace.AT_DEPTH), "depth": depth}
    return place | ({"role": _ROLES.index(role)} if role else {})


def _position(values: Values) -> dict[str, Json]:
    place = _PLACES.get(_one(values, "position"))
    return {} if place is None else {"position": int(place)}


def _numbered(name: str, ours: str, **more: Json) -> tuple[tuple[str, ...], _Reader]:
    def read(values: Values) -> dict[str, Json]:
        value = _whole(values, name)
        return {} if value is None else {ours: value, **more}

    return (name,), read


def _more_keys(values: Values) -> dict[str, Json]:
    """`additional_keys`: one line asks for any of its keys, several lines with a key each for all of them."""
    lines = [split_keys(value) for value in values.get("additional_keys", ())]
    if len(lines) == 1:
        return _secondary(lines[0], Logic.AND_ANY)
    single = [keys[0] for keys in lines if len(keys) == 1]
    return _secondary(single, Logic.AND_ALL) if len(single) == len(lines) else {}


def _excluding(name: str, logic: Logic) -> tuple[tuple[str, ...], _Reader]:
    return (name,), lambda values: _secondary(split_keys(_one(values, name)), logic)


def _secondary(keys: list[str], logic: Logic) -> dict[str, Json]:
    return {"keysecondary": list(keys), "selectiveLogic": int(logic), "selective": True} if keys else {}


def _flag(name: str, ours: str, value: Json) -> tuple[tuple[str, ...], _Reader]:
    return (name,), lambda values: {ours: value} if values.get(name) == [""] else {}


_READERS: Final[tuple[tuple[tuple[str, ...], _Reader], ...]] = (
    (("depth", "role"), _depth),
    (("position",), _position),
    (("additional_keys",), _more_keys),
    _excluding("exclude_keys", Logic.NOT_ANY),
    _excluding("exclude_keys_all", Logic.NOT_ALL),
    _numbered("probability", "probability", useProbability=True),
    _numbered("scan_depth", "scanDepth"),
    _numbered("activate_only_after", "delay"),
    _flag("keep_activate_after_match", "sticky", _FOR_EVER),
    _flag("match_full_word", "matchWholeWords", True),
    _flag("match_partial_word", "matchWholeWords", False),
)
"""Which lines are read together, and what they say."""

MEANT: Final[Mapping[str, str]] = {
    "position": "@@depth, @@position", "depth": "@@depth", "role": "@@role",
    "selectiveLogic": "@@additional_keys, @@exclude_keys, @@exclude_keys_all", "probability": "@@probability",
    "scanDepth": "@@scan_depth", "delay": "@@activate_only_after", "sticky": "@@keep_activate_after_match",
    "matchWholeWords": "@@match_full_word, @@match_partial_word",
}  # fmt: skip
"""The World Info fields that decorators can say, and with which."""


def with_decorators(entry: Raw) -> str:
    """The text of a World Info entry below the decorators that say what Risu has no field for."""
    return "\n".join((*_lines(entry), text_in(entry.get("content"))))


def _lines(entry: Raw) -> Iterator[str]:
    yield from _place_lines(entry)
    yield from _key_lines(entry)
    odds = chance(entry)
    if odds != NEW_ENTRY["probability"] and odds == int(odds):
        yield f"@@probability {int(odds)}"
    for name, line in (("scanDepth", "scan_depth"), ("delay", "activate_only_after")):
        value = number(entry.get(name))
        if value is not None and not alike(name, value, NEW_ENTRY[name]):
            yield f"@@{line} {int(value)}"
    if (number(entry.get("sticky")) or 0) >= _FOR_EVER:
        yield "@@keep_activate_after_match"
    words = entry.get("matchWholeWords")
    if isinstance(words, bool):
        yield "@@match_full_word" if words else "@@match_partial_word"


def _place_lines(entry: Raw) -> Iterator[str]:
    place, depth, role = (effective(entry, name) for name in ("position", "depth", "role"))
    if place == BookPlace.AT_DEPTH and isinstance(depth, int):
        yield f"@@depth {depth}"
        if isinstance(role, int) and 0 < role < len(_ROLES):
            yield f"@@role {_ROLES[role]}"
    elif place == BookPlace.AFTER:
        yield "@@position after_desc"


def _key_lines(entry: Raw) -> Iterator[str]:
    keys, logic = texts(entry.get("keysecondary")), effective(entry, "selectiveLogic")
    if not keys or not effective(entry, "selective") or any("," in key for key in keys):
        return
    if logic == Logic.AND_ALL:
        yield from (f"@@additional_keys {key}" for key in keys)
    elif logic == Logic.NOT_ANY:
        yield f"@@exclude_keys {', '.join(keys)}"
    elif logic == Logic.NOT_ALL:
        yield f"@@exclude_keys_all {', '.join(keys)}"


def book_remarks(book: Raw) -> tuple[str, ...]:
    """What is said of settings that a book brings along."""
    said = [name for name in ("scan_depth", "token_budget", "recursive_scanning") if book.get(name) is not None]
    told = f"The book has settings of its own ({', '.join(said)}), which SillyTavern keeps and does not apply."
    return (told,) if said else ()


EXTENSIONS: Final = frozenset({
    "position", "exclude_recursion", "prevent_recursion", "delay_until_recursion", "display_index", "probability",
    "useProbability", "depth", "role", "selectiveLogic", "group", "group_override", "group_weight", "scan_depth",
    "case_sensitive", "match_whole_words", "use_group_scoring", "automation_id", "vectorized", "sticky", "cooldown",
    "delay", "outlet_name", "triggers", "ignore_budget", "match_persona_description", "match_character_description",
    "match_character_personality", "match_character_depth_prompt", "match_scenario", "match_creator_notes",
})  # fmt: skip
"""What a card says of an entry in its extensions; a native entry says the same under the name in camel case."""
_OURS: Final = {name: to_camel(name) for name in sorted(EXTENSIONS)}
"""The members of the extensions of a card's entry that are fields of World Info, and their names there."""
_OWN: Final = "extensions"


def _reads(raw: Raw) -> dict[str, Json]:
    own = object_in(raw, _OWN)
    content, decorated = text_in(raw.get("content")), dict[str, Json]()
    secondary = texts(raw.get("secondary_keys"))
    if own.get("position") is None:  # else SillyTavern wrote it, where decorators have no effect
        decorated, content = without_decorators(content, may_have_keys=not secondary)
    comment = text_in(raw.get("comment")) or text_in(raw.get("name"))
    order = number(raw.get("insertion_order"))
    made: dict[str, Json] = {
        "comment": comment,
        "addMemo": bool(comment),
        "content": content,
        "position": int(BookPlace.BEFORE if raw.get("position") == "before_char" else BookPlace.AFTER),
    }
    if order is not None:
        made["order"] = order
    made |= {_OURS[name]: value for name, value in own.items() if name in _OURS and value is not None}
    others = {name: value for name, value in without_kept(own, WORLD_INFO).items() if name not in _OURS}
    return made | decorated | ({_OWN: others} if others else {})


def _writes(entry: Raw) -> dict[str, Json]:
    order = number(effective(entry, "order"))
    made: dict[str, Json] = {
        "id": entry.get("uid"),
        "insertion_order": 100 if order is None else order,
        "position": "before_char" if effective(entry, "position") == BookPlace.BEFORE else "after_char",
        "use_regex": True,
    }
    said = {theirs: effective(entry, ours) for theirs, ours in _OURS.items()}
    return made | {_OWN: {**without_kept(entry.get(_OWN), FORM.name), **said}}


FORM: Final = EntryForm(
    name="card",
    title="Character card",
    reads=_reads,
    writes=_writes,
    nested=_OWN,
    links=(
        FieldLink("keys", "key", spelled="listed"),
        FieldLink("secondary_keys", "keysecondary", spelled="listed"),
        FieldLink("comment", "comment", spelled="text"),
        FieldLink(
            "name",
            "comment",
            "SillyTavern does not read it; here it is the title where there is no comment",
            applies=lambda raw: not text_in(raw.get("comment")),
        ),
        FieldLink(
            "content",
            "content",
            DECORATED,
            applies=lambda raw: (
                is_decorated(text_in(raw.get("content"))) and object_in(raw, _OWN).get("position") is None
            ),
            spelled="text",
        ),
        FieldLink("constant", "constant", spelled="truthy"),
        FieldLink("selective", "selective", spelled="truthy"),
        FieldLink("insertion_order", "order"),
        FieldLink("enabled", "disable", spelled="off"),
        FieldLink("position", "position"),
        FieldLink("id", "uid"),
        *(FieldLink(f"{_OWN}.{theirs}", ours) for theirs, ours in _OURS.items()),
    ),
)
"""What a card's entry cannot say is kept in its extensions, where SillyTavern leaves it."""
