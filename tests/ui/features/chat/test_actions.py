"""Writing, editing and saving the chat in the window, and getting replies."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QDialog, QMessageBox, QPlainTextEdit, QPushButton
from pytestqt.qtbot import QtBot

from lorestudio.domain.records import replace
from lorestudio.llm.errors import ErrorKind
from lorestudio.llm.messages import AnswerSource
from lorestudio.llm.stand_in import PLACEHOLDER
from lorestudio.studio.chat.editing import Voice
from lorestudio.studio.project.answering import ChatReply, ChatRequest, LlmError, Source
from lorestudio.studio.prompt.setup import Persona, PromptSetup
from lorestudio.ui.features.chat import reply as reply_work
from lorestudio.ui.features.chat.composer import Composer
from lorestudio.ui.features.chat.prompt_setup import PromptSetupDialog
from lorestudio.ui.shell.main_window import MainWindow
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
def opened(window: MainWindow, path: Path, qtbot: QtBot) -> MainWindow:
    settle(window, qtbot)
    window.session.reading.open_chat(path)
    settle(window, qtbot)
    return window


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
    field.setPlainText("The crown?")
    qtbot.keyClick(field, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    settle(window, qtbot)
    assert texts(window) == ["Welcome.", "The crown?", "b"]
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
    window.run("swipe.delete")
    settle(window, qtbot)
    assert texts(window) == ["Welcome.", "b"]
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


def test_a_chat_that_is_saved_after_an_error_is_not_offered(opened: MainWindow, tmp_path: Path, qtbot: QtBot) -> None:
    opened.features.chat.keep_in(tmp_path / "kept")
    opened.features.chat.composer.written.emit("I run.", Voice.YOU)
    settle(opened, qtbot)
    opened.went_wrong.emit(RuntimeError())
    settle(opened, qtbot)
    opened.run("chat.save")
    settle(opened, qtbot)
    assert not list((tmp_path / "kept" / "unsaved-chats").iterdir())


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


def test_a_branch_lies_beside_the_chat(opened: MainWindow, path: Path, qtbot: QtBot) -> None:
    opened.chat.choose(1)
    opened.run("message.branch")
    settle(opened, qtbot)
    (branch,) = path.parent.glob("Branch #1 - *.jsonl")
    assert '"main_chat":"Ada"' in branch.read_text()
    assert path.read_text() == CHAT
    assert opened.features.chat.files.unsaved  # the mark in the chat itself


# ---- replies ---------------------------------------------------------------------------------------------------------


def test_a_reply_is_written_into_the_chat(opened: MainWindow, answer: Callable[..., None], qtbot: QtBot) -> None:
    answer("Skarn ", "circles.")
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


@pytest.mark.parametrize("hides", [False, True])
def test_a_plain_text_asks_only_where_it_would_lose_something(
    window: MainWindow, tmp_path: Path, qtbot: QtBot, hides: bool
) -> None:
    settle(window, qtbot)
    path = tmp_path / "talk.txt"
    path.write_text("Ann: Light the lamp.\n\nWren: Done.\n", "utf-8")
    window.session.reading.open_chat(path)
    settle(window, qtbot)
    window.features.chat.composer.written.emit("And the bell?", Voice.YOU)
    settle(window, qtbot)
    if hides:
        window.chat.choose(1)
        window.run("message.hide")
        settle(window, qtbot)
    window.run("chat.save")
    settle(window, qtbot)
    if hides:
        assert "Plain text cannot hold all of this chat" in box().text()
        assert "bell" not in path.read_text("utf-8")
        press("Save as text anyway")
        settle(window, qtbot)
    assert "And the bell?" in path.read_text("utf-8")


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


def test_what_came_before_a_stop_is_the_persons_to_keep(
    opened: MainWindow, answer: Callable[..., None], qtbot: QtBot
) -> None:
    answer("Skarn circ", wait=True)
    composer = opened.features.chat.composer
    opened.run("reply.get")
    qtbot.waitUntil(lambda: opened.chat.model.row(3).text == "Skarn circ", timeout=20_000)
    assert opened.chat.model.row(3).writing == "being written…"
    assert not composer.reply_text.isVisibleTo(opened)
    opened.run("reply.stop")
    qtbot.waitUntil(lambda: composer.deciding, timeout=20_000)
    assert texts(opened)[-1] == "b"
    assert composer.reply_text.toPlainText() == opened.chat.model.row(3).text == "Skarn circ"
    composer.reply_text.setPlainText("Skarn circles.")
    assert (opened.chat.model.row(3).text, opened.chat.model.row(3).writing) == ("Skarn circles.", "not kept yet")
    composer.keep.click()
    settle(opened, qtbot)
    assert texts(opened)[-1] == "Skarn circles."


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


def broken(words: str) -> LlmError:
    return LlmError(ErrorKind.CONNECTION, words)


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


@pytest.mark.long
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
    monkeypatch.setattr(dialogs, "choose_file", lambda *arguments: arguments[-1](preset))
    dialog = opened.features.chat.setups.edit()
    assert isinstance(dialog, PromptSetupDialog)
    dialog.preset.choose.click()
    qtbot.waitUntil(lambda: dialog.main.toPlainText() == "Write.", timeout=20_000)
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
            raise LlmError(ErrorKind.TIMEOUT, "It took too long.")
        return ChatReply("He lied.")

    monkeypatch.setattr(Answers, "answer", fails)
    opened.run("reply.get")
    qtbot.waitUntil(lambda: any("No notes" in text for text in opened.bars.texts), timeout=20_000)
    settle(opened, qtbot)
    assert texts(opened)[-1] == "He lied."
    assert opened.session.project is not None
    assert opened.session.project.controls.notepad == ""
