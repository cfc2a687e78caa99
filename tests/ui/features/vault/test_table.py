"""The table of notes: columns, sorting, filtering, counts of runs, and selecting many."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from PySide6.QtCore import QItemSelectionModel, Qt
from pytestqt.qtbot import QtBot

from lorestudio.domain.chat import Generation
from lorestudio.domain.entry import Entry, LeftOutNote, NoteProblem, VaultIndex
from lorestudio.domain.records import replace
from lorestudio.domain.state import Usage
from lorestudio.trace.timeline import Fired, fired_in
from lorestudio.ui.features.vault.table import NoteMarks, VaultTable, note_title
from lorestudio.ui.shell.main_window import MainWindow
from lorestudio.ui.shell.qt import ACCESSIBLE_TEXT
from lorestudio.ui.state.traces import FiringCounts
from lorestudio.ui.widgets.paint import Mark
from tests.ui.conftest import settle
from tests.ui.vaults import choose, open_vault, write_vault
from tests.ui.worlds import (
    BELL,
    CROWN,
    DAWNKEEP,
    ENTRIES,
    LEFT_OUT,
    RULES,
    SKARN,
    empty_trace,
    make_project,
    make_trace,
)


@pytest.fixture
def table(qapp) -> VaultTable:
    model = VaultTable()
    model.set_index(VaultIndex(ENTRIES, LEFT_OUT, vaults=("vault",)))
    return model


def titles(model) -> list[str]:
    return [model.index(row, 0).data() for row in range(model.rowCount())]


def cell(model, title, column) -> str:
    return model.index(titles(model).index(title), model.column_of(column)).data()


def test_entries_and_other_notes_are_rows(table) -> None:
    assert titles(table) == ["bad", "Bell", "Crown", "Dawnkeep", "README", "Rules", "Skarn"]
    assert cell(table, "Crown", "folder") == "items"
    assert cell(table, "Crown", "tokens") == "158"
    assert cell(table, "Dawnkeep", "keys") == "2"
    assert [cell(table, title, "state") for title in ("Rules", "Skarn", "bad", "README")] == [
        "constant", "normal", "broken", "no lorebook tag",
    ]  # fmt: skip


def test_the_priority_says_which_number_goes_in_first_also_in_a_lorebook(table) -> None:
    tip = table.headerData(table.column_of("priority"), Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole)
    assert ("A lower number goes in first" in tip, "in a lorebook a higher one" in tip) == (True, True)


def test_a_disabled_note_says_so(qapp) -> None:
    model = VaultTable()
    model.set_index(VaultIndex((), (LeftOutNote("a/Off.md", "v", NoteProblem.DISABLED, "off"),), vaults=("v",)))
    assert (cell(model, "Off", "state"), cell(model, "Off", "folder")) == ("disabled", "a")


def test_titles_are_in_order_until_something_else_is_chosen(table) -> None:
    assert table.sorted_by == (table.column_of("title"), False)
    assert titles(table) == sorted(titles(table), key=str.casefold) != [each.title for each in ENTRIES]


@pytest.mark.parametrize(
    ("column", "descending", "first"),
    [
        ("tokens", True, ["Crown", "Skarn", "Dawnkeep", "Rules", "Bell"]),
        ("tokens", False, ["Bell", "Rules", "Dawnkeep", "Skarn", "Crown"]),
        ("priority", False, ["Skarn", "Bell"]),
        ("title", True, ["Skarn", "Rules", "README"]),
    ],
)
def test_sorting_keeps_notes_without_the_number_at_the_end(table, column, descending, first) -> None:
    order = Qt.SortOrder.DescendingOrder if descending else Qt.SortOrder.AscendingOrder
    table.sort(table.column_of(column), order)
    assert titles(table)[: len(first)] == first


@pytest.mark.parametrize("column", [None, "title", "tokens"])
def test_other_marks_are_told_of_all_titles_and_sort_nothing_anew(table, column) -> None:
    if column is not None:
        table.sort(table.column_of(column), Qt.SortOrder.AscendingOrder)
    told, before = [], titles(table)
    table.dataChanged.connect(lambda first, last: told.append((first.row(), first.column(), last.row())))
    table.refresh_marks()
    assert told == [(0, 0, len(before) - 1)]
    assert titles(table) == before


@pytest.mark.parametrize(("word", "shown"), [("injected", True), ("refused", False), ("not a candidate", False)])
def test_a_title_has_the_mark_of_its_fate_where_that_says_something(qapp, word: str, shown: bool) -> None:
    mark = Mark("check", "green", word)
    model = VaultTable(marks=NoteMarks(lambda entry: mark if entry == BELL else None))
    model.set_index(VaultIndex(ENTRIES, LEFT_OUT, vaults=("vault",)))
    marked = {
        note_title(note): [piece.mark for piece in model.columns[0].look(note).strips[0].right] for note in model.rows
    }
    assert [title for title, marks in marked.items() if marks == [mark]] == (["Bell"] if shown else [])


def test_a_selection_stays_on_its_notes_when_sorted_anew(window) -> None:
    pane = window.vault
    pane.show_table(True)
    rows = [pane.table_model.place_of(ENTRIES[SKARN].note_key), pane.table_model.place_of(ENTRIES[BELL].note_key)]
    pane.table.select_places(rows, rows[0])
    pane.table_model.sort(pane.table_model.column_of("tokens"), Qt.SortOrder.AscendingOrder)
    assert {note.filename for note in pane.chosen} == {"Skarn.md", "Bell.md"}


def test_the_filter_asks_for_every_word(table) -> None:
    table.set_filter("FORT dawn")
    assert titles(table) == ["Dawnkeep"]
    table.set_filter("utf-8")
    assert titles(table) == ["bad"]
    table.set_filter("")
    assert len(table.rows) == 7


def test_the_filter_finds_accents_however_they_are_encoded(table) -> None:
    apart = unicodedata.normalize("NFD", "Café")
    table.set_index(VaultIndex((replace(ENTRIES[SKARN], title=apart),), vaults=("vault",)))
    table.set_filter("café")
    assert titles(table) == [apart]


def test_problems_are_the_readers_warnings_until_somebody_counts_better(table) -> None:
    assert cell(table, "Crown", "problems") == "1"
    table.set_problems({("vault", "items/Crown.md"): 4, ("vault", "bad.md"): 1})
    assert cell(table, "Crown", "problems") == "4"
    assert cell(table, "bad", "problems") == "1"
    assert "4 problems" in table.index(titles(table).index("Crown"), 0).data(ACCESSIBLE_TEXT)


# ---- how often an entry fired ---------------------------------------------------------------------------------------


def test_a_run_tells_what_it_matched_and_what_it_injected() -> None:
    matched, injected = fired_in(make_trace())
    assert injected == {RULES, SKARN, DAWNKEEP}
    assert matched == {RULES, SKARN, DAWNKEEP, CROWN}  # refused is not matched


def test_counts_follow_the_runs(qapp) -> None:
    counts = FiringCounts()
    first, second = Generation(2), Generation(5)
    traces = {first: make_trace(2), second: make_trace(5)}
    assert counts.take(traces, None)
    assert counts.of(CROWN) == Fired(matched=2, injected=0)
    assert counts.of(SKARN) == Fired(matched=2, injected=2)
    assert not counts.take(traces, None)
    traces[second] = empty_trace(5)
    assert counts.take(traces, (second,))
    assert counts.of(SKARN) == Fired(matched=1, injected=1)
    assert counts.take({}, None)
    assert counts.of(SKARN) == Fired()


def test_the_table_counts_the_runs_of_the_chat(window) -> None:
    window.vault.show_table(True)
    model = window.vault.table_model
    runs = [trace for trace in window.session.runs.traces.values() if trace.injections]
    assert runs
    assert cell(model, "Skarn", "injected") == str(len(runs))
    assert cell(model, "Crown", "injected") == ""
    assert cell(model, "Crown", "matched") == str(len(runs))


# ---- in the window --------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_the_table_takes_the_place_of_the_tree_and_remembers_it(make_window, tmp_path) -> None:
    window = make_window(make_project(tmp_path / "vault"))
    window.run("vault.table")
    assert window.vault.table.isVisible()
    assert window.commands.actions["vault.table"].isChecked()
    window.vault.table.show_column("tags", shown=True)
    window.vault.table.show_column("folder", shown=False)
    window.vault.table.horizontalHeader().setSortIndicator(
        window.vault.table_model.column_of("tokens"), Qt.SortOrder.DescendingOrder
    )
    window.close()
    other = make_window(make_project(tmp_path / "vault"))
    assert other.vault.table.isVisible()
    assert "tags" in other.vault.table.shown_columns()
    assert "folder" not in other.vault.table.shown_columns()
    assert other.vault.table_model.sorted_by == (other.vault.table_model.column_of("tokens"), True)
    assert titles(other.vault.table_model)[0] == "Crown"


def test_tree_and_table_share_what_is_selected(window) -> None:
    pane = window.vault
    flags = QItemSelectionModel.SelectionFlag
    pane.tree.setCurrentIndex(pane.model.index_of_note(ENTRIES[SKARN]))
    pane.tree.selectionModel().select(pane.model.index_of_note(ENTRIES[BELL]), flags.Select)
    pane.show_table(True)
    assert {note.filename for note in pane.chosen} == {"Skarn.md", "Bell.md"}
    pane.show_table(False)
    assert {note.filename for note in pane.chosen} == {"Skarn.md", "Bell.md"}


def test_a_selected_folder_stands_for_its_notes(window) -> None:
    pane = window.vault
    folder = next(index for index in pane.model.folder_rows() if pane.model.node(index).title == "items")
    pane.tree.setCurrentIndex(folder)
    assert [note.filename for note in pane.chosen] == ["items/Crown.md"]


def test_a_row_of_the_table_is_looked_at_everywhere(window) -> None:
    pane = window.vault
    pane.show_table(True)
    pane.table.setCurrentIndex(pane.table_model.index(pane.table_model.place_of(ENTRIES[CROWN].note_key), 3))
    assert window.selection.entry == CROWN
    assert window.entry.heading.text() == "Crown"
    window.selection.choose_entry(BELL)
    assert pane.table.currentIndex().row() == pane.table_model.place_of(ENTRIES[BELL].note_key)


def test_when_the_files_were_changed_is_shown(make_window, tmp_path) -> None:
    window = make_window()
    folder = write_vault(tmp_path / "vault")
    open_vault(window, folder, tmp_path / "kept")
    window.run("vault.table")
    settle(window)
    choose(window, "Bell.md")
    shown = cell(window.vault.table_model, "Bell", "modified")
    assert len(shown) == len("2026-01-01 00:00")


def test_thousands_of_rows_are_filtered_without_losing_one(qapp) -> None:
    entries = tuple(
        Entry(number, f"n/{number}.md", "v", f"Note {number}", keys=(f"k{number}",)) for number in range(3000)
    )
    model = VaultTable()
    model.set_index(VaultIndex(entries, vaults=("v",)))
    model.set_filter("k299")
    assert sorted(titles(model)) == sorted(f"Note {number}" for number in [299, *range(2990, 3000)])


def test_what_deeplore_counted_is_a_column_and_goes_into_the_file(
    window: MainWindow, tmp_path: Path, qtbot: QtBot
) -> None:
    project = window.session.project
    assert project is not None
    title = project.index.entries[0].title
    counted = {f"Default:{title}": Usage(9, 7, 1_700_000_000_000)}
    window.session.set_project(replace(project, recorded=counted))
    window.vault.show_table(True)
    model = window.vault.table_model
    assert cell(model, title, "recorded") == "7"
    assert cell(model, title, "last used").startswith("2023-11-1")
    window.features.vault.save_usage(tmp_path / "usage.csv")
    qtbot.waitUntil(lambda: (tmp_path / "usage.csv").exists() and window.session.jobs.idle)
    row = next(line for line in (tmp_path / "usage.csv").read_text("utf-8-sig").splitlines() if f",{title}," in line)
    assert row.split(",")[-3:] == ["9", "7", "2023-11-14T22:13:20+00:00"]
