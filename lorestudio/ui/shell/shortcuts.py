"""Shortcuts of a person's choice: kept beside the window's layout, checked against all others.

A dialog has the actions with their keys, and a field that says what is taken already.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Final

from PySide6.QtCore import QSettings, Signal
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QKeySequenceEdit, QLineEdit, QWidget

from lorestudio.domain.records import replace
from lorestudio.ui.shell.actions import Action, Where, conflicts
from lorestudio.ui.shell.qt import native
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import sentence_case, tr
from lorestudio.ui.widgets.cells import FIT, Column
from lorestudio.ui.widgets.dialogs import Dialog
from lorestudio.ui.widgets.layouts import SearchField, able, button, column, label, named, row
from lorestudio.ui.widgets.record_table import RecordTable, RecordView

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

FIXED: Final = "view:"
"""How the ids of keys begin that a view answers itself."""

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
    return [one for _shortcut, one, later in conflicts((*others, mine)) if later == action.id]


def _types(shortcut: str) -> bool:
    return len(shortcut) == 1 or shortcut in _EDITING or (shortcut.startswith("Shift+") and len(shortcut) == 7)


def _needed() -> set[str]:
    own = {sequence.toString(_PORTABLE) for key in _STANDARD for sequence in QKeySequence.keyBindings(key)}
    return own | {"Ctrl+Y"}  # see `qt.is_redo`


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


def _title(action: Action) -> str:
    return tr(action.title).rstrip("…")


def _menu(action: Action) -> str:
    return "" if action.id.startswith(FIXED) else action.menu.replace("/", " › ")


def _works(action: Action) -> str:
    return action.menu if action.id.startswith(FIXED) else sentence_case(tr(action.where.value))


class ShortcutsDialog(Dialog):
    """`changed` carries what the person has chosen so far, after every change; it is in force at once."""

    changed = Signal(object)

    def __init__(
        self,
        theme: Theme,
        table: Sequence[Action],
        chosen: Shortcuts,
        parent: QWidget | None = None,
        view_keys: Iterable[tuple[str, str, tuple[str, ...]]] = (),
    ) -> None:
        """`table` is as it comes with the program, `chosen` what the person has changed of it.

        `view_keys` are place, title and keys of what views answer themselves; they are listed and stay as they are.
        """
        super().__init__(parent, tr("Keyboard shortcuts"), (940, 600))
        self._table = tuple(table)
        self._fixed = tuple(
            Action(f"{FIXED}{place}: {title}", title, sentence_case(tr(place)), 0, bool, keys)
            for place, title, keys in view_keys
        )
        self.chosen: dict[str, tuple[str, ...]] = dict(chosen)
        columns = (
            Column("Action", _title, width=250, bold=self._is_changed),
            Column("Shortcuts", lambda one: shown(one.shortcuts), width=170, bold=self._is_changed),
            Column("Works", _works, width=FIT, bold=self._is_changed),
            Column("Menu", _menu, width=FIT, bold=self._is_changed),
        )
        self.model = RecordTable(
            columns,
            key=attrgetter("id"),
            spoken=self._spoken,
            text=lambda one: f"{_title(one)} {_menu(one)} {shown(one.shortcuts)} {' '.join(one.shortcuts)}",
            parent=self,
        )
        placeholder = tr("Search actions or keys, such as Ctrl+R")
        self.search = SearchField(self, tr("Search actions"), placeholder, self.model.set_filter)
        self.view = RecordView(theme, self.model, tr("Actions"), self)
        self.view.filtered_by(self.search)
        self.field = named(QKeySequenceEdit(self, maximumSequenceLength=1), tr("New shortcut"))
        for line in self.field.findChildren(QLineEdit):  # which has the keyboard
            named(line, tr("New shortcut"))
        self.said = label(self)
        self.set = button(self, tr("Set"), lambda: self._use((self._typed(),)), kind="primary")
        self.set.setToolTip(tr("Use the new shortcut in place of the others"))
        self.add = button(self, tr("Add"), self._add, tip=tr("Use the new shortcut beside the others"))
        self.take = button(self, tr("Take it from the other"), self._take)
        self.none = button(self, tr("No shortcut"), lambda: self._use(()))
        self.reset = button(self, tr("Reset"), self._reset)
        self.reset_all = button(self, tr("Reset all"), self._reset_all)
        self._build()
        self.view.chosen.connect(lambda _row: self._settle())
        self.field.keySequenceChanged.connect(lambda _sequence: self._settle())
        self._fill()
        self.view.select_places([0], 0)

    def _build(self) -> None:
        name = label(self, tr("New shortcut"), wrap=False)
        name.setBuddy(self.field)
        typed = row(name, (self.field, 1), self.set, self.add, self.none, self.reset)
        told = row((self.said, 1), self.take)
        ends = row(self.reset_all, 1, button(self, tr("Close"), self.reject))
        column(self.search, (self.view, 1), typed, told, ends, of=self, spacing=8)

    # ---- what can be done -------------------------------------------------------------------------------------------

    @property
    def now(self) -> tuple[Action, ...]:
        """The table as it is at present."""
        return with_shortcuts(self._table, self.chosen)

    @property
    def action(self) -> Action | None:
        """The chosen action as it is at present."""
        found: Action | None = self.view.current
        return found

    def choose(self, name: str) -> None:
        """Choose an action by its id."""
        self.search.clear()
        self.view.choose(name)

    def type(self, shortcut: str) -> None:
        """Put a shortcut into the field."""
        self.field.setKeySequence(QKeySequence(shortcut))

    def _typed(self) -> str:
        return normal(self.field.keySequence().toString(_PORTABLE))

    def _use(self, shortcuts: tuple[str, ...]) -> None:
        action = self.action
        if action is None or objections(self.now, action, shortcuts):
            return
        self._put(action.id, shortcuts)
        self.field.clear()
        self._changed()

    def _original(self, name: str) -> Action:
        return next(one for one in self._table if one.id == name)

    def _put(self, name: str, shortcuts: tuple[str, ...]) -> None:
        if tuple(map(normal, self._original(name).shortcuts)) == shortcuts:
            self.chosen.pop(name, None)
        else:
            self.chosen[name] = shortcuts

    def _add(self) -> None:
        action = self.action
        if action is not None:
            self._use(tuple(dict.fromkeys((*map(normal, action.shortcuts), self._typed()))))

    def _take(self) -> None:
        """Take the typed shortcut away from whoever has it, and use it."""
        action, typed = self.action, self._typed()
        if action is None:
            return
        others = set(clashing(self.now, action, typed))
        for other in [one for one in self.now if one.id in others]:
            self._put(other.id, tuple(key for key in map(normal, other.shortcuts) if key != typed))
        self._use((typed,))

    def _reset(self) -> None:
        action = self.action
        if action is None:
            return
        said = taken(self.now, action, self._original(action.id).shortcuts)
        if said:
            self.said.setText(" ".join(said))
            return
        self.chosen.pop(action.id, None)
        self._changed()

    def _reset_all(self) -> None:
        self.chosen.clear()
        self._changed()

    def _changed(self) -> None:
        self._fill()
        self.changed.emit(dict(self.chosen))

    def _fill(self) -> None:
        free = (one for one in self.now if not one.shortcuts)
        self.model.set_rows((*(one for one in self.now if one.shortcuts), *self._fixed, *free))

    def _is_changed(self, action: Action) -> bool:
        return action.id in self.chosen

    def _spoken(self, action: Action, _column: Column) -> str:
        parts = [_title(action), shown(action.shortcuts) or tr("no shortcut"), _works(action)]
        return ", ".join([*parts, tr("changed")] if self._is_changed(action) else parts)

    def _settle(self) -> None:
        action, typed = self.action, self._typed()
        fixed = action is not None and action.id.startswith(FIXED)
        stays = tr("These keys belong to the view itself and stay as they are.")
        able(self.field, not fixed, stays)
        if fixed:
            action = None
        said = objections(self.now, action, (typed,)) if action is not None and typed else []
        others = bool(typed) and action is not None and bool(clashing(self.now, action, typed))
        if said:
            self.said.setText(" ".join(said))
        elif action is not None and typed:
            self.said.setText(tr("{shortcut} is free for “{title}”.", shortcut=typed, title=tr(action.title)))
        elif action is not None:
            title, keys = tr(action.title), shown(action.shortcuts) or tr("no shortcut")
            self.said.setText(tr("“{title}” has {keys}. Press new keys in the field.", title=title, keys=keys))
        else:
            self.said.setText(stays if fixed else tr("Choose an action."))
        for each in (self.set, self.add):
            able(each, action is not None and bool(typed) and not said, self.said.text())
        self.take.setVisible(others and len(said) == 1)
        choose = stays if fixed else tr("Choose an action.")
        has, changed = action is not None and bool(action.shortcuts), action is not None and action.id in self.chosen
        able(self.none, has, choose if action is None else tr("It has no shortcut."))
        able(self.reset, changed, choose if action is None else tr("It has the keys that it came with."))
        able(self.reset_all, bool(self.chosen), tr("All have the keys that they came with."))


def shown(shortcuts: Sequence[str]) -> str:
    """Shortcuts as this system writes them."""
    return ", ".join(map(native, shortcuts))
