"""A note's text goes through the editor without losing anything."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtGui import QTextCursor

from lorestudio.ui.features.notes.editor.buffer import MOST_CLEAN, Buffers, NoteBuffer, for_editor, restore
from lorestudio.vault.note.text_edits import TextEdit, apply_edits
from tests.examples import examples
from tests.ui.features.notes.editor.notes import NASTY, PLAIN

PATH = Path("Skarn.md")
ENDS = ["\n", "\r\n", "\r", "\n\n", "\r\r\n"]
TEXT = st.lists(
    st.one_of(
        st.sampled_from([*ENDS, "---\n", "keys: a\n", "\u00a0", "\u2028", "🐉", "\ufeff", "\t"]), st.text("abc d")
    ),
    max_size=14,
).map("".join)


def typed(buffer: NoteBuffer, place: int, text: str) -> None:
    cursor = QTextCursor(buffer.document)
    cursor.setPosition(place)
    cursor.insertText(text)


@given(text=TEXT)
@settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_was_read_is_what_would_be_written(qapp, text: str) -> None:
    buffer = NoteBuffer(PATH, text, "d")
    assert buffer.kept_whole
    assert buffer.text == text
    assert not buffer.dirty


@given(text=TEXT, place=st.integers(0, 400))
@settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_typing_and_undoing_gives_the_same_bytes(qapp, text: str, place: int) -> None:
    buffer = NoteBuffer(PATH, text, "d")
    typed(buffer, place % buffer.document.characterCount(), "x\ny")
    assert buffer.dirty
    assert buffer.text != text
    buffer.document.undo()
    assert buffer.text == text
    assert not buffer.dirty


@given(text=TEXT, data=st.data())
@settings(max_examples=examples(200), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_an_edit_of_the_file_is_the_same_edit_in_the_editor(qapp, text: str, data: st.DataObject) -> None:
    # Edits lie behind a byte order mark, which is no part of the text.
    text = text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n").replace("\n", "\r\n")
    lines = text.splitlines(keepends=True)
    first = data.draw(st.integers(0, len(lines)))
    last = data.draw(st.integers(first, len(lines)))
    start, end = sum(map(len, lines[:first])), sum(map(len, lines[:last]))
    edit = TextEdit(start, end, data.draw(st.sampled_from(["", "new: 1\r\n", "🐉\r\n", "a\r\nb\r\n"])))
    buffer = NoteBuffer(PATH, text, "d")
    buffer.apply(edit)
    wanted = apply_edits(text, [edit])
    if "\r\n" in text or "\n" not in wanted:
        assert buffer.text == wanted
    buffer.document.undo()
    assert buffer.text == text


def test_lines_with_other_ends_between_two_changes_keep_them(qapp) -> None:
    text = "one\ntwo\r\nthree\rfour\nfive\nsix\n"
    buffer = NoteBuffer(PATH, text, "d")
    typed(buffer, 0, "A")
    typed(buffer, buffer.document.characterCount() - 2, "Z")
    assert buffer.text == "Aone\ntwo\r\nthree\rfour\nfive\nsixZ\n"


def test_a_carriage_return_of_its_own_survives_beside_a_new_empty_line(qapp) -> None:
    buffer = NoteBuffer(PATH, "a\rb\nc\nd\n", "d")
    typed(buffer, 3, "\n")
    assert buffer.text == "a\rb\n\nc\nd\n"


def test_a_change_of_a_property_touches_its_lines_only(qapp) -> None:
    buffer = NoteBuffer(PATH, NASTY, "d")
    buffer.apply(buffer.note.set("priority", 5))
    assert buffer.text == NASTY.replace("priority: 20\r\n", "priority: 5\r\n")


def test_a_save_in_the_middle_of_typing_leaves_the_rest_unsaved(qapp) -> None:
    buffer = NoteBuffer(PATH, PLAIN, "one")
    typed(buffer, 0, "x")
    written = buffer.text
    typed(buffer, 0, "y")
    buffer.saved(written, "two")
    assert buffer.dirty
    assert (buffer.base, buffer.digest) == (written, "two")
    buffer.saved(buffer.text, "three")
    assert not buffer.dirty


def test_what_comes_from_disk_can_be_undone(qapp) -> None:
    buffer = NoteBuffer(PATH, PLAIN, "one")
    buffer.take(PLAIN.replace("dragon", "wyrm"), "two")
    assert not buffer.dirty
    assert "wyrm" in buffer.text
    buffer.document.undo()
    assert buffer.text == PLAIN
    assert buffer.dirty


def test_one_s_own_text_against_another_file_is_unsaved(qapp) -> None:
    buffer = NoteBuffer(PATH, PLAIN, "one")
    typed(buffer, 0, "x")
    mine = buffer.text
    buffer.rebase("theirs\r\n", "two")
    assert buffer.dirty
    assert (buffer.text, buffer.digest) == (mine, "two")


@pytest.mark.parametrize(
    ("text", "first"),
    [
        (PLAIN, "# Skarn"),
        ("no front matter\n", "no front matter"),
        ("---\na: 1\n----\nb\n", "----"),  # what stands behind three dashes is body (rules: deeplore 1.2)
        (NASTY, "# Skarn"),
    ],
)
def test_where_the_body_begins(qapp, text: str, first: str) -> None:
    assert NoteBuffer(PATH, text, "d").body_block.text() == first


def test_a_note_that_ends_with_its_front_matter_has_no_body_line(qapp) -> None:
    assert not NoteBuffer(PATH, "---\na: 1\n---", "d").body_block.isValid()


def test_unsaved_notes_and_the_latest_keep_their_history(qapp) -> None:
    buffers = Buffers()
    first = buffers.open(Path("0.md"), "text", "d")
    typed(first, 0, "x")
    for number in range(1, MOST_CLEAN + 4):
        buffers.use(buffers.open(Path(f"{number}.md"), "text", "d"))
    assert buffers.get(Path("0.md")) is first
    assert buffers.get(Path("1.md")) is None
    assert buffers.get(Path(f"{MOST_CLEAN + 3}.md")) is not None


@pytest.mark.parametrize("backwards", [False, True])
def test_several_edits_of_one_step_mean_the_text_as_it_was(qapp, backwards: bool) -> None:
    """However long the others are, and in whatever order they come."""
    text = "---\nkeys: gate\nsummary: A gate.\npriority: 5\n---\nShut 🐉 fast.\n"
    edits = [
        TextEdit(text.index("gate"), text.index("gate") + 4, "a very long gate, wall"),
        TextEdit(text.index("A gate."), text.index("A gate.") + 7, ""),
        TextEdit(text.index("Shut"), text.index("Shut") + 4, "Open"),
        TextEdit(text.index("fast"), text.index("fast"), "and "),
    ]
    buffer = NoteBuffer(PATH, text, "d")
    buffer.apply(*(reversed(edits) if backwards else edits))
    assert buffer.text == apply_edits(text, edits)
    assert "keys: a very long gate, wall\nsummary: \npriority: 5\n---\nOpen 🐉 and fast.\n" in buffer.text
    buffer.document.undo()
    assert buffer.text == text
    assert not buffer.document.isUndoAvailable()


def test_a_text_that_turns_out_to_be_the_file_s_is_saved(qapp) -> None:
    buffer = NoteBuffer(PATH, "one\r\n", "one")
    typed(buffer, 0, "x")
    told: list[bool] = []
    buffer.dirty_changed.connect(lambda: told.append(buffer.dirty))
    buffer.rebase("xone\r\n", "two")
    assert (buffer.dirty, buffer.text, buffer.base, buffer.digest) == (False, "xone\r\n", "xone\r\n", "two")
    assert told[-1] is False
    buffer.rebase("other\n", "three")
    assert (buffer.dirty, buffer.text, told[-1]) == (True, "xone\r\n", True)
    typed(buffer, 0, "y")
    assert buffer.text == "yxone\r\n"  # its own line ends, though the file has others


def test_whether_there_is_something_to_save_is_told_as_it_changes(qapp) -> None:
    buffer = NoteBuffer(PATH, PLAIN, "one")
    told: list[bool] = []
    buffer.dirty_changed.connect(lambda: told.append(buffer.dirty))
    typed(buffer, 0, "x")
    typed(buffer, 0, "y")
    assert told == [True]
    while buffer.document.isUndoAvailable():
        buffer.document.undo()
    assert told == [True, False]
    typed(buffer, 0, "z")
    buffer.saved(buffer.text, "two")
    assert told[-1] is False
    assert not buffer.document.isModified()


def test_a_mark_in_the_text_is_kept_and_one_at_its_start_comes_and_goes(qapp) -> None:
    """Qt drops a byte order mark from the start of whatever it is given."""
    buffer = NoteBuffer(PATH, "abc\n", "d")
    buffer.apply(TextEdit(1, 2, "\ufeffB"))
    assert buffer.text == "a\ufeffBc\n"
    buffer.document.undo()
    assert buffer.text == "abc\n"
    buffer.replace_all("\ufeffABC\n")
    assert buffer.text == "\ufeffABC\n"
    assert buffer.document.toPlainText() == "ABC\n"
    buffer.replace_all("ABC\n")
    assert buffer.text == "ABC\n"


def test_an_edit_that_changes_nothing_is_no_step(qapp) -> None:
    buffer = NoteBuffer(PATH, PLAIN, "d")
    buffer.apply(TextEdit(0, 3, "---"))
    assert not buffer.dirty
    assert not buffer.document.isUndoAvailable()


def test_only_characters_that_differ_are_touched(qapp) -> None:
    """So that the caret in the body stays where it is."""
    buffer = NoteBuffer(PATH, "one two three\n", "d")
    caret, last = QTextCursor(buffer.document), QTextCursor(buffer.document)
    caret.setPosition(2)
    last.setPosition(10)
    buffer.replace_all("one twelve three\n")
    assert (caret.position(), last.position()) == (2, 13)


def test_a_property_is_read_from_the_text_as_it_is_now(qapp) -> None:
    buffer = NoteBuffer(PATH, PLAIN, "d")
    assert buffer.note.find("priority").value == 20
    buffer.apply(buffer.note.set("priority", 5))
    assert buffer.note.find("priority").value == 5
    buffer.take(PLAIN.replace("20", "7"), "two")
    assert buffer.note.find("priority").value == 7
    assert buffer.digest == "two"


def test_where_the_body_begins_behind_closing_dashes_without_a_line_end(qapp) -> None:
    assert not NoteBuffer(PATH, "---\na: 1\n---", "d").body_block.isValid()
    assert NoteBuffer(PATH, "---\na: 1\n---\n", "d").body_block.text() == ""
    assert NoteBuffer(PATH, "\ufeff---\r\na: 1\r\n---\r\nx", "d").body_block.text() == "x"


def test_buffers_tell_of_their_notes_and_of_those_given_up(qapp) -> None:
    buffers = Buffers()
    changed: list[object] = []
    dropped: list[object] = []
    buffers.dirty_changed.connect(changed.append)
    buffers.dropped.connect(dropped.append)
    first, second = buffers.open(Path("0.md"), "text", "d"), buffers.open(Path("1.md"), "text", "d")
    assert buffers.all() == (first, second)
    buffers.use(first)
    assert buffers.all() == (second, first)  # the one looked at is given up last
    typed(second, 0, "x")
    assert changed == [second]
    again = buffers.open(Path("1.md"), "other", "e")
    assert dropped == [second]
    assert buffers.get(Path("1.md")) is again
    buffers.drop(Path("nobody.md"))
    assert dropped == [second]


def test_so_many_clean_notes_are_kept_and_no_more(qapp) -> None:
    buffers = Buffers()
    for number in range(MOST_CLEAN + 1):
        buffers.use(buffers.open(Path(f"{number}.md"), "text", "d"))
    assert len(buffers.all()) == MOST_CLEAN + 1  # those, and the one looked at
    buffers.use(buffers.open(Path("last.md"), "text", "d"))
    assert buffers.get(Path("0.md")) is None
    assert buffers.get(Path("1.md")) is not None


LINES = st.lists(st.tuples(st.sampled_from(["", "a", "b", "c"]), st.sampled_from(["\n", "\r\n", "\r", "\u2029"])))


@given(original=LINES, edited=st.lists(st.sampled_from(["", "a", "b", "x"]), min_size=1))
@settings(max_examples=examples(300), deadline=None)
def test_whatever_ends_the_lines_get_the_text_is_the_edited_one(
    original: list[tuple[str, str]], edited: list[str]
) -> None:
    before, after = "".join(line + end for line, end in original), "\n".join(edited)
    assert for_editor(restore(before, after)) == after


@given(original=LINES)
@settings(max_examples=examples(300), deadline=None)
def test_lines_that_nobody_edited_keep_their_ends(original: list[tuple[str, str]]) -> None:
    text = "".join(line + end for line, end in original)
    assert restore(text, for_editor(text)) == text


@pytest.mark.parametrize(
    ("original", "edited", "after"),
    [
        ("a\nb\n", "a\nx\nb\n", "a\nx\nb\n"),
        ("a\r\nb\r\n", "a\nx\nb\n", "a\r\nx\r\nb\r\n"),
        ("a\u2029b\nc\n", "a\nb\nc\nd\n", "a\u2029b\nc\nd\n"),
        ("a\r\nb\nc\n", "a\nb\nc\nd\n", "a\r\nb\nc\nd\n"),  # from the start
        ("a\nb\nc\r\n", "x\na\nb\nc\n", "x\na\nb\nc\r\n"),  # from the end
        ("a\nb\r\nc\nd\n", "x\ny\nb\nz\nd\n", "x\ny\nb\r\nz\nd\n"),  # between two changes, further down
        ("a\nq\nb\r\nc\nd\n", "x\nb\nz\nd\n", "x\nb\r\nz\nd\n"),  # and further up
        ("a\nb\r\n", "a\nb", "a\nb"),
        ("a", "a\nb", "a\nb"),
    ],
)
def test_each_line_keeps_its_end_and_a_new_one_has_the_usual(original: str, edited: str, after: str) -> None:
    assert restore(original, edited) == after
