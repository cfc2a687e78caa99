"""Drawing facts out of the open chat, and making vectors anew: one at a time, with progress, cost and an end."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from lorestudio.domain.lifecycle import Cancelled
from lorestudio.domain.records import replace
from lorestudio.exchange.problems import InputError
from lorestudio.studio.project.answering import AnswerKind, Question, Source
from lorestudio.ui.features.facts.extraction_worker import (
    FACTS,
    VECTORS,
    Ended,
    ExtractionWish,
    Under,
    extract,
    news_of,
    refresh,
)
from lorestudio.ui.features.facts.store import MemoryStore
from lorestudio.ui.shell.jobs import Job
from lorestudio.ui.shell.words import Notice, Tone, count, sentence_of, tr, with_full_stop
from lorestudio.ui.state.replay_worker import Withdrawn
from lorestudio.ui.widgets.dialogs import ModelCost


class MemoryWork(QObject):
    """`changed` follows what is under way, `cost_known` carries a `ModelCost`, `told` a `Notice`; `cleared`
    says that the failures told before are over.
    """

    changed = Signal()
    cost_known = Signal(object)
    told = Signal(object)
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

    # ---- inside -----------------------------------------------------------------------------------------------------

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
        for notice in news_of(ended):
            self.told.emit(notice)

    def _ask(self, name: str, cost: str, more: str, go: Callable[[], object]) -> None:
        self.cost_known.emit(ModelCost(name, cost, more, lambda yes: go() if yes else None))

    def _refreshed(self, ended: Ended) -> None:
        self._store.renew()
        if ended.made:
            self._store.altered.emit()
        tone: Tone = "neutral" if ended.stopped else "good"
        made = count(ended.made, "vector was", "vectors were")
        text = tr("{made} made; it was stopped.", made=made) if ended.stopped else tr("{made} made.", made=made)
        self.told.emit(Notice(text, tone, key="memories"))

    def _failed(self, kind: str, error: Exception) -> None:
        why = with_full_stop(sentence_of(error))
        if kind == VECTORS:
            text = tr("Making vectors stopped: {why} What was made before stays.", why=why)
            actions: tuple[str, ...] = ("memories.refresh", "profiles.edit")
        else:
            text = tr("No facts could be drawn out: {why}", why=why)
            actions = ("memories.settings",) if isinstance(error, InputError) else ("memories.extract", "profiles.edit")
        self.told.emit(Notice(text, "error", actions=actions, key="memories"))
