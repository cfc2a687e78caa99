"""Making, renaming, moving and bringing back notes: what is asked, what is shown first, and what is then on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMessageBox, QWidget
from pytestqt.qtbot import QtBot

from lorestudio.domain.chat import Chat, Message
from lorestudio.domain.entry import Entry, LeftOutNote, NoteProblem, VaultIndex
from lorestudio.domain.records import replace
from lorestudio.studio.notes.note_files import plan_delete
from lorestudio.studio.notes.renaming import OldKey, plan_move
from lorestudio.studio.project.project import open_project
from lorestudio.ui.features.notes.note_dialogs import (
    EntriesDialog,
    MoveDialog,
    NewNoteDialog,
    RenameDialog,
    TrashDialog,
    folders_of,
)
from lorestudio.ui.features.notes.plan_dialog import PlanDialog
from lorestudio.ui.shell.theme import Theme
from tests.ui.conftest import drain
from tests.ui.features.notes.conftest import Desk
from tests.ui.vaults import NOTES, contents, write_vault


@pytest.fixture
def parent(qtbot: QtBot) -> Iterator[QWidget]:
    made = QWidget()
    made.show()
    qtbot.waitExposed(made)
    yield made
    made.close()
    made.deleteLater()
    drain()


def test_folders_are_those_that_hold_notes_and_all_above_them() -> None:
    index = VaultIndex(
        (Entry(0, "b/deep/er/One.md", "v", "One"), Entry(1, "Top.md", "v", "Top"), Entry(2, "else/Two.md", "w", "Two")),
        (LeftOutNote("A/bad.md", "v", NoteProblem.BAD_ENCODING, ""),),
    )
    assert folders_of(index, "v") == ["A", "b", "b/deep", "b/deep/er"]
    assert folders_of(index, "w") == ["else"]


def seen(dialog: PlanDialog, desk: Desk) -> None:
    """Have the plan looked at now, and not in a pause."""
    dialog.preview()
    desk.settle()


# ---- new ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def new(desk: Desk, theme: Theme, parent: QWidget) -> Callable[..., NewNoteDialog]:
    def make(title: str = "", folder: str = "") -> NewNoteDialog:
        project = desk.session.project
        names = [name for name, place in project.folders.items() if place is not None]
        dialog = NewNoteDialog(theme, desk.work, project.index, names, (names[0], folder), title, parent)
        dialog.show()
        desk.settle()
        return dialog

    return make


def test_a_note_is_made_where_it_was_said(new, desk) -> None:
    dialog = new()
    assert dialog.title.hasFocus()
    assert (dialog.ok.isEnabled(), dialog.path) == (False, None)
    assert dialog.view.summary.text() == "Give the note a title; its file is called so too."
    assert not dialog.form.isRowVisible(dialog.vault)  # there is one only
    assert not dialog.view.files.isVisible()
    fields = (dialog.title, dialog.folder, dialog.template)
    assert [each.accessibleName() for each in fields] == ["Title", "Folder", "Template"]
    assert all(each.isVisible() for each in fields)
    dialog.title.setText(" Moth ")
    dialog.folder.setText("places")
    assert not dialog.ok.isEnabled()
    assert dialog._delay.isActive()  # it is looked at in a pause
    seen(dialog, desk)
    assert dialog.ok.isEnabled()
    assert (dialog.view.diff.isVisible(), dialog.view.files.isVisible()) == (True, False), "it is one note"
    made = desk.folder / "places" / "Moth.md"
    assert dialog.path == made
    assert dialog.view.summary.text() == "places/Moth.md will be made, with this text:"
    assert "+ # Moth" in dialog.view.diff.view.toPlainText()
    assert not made.exists()
    dialog.ok.click()
    desk.settle()
    assert "# Moth" in contents(desk.folder)["places/Moth.md"]


def test_the_template_that_the_folders_notes_have_is_chosen(make_desk, theme, parent) -> None:
    notes = {
        "people/One.md": "---\ntags: [lorebook, person]\n---\nOne.\n",  # no template says so
        "places/One.md": "---\ntags: [lorebook, place]\n---\nOne.\n",
        "places/Two.md": "---\ntags: [lorebook, Location]\n---\nTwo.\n",  # a tag of the template for places
        "places/Three.md": "---\ntags: [lorebook, event]\n---\nThree.\n",
        "inns/One.md": "---\ntags: [lorebook, location/inn]\n---\nOne.\n",  # one of those of the tag above
        "places/deep/Four.md": "---\ntags: [lorebook, event]\n---\nFour.\n",
        "places/deep/Five.md": "---\ntags: [lorebook, event]\n---\nFive.\n",
    }
    desk = make_desk(notes)
    project = desk.session.project
    (name,) = project.folders
    usual = {"places": "place", "places/deep": "event", "inns": "place", "people": "character", "": "character"}
    for folder, chosen in usual.items():
        dialog = NewNoteDialog(theme, desk.work, project.index, (name,), (name, folder), "Moth", parent)
        dialog.show()
        desk.settle()
        assert dialog.template.currentText() == chosen
        dialog.reject()
    dialog = NewNoteDialog(theme, desk.work, project.index, (name,), (name, ""), "Moth", parent)
    dialog.show()
    desk.settle()
    told = []
    for folder in ("places", "/deep"):
        QTest.keyClicks(dialog.folder, folder)
        told.append(dialog.template.currentText())
    seen(dialog, desk)
    assert told == ["place", "event"]
    assert "event" in dialog.view.diff.view.toPlainText()
    while dialog.template.currentText() != "character":
        QTest.keyClick(dialog.template, Qt.Key.Key_Up)
    dialog.folder.setText("places")
    assert dialog.template.currentText() == "character"  # chosen by hand
    dialog.reject()


def test_templates_are_offered_and_the_first_is_chosen(new, desk) -> None:
    dialog = new("Moth")
    names = [dialog.template.itemText(each) for each in range(dialog.template.count())]
    assert names[0] == "none: a bare heading"
    assert len(names) > 2
    assert dialog.template.currentIndex() == 1  # most notes here are meant to be an entry
    seen(dialog, desk)
    assert "tags:" in dialog.view.diff.view.toPlainText()
    dialog.template.setCurrentIndex(0)
    assert not dialog.ok.isEnabled()
    seen(dialog, desk)
    assert dialog.view.diff.view.toPlainText().strip().startswith("+ # Moth")
    for _ in range(2):
        QTest.keyClick(dialog.template, Qt.Key.Key_Down)
    dialog._read_templates()  # as when another vault is chosen
    desk.settle()
    assert dialog.template.currentIndex() == 2
    dialog.reject()


def test_a_title_that_is_taken_is_said_and_nothing_is_made(new, desk) -> None:
    dialog = new("Skarn")
    seen(dialog, desk)
    assert dialog.problem.isVisible()
    assert "Skarn" in dialog.problem.text()
    assert not dialog.ok.isEnabled()
    dialog.title.setText("Moth")
    seen(dialog, desk)
    assert dialog.ok.isEnabled()
    assert not dialog.problem.isVisible()
    dialog.reject()
    desk.settle()
    assert contents(desk.folder) == NOTES


def test_a_plan_of_before_is_not_taken_for_that_of_the_fields_as_they_are(new, desk) -> None:
    dialog = new("Moth")
    seen(dialog, desk)
    dialog.preview()
    dialog.title.setText("Skarn")  # while it is looked at
    desk.settle()
    assert dialog._delay.isActive()
    assert not dialog.ok.isEnabled()
    seen(dialog, desk)
    assert "Skarn" in dialog.problem.text()
    dialog.reject()


def test_enter_that_comes_too_early_makes_the_note_once_it_was_looked_at(new, desk) -> None:
    dialog = new()
    dialog.title.setText("Moth")
    QTest.keyClick(dialog.title, Qt.Key.Key_Return)
    assert not (desk.folder / "Moth.md").exists()
    seen(dialog, desk)
    assert (desk.folder / "Moth.md").exists()


def test_a_folder_is_offered_by_any_part_of_its_name(new) -> None:
    dialog = new("Moth", "places")
    assert dialog.folder.text() == "places"
    completer = dialog.folder.completer()
    completer.setCompletionPrefix("LAC")
    assert [completer.completionModel().index(0, 0).data(), completer.completionCount()] == ["places", 1]
    dialog.folder.set_folders(["palace", "yard"])
    completer.setCompletionPrefix("lac")
    assert completer.currentCompletion() == "palace"
    dialog.reject()


def test_of_several_vaults_one_is_chosen_with_its_folders(desk, theme, parent, tmp_path) -> None:
    other = write_vault(tmp_path / "other", {"deep/Moth.md": "---\ntags: [lorebook]\n---\n# Moth\n"})
    desk.session.set_project(open_project([desk.folder, other]))
    desk.settle()
    index = desk.session.project.index
    names = [name for name, place in desk.session.project.folders.items() if place is not None]
    dialog = NewNoteDialog(theme, desk.work, index, names, (names[1], "deep"), "Bee", parent)
    dialog.show()
    seen(dialog, desk)
    assert dialog.form.isRowVisible(dialog.vault)
    assert (dialog.vault.currentText(), dialog.path) == (names[1], other / "deep" / "Bee.md")
    completer = dialog.folder.completer()
    completer.setCompletionPrefix("de")
    assert completer.currentCompletion() == "deep"
    dialog.vault.setCurrentIndex(0)
    assert not dialog.ok.isEnabled()
    completer.setCompletionPrefix("pl")
    assert completer.currentCompletion() == "places"
    dialog.folder.setText("places")
    desk.settle()  # its templates are read
    seen(dialog, desk)
    dialog.ok.click()
    desk.settle()
    assert (desk.folder / "places" / "Bee.md").exists()
    unknown = NewNoteDialog(theme, desk.work, index, names, ("elsewhere", ""), "", parent)
    assert unknown.vault.currentIndex() == 0
    unknown.reject()
    desk.settle()


# ---- other names and places -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("way", "keys"), [(OldKey.JOIN, ["skarn", "Wyrm"]), (OldKey.REPLACE, ["Wyrm"]), (OldKey.KEEP, ["skarn"])]
)
def test_a_note_is_renamed_with_what_names_it(desk, theme, parent, qtbot: QtBot, way: OldKey, keys: list[str]) -> None:
    dialog = RenameDialog(theme, desk.work, desk.folder / "Skarn.md", "Skarn", parent, keyed=True)
    dialog.show()
    desk.settle()
    assert (dialog.title.selectedText(), dialog.title.hasFocus()) == ("Skarn", True)
    assert (dialog.title.accessibleName(), dialog.key.accessibleName()) == ("New title", "Key “Skarn”")
    assert dialog.form.isRowVisible(dialog.key)
    assert dialog.view.summary.text().startswith("Type another title.")
    assert not dialog.ok.isEnabled()
    dialog.title.setText("Wyrm")
    seen(dialog, desk)
    assert dialog.ok.isEnabled()
    dialog.key.setCurrentIndex(dialog.key.findData(way))
    assert dialog.ok.isEnabled() is (way is OldKey.JOIN)  # that was chosen already
    seen(dialog, desk)
    # [[Skarn]] in Dawnkeep, and requires: [Skarn] in Crown.
    assert dialog.view.summary.text() == "2 references in 2 files will follow."
    dialog.title.setText(" Skarn ")
    seen(dialog, desk)
    assert dialog.view.summary.text().startswith("Type another title.")
    assert not dialog.ok.isEnabled()
    dialog.title.setText("Wyrm")
    seen(dialog, desk)
    dialog.ok.click()
    desk.settle()
    after = contents(desk.folder)
    assert "Skarn.md" not in after
    assert f"keys: [{', '.join(keys)}]\n" in after["Wyrm.md"]
    assert "[[Wyrm]]" in after["places/Dawnkeep.md"]
    assert "requires: [Wyrm]" in after["items/Crown.md"]


def test_where_no_key_is_the_title_nothing_is_asked_of_it(desk, theme, parent) -> None:
    dialog = RenameDialog(theme, desk.work, desk.folder / "draft.md", "draft", parent, to="sketch")
    dialog.show()
    desk.settle()
    assert not dialog.form.isRowVisible(dialog.key)
    assert OldKey(dialog.key.currentData()) is OldKey.KEEP
    assert dialog.title.text() == "sketch"
    assert dialog.ok.isEnabled()
    assert dialog.view.summary.text() == "No reference has to change."
    dialog.reject()


def test_notes_are_moved_to_a_folder(desk, theme, parent) -> None:
    paths = [desk.folder / "Skarn.md", desk.folder / "Bell.md"]
    to = lambda folder: lambda vaults: plan_move(vaults, paths, folder)  # noqa: E731
    dialog = MoveDialog(theme, desk.work, "2 notes", to, ["places"], "here", parent)
    dialog.show()
    desk.settle()
    assert dialog.windowTitle() == "Move 2 notes"
    assert (dialog.folder.hasFocus(), dialog.folder.selectedText()) == (True, "here")
    assert dialog.view.summary.text().startswith("Choose a folder")
    assert not dialog.ok.isEnabled()
    seen(dialog, desk)
    assert dialog.ok.isEnabled()
    dialog.folder.setText("beasts")
    assert not dialog.ok.isEnabled()
    seen(dialog, desk)
    assert dialog.view.summary.text() == "2 notes move to another folder. No reference has to change."
    assert dialog.folder.accessibleName() == "Folder"
    dialog.ok.click()
    desk.settle()
    assert {"beasts/Skarn.md", "beasts/Bell.md"} <= set(contents(desk.folder))


def test_the_plan_shows_the_canvas_that_follows_a_moved_note(desk, theme, parent) -> None:
    board = desk.folder / "Plot.canvas"
    board.write_text('{"nodes":[{"id":"1","type":"file","file":"Skarn.md"}]}', encoding="utf-8")
    to = lambda folder: lambda vaults: plan_move(vaults, [desk.folder / "Skarn.md"], folder)  # noqa: E731
    dialog = MoveDialog(theme, desk.work, "1 note", to, ["beasts"], "", parent)
    dialog.show()
    dialog.folder.setText("beasts")
    seen(dialog, desk)
    assert dialog.view.summary.text() == "1 note moves to another folder. 1 reference in 1 file will follow."
    assert any("Plot.canvas" in dialog.view.files.item(row).text() for row in range(dialog.view.files.count()))
    dialog.ok.click()
    desk.settle()
    assert '"file":"beasts/Skarn.md"' in board.read_text(encoding="utf-8")
    desk.work.undo()
    desk.settle()
    assert '"file":"Skarn.md"' in board.read_text(encoding="utf-8")


# ---- trash ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def trash(desk: Desk, theme: Theme, parent: QWidget) -> TrashDialog:
    """With Bell and Skarn in it."""
    for name in ("Skarn.md", "Bell.md"):
        path = desk.folder / name
        desk.work.carry_out(lambda vaults, path=path: plan_delete(vaults, [path]))
        desk.settle()
    dialog = TrashDialog(theme, desk.work, parent)
    dialog.show()
    assert dialog.state.text() == "Reading the trash…"
    assert not dialog.back.isEnabled()
    desk.settle()
    return dialog


def test_deleted_notes_are_listed_and_put_back(trash, desk) -> None:
    assert trash.state.text() == "2 deleted notes"
    assert {trash.items.row(each).path.stem for each in range(2)} == {"Bell", "Skarn"}
    assert len(trash.chosen) == 1
    trash.table.selectionModel().clear()
    trash.table.chosen.emit(None)
    assert (trash.back.isEnabled(), trash.gone.isEnabled()) == (False, False)
    trash.table.select_places([0], 0)
    trash.table.chosen.emit(trash.items.row(0))
    assert (trash.back.isEnabled(), trash.gone.isEnabled()) == (True, True)
    assert trash.back.property("kind") == "primary"
    trash.table.select_places([0, 1], 0)
    trash.back.click()
    desk.settle()
    assert contents(desk.folder) == NOTES
    assert trash.state.text() == "The trash of this vault is empty."
    assert (trash.back.isEnabled(), trash.gone.isEnabled()) == (False, False)
    trash.put_back()  # nothing is chosen
    trash._ask_gone()
    assert trash.findChildren(QMessageBox) == []
    trash.reject()
    desk.settle()


def asked(trash: TrashDialog) -> QMessageBox:
    return next(each for each in trash.findChildren(QMessageBox) if each.isVisible())


def press(box: QMessageBox, title: str) -> None:
    next(each for each in box.buttons() if each.text() == title).click()


def test_a_note_whose_name_is_taken_comes_back_under_another(trash, desk) -> None:
    taken = trash.chosen[0].path
    taken.write_text("Another one.\n", encoding="utf-8")
    trash.table.pressed.emit(trash.chosen[0])
    desk.settle()
    box = asked(trash)
    title = next(each.text() for each in box.buttons() if each.text().startswith("Put back as "))
    press(box, title)
    desk.settle()
    name = title.removeprefix("Put back as ")
    assert contents(desk.folder)[name] == NOTES[taken.name]
    assert contents(desk.folder)[taken.name] == "Another one.\n"
    assert trash.state.text() == "1 deleted note"
    trash.reject()
    desk.settle()


def test_the_others_follow_a_note_that_comes_back_under_another_name(trash, desk) -> None:
    first = trash.items.row(0).path
    first.write_text("Another one.\n", encoding="utf-8")
    trash.table.select_places([0, 1], 0)
    trash.back.click()
    desk.settle()
    assert trash.state.text() == "2 deleted notes"
    box = asked(trash)
    press(box, next(each.text() for each in box.buttons() if each.text().startswith("Put back as ")))
    desk.settle()
    assert trash.state.text() == "The trash of this vault is empty."
    assert set(NOTES) < set(contents(desk.folder))
    trash.reject()
    desk.settle()


@pytest.mark.parametrize("why", ["taken", "damaged"])
def test_the_others_are_put_back_where_one_stays(trash, desk, why: str) -> None:
    first = trash.items.row(0)
    if why == "taken":
        first.path.write_text("Another one.\n", encoding="utf-8")
    else:
        first.file.write_text("Damaged.\n", encoding="utf-8")
    second = trash.items.row(1).path
    trash.table.select_places([0, 1], 0)
    trash.back.click()
    desk.settle()
    if why == "taken":
        asked(trash).reject()
        desk.settle()
    assert contents(desk.folder)[second.name] == NOTES[second.name]
    assert trash.state.text().endswith("1 deleted note")
    assert ("was changed in the trash" in trash.state.text()) == (why == "damaged")
    trash.reject()
    desk.settle()


def test_a_note_that_cannot_be_put_back_says_why(trash, desk) -> None:
    trash._failed(trash.chosen[0], OSError("The disk is away."))
    desk.settle()
    assert trash.state.text() == "The disk is away. 2 deleted notes"
    trash.reject()
    desk.settle()


def test_notes_are_deleted_for_good_once_that_was_confirmed(trash, desk) -> None:
    trash.table.select_places([0, 1], 0)
    trash.gone.click()
    assert asked(trash).text() == "2 notes will be deleted for good."
    press(asked(trash), "Cancel")
    drain()
    assert trash.state.text() == "2 deleted notes"
    trash.gone.click()
    press(asked(trash), "Delete")
    desk.settle()
    assert trash.state.text() == "The trash of this vault is empty."
    assert set(contents(desk.folder)) == set(NOTES) - {"Skarn.md", "Bell.md"}
    trash.reject()
    desk.settle()


def test_a_closed_trash_hears_nothing_more(trash, desk, parent: QWidget) -> None:
    trash.reject()
    drain()
    assert parent.findChildren(TrashDialog) == []
    desk.work.undo()
    desk.settle()
    assert "Bell.md" in contents(desk.folder)


# ---- entries of notes -----------------------------------------------------------------------------------------------


PLAIN = {
    "Moth.md": "---\ntags: [beast]\n---\n# Moth\n\nGrey.\n",
    "people/Ada.md": "---\ntags: [person]\n---\n# Ada\n\nA smith.\n",
    "Skarn.md": NOTES["Skarn.md"],
}


def test_templates_are_left_out_and_that_is_said(make_desk, theme, parent) -> None:
    desk = make_desk({**PLAIN, "Templates/NPC.md": "# {{title}}\n"})
    dialog = EntriesDialog(theme, desk.work, desk.session.project, parent)
    dialog.show()
    desk.settle()
    assert dialog.groups.itemText(0) == "All notes (2)"
    assert dialog.state.text() == "1 template or drawing is left out."


def test_plain_notes_become_entries_by_their_groups(make_desk, theme, parent) -> None:
    desk = make_desk(PLAIN)
    dialog = EntriesDialog(theme, desk.work, desk.session.project, parent)
    dialog.show()
    assert dialog.state.text() == "Reading the notes…"
    assert not dialog.make.isEnabled()
    desk.settle()
    assert dialog.state.text() == ""
    groups = [dialog.groups.itemText(each) for each in range(dialog.groups.count())]
    assert groups[0] == "All notes (2)"
    assert {"Tag beast (1)", "Tag person (1)", "Folder people (1)"} <= set(groups)

    def shown() -> set[str]:
        return {dialog.model.row(each).title for each in range(dialog.model.rowCount())}

    assert shown() == {"Moth", "Ada"}
    assert not dialog.make.isEnabled()  # few want them all
    dialog.groups.setCurrentIndex(groups.index("Tag beast (1)"))
    assert shown() == {"Moth"}
    assert dialog.make.isEnabled()
    dialog.make.click()
    desk.settle()
    after = contents(desk.folder)
    assert "lorebook" in after["Moth.md"]
    assert after["people/Ada.md"] == PLAIN["people/Ada.md"]


def test_notes_that_the_chat_names_come_first_and_are_ticked(make_desk, theme, parent) -> None:
    desk = make_desk(PLAIN)
    chat = Chat((Message("Wren", "A moth flies by.", is_user=True),), "Wren", "Ada")
    dialog = EntriesDialog(theme, desk.work, replace(desk.session.project, chat=chat), parent)
    dialog.show()
    desk.settle()
    groups = [dialog.groups.itemText(each) for each in range(dialog.groups.count())]
    assert groups[:2] == ["Notes that the chat names (1)", "All notes (2)"]
    assert [each.title for each in dialog.model.rows] == ["Moth"]
    assert dialog.make.isEnabled()
    assert dialog.list.view.hasFocus()
    dialog.model.choose_all(all_of_them=False)
    assert not dialog.make.isEnabled()
    dialog.groups.setCurrentIndex(1)
    assert {each.title for each in dialog.model.rows} == {"Moth", "Ada"}
    assert not dialog.make.isEnabled()
    dialog.groups.setCurrentIndex(0)
    dialog.make.click()
    desk.settle()
    assert "lorebook" in contents(desk.folder)["Moth.md"]
    assert contents(desk.folder)["people/Ada.md"] == PLAIN["people/Ada.md"]


def test_where_every_note_is_an_entry_that_is_said(make_desk, theme, parent) -> None:
    desk = make_desk({"Skarn.md": NOTES["Skarn.md"]})
    dialog = EntriesDialog(theme, desk.work, desk.session.project, parent)
    dialog.show()
    desk.settle()
    assert dialog.state.text() == "Every note is an entry already, or was switched off."
    assert not dialog.make.isEnabled()
    dialog.reject()
