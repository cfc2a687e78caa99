"""The work on recap memory's queue in the window: what is queued, what it costs, how far it is, what failed."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec import Struct
from PySide6.QtCore import QObject, Signal

from lorestudio.exchange.problems import InputError
from lorestudio.studio.project.answering import AnswerKind, Asked, Source, make_answers
from lorestudio.systems.recap.queue import QueuePicture, Status
from lorestudio.ui.features.recap.memory import ChatRecaps
from lorestudio.ui.shell.jobs import Beat
from lorestudio.ui.shell.words import Notice, Tone, count, sentence_of, tr, with_full_stop
from lorestudio.ui.widgets.dialogs import ModelCost

if TYPE_CHECKING:
    from lorestudio.systems.recap.session import RecapSession
    from lorestudio.systems.recap.worker import QueueProgress

PICTURE_SECONDS: Final = 0.5
"""While the queue works, the rows are made anew at most this often."""

STUCK: Final = 2
"""From so many failed attempts on it may not be a matter of waiting."""

Enqueue: TypeAlias = "Callable[[RecapSession], Awaitable[object]]"


class _Begun(Struct, frozen=True):
    """What is to be worked through: nothing, something that a person has to agree to first, or something.

    `take_back` undoes what was queued, where the person does not agree to the `cost`.
    """

    queue: QueuePicture
    cost: str = ""
    take_back: Callable[[], Coroutine[None, None, None]] | None = None


class RecapQueue(QObject):
    """At most one run at a time. `began` follows its start, `changed` the queue; `cost_known` carries a `ModelCost`.

    Questions to the person go through the session's own signals.
    """

    began = Signal()
    changed = Signal()
    cost_known = Signal(object)

    def __init__(self, recaps: ChatRecaps, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._recaps = recaps
        self._working: RecapSession | None = None
        self._source = Source()
        self._news: QueueProgress | None = None
        self._posted = False
        self._beat = Beat(PICTURE_SECONDS)
        self._shown_chat: object = None
        self._logged: frozenset[str] = frozenset()
        self._calls = 0
        recaps.due.connect(self.begin_by_itself)

    @property
    def working(self) -> bool:
        """Whether the queue of the open chat is being worked on."""
        return self._working is not None and self._working is self._recaps.open

    @property
    def source(self) -> Source:
        """Who is asked, as chosen in the window."""
        return self._recaps.session.choice.source

    @property
    def profile(self) -> str:
        """The provider profile that is being asked, "" where none is."""
        return self._source.profile if self.working and self._source.kind is AnswerKind.PROVIDER else ""

    # ---- what can be done -------------------------------------------------------------------------------------------

    def begin_by_itself(self) -> None:
        """Go on with what was queued by itself; what costs something waits for the person."""
        if not self.working:
            self.begin(asked=False)

    def pause(self) -> None:
        """Begin nothing further."""
        self._change(lambda session: session.worker.pause())

    def remove(self, identifier: str) -> None:
        """Take an operation out, also while it is under way."""
        self._change(lambda session: session.worker.remove(identifier))

    def clear(self) -> None:
        """Take all operations out, also the one that is under way."""
        self._change(lambda session: session.worker.clear())

    def toggle_pause_before(self, identifier: str) -> None:
        """Stop before this operation, or not."""
        self._change(lambda session: session.worker.toggle_pause_before(identifier))

    def hurry(self) -> None:
        """Try again now what waits for its next attempt."""

        async def now(session: RecapSession) -> None:
            session.worker.hurry()

        self._change(now)

    def clear_recaps(self) -> None:
        """Take everything of recap memory out of the chat."""

        def done() -> None:
            self._recaps.session.notice.emit(
                Notice(tr("All recaps and scene breaks were taken out of the chat."), key="recap")
            )
            self._recaps.renew()

        self._change(lambda session: session.clear_all(), done)

    def _answer(self, session: RecapSession, begun: _Begun, agreed: bool) -> None:
        """The person has seen what it costs."""
        if agreed and session is self._recaps.open:
            self._work(session)
        elif begun.take_back is not None:
            self._recaps.work.start(begun.take_back, done=lambda _none: self._show_state(session), failed=self._failed)

    # ---- beginning --------------------------------------------------------------------------------------------------

    def begin(self, enqueue: Enqueue | None = None, *, asked: bool = True) -> None:
        """Queue something, or only go on with what is queued, and work on it."""
        session, recaps = self._recaps.open, self._recaps
        if session is None:
            return
        if self.working:
            self._add(session, enqueue)
            return
        source, connections = self.source, recaps.session.connections
        settings, room, path = recaps.settings, recaps.room, session.path
        put = Asked(
            lambda question: recaps.work.tell(partial(recaps.session.question.emit, question)),
            lambda question: recaps.work.tell(partial(recaps.session.withdrawn.emit, question)),
            partial(self._change, lambda session: session.worker.interrupt()),
        )

        async def work() -> _Begun:
            answers, model = make_answers(source, path, connections, None, put, fresh=source.waits, keeps_asking=True)
            session.use(settings, answers, model, room)
            session.hold()
            try:
                return await self._prepared(session, enqueue, source, asked=asked)
            except BaseException:
                session.release()
                raise

        self._source = source
        recaps.work.start(work, done=partial(self._ready, session, asked), failed=partial(self._not_begun, session))

    async def _prepared(self, session: RecapSession, enqueue: Enqueue | None, source: Source, *, asked: bool) -> _Begun:
        """Queue, and find out the cost; the chat's queue is held unless there is nothing to do."""
        from lorestudio.systems.recap.session import recap_cost

        before = session.queue
        if asked:
            await session.worker.resume()
        try:
            if enqueue is not None:
                await enqueue(session)
            if session.queue.is_idle or session.queue.paused:
                session.release()
            elif source.kind is AnswerKind.PROVIDER:
                estimate = await recap_cost(session)
                if estimate.calls:

                    async def take_back() -> None:
                        try:
                            if asked:
                                await session.restore(before)
                        finally:
                            session.release()

                    return _Begun(QueuePicture(session.queue), estimate.sentence, take_back)
        except Exception:
            await session.restore(before)
            raise
        return _Begun(QueuePicture(session.queue))

    def _ready(self, session: RecapSession, asked: bool, begun: _Begun) -> None:
        if session is not self._recaps.open:
            self._recaps.work.start(session.close, failed=self._failed)
            return
        self._recaps.queue = begun.queue
        self._recaps.renew()
        state = begun.queue.state
        if begun.cost and asked:
            more = tr(
                "The requests hold texts of the chat. Found scenes may ask for more. It can be paused at any time."
            )
            answered = partial(self._answer, session, begun)
            self.cost_known.emit(ModelCost(self._source.profile, begun.cost, more, answered))
        elif begun.cost:
            self._answer(session, begun, agreed=False)
            text = tr("Recaps are due. {cost} It begins when you say so.", cost=begun.cost)
            self._tell(Notice(text, actions=("recap.resume", "pane.recap"), key="recap"))
        elif not state.is_idle and not state.paused:
            self._work(session)
        elif asked:
            text = tr("Nothing is due. Recaps wait for “Lag” newer messages, and scenes for enough of them.")
            self._tell(Notice(text, actions=("recap.settings",), key="recap"))

    def _add(self, session: RecapSession, enqueue: Enqueue | None) -> None:
        """Queue something more while the queue works; with a provider it would cost what nobody was asked about."""
        if self._source.kind is AnswerKind.PROVIDER and enqueue is not None:
            text = tr(
                "The queue is at work. Pause it, or wait until it has finished: then you are asked what it costs."
            )
            self._tell(Notice(text, actions=("recap.pause",), key="recap"))
            return

        async def work() -> None:
            await session.worker.resume()
            if enqueue is not None:
                await enqueue(session)

        def done(_none: None) -> None:
            if not self.working and not session.queue.is_idle:
                self._work(session)

        self._recaps.work.start(work, done=done, failed=self._failed)

    # ---- working ----------------------------------------------------------------------------------------------------

    def _work(self, session: RecapSession) -> None:
        self._working = session
        self.began.emit()
        self._logged, self._calls = frozenset(item.id for item in session.queue.log), len(session.calls)
        self._shown_chat, self._beat = session.chat, Beat(PICTURE_SECONDS)
        self._recaps.queue = QueuePicture(session.queue, working=True)

        async def work() -> str:
            session.worker.on_progress = self._hear
            try:
                await session.work()
                await session.edits.refresh()
                return session.left_behind
            finally:
                session.worker.on_progress = None

        self._recaps.work.start(work, done=partial(self._ended, session), failed=partial(self._broke, session))
        self.changed.emit()

    def _hear(self, progress: QueueProgress) -> None:
        """Called by the work, in its thread: the newest news wait for the window."""
        self._news = progress
        if not self._posted:
            self._posted = True
            self._recaps.work.tell(self._show_news)

    def _show_news(self) -> None:
        self._posted = False
        news, session = self._news, self._working
        if news is None or session is None or session is not self._recaps.open:
            return
        done = len([item for item in news.state.log if item.id not in self._logged])
        retry_at = None if news.retry_in_s is None else time.monotonic() + news.retry_in_s
        self._recaps.queue = QueuePicture(news.state, working=True, done=done, retry_at=retry_at)
        self.changed.emit()
        stuck = next((item for item in news.state.operations if item.status == Status.RETRYING), None)
        if stuck is not None and stuck.retries == STUCK and retry_at is not None:
            text = tr("{what} has failed twice: {why} It is tried again by itself; pause the work to put "
                      "right what is wrong.", what=stuck.words, why=with_full_stop(stuck.failure))  # fmt: skip
            self._tell(Notice(text, "warning", actions=("recap.pause", "profiles.edit"), key="recap"))
        if session.chat is not self._shown_chat and self._beat.due():
            self._shown_chat = session.chat
            self._recaps.renew()

    def _ended(self, session: RecapSession, older: str) -> None:
        self._working = None
        if session is not self._recaps.open:
            return
        self._show_state(session)
        new = [item for item in session.queue.log if item.id not in self._logged]
        failed = [item for item in new if item.outcome == "failed"]
        if failed:
            steps = count(len(failed), "step", "steps")
            text = tr(
                "{steps} of recap work failed: {what}: {why} What failed was taken from the queue; “Make what is due” "
                "asks for it again.", steps=steps, what=failed[0].words, why=with_full_stop(failed[0].summary),
            )  # fmt: skip
            details = "\n".join(f"{item.words}: {item.summary}" for item in failed)
            self._tell(Notice(text, "error", details, ("recap.run", "profiles.edit"), "recap"))
        elif session.queue.is_idle:
            done = count(len([item for item in new if item.outcome == "completed"]), "step", "steps")
            short = session.cut_short(self._calls)
            text = tr("What is due is made: {done} done.", done=done) if older else tr(
                "The recaps are up to date: {done} done.", done=done
            )  # fmt: skip
            tone: Tone = "warning" if short else "good"
            actions = ("recap.settings",) if short or older else ()
            self._tell(Notice(" ".join(filter(None, (text, short, older))), tone, actions=actions, key="recap"))

    def _broke(self, session: RecapSession, error: Exception) -> None:
        self._working = None
        self._show_state(session)
        text = tr(
            "The work on recaps stopped: {why} Nothing is lost; it can go on.", why=with_full_stop(sentence_of(error))
        )
        self._tell(Notice(text, "error", actions=("recap.resume",), key="recap"))

    def _change(self, how: Enqueue, then: Callable[[], object] | None = None) -> None:
        """Change the queue, holding it while nobody works on it."""
        session = self._recaps.open
        if session is None:
            return

        async def work() -> None:
            held = session.is_held
            session.hold()
            try:
                await how(session)
            finally:
                if not held:
                    session.release()

        def done(_none: None) -> None:
            if not self.working:
                self._show_state(session)
            if then is not None:
                then()

        self._recaps.work.start(work, done=done, failed=self._failed)

    # ---- telling ----------------------------------------------------------------------------------------------------

    def _show_state(self, session: RecapSession) -> None:
        if session is self._recaps.open:
            self._recaps.queue = QueuePicture(session.queue)
            self.changed.emit()
            self._recaps.renew()

    def _not_begun(self, session: RecapSession, error: Exception) -> None:
        self._show_state(session)
        self._failed(error)

    def _failed(self, error: Exception) -> None:
        known = isinstance(error, InputError)
        self._tell(Notice(sentence_of(error), "warning" if known else "error", key="recap"))

    def _tell(self, notice: Notice) -> None:
        self._recaps.session.notice.emit(notice)
