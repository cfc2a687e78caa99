"""What can be done with the views of a run: copying, saving, reports and scenarios. Mounted by the main window."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtGui import QAction, QGuiApplication

from lorestudio.exchange.scenario_file import scenario_bytes
from lorestudio.studio.project.files import write_bytes
from lorestudio.studio.report.formats import Format, report_text
from lorestudio.studio.report.source import gather, without_words
from lorestudio.studio.scenario.export import export_turn
from lorestudio.trace.text import as_text
from lorestudio.ui.features.reports.dialog import Made, ReportDialog, ScenarioDialog, Wanted
from lorestudio.ui.shell.command_group import CommandGroup
from lorestudio.ui.shell.words import Notice, sentence_of, tr

if TYPE_CHECKING:
    from lorestudio.ui.shell.main_window import MainWindow


QUIET_STAGES: Final = "trace/quiet_stages"
"""Where the window's settings keep whether quiet stages are shown."""


class ViewCommands(CommandGroup):
    """The handlers of what the Trace menu copies and saves, and of the ways from a view to the chat."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        trace, why = window.trace, window.why
        trace.flow.saving.connect(self._save)
        trace.prompt.copied.connect(self._flash)
        trace.prompt.message_chosen.connect(self.go_to_message)
        why.message_wanted.connect(self.go_to_message)

    def handlers(self) -> dict[str, Callable[[], object]]:
        """What each action does."""
        trace = self._window.trace
        return {
            "copy.text": self.copy_text,
            "copy.redacted": self.copy_redacted,
            "prompt.copy_text": self._with_prompt(trace.prompt.copy_text),
            "prompt.copy_markdown": self._with_prompt(trace.prompt.copy_markdown),
            "flow.measure": trace.flow.toggle_measure,
            "flow.table": trace.flow.toggle_table,
            "flow.save_csv": lambda: trace.flow.save("csv"),
            "flow.save_svg": lambda: trace.flow.save("svg"),
            "flow.save_png": lambda: trace.flow.save("png"),
            "trace.show_all": trace.show_all_rows,
            "trace.all_stages": self.toggle_stages,
            "why.scores": self.toggle_scores,
            "report.save": self.save_report,
            "report.redacted": lambda: self.save_report(redacted=True),
            "scenario.save": self.save_scenario,
        }

    def connect_window(self) -> None:
        """Quiet stages are shown where they were when the window was last closed."""
        if str(self._window.settings.value(QUIET_STAGES, "")) == "shown":
            self._window.trace.set_all_stages(True)

    def update(self, actions: dict[str, QAction]) -> None:
        """Tick what is on."""
        actions["trace.all_stages"].setChecked(self._window.trace.model.all_stages)

    def toggle_stages(self) -> None:
        """Show quiet stages, or hide them again."""
        trace = self._window.trace
        trace.set_all_stages(not trace.model.all_stages)
        self._window.settings.setValue(QUIET_STAGES, "shown" if trace.model.all_stages else "hidden")
        self._window.update_actions()

    # ---- copying ----------------------------------------------------------------------------------------------------

    def copy_text(self) -> None:
        """The whole run as plain text."""
        session, generation = self._window.session, self._window.selection.generation
        trace, project = session.runs.trace(generation), session.project
        if trace is not None and project is not None:
            QGuiApplication.clipboard().setText(as_text(trace, project.index))
            self._flash(tr("The run was copied as text."))

    def copy_redacted(self) -> None:
        """A report of the reply without the person's words, as Markdown."""
        session, generation = self._window.session, self._window.selection.generation
        trace, project = session.runs.trace(generation), session.project
        if trace is None or project is None or generation is None:
            return

        def work() -> str:
            source = gather(project, {generation: trace}, generation)
            return report_text(without_words(source), Format.MARKDOWN)

        session.jobs.start(
            tr("Making a report"),
            lambda _report: work(),
            done=self._copied_redacted,
            failed=self._failed,
        )

    def _copied_redacted(self, text: str) -> None:
        QGuiApplication.clipboard().setText(text)
        self._flash(tr("A redacted report was copied: names and texts are replaced, numbers and reasons stay."))

    # ---- saving -----------------------------------------------------------------------------------------------------

    def save_report(self, *, redacted: bool = False) -> ReportDialog | None:
        """Show what a report would be, and save it where the person says."""
        session, generation = self._window.session, self._window.selection.generation
        project, trace = session.project, session.runs.trace(generation)
        if project is None or generation is None or trace is None:
            return None
        traces = {each: session.runs.traces[each] for each in session.generations if each in session.runs.traces}

        def make(wanted: Wanted) -> Made:
            shown = traces if wanted.whole_chat else {generation: trace}
            source = gather(project, shown, None if wanted.whole_chat else generation)
            made = without_words(source) if wanted.redacted else source
            return Made(report_text(made, wanted.format).encode("utf-8", "backslashreplace"))

        name = f"{project.name} {generation.message}"
        dialog = ReportDialog(session.jobs, make, name, self._window, redacted=redacted)
        dialog.saved.connect(self._saved)
        dialog.open()
        return dialog

    def save_scenario(self) -> ScenarioDialog | None:
        """Show the chosen turn as a scenario, and save it where the person says."""
        session, generation = self._window.session, self._window.selection.generation
        known = self._window.session.runs
        runs = known.finished()
        if runs is None or generation is None or generation not in runs.traces:
            text = tr("A scenario is made of a finished run. Replay the chat, then choose a reply.")
            self._window.say(Notice(text, actions=("replay.all",), key="scenario"))
            return None

        def make() -> Made:
            exported = export_turn(runs, generation)
            again = tr("It was run once more, and every decision was the same.")
            if exported.differing:
                numbers = ", ".join(str(number + 1) for number in exported.differing)
                again = tr("Run once more, generation {numbers} decided otherwise: this is a fault.", numbers=numbers)
            return Made(scenario_bytes(exported.scenario), (*exported.remarks, again))

        name = f"{runs.project.name} {generation.message}"
        dialog = ScenarioDialog(session.jobs, make, name, self._window)
        dialog.saved.connect(self._saved)
        dialog.open()
        return dialog

    def _save(self, path: object, data: bytes) -> None:
        """Write a picture or a table."""
        if isinstance(path, Path):
            self._window.session.jobs.start(
                tr("Saving {name}", name=path.name),
                lambda _report: write_bytes(path, data),
                done=lambda _none: self._saved(path),
                failed=self._failed,
            )

    def _saved(self, path: Path) -> None:
        self._flash(tr("{name} was saved.", name=path.name))

    def _failed(self, error: Exception) -> None:
        self._window.say(Notice(sentence_of(error), "error", key="export"))

    # ---- showing ----------------------------------------------------------------------------------------------------

    def toggle_scores(self) -> None:
        """Show the numbers about the chosen entry, or its explanation again."""
        window = self._window
        window.show_pane("why")
        window.why.show_scores(not window.why.scores_button.isChecked())
        window.why.focus_target().setFocus()

    def go_to_message(self, message: int) -> None:
        """Scroll the chat to a message; the run that is looked at stays."""
        window = self._window
        window.raise_pane("chat")
        index = window.chat.model.index(message)
        window.chat.view.scrollTo(index, window.chat.view.ScrollHint.PositionAtCenter)
        window.chat.flash(message)

    def _with_prompt(self, copy: Callable[[], None]) -> Callable[[], None]:
        """The prompt is put together when its tab is first shown."""

        def run() -> None:
            self._window.trace.show_prompt()
            if self._window.trace.prompt.prompt is None:
                self._flash(tr("The prompt is being put together; copy it once it is shown."))
            copy()

        return run

    def _flash(self, text: str) -> None:
        self._window.status.flash(text)
