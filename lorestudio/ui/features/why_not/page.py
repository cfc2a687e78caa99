"""What would bring the chosen entry in: the changes that work, what else each moves, and a button that makes it."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QApplication, QFrame, QHBoxLayout, QLabel, QLayout, QPushButton, QWidget

from lorestudio.studio.tryout.why_not import Answer, WhyNot, conclusion, further_groups, moves, place_of, standing
from lorestudio.systems.ideas import Change
from lorestudio.ui.features.why_not.search import WhyNotSearch
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import number, sentence_case, tr
from lorestudio.ui.widgets.layouts import button, column, holding, label, row, scrolled, tight
from lorestudio.ui.widgets.pane import drop_all
from lorestudio.ui.widgets.work_pane import ProgressStrip


class AnswerRow(QFrame):
    """One change: its title, where it is made and what else it moves, and the button that makes it."""

    applied = Signal()

    def __init__(self, answer: Answer, place: int, parent: QWidget) -> None:
        super().__init__(parent)
        self.answer = answer
        self.title = _label(f"{place}. {answer.change.title}", "", self)
        words = tr("{where}. {moves}", where=sentence_case(place_of(answer.change)), moves=moves(answer))
        self.note = standing(answer)
        told = [_label(text, "small", self) for text in (words, self.note) if text]
        self.button = button(
            self, tr("Apply"), self.applied, kind="primary" if place == 1 and answer.holds.applies else "",
            name=tr("Apply: {change}", change=answer.change.title), tip=tr("Make this change; it can be undone"),
        )  # fmt: skip
        self.button.setAccessibleDescription(words)
        whole = _beside(column(self.title, *told, spacing=2), self.button)
        whole.setContentsMargins(12, 4, 10, 4)
        self.setLayout(whole)


class WhyNotPage(QWidget):
    """Follows a search. `wanted` carries a change to make."""

    wanted = Signal(object)

    def __init__(self, theme: Theme, search: WhyNotSearch, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme, self._search = theme, search
        self._shown: tuple[object, ...] = ()
        self.rows: list[AnswerRow] = []
        self.first_steps: list[QPushButton] = []
        self.progress = ProgressStrip(self)
        self.progress.stop.setToolTip(tr("Stop searching; what was found stays"))
        self.progress.cancelled.connect(search.stop)
        self.summary = _label("", "summary", self)
        self.summary.setContentsMargins(12, 6, 12, 4)
        self._column = column(spacing=0, margins=(0, 0, 0, 6))
        self._list = holding(self._column)
        self.area = scrolled(self._list, tr("Changes that bring the entry in"))
        tight(self.progress, self.summary, (self.area, 1), of=self)
        self._searching = False
        search.changed.connect(self.refresh)
        self.refresh()

    def focus_first(self) -> None:
        """Give the keyboard to the first answer once the search is over, else to the page."""
        if self.rows and not self._search.running:
            self.rows[0].button.setFocus()
        else:
            self.area.setFocus()

    def refresh(self) -> None:
        """Show what is known by now."""
        search = self._search
        found, news = search.found, search.news
        if search.running:
            self.progress.start(tr("Trying changes…"), stoppable=True)
            if news is not None:
                done, total = number(news.done + 1), number(news.total)
                self.progress.bar.setRange(0, max(news.total, 1))
                self.progress.bar.setValue(news.done)
                self.progress.label.setText(tr("Change {done} of {total}", done=done, total=total))
        else:
            self.progress.finish()
        self.summary.setText(self._words(found))
        shown = (found.target, found.answers, found.further) if found is not None else ()
        if shown != self._shown:
            self._shown = shown
            self._fill(found)
        ended, self._searching = self._searching and not search.running, search.running
        if ended and found is not None and found.complete and self.area.hasFocus():
            self.focus_first()

    def _words(self, found: WhyNot | None) -> str:
        search = self._search
        if search.error:
            return tr("The search failed: {error}", error=search.error)
        if found is not None and (found.complete or search.running):
            return conclusion(found)
        if found is not None:
            return tr("{found} The search was stopped; press Y to search again.", found=conclusion(found))
        if search.running:
            return tr("Changes are tried one by one with the engine; nothing is written.")
        return search.obstacle or tr("Press Y, or the button above, to try changes with the engine.")

    def _fill(self, found: WhyNot | None) -> None:
        focused = next((place for place, row in enumerate(self.rows) if row.button.hasFocus()), None)
        keyboard = QApplication.focusWidget()
        if keyboard is not None and self._list.isAncestorOf(keyboard):
            self.area.setFocus()  # what has it goes, and Qt would choose a field of the next pane
        drop_all(self._column)
        self.rows, self.first_steps = [], []
        for place, answer in enumerate(found.answers if found is not None else (), start=1):
            made = AnswerRow(answer, place, self._list)
            made.applied.connect(partial(self.wanted.emit, answer.change))
            self._column.addWidget(made)
            self.rows.append(made)
        for sentence, changes in further_groups(found.further if found is not None else ()):
            self._column.addWidget(self._not_enough(sentence, changes))
        self._column.addStretch(1)
        if focused is not None and self.rows:
            self.rows[min(focused, len(self.rows) - 1)].button.setFocus()

    def _not_enough(self, sentence: str, changes: tuple[Change, ...]) -> QWidget:
        """Changes that are only a first step, with what is in the way after them."""
        box, lines = self._list, []
        for change in changes:
            first_step = button(
                box, tr("As a first step"), partial(self.wanted.emit, change), kind="small",
                name=tr("As a first step: {change}", change=change.title),
                tip=tr("Make this change, then search for what is in the way after it"),
            )  # fmt: skip
            self.first_steps.append(first_step)
            lines.append(_beside(_label(change.title, "small", box), first_step))
        told = _label(tr("Not enough, because then: {sentence}", sentence=sentence), "muted", box)
        return holding(column(told, *lines, spacing=2, margins=(12, 8, 10, 2)), box)


def _beside(told: QWidget | QLayout, made: QPushButton) -> QHBoxLayout:
    """What a change is, and the button that makes it in the upper corner."""
    line = row((told, 1), made, spacing=10)
    line.setAlignment(made, Qt.AlignmentFlag.AlignTop)
    return line


def _label(text: str, kind: str, parent: QWidget) -> QLabel:
    return label(parent, text, kind, selectable=True, yields=True)
