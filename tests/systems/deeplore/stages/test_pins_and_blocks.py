"""Pins and blocks (rules: deeplore 5.1)."""

from __future__ import annotations

from typing import Any

import pytest

from lorestudio.systems.deeplore.stages.pins_and_blocks import pins_and_blocks_stage
from tests.systems.worlds import Ran, World, entry, rules, run_stage, world

STAGE = pins_and_blocks_stage


def test_the_verified_example() -> None:
    """Snapshot C(const, V), S(seed), B(bootstrap), P(V), p(W), N; pins N, P; block c; list [C, N]."""
    there = world(
        entry("C", constant=True), entry("S", seed=True), entry("B", bootstrap=True),
        entry("P"), entry("p", vault="W"), entry("N", "kw"),
        pins=rules("N", "P"), blocks=rules("c"),
    )  # fmt: skip
    ran = run_stage(STAGE, there, "C, N", labels={"C": "(constant)", "N": "kw"})
    assert sorted(ran.table[:-1]) == [
        "added P: pinned",
        "added p: pinned",
        "changed N: pin_upgraded priority=10",
        "removed C: blocked",
    ]
    assert ran.left == ["N", "P", "p"]
    assert [(item.constant, item.priority) for item in ran.state.candidates] == [(True, 10)] * 3
    assert ran.labels == {"C": "(constant)", "N": "kw", "P": "(pinned)", "p": "(pinned)"}


def pinned(there: World, before: str = "Eris") -> Ran:
    return run_stage(STAGE, there, before)


@pytest.mark.parametrize(
    ("item", "vault", "matches"),
    [
        ("eris", "V", True),
        ("Eris ", "V", False),  # nothing is trimmed
        (("Eris", "W"), "V", False),
        (("Eris", "W"), "", True),  # an entry without a vault
        (("Eris", ""), "V", True),  # an item without a vault
        (("ERIS", "V"), "V", True),
        (("Eris", "v"), "V", False),  # vault names compare exactly
        ("", "V", False),
    ],
)
def test_what_an_item_matches(item: Any, vault: str, matches: bool) -> None:
    as_pin = world(entry("Eris", vault=vault), pins=rules(item))
    assert pinned(as_pin, "").left == (["Eris"] if matches else [])
    as_block = world(entry("Eris", vault=vault), blocks=rules(item))
    assert pinned(as_block).left == ([] if matches else ["Eris"])


CASES = [
    pytest.param(
        world(entry("A"), entry("B"), pins=rules("A"), blocks=rules("a")),
        "A, B",
        ["changed A: pin_upgraded priority=10", "removed A: blocked", "left: B"],
        id="blocks beat pins",
    ),
    pytest.param(
        world(entry("A"), pins=rules("A"), blocks=rules("A")),
        "",
        ["added A: pinned", "removed A: blocked", "left: -"],
        id="blocks beat pins that were not matched",
    ),
    pytest.param(
        world(entry("K", constant=True), blocks=rules("K")),
        "K",
        ["removed K: blocked", "left: -"],
        id="blocks beat constants",
    ),
    pytest.param(
        world(entry("G", guide=True), pins=rules("G")), "", ["left: -"], id="pins do not reach guides"
    ),
    pytest.param(
        world(entry("B"), entry("A"), pins=rules("A", "B", "a")),
        "",
        ["added B: pinned", "added A: pinned", "left: B, A"],
        id="pins come in in index order, once",
    ),
    pytest.param(
        world(entry("A"), entry("B"), pins=rules("Nobody"), blocks=rules("Nobody")),
        "A, B",
        ["left: A, B"],
        id="unknown titles",
    ),
    pytest.param(world(entry("A")), "A", ["left: A", "note: no_pins_or_blocks"], id="neither"),
    pytest.param(
        world(entry("A", filename="one.md"), entry("A", filename="two.md"), pins=rules("A")),
        "A",
        ["changed A#0: pin_upgraded priority=10", "added A#1: pinned",
         "removed A#0: replaced_by_pin title=A", "left: A#1"],
        id="two notes of one vault and title share a place: the later one holds it",
    ),
    pytest.param(
        world(entry("A", filename="one.md"), entry("A", filename="two.md"), pins=rules("A")),
        "",
        ["added A#0: pinned", "added A#1: pinned", "removed A#0: replaced_by_pin title=A", "left: A#1"],
        id="the same where neither was matched",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("there", "before", "expected"), CASES)
def test_pins_and_blocks(there: World, before: str, expected: list[str]) -> None:
    assert run_stage(STAGE, there, before).table == expected


def test_the_note_itself_is_not_changed() -> None:
    there = world(entry("A", priority=80), pins=rules("A"))
    (candidate,) = run_stage(STAGE, there, "A").state.candidates
    assert (candidate.id, candidate.priority) == (0, 10)
    assert (there["A"].constant, there["A"].priority) == (False, 80)
