"""Which settings are in use and where they came from: a person's profiles to use, rename, delete, and compare."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from PySide6.QtCore import QObject, QSettings, QSignalBlocker, Signal
from PySide6.QtWidgets import QListWidgetItem, QWidget

from lorestudio.settings.deeplore import DeepLoreSettings, dump, in_file, sanitise
from lorestudio.settings.files import of_name
from lorestudio.settings.sections import differences
from lorestudio.settings.store import SettingsProfile, SettingsProfiles
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.run_store import chat_id
from lorestudio.ui.shell.qt import ITEM, plain
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import Notice, Tone, count, sentence_of, tr
from lorestudio.ui.state.session import Session
from lorestudio.ui.widgets import dialogs
from lorestudio.ui.widgets.dialogs import Dialog
from lorestudio.ui.widgets.layouts import able, button, column, combo, label, named, row
from lorestudio.ui.widgets.record_table import CheckList, change_columns, change_table, setting_rows
from lorestudio.ui.widgets.rows import NameList

_KEY: Final = "settings_profiles/{chat}"


class ProfileLibrary(QObject):
    """Reads and writes profiles in jobs, and applies one as a step that can be taken back.

    `changed` follows everything that it says. A vault that was opened without a settings
    file gets the profile that was chosen for its chat last, and every chat gets the settings that were changed for it.
    """

    changed = Signal()

    def __init__(self, session: Session, remembered: QSettings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session, self._remembered = session, remembered
        self.store = SettingsProfiles(Path(remembered.fileName()).parent / "settings")
        self.known: tuple[SettingsProfile, ...] = ()
        self.name = ""
        self._loaded = False
        self._kept: tuple[object, ...] | None = None  # None until the chat that is shown has what was kept for it
        session.project_replaced.connect(self._begin)
        session.project_changed.connect(self._project_changed)
        session.state_changed.connect(self._keep)
        self.changed.connect(self._keep)

    # ---- what is in use ---------------------------------------------------------------------------------------------

    @property
    def profile(self) -> SettingsProfile | None:
        """The profile that was chosen, None where none was."""
        return self.find(self.name) if self.name else None

    @property
    def is_changed(self) -> bool:
        """Whether the settings in use differ from those of the profile, or else from those that were read."""
        project = self._session.project
        base = self._base()
        return project is not None and base is not None and bool(differences(base, project.settings))

    @property
    def title(self) -> str:
        """What the settings in use are called: a profile, a file, or DeepLore's own."""
        project = self._session.project
        if project is None:
            return ""
        if self.name:
            return self.name
        return project.settings_path.name if project.settings_path is not None else tr("DeepLore's defaults")

    @property
    def origin(self) -> tuple[str, str]:
        """Where the settings came from and how many were changed since, and the whole path for whoever points at it."""
        project, base = self._session.project, self._base()
        if project is None or base is None:
            return "", ""
        profile = self.profile
        if profile is not None:
            text, tip = tr("From the profile “{name}”", name=profile.name), str(profile.path)
        elif project.settings_path is not None:
            text, tip = tr("From {file}", file=project.settings_path.name), str(project.settings_path)
        else:
            text = tr("DeepLore's defaults, switched on")
            tip = tr("No settings file was given; open one with Import settings, or choose a profile.")
        amount = len(differences(base, project.settings))
        return (f"{text} · " + tr("{amount} changed here", amount=amount) if amount else text), tip

    def find(self, name: str) -> SettingsProfile | None:
        """The profile of that name."""
        return of_name(self.known, name)

    def _base(self) -> DeepLoreSettings | None:
        """What the settings in use are held against."""
        profile = self.profile
        if profile is not None and profile.settings is not None:
            return profile.settings.switched_on()
        return self._session.parts.on_disk.settings if self._session.parts.on_disk is not None else None

    # ---- what can be done -------------------------------------------------------------------------------------------

    def load(self) -> None:
        """Read the profiles."""
        self._do(tr("Reading settings profiles"), lambda: None)

    def choose(self, name: str) -> None:
        """Use the settings of a profile from now on."""
        profile, project = self.find(name), self._session.project
        if profile is None or project is None:
            return
        if profile.settings is None:
            self._session.notice.emit(Notice(profile.problems[0], "error", key="settings"))
            return
        self._take(profile.name)
        self._session.parts.adjust(
            tr("settings profile “{name}”", name=profile.name), settings=profile.settings.switched_on()
        )
        self.changed.emit()

    def save(self, name: str, *, replace: bool = False) -> None:
        """Keep the settings in use under a name."""
        project = self._session.project
        if project is not None:
            settings = project.settings

            def done() -> None:
                self._take(name.strip())
                self._tell(tr("The settings are kept as the profile “{name}”.", name=name.strip()), "good")

            self._do(tr("Saving a profile"), lambda: self.store.save(name, settings, replace=replace), done)

    def rename(self, old: str, new: str) -> None:
        """Give a profile another name."""
        done = partial(self._follow, old, new.strip())
        self._do(tr("Renaming a profile"), lambda: self.store.rename(old, new), done)

    def delete(self, name: str) -> None:
        """Remove a profile; the settings in use stay as they are."""
        self._do(tr("Deleting a profile"), lambda: self.store.delete(name), partial(self._follow, name, ""))

    def _follow(self, old: str, new: str) -> None:
        if self.name.casefold() == old.casefold():
            self._take(new)

    def _take(self, name: str) -> None:
        self.name = name
        project = self._session.project
        if project is not None:
            self._remembered.setValue(_KEY.format(chat=chat_id(project)), name)

    def _do(self, title: str, work: Callable[[], object], done: Callable[[], None] = lambda: None) -> None:
        store = self.store

        def job(_report: object) -> tuple[SettingsProfile, ...]:
            work()
            return store.all()

        def arrived(profiles: tuple[SettingsProfile, ...]) -> None:
            self.known, self._loaded = profiles, True
            done()
            self._recall()
            self.changed.emit()

        self._session.jobs.start(title, job, done=arrived, failed=self._failed)

    def _failed(self, error: Exception) -> None:
        self._tell(sentence_of(error), "error")
        self.changed.emit()

    def _tell(self, text: str, tone: Tone) -> None:
        self._session.notice.emit(Notice(text, tone, key="settings"))

    def _begin(self, _before: object, _project: object, renewed: str) -> None:
        if not renewed:
            self.name, self._kept = "", None

    def _project_changed(self) -> None:
        self._recall()
        self.changed.emit()

    def _recall(self) -> None:
        """Use what was used for this chat last: its profile, where no file of settings was given, and what was changed.

        It waits until the profiles are known.
        """
        project, base = self._session.project, self._base()
        if project is None or base is None or not self._loaded:
            return
        if project.settings_path is not None:
            self.name = self.name or next((one.name for one in self.known if one.path == project.settings_path), "")
        if self._kept is not None:
            return
        title = ""
        if project.settings_path is None:
            profile = self.find(str(self._remembered.value(_KEY.format(chat=chat_id(project)), "")))
            if profile is not None and profile.settings is not None:
                self.name, base = profile.name, profile.settings.switched_on()
                title = tr("settings profile “{name}”", name=profile.name)
        self._kept = self._state(project)
        changes = self._session.choices.changes(chat_id(project), self._origin(project))
        if changes:
            base, title = sanitise({**dump(base), **changes}).settings, tr("settings used last")
        if title:
            self._session.parts.adjust(title, settings=base)

    def _keep(self) -> None:
        """Keep what is used for this chat, so that it is there at the next start."""
        project = self._session.project
        state = self._state(project) if project is not None and self._kept is not None else None
        if project is None or state is None or state == self._kept:
            return
        self._kept = state
        base = self._kept_base(project)
        changed = differences(base, project.settings) if base is not None else ()
        values = {each.declaration.alias: in_file(each.declaration, each.after) for each in changed}
        self._session.choices.keep_changes(chat_id(project), self._origin(project), values)
        if self.name and project.settings_path is None:
            self._take(self.name)  # the chat may be in another file now

    def _state(self, project: Project) -> tuple[object, ...]:
        return chat_id(project), self._origin(project), project.settings, self._kept_base(project)

    def _origin(self, project: Project) -> str:
        """What the settings that are kept were changed from: a file that was given, which may move, else a profile."""
        return project.settings_path.name if project.settings_path is not None else self.name

    def _kept_base(self, project: Project) -> DeepLoreSettings | None:
        on_disk = self._session.parts.on_disk
        return on_disk.settings if on_disk is not None and project.settings_path is not None else self._base()


def profile_words(profile: SettingsProfile) -> str:
    """How much a profile changes, in a few words."""
    if profile.settings is None:
        return tr("cannot be read")
    return count(len(differences(DeepLoreSettings(), profile.settings)), "setting changed", "settings changed")


_CURRENT, _DEFAULTS = "", "\0defaults"
"""What no profile can be called."""


class SettingsProfilesDialog(Dialog):
    """Works on the profiles that are known; every change is written at once."""

    def __init__(self, theme: Theme, session: Session, profiles: ProfileLibrary, parent: QWidget | None = None) -> None:
        super().__init__(parent, tr("Settings profiles of DeepLore"), (860, 480))
        self._theme, self._session, self._profiles = theme, session, profiles
        self.list = named(NameList(self), tr("Profiles"))
        self.list.setMaximumWidth(300)
        self.use = button(self, tr("Use"), self._use, kind="primary")
        self.rename = button(self, tr("Rename…"), self._rename)
        self.delete = button(self, tr("Delete…"), self._delete)
        self.save = button(self, tr("Save current settings as…"), self.ask_save)
        self.other = combo(self, tr("Compare with"))
        self.model = change_table(("Setting", "This profile", "The other"), self, checkable=False)
        self.differences = CheckList(theme, self.model, tr("Differences"), self)
        self.hint = label(self, kind="muted")
        compare = label(self, tr("Compare with"), wrap=False)
        compare.setBuddy(self.other)
        left = column((self.list, 1), row(self.use, self.rename, self.delete), self.save)
        end = row(1, button(self, tr("Close"), self.reject))
        right = column(row(compare, (self.other, 1)), self.hint, (self.differences, 1), end)
        self.setLayout(row((left, 2), (right, 3), spacing=14))
        self.list.currentItemChanged.connect(lambda *_items: self._settle())
        self.list.itemActivated.connect(lambda _item: self._use())
        self.other.currentIndexChanged.connect(lambda _place: self._compare())
        profiles.changed.connect(self._fill)
        self._fill()

    @property
    def chosen(self) -> SettingsProfile | None:
        """The profile that the list is on."""
        row = self.list.currentRow()
        found = self.list.item(row).data(ITEM) if row >= 0 else None
        return found if isinstance(found, SettingsProfile) else None

    def ask_save(self) -> None:
        """Ask under which name to keep the settings in use."""
        ask_profile_name(self._profiles, self)

    def _fill(self) -> None:
        before = self.chosen
        wanted = before.name if before is not None else self._profiles.name
        compared = self.other.currentData()
        self.list.clear()
        with QSignalBlocker(self.other):
            self.other.clear()
            self.other.addItem(tr("The settings in use"), _CURRENT)
            self.other.addItem(tr("DeepLore's defaults"), _DEFAULTS)
            for profile in self._profiles.known:
                used = tr(" · in use") if profile.name == self._profiles.name else ""
                item = QListWidgetItem(f"{profile.name}\n{profile_words(profile)}{used}")
                item.setData(ITEM, profile)
                if profile.problems:
                    item.setIcon(self._theme.icon("warning", "warning"))
                    item.setToolTip(plain("\n".join(profile.problems)))
                self.list.addItem(item)
                self.other.addItem(profile.name, profile.name)
                if profile.name == wanted:
                    self.list.setCurrentItem(item)
            self.other.setCurrentIndex(max(0, self.other.findData(compared)))
        if self.list.currentRow() < 0 and self.list.count():
            self.list.setCurrentRow(0)
        self._settle()
        if not self.list.count():
            self.save.setFocus()

    def _settle(self) -> None:
        profile = self.chosen
        readable = profile is not None and profile.settings is not None
        no_vault = tr("Open a vault, a lorebook or the demo first.")
        unread = tr("Choose a profile that can be read first.")
        able(self.use, readable and self._session.project is not None, no_vault if readable else unread)
        able(self.rename, readable, unread)
        able(self.delete, profile is not None, unread)
        able(self.save, self._session.project is not None, no_vault)
        self._compare()

    def _compare(self) -> None:
        profile, other = self.chosen, self._other()
        shown = profile is not None and profile.settings is not None and other is not None
        self.hint.setVisible(not shown)
        if profile is None:
            hint = tr(
                "There is no profile yet. Save DeepLore's settings under a name to come back to them at any time."
            )
        else:
            hint = profile.problems[0] if profile.settings is None else tr("Choose what to compare with.")
        self.hint.setText(hint)
        if profile is None or profile.settings is None or other is None:
            self.model.set_rows(())
            return
        heads = ("Setting", profile.name, self.other.currentText())
        self.model.set_rows(setting_rows(differences(profile.settings, other)), change_columns(heads))

    def _other(self) -> DeepLoreSettings | None:
        name = self.other.currentData()
        if name == _CURRENT:
            return self._session.project.settings if self._session.project is not None else None
        if name == _DEFAULTS:
            return DeepLoreSettings()
        found = self._profiles.find(str(name))
        return found.settings if found is not None else None

    def _use(self) -> None:
        if self.chosen is not None and self.use.isEnabled():
            self._profiles.choose(self.chosen.name)

    def _rename(self) -> None:
        profile = self.chosen
        if profile is not None:
            dialogs.ask_name(
                self, tr("Rename profile"), tr("Name"), profile.name, partial(self._profiles.rename, profile.name)
            )

    def _delete(self) -> None:
        profile = self.chosen
        if profile is not None:
            text = tr("Delete the profile “{name}”?", name=profile.name)
            more = tr("Its file goes with it. The settings in use stay as they are.")
            dialogs.confirm(
                self, tr("Delete profile"), text, tr("Delete"), partial(self._profiles.delete, profile.name), more
            )


def ask_profile_name(profiles: ProfileLibrary, parent: QWidget) -> None:
    """Ask for the name of a profile to keep the settings in use; one that exists is replaced only after a question."""

    def answered(name: str) -> None:
        known = profiles.find(name)
        if known is None:
            profiles.save(name)
            return
        title = tr("Replace profile")
        text = tr("There is a profile “{name}” already. Replace it?", name=known.name)
        dialogs.confirm(parent, title, text, tr("Replace"), partial(profiles.save, known.name, replace=True))

    dialogs.ask_name(parent, tr("Save settings as a profile"), tr("Name"), profiles.name, answered)
