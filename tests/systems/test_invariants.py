"""What holds for every keywords-only generation, whatever the vault, the chat and the settings."""

from __future__ import annotations

import copy
from itertools import pairwise
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from lorestudio.domain.entry import BUILT_IN_FIELDS, Entry, FieldDefinition
from lorestudio.domain.javascript import length
from lorestudio.domain.records import field_names, replace
from lorestudio.domain.state import EngineState
from lorestudio.systems.base import Decided
from lorestudio.systems.deeplore.stages.candidates import keywords_stage
from lorestudio.trace.model import Outcome, RunOutcome
from lorestudio.vault.fields import OPERATORS, TOLERANCES
from tests.examples import examples
from tests.systems.deeplore import naive_keys
from tests.systems.worlds import Draft, World, balances, changed, message, rules, run_stage, run_world, world

WORDS = ["dragon", "Sword", "bob", "carl", "ΑΣ", "café", "war room", "x"]
TITLES = ["Aa", "bb", "Cc", "Dd", "é", "AA"]

phrases = st.lists(st.sampled_from([*WORDS, "Dragons", "WAR", "σ", "cafe\u0301", "."]), max_size=6).map(" ".join)
keys = st.lists(st.sampled_from([*WORDS, "", "Drag"]), max_size=3)


def maybe(*values: Any) -> st.SearchStrategy[Any]:
    """None more often than not, as fields in a note are."""
    return st.sampled_from([*[None] * (len(values) + 1), *values])


RARELY = st.sampled_from([False, False, False, True])
LINKS = st.sampled_from([(), (), (), ("bb",), ("AA", "Dd"), ("Cc",), ("é", "Aa")])

# One strategy for each choice, made once: making them anew for every example takes most of the time.
NOTES: st.SearchStrategy[Draft] = st.fixed_dictionaries({
    "title": st.sampled_from(TITLES),
    "keys": keys.map(tuple),
    "refine_keys": st.sampled_from([(), (), ("bob",), ("Sword",)]),
    "content": st.tuples(phrases, st.sampled_from(["", "", ". . ", "filler " * 20, "filler. " * 100])).map("".join),
    "vault": st.sampled_from(["V", "W"]),
    "priority": st.sampled_from([100, 100, 50, 0, -5, 10.5]),
    "constant": RARELY,
    "seed": RARELY,
    "bootstrap": RARELY,
    "guide": RARELY,
    "scan_depth": maybe(0, 0.5, 1, 2.9, 50),
    "exclude_recursion": RARELY,
    "requires": LINKS,
    "excludes": LINKS,
    "cascade_links": LINKS,
    "outlet": maybe("one", "two"),
    "depth": maybe(0, 4, 20_000),
    "role": maybe(0, 1, 2),
    "cooldown": maybe(0.5, 1, 3),
    "warmup": maybe(0.5, 1, 2),
    "probability": maybe(0, 0.3, 0.7, 1),
    "folder": maybe("A", "A/B", "C"),
    "custom_fields": st.sampled_from([{}, {}, {"era": ["old"]}, {"location": ["north", "south"]}]),
})  # fmt: skip

MESSAGES = st.builds(
    lambda name, text, thoughts, swipe: message(f"{name}: {text}", is_thoughts=thoughts, swipe_id=swipe),
    st.sampled_from(["U", "Anna", "Bob"]),
    phrases,
    RARELY,
    maybe(0, 1),
)
CHATS = st.lists(MESSAGES, max_size=7)

FIELDS = [
    FieldDefinition(name, name.title(), operator=operator, tolerance=tolerance, context_key=key)
    for name, key in (("era", "era"), ("location", "location"), ("location", "era"))
    for operator in OPERATORS
    for tolerance in TOLERANCES
]
DEFINITIONS = st.one_of(
    st.just(BUILT_IN_FIELDS), st.just(BUILT_IN_FIELDS), st.lists(st.sampled_from(FIELDS), max_size=3).map(tuple)
)

CHOICES: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries({
    "pins": st.sampled_from([(), (), rules("aa"), rules("é", ("Cc", "W"))]),
    "blocks": st.sampled_from([(), (), rules("AA"), rules(("bb", "V"), "dd")]),
    "folders": st.sampled_from([(), (), ("A",), ("C", "A/B")]),
    "fields": DEFINITIONS,
    "contextual_gating_tolerance": st.sampled_from(TOLERANCES),
    "context_size": st.sampled_from([0, 0, 200, 8192]),
    "context": st.sampled_from([{}, {}, {"era": "new"}, {"location": ["NORTH"], "era": "old"}]),
    "character": st.sampled_from(["", "aa", "dragon"]),
    "cooldown": maybe({"V:Aa": 2, "W:bb": 1}),
    "seed": st.integers(0, 2**32 - 1),
    "scan_depth": st.sampled_from([0, 1, 4, 4, 100]),
    "new_chat_threshold": st.sampled_from([1, 3]),
    "match_whole_words": st.booleans(),
    "case_sensitive": RARELY,
    "recursive_scan": st.booleans(),
    "max_recursion_steps": st.integers(1, 3),
    "character_context_scan": st.booleans(),
    "keyword_occurrence_weighting": RARELY,
    "fuzzy_search_enabled": RARELY,
    "reinjection_cooldown": st.sampled_from([0, 0, 2]),
    "max_entries": st.sampled_from([1, 3, 10]),
    "unlimited_entries": RARELY,
    "max_tokens_budget": st.sampled_from([100, 120, 3000]),
    "unlimited_budget": RARELY,
    "injection_mode": st.sampled_from(["extension", "prompt_list"]),
    "decay_enabled": RARELY,
})  # fmt: skip

WORLDS = st.builds(
    lambda drafts, chat, choices: world(*drafts, chat=chat, **choices),
    st.lists(NOTES, min_size=1, max_size=8),
    CHATS,
    CHOICES,
)


def check_records(result: Decided) -> None:
    """Each stage accounts for everybody, and hands its candidates to the next one."""
    records = result.trace.stages
    assert records[0].entered == ()
    for record in records:
        assert record.error == ""
        assert balances(record)
    for earlier, later in pairwise(records):
        assert earlier.left == later.entered


def check_entries(there: World, result: Decided) -> None:
    """No blocked entry, no guide but by BM25, nobody who did not come in somewhere."""
    trace = result.trace
    fuzzy = trace.stage("BM25")
    by_fuzzy = {one.entry for one in fuzzy.with_outcome(Outcome.ADDED)} if fuzzy else set()
    added = {one.entry for record in trace.stages for one in record.with_outcome(Outcome.ADDED)}
    for injection in trace.injections:
        one = there.entries[injection.entry]
        assert not any(block.matches(one) for block in there.context.moment.controls.blocks)
        assert not one.guide or one.id in by_fuzzy
        assert one.id in added
    for record in trace.stages:
        for verdict in record.verdicts:
            assert verdict.entry in trace.entries


def check_budget(there: World, result: Decided) -> None:
    """Both caps hold for entries outside outlets, but for the last one's truncation (rules: deeplore 5.7): the dots may
    cost more.
    """
    limits = there.context.settings
    positional = [one for one in result.trace.injections if one.position != -1]
    assert limits.unlimited_entries or len(positional) <= limits.max_entries
    truncated = [one for one in positional if one.truncated]
    assert truncated in ([], positional[-1:])
    whole = sum(one.tokens for one in positional if not one.truncated)
    if not limits.unlimited_budget:
        assert whole <= limits.max_tokens_budget
        for one in truncated:
            note = there.entries[one.entry]
            dots = 3 * note.tokens / length(note.content)
            assert whole + one.tokens <= limits.max_tokens_budget + dots + 1
            assert one.original_tokens == note.tokens > limits.max_tokens_budget - whole >= 50


def check_prompt(there: World, result: Decided) -> None:
    """Every injection has its part in a block of its tag, every block is committed."""
    trace = result.trace
    parts = [(block.tag, part.entry) for block in trace.prompt for part in block.parts]
    assert sorted(parts, key=str) == sorted(((one.tag, one.entry) for one in trace.injections), key=str)
    for block in trace.prompt:
        assert "\n\n".join(block.text[part.start : part.end] for part in block.parts) == block.text
    assert [(one.tag, one.text) for one in result.state.prompts] == [(one.tag, one.text) for one in trace.prompt]
    assert (trace.outcome is RunOutcome.INJECTED) is bool(trace.injections)


def check_state(there: World, result: Decided) -> None:
    counters = result.state.counters
    assert counters.generation_count == result.trace.turn.number + 1
    assert all(left > 0 for left in counters.cooldown.values())
    assert set(counters.consecutive) == {there.entries[one.entry].tracker_key for one in result.trace.injections}
    assert result.state.random_state != there.context.state.random_state or not result.trace.draws
    assert all(count >= 0 for count in result.state.chat_counts.values())


@settings(max_examples=examples(400), deadline=None)
@given(there=WORLDS)
def test_a_generation(there: World) -> None:
    result = run_world(there)
    if result.trace.outcome is RunOutcome.SKIPPED:
        assert all(one.guide for one in there.entries)
        return
    check_records(result)
    check_entries(there, result)
    check_budget(there, result)
    check_prompt(there, result)
    check_state(there, result)


def frozen(there: World) -> Any:
    """A deep copy of everything that goes into a run."""
    ctx = there.context
    # What only other systems read is empty here, and an empty read-only mapping cannot be copied.
    names = [name for name in field_names(Entry) if name != "system_fields"]
    notes_now = [{name: getattr(one, name) for name in names} for one in there.entries]
    return copy.deepcopy((notes_now, ctx.moment.chat, ctx.moment.controls, ctx.state, ctx.settings))


@settings(max_examples=examples(150), deadline=None)
@given(there=WORLDS)
def test_the_same_inputs_give_the_same_trace_and_stay_as_they_are(there: World) -> None:
    before = frozen(there)
    first = run_world(World(changed(there.context, timer=lambda: 0.0)))
    second = run_world(World(changed(there.context, timer=lambda: 0.0)))
    assert first == second
    assert frozen(there) == before


@settings(max_examples=examples(100), deadline=None)
@given(there=WORLDS, more=CHATS)
def test_a_swipe_starts_where_the_generation_before_it_started(there: World, more: list[Any]) -> None:
    """The counters after a generation and its swipe are those after the swipe alone, given the same draws
    (rules: deeplore 6.3).
    """
    first = run_world(there)
    if first.trace.outcome is RunOutcome.SKIPPED:
        return
    draws = changed(there.context, state=replace(first.state, random_state=there.context.state.random_state))
    again = run_world(World(draws))
    assert again.trace.turn.number == first.trace.turn.number
    assert again.state.counters == first.state.counters
    assert [one.entry for one in again.trace.injections] == [one.entry for one in first.trace.injections]
    counted = [there.entries[one.entry].tracker_key for one in first.trace.injections]
    if there.context.moment.chat and len(set(counted)) == len(
        counted
    ):  # else the set cannot undo them (rules: deeplore 6.4)
        assert again.state.chat_counts == first.state.chat_counts
    longer = there.with_chat([*there.context.moment.chat, *more, "U: next"], state=first.state)
    assert run_world(longer).trace.turn.number == first.trace.turn.number + 1


@settings(max_examples=examples(300), deadline=None)
@given(there=WORLDS)
def test_the_keyword_pass_equals_testing_every_entry_by_itself(there: World) -> None:
    """One pass over the deepest window against each entry's own window, key by key (rules: deeplore 3.3 to 3.5)."""
    ctx = there.context
    fresh = World(changed(ctx, state=EngineState()))
    limits = ctx.settings
    rule: Any = {"case": limits.case_sensitive, "words": limits.match_whole_words}
    expected: dict[int, tuple[str, Any]] = {}
    for one in there.entries:
        if one.constant or one.guide or not limits.scan_depth:
            continue
        text = naive_keys.scan_text(ctx.moment.chat, limits.scan_depth if one.scan_depth is None else one.scan_depth)
        key = naive_keys.match(one.keys, one.refine_keys, text, **rule)
        if key is None:
            blocked = naive_keys.primary(one.keys, text, **rule) if one.refine_keys else None
            if blocked is not None:
                expected[one.id] = ("refine_blocked", blocked)
        elif one.warmup is not None and naive_keys.count(one.keys, text, **rule) < one.warmup:
            expected[one.id] = ("warmup_short", naive_keys.count(one.keys, text, **rule))
        else:
            expected[one.id] = ("hit", key)
    got: dict[int, tuple[str, Any]] = {}
    for verdict in run_stage(keywords_stage, fresh).record.verdicts:
        details = verdict.details
        if verdict.reason in {"probability_zero", "probability_lost"}:
            got[verdict.entry] = ("hit", expected.get(verdict.entry, ("", None))[1])
        elif verdict.reason == "warmup_short":
            got[verdict.entry] = (verdict.reason, details["found"])
        else:
            got[verdict.entry] = ("refine_blocked" if verdict.reason == "refine_blocked" else "hit", details["key"])
    assert got == expected
