"""Drawing facts out, in words: how far it is, what came of it, and what a failure or an agreed cost leads to."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from PySide6.QtCore import QObject, Signal

from lorestudio.domain.chat import Chat
from lorestudio.domain.lifecycle import Cancelled
from lorestudio.domain.records import replace
from lorestudio.exchange.problems import InputError
from lorestudio.studio.project.answering import AnswerKind, ChatRequest, Question, Source
from lorestudio.systems.facts import session
from lorestudio.systems.facts.extraction import read_review
from lorestudio.systems.facts.pipeline import ExtractionResult
from lorestudio.systems.facts.session import Drawn
from lorestudio.systems.facts.threads import Passage
from lorestudio.ui.features.facts import extraction
from lorestudio.ui.features.facts.actions import MemoriesFeature
from lorestudio.ui.features.facts.extraction import (
    FACTS,
    FAILED,
    VECTORS,
    Ended,
    ExtractionWish,
    MemoryWork,
    Under,
    extract,
    news_of,
    refresh,
)
from lorestudio.ui.shell.words import Notice
from lorestudio.ui.state.replay_worker import Withdrawn

KEPT = Drawn(Passage("c", 0, 4, ()), ExtractionResult(saved=2, deduped=3, superseded=1, extracted=6))
EMPTY = Drawn(Passage("c", 5, 9, ()), ExtractionResult())
UNREADABLE = Drawn(Passage("c", 5, 9, ()), ExtractionResult(problem="the reply is no JSON: No!"))
LOST = Drawn(Passage("c", 10, 14, ()), problem="too slow")


@pytest.mark.parametrize(
    ("under", "words"),
    [
        (Under(), ""),
        (Under(FACTS), "Looking what waits…"),
        (Under(FACTS, 1, 3), "Reading passage 2 of 3…"),
        (Under(FACTS, 3, 3, 2), "Reading passage 3 of 3… 2 failed."),
        (Under(VECTORS, 4, 9), "Making vectors: 4 of 9…"),
        (Under(VECTORS, 4, 9, stopping=True), "Stopping…"),
    ],
)
def test_how_far_it_is(under: Under, words: str) -> None:
    assert under.sentence == words


PARTS = "2 new memories, 1 with newer words, 3 known already"
NO_MODEL = "No model was asked, which would write facts of them."
NO_FACTS = "No facts were found in 1 passage. Who reads them is chosen in the Memories pane."
NONE_CAME = "No facts came of 1 passage: the reply is no JSON: No! Under “Passages” they can be read once more."
COULD_NOT = "1 passage could not be read, #10 to #14: too slow. Nothing of them was kept; “Draw out facts” tries again."


@pytest.mark.parametrize(
    ("ended", "told"),
    [
        (Ended(), [("Nothing is waiting: the facts of this chat are kept.", "neutral", ())]),
        (Ended(stopped=True), [("Stopped. What is kept stays, and the rest waits.", "neutral", ())]),
        (Ended((KEPT,)), [(f"6 facts out of 1 passage: {PARTS}.", "good", ())]),
        (Ended((KEPT, EMPTY)), [(f"6 facts out of 2 passages: {PARTS}.", "good", ())]),
        (
            Ended((KEPT,), quoted=True),
            [(f"6 sentences out of 1 passage, as they stand: {PARTS}. {NO_MODEL}", "neutral", ("profiles.edit",))],
        ),
        (Ended((EMPTY,)), [(NO_FACTS, "neutral", ("memories.again",))]),
        (Ended((EMPTY,), quoted=True), [(NO_FACTS, "neutral", ("memories.again",))]),
        (Ended((UNREADABLE,)), [(NONE_CAME, "warning", ("pane.memories", "profiles.edit"))]),
        (
            Ended((KEPT, UNREADABLE)),
            [
                (f"6 facts out of 1 passage: {PARTS}.", "neutral", ()),
                (NONE_CAME, "warning", ("pane.memories", "profiles.edit")),
            ],
        ),
        (Ended((LOST,)), [(COULD_NOT, "error", ("memories.extract", "profiles.edit"))]),
        (
            Ended((KEPT, LOST), stopped=True),
            [
                (f"6 facts out of 1 passage: {PARTS}.", "neutral", ()),
                (COULD_NOT, "error", ("memories.extract", "profiles.edit")),
                ("Stopped. What is kept stays, and the rest waits.", "neutral", ()),
            ],
        ),
    ],
)  # fmt: skip
def test_what_came_of_it(ended: Ended, told: list[Any]) -> None:
    assert [(each.text, each.tone, each.actions) for each in news_of(ended)] == told


def test_what_the_second_look_found_in_conflict_is_counted() -> None:
    reply = '{"conflicts": [{"newFact": "Up.", "existingMemory": "Down."}, {"newFact": "Up."}]}'
    result = replace(KEPT.result, review=read_review(reply, (), strict=False).counts)
    (notice,) = news_of(Ended((replace(KEPT, result=result),)))
    assert notice.text == f"6 facts out of 1 passage: {PARTS}, 1 in conflict with a memory."


def test_each_passage_that_failed_is_named_in_the_details() -> None:
    (notice,) = news_of(Ended((LOST, Drawn(Passage("c", 15, 19, ()), problem="no room"))))
    assert notice.text.startswith("2 passages could not be read, #10 to #14: too slow.")
    assert (notice.details, notice.key) == ("#10 to #14: too slow\n#15 to #19: no room", FAILED)


def test_passages_that_nobody_was_asked_about_are_told() -> None:
    (notice,) = news_of(Ended((LOST,), left=3))
    assert notice.text == f"{COULD_NOT} Nobody was asked about 3 more passages, which would fail as well."


def test_each_passage_whose_reply_could_not_be_read_is_named_in_the_details() -> None:
    (notice,) = news_of(Ended((UNREADABLE, Drawn(Passage("c", 10, 14, ()), ExtractionResult(problem="no list")))))
    assert notice.text.startswith("No facts came of 2 passages: the reply is no JSON: No!")
    assert notice.details == "#5 to #9: the reply is no JSON: No!\n#10 to #14: no list"


# ---- the work, with a store and jobs that only note what is asked of them --------------------------------------------


class Noted(QObject):
    """In place of the store of memories, its session and its jobs."""

    project_changed, altered = Signal(), Signal()
    question, withdrawn, notice = Signal(object), Signal(object), Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.session, self.jobs, self.job = self, self, SimpleNamespace(cancel=lambda: self.said.append("cancelled"))
        self.choice = SimpleNamespace(source=Source(AnswerKind.STAND_IN))
        self.place = SimpleNamespace(path=Path("a"), chat=object(), embedder="")
        self.project: Any = SimpleNamespace(bills=None)
        self.picture: Any = SimpleNamespace(stale=2, everything=False, owner="Ada")
        self.said: list[Any] = []
        self.altered.connect(lambda: self.said.append("altered"))

    def start(self, title: str, _work: object, *, done: Any, failed: Any, reported: Any) -> object:
        self.said.append(title)
        self.done, self.failed, self.reported = done, failed, reported
        return self.job

    def renew(self) -> None:
        self.said.append("renewed")


@pytest.fixture
def noted() -> Noted:
    return Noted()


@pytest.fixture
def work(noted: Noted) -> MemoryWork:
    made: Any = MemoryWork(noted)  # type: ignore[arg-type]
    noted.notice.connect(noted.said.append)
    made.cleared.connect(lambda: noted.said.append("cleared"))
    made.cost_known.connect(noted.said.append)
    return made


AGAIN = ("memories.extract", "profiles.edit")


@pytest.mark.parametrize(
    ("vectors", "error", "notice"),
    [
        (False, ValueError("it broke"), ("No facts could be drawn out: it broke.", AGAIN)),
        (
            False, InputError(Path("a.json"), "wrong"),
            ("No facts could be drawn out: a.json: wrong.", ("memories.settings",)),
        ),
        (
            True, ValueError("it broke"),
            ("Making vectors stopped: it broke. What was made before stays.", ("memories.refresh", "profiles.edit")),
        ),
        (True, Cancelled(), None),
    ],
)  # fmt: skip
def test_a_failure_says_what_failed_and_what_helps(
    work: MemoryWork, noted: Noted, vectors: bool, error: Exception, notice: tuple[str, tuple[str, ...]] | None
) -> None:
    (work.refresh if vectors else work.extract)()
    assert (work.busy, noted.said) == (True, ["Making vectors" if vectors else "Drawing out facts"])
    noted.failed(error)
    assert (work.busy, noted.said[1]) == (False, "renewed")
    told = [] if notice is None else [Notice(notice[0], "error", actions=notice[1], key="memories")]
    assert noted.said[2:] == told


@pytest.mark.parametrize(
    ("drawn", "said"),
    [((), ["renewed"]), ((KEPT,), ["renewed", "altered", "cleared"]), ((KEPT, LOST), ["renewed", "altered"])],
)
def test_what_was_drawn_out_alters_runs_and_ends_old_failures(
    work: MemoryWork, noted: Noted, drawn: tuple[Drawn, ...], said: list[str]
) -> None:
    work.extract()
    noted.done(Ended(drawn))
    assert not work.busy
    assert [each for each in noted.said[1:] if isinstance(each, str)] == said


@pytest.mark.parametrize(
    ("ended", "words", "tone", "altered"),
    [
        (Ended(made=1), "1 vector was made.", "good", True),
        (Ended(made=2, stopped=True), "2 vectors were made; it was stopped.", "neutral", True),
        (Ended(stopped=True), "0 vectors were made; it was stopped.", "neutral", False),
    ],
)
def test_how_many_vectors_were_made(
    work: MemoryWork, noted: Noted, ended: Ended, words: str, tone: Any, altered: bool
) -> None:
    work.refresh()
    noted.done(ended)
    said = ["renewed", *(["altered"] if altered else [])]
    assert noted.said[1:] == [*said, Notice(words, tone, key="memories")]


def test_vectors_of_a_model_are_made_once_their_cost_is_agreed_to(work: MemoryWork, noted: Noted) -> None:
    noted.place.embedder = "Local"
    work.refresh()
    (cost,) = noted.said
    assert (cost.name, cost.sentence) == (
        "Local",
        "2 requests for vectors to Local. They hold the texts of the memories.",
    )
    cost.answered(False)
    assert not work.busy
    cost.answered(True)
    assert (work.busy, work.under.of) == (True, 2)


@pytest.mark.parametrize("embedder", ["", "Local"])
def test_the_cost_of_facts_is_asked_in_the_name_of_who_takes_it(work: MemoryWork, noted: Noted, embedder: str) -> None:
    noted.place.embedder = embedder
    if not embedder:
        noted.choice.source = Source(AnswerKind.PROVIDER, "Remote")
    work.extract()
    noted.done(Ended(cost="3 requests."))
    cost = noted.said[-1]
    assert (cost.name, cost.sentence, work.busy) == (embedder or "Remote", "3 requests.", False)
    assert cost.more.startswith("The requests hold texts of the chat.")
    cost.answered(True)
    assert work.busy


def test_nothing_begins_twice_or_without_what_it_needs(work: MemoryWork, noted: Noted) -> None:
    noted.place.chat = None
    work.extract()
    noted.place.chat, noted.project = object(), None
    work.extract()
    noted.picture.stale = 0
    work.refresh()
    noted.picture = None
    work.refresh()
    work.stop()
    assert noted.said == []
    noted.project = SimpleNamespace(bills=None)
    work.extract()
    work.extract()
    assert noted.said == ["Drawing out facts"]


def test_news_of_the_work_count_and_every_passage_shows_its_facts(work: MemoryWork, noted: Noted) -> None:
    work.extract()
    noted.reported(Under(FACTS, 0, 3))
    assert noted.said[1:] == []
    noted.reported(Under(FACTS, 1, 3))
    assert (work.under.sentence, noted.said[1:]) == ("Reading passage 2 of 3…", ["renewed"])
    noted.project_changed.emit()  # the same chat
    assert not work.under.stopping
    noted.place.path = Path("b")
    noted.project_changed.emit()
    noted.reported(Under(FACTS, 1, 3, 1))
    assert (work.under.sentence, noted.said[2:]) == ("Stopping…", ["cancelled"])
    noted.failed(Cancelled())
    noted.reported(Under(FACTS, 2, 3))  # too late
    assert not work.busy


@pytest.mark.parametrize(
    ("waiting", "failures", "known", "words"),
    [
        (0, (0, 0), True, "The facts of this chat are kept."),
        (0, (), True, ""),
        (0, (0, 0), False, ""),
        (1, (0, 0), True, "1 passage waits to be read."),
        (2, (3, 0), True, "2 passages wait to be read. 1 failed before: see Passages."),
    ],
)
def test_what_waits_while_nothing_is_under_way(
    waiting: int, failures: tuple[int, ...], known: bool, words: str
) -> None:
    passages = tuple(SimpleNamespace(failures=each) for each in failures)
    store = SimpleNamespace(picture=SimpleNamespace(passages=passages, waiting=waiting), chat_known=known)
    feature: Any = SimpleNamespace(store=store)
    assert MemoriesFeature._idle_words(feature) == words


# ---- what a worker does, in memory -----------------------------------------------------------------------------------


class Memories:
    """In place of a file of memories: two passages wait, three vectors are stale; `end` comes after the first."""

    def __init__(self) -> None:
        self.end: type[Exception] | None = None
        self.writes = False
        self.asked: list[object] = []

    def open(self, answers: object = None, model: str = "", *, writes: bool = False) -> Any:
        self.answers, self.model, self.writes = answers, model, writes
        return contextlib.nullcontext(self)

    def waiting(self, _chat: object, _path: Path, *, again: bool, only: str) -> tuple[Passage, ...]:
        self.asked.append(again)
        return tuple(each for each in (KEPT.passage, LOST.passage) if only in ("", each.key))

    async def extract(self, _chat: object, _path: Path, passages: tuple[Passage, ...], heard: Any) -> None:
        heard(0, len(passages), None)
        for done, passage in enumerate(passages, 1):
            heard(done, len(passages), KEPT if passage is KEPT.passage else LOST)
            if self.end is not None:
                raise self.end

    def stale(self, owner: str) -> list[str]:
        self.asked.append(owner)
        return ["a", "b", "c"]

    async def refresh(self, stale: list[str], heard: Any) -> None:
        for done in range(1, len(stale) + 1):
            heard(done, len(stale))
            if self.end is not None:
                raise self.end


class JobNow:
    """A job whose coroutines are run at once, and whose news are kept."""

    def __init__(self) -> None:
        self.news: list[Any] = []

    def __call__(self, news: object) -> None:
        self.news.append(news)

    def run(self, work: Any) -> Any:
        return asyncio.run(work())

    def cancel(self) -> None:
        """Nothing is under way."""


@pytest.fixture
def memories() -> Memories:
    return Memories()


@pytest.fixture
def place(memories: Memories) -> Any:
    return SimpleNamespace(
        chat=Chat(), path=Path("Tale.jsonl"), connections=None, embedder="", open=memories.open
    )  # fmt: skip


RULES, REMOTE = Source(AnswerKind.STAND_IN), Source(AnswerKind.PROVIDER, "Remote")
COUNTER: Any = object()


@pytest.mark.parametrize(
    ("wish", "end", "drawn", "news"),
    [
        (ExtractionWish(), None, (KEPT, LOST), [(0, 2, 0, "0-4"), (1, 2, 0, "10-14"), (2, 2, 1, "")]),
        (ExtractionWish(only="10-14"), None, (LOST,), [(0, 1, 0, "10-14"), (1, 1, 1, "")]),
        (ExtractionWish(again=True), Cancelled, (KEPT,), [(0, 2, 0, "0-4"), (1, 2, 0, "10-14")]),
    ],
)
def test_a_worker_draws_facts_out_and_tells_every_passage(
    place: Any, memories: Memories, wish: ExtractionWish, end: Any, drawn: tuple[Drawn, ...], news: list[Any]
) -> None:
    memories.end, job = end, JobNow()
    ended = extract(place, RULES, wish, None, job)  # type: ignore[arg-type]
    assert ended == Ended(drawn, stopped=end is not None, quoted=True)
    assert job.news == [Under(FACTS, done, of, failed, key) for done, of, failed, key in news]
    assert (memories.answers, memories.writes, memories.asked) == (None, True, [wish.again])


def test_without_a_chat_a_worker_begins_nothing(place: Any, memories: Memories) -> None:
    place.chat = None
    assert extract(place, RULES, ExtractionWish(), None, JobNow()) == Ended()  # type: ignore[arg-type]
    assert memories.asked == []


MAKES = "Local makes the vectors: one request for each fact."


@pytest.mark.parametrize(
    ("source", "embedder", "again", "calls", "cost"),
    [
        (REMOTE, "", False, 2, "2 calls."),
        (REMOTE, "", False, 0, ""),
        (REMOTE, "Local", False, 0, f"0 calls. {MAKES}"),
        (REMOTE, "Local", True, 2, f"2 calls. {MAKES}"),
        (RULES, "Local", False, 0, MAKES),
        (RULES, "", False, 0, ""),
    ],
)
def test_what_it_costs_is_known_before_anybody_is_asked(
    place: Any, memories: Memories, monkeypatch: pytest.MonkeyPatch,
    source: Source, embedder: str, again: bool, calls: int, cost: str,
) -> None:  # fmt: skip
    place.embedder = embedder
    kept = SimpleNamespace(holds=object())
    asked: list[Any] = []

    async def facts_cost(_opened: object, _chat: object, _path: object, passages: Any, *more: object) -> Any:
        asked.append((len(passages), *more))
        return SimpleNamespace(calls=calls, sentence=f"{calls} calls.")

    def make_answers(*_all: object, fresh: bool) -> tuple[str, str]:
        asked.append(fresh)
        return "answers", "small"

    monkeypatch.setattr(session, "facts_cost", facts_cost)
    monkeypatch.setattr(extraction, "load_recorded", lambda _path: kept)
    monkeypatch.setattr(extraction, "make_answers", make_answers)
    job = JobNow()
    ended = extract(place, source, ExtractionWish(again=again), COUNTER, job)  # type: ignore[arg-type]
    if cost:
        assert ended == Ended(cost=cost)
        assert job.news == []
    else:
        assert ended.drawn == (KEPT, LOST)
    if source is REMOTE:  # what is read again is asked for anew, whatever was recorded
        assert asked == [again, (2, COUNTER, None if again else kept.holds)]
        assert (memories.answers, memories.model, ended.quoted) == ("answers", "small", False)
    else:
        assert asked == []


@pytest.mark.parametrize(
    ("end", "ended", "told"), [(None, Ended(made=3), [1, 3]), (Cancelled, Ended(made=1, stopped=True), [1])]
)
def test_a_worker_makes_vectors_and_tells_now_and_then(
    place: Any, memories: Memories, monkeypatch: pytest.MonkeyPatch, end: Any, ended: Ended, told: list[int]
) -> None:
    monkeypatch.setattr("time.monotonic", lambda: 100.0)
    memories.end, job = end, JobNow()
    assert refresh(place, "Ada", job) == ended  # type: ignore[arg-type]
    assert job.news == [Under(VECTORS, done, 3) for done in told]
    assert memories.asked == ["Ada"]


def test_a_question_to_the_person_goes_to_the_window(work: MemoryWork, noted: Noted) -> None:
    heard: list[object] = []
    noted.question.connect(heard.append)
    noted.withdrawn.connect(heard.append)
    work.extract()
    question = Question(ChatRequest("facts", "", ""), "", lambda _reply: None, lambda: None)  # type: ignore[arg-type]
    noted.reported(question)
    noted.reported(Withdrawn(question))
    assert heard == [question, question]


@pytest.mark.parametrize(("everything", "owner"), [(True, ""), (False, "Ada")])
def test_vectors_are_made_of_the_memories_that_are_listed(
    noted: Noted, work: MemoryWork, everything: bool, owner: str
) -> None:
    noted.picture.everything = everything
    works: list[Any] = []
    start = noted.start
    noted.start = lambda title, begun, **more: (works.append(begun), start(title, begun, **more))[1]  # type: ignore[method-assign]
    work.refresh()
    assert works[0].args == (noted.place, owner)
