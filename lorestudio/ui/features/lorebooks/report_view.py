"""What becomes of every field and entry, looked at before anything is written: two tables and what else is said."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Final

from msgspec import Struct
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QDialog, QWidget

from lorestudio.domain.lifecycle import Cancelled, CancelToken
from lorestudio.exchange.lorebooks.report import EntryFate, Fidelity, LoreReport, told_once
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import number, shorten, tr
from lorestudio.ui.widgets.bars import MessageBar
from lorestudio.ui.widgets.cells import FIT, Column
from lorestudio.ui.widgets.check_table import CheckList
from lorestudio.ui.widgets.layouts import Item, button, column, label, resize_for_letters, row, split
from lorestudio.ui.widgets.record_table import RecordTable, RecordView
from lorestudio.ui.widgets.work_pane import ProgressStrip

_EVERY: Final = 20
"""Every so many entries or files it is said how far work is."""
_PATIENCE: Final = 0.3
"""Seconds before it is shown."""
_WORDS: Final = {
    Fidelity.EXACT: "exact",
    Fidelity.APPROXIMATE: "approximate",
    Fidelity.CARRIED: "carried along",
    Fidelity.LOST: "lost",
}


class FateRow(Struct, frozen=True):
    """What becomes of a field in some entries."""

    field: str
    becomes: str
    entries: int
    how: str


class EntryRow(Struct, frozen=True):
    """An entry, where it goes, and what is to be known of it. `key` names it for programs."""

    key: tuple[str, str]
    title: str
    place: str
    said: str
    going: bool = True


def said_of(fate: EntryFate) -> str:
    """What is to be known of an entry in one line: why it stays out, else what is not exact."""
    apart = (f"{one.field}: {tr(_WORDS[one.fate])}" for one in fate.fields if one.fate is not Fidelity.EXACT)
    return fate.left_out or ", ".join(dict.fromkeys(apart))


class LoreDialog(QDialog):
    """Shows reports; `ok` is to be pressed once they were read. Subclasses put their fields above.

    `progressed` carries how many of how many entries or files are done.
    """

    progressed = Signal(int, int)

    def __init__(self, theme: Theme, title: str, ok: str, heads: tuple[str, str], parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.theme = theme
        self.bar = MessageBar(theme, self)
        self.bar.closed.connect(self.bar.hide)
        fields = (
            Column(tr("Field"), attrgetter("field"), width=FIT),
            Column(tr("Becomes"), attrgetter("becomes"), width=FIT),
            Column(tr("Entries"), lambda one: number(one.entries), width=FIT, sort=attrgetter("entries")),
            Column(tr("How"), attrgetter("how")),
        )
        self.fields = RecordTable(
            fields, key=lambda one: (one.field, one.becomes, one.how), tip=lambda one, _column: one.how, parent=self
        )
        columns = (
            Column(heads[0], attrgetter("title")),
            Column(heads[1], attrgetter("place")),
            Column(tr("What is known of it"), attrgetter("said")),
        )
        self.entries = RecordTable(
            columns, key=attrgetter("key"), checkable=True, tip=lambda one, _column: one.said or one.place, parent=self
        )
        self.list = CheckList(theme, self.entries, tr("Entries"), self)
        self.view = RecordView(theme, self.fields, tr("What becomes of the fields"), self)
        self.lossy = QCheckBox(tr("Go ahead although something is lost"), self)
        self.lossy.toggled.connect(lambda _on: self.settle())
        self.lossy.hide()
        self.state = label(self, "", "small")
        self.strip = ProgressStrip(self)
        self.strip.cancelled.connect(self._stop)
        self.progressed.connect(self._show_progress)
        self._token, self._since = CancelToken(), 0.0
        self.ok = button(self, ok, self.go, kind="primary")
        self.ok.setEnabled(False)
        self.ready = False

    def arrange(self, *above: Item) -> None:
        """Put everything in its place, with the fields of the dialog above."""
        ends = row((self.state, 1), self.lossy, self.ok, button(self, tr("Cancel"), self.reject))
        parts = split(self.view, self.list, sizes=(160, 220))
        column(self.bar, *above, (parts, 1), self.strip, ends, of=self, spacing=8)
        resize_for_letters(self, 1060, 700)

    def go(self) -> None:
        """Do it."""
        raise NotImplementedError

    def done(self, result: int) -> None:
        """Qt: what is under way stops."""
        self._token.cancel()
        super().done(result)

    def watched(self, text: str) -> Callable[[int, int], None]:
        """What work in another thread tells how far it is; it stops where the person wants it to."""
        self._token.cancel()
        token = self._token = CancelToken()
        self._since = time.monotonic()
        self.strip.start(text, stoppable=True, told=f"{text} {tr('{done} of {total}')}")
        self.strip.finish()

        def report(done: int, total: int) -> None:
            if token.cancelled:
                raise Cancelled(tr("Stopped. Nothing was changed."))
            if done % _EVERY == 0 or done == total:
                self.progressed.emit(done, total)

        return report

    def _show_progress(self, done: int, total: int) -> None:
        if not self._token.cancelled:
            self.strip.setVisible(done < total and time.monotonic() - self._since >= _PATIENCE)
            self.strip.set_progress(done, total)

    def _stop(self) -> None:
        self._token.cancel()
        self.strip.stopping()

    def show_reports(self, reports: Sequence[LoreReport], rows: Sequence[EntryRow]) -> None:
        """Show what was found out; every entry that goes along is ticked."""
        self.strip.finish()
        counts = [one for report in reports for one in report.counts()]
        self.fields.set_rows([FateRow(one.field, tr(_WORDS[one.fate]), one.entries, one.how) for one in counts])
        self.entries.set_rows(rows)
        self.entries.choose([one.key for one in rows if one.going])
        remarks = told_once(remark for report in reports for remark in report.remarks)
        if remarks:
            self.bar.say(shorten(" ".join(remarks), 300), "neutral", details="\n".join(remarks))
        else:
            self.bar.hide()
        self.lossy.setVisible(any(report.loses for report in reports))
        self.ready = True
        self.settle()

    def refuse(self, sentence: str) -> None:
        """Say why there is nothing to do."""
        self.strip.finish()
        self.fields.set_rows(())
        self.entries.set_rows(())
        self.lossy.hide()
        self.ready = False
        self.bar.say(sentence, "error")
        self.settle()

    def settle(self) -> None:
        """Let it be done only where there is something to do and what is lost was agreed to."""
        self.ok.setEnabled(self.ready and (self.lossy.isHidden() or self.lossy.isChecked()))
