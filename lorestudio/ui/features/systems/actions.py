"""The actions of the retrieval systems.

What the window does with retrieval systems: choosing one for the chat, setting it, comparing; settings kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QSize
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QFileDialog

from lorestudio.settings.declaration import Section, Value
from lorestudio.settings.differences import section_differences, value_text
from lorestudio.settings.files import write_atomically
from lorestudio.settings.worldinfo import WorldInfoSettings
from lorestudio.studio.compare.comparison import comparison_as_markdown, comparison_rows
from lorestudio.studio.project.settings import KnownSettings, SystemSettingsFiles
from lorestudio.systems.registry import KINDS, kind_of
from lorestudio.ui.features.compare.systems_pane import BUTTONS, SystemsPane
from lorestudio.ui.features.settings.trial import SystemTrial
from lorestudio.ui.features.systems.books_dialog import BooksDialog
from lorestudio.ui.features.systems.settings_dialog import SystemSettingsDialog
from lorestudio.ui.features.timeline.export import csv_bytes
from lorestudio.ui.shell.actions import Action
from lorestudio.ui.shell.command_group import CommandGroup, Situation
from lorestudio.ui.shell.words import Notice, sentence_of, tr
from lorestudio.ui.state.choices import system_help, system_title
from lorestudio.ui.widgets import dialogs

if TYPE_CHECKING:
    from lorestudio.ui.shell.main_window import MainWindow


def _chat(now: Situation) -> bool:
    return now.chat


def _project(now: Situation) -> bool:
    return now.project


SYSTEMS: Final = KINDS
"""All systems, DeepLore first."""

OVER_BOOKS: Final = next(name for name, kind in KINDS.items() if kind.settings is WorldInfoSettings)
"""The system whose settings name lorebooks."""


def system_actions() -> tuple[Action, ...]:
    """One for each system that there is when a window is made, and those about all of them."""
    return (
        *(
            Action(
                f"system.{name}",
                system_title(name),
                "Run/System",
                enabled_when=_project,
                tip=system_help(name),
                checkable=True,
            )
            for name in SYSTEMS
        ),
        Action(
            "system.settings",
            "Settings of the system…",
            "Run/System",
            enabled_when=_project,
            icon="switches",
            tip="Set the system that is chosen for this chat",
            separator_before=True,
        ),
        Action(
            "worldinfo.books",
            "Lorebooks of World Info…",
            "Run/System",
            enabled_when=_project,
            icon="list",
            tip="Scan SillyTavern's lorebooks in place of the vault: files, whose they are, and in what order",
        ),
        Action(
            "systems.compare",
            "Compare systems…",
            "Run/System",
            enabled_when=_chat,
            icon="columns",
            tip="Run the chat with two or more systems or settings, and put what they put in side by side",
        ),
        Action(
            "systems.copy", "Copy the comparison of systems", "Trace/Compare systems", enabled_when=_chat, icon="copy"
        ),
        Action("systems.csv", "Save the comparison as CSV…", "Trace/Compare systems", enabled_when=_chat, icon="save"),
        Action(
            "systems.picture", "Save the chart as a picture…", "Trace/Compare systems", enabled_when=_chat, icon="table"
        ),
    )


class SystemCommands(CommandGroup):
    """Owns the files with the systems' settings, in the folder of the person's configuration."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._session = window.session
        self.files = SystemSettingsFiles(Path(window.settings.fileName()).parent / "systems")
        self.compare = SystemsPane(window.theme, window.session, window.selection)
        self.dialog: SystemSettingsDialog | None = None
        """The dialog that was opened last, while it is open."""
        self._kept: dict[str, Section] = {}
        """What stands in the files, or is on its way there."""
        self.books: BooksDialog | None = None
        """That of the lorebooks, while it is open."""

    @property
    def panes(self) -> tuple[SystemsPane]:
        """The pane that compares, hidden at first."""
        return (self.compare,)

    def handlers(self) -> dict[str, Callable[[], object]]:
        """What each action does."""
        return {f"system.{name}": partial(self.choose, name) for name in SYSTEMS} | {
            "system.settings": self.show_settings,
            "worldinfo.books": self.open_books,
            "systems.compare": self.show_comparison,
            "systems.copy": self.copy,
            "systems.csv": partial(self._ask_file, ".csv"),
            "systems.picture": partial(self._ask_file, ".png"),
        }

    def connect_window(self) -> None:
        """Follow what is asked for above the chat, and read the settings that were kept."""
        window, compare = self._window, self.compare
        compare.wanted.connect(window.run)
        compare.changed.connect(window.actions_changed)
        compare.jump.connect(window.chat.show_generation)
        compare.file_wanted.connect(self._ask_settings)
        for name in BUTTONS:
            compare.buttons[name].setDefaultAction(window.commands.actions[name])
        desk = window.settings_commands.desk
        desk.changed.connect(lambda: compare.set_profiles(desk.profiles))
        window.closed.connect(compare.close_down)
        self._session.choice_changed.connect(self._leave_foreign)
        self._session.configured.connect(self._keep_changed)
        self._window.chat.modes.system_chosen.connect(self.choose)
        self._session.jobs.start(
            tr("Reading the systems' settings"),
            lambda _report: self.files.read(),
            done=self._read,
            failed=lambda error: self._window.say(Notice(sentence_of(error), "warning", key="systems")),
        )

    def update(self, actions: dict[str, QAction]) -> None:
        """Tick the chosen system, and say what can be set."""
        chosen = self._session.choice
        for name in SYSTEMS:
            actions[f"system.{name}"].setChecked(chosen.system == name)
        for name in BUTTONS:
            actions[name].setEnabled(self.compare.found is not None)

    def choose(self, system: str) -> None:
        """Run the chat with this system from now on."""
        self._session.replays.choose(system=system)

    def show_settings(self) -> None:
        """Show the settings of the chosen system: DeepLore's in their pane, those of others in a dialog."""
        choice = self._session.choice
        if choice.is_main:
            self._window.show_pane("settings")
        else:
            self.open_settings(choice.system)

    def open_settings(self, system: str) -> SystemSettingsDialog:
        """Show the settings of a system beside DeepLore."""
        kind = kind_of(system)
        window = self._window
        if self.dialog is not None:
            self.dialog.close()
        trial = SystemTrial(self._session, window.selection, window.preview, system)
        dialog = self.dialog = SystemSettingsDialog(window.theme, kind, self._known(system), window, trial)
        dialog.accepted_settings.connect(partial(self.configure, system))
        dialog.finished.connect(partial(self._closed, dialog))
        if system == OVER_BOOKS:
            dialog.add_door(tr("Lorebooks…"), self._leave_for_books)
        dialog.open()
        return dialog

    def open_books(self) -> BooksDialog:
        """Show the lorebooks that World Info scans."""
        known = self._session.choices.systems.get(OVER_BOOKS)
        settings = known if isinstance(known, WorldInfoSettings) else WorldInfoSettings()
        if self.books is not None:
            self.books.close()
        dialog = self.books = BooksDialog(self._window.theme, self._session.jobs, settings, self._window)
        dialog.accepted_settings.connect(self._take_books)
        dialog.finished.connect(partial(self._books_closed, dialog))
        dialog.open()
        return dialog

    def _take_books(self, settings: Section) -> None:
        """Scan these books from now on, with World Info."""
        self.configure(OVER_BOOKS, settings)
        self.choose(OVER_BOOKS)

    def _leave_for_books(self) -> None:
        """What was set so far is kept, and the lorebooks are shown."""
        if self.dialog is not None:
            self.dialog.accept()
        self.open_books()

    def _books_closed(self, dialog: BooksDialog, _result: int) -> None:
        if self.books is dialog:
            self.books = None

    def change(self, system: str, values: Mapping[str, Value], title: str = "") -> None:
        """Give some settings of a system other values, as `configure` does; `title` says what was done."""
        self.configure(system, self._known(system).model_copy(update=dict(values)), title)

    def configure(self, system: str, settings: Section, title: str = "") -> None:
        """Use these settings from now on, as one step that can be taken back, and replay what they change.

        They are kept in their file.
        """
        changes = section_differences(self._known(system), settings)
        if not changes:
            return
        one = f"{tr(changes[0].declaration.title)}: {value_text(changes[0].declaration, changes[0].after)}"
        more = tr("settings of {system}", system=system_title(system))
        self._session.replays.configure({system: settings}, title or (one if len(changes) == 1 else more))

    def _known(self, system: str) -> Section:
        return self._session.choices.systems.get(system) or kind_of(system).settings()

    def _keep_changed(self) -> None:
        """Write what is other than in its file, whoever changed it."""
        for system, settings in self._session.choices.systems.items():
            if settings != self._kept.get(system):
                self._kept[system] = settings
                self._keep(system)
        self._window.actions_changed()

    def _keep(self, system: str) -> None:
        def failed(error: Exception) -> None:
            text = tr(
                "The settings of {system} are in use but could not be kept: {error}",
                system=system_title(system),
                error=sentence_of(error),
            )
            self._window.say(Notice(text, "error", key="systems"))

        self._session.jobs.start(
            tr("Keeping the settings of {system}", system=system_title(system)),
            # What is chosen when it is written, so that the last of two quick changes is kept.
            lambda _report: self.files.write(system, self._session.choices.systems[system]),
            done=lambda _path: None,
            failed=failed,
        )

    # ---- comparing --------------------------------------------------------------------------------------------------

    def show_comparison(self) -> None:
        """Show the pane, and compare where nothing was compared yet."""
        self._window.show_pane("systems")
        self.compare.run_or_find()

    def copy(self) -> None:
        """Put the comparison on the clipboard as Markdown."""
        if self.compare.found is not None:
            QGuiApplication.clipboard().setText(comparison_as_markdown(self.compare.found))
            self._window.status.flash(tr("The comparison was copied."))

    def save(self, path: Path) -> None:
        """Write the comparison into a file; its ending says how."""
        found = self.compare.found
        if found is None:
            return
        if path.suffix.lower() == ".png":
            data = self.compare.chart.picture(QSize(1200, 480))
        elif path.suffix.lower() == ".csv":
            data = csv_bytes(comparison_rows(found))
        else:
            text = tr("A comparison is saved as .csv or .png, not as {kind}.", kind=path.suffix or path.name)
            self._window.say(Notice(text, "error", key="systems"))
            return

        def failed(error: Exception) -> None:
            text = tr("{name} cannot be written: {error}", name=path.name, error=sentence_of(error))
            self._window.say(Notice(text, "error", key="systems"))

        self._session.jobs.start(
            tr("Saving {name}", name=path.name),
            lambda _report: write_atomically(path, data),
            done=lambda _none: self._window.status.flash(tr("{name} was saved.", name=path.name)),
            failed=failed,
        )

    def _ask_file(self, suffix: str) -> None:
        filters = tr("Tables (*.csv)") if suffix == ".csv" else tr("Pictures (*.png)")
        dialog = QFileDialog(self._window, tr("Save the comparison"), "", filters)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix(suffix)
        dialogs.open_file_dialog(dialog, self.save)

    def _ask_settings(self, system: str) -> None:
        start = str(self._window.settings.value("folders/settings", ""))
        title = tr("Compare {system} with the settings of a file", system=system_title(system))
        filters = tr("Settings (*.json);;All files (*)")
        dialogs.choose_file(self._window, title, start, filters, partial(self.compare.add_file, system))

    # ---- inside -----------------------------------------------------------------------------------------------------

    def _leave_foreign(self) -> None:
        """What only another system's runs know is looked at no longer."""
        selection = self._window.selection
        if selection.entry is not None and self._session.entry(selection.entry) is None:
            selection.choose_entry(None)

    def _read(self, known: KnownSettings) -> None:
        known_here = {**known.values, **self._session.choices.systems}  # what was set before the files were read counts
        self._kept = dict(known.values)
        self._session.replays.configure(known_here)
        for problem in known.problems:
            self._window.say(Notice(problem, "warning"))

    def _closed(self, dialog: SystemSettingsDialog, _result: int) -> None:
        if self.dialog is dialog:
            self.dialog = None
