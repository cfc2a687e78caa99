"""Which single changes could keep an entry out that went in, by what brought it in (see `what_if`)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from lorestudio.domain.state import EntryRule
from lorestudio.systems.changes import Change, NoteEdit, Option, Steps
from lorestudio.systems.deeplore.ideas.matching import KEYS
from lorestudio.systems.deeplore.ideas.situation import DeepLoreSituation
from lorestudio.systems.deeplore.key_places import would_match
from lorestudio.trace.model import Outcome, Verdict
from lorestudio.trace.wording import joined, quoted

LARGEST_PRIORITY: Final = 1000
"""Notes behind this number are rare; a number that goes in there still does so for want of rivals."""


def keep_out_options(situation: DeepLoreSituation) -> tuple[Option, ...]:
    """What to try, what touches least first."""
    found = [option for option in _all(situation) if len(option.steps)]
    return tuple(option for option in found if situation.editable or option.steps[0].note is None)


def _all(s: DeepLoreSituation) -> Iterator[Option]:
    verdicts = [
        verdict
        for record in s.trace.stages
        for verdict in record.verdicts
        if verdict.entry == s.entry.id and verdict.outcome in {Outcome.ADDED, Outcome.CHANGED}
    ]
    for verdict in verdicts:
        yield from _without(s, verdict)
    rule = EntryRule(s.entry.title)
    yield s.choose("block", f"Block {s.name} in this chat", blocks=(*s.controls.blocks, rule))
    yield from _later(s)
    yield s.edit("disable", f"Switch the note {s.name} off", NoteEdit.of(s.entry, "enabled", value=False))


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
        yield s.edit("constant", f"Remove the tag {quoted(tag)} of {s.name}", NoteEdit.of(entry, "tags", drop=(tag,)))
    elif reason == "constant":
        yield s.edit("constant", f"Make {s.name} no constant", NoteEdit.of(entry, "constant", removed=True))
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
        return Change("drop_key", title, note=NoteEdit.of(s.entry, KEYS, drop=keys[:number]))

    return Option(Steps(range(1, len(keys) + 1), make))


def _later(s: DeepLoreSituation) -> Iterator[Option]:
    now = s.entry.priority

    def make(number: int) -> Change:
        title = f"Give {s.name} a lower priority: {number:,} instead of {now:,g}"
        return Change("priority", title, note=NoteEdit.of(s.entry, "priority", number))

    if not (s.ctx.settings.unlimited_budget and s.ctx.settings.unlimited_entries):
        first = 51 if now == 0 else math.floor(now) + 1
        yield Option(Steps(range(first, LARGEST_PRIORITY + 1), make))
