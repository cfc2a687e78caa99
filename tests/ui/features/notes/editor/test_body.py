"""The text of a note: what is hidden cannot be reached, and links are followed and made."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, Qt
from PySide6.QtGui import (
    QDragMoveEvent,
    QDropEvent,
    QHelpEvent,
    QInputMethodEvent,
    QKeySequence,
    QMouseEvent,
    QTextCursor,
)
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolTip

from lorestudio.ui.features.notes.editor.body import COLUMN, link_at, links_in
from lorestudio.ui.features.notes.editor.buffer import NoteBuffer
from lorestudio.vault.note.text_edits import TextEdit
from tests.ui.conftest import drain
from tests.ui.features.notes.editor.notes import NASTY, PLAIN, link, place

FRONT, _, BODY = PLAIN.partition("# Skarn")
BODY = "# Skarn" + BODY
KEYS = QKeySequence.StandardKey


def visible(editor) -> list[str]:
    block, lines = editor.body.document().begin(), []
    while block.isValid():
        if block.isVisible():
            lines.append(block.text())
        block = block.next()
    return lines


# ---- coming back ----------------------------------------------------------------------------------------------------


@pytest.mark.dressed
def test_a_note_is_shown_again_where_it_was_left(make_editor) -> None:
    editor = make_editor(PLAIN + "\n".join(f"Line {number}." for number in range(200)))
    first, body = editor.buffer, editor.body
    place(editor, "Line 150.")
    body.verticalScrollBar().setValue(body.verticalScrollBar().value() + 4)
    left = body.textCursor().position(), body.verticalScrollBar().value()
    assert left[1] > 100
    other = NoteBuffer(Path("Bell.md"), PLAIN, "d", editor)
    editor.show_buffer(other, read_only=False)
    drain()
    assert body.textCursor().position() == body.first_place, "a note that was not looked at begins at its top"
    editor.show_buffer(first, read_only=False)
    drain()
    assert (body.textCursor().position(), body.verticalScrollBar().value()) == left
    editor.show_buffer(other, read_only=False)
    first.apply(TextEdit(0, 0, "x"))  # a change from elsewhere above it
    editor.show_buffer(first, read_only=False)
    assert body.textCursor().position() == left[0] + 1


# ---- what is hidden -------------------------------------------------------------------------------------------------


def test_the_form_shows_the_body_only_and_the_source_everything(make_editor) -> None:
    editor = make_editor(PLAIN)
    assert visible(editor) == BODY.split("\n")
    assert editor.form.isVisible()
    editor.set_source(True)
    assert visible(editor) == PLAIN.split("\n")
    assert not editor.form.isVisible()
    editor.set_source(False)
    assert visible(editor) == BODY.split("\n")


@pytest.mark.dressed
def test_letters_keep_their_size_in_both_views_and_in_every_theme(make_editor, theme) -> None:
    editor = make_editor(PLAIN)
    wanted = pytest.approx(QApplication.font().pointSizeF() * 1.1)
    for name in ("light", "dark"):
        theme.choose(name)
        drain()
        for source in (False, True):
            editor.set_source(source)
            assert editor.body.font().pointSizeF() == wanted
            assert editor.body.document().defaultFont().pointSizeF() == wanted


def test_properties_that_are_added_stay_hidden(make_editor) -> None:
    editor = make_editor(PLAIN)
    editor.buffer.apply(editor.buffer.note.set("summary", "A dragon."))
    drain()
    assert visible(editor) == BODY.split("\n")
    editor.undo()
    assert visible(editor) == BODY.split("\n")
    assert editor.buffer.text == PLAIN


@pytest.mark.parametrize("scrolled", [0, 5])
def test_the_text_stays_where_it_is_when_lines_that_are_hidden_come_and_go(make_editor, scrolled: int) -> None:
    lines = "".join(f"Line {number}.\n" for number in range(200))
    editor = make_editor(f"---\nkeys:\n  - skarn\n  - the dragon\n---\n{lines}")
    editor.body.verticalScrollBar().setValue(scrolled)
    for keys in (["skarn"], ["skarn", "wyrm", "fire", "scales"], []):
        editor.buffer.apply(editor.buffer.note.set("keys", keys))
        drain()
        assert editor.body.firstVisibleBlock().text() == f"Line {scrolled}."
        assert editor.body.verticalScrollBar().value() == scrolled
    editor.undo()
    drain()
    assert editor.body.firstVisibleBlock().text() == f"Line {scrolled}."
    editor.body.verticalScrollBar().setValue(20)
    editor.buffer.apply(editor.buffer.note.set("keys", ["wyrm"]))
    drain()
    assert editor.body.firstVisibleBlock().text() == "Line 20."


@pytest.mark.parametrize("keys", [KEYS.MoveToStartOfDocument, KEYS.MoveToPreviousLine, KEYS.MoveToPreviousChar])
def test_the_caret_stays_in_the_body(make_editor, keys) -> None:
    editor = make_editor(PLAIN)
    place(editor, "# Skarn")
    QTest.keySequence(editor.body, QKeySequence(keys))
    assert editor.body.textCursor().position() == len(FRONT)


@pytest.mark.parametrize("keys", [KEYS.SelectAll, KEYS.SelectStartOfDocument])
def test_a_selection_that_is_deleted_leaves_the_front_matter(make_editor, keys) -> None:
    editor = make_editor(PLAIN)
    place(editor, "A dragon.", end=True)
    QTest.keySequence(editor.body, QKeySequence(keys))
    QTest.keyClick(editor.body, Qt.Key.Key_Delete)
    drain()
    assert editor.buffer.text.startswith(FRONT)
    assert "Skarn" not in editor.buffer.text[len(FRONT) :]


@pytest.mark.parametrize("held", [Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ControlModifier])
def test_backspace_at_the_start_of_the_body_does_nothing(make_editor, held) -> None:
    editor = make_editor(PLAIN)
    place(editor, "# Skarn")
    QTest.keyClick(editor.body, Qt.Key.Key_Backspace, held)
    assert editor.buffer.text == PLAIN


def test_ctrl_backspace_deletes_up_to_the_start_of_the_body(make_editor) -> None:
    editor = make_editor("---\nkeys: a\n---\n  x")
    editor.body.moveCursor(QTextCursor.MoveOperation.End)
    for _ in range(3):
        QTest.keyClick(editor.body, Qt.Key.Key_Backspace, Qt.KeyboardModifier.ControlModifier)
    assert editor.buffer.text == "---\nkeys: a\n---\n"


def test_ctrl_backspace_below_empty_lines_takes_those_and_leaves_the_front_matter(make_editor) -> None:
    editor = make_editor("---\nkeys: a\n---\n\n\nx")
    place(editor, "x")
    for _ in range(3):
        QTest.keyClick(editor.body, Qt.Key.Key_Backspace, Qt.KeyboardModifier.ControlModifier)
    assert editor.buffer.text == "---\nkeys: a\n---\nx"


@pytest.mark.parametrize("held", [Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ControlModifier])
def test_backspace_takes_what_is_chosen_up_to_the_start_of_the_body(make_editor, held) -> None:
    editor = make_editor("---\nkeys: a\n---\nOne two")
    place(editor, "One", end=True)
    cursor = editor.body.textCursor()
    cursor.setPosition(editor.body.first_place, QTextCursor.MoveMode.KeepAnchor)
    editor.body.setTextCursor(cursor)
    QTest.keyClick(editor.body, Qt.Key.Key_Backspace, held)
    assert editor.buffer.text == "---\nkeys: a\n---\n two"


def test_backspace_takes_one_character(make_editor) -> None:
    editor = make_editor("---\nkeys: a\n---\n   x")
    place(editor, "x")
    QTest.keyClick(editor.body, Qt.Key.Key_Backspace)
    assert editor.buffer.text == "---\nkeys: a\n---\n  x"


def test_a_note_that_is_only_read_gets_no_line_to_write_in(make_editor) -> None:
    editor = make_editor("---\nkeys: a\n---")
    editor.show_buffer(editor.buffer, read_only=True)
    editor.body.setFocus()
    QTest.keyClicks(editor.body, "x")
    assert editor.buffer.text == "---\nkeys: a\n---"


def test_select_all_and_cut_take_the_body_only(make_editor) -> None:
    editor = make_editor(PLAIN)
    editor.body.setFocus()
    QTest.keySequence(editor.body, QKeySequence(KEYS.SelectAll))
    QTest.keySequence(editor.body, QKeySequence(KEYS.Cut))
    assert QApplication.clipboard().text() == BODY
    assert editor.buffer.text == FRONT


def test_nothing_is_dropped_before_the_body(make_editor) -> None:
    editor = make_editor(PLAIN)
    data = QMimeData()
    data.setText("dropped")
    event = QDropEvent(
        QPointF(1, -5), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    )
    editor.body.dropEvent(event)
    assert editor.buffer.text.startswith(FRONT)


def test_a_note_without_a_body_gets_a_line_to_write_in(make_editor) -> None:
    editor = make_editor("---\r\ntags: [lorebook]\r\n---")
    editor.body.setFocus()
    QTest.keyClicks(editor.body, "Hi")
    drain()
    assert editor.buffer.text == "---\r\ntags: [lorebook]\r\n---\r\nHi"
    assert visible(editor) == ["Hi"]


@pytest.mark.parametrize(
    ("key", "after"), [(Qt.Key.Key_Return, "\r\n\r\n"), (Qt.Key.Key_Right, ""), (Qt.Key.Key_F5, "")]
)
def test_only_what_is_written_makes_that_line(make_editor, key: Qt.Key, after: str) -> None:
    front = "---\r\ntags: [lorebook]\r\n---"
    editor = make_editor(front)
    editor.body.setFocus()
    QTest.keyClick(editor.body, key)
    drain()
    assert editor.buffer.text == front + after


def test_typing_in_a_nasty_note_changes_what_was_typed_only(make_editor) -> None:
    editor = make_editor(NASTY)
    place(editor, "lives", end=True)
    QTest.keyClicks(editor.body, " now")
    drain()
    assert editor.buffer.text == NASTY.replace("lives", "lives now")


# ---- links ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "at", "target"),
    [
        ("see [[A b|c]] x", 6, "A b"),
        ("see [[A]] x", 2, None),
        ("🐉[[A]]", 2, "A"),
        ("[[A]] [[B#h]]", 8, "B"),
        ("[[]]", 2, None),
        ("see [the bell](a/The%20bell.md#Its%20rope) x", 6, "a/The bell.md"),
        ("![x](<The bell.md>)", 9, "The bell.md"),
        ("[x](https://a.example/b.md)", 9, "https://a.example/b.md"),
        ("see https://a.example/b. x", 9, "https://a.example/b"),
        ("see javascript:alert(1) x", 9, None),
    ],
)
def test_the_link_at_a_place(line: str, at: int, target: str | None) -> None:
    found = link_at(line, at)
    assert (found.target if found else None) == target


def test_a_link_at_the_caret_is_followed(make_editor, qtbot) -> None:
    editor = make_editor(NASTY)
    place(editor, "Dawnkeep")
    with qtbot.waitSignal(editor.followed) as asked:
        assert editor.body.follow()
    assert [each.target for each in asked.args] == ["Dawnkeep"]
    place(editor, "dragon")
    assert not editor.body.follow()


def test_ctrl_and_a_click_follow_a_link(make_editor, qtbot) -> None:
    editor = make_editor(NASTY)
    place(editor, "wnkeep")
    where = editor.body.cursorRect().center()
    with qtbot.waitSignal(editor.followed):
        QTest.mouseClick(
            editor.body.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier, QPoint(where)
        )


def test_the_selection_or_the_word_becomes_a_link(make_editor) -> None:
    editor = make_editor(PLAIN)
    place(editor, "dragon")
    editor.body.toggle_marks("[[", "]]")
    assert "A [[dragon]]." in editor.buffer.text
    editor.undo()
    assert editor.buffer.text == PLAIN


def test_a_comment_comes_and_goes(make_editor) -> None:
    editor = make_editor(PLAIN)
    place(editor, "A dragon.")
    editor.body.toggle_comment()
    assert "\n%% A dragon. %%\n" in editor.buffer.text
    editor.body.toggle_comment()
    assert editor.buffer.text == PLAIN
    assert editor.parsed is not None


@pytest.mark.parametrize(
    ("line", "after"),
    [
        ("- One", "- One\n- x"), ("  * One", "  * One\n  * x"), ("9. One", "9. One\n10. x"), ("3) One", "3) One\n4) x"),
        ("- [x] Done", "- [x] Done\n- [ ] x"), ("> > Said", "> > Said\n> > x"), ("- ", "x"), ("2. [ ] ", "x"),
        ("- One\n\t- ", "- One\n- x"), ("1. One\n2. Two\n  - ", "1. One\n2. Two\n- x"),
        ("One - two", "One - two\nx"), ("2024 was", "2024 was\nx"), ("-", "-\nx"),
    ],
)  # fmt: skip
def test_enter_goes_on_with_a_list_and_ends_it(make_editor, qtbot, line: str, after: str) -> None:
    editor = make_editor(PLAIN.replace("A dragon.", line))
    editor.show()
    cursor = editor.body.textCursor()
    cursor.setPosition(PLAIN.index("A dragon.") + len(line))
    editor.body.setTextCursor(cursor)
    qtbot.keyClick(editor.body, Qt.Key.Key_Return)
    qtbot.keyClicks(editor.body, "x")
    assert editor.buffer.text == PLAIN.replace("A dragon.", after)


def test_enter_counts_on_in_the_rest_of_a_numbered_list_as_one_step(make_editor, qtbot) -> None:
    text = PLAIN.replace("A dragon.", "1. one\n2. two\n   5. in\n   7. too\n3. three\n\n7. other")
    editor = make_editor(text)
    place(editor, "one", end=True)
    qtbot.keyClick(editor.body, Qt.Key.Key_Return)
    after = "1. one\n2. \n3. two\n   5. in\n   7. too\n4. three\n\n7. other"
    assert editor.buffer.text == PLAIN.replace("A dragon.", after)
    assert editor.body.textCursor().block().text() == "2. "
    editor.undo()
    assert editor.buffer.text == text


@pytest.mark.parametrize(
    ("line", "after"),
    [("One", "One\nx"), ("- One", "- One\n  x"), ("\t1. [ ] One", "\t1. [ ] One\n\t   x"), ("> Said", "> Said\nx")],
)
def test_shift_and_enter_begin_a_line_of_the_same_item(make_editor, qtbot, line: str, after: str) -> None:
    editor = make_editor(PLAIN.replace("A dragon.", line))
    place(editor, line, end=True)
    qtbot.keyClick(editor.body, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClicks(editor.body, "x")
    assert editor.buffer.text == PLAIN.replace("A dragon.", after), "no U+2028, which no other program shows as a line"


CTRL, KEYPAD, SHIFT = (getattr(Qt.KeyboardModifier, f"{name}Modifier") for name in ("Control", "Keypad", "Shift"))


@pytest.mark.parametrize(
    ("chosen", "key", "pressed", "after"),
    [
        ("", Qt.Key.Key_Enter, KEYPAD, "- One\n- \n- Two\nEnd"), ("", Qt.Key.Key_Return, CTRL, "- One\n- Two\nEnd"),
        ("One", Qt.Key.Key_Return, KEYPAD, "- \n\n- Two\nEnd"), ("e\n- Tw", Qt.Key.Key_Return, SHIFT, "- On\n  o\nEnd"),
        ("o\nEn", Qt.Key.Key_Enter, SHIFT | KEYPAD, "- One\n- Tw\n  d"),
    ],
)  # fmt: skip
def test_enter_over_what_is_chosen_and_with_other_keys(make_editor, qtbot, chosen: str, key, pressed, after) -> None:
    editor = make_editor(PLAIN.replace("A dragon.", "- One\n- Two\nEnd"))
    text, cursor = editor.buffer.text, editor.body.textCursor()
    cursor.setPosition(text.index(chosen) if chosen else text.index("One") + 3)
    cursor.setPosition(cursor.position() + len(chosen), QTextCursor.MoveMode.KeepAnchor)
    editor.body.setTextCursor(cursor)
    qtbot.keyClick(editor.body, key, pressed)
    assert editor.buffer.text == PLAIN.replace("A dragon.", after)


def test_the_next_item_of_a_list_is_in_sight(make_editor, qtbot) -> None:
    editor = make_editor(PLAIN.replace("A dragon.", "\n".join(f"- {place}" for place in range(200))))
    editor.show()
    editor.body.moveCursor(QTextCursor.MoveOperation.End)
    editor.body.moveCursor(QTextCursor.MoveOperation.Left)
    for _ in range(3):
        qtbot.keyClick(editor.body, Qt.Key.Key_Return)
        assert editor.body.viewport().rect().contains(editor.body.cursorRect())
        qtbot.keyClick(editor.body, "x")


def test_a_bracket_or_a_mark_typed_over_a_selection_goes_around_it(make_editor, qtbot) -> None:
    editor = make_editor(PLAIN.replace("A dragon.", "A\u00a0dragon 🐉\nrests."))
    text, cursor = editor.buffer.text, editor.body.document().find("dragon 🐉")
    cursor.setPosition(editor.body.document().find("rests").selectionEnd(), QTextCursor.MoveMode.KeepAnchor)
    editor.body.setTextCursor(cursor)
    qtbot.keyClicks(editor.body, "*[")
    assert editor.buffer.text == text.replace("dragon 🐉\nrests", "*[dragon 🐉\nrests]*")
    assert editor.body.textCursor().selectedText() == "dragon 🐉\u2029rests"
    editor.undo()
    editor.undo()
    assert editor.buffer.text == text
    editor.body.setReadOnly(True)
    editor.body.setTextCursor(editor.body.document().find("dragon"))
    qtbot.keyClicks(editor.body, "*")
    assert editor.buffer.text == text


def test_each_sign_that_goes_around_has_its_own_end_and_any_other_replaces(make_editor, qtbot) -> None:
    editor = make_editor(PLAIN)
    found = []
    for sign in "[({\"'`*_~=])x":
        editor.body.setTextCursor(editor.body.document().find("dragon"))
        qtbot.keyClicks(editor.body, sign)
        found.append(editor.body.document().findBlock(PLAIN.index("A dragon")).text())
        editor.undo()
        assert editor.buffer.text == PLAIN
    around = ("[]", "()", "{}", '""', "''", "``", "**", "__", "~~", "==")
    assert found == [*(f"A {opens}dragon{closes}." for opens, closes in around), "A ].", "A ).", "A x."]


@pytest.mark.parametrize(
    ("lines", "chosen", "moved"),
    [
        ("- one\n- two", "two", "- one\n\t- two"),
        ("- one\n  - in\n1. two\n2) three", "two\n2)", "- one\n  - in\n  1. two\n  2) three"),
        ("- [ ] one\n    * in", "one\n    * in", "    - [ ] one\n        * in"),
        ("1. one\n2. two\n3. three", "two", "1. one\n\t1. two\n2. three"),
        ("4. one\n   1. in\n5. two\n6. end\n   9. own", "two", "4. one\n   1. in\n   2. two\n5. end\n   9. own"),
        ("1. one\n2. two\n- three\n7. end", "two", "1. one\n\t1. two\n- three\n7. end"),
    ],
)
def test_tab_moves_items_of_a_list_in_and_shift_with_it_out(
    make_editor, qtbot, lines: str, chosen: str, moved: str
) -> None:
    text, after = (PLAIN.replace("A dragon.", each) for each in (lines, moved))
    editor = make_editor(text)
    cursor = editor.body.textCursor()
    cursor.setPosition(text.index(chosen))
    cursor.setPosition(text.index(chosen) + len(chosen), QTextCursor.MoveMode.KeepAnchor)
    editor.body.setTextCursor(cursor)
    editor.body.setFocus()
    qtbot.keyClick(editor.body, Qt.Key.Key_Tab)
    assert editor.buffer.text == after
    qtbot.keyClick(editor.body, Qt.Key.Key_Backtab, Qt.KeyboardModifier.ShiftModifier)
    assert editor.buffer.text == text
    qtbot.keyClick(editor.body, Qt.Key.Key_Tab)
    editor.body.undo()
    assert (editor.buffer.text, editor.body.hasFocus()) == (text, True)


@pytest.mark.parametrize("line", ["> - one", "-one", "word - two"])
def test_tab_leaves_other_lines(make_editor, line: str) -> None:
    text = PLAIN.replace("A dragon.", line)
    editor = make_editor(text)
    place(editor, line)
    QTest.keyClick(editor.body, Qt.Key.Key_Tab)
    assert (editor.body.hasFocus(), editor.buffer.text) == (False, text)


def test_enter_before_or_in_the_middle_of_an_item_splits_it_as_any_line(make_editor, qtbot) -> None:
    editor = make_editor(PLAIN.replace("A dragon.", "- A dragon."))
    cursor = editor.body.document().find("dragon")
    cursor.setPosition(cursor.selectionStart())
    editor.body.setTextCursor(cursor)
    qtbot.keyClick(editor.body, Qt.Key.Key_Return)
    assert "- A \n- dragon." in editor.buffer.text
    cursor.movePosition(QTextCursor.MoveOperation.StartOfBlock)
    editor.body.setTextCursor(cursor)
    qtbot.keyClick(editor.body, Qt.Key.Key_Return)
    qtbot.keyClick(editor.body, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert "- A \n\n\n- dragon." in editor.buffer.text


def test_a_comment_over_lines_stays_out_of_the_prompt_and_comes_back(make_editor) -> None:
    text = PLAIN + "More.\n"
    editor = make_editor(text)
    cursor = editor.body.document().find("A dragon.")
    cursor.setPosition(cursor.selectionStart())
    cursor.movePosition(QTextCursor.MoveOperation.Down, QTextCursor.MoveMode.KeepAnchor)
    cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
    editor.body.setTextCursor(cursor)
    editor.body.toggle_comment()
    drain()
    assert editor.parsed.content == ""
    editor.body.toggle_comment()
    assert editor.buffer.text == text


@pytest.mark.parametrize(
    ("text", "after"),
    [("%%\n  A dragon.\n\n%%", "  A dragon."), ("%% A\nB %%", "A\nB"), ("%%\nA dragon.", "%%\n%%\nA dragon.\n%%")],
)
def test_a_comment_over_lines_is_opened_where_it_ends_too(make_editor, text: str, after: str) -> None:
    editor = make_editor(FRONT + text + "\n")
    cursor = editor.body.textCursor()
    cursor.setPosition(len(FRONT))
    cursor.setPosition(len(FRONT + text), QTextCursor.MoveMode.KeepAnchor)
    editor.body.setTextCursor(cursor)
    editor.body.toggle_comment()
    assert editor.buffer.text == FRONT + after + "\n"


def test_the_preview_of_a_link(make_editor) -> None:
    editor = make_editor(PLAIN)
    assert "A fortress." in editor.body.preview(link("Dawnkeep"))
    assert "DeepLore" not in editor.body.preview(link("Dawnkeep"))
    assert "DeepLore follows" in editor.body.preview(links_in("[x](places/Dawnkeep.md)")[0])
    assert "No note" in editor.body.preview(link("Elsewhere"))


# ---- colours --------------------------------------------------------------------------------------------------------


def formats(editor, line: str) -> dict[str, str]:
    block = editor.body.document().find(line).block()
    text = block.text()
    return {
        text[item.start : item.start + item.length]: item.format.foreground().color().name()
        for item in block.layout().formats()
    }


def test_missing_targets_look_different(make_editor, theme) -> None:
    editor = make_editor(PLAIN.replace("A dragon.", "[[Dawnkeep]] and [[Elsewhere]] %% not told %%"))
    found = formats(editor, "Dawnkeep")
    assert found["[[Dawnkeep]]"] == theme.color("accent").name()
    assert found["[[Elsewhere]]"] == theme.color("warning").name()
    assert found["%% not told %%"] == theme.color("text_faint").name()


@pytest.mark.long
def test_a_long_note_is_coloured_in_the_end(make_editor, qtbot) -> None:
    editor = make_editor(FRONT + "[[Dawnkeep]] and **more** of `it`\n" * 4000)
    highlighter = editor._highlighters[id(editor.buffer)]
    qtbot.waitUntil(lambda: not highlighter._pending, timeout=20_000)
    last = editor.body.document().lastBlock().previous()
    assert last.layout().formats()


def test_a_note_that_was_just_made_is_written_where_its_text_begins(make_editor) -> None:
    """Behind the first line below the heading, which asks for something; where there is none, at the end."""
    for text, place_of in (("# Moth\n\nWho they are: \n\nLooks:\n", "Who they are: "), ("# Moth\n\n", "")):
        editor = make_editor(FRONT + text)
        editor.body.begin()
        QTest.keyClicks(editor.body, "A moth.")
        assert editor.buffer.text == FRONT + (
            text.replace(place_of, f"{place_of}A moth.") if place_of else f"{text}A moth."
        )
        assert editor.body.hasFocus()


# ---- what the body does with what is typed, dropped and pointed at ---------------------------------------------------


@pytest.mark.parametrize(
    ("text", "chosen", "after"),
    [
        ("A dragon.", "A dragon", "[[A dragon]]."),
        ("A dragon.", None, "A [[dragon]]."),
        ("", None, "[[]]"),
        ("One.\nTwo.", "all", "[[One.]]\n[[Two.]]"),
    ],
)
def test_brackets_go_around_what_is_chosen_in_each_line(make_editor, text: str, chosen: str | None, after: str) -> None:
    editor = make_editor(FRONT + text)
    cursor = editor.body.textCursor()
    if chosen == "all":
        editor.body.selectAll()
    elif chosen:
        editor.body.setTextCursor(editor.body.document().find(chosen))
    else:
        cursor.setPosition(len(FRONT) + min(3, len(text)))
        editor.body.setTextCursor(cursor)
    editor.body.toggle_marks("[[", "]]")
    assert editor.buffer.text == FRONT + after
    if not text:
        QTest.keyClicks(editor.body, "Bell")
        assert editor.buffer.text == FRONT + "[[Bell]]"


@pytest.mark.parametrize(
    ("text", "chosen", "marks", "after", "again"),
    [
        ("A red dragon.", "red", "**", "A **red** dragon.", "A red dragon."),
        ("A red dragon.", " red ", "*", "A *red* dragon.", "A red dragon."),  # marks beside a blank are none
        ("A **red** one.", "red", "*", "A ***red*** one.", "A **red** one."),
        ("A ***red*** one.", "***red***", "**", "A *red* one.", "A ***red*** one."),
        ("- One\n  - 🐉 2\n\n> Said", "", "**", "- **One**\n  - **🐉 2**\n\n> **Said**", "- One\n  - 🐉 2\n\n> Said"),
        ("**One**\nTwo", "", "**", "**One**\n**Two**", "One\nTwo"),
    ],
)  # fmt: skip
def test_marks_come_and_go_around_what_is_chosen(
    make_editor, text: str, chosen: str, marks: str, after: str, again: str
) -> None:
    editor = make_editor(FRONT + text)
    editor.body.selectAll()
    if chosen:
        editor.body.setTextCursor(editor.body.document().find(chosen))
    for now in (after, again):
        editor.body.toggle_marks(marks, marks)
        assert editor.buffer.text == FRONT + now
    if chosen:
        assert editor.body.textCursor().selectedText() == "red"
    editor.undo()
    editor.undo()
    assert editor.buffer.text == FRONT + text


@pytest.mark.parametrize(
    ("text", "at", "typed"),
    [("A red.", 3, "A **rxed**."), ("A red.", 5, "A **redx**."), ("red.", 1, "**rxed**."), ("", 0, "**x**")],
)
def test_what_is_typed_behind_marks_of_a_word_stands_between_them(make_editor, text: str, at: int, typed: str) -> None:
    editor = make_editor(FRONT + text)
    cursor = editor.body.textCursor()
    cursor.setPosition(len(FRONT) + at)
    editor.body.setTextCursor(cursor)
    for _ in range(3):  # on, off, on
        editor.body.toggle_marks("**", "**")
    QTest.keyClicks(editor.body, "x")
    assert editor.buffer.text == FRONT + typed


def test_marks_around_blanks_are_typed_between(make_editor) -> None:
    editor = make_editor(FRONT + "A   b")
    editor.body.setTextCursor(editor.body.document().find("   "))
    editor.body.toggle_marks("**", "**")
    QTest.keyClicks(editor.body, "x")
    assert editor.buffer.text == FRONT + "A**x**   b"


def test_a_link_is_begun_where_no_word_is_even_beside_the_front_matter(make_editor) -> None:
    """The word that Qt finds before an empty body is the dashes above it, which nobody sees."""
    editor = make_editor(FRONT + "\nA dragon.")
    editor.body.moveCursor(QTextCursor.MoveOperation.Start)
    editor.body.toggle_marks("[[", "]]")
    assert editor.buffer.text == FRONT + "[[]]\nA dragon."
    assert editor.body.textCursor().position() == len(FRONT) + 2


def test_what_is_only_read_gets_neither_brackets_nor_comments(make_editor) -> None:
    editor = make_editor(PLAIN)
    place(editor, "dragon")
    editor.body.setReadOnly(True)
    editor.body.toggle_marks("[[", "]]")
    editor.body.toggle_comment()
    QTest.keyClick(editor.body, Qt.Key.Key_Backspace)
    assert editor.buffer.text == PLAIN


@pytest.mark.parametrize(
    ("text", "chosen", "after"),
    [
        ("A dragon.\nMore.", "dragon", "A %% dragon %%.\nMore."),
        ("A dragon.\nMore.", "", "%% A dragon. %%\nMore."),
        ("\nMore.", "", "%%  %%\nMore."),
        ("%%%%\nMore.", "", "\nMore."),
        ("%%%\n", "", "%% %%% %%\n"),  # three of them are no comment that could be opened
        ("  %% A dragon. %%\n", "", "  A dragon.\n"),
    ],
)
def test_what_becomes_of_a_line_that_is_made_a_comment(make_editor, text: str, chosen: str, after: str) -> None:
    editor = make_editor(FRONT + text)
    cursor = editor.body.document().find(chosen) if chosen else editor.body.textCursor()
    if not chosen:
        cursor.setPosition(len(FRONT) + min(2, text.index("\n")))
    editor.body.setTextCursor(cursor)
    editor.body.toggle_comment()
    assert editor.buffer.text == FRONT + after
    chosen_now = editor.body.textCursor()
    assert chosen_now.hasSelection() is not after.startswith("\n")
    assert chosen_now.selectionStart() == len(FRONT) + (2 if chosen else 0)
    before = editor.buffer.text
    editor.body.toggle_comment()
    if after.startswith("%% A"):
        assert editor.buffer.text == FRONT + text
    editor.undo()
    assert editor.buffer.text == before


def commit(editor, text: str, start: int = 0, count: int = 0) -> QInputMethodEvent:
    """Write a text as an input method does, in place of `count` characters from `start`, seen from the caret."""
    event = QInputMethodEvent("", [])
    event.setCommitString(text, start, count)
    QApplication.sendEvent(editor.body, event)
    return event


def test_an_input_method_writes_in_the_body_only(make_editor) -> None:
    editor = make_editor(PLAIN)
    place(editor, "# Skarn")
    assert not commit(editor, "龍", -1, 1).isAccepted()
    assert editor.buffer.text == PLAIN
    commit(editor, "龍")
    place(editor, "# Skarn", end=True)
    commit(editor, "龍", -5, 5)
    assert editor.buffer.text == PLAIN.replace("# Skarn", "龍# 龍")
    editor.set_source(True)
    place(editor, "tags")
    commit(editor, "x", -1, 0)
    assert editor.buffer.text.startswith("---x\ntags:")


@pytest.mark.parametrize("pasted", [False, True])
def test_a_note_without_a_body_gets_its_line_from_an_input_method_and_a_paste(make_editor, pasted: bool) -> None:
    front = "---\ntags: [lorebook]\n---"
    editor = make_editor(front)
    commit(editor, "")  # nothing was written yet
    assert editor.buffer.text == front
    if pasted:
        QApplication.clipboard().setText("龍")
        editor.body.paste()
    else:
        commit(editor, "龍")
    assert editor.buffer.text == front + "\n龍"
    assert visible(editor) == ["龍"]
    assert editor.body.textCursor().atEnd()


def test_marks_and_comments_in_a_note_without_a_body_leave_its_front_matter(make_editor) -> None:
    front = "---\ntags: [lorebook]\n---"
    editor = make_editor(front)
    editor.body.toggle_marks("**", "**")
    assert editor.buffer.text == front + "\n****"
    other = make_editor(front)
    other.body.toggle_comment()
    assert other.buffer.text == front + "\n%%  %%"


def test_what_is_dragged_over_the_body_may_be_dropped_below_the_front_matter_only(make_editor) -> None:
    editor = make_editor(PLAIN)
    data = QMimeData()
    data.setText("dropped ")
    body, copy, left, none = (
        editor.body, Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier,
    )  # fmt: skip
    place(editor, "dragon")
    spot = body.cursorRect().center()
    start = QDragMoveEvent(QPoint(1, 1), copy, data, left, none)
    body.dragMoveEvent(start)  # before the body's first letter
    assert start.isAccepted()
    for front, taken in ((False, True), (True, False)):
        at = spot
        if front:  # as where a line is half scrolled away
            body._first = body.document().characterCount()
        moved = QDragMoveEvent(at, copy, data, left, none)
        body.dragMoveEvent(moved)
        assert moved.isAccepted() is taken
        dropped = QDropEvent(QPointF(at), copy, data, left, none)
        body.dropEvent(dropped)
        assert editor.buffer.text == PLAIN.replace("dragon", "dropped dragon")


def mouse(editor, kind: QEvent.Type, spot: QPoint, button: Qt.MouseButton, held: Qt.KeyboardModifier) -> None:
    at = QPointF(spot)
    event = QMouseEvent(kind, at, editor.body.viewport().mapToGlobal(at), button, button, held)
    QApplication.sendEvent(editor.body.viewport(), event)


def test_only_ctrl_and_the_left_button_on_a_link_follow_it(make_editor) -> None:
    editor = make_editor(NASTY)
    asked: list[str] = []
    editor.followed.connect(lambda link: asked.append(link.target))
    place(editor, "wnkeep")
    on = editor.body.cursorRect().center()
    place(editor, "lives")
    beside = editor.body.cursorRect().center()
    far = QPoint(editor.body.viewport().width() - 4, on.y())
    ctrl, none = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.NoModifier
    left, right = Qt.MouseButton.LeftButton, Qt.MouseButton.RightButton
    press, release = QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonRelease
    for spot, button, held in ((on, left, none), (on, right, ctrl), (beside, left, ctrl), (far, left, ctrl)):
        mouse(editor, press, spot, button, held)
        mouse(editor, release, spot, button, held)
    assert asked == []
    place(editor, "# Skarn")
    mouse(editor, press, on, left, none)
    assert editor.body.textCursor().block().text().endswith("[[Dawnkeep]].")  # a click puts the caret there
    mouse(editor, press, on, left, ctrl)
    assert asked == ["Dawnkeep"]
    shapes = []
    for spot, held in ((on, ctrl), (on, none), (beside, ctrl), (on, ctrl), (far, ctrl)):
        mouse(editor, QEvent.Type.MouseMove, spot, Qt.MouseButton.NoButton, held)
        shapes.append(editor.body.viewport().cursor().shape())
    hand, beam = Qt.CursorShape.PointingHandCursor, Qt.CursorShape.IBeamCursor
    assert shapes == [hand, beam, beam, hand, beam]


def test_the_tip_over_a_link_tells_of_its_note(make_editor, monkeypatch) -> None:
    editor = make_editor(NASTY)
    told: list[str] = []
    monkeypatch.setattr(QToolTip, "showText", lambda _place, words, _widget: told.append(words))
    for words in ("wnkeep", "lives"):
        place(editor, words)
        point = editor.body.viewport().mapTo(editor.body, editor.body.cursorRect().center())
        event = QHelpEvent(QEvent.Type.ToolTip, point, editor.body.mapToGlobal(point))
        assert QApplication.sendEvent(editor.body, event)
    assert "A fortress." in told[0]
    assert told[1:] == [""]  # which hides it


def test_lines_of_the_body_are_no_longer_than_can_be_read(make_editor) -> None:
    editor = make_editor(PLAIN)
    body = editor.body
    margins = []
    for width in (COLUMN, COLUMN + 200, 600):
        editor.resize(width, 500)
        drain()
        margins.append((body.viewportMargins().left(), body.viewportMargins().right()))
    assert margins == [(0, 0), (100, 100), (0, 0)]
    editor.resize(COLUMN + 200, 500)
    editor.set_source(True)  # a file is as wide as it is
    assert body.viewportMargins().left() == 0
    assert (body.accessibleName(), body.toPlainText()) == ("The note's file", PLAIN)
    editor.set_source(False)
    assert body.viewportMargins().left() == 100
    assert body.accessibleName() == "Text of the note"


def test_an_empty_place_of_a_note_cannot_be_written_in(make_editor) -> None:
    editor = make_editor(PLAIN)
    editor.show_nothing()
    body = editor.body
    assert (body.toPlainText(), body.isReadOnly(), body.first_place) == ("", True, 0)
    QTest.keyClicks(body, "x")
    body.settle()
    assert body.toPlainText() == ""
    assert not body.follow()


def test_tab_leaves_the_body_and_writes_nothing(make_editor) -> None:
    editor = make_editor(PLAIN)
    place(editor, "A dragon.")
    QTest.keyClick(editor.body, Qt.Key.Key_Tab)
    assert not editor.body.hasFocus()
    assert editor.buffer.text == PLAIN


def test_the_source_and_the_text_show_where_the_caret_is(make_editor) -> None:
    editor = make_editor(FRONT + "line\n" * 300 + "here\n")
    place(editor, "here")
    for source in (True, False):
        editor.set_source(source)
        assert 0 <= editor.body.cursorRect().center().y() < editor.body.viewport().height()


def test_text_typed_into_the_front_matter_moves_what_is_hidden_with_it(make_editor) -> None:
    editor = make_editor(PLAIN)
    cursor = QTextCursor(editor.buffer.document)
    cursor.setPosition(4)
    cursor.insertText("mood: calm\n")
    assert editor.body.first_place == len(FRONT) + len("mood: calm\n")
    assert visible(editor) == BODY.split("\n")
    cursor.setPosition(4)
    cursor.setPosition(4 + len("mood: calm\n"), QTextCursor.MoveMode.KeepAnchor)
    cursor.removeSelectedText()
    assert editor.body.first_place == len(FRONT)
    assert visible(editor) == BODY.split("\n")


def test_a_line_that_is_read_from_right_to_left_stands_at_the_right_also_while_it_is_typed(make_editor) -> None:
    hebrew, arabic = "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd", "\u0645\u0631\u062d\u0628\u0627"
    editor = make_editor(PLAIN.replace("A dragon.", f"{hebrew}\n- {arabic} world\nA dragon {hebrew}.\n{hebrew * 60}"))

    def sides() -> list[tuple[bool, bool]]:
        """Whether each line that is seen touches the left and the right end of its room."""
        editor.grab()
        found, block = [], editor.body.document().begin()
        while block.isValid():
            layout = block.layout()
            for line in map(layout.lineAt, range(layout.lineCount() if block.text() and block.isVisible() else 0)):
                box, end = line.naturalTextRect(), editor.body.document().documentMargin() + line.width()
                found.append((box.left() < 12, box.right() > end - 12))
            block = block.next()
        return found

    left, right = (True, False), (False, True)
    before = sides()
    assert before[:4] == [left, right, right, left]
    assert len(before) > 6
    assert all(at_right for _at_left, at_right in before[4:])
    place(editor, "A dragon")
    editor.body.insertPlainText(arabic)
    assert sides()[3] == right
    editor.resize(420, 700)
    assert sides()[:4] == [left, right, right, right]
