"""Whether whatever can be pressed or typed into in the window, and whatever its features tell, is heard by somebody.

And whether PySide hears of what is taken out of a layout.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import pytest
from PySide6.QtCore import QMetaMethod, QObject, Signal
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSlider,
    QAbstractSpinBox,
    QComboBox,
    QGridLayout,
    QLayout,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QScrollBar,
    QToolButton,
    QWidget,
    QWidgetItem,
)
from shiboken6 import getAllValidWrappers, isValid

from lorestudio.ui.shell.layout import WORKSPACES
from lorestudio.ui.shell.main_window import MainWindow
from tests.ui.conftest import settle
from tests.ui.shell.conftest import dialogs

pytestmark = pytest.mark.long

_HEARD_BY = {
    QPushButton: ("clicked", "toggled", "pressed"),
    QToolButton: ("clicked", "toggled", "pressed"),
    QLineEdit: ("textChanged", "textEdited", "editingFinished", "returnPressed"),
    QPlainTextEdit: ("textChanged",),
    QComboBox: ("currentIndexChanged", "activated", "currentTextChanged", "textActivated"),
    QAbstractSlider: ("valueChanged", "sliderMoved", "sliderReleased"),
    QAbstractSpinBox: ("valueChanged", "textChanged", "editingFinished"),
}
_READ_LATER = frozenset(
    {"How the next point is chosen", "What may be turned, one a line", "Points", "Processes", "Write as"}
)
"""Fields that are read when a search is begun, or a message added."""


def heard(item: QObject, *signals: str) -> bool:
    """Whether one of these signals leads somewhere."""
    return any(
        item.isSignalConnected(QMetaMethod.fromSignal(getattr(item, each))) for each in signals if hasattr(item, each)
    )


def told(root: QObject) -> Iterator[tuple[str, bool]]:
    """The signals that the classes of features declare, as `Class.signal`, with whether they are heard here."""
    for item in (root, *root.findChildren(QObject)):
        for declaring in type(item).__mro__:
            if declaring.__module__.startswith("lorestudio.ui.features"):
                for name, value in vars(declaring).items():
                    if isinstance(value, Signal):
                        yield f"{declaring.__name__}.{name}", heard(item, name)


def deaf(root: QWidget) -> set[str]:
    """The names of what can be seen, pressed and typed into, and nobody hears."""
    return {
        f"{type(each).__name__} {each.accessibleName()}"
        for kind, signals in _HEARD_BY.items()
        for each in root.findChildren(kind)
        if each.isVisible() and not _hears_itself(each) and not heard(each, *signals)
    }


def _hears_itself(widget: QWidget) -> bool:
    """Whether it opens a menu, stands for an action, only shows, belongs to another control, or handles its clicks."""
    if isinstance(widget, QToolButton) and widget.defaultAction() is not None:
        return True
    if isinstance(widget, QPushButton | QToolButton) and widget.menu() is not None:
        return True
    if isinstance(widget, QLineEdit | QPlainTextEdit) and widget.isReadOnly():
        return True
    inner = isinstance(widget.parent(), QAbstractSpinBox | QComboBox) or widget.objectName().startswith("qt_")
    own = isinstance(widget, QAbstractButton) and "mousePressEvent" in vars(type(widget))
    return inner or own or isinstance(widget, QScrollBar)


@pytest.fixture
def studio(studio: MainWindow) -> MainWindow:
    """Its panes were all shown."""
    for workspace in WORKSPACES:
        studio.context.layout.enter(workspace)
        for name in studio.context.layout.docks:
            studio.context.uncover(name)
            settle(studio)
    return studio


def test_what_features_tell_is_heard(studio: MainWindow) -> None:
    known: dict[str, bool] = {}
    for root in chain([studio], (dialog for _, dialog in dialogs(studio))):
        for name, is_heard in told(root):
            known[name] = known.get(name, False) or is_heard
    assert len(known) > 100
    assert [name for name, is_heard in known.items() if not is_heard] == []


def test_every_button_and_field_does_something(studio: MainWindow) -> None:
    silent = deaf(studio)
    assert {name for name in silent if name.partition(" ")[2] not in _READ_LATER} == set()
    for name, dialog in dialogs(studio):  # whose fields may be read at the end
        assert {each for each in deaf(dialog) if "Button" in each} == set(), name


def laid_out(part: QWidget) -> tuple[object, ...] | None:
    """The layout that has a widget, or one in it, and where in a grid; None for nowhere."""
    parent = part.parentWidget()
    for layout in parent.findChildren(QLayout) if parent is not None else ():
        if (place := layout.indexOf(part)) >= 0:
            return (layout, *(layout.getItemPosition(place) if isinstance(layout, QGridLayout) else ()))
    return None


def test_what_is_put_elsewhere_is_taken_out_of_its_layout_before(studio: MainWindow) -> None:
    """Qt does so by itself, but PySide goes on knowing the item that was deleted.

    It takes what is made at the same address later for that item, and ends the program when that is deleted.
    """
    for width in (700, 1800, 700):
        items = [
            each
            for each in getAllValidWrappers()
            if isinstance(each, QWidgetItem) and studio.isAncestorOf(each.widget())
        ]
        before = [(item, item.widget(), laid_out(item.widget())) for item in items]
        assert len(before) > 20
        studio.resize(width, 900)
        settle(studio)
        left = [(part, place) for item, part, place in before if isValid(item) and isValid(part)]
        assert [part for part, place in left if laid_out(part) != place] == []
