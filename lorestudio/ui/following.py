"""The vaults of the project that is shown, opened through the cache and followed on disk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from lorestudio.settings import DeepLoreSettings
from lorestudio.studio.answering import Connections
from lorestudio.studio.library import LibraryListener, LibraryNews
from lorestudio.studio.library_thread import LibraryThread
from lorestudio.studio.places import vault_sources
from lorestudio.studio.project import Project, assembled, read_settings
from lorestudio.ui.jobs import Jobs
from lorestudio.ui.words import tr
from lorestudio.vault import VaultError


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
