"""Entries of KoboldAI's World Info: of Lite and of the first KoboldAI, and of United (rules: lorebooks 9)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from lorestudio.domain.javascript import Json, to_string
from lorestudio.domain.json_text import mapping_in, object_in, text_in
from lorestudio.exchange.lorebooks.crossing import (
    EntryForm,
    FieldLink,
    Raw,
    chance,
    effective,
    number,
    split_keys,
    texts,
)
from lorestudio.exchange.lorebooks.entry import Logic

_ALWAYS: Final = 100


def _lite_reads(raw: Raw) -> dict[str, Json]:
    secondary, never = split_keys(raw.get("keysecondary")), split_keys(raw.get("keyanti"))
    selective = raw.get("selective") is True
    made: dict[str, Json] = {"keysecondary": secondary, "selective": selective}
    if selective and never and not secondary:
        made |= {"keysecondary": never, "selectiveLogic": int(Logic.NOT_ANY)}
    odds = _odds(raw.get("probability"))
    return made | ({} if odds is None or odds >= _ALWAYS else {"probability": max(0, odds - 1), "useProbability": True})


def _odds(value: Json) -> int | float | None:
    """A probability, also one that is written as text."""
    if isinstance(value, str) and value.strip().isdecimal() and len(value) < 5:
        return int(value)
    return number(value)


def _lite_writes(entry: Raw) -> dict[str, Json]:
    secondary, odds = texts(entry.get("keysecondary")), chance(entry)
    selective = bool(secondary) and effective(entry, "selective") is True
    logic = effective(entry, "selectiveLogic")
    asked = selective and logic == Logic.AND_ANY
    barred = selective and logic == Logic.NOT_ANY
    return {
        "keysecondary": ",".join(secondary) if asked else "",
        "keyanti": ",".join(secondary) if barred else "",
        "selective": asked or barred,
        "probability": _ALWAYS if odds >= _ALWAYS else max(0, odds) + 1,
    }


LITE: Final = EntryForm(
    name="kobold",
    title="KoboldAI Lite",
    reads=_lite_reads,
    writes=_lite_writes,
    new=lambda _entry: {"folder": None, "wigroup": "", "probability": _ALWAYS},
    ranked=True,
    cannot="KoboldAI has no place for it",
    links=(
        FieldLink("key", "key", spelled="joined"),
        FieldLink("keysecondary", "keysecondary"),
        FieldLink("keyanti", "selectiveLogic"),
        FieldLink("selective", "selective"),
        FieldLink("content", "content", spelled="text"),
        FieldLink("comment", "comment", spelled="text"),
        FieldLink("constant", "constant", spelled="flag"),
        FieldLink("widisabled", "disable", spelled="flag"),
        FieldLink("probability", "probability", "KoboldAI draws below the number: one in a hundred less"),
    ),
)


def _united_reads(raw: Raw) -> dict[str, Json]:
    return {
        "comment": text_in(raw.get("title")) or text_in(raw.get("comment")),
        "constant": raw.get("constant") is True or raw.get("type") == "constant",
    }


EMPTY: Final[Raw] = {"folders": {"root": []}, "entries": {}}
"""A new book of United's."""


def with_folders(before: Raw, after: Raw) -> Raw:
    """The book with its folders naming what its entries are now, new ones last.

    What goes in is made of the author's own text, which therefore follows where it said the same.
    """
    was, now = object_in(before, "entries"), object_in(after, "entries")
    entries: dict[str, Json] = {}
    for key, raw in now.items():
        old, new = object_in(was, key), mapping_in(raw)
        follows = new.get("content") != old.get("content") and old.get("manual_text") == old.get("content")
        entries[key] = {**new, "manual_text": new.get("content")} if follows else raw
    if not isinstance(before.get("folders"), Mapping):
        return {**after, "entries": entries}
    places = {key: place for place, key in enumerate(now)}
    moved = [key for key in now if key in was] != [key for key in was if key in now]
    listed: dict[str, Json] = {}
    for folder, uids in object_in(before, "folders").items():
        kept = list(uids) if isinstance(uids, list | tuple) else []
        kept = [uid for uid in kept if to_string(uid) in now or to_string(uid) not in was]
        whole = [*kept, *(_number(key) for key in now if key not in was)] if folder == "root" else kept
        listed[folder] = sorted(whole, key=lambda uid: places.get(to_string(uid), -1)) if moved else whole
    return {**after, "folders": listed, "entries": entries}


def _number(key: str) -> Json:
    return int(key) if key.isdecimal() else key


UNITED: Final = EntryForm(
    name="kobold_united",
    title="KoboldAI United",
    reads=_united_reads,
    new=lambda entry: {
        "uid": entry.get("uid"),
        "folder": "root",
        "manual_text": text_in(entry.get("content")),
        "comment": "",
        "type": "wi",
        "token_length": 0,
        "used_in_game": False,
        "use_wpp": False,
        "wpp": {"name": "", "type": "", "format": "W++", "attributes": {}},
        "object_type": None,
    },
    ranked=True,
    cannot="KoboldAI has no place for it",
    links=(
        FieldLink("title", "comment", spelled="text"),
        FieldLink("content", "content", spelled="text"),
        FieldLink("key", "key", spelled="listed"),
        FieldLink("keysecondary", "keysecondary", spelled="listed"),
        FieldLink("selective", "selective", spelled="flag"),
        FieldLink("constant", "constant", spelled="flag"),
    ),
)
