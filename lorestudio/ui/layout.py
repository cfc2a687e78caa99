"""Where panes stand, and remembering it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from PySide6.QtCore import QByteArray, QSettings, Qt
from PySide6.QtWidgets import QDockWidget, QMainWindow, QTabWidget

LAYOUT_VERSION: Final = 4
"""Goes up when a saved layout would not fit any more; an older one is then left alone."""

NARROW: Final = 1150
"""A window less wide than this (device-independent pixels) stacks its panes into tabs."""

LOW: Final = 900
"""A window less high than this has the budget as a tab behind the answers to "why?", so that the trace shows rows."""

HIDDEN_AT_FIRST: Final = frozenset(
    {"graph", "search", "links", "bench", "settings", "compare", "systems", "recap", "memories"}
)
"""Panes that are not in sight until somebody wants them."""

_LEFT: Final = Qt.DockWidgetArea.LeftDockWidgetArea
_H: Final = Qt.Orientation.Horizontal
_V: Final = Qt.Orientation.Vertical


def arrange(window: QMainWindow, docks: Mapping[str, QDockWidget], width: int, height: int) -> None:
    """The default layout for a window of this size: vault, chat over entry, trace and problems over why and budget.

    The graph, the bench and the settings wait behind the entry, which has the most room; the timeline is a tab beside
    the trace.
    """
    for dock in docks.values():
        dock.setFloating(False)
        window.removeDockWidget(dock)
    vault, entry, chat = docks["vault"], docks["entry"], docks["chat"]
    trace, why, budget, problems = docks["trace"], docks["why"], docks["budget"], docks["problems"]
    window.addDockWidget(_LEFT, vault)
    window.splitDockWidget(vault, chat, _H)
    window.splitDockWidget(chat, trace, _H)
    if width < NARROW:
        window.tabifyDockWidget(chat, entry)
        window.tabifyDockWidget(trace, why)
        window.tabifyDockWidget(why, budget)
        window.tabifyDockWidget(budget, problems)
    else:
        window.splitDockWidget(chat, entry, _V)
        window.splitDockWidget(trace, why, _V)
        if height < LOW:
            window.tabifyDockWidget(why, budget)
        else:
            window.splitDockWidget(why, budget, _V)
        window.tabifyDockWidget(trace, problems)
    window.tabifyDockWidget(problems, docks["timeline"])
    behind_entry = ("graph", "links", "bench", "settings", "recap")
    behind = {"search": vault, **dict.fromkeys(behind_entry, entry)}
    behind |= dict.fromkeys(("compare", "systems", "memories"), docks["timeline"])
    for name, beside in behind.items():
        window.tabifyDockWidget(beside, docks[name])
    for name, dock in docks.items():
        dock.setVisible(name not in HIDDEN_AT_FIRST)
    if width < NARROW:
        chat.raise_()
        trace.raise_()
        window.resizeDocks([vault, chat, trace], [round(width * part) for part in (0.21, 0.36, 0.43)], _H)
        return
    trace.raise_()
    window.resizeDocks([vault, chat, trace], [round(width * part) for part in (0.18, 0.38, 0.44)], _H)
    window.resizeDocks([chat, entry], [round(height * part) for part in (0.56, 0.44)], _V)
    if height < LOW:
        why.raise_()
        window.resizeDocks([trace, why], [round(height * part) for part in (0.6, 0.4)], _V)
    else:
        window.resizeDocks([trace, why, budget], [round(height * part) for part in (0.48, 0.26, 0.26)], _V)


def save(window: QMainWindow, settings: QSettings) -> None:
    """Remember the window's size and layout."""
    settings.setValue("window/version", LAYOUT_VERSION)
    settings.setValue("window/geometry", window.saveGeometry())
    settings.setValue("window/state", window.saveState(LAYOUT_VERSION))
    settings.sync()


def restore(window: QMainWindow, settings: QSettings) -> bool:
    """Put the window back as it was; False where nothing usable was remembered."""
    geometry, state = settings.value("window/geometry"), settings.value("window/state")
    if str(settings.value("window/version", "")) != str(LAYOUT_VERSION):
        return False
    if not isinstance(geometry, QByteArray) or not isinstance(state, QByteArray):
        return False
    return window.restoreGeometry(geometry) and window.restoreState(state, LAYOUT_VERSION)


def prepare(window: QMainWindow) -> None:
    """Let docks be nested and tabbed freely, with tabs on top."""
    window.setDockNestingEnabled(True)
    window.setDockOptions(
        QMainWindow.DockOption.AllowNestedDocks
        | QMainWindow.DockOption.AllowTabbedDocks
        | QMainWindow.DockOption.GroupedDragging
    )
    for area in (
        Qt.DockWidgetArea.LeftDockWidgetArea,
        Qt.DockWidgetArea.RightDockWidgetArea,
        Qt.DockWidgetArea.BottomDockWidgetArea,
    ):
        window.setTabPosition(area, QTabWidget.TabPosition.North)
