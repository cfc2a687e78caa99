"""Where panes stand, and remembering it."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Final

from PySide6.QtCore import QByteArray, QSettings, Qt
from PySide6.QtWidgets import QDockWidget, QMainWindow, QTabWidget

from lorestudio.ui.shell.workspaces import BY_NAME, DEBUG, Workspace

LAYOUT_VERSION: Final = 6
"""Goes up when a saved layout would not fit any more; an older one is then left alone."""

NARROW: Final = 1150
"""A window less wide than this (device-independent pixels) stacks its panes into tabs."""

LOW: Final = 900
"""A window less high than this has the budget as a tab behind the answers to "why?", so that the trace shows rows."""

_LEFT: Final = Qt.DockWidgetArea.LeftDockWidgetArea
_H: Final = Qt.Orientation.Horizontal
_V: Final = Qt.Orientation.Vertical


def arrange(
    window: QMainWindow, docks: Mapping[str, QDockWidget], workspace: Workspace, width: int, height: int
) -> None:
    """Put the panes where they stand in a workspace for a window of this size."""
    for dock in docks.values():
        dock.setFloating(False)
        window.removeDockWidget(dock)
    narrow = width < NARROW
    columns = [column.stacked(narrow=narrow, low=height < LOW) for column in workspace.columns]
    tops = [docks[stacks[0].panes[0]] for stacks in columns]
    window.addDockWidget(_LEFT, tops[0])
    for left, right in itertools.pairwise(tops):
        window.splitDockWidget(left, right, _H)
    for stacks in columns:
        heads = [docks[stack.panes[0]] for stack in stacks]
        for above, below in itertools.pairwise(heads):
            window.splitDockWidget(above, below, _V)
        for head, stack in zip(heads, stacks, strict=True):
            for name in stack.panes[1:]:
                window.tabifyDockWidget(head, docks[name])
    shown = workspace.shown
    for name, dock in docks.items():
        dock.setVisible(name in shown)
    widths = [column.narrow if narrow else column.width for column in workspace.columns]
    window.resizeDocks(tops, [round(width * part) for part in widths], _H)
    for stacks in columns:
        heads = [docks[stack.panes[0]] for stack in stacks]
        for head in heads:
            head.raise_()
        if len(heads) > 1:
            window.resizeDocks(heads, [round(height * stack.share) for stack in stacks], _V)


def save(window: QMainWindow, settings: QSettings, workspace: Workspace) -> None:
    """Remember the window's size and layout, in the workspace that it is in."""
    settings.setValue("window/version", LAYOUT_VERSION)
    settings.setValue("window/geometry", window.saveGeometry())
    settings.setValue("window/workspace", workspace.name)
    keep(window, settings, workspace)
    settings.sync()


def restore(window: QMainWindow, settings: QSettings) -> bool:
    """Put the window back as it was; False where nothing usable was remembered."""
    geometry = settings.value("window/geometry")
    if not isinstance(geometry, QByteArray) or not window.restoreGeometry(geometry):
        return False
    return bring_back(window, settings, remembered(settings))


def remembered(settings: QSettings) -> Workspace:
    """The workspace that the window was left in."""
    return BY_NAME.get(str(settings.value("window/workspace", "")), DEBUG)


def keep(window: QMainWindow, settings: QSettings, workspace: Workspace) -> None:
    """Remember how the panes of a workspace stand."""
    settings.setValue("window/version", LAYOUT_VERSION)
    settings.setValue(_key(workspace), window.saveState(LAYOUT_VERSION))


def forget(settings: QSettings, workspace: Workspace) -> None:
    """Remember nothing of a workspace any more."""
    settings.remove(_key(workspace))


def bring_back(window: QMainWindow, settings: QSettings, workspace: Workspace) -> bool:
    """Put the panes as they were left in a workspace; False where nothing usable was remembered."""
    state = settings.value(_key(workspace))
    fits = str(settings.value("window/version", "")) == str(LAYOUT_VERSION) and isinstance(state, QByteArray)
    return fits and window.restoreState(state, LAYOUT_VERSION)


def _key(workspace: Workspace) -> str:
    return f"window/state-{workspace.name}"


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
