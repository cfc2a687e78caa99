"""A request that waits for a person: what is asked, and a field for the reply."""

from __future__ import annotations

import json
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QSplitter,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from lorestudio.studio.project.answering import DRAFT, KEYS, PREFILTER, SUMMARY, Question
from lorestudio.ui.shell.theme import fixed_font
from lorestudio.ui.shell.words import count, tr

SKELETON = '[\n  {"title": "", "confidence": "high", "reason": ""}\n]'
"""What a selection looks like, to begin with."""

_SKELETONS: Final = {
    KEYS: '{"suggested": ["", ""], "reasoning": ""}',
    DRAFT: '{"title": "", "keys": [""], "summary": "", "content": ""}',
    SUMMARY: "",
}
_TITLES: Final = {
    PREFILTER: "Choose categories",
    SUMMARY: "Write a summary",
    KEYS: "Propose keys",
    DRAFT: "Draft a note",
}


class QuestionDialog(QDialog):
    """Answers its question once: with the text, or with None when the person declines or closes the dialog."""

    def __init__(self, question: Question, where: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.question = question
        self._settled = False
        self.setWindowTitle(tr(_TITLES.get(question.request.kind, "Choose entries")))
        column = QVBoxLayout(self)
        head = QLabel(tr("{where}: you answer in place of the model.", where=where), self)
        head.setProperty("kind", "summary")
        head.setWordWrap(True)
        column.addWidget(head)
        split = QSplitter(Qt.Orientation.Vertical, self)
        split.addWidget(self._make_request())
        split.addWidget(self._make_reply())
        split.setStretchFactor(0, 3)
        split.setStretchFactor(1, 2)
        column.addWidget(split, 1)
        self.problem = QLabel(self)
        self.problem.setProperty("kind", "small")
        column.addWidget(self.problem)
        column.addLayout(self._make_buttons())
        self.reply.textChanged.connect(self._check)
        self.reply.setFocus()
        self._check()
        self.resize(760, 620)

    def withdraw(self) -> None:
        """Nobody waits for the answer any more: close without giving one."""
        self._settled = True
        self.reject()

    def accept(self) -> None:
        """Qt: give the reply as it stands."""
        self._settle(self.reply.toPlainText())
        super().accept()

    def reject(self) -> None:
        """Qt: decline; the pipeline goes on with its fallback."""
        self._settle(None)
        super().reject()

    def start_from_stand_in(self) -> None:
        """Put the stand-in's reply into the field, to be edited."""
        self.reply.setPlainText(_pretty(self.question.suggestion))
        self.reply.setFocus()

    def _settle(self, text: str | None) -> None:
        if not self._settled:
            self._settled = True
            self.question.reply(text)

    def _make_request(self) -> QWidget:
        tabs = QTabWidget(self)
        tabs.setDocumentMode(True)
        request = self.question.request
        for title, text in ((tr("User message"), request.user), (tr("System message"), request.system)):
            field = QPlainTextEdit(tabs)
            field.setReadOnly(True)
            field.setFont(fixed_font(self.font().pointSizeF()))
            field.setPlainText(text)
            field.setAccessibleName(title)
            tabs.addTab(field, title)
        return tabs

    def _make_reply(self) -> QWidget:
        box = QWidget(self)
        column = QVBoxLayout(box)
        column.setContentsMargins(0, 6, 0, 0)
        plain = self.question.request.kind == SUMMARY
        label = QLabel(tr("Your reply") if plain else tr("Your reply (JSON, or any text that a model might send)"), box)
        label.setProperty("kind", "small")
        self.reply = QPlainTextEdit(box)
        self.reply.setFont(fixed_font(self.font().pointSizeF()))
        self.reply.setPlaceholderText(_SKELETONS.get(self.question.request.kind, SKELETON))
        self.reply.setAccessibleName(tr("Your reply"))
        self.reply.setTabChangesFocus(True)
        column.addWidget(label)
        column.addWidget(self.reply, 1)
        return box

    def _make_buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        self.suggest = QPushButton(tr("Start from the stand-in's reply"), self)
        self.suggest.setAutoDefault(False)
        self.suggest.setEnabled(bool(self.question.suggestion))
        self.suggest.clicked.connect(self.start_from_stand_in)
        self.decline = QPushButton(tr("Decline"), self)
        self.decline.setAutoDefault(False)
        proposal = self.question.request.kind in _SKELETONS
        fallback = tr("nothing is proposed here") if proposal else tr("the pipeline takes its fallback")
        self.decline.setToolTip(tr("Give no answer: {fallback} (Escape)", fallback=fallback))
        self.decline.clicked.connect(self.reject)
        self.give = QPushButton(tr("Give this answer"), self)
        self.give.setProperty("kind", "primary")
        self.give.setShortcut("Ctrl+Return")
        self.give.setToolTip(tr("Ctrl+Return"))
        self.give.clicked.connect(self.accept)
        row.addWidget(self.suggest)
        row.addStretch(1)
        row.addWidget(self.decline)
        row.addWidget(self.give)
        return row

    def _check(self) -> None:
        """Say whether the reply is JSON; a model may send anything, so other text is allowed too."""
        text = self.reply.toPlainText()
        self.give.setEnabled(bool(text.strip()))
        if not text.strip():
            self.problem.setText(tr("Nothing is typed yet."))
            return
        if self.question.request.kind == SUMMARY:
            self.problem.setText(count(len(text.strip()), "character", "characters"))
            return
        try:
            json.loads(text)
        except ValueError as error:
            self.problem.setText(tr("No valid JSON ({error}). It is read as a model's text would be.", error=error))
        else:
            self.problem.setText(tr("Valid JSON."))


def _pretty(text: str) -> str:
    """The stand-in's reply, one item a line."""
    try:
        items = json.loads(text)
    except ValueError:
        return text
    if not isinstance(items, list) or not items:
        return text
    lines = ",\n".join(f"  {json.dumps(item, ensure_ascii=False)}" for item in items)
    return f"[\n{lines}\n]"
