"""Entries of Risu's lorebooks and modules (rules: lorebooks 8)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from lorestudio.domain.javascript import Json
from lorestudio.domain.json_text import object_in, text_in
from lorestudio.exchange.lorebooks.crossing import (
    EntryForm,
    FieldLink,
    Raw,
    chance,
    effective,
    kept_in,
    number,
    split_keys,
    texts,
)
from lorestudio.exchange.lorebooks.entry import Logic
from lorestudio.exchange.lorebooks.keys import is_plain
from lorestudio.exchange.lorebooks.kinds.card_book import (
    DECORATED,
    MEANT,
    NOT_QUITE,
    is_decorated,
    with_decorators,
    without_decorators,
)

_ALWAYS: Final = 100
_NO_LORE: Final = frozenset({"folder", "child"})


def is_lore(raw: Raw) -> bool:
    """Whether it is an entry: a folder only holds others, and a child is a copy that has no text of its own."""
    return text_in(raw.get("mode")) not in _NO_LORE


def _reads(raw: Raw) -> dict[str, Json]:
    secondary = split_keys(raw.get("secondkey"))
    decorated, content = without_decorators(text_in(raw.get("content")), may_have_keys=not secondary)
    odds = number(raw.get("activationPercent"))
    made: dict[str, Json] = {
        "content": content,
        "constant": raw.get("alwaysActive") is True or raw.get("mode") == "constant",
    }
    if (order := number(raw.get("insertorder"))) is not None:
        made["order"] = order
    if odds is not None and 0 < odds <= _ALWAYS:
        made |= {"probability": odds, "useProbability": True}
    return {**made, **decorated}


def _writes(entry: Raw) -> dict[str, Json]:
    keys, secondary = texts(entry.get("key")), texts(entry.get("keysecondary"))
    patterns = any(not is_plain(key) for key in keys)
    selective = bool(secondary) and effective(entry, "selective") is True
    selective = selective and effective(entry, "selectiveLogic") == Logic.AND_ANY
    order, odds = number(effective(entry, "order")), chance(entry)
    as_number = "activationPercent" in object_in(kept_in(entry, FORM.name), "fields") and 0 < odds <= _ALWAYS
    made: dict[str, Json] = {
        "key": ", ".join(_as_pattern(key) if patterns else key for key in keys),
        "content": with_decorators({**entry, "probability": _ALWAYS} if as_number else entry),
        "insertorder": 100 if order is None else order,
        "secondkey": ", ".join(secondary) if selective else "",
        "selective": selective,
    }
    return made | ({"useRegex": True} if patterns else {}) | ({"activationPercent": odds} if as_number else {})


def _as_pattern(key: str) -> str:
    """A key for an entry all of whose keys have to be patterns."""
    return f"/{re.escape(key).replace('/', chr(92) + '/')}/i" if is_plain(key) else key


def folder_names(entries: Sequence[Json]) -> dict[str, str]:
    """The names of a book's folders, by what their members have as `folder`."""
    folders = (each for each in entries if isinstance(each, Mapping) and each.get("mode") == "folder")
    return {key: text_in(each.get("comment")) for each in folders if (key := text_in(each.get("key")))}


def folder_of(names: Mapping[str, str], raw: Raw) -> str:
    """The name of the folder that an entry lies in, "" without one."""
    return names.get(text_in(raw.get("folder")), "")


FORM: Final = EntryForm(
    name="risu",
    title="Risu",
    reads=_reads,
    writes=_writes,
    together=(frozenset({"key", "useRegex"}), frozenset({"content", "activationPercent"})),
    new=lambda _entry: {"mode": "normal"},
    cannot="Risu has no place for it",
    links=(
        FieldLink("comment", "comment", spelled="text"),
        FieldLink("content", "content", DECORATED, applies=lambda raw: is_decorated(text_in(raw.get("content")))),
        FieldLink("key", "key", how_back="where one key is a pattern, Risu wants all of them to be", spelled="joined"),
        FieldLink("secondkey", "keysecondary", spelled="joined"),
        FieldLink("selective", "selective", spelled="flag"),
        FieldLink("insertorder", "order"),
        FieldLink("alwaysActive", "constant", spelled="flag"),
        FieldLink("activationPercent", "probability"),
        *(FieldLink(line, ours, NOT_QUITE.get(ours, ""), NOT_QUITE.get(ours, "")) for ours, line in MEANT.items()),
    ),
)
