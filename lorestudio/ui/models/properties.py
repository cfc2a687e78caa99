"""A note's properties as a table: what the note says, what the pipeline makes of it, and where it may surprise."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QAbstractTableModel, QObject, Qt

from lorestudio.domain.entry import Entry, Position, Role
from lorestudio.domain.javascript import Json
from lorestudio.ui.qt import ACCESSIBLE_TEXT, DISPLAY, HORIZONTAL, ITEM, NO_INDEX, TOOLTIP, Index
from lorestudio.ui.words import number, tr


@dataclass(frozen=True, slots=True)
class Property:
    """One row: the name, the effective value, where that comes from, and a warning with its fix ("" for none)."""

    name: str
    value: str
    source: str = ""
    warning: str = ""
    fix: str = ""


_POSITIONS = {
    Position.OUTLET: "outlet",
    Position.AFTER: "after the main prompt",
    Position.IN_CHAT: "in the chat",
    Position.BEFORE: "before the main prompt",
}
_ROLES = {Role.SYSTEM: "system", Role.USER: "user", Role.ASSISTANT: "assistant"}


def properties(entry: Entry) -> tuple[Property, ...]:
    """The rows for an entry, in the order in which they matter; empty optional properties are left out."""
    note, settings = tr("from the note"), tr("from the settings")
    found = [
        _listed("keys", entry.keys, entry),
        _listed("refine keys", entry.refine_keys, entry),
        Property("priority", number(entry.priority), note),
        Property("when", _when(entry), note),
        Property("summary", entry.summary, note),
        _listed("requires", entry.requires, entry, entry.written_requires),
        _listed("excludes", entry.excludes, entry, entry.written_excludes),
        _listed("cascade links", entry.cascade_links, entry, entry.written_cascade_links),
        _listed("links", entry.resolved_links, entry),
        _optional("probability", entry.probability),
        _optional("warmup", entry.warmup),
        _optional("cooldown", entry.cooldown),
        _optional("scan depth", entry.scan_depth) or Property("scan depth", tr("the general one"), settings),
        _placement(entry),
        _listed("tags", entry.tags, entry),
        Property("outlet", entry.outlet, note) if entry.outlet else None,
        Property("recursion", tr("its text is not scanned"), note) if entry.exclude_recursion else None,
    ]
    found += [Property(name, _plain(value), note) for name, value in entry.custom_fields.items()]
    rows = [row for row in found if row is not None and row.value]
    by_field = {warning.field.casefold(): warning for warning in entry.warnings}
    marked = []
    for row in rows:
        warning = by_field.pop(row.name.casefold(), None) or by_field.pop(row.name.replace(" ", "_").casefold(), None)
        marked.append(_warned(row, warning.message, warning.suggested_fix) if warning is not None else row)
    marked += [
        Property(warning.field, tr("not used as written"), note, warning.message, warning.suggested_fix)
        for warning in by_field.values()
    ]
    return tuple(marked)


class PropertyTable(QAbstractTableModel):
    """Two columns, name and value; the tooltip and accessible text add the source, the warning and its fix."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[Property, ...] = ()

    def set_entry(self, entry: Entry | None) -> None:
        """Show another entry, None for none."""
        self.beginResetModel()
        self._rows = properties(entry) if entry is not None else ()
        self.endResetModel()

    def rowCount(self, parent: Index = NO_INDEX) -> int:
        """Qt: one row per property."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = NO_INDEX) -> int:
        """Qt: name and value."""
        return 0 if parent.isValid() else 2

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = DISPLAY) -> object:
        """Qt: the names of the columns."""
        return (tr("Property"), tr("Value"))[section] if orientation == HORIZONTAL and role == DISPLAY else None

    def data(self, index: Index, role: int = DISPLAY) -> object:
        """Qt: a cell."""
        if not 0 <= index.row() < len(self._rows):
            return None
        row = self._rows[index.row()]
        if role == ITEM:
            return row
        if role == DISPLAY:
            return row.name if index.column() == 0 else row.value
        if role == ACCESSIBLE_TEXT:
            return f"{row.name}: {row.value}" + (f". {row.warning}" if row.warning else "")
        if role == TOOLTIP:
            return "\n".join(part for part in (row.value, row.source, row.warning, row.fix) if part)
        return None


def _when(entry: Entry) -> str:
    flags = [
        word
        for flag, word in (
            (entry.constant, tr("constant: always in")),
            (entry.seed, tr("seed: for the start of a chat")),
            (entry.bootstrap, tr("bootstrap: in while the chat is short")),
            (entry.guide, tr("writing guide: never injected")),
        )
        if flag
    ]
    return ", ".join(flags) or tr("when a key is found")


def _listed(name: str, items: tuple[str, ...], entry: Entry, written: tuple[str, ...] | None = None) -> Property | None:
    row = Property(name, ", ".join(items), tr("from the note"))
    if written is not None:
        lost = [title for title in written if title not in items]
        message = tr("no such entry: {titles}", titles=", ".join(lost))
        return _warned(Property(name, row.value or tr("(none)"), row.source), message, "") if lost else row
    if name == "keys" and not items and not (entry.constant or entry.guide):
        return _warned(Property(name, tr("(none)"), row.source), tr("no key: only a link or fuzzy match finds it"), "")
    return row if items else None


def _optional(name: str, value: float | None) -> Property | None:
    return Property(name, number(value), tr("from the note")) if value is not None else None


def _placement(entry: Entry) -> Property:
    if entry.position is None:
        return Property("position", tr("the general one"), tr("from the settings"))
    text = tr(_POSITIONS.get(Position(entry.position), str(entry.position)))
    if entry.depth is not None:
        text += tr(", depth {depth}", depth=number(entry.depth))
    if entry.role is not None:
        text += tr(", as {role}", role=tr(_ROLES.get(Role(entry.role), str(entry.role))))
    return Property("position", text, tr("from the note"))


def _warned(row: Property, message: str, fix: str) -> Property:
    return Property(row.name, row.value, row.source, message, fix)


def _plain(value: Json) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(_plain(item) for item in value)
    return "" if value is None else str(value)
