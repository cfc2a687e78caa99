"""Names whose mention makes a cached selection void (rules: deeplore 4.7 "Entity names")."""

from __future__ import annotations

import pytest

from lorestudio.systems.deeplore.ai.replies import entity_names, mentioned
from tests.systems.worlds import entries_of, entry


def test_titles_of_any_length_and_keys_of_two_units() -> None:
    drafts = [entry("A", "x", "Yz", "😀"), entry("Guide", "deep", guide=True), entry("", "")]
    assert entity_names(entries_of(drafts)) == {"a", "yz", "😀", "guide", "deep"}


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("castle", "the castle!", True),
        ("castle", "castles", False),
        ("castle", "sandcastle", False),
        ("castle", "castle_", False),
        ("castle", "castle's", True),
        ("red gate", "the red gate", True),
        ("a.c", "abc", False),  # names are no patterns
        ("a.c", "x a.c y", True),
        ("a", "a", True),
        ("é", "é", False),  # a boundary needs an ASCII letter on one side of it
        ("né", "né", False),
        ("né", "nés", True),  # ... as here, in the middle of a word
        ("(x)", "a(x)b", True),
        ("(x)", "a (x) b", False),
        ("", "", False),
    ],
)
def test_ascii_word_boundaries(name: str, text: str, found: bool) -> None:
    assert mentioned([name], text) == (name if found else None)


def test_the_first_name_by_code_is_told() -> None:
    assert mentioned(["b", "a", "c"], "c b") == "b"
