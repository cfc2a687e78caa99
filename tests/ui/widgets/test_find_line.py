"""Finding words in a text: by the buttons beside the field, by keys, and back to the text."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPlainTextEdit, QToolButton, QVBoxLayout, QWidget
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
