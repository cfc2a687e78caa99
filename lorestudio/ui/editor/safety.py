"""What keeps notes safe beyond the window: a history of every note, and copies of what is not saved yet."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from lorestudio.ui.editor.buffer import NoteBuffer
from lorestudio.ui.editor.history_dialog import HistoryDialog, Version
from lorestudio.ui.editor.recovery_dialog import Found, RecoveryDialog
from lorestudio.ui.editor.store import NoteStore
from lorestudio.ui.jobs import Jobs
from lorestudio.ui.theme import Theme
from lorestudio.ui.words import tr
from lorestudio.vault import VaultError

logger = logging.getLogger(__name__)


class Versions(Protocol):
    """The histories of notes (`studio.snapshots.Snapshots`). Everything waits for the disk and may raise VaultError."""

    def list(self, path: Path) -> Sequence[Any]:
        """The versions of a note, newest first."""
        ...

    def read(self, snapshot: Any) -> str:  # noqa: ANN401  # what `list` gave is handed back as it is
        """The text of a version."""
        ...

    def save(self, path: Path, text: str, expected_digest: str | None) -> str:
        """Keep what the file holds, then save; returns the new digest."""
        ...


class Copies(Protocol):
    """Unsaved texts on disk (`studio.recovery.Recovery`)."""

    def keep(self, path: Path, text: str, digest: str | None) -> None:
        """Keep the unsaved text of a note."""

    def drop(self, path: Path) -> None:
        """Forget it."""

    def found(self) -> Sequence[Any]:
        """What an earlier run has left, newest first."""
        ...

    def adopt(self, unsaved: Any) -> None:  # noqa: ANN401  # what `found` gave is handed back as it is
        """Take a found text over."""

    def discard(self, unsaved: Any) -> None:  # noqa: ANN401  # as above
        """Throw a found text away."""

    def close(self) -> None:
        """End the session; what is still kept is found by the next one."""


class Safety(QObject):
    """Lets a store save with history and keep copies. `failed` carries an error; `restored` a found text."""

    failed = Signal(object)
    restored = Signal(object)

    def __init__(self, theme: Theme, jobs: Jobs, store: NoteStore, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme, self._jobs, self._store = theme, jobs, store
        self._versions: Versions | None = None
        self._copies: Copies | None = None
        self._found: Sequence[Found] = ()

    def use(self, versions: Versions | None = None, copies: Copies | None = None) -> None:
        """Save with these from now on."""
        if versions is not None:
            self._versions = versions
            self._store.write = versions.save
        if copies is not None:
            self._copies = copies
            self._store.keeping = copies

    def show_history(self, buffer: NoteBuffer, parent: QWidget) -> HistoryDialog | None:
        """Show the earlier versions of a note; what is taken goes into the editor."""
        versions = self._versions
        if versions is None:
            return None
        read = versions.read
        dialog = HistoryDialog(self._theme, self._jobs, buffer.path.name, buffer.text, read, parent)
        dialog.restored.connect(buffer.replace_all)
        self._jobs.start(
            tr("Reading the history of {name}", name=buffer.path.name),
            lambda _report: versions.list(buffer.path),
            done=dialog.show_versions,
            failed=dialog.fail,
        )
        dialog.open()
        return dialog

    def offer_found(self, parent: QWidget) -> None:
        """Look for unsaved texts of an earlier run, and offer them where there are some."""
        copies = self._copies
        if copies is not None:
            self._jobs.start(
                tr("Looking for unsaved texts"),
                lambda _report: copies.found(),
                done=lambda found: self.offer(found, parent),
                failed=self.failed.emit,
            )

    def offer(self, found: Sequence[Found], parent: QWidget) -> RecoveryDialog | None:
        """Offer found texts."""
        self._found = found
        if not found:
            return None
        dialog = RecoveryDialog(self._theme, self._jobs, found, parent)
        dialog.restored.connect(self._restore)
        dialog.discarded.connect(self._discard)
        dialog.open()
        return dialog

    def close(self) -> None:
        """Forget the copies of what was saved or given up, and end the session. No job of the window may run."""
        self._store.close()
        copies, self._copies, self._store.keeping = self._copies, None, None
        if copies is not None:
            for path in self._store.kept:
                try:
                    copies.drop(path)
                except VaultError as error:
                    logger.warning("the copy of %s stays: %s", path.name, error)
            copies.close()

    def _restore(self, item: Found) -> None:
        copies = self._copies
        if copies is None:
            return

        def done(_none: object) -> None:
            self._store.restore(item.path, item.text, item.digest)
            self._store.kept.add(item.path)
            self.restored.emit(item)

        self._jobs.start(
            tr("Restoring {name}", name=item.path.name),
            lambda _report: copies.adopt(item),
            done=done,
            failed=self.failed.emit,
        )

    def _discard(self, item: Found) -> None:
        copies = self._copies
        if copies is not None:
            self._jobs.start(
                tr("Throwing away a copy of {name}", name=item.path.name),
                lambda _report: copies.discard(item),
                done=lambda _none: None,
                failed=self.failed.emit,
            )


__all__ = ["Copies", "Found", "Safety", "Version", "Versions"]
