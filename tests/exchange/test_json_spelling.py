"""A JSON text after a change: what did not change is spelled as it was, spaces included."""

from __future__ import annotations

import pytest

from lorestudio.exchange.json_spelling import changed_text


@pytest.mark.parametrize(
    ("text", "wanted", "written"),
    [
        ("[1,  2,   3,    4]", [1, 7, 3, 4], "[1,  7,   3,    4]"),
        ("[1,  2,   3,    4]", [1, 7, 8, 4], "[1,  7,   8,    4]"),
        ("[1,  2,   3,    4]", [7, 8, 9, 6], "[7,  8,   9,    6]"),
        ("[1,  2,   3,    4]", [1, 4], "[1,    4]"),
        ("[1,  2,   3]", [1, 2, 3, 4], "[1,  2,   3,4]"),
        ('[{"a": 1.0,  "b":2}, {"a":3}]', [{"a": 1, "b": 5}, {"a": 3}], '[{"a": 1.0,  "b":5}, {"a":3}]'),
        ("[ [1,2] ,  [3,4] ]", [[1, 2], [3, 5], [6]], "[ [1,2] ,  [3,5],[6] ]"),
    ],
)  # fmt: skip
def test_each_place_of_a_list_keeps_the_space_before_it(text: str, wanted: list[object], written: str) -> None:
    assert changed_text(text, wanted) == written  # type: ignore[arg-type]  # any value will do
