"""Widgets and layouts that every pane is put together with."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from PySide6.QtCore import SIGNAL, QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QPainter, QPaintEvent, QStandardItemModel
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QDialog,
    QDockWidget,
    QLayout,
    QLineEdit,
    QMainWindow,
    QPushButton,
    QSizePolicy,
    QTreeView,
    QWidget,
)
from pytestqt.qtbot import QtBot
from shiboken6 import delete

from lorestudio.ui.shell.theme import Theme, fixed_font
from lorestudio.ui.widgets.layouts import (
    USUAL_LINE,
    ProgressBar,
    SearchField,
    TabCorner,
    Wrapping,
    chip_height,
    column,
    combo,
    draw_ground,
    holding,
    iconed,
    in_lines,
    label,
    letters,
    number_field,
    one_of,
    paint_as,
    resize_for_letters,
    row,
    scrolled,
    split,
    stack,
    tabbed,
    text_view,
    tight,
    tool,
)
from tests.ui.conftest import drain
from tests.ui.drawing import drawn


@pytest.fixture
def parent(qtbot: QtBot) -> QWidget:
    made = QWidget()
    qtbot.addWidget(made)
    return made


def room(layout: QLayout) -> list[int]:
    sides = layout.contentsMargins()
    return [sides.left(), sides.top(), sides.right(), sides.bottom()]


def test_rows_and_columns_hold_widgets_layouts_and_room(parent: QWidget) -> None:
    first, second = QWidget(), QWidget()
    inner = row(second, spacing=3, margins=(1, 2, 3, 4))
    made = column(first, (inner, 2), 5, of=parent, spacing=7, margins=6)
    assert parent.layout() is made
    assert [made.stretch(place) for place in range(made.count())] == [0, 2, 5]
    assert (made.itemAt(0).widget(), made.itemAt(1).layout()) == (first, inner)
    assert (made.spacing(), inner.spacing()) == (7, 3)
    assert (room(made), room(inner)) == ([6] * 4, [1, 2, 3, 4])
    close = tight(QWidget())
    assert (room(close), close.spacing()) == ([0] * 4, 0)
    assert holding(close, parent).layout() is close


def test_words_are_shown_as_they_are(parent: QWidget) -> None:
    plain, long = label(parent, "<b>a & b</b>", "small"), label(parent, "x", wrap=False, selectable=True)
    assert (plain.text(), plain.textFormat(), plain.property("kind")) == (
        "<b>a & b</b>", Qt.TextFormat.PlainText, "small",
    )  # fmt: skip
    assert [each.wordWrap() for each in (plain, long)] == [True, False]
    mouse = Qt.TextInteractionFlag.TextSelectableByMouse
    assert [bool(each.textInteractionFlags() & mouse) for each in (plain, long)] == [False, True]
    parent.setFont(QFont("Serif", 17))
    read = text_view(parent, "What it says", fixed=True, object_name="Text")
    assert (read.isReadOnly(), read.accessibleName(), read.objectName(), read.font()) == (
        True, "What it says", "Text", fixed_font(17),
    )  # fmt: skip


def test_tab_leaves_a_text_to_read(parent: QWidget) -> None:
    read, after = text_view(parent, "What it says"), QPushButton("Next")
    column(read, after, of=parent)
    parent.show()
    read.setFocus()
    QTest.keyClick(read, Qt.Key.Key_Tab)
    assert parent.focusWidget() is after


def test_labels_yield_begin_at_the_top_and_have_room(parent: QWidget) -> None:
    usual = label(parent, "On and on")
    rich = label(parent, "<b>On</b>", rich=True, yields=True, top=True, margins=(1, 2, 3, 4))
    fits, ignored = QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Ignored
    assert [each.sizePolicy().horizontalPolicy() for each in (usual, rich)] == [fits, ignored]
    assert [bool(each.alignment() & Qt.AlignmentFlag.AlignTop) for each in (usual, rich)] == [False, True]
    assert [each.textFormat() for each in (usual, rich)] == [Qt.TextFormat.PlainText, Qt.TextFormat.RichText]
    assert (usual.contentsMargins().isNull(), rich.contentsMargins().bottom()) == (True, 4)


def test_words_that_yield_are_given_the_height_of_their_lines(parent: QWidget) -> None:
    long = label(parent, "A change that is told in several lines where a pane is narrow", yields=True)
    told = column(long, margins=0)
    for width in (90, 900):
        assert told.heightForWidth(width) == long.heightForWidth(width)
    assert long.heightForWidth(90) > long.heightForWidth(900)


def test_tools_are_named_by_their_tip_and_follow_the_theme(parent: QWidget, theme: Theme) -> None:
    told: list[bool] = []
    bare = tool(parent, "Copy", lambda _on: told.append(True))
    worded = tool(parent, "Show", text="All", tip="Show all of it", checkable=True)
    assert (bare.accessibleName(), bare.toolTip(), bare.text(), bare.isCheckable()) == ("Copy", "Copy", "", False)
    assert (worded.text(), worded.toolTip(), worded.isCheckable()) == ("All", "Show all of it", True)
    bare.click()
    assert told == [True]
    listeners = theme.receivers(SIGNAL("changed()"))
    iconed(theme, bare, "copy", "warning")
    seen = [bare.icon().pixmap(16).toImage()]
    theme.choose("dark")
    seen.append(bare.icon().pixmap(16).toImage())
    assert seen[0] != seen[1]
    assert seen[1] == theme.icon("copy", "warning").pixmap(16).toImage()
    delete(bare)
    theme.choose("light")  # what is gone is not painted
    assert theme.receivers(SIGNAL("changed()")) == listeners


def test_one_of_several_is_down_and_a_list_has_the_values_of_its_titles(parent: QWidget) -> None:
    group = one_of(parent, (("Whole", "Show the whole"), ("Lore", "Show the lore")))
    assert [(each.text(), each.accessibleName(), each.isChecked()) for each in group.buttons()] == [
        ("Whole", "Show the whole", True), ("Lore", "Show the lore", False),
    ]  # fmt: skip
    group.button(1).click()
    assert (group.checkedId(), group.button(0).isChecked()) == (1, False)
    box = combo(parent, "How", {3: "Three", 5: "Five"})
    assert [(box.itemText(place), box.itemData(place)) for place in range(2)] == [("Three", 3), ("Five", 5)]
    assert (box.accessibleName(), box.toolTip(), box.view().accessibleName()) == ("How",) * 3
    assert combo(parent, "Empty").count() == 0
    told: list[str] = []
    field = SearchField(parent, "Search", "A word", told.append, "All words count")
    field.setText("bell")
    assert (told, field.isClearButtonEnabled(), field.placeholderText(), field.toolTip()) == (
        ["bell"], True, "A word", "All words count",
    )  # fmt: skip


@pytest.mark.parametrize("pictured", [False, True])
def test_a_choice_without_room_is_shortened_and_not_cut_off(parent: QWidget, theme: Theme, pictured: bool) -> None:
    """“By tur” stood there, and “Turn before:”."""
    box = combo(parent, "Order", {1: "By turn and entry"})
    if pictured:
        box.setItemIcon(0, theme.icon("stop"))
    whole = box.sizeHint().width()
    for width, begins, ends in ((whole, "By turn and entry", "entry"), (100, "By", "…")):
        box.resize(width, 26)
        (words,) = (each for each in drawn(box) if each.kind == "text")
        assert words.words.startswith(begins)
        assert words.words.endswith(ends)
        assert words.box.left() + box.fontMetrics().horizontalAdvance(words.words) <= width - 16


def test_a_search_field_wants_no_more_room_at_the_first_letter(parent: QWidget, qtbot: QtBot) -> None:
    field = SearchField(parent, "Search")
    qtbot.addWidget(parent)
    parent.show()
    empty = field.sizeHint()
    field.setText("bell")
    assert field.sizeHint() == empty
    field.setFont(QFont(field.font().family(), 2 * field.font().pointSize()))
    assert field.sizeHint().height() > empty.height(), "larger letters are not cut off"
    field.clear()
    assert field.sizeHint().width() > empty.width()


def test_a_search_field_is_emptied_by_escape_which_then_closes_its_dialog(parent: QWidget) -> None:
    dialog = QDialog(parent)
    field = SearchField(dialog, "Search")
    dialog.show()
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Escape):
        field.setText("bell")
        QTest.keyClick(field, key)
        assert (field.text(), dialog.isVisible()) == ("bell" if key == Qt.Key.Key_Down else "", True)
    listed = QTreeView(dialog)
    listed.show()
    dialog.show()
    assert listed.isVisible()
    QTest.keyClick(field, Qt.Key.Key_Escape)
    assert not dialog.isVisible(), "a list beside it changes nothing about that"


@pytest.mark.parametrize("key", [Qt.Key.Key_Down, Qt.Key.Key_Escape])
def test_keys_lead_from_a_search_field_to_the_list_beside_it(qtbot: QtBot, key: Qt.Key) -> None:
    window, own, other = QMainWindow(), QWidget(), QWidget()
    qtbot.addWidget(window)
    field, elsewhere, hidden, listed = SearchField(own, "Search"), QTreeView(other), QTreeView(own), QTreeView(own)
    rows = QStandardItemModel(2, 1, window)
    for pane, parts in ((own, (field, hidden, listed)), (other, (elsewhere,))):
        dock = QDockWidget(window)
        dock.setWidget(pane)
        window.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, dock)
        column(*parts, of=pane)
    for view in (elsewhere, hidden, listed):
        view.setModel(rows)
    hidden.hide()
    picture = QTreeView(own)
    picture.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    picture.stackUnder(hidden)
    window.show()
    window.activateWindow()
    drain()
    field.setFocus()
    QTest.keyClick(field, key)
    assert window.focusWidget() is listed
    assert listed.currentIndex().row() == 0
    field.setFocus()
    listed.hide()
    QTest.keyClick(field, key)
    assert window.focusWidget() is field, "what other panes list is no answer"


def test_parts_that_share_room_cannot_be_dragged_away(parent: QWidget) -> None:
    first, second = QWidget(), QWidget()
    for part in (first, second):
        part.setMinimumSize(20, 20)
    halves = split(first, second, across=True, sizes=(100, 200), stretch=1)
    column(halves, of=parent, margins=0)
    parent.resize(300 + halves.handleWidth(), 100)
    parent.show()
    assert halves.orientation() is Qt.Orientation.Horizontal
    assert halves.sizes() == [100, 200]
    parent.resize(500 + halves.handleWidth(), 100)
    assert halves.sizes() == [100, 400]
    halves.setSizes([0, 500])
    assert min(halves.sizes()) >= 20
    assert split(QWidget()).orientation() is Qt.Orientation.Vertical
    shared = split(QWidget(), QWidget(), stretch=(3, 2))
    assert [shared.widget(place).sizePolicy().verticalStretch() for place in (0, 1)] == [3, 2]
    pages = stack(QWidget(), QWidget())
    assert (pages.count(), pages.currentIndex()) == (2, 0)
    area = scrolled(QWidget(), "Page")
    assert (area.accessibleName(), area.widgetResizable(), area.frameWidth()) == ("Page", True, 0)
    assert scrolled(QWidget(), framed=True).frameWidth() > 0


@pytest.mark.parametrize(("height", "larger"), [(10, 1.0), (14, 1.0), (21, 1.5), (28, 2.0)])
def test_usual_letters_have_lines_of_fourteen_pixels(
    parent: QWidget, monkeypatch: pytest.MonkeyPatch, height: int, larger: float
) -> None:
    """By which dialogs, columns and panes were laid out; those of a desktop with larger ones get as much more room."""
    monkeypatch.setattr(parent, "fontMetrics", lambda: SimpleNamespace(height=lambda: height))
    assert letters(parent) == larger


def test_a_dialog_grows_with_its_letters_up_to_the_screen(parent: QWidget) -> None:
    usual = letters(parent)
    resize_for_letters(parent, 200, 100)
    assert (parent.width(), parent.height()) == (round(200 * usual), round(100 * usual))
    font = QFont(parent.font())
    font.setPointSize(30)
    parent.setFont(font)
    factor = parent.fontMetrics().height() / USUAL_LINE
    assert letters(parent) == factor > 2
    resize_for_letters(parent, 100, 5000)
    assert parent.width() == round(100 * factor)
    assert parent.height() < parent.screen().availableSize().height()


def test_chips_stand_in_lines() -> None:
    assert in_lines([40, 50, 30, 200], 100, QPoint(60, 5), 10, height=20, gap=6) == [
        QRect(60, 5, 40, 20), QRect(10, 31, 50, 20), QRect(66, 31, 30, 20), QRect(10, 57, 200, 20),
    ]  # fmt: skip
    assert in_lines([40, 10], 50, QPoint(), height=20, gap=0)[1] == QRect(QPoint(40, 0), QSize(10, 20)), "just fits"


@pytest.mark.parametrize(
    ("warning", "focus", "edge", "ground"),
    [
        (False, False, "border", "raised"), (True, False, "warning", "warning_soft"),
        (False, True, "border", "accent_soft"), (True, True, "warning", "accent_soft"),
    ],
)  # fmt: skip
def test_the_ground_of_a_chip(
    parent: QWidget, theme: Theme, qtbot: QtBot, warning: bool, focus: bool, edge: str, ground: str
) -> None:
    class Chip(QPushButton):
        def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 (Qt)
            draw_ground(QPainter(self), self, theme, warning=warning)

    chip, other = Chip(parent), QPushButton(parent)
    chip.setGeometry(0, 0, 60, 20)
    parent.show()
    parent.activateWindow()
    first = chip if focus else other
    first.setFocus()
    qtbot.waitUntil(first.hasFocus)
    found = drawn(chip)
    box = next(each for each in found if each.fill == theme.color(ground).name() and each.box.width() == 59)
    assert box.edge == theme.color(edge).name()
    assert (box.kind, box.box) == ("path", QRectF(0.5, 0.5, 59, 19))
    rings = [each for each in found if each.edge == theme.color("focus").name()]
    assert bool(rings) is focus


class Filled(Wrapping):
    """As many boxes of 50 pixels as were asked for, in lines of 20."""

    def __init__(self, amount: int) -> None:
        super().__init__()
        self.amount, self.moved = amount, 0

    def arrange(self, width: int, *, move: bool) -> int:
        self.moved += move
        return in_lines([50] * self.amount, width, QPoint(), height=20, gap=0)[-1].bottom() + 1


def test_what_wraps_is_as_high_as_its_lines_at_its_width(parent: QWidget, qtbot: QtBot) -> None:
    made = Filled(6)
    qtbot.addWidget(made)
    assert [made.heightForWidth(width) for width in (300, 299, 100, 50)] == [20, 40, 60, 120]
    assert made.moved == 0, "only asked for"
    made.resize(100, 10)
    made.show()
    assert (made.height(), made.minimumHeight(), made.moved > 0) == (60, 60, True)
    assert (made.sizeHint().width(), made.sizeHint().height()) == (160, 40)
    made.amount = 2
    made.settle()
    assert made.height() == 20
    before = made.moved
    made.settle()
    assert (made.height(), made.moved) == (20, before + 1)
    policy = made.sizePolicy()
    assert (policy.hasHeightForWidth(), policy.verticalPolicy()) == (True, QSizePolicy.Policy.Fixed)


def test_chips_are_as_high_as_their_letters_and_never_hard_to_hit(parent: QWidget) -> None:
    font = QFont(parent.font())
    for points in (5, 30):
        font.setPointSize(points)
        parent.setFont(font)
        assert chip_height(parent) == max(24, parent.fontMetrics().height() + 8)
    assert chip_height(parent) > 24


def test_a_property_is_seen_at_once(parent: QWidget) -> None:
    parent.setStyleSheet("QLabel[wide='true'] { min-width: 90px; }")
    told = label(parent, "x")
    parent.show()
    paint_as(told, "wide", True)
    assert told.minimumWidth() == 90
    paint_as(told, "wide", False)
    assert told.property("wide") is False


def test_a_value_of_a_bar_waits_to_be_drawn_with_everything_else(qtbot: QtBot, parent: QWidget) -> None:
    drawn_before: list[str] = []

    class Other(QWidget):
        def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 (Qt's name)
            drawn_before.append("other")

    other, bar = Other(parent), ProgressBar(parent)
    bar.setRange(0, 400)
    parent.setLayout(column(other, bar))
    parent.resize(300, 200)
    parent.show()
    qtbot.waitUntil(lambda: bool(drawn_before))
    drawn_before.clear()
    other.update()
    bar.setValue(300)
    assert (bar.value(), drawn_before) == (300, [])
    qtbot.waitUntil(lambda: drawn_before == ["other"])
    assert bar.updatesEnabled()


@pytest.mark.dressed
def test_a_number_begins_about_where_a_line_of_text_does(theme: Theme, parent: QWidget) -> None:
    line, number = QLineEdit("8", parent), number_field(parent, "Points", 1, 9, 8)
    parent.setLayout(column(line, number))
    parent.show()
    drain()
    wanted, place = (next(each.box.x() for each in drawn(field) if each.words == "8") for field in (line, number))
    assert wanted - 4 < place <= wanted


def test_what_stands_beside_tabs_has_a_line_of_its_own_where_the_tabs_would_be_scrolled(parent: QWidget) -> None:
    tabs = tabbed(parent, "Views", *((QWidget(), f"A long title {place}") for place in range(3)))
    field, place, other = SearchField(parent, "Search"), QWidget(parent), tool(parent, "Other")
    field.setMinimumWidth(100)
    TabCorner(tabs, field, place, other)
    tight(place, (tabs, 1), of=parent)
    bar = tabs.tabBar()
    wide = bar.sizeHint().width()
    parent.resize(wide + 300, 200)
    parent.show()
    field.setFocus()
    for width, away in ((wide + 60, True), (wide + 300, False), (wide + 60, True)):
        parent.resize(width, 200)
        drain()
        assert (place.isVisible(), place.isAncestorOf(field), tabs.isAncestorOf(field)) == (away, away, not away)
        assert bar.width() >= wide
        assert field.isVisible()
        assert other.isVisible()
        assert tabs.isAncestorOf(other)
        assert parent.focusWidget() is field
    parent.resize(wide + 300, 200)
    for words, away in (("Other " * 60, True), ("Other", False)):  # what stands there takes more room than before
        other.setText(words)
        drain()
        assert place.isVisible() is away
    field.hide()
    parent.resize(wide + 300, 200)
    drain()
    assert field.isHidden()
