"""Lorebooks of other programs, and the book inside a character card, as SillyTavern takes them in.

Source: spec: deeplore-ai-and-tools 5.3 ("Foreign books") and 5.5 (the card's book).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from lorestudio.domain.javascript import Json, truthy
from lorestudio.exchange.lorebooks.entry import Extra, Place

_EXTENSIONS: Final = {
    "position": "position",
    "exclude_recursion": "excludeRecursion",
    "prevent_recursion": "preventRecursion",
    "delay_until_recursion": "delayUntilRecursion",
    "display_index": "displayIndex",
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
    "automation_id": "automationId",
    "vectorized": "vectorized",
    "sticky": "sticky",
    "cooldown": "cooldown",
    "delay": "delay",
    "outlet_name": "outletName",
    "triggers": "triggers",
    "ignore_budget": "ignoreBudget",
    "match_persona_description": Extra.PERSONA.value,
    "match_character_description": Extra.DESCRIPTION.value,
    "match_character_personality": Extra.PERSONALITY.value,
    "match_character_depth_prompt": Extra.DEPTH_PROMPT.value,
    "match_scenario": Extra.SCENARIO.value,
    "match_creator_notes": Extra.CREATOR_NOTES.value,
}
_CARD: Final = frozenset({
    "id", "keys", "secondary_keys", "comment", "name", "content", "constant", "selective", "insertion_order", "enabled",
    "position", "extensions", "use_regex",
})  # fmt: skip


def of_card(raw: Mapping[str, Json], name: str) -> dict[str, Json]:
    """A card's entry as a native one. What SillyTavern does not take over keeps its own name."""
    own = raw.get("extensions")
    own = own if isinstance(own, Mapping) else {}
    native: dict[str, Json] = {
        "uid": raw.get("id", name),
        "key": raw.get("keys"),
        "keysecondary": raw.get("secondary_keys"),
        "comment": raw.get("comment") or raw.get("name"),
        "content": raw.get("content"),
        "constant": truthy(raw.get("constant")),
        "selective": truthy(raw.get("selective")),
        "order": raw.get("insertion_order"),
        "disable": not truthy(raw.get("enabled")),
        "position": int(Place.BEFORE if raw.get("position") == "before_char" else Place.AFTER),
    }
    native |= {_EXTENSIONS[name]: value for name, value in own.items() if name in _EXTENSIONS and value is not None}
    native |= {f"extensions.{name}": value for name, value in own.items() if name not in _EXTENSIONS}
    return native | {name: value for name, value in raw.items() if name not in _CARD}


def of_agnaistic(raw: Mapping[str, Json], name: str) -> dict[str, Json]:
    """An entry of an Agnaistic memory book."""
    taken = {"keywords", "name", "entry", "weight", "enabled"}
    return {
        "uid": name,
        "key": raw.get("keywords"),
        "comment": raw.get("name"),
        "content": raw.get("entry"),
        "selective": False,
        "order": raw.get("weight"),
        "disable": not truthy(raw.get("enabled")),
        **{field: value for field, value in raw.items() if field not in taken},
    }


def of_risu(raw: Mapping[str, Json], name: str) -> dict[str, Json]:
    """An entry of a Risu lorebook; its keys are texts with commas."""
    taken = {"key", "secondkey", "comment", "content", "alwaysActive", "selective", "insertorder", "activationPercent"}
    native: dict[str, Json] = {
        "uid": name,
        "key": raw.get("key"),
        "keysecondary": raw.get("secondkey"),
        "comment": raw.get("comment"),
        "content": raw.get("content"),
        "constant": truthy(raw.get("alwaysActive")),
        "selective": truthy(raw.get("selective")),
        "order": raw.get("insertorder"),
    }
    if raw.get("activationPercent") is not None:
        native["probability"] = raw["activationPercent"]
    return native | {field: value for field, value in raw.items() if field not in taken}


def of_novelai(raw: Mapping[str, Json], name: str) -> dict[str, Json]:
    """An entry of a NovelAI lorebook."""
    config = raw.get("contextConfig")
    config = config if isinstance(config, Mapping) else {}
    taken = {"keys", "displayName", "text", "contextConfig", "enabled"}
    return {
        "uid": name,
        "key": raw.get("keys"),
        "comment": raw.get("displayName"),
        "content": raw.get("text"),
        "selective": False,
        "order": config.get("budgetPriority", 0),
        "disable": not truthy(raw.get("enabled")),
        **{field: value for field, value in raw.items() if field not in taken},
        **{f"contextConfig.{field}": value for field, value in config.items() if field != "budgetPriority"},
    }
