"""Settings profiles: use, rename, delete, and compare any two."""

from __future__ import annotations

from functools import partial

from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from lorestudio.settings import DeepLoreSettings
from lorestudio.settings.differences import differences
from lorestudio.settings.profiles import SettingsProfile
from lorestudio.ui import dialogs
from lorestudio.ui.models.check_table import CheckTable, setting_rows
from lorestudio.ui.qt import ITEM
from lorestudio.ui.session import Session
from lorestudio.ui.settings_desk import SettingsDesk, profile_words
from lorestudio.ui.theme import Theme
from lorestudio.ui.widgets.check_list import CheckList
from lorestudio.ui.words import tr

_CURRENT, _DEFAULTS = "", "\0defaults"
"""What no profile can be called."""


class SettingsProfilesDialog(QDialog):
    """Works on the desk's profiles; every change is written at once."""

    def __init__(self, theme: Theme, session: Session, desk: SettingsDesk, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Settings profiles"))
        self._theme, self._session, self._desk = theme, session, desk
        self.list = QListWidget(self)
        self.other = QComboBox(self)
        self.model = CheckTable(("Setting", "This profile", "The other"), self, checkable=False)
        self.differences = CheckList(self.model, tr("Differences"), self, checkable=False)
        self.hint = QLabel(self)
        self.use = QPushButton(tr("Use"), self)
        self.rename = QPushButton(tr("Rename…"), self)
        self.delete = QPushButton(tr("Delete…"), self)
        self.save = QPushButton(tr("Save current settings as…"), self)
        self._build()
        desk.changed.connect(self._fill)
        self._fill()

    def _build(self) -> None:
        whole = QHBoxLayout(self)
        whole.setSpacing(14)
        left = QVBoxLayout()
        self.list.setAccessibleName(tr("Profiles"))
        self.list.setMaximumWidth(300)
        left.addWidget(self.list, 1)
        row = QHBoxLayout()
        self.use.setProperty("kind", "primary")
        for button in (self.use, self.rename, self.delete):
            button.setAutoDefault(False)
            row.addWidget(button)
        left.addLayout(row)
        self.save.setAutoDefault(False)
        left.addWidget(self.save)
        right = QVBoxLayout()
        line = QHBoxLayout()
        label = QLabel(tr("Compare with"), self)
        label.setBuddy(self.other)
        self.other.setAccessibleName(tr("Compare with"))
        line.addWidget(label)
        line.addWidget(self.other, 1)
        right.addLayout(line)
        self.hint.setWordWrap(True)
        self.hint.setProperty("kind", "muted")
        right.addWidget(self.hint)
        right.addWidget(self.differences, 1)
        close = QPushButton(tr("Close"), self)
        close.setAutoDefault(False)
        end = QHBoxLayout()
        end.addStretch(1)
        end.addWidget(close)
        right.addLayout(end)
        whole.addLayout(left, 2)
        whole.addLayout(right, 3)
        self.list.currentItemChanged.connect(lambda *_items: self._settle())
        self.list.itemActivated.connect(lambda _item: self._use())
        self.other.currentIndexChanged.connect(lambda _place: self._compare())
        self.use.clicked.connect(self._use)
        self.rename.clicked.connect(self._rename)
        self.delete.clicked.connect(self._delete)
        self.save.clicked.connect(self.ask_save)
        close.clicked.connect(self.reject)
        self.resize(860, 480)

    @property
    def chosen(self) -> SettingsProfile | None:
        """The profile that the list is on."""
        row = self.list.currentRow()
        found = self.list.item(row).data(ITEM) if row >= 0 else None
        return found if isinstance(found, SettingsProfile) else None

    def ask_save(self) -> None:
        """Ask under which name to keep the settings in use."""
        ask_profile_name(self._desk, self)

    def _fill(self) -> None:
        before = self.chosen
        wanted = before.name if before is not None else self._desk.name
        compared = self.other.currentData()
        self.list.clear()
        self.other.blockSignals(True)
        self.other.clear()
        self.other.addItem(tr("The settings in use"), _CURRENT)
        self.other.addItem(tr("DeepLore's defaults"), _DEFAULTS)
        for profile in self._desk.profiles:
            used = tr(" · in use") if profile.name == self._desk.name else ""
            item = QListWidgetItem(f"{profile.name}\n{profile_words(profile)}{used}")
            item.setData(ITEM, profile)
            if profile.problems:
                item.setIcon(self._theme.icon("warning", "warning"))
                item.setToolTip("\n".join(profile.problems))
            self.list.addItem(item)
            self.other.addItem(profile.name, profile.name)
            if profile.name == wanted:
                self.list.setCurrentItem(item)
        self.other.setCurrentIndex(max(0, self.other.findData(compared)))
        self.other.blockSignals(False)
        if self.list.currentRow() < 0 and self.list.count():
            self.list.setCurrentRow(0)
        self._settle()

    def _settle(self) -> None:
        profile = self.chosen
        readable = profile is not None and profile.settings is not None
        self.use.setEnabled(readable and self._session.project is not None)
        self.rename.setEnabled(readable)
        self.delete.setEnabled(profile is not None)
        self.save.setEnabled(self._session.project is not None)
        self._compare()

    def _compare(self) -> None:
        profile, other = self.chosen, self._other()
        hint = ""
        if profile is None:
            hint = tr(
                "There is no profile yet. Save the settings in use under a name to come back to them at any time."
            )
        elif profile.settings is None:
            hint = profile.problems[0]
        elif other is None:
            hint = tr("Choose what to compare with.")
        if hint or profile is None or profile.settings is None or other is None:
            self.hint.setText(hint)
            self.hint.show()
            self.model.set_rows(())
            return
        self.hint.hide()
        heads = ("Setting", profile.name, self.other.currentText())
        self.model.set_rows(setting_rows(differences(profile.settings, other)), heads=heads)

    def _other(self) -> DeepLoreSettings | None:
        name = self.other.currentData()
        if name == _CURRENT:
            return self._session.project.settings if self._session.project is not None else None
        if name == _DEFAULTS:
            return DeepLoreSettings()
        found = self._desk.find(str(name))
        return found.settings if found is not None else None

    def _use(self) -> None:
        if self.chosen is not None and self.use.isEnabled():
            self._desk.choose(self.chosen.name)

    def _rename(self) -> None:
        profile = self.chosen
        if profile is not None:
            dialogs.ask_name(
                self, tr("Rename profile"), tr("Name"), profile.name, partial(self._desk.rename, profile.name)
            )

    def _delete(self) -> None:
        profile = self.chosen
        if profile is not None:
            dialogs.confirm(
                self,
                tr("Delete profile"),
                tr("Delete the profile “{name}”?", name=profile.name),
                tr("Delete"),
                partial(self._desk.delete, profile.name),
                tr("Its file goes with it. The settings in use stay as they are."),
            )


def ask_profile_name(desk: SettingsDesk, parent: QWidget) -> None:
    """Ask for the name of a profile to keep the settings in use; one that exists is replaced only after a question."""

    def answered(name: str) -> None:
        known = desk.find(name)
        if known is None:
            desk.save(name)
            return
        dialogs.confirm(
            parent,
            tr("Replace profile"),
            tr("There is a profile “{name}” already. Replace it?", name=known.name),
            tr("Replace"),
            partial(desk.save, known.name, replace=True),
        )

    dialogs.ask_name(parent, tr("Save settings as a profile"), tr("Name"), desk.name, answered)
