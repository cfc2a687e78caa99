"""Texts that are cut, and names that were mistyped."""

from __future__ import annotations

import pytest

from lorestudio.domain.texts import called_alike, figures, joined_spans, meant, reading_order, shorten


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("the old bell", "the old bell"),
        ("the old bells", "the old bel…"),
        ("an  older\nbell is", "an older…"),
        ("", ""),
    ],
)
def test_a_text_is_cut_to_its_length_on_one_line(text: str, cut: str) -> None:
    assert shorten(text, 9 if "older" in text else 12) == cut


def test_a_mistyped_name_asks_for_the_nearest_as_it_is_spelled() -> None:
    known = ("scanDepth", "Scan widths", "budget")
    assert meant("SCANDEPT", known) == " Did you mean “scanDepth”?"
    assert meant("scan_depths", known, 3) == " Did you mean “scanDepth”, “Scan widths”?"
    assert meant("quay", known) == ""


def test_a_title_that_is_not_there_asks_for_those_that_have_it_in_them() -> None:
    known = ("Old Bell", "Bell Wager", "Tide", "Tide")
    assert called_alike("bell", known) == " Did you mean “Old Bell” or “Bell Wager”?"
    assert called_alike("Tidy", known) == " Did you mean “Tide”?"
    assert (called_alike("", known), called_alike("quay", known)) == ("", "")


@pytest.mark.parametrize(
    "names",
    [
        ["Book 1", "book 2", "Book 10", "Book 10a", "Bookend"],
        ["2 Quay", "10 Quay", "Quay", "Quay 2 of 3", "Quay 2 of 12"],
        ["", "9" * 400, "9" * 401, "a"],
    ],
)
def test_numbers_in_names_are_put_in_order_by_their_value(names: list[str]) -> None:
    others = [*reversed(names)]
    assert sorted(others, key=reading_order) == names


def test_spans_are_joined_by_how_far_they_lie_apart() -> None:
    spans = [(6, 8), (0, 3), (3, 5), (1, 2), (9, 9)]
    assert joined_spans(spans) == [(0, 5), (6, 8), (9, 9)]
    assert joined_spans(spans, 1) == [(0, 9)]
    assert joined_spans(spans, -1) == [(0, 3), (3, 5), (6, 8), (9, 9)]
    assert joined_spans([]) == []


@pytest.mark.parametrize(
    ("value", "words"),
    [(1200, "1,200"), (1200.0, "1,200"), (1200.5, "1,200.5"), (-0.5, "-0.5"), (0.00125, "0.00125"), (1e300, "1e+300")],
)
def test_numbers_that_were_given_are_read_to_the_last_digit(value: float, words: str) -> None:
    assert figures(value) == words
