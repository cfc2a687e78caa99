"""Menus, Qt actions and the shortcut help, made from the action table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu, QMenuBar, QWidget

from lorestudio.ui.shell.actions import MENUS, VIEW_KEYS, Action, Where
from lorestudio.ui.shell.command_group import Situation
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import tr


class Commands:
    """The Qt actions of a window by id. `run` is called with the id of a triggered one."""

    def __init__(self, window: QWidget, table: Sequence[Action], run: Callable[[str], None], theme: Theme) -> None:
        self.table: Mapping[str, Action] = {action.id: action for action in table}
        self.actions: dict[str, QAction] = {}
        self._theme = theme
        for action in table:
            made = QAction(tr(action.title), window)
            made.setObjectName(action.id)
            made.setShortcuts([QKeySequence(shortcut) for shortcut in action.shortcuts])
            made.setCheckable(action.checkable)
            made.setToolTip(self.tip(action))
            made.setStatusTip(tr(action.tip or action.title))
            if action.where is not Where.WINDOW:
                made.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            made.triggered.connect(partial(_run_id, run, action.id))
            self.actions[action.id] = made
        theme.changed.connect(self.paint_icons)
        self.paint_icons()

    def tip(self, action: Action) -> str:
        """The tooltip: what it does, and its first shortcut."""
        text = tr(action.tip or action.title).rstrip("…")
        return f"{text} ({_native(action.shortcuts[0])})" if action.shortcuts else text

    def rebind(self, table: Sequence[Action]) -> None:
        """Take other shortcuts: the same actions, with the keys that they have from now on."""
        for action in table:
            if action.shortcuts != self.table[action.id].shortcuts:
                made = self.actions[action.id]
                made.setShortcuts([QKeySequence(shortcut) for shortcut in action.shortcuts])
                made.setToolTip(self.tip(action))
        self.table = {action.id: action for action in table}

    def title(self, action_id: str) -> str:
        """What an action is called."""
        return tr(self.table[action_id].title)

    def attach(self, widgets: Mapping[Where, Iterable[QWidget]]) -> None:
        """Let the shortcuts of each place work in its widgets."""
        for action in self.table.values():
            for widget in widgets.get(action.where, ()):
                widget.addAction(self.actions[action.id])

    def fill_menu_bar(self, bar: QMenuBar, window: QWidget) -> None:
        """The menus, in order, with submenus for paths such as `View/Theme`."""
        menus: dict[str, QMenu] = {name: bar.addMenu(tr(name)) for name in MENUS}
        for action in self.table.values():
            made = self.actions[action.id]
            if action.where is Where.WINDOW:
                window.addAction(made)
            if not action.menu:
                continue
            top, _, sub = action.menu.partition("/")
            if sub and action.menu not in menus:
                menus[action.menu] = menus[top].addMenu(tr(sub))
            menu = menus[action.menu]
            if action.separator_before:
                menu.addSeparator()
            menu.addAction(made)

    def update(self, now: Situation) -> None:
        """Enable what makes sense at the moment."""
        for action in self.table.values():
            self.actions[action.id].setEnabled(action.enabled_when(now))

    def paint_icons(self) -> None:
        """Icons in the theme's colours."""
        for action in self.table.values():
            if action.icon:
                self.actions[action.id].setIcon(self._theme.icon(action.icon))

    def shortcut_groups(self) -> dict[str, list[tuple[str, str]]]:
        """For the help: per place, titles with their shortcuts."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for action in self.table.values():
            if action.shortcuts:
                keys = "  ".join(_native(shortcut) for shortcut in action.shortcuts)
                groups.setdefault(action.where.value, []).append((tr(action.title).rstrip("…"), keys))
        for place, items in VIEW_KEYS.items():
            groups.setdefault(place, []).extend(
                (tr(title), "  ".join(_native(key) for key in keys.split("  "))) for title, keys in items
            )
        return groups


def _run_id(run: Callable[[str], None], action_id: str, _checked: bool = False) -> None:
    run(action_id)


def _native(shortcut: str) -> str:
    return QKeySequence(shortcut).toString(QKeySequence.SequenceFormat.NativeText)
