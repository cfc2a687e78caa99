"""Names that links may use."""

from __future__ import annotations

import pytest

from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.ui.features.notes.editor.completion import MOST, TitleBook
from tests.ui.worlds import ENTRIES, LEFT_OUT

BOOK = TitleBook(VaultIndex(ENTRIES, LEFT_OUT), {"skarn": ("the Grey One",)})


@pytest.mark.parametrize(
    ("target", "filename"),
    [
        ("Dawnkeep", "places/Dawnkeep.md"),
        ("dawnkeep#The gate", "places/Dawnkeep.md"),
        ("places/Dawnkeep", "places/Dawnkeep.md"),
        ("Crown.md", "items/Crown.md"),
        ("The grey one", "Skarn.md"),
        ("README", "README.md"),
        ("Nobody", None),
        ("", None),
    ],
)
def test_where_a_link_leads(target: str, filename: str | None) -> None:
    found = BOOK.find(target)
    assert (found.filename if found else None) == filename


def test_only_titles_of_entries_count_for_deeplore() -> None:
    assert BOOK.is_title("SKARN")
    assert not BOOK.is_title("the Grey One")
    assert not BOOK.is_title("README")


def test_offers_are_ranked_and_few() -> None:
    many = TitleBook(VaultIndex(tuple(Entry(n, f"{n}.md", "v", f"Dragon {n}") for n in range(3000))))
    assert len(many.offers("dragon")) == MOST
    assert many.offers("dragon 2999")[0].text == "Dragon 2999"
    assert [name.link for name in BOOK.offers("grey")] == ["Skarn|the Grey One"]
    assert BOOK.offers("grey", titles_only=True) == []
