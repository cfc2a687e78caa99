"""The form: what it shows of a note, and that a change in it is the same change of the file's text, and no other."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QKeySequence, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton

from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.ui.features.notes.editor.fields import FIRES, RawField
from lorestudio.ui.features.notes.editor.note_editor import NoteEditor
from tests.ui.conftest import drain
from tests.ui.features.notes.editor.notes import NASTY, PLAIN


def field(editor: NoteEditor, name: str):
    row = editor.form.row(name)
    assert row is not None, f"{name} is not shown: {editor.form.names}"
    return row.field


def press(editor: NoteEditor, name: str, title: str) -> None:
    row = editor.form.row(name)
    button = next(item for item in row.findChildren(QPushButton) if item.text() == title)
    button.click()
    drain()


def remarks(editor: NoteEditor, name: str) -> str:
    return " ".join(remark.text for remark in editor.form.row(name).remarks)


def write(widget, text: str) -> None:
    widget.setFocus()
    QTest.keyClicks(widget, text)
    drain()


# ---- what is shown --------------------------------------------------------------------------------------------------


def test_the_note_s_properties_are_rows_and_the_rest_can_be_added(make_editor) -> None:
    editor = make_editor(PLAIN)
    assert editor.form.names == ["keys", FIRES, "tags", "priority"]
    offered = {choice.key for choice in editor.form.choices()}
    assert {"summary", "probability", "season", "requires"} <= offered
    assert "keys" not in offered
    assert all(choice.detail for choice in editor.form.choices()), "each says in a line what it is for"


def test_a_field_without_a_value_names_the_general_one(make_editor) -> None:
    editor = make_editor(PLAIN)
    editor.form.add("scanDepth")
    scan_depth = str(DeepLoreSettings().scan_depth)
    assert scan_depth in field(editor, "scanDepth").line.placeholderText()
    assert "settings" in field(editor, "scanDepth").line.placeholderText()


def test_nested_and_invalid_properties_are_shown_raw_with_the_reason(make_editor, qtbot) -> None:
    editor = make_editor(NASTY)
    with qtbot.waitSignal(editor.source_wanted) as asked:
        press(editor, "nested", "Edit in source")
    assert NASTY.splitlines()[asked.args[0] - 1] == "nested:"


def test_of_a_property_written_twice_the_one_that_counts_is_edited(make_editor) -> None:
    editor = make_editor(PLAIN.replace("priority: 20", "priority: 20\npriority: 30"))
    assert field(editor, "priority").line.text() == "30"
    other = next(name for name in editor.form.names if name.startswith("priority#"))
    assert isinstance(field(editor, other), RawField)


def test_a_property_that_nobody_knows_can_be_edited(make_editor) -> None:
    editor = make_editor(PLAIN.replace("priority", "mood: calm\npriority"))
    line = field(editor, "mood").line
    line.selectAll()
    write(line, "wild")
    assert editor.buffer.text == PLAIN.replace("priority", "mood: wild\npriority")


def test_every_field_has_a_name_for_a_screen_reader(make_editor) -> None:
    editor = make_editor(NASTY)
    for name in editor.form.names:
        row = editor.form.row(name)
        target = row.field.focusProxy() or row.field
        assert target.accessibleName() or target.text(), name


# ---- changes are edits of the text ----------------------------------------------------------------------------------


def test_a_number_changes_its_line_only(make_editor) -> None:
    editor = make_editor(NASTY)
    line = field(editor, "priority").line
    line.selectAll()
    write(line, "7")
    assert editor.buffer.text == NASTY.replace("priority: 20", "priority: 7")


def test_an_empty_number_is_the_general_one_and_its_row_stays(make_editor) -> None:
    editor = make_editor(PLAIN)
    line = field(editor, "priority").line
    line.setFocus()
    line.selectAll()
    QTest.keyClick(line, Qt.Key.Key_Delete)
    drain()
    assert editor.buffer.text == PLAIN.replace("priority: 20\n", "")
    assert "priority" in editor.form.names
    write(line, "30")
    assert "priority: 30\n" in editor.buffer.text


@pytest.mark.parametrize(("typed", "written"), [("0.5", "probability: 0.5"), ("2", ""), ("abc", "")])
def test_a_number_outside_its_range_is_not_written(make_editor, typed: str, written: str) -> None:
    editor = make_editor(PLAIN)
    editor.form.add("probability")
    write(field(editor, "probability").line, typed)
    assert (written in editor.buffer.text) if written else ("probability" not in editor.buffer.text)


def test_the_arrow_keys_count_within_the_range(make_editor) -> None:
    editor = make_editor(PLAIN.replace("priority: 20", "probability: 0.95"))
    line = field(editor, "probability").line
    for _ in range(3):
        QTest.keyClick(line, Qt.Key.Key_Up)
    drain()
    assert "probability: 1\n" in editor.buffer.text


def test_a_choice_and_back_to_the_general_one(make_editor) -> None:
    editor = make_editor(PLAIN)
    editor.form.add("position")
    combo = field(editor, "position").combo
    for place, written in ((3, "position: in_chat\n"), (0, "")):
        combo.setCurrentIndex(place)
        combo.activated.emit(place)
        drain()
        assert ("position" in editor.buffer.text) == bool(written)
        assert written in editor.buffer.text


def test_a_gating_field_of_the_project_offers_its_values(make_editor) -> None:
    editor = make_editor(PLAIN)
    editor.form.add("season")
    chips = field(editor, "season").chips
    chips.input.completer().fill("au")
    assert chips.input.completer().model().stringList() == ["autumn"]
    write(chips.input, "autumn")
    QTest.keyClick(chips.input, Qt.Key.Key_Return)
    drain()
    assert editor.buffer.note.find("season").value == ["autumn"]


# ---- chips ----------------------------------------------------------------------------------------------------------


def test_enter_and_commas_add_keys(make_editor) -> None:
    editor = make_editor(PLAIN)
    line = field(editor, "keys").chips.input
    write(line, "ash wyrm,")
    write(line, "dragon")
    QTest.keyClick(line, Qt.Key.Key_Return)
    drain()
    assert editor.buffer.text == PLAIN.replace("[skarn]", "[skarn, ash wyrm, dragon]")


@pytest.mark.parametrize("pasted", ["a, b\nc", "a\r\nb\r\n\r\nc\r\n", " a ,b,, c "])
def test_a_pasted_list_becomes_several_chips(make_editor, pasted: str) -> None:
    editor = make_editor(PLAIN)
    QApplication.clipboard().setText(pasted)
    line = field(editor, "keys").chips.input
    line.setFocus()
    QTest.keySequence(line, QKeySequence(QKeySequence.StandardKey.Paste))
    drain()
    assert field(editor, "keys").chips.items == ["skarn", "a", "b", "c"]


@pytest.mark.parametrize(("short_of", "drags"), [(1, False), (0, True)])
def test_a_chip_is_dragged_once_the_mouse_has_moved_as_far_as_the_system_says(
    make_editor, monkeypatch, short_of, drags
) -> None:
    editor = make_editor(PLAIN.replace("[skarn]", "[one, two]"))
    chips = field(editor, "keys").chips
    dragged: list[object] = []
    monkeypatch.setattr(chips, "drag", dragged.append)
    chip = chips.chips[0]
    QTest.mousePress(chip, Qt.MouseButton.LeftButton, pos=QPoint(3, 3))
    to = QPointF(3 + QApplication.startDragDistance() - short_of, 3)
    left, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    QApplication.sendEvent(chip, QMouseEvent(QEvent.Type.MouseMove, to, chip.mapToGlobal(to), left, left, none))
    assert dragged == ([chip] if drags else [])


def test_chips_are_moved_edited_and_removed_with_the_keyboard(make_editor) -> None:
    editor = make_editor(PLAIN.replace("[skarn]", "[one, two, three]"))
    chips = field(editor, "keys").chips
    chips.input.setFocus()
    QTest.keyClick(chips.input, Qt.Key.Key_Left)
    assert chips.chips[2].hasFocus()
    both = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    QTest.keyClick(chips.chips[2], Qt.Key.Key_Left, both)
    drain()
    assert "keys: [one, three, two]\n" in editor.buffer.text
    assert chips.chips[1].hasFocus(), "the keyboard stays on the chip that was moved"
    QTest.keyClick(chips.chips[1], Qt.Key.Key_Delete)
    drain()
    assert "keys: [one, two]\n" in editor.buffer.text
    QTest.keyClick(chips.chips[0], Qt.Key.Key_F2)
    assert chips.input.text() == "one"
    QTest.keyClicks(chips.input, "1")
    QTest.keyClick(chips.input, Qt.Key.Key_Return)
    drain()
    assert "keys: [1, two]\n" in editor.buffer.text or 'keys: ["1", two]\n' in editor.buffer.text


def test_what_was_typed_is_not_lost_when_the_field_is_left(make_editor) -> None:
    editor = make_editor(PLAIN)
    write(field(editor, "keys").chips.input, "half")
    editor.body.setFocus()
    drain()
    assert editor.buffer.note.find("keys").value == ["skarn", "half"]


def test_escape_leaves_the_field_and_changes_nothing(make_editor) -> None:
    editor = make_editor(PLAIN)
    field(editor, "priority").line.setFocus()
    QTest.keyClick(field(editor, "priority").line, Qt.Key.Key_Escape)
    assert editor.body.hasFocus()
    assert editor.buffer.text == PLAIN


def test_an_unknown_title_is_marked(make_editor) -> None:
    editor = make_editor(PLAIN.replace("priority: 20", "requires: [dawnkeep, Nobody]"))
    known, unknown = field(editor, "requires").chips.chips
    assert not known.warning
    assert unknown.warning
    assert unknown.accessibleDescription() == unknown.warning


def test_titles_are_offered(make_editor) -> None:
    editor = make_editor(PLAIN)
    editor.form.add("requires")
    line = field(editor, "requires").chips.input
    line.completer().fill("dwn")
    assert line.completer().model().stringList()[0] == "Dawnkeep"


# ---- when it fires --------------------------------------------------------------------------------------------------


def choose_fires(editor: NoteEditor, words: str) -> None:
    combo = field(editor, FIRES).combo
    place = next(place for place in range(combo.count()) if words in combo.itemText(place))
    combo.setCurrentIndex(place)
    combo.activated.emit(place)
    drain()


def test_fires_is_written_as_a_tag(make_editor) -> None:
    editor = make_editor(PLAIN)
    choose_fires(editor, "constant")
    assert editor.buffer.text == PLAIN.replace("[lorebook]", "[lorebook, lorebook-always]")
    choose_fires(editor, "seed")
    assert editor.buffer.text == PLAIN.replace("[lorebook]", "[lorebook, lorebook-seed]")
    choose_fires(editor, "keys")
    assert editor.buffer.text == PLAIN


def test_a_constant_property_goes_when_the_entry_is_to_fire_otherwise(make_editor) -> None:
    editor = make_editor(PLAIN.replace("priority", "constant: true\npriority"))
    assert "constant" in field(editor, FIRES).combo.currentText()
    choose_fires(editor, "keys")
    assert editor.buffer.text == PLAIN


def test_several_special_tags_are_said(make_editor) -> None:
    editor = make_editor(PLAIN.replace("[lorebook]", "[lorebook, lorebook-seed, lorebook-always]"))
    assert "several things" in remarks(editor, FIRES)


def test_an_ordinary_note_can_be_made_an_entry(make_editor) -> None:
    editor = make_editor("Just text.\r\n")
    press(editor, "tags", "Make it an entry")
    text = editor.buffer.text
    assert text.endswith("Just text.\r\n")
    assert editor.buffer.note.find("tags").value == ["lorebook"]
    assert "\n" not in text.replace("\r\n", "")


# ---- remarks and their buttons --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "row", "button", "written"),
    [
        ('priority: "20"', "priority", "Write the number", "priority: 20"),
        ("Priority: 20", "priority", "Write it so", "priority: 20"),
        ("keys: a, b", "keys", "Make it a list", "keys: [a, b]"),
        ("enabled: no", "enabled", "Take false", "enabled: false"),
        ("group: x", "group", "Remove it", ""),
        ("requires: A, B", "requires", "Make it a list", "requires: [A, B]"),
    ],
)
def test_a_remark_s_button_mends_the_value(make_editor, line: str, row: str, button: str, written: str) -> None:
    text = f"---\ntags: [lorebook]\n{line}\nmood: calm\n---\n# Skarn\n"
    editor = make_editor(text)
    assert editor.form.row(row).remarks
    press(editor, row, button)
    assert editor.buffer.text == text.replace(f"{line}\n", f"{written}\n" if written else "")


def test_what_cannot_be_written_is_said_and_nothing_changes(make_editor) -> None:
    text = "---\ntags: [lorebook]\nmood: calm\nother: x\n---\n# Skarn\n"
    editor = make_editor(text)
    editor.form._rename("mood", "other")
    assert editor.buffer.text == text
    assert "other" in remarks(editor, "mood")


def test_the_would_match_line_stands_under_the_keys(make_editor) -> None:
    editor = make_editor(PLAIN)
    editor.form.say_match("“skarn” occurs in message 4.", "good")
    assert "message 4" in remarks(editor, "keys")
    editor.form.say_match("")
    assert not editor.form.row("keys").remarks


# ---- one history ----------------------------------------------------------------------------------------------------


def test_form_body_and_source_share_one_undo_history(make_editor) -> None:
    editor = make_editor(PLAIN)
    line = field(editor, "priority").line
    line.selectAll()
    write(line, "7")
    editor.body.moveCursor(editor.body.textCursor().MoveOperation.End)
    write(editor.body, "More.")
    editor.set_source(True)
    editor.body.moveCursor(editor.body.textCursor().MoveOperation.Start)
    editor.body.moveCursor(editor.body.textCursor().MoveOperation.EndOfBlock)
    editor.settle()
    editor.set_source(False)
    texts = [editor.buffer.text]
    assert texts[0].endswith("More.")
    field(editor, "keys").chips.input.setFocus()
    for _ in range(8):
        QTest.keySequence(field(editor, "keys").chips.input, QKeySequence(QKeySequence.StandardKey.Undo))
        drain()
        texts.append(editor.buffer.text)
    assert texts[-1] == PLAIN
    assert field(editor, "priority").line.text() == "20"
    for _ in range(8):
        editor.redo()
    assert editor.buffer.text == texts[0]
    assert field(editor, "priority").line.text() == "7"


def test_typing_in_the_source_shows_in_the_form(make_editor) -> None:
    editor = make_editor(PLAIN)
    editor.set_source(True)
    cursor = editor.body.document().find("20")
    cursor.insertText("35")
    drain()
    editor.settle()
    editor.set_source(False)
    assert field(editor, "priority").line.text() == "35"


def test_a_read_only_note_cannot_be_changed_in_the_form(make_editor) -> None:
    editor = make_editor(PLAIN)
    buffer = editor.buffer
    editor.show_buffer(buffer, read_only=True)
    assert not field(editor, "priority").isEnabled()
    editor.form.add_button.click()
    assert editor.form.open_choice() is None
    assert buffer.text == PLAIN


def test_an_added_field_is_in_sight_and_has_the_keyboard(make_editor, qtbot) -> None:
    editor = make_editor("---\nkeys: [a]\ntags: [b]\npriority: 3\nsummary: A lamp.\nweather: wet\n---\n# A\n\nText.\n")
    editor.resize(420, 260)
    for name in ("probability", "cooldown", "warmup"):
        editor.form.add(name)
        row = editor.form.row(name)
        assert row is not None
        qtbot.waitUntil(lambda row=row: row.visibleRegion().boundingRect().height() == row.height() > 0)
        assert row.isAncestorOf(QApplication.focusWidget())
    assert editor.body.height() >= 5 * editor.body.fontMetrics().height()
