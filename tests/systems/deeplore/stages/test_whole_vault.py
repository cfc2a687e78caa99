"""AI-only mode begins with every entry (rules: deeplore 4.1 steps 1 and 4)."""

from __future__ import annotations

from typing import Any

import pytest

from lorestudio.systems.deeplore.stages.candidates import whole_vault_stage
from tests.systems.worlds import entry, run_stage, world

DRAFTS = [
    entry("B"), entry("K", constant=True), entry("Boot", bootstrap=True), entry("Both", constant=True, bootstrap=True),
    entry("S", seed=True), entry("G", guide=True), entry("P", "key", probability=0, cooldown=2, warmup=3),
]  # fmt: skip


@pytest.mark.parametrize(
    ("chat", "expected", "labels"),
    [
        pytest.param(
            ["U: x"] * 3,
            ["added B: offered", "added K: constant", "added Boot: bootstrap threshold=3 chat_length=3",
             "added Both: constant", "added S: offered", "added P: offered", "left: B, K, Boot, Both, S, P"],
            {"Boot": "(bootstrap)", "K": "(constant)", "Both": "(constant)"},
            id="a new chat",
        ),
        pytest.param(
            ["U: x"] * 4,
            ["added B: offered", "added K: constant", "added Boot: offered", "added Both: constant",
             "added S: offered", "added P: offered", "left: B, K, Boot, Both, S, P"],
            {"K": "(constant)", "Both": "(constant)"},
            id="a longer chat",
        ),
    ],
)  # fmt: skip
def test_everybody_in_index_order(chat: list[Any], expected: list[str], labels: dict[str, str]) -> None:
    """Guides are not among them; probability, warmup and cooldown do not count."""
    ran = run_stage(whole_vault_stage, world(*DRAFTS, chat=chat, cooldown={"V:P": 2}, draws=[]))
    assert ran.table == expected
    assert ran.labels == labels


def test_labels_of_bootstraps_are_set_before_those_of_constants() -> None:
    """A constant that shares its title with a bootstrap entry finds a label there (rules: deeplore 4.1 step 4)."""
    there = world(entry("T", constant=True), entry("T", bootstrap=True, vault="W"), chat=["U: x"])
    assert run_stage(whole_vault_stage, there).labels == {"T": "(bootstrap)"}


def test_a_vault_of_guides_offers_nobody() -> None:
    assert run_stage(whole_vault_stage, world(entry("G", guide=True))).table == ["left: -"]
