"""A chat that another program writes: what is new in it is shown and run, and what is looked at stays."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMessageBox

from lorestudio.domain.records import replace
from lorestudio.studio.project.library import LibraryNews, RefreshReason
from lorestudio.studio.replay.simulator import Simulator
from tests.ui.conftest import settle

if TYPE_CHECKING:
    from pathlib import Path

    from lorestudio.ui.shell.main_window import MainWindow


def line(name: str, text: str) -> str:
    return json.dumps({"name": name, "is_user": name == "Wren", "mes": text}) + "\n"


HEADER = '{"user_name":"Wren","character_name":"Ottoline"}\n'
BEFORE = HEADER + "".join(line(name, f"{name} {at}") for at in range(20) for name in ("Wren", "Ottoline"))


@pytest.fixture
def window(make_window: Any, tmp_path: Path) -> MainWindow:
    folder, chat = tmp_path / "vault", tmp_path / "chats" / "chat.jsonl"
    folder.mkdir()
    chat.parent.mkdir()
    (folder / "Bell.md").write_text("---\ntags: [lorebook]\nkeys: [bell]\n---\n# Bell\nIt rings.\n", "utf-8")
    chat.write_text(BEFORE, "utf-8")
    made: MainWindow = make_window(make_simulator=Simulator, cache_file=tmp_path / "vaults.sqlite")
    made.session.reading.open([folder], chat)
    settle(made)
    return made


def shown(window: MainWindow) -> int:
    return len(window.session.project.chat.messages)


@pytest.mark.long
def test_a_new_turn_is_shown_and_run_and_nothing_moves(window: MainWindow, qtbot: Any) -> None:
    session, chat = window.session, window.session.project.chat_path
    window.selection.choose_message(5, session.generation_for(5))
    settle(window)
    bar, looked = window.chat.view.verticalScrollBar(), (5, session.generation_for(5))
    bar.setValue(40)
    before = session.runs.trace(looked[1])
    scrolled = bar.value()
    with chat.open("a", encoding="utf-8") as file:
        file.write(line("Wren", "Who rings the bell?") + line("Ottoline", "The wind."))
    qtbot.waitUntil(lambda: shown(window) == 42)
    settle(window)
    assert (window.selection.message, window.selection.generation) == looked
    assert bar.value() == scrolled
    assert session.runs.trace(looked[1]) is before
    trace = session.runs.trace(session.generation_for(41))
    assert [each.title for each in trace.injections] == ["Bell"]
    assert not window.features.chat.files.unsaved


@pytest.mark.long
def test_a_line_that_is_being_written_is_waited_for(window: MainWindow, qtbot: Any) -> None:
    chat, new = window.session.project.chat_path, line("Wren", "Who rings the bell?")
    chat.write_text(BEFORE + new[:20], "utf-8")
    window.session.chat_follower.look()
    settle(window)
    assert (shown(window), window.bars.texts) == (40, [])
    chat.write_text(BEFORE + new, "utf-8")
    qtbot.waitUntil(lambda: shown(window) == 41)
    settle(window)


@pytest.mark.long
def test_to_a_chat_that_was_changed_here_new_messages_are_added(window: MainWindow, qtbot: Any) -> None:
    session = window.session
    chat = session.project.chat
    mine = replace(chat, messages=(chat.messages[0], *chat.messages[2:]))
    session.parts.adjust("delete a message", chat=mine)
    settle(window)
    session.project.chat_path.write_text(BEFORE + line("Wren", "More."), "utf-8")
    qtbot.waitUntil(lambda: shown(window) == 40)
    settle(window)
    assert [each.text for each in session.project.chat.messages[:2]] == ["Wren 0", "Wren 1"]
    assert session.project.chat.messages[-1].text == "More."
    assert window.features.chat.files.unsaved
    window.run("chat.save")
    settle(window)
    left = [json.loads(each).get("mes") for each in session.project.chat_path.read_text("utf-8").splitlines()]
    assert left == [None, "Wren 0", *(f"{name} {at}" for at in range(1, 20) for name in ("Wren", "Ottoline")), "More."]


@pytest.mark.long
def test_where_both_changed_the_same_what_was_changed_here_stays_and_is_said(window: MainWindow, qtbot: Any) -> None:
    session = window.session
    mine = replace(session.project.chat, messages=session.project.chat.messages[:-1])
    session.parts.adjust("delete a message", chat=mine)
    settle(window)
    session.project.chat_path.write_text(BEFORE.replace("Ottoline 19", "Another"), "utf-8")
    qtbot.waitUntil(lambda: any("by another program" in text for text in window.bars.texts))
    assert session.project.chat is mine


def texts(path: Path) -> list[str]:
    return [json.loads(each)["mes"] for each in path.read_text("utf-8").splitlines()[1:]]


@pytest.fixture
def unwatched(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> MainWindow:
    """Nothing is heard of the file; its first message is taken out here, and that is not saved."""
    monkeypatch.setattr(window.session.chat_follower, "look", lambda: None)
    project = window.session.project
    window.session.parts.adjust("delete a message", chat=replace(project.chat, messages=project.chat.messages[1:]))
    settle(window)
    return window


@pytest.mark.long
def test_reading_again_keeps_what_came_and_what_was_changed_here(unwatched: MainWindow) -> None:
    path = unwatched.session.project.chat_path
    path.write_text(BEFORE + line("Wren", "More."), "utf-8")
    QTest.keyClick(unwatched.windowHandle(), Qt.Key.Key_F5)
    settle(unwatched)
    assert [each.text for each in unwatched.session.project.chat.messages][::39] == ["Ottoline 0", "More."]
    unwatched.run("chat.save")
    settle(unwatched)
    assert texts(path)[::39] == ["Ottoline 0", "More."]
    unwatched.run("adjust.undo")
    settle(unwatched)
    assert [each.text for each in unwatched.session.project.chat.messages][::40] == ["Wren 0", "More."]


@pytest.mark.long
def test_reading_again_says_what_cannot_go_together_and_nothing_is_lost(unwatched: MainWindow) -> None:
    path = unwatched.session.project.chat_path
    theirs = BEFORE.replace("Ottoline 19", "Another")
    path.write_text(theirs, "utf-8")
    unwatched.run("vault.reload")
    settle(unwatched)
    assert any("by another program" in text for text in unwatched.bars.texts)
    assert [each.text for each in unwatched.session.project.chat.messages][::38] == ["Ottoline 0", "Ottoline 19"]
    unwatched.run("chat.save")
    settle(unwatched)
    assert path.read_text("utf-8") == theirs  # it asks first
    for box in QApplication.topLevelWidgets():
        if isinstance(box, QMessageBox):
            box.close()


@pytest.mark.always
def test_vaults_that_cannot_be_read_are_told_in_one_bar_until_they_can_be_again(window: MainWindow) -> None:
    session = window.session
    follower = session.reading._follower
    vault = session.project.vault_folders[0]
    news = LibraryNews(session.project.index, RefreshReason.MANUAL)

    def hear(*failures: str) -> list[str]:
        follower._hear(follower._follows, replace(news, failures=failures))
        return window.bars.texts

    assert hear() == []
    assert hear(f"{vault} is away.", "b is away.") == [f"{vault} is away. b is away."]
    assert hear("b is away.") == ["b is away."]
    assert hear() == ["The vault can be read again."]
    window.bars.clear()
    assert hear() == []
    hear("b is away.")
    window.bars.clear()
    follower.take(follower._follows)  # other vaults, or the same ones anew
    assert hear() == []
