"""What can be done with the timeline and with comparisons: mounted by the main window."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFileDialog

from lorestudio.domain.chat import Generation
from lorestudio.ui.features.compare.runs_pane import ComparePane, copy_markdown
from lorestudio.ui.features.timeline import drawing
from lorestudio.ui.features.timeline.pane import TimelinePane
from lorestudio.ui.shell.command_group import CommandGroup
from lorestudio.ui.shell.words import Notice, sentence_case, sentence_of, tr
from lorestudio.ui.widgets import dialogs

if TYPE_CHECKING:
    from lorestudio.ui.shell.main_window import MainWindow
    from lorestudio.ui.widgets.pane import Pane


class TimelineCommands(CommandGroup):
    """Owns the timeline's pane and the pane of comparisons."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self.timeline = TimelinePane(window.theme, window.session, window.selection)
        self.compare = ComparePane(window.theme, window.session, window.selection)
        for pane in (self.timeline, self.compare):
            pane.jump.connect(self.jump)

    @property
    def panes(self) -> tuple[Pane, ...]:
        """The panes."""
        return self.timeline, self.compare

    def handlers(self) -> dict[str, Callable[[], object]]:
        """What each action does."""
        timeline = self.timeline
        return {
            "timeline.wider": partial(timeline.map.zoom, 1),
            "timeline.narrower": partial(timeline.map.zoom, -1),
            "timeline.swipes": lambda: timeline.show_as(swipes=not timeline.shown.swipes),
            "timeline.injected": lambda: timeline.show_as(only_injected=not timeline.shown.only_injected),
            "timeline.csv": partial(self._ask_file, ".csv", entries=False),
            "timeline.csv_entries": partial(self._ask_file, ".csv", entries=True),
            "timeline.picture": partial(self._ask_file, ".png", entries=False),
            "compare.mark": self.mark,
            "compare.marked": self.compare_marked,
            "compare.before": partial(self._compare, "before"),
            "compare.former": self.compare_former,
            "compare.settings": partial(self._ask_settings, 1),
            "compare.copy": self.copy,
        }

    def connect_window(self) -> None:
        """Follow what the panes ask for; call it once the window has its actions."""
        self.timeline.wanted.connect(self._window.run)
        self.compare.wanted.connect(self._wanted)
        for pane in (self.timeline, self.compare):
            self._window.docks[pane.name].visibilityChanged.connect(pane.set_seen)

    def update(self, actions: dict[str, QAction]) -> None:
        """Tick what is on."""
        actions["timeline.swipes"].setChecked(self.timeline.shown.swipes)
        actions["timeline.injected"].setChecked(self.timeline.shown.only_injected)

    def jump(self, generation: object, entry: object) -> None:
        """Look at a generation, and at an entry where one is given."""
        if isinstance(generation, Generation) and generation != self._window.selection.generation:
            self._window.chat.show_generation(generation)
        if isinstance(entry, int) and entry != self._window.selection.entry:
            self._window.selection.choose_entry(entry)

    @property
    def marked(self) -> bool:
        """Whether a run is marked."""
        return self.compare.desk.marked is not None

    # ---- comparing --------------------------------------------------------------------------------------------------

    def mark(self) -> None:
        """Mark the shown run for a comparison."""
        desk = self.compare.desk
        if desk.mark() and desk.marked is not None:
            text = tr("{run} is marked. Ctrl+M compares it with the run that is shown then.", run=desk.marked.title)
            self._window.status.flash(sentence_case(text))

    def compare_marked(self) -> None:
        """Compare the marked run with the shown one; with unsaved texts where these are tried out."""
        if self.marked:
            self._compare("marked")
        else:
            text = tr("No run is marked. Choose a reply and press M; then choose another one and press Ctrl+M.")
            self._window.say(Notice(text, key="compare"))

    def compare_former(self) -> None:
        """Compare the shown run with the one that it replaced, or with itself without the unsaved texts."""
        session, selection = self._window.session, self._window.selection
        if session.runs.preview_of(selection.generation) is not None:
            self._compare("shown", "unsaved")
        elif self.compare.desk.last_former:
            self._compare(self.compare.desk.last_former)
        else:
            text = tr("This reply was run once only. Change a setting or a note, and the run before can be compared.")
            self._window.say(Notice(text, key="compare"))

    def _compare(self, before: str, after: str = "shown") -> None:
        self._window.show_pane("compare")
        self.compare.choose(before, after)

    def copy(self) -> None:
        """Copy the comparison as Markdown."""
        if copy_markdown(self.compare):
            self._window.status.flash(tr("The comparison was copied."))

    def _wanted(self, action: str) -> None:
        if action in {"compare.settings0", "compare.settings1"}:
            self._ask_settings(int(action[-1]))
        else:
            self._window.run(action)

    def _ask_settings(self, place: int) -> None:
        """Ask for a file of settings; the shown run is the other side."""

        def chosen(path: Path) -> None:
            key = self.compare.desk.add_settings(path)
            self._compare(*((key, "shown") if place == 0 else ("shown", key)))

        start = str(self._window.settings.value("folders/settings", ""))
        filters = tr("Settings (*.json);;All files (*)")
        dialogs.choose_file(self._window, tr("Compare with the settings of a file"), start, filters, chosen)

    # ---- files ------------------------------------------------------------------------------------------------------

    def _ask_file(self, suffix: str, *, entries: bool) -> None:
        content = self.timeline.content
        if not content.columns:
            self._window.say(Notice(tr("There are no turns to save yet. Replay the chat first."), key="timeline"))
            return
        filters = tr("Tables (*.csv)") if suffix == ".csv" else tr("Pictures (*.png);;Drawings (*.svg)")
        dialog = QFileDialog(self._window, tr("Save the timeline"), "", filters)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix(suffix)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(lambda name: self.save(Path(name), entries=entries))
        dialog.open()

    def save(self, path: Path, *, entries: bool = False) -> None:
        """Write the timeline to a file; its ending says how."""
        timeline, kind = self.timeline, path.suffix.lower()
        try:
            if kind == ".csv":
                data = timeline.as_csv(entries=entries)
            else:
                data = drawing.picture(self._window.theme, timeline.font(), timeline.content, timeline.map.cell, kind)
        except ValueError as error:
            self._window.say(Notice(sentence_of(error), "error", key="timeline"))
            return

        def failed(error: Exception) -> None:
            text = tr("{name} cannot be written: {error}", name=path.name, error=sentence_of(error))
            self._window.say(Notice(text, "error", key="timeline"))

        self._window.session.jobs.start(
            tr("Saving {name}", name=path.name),
            lambda _report: drawing.write(path, data),
            done=lambda _none: self._window.status.flash(tr("{name} was saved.", name=path.name)),
            failed=failed,
        )
