"""Findings as a tree: by severity, then by note, each with what can be done about it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from PySide6.QtCore import QModelIndex, QObject, Qt
from PySide6.QtGui import QIcon

from lorestudio.studio.problems import Finding, Severity, check_of
from lorestudio.ui.models.tree import TreeModel
from lorestudio.ui.qt import (
    ACCESSIBLE_DESCRIPTION,
    ACCESSIBLE_TEXT,
    DISPLAY,
    ENTRY_ID,
    HORIZONTAL,
    ITEM,
    NO_INDEX,
    TOOLTIP,
    Index,
)
from lorestudio.ui.words import count, number, tr

NAMES: Final = {
    Severity.ERROR: ("error", "errors"),
    Severity.WARNING: ("warning", "warnings"),
    Severity.INFO: ("remark", "remarks"),
}
"""What findings of a severity are called, one and many."""


@dataclass(slots=True, eq=False)
class ProblemNode:
    """One row: a severity, a note (its findings have the same file), or a finding."""

    title: str
    severity: Severity
    place: str = ""
    finding: Finding | None = None
    parent: ProblemNode | None = None
    children: list[ProblemNode] = field(default_factory=list)
    row: int = 0
    amount: int = 0


MOST: Final = 2000
"""Of each severity so many findings have a row; a filter brings up the others."""


def search_text(finding: Finding) -> str:
    """What a filter looks in: what is shown of a finding, case-folded."""
    check = check_of(finding.code)
    parts = (finding.code, check.title, check.group, finding.filename, finding.message, finding.field)
    return " ".join(parts).casefold()


class ProblemTree(TreeModel[ProblemNode]):
    """Two columns: what, and where. `ITEM` is the node, `ENTRY_ID` the entry of a finding; `shown` counts findings."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(ProblemNode("", Severity.INFO), parent)
        self._findings: tuple[Finding, ...] = ()
        self._texts: tuple[str, ...] = ()
        self._words: tuple[str, ...] = ()
        self._least = Severity.INFO
        self._icon: Callable[[Severity], QIcon | None] = lambda _severity: None
        self._titles: Callable[[Finding], str] = lambda finding: finding.filename
        self.shown = 0

    # ---- content ----------------------------------------------------------------------------------------------------

    def set_look(self, icon: Callable[[Severity], QIcon | None], titles: Callable[[Finding], str]) -> None:
        """Where icons come from, and what the note of a finding is called."""
        self._icon, self._titles = icon, titles

    def set_findings(self, findings: Sequence[Finding], texts: Sequence[str] | None = None) -> None:
        """Show other findings, which are in order already; `texts` are their search texts."""
        self._findings = tuple(findings)
        self._texts = tuple(map(search_text, findings)) if texts is None else tuple(texts)
        self._rebuild()

    def set_filter(self, text: str, least: Severity) -> None:
        """Show only what contains every word of `text` and is at least that bad."""
        words = tuple(text.casefold().split())
        if (words, least) != (self._words, self._least):
            self._words, self._least = words, least
            self._rebuild()

    @property
    def filtered(self) -> bool:
        """Whether something may be hidden."""
        return bool(self._words) or self._least is not Severity.INFO

    def findings(self) -> Iterator[Finding]:
        """The findings that are shown, in order."""
        for severity in self._root.children:
            for note in severity.children:
                for leaf in note.children:
                    if leaf.finding is not None:
                        yield leaf.finding

    def index_of(self, finding: Finding | None) -> QModelIndex:
        """The row of a finding that says the same, an invalid index where there is none."""
        if finding is not None:
            wanted = (finding.code, finding.note, finding.message)
            for severity in self._root.children:
                for note in severity.children:
                    for leaf in note.children:
                        found = leaf.finding
                        if found is not None and (found.code, found.note, found.message) == wanted:
                            return self.createIndex(leaf.row, 0, leaf)
        return QModelIndex()

    # ---- Qt ---------------------------------------------------------------------------------------------------------

    def columnCount(self, _parent: Index = NO_INDEX) -> int:
        """Qt: what, and where."""
        return 2

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = DISPLAY) -> object:
        """Qt: the headings."""
        if orientation == HORIZONTAL and role == DISPLAY:
            return (tr("Problem"), tr("Where"))[section]
        return None

    def data(self, index: Index, role: int = DISPLAY) -> object:
        """Qt: one cell."""
        if not index.isValid():
            return None
        node = self.node(index)
        if index.column() == 1:
            return node.place if role in {DISPLAY, TOOLTIP} else None
        finding = node.finding
        if finding is None:
            return self._heading(node, role)
        told: dict[int, object] = {
            DISPLAY: node.title, ITEM: node, ENTRY_ID: finding.entry, TOOLTIP: finding.message,
            ACCESSIBLE_TEXT: f"{tr(NAMES[node.severity][0])}: {node.title} {node.place}",
            ACCESSIBLE_DESCRIPTION: finding.advice,
        }  # fmt: skip
        return self._icon(node.severity) if role == Qt.ItemDataRole.DecorationRole else told.get(role)

    # ---- inside -----------------------------------------------------------------------------------------------------

    def _heading(self, node: ProblemNode, role: int) -> object:
        """What a severity or a note answers."""
        if role == Qt.ItemDataRole.DecorationRole:
            return self._icon(node.severity) if node.parent is self._root else None
        told: dict[int, object] = {
            DISPLAY: f"{node.title}   {number(node.amount)}" if node.amount else node.title,
            ITEM: node, TOOLTIP: node.title,
            ACCESSIBLE_TEXT: f"{node.title}: {count(node.amount, 'finding', 'findings')}",
        }  # fmt: skip
        return told.get(role)

    def _rebuild(self) -> None:
        self.beginResetModel()
        self._root = ProblemNode("", Severity.INFO)
        self.shown = 0
        places = self._matching()
        for severity in Severity:
            if severity.rank <= self._least.rank:
                # Findings come by severity, so each has one stretch of them.
                first = bisect_left(places, severity.rank, key=self._rank)
                end = bisect_left(places, severity.rank + 1, key=self._rank)
                if end > first:
                    self._add_severity(severity, places[first:end])
        self.endResetModel()

    def _matching(self) -> Sequence[int]:
        """The places of the findings that have all words of the filter."""
        places: Sequence[int] = range(len(self._findings))
        for word in self._words:
            places = [place for place in places if word in self._texts[place]]
        return places

    def _rank(self, place: int) -> int:
        return self._findings[place].severity.rank

    def _add_severity(self, severity: Severity, places: Sequence[int]) -> None:
        top = _add(self._root, ProblemNode(tr(NAMES[severity][1]).capitalize(), severity, amount=len(places)))
        self.shown += len(places)
        notes: dict[tuple[str, str], ProblemNode] = {}
        for finding in (self._findings[place] for place in places[:MOST]):
            note = notes.get(finding.note)
            if note is None:
                title = self._titles(finding)
                place = finding.filename if finding.filename != title else ""
                note = notes[finding.note] = _add(top, ProblemNode(title, severity, place))
            place = tr("line {line}", line=finding.line) if finding.line else finding.field
            _add(note, ProblemNode(finding.message, severity, place, finding))
            note.amount += 1
        if len(places) > MOST:
            rest = tr("{amount} more; filter to see them", amount=number(len(places) - MOST))
            _add(top, ProblemNode(rest, severity))


def _add(parent: ProblemNode, node: ProblemNode) -> ProblemNode:
    node.parent, node.row = parent, len(parent.children)
    parent.children.append(node)
    return node
