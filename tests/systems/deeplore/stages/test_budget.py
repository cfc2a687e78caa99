"""The budget (rules: deeplore 5.7): entry cap, token budget, truncation, outlets."""

from __future__ import annotations

from typing import Any

import pytest

from lorestudio.systems.deeplore.stages.budget import budget_stage
from tests.systems.worlds import Draft, Ran, entry, run_stage, world

SENTENCES = "Word word word. "  # 16 code units, 4 tokens


def budget(*drafts: Draft, **settings: Any) -> Ran:
    ran = run_stage(budget_stage, world(*drafts, **settings), ", ".join(draft["title"] for draft in drafts))
    assert [item.entry.id for item in ran.state.accepted] == list(ran.record.left)
    assert [item.title for item in ran.state.reached_budget] == [draft["title"] for draft in drafts]
    return ran


def sized(title: str, tokens: int, **fields: Any) -> Draft:
    """A note of that many tokens of four code units, in sentences of sixteen."""
    return entry(title, content=(SENTENCES * (tokens // 4 + 1))[: 4 * tokens], tokens=tokens, **fields)


CASES = [
    pytest.param(
        [sized("A", 100), sized("B", 100)],
        {"max_tokens_budget": 200},
        ["kept A: fits tokens=100 total=100", "kept B: fits tokens=100 total=200", "left: A, B"],
        id="exactly full",
    ),
    pytest.param(
        [sized("A", 160), sized("B", 100), sized("C", 1)],
        {"max_tokens_budget": 200},
        [
            "kept A: fits tokens=160 total=160",
            "removed B: over_budget tokens=100 free=40 needs=60",
            "removed C: behind_cut stopped_by=B tokens=1 needs=61",
            "left: A",
        ],
        id="40 left: stop, no smaller entry is tried (verified)",
    ),
    pytest.param(
        [sized("A", 300), sized("B", 1)],
        {"max_tokens_budget": 40},
        ["removed A: over_budget tokens=300 free=40 needs=260", "kept B: fits tokens=1 total=1", "left: B"],
        id="nothing in yet and less than 50 left: skip and go on (verified)",
    ),
    pytest.param(
        [sized("A", 20), sized("B", 20), sized("C", 20)],
        {"max_entries": 2},
        [
            "kept A: fits tokens=20 total=20",
            "kept B: fits tokens=20 total=40",
            "removed C: over_entry_cap cap=2 tokens=20",
            "left: A, B",
        ],
        id="entry cap",
    ),
    pytest.param(
        [sized("A", 20), sized("B", 20)],
        {"max_entries": 1, "unlimited_entries": True},
        ["kept A: fits tokens=20 total=20", "kept B: fits tokens=20 total=40", "left: A, B"],
        id="no entry cap",
    ),
    pytest.param(
        [sized("A", 900), sized("B", 900)],
        {"max_tokens_budget": 100, "unlimited_budget": True},
        ["kept A: fits tokens=900 total=900", "kept B: fits tokens=900 total=1800", "left: A, B"],
        id="no token budget",
    ),
    pytest.param(
        [sized("A", 20, outlet="rules"), sized("B", 20), sized("C", 20), sized("D", 900, outlet="rules")],
        {"max_entries": 1, "max_tokens_budget": 100},
        [
            "kept B: fits tokens=20 total=20",
            "removed C: over_entry_cap cap=1 tokens=20",
            "kept A: outlet outlet=rules tokens=20",
            "kept D: outlet outlet=rules tokens=900",
            "left: B, A, D",
        ],
        id="outlets are outside both caps and come last (rules: deeplore 12.7)",
    ),
    pytest.param(
        [sized("Zero", 0), sized("A", 100), sized("None", 0)],
        {"max_tokens_budget": 100},
        [
            "kept Zero: fits tokens=0 total=0",
            "kept A: fits tokens=100 total=100",
            "kept None: fits tokens=0 total=100",
            "left: Zero, A, None",
        ],
        id="no tokens always fit",
    ),
    pytest.param([], {}, ["left: -"], id="nothing"),
]


@pytest.mark.parametrize(("drafts", "settings", "expected"), CASES)
def test_intake(drafts: list[Draft], settings: dict[str, Any], expected: list[str]) -> None:
    assert budget(*drafts, **settings).table == expected


def test_truncation_stops_the_intake() -> None:
    """Verified: budget 200, A of 100 tokens, B of 298 tokens in 1189 code units -> B cut to 98, the third never tried.

    B's rate is 1189 / 298 code units a token; of the first floor(100 * rate) = 398 the last sentence ends at 391,
    which is ceil(391 / rate) = 98 tokens.
    """
    sentence = "A sentence of just eighteen."  # 28 code units
    text = sentence * 13 + "x" * 26 + "."  # the last end of a sentence within 398 code units is at 391
    text += "x" * (1189 - len(text))
    third = sized("C", 1)
    ran = budget(sized("A", 100), entry("B", content=text, tokens=298), third, max_tokens_budget=200)
    assert ran.table == [
        "kept A: fits tokens=100 total=100",
        "changed B: truncated tokens=98 original_tokens=298 needs=198 total=198",
        "removed C: behind_cut stopped_by=B tokens=1 needs=199",
        "left: A, B",
    ]
    cut = ran.state.accepted[1]
    assert (cut.truncated, cut.original_tokens, cut.entry.tokens) == (True, 298, 98)
    assert cut.entry.content == text[:391]
    assert cut.entry.content_hash == "hash-1_trunc"
    assert ran.there["B"].content == text


def test_text_without_sentences_overshoots_the_budget() -> None:
    """Verified: 999 code units in a budget of 100 -> 402 with the dots, 101 tokens."""
    ran = budget(entry("A", content="x" * 999, tokens=250), max_tokens_budget=100)
    rate = 999 / 250
    assert int(100 * rate) == 399
    assert ran.state.accepted[0].entry.content == "x" * 399 + "..."
    assert ran.table[0] == "changed A: truncated tokens=101 original_tokens=250 needs=150 total=101"


@pytest.mark.parametrize(
    ("first", "expected"),
    [
        (150, "changed B: truncated tokens=48 original_tokens=100 needs=50 total=198"),  # 200 units: 12 sentences
        (151, "removed B: over_budget tokens=100 free=49 needs=51"),
    ],
)
def test_fifty_tokens_are_worth_a_truncation(first: int, expected: str) -> None:
    assert budget(sized("A", first), sized("B", 100), max_tokens_budget=200).table[1] == expected


def test_without_tokens_or_content_four_units_are_a_token() -> None:
    """An entry that does not fit without content: the cut is empty, the estimate 0."""
    ran = budget(entry("A", content="", tokens=500), max_tokens_budget=100)
    assert ran.table[0] == "changed A: truncated tokens=0 original_tokens=500 needs=400 total=0"


def test_astral_characters_count_two() -> None:
    """300 emoji are 600 code units; 60 tokens of 2 units are 120 units, that is 60 emoji, each an end
    (rules: deeplore 0.1).
    """
    ran = budget(entry("A", content="😀" * 300, tokens=300), max_tokens_budget=60)
    assert ran.state.accepted[0].entry.content == "😀" * 60


def test_figures_of_the_stage() -> None:
    ran = budget(sized("A", 20), sized("O", 30, outlet="o"), max_entries=5, max_tokens_budget=100)
    assert ran.record.details == {"entries": 1, "tokens": 20, "entry_cap": 5, "token_budget": 100}
    free = budget(sized("A", 20), unlimited_entries=True, unlimited_budget=True)
    assert free.record.details == {"entries": 1, "tokens": 20, "entry_cap": None, "token_budget": None}


def test_what_a_cut_entry_needs() -> None:
    """`needs` is what the budget lacks for everything up to and including the entry."""
    ran = budget(sized("A", 80), sized("B", 90), sized("C", 10), max_tokens_budget=100)
    assert [verdict.details.get("needs") for verdict in ran.record.verdicts] == [None, 70, 80]
