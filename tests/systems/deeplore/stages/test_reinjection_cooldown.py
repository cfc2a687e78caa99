"""Re-injection cooldown (rules: deeplore 5.3): N generations without what was injected."""

from __future__ import annotations

import pytest

from lorestudio.systems.deeplore.stages.gates import reinjection_cooldown_stage
from lorestudio.trace.model import RunOutcome
from tests.systems.worlds import Play, Ran, counting, entry, injected, rules, run_stage, world

STAGE = reinjection_cooldown_stage


def paused(pause: int, now: int, last: dict[str, int], **fields: object) -> Ran:
    there = world(
        entry("A"), entry("K", constant=True), entry("S", seed=True), entry("B", bootstrap=True), entry("P"),
        state=counting(generation_count=now, injection_history=last),
        pins=rules("P"), reinjection_cooldown=pause, **fields,
    )  # fmt: skip
    return run_stage(STAGE, there, "A, K, S, B, P")


@pytest.mark.parametrize(
    ("pause", "now", "last", "kept"),
    [
        (1, 3, 3, False),  # injected in the generation before this one: 3 was stored as 2 + 1
        (1, 4, 3, True),
        (2, 4, 3, False),
        (2, 5, 3, True),
        (50, 52, 3, False),
        (50, 53, 3, True),
    ],
)
def test_how_long(pause: int, now: int, last: int, kept: bool) -> None:
    ran = paused(pause, now, {"V:A": last})
    assert ("A" in ran.left) is kept
    if not kept:
        assert ran.table[0] == f"removed A: reinjection_pause left={pause - (now - last)} window={pause}"


def test_exempt_entries_do_not_pause() -> None:
    """Constants, seeds, bootstraps and pins (rules: deeplore 5.1)."""
    assert paused(2, 3, dict.fromkeys(("V:A", "V:K", "V:S", "V:B", "V:P"), 3)).table == [
        "removed A: reinjection_pause left=2 window=2",
        "kept K: exempt by=constant would=reinjection_pause",
        "kept S: exempt by=seed would=reinjection_pause",
        "kept B: exempt by=bootstrap would=reinjection_pause",
        "kept P: exempt by=pin would=reinjection_pause",
        "left: K, S, B, P",
    ]


def test_history_goes_by_vault_and_exact_title() -> None:
    assert "A" in paused(2, 3, {"W:A": 3, "V:a": 3}).left


def test_off() -> None:
    assert paused(0, 3, {"V:A": 3}).table == ["left: A, K, S, B, P", "note: off setting=reinjectionCooldown"]


def test_with_nothing_left_the_run_ends() -> None:
    there = world(entry("A"), state=counting(generation_count=1, injection_history={"V:A": 1}), reinjection_cooldown=1)
    ran = run_stage(STAGE, there, "A")
    assert ran.left == []
    assert ran.state.outcome is RunOutcome.EMPTY_AFTER_REINJECTION


@pytest.mark.parametrize(
    ("pause", "expected"),
    [(0, [["A"], ["A"], ["A"], ["A"], ["A"]]), (1, [["A"], [], ["A"], [], ["A"]]), (3, [["A"], [], [], [], ["A"]])],
)
def test_exactly_the_next_n_generations(pause: int, expected: list[list[str]]) -> None:
    """With a key in every message, an entry is skipped N times and comes back (rules: deeplore 5.3)."""
    play = Play(world(entry("A", "dragon"), reinjection_cooldown=pause))
    chat: list[str] = []
    got = []
    for _ in range(5):
        chat += ["U: dragon", "A: dragon"]
        got.append(injected(play.turn(chat)))
    assert got == expected
