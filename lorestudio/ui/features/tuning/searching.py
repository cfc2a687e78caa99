"""Searching for settings in the background, and what can be done with a point that was found."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias

from PySide6.QtWidgets import QWidget

from lorestudio.exchange.problems import InputError
from lorestudio.settings.declaration import declared
from lorestudio.studio.notes.vault_notes import Planned
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.tuning.expectations import expectations_path, load
from lorestudio.studio.tuning.report import (
    candidate_at,
    keep_as_profile,
    plan_notes,
    settings_file,
    to_carry_over,
    tuning_page,
)
from lorestudio.studio.tuning.search import GOALS, Plan, SearchOutcome, SearchWay, TriedPoint, search
from lorestudio.studio.tuning.space import examples, point_words, space_of, whole_range
from lorestudio.studio.tuning.trials import TuningTrial, Workers
from lorestudio.systems.registry import kind_of
from lorestudio.ui.features.compare.systems import Offer
from lorestudio.ui.features.notes.plan_dialog import PlanDialog
from lorestudio.ui.shell.actions import Action, Need
from lorestudio.ui.shell.feature import Context, Feature, late_pane
from lorestudio.ui.shell.jobs import Beat, Job, Newest
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import Notice, count, tr
from lorestudio.ui.state.choices import system_title
from lorestudio.ui.state.note_changes import NoteWork
from lorestudio.ui.state.note_changes import Plan as NotePlan
from lorestudio.ui.widgets import dialogs
from lorestudio.ui.widgets.layouts import able, label
from lorestudio.ui.widgets.picker import Choice

if TYPE_CHECKING:
    from lorestudio.ui.features.tuning.search_pane import PointRow, TuningPane

MENU: Final = "Run/Tuning"
NEWS_SECONDS: Final = 0.7
"""So long at least between two looks at what was found so far."""

Seen: TypeAlias = "tuple[TuningTrial, SearchOutcome, list[PointRow]]"


class SearchFeature(Feature):
    """Owns the pane Tuning. What it searches is the chat as it was run last, with its system and settings."""

    def __init__(
        self, context: Context, work: NoteWork, compare: Callable[[Offer], object], show_change: Callable[[], object]
    ) -> None:
        """`compare` puts a run beside what is set now; `show_change` shows what is tried out does to every reply."""
        super().__init__(context)
        self._work, self._compare, self._show_change = work, compare, show_change
        self._searching = Newest(context.session.jobs)
        self._trial: TuningTrial | None = None
        self._of: tuple[str, ...] = ()
        """The inputs of the run that is searched, or was."""
        session = context.session
        session.project_replaced.connect(self._project_replaced)
        session.project_changed.connect(self._say_if_earlier)
        session.choice_changed.connect(self._say_if_earlier)
        session.choice_changed.connect(self._show_examples)
        session.state_changed.connect(self._runs_changed)

    @late_pane("tuning", "Tuning")
    def pane(self) -> TuningPane:
        """What is searched, and what was found."""
        from lorestudio.ui.features.tuning.search_pane import TuningPane

        pane = TuningPane(self.context.theme, self.home("tuning"))
        pane.chosen.connect(self.context.actions_changed)
        self.context.enable_with(pane.add, "tuning.add")
        self.context.enable_with(pane.start, "tuning.start")
        return pane

    def pane_made(self, _name: str) -> None:
        """Say what it takes."""
        self._show_examples()

    def _show_examples(self) -> None:
        """In the empty field: how settings of the chosen system are turned, and a note where it looks at notes."""
        if self.is_made("tuning"):
            kind = kind_of(self.context.session.choice.system)
            note = ("Harbour.md:priority=10..100",) if kind.heeds else ()
            self.pane.over.setPlaceholderText("\n".join((*examples(kind), *note)))

    def actions(self) -> Iterable[Action]:
        """What can be done."""
        has_point = partial(Action, when=Need(self._has_point, "Choose a point in the pane Tuning first."))
        return (
            Action(
                "tuning.start", "Search for settings", MENU, 670, self.start, icon="search",
                when=self.context.has_chat.also(
                    lambda: self.context.session.runs.complete() is not None, "Replay the whole chat first."
                ).also(lambda: not self._searching.busy, "A search is under way: wait for it, or stop it first."),
                tip="Run the whole chat with one choice after the other, and show which do what is expected",
            ),
            Action(
                "tuning.stop", "Stop searching", MENU, 671, self.stop_search,
                when=Need(lambda: self._searching.busy, "No search is under way."),
            ),
            Action("tuning.add", "Add a setting to search…", MENU, 672, self.add, when=self.context.has_project),
            has_point(
                "tuning.look", "Look at the point turn by turn", MENU, 673, self.look,
                tip="Say of every reply who enters and who leaves with the chosen point",
            ),
            has_point(
                "tuning.compare", "Compare the point with now", MENU, 674, self.compare,
                tip="Put what the chosen point puts in beside what is put in now, for every reply",
            ),
            has_point(
                "tuning.use", "Use the point…", MENU, 675, self.use,
                tip="Take the settings of the chosen point into the project, and what it turns in notes into them; "
                "you see the notes before",
            ),
            has_point("tuning.keep", "Keep the point as a profile…", MENU, 676, self.keep),
            has_point(
                "tuning.export", "Save the settings of the point…", MENU, 677, self.export,
                tip="Write the settings of the chosen point into a file that other projects and the command line take",
            ),
            Action(
                "tuning.report", "Save a report of the search…", MENU, 678, self.report,
                when=Need(lambda: self.is_made("tuning") and self.pane.found is not None, "Search for settings first."),
            ),
        )  # fmt: skip

    # ---- the search -------------------------------------------------------------------------------------------------

    def add(self) -> None:
        """Let a setting be picked, and write it down with a range about what it is now."""
        simulator, project = self.context.session.runs.complete(), self.context.session.project
        if project is None:
            return
        kind = simulator.system.kind if simulator is not None else kind_of(self.context.session.choice.system)
        can = [each for each in declared(kind.settings) if each.affects and (each.allowed or each.type is bool)]
        settings = self.context.session.choice.deciding(project).settings
        ranges = (whole_range(each, getattr(settings, each.name)) for each in can)
        choices = [Choice(each.label, each.alias, each.allowed, text) for each, text in zip(can, ranges, strict=True)]
        self.context.pick(tr("Search over…"), tr("Title of a setting"), choices, self.pane.over.appendPlainText)

    def start(self) -> None:
        """Begin, or go on where an earlier search of the same was."""
        from lorestudio.ui.features.tuning.search_pane import point_rows

        simulator, pane = self.context.session.runs.complete(), self.pane
        if simulator is None:
            return
        lines, folder = pane.lines(), self.context.session.keep_in
        way, seed = SearchWay(pane.way.currentData()), simulator.project.seed
        plan = Plan(way, pane.runs.value(), goals=GOALS, seed=seed)
        workers = Workers(pane.workers.value())
        self.context.uncover("tuning")
        if simulator.inputs != self._of:
            self._drop()
        self._of = simulator.inputs

        def work(job: Job) -> Seen:
            trial = _trial(simulator, lines)
            journal = None if folder is None else folder / "searches" / f"{trial.identity[:24]}.log"
            tried: list[TriedPoint] = []
            beat = Beat(NEWS_SECONDS)

            def look(each: TriedPoint) -> None:
                tried.append(each)
                if len(tried) > 1 and beat.due():
                    found = SearchOutcome(trial.space.axes, plan, tried[0], tuple(tried[1:]), {})
                    job((trial, found, point_rows(found)))

            found = search(trial, plan, workers, journal, on_tried=look, cancel=job.token)
            return trial, found, point_rows(found)

        pane.show_running(0, plan.runs, running=True)
        title = tr("Searching for settings")
        reported = partial(self._seen, plan)
        self._searching.start(title, work, done=self._done, failed=self._failed, reported=reported, owner=pane)

    def stop_search(self) -> None:
        """Stop; what was found stays, and the next search goes on from it."""
        self._searching.cancel()
        self.pane.show_running(0, 0, running=False, words=tr("Stopped. The same search goes on where it was."))

    def _seen(self, plan: Plan, seen: Seen) -> None:
        self._show(seen)
        self.pane.show_running(len(seen[1].tried), plan.runs, running=True)

    def _done(self, seen: Seen) -> None:
        self._show(seen)
        _, found, _ = seen
        shares = sorted(found.importance.items(), key=lambda each: -each[1])[:3]
        mattered = ", ".join(f"{label} {share:.0%}" for label, share in shares)
        words = tr("{points} run.", points=count(len(found.tried), "point", "points"))
        words += tr(" What mattered: {mattered}.", mattered=mattered) if mattered else ""
        self.pane.show_running(0, 0, running=False, words=words)
        self.context.actions_changed()

    def _show(self, seen: Seen) -> None:
        self._trial, found, rows = seen
        self.pane.show_found(found, rows)

    def _failed(self, error: Exception) -> None:
        self.pane.show_running(0, 0, running=False)
        self.context.failing("tuning", "warning")(error)
        self.context.actions_changed()

    def _project_replaced(self, before: Project | None, now: Project | None, _renewed: str) -> None:
        if is_other_lore(before, now):
            self._drop()

    def _drop(self) -> None:
        self._searching.cancel()
        self._trial, self._of = None, ()
        if self.is_made("tuning"):
            self.pane.show_found(None)
            self.pane.show_running(0, 0, running=False)
            self.pane.set_current(current=True)

    def _say_if_earlier(self) -> None:
        """Say where what was found is for another run than that of now; a search of such a run is given up."""
        if not self._of:
            return
        simulator = self.context.session.runs.complete()
        current = simulator is not None and simulator.inputs == self._of
        if not current and self._searching.busy:
            self._searching.cancel()
            words = tr("Stopped, because the chat is run otherwise now. Search again.")
            self.pane.show_running(0, 0, running=False, words=words)
        self.pane.set_current(current=current)

    def _runs_changed(self) -> None:
        if not self.context.session.busy:
            self._say_if_earlier()

    # ---- a point ----------------------------------------------------------------------------------------------------

    def _has_point(self) -> bool:
        at = self.pane.current if self.is_made("tuning") else None
        return at is not None and at.number >= 0

    def _chosen(self) -> tuple[TuningTrial, SearchOutcome, TriedPoint] | None:
        at, found = self.pane.current, self.pane.found
        return (self._trial, found, at) if self._trial is not None and found is not None and at is not None else None

    def _here(self) -> tuple[TuningTrial, TriedPoint] | None:
        """The chosen point for the settings as they are now; for those of another system there is none."""
        session, chosen = self.context.session, self._chosen()
        if chosen is None or session.project is None:
            return None
        trial, _, at = chosen
        if trial.system != session.choice.system:
            text = tr(
                "These points are of {system}, and the chat runs with {other}. Choose {system} for it first.",
                system=system_title(trial.system),
                other=system_title(session.choice.system),
            )
            self.context.say(Notice(text, "warning", actions=(f"system.{trial.system}",), key="tuning"))
            return None
        return trial.begun_with(session.choice.deciding(session.project).settings), at

    def look(self) -> None:
        """Run the whole chat with it, as with anything that is tried out."""
        if (chosen := self._here()) is not None:
            trial, at = chosen
            space = trial.space
            self.context.preview.whole.try_changes(
                space.settings_at(trial.settings, at.point), space.notes_at(at.point), aside=True
            )
            self._show_change()

    def compare(self) -> None:
        """Put it beside what is set now, reply by reply."""
        if (chosen := self._here()) is not None:
            trial, at = chosen
            label = tr("Point {number}", number=at.number)
            made = candidate_at(trial, at.point, label)
            self._compare(Offer(f"point:{at.number}", label, point_words(at.point), made))

    def use(self) -> None:
        """Take its settings over; where it turns notes, show first what that does to them, and write it."""
        if (chosen := self._here()) is None:
            return
        trial, at = chosen
        use_settings = partial(self._use_settings, trial, at) if _turns(trial, at, of_notes=False) else None
        if _turns(trial, at, of_notes=True):
            dialog = PointDialog(self.context.theme, self._work, trial, at, self.context.window)
            if use_settings is not None:
                dialog.accepted.connect(use_settings)
            dialog.open()
            dialog.preview()
        elif use_settings is not None:
            use_settings()
        else:
            self.context.flash(tr("All of point {number} is set already.", number=at.number))

    def _use_settings(self, trial: TuningTrial, at: TriedPoint) -> None:
        title = tr("Settings of point {number}", number=at.number)
        settings = trial.space.settings_at(trial.settings, at.point)
        self.context.session.parts.configure(title, trial.system, settings)
        self.context.flash_step(title)

    def keep(self) -> None:
        """Ask for a name, and keep its settings under it."""
        if (chosen := self._chosen()) is None:
            return
        trial, _, at = chosen
        if not kind_of(trial.system).in_project:
            text = tr(
                "{system} has no settings profiles. Save the settings of the point into a file.",
                system=system_title(trial.system),
            )
            self.context.say(Notice(text, "warning", actions=("tuning.export",), key="tuning"))
            return

        def answered(name: str) -> None:
            self.context.session.jobs.start(
                tr("Keeping the profile"), lambda _job: keep_as_profile(trial, at.point, name),
                done=lambda kept: self.context.flash(tr("The profile “{name}” holds it.", name=kept.name)),
                failed=self.context.failing("tuning"),
            )  # fmt: skip

        dialogs.ask_name(self.context.window, tr("Keep the point as a profile"), tr("Name"), "", answered)

    def export(self) -> None:
        """Ask for a file, and write its settings there."""
        if (chosen := self._chosen()) is None:
            return
        trial, _, at = chosen
        data = settings_file(trial, at.point)
        dialogs.choose_new_file(
            self.context.window, tr("Save the settings of the point"), f"point-{at.number}.json",
            tr("Settings (*.json)"), "json", lambda path: self.context.save_file(path, data),
        )  # fmt: skip

    def report(self) -> None:
        """Ask for a file, and write the report of the search with the chosen point there."""
        if (chosen := self._chosen()) is None:
            return
        dialogs.choose_new_file(
            self.context.window, tr("Save the report"), "tuning.html", tr("Web pages (*.html)"), "html",
            lambda path: self.context.save_file(path, tuning_page(*chosen).encode()),
        )  # fmt: skip


def is_other_lore(before: Project | None, now: Project | None) -> bool:
    """Whether the notes and lorebooks lie elsewhere, so that what was found says nothing of them."""
    old, new = (each and (each.places, each.vault_folders, each.book_paths) for each in (before, now))
    return old is None or old != new


def _turns(trial: TuningTrial, at: TriedPoint, *, of_notes: bool) -> tuple[tuple[str, str, str], ...]:
    """What is another one at the point, in notes or in settings: what it is called, what it was, what it becomes."""
    labels = {axis.label for axis in trial.space.axes if (axis.note is not None) is of_notes}
    return tuple(each for each in to_carry_over(trial, at.point) if each[0] in labels)


class PointDialog(PlanDialog):
    """What a point does to notes, and which settings go with it, before either is taken over."""

    def __init__(self, theme: Theme, work: NoteWork, trial: TuningTrial, at: TriedPoint, parent: QWidget) -> None:
        super().__init__(theme, work, tr("Use point {number}", number=at.number), tr("Use"), parent, (720, 420))
        self._planned = partial(plan_notes, trial, at.point)
        settings = _turns(trial, at, of_notes=False)
        if settings:
            told = ", ".join(f"{what} {before} → {after}" for what, before, after in settings)
            self.form.addRow(label(self, tr("Settings, as a step of their own: {settings}.", settings=told)))

    def _show(self, found: tuple[Planned, str]) -> None:
        """Notes that are so already do not keep the settings from being taken over."""
        planned, summary = found
        told = summary or ("" if planned.changes.changes else tr("The notes are so already."))
        super()._show((planned, told))
        able(self.ok, not self._going, tr("It is being written."))

    def plan(self) -> NotePlan:
        """Write what the point turns into the notes."""
        return lambda _vaults: self._planned()


def _trial(simulator: Simulator, lines: tuple[str, ...]) -> TuningTrial:
    """What is searched: the chat as it was run, held against the vault's expectations. Raises InputError."""
    project, kind, settings = simulator.project, simulator.system.kind, simulator.system.settings
    path = expectations_path(project.changed_in)
    expected = load(path).every if path is not None else ()
    if not expected:
        raise InputError("Tuning", "nothing is expected yet. Say of entries that they should be in, or should not.")
    if not lines:
        raise InputError("Tuning", f"say what may be turned, one a line, as in {examples(kind)[0]}.")
    return TuningTrial((project,), kind.name, settings, expected, space_of(lines, project, kind, settings))
