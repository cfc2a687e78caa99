"""The order of matches (rules: deeplore 3.9, 0.6): priority, then occurrences where they count, then title."""

from __future__ import annotations

import math

import pytest

from lorestudio.systems.deeplore.stages.order import match_order_stage
from tests.systems.worlds import Draft, entry, run_stage, world


def order(*drafts: Draft, weighted: bool = False, chat: list[str] | None = None, depth: int = 4) -> list[str]:
    there = world(*drafts, chat=chat or [], keyword_occurrence_weighting=weighted, scan_depth=depth)
    ran = run_stage(match_order_stage, there, ", ".join(str(draft["title"]) for draft in drafts))
    assert ran.record.verdicts == ()
    return ran.left


def test_lower_numbers_come_first() -> None:
    priorities = {"D": 100, "C": -1.5, "B": 0, "A": math.inf}
    assert order(*(entry(title, priority=priority) for title, priority in priorities.items())) == ["C", "B", "D", "A"]


def test_equal_priorities_go_by_title_as_a_browser_sorts() -> None:
    """The verified full ordering of equal-priority titles (rules: deeplore 0.6)."""
    titles = ["ec", "b", "B", "a", "Á", "_x", "10", "2", "é b", "e c", "e-c"]
    assert order(*map(entry, titles)) == ["_x", "10", "2", "a", "Á", "b", "B", "é b", "e c", "e-c", "ec"]


def test_infinite_priorities_are_equal() -> None:
    """A difference of NaN falls through to the title."""
    assert order(entry("B", priority=math.inf), entry("A", priority=math.inf)) == ["A", "B"]


AAA, ZZZ = entry("Aaa", "alpha"), entry("Zzz", "zed")


@pytest.mark.parametrize(
    ("weighted", "chat", "depth", "expected"),
    [
        (False, ["U: alpha zed zed zed"], 4, ["Aaa", "Zzz"]),
        (True, ["U: alpha zed zed zed"], 4, ["Zzz", "Aaa"]),
        (True, ["U: zed zed zed", "U: alpha"], 1, ["Aaa", "Zzz"]),  # the global window counts
        (True, ["U: alpha zed"], 4, ["Aaa", "Zzz"]),
        (True, ["U: zed zed"], 0, ["Aaa", "Zzz"]),  # all counts are 0
    ],
)
def test_occurrences(weighted: bool, chat: list[str], depth: int, expected: list[str]) -> None:
    assert order(AAA, ZZZ, weighted=weighted, chat=chat, depth=depth) == expected


def test_occurrences_do_not_go_before_priority() -> None:
    assert order({**AAA, "priority": 1}, ZZZ, weighted=True, chat=["U: zed zed"]) == ["Aaa", "Zzz"]


def test_an_entrys_own_scan_depth_does_not_count_here() -> None:
    deep = {**ZZZ, "scan_depth": 9}
    assert order(AAA, deep, weighted=True, chat=["U: zed zed", "U: x"], depth=1) == ["Aaa", "Zzz"]


def test_the_labels_are_put_on_record_in_order_of_discovery() -> None:
    there = world(entry("B"), entry("A"))
    ran = run_stage(match_order_stage, there, "B, A", labels={"B": "b key", "A": "(constant)"})
    assert ran.record.details["labels"] == [["B", "b key"], ["A", "(constant)"]]


def test_the_numbers_sorted_by_are_put_on_record() -> None:
    there = world(entry("B", priority=20), entry("A", priority=30))
    plain = run_stage(match_order_stage, there, "A, B")
    assert plain.record.details["order_by"] == ["priority", "title"]
    assert plain.record.details["order"] == [[0, 20], [1, 30]]
