"""Fifty recorded chats of six keywords-only generations, from a finished index (spec: deeplore-engine 7.1, 13)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from lorestudio.domain.entry import VaultIndex
from lorestudio.domain.state import EngineState
from lorestudio.engine import DeepLoreIndex, RunContext, run
from lorestudio.exchange.chat_metadata import read_controls, read_state
from lorestudio.exchange.sillytavern_chat import read_message
from lorestudio.settings.deeplore import sanitise
from lorestudio.trace.model import Outcome, RunOutcome, StageRecord, StageStatus, Trace, Turn
from tests.engine.deeplore.recorded import entries_of, pairs
from tests.engine.worlds import Scripted
from tests.golden.files import GENERATIONS_KEYWORDS, read_json

CHATS: list[dict[str, Any]] = read_json(GENERATIONS_KEYWORDS)


def removed(trace: Trace, index: DeepLoreIndex, stage: str) -> list[str]:
    """Titles of those who left at a stage, in the order in which they came."""
    record = trace.stage(stage)
    assert record is not None
    gone = {verdict.entry for verdict in record.with_outcome(Outcome.REMOVED)}
    return [index.vault.entries[number].title for number in record.entered if number in gone]


def recorded_form(trace: Trace, index: DeepLoreIndex, budget: int) -> dict[str, Any] | None:
    """Our trace in the fields that were recorded; None where the original publishes no trace."""
    if trace.outcome not in {RunOutcome.INJECTED, RunOutcome.NOTHING_INJECTED}:
        return None
    assert budget > 0
    records: dict[str, StageRecord] = {record.name: record for record in trace.stages}
    entries = index.vault.entries
    labels = {str(title): label for title, label in _rows(records["match order"].details["labels"])}
    refused = records["keywords"].with_outcome(Outcome.REFUSED)
    went_in = {one.title for one in trace.injections}
    fuzzy, folders = records["BM25"], records["folder filter"]
    kept = {title for title in (entries[number].title for number in records["requires and excludes"].left)}
    gone = removed(trace, index, "requires and excludes")
    assert kept or gone

    def listed(reason: str, **keys: str) -> list[dict[str, Any]]:
        return [
            {"title": entries[one.entry].title, **{key: one.details[ours] for key, ours in keys.items()}}
            for one in refused
            if one.reason == reason
        ]

    probability = [
        {"title": entries[one.entry].title, "probability": one.details.get("probability", 0),
         "roll": one.details.get("roll", 0)}
        for one in refused if one.reason.startswith("probability_")
    ]  # fmt: skip
    return {
        "mode": trace.mode,
        "kw": [
            {"title": entries[number].title, "matchedBy": labels.get(entries[number].title, "?")}
            for number in records["match order"].left
        ],
        "gated": gone,
        "budget": [
            {"title": one.title, "tokens": one.tokens, "priority": 10 if "pin" in reasons(trace, one.id) else one.priority}
            for one in (entries[number] for number in records["budget"].entered)
            if one.title not in went_in
        ],
        "inj": [
            {"title": one.title, "tokens": one.tokens, "truncated": one.truncated,
             "originalTokens": one.original_tokens if one.truncated else one.tokens}
            for one in trace.injections
        ],
        "prob": probability,
        "warm": listed("warmup_short", needed="needed", found="found"),
        "cool": removed(trace, index, "re-injection cooldown"),
        "ctx": removed(trace, index, "contextual gating"),
        "strip": removed(trace, index, "duplicate stripping"),
        "ref": listed("refine_blocked", primaryKey="key", refineKeys="refine_keys"),
        "fz": {"active": True, **{key: fuzzy.details[key] for key in ("candidates", "matched", "threshold")}}
        if fuzzy.status is StageStatus.RAN
        else {"active": False, "candidates": 0, "matched": 0, "threshold": 0.5},
        "gen": trace.turn.number,
        "tot": trace.total_tokens,
        "ff": {key: folders.details[key] for key in ("before", "after")}
        if folders.status is StageStatus.RAN
        else None,
        "boot": trace.facts["bootstrapping"],
    }  # fmt: skip


def _rows(value: Any) -> list[tuple[str, str]]:
    return [(title, label) for title, label in value]


def reasons(trace: Trace, number: int) -> set[str]:
    """`pin` where the chat's pins made the entry a constant of priority 10."""
    record = trace.stage("pins and blocks")
    assert record is not None
    pinned = {one.entry for one in record.verdicts if one.reason in {"pinned", "pin_upgraded"}}
    return {"pin"} if number in pinned else set()


def wanted_form(recorded: dict[str, Any] | None) -> dict[str, Any] | None:
    """The recorded trace without what only repeats a note's lists or a fixed sentence."""
    if recorded is None:
        return None
    titles = {key: [one["title"] for one in recorded[key]] for key in ("gated", "cool", "ctx", "strip")}
    folders = recorded["ff"] and {key: recorded["ff"][key] for key in ("before", "after")}
    return {**recorded, **titles, "ff": folders}


def as_recorded(state: EngineState) -> dict[str, Any]:
    """The chat's state in the recorded form; maps are sorted, their order has no meaning."""
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
        "prompts": [[one.tag, one.text, one.position, one.depth, one.role] for one in state.prompts],
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
    published = [step["o"]["trace"] is not None for chat in CHATS for step in chat["steps"]]
    assert published.count(True) == 279


@pytest.mark.parametrize("number", range(50))
def test_recorded_chat(number: int) -> None:
    chat = CHATS[number]
    index = DeepLoreIndex(VaultIndex(entries=entries_of(chat["idx"])))
    settings = sanitise(chat["settings"]).settings
    state = read_state(chat["meta"])
    last_sources = None
    for step in chat["steps"]:
        rolls = step["rolls"][1:]  # the first number makes the generation's log id
        state_before = state
        result = asyncio.run(
            run(
                RunContext(
                    index=index,
                    chat=tuple(read_message(one) for one in step["chat"]),
                    settings=settings,
                    turn=Turn(len(step["chat"]), 0, 0),
                    controls=read_controls(chat["meta"]),
                    state=state,
                    character="Eris",
                    random=lambda _, numbers=rolls: Scripted(numbers),  # type: ignore[misc]
                )
            )
        )
        trace, state = result.trace, result.state
        observed = step["o"]
        assert recorded_form(trace, index, settings.max_tokens_budget) == wanted_form(observed["trace"])
        assert len(trace.draws) == observed["draws"] - 1
        got = as_recorded(state)
        for key in ("cd", "de", "co", "ih", "cc"):
            assert got[key] == sorted(observed[key]), key
        for key in ("gc", "log", "prompts"):
            assert got[key] == observed[key], key
        if trace.outcome in {RunOutcome.INJECTED, RunOutcome.NOTHING_INJECTED}:
            last_sources = sources(trace, index) if trace.prompt else None
        assert last_sources == observed["src"]
        assert state_before is not state
