"""Keyword selection: recorded inputs of the original's functions as calls of the engine and its stages."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Final

from lorestudio.domain.chat import Message
from lorestudio.domain.entry import Entry, FieldDefinition, VaultIndex
from lorestudio.domain.javascript import fold
from lorestudio.domain.state import ChatControls, Counters, EngineState, EntryRule
from lorestudio.exchange.chats.document import read_message
from lorestudio.systems.deeplore import gating
from lorestudio.systems.deeplore.gating import Policy
from lorestudio.systems.deeplore.inputs import Inputs
from lorestudio.systems.deeplore.matching.bm25 import EntryBM25, tokenize
from lorestudio.systems.deeplore.matching.index import DeepLoreIndex
from lorestudio.systems.deeplore.matching.keys import KeyMatcher
from lorestudio.systems.deeplore.pipeline import MATCHING
from lorestudio.systems.deeplore.stages.bookkeeping import bookkeeping_stage
from lorestudio.systems.deeplore.stages.budget import budget_stage
from lorestudio.systems.deeplore.stages.gates import RequiresExcludesStage, resolve, selection_gating_stage
from lorestudio.systems.deeplore.stages.placement import placement_stage
from lorestudio.systems.deeplore.stages.snapshot import snapshot_stage
from lorestudio.systems.deeplore.state import Accepted, RunState
from lorestudio.systems.deeplore.text import truncate_to_sentence
from lorestudio.systems.ledger import Stage
from lorestudio.trace.model import Outcome, StageRecord, StageStatus, Turn
from tests.cases.deeplore.settings import settings_from
from tests.systems.deeplore.recorded import UNDEFINED, entries_of, pairs
from tests.systems.worlds import Scripted, changed, inputs


def _context(
    entries: tuple[Entry, ...],
    settings: Mapping[str, Any] | None = None,
    *,
    fields: tuple[FieldDefinition, ...] = (),
    **values: Any,
) -> Inputs:
    return inputs(
        DeepLoreIndex(VaultIndex(entries=entries, fields=fields)),
        settings=settings_from(settings or {}),
        turn=Turn(0, 0, 0),
        **{"chat": (), **values},
    )


def _started(ctx: Inputs, draws: list[float] | None = None) -> RunState:
    """The state after the snapshot stage, with a list of draws as its random numbers."""
    state = RunState(Scripted(draws or []), ctx.state.counters, (), (), ctx.state)
    _run(snapshot_stage, state, ctx)
    return state


def _run(stage: Stage, state: RunState, ctx: Inputs) -> StageRecord:
    return asyncio.run(stage.run(state, ctx))


def _truncate(arguments: list[Any]) -> str:
    return truncate_to_sentence(*arguments)


def _keyword_match(arguments: list[Any]) -> list[Any]:
    keys, refine_keys, text, settings = arguments
    entry = Entry(0, "a.md", "", "A", keys=tuple(keys), refine_keys=tuple(refine_keys))
    case = settings["caseSensitive"]
    matcher = KeyMatcher((entry,), case_sensitive=case, whole_words=settings["matchWholeWords"])
    searched = text if case else fold(text)
    found = matcher.find(searched)
    hit, primary = matcher.test(0, found), matcher.test_primary(0, found)
    return [hit and hit.key, matcher.occurrences(0, searched), primary and primary.key]


def _bm25_query(arguments: list[Any]) -> list[list[Any]]:
    entries, query = arguments
    return [[hit.entry.id, hit.score] for hit in EntryBM25(entries_of(entries)).search(query, 0.1)]


def _requires_excludes(records: list[Any]) -> list[list[int]]:
    entries = entries_of(records)
    ctx = _context(entries)
    state = _started(ctx)
    state.candidates = list(entries)
    state.policy = Policy.of(entries, ())
    record = _run(RequiresExcludesStage(), state, ctx)
    left = [entry.id for entry in resolve(list(entries), state.policy)]
    removed = {verdict.entry for verdict in record.with_outcome(Outcome.REMOVED)}
    assert tuple(left) == record.left, "the stage leaves others than the rule"
    assert removed == {*range(len(entries))} - {*left}, "the stage's verdicts name others than it removes"
    return [left, [entry.id for entry in entries if entry.id not in left]]


def _gating_operator(arguments: list[Any]) -> bool:
    return gating.compare(*arguments)


def _field_of(record: Mapping[str, Any]) -> FieldDefinition:
    rules = record["gating"] or {"enabled": False, "operator": "match_any", "tolerance": ""}
    tolerance = rules["tolerance"]
    return FieldDefinition(
        record["name"],
        record["name"],
        gating=rules["enabled"],
        operator=rules["operator"],
        tolerance=None if tolerance == UNDEFINED else tolerance,
        context_key=record["contextKey"],
    )


def _contextual_gating(arguments: list[Any]) -> list[int]:
    records, values, definitions, pins, tolerance = arguments
    ctx = _context(
        entries_of(records),
        {"contextualGatingTolerance": "" if tolerance == UNDEFINED else tolerance},
        fields=tuple(map(_field_of, definitions)),
        controls=ChatControls(pins=tuple(map(EntryRule, pins)), context=values),
    )
    state = _started(ctx)
    state.candidates = list(ctx.index.vault.entries)
    return list(_run(selection_gating_stage, state, ctx).left)


def _format_and_group(arguments: list[Any]) -> list[Any]:
    records, settings = arguments
    ctx = _context(entries_of(records), settings)
    state = _started(ctx)
    state.candidates = list(ctx.index.vault.entries)
    _run(budget_stage, state, ctx)
    _run(placement_stage, state, ctx)
    groups = [
        {"tag": one.tag, "text": one.text, "position": one.position, "depth": one.depth, "role": one.role}
        for one in state.blocks
    ]
    went_in = [
        [item.entry.id, item.entry.tokens, item.truncated, item.entry.content, item.entry.content_hash]
        for item in state.accepted
    ]
    return [groups, len(state.injections), sum(one.tokens for one in state.injections), went_in]


def _matcher(arguments: list[Any]) -> list[Any]:
    records, chat, settings, cooldown, draws, character = arguments
    ctx = _context(
        entries_of(records),
        settings,
        chat=tuple(read_message(one) for one in chat),
        character=character or "",
        state=EngineState(counters=Counters(cooldown=dict(cooldown))),
    )
    state = _started(ctx, draws)
    stages = {stage.name: _run(stage, state, ctx) for stage in MATCHING}
    lists: dict[str, list[dict[str, Any]]] = {"probability": [], "warmup": [], "refine": []}
    for verdict in stages["keywords"].with_outcome(Outcome.REFUSED):
        title, details = ctx.index.vault.entries[verdict.entry].title, dict(verdict.details)
        if verdict.reason == "probability_zero":
            lists["probability"].append({"title": title, "probability": 0, "roll": 0})
        elif verdict.reason == "probability_lost":
            lists["probability"].append({"title": title, **details})
        elif verdict.reason == "warmup_short":
            lists["warmup"].append({"title": title, **details})
        elif verdict.reason == "refine_blocked":
            lists["refine"].append({"title": title, "primaryKey": details["key"], "refineKeys": details["refine_keys"]})
    fuzzy = stages["BM25"]
    ran = fuzzy.status is StageStatus.RAN
    stats = {
        "active": ran,
        "candidates": fuzzy.details["candidates"] if ran else 0,
        "matched": fuzzy.details["matched"] if ran else 0,
        "threshold": settings["fuzzySearchMinScore"] or 0.5,
    }
    left = list(stages["match order"].left)
    return [left, pairs(state.labels), *lists.values(), stats, len(state.draws)]


def _trackers(arguments: list[Any]) -> list[Any]:
    records, settings, generations = arguments
    ctx = _context(entries_of(records), settings)
    rows = []
    for injected in generations:
        state = _started(ctx)
        state.accepted = [Accepted(ctx.index.vault.entries[number]) for number in injected]
        _run(bookkeeping_stage, state, ctx)
        assert state.after is not None, "bookkeeping leaves the state of the next generation"
        counters = state.after.counters
        # another place in the chat each time, so that no generation is a swipe of the one before
        ctx = changed(ctx, state=state.after, chat=(*ctx.moment.chat, Message("U", "x")))
        rows.append([
            pairs(tracker)
            for tracker in (counters.cooldown, counters.decay, counters.injection_history, counters.consecutive)
        ])  # fmt: skip
    return rows


FUNCTIONS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "truncate_to_sentence": _truncate,
    "keyword_match": _keyword_match,
    "bm25_tokenize": tokenize,
    "bm25_query": _bm25_query,
    "requires_excludes": _requires_excludes,
    "gating_operator": _gating_operator,
    "contextual_gating": _contextual_gating,
    "format_and_group": _format_and_group,
    "matcher": _matcher,
    "trackers": _trackers,
}
