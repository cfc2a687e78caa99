"""What a person can do, as data: a feature declares its actions, and menus, palette, keys and help are made of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import Final

from msgspec import Struct


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


def always() -> bool:
    """An action that can be done at any time."""
    return True


class Action(Struct, frozen=True):
    """One thing a person can do, and what does it.

    `menu` is a path such as `View/Theme`, `order` the place in the menu of the path's first part: a line stands
    between two hundreds. `when` says whether it makes sense now, `ticked` whether it is on, and `text` what it is
    called at the moment where that is not its title. `leaves_chat` waits for what becomes of an unsaved chat.
    """

    id: str
    title: str
    menu: str
    order: int
    do: Callable[[], object]
    shortcuts: tuple[str, ...] = ()
    where: Where = Where.WINDOW
    when: Callable[[], bool] = always
    icon: str = ""
    tip: str = ""
    ticked: Callable[[], bool] | None = None
    text: Callable[[], str] | None = None
    leaves_chat: bool = False


MENUS: Final = {
    "File": "&File", "Edit": "&Edit", "Entry": "E&ntry", "Chat": "&Chat", "View": "&View", "Run": "&Run",
    "Trace": "&Trace", "Help": "&Help",
}  # fmt: skip
"""The menu bar, from left to right: each with the letter that opens it together with Alt."""

LONGEST_MENU: Final = 15
"""No menu has more entries than this; a longer list is no longer read."""

RARE: Final = frozenset({
    "Chat/Recap", "Chat/Memories", "Chat/Chosen memory", "Entry/Proposals", "Run/System", "pane.recap", "pane.memories",
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


_OVERLAPS: Final = {
    Where.WINDOW: set(Where),
    Where.TIMELINE: {Where.WINDOW, Where.RUNS, Where.TIMELINE},
    Where.VAULT: {Where.WINDOW, Where.VAULT},
    Where.EDITOR: {Where.WINDOW, Where.EDITOR},
    Where.MEMORIES: {Where.WINDOW, Where.MEMORIES},
    Where.CHAT: {Where.WINDOW, Where.CHAT, Where.RUNS},
    Where.TRACE: {Where.WINDOW, Where.TRACE, Where.RUNS},
    Where.RUNS: {Where.WINDOW, Where.CHAT, Where.TRACE, Where.TIMELINE, Where.RUNS},
}


def conflicts(actions: Iterable[Action]) -> list[tuple[str, str, str]]:
    """Shortcuts that two actions share in places that overlap: the shortcut and both ids."""
    found: list[tuple[str, str, str]] = []
    seen: list[tuple[str, Action]] = []
    for action in actions:
        for shortcut in action.shortcuts:
            found += [
                (shortcut, other.id, action.id)
                for known, other in seen
                if known.casefold() == shortcut.casefold() and action.where in _OVERLAPS[other.where]
            ]
            seen.append((shortcut, action))
    return found
