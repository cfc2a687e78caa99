"""The vault's pane: its filter, walking through what it shows, what is open and chosen in it, and how notes look."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QModelIndex, QPoint, Qt, QTimer
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QLineEdit,
    QMenu,
    QPushButton,
    QStyleOptionViewItem,
    QTreeView,
)
from pytestqt.qtbot import QtBot

from lorestudio.domain.entry import Entry, LeftOutNote, NoteProblem, VaultIndex
from lorestudio.domain.records import replace
from lorestudio.domain.state import Usage
from lorestudio.trace.journey import Journeys
from lorestudio.ui.features.vault import pane as vault_pane
from lorestudio.ui.features.vault.pane import VaultPane
from lorestudio.ui.features.vault.table import NoteMarks, VaultTable, when_words
from lorestudio.ui.features.vault.tree import Rows, TitleDelegate, VaultTree
from lorestudio.ui.shell.main_window import MainWindow
from lorestudio.ui.shell.qt import ACCESSIBLE_TEXT, EDIT, TOOLTIP
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.state.expected import ExpectedMark
from lorestudio.ui.widgets.paint import fate_mark, glyph
from lorestudio.ui.widgets.record_table import RecordView
from tests.ui.conftest import drain, settle
from tests.ui.drawing import drawn, image_of, words_drawn
from tests.ui.worlds import BELL, CROWN, DAWNKEEP, ENTRIES, LEFT_OUT, RULES, SKARN, make_project, make_trace

INDEX = VaultIndex(ENTRIES, LEFT_OUT, vaults=("vault",))
BROKEN = ExpectedMark(False, "Not met: Crown goes in")
MARKED = 6
"""Signs: what became of four entries, one that is unsaved, and one that is not as expected."""

JOURNEYS = Journeys(make_trace())


@pytest.fixture
def window(share_window: Callable[..., MainWindow]) -> MainWindow:
    return share_window(lambda folder: make_project(folder / "vault"))


@pytest.fixture
def pane(window: MainWindow) -> VaultPane:
    return window.vault


def type_filter(pane: VaultPane, text: str, qtbot: QtBot) -> None:
    qtbot.keyClicks(pane.filter, text)
    pane.apply_filter()


def test_a_search_finds_counts_and_goes(pane: VaultPane, qtbot: QtBot) -> None:
    pane.open_search()
    assert pane.filter.hasFocus()
    type_filter(pane, "crown", qtbot)
    assert pane.matches.text() == "1 of 5 entries"
    pane.open_search()
    type_filter(pane, "s", qtbot)  # the old text is selected, so that it is replaced
    assert pane.filter.text() == "s"
    qtbot.keyClick(pane.filter, Qt.Key.Key_Escape)
    pane.apply_filter()
    assert pane.filter.text() == ""
    assert pane.model.entries() == [CROWN, DAWNKEEP, BELL, RULES, SKARN]


def test_what_finds_nothing_has_a_button_that_empties_the_filter(pane: VaultPane, qtbot: QtBot) -> None:
    pane.open_search()
    type_filter(pane, "nowhere to be found", qtbot)
    assert pane.empty.isVisibleTo(pane)
    qtbot.waitUntil(lambda: len(pane.empty.page.findChildren(QPushButton)) == 1)
    pane.empty.page.findChild(QPushButton).click()
    pane.apply_filter()
    assert (pane.filter.text(), pane.filter.hasFocus()) == ("", True)
    assert pane.model.entries() == [CROWN, DAWNKEEP, BELL, RULES, SKARN]


@pytest.mark.parametrize(
    ("shown_as_table", "order"),
    [(False, [CROWN, DAWNKEEP, BELL, RULES, SKARN]), (True, [BELL, CROWN, DAWNKEEP, RULES, SKARN])],
)
def test_steps_go_round_what_is_shown(
    window: MainWindow, pane: VaultPane, shown_as_table: bool, order: list[int]
) -> None:
    pane.show_table(shown_as_table)
    window.selection.choose_entry(None)
    seen = []
    for steps in (1, 1, -1, -1):
        pane.step(steps)
        seen.append(window.selection.entry)
    assert seen == [order[0], order[1], order[0], order[-1]]
    window.selection.choose_entry(None)
    pane.step(-1)
    assert window.selection.entry == order[-1]
    pane.show_table(False)


def test_what_is_left_out_opens_only_where_it_was_searched_for(pane: VaultPane, qtbot: QtBot) -> None:
    def opened() -> list[str]:
        return [pane.model.node(each).title for each in pane.model.folder_rows() if pane.tree.isExpanded(each)]

    assert opened() == ["items", "places", "Broken notes"]
    assert pane.tree_button.isChecked()
    type_filter(pane, "readme", qtbot)
    assert opened() == ["Left out"]


def test_rows_of_a_long_list_are_not_looked_at_one_by_one(pane: VaultPane, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def index(row: int, column: int, parent: QModelIndex | None = None) -> QModelIndex:
        if parent is None:  # Qt names it
            asked.append(row)
        return VaultTree.index(pane.model, row, column, QModelIndex() if parent is None else parent)

    monkeypatch.setattr(vault_pane, "OPEN_UP_TO", 4)
    monkeypatch.setattr(pane.model, "index", index, raising=False)
    pane.filter.setText("e")
    pane.apply_filter()
    assert pane.model.matches > 4
    assert not asked


@pytest.mark.parametrize("as_table", [False, True])
def test_a_filter_counts_notes_that_are_no_entries_apart(pane: VaultPane, as_table: bool, qtbot: QtBot) -> None:
    pane.show_table(as_table)
    type_filter(pane, "readme", qtbot)
    assert pane.matches.text() == "0 of 5 entries, 1 note left out"
    told = pane.matches.fontMetrics().horizontalAdvance(pane.matches.text())
    assert pane.matches.minimumSizeHint().width() < told  # a narrow column stays as it is
    pane.filter.clear()
    pane.apply_filter()
    assert pane.matches.text() == "5 entries"
    pane.show_table(False)


def test_the_folder_that_the_keyboard_is_in(window: MainWindow, pane: VaultPane) -> None:
    pane.tree.setCurrentIndex(pane.model.index(0, 0))
    assert pane.folder == ("", "items")
    pane.tree.setCurrentIndex(QModelIndex())
    window.selection.choose_entry(DAWNKEEP)
    assert pane.folder == ("vault", "places")
    window.selection.choose_entry(None)
    assert pane.folder == ("", "")


def test_without_a_match_there_is_no_step_and_it_is_said(window: MainWindow, pane: VaultPane, qtbot: QtBot) -> None:
    window.selection.choose_entry(CROWN)
    type_filter(pane, "nowhere", qtbot)
    pane.step(1)
    assert window.selection.entry == CROWN
    assert (pane.matches.text(), pane.empty.title.text()) == ("0 of 5 entries", "Nothing found")
    assert pane.empty.isVisibleTo(pane)
    pane.filter.clear()
    pane.apply_filter()
    assert pane.tree.isVisibleTo(pane)
    assert pane.matches.text() == "5 entries"


def test_tree_or_table_is_remembered_and_the_table_knows_when_files_were_changed(
    window: MainWindow, pane: VaultPane, qtbot: QtBot
) -> None:
    pane.show_table(True)
    assert window.settings.value("vault/view") == "table"
    model = pane.table_model
    column = model.column_of("modified")
    qtbot.waitUntil(lambda: window.session.jobs.idle)
    path = window.session.note_path(ENTRIES[BELL])
    assert path is not None
    row = model.place_of(ENTRIES[BELL].note_key)
    assert model.index(row, column).data() == when_words(path.stat().st_mtime)
    assert all(model.index(each, column).data() for each in range(model.rowCount()))
    pane.show_table(False)
    assert window.settings.value("vault/view") == "tree"


@pytest.mark.always
@pytest.mark.own_window
@pytest.mark.parametrize("as_table", [False, True])
def test_beside_the_rows_the_menu_has_only_what_needs_no_note(
    window: MainWindow, pane: VaultPane, as_table: bool
) -> None:
    pane.show_table(as_table)
    window.selection.choose_entry(BELL)
    ground = pane.view.viewport()
    amid, beside = pane.view.visualRect(pane.view.currentIndex()).center(), ground.rect().bottomLeft()
    assert not pane.view.indexAt(beside).isValid()
    seen: list[list[str]] = []

    def look() -> None:
        menu = QApplication.activePopupWidget()
        assert isinstance(menu, QMenu)
        seen.append([each.text() for each in menu.actions()])
        menu.close()

    for place in (amid, beside):
        QTimer.singleShot(0, look)
        reason = QContextMenuEvent.Reason.Mouse
        QApplication.sendEvent(ground, QContextMenuEvent(reason, place, ground.mapToGlobal(place)))
        drain()
    assert "Move to trash" in seen[0]
    assert seen[1] == ["New note…"]


@pytest.mark.always
@pytest.mark.own_window
@pytest.mark.parametrize("as_table", [False, True])
def test_the_key_for_the_menu_opens_it_at_the_row(pane: VaultPane, as_table: bool) -> None:
    pane.show_table(as_table)
    view = pane.table if as_table else pane.tree
    row = pane.table_model.place_of(ENTRIES[BELL].note_key) if as_table else -1
    index = pane.table_model.index(row, 0) if as_table else pane.model.index_of_note(ENTRIES[BELL])
    view.setFocus()
    view.setCurrentIndex(index)
    drain()
    seen: list[tuple[QPoint, list[str]]] = []

    def look() -> None:
        menu = QApplication.activePopupWidget()
        assert isinstance(menu, QMenu)
        seen.append((menu.pos(), [each.text() for each in menu.actions()]))
        menu.close()

    QTimer.singleShot(0, look)
    amid = view.inputMethodQuery(Qt.InputMethodQuery.ImCursorRectangle).center()  # where Qt takes the key to be meant
    reason = QContextMenuEvent.Reason.Keyboard
    QApplication.sendEvent(view, QContextMenuEvent(reason, amid, view.mapToGlobal(amid)))
    drain()
    ((place, titles),) = seen
    assert place == view.viewport().mapToGlobal(view.visualRect(index).bottomLeft())
    assert {"New note…", "Rename…", "Pin in this chat"} <= set(titles)
    pane.show_table(False)


def test_columns_are_chosen_below_their_button(pane: VaultPane) -> None:
    pane.show_table(True)
    assert pane.columns_button.isVisibleTo(pane)
    pane.columns_button.click()
    menu = next(each for each in pane.table.findChildren(QMenu) if each.isVisible())
    assert menu.pos() == pane.columns_button.mapToGlobal(pane.columns_button.rect().bottomLeft())
    menu.close()
    pane.show_table(False)


def test_the_table_is_arranged_with_the_mouse(pane: VaultPane) -> None:
    pane.show_table(True)
    head, model, shown = pane.table.horizontalHeader(), pane.table_model, []
    before = head.sortIndicatorSection(), head.sortIndicatorOrder()
    for _click in range(2):
        spot = QPoint(head.sectionViewportPosition(0) + 8, head.height() // 2)
        QTest.mouseClick(head.viewport(), Qt.MouseButton.LeftButton, pos=spot)
        shown.append([model.index(row, 0).data() for row in range(model.rowCount())])
    assert shown[0] == shown[1][::-1] != shown[1]
    assert head.sectionsMovable()
    assert pane.table.dragDropMode() is QAbstractItemView.DragDropMode.DragDrop
    head.setSortIndicator(*before)
    pane.show_table(False)


def test_folders_that_were_closed_stay_so_when_the_vault_is_read_again(window: MainWindow, pane: VaultPane) -> None:
    places = next(each for each in pane.model.folder_rows() if pane.model.node(each).title == "places")
    window.selection.choose_entry(BELL)
    pane.tree.collapse(places)
    pane.keep_selection()
    pane.tree.collapseAll()
    pane.restore_selection()
    opened = [pane.model.node(each).title for each in pane.model.folder_rows() if pane.tree.isExpanded(each)]
    assert "items" in opened
    assert "places" not in opened
    pane.tree.expand(places)


@pytest.mark.parametrize("as_table", [False, True])
def test_several_that_were_selected_are_found_again(window: MainWindow, pane: VaultPane, as_table: bool) -> None:
    pane.show_table(as_table)
    pane.view.selectAll()
    wanted = {note.note_key for note in pane.chosen}
    assert len(wanted) == 7
    pane.keep_selection()
    pane.view.clearSelection()
    assert pane.chosen == []
    pane.restore_selection()
    assert {note.note_key for note in pane.chosen} == wanted
    bell, skarn = (window.session.note_path(ENTRIES[each]) for each in (BELL, SKARN))
    assert bell is not None
    assert skarn is not None
    pane.keep_selection((bell, skarn))  # what was made is selected instead
    pane.restore_selection()
    assert [note.note_key for note in pane.chosen] == [ENTRIES[BELL].note_key, ENTRIES[SKARN].note_key]
    pane.show_table(False)


def test_what_was_selected_waits_until_the_notes_are_listed(
    window: MainWindow, pane: VaultPane, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows of before are still there: what is selected in them is lost once the new ones come."""
    pane.show_table(False)
    pane.keep_selection((window.session.note_path(ENTRIES[BELL]), window.session.note_path(ENTRIES[SKARN])))
    pane.tree.clearSelection()
    with monkeypatch.context() as patch:
        patch.setattr(type(pane._listing), "busy", property(lambda _self: True))
        pane.restore_selection()
    assert pane.chosen == []
    pane.restore_selection()
    assert [note.title for note in pane.chosen] == ["Bell", "Skarn"]


def test_the_rows_of_many_notes_are_made_in_a_job(
    window: MainWindow, pane: VaultPane, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    window.selection.choose_entry(BELL)
    monkeypatch.setattr("lorestudio.ui.features.vault.pane.AT_ONCE", 3)
    made_in = []
    monkeypatch.setattr(
        "lorestudio.ui.features.vault.pane.Rows",
        lambda *what: (made_in.append(threading.current_thread() is threading.main_thread()), Rows(*what))[1],
    )
    type_filter(pane, "crown", qtbot)
    assert len(pane.model.entries()) == 5  # until they are made
    settle(window)
    assert (pane.model.entries(), pane.matches.text()) == ([CROWN], "1 of 5 entries")
    pane.filter.clear()
    pane.apply_filter()
    pane.keep_selection((window.session.note_path(ENTRIES[BELL]), window.session.note_path(ENTRIES[SKARN])))
    pane.restore_selection()
    settle(window)
    assert [note.title for note in pane.chosen] == ["Bell", "Skarn"]
    assert made_in == [False, False]
    pane.tree.clearSelection()
    pane.model.rows.texts[BELL] = "gong"  # the table looks in what the job has read
    pane.show_table(True)
    pane.table_model.set_index(window.session.project.index)
    type_filter(pane, "gong", qtbot)
    assert list(pane.table_model.rows) == [ENTRIES[BELL]]
    pane.filter.clear()
    pane.apply_filter()
    pane.show_table(False)
    settle(window)


@pytest.mark.parametrize("as_table", [False, True])
def test_the_note_beside_those_that_go(window: MainWindow, pane: VaultPane, as_table: bool) -> None:
    pane.show_table(as_table)
    notes = list(pane.table_model.rows) if as_table else pane.model.root.notes
    paths = [window.session.note_path(note) for note in notes]
    assert pane.beside(paths[1:2]) == paths[2]
    assert pane.beside([paths[1], paths[2]]) == paths[3]
    assert pane.beside(paths[-2:]) == paths[-3]
    assert pane.beside(paths) is None
    assert pane.beside([Path("elsewhere.md")]) is None
    pane.show_table(False)


def test_several_stay_selected_where_the_list_is_another_one(window: MainWindow, pane: VaultPane) -> None:
    tree, asked = pane.tree, []
    tree.selectAll()
    pane.model.flags = lambda index: asked.append(index) or VaultTree.flags(pane.model, index)
    everything = {note.note_key for note in pane.chosen}
    assert pane.chosen_branch is None
    del pane.model.flags
    assert not asked, "each of thousands of rows, at each look at what actions make sense"
    pane.show_table(True)
    assert {note.note_key for note in pane.chosen} == everything
    assert len(everything) == 7
    pane.table.select_places([0, 2], 2)
    some = [note.note_key for note in pane.chosen]
    pane.show_table(False)
    assert [note.note_key for note in pane.chosen] == some or len(pane.chosen) == 2
    assert (pane.tree_button.isChecked(), pane.table_button.isChecked()) == (True, False)
    assert pane.columns_button.isHidden()


def test_a_title_is_typed_over_only_where_the_keyboard_is_on_an_entry(window: MainWindow, pane: VaultPane) -> None:
    window.selection.choose_entry(CROWN)
    pane.filter.setFocus()
    assert not pane.edit_title()
    pane.tree.setFocus()
    crown = pane.tree.currentIndex()
    pane.tree.setCurrentIndex(pane.model.index(0, 0))  # a folder
    assert not pane.edit_title()
    editor = pane.tree.itemDelegate().createEditor(pane.tree.viewport(), QStyleOptionViewItem(), crown)
    assert editor.accessibleName() == "Crown"
    editor.deleteLater()


def test_a_narrow_filter_says_less(pane: VaultPane) -> None:
    forms: dict[str, None] = {}
    for width in range(500, 40, -20):
        pane.filter.resize(width, pane.filter.height())
        forms[pane.filter.placeholderText()] = None
    assert list(forms) == ["Filter by title, key, tag or file", "Filter by title or key", "Filter"]
    first, second, least = forms
    enough = pane.filter.fontMetrics().horizontalAdvance(first) + 24
    for width, words in ((enough, first), (enough - 1, second), (24, least)):
        pane.filter.resize(width, pane.filter.height())
        assert pane.filter.placeholderText() == words


# ---- how notes look -------------------------------------------------------------------------------------------------


@pytest.fixture
def tree(qapp: object) -> VaultTree:
    made = VaultTree()
    made.set_index(INDEX)
    return made


def mark_all(tree: VaultTree) -> None:
    tree.marks = NoteMarks(
        lambda entry: fate_mark(JOURNEYS.fate(entry)),
        lambda note: isinstance(note, Entry) and note.id == SKARN,
        lambda entry: BROKEN if entry == CROWN else None,
    )


def row_of(tree: VaultTree, entry: int) -> QModelIndex:
    return tree.index_of_note(ENTRIES[entry])


def test_a_note_says_what_became_of_it_what_is_unsaved_and_what_was_expected(tree: VaultTree) -> None:
    mark_all(tree)
    assert row_of(tree, SKARN).data(ACCESSIBLE_TEXT) == "Skarn, normal, unsaved changes, this turn: injected"
    assert row_of(tree, CROWN).data(ACCESSIBLE_TEXT) == (
        "Crown, normal, 1 warning, Not met: Crown goes in, this turn: cut"
    )
    assert row_of(tree, CROWN).data(TOOLTIP).endswith("\nNot met: Crown goes in")
    assert tree.index(0, 0).data(ACCESSIBLE_TEXT) == "items, 1 note"
    assert tree.index_of_note(LEFT_OUT[0]).data(ACCESSIBLE_TEXT).startswith("bad.md: not UTF-8")


def test_notes_in_a_row_are_one_range(tree: VaultTree) -> None:
    def ranges(*entries: int) -> list[tuple[str, str]]:
        found = tree.ranges_of([ENTRIES[entry] for entry in entries])
        return [(first.data(), last.data()) for first, last in found]

    assert ranges(BELL, RULES, SKARN) == [("Bell", "Skarn")]
    assert ranges(BELL, SKARN) == [("Bell", "Bell"), ("Skarn", "Skarn")]
    assert ranges(CROWN, DAWNKEEP) == [("Crown", "Crown"), ("Dawnkeep", "Dawnkeep")]  # in two folders
    tree.show_rows(Rows(INDEX, ("bell",)))
    assert ranges(BELL, RULES) == [("Bell", "Bell")]


def test_notes_are_dropped_into_folders_and_titles_typed(tree: VaultTree) -> None:
    dropped: list[object] = []
    typed: list[object] = []
    tree.dropped.connect(lambda *news: dropped.append(news))
    tree.retitled.connect(lambda *news: typed.append(news))
    data = tree.mimeData([row_of(tree, BELL), tree.index(0, 0)])
    assert tree.mimeTypes() == data.formats()
    move, nowhere = Qt.DropAction.MoveAction, QModelIndex()
    assert not tree.dropMimeData(data, move, -1, -1, tree.index(1, 0))
    assert not tree.dropMimeData(data, move, -1, -1, nowhere)
    assert not tree.dropMimeData(data, move, -1, -1, row_of(tree, SKARN))
    assert not tree.dropMimeData(QMimeData(), move, -1, -1, tree.index(1, 0))
    assert dropped == [((ENTRIES[BELL],), "", "places"), ((ENTRIES[BELL],), "", "")]
    for text in ("Great Bell ", " ", "Bell"):
        tree.setData(row_of(tree, BELL), text, EDIT)
    tree.setData(tree.index(0, 0), "things", EDIT)
    assert typed == [(ENTRIES[BELL], "Great Bell")]
    flags = [tree.flags(index) for index in (row_of(tree, BELL), tree.index(0, 0), tree.index_of_note(LEFT_OUT[0]))]
    kinds = Qt.ItemFlag
    assert [[bool(each & kind) for kind in (kinds.ItemIsEditable, kinds.ItemIsDragEnabled, kinds.ItemIsDropEnabled)]
            for each in flags] == [[True, True, False], [False, False, True], [False, True, False]]  # fmt: skip


def test_rows_of_the_tree_are_drawn(tree: VaultTree, theme: Theme, qtbot: QtBot) -> None:
    mark_all(tree)
    view = QTreeView()
    qtbot.addWidget(view)
    view.setModel(tree)
    view.setItemDelegate(TitleDelegate(theme, view))
    view.resize(400, 500)
    view.expandAll()
    ink = {each.words: each.fill for each in drawn(view) if each.kind == "text"}
    text, muted, faint = (theme.color(name).name() for name in ("text", "text_muted", "text_faint"))
    assert (ink["Skarn"], ink["items"], ink["README.md"], ink["1"]) == (text, text, muted, faint)
    assert ink["no lorebook tag"] == faint
    bare = len([each for each in drawn(view) if each.kind == "image"])
    tree.marks = NoteMarks()
    assert bare - len([each for each in drawn(view) if each.kind == "image"]) == MARKED


def test_a_title_is_typed_over_where_it_stands(tree: VaultTree, theme: Theme, qtbot: QtBot) -> None:
    view = QTreeView(editTriggers=QTreeView.EditTrigger.NoEditTriggers)
    qtbot.addWidget(view)
    view.setModel(tree)
    view.setItemDelegate(TitleDelegate(theme, view))
    view.resize(400, 500)
    view.show()
    view.edit(row_of(tree, BELL))
    field = view.viewport().findChild(QLineEdit)
    row = view.visualRect(row_of(tree, BELL))
    assert (field.text(), field.geometry()) == ("Bell", row.adjusted(24, 0, 0, 0))  # behind the sign


@pytest.mark.parametrize("alike", [False, True])
def test_a_long_title_takes_more_lines_where_rows_may_differ(theme: Theme, qtbot: QtBot, alike: bool) -> None:
    long = replace(ENTRIES[BELL], title="The bell that rings at dawn over the harbour and the salt cliff " * 2)
    made = VaultTree()
    made.set_index(VaultIndex((replace(long, id=0), replace(ENTRIES[RULES], id=1)), vaults=("vault",)))
    view = QTreeView(headerHidden=True)
    qtbot.addWidget(view)
    view.setModel(made)
    view.setItemDelegate(TitleDelegate(theme, view))
    view.setUniformRowHeights(alike)
    view.resize(220, 400)
    view.show()
    rows = {made.index(row, 0).data(): view.visualRect(made.index(row, 0)).height() for row in range(2)}
    assert (rows[long.title] > 2 * rows["Rules"]) is not alike
    narrow = rows[long.title]
    view.resize(900, 400)
    view.scheduleDelayedItemsLayout()
    drain()
    wide = view.visualRect(made.index_of_note(replace(long, id=0))).height()
    assert (wide < narrow) is not alike


@pytest.mark.own_window
def test_titles_get_another_line_where_the_pane_gets_narrower(window: MainWindow, pane: VaultPane) -> None:
    dock, tree = window.context.layout.docks["vault"], pane.tree
    long = replace(ENTRIES[BELL], id=0, title="The bell that rings at dawn over the harbour")
    index = VaultIndex((long, replace(ENTRIES[RULES], id=1)), vaults=("vault",))
    assert window.session.project is not None
    window.session.set_project(replace(window.session.project, index=index))
    settle(window)
    heights = []
    for width in (600, 180, 600):
        window.resizeDocks([dock], [width], Qt.Orientation.Horizontal)
        settle(window)
        heights.append(tree.visualRect(pane.model.index_of_note(long)).height())
    wide, narrow, again = heights
    assert narrow > wide == again


def test_signs_keep_their_colours_where_their_rows_are_chosen(theme: Theme, qtbot: QtBot, tree: VaultTree) -> None:
    mark_all(tree)
    marks = NoteMarks(
        is_dirty=lambda note: note == ENTRIES[SKARN], held=lambda entry: BROKEN if entry == CROWN else None
    )
    table = VaultTable(marks=marks)
    table.set_index(INDEX)
    view = QTreeView(headerHidden=True, selectionMode=QTreeView.SelectionMode.ExtendedSelection)
    rows = RecordView(theme, table, "Notes", many=True)
    view.setModel(tree)
    view.setItemDelegate(TitleDelegate(theme, view))
    view.expandAll()
    both = [("constant", "accent", 11), (*BROKEN.glyph, 13), ("broken", "error", 14)]
    in_tree = [*both, ("constant", "accent", 14), ("warning", "warning", 13)]
    for shown, signs in ((view, in_tree), (rows, [*both, ("constant", "text_muted", 14)])):
        qtbot.addWidget(shown)
        shown.resize(1500, 600)
        wanted = {image_of(glyph(icon, theme.color(tone).name(), size)) for icon, tone, size in signs}
        for choose in (shown.clearSelection, shown.selectAll):
            choose()
            assert shown.selectionModel().hasSelection() is (choose == shown.selectAll)
            assert wanted <= {each.image for each in drawn(shown)}


def test_cells_of_the_table_are_drawn(theme: Theme, qtbot: QtBot) -> None:
    marks = NoteMarks(
        fate=lambda entry: fate_mark(JOURNEYS.fate(entry)),
        is_dirty=lambda note: isinstance(note, Entry) and note.id == SKARN,
        held=lambda entry: BROKEN if entry == CROWN else None,
    )
    model = VaultTable(marks=marks)
    off = LeftOutNote("a/Off.md", "vault", NoteProblem.DISABLED, "off")
    model.set_index(VaultIndex(ENTRIES, (*LEFT_OUT, off), vaults=("vault",)))
    model.set_problems({ENTRIES[BELL].note_key: 3})
    model.set_recorded({SKARN: Usage(injected=7, last_triggered_ms=86_400_000)})
    view = RecordView(theme, model, "Notes")
    qtbot.addWidget(view)
    view.resize(1500, 400)
    shown = {each.words: each.fill for each in drawn(view) if each.kind == "text"}
    text, muted = theme.color("text").name(), theme.color("text_muted").name()
    assert {
        "Skarn": text,
        "158": text,
        "3": text,
        "7": text,
        "constant": text,
        "disabled": muted,
    }.items() <= shown.items()
    spoken = {model.index(row, 0).data(): model.index(row, 0).data(ACCESSIBLE_TEXT) for row in range(model.rowCount())}
    assert "unsaved changes" in spoken["Skarn"]
    assert "Not met: Crown goes in" in spoken["Crown"]
    assert "3 problems" in spoken["Bell"]
    assert "1 problem" in spoken["Crown"]  # what was warned of, until the notes are checked
    assert "problem" not in spoken["Off"]
    assert "unsaved" not in spoken["Crown"]
    column = model.column_of("last used")
    used = {model.index(row, 0).data(): model.index(row, column).data() for row in range(model.rowCount())}
    assert used["Skarn"].startswith("1970-01-0")
    assert used["Bell"] == ""
    model.exact = False
    assert "≈ 158" in words_drawn(view)
