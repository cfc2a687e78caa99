"""The manifest as a stage (rules: deeplore 4.5): the candidates stay; who is not offered is told."""

from __future__ import annotations

from typing import Any

import pytest

from lorestudio.systems.deeplore.stages.ai_selection import manifest_stage
from tests.systems.deeplore.answers import asking
from tests.systems.worlds import World, entry, run_stage, world

SUMMARY_ONLY: dict[str, Any] = {"manifest_summary_mode": "summary_only"}

TABLE = [
    pytest.param(world(entry("A"), entry("B")), "B, A", ["left: B, A"], [1, 0], id="in candidate order"),
    pytest.param(
        world(entry("K", constant=True), entry("A")), "K, A", ["left: K, A"], [1], id="a constant needs no offer"
    ),
    pytest.param(
        world(entry("Boot", bootstrap=True), entry("A"), chat=["U: x"]), "Boot, A", ["left: Boot, A"], [1],
        id="nor does a bootstrap entry of a new chat",
    ),
    pytest.param(
        world(entry("Boot", bootstrap=True), entry("A"), chat=["U: x"] * 9), "Boot, A", ["left: Boot, A"], [0, 1],
        id="in a longer chat it does",
    ),
    pytest.param(
        world(entry("A"), entry("B", summary="s"), entry("C", summary=" "), **SUMMARY_ONLY), "A, B, C",
        ["kept A: not_offered", "kept C: not_offered", "left: A, B, C"], [1], id="without a summary",
    ),
    pytest.param(
        world(entry("K", constant=True), entry("A", summary="s"), **SUMMARY_ONLY), "K, A", ["left: K, A"], [1],
        id="a forced entry without a summary is not said to be left out",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("there", "before", "expected", "offered"), TABLE)
def test_offers(there: World, before: str, expected: list[str], offered: list[int]) -> None:
    ran = run_stage(manifest_stage, there, before)
    assert ran.table == expected
    manifest = ran.state.manifest
    assert manifest is not None
    details = ran.record.details
    assert details["offered"] == [one.id for one in manifest.selectable] == offered
    assert details["candidates"] == list(ran.record.left)
    assert (details["text"], details["header"]) == (manifest.text, manifest.header)
    assert manifest.text.count("<entry ") == len(offered)


@pytest.mark.parametrize(
    ("there", "before"),
    [
        pytest.param(world(), "", id="no candidates"),
        pytest.param(world(entry("K", constant=True)), "K", id="only forced ones"),
        pytest.param(world(entry("A"), **SUMMARY_ONLY), "A", id="only ones without a summary"),
    ],
)
def test_nothing_to_offer(there: World, before: str) -> None:
    record = run_stage(manifest_stage, there, before).record
    assert record.note == "nothing_to_offer"
    assert (record.details["text"], record.details["header"], record.details["offered"]) == ("", "", [])


def test_the_hints_come_from_the_counters_of_this_turn() -> None:
    """They are those after a swipe's roll-back, which is what the snapshot left in the state."""
    there = world(entry("A", tokens=1), decay_enabled=True)
    state = run_stage(manifest_stage, there, "A").state
    state.counters = type(state.counters)(decay={"V:A": 9})
    ran = run_stage(manifest_stage, there, state=state)
    assert "A (1tok) [STALE — consider refreshing]" in str(ran.record.details["text"])


@pytest.mark.parametrize(
    ("fixed", "line"),
    [
        ((), "2 entries are always included (~4 tokens)."),
        (("header_count",), "1 entries are always included (~4 tokens)."),
    ],
)
def test_the_count_of_what_is_always_included(fixed: tuple[str, ...], line: str) -> None:
    there = world(entry("K", constant=True, tokens=4), entry("A", summary="s"), entry("B"), **SUMMARY_ONLY)
    ran = run_stage(manifest_stage, asking(there, fixed=fixed), "K, A, B")
    assert str(ran.record.details["header"]).split("\n")[1] == line
