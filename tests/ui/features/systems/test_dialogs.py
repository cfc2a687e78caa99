"""The lorebooks of World Info in the window."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from lorestudio.domain.chat import Chat
from lorestudio.exchange.character_card import parse_card
from lorestudio.exchange.lorebooks.reading import BookFile, BookRole
from lorestudio.settings.worldinfo import BOOKS, VAULT, WorldInfoSettings
from lorestudio.studio.project.project import open_project
from lorestudio.studio.prompt.setup import PromptSetup
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.systems.worldinfo.books import book_files
from lorestudio.ui.shell.words import Notice
from tests.ui.features.systems.test_choosing import settled
from tests.ui.worlds import make_project

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from lorestudio.ui.features.systems.dialogs import BooksDialog
    from lorestudio.ui.shell.main_window import MainWindow


@pytest.fixture
def real(make_window: Callable[..., MainWindow], tmp_path: Path, qtbot: QtBot) -> MainWindow:
    """The window on the small project, with the engine."""
    window = make_window(make_project(tmp_path / "vault"), make_simulator=Simulator)
    settled(qtbot, window)
    return window


def lorebook(path: Path, **more: Any) -> Path:
    entry = {"uid": 0, "position": 0, "constant": True, "content": "x", "comment": f"of {path.stem}", **more}
    path.write_text(json.dumps({"entries": {"0": entry}}))
    return path


def opened(window: MainWindow) -> BooksDialog:
    window.run("worldinfo.books")
    assert window.features.systems.books is not None
    return window.features.systems.books


def rows(dialog: BooksDialog) -> list[list[str]]:
    return dialog.model.texts()[1:]


def test_lorebooks_that_are_scanned_without_being_listed_stand_there_with_whose_they_are(
    make_window: Callable[..., MainWindow], qtbot: QtBot, tmp_path: Path
) -> None:
    """With none in the list it said that the vault's notes are scanned, and there was no vault."""
    project = open_project([lorebook(tmp_path / name) for name in ("Eldoria.json", "Mill.json")])
    first, second = project.books
    mine = replace(second, role=BookRole.CHARACTER, owners=frozenset({"Tom", "Hob"}))
    window = make_window(project.with_books([first, mine]), make_simulator=Simulator)
    settled(qtbot, window)
    dialog = opened(window)
    dialog.source.setCurrentIndex(dialog.source.findData(VAULT))  # the lorebooks stand in its place
    settled(qtbot, window)
    open_there = [["Eldoria", "Global", "1", ""], ["Mill", "Character (Hob, Tom)", "1", ""]]
    assert rows(dialog) == open_there
    assert dialog.state.text() == "2 entries in the lorebooks that are listed."
    dialog.list.selectRow(1)
    assert dialog.about.toPlainText().splitlines()[:2] == [
        str(tmp_path / "Mill.json"),
        "Scanned besides: the chat, a card, the persona or what is open names it, and no list here.",
    ]
    assert not dialog.remove_button.isEnabled()
    assert not dialog.role.isEnabled()
    QTest.keyClick(dialog.list, Qt.Key.Key_Delete)
    assert rows(dialog) == open_there
    dialog.add([lorebook(tmp_path / "Tavern.json"), tmp_path / "Eldoria.json"])
    settled(qtbot, window)
    listed = [["Tavern", "Global", "1", ""], ["Eldoria", "Global", "1", ""]]
    assert rows(dialog) == [*listed, open_there[1]]
    dialog.list.selectRow(1)
    QTest.keyClick(dialog.list, Qt.Key.Key_Delete)
    assert rows(dialog)[0] == listed[0]
    settled(qtbot, window)
    assert rows(dialog) == [listed[0], *open_there]
    assert book_files(dialog.settings) == (BookFile(str(tmp_path / "Tavern.json"), BookRole.GLOBAL),)
    dialog.close()


def test_lorebooks_that_a_chat_names_and_that_are_not_there_are_told(
    make_window: Callable[..., MainWindow], qtbot: QtBot, tmp_path: Path
) -> None:
    chat = Chat(metadata={"world_info": "Tavern"})
    window = make_window(replace(make_project(tmp_path / "vault"), chat=chat), make_simulator=Simulator)
    dialog = opened(window)
    settled(qtbot, window)
    assert "vault's notes are scanned" in dialog.state.text()
    dialog.source.setCurrentIndex(dialog.source.findData(BOOKS))
    settled(qtbot, window)
    first, second = dialog.state.text().splitlines()
    assert first == "0 entries in the lorebooks that are listed."
    assert "“Tavern”, which is not scanned" in second
    assert second in dialog.state.toolTip()
    lorebook(tmp_path / "Tavern.json")
    dialog.worlds.setFocus()
    QTest.keyClicks(dialog.worlds, str(tmp_path))
    settled(qtbot, window)
    assert (rows(dialog), dialog.state.toolTip()) == ([["Tavern", "Chat", "1", ""]], "")
    assert dialog.state.text() == "1 entry in the lorebooks that are listed."
    dialog.close()


def test_of_several_missing_lorebooks_one_is_told_and_a_tip_has_a_line_for_each(
    make_window: Callable[..., MainWindow], qtbot: QtBot, tmp_path: Path
) -> None:
    document = {"spec": "chara_card_v2", "data": {"name": "Skarn", "extensions": {"world": "Mill"}}}
    chat = Chat(metadata={"world_info": "Tavern"})
    window = make_window(replace(make_project(tmp_path / "vault"), chat=chat), make_simulator=Simulator)
    window.session.parts.take_setup(PromptSetup(card=parse_card(json.dumps(document).encode(), "card")))
    dialog = opened(window)
    dialog.source.setCurrentIndex(dialog.source.findData(BOOKS))
    settled(qtbot, window)
    first, second = dialog.state.toolTip().splitlines()
    assert ("“Tavern”" in first, "“Mill”" in second) == (True, True)
    assert dialog.state.text().splitlines()[1] == f"{first} (and 1 more)"
    dialog.close()


@pytest.mark.always
def test_files_are_added_given_a_role_and_scanned(real: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    notices: list[Notice] = []
    real.session.notice.connect(notices.append)
    dialog = opened(real)
    assert "vault's notes are scanned" in dialog.state.text()
    dialog.add([lorebook(tmp_path / "Eldoria.json", odd=1), lorebook(tmp_path / "Tavern.json")])
    settled(qtbot, real)
    assert rows(dialog) == [["Eldoria", "Global", "1", "1 remark"], ["Tavern", "Global", "1", ""]]
    dialog.role.setCurrentIndex(dialog.role.findData(BookRole.CHAT.value))
    dialog.role.activated.emit(dialog.role.currentIndex())
    assert rows(dialog)[1][1] == "Chat"
    dialog.list.selectRow(0)
    assert "“odd”" in dialog.about.toPlainText()
    dialog.accept()
    settled(qtbot, real)
    settings = real.session.choice.settings
    assert isinstance(settings, WorldInfoSettings)
    assert book_files(settings) == (
        BookFile(str(tmp_path / "Eldoria.json"), BookRole.GLOBAL),
        BookFile(str(tmp_path / "Tavern.json"), BookRole.CHAT),
    )
    traces = list(real.session.runs.traces.values())
    assert {injection.title for injection in traces[0].injections} == {"of Eldoria", "of Tavern"}
    told = [notice.text for notice in notices]
    assert [text for text in told if text.startswith("World Info")] == [
        "World Info: Eldoria: 1 entry has the field “odd”, which the scan does not know: it changes nothing."
    ]
    assert real.features.systems.files.path("world-info").exists()
    real.features.systems.configure("world-info", settings.model_copy(update={"depth": 9}))
    settled(qtbot, real)
    assert sum(notice.text.startswith("World Info") for notice in notices) == 1  # said once


@pytest.mark.always
def test_a_file_that_cannot_be_used_is_said_and_can_be_removed(real: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    (tmp_path / "broken.json").write_text("{")
    dialog = opened(real)
    dialog.add([tmp_path / "broken.json", tmp_path / "broken.json"])
    settled(qtbot, real)
    assert rows(dialog) == [["broken.json", "Global", "", "cannot be used"]]
    assert "line 1: this is no valid JSON" in dialog.about.toPlainText()
    assert "broken.json cannot be used" in dialog.state.text()
    assert not dialog.apply.isEnabled()
    dialog.accept()
    assert real.features.systems.books is dialog  # nothing was taken over
    dialog.remove()
    assert rows(dialog) == []
    assert "No lorebook is listed" in dialog.about.toPlainText()
    assert dialog.apply.isEnabled()
    dialog.reject()


@pytest.mark.always
def test_what_was_set_comes_back_and_the_settings_have_a_door(real: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    file = lorebook(tmp_path / "Eldoria.json")
    real.features.systems.configure("world-info", WorldInfoSettings(persona_books=str(file), character_strategy=2))
    settings_dialog = real.features.systems.open_settings("world-info")
    settings_dialog.set_value("depth", 7)
    real.features.systems._leave_for("worldinfo.books")
    settled(qtbot, real)
    dialog = real.features.systems.books
    assert dialog is not None
    assert rows(dialog) == [["Eldoria", "Persona", "1", ""]]
    assert dialog.strategy.currentData() == 2
    assert dialog.settings.depth == 7
    dialog.source.setCurrentIndex(dialog.source.findData(BOOKS))
    assert dialog.settings.source == BOOKS
    dialog.reject()


def test_another_card_is_another_run_of_world_info(real: MainWindow, qtbot: QtBot) -> None:
    document = {"spec": "chara_card_v2", "data": {
        "name": "Skarn", "character_book": {"entries": [
            {"keys": ["x"], "constant": True, "content": "Inside.", "comment": "Inside", "enabled": True},
        ]},
    }}  # fmt: skip
    real.features.systems.configure("world-info", WorldInfoSettings(source=BOOKS))
    real.run("system.world-info")
    settled(qtbot, real)
    assert not any(trace.injections for trace in real.session.runs.traces.values())
    real.session.parts.take_setup(PromptSetup(card=parse_card(json.dumps(document).encode(), "card")))
    settled(qtbot, real)
    assert all([each.title for each in trace.injections] == ["Inside"] for trace in real.session.runs.traces.values())


def test_a_lorebook_in_the_place_of_a_vault(
    make_window: Callable[..., MainWindow], tmp_path: Path, qtbot: QtBot
) -> None:
    book = lorebook(tmp_path / "Eldoria.json", key=["kite"])
    chat = tmp_path / "chat.jsonl"
    chat.write_text(json.dumps({"name": "Wren", "is_user": True, "mes": "A kite."}))
    window = make_window(open_project([book], chat), make_simulator=Simulator)
    settled(qtbot, window)
    assert {trace.system for trace in window.session.runs.traces.values()} == {"world-info"}
    project = window.session.project
    assert project is not None
    assert Simulator(project).system.name == "world-info"
    window.vault.show_table(True)
    assert [row.title for row in window.vault.table_model.rows] == ["of Eldoria"]
    window.selection.choose_entry(0)
    settled(qtbot, window)
    pane = window.features.notes.pane
    assert pane.editor.buffer is not None
    assert pane.editor.buffer.note.body == "x"
    traces = window.session.runs.traces.values()
    assert all([injection.entry for injection in trace.injections] == [0] for trace in traces)
