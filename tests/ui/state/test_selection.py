"""The one selection: who is told of what, and the same note in a newer index."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lorestudio.domain.chat import Generation
from lorestudio.domain.entry import Entry, LeftOutNote, NoteProblem, VaultIndex
from lorestudio.ui.state.selection import Selection, same_numbers

BROKEN = LeftOutNote("Broken.md", "World", NoteProblem.NO_FRONT_MATTER, "No tag.")


def index(*names: str, left_out: tuple[LeftOutNote, ...] = ()) -> VaultIndex:
    entries = tuple(Entry(place, f"{name}.md", "World", name) for place, name in enumerate(names))
    return VaultIndex(entries=entries, left_out=left_out)


@pytest.fixture
def selection(qapp: object) -> Selection:
    return Selection()


@pytest.fixture
def told(selection: Selection) -> list[str]:
    heard: list[str] = []
    selection.entry_changed.connect(lambda: heard.append("entry"))
    selection.stage_changed.connect(lambda: heard.append("stage"))
    selection.generation_changed.connect(lambda: heard.append("generation"))
    return heard


def test_only_what_changed_is_told(selection: Selection, told: list[str]) -> None:
    def hears(*what: str) -> bool:
        heard, told[:] = tuple(told), []
        return heard == what

    selection.choose_entry(3)
    assert hears("entry", "stage")
    selection.choose_entry(3)
    assert hears()
    selection.choose_entry(3, "budget")
    assert hears("stage")
    selection.choose_left_out(BROKEN)
    assert hears("entry", "stage")
    assert (selection.entry, selection.left_out, selection.stage) == (None, BROKEN, None)
    selection.choose_left_out(BROKEN)
    assert hears()
    selection.choose_entry(None)
    assert hears("entry", "stage")
    selection.choose_message(2, Generation(2))
    selection.choose_message(2, Generation(2))
    assert hears("generation")
    selection.choose_message(2, Generation(2, 1))
    assert hears("generation")
    selection.clear()
    assert hears("generation")


BEFORE = index("Gate", "Wall", "Tower")


@pytest.mark.parametrize(
    ("chosen", "after", "found"),
    [
        (1, index("Wall", "Gate"), 0),
        (1, index("Gate", "Wall", "Tower"), 1),
        (1, index("Gate"), None),
        (2, index("Attic", "Gate", "Wall", "Tower"), 3),
        (3, index("Attic"), 3),  # the first number behind the index is what another system chose from
        (7, index("Attic"), 7),
        (None, index("Attic"), None),
    ],
)
def test_the_same_note_is_found_in_a_newer_index(
    selection: Selection, chosen: int | None, after: VaultIndex, found: int | None
) -> None:
    selection.choose_entry(chosen)
    selection.find_again(BEFORE, after)
    assert selection.entry == found


def test_a_note_that_becomes_an_entry_or_is_none_any_more_is_the_same(selection: Selection) -> None:
    wall = replace(BROKEN, filename="Wall.md")
    without = index("Gate", "Tower", left_out=(BROKEN, wall))
    selection.choose_entry(1)
    selection.find_again(BEFORE, without)
    assert (selection.entry, selection.left_out) == (None, wall)
    selection.find_again(without, BEFORE)
    assert (selection.entry, selection.left_out) == (1, None)


def test_a_note_of_the_same_name_in_another_vault_is_another(selection: Selection) -> None:
    other = VaultIndex(entries=(Entry(0, "Gate.md", "Elsewhere", "Gate"),))
    selection.choose_entry(0)
    selection.find_again(BEFORE, other)
    assert selection.entry is None


def test_numbers_are_the_same_where_every_entry_has_its_own() -> None:
    assert same_numbers(BEFORE, index("Gate", "Wall", "Tower"))
    assert not same_numbers(BEFORE, index("Gate", "Tower", "Wall"))
    assert not same_numbers(BEFORE, index("Gate", "Wall"))
