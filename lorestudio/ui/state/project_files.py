"""Reading vaults and chats off the GUI thread, and taking in what becomes of them on disk.

The vaults of the project that is shown, opened through the cache and followed on disk.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.studio.project.answering import Connections
from lorestudio.studio.project.library import LibraryListener, LibraryNews, changes_text
from lorestudio.studio.project.library_thread import LibraryThread
from lorestudio.studio.project.places import keep_key, vault_sources
from lorestudio.studio.project.project import Project, assembled, demo_project, open_project, place_names, read_settings
from lorestudio.ui.shell.jobs import Jobs
from lorestudio.ui.shell.words import Notice, tr
from lorestudio.ui.state.project_parts import ProjectParts
from lorestudio.ui.state.session_state import SessionState
from lorestudio.ui.state.traces import SessionRuns
from lorestudio.ui.state.undo import Adjustment, Parts
from lorestudio.vault.edited_vaults import EditedVaults, NoteText
from lorestudio.vault.files import VaultError
from lorestudio.vault.index_refresh import RefreshReason, VaultState, changes_between
from lorestudio.vault.writer import read_note


@dataclass(frozen=True, slots=True)
class Opened:
    """A project, and the library that its vaults are followed by."""

    project: Project
    library: LibraryThread


@dataclass(frozen=True, slots=True)
class _Told:
    library: LibraryThread
    news: LibraryNews


class VaultFollower(QObject):
    """Follows one set of vaults at a time. `changed` and `failed` are emitted on the GUI thread."""

    changed = Signal(object)  # LibraryNews
    failed = Signal(str)
    _told = Signal(object)  # _Told; from a library's thread

    def __init__(self, jobs: Jobs, connections: Connections, cache_file: Path, parent: QObject) -> None:
        super().__init__(parent)
        self._jobs, self._connections, self._cache_file = jobs, connections, cache_file
        self._library: LibraryThread | None = None
        self._libraries: set[LibraryThread] = set()
        self._early: list[_Told] = []
        self._told.connect(self._hear)

    def open(self, places: Sequence[str], chat: Path | None, settings: Path | None) -> Opened:
        """Open vaults, from the cache where they are in it; in a worker. Raises VaultError and InputError."""
        read = read_settings(settings)
        library = self._make(places, read.settings)
        news = library.open()
        if news.failures and not news.index.entries:
            library.close()
            self._libraries.discard(library)
            raise VaultError(news.failures[0])
        project = assembled(places, news.index, read, chat, settings)
        return Opened(replace(project, vault_state=news.state), library)

    def follow(self, project: Project) -> None:
        """Notice from now on what changes in the vaults of a project that was read in another way."""
        if self._library is not None or not project.places:
            return
        library = self._library = self._make(project.places, project.settings)
        title = tr("Following the vault")
        self._jobs.start(title, lambda _report: library.open(), done=lambda _news: None, failed=self._say)

    def take(self, library: LibraryThread | None) -> None:
        """Follow these vaults instead of the ones before; ending that is waited for elsewhere.

        What was told of them while they were only being opened is told again now.
        """
        before, self._library = self._library, library
        if before is not None:
            self._libraries.discard(before)
            self._jobs.start(
                tr("Closing the vault"), lambda _report: before.close(), done=lambda _none: None, failed=self._say
            )
        early, self._early = self._early, []
        for told in early:
            if told.library is library:
                self._hear(told)

    def close(self) -> None:
        """End all following, and wait for it."""
        for library in self._libraries:
            library.close()
        self._libraries, self._library = set(), None

    def _make(self, places: Sequence[str], settings: DeepLoreSettings) -> LibraryThread:
        listener = LibraryListener(news=lambda news: self._told.emit(_Told(library, news)), problem=self.failed.emit)
        sources = vault_sources(places, self._connections.keys)
        library = LibraryThread(sources, settings, listener, cache_file=self._cache_file)
        self._libraries.add(library)
        return library

    def _hear(self, told: _Told) -> None:
        if told.library is not self._library:
            self._early.append(told)
            return
        for failure in told.news.failures:
            self.failed.emit(failure)
        self.changed.emit(told.news)

    def _say(self, error: Exception) -> None:
        self.failed.emit(str(error))


class Reading(QObject):
    """Makes the project of what stands in files, one reading at a time, and hands it to the session.

    With `cache_file`, the cache of parsed vaults, changes on disk are followed.
    """

    def __init__(self, session: SessionState, runs: SessionRuns, parts: ProjectParts, cache_file: Path | None) -> None:
        super().__init__(session)
        self._session, self._runs, self._parts = session, runs, parts
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
        project, on_disk = session.project, self._parts.on_disk
        if project is None or on_disk is None:
            return
        kept = Adjustment(tr("what was changed before reading again"), on_disk, Parts.of(project))

        def done() -> None:
            now = session.project
            if now is not None and kept.before != kept.after:
                parts = kept.forward(Parts.of(now))
                self._parts.adjust(
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
        self._runs.stale = tr("{names} was saved after this replay. The results below are from before.", names=names)
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
        self._runs.stale = tr(
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
