"""The Author's Notebook and the AI Notepad of a chat: their text, how long it is, and where it goes."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from lorestudio.domain.javascript import length, trim
from lorestudio.settings import DeepLoreSettings
from lorestudio.studio.controls import NOTEPAD_LIMIT, Part
from lorestudio.studio.project import Project
from lorestudio.trace.wording import place
from lorestudio.ui.words import count, number, sentence_case, tr

COUNT_MS: Final = 200
"""Tokens are counted after a pause in typing."""


class ChatTextDialog(QDialog):
    """`saved` carries the text and whether it is to go into prompts; it follows only where one of the two changed."""

    saved = Signal(str, bool)

    def __init__(self, project: Project, part: Part, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._notebook = part is Part.NOTEBOOK
        self._counter = project.counter
        settings, controls = project.settings, project.controls
        self._before = controls.notebook if self._notebook else controls.notepad
        self._on_before = settings.notebook_enabled if self._notebook else settings.ai_notepad_enabled
        name = tr("Author's Notebook") if self._notebook else tr("AI Notepad")
        self.setWindowTitle(name)
        column = QVBoxLayout(self)
        column.setSpacing(8)
        intro = QLabel(_intro(self._notebook), self)
        intro.setWordWrap(True)
        column.addWidget(intro)
        self.text = QPlainTextEdit(self)
        self.text.setPlainText(self._before)
        self.text.setTabChangesFocus(True)
        self.text.setAccessibleName(name)
        self.text.setObjectName("Diff")  # with an edge
        self.text.setPlaceholderText(tr("Nothing goes into the prompt while this is empty."))
        column.addWidget(self.text, 1)
        self.amount = QLabel(self)
        self.amount.setProperty("kind", "small")
        self.amount.setWordWrap(True)
        column.addWidget(self.amount)
        self.on = QCheckBox(tr("Put it into every prompt (setting “{name}”)", name=_setting(settings, part)), self)
        self.on.setChecked(self._on_before)
        column.addWidget(self.on)
        self.where = QLabel(_where(settings, part), self)
        self.where.setProperty("kind", "small")
        self.where.setWordWrap(True)
        column.addWidget(self.where)
        column.addLayout(self._make_buttons())
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(COUNT_MS)
        self._pause.timeout.connect(self._show_amount)
        self.text.textChanged.connect(self._pause.start)
        self.on.toggled.connect(lambda _on: self._show_amount())
        self.finished.connect(lambda _result: self._pause.stop())
        self._show_amount()
        self.resize(560, 420)
        self.text.setFocus()

    def _make_buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        self.clear = QPushButton(tr("Empty it"), self)
        self.clear.setAutoDefault(False)
        self.clear.clicked.connect(self._empty)
        row.addWidget(self.clear)
        row.addStretch(1)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, self)
        self.take = QPushButton(tr("Take over"), self)
        self.take.setProperty("kind", "primary")
        buttons.addButton(self.take, QDialogButtonBox.ButtonRole.AcceptRole)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        row.addWidget(buttons)
        return row

    def accept(self) -> None:
        """Qt: hand the text over and close."""
        text, on = self.text.toPlainText(), self.on.isChecked()
        if (text, on) != (self._before, self._on_before):
            self.saved.emit(text, on)
        super().accept()

    def _empty(self) -> None:
        self.text.selectAll()
        self.text.insertPlainText("")  # so that Ctrl+Z brings it back
        self.text.setFocus()

    def _show_amount(self) -> None:
        text = self.text.toPlainText()
        tokens = count(self._counter.count(text), "token", "tokens")
        words = tokens if self._counter.exact else tr("≈ {tokens}", tokens=tokens)
        words = tr("{tokens}, {characters}", tokens=words, characters=count(len(text), "character", "characters"))
        words = tr("{amount}. No budget counts them.", amount=words)
        if text and not trim(text):
            words = tr("Only blanks: nothing goes into the prompt.")
        elif not self.on.isChecked() and text:
            words = tr("{amount} The setting is off, so this goes into no prompt.", amount=words)
        if not self._notebook and length(text) > NOTEPAD_LIMIT:
            words = tr(
                "{amount} DeepLore keeps {limit} characters and drops the oldest.",
                amount=words,
                limit=number(NOTEPAD_LIMIT),
            )
        self.amount.setText(words)
        self.clear.setEnabled(bool(text))


def _intro(notebook: bool) -> str:
    if notebook:
        return tr("Your own text for this chat. It goes into every prompt as it is, beside the lore.")
    return tr(
        "What the writing model has noted for itself in this chat. Notes of later replies are left out where an "
        "earlier one is run."
    )


def _setting(settings: DeepLoreSettings, part: Part) -> str:
    name = "notebook_enabled" if part is Part.NOTEBOOK else "ai_notepad_enabled"
    return type(settings).model_fields[name].title or name


def _where(settings: DeepLoreSettings, part: Part) -> str:
    """The settings that matter, in words."""
    if part is Part.NOTEBOOK:
        at = place(settings.notebook_position, settings.notebook_depth, settings.notebook_role)
        return tr("{place}. Position, depth and role are settings of the notebook.", place=sentence_case(at))
    at = place(settings.ai_notepad_position, settings.ai_notepad_depth, settings.ai_notepad_role)
    how = (
        tr("The model writes notes at the end of its reply, and is told so in every prompt.")
        if settings.ai_notepad_mode == "tag"
        else tr("A second request takes notes from each finished reply.")
    )
    return tr("{place}. {how} These are settings of the notepad.", place=sentence_case(at), how=how)
