"""The fields of the form alone: what each shows of a value, what typing and keys make of it, and what it warns of."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, Qt
from PySide6.QtGui import QDropEvent, QFocusEvent, QTextCursor, QWheelEvent
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from lorestudio.ui.features.notes.editor.chips_field import ChipsField, split_items
from lorestudio.ui.features.notes.editor.fields import (
    ChoiceField,
    Field,
    FieldContext,
    FieldMaker,
    FlagField,
    LineField,
    ListField,
    NumberField,
    RawField,
    SummaryField,
)
from lorestudio.ui.features.notes.editor.form_row import NameButton
from lorestudio.ui.features.notes.editor.schema import FieldKind, FieldSpec
from lorestudio.ui.shell.theme import Theme, fixed_font
from tests.ui.conftest import drain
from tests.ui.drawing import drawn, words_drawn

NUMBER = FieldSpec("priority", "Priority", FieldKind.NUMBER, "Help.", low=0, high=10, step=2)
CHOICE = FieldSpec("role", "Role", FieldKind.CHOICE, "Help.", choices=(("user", "User"), ("system", "System")))


@pytest.fixture
def held(qtbot: QtBot, theme: Theme) -> Callable[..., tuple[Field, list[object]]]:
    """Shows a field in a window, and notes down what it says that was changed."""
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(400, 300)
    window.show()

    def hold(field: Field) -> tuple[Field, list[object]]:
        field.setParent(window)
        field.resize(300, 60)
        field.show()
        told: list[object] = []
        field.changed.connect(told.append)
        return field, told

    return hold


# ---- numbers --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "told", "problem"),
    [
        ("4", [4], ""),
        ("4.5", [4, 4, 4.5], ""),
        ("x", [], "“x” is no number, so the general value holds."),
        ("-1", [], "-1 lies outside 0 to 10."),
        ("11", [1], "11 lies outside 0 to 10."),
        ("10", [1, 10], ""),
        ("0", [0], ""),
    ],
)
def test_a_number_counts_where_it_is_one_and_lies_within(
    held, qtbot: QtBot, typed: str, told: list[object], problem: str
) -> None:
    field, heard = held(NumberField(NUMBER, "20"))
    qtbot.keyClicks(field.line, typed)
    assert (field.problem().replace("−", "-"), heard) == (problem, told)
    field.line.selectAll()
    qtbot.keyClick(field.line, Qt.Key.Key_Delete)
    assert (field.problem(), heard[-1]) == ("", None)


def test_the_keys_up_and_down_count(held, qtbot: QtBot) -> None:
    field, told = held(NumberField(NUMBER, "20"))
    up, down = Qt.Key.Key_Up, Qt.Key.Key_Down
    for key in (up, up, down, down, down):
        qtbot.keyClick(field.line, key)
    assert told == [2, 4, 2, 0, 0]
    field.show_value(9)
    qtbot.keyClick(field.line, up)
    assert told[-1] == 10
    qtbot.keyClick(field.line, up, Qt.KeyboardModifier.AltModifier)  # that moves a row
    assert len(told) == 6


def test_a_number_shows_what_stands_in_its_place(held) -> None:
    field, told = held(NumberField(NUMBER, "20"))
    shown = []
    for value in (3, 3.5, "many", None, [], True):
        field.show_value(value)
        shown.append(field.line.text())
    assert shown == ["3", "3.5", "many", "", "", "True"]
    assert (told, field.line.placeholderText()) == ([], "20")


# ---- choices and flags ----------------------------------------------------------------------------------------------


def test_a_choice_has_a_line_for_what_it_does_not_know(held) -> None:
    field, told = held(ChoiceField(CHOICE, ""))
    shown = []
    for value in ("User", None, "elf", [], "system"):
        field.show_value(value)
        shown.append((field.combo.currentText(), field.combo.count(), bool(field.problem())))
    assert shown == [
        ("User", 3, False), ("general one", 3, False), ("“elf” (not known)", 4, True), ("general one", 3, False),
        ("System", 3, False),
    ]  # fmt: skip
    field.show_value("elf")
    for place in (1, 0, 3):
        field.combo.activated.emit(place)
    assert told == ["user", None]


def test_the_wheel_leaves_a_choice_alone_that_has_not_the_keyboard(held) -> None:
    field, told = held(ChoiceField(CHOICE, ""))
    place, none = QPointF(5, 5), Qt.KeyboardModifier.NoModifier
    for focus in (False, True):
        if focus:
            field.combo.setFocus()
        event = QWheelEvent(
            place, field.combo.mapToGlobal(place), QPoint(), QPoint(0, -120), Qt.MouseButton.NoButton, none,
            Qt.ScrollPhase.NoScrollPhase, False,
        )  # fmt: skip
        QApplication.sendEvent(field.combo, event)
        assert field.combo.currentIndex() == (1 if focus else 0)
        assert event.isAccepted() is focus  # else the form scrolls
    assert told == ["user"]


@pytest.mark.parametrize(
    ("default", "value", "on", "doubtful"),
    [
        (True, None, True, False), (True, False, False, False), (True, "false", True, True),
        (False, None, False, False), (False, True, True, False), (False, "true", True, True),
        (False, "yes", False, True),
    ],
)  # fmt: skip
def test_a_flag_shows_what_is_made_of_a_value(held, default: bool, value: object, on: bool, doubtful: bool) -> None:
    field, told = held(FlagField(FieldSpec("enabled", "Enabled", FieldKind.FLAG, "Help.", flag_default=default)))
    field.show_value(value)
    assert (field.box.isChecked(), field.box.text()) == (on, "yes" if on else "no")
    assert bool(field.problem()) == doubtful
    field.box.click()
    assert told == [not on]


@pytest.mark.parametrize(
    ("low", "high", "said", "wrong"),
    [(1, None, "1 or more", "0"), (1, 10, "1 to 10", "11"), (None, 10, "0 to 10", "11"), (None, None, "", "")],
)
def test_a_number_says_its_range(
    held, qtbot: QtBot, low: float | None, high: float | None, said: str, wrong: str
) -> None:
    field, _told = held(NumberField(FieldSpec("depth", "Depth", FieldKind.NUMBER, "Help.", low=low, high=high), "4"))
    assert field.line.toolTip() == f"Help. {said}".strip()
    assert field.line.accessibleDescription() == " ".join(filter(None, ("Help.", said, "4")))
    assert field.line.accessibleName() == "Depth"
    field.show_value(5)
    assert field.problem() == ""
    if wrong:
        qtbot.keyClick(field.line, Qt.Key.Key_Up)
        field.line.setText(wrong)
        assert field.problem() == f"{wrong} lies outside {said}. The note has 5 still."


def test_counting_begins_at_the_lowest_and_stays_within_what_there_is(held, qtbot: QtBot) -> None:
    field, told = held(NumberField(FieldSpec("x", "X", FieldKind.NUMBER, "Help.", low=3, high=4, step=0.1), ""))
    for _ in range(3):
        qtbot.keyClick(field.line, Qt.Key.Key_Up)
    assert told == [3.1, 3.2, 3.3]  # and not 3.3000000000000003
    free, told = held(NumberField(FieldSpec("x", "X", FieldKind.NUMBER, "Help."), ""))
    qtbot.keyClick(free.line, Qt.Key.Key_Down)
    assert told == [-1]


def test_escape_leaves_every_field_and_the_keyboard_goes_to_its_inside(held, theme: Theme, qtbot: QtBot) -> None:
    summary, line = FieldSpec("s", "S", FieldKind.SUMMARY, "Help."), FieldSpec("x", "X", FieldKind.LINE, "Help.")
    flag = FieldSpec("enabled", "Enabled", FieldKind.FLAG, "Help.")
    made = (
        NumberField(NUMBER, ""), ChoiceField(CHOICE, ""), FlagField(flag), LineField(line, ""), SummaryField(summary),
        RawField("x: {}", "It is nested."), ListField(theme, FieldSpec("keys", "Keys", FieldKind.WORDS, "Help.")),
    )  # fmt: skip
    for each in made:
        field, told = held(each)
        left: list[bool] = []
        field.left.connect(lambda left=left: left.append(True))
        field.setFocus()
        inside = QApplication.focusWidget()
        assert inside is not field
        assert field.isAncestorOf(inside)
        qtbot.keyClick(inside, Qt.Key.Key_Escape)
        assert (left, told) == ([True], [])
        field.hide()


def test_a_choice_has_names_and_takes_the_room_it_gets(held) -> None:
    field, _told = held(ChoiceField(CHOICE, "the usual"))
    assert [field.combo.itemText(each) for each in range(3)] == ["the usual", "User", "System"]
    assert field.combo.accessibleName() == field.combo.view().accessibleName() == "Role"
    assert field.combo.focusPolicy() is Qt.FocusPolicy.StrongFocus
    assert field.combo.width() == field.width()
    assert field.minimumSizeHint().width() < 20  # else a long name would keep the form from becoming narrow
    field.show_value("elf")
    assert field.problem() == "This value means nothing, so the general one holds."
    field.combo.activated.emit(3)  # that is no choice
    assert _told == []


def test_a_summary_is_left_with_tab_and_has_no_undo_of_its_own(held, qtbot: QtBot) -> None:
    field, _told = held(SummaryField(FieldSpec("summary", "Summary", FieldKind.SUMMARY, "Help.")))
    field.show_value("A dragon.")
    assert not field.edit.isUndoRedoEnabled()
    assert field.edit.objectName() == "Summary"
    assert field.edit.placeholderText() == "What it is, and when to take it"
    other = QLineEdit(field.parentWidget())
    other.show()
    field.setFocus()
    qtbot.keyClick(field.edit, Qt.Key.Key_Tab)
    assert other.hasFocus()
    assert field.count.geometry().top() >= field.edit.geometry().bottom()
    line = field.edit.fontMetrics().lineSpacing()
    assert field.edit.height() >= 2 * line + 2 * field.edit.document().documentMargin()
    assert field.edit.toPlainText() == "A dragon."  # no tab is written


def test_what_a_property_means_is_told_at_its_field(held, theme: Theme) -> None:
    field, _told = held(ListField(theme, FieldSpec("keys", "Keys", FieldKind.WORDS, "Help.")))
    assert field.chips.input.toolTip() == "Help."
    raw, _told = held(RawField("x: {}", "It is nested."))
    (button,) = raw.findChildren(QPushButton)
    assert button.accessibleDescription() == "It is nested."
    (text,) = raw.findChildren(QLabel, "Raw")
    assert text.textInteractionFlags() & Qt.TextInteractionFlag.TextSelectableByMouse
    assert text.font() == fixed_font(raw.font().pointSizeF() * 0.95)
    assert text.geometry().bottom() <= button.geometry().top()
    asked: list[bool] = []
    raw.source_wanted.connect(lambda: asked.append(True))
    button.click()
    assert asked == [True]


# ---- texts ----------------------------------------------------------------------------------------------------------


def test_a_text_that_is_being_typed_is_left_alone_where_it_says_the_same(held, qtbot: QtBot) -> None:
    field, told = held(LineField(FieldSpec("x", "X", FieldKind.LINE, "Help."), ""))
    assert field.line.placeholderText() == "empty"
    field.line.setFocus()
    qtbot.keyClicks(field.line, "a ")
    field.show_value("a")
    assert (field.line.text(), told) == ("a ", ["a", "a "])
    field.show_value("b")
    assert field.line.text() == "b"
    field.show_value([])
    assert field.line.text() == ""


def test_a_summary_counts_its_characters_and_grows(held, qtbot: QtBot) -> None:
    field, told = held(SummaryField(FieldSpec("summary", "Summary", FieldKind.SUMMARY, "Help.")))
    field.show_value("A dragon.")
    assert (field.count.text(), told) == ("9 characters", [])
    low = field.edit.height()
    field.edit.setFocus()
    field.edit.selectAll()
    qtbot.keyClicks(field.edit, "x ")
    assert (field.count.text(), told[-1]) == ("1 character", "x")
    field.show_value("x")
    assert field.edit.toPlainText() == "x "  # the space that is being typed stays
    field.show_value("line\n" * 5)
    assert field.edit.height() > low
    field.show_value("line\n" * 50)
    high = field.edit.height()
    field.show_value("line\n" * 90)
    assert field.edit.height() == high


@pytest.mark.parametrize("pressed", [Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier])
def test_enter_begins_a_line_where_the_note_has_several_with_shift_too(held, qtbot: QtBot, pressed) -> None:
    field, told = held(SummaryField(FieldSpec("summary", "Summary", FieldKind.SUMMARY, "Help.")))
    field.edit.setFocus()
    for before, after in (("One", "One"), ("One\ntwo", "One\n\ntwo")):
        field.show_value(before)
        field.edit.moveCursor(QTextCursor.MoveOperation.EndOfBlock)
        qtbot.keyClick(field.edit, Qt.Key.Key_Return, pressed)
        assert field.edit.toPlainText() == after
    assert told == ["One\n\ntwo"], "no U+2028, which YAML has to escape"
    field.show_value("\n".join(map(str, range(20))))
    field.edit.moveCursor(QTextCursor.MoveOperation.End)
    qtbot.keyClick(field.edit, Qt.Key.Key_Return, pressed)
    assert field.edit.rect().contains(field.edit.cursorRect()), "more lines than the field has room for"
    field.show_value("One\ntwo")
    qtbot.keyClick(field.edit, Qt.Key.Key_Return, pressed | Qt.KeyboardModifier.ControlModifier)
    assert field.edit.toPlainText() == "One\ntwo"


def test_what_cannot_be_edited_shows_its_first_lines(held) -> None:
    field, _told = held(RawField("\n".join(map(str, range(9))), "It is nested."))
    texts = [each.text() for each in field.findChildren(QWidget) if hasattr(each, "text")]
    assert "0\n1\n2\n3\n4\n5\n…" in texts
    assert "It is nested." in texts
    whole, _told = held(RawField("a\nb\nc\nd\ne\nf\n", "It is nested."))
    assert "a\nb\nc\nd\ne\nf" in [each.text() for each in whole.findChildren(QWidget) if hasattr(each, "text")]


# ---- chips ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def chips(held, theme: Theme) -> tuple[ChipsField, list[object]]:
    field, told = held(ListField(theme, FieldSpec("keys", "Keys", FieldKind.WORDS, "Help.")))
    field.show_value(["one", "two", "three"])
    return field.chips, told


def test_a_pasted_text_is_cut_into_items() -> None:
    assert split_items(" a, b\nc ,, \r\nd") == ["a", "b", "c", "d"]
    assert split_items(" , ") == []
    assert split_items("  - fox\n  - 'the red one'\n- a, b\n") == ["fox", "the red one", "a", "b"]


def test_a_comma_in_a_pattern_divides_nothing() -> None:
    assert split_items(r"/moths{1,2}/i, /a\/b,c/,x") == ["/moths{1,2}/i", r"/a\/b,c/", "x"]
    assert split_items("/r/place, /u/name, /half") == ["/r/place", "/u/name", "/half"]


def test_keys_on_a_chip(chips: tuple[ChipsField, list[object]], qtbot: QtBot) -> None:
    field, told = chips
    key, chip = Qt.Key, field.chips
    field.input.setFocus()
    qtbot.keyClick(field.input, key.Key_Backspace)
    assert chip[2].hasFocus()
    for pressed, place in ((key.Key_Home, 0), (key.Key_Left, 0), (key.Key_Right, 1), (key.Key_Left, 0)):
        qtbot.keyClick(next(each for each in chip if each.hasFocus()), pressed)
        assert chip[place].hasFocus()
    qtbot.keyClick(chip[0], key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QApplication.clipboard().text() == "one"
    qtbot.keyClick(chip[0], key.Key_End)
    assert field.input.hasFocus()
    chip[1].setFocus()
    qtbot.keyClick(chip[1], key.Key_Escape)
    assert field.input.hasFocus()
    assert told == []
    both = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    qtbot.keyClick(chip[0], key.Key_Right, both)
    assert (told[-1], field.chips[1].hasFocus()) == (["two", "one", "three"], True)
    qtbot.keyClick(field.chips[2], key.Key_Right, both)  # it is the last one
    assert len(told) == 1
    field.chips[2].setFocus()
    qtbot.keyClick(field.chips[2], key.Key_Backspace)
    assert (told[-1], field.chips[1].hasFocus()) == (["two", "one"], True)


def test_an_item_is_written_anew_in_its_place(chips: tuple[ChipsField, list[object]], qtbot: QtBot) -> None:
    field, told = chips
    left: list[bool] = []
    field.left.connect(lambda: left.append(True))
    qtbot.mouseDClick(field.chips[1], Qt.MouseButton.LeftButton, pos=QPoint(8, 8))
    assert (field.input.text(), field.chips[1].isVisible()) == ("two", False)
    qtbot.keyClick(field.input, Qt.Key.Key_Escape)
    assert (field.input.text(), told, left) == ("", [], [])
    qtbot.keyClick(field.input, Qt.Key.Key_Escape)
    assert left == [True]
    field.edit(field.chips[1])
    qtbot.keyClicks(field.input, "a,")
    assert told == [["one", "a", "three"]]
    field.edit(field.chips[1])
    field.input.clear()
    qtbot.keyClick(field.input, Qt.Key.Key_Return)
    assert told[-1] == ["one", "three"]  # nothing was written in its place


def test_the_cross_takes_an_item_away_and_the_rest_does_not(
    chips: tuple[ChipsField, list[object]], qtbot: QtBot
) -> None:
    field, told = chips
    left = Qt.MouseButton.LeftButton
    qtbot.mouseClick(field.chips[0], left, pos=QPoint(6, 8))
    assert told == []
    assert field.chips[0].hasFocus()
    qtbot.mouseClick(field.chips[0], left, pos=QPoint(field.chips[0].width() - 6, 8))
    assert (told, field.chips[0].hasFocus()) == ([["two", "three"]], True)
    field.read_only = True
    qtbot.mouseClick(field.chips[0], left, pos=QPoint(field.chips[0].width() - 6, 8))
    qtbot.keyClick(field.chips[0], Qt.Key.Key_F2)
    assert (len(told), field.input.text()) == (1, "")


def drop(field: ChipsField, place: int, at: QPoint) -> None:
    data = QMimeData()
    data.setData("application/x-lorestudio-chip", str(place).encode())
    event = QDropEvent(
        QPointF(at), Qt.DropAction.MoveAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    )
    field.dropEvent(event)
    assert event.isAccepted()  # else it is drawn on its way back


def test_a_chip_is_dropped_before_the_one_under_the_pointer(chips: tuple[ChipsField, list[object]]) -> None:
    field, told = chips
    first, second, third = (each.geometry() for each in field.chips)
    ends = (first.center() - QPoint(3, 0), second.center() - QPoint(3, 0), third.center() + QPoint(3, 0))
    assert [field.place_at(place) for place in ends] == [0, 1, 3]
    assert field.place_at(QPoint(5, 200)) == 3
    drop(field, 0, ends[2])
    drop(field, 2, QPoint(3, 8))
    assert told == [["two", "three", "one"], ["one", "two", "three"]]
    drop(field, 1, QPoint(field.chips[1].geometry().center().x() - 3, 8))  # where it is
    drop(field, 7, ends[0])
    assert [each for each in told if each != ["one", "two", "three"]] == told[:1]


def test_what_is_typed_is_not_lost_with_the_keyboard(chips: tuple[ChipsField, list[object]], qtbot: QtBot) -> None:
    field, told = chips
    field.input.setFocus()
    qtbot.keyClicks(field.input, "half")
    QApplication.sendEvent(field.input, QFocusEvent(QEvent.Type.FocusOut, Qt.FocusReason.PopupFocusReason))
    assert told == []  # an offer is looked at
    QApplication.sendEvent(field.input, QFocusEvent(QEvent.Type.FocusOut, Qt.FocusReason.TabFocusReason))
    assert told == [["one", "two", "three", "half"]]


def test_chips_are_named_marked_and_drawn(chips: tuple[ChipsField, list[object]], theme: Theme) -> None:
    field, _told = chips
    assert field.accessibleName() == "Keys: one, two, three"
    assert field.chips[1].accessibleName() == "two, 2 of 3"
    wide = field.chips[1].sizeHint().width()
    field.set_mark(lambda item: "No such thing." if item == "two" else "")
    assert field.chips[1].toolTip() == field.chips[1].accessibleDescription() == "No such thing."
    assert "Delete removes it" in field.chips[0].toolTip()
    assert field.chips[1].sizeHint().width() == wide + 16
    assert words_drawn(field.chips[1]) == ["two"]
    assert len([each for each in drawn(field.chips[1]) if each.kind == "image"]) == 2  # the warning and the cross
    assert len([each for each in drawn(field.chips[0]) if each.kind == "image"]) == 1
    field.set_items([])
    assert (field.accessibleName(), field.input.placeholderText()) == ("Keys: none", "Add…")
    field.set_items([""])
    assert (words_drawn(field.chips[0]), field.input.placeholderText()) == (["(empty)"], "")


# ---- the name of a property -----------------------------------------------------------------------------------------


def test_the_name_of_a_property_does_what_its_keys_and_menu_say(theme: Theme, qtbot: QtBot) -> None:
    name = NameButton(theme, NUMBER)
    qtbot.addWidget(name)
    name.show()
    told: list[str] = []
    name.asked.connect(told.append)
    key = Qt.Key
    for renamable in (False, True):
        name.renamable = renamable
        for pressed in (key.Key_Delete, key.Key_Backspace, key.Key_F2, key.Key_A):
            qtbot.keyClick(name, pressed)
    assert told == ["remove", "remove", "remove", "remove", "rename"]
    told.clear()
    offered = []
    for name.renamable, name.written in ((False, False), (True, False), (True, True)):
        menu = name.open_menu()
        assert menu is not None
        offered.append([each.text() for each in menu.actions()])
        for each in menu.actions():
            each.trigger()
        menu.close()
    assert offered == [
        ["Remove property"], ["Remove property", "Rename…"], ["Remove property", "Rename…", "Show in source"],
    ]  # fmt: skip
    assert told == ["remove", "remove", "rename", "remove", "rename", "source"]
    fixed = NameButton(theme, NUMBER, fixed=True)
    qtbot.addWidget(fixed)
    assert (fixed.open_menu(), fixed.focusPolicy()) == (None, Qt.FocusPolicy.NoFocus)
    assert fixed.accessibleName() == "Property Priority"


# ---- which field ----------------------------------------------------------------------------------------------------


def test_each_kind_has_its_field(qtbot: QtBot, theme: Theme) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    maker = FieldMaker(theme, FieldContext(), parent)
    kinds = {
        FieldKind.NUMBER: NumberField, FieldKind.CHOICE: ChoiceField, FieldKind.FLAG: FlagField,
        FieldKind.SUMMARY: SummaryField, FieldKind.LINE: LineField, FieldKind.WORDS: ListField,
    }  # fmt: skip
    for kind, made in kinds.items():
        spec = FieldSpec("x", "X", kind, "Help.", choices=(("a", "A"),))
        assert type(maker.make("x", spec)) is made
        assert type(maker.make("x", spec, "It is nested.", "x: {}")) is RawField
    line = maker.make("x", FieldSpec("x", "X", FieldKind.LINE, "Help.", values=("autumn", "spring", "late spring")))
    line.line.completer().fill("spr")
    assert line.line.completer().model().stringList() == ["spring", "late spring"]
    assert maker.make("x", FieldSpec("x", "X", FieldKind.LINE, "Help.")).line.completer() is None


@pytest.mark.parametrize("pressed", [(), (Qt.Key.Key_Down,), (Qt.Key.Key_Down, Qt.Key.Key_Return)])
def test_an_offer_that_stands_in_a_line_is_what_the_note_gets(
    qtbot: QtBot, theme: Theme, pressed: tuple[Qt.Key, ...]
) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    parent.show()
    qtbot.waitExposed(parent)
    spec = FieldSpec("season", "Season", FieldKind.LINE, "Help.", values=("autumn", "spring"))
    made = FieldMaker(theme, FieldContext(), parent).make("season", spec)
    made.show()
    told: list[object] = []
    made.changed.connect(told.append)
    drain()
    made.line.setFocus()
    drain()
    qtbot.keyClicks(made.line, "aut")
    popup = made.line.completer().popup()
    for key in pressed:
        qtbot.keyClick(popup, key)
    if not pressed:
        offer = popup.visualRect(popup.model().index(0, 0))
        qtbot.mouseClick(popup.viewport(), Qt.MouseButton.LeftButton, pos=offer.center())
    assert (made.line.text(), told[-1]) == ("autumn", "autumn")
    popup.hide()
