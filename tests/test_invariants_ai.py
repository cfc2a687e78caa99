"""What holds for every chat in every mode, whatever the vault, the settings, the switches and the model's answers."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lorestudio.domain.records import replace
from lorestudio.domain.state import EngineState
from lorestudio.settings.behaviour import fixed, switches
from lorestudio.systems.base import Decided
from lorestudio.systems.deeplore.run import run
from lorestudio.trace.model import ItemResult, Outcome, RunOutcome, StageRecord, TitleMatch
from lorestudio.trace.storage.serialize import from_json, record_from_json, record_to_json, to_json
from tests.examples import examples
from tests.scripted_answers import ScriptedAnswers
from tests.systems.deeplore.answers import ERROR, RATE_LIMITED, TIMEOUT, Reply, script
from tests.systems.test_invariants import (
    CHATS,
    CHOICES,
    NOTES,
    TITLES,
    check_budget,
    check_entries,
    check_prompt,
    check_state,
)
from tests.systems.worlds import Draft, World, changed, entry, world

TAGS = ["npc", "place", "item", "event", "lorebook"]
CROWD = tuple(entry(f"E{n}", f"key{n}", tags=(TAGS[n % 4],), summary="s" * (n % 2), priority=n) for n in range(44))
"""Enough entries and categories for the prefilter."""

NOTES_FOR_AI: st.SearchStrategy[Draft] = st.builds(
    lambda draft, links, tags, summary, folder: {
        **draft, "resolved_links": links, "tags": tags, "summary": summary, "filename": f"{folder}{draft['title']}.md",
    },
    NOTES,
    st.sampled_from([(), (), ("Aa",), ("bb", "é"), ("Dd", "Cc", "Aa")]),
    st.sampled_from([(), ("npc",), ("lorebook",), ("place", "npc")]),
    st.sampled_from(["", "", "A summary.", " "]),
    st.sampled_from(["", "F/", "F/g/"]),
)  # fmt: skip

SELECTION_CHOICES: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries({
    "ai_search_enabled": st.sampled_from([True, True, True, False]),
    "ai_search_mode": st.sampled_from(["two-stage", "ai-only", "ai-only", "unheard of"]),
    "ai_search_scan_depth": st.sampled_from([1, 4, 50]),
    "ai_confidence_threshold": st.sampled_from(["low", "medium", "high", ""]),
    "ai_error_fallback": st.sampled_from(["keyword", "constants_only", "bootstrap_only", "none", "constants", ""]),
    "ai_empty_fallback": st.sampled_from(["constants", "constants_bootstrap", "keyword", "none", ""]),
    "manifest_summary_mode": st.sampled_from(["prefer_summary", "summary_only", "content_only"]),
    "hierarchical_pre_filter": st.booleans(),
    "hierarchical_aggressiveness": st.sampled_from([0.0, 0.5, 0.8]),
    "strip_duplicate_injections": st.booleans(),
    "scribe_informed_retrieval": st.booleans(),
    "ai_force_user_role": st.booleans(),
    "ai_search_system_prompt": st.sampled_from(["", "", "Pick {{maxEntries}}."]),
})  # fmt: skip

PICKED = st.fixed_dictionaries(
    {"title": st.sampled_from([*TITLES, "aa", "E1", "E2x", "The bb", "Nobody", "null", "\ud800"])},
    optional={
        "confidence": st.sampled_from(["high", "medium", "low", "sure"]),
        "reason": st.sampled_from(["", "because", 5]),
    },
)
ANSWERS: st.SearchStrategy[Reply] = st.one_of(
    st.lists(PICKED, max_size=5).map(json.dumps),
    st.lists(st.sampled_from([*TITLES, "E3"]), max_size=4).map(json.dumps),
    st.lists(PICKED, max_size=3).map(lambda items: {"json": {"selected": items}}),
    st.sampled_from(["[]", "", "no list", "[5]", '```json\n["Aa"]\n```', ERROR, TIMEOUT, RATE_LIMITED]),
)
CATEGORIES: st.SearchStrategy[Reply] = st.sampled_from(
    ['["npc"]', '["npc", "Place", "item"]', "[]", '["nope"]', "what?", ERROR, TIMEOUT, '["uncategorized", "F"]']
)
SWITCHES = st.one_of(
    st.just(()),
    st.just(("all",)),
    st.lists(st.sampled_from([switch.name for switch in switches()]), max_size=3, unique=True).map(tuple),
)
GAPS_MS = st.sampled_from([0, 400, 1000, 31_000, 100_000])


@dataclass(frozen=True)
class Told:
    """A chat to be played: for each generation what is said, how long after the one before, and in which way."""

    there: World
    turns: tuple[tuple[tuple[Any, ...], int, str], ...]
    search: tuple[Reply, ...]
    categories: tuple[Reply, ...]
    fixed: tuple[str, ...]

    def play(self) -> list[tuple[World, Decided]]:
        """Each generation's inputs and what came of them."""
        answers = ScriptedAnswers({"search": script(self.search), "prefilter": script(self.categories)})
        state, clock_ms, chat = EngineState(random_state=self.there.context.moment.seed), 0, ()
        played = []
        for said, gap_ms, kind in self.turns:
            chat, clock_ms = (*chat, *said), clock_ms + gap_ms
            now = self.there.with_chat(
                chat, state=state, clock_ms=clock_ms, answers=answers, behaviour=fixed(self.fixed), timer=lambda: 0.0
            )
            now = World(changed(now.context, turn=replace(now.context.moment.turn, kind=kind)))
            result = asyncio.run(run(now.context))
            state = result.state
            played.append((now, result))
        return played


TURNS = st.tuples(CHATS.map(tuple), GAPS_MS, st.sampled_from(["normal", "normal", "swipe", "continue", "regenerate"]))

STORIES = st.builds(
    lambda drafts, crowd, choices, more, turns, search, categories, names: Told(
        world(*drafts, *(CROWD if crowd else ()), **{**choices, **more}),
        tuple(turns), tuple(search), tuple(categories), names,
    ),
    st.lists(NOTES_FOR_AI, min_size=1, max_size=7),
    st.sampled_from([False, False, True]),
    CHOICES,
    SELECTION_CHOICES,
    st.lists(TURNS, min_size=1, max_size=4),
    st.lists(ANSWERS, min_size=4, max_size=4),
    st.lists(CATEGORIES, min_size=4, max_size=4),
    SWITCHES,
)  # fmt: skip


def accounts(record: StageRecord) -> bool:
    """entered + added = left + removed, entry by entry and as often as it is there.

    Where an id repeats, which a pinned namesake does (5.1), a verdict speaks of both: then only who is there counts.
    """
    added = [verdict.entry for verdict in record.verdicts if verdict.outcome is Outcome.ADDED]
    removed = [verdict.entry for verdict in record.verdicts if verdict.outcome is Outcome.REMOVED]
    before, after = Counter([*record.entered, *added]), Counter([*record.left, *removed])
    if max([0, *before.values(), *Counter(record.left).values()]) > 1:
        return set(before) == set(after)
    return before == after


def check_accounts(result: Decided) -> None:
    records = result.trace.stages
    assert records[0].entered == ()
    for record in records:
        assert record.error == "", record.error
        assert accounts(record), record
    for earlier, later in pairwise(records):
        assert earlier.left == later.entered, (earlier.name, later.name)
    names = [record.name for record in records]
    assert len(set(names)) == len(names)


def check_selection(there: World, result: Decided) -> None:
    """Only candidates are chosen; each request is answered or failed; results name whom they say."""
    record = result.trace.stage("AI selection")
    if record is None:
        return
    offered = result.trace.stage("manifest")
    assert offered is not None
    for verdict in record.verdicts:
        if verdict.reason == "ai_pick":
            assert verdict.entry in record.entered
            assert verdict.entry in record.left
    for call in result.trace.ai_calls:
        assert call.error == "" or call.reply == ""
    results: Any = record.details.get("results", ())
    assert all(there.entries[one["id"]].title == one["title"] for one in results)
    check_items(record)
    assert len([call for call in result.trace.ai_calls if call.kind == "search"]) <= 1
    if record.details.get("cached"):
        assert [call.kind for call in result.trace.ai_calls if call.kind == "search"] == []


def check_items(record: StageRecord) -> None:
    """The items of the reply tell the same as the selection: who was chosen, and which titles nobody has."""
    results: Any = record.details.get("results", ())
    unknown: Any = record.details.get("unknown_titles", ())
    assert record.ai is not None
    items = record.ai.items
    chosen = {entry for item in items if item.result is ItemResult.CHOSEN for entry in item.entries}
    assert chosen == {one["id"] for one in results}
    assert {item.asked for item in items if item.result is ItemResult.DROPPED} >= set(unknown)
    for item in items:
        assert bool(item.entries) is (item.match in {TitleMatch.EXACT, TitleMatch.FUZZY, TitleMatch.CACHED})
        assert set(item.entries) <= set(record.entered)


def check_commits(there: World, result: Decided) -> None:
    """A generation that ends early leaves nothing but what the host's prompt manager holds from before."""
    if result.trace.outcome in {RunOutcome.INJECTED, RunOutcome.NOTHING_INJECTED}:
        check_prompt(there, result)
        return
    assert result.trace.prompt == ()
    assert result.trace.injections == ()
    assert result.state.prompts == tuple(one for one in there.context.state.prompts if one.managed)


def check_switches(told: Told, result: Decided) -> None:
    notes: Any = result.trace.facts["switches"]
    wanted = {switch.name for switch in switches()} if "all" in told.fixed else set(told.fixed)
    assert {note["switch"] for note in notes} <= wanted


COMMON: Any = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large]}


@pytest.mark.long
@settings(max_examples=examples(500), **COMMON)
@given(told=STORIES)
def test_a_chat_in_any_mode(told: Told) -> None:
    for there, result in told.play():
        if result.trace.outcome is RunOutcome.SKIPPED:
            assert result.state == there.context.state
            continue
        check_accounts(result)
        check_entries(there, result)
        check_budget(there, result)
        check_commits(there, result)
        check_state(there, result)
        check_selection(there, result)
        check_switches(told, result)


@settings(max_examples=examples(120), **COMMON)
@given(told=STORIES)
def test_the_same_chat_gives_the_same_traces(told: Told) -> None:
    assert [result for _, result in told.play()] == [result for _, result in told.play()]


@settings(max_examples=examples(120), **COMMON)
@given(told=STORIES)
def test_traces_and_states_survive_their_files(told: Told) -> None:
    for _, result in told.play():
        assert from_json(json.loads(json.dumps(to_json(result.trace)))) == result.trace
        stored = json.loads(json.dumps(record_to_json(result.state)))
        assert record_from_json(EngineState, stored, "state") == result.state
