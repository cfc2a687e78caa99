"""The numbers about an entry as a tree of value, description and details."""

from __future__ import annotations

from typing import Final

from PySide6.QtGui import QStandardItem, QStandardItemModel

from lorestudio.trace.scores import Node
from lorestudio.ui.qt import ACCESSIBLE_TEXT, ENTRY_ID, TOOLTIP
from lorestudio.ui.words import tr

COLUMNS: Final = ("What", "Value", "How it came about")


class ScoreModel(QStandardItemModel):
    """Three columns; a line that leads to an entry carries its id as `ENTRY_ID`."""

    def set_nodes(self, nodes: tuple[Node, ...]) -> None:
        """Show another tree."""
        self.clear()
        self.setHorizontalHeaderLabels([tr(name) for name in COLUMNS])
        for node in nodes:
            self.appendRow(_row(node))


def _row(node: Node) -> list[QStandardItem]:
    texts = (node.title, node.value, node.description)
    items = [QStandardItem(tr(text)) for text in texts]
    for item, text in zip(items, texts, strict=True):
        item.setEditable(False)
        item.setData(text, TOOLTIP)
        item.setData(node.entry, ENTRY_ID)
    items[0].setData(", ".join(text for text in texts if text), ACCESSIBLE_TEXT)
    for detail in node.details:
        items[0].appendRow(_row(detail))
    return items
