"""BM25 supplement (rules: deeplore 3.8, 12.2, 12.7)."""

from __future__ import annotations

from typing import Any

import pytest

from lorestudio.systems.deeplore.stages.bm25 import bm25_stage
from tests.systems.worlds import Draft, Ran, entry, run_stage, world

LORE = [
    entry("Dragon Lore", "wyrm", content="The dragon sleeps under mountain gold and fire"),
    entry("Sword Smith", "forge", content="A smith who makes swords"),
    entry("Guide", content="dragon dragon style", guide=True),
    entry("Const", content="dragon", constant=True),
    entry("Cafe", content="nothing here at all"),
]
"""The verified numeric example (rules: deeplore 3.8)."""

CHAT = ["U: the dragon and the dragon", "A: sword"]
IN = {"Dragon Lore": 2.573294523022375, "Sword Smith": 1.2682188161664614, "Guide": 0.85531592455529}


def bm25(*drafts: Draft, before: str = "", **fields: Any) -> Ran:
    ran = run_stage(
        bm25_stage,
        world(*drafts, **{"chat": CHAT, "fuzzy_search_enabled": True, **fields}),
        before,
        hide=("score", "threshold", "terms"),
    )
    assert ran.record.note or ran.record.details["matched"] == ran.record.added
    return ran


def test_scores_and_labels_of_the_verified_example() -> None:
    ran = bm25(*LORE)
    assert ran.table == [
        "added Dragon Lore: fuzzy",
        "added Sword Smith: fuzzy",
        "added Guide: fuzzy",  # the index is searched, so a guide comes in (rules: deeplore 12.7)
        "left: Dragon Lore, Sword Smith, Guide",
    ]
    assert ran.labels == {
        "Dragon Lore": "(fuzzy, score: 2.6)", "Sword Smith": "(fuzzy, score: 1.3)", "Guide": "(fuzzy, score: 0.9)",
    }  # fmt: skip
    assert ran.record.details == {
        "threshold": 0.5,
        "candidates": 4,
        "matched": 3,
        "scores": [[0, IN["Dragon Lore"]], [1, IN["Sword Smith"]], [2, IN["Guide"]], [3, 0.7643471159534438]],
    }
    assert [verdict.details["score"] for verdict in ran.record.verdicts] == list(IN.values())


def test_a_score_is_the_sum_of_its_terms() -> None:
    """Terms stand in query order: [term, frequency, idf, score]; idf(dragon) is verified."""
    terms = bm25(*LORE).record.verdicts[0].details["terms"]
    assert isinstance(terms, list)
    assert [(term, frequency) for term, frequency, _, _ in terms] == [("the", 1), ("dragon", 2), ("and", 1)]
    assert terms[1][2] == 0.5389965007326871
    assert sum(score for *_, score in terms) == pytest.approx(IN["Dragon Lore"], abs=1e-12)


@pytest.mark.parametrize(
    ("minimum", "left", "candidates"),
    [
        (0.1, ["Dragon Lore", "Sword Smith", "Guide"], 4),
        (0.7643471159534438, ["Dragon Lore", "Sword Smith", "Guide"], 4),  # equal is enough
        (0.77, ["Dragon Lore", "Sword Smith", "Guide"], 3),
        (1.0, ["Dragon Lore", "Sword Smith"], 2),
        (2.0, ["Dragon Lore"], 1),
        (0.0, ["Dragon Lore", "Sword Smith", "Guide"], 4),  # 0 counts as 0.5 (rules: deeplore 12.2)
    ],
)
def test_threshold(minimum: float, left: list[str], candidates: int) -> None:
    ran = bm25(*LORE, fuzzy_search_min_score=minimum)
    assert ran.left == left
    assert ran.record.details["candidates"] == candidates
    assert ran.record.details["threshold"] == (minimum or 0.5)


WORDS = entry("W", "word", content="word")
FILL = entry("Fill", content="something else")


@pytest.mark.parametrize(
    ("draft", "fields", "expected"),
    [
        pytest.param({}, {}, ["added W: fuzzy", "left: W"], id="in"),
        pytest.param({"refine_keys": ("absent",)}, {}, ["added W: fuzzy", "left: W"], id="refine keys are not asked"),
        pytest.param(
            {}, {"cooldown": {"V:W": 2}}, ["refused W: cooling_down left=2", "left: -"],
            id="a tracker counts without a cooldown of its own",
        ),
        pytest.param(
            {"warmup": 3, "probability": 0.5}, {"draws": []},
            ["refused W: warmup_short needed=3 found=2", "left: -"],
            id="warmup comes before the draw",
        ),
        pytest.param({"warmup": 2}, {}, ["added W: fuzzy", "left: W"], id="warmup met"),
        pytest.param(
            {"warmup": 2, "scan_depth": 1}, {}, ["refused W: warmup_short needed=2 found=1", "left: -"],
            id="warmup is counted in the entry's own window",
        ),
        pytest.param({"warmup": 0.5, "scan_depth": 0}, {}, ["added W: fuzzy", "left: W"], id="a warmup below 1"),
        pytest.param(
            {"probability": 0}, {"draws": []}, ["refused W: probability_zero", "left: -"], id="probability 0"
        ),
        pytest.param(
            {"probability": 0.5}, {"draws": [0.51]},
            ["refused W: probability_lost probability=0.5 roll=0.51", "left: -"], id="lost",
        ),
        pytest.param({"probability": 0.5}, {"draws": [0.5]}, ["added W: fuzzy", "left: W"], id="won"),
        pytest.param({"constant": True}, {}, ["left: -"], id="constants are passed over"),
    ],
)  # fmt: skip
def test_conditions(draft: Draft, fields: Draft, expected: list[str]) -> None:
    assert bm25({**WORDS, **draft}, FILL, chat=["A: word", "U: word"], **fields).table == expected


def test_draws_are_made_in_order_of_score() -> None:
    drafts = [entry("Low", content="gold one two three four", probability=0.5),
              entry("High", content="gold gold", probability=0.5), FILL]  # fmt: skip
    ran = bm25(*drafts, chat=["U: gold"], draws=[0.9, 0.1], fuzzy_search_min_score=0.1)
    assert ran.table == ["refused High: probability_lost probability=0.5 roll=0.9", "added Low: fuzzy", "left: Low"]


def test_matched_entries_use_up_the_twenty_places() -> None:
    """The top 20 are taken before anything else is decided about them."""
    drafts = [entry(f"T{number:02}", content="gold " * (30 - number)) for number in range(25)]
    drafts.append(entry("Fill", content="x " * 2000))
    ran = bm25(*drafts, before=", ".join(f"T{number:02}" for number in range(19)), chat=["U: gold"],
               fuzzy_search_min_score=0.01)  # fmt: skip
    assert ran.record.details["candidates"] == 20
    assert ran.record.details["matched"] == 1


def test_speakers_names_are_part_of_the_query() -> None:
    assert bm25(WORDS, FILL, chat=["Word: hello"]).left == ["W"]


def test_only_the_global_window_is_searched() -> None:
    assert bm25({**WORDS, "scan_depth": 9}, FILL, chat=["A: word", "U: hi"], scan_depth=1).left == []


@pytest.mark.parametrize(
    ("settings", "note"),
    [
        ({"fuzzy_search_enabled": False}, "note: off setting=fuzzySearchEnabled"),
        ({"scan_depth": 0}, "note: scan_depth_zero"),
    ],
)
def test_switched_off(settings: dict[str, Any], note: str) -> None:
    assert bm25(*LORE, **settings).table == ["left: -", note]


def test_an_empty_vault_and_an_empty_chat_find_nothing() -> None:
    assert bm25().table == ["left: -"]
    assert bm25(*LORE, chat=[]).table == ["left: -"]
