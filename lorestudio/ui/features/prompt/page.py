"""The prompt of one generation as the model gets it: messages in order and role, parts coloured by origin."""

from __future__ import annotations

import logging
from functools import partial
from typing import Final

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QHBoxLayout,
    QListView,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from lorestudio.domain.chat import Chat
from lorestudio.domain.tokens import CHARS_4, TokenCounter
from lorestudio.studio.prompt.assembly import assemble
from lorestudio.studio.prompt.setup import PromptSetup
from lorestudio.trace.assembled_prompt import AssembledPrompt, prompt_as_markdown, prompt_as_text
from lorestudio.trace.model import Trace
from lorestudio.ui.features.prompt.rows import PromptList, PromptRow, prompt_rows
from lorestudio.ui.shell.jobs import Jobs
from lorestudio.ui.shell.qt import ITEM
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import count, number, sentence_of, tr
from lorestudio.ui.widgets.cells import CellDelegate
from lorestudio.ui.widgets.pane import ElidedLabel, EmptyState, FoldingRow

logger = logging.getLogger(__name__)

WHOLE, LORE = 0, 1
"""What is shown: the whole prompt, or the lore in it."""

_PARTS: Final = ((WHOLE, "Whole prompt"), (LORE, "Lore only"))


class _PartsView(QListView):
    """Enter goes to what the part comes from, X or the space bar shows all of its text."""

    opened = Signal(QModelIndex)
    folded = Signal(int)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: the keys above."""
        if event.key() in {Qt.Key.Key_X, Qt.Key.Key_Space}:
            self.folded.emit(self.currentIndex().row())
        elif event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            self.opened.emit(self.currentIndex())
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: another width breaks the lines anew."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.scheduleDelayedItemsLayout()


class PromptPage(QWidget):
    """`entry_chosen` carries the entry of a chosen part, `message_chosen` the message of a part of the chat."""

    entry_chosen = Signal(int)
    message_chosen = Signal(int)
    copied = Signal(str)

    def __init__(self, theme: Theme, jobs: Jobs, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._jobs = theme, jobs
        self._trace: Trace | None = None
        self.prompt: AssembledPrompt | None = None
        self._entry: int | None = None
        self._asked = 0
        self._following = False
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._make_bar())
        self.model = PromptList(self)
        self.view = _PartsView(self)
        self.view.setModel(self.model)
        self.view.setItemDelegate(CellDelegate(theme, self.view, width=100))
        self.view.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.view.setAccessibleName(tr("Prompt, in the order that the model reads"))
        self.view.selectionModel().currentChanged.connect(self._row_chosen)
        self.view.opened.connect(self._open)
        self.view.folded.connect(self._toggle)
        self.view.doubleClicked.connect(lambda index: self._toggle(index.row()))
        self.empty = EmptyState(theme, "entry", self)
        self._pages = QStackedWidget(self)
        self._pages.addWidget(self.view)
        self._pages.addWidget(self.empty)
        column.addWidget(self._pages, 1)
        theme.changed.connect(self._paint)
        self._paint()

    def set_trace(
        self, trace: Trace | None, chat: Chat | None, setup: PromptSetup | None = None, counter: TokenCounter = CHARS_4
    ) -> None:
        """Put the prompt of a run together, off the GUI thread, and show it."""
        self._trace, self.prompt = trace, None
        self._asked += 1
        asked = self._asked
        if trace is None or chat is None:
            self._show()
            return
        self.empty.say(tr("Putting the prompt together…"), "")
        self._pages.setCurrentWidget(self.empty)
        self._jobs.start(
            tr("Putting the prompt together"),
            lambda _report: assemble(trace, chat, setup, counter),
            done=partial(self._made, asked),
            failed=partial(self._failed, asked),
        )

    def choose_entry(self, entry: int | None) -> None:
        """Show where the chosen entry stands."""
        self._entry = entry
        row = self.model.place_of_entry(entry)
        self._following = True
        try:
            if row >= 0:
                self.view.setCurrentIndex(self.model.index(row, 0))
                self.view.scrollTo(self.model.index(row, 0), QListView.ScrollHint.PositionAtCenter)
            else:
                self.view.selectionModel().clear()
        finally:
            self._following = False

    def focus_target(self) -> QWidget:
        """The parts."""
        return self.view

    def copy_text(self) -> None:
        """The whole prompt as plain text, on the clipboard."""
        if self.prompt is not None:
            QGuiApplication.clipboard().setText(prompt_as_text(self.prompt))
            self.copied.emit(tr("The prompt was copied as text."))

    def copy_markdown(self) -> None:
        """The whole prompt as Markdown, on the clipboard."""
        if self.prompt is not None:
            QGuiApplication.clipboard().setText(prompt_as_markdown(self.prompt))
            self.copied.emit(tr("The prompt was copied as Markdown."))

    # ---- inside -----------------------------------------------------------------------------------------------------

    def _make_bar(self) -> QWidget:
        bar = QWidget(self)
        row = QHBoxLayout(bar)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(2)
        self._shown = QButtonGroup(self)
        for place, name in _PARTS:
            button = QToolButton(bar)
            button.setText(tr(name))
            button.setCheckable(True)
            button.setAccessibleName(tr("Show: {part}", part=tr(name)))
            self._shown.addButton(button, place)
            row.addWidget(button)
        self._shown.button(WHOLE).setChecked(True)
        self._shown.idClicked.connect(lambda _place: self._show())
        self.note = ElidedLabel(self)
        self.note.setProperty("kind", "small")
        row.addStretch(1)
        self.copy_button = QToolButton(bar)
        self.copy_button.setAccessibleName(tr("Copy the prompt"))
        self.copy_button.setToolTip(tr("Copy the prompt as text"))
        self.copy_button.clicked.connect(self.copy_text)
        row.addWidget(self.copy_button)
        folding = FoldingRow(bar, self.note, self)
        folding.set_margins(8, 4, 8, 3)
        return folding

    def _made(self, asked: int, prompt: AssembledPrompt) -> None:
        if asked == self._asked:
            self.prompt = prompt
            self._show()

    def _failed(self, asked: int, error: Exception) -> None:
        logger.error("the prompt could not be put together: %s", error, exc_info=error)
        if asked == self._asked:
            self.empty.say(tr("The prompt could not be put together"), sentence_of(error))
            self._pages.setCurrentWidget(self.empty)

    def _show(self) -> None:
        trace, prompt = self._trace, self.prompt
        rows: tuple[PromptRow, ...] = ()
        if trace is not None and prompt is not None:
            rows = prompt_rows(prompt, trace, lore_only=self._shown.checkedId() == LORE)
        self.model.set_rows(rows)
        self.note.setText(self._note(prompt))
        self.note.setToolTip(self.note.text())
        if rows:
            self._pages.setCurrentWidget(self.view)
            self.choose_entry(self._entry)
            return
        if prompt is None:
            self.empty.say(tr("No prompt"), tr("A run shows here what the model would be sent."))
        else:
            self.empty.say(tr("No lore in this prompt"), tr("Nothing was handed over in this run."))
        self._pages.setCurrentWidget(self.empty)

    def _note(self, prompt: AssembledPrompt | None) -> str:
        if prompt is None:
            return ""
        size = count(prompt.tokens, "token", "tokens")
        text = size if prompt.exact else f"≈ {size}"
        by_origin = [f"{tr(origin.value)} {number(tokens)}" for origin, tokens in prompt.tokens_by_origin.items()]
        if prompt.room is not None:
            text += tr(" of {room}", room=number(prompt.room))
        return f"{text}: {', '.join(by_origin)}" if by_origin else text

    def _row_chosen(self, current: QModelIndex, _previous: QModelIndex) -> None:
        row = current.data(ITEM)
        if isinstance(row, PromptRow) and row.entry is not None and not self._following:
            self._entry = row.entry
            self.entry_chosen.emit(row.entry)

    def _open(self, index: QModelIndex) -> None:
        row = index.data(ITEM)
        if isinstance(row, PromptRow) and row.entry is None and row.message is not None:
            self.message_chosen.emit(row.message)
        elif isinstance(row, PromptRow):
            self._toggle(index.row())

    def _toggle(self, row: int) -> None:
        self.model.toggle(row)
        self.view.scheduleDelayedItemsLayout()

    def _paint(self) -> None:
        self.copy_button.setIcon(self._theme.icon("copy"))
        self.view.viewport().update()
