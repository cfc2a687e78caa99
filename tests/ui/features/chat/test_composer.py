"""Where messages are written: keys of the field, who is named, who writes replies, and what comes of a reply."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QPoint, QRect, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDockWidget, QGridLayout, QLabel, QMainWindow, QToolButton, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from lorestudio.studio.chat.editing import Voice
from lorestudio.ui.features.chat.composer import MOST_LINES, REPLY_LINES, Composer, MessageField
from tests.ui.conftest import drain

WRITERS = [("stand-in", "A placeholder"), ("", "I write myself"), ("Home", "Home · small")]


@pytest.fixture
def composer(qtbot: QtBot) -> Composer:
    made = Composer()
    qtbot.addWidget(made)
    made.resize(700, 300)
    made.show()
    return made


def heard(composer: Composer) -> list[tuple[object, ...]]:
    told: list[tuple[object, ...]] = []
    for name in ("written", "wanted", "writer_chosen", "kept", "changed", "thrown_away", "shown", "left"):
        getattr(composer, name).connect(lambda *what, name=name: told.append((name, *what)))
    return told


def parts(composer: Composer) -> list[str]:
    """What of a reply that comes is there to be seen and used."""
    names = ("reply_label", "reply_text", "stop", "show_reply", "keep", "throw")
    return [name for name in names if getattr(composer, name).isVisibleTo(composer)]


def test_the_writer_who_is_chosen_is_ticked_and_named(composer: Composer) -> None:
    for chosen, title in (("Home", "Home · small"), ("", "I write myself"), ("stand-in", "A placeholder")):
        composer.show_writers(WRITERS, chosen)
        actions = composer.reply_button.menu().actions()
        assert [action.text() for action in actions if action.isChecked()] == [title]
        assert [action.text() for action in actions if action.isCheckable()] == [title for _name, title in WRITERS]
        assert composer.reply_button.toolTip() == f"Replies: {title}"
    assert composer.reply_button.text() == "Reply"


def test_the_menu_of_writers_tells_who_was_chosen_and_leads_to_what_they_need(composer: Composer) -> None:
    composer.show_writers(WRITERS, "")
    told = heard(composer)
    for action in composer.reply_button.menu().actions():
        if not action.isSeparator():
            action.trigger()
    assert told == [
        ("writer_chosen", "stand-in"), ("writer_chosen", ""), ("writer_chosen", "Home"),
        ("wanted", "profiles.edit"), ("wanted", "chat.setup"),
    ]  # fmt: skip
    assert composer.reply_button.menu().actions()[len(WRITERS)].isSeparator()


def test_another_writer_takes_the_tick_over_also_after_the_menu_was_filled_anew(composer: Composer) -> None:
    for _twice in range(2):
        composer.show_writers(WRITERS, "")
    first, _second, last = composer.reply_button.menu().actions()[:3]
    for action in (last, first):
        action.trigger()
        assert [each.isChecked() for each in composer.reply_button.menu().actions()[:3]] == [
            action is first, False, action is last,
        ]  # fmt: skip


def test_names_stand_in_the_list_of_voices_and_long_ones_are_shortened(composer: Composer) -> None:
    def voices() -> list[str]:
        return [composer.voice.itemText(place) for place in range(composer.voice.count())]

    assert voices() == ["You", "Character", "System"]
    composer.show_names("Wren", "Ada of the Seven Hills and Valleys")
    assert voices()[0] == "Wren"
    assert voices()[1].startswith("Ada of the Seven")
    assert voices()[1].endswith("…")
    assert voices()[2] == "System"


def test_blanks_are_not_sent_and_what_is_sent_is_stripped(composer: Composer) -> None:
    told = heard(composer)
    composer.field.setPlainText(" \n ")
    assert not composer.send.isEnabled()
    composer.write()
    assert told == []
    composer.tell("A remark")
    composer.field.setPlainText(" I run.\n")
    assert composer.send.isEnabled()
    composer.send.click()
    assert told == [("written", "I run.", Voice.YOU)]
    assert (composer.field.toPlainText(), composer.hint.isHidden(), composer.hint.text()) == ("", True, "")
    assert not composer.send.isEnabled()


def test_escape_leaves_the_field_with_what_is_written(composer: Composer) -> None:
    told = heard(composer)
    QTest.keyClicks(composer.field, "I run")
    QTest.keyClick(composer.field, Qt.Key.Key_Escape)
    assert (told, composer.field.toPlainText()) == ([("left",)], "I run")


def test_the_tab_key_goes_on_to_the_next_field(composer: Composer) -> None:
    composer.field.setFocus()
    QTest.keyClicks(composer.field, "I run")
    QTest.keyClick(composer.field, Qt.Key.Key_Tab)
    assert composer.field.toPlainText() == "I run"
    assert not composer.field.hasFocus()


def test_the_field_grows_to_a_few_lines_and_then_scrolls(composer: Composer) -> None:
    line = composer.field.fontMetrics().lineSpacing()
    heights = []
    for lines in (1, 3, MOST_LINES, MOST_LINES + 5):
        composer.field.setPlainText("\n".join("word" for _ in range(lines)))
        heights.append(composer.field.height())
    assert heights[1] - heights[0] == pytest.approx(2 * line, abs=2)
    assert heights[2] - heights[0] == pytest.approx((MOST_LINES - 1) * line, abs=2)
    assert heights[3] == heights[2]
    assert heights[0] > line + 2 * composer.field.document().documentMargin()  # a line has room around it


@pytest.mark.parametrize("sends", [False, True])
def test_enter_finishes_only_where_it_sends_and_control_always(qtbot: QtBot, sends: bool) -> None:
    field = MessageField()
    field.sends = sends
    qtbot.addWidget(field)
    told: list[str] = []
    field.finished.connect(lambda: told.append("finished"))
    field.given_up.connect(lambda: told.append("given up"))
    none, shift, control = (
        Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier,
    )  # fmt: skip
    for key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
        for modifier, finishes in ((none, sends), (shift, False), (control, True)):
            told.clear()
            field.setPlainText("")
            QTest.keyClick(field, key, modifier)
            assert told == (["finished"] if finishes else [])
            assert field.toPlainText() == ("" if finishes else "\n")
            asked = QKeyEvent(QEvent.Type.ShortcutOverride, key, modifier)
            asked.ignore()
            field.event(asked)
            assert asked.isAccepted() or not finishes  # no shortcut of the window takes it from the field
    told.clear()
    QTest.keyClick(field, Qt.Key.Key_Escape)
    QTest.keyClick(field, Qt.Key.Key_A)
    assert told == ["given up"]


# ---- a reply that comes ----------------------------------------------------------------------------------------------


def test_while_a_reply_comes_it_can_be_stopped_and_looked_at(composer: Composer) -> None:
    told = heard(composer)
    assert parts(composer) == []
    composer.tell("A remark")
    composer.begin_reply()
    assert composer.hint.isHidden()
    assert (parts(composer), composer.deciding) == (["reply_label", "stop"], False)
    composer.offer_show(True)
    assert parts(composer) == ["reply_label", "stop", "show_reply"]
    composer.show_reply.click()
    composer.stop.click()
    assert told == [("shown",), ("wanted", "reply.stop")]
    composer.offer_show(False)
    assert parts(composer) == ["reply_label", "stop"]
    composer.end_reply()
    assert (parts(composer), composer.deciding) == ([], False)


def test_a_reply_that_is_out_of_sight_can_be_shown_from_its_beginning_on(composer: Composer) -> None:
    composer.offer_show(True)
    composer.begin_reply()
    assert parts(composer) == ["reply_label", "stop", "show_reply"]
    composer.ask_about("It broke off.", "Skarn")
    assert parts(composer) == ["reply_label", "reply_text", "keep", "throw"]
    composer.offer_show(True)
    assert parts(composer) == ["reply_label", "reply_text", "keep", "throw"]


def test_what_came_of_a_reply_is_changed_kept_or_thrown_away(composer: Composer) -> None:
    composer.begin_reply()
    told = heard(composer)
    composer.ask_about("It broke off.", "Skarn")
    assert composer.deciding
    assert composer.reply_label.text() == "It broke off."
    assert composer.reply_text.hasFocus()
    composer.reply_text.setPlainText("Skarn circles")
    composer.keep.click()
    composer.throw.click()
    assert told == [("changed", "Skarn"), ("changed", "Skarn circles"), ("kept", "Skarn circles"), ("thrown_away",)]
    composer.end_reply()
    assert not composer.deciding
    composer.begin_reply()
    assert (composer.deciding, composer.reply_label.text()) == (False, "")


def test_what_is_begun_is_said_until_it_is_given_up(composer: Composer) -> None:
    told = heard(composer)
    assert composer.begun == ""
    composer.give_up()  # of nothing
    composer.field.setPlainText(" \n")
    assert composer.begun == ""
    composer.field.setPlainText("And then")
    assert composer.begun == "The message that you began was not sent."
    composer.give_up()
    assert (composer.field.toPlainText(), composer.begun, told) == ("", "", [])
    composer.begin_reply()
    assert composer.begun == "A reply is being written."
    composer.ask_about("It broke off.", "")
    assert composer.begun == "What came of the reply is not kept yet."
    composer.give_up()
    assert told == [("changed", ""), ("thrown_away",)]
    composer.end_reply()
    assert composer.begun == ""


def test_the_menu_of_writers_opens_below_its_button(composer: Composer) -> None:
    composer.move(0, 0)
    composer.resize(400, 200)
    composer.show_writers(WRITERS, "")
    composer.offer_writers()
    menu, button = composer.reply_button.menu(), composer.reply_button
    assert menu.isVisible()
    assert menu.pos() == button.mapToGlobal(button.rect().bottomLeft())
    menu.close()


# ---- what stands where -----------------------------------------------------------------------------------------------


def place(composer: Composer, widget: QWidget) -> QRect:
    return QRect(widget.mapTo(composer, QPoint()), widget.size())


def test_all_of_a_wide_composer_stands_in_one_line_and_the_field_has_the_room(composer: Composer) -> None:
    composer.resize(900, 300)
    drain()
    voice, field, send, reply = (
        place(composer, each) for each in (composer.voice, composer.field, composer.send, composer.reply_button)
    )
    assert 0 < voice.left() < voice.right() < field.left() < field.right() < send.left() < send.right() < reply.left()
    assert reply.right() <= composer.width()
    assert voice.top() == field.top()
    assert field.width() > composer.width() / 2
    composer.show_names("Wren of the Very Long Name", "Ada")
    drain()
    assert voice.width() < composer.voice.width() <= 150  # as wide as the names, and no wider


def test_a_narrow_composer_has_its_field_above_and_goes_back(composer: Composer) -> None:
    tops = []
    for width in (900, 380, 370, 900):
        composer.resize(width, 300)
        drain()
        voice, field, send = (place(composer, each) for each in (composer.voice, composer.field, composer.send))
        tops.append((field.top() < voice.top(), voice.top() == send.top()))
        assert field.isValid()
        assert not field.intersects(voice)
        assert not field.intersects(send)
    assert tops == [(False, True), (True, True), (True, True), (False, True)]


def test_what_is_told_and_what_came_of_a_reply_stand_above_the_field(composer: Composer) -> None:
    assert composer.hint.isHidden()
    composer.tell("A placeholder. <a href='profiles.edit'>Connect a model</a>")
    composer.resize(700, 400)
    drain()
    assert place(composer, composer.hint).bottom() < place(composer, composer.field).top()
    assert composer.hint.textFormat() is Qt.TextFormat.RichText
    told = heard(composer)
    composer.hint.linkActivated.emit("profiles.edit")
    assert told == [("wanted", "profiles.edit")]
    composer.begin_reply()
    composer.ask_about("It broke off.", "Skarn")
    drain()
    text, said, keep, throw, field = (
        place(composer, each)
        for each in (composer.reply_text, composer.reply_label, composer.keep, composer.throw, composer.field)
    )
    assert 0 <= text.top() < text.bottom() < said.top() < said.bottom() < keep.top() < keep.bottom() < field.top()
    assert throw.right() < keep.left()
    lines = composer.reply_text.fontMetrics().lineSpacing()
    assert REPLY_LINES * lines < text.height() < (REPLY_LINES + 2) * lines


def test_many_lines_about_a_reply_get_room_of_their_own_where_the_pane_is_low(qtbot: QtBot) -> None:
    whole = QMainWindow()
    qtbot.addWidget(whole)
    composer, below = Composer(), QDockWidget(whole)
    dock = QDockWidget(whole)
    dock.setWidget(composer)
    below.setWidget(QLabel("below"))
    for each in (dock, below):
        whole.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, each)
    whole.resize(466, 500)
    whole.show()
    whole.resizeDocks([dock, below], [1, 500], Qt.Orientation.Vertical)
    composer.ask_about("There is no working connection. " * 10, "Skarn")
    drain()
    text, said, keep, field = (
        place(composer, each) for each in (composer.reply_text, composer.reply_label, composer.keep, composer.field)
    )
    assert text.bottom() < said.top() < said.bottom() < keep.top() < keep.bottom() < field.top()
    assert said.height() >= composer.reply_label.heightForWidth(said.width())


def test_the_keyboard_stays_where_somebody_writes_when_a_reply_breaks_off(composer: Composer) -> None:
    composer.begin_reply()
    composer.field.setFocus()
    QTest.keyClicks(QApplication.focusWidget(), "I r")
    composer.ask_about("It broke off.", "Skarn")
    QTest.keyClicks(QApplication.focusWidget(), "un.")
    assert (composer.field.toPlainText(), composer.reply_text.toPlainText()) == ("I run.", "Skarn")


def test_the_field_says_what_it_is_for_and_what_its_keys_do(composer: Composer) -> None:
    assert composer.field.placeholderText() == "Write a message…"
    assert "Shift+Enter begins a new line" in composer.field.toolTip()
    assert "is not searched" in composer.voice.toolTip()
    assert "Enter" in composer.send.toolTip()
    names = (composer.voice, composer.field, composer.reply_button, composer.reply_text, composer.hint)
    assert [each.accessibleName() for each in names] == [
        "Write as", "Message", "Get a reply, and choose who writes it", "What came of the reply",
        "About the last reply",
    ]  # fmt: skip


def test_enter_in_the_field_sends_and_the_button_for_a_reply_asks_for_one(composer: Composer) -> None:
    told = heard(composer)
    QTest.keyClicks(composer.field, "I run")
    QTest.keyClick(composer.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    QTest.keyClicks(composer.field, "fast")
    QTest.keyClick(composer.field, Qt.Key.Key_Return)
    composer.reply_button.click()
    assert told == [("written", "I run\nfast", Voice.YOU), ("wanted", "reply.get")]
    at_arrow = QToolButton.ToolButtonPopupMode.MenuButtonPopup
    assert composer.reply_button.popupMode() is at_arrow  # a click on the rest asks at once


def test_the_field_is_as_high_as_its_lines_at_every_width(composer: Composer) -> None:
    composer.field.setPlainText("Tell me of the fortress. " * 6)
    heights = []
    for width in (2000, 500, 2000, 500):
        composer.resize(width, 300)
        drain()
        heights.append(composer.field.height())
    assert heights[0] == heights[2] < heights[1] == heights[3]


def test_larger_letters_make_the_field_higher(composer: Composer) -> None:
    composer.field.setPlainText("Tell me of the fortress. " * 3)
    drain()
    low = composer.field.height()
    font = composer.field.font()
    font.setPointSizeF(font.pointSizeF() * 1.5)
    composer.field.setFont(font)
    drain()
    assert composer.field.height() > 1.4 * low


def test_items_of_its_layout_that_qt_deletes_are_known_no_more(composer: Composer) -> None:
    """PySide would take another object at such an address for the item, and end the program when that is deleted."""
    grid = composer.findChild(QGridLayout)
    for width in (260, 700):
        before = [grid.itemAt(place) for place in range(3)]
        composer.resize(width, 300)
        drain()
        assert [isValid(item) for item in before] == [False, False, False]
