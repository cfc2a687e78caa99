"""What is followed on disk, with nothing watched: whose news are taken, and what of a chat that was read again."""

from __future__ import annotations

import asyncio
import json
import threading
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import QSettings

from lorestudio.domain.chat import Generation, Message
from lorestudio.domain.records import replace
from lorestudio.domain.resources import resource
from lorestudio.domain.state import ChatControls, EntryRule
from lorestudio.exchange.lorebooks.reading import as_notes
from lorestudio.exchange.problems import InputError
from lorestudio.studio.chat import editing
from lorestudio.studio.chat.saving import ChatChangedError, ChatToSave, save_chat
from lorestudio.studio.project import project
from lorestudio.studio.project.library import LibraryNews, RefreshReason
from lorestudio.studio.project.project import open_project
from lorestudio.studio.replay.run_store import chat_id
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.ui.state import project_files
from lorestudio.ui.state.project_files import ChatFollower, VaultFollower
from lorestudio.ui.state.project_files import watch_file as really_watch
from tests.ui.worlds import make_project

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from lorestudio.ui.state.session import Session
    from lorestudio.vault.index import VaultState

HEADER = {"user_name": "Wren", "character_name": "Ada"}
LINES = ({"name": "Wren", "is_user": True, "mes": "Who rings?"}, {"name": "Ada", "is_user": False, "mes": "The bell."})
MORE = {"name": "Wren", "is_user": True, "mes": "Again?"}
PINS = ChatControls(pins=(EntryRule("Bell"),))


class Watch:
    """In place of a job that watches a file."""

    def __init__(self, path: Path) -> None:
        self.path, self.cancelled = path, False

    def cancel(self) -> None:
        self.cancelled = True


@pytest.fixture
def watches(monkeypatch: pytest.MonkeyPatch) -> list[Watch]:
    made: list[Watch] = []

    def watch(_jobs: object, path: Path, _changed: object, _owner: object) -> Watch:
        made.append(Watch(path))
        return made[-1]

    monkeypatch.setattr(project_files, "watch_file", watch)
    return made


def write_chat(path: Path, *lines: object) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in (HEADER, *lines)), "utf-8")
    return path


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    return write_chat(tmp_path / "chat.jsonl", *LINES)


@pytest.fixture
def session(make_session: Callable[..., Session], watches: list[Watch], chat: Path, tmp_path: Path) -> Session:
    make_project(tmp_path / "vault")
    made = make_session(replay=False)
    made.set_project(open_project([tmp_path / "vault"], chat))
    return made


@pytest.fixture
def follower(session: Session) -> ChatFollower:
    return ChatFollower(session, session.parts, session)


def ready(session: Session, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: session.jobs.idle and not session.busy)


def look(session: Session, follower: ChatFollower, qtbot: QtBot) -> list[int]:
    told: list[int] = []
    follower.went_on.connect(told.append)
    follower.look()
    ready(session, qtbot)
    follower.went_on.disconnect()
    return told


def texts(session: Session) -> list[str]:
    assert session.project is not None
    assert session.project.chat is not None
    return [each.text for each in session.project.chat.messages]


def test_the_file_of_the_chat_that_is_shown_is_watched(
    session: Session, follower: ChatFollower, watches: list[Watch], chat: Path, tmp_path: Path
) -> None:
    for _twice in range(2):
        session.state_changed.emit()
    assert [each.path for each in watches] == [chat]
    assert session.project is not None
    session.project = replace(session.project, chat_path=tmp_path / "other.jsonl")
    session.state_changed.emit()
    assert [(each.path, each.cancelled) for each in watches] == [(chat, True), (tmp_path / "other.jsonl", False)]
    session.project = replace(session.project, chat_path=resource("demo") / "chat.jsonl")
    session.state_changed.emit()
    assert [each.cancelled for each in watches] == [True, True]
    assert len(watches) == 2  # what comes with the program is written by nobody
    session.project = None
    session.state_changed.emit()
    follower.look()
    assert session.jobs.idle


def test_new_messages_are_shown_and_counted(session: Session, follower: ChatFollower, chat: Path, qtbot: QtBot) -> None:
    write_chat(chat, *LINES, MORE, MORE)
    assert look(session, follower, qtbot) == [2]
    assert texts(session) == ["Who rings?", "The bell.", "Again?", "Again?"]
    assert session.parts.on_disk is not None
    assert session.project is not None
    assert session.parts.on_disk.chat == session.project.chat
    assert look(session, follower, qtbot) == []  # nothing is new


def test_a_file_whose_lines_are_written_otherwise_is_known_so_and_nothing_is_run(
    session: Session, follower: ChatFollower, chat: Path, qtbot: QtBot
) -> None:
    project = session.project
    chat.write_text("".join(json.dumps(line, indent=None, separators=(", ", " : ")) + "\n"
                            for line in (HEADER, *LINES)), "utf-8")  # fmt: skip
    replaced: list[object] = []
    session.project_replaced.connect(lambda *given: replaced.append(given))
    assert look(session, follower, qtbot) == []
    assert session.project is not None
    assert project is not None
    assert session.project.document != project.document
    assert session.project.chat == project.chat
    assert session.parts.on_disk is not None
    assert session.parts.on_disk.chat is session.project.chat
    assert replaced == []


def test_messages_whose_lines_are_the_same_are_the_ones_that_are_known(
    session: Session, follower: ChatFollower, chat: Path, qtbot: QtBot
) -> None:
    def messages() -> tuple[Message, ...]:
        assert session.project is not None
        assert session.project.chat is not None
        return session.project.chat.messages

    edit(session, 1, "A bell.")
    before = messages()
    write_chat(chat, *LINES, MORE)
    look(session, follower, qtbot)
    assert [one is other for one, other in zip(before, messages(), strict=False)] == [True, False]
    assert session.parts.on_disk is not None
    assert session.parts.on_disk.chat is not None
    assert [each.text for each in session.parts.on_disk.chat.messages] == ["Who rings?", "The bell.", "Again?"]
    write_chat(chat, {**LINES[0], "gen_started": "then"}, *LINES[1:], MORE)
    look(session, follower, qtbot)
    assert messages()[0].raw["gen_started"] == "then"


def save(session: Session, path: Path) -> None:
    """Write the chat into its file, as “Save chat” does."""
    project = session.project
    assert project is not None
    assert project.chat is not None
    assert project.document is not None
    wanted = ChatToSave(project.document, project.chat, project.controls)
    save_chat(wanted, path, None, datetime(2024, 9, 28, tzinfo=UTC))


def edit(session: Session, place: int, text: str) -> None:
    assert session.project is not None
    assert session.project.chat is not None
    session.parts.adjust(f"edit of #{place}", chat=editing.edit(session.project.chat, place, text))


def test_what_only_its_lines_say_stays_when_another_message_is_edited_and_saved(
    session: Session, follower: ChatFollower, chat: Path, qtbot: QtBot
) -> None:
    edit(session, 1, "A bell.")
    save(session, chat)
    chat.write_text(chat.read_text().replace('"mes": "Who', '"gen_started":"then", "mes" : "Who') + "\n \n", "utf-8")
    session.parts.saved(chat=session.project.chat if session.project is not None else None)
    theirs = chat.read_text()
    assert look(session, follower, qtbot) == []
    session.parts.undo()
    assert texts(session) == ["Who rings?", "The bell."]
    save(session, chat)
    assert chat.read_text() == theirs.replace("A bell.", "The bell.")


def test_what_the_chat_goes_on_with_stays_when_what_was_changed_here_is_saved(
    session: Session, follower: ChatFollower, chat: Path, qtbot: QtBot
) -> None:
    edit(session, 1, "A bell.")
    session.parts.adjust("pin Bell", controls=PINS)
    write_chat(chat, {**LINES[0], "swipe_info": [{"extra": {}}]}, LINES[1], MORE)
    header = {**HEADER, "chat_metadata": {"note_prompt": "new", "deeplore_notebook": "Mind."}}
    chat.write_text(chat.read_text().replace(json.dumps(HEADER), json.dumps(header)), "utf-8")
    theirs = chat.read_text()
    assert look(session, follower, qtbot) == [1]
    assert session.project is not None
    assert session.project.controls == replace(PINS, notebook="Mind.")
    save(session, chat)
    pinned = '"Mind.", "deeplore_pins": [{"title": "Bell", "vaultSource": null}]'
    assert chat.read_text() == theirs.replace("The bell.", "A bell.").replace('"Mind."', pinned)


def test_a_choice_that_both_sides_changed_is_asked_about(
    session: Session, follower: ChatFollower, chat: Path, qtbot: QtBot
) -> None:
    session.parts.adjust("pin Bell", controls=PINS)
    pinned = {**HEADER, "chat_metadata": {"deeplore_pins": ["Skarn"]}}
    chat.write_text(chat.read_text().replace(json.dumps(HEADER), json.dumps(pinned)), "utf-8")
    for read_again in (follower.look, session.reading.reload, follower.look):
        read_again()
        ready(session, qtbot)
        assert session.project is not None
        assert session.project.controls == PINS
        with pytest.raises(ChatChangedError):
            save(session, chat)


def test_steps_go_along_with_a_chat_that_goes_on(
    session: Session, follower: ChatFollower, chat: Path, qtbot: QtBot
) -> None:
    edit(session, 0, "Who?")
    edit(session, 1, "A bell.")
    session.parts.undo()
    write_chat(chat, {**LINES[0], "gen_started": "then"}, LINES[1], MORE)
    theirs = chat.read_text()
    look(session, follower, qtbot)
    session.parts.redo()
    assert texts(session) == ["Who?", "A bell.", "Again?"]
    session.parts.undo()
    assert session.parts.adjustments.undo_title == "edit of #0"
    session.parts.undo()
    assert session.parts.on_disk is not None
    assert session.project is not None
    assert session.project.chat == session.parts.on_disk.chat
    save(session, chat)
    assert chat.read_text() == theirs


def test_steps_that_would_take_back_what_another_program_wrote_are_forgotten(
    session: Session, follower: ChatFollower, chat: Path, qtbot: QtBot
) -> None:
    session.parts.adjust("pin Bell", controls=PINS)
    edit(session, 1, "A bell.")
    session.parts.saved(chat=session.project.chat if session.project is not None else None)
    write_chat(chat, {**LINES[0], "mes": "Theirs."}, {**LINES[1], "mes": "A bell."})
    look(session, follower, qtbot)
    assert texts(session) == ["Theirs.", "A bell."]
    assert session.parts.adjustments.undo_title == "pin Bell"


def test_what_was_chosen_here_for_the_chat_stays(
    session: Session, follower: ChatFollower, chat: Path, qtbot: QtBot
) -> None:
    session.parts.adjust("pin Bell", controls=PINS)
    write_chat(chat, *LINES, MORE)
    look(session, follower, qtbot)
    assert session.project is not None
    assert session.project.controls == PINS
    assert texts(session)[-1] == "Again?"


def test_what_was_read_of_a_chat_that_was_left_or_saved_meanwhile_is_not_taken(
    session: Session, follower: ChatFollower, chat: Path, qtbot: QtBot, tmp_path: Path
) -> None:
    write_chat(chat, *LINES, MORE)
    project = session.project
    assert project is not None
    assert project.chat is not None
    read = open_project([tmp_path / "vault"], chat)
    told: list[int] = []
    follower.went_on.connect(told.append)
    for now in (replace(project, chat_path=tmp_path / "other.jsonl"), replace(project, document=read.document), None):
        session.project = now
        follower._take(project, read)
        assert session.project is now
    session.project = project
    assert told == []
    follower._take(project, read)
    assert told == [1]


def test_to_a_chat_that_was_changed_here_what_is_new_is_added_and_else_it_is_said(
    session: Session, follower: ChatFollower, chat: Path, qtbot: QtBot
) -> None:
    said: list[str] = []
    session.notice.connect(lambda notice: said.append(notice.text))
    assert session.project is not None
    assert session.project.chat is not None
    mine = replace(
        session.project.chat, messages=(Message("Wren", "Mine.", is_user=True), *session.project.chat.messages)
    )
    session.parts.adjust("mine", chat=mine)
    write_chat(chat, *LINES, MORE)
    assert look(session, follower, qtbot) == [1]
    assert texts(session) == ["Mine.", "Who rings?", "The bell.", "Again?"]
    write_chat(chat, {**LINES[0], "mes": "Theirs."}, LINES[1], MORE)
    assert look(session, follower, qtbot) == []
    assert texts(session) == ["Mine.", "Who rings?", "The bell.", "Again?"]
    assert len(said) == 1
    assert "chat.jsonl was changed here and by another program." in said[0]


def test_a_file_that_can_be_followed_no_more_is_said_in_the_log_alone(
    session: Session, qtbot: QtBot, chat: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    said: list[object] = []
    session.notice.connect(said.append)

    async def watch_folder(folder: Path, _times: object) -> AsyncIterator[frozenset[str]]:
        assert folder == chat.parent
        for names in (frozenset[str](), frozenset({"other.jsonl"}), frozenset({"other.jsonl", chat.name})):
            yield names
        if broken:
            raise OSError("the disk is gone")
        try:
            await asyncio.Event().wait()
        finally:
            broken.append(True)

    monkeypatch.setattr(project_files, "watch_folder", watch_folder)
    looked, broken = list[bool](), list[bool]()
    job = really_watch(session.jobs, chat, lambda: looked.append(True), session)
    qtbot.waitUntil(lambda: len(looked) == 2)
    job.cancel()
    qtbot.waitUntil(lambda: broken == [True])
    assert caplog.text == ""
    really_watch(session.jobs, chat, lambda: None, session)
    qtbot.waitUntil(lambda: "following the chat has failed" in caplog.text)
    assert "the disk is gone" in caplog.text
    assert said == []


# ---- vaults ----------------------------------------------------------------------------------------------------------


def test_news_of_vaults_that_are_only_being_opened_are_told_once_they_are_followed(
    session: Session, tmp_path: Path
) -> None:
    follower = VaultFollower(session.jobs, session.connections, tmp_path / "vaults.sqlite", session)
    told: list[object] = []
    follower.changed.connect(told.append)
    follower.failed.connect(told.append)
    assert session.project is not None
    news = [LibraryNews(session.project.index, reason) for reason in (RefreshReason.OPENED, RefreshReason.MANUAL)]
    mine, other, gone = (Watch(tmp_path / name) for name in ("mine", "other", "gone"))
    jobs: Any = (mine, other, gone)
    follower._hear(jobs[0], news[0])
    follower._hear(jobs[1], news[1])
    assert told == []
    follower.take(jobs[0])
    assert told == [news[0]]
    follower.take(jobs[1])
    assert told == [news[0]]  # of those nobody waited for
    assert [each.cancelled for each in (mine, other)] == [True, False]
    follower._hear(jobs[1], "the disk is gone")
    assert told[1:] == ["the disk is gone"]
    follower.take(None)


def test_vaults_that_can_be_followed_no_more_are_told(
    session: Session, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def sources(*_given: object) -> None:
        raise OSError("the key is gone")

    follower = VaultFollower(session.jobs, session.connections, tmp_path / "vaults.sqlite", session)
    told: list[str] = []
    follower.failed.connect(told.append)
    assert session.project is not None
    follower.follow(session.project)
    follower.take(None)
    ready(session, qtbot)
    assert (told, caplog.text) == ([], ""), "it was stopped"
    monkeypatch.setattr(project_files, "vault_sources", sources)
    follower.follow(session.project)
    qtbot.waitUntil(lambda: told == ["the key is gone"])
    assert "following the vaults has failed" in caplog.text


def test_a_lorebook_that_cannot_be_read_for_a_system_leaves_the_one_before(
    make_session: Callable[..., Session], qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_given: object, **_more: object) -> VaultState:
        raise InputError("Sea.json", "it has no entry.")

    session, said = make_session(make_simulator=Simulator), list[str]()
    open_sea(session, qtbot, tmp_path)
    session.notice.connect(lambda notice: said.append(notice.text))
    before = session.project
    monkeypatch.setattr(project, "as_notes", fails)
    session.replays.choose(system="deeplore")
    ready(session, qtbot)
    assert (session.choice.system, session.project is before, session.activity) == ("world-info", True, "")
    assert said == ["Sea.json: it has no entry."]
    monkeypatch.undo()
    session.replays.choose(system="deeplore")
    ready(session, qtbot)
    assert session.choice.system == "deeplore"


def test_a_lorebook_that_was_read_again_for_another_project_is_not_shown(
    session: Session, qtbot: QtBot, tmp_path: Path
) -> None:
    books = [tmp_path / f"{name}.json" for name in ("One", "Two")]
    for book in books:
        book.write_text('{"entries": {}}', "utf-8")
    entry = {"uid": 0, "key": ["bell"], "comment": "Bell", "content": "It rings."}
    for other in (open_project([books[1]]), None):
        session.set_project(open_project([books[0]]))
        books[0].write_text(json.dumps({"entries": {"0": entry}}), "utf-8")
        session.reading._books_changed()
        session.set_project(other) if other is not None else session.close_project()
        ready(session, qtbot)
        assert (session.project and session.project.book_paths) == (other and other.book_paths)
        books[0].write_text('{"entries": {}}', "utf-8")


def test_the_window_says_that_a_lorebook_beside_a_vault_takes_no_part(
    make_session: Callable[..., Session], qtbot: QtBot, tmp_path: Path
) -> None:
    book, note = tmp_path / "Sea.json", tmp_path / "vault" / "Bell.md"
    book.write_text('{"entries": {}}', "utf-8")
    note.parent.mkdir()
    note.write_text("---\ntags: [lorebook]\nkeys: [bell]\n---\nIt rings.\n", "utf-8")
    chat = tmp_path / "chat.txt"
    chat.write_text("Wren: The bell.\nAda: Yes.\n", "utf-8")
    session, said = make_session(), list[str]()
    session.notice.connect(lambda notice: said.append(notice.text))
    session.set_project(open_project([note.parent, book], chat))
    session.replays.run_all()
    qtbot.waitUntil(lambda: not session.busy and session.jobs.idle)
    assert [text for text in said if "“Sea” beside the vault takes no part: DeepLore" in text]


def test_a_lorebook_is_read_as_notes_while_a_system_that_needs_them_is_chosen(
    make_session: Callable[..., Session], qtbot: QtBot, tmp_path: Path
) -> None:
    book, chat = tmp_path / "Sea.json", tmp_path / "chat.txt"
    entries = {
        str(uid): {
            "uid": uid,
            "key": ["bell"],
            "comment": title,
            "content": "It rings.",
            "order": 200,
            "position": 0,
            "disable": off,
        }
        for uid, title, off in ((0, "Anchor", True), (1, "Bell", False))
    }
    book.write_text(json.dumps({"entries": entries}), "utf-8")
    chat.write_text("Wren: The bell.\n\nAda: Yes.\n", "utf-8")
    session = make_session(make_simulator=Simulator)
    session.set_project(open_project([book], chat))
    ready(session, qtbot)

    def shown() -> tuple[list[tuple[str, float]], list[str], list[int]]:
        project, traces = session.project, session.runs.traces
        assert project is not None
        ids = [each.entry for each in traces[Generation(1, 0)].injections]
        entries = [(each.title, each.priority) for each in project.index.entries]
        return entries, [each.name for each in project.index.left_out], ids

    assert shown() == ([("Anchor", 200), ("Bell", 200)], [], [1])
    session.replays.choose(system="deeplore")
    ready(session, qtbot)
    assert session.choice.system == "deeplore"
    assert shown() == ([("Bell", 800)], ["Anchor"], [0])  # a thousand less the order, as importing it says
    text = book.read_text("utf-8").replace(
        '"comment": "Bell", "content": "It rings."', '"comment": "Bell", "content": "It tolls."'
    )
    book.write_text(text, "utf-8")
    session.reading._books_changed()
    ready(session, qtbot)
    assert session.project is not None
    assert [each.content for each in session.project.index.entries] == ["It tolls."]
    session.replays.choose(system="world-info")
    ready(session, qtbot)
    assert shown() == ([("Anchor", 200), ("Bell", 200)], [], [1])
    session.replays.choose(system="deeplore")
    session.replays.choose(system="world-info")  # thought better of while the lorebook is read
    ready(session, qtbot)
    assert session.choice.system == "world-info"
    assert shown() == ([("Anchor", 200), ("Bell", 200)], [], [1])


def open_sea(session: Session, qtbot: QtBot, folder: Path) -> tuple[Path, Path]:
    """A lorebook of two entries, shown with a chat."""
    book, chat = folder / "Sea.json", folder / "chat.txt"
    entries = {str(uid): {"uid": uid, "key": ["bell"], "comment": f"Bell {uid}", "content": "It."} for uid in (0, 1)}
    book.write_text(json.dumps({"entries": entries}), "utf-8")
    chat.write_text("Wren: The bell.\n\nAda: Yes.\n", "utf-8")
    session.reading.open([book], chat)
    ready(session, qtbot)
    return book, chat


@pytest.mark.parametrize("stop", [True, False])
def test_reading_a_lorebook_as_notes_says_how_far_it_is_and_can_be_stopped(
    make_session: Callable[..., Session], qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, stop: bool
) -> None:
    monkeypatch.setattr(project_files, "REPORT_SECONDS", 0)
    session, told, said = make_session(make_simulator=Simulator), list[str](), list[str]()
    open_sea(session, qtbot, tmp_path)

    def hear() -> None:
        if session.activity not in told:
            told.append(session.activity)
            if stop and session.activity.endswith("1 of 2"):
                session.reading.cancel()

    session.state_changed.connect(hear)
    session.notice.connect(lambda notice: said.append(notice.text))
    before, ran = session.project, dict(session.runs.traces)
    session.replays.choose(system="deeplore")
    ready(session, qtbot)
    reading = "Reading the lorebook for DeepLore…"
    known = session.choices.load(chat_id(before)) if before is not None else None
    if stop:
        assert [reading, f"{reading} 1 of 2", "Stopping…"] == [each for each in told if each and "Repl" not in each]
        assert "the lorebook for DeepLore was not read: you stopped it." in said
        assert (session.choice.system, known, session.project is before) == ("world-info", None, True)
        assert session.runs.traces == ran
    else:
        assert [reading, f"{reading} 1 of 2", f"{reading} 2 of 2"] == [each for each in told if reading in each]
        assert (session.choice.system, known and known.system) == ("deeplore", "deeplore")
        assert session.project is not None
        assert session.project.as_notes is not None


def test_a_lorebook_that_was_read_before_it_could_be_stopped_is_not_taken(
    make_session: Callable[..., Session], qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, go = threading.Event(), threading.Event()

    def at_its_end(*given: Any, **more: Any) -> VaultState:
        state = as_notes(*given, **more)
        read.set()
        go.wait(60)
        return state

    session, said = make_session(make_simulator=Simulator), list[str]()
    open_sea(session, qtbot, tmp_path)
    session.notice.connect(lambda notice: said.append(notice.text))
    before = session.project
    monkeypatch.setattr(project, "as_notes", at_its_end)
    session.replays.choose(system="deeplore")
    qtbot.waitUntil(read.is_set)
    session.reading.cancel()
    go.set()
    ready(session, qtbot)
    assert (session.choice.system, session.project is before) == ("world-info", True)
    assert said == ["the lorebook for DeepLore was not read: you stopped it."]


def test_a_system_that_waits_for_a_replay_is_not_chosen_for_another_project(
    make_session: Callable[..., Session], qtbot: QtBot, tmp_path: Path
) -> None:
    session = make_session(make_simulator=Simulator)
    book, _chat = open_sea(session, qtbot, tmp_path)
    session.replays.run_all(fresh=True)
    assert session.runs.replaying
    session.replays.choose(system="deeplore")
    session.set_project(open_project([book]))  # without a chat nothing else is run in its place
    ready(session, qtbot)
    assert session.project is not None
    assert (session.choice.system, session.project.as_notes) == ("world-info", None)


def test_of_systems_that_are_chosen_while_a_lorebook_is_read_or_run_the_last_counts(
    make_session: Callable[..., Session], qtbot: QtBot, tmp_path: Path
) -> None:
    session, said = make_session(make_simulator=Simulator), list[str]()
    open_sea(session, qtbot, tmp_path)
    session.notice.connect(lambda notice: said.append(notice.text))
    for system in ("deeplore", "hybrid"):
        session.replays.choose(system=system)
    ready(session, qtbot)
    assert (session.choice.system, len(session.runs.traces)) == ("hybrid", 2)
    session.replays.choose(system="world-info")
    ready(session, qtbot)
    session.replays.run_all(fresh=True)
    assert session.runs.replaying
    session.replays.choose(system="deeplore")
    assert session.choice.system == "world-info"
    ready(session, qtbot)
    assert (session.choice.system, len(session.runs.traces)) == ("deeplore", 2)
    session.replays.choose(system="world-info")
    ready(session, qtbot)
    session.replays.run_all(fresh=True)
    for system in ("deeplore", "world-info"):  # thought better of before the replay has stopped
        session.replays.choose(system=system)
    ready(session, qtbot)
    assert (session.choice.system, len(session.runs.traces)) == ("world-info", 2)
    assert [text for text in said if "stopped" in text] == []


def test_a_lorebook_that_changes_while_it_is_read_for_a_system_is_read_for_it_once_more(
    make_session: Callable[..., Session], qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go = threading.Event(), threading.Event()

    def read(*given: Any, **more: Any) -> VaultState:
        begun.set()
        go.wait(60)
        return as_notes(*given, **more)

    monkeypatch.setattr(project, "as_notes", read)
    session = make_session(make_simulator=Simulator)
    book, _chat = open_sea(session, qtbot, tmp_path)
    session.replays.choose(system="deeplore")
    qtbot.waitUntil(begun.is_set)
    before = session.project
    book.write_text(book.read_text("utf-8").replace("It.", "It tolls."), "utf-8")
    session.reading._books_changed()
    qtbot.waitUntil(lambda: session.project is not before)
    go.set()
    ready(session, qtbot)
    assert session.project is not None
    assert [each.content for each in session.project.index.entries] == ["It tolls."] * 2
    assert (session.choice.system, session.activity) == ("deeplore", "")


def test_a_lorebook_is_never_read_as_notes_by_the_window_itself(
    make_session: Callable[..., Session], qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    by = list[bool]()

    def read(*given: Any, **more: Any) -> VaultState:
        by.append(threading.current_thread() is threading.main_thread())
        return as_notes(*given, **more)

    monkeypatch.setattr(project, "as_notes", read)
    session = make_session(make_simulator=Simulator)
    book, chat = open_sea(session, qtbot, tmp_path)
    other = chat.with_name("other.txt")
    other.write_text(chat.read_text("utf-8"), "utf-8")
    for each in (
        lambda: session.replays.choose(system="deeplore"),
        lambda: session.reading.open_chat(other),  # by World Info
        lambda: session.reading.open_chat(chat),
        session.reading.reload,
        lambda: session.reading.open([book], chat),
    ):
        each()
        ready(session, qtbot)
    assert session.choice.system == "deeplore"
    assert by == [False] * 4


def test_over_a_chat_that_was_moved_the_window_itself_reads_no_lorebook_as_notes(
    make_session: Callable[..., Session], qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    by = list[bool]()

    def read(*given: Any, **more: Any) -> VaultState:
        by.append(threading.current_thread() is threading.main_thread())
        return as_notes(*given, **more)

    session = make_session(make_simulator=Simulator)
    session.choices.keep_in(QSettings(str(tmp_path / "window.ini"), QSettings.Format.IniFormat))
    book, _chat = open_sea(session, qtbot, tmp_path)
    lines = ({"chat_metadata": {"integrity": "1c2f"}}, {"name": "Wren", "mes": "Bell.", "is_user": True})
    chat = tmp_path / "Sea.jsonl"
    chat.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    session.reading.open([book], chat)
    ready(session, qtbot)
    session.replays.choose(system="deeplore")
    ready(session, qtbot)
    monkeypatch.setattr(project, "as_notes", read)
    session.reading.open([book], chat.rename(tmp_path / "Moved.jsonl"))
    ready(session, qtbot)
    assert session.project is not None
    assert (session.choice.system, session.project.as_notes is not None, by) == ("deeplore", True, [False])


def test_lorebooks_are_watched_while_they_are_shown(
    make_session: Callable[..., Session], watches: list[Watch], tmp_path: Path
) -> None:
    books = [tmp_path / f"{name}.json" for name in ("One", "Two")]
    for book in books:
        book.write_text('{"entries": {}}', "utf-8")
    session = make_session(replay=False, cache_file=tmp_path / "vaults.sqlite")
    session.set_project(open_project([books[0]]))
    session.set_project(open_project(books))
    assert [(each.path, each.cancelled) for each in watches] == [(books[0], False), (books[1], False)]
    session.set_project(open_project([books[1]]))
    assert [(each.path, each.cancelled) for each in watches] == [(books[0], True), (books[1], False)]


def test_a_book_that_was_changed_is_read_again_and_a_broken_one_waits(
    session: Session, qtbot: QtBot, tmp_path: Path
) -> None:
    book = tmp_path / "One.json"
    entry = {"uid": 0, "key": ["bell"], "comment": "Bell", "content": "It rings."}
    book.write_text(json.dumps({"entries": {"0": entry}}), "utf-8")
    session.set_project(open_project([book]))
    said: list[str] = []
    session.notice.connect(lambda notice: said.append(notice.text))
    book.write_text(json.dumps({"entries": {"0": {**entry, "content": "It tolls."}}}), "utf-8")
    session.reading._books_changed()
    ready(session, qtbot)
    assert session.project is not None
    assert [each.content for each in session.project.index.entries] == ["It tolls."]
    book.write_text("{", "utf-8")
    session.reading._books_changed()
    ready(session, qtbot)
    assert said == []
    session.reading.notes_written([book])  # written from here: that it is broken is told
    ready(session, qtbot)
    assert len(said) == 1
    session.close_project()
    session.reading._books_changed()
    assert session.jobs.idle


def test_notes_that_were_written_in_another_vault_are_not_taken_in(
    session: Session, qtbot: QtBot, tmp_path: Path
) -> None:
    make_project(tmp_path / "other")
    bell = tmp_path / "vault" / "Bell.md"
    bell.write_text("---\ntags: [lorebook]\n---\nIt tolls.\n", "utf-8")
    session.reading.notes_written([bell])
    other = open_project([tmp_path / "other"])
    session.set_project(other)
    ready(session, qtbot)
    assert session.project == other


def test_notes_that_are_written_one_after_the_other_are_all_taken_in(
    session: Session, qtbot: QtBot, tmp_path: Path
) -> None:
    for name in ("Bell", "Skarn"):
        path = tmp_path / "vault" / f"{name}.md"
        path.write_text(f"---\ntags: [lorebook]\n---\n{name} is new.\n", "utf-8")
        session.reading.notes_written([path])
    ready(session, qtbot)
    assert session.project is not None
    found = {each.title: each.content for each in session.project.index.entries}
    assert (found["Bell"], found["Skarn"]) == ("Bell is new.", "Skarn is new.")


def test_what_is_no_note_is_not_taken_in(session: Session, qtbot: QtBot, tmp_path: Path) -> None:
    picture = tmp_path / "vault" / "map.png"
    picture.write_bytes(b"\\x89PNG")
    before = session.project
    assert before is not None
    said: list[str] = []
    session.notice.connect(lambda notice: said.append(notice.text))
    session.reading.notes_written([picture, tmp_path / "elsewhere.md"])
    ready(session, qtbot)
    assert said == []  # and nothing failed over it
    assert session.project is not None
    assert session.project.index.entries == before.index.entries
    assert [each.filename for each in session.project.index.left_out] == [
        each.filename for each in before.index.left_out
    ]


def test_a_vault_that_is_closed_is_followed_no_longer(
    make_session: Callable[..., Session], qtbot: QtBot, tmp_path: Path
) -> None:
    make_project(tmp_path / "vault")
    session = make_session(replay=False, cache_file=tmp_path / "vaults.sqlite")
    session.reading.open([tmp_path / "vault"])
    qtbot.waitUntil(lambda: session.project is not None)
    follows = session.reading._follower._follows if session.reading._follower is not None else None
    assert follows is not None
    assert not follows.cancelled
    session.reading.close()
    assert follows.cancelled
    assert session.project is None


def test_a_vault_that_was_read_in_another_way_is_not_read_a_second_time(
    make_session: Callable[..., Session], qtbot: QtBot, tmp_path: Path
) -> None:
    session, told = make_session(replay=False, cache_file=tmp_path / "vaults.sqlite"), list[LibraryNews]()
    assert session.reading._follower is not None
    session.reading._follower.changed.connect(told.append)
    make_project(tmp_path / "vault")
    project = open_project([tmp_path / "vault"])
    session.set_project(project)
    session.reading.follow()
    qtbot.waitUntil(lambda: any(news.confirmed for news in told))
    assert project.index.entries
    assert [(news.parsed, news.index is project.index) for news in told] == [(0, True)] * len(told)
