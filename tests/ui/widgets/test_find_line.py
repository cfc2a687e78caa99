"""Finding words in a text: by the buttons beside the field, by keys, and back to the text."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPlainTextEdit, QPushButton, QToolButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.widgets.find_line import FindLine


@pytest.fixture
def line(qtbot: QtBot, theme: Theme) -> Iterator[tuple[FindLine, QPlainTextEdit]]:
    holder = QWidget()
    text = QPlainTextEdit("bell one\nbell two\nbell three", holder)
    made = FindLine(theme, lambda: text, holder)
    column = QVBoxLayout(holder)
    column.addWidget(made)
    column.addWidget(text)
    qtbot.addWidget(holder)
    holder.show()
    made.begin()
    yield made, text
    made.close_line()


def test_accents_and_capital_letters_are_found_however_they_are_written(line: tuple[FindLine, QPlainTextEdit]) -> None:
    made, text = line
    text.setPlainText("Cafe\u0301, CAF\u00c9 and caf\u00e9 (a.b)")
    for words, found in (("caf\u00e9", "1 of 3"), ("e\u0301", "1 of 3"), ("(A.B", "1 of 1"), ("a-b", "none"), ("", "")):
        made.field.setText(words)
        assert made.found.text() == found
        assert bool(text.extraSelections()) is (found not in {"none", ""})


def test_buttons_and_keys_go_on_and_back_round_the_text(line: tuple[FindLine, QPlainTextEdit]) -> None:
    made, text = line
    QTest.keyClicks(made.field, "bell")
    lines = [text.textCursor().blockNumber()]
    before, after, _close = made.findChildren(QToolButton, options=Qt.FindChildOption.FindDirectChildrenOnly)
    for button in (after, after, after, before, before):
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)
        lines.append(text.textCursor().blockNumber())
    QTest.keyClick(made.field, Qt.Key.Key_Return)
    lines.append(text.textCursor().blockNumber())
    QTest.keyClick(made.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    lines.append(text.textCursor().blockNumber())
    assert lines == [0, 1, 2, 0, 2, 1, 2, 1]
    assert text.textCursor().selectedText() == "bell"
    assert (made.found.text(), len(text.extraSelections())) == ("2 of 3", 3)
    QTest.keyClick(made.field, Qt.Key.Key_Return)
    QTest.keyClicks(made.field, " t")  # more words are looked for where one has got to
    assert (text.textCursor().blockNumber(), text.textCursor().selectedText()) == (2, "bell t")
    QTest.keyClick(made.field, Qt.Key.Key_Escape)
    assert made.isHidden()
    assert text.hasFocus()
    assert text.extraSelections() == []


def test_another_text_is_searched_from_its_own_caret(line: tuple[FindLine, QPlainTextEdit]) -> None:
    made, text = line
    text.moveCursor(QTextCursor.MoveOperation.End)
    made.begin()  # the search begins at the end of this text
    text.setPlainText("bell a\nbell b\n" + "no\n" * 40 + "bell c")
    made.renew(another=True)
    QTest.keyClicks(made.field, "bell")
    assert (text.textCursor().blockNumber(), made.found.text()) == (0, "1 of 3")
    QTest.keyClick(made.field, Qt.Key.Key_Return)
    made.renew()  # it was only edited: the search goes on where it is
    QTest.keyClicks(made.field, " b")
    assert text.textCursor().blockNumber() == 1


def test_a_text_that_came_while_the_line_was_out_of_sight_is_searched_from_its_own_caret(
    line: tuple[FindLine, QPlainTextEdit],
) -> None:
    made, text = line
    QTest.keyClicks(made.field, "bell t")
    text.moveCursor(QTextCursor.MoveOperation.End)
    made.begin()
    made.window().hide()  # as behind another tab
    text.setPlainText("a bell\n" + "no\n" * 40 + "bell c")
    made.renew(another=True)
    made.window().show()
    assert made.found.text() == "none", "what is looked for is marked in it at once"
    made.field.clear()
    QTest.keyClicks(made.field, "bell")
    assert (text.textCursor().blockNumber(), made.found.text()) == (0, "1 of 2")


def test_without_words_the_caret_stays_and_what_is_no_occurrence_is_not_replaced(
    line: tuple[FindLine, QPlainTextEdit],
) -> None:
    made, text = line
    text.moveCursor(QTextCursor.MoveOperation.EndOfLine)
    QTest.keyClick(made.field, Qt.Key.Key_Return)
    assert (text.textCursor().position(), made.found.text()) == (len("bell one"), "")
    made.begin(replacing=True)
    made.field.setText("two")
    for place, long in ((0, len("bell")), (text.toPlainText().index("two"), 0)):
        cursor = text.textCursor()
        cursor.setPosition(place)
        cursor.setPosition(place + long, QTextCursor.MoveMode.KeepAnchor)
        text.setTextCursor(cursor)
        made.new.setText("new")
        QTest.keyClick(made.new, Qt.Key.Key_Return)
        assert (text.toPlainText(), text.textCursor().selectedText()) == ("bell one\nbell two\nbell three", "two")
    text.setReadOnly(True)
    made._replace()
    assert "two" in text.toPlainText(), "a text that became one to read only"


def test_what_is_found_is_replaced_one_by_one_and_all_at_once(line: tuple[FindLine, QPlainTextEdit]) -> None:
    made, text = line
    assert made.second.isHidden()
    made.begin(replacing=True)
    QTest.keyClicks(made.field, "bell")
    QTest.keyClick(made.field, Qt.Key.Key_Down)
    QTest.keyClicks(made.new, "Bellow")  # what was looked for is in it
    QTest.keyClick(made.new, Qt.Key.Key_Return)
    assert (text.toPlainText(), text.textCursor().blockNumber()) == ("Bellow one\nbell two\nbell three", 1)
    QTest.keyClick(made.new, Qt.Key.Key_Up)
    assert made.field.hasFocus()
    QTest.keyClick(made.field, Qt.Key.Key_Return)
    text.moveCursor(QTextCursor.MoveOperation.Start)
    QTest.keyClick(made.new, Qt.Key.Key_Return)  # nothing is selected yet, so nothing is replaced
    assert text.toPlainText() == "Bellow one\nbell two\nbell three"
    (all_,) = (each for each in made.findChildren(QPushButton) if each.text() == "Replace all")
    all_.setFocus()
    QTest.keyClick(all_, Qt.Key.Key_Return)
    assert (text.toPlainText(), made.replaced.text()) == ("Bellowow one\nBellow two\nBellow three", "3 replaced")
    text.undo()
    text.undo()
    assert text.toPlainText() == "bell one\nbell two\nbell three"
    text.setReadOnly(True)
    made.begin(replacing=True)
    assert made.second.isHidden()
    all_.click()
    assert (text.toPlainText(), made.replaced.text()) == ("bell one\nbell two\nbell three", "0 replaced")
