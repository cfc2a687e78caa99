from __future__ import annotations

import asyncio
from types import MappingProxyType

import pytest

from lorestudio.domain.chat import Generation
from lorestudio.domain.records import replace
from lorestudio.domain.state import EngineState
from lorestudio.studio.replay import runs as runs_module
from lorestudio.studio.replay.runs import CHECKPOINT, Runs, TraceBook, is_same_run
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.systems.base import Decided
from lorestudio.systems.deeplore.counts import COUNTS, EngineCounts, Tally, counted
from lorestudio.trace.model import SeenChat
from lorestudio.trace.vocabulary import Vocabulary


def results(simulator: Simulator) -> list[Decided]:
    """What the simulator's runs came to, with what they counted."""
    traces = [simulator.traces[one] for one in simulator.generations]
    tallies = [simulator._runs.tally(place) for place in range(len(traces))]
    return [Decided(*found) for found in zip(traces, simulator.states, tallies, strict=True)]


@pytest.fixture(scope="module")
def made(replayed: Simulator) -> list[Decided]:
    return results(replayed)


def filled(made: list[Decided], unpacked: int, times: int = 1, first: EngineState | None = None) -> Runs:
    runs = Runs(first or EngineState(random_state=3), COUNTS, unpacked)
    for _ in range(times):
        for result in made:
            runs.append(result)
    return runs


def test_packed_generations_come_back_as_they_were(made: list[Decided]) -> None:
    runs = filled(made, unpacked=2)
    assert [runs.trace(place) for place in range(len(made))] == [result.trace for result in made]
    assert all(runs.trace(place).words is result.trace.words for place, result in enumerate(made))
    assert [runs.state(place) for place in range(len(runs))] == [result.state for result in made]
    assert runs.state(-1) == EngineState(random_state=3)


def test_of_traces_that_were_packed_fewer_stay_unpacked(made: list[Decided], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs_module, "REOPENED", 2)
    assert len(made) > 7
    runs = filled(made, unpacked=4)
    for place in (0, 1, 0, 2):
        assert runs.trace(place) == made[place].trace
    still = [runs.held(place).run.trace is not None for place in range(len(made))]
    assert still == [True, False, True, *[False] * (len(made) - 7), *[True] * 4], "those looked at last, and the newest"


def test_of_large_traces_fewer_stay_unpacked(made: list[Decided], monkeypatch: pytest.MonkeyPatch) -> None:
    named = [len(result.trace.entries) for result in made]
    monkeypatch.setattr(runs_module, "NAMED", sum(named[-3:]))
    runs = filled(made, unpacked=99)
    assert len(made) > 7
    assert [runs.held(place).run.trace is not None for place in range(len(made))] == [
        *[False] * (len(made) - 3),
        *[True] * 3,
    ]
    assert runs.trace(0) == made[0].trace
    assert runs.held(len(made) - 1).run.trace is not None, "one that is looked at again takes no other one's place"
    monkeypatch.setattr(runs_module, "NAMED", 0)
    assert runs.trace(1) == made[1].trace
    assert [runs.held(place).run.trace is not None for place in (0, 1)] == [False, True], "the last one always stays"


def test_what_a_generation_left_stays_without_its_trace(made: list[Decided]) -> None:
    runs = filled(made, unpacked=2)
    for place in (0, len(made) - 1):
        runs.trace(place)
        held = runs.held(place)
        held.shelf.let_go(held.run)
        assert (held.run.trace, held.run.packed) == (None, None)
        assert runs.state(place) == made[place].state
    assert runs.trace(1) == made[1].trace


def test_words_are_put_back_and_not_packed(made: list[Decided]) -> None:
    words = Vocabulary(candidates="page|pages")  # holds functions, for which JSON has no word
    own = Decided(replace(made[0].trace, words=replace(words, sentence=lambda _run: "Told.")))
    runs = Runs(None, unpacked=0)
    runs.append(own)
    assert runs.trace(0) == own.trace
    assert runs.trace(0).words is own.trace.words


def test_nothing_of_a_packed_trace_can_be_changed(made: list[Decided]) -> None:
    runs = filled(made, unpacked=1)
    verdicts = [verdict for record in runs.trace(0).stages for verdict in record.verdicts if not verdict.details]
    assert verdicts
    assert all(isinstance(verdict.details, MappingProxyType) for verdict in verdicts)


def test_counts_are_counted_again_from_the_last_checkpoint(replayed: Simulator, made: list[Decided]) -> None:
    runs = Runs(EngineState(random_state=replayed.project.seed), COUNTS)
    state, wanted = EngineState(random_state=replayed.project.seed), []
    for number in range(CHECKPOINT + 5):
        result = made[number % len(made)]
        state = COUNTS.joined(result.state, counted(state, result.tally))
        wanted.append(state)
        runs.append(Decided(result.trace, state, result.tally))
    assert [runs.state(place) for place in range(len(runs))] == wanted


class Watched(EngineCounts):
    """Notes whose counts were asked for."""

    def __init__(self) -> None:
        self.asked: list[object] = []

    def after(self, counts: EngineState, tally: Tally | None) -> EngineState:
        self.asked.append(tally)
        return super().after(counts, tally)


def test_a_state_that_is_asked_for_later_is_the_one_of_now_and_nothing_is_counted_before(made: list[Decided]) -> None:
    counts = Watched()
    runs = Runs(EngineState(), counts)
    for result in made[:4]:
        runs.append(result)
    later = [runs.later_state(place) for place in range(-1, 4)]
    assert counts.asked == []
    wanted = [filled(made[:4], unpacked=2, first=EngineState()).state(place) for place in range(-1, 4)]
    runs.cut(2)
    for result in (made[4], made[0]):
        runs.append(result)
    assert [each() for each in later] == wanted
    counts.asked.clear()
    assert later[4]() == wanted[4]
    assert counts.asked == []


def test_what_is_cut_off_is_gone_and_can_be_made_again(made: list[Decided]) -> None:
    runs = filled(made, unpacked=2)
    runs.cut(3)
    assert len(runs) == 3
    assert runs.state(2) == made[2].state
    with pytest.raises(IndexError):
        runs.trace(3)
    runs.append(made[3])
    assert runs.trace(3) == made[3].trace


def test_a_book_keeps_what_was_cut_off(made: list[Decided]) -> None:
    runs, book = filled(made, unpacked=2), TraceBook()
    book.put(Generation(7), runs, 3)
    runs.cut(0)
    assert book[Generation(7)] == made[3].trace


def test_a_book_takes_from_another_without_unpacking(made: list[Decided]) -> None:
    runs = filled(made, unpacked=1)
    first, second = TraceBook(), TraceBook({Generation(99): made[0].trace})
    for place in range(3):
        first.put(Generation(place), runs, place)
    second.take(first.part([Generation(1), Generation(2)]))
    assert [run.trace is None for run in runs._runs[:3]] == [True, True, True]
    assert list(second) == [Generation(99), Generation(1), Generation(2)]
    assert second[Generation(2)] == made[2].trace
    assert second.get(Generation(0)) is None


@pytest.mark.parametrize("unpacked", [0, 99])
def test_a_run_that_was_taken_over_is_the_same_run_unless_it_saw_another_chat(
    made: list[Decided], unpacked: int
) -> None:
    before, after = filled(made, unpacked), Runs(None, unpacked=unpacked)
    after.take(before[0].taken_over({"chat": "other"}, made[0].trace.seen, None))
    after.take(before[1].taken_over(None, SeenChat(shown=((0, 1),)), None))
    assert is_same_run(before.held(0), after.held(0))
    assert not is_same_run(before.held(1), after.held(1))
    assert not is_same_run(before.held(0), before.held(1))
    assert not is_same_run(made[0].trace, before.held(0))
    assert is_same_run(made[0].trace, made[0].trace)
    assert not is_same_run(None, before.held(0))


def test_going_through_all_traces_leaves_as_they_are_those_that_are_looked_at(made: list[Decided]) -> None:
    runs, book = filled(made, unpacked=2), TraceBook({Generation(99): made[0].trace})
    for place in range(len(made)):
        book.put(Generation(place), runs, place)
    unpacked = [run.trace is not None for run in runs._runs]
    assert list(book.values()) == [made[0].trace, *(result.trace for result in made)]
    assert [run.trace is not None for run in runs._runs] == unpacked == [False] * (len(made) - 2) + [True, True]
    assert len(book.values()) == len(made) + 1


def test_a_simulator_forgets_from_a_place_on(replayed: Simulator) -> None:
    simulator = Simulator(replayed.project)
    asyncio.run(simulator.replay())
    simulator.rewind(2)
    assert list(simulator.traces) == list(simulator.generations[:2])
    assert simulator.ran == 2
    asyncio.run(simulator.replay())
    assert list(simulator.states) == list(replayed.states)
