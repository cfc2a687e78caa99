"""The pane of all comparisons, and its page of two runs: what differs, and which setting, note or message did it.

Its other page has the whole chat by several systems.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from msgspec import Struct
from PySide6.QtCore import QModelIndex, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHeaderView, QTabWidget, QWidget

from lorestudio.domain.lifecycle import Progress
from lorestudio.studio.compare.causes import Causes, RunSide, can_find, compared, find_causes
from lorestudio.studio.compare.text import comparison_markdown
from lorestudio.trace.diff import TraceDiff
from lorestudio.trace.wording import signed_words
from lorestudio.ui.features.compare.runs import (
    ChangeRow,
    ComparableRuns,
    SideChoice,
    change_columns,
    change_rows,
    spoken_change,
)
from lorestudio.ui.features.timeline.tables import Names
from lorestudio.ui.shell.jobs import Job, Newest
from lorestudio.ui.shell.qt import later, plain
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import Notice, count, number, sentence_of, tr
from lorestudio.ui.state.selection import Selection
from lorestudio.ui.state.session import Session
from lorestudio.ui.widgets.cells import same_words
from lorestudio.ui.widgets.layouts import able, button, combo, holding, iconed, label, named, row, tight, tool
from lorestudio.ui.widgets.pane import Pane
from lorestudio.ui.widgets.tree import RecordTree, RecordTreeView

_FILE, _KEPT = "add:file", "add:kept"


class ComparedRuns(Struct, frozen=True):
    """A finished comparison, without `causes` until they are found."""

    before: RunSide
    after: RunSide
    diff: TraceDiff
    causes: Causes | None = None


_NAME: Final = 22
"""Characters of an entry's name that have room at least."""

_LEAST: Final = 12
"""Characters that every column has room for; a pane that is narrower is scrolled."""

_SIDES: Final = 60
"""A pane of so many characters has room for A and B beside each other."""

_BOTH: Final = 5
"""The column that has A and B in one."""

_ROOMY: Final = 80
"""A pane of so many characters has room for the tokens as well, which stand in A or B, too."""


class RunsPage(Pane):
    """Compares run A with run B. `jump` carries None and the id of an entry to look at."""

    jump = Signal(object, object)

    def __init__(self, theme: Theme, session: Session, selection: Selection, comparable: ComparableRuns) -> None:
        super().__init__("runs", tr("Two runs"), theme)
        self._session, self._selection = session, selection
        self.comparable = comparable
        self.compared: ComparedRuns | None = None
        self._choices: dict[str, SideChoice] = {}
        self._keys = ["before", "shown"]
        self._done: tuple[object, object] | None = None
        self._newest = Newest(session.jobs)
        self._seen = self._running = False
        self._later = later(self, self._settle, 80)
        self._build()
        self._connect()
        self._settle()

    def _head(self) -> QWidget:
        """Where the two runs are chosen."""
        self.sides = (combo(self, tr("Run A"), least=4), combo(self, tr("Run B"), least=4))
        self.swap = tool(self, tr("Exchange A and B"), self.exchange, text="⇄")
        copy = tr("Copy the comparison as Markdown")
        copied = tool(self, copy, lambda: self.wanted.emit("compare.copy"))
        self.copy_button = iconed(self.theme, copied, "copy")
        names = [label(self, letter, wrap=False) for letter in "AB"]
        for name, side in zip(names, self.sides, strict=True):
            name.setBuddy(side)
        line = row(
            names[0], (self.sides[0], 1), self.swap, names[1], (self.sides[1], 1), self.copy_button, spacing=4,
            margins=(8, 6, 8, 2),
        )  # fmt: skip
        return holding(line, self)

    def _build(self) -> None:
        head = self._head()
        headline = label(self, kind="summary", rich=True, margins=(12, 4, 12, 2))  # numbers and words of ours only
        self.headline = named(headline, tr("Tokens"))
        self.state = label(self, kind="small")
        self.stop = button(self, tr("Stop"), self._cancel)
        self._foot = holding(row((self.state, 1), self.stop, margins=(12, 2, 8, 2)), self)
        self.model = RecordTree(
            ChangeRow(()), change_columns(), theme=self.theme, spoken=spoken_change, tip=same_words,
            parent=self,
        )  # fmt: skip
        self.tree = RecordTreeView(self.theme, self.model, tr("Differences"), self)
        self.tree.setUniformRowHeights(False)
        self.tree.setWordWrap(True)  # what was different, and what it did, is said in sentences
        self.tree.setIndentation(14)
        header = self.tree.header()
        header.setStretchLastSection(False)  # it does not follow when a scroll bar comes
        header.setMinimumSectionSize(_LEAST * self.fontMetrics().averageCharWidth())
        header.setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Interactive)
        header.setSectionResizeMode(3, QHeaderView.ResizeMode.ResizeToContents)
        header.moveSection(_BOTH, 1)
        self._shown = holding(tight(self.headline, (self.tree, 1), self._foot), self)
        self.column.addWidget(head)
        self.column.addWidget(self.or_empty("columns", self._shown), 1)

    def _connect(self) -> None:
        for place, side in enumerate(self.sides):
            side.activated.connect(lambda index, at=place: self._picked(at, index))
        self.tree.pressed.connect(self._go)
        self.tree.clicked.connect(lambda index: self._go(self.model.node(index)))
        self.comparable.changed.connect(self._wait)
        self.theme.changed.connect(self._show_rows)

    # ---- what can be done -------------------------------------------------------------------------------------------

    def focus_target(self) -> QWidget:
        """The differences, or where runs are chosen."""
        return self.tree if self.pages.currentWidget() is self._shown else self.sides[0]

    def resizeEvent(self, _event: QResizeEvent) -> None:
        """Qt: names stay readable, and other columns where there is room for them."""
        letter = self.fontMetrics().averageCharWidth()
        self.tree.setColumnHidden(3, self.width() < _ROOMY * letter)
        roomy = self.width() >= _SIDES * letter
        for column, shown in ((1, roomy), (2, roomy), (_BOTH, not roomy)):
            self.tree.setColumnHidden(column, not shown)
        self.tree.setColumnWidth(0, max(_NAME * letter, round(self.width() * 0.27)))
        self.tree.scheduleDelayedItemsLayout()

    def set_seen(self, seen: bool) -> None:
        """Whether somebody sees the pane: a tab behind another one is not seen, though Qt calls it visible."""
        self._seen = seen
        if seen:
            self._settle()
            return
        self._later.stop()
        if self._running:
            self._done = None  # begun anew when somebody looks again
            self._cancel()

    def choose(self, before: str, after: str) -> None:
        """Compare these runs, by the keys of the choices of what is comparable."""
        self._keys = [before, after]
        self._settle()

    def exchange(self) -> None:
        """Exchange A and B."""
        self.choose(self._keys[1], self._keys[0])

    def markdown(self) -> str:
        """What is shown as Markdown, "" where nothing is."""
        now = self.compared
        return comparison_markdown(now.before, now.after, now.diff, now.causes) if now is not None else ""

    # ---- choosing ---------------------------------------------------------------------------------------------------

    def _wait(self) -> None:
        if self._seen:
            self._later.start()

    def _settle(self) -> None:
        """Offer what can be compared, and compare what is chosen where it is another run now."""
        self._later.stop()
        self._choices = {choice.key: choice for choice in self.comparable.choices()}
        for side, chosen in zip(self.sides, self._keys, strict=True):
            side.clear()
            for key, choice in self._choices.items():
                side.addItem(choice.title, key)
            if self._choices:
                side.insertSeparator(side.count())
                side.addItem(tr("Settings of a file…"), _FILE)
                if self._session.keep_in is not None:
                    side.addItem(tr("Runs kept by earlier starts…"), _KEPT)
            side.setCurrentIndex(side.findData(chosen))
            side.setToolTip(plain(side.currentText()))
            able(side, bool(self._choices), tr("Choose a reply first that was run."))
        before, after = (self._choices.get(key) for key in self._keys)
        if before is None or after is None:
            self._say_missing()
            return
        wanted = self._about(before), self._about(after)
        if wanted != self._done:
            self._done = wanted
            self._start(before, after)

    def _about(self, choice: SideChoice) -> object:
        """The run that is meant, or what it depends on where it has to be made first."""
        if choice.side is not None:
            return choice.side.trace
        return choice.key, self._selection.generation, id(self._session.project)

    def _say_missing(self) -> None:
        self._cancel()
        self._done = self.compared = None
        self.note_changed.emit("")
        if self._session.chat is None:
            text = tr("Open a chat; each of its replies is compared with the turn before it.")
            self.say_empty(tr("No chat open"), text, (("chat.open", tr("Open chat…")),))
        elif not self._choices:
            text = tr("Choose a reply that was run. It is compared with the turn before it.")
            self.say_empty(tr("Nothing to compare yet"), text, (("replay.all", tr("Replay all")),))
        else:
            self.say_empty(
                tr("Choose two runs"),
                tr("Choose above what is compared: turns, swipes, former runs, other settings. M marks the shown run."),
            )

    def _picked(self, place: int, index: int) -> None:
        key = self.sides[place].itemData(index)
        if key == _FILE:
            self.wanted.emit(f"compare.settings{place}")
        elif key == _KEPT:
            notice = self._session.notice.emit
            self.comparable.load_kept(lambda error: notice(Notice(sentence_of(error), "warning", key="compare")))
        elif isinstance(key, str):
            self._keys[place] = key
        self._settle()

    # ---- comparing --------------------------------------------------------------------------------------------------

    def _cancel(self) -> None:
        self._newest.cancel()
        self._running = False
        self.stop.hide()
        self.state.setText("")
        self._foot.hide()

    def _start(self, before: SideChoice, after: SideChoice) -> None:
        self._cancel()
        self._tell(tr("Comparing…"), stoppable=True)

        def reported(news: object) -> None:
            if isinstance(news, ComparedRuns):
                self._show(news)
                self._tell(tr("Trying each difference alone…"), stoppable=True)
            elif isinstance(news, tuple) and isinstance(news[1], Progress):
                what, progress = news
                done, total = number(progress.done), number(progress.total)
                self._tell(tr("{what}: {done} of {total}", what=what, done=done, total=total), stoppable=True)

        def done(found: ComparedRuns) -> None:
            self._show(found)
            self._tell(_last_words(found), stoppable=False)

        def failed(error: Exception) -> None:
            self._tell(sentence_of(error), stoppable=False)

        work = partial(compare_runs, before, after)
        self._newest.start(tr("Comparing two runs"), work, done=done, failed=failed, reported=reported)

    def _tell(self, text: str, *, stoppable: bool) -> None:
        self.state.setText(text)
        self.state.setToolTip(plain(text))
        self.stop.setVisible(stoppable)
        self._running = stoppable
        self._foot.setVisible(bool(text))

    def _show(self, found: ComparedRuns) -> None:
        self.compared = found
        before, after = found.diff.tokens
        grown = after - before
        tone = self.theme.palette.good if grown > 0 else self.theme.palette.error
        sign = f" <span style='color:{tone}'>({signed_words(grown)})</span>" if grown else ""
        text = tr("{before} → {after} tokens", before=number(before), after=number(after))
        same = tr("{same} unchanged", same=count(found.diff.unchanged, "entry", "entries"))
        none = tr("No entry went in, in either run. ")
        alike = tr("The same entries went in, in the same order. ") if found.diff.unchanged else none
        first = "" if found.diff else alike
        self.headline.setText(f"{first}{text}{sign}, {same}")
        self.note_changed.emit(f"{found.before.title} → {found.after.title}")
        self._show_rows()
        self.pages.setCurrentWidget(self._shown)

    def _show_rows(self) -> None:
        found = self.compared
        if found is None:
            return
        root = change_rows(found.diff, found.causes)
        self.model.show_root(root)
        for group in root.children:
            self.tree.setFirstColumnSpanned(group.row, QModelIndex(), True)
            self.tree.setExpanded(self.model.index_of(group), group.opened)

    def _go(self, row: ChangeRow) -> None:
        if len(self.tree.selectionModel().selectedRows()) > 1:  # several are being chosen
            return
        if row.children:
            self.tree.turn(row)
        project = self._session.project
        if isinstance(row.key, tuple) and project is not None:
            entry = Names.of(project.index).id((str(row.key[0]), str(row.key[1])))
            if entry is not None:
                self.jump.emit(None, entry)


def compare_runs(before: SideChoice, after: SideChoice, job: Job) -> ComparedRuns:
    """Make both runs where they are not there, compare them, and find out what did it. For a worker.

    Reports the comparison as soon as it is known, and `(what, Progress)` besides. Raises Cancelled.
    """
    sides = _side(before, job), _side(after, job)
    found = ComparedRuns(*sides, compared(*sides))
    job(found)
    if not found.diff or not can_find(*sides):
        return found
    words = tr("Trying each difference alone")
    return ComparedRuns(*sides, found.diff, find_causes(*sides, job.token, lambda progress: job((words, progress))))


def _side(choice: SideChoice, job: Job) -> RunSide:
    if choice.side is not None:
        return choice.side
    if choice.load is None:
        raise ValueError(tr("This run cannot be made. Choose another one."))
    return choice.load(job.token, lambda progress: job((tr("Running the chat"), progress)))


def _last_words(found: ComparedRuns) -> str:
    if not found.diff:
        return ""
    if found.causes is None:
        if found.before.trace.system != found.after.trace.system:
            return tr("Two systems decided: no single difference did it.")
        return tr("What did it cannot be found out: the inputs of one of the runs were not kept.")
    if found.causes.unexplained:
        left = count(len(found.causes.unexplained), "change was", "changes were")
        return tr("{left} not found to be any single difference's doing.", left=left)
    return tr("Found by running each difference alone: {runs}.", runs=count(found.causes.runs, "run", "runs"))


class ComparePane(Pane):
    """Its pages are panes by themselves; the title says what the one in front says."""

    def __init__(self, theme: Theme, runs: RunsPage, *others: Pane, parent: QWidget | None = None) -> None:
        super().__init__("compare", tr("Compare"), theme, parent)
        self.runs, self._seen = runs, False
        self.tabs = named(QTabWidget(self, documentMode=True), tr("Views of the comparison"))
        for page in (runs, *others):
            self.tabs.addTab(page, page.title)
            page.note_changed.connect(self._show_note)
        self.tabs.currentChanged.connect(self._turned)
        self.column.addWidget(self.tabs, 1)

    def turn_to(self, page: Pane) -> None:
        """Bring one of the pages to the front, and give it the keyboard."""
        self.tabs.setCurrentWidget(page)
        page.focus_target().setFocus()

    def focus_target(self) -> QWidget:
        """That of the page in front."""
        page = self.tabs.currentWidget()
        return page.focus_target() if isinstance(page, Pane) else self.tabs

    def set_seen(self, seen: bool) -> None:
        """Whether somebody sees the pane."""
        self._seen = seen
        self._turned()

    def _turned(self) -> None:
        self.runs.set_seen(self._seen and self.tabs.currentWidget() is self.runs)
        self._show_note()

    def _show_note(self) -> None:
        page = self.tabs.currentWidget()
        if isinstance(page, Pane) and page.last_note != self.last_note:
            self.note_changed.emit(page.last_note)
