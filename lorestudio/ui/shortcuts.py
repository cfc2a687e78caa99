"""Shortcuts of a person's choice: kept beside the window's layout, checked against all others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from PySide6.QtCore import QSettings
from PySide6.QtGui import QKeySequence

from lorestudio.ui.actions import Action, Where, conflicts
from lorestudio.ui.words import tr

_GROUP: Final = "shortcuts"
_PORTABLE: Final = QKeySequence.SequenceFormat.PortableText
_STANDARD: Final = (
    QKeySequence.StandardKey.Copy, QKeySequence.StandardKey.Cut, QKeySequence.StandardKey.Paste,
    QKeySequence.StandardKey.SelectAll, QKeySequence.StandardKey.Undo, QKeySequence.StandardKey.Redo,
)  # fmt: skip
"""Keys that every text field needs."""
_EDITING: Final = frozenset({
    "Backspace", "Del", "Ins", "Return", "Enter", "Space", "Tab", "Up", "Down", "Left", "Right", "Home", "End", "PgUp",
    "PgDown",
})  # fmt: skip
"""Keys that text fields and lists need, without a modifier."""

Shortcuts = Mapping[str, tuple[str, ...]]
"""The shortcuts of the actions that a person has changed, by the actions' ids; an empty tuple takes them all away."""


def normal(shortcut: str) -> str:
    """A shortcut in Qt's portable spelling, "" for one that means nothing."""
    return QKeySequence.fromString(shortcut, _PORTABLE).toString(_PORTABLE)


def with_shortcuts(table: Iterable[Action], chosen: Shortcuts) -> tuple[Action, ...]:
    """The table with the chosen shortcuts in place of its own."""
    return tuple(replace(one, shortcuts=chosen[one.id]) if one.id in chosen else one for one in table)


def objections(table: Sequence[Action], action: Action, shortcuts: Sequence[str]) -> list[str]:
    """What speaks against these shortcuts for an action of the table as it is now, in sentences."""
    said: list[str] = []
    for shortcut in shortcuts:
        if not normal(shortcut):
            said.append(tr("{shortcut} is no shortcut.", shortcut=shortcut))
        elif action.where is Where.WINDOW and _types(normal(shortcut)):
            said.append(tr("{shortcut} alone is typed into text fields. Add Ctrl or Alt.", shortcut=shortcut))
        elif action.where is Where.WINDOW and normal(shortcut) in _needed():
            said.append(tr("{shortcut} is needed in text fields.", shortcut=shortcut))
    return list(dict.fromkeys([*said, *taken(table, action, shortcuts)]))


def taken(table: Sequence[Action], action: Action, shortcuts: Sequence[str]) -> list[str]:
    """For each of the shortcuts that another action has where this one would have it too, a sentence."""
    titles = {one.id: tr(one.title).rstrip("…") for one in table}
    return [
        tr("{shortcut} is already used by “{title}”.", shortcut=normal(shortcut), title=titles[other])
        for shortcut in shortcuts
        for other in clashing(table, action, shortcut)
    ]


def clashing(table: Sequence[Action], action: Action, shortcut: str) -> list[str]:
    """The ids of the other actions that have this shortcut where the action would have it too."""
    mine = replace(action, shortcuts=(normal(shortcut),))
    others = [replace(one, shortcuts=tuple(map(normal, one.shortcuts))) for one in table if one.id != action.id]
    found = [clash for clash in conflicts((*others, mine)) if action.id in clash[1:]]
    return [one if other == action.id else other for _shortcut, one, other in found]


def _types(shortcut: str) -> bool:
    return len(shortcut) == 1 or shortcut in _EDITING or (shortcut.startswith("Shift+") and len(shortcut) == 7)


def _needed() -> set[str]:
    return {sequence.toString(_PORTABLE) for key in _STANDARD for sequence in QKeySequence.keyBindings(key)}


class ShortcutStore:
    """The chosen shortcuts in the window's settings."""

    def __init__(self, settings: QSettings) -> None:
        self._settings = settings

    def load(self, table: Iterable[Action]) -> dict[str, tuple[str, ...]]:
        """What was chosen for the actions of the table; of an unreadable list what can be read."""
        found: dict[str, tuple[str, ...]] = {}
        for action in table:
            kept = self._settings.value(f"{_GROUP}/{action.id}", None)
            if kept is not None:
                parts = str(kept).split(" ") if str(kept) else []
                found[action.id] = tuple(normal(part) for part in parts if normal(part))
        return found

    def save(self, chosen: Shortcuts) -> None:
        """Keep these and no others."""
        self._settings.remove(_GROUP)
        for name, shortcuts in chosen.items():
            self._settings.setValue(f"{_GROUP}/{name}", " ".join(shortcuts))
        self._settings.sync()
