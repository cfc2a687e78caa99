"""One memory: its text and tags to write, its pin, and where it came from."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from lorestudio.systems.facts.picture import MemoryRow, Provenance
from lorestudio.systems.facts.records import Memory
from lorestudio.ui.features.facts.origins import HistoryPage
from lorestudio.ui.features.facts.table import day_words
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import count, tr
from lorestudio.ui.widgets.text_field import RecapText


class MemoryDetail(QTabWidget):
    """`written` carries a memory and another text for it, `tagged` a memory and its tags, `pinned` and whether it is.

    `past_wanted` asks for where the memory came from; `left` follows Escape.
    """

    written = Signal(object, str)
    tagged = Signal(object, list)
    pinned = Signal(object, bool)
    deleted = Signal()
    past_wanted = Signal(object)
    left = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._row: MemoryRow | None = None
        self._asked: MemoryRow | None = None
        self.setDocumentMode(True)
        self.setAccessibleName(tr("The chosen memory"))
        self.text = RecapText(tr("Text of the memory"), self, tip=tr("Keep the text and make its vector (Ctrl+Enter)"))
        self.tags = QLineEdit(self)
        self.tags.setPlaceholderText(tr("no tags"))
        self.tags.setAccessibleName(tr("Tags of the memory, with commas between"))
        self.tags.setToolTip(tr("Tags, with commas between; Enter keeps them"))
        self.pin = QCheckBox(tr("Pinned"), self)
        self.pin.setToolTip(tr("Pinned memories go into every prompt (P)"))
        self.delete = QPushButton(tr("Delete"), self)
        self.delete.setProperty("kind", "small")
        self.delete.setToolTip(tr("Delete the memory; it can be taken back (Del)"))
        self.words = QLabel(self)
        self.words.setProperty("kind", "small")
        self.words.setWordWrap(True)
        self.history = HistoryPage(theme, self)
        self.addTab(self._make_text_page(), tr("Text"))
        self.addTab(self.history, tr("Where it came from"))
        self.text.written.connect(self._write)
        self.text.left.connect(self.left)
        self.tags.editingFinished.connect(self._tag)
        self.pin.clicked.connect(self._pin)
        self.delete.clicked.connect(self.deleted)
        self.currentChanged.connect(lambda _tab: self._ask())
        self.show_row(None, in_run=False)

    def _make_text_page(self) -> QWidget:
        page = QWidget(self)
        column = QVBoxLayout(page)
        column.setContentsMargins(8, 6, 8, 6)
        column.setSpacing(4)
        column.addWidget(self.text, 1)
        line = QHBoxLayout()
        line.setSpacing(6)
        label = QLabel(tr("Tags"), page)
        label.setBuddy(self.tags)
        line.addWidget(label)
        line.addWidget(self.tags, 1)
        line.addWidget(self.pin)
        line.addWidget(self.delete)
        column.addLayout(line)
        column.addWidget(self.words)
        return page

    @property
    def row(self) -> MemoryRow | None:
        """The memory that is shown."""
        return self._row

    def show_row(self, row: MemoryRow | None, *, in_run: bool) -> None:
        """Show another memory, or the same one as it is now."""
        self._row = row
        memory = row.memory if row is not None else None
        self.history.show_memory(memory, own=row is not None and row.own, in_run=in_run)
        if memory is None or row is None:
            self._asked = None
            self.text.show_text(None, "", editable=False, placeholder=tr("Choose a memory to read and to write it."))
        else:
            self.text.show_text(memory.id, memory.content, editable=True)
        tags = ", ".join(memory.tag_names) if memory is not None else ""
        if not self.tags.hasFocus() or not self.tags.isModified():
            self.tags.setText(tags)
            self.tags.setModified(False)
        for widget in (self.tags, self.pin, self.delete):
            widget.setEnabled(memory is not None)
        self.pin.setChecked(memory is not None and bool(memory.pinned))
        self.words.setText(" ".join(_sentences(row)) if row is not None else "")
        self.words.setVisible(row is not None)
        self._ask()

    def show_past(self, past: Provenance) -> None:
        """Show where a memory came from, unless another one is looked at by now."""
        if self._row is not None and past.memory.id == self._row.id:
            self.history.show_past(past)

    def show_origin(self) -> None:
        """Turn to where it came from."""
        self.setCurrentWidget(self.history)

    def edit(self) -> None:
        """Give the keyboard to the text."""
        self.setCurrentIndex(0)
        self.text.lines.setFocus()

    def _ask(self) -> None:
        if self.currentWidget() is not self.history or self._row is self._asked:
            return
        same = self._asked is not None and self._row is not None and self._asked.id == self._row.id
        self._asked = self._row
        if self._row is None:
            self.history.show_past(None)
            return
        if not same:
            self.history.show_past(None, loading=True)
        self.past_wanted.emit(self._row.memory)

    def _write(self, _key: object, text: str) -> None:
        if self._row is not None:
            self.written.emit(self._row.memory, text)

    def _pin(self, on: bool) -> None:
        if self._row is not None:
            self.pinned.emit(self._row.memory, on)

    def _tag(self) -> None:
        if self._row is None or not self.tags.isModified():
            return
        self.tags.setModified(False)
        tags = list(dict.fromkeys(tag.strip() for tag in self.tags.text().split(",") if tag.strip()))
        if tags != list(self._row.memory.tag_names):
            self.tagged.emit(self._row.memory, tags)


def _sentences(row: MemoryRow) -> list[str]:
    memory: Memory = row.memory
    told = [tr("Somebody said it.") if memory.source == "confirmed" else tr("It was inferred.")]
    if memory.created_at is not None:
        told.append(tr("Of {day}.", day=day_words(memory.created_at)))
    if memory.retrieval_count:
        last = day_words(memory.last_retrieved_at)
        uses = count(memory.retrieval_count, "time", "times")
        told.append(tr("Used {uses}, last on {day}.", uses=uses, day=last) if last else tr("Used {uses}.", uses=uses))
    if row.stale:
        told.append(tr("Its vector is stale: another model made it, or none. It takes no part in searches."))
    return told
