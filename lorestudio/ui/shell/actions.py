"""What a person can do, as data: a feature declares its actions, and menus, palette, keys and help are made of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Final

from msgspec import Struct
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMenu, QMenuBar, QWidget

from lorestudio.ui.shell.qt import native, plain
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import tr


class Where(StrEnum):
    """Where a shortcut works. Single letters belong to a pane and are ignored while a text field has the keyboard."""

    WINDOW = "everywhere"
    CHAT = "in the chat"
    TRACE = "in the trace"
    TIMELINE = "in the timeline"
    RUNS = "in the chat and the trace"
    VAULT = "in the vault"
    EDITOR = "in the editor"
    MEMORIES = "in the memories"
    EXPECTATIONS = "in the expectations"


class Need(Struct, frozen=True):
    """What an action needs: whether that is there at the moment, and what its tooltip says while it is not.

    `first` is what it needs before; the first that is not there is told.
    """

    met: Callable[[], bool]
    why: str
    first: Need | None = None

    def __call__(self) -> bool:
        """Whether all of it is there."""
        return (self.first is None or self.first()) and self.met()

    def also(self, met: Callable[[], bool], why: str) -> Need:
        """This need, and then another."""
        return Need(met, why, self)

    @property
    def missing(self) -> str:
        """What is to be done before the action makes sense, "" where it does."""
        return (self.first.missing if self.first is not None else "") or ("" if self.met() else tr(self.why))


always: Final = Need(lambda: True, "")


class Action(Struct, frozen=True):
    """One thing a person can do, and what does it.

    `menu` is a path such as `View/Theme`, `order` the place in the menu of the path's first part: a line stands
    between two hundreds. `when` says whether it makes sense now and what is missing, `ticked` whether it is on, and
    `text` what it is called at the moment where that is not its title; `off` says in the place of the title why it
    makes no sense now, "" where the tooltip is enough. `leaves_chat` waits for what becomes of an unsaved chat. `pane`
    comes to the front first: what is done is seen there, and the keyboard may go there.
    """

    id: str
    title: str
    menu: str
    order: int
    do: Callable[[], object]
    shortcuts: tuple[str, ...] = ()
    where: Where = Where.WINDOW
    when: Need = always
    icon: str = ""
    tip: str = ""
    ticked: Callable[[], bool] | None = None
    text: Callable[[], str] | None = None
    off: Callable[[], str] | None = None
    leaves_chat: bool = False
    pane: str = ""


MENUS: Final = {
    "File": "&File", "Edit": "&Edit", "Entry": "E&ntry", "Chat": "&Chat", "View": "&View", "Run": "&Run",
    "Trace": "&Trace", "Help": "&Help",
}  # fmt: skip
"""The menu bar, from left to right: each with the letter that opens it together with Alt."""

RARE: Final = frozenset({
    "Chat/Recap", "Chat/Memories", "Chat/Chosen memory", "pane.recap", "pane.memories",
})  # fmt: skip
"""Menus, and actions by id, that stand in the menu bar only once one of them was used; the palette finds them all."""


def in_menu_order(actions: Iterable[Action]) -> tuple[Action, ...]:
    """The actions as they stand in the menus."""
    tops = list(MENUS)
    return tuple(sorted(actions, key=lambda action: (tops.index(action.menu.partition("/")[0]), action.order)))


def about(words: str, title: str) -> str:
    """`Undo: rename Skarn`, from what an action is called and what it would be done to."""
    return f"{words.partition(' ')[0]}: {title}" if title else words


LAST_WITH_SHORTCUT: Final = 9
"""There are no more digits; further panes are in the View menu and the palette."""

_FIRST_PANE: Final = 500


def pane_action(number: int, name: str, title: str, show: Callable[[], object]) -> Action:
    """The action that shows a pane and gives it the keyboard."""
    keys = (f"Ctrl+{number}",) if number <= LAST_WITH_SHORTCUT else ()
    tip = "Show the pane and give it the keyboard"
    menu = "View/Panes" if keys else "View/More panes"
    return Action(f"pane.{name}", title, menu, _FIRST_PANE + number, show, keys, tip=tip)


_WITHIN: Final = {Where.WINDOW: set(Where), Where.RUNS: {Where.CHAT, Where.TRACE, Where.TIMELINE}}
"""The places that others hold."""


def _overlap(one: Where, other: Where) -> bool:
    return one is other or other in _WITHIN.get(one, ()) or one in _WITHIN.get(other, ())


def conflicts(actions: Iterable[Action]) -> list[tuple[str, str, str]]:
    """Shortcuts that two actions share in places that overlap: the shortcut and both ids."""
    found: list[tuple[str, str, str]] = []
    seen: list[tuple[str, Action]] = []
    for action in actions:
        for shortcut in action.shortcuts:
            found += [
                (shortcut, other.id, action.id)
                for known, other in seen
                if known.casefold() == shortcut.casefold() and _overlap(action.where, other.where)
            ]
            seen.append((shortcut, action))
    return found


class Commands:
    """The actions of a window by id, and what Qt knows of them. `run` is called with the id of a triggered one."""

    def __init__(self, window: QWidget, run: Callable[[str], None], theme: Theme) -> None:
        self.table: dict[str, Action] = {}
        self.actions: dict[str, QAction] = {}
        self._view_keys: Mapping[str, Sequence[tuple[str, str]]] = {}
        self._window, self._run, self._theme = window, run, theme
        self._menus: dict[str, QMenu] = {}
        self._asked: dict[Need, tuple[str | None, list[Action]]] = {}
        self._tips: dict[str, str] = {}
        self._used: frozenset[str] = frozenset()
        theme.changed.connect(self.paint_icons)

    def take(self, actions: Iterable[Action], view_keys: Mapping[str, Sequence[tuple[str, str]]]) -> None:
        """These are the actions of the window; `view_keys` are those that a view answers itself, by their place."""
        self._view_keys = view_keys
        self.table = {action.id: action for action in in_menu_order(actions)}
        every = QActionGroup(self._window)  # one connection for all of them
        every.setExclusionPolicy(QActionGroup.ExclusionPolicy.None_)
        every.triggered.connect(lambda made: self._run(made.objectName()))
        for action in self.table.values():
            made = QAction(tr(action.title), every)
            made.setObjectName(action.id)
            made.setShortcuts([QKeySequence(shortcut) for shortcut in action.shortcuts])
            made.setCheckable(action.ticked is not None)
            made.setStatusTip(tr(action.tip or action.title))
            if action.where is not Where.WINDOW:
                made.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            self.actions[action.id] = made
            made.setEnabled(action.when is always)  # as they mostly stay: each change is told to the menus that hold it
            self._tips[action.id] = self.tip(action)
            self._tell(action, "")
            self._asked.setdefault(action.when, (None, []))[1].append(action)
        self.paint_icons()

    def tip(self, action: Action) -> str:
        """The tooltip: what it does, and its first shortcut."""
        text = tr(action.tip or action.title).rstrip("…")
        return f"{text} ({native(action.shortcuts[0])})" if action.shortcuts else text

    def _tell(self, action: Action, why: str) -> None:
        """Let the tooltip say what the action does, and `why` it makes no sense now."""
        self.actions[action.id].setToolTip(plain("\n".join(filter(None, (self._tips[action.id], why)))))

    def rebind(self, table: Sequence[Action]) -> None:
        """Take other shortcuts: the same actions, with the keys that they have from now on."""
        for action in table:
            if action.shortcuts != self.table[action.id].shortcuts:
                made = self.actions[action.id]
                made.setShortcuts([QKeySequence(shortcut) for shortcut in action.shortcuts])
                self._tips[action.id] = self.tip(action)
                self._tell(action, action.when.missing)
        self.table = {action.id: action for action in table}

    def title(self, action_id: str) -> str:
        """What an action is called."""
        return tr(self.table[action_id].title)

    def attach(self, places: Mapping[Where, Iterable[QWidget]]) -> None:
        """Let the shortcuts of each place work in its widgets."""
        for action in self.table.values():
            for widget in places.get(action.where, ()):
                widget.addAction(self.actions[action.id])

    def fill(self, menu: QMenu, names: Iterable[str]) -> None:
        """Put actions into a menu; "" is a line between two."""
        for name in names:
            if name:
                menu.addAction(self.actions[name])
            else:
                menu.addSeparator()

    def known(self, names: Iterable[str]) -> list[str]:
        """Of names as `fill` takes them, those without what is rare and was never used."""
        return [name for name in names if not name or not {name, self.table[name].menu} & RARE - self._used]

    def fill_menu_bar(self, bar: QMenuBar) -> None:
        """The menus, in order, with submenus for paths such as `View/Theme`."""
        menus = self._menus = {name: bar.addMenu(tr(title)) for name, title in MENUS.items()}
        groups: dict[str, int] = {}
        for action in self.table.values():
            made, group = self.actions[action.id], action.order // 100
            if action.where is Where.WINDOW:
                self._window.addAction(made)
            top, _, sub = action.menu.partition("/")
            for name in (top, action.menu) if action.menu not in menus else (action.menu,):
                if name in menus and groups.setdefault(name, group) != group:
                    menus[name].addSeparator()
                    groups[name] = group
            if action.menu not in menus:
                menus[action.menu], groups[action.menu] = menus[top].addMenu(tr(sub)), group
            menus[action.menu].addAction(made)
        for menu in menus.values():
            menu.setToolTipsVisible(True)  # they say why something is grey

    def show_used(self, used: Collection[str]) -> None:
        """Of what is rare, only what was used stands in the menus: these menus and actions of `RARE`."""
        self._used = frozenset(used)
        for name in RARE:
            shown = self._menus[name].menuAction() if name in self._menus else self.actions[name]
            shown.setVisible(name in used)

    def update(self) -> None:
        """Enable what makes sense at the moment, tick what is on, and say what would be done."""
        for when, (before, decided) in self._asked.items():  # a dozen questions decide about most of them
            if (why := when.missing) != before:
                self._asked[when] = why, decided
                for action in decided:
                    self.actions[action.id].setEnabled(not why)
                    self._tell(self.table[action.id], why)
        for action in self.table.values():
            if action.ticked is not None:
                self.actions[action.id].setChecked(action.ticked())
            if action.text is not None:
                self.actions[action.id].setText(action.text())
            if action.off is not None:
                made = self.actions[action.id]
                reason = "" if made.isEnabled() else action.off()
                made.setText(reason or tr(action.title))
                if reason:
                    self._tell(action, reason)

    def paint_icons(self) -> None:
        """Icons in the theme's colours."""
        for action in self.table.values():
            if action.icon:
                self.actions[action.id].setIcon(self._theme.icon(action.icon))

    def view_keys(self) -> list[tuple[str, str, tuple[str, ...]]]:
        """The keys that views answer themselves: place, title and keys."""
        return [
            (place, tr(title), tuple(keys.split("  ")))
            for place, items in self._view_keys.items()
            for title, keys in items
        ]
