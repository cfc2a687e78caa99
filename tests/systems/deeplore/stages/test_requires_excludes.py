"""Requires and excludes (rules: deeplore 5.5)."""

from __future__ import annotations

from typing import Any

import pytest

from lorestudio.systems.deeplore.stages.gates import RequiresExcludesStage
from lorestudio.trace.model import RunOutcome
from tests.systems.worlds import Draft, Ran, entry, rules, run_stage, world


def gated(*drafts: Draft, **fields: Any) -> Ran:
    return run_stage(
        RequiresExcludesStage(), world(*drafts, **fields), ", ".join(dict.fromkeys(draft["title"] for draft in drafts))
    )


def needs(title: str, *titles: str, **fields: Any) -> Draft:
    return entry(title, requires=titles, **fields)


def against(title: str, *titles: str, **fields: Any) -> Draft:
    return entry(title, excludes=titles, **fields)


CASES = [
    pytest.param([needs("A", "b"), entry("B")], ["left: A, B"], id="met, without case"),
    pytest.param(
        [needs("A", "B", "C", "D"), entry("C")],
        ["removed A: missing_requirement missing=[B, D]", "left: C"],
        id="all of them are required",
    ),
    pytest.param(
        [needs("A", "B"), needs("B", "Missing"), needs("C", "A")],
        [
            "removed B: missing_requirement missing=[Missing]",
            "removed C: missing_requirement missing=[A]",
            "removed A: missing_requirement missing=[B]",
            "left: -",
        ],
        id="A needs B needs nobody, C needs A: all go",
    ),
    pytest.param(
        [against("Hi", "Lo", priority=10), against("Lo", "Hi", priority=90)],
        ["removed Lo: excluded_by titles=[Hi]", "left: Hi"],
        id="mutual: the less important one goes",
    ),
    pytest.param(
        [against("Aa", "Bb"), against("Bb", "Aa")],
        ["removed Aa: excluded_by titles=[Bb]", "left: Bb"],
        id="mutual and equally important: the alphabetically first goes",
    ),
    pytest.param(
        [against("A", "B", priority=1), entry("B", priority=99)],
        ["removed A: excluded_by titles=[B]", "left: B"],
        id="one-sided: the excluder goes, however important",
    ),
    pytest.param(
        [against("A", "K"), entry("K", constant=True)],
        ["removed A: excluded_by titles=[K]", "left: K"],
        id="excluding a constant",
    ),
    pytest.param([against("A", "A")], ["removed A: excluded_by titles=[A]", "left: -"], id="excluding oneself"),
    pytest.param([needs("A", "A")], ["left: A"], id="requiring oneself"),
    pytest.param(
        [entry("A", requires=("B",), excludes=("C",)), entry("C")],
        ["removed A: missing_requirement missing=[B]", "left: C"],
        id="both at once: the requirement is named",
    ),
    pytest.param(
        [entry("P", priority=60), entry("O", priority=40), entry("N", priority=0), entry("M", priority=-5)],
        ["left: M, O, N, P"],
        id="a priority of 0 counts as 50",
    ),
    pytest.param(
        [entry("b"), entry("B"), entry("a")], ["left: a, b, B"], id="equal priorities by title, lower case first"
    ),
]


@pytest.mark.parametrize(("drafts", "expected"), CASES)
def test_verdicts(drafts: list[Draft], expected: list[str]) -> None:
    lines = gated(*drafts).table
    assert (sorted(lines[:-1]), lines[-1]) == (sorted(expected[:-1]), expected[-1])


def chain(forward: bool) -> list[str]:
    """Fourteen entries, each requiring the next one, the last a missing one; or the other way round."""
    titles = [f"E{number:02}" for number in range(14)]
    if not forward:
        titles.reverse()
    links = [*titles[1:], "missing"]
    return gated(*(needs(title, link) for title, link in zip(titles, links, strict=True))).left


def test_after_ten_passes_the_rest_stays() -> None:
    """Processed in ascending title order, a pass removes one of E13…E04; E00 to E03 survive."""
    assert chain(forward=True) == ["E00", "E01", "E02", "E03"]


def test_a_chain_in_processing_order_goes_in_one_pass() -> None:
    assert chain(forward=False) == []


def test_removing_one_of_two_namesakes_takes_the_title_from_both() -> None:
    """The other one stops satisfying requires (rules: deeplore 5.5)."""
    there = world(
        entry("T", vault="V", requires=("missing",), priority=90), entry("T", vault="W", priority=80),
        entry("R", requires=("t",), priority=70),
    )  # fmt: skip
    state = run_stage(RequiresExcludesStage(), there).state
    state.candidates, state.outcome = list(there.entries), None
    assert run_stage(RequiresExcludesStage(), there, state=state).left == ["T#1"]


@pytest.mark.parametrize(
    ("mark", "by"),
    [({"constant": True}, "constant"), ({"seed": True}, "seed"), ({"bootstrap": True}, "bootstrap"), ({}, "pin")],
)
@pytest.mark.parametrize(
    ("link", "would"), [({"requires": ("Missing",)}, "missing_requirement"), ({"excludes": ("B",)}, "excluded_by")]
)
def test_exempt_entries_stay(mark: Draft, by: str, link: Draft, would: str) -> None:
    pins = rules("A") if by == "pin" else ()
    ran = gated(entry("A", **mark, **link), entry("B"), pins=pins, chat=["U: x"] * 9)
    assert ran.table == [f"kept A: exempt by={by} would={would}", "left: A, B"]


def test_an_exempt_entry_with_nothing_against_it_needs_no_word() -> None:
    assert gated(entry("A", seed=True, requires=("B",)), entry("B")).table == ["left: A, B"]


def test_with_nothing_left_the_run_ends() -> None:
    assert gated(needs("A", "Missing")).state.outcome is RunOutcome.EMPTY_AFTER_REQUIRES
    assert gated(entry("A")).state.outcome is None
