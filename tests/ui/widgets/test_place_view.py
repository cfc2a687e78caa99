"""Which part of a line is shown, so that what was found in it is in sight and still marked where it stands."""

from __future__ import annotations

import pytest
from lorestudio.ui.widgets.place_view import BEFORE, shown_part

from lorestudio.ui.widgets.tree import PlaceRow

LONG = "word " * 30


@pytest.mark.parametrize(
    ("text", "found", "begins"),
    [
        ("The gate is shut.", "gate", "The gate"),
        ("    indented gate", "gate", "indented gate"),
        ("  gate", " gate", " gate"),  # what was found begins in the indentation
        (f"{LONG}gate and more", "gate", "…word"),
        (f"{'x' * 90}gate", "gate", f"…{'x' * BEFORE}gate"),  # no space to cut at
        (f"{'y' * (BEFORE + 4)} gate", "gate", "y" * (BEFORE + 4)),  # a short line is shown whole
        (f"gate {LONG}", "gate", "gate word"),
    ],
)
def test_the_part_of_a_line_around_what_was_found(text: str, found: str, begins: str) -> None:
    start = text.index(found)
    part, first, last = shown_part(PlaceRow("", text, start, start + len(found)))
    assert part[first:last] == found
    assert part.startswith(begins)
    assert first <= BEFORE + 5
