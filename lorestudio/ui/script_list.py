"""The regex scripts of a prompt as a table: each with where it comes from and what it does here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTreeWidget, QTreeWidgetItem, QWidget

from lorestudio.domain.patterns import PatternError
from lorestudio.exchange.regex_scripts import Placement, RegexScript, RegexScripts, compiled
from lorestudio.ui.words import number, tr

_PLACES: Final = {
    Placement.USER_INPUT: "your words",
    Placement.AI_OUTPUT: "the characters' words",
    Placement.WORLD_INFO: "SillyTavern's World Info",
}


def script_words(script: RegexScript) -> str:
    """What a script does to a prompt, in words."""
    if script.disabled or not script.find:
        return tr("Switched off")
    if not script.prompt_only:
        return tr("Only changes what is shown") if script.markdown_only else tr("Changed the chat when it was written")
    places = [tr(words) for place, words in _PLACES.items() if place in script.placement]
    if not places:
        return tr("Changes nothing that a prompt has")
    try:
        compiled(script.find)
    except PatternError:
        return tr("Changes nothing: its pattern cannot be read")
    text = tr("Changes {places}", places=", ".join(places))
    limits = (("from depth {depth}", script.min_depth, 0), ("to depth {depth}", script.max_depth, -1))
    for words, depth, beyond in limits:
        if depth is not None and depth > beyond:
            text += " " + tr(words, depth=number(depth))
    return text


class ScriptList(QTreeWidget):
    """One row a script, in the order they run in."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setHeaderLabels([tr("Script"), tr("From"), tr("What it does here")])
        self.setRootIsDecorated(False)
        self.setUniformRowHeights(True)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setAccessibleName(tr("Regex scripts, in the order they run in"))
        self.header().setStretchLastSection(True)
        self.header().setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        self.setColumnWidth(0, 190)
        self.setColumnWidth(1, 130)

    def set_scripts(self, found: Iterable[tuple[str, RegexScripts]]) -> None:
        """Show the scripts of these places."""
        self.clear()
        for where, scripts in found:
            for script in scripts.scripts:
                cells = [script.name, where, script_words(script)]
                item = QTreeWidgetItem(cells)
                for column, text in enumerate(cells):
                    item.setToolTip(column, f"{text}\n{script.find}" if column == 0 else text)
                self.addTopLevelItem(item)
