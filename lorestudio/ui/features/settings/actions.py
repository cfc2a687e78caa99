"""What the window does with settings: the pane, profiles, exports and imports, a chat's choices, and shortcuts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QMenu, QToolButton

from lorestudio.domain.resources import resource
from lorestudio.domain.state import ChatControls
from lorestudio.exchange.chats.loading import load_chat
from lorestudio.exchange.settings_files import Merge, changes_list
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.settings.differences import differences
from lorestudio.studio.project.project import Project
from lorestudio.ui.features.controls.chat_dialogs import ChatStateDialog
from lorestudio.ui.features.settings.export_dialog import ExportDialog
from lorestudio.ui.features.settings.import_dialog import ImportDialog
from lorestudio.ui.features.settings.pane import SettingsPane
from lorestudio.ui.features.settings.profiles import (
    SettingsDesk,
    SettingsProfilesDialog,
    ask_profile_name,
    profile_words,
)
from lorestudio.ui.features.settings.shortcuts import ShortcutsDialog, ShortcutStore, with_shortcuts
from lorestudio.ui.shell.actions import Action
from lorestudio.ui.shell.command_group import CommandGroup
from lorestudio.ui.shell.words import Notice, sentence_of, shorten, tr
from lorestudio.ui.widgets import dialogs
from lorestudio.ui.widgets.picker import Choice, Picker

if TYPE_CHECKING:
    from lorestudio.ui.shell.main_window import MainWindow

MENU: Final = (
    "settings.save_profile", "settings.choose_profile", "settings.profiles", "", "settings.export", "settings.import",
    "settings.copy_changes",
)  # fmt: skip
"""The menu of the pane's button; "" is a line."""

MOST_STATUS: Final = 22
"""Characters of a name in the status line."""


class SettingsCommands(CommandGroup):
    """Owns the pane and the profiles, and opens the dialogs."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window, self._session = window, window.session
        self.pane = SettingsPane(window.theme, window.session, window.selection, window.preview)
        self.desk = SettingsDesk(window.session, window.settings, self)
        self.shortcuts = ShortcutStore(window.settings)
        self.status_button = QToolButton()
        self._table: tuple[Action, ...] = ()
        self.dialog: QDialog | None = None
        """The dialog that was opened last."""

    @property
    def panes(self) -> tuple[SettingsPane]:
        """The pane, hidden at first."""
        return (self.pane,)

    def handlers(self) -> dict[str, Callable[[], object]]:
        """What each action does."""
        return {
            "go.settings": partial(self._window.show_pane, "settings"),
            "settings.save_profile": self.save_profile,
            "settings.choose_profile": self.choose_profile,
            "settings.profiles": self.show_profiles,
            "settings.export": self.export,
            "settings.import": self.import_settings,
            "settings.copy_changes": self.copy_changes,
            "chat.write_state": self.write_state,
            "help.shortcuts": self.show_shortcuts,
            "help.remap": self.change_shortcuts,
        }

    def connect_window(self) -> None:
        """Follow what is shown; call it once the window has its actions and its status line."""
        window = self._window
        button = self.status_button
        button.setParent(window.status)
        button.setAutoRaise(True)
        button.clicked.connect(partial(window.run, "go.settings"))
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        button.setIconSize(QSize(12, 12))
        window.theme.changed.connect(self._paint)
        window.status.addPermanentWidget(button)
        menu = QMenu(self.pane)
        for name in MENU:
            if name:
                menu.addAction(window.commands.actions[name])
            else:
                menu.addSeparator()
        self.pane.profile_button.setMenu(menu)
        self.pane.addActions([window.commands.actions[name] for name in ("adjust.undo", "adjust.redo")])
        self.desk.changed.connect(self._show)
        self.desk.told.connect(window.say)
        self._session.project_changed.connect(self._show)
        self._session.state_changed.connect(self._show)
        self._table = tuple(window.commands.table.values())
        window.commands.rebind(with_shortcuts(self._table, self.shortcuts.load(self._table)))
        self._paint()
        self._show()
        self.desk.load()

    # ---- profiles ---------------------------------------------------------------------------------------------------

    def save_profile(self) -> None:
        """Ask for a name and keep the settings under it."""
        ask_profile_name(self.desk, self._window)

    def choose_profile(self) -> None:
        """Pick a profile by a few letters."""
        choices = [Choice(each.name, profile_words(each), "", each.name) for each in self.desk.profiles]
        if not choices:
            text = tr("There is no settings profile yet. Save the settings in use as one first.")
            self._window.say(Notice(text, actions=("settings.save_profile",), key="settings"))
            return
        picker = Picker(
            self._window.theme, tr("Choose a settings profile"), tr("Type a few letters"), choices, self._window
        )
        picker.picked.connect(lambda name: self.desk.choose(str(name)))
        picker.open_over(self._window)

    def show_profiles(self) -> None:
        """Show the profiles to use, rename, delete and compare."""
        self._open(SettingsProfilesDialog(self._window.theme, self._session, self.desk, self._window))

    # ---- carrying settings ------------------------------------------------------------------------------------------

    def export(self) -> None:
        """Show what would be carried where."""
        project = self._project
        if project is None:
            return
        session, window = self._session, self._window
        known = (
            session.parts.on_disk.settings
            if session.parts.on_disk is not None and project.settings_path is not None
            else None
        )
        changed = None
        if known is not None:
            changed = frozenset(each.declaration.alias for each in differences(known, project.settings))
        dialog = ExportDialog(
            window.theme,
            session.jobs,
            project.settings,
            window.settings,
            window,
            changed_here=changed,
            fixed=session.choice.fixed,
        )
        dialog.written.connect(self._exported)
        self._open(dialog)

    def import_settings(self) -> None:
        """Show what a file says otherwise."""
        project = self._project
        if project is not None:
            dialog = ImportDialog(self._window.theme, self._session.jobs, project.settings, self._window)
            dialog.taken.connect(self._imported)
            self._open(dialog)

    def copy_changes(self) -> None:
        """Put what differs from the defaults into the clipboard, for people."""
        project = self._project
        if project is not None:
            changes = differences(DeepLoreSettings(), project.settings)
            QGuiApplication.clipboard().setText(changes_list(changes))
            self._window.status.flash(tr("{amount} changed settings were copied.", amount=len(changes)))

    def write_state(self) -> None:
        """Show what would be written into the chat's file."""
        project, known = self._project, self._session.parts.on_disk
        if project is None or project.chat_path is None or known is None:
            return
        if project.chat_path.is_relative_to(resource("demo")):
            text = tr("The demo's files stay as they are. Open a chat of your own to write into it.")
            self._window.say(Notice(text, key="settings"))
            return
        dialog = ChatStateDialog(
            self._window.theme, self._session.jobs, project.chat_path, project.controls, known.controls, self._window
        )
        dialog.written.connect(self._state_written)
        self._open(dialog)

    def _exported(self, merge: Merge, copy: Path) -> None:
        project, known, path = self._project, self._session.parts.on_disk, merge.file.path
        own = project.settings_path if project is not None else None
        if known is not None and own is not None and own.resolve() == path.resolve():
            values = {change.declaration.name: change.after for change in merge.changes}
            self._session.parts.saved(settings=known.settings.model_copy(update=values))
        text = tr("The settings are in {name} now. The file as it was: {copy}", name=path.name, copy=copy.name)
        self._window.say(Notice(text, "good", f"{path}\n{copy}", key="settings"))

    def _imported(self, settings: DeepLoreSettings, source: str) -> None:
        on = settings if settings.enabled else settings.model_copy(update={"enabled": True})
        self._session.parts.adjust(tr("settings from {source}", source=source), settings=on)
        text = tr("The settings of {source} are in use now. Keep them as a profile to have them again.", source=source)
        self._window.say(Notice(text, "good", actions=("settings.save_profile", "adjust.undo"), key="settings"))

    def _state_written(self, copy: object, controls: ChatControls) -> None:
        self._session.parts.saved(controls=controls)
        path = self._project.chat_path if self._project is not None else None
        if path is not None:
            self._session.jobs.start(
                tr("Reading {name}…", name=path.name),
                lambda _report: load_chat(path),
                done=self._session.parts.header_saved,
                failed=lambda error: self._window.say(Notice(sentence_of(error), "warning", key="settings")),
            )
        name = copy.name if isinstance(copy, Path) else ""
        self._window.say(Notice(tr("The chat file was written. As it was: {name}", name=name), "good", key="settings"))

    # ---- shortcuts --------------------------------------------------------------------------------------------------

    def show_shortcuts(self) -> None:
        """Show all shortcuts, with a way to change them."""
        dialog = dialogs.show_shortcuts(self._window, self._window.commands.shortcut_groups())
        for buttons in dialog.findChildren(QDialogButtonBox):
            change = buttons.addButton(tr("Change shortcuts…"), QDialogButtonBox.ButtonRole.ActionRole)
            change.setAutoDefault(False)
            change.clicked.connect(dialog.accept)
            change.clicked.connect(partial(self._window.run, "help.remap"))

    def change_shortcuts(self) -> None:
        """Show the actions with their shortcuts to change."""
        dialog = ShortcutsDialog(self._window.theme, self._table, self.shortcuts.load(self._table), self._window)
        dialog.changed.connect(self._shortcuts_changed)
        self._open(dialog)

    def _shortcuts_changed(self, chosen: dict[str, tuple[str, ...]]) -> None:
        self.shortcuts.save(chosen)
        self._window.commands.rebind(with_shortcuts(self._table, chosen))

    # ---- inside -----------------------------------------------------------------------------------------------------

    @property
    def _project(self) -> Project | None:
        return self._session.project

    def update(self, actions: dict[str, QAction]) -> None:
        """Say which actions make sense."""
        project = self._project
        actions["chat.write_state"].setEnabled(project is not None and project.chat_path is not None)

    def _open(self, dialog: QDialog) -> None:
        if self.dialog is not None:
            self.dialog.close()
            self.dialog.deleteLater()
        self.dialog = dialog
        dialog.open()

    def _paint(self) -> None:
        self.status_button.setIcon(self._window.theme.icon("switches"))

    def _show(self) -> None:
        project, desk = self._project, self.desk
        self.pane.set_origin(*desk.origin)
        self.pane.profile_button.setText(desk.name or tr("Profiles"))
        self.pane.profile_button.setAccessibleName(tr("Settings profiles, export and import"))
        self.status_button.setVisible(project is not None)
        name = tr("{name}, changed", name=desk.title) if desk.is_changed else desk.title
        self.status_button.setText(shorten(desk.title, MOST_STATUS) + (" *" if desk.is_changed else ""))
        self.status_button.setToolTip(tr("Show the settings. {origin}", origin=desk.origin[0]))
        self.status_button.setAccessibleName(tr("Settings: {name}", name=name))
