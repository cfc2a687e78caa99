"""Texts that were not saved when the studio ended last: take up again, look at, or throw away."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFrame,
    QGridLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from lorestudio.ui.editor.diff_view import DiffView
from lorestudio.ui.editor.history_dialog import WHEN
from lorestudio.ui.editor.store import look
from lorestudio.ui.jobs import Jobs
from lorestudio.ui.theme import Theme
from lorestudio.ui.words import count, tr


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
