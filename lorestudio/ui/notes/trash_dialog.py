"""The deleted notes: looked at, put back, or deleted for good."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QDateTime, QLocale, Qt
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QHeaderView,
    QLabel,
    QPushButton,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from lorestudio.studio.change_set import NameTakenError
from lorestudio.studio.trash import Trashed
from lorestudio.ui import dialogs
from lorestudio.ui.note_work import NoteWork
from lorestudio.ui.words import count, sentence_of, tr


class TrashDialog(QDialog):
    """Lists the trash of the open vaults, newest first."""

    def __init__(self, work: NoteWork, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Trash"))
        self._work = work
        self._items: tuple[Trashed, ...] = ()
        self._again: tuple[Trashed, ...] = ()
        column = QVBoxLayout(self)
        self.state = QLabel(tr("Reading the trash…"), self)
        self.state.setWordWrap(True)
        self.state.setProperty("kind", "muted")
        self.table = QTableWidget(0, 3, self)
        self.table.setHorizontalHeaderLabels([tr("Note"), tr("Folder"), tr("Deleted")])
        self.table.setAccessibleName(tr("Deleted notes"))
        self.table.setSelectionBehavior(QTableWidget.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QTableWidget.SelectionMode.ExtendedSelection)
        self.table.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
        self.table.setShowGrid(False)
        self.table.setTabKeyNavigation(False)
        self.table.verticalHeader().hide()
        self.table.verticalHeader().setDefaultSectionSize(24)
        head = self.table.horizontalHeader()
        head.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        head.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        head.setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        head.setSectionResizeMode(2, QHeaderView.ResizeMode.ResizeToContents)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        self.back = QPushButton(tr("Put back"), self)
        self.back.setProperty("kind", "primary")
        self.gone = QPushButton(tr("Delete for good…"), self)
        buttons.addButton(self.back, QDialogButtonBox.ButtonRole.ActionRole)
        buttons.addButton(self.gone, QDialogButtonBox.ButtonRole.ActionRole)
        column.addWidget(self.state)
        column.addWidget(self.table, 1)
        column.addWidget(buttons)
        buttons.rejected.connect(self.reject)
        self.back.clicked.connect(self.put_back)
        self.gone.clicked.connect(self._ask_gone)
        self.table.itemSelectionChanged.connect(self._settle)
        self.table.itemActivated.connect(lambda _item: self.put_back())
        work.done.connect(self._changed)
        self.finished.connect(self._ended)
        self.resize(620, 400)
        self._settle()
        self.read()

    def read(self) -> None:
        """Read the trash again."""
        self._work.trash(self._show)

    @property
    def chosen(self) -> list[Trashed]:
        """The selected notes."""
        rows = sorted({index.row() for index in self.table.selectionModel().selectedRows()})
        return [self._items[row] for row in rows if row < len(self._items)]

    def put_back(self) -> None:
        """Put the selected notes back, one after the other."""
        self._again = tuple(self.chosen)
        self._put_next()

    def _put_next(self) -> None:
        if self._again:
            item, self._again = self._again[0], self._again[1:]
            self._work.restore(item, failed=partial(self._failed, item))

    def _changed(self, _done: object) -> None:
        if self._again:
            self._put_next()
        else:
            self.read()

    def _failed(self, item: Trashed, error: Exception) -> None:
        self._again = ()
        if isinstance(error, NameTakenError):
            title = tr("Put back under another name")
            button = tr("Put back as {name}", name=error.offer.name)
            dialogs.confirm(self, title, str(error), button, partial(self._work.restore, item, error.offer))
        else:
            self.state.setText(sentence_of(error))
        self.read()

    def _ask_gone(self) -> None:
        items = self.chosen
        if items:
            text = tr("{notes} will be deleted for good.", notes=count(len(items), "note", "notes"))
            more = tr("Earlier versions stay in the history for a while.")
            delete = partial(self._work.delete_for_good, items, self.read)
            dialogs.confirm(self, tr("Delete for good"), text, tr("Delete"), delete, more)

    def _show(self, items: tuple[Trashed, ...]) -> None:
        self._items = items
        notes = count(len(items), "deleted note", "deleted notes")
        self.state.setText(notes if items else tr("The trash of this vault is empty."))
        self.table.setRowCount(len(items))
        for row, item in enumerate(items):
            when = QLocale().toString(QDateTime.fromSecsSinceEpoch(int(item.time.timestamp())), "yyyy-MM-dd HH:mm")
            for column, text in enumerate((item.path.stem, item.filename.rpartition("/")[0], when)):
                self.table.setItem(row, column, QTableWidgetItem(text))
        if items and not self.chosen:
            self.table.selectRow(0)
        self._settle()

    def _settle(self) -> None:
        self.back.setEnabled(bool(self.chosen))
        self.gone.setEnabled(bool(self.chosen))

    def _ended(self, _result: int) -> None:
        self._work.done.disconnect(self._changed)
        self.deleteLater()
