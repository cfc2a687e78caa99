"""Earlier versions of a note, each beside the present text, and the way back to one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final, Protocol

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from lorestudio.ui.editor.diff_view import DiffView
from lorestudio.ui.jobs import Jobs
from lorestudio.ui.theme import Theme
from lorestudio.ui.words import count, tr

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
