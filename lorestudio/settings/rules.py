"""DeepLore's rule sets: what each version after 2.0.2 decides otherwise, rule by rule (rules: deeplore-newer).

A set is named as settings and the command line name it: `2.0.2`, `2.6`, and for trying rules one by one a version with
rules added or taken back, as in `2.0.2+kept_log` or `2.6-answer_slot-kept_log`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from pydantic import BaseModel

from lorestudio.settings.declaration import StageName, Switch, declared_switches, switch

OLD: Final = "2.0.2"
NEW: Final = "2.6"
VERSIONS: Final[Mapping[str, str]] = {
    OLD: "As DeepLore decides up to version 2.4.",
    NEW: "As DeepLore decides from version 2.5 on.",
}


def _rule(title: str, before: str, after: str, *affects: StageName) -> bool:
    """Declare one changed rule: how 2.0.2 decides, how 2.6 does, and the stages it concerns (none: reading notes)."""
    return switch(False, title, f"Before: {before} Now: {after}", affects)


class RuleSet(BaseModel, frozen=True, extra="forbid"):
    """Every rule that 2.6 changes; true where it holds as 2.6 has it. Equal titles, notes and settings included."""

    refine_logic: bool = _rule(
        "Logic of refine keys",
        "any refine key is enough.",
        "a note's selective_logic says whether any, all, not all or none have to match.",
    )
    one_gate: bool = _rule(
        "Order of chance, warmup and cooldown",
        "each way in has an order of its own, and a chance may be rolled for an entry that is then held back.",
        "cooldown, warmup, then the roll, on every way in.",
        "keywords", "cascade links", "recursion", "BM25",
    )  # fmt: skip
    reversed_priority: bool = _rule(
        "Priority the other way round",
        "a lower number is always more important.",
        "with the setting for it a higher number is more important.",
        "match order", "priority order", "requires and excludes",
    )  # fmt: skip
    bootstrap_ends: bool = _rule(
        "Bootstrap entries and gates",
        "gates never hold them back.",
        "gates hold them back once the chat is no longer new.",
        "contextual gating", "re-injection cooldown", "requires and excludes", "duplicate stripping",
    )  # fmt: skip
    one_policy: bool = _rule(
        "Who is exempt from gates",
        "each gate draws the list from the candidates at hand.",
        "the list is drawn once from the whole vault.",
        "pre-gating", "contextual gating (selection)", "folder filter",
    )  # fmt: skip
    existence_alone: bool = _rule(
        "Fields that must exist or be missing",
        "a chat without any context is not gated at all.",
        "exists and not_exists are looked at even then.",
        "pre-gating", "contextual gating (selection)", "contextual gating",
    )  # fmt: skip
    any_element: bool = _rule(
        "Comparing with a list",
        "eq, gt and lt take a list of the context as one value.",
        "one element that fits is enough.",
        "pre-gating", "contextual gating (selection)", "contextual gating",
    )  # fmt: skip
    tabbed_definitions: bool = _rule(
        "Tabs in field definitions",
        "only blanks indent.",
        "a tab counts as two blanks, and selective_logic is no field's name.",
    )  # fmt: skip
    zero_priority: bool = _rule(
        "Priority 0",
        "requires and excludes take it as 50.",
        "it is 0, the most important of all.",
        "requires and excludes",
    )
    counted_titles: bool = _rule(
        "Equal titles in requires and excludes",
        "a title is gone as soon as one of its notes is.",
        "it is there while one of its notes is.",
        "requires and excludes",
    )
    answer_slot: bool = _rule(
        "Which reply is being written",
        "every swipe of a reply takes back what the one before counted.",
        "a new swipe is a generation of its own; only writing the same one again takes back.",
        "snapshot", "bookkeeping",
    )  # fmt: skip
    kept_log: bool = _rule(
        "Duplicate stripping",
        "the log is emptied before every generation without a cached AI selection, so keys alone never strip.",
        "it is kept with keys alone, so lore of recent replies stays out.",
        "duplicate stripping",
    )
    vault_in_log: bool = _rule(
        "Equal titles in the duplicate log",
        "the log knows no vaults.",
        "notes of two vaults are two.",
        "duplicate stripping", "bookkeeping",
    )  # fmt: skip
    truncated_known: bool = _rule(
        "Shortened entries in the duplicate log",
        "an entry that was shortened is never recognised.",
        "it is stripped like any other.",
        "budget",
    )
    manifest_fields: bool = _rule(
        "Fields in the AI's list",
        "World Info's fields are shown to the model.",
        "they are not, unless the setting for it lists them.",
        "manifest",
    )
    category_vaults: bool = _rule(
        "Equal titles among a category's examples",
        "a title stands there twice.",
        "the second and later have their vault behind them.",
        "category prefilter",
    )
    strict_replies: bool = _rule(
        "Reading the AI's answer",
        "a list is found in envelopes, in text within text, and in any part of an object.",
        "only an array, fenced or not, or one inside other text is read.",
        "category prefilter", "AI selection",
    )  # fmt: skip
    asked_by_schema: bool = _rule(
        "What the AI's answer has to look like",
        "Claude models and the category question are asked in words only.",
        "every question states the form of its answer.",
        "category prefilter", "AI selection",
    )  # fmt: skip
    cache_connection: bool = _rule(
        "What makes a cached AI selection void",
        "not the proxy's address or the reply limit.",
        "these two as well.",
        "AI selection",
    )
    breaker_status: bool = _rule(
        "Errors that pause the AI",
        "any 401, 403, 429 or “auth” in the text is let pass.",
        "only a status, or the words of a refusal or a limit, are.",
        "AI selection",
    )
    probe_freed: bool = _rule(
        "Probe after a pause of the AI",
        "a question without a verdict keeps it for a minute.",
        "it is given back.",
        "category prefilter", "AI selection",
    )  # fmt: skip
    no_proxy: bool = _rule(
        "Proxy connections",
        "AI selection may go through a local proxy.",
        "there are none any more: the AI selection fails.",
        "AI selection",
    )
    conflicts_across: bool = _rule(
        "Same title in several vaults",
        "the setting also joins notes of one vault.",
        "it only decides between vaults, and joined notes also share cascade links and refine keys.",
    )  # fmt: skip
    all_copies: bool = _rule(
        "Links to an equal title",
        "a link brings in the last of several notes.",
        "cascade links bring in all of them, wiki links one of each vault.",
        "cascade links", "wiki links",
    )  # fmt: skip
    all_characters: bool = _rule(
        "Notes of the active character", "one note comes in.", "all with that title or key do.", "active character"
    )
    labels_by_vault: bool = _rule(
        "Match reasons of equal titles", "they share one.", "those of two vaults have one each.", "match order"
    )
    unicode_names: bool = _rule(
        "Field names in other alphabets", "such a line belongs to the field before it.", "it is a field of its own."
    )
    empty_titles: bool = _rule("Notes without a title", "a note named by blanks is an entry.", "it is left out.")
    wi_fields: bool = _rule(
        "World Info's fields in notes", "they are not read.", "they travel along with a warning.", "manifest"
    )
    checked_template: bool = _rule(
        "Template without {{content}}",
        "it goes in without any lore.",
        "the built-in template takes its place.",
        "placement",
    )
    prefill: bool = _rule(
        "Beginning of the reply", "there is none.", "the setting's text is put in front of the reply.", "placement"
    )
    notepad_lines: bool = _rule(
        "Lines of the AI notepad",
        "as many as fit.",
        "the oldest go when there are more than the setting allows, pinned ones excepted.",
        "notes",
    )
    null_stays: bool = _rule(
        "Settings without a value",
        "null in place of a number is brought to the nearest limit.",
        "it stays and counts as nothing.",
        "budget",
    )


OLD_RULES: Final = RuleSet()
"""Those of 2.0.2."""


def changed_rules() -> tuple[Switch, ...]:
    """All rules that 2.6 changes, in the order of their declaration."""
    return declared_switches(RuleSet)


_NAME: Final = re.compile(r"(?P<version>2\.0\.2|2\.6)(?P<changes>(?:[+-][a-z_]+)*)")


@lru_cache(maxsize=256)
def rules_of(name: str) -> RuleSet:
    """The rules of that name. Raises ValueError saying what can be written."""
    found = _NAME.fullmatch(name.strip())
    changes = re.findall(r"([+-])([a-z_]+)", found["changes"]) if found is not None else ()
    unknown = next((each for _, each in changes if each not in RuleSet.model_fields), "")
    if found is None or unknown:
        what = f"no rule is called {unknown!r}" if unknown else f"{name!r} names no rules"
        raise ValueError(f"{what}. Write {OLD} or {NEW}, or one with single rules changed, as in {OLD}+kept_log.")
    values = dict.fromkeys(RuleSet.model_fields, found["version"] == NEW)
    return RuleSet(**{**values, **{rule: sign == "+" for sign, rule in changes}})


def name_of(rules: RuleSet) -> str:
    """The shortest name of the rules."""
    on = [each for each in RuleSet.model_fields if getattr(rules, each)]
    off = [each for each in RuleSet.model_fields if each not in on]
    return min(OLD + "".join(f"+{each}" for each in on), NEW + "".join(f"-{each}" for each in off), key=len)


def with_rule(name: str, rule: str, *, holds: bool) -> str:
    """The name of the same rules with one of them as 2.6 has it, or as 2.0.2."""
    return name_of(rules_of(name).model_copy(update={rule: holds}))
