"""What keeps notes safe beyond the window: a history of every note, and copies of what is not saved yet.

Earlier versions of a note, each beside the present text, and the way back to one.

Texts that were not saved when the studio ended last: take up again, look at, or throw away.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Final, Protocol

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from lorestudio.ui.features.notes.editor.buffer import NoteBuffer
from lorestudio.ui.features.notes.store import NoteStore, look
from lorestudio.ui.shell.jobs import Jobs
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import count, tr
from lorestudio.ui.widgets.diff_view import DiffView
from lorestudio.vault.files import VaultError

__all__ = ["Copies", "Found", "Safety", "Version", "Versions"]


WHEN: Final = "%Y-%m-%d %H:%M"


class Version(Protocol):
    """A text that a note had. `size` is in bytes."""

    @property
    def time(self) -> datetime:
        """When it was kept."""
        ...

    @property
    def size(self) -> int:
        """How large the file was."""
        ...

    @property
    def reason(self) -> str:
        """Why it was kept."""
        ...


Read = Callable[[Version], str]


class HistoryDialog(QDialog):
    """`restored` carries the text of a version that is to be taken again; nothing is written here."""

    restored = Signal(str)

    def __init__(
        self, theme: Theme, jobs: Jobs, name: str, now: str, read: Read, parent: QWidget | None = None
    ) -> None:
        """`now` is the text in the editor; `read` gives the text of a version and waits for the disk."""
        super().__init__(parent)
        self._jobs, self._now, self._read = jobs, now, read
        self._versions: Sequence[Version] = ()
        self._text: str | None = None
        self._asked: Version | None = None
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("History of {name}", name=name))
        self.list = QListWidget(self)
        self.list.setAccessibleName(tr("Earlier versions"))
        self.list.setFixedWidth(230)
        self.list.currentRowChanged.connect(self._choose)
        self.diff = DiffView(theme, (tr("Then"), tr("Now, in the editor")), self)
        self.message = QLabel(tr("Reading the history…"), self)
        self.message.setWordWrap(True)
        row = QHBoxLayout()
        row.addWidget(self.list)
        row.addWidget(self.diff, 1)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        self.take = QPushButton(tr("Take this version"), self)
        self.take.setToolTip(tr("Put it into the editor; it is not saved yet, and undo takes it back."))
        self.take.setEnabled(False)
        self.take.clicked.connect(self._take)
        buttons.addButton(self.take, QDialogButtonBox.ButtonRole.ActionRole)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.addWidget(self.message)
        column.addLayout(row, 1)
        column.addWidget(buttons)
        self.resize(940, 560)

    def show_versions(self, versions: Sequence[Version]) -> None:
        """List the versions, newest first."""
        self._versions = versions
        self.list.clear()
        for version in versions:
            size = tr("{size} kB", size=f"{version.size / 1024:.1f}")
            when = version.time.astimezone().strftime(WHEN)
            self.list.addItem(QListWidgetItem(f"{when}\n{version.reason or tr('kept')} · {size}"))
        if versions:
            self.message.setText(tr("{versions} kept.", versions=count(len(versions), "version is", "versions are")))
            self.list.setCurrentRow(0)
        else:
            self.message.setText(tr("There is no earlier version yet. One is kept before each change of the file."))

    def fail(self, error: object) -> None:
        """Say why the history cannot be shown."""
        self.message.setText(str(error))

    def _choose(self, row: int) -> None:
        if not 0 <= row < len(self._versions):
            return
        version = self._asked = self._versions[row]
        self.take.setEnabled(False)
        read = self._read
        self._jobs.start(
            tr("Reading an earlier version"),
            lambda _report: read(version),
            done=lambda text: self._show(version, text),
            failed=self.fail,
            owner=self,
        )

    def _show(self, version: Version, text: str) -> None:
        if version is self._asked:
            self._text = text
            self.diff.show_texts(text, self._now)
            self.take.setEnabled(text != self._now)

    def _take(self) -> None:
        if self._text is not None:
            self.restored.emit(self._text)
            self.accept()


class Found(Protocol):
    """An unsaved text that was found; `digest` is that of the file it was written over."""

    @property
    def path(self) -> Path:
        """The note's file."""
        ...

    @property
    def text(self) -> str:
        """What was not saved."""
        ...

    @property
    def digest(self) -> str | None:
        """Of the file that the text started from."""
        ...

    @property
    def time(self) -> datetime:
        """When it was kept."""
        ...


class RecoveryDialog(QDialog):
    """`restored` and `discarded` carry a found text; what is left open stays for the next start."""

    restored = Signal(object)
    discarded = Signal(object)

    def __init__(self, theme: Theme, jobs: Jobs, found: Sequence[Found], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._jobs = theme, jobs
        self._open = len(found)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Unsaved texts"))
        head = QLabel(self)
        head.setWordWrap(True)
        head.setText(
            tr(
                "{notes} not saved when lorestudio ended last time. What you leave here is offered again next time.",
                notes=count(len(found), "note was", "notes were"),
            )
        )
        page = QWidget(self)
        self._cards = QVBoxLayout(page)
        self._cards.setContentsMargins(0, 0, 6, 0)
        for item in found:
            self._cards.addWidget(self._card(item))
        self._cards.addStretch(1)
        area = QScrollArea(self)
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidget(page)
        area.setMinimumHeight(120)
        self.diff = DiffView(theme, (tr("On disk"), tr("Not saved")), self)
        self.diff.hide()
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.addWidget(head)
        column.addWidget(area, 1)
        column.addWidget(self.diff, 3)
        column.addWidget(buttons)
        self.resize(720, 320)

    def _card(self, item: Found) -> QWidget:
        card = QFrame(self)
        card.setObjectName("Card")
        grid = QGridLayout(card)
        grid.setColumnStretch(0, 1)
        name = QLabel(item.path.name, card)
        name.setProperty("kind", "summary")
        more = QLabel(f"{item.time.astimezone().strftime(WHEN)} · {item.path.parent}", card)
        more.setProperty("kind", "small")
        more.setWordWrap(True)
        grid.addWidget(name, 0, 0)
        grid.addWidget(more, 1, 0)
        for column, (title, what) in enumerate(
            ((tr("Restore"), "restore"), (tr("Compare"), "compare"), (tr("Discard"), "discard")), start=1
        ):
            button = QPushButton(title, card)
            button.setAccessibleName(f"{title}: {item.path.name}")
            button.clicked.connect(partial(self.press, what, item, card))
            if what == "restore":
                button.setProperty("kind", "primary")
            grid.addWidget(button, 0, column, 2, 1)
        return card

    def press(self, what: str, item: Found, card: QWidget | None = None, _checked: bool = False) -> None:
        """Do what a button of a card says."""
        if what == "compare":
            self._jobs.start(
                tr("Looking at {name}", name=item.path.name),
                lambda _report: look(item.path),
                done=lambda on_disk: self._compare(on_disk.text or "", item.text),
                failed=lambda error: self.diff.summary.setText(str(error)),
                owner=self,
            )
            return
        (self.restored if what == "restore" else self.discarded).emit(item)
        if card is not None:
            card.hide()
        self._open -= 1
        if not self._open:
            self.accept()

    def _compare(self, on_disk: str, unsaved: str) -> None:
        self.diff.show_texts(on_disk, unsaved)
        if not self.diff.isVisible():
            self.diff.show()
            self.resize(max(self.width(), 860), max(self.height(), 560))


logger = logging.getLogger(__name__)


class Versions(Protocol):
    """The histories of notes (`studio.notes.snapshots.Snapshots`). All waits for the disk and may raise VaultError."""

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
    """Unsaved texts on disk (`studio.notes.recovery.Recovery`)."""

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
