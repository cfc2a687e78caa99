"""The lorebooks that World Info scans: files, whose each is, what is wrong with them, and their order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QFileDialog, QFormLayout, QLineEdit, QPushButton, QWidget

from lorestudio.exchange.lorebooks.books import BookRole
from lorestudio.exchange.lorebooks.files import BookFile, LookedAt, added_file, look_at
from lorestudio.settings.declaration import Section, declared
from lorestudio.settings.worldinfo import BOOKS, BY_BOOKS, VAULT
from lorestudio.systems.base import ScannedBooks
from lorestudio.ui.shell.jobs import Jobs
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import count, sentence_of, tr
from lorestudio.ui.widgets import dialogs
from lorestudio.ui.widgets.cells import Column
from lorestudio.ui.widgets.dialogs import Dialog
from lorestudio.ui.widgets.layouts import (
    answers,
    button,
    column,
    combo,
    label,
    named,
    resize_for_letters,
    row,
    text_view,
)
from lorestudio.ui.widgets.record_table import RecordTable, RecordView

_ROLES: Final[Mapping[BookRole, str]] = {
    BookRole.GLOBAL: "Global",
    BookRole.CHARACTER: "Character",
    BookRole.CHAT: "Chat",
    BookRole.PERSONA: "Persona",
}
_SOURCES: Final = {
    BY_BOOKS: "Lorebooks where any is listed, else the vault",
    BOOKS: "Lorebooks, also those that chat and card name",
    VAULT: "The vault's notes",
}
_STRATEGIES: Final = {0: "Evenly, by order", 1: "The character's first", 2: "Global ones first"}


class BooksDialog(Dialog):
    """Changes a copy of the settings. `accepted_settings` carries it once the person wants it.

    Files are read by a worker, when the dialog is opened and whenever one is added.
    """

    accepted_settings = Signal(object)  # Section

    def __init__(self, theme: Theme, jobs: Jobs, scanned: ScannedBooks, settings: Section, parent: QWidget) -> None:
        super().__init__(parent, tr("Lorebooks of World Info"))
        self._jobs, self._scanned, self._settings = jobs, scanned, settings
        self.books: list[LookedAt] = [LookedAt(file) for file in scanned.files(settings)]
        self._reading = 0
        columns = (
            Column("Lorebook", _name, tip=lambda each: each.file.path),
            Column("Role", lambda each: tr(_ROLES[each.file.role]), width=110),
            Column("Entries", lambda each: str(len(each.book.entries)) if each.book is not None else "", width=80),
            Column("Remarks", _remarks, icon=lambda each: ("error", "error") if each.problem else None, width=150),
        )
        self.model = RecordTable(columns, theme=theme, parent=self)
        self.list = RecordView(theme, self.model, tr("Lorebooks"), self)
        self._build()
        self._fill(0)
        files = [each.file for each in self.books]
        if files:
            self._start(lambda: [look_at(file) for file in files], self._looked)
        resize_for_letters(self, 760, 560)

    @property
    def settings(self) -> Section:
        """The settings as they are set here."""
        update = {
            "source": self.source.currentData(),
            "character_strategy": self.strategy.currentData(),
            "worlds": self.worlds.text().strip(),
        }
        return self._scanned.naming(self._settings, [each.file for each in self.books]).model_copy(update=update)

    # ---- what can be done -------------------------------------------------------------------------------------------

    def add(self, paths: Sequence[Path]) -> None:
        """List these files, in the role that their content suggests; a file that is listed already stays as it is."""
        known = {each.file.path for each in self.books}
        new = [path for path in dict.fromkeys(paths) if str(path) not in known]
        if new:
            self._start(lambda: [look_at(added_file(path)) for path in new], self._added)

    def remove(self) -> None:
        """Take the chosen book from the list; its file stays."""
        place = self._place()
        if place >= 0:
            del self.books[place]
            self._fill(min(place, len(self.books) - 1))

    def set_role(self, role: BookRole) -> None:
        """Say whose the chosen book is."""
        place = self._place()
        if place >= 0 and self.books[place].file.role is not role:
            before = self.books[place]
            self.books[place] = LookedAt(BookFile(before.file.path, role), before.book, before.problem)
            self._fill(place)

    def accept(self) -> None:
        """Qt: hand the settings over and close."""
        if self.apply.isEnabled():
            self.accepted_settings.emit(self.settings)
            super().accept()

    # ---- building ---------------------------------------------------------------------------------------------------

    def _build(self) -> None:
        intro = tr(
            "World Info scans these files as SillyTavern would: its lorebooks (.json), those of Agnaistic, NovelAI "
            "and Risu, and character cards with a book inside. The files are only read."
        )
        self.add_button = button(self, tr("Use a lorebook file…"), self._ask_files)
        self.remove_button = button(self, tr("Remove from the list"), self.remove)
        roles = {role.value: tr(title) for role, title in _ROLES.items()}
        self.role = combo(self, tr("Role of the chosen lorebook"), roles)
        role_label = label(self, tr("Role of the chosen one"), wrap=False)
        self.about = text_view(self, tr("About the chosen lorebook"))
        self.about.setTabChangesFocus(True)
        self.about.setFixedHeight(110)
        self.apply = QPushButton(tr("Apply and replay"), self)
        form = self._form()
        self.state = label(self, kind="small")
        column(
            label(self, intro), (self.list, 1), row(self.add_button, self.remove_button, 1, role_label, self.role),
            self.about, form, self.state, answers(self, self.apply), of=self,
        )  # fmt: skip
        remove = QShortcut(QKeySequence(Qt.Key.Key_Delete), self.list)
        remove.setContext(Qt.ShortcutContext.WidgetShortcut)
        remove.activated.connect(self.remove)
        self.list.chosen.connect(lambda _book: self._show_chosen())
        self.role.activated.connect(lambda place: self.set_role(BookRole(self.role.itemData(place))))
        self.source.currentIndexChanged.connect(lambda _place: self._tell())

    def _form(self) -> QFormLayout:
        values = self._settings.model_dump()
        helps = {each.name: tr(each.help) for each in declared(type(self._settings))}
        source, strategy = tr("What is scanned"), tr("Whose entries come first")
        self.source = combo(self, source, {value: tr(title) for value, title in _SOURCES.items()})
        self.strategy = combo(self, strategy, {number: tr(title) for number, title in _STRATEGIES.items()})
        for name, box in (("source", self.source), ("character_strategy", self.strategy)):
            box.setCurrentIndex(box.findData(values[name]))
            box.setToolTip(helps[name])
        self.worlds = QLineEdit(
            values["worlds"], self, placeholderText=tr("such as SillyTavern/data/default-user/worlds")
        )
        browse = button(self, tr("Choose…"), self._ask_worlds, name=tr("Choose SillyTavern's folder of lorebooks"))
        form = QFormLayout()
        form.addRow(source, self.source)
        form.addRow(strategy, self.strategy)
        folder = tr("SillyTavern's folder")
        form.addRow(folder, row((named(self.worlds, folder, helps["worlds"]), 1), browse))
        return form

    # ---- files ------------------------------------------------------------------------------------------------------

    def _ask_files(self) -> None:
        filters = tr("Lorebooks and cards (*.json *.png *.charx *.lorebook);;All files (*)")
        dialog = QFileDialog(self, tr("Use lorebook files"), self.worlds.text().strip(), filters)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.filesSelected.connect(lambda files: self.add([Path(file) for file in files]))
        dialog.open()

    def _ask_worlds(self) -> None:
        start = self.worlds.text().strip()
        title = tr("SillyTavern's folder of lorebooks")
        dialogs.choose_folder(self, title, start, lambda path: self.worlds.setText(str(path)))

    def _start(self, work: Callable[[], list[LookedAt]], done: Callable[[Sequence[LookedAt]], None]) -> None:
        self._reading += 1
        self._tell()
        self._jobs.start(
            tr("Reading lorebooks"),
            lambda _report: work(),
            done=partial(self._ended, done),
            failed=lambda error: self._ended(lambda _found: self.state.setText(sentence_of(error)), []),
            owner=self,
        )

    def _ended(self, done: Callable[[Sequence[LookedAt]], None], found: Sequence[LookedAt]) -> None:
        self._reading -= 1
        done(found)

    def _looked(self, found: Sequence[LookedAt]) -> None:
        """Files were read: what is still listed is shown as it was found."""
        by_path = {each.file.path: each for each in found}
        for place, each in enumerate(self.books):
            read = by_path.get(each.file.path)
            if read is not None:
                self.books[place] = LookedAt(each.file, read.book, read.problem)
        self._fill(max(0, self._place()))

    def _added(self, found: Sequence[LookedAt]) -> None:
        known = {each.file.path for each in self.books}
        self.books += (each for each in found if each.file.path not in known)
        self._fill(len(self.books) - 1)

    # ---- showing ----------------------------------------------------------------------------------------------------

    def _place(self) -> int:
        return next(iter(self.list.selected_places()), -1)

    def _fill(self, chosen: int) -> None:
        self.model.set_rows(self.books)
        self.list.choose(id(self.books[chosen]) if 0 <= chosen < len(self.books) else None)
        self._show_chosen()

    def _show_chosen(self) -> None:
        each = self.list.current
        for widget in (self.remove_button, self.role):
            widget.setEnabled(each is not None)
        if each is None and self.books:
            text = tr("Choose a lorebook in the list to read what of it has no effect here.")
        elif each is None:
            text = tr("No lorebook is listed. “Use a lorebook file…” adds one; what of it has no effect is told here.")
        elif each.book is not None:
            told = each.book.remarks or (tr("Everything in it has its effect here."),)
            text = "\n".join([each.file.path, *told])
        else:
            text = each.problem or tr("{path} is being read…", path=each.file.path)
        if each is not None:
            self.role.setCurrentIndex(self.role.findData(each.file.role.value))
        self.about.setPlainText(text)
        self._tell()

    def _tell(self) -> None:
        broken = [each for each in self.books if each.problem]
        if self._reading:
            text = tr("The files are being read…")
        elif broken:
            name = Path(broken[0].file.path).name
            text = tr("{name} cannot be used. Remove it from the list, or mend the file and add it again.", name=name)
        elif self.source.currentData() == VAULT:
            text = tr("The vault's notes are scanned; the list is kept for another time.")
        elif not self.books and self.source.currentData() == BY_BOOKS:
            text = tr("No lorebook is listed, so the vault's notes are scanned. Add a file to scan it in their place.")
        else:
            total = sum(len(each.book.entries) for each in self.books if each.book is not None)
            text = tr("{entries} in the lorebooks that are listed.", entries=count(total, "entry", "entries"))
        self.state.setText(text)
        self.apply.setEnabled(not broken and not self._reading)


def _name(each: LookedAt) -> str:
    return each.book.name if each.book is not None else Path(each.file.path).name


def _remarks(each: LookedAt) -> str:
    if each.book is not None and each.book.remarks:
        return count(len(each.book.remarks), "remark", "remarks")
    return tr("cannot be used") if each.problem else ""
