"""Whoever clicks, types and scrolls without a plan meets no error: random input to the real window, from a seed."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QMenu, QMenuBar, QToolButton, QWidget
from pytestqt.qtbot import QtBot

import lorestudio
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.ui.shell.main_window import MainWindow
from tests.ui.conftest import drain, settle

STEPS = 300
KEYS = (
    "Up", "Down", "Left", "Right", "Home", "End", "PageUp", "PageDown", "Return", "Escape", "Tab", "Backtab", "Space",
    "Delete", "Backspace", "F2", "A", "G", "K", "J", "X", "Z", "Slash",
)  # fmt: skip
HELD = (Qt.KeyboardModifier.NoModifier,) * 6 + (
    Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier,
)  # fmt: skip
BUTTONS = (Qt.MouseButton.LeftButton,) * 5 + (Qt.MouseButton.RightButton, Qt.MouseButton.MiddleButton)


def in_front(window: MainWindow) -> QWidget:
    """What takes the input: a menu or popup, else the newest dialog, else the window."""
    popup = QApplication.activePopupWidget()
    if popup is not None:
        return popup
    dialogs = [each for each in QApplication.topLevelWidgets() if isinstance(each, QDialog) and each.isVisible()]
    return dialogs[-1] if dialogs else window


def has_menu(widget: QWidget) -> bool:
    """Whether a click opens a menu, which waits in a loop of its own; menus are gone through elsewhere."""
    if isinstance(widget, QToolButton):
        return widget.menu() is not None or widget.popupMode() is not QToolButton.ToolButtonPopupMode.DelayedPopup
    return isinstance(widget, QMenu | QMenuBar)


def act(top: QWidget, chance: random.Random) -> str:
    """Do one thing to what is in front; says what."""
    seen = [each for each in top.findChildren(QWidget) if each.isVisible() and each.isEnabled()]
    target = chance.choice([each for each in seen if each.window() is top and not has_menu(each)] or [top])
    where = QPoint(chance.randrange(max(1, target.width())), chance.randrange(max(1, target.height())))
    what = chance.random()
    if what < 0.5:
        button, held = chance.choice(BUTTONS), chance.choice(HELD)
        QTest.mouseClick(target, button, held, where)
        return f"{button} on {target} at {where}"
    if what < 0.55:
        there = QPoint(chance.randrange(max(1, target.width())), chance.randrange(max(1, target.height())))
        QTest.mousePress(target, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, where)
        QTest.mouseMove(target, (where + there) / 2)
        QTest.mouseMove(target, there)
        QTest.mouseRelease(target, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, there)
        return f"dragged on {target} from {where} to {there}"
    if what < 0.6:
        QTest.mouseDClick(target, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, where)
        return f"double click on {target} at {where}"
    if what < 0.68:
        wheel = QWheelEvent(
            QPointF(where), QPointF(target.mapToGlobal(where)), QPoint(), QPoint(0, chance.choice((-240, 120))),
            Qt.MouseButton.NoButton, chance.choice(HELD), Qt.ScrollPhase.NoScrollPhase, False,
        )  # fmt: skip
        QApplication.sendEvent(target, wheel)
        return f"wheel on {target}"
    focused = QApplication.focusWidget() or top
    if has_menu(focused):
        focused.clearFocus()  # the window would press it by Enter, and wait in its menu
        focused = top
    if what < 0.8:
        text = chance.choice(("lamp", "[[", "7", "-3", "/(a+)+$/", "  "))
        QTest.keyClicks(focused, text)
        return f"typed {text!r} into {focused}"
    key, held = chance.choice(KEYS), chance.choice(HELD)
    QTest.keyClick(focused, getattr(Qt.Key, f"Key_{key}"), held)
    return f"{held} {key} in {focused}"


@pytest.mark.long
# The first click of two may have disabled what the second is meant for.
@pytest.mark.qt_log_ignore("^Mouse event .* not accepted", "^This plugin does not support ")
@pytest.mark.parametrize("seed", range(4))
def test_random_input_meets_no_error(
    make_window: Callable[..., MainWindow], qtbot: QtBot, tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)
    demo = tmp_path / "demo"  # a click may open it again
    window = make_window(lorestudio.demo_project(demo), make_simulator=Simulator, demo_in=demo)
    window.features.vault.keep_in(tmp_path / "kept")
    settle(window)
    window.activateWindow()
    names = list(window.docks)
    done: list[str] = []
    with qtbot.captureExceptions() as caught:
        for step in range(STEPS):
            if step % 40 == 0:
                window.show_pane(chance.choice(names))
            top = in_front(window)
            if isinstance(top, QDialog) and chance.random() < 0.1:
                top.reject()
            else:
                done.append(act(top, chance))
            QApplication.processEvents()
            assert not caught, "\n".join([*done[-5:], str(caught)])
    while (front := in_front(window)) is not window:
        if isinstance(front, QDialog):
            front.done(0)  # without the question whether to keep what was typed into it
        else:
            front.close()
        drain()
    settle(window)
