"""The order of priorities: dragged in the table, moved by keys, numbered in steps; and the totals of the vault."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from lorestudio.ui.shell.main_window import MainWindow
from lorestudio.ui.shell.qt import DISPLAY
from tests.ui.conftest import settle
from tests.ui.vaults import open_vault

HEAD = "---\ntags: [lorebook]\n"
NOTES = {"A": 10, "B": 20, "C": 30, "D": 30}


@pytest.fixture
def window(make_window: Callable[..., MainWindow], tmp_path: Path) -> MainWindow:
    for name, number in NOTES.items():
        extra = "constant: true\n" if name == "A" else ""
        (tmp_path / "vault").mkdir(exist_ok=True)
        text = f"{HEAD}priority: {number}\n{extra}keys: [{name.lower()}]\n---\n{name * 40}\n"
        (tmp_path / "vault" / f"{name}.md").write_text(text, encoding="utf-8")
    made = make_window()
    open_vault(made, tmp_path / "vault", tmp_path / "kept")
    made.vault.show_table(True)
    made.vault.table.sortByColumn(made.vault.table_model.column_of("priority"), Qt.SortOrder.AscendingOrder)
    return made


def priorities(window: MainWindow) -> dict[str, float]:
    assert window.session.project is not None
    return {entry.title: entry.priority for entry in window.session.project.index.entries}


def drag(window: MainWindow, rows: list[int], place: int) -> None:
    """As Qt does it where rows are let go between two others."""
    model = window.vault.table_model
    data = model.mimeData([model.index(row, 0) for row in rows])
    assert not model.dropMimeData(data, Qt.DropAction.MoveAction, place, 0, QModelIndex())
    settle(window)


@pytest.mark.long
def test_a_dragged_row_gets_a_number_between_its_neighbours(window: MainWindow) -> None:
    model = window.vault.table_model
    assert [model.index(row, 0).data(DISPLAY) for row in range(4)] == ["A", "B", "C", "D"]
    drag(window, [3], 1)
    assert priorities(window) == {"A": 10, "B": 20, "C": 30, "D": 15}
    assert [model.index(row, 0).data(DISPLAY) for row in range(4)] == ["A", "D", "B", "C"]
    window.run("vault.undo")
    settle(window)
    assert priorities(window) == NOTES


def test_rows_are_dragged_only_where_priorities_order_them(window: MainWindow) -> None:
    model = window.vault.table_model
    assert model.flags(model.index(0, 0)) & Qt.ItemFlag.ItemIsDragEnabled
    window.vault.table.sortByColumn(0, Qt.SortOrder.AscendingOrder)
    assert not model.flags(model.index(0, 0)) & Qt.ItemFlag.ItemIsDragEnabled
    drag(window, [3], 0)
    assert priorities(window) == NOTES


@pytest.mark.long
def test_the_order_by_keys(window: MainWindow) -> None:
    window.activateWindow()
    table = window.vault.table
    table.select_places([2], 2)
    table.setFocus()
    settle(window)
    QTest.keyClick(table, Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.ShiftModifier)
    settle(window)
    assert priorities(window) == {"A": 10, "B": 20, "C": 15, "D": 30}
    window.run("note.later")
    settle(window)
    assert priorities(window) == {"A": 10, "B": 20, "C": 25, "D": 30}


def test_steps_and_gaps_of_all_or_of_what_is_chosen(window: MainWindow) -> None:
    window.run("note.steps")
    settle(window)
    assert priorities(window) == {"A": 10, "B": 20, "C": 30, "D": 40}
    window.vault.table.select_places([1, 2], 1)
    window.run("note.fill_gaps")
    settle(window)
    assert priorities(window) == {"A": 10, "B": 20, "C": 21, "D": 40}
    window.vault.table.select_places([2], 2)  # one alone is in no order
    window.run("note.steps")
    settle(window)
    assert priorities(window) == {"A": 10, "B": 20, "C": 30, "D": 40}


def test_totals_of_the_vault_and_of_what_is_chosen(window: MainWindow, qtbot: QtBot) -> None:
    """Each note has 40 characters, which are 10 tokens at 4 a token."""
    assert window.session.project is not None
    each = window.session.project.index.entries[0].tokens
    assert window.vault.totals.text() == f"≈\u00a0{4 * each} tokens · constants ≈\u00a0{each}"
    window.vault.table.select_places([1, 2, 3], 1)
    assert window.vault.totals.text() == f"3 chosen: ≈\u00a0{3 * each} tokens"
    window.vault.table.select_places([0, 1], 0)
    assert window.vault.totals.text() == f"2 chosen: ≈\u00a0{2 * each} tokens · constants ≈\u00a0{each}"
    window.vault.table.select_places([0], 0)
    window.vault.filter.setText("B")
    qtbot.waitUntil(lambda: window.vault.matches.text() == "1 of 4 entries")
    assert window.vault.totals.text() == f"all: ≈\u00a0{4 * each} tokens · constants ≈\u00a0{each}"


@pytest.mark.always
@pytest.mark.parametrize(("name", "steps"), [("A", -1), ("D", 1)])
def test_at_the_end_of_the_order_there_is_nothing_to_move(window: MainWindow, name: str, steps: int) -> None:
    row = next(at for at in range(4) if window.vault.table_model.index(at, 0).data(DISPLAY) == name)
    window.vault.table.select_places([row], row)
    window.run("note.earlier" if steps < 0 else "note.later")
    settle(window)
    assert priorities(window) == NOTES
    assert window.commands.actions["vault.undo"].isEnabled() is False


@pytest.mark.always
def test_an_order_that_is_so_already_is_said_to_be(window: MainWindow) -> None:
    window.run("note.steps")
    settle(window)
    window.run("note.steps")
    settle(window)
    assert window.status.currentMessage() == "They are numbered in this order already."
    assert priorities(window) == {"A": 10, "B": 20, "C": 30, "D": 40}


def test_two_notes_are_moved_together(window: MainWindow) -> None:
    window.vault.table.select_places([0, 1], 0)
    window.run("note.later")
    settle(window)
    order = sorted(priorities(window), key=priorities(window).__getitem__)
    assert order == ["C", "A", "B", "D"]
    assert priorities(window)["C"] == 30


@pytest.mark.always
def test_a_dragged_row_that_comes_where_it_was_changes_nothing(window: MainWindow) -> None:
    for place in (1, 2):
        drag(window, [1], place)
    assert priorities(window) == NOTES
    drag(window, [0, 1], 4)
    assert sorted(priorities(window), key=priorities(window).__getitem__)[-2:] == ["A", "B"]
