"""What keeps notes safe beyond the window: a history of every note, and copies of what is not saved yet.

Earlier versions stand beside the present text, with the way back. Texts that were not saved when the studio ended last
can be taken up again, looked at, or thrown away.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QDialogButtonBox, QFrame, QGridLayout, QPushButton, QWidget

from lorestudio.studio.notes.changes.snapshots import NoteSnapshot, Snapshots
from lorestudio.studio.notes.recovery import Recovery, Unsaved
from lorestudio.trace.wording import time_words
from lorestudio.ui.features.notes.editor.buffer import NoteBuffer
from lorestudio.ui.features.notes.store import NoteStore, look
from lorestudio.ui.features.vault.table import when_words
from lorestudio.ui.shell.jobs import Jobs, Newest
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import count, tr
from lorestudio.ui.widgets.dialogs import Dialog
from lorestudio.ui.widgets.diff_view import DiffView
from lorestudio.ui.widgets.layouts import able, column, holding, label, letters, named, row, scrolled
from lorestudio.ui.widgets.rows import NameList
from lorestudio.vault.files import VaultError

logger = logging.getLogger(__name__)


class HistoryDialog(Dialog):
    """`restored` carries the text of a version that is to be taken again; nothing is written here."""

    restored = Signal(str)

    def __init__(
        self, theme: Theme, jobs: Jobs, buffer: NoteBuffer, kept: Snapshots, parent: QWidget, name: str = ""
    ) -> None:
        """Versions are read from `kept`, in jobs, and compared with what the buffer holds now."""
        super().__init__(parent, tr("History of {name}", name=name or buffer.path.name), (940, 560))
        self._newest, self._now, self._kept = Newest(jobs), buffer.text, kept
        self._versions: Sequence[NoteSnapshot] = ()
        self._text: str | None = None
        self.list = named(NameList(self), tr("Earlier versions"))
        self.list.setFixedWidth(round(230 * letters(self)))
        self.list.setWordWrap(True)
        self.list.currentRowChanged.connect(self._choose)
        self.diff = DiffView(theme, (tr("Then"), tr("Now, in the editor")), self)
        self.message = label(self, tr("Reading the history…"))
        buttons = self.answers()
        self.take = buttons.addButton(tr("Take this version"), QDialogButtonBox.ButtonRole.ActionRole)
        self.take.setToolTip(tr("Put it into the editor; it is not saved yet, and undo takes it back."))
        able(self.take, False, tr("Choose a version, and wait until it is read."))
        self.take.clicked.connect(self._take)
        column(self.message, (row(self.list, (self.diff, 1)), 1), buttons, of=self)

    def show_versions(
        self, versions: Sequence[NoteSnapshot], gone: Path | None = None, problems: Sequence[str] = ()
    ) -> None:
        """List the versions, newest first; `gone` is the place that they are of where that is not the note's.

        `problems` are sentences about what of the history cannot be read.
        """
        self._versions = versions
        self.list.clear()
        for version in versions:
            size = tr("{size} kB", size=f"{version.size / 1024:.1f}")
            when = time_words(version.time.timestamp() * 1000)  # several saves may lie within a minute
            self.list.addItem(f"{when}\n{version.reason or tr('kept')} · {size}")
        kept = tr("{versions} kept", versions=count(len(versions), "version is", "versions are"))
        if gone is not None:
            words = "Nothing is kept of this file. Of {place}, which is gone, {kept}: if the note lay there, take one."
            said = tr(words, place=gone, kept=kept)
        elif versions:
            said = f"{kept}."
        else:
            said = tr("There is no earlier version yet. One is kept before each change of the file.")
        self.message.setText("\n".join((said, *problems)))
        if versions:
            self.list.setCurrentRow(0)

    def fail(self, error: object) -> None:
        """Say why the history cannot be shown."""
        self.message.setText(str(error))

    def _choose(self, row: int) -> None:
        if not 0 <= row < len(self._versions):
            return
        read, version = self._kept.read, self._versions[row]
        able(self.take, False, tr("Choose a version, and wait until it is read."))
        title = tr("Reading an earlier version")
        self._newest.start(title, lambda _job: read(version), done=self._show, failed=self.fail)

    def _show(self, text: str) -> None:
        self._text = text
        self.diff.show_texts(text, self._now)
        able(self.take, text != self._now, tr("The editor holds this text."))

    def _take(self) -> None:
        if self._text is not None:
            self.restored.emit(self._text)
            self.accept()


class RecoveryDialog(Dialog):
    """`restored` and `discarded` carry a found text; what is left open stays for the next start."""

    restored = Signal(object)
    discarded = Signal(object)

    def __init__(self, theme: Theme, jobs: Jobs, found: Sequence[Unsaved], parent: QWidget) -> None:
        super().__init__(parent, tr("Unsaved texts"), (720, 320))
        self._jobs = jobs
        self.found, self._open = found, len(found)
        words = tr(
            "{notes} not saved when lorestudio ended last time. What you leave here is offered again next time.",
            notes=count(len(found), "note was", "notes were"),
        )
        area = scrolled(holding(column(*map(self._card, found), 1, margins=(0, 0, 6, 0))), tr("Unsaved texts"))
        area.setMinimumHeight(120)
        self.diff = DiffView(theme, (tr("On disk"), tr("Not saved")), self)
        self.diff.hide()
        column(label(self, words), (area, 1), (self.diff, 3), self.answers(), of=self)
        area.findChildren(QPushButton)[0].setFocus()  # “Restore”: the area takes the keyboard, too, to scroll

    def _card(self, item: Unsaved) -> QWidget:
        card = QFrame(self)
        card.setObjectName("Card")
        grid = QGridLayout(card)
        grid.setColumnStretch(0, 1)
        when = when_words(item.time.timestamp())
        grid.addWidget(label(card, item.path.name, "summary", wrap=False), 0, 0)
        grid.addWidget(label(card, f"{when} · {item.path.parent}", "small"), 1, 0)
        choices = ((tr("Restore"), "restore"), (tr("Compare"), "compare"), (tr("Discard"), "discard"))
        for place, (title, what) in enumerate(choices, start=1):
            kind = "primary" if what == "restore" else ""
            button = named(QPushButton(title, card), f"{title}: {item.path.name}", kind=kind)
            button.clicked.connect(partial(self.press, what, item, card))
            grid.addWidget(button, 0, place, 2, 1)
        return card

    def press(self, what: str, item: Unsaved, card: QWidget | None = None, _checked: bool = False) -> None:
        """Do what a button of a card says."""
        if what == "compare":
            self._jobs.start(
                tr("Looking at {name}", name=item.path.name),
                lambda _report: look(item.path),
                done=lambda on_disk: self._compare(on_disk.text or "", item.text),
                failed=self._not_compared,
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
        self._show_diff()

    def _not_compared(self, error: Exception) -> None:
        self.diff.summary.setText(str(error))
        self._show_diff()

    def _show_diff(self) -> None:
        if not self.diff.isVisible():
            self.diff.show()
            self.resize(max(self.width(), 860), max(self.height(), 560))


class Safety(QObject):
    """Lets a store save with history and keep copies. `failed` carries what is to be told; `restored` a found text."""

    failed = Signal(object)
    restored = Signal(object)

    def __init__(self, theme: Theme, jobs: Jobs, store: NoteStore, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme, self._jobs, self._store = theme, jobs, store
        self._versions: Snapshots | None = None
        self._copies: Recovery | None = None

    def use(self, versions: Snapshots | None = None, copies: Recovery | None = None) -> None:
        """Save with these from now on."""
        if versions is not None:
            self._versions = versions
            self._store.write = versions.save
        if copies is not None:
            self._copies = copies
            self._store.keeping = copies

    def show_history(self, buffer: NoteBuffer, parent: QWidget, name: str = "") -> HistoryDialog | None:
        """Show the earlier versions of a note, called so or like its file; what is taken goes into the editor."""
        versions = self._versions
        if versions is None:
            return None
        dialog = HistoryDialog(self._theme, self._jobs, buffer, versions, parent, name)
        dialog.restored.connect(buffer.replace_all)

        def read() -> tuple[Sequence[NoteSnapshot], Path | None, Sequence[str]]:
            found = versions.list(buffer.path)
            gone = next(iter(versions.gone(buffer.path)), None) if not found else None
            return found if gone is None else versions.list(gone), gone, versions.problems

        self._jobs.start(
            tr("Reading the history of {name}", name=buffer.path.name), lambda _report: read(), owner=dialog,
            done=lambda found: dialog.show_versions(*found), failed=dialog.fail,
        )  # fmt: skip
        dialog.open()
        return dialog

    def offer_found(self, parent: QWidget) -> None:
        """Look for unsaved texts of an earlier run, and offer them where there are some."""
        copies = self._copies
        if copies is None:
            return

        def done(found: Sequence[Unsaved]) -> None:
            for problem in copies.problems:
                self.failed.emit(problem)
            self.offer(found, parent)

        self._jobs.start(
            tr("Looking for unsaved texts"), lambda _report: copies.found(), done=done, failed=self.failed.emit
        )

    def offer(self, found: Sequence[Unsaved], parent: QWidget) -> RecoveryDialog | None:
        """Offer found texts."""
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

    def _restore(self, item: Unsaved) -> None:
        copies = self._copies
        if copies is None:
            return

        def done(_none: object) -> None:
            self._store.restore(item.path, item.text, item.digest, partial(self.restored.emit, item))
            self._store.kept.add(item.path)

        title = tr("Restoring {name}", name=item.path.name)
        self._jobs.start(title, lambda _report: copies.adopt(item), done=done, failed=self.failed.emit)

    def _discard(self, item: Unsaved) -> None:
        copies = self._copies
        if copies is not None:
            title = tr("Throwing away a copy of {name}", name=item.path.name)
            self._jobs.start(title, lambda _report: copies.discard(item), failed=self.failed.emit)
