"""Recursion (rules: deeplore 3.7, 12.2): what candidates say wakes further entries."""

from __future__ import annotations

from typing import Any

import pytest

from lorestudio.systems.deeplore.stages.candidates import keywords_stage
from lorestudio.systems.deeplore.stages.recursion import recursion_stage
from tests.systems.worlds import WHERE, Draft, Ran, World, entry, prepared, run_stage, world

CHAIN = [
    entry("A", "dragon", content="mentions bob"),
    entry("B", "bob", content="mentions carl"),
    entry("C", "carl", content="mentions dave"),
    entry("D", "dave", content="eve"),
    entry("E", "eve"),
]


def recursion(*drafts: Draft, before: str = "A", **fields: Any) -> Ran:
    return run_stage(recursion_stage, world(*drafts, recursive_scan=True, **fields), before)


def test_three_steps_along_a_chain() -> None:
    """E is not reached (rules: deeplore 3.7)."""
    ran = recursion(*CHAIN)
    assert ran.table == [
        "added B: recursion key=bob step=1 source=A source_id=0",
        "added C: recursion key=carl step=2 source=B source_id=1",
        "added D: recursion key=dave step=3 source=C source_id=2",
        "left: A, B, C, D",
    ]
    assert ran.labels == {
        "A": "key", "B": "bob (recursion step 1)", "C": "carl (recursion step 2)", "D": "dave (recursion step 3)",
    }  # fmt: skip
    assert ran.record.details == {"steps": 3, "limit": 3}


def test_the_refine_key_of_a_hit_says_in_whose_text_it_stands() -> None:
    """The contents of a step are one text, so key and refine key may come from different entries
    (rules: deeplore 3.7).
    """
    ran = recursion(
        entry("A", "key", content="bob"), entry("B", "x", content="gold"), entry("C", "bob", refine_keys=["gold"]),
        before="A, B",
    )  # fmt: skip
    assert ran.table[0] == (
        "added C: recursion key=bob step=1 source=A source_id=0 refine_key=gold refine_source=B refine_source_id=1"
    )


@pytest.mark.parametrize(("limit", "left"), [(1, ["A", "B"]), (2, ["A", "B", "C"]), (9, ["A", "B", "C", "D", "E"])])
def test_step_limit(limit: int, left: list[str]) -> None:
    assert recursion(*CHAIN, max_recursion_steps=limit).left == left


WOKEN = [
    entry("A", "key", content="bob"),
    entry("B", "x", content="bob gold"),
    entry("C", "bob", refine_keys=["gold"]),
    entry("D", "gold", content="bob"),
    entry("E", "y", content="x"),
    entry("F", "gold"),
    entry("G", "z", content="gold"),
    entry("H", "z", content="gold"),
]


@pytest.mark.parametrize("most", [1, 50_000])
def test_what_an_earlier_run_said_is_said_again_only_where_it_is_so(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """One index for runs in which the same key stands in other contents, at another step, with other refine keys."""
    monkeypatch.setattr("lorestudio.systems.deeplore.stages.recursion.MOST_WOKEN", most)
    there, said = world(*WOKEN, recursive_scan=True), set[str]()
    for before in ("A, D", "B, D", "B", "E", "A, B", "A, G", "A, H", "D", "A, D", "B"):
        ran = run_stage(recursion_stage, there, before)
        assert ran.table == recursion(*WOKEN, before=before).table
        said |= {line for line in ran.table if line.startswith("added")}
    assert len(said) > 2
    assert len(there.context.index.woken) == min(most, len(said))


CASES: list[Any] = [
    pytest.param(
        world(entry("K", content="bob", constant=True), entry("B", "bob"), recursive_scan=True),
        "K",
        ["added B: recursion key=bob step=1 source=K source_id=0", "left: K, B"],
        id="everybody matched speaks, constants too",
    ),
    pytest.param(
        world(entry("A", content="bob"), entry("B", "bob", content="carl", scan_depth=0), entry("C", "carl"),
              recursive_scan=True),
        "A",
        [
            "added B: recursion key=bob step=1 source=A source_id=0",
            "added C: recursion key=carl step=2 source=B source_id=1",
            "left: A, B, C",
        ],
        id="scan depth 0 does not keep an entry out (rules: deeplore 3.5)",
    ),
    pytest.param(
        world(entry("A", content="carl bob"), entry("B", "bob", content="carl"), entry("C", "carl"),
              recursive_scan=True),
        "A",
        [
            "added B: recursion key=bob step=1 source=A source_id=0",
            "added C: recursion key=carl step=1 source=A source_id=0",
            "left: A, B, C",
        ],
        id="a step searches only what was there before it, in index order",
    ),
    pytest.param(
        world(entry("A", content="bob", exclude_recursion=True), entry("B", "bob"), recursive_scan=True),
        "A",
        ["left: A"],
        id="excludeRecursion hides what an entry says",
    ),
    pytest.param(
        world(entry("A", content="bob"), entry("B", "bob", exclude_recursion=True), recursive_scan=True),
        "A",
        ["added B: recursion key=bob step=1 source=A source_id=0", "left: A, B"],
        id="excludeRecursion does not keep an entry out",
    ),
    pytest.param(
        world(entry("A", content=" \n "), entry("B", "  b"), recursive_scan=True), "A", ["left: A"], id="blank contents"
    ),
    pytest.param(
        world(entry("A", content="rose"), entry("B", "rose", refine_keys=("guild",)), recursive_scan=True),
        "A",
        ["left: A"],
        id="refine keys count, their miss is not reported",
    ),
    pytest.param(
        world(entry("A", content="bob"), entry("B", "bob", cooldown=1, probability=0.5), recursive_scan=True,
              cooldown={"V:B": 2}, draws=[]),
        "A",
        ["refused B: cooling_down left=2", "left: A"],
        id="cooldown comes before the draw",
    ),
    pytest.param(
        world(entry("A", content="bob"), entry("B", "bob"), recursive_scan=True, cooldown={"V:B": 2}),
        "A",
        ["added B: recursion key=bob step=1 source=A source_id=0", "left: A, B"],
        id="a tracker does not count for an entry without a cooldown of its own",
    ),
    pytest.param(
        world(entry("A", content="bob"), entry("B", "bob", probability=0), recursive_scan=True, draws=[]),
        "A",
        ["refused B: probability_zero", "left: A"],
        id="probability 0",
    ),
    pytest.param(
        world(entry("A", content="bob"), entry("B", "bob", probability=0.5, warmup=2), recursive_scan=True,
              draws=[0.5]),
        "A",
        ["refused B: warmup_short needed=2 found=1", "left: A"],
        id="warmup is counted in the contents, after the draw (rules: deeplore 12.2)",
    ),
    pytest.param(
        world(entry("A", content="bob carl"), entry("B", "bob", probability=0.5), entry("C", "carl", content="bob"),
              recursive_scan=True, draws=[0.9, 0.1]),
        "A",
        [
            "refused B: probability_lost probability=0.5 roll=0.9",
            "added C: recursion key=carl step=1 source=A source_id=0",
            "added B: recursion key=bob step=2 source=C source_id=2",
            "left: A, C, B",
        ],
        id="a lost roll is rolled again in the next step",
    ),
    pytest.param(
        world(entry("A", content="the king"), entry("B", "ing"), entry("C", "king queen"), entry("E", content="queen"),
              recursive_scan=True, match_whole_words=True),
        "A, E",
        ["left: A, E"],
        id="whole words hold here too; a line feed is no space",
    ),
    pytest.param(
        world(entry("A", content="bob", constant=True), entry("K", "bob", constant=True), entry("G", "bob", guide=True),
              recursive_scan=True),
        "A",
        ["left: A"],
        id="constants and guides are not found",
    ),
    pytest.param(world(*CHAIN), "A", ["left: A", "note: off setting=recursiveScan"], id="off"),
    pytest.param(
        world(*CHAIN, recursive_scan=True, scan_depth=0), "A", ["left: A", "note: scan_depth_zero"], id="scan depth 0"
    ),
]  # fmt: skip


@pytest.mark.parametrize(("there", "before", "expected"), CASES)
def test_recursion(there: World, before: str, expected: list[str]) -> None:
    assert run_stage(recursion_stage, there, before).table == expected


@pytest.mark.parametrize(
    ("first", "found"),
    [
        ("x" * 49_996, True),  # x…x LF bob ends at 50,000
        ("x" * 49_997, False),
        ("😀" * 24_998, True),  # two code units each
        ("😀" * 24_999, False),
    ],
)
def test_only_the_first_50_000_code_units_are_searched(first: str, found: bool) -> None:
    ran = recursion(entry("A", content=first), entry("B", content="bob"), entry("C", "bob"), before="A, B")
    assert ("C" in ran.left) is found


def test_a_lost_roll_of_the_keyword_pass_may_be_won_here() -> None:
    """Matched, and still reported as lost by the keyword pass (rules: deeplore 12.2)."""
    there = world(
        entry("A", "dragon", content="bob"), entry("B", "bob", probability=0.5),
        chat=["U: dragon and bob"], recursive_scan=True, draws=[0.9, 0.1],
    )  # fmt: skip
    state = prepared(there)
    first = run_stage(keywords_stage, there, state=state, hide=WHERE)
    second = run_stage(recursion_stage, there, state=state)
    assert first.table == [
        "added A: key_hit key=dragon",
        "refused B: probability_lost probability=0.5 roll=0.9",
        "left: A",
    ]
    assert second.table == ["added B: recursion key=bob step=1 source=A source_id=0", "left: A, B"]
    assert state.draws == [0.9, 0.1]
