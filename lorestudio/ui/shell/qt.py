"""What Qt says at length, and what it lacks: short names for models and delegates, work that waits a moment, plain tool
tips, and an order of Tab that goes as the parts of a window lie.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from html import escape
from typing import Final, TypeAlias, cast

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, Qt, QTimer
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtGui import Qt as Gui
from PySide6.QtWidgets import QApplication, QPushButton, QToolButton, QWidget

Index: TypeAlias = QModelIndex | QPersistentModelIndex

DISPLAY: Final = Qt.ItemDataRole.DisplayRole
EDIT: Final = Qt.ItemDataRole.EditRole
TOOLTIP: Final = Qt.ItemDataRole.ToolTipRole
ACCESSIBLE_TEXT: Final = Qt.ItemDataRole.AccessibleTextRole
ACCESSIBLE_DESCRIPTION: Final = Qt.ItemDataRole.AccessibleDescriptionRole
ITEM: Final = Qt.ItemDataRole.UserRole
"""The object behind a row: an entry, a message row, a step."""
MARK: Final = Qt.ItemDataRole.UserRole + 1
"""A `widgets.paint.Mark` to draw."""
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


def native(keys: str | QKeySequence | QKeySequence.StandardKey) -> str:
    """A shortcut as this system writes it."""
    return QKeySequence(keys).toString(QKeySequence.SequenceFormat.NativeText)


def the_app() -> QApplication:
    """The application, which is there before anything of a window is."""
    return cast("QApplication", QApplication.instance())


def is_redo(event: QKeyEvent) -> bool:
    """Whether a key asks to do again what was undone: the desktop's own keys do, and Ctrl+Y on every desktop."""
    pressed = QKeySequence(event.keyCombination())
    return event.matches(QKeySequence.StandardKey.Redo) or pressed == QKeySequence("Ctrl+Y")


def takes_f2(event: QEvent) -> bool:
    """Take F2 for a widget that has a use for it, to be asked in its `event`: else the window renames the note."""
    if event.type() is not QEvent.Type.ShortcutOverride or not isinstance(event, QKeyEvent):
        return False
    mine = event.key() == Qt.Key.Key_F2
    event.setAccepted(mine)
    return mine


def pressed_by_enter(window: QWidget, event: QKeyEvent) -> bool:
    """Whether a key is Enter and has pressed the button that has the keyboard. By itself Qt does so only with Space."""
    focused = window.focusWidget()
    if event.key() not in {Qt.Key.Key_Return, Qt.Key.Key_Enter} or event.isAutoRepeat():
        return False
    if not isinstance(focused, QPushButton | QToolButton) or not focused.hasFocus():
        return False
    focused.click()
    return True


# ---- the order of Tab ------------------------------------------------------------------------------------------------


def move_keyboard(window: QWidget, *, forward: bool) -> bool:
    """Give the keyboard to what comes after or before what has it, as parts lie; False where nothing else takes it.

    Qt goes in the order in which parts were made, and here they are made when they are first wanted.
    """
    found = stops(window)
    if not found:
        return False
    if forward:
        found[0].setFocus(Qt.FocusReason.TabFocusReason)
    else:
        found[-1].setFocus(Qt.FocusReason.BacktabFocusReason)
    return True


def stops(window: QWidget) -> list[QWidget]:
    """What Tab comes to in a window, as parts lie; it begins after what has the keyboard now."""
    parts = list(_parts(window))
    now = QApplication.focusWidget()
    if now in parts:
        place = parts.index(now)
        parts = parts[place + 1 :] + parts[:place]
    wanted = Qt.FocusPolicy.StrongFocus
    if QApplication.styleHints().tabFocusBehavior() is Qt.TabFocusBehavior.TabFocusAllControls:
        wanted = Qt.FocusPolicy.TabFocus
    return [each for each in parts if each.focusPolicy() & wanted == wanted and each.focusProxy() is None]


def _parts(whole: QWidget) -> Iterator[QWidget]:
    """What can be used inside a widget, each before its own parts; Qt keeps a dock behind a tab outside the window."""
    inside = whole.rect()
    parts = (each for each in whole.children() if isinstance(each, QWidget) and not each.isWindow())
    seen = (each for each in parts if each.isVisible() and each.isEnabled() and inside.intersects(each.geometry()))
    for part in _in_lines(seen):
        yield part
        yield from _parts(part)


def _in_lines(parts: Iterable[QWidget]) -> Iterator[QWidget]:
    """From top to bottom, line by line: with the topmost stands what has its middle beside it."""
    line: list[QWidget] = []
    for part in sorted(parts, key=lambda each: (each.y(), each.x())):
        if line and part.geometry().center().y() > line[0].geometry().bottom():
            yield from _in_columns(line)
            line = []
        line.append(part)
    yield from _in_columns(line)


def _in_columns(line: list[QWidget]) -> Iterator[QWidget]:
    """From left to right; what stands below each other, beside something higher, line by line."""
    columns: list[list[QWidget]] = []
    end = -1
    for part in sorted(line, key=lambda each: each.x()):
        if not columns or part.x() > end:  # the first may begin outside, where its view is scrolled
            columns.append([])
        columns[-1].append(part)
        end = max(end, part.geometry().right())
    for column in columns:
        yield from column if len(columns) == 1 else _in_lines(column)
