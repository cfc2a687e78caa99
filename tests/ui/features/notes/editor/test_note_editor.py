"""The editor around its form and body: what is folded, where the caret goes, and what nobody may change."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from lorestudio.ui.features.notes.editor.buffer import NoteBuffer
from lorestudio.ui.features.notes.editor.note_editor import NoteEditor
from tests.ui.conftest import drain
from tests.ui.features.notes.editor.notes import PLAIN

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
    editor.go_to_line(8)
    assert editor.body.textCursor().block().text() == "A dragon."
    editor.go_to_line(99)
    assert editor.body.textCursor().block().text() == "A dragon."
    editor.select_in_line(8, 2, 8)
    assert editor.body.textCursor().selectedText() == "dragon"
    assert editor.body.hasFocus()
    editor.select_in_line(99, 0, 1)
    assert editor.body.textCursor().selectedText() == "dragon"


def test_a_link_is_previewed(make_editor: Make) -> None:
    editor = make_editor(PLAIN)
    assert editor._preview("Skarn") == "Skarn\n\nA dragon."
    assert editor._preview("Nobody") == "No note is called “Nobody”. Ctrl+Click makes it."
    assert "DeepLore follows links by title only." in editor._preview("the Grey One")
    assert editor._preview("bad").startswith("bad.md\n\n")


def test_undo_and_redo_leave_what_may_not_be_changed(make_editor: Make) -> None:
    editor = make_editor(PLAIN)
    editor.go_to_line(8)
    editor.body.textCursor().insertText("Old. ")
    editor.undo()
    assert "Old." not in editor.body.toPlainText()
    editor.redo()
    assert "Old." in editor.body.toPlainText()
    buffer = editor._buffer
    editor.show_buffer(buffer, read_only=True)
    editor.undo()
    assert "Old." in editor.body.toPlainText()
    assert editor.body.isReadOnly()
    editor.show_buffer(buffer, read_only=False)
    editor.undo()
    assert "Old." not in editor.body.toPlainText()


def test_another_note_takes_the_place_of_the_one_before(make_editor: Make) -> None:
    editor = make_editor(PLAIN)
    first = editor._buffer
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
    assert editor._buffer is second
    editor.forget(second)
    assert editor._buffer is None
