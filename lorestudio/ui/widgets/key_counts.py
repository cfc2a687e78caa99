"""Keys of now and proposed keys side by side, each with the messages of the open chat that it is found in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTreeWidget, QTreeWidgetItem, QWidget

from lorestudio.studio.proposals import KeyCount
from lorestudio.ui.theme import Theme
from lorestudio.ui.words import count, number, tr

_KEY, _CHANGE, _FOUND = range(3)
_MOST_NUMBERS: Final = 8


class KeyCounts(QTreeWidget):
    """A list to read; `show_counts` fills it."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._counts: tuple[KeyCount, ...] = ()
        self._searched = 0
        self.setColumnCount(3)
        self.setHeaderLabels([tr("Key"), tr("Change"), tr("Found in this chat")])
        self.setRootIsDecorated(False)
        self.setUniformRowHeights(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setAccessibleName(tr("Keys and what they find"))
        self.header().setSectionResizeMode(_KEY, QHeaderView.ResizeMode.Stretch)
        self.header().setSectionResizeMode(_CHANGE, QHeaderView.ResizeMode.ResizeToContents)
        self.header().setSectionResizeMode(_FOUND, QHeaderView.ResizeMode.ResizeToContents)
        self.header().setStretchLastSection(False)
        theme.changed.connect(self._fill)

    def show_counts(self, counts: Sequence[KeyCount], searched: int) -> None:
        """Show these keys; `searched` is how many messages were looked through."""
        self._counts, self._searched = tuple(counts), searched
        self._fill()

    def _fill(self) -> None:
        self.clear()
        for item in self._counts:
            change, icon, color = _change(item)
            found = self._found(item)
            line = QTreeWidgetItem([item.key, change, found])
            line.setIcon(_CHANGE, self._theme.icon(icon, color))
            if not item.proposed:
                line.setForeground(_KEY, self._theme.color("text_faint"))
            numbers = ", ".join(f"#{place}" for place in item.messages[:_MOST_NUMBERS])
            more = "…" if len(item.messages) > _MOST_NUMBERS else ""
            line.setToolTip(_FOUND, numbers + more)
            line.setData(_KEY, Qt.ItemDataRole.AccessibleTextRole, f"{item.key}, {change}, {found}")
            self.addTopLevelItem(line)

    def _found(self, item: KeyCount) -> str:
        if not self._searched:
            return tr("no chat is open")
        if not item.messages:
            return tr("in no message")
        return tr(
            "in {found} of {all}", found=number(len(item.messages)), all=count(self._searched, "message", "messages")
        )


def _change(item: KeyCount) -> tuple[str, str, str]:
    """Word, icon and colour."""
    if item.now and item.proposed:
        return tr("stays"), "dot", "text_faint"
    return (tr("new"), "plus", "good") if item.proposed else (tr("goes"), "cross", "error")
