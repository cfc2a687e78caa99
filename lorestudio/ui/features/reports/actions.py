"""What of a run is copied and saved for others: text, redacted reports, scenarios."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TypeVar

from lorestudio.exchange.scenario_file import scenario_bytes
from lorestudio.studio.replay.exported_scenario import export_turn
from lorestudio.studio.report.page import Format, report_text
from lorestudio.studio.report.source import gather, without_words
from lorestudio.trace.text import as_text
from lorestudio.ui.features.reports.dialog import Made, PreviewDialog, ReportDialog, ReportWish, ScenarioDialog
from lorestudio.ui.shell.actions import Action
from lorestudio.ui.shell.feature import Feature
from lorestudio.ui.shell.words import Notice, count, tr

Dialog = TypeVar("Dialog", bound=PreviewDialog)


class ReportsFeature(Feature):
    """Has no pane: what it makes goes onto the clipboard or into a file."""

    def actions(self) -> Iterable[Action]:
        """What can be done."""
        has_trace = self.context.has_trace
        return (
            Action("copy.text", "Copy the run as text", "Trace/Copy", 0, self.copy_text, when=has_trace),
            Action(
                "copy.redacted", "Copy a redacted report", "Trace/Copy", 10, self.copy_redacted, ("Ctrl+Shift+C",),
                when=has_trace,
                tip="Names, keys and texts are replaced, so that it can be posted where everybody reads it",
            ),
            Action(
                "report.save", "Save a report…", "Trace/Save", 200, self.save_report, when=has_trace, icon="save",
                tip="A page, Markdown, text or JSON of this reply or of the whole chat",
            ),
            Action(
                "report.redacted", "Save a redacted report…", "Trace/Save", 205, partial(self.save_report,
                redacted=True),
                when=has_trace, icon="hidden",
            ),
            Action(
                "scenario.save", "Save as scenario…", "Trace/Save", 210, self.save_scenario, when=has_trace,
                tip="One file from which “lorestudio run” decides the same again",
            ),
        )  # fmt: skip

    # ---- copying ----------------------------------------------------------------------------------------------------

    def copy_text(self) -> None:
        """The whole run as plain text."""
        session, generation = self.context.session, self.context.selection.generation
        trace, project = session.runs.trace(generation), session.project
        if trace is not None and project is not None:
            self.context.copy(as_text(trace, project.index), tr("The run was copied as text."))

    def copy_redacted(self) -> None:
        """A report of the reply without the person's words, as Markdown."""
        session, generation = self.context.session, self.context.selection.generation
        trace, project = session.runs.trace(generation), session.project
        if trace is None or project is None or generation is None:
            return
        by = session.choice.deciding(project)

        def work() -> str:
            source = gather(project, {generation: trace}, generation, by)
            return report_text(without_words(source), Format.MARKDOWN)

        said = tr("A redacted report was copied: names and texts are replaced, numbers and reasons stay.")
        session.jobs.start(
            tr("Making a report"),
            lambda _report: work(),
            done=lambda text: self.context.copy(text, said),
            failed=self.context.failing("export"),
        )

    # ---- saving -----------------------------------------------------------------------------------------------------

    def save_report(self, *, redacted: bool = False) -> ReportDialog | None:
        """Show what a report would be, and save it where the person says."""
        session, generation = self.context.session, self.context.selection.generation
        project, trace = session.project, session.runs.trace(generation)
        if project is None or generation is None or trace is None:
            return None
        runs, by = session.runs.traces, session.choice.deciding(project)
        traces = runs.part([each for each in session.generations if each in runs])  # opened in the dialog's job

        def make(wanted: ReportWish) -> Made:
            shown = traces if wanted.whole_chat else {generation: trace}
            source = gather(project, shown, None if wanted.whole_chat else generation, by)
            made = without_words(source) if wanted.redacted else source
            return Made(report_text(made, wanted.format).encode("utf-8", "backslashreplace"))

        name = f"{project.name} {generation.message}"
        return self._opened(ReportDialog(session.jobs, make, name, self.context.window, redacted=redacted))

    def save_scenario(self) -> ScenarioDialog | None:
        """Show the chosen turn as a scenario, and save it where the person says."""
        session, generation = self.context.session, self.context.selection.generation
        runs = session.runs.finished()
        if runs is None or generation is None or generation not in runs.traces:
            text = tr("A scenario is made of a finished run. Replay the chat, then choose a reply.")
            self.context.say(Notice(text, actions=("replay.all",), key="scenario"))
            return None

        def make() -> Made:
            exported = export_turn(runs, generation)
            again = tr("It was run once more, and every decision was the same.")
            if exported.differing:
                numbers = ", ".join(str(number + 1) for number in exported.differing)
                odd = count(len(exported.differing), "generation", "generations")
                told = "Run once more, {odd} decided otherwise ({numbers}): this is a fault."
                again = tr(told, odd=odd, numbers=numbers)
            return Made(scenario_bytes(exported.scenario), (*exported.remarks, again))

        name = f"{runs.project.name} {generation.message}"
        return self._opened(ScenarioDialog(session.jobs, make, name, self.context.window))

    def _opened(self, dialog: Dialog) -> Dialog:
        dialog.saved.connect(lambda path: self.context.flash(tr("{name} was saved.", name=path.name)))
        dialog.open()
        return dialog
