"""Recap memory of the chat that is open: it follows the chat's file, changes recaps, and knows what to show.

Most chats have no recaps, so the system is loaded by what asks for them: it took a twentieth of the window's start.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from PySide6.QtCore import QObject, QSettings, Signal

from lorestudio.domain.records import replace
from lorestudio.domain.resources import resource
from lorestudio.exchange.chats.document import ChatDocument, ChatFormat
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.run_store import chat_id
from lorestudio.systems.recap import NAME
from lorestudio.systems.recap.queue import QueuePicture, has_queue
from lorestudio.ui.shell.jobs import Strand
from lorestudio.ui.shell.words import Notice, count, sentence_of, tr
from lorestudio.ui.state.session import Session

if TYPE_CHECKING:
    from lorestudio.settings.recap import RecapSettings
    from lorestudio.systems.recap.overview import PromptAt, RecapPicture
    from lorestudio.systems.recap.session import RecapEdits, RecapSession


_BY_ITSELF: Final = "recap/by_itself/{chat}"


class NoRecaps(StrEnum):
    """Why the chat that is open can have no recaps as it is."""

    NO_CHAT = "no chat"
    NO_FILE = "no file"
    DEMO = "demo"
    PLAIN_TEXT = "plain text"


class ChatRecaps(QObject):
    """Opens recap memory once somebody looks, once it works by itself, or where a queue was left.

    `changed` follows everything that it says, `prompt_changed` a `PromptAt`, `due` says that something was
    queued by itself.
    """

    changed = Signal()
    prompt_changed = Signal(object)
    due = Signal()

    def __init__(self, session: Session, remembered: QSettings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.session, self._remembered = session, remembered
        self.copies: Callable[[], Path | None] = lambda: None
        """Where the version of a chat is kept that is there before its first change."""
        self.work = Strand(session.jobs, tr("Recaps"))
        self.path: Path | None = None
        self.open: RecapSession | None = None
        self.picture: RecapPicture | None = None
        self.queue = QueuePicture()
        self.problem = ""
        self.wanted = False
        self._configured = False
        """Whether the settings that were kept are read: before, the work would begin by those as shipped."""
        self._project_document: ChatDocument | None = None
        self._file_document: ChatDocument | None = None
        self._opening = False
        self._look: int | None = None
        self._looking = False
        session.project_changed.connect(self.follow)
        session.state_changed.connect(self.follow)
        session.configured.connect(self._take_settings)

    # ---- what there is ----------------------------------------------------------------------------------------------

    @property
    def settings(self) -> RecapSettings:
        """The settings of recap memory, the same for every chat and for its runs."""
        from lorestudio.settings.recap import RecapSettings

        return cast("RecapSettings | None", self.session.choices.systems.get(NAME)) or RecapSettings()

    @property
    def hindrance(self) -> NoRecaps | None:
        """Why there can be no recaps, None where there can."""
        project = self.session.project
        if project is None or project.chat is None:
            return NoRecaps.NO_CHAT
        if project.chat_path is None:
            return NoRecaps.NO_FILE
        if project.chat_path.is_relative_to(resource("demo")):
            return NoRecaps.DEMO
        plain = project.document is not None and project.document.format is ChatFormat.PLAIN_TEXT
        return NoRecaps.PLAIN_TEXT if plain else None

    @property
    def unsaved(self) -> bool:
        """Whether messages are not in the chat's file as they are here."""
        project, known = self.session.project, self.session.parts.on_disk
        return project is not None and known is not None and project.chat != known.chat

    @property
    def by_itself(self) -> bool:
        """Whether recaps of this chat are made whenever its file changes, as the settings say."""
        project = self.session.project
        return project is not None and str(self._remembered.value(_key(project), "")) == "on"

    def set_by_itself(self, on: bool) -> None:
        """Keep the recaps of this chat up to date from now on, or not."""
        project = self.session.project
        if project is not None:
            self._remembered.setValue(_key(project), "on" if on else "")
            self.follow()
            self.changed.emit()

    @property
    def room(self) -> int:
        """The room of the story's model for prompts in tokens, 0 where nobody knows it."""
        project = self.session.project
        if project is None:
            return 0
        setup = project.setup
        return max(0, setup.context_size - setup.reply_tokens) if setup.context_size else project.known_context

    # ---- following the chat -----------------------------------------------------------------------------------------

    def want(self) -> None:
        """Somebody looks."""
        self.wanted = True
        self.follow()

    def follow(self) -> None:
        """Open what is shown, close what is not, and hear of what was written into the file."""
        project = self.session.project
        path = project.chat_path if project is not None and self.hindrance is None else None
        if path != self.path:
            self._close()
            self.path = path
            self._project_document = self._file_document = project.document if project is not None else None
            self.changed.emit()
        if path is None or project is None or self.problem:
            return
        if self.open is None:
            if self._configured and not self._opening and (self.wanted or self.by_itself or has_queue(path)):
                self._begin_opening(path, project)
        elif project.document is not self._project_document:
            self._project_document = project.document
            if project.document is not self._file_document:
                self._hear(self.open)

    def try_again(self) -> None:
        """Open the chat's recaps again after a problem."""
        self.problem = ""
        self.follow()

    def _begin_opening(self, path: Path, project: Project) -> None:
        self._opening = True
        settings, room, by_itself, copies = self.settings, self.room, self.by_itself, self.copies()

        async def work() -> tuple[RecapSession, RecapPicture]:
            from lorestudio.systems.recap.overview import picture
            from lorestudio.systems.recap.session import RecapSession, opened

            made = RecapSession.open(path, settings, counter=project.counter, context_size=room, copies=copies)
            if by_itself:
                await opened(made)
            return made, picture(made)

        self.work.start(work, done=partial(self._opened, path), failed=partial(self._not_opened, path))

    def _opened(self, path: Path, made: tuple[RecapSession, RecapPicture]) -> None:
        session, shown = made
        self._opening = False
        if path != self.path:
            self.work.start(session.close, failed=self._failed)
            self.follow()
            return
        self.open = session
        self._take_settings()  # they may have become others meanwhile
        for problem in session.problems:
            self.session.notice.emit(Notice(problem, "warning"))
        self.queue = QueuePicture(session.queue)
        self._take(shown)
        left = len(session.queue.operations)
        if left and self.by_itself and not session.queue.paused:
            self.due.emit()
        elif left:
            steps = count(left, "step of recap work is", "steps of recap work are")
            text = tr("{steps} left from before. Nothing was lost; the work goes on where it ended.", steps=steps)
            self.session.notice.emit(Notice(text, actions=("recap.resume", "pane.recap"), key="recap"))
        self.look_at(self._look)

    def _not_opened(self, path: Path, error: Exception) -> None:
        self._opening = False
        if path == self.path:
            self.problem = sentence_of(error)
            self.changed.emit()
        else:
            self.follow()

    def _hear(self, session: RecapSession) -> None:
        """The chat's file was written by the window, or read again."""
        from lorestudio.systems.recap.session import follow

        by_itself = self.by_itself

        def done() -> None:
            if self.by_itself and not session.queue.is_idle:
                self.due.emit()

        self._do(session, lambda: follow(session, by_itself=by_itself), done)

    def _close(self) -> None:
        session, self.open = self.open, None
        self.picture, self.queue, self.problem = None, QueuePicture(), ""
        if session is not None:
            self.work.start(session.close, failed=self._failed)

    def stop(self) -> None:
        """The window is closed: what is under way ends, and what is not written yet is written."""
        session, self.open = self.open, None
        self.work.close(session.close if session is not None else None)

    # ---- changing recaps --------------------------------------------------------------------------------------------

    def edit(self, how: Callable[[RecapEdits], Awaitable[object]]) -> None:
        """Change recaps in the chat's file. What cannot be done is told."""
        session = self.open
        if session is not None:
            self._do(session, lambda: how(session.edits))

    def _take_settings(self) -> None:
        """Go on with the settings as they are now. The chat's file is written only by what is done next."""
        if not self._configured:
            self._configured = True
            self.follow()
        session, settings, room = self.open, self.settings, self.room
        if session is not None and session.settings != settings:

            async def use() -> None:
                session.use(settings, model=session.context.model, context_size=room)

            self._do(session, use)

    def renew(self) -> None:
        """Look at the chat again."""
        if self.open is not None:
            self._do(self.open)

    def look_at(self, message: int | None) -> None:
        """Find out what the reply at this position is given; the newest wish counts."""
        self._look = message
        session = self.open
        if session is None or message is None or self._looking or not self.wanted:
            return
        self._looking = True

        async def work() -> PromptAt:
            from lorestudio.systems.recap.overview import prompt_at

            return prompt_at(session, message)

        def done(made: PromptAt) -> None:
            self._looking = False
            if self.open is session and self._look == message:
                self.prompt_changed.emit(made)
            else:
                self.look_at(self._look)

        def failed(error: Exception) -> None:
            self._looking = False
            self._failed(error)

        self.work.start(work, done=done, failed=failed)

    def _do(
        self,
        session: RecapSession,
        how: Callable[[], Awaitable[object]] | None = None,
        then: Callable[[], object] = lambda: None,
    ) -> None:
        """Do something with a chat's recaps, and show them as they are afterwards."""

        async def work() -> RecapPicture:
            from lorestudio.systems.recap.overview import picture

            if how is not None:
                await how()
            return picture(session)

        def done(made: RecapPicture) -> None:
            if session is self.open:
                self._take(made)
                self.look_at(self._look)
            then()

        self.work.start(work, done=done, failed=self._failed)

    def _take(self, made: RecapPicture) -> None:
        """Show the chat as it is now, and let the window's chat be what the file is."""
        from lorestudio.systems.recap.chat_file import alters_runs, with_recaps

        self.picture = made
        if self.open is not None:
            self.queue = replace(self.queue, state=self.open.queue)  # it follows messages that move
        document = made.file.document
        if document is not self._file_document:
            self._file_document = document
            project = self.session.project
            if project is not None and project.document is not None and document.digest != project.document.digest:
                self._project_document = document
                why = tr("Recap memory has hidden or shown messages since this run.")
                self.session.parts.file_written(made.file.source, document, why, with_recaps, alters_runs)
        self.changed.emit()

    def _failed(self, error: Exception) -> None:
        self.session.notice.emit(Notice(sentence_of(error), "error", key="recap"))


def _key(project: Project) -> str:
    return _BY_ITSELF.format(chat=chat_id(project))
