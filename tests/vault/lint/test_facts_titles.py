"""The title that was probably meant, held against comparing every title with every other."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz import fuzz

from lorestudio.vault.lint.facts import NEAR, Titles

WORDS = st.sampled_from(["harbour", "of ", "the ", "north", "dun", "wick", "0", "12", "é"])
TITLES = st.lists(WORDS, min_size=1, max_size=14).map("".join)
MISTAKES = st.lists(st.tuples(st.integers(0, 80), st.integers(0, 2), st.sampled_from("nohx0é")), max_size=8)


def misspelled(title: str, mistakes: list[tuple[int, int, str]]) -> str:
    """The title with letters put in, taken out and exchanged."""
    for place, taken, letter in mistakes:
        at = place % (len(title) + 1)
        title = title[:at] + (letter if taken != 2 else "") + title[at + min(taken, 1) :]
    return title


def plainly(title: str, titles: list[str]) -> str:
    """What `nearest` is by its definition."""
    alike = [
        (-fuzz.ratio(title, other), len(other), place)
        for place, other in enumerate(titles)
        if other[:1] == title[:1] and fuzz.ratio(title, other) >= NEAR
    ]
    return titles[min(alike)[2]] if alike else ""


@given(st.lists(TITLES, min_size=1, max_size=12, unique=True), MISTAKES, st.data())
def test_the_nearest_is_that_of_all_pairs(
    titles: list[str], mistakes: list[tuple[int, int, str]], data: st.DataObject
) -> None:
    asked = misspelled(data.draw(st.sampled_from(titles)), mistakes)
    others = data.draw(st.lists(MISTAKES.map(lambda more: misspelled(asked, more)), max_size=6))
    known = list(dict.fromkeys(title for title in (*others, *titles) if title and title != asked))
    if asked:
        assert Titles(known).nearest(asked) == plainly(asked, known)


def test_a_longer_title_is_more_alike_than_one_that_differs_in_as_much() -> None:
    titles = ["the harbour of the nxrth", "the harbour of the northxx"]
    assert (
        Titles(titles).nearest("the harbour of the north") == titles[1] == plainly("the harbour of the north", titles)
    )


def test_what_differs_in_less_is_nearer_whatever_its_length() -> None:
    titles = ["the harbxur of thx north", "the harbour of the northxxx"]
    assert (
        Titles(titles).nearest("the harbour of the north") == titles[1] == plainly("the harbour of the north", titles)
    )


@pytest.mark.parametrize(("letters", "added"), [(22, 6), (28, -6), (11, 3), (14, -3)])
def test_a_title_that_is_just_alike_enough_is_found_and_one_letter_further_none_is(letters: int, added: int) -> None:
    asked = "the harbour of the northern isle"[:letters]

    def other(more: int) -> str:
        return asked + "x" * more if more > 0 else asked[:more]

    assert fuzz.ratio(asked, other(added)) == NEAR
    assert Titles([other(added)]).nearest(asked) == other(added)
    assert Titles([other(added + (1 if added > 0 else -1))]).nearest(asked) == ""
