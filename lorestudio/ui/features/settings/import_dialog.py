"""Taking settings over from a file or the clipboard: what differs is shown, and what is ticked is taken."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QLineEdit, QWidget

from lorestudio.exchange.settings_files import Imported, by_default, import_file, import_text, taken_over
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.settings.store import Layout
from lorestudio.ui.shell.jobs import Jobs, Newest
from lorestudio.ui.shell.qt import later
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import sentence_of, shorten, tr
from lorestudio.ui.widgets import dialogs
from lorestudio.ui.widgets.bars import MessageBar
from lorestudio.ui.widgets.check_table import CheckList, change_table, setting_rows
from lorestudio.ui.widgets.layouts import button, column, label, named, resize_for_letters, row

_LAYOUTS = {
    Layout.PLAIN: "A snippet: it speaks only about the settings that it holds.",
    Layout.SILLYTAVERN: "SillyTavern's settings.json: what it does not name has DeepLore's default there.",
    Layout.OWN: "A settings file of lorestudio: what it does not name has the default.",
}


class ImportDialog(QDialog):
    """`taken` carries the new settings and where they came from."""

    taken = Signal(object, str)

    def __init__(self, theme: Theme, jobs: Jobs, settings: DeepLoreSettings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Import settings"))
        self._settings = settings
        self._imported: Imported | None = None
        self._newest = Newest(jobs)
        self.bar = MessageBar(theme, self)
        self.bar.closed.connect(self.bar.hide)
        places = tr("SillyTavern's settings.json, a snippet, or a settings file of lorestudio")
        self.place = named(QLineEdit(self, placeholderText=places), tr("File to import"))
        self.model = change_table(("Setting", "Here", "There"), self)
        self.list = CheckList(theme, self.model, tr("Settings that differ"), self)
        said = tr("Nothing is written: the file is read, and what you tick is taken over here.")
        self.said = label(self, said, "small")
        self.take = button(self, tr("Take over"), self._take, kind="primary")
        self.take.setEnabled(False)
        choose = button(self, tr("Choose…"), self._ask)
        paste = button(self, tr("From the clipboard"), self.paste)
        ends = row(1, self.take, button(self, tr("Cancel"), self.reject))
        column(self.bar, row((self.place, 1), choose, paste), (self.list, 1), self.said, ends, of=self, spacing=8)
        self._delay = later(self, self._read_file, 150)
        self.place.textChanged.connect(lambda _text: self._delay.start())
        self.model.ticked.connect(lambda: self.take.setEnabled(bool(self.model.chosen)))
        resize_for_letters(self, 720, 480)

    def done(self, result: int) -> None:
        """Qt: nothing waits any more."""
        self._delay.stop()
        self._newest.cancel()
        super().done(result)

    def paste(self) -> None:
        """Read what is in the clipboard."""
        text = QGuiApplication.clipboard().text()
        if text.strip():
            self._read(lambda: import_text(text, tr("the clipboard")))
        else:
            self.bar.say(tr("The clipboard holds no text. Copy a snippet first."), "warning")

    def _ask(self) -> None:
        filters = tr("Settings (*.json);;All files (*)")
        start = str(Path(self.place.text()).parent) if self.place.text() else ""
        dialogs.choose_file(self, tr("Choose settings"), start, filters, lambda path: self.place.setText(str(path)))

    def _read_file(self) -> None:
        text = self.place.text().strip()
        if text:
            path = Path(text).expanduser()
            self._read(lambda: import_file(path))

    def _read(self, work: Callable[[], Imported]) -> None:
        self._delay.stop()
        self._newest.start(tr("Reading settings"), lambda _job: work(), done=self._show, failed=self._failed)

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
