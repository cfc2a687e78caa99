"""Rows that say what would change, each with a box to tick: settings to carry over, choices to write into a chat.

Below them is how many are ticked, and buttons for all and none of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from operator import attrgetter

from msgspec import Struct
from PySide6.QtWidgets import QWidget

from lorestudio.settings.differences import SettingChange, value_text
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import count, tr
from lorestudio.ui.widgets.cells import Column
from lorestudio.ui.widgets.layouts import button, column, label, row
from lorestudio.ui.widgets.record_table import RecordTable, RecordView


class CheckRow(Struct, frozen=True):
    """One row. `key` names it for programs, `note` is said to whoever points at it."""

    key: str
    title: str
    before: str
    after: str
    note: str = ""


def setting_rows(changes: Sequence[SettingChange]) -> list[CheckRow]:
    """Rows of settings with both values."""
    return [
        CheckRow(
            each.declaration.alias,
            tr(each.declaration.label),
            value_text(each.declaration, each.before),
            value_text(each.declaration, each.after),
            f"{each.declaration.alias}: {tr(each.declaration.help)}",
        )
        for each in changes
    ]


def change_columns(heads: tuple[str, str, str]) -> list[Column]:
    """What, before and after, under these headings."""
    return [Column(head, attrgetter(name)) for head, name in zip(heads, ("title", "before", "after"), strict=True)]


def change_table(heads: tuple[str, str, str], parent: QWidget, *, checkable: bool = True) -> RecordTable:
    """A table of `CheckRow`s."""
    return RecordTable(
        change_columns(heads),
        key=attrgetter("key"),
        spoken=lambda row, _column: tr(
            "{title}: {before}, then {after}", title=row.title, before=row.before, after=row.after
        ),
        tip=lambda row, _column: "\n".join(filter(None, (f"{row.before} → {row.after}", row.note))),
        checkable=checkable,
        parent=parent,
    )


class CheckList(QWidget):
    """Shows a table with the amount of ticked rows, and buttons to tick all and none."""

    def __init__(self, theme: Theme, model: RecordTable, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model = model
        self.view = RecordView(theme, model, name, self)
        self.amount = label(self, kind="small", wrap=False)
        self.buttons = [
            button(self, text, partial(model.choose_all, all_of_them=every), kind="small", name=name)
            for text, name, every in ((tr("All"), tr("Tick all"), True), (tr("None"), tr("Tick none"), False))
        ]
        for each in self.buttons:
            each.setVisible(model.checkable)
        column((self.view, 1), row((self.amount, 1), *self.buttons), of=self, spacing=4, margins=0)
        for signal in (model.ticked, model.changed):
            signal.connect(self._say)
        self._say()

    def _say(self) -> None:
        rows = len(self.model.rows)
        if self.model.checkable:
            text = tr("{some} of {rows} chosen", some=len(self.model.chosen), rows=rows) if rows else ""
        else:
            text = count(rows, "difference", "differences")
        self.amount.setText(text)
        for each in self.buttons:
            each.setEnabled(rows > 0)
