"""Rows that say what would change, each with a box to tick: settings to carry over, choices to write into a chat.

Below them is how many are ticked, and buttons for all and none of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter

from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from lorestudio.settings.differences import SettingChange, value_text
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import count, tr
from lorestudio.ui.widgets.cells import Column
from lorestudio.ui.widgets.record_table import RecordTable, RecordView


@dataclass(frozen=True, slots=True)
class CheckRow:
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
        self.amount = QLabel(self)
        self.amount.setProperty("kind", "small")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addWidget(self.view, 1)
        row = QHBoxLayout()
        row.addWidget(self.amount, 1)
        self.buttons = [QPushButton(tr("All"), self), QPushButton(tr("None"), self)]
        for button, every in zip(self.buttons, (True, False), strict=True):
            button.setProperty("kind", "small")
            button.setVisible(model.checkable)
            button.clicked.connect(partial(model.choose_all, all_of_them=every))
            row.addWidget(button)
        self.buttons[0].setAccessibleName(tr("Tick all"))
        self.buttons[1].setAccessibleName(tr("Tick none"))
        column.addLayout(row)
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
        for button in self.buttons:
            button.setEnabled(rows > 0)
