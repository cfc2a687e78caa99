"""The chat that goes on in a front end meanwhile: its file is watched, and what is new in it is shown and run."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path
from typing import Final

from PySide6.QtCore import QObject, Signal

from lorestudio.domain.lifecycle import Cancelled
from lorestudio.domain.records import replace
from lorestudio.domain.resources import resource
from lorestudio.studio.chat.saving import gone_on, with_chat_reread
from lorestudio.studio.project.project import Project
from lorestudio.ui.shell.jobs import Job, Jobs, Newest
from lorestudio.ui.shell.words import Notice, tr
from lorestudio.ui.state.project_parts import ProjectParts
from lorestudio.ui.state.session_state import SessionState
from lorestudio.vault.watching import WatchTimes, watch_folder

TIMES: Final = WatchTimes(debounce_ms=100, poll_s=1.0)
"""A new turn is shown within a second of being written."""


logger = logging.getLogger(__name__)


def _failed(error: Exception) -> None:
    if not isinstance(error, Cancelled):
        logger.error("following the chat has failed", exc_info=error)


def changed_on_both_sides(project: Project) -> Notice:
    """The chat's file was changed by another program where the chat was changed here."""
    name = project.chat_path.name if project.chat_path is not None else ""
    text = tr("{name} was changed here and by another program. What you changed stays; saving it asks what to keep.",
              name=name)  # fmt: skip
    return Notice(text, "warning", key="chat goes on")


def watch_file(jobs: Jobs, path: Path, changed: Callable[[], object], owner: QObject) -> Job:
    """Have `changed` called whenever the file may have changed, and at first; until the job is stopped."""

    async def work(job: Job) -> None:
        async with aclosing(watch_folder(path.parent, TIMES)) as events:
            async for names in events:
                if not names or path.name in names:
                    job(names)

    return jobs.start(
        tr("Following {name}", name=path.name), work, failed=_failed, reported=lambda _names: changed(), owner=owner,
        standing=True,
    )  # fmt: skip


class ChatFollower(QObject):
    """Follows the file of the chat that is shown. `went_on` says how many messages there are more, also none.

    To a chat that was changed here and not saved, new messages are added. Where others were changed in the file, what
    was changed here stays, which is said.
    """

    went_on = Signal(int)

    def __init__(self, session: SessionState, parts: ProjectParts, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session, self._parts = session, parts
        self._path: Path | None = None
        self._watch: Job | None = None
        self._newest = Newest(session.jobs)
        session.state_changed.connect(self._follow)

    def _follow(self) -> None:
        """Watch the file that is shown now, where it is another one."""
        project = self._session.project
        path = project.chat_path if project is not None else None
        if path is not None and path.is_relative_to(resource("demo")):
            path = None
        if path == self._path:
            return
        self._path = path
        if self._watch is not None:
            self._watch.cancel()
        self._watch = watch_file(self._session.jobs, path, self.look, self) if path is not None else None

    def look(self) -> None:
        """Read the file again, and show what is new in it."""
        project = self._session.project
        if project is not None:
            self._newest.start(
                tr("Reading the chat again"),
                lambda _job: with_chat_reread(project),
                done=lambda read: self._take(project, read) if read is not None else None,
                failed=_failed,
                owner=self,
            )

    def _take(self, project: Project, read: Project) -> None:
        session, now, disk = self._session, self._session.project, self._parts.on_disk
        if now is None or disk is None or now.chat_path != read.chat_path or now.document is not project.document:
            return  # another chat is shown, or this one was saved meanwhile
        if now.chat is None or read.chat is None or read.chat == now.chat:
            session.project = replace(now, document=read.document)
            return
        more = len(read.chat.messages) - len(disk.chat.messages) if disk.chat is not None else 0
        chat = read.chat if now.chat == disk.chat else gone_on(disk.chat, now.chat, read.chat)
        if chat is None:
            session.notice.emit(changed_on_both_sides(now))
            return
        controls = read.controls if now.controls == disk.controls else now.controls
        changed = replace(now, chat=chat, document=read.document, controls=controls, basis=read.basis)
        self._parts.chat_went_on(changed, read)
        self.went_on.emit(more)
