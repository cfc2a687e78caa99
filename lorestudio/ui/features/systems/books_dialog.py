"""The lorebooks that World Info scans: files, whose each is, what is wrong with them, and their order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from lorestudio.exchange.lorebooks.books import BookRole
from lorestudio.exchange.lorebooks.files import BookFile, LookedAt, added_file, look_at
from lorestudio.settings.declaration import Section, declared
from lorestudio.settings.worldinfo import BOOKS, BY_BOOKS, VAULT, WorldInfoSettings
from lorestudio.systems.base import ScannedBooks
from lorestudio.ui.shell.jobs import Jobs
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import count, sentence_of, tr
from lorestudio.ui.widgets import dialogs

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
_NAME, _ROLE, _ENTRIES, _REMARKS = range(4)


class BooksDialog(QDialog):
    """Changes a copy of the settings. `accepted_settings` carries it once the person wants it.

    Files are read by a worker, when the dialog is opened and whenever one is added.
    """

    accepted_settings = Signal(object)  # WorldInfoSettings

    def __init__(
        self,
        theme: Theme,
        jobs: Jobs,
        scanned: ScannedBooks,
        settings: WorldInfoSettings,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Lorebooks of World Info"))
        self._theme, self._jobs, self._scanned, self._settings = theme, jobs, scanned, settings
        self.books: list[LookedAt] = [LookedAt(file) for file in scanned.files(settings)]
        self._reading = 0
        self._gone = False
        self.finished.connect(self._leave)
        self._build()
        self._fill(0)
        self._read([each.file for each in self.books])
        self.resize(760, 560)

    @property
    def settings(self) -> Section:
        """The settings as they are set here."""
        update = {
            "source": self.source.currentData(),
            "character_strategy": self.strategy.currentData(),
            "worlds": self.worlds.text().strip(),
        }
        return self._scanned.naming(self._settings, [each.file for each in self.books]).model_copy(update=update)

    @property
    def reading(self) -> bool:
        """Whether files are being read."""
        return self._reading > 0

    # ---- what can be done -------------------------------------------------------------------------------------------

    def add(self, paths: Sequence[Path]) -> None:
        """List these files, in the role that their content suggests; a file that is listed already stays as it is."""
        known = {each.file.path for each in self.books}
        new = [path for path in dict.fromkeys(paths) if str(path) not in known]
        if new:
            self._start(lambda: [look_at([added_file(path)])[0] for path in new], self._added)

    def remove(self) -> None:
        """Take the chosen book from the list; its file stays."""
        row = self._row()
        if row >= 0:
            del self.books[row]
            self._fill(min(row, len(self.books) - 1))

    def set_role(self, role: BookRole) -> None:
        """Say whose the chosen book is."""
        row = self._row()
        if row >= 0 and self.books[row].file.role is not role:
            before = self.books[row]
            self.books[row] = LookedAt(BookFile(before.file.path, role), before.book, before.problem)
            self._fill(row)

    def accept(self) -> None:
        """Qt: hand the settings over and close."""
        if self.apply.isEnabled():
            self.accepted_settings.emit(self.settings)
            super().accept()

    # ---- building ---------------------------------------------------------------------------------------------------

    def _build(self) -> None:
        column = QVBoxLayout(self)
        intro = QLabel(
            tr(
                "World Info scans these files as SillyTavern would: its lorebooks (.json), those of Agnaistic, NovelAI "
                "and Risu, and character cards with a book inside. The files are only read."
            ),
            self,
        )
        intro.setWordWrap(True)
        column.addWidget(intro)
        self.list = QTreeWidget(self)
        self.list.setAccessibleName(tr("Lorebooks"))
        self.list.setHeaderLabels([tr("Lorebook"), tr("Role"), tr("Entries"), tr("Remarks")])
        self.list.setRootIsDecorated(False)
        self.list.setUniformRowHeights(True)
        header = self.list.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(_NAME, QHeaderView.ResizeMode.Stretch)
        for section, width in ((_ROLE, 110), (_ENTRIES, 80), (_REMARKS, 150)):
            header.setSectionResizeMode(section, QHeaderView.ResizeMode.Interactive)
            header.resizeSection(section, width)
        self.list.currentItemChanged.connect(lambda _now, _before: self._show_chosen())
        remove = QShortcut(QKeySequence(Qt.Key.Key_Delete), self.list)
        remove.setContext(Qt.ShortcutContext.WidgetShortcut)
        remove.activated.connect(self.remove)
        column.addWidget(self.list, 1)
        column.addLayout(self._list_buttons())
        self.about = QPlainTextEdit(self)
        self.about.setReadOnly(True)
        self.about.setTabChangesFocus(True)
        self.about.setAccessibleName(tr("About the chosen lorebook"))
        self.about.setFixedHeight(110)
        column.addWidget(self.about)
        column.addLayout(self._form())
        self.state = QLabel(self)
        self.state.setProperty("kind", "small")
        self.state.setWordWrap(True)
        column.addWidget(self.state)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, self)
        self.apply = QPushButton(tr("Apply and replay"), self)
        self.apply.setProperty("kind", "primary")
        buttons.addButton(self.apply, QDialogButtonBox.ButtonRole.AcceptRole)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        column.addWidget(buttons)

    def _list_buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        self.add_button = QPushButton(tr("Use a lorebook file…"), self)
        self.add_button.setAutoDefault(False)
        self.add_button.clicked.connect(self._ask_files)
        self.remove_button = QPushButton(tr("Remove from the list"), self)
        self.remove_button.setAutoDefault(False)
        self.remove_button.clicked.connect(self.remove)
        label = QLabel(tr("Role of the chosen one"), self)
        self.role = QComboBox(self)
        self.role.setAccessibleName(tr("Role of the chosen lorebook"))
        for role, title in _ROLES.items():
            self.role.addItem(tr(title), role.value)
        self.role.activated.connect(lambda place: self.set_role(BookRole(self.role.itemData(place))))
        row.addWidget(self.add_button)
        row.addWidget(self.remove_button)
        row.addStretch(1)
        row.addWidget(label)
        row.addWidget(self.role)
        return row

    def _form(self) -> QFormLayout:
        helps = {each.name: each.help for each in declared(WorldInfoSettings)}
        form = QFormLayout()
        self.source, self.strategy = QComboBox(self), QComboBox(self)
        for value, title in _SOURCES.items():
            self.source.addItem(tr(title), value)
        for number, title in _STRATEGIES.items():
            self.strategy.addItem(tr(title), number)
        self.source.setCurrentIndex(self.source.findData(self._settings.source))
        self.strategy.setCurrentIndex(self.strategy.findData(self._settings.character_strategy))
        self.worlds = QLineEdit(self._settings.worlds, self)
        self.worlds.setPlaceholderText(tr("such as SillyTavern/data/default-user/worlds"))
        browse = QPushButton(tr("Choose…"), self)
        browse.setAutoDefault(False)
        browse.setAccessibleName(tr("Choose SillyTavern's folder of lorebooks"))
        browse.clicked.connect(self._ask_worlds)
        folder = QHBoxLayout()
        folder.addWidget(self.worlds, 1)
        folder.addWidget(browse)
        for name, title, widget in (
            ("source", tr("What is scanned"), self.source),
            ("character_strategy", tr("Whose entries come first"), self.strategy),
            ("worlds", tr("SillyTavern's folder"), self.worlds),
        ):
            widget.setAccessibleName(title)
            widget.setToolTip(tr(helps[name]))
        form.addRow(tr("What is scanned"), self.source)
        form.addRow(tr("Whose entries come first"), self.strategy)
        form.addRow(tr("SillyTavern's folder"), folder)
        self.source.currentIndexChanged.connect(lambda _place: self._tell())
        return form

    # ---- files ------------------------------------------------------------------------------------------------------

    def _ask_files(self) -> None:
        filters = tr("Lorebooks and cards (*.json *.png);;All files (*)")
        dialog = QFileDialog(self, tr("Use lorebook files"), self.worlds.text().strip(), filters)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.filesSelected.connect(lambda files: self.add([Path(file) for file in files]))
        dialog.open()

    def _ask_worlds(self) -> None:
        start = self.worlds.text().strip()
        title = tr("SillyTavern's folder of lorebooks")
        dialogs.choose_folder(self, title, start, lambda path: self.worlds.setText(str(path)))

    def _read(self, files: Sequence[BookFile]) -> None:
        if files:
            self._start(lambda: list(look_at(files)), self._looked)

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
        if not self._gone:
            self._reading -= 1
            done(found)

    def _looked(self, found: Sequence[LookedAt]) -> None:
        """Files were read: what is still listed is shown as it was found."""
        by_path = {each.file.path: each for each in found}
        for place, each in enumerate(self.books):
            read = by_path.get(each.file.path)
            if read is not None:
                self.books[place] = LookedAt(each.file, read.book, read.problem)
        self._fill(max(0, self._row()))

    def _added(self, found: Sequence[LookedAt]) -> None:
        known = {each.file.path for each in self.books}
        self.books += (each for each in found if each.file.path not in known)
        self._fill(len(self.books) - 1)

    # ---- showing ----------------------------------------------------------------------------------------------------

    def _row(self) -> int:
        item = self.list.currentItem()
        return self.list.indexOfTopLevelItem(item) if item is not None else -1

    def _fill(self, chosen: int) -> None:
        self.list.clear()
        for each in self.books:
            book = each.book
            remarks = tr("cannot be used") if each.problem else ""
            if book is not None and book.remarks:
                remarks = count(len(book.remarks), "remark", "remarks")
            name = book.name if book is not None else Path(each.file.path).name
            entries = str(len(book.entries)) if book is not None else ""
            item = QTreeWidgetItem(self.list, [name, tr(_ROLES[each.file.role]), entries, remarks])
            item.setToolTip(_NAME, each.file.path)
            if each.problem:
                item.setIcon(_REMARKS, self._theme.icon("error", "error"))
        item_there = self.list.topLevelItem(chosen) if chosen >= 0 else None
        if item_there is not None:
            self.list.setCurrentItem(item_there)
        self._show_chosen()

    def _show_chosen(self) -> None:
        row = self._row()
        there = 0 <= row < len(self.books)
        for widget in (self.remove_button, self.role):
            widget.setEnabled(there)
        if there:
            each = self.books[row]
            self.role.setCurrentIndex(self.role.findData(each.file.role.value))
            book = each.book
            if book is not None:
                told = book.remarks or (tr("Everything in it has its effect here."),)
                self.about.setPlainText("\n".join([each.file.path, *told]))
            else:
                self.about.setPlainText(each.problem or tr("{path} is being read…", path=each.file.path))
        elif self.books:
            self.about.setPlainText(tr("Choose a lorebook in the list to read what of it has no effect here."))
        else:
            text = tr("No lorebook is listed. “Use a lorebook file…” adds one; what of it has no effect is told here.")
            self.about.setPlainText(text)
        self._tell()

    def _tell(self) -> None:
        broken = [each for each in self.books if each.problem]
        if self.reading:
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
        self.apply.setEnabled(not broken and not self.reading)

    def _leave(self, _result: int) -> None:
        self._gone = True
