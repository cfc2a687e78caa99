"""Entries of NovelAI's lorebooks, also of those in its stories and scenarios (rules: lorebooks 6)."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from functools import partial
from typing import Final

from lorestudio.domain.javascript import Json
from lorestudio.domain.json_text import items_in, mapping_in, object_in, spell, text_in
from lorestudio.domain.records import replace
from lorestudio.exchange.lorebooks.crossing import EntryForm, FieldLink, Raw, effective, number, texts, title_of

_CONFIG: Final = "contextConfig"


def categories(book: Raw) -> Iterator[Raw]:
    """The categories of a book."""
    yield from map(mapping_in, items_in(book.get("categories")))


def _reads(raw: Raw, off: frozenset[str]) -> dict[str, Json]:
    order = number(object_in(raw, _CONFIG).get("budgetPriority"))
    return {
        "order": 0 if order is None else order,
        "disable": raw.get("enabled", True) is False or text_in(raw.get("category")) in off,
    }


def _writes(entry: Raw) -> dict[str, Json]:
    order = number(effective(entry, "order"))
    config: dict[str, Json] = {"budgetPriority": 400 if order is None else order}
    return {_CONFIG: config, "enabled": effective(entry, "disable") is not True}


def _new(entry: Raw) -> Raw:
    named = spell([entry.get("uid"), title_of(entry)], ascii_only=True)
    return {
        "text": "",
        _CONFIG: {
            "prefix": "", "suffix": "\n", "tokenBudget": 1, "reservedTokens": 0, "budgetPriority": 400,
            "trimDirection": "trimBottom", "insertionType": "newline", "maximumTrimType": "sentence",
            "insertionPosition": -1,
        },
        "lastUpdatedAt": 0, "displayName": "", "id": str(uuid.uuid5(uuid.NAMESPACE_OID, named)), "keys": [],
        "searchRange": 1000, "enabled": True, "forceActivation": False, "keyRelative": False,
        "nonStoryActivatable": False, "category": "", "loreBiasGroups": [],
    }  # fmt: skip


FORM: Final = EntryForm(
    name="novelai",
    title="NovelAI",
    reads=partial(_reads, off=frozenset()),
    writes=_writes,
    new=_new,
    nested=_CONFIG,
    cannot="NovelAI has no place for it",
    links=(
        FieldLink("displayName", "comment", spelled="text"),
        FieldLink("text", "content", spelled="text"),
        FieldLink(
            "keys",
            "key",
            "World Info looks for a key with & as it stands, not for both of its parts",
            applies=lambda raw: any("&" in key for key in texts(raw.get("keys"))),
            spelled="listed",
        ),
        FieldLink("contextConfig.budgetPriority", "order"),
        FieldLink("forceActivation", "constant", spelled="flag"),
        FieldLink("enabled", "disable"),
    ),
)


_NO_HEADS: Final[Raw] = {"prefix": "", "suffix": "\n"}


def with_heads(form: EntryForm) -> EntryForm:
    """The form where what NovelAI puts before and behind a text belongs to the text."""

    def reads(raw: Raw) -> dict[str, Json]:
        config = {**_NO_HEADS, **object_in(raw, _CONFIG)}
        before, behind = text_in(config["prefix"]), text_in(config["suffix"]).removesuffix("\n")
        return {**form.reads(raw), "content": f"{before}{text_in(raw.get('text'))}{behind}"}

    def writes(entry: Raw) -> dict[str, Json]:
        made = form.writes(entry)
        return {**made, _CONFIG: {**object_in(made, _CONFIG), **_NO_HEADS}}

    said = (FieldLink(f"{_CONFIG}.{name}", "content", "it stands in the text") for name in _NO_HEADS)
    return replace(form, reads=reads, writes=writes, links=(*form.links, *said))


def form_of(book: Raw) -> EntryForm:
    """The form of a book's entries: those in a category that is switched off are switched off."""
    off = frozenset(text_in(each.get("id")) for each in categories(book) if each.get("enabled") is False)
    return replace(FORM, reads=partial(_reads, off=off))


def folder_of(book: Raw, raw: Raw) -> str:
    """The name of an entry's category, "" without one."""
    return next((text_in(each.get("name")) for each in categories(book) if each.get("id") == raw.get("category")), "")


EMPTY: Final[Raw] = {
    "lorebookVersion": 5, "entries": [], "settings": {"orderByKeyLocations": False}, "categories": [],
}  # fmt: skip
"""A new lorebook."""


def with_order(before: Raw, after: Raw) -> Raw:
    """The book with its `order` saying what its entries are now, where it has one: new ones come last."""
    order = before.get("order")
    if not isinstance(order, list | tuple):
        return after
    was, now = _ids(before), _ids(after)
    kept = [each for each in order if not isinstance(each, str) or each in now or each not in was]
    return {**after, "order": [*kept, *(each for each in now if each not in was and each not in order)]}


def _ids(book: Raw) -> dict[str, None]:
    return dict.fromkeys(text_in(mapping_in(each).get("id")) for each in items_in(book.get("entries")))
