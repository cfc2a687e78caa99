"""What is expected: the file, where it is found again, and what a run must come to.

What a generation came to, and that a run which is not recorded comes to the same.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from typing import ClassVar

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lorestudio.domain.chat import Chat, Message
from lorestudio.domain.entry import EMPTY, Entry, VaultIndex
from lorestudio.domain.lifecycle import Cancelled, CancelToken
from lorestudio.domain.records import replace
from lorestudio.exchange.problems import InputError
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.tuning.expectations import (
    Expectation,
    Expectations,
    ReplyMark,
    Should,
    TurnOutcome,
    answered,
    answers_of,
    judge,
    parse,
    turn_outcome,
)
from lorestudio.systems.base import System
from lorestudio.systems.deeplore.counts import COUNTS
from lorestudio.systems.registry import KINDS, kind_of, system_of
from lorestudio.trace.model import Phase, Trace
from tests.examples import examples
from tests.systems.test_invariants import WORLDS
from tests.systems.worlds import World, changed, entry, run_world, trace_of, world

ENTRIES = (
    Entry(0, "Lamp.md", "brume", "Lamp"),
    Entry(1, "places/Tide.md", "brume", "Tide", constant=True),
    Entry(2, "Bell.md", "brume", "Bell", constant=True),
    Entry(3, "Cafe\u0301.md", "brume", "Cafe\u0301"),
)
INDEX = VaultIndex(ENTRIES)
CHAT = Chat(
    (
        Message("U", "Light the LAMP.", is_user=True),
        Message("A", "It burns."),
        Message("U", "And the tide at the cafe\u0301?", is_user=True),
        Message("A", "Out.", swipe_id=1, swipes=("In.", "Out.")),
    )
)
# In the prompt: Lamp and then Tide, shortened; Bell matched and was cut.
OUTCOME = TurnOutcome(3, 1, 1, ((0, 30), (1, 50)), (0, 1, 2), (0,), frozenset({1}), ((2, 40),))


def met(should: Should, *notes: str, tokens: int | None = None, **more: object) -> bool | None:
    """Whether it is met in the one outcome, None where it does not speak of it."""
    (judged,) = judge([Expectation(should, notes, tokens, **more)], CHAT, "story", INDEX, [OUTCOME])  # type: ignore[arg-type]  # a test's shorthand
    assert not judged.problem
    return judged.turns[0].met if judged.turns else None


class CountedEntries(tuple[Entry, ...]):
    """Counts how often somebody goes through them."""

    __slots__ = ()
    times: ClassVar[int] = 0

    def __iter__(self) -> Iterator[Entry]:
        CountedEntries.times += 1
        return super().__iter__()


def test_the_entries_are_gone_through_once_for_all_expectations() -> None:
    names = ("Lamp", "Lamp.md", "brume:Bell.md", "bell.MD.md", "places/tide.md", "constants", "Nobody", "LAMP")
    index, every = VaultIndex(CountedEntries(ENTRIES)), [Expectation(Should.IN, (name,)) for name in names]
    found = [judged.notes for judged in judge(every, CHAT, "story", index, [OUTCOME])]
    ids = [{0}, {0}, {2}, None, {1}, {1, 2}, None, {0}]
    assert found == [() if each is None else (frozenset(each),) for each in ids]
    assert CountedEntries.times == 1


@pytest.mark.parametrize(
    ("should", "notes", "tokens", "expected"),
    [
        (Should.IN, ["Lamp"], None, True),
        (Should.IN, ["Lamp", "Bell"], None, False),
        (Should.OUT, ["Bell.md"], None, True),
        (Should.OUT, ["Tide"], None, False),
        (Should.MATCHED, ["bell"], None, True),
        (Should.SELECTED, ["Lamp"], None, True),
        (Should.SELECTED, ["Tide"], None, False),
        (Should.WHOLE, ["Lamp"], None, True),
        (Should.WHOLE, ["places/Tide.md"], None, False),
        (Should.BEFORE, ["Lamp", "Tide"], None, True),
        (Should.BEFORE, ["Tide", "Lamp"], None, False),
        (Should.BEFORE, ["Bell", "Lamp"], None, True),
        (Should.APART, ["Lamp", "Bell"], None, True),
        (Should.APART, ["Lamp", "Tide"], None, False),
        (Should.WITHIN, ["constants"], 50, True),
        (Should.WITHIN, ["constants"], 49, False),
        (Should.WITHIN, ["Lamp", "Tide"], 79, False),
        (Should.IN, ["caf\u00e9"], None, False),
        (Should.OUT, ["Caf\u00e9.md"], None, True),
        (Should.OUT, ["brume:Caf\u00e9.md"], None, True),
    ],
)
def test_what_a_run_must_come_to(should: Should, notes: list[str], tokens: int | None, expected: bool) -> None:
    assert met(should, *notes, tokens=tokens) is expected


def test_constants_of_which_there_are_none_take_nothing() -> None:
    expected = Expectation(Should.WITHIN, ("constants",), 10)
    plain = replace(INDEX, entries=tuple(replace(each, constant=False) for each in INDEX.entries))
    (judged,) = judge([expected], CHAT, "story", plain, [OUTCOME])
    assert (judged.problem, [turn.met for turn in judged.turns]) == ("", [True])


def test_a_standing_rule_speaks_of_replies_to_messages_with_its_text() -> None:
    assert met(Should.IN, "Bell", whenever="TIDE") is False
    assert met(Should.IN, "Bell", whenever="Caf\u00e9?") is False
    assert met(Should.IN, "Bell", whenever="lamp") is None


def test_a_reply_is_known_by_the_message_that_it_answers() -> None:
    mark = ReplyMark("story", 3, answered(CHAT, 3))
    assert met(Should.IN, "Lamp", reply=mark) is True
    moved = replace(CHAT, messages=(Message("U", "Once.", is_user=True), Message("A", "So."), *CHAT.messages))
    assert mark.among(answers_of(moved)) == 5
    expected = Expectation(Should.IN, ("Lamp",), reply=mark)
    (found,) = judge([expected], moved, "branch", INDEX, [replace(OUTCOME, message=5)])
    assert (found.expectation, found.called.sentence) == (expected, "Lamp should be in (reply #5 of branch)")
    renamed = VaultIndex((replace(ENTRIES[0], filename="things/lamp-of-hob.md", title="Hob's Lamp / the moth's"),))
    (titled,) = judge([replace(expected, notes=("things/lamp-of-hob.md",))], moved, "branch", renamed, [])
    assert titled.called.sentence == "Hob's Lamp / the moth's should be in (reply #5 of branch)", "as people call it"
    alike = replace(renamed, entries=(*renamed.entries, replace(renamed.entries[0], id=1, filename="lamp-of-wren.md")))
    (one,) = judge([replace(expected, notes=("things/lamp-of-hob.md",))], moved, "branch", alike, [])
    assert one.called.sentence == "lamp-of-hob should be in (reply #5 of branch)", "another one has that title"
    (unknown,) = judge([replace(expected, notes=("Mist",))], moved, "branch", INDEX, [])
    assert unknown.called.sentence == "Mist should be in (reply #5 of branch)"
    (elsewhere,) = judge(
        [Expectation(Should.IN, ("Lamp",), reply=replace(mark, after="0" * 12))], CHAT, "story", INDEX, [OUTCOME]
    )
    assert "reply #3" in elsewhere.problem
    assert elsewhere.called.sentence == "Lamp should be in (reply #3 of story)", "as the file says it"
    other_chat = replace(mark, after="0" * 12, chat="another")
    (silent,) = judge([Expectation(Should.IN, ("Lamp",), reply=other_chat)], CHAT, "story", INDEX, [OUTCOME])
    assert (silent.problem, silent.turns, silent.met) == ("", (), True)


def test_of_a_reply_only_the_active_swipe_counts() -> None:
    other = replace(OUTCOME, swipe=0, injected=())
    (judged,) = judge([Expectation(Should.IN, ("Lamp",))], CHAT, "story", INDEX, [other, OUTCOME])
    assert [turn.generation.swipe for turn in judged.turns] == [1]


def test_a_note_that_is_not_there_is_told() -> None:
    (judged,) = judge([Expectation(Should.OUT, ("Nowhere",))], CHAT, "story", INDEX, [OUTCOME])
    assert "“Nowhere”" in judged.problem
    assert not judged.met


def test_an_entry_that_is_no_note_is_found_by_its_title() -> None:
    outcome = replace(OUTCOME, injected=((10**9, 5),), strangers=((10**9, "From the book"),))
    (judged,) = judge([Expectation(Should.IN, ("from the book",))], CHAT, "story", INDEX, [outcome])
    assert judged.met


# ---- the file -------------------------------------------------------------------------------------------------------

FILE = """\
# by hand
expectations:
  # the lamp
  - {note: Lamp.md, should: be in}   # always
  - notes: constants
    should: take at most
    tokens: 800

  # about the tide
  - note: Tide
    should: come in
  - note: Bell
    should: not be in
    whenever: the ferry
"""


def test_what_is_wrong_is_told_with_its_line_and_the_rest_holds() -> None:
    found = parse(FILE, "e.yaml")
    assert [each.sentence for each in found.every] == [
        "Lamp should be in",
        "constants should take at most 800 tokens",
        "Bell should not be in whenever “the ferry” is said",
    ]
    (problem,) = found.problems
    assert problem.startswith("e.yaml, line 10: should: this is none of 'be in', ")


@pytest.mark.parametrize(
    ("item", "part"),
    [
        ("- {note: A, should: come before}", "needs 2 notes"),
        ("- {note: A, should: take at most}", "`tokens` is needed"),
        ("- {note: A, should: be in, tokens: 3}", "`tokens` is needed"),
        ("- {should: be in}", "needs one note or more"),
        ("- {notes: constants, should: be in}", "goes with “take at most” only"),
        ("- {note: A, should: be in, whenever: x, reply: {number: 1, after: y}}", "do not go together"),
        ("- {note: A, should: be in, colour: red}", "colour: no field is called so."),
        ("- {note: A, should: be in, token: 3}", "token: no field is called so. Did you mean “tokens”?"),
        ("- {note: A}", "should: it is missing."),
        ("- seven", "write it as in {note: Lamp, should: be in}."),
    ],
)
def test_parts_that_do_not_go_together(item: str, part: str) -> None:
    found = parse(f"expectations:\n  {item}\n")
    assert found.every == ()
    assert part in found.problems[0]


@pytest.mark.parametrize("text", ["expectations: [", "expectations: 3\n", "a: b: c\n"])
def test_no_such_file(text: str) -> None:
    with pytest.raises(InputError, match=r"e\.yaml"):
        parse(text, "e.yaml")


def test_removing_and_adding_leaves_everything_else_to_the_letter() -> None:
    found = parse(FILE)
    without = found.without(found.every[1])
    assert without.text == FILE.replace("  - notes: constants\n    should: take at most\n    tokens: 800\n\n", "")
    again = without.with_added(found.every[1])
    assert again.text.startswith(without.text)
    assert again.every[-1] == found.every[1]
    last = again.without(again.every[-1])
    assert last.text == without.text


texts = st.text(st.characters(blacklist_categories=("Cs", "Cc")), min_size=1, max_size=20).filter(str.strip)


@given(
    st.sampled_from([Should.IN, Should.OUT, Should.WHOLE]),
    st.lists(texts, min_size=1, max_size=3),
    st.one_of(st.just(""), texts),
    st.booleans(),
    texts,
)
@example(Should.IN, ["0"], "", True, "?0")  # in the order of the texts above
def test_what_is_written_is_read_again(
    should: Should, notes: list[str], whenever: str, of_reply: bool, why: str
) -> None:
    mark = ReplyMark(why, 4, "0123456789ab") if of_reply else None
    one = Expectation(should, tuple(notes), whenever="" if of_reply else whenever, reply=mark, because=why)
    found = Expectations().with_added(one).with_added(one)
    assert "constants" in notes or found.every == (one, one)


def test_a_file_nested_fifty_thousand_levels_deep_is_refused_at_once() -> None:
    begun = time.process_time()
    with pytest.raises(InputError, match="nested too deeply"):
        parse("[" * 50_000)
    assert time.process_time() - begun < 1


def test_a_file_of_megabytes_is_refused_at_once() -> None:
    item = "  - {note: Lamp, should: be in}\n"
    assert len(parse("expectations:\n" + item * 2).every) == 2
    with pytest.raises(InputError, match=r"it has more than 200,000 characters\. Take some out\."):
        parse("expectations:\n" + item * 100_000)


async def unrecorded(simulator: Simulator) -> list[Trace]:
    return [trace async for trace in simulator.unrecorded()]


def test_an_outcome_says_what_went_in_what_matched_and_what_the_budget_kept_out() -> None:
    text = "Word word word. " * 100
    there = world(
        entry("Lamp", "lamp", content=text[:640], priority=1),
        entry("Oil", "lamp", content=text[:400], priority=2),
        entry("Wick", "lamp", content=text[:4], priority=3),
        entry("Gull", "gull", content="Gull."),
        chat=["U: a lamp"],
        max_tokens_budget=200,
    )
    outcome = turn_outcome(trace_of(there))
    assert outcome == TurnOutcome(
        1,
        0,
        0,
        injected=((0, 160),),
        matched=(0, 1, 2),
        selected=(0, 1, 2),
        cut=((1, 100), (2, 1)),  # 40 tokens are left: too few for a part of the next one, and nothing comes behind it
    )
    assert outcome.tokens == 160


@pytest.mark.parametrize("name", ["context-window", "hybrid", "world-info"])
def test_what_went_in_was_matched_and_selected_whatever_selects(name: str, demo: Project) -> None:
    """In the context window nothing selects, and World Info matches keys behind what is taken by similarity."""
    kind = kind_of(name)
    similar = {"vectors": True, "vectors_for_all": True} if name == "world-info" else {}
    system: System = system_of(demo.scene(), kind, kind.settings().model_copy(update=similar))
    for outcome in map(turn_outcome, asyncio.run(Simulator(demo, system).replay())):
        assert {entry for entry, _ in outcome.injected} <= set(outcome.selected) <= set(outcome.matched)


@pytest.mark.long
@pytest.mark.parametrize("name", KINDS)
def test_a_run_that_is_not_recorded_comes_to_the_same(name: str, demo: Project) -> None:
    """For every system, over the demo's whole chat, with and without a model that takes part."""
    kind = kind_of(name)
    known = kind.settings.model_fields.keys()
    for changes in ({"enabled": True}, {"enabled": True, "ai_search_enabled": True}):
        system: System = system_of(
            demo.scene(), kind, kind.settings().model_copy(update={key: changes[key] for key in known & changes})
        )
        traces = asyncio.run(Simulator(demo, system).replay())
        quiet = asyncio.run(unrecorded(Simulator(demo, system)))
        assert [turn_outcome(trace) for trace in quiet] == [turn_outcome(trace) for trace in traces]


@settings(max_examples=examples(300), deadline=None)
@given(there=WORLDS)
def test_it_comes_to_the_same_in_any_world_and_hands_on_the_same_state(there: World) -> None:
    loud, quiet = run_world(there), run_world(World(changed(there.context, recorded=False)))
    assert turn_outcome(quiet.trace) == turn_outcome(loud.trace)
    assert quiet.trace.prompt == loud.trace.prompt
    assert quiet.state == replace(
        loud.state, **{name: getattr(quiet.state, name) for name in ("chat_counts", "swipe_keys", "analytics")}
    )
    assert COUNTS.only(quiet.state) == COUNTS.only(there.context.state)  # nobody reads them, so nobody counts


def test_what_is_not_recorded_has_no_details(demo: Project) -> None:
    for trace in asyncio.run(unrecorded(Simulator(demo)))[:3]:
        others = [record for record in trace.stages if record.phase is not Phase.BUDGET]
        assert all(verdict.details is EMPTY for record in others for verdict in record.verdicts)


def test_it_stops_between_two_generations(demo: Project) -> None:
    async def two() -> None:
        cancel = CancelToken()
        seen = 0
        async for _ in Simulator(demo).unrecorded(cancel):
            seen += 1
            if seen == 2:
                cancel.cancel()
        raise AssertionError("it went on")

    with pytest.raises(Cancelled):
        asyncio.run(two())
