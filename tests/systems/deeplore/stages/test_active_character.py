"""The active character's entry (rules: deeplore 3.6, 12.2)."""

from __future__ import annotations

from typing import Any

import pytest

from lorestudio.systems.deeplore.stages.candidates import active_character_stage
from tests.systems.worlds import Draft, entry, run_stage, world

CASES: list[Any] = [
    pytest.param(
        "eris",
        [entry("Other", "x"), entry("Goddess", "ERIS", probability=0, warmup=5, refine_keys=("absent",), cooldown=2)],
        ["added Goddess: active_character name=eris", "left: Goddess"],
        id="by key, past probability, warmup, refine keys and cooldown (rules: deeplore 12.2)",
    ),
    pytest.param(
        "Eris",
        [entry("Goddess", "eris"), entry("ERIS")],
        ["added ERIS: active_character name=Eris", "left: ERIS"],
        id="a title goes before a key",
    ),
    pytest.param(
        "eris",
        [entry("Eris", vault="A"), entry("eris", vault="B")],
        ["added eris: active_character name=eris", "left: eris"],
        id="of equal titles the last",
    ),
    pytest.param(
        "eris",
        [entry("A", "x", "eris"), entry("B", "eris")],
        ["added A: active_character name=eris", "left: A"],
        id="of equal keys the first entry",
    ),
    pytest.param("eris", [entry("Erisa", "erisian")], ["left: -"], id="a part of the title or key is not enough"),
    pytest.param("", [entry("A", "")], ["left: -"], id="no active character"),
    pytest.param("eris", [entry("Eris", guide=True)], ["left: -"], id="a guide is not in the snapshot"),
    pytest.param("eris ", [entry("Eris")], ["left: -"], id="nothing is trimmed"),
]


@pytest.mark.parametrize(("name", "drafts", "expected"), CASES)
def test_active_character(name: str, drafts: list[Draft], expected: list[str]) -> None:
    there = world(*drafts, character=name, character_context_scan=True, cooldown={"V:Goddess": 3}, draws=[])
    ran = run_stage(active_character_stage, there)
    assert ran.table == expected
    assert ran.labels == dict.fromkeys(ran.left, "(active character)")


def test_an_entry_that_is_in_already_keeps_its_label_and_no_key_is_tried() -> None:
    there = world(entry("Eris"), entry("Goddess", "eris"), character="Eris", character_context_scan=True)
    ran = run_stage(active_character_stage, there, "Eris", labels={"Eris": "apple"})
    assert ran.table == ["left: Eris"]
    assert ran.labels == {"Eris": "apple"}


@pytest.mark.parametrize(
    ("settings", "note"),
    [
        ({"character_context_scan": False}, "note: off setting=characterContextScan"),
        ({"character_context_scan": True, "scan_depth": 0}, "note: scan_depth_zero"),
    ],
)
def test_switched_off(settings: dict[str, Any], note: str) -> None:
    ran = run_stage(active_character_stage, world(entry("Eris"), character="Eris", **settings))
    assert ran.table == ["left: -", note]
