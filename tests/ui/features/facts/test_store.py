"""The memories without a window: read where somebody looks, searched, changed, and what is said of what fails."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from lorestudio.domain.chat import Chat, Message
from lorestudio.domain.records import replace
from lorestudio.exchange.problems import InputError
from lorestudio.settings.facts import FactsSettings
from lorestudio.settings.hybrid import NO_EMBEDDER
from lorestudio.systems.facts.records import Memory
from lorestudio.systems.facts.session import FactsSession
from lorestudio.ui.features.facts.store import MemoryStore
from lorestudio.ui.shell.words import Notice
from lorestudio.ui.state.session import Session
from tests.ui.worlds import make_project

LAMP, ROPE = "I carry the lantern", "I want more rope"
CHAT = Chat(
    (
        Message("Ada", "Who carries the lantern?"), Message("Wren", f"{LAMP}.", is_user=True),
        Message("Ada", "And the rope?"), Message("Wren", f"{ROPE}.", is_user=True),
    ),
    "Wren", "Ada",
)  # fmt: skip


class Shelf:
    """Two memories that were drawn out of a chat, and what the store of them says."""

    def __init__(self, folder: Path, make_session: Callable[..., Session], qtbot: QtBot) -> None:
        project = replace(make_project(folder / "vault"), chat=CHAT, chat_path=folder / "Tale.jsonl")
        self.session = make_session(project, replay=False)
        self.settings = FactsSettings(store=str(folder / "memories.sqlite"), passage=2)
        self.session.replays.configure({"facts": self.settings})
        self.store = MemoryStore(self.session)
        self._qtbot = qtbot
        self.told: list[Notice] = []
        self.altered: list[bool] = []
        self.session.notice.connect(self.told.append)
        self.store.altered.connect(lambda: self.altered.append(True))
        place = self.store.place
        with place.open(writes=True) as opened:
            asyncio.run(opened.extract(CHAT, place.path, opened.waiting(CHAT, place.path)))

    def settle(self) -> None:
        self._qtbot.waitUntil(lambda: self.session.jobs.idle and self.store.idle)

    def look(self) -> None:
        self.store.look(wanted=True)
        self.settle()

    def memory(self, text: str) -> Memory:
        assert self.store.picture is not None
        return next(row.memory for row in self.store.picture.rows if row.memory.content == text)

    @property
    def texts(self) -> list[str]:
        return [] if self.store.picture is None else sorted(row.memory.content for row in self.store.picture.rows)

    def search(self, text: str) -> None:
        self.store.search(text)
        self.settle()


@pytest.fixture
def shelf(tmp_path: Path, make_session: Callable[..., Session], qtbot: QtBot) -> Shelf:
    return Shelf(tmp_path, make_session, qtbot)


def failing(error: Exception) -> Callable[..., object]:
    def fail(*_all: object, **_more: object) -> object:
        raise error

    return fail


def test_nothing_is_read_until_somebody_looks_and_again_only_after_a_change(shelf: Shelf) -> None:
    store, reads = shelf.store, list[bool]()
    store.changed.connect(lambda: reads.append(True))
    store.follow()
    store.renew()
    shelf.settle()
    assert (store.picture, reads) == (None, [])
    shelf.look()
    assert (shelf.texts, reads) == ([LAMP, ROPE], [True])
    store.follow()
    shelf.settle()
    assert reads == [True], "nothing is another"
    store.look(wanted=False)
    store.renew()
    shelf.settle()
    assert reads == [True]
    shelf.look()
    assert reads == [True, True], "what was to be renewed meanwhile is read now"


def test_a_chat_is_known_by_its_file_or_its_mark(shelf: Shelf, make_session: Callable[..., Session]) -> None:
    nothing = MemoryStore(make_session(replay=False))
    assert (nothing.place.chat, nothing.chat_known) == (None, False)
    project = shelf.session.project
    assert project is not None
    for path, marks, known in ((Path("a.jsonl"), {}, True), (None, {}, False), (None, {"integrity": "x"}, True)):
        shelf.session.set_project(replace(project, chat_path=path, chat=replace(CHAT, metadata=marks)))
        shelf.settle()
        assert shelf.store.chat_known is known


def test_a_search_is_of_this_chat_or_of_all_and_is_given_up_for_blanks(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, asked, news = shelf.store, list[tuple[str, bool, int]](), list[str]()
    store.hits_changed.connect(lambda: news.append(store.searching))
    search = FactsSession.search

    async def noted(self: FactsSession, text: str, owner: str, limit: int) -> Any:
        asked.append((text, bool(owner), limit))
        return await search(self, text, owner, limit)

    monkeypatch.setattr(FactsSession, "search", noted)
    shelf.look()
    store.show_everything(everything=True)
    shelf.settle()
    assert asked == [], "nothing was searched for"
    store.show_everything(everything=False)
    shelf.settle()
    store.search(" rope ")
    assert (store.searching, store.idle) == ("rope", False)
    shelf.settle()
    assert store.hits is not None
    assert (store.hits.text, next(iter(store.hits.scores))) == ("rope", shelf.memory(ROPE).id)
    store.show_everything(everything=True)
    shelf.settle()
    store.show_everything(everything=True)
    assert store.idle, "nothing is another"
    assert asked == [("rope", True, 200), ("rope", False, 200)]
    news.clear()
    shelf.search(" ")
    assert (store.hits, news) == (None, [""])
    store.search("lantern")
    store.drop_hits()
    shelf.settle()
    assert (store.hits, store.searching) == (None, "")


def test_a_search_that_fails_says_so_and_what_was_found_before_stays(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf.look()
    shelf.search("rope")
    before = shelf.store.hits
    monkeypatch.setattr(FactsSession, "search", failing(OSError("no connection")))
    shelf.search("lantern")
    why = "The search failed: no connection. Look at who makes the vectors."
    assert shelf.told == [Notice(why, "error", actions=("memories.settings", "profiles.edit"), key="memories")]
    assert (shelf.store.hits, shelf.store.searching) == (before, "")


def test_a_memory_is_written_tagged_pinned_deleted_and_brought_back(shelf: Shelf) -> None:
    store = shelf.store
    shelf.look()
    store.undo()  # of nothing
    store.write(shelf.memory(ROPE), "Wren has rope")
    assert not store.idle
    shelf.settle()
    store.tag(shelf.memory("Wren has rope"), ["gear"])
    shelf.settle()
    store.pin(shelf.memory("Wren has rope"), pinned=True)
    shelf.settle()
    found = shelf.memory("Wren has rope")
    assert (list(found.tags), found.pinned, len(shelf.altered)) == (["gear"], True, 3)
    store.delete([found])
    shelf.settle()
    assert shelf.texts == [LAMP]
    assert [[memory.id for memory in each] for each in store.deleted] == [[found.id]]
    assert shelf.told[-1] == Notice("1 memory was deleted.", actions=("memories.undo",), key="memories")
    store.undo()
    shelf.settle()
    assert (shelf.texts, store.deleted) == ([LAMP, "Wren has rope"], [])
    assert shelf.told[-1] == Notice("1 memory is back.", "good", key="memories")
    store.delete([found])
    shelf.settle()
    store.delete([found])  # it is gone already
    shelf.settle()
    assert len(store.deleted) == 1
    past: list[Any] = []
    store.ask_past(shelf.memory(LAMP), past.append)
    shelf.settle()
    assert len(past) == 1


def test_a_change_that_fails_is_said_and_can_be_tried_again(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    store = shelf.store
    shelf.look()
    store.delete([shelf.memory(ROPE)])
    shelf.settle()
    with monkeypatch.context() as broken:
        broken.setattr(FactsSession, "restore", failing(OSError("the disk is full")))
        broken.setattr(FactsSession, "pin", failing(InputError("memories", "somebody else writes.")))
        store.undo()
        shelf.settle()
        store.pin(shelf.memory(LAMP), pinned=True)
        shelf.settle()
    assert [(each.text, each.tone) for each in shelf.told[1:]] == [
        ("the disk is full", "error"), ("memories: somebody else writes.", "warning"),
    ]  # fmt: skip
    assert (shelf.texts, len(store.deleted)) == ([LAMP], 1)
    store.undo()
    shelf.settle()
    assert shelf.texts == [LAMP, ROPE]


def test_after_a_change_that_fails_what_is_there_now_is_shown(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may have failed because another program has changed the memories meanwhile."""
    shelf.look()
    rope = shelf.memory(ROPE)
    with shelf.store.place.open(writes=True) as elsewhere:
        elsewhere.delete([rope])
    monkeypatch.setattr(FactsSession, "pin", failing(InputError("memories", "it is gone.")))
    shelf.store.pin(rope, pinned=True)
    shelf.settle()
    assert shelf.texts == [LAMP]


def test_memories_that_nobody_makes_vectors_for_cannot_be_read_and_say_why(shelf: Shelf) -> None:
    shelf.look()
    shelf.session.replays.configure({"facts": shelf.settings.model_copy(update={"embedder": NO_EMBEDDER})})
    shelf.settle()
    assert shelf.store.picture is None
    assert "Choose stand-in or a provider profile" in shelf.store.problem
    told: list[str] = []
    shelf.store.changed.connect(lambda: told.append(shelf.store.problem))
    shelf.session.replays.configure({"facts": shelf.settings})
    shelf.settle()
    assert (told, shelf.texts) == (["", ""], [LAMP, ROPE])
