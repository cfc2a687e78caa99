"""The end of the selection (rules: deeplore 3.9, 4.10): priority and title only."""

from __future__ import annotations

from lorestudio.systems.deeplore.stages.order import priority_order_stage
from tests.systems.worlds import entry, run_stage, world


def test_occurrences_do_not_count() -> None:
    """The matcher's order Zzz, Aaa becomes Aaa, Zzz (rules: deeplore 3.9)."""
    there = world(
        entry("Aaa", "alpha"), entry("Zzz", "zed"),
        chat=["U: alpha zed zed zed"], keyword_occurrence_weighting=True,
    )  # fmt: skip
    assert run_stage(priority_order_stage, there, "Zzz, Aaa").table == ["left: Aaa, Zzz"]


def test_priority_then_title() -> None:
    there = world(entry("b", priority=5), entry("A", priority=5), entry("Z", priority=-5), entry("O", priority=0))
    assert run_stage(priority_order_stage, there, "b, A, Z, O").table == ["left: Z, O, A, b"]


def test_equal_titles_keep_their_order() -> None:
    there = world(entry("T", vault="W"), entry("T", vault="V"))
    state = run_stage(priority_order_stage, there).state
    for one in reversed(there.entries):
        state.let_in(one, "key")
    assert run_stage(priority_order_stage, there, state=state).left == ["T#1", "T#0"]
