"""Fifty recorded chats of six keywords-only generations, from a finished index (rules: deeplore 7.1, 13)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pytest

from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.domain.state import EngineState
from lorestudio.exchange.chats.document import read_message
from lorestudio.exchange.chats.metadata import read_controls, read_state
from lorestudio.settings.deeplore import sanitise
from lorestudio.systems.deeplore.matching.index import DeepLoreIndex
from lorestudio.systems.deeplore.run import run
from lorestudio.trace.model import Outcome, RunOutcome, StageRecord, StageStatus, Trace, Turn
from tests.golden.files import GENERATIONS_KEYWORDS, read_json
from tests.systems.deeplore.recorded import entries_of, pairs
from tests.systems.worlds import Scripted, inputs

CHATS: list[dict[str, Any]] = read_json(GENERATIONS_KEYWORDS)


def removed(trace: Trace, index: DeepLoreIndex, stage: str) -> list[Entry]:
    """Those who left at a stage, in the order in which they came."""
    record = trace.stage(stage)
    assert record is not None
    gone = {verdict.entry for verdict in record.with_outcome(Outcome.REMOVED)}
    return [index.vault.entries[number] for number in record.entered if number in gone]


def titles(entries: Iterable[Entry]) -> list[str]:
    return [entry.title for entry in entries]


def published(trace: Trace) -> bool:
    """Whether the original shows a trace of this generation; it does not where the generation ended early."""
    return trace.outcome in {RunOutcome.INJECTED, RunOutcome.NOTHING_INJECTED}


def trace_form(trace: Trace, index: DeepLoreIndex) -> dict[str, Any] | None:
    """Our trace in the fields that were recorded."""
    if not published(trace):
        return None
    records = {record.name: record for record in trace.stages}
    entries = index.vault.entries
    return {
        "mode": trace.mode,
        **matched_form(records, entries),
        "gated": [
            {"title": one.title, "requires": list(one.requires), "excludes": list(one.excludes)}
            for one in removed(trace, index, "requires and excludes")
        ],
        "budget": cut_form(trace, records, entries),
        "inj": [
            {"title": one.title, "tokens": one.tokens, "truncated": one.truncated,
             "originalTokens": one.original_tokens if one.truncated else one.tokens}
            for one in trace.injections
        ],
        "cool": titles(removed(trace, index, "re-injection cooldown")),
        "ctx": titles(removed(trace, index, "contextual gating")),
        "strip": titles(removed(trace, index, "duplicate stripping")),
        "ff": folder_form(records["folder filter"]),
        "gen": trace.turn.number,
        "tot": trace.total_tokens,
        "boot": trace.facts["bootstrapping"],
    }  # fmt: skip


def matched_form(records: Mapping[str, StageRecord], entries: Sequence[Entry]) -> dict[str, Any]:
    """The matcher's lists: matches with their labels, what the keyword pass refused, the BM25 figures."""
    order = records["match order"]
    rows: Any = order.details["labels"]
    labels = dict(rows)
    lists: dict[str, list[dict[str, Any]]] = {"prob": [], "warm": [], "ref": []}
    for verdict in records["keywords"].with_outcome(Outcome.REFUSED):
        title, details = entries[verdict.entry].title, dict(verdict.details)
        if verdict.reason == "probability_zero":
            lists["prob"].append({"title": title, "probability": 0, "roll": 0})
        elif verdict.reason == "probability_lost":
            lists["prob"].append({"title": title, **details})
        elif verdict.reason == "warmup_short":
            lists["warm"].append({"title": title, **details})
        elif verdict.reason == "refine_blocked":
            lists["ref"].append({"title": title, "primaryKey": details["key"], "refineKeys": details["refine_keys"]})
    fuzzy = records["BM25"]
    figures = {"candidates": 0, "matched": 0, "threshold": 0.5}
    ran = fuzzy.status is StageStatus.RAN
    return {
        "kw": [
            {"title": entries[number].title, "matchedBy": labels.get(entries[number].title, "?")}
            for number in order.left
        ],
        **lists,
        "fz": {"active": ran, **{key: fuzzy.details[key] if ran else value for key, value in figures.items()}},
    }


def cut_form(trace: Trace, records: Mapping[str, StageRecord], entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """What came to the budget and whose title did not go in; pinned entries have priority 10 there."""
    went_in = {one.title for one in trace.injections}
    pinned = {one.entry for one in records["pins and blocks"].verdicts if one.reason in {"pinned", "pin_upgraded"}}
    return [
        {"title": one.title, "tokens": one.tokens, "priority": 10 if one.id in pinned else one.priority}
        for one in (entries[number] for number in records["budget"].entered)
        if one.title not in went_in
    ]


def folder_form(record: StageRecord) -> dict[str, Any] | None:
    if record.status is not StageStatus.RAN:
        return None
    return {**record.details, "removed": record.removed}


def wanted_form(recorded: dict[str, Any] | None) -> dict[str, Any] | None:
    """The recorded trace without the fixed sentences that stand beside removed titles."""
    if recorded is None:
        return None
    return {**recorded, **{key: titles_of(recorded[key]) for key in ("cool", "ctx", "strip")}}


def titles_of(rows: list[dict[str, Any]]) -> list[str]:
    return [row["title"] for row in rows]


def as_recorded(state: EngineState, *, ended_early: bool) -> dict[str, Any]:
    """The chat's state in the recorded form; maps are sorted, their order has no meaning.

    The recording host had no prompt manager that would hold on to prompts after an early end.
    """
    counters = state.counters
    return {
        "gc": counters.generation_count,
        "cd": sorted(pairs(counters.cooldown)),
        "de": sorted(pairs(counters.decay)),
        "co": sorted(pairs(counters.consecutive)),
        "ih": sorted(pairs(counters.injection_history)),
        "cc": sorted(pairs(state.chat_counts)),
        "log": [
            {
                "gen": record.generation,
                "entries": [
                    {"title": one.title, "pos": one.position, "depth": one.depth, "role": one.role,
                     "contentHash": one.content_hash}
                    for one in record.entries
                ],
            }
            for record in state.injection_log
        ],
        "prompts": [
            [one.tag, one.text, one.position, one.depth, one.role]
            for one in state.prompts
            if not (ended_early and one.managed)
        ],
    }  # fmt: skip


def sources(trace: Trace, index: DeepLoreIndex) -> list[dict[str, Any]]:
    return [
        {
            "title": one.title, "filename": index.vault.entries[one.entry].filename, "matchedBy": one.label,
            "priority": one.priority, "tokens": one.tokens, "vaultSource": index.vault.entries[one.entry].vault,
        }
        for one in trace.injections
    ]  # fmt: skip


def test_there_are_fifty_chats_of_six_generations() -> None:
    assert [len(chat["steps"]) for chat in CHATS] == [6] * 50
    shown = [step["o"]["trace"] is not None for chat in CHATS for step in chat["steps"]]
    assert (shown.count(True), shown.count(False)) == (279, 21)


@pytest.mark.parametrize("number", range(50))
def test_recorded_chat(number: int) -> None:
    chat = CHATS[number]
    index = DeepLoreIndex(VaultIndex(entries=entries_of(chat["idx"])))
    settings = sanitise(chat["settings"]).settings
    controls, state = read_controls(chat["meta"]), read_state(chat["meta"])
    last_sources = None
    for step in chat["steps"]:
        messages = tuple(read_message(one) for one in step["chat"])
        rolls = Scripted(step["rolls"][1:])  # the first number makes the generation's log id
        turn = Turn(len(messages), 0, 0)
        context = inputs(
            index,
            chat=messages,
            settings=settings,
            turn=turn,
            controls=controls,
            state=state,
            character="Eris",
            random=lambda _, one=rolls: one,
        )
        result = asyncio.run(run(context))
        trace, state = result.trace, result.state
        observed = step["o"]
        assert trace_form(trace, index) == wanted_form(observed["trace"])
        assert len(trace.draws) == observed["draws"] - 1
        if published(trace):
            last_sources = sources(trace, index) if trace.prompt else None
        assert last_sources == observed["src"]
        trackers = {key: sorted(observed[key]) for key in ("cd", "de", "co", "ih", "cc")}
        assert as_recorded(state, ended_early=not published(trace)) == {
            **trackers, "gc": observed["gc"], "log": observed["log"] or [], "prompts": observed["prompts"],
        }  # fmt: skip
