"""The start of a generation (rules: deeplore 1.14, 6.3): what is never offered, and whether this is a swipe."""

from __future__ import annotations

from typing import Any

import pytest

from lorestudio.domain.records import replace
from lorestudio.domain.state import Counters, EngineState, LoggedGeneration, Snapshot
from lorestudio.systems.deeplore.stages.snapshot import snapshot_stage
from lorestudio.trace.model import StageRecord
from tests.systems.worlds import Play, World, entry, injected, message, rules, run_stage, state_of, world

BEFORE = Counters(3, {"V:A": 2}, {"V:A": 1}, {"V:A": 4}, {"V:A": 3})
"""The counters as they were before the generation that is repeated."""

NOW = Counters(4, {"V:B": 1}, {}, {}, {})


def snapshot(there: World) -> tuple[StageRecord, Any]:
    ran = run_stage(snapshot_stage, there, state=state_of(there))
    return ran.record, ran.state


@pytest.mark.parametrize(
    ("chat", "key"),
    [
        ([], "-1|0"),
        (["U: a"], "0|0"),
        (["U: a", message("A: b", swipe_id=2)], "1|2"),
        ([message("U: a", swipe_id=3), "A: b"], "1|0"),
    ],
)
def test_swipe_key(chat: list[Any], key: str) -> None:
    """Index of the last message of the filtered chat and its swipe, -1 for an empty chat."""
    record, state = snapshot(world(entry("A"), chat=chat))
    assert record.details["swipe_key"] == state.swipe_key == key


@pytest.mark.parametrize(
    ("earlier", "note", "counters"),
    [
        (None, "", NOW),
        (Snapshot("0|0", BEFORE), "", NOW),
        (Snapshot("1|1", BEFORE), "", NOW),
        (Snapshot("1|0", BEFORE), "rolled_back", BEFORE),
    ],
)
def test_rollback(earlier: Snapshot | None, note: str, counters: Counters) -> None:
    """A snapshot of the same place restores all five trackers and empties the log; a new one is taken in any case."""
    log = (LoggedGeneration(1, ()),)
    there = world(
        entry("A"), chat=["U: a", "A: b"], state=EngineState(counters=NOW, snapshot=earlier, injection_log=log)
    )
    record, state = snapshot(there)
    assert record.note == note
    assert state.counters == counters
    assert state.regenerated is bool(note)
    assert state.injection_log == (() if note else log)
    assert state.before.snapshot == Snapshot("1|0", counters)


def test_what_a_rollback_does_not_touch() -> None:
    """Chat counts, swipe keys, usage and the warning ratio are not rolled back."""
    kept = {"chat_counts": {"V:A": 2}, "swipe_keys": {"1|0": ("V:A",)}, "warning_ratio": 0.4}
    there = world(
        entry("A"), chat=["U: a", "A: b"], state=EngineState(counters=NOW, snapshot=Snapshot("1|0", BEFORE), **kept)
    )
    _, state = snapshot(there)
    assert {name: getattr(state.before, name) for name in kept} == kept


def test_guides_are_refused() -> None:
    there = world(entry("G", guide=True), entry("A"), entry("K", guide=True, constant=True))
    ran = run_stage(snapshot_stage, there, state=state_of(there))
    assert ran.table == ["refused G: guide_hidden", "refused K: guide_hidden", "left: -"]
    assert ran.record.details == {"swipe_key": "-1|0", "entries": 1, "left_out": 0}


@pytest.mark.parametrize(("messages", "threshold", "active"), [(3, 3, True), (4, 3, False), (0, 1, True)])
def test_bootstrapping(messages: int, threshold: int, active: bool) -> None:
    """4: chat length <= newChatThreshold."""
    _, state = snapshot(world(entry("A"), chat=["U: a"] * messages, new_chat_threshold=threshold))
    assert state.bootstrapping is active


def test_the_exemption_policy_covers_the_whole_vault() -> None:
    """Constants, seeds, bootstraps (whatever the chat's length) and pins; not guides (rules: deeplore 5.1)."""
    there = world(
        entry("C", constant=True), entry("S", seed=True), entry("B", bootstrap=True), entry("P"), entry("N"),
        entry("G", guide=True, seed=True), pins=rules("p", "G"), chat=["U: x"] * 9,
    )  # fmt: skip
    _, state = snapshot(there)
    assert state.policy.exempt == {"V:C": "constant", "V:S": "seed", "V:B": "bootstrap", "V:P": "pin"}


def test_a_generation_and_its_swipe() -> None:
    """The second run has generation count 0 again and the same result; afterwards the count is 1
    (rules: deeplore 6.3).
    """
    play = Play(world(entry("A", "dragon", cooldown=2), reinjection_cooldown=1))
    first = play.turn(["U: dragon"])
    after = play.state
    second = play.turn(["U: dragon"])
    assert (first.turn.number, second.turn.number) == (0, 0)
    assert injected(first) == injected(second) == ["A"]
    assert play.state.counters == after.counters
    assert play.state.counters.generation_count == 1
    assert [record.note for record in second.stages if record.name == "snapshot"] == ["rolled_back"]


def test_another_message_in_between_is_no_swipe() -> None:
    play = Play(world(entry("A", "dragon", cooldown=2)))
    assert injected(play.turn(["U: dragon"])) == ["A"]
    third = play.turn(["U: dragon", "A: dragon", "U: dragon"])
    assert (third.turn.number, injected(third)) == (1, [])


def test_the_swipe_of_the_last_message_counts() -> None:
    """A continued reply with another swipe active is another place."""
    play = Play(world(entry("A", "dragon", cooldown=2)))
    reply = message("A: dragon", swipe_id=0)
    play.turn(["U: x", reply])
    assert injected(play.turn(["U: x", replace(reply, swipe_id=1)])) == []
