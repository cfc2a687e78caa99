"""The memories in the window: drawing facts out, looking after them, and where each came from."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication
from PySide6.QtWidgets import QApplication, QLabel, QMessageBox, QPushButton
from pytestqt.qtbot import QtBot

from lorestudio.domain.chat import Chat, Message
from lorestudio.domain.records import replace
from lorestudio.exchange.problems import InputError
from lorestudio.llm.errors import ErrorKind
from lorestudio.settings.facts import FactsSettings
from lorestudio.settings.hybrid import NO_EMBEDDER
from lorestudio.studio.project.answering import AnswerKind, ChatReply, ChatRequest, LlmError, Source
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.systems.facts.session import FactsSession
from lorestudio.ui.features.facts import extraction as worker
from lorestudio.ui.features.facts.actions import ROW_MENU
from lorestudio.ui.features.facts.pane import MemoriesPane
from lorestudio.ui.features.facts.table import SIMILARITY, TEXT, USES
from lorestudio.ui.shell.main_window import MainWindow
from lorestudio.ui.shell.words import Notice
from lorestudio.ui.state.choices import source_title
from tests.ui.conftest import menu_of_row, rest, titles_of
from tests.ui.worlds import make_project

CHAT = Chat(
    tuple(
        Message("Wren" if said.startswith("I") else "Ada", said, said.startswith("I"), send_date=f"2024-10-0{day}")
        for day, said in (
            (1, "Who carries the lantern?"), (1, "I carry the lantern."),
            (1, "And the rope?"), (1, "I want more rope."),
            (1, "Where to?"), (1, "I need the north road."),
        )
    ),
    "Wren",
    "Ada",
)  # fmt: skip
FACTS = ("I carry the lantern", "I want more rope", "I need the north road")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "memories.sqlite"


@pytest.fixture
def opened(make_window: Callable[..., MainWindow], tmp_path: Path, store: Path, qtbot: QtBot) -> MainWindow:
    """A window on three passages of a chat, with the pane in sight."""
    return look(make_window, tmp_path, store, qtbot)


@pytest.fixture
def drawn(opened: MainWindow, qtbot: QtBot) -> MainWindow:
    """The same with a memory of each passage."""
    run(opened, "memories.extract", qtbot)
    return opened


def look(
    make_window: Callable[..., MainWindow], folder: Path, store: Path, qtbot: QtBot, *, file: str = "window.ini"
) -> MainWindow:
    project = replace(make_project(folder / "vault"), chat=CHAT, chat_path=folder / "Tale.jsonl")
    window = make_window(project, file=file, make_simulator=Simulator)
    window.session.replays.configure({"facts": FactsSettings(store=str(store), passage=2)})
    window.show_pane("memories")
    settle(window, qtbot)
    return window


def settle(window: MainWindow, qtbot: QtBot) -> None:
    """Until nothing is under way any more."""
    memories = window.features.memories

    def rests() -> bool:
        calm = window.session.jobs.idle and not window.session.busy
        return calm and memories.store.idle and not memories.work.busy

    qtbot.waitUntil(rests, timeout=20_000)


def run(window: MainWindow, action: str, qtbot: QtBot) -> None:
    QApplication.processEvents()
    assert window.commands.actions[action].isEnabled()
    window.run(action)
    settle(window, qtbot)


def pane(window: MainWindow) -> MemoriesPane:
    return window.features.memories.pane


def texts(window: MainWindow) -> list[str]:
    return [row.memory.content for row in pane(window).memories.model.rows]


def choose(window: MainWindow, text: str) -> None:
    page = pane(window).memories
    page.view.choose(next(row.id for row in page.model.rows if row.memory.content == text))
    QApplication.processEvents()


def kept(store: Path) -> list[tuple[Any, ...]]:
    lines = sqlite3.connect(store)
    try:
        return lines.execute("SELECT content, tags, pinned FROM memories ORDER BY number").fetchall()
    finally:
        lines.close()


def memories_in(store: Path) -> dict[str, str]:
    """The ids of the memories by their texts."""
    lines = sqlite3.connect(store)
    try:
        return dict(lines.execute("SELECT content, id FROM memories").fetchall())
    finally:
        lines.close()


def said(window: MainWindow) -> str:
    return " ".join(label.text() for label in window.bars.findChildren(QLabel))


def test_a_person_who_is_asked_stops_the_questions(opened: MainWindow, store: Path, qtbot: QtBot) -> None:
    questions, asked = opened.features.providers.questions, pane(opened).asked
    assert (asked.text(), asked.toolTip().partition(",")[0]) == ("Plain rules", "Plain rules")
    opened.session.replays.choose(source=Source(AnswerKind.TYPED))
    settle(opened, qtbot)
    assert asked.toolTip().startswith(f"{source_title(Source(AnswerKind.TYPED))}. ")
    opened.run("memories.extract")
    qtbot.waitUntil(lambda: questions.dialog is not None)
    assert questions.dialog is not None
    qtbot.keyClick(questions.dialog.reply, Qt.Key.Key_Period, Qt.KeyboardModifier.ControlModifier)
    settle(opened, qtbot)
    assert questions.dialog is None
    assert "Stopped. What is kept stays" in said(opened)
    assert opened.commands.actions["memories.extract"].isEnabled()


def box() -> QMessageBox:
    """The question that is asked, which a job may have to work out first."""

    def asked() -> list[QMessageBox]:
        return [each for each in QApplication.topLevelWidgets() if isinstance(each, QMessageBox) and each.isVisible()]

    for _ in range(5000):
        if asked():
            break
        rest()
    return asked()[-1]


def press(words: str) -> None:
    next(each for each in box().buttons() if words in each.text().replace("&", "")).click()


@pytest.mark.long
def test_a_text_that_is_not_kept_is_asked_about_before_the_window_closes(drawn: MainWindow, qtbot: QtBot) -> None:
    choose(drawn, FACTS[0])
    detail = pane(drawn).memories.detail
    detail.text.lines.setPlainText("I carry a lamp")
    choose(drawn, FACTS[1])
    drawn.close()
    assert drawn.isVisible()
    assert box().text() == "1 text has not been kept in “Memories”."
    press("Cancel")
    choose(drawn, FACTS[0])
    assert detail.text.lines.toPlainText() == "I carry a lamp"
    run(drawn, "memories.delete", qtbot)
    assert detail.text.unkept == 0  # with its memory it is gone, and comes back
    run(drawn, "memories.undo", qtbot)
    choose(drawn, FACTS[0])
    assert detail.text.lines.toPlainText() == "I carry a lamp"
    drawn.close()
    press("Throw away")
    assert not drawn.isVisible()


class Provider:
    """One fact a request; `failing` are the requests that fail, and `wait` lets none come."""

    name = label = "Mine"
    talks = False
    """It answers with something else than facts."""

    def __init__(self) -> None:
        self.asked: list[ChatRequest] = []
        self.failing: set[int] = set()
        self.wait = False

    async def answer(self, request: ChatRequest) -> ChatReply:
        self.asked.append(request)
        if self.wait and len(self.asked) > 1:
            await asyncio.Event().wait()
        if len(self.asked) in self.failing:
            raise LlmError(ErrorKind.SERVER, "overloaded")
        if self.talks:
            return ChatReply("I would rather not.")
        fact = {"content": f"{'abcdefghij'[len(self.asked)] * 6} holds", "source": "confirmed", "tags": ["lore"]}
        return ChatReply(json.dumps({"memories": [fact]}))


@pytest.fixture
def provider(opened: MainWindow, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot) -> Provider:
    """A provider is chosen in the window, and this is what it says."""
    made = Provider()
    monkeypatch.setattr(worker, "make_answers", lambda *_all, **_more: (made, "small"))
    opened.session.replays.choose(source=Source(AnswerKind.PROVIDER, "Mine"))
    settle(opened, qtbot)
    return made


# ---- drawing out ----------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_looking_makes_no_file_and_facts_are_drawn_out_and_kept(opened: MainWindow, store: Path, qtbot: QtBot) -> None:
    page = pane(opened).memories
    assert not store.exists()
    assert "3 passages" in page.empty.text.text()
    assert "plain rules take sentences" in page.empty.text.text()
    assert "3 passages wait" in pane(opened).state.text()
    tabs = pane(opened).tabs
    assert [tabs.tabText(place) for place in range(3)] == ["Memories", "Passages (3 waiting)", "Profile"]
    assert [row.waiting for row in pane(opened).passages.model.rows] == [True, True, True]
    able = {name: act.isEnabled() for name, act in opened.commands.actions.items() if name.startswith("memories.")}
    assert {name.removeprefix("memories.") for name, on in able.items() if on} == {
        "extract", "again", "search", "reload", "settings",
    }  # fmt: skip
    run(opened, "memories.extract", qtbot)
    drawn = opened
    assert sorted(texts(drawn)) == sorted(FACTS)
    assert len(kept(store)) == 3
    assert "3 sentences out of 3 passages, as they stand: 3 new memories" in said(drawn)  # no model was asked
    assert [tabs.tabText(place) for place in range(3)] == ["Memories", "Passages", "Profile"]
    passages = pane(drawn).passages
    assert [(row.state, row.waiting, row.memories) for row in passages.model.rows] == [("dormant", False, 1)] * 3
    assert "are kept" in pane(drawn).state.text()
    run(drawn, "memories.extract", qtbot)
    assert "Nothing is waiting" in said(drawn)
    drawn.run("memories.again")
    press("Read again")
    settle(drawn, qtbot)
    assert "3 known already" in said(drawn)
    assert len(kept(store)) == 3


@pytest.mark.long
def test_a_cost_is_agreed_to_and_a_failed_passage_waits_for_a_later_window(
    opened: MainWindow,
    provider: Provider,
    store: Path,
    qtbot: QtBot,
    make_window: Callable[..., MainWindow],
    tmp_path: Path,
) -> None:
    run(opened, "memories.extract", qtbot)
    assert "3 calls to the provider" in box().text()
    press("Cancel")
    settle(opened, qtbot)
    assert provider.asked == []
    provider.failing = {2}
    run(opened, "memories.extract", qtbot)
    press("Ask Mine")
    settle(opened, qtbot)
    assert len(provider.asked) == 3
    assert "1 passage could not be read, #2 to #3" in said(opened)
    opened.close()
    later = look(make_window, tmp_path, store, qtbot, file="second.ini")
    passages = pane(later).passages
    assert [row.failures for row in passages.model.rows] == [0, 1, 0]
    passages.view.choose("2-3")
    assert "overloaded" in passages.words.text()
    assert "draw it out again" in passages.words.text()
    assert "1 failed before" in pane(later).state.text()
    passages.read.click()  # by plain rules this time
    settle(later, qtbot)
    assert [row.failures for row in passages.model.rows] == [0, 0, 0]
    assert "I want more rope" in texts(later)
    assert len(kept(store)) == 3


@pytest.mark.long
def test_replies_without_facts_are_no_success_and_old_failures_are_no_news(
    opened: MainWindow, provider: Provider, qtbot: QtBot
) -> None:
    provider.failing = {1, 2, 3}
    run(opened, "memories.extract", qtbot)
    press("Ask Mine")
    settle(opened, qtbot)
    assert "3 passages could not be read" in said(opened)
    provider.talks = True
    run(opened, "memories.extract", qtbot)
    press("Ask Mine")
    qtbot.waitUntil(lambda: bool(opened.bars.texts) and "could not be read" not in said(opened))  # the box closes first
    settle(opened, qtbot)
    assert not any("could not be read" in text for text in opened.bars.texts)
    assert opened.bars.texts[0].startswith("No facts came of 3 passages: the reply with the facts is no JSON")
    empty = pane(opened).memories.empty
    assert empty.isVisibleTo(opened)

    def shown() -> list[str]:
        return [button.text() for button in empty.findChildren(QPushButton) if not button.isHidden()]

    qtbot.waitUntil(lambda: shown()[-1:] == ["Read the whole chat again…"])  # the page is told by a job of its own


@pytest.mark.long
def test_stopping_or_another_chat_keeps_what_is_done(
    opened: MainWindow, provider: Provider, store: Path, qtbot: QtBot
) -> None:
    provider.wait = True
    run(opened, "memories.extract", qtbot)
    press("Ask Mine")
    qtbot.waitUntil(lambda: len(provider.asked) == 2)
    qtbot.waitUntil(lambda: opened.features.memories.work.under.passage == "2-3")
    assert "passage 2 of 3" in pane(opened).state.text()
    assert pane(opened).passages.model.texts()[2][1] == "Reading…"
    run(opened, "memories.stop", qtbot)
    assert len(kept(store)) == 1
    assert [row.waiting for row in pane(opened).passages.model.rows] == [False, True, True]
    assert "Stopped" in said(opened)
    assert pane(opened).progress.isHidden()
    run(opened, "memories.extract", qtbot)
    press("Ask Mine")
    qtbot.waitUntil(lambda: len(provider.asked) == 3)
    qtbot.waitUntil(lambda: "Stopped" not in said(opened))  # it goes on, and nothing waits
    opened.session.set_project(replace(make_project(), chat=CHAT, chat_path=Path("Other.jsonl")))
    settle(opened, qtbot)
    assert len(kept(store)) == 1
    assert [row.waiting for row in pane(opened).passages.model.rows] == [True, True, True]
    assert "Tale: Stopped." in said(opened), "the chat that is open was not stopped"


@pytest.mark.always
def test_what_stands_in_the_way_is_said(opened: MainWindow, tmp_path: Path, store: Path, qtbot: QtBot) -> None:
    store.write_text("This is no database, and it is long enough to be looked at as one." * 20, encoding="utf-8")
    run(opened, "memories.reload", qtbot)
    assert str(store) in pane(opened).empty.text.text()
    store.unlink()
    pane(opened).empty.pressed.emit("again")
    settle(opened, qtbot)
    assert len(pane(opened).passages.model.rows) == 3
    opened.session.set_project(replace(make_project(tmp_path / "vault"), chat=CHAT))
    settle(opened, qtbot)
    assert not opened.commands.actions["memories.extract"].isEnabled()
    assert "Save the chat first" in pane(opened).passages.empty.text.text()
    opened.show_pane("chat")
    opened.features.memories.extract()  # the pane says why not
    assert opened.current_pane() is pane(opened)
    opened.session.set_project(make_project(tmp_path / "vault", chat=False))
    settle(opened, qtbot)
    assert "Open a chat" in pane(opened).passages.empty.text.text()
    assert not store.exists()


# ---- looking after memories -----------------------------------------------------------------------------------------


@pytest.mark.long
def test_filter_order_search_and_the_keyboard(drawn: MainWindow, store: Path, qtbot: QtBot) -> None:
    page = pane(drawn).memories
    drawn.show_pane("memories")
    assert page.view.hasFocus()
    drawn.run("find.pane")
    assert page.bar.field.hasFocus()
    qtbot.keyClick(page.bar.field, Qt.Key.Key_Down)
    assert page.view.hasFocus()
    page.bar.field.setText("ROPE want")
    assert texts(drawn) == ["I want more rope"]
    page.bar.field.setText("nothing like it")
    assert page.empty.isVisible()
    page.empty.pressed.emit("all")
    assert len(texts(drawn)) == 3
    page.order_by(TEXT)
    assert texts(drawn) == sorted(FACTS)
    page.order_by(TEXT, descending=True)
    assert texts(drawn) == sorted(FACTS, reverse=True)
    page.bar.field.setFocus()
    page.bar.field.setText("the north road")
    qtbot.keyClick(page.bar.field, Qt.Key.Key_Return)
    settle(drawn, qtbot)
    assert texts(drawn)[0] == "I need the north road"
    assert len(texts(drawn)) == 3  # the words are no filter now
    assert not page.view.isColumnHidden(SIMILARITY)
    shown = [float(page.model.index(row, SIMILARITY).data()) for row in range(3)]
    assert shown == sorted(shown, reverse=True)
    page.strip.button.click()
    assert page.view.isColumnHidden(SIMILARITY)
    assert texts(drawn) == sorted(FACTS, reverse=True)
    choose(drawn, "I carry the lantern")
    run(drawn, "memories.similar", qtbot)
    assert texts(drawn)[0] == "I carry the lantern"
    page.view.setFocus()
    qtbot.keyClick(page.view, Qt.Key.Key_Delete)
    settle(drawn, qtbot)
    assert "I carry the lantern" not in [row[0] for row in kept(store)]


@pytest.mark.long
def test_what_is_changed_is_shown_without_reading_all_memories_again(
    drawn: MainWindow, store: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[bool] = []
    monkeypatch.setattr(drawn.features.memories.store, "renew", lambda: read.append(True))
    choose(drawn, "I want more rope")
    run(drawn, "memories.pin", qtbot)
    assert (kept(store)[1][2], pane(drawn).memories.detail.pin.isChecked(), read) == (1, True, [])


def test_edit_tag_pin_delete_and_take_back(drawn: MainWindow, store: Path, qtbot: QtBot) -> None:
    page, detail = pane(drawn).memories, pane(drawn).memories.detail
    choose(drawn, "I want more rope")
    run(drawn, "memories.edit", qtbot)
    assert detail.text.lines.hasFocus()
    detail.text.lines.setPlainText("Wren has rope")
    detail.text.keep.click()
    settle(drawn, qtbot)
    detail.tags.setText("rope, gear, rope")
    detail.tags.setModified(True)
    detail.tags.editingFinished.emit()
    settle(drawn, qtbot)
    run(drawn, "memories.pin", qtbot)
    assert kept(store)[1] == ("Wren has rope", '["rope", "gear"]', 1)
    assert detail.pin.isChecked()
    assert drawn.commands.actions["memories.pin"].text() == "Unpin the memory"
    page.bar.only_pinned.click()
    assert texts(drawn) == ["Wren has rope"]
    page.bar.only_pinned.click()
    page.bar.tag.setCurrentText("gear")
    page.bar.tag.activated.emit(page.bar.tag.currentIndex())
    assert texts(drawn) == ["Wren has rope"]
    run(drawn, "memories.delete", qtbot)
    assert [row[0] for row in kept(store)] == [FACTS[0], FACTS[2]]
    assert "1 memory was deleted" in said(drawn)
    run(drawn, "memories.undo", qtbot)
    assert kept(store)[2] == ("Wren has rope", '["rope", "gear"]', 1)
    assert "Wren has rope" in texts(drawn)
    assert not drawn.commands.actions["memories.undo"].isEnabled()


@pytest.mark.always
def test_what_can_be_done_depends_on_the_memories_and_on_which_is_chosen(
    opened: MainWindow, tmp_path: Path, qtbot: QtBot
) -> None:
    def can() -> set[str]:
        opened.update_actions()
        actions = {name: each for name, each in opened.commands.actions.items() if name.startswith("memories.")}
        always = {"search", "reload", "settings"}
        return {name.partition(".")[2] for name, each in actions.items() if each.isEnabled()} - always

    of_a_chat = {"extract", "again"}
    assert can() == of_a_chat
    run(opened, "memories.extract", qtbot)
    pane(opened).memories.view.choose(None)
    assert can() == of_a_chat | {"copy_all"}
    choose(opened, FACTS[1])
    of_one = {"similar", "edit", "pin", "delete", "messages", "origin", "copy"}
    assert can() == of_a_chat | {"copy_all"} | of_one
    detail = pane(opened).memories.detail
    detail.pin.click()
    settle(opened, qtbot)
    detail.tags.setText("gear")
    detail.tags.setModified(True)
    detail.tags.editingFinished.emit()
    settle(opened, qtbot)
    now = pane(opened).memories.current
    assert now is not None
    assert (now.memory.pinned, list(now.memory.tags)) == (True, ["gear"])
    detail.delete.click()
    settle(opened, qtbot)
    assert FACTS[1] not in texts(opened)
    assert "undo" in can()
    run(opened, "memories.undo", qtbot)
    assert "undo" not in can()
    opened.session.set_project(make_project(tmp_path / "vault", chat=False))
    settle(opened, qtbot)
    pane(opened).memories.view.choose(None)
    assert can() & of_a_chat == set(), "no chat to read"


@pytest.mark.long
def test_a_memory_tells_where_it_came_from_and_that_its_vector_is_stale(
    drawn: MainWindow, store: Path, qtbot: QtBot
) -> None:
    path = drawn.features.memories.store.place.path
    with FactsSession(FactsSettings(passage=2, supersede_threshold=0.4), store, Again()) as session:
        asyncio.run(session.extract(CHAT, path, session.waiting(CHAT, path, again=True)[:1]))
    run(drawn, "memories.reload", qtbot)
    choose(drawn, "I carry the brass lantern")
    run(drawn, "memories.origin", qtbot)
    history = pane(drawn).memories.detail.history
    first, newer = history.model.rows[:2]
    assert (first.decision.fact, newer.decision.fact) == ("I carry the lantern", "I carry the brass lantern")
    assert newer.decision.neighbour_text == "I carry the lantern"
    assert "#0 to #1" in history.words.text()
    assert "dormant" in history.words.text()
    history.messages.click()
    assert drawn.selection.message == 0
    assert drawn.current_pane() is drawn.chat
    lines = sqlite3.connect(store)
    with lines:
        lines.execute("UPDATE memories SET vector_model = 'another' WHERE number < 3")
    lines.close()
    refresh = drawn.commands.actions["memories.refresh"]
    assert not refresh.isEnabled()
    run(drawn, "memories.reload", qtbot)
    assert pane(drawn).notice.isVisible()
    assert "2 vectors are stale" in pane(drawn).notice_text.text()
    assert sum(row.stale for row in pane(drawn).memories.model.rows) == 2
    button = pane(drawn).refresh
    assert (button.text(), button.accessibleName()) == ("Refresh", "Refresh vectors")
    assert (button.isEnabled(), refresh.isEnabled()) == (True, True)
    button.click()
    assert pane(drawn).progress.isVisible()
    drawn.update_actions()
    able = [drawn.commands.actions[f"memories.{name}"].isEnabled() for name in ("refresh", "extract", "again", "stop")]
    assert (able, button.isEnabled()) == ([False, False, False, True], False)
    settle(drawn, qtbot)
    assert not pane(drawn).notice.isVisible()
    assert "2 vectors were made" in said(drawn)


class Again:
    name = label = "again"

    async def answer(self, _request: ChatRequest) -> ChatReply:
        return ChatReply('{"memories": [{"content": "I carry the brass lantern", "source": "confirmed"}]}')


def test_how_often_each_memory_went_into_the_replies_of_the_run(drawn: MainWindow, store: Path, qtbot: QtBot) -> None:
    page = pane(drawn).memories
    assert page.model.uses is None  # the runs are those of another system
    drawn.session.replays.choose(system="facts")
    settle(drawn, qtbot)
    ids = memories_in(store)
    went_in = Counter(
        trace.entries[each.entry].filename for trace in drawn.session.runs.traces.values() for each in trace.injections
    )
    assert went_in[ids["I carry the lantern"]] > went_in[ids["I need the north road"]] > 0
    shown = {row.id: page.model.index(place, USES).data() for place, row in enumerate(page.model.rows)}
    assert shown == {each: str(went_in[each]) for each in ids.values()}
    known = page.model.uses
    page.show_uses(None)
    drawn.features.memories.pane_made("memories")  # as where the pane is first looked at behind a run
    assert page.model.uses == known
    page.order_by(USES)
    assert texts(drawn)[0] == "I carry the lantern"
    simulator, project = drawn.session.runs.finished(), drawn.session.project
    assert simulator is not None
    assert project is not None
    with pytest.MonkeyPatch.context() as patch:  # as while somebody is asked about the cost
        patch.setattr(type(drawn.session.runs), "finished", lambda _runs: Simulator(project, simulator.system))
        drawn.session.traces_changed.emit(None)
        assert page.model.uses is None, "of replies that were not run nothing is known"
    drawn.session.replays.choose(system="deeplore")
    settle(drawn, qtbot)
    assert page.model.uses is None


@pytest.mark.always
def test_from_the_run_to_the_memory_and_back_and_to_those_of_all_chats(
    drawn: MainWindow, store: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    page, actions = pane(drawn).memories, drawn.commands.actions
    choose(drawn, "I carry the lantern")
    assert not actions["memories.in_run"].isEnabled()  # the runs are those of another system
    assert not page.detail.history.in_run.isEnabled()
    drawn.session.replays.choose(system="facts")
    settle(drawn, qtbot)
    drawn.chat.choose(4)
    choose(drawn, "I carry the lantern")
    assert page.detail.history.in_run.isEnabled()
    run(drawn, "memories.in_run", qtbot)
    trace = drawn.session.runs.trace(drawn.selection.generation)
    assert trace is not None
    assert drawn.selection.entry is not None
    assert trace.entries[drawn.selection.entry].title == "I carry the lantern"
    assert drawn.current_pane() is drawn.trace
    choose(drawn, "I want more rope")
    pane(drawn).tabs.setCurrentIndex(1)
    run(drawn, "trace.entry", qtbot)
    assert drawn.current_pane() is pane(drawn)
    assert (pane(drawn).tabs.currentIndex(), page.view.hasFocus()) == (0, True)
    assert page.current.memory.content == "I carry the lantern"  # type: ignore[union-attr]  # chosen
    before = trace
    run(drawn, "memories.pin", qtbot)  # what the runs were made with is another thing now
    after = drawn.session.runs.trace(drawn.selection.generation)
    assert after is not None
    assert after is not before
    drawn.features.memories.show_memory("gone")
    settle(drawn, qtbot)
    assert drawn.statusBar().currentMessage() == "This memory was deleted since the run."
    assert page.bar.scope.currentIndex() == 1  # it was looked for among those of all chats
    other = replace(make_project(tmp_path / "vault"), chat=CHAT, chat_path=tmp_path / "Other.jsonl")
    drawn.session.set_project(other)
    settle(drawn, qtbot)
    assert len(texts(drawn)) == 3
    page.bar.scope.setCurrentIndex(0)
    page.bar.scope.activated.emit(0)
    settle(drawn, qtbot)
    assert texts(drawn) == []
    assert not actions["memories.copy_all"].isEnabled()
    drawn.features.memories.show_memory(memories_in(store)["I carry the lantern"])
    settle(drawn, qtbot)
    assert (len(texts(drawn)), page.current.memory.content) == (3, "I carry the lantern")  # type: ignore[union-attr]
    assert not actions["memories.messages"].isEnabled()
    run(drawn, "memories.copy", qtbot)
    assert QGuiApplication.clipboard().text() == "I carry the lantern"
    assert drawn.statusBar().currentMessage() == "The memory was copied."
    run(drawn, "memories.copy_all", qtbot)
    assert len(QGuiApplication.clipboard().text().splitlines()) == 5
    assert drawn.statusBar().currentMessage() == "3 memories were copied."


@pytest.mark.always
def test_the_menu_of_a_memory_and_the_doors_to_the_list(drawn: MainWindow, qtbot: QtBot) -> None:
    page = pane(drawn).memories
    pane(drawn).tabs.setCurrentIndex(2)
    assert pane(drawn).focus_target() is pane(drawn).tabs.tabBar()  # no profile, so no rows
    page.bar.field.setText("rope")
    drawn.show_pane("chat")
    drawn.run("memories.search")
    assert drawn.current_pane() is pane(drawn)
    assert (pane(drawn).tabs.currentIndex(), page.bar.field.hasFocus()) == (0, True)
    assert page.bar.field.selectedText() == "rope"
    ground = page.view.viewport()
    QApplication.sendEvent(ground, QContextMenuEvent(
        QContextMenuEvent.Reason.Mouse, ground.rect().bottomLeft(), ground.mapToGlobal(ground.rect().bottomLeft())
    ))  # fmt: skip
    assert QApplication.activePopupWidget() is None  # no memory is there
    choose(drawn, "I want more rope")
    menu = menu_of_row(page.view, page.view.currentIndex())
    assert titles_of(menu, enabled=True)[:3] == ["Edit the memory", "Pin the memory", "Delete the memory"]
    menu.close()
    drawn.activateWindow()
    pane(drawn).passages.view.choose("4-5")
    pane(drawn).passages.show_messages.click()
    assert (drawn.current_pane(), drawn.selection.message) == (drawn.chat, 4)
    run(drawn, "memories.messages", qtbot)
    assert drawn.selection.message == 2
    drawn.show_pane("memories")
    QApplication.processEvents()
    assert page.view.hasFocus()
    qtbot.keyClick(page.view, Qt.Key.Key_Return)
    assert page.detail.text.lines.hasFocus()
    qtbot.keyClick(page.detail.text.lines, Qt.Key.Key_Escape)
    assert page.view.hasFocus()
    run(drawn, "memories.similar", qtbot)
    assert (page.bar.field.text(), page.strip.isVisible()) == ("I want more rope", True)
    assert texts(drawn)[0] == "I want more rope"
    drawn.run("memories.again")
    assert box().text() == "Every passage of the chat is read again, also those whose facts are kept."
    press("Read again")
    settle(drawn, qtbot)
    assert "3 known already" in said(drawn)


@pytest.mark.long
def test_what_changed_while_nobody_looked_is_read_when_somebody_does(
    drawn: MainWindow, store: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    page = pane(drawn).memories
    drawn.docks["memories"].hide()
    lines = sqlite3.connect(store)
    with lines:
        lines.execute("DELETE FROM memories WHERE number = 1")
    lines.close()
    run(drawn, "memories.reload", qtbot)
    assert len(texts(drawn)) == 3
    drawn.show_pane("memories")
    settle(drawn, qtbot)
    assert len(texts(drawn)) == 2
    drawn.features.memories.store.undo()  # nothing was deleted here
    owners: list[tuple[bool, int]] = []
    search = FactsSession.search

    async def noted(self: FactsSession, text: str, owner: str, limit: int) -> object:
        owners.append((bool(owner), limit))
        return await search(self, text, owner, limit)

    monkeypatch.setattr(FactsSession, "search", noted)
    page.bar.field.setText("rope")
    page.bar.find_button.click()
    settle(drawn, qtbot)
    page.bar.scope.setCurrentIndex(1)
    page.bar.scope.activated.emit(1)  # the search goes on among those of all chats
    settle(drawn, qtbot)
    assert owners == [(True, 200), (False, 200)]
    assert not page.view.isColumnHidden(SIMILARITY)


@pytest.mark.always
def test_a_window_that_is_closed_waits_for_no_text_that_is_being_written(
    drawn: MainWindow, store: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    begun: list[str] = []

    async def never(_session: FactsSession, _memory: object, text: str) -> None:
        begun.append(text)
        await asyncio.Event().wait()

    monkeypatch.setattr(FactsSession, "edit", never)
    choose(drawn, "I want more rope")
    detail = pane(drawn).memories.detail
    detail.text.lines.setPlainText("Wren has rope")
    detail.text.keep.click()
    qtbot.waitUntil(lambda: begun == ["Wren has rope"])
    assert not drawn.features.memories.store.idle
    drawn.features.memories.stop()
    settle(drawn, qtbot)
    assert [row[0] for row in kept(store)] == list(FACTS)


@pytest.mark.long
def test_after_a_change_that_failed_the_memories_are_shown_as_they_are_kept(
    drawn: MainWindow, store: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    def pin(*_all: object, **_more: object) -> None:
        raise InputError("memories", "somebody else writes.")

    choose(drawn, "I want more rope")
    lines = sqlite3.connect(store)
    with lines:
        lines.execute("UPDATE memories SET content = 'I want less rope' WHERE content = 'I want more rope'")
    lines.close()
    monkeypatch.setattr(FactsSession, "pin", pin)
    run(drawn, "memories.pin", qtbot)
    assert "I want less rope" in texts(drawn)


@pytest.mark.long
def test_what_fails_is_said_and_nothing_is_lost(
    drawn: MainWindow, store: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    page, actions = pane(drawn).memories, drawn.commands.actions

    def fail(error: Exception) -> Callable[..., object]:
        def failing(*_all: object, **_more: object) -> object:
            raise error

        return failing

    told: list[Notice] = []
    drawn.session.notice.connect(told.append)
    choose(drawn, "I want more rope")
    monkeypatch.setattr(FactsSession, "pin", fail(OSError("the disk is full")))
    run(drawn, "memories.pin", qtbot)
    monkeypatch.setattr(FactsSession, "pin", fail(InputError("memories", "somebody else writes.")))
    run(drawn, "memories.pin", qtbot)
    assert [(each.text, each.tone) for each in told] == [
        ("the disk is full", "error"),
        ("memories: somebody else writes.", "warning"),
    ]
    assert [row[2] for row in kept(store)] == [0, 0, 0]
    run(drawn, "memories.delete", qtbot)
    with monkeypatch.context() as broken:
        broken.setattr(FactsSession, "restore", fail(OSError("the disk is full")))
        run(drawn, "memories.undo", qtbot)
        assert len(texts(drawn)) == 2
    assert actions["memories.undo"].isEnabled()
    run(drawn, "memories.undo", qtbot)
    assert (len(texts(drawn)), told[-1].text, told[-1].tone) == (3, "1 memory is back.", "good")
    with monkeypatch.context() as broken:
        broken.setattr(FactsSession, "search", fail(OSError("no connection")))
        page.bar.field.setText("rope")
        page.bar.find_button.click()
        settle(drawn, qtbot)
    why = "The search failed: no connection. Look at who makes the vectors."
    assert told[-1] == Notice(why, "error", actions=("memories.settings", "profiles.edit"), key="memories")
    assert (page.strip.isVisible(), texts(drawn)) == (False, ["I want more rope"])
    page.bar.find_button.click()
    settle(drawn, qtbot)
    assert (page.strip.isVisible(), len(texts(drawn))) == (True, 3)
    page.bar.field.setText(" ")  # nothing to search for: all are listed again
    page.bar.find_button.click()
    settle(drawn, qtbot)
    assert (page.strip.isVisible(), len(texts(drawn))) == (False, 3)
    drawn.session.replays.configure({"facts": FactsSettings(store=str(store), passage=2, embedder=NO_EMBEDDER)})
    settle(drawn, qtbot)
    assert pane(drawn).empty.title.text() == "The memories cannot be read"
    assert "Choose stand-in or a provider profile" in pane(drawn).empty.text.text()
    assert not pane(drawn).open_search()


# ---- the keyboard ---------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_the_menus_know_its_actions(table) -> None:
    own = [action for action in table if action.id.startswith("memories.")]
    assert {name for name in (*ROW_MENU, *MemoriesPane.menu) if name} <= {action.id for action in own}
    assert all(action.menu for action in own)


@pytest.mark.long
def test_timeline_budget_and_numbers_tell_memories_as_such(drawn: MainWindow, store: Path, qtbot: QtBot) -> None:
    run(drawn, "system.facts", qtbot)
    drawn.chat.show_generation(drawn.session.generations[-1])
    trace = drawn.session.runs.trace(drawn.selection.generation)
    assert trace is not None
    drawn.selection.choose_entry(trace.injections[0].entry)
    timeline = drawn.context.layout.docks["timeline"].pane
    drawn.show_pane("timeline")
    qtbot.waitUntil(lambda: "I&nbsp;need&nbsp;the&nbsp;north&nbsp;road</a>" in timeline.changes.text())
    told = timeline.changes.text() + timeline.changes.toolTip()
    assert not any(each in told for each in memories_in(store).values()), "a memory's mark means nothing to anybody"
    assert "similar" in drawn.budget.bar.accessibleDescription() + drawn.budget.bar.accessibleName()
    drawn.show_pane("trace")
    drawn.run("trace.why")
    drawn.run("why.scores")
    settle(drawn, qtbot)
    rows = drawn.why.similarity.model.rows
    assert drawn.why.focus_target() is drawn.why.similarity.view
    assert [(each.title, each.result) for each in rows if each.taken] == [
        (trace.entries[each.entry].title, "Taken") for each in trace.injections
    ]
