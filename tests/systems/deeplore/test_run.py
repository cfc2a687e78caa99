"""Whole generations (rules: deeplore 5, 6.7, 10, 12.7): order, early ends, skips, and a trace from end to end."""

from __future__ import annotations

from typing import Any

import pytest

from lorestudio.domain.chat import Message
from lorestudio.domain.state import Counters, EngineState, EntryRule, LoggedGeneration, Prompt
from lorestudio.systems.deeplore import pipeline
from lorestudio.trace.model import Limit, Outcome, Phase, RunOutcome, StageStatus, Trace
from tests.systems.worlds import (
    WHERE,
    Play,
    World,
    balances,
    changed,
    entry,
    injected,
    message,
    rules,
    run_world,
    table_of,
    trace_of,
    world,
)

STAGES = [
    ("snapshot", Phase.LOAD), ("constants", Phase.MATCH), ("bootstrap", Phase.MATCH), ("keywords", Phase.MATCH),
    ("active character", Phase.MATCH), ("cascade links", Phase.MATCH), ("recursion", Phase.MATCH),
    ("BM25", Phase.MATCH), ("match order", Phase.MATCH),
    ("contextual gating (selection)", Phase.GATE), ("folder filter", Phase.GATE), ("priority order", Phase.SELECT),
    ("pins and blocks", Phase.GATE),
    ("contextual gating", Phase.GATE), ("re-injection cooldown", Phase.GATE), ("requires and excludes", Phase.GATE),
    ("duplicate stripping", Phase.GATE), ("budget", Phase.BUDGET), ("placement", Phase.INJECT),
    ("notes", Phase.INJECT), ("bookkeeping", Phase.INJECT),
]  # fmt: skip


def test_the_stages_of_keywords_only_mode_in_order() -> None:
    trace = trace_of(world(entry("A", constant=True)))
    assert [(record.name, record.phase) for record in trace.stages] == STAGES


@pytest.mark.parametrize(
    ("settings", "mode"),
    [
        ({}, "keywords-only"),
        ({"ai_search_enabled": False, "ai_search_mode": "ai-only"}, "keywords-only"),
        ({"ai_search_enabled": True, "ai_search_mode": "keyword-only"}, "keyword-only"),  # 12.7
    ],
)
def test_modes_without_ai(settings: dict[str, Any], mode: str) -> None:
    trace = trace_of(world(entry("A", "dragon"), chat=["U: dragon"], **settings))
    assert (trace.mode, injected(trace)) == (mode, ["A"])
    assert [record.name for record in trace.stages] == [name for name, _ in STAGES]


WHOLE = world(
    entry("World", constant=True, priority=1, tokens=40, content="The world."),
    entry("Dragon", "dragon", tokens=60, content="A dragon hoards the crown."),
    entry("Crown", "crown", tokens=30, requires=("Dragon",), content="A crown."),
    entry("Oath", "oath", tokens=10, excludes=("Dragon",), priority=200),
    entry("Tavern", "tavern", tokens=10, custom_fields={"location": ["city"]}),
    entry("Mill", "mill", tokens=10, folder="Far"),
    entry("Ghost", "ghost", tokens=10, cooldown=2),
    entry("Luck", "luck", tokens=10, probability=0.5),
    entry("Secret", "secret", tokens=10),
    entry("Start", bootstrap=True, tokens=20, content="Once."),
    entry("Motto", "motto", tokens=5, outlet="header", content="Onwards."),
    entry("Pin", tokens=25, content="Pinned."),
    entry("Late", "late", tokens=90, priority=300),
    entry("Guide", "dragon", guide=True),
    chat=["A: the motto", "U: dragon oath tavern mill ghost luck secret late"],
    context={"location": "forest"}, folders=("Near",), pins=rules("Pin"), blocks=rules("Secret"),
    cooldown={"V:Ghost": 1}, draws=[0.9], recursive_scan=True, max_tokens_budget=200,
)  # fmt: skip

GATED = (
    "removed Tavern: gated_field field=location label=Location entry_value=[city] context_value=forest "
    "operator=match_any tolerance=moderate"
)
STORY = {
    "snapshot": ["refused Guide: guide_hidden", "left: -"],
    "constants": ["added World: constant", "left: World"],
    "bootstrap": ["added Start: bootstrap threshold=3 chat_length=2", "left: World, Start"],
    "keywords": [
        "added Dragon: key_hit key=dragon", "added Oath: key_hit key=oath", "added Tavern: key_hit key=tavern",
        "added Mill: key_hit key=mill", "refused Ghost: cooling_down left=1",
        "refused Luck: probability_lost probability=0.5 roll=0.9", "added Secret: key_hit key=secret",
        "added Motto: key_hit key=motto", "added Late: key_hit key=late",
        "left: World, Start, Dragon, Oath, Tavern, Mill, Secret, Motto, Late",
    ],
    "active character": [
        "left: World, Start, Dragon, Oath, Tavern, Mill, Secret, Motto, Late",
        "note: off setting=characterContextScan",
    ],
    "cascade links": ["left: World, Start, Dragon, Oath, Tavern, Mill, Secret, Motto, Late"],
    "recursion": [
        "added Crown: recursion key=crown step=1 source=Dragon source_id=1",
        "left: World, Start, Dragon, Oath, Tavern, Mill, Secret, Motto, Late, Crown",
    ],
    "BM25": [
        "left: World, Start, Dragon, Oath, Tavern, Mill, Secret, Motto, Late, Crown",
        "note: off setting=fuzzySearchEnabled",
    ],
    "match order": ["left: World, Crown, Dragon, Mill, Motto, Secret, Start, Tavern, Oath, Late"],
    "contextual gating (selection)": [
        GATED,
        "left: World, Crown, Dragon, Mill, Motto, Secret, Start, Oath, Late",
    ],
    "folder filter": [
        "removed Mill: outside_folders folder=Far folders=[Near]",
        "left: World, Crown, Dragon, Motto, Secret, Start, Oath, Late",
    ],
    "priority order": ["left: World, Crown, Dragon, Motto, Secret, Start, Oath, Late"],
    "pins and blocks": [
        "added Pin: pinned", "removed Secret: blocked", "left: World, Crown, Dragon, Motto, Start, Oath, Late, Pin",
    ],
    "contextual gating": ["left: World, Crown, Dragon, Motto, Start, Oath, Late, Pin"],
    "re-injection cooldown": [
        "left: World, Crown, Dragon, Motto, Start, Oath, Late, Pin", "note: off setting=reinjectionCooldown",
    ],
    "requires and excludes": [
        "removed Oath: excluded_by titles=[Dragon]", "left: World, Pin, Crown, Dragon, Motto, Start, Late",
    ],
    "duplicate stripping": ["left: World, Pin, Crown, Dragon, Motto, Start, Late"],
    "budget": [
        "kept World: fits tokens=40 total=40", "kept Pin: fits tokens=25 total=65",
        "kept Crown: fits tokens=30 total=95", "kept Dragon: fits tokens=60 total=155",
        "kept Start: fits tokens=20 total=175",
        "removed Late: over_budget tokens=90 free=25 needs=65",
        "kept Motto: outlet outlet=header tokens=5",
        "left: World, Pin, Crown, Dragon, Start, Motto",
    ],
    "placement": [
        *(f"kept {title}: placed tag=deeplore_p1_d4_r0 position=1 depth=4 role=0"
          for title in ("World", "Pin", "Crown", "Dragon", "Start")),
        "kept Motto: placed tag=customWIOutlet_header position=-1 depth=0 role=0",
        "left: World, Pin, Crown, Dragon, Start, Motto",
    ],
    "notes": ["left: World, Pin, Crown, Dragon, Start, Motto", "note: off setting=notebookEnabled"],
    "bookkeeping": ["left: World, Pin, Crown, Dragon, Start, Motto"],
}  # fmt: skip


def test_a_whole_trace() -> None:
    """One generation in which nearly every stage has something to decide, in their order (rules: deeplore 10)."""
    trace = trace_of(WHOLE)
    tables = {
        record.name: table_of(record, WHOLE, WHERE if record.name == "keywords" else ()) for record in trace.stages
    }
    assert tables == STORY
    assert trace.outcome is RunOutcome.INJECTED
    assert [(one.title, one.label, one.tokens, one.priority) for one in trace.injections] == [
        ("World", "(constant)", 40, 1), ("Pin", "(pinned)", 25, 10), ("Crown", "crown (recursion step 1)", 30, 100),
        ("Dragon", "dragon", 60, 100), ("Start", "(bootstrap)", 20, 100), ("Motto", "motto", 5, 100),
    ]  # fmt: skip
    assert [(block.tag, len(block.parts)) for block in trace.prompt] == [
        ("deeplore_p1_d4_r0", 5), ("customWIOutlet_header", 1),
    ]  # fmt: skip
    for block in trace.prompt:
        for part in block.parts:
            assert part.entry is not None
            assert block.text[part.start : part.end].startswith(f"<{WHOLE.name(part.entry)}>\n")
    assert trace.limits == (Limit("token budget", 175, 200, "tokens"), Limit("entry limit", 5, 10, "entries"))
    assert (trace.total_tokens, trace.draws, trace.index_size) == (180, (0.9,), 13)
    assert trace.facts["exempt"] == [0, 9, 11]
    assert set(trace.entries) == set(range(14))
    assert all(balances(record) for record in trace.stages)


def test_the_default_settings_walk_through() -> None:
    """10 (verified): four generations of a growing chat."""
    play = Play(world(
        entry("Dragon", "dragon"), entry("Sword", "sword", cooldown=2), entry("World", constant=True, priority=1)
    ))  # fmt: skip
    chat = ["U: dragon and sword"]
    went_in = []
    for _ in range(4):
        trace = play.turn(chat)
        went_in.append(injected(trace))
        assert [block.tag for block in trace.prompt] == ["deeplore_p1_d4_r0"]
        chat = [*chat, "A: dragon and sword", "U: dragon and sword"]
    assert went_in == [
        ["World", "Dragon", "Sword"], ["World", "Dragon"], ["World", "Dragon"], ["World", "Dragon", "Sword"],
    ]  # fmt: skip
    assert play.state.chat_counts == {"V:World": 4, "V:Dragon": 4, "V:Sword": 2}
    assert list(play.state.swipe_keys) == ["0|0", "2|0", "4|0", "6|0"]
    assert [record.generation for record in play.state.injection_log] == [4]


EARLIER = EngineState(
    counters=Counters(3, {"V:Z": 2}, {}, {"V:Z": 1}, {"V:Gone": 3}),
    injection_log=(LoggedGeneration(3, ()),),
    prompts=(Prompt("deeplore_p1_d4_r0", "old", 1, 4, 0), Prompt("deeplore_notebook", "n", 1, 4, 0)),
    chat_counts={"V:Z": 1},
)

EARLY_ENDS = [
    pytest.param(world(entry("A", "absent"), chat=["U: x"]), RunOutcome.EMPTY_AFTER_GATING, "contextual gating",
                 id="nothing matched"),
    pytest.param(
        world(entry("A", "x", custom_fields={"era": "old"}), chat=["U: x"], context={"era": "new"}),
        RunOutcome.EMPTY_AFTER_GATING, "contextual gating", id="everything gated",
    ),
    pytest.param(world(entry("A", constant=True), blocks=rules("A")), RunOutcome.EMPTY_AFTER_GATING,
                 "contextual gating", id="everything blocked"),
    pytest.param(
        world(entry("Gone", "x"), chat=["U: x"], reinjection_cooldown=2), RunOutcome.EMPTY_AFTER_REINJECTION,
        "re-injection cooldown", id="everything pauses",
    ),
    pytest.param(
        world(entry("A", "x", requires=("Missing",)), chat=["U: x"]), RunOutcome.EMPTY_AFTER_REQUIRES,
        "requires and excludes", id="nothing has what it requires",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("there", "outcome", "last"), EARLY_ENDS)
def test_early_ends(there: World, outcome: RunOutcome, last: str) -> None:
    """5: prompts (auxiliary ones too) are deleted, nothing is logged or counted; the generation itself counts."""
    result = run_world(World(changed(there.context, state=EARLIER)))
    trace, state = result.trace, result.state
    assert (trace.outcome, trace.injections, trace.prompt) == (outcome, (), ())
    names = [record.name for record in trace.stages]
    stopped = {record.name for record in trace.stages if record.note == "stopped_early"}
    assert stopped == {*names[names.index(last) + 1 : -1]}
    assert names[-1] == "bookkeeping"
    assert state.prompts == ()
    assert state.counters == Counters(4, {"V:Z": 1}, {}, {}, {"V:Gone": 3})  # every streak ends
    assert (state.injection_log, state.chat_counts) == (EARLIER.injection_log, EARLIER.chat_counts)
    assert all(balances(record) for record in trace.stages)


def test_an_early_end_takes_nothing_out_of_the_hosts_prompt_manager() -> None:
    """11: a prompt manager's entry keeps its text until it is written again."""
    held = Prompt("deeplore_lore", "held", 0, 0, 0, managed=True)
    there = world(entry("A", "absent"), state=EngineState(prompts=(held, Prompt("deeplore_x", "x", 1, 4, 0))))
    assert run_world(there).state.prompts == (held,)


TOOL = {"tool_invocations": [{}]}


@pytest.mark.parametrize(
    ("fields", "chat", "drafts", "reason"),
    [
        ({"kind": "quiet"}, ["U: x"], [entry("A", constant=True)], "quiet_or_disabled"),
        ({"enabled": False}, ["U: x"], [entry("A", constant=True)], "quiet_or_disabled"),
        ({}, ["U: x", message("A: x", is_system=True)], [entry("A", constant=True)], "tool_or_system_tail"),
        ({}, ["U: x", message("A: x", extra=TOOL)], [entry("A", constant=True)], "tool_or_system_tail"),
        ({}, ["U: x", message("A: x", extra={"tool_invocations": []})], [entry("A", constant=True)],
         "tool_or_system_tail"),
        ({}, ["U: x"], [], "empty_vault"),
        ({}, ["U: x"], [entry("G", guide=True, constant=True)], "empty_vault"),
    ],
)  # fmt: skip
def test_skipped(fields: dict[str, Any], chat: list[str | Message], drafts: list[Any], reason: str) -> None:
    """Nothing happens, the counter stays, old prompts stay (rules: deeplore 6.7, 12.7)."""
    result = run_world(world(*drafts, chat=chat, state=EARLIER, **fields))
    assert (result.trace.outcome, result.trace.skip_reason) == (RunOutcome.SKIPPED, reason)
    assert result.trace.stages == ()
    assert result.state is EARLIER


@pytest.mark.parametrize("kind", ["normal", "swipe", "regenerate", "continue"])
def test_other_kinds_run(kind: str) -> None:
    assert injected(trace_of(world(entry("A", constant=True), chat=["U: x"], kind=kind))) == ["A"]


def test_an_empty_chat_counts() -> None:
    """Rules: deeplore 12.7."""
    result = run_world(world(entry("A", constant=True)))
    assert (injected(result.trace), result.state.counters.generation_count) == (["A"], 1)


FACTS = [
    pytest.param(
        world(entry("P40", "x", priority=40, tokens=50), entry("P0", "x", priority=0, tokens=50),
              entry("P60", "x", priority=60, tokens=50), chat=["U: x"], max_tokens_budget=100),
        ["P40", "P0"], id="priority 0 counts as 50",
    ),
    pytest.param(
        world(entry("In", "x", folder="A"), entry("Sub", "x", folder="A/S"), entry("Out", "x", folder="AB"),
              entry("Root", "x"), entry("Const", constant=True, folder="AB"), entry("Pin", folder="AB"),
              entry("Pin2", "x", folder="AB"), chat=["U: x"], folders=("A",), pins=rules("pin", "pin2"),
              blocks=rules("const")),
        ["Pin", "Pin2", "In", "Root", "Sub"], id="folder filter with pins and a blocked constant",
    ),
    pytest.param(
        world(entry("Rule", "x", outlet="rules", role=1), entry("One", "x"), entry("Two", "x"), chat=["U: x"],
              max_entries=1),
        ["One", "Rule"], id="an outlet is outside the entry cap",
    ),
    pytest.param(
        world(entry("Eris", "eris"), chat=["Eris: hello"]), ["Eris"], id="a speaker's name",
    ),
    pytest.param(
        world(entry("G", content="word", guide=True), entry("A", "y", content="other"), chat=["U: y word"],
              fuzzy_search_enabled=True, fuzzy_search_min_score=0.1),
        ["A", "G"], id="a guide by BM25",
    ),
    pytest.param(
        world(entry("Seed", "x", seed=True, requires=("Missing",), custom_fields={"era": "old"}), chat=["U: x"],
              context={"era": "new"}),
        ["Seed"], id="a seed with a mismatching era and an unmet requires",
    ),
    pytest.param(
        world(entry("Aaa", "alpha"), entry("Zzz", "zed"), chat=["U: alpha zed zed zed"],
              keyword_occurrence_weighting=True, max_entries=1),
        ["Aaa"], id="occurrences do not decide what goes in (rules: deeplore 3.9)",
    ),
    pytest.param(
        world(entry("K", "k", constant=True), entry("B", "b", bootstrap=True), entry("X", "x", scan_depth=9),
              chat=["U: x b k"], scan_depth=0),
        ["B", "K"], id="scan depth 0: constants and bootstraps only (rules: deeplore 3.1)",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("there", "titles"), FACTS)
def test_end_to_end_facts(there: World, titles: list[str]) -> None:
    """Rules: deeplore 12.7."""
    assert injected(trace_of(there)) == titles


def test_the_folder_figures() -> None:
    """Before 6, after 5, removed 1 (rules: deeplore 12.7)."""
    (there, _) = FACTS[1].values
    assert isinstance(there, World)
    record = trace_of(there).stage("folder filter")
    assert record is not None
    assert (record.details["before"], record.details["after"], record.removed) == (6, 5, 1)


def test_draws_come_from_the_list_in_order_and_are_put_on_record() -> None:
    """Keyword pass, cascade, recursion, BM25; nothing else draws (rules: deeplore 3.12)."""
    there = world(
        entry("K", "key", probability=0.5, cascade_links=("C",), content="rec"),
        entry("C", probability=0.5, content="nothing"), entry("R", "rec", probability=0.5),
        entry("F", "zzz", probability=0.5, content="key words"), entry("One", "key", probability=1),
        chat=["U: key words"], recursive_scan=True, fuzzy_search_enabled=True, fuzzy_search_min_score=0.1,
        draws=[0.1, 0.2, 0.3, 0.9],
    )  # fmt: skip
    result = run_world(there)
    assert result.trace.draws == (0.1, 0.2, 0.3, 0.9)
    assert result.trace.labels == (
        ("K", "key"), ("One", "key"), ("C", "(cascade from: K)"), ("R", "rec (recursion step 1)"),
    )  # fmt: skip
    assert result.state.random_state == 4


def test_the_random_stream_is_not_rolled_back_by_a_swipe() -> None:
    """Swipes do not rewind it (rules: scenario-format 4)."""
    there = world(entry("A", "x", probability=0.5))
    play = Play(there, EngineState(random_state=1))
    first, second = play.turn(["U: x"]), play.turn(["U: x"])
    assert second.turn.number == 0
    assert first.draws != second.draws


class BrokenStage:
    """A stage that lets an entry in and then fails."""

    def __init__(self, name: str, phase: Phase) -> None:
        self.name = name
        self.phase = phase

    async def run(self, state: Any, ctx: Any) -> Any:
        newcomer = next((one for one in ctx.index.visible if one.id not in state.matched), None)
        if newcomer is not None:
            state.let_in(newcomer, "half done")
        raise ValueError("out of order")


@pytest.mark.parametrize("name", [name for name, _ in STAGES])
def test_a_failing_stage_becomes_a_record_and_the_run_goes_on(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    def breaking(stages: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(BrokenStage(stage.name, stage.phase) if stage.name == name else stage for stage in stages)

    for group in ("KEYWORDS_ONLY", "FINISHING"):
        monkeypatch.setattr(pipeline, group, breaking(getattr(pipeline, group)))
    for single in ("OPENING", "BOOKKEEPING"):
        monkeypatch.setattr(pipeline, single, breaking((getattr(pipeline, single),))[0])
    trace = trace_of(world(entry("A", "dragon"), entry("K", constant=True), entry("N", "absent"), chat=["U: dragon"]))
    assert [record.name for record in trace.stages] == [stage for stage, _ in STAGES]
    failed = [record for record in trace.stages if record.status is StageStatus.FAILED]
    assert [(record.name, record.error) for record in failed] == [(name, "ValueError: out of order")]
    assert failed[0].left == failed[0].entered
    assert all(balances(record) for record in trace.stages)
    assert f"Stage '{name}' failed" in caplog.text
    expected = {
        "snapshot": ["K"],  # nothing to search
        "constants": ["A"],
        "keywords": ["K"],
        "budget": [],
        "placement": [],
    }.get(name, ["A", "K"])
    assert injected(trace) == expected


def test_what_a_failed_stage_let_in_may_come_in_later(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = BrokenStage("keywords", Phase.MATCH)
    changed = tuple(broken if stage.name == "keywords" else stage for stage in pipeline.KEYWORDS_ONLY)
    monkeypatch.setattr(pipeline, "KEYWORDS_ONLY", changed)
    there = world(entry("Eris", "eris"), chat=["U: eris"], character="Eris", character_context_scan=True)
    assert injected(trace_of(there)) == ["Eris"]


def test_an_exempt_entry_beside_a_blocked_one() -> None:
    there = world(entry("T", "x", vault="V"), entry("T", "x", vault="W"), chat=["U: x"], blocks=(EntryRule("t", "W"),))
    trace = trace_of(there)
    assert [one.entry for one in trace.injections] == [0]


def test_times_come_from_the_timer() -> None:
    trace: Trace = trace_of(world(entry("A", constant=True)))
    assert [round(record.duration_ms, 6) for record in trace.stages] == [1.0] * len(STAGES)


def test_verdicts_name_entries_that_the_trace_knows() -> None:
    trace = trace_of(WHOLE)
    for record in trace.stages:
        for verdict in record.verdicts:
            assert trace.entries[verdict.entry].title == WHOLE.entries[verdict.entry].title
    assert {verdict.outcome for record in trace.stages for verdict in record.verdicts} == {
        Outcome.ADDED, Outcome.KEPT, Outcome.REMOVED, Outcome.REFUSED,
    }  # fmt: skip


def test_two_pinned_namesakes_of_one_vault() -> None:
    """Both take the first one's place in turn, so the later note goes in twice: pinned, and as it is
    (rules: deeplore 5.1).
    """
    there = world(
        entry("A", "x", filename="one.md", content="one"), entry("A", "x", filename="two.md", content="two"),
        chat=["U: x"], pins=rules("A"), injection_mode="prompt_list", injection_template="{{content}}",
    )  # fmt: skip
    trace = trace_of(there)
    assert [(one.entry, one.tag, one.priority) for one in trace.injections] == [
        (1, "deeplore_constants", 10), (1, "deeplore_lore", 100),
    ]  # fmt: skip
    assert [(block.tag, block.text) for block in trace.prompt] == [
        ("deeplore_constants", "two"), ("deeplore_lore", "two"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("mode", "for_claude", "begins"),
    [
        ("off", True, False),
        ("all-providers", False, True),
        ("anthropic-only", True, True),
        ("anthropic-only", False, False),
    ],
)
def test_the_beginning_of_the_reply_can_be_for_claude_alone(mode: str, *, for_claude: bool, begins: bool) -> None:
    """(rules: deeplore-newer 1.14)"""
    there = world(
        entry("A", constant=True),
        chat=["U: hi"],
        rules="2.6",
        response_prefill_seed=" So: ",
        response_prefill_mode=mode,
    ).with_chat(["U: hi"], for_claude=for_claude)
    held = run_world(there).state.prompts
    assert [each.text for each in held if each.tag == "dle_response_prefill"] == ["So:"] * begins
