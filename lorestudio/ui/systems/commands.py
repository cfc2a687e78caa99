"""What the window does with retrieval systems: choosing one for the chat, setting it, comparing; settings kept."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction

from lorestudio.settings.declaration import Section
from lorestudio.studio.system_settings import KnownSettings, SystemSettingsFiles
from lorestudio.studio.systems import KINDS, kind_of
from lorestudio.ui.choices import system_title
from lorestudio.ui.notices import Notice
from lorestudio.ui.systems.actions import SYSTEMS
from lorestudio.ui.systems.settings_dialog import SystemSettingsDialog
from lorestudio.ui.words import sentence_of, tr

if TYPE_CHECKING:
    from lorestudio.ui.main_window import MainWindow


class SystemCommands(QObject):
    """Owns the files with the systems' settings, in the folder of the person's configuration."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window, self._session = window, window.session
        self.files = SystemSettingsFiles(Path(window.settings.fileName()).parent / "systems")
        self.dialog: SystemSettingsDialog | None = None
        """The dialog that was opened last, while it is open."""

    def handlers(self) -> dict[str, Callable[[], object]]:
        """What each action does."""
        return {f"system.{name}": partial(self.choose, name) for name in SYSTEMS} | {
            "system.settings": self.show_settings,
        }

    def connect_window(self) -> None:
        """Follow what is asked for above the chat, and read the settings that were kept."""
        self._session.choice_changed.connect(self._leave_foreign)
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

    def choose(self, system: str) -> None:
        """Run the chat with this system from now on."""
        self._session.choose(system=system)

    def show_settings(self) -> None:
        """Show the settings of the chosen system: DeepLore's in their pane, those of others in a dialog."""
        choice = self._session.choice
        if choice.is_deeplore:
            self._window.show_pane("settings")
        else:
            self.open_settings(choice.system)

    def open_settings(self, system: str) -> SystemSettingsDialog:
        """Show the settings of a system beside DeepLore."""
        kind = kind_of(system)
        known = self._session.choices.systems.get(system) or kind.settings()
        if self.dialog is not None:
            self.dialog.close()
        dialog = self.dialog = SystemSettingsDialog(self._window.theme, kind, known, self._window)
        dialog.accepted_settings.connect(partial(self.configure, system))
        dialog.finished.connect(partial(self._closed, dialog))
        dialog.open()
        return dialog

    def configure(self, system: str, settings: Section) -> None:
        """Use these settings from now on, keep them in their file, and replay what they change."""
        if settings == self._session.choices.systems.get(system, KINDS[system].settings()):
            return
        self._session.configure({system: settings})

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

    def _leave_foreign(self) -> None:
        """What only another system's runs know is looked at no longer."""
        selection = self._window.selection
        if selection.entry is not None and self._session.entry(selection.entry) is None:
            selection.choose_entry(None)

    def _read(self, known: KnownSettings) -> None:
        self._session.configure(known.values)
        for problem in known.problems:
            self._window.say(Notice(problem, "warning"))

    def _closed(self, dialog: SystemSettingsDialog, _result: int) -> None:
        if self.dialog is dialog:
            self.dialog = None
