"""The dialogs of a system alone: its settings without a trial, and its books before anything is applied."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QLabel, QPushButton, QSplitter, QWidget

from lorestudio.exchange.lorebooks.reading import BookRole
from lorestudio.settings.declaration import Section, declared
from lorestudio.settings.recap import RecapSettings
from lorestudio.settings.worldinfo import BOOKS, BY_BOOKS, VAULT, WorldInfoSettings
from lorestudio.systems.registry import kind_of
from lorestudio.ui.features.systems.dialogs import BooksDialog, SystemSettingsDialog
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.state.session import Session
from tests.ui.conftest import drain
from tests.ui.features.systems.test_dialogs import lorebook


@pytest.fixture
def parent(qtbot) -> QWidget:
    made = QWidget()
    qtbot.addWidget(made)
    return made


def press(dialog: QWidget, words: str) -> None:
    next(each for each in dialog.findChildren(QPushButton) if each.text().replace("&", "") == words).click()


# ---- settings -------------------------------------------------------------------------------------------------------


@pytest.fixture
def settings_dialog(theme: Theme, parent: QWidget, qtbot) -> SystemSettingsDialog:
    made = SystemSettingsDialog(theme, "Recap settings", "For every chat.", RecapSettings(), parent, brief=True)
    made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    made.show()
    qtbot.waitExposed(made)
    made.activateWindow()
    return made


def test_a_setting_is_changed_told_and_put_back(settings_dialog: SystemSettingsDialog) -> None:
    dialog = settings_dialog
    accepted: list[Section] = []
    dialog.accepted_settings.connect(accepted.append)
    first = next(iter(dialog._known.values()))
    splitter = dialog.findChild(QSplitter)
    assert [splitter.widget(0), splitter.widget(1)] == [dialog.view, dialog.editor]
    assert (dialog.editor.declaration, dialog.apply.text(), dialog.outcome.isVisible()) == (first, "Keep", False)
    assert (dialog._told.text(), dialog.defaults.isEnabled()) == ("Every setting has its default.", False)
    switch = next(each for each in dialog._known.values() if each.type is bool and not each.advanced)
    dialog.view.search.setText("no such words")
    dialog.choose(switch.name)
    assert (dialog.view.search.text(), dialog.editor.declaration) == ("", switch)
    dialog.editor.moved.emit(switch, not switch.default)
    assert (dialog._told.text(), dialog.defaults.isEnabled()) == ("1 setting differs from its default", True)
    assert (dialog.editor.reset.isVisible(), dialog.editor.declaration) == (True, switch)
    assert dialog.view.model.value(switch) is not switch.default
    dialog.view.tree.setCurrentIndex(dialog.view.model.index(0, 0))
    assert dialog.editor.title.text() == "No setting chosen"
    assert dialog.editor.help.text() == "Choose a setting in the list to read what it does and to change it."
    dialog.defaults.click()
    assert (dialog.settings, dialog._told.text()) == (RecapSettings(), "Every setting has its default.")
    dialog.set_value(switch.name, not switch.default)
    dialog.apply.click()
    assert [getattr(each, switch.name) for each in accepted] == [not switch.default]
    assert not dialog.isVisible()


def test_keys_of_the_settings_dialog(settings_dialog: SystemSettingsDialog, qtbot) -> None:
    dialog = settings_dialog
    accepted: list[Section] = []
    dialog.accepted_settings.connect(accepted.append)
    opened: list[int] = []
    dialog.add_door("Export…", lambda: opened.append(1))
    press(dialog, "Export…")
    assert opened == [1]
    dialog.view.tree.setFocus()
    QTest.keyClick(dialog.view.tree, Qt.Key.Key_Return)  # to the field of the setting
    qtbot.waitUntil(dialog.editor.field.focus_target().hasFocus)
    dialog.editor.kept.emit()
    assert dialog.view.tree.hasFocus()
    QTest.keyClick(dialog.focusWidget(), Qt.Key.Key_Tab)
    QTest.keyClick(dialog, Qt.Key.Key_Return)
    assert (accepted, dialog.isVisible()) == ([], True)
    doors = dialog.findChildren(QPushButton)
    next(each for each in doors if each.text() == "Export…").setFocus()
    QTest.keyClick(dialog.focusWidget(), Qt.Key.Key_Return)
    assert (opened, dialog.isVisible()) == ([1, 1], True), "Enter presses the button that has the keyboard"
    dialog.view.tree.setFocus()
    QTest.keyClick(dialog, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert (accepted, dialog.isVisible()) == ([RecapSettings()], False)
    dialog.show()
    dialog.editor.left.emit()
    assert (len(accepted), dialog.isVisible()) == (1, False)


# ---- books ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def open_books(
    theme: Theme, parent: QWidget, make_session: Callable[..., Session], qtbot
) -> Callable[[WorldInfoSettings], BooksDialog]:
    session = make_session()

    def make(settings: WorldInfoSettings) -> BooksDialog:
        scanned = kind_of("world-info").books
        assert scanned is not None
        dialog = BooksDialog(theme, session.jobs, scanned, settings, parent)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
        dialog.show()
        qtbot.waitExposed(dialog)
        dialog.activateWindow()
        return dialog

    return make


def rows(dialog: BooksDialog) -> list[list[str]]:
    return dialog.model.texts()[1:]


CHOOSE = "Choose a lorebook in the list to read what of it has no effect here."


def test_books_are_read_listed_and_taken_out(open_books, qtbot, tmp_path: Path) -> None:
    files = [lorebook(tmp_path / f"{name}.json") for name in ("Eldoria", "Tavern", "Isles")]
    settings = WorldInfoSettings(persona_books=str(files[0]), chat_books=str(files[1]), character_strategy=2)
    dialog = open_books(settings)
    assert (dialog.state.text(), dialog.apply.isEnabled()) == ("The files are being read…", False)
    assert "is being read…" in dialog.about.toPlainText()
    qtbot.waitUntil(dialog.apply.isEnabled)
    assert sorted(rows(dialog)) == [["Eldoria", "Persona", "1", ""], ["Tavern", "Chat", "1", ""]]
    assert dialog.state.text() == "2 entries in the lorebooks that are listed."
    chosen = dialog.list.current
    assert (chosen, dialog.about.isReadOnly()) == (dialog.books[0], True)
    assert dialog.about.toPlainText() == f"{chosen.file.path}\nEverything in it has its effect here."
    assert dialog.role.currentData() == chosen.file.role.value
    assert dialog.settings == settings
    dialog.add([files[0], files[2], files[2]])
    assert not dialog.apply.isEnabled()
    qtbot.waitUntil(dialog.apply.isEnabled)
    assert [row[0] for row in rows(dialog)][2:] == ["Isles"]
    assert dialog.list.current.book.name == "Isles"
    dialog.set_role(BookRole.GLOBAL)
    before = dialog.books[2]
    dialog.set_role(BookRole.GLOBAL)  # what it is already
    assert dialog.books[2] is before
    dialog.set_role(BookRole.CHARACTER)
    assert rows(dialog)[2] == ["Isles", "Character", "1", ""]
    dialog.list.clearSelection()
    dialog.list.choose(None)
    assert (dialog.about.toPlainText(), dialog.remove_button.isEnabled(), dialog.role.isEnabled()) == (
        CHOOSE, False, False,
    )  # fmt: skip
    dialog.remove()
    dialog.set_role(BookRole.CHAT)
    assert len(dialog.books) == 3
    dialog.list.choose(id(dialog.books[1]))
    dialog.worlds.setFocus()
    QTest.keyClick(dialog.worlds, Qt.Key.Key_Delete)  # a key of the field
    assert len(dialog.books) == 3
    dialog.list.setFocus()
    QTest.keyClick(dialog.list, Qt.Key.Key_Delete)
    assert (len(dialog.books), dialog.list.current) == (2, dialog.books[1])
    dialog.remove_button.click()
    assert (len(dialog.books), dialog.list.current) == (1, dialog.books[0])
    dialog.remove_button.click()
    assert (dialog.books, dialog.remove_button.isEnabled()) == ([], False)
    assert dialog.about.toPlainText().startswith("No lorebook is listed.")
    assert dialog.apply.isEnabled()


def test_what_is_scanned_is_told_and_handed_over(open_books, qtbot, tmp_path: Path) -> None:
    dialog = open_books(WorldInfoSettings())
    accepted: list[Section] = []
    dialog.accepted_settings.connect(accepted.append)
    assert (dialog.source.currentData(), dialog.strategy.currentData()) == (
        WorldInfoSettings().source, WorldInfoSettings().character_strategy,
    )  # fmt: skip
    assert dialog.about.toPlainText().startswith("No lorebook is listed.")
    assert not dialog.remove_button.isEnabled()
    labels = {each.text() for each in dialog.findChildren(QLabel) if each.isVisible()}
    assert {"What is scanned", "Whose entries come first", "SillyTavern's folder"} <= labels
    helps = {each.name: each.help for each in declared(WorldInfoSettings)}
    fields = {"source": dialog.source, "character_strategy": dialog.strategy, "worlds": dialog.worlds}
    assert {name: field.toolTip() for name, field in fields.items()} == {name: helps[name] for name in fields}
    told = {}
    for source in (BY_BOOKS, BOOKS, VAULT):
        dialog.source.setCurrentIndex(dialog.source.findData(source))
        told[source] = dialog.state.text()
    assert told == {
        BY_BOOKS: "No lorebook is listed, so the vault's notes are scanned. Add a file to scan it in their place.",
        BOOKS: "0 entries in the lorebooks that are listed.",
        VAULT: "The vault's notes are scanned; the list is kept for another time.",
    }
    dialog.add_button.click()
    (asked,) = dialog.findChildren(QFileDialog)
    asked.filesSelected.emit([str(lorebook(tmp_path / "Eldoria.json"))])
    asked.close()
    qtbot.waitUntil(lambda: [row[0] for row in rows(dialog)] == ["Eldoria"])
    drain()
    assert not dialog.findChildren(QFileDialog)  # it does not stay behind
    dialog.set_role(BookRole.CHAT)
    assert rows(dialog)[0][1] == "Chat"
    dialog.source.setCurrentIndex(dialog.source.findData(BY_BOOKS))
    assert dialog.state.text() == "1 entry in the lorebooks that are listed."
    press(dialog, "Choose…")
    asked = next(each for each in dialog.findChildren(QFileDialog) if each.isVisible())
    asked.fileSelected.emit(str(tmp_path))
    asked.close()
    assert dialog.worlds.text() == str(tmp_path)
    dialog.worlds.setText(f" {tmp_path} ")
    dialog.strategy.setCurrentIndex(dialog.strategy.findData(1))
    dialog.apply.click()
    (settings,) = accepted
    assert (settings.worlds, settings.source, settings.character_strategy) == (str(tmp_path), BY_BOOKS, 1)
    assert not dialog.isVisible()


def test_a_broken_book_beside_others_is_named(open_books, qtbot, tmp_path: Path) -> None:
    (tmp_path / "broken.json").write_text(json.dumps([1]), encoding="utf-8")
    dialog = open_books(WorldInfoSettings())
    dialog.add([lorebook(tmp_path / "Eldoria.json", odd=1), tmp_path / "broken.json"])
    qtbot.waitUntil(lambda: len(dialog.books) == 2)
    assert [row[2:] for row in rows(dialog)] == [["1", "1 remark"], ["", "cannot be used"]]
    signs = [dialog.model.index(row, 3).data(Qt.ItemDataRole.DecorationRole) for row in range(2)]
    assert [sign is not None for sign in signs] == [False, True]
    assert dialog.state.text() == (
        "broken.json cannot be used. Remove it from the list, or mend the file and add it again."
    )
    dialog.source.setCurrentIndex(dialog.source.findData(VAULT))
    assert not dialog.apply.isEnabled()
    dialog.accept()
    assert dialog.isVisible()
