"""Constants (rules: deeplore 3.2): every constant, in index order, past all other conditions."""

from __future__ import annotations

import pytest

from lorestudio.systems.deeplore.stages.candidates import constants_stage
from tests.systems.worlds import World, entry, run_stage, world


@pytest.mark.parametrize(
    ("there", "expected"),
    [
        pytest.param(
            world(entry("B", constant=True), entry("Plain", "a"), entry("A", constant=True)),
            ["added B: constant", "added A: constant", "left: B, A"],
            id="in index order, whatever their titles",
        ),
        pytest.param(
            world(
                entry("K", "k", constant=True, probability=0, warmup=9, cooldown=2),
                cooldown={"V:K": 3},
                chat=["U: nothing"],
            ),
            ["added K: constant", "left: K"],
            id="no probability, warmup or cooldown",
        ),
        pytest.param(
            world(entry("K", constant=True), scan_depth=0), ["added K: constant", "left: K"], id="scan depth 0"
        ),
        pytest.param(
            world(entry("G", constant=True, guide=True), entry("K", constant=True)),
            ["added K: constant", "left: K"],
            id="a guide is not in the snapshot (rules: deeplore 1.14)",
        ),
        pytest.param(world(entry("Plain", "a"), chat=["U: a"]), ["left: -"], id="nobody else"),
    ],
)
def test_constants(there: World, expected: list[str]) -> None:
    ran = run_stage(constants_stage, there)
    assert ran.table == expected
    assert ran.labels == dict.fromkeys(ran.left, "(constant)")
    assert ran.state.draws == []
