"""Writing, editing and saving the chat in the window, and getting replies."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QDialog, QLineEdit, QMenu, QMessageBox, QPlainTextEdit, QPushButton
from pytestqt.qtbot import QtBot

from lorestudio.domain.records import replace
from lorestudio.exchange.chat_preset import load_preset
from lorestudio.llm.errors import ErrorKind
from lorestudio.llm.messages import AnswerSource
from lorestudio.llm.stand_in import PLACEHOLDER
from lorestudio.studio.chat.editing import Voice
from lorestudio.studio.project.answering import AnswerKind, ChatReply, ChatRequest, LlmError, Source
from lorestudio.studio.prompt.setup import Persona, PromptSetup, spelled, with_preset
from lorestudio.studio.replay.run_store import chat_id
from lorestudio.ui.features.chat import actions as chat_actions
from lorestudio.ui.features.chat import reply as reply_work
from lorestudio.ui.features.chat.composer import Composer
from lorestudio.ui.features.chat.prompt_setup import PromptSetupDialog
from lorestudio.ui.shell.main_window import MainWindow
from lorestudio.ui.shell.words import Notice
from lorestudio.ui.state import project_files
from lorestudio.ui.widgets import dialogs
from lorestudio.vault.file_lock import OpenVaults
from tests.ui.conftest import drain
from tests.ui.worlds import make_project

CHAT = (
    '{"user_name":"Wren","character_name":"Ada","chat_metadata":{}}\n'
    '{"name":"Ada","mes":"Welcome."}\n'
    '{"mes": cut off\n'
    '{"name":"Wren","is_user":true,"mes":"The fortress?"}\n'
    '{"name":"Ada","mes":"b","swipes":["a","b"],"swipe_id":1}'
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "chats" / "Ada.jsonl"
    path.parent.mkdir()
    path.write_text(CHAT, "utf-8")
    return path


@pytest.fixture
def opened(make_window: Callable[..., MainWindow], tmp_path: Path, path: Path, qtbot: QtBot) -> MainWindow:
    window = make_window(make_project(tmp_path / "vault", chat=False))
    window.session.reading.open_chat(path)
    settle(window, qtbot)
    return window


def test_the_edit_of_a_message_that_is_gone_meanwhile_changes_nothing(opened: MainWindow, qtbot: QtBot) -> None:
    before = texts(opened)
    opened.chat.delegate.edited.emit(len(before), "Late.")
    opened.chat.delegate.edited.emit(len(before) - 1, "In time.")
    settle(opened, qtbot)
    assert texts(opened) == [*before[:-1], "In time."]


def settle(window: MainWindow, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: window.session.jobs.idle and not window.session.busy, timeout=20_000)


def texts(window: MainWindow) -> list[str]:
    project = window.session.project
    assert project is not None
    assert project.chat is not None
    return [message.text for message in project.chat.messages]


def box() -> QMessageBox:
    found = [each for each in QApplication.topLevelWidgets() if isinstance(each, QMessageBox) and each.isVisible()]
    return found[-1]


def press(words: str) -> None:
    button = next(each for each in box().buttons() if words in each.text().replace("&", ""))
    button.click()


class Answers:
    """Says what it was given, piece by piece, or fails."""

    name = "test"
    label = "Test"

    def __init__(
        self, hear: Callable[[str], None], pieces: list[str], error: Exception | None, wait: bool, finish: str
    ) -> None:
        self._hear, self._pieces, self._error, self._wait, self._finish = hear, pieces, error, wait, finish

    async def answer(self, request: ChatRequest) -> ChatReply:
        ASKED.append(request)
        for piece in self._pieces:
            self._hear(piece)
        if self._wait:
            await asyncio.Event().wait()
        if self._error is not None:
            raise self._error
        return ChatReply("".join(self._pieces), source="Test · small", finish=self._finish)


ASKED: list[ChatRequest] = []


@pytest.fixture
def answer(monkeypatch: pytest.MonkeyPatch, opened: MainWindow) -> Callable[..., None]:
    """Choose what the writer of replies says."""
    ASKED.clear()
    opened.settings.setValue("chat/writer", "recorded")

    def say(*pieces: str, error: Exception | None = None, wait: bool = False, finish: str = "stop") -> None:
        def make(
            _source: Source, _chat: object, _connections: object, observer: object = None, *, fresh: bool = False
        ) -> object:
            hear: Callable[[str], None] = getattr(observer, "heard", lambda _piece: None)
            made: AnswerSource = Answers(hear, list(pieces), error, wait, finish)
            return made, "small"

        monkeypatch.setattr(reply_work, "make_answers", make)

    return say


@pytest.mark.long
def test_writing_with_the_keyboard(opened: MainWindow, path: Path, qtbot: QtBot) -> None:
    window, composer = opened, opened.features.chat.composer
    assert composer.isVisibleTo(window)
    assert not window.features.chat.files.unsaved
    window.run("compose.focus")
    qtbot.keyClicks(composer.field, "I run.")
    qtbot.keyClick(composer.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClicks(composer.field, "Fast.")
    qtbot.keyClick(composer.field, Qt.Key.Key_Return)
    settle(window, qtbot)
    assert texts(window)[-1] == "I run.\nFast."
    assert composer.field.toPlainText() == ""
    assert window.features.chat.files.unsaved
    assert path.read_text() == CHAT
    assert "not saved" in window.docks["chat"].bar._note.text()
    window.run("adjust.undo")
    settle(window, qtbot)
    assert texts(window) == ["Welcome.", "The fortress?", "b"]
    assert not window.features.chat.files.unsaved


def test_writing_as_somebody_else(opened: MainWindow, qtbot: QtBot) -> None:
    composer = opened.features.chat.composer
    composer.voice.setCurrentIndex(composer.voice.findData(Voice.SYSTEM))
    composer.field.setPlainText("Rain.")
    composer.send.click()
    settle(opened, qtbot)
    assert opened.session.project is not None
    assert opened.session.project.chat is not None
    assert opened.session.project.chat.messages[-1].extra["type"] == "narrator"


def test_editing_in_place(opened: MainWindow, qtbot: QtBot) -> None:
    window = opened
    window.show()
    window.chat.choose(1)
    window.run("message.edit")
    field = window.chat.view.viewport().findChild(QPlainTextEdit)
    assert isinstance(field, QPlainTextEdit)
    assert field.toPlainText() == "The fortress?"
    qtbot.keyClicks(field, " And who")  # the caret is at the end
    qtbot.keyClick(field, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    settle(window, qtbot)
    assert texts(window) == ["Welcome.", "The fortress? And who", "b"]
    assert window.selection.message == 1


@pytest.mark.long
def test_hiding_deleting_and_swipes(opened: MainWindow, qtbot: QtBot) -> None:
    window = opened
    window.chat.choose(1)
    window.run("message.hide")
    settle(window, qtbot)
    assert window.session.project is not None
    assert window.session.project.chat is not None
    assert window.session.project.chat.messages[1].is_system
    window.run("message.delete")
    settle(window, qtbot)
    assert texts(window) == ["Welcome.", "b"]
    window.chat.choose(1)
    window.run("swipe.previous")
    assert window.commands.actions["swipe.choose"].isEnabled()
    window.run("swipe.choose")
    settle(window, qtbot)
    assert texts(window) == ["Welcome.", "a"]
    assert window.session.parts.adjustments.undo_title == "swipe 1 of #1"
    window.run("swipe.delete")
    settle(window, qtbot)
    assert texts(window) == ["Welcome.", "b"]
    assert window.session.parts.adjustments.undo_title == "delete swipe 1 of #1"
    assert not window.commands.actions["swipe.delete"].isEnabled()


def test_another_swipe_is_written_by_hand(opened: MainWindow, qtbot: QtBot) -> None:
    window = opened
    window.chat.choose(2)
    window.run("swipe.write")
    settle(window, qtbot)
    assert window.session.project is not None
    assert window.session.project.chat is not None
    message = window.session.project.chat.messages[2]
    assert (message.swipes, message.swipe, message.text) == (("a", "b", ""), 2, "")


def test_the_pointer_is_followed_without_a_button_down(opened: MainWindow) -> None:
    assert opened.chat.view.hasMouseTracking()  # arrows and folds light up under it


def test_a_line_that_cannot_be_read_is_seen(opened: MainWindow) -> None:
    assert "line 3 before this cannot be read" in opened.chat.model.row(1).describe()
    assert opened.commands.actions["chat.broken"].isEnabled()


def test_saving_writes_the_file_and_nothing_else_does(opened: MainWindow, path: Path, qtbot: QtBot) -> None:
    opened.features.chat.composer.written.emit("I run.", Voice.YOU)
    settle(opened, qtbot)
    opened.run("chat.save")
    settle(opened, qtbot)
    lines = path.read_text().split("\n")
    assert lines[:5] == CHAT.split("\n")
    assert '"mes":"I run."' in lines[5]
    assert not opened.features.chat.files.unsaved


@pytest.mark.always
def test_a_file_that_was_changed_meanwhile_is_asked_about(opened: MainWindow, path: Path, qtbot: QtBot) -> None:
    opened.features.chat.composer.written.emit("I run.", Voice.YOU)
    settle(opened, qtbot)
    path.write_text(CHAT + "\n", "utf-8")
    opened.run("chat.save")
    settle(opened, qtbot)
    assert path.read_text() == CHAT + "\n"
    press("Overwrite")
    settle(opened, qtbot)
    assert '"mes":"I run."' in path.read_text()


@pytest.mark.always
def test_closing_asks_about_an_unsaved_chat(opened: MainWindow, path: Path, qtbot: QtBot) -> None:
    opened.show()
    opened.features.chat.composer.written.emit("I run.", Voice.YOU)
    settle(opened, qtbot)
    opened.close()
    assert opened.isVisible()
    press("Save chat")
    qtbot.waitUntil(lambda: not opened.isVisible(), timeout=10_000)
    assert '"mes":"I run."' in path.read_text()


def test_after_an_error_of_the_program_the_next_start_offers_an_unsaved_chat(
    opened: MainWindow, tmp_path: Path, qtbot: QtBot
) -> None:
    opened.features.chat.keep_in(tmp_path / "kept")
    opened.features.chat.composer.written.emit("I run.", Voice.YOU)
    settle(opened, qtbot)
    opened.went_wrong.emit(RuntimeError("the tap “drips”"))
    settle(opened, qtbot)
    (kept,) = (tmp_path / "kept" / "unsaved-chats").glob("*.jsonl")
    assert '"mes":"I run."' in kept.read_text("utf-8")
    opened.run("help.details")
    dialog = opened.findChildren(QDialog)[-1]
    next(each for each in dialog.findChildren(QPushButton) if each.text() == "Copy").click()
    assert "RuntimeError: the tap “…”" in QApplication.clipboard().text()
    dialog.close()

    opened.features.chat.keep_in(tmp_path / "kept")  # as the next start does
    assert kept.name in box().text()
    press("Throw away")
    assert not kept.exists()


@pytest.mark.always
def test_a_second_window_on_the_vault_is_told(opened: MainWindow, tmp_path: Path) -> None:
    project = opened.session.project
    assert project is not None
    folders = [folder for folder in project.folders.values() if folder is not None]
    other = OpenVaults(tmp_path / "kept" / "open")
    other.show(folders)
    opened.features.notes.keep_in(tmp_path / "kept")
    told = [text for text in opened.context.bars.texts if "open in another window" in text]
    assert folders
    assert len(told) == 1
    other.show(())


@pytest.mark.parametrize("thrown", [False, True], ids=["kept", "thrown away by another window"])
def test_a_chat_that_is_saved_after_an_error_is_not_offered(
    opened: MainWindow, tmp_path: Path, qtbot: QtBot, thrown: bool
) -> None:
    opened.features.chat.keep_in(tmp_path / "kept")
    opened.features.chat.composer.written.emit("I run.", Voice.YOU)
    settle(opened, qtbot)
    opened.went_wrong.emit(RuntimeError())
    settle(opened, qtbot)
    (copy,) = (tmp_path / "kept" / "unsaved-chats").iterdir()
    if thrown:
        copy.unlink()
    opened.run("chat.save")
    settle(opened, qtbot)
    assert not copy.exists()
    assert any(text.startswith("The chat was saved to ") for text in opened.bars.texts)


def test_leaving_the_chat_asks_first_and_may_throw_away(opened: MainWindow, path: Path, qtbot: QtBot) -> None:
    assert not opened.context.keep_chat(lambda: None)
    opened.features.chat.composer.written.emit("I run.", Voice.YOU)
    settle(opened, qtbot)
    opened.run("demo.open")
    press("Cancel")
    assert texts(opened)[-1] == "I run."
    opened.features.chat.files.ask_before_leaving(lambda: opened.session.reading.open_chat(path))
    press("Throw away")
    settle(opened, qtbot)
    assert texts(opened) == ["Welcome.", "The fortress?", "b"]


@pytest.mark.always
def test_a_branch_lies_beside_the_chat(opened: MainWindow, path: Path, qtbot: QtBot) -> None:
    path.with_name("Ada.answers.jsonl").write_text("recorded")
    opened.chat.choose(1)
    opened.run("message.branch")
    settle(opened, qtbot)
    branch, answers = sorted(path.parent.glob("Branch #1 - *.jsonl"), key=lambda each: len(each.name))
    assert (answers.name, answers.read_text()) == (f"{branch.stem}.answers.jsonl", "recorded")
    assert '"main_chat":"Ada"' in branch.read_text()
    assert path.read_text() == CHAT
    assert opened.features.chat.files.unsaved  # the mark in the chat itself
    assert f"The branch is in {branch.name}, beside the chat. Open it with “Open chat…”." in opened.bars.texts
    assert opened.session.parts.adjustments.undo_title == "mark of the branch at #1"


# ---- replies ---------------------------------------------------------------------------------------------------------


@pytest.mark.always
def test_a_reply_is_written_into_the_chat(opened: MainWindow, answer: Callable[..., None], qtbot: QtBot) -> None:
    answer("Skarn ", "circles.")
    voice = opened.features.chat.composer.voice
    assert [voice.itemText(place) for place in range(3)] == ["Wren", "Ada", "System"]
    opened.features.chat.composer.written.emit("And Skarn?", Voice.YOU)
    qtbot.waitUntil(lambda: texts(opened)[-1] == "Skarn circles.", timeout=20_000)
    settle(opened, qtbot)
    assert [(each.role, each.text) for each in ASKED[0].messages][-2:] == [("assistant", "b"), ("user", "And Skarn?")]
    assert not opened.features.chat.replies.busy
    assert not opened.features.chat.composer.reply_box.isVisibleTo(opened)
    assert opened.session.parts.adjustments.undo_title == "reply #4"


def test_the_list_stays_at_the_message_when_the_chat_is_another_one(opened: MainWindow, qtbot: QtBot) -> None:
    """A list without a current row goes to its first one as soon as it has the keyboard."""
    opened.chat.choose(1)
    project = opened.session.project
    longer = replace(project.chat, messages=(*project.chat.messages, project.chat.messages[0]))
    opened.session.set_project(replace(project, chat=longer), renewed="The chat was read again.")
    settle(opened, qtbot)
    assert (opened.selection.message, opened.chat.view.currentIndex().row()) == (1, 1)
    opened.entry.setFocus()
    opened.chat.view.setFocus()
    assert opened.selection.message == 1


def test_a_changed_setting_leaves_the_list_as_it_was_looked_at(opened: MainWindow, qtbot: QtBot) -> None:
    opened.chat.model.toggle_expanded(1)
    project = opened.session.project
    settings = project.settings.model_copy(update={"scan_depth": 7})
    opened.session.parts.adjust("depth 7", settings=settings)
    settle(opened, qtbot)
    assert opened.chat.model.row(1).expanded
    opened.session.set_project(replace(project, chat=replace(project.chat)))  # another one, as when it is opened
    settle(opened, qtbot)
    assert not opened.chat.model.row(1).expanded


@pytest.mark.always
@pytest.mark.parametrize("gained", ["", "a hidden message", "a swipe"])
def test_a_plain_text_asks_only_where_it_would_lose_something(
    window: MainWindow, tmp_path: Path, qtbot: QtBot, gained: str
) -> None:
    settle(window, qtbot)
    path = tmp_path / "talk.txt"
    path.write_text("Ann: Light the lamp.\n\nWren: Done.\n", "utf-8")
    window.session.reading.open_chat(path)
    settle(window, qtbot)
    window.features.chat.composer.written.emit("And the bell?", Voice.YOU)
    settle(window, qtbot)
    if gained == "a hidden message":
        window.chat.choose(1)
        window.run("message.hide")
        settle(window, qtbot)
    elif gained:
        chat = window.session.chat
        two = replace(chat.messages[1], swipes=(chat.messages[1].text, "Not yet."))
        window.session.parts.adjust("another swipe", chat=chat.with_message(1, two))
        settle(window, qtbot)
    window.run("chat.save")
    settle(window, qtbot)
    if gained:
        assert "Plain text cannot hold all of this chat" in box().text()
        assert "bell" not in path.read_text("utf-8")
        press("Save as text anyway")
        settle(window, qtbot)
    assert "And the bell?" in path.read_text("utf-8")


@pytest.mark.always
def test_a_reply_that_ends_at_the_limit_says_so(opened: MainWindow, answer: Callable[..., None], qtbot: QtBot) -> None:
    answer("Skarn circ", finish="length")
    opened.run("reply.get")
    qtbot.waitUntil(lambda: texts(opened)[-1] == "Skarn circ", timeout=20_000)
    settle(opened, qtbot)
    assert any("cut off" in text and "“Longest reply”" in text for text in opened.bars.texts)


@pytest.mark.dressed
def test_a_narrow_composer_keeps_a_line_for_the_message(qtbot: QtBot) -> None:
    composer = Composer()
    qtbot.addWidget(composer)
    composer.show()
    composer.resize(360, 100)
    drain()
    assert composer.field.geometry().bottom() < composer.voice.geometry().top()
    assert composer.field.width() > 300
    composer.resize(520, 100)
    drain()
    assert composer.field.geometry().left() > composer.voice.geometry().right()


@pytest.mark.long
def test_another_reply_is_a_swipe(opened: MainWindow, answer: Callable[..., None], qtbot: QtBot) -> None:
    answer("c")
    opened.run("reply.again")
    qtbot.waitUntil(lambda: texts(opened)[-1] == "c", timeout=20_000)
    settle(opened, qtbot)
    assert opened.session.project is not None
    assert opened.session.project.chat is not None
    assert opened.session.project.chat.messages[2].swipes == ("a", "b", "c")
    assert [each.text for each in ASKED[0].messages][-1] == "The fortress?"


@pytest.mark.always
def test_what_came_before_a_stop_is_the_persons_to_keep(
    opened: MainWindow, answer: Callable[..., None], qtbot: QtBot
) -> None:
    def can() -> set[str]:
        opened.update_actions()
        names = "reply.get", "reply.again", "reply.stop"
        return {name for name in names if opened.commands.actions[name].isEnabled()}

    answer("Skarn circ", wait=True)
    composer = opened.features.chat.composer
    assert can() == {"reply.get", "reply.again"}
    opened.run("reply.get")
    assert can() == {"reply.stop"}
    qtbot.waitUntil(lambda: opened.chat.model.row(3).text == "Skarn circ", timeout=20_000)
    assert opened.chat.model.row(3).writing == "being written…"
    assert not composer.reply_text.isVisibleTo(opened)
    opened.run("reply.stop")
    qtbot.waitUntil(lambda: composer.deciding, timeout=20_000)
    assert composer.reply_label.text() == "Stopped. Keep what came, or throw it away."
    assert texts(opened)[-1] == "b"
    assert composer.reply_text.toPlainText() == opened.chat.model.row(3).text == "Skarn circ"
    composer.reply_text.setPlainText("Skarn circles.")
    assert (opened.chat.model.row(3).text, opened.chat.model.row(3).writing) == ("Skarn circles.", "not kept yet")
    composer.keep.click()
    settle(opened, qtbot)
    assert texts(opened)[-1] == "Skarn circles."
    assert can() == {"reply.get", "reply.again"}


def test_nothing_is_written_into_another_chat(opened: MainWindow, answer: Callable[..., None], qtbot: QtBot) -> None:
    answer("Skarn circ", wait=True)
    replies = opened.features.chat.replies
    opened.run("reply.get")
    qtbot.waitUntil(lambda: opened.chat.model.row(3).text == "Skarn circ", timeout=20_000)
    opened.session.set_project(make_project())
    assert not replies.busy
    settle(opened, qtbot)
    assert texts(opened)[-1] == "I run."


@pytest.mark.long
def test_a_failure_in_the_middle_loses_nothing(opened: MainWindow, answer: Callable[..., None], qtbot: QtBot) -> None:
    answer("Skarn", error=broken("the reply broke off"))
    composer = opened.features.chat.composer
    opened.run("reply.again")
    qtbot.waitUntil(lambda: composer.deciding, timeout=20_000)
    assert "broke off" in composer.reply_label.text()
    composer.throw.click()
    settle(opened, qtbot)
    assert opened.session.project is not None
    assert opened.session.project.chat is not None
    assert opened.session.project.chat.messages[2].swipes == ("a", "b")
    assert not opened.features.chat.replies.busy


@pytest.mark.long
def test_another_swipe_grows_in_its_own_message(opened: MainWindow, answer: Callable[..., None], qtbot: QtBot) -> None:
    answer("Skarn", wait=True)
    opened.run("reply.again")
    qtbot.waitUntil(lambda: opened.chat.model.row(2).text == "Skarn", timeout=20_000)
    assert (opened.chat.model.row(2).swipe, opened.chat.model.row(2).swipes) == (2, 3)
    assert "being written" in opened.chat.model.row(2).describe()
    opened.run("reply.stop")
    qtbot.waitUntil(lambda: opened.features.chat.composer.deciding, timeout=20_000)
    opened.features.chat.composer.throw.click()
    settle(opened, qtbot)
    assert (opened.chat.model.row(2).text, opened.chat.model.row(2).writing) == ("b", "")


@pytest.mark.always
def test_the_list_follows_a_reply_only_where_its_end_was_in_sight(
    opened: MainWindow, answer: Callable[..., None], qtbot: QtBot
) -> None:
    view, bar = opened.chat.view, opened.chat.view.verticalScrollBar()
    answer("Line.\n" * 80, wait=True)
    bar.setValue(bar.maximum())
    opened.run("reply.get")
    qtbot.waitUntil(lambda: opened.chat.model.row(3).text.count("\n") == 80, timeout=20_000)
    qtbot.waitUntil(lambda: 0 < bar.maximum() == bar.value(), timeout=20_000)
    assert view.indexAt(QPoint(5, view.viewport().height() - 5)).row() == 3
    bar.setValue(0)  # the person scrolls up: what is read stays
    assert opened.features.chat.composer.show_reply.isVisibleTo(opened)
    opened.features.chat.streaming.hear("More.\n" * 40)
    qtbot.waitUntil(lambda: "More." in opened.chat.model.row(3).text, timeout=20_000)
    assert bar.value() == 0
    bar.setValue(bar.maximum() // 2)
    read = view.top()
    chat = opened.session.chat
    first = replace(chat.messages[0], text="Come in.")
    opened.session.parts.adjust("greeting", chat=replace(chat, messages=(first, *chat.messages[1:])))
    assert "More." in opened.chat.model.row(3).text
    qtbot.waitUntil(lambda: view.top() == read, timeout=2_000)  # also where the chat is changed meanwhile
    opened.features.chat.composer.show_reply.click()
    assert bar.value() == bar.maximum()
    assert not opened.features.chat.composer.show_reply.isVisibleTo(opened)
    opened.run("reply.stop")
    qtbot.waitUntil(lambda: opened.features.chat.composer.deciding, timeout=20_000)
    opened.features.chat.composer.keep.click()
    settle(opened, qtbot)
    qtbot.waitUntil(lambda: bar.value() == bar.maximum(), timeout=20_000)


def test_a_failure_before_anything_came_says_what_to_do(
    opened: MainWindow, answer: Callable[..., None], qtbot: QtBot
) -> None:
    answer(error=broken("no connection"))
    opened.run("reply.get")
    qtbot.waitUntil(lambda: "no connection" in opened.bars.details() or not opened.features.chat.replies.busy)
    settle(opened, qtbot)
    assert texts(opened)[-1] == "b"
    assert opened.commands.actions["reply.get"].isEnabled()


@pytest.mark.always
@pytest.mark.parametrize(("command", "offered"), [("reply.get", "Get a reply"), ("reply.again", "Get another reply")])
def test_a_failure_offers_what_failed_and_goes_when_the_next_reply_begins(
    opened: MainWindow, answer: Callable[..., None], qtbot: QtBot, command: str, offered: str
) -> None:
    answer(error=broken("no connection"))
    opened.run(command)
    qtbot.waitUntil(lambda: opened.bars.texts != [], timeout=20_000)
    settle(opened, qtbot)
    (again,) = (each for each in opened.bars.findChildren(QPushButton) if each.text() == offered)
    answer("Skarn circles.")
    qtbot.mouseClick(again, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: texts(opened)[-1] == "Skarn circles.", timeout=20_000)
    settle(opened, qtbot)
    assert len(texts(opened)) == (4 if command == "reply.get" else 3)
    assert not any("There is no reply" in text for text in opened.bars.texts)


def broken(words: str) -> LlmError:
    return LlmError(ErrorKind.CONNECTION, words)


@pytest.mark.always
@pytest.mark.parametrize("agreed", [True, False])
def test_what_a_provider_costs_is_said_before_it_is_asked(
    opened: MainWindow, answer: Callable[..., None], qtbot: QtBot, agreed: bool
) -> None:
    answer("Skarn circles.")
    opened.settings.setValue("chat/writer", "Ollama")
    opened.run("reply.get")
    qtbot.waitUntil(lambda: any(each.isVisible() for each in opened.findChildren(QMessageBox)), timeout=20_000)
    assert "1 call to the provider" in box().text()
    assert ASKED == []
    press("Ask Ollama" if agreed else "Cancel")
    qtbot.waitUntil(lambda: not opened.features.chat.replies.busy, timeout=20_000)
    settle(opened, qtbot)
    assert len(ASKED) == agreed
    assert texts(opened)[-1] == ("Skarn circles." if agreed else "b")


def test_whoever_writes_replies_by_hand_gets_the_field_for_it(opened: MainWindow) -> None:
    composer = opened.features.chat.composer
    composer.writer_chosen.emit("")
    opened.run("reply.get")
    assert composer.voice.currentData() == Voice.CHARACTER
    assert not opened.features.chat.replies.busy


@pytest.mark.always
def test_without_a_provider_the_stand_in_holds_the_place_and_says_so(opened: MainWindow, qtbot: QtBot) -> None:
    composer = opened.features.chat.composer
    composer.reply_button.click()
    settle(opened, qtbot)
    assert texts(opened)[-1] == PLACEHOLDER
    assert "placeholder" in composer.hint.text()
    assert "profiles.edit" in composer.hint.text()
    composer.field.setPlainText("And then?")
    composer.send.click()
    settle(opened, qtbot)
    assert composer.hint.isHidden()
    assert texts(opened)[-1] == "And then?", "nobody was chosen to answer by itself"


def test_the_composer_grows_with_lines_that_wrap_and_sends(opened: MainWindow, qtbot: QtBot) -> None:
    composer = opened.features.chat.composer
    low = composer.field.height()
    composer.field.setFocus()
    qtbot.keyClicks(composer.field, "Tell me of the fortress. " * 8)
    assert composer.field.height() > low
    assert composer.send.text() == "Send"
    composer.send.click()
    assert composer.field.height() == low


@pytest.mark.always
def test_a_persona_names_the_person_and_is_remembered(opened: MainWindow, path: Path, qtbot: QtBot) -> None:
    dialog = opened.features.chat.setups.edit()
    assert isinstance(dialog, PromptSetupDialog)
    dialog.name.setText("Quill")
    dialog.persona.setPlainText("Small.")
    dialog.accept()
    assert opened.session.project is not None
    assert opened.session.project.setup.persona == Persona("Quill", "Small.")
    assert opened.features.chat.composer.voice.itemText(0) == "Quill"
    other = path.with_name("other.jsonl")
    other.write_text(CHAT, "utf-8")
    opened.session.reading.open_chat(other)
    settle(opened, qtbot)
    assert opened.session.project.setup == PromptSetup()
    opened.session.reading.open_chat(path)
    settle(opened, qtbot)
    assert opened.session.project.setup == PromptSetup(persona=Persona("Quill", "Small."))


@pytest.mark.long
def test_a_preset_is_chosen_from_a_file_and_read_again_with_its_chat(
    opened: MainWindow, path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    preset = path.with_name("Mine.json")
    prompt = {"identifier": "main", "content": "Write.", "system_prompt": True}
    preset.write_text(json.dumps({"prompts": [prompt]}), "utf-8")
    asked: list[object] = []

    def choose(_parent: object, title: str, start: str, _filters: str, chosen: Callable[[Path], None]) -> None:
        asked.append((title.partition(",")[0], start))
        chosen(preset)

    monkeypatch.setattr(dialogs, "choose_file", choose)
    dialog = opened.features.chat.setups.edit()
    assert isinstance(dialog, PromptSetupDialog)
    dialog.preset.choose.click()
    qtbot.waitUntil(lambda: dialog.main.toPlainText() == "Write.", timeout=20_000)
    dialog.preset.choose.click()
    assert asked == [
        ("Choose a preset of chat completion", ""), ("Choose a preset of chat completion", str(preset.parent)),
    ]  # fmt: skip
    settle(opened, qtbot)
    dialog.accept()
    other = path.with_name("other.jsonl")
    other.write_text(CHAT, "utf-8")
    for chat in (other, path):
        opened.session.reading.open_chat(chat)
        settle(opened, qtbot)
    project = opened.session.project
    assert project is not None
    qtbot.waitUntil(lambda: (opened.session.project or project).setup.preset is not None, timeout=20_000)
    preset.unlink()
    for chat in (other, path):
        opened.session.reading.open_chat(chat)
        settle(opened, qtbot)
    qtbot.waitUntil(lambda: any("Mine.json" in text for text in opened.bars.texts), timeout=20_000)
    assert opened.session.project is not None
    assert opened.session.project.setup == PromptSetup()


def test_in_extract_mode_notes_are_asked_for_after_the_reply(
    opened: MainWindow, answer: Callable[..., None], qtbot: QtBot
) -> None:
    project = opened.session.project
    assert project is not None
    on = {"ai_notepad_enabled": True, "ai_notepad_mode": "extract"}
    opened.session.parts.adjust("notepad", settings=project.settings.model_copy(update=on))
    settle(opened, qtbot)
    answer("He lied. (OOC: well)")
    opened.run("reply.get")
    qtbot.waitUntil(lambda: len(ASKED) == 2 and opened.session.jobs.idle, timeout=20_000)
    assert [each.kind for each in ASKED] == ["reply", "notepad"]
    assert ASKED[1].user.endswith("## Latest reply\nHe lied. (OOC: well)")
    assert texts(opened)[-1] == "He lied."
    assert opened.session.project is not None
    assert opened.session.project.controls.notepad == "He lied. (OOC: well)"
    assert opened.session.parts.adjustments.undo_title == "notes from reply #3"


def test_no_notes_are_asked_for_where_they_would_come_into_no_prompt(
    opened: MainWindow, answer: Callable[..., None], qtbot: QtBot
) -> None:
    project = opened.session.project
    assert project is not None
    on = {"ai_notepad_enabled": True, "ai_notepad_mode": "extract"}
    opened.session.parts.adjust("notepad", settings=project.settings.model_copy(update=on))
    opened.session.replays.choose(system="hybrid")
    settle(opened, qtbot)
    answer("He lied.")
    opened.run("reply.get")
    qtbot.waitUntil(lambda: texts(opened)[-1] == "He lied.", timeout=20_000)
    settle(opened, qtbot)
    assert [each.kind for each in ASKED] == ["reply"]


def test_notes_that_cannot_be_had_leave_the_reply_as_it_is(
    opened: MainWindow, answer: Callable[..., None], qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = opened.session.project
    assert project is not None
    on = {"ai_notepad_enabled": True, "ai_notepad_mode": "extract"}
    opened.session.parts.adjust("notepad", settings=project.settings.model_copy(update=on))
    settle(opened, qtbot)
    answer("He lied.")

    async def fails(self: Answers, request: ChatRequest) -> ChatReply:
        if request.kind == "notepad":
            raise LlmError(ErrorKind.TIMED_OUT, "It took too long.")
        return ChatReply("He lied.")

    monkeypatch.setattr(Answers, "answer", fails)
    opened.run("reply.get")
    qtbot.waitUntil(lambda: any("No notes" in text for text in opened.bars.texts), timeout=20_000)
    settle(opened, qtbot)
    assert texts(opened)[-1] == "He lied."
    assert opened.session.project is not None
    assert opened.session.project.controls.notepad == ""


# ---- what is done with messages --------------------------------------------------------------------------------------


def test_a_message_is_put_in_after_the_chosen_one_by_the_other_side(opened: MainWindow, qtbot: QtBot) -> None:
    for place, is_user in ((1, False), (0, True)):
        opened.chat.choose(place)
        opened.run("message.insert")
        settle(opened, qtbot)
        project = opened.session.project
        assert project is not None
        assert project.chat is not None
        made = project.chat.messages[place + 1]
        assert (made.text, made.is_user, opened.selection.message) == ("", is_user, place + 1)
        assert opened.session.parts.adjustments.undo_title == f"message after #{place}"
        field = opened.chat.view.viewport().findChild(QPlainTextEdit)
        assert isinstance(field, QPlainTextEdit)  # it waits for its words
        assert field.accessibleName() == f"Text of message {place + 1}"
        assert field.toolTip() == "Ctrl+Enter takes the text, Escape leaves it as it was"
        qtbot.keyClick(field, Qt.Key.Key_Escape)
        drain()


def test_hiding_is_a_step_that_the_same_action_takes_back(opened: MainWindow, qtbot: QtBot) -> None:
    opened.chat.choose(0)
    action = opened.commands.actions["message.hide"]
    told = []
    for _twice in range(2):
        told.append(action.text())
        opened.run("message.hide")
        settle(opened, qtbot)
        told.append(opened.session.parts.adjustments.undo_title)
    assert told == ["Hide from the model", "hide #0", "Show to the model", "show #0"]
    assert not opened.commands.actions["message.since"].isEnabled()


def test_a_deleted_message_is_said_to_come_back(opened: MainWindow, qtbot: QtBot) -> None:
    opened.chat.choose(1)
    opened.run("message.delete")
    settle(opened, qtbot)
    said = opened.statusBar().currentMessage()
    assert said == "Message #1 was deleted. Undo takes it back (Ctrl+Z in the chat)."
    assert opened.selection.message == 1
    opened.run("adjust.undo")
    settle(opened, qtbot)
    assert texts(opened) == ["Welcome.", "The fortress?", "b"]


def test_an_edit_that_changes_nothing_or_is_given_up_is_no_step(opened: MainWindow, qtbot: QtBot) -> None:
    for key, modifier in (
        (Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier),
        (Qt.Key.Key_Escape, Qt.KeyboardModifier.NoModifier),
    ):
        opened.chat.choose(1)
        opened.run("message.edit")
        field = opened.chat.view.viewport().findChild(QPlainTextEdit)
        assert isinstance(field, QPlainTextEdit)
        if key == Qt.Key.Key_Escape:
            field.setPlainText("Nothing of this.")
        qtbot.keyClick(field, key, modifier)
        drain()
        assert opened.chat.view.viewport().findChild(QPlainTextEdit) is None
    settle(opened, qtbot)
    assert texts(opened)[1] == "The fortress?"
    assert not opened.features.chat.files.unsaved


@pytest.mark.always
def test_an_edit_is_one_of_the_swipe_that_is_shown(opened: MainWindow, qtbot: QtBot) -> None:
    opened.chat.choose(2)
    opened.run("swipe.previous")
    opened.run("message.edit")
    field = opened.chat.view.viewport().findChild(QPlainTextEdit)
    assert isinstance(field, QPlainTextEdit)
    assert field.toPlainText() == "a"
    qtbot.keyClicks(field, "A")
    qtbot.keyClick(field, Qt.Key.Key_Return)  # makes a new line
    qtbot.keyClick(field, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    settle(opened, qtbot)
    project = opened.session.project
    assert project is not None
    assert project.chat is not None
    message = project.chat.messages[2]
    assert (message.swipe, message.swipes[1]) == (1, "b")
    assert sorted(message.swipes[0]) == ["\n", "A", "a"]


def test_the_field_over_a_short_last_message_covers_no_other_one(opened: MainWindow, qtbot: QtBot) -> None:
    view, last = opened.chat.view, len(texts(opened)) - 1
    before = view.visualRect(view.model().index(last, 0)).height()
    field = field_over(opened, last, qtbot)
    settle(opened, qtbot)
    above = view.visualRect(view.model().index(last - 1, 0))
    assert field.geometry().height() > before
    assert view.viewport().rect().contains(field.geometry())
    assert not above.intersects(field.geometry())
    qtbot.keyClick(field, Qt.Key.Key_Escape)
    settle(opened, qtbot)
    drain()
    assert view.visualRect(view.model().index(last, 0)).height() == before


def test_who_leaves_the_field_has_finished_the_edit(opened: MainWindow, qtbot: QtBot) -> None:
    opened.activateWindow()
    opened.chat.choose(1)
    opened.run("message.edit")
    field = opened.chat.view.viewport().findChild(QPlainTextEdit)
    assert isinstance(field, QPlainTextEdit)
    qtbot.waitUntil(field.hasFocus)
    qtbot.keyClick(field, Qt.Key.Key_Return)
    field.setPlainText("The crown?")
    opened.features.chat.composer.field.setFocus()
    settle(opened, qtbot)
    drain()
    assert texts(opened)[1] == "The crown?"
    assert opened.chat.view.viewport().findChild(QPlainTextEdit) is None


def field_over(window: MainWindow, place: int, qtbot: QtBot) -> QPlainTextEdit:
    """The field over a message, with a word typed in front of its text."""
    window.activateWindow()
    window.chat.choose(place)
    window.run("message.edit")
    field = window.chat.view.viewport().findChild(QPlainTextEdit)
    assert isinstance(field, QPlainTextEdit)
    qtbot.waitUntil(field.hasFocus)
    qtbot.keyClick(field, Qt.Key.Key_Home, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClicks(field, "Well: ")
    return field


@pytest.fixture
def file_becomes(
    opened: MainWindow, path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], None]:
    """Another program writes the chat's file, and it is read again."""
    monkeypatch.setattr(project_files, "watch_file", lambda *_given: SimpleNamespace(cancel=lambda: None))
    follower = project_files.ChatFollower(opened.session, opened.session.parts, opened)

    def write(text: str) -> None:
        path.write_text(text, "utf-8")
        follower.look()
        settle(opened, qtbot)
        drain()

    return write


def test_a_message_is_edited_on_while_the_chat_goes_on(
    opened: MainWindow, file_becomes: Callable[[str], None], path: Path, qtbot: QtBot
) -> None:
    field = field_over(opened, 1, qtbot)
    file_becomes(CHAT + '\n{"name":"Wren","is_user":true,"mes":"Go."}')
    assert texts(opened) == ["Welcome.", "The fortress?", "b", "Go."]
    file_becomes(path.read_text().replace('{"name":"Ada","mes":"Welcome."}\n', ""))
    assert texts(opened) == ["The fortress?", "b", "Go."]
    assert field.hasFocus()
    qtbot.keyClicks(field, "yes. ")
    qtbot.keyClick(field, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    settle(opened, qtbot)
    assert texts(opened) == ["Well: yes. The fortress?", "b", "Go."]
    assert opened.selection.message == 0
    assert not any("changed while you edit it" in text for text in opened.bars.texts)


def test_a_text_for_a_message_that_was_changed_meanwhile_stays_and_that_is_said(
    opened: MainWindow, file_becomes: Callable[[str], None], qtbot: QtBot
) -> None:
    field = field_over(opened, 1, qtbot)
    file_becomes(CHAT.replace("The fortress?", "The tower?"))
    assert field.toPlainText() == "Well: The fortress?"
    assert any("Message #1 was changed while you edit it." in text for text in opened.bars.texts)
    qtbot.keyClick(field, Qt.Key.Key_Escape)
    drain()
    assert texts(opened)[1] == "The tower?"
    opened.run("message.edit")  # nothing is typed yet, so the newest text is the one to edit
    file_becomes(CHAT.replace("The fortress?", "The gate?"))
    field = opened.chat.view.viewport().findChild(QPlainTextEdit)
    assert isinstance(field, QPlainTextEdit)
    assert field.toPlainText() == "The gate?"


@pytest.mark.always
def test_a_message_that_was_taken_out_while_it_was_edited_comes_back_with_the_text(
    opened: MainWindow, file_becomes: Callable[[str], None], qtbot: QtBot
) -> None:
    field_over(opened, 1, qtbot)
    file_becomes(CHAT.replace("The fortress?", "The tower?"))
    assert any("Message #1 was changed while you edit it." in text for text in opened.bars.texts)
    gone = CHAT.replace('{"name":"Wren","is_user":true,"mes":"The fortress?"}\n', "")
    file_becomes(gone)
    assert texts(opened) == ["Welcome.", "Well: The fortress?", "b"]
    assert opened.chat.view.viewport().findChild(QPlainTextEdit) is None
    assert any("It is back with your text." in text for text in opened.bars.texts)
    assert not any("while you edit it" in text for text in opened.bars.texts), "that is over"
    assert opened.features.chat.files.unsaved
    opened.run("adjust.undo")
    settle(opened, qtbot)
    assert texts(opened) == ["Welcome.", "b"]


@pytest.mark.always
@pytest.mark.parametrize(("command", "place"), [("message.insert", 1), ("swipe.write", 2), ("swipe.write", 0)])
def test_escape_takes_the_empty_message_or_swipe_back_that_was_to_be_written(
    opened: MainWindow, qtbot: QtBot, command: str, place: int
) -> None:
    project = opened.session.project
    assert project is not None
    before = project.chat
    opened.chat.choose(place)
    opened.run("message.hide")
    opened.run("message.hide")
    opened.run(command)
    settle(opened, qtbot)
    field = opened.chat.view.viewport().findChild(QPlainTextEdit)
    assert isinstance(field, QPlainTextEdit)
    qtbot.keyClicks(field, "Nothing of this.")
    for _twice in range(2):
        qtbot.keyClick(field, Qt.Key.Key_Escape)
        settle(opened, qtbot)
        drain()
        assert opened.session.project is not None
        assert opened.session.project.chat == before
        assert opened.session.parts.adjustments.undo_title == f"show #{place}"  # what was done before stays done
        assert opened.selection.message == place
        opened.run("message.edit")  # giving that up takes nothing back
        field = opened.chat.view.viewport().findChild(QPlainTextEdit)
        assert isinstance(field, QPlainTextEdit)
    qtbot.keyClick(field, Qt.Key.Key_Escape)
    drain()


def test_an_empty_text_that_was_taken_stays(opened: MainWindow, qtbot: QtBot) -> None:
    opened.chat.choose(2)
    opened.run("message.insert")
    settle(opened, qtbot)
    for key, modifier in (
        (Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier),
        (Qt.Key.Key_Escape, Qt.KeyboardModifier.NoModifier),
    ):
        field = opened.chat.view.viewport().findChild(QPlainTextEdit)
        assert isinstance(field, QPlainTextEdit)
        qtbot.keyClick(field, key, modifier)
        drain()
        assert texts(opened) == ["Welcome.", "The fortress?", "b", ""]
        opened.run("message.edit")
    drain()


def test_the_menu_on_a_message_is_short_also_with_all_that_others_add(opened: MainWindow) -> None:
    assert len([*filter(None, opened.features.chat.message_menu)]) <= 15


@pytest.mark.always
def test_the_menu_on_a_message_is_about_it(opened: MainWindow) -> None:
    view = opened.chat.view
    opened.chat.choose(0)
    rect = view.visualRect(opened.chat.model.index(2))
    view.customContextMenuRequested.emit(rect.center())
    (menu,) = (each for each in view.findChildren(QMenu) if each.isVisible())
    assert opened.selection.message == 2
    offered = [action.text() for action in menu.actions() if action.isEnabled() and not action.isSeparator()]
    assert "Edit message" in offered
    assert "Delete this swipe" in offered
    assert "Branch from here" in offered
    assert menu.actions()[0].text() == "Edit message"
    assert menu.pos().y() == view.viewport().mapToGlobal(rect.center()).y()
    menu.close()
    drain()
    assert not view.findChildren(QMenu)
    view.customContextMenuRequested.emit(QPoint(5, 5000))  # below all messages
    (menu,) = (each for each in view.findChildren(QMenu) if each.isVisible())
    assert opened.selection.message == 2
    menu.close()
    drain()


def test_what_can_be_done_depends_on_the_message(opened: MainWindow) -> None:
    names = ("message.edit", "message.delete", "message.branch", "swipe.write", "swipe.delete", "swipe.choose")
    enabled = {}
    for place in (1, 2, 3):
        opened.chat.choose(place)
        opened.context.update_actions()
        enabled[place] = [name for name in names if opened.commands.actions[name].isEnabled()]
    assert enabled == {
        1: ["message.edit", "message.delete", "message.branch"],  # the person's own words have no swipes
        2: ["message.edit", "message.delete", "message.branch", "swipe.write", "swipe.delete"],
        3: [],  # the reply to come
    }


def test_the_palette_finds_messages_and_leads_to_them(opened: MainWindow) -> None:
    opened.chat.choose(0)
    found = [each for each in opened.features.chat._findable() if each.name.startswith("message:")]
    assert [(each.title, each.detail) for each in found] == [
        ("#0 Ada", "Welcome."), ("#1 Wren", "The fortress?"), ("#2 Ada", "b"),
    ]  # fmt: skip
    key = found[1].key
    assert callable(key)
    opened.docks["chat"].hide()
    key()
    assert not opened.docks["chat"].isHidden()
    assert opened.selection.message == 1


@pytest.mark.always
def test_lines_that_cannot_be_read_are_shown_as_they_stand_in_the_file(opened: MainWindow) -> None:
    opened.run("chat.broken")
    dialog = opened.findChildren(QDialog)[-1]
    shown = dialog.findChild(QPlainTextEdit)
    assert isinstance(shown, QPlainTextEdit)
    assert dialog.windowTitle() == "Lines that cannot be read"
    intro, line = shown.toPlainText().split("\n\n")
    assert "stay in the file as they are" in intro
    assert line.startswith("Line 3 ")
    assert line.endswith(':\n{"mes": cut off')
    dialog.close()


@pytest.mark.always
def test_a_new_chat_begins_with_the_name_that_is_said(
    opened: MainWindow, path: Path, qtbot: QtBot, tmp_path: Path
) -> None:
    opened.run("chat.new")
    dialog = opened.findChildren(QDialog)[-1]
    name = dialog.findChild(QLineEdit)
    assert isinstance(name, QLineEdit)
    assert name.text() == "Ada"  # as in the chat before
    name.setText("Quill/Ink")
    dialog.accept()
    settle(opened, qtbot)
    project = opened.session.project
    assert project is not None
    assert project.chat is not None
    assert (project.chat.character_name, project.chat.user_name, project.chat_path) == ("Quill/Ink", "Wren", None)
    assert opened.focusWidget() is opened.features.chat.composer.field
    assert path.read_text("utf-8") == CHAT
    opened.features.chat.keep_in(tmp_path / "kept")
    opened.features.chat.composer.written.emit("I run.", Voice.CHARACTER)
    settle(opened, qtbot)
    opened.features.chat.save_work()
    settle(opened, qtbot)
    assert [each.name for each in (tmp_path / "kept" / "unsaved-chats").iterdir()] == ["Quill Ink.jsonl"]


def test_the_chosen_reply_of_a_chat_that_is_opened_is_the_last(opened: MainWindow) -> None:
    assert opened.selection.message == 2
    assert opened.chat.view.hasFocus()


@pytest.mark.always
def test_another_reply_by_hand_is_an_empty_swipe_to_write(opened: MainWindow, qtbot: QtBot) -> None:
    composer = opened.features.chat.composer
    composer.writer_chosen.emit("")
    assert composer.reply_button.toolTip() == "Replies: I write replies myself"
    opened.chat.choose(0)
    opened.run("reply.again")
    settle(opened, qtbot)
    project = opened.session.project
    assert project is not None
    assert project.chat is not None
    assert (project.chat.messages[2].swipes, opened.selection.message) == (("a", "b", ""), 2)
    field = opened.chat.view.viewport().findChild(QPlainTextEdit)
    assert isinstance(field, QPlainTextEdit)
    qtbot.keyClick(field, Qt.Key.Key_Escape)
    drain()
    opened.run("reply.get")
    assert composer.field.hasFocus()
    assert opened.statusBar().currentMessage().startswith("Write the reply")


def test_a_reason_against_a_reply_is_said_in_its_place(
    opened: MainWindow, answer: Callable[..., None], qtbot: QtBot
) -> None:
    answer("Skarn circles.")
    asked: list[Source] = []

    def why(source: Source) -> Notice:
        asked.append(source)
        return Notice("The bell is cracked.", "warning")

    opened.features.chat.hindrances.append(why)
    opened.run("reply.get")
    settle(opened, qtbot)
    assert asked == [Source(AnswerKind.RECORDED)]
    assert "The bell is cracked." in opened.bars.texts
    assert (texts(opened)[-1], ASKED) == ("b", [])
    opened.features.chat.composer.writer_chosen.emit("")
    opened.run("reply.get")
    assert len(asked) == 1  # nobody hinders who writes by hand


def test_the_line_below_the_chat_tells_file_and_length(opened: MainWindow, qtbot: QtBot) -> None:
    note = opened.docks["chat"].bar._note
    assert note.text() == "Ada.jsonl · 3 messages"
    opened.features.chat.composer.written.emit("I run.", Voice.CHARACTER)
    settle(opened, qtbot)
    assert note.text() == "Ada.jsonl · ● not saved · 4 messages"


def test_only_the_persons_own_words_are_answered_at_once(
    opened: MainWindow, answer: Callable[..., None], qtbot: QtBot
) -> None:
    answer("Skarn circles.")
    composer = opened.features.chat.composer
    composer.written.emit("She nods.", Voice.CHARACTER)
    settle(opened, qtbot)
    assert (texts(opened)[-1], ASKED) == ("She nods.", [])
    assert opened.selection.message == 4  # the reply to come
    assert composer.field.hasFocus()


def test_whether_the_controls_are_unfolded_is_remembered(opened: MainWindow) -> None:
    said = []
    for _twice in range(2):
        opened.chat.run_line.click()
        said.append(opened.settings.value("chat/unfolded"))
    assert said == ["true", "false"]


# ---- files -----------------------------------------------------------------------------------------------------------


def saving_to(monkeypatch: pytest.MonkeyPatch, path: Path) -> list[tuple[str, str]]:
    """Whoever asks for a new file gets this one; what the dialog would begin with, and its filters."""
    asked: list[tuple[str, str]] = []

    def choose(
        _parent: object, _title: str, start: str, filters: str, _suffix: str, chosen: Callable[[Path], None]
    ) -> None:
        asked.append((start, filters))
        chosen(path)

    monkeypatch.setattr(dialogs, "choose_new_file", choose)
    return asked


def test_a_chat_is_saved_elsewhere_and_lives_there_from_then_on(
    opened: MainWindow, path: Path, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other" / "Mine.jsonl"
    other.parent.mkdir()
    other.write_text("Something else.", "utf-8")  # the dialog has asked about it
    path.with_name("Ada.answers.jsonl").write_text("recorded")
    asked = saving_to(monkeypatch, other)
    opened.features.chat.composer.written.emit("I run.", Voice.CHARACTER)
    settle(opened, qtbot)
    opened.run("chat.save_as")
    settle(opened, qtbot)
    assert path.read_text("utf-8") == CHAT
    assert '"mes":"I run."' in other.read_text("utf-8")
    assert opened.session.project is not None
    assert opened.session.project.chat_path == other
    assert any(text.startswith("The chat was saved to Mine.jsonl.") for text in opened.bars.texts)
    answers = other.with_name("Mine.answers.jsonl")
    assert answers.read_text() == "recorded"
    answers.write_text("recorded there")
    assert Path(asked[0][0]).name == "Ada.jsonl"
    opened.run("chat.save_as")  # begins beside the file that was chosen last
    settle(opened, qtbot)
    assert Path(asked[1][0]) == other
    assert answers.read_text() == "recorded there"


@pytest.mark.parametrize("back", [False, True])
def test_a_chat_that_is_saved_elsewhere_has_the_format_of_its_ending(
    opened: MainWindow, path: Path, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, back: bool
) -> None:
    other = tmp_path / "talk.txt"
    if back:
        other.write_text("Ann: Light the lamp.\n\nWren: Done.\n", "utf-8")
        opened.session.reading.open_chat(other)
        settle(opened, qtbot)
        other = tmp_path / "talk.jsonl"
    saving_to(monkeypatch, other)
    opened.run("chat.save_as")
    settle(opened, qtbot)
    if not back:
        press("Save as text anyway")
        settle(opened, qtbot)
    assert other.read_text("utf-8").startswith("{") == back
    assert path.read_text("utf-8") == CHAT


def test_a_chat_without_a_file_asks_for_one_before_it_is_left(
    opened: MainWindow, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened.session.set_project(make_project(tmp_path / "more"))
    settle(opened, qtbot)
    asked = saving_to(monkeypatch, tmp_path / "New.jsonl")
    left: list[bool] = []
    opened.features.chat.composer.written.emit("I run.", Voice.CHARACTER)
    settle(opened, qtbot)
    assert opened.docks["chat"].bar._note.text().startswith("new chat · ● not saved · 8 ")
    assert opened.context.keep_chat(lambda: left.append(True))
    press("Save chat")
    settle(opened, qtbot)
    assert (Path(asked[0][0]).name, left) == ("Ada.jsonl", [True])
    assert '"mes":"I run."' in (tmp_path / "New.jsonl").read_text("utf-8")


@pytest.mark.always
def test_a_chat_that_cannot_be_written_is_told_and_stays_unsaved(
    opened: MainWindow, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    saving_to(monkeypatch, tmp_path / "file" / "Mine.jsonl")
    left: list[bool] = []
    opened.features.chat.composer.written.emit("I run.", Voice.CHARACTER)
    settle(opened, qtbot)
    opened.features.chat.files.save_as(lambda: left.append(True))
    settle(opened, qtbot)
    assert any("Mine.jsonl" in text for text in opened.bars.texts)
    assert opened.features.chat.files.unsaved
    assert left == []


@pytest.mark.always
@pytest.mark.parametrize("can", [True, False])
def test_a_chat_that_an_earlier_run_kept_is_saved_where_it_is_wanted(
    opened: MainWindow, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, can: bool
) -> None:
    kept = tmp_path / "kept" / "unsaved-chats" / "Old.jsonl"
    kept.parent.mkdir(parents=True)
    kept.write_bytes(CHAT.encode())
    target = tmp_path / "Old.jsonl" if can else tmp_path / "nowhere" / "Old.jsonl"
    (tmp_path / "nowhere").write_text("", "utf-8")
    asked = saving_to(monkeypatch, target)
    opened.features.chat.keep_in(tmp_path / "kept")
    assert "Old.jsonl" in box().text()
    press("Save as")
    settle(opened, qtbot)
    assert Path(asked[0][0]).name == "Old.jsonl"
    assert kept.exists() is not can
    assert target.exists() is can
    if can:
        assert target.read_bytes() == CHAT.encode()
    else:
        assert any("Old.jsonl" in text for text in opened.bars.texts)


@pytest.mark.always
def test_a_chat_is_kept_beside_another_of_its_name_that_waits_still(
    opened: MainWindow, tmp_path: Path, qtbot: QtBot
) -> None:
    folder = tmp_path / "kept" / "unsaved-chats"
    folder.mkdir(parents=True)
    (folder / "ada.jsonl").write_bytes(b"of an earlier run")
    opened.features.chat.files.backups = tmp_path / "kept" / "chats"
    opened.features.chat.composer.written.emit("I run.", Voice.YOU)
    settle(opened, qtbot)
    for _ in range(2):
        opened.features.chat.save_work()
        settle(opened, qtbot)
    assert {each.name for each in folder.iterdir()} == {"ada.jsonl", "Ada (2).jsonl"}
    assert (folder / "ada.jsonl").read_bytes() == b"of an earlier run"


def test_where_nothing_was_kept_nobody_is_asked(opened: MainWindow, tmp_path: Path, qtbot: QtBot) -> None:
    opened.features.chat.keep_in(tmp_path / "kept")
    assert not any(each.isVisible() for each in opened.findChildren(QMessageBox))
    opened.features.chat.save_work()  # all is saved: nothing to keep
    settle(opened, qtbot)
    assert not (tmp_path / "kept" / "unsaved-chats").exists()


@pytest.mark.always
def test_a_chat_that_was_thrown_away_is_not_offered_again(opened: MainWindow, tmp_path: Path, qtbot: QtBot) -> None:
    opened.features.chat.keep_in(tmp_path / "kept")
    opened.features.chat.composer.written.emit("I run.", Voice.CHARACTER)
    settle(opened, qtbot)
    opened.features.chat.save_work()
    settle(opened, qtbot)
    opened.features.chat.composer.written.emit("I fall.", Voice.CHARACTER)
    settle(opened, qtbot)
    opened.features.chat.save_work()  # the newer copy takes the place of the one before
    settle(opened, qtbot)
    (copy,) = (tmp_path / "kept" / "unsaved-chats").iterdir()
    assert copy.name == "Ada.jsonl"
    assert copy.read_text("utf-8").split("\n")[:5] == CHAT.split("\n")  # its lines as they are, the broken one too
    assert '"mes":"I fall."' in copy.read_text("utf-8")
    left: list[bool] = []
    assert opened.context.keep_chat(lambda: left.append(True))
    press("Throw away")
    assert left == [True]
    assert not list((tmp_path / "kept" / "unsaved-chats").iterdir())


def test_the_version_before_is_kept_and_its_folder_told(opened: MainWindow, tmp_path: Path, qtbot: QtBot) -> None:
    opened.features.chat.keep_in(tmp_path / "kept")
    opened.features.chat.composer.written.emit("I run.", Voice.CHARACTER)
    settle(opened, qtbot)
    opened.run("chat.save")
    settle(opened, qtbot)
    (backup,) = (each for each in (tmp_path / "kept" / "chats").rglob("*") if each.is_file())
    assert backup.read_text("utf-8") == CHAT
    assert any(str(backup.parent) in text for text in opened.bars.texts)


def test_a_window_that_was_left_once_does_not_ask_again(opened: MainWindow, qtbot: QtBot) -> None:
    opened.features.chat.composer.written.emit("I run.", Voice.CHARACTER)
    settle(opened, qtbot)
    closed: list[bool] = []
    assert opened.features.chat.ask_before_closing(lambda: closed.append(True))
    press("Throw away")
    assert closed == [True]
    assert not opened.features.chat.ask_before_closing(lambda: None)
    opened.features.chat.composer.written.emit("I fall.", Voice.CHARACTER)  # it stayed open: something else was unsaved
    settle(opened, qtbot)
    assert opened.features.chat.ask_before_closing(lambda: None)


@pytest.mark.always
def test_what_is_written_and_in_no_chat_yet_is_asked_about_before_another_chat_is_opened(
    opened: MainWindow, tmp_path: Path, qtbot: QtBot
) -> None:
    composer, left = opened.features.chat.composer, list[bool]()
    composer.field.setPlainText("And then")
    assert opened.context.keep_chat(lambda: left.append(True))
    assert "you began" in box().text()
    press("Throw away")
    assert left == [True]
    assert composer.field.toPlainText() == "And then"  # no other chat was chosen yet
    opened.session.set_project(make_project(tmp_path / "more"))
    settle(opened, qtbot)
    assert composer.field.toPlainText() == ""
    composer.begin_reply()
    assert opened.context.keep_chat(lambda: None)
    assert box().text() == "A reply is being written."


def test_what_is_written_and_in_no_chat_yet_is_asked_about_before_the_window_closes(opened: MainWindow) -> None:
    composer = opened.features.chat.composer
    composer.field.setPlainText("And then")
    opened.close()
    assert opened.isVisible()
    assert "you began" in box().text()
    press("Cancel")
    assert composer.field.toPlainText() == "And then"
    composer.ask_about("It broke off.", "The fort")
    composer.field.clear()
    opened.close()
    assert "came of the reply" in box().text()
    composer.field.setPlainText("And then")
    composer.thrown_away.connect(composer.end_reply)
    press("Throw away")
    assert not opened.isVisible()
    assert composer.begun == ""


def test_a_message_that_is_being_edited_is_taken_before_the_window_closes(opened: MainWindow, qtbot: QtBot) -> None:
    opened.selection.choose_message(1, None)
    opened.run("message.edit")
    field = opened.chat.view.viewport().findChild(QPlainTextEdit)
    assert isinstance(field, QPlainTextEdit)
    qtbot.keyClicks(field, " And who")
    opened.close()
    assert opened.isVisible()
    assert box().text() == "The chat has changes that are not in its file."
    assert texts(opened)[1] == "The fortress? And who"
    press("Throw away")
    assert not opened.isVisible()


@pytest.mark.parametrize("another", [True, False])
def test_a_branch_that_is_made_after_the_chat_was_left_marks_no_other(
    opened: MainWindow, path: Path, qtbot: QtBot, another: bool
) -> None:
    opened.chat.choose(1)
    opened.run("message.branch")
    if another:
        opened.session.set_project(make_project())
    else:
        opened.session.close_project()
    settle(opened, qtbot)
    assert len(list(path.parent.glob("Branch #1 - *.jsonl"))) == 1
    assert opened.session.parts.adjustments.undo_title == ""
    assert (opened.session.project is not None) is another
    if another:
        assert texts(opened)[-1] == "I run."


def test_a_branch_that_cannot_be_written_is_told_and_marks_nothing(
    opened: MainWindow, path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_arguments: object) -> Path:
        message = "the disk is full"
        raise OSError(message)

    monkeypatch.setattr(chat_actions, "save_branch", fails)
    opened.chat.choose(1)
    opened.run("message.branch")
    settle(opened, qtbot)
    assert any("disk is full" in text for text in opened.bars.texts)
    assert not opened.features.chat.files.unsaved
    assert [each.name for each in path.parent.iterdir()] == ["Ada.jsonl"]


@pytest.mark.always
@pytest.mark.parametrize("is_open", [True, False])
def test_a_card_that_cannot_be_read_is_said_in_its_dialog_or_in_the_window(
    opened: MainWindow, path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, is_open: bool
) -> None:
    card = path.with_name("Misty.json")
    card.write_text("{", "utf-8")
    monkeypatch.setattr(dialogs, "choose_file", lambda *given: given[-1](card))
    dialog = opened.features.chat.setups.edit()
    assert isinstance(dialog, PromptSetupDialog)
    dialog.card.choose.click()
    if is_open:
        qtbot.waitUntil(lambda: "Misty.json" in dialog.problem.text(), timeout=20_000)
        dialog.reject()
    else:
        dialog.reject()
        drain()
        qtbot.waitUntil(lambda: any("Misty.json" in text for text in opened.bars.texts), timeout=20_000)
    settle(opened, qtbot)
    assert opened.session.project is not None
    assert opened.session.project.setup == PromptSetup()
    assert any("Misty.json" in text for text in opened.bars.texts) is not is_open


def test_each_file_of_the_prompt_is_asked_for_by_name_and_its_kind_is_listed_first(
    opened: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, str]] = []
    monkeypatch.setattr(
        dialogs, "choose_file", lambda _window, title, _start, filters, _take: asked.append((title, filters))
    )
    dialog = opened.features.chat.setups.edit()
    assert isinstance(dialog, PromptSetupDialog)
    for source, name, first in (
        (dialog.card, "card", "Character cards (*.png *.json *.charx)"), (dialog.group, "groups", "Groups (*.json)"),
        (dialog.preset, "preset", "Presets (*.json *.settings)"), (dialog.regex, "regex", "Regex scripts (*.json)"),
    ):  # fmt: skip
        source.choose.click()
        title, filters = asked.pop()
        assert title.startswith("Choose ")
        assert name in title
        assert filters.split(";;") == [first, "All files (*)"]
    dialog.reject()


@pytest.mark.parametrize("meanwhile", ["nothing", "another choice", "another chat", "none"])
def test_what_is_remembered_is_taken_only_where_nothing_else_was_chosen_meanwhile(
    opened: MainWindow, path: Path, qtbot: QtBot, meanwhile: str
) -> None:
    preset = path.with_name("Mine.json")
    prompt = {"identifier": "main", "content": "Write.", "system_prompt": True}
    preset.write_text(json.dumps({"prompts": [prompt]}), "utf-8")
    project = opened.session.project
    assert project is not None
    kept = with_preset(PromptSetup(), load_preset(preset), preset)
    opened.settings.setValue(f"prompts/{chat_id(project)}", spelled(kept))
    opened.features.chat.setups.restore(project)
    mine = PromptSetup(persona=Persona("Quill"))
    if meanwhile == "another choice":
        opened.session.parts.take_setup(mine)
    elif meanwhile == "another chat":
        opened.session.set_project(make_project())
    elif meanwhile == "none":
        opened.session.close_project()
    settle(opened, qtbot)
    now = opened.session.project
    if now is not None:
        expected = {"nothing": kept, "another choice": mine, "another chat": PromptSetup()}
        assert now.setup == expected[meanwhile]


def test_what_comes_with_a_chat_is_remembered_unless_something_is_already(opened: MainWindow, path: Path) -> None:
    project = opened.session.project
    assert project is not None
    key = f"prompts/{chat_id(project)}"
    opened.settings.remove(key)
    brought = PromptSetup(persona=Persona("Quill", "Small."))
    opened.session.set_project(replace(project, setup=brought))
    assert opened.settings.value(key) == spelled(brought)
    opened.session.set_project(replace(project, setup=PromptSetup(persona=Persona("Other"))))
    assert opened.settings.value(key) == spelled(brought)


def test_writing_a_message_brings_the_chat_into_sight(opened: MainWindow) -> None:
    opened.docks["chat"].hide()
    opened.run("compose.focus")
    assert not opened.docks["chat"].isHidden()
    assert opened.focusWidget() is opened.features.chat.composer.field


def test_without_a_project_there_is_no_prompt_to_set_up(make_window: Callable[..., MainWindow]) -> None:
    window = make_window()
    assert window.features.chat.setups.edit() is None
    assert not window.commands.actions["chat.setup"].isEnabled()
    assert list(window.features.chat._findable()) == []
    assert not window.features.chat.composer.isVisibleTo(window)


@pytest.mark.always
def test_without_a_chat_there_is_nothing_to_save_or_to_keep(
    make_window: Callable[..., MainWindow], tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = make_window()
    asked = saving_to(monkeypatch, tmp_path / "x.jsonl")
    window.features.chat.keep_in(tmp_path / "kept")
    files = window.features.chat.files
    for project in (None, make_project(tmp_path / "vault", chat=False)):
        if project is not None:
            window.session.set_project(project)
        files.save()
        files.save_as()
        window.features.chat.save_work()
        settle(window, qtbot)
        assert (files.unsaved, asked, files.ask_before_leaving(lambda: None)) == (False, [], False)
    assert not (tmp_path / "x.jsonl").exists()
    assert not (tmp_path / "kept" / "unsaved-chats").exists()


@pytest.mark.parametrize(("name", "file"), [("Ada", "Ada.jsonl"), ("", "chat.jsonl")])
def test_a_chat_in_no_file_is_called_by_its_character(
    opened: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, file: str
) -> None:
    asked = saving_to(monkeypatch, tmp_path / "x.jsonl")
    project = opened.session.project
    assert project is not None
    assert project.chat is not None
    opened.session.set_project(replace(project, chat=replace(project.chat, character_name=name), chat_path=None))
    opened.run("chat.save_as")
    assert Path(asked[0][0]).name == file
    filters = asked[0][1].split(";;")
    assert [each.partition("(")[2] for each in filters] == ["*.jsonl)", "*.txt)", "*)"]
