"""Settings out to a file or the clipboard and in from there: what differs is shown, and what is ticked is taken.

An export shows the text for its target, and what does not go along.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Final

from PySide6.QtCore import QSettings, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFormLayout, QLineEdit, QWidget

from lorestudio.domain.texts import shorten
from lorestudio.exchange import json_file
from lorestudio.exchange.settings_files import (
    ADVICE,
    Carrier,
    Imported,
    Merge,
    by_default,
    changes_list,
    never_carried,
    taken_over,
)
from lorestudio.settings.declaration import Section
from lorestudio.settings.files import json_bytes
from lorestudio.settings.sections import SettingChange
from lorestudio.settings.store import Layout
from lorestudio.studio.project.files import write_bytes
from lorestudio.studio.project.settings import imported_from
from lorestudio.systems.base import SystemKind
from lorestudio.ui.shell.jobs import Jobs, Newest
from lorestudio.ui.shell.qt import later
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import count, sentence_of, tr
from lorestudio.ui.widgets import dialogs
from lorestudio.ui.widgets.dialogs import Dialog
from lorestudio.ui.widgets.layouts import able, button, column, combo, label, named, row, text_view
from lorestudio.ui.widgets.pane import MessageBar
from lorestudio.ui.widgets.record_table import CheckList, change_columns, change_table, setting_rows

_LAYOUTS = {
    Layout.PLAIN: "A snippet: it speaks only about the settings that it holds.",
    Layout.SILLYTAVERN: "SillyTavern's settings.json: what it does not name has DeepLore's default there.",
    Layout.OWN: "A settings file of lorestudio: what it does not name has the default.",
}


class ImportDialog(Dialog):
    """`taken` carries the new settings and where they came from."""

    taken = Signal(object, str)

    def __init__(
        self, theme: Theme, jobs: Jobs, kind: SystemKind, settings: Section, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent, tr("Import settings of {system}", system=tr(kind.title)), (720, 480))
        self._kind, self._settings = kind, settings
        self._imported: Imported | None = None
        self._newest = Newest(jobs)
        self.bar = MessageBar(theme, self)
        places = tr("SillyTavern's settings.json, a snippet, or a settings file of lorestudio")
        field = QLineEdit(self, placeholderText=tr("settings.json, or another file"))
        self.place = named(field, tr("File to import"), places)
        self.model = change_table(("Setting", "In use", "Imported"), self)
        self.list = CheckList(theme, self.model, tr("Settings that differ"), self)
        said = tr("Nothing is written: the file is read, and what you tick holds here.")
        self.said = label(self, said, "small")
        self.take = button(self, tr("Apply and replay"), self._take, kind="primary")
        able(self.take, False, tr("Choose a file, and tick what is to be taken."))
        choose = dialogs.chooser(self.place, tr("Choose settings"), tr("Settings (*.json);;All files (*)"))
        paste = button(self, tr("From the clipboard"), self.paste)
        ends = row(1, self.take, button(self, tr("Cancel"), self.reject))
        column(self.bar, row((self.place, 1), choose, paste), (self.list, 1), self.said, ends, of=self, spacing=8)
        self._delay = later(self, self._read_file, 150)
        for stop in (self._delay.stop, self._newest.cancel):
            self.finished.connect(stop)
        self.place.textChanged.connect(lambda _text: self._delay.start())
        self.model.ticked.connect(
            lambda: able(self.take, bool(self.model.chosen), tr("Choose a file, and tick what is to be taken."))
        )

    def paste(self) -> None:
        """Read what is in the clipboard."""
        text = QGuiApplication.clipboard().text()
        if text.strip():
            self._read(Path(tr("the clipboard")), text)
        else:
            self.bar.say(tr("The clipboard holds no text. Copy a snippet first."), "warning")

    def _read_file(self) -> None:
        text = self.place.text().strip()
        if text:
            self._read(Path(text).expanduser())

    def _read(self, path: Path, text: str | None = None) -> None:
        self._delay.stop()
        title = tr("Reading settings")
        self._newest.start(
            title, lambda _job: imported_from(self._kind, path, text), done=self._show, failed=self._failed
        )

    def _failed(self, error: Exception) -> None:
        self._imported = None
        self.model.set_rows(())
        self.bar.say(sentence_of(error), "error")

    def _show(self, imported: Imported) -> None:
        self._imported = imported
        changes = imported.changes(self._settings)
        wanted = [each.declaration.alias for each in by_default(changes)]
        self.model.set_rows(setting_rows(changes))
        self.model.choose(wanted)
        if imported.problems:
            self.bar.say(shorten(" ".join(imported.problems), 400), "warning", details="\n".join(imported.problems))
        else:
            self.bar.hide()
        told = tr(_LAYOUTS[imported.layout])
        self.said.setText(told if changes else tr("{told} It says nothing else than what is set here.", told=told))

    def _take(self) -> None:
        if self._imported is not None:
            name = Path(self._imported.source).name
            self.taken.emit(taken_over(self._settings, self._imported, self.model.chosen), name)
            self.accept()


class ExportTarget(StrEnum):
    """Where settings go."""

    SILLYTAVERN = "sillytavern"
    SNIPPET = "snippet"
    FILE = "file"
    LIST = "list"


def export_text(
    target: ExportTarget, carrier: Carrier, changes: Sequence[SettingChange], chosen: Collection[str]
) -> str:
    """The text of the chosen settings; `changes` are those that differ, `chosen` keys of files."""
    values, _remarks = carrier.prepared(chosen)
    if target is ExportTarget.LIST:
        return changes_list([each for each in changes if each.declaration.alias in values])
    if target is ExportTarget.SNIPPET:
        return carrier.snippet(values)
    return json_bytes(carrier.document(values)).decode()


def left_behind(changes: Sequence[SettingChange], chosen: Collection[str], fixed: int) -> list[str]:
    """What does not go along, in sentences; `fixed` is how many behaviour switches are set to fixed."""
    said = []
    stay = [each for each in changes if each.declaration.alias not in chosen]
    local = sum(each.declaration.local for each in stay)
    if local:
        amount = count(local, "setting stays", "settings stay")
        said.append(tr("{amount} here because they belong to this computer: tick them to take them.", amount=amount))
    if len(stay) > local:
        amount = count(len(stay) - local, "other difference is", "other differences are")
        said.append(tr("{amount} not ticked.", amount=amount))
    if fixed:
        amount = count(fixed, "behaviour switch", "behaviour switches")
        said.append(tr("{amount} set to fixed cannot go along: DeepLore keeps its own behaviour.", amount=amount))
    return said


FOLDER_KEY: Final = "folders/sillytavern_settings"
"""Where the window remembers the file that was written last."""


_TARGETS: Final = {
    ExportTarget.SILLYTAVERN: "SillyTavern's settings.json",
    ExportTarget.SNIPPET: "JSON snippet",
    ExportTarget.FILE: "Settings file of lorestudio",
    ExportTarget.LIST: "List of changes, to set by hand",
}


class ExportDialog(Dialog):
    """Shows before it writes. `written` carries what was done to a file of SillyTavern's, and the path of its copy.

    `carrier` has the settings of the system that is called `title`. `changed_here` are the keys of what was changed
    since the settings were read; without it, all that differs is chosen.
    """

    written = Signal(object, object)

    def __init__(
        self,
        theme: Theme,
        jobs: Jobs,
        carrier: Carrier,
        remembered: QSettings,
        parent: QWidget | None = None,
        *,
        title: str,
        changed_here: frozenset[str] | None = None,
        fixed: Sequence[str] = (),
    ) -> None:
        super().__init__(parent, tr("Export settings of {system}", system=title), (760, 620))
        self._jobs, self._carrier, self._remembered, self._title = jobs, carrier, remembered, title
        self._changed_here, self._fixed = changed_here, tuple(fixed)
        self._changes: tuple[SettingChange, ...] = ()
        self._merge: Merge | None = None
        self._newest = Newest(jobs)
        self.bar = MessageBar(theme, self)
        refused = {ExportTarget.SILLYTAVERN} if carrier.not_there else set()
        there = {each: tr(text) for each, text in _TARGETS.items() if each not in refused}
        self.target = combo(self, tr("Where to"), there)
        self.place = named(QLineEdit(str(remembered.value(FOLDER_KEY, "")), self), tr("SillyTavern's settings.json"))
        self.place.setPlaceholderText(tr("…/SillyTavern/data/default-user/settings.json"))
        filters = tr("SillyTavern's settings (settings.json);;JSON files (*.json);;All files (*)")
        self.choose_place = dialogs.chooser(self.place, tr("Choose SillyTavern's settings.json"), filters)
        self.model = change_table(("Setting", "In the file", "In use"), self)
        self.list = CheckList(theme, self.model, tr("Settings that differ"), self)
        self.preview = text_view(self, tr("What would be written"), fixed=True, object_name="Diff")
        self.losses = label(self, kind="small")
        self.copy = button(self, tr("Copy"), self._copy)
        self.save = button(self, tr("Save as…"), self._ask_file)
        self.write = button(self, tr("Write into settings.json"), self._write, kind="primary")
        self.close_button = button(self, tr("Close"), self.reject)
        self._delay = later(self, self._look, 150)
        for stop in (self._delay.stop, self._newest.cancel):
            self.finished.connect(stop)
        form, line = QFormLayout(), row((self.place, 1), self.choose_place)
        form.addRow(tr("To"), self.target)
        form.addRow(tr("File"), line)
        self._file_label = form.labelForField(line)
        ends = row(1, self.copy, self.save, self.write, self.close_button)
        column(self.bar, form, (self.list, 3), (self.preview, 2), self.losses, ends, of=self, spacing=8)
        self.target.currentIndexChanged.connect(lambda _place: self._show_target())
        self.place.textChanged.connect(lambda _text: self._delay.start())
        self.model.ticked.connect(self._show_preview)
        self._show_target()

    # ---- what can be chosen -----------------------------------------------------------------------------------------

    @property
    def chosen_target(self) -> ExportTarget:
        """Where the settings go."""
        return ExportTarget(self.target.currentData())

    def _show_target(self) -> None:
        into = self.chosen_target is ExportTarget.SILLYTAVERN
        for widget in (self._file_label, self.place, self.choose_place):
            widget.setVisible(into)
        self.write.setVisible(into)
        self.copy.setVisible(not into)
        self.save.setVisible(not into)
        self.bar.hide()
        self._look()

    def _look(self) -> None:
        """Find what differs there."""
        self._delay.stop()
        self._newest.cancel()
        if self.chosen_target is not ExportTarget.SILLYTAVERN:
            self._fill(self._carrier.differing(), ("Setting", "Default", "In use"))
            return
        heads = ("Setting", "In the file", "In use")
        text, carrier = self.place.text().strip(), self._carrier
        if not text:
            self._fill((), heads)
            return

        def failed(error: Exception) -> None:
            self._fill((), heads)
            self._failed(error)

        def found(changes: tuple[SettingChange, ...]) -> None:
            self.bar.hide()
            self._fill(changes, heads)

        path = Path(text).expanduser()
        title = tr("Reading SillyTavern's settings")
        self._newest.start(title, lambda _job: carrier.candidates(path), done=found, failed=failed)

    def _fill(self, changes: Sequence[SettingChange], heads: tuple[str, str, str]) -> None:
        known = tuple(each for each in changes if not never_carried(each))
        self._changes = known
        wanted = [each.declaration.alias for each in by_default(known)]
        if self.chosen_target is ExportTarget.SILLYTAVERN and self._changed_here is not None:
            wanted = [alias for alias in wanted if alias in self._changed_here]
        self.model.set_rows(setting_rows(known), change_columns(heads))
        self.model.choose(wanted)

    # ---- what would be written --------------------------------------------------------------------------------------

    def _show_preview(self) -> None:
        values, remarks = self._carrier.prepared(self.model.chosen)
        self._merge = None
        target = self.chosen_target
        lost = [
            *filter(None, [self._carrier.not_there]),
            *remarks,
            *left_behind(self._changes, self.model.chosen, len(self._fixed)),
        ]
        if target is ExportTarget.SILLYTAVERN:
            able(self.write, False, tr("Choose the file first; what is shown below says what is missing."))
            if not self.place.text().strip():
                self.preview.setPlainText(tr("Choose the settings.json of your SillyTavern, in data/default-user."))
                lost = []
            elif not values:
                self.preview.setPlainText(tr("Nothing would be written."))
            else:
                self._plan(lost)
                return
        else:
            self.preview.setPlainText(self.text())
            for each in (self.copy, self.save):
                able(each, bool(values), tr("Tick a setting first."))
        self.losses.setText("\n".join(lost))

    def _plan(self, lost: Sequence[str]) -> None:
        path = Path(self.place.text().strip()).expanduser()
        carrier = self._carrier
        values, _ = carrier.prepared(self.model.chosen)

        def planned(merge: Merge) -> None:
            self._merge = merge
            lines = [each.text for each in merge.changes]
            self.preview.setPlainText("\n".join(lines) or tr("Nothing would be written."))
            self.losses.setText("\n".join([*merge.remarks, *lost, tr(ADVICE)]))
            able(self.write, bool(merge.changes), tr("Nothing would be written."))

        title = tr("Looking at SillyTavern's settings")
        self._newest.start(title, lambda _job: carrier.plan(path, values), done=planned, failed=self._failed)

    def _failed(self, error: Exception) -> None:
        self.bar.say(sentence_of(error), "error")

    def text(self) -> str:
        """The text that is copied or saved."""
        return export_text(self.chosen_target, self._carrier, self._changes, self.model.chosen)

    # ---- what the buttons do ----------------------------------------------------------------------------------------

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.text())
        self.bar.say(tr("It was copied."), "good")

    def _ask_file(self) -> None:
        suffix = "txt" if self.chosen_target is ExportTarget.LIST else "json"
        dialogs.choose_new_file(self, tr("Save the settings as"), f"{self._title}-settings", "", suffix, self.save_text)

    def save_text(self, path: Path) -> None:
        """Write the text into a file of its own."""
        data = self.text().encode("utf-8", "backslashreplace")
        self._jobs.start(
            tr("Saving {name}", name=path.name),
            lambda _report: write_bytes(path, data),
            done=lambda _none: self.bar.say(tr("{path} was written.", path=path), "good"),
            failed=self._failed,
        )

    def _write(self) -> None:
        merge = self._merge
        if merge is None:
            return
        able(self.write, False, tr("Choose the file first; what is shown below says what is missing."))
        self.writing = True

        def done(copy: Path) -> None:
            self._remembered.setValue(FOLDER_KEY, str(merge.file.path))
            self.written.emit(merge, copy)
            self.accept()

        def failed(error: Exception) -> None:
            self.writing = False
            self._failed(error)
            self._merge = None

        title = tr("Writing SillyTavern's settings")
        self._jobs.start(title, lambda _report: json_file.carry_out(merge.file), done=done, failed=failed)
