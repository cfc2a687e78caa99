"""The text of a note: what is hidden cannot be reached, and links are followed, made and completed.

Names that links may use.
"""

from __future__ import annotations

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt
from PySide6.QtGui import QDropEvent, QKeySequence, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.ui.features.notes.editor.body import MOST, TitleBook, half_typed, link_at
from tests.ui.conftest import drain
from tests.ui.features.notes.editor.notes import NASTY, PLAIN
from tests.ui.worlds import ENTRIES, LEFT_OUT

FRONT, _, BODY = PLAIN.partition("# Skarn")
BODY = "# Skarn" + BODY
KEYS = QKeySequence.StandardKey


def place(editor, text: str, *, end: bool = False) -> None:
    """Put the caret before (or behind) the first occurrence of a text."""
    found = editor.body.document().find(text)
    cursor = editor.body.textCursor()
    cursor.setPosition(found.selectionEnd() if end else found.selectionStart())
    editor.body.setTextCursor(cursor)
    editor.body.setFocus()


def visible(editor) -> list[str]:
    block, lines = editor.body.document().begin(), []
    while block.isValid():
        if block.isVisible():
            lines.append(block.text())
        block = block.next()
    return lines


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
        QPointF(1, -5),
        Qt.DropAction.CopyAction,
        data,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
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
        ("[[A]] [[B#h]]", 8, "B#h"),
        ("[[]]", 2, None),
    ],
)
def test_the_link_at_a_place(line: str, at: int, target: str | None) -> None:
    found = link_at(line, at)
    assert (found.target if found else None) == target


def test_a_half_typed_link() -> None:
    assert half_typed("a [[Daw") == "Daw"
    assert half_typed("a [[Daw]] ") is None
    assert half_typed("a [Daw") is None


def test_a_link_at_the_caret_is_followed(make_editor, qtbot) -> None:
    editor = make_editor(NASTY)
    place(editor, "Dawnkeep")
    with qtbot.waitSignal(editor.followed) as asked:
        assert editor.body.follow()
    assert asked.args == ["Dawnkeep"]
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
    editor.body.link_selection()
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


def test_the_preview_of_a_link(make_editor) -> None:
    editor = make_editor(PLAIN)
    assert "A fortress." in editor.body.preview("Dawnkeep")
    assert "No note" in editor.body.preview("Elsewhere")


# ---- completion -----------------------------------------------------------------------------------------------------


def test_two_brackets_offer_titles_and_aliases(make_editor) -> None:
    editor = make_editor(PLAIN)
    place(editor, "A dragon.", end=True)
    QTest.keyClicks(editor.body, " [[")
    assert "Dawnkeep" in editor.completer.offered
    QTest.keyClicks(editor.body, "dwn")
    assert editor.completer.offered[0] == "Dawnkeep"
    QTest.keyClick(editor.body, Qt.Key.Key_Return)
    drain()
    assert "A dragon. [[Dawnkeep]]\n" in editor.buffer.text
    assert editor.completer.offered == []


def test_an_alias_is_written_with_its_title(make_editor) -> None:
    editor = make_editor(PLAIN)
    place(editor, "A dragon.", end=True)
    QTest.keyClicks(editor.body, " [[grey")
    QTest.keyClick(editor.body, Qt.Key.Key_Tab)
    assert "[[Skarn|the Grey One]]" in editor.buffer.text


def test_brackets_that_are_there_already_are_not_doubled(make_editor) -> None:
    editor = make_editor(PLAIN.replace("A dragon.", "A []] dragon."))
    place(editor, "A [", end=True)
    QTest.keyClicks(editor.body, "[bel")
    QTest.keyClick(editor.body, Qt.Key.Key_Return)
    assert "A [[Bell]] dragon." in editor.buffer.text


def test_what_nobody_is_called_offers_nothing(make_editor) -> None:
    editor = make_editor(PLAIN)
    place(editor, "A dragon.", end=True)
    QTest.keyClicks(editor.body, " [[zzzz")
    assert editor.completer.offered == []


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
    qtbot.waitUntil(lambda: not highlighter.waiting, timeout=20_000)
    last = editor.body.document().lastBlock().previous()
    assert last.layout().formats()


def test_a_note_that_was_just_made_is_written_where_its_text_begins(make_editor) -> None:
    """Behind the first line below the heading, which asks for something; where there is none, at the end."""
    for text, place_of in (("# Moth\n\nWho they are: \n\nLooks:\n", "Who they are: "), ("# Moth\n\n", "")):
        editor = make_editor(FRONT + text)
        editor.body.begin()
        QTest.keyClicks(editor.body, "A moth.")
        assert f"{place_of}A moth." in editor.buffer.text
        assert editor.body.hasFocus()


BOOK = TitleBook(VaultIndex(ENTRIES, LEFT_OUT), {"skarn": ("the Grey One",)})


@pytest.mark.parametrize(
    ("target", "filename"),
    [
        ("Dawnkeep", "places/Dawnkeep.md"),
        ("dawnkeep#The gate", "places/Dawnkeep.md"),
        ("places/Dawnkeep", "places/Dawnkeep.md"),
        ("Crown.md", "items/Crown.md"),
        ("The grey one", "Skarn.md"),
        ("README", "README.md"),
        ("Nobody", None),
        ("", None),
    ],
)
def test_where_a_link_leads(target: str, filename: str | None) -> None:
    found = BOOK.find(target)
    assert (found.filename if found else None) == filename


def test_only_titles_of_entries_count_for_deeplore() -> None:
    assert BOOK.is_title("SKARN")
    assert not BOOK.is_title("the Grey One")
    assert not BOOK.is_title("README")


def test_offers_are_ranked_and_few() -> None:
    many = TitleBook(VaultIndex(tuple(Entry(n, f"{n}.md", "v", f"Dragon {n}") for n in range(3000))))
    assert len(many.offers("dragon")) == MOST
    assert many.offers("dragon 2999")[0].text == "Dragon 2999"
    assert [name.link for name in BOOK.offers("grey")] == ["Skarn|the Grey One"]
    assert BOOK.offers("grey", titles_only=True) == []
