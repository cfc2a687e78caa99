"""Summaries of turns: who has a row, what is counted, what changed since the turn before."""

from __future__ import annotations

from lorestudio.domain.records import replace
from lorestudio.trace.journey import FateState, Journeys
from lorestudio.trace.model import Phase
from lorestudio.trace.timeline import Ending, summarise, turn_changes
from tests.trace.examples import (
    CROWN,
    DAWNKEEP,
    EMBER,
    GUIDE,
    MOUSE,
    OATH,
    RIVER,
    SKARN,
    TAVERN,
    injection,
    story,
    trace,
)


def key(title: str) -> tuple[str, str]:
    return "World", f"places/{title}.md"


def test_every_ending_is_the_one_of_the_trace() -> None:
    told = story()
    summary = summarise(told)
    for entry, ending in summary.endings.items():
        fate = Journeys(told).fates[entry]
        assert (ending.state, ending.phase, ending.reason) == (fate.state, fate.phase, fate.reason)


def test_candidates_and_refused_entries_are_kept_but_nothing_that_loading_left_out() -> None:
    endings = summarise(story()).endings
    assert set(endings) == {SKARN, DAWNKEEP, CROWN, RIVER, OATH, TAVERN, EMBER}
    assert {entry for entry, ending in endings.items() if ending.candidate} == {
        SKARN,
        DAWNKEEP,
        CROWN,
        RIVER,
        OATH,
        TAVERN,
    }
    assert GUIDE not in endings
    assert MOUSE not in endings
    assert endings[EMBER] == Ending(FateState.REFUSED, Phase.MATCH, "probability_lost")
    assert endings[CROWN].state is FateState.TRUNCATED
    assert endings[CROWN].injected


def test_tokens_with_outlets_and_those_that_count() -> None:
    summary = summarise(story())
    assert summary.tokens == 300 + 500 + 690 + 40
    assert summary.used == 300 + 500 + 690
    assert summary.budget == 1500
    assert list(summary.injected) == [key(title) for title in ("Skarn", "Dawnkeep", "Crown", "River")]


def test_a_run_without_a_budget_says_so() -> None:
    assert summarise(trace()).budget is None
    assert summarise(trace()).endings == {}


def test_the_same_ending_is_the_same_object_in_all_turns() -> None:
    one, other = summarise(story()), summarise(replace(story(), turn=replace(story().turn, message=14)))
    assert one.endings[SKARN] is other.endings[SKARN]


def test_changes_since_the_turn_before() -> None:
    before = summarise(
        replace(story(), injections=(injection(SKARN, "Skarn", 300), injection(DAWNKEEP, "Dawnkeep", 500)))
    )
    after = summarise(
        replace(story(), injections=(injection(DAWNKEEP, "Dawnkeep", 120, truncated=True), injection(OATH, "Oath", 50)))
    )
    changes = turn_changes(before, after)
    assert changes.entered == (key("Oath"),)
    assert changes.left == (key("Skarn"),)
    assert changes.resized == (key("Dawnkeep"),)
    assert changes.moved == ()
    assert changes.unchanged == 0


def test_all_is_new_in_the_first_turn() -> None:
    changes = turn_changes(None, summarise(story()))
    assert len(changes.entered) == 4
    assert not changes.left


def test_another_order_is_a_move() -> None:
    one = summarise(replace(story(), injections=(injection(SKARN, "Skarn", 300), injection(OATH, "Oath", 50))))
    other = summarise(replace(story(), injections=(injection(OATH, "Oath", 50), injection(SKARN, "Skarn", 300))))
    changes = turn_changes(one, other)
    assert len(changes.moved) == 1
    assert not (changes.entered)
    assert not (changes.left)
    assert not (changes.resized)
