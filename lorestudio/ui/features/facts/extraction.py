"""Drawing facts out of the chat, and making vectors anew: in a worker, one at a time, with progress, cost, an end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from PySide6.QtCore import QObject, Signal

from lorestudio.domain.lifecycle import Cancelled
from lorestudio.domain.records import replace
from lorestudio.domain.tokens import TokenCounter
from lorestudio.exchange.problems import InputError
from lorestudio.studio.project.answering import AnswerKind, Asked, Question, Source, load_recorded, make_answers
from lorestudio.ui.features.facts.store import MemoryStore, Place
from lorestudio.ui.shell.jobs import Beat, Job
from lorestudio.ui.shell.words import Notice, Tone, count, sentence_of, tr, with_full_stop
from lorestudio.ui.state.replay_worker import Withdrawn
from lorestudio.ui.widgets.dialogs import ModelCost

if TYPE_CHECKING:
    from lorestudio.systems.facts.session import Drawn, FactsSession
    from lorestudio.systems.facts.threads import Passage

FAILED: Final = "memories-failed"
"""The key of the notice about passages that could not be read."""

STOPPED: Final = "memories-stopped"
"""The key of the notice that the rest waits."""

UNREAD: Final = "memories-unread"
"""The key of the notice about replies that could not be read."""

NEWS_SECONDS: Final = 0.1
"""Progress of quick steps is told at most this often."""


class ExtractionWish(Struct, frozen=True):
    """What a person wants read: what waits, everything, or one passage by its key, with `again` one that was read."""

    again: bool = False
    only: str = ""
    agreed: bool = False


class Ended(Struct, frozen=True):
    """What came of it; with `cost` nothing was begun. `quoted`: plain rules took sentences as they stand. `left`
    passages were not asked about, because the answer would be the same failure.
    """

    drawn: tuple[Drawn, ...] = ()
    made: int = 0
    stopped: bool = False
    cost: str = ""
    quoted: bool = False
    left: int = 0


FACTS: Final = "facts"
VECTORS: Final = "vectors"


class Under(Struct, frozen=True):
    """What is under way: facts or vectors, "" for neither. `passage` is the key of the one that is read."""

    kind: str = ""
    done: int = 0
    of: int = 0
    failed: int = 0
    passage: str = ""
    stopping: bool = False

    @property
    def sentence(self) -> str:
        """How far it is."""
        if self.stopping:
            return tr("Stopping…")
        if self.kind == VECTORS:
            return tr("Making vectors: {done} of {of}…", done=self.done, of=self.of)
        if not self.kind:
            return ""
        if not self.of:
            return tr("Looking what waits…")
        text = tr("Reading passage {now} of {of}…", now=min(self.done + 1, self.of), of=self.of)
        return f"{text} {tr('{failed} failed.', failed=self.failed)}" if self.failed else text


def extract(place: Place, source: Source, wish: ExtractionWish, counter: TokenCounter | None, job: Job) -> Ended:
    """Draw facts out; with a counter, only find out what that costs where it costs anything."""
    chat = place.chat
    if chat is None:
        return Ended()
    answers, model = None, ""
    fresh = wish.again and source.waits
    if source.kind is not AnswerKind.STAND_IN:  # where no model is asked, plain rules draw facts out
        asked = Asked(job, lambda question: job(Withdrawn(question)), job.cancel)
        answers, model = make_answers(source, place.path, place.connections, None, asked, fresh=fresh)
    drawn: list[Drawn] = []
    with place.open(answers, model, writes=True) as opened:
        passages = opened.waiting(chat, place.path, again=wish.again, only=wish.only)
        if counter is not None and passages:
            cost = job.run(lambda: _cost(opened, place, source, passages, counter, fresh=fresh))
            if cost:
                return Ended(cost=cost)

        def heard(done: int, of: int, last: Drawn | None) -> None:
            if last is not None:
                drawn.append(last)
            key = passages[done].key if done < of else ""
            job(Under(FACTS, done, of, sum(bool(each.problem) for each in drawn), key))

        try:
            job.run(lambda: opened.extract(chat, place.path, passages, heard))
        except Cancelled:
            return Ended(tuple(drawn), stopped=True, quoted=answers is None)
    return Ended(tuple(drawn), quoted=answers is None, left=len(passages) - len(drawn))


async def _cost(
    opened: FactsSession,
    place: Place,
    source: Source,
    passages: Sequence[Passage],
    counter: TokenCounter,
    *,
    fresh: bool,
) -> str:
    """What a person has to know before, "" where nothing is asked of a provider."""
    from lorestudio.systems.facts.session import facts_cost

    told: list[str] = []
    if source.kind is AnswerKind.PROVIDER and place.chat is not None:
        is_recorded = None
        if place.path is not None and not fresh:
            is_recorded = (await asyncio.to_thread(load_recorded, place.path)).holds
        cost = await facts_cost(opened, place.chat, place.path, passages, counter, is_recorded)
        told.append(cost.sentence)
        if not cost.calls and not place.embedder:
            return ""
    if place.embedder:
        told.append(tr("{name} makes the vectors: one request for each fact.", name=place.embedder))
    return " ".join(told)


def refresh(place: Place, owner: str, job: Job) -> Ended:
    """Make the vectors of an owner's memories anew, of all without one. Raises LlmError; what was made before stays."""
    made, beat = 0, Beat(NEWS_SECONDS, at_once=True)

    def heard(done: int, of: int) -> None:
        nonlocal made
        made = done
        if beat.due() or done == of:
            job(Under(VECTORS, done, of))

    with place.open() as opened:
        stale = opened.stale(owner)
        try:
            job.run(lambda: opened.refresh(stale, heard))
        except Cancelled:
            return Ended(made=made, stopped=True)
    return Ended(made=made)


def news_of(ended: Ended) -> list[Notice]:
    """What there is to say at the end: what was kept, and what failed."""
    unread = [each for each in ended.drawn if each.result is not None and each.result.problem]
    results = [each.result for each in ended.drawn if each.result is not None and not each.result.problem]
    failed = [each for each in ended.drawn if each.problem]
    told: list[Notice] = []
    if results:
        again = () if any(each.extracted for each in results) else ("memories.again",)
        parts = [
            count(sum(each.saved for each in results), "new memory", "new memories"),
            tr("{amount} with newer words", amount=sum(each.superseded for each in results)),
            tr("{amount} known already", amount=sum(each.deduped for each in results)),
        ]
        against = [found for each in results if isinstance(found := (each.review or {}).get("conflictsFound"), int)]
        if any(against):
            parts.append(tr("{amount} in conflict with a memory", amount=sum(against)))
        found = sum(each.extracted for each in results)
        facts, read = count(found, "fact", "facts"), count(len(results), "passage", "passages")
        text = tr("{facts} out of {read}: {parts}.", facts=facts, read=read, parts=", ".join(parts))
        if ended.quoted and found:
            taken = count(found, "sentence", "sentences")
            text = tr(
                "{taken} out of {read}, as they stand: {parts}. No model was asked, which would write facts of them.",
                taken=taken, read=read, parts=", ".join(parts),
            )  # fmt: skip
            again = ("profiles.edit",)
        if not found:
            text = tr("No facts were found in {read}. Who reads them is chosen in the Memories pane.", read=read)
        good = found and not failed and not unread and not ended.quoted
        told.append(Notice(text, "good" if good else "neutral", "", again, "memories"))
    if unread:  # they count as read (rules: fact-memory 5.4)
        which = count(len(unread), "passage", "passages")
        problems = [each.result.problem for each in unread if each.result is not None]
        text = tr(
            "No facts came of {which}: {why} Under “Passages” they can be read once more.",
            which=which, why=with_full_stop(problems[0]),
        )  # fmt: skip
        details = "\n".join(
            f"#{each.passage.first} to #{each.passage.last}: {why}" for each, why in zip(unread, problems, strict=True)
        )
        told.append(Notice(text, "warning", details, ("pane.memories", "profiles.edit"), UNREAD))
    if failed:
        which = count(len(failed), "passage", "passages")
        where = tr("#{first} to #{last}", first=failed[0].passage.first, last=failed[0].passage.last)
        text = tr(
            "{which} could not be read, {where}: {why} Nothing of them was kept; “Draw out facts” tries again.",
            which=which, where=where, why=with_full_stop(failed[0].problem),
        )  # fmt: skip
        if ended.left:
            more = count(ended.left, "more passage", "more passages")
            text += tr(" Nobody was asked about {more}, which would fail as well.", more=more)
        details = "\n".join(f"#{each.passage.first} to #{each.passage.last}: {each.problem}" for each in failed)
        told.append(Notice(text, "error", details, ("memories.extract", "profiles.edit"), FAILED))
    if not ended.drawn and not ended.stopped:
        told.append(Notice(tr("Nothing is waiting: the facts of this chat are kept."), key="memories"))
    elif ended.stopped:
        told.append(Notice(tr("Stopped. What is kept stays, and the rest waits."), key=STOPPED))
    return told


class MemoryWork(QObject):
    """`changed` follows what is under way, `cost_known` carries a `ModelCost`; `cleared` says that the failures
    told before are over.
    """

    changed = Signal()
    cost_known = Signal(object)
    cleared = Signal()

    def __init__(self, store: MemoryStore, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._store = store
        self._job: Job | None = None
        self.under = Under()
        self._reads: Path | None = None
        store.session.project_changed.connect(self._leave)

    @property
    def busy(self) -> bool:
        """Whether something is under way."""
        return bool(self.under.kind)

    @property
    def source(self) -> Source:
        """Who draws facts out, as chosen in the window."""
        return self._store.session.choice.source

    def stop(self) -> None:
        """End it, also in the middle of a request; what was kept stays."""
        if self._job is not None:
            self._job.cancel()
            self._show(replace(self.under, stopping=True))

    def extract(self, wish: ExtractionWish | None = None) -> None:
        """Draw out what waits, or what is wished for; what costs something begins once a person agrees."""
        wish = wish or ExtractionWish()
        place, source, project = self._store.place, self.source, self._store.session.project
        if self.busy or project is None or place.chat is None:
            return
        asks = not wish.agreed and (source.kind is AnswerKind.PROVIDER or bool(place.embedder))
        counter = project.bills if asks else None
        self._reads = place.path
        self._begin(Under(FACTS), partial(extract, place, source, wish, counter), partial(self._extracted, wish))

    def refresh(self, *, agreed: bool = False) -> None:
        """Make the vectors of the listed memories anew that the chosen model has not made."""
        place, picture = self._store.place, self._store.picture
        if self.busy or picture is None or not picture.stale:
            return
        if place.embedder and not agreed:
            asks = count(picture.stale, "request for a vector", "requests for vectors")
            sentence = tr("{asks} to {name}. They hold the texts of the memories.", asks=asks, name=place.embedder)
            more = tr("It can be stopped at any time; what was made stays.")
            self._ask(place.embedder, sentence, more, partial(self.refresh, agreed=True))
            return
        owner = "" if picture.everything else picture.owner
        self._begin(Under(VECTORS, of=picture.stale), partial(refresh, place, owner), self._refreshed)

    def _begin(self, under: Under, work: Callable[[Job], Ended], done: Callable[[Ended], object]) -> None:
        def ended(result: Ended) -> None:
            self._job = None
            self._show(Under())
            done(result)

        def failed(error: Exception) -> None:
            self._job = None
            self._show(Under())
            self._store.renew()
            if not isinstance(error, Cancelled):
                self._failed(under.kind, error)

        title = tr("Making vectors") if under.kind == VECTORS else tr("Drawing out facts")
        self._job = self._store.session.jobs.start(title, work, done=ended, failed=failed, reported=self._heard)
        self._show(under)

    def _leave(self) -> None:
        """Another chat is open: what waits in the one before waits until it is open again."""
        if self.under.kind == FACTS and self._store.place.path != self._reads:
            self.stop()

    def _show(self, under: Under) -> None:
        self.under = under
        self.changed.emit()

    def _heard(self, news: object) -> None:
        if isinstance(news, Question):
            self._store.session.question.emit(news)
        elif isinstance(news, Withdrawn):
            self._store.session.withdrawn.emit(news.question)
        elif isinstance(news, Under) and self.busy:
            further = news.done > self.under.done and news.kind == FACTS
            self._show(replace(news, stopping=self.under.stopping))
            if further:
                self._store.renew()

    def _extracted(self, wish: ExtractionWish, ended: Ended) -> None:
        if ended.cost:
            name = self.source.profile if self.source.kind is AnswerKind.PROVIDER else self._store.place.embedder
            go = partial(self.extract, replace(wish, agreed=True))
            more = tr("The requests hold texts of the chat. It can be stopped at any time; what was kept stays.")
            self._ask(name, ended.cost, more, go)
            return
        self._store.renew()
        if ended.drawn:
            self._store.altered.emit()
        if ended.drawn and not any(each.problem for each in ended.drawn):
            self.cleared.emit()
        other = self._reads.stem if self._reads is not None and self._store.place.path != self._reads else ""
        for told in news_of(ended):  # what is to be done about it is of no use to the chat that is open
            news = tr("{chat}: {news}", chat=other, news=told.text)
            self._store.session.notice.emit(replace(told, text=news, actions=()) if other else told)

    def _ask(self, name: str, cost: str, more: str, go: Callable[[], object]) -> None:
        self.cost_known.emit(ModelCost(name, cost, more, lambda yes: go() if yes else None))

    def _refreshed(self, ended: Ended) -> None:
        self._store.renew()
        if ended.made:
            self._store.altered.emit()
        tone: Tone = "neutral" if ended.stopped else "good"
        made = count(ended.made, "vector was", "vectors were")
        text = tr("{made} made; it was stopped.", made=made) if ended.stopped else tr("{made} made.", made=made)
        self._store.session.notice.emit(Notice(text, tone, key="memories"))

    def _failed(self, kind: str, error: Exception) -> None:
        why = with_full_stop(sentence_of(error))
        if kind == VECTORS:
            text = tr("Making vectors stopped: {why} What was made before stays.", why=why)
            actions: tuple[str, ...] = ("memories.refresh", "profiles.edit")
        else:
            text = tr("No facts could be drawn out: {why}", why=why)
            actions = ("memories.settings",) if isinstance(error, InputError) else ("memories.extract", "profiles.edit")
        self._store.session.notice.emit(Notice(text, "error", actions=actions, key="memories"))
