"""Reading vaults and chats off the GUI thread, and taking in what becomes of them on disk."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from lorestudio.studio.library import LibraryNews, changes_text
from lorestudio.studio.places import keep_key
from lorestudio.studio.project import Project, demo_project, open_project, place_names
from lorestudio.ui.adjusting import Adjustment, Parts
from lorestudio.ui.following import Opened, VaultFollower
from lorestudio.ui.notices import Notice
from lorestudio.ui.words import tr
from lorestudio.vault import read_note
from lorestudio.vault.edited import EditedVaults, NoteText
from lorestudio.vault.incremental import VaultState, changes_between
from lorestudio.vault.triggers import RefreshReason

if TYPE_CHECKING:
    from lorestudio.ui.session import Session


class Reading(QObject):
    """Makes the project of what stands in files, one reading at a time, and hands it to the session.

    With `cache_file`, the cache of parsed vaults, changes on disk are followed.
    """

    def __init__(self, session: Session, cache_file: Path | None) -> None:
        super().__init__(session)
        self._session = session
        self._follower = VaultFollower(session.jobs, session.connections, cache_file, self) if cache_file else None
        if self._follower is not None:
            self._follower.changed.connect(self._vaults_changed)
            self._follower.failed.connect(self._vault_failed)

    def open(
        self, vaults: Sequence[Path | str], chat: Path | None = None, settings: Path | None = None, key: str = ""
    ) -> None:
        """Read vaults, and a chat and settings where given, off the GUI thread; then show them.

        What is in the cache is shown at once and compared with the disk afterwards. `key` is kept for a vault behind
        Obsidian's plugin.
        """
        places = place_names(vaults)

        def work() -> Project | Opened:
            if key:
                keep_key(places[0], key, self._session.connections.keys)
            if self._follower is None:
                return open_project(vaults, chat, settings)
            return self._follower.open(places, chat, settings)

        self._read(", ".join(Path(place).name for place in places), work)

    def open_demo(self) -> None:
        """Show the vault and chat that come with the program."""
        self._read(tr("the demo"), demo_project)

    def open_chat(self, path: Path) -> None:
        """Show another chat with the same vault."""
        project = self._session.project
        if project is not None:
            self._read(path.name, lambda: project.with_chat(path))

    def reload(self) -> None:
        """Read the same files again; what was changed here and is in no file yet stays, as one step."""
        session = self._session
        project, on_disk = session.project, session.parts.on_disk
        if project is None or on_disk is None:
            return
        kept = Adjustment(tr("what was changed before reading again"), on_disk, Parts.of(project))

        def done() -> None:
            now = session.project
            if now is not None and kept.before != kept.after:
                parts = kept.forward(Parts.of(now))
                session.parts.adjust(
                    kept.title,
                    settings=parts.settings,
                    controls=parts.controls,
                    behaviour=parts.behaviour,
                    chat=parts.chat,
                )

        self._read(project.name, project.reloaded, done)

    def notes_written(self, paths: Collection[Path]) -> None:
        """Take in notes that were written, made, moved or removed from here, and run the chat again with them."""
        session, project = self._session, self._session.project
        if project is None or not paths:
            return
        names = ", ".join(sorted(path.name for path in paths))
        session.runs.stale = tr("{names} was saved after this replay. The results below are from before.", names=names)
        session.state_changed.emit()
        state = project.vault_state
        if state is None:  # nobody knows what the index was made of
            return

        def work() -> VaultState:
            return EditedVaults(state, project.settings, project.counter).with_texts(_texts(project, paths))

        session.jobs.start(
            tr("Taking in what was saved"),
            lambda _report: work(),
            done=lambda after: self._renew(paths, project, after),
            failed=session.fail,
        )

    def follow(self) -> None:
        """Notice from now on what changes in the vaults of the project that is shown."""
        if self._session.project is not None and self._follower is not None:
            self._follower.follow(self._session.project)

    def follow_anew(self) -> None:
        """Follow the same vaults, which are read by other settings now."""
        if self._follower is not None:
            self._follower.take(None)
            self.follow()

    def close(self) -> None:
        """End all following, and wait for it."""
        if self._follower is not None:
            self._follower.close()

    def _read(self, name: str, work: Callable[[], Project | Opened], done: Callable[[], None] = lambda: None) -> None:
        session = self._session
        if session.busy:
            return

        def opened(project: Project | Opened) -> None:
            self._opened(project)
            done()

        session.set_activity(tr("Reading {name}…", name=name))
        session.jobs.start(session.activity, lambda _report: work(), done=opened, failed=session.fail)

    def _opened(self, opened: Project | Opened) -> None:
        session, follower = self._session, self._follower
        session.set_activity("")
        if isinstance(opened, Opened):
            session.set_project(opened.project)
            if follower is not None:
                follower.take(opened.library)
            return
        if follower is not None and (session.project is None or opened.places != session.project.places):
            follower.take(None)
        session.set_project(opened)
        self.follow()

    def _renew(self, paths: Collection[Path], project: Project, state: VaultState) -> None:
        now = self._session.project
        if now is None or now.places != project.places:
            return  # another vault is shown by now
        if now.vault_state is not project.vault_state:
            self.notes_written(paths)  # something else was taken in meanwhile
            return
        why = tr("Notes were saved after this run. The results below are from before.")
        self._session.set_project(replace(now, index=state.index, vault_state=state), renewed=why)

    def _vaults_changed(self, news: LibraryNews) -> None:
        """The vaults are not as they were read: taken in at once while they are only being opened, else said."""
        session, project = self._session, self._session.project
        if project is None or not news.confirmed or not news.changed or news.index.digest == project.index.digest:
            return
        if news.reason is RefreshReason.OPENED and not session.busy:
            session.set_project(replace(project, index=news.index, vault_state=news.state))
            return
        changes = changes_text(changes_between(project.index, news.index)) or tr("notes have changed")
        session.runs.stale = tr(
            "The vault has changed on disk: {changes}. The results below are from before.", changes=changes
        )
        session.state_changed.emit()

    def _vault_failed(self, sentence: str) -> None:
        self._session.notice.emit(Notice(sentence, "warning"))


def _texts(project: Project, paths: Collection[Path]) -> list[NoteText]:
    """What stands in the files now, None for one that is gone. Raises VaultError where one cannot be read."""
    found = []
    for path in paths:
        for vault, folder in zip(project.index.vaults, project.vault_folders, strict=True):
            if folder is not None and path.is_relative_to(folder) and path.suffix.lower() == ".md":
                text = read_note(path)[0] if path.exists() else None
                found.append(NoteText(vault, path.relative_to(folder).as_posix(), text))
    return found
