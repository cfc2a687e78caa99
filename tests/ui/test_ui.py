"""What the window asks of PySide6 before anything of it is made."""

from __future__ import annotations

import subprocess
import sys

from PySide6.QtCore import QAbstractListModel, QModelIndex, QSize, Qt
from PySide6.QtWidgets import QDialog, QPushButton
from pytestqt.qtbot import QtBot

DIES_OF_ERRORS = """
import sys
import lorestudio.ui
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QWidget

class Sized:  # a mixin that Qt knows nothing of
    def resizeEvent(self, event):
        [][self.width()]

class Broken(Sized, QWidget):
    def sizeHint(self):
        return int("")

told = []
sys.excepthook = lambda kind, error, trace: told.append(type(error).__name__)
app = QApplication([])
widget = Broken()
for work in (widget.show, widget.adjustSize, app.quit):
    QTimer.singleShot(0, work)
app.exec()
print(sorted(set(told)), widget.sizeHint() == QWidget(None).sizeHint())
"""


def test_an_error_of_python_s_own_in_an_override_is_told_and_ends_nothing() -> None:
    ran = subprocess.run([sys.executable, "-c", DIES_OF_ERRORS], capture_output=True, text=True, check=False)  # noqa: S603
    assert (ran.returncode, ran.stdout) == (0, "['IndexError', 'ValueError'] True\n"), ran.stderr


class Numbers(QAbstractListModel):
    def rowCount(self, parent: QModelIndex | None = None) -> int:  # noqa: N802  # Qt's name
        return 0 if parent is not None and parent.isValid() else 3

    def data(self, index: QModelIndex, role: int = 0) -> object:
        return [0][index.row()] + role


class Refusing(QDialog):
    def __init__(self) -> None:
        super().__init__()
        self.asked = 0

    def reject(self) -> None:
        self.asked += 1

    def sizeHint(self) -> QSize:  # noqa: N802  # Qt's name
        return QSize(11, 12)


def test_overrides_take_and_return_what_they_did(qtbot: QtBot) -> None:
    model = Numbers()
    first, second = model.index(0, 0), model.index(1, 0)
    assert (model.rowCount(), model.rowCount(parent=first), model.data(first, role=4), first.data()) == (3, 0, 4, 0)
    with qtbot.captureExceptions() as told:
        assert second.data() is None
        assert second.data(Qt.ItemDataRole.EditRole) is None
    assert [str(error) for _kind, error, _trace in told] == 2 * ["list index out of range"]
    dialog = Refusing()
    qtbot.addWidget(dialog)
    button = QPushButton("No", dialog)
    button.clicked.connect(dialog.reject)  # the signal carries whether the button is down
    button.click()
    assert (dialog.asked, dialog.sizeHint()) == (1, QSize(11, 12))
