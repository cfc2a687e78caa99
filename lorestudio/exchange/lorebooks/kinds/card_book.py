"""Entries of the book in a character card, and of a book of that kind on its own (rules: lorebooks 4, 5)."""

from __future__ import annotations

from typing import Final

from pydantic.alias_generators import to_camel

from lorestudio.domain.javascript import Json, truthy
from lorestudio.exchange.lorebooks.crossing import (
    WORLD_INFO,
    EntryForm,
    FieldLink,
    Raw,
    effective,
    mapping,
    number,
    text,
    texts,
    without_kept,
)
from lorestudio.exchange.lorebooks.entry import BookPlace
from lorestudio.exchange.lorebooks.kinds.decorators import DECORATED, is_decorated, without_decorators

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


def _there(raw: Raw) -> dict[str, Json]:
    own = mapping(raw.get(_OWN))
    content, decorated = text(raw.get("content")), dict[str, Json]()
    secondary = texts(raw.get("secondary_keys"))
    if own.get("position") is None:  # else SillyTavern wrote it, where decorators have no effect
        decorated, content = without_decorators(content, may_have_keys=not secondary)
    comment = text(raw.get("comment")) or text(raw.get("name"))
    order = number(raw.get("insertion_order"))
    made: dict[str, Json] = {
        "key": texts(raw.get("keys")),
        "keysecondary": secondary,
        "comment": comment,
        "addMemo": bool(comment),
        "content": content,
        "constant": truthy(raw.get("constant")),
        "selective": truthy(raw.get("selective")),
        "disable": not truthy(raw.get("enabled")),
        "position": int(BookPlace.BEFORE if raw.get("position") == "before_char" else BookPlace.AFTER),
    }
    if order is not None:
        made["order"] = order
    made |= {_OURS[name]: value for name, value in own.items() if name in _OURS and value is not None}
    others = {name: value for name, value in without_kept(own, WORLD_INFO).items() if name not in _OURS}
    return made | decorated | ({_OWN: others} if others else {})


def _back(entry: Raw) -> dict[str, Json]:
    order = number(effective(entry, "order"))
    made: dict[str, Json] = {
        "id": entry.get("uid"),
        "keys": texts(entry.get("key")),
        "secondary_keys": texts(entry.get("keysecondary")),
        "comment": text(entry.get("comment")),
        "content": text(entry.get("content")),
        "constant": truthy(entry.get("constant")),
        "selective": truthy(entry.get("selective")),
        "insertion_order": 100 if order is None else order,
        "enabled": not truthy(entry.get("disable")),
        "position": "before_char" if effective(entry, "position") == BookPlace.BEFORE else "after_char",
        "use_regex": True,
    }
    said = {theirs: effective(entry, ours) for theirs, ours in _OURS.items()}
    return made | {_OWN: {**without_kept(entry.get(_OWN), FORM.name), **said}}


FORM: Final = EntryForm(
    name="card",
    title="Character card",
    there=_there,
    back=_back,
    nested=_OWN,
    links=(
        FieldLink("keys", "key"),
        FieldLink("secondary_keys", "keysecondary"),
        FieldLink("comment", "comment"),
        FieldLink(
            "name",
            "comment",
            "SillyTavern does not read it; here it is the title where there is no comment",
            applies=lambda raw: not text(raw.get("comment")),
        ),
        FieldLink(
            "content",
            "content",
            DECORATED,
            applies=lambda raw: (
                is_decorated(text(raw.get("content"))) and mapping(raw.get(_OWN)).get("position") is None
            ),
        ),
        FieldLink("constant", "constant"),
        FieldLink("selective", "selective"),
        FieldLink("insertion_order", "order"),
        FieldLink("enabled", "disable"),
        FieldLink("position", "position"),
        FieldLink("id", "uid"),
        *(FieldLink(f"{_OWN}.{theirs}", ours) for theirs, ours in _OURS.items()),
    ),
)
"""What a card's entry cannot say is kept in its extensions, where SillyTavern leaves it."""
