"""What the window does with settings: the pane, profiles, exports and imports, a chat's choices, and shortcuts."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QMenu, QToolButton

from lorestudio.domain.resources import resource
from lorestudio.domain.state import ChatControls
from lorestudio.domain.texts import shorten
from lorestudio.exchange.chats.loading import load_chat
from lorestudio.exchange.settings_files import Merge, changes_list
from lorestudio.settings.declaration import Section
from lorestudio.settings.deeplore import DeepLoreSettings, declarations
from lorestudio.settings.files import real_path
from lorestudio.settings.sections import differences
from lorestudio.studio.project.project import Project
from lorestudio.ui.features.settings.profiles import (
    ProfileLibrary,
    SettingsProfilesDialog,
    ask_profile_name,
    profile_words,
)
from lorestudio.ui.shell.actions import Action
from lorestudio.ui.shell.feature import Context, Feature, late_pane
from lorestudio.ui.shell.words import Notice, tr
from lorestudio.ui.widgets.dialogs import Dialog
from lorestudio.ui.widgets.layouts import iconed
from lorestudio.ui.widgets.picker import Choice

if TYPE_CHECKING:
    from lorestudio.ui.features.settings.pane import SettingsPane

MENU: Final = (
    "settings.profiles", "settings.keep", "", "settings.export", "settings.import", "settings.copy_changes",
)  # fmt: skip
"""The menu of the pane's button; "" is a line."""

MOST_STATUS: Final = 22
"""Characters of a name in the status line."""


class SettingsFeature(Feature):
    """Owns the pane and the profiles, and opens the dialogs."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._session = context.session
        self.profiles = ProfileLibrary(context.session, context.settings, self)
        self.status_button = QToolButton()
        self.dialog: Dialog | None = None
        """The dialog that is open."""
        context.findable.append(self._findable)

    @late_pane("settings", "Settings")
    def pane(self) -> SettingsPane:
        """The settings, to look at and to try out."""
        from lorestudio.ui.features.settings.pane import SettingsPane

        context = self.context
        pane = SettingsPane(context.theme, context.session, context.selection, context.preview, self.home("settings"))
        menu = QMenu(pane)
        context.commands.fill(menu, MENU)
        pane.profile_button.setMenu(menu)
        pane.addActions([context.action(name) for name in ("adjust.undo", "adjust.redo")])
        return pane

    def pane_made(self, _name: str) -> None:
        """Say whose settings they are."""
        self._show()

    def actions(self) -> Iterable[Action]:
        """What can be done."""
        has_project, menu = self.context.has_project, "File/Settings"
        return (
            Action(
                "go.settings", "Settings", "Edit", 25, partial(self.context.show, "settings"), ("Ctrl+,",),
                icon="switches", tip="Show the settings and try them out",
            ),
            Action(
                "settings.import", "Import settings…", menu, 110, self.import_settings, when=has_project,
                tip="Take settings over from SillyTavern's settings.json, a snippet, or a file of lorestudio",
            ),
            Action(
                "settings.export", "Export settings…", menu, 111, self.export, when=has_project,
                tip="Carry the settings into SillyTavern's settings.json, or take them as text",
            ),
            Action(
                "settings.copy_changes", "Copy what differs from the defaults", menu, 112, self.copy_changes,
                when=has_project,
            ),
            Action(
                "settings.profiles", "Settings profiles…", menu, 212, self.show_profiles, ("Ctrl+Alt+,",),
                tip="Save the settings in use as a profile; use, rename, delete and compare profiles",
            ),
            Action(
                "settings.keep", "Save settings as a profile…", menu, 214,
                lambda: ask_profile_name(self.profiles, self.context.window), when=has_project,
            ),
            Action(
                "chat.write_state", "Write pins, blocks and context into the chat…", "File", 120, self.write_state,
                when=self.context.has_chat.also(
                    lambda: self._project is not None and self._project.chat_path is not None,
                    "Save the chat into a file first."
                ),
                tip="Put a chat's choices back into its file, and nothing else",
            ),
        )  # fmt: skip

    def begin(self) -> None:
        """Follow what is shown."""
        context, button = self.context, self.status_button
        button.setParent(context.status)
        button.setAutoRaise(True)
        button.clicked.connect(partial(context.run, "go.settings"))
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        button.setIconSize(QSize(12, 12))
        context.status.addPermanentWidget(iconed(context.theme, button, "switches"))
        self.profiles.changed.connect(self._show)
        self._session.project_changed.connect(self._show)
        self._session.state_changed.connect(self._show)
        self._show()
        self.profiles.load()

    def _findable(self) -> Iterable[Choice]:
        """The settings, which are gone to, and the profiles, which are used."""
        kind, used = tr("Setting"), tr("Use settings profile")
        if self.context.has_project():
            for one in declarations():
                do = partial(self._go_to, one.name)
                yield Choice(tr(one.title), tr(one.group), kind, do, name=f"setting:{one.name}", more=tr(one.help))
            for each in self.profiles.known:
                do = partial(self.profiles.choose, each.name)
                yield Choice(f"{used}: {each.name}", profile_words(each), kind, do, name=f"profile:{each.name}")

    def _go_to(self, name: str) -> None:
        self.context.show("settings")
        self.pane.view.show_setting(name)
        self.pane.editor.focus_field()

    # ---- profiles ---------------------------------------------------------------------------------------------------

    def show_profiles(self) -> None:
        """Show the profiles to use, rename, delete and compare."""
        self._open(SettingsProfilesDialog(self.context.theme, self._session, self.profiles, self.context.window))

    # ---- carrying settings ------------------------------------------------------------------------------------------

    def export(self) -> None:
        """Show what would be carried where, of the system that is chosen for this chat."""
        from lorestudio.ui.features.settings.file_dialogs import ExportDialog

        project = self._project
        if project is None:
            return
        context, session = self.context, self._session
        known, changed = session.parts.on_disk, None
        if session.choice.is_main and known is not None and project.settings_path is not None:
            changed = frozenset(each.declaration.alias for each in differences(known.settings, project.settings))
        by = session.choice.deciding(project)
        dialog = ExportDialog(
            context.theme,
            session.jobs,
            by.kind.carrier(by.settings),
            context.settings,
            context.window,
            title=tr(by.kind.title),
            changed_here=changed,
            fixed=session.choice.fixed if session.choice.is_main else (),
        )
        dialog.written.connect(self._exported)
        self._open(dialog)

    def import_settings(self) -> None:
        """Show what a file says otherwise, of the system that is chosen for this chat."""
        from lorestudio.ui.features.settings.file_dialogs import ImportDialog

        project = self._project
        if project is not None:
            by = self._session.choice.deciding(project)
            dialog = ImportDialog(self.context.theme, self._session.jobs, by.kind, by.settings, self.context.window)
            beside = partial(self._imported_beside, by.kind.name)
            dialog.taken.connect(self._imported if by.kind.in_project else beside)
            self._open(dialog)

    def copy_changes(self) -> None:
        """Put what differs from the defaults into the clipboard, for people."""
        project = self._project
        if project is not None:
            by = self._session.choice.deciding(project)
            changes = differences(by.kind.settings(), by.settings)
            self.context.copy(changes_list(changes), tr("{amount} changed settings were copied.", amount=len(changes)))

    def write_state(self) -> None:
        """Show what would be written into the chat's file."""
        from lorestudio.ui.features.controls.chat_dialogs import ChatStateDialog

        project, known = self._project, self._session.parts.on_disk
        if project is None or project.chat_path is None or known is None:
            return
        if project.chat_path.is_relative_to(resource("demo")):
            text = tr("The demo's files stay as they are. Open a chat of your own to write into it.")
            self.context.say(Notice(text, key="settings"))
            return
        context, chosen = self.context, project.controls
        dialog = ChatStateDialog(
            context.theme, self._session.jobs, project.chat_path, chosen, known.controls, context.window
        )
        dialog.written.connect(self._state_written)
        self._open(dialog)

    def _exported(self, merge: Merge, copy: Path) -> None:
        project, path = self._project, merge.file.path
        own = project.settings_path if project is not None else None
        if own is not None and real_path(own) == real_path(path):
            values = {change.declaration.name: change.after for change in merge.changes}
            self._session.parts.settings_saved(values)
        text = tr("The settings are in {name} now. The file as it was: {copy}", name=path.name, copy=copy.name)
        self.context.say(Notice(text, "good", f"{path}\n{copy}", key="settings"))

    def _imported(self, settings: DeepLoreSettings, source: str) -> None:
        self._session.parts.adjust(tr("settings from {source}", source=source), settings=settings.switched_on())
        text = tr("The settings of {source} are in use now. Keep them as a profile to have them again.", source=source)
        self.context.say(Notice(text, "good", actions=("settings.profiles", "adjust.undo"), key="settings"))

    def _imported_beside(self, system: str, settings: Section, source: str) -> None:
        """The same for a system that keeps its settings in a file of its own."""
        self._session.replays.configure({system: settings}, tr("settings from {source}", source=source))
        text = tr("The settings of {source} are in use now.", source=source)
        self.context.say(Notice(text, "good", actions=("adjust.undo",), key="settings"))

    def _state_written(self, copy: object, controls: ChatControls) -> None:
        self._session.parts.saved(controls=controls)
        path = self._project.chat_path if self._project is not None else None
        if path is not None:
            title, failed = tr("Reading {name}…", name=path.name), self.context.failing("settings", "warning")
            done = self._session.parts.header_saved
            self._session.jobs.start(title, lambda _report: load_chat(path), done=done, failed=failed)
        name = copy.name if isinstance(copy, Path) else ""
        self.context.say(Notice(tr("The chat file was written. As it was: {name}", name=name), "good", key="settings"))

    @property
    def _project(self) -> Project | None:
        return self._session.project

    def _open(self, dialog: Dialog) -> None:
        if self.dialog is not None:
            self.dialog.close()
        self.dialog = dialog
        dialog.finished.connect(lambda _result: setattr(self, "dialog", None))
        dialog.open()

    def _show(self) -> None:
        project, profiles = self._project, self.profiles
        if self.is_made("settings"):
            self.pane.set_origin(*profiles.origin)
            self.pane.profile_button.setText(profiles.name or tr("Profiles"))
            self.pane.profile_button.setAccessibleName(tr("Settings profiles, export and import"))
        speaks = project is not None and (self._session.choice.is_main or not project.of_books)
        self.status_button.setVisible(speaks)  # over lorebooks alone no other system heeds DeepLore's settings
        name = tr("{name}, changed", name=profiles.title) if profiles.is_changed else profiles.title
        self.status_button.setText(shorten(profiles.title, MOST_STATUS) + (" *" if profiles.is_changed else ""))
        self.status_button.setToolTip(tr("Show the settings. {origin}", origin=profiles.origin[0]))
        self.status_button.setAccessibleName(tr("Settings: {name}", name=name))
