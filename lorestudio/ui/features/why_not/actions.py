"""Why an entry went in or not, what would bring it in, and what later stages would have done with it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from lorestudio.domain.entry import NoteKey
from lorestudio.studio.tryout.project_changes import plan_change
from lorestudio.systems.ideas import Change
from lorestudio.ui.features.trace.actions import TraceFeature
from lorestudio.ui.features.why_not.pane import WhyView
from lorestudio.ui.features.why_not.search import FixWork, RowWork, WhyNotSearch, WouldWork
from lorestudio.ui.shell.actions import Action, Where
from lorestudio.ui.shell.feature import Context, Feature
from lorestudio.ui.shell.words import Notice, tr
from lorestudio.ui.state.note_changes import READ_ONLY, Done, NoteWork


class WhyNotFeature(Feature):
    """Owns the explanation below the answers, the search with its page, and what is learnt of rows in sight."""

    def __init__(self, context: Context, trace: TraceFeature, work: NoteWork) -> None:
        super().__init__(context)
        self._trace, self._work = trace.pane, work
        session, selection = context.session, context.selection
        self.search, self.would = WhyNotSearch(session, selection, self), WouldWork(session, selection, self)
        self.fixes = FixWork(session, selection, self)
        self.pane = WhyView(context.theme, session, selection, self.search, self.would)
        self.page = self.pane.page
        trace.pane.take_why(self.pane)
        self._applied: tuple[bool, NoteKey | None] | None = None
        """Whether the last change was to bring a note in, and which, until the run tells what came of it."""
        self.pane.message_wanted.connect(trace.go_to_message)

    def actions(self) -> Iterable[Action]:
        """What can be done."""
        now = self.context
        return (
            Action(
                "copy.why", "Copy the explanation", "Edit", 200, self.pane.copy,
                when=now.traced_row, icon="copy",
            ),
            Action("trace.why", "Why? for the chosen cell", "Trace", 17, self.show, ("W",), Where.RUNS, now.has_row),
            Action(
                "trace.why_not", "What would bring it in, or keep it out?", "Trace", 20, self.find, ("Y",), Where.RUNS,
                now.has_message.also(lambda: self.search.note is not None, "Choose an entry of the vault first."),
                "search",
                "Try single changes with the engine, and list those that bring the chosen entry in, or keep it out",
            ),
            Action(
                "why.scores", "Scores and order in numbers", "Trace", 40, self.toggle_scores, ("S",), Where.RUNS,
                now.has_entry, "number",
            ),
        )  # fmt: skip

    def begin(self) -> None:
        """Show what is learnt."""
        context, pane, trace = self.context, self.pane, self._trace
        pane.copy_button.clicked.connect(partial(context.run, "copy.why"))
        pane.copied.connect(lambda: context.flash(tr("The explanation was copied.")))
        pane.searched.connect(self.find)
        self.page.wanted.connect(self._apply)
        trace.answers.fix_wanted.connect(self._make_fix)
        trace.answers.addActions([context.action(name) for name in ("trace.why_not", "trace.entry")])
        self.would.found.connect(self._show_would)
        self.fixes.found.connect(self._show_fix)
        for work in (self.would, self.fixes):
            work.in_sight = partial(self._in_sight, work)
            trace.answers.verticalScrollBar().valueChanged.connect(work.look)
            context.layout.docks["trace"].visibilityChanged.connect(work.look)
        trace.model.modelReset.connect(self._show_known)
        trace.model.rowsInserted.connect(lambda *_rows: self._show_known())
        context.session.traces_changed.connect(lambda _generations: self._say_outcome())
        context.session.state_changed.connect(self._say_outcome)

    def show(self) -> None:
        """Go to the explanation of the chosen row."""
        self.context.uncover("trace")
        self._trace.tabs.setCurrentIndex(0)
        self.pane.focus_target().setFocus()

    def find(self) -> None:
        """Show the page and search for the chosen note."""
        self.show()
        self.pane.show_answers(True)
        self.search.begin()
        QTimer.singleShot(0, self.page, self.page.focus_first)  # a pane behind another one is in sight only by then

    def toggle_scores(self) -> None:
        """Show the numbers about the chosen entry, or its explanation again."""
        self.show()
        self.pane.show_scores(not self.pane.scores_button.isChecked())
        self.pane.focus_target().setFocus()

    # ---- what is learnt of rows -------------------------------------------------------------------------------------

    def _in_sight(self, work: RowWork[Any]) -> Sequence[int]:
        view, model = self._trace.answers, self._trace.model
        if model.trace is not work.trace or not view.isVisible():
            return ()
        first, last = view.rowAt(0), view.rowAt(view.viewport().height() - 1)
        if first < 0:
            return ()
        rows = range(first, (last if last >= 0 else model.rowCount() - 1) + 1)
        return [entry for row in rows if (entry := model.entry(row)) is not None]

    def _show_would(self, entry: int, would: object) -> None:
        model = self._trace.model
        known = self.would.of(model.trace, entry)
        news = known is not None and known is would and model.set_would(entry, known)
        if news and entry == self.context.selection.entry:
            self.pane.refresh()

    def _show_fix(self, entry: int, answer: object) -> None:
        model = self._trace.model
        known = self.fixes.of(model.trace, entry)
        if known is not None and known is answer:
            model.set_fix(entry, known.change)

    def _show_known(self) -> None:
        model = self._trace.model
        for row in range(model.rowCount()):
            entry = model.entry(row)
            if entry is not None:
                self._show_would(entry, self.would.of(model.trace, entry))
                self._show_fix(entry, self.fixes.of(model.trace, entry))
        self.would.look()
        self.fixes.look()

    def _make_fix(self, entry: int) -> None:
        answer = self.fixes.of(self._trace.model.trace, entry)
        if answer is not None:
            self.context.selection.choose_entry(entry)
            self._apply(answer.change)

    # ---- applying ---------------------------------------------------------------------------------------------------

    def _apply(self, change: object) -> None:
        session = self.context.session
        project = session.project
        if not isinstance(change, Change) or project is None:
            return
        wanted = not self.search.goes_in
        if self.page.isAncestorOf(QApplication.focusWidget() or self.page.area):
            self.page.area.setFocus()  # the button that was pressed goes, and Qt would choose the next pane's field
        if change.note is not None:
            path = project.note_path(change.note.vault, change.note.filename)
            if path is None:
                text, doors = tr(READ_ONLY), ("sillytavern.edit",) if project.read_only else ()
                self.context.say(Notice(text, "warning", actions=doors, key="notes"))
                return
            plan = partial(plan_change, path=path, change=change)
            then = partial(self._written, wanted, self._about())
            say = self.context.say
            self._work.carry_out(plan, then=then, refused=lambda text: say(Notice(text, "error", key="notes")))
        else:
            self._applied = wanted, self._about()
            self.context.flash_step(change.title)
            if change.controls is not None:
                session.parts.adjust(change.title, controls=change.controls)
            else:
                session.parts.change(change.title, change.settings)
        self._say_outcome()

    def _about(self) -> NoteKey | None:
        note = self.search.note
        return note.note_key if note is not None else None

    def _written(self, wanted: bool, about: NoteKey | None, _done: Done) -> None:
        self._applied = wanted, about
        self._say_outcome()

    def _say_outcome(self) -> None:
        """Once the reply has been run with a change: the rows say what it did; where that was not enough, search on."""
        applied, note = self._applied, self.search.note
        if applied is None or note is None:  # a newer reading of the vault is being shown
            return
        wanted_in, about = applied
        if self._about() != about:  # somebody looks at another note by now
            self._applied = None
            return
        session = self.context.session
        if session.busy or session.runs.outdated(self.context.selection.generation):
            return
        self._applied = None
        reached = self.search.goes_in is wanted_in
        had_keyboard = self.pane.isAncestorOf(QApplication.focusWidget() or self._trace)
        if self.pane.answers_button.isChecked() or not reached:
            self.pane.show_answers(not reached)
        if had_keyboard:
            self.pane.focus_target().setFocus()
        if not reached:  # a first step: what is in the way now?
            self.search.begin()
