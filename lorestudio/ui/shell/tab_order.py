"""The order in which Tab goes through a window: as its parts lie, in lines from the top left.

Qt goes in the order in which the parts were made, and parts here are made when they are first wanted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget


def move_keyboard(window: QWidget, *, forward: bool) -> bool:
    """Give the keyboard to what comes after or before what has it; False where nothing else takes it."""
    parts = list(_parts(window))
    now = QApplication.focusWidget()
    if now in parts:
        place = parts.index(now)
        parts = parts[place + 1 :] + parts[:place]
    wanted = Qt.FocusPolicy.StrongFocus
    if QApplication.styleHints().tabFocusBehavior() is Qt.TabFocusBehavior.TabFocusAllControls:
        wanted = Qt.FocusPolicy.TabFocus
    stops = [each for each in parts if each.focusPolicy() & wanted == wanted and each.focusProxy() is None]
    if not stops:
        return False
    if forward:
        stops[0].setFocus(Qt.FocusReason.TabFocusReason)
    else:
        stops[-1].setFocus(Qt.FocusReason.BacktabFocusReason)
    return True


def _parts(whole: QWidget) -> Iterator[QWidget]:
    """What can be used inside a widget, each before its own parts; Qt keeps a dock behind a tab outside the window."""
    inside = whole.rect()
    parts = (each for each in whole.children() if isinstance(each, QWidget) and not each.isWindow())
    seen = (each for each in parts if each.isVisible() and each.isEnabled() and inside.intersects(each.geometry()))
    for part in _in_lines(seen):
        yield part
        yield from _parts(part)


def _in_lines(parts: Iterable[QWidget]) -> Iterator[QWidget]:
    """From left to right, and then from top to bottom: with the topmost stands what has its middle beside it."""
    line: list[QWidget] = []
    for part in sorted(parts, key=lambda each: (each.y(), each.x())):
        if line and part.geometry().center().y() > line[0].geometry().bottom():
            yield from sorted(line, key=lambda each: each.x())
            line = []
        line.append(part)
    yield from sorted(line, key=lambda each: each.x())
