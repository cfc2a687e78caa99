"""The one table: sorting, filtering, changes that keep what is chosen, ticks, copying, what is said."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QModelIndex, QPoint, QSettings, Qt
from PySide6.QtGui import QAction, QContextMenuEvent, QGuiApplication
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QApplication, QDockWidget, QHeaderView, QMenu, QPushButton, QTabWidget, QWidget

from lorestudio.domain.records import replace
from lorestudio.ui.shell.qt import (
    ACCESSIBLE_TEXT,
    ALIGNMENT,
    CHECK,
    DISPLAY,
    ENTRY_ID,
    HORIZONTAL,
    ITEM,
    TOOLTIP,
    V_LEFT,
    V_RIGHT,
)
from lorestudio.ui.widgets.cells import FIT, Column, same_words, titled
from lorestudio.ui.widgets.layouts import USUAL_LINE, SearchField, column
from lorestudio.ui.widgets.record_table import (
    ROW_HEIGHT,
    CheckList,
    CheckRow,
    LateTable,
    RecordTable,
    RecordView,
    as_markdown,
    as_text,
    change_table,
)
from lorestudio.ui.widgets.rows import RowList
from tests.ui.conftest import drain
from tests.ui.drawing import drawn

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from lorestudio.ui.shell.theme import Theme


@dataclass(frozen=True)
class Ship:
    id: int
    name: str
    crew: int | None = None
    port: str = "Saltmouth"


SHIPS = (
    Ship(1, "Patient Margaret", 40),
    Ship(2, "Gull", 3, "Dawnkeep"),
    Ship(3, "Heron"),
    Ship(4, "albatross", 12, ""),
)

COLUMNS = (
    Column("Ship", attrgetter("name"), "name", "What it is called", 150, bold=lambda ship: ship.id == 2),
    Column(
        "Crew",
        lambda ship: "" if ship.crew is None else str(ship.crew),
        "crew",
        width=60,
        numeric=True,
        sort=attrgetter("crew"),
        icon=lambda ship: ("warning", "warning") if ship.crew == 3 else None,
        tone=lambda ship: "error" if ship.crew == 3 else "",
    ),
    Column("Port", attrgetter("port"), "port", spoken=lambda ship: f"lies in {ship.port}", tip=lambda _ship: "a port"),
)


def make(theme: Theme | None = None, **more: object) -> RecordTable:
    model = RecordTable(COLUMNS, theme=theme, **{"key": attrgetter("id"), "entry": attrgetter("id")} | more)
    model.tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    model.set_rows(SHIPS)
    return model


def names(model: RecordTable) -> list[str]:
    return [model.index(row, 0).data() for row in range(model.rowCount())]


def test_cells_are_read_off_the_rows(theme: Theme) -> None:
    model = make(theme, spoken=titled(), tip=same_words)
    cell = model.index(1, 1)
    assert [cell.data(role) for role in (DISPLAY, TOOLTIP, ACCESSIBLE_TEXT, ENTRY_ID)] == ["3", "3", "Crew: 3", 2]
    assert cell.data(ITEM) is SHIPS[1]
    assert (cell.data(ALIGNMENT), model.index(1, 0).data(ALIGNMENT)) == (V_RIGHT, V_LEFT)
    assert cell.data(Qt.ItemDataRole.ForegroundRole) == theme.color("error")
    assert not cell.data(Qt.ItemDataRole.DecorationRole).isNull()
    assert model.index(0, 1).data(Qt.ItemDataRole.DecorationRole) is None
    assert model.index(0, 1).data(Qt.ItemDataRole.ForegroundRole) is None
    assert model.index(2, 1).data(ACCESSIBLE_TEXT) == "Crew: nothing"
    assert model.index(0, 2).data(ACCESSIBLE_TEXT) == "lies in Saltmouth"  # a column's own words come first
    assert model.index(0, 2).data(TOOLTIP) == "a port"
    assert model.index(1, 0).data(Qt.ItemDataRole.FontRole).bold()
    assert model.index(0, 0).data(Qt.ItemDataRole.FontRole) is None


@pytest.mark.parametrize("letters", [1.0, 2.0], indirect=True)
@pytest.mark.parametrize("fills", [True, False])
def test_the_last_column_fills_the_room_unless_it_has_a_width(
    letters: float, qtbot: QtBot, theme: Theme, fills: bool
) -> None:
    columns = COLUMNS if fills else (*COLUMNS[:2], replace(COLUMNS[2], width=90))
    model = RecordTable(columns, key=attrgetter("id"))
    model.set_rows(SHIPS)
    view = RecordView(theme, model, "Ships")
    qtbot.addWidget(view)
    assert view.horizontalHeader().stretchLastSection() is fills
    larger = view.fontMetrics().height() / USUAL_LINE
    assert larger == pytest.approx(letters, rel=0.1)
    assert [view.columnWidth(place) for place in range(2)] == [round(150 * larger), round(60 * larger)]


@pytest.mark.parametrize("order", [(0, 1, 2), (1, 0, 2), (1, 2, 0)])
def test_words_stay_readable_in_a_narrow_view_which_is_scrolled(
    qtbot: QtBot, theme: Theme, order: tuple[int, ...]
) -> None:
    columns = [replace(COLUMNS[0], width=0), replace(COLUMNS[1], width=90), replace(COLUMNS[1], width=FIT)]
    model = RecordTable([columns[place] for place in order], key=attrgetter("id"))
    model.set_rows(SHIPS)
    made = RecordView(theme, model, "Ships")
    qtbot.addWidget(made)
    made.show()
    names, least = order.index(0), 16 * made.fontMetrics().averageCharWidth()
    fitting = made.columnWidth(order.index(2))
    for width in (600, 150, 400, 120, 120):
        if made.width() == width:
            model.set_rows(SHIPS, [replace(each, help="anew") for each in model.columns])
        made.resize(width, 300)
        drain()
        assert [made.columnWidth(order.index(place)) for place in (1, 2)] == [90, fitting]
        room = made.viewport().width() - 90 - fitting
        assert made.columnWidth(names) == max(least, room)
        assert (made.horizontalScrollBar().maximum() > 0) is (room < least)
        dragged = made.horizontalHeader().sectionResizeMode(names) is QHeaderView.ResizeMode.Interactive
        assert dragged is (room < least or names == 2)
    made.horizontalHeader().resizeSection(names, 3 * least)  # as somebody drags it
    assert made.columnWidth(names) == 3 * least


def test_headings_say_what_columns_are(qapp: object) -> None:
    model = make()
    assert [model.headerData(place, HORIZONTAL) for place in range(3)] == ["Ship", "Crew", "Port"]
    assert model.headerData(0, HORIZONTAL, TOOLTIP) == "What it is called"
    assert model.headerData(1, HORIZONTAL, ALIGNMENT) == V_RIGHT
    assert model.headerData(3, HORIZONTAL) is None
    assert model.headerData(0, Qt.Orientation.Vertical) is None


@pytest.mark.parametrize(
    ("column", "descending", "expected"),
    [
        (0, False, ["albatross", "Gull", "Heron", "Patient Margaret"]),
        (0, True, ["Patient Margaret", "Heron", "Gull", "albatross"]),
        (1, False, ["Gull", "albatross", "Patient Margaret", "Heron"]),
        (1, True, ["Patient Margaret", "albatross", "Gull", "Heron"]),
        (2, False, ["albatross", "Gull", "Patient Margaret", "Heron"]),
    ],
)
def test_rows_are_sorted_those_without_a_value_last(
    qapp: object, column: int, descending: bool, expected: list[str]
) -> None:
    model = make()
    model.sort(column, Qt.SortOrder.DescendingOrder if descending else Qt.SortOrder.AscendingOrder)
    assert names(model) == expected
    model.set_rows((*SHIPS[1:], SHIPS[0]))
    assert names(model)[0] == expected[0]  # what comes later is sorted too


def test_a_column_that_changes_is_sorted_anew(qapp: object) -> None:
    crew = {1: 1, 2: 2, 3: 3, 4: 4}
    columns = [Column("Ship", attrgetter("name"), "name"), Column("Crew", str, "crew", sort=lambda ship: crew[ship.id])]
    model = RecordTable(columns, key=attrgetter("id"))
    model.set_rows(SHIPS)
    model.sort(1)
    crew[1] = 9
    said: list[tuple[int, int]] = []
    model.dataChanged.connect(lambda first, last: said.append((first.column(), last.column())))
    model.touch_all("name")
    model.touch_all()
    assert said == [(0, 0), (0, 1)]
    assert names(model)[0] == "Patient Margaret"
    model.touch_all("crew")
    assert names(model)[-1] == "Patient Margaret"


def test_one_row_that_says_something_else_is_told_alone(qapp: object) -> None:
    model = make()
    said: list[tuple[int, int, int]] = []
    model.dataChanged.connect(lambda first, last: said.append((first.row(), last.row(), last.column())))
    for key in (SHIPS[1].id, SHIPS[0].id, "nobody"):
        model.touch(key)
    last = model.columnCount() - 1
    assert said == [(1, 1, last), (0, 0, last)]


def test_a_filter_wants_every_word_and_a_test_on_rows_goes_with_it(qapp: object) -> None:
    model = make(text=lambda ship: f"{ship.name} {ship.port}")
    model.set_filter("SALT mar")
    assert names(model) == ["Patient Margaret"]
    model.set_filter("salt")
    model.show_only(lambda ship: ship.crew is None)
    assert names(model) == ["Heron"]
    assert model.filtered
    model.set_filter("")
    model.show_only(None)
    assert (len(model.rows), model.filtered) == (4, False)
    assert (model.place_of(3), model.place_of(9), model.row(9), model.column_of("crew")) == (2, -1, None, 1)


def test_where_no_row_fits_a_filter_a_button_empties_it(qtbot: QtBot, theme: Theme) -> None:
    holder = QWidget()
    qtbot.addWidget(holder)
    model = make(theme, text=attrgetter("name"))
    field, view = SearchField(holder, "Search", changed=model.set_filter), RecordView(theme, model, "Ships", holder)
    view.filtered_by(field)
    column(field, view, of=holder)
    holder.show()
    button = view.findChild(QPushButton)
    assert not button.isVisible()
    field.setText("gull")
    assert (model.rowCount(), button.isVisible()) == (1, False)
    field.setText("gull zzz")
    assert (model.rowCount(), button.isVisible()) == (0, True)
    assert not button.visibleRegion().isEmpty()
    button.click()
    assert (field.text(), model.rowCount(), button.isVisible()) == ("", len(SHIPS), False)
    assert holder.focusWidget() is field
    model.set_rows(())
    assert not button.isVisible(), "nothing is filtered"


def test_thousands_of_rows_are_not_formatted_before_they_are_seen(qapp: object) -> None:
    asked: list[int] = []
    column = Column("Number", lambda row: asked.append(row) or str(row), sort=lambda row: -row)
    model = RecordTable([column], key=int)
    model.set_rows(range(20_000))
    model.sort(0)
    model.show_only(lambda row: row % 2 == 0)
    model.set_rows(range(20_001))
    assert asked == []
    assert model.index(0, 0).data() == "20000"
    assert len(asked) == 1


def told(model: RecordTable) -> list[str]:
    said: list[str] = []
    model.modelReset.connect(lambda: said.append("reset"))
    model.rowsInserted.connect(lambda _parent, first, last: said.append(f"in {first}-{last}"))
    model.changed.connect(lambda: said.append("changed"))
    return said


def test_views_are_told_only_what_changed(qapp: object) -> None:
    model = make()
    said = told(model)
    model.set_rows([replace(ship, crew=1) for ship in SHIPS])
    model.set_rows([*SHIPS, Ship(5, "Tern"), Ship(6, "Skua")])
    model.set_rows([SHIPS[0], SHIPS[3], Ship(5, "Tern"), Ship(6, "Skua")])
    model.set_rows([Ship(7, "Auk")])
    assert said == ["changed", "in 4-5", "changed", "reset", "changed", "reset", "changed"]


def test_beside_the_cells_there_is_nothing_to_show_or_to_sort_by(qapp: object) -> None:
    model, before = make(), [each.name for each in SHIPS]
    model.sort(0, Qt.SortOrder.DescendingOrder)
    assert names(model) != before
    sorted_by, now = model.sorted_by, names(model)
    for place in (-1, len(COLUMNS)):
        model.sort(place)
        assert (model.sorted_by, names(model)) == (sorted_by, now)
    gone = model.index(3, 0)
    model.set_rows(SHIPS[:1])
    assert (model.data(gone), model.data(model.index(-1, 0))) == (None, None)


def test_other_columns_come_with_their_rows(qapp: object) -> None:
    model = make()
    model.set_rows(SHIPS[:2], COLUMNS[1:])
    assert (model.columnCount(), model.rowCount(), model.index(1, 0).data()) == (2, 2, "3")
    assert model.place_of(2) == 1


@pytest.fixture
def view(qtbot: QtBot, theme: Theme) -> RecordView:
    made = RecordView(theme, make(theme), "Ships")
    qtbot.addWidget(made)
    return made


def test_what_is_chosen_stays_chosen(view: RecordView) -> None:
    model = view.model()
    chosen: list[object] = []
    picked: list[object] = []
    view.picked.connect(picked.append)
    view.selectRow(2)
    assert (view.current, picked) == (SHIPS[2], [SHIPS[2]])
    view.chosen.connect(chosen.append)
    other = replace(SHIPS[2], crew=7)
    model.set_rows([SHIPS[0], SHIPS[1], other, SHIPS[3]])
    assert (view.current, chosen[-1]) == (other, other)
    model.sort(0)
    assert view.current is other
    model.set_rows([Ship(8, "Knot"), other])  # all anew
    assert view.current is other
    model.set_rows([Ship(8, "Knot")])
    assert (view.current, chosen[-1]) == (None, None)
    model.set_rows(SHIPS)
    assert view.current is SHIPS[2]  # it is back
    assert picked == [SHIPS[2]]  # nobody has gone anywhere


@pytest.mark.parametrize("in_sight", [True, False])
def test_the_chosen_row_stays_in_sight_in_less_room_unless_it_was_scrolled_away(
    qtbot: QtBot, theme: Theme, in_sight: bool
) -> None:
    model = RecordTable(COLUMNS, key=attrgetter("id"))
    model.set_rows([Ship(place, f"Ship {place}") for place in range(100)])
    made = RecordView(theme, model, "Ships")
    qtbot.addWidget(made)
    made.resize(300, 400)
    made.show()
    made.horizontalHeader().resizeSection(0, 500)
    made.choose(60)
    if not in_sight:
        made.scrollToTop()
    made.horizontalScrollBar().setValue(20)
    made.resize(300, 120)
    assert made.horizontalScrollBar().value() == 20
    row = made.visualRect(model.index(60, 0))
    assert (row.top() >= 0 and row.bottom() < made.viewport().height()) is in_sight
    assert (made.verticalScrollBar().value() == 0) is not in_sight


def test_a_late_table_is_made_when_somebody_sees_it_and_says_what_its_view_says(qtbot: QtBot, theme: Theme) -> None:
    model = RecordTable([Column("Ship", str)], key=str)
    tabs = QTabWidget()
    qtbot.addWidget(tabs)
    model.setParent(tabs)
    late, told = LateTable(theme, model, "Ships", tabs), []
    tabs.addTab(QWidget(), "First")
    tabs.addTab(late, "Ships")
    for signal in (late.chosen, late.picked, late.pressed):
        signal.connect(told.append)
    tabs.show()
    model.set_rows(["Gull", "Heron"])
    assert (late.current, told, late.findChildren(QWidget)) == (None, [None], []), "what is said is said anew"
    tabs.setCurrentWidget(late)
    late.setFocus()
    assert late.view.isVisible()
    assert tabs.focusWidget() is late.view
    told.clear()
    late.view.choose("Heron")
    assert (late.current, told) == ("Heron", ["Heron"])
    late.view.pressed.emit("Gull")
    late.view.picked.emit("Heron")
    assert told == ["Heron", "Gull", "Heron"]


def test_choosing_by_key_is_no_persons_choice(view: RecordView) -> None:
    picked: list[object] = []
    view.picked.connect(picked.append)
    view.choose(4)
    assert (view.current, picked) == (SHIPS[3], [])
    view.choose(99)
    assert view.current is None


def test_what_is_chosen_does_not_hang_on_the_keys_that_are_held(view: RecordView) -> None:
    """Qt's own way adds to a selection, or takes from it, while Ctrl is down."""
    control = Qt.KeyboardModifier.ControlModifier
    QTest.keyPress(view, Qt.Key.Key_Control, control)
    assert QGuiApplication.keyboardModifiers() & control
    view.setSelectionMode(RecordView.SelectionMode.ExtendedSelection)
    for ship in (*SHIPS, *SHIPS):
        view.choose(ship.id)
        assert view.selected_places() == [SHIPS.index(ship)] == [view.currentIndex().row()]
    QTest.keyRelease(view, Qt.Key.Key_Control)


def test_enter_goes_on_and_copy_takes_the_row(view: RecordView) -> None:
    pressed: list[object] = []
    view.pressed.connect(pressed.append)
    QTest.keyClick(view, Qt.Key.Key_Return)
    assert pressed == []  # nothing is chosen
    view.choose(2)
    QTest.keyClick(view, Qt.Key.Key_Return)
    assert pressed == [SHIPS[1]]
    QTest.keyClick(view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == "Ship\tCrew\tPort\nGull\t3\tDawnkeep"
    view.choose(99)
    view.copy(as_markdown)
    assert QGuiApplication.clipboard().text().count("\n") == 6  # all of them


def test_home_and_end_go_to_the_ends_of_the_rows_and_take_all_with_shift(qtbot: QtBot, theme: Theme) -> None:
    made = RecordView(theme, make(theme), "Ships", many=True)
    qtbot.addWidget(made)
    made.show()
    key, shift = Qt.Key, Qt.KeyboardModifier.ShiftModifier
    made.select_places([1], 1)
    made.setCurrentIndex(made.model().index(1, 1))
    for pressed, place in ((key.Key_End, 3), (key.Key_Home, 0)):
        QTest.keyClick(made, pressed)
        assert made.selected_places() == [place]
        assert made.currentIndex().column() == 1, "the keyboard stays in its column"
    QTest.keyClick(made, key.Key_Down)
    QTest.keyClick(made, key.Key_End, shift)
    assert made.selected_places() == [1, 2, 3]
    made.model().set_rows(())
    QTest.keyClick(made, key.Key_End)
    assert made.current is None


def menu_of(view: QWidget) -> QMenu | None:
    return next((each for each in view.findChildren(QMenu) if each.isVisible()), None)


def test_a_row_has_a_menu_by_mouse_and_by_keyboard_which_copies(qtbot: QtBot, theme: Theme) -> None:
    made = RecordView(theme, make(theme), "Ships", many=True)
    qtbot.addWidget(made)
    made.resize(400, 300)
    made.show()
    below, reasons = QPoint(5, 280), QContextMenuEvent.Reason
    for reason, point in ((reasons.Keyboard, QPoint(5, 5)), (reasons.Mouse, below)):
        QApplication.sendEvent(made.viewport(), QContextMenuEvent(reason, point, made.mapToGlobal(point)))
        assert menu_of(made) is None, "there is no row"
    row = made.visualRect(made.model().index(1, 0)).center()
    QTest.mouseClick(made.viewport(), Qt.MouseButton.RightButton, pos=row)
    for reason, point in ((reasons.Mouse, row), (reasons.Keyboard, below)):
        QApplication.sendEvent(made.viewport(), QContextMenuEvent(reason, point, made.viewport().mapToGlobal(point)))
        menu = menu_of(made)
        assert menu is not None
        assert [each.text() for each in menu.actions() if each.text()] == ["Copy\tCtrl+C", "Choose all\tCtrl+A"]
        assert abs(menu.y() - made.viewport().mapToGlobal(row).y()) <= ROW_HEIGHT
        QGuiApplication.clipboard().clear()
        QTest.keyClick(menu, Qt.Key.Key_Down)
        QTest.keyClick(menu, Qt.Key.Key_Return)
        assert QGuiApplication.clipboard().text() == "Ship\tCrew\tPort\nGull\t3\tDawnkeep"
        drain()
        assert made.findChildren(QMenu) == []


def test_the_right_button_beside_the_rows_offers_only_what_is_about_none_of_them(qtbot: QtBot, theme: Theme) -> None:
    view, about, elsewhere = RowList(), QAction("About this row"), QAction("Add one")
    qtbot.addWidget(view)
    view.show()
    view.addAction(about)
    beside = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, QPoint(5, 5), view.viewport().mapToGlobal(QPoint(5, 5)))
    QApplication.sendEvent(view.viewport(), beside)
    assert menu_of(view) is None
    view.elsewhere = [elsewhere]
    QApplication.sendEvent(view.viewport(), beside)
    assert [each.text() for each in menu_of(view).actions()] == ["Add one"]
    menu_of(view).close()


def test_the_menu_of_an_entry_offers_what_its_dock_does_with_one_and_no_other_does(qtbot: QtBot, theme: Theme) -> None:
    dock = QDockWidget()
    qtbot.addWidget(dock)
    dock.addAction(QAction("Pin", dock))
    no_entry = SHIPS[1]
    model = make(theme, entry=lambda ship: -1 if ship is no_entry else ship.id)
    made = RecordView(theme, model, "Ships")
    dock.setWidget(made)
    dock.show()
    for place, words in ((0, ["Pin", "Copy"]), (1, ["Copy"])):
        point = made.visualRect(model.index(place, 0)).center()
        event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, point, made.viewport().mapToGlobal(point))
        QApplication.sendEvent(made.viewport(), event)
        menu = menu_of(made)
        assert menu is not None
        assert [each.text().partition("\t")[0] for each in menu.actions() if each.text()] == words
        menu.close()
        drain()


def test_a_table_is_written_as_text_and_markdown(qapp: object) -> None:
    model = make()
    model.set_rows([Ship(1, "a|b\nc", -5, "=1+1"), Ship(2, "+ Gull", None, "@home")])
    rows = model.texts()
    assert as_text(rows) == "Ship\tCrew\tPort\na|b c\t-5\t=1+1\n+ Gull\t\t@home"
    assert as_markdown(rows).splitlines()[:3] == [
        "| Ship | Crew | Port |",
        "| --- | --- | --- |",
        "| a\\|b c | -5 | =1+1 |",
    ]
    assert model.texts([1])[1][0] == "+ Gull"


def test_columns_are_chosen_and_remembered(qtbot: QtBot, theme: Theme, tmp_path: Path) -> None:
    settings = QSettings(str(tmp_path / "w.ini"), QSettings.Format.IniFormat)

    def opened() -> RecordView:
        made = RecordView(theme, make(theme), "Ships", many=True, arranged=True)
        qtbot.addWidget(made)
        made.keep_in(settings, "ships/columns")
        return made

    first = opened()
    assert first.horizontalHeader().isSortIndicatorShown()
    first.horizontalHeader().setSortIndicator(1, Qt.SortOrder.DescendingOrder)
    first.show_column("name", shown=False)  # the first one stays
    first.show_column("port", shown=False)
    assert [action.isChecked() for action in first.columns_menu().actions()] == [True, True, False]
    second = opened()
    assert second.shown_columns() == ("name", "crew")
    assert second.model().sorted_by == (1, True)
    assert names(second.model())[0] == "Patient Margaret"


@pytest.mark.dressed
def test_a_heading_keeps_its_letters_beside_the_arrow_of_the_order(qtbot: QtBot, theme: Theme) -> None:
    model = make(theme)
    made = RecordView(theme, model, "Ships", arranged=True)
    qtbot.addWidget(made)
    made.show()
    head = made.horizontalHeader()

    def begins() -> float:
        return next(each.box.left() for each in drawn(head) if each.words.strip("\u00a0 ") == "Crew")

    before = begins()
    QTest.mouseClick(head.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(head.sectionPosition(1) + 20, 8))
    assert model.sorted_by == (1, False)
    assert begins() <= before - 8, "the arrow is painted where its last letters stood"
    wide = RecordTable([replace(COLUMNS[1], title="Crew on board", width=30), COLUMNS[2]], key=attrgetter("id"))
    made = RecordView(theme, wide, "Ships", arranged=True)
    qtbot.addWidget(made)
    words = made.horizontalHeader().fontMetrics().horizontalAdvance("Crew on board")
    assert made.columnWidth(0) >= words + 12


@pytest.mark.dressed
def test_cells_begin_and_end_as_their_heads_and_keep_apart(qtbot: QtBot, theme: Theme) -> None:
    """A number and the words of the next column were read as one: “1 3 The Kite”."""
    columns = [
        Column("Crew", lambda _ship: "88", numeric=True, width=60), Column("Port", lambda _ship: "Skarn", width=80),
    ]  # fmt: skip
    model = RecordTable(columns, theme=theme)
    model.set_rows(SHIPS[:1])
    made = RecordView(theme, model, "Ships")
    qtbot.addWidget(made)
    made.show()
    begins = {each.words: each.box.left() for each in drawn(made)}
    assert begins["Skarn"] - begins["88"] >= made.fontMetrics().horizontalAdvance("88") + 11
    assert begins["Skarn"] == pytest.approx(begins["Port"], abs=1)


def test_many_rows_can_be_selected(qtbot: QtBot, theme: Theme) -> None:
    made = RecordView(theme, make(theme), "Ships", many=True)
    qtbot.addWidget(made)
    made.select_places([0, 2, 3], 2)
    assert made.selected_places() == [0, 2, 3]
    assert made.currentIndex().row() == 2


@pytest.mark.parametrize("arranged", [True, False])
def test_all_rows_are_chosen_without_the_heading_asking_each(
    qtbot: QtBot, theme: Theme, monkeypatch: pytest.MonkeyPatch, *, arranged: bool
) -> None:
    asked, flags = [], RecordTable.flags
    monkeypatch.setattr(RecordTable, "flags", lambda self, index: asked.append(1) or flags(self, index))
    model = RecordTable(COLUMNS, key=attrgetter("id"))
    made = RecordView(theme, model, "Ships", many=True, arranged=arranged)
    qtbot.addWidget(made)
    model.set_rows([replace(SHIPS[0], id=place) for place in range(1000)])
    made.show()
    asked.clear()
    made.selectAll()
    made.horizontalHeader().grab()
    assert len(asked) < 100
    assert made.selected_places() == [*range(1000)]


# ---- ticks ----------------------------------------------------------------------------------------------------------

CHANGES = [CheckRow("scan", "Scan depth", "4", "8", "how far"), CheckRow("cap", "Entry cap", "5", "9")]


def test_rows_are_ticked_by_keyboard_and_by_buttons(qtbot: QtBot, theme: Theme) -> None:
    holder = CheckList(theme, change_table(("What", "Now", "Then"), None), "Changes")
    qtbot.addWidget(holder)
    model, ticks = holder.model, []
    model.ticked.connect(lambda: ticks.append(model.chosen))
    assert not holder.buttons[0].isEnabled()
    model.set_rows(CHANGES)
    assert holder.amount.text() == "0 of 2 chosen"
    holder.view.setCurrentIndex(model.index(1, 2))
    QTest.keyClick(holder.view, Qt.Key.Key_Space)
    assert (model.chosen, holder.amount.text()) == ({"cap"}, "1 of 2 chosen")
    assert model.index(1, 0).data(CHECK) == Qt.CheckState.Checked
    assert model.index(1, 1).data(CHECK) is None
    QTest.keyClick(holder.view, Qt.Key.Key_Space)
    holder.buttons[0].click()
    assert model.chosen == {"scan", "cap"}
    model.set_rows(CHANGES[:1])
    assert (model.chosen, holder.amount.text()) == ({"scan"}, "1 of 1 chosen")  # what is gone is not ticked
    holder.buttons[1].click()
    assert ticks == [{"cap"}, set(), {"scan", "cap"}, {"scan"}, set()]
    assert model.index(0, 0).data(ACCESSIBLE_TEXT) == "Scan depth: 4, then 8"
    assert model.index(0, 0).data(TOOLTIP) == "4 → 8\nhow far"


def test_differences_that_are_only_read_have_no_boxes(qtbot: QtBot, theme: Theme) -> None:
    holder = CheckList(theme, change_table(("What", "A", "B"), None, checkable=False), "Differences")
    qtbot.addWidget(holder)
    holder.model.set_rows(CHANGES)
    assert holder.amount.text() == "2 differences"
    assert holder.model.index(0, 0).data(CHECK) is None
    assert not holder.model.setData(holder.model.index(0, 0), Qt.CheckState.Checked, CHECK)
    QTest.keyClick(holder.view, Qt.Key.Key_Space)
    assert holder.model.chosen == frozenset()


def test_rows_are_dragged_where_the_order_is_the_persons(theme: Theme, qapp: object) -> None:
    table = RecordTable([Column("Word", str)], theme=theme, key=str)
    table.set_rows(("a", "b", "c", "d"))
    dropped: list[tuple[list[int], int]] = []
    table.dropped.connect(lambda rows, place: dropped.append((rows, place)))
    move, drag, nowhere = Qt.DropAction.MoveAction, Qt.ItemFlag.ItemIsDragEnabled, QModelIndex()
    assert not table.flags(table.index(0, 0)) & drag
    assert table.flags(nowhere) == Qt.ItemFlag.NoItemFlags
    data = table.mimeData([table.index(2, 0), table.index(1, 0)])
    assert not table.dropMimeData(data, move, 0, 0, nowhere)
    table.movable = lambda: True
    assert table.flags(table.index(0, 0)) & drag
    assert table.flags(nowhere) == Qt.ItemFlag.ItemIsDropEnabled
    assert table.supportedDropActions() == move
    for row, parent, place in ((0, nowhere, 0), (-1, table.index(3, 0), 3), (-1, nowhere, 4)):
        data = table.mimeData([table.index(2, 0), table.index(1, 0)])
        assert not table.dropMimeData(data, move, row, 0, parent)
        assert dropped == [([1, 2], place)]
        dropped.clear()
    table.dropMimeData(data, move, 0, 0, nowhere)  # what was dropped once is not dropped again
    assert dropped == []


def test_rows_that_are_sorted_already_stay_so_and_their_heading_says_it(
    qtbot: QtBot, theme: Theme, tmp_path: Path
) -> None:
    model = make(theme)
    model.sort(1, Qt.SortOrder.DescendingOrder)
    view = RecordView(theme, model, "Ships", arranged=True)
    qtbot.addWidget(view)
    view.keep_in(QSettings(str(tmp_path / "w.ini"), QSettings.Format.IniFormat), "ships/columns")
    head = view.horizontalHeader()
    assert (head.sortIndicatorSection(), head.sortIndicatorOrder()) == (1, Qt.SortOrder.DescendingOrder)
    assert names(model)[0] == "Patient Margaret"


def test_a_heading_is_dragged_to_another_place_and_stays_there(qtbot: QtBot, theme: Theme, tmp_path: Path) -> None:
    settings = QSettings(str(tmp_path / "w.ini"), QSettings.Format.IniFormat)
    view = RecordView(theme, make(theme), "Ships", arranged=True)
    qtbot.addWidget(view)
    view.keep_in(settings, "ships/columns")
    view.resize(500, 200)
    view.show()
    head, left = view.horizontalHeader(), Qt.MouseButton.LeftButton
    start, end = (QPoint(head.sectionViewportPosition(place) + 30, 8) for place in (1, 0))
    QTest.mousePress(head.viewport(), left, pos=start)
    for share in (0.7, 0.4, 0):
        QTest.mouseMove(head.viewport(), (start - end) * share + end)
    QTest.mouseRelease(head.viewport(), left, pos=end)
    assert view.shown_columns() == ("crew", "name", "port")
    again = RecordView(theme, make(theme), "Ships", arranged=True)
    qtbot.addWidget(again)
    again.keep_in(settings, "ships/columns")
    assert again.shown_columns() == ("crew", "name", "port")
