"""Cascade links (rules: deeplore 3.6, 12.2): what a candidate's note names comes in without a key."""

from __future__ import annotations

import pytest

from lorestudio.systems.deeplore.stages.candidates import cascade_links_stage
from tests.systems.worlds import World, entry, run_stage, world


def source(title: str, *links: str) -> dict[str, object]:
    return entry(title, cascade_links=links)


CASES = [
    pytest.param(
        world(source("A", "b", "D"), entry("B", warmup=9, refine_keys=("x",), scan_depth=0), entry("C"), entry("D")),
        "A",
        ["added B: cascade source=A source_id=0", "added D: cascade source=A source_id=0", "left: A, B, D"],
        id="titles without case, in the note's order; no warmup, no refine keys (rules: deeplore 12.2)",
    ),
    pytest.param(
        world(source("A", "B"), source("B", "C"), entry("C")),
        "A",
        ["added B: cascade source=A source_id=0", "left: A, B"],
        id="a linked entry's own links are not followed (rules: deeplore 12.2)",
    ),
    pytest.param(
        world(source("A", "B"), source("B", "C"), entry("C")),
        "A, B",
        ["added C: cascade source=B source_id=1", "left: A, B, C"],
        id="every candidate is a source",
    ),
    pytest.param(
        world(source("A", "B"), entry("B", vault="V"), entry("b", vault="W")),
        "A",
        ["added b: cascade source=A source_id=0", "left: A, b"],
        id="of equal titles the last",
    ),
    pytest.param(
        world(source("A", "B", "Nobody", "G"), entry("B"), entry("G", guide=True)),
        "A, B",
        ["left: A, B"],
        id="matched already, unknown, guide: skipped in silence",
    ),
    pytest.param(
        world(source("A", "B"), entry("B", cooldown=2, probability=0.5), cooldown={"V:B": 1}, draws=[]),
        "A",
        ["refused B: cooling_down left=1", "left: A"],
        id="cooldown comes before the draw",
    ),
    pytest.param(
        world(source("A", "B"), entry("B"), cooldown={"V:B": 1}),
        "A",
        ["added B: cascade source=A source_id=0", "left: A, B"],
        id="a tracker does not count for an entry without a cooldown of its own (rules: deeplore 12.2)",
    ),
    pytest.param(
        world(source("A", "B"), entry("B", probability=0), draws=[]),
        "A",
        ["refused B: probability_zero", "left: A"],
        id="probability 0",
    ),
    pytest.param(
        world(source("A", "C"), source("B", "C"), entry("C", probability=0.5), draws=[0.9, 0.5]),
        "A, B",
        [
            "refused C: probability_lost probability=0.5 roll=0.9",
            "added C: cascade source=B source_id=1",
            "left: A, B, C",
        ],
        id="rolled again from another source; equal passes",
    ),
    pytest.param(
        world(source("A", "B"), entry("B"), scan_depth=0),
        "A",
        ["left: A", "note: scan_depth_zero"],
        id="scan depth 0 (rules: deeplore 3.1)",
    ),
]


@pytest.mark.parametrize(("there", "before", "expected"), CASES)
def test_cascade(there: World, before: str, expected: list[str]) -> None:
    assert run_stage(cascade_links_stage, there, before).table == expected


def test_the_label_names_the_source() -> None:
    """Rules: deeplore 3.11."""
    ran = run_stage(cascade_links_stage, world(source("Old King", "Crown"), entry("Crown")), "Old King")
    assert ran.labels == {"Old King": "key", "Crown": "(cascade from: Old King)"}
