"""The form: what it shows of a note, and that a change in it is the same change of the file's text, and no other."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, Qt
from PySide6.QtGui import QKeySequence, QMouseEvent, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QLabel, QLineEdit, QMenu, QPushButton

from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.domain.records import replace
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.ui.features.notes.editor.buffer import NoteBuffer
from lorestudio.ui.features.notes.editor.fields import FIRES, FieldContext, RawField
from lorestudio.ui.features.notes.editor.form import PropertyForm
from lorestudio.ui.features.notes.editor.form_row import LEAST_TEXT, FieldRow, Mend
from lorestudio.ui.features.notes.editor.names import TitleBook
from lorestudio.ui.features.notes.editor.note_editor import NoteEditor
from lorestudio.vault.note.document import NoteDocument
from lorestudio.vault.note.text_edits import TextEdit, apply_edits
from tests.ui.conftest import drain
from tests.ui.features.notes.editor.notes import NASTY, PLAIN

KEYS = QKeySequence.StandardKey


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


def test_a_note_s_rows_serve_the_next_one_without_what_is_half_typed(make_editor) -> None:
    editor = make_editor(PLAIN)
    keys = field(editor, "keys")
    QTest.keyClick(keys.chips.chips[0], Qt.Key.Key_F2)  # the item stands in the line, to be written anew
    assert keys.chips.input.text() == "skarn"
    other = NoteBuffer(Path("Bell.md"), PLAIN.replace("skarn", "bell, toll").replace("priority: 20\n", ""), "d", editor)
    editor.show_buffer(other, read_only=False)
    drain()
    assert field(editor, "keys") is keys
    assert (editor.form.names, keys.chips.items, keys.chips.input.text()) == (
        ["keys", FIRES, "tags"], ["bell", "toll"], "",
    )  # fmt: skip
    write(keys.chips.input, "clang\r")
    assert (keys.chips.items, other.text.splitlines()[2]) == (["bell", "toll", "clang"], "keys: [bell, toll, clang]")


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


def test_every_field_says_what_its_property_is_for(make_editor) -> None:
    editor = make_editor(PLAIN)
    for choice in editor.form.choices():
        editor.form.add(choice.key)
    drain()
    helps = {name: editor.form.row(name).spec.help for name in editor.form.names}
    assert len(helps) > 20
    assert all(helps.values())
    for name, said in helps.items():
        target = editor.form.row(name).field.focusProxy() or editor.form.row(name).field
        assert said in target.toolTip(), name


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


@pytest.mark.parametrize("elsewhere", [PLAIN.replace("[skarn]", "{ash: 1}"), ""], ids=["changed", "gone"])
def test_what_was_typed_goes_into_no_field_that_came_in_its_place(make_editor, elsewhere: str) -> None:
    editor = make_editor(PLAIN)
    buffer = editor.buffer
    write(field(editor, "keys").chips.input, "half")
    if elsewhere:  # the file was changed, or is gone
        buffer.take(elsewhere, None)
    else:
        editor.show_nothing()
    drain()
    assert buffer.text == (elsewhere or PLAIN)


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


@pytest.mark.dressed
@pytest.mark.parametrize("width", [420, 600, 900])
def test_a_remark_with_two_buttons_can_be_read_in_a_narrow_editor(make_editor, width: int) -> None:
    editor = make_editor("---\ntags: [lorebook]\nkeys:\n- skarn\n- the old king   # block item\n---\n# Skarn\n")
    editor.resize(width, 700)
    drain()
    row = editor.form.row("keys")
    (text,) = (each for each in row.findChildren(QLabel) if each.text() == row.remarks[0].text)
    buttons = [each for each in row.findChildren(QPushButton) if each.parent() is text.parent()]
    assert len(buttons) == 2
    assert text.width() >= text.fontMetrics().horizontalAdvance("x" * LEAST_TEXT)
    assert text.height() >= text.heightForWidth(text.width())
    boxes = [each.geometry() for each in (text, *buttons)]
    assert all(each.width() >= each.sizeHint().width() for each in buttons), "no title is cut"
    assert all(text.parentWidget().rect().contains(box) for box in boxes)
    assert not any(one.intersects(other) for one, other in combinations(boxes, 2))


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


# ---- adding, renaming and removing ----------------------------------------------------------------------------------


def asked(editor: NoteEditor) -> tuple[QDialog, QLineEdit]:
    """The dialog that asks for a name, and its line."""
    dialog = next(each for each in editor.findChildren(QDialog) if each.isVisible())
    return dialog, dialog.findChild(QLineEdit)


def test_a_property_is_chosen_from_a_list(make_editor) -> None:
    editor = make_editor(PLAIN)
    picker = editor.form.open_choice()
    assert picker.isVisible()
    picker.picked.emit("summary")
    picker.close()
    assert field(editor, "summary").edit.hasFocus()
    assert editor.buffer.text == PLAIN  # it is written once it has a value
    assert "summary" not in {choice.key for choice in editor.form.choices()}


def test_a_property_that_nobody_knows_is_asked_for_by_name(make_editor) -> None:
    editor = make_editor(PLAIN)
    last = editor.form.choices()[-1]
    assert (last.title, last.detail) == ("another property", "Nothing reads this property.")
    picker = editor.form.open_choice()
    picker.picked.emit(last.key)
    picker.close()
    dialog, line = asked(editor)
    assert dialog.windowTitle() == "Add property"
    line.setText("mood")
    dialog.accept()
    drain()
    assert editor.form.names[-1] == "mood"
    assert editor.buffer.text == PLAIN
    write(field(editor, "mood").line, "x")
    assert editor.buffer.text == PLAIN.replace("priority: 20\n", "priority: 20\nmood: x\n")


def test_no_property_is_added_where_there_is_no_note_or_it_is_only_read(make_editor) -> None:
    editor = make_editor(PLAIN)
    assert editor.form.add_button.isEnabled()
    editor.show_buffer(editor.buffer, read_only=True)
    assert not editor.form.add_button.isEnabled()
    assert editor.form.open_choice() is None
    editor.edit_keys()  # looks only
    assert not editor.form.add_button.isEnabled()
    assert not field(editor, "priority").isEnabled()
    editor.show_nothing()
    assert editor.form.open_choice() is None


def test_an_added_row_that_is_still_empty_is_taken_away_again(make_editor) -> None:
    editor = make_editor(PLAIN)
    editor.form.add("summary")
    name = editor.form.row("summary").name
    assert not name.written
    QTest.keyClick(name, Qt.Key.Key_Delete)
    drain()
    assert "summary" not in editor.form.names
    assert editor.buffer.text == PLAIN


def test_a_property_is_removed_with_its_row(make_editor) -> None:
    editor = make_editor(PLAIN)
    assert editor.form.row("priority").name.written
    QTest.keyClick(editor.form.row("priority").name, Qt.Key.Key_Delete)
    drain()
    assert editor.buffer.text == PLAIN.replace("priority: 20\n", "")
    assert "priority" not in editor.form.names
    editor.undo()
    line = field(editor, "priority").line
    line.selectAll()
    write(line, "7")  # the row is looked at now, and stays all the same once it is removed by its name
    QTest.keyClick(editor.form.row("priority").name, Qt.Key.Key_Backspace)
    drain()
    assert "priority" not in editor.form.names
    before = editor.buffer.text
    editor.form.row(FIRES).name.asked.emit("remove")  # it stands for tags, and is no property
    assert (editor.buffer.text, FIRES in editor.form.names) == (before, True)
    assert editor.form.row(FIRES).name.focusPolicy() is Qt.FocusPolicy.NoFocus


def test_only_what_nobody_knows_is_renamed(make_editor) -> None:
    editor = make_editor(PLAIN.replace("priority", "mood: calm\npriority"))
    assert not editor.form.row("priority").name.renamable
    QTest.keyClick(editor.form.row("mood").name, Qt.Key.Key_F2)
    dialog, line = asked(editor)
    assert (dialog.windowTitle(), line.text()) == ("Rename property", "mood")
    dialog.accept()  # as it was
    assert "mood: calm" in editor.buffer.text
    QTest.keyClick(editor.form.row("mood").name, Qt.Key.Key_F2)
    dialog, line = asked(editor)
    line.setText("temper")
    dialog.accept()
    drain()
    assert editor.buffer.text == PLAIN.replace("priority", "temper: calm\npriority")
    assert "temper" in editor.form.names
    editor.form._rename("mood", "else")  # it is gone meanwhile
    assert "else" not in editor.buffer.text


def test_the_name_leads_to_the_line_of_the_file(make_editor) -> None:
    editor = make_editor(PLAIN)
    editor.form.add("summary")
    lines: list[int] = []
    editor.source_wanted.connect(lines.append)
    for name in ("priority", "summary"):
        editor.form.row(name).name.asked.emit("source")
    editor.show_buffer(editor.buffer, read_only=True)
    editor.form.row("keys").name.asked.emit("source")
    editor.form.row("keys").name.asked.emit("remove")
    editor.form.row("keys").name.asked.emit("rename")
    assert lines == [4, 1, 3]  # what is not there yet has no line of its own
    assert editor.buffer.text == PLAIN
    assert not any(each.isVisible() for each in editor.findChildren(QDialog))


def test_enter_on_a_name_opens_what_can_be_done(make_editor) -> None:
    editor = make_editor(PLAIN)
    name = editor.form.row("priority").name
    for key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
        QTest.keyClick(name, key)
        menu = next(each for each in name.findChildren(QMenu) if each.isVisible())
        assert [each.text() for each in menu.actions()] == ["Remove property", "Show in source"]
        menu.close()
        drain()


# ---- how values are written -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("typed", "written"), [("7", "mood: 7"), ("x", "mood: x"), (" 8 ", "mood: 8")])
def test_what_was_a_number_stays_one_where_a_number_is_typed(make_editor, typed: str, written: str) -> None:
    editor = make_editor(PLAIN.replace("priority", "mood: 5\npriority"))
    line = field(editor, "mood").line
    assert line.text() == "5"
    line.selectAll()
    write(line, typed)
    assert f"{written}\n" in editor.buffer.text


def test_an_emptied_text_and_list_take_their_property_away_and_leave_their_rows(make_editor) -> None:
    editor = make_editor(PLAIN.replace("priority", "mood: a\nrequires: [Bell]\npriority"))
    line = field(editor, "mood").line
    line.setFocus()
    QTest.keyClick(line, Qt.Key.Key_End)
    QTest.keyClick(line, Qt.Key.Key_Backspace)
    drain()
    assert "mood" not in editor.buffer.text
    assert "mood" in editor.form.names
    chips = field(editor, "requires").chips
    chips.chips[0].setFocus()
    QTest.keyClick(chips.chips[0], Qt.Key.Key_Delete)
    drain()
    assert "requires: []\n" in editor.buffer.text
    editor.form.add("excludes")
    field(editor, "excludes").changed.emit([])  # nothing was written, and nothing is
    assert "excludes" not in editor.buffer.text


@pytest.fixture
def book(qtbot, theme):
    """The form on an entry of a lorebook, and the texts that it asks for."""
    form = PropertyForm(theme)
    qtbot.addWidget(form)
    form.set_fields(of_book=True)
    text = ["---\ncomment: Skarn\nkey: [skarn]\norder: 100\nposition: 0\nx: 1\n---\nA dragon.\n"]

    def show(edits: tuple[TextEdit, ...] = ()) -> None:
        text.append(apply_edits(text[-1], edits))
        form.show_note(NoteDocument(text[-1]), None, form._pinned)

    form.edited.connect(show)
    show()
    form.show()
    return form, text


def test_a_lorebook_s_entry_has_fields_of_its_own(book) -> None:
    form, text = book
    assert form.names == ["comment", "key", "position", "order", "x"]
    assert form.name_of_keys() == "key"
    assert form.choices()[-1].detail == "A field that World Info does not know."
    combo = form.row("position").field.combo
    place = [combo.itemText(each) for each in range(combo.count())].index("in the chat")
    combo.setCurrentIndex(place)
    combo.activated.emit(place)
    assert "\nposition: 4\n" in text[-1]  # a number, which no quotes make a text
    form.say_match("“skarn” occurs.", "good")
    assert [each.text for each in form.row("key").remarks] == ["“skarn” occurs."]
    form.set_fields(of_book=False)
    form.show_note(NoteDocument(PLAIN), None, {})
    assert form.names == ["keys", FIRES, "tags", "priority"]
    assert [each.text for each in form.row("keys").remarks] == ["“skarn” occurs."]


# ---- remarks --------------------------------------------------------------------------------------------------------


def test_what_a_note_s_front_matter_has_wrong_is_said_above_the_rows(make_editor) -> None:
    editor = make_editor(PLAIN.replace("priority: 20", "priority: 20\npriority: 30"))
    said = editor.form.findChild(QLabel, "FormProblems")
    assert said.isVisible()
    assert said.text().startswith("Line 4: “priority” is written again in line 5.")
    editor.buffer.replace_all(PLAIN)
    editor.settle()
    assert said.isHidden()


@pytest.mark.parametrize(
    ("line", "buttons", "written"),
    [
        ("summary: a # b", ["Take “a”", "Keep “a # b”"], ["# b\nsummary: a\n", 'summary: "a # b"\n']),
        ("mood: yes", ["Take true", "Keep “yes”"], ["mood: true\n", 'mood: "yes"\n']),
        ("summary: 2020-01-01", ["Spell it so that both agree"], ['summary: "2020-01-01"\n']),
        ("mood: [x,\n  y]", ["Take 2 items: “x”, “y”", "Keep “[x,”"], ['mood: [x, "y"]\n', 'mood: "[x,"\n']),
    ],
)
def test_where_deeplore_and_yaml_read_a_value_otherwise_one_is_chosen(
    make_editor, line: str, buttons: list[str], written: list[str]
) -> None:
    text = PLAIN.replace("priority: 20", line)
    for title, after in zip(buttons, written, strict=True):
        editor = make_editor(text)
        row = editor.form.row(line.partition(":")[0])
        assert [each.text() for each in row.findChildren(QPushButton)] == buttons
        assert len(row.remarks) == 1  # the difference is all there is to say
        press(editor, row.spec.name, title)
        assert editor.buffer.text == text.replace(f"{line}\n", after)


def test_a_list_that_is_the_only_property_is_written_as_one(make_editor) -> None:
    editor = make_editor("---\nkeys: a, b\n---\nText\n")
    editor.form._mend(Mend.LIST, "keys")
    drain()
    assert editor.buffer.note.find("keys").value == ["a", "b"]
    assert editor.buffer.text.endswith("---\nText\n")
    before = editor.buffer.text
    editor.form._mend(Mend.REMOVE, "nobody")  # it was there when the button was made
    assert editor.buffer.text == before


def test_an_entry_without_keys_is_told_what_finds_it(make_editor) -> None:
    editor = make_editor(PLAIN.replace("keys: [skarn]\n", ""))
    assert "only a link or fuzzy search" in remarks(editor, "keys")
    choose_fires(editor, "constant")
    assert "only a link" not in remarks(editor, "keys")


def test_a_value_outside_its_range_and_an_unknown_choice_are_said(make_editor) -> None:
    editor = make_editor(PLAIN.replace("priority: 20", "probability: 7\nrole: elf\nenabled: maybe"))
    assert "7 lies outside 0 to 1." in remarks(editor, "probability")
    assert "means nothing" in remarks(editor, "role")
    assert remarks(editor, "enabled")
    assert editor.form.row("probability").field.accessibleDescription() == remarks(editor, "probability")


def test_commas_between_titles_are_said_to_be_part_of_them(make_editor) -> None:
    editor = make_editor(PLAIN.replace("priority: 20", "requires: Bell\nexcludes: Bell, Crown"))
    assert "Commas" not in remarks(editor, "requires")
    assert "Commas do not separate titles here" in remarks(editor, "excludes")


def test_remarks_that_say_the_same_stay_and_take_their_place_below_the_field(make_editor) -> None:
    editor = make_editor(PLAIN.replace("priority: 20", 'priority: "20"'))
    row = editor.form.row("priority")
    (button,) = row.findChildren(QPushButton)
    assert button.accessibleDescription() == row.remarks[0].text
    assert button.mapTo(row, QPoint(0, 0)).y() >= row.field.geometry().bottom()
    editor.buffer.apply(editor.buffer.note.set("summary", "New."))
    editor.settle()
    assert row.findChildren(QPushButton) == [button]
    editor.buffer.apply(editor.buffer.note.set("priority", 5))
    editor.settle()
    drain()
    assert row.findChildren(QPushButton) == []
    assert row.field.accessibleDescription() == ""


# ---- keys that concern the whole note --------------------------------------------------------------------------------


def test_undo_and_redo_work_wherever_the_keyboard_is_in_the_form(make_editor) -> None:
    editor = make_editor(PLAIN.replace("[skarn]", "[one, two]"))
    text = editor.buffer.text
    chips = field(editor, "keys").chips
    chips.chips[0].setFocus()
    QTest.keyClick(chips.chips[0], Qt.Key.Key_Delete)
    drain()
    after = editor.buffer.text
    undo, redo = QKeySequence(KEYS.Undo), QKeySequence(KEYS.Redo)
    for place in (chips.chips[0], chips.input, editor.form.row("priority").name, field(editor, "priority").line):
        place.setFocus()
        QTest.keySequence(place, undo)
        assert editor.buffer.text == text
        QTest.keySequence(place, redo)
        assert editor.buffer.text == after


def test_undo_in_a_half_typed_item_is_its_own(make_editor) -> None:
    editor = make_editor(PLAIN)
    line = field(editor, "priority").line
    line.selectAll()
    write(line, "7")
    typed = field(editor, "keys").chips.input
    write(typed, "dra")
    text = editor.buffer.text
    QTest.keySequence(typed, QKeySequence(KEYS.Undo))
    assert (typed.text(), editor.buffer.text) == ("", text)
    typed.clear()
    QTest.keySequence(typed, QKeySequence(KEYS.Undo))
    assert editor.buffer.text == PLAIN


def test_escape_on_a_name_or_a_chip_goes_to_the_text(make_editor) -> None:
    editor = make_editor(PLAIN)
    name = editor.form.row("priority").name
    name.setFocus()
    QTest.keyClick(name, Qt.Key.Key_Escape)
    assert editor.body.hasFocus()
    line = field(editor, "keys").chips.input
    line.setFocus()
    QTest.keyClick(line, Qt.Key.Key_Escape)
    assert editor.body.hasFocus()
    QTest.keyClick(name, Qt.Key.Key_A)
    assert editor.buffer.text == PLAIN


# ---- other settings, and notes that are only read -------------------------------------------------------------------


def test_other_titles_leave_the_keyboard_and_other_settings_make_fields_anew(make_editor) -> None:
    editor = make_editor(PLAIN.replace("priority: 20", "requires: [Moth]"))
    editor.form.add("scanDepth")
    chips = field(editor, "requires").chips
    chips.input.setFocus()
    assert chips.chips[0].warning
    before = editor.context
    moth = TitleBook(VaultIndex((Entry(0, "Moth.md", "vault", "Moth"),)))
    editor.set_context(FieldContext(before.settings, before.rules, moth))
    assert field(editor, "requires").chips is chips
    assert chips.input.hasFocus()
    assert not chips.chips[0].warning
    deeper = before.settings.model_copy(update={"scan_depth": before.settings.scan_depth + 3})
    editor.set_context(FieldContext(deeper, before.rules, moth))
    assert str(deeper.scan_depth) in field(editor, "scanDepth").line.placeholderText()


def test_a_note_that_is_only_read_shows_its_lists_without_a_line_and_can_be_looked_up(make_editor) -> None:
    editor = make_editor(NASTY)
    editor.show_buffer(editor.buffer, read_only=True)
    chips = field(editor, "keys").chips
    assert (chips.items, chips.input.isVisible()) == (["skarn", "the dragon"], False)
    assert field(editor, "nested").isEnabled()  # its button leads to the source
    field(editor, "priority").changed.emit(7)
    assert editor.buffer.text == NASTY
    editor.show_buffer(editor.buffer, read_only=False)
    drain()
    assert field(editor, "keys").chips.input.isVisible()
    assert field(editor, "priority").isEnabled()


def test_a_property_that_cannot_be_edited_says_why(make_editor) -> None:
    editor = make_editor(PLAIN.replace("priority: 20", "a b: 1\nnested:\n  x: 1\npriority: 20\npriority: 30"))
    told = {
        name.partition("#")[0]: " ".join(each.text() for each in field(editor, name).findChildren(QLabel))
        for name in editor.form.names
        if isinstance(field(editor, name), RawField)
    }
    assert len(told) == 3
    assert "leaves this one as it is" in told["nested"]
    assert "no property that YAML or DeepLore can read" in told["a b"]
    assert "priority: 20" in told["priority"]
    assert "It is written again further down" in told["priority"]
    assert field(editor, "priority").line.text() == "30"


def test_rows_stand_in_their_order_whatever_is_added(make_editor) -> None:
    editor = make_editor(PLAIN)
    for name in ("requires", "refine_keys", "mood"):
        editor.form.add(name)
    drain()
    wanted = ["keys", "refine_keys", FIRES, "tags", "priority", "requires", "mood"]
    assert editor.form.names == wanted
    tops = [editor.form.row(name).y() for name in wanted]
    assert tops == sorted(set(tops))
    assert editor.form.add_button.y() > tops[-1]
    assert editor.form.add_button.x() == editor.form.row("keys").x(), "it begins as the lines above it"


def test_tags_are_offered_the_entry_s_first(make_editor, monkeypatch: pytest.MonkeyPatch) -> None:
    editor = make_editor(PLAIN)
    monkeypatch.setattr(editor.context.book, "tags", ("Cafe\u0301",))
    line = field(editor, "tags").chips.input
    line.completer().fill("lorebook")
    offered = line.completer().model().stringList()
    assert offered[0] == "lorebook"
    assert {"lorebook-always", "lorebook-seed"} <= set(offered)
    line.completer().fill("caf\u00e9")
    assert line.completer().model().stringList() == ["Cafe\u0301"]
    line.completer().fill("")
    assert line.completer().model().stringList() == []


# ---- looks of a row -------------------------------------------------------------------------------------------------


def test_the_name_of_a_property_says_what_it_is_and_what_can_be_done(make_editor) -> None:
    editor = make_editor(PLAIN.replace("priority", "mood: calm\npriority"))
    row = editor.form.row("mood")
    name = row.name
    assert (name.text(), name.accessibleName()) == ("mood", "Property mood")
    assert name.accessibleDescription() == name.toolTip() == "Nothing reads this property."
    assert name.objectName() == "PropertyName"  # the stylesheet has room and letters for it
    assert name.focusPolicy() is Qt.FocusPolicy.StrongFocus
    assert not name.icon().isNull()
    assert name.toolButtonStyle() is Qt.ToolButtonStyle.ToolButtonTextBesideIcon

    def menu() -> QMenu | None:
        return next((each for each in name.findChildren(QMenu) if each.isVisible()), None)

    for ask in (
        lambda: QTest.mouseClick(name, Qt.MouseButton.LeftButton),
        lambda: name.customContextMenuRequested.emit(QPoint(3, 3)),
    ):
        ask()
        shown = menu()
        assert [(each.text(), each.shortcut().toString()) for each in shown.actions()] == [
            ("Remove property", "Del"), ("Rename…", "F2"), ("Show in source", ""),
        ]  # fmt: skip
        shown.close()
        drain()
        assert name.findChildren(QMenu) == []
    assert name.contextMenuPolicy() is Qt.ContextMenuPolicy.CustomContextMenu
    QTest.keyClick(name, Qt.Key.Key_A)
    assert menu() is None


def test_names_stand_before_their_fields_and_remarks_below_them(make_editor) -> None:
    editor = make_editor(PLAIN.replace("priority: 20", 'summary: A <b>.\npriority: "20"'))
    row, other = editor.form.row("priority"), editor.form.row("summary")
    assert row.name.width() == other.name.width()
    for each in (row, other):
        assert each.name.geometry().right() < each.field.x() <= each.name.geometry().right() + 7
        assert each.field.geometry().right() == each.width() - 1
        assert each.name.y() <= each.field.y() + 1
    (button,) = row.findChildren(QPushButton)
    said = next(each for each in row.findChildren(QLabel) if each.text() == row.remarks[0].text)
    sign = next(each for each in row.findChildren(QLabel) if not each.pixmap().isNull())
    places = [each.mapTo(row, QPoint(0, 0)) for each in (sign, said, button)]
    assert all(place.y() >= row.field.geometry().bottom() for place in places)
    assert row.field.x() <= places[0].x() < places[1].x() < places[2].x() < row.width()
    assert sign.width() == 16
    assert said.textFormat() is Qt.TextFormat.PlainText
    assert editor.form.area.horizontalScrollBarPolicy() is Qt.ScrollBarPolicy.ScrollBarAlwaysOff
    assert not editor.form.add_button.icon().isNull()


def test_icons_follow_the_theme(make_editor, theme) -> None:
    editor = make_editor(PLAIN)
    buttons = (editor.form.add_button, editor.form.row("keys").name)
    light = [each.icon().pixmap(16).toImage() for each in buttons]
    theme.choose("dark")
    assert all(before != each.icon().pixmap(16).toImage() for before, each in zip(light, buttons, strict=True))


def test_a_row_goes_with_its_button_though_it_was_just_written_in(make_editor) -> None:
    editor = make_editor(PLAIN.replace("priority: 20", "group: x"))
    line = field(editor, "group").line
    line.selectAll()
    write(line, "z")
    assert "group: z" in editor.buffer.text
    press(editor, "group", "Remove it")
    assert "group" not in editor.form.names
    assert remarks(editor, FIRES) == ""  # one thing is said by the tags
    row = editor.form.row("tags")
    press_all = [each.text() for each in row.findChildren(QPushButton)]
    assert press_all == []


def test_a_row_that_is_gone_is_seen_no_more(make_editor) -> None:
    editor = make_editor(PLAIN)
    row = editor.form.row("priority")
    editor.buffer.apply(editor.buffer.note.remove("priority"))
    editor.settle()
    assert not row.isVisible()
    count = len(editor.form.findChildren(FieldRow))
    drain()
    assert len(editor.form.findChildren(FieldRow)) == count - 1 == len(editor.form.names)


def test_one_special_tag_is_named_and_several_are_told_apart(make_editor) -> None:
    editor = make_editor(PLAIN.replace("[lorebook]", "[lorebook, lorebook-seed]"))
    assert field(editor, FIRES).combo.currentText() == "as background of a new chat (seed)"
    assert remarks(editor, FIRES) == ""
    editor.buffer.replace_all(PLAIN.replace("[lorebook]", "[lorebook, lorebook-seed, lorebook-always]"))
    editor.settle()
    assert "seed, constant (the first wins)" in field(editor, FIRES).combo.currentText()


def test_what_was_refused_is_said_until_something_is_written(make_editor) -> None:
    editor = make_editor(PLAIN.replace("priority: 20", "priority: 20\nmood: calm\nother: x"))
    editor.form._rename("mood", "other")
    assert [each.tone for each in editor.form.row("mood").remarks] == ["error"]
    line = field(editor, "priority").line
    line.selectAll()
    write(line, "7")
    assert editor.form.row("mood").remarks == ()


def test_a_summary_of_one_line_stays_one(make_editor) -> None:
    editor = make_editor(PLAIN.replace("priority: 20", "summary: A lamp."))
    edit = field(editor, "summary").edit
    edit.moveCursor(QTextCursor.MoveOperation.End)
    QTest.keyClick(edit, Qt.Key.Key_Return)
    data = QMimeData()
    data.setText(" It\r\n  glows.")
    edit.insertFromMimeData(data)
    assert "\nsummary: A lamp. It glows.\n" in editor.buffer.text
    editor.buffer.replace_all(PLAIN.replace("priority: 20", "summary: |\n  A lamp.\n  It glows."))
    editor.settle()
    edit = field(editor, "summary").edit
    edit.moveCursor(QTextCursor.MoveOperation.End)
    QTest.keyClick(edit, Qt.Key.Key_Return)
    QTest.keyClicks(edit, "  Dimly.")
    assert editor.parsed.summary.split() == ["A", "lamp.", "It", "glows.", "Dimly."]
    data.setText("\n  Often.")
    edit.insertFromMimeData(data)
    assert edit.toPlainText().endswith("  Dimly.\n  Often.")


def test_what_was_refused_stays_typed(make_editor) -> None:
    editor = make_editor(PLAIN.replace("priority: 20", "summary: A lamp."))
    edit = field(editor, "summary").edit
    edit.moveCursor(QTextCursor.MoveOperation.End)
    before = editor.buffer.text
    edit.insertPlainText("\x07")
    assert [each.tone for each in editor.form.row("summary").remarks] == ["error"]
    assert editor.buffer.text == before
    QTest.keyClicks(edit, "b")
    assert edit.toPlainText() == "A lamp.\x07b"
    edit.setPlainText("A lamp.b")
    assert "\nsummary: A lamp.b\n" in editor.buffer.text
    assert editor.form.row("summary").remarks == ()


def test_a_number_that_is_not_taken_says_what_the_note_has(make_editor) -> None:
    editor = make_editor(PLAIN.replace("priority: 20", "probability: 0.5"))
    line = field(editor, "probability").line
    line.setFocus()
    line.selectAll()
    QTest.keyClicks(line, "0,7")
    assert "probability: 0\n" in editor.buffer.text
    assert (line.text(), remarks(editor, "probability")) == ("0,7", "“0,7” is no number. The note has 0 still.")
    line.selectAll()
    QTest.keyClicks(line, "17")
    assert remarks(editor, "probability") == "17 lies outside 0 to 1. The note has 1 still."
    line.selectAll()
    QTest.keyClicks(line, "0.7")
    assert ("probability: 0.7\n" in editor.buffer.text, remarks(editor, "probability")) == (True, "")
    editor.form.add("cooldown")
    QTest.keyClicks(field(editor, "cooldown").line, "x")
    assert remarks(editor, "cooldown") == "“x” is no number, so the general value holds."


def test_undo_in_a_field_is_the_note_s(make_editor) -> None:
    editor = make_editor(PLAIN)
    line = field(editor, "priority").line
    line.selectAll()
    write(line, "7")
    QTest.keySequence(line, QKeySequence(KEYS.Undo))
    assert (editor.buffer.text, line.text()) == (PLAIN, "20")


def test_what_cannot_be_edited_is_shown_as_it_is_now(make_editor) -> None:
    editor = make_editor(PLAIN.replace("priority: 20", "nested:\n  x: 1"))
    editor.buffer.replace_all(PLAIN.replace("priority: 20", "nested:\n  x: 2"))
    editor.settle()
    drain()
    (raw,) = (each.text() for each in field(editor, "nested").findChildren(QLabel, "Raw"))
    assert raw == "nested:\n  x: 2"


@pytest.mark.parametrize("lenient", [True, False])
def test_another_spelling_counts_only_where_the_rules_say_so(make_editor, lenient: bool) -> None:
    editor = make_editor(PLAIN.replace("priority", "Priority"))
    context = editor.context
    rules = replace(context.rules, lenient=lenient)
    editor.set_context(FieldContext(context.settings, rules, context.book))
    assert ("priority" in editor.form.names, "Priority" in editor.form.names) == (lenient, not lenient)


def test_a_remark_s_button_mends_nothing_that_is_only_read(make_editor) -> None:
    editor = make_editor(PLAIN.replace("priority: 20", 'priority: "20"'))
    editor.show_buffer(editor.buffer, read_only=True)
    asked: list[object] = []
    editor.form.edited.connect(asked.append)
    press(editor, "priority", "Write the number")
    assert asked == []


def test_the_row_with_the_keyboard_stays_in_sight_when_the_form_gets_lower(make_editor) -> None:
    form = make_editor(PLAIN).form
    (*_, last) = form.names
    row, area = form.row(last), form.area
    row.field.setFocus()
    assert form.focused == last
    for height in (64, 90):
        form.setFixedHeight(height)
        drain()
        area.verticalScrollBar().setValue(0)
        assert not area.viewport().rect().contains(row.mapTo(area.viewport(), row.rect().center()))
        form.keep_in_sight()
        assert area.viewport().rect().contains(row.mapTo(area.viewport(), row.rect().center()))
