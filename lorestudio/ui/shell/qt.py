"""Short names for the long ones of Qt that models and delegates use on every line, and work that waits a moment."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Final, TypeAlias

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, Qt, QTimer
from PySide6.QtGui import Qt as Gui

Index: TypeAlias = QModelIndex | QPersistentModelIndex

DISPLAY: Final = Qt.ItemDataRole.DisplayRole
EDIT: Final = Qt.ItemDataRole.EditRole
TOOLTIP: Final = Qt.ItemDataRole.ToolTipRole
ACCESSIBLE_TEXT: Final = Qt.ItemDataRole.AccessibleTextRole
ACCESSIBLE_DESCRIPTION: Final = Qt.ItemDataRole.AccessibleDescriptionRole
ITEM: Final = Qt.ItemDataRole.UserRole
"""The object behind a row: an entry, a message row, a step."""
MARK: Final = Qt.ItemDataRole.UserRole + 1
"""A `widgets.marks.Mark` to draw."""
ENTRY_ID: Final = Qt.ItemDataRole.UserRole + 2
"""The id of the entry behind a row, None where there is none."""

LOOK: Final = Qt.ItemDataRole.UserRole + 3
"""The `widgets.cells.Look` of a cell that is drawn piece by piece."""
HELD: Final = Qt.ItemDataRole.UserRole + 4
"""The `ui.state.expected.ExpectedMark` of the entry behind a row."""
CHECK: Final = Qt.ItemDataRole.CheckStateRole
ALIGNMENT: Final = Qt.ItemDataRole.TextAlignmentRole
V_LEFT: Final = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft)
V_RIGHT: Final = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight)

HORIZONTAL: Final = Qt.Orientation.Horizontal
VERTICAL: Final = Qt.Orientation.Vertical
NO_INDEX: Final = QModelIndex()


def later(parent: QObject, work: Callable[[], object], milliseconds: int = 0) -> QTimer:
    """A timer that does the work so long after it was started last; with 0, once events have been handled."""
    timer = QTimer(parent, singleShot=True, interval=milliseconds)
    timer.timeout.connect(work)
    return timer


def plain(text: str) -> str:
    """A text for a tool tip, which would take `<img src=…>` in a name for a picture, and open its file to show it."""
    return f"<span style='white-space: pre-wrap'>{escape(text)}</span>" if Gui.mightBeRichText(text) else text
