"""Session notes in the window: the last one is read, and whoever writes replies writes the next, kept with the chat."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QDialog, QFormLayout, QLineEdit, QPushButton, QWidget

from lorestudio.domain.chat import Chat
from lorestudio.domain.lifecycle import Cancelled
from lorestudio.studio.chat.reply_writing import with_session_note
from lorestudio.studio.project.answering import AnswerKind, CostEstimate, Source, make_answers
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.costs import note_cost
from lorestudio.systems.base import LastNote, WrittenNote
from lorestudio.systems.registry import system_of
from lorestudio.ui.shell.feature import Context
from lorestudio.ui.shell.jobs import Job
from lorestudio.ui.shell.words import Notice, count, sentence_of, tr
from lorestudio.ui.widgets import dialogs
from lorestudio.ui.widgets.dialogs import Dialog
from lorestudio.ui.widgets.layouts import able, button, column, label, named, row, text_view

OPEN = "chat.session_note"
"""The action that shows the last note and asks for the next one."""


class SessionNoteDialog(Dialog):
    """`wanted` carries what the next note is to pay attention to, and whether it is to be a file in the vault too.

    `writer` is who writes it, "" for nobody; `in_vault` says that there is a folder for files. `writer_wanted` asks for
    the choice of one: it carries the same, and the dialog is closed.
    """

    wanted = Signal(str, bool)
    writer_wanted = Signal(str, bool)

    def __init__(self, last: LastNote, writer: str, *, in_vault: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent, tr("Session note"), (620, 460) if last.text else (620, 210))
        intro = tr("What has happened, for whoever comes back weeks later. AI selection can read the last one too.")
        since = count(last.since, "message", "messages")
        said = tr("The last one, {since} ago", since=since) if last.text else tr("This chat has none yet.")
        self.text = text_view(self, tr("The last session note"))
        self.text.setPlainText(last.text)
        self.focus = named(
            QLineEdit(self, placeholderText=tr("whatever matters")), tr("What the note should pay attention to")
        )
        self.file = QCheckBox(tr("Also as a file in “{folder}” of the vault", folder=last.folder), self)
        able(self.file, in_vault, tr("The vault has no folder on this computer."))
        self.write = QPushButton(tr("Write a note"), self)
        able(self.write, bool(writer), tr("Choose a provider for the answers first: a stand-in writes no notes."))
        by = tr("{writer} writes it.", writer=writer)
        nobody = tr("Nobody writes it yet: a model has to be chosen in the menu of “Reply” under the chat.")
        self.choose = button(self, tr("Choose…"), self._choose)
        self.choose.setVisible(not writer)
        form = QFormLayout(horizontalSpacing=12)
        form.addRow(tr("Attend to"), self.focus)
        form.addRow("", self.file)
        words, above = label(self, by if writer else nobody), label(self, said, kind="strong")
        by_whom = row((words, 1), self.choose)
        column(label(self, intro), above, (self.text, 1), form, by_whom, self.answers(self.write), of=self)
        self.text.setVisible(bool(last.text))
        self.focus.setFocus()
        self.accepted.connect(lambda: self.wanted.emit(*self._wish))

    @property
    def _wish(self) -> tuple[str, bool]:
        return self.focus.text().strip(), self.file.isChecked()

    def _choose(self) -> None:
        self.done(QDialog.DialogCode.Rejected)  # unasked: what was typed is there again the next time
        self.writer_wanted.emit(*self._wish)

    def lost(self) -> str:
        """See `Dialog`."""
        return tr("What you wrote would be lost.") if self.focus.isModified() and self.focus.text().strip() else ""


class SessionNoteWork:
    """Shows and writes them. `writer` tells who writes replies, None where the person does; `choose` offers others."""

    def __init__(self, context: Context, writer: Callable[[], Source | None], choose: Callable[[], object]) -> None:
        self._context, self._session, self._writer, self._choose = context, context.session, writer, choose
        self._job: Job | None = None
        self._wish: tuple[Path | None, str, bool] = (None, "", False)  # of which chat, until it is written

    @property
    def busy(self) -> bool:
        """Whether one is being written."""
        return self._job is not None

    def stop(self) -> None:
        """Ask no more."""
        if self._job is not None:
            self._job.cancel()

    def show(self) -> None:
        """The last one, and the wish for the next; while that is written, the way to stop it."""
        if self.busy:
            self._say_under_way()
            return
        project, last = self._session.project, self._last()
        if project is None or last is None:
            return
        source = self._source
        name = "" if source is None else source.profile or tr("The recording beside the chat")
        dialog = SessionNoteDialog(last, name, in_vault=bool(project.roots), parent=self._context.window)
        path, focus, save = self._wish
        if path == project.chat_path:
            dialog.focus.setText(focus)
            dialog.file.setChecked(save)
        dialog.wanted.connect(self.write)
        dialog.writer_wanted.connect(partial(self._choose_writer, project.chat_path))
        dialog.open()

    def _choose_writer(self, path: Path | None, focus: str, save: bool) -> None:
        self._wish = path, focus, save
        self._choose()

    def say_if_due(self) -> None:
        """After a reply: say that the settings want a note now, where somebody could write it."""
        last = self._last()
        if last is not None and last.due and self._source is not None:
            since = count(last.since, "message", "messages")
            text = tr("A session note is due: {since} came since the last one.", since=since)
            self._context.say(Notice(text, "neutral", actions=(OPEN,), key="session-note"))

    def write(self, focus: str, save: bool, *, agreed: bool = False) -> None:
        """Have the next one written; who costs something is asked once the person agrees."""
        session, project, source = self._session, self._session.project, self._source
        if self.busy or project is None or project.chat is None or source is None:
            return
        self._wish = project.chat_path, focus, save
        folder = project.roots[0] if save and project.roots else None
        self._job = session.jobs.start(
            tr("Writing a session note"),
            partial(self._work, project, source, focus, folder, agreed),
            done=lambda made: self._written(project, source, focus, made, save=save),
            failed=self._failed,
        )
        if agreed:
            self._say_under_way()
        self._context.update_actions()

    @property
    def _source(self) -> Source | None:
        """Who can write one; the stand-in leaves placeholders."""
        source = self._writer()
        return source if source is not None and source.kind is not AnswerKind.STAND_IN else None

    def _last(self) -> LastNote | None:
        project = self._session.project
        if project is None or project.chat is None:
            return None
        return system_of(project.scene()).last_note(project.chat, project.controls)

    async def _work(
        self, project: Project, source: Source, focus: str, folder: Path | None, agreed: bool, _job: Job
    ) -> WrittenNote | CostEstimate | None:
        if source.kind is AnswerKind.PROVIDER and not agreed:
            cost = await asyncio.to_thread(lambda: asyncio.run(note_cost(project, focus)))
            if cost.calls:
                return cost
        answers, model = await asyncio.to_thread(make_answers, source, project.chat_path, self._session.connections)
        system = system_of(project.scene(answers, model))
        return await system.write_note(project.chat or Chat(), project.controls, focus, folder)

    def _written(
        self, project: Project, source: Source, focus: str, made: WrittenNote | CostEstimate | None, *, save: bool
    ) -> None:
        self._ended()
        if isinstance(made, CostEstimate):
            more = tr("The request holds the end of the chat and the last session note.")
            go = partial(self.write, focus, save, agreed=True)
            cost = dialogs.ModelCost(source.profile, made.sentence, more, lambda yes: go() if yes else None)
            cost.ask(self._context.window)
            return
        now = self._session.project
        if made is None:
            return
        if made.fine:
            self._wish = None, "", False
        if now is None or now.chat is None or now.chat_path != project.chat_path:
            self._say(tr("Another chat was opened meanwhile, so the session note was dropped."), fine=False)
            return
        chat, controls = with_session_note(now.chat, now.controls, made)
        if chat is not now.chat:
            self._session.parts.adjust(tr("session note"), chat=chat, controls=controls)
        if made.file is not None:
            self._session.reading.notes_written([made.file])
        self._say(made.said, fine=made.fine)

    def _failed(self, error: Exception) -> None:
        self._ended()
        if isinstance(error, Cancelled):
            self._context.say(Notice(tr("Stopped. No session note was written."), actions=(OPEN,), key="session-note"))
        else:
            self._say(tr("No session note: {why}", why=sentence_of(error)), fine=False)

    def _ended(self) -> None:
        self._job = None
        self._context.update_actions()

    def _say_under_way(self) -> None:
        self._context.say(Notice(tr("A session note is being written…"), actions=("reply.stop",), key="session-note"))

    def _say(self, text: str, *, fine: bool) -> None:
        actions = (OPEN,) if fine else (OPEN, "profiles.edit")
        self._context.say(Notice(text, "good" if fine else "warning", actions=actions, key="session-note"))
