"""Proposals for notes: a table, what would change in the chosen one, and the decision."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Final

from PySide6.QtCore import QItemSelectionModel, QModelIndex, Signal
from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QSizePolicy, QWidget

from lorestudio.domain.texts import shorten
from lorestudio.studio.notes.changes.change_set import ChangeSet
from lorestudio.studio.project.answering import AnswerKind, Source
from lorestudio.studio.project.project import Project
from lorestudio.studio.proposals.model import ProposalKind
from lorestudio.ui.features.proposals.detail import ProposalDetail, proposal_table
from lorestudio.ui.features.proposals.worker import ProposalWish, Proposing, Row, RowState, Tools
from lorestudio.ui.features.providers.question_dialog import Questions
from lorestudio.ui.shell.qt import later
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import count, tr
from lorestudio.ui.state.choices import SOURCE_ICONS, source_help, source_title, sources
from lorestudio.ui.state.session import Session
from lorestudio.ui.widgets.dialogs import Dialog
from lorestudio.ui.widgets.layouts import (
    ProgressBar,
    able,
    button,
    column,
    combo,
    label,
    menu_of,
    named,
    row,
    split,
    tool,
)
from lorestudio.ui.widgets.pane import MessageBar
from lorestudio.ui.widgets.record_table import RecordView

LONGEST_SOURCE: Final = 32
_MODES: Final = {"keyword": "Keys alone decide: precise words", "two-stage": "Before AI selection: broader words"}
AGAIN: Final = "again"
"""The choice for summaries: also for notes that have one."""


class ProposalsDialog(Dialog):
    """Makes, shows and writes proposals. `applied` carries every change set that was written, also one undone."""

    applied = Signal(object)  # ChangeSet

    def __init__(
        self,
        session: Session,
        project: Project,
        wish: ProposalWish,
        tools: Tools,
        theme: Theme,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent, wish.title, (1000, 620))
        self._session, self._theme = session, theme
        self.work = Proposing(session, project, wish, tools, self)
        self._questions = Questions()
        self.model = proposal_table(theme, self)
        head, status = self._make_head(project), self._make_status()
        self.bar = MessageBar(theme, self)
        self.bar.pressed.connect(self._bar_pressed)
        self.table = RecordView(theme, self.model, tr("Proposals"), self, height=26)
        self.table.setMinimumWidth(300)
        self.table.selectionModel().currentRowChanged.connect(self._chosen)
        self.detail = ProposalDetail(theme, wish.kind, self)
        both = split(self.table, self.detail, across=True, sizes=(400, 600), stretch=(2, 3))
        column(head, status, self.bar, (both, 1), self._make_foot(), of=self, spacing=6)
        self._connect()
        self._fill_sources()
        self._update()
        self.work.prepare()

    def _make_head(self, project: Project) -> QHBoxLayout:
        self.source = tool(self, "", kind="text", beside=True)
        menu_of(self.source, tips=True)
        self._sources = QActionGroup(self)
        self.again = QCheckBox(tr("Also notes that have a summary"), self)
        self.again.setVisible(self.work.wish.kind is ProposalKind.SUMMARY)
        self.again.toggled.connect(lambda on: self.work.prepare(choice=AGAIN if on else ""))
        self.mode = combo(self, tr("What the keys are for"), {value: tr(title) for value, title in _MODES.items()})
        self.mode.setCurrentIndex(max(0, self.mode.findData(project.settings.optimize_keys_mode)))
        self.mode.setVisible(self.work.wish.kind is ProposalKind.KEYS and not project.of_books)
        self.mode.activated.connect(lambda _index: self._mode_chosen())
        self.begin = button(self, "", lambda _checked: self._ask(), kind="primary")
        self.stop = button(self, tr("Stop"), self._stop, tip=tr("Stop asking; what was answered stays (Ctrl+.)"))
        self.stop.setShortcut("Ctrl+.")
        return row(self.source, self.again, self.mode, 1, self.begin, self.stop)

    def _make_status(self) -> QHBoxLayout:
        self.status = label(self, kind="small")
        self.status.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.progress = named(ProgressBar(self), tr("Progress"))
        self.progress.setFixedWidth(180)
        return row((self.status, 1), self.progress)

    def _make_foot(self) -> QHBoxLayout:
        self.sum = label(self, kind="small", wrap=False)
        self.all = button(self, "", self.accept_all, tip=tr("Write every proposal that nothing speaks against"))
        return row((self.sum, 1), self.all, button(self, tr("Close"), self.reject))

    def _connect(self) -> None:
        work, detail = self.work, self.detail
        work.rows_changed.connect(self._show_rows)
        work.row_changed.connect(self._row_changed)
        work.many_changed.connect(self._many_changed)
        self._soon = later(self, self._show_changed)  # many rows may change at once
        work.state_changed.connect(self._soon.start)
        work.failed.connect(lambda text: self.bar.say(text, "error"))
        work.told.connect(lambda text: self.bar.say(text, "warning"))
        work.applied.connect(self._was_applied)
        work.question.connect(lambda question, about: self._questions.ask(question, about, self))
        work.withdrawn.connect(self._questions.withdraw)
        detail.accepted.connect(self.accept_current)
        detail.skipped.connect(self.skip_current)
        detail.again.connect(lambda: self._with_current(self._ask))
        detail.locked.connect(lambda: self._with_current(work.lock))
        self._rest = later(self, self._judge_edit, 250)
        detail.edited.connect(self._rest.start)
        for stop in (self._rest.stop, work.stop):
            self.finished.connect(stop)
        self._session.profiles_changed.connect(self._fill_sources)
        self._theme.changed.connect(self._fill_sources)

    # ---- what can be done -------------------------------------------------------------------------------------------

    @property
    def current(self) -> Row | None:
        """The chosen row."""
        found: Row | None = self.model.row(self.table.currentIndex().row())
        return found

    def choose(self, place: int) -> None:
        """Choose a row."""
        flags = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
        index = self.model.index(place, 0)
        self.table.selectionModel().setCurrentIndex(index, flags)
        self.table.scrollTo(index)

    def accept_current(self) -> None:
        """Write the chosen proposal, as it stands in the field, and go to the next one."""
        value = self.detail.value if self.detail.is_edited else None
        self._with_current(lambda current: self.work.accept([current], value))

    def skip_current(self) -> None:
        """Leave the chosen note as it is, and go to the next one."""
        if self.current is not None:
            self._with_current(self.work.skip)
            self._next_open()

    def accept_all(self) -> None:
        """Write all proposals that nothing speaks against."""
        self._rest.stop()
        self.work.accept([row for row in self.work.rows if row.acceptable_unseen])

    def choose_source(self, source: Source) -> None:
        """Have somebody else asked from now on."""
        self.bar.hide()
        self.work.prepare(source=source)
        self._fill_sources()

    def lost(self) -> str:
        """See `Dialog`: what was changed and not decided."""
        edited = [row for row in self.work.rows if row.edited]
        many = count(max(1, len(edited)), "proposal that you changed", "proposals that you changed")
        return tr("{many} would be lost.", many=many) if edited or self.detail.is_edited else ""

    def _ask(self, again: Row | None = None) -> None:
        self.bar.hide()  # what it says is about the questions before
        if again is None:
            self.work.start()
        else:
            self.work.again(again)

    def _stop(self) -> None:
        able(self.stop, False, tr("It stops as soon as the reply under way is there."))
        self.work.stop()

    def _bar_pressed(self, _button: str) -> None:
        self.bar.hide()
        self.work.undo()

    def _mode_chosen(self) -> None:
        for each in self.work.rows:
            if each.state is not RowState.ACCEPTED:
                each.proposal = None  # made for another use
        self.work.prepare(choice=str(self.mode.currentData()))

    def _with_current(self, do: Callable[[Row], object]) -> None:
        current = self.current
        if current is not None:
            self._rest.stop()
            do(current)

    def _judge_edit(self) -> None:
        if self.current is not None and self.detail.is_edited:
            self.work.edit(self.current, self.detail.value)

    def _show_rows(self) -> None:
        before = self.current
        self.model.set_rows(self.work.rows)
        place = self.model.place_of(id(before)) if before is not None else -1
        if self.work.rows:
            self.choose(max(0, place))
            if before is None:
                self.table.setFocus()  # until now there was nothing but the button that closes the dialog
        else:
            self.detail.show_row(None, self._nothing())

    def _nothing(self) -> tuple[str, str]:
        if self.work.wish.kind is ProposalKind.SUMMARY:
            return tr("Every note has a summary"), tr("Tick the box above to have better ones proposed.")
        return tr("Nothing to propose"), tr("There is no note that can be asked about.")

    def _chosen(self, _now: QModelIndex, before: QModelIndex) -> None:
        left = self.model.row(before.row())
        if left is not None and self._rest.isActive() and self.detail.is_edited:
            self.work.edit(left, self.detail.value)  # what was typed just now goes along
        self._rest.stop()
        self.detail.show_row(self.current, self._nothing())
        self._update()

    def _row_changed(self, row: Row) -> None:
        if row is self.current:
            self.detail.show_row(row, self._nothing())
        self._soon.start()

    def _many_changed(self) -> None:
        self.detail.show_row(self.current, self._nothing())
        self._soon.start()

    def _show_changed(self) -> None:
        self.model.touch_all()
        self._update()

    def _next_open(self) -> None:
        rows = self.work.rows
        here = max(0, self.table.currentIndex().row())
        order = [*range(here + 1, len(rows)), *range(here)]
        place = next((place for place in order if rows[place].open), None)
        if place is not None:
            self.choose(place)
        if self.table.isVisible():
            self.table.setFocus()

    def _was_applied(self, changes: ChangeSet) -> None:
        if self.work.can_undo:
            self.bar.say(tr("{title}: written.", title=changes.title), "good", (("undo", tr("Undo")),))
            self._next_open()
        else:
            self.bar.say(tr("{title}: undone.", title=changes.title))
        self.applied.emit(changes)

    def _fill_sources(self) -> None:
        menu, chosen = self.source.menu(), self.work.source
        menu.clear()
        for source in sources(self._session.providers.file.profiles, chosen):
            action = menu.addAction(source_title(source))
            action.setCheckable(True)
            action.setChecked(source == chosen)
            action.setToolTip(source_help(source))
            action.triggered.connect(lambda _on, source=source: self.choose_source(source))
            self._sources.addAction(action)
        title = source_title(chosen)
        self.source.setText(shorten(title, LONGEST_SOURCE))
        self.source.setIcon(self._theme.icon(SOURCE_ICONS[chosen.kind]))
        said = tr("Answers: {source}", source=title)
        named(self.source, said, said)

    def _update(self) -> None:
        work = self.work
        waiting = work.waiting
        self.begin.setVisible(bool(waiting) and not work.asking)
        idle = not (work.busy or work.asking)
        able(self.begin, idle, tr("Wait for the work under way, or stop it first."))
        self.begin.setText(self._begin_text(len(waiting)))
        self.stop.setVisible(work.asking)
        if not work.asking:
            able(self.stop, True, "")
        for widget in (self.source, self.again, self.mode):
            able(widget, idle, tr("Wait for the work under way, or stop it first."))
        self.progress.setVisible(not idle)
        self.progress.setRange(0, len(work.wanted) if work.asking else 0)
        self.progress.setValue(work.asked)
        self.status.setText(self._status_text(len(waiting)))
        ready = [row for row in work.rows if row.acceptable_unseen]
        self.all.setText(tr("Accept all ({amount})", amount=len(ready)))
        why = tr("Wait until the notes are written.") if work.busy else tr("None can be accepted unseen.")
        able(self.all, bool(ready) and not work.busy, why)
        self.all.setVisible(work.wish.kind is not ProposalKind.DRAFT)
        self.sum.setText(self._sum_text())
        self.detail.set_busy(
            work.busy, can_ask_again=work.answers_differ and not work.asking, source=source_title(work.source)
        )

    def _begin_text(self, waiting: int) -> str:
        name = self.work.source.profile or tr("yourself")
        is_draft = self.work.wish.kind is ProposalKind.DRAFT
        many = tr("the draft") if is_draft else count(waiting, "note", "notes")
        if self.work.source.kind is AnswerKind.PROVIDER:
            return tr("Ask {name} about {many}", name=shorten(name, 24), many=many)
        return tr("Make proposals for {many}", many=many)

    def _status_text(self, waiting: int) -> str:
        work = self.work
        if work.asking:
            now = next((row.title for row in work.rows if row.state is RowState.ASKING), "")
            return tr("{done} of {all} asked. Now: {title}", done=work.asked, all=len(work.wanted), title=now)
        if work.busy:
            return work.activity
        kind = work.source.kind
        if kind is AnswerKind.STAND_IN:
            return tr(
                "The stand-in goes by rules on this computer; it is no model. Choose a provider for proposals that "
                "understand the text."
            )
        if kind is AnswerKind.PROVIDER and waiting:
            return self._cost_text()
        if kind is AnswerKind.TYPED and waiting:
            return tr("You are asked for the answers to {asks}.", asks=count(waiting, "request", "requests"))
        return tr("Nothing is written unless you accept it.")

    def _cost_text(self) -> str:
        work = self.work
        profile = self._session.providers.file.find(work.source.profile)
        host = profile.host if profile is not None else work.source.profile
        if not work.cost.calls:
            return work.cost.sentence
        if work.wish.kind is ProposalKind.DRAFT:
            sent = tr("The messages and the titles of your notes go to {host}.", host=host)
        else:
            sent = tr("The beginning of each note goes to {host}.", host=host)
        return f"{work.cost.sentence} {sent}"

    def _sum_text(self) -> str:
        states = (
            (RowState.PROPOSED, tr("to decide")),
            (RowState.ACCEPTED, tr("accepted")),
            (RowState.SKIPPED, tr("skipped")),
            (RowState.FAILED, tr("without a proposal")),
            (RowState.WAITING, tr("waiting")),
            (RowState.LEFT_OUT, tr("left out")),
        )
        counted = Counter(row.state for row in self.work.rows)
        amounts = ((counted[state], word) for state, word in states)
        return " · ".join(f"{amount} {word}" for amount, word in amounts if amount)
