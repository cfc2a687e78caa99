"""The test bench: type or paste any text and see at once what it would trigger.

Texts run off the GUI thread, one at a time, and only the newest is told. In the text the keys that were found are
marked where they stand; the table has who goes in, then who does not, each with its key and the reason.
"""

from __future__ import annotations

import logging
from bisect import bisect_left
from collections.abc import Sequence
from operator import attrgetter
from typing import Final

from msgspec import Struct
from PySide6.QtCore import QEvent, QObject, QPoint, Signal
from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QBoxLayout, QHeaderView, QPlainTextEdit, QSizePolicy, QTextEdit, QWidget

from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.tryout.bench import Bench, BenchResult, BenchRow
from lorestudio.systems.registry import kind_of, system_of
from lorestudio.trace.summary import summary
from lorestudio.ui.shell.jobs import Job, Newest
from lorestudio.ui.shell.qt import later
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import count, number, sentence_of, tr
from lorestudio.ui.state.choices import RunChoice
from lorestudio.ui.state.selection import Selection
from lorestudio.ui.state.session import Session
from lorestudio.ui.widgets.cells import Column, Look, Marked, Words, one_line
from lorestudio.ui.widgets.layouts import COPIED, able, column, holding, label, named, one_of, row, split, tight
from lorestudio.ui.widgets.paint import fate_mark, shows_tip
from lorestudio.ui.widgets.pane import Pane
from lorestudio.ui.widgets.record_table import RecordTable, RecordView

ENTRY, KEY, WHY, TOKENS = range(4)


def key_words(row: BenchRow) -> str:
    """The keys that were found, "" for none."""
    return ", ".join(row.keys)


def why_words(row: BenchRow) -> str:
    """In a word or two: how it came in, or what stopped it."""
    return (row.how if row.injected else "") or row.label


def full_words(row: BenchRow) -> str:
    """How it came in, and what settled it, in sentences."""
    settled = row.sentence if not row.injected or not row.how_sentence or row.label == "Shortened" else ""
    return " ".join(part for part in (row.how_sentence, settled) if part)


def bench_table(parent: QObject) -> RecordTable:
    """A table of a result's rows: one line an entry, the mark of what became of it before its title."""
    columns = (
        Column("Entry", attrgetter("title"), look=_title_look,
               spoken=lambda row: tr("{title}: {state}", title=row.title, state=tr(fate_mark(row.fate).word))),
        Column("Key", key_words, width=110, look=lambda row: _look(key_words(row))),
        Column("Why", why_words, width=140, look=lambda row: _look(why_words(row))),
        Column("Tokens", lambda row: number(row.tokens), width=62, numeric=True,
               look=lambda row: _look("", Words(number(row.tokens), tone="text_muted", scale=0.93, gap=0))),
    )  # fmt: skip
    entry = attrgetter("entry")
    return RecordTable(columns, key=entry, entry=entry, tip=lambda row, _column: full_words(row), parent=parent)


def _title_look(row: BenchRow) -> Look:
    return one_line(Marked(fate_mark(row.fate), width=27), Words(row.title), ring=True, rule="bottom")


def _look(text: str, *right: Words) -> Look:
    return one_line(Words(text, tone="text_muted", scale=0.93, gap=0), right=right, margin=8, rule="bottom")


MOST_MARKS: Final = 2000
"""A text with more found keys is marked up to here."""


class BenchText(QPlainTextEdit):
    """A field for any text; `show_rows` marks the keys of a result, more strongly those of the chosen entry.

    Keys of entries that go in have a full line below, those of entries that are stopped a dotted one.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._rows: tuple[BenchRow, ...] = ()
        self._chosen: int | None = None
        self._text = ""
        self.setAccessibleName(tr("Text to test"))
        self.setTabChangesFocus(True)
        self.setObjectName("Diff")  # with an edge
        theme.changed.connect(self._mark)

    def show_rows(self, text: str, rows: Sequence[BenchRow]) -> None:
        """Mark the keys of these rows, which are about `text`; where another one stands here, nothing is marked."""
        self._text, self._rows = text, tuple(rows)
        self._mark()

    def choose(self, entry: int | None) -> None:
        """Mark the keys of this entry more strongly."""
        if entry != self._chosen:
            self._chosen = entry
            self._mark()

    def names_at(self, position: int) -> str:
        """Which keys of which entries stand at a place of the text (in Qt's count), line by line."""
        lines = []
        units = _Units(self._text)
        for shown in self._rows:
            for place in shown.places:
                start, end = units.at(place.start or 0), units.at(place.end or 0)
                if start <= position < end:
                    words = tr("“{key}” refines “{title}”") if place.refine else tr("“{key}” is a key of “{title}”")
                    lines.append(words.format(key=place.key, title=shown.title))
        return "\n".join(dict.fromkeys(lines))

    def event(self, event: QEvent) -> bool:
        """Qt: what a marked word belongs to, under the mouse."""
        return shows_tip(self, event, self._words_at) or super().event(event)

    def _words_at(self, point: QPoint) -> str:
        place = self.viewport().mapFrom(self, point)
        cursor = self.cursorForPosition(place)
        inside = self.cursorRect(cursor).adjusted(-12, 0, 12, 0).contains(place)
        return self.names_at(cursor.position()) if inside else ""

    def _mark(self) -> None:
        if self.toPlainText() != self._text:
            self.setExtraSelections([])
            return
        units = _Units(self._text)
        found: list[QTextEdit.ExtraSelection] = []
        # The chosen entry's come last, so that they lie on top.
        for shown in sorted(self._rows, key=lambda shown: (shown.entry == self._chosen, shown.injected)):
            for place in shown.places[: MOST_MARKS - len(found)]:
                cursor = QTextCursor(self.document())
                cursor.setPosition(units.at(place.start or 0))
                cursor.setPosition(units.at(place.end or 0), QTextCursor.MoveMode.KeepAnchor)
                selection = QTextEdit.ExtraSelection()
                selection.cursor = cursor
                selection.format = self._format(shown)
                found.append(selection)
        self.setExtraSelections(found)

    def _format(self, row: BenchRow) -> QTextCharFormat:
        theme, look = self._theme, QTextCharFormat()
        if row.entry == self._chosen:
            ground, ink = theme.fill("yellow")
            look.setBackground(ground)
            look.setForeground(ink)
        else:
            look.setBackground(theme.color("mark"))
            look.setForeground(theme.color("on_mark"))
        lines = QTextCharFormat.UnderlineStyle
        look.setUnderlineStyle(lines.SingleUnderline if row.injected else lines.DotLine)
        look.setUnderlineColor(look.foreground().color())
        return look


class _Units:
    """Places of a text in Qt's count, which is of UTF-16 code units."""

    def __init__(self, text: str) -> None:
        self._double = [place for place, char in enumerate(text) if char > "\uffff"]

    def at(self, place: int) -> int:
        return place + bisect_left(self._double, place)


logger = logging.getLogger(__name__)


class BenchOrder(Struct, frozen=True):
    """A text to run, and on what: `simulator` has run the project's chat, None where nothing has as is chosen."""

    project: Project
    simulator: Simulator | None
    choice: RunChoice
    text: str
    append: bool

    def bench(self) -> Bench:
        """Made for this text, and of use for all others that are run on the same. Raises InputError."""
        if self.simulator is not None:
            return Bench(self.simulator)
        project = self.choice.applied(self.project)
        return Bench(Simulator(project, system_of(project.scene(), kind_of(self.choice.system), self.choice.settings)))

    def same_bench(self, other: BenchOrder) -> bool:
        """Whether one bench serves both."""
        alike = self.project is other.project and self.simulator is other.simulator
        return alike and self.choice.effective == other.choice.effective


PAUSE_MS: Final = 150
"""A text runs once nothing was typed for so long."""

ROW: Final = 25
NARROW: Final = 430
"""In a narrower pane the table keeps to the entry, what became of it, and the tokens."""


class BenchPane(Pane):
    """Runs the text of its field, the newest only; choosing a row chooses its entry everywhere.

    `opened` follows Enter or a double click on a row.
    """

    opened = Signal()

    def __init__(self, theme: Theme, session: Session, selection: Selection, parent: QWidget | None = None) -> None:
        super().__init__("bench", tr("Bench"), theme, parent)
        self._session, self._selection = session, selection
        self.result: BenchResult | None = None
        self._newest = Newest(session.jobs)
        self._made: tuple[BenchOrder, Bench] | None = None
        self._missed = self._divided = False
        self._build()
        self._connect()
        self._show_project()

    def _build(self) -> None:
        theme = self.theme
        head = self._make_head()
        self.search_field = self.text = BenchText(theme, self)
        self.text.setPlaceholderText(
            tr("Type or paste any text: a message, a scene, a few words. What it would trigger appears below.")
        )
        self.text.setMinimumHeight(44)
        self.state = label(self, kind="small", margins=(10, 4, 10, 4))
        self.why = named(label(self, margins=(10, 4, 10, 4)), tr("Why, for the chosen row"))
        self.why.setTextInteractionFlags(COPIED)
        self.why.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        self.model = bench_table(self)
        self.table = RecordView(self.theme, self.model, tr("What the text triggers"), self, height=ROW)
        header = self.table.horizontalHeader()
        for place in (KEY, WHY):
            header.setSectionResizeMode(place, QHeaderView.ResizeMode.Interactive)
        header.setMinimumSectionSize(40)
        above = holding(tight(head, (column(self.text, margins=(8, 0, 8, 2)), 1)))
        below = holding(tight(self.state, (self.or_empty("search", self.table), 1), self.why))
        self.splitter = split(above, below, stretch=(2, 3))
        self.column.addWidget(self.splitter, 1)
        self._pause = later(self, self.run, PAUSE_MS)

    def _make_head(self) -> QBoxLayout:
        alone = tr("Text alone"), tr("A chat of this text and nothing else")
        behind = tr("After the chat"), tr("The text as the next message of the open chat")
        group = one_of(self, (alone, behind))
        self.alone, self.behind = group.button(0), group.button(1)
        self.tokens = named(label(self, kind="small", wrap=False), tr("Tokens"))
        return row(self.alone, self.behind, 1, self.tokens, spacing=4, margins=(8, 6, 8, 6))

    def _connect(self) -> None:
        session, selection = self._session, self._selection
        self.text.textChanged.connect(self._typed)
        for button in (self.alone, self.behind):
            button.clicked.connect(lambda _checked: self.run())
        self.table.picked.connect(lambda row: self._selection.choose_entry(row.entry))
        self.table.activated.connect(lambda _index: self.opened.emit())
        session.project_changed.connect(self._show_project)
        session.state_changed.connect(self._state_changed)
        session.choice_changed.connect(self._choice_changed)
        selection.entry_changed.connect(self._show_entry)

    # ---- what can be done -------------------------------------------------------------------------------------------

    def focus_target(self) -> QWidget:
        """The text."""
        return self.text

    def run(self) -> None:
        """Run the text now; what is under way is about an older one and is given up."""
        self.stop()
        self._missed = not self.isVisible()
        if self._missed:
            return
        project, text, append = self._session.project, self.text.toPlainText(), self.behind.isChecked()
        simulator = self._simulator()
        if project is None or not text.strip():
            self._show_result(None)
        elif append and simulator is None:
            waits = tr("The chat is being replayed; the result follows.")
            self.state.setText(waits if self._session.busy else tr("Replay the chat first."))
        else:
            self._test(BenchOrder(project, simulator, self._session.choice, text, append))

    def stop(self) -> None:
        """No text is wanted any more; what is under way ends at its next stage and is not told."""
        self._pause.stop()
        self._newest.cancel()

    # ---- running ----------------------------------------------------------------------------------------------------

    def _test(self, order: BenchOrder) -> None:
        def work(job: Job) -> BenchResult:
            made = self._made
            bench = made[1] if made is not None and made[0].same_bench(order) else order.bench()
            self._made = order, bench
            return bench.test(order.text, append=order.append, cancel=job.token)

        self._newest.start(tr("Testing the text"), work, done=self._show_result, failed=self._show_failure)

    def _simulator(self) -> Simulator | None:
        """What ran the whole chat as is chosen now, None where nothing has."""
        session = self._session
        last = session.generations[-1] if session.generations else None
        return session.runs.simulator(last)

    def _typed(self) -> None:
        self._newest.cancel()
        self._pause.start()

    def _choice_changed(self) -> None:
        """What stands there was decided in another way than is chosen now."""
        self._newest.cancel()
        if self.behind.isChecked():
            self.result = None  # it stays in sight until the chat was run again
        self._pause.start()

    def _state_changed(self) -> None:
        """A replay that ended may be what a text waits for."""
        if not self._session.busy and self.behind.isChecked() and self.result is None and self.isVisible():
            self._pause.start()

    def _show_project(self) -> None:
        project = self._session.project
        has_chat = self._session.chat is not None
        able(self.behind, has_chat, tr("Open a chat or begin a new one first."))
        if not has_chat:
            self.alone.setChecked(True)
        able(self.text, project is not None, tr("Open a vault, a lorebook or the demo first."))
        if not self._session.renewed:
            self._made = None  # the bench of another project is of no use
            self._show_result(None)
        elif self.behind.isChecked():
            self.result = None  # what stands there is from before; it stays in sight until the chat was run again
        self.run()

    # ---- showing ----------------------------------------------------------------------------------------------------

    def _show_result(self, result: BenchResult | None) -> None:
        self.result = result
        self.model.set_rows(result.rows if result is not None else ())
        self.text.show_rows(result.text if result is not None else "", result.rows if result is not None else ())
        if result is None:
            self.tokens.clear()
            self.state.clear()
            self.note_changed.emit("")
            self._say_nothing()
        else:
            total = count(result.trace.total_tokens, "token", "tokens")
            exact = self._session.project is not None and self._session.project.counter.exact
            self.tokens.setText(total if exact else tr("≈ {tokens}", tokens=total))
            self.state.setText(" ".join((summary(result.trace), *result.remarks)))
            inside, out = len(result.injected), len(result.stopped)
            self.note_changed.emit(tr("{inside} in, {out} stopped", inside=number(inside), out=number(out)))
            if not result.rows:
                self._say_untriggered()
            self.pages.setCurrentWidget(self.table if result.rows else self.empty)
        self._size_columns()
        self._show_entry()

    def _say_untriggered(self) -> None:
        choice = self._session.choice
        text = tr(
            "No key of any entry is in this text, and nothing comes in by itself. Use a word that is a key "
            "of one, or add such a word to an entry's keys."
        )
        if kind_of(choice.system).remembers:
            text = tr("{system} goes by what was kept of chats, and there is nothing for this text.")
            text = text.format(system=choice.title)
        self.empty.say(tr("Nothing is triggered"), text)

    def _say_nothing(self) -> None:
        if self._session.project is None:
            self.empty.say(tr("No vault"), tr("Open the folder with your notes first; texts are tested against it."))
        else:
            choice = self._session.choice
            text = tr("The same engine runs it as a chat would: keys, gates, budget and all. No provider is asked.")
            if not choice.is_main:
                text = tr("{system} decides as it does in the chat. No provider is asked.", system=choice.title)
            self.empty.say(tr("Test a text"), text)
        self.pages.setCurrentWidget(self.empty)

    def _show_failure(self, error: Exception) -> None:
        logger.error("the text could not be tested: %s", error, exc_info=error)
        self._show_result(None)
        self.state.setText(sentence_of(error))

    def _show_entry(self) -> None:
        entry = self._selection.entry
        self.table.choose(entry)
        found = self.model.row(self.model.place_of(entry))
        self.text.choose(entry if found is not None else None)
        self.why.setText(f"{found.title}: {full_words(found)}" if found is not None else "")
        self.why.setVisible(found is not None)

    def _size_columns(self) -> None:
        narrow = self.width() < NARROW
        self.table.setColumnHidden(KEY, narrow)
        room = max(self.width(), 200)
        self.table.setColumnWidth(KEY, round(room * 0.22))
        self.table.setColumnWidth(WHY, round(room * (0.38 if narrow else 0.28)))
        self.table.setColumnWidth(TOKENS, 62)

    def resizeEvent(self, _event: QResizeEvent) -> None:
        """Qt: a narrow pane has no room for the keys, which are marked in the text and named below."""
        self._size_columns()

    def showEvent(self, event: QShowEvent) -> None:
        """Qt: what happened while nobody looked."""
        super().showEvent(event)
        if not self._divided:
            self._divided = True
            self.splitter.setSizes([round(self.height() * 0.33), round(self.height() * 0.67)])
        if self._missed:
            self._pause.start()

    def hideEvent(self, event: QHideEvent) -> None:
        """Qt: nobody looks any more."""
        super().hideEvent(event)
        self._missed = self._missed or self._pause.isActive()
        self._pause.stop()
