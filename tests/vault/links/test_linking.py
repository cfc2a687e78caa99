from __future__ import annotations

import pytest

from lorestudio.vault.links.mentions import link_edit
from lorestudio.vault.links.references import Excerpt, excerpt
from lorestudio.vault.note.text_edits import apply_edits


@pytest.mark.parametrize(
    ("text", "words", "title", "expected"),
    [
        ("Old Skarn sleeps", "Skarn", "Skarn", "Old [[Skarn]] sleeps"),
        ("Old skarn sleeps", "skarn", "Skarn", "Old [[Skarn|skarn]] sleeps"),
        ("the worm", "the worm", "Skarn", "[[Skarn|the worm]]"),
        ("| a | skarn |", "skarn", "Skarn", "| a | [[Skarn\\|skarn]] |"),
        ("> | skarn |", "skarn", "Skarn", "> | [[Skarn\\|skarn]] |"),
        ("a | skarn", "skarn", "Skarn", "a | [[Skarn|skarn]]"),
    ],
)
def test_link_edit(text: str, words: str, title: str, expected: str) -> None:
    start = text.index(words)
    assert apply_edits(text, [link_edit(text, start, start + len(words), title)]) == expected


@pytest.mark.parametrize("title", ["a|b", "a#b", "[a]", "a^b", "", "a\nb"])
def test_titles_that_no_link_can_name(title: str) -> None:
    with pytest.raises(ValueError, match="No link can lead to"):
        link_edit("text", 0, 4, title)


def test_excerpt() -> None:
    text = "one\r\ntwo three\r\nfour"
    assert excerpt(text, 5, 8) == Excerpt(2, "two three", 0, 3)
    assert excerpt(text, 9, 18) == Excerpt(2, "two three", 4, 9)  # a span over two lines ends with the first
    assert excerpt(text, 16, 20, known=(5, 2)) == Excerpt(3, "four", 0, 4)
