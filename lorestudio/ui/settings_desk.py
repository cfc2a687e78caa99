"""Which settings are in use and where they came from: the profiles of the person, and the one that was chosen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from PySide6.QtCore import QObject, QSettings, Signal

from lorestudio.settings import DeepLoreSettings
from lorestudio.settings.differences import differences
from lorestudio.settings.profiles import SettingsProfile, SettingsProfiles
from lorestudio.studio.keeping import chat_id
from lorestudio.ui.notices import Notice, Tone
from lorestudio.ui.session import Session
from lorestudio.ui.words import count, sentence_of, tr

_KEY: Final = "settings_profiles/{chat}"


class SettingsDesk(QObject):
    """Reads and writes profiles in jobs, and applies one as a step that can be taken back.

    `changed` follows everything that it says; `told` carries a `Notice`. A vault that was opened without a settings
    file gets the profile that was chosen for its chat last.
    """

    changed = Signal()
    told = Signal(object)

    def __init__(self, session: Session, remembered: QSettings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session, self._remembered = session, remembered
        self.store = SettingsProfiles(Path(remembered.fileName()).parent / "settings")
        self.profiles: tuple[SettingsProfile, ...] = ()
        self.name = ""
        self._known = False
        session.project_changed.connect(self._project_changed)

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
        return next((each for each in self.profiles if each.name.casefold() == name.strip().casefold()), None)

    def _base(self) -> DeepLoreSettings | None:
        """What the settings in use are held against."""
        profile = self.profile
        if profile is not None and profile.settings is not None:
            return _on(profile.settings)
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
            self.told.emit(Notice(profile.problems[0], "error", key="settings"))
            return
        self._take(profile.name)
        self._session.parts.adjust(tr("settings profile “{name}”", name=profile.name), settings=_on(profile.settings))
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

        def done() -> None:
            if self.name.casefold() == old.casefold():
                self._take(new.strip())

        self._do(tr("Renaming a profile"), lambda: self.store.rename(old, new), done)

    def delete(self, name: str) -> None:
        """Remove a profile; the settings in use stay as they are."""

        def done() -> None:
            if self.name.casefold() == name.casefold():
                self._take("")

        self._do(tr("Deleting a profile"), lambda: self.store.delete(name), done)

    # ---- inside -----------------------------------------------------------------------------------------------------

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
            self.profiles = profiles
            done()
            first, self._known = not self._known, True
            if first:
                self._recall()
            self.changed.emit()

        self._session.jobs.start(title, job, done=arrived, failed=self._failed)

    def _failed(self, error: Exception) -> None:
        self._tell(sentence_of(error), "error")
        self.changed.emit()

    def _tell(self, text: str, tone: Tone) -> None:
        self.told.emit(Notice(text, tone, key="settings"))

    def _project_changed(self) -> None:
        if not self._session.renewed:
            project = self._session.project
            path = project.settings_path if project is not None else None
            self.name = next((each.name for each in self.profiles if each.path == path), "")
            self._recall()
        self.changed.emit()

    def _recall(self) -> None:
        """Use the profile that was chosen for this chat last, where no file of settings was given."""
        project = self._session.project
        if project is None or self.name or not self._known:
            return
        if project.settings_path is not None:
            self.name = next((each.name for each in self.profiles if each.path == project.settings_path), "")
            return
        name = str(self._remembered.value(_KEY.format(chat=chat_id(project)), ""))
        profile = self.find(name) if name else None
        if profile is not None and profile.settings is not None and not self._session.renewed:
            self.choose(name)


def _on(settings: DeepLoreSettings) -> DeepLoreSettings:
    """The settings with DeepLore switched on, as the studio simulates it."""
    return settings if settings.enabled else settings.model_copy(update={"enabled": True})


def profile_words(profile: SettingsProfile) -> str:
    """How much a profile changes, in a few words."""
    if profile.settings is None:
        return tr("cannot be read")
    amount = len(differences(DeepLoreSettings(), profile.settings))
    return count(amount, "setting changed", "settings changed")
