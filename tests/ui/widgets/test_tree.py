"""The one tree: rows below rows, what they say, boxes that stand for those below."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QItemSelectionModel, QModelIndex, QPoint, QRectF, QSize, Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication, QStandardItem, QStandardItemModel
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QApplication, QMenu, QStyledItemDelegate, QStyleOptionViewItem

from lorestudio.ui.shell.qt import (
    ACCESSIBLE_DESCRIPTION,
    ACCESSIBLE_TEXT,
    CHECK,
    DISPLAY,
    ENTRY_ID,
    HORIZONTAL,
    ITEM,
    TOOLTIP,
)
from lorestudio.ui.shell.theme import glyph
from lorestudio.ui.widgets.cells import Column, titled
from lorestudio.ui.widgets.rows import RowTree
from lorestudio.ui.widgets.tree import (
    BEFORE,
    ItemRow,
    PlaceRow,
    PlaceTree,
    PlaceView,
    RecordTree,
    RecordTreeView,
    _look,
    shown_part,
)
from tests.ui.conftest import drain
from tests.ui.drawing import PaintWatch, drawn, image_of, words_drawn

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from lorestudio.ui.shell.theme import Theme


def harbour() -> ItemRow:
    root, quay = ItemRow(None), ItemRow(("Quay", 2))
    quay.add(ItemRow(("Gull", 3)), ItemRow(("Heron", 4)))
    root.add(quay, ItemRow(("Light", 5)))
    return root


def make(theme: Theme | None = None) -> RecordTree[ItemRow]:
    columns = (
        Column("Name", lambda row: row.item[0], icon=lambda _row: ("folder", "accent")),
        Column("Number", lambda row: str(row.item[1]), numeric=True),
    )
    model = RecordTree(
        ItemRow(None), columns, theme=theme, spoken=titled(), about=lambda row: f"about {row.item[0]}",
        tip=lambda row, column: f"{column.title} of {row.item[0]}", entry=lambda row: row.item[1],
    )  # fmt: skip
    model.tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    model.show_root(harbour())
    return model


def test_beyond_the_last_row_and_column_there_is_nothing(theme: Theme) -> None:
    model = make(theme)
    quay = model.index(0, 0)
    there = [
        (row, column) for row in range(-1, 4) for column in range(-1, 3) if model.index(row, column, quay).isValid()
    ]
    assert there == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert (model.rowCount(model.index(0, 1)), model.rowCount(quay)) == (0, 2)
    assert [model.hasChildren(each) for each in (model.index(0, 1), quay, model.index(0, 0, quay))] == [
        False,
        True,
        False,
    ]
    assert model.headerData(2, HORIZONTAL) is model.headerData(0, Qt.Orientation.Vertical) is None
    assert (model.flags(QModelIndex()), QModelIndex().data()) == (Qt.ItemFlag.NoItemFlags, None)


def test_rows_lie_below_rows(theme: Theme) -> None:
    model = make(theme)
    quay = model.index(0, 0)
    assert (model.rowCount(), model.rowCount(quay), model.columnCount()) == (2, 2, 2)
    heron = model.index(1, 1, quay)
    assert model.parent(heron) == quay
    assert not model.parent(quay).isValid()
    assert model.node(heron).item == ("Heron", 4)
    assert model.node(QModelIndex()) is model.root
    assert model.index_of(model.node(heron)) == model.index(1, 0, quay)
    assert not model.index_of(None).isValid()
    assert not model.index(5, 0).isValid()
    assert [row.item[0] for row in model.root.below()] == ["Quay", "Gull", "Heron", "Light"]
    said = [heron.data(role) for role in (DISPLAY, ACCESSIBLE_TEXT, TOOLTIP, ACCESSIBLE_DESCRIPTION, ENTRY_ID)]
    assert said == ["4", "Number: 4", "Number of Heron", "about Heron", 4]
    assert heron.data(ITEM) is model.node(heron)
    assert model.headerData(1, HORIZONTAL) == "Number"
    assert not quay.data(Qt.ItemDataRole.DecorationRole).isNull()


def test_a_refresh_reaches_every_level(theme: Theme) -> None:
    model = make(theme)
    said: list[tuple[int, int, str]] = []
    model.dataChanged.connect(lambda a, b: said.append((a.row(), b.row(), model.parent(a).data() or "")))
    model.refresh()
    assert said == [(0, 1, ""), (0, 1, "Quay")]


def test_enter_goes_on_with_a_row(qtbot: QtBot, theme: Theme) -> None:
    model = make(theme)
    view = RecordTreeView(theme, model, "Harbour")
    qtbot.addWidget(view)
    pressed: list[object] = []
    view.pressed.connect(pressed.append)
    view.setCurrentIndex(model.index(1, 0))
    QTest.keyClick(view, Qt.Key.Key_Return)
    assert [row.item[0] for row in pressed] == ["Light"]
    view.expandAll()
    assert not view.grab().isNull()


def copied(view: RecordTreeView) -> list[str]:
    QTest.keyClick(view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    return QGuiApplication.clipboard().text().split("\n")


def test_whole_rows_are_copied_one_or_all_in_sight(qtbot: QtBot, theme: Theme) -> None:
    model = make(theme)
    view = RecordTreeView(theme, model, "Harbour")
    qtbot.addWidget(view)
    view.setCurrentIndex(model.index(1, 0))
    assert copied(view) == ["Name\tNumber", "Light\t5"]
    QTest.keyClick(view, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    assert copied(view) == ["Name\tNumber", "Quay\t2", "Light\t5"]
    view.expandAll()
    QTest.keyClick(view, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    everything = ["Name\tNumber", "Quay\t2", "Gull\t3", "Heron\t4", "Light\t5"]
    assert copied(view) == everything
    view.clearSelection()
    assert copied(view) == everything
    found = PlaceView(theme, places(), "Found")
    qtbot.addWidget(found)
    found.expandAll()
    QTest.keyClick(found, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    assert copied(found) == ["Bell.md", "a gull cries", "no gull"]  # its column has no heading


def test_all_that_is_unfolded_is_chosen_without_asking_each_row_for_the_one_above(
    qtbot: QtBot, theme: Theme, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = ItemRow(None)
    for name in "abc":
        group = ItemRow((name, 0))
        root.add(group)
        group.add(*(ItemRow((name, place)) for place in range(500)))
    asked, parent = [], RecordTree.parent
    monkeypatch.setattr(RecordTree, "parent", lambda self, *index: asked.append(1) or parent(self, *index))
    model = make(theme)
    model.show_root(root)
    view = RecordTreeView(theme, model, "Rows")
    qtbot.addWidget(view)
    view.expand(model.index_of(root.children[0]))
    view.expand(model.index_of(root.children[2]))
    asked.clear()
    view.selectAll()
    assert len(asked) < 100
    unfolded = [*root.children, *root.children[0].children, *root.children[2].children]
    assert set(map(id, model.rows_in(view.selectionModel().selection()))) == set(map(id, unfolded))
    assert all(view.selectionModel().isRowSelected(row.row, model.index_of(row.above)) for row in unfolded)
    view.expandAll()
    view.selectAll()
    assert len(model.rows_in(view.selectionModel().selection())) == 1503
    model.show_root(ItemRow(None))
    view.selectAll()
    assert model.rows_in(view.selectionModel().selection()) == []


def test_a_row_of_a_tree_has_the_menu_of_all_rows(qtbot: QtBot, theme: Theme) -> None:
    view = RecordTreeView(theme, make(theme), "Harbour")
    qtbot.addWidget(view)
    view.setCurrentIndex(view.model().index(1, 0))
    event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, QPoint(0, 0), QPoint(0, 0))
    QApplication.sendEvent(view, event)
    (menu,) = (each for each in view.findChildren(QMenu) if each.isVisible())
    assert [each.text() for each in menu.actions() if each.text()] == ["Copy\tCtrl+C", "Choose all\tCtrl+A"]
    QTest.keyClick(menu, Qt.Key.Key_Down)
    QTest.keyClick(menu, Qt.Key.Key_Return)
    assert QGuiApplication.clipboard().text().splitlines() == ["Name\tNumber", "Light\t5"]


@pytest.mark.parametrize("plain", [True, False])
def test_the_chosen_row_stays_in_sight_where_something_unfolds_below(
    qtbot: QtBot, theme: Theme, *, plain: bool
) -> None:
    model = make(theme)
    root = ItemRow(None)
    root.add(*(ItemRow((f"Ship {place}", place)) for place in range(50)))
    model.show_root(root)
    view = RowTree() if plain else RecordTreeView(theme, model, "Harbour")
    view.setModel(model)
    qtbot.addWidget(view)
    view.resize(300, 600)
    view.show()
    row = model.index(10, 0)
    view.setCurrentIndex(row)
    assert view.viewport().rect().contains(view.visualRect(row))
    view.resize(300, 100)
    assert view.viewport().rect().contains(view.visualRect(row))


class Wrapping(QStyledItemDelegate):
    """A row that needs as much height as there is to say at the time."""

    high = 20

    def sizeHint(self, _option: QStyleOptionViewItem, index: QModelIndex) -> QSize:  # noqa: N802 (Qt's name)
        return QSize(100, self.high if index.row() == 1 else 20)


def test_the_chosen_row_stays_in_sight_where_rows_above_get_higher(qtbot: QtBot) -> None:
    model, view = QStandardItemModel(60, 1), RowTree()
    view.setItemDelegate(wrapping := Wrapping(view))
    view.setModel(model)
    qtbot.addWidget(view)
    view.resize(300, 300)
    view.show()
    drain()
    for row, stays in ((10, True), (59, False)):
        view.setCurrentIndex(model.index(row, 0))
        view.scrollToTop()
        assert view.viewport().rect().contains(view.visualRect(view.currentIndex())) == stays
        wrapping.high += 100
        view.scheduleDelayedItemsLayout()
        drain()
        assert view.viewport().rect().contains(view.visualRect(view.currentIndex())) == stays


def test_what_is_closed_around_the_chosen_row_stays_closed(qtbot: QtBot) -> None:
    model, view = QStandardItemModel(), RowTree()
    model.appendRow(above := QStandardItem("Places"))
    above.appendRow(QStandardItem("Bell"))
    view.setModel(model)
    qtbot.addWidget(view)
    view.show()
    view.expandAll()
    drain()
    view.setCurrentIndex(above.child(0).index())
    view.collapseAll()
    drain()
    view.resize(view.width(), view.height() - 40)
    assert not view.isExpanded(above.index())


def test_a_row_whose_words_wrap_is_as_high_as_they_need(qtbot: QtBot, theme: Theme) -> None:
    """Qt itself leaves such rows one line high in a tree, whatever stands in them."""
    told = "cooldowns, warmups and logs as earlier turns left them, and other random numbers next"
    root = harbour()
    root.children[0].add(ItemRow((told, 1)), ItemRow(("short", 2)))
    model = make(theme)
    model.show_root(root)
    view = RecordTreeView(theme, model, "Harbour")
    qtbot.addWidget(view)
    view.setUniformRowHeights(False)
    view.setWordWrap(True)
    view.setColumnWidth(0, 160)
    view.expandAll()
    view.resize(400, 400)
    view.show()
    drain()
    above = model.index(0, 0)
    *_, long, short = (view.visualRect(model.index(row, 0, above)) for row in range(model.rowCount(above)))
    wrapped = view.fontMetrics().boundingRect(0, 0, long.width(), 1000, Qt.TextFlag.TextWordWrap, told)
    assert wrapped.height() > 3 * view.fontMetrics().height()
    assert wrapped.height() <= long.height() < wrapped.height() + 3 * view.fontMetrics().height()
    assert short.height() == view.visualRect(above).height(), "no higher than a row is that has nothing to wrap"


def places() -> PlaceTree:
    model = PlaceTree()
    model.tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    lines = [PlaceRow("", "a gull cries", 2, 6, line=3, checked=True), PlaceRow("", "no gull", 3, 7, checked=False)]
    group = PlaceRow("Bell.md")
    group.add(*lines)
    model.set_groups([group])
    return model


def test_the_box_of_a_group_stands_for_its_lines(qapp: object) -> None:
    model = places()
    group = model.index(0, 0)
    ticks: list[bool] = []
    model.checks_changed.connect(lambda: ticks.append(True))
    states = Qt.CheckState
    assert group.data(CHECK) == states.PartiallyChecked
    assert model.setData(group, states.Checked.value, CHECK)
    assert [row.checked for row in model.lines()] == [True, True]
    assert group.data(CHECK) == states.Checked
    model.set_checked(list(model.lines())[:1], checked=False)
    assert model.index(0, 0, group).data(CHECK) == states.Unchecked
    assert len(ticks) == 2
    model.append([PlaceRow("Skarn.md", "says", key=7)])
    assert model.index(1, 0).data(CHECK) is None
    assert not model.setData(model.index(1, 0), states.Checked.value, CHECK)
    assert [row.title for row in model.groups] == ["Bell.md", "Skarn.md"]
    model.set_groups(())
    assert model.rowCount() == 0


def test_places_say_where_they_are_and_what_becomes_of_them(qapp: object) -> None:
    model = places()
    group = model.index(0, 0)
    assert group.data(ACCESSIBLE_TEXT) == "Bell.md, 2"
    line = model.index(0, 0, group)
    assert line.data(ACCESSIBLE_TEXT) == "line 3, a gull cries"
    model.node(line).new_text = ""
    assert line.data(ACCESSIBLE_TEXT) == "line 3, a gull cries, becomes nothing"
    assert line.data(DISPLAY) == "a gull cries"


def test_a_long_line_is_shown_from_shortly_before_what_was_found() -> None:
    text = "   " + "word " * 30 + "gull at the end"
    start = text.index("gull")
    shown, first, last = shown_part(PlaceRow("", text, start, start + 4))
    assert shown[first:last] == "gull"
    assert shown.startswith("…")
    assert first <= 34
    assert shown_part(PlaceRow("", "  gull", 2, 6)) == ("gull", 0, 4)


LONG = "word " * 30


@pytest.mark.parametrize(
    ("text", "found", "begins"),
    [
        ("The gate is shut.", "gate", "The gate"),
        ("    indented gate", "gate", "indented gate"),
        ("  gate", " gate", " gate"),  # what was found begins in the indentation
        (f"{LONG}gate and more", "gate", "…word"),
        (f"{'x' * 90}gate", "gate", f"…{'x' * BEFORE}gate"),  # no space to cut at
        (f"{'y' * (BEFORE + 4)} gate", "gate", "y" * (BEFORE + 4)),  # a short line is shown whole
        (f"gate {LONG}", "gate", "gate word"),
    ],
)
def test_the_part_of_a_line_around_what_was_found(text: str, found: str, begins: str) -> None:
    start = text.index(found)
    part, first, last = shown_part(PlaceRow("", text, start, start + len(found)))
    assert part[first:last] == found
    assert part.startswith(begins)
    assert first <= BEFORE + 5


def test_space_ticks_and_enter_goes_there(qtbot: QtBot, theme: Theme) -> None:
    model = places()
    view = PlaceView(theme, model, "Found")
    qtbot.addWidget(view)
    view.expandAll()
    view.resize(400, 200)
    entered: list[object] = []
    view.entered.connect(lambda index: entered.append(model.place(index)))
    line = model.index(0, 0, model.index(0, 0))
    view.setCurrentIndex(line)
    QTest.keyClick(view, Qt.Key.Key_Space)
    assert model.place(line).checked is False
    QTest.keyClick(view, Qt.Key.Key_Return)
    assert entered == [model.place(line)]


def test_a_click_on_the_box_ticks_and_one_beside_it_goes_there(qtbot: QtBot, theme: Theme) -> None:
    model = places()
    model.append([PlaceRow("Skarn.md", "says", key=7)])
    view = PlaceView(theme, model, "Found")
    qtbot.addWidget(view)
    view.expandAll()
    view.resize(400, 200)
    view.show()
    entered: list[object] = []
    view.entered.connect(lambda index: entered.append(model.place(index)))
    line, plain = model.index(0, 0, model.index(0, 0)), model.index(1, 0)

    none, shift = Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier

    def click(
        index: QModelIndex, across: int, button: Qt.MouseButton = Qt.MouseButton.LeftButton,
        held: Qt.KeyboardModifier = none,
    ) -> None:  # fmt: skip
        box = view.visualRect(index)
        QTest.mouseClick(view.viewport(), button, held, QPoint(box.left() + across, box.center().y()))

    click(line, 60, held=shift)  # it chooses several
    click(plain, 60, held=Qt.KeyboardModifier.ControlModifier)
    assert entered == []
    click(line, 8)
    assert (model.place(line).checked, entered) == (False, [])
    click(line, 8, Qt.MouseButton.RightButton)
    assert (model.place(line).checked, entered) == (False, [])
    click(line, 60)
    assert (model.place(line).checked, entered) == (False, [model.place(line)])
    click(plain, 8)  # it has no box
    assert entered[1:] == [model.place(plain)]


def test_a_place_is_drawn_with_what_was_found_and_what_takes_its_place(theme: Theme, qtbot: QtBot) -> None:
    group = PlaceRow("Gulls")
    group.add(PlaceRow("", "the gull cries", 4, 8), PlaceRow("", "the gull cries", 4, 8, new_text="heron"))
    model = PlaceTree()
    model.set_groups([group])
    view = PlaceView(theme, model, "Places")
    qtbot.addWidget(view)
    view.resize(400, 200)
    view.expandAll()
    texts = [each for each in drawn(view) if each.kind == "text"]
    words = [each.words.strip() for each in texts]
    assert sorted(words) == ["2", "Gulls", "cries", "cries", "gull", "gull", "heron", "the", "the"]
    found, struck = (each for each in texts if each.words.strip() == "gull")
    assert found.fill == theme.color("on_mark").name()
    assert struck.fill == theme.color("text").name()
    grounds = [each.fill for each in drawn(view)]
    assert [grounds.count(theme.color(name).name()) for name in ("mark", "error_soft", "good_soft")] == [1, 1, 1]
    marked = [[(each.text, each.ground, each.struck) for each in _look(row).strips[0].left] for row in group.children]
    assert marked[0][1] == ("gull", "mark", False)
    assert (marked[1][1], marked[1][3]) == (("gull", "error_soft", True), ("heron", "good_soft", False))


def test_a_chevron_stands_before_each_row_that_can_be_opened_and_says_whether_it_is(theme: Theme, qtbot: QtBot) -> None:
    root, quay, pier = ItemRow(None), ItemRow(("Quay", 2)), ItemRow(("Pier", 3))
    root.add(quay, ItemRow(("Light", 5)))
    quay.add(pier)
    pier.add(ItemRow(("Gull", 4)))
    model = make(theme)
    model.show_root(root)
    view = RecordTreeView(theme, model, "Harbour")
    qtbot.addWidget(view)
    view.resize(400, 200)
    closed, opened = (image_of(glyph(f"chevron-{way}", theme.palette.text_muted, 12)) for way in ("right", "down"))

    def signs() -> list[tuple[str, QRectF]]:
        kinds = {closed: "closed", opened: "open"}
        return [(kinds[each.image], each.box) for each in drawn(view.viewport()) if each.image in kinds]

    assert [kind for kind, _box in signs()] == ["closed"]
    view.expand(model.index_of(quay))
    assert [kind for kind, _box in signs()] == ["open", "closed"]
    for row, (_kind, box) in zip((quay, pier), signs(), strict=True):
        cell = view.visualRect(model.index_of(row))
        assert cell.left() - view.indentation() <= box.left() < box.right() <= cell.left()
        assert box.center().y() == pytest.approx(QRectF(cell).center().y(), abs=1)


def test_a_double_click_goes_on_with_a_row(qtbot: QtBot, theme: Theme) -> None:
    model = make(theme)
    view = RecordTreeView(theme, model, "Harbour")
    qtbot.addWidget(view)
    pressed: list[object] = []
    view.pressed.connect(pressed.append)
    view.resize(400, 200)
    view.show()
    place = view.visualRect(model.index(1, 0)).center()
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert pressed == []
    qtbot.mouseDClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert [row.item[0] for row in pressed] == ["Light"]


def test_enter_and_a_double_click_open_and_close_a_row_with_others_below_it(theme: Theme, qtbot: QtBot) -> None:
    model = make(theme)
    view = RecordTreeView(theme, model, "Harbour")
    qtbot.addWidget(view)
    pressed: list[object] = []
    view.pressed.connect(pressed.append)
    view.resize(400, 200)
    view.show()
    quay = model.index(0, 0)
    view.setCurrentIndex(quay)
    QTest.keyClick(view, Qt.Key.Key_Return)
    assert view.isExpanded(quay)
    spot = view.visualRect(model.index(0, 1)).center()  # its other cells stand for it, too
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=spot)
    assert view.isExpanded(quay)
    qtbot.mouseDClick(view.viewport(), Qt.MouseButton.LeftButton, pos=spot)
    assert not view.isExpanded(quay)
    assert pressed == []


def test_what_the_theme_changes_is_drawn_anew(qtbot: QtBot, theme: Theme) -> None:
    view = RecordTreeView(theme, make(theme), "Harbour")
    qtbot.addWidget(view)
    view.show()
    qtbot.waitExposed(view)
    drain()
    painted = PaintWatch(view.viewport())
    theme.choose("dark")
    qtbot.waitUntil(lambda: painted.seen > 0)


def test_tabs_are_a_space_and_new_lines_of_a_replacement_too(theme: Theme, qtbot: QtBot) -> None:
    group = PlaceRow("Gulls")
    group.add(PlaceRow("Key", "the\tgull", 4, 8, icon="entry", after="twice", new_text="a\nheron"))
    model = PlaceTree()
    model.set_groups([group])
    view = PlaceView(theme, model, "Places")
    qtbot.addWidget(view)
    view.resize(500, 200)
    view.expandAll()
    texts = {each.words.strip(): each for each in drawn(view.viewport()) if each.kind == "text"}
    assert set(texts) == {"Gulls", "1", "Key", "the", "gull", "a heron", "twice"}
    assert texts["twice"].fill == theme.color("text_muted").name()
    row = view.visualRect(model.index(0, 0, model.index(0, 0)))
    icon = image_of(glyph("entry", theme.palette.text_muted, 13))
    assert [each.box.left() < texts["Key"].box.left() for each in drawn(view.viewport()) if each.image == icon] == [
        True
    ]
    assert row.right() - 60 < texts["twice"].box.left() < row.right()


def test_the_title_of_a_row_that_has_text_is_not_bold() -> None:
    """A group's title is, and that of a row which has nothing but its title."""
    rows = [PlaceRow("Bell.md"), PlaceRow("Bell.md", "the gull", 4, 8), PlaceRow("Bell.md", children=[PlaceRow("x")])]
    bold = [_look(row).strips[0].left[0].bold for row in rows]
    assert bold == [True, False, True]


def test_a_key_that_is_not_of_places_is_left_to_the_tree(qtbot: QtBot, theme: Theme) -> None:
    model = places()
    view = PlaceView(theme, model, "Found")
    qtbot.addWidget(view)
    view.setCurrentIndex(model.index(0, 0))
    entered: list[object] = []
    view.entered.connect(entered.append)
    qtbot.keyClick(view, Qt.Key.Key_Right)
    assert view.isExpanded(model.index(0, 0))
    qtbot.keyClick(view, Qt.Key.Key_Down)
    assert view.currentIndex() == model.index(0, 0, model.index(0, 0))
    assert entered == []


def test_space_on_a_row_without_a_box_does_nothing(qtbot: QtBot, theme: Theme) -> None:
    model = PlaceTree()
    model.set_groups([PlaceRow("Skarn.md", "says")])
    view = PlaceView(theme, model, "Found")
    qtbot.addWidget(view)
    view.setCurrentIndex(model.index(0, 0))
    ticks: list[bool] = []
    model.checks_changed.connect(lambda: ticks.append(True))
    qtbot.keyClick(view, Qt.Key.Key_Space)
    assert (ticks, model.groups[0].checked) == ([], None)


def test_a_click_below_the_rows_goes_nowhere(qtbot: QtBot, theme: Theme) -> None:
    model = places()
    view = PlaceView(theme, model, "Found")
    qtbot.addWidget(view)
    view.resize(400, 300)
    view.show()
    entered: list[object] = []
    view.entered.connect(entered.append)
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(100, 250))
    chevron = QPoint(view.visualRect(model.index(0, 0)).left() - 6, view.visualRect(model.index(0, 0)).center().y())
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=chevron)
    assert view.isExpanded(model.index(0, 0))
    assert entered == []


def test_a_tree_is_named_and_a_ring_inside_its_row_shows_where_the_keyboard_is(qtbot: QtBot, theme: Theme) -> None:
    """What reaches over the edge of a row is lost as soon as the next one is painted anew."""
    model = make(theme)
    view = RecordTreeView(theme, model, "Harbour")
    qtbot.addWidget(view)
    view.show()
    assert (view.accessibleName(), view.header().accessibleName()) == ("Harbour", "Columns")
    assert view.editTriggers() == RecordTreeView.EditTrigger.NoEditTriggers
    view.activateWindow()
    view.setFocus()
    qtbot.waitUntil(view.hasFocus)
    view.selectionModel().setCurrentIndex(model.index(0, 0), QItemSelectionModel.SelectionFlag.NoUpdate)
    rings = [each.box for each in drawn(view.viewport()) if each.edge == theme.color("focus").name()]
    row = QRectF(view.visualRect(model.index(0, 0)))
    assert rings == [row.adjusted(1, 1, -1, -1)]


def test_two_clicks_on_a_group_of_places_do_not_open_it_too(qtbot: QtBot, theme: Theme) -> None:
    """A click goes to the place that it stands for already."""
    model = places()
    view = PlaceView(theme, model, "Found")
    qtbot.addWidget(view)
    view.resize(400, 200)
    view.show()
    middle = view.visualRect(model.index(0, 0)).center()
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=middle)
    qtbot.mouseDClick(view.viewport(), Qt.MouseButton.LeftButton, pos=middle)
    assert not view.isExpanded(model.index(0, 0))
    assert view.isHeaderHidden()


def test_ticked_rows_are_drawn_anew(qapp: object) -> None:
    model = places()
    told: list[QModelIndex] = []
    model.dataChanged.connect(lambda first, _last: told.append(model.parent(first)))
    model.set_checked(list(model.lines()), checked=True)
    assert model.index(0, 0) in told


def test_what_was_found_is_seen_whole_in_a_narrow_pane_behind_a_long_title(qtbot: QtBot, theme: Theme) -> None:
    model = PlaceTree()
    group, text = PlaceRow("Linked from"), "Where nobody dares to go stands the gate, and it is shut."
    start = text.index("gate")
    group.add(PlaceRow("The Wreck of the Patient Margaret", text, start, start + 4, after="requires"))
    model.set_groups([group])
    view = PlaceView(theme, model, "Links")
    qtbot.addWidget(view)
    view.resize(320, 120)
    view.expandAll()
    words = words_drawn(view.viewport())
    assert "gate" in words
    assert any(each.startswith("The Wreck") for each in words)
