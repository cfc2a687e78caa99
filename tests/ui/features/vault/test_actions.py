"""Notes made, renamed, moved, switched, deleted and changed together, on real files, and undone byte for byte."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QDesktopServices, QGuiApplication, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QLineEdit, QMessageBox

from lorestudio.domain.records import replace
from lorestudio.domain.texts import comparable
from lorestudio.studio.notes.renaming import NewName, OldKey, plan_rename
from lorestudio.ui.features.notes.batch_dialog import Operation
from lorestudio.ui.features.vault import actions as vault_actions
from lorestudio.ui.features.vault.table import note_title
from lorestudio.ui.widgets import dialogs
from lorestudio.ui.widgets.picker import Picker, ranked
from lorestudio.vault.lint.fixes import Repair
from lorestudio.vault.writer import temporary_name
from tests.ui.conftest import drain, settle
from tests.ui.vaults import NOTES, choose, chosen_file, contents, open_vault, write_vault
from tests.ui.worlds import ENTRIES, SKARN, make_project


@pytest.fixture
def vault(tmp_path):
    return write_vault(tmp_path / "vault")


@pytest.fixture
def window(make_window, vault, tmp_path):
    made = make_window()
    open_vault(made, vault, tmp_path / "kept")
    return made


def test_what_a_crash_left_in_the_middle_of_saving_is_cleared_away(make_window, vault, tmp_path) -> None:
    left = vault / "places" / temporary_name()
    left.write_text("half a no", encoding="utf-8")
    os.utime(left, (0, 0))
    open_vault(make_window(), vault, tmp_path / "kept")
    assert not left.exists()
    assert contents(vault) == NOTES


def dialog_of(kind=QDialog):
    return next(one for one in QApplication.topLevelWidgets() if isinstance(one, kind) and one.isVisible())


def undo(window) -> None:
    window.run("vault.undo")
    settle(window)


def test_notes_looked_at_last_are_offered_first(make_session, tmp_path) -> None:
    session = make_session(make_project(tmp_path / "vault"), replay=False)
    notes = session.project.index.notes
    usual = [note_title(note) for note in notes]
    recent = [session.note_path(notes[place]) for place in (3, 1)]
    offered = [each.title for each in vault_actions.note_items(session, notes, recent)]
    assert offered == [usual[3], usual[1], *(each for each in usual if each not in {usual[3], usual[1]})]


def test_the_switcher_shows_and_finds_the_file_of_a_note_that_is_called_otherwise(make_session) -> None:
    copy = replace(ENTRIES[SKARN], filename="lore/Skarn.sync-conflict-20261130-101112-ABCDEFG.md")
    books = replace(ENTRIES[SKARN], filename="World.json#3")
    offered = vault_actions.note_items(make_session(), (ENTRIES[SKARN], copy, books), ())
    assert [each.detail for each in offered] == ["skarn", f"{copy.filename.rpartition('/')[2]}, skarn", "skarn"]
    assert ranked("sync", [each.title for each in offered], [comparable(each.more) for each in offered]) == [1]


@pytest.mark.always
def test_a_link_to_a_note_is_copied_as_obsidian_writes_it(window, vault) -> None:
    choose(window, "places/Dawnkeep.md")
    window.run("note.link")
    assert QGuiApplication.clipboard().text() == "[[Dawnkeep]]"
    (vault / "Dawnkeep.md").write_text(NOTES["places/Dawnkeep.md"], encoding="utf-8")
    window.run("vault.reload")
    settle(window)
    choose(window, "places/Dawnkeep.md")
    window.run("note.link")
    assert QGuiApplication.clipboard().text() == "[[places/Dawnkeep]]", "another one is called so now"


@pytest.mark.always
@pytest.mark.parametrize("there", [True, False])
def test_the_folder_of_a_note_is_shown_by_the_desktop(window, vault, monkeypatch, there) -> None:
    asked = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: asked.append(url.toLocalFile()) or there)
    choose(window, "places/Dawnkeep.md")
    window.run("note.folder")
    assert [Path(each) for each in asked] == [vault / "places"]
    assert any("No program of this computer shows" in text for text in window.bars.texts) is not there


def test_a_new_note_beside_places_begins_as_a_place(window, vault) -> None:
    choose(window, "places/Dawnkeep.md")
    QTest.keySequence(window, QKeySequence(window.context.action("note.new").shortcut()))
    dialog = dialog_of()
    settle(window)
    assert (dialog.folder.text(), dialog.template.currentText()) == ("places", "place")
    QTest.keyClicks(dialog.title, "Ford")
    settle(window)
    dialog.go()
    settle(window)
    assert "tags:\n  - lorebook\n  - location\n" in contents(vault)["places/Ford.md"]


# ---- renaming -------------------------------------------------------------------------------------------------------


def field_in_the_tree(window) -> QLineEdit | None:
    fields = window.vault.tree.viewport().findChildren(QLineEdit)
    return fields[0] if fields else None


@pytest.mark.long
def test_f2_lets_the_title_be_typed_over_in_the_tree_and_references_follow(window, vault) -> None:
    choose(window, "Skarn.md")
    window.activateWindow()
    window.vault.tree.setFocus()
    window.run("note.rename")
    field = field_in_the_tree(window)
    assert field is not None
    assert field.text() == "Skarn"
    field.setText("Skarn the Grey")
    QTest.keyClick(field, Qt.Key.Key_Return)
    settle(window)
    dialog = dialog_of()  # a key says the old title: what becomes of it is asked
    assert dialog.title.text() == "Skarn the Grey"
    dialog.go()
    settle(window)
    assert "Skarn the Grey.md" in contents(vault)
    assert "keys: [skarn, Skarn the Grey]" in contents(vault)["Skarn the Grey.md"]
    assert "[[Skarn the Grey]]" in contents(vault)["places/Dawnkeep.md"]
    undo(window)
    assert contents(vault) == NOTES


def test_escape_leaves_the_title_as_it_was(window, vault) -> None:
    choose(window, "Skarn.md")
    window.activateWindow()
    window.vault.tree.setFocus()
    window.run("note.rename")
    field = field_in_the_tree(window)
    assert field is not None
    assert not any(isinstance(one, QDialog) and one.isVisible() for one in QApplication.topLevelWidgets())
    field.setText("Skarn the Grey")
    QTest.keyClick(field, Qt.Key.Key_Escape)
    settle(window)
    assert contents(vault) == NOTES
    assert field_in_the_tree(window) is None


@pytest.mark.long
def test_a_rename_shows_what_follows_and_changes_only_that(window, vault) -> None:
    choose(window, "Skarn.md")
    window.run("note.rename")
    dialog = dialog_of()
    settle(window)
    assert not dialog.ok.isEnabled()
    dialog.title.setText("Skarn the Grey")
    dialog.key.setCurrentIndex(dialog.key.findData(OldKey.KEEP))
    dialog.preview()
    settle(window)
    assert dialog.view.summary.text() == "2 references in 2 files will follow."
    assert dialog.view.files.count() == 3
    dialog.go()
    settle(window)
    assert contents(vault) == {
        **{name: text for name, text in NOTES.items() if name != "Skarn.md"},
        "Skarn the Grey.md": NOTES["Skarn.md"].replace("# Skarn\n", "# Skarn the Grey\n"),
        "places/Dawnkeep.md": NOTES["places/Dawnkeep.md"].replace("[[Skarn]]", "[[Skarn the Grey]]"),
        "items/Crown.md": NOTES["items/Crown.md"].replace("requires: [Skarn]", "requires: [Skarn the Grey]"),
    }
    assert chosen_file(window) == "Skarn the Grey.md"
    assert window.commands.actions["vault.undo"].text() == "Undo: Rename Skarn to Skarn the Grey"
    undo(window)
    assert contents(vault) == NOTES
    assert chosen_file(window) == "Skarn.md"
    window.run("vault.redo")
    settle(window)
    assert "Skarn the Grey.md" in contents(vault)


@pytest.mark.always
def test_the_way_back_leads_to_a_note_that_has_another_name_title_and_text(window, vault) -> None:
    """Only whoever renamed it knows that it is the same: it names itself in its text, which follows."""
    (vault / "Bell.md").write_text(NOTES["Bell.md"] + "[[Bell]] is its name.\n", encoding="utf-8")
    window.run("vault.reload")
    settle(window)
    choose(window, "Bell.md")
    choose(window, "Skarn.md")
    window.features.vault.work.carry_out(lambda vaults: plan_rename(vaults, vault / "Bell.md", NewName("Gong")))
    settle(window)
    assert "[[Gong]] is its name." in contents(vault)["Gong.md"]
    window.run("entry.back")
    settle(window)
    assert chosen_file(window) == "Gong.md"


@pytest.mark.always
def test_a_note_without_the_key_is_retitled_in_the_tree_at_once(window, vault) -> None:
    (vault / "Bell.md").write_text(NOTES["Bell.md"].replace("[bell]", "[chime]"), encoding="utf-8")
    window.run("vault.reload")
    settle(window)
    choose(window, "Bell.md")
    window.activateWindow()
    window.vault.tree.setFocus()
    window.run("note.rename")
    field = field_in_the_tree(window)
    assert field is not None
    field.setText("Great Bell")
    QTest.keyClick(field, Qt.Key.Key_Return)
    settle(window)
    assert "keys: [chime]" in contents(vault)["Great Bell.md"]


def test_a_new_note_begins_in_the_folder_that_its_link_names(window, vault) -> None:
    window.features.vault.new_note("places/deep/Moth")
    dialog = dialog_of()
    assert (dialog.title.text(), dialog.folder.text()) == ("Moth", "places/deep")
    dialog.reject()
    settle(window)


def test_a_new_note_is_shown_and_has_the_keyboard(window, vault, qtbot) -> None:
    window.run("note.new")
    dialog = dialog_of()
    QTest.keyClicks(dialog.title, "Moth")
    QTest.keyClick(dialog.title, Qt.Key.Key_Return)  # at once: the dialog has not looked at it yet
    qtbot.waitUntil(lambda: chosen_file(window) == "Moth.md")
    settle(window)
    window.activateWindow()  # as a window manager does once the dialog is gone
    QApplication.processEvents()
    body = window.entry.editor.body
    assert QApplication.focusWidget() is body
    QTest.keyClicks(QApplication.focusWidget(), "It glows. [[Daw")
    for key in (Qt.Key.Key_Return, Qt.Key.Key_Space):
        QTest.keyClick(QGuiApplication.focusWindow(), key)  # as the screen sends it: the offers have the keys now
    QTest.keyClicks(QApplication.focusWidget(), "and [[Sk")
    QTest.keyClick(QGuiApplication.focusWindow(), Qt.Key.Key_Tab)
    assert "Who they are: It glows. [[Dawnkeep]] and [[Skarn]]\n" in body.toPlainText()


@pytest.mark.always
def test_a_title_that_another_note_has_is_refused_in_the_dialog(window, vault) -> None:
    choose(window, "Skarn.md")
    window.run("note.rename")
    dialog = dialog_of()
    dialog.title.setText("Crown")
    dialog.preview()
    settle(window)
    assert "items/Crown.md has this title already" in dialog.problem.text()
    assert not dialog.ok.isEnabled()
    dialog.reject()
    assert contents(vault) == NOTES


# ---- making, duplicating, moving, deleting --------------------------------------------------------------------------


@pytest.mark.long
def test_a_new_note_is_made_from_a_template_and_looked_at(window, vault) -> None:
    choose(window, "places/Dawnkeep.md")
    window.run("note.new")
    dialog = dialog_of()
    settle(window)
    assert dialog.folder.text() == "places"
    dialog.title.setText("Hollow")
    dialog.template.setCurrentIndex(dialog.template.findText("place"))
    dialog.preview()
    settle(window)
    dialog.go()
    settle(window)
    text = contents(vault)["places/Hollow.md"]
    assert "# Hollow\n" in text
    assert "- lorebook" in text
    assert chosen_file(window) == "places/Hollow.md"
    undo(window)
    assert contents(vault) == NOTES


@pytest.mark.long
def test_the_tree_stays_where_it_is_scrolled_and_shows_a_note_that_was_made(make_window, tmp_path, monkeypatch) -> None:
    """Folders above the chosen note are open, too: opened again they pushed it out of sight."""
    monkeypatch.setattr("lorestudio.ui.features.vault.pane.OPEN_UP_TO", 50)
    note = "---\ntags: [lorebook]\n---\nText.\n"
    notes = {f"{folder}/{folder} {number:02}.md": note for folder in ("people", "places") for number in range(60)}
    window, vault = make_window(), write_vault(tmp_path / "vault", notes)
    open_vault(window, vault, tmp_path / "kept")
    tree = window.vault.tree
    for folder in window.vault.model.folder_rows():
        tree.expand(folder)
    choose(window, "places/places 40.md")

    def read_again() -> tuple[bool, int]:
        (vault / "people/people 07.md").write_text(note + "More.\n", encoding="utf-8")
        window.run("vault.reload")
        settle(window)
        return in_sight(), tree.verticalScrollBar().value()

    def in_sight() -> bool:
        return tree.viewport().rect().contains(tree.visualRect(tree.currentIndex()))

    there = tree.verticalScrollBar().value()
    assert there > 0
    assert read_again() == (True, there)
    window.run("note.duplicate")
    settle(window)
    assert (chosen_file(window), in_sight()) == ("places/places 2.md", True)
    tree.verticalScrollBar().setValue(3)
    assert read_again() == (False, 3), "what is read elsewhere stays in sight"
    window.run("note.duplicate")
    settle(window)
    assert in_sight(), "a new note is shown wherever the tree was scrolled"


def test_duplicate_takes_the_next_number(window, vault) -> None:
    choose(window, "Bell.md")
    window.run("note.duplicate")
    settle(window)
    assert contents(vault)["Bell 2.md"] == NOTES["Bell.md"].replace("# Bell\n", "# Bell 2\n")
    assert chosen_file(window) == "Bell 2.md"


@pytest.mark.long
def test_notes_are_moved_to_another_folder_and_stay_selected(window, vault) -> None:
    window.vault.show_table(True)
    window.vault.table.selectAll()
    window.vault.filter.setText("r")
    window.vault.apply_filter()
    names = {note.filename for note in window.vault.chosen}
    window.vault.filter.clear()
    window.vault.apply_filter()
    assert {"Skarn.md", "items/Crown.md"} <= names
    window.run("note.move")
    dialog = dialog_of()
    dialog.folder.setText("old/things")
    dialog.preview()
    settle(window)
    dialog.go()
    settle(window)
    moved = set(contents(vault))
    assert {f"old/things/{name.rpartition('/')[2]}" for name in names} <= moved
    assert len(moved) == len(NOTES)
    assert {note.filename for note in window.vault.chosen} >= {"old/things/Skarn.md", "old/things/Crown.md"}
    undo(window)
    assert contents(vault) == NOTES
    choose(window, "items/Crown.md")
    window.run("note.move")
    assert dialog_of().folder.text() == "items"
    dialog_of().reject()


def test_the_menu_of_a_row_begins_with_a_new_note(window) -> None:
    for view in (window.vault.tree, window.vault.table):
        names = [each.text() for each in view.actions()]
        assert names[:2] == ["New note…", "Duplicate"]
        assert names[5:9] == ["Switch on or off", "Earlier", "Later", "Move to trash"]


@pytest.mark.parametrize("name", ["note.rename", "note.move"])
def test_a_folder_that_is_chosen_is_moved_with_all_that_lies_in_it(window, vault, name: str) -> None:
    (vault / "items" / "plain.md").write_text("No entry.\n", encoding="utf-8")
    (vault / "items" / "map.png").write_bytes(b"\x89PNG")
    choose(window, "items/Crown.md")
    window.show_pane("vault")
    tree = window.vault.tree
    QTest.keyClick(tree, Qt.Key.Key_Left)
    assert window.vault.chosen_branch.place == ("", "items")
    window.run(name)
    dialog = dialog_of()
    assert (dialog.windowTitle(), dialog.folder.text()) == ("Move the folder items", "items")
    dialog.folder.setText("old/things")
    dialog.preview()
    settle(window)
    moves = "2 notes move to another folder, with 1 other file. No reference has to change."
    assert dialog.view.summary.text() == moves
    dialog.go()
    settle(window)
    assert {"old/things/Crown.md", "old/things/plain.md"} <= set(contents(vault))
    assert (vault / "old/things/map.png").read_bytes() == b"\x89PNG"
    assert not (vault / "items").exists()
    undo(window)
    assert set(contents(vault)) == {*NOTES, "items/plain.md"}
    assert (vault / "items/map.png").read_bytes() == b"\x89PNG"
    assert not (vault / "old").exists()


def test_of_a_folder_or_a_group_no_note_is_renamed_but_the_one_that_is_edited(window, vault, monkeypatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(window.context, "flash", said.append)
    choose(window, "Skarn.md")
    window.show_pane("vault")
    QTest.keyClick(window.vault.tree, Qt.Key.Key_End)  # the notes that are left out
    assert window.vault.chosen_branch.place is None
    window.run("note.rename")
    assert said == ["Choose the note that gets another name."]
    QTest.keyClick(window.vault.tree, Qt.Key.Key_Home)
    assert window.vault.chosen_branch.place == ("", "items")
    window.show_pane("entry")
    window.run("note.rename")
    assert dialog_of().windowTitle() == "Rename Skarn"
    dialog_of().reject()


def test_notes_are_dragged_into_a_folder_of_the_tree(window, vault) -> None:
    tree = window.vault.model
    note = next(entry for entry in window.session.project.index.entries if entry.title == "Bell")
    data = tree.mimeData([tree.index_of_note(note)])
    places = next(
        tree.index(row, 0) for row in range(tree.rowCount()) if tree.node(tree.index(row, 0)).title == "places"
    )
    assert tree.flags(places) & Qt.ItemFlag.ItemIsDropEnabled
    assert tree.flags(tree.index_of_note(note)) & Qt.ItemFlag.ItemIsDragEnabled
    tree.dropMimeData(data, Qt.DropAction.MoveAction, -1, -1, places)
    settle(window)
    assert contents(vault)["places/Bell.md"] == NOTES["Bell.md"]
    assert chosen_file(window) in {"", "places/Bell.md"}


@pytest.mark.always
def test_delete_goes_to_the_trash_and_comes_back(window, vault, qtbot) -> None:
    choose(window, "Skarn.md")
    window.show_pane("vault")
    window.run("note.delete")
    settle(window)
    assert "Skarn.md" not in contents(vault)
    assert any("Delete Skarn" in text and "lead nowhere" in text for text in window.bars.texts)
    assert chosen_file(window)  # the keyboard stays in the list, on the note beside it
    window.run("note.trash")
    dialog = dialog_of()
    qtbot.waitUntil(dialog.gone.isEnabled)  # the trash was read, and has the note
    settle(window)
    assert dialog.state.text() == "1 deleted note"
    dialog.put_back()
    settle(window)
    assert contents(vault) == NOTES
    assert dialog.state.text() == "The trash of this vault is empty."
    dialog.reject()
    drain()


@pytest.mark.long
def test_a_note_put_back_where_another_one_lies_gets_another_name(window, vault, qtbot) -> None:
    choose(window, "Bell.md")
    window.run("note.delete")
    settle(window)
    (vault / "Bell.md").write_text("Somebody else's\n", encoding="utf-8")
    window.run("note.trash")
    dialog = dialog_of()
    qtbot.waitUntil(dialog.gone.isEnabled)  # the trash was read, and has the note
    settle(window)
    dialog.put_back()
    settle(window)
    box = dialog_of(QMessageBox)
    next(button for button in box.buttons() if "Bell (2)" in button.text()).click()
    settle(window)
    dialog.reject()
    assert contents(vault)["Bell (2).md"] == NOTES["Bell.md"]
    assert contents(vault)["Bell.md"] == "Somebody else's\n"


def test_changes_that_wait_are_forgotten_with_their_vault(window, vault, tmp_path) -> None:
    for name in ("Skarn.md", "Bell.md"):
        window.selection.choose_entry(window.session.note_at(vault / name).id)
        window.run("note.delete")  # the second waits until the first is written
    open_vault(window, write_vault(tmp_path / "other"), tmp_path / "kept")
    assert "Bell.md" in contents(vault)
    assert window.bars.texts == ["Another vault was opened meanwhile; nothing was changed."]
    assert contents(tmp_path / "other") == NOTES


@pytest.mark.always
def test_a_change_that_was_still_thought_through_is_not_for_another_vault(window, vault, tmp_path, monkeypatch) -> None:
    work, thought = window.features.vault.work, []
    ask = work.ask
    monkeypatch.setattr(
        work, "ask", lambda plan, told, wrong: ask(plan, lambda found: thought.append(lambda: told(found)), wrong)
    )
    choose(window, "Bell.md")
    window.run("note.delete")
    settle(window)
    open_vault(window, write_vault(tmp_path / "other"), tmp_path / "kept")
    thought[0]()
    settle(window)
    assert window.bars.texts == ["Another vault was opened meanwhile; nothing was changed."]
    assert contents(vault) == contents(tmp_path / "other") == NOTES


@pytest.mark.long
def test_a_note_is_deleted_for_good_only_after_a_question(window, vault, qtbot) -> None:
    choose(window, "Bell.md")
    window.run("note.delete")
    settle(window)
    window.run("note.trash")
    dialog = dialog_of()
    qtbot.waitUntil(dialog.gone.isEnabled)  # the trash was read, and has the note
    settle(window)
    dialog.gone.click()
    box = dialog_of(QMessageBox)
    assert "1 note will be deleted for good." in box.text()
    next(button for button in box.buttons() if button.text() == "Delete").click()
    settle(window)
    assert dialog.items.rowCount() == 0
    dialog.reject()


def test_space_switches_a_note_off_and_on_again(window, vault) -> None:
    choose(window, "Bell.md")
    window.show_pane("vault")
    window.activateWindow()
    QTest.keyClick(window.vault.tree, Qt.Key.Key_Space)
    settle(window)
    assert contents(vault)["Bell.md"] == NOTES["Bell.md"].replace("enabled: true", "enabled: false")
    assert chosen_file(window) == "Bell.md"
    window.run("note.enable")
    settle(window)
    assert contents(vault) == NOTES


@pytest.mark.always
def test_a_draft_without_the_lorebook_tag_is_not_switched_on(window, vault) -> None:
    choose(window, "draft.md")
    window.run("note.enable")
    settle(window)
    assert contents(vault) == NOTES
    assert any("for another reason" in text for text in window.bars.texts)


# ---- many at once ---------------------------------------------------------------------------------------------------


def batch(window, *names):
    window.vault.show_table(True)
    paths = (window.features.vault.work.folders[0] / name for name in names)
    rows = [window.vault.table_model.place_of(window.session.note_at(path).note_key) for path in paths]
    window.vault.table.select_places(rows, rows[0])
    settle(window)
    window.run("note.batch")
    dialog = dialog_of()
    settle(window)
    return dialog


def test_the_batch_editor_says_what_the_notes_have(window) -> None:
    dialog = batch(window, "Skarn.md", "places/Dawnkeep.md", "Bell.md")
    rows = {name: (value, present) for name, value, present in dialog.properties.texts()}
    assert rows["tags"] == ("differs: 2 values", "3 of 3")
    assert rows["priority"] == ("differs: 2 values", "2 of 3")
    assert rows["enabled"] == ("not in all", "1 of 3")
    dialog.reject()


def test_the_batch_editor_sets_a_number_in_all_notes_as_one_step(window, vault) -> None:
    dialog = batch(window, "Skarn.md", "places/Dawnkeep.md", "Bell.md")
    dialog.name.setCurrentText("priority")
    dialog.value.setText("20")
    dialog.preview()
    settle(window)
    assert dialog.view.summary.text() == "2 notes change · 1 is so already"
    dialog.go()
    settle(window)
    after = contents(vault)
    assert after["places/Dawnkeep.md"] == NOTES["places/Dawnkeep.md"].replace("priority: 40", "priority: 20")
    assert "priority: 20\n---\n# Bell" in after["Bell.md"]
    assert after["Skarn.md"] == NOTES["Skarn.md"]
    assert len(window.vault.chosen) == 3
    undo(window)
    assert contents(vault) == NOTES


@pytest.mark.parametrize(
    ("operation", "value", "expected"),
    [
        (Operation.ADD, "north, cold", "tags: [lorebook, place, north, cold]"),
        (Operation.REMOVE, "place", "tags: [lorebook]"),
    ],
)
def test_the_batch_editor_changes_lists(window, vault, operation, value, expected) -> None:
    dialog = batch(window, "places/Dawnkeep.md")
    dialog.name.setCurrentText("tags")
    dialog.operation.setCurrentIndex(dialog.operation.findData(operation.value))
    dialog.value.setText(value)
    dialog.preview()
    settle(window)
    dialog.go()
    settle(window)
    assert contents(vault)["places/Dawnkeep.md"] == NOTES["places/Dawnkeep.md"].replace(
        "tags: [lorebook, place]", expected
    )


def test_the_batch_editor_names_the_notes_that_cannot_be_changed(window, vault) -> None:
    dialog = batch(window, "Bell.md", "Skarn.md")
    dialog.name.setCurrentText("enabled")
    dialog.operation.setCurrentIndex(dialog.operation.findData(Operation.ADD.value))
    dialog.value.setText("x")
    dialog.preview()
    settle(window)
    assert "Bell.md" in dialog.view.remarks.toPlainText()
    assert "1 note changes · 1 cannot be changed" in dialog.view.summary.text()
    dialog.reject()
    assert contents(vault) == NOTES


def test_a_property_is_removed_from_all_notes(window, vault) -> None:
    dialog = batch(window, "Skarn.md", "places/Dawnkeep.md")
    dialog.name.setCurrentText("priority")
    dialog.operation.setCurrentIndex(dialog.operation.findData(Operation.CLEAR.value))
    dialog.preview()
    settle(window)
    dialog.go()
    settle(window)
    assert "priority" not in contents(vault)["Skarn.md"] + contents(vault)["places/Dawnkeep.md"]
    assert "# a comment" in contents(vault)["Skarn.md"]


# ---- unsaved text, and changes of others ----------------------------------------------------------------------------


@pytest.mark.long
def test_unsaved_text_is_saved_before_a_note_is_changed(window, vault) -> None:
    choose(window, "Bell.md")
    window.entry.editor.buffer.replace_all(NOTES["Bell.md"] + "Unsaved words.\n")
    settle(window)
    assert window.drafts.all
    window.run("note.enable")
    settle(window)
    text = contents(vault)["Bell.md"]
    assert text == NOTES["Bell.md"].replace("enabled: true", "enabled: false") + "Unsaved words.\n"
    assert not window.drafts.all
    assert window.entry.editor.buffer.text == text
    assert any("Unsaved text was saved first." in text for text in window.bars.texts)


def test_nothing_is_changed_where_unsaved_text_cannot_be_saved(window, vault) -> None:
    path = vault / "Bell.md"
    choose(window, "Bell.md")
    window.entry.editor.buffer.replace_all("Mine\n")
    settle(window)
    path.write_text("Theirs\n", encoding="utf-8")
    window.run("note.enable")
    settle(window)
    assert path.read_text(encoding="utf-8") == "Theirs\n"
    assert window.drafts.get(path).text == "Mine\n"
    assert any("Nothing was changed" in text for text in window.bars.texts)


@pytest.mark.long
def test_undo_leaves_a_file_alone_that_somebody_changed_since(window, vault) -> None:
    dialog = batch(window, "Skarn.md", "places/Dawnkeep.md")
    dialog.name.setCurrentText("priority")
    dialog.value.setText("1")
    dialog.preview()
    settle(window)
    dialog.go()
    settle(window)
    (vault / "Skarn.md").write_text("Theirs\n", encoding="utf-8")
    undo(window)
    box = dialog_of(QMessageBox)
    assert (box.windowTitle(), box.informativeText()) == ("Undo", "What was changed since stays as it is.")
    assert "Skarn.md" in box.text()
    next(button for button in box.buttons() if button.text() == "Undo the other 1 file").click()
    settle(window)
    assert contents(vault)["Skarn.md"] == "Theirs\n"
    assert contents(vault)["places/Dawnkeep.md"] == NOTES["places/Dawnkeep.md"]


def test_what_was_done_in_another_vault_is_not_offered_to_be_undone(window, vault, tmp_path) -> None:
    other = write_vault(tmp_path / "other")
    choose(window, "Bell.md")
    window.run("note.enable")
    settle(window)
    open_vault(window, other, tmp_path / "kept")
    choose(window, "Bell.md")
    window.entry.editor.buffer.replace_all(NOTES["Bell.md"] + "Unsaved words.\n")
    settle(window)
    window.run("note.enable")
    settle(window)
    assert "Unsaved text was saved first." in window.bars.texts[0]
    open_vault(window, vault, tmp_path / "kept")
    assert window.bars.texts == []
    assert window.features.vault.work.undo_title == "Switch Bell off"


@pytest.mark.long
def test_what_was_done_can_be_undone_by_the_next_window(make_window, window, vault, tmp_path) -> None:
    choose(window, "Bell.md")
    window.run("note.enable")
    settle(window)
    window.close()
    other = make_window(file="other.ini")
    open_vault(other, vault, tmp_path / "kept")
    assert other.features.vault.work.undo_title == "Switch Bell off"
    undo(other)
    assert contents(vault) == NOTES


def test_without_a_place_for_what_undoes_it_nothing_can_be_changed(make_window, vault) -> None:
    from lorestudio.studio.project.project import open_project  # noqa: PLC0415

    window = make_window(open_project([vault]))
    window.selection.choose_entry(0)
    for name in ("note.new", "note.rename", "note.delete", "note.enable"):
        assert not window.commands.actions[name].isEnabled()


def test_what_can_be_done_with_notes_depends_on_what_is_chosen_and_on_what_was_done(
    make_window, vault, tmp_path
) -> None:
    window = make_window()
    anytime = {"note.entries", "note.new", "note.steps", "note.fill_gaps", "note.trash"}
    of_a_note = {f"note.{name}" for name in ("duplicate", "rename", "move", "batch", "enable", "delete")}
    of_a_note |= {"note.earlier", "note.later", "note.link", "note.folder"}

    def can() -> set[str]:
        window.update_actions()
        actions = window.commands.actions
        names = [name for name in actions if name.startswith("note.") or name in {"vault.undo", "vault.redo"}]
        return {name for name in names if actions[name].isEnabled()}

    assert can() == set(), "no vault"
    open_vault(window, vault, tmp_path / "kept")
    window.selection.choose_entry(None)
    window.vault.view.clearSelection()
    assert can() == anytime
    choose(window, "Skarn.md")
    assert can() == anytime | of_a_note
    window.run("note.enable")
    settle(window)
    assert can() == anytime | of_a_note | {"vault.undo"}
    undo(window)
    assert can() == anytime | of_a_note | {"vault.redo"}
    window.run("vault.redo")
    settle(window)
    assert can() == anytime | of_a_note | {"vault.undo"}
    undo(window)


def test_what_was_looked_at_is_found_again_after_a_reload(window, vault) -> None:
    choose(window, "Skarn.md")
    (vault / "Aardvark.md").write_text("---\ntags: [lorebook]\nkeys: [a]\n---\nA beast.\n", encoding="utf-8")
    before = window.selection.entry
    window.run("vault.reload")
    settle(window)
    assert chosen_file(window) == "Skarn.md"
    assert window.selection.entry != before  # the new note comes before it


# ---- the quick switcher ---------------------------------------------------------------------------------------------


@pytest.mark.long
def test_the_way_back_leads_over_ordinary_notes_and_through_what_became_of_the_vault(window, vault) -> None:
    for name in ("Skarn.md", "draft.md", "Bell.md", "items/Crown.md"):
        choose(window, name)
    window.run("note.delete")  # the crown; then the numbers of the entries are others
    settle(window)
    (vault / "Attic.md").write_text(NOTES["Bell.md"], encoding="utf-8")
    window.run("vault.reload")
    settle(window)
    choose(window, "places/Dawnkeep.md")
    work = window.features.vault.work
    work.carry_out(lambda vaults: plan_rename(vaults, vault / "Skarn.md", NewName(title="Skarn the Grey")))
    settle(window)
    way = []
    while window.commands.actions["entry.back"].isEnabled():
        window.run("entry.back")
        settle(window)
        way.append(chosen_file(window))
    assert way[-3:] == ["Bell.md", "draft.md", "Skarn the Grey.md"]
    assert "items/Crown.md" not in way
    forward = window.commands.actions["entry.forward"]
    while forward.isEnabled():
        window.run("entry.forward")
        settle(window)
        way.append(chosen_file(window))
    assert way[-3:] == ["draft.md", "Bell.md", "places/Dawnkeep.md"]
    window.run("entry.back")
    assert forward.isEnabled()
    open_vault(window, write_vault(vault.with_name("other")), vault.with_name("kept"))
    assert not window.commands.actions["entry.back"].isEnabled()


def test_the_switcher_finds_aliases_and_begins_with_what_was_looked_at(window) -> None:
    for name in ("Bell.md", "Skarn.md"):
        choose(window, name)
    window.run("go.entry")
    picker = dialog_of(Picker)
    settle(window)
    titles = [picker.view.model().index(row, 0).data() for row in range(picker.view.model().rowCount())]
    assert titles[:2] == ["Skarn", "Bell"]
    assert "draft" in titles
    choose(window, "Bell.md")
    picker.field.setText("red one")
    picker.pick_current()
    settle(window)
    assert chosen_file(window) == "Skarn.md"


@pytest.mark.always
def test_the_switcher_finds_aliases_of_ordinary_notes(window, vault) -> None:
    (vault / "draft.md").write_text("---\naliases: [The Thought, draft]\n---\nA thought.\n", encoding="utf-8")
    window.run("vault.reload")
    settle(window)
    window.run("go.entry")
    picker = dialog_of(Picker)
    settle(window)
    picker.field.setText("the thought")
    picker.pick_current()
    settle(window)
    assert chosen_file(window) == "draft.md"


@pytest.mark.always
def test_shift_enter_in_the_switcher_makes_a_note_of_that_name(window, monkeypatch) -> None:
    """Also where something nobody thought of goes wrong with the aliases, which is told."""
    monkeypatch.setattr(vault_actions, "read_aliases", lambda *_asked: 1 / 0)
    window.run("go.entry")
    picker = dialog_of(Picker)
    settle(window)
    assert len(window.bars.texts) == 1, window.bars.texts
    picker.field.setText("Hollow Hill")
    QTest.keyClick(picker.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    settle(window)
    dialog = dialog_of()
    assert dialog.title.text() == "Hollow Hill"
    dialog.reject()
    drain()


def test_the_palette_lists_the_new_actions(window) -> None:
    window.run("go.command")
    picker = dialog_of(Picker)
    titles = {picker.view.model().index(row, 0).data() for row in range(picker.view.model().rowCount())}
    assert {"New note", "Rename", "Move to folder", "Change a property", "Trash", "Undo change", "Links"} <= titles
    picker.close()
    drain()


# ---- problems -------------------------------------------------------------------------------------------------------


@pytest.mark.always
def test_what_the_checks_offer_is_mended_as_one_step(window, vault) -> None:
    after = NOTES["Bell.md"].replace("enabled: true", "enabled: false")
    repairs = (
        Repair("vault", "Bell.md", NOTES["Bell.md"], after, ("Switch it off",)),
        Repair("vault", "Skarn.md", "not what is there", "x", ("Other",)),
    )
    window.problems.wanted_fixes.emit(repairs)
    settle(window)
    assert contents(vault) == {**NOTES, "Bell.md": after}
    assert any("Skarn.md has changed meanwhile" in text for text in window.bars.texts)
    undo(window)
    assert contents(vault) == NOTES


@pytest.mark.long
def test_the_table_counts_the_problems_that_were_found(window, qtbot) -> None:
    qtbot.waitUntil(lambda: window.problems.problems is not None)
    found = window.problems.problems
    assert found is not None
    expected = sum(finding.filename == "items/Crown.md" for finding in found.findings)
    window.vault.show_table(True)
    model = window.vault.table_model
    row = model.place_of(window.session.note_at(window.features.vault.work.folders[0] / "items/Crown.md").note_key)
    assert expected > 0
    assert model.index(row, model.column_of("problems")).data() == str(expected)


def test_that_links_are_read_is_said_only_while_they_are(window) -> None:
    window.features.vault.work.reading.emit("Reading the links of the vault…")
    assert window.status.currentMessage() == "Reading the links of the vault…"
    window.features.vault.work.reading.emit("")
    assert window.status.currentMessage() == ""
    window.status.flash("Saved.")
    window.features.vault.work.reading.emit("")
    assert window.status.currentMessage() == "Saved."


# ---- what is refused, and why ---------------------------------------------------------------------------------------


@pytest.mark.always
@pytest.mark.parametrize("name", ["note.move", "note.batch", "note.delete", "note.enable", "note.duplicate"])
def test_notes_without_files_here_are_not_changed_and_it_is_said(window, vault, monkeypatch, name) -> None:
    choose(window, "Bell.md")
    before = len([one for one in QApplication.topLevelWidgets() if isinstance(one, QDialog) and one.isVisible()])
    monkeypatch.setattr(window.session, "note_path", lambda _note: None)
    window.run(name)
    settle(window)
    assert any("changed in Obsidian" in text for text in window.bars.texts)
    after = [one for one in QApplication.topLevelWidgets() if isinstance(one, QDialog) and one.isVisible()]
    assert len(after) == before
    assert contents(vault) == NOTES


def test_a_note_without_a_file_here_is_not_renamed(window, vault, monkeypatch) -> None:
    choose(window, "Bell.md")
    note = window.session.entry(window.selection.entry)
    monkeypatch.setattr(window.session, "note_path", lambda _note: None)
    window.vault.retitled.emit(note, "Great Bell")
    settle(window)
    assert any("cannot be renamed" in text for text in window.bars.texts)
    assert contents(vault) == NOTES


def test_a_file_that_is_no_note_is_opened_by_the_desktop(window, vault, monkeypatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: not opened.append(url.toString()))
    (vault / "map.png").write_bytes(b"")
    window.features.vault.jump(vault / "map.png", 0, 0, 0)
    assert opened == [(vault / "map.png").as_uri()]
    window.features.vault.jump(vault / "gone.png", 0, 0, 0)
    assert len(opened) == 1
    assert "is not in the vault any more" in window.bars.texts[0]


@pytest.mark.always
def test_notes_stay_in_their_vault_when_they_are_dragged(window, vault) -> None:
    note = window.session.note_at(vault / "Bell.md")
    window.vault.dropped.emit((note,), "another vault", "places")
    settle(window)
    assert contents(vault) == NOTES
    assert any("dragged into another vault" in text for text in window.bars.texts)
    window.vault.dropped.emit((note,), note.vault, "places")
    settle(window)
    assert "places/Bell.md" in contents(vault)


def test_a_place_in_a_note_that_is_gone_is_not_shown(window, vault) -> None:
    choose(window, "Bell.md")
    for path in (vault / "Gone.md", None):
        window.bars.drop("notes")
        window.features.vault.jump(path, 1, 0, 1)
        assert any("not in the vault any more" in text for text in window.bars.texts)
        assert chosen_file(window) == "Bell.md"


def test_a_place_in_a_note_is_shown_and_selected(window, vault) -> None:
    line = NOTES["items/Crown.md"].splitlines().index("It lies in [[Dawnkeep|the keep]].") + 1
    window.features.vault.jump(vault / "items/Crown.md", line, 3, 7)
    settle(window)
    assert chosen_file(window) == "items/Crown.md"
    assert window.entry.editor.body.textCursor().selectedText() == "lies"
    window.features.vault.jump(vault / "Bell.md", 0, 0, 0)
    settle(window)
    assert chosen_file(window) == "Bell.md"


@pytest.mark.always
def test_where_no_vault_is_open_a_new_note_says_what_it_needs(make_window) -> None:
    window = make_window()
    window.features.vault.new_note("Moth")
    assert window.bars.texts == ["Open a vault folder first; notes are made in it."]
    assert not any(isinstance(one, QDialog) and one.isVisible() for one in QApplication.topLevelWidgets())
    assert list(window.features.vault._findable()) == []
    window.features.vault.open_switcher()
    assert not any(isinstance(one, Picker) and one.isVisible() for one in QApplication.topLevelWidgets())


# ---- what is said of a change ----------------------------------------------------------------------------------------


def test_a_small_change_is_told_in_passing_with_the_keys_that_take_it_back(window) -> None:
    keys = {
        name: window.commands.actions[name].shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        for name in ("vault.undo", "vault.redo")
    }
    choose(window, "Bell.md")
    window.run("note.enable")
    settle(window)
    assert window.status.currentMessage() == f"Done: Switch Bell off. {keys['vault.undo']} takes it back."
    undo(window)
    assert window.status.currentMessage() == f"Undone: Switch Bell off. {keys['vault.redo']} makes it again."
    window.run("vault.redo")
    settle(window)
    assert window.status.currentMessage().startswith("Done again: Switch Bell off. ")
    assert window.bars.texts == []


def test_without_a_key_a_small_change_is_told_with_the_name_of_what_takes_it_back(window) -> None:
    window.commands.actions["vault.undo"].setShortcut("")
    choose(window, "Bell.md")
    window.run("note.enable")
    settle(window)
    assert window.status.currentMessage() == "Done: Switch Bell off. “Undo change” takes it back."


@pytest.mark.always
def test_a_copy_that_is_undone_is_not_begun_to_be_written(window, vault, monkeypatch) -> None:
    begun = []
    monkeypatch.setattr(window.features.vault._entry, "begin", begun.append)
    choose(window, "Bell.md")
    window.run("note.duplicate")
    settle(window)
    assert begun == [vault / "Bell 2.md"]
    undo(window)
    assert "Bell 2.md" not in contents(vault)
    window.run("vault.redo")
    settle(window)
    assert len(begun) == 1


def select_rows(window, vault, *names) -> None:
    window.vault.show_table(True)
    model, notes = window.vault.table_model, [window.session.note_at(vault / name) for name in names]
    rows = [model.place_of(note.note_key) for note in notes]
    window.vault.table.select_places(rows, rows[0])


def test_what_is_selected_after_a_change_is_selected_in_the_next_reading_too(window, vault) -> None:
    select_rows(window, vault, "Bell.md", "Skarn.md")
    window.run("note.enable")
    settle(window)
    select_rows(window, vault, "places/Dawnkeep.md", "items/Crown.md")
    window.run("vault.reload")
    settle(window)
    assert {note.filename for note in window.vault.chosen} == {"places/Dawnkeep.md", "items/Crown.md"}


def test_several_notes_are_switched_together_and_off_first(window, vault) -> None:
    select_rows(window, vault, "Bell.md", "Skarn.md")
    window.run("note.enable")
    settle(window)
    after = contents(vault)
    assert "enabled: false" in after["Bell.md"]
    assert "enabled: false" in after["Skarn.md"]
    assert window.commands.actions["vault.undo"].text() == "Undo: Switch 2 notes off"
    assert len(window.vault.chosen) == 2
    window.run("note.enable")
    settle(window)
    assert window.commands.actions["vault.undo"].text() == "Undo: Switch 2 notes on"
    assert "enabled: true" in contents(vault)["Skarn.md"]


@pytest.mark.always
def test_how_often_entries_fired_is_saved_as_a_table(window, tmp_path, monkeypatch) -> None:
    asked = []

    def choose_file(_parent, _title, name, filters, suffix, chosen) -> None:
        asked.append((name, filters, suffix))
        chosen(tmp_path / "usage.csv")

    monkeypatch.setattr(dialogs, "choose_new_file", choose_file)
    window.run("vault.usage")
    settle(window)
    assert asked == [("usage.csv", "Tables (*.csv)", "csv")]
    lines = (tmp_path / "usage.csv").read_text("utf-8-sig").splitlines()
    assert len(lines) == 1 + len(window.session.project.index.entries)
    assert any(line.startswith("vault,Bell.md,Bell,0,0,") for line in lines)
    assert window.status.currentMessage() == "usage.csv was saved."


def test_the_palette_finds_notes_by_title_and_keys_and_leads_to_them(window) -> None:
    found = {each.name: each for each in window.features.vault._findable()}
    assert set(found) == {f"note:vault/{name}" for name in NOTES}
    bell = found["note:vault/Bell.md"]
    assert (bell.title, bell.detail, bell.more, bell.hint) == ("Bell", "bell", "bell", "Entry")
    window.docks["entry"].hide()
    bell.key()
    settle(window)
    assert not window.docks["entry"].isHidden()
    assert chosen_file(window) == "Bell.md"


def test_a_place_of_a_note_is_shown_where_the_pane_is_closed(window, vault) -> None:
    window.docks["entry"].hide()
    window.features.vault.jump(vault / "Bell.md", 0, 0, 0)
    settle(window)
    assert not window.docks["entry"].isHidden()
    assert chosen_file(window) == "Bell.md"


def test_after_a_deletion_the_next_note_is_looked_at_and_after_the_last_the_one_before(window, vault) -> None:
    window.vault.show_table(True)
    window.vault.table.sortByColumn(0, Qt.SortOrder.AscendingOrder)
    names = [note.filename for note in window.vault.table_model.rows]
    choose(window, names[1])
    window.run("note.delete")
    settle(window)
    assert chosen_file(window) == names[2]
    choose(window, names[-1])
    window.run("note.delete")
    settle(window)
    assert chosen_file(window) == names[-2]


def test_a_table_takes_room_and_gives_it_back(window) -> None:
    window.show_pane("vault")
    drain()
    before = window.vault.width()
    window.run("vault.table")
    drain()
    assert window.commands.actions["vault.table"].isChecked()
    assert window.vault.width() > before
    window.run("vault.table")
    drain()
    assert not window.commands.actions["vault.table"].isChecked()
    assert window.vault.width() == before
