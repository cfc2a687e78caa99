"""Runs that take over what another one has matched come to what they would come to by themselves."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lorestudio.domain.records import replace
from lorestudio.domain.state import Counters, EngineState
from lorestudio.settings.behaviour import fixed
from lorestudio.systems.base import Decided
from lorestudio.systems.deeplore import run
from lorestudio.systems.deeplore.matching.index import DeepLoreIndex
from lorestudio.systems.deeplore.run import Lots, Matched
from lorestudio.trace.model import Phase, StageRecord
from tests.examples import examples
from tests.systems.test_invariants import WORLDS
from tests.systems.worlds import World, changed, entry, message, run_world, world

CHANGES = {
    "max_tokens_budget": [100, 120],
    "max_entries": [1, 2],
    "scan_depth": [0, 1, 3],
    "new_chat_threshold": [1, 3],
    "match_whole_words": [True, False],
    "case_sensitive": [True, False],
    "recursive_scan": [True, False],
    "max_recursion_steps": [1, 2],
    "character_context_scan": [True, False],
    "keyword_occurrence_weighting": [True, False],
    "fuzzy_search_enabled": [True, False],
    "rules": ["2.0.2", "2.6"],
    "reinjection_cooldown": [0, 2],
}
OTHERS = st.fixed_dictionaries({}, optional={name: st.sampled_from(values) for name, values in CHANGES.items()})


def quiet(there: World, *, recorded: bool = False, **changes: Any) -> World:
    """The world with a run that is not recorded, or is, and other settings or inputs."""
    known = there.context.settings.model_fields_set | CHANGES.keys()
    chosen = {name: changes.pop(name) for name in list(changes) if name in known}
    values = there.context.settings.model_copy(update=chosen)
    return World(changed(there.context, recorded=recorded, random=None, timer=lambda: 0.0, settings=values, **changes))


def fresh(there: World) -> World:
    return World(changed(there.context, index=DeepLoreIndex(there.context.index.vault)))


@settings(max_examples=examples(300), deadline=None)
@given(
    there=WORLDS,
    others=OTHERS,
    cooldown=st.sampled_from([None, {"V:Aa": 2}]),
    character=st.sampled_from(["", "aa"]),
    seed=st.integers(0, 1),
    switches=st.sampled_from([(), ("window_filter",), ("guide_leak",)]),
    recorded=st.booleans(),
    lots=st.sampled_from([None, Lots(frozenset()), Lots(frozenset(), all_in=True)]),
)
def test_a_run_comes_to_the_same_whatever_was_matched_before(
    there: World,
    others: dict[str, Any],
    cooldown: Any,
    character: str,
    seed: int,
    switches: Any,
    recorded: bool,
    lots: Lots | None,
) -> None:
    first = quiet(there, recorded=recorded)
    second = quiet(first, recorded=recorded, **others, character=character, behaviour=fixed(switches), lots=lots)
    state = replace(second.context.state, random_state=seed)
    if cooldown is not None:
        state = replace(state, counters=replace(state.counters, cooldown=cooldown))
    second = World(changed(second.context, state=state))
    alone: Decided = run_world(fresh(second))
    run_world(first)
    assert run_world(second) == alone
    assert run_world(second) == alone


def test_lots_that_are_known_to_have_fallen_otherwise_are_matched_anew() -> None:
    there = lamps()
    titles = []
    for lots in (Lots(frozenset()), Lots(frozenset(), all_in=True)):
        decided: Decided = run_world(World(changed(there.context, lots=lots)))
        titles.append([each.title for each in decided.trace.injections])
    assert titles == [["Lamp"], ["Lamp", "Oil"]]


def lamps(**changes: Any) -> World:
    """Two notes about light, of which one comes in by chance."""
    notes = (entry("Lamp", "lamp", content="Oil."), entry("Oil", "oil", content="Wick.", probability=0.5))
    return quiet(world(*notes, chat=["A: lamp", "U: a lamp, and oil"], **changes))


RESTING = EngineState(counters=Counters(cooldown={"V:Lamp": 2}))


@pytest.mark.parametrize(
    "change",
    [
        {"scan_depth": 1},
        {"recursive_scan": True},
        {"match_whole_words": True},
        {"rules": "2.6"},
        {"character": "Lamp"},
        {"behaviour": fixed(["window_filter"])},
        {"state": RESTING},
        {"state": EngineState(random_state=5)},
        {"chat": tuple(map(message, ["A: lamp", "U: a wick"]))},
        {"chat": tuple(map(message, ["A: dark", "A: lamp", "U: a lamp, and oil"]))},  # the window holds the same
    ],
    ids=str,
)
def test_what_matching_reads_is_matched_anew(change: dict[str, Any]) -> None:
    first = lamps(scan_depth=2)
    run_world(first)
    second = quiet(first, **change)
    assert run_world(second) == run_world(fresh(second))
    assert len(first.context.index.matched[False]) == 2


def test_what_matching_does_not_read_is_taken_over() -> None:
    first = lamps()
    run_world(first)
    changes: list[dict[str, Any]] = [{"max_tokens_budget": 100}, {"max_entries": 1}, {"reinjection_cooldown": 2}]
    for change in changes:
        run_world(quiet(first, **change))
    assert len(first.context.index.matched[False]) == 1


def test_a_recorded_run_takes_over_from_recorded_ones_alone_and_says_why() -> None:
    there = lamps()
    run_world(there)
    loud = World(changed(there.context, recorded=True))
    record = run_world(loud).trace.stage("keywords")
    assert record is not None
    assert record.verdicts[0].details["key"] == "lamp"
    tight = loud.context.settings.model_copy(update={"max_entries": 1})
    again = run_world(World(changed(loud.context, settings=tight))).trace
    assert again.stage("keywords") is record
    assert again.limits[1].maximum == 1
    assert [len(known) for known in there.context.index.matched] == [1, 1]


def test_a_hit_that_stands_elsewhere_in_the_file_is_told_there() -> None:
    loud = World(changed(lamps().context, recorded=True))
    run_world(loud)
    moved = World(changed(loud.context, positions=(3, 4)))
    assert run_world(moved).trace == run_world(fresh(moved)).trace


@dataclass
class Seen:
    told: list[str] = field(default_factory=list)

    def began(self, stage: str, _phase: Phase) -> None:
        self.told.append(stage)

    def finished(self, record: StageRecord) -> None:
        assert self.told[-1] == record.name


def test_whoever_watches_sees_the_stages_that_were_taken_over() -> None:
    loud, watchers = World(changed(lamps().context, recorded=True)), [Seen(), Seen()]
    for watcher in watchers:
        run_world(World(changed(loud.context, watcher=watcher)))
    assert watchers[0].told == watchers[1].told
    assert "keywords" in watchers[0].told


@pytest.mark.parametrize("recorded", [False, True])
def test_of_more_generations_than_are_kept_some_are_known_when_all_are_run_again(
    recorded: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = quiet(lamps(), recorded=recorded)
    monkeypatch.setattr(run, "KEPT", 40)
    anew: list[Matched] = []
    of = Matched.of
    monkeypatch.setattr(Matched, "of", lambda *args: anew.append(of(*args)) or anew[-1])
    for _ in range(2):
        for seed in range(50):
            run_world(World(changed(there.context, state=replace(there.context.state, random_state=seed))))
    assert len(there.context.index.matched[recorded]) == 40
    assert 60 <= len(anew) < 100  # of those left out some took the place of others


def test_of_large_generations_fewer_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    there = quiet(lamps(), recorded=True)
    known = there.context.index.matched[True]
    run_world(there)
    (first,) = known.values()
    assert first.size == sum(len(record.verdicts) for record in first.records) > 0
    most = 2 * first.size
    monkeypatch.setattr("lorestudio.systems.deeplore.run.VERDICTS", most)
    for depth in (1, 2, 3):
        run_world(quiet(there, recorded=True, scan_depth=depth))
    assert 0 < len(known) < 4
    assert known.size <= most
    assert known.size == sum(each.size for each in known.values())
    known.take("one", first, 4, 4 * most)
    known.take("one", first, 4, 4 * most)  # as two threads do that have matched the same at the same time
    assert known.size == sum(each.size for each in known.values())
