"""Opening things in the window: what becomes of an unsaved chat, where the file dialogs begin, and what is said."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog

from lorestudio.domain.records import replace
from lorestudio.domain.texts import shorten
from lorestudio.studio.project.project import DEMO_LOOK, Project, demo_project, open_project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.ui.features.projects.actions import PasteDialog, stopped_entry
from lorestudio.ui.features.projects.start import RecentProjects
from lorestudio.ui.shell.words import Notice
from lorestudio.ui.state import project_files
from lorestudio.ui.state.project_files import VAULT_CHANGED
from lorestudio.ui.widgets.picker import Picker
from tests.ui.conftest import drain, settle
from tests.ui.features.projects.test_start import BOOK, shown
from tests.ui.features.projects.test_tokenizer import RANKS
from tests.ui.vaults import write_vault
from tests.ui.worlds import CROWN, SKARN, empty_trace, make_project, make_trace

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from lorestudio.ui.shell.jobs import Job
    from lorestudio.ui.shell.main_window import MainWindow
    from lorestudio.vault.sources import OnRead

LEAVE = (
    "vault.open", "vault.open_obsidian", "chat.open", "chat.paste", "projects.recent", "project.close", "demo.open",
    "help.coach", "demo.reset", "demo.practice", "book.open", "sillytavern.open",
)  # fmt: skip


@pytest.fixture
def window(share_window: Callable[..., MainWindow]) -> MainWindow:
    return share_window(lambda folder: make_project(folder / "vault"))


def asked(monkeypatch: pytest.MonkeyPatch, answer: Path | None = None) -> list[tuple[str, str]]:
    """What file dialogs are called and where they begin; each is answered with `answer`, if any."""
    told: list[tuple[str, str]] = []

    def choose(dialog: QFileDialog) -> None:
        told.append((dialog.windowTitle(), dialog.directory().path()))
        if answer is not None:
            dialog.fileSelected.emit(str(answer))
        dialog.deleteLater()

    monkeypatch.setattr(QFileDialog, "open", choose)
    return told


def test_the_entry_that_came_furthest_and_was_stopped() -> None:
    trace = make_trace()
    assert stopped_entry(trace) == (CROWN, "budget")
    assert stopped_entry(trace, "Crown") == stopped_entry(trace, "Nobody") == (CROWN, "budget")
    assert stopped_entry(empty_trace(2)) is None
    gates = replace(trace.stages[3], verdicts=(replace(trace.stages[4].verdicts[3], entry=SKARN),))
    more = replace(trace, stages=(*trace.stages[:3], gates, *trace.stages[4:]))
    assert stopped_entry(more) == (CROWN, "budget"), "the later stage"
    assert stopped_entry(more, "Skarn") == (SKARN, "folder filter")


@pytest.mark.own_window
def test_what_leaves_the_chat_waits_for_what_becomes_of_it(window: MainWindow, monkeypatch) -> None:
    waiting: list[object] = []
    monkeypatch.setattr(window.context, "keep_chat", lambda leave: waiting.append(leave) or True)
    project = window.session.project
    for name in LEAVE:
        window.run(name)
    assert len(waiting) == len(LEAVE)
    assert (window.session.project, shown(PasteDialog), shown(Picker)) == (project, [], [])
    waiting[LEAVE.index("chat.paste")]()
    (dialog,) = shown(PasteDialog)
    dialog.reject()
    drain()
    window.run("vault.reload")  # it stays
    assert len(waiting) == len(LEAVE)
    settle(window)


@pytest.mark.long
def test_why_a_vault_cannot_be_read_again_is_said_once_and_until_it_can(
    make_window: Callable[..., MainWindow], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = write_vault(tmp_path / "vault")
    window = make_window(open_project([folder]))
    away = folder.rename(folder.with_name("away"))
    for _ in range(2):
        window.run("vault.reload")
        settle(window)
    [said] = window.context.bars.texts
    assert said.startswith("There is no folder")
    assert not any(record.exc_info for record in caplog.records)
    away.rename(folder)
    window.run("vault.reload")
    settle(window)
    assert window.context.bars.texts == []


@pytest.mark.always
@pytest.mark.parametrize("of_book", [True, False])
def test_reading_says_how_far_it_is_and_can_be_stopped(
    make_window: Callable[..., MainWindow], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot, of_book: bool
) -> None:
    place, telling, go_on = tmp_path / "book.json", project_files._telling, threading.Event()
    place.write_text(json.dumps({"entries": {str(at): {"uid": at, "key": ["bell"]} for at in range(3)}}), "utf-8")
    if not of_book:
        place = write_vault(tmp_path / "vault", {f"{at}.md": "---\ntags: [lorebook]\n---\n" for at in range(3)})

    def told(job: Job) -> OnRead:
        report = telling(job)

        def on_read(done: int, total: int) -> None:
            report(done, total)
            go_on.wait(60)
            report(done, total)

        return on_read

    monkeypatch.setattr(project_files, "_telling", told)
    monkeypatch.setattr(project_files, "REPORT_SECONDS", 0)
    window = make_window(cache_file=tmp_path / "vaults.sqlite")
    session, status, stop = window.session, window.context.status, window.commands.actions["replay.cancel"]
    session.reading.open([place])
    far = f"Reading {place.name}… {0 if of_book else 1} of 3"
    qtbot.waitUntil(lambda: status._run.text() == far and stop.isEnabled())
    assert status.stop.isVisible()
    status.stop.click()
    go_on.set()
    settle(window)
    assert (session.project, session.busy, status.stop.isVisible(), stop.isEnabled()) == (None, False, False, False)
    assert window.context.bars.texts == [f"{place.name} was not read: you stopped it."]
    session.reading.open([place])
    settle(window)
    assert len(session.project.index.entries) == 3
    assert window.context.bars.texts == []


@pytest.mark.always
def test_the_demo_and_a_chat_are_not_shown_where_reading_them_was_stopped(
    make_window: Callable[..., MainWindow], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    window, go_on = make_window(make_project(tmp_path / "vault")), threading.Event()
    reading, project = window.session.reading, window.session.project

    def slowly(*_args: object, **_more: object) -> Project:
        go_on.wait(60)
        return project

    monkeypatch.setattr(project_files, "demo_project", slowly)
    monkeypatch.setattr(Project, "with_chat", slowly)
    shown: list[object] = []
    monkeypatch.setattr(window.session, "set_project", shown.append)
    for name, start in (("the demo", reading.open_demo), ("x.jsonl", lambda: reading.open_chat(tmp_path / "x.jsonl"))):
        go_on.clear()
        start()
        drain()
        window.context.status.stop.click()
        go_on.set()
        settle(window)
        assert (shown, window.session.busy) == ([], False)
        assert window.context.bars.texts == [f"{name} was not read: you stopped it."]


def test_dialogs_begin_where_something_was_chosen_last(window: MainWindow, monkeypatch, tmp_path: Path) -> None:
    place = {"vault": "vault.open", "chat": "chat.open", "book": "book.open", "sillytavern": "sillytavern.open"}
    for name in place:
        (tmp_path / name).mkdir()
        window.settings.setValue(f"folders/{name}", str(tmp_path / name))
    told = asked(monkeypatch)
    for action in place.values():
        window.run(action)
    assert told == [
        ("Open the folder with your notes", str(tmp_path / "vault")),
        ("Open a chat", str(tmp_path / "chat")),
        ("Open a lorebook", str(tmp_path / "book")),
        ("Choose SillyTavern's folder", str(tmp_path / "sillytavern")),
    ]


def test_only_what_can_be_done_while_nothing_is_open(make_window: Callable[..., MainWindow]) -> None:
    window = make_window()
    actions = window.commands.actions
    never = {"project.close", "project.tokenizer", "vault.reload"}
    assert {name for name in (*LEAVE, *never) if not actions[name].isEnabled()} == never
    window.run("projects.recent")
    (picker,) = shown(Picker)
    assert picker._hint.text() == "Nothing was opened yet."
    picker.close()


@pytest.mark.long
def test_that_the_vault_has_changed_is_said_until_it_was_read_anew(
    make_window: Callable[..., MainWindow], tmp_path: Path
) -> None:
    project = open_project([write_vault(tmp_path / "vault")])
    window = make_window(project)
    window.say(Notice("The vault has changed.", "warning", key=VAULT_CHANGED))
    for state, said in ((project.vault_state, ["The vault has changed."]), (replace(project.vault_state), [])):
        window.session.set_project(replace(project, vault_state=state), renewed="Edited.")
        assert window.bars.texts == said


@pytest.mark.long
def test_a_chat_is_opened_alone_and_then_beside_its_vault(
    make_window: Callable[..., MainWindow], monkeypatch, tmp_path: Path
) -> None:
    chat = tmp_path / "chats" / "fog.txt"
    chat.parent.mkdir()
    chat.write_text("Wren: Light the lamp!\n\nOttoline: Done.\n", encoding="utf-8")
    window = make_window()
    asked(monkeypatch, chat)
    window.run("chat.open")
    settle(window)
    assert window.settings.value("folders/chat") == str(chat.parent)
    assert window.session.project.chat_path == chat
    said = "fog.txt is open, without any lore yet. Open the vault that it used, or a lorebook."
    assert window.bars.texts == [said]
    vault = write_vault(tmp_path / "vault")
    asked(monkeypatch, vault)
    window.run("vault.open")
    settle(window)
    assert (window.session.project.roots, window.session.project.chat_path) == ([vault], chat)
    assert window.settings.value("folders/vault") == str(vault)
    assert window.bars.texts == [], "what was said of the one before is old"
    other = tmp_path / "other.txt"
    other.write_text("Wren: And now?\n\nOttoline: Sleep.\n", encoding="utf-8")
    asked(monkeypatch, other)
    window.run("chat.open")
    settle(window)
    assert (window.session.project.roots, window.session.project.chat_path) == ([vault], other)
    book = tmp_path / "fog.json"
    book.write_text(json.dumps(BOOK), encoding="utf-8")
    asked(monkeypatch, book)
    window.run("book.open")
    settle(window)
    assert (window.session.project.roots, window.session.project.chat_path) == ([], None), "it had lore already"
    recent = [(one.title, one.detail.partition(" · ")[0]) for one in RecentProjects(window.settings).load()]
    where = shorten(str(tmp_path), 60)
    assert recent == [("fog.json", where), ("vault", "other.txt"), ("vault", "fog.txt"), ("fog", "without notes")]


def test_a_text_that_is_no_chat_is_not_opened(window: MainWindow) -> None:
    window.run("chat.paste")
    (dialog,) = shown(PasteDialog)
    assert (dialog.said.text(), dialog.open_button.isEnabled()) == ("Nothing pasted yet.", False)
    for text, said, can in (
        ('{"spec": "chara_card_v2"}', "no line is a message", False),
        ("Wren: Hm.", "1 message of Wren.", True),
        ('{"name": "", "mes": "Hm."}\n{"name": "Ada", "mes": "Hm."}', "2 messages of Ada.", True),
        ("", "Nothing pasted yet.", False),
    ):
        dialog.field.setPlainText(text)
        assert said in dialog.said.text()
        assert dialog.open_button.isEnabled() is can
        assert bool(dialog.lost()) is bool(text)
    dialog.reject()
    drain()


@pytest.mark.always
def test_a_tokenizers_file_is_asked_for_and_what_is_chosen_stands_first(
    make_window: Callable[..., MainWindow], monkeypatch, tmp_path: Path
) -> None:
    window = make_window(open_project([write_vault(tmp_path / "vault")]))
    window.settings.setValue("folders/tokenizer", str(tmp_path))

    def rows() -> tuple[Picker, list[tuple[str, str]]]:
        window.run("project.tokenizer")
        settle(window)
        (picker,) = shown(Picker)
        return picker, [(each.title, each.hint) for each in picker._all]

    picker, found = rows()
    assert found[:3] == [
        ("As SillyTavern's settings say", "chosen now"), ("A tokenizer's file…", ""), ("Estimate by script", ""),
    ]  # fmt: skip
    named = found[3:]
    assert named
    assert {hint for _, hint in named} == {""}
    ranks = tmp_path / "more" / "tiny.tiktoken"
    ranks.parent.mkdir()
    ranks.write_bytes(RANKS.read_bytes())
    told = asked(monkeypatch, ranks)
    QTest.keyClicks(picker.field, "a tokenizer's file")
    QTest.keyClick(picker.field, Qt.Key.Key_Return)
    settle(window)
    assert told == [("Open a tokenizer's file", str(tmp_path))]
    assert window.settings.value("folders/tokenizer") == str(ranks.parent)
    assert window.status.basis.text() == "tiny (plain)"
    picker, found = rows()
    assert found[0] == (str(ranks), "chosen now")
    assert {hint for _, hint in found[1:]} == {""}
    picker.close()


@pytest.fixture
def demo(make_window: Callable[..., MainWindow], tmp_path: Path) -> MainWindow:
    """The demo, not replayed."""
    window = make_window(make_simulator=Simulator, replay=False, demo_in=tmp_path / "data" / "demo")
    window.settings.setValue("demo/coached", "true")
    window.session.set_project(demo_project(tmp_path / "data" / "demo"))
    settle(window)
    return window


@pytest.mark.long
def test_the_coach_begins_anew_each_time_and_leaves_with_the_demo(demo: MainWindow, tmp_path: Path) -> None:
    coach = demo.features.projects.coach
    assert not coach.isVisible()
    demo.run("help.coach")
    assert coach.isVisible()
    assert demo.selection.message == DEMO_LOOK[0]
    assert demo.session.entry(demo.selection.entry).title == DEMO_LOOK[1]
    assert coach.go.hasFocus()
    assert (coach.go.text(), coach.count.text()) == ("Why is it out?", "A minute on one note · 1 of 6")
    assert coach.accessibleDescription() == coach.text.text()
    coach.go.click()
    assert coach.go.text() == "Find out"
    QTest.keyClick(coach, Qt.Key.Key_A)
    assert coach.isVisible()
    QTest.keyClick(coach, Qt.Key.Key_Escape)
    assert not coach.isVisible()
    assert demo.current_pane() is demo.trace
    demo.run("help.coach")
    assert coach.count.text() == "A minute on one note · 1 of 6"
    coach.skip.click()
    assert not coach.isVisible()
    demo.run("help.coach")
    demo.session.set_project(make_project(tmp_path / "mine"))
    settle(demo)
    assert not coach.isVisible()
    demo.run("help.coach")
    settle(demo)
    assert demo.session.project.name == "The Brume"
    demo.session.replays.run_all()
    settle(demo)
    assert coach.isVisible()


@pytest.mark.long
def test_the_demo_is_reset_and_practised_on_a_copy(demo: MainWindow, tmp_path: Path) -> None:
    note = tmp_path / "data" / "demo" / "The Brume" / "The Brume.md"
    before = note.read_bytes()
    note.write_bytes(b"gone")
    demo.run("demo.reset")
    settle(demo)
    assert note.read_bytes() == before
    assert demo.session.project.vault_folders == (note.parent,)
    demo.run("demo.practice")
    settle(demo)
    assert demo.session.project.settings.max_tokens_budget == 420
    assert demo.session.project.vault_folders[0] != note.parent
