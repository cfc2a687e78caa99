"""Session notes in the window: read, written, kept with the chat and in the vault, and said to be due."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QMessageBox
from pytestqt.qtbot import QtBot

from lorestudio.domain.chat import Chat
from lorestudio.domain.records import replace
from lorestudio.exchange.problems import InputError
from lorestudio.llm.errors import ErrorKind, LlmError
from lorestudio.llm.messages import ChatReply, ChatRequest
from lorestudio.studio.project.answering import Source
from lorestudio.studio.project.project import Project
from lorestudio.ui.features.chat import reply, session_note
from lorestudio.ui.features.chat.session_note import SessionNoteDialog
from lorestudio.ui.shell.main_window import MainWindow
from lorestudio.ui.widgets import dialogs
from tests.ui.conftest import settle
from tests.ui.worlds import make_chat

LENGTH = len(make_chat().messages)


class Writer:
    """Whoever writes replies: a note is `note`, everything else "Hm.". Notes wait for `go`."""

    name = "test"
    label = "Test"

    def __init__(self) -> None:
        self.note: str | Exception = "Skarn came back."
        self.asked: list[ChatRequest] = []
        self.go = asyncio.Event()
        self.go.set()

    def made(self, _source: Source, *_more: object, **_options: object) -> tuple[Writer, str]:
        return self, "small"

    async def answer(self, request: ChatRequest) -> ChatReply:
        self.asked.append(request)
        if request.kind != "scribe":
            return ChatReply("Hm.")
        await self.go.wait()
        if isinstance(self.note, Exception):
            raise self.note
        return ChatReply(self.note)


@pytest.fixture
def writer(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> Writer:
    """It is chosen, and needs no recording."""
    made = Writer()
    for module in (session_note, reply):
        monkeypatch.setattr(module, "make_answers", made.made)
    window.settings.setValue("chat/writer", "recorded")
    settle(window)
    return made


def dialog_of(window: MainWindow) -> SessionNoteDialog:
    window.run("chat.session_note")
    found = [each for each in QApplication.topLevelWidgets() if isinstance(each, SessionNoteDialog)]
    return next(each for each in found if each.isVisible())


def chat_of(window: MainWindow) -> tuple[Project, Chat]:
    project = window.session.project
    assert project is not None
    assert project.chat is not None
    return project, project.chat


def test_a_note_is_written_kept_with_the_chat_and_taken_back(
    window: MainWindow, writer: Writer, qtbot: QtBot, tmp_path: Path
) -> None:
    before = chat_of(window)[1].metadata
    dialog = dialog_of(window)
    assert not dialog.text.isVisible()
    qtbot.keyClicks(dialog.focus, "the dragon")
    qtbot.mouseClick(dialog.write, Qt.MouseButton.LeftButton)
    settle(window)
    assert [each.kind for each in writer.asked] == ["scribe"]
    assert writer.asked[0].user.endswith("## Additional focus\nthe dragon")
    project, chat = chat_of(window)
    assert project.controls.scribe_summary == "Skarn came back."
    assert chat.metadata["deeplore_lastScribeSummary"] == "Skarn came back."
    assert chat.metadata["deeplore_lastScribeChatLength"] == LENGTH
    assert "Wrote a session note." in window.bars.texts
    assert not list((tmp_path / "vault").glob("**/*Ada*.md")), "nobody asked for a file"
    window.run("adjust.undo")
    settle(window)
    project, chat = chat_of(window)
    assert (project.controls.scribe_summary, chat.metadata) == ("", before)


@pytest.mark.always
def test_a_note_is_a_file_of_the_vault_where_that_is_asked_for(
    window: MainWindow, writer: Writer, qtbot: QtBot, tmp_path: Path
) -> None:
    project, _chat = chat_of(window)
    dialog = dialog_of(window)
    assert dialog.file.text() == f"Also as a file in “{project.settings.scribe_folder}” of the vault"
    assert dialog.focus.placeholderText() == "whatever matters"
    dialog.file.setChecked(True)
    qtbot.waitUntil(dialog.focus.hasFocus)
    qtbot.keyClick(dialog.focus, Qt.Key.Key_Return)
    settle(window)
    (file,) = (tmp_path / "vault" / project.settings.scribe_folder).iterdir()
    assert file.read_text("utf-8").endswith("Skarn came back.\n")
    assert f"Wrote a session note. It is in “{file.name}”." in window.bars.texts


def test_the_last_note_is_shown_with_its_age(window: MainWindow, writer: Writer) -> None:
    project, chat = chat_of(window)
    told = replace(chat, metadata={"deeplore_lastScribeChatLength": LENGTH - 2})
    window.session.parts.adjust("x", chat=told, controls=replace(project.controls, scribe_summary="He left."))
    dialog = dialog_of(window)
    assert (dialog.text.toPlainText(), dialog.text.isVisible()) == ("He left.", True)
    assert "The last one, 2 messages ago" in [each.text() for each in dialog.findChildren(QLabel)]
    dialog.reject()
    settle(window)
    assert writer.asked == []


def test_what_a_note_should_attend_to_is_still_there_after_a_failure(window: MainWindow, writer: Writer) -> None:
    writer.note = LlmError(ErrorKind.CONNECTION, "refused")
    seen = []
    for _round in range(3):
        dialog = dialog_of(window)
        settle(window)
        seen.append((dialog.focus.text(), dialog.file.isChecked()))
        if not dialog.focus.text():
            QTest.keyClicks(dialog.focus, "the bell")
            dialog.file.setChecked(True)
        QTest.keyClick(dialog.focus, Qt.Key.Key_Return)
        settle(window)
        writer.note = "Skarn came back."
    assert len(writer.asked) == 3
    assert seen == [("", False), ("the bell", True), ("", False)]
    dialog = dialog_of(window)
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()


def test_what_a_note_should_attend_to_is_not_offered_for_another_chat(window: MainWindow, writer: Writer) -> None:
    writer.note = LlmError(ErrorKind.CONNECTION, "refused")
    dialog = dialog_of(window)
    settle(window)
    QTest.keyClicks(dialog.focus, "the bell")
    QTest.keyClick(dialog.focus, Qt.Key.Key_Return)
    settle(window)
    assert writer.asked
    project = window.session.project
    assert project is not None
    window.session.set_project(replace(project, chat_path=Path("other.jsonl")))
    settle(window)
    assert dialog_of(window).focus.text() == ""


def test_nobody_who_writes_none_is_asked(window: MainWindow, writer: Writer) -> None:
    for name in ("stand-in", ""):
        window.settings.setValue("chat/writer", name)
        dialog = dialog_of(window)
        assert not dialog.write.isEnabled()
        dialog.choose.click()
        assert not dialog.isVisible()
        menu = window.features.chat.composer.reply_button.menu()
        assert menu.isVisible(), "who writes is chosen there"
        menu.close()
        settle(window)
    assert writer.asked == []
    window.settings.setValue("chat/writer", "recorded")
    dialog = dialog_of(window)
    assert not dialog.choose.isVisible()
    dialog.reject()
    settle(window)


@pytest.mark.always
def test_what_was_typed_is_not_lost_unasked_and_still_there_once_a_writer_is_chosen(
    window: MainWindow, writer: Writer
) -> None:
    window.settings.setValue("chat/writer", "")
    dialog = dialog_of(window)
    settle(window)
    QTest.keyClicks(dialog.focusWidget(), "the bell")
    QTest.keyClick(dialog.focusWidget(), Qt.Key.Key_Escape)
    (box,) = dialog.findChildren(QMessageBox)
    assert (box.text(), dialog.isVisible()) == ("What you wrote would be lost.", True)
    box.reject()
    assert dialog.focus.text() == "the bell"
    dialog.choose.click()
    menu = window.features.chat.composer.reply_button.menu()
    assert (dialog.isVisible(), menu.isVisible()) == (False, True)
    menu.close()
    window.settings.setValue("chat/writer", "recorded")
    dialog = dialog_of(window)
    assert dialog.focus.text() == "the bell"
    dialog.focus.clear()
    QTest.keyClick(dialog, Qt.Key.Key_Escape)  # nothing is lost
    settle(window)
    assert not [each for each in QApplication.topLevelWidgets() if isinstance(each, SessionNoteDialog)]
    assert writer.asked == []


@pytest.mark.always
def test_what_fails_is_said_and_changes_nothing(
    window: MainWindow, writer: Writer, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    def refuse(*_given: object) -> None:
        raise InputError("chat.json", "its recording is gone")

    before = chat_of(window)
    writer.note = LlmError(ErrorKind.TIMED_OUT, "It took too long.")
    dialog_of(window).accept()
    settle(window)
    assert any("It took too long." in text for text in window.bars.texts)
    with monkeypatch.context() as patched:
        patched.setattr(session_note, "make_answers", refuse)
        dialog_of(window).accept()
        settle(window)
    assert window.bars.texts == ["No session note: chat.json: its recording is gone"]
    assert chat_of(window) == before
    writer.note = "Skarn came back."
    writer.go.clear()
    dialog_of(window).accept()
    qtbot.waitUntil(lambda: len(writer.asked) == 2)
    window.session.set_project(replace(before[0], chat_path=Path("other.jsonl")))
    writer.go.set()
    settle(window)
    assert "Another chat was opened meanwhile, so the session note was dropped." in window.bars.texts
    assert chat_of(window)[0].controls.scribe_summary == ""


@pytest.mark.always
def test_a_note_that_is_waited_for_is_told_and_stopped(
    window: MainWindow, writer: Writer, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    """Nothing was seen of it, and nothing ended it before the timeout; a second wish was paid for, too."""
    monkeypatch.setattr(dialogs.ModelCost, "ask", lambda cost, _parent: cost.answered(True))
    window.settings.setValue("chat/writer", "Home")
    before = chat_of(window)
    writer.go.clear()
    assert not window.commands.actions["reply.stop"].isEnabled()
    dialog_of(window).accept()
    qtbot.waitUntil(lambda: len(writer.asked) == 1)
    assert "A session note is being written…" in window.bars.texts
    window.run("chat.session_note")
    assert not any(isinstance(each, SessionNoteDialog) and each.isVisible() for each in QApplication.topLevelWidgets())
    assert window.commands.actions["reply.stop"].isEnabled()
    window.run("reply.stop")
    settle(window)
    assert window.bars.texts == ["Stopped. No session note was written."]
    assert not window.commands.actions["reply.stop"].isEnabled()
    assert (chat_of(window), len(writer.asked)) == (before, 1)
    writer.go.set()
    dialog_of(window).accept()
    settle(window)
    assert chat_of(window)[0].controls.scribe_summary == "Skarn came back."


@pytest.mark.always
@pytest.mark.parametrize(("on", "due"), [(True, True), (False, False)])
def test_after_a_reply_it_is_said_that_a_note_is_due(
    window: MainWindow, writer: Writer, qtbot: QtBot, on: bool, due: bool
) -> None:
    project, _chat = chat_of(window)
    settings = project.settings.model_copy(update={"scribe_enabled": on, "scribe_interval": LENGTH + 1})
    window.session.parts.adjust("scribe", settings=settings)
    settle(window)
    window.run("reply.get")
    qtbot.waitUntil(lambda: len(chat_of(window)[1].messages) > LENGTH, timeout=20_000)
    settle(window)
    text = f"A session note is due: {LENGTH + 1} messages came since the last one."
    assert (text in window.bars.texts) is due
    assert [each.kind for each in writer.asked] == ["reply"], "it is asked for by the person"


@pytest.mark.always
def test_a_provider_is_asked_once_the_cost_is_agreed(
    window: MainWindow, writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    costs: list[str] = []
    answers: list[Callable[[bool], object]] = []

    def ask(cost: dialogs.ModelCost, _parent: object) -> None:
        costs.append(f"{cost.name}: {cost.sentence}")
        answers.append(cost.answered)

    monkeypatch.setattr(dialogs.ModelCost, "ask", ask)
    window.settings.setValue("chat/writer", "Home")
    for agreed in (False, True):
        dialog_of(window).accept()
        settle(window)
        assert writer.asked == []
        answers.pop()(agreed)
        settle(window)
    assert [each.kind for each in writer.asked] == ["scribe"]
    assert len(costs) == 2
    assert costs[0].startswith("Home: 1 call")
