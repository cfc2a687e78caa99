"""What can be done with the timeline and with comparisons of runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from lorestudio.domain.chat import Generation
from lorestudio.domain.records import replace
from lorestudio.ui.features.chat.pane import ChatPane
from lorestudio.ui.features.compare.runs import ComparableRuns
from lorestudio.ui.features.timeline.map_content import Shown
from lorestudio.ui.features.timeline.strip import ORDERS, BarOrder, ReplyStrip
from lorestudio.ui.features.timeline.turns import TimelineFeed
from lorestudio.ui.shell.actions import Action, Where
from lorestudio.ui.shell.feature import Context, Feature, late_pane
from lorestudio.ui.shell.words import Notice, sentence_case, tr
from lorestudio.ui.widgets import dialogs
from lorestudio.ui.widgets.layouts import menu_of
from lorestudio.ui.widgets.pane import Pane

if TYPE_CHECKING:
    from lorestudio.ui.features.compare.runs_pane import ComparePane, RunsPage
    from lorestudio.ui.features.timeline.pane import TimelinePane

MAP_MENU: Final = (
    "trace.why", "trace.entry", "controls.pin", "controls.block", "timeline.csv_entries", "timeline.picture",
)  # fmt: skip
"""What the menu of a cell of the map has."""


class TimelineFeature(Feature):
    """Owns the timeline's pane and the pane of comparisons, whose other page, `systems`, is made elsewhere."""

    def __init__(self, context: Context, chat: ChatPane, systems: Callable[[], Pane]) -> None:
        super().__init__(context)
        self._chat, self._systems = chat, systems
        self.feed = TimelineFeed(context.session, self)
        self.strip = ReplyStrip(context.theme, context.session, context.selection, self.feed, context.expected, chat)
        chat.column.addWidget(self.strip)
        self.strip.jump.connect(lambda generation: self.jump(generation, None))
        self.strip.brushed.connect(lambda part: self.timeline.show_as(replace(self.timeline.shown, part=part)))
        self.strip.unfolded.connect(self.unfold)
        self.strip.wanted.connect(context.run)
        self.comparable = ComparableRuns(context.session, context.selection, self)

    @late_pane("timeline", "Timeline")
    def timeline(self) -> TimelinePane:
        """All turns, as a map and as tables."""
        from lorestudio.ui.features.timeline.pane import TimelinePane

        context = self.context
        pane = TimelinePane(context.theme, context.session, context.selection, self.feed, self.home("timeline"))
        pane.jump.connect(self.jump)
        context.commands.attach({Where.TIMELINE: (pane,), Where.RUNS: (pane,)})
        context.commands.fill(menu_of(pane.save), ("timeline.csv", "timeline.csv_entries", "timeline.picture"))
        pane.map.addActions([context.action(name) for name in MAP_MENU])
        return pane

    @late_pane("compare", "Compare")
    def comparisons(self) -> ComparePane:
        """Two runs beside each other, and the page that is made elsewhere."""
        from lorestudio.ui.features.compare.runs_pane import ComparePane, RunsPage

        context = self.context
        runs = RunsPage(context.theme, context.session, context.selection, self.comparable)
        runs.jump.connect(self.jump)
        runs.wanted.connect(self._wanted)
        pane = ComparePane(context.theme, runs, self._systems(), parent=self.home("compare"))
        context.commands.attach({Where.RUNS: (pane,)})
        return pane

    def actions(self) -> Iterable[Action]:
        """What can be done."""
        now, menu, compare = self.context, "Trace/Timeline", "Trace/Compare"
        has_chat, has_trace = now.has_chat, now.has_trace
        return (
            *(
                Action(f"timeline.{way}", f"{way.capitalize()} turns", menu, order, partial(self._zoom, steps),
                       (key,), Where.TIMELINE, has_chat, icon, pane="timeline")
                for way, order, steps, key, icon in (
                    ("wider", 220, 1, "]", "plus"), ("narrower", 221, -1, "[", "minus"),
                )
            ),
            *(
                Action(f"strip.{order.name.lower()}", f"Replies: {title.lower()}", menu, 290 + place,
                       partial(self._order_by, order), when=has_chat, ticked=partial(self._is_order, order),
                       pane="chat")
                for place, (order, title) in enumerate(ORDERS.items())
            ),
            Action(
                "timeline.swipes", "Show every swipe as a turn", menu, 300, self._toggle_swipes,
                when=has_chat, ticked=lambda: self._shown.swipes, pane="timeline",
            ),
            Action(
                "timeline.injected", "Show only entries that went in", menu, 305,
                self._toggle_injected, when=has_chat, ticked=lambda: self._shown.only_injected, pane="timeline",
            ),
            *(
                Action(f"timeline.{name}", title, menu, order, partial(self._ask_file, suffix, entries=entries),
                       when=has_chat, icon="save")
                for name, title, order, suffix, entries in (
                    ("csv", "Save turns as CSV…", 400, ".csv", False),
                    ("csv_entries", "Save entries as CSV…", 405, ".csv", True),
                    ("picture", "Save the map as a picture…", 410, ".png", False),
                )
            ),
            Action(
                "compare.mark", "Mark this run for comparison", compare, 230, self.mark, ("M",), Where.RUNS, has_trace,
                "place",
            ),
            Action(
                "compare.marked", "Compare the marked run with this one", compare, 231, self.compare_marked,
                ("Ctrl+M",), when=has_trace.also(lambda: self.marked, "Mark a run for comparison first."),
                icon="columns",
            ),
            Action(
                "compare.before", "Compare with the turn before", compare, 232, partial(self._compare, "before"),
                when=has_trace,
            ),
            Action(
                "compare.former", "Compare with the run before the change", compare, 233, self.compare_former,
                when=has_trace, tip="Compare this run with the one before the last change of settings, notes or chat",
            ),
            Action(
                "compare.settings", "Compare with other settings…", compare, 234, partial(self._ask_settings, 1),
                when=has_trace,
            ),
            Action(
                "compare.copy", "Copy the comparison as Markdown", compare, 235, self.copy, when=has_trace, icon="copy"
            ),
        )  # fmt: skip

    def begin(self) -> None:
        """Keep up with the turns while the chat is seen."""
        self.strip.addAction(self.context.action("timeline.csv"))
        self.context.layout.docks["chat"].visibilityChanged.connect(lambda seen: self.feed.watch("chat", looks=seen))

    @property
    def compare(self) -> RunsPage:
        """The page of two runs."""
        return self.comparisons.runs

    @property
    def _shown(self) -> Shown:
        return self.timeline.shown if self.is_made("timeline") else Shown()

    def _is_order(self, order: BarOrder) -> bool:
        return self.strip.order is order

    def _order_by(self, order: BarOrder) -> None:
        """Sort the strip, and look at the first reply: it is the answer to the question."""
        self.strip.order_by(order)
        if order is not BarOrder.CHAT and self.strip.generations:
            self.jump(self.strip.generations[0], None)
        self.strip.chart.setFocus()

    def _zoom(self, steps: int) -> None:
        self.timeline.map.zoom(steps)

    def _toggle_swipes(self) -> None:
        self.timeline.toggle_swipes()

    def _toggle_injected(self) -> None:
        self.timeline.toggle_injected()

    def unfold(self, page: int) -> None:
        """Show the pane of the timeline with this page: the map, the turns, the entries or the cache."""
        self.timeline.tabs.setCurrentIndex(page)
        self.context.show("timeline")

    def jump(self, generation: object, entry: object) -> None:
        """Look at a generation, and at an entry where one is given."""
        if isinstance(generation, Generation) and generation != self.context.selection.generation:
            self._chat.show_generation(generation)
        if isinstance(entry, int) and entry != self.context.selection.entry:
            self.context.selection.choose_entry(entry)

    @property
    def marked(self) -> bool:
        """Whether a run is marked."""
        return self.comparable.marked is not None

    # ---- comparing --------------------------------------------------------------------------------------------------

    def mark(self) -> None:
        """Mark the shown run for a comparison."""
        comparable = self.comparable
        if comparable.mark() and comparable.marked is not None:
            text = tr("{run} is marked. {keys} compares it with the run that is shown then.",
                      run=comparable.marked.title, keys=self.context.keys("compare.marked"))  # fmt: skip
            self.context.flash(sentence_case(text))

    def compare_marked(self) -> None:
        """Compare the marked run with the shown one; with unsaved texts where these are tried out."""
        if self.marked:
            self._compare("marked")
        else:
            text = tr("No run is marked. Choose a reply and press {mark}; then choose another one and press {keys}.",
                      mark=self.context.keys("compare.mark"), keys=self.context.keys("compare.marked"))  # fmt: skip
            self.context.say(Notice(text, key="compare"))

    def compare_former(self) -> None:
        """Compare the shown run with the one that it replaced, or with itself without the unsaved texts."""
        session, selection = self.context.session, self.context.selection
        if session.runs.preview_of(selection.generation) is not None:
            self._compare("shown", "unsaved")
        elif self.comparable.last_former:
            self._compare(self.comparable.last_former)
        else:
            text = tr("This reply was run once only. Change a setting or a note, and the run before can be compared.")
            self.context.say(Notice(text, key="compare"))

    def _compare(self, before: str, after: str = "shown") -> None:
        self.context.show("compare")
        self.comparisons.turn_to(self.compare)
        self.compare.choose(before, after)

    def copy(self) -> None:
        """Copy the comparison as Markdown."""
        if text := self.compare.markdown():
            self.context.copy(text, tr("The comparison was copied."))

    def _wanted(self, action: str) -> None:
        if action in {"compare.settings0", "compare.settings1"}:
            self._ask_settings(int(action[-1]))
        else:
            self.context.run(action)

    def _ask_settings(self, place: int) -> None:
        """Ask for a file of settings; the shown run is the other side."""

        def chosen(path: Path) -> None:
            key = self.comparable.add_settings(path)
            self._compare(*((key, "shown") if place == 0 else ("shown", key)))

        title = tr("Compare with the settings of a file")
        window, remembered, files = self.context.window, self.context.settings, tr(dialogs.SETTINGS_FILES)
        dialogs.choose_again(window, remembered, "settings", title, files, chosen)

    # ---- files ------------------------------------------------------------------------------------------------------

    def _ask_file(self, suffix: str, *, entries: bool) -> None:
        if not self.timeline.content.columns:
            self.context.say(Notice(tr("There are no turns to save yet. Replay the chat first."), key="timeline"))
            return
        filters = tr("Tables (*.csv)") if suffix == ".csv" else tr("Pictures (*.png);;Drawings (*.svg)")
        title, name = tr("Save the timeline"), f"{'entries' if entries else 'timeline'}{suffix}"
        dialogs.choose_new_file(self.context.window, title, name, filters, suffix, partial(self.save, entries=entries))

    def save(self, path: Path, *, entries: bool = False) -> None:
        """Write the timeline to a file; its ending says how."""
        from lorestudio.ui.features.timeline import drawing

        timeline, kind = self.timeline, path.suffix.lower()
        try:
            if kind == ".csv":
                make = timeline.csv(entries=entries)
            else:
                make = drawing.picture(self.context.theme, timeline.font(), timeline.content, timeline.map.cell, kind)
        except ValueError as error:
            self.context.failing("timeline")(error)
            return

        self.context.save_file(path, make)
