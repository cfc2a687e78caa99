"""Getting a reply in the window: wait for its lore, ask whoever writes, show what comes, put it into the chat.

A reply grows in its place in the list while it comes, and its end is kept in sight, smoothly, as long as the person has
not scrolled away from it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Final

from msgspec import Struct
from PySide6.QtCore import QEasingCurve, QObject, QTimer, QVariantAnimation, Signal
from PySide6.QtWidgets import QStyle

from lorestudio.domain.chat import Chat, Generation
from lorestudio.domain.lifecycle import Cancelled
from lorestudio.studio.chat import editing
from lorestudio.studio.chat.controls import ControlsPart, heeds
from lorestudio.studio.chat.reply_writing import noted, received, reply_cost, reply_request, room_for_reply
from lorestudio.studio.project.answering import (
    AnswerKind,
    AnswerSource,
    ChatReply,
    ChatRequest,
    LlmError,
    Source,
    load_recorded,
    make_answers,
)
from lorestudio.studio.project.project import Project
from lorestudio.studio.prompt.assembly import assemble
from lorestudio.systems.base import NotedReply
from lorestudio.systems.registry import kind_of, system_of
from lorestudio.trace.model import Trace
from lorestudio.ui.features.chat.message_list import MessageList
from lorestudio.ui.features.chat.pane import ChatPane
from lorestudio.ui.shell.jobs import Job
from lorestudio.ui.shell.qt import later
from lorestudio.ui.shell.words import Notice, sentence_of, tr
from lorestudio.ui.state.session import Session
from lorestudio.ui.state.undo import Adjustment
from lorestudio.ui.widgets.dialogs import ModelCost


class _ReplyAsking(Struct, eq=False):
    """One reply under way. `before` is the chat, `made` the one with room for it; `own_swipe` says that the room is an
    empty swipe.

    For another swipe what is recorded is asked for again.
    """

    source: Source
    generation: Generation
    before: Chat
    made: Chat
    own_swipe: bool
    job: Job | None = None
    text: str = ""
    speaker: str = ""
    asked: bool = False

    def stop(self) -> None:
        """Ask no more."""
        if self.job is not None:
            self.job.cancel()


class _Listener(Struct, frozen=True):
    """Hears a streamed reply."""

    report: Callable[[object], None]

    def asked(self, _request: ChatRequest) -> None:
        """A question was put."""

    def heard(self, piece: str) -> None:
        """A piece of the reply arrived."""
        self.report(piece)

    def answered(self) -> None:
        """The question is settled."""


def local_now() -> datetime:
    """The time of the person's clock, as SillyTavern notes it."""
    return datetime.now().astimezone()


class ReplyWork(QObject):
    """At most one reply at a time. All signals come on the GUI thread.

    `said` carries what is going on, `heard` a piece of text, `failed` a sentence while nothing had come and whether it
    was to be another swipe, `shortened` a sentence about a reply that is in the chat and ends in the middle,
    `undecided` a sentence where the person has to decide about what came, `placed` the source of a reply that is in
    the chat now, `cost_known` a `ModelCost` before a provider is asked for the first time.
    """

    began = Signal()
    said = Signal(str)
    heard = Signal(str)
    ended = Signal()
    failed = Signal(str, bool)
    shortened = Signal(str)
    undecided = Signal(str)
    placed = Signal(object)
    cost_known = Signal(object)

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._asking: _ReplyAsking | None = None
        self._agreed: set[str] = set()
        session.traces_changed.connect(lambda _generations: self._go_on())
        session.state_changed.connect(self._go_on)
        session.project_changed.connect(self._look_at_project)

    @property
    def generation(self) -> Generation | None:
        """Which reply is under way."""
        return None if self._asking is None else self._asking.generation

    @property
    def busy(self) -> bool:
        """Whether a reply is under way or waits for a decision."""
        return self._asking is not None

    def start(self, source: Source, place: int | None) -> None:
        """Have a reply written: at the end of the chat, or with `place` as a new swipe of that message."""
        project = self._session.project
        if project is None or project.chat is None or self.busy:
            return
        made, generation = room_for_reply(project.chat, place, local_now())
        self._asking = _ReplyAsking(source, generation, project.chat, made, place is not None)
        self.began.emit()
        self.said.emit(tr("Waiting for the lore of this reply…"))
        if made is not project.chat:
            self._session.parts.adjust(tr("another swipe of #{number}", number=generation.message), chat=made)
        self._go_on()

    def agree(self, profile: str, agreed: bool) -> None:
        """The person has seen what it costs."""
        if agreed:
            self._agreed.add(profile)
            if self._asking is not None:
                self._asking.asked = False
            self._go_on()
        else:
            self._give_up("")

    def stop(self) -> None:
        """Stop; what came so far is the person's to keep."""
        if self._asking is not None and self._asking.asked:
            self._asking.stop()
        else:
            self._give_up("")

    def keep(self, text: str) -> None:
        """Put what came into the chat."""
        if self._asking is not None and text.strip():
            self._put(self._asking, ChatReply(text))
        else:
            self.throw_away()

    def throw_away(self) -> None:
        """Leave the chat as it was before the reply was asked for."""
        self._give_up("")

    def _go_on(self) -> None:
        """Ask once the lore of the reply is known."""
        asking, session = self._asking, self._session
        project = session.project
        if asking is None or asking.asked or project is None or project.chat is None:
            return
        trace = session.runs.traces.get(asking.generation)
        if trace is None or session.runs.outdated(asking.generation):
            if not session.busy and not session.runs.replaying and session.generations:
                self.said.emit(tr("The lore of this reply has not been run. Replay the chat, or stop."))
            return
        asking.asked = True
        self.said.emit(tr("Asking for the reply…"))

        async def work(job: Job) -> tuple[ChatReply, str] | ModelCost:
            """Assemble, say what it costs where nobody knows yet, ask; the reply comes with who speaks."""
            prepared = await asyncio.to_thread(self._prepare, asking, project, trace, job)
            if isinstance(prepared, ModelCost):
                return prepared
            answers, request, speaker = prepared
            return await answers.answer(request), speaker

        asking.job = self._session.jobs.start(
            tr("Writing a reply"),
            work,
            done=lambda result: self._done(asking, result),
            failed=lambda error: self._went_wrong(asking, error),
            reported=lambda piece: self._heard(asking, piece),
        )

    def _prepare(
        self, asking: _ReplyAsking, project: Project, trace: Trace, report: Callable[[object], None]
    ) -> tuple[AnswerSource, ChatRequest, str] | ModelCost:
        chat, setup, source, fresh = project.chat or Chat(), project.reply_setup, asking.source, asking.own_swipe
        prompt = assemble(trace, chat, setup, project.bills)
        connections = self._session.connections
        answers, model = make_answers(source, project.chat_path, connections, _Listener(report), fresh=fresh)
        request = reply_request(prompt, setup, model)
        if source.kind is AnswerKind.PROVIDER and source.profile not in self._agreed:
            recorded = load_recorded(project.chat_path) if project.chat_path and not fresh else None
            cost = reply_cost(request, project.bills, recorded)
            if cost.calls:
                notes = tr("After each reply one more call takes notes from it.")
                sentence = f"{cost.sentence} {notes}" if self._asks_for_notes(project) else cost.sentence
                more = tr(
                    "The request holds card, persona, lore and chat. You are not asked again until the window is "
                    "closed."
                )
                return ModelCost(source.profile, sentence, more, partial(self.agree, source.profile))
        return answers, request, prompt.speaker

    def _heard(self, asking: _ReplyAsking, piece: object) -> None:
        if asking is self._asking and isinstance(piece, str):
            if not asking.text:
                self.said.emit(tr("The reply is being written…"))
            asking.text += piece
            self.heard.emit(piece)

    def _done(self, asking: _ReplyAsking, result: tuple[ChatReply, str] | ModelCost) -> None:
        if asking is not self._asking:
            return
        if isinstance(result, ModelCost):
            self.cost_known.emit(result)
            return
        reply, asking.speaker = result
        if not asking.text:
            self.heard.emit(reply.text)
            asking.text = reply.text
        project = self._session.project
        if reply.without_thinking().is_empty:
            where = tr(" The limit is “Longest reply” in “Card, persona and prompt…”.") if reply.cut_off else ""
            self._give_up(tr("The model answered with nothing. {advice}", advice=reply.advice_on_empty) + where)
        elif project is None or project.chat != asking.made:
            self.undecided.emit(tr("The chat was changed while the reply came. Keep it, and it goes to the end."))
        else:
            self._put(asking, reply)
            if reply.held_back:
                self.shortened.emit(tr("The provider's filter ended the reply, so it may lack its end."))
            elif reply.cut_off:
                cut = next((note for note in reply.notes if "cut off" in note), tr("The reply was cut off."))
                self.shortened.emit(tr("{cut} Raise “Longest reply” for the next one.", cut=cut))

    def _went_wrong(self, asking: _ReplyAsking, error: Exception) -> None:
        if asking is not self._asking:
            return
        stopped = isinstance(error, Cancelled)
        sentence = error.text if isinstance(error, LlmError) else sentence_of(error)
        if asking.text.strip():
            self.undecided.emit(tr("Stopped. Keep what came, or throw it away.") if stopped else sentence)
        else:
            self._give_up("" if stopped else sentence)

    def _put(self, asking: _ReplyAsking, reply: ChatReply) -> None:
        """Put the reply into the chat; at its end where the place made for it is gone."""
        project = self._session.project
        self._asking = None
        self.ended.emit()
        if project is None or project.chat is None:
            return
        chat, generation = project.chat, asking.generation
        if chat != asking.made and not _has_room(chat, generation):
            generation = Generation(len(chat.messages))
        title, speaker, settings = tr("reply #{number}", number=generation.message), asking.speaker, project.settings
        made, controls = received(
            chat, project.controls, generation, reply, local_now(), speaker=speaker, settings=settings
        )
        self._session.parts.adjust(title, chat=made, controls=controls)
        self.placed.emit(asking.source)
        self._take_notes(asking.source, generation.message)

    def _asks_for_notes(self, project: Project) -> bool:
        """Whether notes are asked for, and come into a prompt of the system that is chosen."""
        kind = kind_of(self._session.choice.system)
        return heeds(project, kind, ControlsPart.NOTEPAD) and project.settings.asks_for_notes

    def _take_notes(self, source: Source, place: int) -> None:
        """In the notepad's extract mode, ask whoever wrote the reply what is to be noted from it, beside all else."""
        session, project = self._session, self._session.project
        asked = source.kind is not AnswerKind.STAND_IN  # it leaves a placeholder
        if project is None or project.chat is None or not (asked and self._asks_for_notes(project)):
            return
        chat, before = project.chat, project.chat.messages[place]

        async def work(_job: Job) -> NotedReply | None:
            path, connections = project.chat_path, session.connections
            answers, model = await asyncio.to_thread(make_answers, source, path, connections)
            return await system_of(project.scene(answers, model)).take_notes(chat, project.controls, place)

        def done(taken: NotedReply | None) -> None:
            now = session.project
            if taken is None or now is None or now.chat is None or now.chat_path != project.chat_path:
                return
            if not taken.fine:
                session.notice.emit(Notice(tr("No notes: {why}", why=taken.said), "warning", key="notepad"))
                return
            found = noted(now.chat, now.controls, place, before, taken, now.settings)
            if found is None:
                text = tr("The reply has changed meanwhile, so the notes from it were dropped.")
                session.notice.emit(Notice(text, "neutral", key="notepad"))
            elif (found[0], found[1]) != (now.chat, now.controls):
                title = tr("notes from reply #{number}", number=place)
                session.parts.adjust(title, chat=found[0], controls=found[1])

        session.jobs.start(
            tr("Taking notes from the reply"),
            work,
            done=done,
            failed=lambda error: session.notice.emit(
                Notice(tr("No notes: {why}", why=sentence_of(error)), "warning", key="notepad")
            ),
        )

    def _give_up(self, sentence: str) -> None:
        asking, self._asking = self._asking, None
        if asking is None:
            return
        asking.stop()
        if asking.own_swipe:
            self._take_room_back(asking)
        self.ended.emit()
        if sentence:
            self.failed.emit(sentence, asking.own_swipe)

    def _take_room_back(self, asking: _ReplyAsking) -> None:
        """Take the empty swipe out again, and nothing that the person did since."""
        project, parts = self._session.project, self._session.parts
        place, swipe = asking.generation.message, asking.generation.swipe
        if project is None or project.chat is None or place >= len(project.chat.messages):
            return  # the person has deleted the message meanwhile
        if not _has_room(project.chat, asking.generation):
            return
        chat, newest = project.chat, parts.adjustments.newest
        if isinstance(newest, Adjustment) and newest.before.chat == asking.before and newest.after.chat == chat:
            parts.undo()
            return
        if chat.messages[place] == asking.made.messages[place]:
            chat = chat.with_message(place, asking.before.messages[place])
        else:
            chat = editing.delete_swipe(chat, place, swipe)
        parts.adjust(tr("delete swipe {swipe} of #{number}", swipe=swipe + 1, number=place), chat=chat)

    def _look_at_project(self) -> None:
        """Another chat is shown: nothing is written into it."""
        asking = self._asking
        if asking is not None and not self._session.renewed:
            asking.stop()
            self._asking = None
            self.ended.emit()
            if asking.asked:
                text = tr("Another chat was opened, so the reply that was under way was dropped.")
                self._session.notice.emit(Notice(text, key="reply"))


def _has_room(chat: Chat, generation: Generation) -> bool:
    """Whether the empty swipe made for a reply is still there."""
    if generation.message >= len(chat.messages):
        return generation.message == len(chat.messages)
    swipes = chat.messages[generation.message].swipes
    return generation.swipe < len(swipes) and not swipes[generation.swipe]


NEAR: Final = 4
"""So many pixels from the end still count as the end."""


class EndKeeper(QObject):
    """`following` says whether the end is kept; scrolling up lets go of it, and scrolling to the end takes it up again.

    The end moves where rows grow, and where the list gets lower. Nothing is done until `start` and after `stop`. How
    long a movement takes is the style's choice, which may be none where the person wants no animations.
    """

    changed = Signal()

    def __init__(self, view: MessageList) -> None:
        super().__init__(view)
        self._view, self._bar = view, view.verticalScrollBar()
        self.active = False
        self.following = False
        self._own = False
        self._value = 0
        self._motion = QVariantAnimation(self)
        self._motion.setEasingCurve(QEasingCurve.Type.OutCubic)
        self._motion.valueChanged.connect(self._move)
        self._bar.valueChanged.connect(self._scrolled)
        self._bar.rangeChanged.connect(self._grew)

    @property
    def at_end(self) -> bool:
        """Whether the end is in sight."""
        return self._bar.value() >= self._bar.maximum() - NEAR

    def start(self) -> None:
        """Keep the end in sight from here on, if it is."""
        self.active, self._value = True, self._bar.value()
        self._follow(self.at_end)

    def stop(self) -> None:
        """Let the list be."""
        self.active = False
        self._motion.stop()
        self._follow(False)

    def _grew(self) -> None:
        """The end is somewhere else."""
        if not self.active or not self.following:
            return
        target = self._bar.maximum()
        duration = self._view.style().styleHint(QStyle.StyleHint.SH_Widget_Animation_Duration, None, self._view)
        if duration <= 0 or not self._view.isVisible():
            self._move(target)
            return
        self._motion.stop()
        self._motion.setDuration(duration)
        self._motion.setStartValue(self._bar.value())
        self._motion.setEndValue(target)
        self._motion.start()

    def _move(self, value: object) -> None:
        if isinstance(value, int):
            self._own = True
            self._bar.setValue(value)
            self._own = False
            self._value = self._bar.value()

    def _scrolled(self, value: int) -> None:
        before, self._value = self._value, value
        if self._own or not self.active or self._view.settling:
            return
        if self.at_end:
            self._follow(True)
        elif value < before:  # upwards: the person reads something else
            self._motion.stop()
            self._follow(False)

    def _follow(self, following: bool) -> None:
        if following != self.following:
            self.following = following
            self.changed.emit()


SETTLING: Final = 4
"""After so many turns of the event loop the list has the height that it keeps."""

PAUSE_MS: Final = 33
"""Pieces that come faster than this are shown together."""


class StreamingReply(QObject):
    """Shows the reply to one generation in the message list. `out_of_sight` says whether its end is not followed."""

    out_of_sight = Signal(bool)

    def __init__(self, pane: ChatPane) -> None:
        super().__init__(pane)
        self._pane = pane
        self._keeper = EndKeeper(pane.view)
        self._keeper.changed.connect(self._tell)
        self._generation: Generation | None = None
        self.text = ""
        """What came so far."""
        self._timer = later(self, self._show, PAUSE_MS)
        self._place: tuple[bool, tuple[int, int]] | None = None
        self._turns = 0

    def begin(self, generation: Generation) -> None:
        """A reply is asked for."""
        self._generation, self.text, self._place = generation, "", None
        self._keeper.start()
        self._show()
        self._tell()

    def hear(self, piece: str) -> None:
        """A piece of it arrived."""
        self.text += piece
        if self._generation is not None and not self._timer.isActive():
            self._timer.start()

    def undecided(self) -> None:
        """It stays as it is until the person decides about it."""
        self._timer.stop()
        self._show(tr("not kept yet"))

    def put(self, text: str) -> None:
        """The person changed what came."""
        if self._generation is not None and text != self.text:
            self.text = text
            self._show(tr("not kept yet"))

    def end(self) -> None:
        """It is in the chat, or thrown away. What is looked at stays so through the change of the chat that follows."""
        self._timer.stop()
        if self._generation is None:
            return
        self._place, self._turns = (self._keeper.following, self._pane.view.top()), SETTLING
        QTimer.singleShot(0, self, self._settle)
        self._generation, self.text = None, ""
        self._keeper.stop()
        self._pane.model.end_reply()

    def reveal(self) -> None:
        """Bring its end into sight, and follow it."""
        bar = self._pane.view.verticalScrollBar()
        while bar.value() < bar.maximum():  # rows that come into sight turn out higher than guessed
            bar.setValue(bar.maximum())

    def _show(self, words: str = "") -> None:
        if self._generation is not None:
            self._pane.model.write_reply(self._generation.message, self.text, words or tr("being written…"))

    def _settle(self) -> None:
        """Put the view back where it was: at the end, or on what was read. It gets its height in the turns after."""
        if self._place is None:
            return
        at_end, top = self._place
        if at_end:
            self.reveal()
        else:
            self._pane.view.put_top(*top)
        self._turns -= 1
        if self._turns:
            QTimer.singleShot(0, self, self._settle)
        else:
            self._place = None

    def _tell(self) -> None:
        self.out_of_sight.emit(self._generation is not None and not self._keeper.following)
