"""What answers about a chat rest on, in the window: hidden messages of the past, and the context size."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QRadioButton, QScrollArea
from pytestqt.qtbot import QtBot

from lorestudio.domain.chat import Generation
from lorestudio.domain.history import HiddenSince
from lorestudio.exchange.regex_scripts import RegexScript, RegexScripts, ScriptPlace
from lorestudio.studio.project.basis import KeptBasis, basis_path
from lorestudio.studio.prompt.setup import PromptSetup
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.ui.features.chat.basis import BasisDialog
from lorestudio.ui.shell.main_window import MainWindow
from lorestudio.ui.widgets.cells import as_text
from tests.ui.conftest import menu_of_row
from tests.ui.worlds import make_project

SAID = ("Welcome.", "One.", "Two.", "Three.", "Four.", "Five.")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "chats" / "Ada.jsonl"
    path.parent.mkdir()
    records: list[dict[str, object]] = [{"user_name": "Wren", "character_name": "Ada", "chat_metadata": {}}]
    for at, text in enumerate(SAID):
        who = {"name": "Ada" if at % 2 == 0 else "Wren", "is_user": at % 2 == 1}
        records.append({**who, "is_system": at < 3, "mes": text})
    path.write_text("\n".join(map(json.dumps, records)), "utf-8")
    return path


@pytest.fixture
def opened(make_window: Callable[..., MainWindow], path: Path, tmp_path: Path, qtbot: QtBot) -> MainWindow:
    window = make_window(make_project(tmp_path / "vault"), make_simulator=Simulator)
    settle(window, qtbot)
    window.session.reading.open_chat(path)
    settle(window, qtbot)
    return window


def settle(window: MainWindow, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: window.session.jobs.idle and not window.session.busy, timeout=20_000)


def dialog(window: MainWindow) -> BasisDialog:
    return next(each for each in window.findChildren(BasisDialog) if each.isVisible())


def test_the_first_choice_has_the_keyboard_and_nothing_has_to_be_scrolled(opened: MainWindow) -> None:
    opened.run("chat.basis")
    made = dialog(opened)
    assert made.focusWidget() is made.fields[0].focus_target()
    (area,) = made.findChildren(QScrollArea)
    assert area.verticalScrollBar().maximum() == area.horizontalScrollBar().maximum() == 0
    downwards = [each.mapTo(made, QPoint(0, 0)).y() for each in (*made.fields, made.known, made.title, made.rows)]
    assert downwards == sorted(downwards), "the title stands over what it is of"
    made.close()


@pytest.mark.dressed
def test_hidden_messages_have_room_to_be_read(opened: MainWindow) -> None:
    opened.run("chat.basis")
    made = dialog(opened)
    rows = made.rows
    seen = rows.visualRect(made.model.index(0, 0))
    assert rows.viewport().rect().contains(seen), "the first row is cut off"
    (area,) = made.findChildren(QScrollArea)
    assert area.verticalScrollBar().maximum() == 0
    assert [each.text() for each in made.fields[0].findChildren(QRadioButton)] == [
        "As it was then: a message was in sight until it was hidden",
        "As it is now: what is hidden today was always hidden",
    ], "a choice is called by its meaning, not as files spell it"
    made.close()


def words(window: MainWindow) -> list[str]:
    model = window.chat.model
    return [model.row(at).seen for at in range(len(SAID))]


def test_that_messages_are_hidden_since_they_were_said_can_be_read_whole(opened: MainWindow) -> None:
    opened.run("chat.basis")
    since = dialog(opened).since
    since.setValue(0)
    line = since.lineEdit()
    room = line.width() - line.textMargins().left() - line.textMargins().right()
    assert line.text() == "it was said"
    assert line.fontMetrics().horizontalAdvance(line.text()) < room


def test_a_hidden_reply_can_be_chosen_and_the_chat_says_what_was_in_sight(opened: MainWindow) -> None:
    opened.chat.choose(2)
    assert opened.selection.generation == Generation(2)
    assert opened.session.runs.trace(Generation(2)) is not None
    assert words(opened) == ["hidden today, in sight then (assumed)"] * 2 + [""] * 4
    assert opened.trace.summary.said == "2 hidden messages in sight then (assumed)"
    assert "messages #0 to #1" in opened.trace.summary.toolTip()
    opened.chat.choose(len(SAID))
    assert "in sight then" not in opened.trace.summary.said
    assert words(opened) == [""] * 6


def test_a_persons_word_is_kept_beside_the_chat_and_taken_back(opened: MainWindow, path: Path, qtbot: QtBot) -> None:
    before = path.read_bytes()
    since = opened.commands.actions["message.since"]
    opened.chat.choose(3)
    opened.context.update_actions()
    shown = since.isEnabled()
    opened.chat.choose(1)
    opened.context.update_actions()
    assert (shown, since.isEnabled()) == (False, True), "the first three are hidden, the fourth is not"
    opened.run("message.since")
    asked = dialog(opened)
    assert (asked.first.value(), asked.last.value()) == (1, 1)
    asked.since.setValue(2)
    qtbot.mouseClick(asked.say, Qt.MouseButton.LeftButton)
    assert [row.messages for row in asked.model.rows] == ["#0", "#1", "#2"]
    menu = menu_of_row(asked.rows, asked.model.index(1, 0))
    QTest.keyClick(menu, Qt.Key.Key_Down)
    QTest.keyClick(menu, Qt.Key.Key_Return)
    assert QGuiApplication.clipboard().text() == as_text(asked.model.texts([1]))
    asked.accepted_button.click()
    settle(opened, qtbot)
    project = opened.session.project
    assert project is not None
    assert project.basis.hidden == (HiddenSince(1, 1, 2),)
    assert json.loads(basis_path(path).read_text("utf-8")) == {"hidden": [[1, 1, 2]]}
    assert path.read_bytes() == before
    opened.chat.choose(2)
    assert words(opened) == ["hidden today, in sight then (assumed)"] + [""] * 5
    opened.session.parts.undo()
    settle(opened, qtbot)
    assert not basis_path(path).exists()
    assert words(opened)[1] == "hidden today, in sight then (assumed)"


@pytest.mark.always
def test_as_it_is_now_nothing_can_be_said_and_the_context_size_decides(opened: MainWindow, qtbot: QtBot) -> None:
    opened.run("chat.basis")
    asked = dialog(opened)
    fields = {field.declaration.name: field for field in asked.fields}
    fields["history"].moved.emit("now")
    fields["context_size"].moved.emit(4000)
    assert not asked.say.isEnabled()
    assert "3 messages are taken for hidden all along" in asked.hint.text()
    assert asked.known.text().startswith("Context: 4,000 tokens.")
    asked.accepted_button.click()
    settle(opened, qtbot)
    opened.chat.choose(4)
    assert words(opened) == [""] * 6
    assert opened.session.project is not None
    assert opened.session.project.known_context == 4000


@pytest.mark.always
def test_a_word_on_messages_follows_what_is_put_in_before_them(opened: MainWindow, qtbot: QtBot) -> None:
    opened.session.parts.adjust("word", basis=KeptBasis(hidden=(HiddenSince(1, 2, 4),)))
    settle(opened, qtbot)
    opened.chat.choose(0)
    opened.chat.view.setFocus()
    opened.run("message.delete")
    settle(opened, qtbot)
    assert opened.session.project is not None
    assert opened.session.project.basis.hidden == (HiddenSince(0, 1, 3),)
    assert QApplication.activeModalWidget() is None


def test_a_branch_takes_the_words_along(opened: MainWindow, path: Path, qtbot: QtBot) -> None:
    opened.session.parts.adjust("word", basis=KeptBasis(hidden=(HiddenSince(1, 2, 4),)))
    settle(opened, qtbot)
    opened.chat.choose(1)
    opened.run("message.branch")
    qtbot.waitUntil(lambda: len(list(path.parent.glob("Branch*.lorestudio.json"))) == 1, timeout=20_000)
    kept = next(path.parent.glob("Branch*.lorestudio.json"))
    assert json.loads(kept.read_text("utf-8")) == {"hidden": [[1, 1, 4]]}
    settle(opened, qtbot)


def test_scripts_that_are_chosen_change_what_is_searched_and_as_stored_takes_them_away(
    opened: MainWindow, qtbot: QtBot
) -> None:
    made = RegexScript(
        name="Veil", find="/Five/", replace="Six", placement=frozenset({ScriptPlace.USER_INPUT}), prompt_only=True
    )
    opened.session.parts.take_setup(PromptSetup(regex=(RegexScripts((made,)),), regex_paths=(Path("scripts.json"),)))
    settle(opened, qtbot)
    opened.chat.choose(len(SAID))
    assert words(opened) == [""] * 5 + ["searched as changed by regex script “Veil”"]
    assert opened.trace.summary.said == "1 text searched otherwise than stored"
    opened.run("chat.basis")
    asked = dialog(opened)
    assert "Regex scripts from scripts.json." in asked.known.text()
    next(field for field in asked.fields if field.declaration.name == "scan_text").moved.emit("stored")
    asked.accepted_button.click()
    settle(opened, qtbot)
    assert words(opened) == [""] * 6
