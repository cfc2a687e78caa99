"""Behaviour switches (rules: deeplore-tools 7): what each changes, and that the trace says so where it did."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from lorestudio.domain.records import replace
from lorestudio.domain.state import (
    AiState,
    CachedSelection,
    Counters,
    EngineState,
    LoggedGeneration,
    LoggedInjection,
    Prompt,
)
from lorestudio.settings.behaviour import fixed, switches
from lorestudio.trace.model import RunOutcome, Trace
from tests.systems.deeplore.answers import ERROR, TIMEOUT, asking, picks, selection, switched, the_call
from tests.systems.worlds import Play, World, changed, entry, injected, message, rules, run_world, trace_of, world

AI_ONLY: dict[str, Any] = {"ai_search_enabled": True, "ai_search_mode": "ai-only"}
TWO_STAGE: dict[str, Any] = {"ai_search_enabled": True}
LONG = ["U: one", "Ann: two", "U: three", "Ann: four", "U: five"]

Outcome = Any
Situation = Callable[[Sequence[str]], tuple[Outcome, Trace]]
"""Given the switches that are fixed, what came of it and the trace."""


def stripped(names: Sequence[str]) -> tuple[Outcome, Trace]:
    """A second turn in which the model's choice comes from the cache, whatever tells that it still holds."""
    drafts = [entry("A", content="Text."), entry("K", constant=True, priority=1)]
    there = world(*drafts, ai_search_scan_depth=20, **AI_ONLY)
    play = Play(asking(there, picks("A"), fixed=names))
    play.turn(LONG)
    trace = play.turn([*LONG, "Ann: six"], clock_ms=60_000)
    return injected(trace), trace


def other_talk(names: Sequence[str]) -> tuple[Outcome, Trace]:
    """Two-stage mode, the same candidates, but something else is said."""
    there = world(entry("A", "go"), entry("B", "go"), strip_duplicate_injections=False, **TWO_STAGE)
    play = Play(asking(there, picks("A"), picks("B"), fixed=names))
    play.turn(["U: go"])
    trace = play.turn(["U: go", "Ann: yes", "U: the b, go"], clock_ms=60_000)
    return injected(trace), trace


def continued(names: Sequence[str]) -> tuple[Outcome, Trace]:
    """A reply that is to be continued."""
    trace = trace_of(asking(world(entry("A"), chat=LONG[:4], **AI_ONLY), picks("A"), fixed=names))
    return "Ann (character): four" in the_call(trace).user, trace


def hidden_places(names: Sequence[str]) -> tuple[Outcome, Trace]:
    """A key behind hidden messages, with a scan depth of two."""
    chat = ["U: dragon", message("U: x", is_thoughts=True), "U: y"]
    trace = trace_of(asking(world(entry("A", "dragon"), chat=chat, scan_depth=2), fixed=names))
    return injected(trace), trace


def failed_in_a_new_chat(names: Sequence[str]) -> tuple[Outcome, Trace]:
    """The model fails in a new chat, and only bootstrap entries are to go in."""
    drafts = [entry("K", constant=True), entry("Boot", bootstrap=True), entry("A")]
    there = world(*drafts, chat=["U: x"], ai_error_fallback="bootstrap_only", **AI_ONLY)
    trace = trace_of(asking(there, ERROR, fixed=names))
    return injected(trace), trace


SURE = '[{"title":"A","confidence":"low"},{"title":"B","confidence":"high"}]'


def sure_and_unsure(names: Sequence[str]) -> tuple[Outcome, Trace]:
    """Two picks of different confidence, and room for one."""
    drafts = [entry("A", priority=1), entry("B", priority=2)]
    trace = trace_of(asking(world(*drafts, chat=LONG, max_entries=1, **AI_ONLY), SURE, fixed=names))
    return injected(trace), trace


def new_chat(names: Sequence[str]) -> tuple[Outcome, Trace]:
    """What a new chat asks for, with a prompt of the person's own."""
    drafts = [entry(f"E{number}") for number in range(9)]
    settings = {"max_entries": 3, "ai_search_system_prompt": "At most {{maxEntries}}!"}
    trace = trace_of(asking(world(*drafts, chat=["U: x"], **settings, **AI_ONLY), picks("E1"), fixed=names))
    return the_call(trace).system.split("\n")[0], trace


def without_summaries(names: Sequence[str]) -> tuple[Outcome, Trace]:
    """One entry with a summary, two without."""
    drafts = [entry("A", summary="s"), entry("B"), entry("C")]
    settings = {"manifest_summary_mode": "summary_only", "unlimited_budget": True}
    trace = trace_of(asking(world(*drafts, chat=LONG, **settings, **AI_ONLY), picks("A"), fixed=names))
    return the_call(trace).user.split("\n")[1:3], trace


def many_folders(names: Sequence[str], *, count: int = 40, folders: int = 4) -> tuple[Outcome, Trace]:
    """Forty notes without tags in four folders."""
    drafts = [entry(f"E{n}", filename=f"F{n % folders}/E{n}.md") for n in range(count)]
    there = world(*drafts, chat=LONG, hierarchical_pre_filter=True, **AI_ONLY)
    trace = trace_of(asking(there, picks("E0"), prefilter=['["F0"]'], fixed=names))
    return [call.kind for call in trace.ai_calls], trace


def lost_probe(names: Sequence[str]) -> tuple[Outcome, Trace]:
    """The breaker's probe runs into the time limit."""
    state = EngineState(ai=AiState(failures=2, last_failure_ms=0))
    there = world(entry("A"), chat=LONG, state=state, clock_ms=31_000, **AI_ONLY)
    result = run_world(asking(there, TIMEOUT, fixed=names))
    return result.state.ai.probe_ms, result.trace


def no_lore(names: Sequence[str]) -> tuple[Outcome, Trace]:
    """A notebook in a turn in which nothing matches."""
    there = world(entry("A", "dragon"), chat=["U: x"], notebook="Remember.", notebook_enabled=True)
    result = run_world(asking(there, fixed=names))
    return [prompt.text for prompt in result.state.prompts], result.trace


def dollars(names: Sequence[str]) -> tuple[Outcome, Trace]:
    """A note with a dollar pattern."""
    trace = trace_of(asking(world(entry("A", constant=True, content="5$$!")), fixed=names))
    return trace.prompt[0].text, trace


def namesakes(names: Sequence[str]) -> tuple[Outcome, Trace]:
    """Two vaults have an entry of the same title."""
    there = world(entry("T", "dragon"), entry("T", "sword", vault="W"), chat=["U: dragon, sword"])
    trace = trace_of(asking(there, fixed=names))
    return [one.label for one in trace.injections], trace


def strict_setting(names: Sequence[str], **fields: Any) -> tuple[Outcome, Trace]:
    """Gating is strict by the setting; the chat has no era, the note does."""
    drafts = [entry("A", "dragon", **(fields or {"custom_fields": {"era": ["old"]}})), entry("B", "dragon")]
    there = world(*drafts, chat=["U: dragon"], context={"location": "x"}, contextual_gating_tolerance="strict")
    trace = trace_of(asking(there, fixed=names))
    return injected(trace), trace


def guide(names: Sequence[str]) -> tuple[Outcome, Trace]:
    """A guide resembles what is said."""
    drafts = [entry("G", guide=True, content="dragon lore dragon"), *(entry(f"E{n}", content="tea") for n in range(5))]
    there = world(*drafts, chat=["U: tell me about the dragon"], fuzzy_search_enabled=True, fuzzy_search_min_score=0.1)
    trace = trace_of(asking(there, fixed=names))
    return injected(trace), trace


@dataclass(frozen=True)
class Row:
    """A switch in a situation: what comes of it either way, and which stage says so."""

    switch: str
    situation: Situation
    deeplore: Outcome
    fixed: Outcome
    stage: str


ROWS = [
    Row("duplicate_log", stripped, ["K"], ["K", "A"], "duplicate stripping"),
    Row("cache_same_candidates", other_talk, ["A"], ["B"], "AI selection"),
    Row("trailing_reply", continued, False, True, "AI selection"),
    Row("window_filter", hidden_places, [], ["A"], "keywords"),
    Row("bootstrap_fallback", failed_in_a_new_chat, ["Boot"], ["Boot", "K"], "AI selection"),
    Row("confidence_order", sure_and_unsure, ["A"], ["B"], "priority order"),
    Row("fill_count", new_chat, "At most 6!", "At most 3!", "AI selection"),
    Row(
        "header_count", without_summaries,
        ["Candidate entries: 1 (from 3 total).", "2 entries are always included (~0 tokens)."],
        ["Candidate entries: 1 (from 3 total).", "</manifest_info>"], "manifest",
    ),
    Row("untagged_category", many_folders, ["search"], ["prefilter", "search"], "category prefilter"),
    Row("probe_leak", lost_probe, 31_000, None, "AI selection"),
    Row("notes_without_lore", no_lore, [], ["Remember."], "notes"),
    Row("template_patterns", dollars, "<A>\n5$!\n</A>", "<A>\n5$$!\n</A>", "placement"),
    Row("title_collisions", namesakes, ["sword", "sword"], ["dragon", "sword"], "match order"),
    Row("field_tolerance", strict_setting, ["A", "B"], ["B"], "contextual gating (selection)"),
    Row("guide_leak", guide, ["G"], [], "BM25"),
]  # fmt: skip

OUTSIDE = {"kept_notes"}
"""A switch of what runs between the generations; no trace is written there."""


def test_every_switch_has_its_situation() -> None:
    assert {row.switch for row in ROWS} | OUTSIDE == {switch.name for switch in switches()}
    assert len(ROWS) + len(OUTSIDE) == len(switches())


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.switch)
def test_as_deeplore(row: Row) -> None:
    outcome, trace = row.situation([])
    assert outcome == row.deeplore
    assert trace.facts["switches"] == []


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.switch)
def test_fixed(row: Row) -> None:
    outcome, trace = row.situation([row.switch])
    assert outcome == row.fixed
    assert switched(trace) == [(row.switch, row.stage)]
    notes: Any = trace.facts["switches"]
    assert notes[0]["effect"]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.switch)
def test_all_others_fixed(row: Row) -> None:
    """A switch is named for what it did itself, not for what another one did."""
    outcome, trace = row.situation([one.name for one in switches() if one.name != row.switch])
    assert outcome == row.deeplore
    assert row.switch not in [name for name, _ in switched(trace)]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.switch)
def test_all_fixed(row: Row) -> None:
    outcome, trace = row.situation(["all"])
    assert outcome == row.fixed
    assert (row.switch, row.stage) in switched(trace)


def test_the_stage_that_a_switch_names_is_the_one_that_says_so() -> None:
    affected = {switch.name: switch.affects for switch in switches()}
    for row in ROWS:
        if row.switch != "field_tolerance":  # gating runs up to three times
            assert affected[row.switch] == (row.stage,)


# Situations in which a fixed switch finds nothing to change: then nothing is noted.

TALK = ["U: dragon", "Ann: yes", "U: go on"]


def quiet(there: World, *replies: Any, **fields: Any) -> Trace:
    return trace_of(asking(there, *replies, fixed=["all"], **fields))


def only_exempt_ones_logged() -> Trace:
    """A cached choice, and a log that holds nobody but a constant."""
    there = world(entry("A"), entry("K", constant=True), ai_search_scan_depth=20, **AI_ONLY)
    play = Play(asking(there, picks("A"), fixed=["duplicate_log"]))
    play.turn(LONG)
    log = tuple(
        replace(record, entries=tuple(one for one in record.entries if one.title == "K"))
        for record in play.state.injection_log
    )
    play.state = replace(play.state, injection_log=log)
    return play.turn([*LONG, "Ann: six"], clock_ms=60_000)


def logged(title: str) -> EngineState:
    record = LoggedGeneration(1, (LoggedInjection(title, 1, 4, 0, "hash-0"),))
    return EngineState(injection_log=(record,))


NOTHING_TO_CHANGE = [
    pytest.param(lambda: quiet(world(entry("A", "dragon"), chat=TALK, state=logged("B"))), id="a log of others"),
    pytest.param(lambda: quiet(world(entry("A", "dragon"), chat=TALK, state=logged("A"))), id="a log without a cache"),
    pytest.param(only_exempt_ones_logged, id="a log of exempt entries"),
    pytest.param(
        lambda: quiet(world(entry("A", "dragon"), chat=[message("U: x", is_thoughts=True), "U: dragon"])),
        id="a hidden message in a chat that is shorter than the window",
    ),
    pytest.param(
        lambda: quiet(world(entry("A", "dragon"), chat=[message("U: x", is_thoughts=True)] * 9, scan_depth=2)),
        id="hidden messages and nothing behind them",
    ),
    pytest.param(
        lambda: quiet(world(entry("A", constant=True), chat=["U: x", message("U: y", is_thoughts=True)], scan_depth=0)),
        id="no window at all",
    ),
    pytest.param(
        lambda: quiet(world(entry("A"), chat=LONG, ai_empty_fallback="bootstrap_only", **AI_ONLY), []),
        id="the bootstrap fallback's word in the other setting",
    ),
    pytest.param(
        lambda: quiet(
            world(entry("K", constant=True, bootstrap=True), entry("A"), chat=["U: x"],
                  ai_error_fallback="bootstrap_only", ai_search_system_prompt="Choose.", **AI_ONLY),
            ERROR,
        ),
        id="constants that are bootstrap entries",
    ),
    pytest.param(
        lambda: quiet(world(entry("B", priority=1), entry("A", priority=2), chat=LONG, **AI_ONLY), picks("A", "B")),
        id="picks of one confidence",
    ),
    pytest.param(
        lambda: quiet(
            world(*(entry(f"E{n}") for n in range(9)), chat=["U: x"], max_entries=3,
                  ai_search_system_prompt="Choose.", **AI_ONLY),
            picks("E1"),
        ),
        id="a prompt without the number",
    ),
    pytest.param(lambda: many_folders(["all"], count=39)[1], id="too few entries for categories"),
    pytest.param(lambda: many_folders(["all"], folders=3)[1], id="too few categories either way"),
    pytest.param(
        lambda: quiet(world(entry("A", "dragon"), chat=["U: x"], notebook_enabled=True)), id="an empty notebook"
    ),
    pytest.param(
        lambda: quiet(world(entry("A", "dragon"), chat=["U: dragon"], notebook="N", notebook_enabled=True)),
        id="a notebook with lore",
    ),
    pytest.param(lambda: quiet(world(entry("A", constant=True, content="5$ and $x"))), id="a mere dollar sign"),
    pytest.param(
        lambda: quiet(world(entry("T", "dragon"), entry("T", "dragon", vault="W"), chat=["U: dragon"])),
        id="namesakes with the same reason",
    ),
    pytest.param(
        lambda: quiet(world(entry("T", "dragon"), entry("T", "sword", vault="W"), chat=["U: dragon"])),
        id="a namesake that does not match",
    ),
    pytest.param(
        lambda: strict_setting(["all"], custom_fields={"location": ["y"]})[1], id="a field that rejects either way"
    ),
    pytest.param(
        lambda: strict_setting(["all"], custom_fields={"era": ["old"]}, constant=True)[1],
        id="an exempt entry that a field would reject",
    ),
    pytest.param(
        lambda: quiet(
            world(entry("G", guide=True, content="tea"), entry("A", content="dragon"), entry("B", content="x"),
                  entry("C", content="y"), chat=["U: dragon"], fuzzy_search_enabled=True, fuzzy_search_min_score=0.1)
        ),
        id="a guide that resembles nothing",
    ),
    pytest.param(lambda: quiet(world(entry("A"), chat=LONG, **AI_ONLY), TIMEOUT), id="a timeout without a probe"),
    pytest.param(
        lambda: quiet(world(entry("A"), chat=[*LONG, "Ann: six"], kind="swipe", **AI_ONLY), picks("A")),
        id="a reply that is being replaced",
    ),
]  # fmt: skip


@pytest.mark.parametrize("situation", NOTHING_TO_CHANGE)
def test_nothing_to_change(situation: Callable[[], Trace]) -> None:
    trace = situation()
    assert all(record.error == "" for record in trace.stages)
    assert trace.facts["switches"] == []


# What a single switch does beside its row above.


def test_the_note_on_the_order_also_comes_where_requirements_reorder() -> None:
    """A priority of 0 counts as 50 (rules: deeplore 5.5): the order changes there only."""
    drafts = [entry("A", priority=0), entry("B", priority=10)]
    reply = '[{"title":"A","confidence":"high"},{"title":"B","confidence":"medium"}]'
    there = world(*drafts, chat=LONG, **AI_ONLY)
    plain, mended = (trace_of(asking(there, reply, fixed=names)) for names in ((), ("confidence_order",)))
    assert (injected(plain), injected(mended)) == (["B", "A"], ["A", "B"])
    assert switched(mended) == [("confidence_order", "requires and excludes")]


def test_two_switches_about_the_conversation_are_told_apart() -> None:
    chat = [*LONG[:3], message("U: x", is_thoughts=True), *LONG[3:], "Ann: six"]
    there = world(entry("A"), chat=chat, ai_search_scan_depth=4, **AI_ONLY)
    only = trace_of(asking(there, picks("A"), fixed=["window_filter"]))
    assert switched(only) == [("window_filter", "AI selection")]
    both = trace_of(asking(there, picks("A"), fixed=["window_filter", "trailing_reply"]))
    assert switched(both) == [("trailing_reply", "AI selection"), ("window_filter", "AI selection")]


def test_trailing_reply_alone_is_not_noted_for_a_window() -> None:
    """With both fixed and no trailing reply, only the window made a difference."""
    chat = ["U: first", message("U: x", is_thoughts=True), *LONG[1:4], "U: end"]
    there = world(entry("A"), chat=chat, ai_search_scan_depth=5, **AI_ONLY)
    trace = trace_of(asking(there, picks("A"), fixed=["window_filter", "trailing_reply"]))
    assert switched(trace) == [("window_filter", "AI selection")]


@pytest.mark.parametrize(
    ("kind", "seen"), [("normal", True), ("continue", True), ("swipe", False), ("regenerate", False)]
)
def test_the_trailing_reply_is_hidden_where_it_is_replaced(kind: str, seen: bool) -> None:
    there = world(entry("A"), chat=LONG[:4], kind=kind, **AI_ONLY)
    trace = trace_of(asking(there, picks("A"), fixed=["trailing_reply"]))
    assert ("Ann (character): four" in the_call(trace).user) is seen


def test_the_prefilter_reads_past_hidden_messages_too() -> None:
    drafts = [entry(f"E{n}", tags=(f"c{n % 4}",)) for n in range(40)]
    chat = ["U: first", message("U: x", is_thoughts=True), *LONG]
    there = world(*drafts, chat=chat, hierarchical_pre_filter=True, ai_search_scan_depth=6, **AI_ONLY)
    trace = trace_of(asking(there, picks("E0"), prefilter=['["c0"]'], fixed=["window_filter"]))
    assert "U (user): first" in trace.ai_calls[0].user
    assert switched(trace) == [("window_filter", "category prefilter"), ("window_filter", "AI selection")]


@pytest.mark.parametrize(("fixed_", "error"), [((), True), (("probe_leak",), False)])
def test_an_unused_prefilter_answer_gives_its_probe_back(fixed_: tuple[str, ...], error: bool) -> None:
    """Otherwise the selection of the same turn is refused (rules: deeplore-tools 1.8)."""
    drafts = [entry(f"E{n}", tags=(f"c{n % 4}",)) for n in range(40)]
    state = EngineState(ai=AiState(failures=2, last_failure_ms=0))
    there = world(*drafts, chat=LONG, hierarchical_pre_filter=True, state=state, clock_ms=31_000, **AI_ONLY)
    trace = trace_of(asking(there, picks("E0"), prefilter=["[]"], fixed=fixed_))
    assert bool(trace.facts["ai_error"]) is error
    assert switched(trace) == ([] if error else [("probe_leak", "category prefilter")])


@pytest.mark.parametrize("mode", ["extension", "prompt_list"])
def test_a_notebook_without_lore_stands_there_once(mode: str) -> None:
    """A prompt that the host's manager still holds from the turn before is replaced, not doubled."""
    there = world(entry("A", "dragon"), notebook="Old.", notebook_enabled=True, injection_mode=mode)
    play = Play(asking(there, fixed=["notes_without_lore"]))
    play.turn(["U: dragon"])
    controls = replace(there.context.moment.controls, notebook="New.")
    trace = play.turn(["U: dragon", "Ann: y", *["U: x"] * 9], controls=controls)
    assert trace.outcome is RunOutcome.EMPTY_AFTER_GATING
    notes = [prompt.text for prompt in play.state.prompts if prompt.tag == "deeplore_notebook"]
    assert notes == ["New."]
    assert [record.name for record in trace.stages].count("notes") == 1
    record = trace.stage("notes")
    assert record is not None
    assert (record.status, record.details["prompts"]) == ("ran", ["deeplore_notebook"])


def test_a_notebook_that_the_host_holds_anyway_is_no_difference() -> None:
    held = Prompt("deeplore_notebook", "N", 1, 4, 0, managed=True)
    there = world(
        entry("A", "dragon"), chat=["U: x"], notebook="N", notebook_enabled=True, injection_mode="prompt_list",
        state=EngineState(prompts=(held,)),
    )  # fmt: skip
    result = run_world(asking(there, fixed=["notes_without_lore"]))
    assert result.state.prompts == (held,)
    assert switched(result.trace) == []


def test_a_cache_hit_by_another_tier_stays_one() -> None:
    """Tier 2 is switched off only where nothing else says that the selection still holds."""
    there = world(entry("A", "go"), entry("Long", "zzz"), strip_duplicate_injections=False,
                  ai_search_scan_depth=20, **TWO_STAGE)  # fmt: skip
    play = Play(asking(there, picks("A"), fixed=["cache_same_candidates"]))
    play.turn(["U: go"])
    trace = play.turn(["U: go", "Ann: so", "U: on"], clock_ms=60_000)
    assert (selection(trace).details["tier"], switched(trace)) == (4, [])


def test_a_candidate_beyond_the_manifest_makes_no_note() -> None:
    """The cache misses with and without the switch."""
    there = world(entry("A", "go"), chat=["U: go"], **TWO_STAGE)
    stale = CachedSelection("x", "y", 1, "z", (), frozenset(), "v")
    there = World(changed(there.context, state=EngineState(ai=AiState(cache=stale), counters=Counters())))
    assert switched(trace_of(asking(there, picks("A"), fixed=["cache_same_candidates"]))) == []


def test_gating_names_the_entries_it_decides_about_once() -> None:
    drafts = [entry(f"E{n}", "dragon", custom_fields={"era": ["old"]}) for n in range(3)]
    there = world(*drafts, chat=["U: dragon"], context={"location": "x"}, pins=rules("E0"))
    trace = trace_of(asking(there, fixed=["field_tolerance"]))
    notes: Any = trace.facts["switches"]
    assert [note["effect"] for note in notes] == ["the setting decides about E1 and 1 more"]


def test_unknown_switches_are_named() -> None:
    with pytest.raises(ValueError, match="no behaviour switch called 'nonsense'"):
        fixed(["guide_leak", "nonsense"])
