"""What can be done with the trace of a reply: its rows and stages, its funnel, its prompt."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import ClassVar, Final

from PySide6.QtWidgets import QWidget

from lorestudio.trace.journey import PHASES
from lorestudio.ui.features.chat.pane import ChatPane
from lorestudio.ui.features.trace.pane import AI, ANSWERS, FUNNEL, PROMPT, TracePane
from lorestudio.ui.shell.actions import Action, Need, Where
from lorestudio.ui.shell.feature import Context, Feature
from lorestudio.ui.shell.words import tr

UNFOLDED: Final = "trace/unfolded"
"""Where the window's settings keep which phases are unfolded."""


class TraceFeature(Feature):
    """Owns the pane. Other features add to `openers`: each says what opens the chosen row where it is no entry."""

    view_keys: ClassVar = {
        "in the answers": (
            ("Make the change that the row offers", "Return"),
            ("Fold or unfold the phase of the cell", "Space"),
        ),
        "in the funnel's flow": (
            ("From stage to stage", "Up  Down  Home  End"),
            ("Through the ribbons of a stage", "Left  Right"),
            ("List the entries of the ribbon", "Return"),
        ),
        "in the prompt": (("Show all of a part", "X  Space"), ("Go to the message of a part", "Return")),
    }

    def __init__(self, context: Context, chat: ChatPane) -> None:
        super().__init__(context)
        self._chat = chat
        self.pane = TracePane(
            context.theme, context.session, context.selection, context.expected, context.preview.whole
        )
        self.panes = (self.pane,)
        self.openers: list[Callable[[], Callable[[], object] | None]] = []
        self.pane.flow.saving.connect(context.save_file)
        self.pane.prompt_copied.connect(context.flash)
        self.pane.message_chosen.connect(self.go_to_message)

    def actions(self) -> Iterable[Action]:
        """What can be done."""
        now, pane, has_trace = self.context, self.pane, self.context.has_trace
        flow = pane.flow
        return (
            Action(
                "copy.row", "Copy row as Markdown", "Edit", 205, pane.copy_row, ("Ctrl+C",), Where.TRACE,
                now.traced_row,
            ),
            Action(
                "copy.report", "Copy the run as Markdown", "Trace/Copy", 5, self._copy_report, when=has_trace,
                icon="copy"
            ),
            Action(
                "trace.prompt", "Show the prompt", "Trace/Show", 10, partial(self._show_tab, PROMPT), ("P",),
                Where.RUNS, has_trace, tip="The whole prompt of this reply, message by message, with the lore marked",
            ),
            Action(
                "trace.ai", "What the model was asked", "Trace/Show", 15, partial(self._show_tab, AI), ("A",),
                Where.RUNS, has_trace, "ai",
            ),
            Action(
                "trace.entry", "Open the chosen entry", "Trace", 16, self._open_row, ("E",), Where.RUNS,
                Need(lambda: now.has_entry() or self._opener() is not None, "Choose an entry first."),
            ),
            Action("trace.filter", "Filter rows", "Trace", 25, pane.open_search, ("F",), Where.TRACE, has_trace,
                pane="trace"),
            Action("trace.show_all", "Show all rows", "Trace", 35,
                partial(self._with_tab, ANSWERS, pane.show_all_rows),
                when=Need(lambda: not pane.only.isHidden(), "All rows are shown."), pane="trace"),
            Action(
                "trace.all_stages", "Unfold the phases into stages", "Trace", 36, self._toggle_stages, ("Q",),
                Where.TRACE, tip="Give every stage a column in the answers, and a step in the funnel",
                ticked=pane.all_stages.isChecked, pane="trace",
            ),
            Action("flow.measure", "Funnel in entries or tokens", "Trace/Funnel", 100,
                partial(self._with_tab, FUNNEL, flow.toggle_measure), when=has_trace, pane="trace"),
            Action("flow.table", "Funnel as a table", "Trace/Funnel", 105,
                partial(self._with_tab, FUNNEL, flow.toggle_table), when=has_trace, icon="table", pane="trace"),
            *(
                Action(f"flow.save_{ending}", f"Save the funnel{words}…", "Trace/Funnel", order,
                       partial(flow.save, ending), when=has_trace)
                for ending, words, order in (("csv", "'s table", 110), ("svg", " as SVG", 111), ("png", " as PNG", 112))
            ),
            *(
                Action(f"prompt.copy_{kind.lower()}", f"Copy the prompt as {kind}", "Trace/Copy", order,
                       partial(self._copy_prompt, markdown=kind == "Markdown"), when=has_trace)
                for kind, order in (("text", 120), ("Markdown", 125))
            ),
        )  # fmt: skip

    def places(self) -> Mapping[Where, Sequence[QWidget]]:
        """The pane."""
        return {Where.TRACE: (self.pane,), Where.RUNS: (self.pane,)}

    def begin(self) -> None:
        """Phases are unfolded that were when the window was last closed."""
        self.pane.answers.opened.connect(self._open_row)
        names = str(self.context.settings.value(UNFOLDED, "")).split()
        self.pane.unfold(frozenset(phase for phase in PHASES if phase.value in names))
        self.pane.fold_changed.connect(self._keep_folds)

    def go_to_message(self, message: int) -> None:
        """Scroll the chat to a message; the run that is looked at stays."""
        self.context.uncover("chat")
        view = self._chat.view
        view.scrollTo(self._chat.model.index(message), view.ScrollHint.PositionAtCenter)
        self._chat.flash(message)

    def _copy_report(self) -> None:
        self.pane.copy_report()
        self.context.flash(tr("The report was copied."))

    def _show_tab(self, tab: int) -> None:
        self.pane.tabs.setCurrentIndex(tab)
        self.context.show("trace")

    def _with_tab(self, tab: int, do: Callable[[], object]) -> None:
        self.pane.tabs.setCurrentIndex(tab)
        do()

    def _opener(self) -> Callable[[], object] | None:
        return next(filter(None, (opener() for opener in self.openers)), None)

    def _open_row(self) -> None:
        (self._opener() or partial(self.context.show, "entry"))()

    def _toggle_stages(self) -> None:
        if self.pane.tabs.currentIndex() not in {ANSWERS, FUNNEL}:
            self.pane.tabs.setCurrentIndex(ANSWERS)
        self.pane.unfold(frozenset() if self.pane.model.unfolded else frozenset(PHASES))

    def _keep_folds(self) -> None:
        names = " ".join(sorted(phase.value for phase in self.pane.model.unfolded))
        self.context.settings.setValue(UNFOLDED, names)
        self.context.actions_changed()

    def _copy_prompt(self, *, markdown: bool) -> None:
        """The prompt is put together when its tab is first shown."""
        self.pane.tabs.setCurrentIndex(PROMPT)
        if self.pane.prompt.prompt is None:
            self.context.flash(tr("The prompt is being put together; copy it once it is shown."))
        self.pane.prompt.copy(markdown=markdown)
