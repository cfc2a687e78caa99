"""What a change would do, before it is done: the notes on the left, the difference of the chosen one on the right."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QTextCharFormat, QTextCursor, QTextFormat
from PySide6.QtWidgets import (
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QSplitter,
    QTextEdit,
    QVBoxLayout,
    QWidget,
)

from lorestudio.studio.change_set import NoteChange
from lorestudio.studio.change_words import DifferenceLine, LineKind, difference, shown_name
from lorestudio.studio.vault_notes import Planned
from lorestudio.ui.theme import Theme, fixed_font
from lorestudio.ui.words import count, tr

MOST_LINES: Final = 2000
"""Longer differences are cut; nobody reads them here."""

_TONES: Final = {LineKind.NEW: "good_soft", LineKind.GONE: "error_soft"}


class ChangeView(QWidget):
    """Shows a plan. `summary` says how much it is, `remarks` what the person should know besides."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._changes: tuple[NoteChange, ...] = ()
        self._lines: tuple[DifferenceLine, ...] = ()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(5)
        self.summary = QLabel(self)
        self.summary.setWordWrap(True)
        self.summary.setProperty("kind", "muted")
        self.files = QListWidget(self)
        self.files.setAccessibleName(tr("Notes that would change"))
        self.files.setUniformItemSizes(True)
        self.text = QPlainTextEdit(self)
        self.text.setReadOnly(True)
        self.text.setAccessibleName(tr("What would change in the note"))
        self.text.setFont(fixed_font(self.font().pointSizeF()))
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.text.setTabChangesFocus(True)
        self.split = QSplitter(Qt.Orientation.Horizontal, self)
        self.split.addWidget(self.files)
        self.split.addWidget(self.text)
        self.split.setStretchFactor(1, 1)
        self.split.setSizes([210, 420])
        self.split.setChildrenCollapsible(False)
        self.remarks = QPlainTextEdit(self)
        self.remarks.setReadOnly(True)
        self.remarks.setAccessibleName(tr("What else you should know"))
        self.remarks.setMaximumHeight(84)
        self.remarks.setTabChangesFocus(True)
        column.addWidget(self.summary)
        column.addWidget(self.split, 1)
        column.addWidget(self.remarks)
        column.addStretch()  # takes the room while there is no plan, so that the sentence stands at the top
        self.files.currentRowChanged.connect(self._show_file)
        theme.changed.connect(self._paint)
        self.say("")

    def say(self, text: str) -> None:
        """Show a sentence instead of a plan."""
        self._changes = ()
        self.files.clear()
        self.summary.setText(text)
        self.split.hide()
        self.remarks.hide()

    def show_plan(self, planned: Planned, folders: tuple[Path, ...], summary: str = "") -> None:
        """Show what a plan would do."""
        changes = planned.changes.changes
        self._changes = changes
        notes = count(len(changes), "note changes", "notes change")
        self.summary.setText(summary or tr("{notes}.", notes=notes))
        self.files.clear()
        for change in changes:
            item = QListWidgetItem(shown_name(change.place, folders), self.files)
            item.setToolTip(self._tip(change, folders))
        self.split.setVisible(bool(changes))
        self.set_remarks(planned.remarks)
        if changes:
            self.files.setCurrentRow(0)

    def set_remarks(self, remarks: Sequence[str]) -> None:
        """Say these sentences below."""
        self.remarks.setPlainText("\n".join(remarks))
        self.remarks.setVisible(bool(remarks))

    def _tip(self, change: NoteChange, folders: tuple[Path, ...]) -> str:
        name = shown_name(change.path, folders)
        if change.before is None:
            return tr("{name} is made", name=name)
        if change.after is None:
            return tr("{name} goes to the trash", name=name)
        if change.place != change.path:
            return tr("{name} becomes {new}", name=name, new=shown_name(change.place, folders))
        return name

    def _show_file(self, row: int) -> None:
        self._lines = ()
        words: list[str] = []
        if 0 <= row < len(self._changes):
            change = self._changes[row]
            self._lines = difference(change)[:MOST_LINES]
            words = [f"{line.kind.value} {line.text}" for line in self._lines]
            if not words:
                words = [tr("The text stays as it is; only the file's name or folder changes.")]
        self.text.setPlainText("\n".join(words))
        self._paint()

    def _paint(self) -> None:
        marks: list[QTextEdit.ExtraSelection] = []
        block = self.text.document().firstBlock()
        for line in self._lines:
            tone = _TONES.get(line.kind)
            if tone is not None and block.isValid():
                marks.append(_mark(QTextCursor(block), self._theme.color(tone)))
            block = block.next()
        self.text.setExtraSelections(marks)


def _mark(cursor: QTextCursor, colour: QColor) -> QTextEdit.ExtraSelection:
    selection = QTextEdit.ExtraSelection()
    form = QTextCharFormat()
    form.setBackground(colour)
    form.setProperty(QTextFormat.Property.FullWidthSelection, True)
    selection.cursor = cursor
    selection.format = form
    return selection
