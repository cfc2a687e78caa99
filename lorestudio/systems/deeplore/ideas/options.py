"""Which single changes could bring an entry in, or keep one out, by what stopped it or brought it in.

Nothing is decided here: the changes are only such as can concern that stage, and whether one of them works is found by
running the engine with it (`studio.tryout.why_not`). Where an amount is needed, all amounts are offered, least first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, TypeAlias

from lorestudio.domain.state import EntryRule
from lorestudio.systems.changes import Change, NoteEdit, Option, Steps
from lorestudio.systems.deeplore.ideas import gates as gate_ideas
from lorestudio.systems.deeplore.ideas import matching as match_ideas
from lorestudio.systems.deeplore.ideas.situation import DeepLoreSituation
from lorestudio.systems.deeplore.matching.key_places import would_match
from lorestudio.trace.journey import FateState
from lorestudio.trace.model import Outcome, Verdict
from lorestudio.trace.wording import joined, quoted

Maker: TypeAlias = Callable[[DeepLoreSituation], Iterator[Option]]


def options(s: DeepLoreSituation) -> tuple[Option, ...]:
    """What to try: to bring the entry in likely ones first, to keep it out what touches least first."""
    tried: Iterable[Option] = ()
    if s.keeps_out:
        tried = _keeping_out(s)
    elif s.fate.state not in {FateState.INJECTED, FateState.TRUNCATED}:
        tried = (option for maker in _BY_REASON.get(s.fate.reason, _NOT_MATCHED) for option in maker(s))
    return tuple(each for each in tried if len(each.steps) and (s.editable or each.steps[0].note is None))


_NOT_MATCHED: Final[tuple[Maker, ...]] = (
    match_ideas.add_key,
    match_ideas.deeper,
    match_ideas.looser,
    match_ideas.new_chat,
    match_ideas.pin,
    match_ideas.constant,
    gate_ideas.modes,
)
_GATED: Final[tuple[Maker, ...]] = (match_ideas.pin, match_ideas.constant)
_CUT: Final[tuple[Maker, ...]] = (gate_ideas.earlier, gate_ideas.budget, match_ideas.pin)
_NOT_CHOSEN: Final[tuple[Maker, ...]] = (gate_ideas.model, match_ideas.pin, match_ideas.constant, gate_ideas.modes)

_BY_REASON: Final[Mapping[str, tuple[Maker, ...]]] = {
    "refine_blocked": (
        match_ideas.add_refine_key,
        match_ideas.drop_refine_keys,
        match_ideas.deeper,
        match_ideas.looser,
        match_ideas.pin,
        match_ideas.constant,
    ),
    "refine_logic": (match_ideas.drop_refine_keys, match_ideas.deeper, match_ideas.pin, match_ideas.constant),
    "warmup_short": (match_ideas.warm, match_ideas.deeper, match_ideas.pin, match_ideas.constant),
    "probability_zero": (match_ideas.certain, match_ideas.pin, match_ideas.constant),
    "probability_lost": (match_ideas.certain, match_ideas.pin, match_ideas.constant),
    "cooling_down": (match_ideas.rested, match_ideas.pin, match_ideas.constant),
    "guide_hidden": (match_ideas.no_guide,),
    "gated_field": (gate_ideas.gates, *_GATED),
    "outside_folders": (gate_ideas.folders, *_GATED),
    "blocked": (gate_ideas.unblock,),
    "replaced_by_pin": (gate_ideas.unpin_other,),
    "reinjection_pause": (gate_ideas.shorter_pause, *_GATED),
    "missing_requirement": (gate_ideas.requires, match_ideas.pin_missing, *_GATED),
    "excluded_by": (gate_ideas.excludes, gate_ideas.earlier, *_GATED),
    "already_in_context": (gate_ideas.duplicates, *_GATED),
    "over_entry_cap": _CUT,
    "over_budget": _CUT,
    "behind_cut": _CUT,
    "ai_not_selected": _NOT_CHOSEN,
    "below_confidence": _NOT_CHOSEN,
    "not_offered": _NOT_CHOSEN,
    "nothing_offered": _NOT_CHOSEN,
    "prefilter_dropped": _NOT_CHOSEN,
    "fallback_dropped": _NOT_CHOSEN,
}


def _keeping_out(s: DeepLoreSituation) -> Iterator[Option]:
    verdicts = [
        verdict
        for record in s.trace.stages
        for verdict in record.verdicts
        if verdict.entry == s.entry.id and verdict.outcome in {Outcome.ADDED, Outcome.CHANGED}
    ]
    for verdict in verdicts:
        yield from _without(s, verdict)
    rule = EntryRule(s.entry.title)
    yield s.choose("block", f"Block {s.name} in this chat", forced=True, blocks=(*s.controls.blocks, rule))
    yield from _later(s)
    yield s.edit("disable", f"Switch the note {s.name} off", "enabled", value=False, forced=True)


def _without(s: DeepLoreSituation, verdict: Verdict) -> Iterator[Option]:
    """Without what brought it in."""
    entry, settings, reason = s.entry, s.ctx.settings, verdict.reason
    key = verdict.details.get("key")
    if reason in {"key_hit", "relabeled", "recursion"} and isinstance(key, str):
        yield _fewer_keys(s, key)
    if reason == "key_hit":
        yield s.amounts("scan_depth", "scan_depth", range(settings.scan_depth - 1, 0, -1))
    if reason == "constant" and settings.constant_tag.lower() in entry.tags:
        tag = settings.constant_tag
        yield s.edit("constant", f"Remove the tag {quoted(tag)} of {s.name}", "tags", drop=(tag,))
    elif reason == "constant":
        yield s.edit("constant", f"Make {s.name} no constant", "constant")
    if reason == "recursion":
        yield s.set("recursion", "recursive_scan", value=False)
    if reason == "fuzzy":
        yield s.set("fuzzy", "fuzzy_search_enabled", value=False)
    if reason == "active_character":
        yield s.set("active_character", "character_context_scan", value=False)
    if reason in {"pinned", "pin_upgraded"}:
        pins = tuple(rule for rule in s.controls.pins if not rule.matches(entry))
        yield s.choose("unpin", f"Unpin {s.name}", pins=pins)


def _fewer_keys(s: DeepLoreSituation, key: str) -> Option:
    """Without the key that hit, then without the others that are found too, and at last without any."""
    found = [each.key for each in would_match(s.ctx, s.entry).keys if each.found]
    keys = tuple(dict.fromkeys([key, *found, *s.entry.keys]))

    def make(number: int) -> Change:
        words = joined([quoted(each) for each in keys[:number]])
        title = f"Remove the {'key' if number == 1 else 'keys'} {words} of {s.name}"
        return Change("drop_key", title, note=NoteEdit.of(s.entry, "keys", drop=keys[:number]))

    return Option(Steps(range(1, len(keys) + 1), make))


def _later(s: DeepLoreSituation) -> Iterator[Option]:
    if not (s.ctx.settings.unlimited_budget and s.ctx.settings.unlimited_entries):
        now = s.entry.priority
        numbers = range(51 if now == 0 else math.floor(now) + 1, gate_ideas.LARGEST_PRIORITY + 1)
        words = f"instead of {now:,g}"
        if s.ctx.reversed:
            numbers = range(math.ceil(now) - 1, gate_ideas.LEAST_PRIORITY - 1, -1)
        yield s.numbered("priority", numbers, lambda number: f"Give {s.name} a lower priority: {number:,} {words}")
