"""Every pane and dialog, walked through: what it says to a screen reader, what can be hit, and what letters need."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAccessible, QImage
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractScrollArea,
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QDialog,
    QFileDialog,
    QHeaderView,
    QLabel,
    QLineEdit,
    QMainWindow,
    QMenuBar,
    QPlainTextEdit,
    QPushButton,
    QScrollBar,
    QSplitter,
    QStackedWidget,
    QTabBar,
    QTabWidget,
    QTextEdit,
    QToolButton,
    QWidget,
)

from lorestudio.studio.replay.simulator import Simulator
from lorestudio.ui.shell.main_window import MainWindow
from lorestudio.ui.shell.theme import CHOICES, Theme
from tests.ui.conftest import settle
from tests.ui.worlds import make_project

pytestmark = pytest.mark.dressed

MakeWindow = Callable[..., MainWindow]

TARGETS = (QAbstractButton, QLineEdit, QComboBox, QAbstractSpinBox, QTabBar)
CONTROLS = (*TARGETS, QPlainTextEdit, QTextEdit, QAbstractItemView, QAbstractSlider, QTabWidget)
WHOLES = (QMainWindow, QStackedWidget, QAbstractScrollArea, QSplitter, QTabWidget, QTabBar, QLineEdit, QComboBox,
          QAbstractSpinBox)  # fmt: skip
"""What lays its parts over each other, or has parts of Qt's own."""

LEAST = 24
"""The side of what can be hit, in device-independent pixels (WCAG 2.2, 2.5.8)."""

READABLE = 4.5
"""The least contrast of words (WCAG 2.2, 1.4.3); disabled ones are exempt."""

LEAVE_OUT = {"window.quit", "demo.open", "scenario.save"}
"""What leaves the window, and what wants the vault as it was (it has a dialog like the report's)."""


def parts_of(root: QWidget) -> Iterator[QWidget]:
    """What a person can see of a window, without what belongs to Qt's own widgets."""
    for widget in root.findChildren(QWidget):
        owner = widget.parentWidget()
        inner = isinstance(owner, QTabBar | QLineEdit | QMenuBar | QComboBox | QAbstractSpinBox)
        if widget.isVisible() and widget.isEnabled() and widget.window() is root.window() and not inner:
            yield widget


def name_of(widget: QWidget) -> str:
    told = QAccessible.queryAccessibleInterface(widget)
    return told.text(QAccessible.Text.Name) if told is not None else ""


def said_of(widget: QWidget) -> str:
    return f"{type(widget).__name__} {name_of(widget) or widget.objectName()!r} in {type(widget.parent()).__name__}"


def faults_of_controls(root: QWidget) -> Iterator[str]:
    """Controls that have no name, nothing that says what they are for, are too small to hit, or cannot be reached."""
    if not root.windowTitle().strip():
        yield f"no title: {said_of(root)}"
    for widget in parts_of(root):
        inner = widget.lineEdit() if isinstance(widget, QAbstractSpinBox) else widget
        stop = widget.focusPolicy() & Qt.FocusPolicy.TabFocus and widget.focusProxy() is None
        if stop and not (name_of(widget) and name_of(inner)):
            yield f"the keyboard comes to what has no name: {said_of(widget)}"
        if not isinstance(widget, CONTROLS) or isinstance(widget, QScrollBar):
            continue
        if not (widget.accessibleName() if isinstance(widget, QHeaderView) else name_of(widget)):
            yield f"no name: {said_of(widget)}"
        if isinstance(widget, QAbstractButton | QComboBox) and not is_told(widget):
            yield f"no word and no tip: {said_of(widget)}"
        if any(not words.strip() for words in choices_of(widget)):
            yield f"an empty choice: {said_of(widget)}"
        if isinstance(widget, TARGETS) and min(widget.width(), widget.height()) < LEAST and not is_typed_in(widget):
            yield f"{widget.width()} x {widget.height()}: {said_of(widget)}"
        if isinstance(widget, QAbstractButton) and not reached(widget):
            yield f"no keyboard: {said_of(widget)}"


def choices_of(widget: QWidget) -> list[str]:
    """The words of a list to choose from, of tabs, and of the menu of a button."""
    if isinstance(widget, QToolButton | QPushButton) and widget.menu() is not None:
        return [action.text() for action in widget.menu().actions() if not action.isSeparator()]
    if isinstance(widget, QTabBar):
        return [widget.tabText(place) for place in range(widget.count())]
    lines = range(widget.count()) if isinstance(widget, QComboBox) else ()
    role = Qt.ItemDataRole.AccessibleDescriptionRole
    return [widget.itemText(line) for line in lines if widget.itemData(line, role) != "separator"]


def is_told(widget: QWidget) -> bool:
    """Whether one who sees a control learns what it is for: by its own word, its label or its tip."""
    if widget.toolTip():
        return True
    if isinstance(widget, QAbstractButton):
        return bool(widget.text().strip())
    return any(each.buddy() is widget for each in widget.window().findChildren(QLabel))


def is_typed_in(widget: QWidget) -> bool:
    """A line that stands in a field of its own, as behind chips: a click anywhere in the field reaches it."""
    owner = widget.parentWidget()
    return isinstance(widget, QLineEdit) and owner is not None and owner.focusProxy() is widget


def reached(button: QAbstractButton) -> bool:
    """Whether Tab comes to a button, or arrows from one beside it that Tab comes to."""

    def tabbed(one: QAbstractButton) -> bool:
        return bool(one.focusPolicy() & Qt.FocusPolicy.TabFocus)

    group = button.group()
    beside = group.buttons() if group is not None else button.parentWidget().findChildren(type(button))
    return any(tabbed(one) for one in [button, *beside])


def faults_of_room(root: QWidget) -> Iterator[str]:
    """Words that are cut, and parts that lie over each other."""
    for widget in parts_of(root):
        words = widget.text() if isinstance(widget, QLabel | QAbstractButton) else ""
        if words and isinstance(widget, QLabel) and widget.wordWrap():
            if widget.height() < widget.heightForWidth(widget.width()) - 1:
                yield f"cut below: {said_of(widget)}: {words[:40]}"
        elif words and widget.height() < widget.fontMetrics().height():
            yield f"cut below: {said_of(widget)}: {words[:40]}"
        if words and isinstance(widget, QAbstractButton) and widget.width() < widget.minimumSizeHint().width() - 1:
            yield f"cut: {said_of(widget)}"
        if not isinstance(widget, WHOLES):
            yield from overlaps(widget)


def faults_of_contrast(root: QWidget) -> Iterator[str]:
    """Words that stand out too little from what they are painted on, as it is painted."""
    image = root.window().grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    dots = np.frombuffer(image.constBits(), np.uint32).reshape(image.height(), image.width()) & 0xFFFFFF
    for widget in parts_of(root):
        words = widget.text() if isinstance(widget, QLabel | QAbstractButton | QLineEdit) else ""
        seen = widget.visibleRegion().boundingRect()
        if not words.strip() or seen.isEmpty():
            continue
        seen.translate(widget.mapTo(root.window(), QPoint(0, 0)))
        part = dots[max(0, seen.top()) : seen.bottom() + 1, max(0, seen.left()) : seen.right() + 1]
        colours, amounts = np.unique(part, return_counts=True)
        shades = luminances(colours)
        ground = shades[amounts.argmax()]
        ratio = max((max(shade, ground) + 0.05) / (min(shade, ground) + 0.05) for shade in shades)
        if ratio < READABLE:
            yield f"contrast {ratio:.2f}: {said_of(widget)}: {words[:40]}"


def luminances(colours: NDArray[np.uint32]) -> NDArray[np.float64]:
    """The relative luminance of each colour (WCAG 2.2)."""
    parts = np.stack([(colours >> shift) & 0xFF for shift in (16, 8, 0)]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return np.array([0.2126, 0.7152, 0.0722]) @ linear


def overlaps(whole: QWidget) -> Iterator[str]:
    parts = [part for part in whole.children() if isinstance(part, QWidget)]
    shown = [part for part in parts if part.isVisible() and not part.isWindow()]
    for place, one in enumerate(shown):
        for other in shown[place + 1 :]:
            common = one.geometry() & other.geometry()
            if common.width() > 1 and common.height() > 1:
                yield f"{said_of(one)} over {said_of(other)}"


def pages(window: MainWindow) -> Iterator[str]:
    """Every pane, and each page of its tabs, one after another."""
    for name, dock in window.docks.items():
        window.show_pane(name)
        settle(window)
        yield name
        for tabs in [each for each in dock.findChildren(QTabWidget) if each.isVisible()]:
            for place in range(1, tabs.count()):
                tabs.setCurrentIndex(place)
                settle(window)
                yield f"{name}, {tabs.tabText(place)}"
            tabs.setCurrentIndex(0)


def dialogs(window: MainWindow) -> Iterator[tuple[str, QDialog]]:
    """Every dialog that an action opens, one after another."""
    context = window.context
    for name, action in window.commands.actions.items():
        if "…" not in window.commands.table[name].title or not action.isEnabled() or name in LEAVE_OUT:
            continue
        context.run(name)
        settle(window)
        opened = [each for each in QApplication.topLevelWidgets() if isinstance(each, QDialog) and each.isVisible()]
        for dialog in opened:
            if not isinstance(dialog, QFileDialog):
                yield name, dialog
            dialog.reject()
        settle(window)


def all_faults(window: MainWindow, look: Callable[[QWidget], Iterator[str]]) -> dict[str, str]:
    """What is wrong, and where it was seen first."""
    found: dict[str, str] = {}
    for place in pages(window):
        for fault in look(window):
            found.setdefault(fault, place)
    opened = 0
    for name, dialog in dialogs(window):
        opened += 1
        for fault in look(dialog):
            found.setdefault(fault, name)
    assert opened > 20
    return found


@pytest.mark.long
def test_everything_has_a_name_can_be_hit_and_is_reached(make_window: MakeWindow, tmp_path: Path) -> None:
    window = make_window(make_project(tmp_path / "vault"), make_simulator=Simulator)
    found = all_faults(window, faults_of_controls)
    assert not found, "\n".join(f"{place}: {fault}" for fault, place in found.items())


@pytest.mark.long
@pytest.mark.parametrize("percent", [150, 200])
def test_large_letters_have_room(percent: int, qapp: QApplication, theme: Theme, make_window: MakeWindow,
                                 tmp_path: Path) -> None:  # fmt: skip
    usual = qapp.font()
    large = qapp.font()
    large.setPointSizeF(usual.pointSizeF() * percent / 100)
    try:
        qapp.setFont(large)
        theme.apply()
        window = make_window(make_project(tmp_path / "vault"), make_simulator=Simulator)
        found = all_faults(window, faults_of_room)
        assert not found, "\n".join(f"{place}: {fault}" for fault, place in found.items())
    finally:
        qapp.setFont(usual)
        theme.apply()


@pytest.mark.long
def test_each_theme_dresses_every_pane(theme: Theme, make_window: MakeWindow, tmp_path: Path) -> None:
    """Nothing keeps the colours of the theme before: what is drawn upon a pane stands out from it in each."""
    window = make_window(make_project(tmp_path / "vault"), make_simulator=Simulator)
    for choice in CHOICES[1:]:
        window.run(f"view.theme.{choice}")
        for name, dock in window.docks.items():
            window.show_pane(name)
            settle(window)
            image = dock.pane.grab().toImage()
            shades = {image.pixelColor(x, y).lightness() for x in range(0, image.width(), 3)
                      for y in range(0, image.height(), 3)}  # fmt: skip
            assert max(shades) - min(shades) > 90, (choice, name)


@pytest.mark.long
@pytest.mark.parametrize("choice", CHOICES[1:])
def test_words_can_be_read_in_each_theme(theme: Theme, make_window: MakeWindow, tmp_path: Path, choice: str) -> None:
    window = make_window(make_project(tmp_path / "vault"), make_simulator=Simulator)
    window.run(f"view.theme.{choice}")
    found = all_faults(window, faults_of_contrast)
    assert not found, "\n".join(f"{place}: {fault}" for fault, place in found.items())
