"""What differs between two texts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.widgets.diff_view import DiffView, diff_lines, marked_html, word_spans

TEXT = st.lists(st.sampled_from(["one two\n", "three\n", "one four\n", "\n", "five & six\n"]), max_size=14).map("".join)


@given(before=TEXT, after=TEXT)
def test_each_side_can_be_put_together_again(before: str, after: str) -> None:
    lines = diff_lines(before, after)
    if not lines:
        assert before == after
        return
    old, at = before.splitlines(), 0
    for line in lines:
        if line.folded:
            at += line.folded
        elif line.sign != "+":
            assert old[at] == line.text
            at += 1
    assert at == len(old)
    come = [line.text for line in lines if line.sign == "+"]
    gone = [line.text for line in lines if line.sign == "-"]
    assert len(after.splitlines()) == len(old) + len(come) - len(gone)


def test_words_that_differ() -> None:
    before, after = "A grey dragon sleeps.", "A red dragon sleeps now."
    first, second = word_spans(before, after)
    assert [before[start:end] for start, end in first] == ["grey"]
    assert [after[start:end] for start, end in second] == ["red", " now"]


def test_nothing_is_marked_where_hardly_anything_is_the_same() -> None:
    assert word_spans("abc def", "123-456-789-000") == ((), ())


def test_marks_are_no_markup_of_the_text() -> None:
    assert marked_html("<b> & x", ((0, 3),), "s") == (
        '<div style="white-space: pre-wrap"><span style="s">&lt;b&gt;</span> &amp; x</div>'
    )


@pytest.fixture
def view(theme: Theme, qtbot: QtBot) -> DiffView:
    made = DiffView(theme, ("Saved", "Now"))
    qtbot.addWidget(made)
    made.resize(400, 120)
    return made


def grounds(view: DiffView) -> list[str]:
    """The colour behind each line, "" for none."""
    document = view.view.document()
    brushes = [document.findBlockByNumber(at).blockFormat().background() for at in range(document.blockCount())]
    return ["" if brush.style() is Qt.BrushStyle.NoBrush else brush.color().name() for brush in brushes]


def marked(view: DiffView, line: int) -> list[str]:
    """The words of a line that are marked."""
    parts = view.view.document().findBlockByNumber(line).begin()
    found = []
    while not parts.atEnd():
        if parts.fragment().charFormat().background().style() is not Qt.BrushStyle.NoBrush:
            found.append(parts.fragment().text())
        parts += 1
    return found


def ink(view: DiffView, line: int) -> str:
    """The colour in which a line begins."""
    cursor = QTextCursor(view.view.document().findBlockByNumber(line))
    cursor.movePosition(QTextCursor.MoveOperation.Right)
    return cursor.charFormat().foreground().color().name()


def test_lines_that_differ_are_shown_with_signs_and_grounds_and_equal_ones_folded(view: DiffView, theme: Theme) -> None:
    assert [label.text() for label in view.findChildren(QLabel)][1:] == ["-  Saved", "+  Now"]
    before = [f"line {number}" for number in range(12)]
    after = [*before[:5], "line five", *before[6:], "more"]
    view.show_texts("\n".join(before), "\n".join(after))
    assert view.view.toPlainText().split("\n") == [
        "⋯ 3 lines alike", "  line 3", "  line 4", "- line 5", "+ line five", "  line 6", "  line 7",
        "⋯ 2 lines alike", "  line 10", "  line 11", "+ more",
    ]  # fmt: skip
    gone, come = theme.color("error_soft").name(), theme.color("good_soft").name()
    assert grounds(view) == ["", "", "", gone, come, "", "", "", "", "", come]
    assert [marked(view, line) for line in (3, 4, 10, 1)] == [["5"], ["five"], [], []]
    faint, text = theme.color("text_faint").name(), theme.color("text").name()
    assert [ink(view, line) for line in (0, 1, 3)] == [faint, faint, text]
    assert view.summary.text() == view.view.accessibleDescription() == "3 lines differ"
    assert view.view.textCursor().blockNumber() == 3
    theme.choose("dark")
    assert grounds(view)[3:5] == [theme.color("error_soft").name(), theme.color("good_soft").name()]
    assert gone not in grounds(view)
    theme.choose("light")
    view.show_texts("one\ntwo\n" + "\n".join(before), "two\n" + "\n".join(before))
    assert view.view.toPlainText().split("\n") == ["- one", "  two", "  line 0", "⋯ 11 lines alike"]
    assert grounds(view) == [gone, "", "", ""]
    assert view.summary.text() == "1 line differs"


@pytest.mark.parametrize(
    ("after", "words"), [("a\nb", "The texts are the same."), ("a\r\nb", "Only line ends differ.")]
)
def test_that_nothing_differs_is_said(view: DiffView, after: str, words: str) -> None:
    view.show_texts("a\nb", after)
    assert (view.summary.text(), view.view.toPlainText()) == (words, "")
