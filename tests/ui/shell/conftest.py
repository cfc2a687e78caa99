"""A window that has all to show, and its dialogs one after the other, for tests that walk through everything."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractItemView,
    QAbstractScrollArea,
    QAbstractSpinBox,
    QApplication,
    QBoxLayout,
    QComboBox,
    QDialog,
    QFileDialog,
    QFormLayout,
    QFrame,
    QGridLayout,
    QLayout,
    QLineEdit,
    QMessageBox,
    QPlainTextEdit,
    QPushButton,
    QStyle,
    QWidget,
)

from lorestudio.studio.project.project import demo_project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.ui.shell.main_window import MainWindow
from tests.ui.conftest import drain, settle


@pytest.fixture
def studio(make_window: Callable[..., MainWindow], tmp_path: Path) -> MainWindow:
    """The demo, replayed, with an entry of a reply."""
    window = make_window(demo_project(tmp_path / "demo"), make_simulator=Simulator)
    settle(window)
    generation = window.session.generations[-4]
    window.context.selection.choose_message(generation.message, generation)
    window.context.selection.choose_entry(6)
    settle(window)
    return window


def unplaced(whole: QWidget) -> list[QWidget]:
    """The parts of a widget that its layouts, or those of its parts, have no place for, or lie upon each other."""
    parts = [each for each in whole.findChildren(QWidget) if not each.isWindow()]
    return [each for each in parts if not _is_placed(each, each.parentWidget())]


def _is_placed(part: QWidget, parent: QWidget) -> bool:
    """Whether a layout has a place for a part, or Qt or the parent itself arranges what is in it."""
    layout = parent.layout()
    if layout is not None:
        return _has(layout, part)
    kinds = type(parent).__mro__
    ours = [each for each in kinds if each.__module__.startswith("lorestudio.")]
    arranged = kinds[len(ours)] not in {QWidget, QDialog, QFrame} or any("resizeEvent" in vars(each) for each in ours)
    return arranged or isinstance(parent.parentWidget(), QAbstractScrollArea)


def _has(layout: QLayout, part: QWidget) -> bool:
    """Whether a layout, or one in it, has a part. PySide must not know items that Qt deletes while the layout lives."""
    return any(each.indexOf(part) >= 0 for each in (layout, *layout.findChildren(QLayout)))


def uneven(layout: QLayout) -> list[int]:
    """The room around and between the parts of a layout that is no even number of pixels, but for Qt's own around all.

    Layouts of Qt's own are left.
    """
    if not isinstance(layout, QBoxLayout | QFormLayout | QGridLayout):
        return []
    whole, margins = layout.parentWidget(), layout.contentsMargins()
    qts = whole.style().pixelMetric(QStyle.PixelMetric.PM_LayoutLeftMargin, None, whole)
    around = (margins.left(), margins.top(), margins.right(), margins.bottom())
    between = (layout.spacing(),)
    if not isinstance(layout, QBoxLayout):
        between = layout.horizontalSpacing(), layout.verticalSpacing()
    return [each for each in (*(around if set(around) != {qts} else ()), *between) if each % 2]


def fillable(dialog: QDialog) -> list[QWidget]:
    """What can be typed into, chosen or looked through in a dialog."""
    kinds = (QLineEdit, QPlainTextEdit, QComboBox, QAbstractSpinBox, QAbstractItemView)
    parts = [each for kind in kinds for each in dialog.findChildren(kind) if each.isVisible() and each.isEnabled()]
    return [
        each
        for each in parts
        if not (isinstance(each, QAbstractItemView) and each.model().rowCount() == 0)
        and not (isinstance(each, QLineEdit | QPlainTextEdit) and each.isReadOnly())
        and each.focusPolicy() is not Qt.FocusPolicy.NoFocus
    ]


def dialogs(window: MainWindow) -> Iterator[tuple[str, QDialog]]:
    """Each dialog that an action opens, but Qt's own, with the action; Escape closes it, and it must be gone.

    Every part has a place, and even room around it. The keyboard is in it, and Enter does not close it at once while
    there is anything to fill in or to choose.
    """
    for name, action in window.commands.table.items():
        if not action.title.endswith("…") or not window.commands.actions[name].isEnabled():
            continue
        window.run(name)
        settle(window)
        for dialog in QApplication.topLevelWidgets():
            if isinstance(dialog, QDialog) and dialog.isVisible():
                if isinstance(dialog, QFileDialog):
                    dialog.close()
                    continue
                if not isinstance(dialog, QMessageBox):
                    assert unplaced(dialog) == [], name
                    assert [each for each in dialog.findChildren(QLayout) if uneven(each)] == [], name
                first = QApplication.focusWidget()
                assert dialog.isAncestorOf(first), name
                acts = isinstance(first, QPushButton) and not first.text().endswith("…")
                assert not (acts and fillable(dialog)), name
                yield name, dialog
                QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Escape)
        drain()
        assert window.findChildren(QDialog) == [], name  # what is closed does not stay behind
