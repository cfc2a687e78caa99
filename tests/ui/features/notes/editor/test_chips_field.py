"""A list of words as chips alone: what is offered, what is dragged, how it is drawn and laid out."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QEvent, QMimeData, QObject, QPoint, QPointF, Qt
from PySide6.QtGui import QDrag, QDragEnterEvent, QDragMoveEvent, QFocusEvent, QMouseEvent
from PySide6.QtWidgets import QAbstractButton, QApplication, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from lorestudio.ui.features.notes.editor.chips_field import ChipsField
from lorestudio.ui.features.notes.editor.names import OffersCompleter
from lorestudio.ui.shell.theme import Theme
from tests.ui.conftest import drain
from tests.ui.drawing import Drawn, drawn, words_drawn

KEY, NONE, LEFT = Qt.Key, Qt.KeyboardModifier.NoModifier, Qt.MouseButton.LeftButton
MOVE = Qt.DropAction.MoveAction
SEASONS = ("autumn", "late autumn")
CHIP = "application/x-lorestudio-chip"

Chips = tuple[ChipsField, list[list[str]]]


@pytest.fixture
def chips(qtbot: QtBot, theme: Theme) -> Iterator[Chips]:
    """Three chips in a window that has another line to go to, and what was told of changes."""
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(400, 300)
    field = ChipsField(theme, "Keys", window)
    field.resize(300, 60)
    other = QLineEdit(window)
    other.move(0, 200)
    window.show()
    qtbot.waitExposed(window)
    told: list[list[str]] = []
    field.set_items(["one", "two", "three"])
    field.changed.connect(told.append)
    drain()
    yield field, told
    window.close()


def send(widget: QWidget, kind: QEvent.Type, at: QPointF) -> None:
    QApplication.sendEvent(widget, QMouseEvent(kind, at, widget.mapToGlobal(at), LEFT, LEFT, NONE))


# ---- what is offered ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pressed", "took"),
    [
        ((KEY.Key_Return,), "autu"),
        ((KEY.Key_Enter,), "autu"),
        ((KEY.Key_Down, KEY.Key_Return), "autumn"),
        ((KEY.Key_Down, KEY.Key_Down, KEY.Key_Enter), "late autumn"),
        ((KEY.Key_Down, KEY.Key_Tab), "autumn"),
        ((), "late autumn"),
    ],
)
def test_what_was_typed_or_offered_becomes_one_chip_and_leaves_the_line(
    chips: Chips, qtbot: QtBot, pressed: tuple[Qt.Key, ...], took: str
) -> None:
    field, told = chips
    completer = OffersCompleter(field.input, lambda typed: [each for each in SEASONS if typed in each], field)
    field.set_completer(completer)
    field.input.setFocus()
    qtbot.keyClicks(field.input, "autu")
    popup = completer.popup()
    assert popup.isVisible()
    for key in pressed:
        qtbot.keyClick(popup, key)
    if not pressed:
        last = popup.visualRect(completer.model().index(1, 0))
        qtbot.mouseClick(popup.viewport(), LEFT, pos=last.center())
    drain()
    assert (told, field.input.text(), popup.isVisible()) == ([["one", "two", "three", took]], "", False)
    QApplication.sendEvent(field.input, QFocusEvent(QEvent.Type.FocusOut, Qt.FocusReason.TabFocusReason))
    assert len(told) == 1


def test_what_was_offered_is_one_item_also_with_a_comma(chips: Chips, qtbot: QtBot) -> None:
    field, told = chips
    completer = OffersCompleter(field.input, lambda _typed: ["Skarn, the Red"], field)
    field.set_completer(completer)
    for pressed in ((KEY.Key_Down, KEY.Key_Return), (KEY.Key_Down, KEY.Key_Tab)):
        field.set_items([])
        field.input.setFocus()
        qtbot.keyClicks(field.input, "skar")
        for key in pressed:
            qtbot.keyClick(completer.popup(), key)
        drain()
        assert told[-1] == ["Skarn, the Red"]


# ---- keyboard -------------------------------------------------------------------------------------------------------


def test_tab_goes_to_the_line_and_passes_over_the_chips(chips: Chips, qtbot: QtBot) -> None:
    field, _told = chips
    other = next(each for each in field.window().findChildren(QLineEdit) if each is not field.input)
    other.setFocus()
    qtbot.keyClick(other, KEY.Key_Tab)
    assert field.input.hasFocus()
    qtbot.keyClick(field.input, KEY.Key_Tab)
    assert other.hasFocus()
    field.setFocus()
    assert field.input.hasFocus()


def test_a_chip_at_an_end_goes_no_further(chips: Chips, qtbot: QtBot) -> None:
    field, told = chips
    both = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    qtbot.keyClick(field.chips[0], KEY.Key_Left, both)
    qtbot.keyClick(field.chips[2], KEY.Key_Right, both)
    assert told == []


def test_a_letter_or_a_held_key_in_the_line_does_not_go_to_the_chips(chips: Chips, qtbot: QtBot) -> None:
    field, _told = chips
    field.input.setFocus()
    qtbot.keyClick(field.input, KEY.Key_Left, Qt.KeyboardModifier.ShiftModifier)
    assert field.input.hasFocus()
    qtbot.keyClicks(field.input, "ab")
    qtbot.keyClick(field.input, KEY.Key_Left)
    assert (field.input.hasFocus(), field.input.cursorPosition()) == (True, 1)
    qtbot.keyClick(field.input, KEY.Key_Home)
    qtbot.keyClick(field.input, KEY.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClick(field.input, KEY.Key_Backspace)  # what is selected goes
    assert (field.input.hasFocus(), field.input.text()) == (True, "b")
    qtbot.keyClick(field.input, KEY.Key_Backspace)
    assert field.chips[2].hasFocus()


def test_while_an_item_is_written_anew_the_line_is_not_left_for_the_chips(chips: Chips, qtbot: QtBot) -> None:
    field, told = chips
    field.chips[0].setFocus()
    field.edit(field.chips[0])
    assert (field.input.hasFocus(), field.input.selectedText()) == (True, "one")
    field.input.clear()
    qtbot.keyClick(field.input, KEY.Key_Backspace)
    assert field.input.hasFocus()
    QApplication.sendEvent(field.input, QFocusEvent(QEvent.Type.FocusOut, Qt.FocusReason.TabFocusReason))
    assert told == [["two", "three"]]


def test_an_item_with_a_comma_that_is_written_anew_stays_one(chips: Chips, qtbot: QtBot) -> None:
    field, told = chips
    field.set_items(["Skarn, the Red", "two"])
    field.chips[0].setFocus()
    qtbot.keyClick(field.chips[0], KEY.Key_F2)
    qtbot.keyClick(field.input, KEY.Key_Return)
    assert told == [["Skarn, the Red", "two"]]
    qtbot.keyClick(field.chips[0], KEY.Key_F2)
    qtbot.keyClicks(field.input, "Skarn, the Grey")
    qtbot.keyClick(field.input, KEY.Key_Return)
    assert told[-1] == ["Skarn, the Grey", "two"]


@pytest.mark.parametrize(
    ("others", "after"),
    [
        (["one"], ["one", "third"]),  # what is written anew is gone: nothing that was typed is lost
        (["three", "one"], ["third", "one"]),
        (["three", "two", "three"], ["three", "two", "third"]),
    ],
)
def test_an_item_that_is_written_anew_is_followed_where_others_are_shown(
    chips: Chips, qtbot: QtBot, others: list[str], after: list[str]
) -> None:
    """A file that another program saved, or an undo elsewhere: its place alone led to another item, or to none."""
    field, told = chips
    field.edit(field.chips[2])
    qtbot.keyClicks(field.input, "third")
    field.set_items(others)
    assert field.half_typed
    qtbot.keyClick(field.input, KEY.Key_Return)
    assert told == [after]


def test_a_pattern_is_typed_with_its_commas(chips: Chips, qtbot: QtBot) -> None:
    field, told = chips
    field.input.setFocus()
    qtbot.keyClicks(field.input, "/moths{1,2}/i,")
    assert told == [["one", "two", "three", "/moths{1,2}/i"]]


def test_an_empty_line_that_is_left_changes_nothing(chips: Chips, qtbot: QtBot) -> None:
    field, told = chips
    field.input.setFocus()
    qtbot.keyClicks(field.input, "  ")
    QApplication.sendEvent(field.input, QFocusEvent(QEvent.Type.FocusOut, Qt.FocusReason.TabFocusReason))
    assert (told, field.input.text()) == ([], "  ")


def test_a_pasted_word_is_typed_and_a_pasted_list_takes_what_is_around_it(chips: Chips, qtbot: QtBot) -> None:
    field, told = chips
    paste = (KEY.Key_V, Qt.KeyboardModifier.ControlModifier)
    field.input.setFocus()
    QApplication.clipboard().setText("moth")
    qtbot.keyClick(field.input, *paste)
    assert (field.input.text(), told) == ("moth", [])
    field.input.setText("before middle after")
    field.input.setSelection(7, 6)
    QApplication.clipboard().setText("a, b\n")
    qtbot.keyClick(field.input, *paste)
    assert told == [["one", "two", "three", "before a", "b", "after"]]
    field.input.setText("xy")
    field.input.setCursorPosition(1)
    field.add_text("1,2")
    assert told[-1][-2:] == ["x1", "2y"]


def test_the_keyboard_stays_near_a_chip_that_goes(chips: Chips, qtbot: QtBot) -> None:
    field, _told = chips
    field.chips[1].setFocus()
    field.set_items(["one", "else", "three"])
    assert field.chips[1].hasFocus()
    field.set_items(["one"])
    assert field.chips[0].hasFocus()
    qtbot.keyClick(field.chips[0], KEY.Key_Delete)
    assert field.input.hasFocus()
    drain()
    assert field.findChildren(QAbstractButton) == []  # nothing of it stays behind


def test_a_chip_that_goes_takes_the_keyboard_from_nobody_else(chips: Chips) -> None:
    field, told = chips
    field.input.setFocus()
    field.remove(field.chips[2])
    assert (told, field.input.hasFocus()) == ([["one", "two"]], True)
    field.remove(QObject())
    field.shift(QObject(), 1)
    field.edit(QObject())
    assert (len(told), field.input.text()) == (1, "")
    other = next(each for each in field.window().findChildren(QLineEdit) if each is not field.input)
    other.setFocus()
    field.set_items([])  # as when it is undone from elsewhere
    assert other.hasFocus()
    assert field.findChildren(QAbstractButton) == []  # they are gone at once


def test_keys_that_the_line_uses_go_no_further(chips: Chips, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    field, told = chips
    passed: list[int] = []
    monkeypatch.setattr(field, "keyPressEvent", lambda event: passed.append(event.key()), raising=False)
    left: list[bool] = []
    field.left.connect(lambda: left.append(True))
    field.input.setFocus()
    qtbot.keyClicks(field.input, "a,")
    assert (told[-1][-1], field.input.text()) == ("a", "")
    QApplication.clipboard().setText("b, c")
    qtbot.keyClick(field.input, KEY.Key_V, Qt.KeyboardModifier.ControlModifier)
    assert (told[-1][-2:], field.input.text()) == (["b", "c"], "")
    field.edit(field.chips[0])
    qtbot.keyClick(field.input, KEY.Key_Escape)
    assert (left, field.input.text()) == ([], "")
    qtbot.keyClick(field.input, KEY.Key_Escape)
    assert left == [True]
    assert KEY.Key_Escape not in passed
    passed.clear()
    field.chips[0].setFocus()
    qtbot.keyClick(field.chips[0], KEY.Key_F7)
    assert passed == [KEY.Key_F7]


def test_a_list_that_was_just_made_says_that_it_is_empty(theme: Theme, qtbot: QtBot) -> None:
    field = ChipsField(theme, "Keys")
    qtbot.addWidget(field)
    assert (field.accessibleName(), field.input.placeholderText()) == ("Keys: none", "Add…")
    assert field.input.height() == field.height() > 0


def test_nothing_moves_in_a_list_that_is_only_read(chips: Chips, monkeypatch: pytest.MonkeyPatch) -> None:
    field, told = chips
    field.read_only = True
    field.refresh()
    assert field.input.isHidden()
    field.shift(field.chips[0], 1)
    field.remove(field.chips[0])
    dragged: list[object] = []
    monkeypatch.setattr(field, "drag", dragged.append)
    send(field.chips[0], QEvent.Type.MouseButtonPress, QPointF(3, 3))
    send(field.chips[0], QEvent.Type.MouseMove, QPointF(90, 3))
    assert (told, dragged) == ([], [])


# ---- mouse ----------------------------------------------------------------------------------------------------------


def test_a_drag_carries_the_chip_and_its_text(chips: Chips, monkeypatch: pytest.MonkeyPatch) -> None:
    field, _told = chips
    seen: list[tuple[object, ...]] = []

    def look(drag: QDrag, actions: Qt.DropAction) -> Qt.DropAction:
        data = drag.mimeData()
        seen.append((bytes(data.data(CHIP).data()), data.text(), drag.pixmap().width(), actions))
        return actions

    monkeypatch.setattr(QDrag, "exec", look)
    chip = field.chips[1]
    for kind, at in ((QEvent.Type.MouseButtonPress, 3), (QEvent.Type.MouseMove, 60), (QEvent.Type.MouseMove, 90)):
        send(chip, kind, QPointF(at, 3))
    assert seen == [(b"1", "two", chip.width(), MOVE)]
    field.drag(QObject())
    assert len(seen) == 1


def test_only_a_press_on_the_chip_itself_begins_a_drag_or_a_removal(
    chips: Chips, monkeypatch: pytest.MonkeyPatch
) -> None:
    field, told = chips
    dragged: list[object] = []
    monkeypatch.setattr(field, "drag", dragged.append)
    chip, cross = field.chips[0], QPointF(field.chips[0].width() - 6, 8)
    send(chip, QEvent.Type.MouseMove, QPointF(90, 3))
    send(chip, QEvent.Type.MouseButtonRelease, cross)
    assert (dragged, told) == ([], [])
    send(chip, QEvent.Type.MouseButtonPress, cross)
    send(chip, QEvent.Type.MouseButtonRelease, QPointF(cross.x() + 60, 8))  # beside it: thought better of it
    send(chip, QEvent.Type.MouseButtonRelease, cross)
    assert told == []
    for beside, left in ((19, 3), (17, 2)):  # the cross is 16 wide and stands a pixel from the edge
        at = QPointF(chip.width() - beside, 8)
        send(chip, QEvent.Type.MouseButtonPress, at)
        send(chip, QEvent.Type.MouseButtonRelease, at)
        assert len(field.chips) == left
    assert told == [["two", "three"]]


class _Own(QDragEnterEvent):
    """As if dragged from a widget, which only Qt can say."""

    def __init__(self, source: QObject | None, data: QMimeData) -> None:
        super().__init__(QPoint(3, 3), MOVE, data, LEFT, NONE)
        self._from = source

    def source(self) -> QObject | None:
        return self._from


class _OwnMove(QDragMoveEvent):
    """The same, further on its way."""

    def __init__(self, source: QObject | None, data: QMimeData) -> None:
        super().__init__(QPoint(3, 3), MOVE, data, LEFT, NONE)
        self._from = source

    def source(self) -> QObject | None:
        return self._from


def test_only_chips_of_the_same_list_may_be_dropped(chips: Chips) -> None:
    field, _told = chips
    assert field.acceptDrops()
    chip, text = QMimeData(), QMimeData()
    chip.setData(CHIP, b"1")
    text.setText("two")
    for source, data, taken in ((field, chip, True), (None, chip, False), (field, text, False)):
        event = _Own(source, data)
        event.setAccepted(False)
        field.dragEnterEvent(event)
        assert event.isAccepted() is taken
    for source, taken in ((field, True), (None, False)):
        moved = _OwnMove(source, chip)
        moved.setAccepted(False)
        field.dragMoveEvent(moved)
        assert moved.isAccepted() is taken


# ---- looks ----------------------------------------------------------------------------------------------------------


def pictures(chip: QWidget) -> list[Drawn]:
    return [each for each in drawn(chip) if each.kind == "image"]


def test_the_cross_stands_at_the_end_and_a_warning_before_the_words(chips: Chips) -> None:
    field, _told = chips
    chip = field.chips[2]
    (cross,) = pictures(chip)
    (words,) = (each for each in drawn(chip) if each.kind == "text")
    end = words.box.left() + chip.fontMetrics().horizontalAdvance("three")
    assert 0 < words.box.left() < end < cross.box.left() < cross.box.right() < chip.width()
    field.set_mark(lambda _item: "No such thing.")
    field.settle()
    warning, cross = pictures(chip)
    (moved,) = (each for each in drawn(chip) if each.kind == "text")
    assert 0 < warning.box.left() < warning.box.right() < moved.box.left() == words.box.left() + 16
    assert words_drawn(chip) == ["three"]
    field.read_only = True
    assert pictures(chip)[1:] == []  # nothing takes it away


def test_a_chip_that_is_too_wide_is_shortened_before_its_cross(chips: Chips) -> None:
    field, _told = chips
    field.set_items(["a very long key that does not fit in a line of this width, whatever is done about it"])
    (chip,) = field.chips
    assert chip.width() == field.width()
    (words,) = words_drawn(chip)
    assert words.endswith("…")
    (cross,) = pictures(chip)
    assert 8 + chip.fontMetrics().horizontalAdvance(words) < cross.box.left() + 4


def test_the_chip_with_the_keyboard_is_drawn_otherwise(chips: Chips, theme: Theme) -> None:
    field, _told = chips

    def ink(chip: QWidget) -> str:
        return next(each.fill or each.edge for each in drawn(chip) if each.kind == "text")

    chip = field.chips[1]
    plain, cross = ink(chip), chip.grab().toImage()
    assert plain == theme.color("text").name()
    chip.setFocus()
    assert ink(chip) == theme.color("on_accent_soft").name()
    assert chip.grab().toImage() != cross


def test_what_is_dragged_or_pressed_has_a_hand_and_the_line_no_frame(chips: Chips) -> None:
    field, _told = chips
    assert field.chips[0].cursor().shape() is Qt.CursorShape.PointingHandCursor
    assert field.input.property("kind") == "quiet"
    assert field.input.accessibleName() == "Add to Keys"
    assert field.input.accessibleDescription() == "At present: one, two, three"
    field.set_items([])
    assert field.input.accessibleDescription() == "At present: none"


def test_another_theme_paints_the_chips_anew(chips: Chips, theme: Theme) -> None:
    field, _told = chips
    painted: list[object] = []

    class Watch(QObject):
        def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 (Qt's)
            if event.type() is QEvent.Type.Paint:
                painted.append(watched)
            return False

    watch = Watch()
    field.chips[0].installEventFilter(watch)
    drain()
    painted.clear()
    theme.choose("dark")
    drain()
    assert painted
    field.chips[0].removeEventFilter(watch)


def test_chips_wrap_and_the_line_takes_what_is_left(chips: Chips) -> None:
    field, _told = chips
    first, last, line = field.chips[0].geometry(), field.chips[2].geometry(), field.input.geometry()
    assert first.top() == last.top() == line.top() == 0
    assert last.right() < line.left() <= last.right() + 8
    assert line.right() == field.width() - 1
    one = field.height()
    assert first.height() == one
    # Room for a few letters behind the chips is not enough to type in.
    field.input.setFocus()
    field.resize(last.right() + 50, field.height())
    drain()
    assert (field.input.x(), field.input.width()) == (0, field.width())
    assert field.input.y() == field.height() - one > first.bottom()
    # Without the keyboard a line that holds nothing needs no room of its own.
    field.setFocusProxy(None)
    field.window().findChildren(QLineEdit)[-1].setFocus()
    drain()
    assert (field.input.y(), field.height()) == (0, one)
    field.input.setFocus()
    drain()
    assert field.input.y() > 0
    field.window().findChildren(QLineEdit)[-1].setFocus()
    drain()
    assert field.input.y() == 0
    field.input.setText("x")
    assert field.input.y() > 0
    field.input.clear()
    field.resize(first.right() + 6, field.height())
    assert [chip.y() for chip in field.chips] == [0, one + 4, 2 * (one + 4)]
    assert field.height() >= 3 * one + 8


def test_where_a_chip_would_be_dropped_in_several_lines(chips: Chips) -> None:
    field, _told = chips
    field.resize(field.chips[0].width() + field.chips[1].width() + 6, 90)
    first, second, third = (each.geometry() for each in field.chips)
    assert first.top() == second.top() < third.top()
    assert field.place_at(first.center() - QPoint(1, 0)) == 0
    assert field.place_at(first.center() + QPoint(1, 0)) == 1
    assert field.place_at(second.center() + QPoint(1, 0)) == 2  # at the end of the first line
    assert field.place_at(QPoint(2, first.bottom() + 2)) == 0  # between the lines it belongs to the upper one
    assert field.place_at(third.center() + QPoint(1, 0)) == 3
