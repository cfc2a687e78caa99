"""The editor around its form and body: what is folded, where the caret goes, and what nobody may change."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QFont, QMouseEvent, QTextCharFormat, QTextCursor, QTextDocument
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.domain.records import replace
from lorestudio.ui.features.notes.editor.body import addresses_in
from lorestudio.ui.features.notes.editor.buffer import NoteBuffer
from lorestudio.ui.features.notes.editor.fields import FieldContext
from lorestudio.ui.features.notes.editor.names import TitleBook
from lorestudio.ui.features.notes.editor.note_editor import CHEAP_SECONDS, MarkdownHighlighter, NoteEditor
from lorestudio.ui.shell.theme import Theme
from tests.ui.conftest import drain
from tests.ui.features.notes.editor.notes import PLAIN, link
from tests.ui.worlds import ENTRIES, LEFT_OUT

Make = Callable[[str], NoteEditor]


def test_the_form_is_folded_by_its_head_and_gone_in_the_source(make_editor: Make) -> None:
    editor = make_editor(PLAIN)
    assert editor.toggle.text() == "Properties · 3"
    shown = []
    for source, folded in ((False, False), (False, True), (True, True), (True, False), (False, False)):
        editor.set_source(source)
        if editor.toggle.isChecked() == folded:
            editor.toggle.click()
        shown.append((editor.form.isVisibleTo(editor), editor.shows_line(2)))
    assert shown == [(True, False), (False, False), (False, True), (False, True), (True, False)]
    editor.toggle.click()
    editor.edit_keys()
    assert editor.form.isVisibleTo(editor)


def test_places_of_the_file_are_gone_to(make_editor: Make) -> None:
    editor = make_editor(PLAIN)
    assert [editor.shows_line(line) for line in (2, 6, 8, 99)] == [False, True, True, False]
    editor.select_in_line(8, 0, 0)
    assert editor.body.textCursor().block().text() == "A dragon."
    editor.select_in_line(99, 0, 0)
    assert editor.body.textCursor().block().text() == "A dragon."
    editor.select_in_line(8, 2, 8)
    assert editor.body.textCursor().selectedText() == "dragon"
    assert editor.body.hasFocus()
    editor.select_in_line(99, 0, 1)
    assert editor.body.textCursor().selectedText() == "dragon"


def test_the_line_that_a_link_names_is_a_heading_of_the_last_part_or_a_block(make_editor: Make) -> None:
    editor = make_editor(f"{PLAIN}\n## Its *lair*\n\nAshes. ^ashes\n")
    heading, block = (10, "## Its *lair*"), (12, "Ashes. ^ashes")
    for words, found in (
        ("Its *lair*", heading), ("#ITS *LAIR* ", heading), ("Skarn#Its *lair*", heading), ("^ashes", block),
        ("ashes", None), ("Its", None), ("", None), ("A dragon.", None), ("^", None),
    ):  # fmt: skip
        assert editor.line_of(words) == found, words


def test_links_to_files_and_within_the_note_are_previewed(make_editor: Make) -> None:
    editor = make_editor(PLAIN)
    book = TitleBook(VaultIndex(ENTRIES, LEFT_OUT), {}, {"vault": ("maps/map.png",)})
    editor.set_context(replace(editor.context, book=book))
    editor.source = ("vault", "Skarn.md")
    (address,) = addresses_in("See <https://example.org/a>.")
    said = [editor._preview(each) for each in (link("map.png"), link("lost.png"), link("#Skarn"), address)]
    opens = "\n\nCtrl+Click opens it."
    assert said == [f"maps/map.png{opens}", "No file is called “lost.png”.", "", f"https://example.org/a{opens}"]
    assert [editor._exists(link(each)) for each in ("map.png", "lost.png", "#Skarn")] == [True, False, True]


def test_a_link_is_previewed(make_editor: Make) -> None:
    editor = make_editor(PLAIN)
    assert editor._preview(link("Skarn")) == "Skarn\n\nA dragon."
    assert editor._preview(link("Nobody")) == "No note is called “Nobody”. Ctrl+Click asks to make it."
    assert "DeepLore follows links in double brackets only, by title." in editor._preview(link("the Grey One"))
    assert editor._preview(link("bad")).startswith("bad.md\n\n")


def test_undo_and_redo_leave_what_may_not_be_changed(make_editor: Make) -> None:
    editor = make_editor(PLAIN)
    editor.select_in_line(8, 0, 0)
    editor.body.textCursor().insertText("Old. ")
    editor.undo()
    assert "Old." not in editor.body.toPlainText()
    editor.redo()
    assert "Old." in editor.body.toPlainText()
    buffer = editor.buffer
    editor.show_buffer(buffer, read_only=True)
    editor.undo()
    assert "Old." in editor.body.toPlainText()
    assert editor.body.isReadOnly()
    editor.show_buffer(buffer, read_only=False)
    editor.undo()
    assert "Old." not in editor.body.toPlainText()


def test_another_note_takes_the_place_of_the_one_before(make_editor: Make) -> None:
    editor = make_editor(PLAIN)
    first = editor.buffer
    second = NoteBuffer(Path("Bell.md"), "It rings.\n", "d", editor)
    editor.show_buffer(second, read_only=False)
    assert editor.toggle.text() == "Properties · 0"
    drain()
    settled: list[object] = []
    editor.settled.connect(settled.append)
    first.document.setPlainText("Changed elsewhere.")
    drain()
    assert settled == []  # nobody looks at that one
    second.document.setPlainText("It rang.")
    drain()
    assert settled == [second]
    editor.forget(first)
    assert editor.buffer is second
    editor.forget(second)
    assert editor.buffer is None


# ---- colours --------------------------------------------------------------------------------------------------------


def coloured(editor: NoteEditor, line: str, nth: int = 0) -> dict[str, QTextCharFormat]:
    """The formats of the pieces of a line of the document."""
    blocks, block = [], editor.body.document().begin()
    while block.isValid():
        if block.text() == line:
            blocks.append(block)
        block = block.next()
    units = line.encode("utf-16-le")
    return {
        units[2 * each.start : 2 * (each.start + each.length)].decode("utf-16-le"): QTextCharFormat(each.format)
        for each in blocks[nth].layout().formats()
    }


def coloured_all(editor: NoteEditor, qtbot: QtBot) -> None:
    highlighter = editor._highlighters[id(editor.buffer)]
    qtbot.waitUntil(lambda: not highlighter._pending)


FRONT = "---\ntags: [lorebook]\n---\n"


@pytest.mark.parametrize(
    ("line", "pieces"),
    [
        ("# Moth 🐉", {"# ": "text_faint", "Moth 🐉": "text"}),
        ("#tag", {}),
        ("> said 🐉", {"> said 🐉": "text_muted"}),
        ("- item", {"-": "accent"}),
        ("  12. item", {"12.": "accent"}),
        ("a 🐉 **bold** b", {"**": "text_faint", "bold": "text"}),
        ("a _slant_ b", {"_": "text_faint", "slant": "text"}),
        ("a ==lit== b", {"==lit==": "on_mark"}),
        ("a `code` b", {"`code`": "text_muted"}),
        ("a <div class='x'> b", {"<div class='x'>": "text_faint"}),
        ("a [[Dawnkeep]] b", {"[[Dawnkeep]]": "accent"}),
        ("a [[Elsewhere]] b", {"[[Elsewhere]]": "warning"}),
        ("a ![[Elsewhere]] b", {"![[Elsewhere]]": "accent"}),  # a picture may lie anywhere
        ("a [[Dawnkeep\\|the keep]] b", {"[[Dawnkeep\\|the keep]]": "accent"}),
        ("a %%aside%% b", {"%%aside%%": "text_faint"}),
        ("plain words", {}),
    ],
)
def test_a_line_of_markdown_has_its_colours(
    make_editor: Make, qtbot: QtBot, theme: Theme, line: str, pieces: dict[str, str]
) -> None:
    editor = make_editor(f"{FRONT}{line}\n")
    coloured_all(editor, qtbot)
    found = {piece: each.foreground().color().name() for piece, each in coloured(editor, line).items()}
    assert found == {piece: theme.color(name).name() for piece, name in pieces.items()}


def test_headings_are_larger_and_other_signs_have_their_looks(make_editor: Make, qtbot: QtBot, theme: Theme) -> None:
    editor = make_editor(
        f"{FRONT}# One\n## Two\n**bold** and _slant_\n> quote\n==lit== `code`\n[[Elsewhere]]\n[x](no.md)\n"
    )
    coloured_all(editor, qtbot)
    size = QTextCharFormat.Property.FontSizeAdjustment
    one, two = coloured(editor, "# One")["One"], coloured(editor, "## Two")["Two"]
    assert one.intProperty(size) > two.intProperty(size) > 0
    words = coloured(editor, "**bold** and _slant_")
    demi = QFont.Weight.DemiBold
    assert one.fontWeight() == two.fontWeight() == words["bold"].fontWeight() == demi
    assert (words["slant"].fontItalic(), words["bold"].fontItalic()) == (True, False)
    assert words["slant"].fontWeight() != demi
    assert coloured(editor, "> quote")["> quote"].fontItalic()
    marks = coloured(editor, "==lit== `code`")
    assert marks["==lit=="].background().color() == theme.color("mark")
    assert marks["`code`"].background().color() == theme.color("sunken")
    for words in ("[[Elsewhere]]", "[x](no.md)"):
        missing = coloured(editor, words)[words]
        assert missing.underlineStyle() is QTextCharFormat.UnderlineStyle.DotLine
        assert missing.underlineColor() == theme.color("warning")


@pytest.mark.parametrize(("opens", "closes", "colour"), [("```py", "```", "text_muted"), ("%%", "%%", "text_faint")])
def test_code_and_comments_go_on_over_lines_until_they_are_closed(
    make_editor: Make, qtbot: QtBot, theme: Theme, opens: str, closes: str, colour: str
) -> None:
    inside, after = "# no heading [[Bell]] 🐉", "**bold**"
    editor = make_editor(f"{FRONT}{opens}\n{inside}\n{closes}\n{after}\n")
    coloured_all(editor, qtbot)
    (only,) = coloured(editor, inside).values()
    assert only.foreground().color() == theme.color(colour)
    assert set(coloured(editor, after)) == {"**", "bold"}
    cursor = QTextCursor(editor.body.document().find(closes, editor.body.document().find(inside).position()).block())
    cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
    cursor.removeSelectedText()  # never closed: the rest of the note belongs to it
    coloured_all(editor, qtbot)
    (only,) = coloured(editor, after).values()
    assert only.foreground().color() == theme.color(colour)


def test_front_matter_is_coloured_as_what_it_is(make_editor: Make, qtbot: QtBot, theme: Theme) -> None:
    editor = make_editor("---\n# aside 🐉\ntags: [lorebook]\n- [[Bell]]\n---\n# Bell\n")
    coloured_all(editor, qtbot)

    def colours(line: str, nth: int = 0) -> dict[str, str]:
        return {piece: each.foreground().color().name() for piece, each in coloured(editor, line, nth).items()}

    faint, accent = theme.color("text_faint").name(), theme.color("accent").name()
    assert colours("---") == colours("---", 1) == {"---": faint}
    assert colours("# aside 🐉") == {"# aside 🐉": faint}
    assert coloured(editor, "# aside 🐉")["# aside 🐉"].fontItalic()
    assert colours("tags: [lorebook]") == {"tags:": accent}
    assert colours("- [[Bell]]") == {}
    editor.buffer.replace_all("# aside\nNo properties.\n")
    editor.settle()
    coloured_all(editor, qtbot)
    assert set(colours("# aside")) == {"# ", "aside"}  # a heading now


def test_addresses_are_coloured_as_the_links_that_they_are(make_editor: Make, qtbot: QtBot, theme: Theme) -> None:
    line = "See https://a.example, [x](https://b.example/c) and a: b"
    editor = make_editor(f"{FRONT}{line}\n")
    coloured_all(editor, qtbot)
    links = {"https://a.example", "[x](https://b.example/c)"}
    assert {
        piece for piece, each in coloured(editor, line).items() if each.foreground().color() == theme.color("accent")
    } == links
    assert "Ctrl+Click opens it." in editor._preview(addresses_in(line)[0])


def test_another_theme_and_other_titles_colour_the_text_anew(make_editor: Make, qtbot: QtBot, theme: Theme) -> None:
    editor = make_editor(f"{FRONT}[[Moth]] and [[Dawnkeep]]\n")

    def colours() -> list[str]:
        coloured_all(editor, qtbot)
        return [each.foreground().color().name() for each in coloured(editor, "[[Moth]] and [[Dawnkeep]]").values()]

    assert colours() == [theme.color(name).name() for name in ("warning", "accent")]
    moth = TitleBook(VaultIndex((Entry(0, "Moth.md", "vault", "Moth"),)))
    editor.set_context(FieldContext(editor.context.settings, editor.context.rules, moth))
    assert colours() == [theme.color(name).name() for name in ("accent", "warning")]
    light = colours()
    theme.choose("dark")
    assert colours() == [theme.color(name).name() for name in ("accent", "warning")]
    assert colours() != light


# ---- room -----------------------------------------------------------------------------------------------------------


def test_the_form_takes_the_height_it_needs_and_leaves_room_for_the_text(make_editor: Make) -> None:
    editor = make_editor(PLAIN)
    assert editor.form.height() == editor.form.content_height()
    assert editor.body.height() == editor.splitter.height() - editor.splitter.handleWidth() - editor.form.height()
    for number in range(40):
        editor.form.add(f"field{number}")
    drain()
    total = editor.splitter.height() - editor.splitter.handleWidth()
    assert editor.form.height() < editor.form.content_height()
    assert editor.form.height() <= round(total * 0.6)
    assert editor.body.height() >= 8 * editor.body.fontMetrics().lineSpacing()
    editor.resize(600, 240)
    drain()
    total = editor.splitter.height() - editor.splitter.handleWidth()
    assert 64 <= editor.form.height() <= max(64, round(total * 0.6))
    assert editor.body.height() >= 60


def test_a_height_that_was_chosen_stays_until_the_form_is_folded(make_editor: Make) -> None:
    editor = make_editor(PLAIN)
    wanted = editor.form.height()
    handle = editor.splitter.handle(1)
    QTest.mousePress(handle, Qt.MouseButton.LeftButton, pos=QPoint(5, 2))
    for step in range(1, 41, 13):
        at = QPointF(5, 2 - step)
        event = QMouseEvent(
            QEvent.Type.MouseMove, at, handle.mapToGlobal(at), Qt.MouseButton.LeftButton, Qt.MouseButton.LeftButton,
            Qt.KeyboardModifier.NoModifier,
        )  # fmt: skip
        QApplication.sendEvent(handle, event)
    QTest.mouseRelease(handle, Qt.MouseButton.LeftButton, pos=QPoint(5, 2))
    drain()
    chosen = editor.form.height()
    assert chosen < wanted
    editor.form.add("summary")
    drain()
    assert editor.form.height() == chosen
    row = editor.form.row("summary")
    assert row.isAncestorOf(QApplication.focusWidget())
    assert row.visibleRegion().boundingRect().height() > 0  # it was scrolled to
    editor.toggle.click()
    editor.toggle.click()
    drain()
    assert editor.form.height() == editor.form.content_height() > wanted


def test_the_head_of_the_form_shows_whether_it_is_open(make_editor: Make, theme: Theme) -> None:
    editor = make_editor(PLAIN)

    def shows(name: str) -> bool:
        wanted = theme.icon(name, "text_faint").pixmap(16).toImage()
        return editor.toggle.icon().pixmap(16).toImage() == wanted

    assert shows("chevron-down")
    editor.toggle.click()
    assert shows("chevron-right")
    assert not editor.form.isVisible()
    theme.choose("dark")
    assert shows("chevron-right")
    assert editor.toggle.accessibleName() == "Show the properties"


# ---- reading --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("seconds", "pause"), [(CHEAP_SECONDS, 160), (0.02, 400)])
def test_a_note_that_is_read_slowly_is_read_in_a_pause_as_long_as_that_needs(
    qtbot: QtBot, theme: Theme, seconds: float, pause: int
) -> None:
    reads: list[str] = []

    def slowly(buffer: NoteBuffer) -> None:
        reads.append(buffer.text)
        began = time.thread_time()
        while time.thread_time() - began <= seconds:
            pass

    editor = NoteEditor(theme, slowly)
    qtbot.addWidget(editor)
    editor.show_buffer(NoteBuffer(Path("Moth.md"), "A moth.\n", "d", editor), read_only=False)
    assert reads == ["A moth.\n"]
    cursor = QTextCursor(editor.buffer.document)
    cursor.insertText("x")
    drain()
    cursor.insertText("y")
    assert len(reads) == 1
    assert editor.timer.interval() >= pause
    qtbot.waitUntil(lambda: len(reads) == 2)
    assert reads[-1] == "xyA moth.\n"
    editor.settle()
    assert len(reads) == 3
    assert not editor.timer.isActive()


def test_what_is_shown_follows_each_change_and_its_undo(make_editor: Make) -> None:
    editor = make_editor(PLAIN)
    settled: list[object] = []
    editor.settled.connect(settled.append)
    editor.buffer.apply(editor.buffer.note.set("summary", "New."))
    drain()
    assert editor.toggle.text() == "Properties · 4"
    assert editor.parsed.summary == "New."
    assert set(settled) == {editor.buffer}
    editor.undo()
    assert (editor.toggle.text(), editor.parsed.summary) == ("Properties · 3", "")
    editor.redo()
    assert (editor.toggle.text(), editor.parsed.summary) == ("Properties · 4", "New.")


def test_nothing_is_done_where_no_note_is_shown(make_editor: Make) -> None:
    editor = make_editor(PLAIN)
    before = editor.buffer
    editor.show_nothing()
    settled: list[object] = []
    editor.settled.connect(settled.append)
    before.document.setPlainText("Elsewhere.")
    editor.settle()
    editor.undo()
    editor.redo()
    drain()
    assert (settled, editor.parsed, editor.buffer) == ([], None, None)
    assert before.text == "Elsewhere."
    assert editor.form.names == [], "the fields of a note are made when it is there"
    editor.show_buffer(before, read_only=False)
    assert settled == [before]
    before.document.setPlainText("Again.")
    drain()
    assert len(settled) > 1  # for its change: once, or again once its highlighting is done


def test_a_note_without_a_text_says_so_in_its_preview(make_editor: Make) -> None:
    editor = make_editor(PLAIN)
    index = VaultIndex((Entry(0, "Moth.md", "vault", "Moth"),))
    editor.set_context(FieldContext(editor.context.settings, editor.context.rules, TitleBook(index)))
    assert editor._preview(link("Moth")) == "Moth\n\n(The note has no text.)"


def test_places_behind_wide_characters_are_selected_as_they_are_counted(make_editor: Make) -> None:
    editor = make_editor(f"{FRONT}🐉🐉 dragon\n" + "line\n" * 300)
    editor.body.moveCursor(QTextCursor.MoveOperation.End)
    editor.select_in_line(4, 3, 9)
    assert editor.body.textCursor().selectedText() == "dragon"
    assert 0 <= editor.body.cursorRect().top() < editor.body.viewport().height()
    editor.select_in_line(150, 0, 0)
    assert 0 < editor.body.cursorRect().top() < editor.body.viewport().height()


def test_a_destroyed_text_is_coloured_no_more(make_editor: Make) -> None:
    editor = make_editor(PLAIN)
    other = NoteBuffer(Path("Bell.md"), "It rings.\n", "d")
    editor.show_buffer(other, read_only=False)
    key = id(other)
    editor.show_nothing()
    assert key in editor._highlighters
    other.deleteLater()
    drain()
    assert key not in editor._highlighters


def test_lines_that_become_front_matter_are_coloured_as_such(theme: Theme, qtbot: QtBot) -> None:
    document = QTextDocument("---\nkeys: [lamp]\n---\n# Lamp")
    highlighter = MarkdownHighlighter(document, theme, lambda _link: True)
    line = document.findBlockByNumber(1)
    seen = []
    for lines in (0, 3, 0):
        highlighter.set_front_lines(lines)
        qtbot.waitUntil(lambda: not highlighter._pending)
        seen.append([(each.start, each.length) for each in line.layout().formats()])
    assert seen == [[], [(0, len("keys:"))], []]
