"""Recap memory in the window: its pane, its queue, and the chat that is open beside it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel, QMessageBox, QTabBar, QWidget
from pytestqt.qtbot import QtBot

from lorestudio.llm.errors import ErrorKind
from lorestudio.settings.recap import RecapSettings
from lorestudio.studio.chat import editing
from lorestudio.studio.chat.editing import Voice
from lorestudio.studio.project.answering import AnswerKind, ChatReply, ChatRequest, LlmError, Source
from lorestudio.studio.project.settings import SystemSettingsFiles
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.systems.recap import session as session_module
from lorestudio.systems.recap.queue import queue_path
from lorestudio.systems.recap.records import RecapState
from lorestudio.ui.features.chat.reply import local_now
from lorestudio.ui.features.controls.chips import EffectWatch
from lorestudio.ui.features.recap import queue as queueing
from lorestudio.ui.features.systems.dialogs import SystemSettingsDialog
from lorestudio.ui.shell.main_window import MainWindow
from lorestudio.ui.shell.words import Notice
from tests.systems.recap.files import SETTINGS, TALE, records, write_chat
from tests.ui.conftest import menu_of_row, titles_of
from tests.ui.features.systems.test_choosing import shown
from tests.ui.worlds import make_project


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_module, "default_folder", lambda: tmp_path / "data")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    folder = tmp_path / "chats"
    folder.mkdir()
    return write_chat(folder / "Tale.jsonl")


@pytest.fixture
def opened(make_window: Callable[..., MainWindow], tmp_path: Path, path: Path, qtbot: QtBot) -> MainWindow:
    """A window on the tale, with the recap pane in sight."""
    window = make_window(make_project(tmp_path / "vault"))
    use(window, SETTINGS, qtbot)
    return look(window, path, qtbot)


def use(window: MainWindow, settings: RecapSettings, qtbot: QtBot) -> None:
    settle(window, qtbot)
    window.session.replays.configure({"recap": settings})
    settle(window, qtbot)


def test_where_no_settings_of_systems_can_be_read_those_as_shipped_hold(
    make_window: Callable[..., MainWindow], tmp_path: Path, path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    def refused(_files: SystemSettingsFiles) -> None:
        raise PermissionError(13, "Permission denied", "systems")

    monkeypatch.setattr(SystemSettingsFiles, "read", refused)
    window = look(make_window(make_project(tmp_path / "vault")), path, qtbot)
    assert window.features.recap.recaps.open is not None
    assert "permission denied" in said(window).lower()


def look(window: MainWindow, path: Path, qtbot: QtBot) -> MainWindow:
    window.session.reading.open_chat(path)
    settle(window, qtbot)
    window.show_pane("recap")
    settle(window, qtbot)
    assert window.features.recap.recaps.open is not None
    return window


def settle(window: MainWindow, qtbot: QtBot) -> None:
    """Until nothing is under way any more, in the session and beside the window."""
    desk, queue = window.features.recap.recaps, window.features.recap.queue

    def rests() -> bool:
        return window.session.jobs.idle and not window.session.busy and desk.work.idle and not queue.working

    qtbot.waitUntil(rests, timeout=20_000)


def run(window: MainWindow, action: str, qtbot: QtBot) -> None:
    window.run(action)
    settle(window, qtbot)


def namespace(path: Path, index: int) -> dict[str, Any]:
    found = records(path)[index + 1].get("extra", {}).get("auto_recap", {})
    assert isinstance(found, dict)
    return found


def box() -> QMessageBox:
    return [each for each in QApplication.topLevelWidgets() if isinstance(each, QMessageBox) and each.isVisible()][-1]


def press(words: str) -> None:
    next(each for each in box().buttons() if words in each.text().replace("&", "")).click()


def said(window: MainWindow) -> str:
    return " ".join(label.text() for label in window.bars.findChildren(QLabel))


def rows(window: MainWindow) -> list[Any]:
    return list(window.features.recap.pane.messages.model.rows)


def test_the_menus_of_its_head_have_what_is_rare_and_who_answers(opened: MainWindow) -> None:
    pane = opened.features.recap.pane
    rare, answers = ([act.text() for act in holder.menu().actions()] for holder in (pane.more, pane.asked))
    assert rare[:3] == ["Look for a scene break", "Running recap of all scenes", ""]
    assert answers[0] == "Offline stand-in (no model)"


def test_a_scene_break_is_looked_for_and_without_a_scene_there_is_no_running_recap(
    opened: MainWindow, path: Path, qtbot: QtBot
) -> None:
    pane = opened.features.recap.pane
    run(opened, "recap.running", qtbot)
    assert "no scene has a recap yet" in said(opened)
    run(opened, "recap.search", qtbot)
    assert [row.where for row in pane.scenes.model.rows] == [(0, 3), (4, 7)]
    assert {row.state for row in rows(opened)} == {RecapState.NONE}  # nothing else was queued
    before = len(pane.running.model.rows)
    run(opened, "recap.running", qtbot)
    assert len(pane.running.model.rows) == before + 1


def test_looking_writes_nothing(opened: MainWindow, path: Path) -> None:
    assert path.read_text("utf-8") == write_chat(path.with_name("Other.jsonl")).read_text("utf-8")
    assert [row.state for row in rows(opened)] == [RecapState.NONE] * len(TALE)
    assert not queue_path(path).exists()


@pytest.mark.long
def test_the_table_follows_the_message_that_is_looked_at(opened: MainWindow, qtbot: QtBot) -> None:
    table = opened.features.recap.pane.messages.view
    for message in (2, 5):
        opened.chat.choose(message)
        settle(opened, qtbot)
        assert table.current.index == message


@pytest.mark.long
def test_what_is_due_is_made_and_the_open_chat_goes_on_from_the_file(
    opened: MainWindow, path: Path, qtbot: QtBot
) -> None:
    run(opened, "recap.run", qtbot)
    pane = opened.features.recap.pane
    assert [row.state for row in rows(opened)] == [RecapState.INCLUDED] * 11 + [RecapState.NONE]
    assert [row.where for row in pane.scenes.model.rows] == [(0, 3), (4, 7)]
    assert [row.reaches for row in pane.running.model.rows] == [3, 7]
    project = opened.session.project
    assert project is not None
    assert project.chat is not None
    assert project.chat.messages[0].extra["auto_recap"] == namespace(path, 0)
    assert [message.is_system for message in project.chat.messages] == [True] * 4 + [False] * 8
    assert not opened.features.chat.files.unsaved
    assert "up to date" in said(opened)


@pytest.mark.long
def test_saving_the_chat_after_recaps_asks_nothing_and_keeps_them(opened: MainWindow, path: Path, qtbot: QtBot) -> None:
    run(opened, "recap.run", qtbot)
    before = [namespace(path, index) for index in range(len(TALE))]
    project = opened.session.project
    assert project is not None
    assert project.chat is not None
    made = editing.append(project.chat, editing.new_message(project.chat, "I sleep.", Voice.YOU, local_now()))
    opened.features.chat.change("a message", made)
    settle(opened, qtbot)
    run(opened, "chat.save", qtbot)
    assert not opened.features.chat.files.unsaved
    assert [namespace(path, index) for index in range(len(TALE))] == before
    assert len(rows(opened)) == len(TALE) + 1


@pytest.mark.long
def test_undoing_an_edit_from_before_keeps_the_recaps_made_since(opened: MainWindow, path: Path, qtbot: QtBot) -> None:
    project = opened.session.project
    assert project is not None
    assert project.chat is not None
    opened.features.chat.change("edit", editing.edit(project.chat, 11, "Somebody answers.", None))
    settle(opened, qtbot)
    run(opened, "chat.save", qtbot)
    run(opened, "recap.run", qtbot)
    opened.session.parts.undo()
    settle(opened, qtbot)
    chat = opened.session.project.chat if opened.session.project is not None else None
    assert chat is not None
    assert chat.messages[11].text == TALE[11]
    assert chat.messages[5].extra["auto_recap"] == namespace(path, 5)
    assert chat.messages[0].is_system


def test_a_break_from_the_chat_makes_a_scene_and_goes_away_again(opened: MainWindow, path: Path, qtbot: QtBot) -> None:
    opened.chat.choose(5)
    run(opened, "recap.break", qtbot)
    assert [row.where for row in opened.features.recap.pane.scenes.model.rows] == [(0, 5)]
    assert namespace(path, 5)["scene_break_visible"] is True
    assert "Remove" in opened.commands.actions["recap.break"].text()
    run(opened, "recap.break", qtbot)
    assert opened.features.recap.pane.scenes.model.rows == ()
    assert namespace(path, 5)["scene_break_visible"] is False


@pytest.mark.long
def test_unsaved_messages_are_saved_first_or_nothing_is_done(opened: MainWindow, path: Path, qtbot: QtBot) -> None:
    project = opened.session.project
    assert project is not None
    assert project.chat is not None
    opened.features.chat.change("edit", editing.edit(project.chat, 3, "He turns away.", None))
    settle(opened, qtbot)
    assert not opened.features.recap.pane.notice.isHidden()
    opened.chat.choose(3)
    opened.run("recap.break")
    press("Cancel")
    settle(opened, qtbot)
    assert namespace(path, 3) == {}
    opened.run("recap.break")
    press("Save chat")
    settle(opened, qtbot)
    assert records(path)[4]["mes"] == "He turns away."
    assert namespace(path, 3)["scene_break"] is True
    assert opened.features.recap.pane.notice.isHidden()


@pytest.mark.always
def test_a_recap_is_written_excluded_and_kept_hidden(opened: MainWindow, path: Path, qtbot: QtBot) -> None:
    page = opened.features.recap.pane.messages
    page.view.choose(2)
    page.text.lines.setPlainText("A greeting.")
    page.text.keep.click()
    settle(opened, qtbot)
    assert namespace(path, 2)["memory"] == "A greeting."
    assert namespace(path, 2)["edited"] is True
    page.exclude.click()
    settle(opened, qtbot)
    assert namespace(path, 2)["exclude"] is True
    assert rows(opened)[2].state is RecapState.EXCLUDED
    assert "excluded" in page.words.text()
    page.pin.click()
    settle(opened, qtbot)
    assert records(path)[3]["is_system"] is True
    assert "kept hidden" in page.model.columns[2].words(rows(opened)[2])


@pytest.mark.long
def test_what_is_being_written_survives_a_change_of_the_chat(opened: MainWindow, qtbot: QtBot) -> None:
    page = opened.features.recap.pane.messages
    page.view.choose(2)
    page.text.lines.setPlainText("Half a sent")
    run(opened, "recap.run", qtbot)
    assert page.text.lines.toPlainText() == "Half a sent"
    page.view.choose(3)
    assert page.text.lines.toPlainText() == rows(opened)[3].recap
    page.view.choose(2)
    assert page.text.lines.toPlainText() == "Half a sent"
    page.text.back.click()
    assert page.text.lines.toPlainText() == rows(opened)[2].recap != ""


@pytest.mark.long
@pytest.mark.parametrize(("page", "stays"), [("messages", False), ("scenes", True)])
def test_what_is_being_written_goes_with_its_message(opened: MainWindow, qtbot: QtBot, page: str, stays: bool) -> None:
    run(opened, "recap.run", qtbot)
    while opened.features.recap.recaps.picture.running.versions:
        opened.features.recap.recaps.edit(lambda edits: edits.delete_running(edits.book.chat.running.current))
        settle(opened, qtbot)
    shown, chat = getattr(opened.features.recap.pane, page), opened.features.chat
    for index in (3, 7):
        shown.view.choose(index)
        shown.text.lines.setPlainText(f"Half {index}")
    chat.change("delete", editing.delete(opened.session.project.chat, 1))
    run(opened, "chat.save", qtbot)
    assert (shown.view.current.index == 6) == stays  # the messages follow the one that is looked at in the chat
    shown.view.choose(6)
    assert shown.text.lines.toPlainText() == "Half 7"
    shown.view.choose(2)
    assert (shown.text.lines.toPlainText(), shown.text.unkept) == ("Half 3", 2)
    chat.change("delete", editing.delete(opened.session.project.chat, 2))
    run(opened, "chat.save", qtbot)
    assert (shown.view.current is None, shown.text.unkept) == (stays, 1)
    shown.view.choose(5)
    assert shown.text.lines.toPlainText() == "Half 7"
    for _ in range(2):
        opened.session.parts.undo()
    run(opened, "chat.save", qtbot)
    for index in (3, 7):
        shown.view.choose(index)
        assert shown.text.lines.toPlainText() == f"Half {index}"
    assert shown.text.unkept == 2


@pytest.mark.long
def test_the_queue_that_is_shown_follows_messages_that_were_deleted(opened: MainWindow, qtbot: QtBot) -> None:
    recaps, project = opened.features.recap.recaps, opened.session.project
    recaps.edit(lambda _edits: recaps.open.enqueue_recap(4))
    settle(opened, qtbot)
    recaps.edit(lambda _edits: recaps.open.worker.pause())
    settle(opened, qtbot)
    opened.features.chat.change("delete", editing.delete(project.chat, 1))
    run(opened, "chat.save", qtbot)
    assert [row.words for row in opened.features.recap.pane.queue.model.rows] == ["Recap of a message, #3"]


@pytest.mark.long
def test_what_is_written_and_not_kept_is_asked_about_before_the_chat_is_left(opened: MainWindow, qtbot: QtBot) -> None:
    page = opened.features.recap.pane.messages
    page.view.choose(2)
    page.text.lines.setPlainText("Half a sent")
    page.view.choose(3)
    page.text.lines.setPlainText("Another")
    left: list[bool] = []
    opened.close()
    assert opened.isVisible()
    assert box().text() == "2 texts have not been kept in “Recap”."
    press("Cancel")
    assert page.text.lines.toPlainText() == "Another"
    opened.features.chat.composer.written.emit("I run.", Voice.CHARACTER)
    settle(opened, qtbot)
    assert opened.context.keep_chat(lambda: left.append(True))
    press("Throw away")
    assert "changes that are not in its file" in box().text(), "what becomes of the chat is asked for itself"
    assert (left, page.text.lines.toPlainText()) == ([], "")
    press("Throw away")
    assert left == [True]


@pytest.mark.long
def test_a_chat_under_another_name_can_use_its_running_recap(opened: MainWindow, path: Path, qtbot: QtBot) -> None:
    run(opened, "recap.run", qtbot)
    page, pane = opened.features.recap.pane.running, opened.features.recap.pane
    before = list(page.model.rows)
    assert len(before) == 2
    assert not opened.context.commands.actions["recap.adopt"].isEnabled()
    look(opened, path.rename(path.with_name("Renamed.jsonl")), qtbot)
    assert (list(page.model.rows), pane.save.text()) == ([], "Use it here")
    opened.chat.choose(4)
    run(opened, "recap.message", qtbot)  # the file is written, and what was refused put aside
    pane.save.click()
    settle(opened, qtbot)
    assert list(page.model.rows) == before
    assert not pane.notice.isVisible()


@pytest.mark.long
def test_versions_of_scenes_and_of_the_running_recap(opened: MainWindow, path: Path, qtbot: QtBot) -> None:
    run(opened, "recap.run", qtbot)
    pane = opened.features.recap.pane
    pane.scenes.view.choose(7)
    assert "Locked" in pane.scenes.words.text()
    assert pane.scenes.text.lines.isReadOnly()
    assert not pane.scenes.make.isEnabled()
    pane.running.view.choose(0)
    pane.running.use.click()
    settle(opened, qtbot)
    assert records(path)[0]["chat_metadata"]["auto_recap_running_scene_recaps"]["current_version"] == 0
    pane.running.text.lines.setPlainText("They met at the mill.")
    pane.running.text.keep.click()
    settle(opened, qtbot)
    store = records(path)[0]["chat_metadata"]["auto_recap_running_scene_recaps"]
    assert store["current_version"] == 2
    assert store["versions"][2]["content"] == "They met at the mill."
    pane.running.view.choose(2)
    pane.running.delete.click()
    press("Delete")
    settle(opened, qtbot)
    assert [row.number for row in pane.running.model.rows] == [0, 1]


@pytest.mark.long
def test_a_scene_recap_gets_another_version_to_choose(opened: MainWindow, path: Path, qtbot: QtBot) -> None:
    use(opened, SETTINGS.model_copy(update={"running_scene_recap_auto_generate": False}), qtbot)
    run(opened, "recap.run", qtbot)
    page = opened.features.recap.pane.scenes
    page.view.choose(3)
    page.text.lines.setPlainText("At the mill.")
    page.text.keep.click()
    settle(opened, qtbot)
    assert namespace(path, 3)["scene_recap_versions"] == ["At the mill."]
    page.make.click()
    settle(opened, qtbot)
    assert page.view.current.versions == "2/2"
    page.before.click()
    settle(opened, qtbot)
    assert page.view.current.versions == "1/2"
    assert not page.before.isEnabled()
    assert namespace(path, 3)["scene_recap_current_index"] == 0
    page.delete.click()
    press("Delete")
    settle(opened, qtbot)
    assert [row.index for row in page.model.rows] == [7]


@pytest.mark.long
def test_a_recap_of_the_extension_without_versions_is_the_first_when_it_is_made_again(
    make_window: Callable[..., MainWindow], tmp_path: Path, path: Path, qtbot: QtBot
) -> None:
    lines = records(path)
    for index, versions in ((3, {}), (7, {"scene_recap_versions": [""], "scene_recap_current_index": 0})):
        kept = {"scene_break": True, "scene_break_recap": f"Told {index}.", "scene_recap_memory": f"Told {index}."}
        lines[index + 1]["extra"]["auto_recap"] = {**kept, **versions}
    path.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    window = make_window(make_project(tmp_path / "vault"))
    use(window, SETTINGS.model_copy(update={"running_scene_recap_auto_generate": False}), qtbot)
    look(window, path, qtbot)
    page = window.features.recap.pane.scenes
    assert [row.versions for row in page.model.rows] == ["1/1", "1/1"]
    for index in (7, 3):
        page.view.choose(index)
        page.make.click()
        settle(window, qtbot)
        assert page.view.current.versions == "2/2"
        page.before.click()
        settle(window, qtbot)
        assert page.text.lines.toPlainText() == f"Told {index}."


@pytest.mark.long
def test_the_prompt_of_the_shown_reply(opened: MainWindow, qtbot: QtBot) -> None:
    limited = {
        "message_recap_context_type": "absolute",
        "message_recap_context_limit": 20.0,
        "auto_hide_scene_count": 0,  # so that early replies stay replies
    }
    use(opened, SETTINGS.model_copy(update=limited), qtbot)
    run(opened, "recap.run", qtbot)
    page = opened.features.recap.pane.prompt
    opened.chat.choose(11)
    settle(opened, qtbot)
    assert "reply #11" in page.words.text().lower()
    assert "version 1" in page.words.text()
    totals = [row.after for row in page.model.rows if row.decision == "included"]
    assert totals == sorted(totals)
    assert totals[-1] <= 20
    closing = next(row for row in page.model.rows if row.decision.value == "over_limit")
    assert closing.after > 20
    assert page.model.columns[2].words(closing).endswith("of 20")
    opened.chat.choose(3)  # before the first scene was over
    settle(opened, qtbot)
    assert "no running recap" in page.words.text()
    assert page.text.toPlainText() == ""
    assert [row.index for row in page.model.rows] == [2, 1, 0]


class Answers:
    """Says the same to everything, fails, or never comes."""

    name = "test"
    label = "Test"

    def __init__(self) -> None:
        self.asked: list[ChatRequest] = []
        self.error: Exception | None = None
        self.wait = False
        self.finish = ""

    async def answer(self, request: ChatRequest) -> ChatReply:
        self.asked.append(request)
        if self.wait:
            await asyncio.Event().wait()
        if self.error is not None:
            raise self.error
        return ChatReply("A recap.", source="Test", finish=self.finish)


@pytest.fixture
def provider(opened: MainWindow, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot) -> Answers:
    """A provider is chosen in the window, and this is what it says."""
    answers = Answers()
    monkeypatch.setattr(queueing, "make_answers", lambda *_all, **_more: (answers, "small"))
    opened.session.replays.choose(source=Source(AnswerKind.PROVIDER, "Mine"))
    settle(opened, qtbot)
    return answers


def test_a_provider_is_asked_once_its_cost_is_agreed_to(
    opened: MainWindow, path: Path, provider: Answers, qtbot: QtBot
) -> None:
    opened.chat.choose(4)
    opened.run("recap.message")
    qtbot.waitUntil(lambda: opened.features.recap.recaps.work.idle)
    assert "1 call to the provider" in box().text()
    assert provider.asked == []
    press("Cancel")
    settle(opened, qtbot)
    assert provider.asked == []
    assert opened.features.recap.recaps.queue.left == 0
    opened.run("recap.message")
    qtbot.waitUntil(lambda: opened.features.recap.recaps.work.idle)
    press("Ask Mine")
    settle(opened, qtbot)
    assert namespace(path, 4)["memory"] == "A recap."


def test_a_failure_says_why_and_what_to_do(opened: MainWindow, path: Path, provider: Answers, qtbot: QtBot) -> None:
    provider.error = LlmError(ErrorKind.AUTHENTICATION, "the key was refused")
    opened.chat.choose(4)
    opened.run("recap.message")
    qtbot.waitUntil(lambda: opened.features.recap.recaps.work.idle)
    press("Ask Mine")
    settle(opened, qtbot)
    assert "the key was refused" in said(opened)
    assert "asks for it again" in said(opened)
    assert rows(opened)[4].state is RecapState.FAILED
    assert opened.features.recap.pane.queue.model.rows[0].state == "failed"


def test_a_recap_without_its_end_is_kept_and_told(
    opened: MainWindow, path: Path, provider: Answers, qtbot: QtBot
) -> None:
    for finish in ("length", "stop"):
        provider.finish = finish
        opened.chat.choose(4)
        opened.run("recap.message")
        qtbot.waitUntil(lambda: opened.features.recap.recaps.work.idle)
        press("Ask Mine")
        settle(opened, qtbot)
        assert namespace(path, 4)["memory"] == "A recap."
        assert ("1 answer was cut off" in said(opened), "Longest recap" in said(opened)) == ((finish == "length",) * 2)
        assert "The recaps are up to date: 1 step done." in said(opened)


def test_an_attempt_that_fails_is_waited_for_and_hurried(
    opened: MainWindow, path: Path, provider: Answers, qtbot: QtBot
) -> None:
    opened.context.say(Notice("The recaps are up to date: 3 steps done.", "good", key="recap"))
    provider.error = LlmError(ErrorKind.SERVER, "the server is down")
    opened.chat.choose(4)
    opened.run("recap.message")
    qtbot.waitUntil(lambda: opened.features.recap.recaps.work.idle)
    press("Ask Mine")
    desk, page = opened.features.recap.recaps, opened.features.recap.pane.queue
    qtbot.waitUntil(lambda: desk.queue.retry_at is not None, timeout=10_000)
    assert "the server is down" in opened.features.recap.pane.state.text()
    assert "The next one is in" in opened.features.recap.pane.state.text()
    assert "up to date" not in said(opened)  # of the work before
    assert page.hurry.isEnabled()
    provider.error = None
    page.hurry.click()
    settle(opened, qtbot)
    assert namespace(path, 4)["memory"] == "A recap."


@pytest.mark.long
def test_an_end_in_the_middle_loses_nothing_and_the_next_window_offers_to_go_on(
    opened: MainWindow,
    path: Path,
    provider: Answers,
    qtbot: QtBot,
    make_window: Callable[..., MainWindow],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    provider.wait = True
    opened.chat.choose(4)
    opened.run("recap.message")
    qtbot.waitUntil(lambda: opened.features.recap.recaps.work.idle)
    press("Ask Mine")
    qtbot.waitUntil(lambda: bool(provider.asked))
    opened.close()
    monkeypatch.undo()
    monkeypatch.setattr(session_module, "default_folder", lambda: tmp_path / "data")
    assert len(json.loads(queue_path(path).read_text("utf-8"))["queue"]) == 1
    window = make_window(make_project(tmp_path / "vault"), file="second.ini")
    window.session.reading.open_chat(path)
    settle(window, qtbot)
    assert "1 step of recap work is left from before" in said(window)
    run(window, "recap.resume", qtbot)  # answered by the stand-in
    assert namespace(path, 4)["memory"]
    assert json.loads(queue_path(path).read_text("utf-8"))["queue"] == []


@pytest.mark.long
def test_pause_take_out_and_empty(opened: MainWindow, path: Path, provider: Answers, qtbot: QtBot) -> None:
    provider.wait = True
    opened.run("recap.run")
    qtbot.waitUntil(lambda: opened.features.recap.recaps.work.idle)
    press("Ask Mine")
    qtbot.waitUntil(lambda: bool(provider.asked))
    desk, page = opened.features.recap.recaps, opened.features.recap.pane.queue
    before = desk.queue.left
    opened.run("recap.pause")
    qtbot.waitUntil(lambda: desk.queue.state.paused)
    page.view.choose(next(row.key for row in page.model.rows if row.state == "in_progress"))
    page.remove.click()
    settle(opened, qtbot)
    assert desk.queue.left == before - 1
    assert desk.queue.state.paused
    assert opened.commands.actions["recap.resume"].isEnabled()
    run(opened, "recap.clear_queue", qtbot)
    assert desk.queue.left == 0
    assert all("memory" not in namespace(path, index) for index in range(len(TALE)))


@pytest.mark.always
def test_no_reply_from_the_provider_that_the_queue_is_using(
    opened: MainWindow, provider: Answers, qtbot: QtBot
) -> None:
    provider.wait = True
    opened.settings.setValue("chat/writer", "Mine")
    opened.chat.choose(4)
    opened.run("recap.message")
    qtbot.waitUntil(lambda: opened.features.recap.recaps.work.idle)
    press("Ask Mine")
    qtbot.waitUntil(lambda: bool(provider.asked))
    opened.run("reply.get")
    assert "Recap work is asking Mine" in said(opened)
    assert not opened.features.chat.replies.busy
    assert opened.features.recap.hinders(Source(AnswerKind.PROVIDER, "Other")) is None
    run(opened, "recap.clear_queue", qtbot)
    assert opened.features.recap.hinders(Source(AnswerKind.PROVIDER, "Mine")) is None


@pytest.mark.long
def test_going_into_a_table_chooses_nothing(opened: MainWindow, qtbot: QtBot) -> None:
    run(opened, "recap.run", qtbot)
    opened.chat.choose(10)
    pane = opened.features.recap.pane
    pane.tabs.setCurrentWidget(pane.scenes)
    pane.scenes.view.setFocus()
    settle(opened, qtbot)
    assert opened.selection.message == 10
    pane.scenes.view.selectRow(1)
    assert opened.selection.message == 7


@pytest.mark.long
def test_another_chat_ends_the_work_and_its_queue_stays(
    opened: MainWindow, path: Path, provider: Answers, qtbot: QtBot
) -> None:
    provider.wait = True
    opened.chat.choose(4)
    opened.run("recap.message")
    qtbot.waitUntil(lambda: opened.features.recap.recaps.work.idle)
    press("Ask Mine")
    qtbot.waitUntil(lambda: bool(provider.asked))
    other = write_chat(path.with_name("Second.jsonl"), TALE[:4])
    opened.session.reading.open_chat(other)
    settle(opened, qtbot)
    assert len(rows(opened)) == 4
    assert len(json.loads(queue_path(path).read_text("utf-8"))["queue"]) == 1


@pytest.mark.long
def test_kept_up_to_date_by_itself_after_saving(opened: MainWindow, path: Path, qtbot: QtBot) -> None:
    run(opened, "recap.by_itself", qtbot)
    project = opened.session.project
    assert project is not None
    assert project.chat is not None
    made = editing.append(
        project.chat, editing.new_message(project.chat, "A bell rings.", Voice.CHARACTER, local_now())
    )
    opened.features.chat.change("a message", made)
    settle(opened, qtbot)
    run(opened, "chat.save", qtbot)
    qtbot.waitUntil(lambda: rows(opened)[11].state is RecapState.INCLUDED, timeout=10_000)
    settle(opened, qtbot)
    assert namespace(path, 11)["memory"]
    assert [row.where for row in opened.features.recap.pane.scenes.model.rows] == [(0, 3), (4, 7)]


@pytest.mark.always
def test_without_the_wish_nothing_is_made_by_itself(opened: MainWindow, path: Path, qtbot: QtBot) -> None:
    project = opened.session.project
    assert project is not None
    assert project.chat is not None
    opened.features.chat.change("edit", editing.edit(project.chat, 3, "He turns away.", None))
    settle(opened, qtbot)
    run(opened, "chat.save", qtbot)
    assert all(namespace(path, index) == {} for index in range(len(TALE)))


@pytest.mark.long
def test_by_itself_a_provider_waits_for_the_person(
    opened: MainWindow, path: Path, provider: Answers, qtbot: QtBot
) -> None:
    run(opened, "recap.by_itself", qtbot)
    project = opened.session.project
    assert project is not None
    assert project.chat is not None
    opened.features.chat.change("edit", editing.edit(project.chat, 3, "He turns away.", None))
    made = opened.session.project.chat if opened.session.project is not None else None
    assert made is not None
    more = editing.append(made, editing.new_message(made, "A bell rings.", Voice.CHARACTER, local_now()))
    opened.features.chat.change("a message", more)
    settle(opened, qtbot)
    run(opened, "chat.save", qtbot)
    qtbot.waitUntil(lambda: "It begins when you say so" in said(opened), timeout=10_000)
    assert provider.asked == []
    assert opened.features.recap.recaps.queue.left > 0


@pytest.mark.long
def test_what_can_be_done_depends_on_the_chat_the_message_and_the_queue(
    opened: MainWindow, provider: Answers, tmp_path: Path, qtbot: QtBot
) -> None:
    desk, page = opened.features.recap.recaps, opened.features.recap.pane.queue

    def can() -> set[str]:
        opened.update_actions()
        actions = {name: each for name, each in opened.commands.actions.items() if name.startswith("recap.")}
        return {name.partition(".")[2] for name, each in actions.items() if each.isEnabled()} - {"settings"}

    with_chat = {"run", "by_itself", "search", "running"}
    opened.selection.choose_message(None, None)
    assert can() == with_chat | {"clear"}
    opened.chat.choose(4)
    of_a_message = with_chat | {"message", "break"}
    assert can() == of_a_message | {"clear"}
    provider.wait = True
    opened.run("recap.run")
    qtbot.waitUntil(lambda: desk.work.idle)
    press("Ask Mine")
    qtbot.waitUntil(lambda: bool(provider.asked))
    assert can() == of_a_message | {"pause", "clear_queue"}, "under way"
    opened.run("recap.pause")
    qtbot.waitUntil(lambda: desk.queue.state.paused)
    assert can() == of_a_message | {"resume", "clear_queue"}, "the last step is under way"
    page.view.choose(next(row.key for row in page.model.rows if row.state == "in_progress"))
    page.remove.click()
    settle(opened, qtbot)
    assert can() == of_a_message | {"resume", "clear_queue", "clear"}, "it rests"
    run(opened, "recap.clear_queue", qtbot)
    assert can() == of_a_message | {"clear"}
    opened.session.set_project(make_project(tmp_path / "vault"))  # its chat is in no file
    settle(opened, qtbot)
    opened.chat.choose(4)
    assert can() == {"break"}, "the chat is saved first"
    opened.session.set_project(make_project(tmp_path / "vault", chat=False))
    settle(opened, qtbot)
    assert can() == set()


@pytest.mark.long
def test_the_demo_and_chats_without_a_file_say_what_to_do(
    make_window: Callable[..., MainWindow], tmp_path: Path, qtbot: QtBot
) -> None:
    window = make_window(make_project(tmp_path / "vault"), make_simulator=Simulator)
    window.show_pane("recap")
    settle(window, qtbot)
    assert "in no file yet" in window.features.recap.pane.empty.title.text()
    window.session.reading.open_demo()
    settle(window, qtbot)
    assert "demo" in window.features.recap.pane.empty.title.text()
    window.chat.show_generation(window.session.generations[0])
    assert window.features.chat.chosen is not None
    assert not any(window.commands.actions[each].isEnabled() for each in ("recap.run", "recap.message"))


@pytest.mark.long
def test_what_waited_for_the_recaps_of_a_chat_is_not_done_with_those_of_another(
    opened: MainWindow, path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(EffectWatch, "trials", lambda _watch: None)  # there is no engine that could try the demo's pins
    done: list[str] = []
    opened.session.replays.automatic = False  # the demo's runs are not asked about, and nobody has made them by hand
    opened.session.reading.open_demo()
    opened.features.recap._waiting.append(lambda: done.append("with the other one"))
    settle(opened, qtbot)
    opened.session.reading.open_chat(path)
    qtbot.waitUntil(lambda: opened.features.recap.recaps.open is not None)
    settle(opened, qtbot)
    assert done == []


def test_a_person_may_type_the_recap(opened: MainWindow, path: Path, qtbot: QtBot) -> None:
    opened.session.replays.choose(source=Source(AnswerKind.TYPED))
    settle(opened, qtbot)
    opened.chat.choose(4)
    opened.run("recap.message")
    qtbot.waitUntil(lambda: opened.features.providers.questions.dialog is not None)
    assert opened.features.providers.questions.dialog is not None
    opened.features.providers.questions.dialog.question.reply("I ride to the harbour.")
    settle(opened, qtbot)
    assert namespace(path, 4)["memory"] == "I ride to the harbour."


def test_a_person_who_is_asked_stops_the_questions_and_goes_on_later(
    opened: MainWindow, path: Path, qtbot: QtBot
) -> None:
    questions, recaps = opened.features.providers.questions, opened.features.recap.recaps
    opened.session.replays.choose(source=Source(AnswerKind.TYPED))
    settle(opened, qtbot)
    opened.chat.choose(4)
    opened.run("recap.message")
    qtbot.waitUntil(lambda: questions.dialog is not None)
    assert questions.dialog is not None
    texts = [each.text() for each in questions.dialog.findChildren(QLabel)]
    assert questions.dialog.windowTitle() == "Answer a question"
    assert "You answer in place of the model." in texts
    qtbot.keyClick(questions.dialog.reply, Qt.Key.Key_Period, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: questions.dialog is None)
    settle(opened, qtbot)
    assert (recaps.queue.left, recaps.queue.state.paused, "failed" in said(opened)) == (1, True, False)
    opened.run("recap.resume")
    qtbot.waitUntil(lambda: questions.dialog is not None)
    assert questions.dialog is not None
    qtbot.keyClicks(questions.dialog.reply, "I ride to the harbour.")
    questions.dialog.give.click()
    settle(opened, qtbot)
    assert (recaps.queue.left, namespace(path, 4)["memory"]) == (0, "I ride to the harbour.")


def test_without_a_recorded_answer_the_step_fails_at_once_and_says_so(
    opened: MainWindow, path: Path, qtbot: QtBot
) -> None:
    opened.session.replays.choose(source=Source(AnswerKind.RECORDED))
    settle(opened, qtbot)
    opened.chat.choose(4)
    run(opened, "recap.message", qtbot)
    assert "1 step of recap work failed" in said(opened)
    assert opened.features.recap.recaps.queue.left == 0
    assert rows(opened)[4].error == namespace(path, 4)["error"] != ""


@pytest.mark.long
def test_everything_in_the_pane_has_a_name_and_can_be_reached(opened: MainWindow, qtbot: QtBot) -> None:
    run(opened, "recap.run", qtbot)
    pane = opened.features.recap.pane
    for place in range(pane.tabs.count()):
        pane.tabs.setCurrentIndex(place)
        settle(opened, qtbot)
        for widget in pane.findChildren(QWidget):
            if not widget.isVisible() or widget.focusPolicy() == Qt.FocusPolicy.NoFocus:
                continue
            named = widget.accessibleName() or getattr(widget, "text", lambda: "")()
            assert named or isinstance(widget, QTabBar), widget.metaObject().className()


@pytest.mark.always
def test_settings_are_kept_and_used(opened: MainWindow, qtbot: QtBot) -> None:
    opened.run("recap.settings")
    (dialog,) = opened.findChildren(SystemSettingsDialog)
    tree = dialog.view.model
    few = shown(tree)
    dialog.view.advanced.setChecked(True)
    assert few < shown(tree) == set(RecapSettings.model_fields)
    dialog.view.search.setText("scenes that stay")
    assert shown(tree) == {"auto_hide_scene_count"}
    dialog.set_value("auto_hide_scene_count", 5)
    dialog.accept()
    settle(opened, qtbot)
    desk = opened.features.recap.recaps
    assert desk.settings.auto_hide_scene_count == 5
    assert opened.session.choices.systems["recap"] == desk.settings
    kept = opened.features.systems.files.read().values["recap"]
    assert kept == SETTINGS.model_copy(update={"auto_hide_scene_count": 5})


@pytest.mark.long
def test_all_recaps_can_be_taken_out(opened: MainWindow, path: Path, qtbot: QtBot) -> None:
    run(opened, "recap.run", qtbot)
    opened.run("recap.clear")
    press("Take out")
    settle(opened, qtbot)
    assert "auto_recap" not in path.read_text("utf-8").replace("auto_recap_running_scene_recaps", "")
    assert [row.state for row in rows(opened)] == [RecapState.NONE] * len(TALE)


def test_a_chat_that_cannot_be_read_says_so(opened: MainWindow, path: Path, qtbot: QtBot) -> None:
    desk = opened.features.recap.recaps
    queue_path(path).mkdir()
    desk._close()
    desk.follow()
    settle(opened, qtbot)
    assert "cannot be read" in opened.features.recap.pane.empty.title.text()
    queue_path(path).rmdir()
    opened.features.recap.pane.again.emit()
    settle(opened, qtbot)
    assert len(rows(opened)) == len(TALE)


def test_what_waits_for_recaps_is_given_up_where_there_will_be_none(
    opened: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    feature, recaps = opened.features.recap, opened.features.recap.recaps
    done: list[str] = []
    monkeypatch.setattr(recaps, "open", None)
    feature._when_ready(lambda: done.append("later"))
    assert len(feature._waiting) == 1
    feature._show()
    assert (len(feature._waiting), done) == (1, []), "they are being read"
    monkeypatch.setattr(recaps, "problem", "The file is gone.")
    feature._show()
    assert (feature._waiting, done) == ([], [])
    monkeypatch.undo()
    feature._when_ready(lambda: done.append("now"))
    assert done == ["now"]


@pytest.mark.always
def test_a_message_without_a_chat_is_nothing_to_make_a_recap_of(opened: MainWindow) -> None:
    feature = opened.features.recap
    asked: list[object] = []
    feature._when_ready = asked.append  # type: ignore[method-assign]
    opened.selection.choose_message(None, None)
    feature.recap_message()
    feature.toggle_break()
    assert asked == []
    assert opened.commands.actions["recap.break"].text().endswith("cene break after this message")
    amount = len(opened.session.project.chat.messages)
    opened.selection.choose_message(amount, None)  # the reply to come
    feature.recap_message()
    assert asked == []
    opened.selection.choose_message(0, None)
    feature.recap_message()
    feature.toggle_break()
    assert len(asked) == 2


@pytest.mark.long
def test_a_message_is_gone_to_and_ends_a_scene_from_its_row(opened: MainWindow, qtbot: QtBot) -> None:
    pane = opened.features.recap.pane
    menu = menu_of_row(pane.messages.view, pane.messages.model.index(4, 0))
    assert titles_of(menu)[0] == "Go to the message"
    by_title = {each.text(): each for each in menu.actions()}
    by_title["Scene break after this message"].trigger()
    by_title["Go to the message"].trigger()
    menu.close()
    settle(opened, qtbot)
    assert (opened.selection.message, opened.current_pane()) == (4, opened.chat)
    assert [row.where for row in pane.scenes.model.rows] == [(0, 4)]
