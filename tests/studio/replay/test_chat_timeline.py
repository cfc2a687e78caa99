"""Turns of a chat: what is the one before, what has to be looked at again, and that a real replay is told truly."""

from __future__ import annotations

import asyncio
import gc
from weakref import ref

from lorestudio.domain.chat import Chat, Generation, Message
from lorestudio.domain.records import replace
from lorestudio.domain.tokens import CHARS_4
from lorestudio.studio.chat.editing import choose_swipe
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.replay.timeline import TimelineMaker, generation_before
from lorestudio.trace.diff import compare
from tests.studio.previews import project_of

CHAT = Chat(
    (
        Message("Wren", "The lamp burns.", is_user=True),
        Message("Ann", "Yes.", swipe_id=0, swipes=("Yes.", "No.")),
        Message("Wren", "And the tide?", is_user=True),
        Message("Ann", "It rises."),
    ),
    "Wren", "Ann",
)  # fmt: skip
FIRST, OTHER, SECOND, NEXT = Generation(1, 0), Generation(1, 1), Generation(3), Generation(4)


def replayed(chat: Chat = CHAT) -> Simulator:
    simulator = Simulator(replace(project_of(), chat=chat))
    asyncio.run(simulator.replay())
    return simulator


def test_swipes_of_a_reply_are_compared_with_the_reply_before_and_sent_after_each_other() -> None:
    simulator = replayed()
    assert simulator.generations == (OTHER, FIRST, SECOND, NEXT)  # the active swipe was made last
    maker = TimelineMaker(CHAT, simulator.generations, CHARS_4)
    turns = {turn.generation: turn for turn in maker.turns(simulator.traces, simulator.generations)}
    assert [turns[each].before for each in (FIRST, OTHER, SECOND, NEXT)] == [None, None, FIRST, SECOND]
    assert [turns[each].sent_before for each in (OTHER, FIRST, SECOND, NEXT)] == [None, OTHER, FIRST, SECOND]
    assert turns[OTHER].cache is None


def test_the_active_swipe_is_the_one_the_chat_went_on_from() -> None:
    assert generation_before(CHAT, SECOND) == FIRST
    swiped = choose_swipe(CHAT, 1, 1)
    assert generation_before(swiped, SECOND) == OTHER
    assert generation_before(CHAT, OTHER) is None
    assert generation_before(None, Generation(0)) is None


def test_changes_are_those_of_the_diff() -> None:
    simulator = replayed()
    maker = TimelineMaker(CHAT, simulator.generations, CHARS_4)
    for turn in maker.turns(simulator.traces, simulator.generations):
        if turn.before is None:
            continue
        diff = compare(simulator.traces[turn.before], simulator.traces[turn.generation])
        assert turn.changes.entered == tuple(change.key for change in diff.entered)
        assert turn.changes.left == tuple(change.key for change in diff.left)
        assert turn.changes.unchanged == diff.unchanged
        assert turn.summary.tokens == diff.tokens[1]


def test_no_trace_is_kept_but_the_last_one() -> None:
    simulator = replayed()
    traces = {each: replace(trace, clock_ms=1) for each, trace in simulator.traces.items()}
    maker = TimelineMaker(CHAT, simulator.generations, CHARS_4)
    before = list(maker.turns(traces, simulator.generations))
    known = {each: ref(trace) for each, trace in traces.items()}
    last = traces[NEXT]
    traces.clear()
    gc.collect()
    assert [each for each, trace in known.items() if trace() is not None] == [NEXT]
    (again,) = maker.turns({NEXT: last}, [NEXT])
    assert again.summary is before[-1].summary


def test_turns_whose_trace_is_not_there_yet_are_passed_over() -> None:
    simulator = replayed()
    maker = TimelineMaker(CHAT, simulator.generations, CHARS_4)
    only = {SECOND: simulator.traces[SECOND]}
    (turn,) = maker.turns(only, simulator.generations)
    assert turn.generation == SECOND
    assert turn.cache is None
    assert not turn.changes.left


def test_a_turn_that_was_run_again_touches_those_that_are_compared_with_it() -> None:
    maker = TimelineMaker(CHAT, (OTHER, FIRST, SECOND, NEXT), CHARS_4)
    assert maker.affected([FIRST]) == (FIRST, SECOND)
    assert maker.affected([OTHER]) == (OTHER, FIRST)
    assert maker.affected([NEXT]) == (NEXT,)


def test_a_new_trace_replaces_the_summary() -> None:
    simulator = replayed()
    maker = TimelineMaker(CHAT, simulator.generations, CHARS_4)
    (before,) = maker.turns(simulator.traces, [FIRST])
    assert before.summary.injected
    again = {**simulator.traces, FIRST: replace(simulator.traces[FIRST], injections=())}
    (after,) = maker.turns(again, [FIRST])
    assert not after.summary.injected
