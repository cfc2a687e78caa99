"""Making and accepting proposals behind the dialog: the rows, the jobs, and nothing that is seen."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TypeAlias, TypeVar

from msgspec import Struct
from PySide6.QtCore import QObject, Signal

from lorestudio.domain.lifecycle import Cancelled, CancelToken
from lorestudio.domain.records import replace
from lorestudio.studio.notes.changes.change_set import ChangeSet
from lorestudio.studio.notes.changes.log import ChangeLog
from lorestudio.studio.project.answering import AnswerKind, Asked, CostEstimate, Question, Source
from lorestudio.studio.project.project import Project
from lorestudio.studio.proposals.judging import CHANGED, TAKEN, AcceptedProposals, Judge, write_accepted
from lorestudio.studio.proposals.model import NoteLocks, Proposal, ProposalKind, ProposalPlan, ProposalTask, Value
from lorestudio.studio.proposals.planning import Guard, Maker, ProposalsEnded, proposal_answers, proposals_cost
from lorestudio.ui.shell.jobs import Job
from lorestudio.ui.shell.words import sentence_of, tr
from lorestudio.ui.state.replay_worker import Withdrawn
from lorestudio.ui.state.session import Session
from lorestudio.vault.files import SaveError

_Result = TypeVar("_Result")


class RowState(StrEnum):
    """How far a row is."""

    WAITING = "waiting"
    ASKING = "asking"
    PROPOSED = "proposed"
    FAILED = "failed"
    ACCEPTED = "accepted"
    SKIPPED = "skipped"
    LEFT_OUT = "left out"


class Row(Struct, eq=False):
    """A note, or a passage, with what was proposed for it. `note` says why nothing is or was. One without a `task` is
    left out, or a further draft of the answer to another row.

    `turns` counts its edits and decisions: what was judged before the newest one is out of date. `free`: who answered
    was neither paid nor waited for.
    """

    title: str
    filename: str
    state: RowState
    task: ProposalTask | None = None
    proposal: Proposal | None = None
    note: str = ""
    edited: bool = False
    turns: int = 0
    free: bool = False

    @property
    def open(self) -> bool:
        """Whether there is something to decide."""
        return self.state is RowState.PROPOSED

    @property
    def acceptable_unseen(self) -> bool:
        """Whether it can be accepted together with others."""
        return self.open and self.proposal is not None and self.proposal.acceptable and not self.proposal.doubtful


class ProposalWish(Struct, frozen=True):
    """What a dialog proposes. `plan` reads the notes and says what is to be asked; it may wait and raise InputError.

    Its arguments: the project, what must not be touched, the model that requests name, a choice that the dialog offers
    (for summaries `again`, for keys a mode), and a token to stop it.
    """

    kind: ProposalKind
    title: str
    plan: Callable[[Project, Guard, str, str, CancelToken], ProposalPlan]


class Tools(Struct, frozen=True):
    """What proposals work with besides the session. `make_log` opens the change log, in a worker.

    `unsaved` are the notes with text in the editor that is not saved yet.
    """

    make_log: Callable[[], ChangeLog]
    locks: NoteLocks
    records: Path
    unsaved: Callable[[], Collection[Path]] = frozenset


_Judged: TypeAlias = tuple[tuple[Row, Proposal], ...]
"""Rows with their proposals as they were judged last."""


class Proposing(QObject):
    """Works on one wish for one project. All state changes on the GUI thread; jobs take snapshots.

    `rows_changed` follows other rows, `row_changed(row)` a change of one, `many_changed` one of several at once,
    `state_changed` whatever else changes.
    """

    rows_changed = Signal()
    row_changed = Signal(object)
    many_changed = Signal()
    state_changed = Signal()
    failed = Signal(str)
    told = Signal(str)  # how a run of questions ended
    applied = Signal(object)  # ChangeSet
    question = Signal(object, str)  # Question, what it is about
    withdrawn = Signal(object)  # Question

    def __init__(self, session: Session, project: Project, wish: ProposalWish, tools: Tools, parent: QObject) -> None:
        super().__init__(parent)
        self._session, self._project, self._tools = session, project, tools
        self.wish = wish
        self.source: Source = session.choice.source
        self.choice = ""
        self.rows: list[Row] = []
        self.cost = CostEstimate()
        self.activity = ""
        self.asked = 0
        self.wanted: list[Row] = []
        self._judge: Judge | None = None
        self._asks: Job | None = None
        self._token = CancelToken()
        self._is_stale = False
        self._last: tuple[ChangeSet, tuple[Row, ...]] | None = None

    @property
    def busy(self) -> bool:
        """Whether notes are read or written, so that nothing else can be."""
        return bool(self.activity)

    @property
    def asking(self) -> bool:
        """Whether questions are under way; they can be stopped, and what is answered can be decided meanwhile."""
        return self._asks is not None

    @property
    def waiting(self) -> list[Row]:
        """The rows that the source is still to be asked about.

        Nobody was asked yet, or only somebody who knows less: what the stand-in made gives way unless the person did
        something with it.
        """
        return [
            row
            for row in self.rows
            if row.state is RowState.WAITING or (row.open and row.free and not row.edited and self.source.waits)
        ]

    @property
    def can_undo(self) -> bool:
        """Whether the last acceptance can be taken back here."""
        return self._last is not None and not self.busy

    # ---- preparing --------------------------------------------------------------------------------------------------

    def prepare(self, source: Source | None = None, choice: str | None = None) -> None:
        """Find out what is to be asked and what it costs; what was proposed so far stays."""
        if self.busy or self.asking:
            return
        if source is not None:
            self.source = source
        if choice is not None:
            self.choice = choice
        project, wish, tools, session = self._project, self.wish, self._tools, self._session
        self._is_stale = False
        chosen, choice_now, known = self.source, self.choice, self._judge
        unsaved = frozenset(tools.unsaved())
        token = self._token = CancelToken()
        by = session.choice.deciding(project)

        def work(_job: object) -> tuple[ProposalPlan, Judge, Mapping[Path, str]]:
            guard = Guard(tools.locks.load(), unsaved)
            asked = Asked(lambda _question: None, lambda _question: None, token.cancel)
            _, model = proposal_answers(chosen, project, session.connections, tools.records, asked)
            plan = wish.plan(project, guard, model, choice_now, token)
            names = {task.place: _filename(project, task) for task in plan.tasks}
            return plan, known or Judge.of(project, by), names

        self._begin(tr("Reading the notes…"), work, lambda prepared: self._prepared(*prepared))

    def _prepared(self, plan: ProposalPlan, judge: Judge, names: Mapping[Path, str]) -> None:
        self._judge = judge
        kept = {row.task.place: row for row in self.rows if row.task is not None and row.proposal is not None}
        rows = []
        for task in plan.tasks:
            row = kept.pop(task.place, None)
            if row is None:
                row = Row(task.title, names[task.place], RowState.WAITING, task)
            elif row.state is not RowState.ACCEPTED:
                row.task = task
                if row.state is RowState.FAILED:
                    row.state, row.note = RowState.WAITING, ""
            rows.append(row)
        further = [row for row in self.rows if row.task is None and row.proposal is not None]
        rows = [*kept.values(), *rows, *further]
        shown = {row.filename for row in rows}
        rows += [
            Row(item.title, item.filename, RowState.LEFT_OUT, note=item.reason)
            for item in plan.skipped
            if item.filename not in shown
        ]
        self.rows = rows
        self.rows_changed.emit()
        self._end()
        for row in rows:
            if row.edited and row.proposal is not None and row.note in (CHANGED, TAKEN):
                row.proposal = replace(row.proposal, task=row.task or row.proposal.task)
                self.edit(row, row.proposal.after)  # what the person wrote, beside the note as it is now
        if not self.source.waits and self.waiting:
            self.start()
        elif self.waiting:
            self._count_again()

    # ---- asking -----------------------------------------------------------------------------------------------------

    def start(self, rows: Sequence[Row] | None = None, *, fresh: bool = False) -> None:
        """Ask about these rows, by default all that wait; with `fresh`, also where an answer is recorded."""
        wanted = [row for row in (self.waiting if rows is None else rows) if row.task is not None]
        judge = self._judge
        if self.busy or self.asking or not wanted or judge is None:
            return
        tasks = [row.task for row in wanted if row.task is not None]
        project, tools, session, source = self._project, self._tools, self._session, self.source
        self.asked, self.wanted = 0, wanted

        def work(job: Job) -> ProposalsEnded:
            asked = Asked(job, lambda question: job(Withdrawn(question)), job.cancel)
            answers, _ = proposal_answers(source, project, session.connections, tools.records, asked, fresh=fresh)
            maker = Maker(answers, judge, project.settings.ai_force_user_role)

            return job.run(lambda: maker.run(tasks, lambda place, proposal: job((wanted[place], proposal))))

        for row in wanted:
            row.state, row.proposal, row.note, row.edited = RowState.WAITING, None, "", False
            row.free = not source.waits
        title = tr("Asking…")
        self._asks = session.jobs.start(title, work, done=self._ran, failed=self._run_failed, reported=self._news)
        self.many_changed.emit()
        self._set_asking(wanted[0])
        self.state_changed.emit()

    def again(self, row: Row) -> None:
        """Ask anew about one row."""
        self.start([row], fresh=True)

    @property
    def answers_differ(self) -> bool:
        """Whether asking again can give another answer."""
        return self.source.kind in (AnswerKind.PROVIDER, AnswerKind.TYPED)

    def stop(self) -> None:
        """Stop asking and preparing; what was answered stays."""
        self._token.cancel()
        if self._asks is not None:
            self._asks.cancel()

    def _news(self, news: object) -> None:
        if isinstance(news, Question):
            row = next((row for row in self.rows if row.state is RowState.ASKING), None)
            self.question.emit(news, row.title if row is not None else "")
        elif isinstance(news, Withdrawn):
            self.withdrawn.emit(news.question)
        elif isinstance(news, tuple):
            self.asked += 1
            self._take(*news)
            if self.asked < len(self.wanted) and self.asking:
                self._set_asking(self.wanted[self.asked])  # unless it was decided meanwhile
            self.state_changed.emit()

    def _take(self, row: Row, proposal: Proposal) -> None:
        if row.state in (RowState.SKIPPED, RowState.LEFT_OUT):  # decided while the answer was awaited
            return
        row.proposal = proposal
        nothing = bool(proposal.problem) and not proposal.after
        row.state = RowState.FAILED if nothing else RowState.PROPOSED
        row.note = proposal.problem
        self.row_changed.emit(row)
        for other in proposal.more:
            self.rows.append(Row(row.title, row.filename, RowState.PROPOSED, proposal=other, note=other.problem))
        if proposal.more:
            self.rows_changed.emit()

    def _set_asking(self, row: Row) -> None:
        if row.state is RowState.WAITING:
            row.state = RowState.ASKING
            self.row_changed.emit(row)

    def _ran(self, ended: ProposalsEnded) -> None:
        self._asked_all()
        if ended.why:
            self.told.emit(tr("The rest was not asked: {why}", why=ended.why) if ended.left else ended.why)

    def _run_failed(self, error: Exception) -> None:
        self._asked_all()
        if isinstance(error, Cancelled):
            self.told.emit(tr("Stopped. What was answered stays; the rest can be asked later."))
        else:
            self.failed.emit(sentence_of(error))

    def _asked_all(self) -> None:
        """No question is under way any more."""
        self._asks = None
        for row in self.rows:
            if row.state is RowState.ASKING:
                row.state = RowState.WAITING
                self.row_changed.emit(row)
        self.state_changed.emit()
        if self._is_stale:
            self.prepare()
        elif self.waiting:
            self._count_again()

    def _count_again(self) -> None:
        """Find out what asking about those that wait costs."""
        tasks, project, source = [row.task for row in self.waiting if row.task is not None], self._project, self.source

        def done(cost: CostEstimate) -> None:
            self.cost = cost
            self._end()

        records = self._tools.records
        self._begin(tr("Counting what it costs…"), lambda _job: proposals_cost(tasks, source, project, records), done)

    # ---- deciding ---------------------------------------------------------------------------------------------------

    def edit(self, row: Row, value: Value) -> None:
        """Judge what the person made of a proposal; the newest text wins."""
        judge, proposal = self._judge, row.proposal
        if judge is None or proposal is None or row.state is RowState.ACCEPTED:
            return
        row.turns += 1
        turn = row.turns

        def done(edited: Proposal) -> None:
            if turn == row.turns and row.proposal is proposal:
                row.proposal, row.state, row.note, row.edited = edited, RowState.PROPOSED, edited.problem, True
                self.row_changed.emit(row)

        title = tr("Judging a proposal")
        self._session.jobs.start(title, lambda _report: judge.edited(proposal, value), done=done, failed=self._not_done)

    def accept(self, rows: Sequence[Row], value: Value | None = None) -> None:
        """Write the proposals of these rows; `value` is what the person made of the only one just now."""
        judge = self._judge
        open_rows = [row for row in rows if row.proposal is not None and row.state is not RowState.ACCEPTED]
        if judge is None or self.busy or not open_rows:
            return
        pairs = [(row, row.proposal) for row in open_rows if row.proposal is not None]
        tools = self._tools
        for row in open_rows:
            row.turns += 1

        def work(_job: object) -> tuple[_Judged, AcceptedProposals | None]:
            judged = tuple((row, judge.edited(old, value) if value is not None else old) for row, old in pairs)
            good = [proposal for _, proposal in judged if proposal.acceptable]
            if len(good) < len(judged):
                return judged, None
            return judged, write_accepted(tools.make_log(), good, tools.locks.load())

        self._begin(tr("Writing…"), work, lambda told: self._accepted(*told))

    def _accepted(self, judged: _Judged, accepted: AcceptedProposals | None) -> None:
        written = set(accepted.written) if accepted is not None else set()
        refused = dict(accepted.refused) if accepted is not None else {}
        for row, proposal in judged:
            keep = row.edited or proposal is not row.proposal or proposal.source is None
            row.proposal, row.note = proposal, proposal.problem
            if proposal.path in written:
                row.state, row.edited = RowState.ACCEPTED, False
            elif proposal.path in refused:
                row.edited, row.note = keep, refused[proposal.path]  # judged again, with the note as it is now
                if not keep:
                    row.state, row.proposal = RowState.WAITING, None
        self.many_changed.emit()
        changes = accepted.changes if accepted is not None else None
        if changes is not None:
            self._last = changes, tuple(row for row, proposal in judged if proposal.path in written)
        self._end()
        if changes is not None:
            self.applied.emit(changes)
        if refused:
            names = ", ".join(path.name for path in refused)
            self.failed.emit(
                tr("{names}: changed on disk since the proposal was made, so nothing was written there.", names=names)
            )
            self._is_stale = True
            self.prepare()  # from the notes as they are now

    def skip(self, row: Row) -> None:
        """Leave the note as it is."""
        if row.state in (RowState.PROPOSED, RowState.FAILED, RowState.WAITING):
            row.state, row.edited = RowState.SKIPPED, False
            row.turns += 1
            self.row_changed.emit(row)

    def lock(self, row: Row) -> None:
        """Leave the note as it is, now and for ever."""
        task = row.task
        if task is None or task.kind is ProposalKind.DRAFT or self.busy:
            return
        locks = self._tools.locks

        def done(_none: object) -> None:
            row.state, row.edited, row.task, row.proposal = RowState.LEFT_OUT, False, None, None
            row.note = tr("Locked by you just now.")
            self.row_changed.emit(row)
            self._end()

        self._begin(tr("Locking…"), lambda _job: locks.set([task.place], locked_now=True), done)

    def undo(self) -> None:
        """Take the last acceptance back."""
        if self._last is None or self.busy:
            return
        changes, rows = self._last
        make_log = self._tools.make_log

        def work(_job: object) -> ChangeSet:
            log = make_log()
            if log.undo_title != changes.title:
                raise SaveError(tr("Something else was changed since. Undo that first, in the window."))
            return log.undo()

        def done(undone: ChangeSet) -> None:
            self._last = None
            for row in rows:
                row.state = RowState.PROPOSED
            self.many_changed.emit()
            self._end()
            self.applied.emit(undone)

        self._begin(tr("Undoing…"), work, done)

    def _begin(self, activity: str, work: Callable[[Job], _Result], done: Callable[[_Result], object]) -> None:
        """Read or write notes in a job; nothing else can be done with them meanwhile."""
        self.activity = activity
        self.state_changed.emit()
        self._session.jobs.start(activity, work, done=done, failed=self._not_done, owner=self)

    def _end(self) -> None:
        self.activity = ""
        self.state_changed.emit()

    def _not_done(self, error: Exception) -> None:
        self._end()
        if not isinstance(error, Cancelled):
            self.failed.emit(sentence_of(error))


def _filename(project: Project, task: ProposalTask) -> str:
    folders = tuple(folder for folder in project.vault_folders if folder is not None)
    inside = (task.place.relative_to(folder).as_posix() for folder in folders if task.place.is_relative_to(folder))
    return min(inside, key=len, default=task.place.name)
