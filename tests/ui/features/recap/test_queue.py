"""The queue of recap work beside a session that does nothing: what is told, and what waits for the person."""

from __future__ import annotations

import asyncio
import time
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from PySide6.QtCore import QObject, Signal

from lorestudio.exchange.problems import InputError
from lorestudio.studio.project.answering import AnswerKind, Source
from lorestudio.systems.recap.queue import FinishedOperation, QueuedOperation, QueuePicture, QueueState
from lorestudio.systems.recap.worker import QueueProgress
from lorestudio.ui.features.recap import queue as queueing
from lorestudio.ui.features.recap.queue import RecapQueue, _Begun
from lorestudio.ui.shell.words import Notice

ONE = QueuedOperation(id="a", type="validate_recap")
OLD = FinishedOperation("validate_recap", "Look", "failed", "too slow", 0, id="old")
DONE = FinishedOperation("validate_recap", "Look", "completed", "", 0, id="done")
SHUT = FinishedOperation("combine", "Join scenes", "failed", "too slow", 0, id="shut")
LOST = FinishedOperation("make_scene", "Make a scene", "failed", "no room", 0, id="lost")


class Noted(QObject):
    """In place of the recaps of a chat and of what does their work: it notes what is asked."""

    due, notice = Signal(), Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[object] = []
        self.open: Any = SimpleNamespace(
            queue=QueueState(), chat=1, close="close", is_held=False, calls=[], cut_short=self.cut_short, left_behind=""
        )
        self.session = SimpleNamespace(choice=SimpleNamespace(source=Source()), connections=None, notice=self.notice)
        self.settings, self.room, self.queue = None, 0, QueuePicture()
        self.work = self
        self.said: list[Any] = []
        self.notice.connect(self.said.append)

    def cut_short(self, _first: int) -> str:
        return ""

    def start(self, work: Any, *, done: Any = None, failed: Any = None) -> None:
        self.begun, self.done, self.failed = work, done, failed
        self.said.append(work if isinstance(work, str) else "work")

    def renew(self) -> None:
        self.said.append("renewed")

    def notices(self) -> list[Notice]:
        return [each for each in self.said if isinstance(each, Notice)]


@pytest.fixture
def noted(qapp: object) -> Noted:
    return Noted()


@pytest.fixture
def queue(noted: Noted) -> RecapQueue:
    return RecapQueue(noted)  # type: ignore[arg-type]


FAILED = "{steps} of recap work failed: Make a scene: no room. What failed was taken from the queue; {ask}"
ASK = "“Make what is due” asks for it again."
SCENE = "Make a scene: no room"


@pytest.mark.parametrize(
    ("log", "left", "text", "details"),
    [
        ((OLD, DONE), (), "The recaps are up to date: 1 step done.", ""),
        ((OLD,), (), "The recaps are up to date: 0 steps done.", ""),
        ((OLD, DONE, LOST), (), FAILED.format(steps="1 step", ask=ASK), SCENE),
        ((LOST, SHUT), (ONE,), FAILED.format(steps="2 steps", ask=ASK), f"{SCENE}\nJoin scenes: too slow"),
        ((DONE,), (ONE,), None, None),
    ],
)
def test_the_end_of_the_work_tells_what_is_new(
    queue: RecapQueue, noted: Noted, log: Any, left: Any, text: str | None, details: str | None
) -> None:
    noted.open.queue = QueueState((ONE,), log=(OLD,))
    queue._work(noted.open)
    assert (queue.working, noted.queue.working) == (True, True)
    noted.open.queue = QueueState(left, log=log)
    noted.done(None)
    assert (queue.working, noted.queue.working, noted.said[1]) == (False, False, "renewed")
    assert [(each.text, each.details) for each in noted.notices()] == ([] if text is None else [(text, details)])
    assert [each.tone for each in noted.notices()] == ([] if text is None else ["error" if details else "good"])


def test_messages_that_are_not_looked_at_are_told_where_the_work_ends(queue: RecapQueue, noted: Noted) -> None:
    """“The recaps are up to date” stood there with 10 of 49 made."""
    older = noted.open.left_behind = "39 older messages have no recap: “Look back” in the recap settings is 10."
    noted.open.worker, noted.open.work = SimpleNamespace(), partial(asyncio.sleep, 0)
    noted.open.edits = SimpleNamespace(refresh=noted.open.work)
    queue._work(noted.open)
    noted.open.queue = QueueState(log=(DONE,))
    noted.done(asyncio.run(noted.begun()))  # counted in its thread: thousands of messages take their time
    (notice,) = noted.notices()
    assert notice.text == f"What is due is made: 1 step done. {older}"
    assert (notice.tone, notice.actions) == ("good", ("recap.settings",))


def test_work_that_broke_says_why_and_another_chat_hears_nothing(queue: RecapQueue, noted: Noted) -> None:
    queue._work(noted.open)
    noted.failed(ValueError("it broke"))
    (notice,) = noted.notices()
    assert notice.text == "The work on recaps stopped: it broke. Nothing is lost; it can go on."
    assert (notice.tone, notice.actions, queue.working) == ("error", ("recap.resume",), False)
    assert not noted.queue.working
    queue._work(noted.open)
    noted.said.clear()
    noted.open = None
    noted.done(None)
    assert (noted.said, queue.working) == ([], False)


def test_news_count_what_was_finished_since_the_work_began(queue: RecapQueue, noted: Noted) -> None:
    noted.open.queue = QueueState((ONE,), log=(OLD,))
    queue._work(noted.open)
    told: list[int] = []
    noted.tell = lambda show: told.append(show())  # type: ignore[attr-defined]
    queue._hear(QueueProgress(QueueState((ONE,), log=(OLD, DONE))))
    assert (noted.queue.done, noted.queue.left, noted.queue.retry_at, noted.queue.working) == (1, 1, None, True)
    queue._hear(QueueProgress(QueueState((ONE,), log=(OLD,)), retry_in_s=60.0))
    assert noted.queue.done == 0
    assert noted.queue.retry_at == pytest.approx(time.monotonic() + 60, abs=30)
    for retries in (1, 2, 3):
        stuck = QueuedOperation("s", "combine", status="retrying", error="Retry 2 after 20s: no", retries=retries)
        queue._hear(QueueProgress(QueueState((stuck,)), retry_in_s=20.0))
    why = "combine has failed twice: no. It is tried again by itself; pause the work to put right what is wrong."
    assert [(each.text, each.actions) for each in noted.notices()] == [(why, ("recap.pause", "profiles.edit"))]
    told.clear()
    noted.tell = told.append  # type: ignore[attr-defined]
    for _each in range(3):
        queue._hear(QueueProgress(QueueState()))
    assert len(told) == 1  # the newest of what comes meanwhile is shown once


@pytest.mark.parametrize(
    ("state", "cost", "asked", "works", "asks", "said"),
    [
        (QueueState((ONE,)), "", True, True, False, ""),
        (QueueState((ONE,), paused=True), "", True, False, False, "Nothing is due. Recaps wait"),
        (QueueState(), "", True, False, False, "Nothing is due. Recaps wait"),
        (QueueState(), "", False, False, False, ""),
        (QueueState((ONE,)), "2 requests.", True, False, True, ""),
        (QueueState((ONE,)), "2 requests.", False, False, False, "Recaps are due. 2 requests. It begins when you"),
    ],
)
def test_what_is_ready_begins_costs_or_is_told(
    queue: RecapQueue, noted: Noted, state: QueueState, cost: str, asked: bool, works: bool, asks: bool, said: str
) -> None:
    costs: list[Any] = []
    queue.cost_known.connect(costs.append)
    noted.open.queue = state
    queue._ready(noted.open, asked, _Begun(QueuePicture(state), cost))
    assert (queue.working, len(costs)) == (works, int(asks))
    assert noted.queue.left == len(state.operations)
    assert [each.text[: len(said)] for each in noted.notices()] == ([said] if said else [])
    for each in costs:
        each.answered(False)
        assert not queue.working
        each.answered(True)
        assert queue.working


def test_what_was_queued_is_taken_back_where_nobody_agrees(queue: RecapQueue, noted: Noted) -> None:
    begun = _Begun(QueuePicture(), "2 requests.", lambda: None)  # type: ignore[arg-type, return-value]
    queue._answer(noted.open, begun, agreed=False)
    assert (noted.begun, queue.working) == (begun.take_back, False)
    queue._ready(SimpleNamespace(close="close"), True, begun)  # type: ignore[arg-type]
    assert noted.said[-1] == "close"


@pytest.mark.parametrize(
    ("kind", "enqueue", "said"),
    [
        (AnswerKind.PROVIDER, True, "The queue is at work. Pause it"), (AnswerKind.PROVIDER, False, ""),
        (AnswerKind.STAND_IN, True, ""),
    ],
)  # fmt: skip
def test_more_work_is_added_unless_it_would_cost_what_nobody_agreed_to(
    queue: RecapQueue, noted: Noted, kind: AnswerKind, enqueue: bool, said: str
) -> None:
    queue._source = Source(kind, "Remote")
    assert queue.profile == ""
    queue._work(noted.open)
    assert queue.profile == ("Remote" if kind is AnswerKind.PROVIDER else "")
    noted.said.clear()
    queue.begin((lambda _session: None) if enqueue else None)  # type: ignore[arg-type, return-value]
    assert [each.text[: len(said)] for each in noted.notices()] == ([said] if said else [])
    assert noted.said.count("work") == int(not said)
    noted.said.clear()
    noted.due.emit()  # it works already
    assert noted.said == []


# ---- what is done in the chat's own thread --------------------------------------------------------------------------


class Held(Noted):
    """A session of a chat whose queue is held; `more` steps come with what is queued."""

    def __init__(self, *left: QueuedOperation, paused: bool = False, is_held: bool = False) -> None:
        super().__init__()
        self.queue: Any = QueueState(left, paused=paused)
        self.worker, self.is_held, self.path, self.chat = self, is_held, Path("Tale.jsonl"), 1
        self.more: tuple[QueuedOperation, ...] = ()
        self.breaks = False

    def use(self, *_all: object) -> None:
        self.said.append("used")

    def hold(self) -> None:
        self.said.append("held")

    def release(self) -> None:
        self.said.append("released")

    async def resume(self) -> None:
        self.said.append("resumed")

    async def restore(self, before: QueueState) -> None:
        self.said.append(len(before.operations))
        self.queue = before

    async def enqueue(self, _session: object) -> None:
        self.said.append("queued")
        if self.breaks:
            raise ValueError("it broke")
        self.queue = QueueState((*self.queue.operations, *self.more), paused=self.queue.paused)


@pytest.mark.parametrize(
    ("more", "paused", "kind", "calls", "said", "cost"),
    [
        (0, False, AnswerKind.STAND_IN, 0, ["released"], ""),
        (1, True, AnswerKind.STAND_IN, 0, ["released"], ""),
        (1, False, AnswerKind.STAND_IN, 2, [], ""),
        (1, False, AnswerKind.PROVIDER, 0, [], ""),
        (1, False, AnswerKind.PROVIDER, 2, [], "2 requests."),
    ],
)
@pytest.mark.parametrize("asked", [True, False])
def test_the_queue_is_held_until_it_is_worked_on_or_given_up(
    queue: RecapQueue, noted: Noted, monkeypatch: pytest.MonkeyPatch,
    more: int, paused: bool, kind: AnswerKind, calls: int, said: list[str], cost: str, asked: bool,
) -> None:  # fmt: skip
    async def recap_cost(_session: object) -> Any:
        return SimpleNamespace(calls=calls, sentence=f"{calls} requests.")

    monkeypatch.setattr("lorestudio.systems.recap.session.recap_cost", recap_cost)

    def make_answers(*_all: object, keeps_asking: bool, **_more: object) -> tuple[str, str]:
        assert keeps_asking  # the queue waits and tries again by itself
        return "answers", "small"

    monkeypatch.setattr(queueing, "make_answers", make_answers)
    session = noted.open = Held(paused=paused)
    session.more = (ONE,) * more
    noted.session.choice.source = Source(kind, "Remote")
    queue.begin(session.enqueue, asked=asked)  # type: ignore[arg-type]
    begun = asyncio.run(noted.begun())
    assert session.said == ["used", "held", *(["resumed"] if asked else []), "queued", *said]
    assert (begun.cost, begun.queue.left, begun.take_back is not None) == (cost, more, bool(cost))
    if begun.take_back is not None:
        session.said.clear()
        asyncio.run(begun.take_back())
        assert session.said == [*([0] if asked else []), "released"]


def test_what_cannot_be_queued_leaves_the_queue_as_it_was(
    queue: RecapQueue, noted: Noted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queueing, "make_answers", lambda *_all, **_more: ("answers", "small"))
    session = noted.open = Held(ONE)
    session.breaks = True
    queue.begin(session.enqueue)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="it broke"):
        asyncio.run(noted.begun())
    assert session.said == ["used", "held", "resumed", "queued", 1, "released"]
    noted.said.clear()
    noted.failed(InputError(Path("Tale.jsonl"), "no header."))
    assert (noted.said[0], noted.queue.left, queue.working) == ("renewed", 1, False)
    assert [(each.text, each.tone) for each in noted.notices()] == [("Tale.jsonl: no header.", "warning")]
    noted.failed(ValueError("it broke"))
    assert [each.tone for each in noted.notices()] == ["warning", "error"]
    assert {each.key for each in noted.notices()} == {"recap"}, "the last one takes the place of the others"


@pytest.mark.parametrize(
    ("is_held", "act", "said"),
    [
        (False, "pause", ["held", "pause", "released"]),
        (True, "pause", ["held", "pause"]),
        (False, "clear", ["held", "clear", "released"]),
        (False, "remove", ["held", "remove a", "released"]),
        (False, "toggle_pause_before", ["held", "toggle_pause_before a", "released"]),
        (False, "hurry", ["held", "hurry", "released"]),
        (False, "clear_recaps", ["held", "clear_all", "released"]),
    ],
)
def test_each_change_holds_the_queue_as_long_as_it_takes(
    queue: RecapQueue, noted: Noted, is_held: bool, act: str, said: list[str]
) -> None:
    session = noted.open = Held(is_held=is_held)

    def noting(name: str) -> Any:
        def noted_now(*names: str) -> None:
            session.said.append(" ".join((name, *names)))

        async def noted_later(*names: str) -> None:
            noted_now(*names)

        return noted_now if name == "hurry" else noted_later

    for name in ("pause", "clear", "remove", "toggle_pause_before", "hurry", "clear_all"):
        setattr(session, name, noting(name))
    getattr(queue, act)(*(["a"] if act in {"remove", "toggle_pause_before"} else []))
    asyncio.run(noted.begun())
    assert session.said == said
    session.queue = QueueState((ONE,))
    noted.said.clear()
    noted.done(None)
    assert (noted.queue.left, noted.said[0]) == (1, "renewed")
    texts = [each.text for each in noted.notices()]
    assert texts == (["All recaps and scene breaks were taken out of the chat."] if act == "clear_recaps" else [])


def test_without_recaps_nothing_can_be_changed_or_begun(queue: RecapQueue, noted: Noted) -> None:
    noted.open = None
    queue.pause()
    queue.begin()
    assert noted.said == []


def test_what_is_added_to_a_queue_that_ended_meanwhile_begins_anew(queue: RecapQueue, noted: Noted) -> None:
    session = noted.open = Held(ONE)
    session.more = (ONE,)
    queue._work(session)  # type: ignore[arg-type]
    queue.begin(session.enqueue)  # type: ignore[arg-type]
    asyncio.run(noted.begun())
    assert session.said == ["resumed", "queued"]
    noted.done(None)
    assert queue.working
    queue._working = None
    noted.said.clear()
    noted.done(None)
    assert (queue.working, noted.said[-1]) == (True, "work")
    queue._working = None
    session.queue = QueueState()
    noted.done(None)
    assert not queue.working
