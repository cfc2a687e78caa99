"""A vault without entries, opened in the window: what is offered, and the way to the first entry that fires."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QMessageBox, QPushButton

from lorestudio.domain.chat import Chat, Message
from lorestudio.domain.records import replace
from lorestudio.studio.project.project import open_project
from lorestudio.ui.features.notes.note_dialogs import EntriesDialog
from tests.ui.conftest import settle
from tests.ui.vaults import contents, write_vault

NOTES = {
    "People/Aldric.md": "---\ntags: npc\n---\n# Aldric\n\nA king.\n",
    "People/Mira.md": "Sister of [[Aldric]].\n",
    "todo.md": "Buy milk.\n",
}


@pytest.fixture
def window(make_window, tmp_path):
    made = make_window()
    made.features.vault.keep_in(tmp_path / "kept")
    chat = Chat((Message("U", "Where is Aldric?", is_user=True), Message("C", "He left.")))
    made.session.set_project(replace(open_project([write_vault(tmp_path / "vault", NOTES)]), chat=chat))
    settle(made)
    return made


def press(parent, text: str) -> None:
    (button,) = (each for each in parent.findChildren(QPushButton) if each.text() == text)
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


@pytest.mark.long
def test_from_no_entry_to_the_first_one_in_two_clicks_and_back_in_one(window, tmp_path) -> None:
    pane = window.vault
    assert pane.empty.isVisibleTo(pane)
    assert pane.empty.title.text() == "3 notes, none of them an entry yet"
    assert not any("left out" in each.text() for each in window.findChildren(QLabel) if "`" in each.text())
    press(pane.empty, "Make entries…")
    settle(window)
    dialog = next(one for one in QApplication.topLevelWidgets() if isinstance(one, EntriesDialog) and one.isVisible())
    assert [row.title for row in dialog.model.rows] == ["Aldric"]  # what the chat names is ticked
    dialog.groups.setCurrentIndex(dialog.groups.findText("Folder People (2)"))
    assert len(dialog.model.chosen) == 2
    dialog.groups.setCurrentIndex(dialog.groups.findText("All notes (3)"))
    assert (len(dialog.model.rows), dialog.make.isEnabled()) == (3, False)
    dialog.groups.setCurrentIndex(0)
    press(dialog, "Make entries")
    settle(window)
    (entry,) = window.session.project.index.entries
    assert (entry.title, entry.keys) == ("Aldric", ("Aldric",))
    assert pane.tree.isVisibleTo(pane)
    window.run("vault.undo")
    settle(window)
    assert contents(tmp_path / "vault") == NOTES


@pytest.mark.always
def test_the_proposed_keys_can_be_others(window, tmp_path) -> None:
    write_vault(tmp_path / "vault", {"People/Rook.md": "---\nkeys: [rook]\n---\nA bird.\n"})
    before = contents(tmp_path / "vault")
    window.session.set_project(open_project([tmp_path / "vault"]))
    window.run("note.entries")
    settle(window)
    dialog = next(one for one in QApplication.topLevelWidgets() if isinstance(one, EntriesDialog) and one.isVisible())
    dialog.groups.setCurrentIndex(dialog.groups.findText("Folder People (3)"))
    assert (dialog.list.view.current.title, dialog.keys.items) == ("Aldric", ["Aldric"])
    dialog.keys.input.setFocus()
    QTest.keyClick(dialog.keys.input, Qt.Key.Key_Escape)
    assert (dialog.isVisible(), dialog.focusWidget()) == (True, dialog.list.view)
    dialog.list.view.choose(None)
    assert (dialog.keys.items, dialog.keys.isEnabled()) == ([], False), "of no note"
    dialog.list.view.choose(dialog.model.rows[0].note_key)
    dialog.keys.input.setFocus()
    QTest.keyClicks(dialog.keys.input, "the king, crown")
    QTest.keyClick(dialog.keys.input, Qt.Key.Key_Return)
    assert dialog.isVisible(), "Enter takes the key and makes no entry yet"
    assert dialog.model.rows[0].keys == ("Aldric", "the king", "crown")
    assert len(dialog.model.chosen) == 3
    dialog.list.view.choose(dialog.model.rows[2].note_key)
    assert dialog.keys.items == ["rook"], "its own"
    dialog.keys.remove(dialog.keys.chips[0])
    dialog.keys.add_text("the bird")
    dialog.list.view.choose(dialog.model.rows[1].note_key)
    assert dialog.keys.items == ["Mira"]
    dialog.keys.remove(dialog.keys.chips[0])
    QTest.keyClicks(dialog.keys.input, "sister")  # and half typed it is made
    dialog.reject()
    (asks,) = dialog.findChildren(QMessageBox)
    assert "changed would be lost" in asks.text() + asks.informativeText()
    asks.reject()
    assert dialog.isVisible()
    dialog.make.click()  # by a key of its own: the keyboard stays in the line
    settle(window)
    found = {each.title: each.keys for each in window.session.project.index.entries}
    assert found == {"Aldric": ("Aldric", "the king", "crown"), "Mira": ("sister",), "Rook": ("the bird",)}
    window.run("vault.undo")
    settle(window)
    assert contents(tmp_path / "vault") == before


def test_the_notes_can_be_found_all_the_same(window) -> None:
    for words, shown in (("todo", window.vault.tree), ("nothing has this", window.vault.empty)):
        window.vault.filter.setText(words)
        window.vault.apply_filter()
        assert shown.isVisibleTo(window.vault)
    assert window.vault.empty.title.text() == "Nothing found"
