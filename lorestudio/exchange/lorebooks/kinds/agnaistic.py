"""Entries of Agnaistic's memory books (rules: lorebooks 7)."""

from __future__ import annotations

import re
from typing import Final

from lorestudio.domain.javascript import Json
from lorestudio.domain.json_text import text_in
from lorestudio.exchange.lorebooks.crossing import EntryForm, FieldLink, Raw, chance, effective, number, stated, texts
from lorestudio.exchange.lorebooks.entry import BookPlace

_WILD: Final = re.compile(r"[*?]")
_PATTERN: Final = re.compile(r"/\\b((?:\\w\*|\w|\\w| )+)\\b/i")
_PLACES: Final = ("before_char", "after_char")


def _key(keyword: str) -> str:
    """A keyword with `*` or `?` as the pattern that finds the same."""
    if not _WILD.search(keyword):
        return keyword
    kept = re.sub(r"[^\w*? ]", "", keyword)
    return "/\\b" + kept.replace("*", r"\w*").replace("?", r"\w") + "\\b/i"


def _keyword(key: str) -> str:
    found = _PATTERN.fullmatch(key)
    return found[1].replace(r"\w*", "*").replace(r"\w", "?") if found else key


def _reads(raw: Raw) -> dict[str, Json]:
    place = raw.get("position")
    probability = number(raw.get("probability"))
    return {
        "key": [_key(word) for word in texts(raw.get("keywords"))],
        "keysecondary": texts(raw.get("secondaryKeys")),
        "disable": raw.get("enabled", True) is False,
        "constant": raw.get("constant") is True,
        "excludeRecursion": raw.get("excludeRecursion") is True,
        "selective": raw.get("selective", True) is not False,
        **stated(
            order=number(raw.get("weight")),
            position=_PLACES.index(text_in(place)) if place in _PLACES else number(place),
            selectiveLogic=number(raw.get("selectiveLogic")),
            probability=probability,
            useProbability=None if probability is None else raw.get("useProbability", True) is not False,
        ),
    }


def _writes(entry: Raw) -> dict[str, Json]:
    place, order = effective(entry, "position"), number(effective(entry, "order"))
    made: dict[str, Json] = {
        "keywords": [_keyword(key) for key in texts(entry.get("key"))],
        "weight": 100 if order is None else order,
        "enabled": effective(entry, "disable") is not True,
    }
    if entry.get("constant") is True:
        made["constant"] = True
    if entry.get("excludeRecursion") is True:
        made["excludeRecursion"] = True
    if texts(entry.get("keysecondary")):
        made |= {
            "secondaryKeys": texts(entry.get("keysecondary")),
            "selective": effective(entry, "selective") is not False,
            "selectiveLogic": effective(entry, "selectiveLogic"),
        }
    if place == BookPlace.AFTER:
        made["position"] = _PLACES[BookPlace.AFTER]
    if chance(entry) != 100:
        made |= {"probability": chance(entry), "useProbability": True}
    return made


FORM: Final = EntryForm(
    name="agnaistic",
    title="Agnaistic",
    reads=_reads,
    writes=_writes,
    new=lambda _entry: {"priority": 100},
    cannot="Agnaistic has no place for it",
    links=(
        FieldLink("name", "comment", spelled="text"),
        FieldLink("entry", "content", spelled="text"),
        FieldLink(
            "keywords",
            "key",
            "a keyword with * or ? becomes a pattern",
            applies=lambda raw: any(map(_WILD.search, texts(raw.get("keywords")))),
        ),
        FieldLink("weight", "order"),
        FieldLink("enabled", "disable"),
        FieldLink("secondaryKeys", "keysecondary", how_back="only other programs read it in Agnaistic's file"),
        FieldLink("selective", "selective"),
        FieldLink("selectiveLogic", "selectiveLogic", how_back="only other programs read it in Agnaistic's file"),
        FieldLink("constant", "constant", how_back="only other programs read it in Agnaistic's file"),
        FieldLink("position", "position", how_back="only other programs read it in Agnaistic's file"),
        FieldLink("probability", "probability", how_back="only other programs read it in Agnaistic's file"),
        FieldLink("useProbability", "useProbability"),
        FieldLink("excludeRecursion", "excludeRecursion", how_back="only other programs read it in Agnaistic's file"),
    ),
)
