"""A request that waits for a person: what is asked, and a field for the reply."""

from __future__ import annotations

import json
from typing import Final

from PySide6.QtWidgets import QHBoxLayout, QPushButton, QTabWidget, QWidget

from lorestudio.domain.json_text import json_or_none, parse_json
from lorestudio.studio.project.answering import DRAFT, KEYS, PREFILTER, SEARCH, SUMMARY, Question
from lorestudio.ui.shell.theme import fixed_font
from lorestudio.ui.shell.words import count, tr
from lorestudio.ui.widgets.dialogs import Dialog, confirm
from lorestudio.ui.widgets.layouts import able, button, column, holding, label, named, row, split, text_field, text_view

SKELETON = '[\n  {"title": "", "confidence": "high", "reason": ""}\n]'
"""What a selection looks like, to begin with."""

_SKELETONS: Final = {
    SEARCH: SKELETON,
    PREFILTER: SKELETON,
    KEYS: '{"suggested": ["", ""], "reasoning": ""}',
    DRAFT: '{"title": "", "keys": [""], "summary": "", "content": ""}',
}
_TITLES: Final = {
    SEARCH: "Choose entries",
    PREFILTER: "Choose categories",
    SUMMARY: "Write a summary",
    KEYS: "Propose keys",
    DRAFT: "Draft a note",
}


class QuestionDialog(Dialog):
    """Answers its question once: with the text, or with None when the person declines or closes the dialog."""

    def __init__(self, question: Question, where: str, parent: QWidget | None = None) -> None:
        super().__init__(parent, tr(_TITLES.get(question.request.kind, "Answer a question")), (760, 620))
        self.question = question
        self._settled = False
        self._plain = question.request.kind not in _SKELETONS and not question.request.json_object
        told = tr("{where}: you answer in place of the model.", where=where)
        head = label(self, told if where else tr("You answer in place of the model."), "summary")
        both = split(self._make_request(), self._make_reply(), stretch=(3, 2))
        self.problem = label(self, kind="small", wrap=False)
        column(head, (both, 1), self.problem, self._make_buttons(), of=self)
        self.reply.textChanged.connect(self._check)
        self.accepted.connect(lambda: self._settle(self.reply.toPlainText()))
        self.finished.connect(lambda _result: self._settle(None))  # declined; the pipeline takes its fallback
        self.reply.setFocus()
        self._check()

    def withdraw(self) -> None:
        """Nobody waits for the answer any more: close without giving one."""
        self._settled = True
        self.reject()

    def lost(self) -> str:
        """See `Dialog`: a reply that was begun."""
        return tr("Your reply would be lost.") if not self._settled and self.reply.toPlainText().strip() else ""

    def start_from_stand_in(self) -> None:
        """Put the stand-in's reply into the field, to be edited."""
        self.reply.setPlainText(_pretty(self.question.suggestion))
        self.reply.setFocus()

    def _settle(self, text: str | None) -> None:
        if not self._settled:
            self._settled = True
            self.question.reply(text)

    def _make_request(self) -> QWidget:
        request, tabs = self.question.request, named(QTabWidget(self, documentMode=True), tr("Parts of the question"))
        for title, text in ((tr("User message"), request.user), (tr("System message"), request.system)):
            field = text_view(self, title, fixed=True)
            field.setPlainText(text)
            tabs.addTab(field, title)
        return tabs

    def _make_reply(self) -> QWidget:
        words = tr("Your reply") if self._plain else tr("Your reply (JSON, or any text that a model might send)")
        self.reply = text_field(self, tr("Your reply"), _SKELETONS.get(self.question.request.kind, ""))
        self.reply.setFont(fixed_font(self.font().pointSizeF()))
        return holding(column(label(self, words, "small", wrap=False), (self.reply, 1), margins=(0, 6, 0, 0)))

    def _make_buttons(self) -> QHBoxLayout:
        self.suggest = button(self, tr("Start from the stand-in's reply"), self.start_from_stand_in)
        able(self.suggest, bool(self.question.suggestion), tr("The stand-in has no reply to this."))
        selects = self.question.request.kind in (SEARCH, PREFILTER)
        fallback = tr("the pipeline takes its fallback") if selects else tr("nothing comes of this question")
        tip = tr("Give no answer: {fallback} (Escape)", fallback=fallback)
        self.decline = button(self, tr("Decline"), self.reject, tip=tip)
        self.give = named(QPushButton(tr("Give this answer"), self), "", tr("Ctrl+Return"), kind="primary")
        self.give.setShortcut("Ctrl+Return")
        self.give.clicked.connect(self.accept)
        tip = tr("Ask nothing more; what was answered stays (Ctrl+.)")
        self.stop = button(self, tr("Stop asking"), self._stop_asking, tip=tip)
        self.stop.setShortcut("Ctrl+.")
        return row(self.suggest, 1, self.stop, self.decline, self.give)

    def _stop_asking(self) -> None:
        lost = self.lost()
        if lost:
            confirm(self, tr("Close without keeping it?"), lost, tr("Stop asking"), self.question.stop)
        else:
            self.question.stop()

    def _check(self) -> None:
        """Say whether the reply is JSON; a model may send anything, so other text is allowed too."""
        text = self.reply.toPlainText()
        able(self.give, bool(text.strip()), tr("Write the reply first."))
        if not text.strip():
            self.problem.setText(tr("Nothing is typed yet."))
            return
        if self._plain:
            self.problem.setText(count(len(text.strip()), "character", "characters"))
            return
        try:
            parse_json(text)
        except ValueError as error:
            self.problem.setText(tr("No valid JSON ({error}). It is read as a model's text would be.", error=error))
        else:
            self.problem.setText(tr("Valid JSON."))


def _pretty(text: str) -> str:
    """The stand-in's reply, one item a line."""
    items = json_or_none(text)
    if not isinstance(items, list) or not items:
        return text
    lines = ",\n".join(f"  {json.dumps(item, ensure_ascii=False)}" for item in items)
    return f"[\n{lines}\n]"


class Questions:
    """The dialog of the question that waits for a person: `dialog`, None where nothing is asked."""

    def __init__(self) -> None:
        self.dialog: QuestionDialog | None = None

    def ask(self, question: Question, where: str, parent: QWidget) -> None:
        """Ask it; `where` says what it is about, where that is known."""
        dialog = self.dialog = QuestionDialog(question, where, parent)
        dialog.finished.connect(lambda _result: self._closed(dialog))
        dialog.open()

    def withdraw(self, question: object) -> None:
        """Nobody waits for the answer to this question any more."""
        if self.dialog is not None and self.dialog.question is question:
            self.dialog.withdraw()

    def _closed(self, dialog: QuestionDialog) -> None:
        if self.dialog is dialog:
            self.dialog = None
