"""The tree of a vault: folders first, what is broken last, and what the filter leaves."""

from __future__ import annotations

import unicodedata

import pytest
from PySide6.QtCore import QModelIndex

from lorestudio.domain.entry import VaultIndex
from lorestudio.domain.records import replace
from lorestudio.trace.journey import Journeys
from lorestudio.ui.features.vault.table import NoteMarks, VaultTable
from lorestudio.ui.features.vault.tree import ONE_FOLDER, RANGE, Branch, Rows, VaultTree, filter_words
from lorestudio.ui.shell.qt import ACCESSIBLE_TEXT, DISPLAY, ENTRY_ID, LOOK, TOOLTIP
from lorestudio.ui.widgets.cells import Words
from lorestudio.ui.widgets.paint import fate_mark
from tests.ui.conftest import check
from tests.ui.worlds import BELL, CROWN, DAWNKEEP, ENTRIES, LEFT_OUT, RULES, SKARN, make_trace

pytestmark = pytest.mark.usefixtures("qapp")
INDEX = VaultIndex(ENTRIES, LEFT_OUT, vaults=("vault",))


def find(model: VaultTree, text: str) -> None:
    model.show_rows(Rows(model.rows.index, filter_words(text), model.rows.texts))


def picture(model: VaultTree, parent: QModelIndex | None = None, depth: int = 0) -> list[str]:
    above = parent or QModelIndex()
    lines = []
    for row in range(model.rowCount(above)):
        index = model.index(row, 0, above)
        lines.append("  " * depth + f"{model.node(index).icon} {index.data(DISPLAY)}")
        lines += picture(model, index, depth + 1)
    return lines


def test_the_tree_shows_folders_first_and_problems_last() -> None:
    model = VaultTree()
    check(model)
    model.set_index(INDEX)
    assert picture(model) == [
        "folder items",
        "  normal Crown",
        "folder places",
        "  normal Dawnkeep",
        "normal Bell",
        "constant Rules",
        "normal Skarn",
        "broken Broken notes",
        "  broken bad.md",
        "left-out Left out",
        "  left-out README.md",
    ]


def test_notes_and_folders_with_numbers_are_in_the_order_of_their_numbers() -> None:
    places = ("Book 10/1.md", "Book 2/10.md", "Book 2/9.md")
    named = tuple(
        replace(ENTRIES[SKARN], id=place, filename=name, title=name[:-3].rpartition("/")[2])
        for place, name in enumerate(places)
    )
    tree, table = VaultTree(), VaultTable()
    for model in (tree, table):
        model.set_index(VaultIndex(named, vaults=("vault",)))
    assert picture(tree) == ["folder Book 2", "  normal 9", "  normal 10", "folder Book 10", "  normal 1"]
    assert [table.index(row, 0).data(DISPLAY) for row in range(3)] == ["1", "9", "10"]
    table.sort(table.column_of("folder"))
    assert [row.filename for row in table.rows] == [places[2], places[1], places[0]]


def test_notes_of_one_title_are_told_apart_by_their_files() -> None:
    names = ("Bell.md", "Bell.sync-conflict-20261130-101112-ABCDEFG.md", "Skarn.md", "old/Bell.md")
    entries = tuple(replace(ENTRIES[SKARN], id=id_, filename=name, title="Bell") for id_, name in enumerate(names))
    entries = (*entries[:2], replace(entries[2], title="Skarn the Red"), entries[3])
    model = VaultTree()
    model.set_index(VaultIndex(entries, vaults=("vault",)))
    rows = [model.index(row, 0) for row in range(1, 4)]
    assert [[word.text for word in row.data(LOOK).strips[0].left if isinstance(word, Words)] for row in rows] == [
        ["Bell"], ["Bell", names[1]], ["Skarn the Red"],
    ]  # fmt: skip
    assert [row.data(ACCESSIBLE_TEXT).split(", normal")[0] for row in rows] == [
        "Bell", f"Bell, {names[1]}", "Skarn the Red",
    ]  # fmt: skip
    model.set_index(VaultIndex((entries[1], entries[0]), vaults=("vault",)))
    first, second = (model.index(row, 0).data(ACCESSIBLE_TEXT) for row in range(2))
    assert first.startswith(f"Bell, {names[1]}"), "a row that has none above it"
    assert second.startswith("Bell, normal")
    model.set_index(VaultIndex((entries[1], entries[2]), vaults=("vault",)))
    assert model.index(0, 0).data(ACCESSIBLE_TEXT).startswith("Bell, normal"), "its file says nothing more"


def test_two_vaults_get_a_branch_each() -> None:
    entries = (ENTRIES[SKARN], replace(ENTRIES[RULES], vault="other"))
    model = VaultTree()
    model.set_index(VaultIndex(entries, vaults=("vault", "other")))
    assert picture(model) == ["folder other", "  constant Rules", "folder vault", "  normal Skarn"]


@pytest.mark.parametrize(
    ("text", "matches", "shown"),
    [
        ("skarn", 1, [SKARN]),
        ("FORTRESS", 1, [DAWNKEEP]),  # a key
        ("places", 1, [DAWNKEEP]),  # a folder
        ("r  o", 4, [CROWN, DAWNKEEP]),  # every word, and README.md and bad.md by their problems
        ("nothing like it", 0, []),
        ("", 7, [CROWN, DAWNKEEP, BELL, RULES, SKARN]),
    ],
)
def test_the_filter_wants_every_word(text: str, matches: int, shown: list[int]) -> None:
    model = VaultTree()
    model.set_index(INDEX)
    model.show_rows(Rows(INDEX, filter_words("x")))
    find(model, text)
    assert model.entries() == shown
    assert model.matches == matches
    assert model.filtered == bool(text)


def test_the_filter_finds_accents_however_they_are_encoded() -> None:
    model = VaultTree()
    apart = unicodedata.normalize("NFD", "Café")
    model.set_index(VaultIndex((replace(ENTRIES[SKARN], title=apart),), vaults=("vault",)))
    find(model, "café")
    assert model.entries() == [SKARN]


def test_a_row_says_what_it_is_and_what_became_of_it() -> None:
    trace = make_trace()
    ends = Journeys(trace).fates
    model = VaultTree()
    model.set_index(INDEX)
    marks = {entry: fate_mark(end) for entry, end in ends.items()}
    model.marks = NoteMarks(marks.get, lambda note: note is ENTRIES[CROWN])
    crown = model.index_of_note(ENTRIES[CROWN])
    assert crown.data(ACCESSIBLE_TEXT) == "Crown, normal, 1 warning, unsaved changes, this turn: cut"
    rules = model.index_of_note(ENTRIES[RULES])
    assert rules.data(ACCESSIBLE_TEXT) == "Rules, constant, always in, this turn: injected"
    assert "priority is no number" in crown.data(TOOLTIP)
    assert "\nkeys: crown\n" in crown.data(TOOLTIP)
    assert rules.data(TOOLTIP).endswith("\nkeys: none")
    assert (crown.data(ENTRY_ID), rules.data(ENTRY_ID)) == (CROWN, RULES)
    broken = model.index(0, 0, model.index(5, 0))
    assert broken.data(ACCESSIBLE_TEXT) == "bad.md: not UTF-8: byte 0xFF in line 3"
    assert model.node(broken).kind is Branch.LEFT_OUT


def test_five_thousand_entries_are_arranged_and_filtered(qtbot) -> None:
    entries = tuple(
        replace(ENTRIES[SKARN], id=number, title=f"Note {number}", filename=f"folder {number % 50}/n{number}.md")
        for number in range(5000)
    )
    model = VaultTree()
    model.set_index(VaultIndex(entries, vaults=("vault",)))
    find(model, "folder 49/")
    assert model.matches == 100
    assert len(model.entries()) == 100


def test_many_entries_of_one_place_stand_in_ranges_by_their_titles() -> None:
    entries = tuple(
        replace(ENTRIES[SKARN], id=number, title=f"Note {number}", filename=f"n{number}.md")
        for number in range(ONE_FOLDER + 1)
    )
    model = VaultTree()
    model.set_index(VaultIndex(entries, LEFT_OUT, vaults=("vault",)))
    ranges, groups = model.root.children[:-2], model.root.children[-2:]
    assert [node.title for node in ranges] == [
        "Note 0 – Note 999", "Note 1000 – Note 1999", "Note 2000 – Note 2999", "Note 3000 – Note 3999",
        "Note 4000 – Note 4999", "Note 5000 – Note 5000",
    ]  # fmt: skip
    assert [node.amount for node in ranges] == [RANGE] * 5 + [1]
    assert [node.title for node in groups] == ["Broken notes", "Left out"]
    assert model.entries() == list(range(ONE_FOLDER + 1))
    assert model.node(model.index_of_note(entries[-1]).parent()) is ranges[-1]
    find(model, "note 7")
    assert [node.title for node in model.root.children][:3] == ["Note 7", "Note 17", "Note 27"]
