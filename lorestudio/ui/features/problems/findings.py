"""Findings as a tree: by severity, then by note, each with what can be done about it.

What fixes would change, as a diff, before they are made.

The parts of the Problems pane around its tree: the filter above, the explanation and the fixes below.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Final

from PySide6.QtCore import QModelIndex, QObject, Signal
from PySide6.QtWidgets import QPushButton, QSizePolicy, QTextBrowser, QWidget

from lorestudio.ui.shell.qt import plain
from lorestudio.ui.shell.theme import Theme, fixed_font
from lorestudio.ui.shell.words import count, number, tr
from lorestudio.ui.widgets import html
from lorestudio.ui.widgets.cells import Column
from lorestudio.ui.widgets.dialogs import Dialog
from lorestudio.ui.widgets.layouts import (
    answers,
    button,
    column,
    combo,
    label,
    named,
    resize_for_letters,
    row,
    search_field,
    tight,
)
from lorestudio.ui.widgets.tree import RecordTree, TreeRow
from lorestudio.vault.lint.fixes import Repair
from lorestudio.vault.lint.model import Finding, Severity
from lorestudio.vault.lint.table import check_of

SHOWN_NOTES = 200
"""Diffs of so many notes are shown; nobody reads more, and the browser would take long."""


class FixDialog(Dialog):
    """`agreed` carries the repairs, once the person has seen what they change and wants it."""

    agreed = Signal(object)

    def __init__(self, repairs: Sequence[Repair], theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent, tr("Fix"))
        self.repairs = tuple(repairs)
        self._theme = theme
        changes = sum(len(repair.titles) for repair in self.repairs)
        notes = count(len(self.repairs), "note", "notes")
        told = tr("{changes} in {notes}:", changes=count(changes, "change", "changes"), notes=notes)
        self.browser = named(QTextBrowser(self), tr("What changes"))
        self.browser.setLineWrapMode(QTextBrowser.LineWrapMode.NoWrap)
        self.browser.setFont(fixed_font(self.font().pointSizeF()))
        self.browser.setHtml(html.page(theme.palette, self._body()))
        hint = tr("Nothing else in these files changes. The files are compared again before they are written.")
        self.apply_button = QPushButton(tr("Change {notes}", notes=notes), self)
        buttons = answers(self, self.apply_button)
        head = label(self, told, "title", wrap=False)
        column(head, (self.browser, 1), label(self, hint, "small"), buttons, of=self, spacing=8)
        self.apply_button.setDefault(True)
        self.apply_button.setFocus()
        resize_for_letters(self, 720, 460)

    def accept(self) -> None:
        """Qt: hand the repairs over and close."""
        self.agreed.emit(self.repairs)
        super().accept()

    def _body(self) -> str:
        palette = self._theme.palette
        parts: list[str] = []
        for repair in self.repairs[:SHOWN_NOTES]:
            parts.append(html.paragraph(repair.filename, bold=True, above=6))
            told = dict.fromkeys(repair.titles)
            parts.append(html.paragraph("; ".join(told), color=palette.text_muted))
            rows = []
            for line in repair.diff().split("\n")[2:]:
                if not line:
                    continue
                ground, ink = palette.panel, palette.text_faint
                if line[0] in "+-":
                    good = line[0] == "+"
                    ground = palette.good_soft if good else palette.error_soft
                    ink = palette.good if good else palette.error
                shown = html.text(line).replace(" ", "&nbsp;")
                rows.append(f"<tr><td bgcolor='{ground}' style='color:{ink}'>{shown}</td></tr>")
            parts.append(f"<table cellspacing='0' cellpadding='1' width='100%'>{''.join(rows)}</table>")
        rest = len(self.repairs) - SHOWN_NOTES
        if rest > 0:
            parts.append(html.paragraph(tr("And {notes} more notes.", notes=number(rest)), color=palette.text_muted))
        return "".join(parts)


NAMES: Final = {
    Severity.ERROR: ("error", "errors"),
    Severity.WARNING: ("warning", "warnings"),
    Severity.INFO: ("remark", "remarks"),
}
"""What findings of a severity are called, one and many."""

SIGNS: Final = {
    Severity.ERROR: ("error", "error"), Severity.WARNING: ("warning", "warning"), Severity.INFO: ("info", "neutral"),
}  # fmt: skip


@dataclass(slots=True, eq=False)
class ProblemNode(TreeRow):
    """One row: a severity, a note (its findings have the same file), or a finding."""

    title: str
    severity: Severity
    place: str = ""
    finding: Finding | None = None
    amount: int = 0


MOST: Final = 2000
"""Of each severity so many findings have a row; a filter brings up the others."""


def search_text(finding: Finding) -> str:
    """What a filter looks in: what is shown of a finding, case-folded."""
    check = check_of(finding.code)
    parts = (finding.code, check.title, check.group, finding.filename, finding.message, finding.field)
    return " ".join(parts).casefold()


class ProblemTree(RecordTree[ProblemNode]):
    """Two columns: what, and where. `ITEM` is the node, `ENTRY_ID` the entry of a finding; `shown` counts findings."""

    def __init__(self, parent: QObject | None = None, theme: Theme | None = None) -> None:
        columns = (
            Column("Problem", _words, icon=self._icon_of, spoken=_spoken,
                   tip=lambda node: node.finding.message if node.finding is not None else node.title),
            Column("Where", attrgetter("place"), tip=attrgetter("place")),
        )  # fmt: skip
        super().__init__(
            ProblemNode("", Severity.INFO), columns, theme=theme, parent=parent,
            entry=lambda node: node.finding.entry if node.finding is not None else None,
            about=lambda node: node.finding.advice if node.finding is not None else "",
        )  # fmt: skip
        self._findings: tuple[Finding, ...] = ()
        self._texts: tuple[str, ...] = ()
        self._words: tuple[str, ...] = ()
        self._least = Severity.INFO
        self._titles: Callable[[Finding], str] = lambda finding: finding.filename
        self.shown = 0

    # ---- content ----------------------------------------------------------------------------------------------------

    def set_titles(self, titles: Callable[[Finding], str]) -> None:
        """What the note of a finding is called."""
        self._titles = titles

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
        return (row.finding for row in self.root.below() if row.finding is not None)

    def index_of_finding(self, finding: Finding | None) -> QModelIndex:
        """The row of a finding that says the same, an invalid index where there is none."""
        if finding is None:
            return QModelIndex()

        def said(one: Finding | None) -> tuple[object, ...] | None:
            return None if one is None else (one.code, one.note, one.message)

        return self.index_of(next((node for node in self.root.below() if said(node.finding) == said(finding)), None))

    # ---- inside -----------------------------------------------------------------------------------------------------

    def _icon_of(self, node: ProblemNode) -> tuple[str, str] | None:
        return SIGNS[node.severity] if node.finding is not None or node.above is self.root else None

    def _rebuild(self) -> None:
        self.beginResetModel()
        self.root = ProblemNode("", Severity.INFO)
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
        top = _add(self.root, ProblemNode(tr(NAMES[severity][1]).capitalize(), severity, amount=len(places)))
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


def _add(above: ProblemNode, node: ProblemNode) -> ProblemNode:
    above.add(node)
    return node


def _words(node: ProblemNode) -> str:
    return f"{node.title}   {number(node.amount)}" if node.finding is None and node.amount else node.title


def _spoken(node: ProblemNode) -> str:
    if node.finding is None:
        return f"{node.title}: {count(node.amount, 'finding', 'findings')}"
    return f"{tr(NAMES[node.severity][0])}: {node.title} {node.place}"


class ProblemFilter(QWidget):
    """Words, the least severity, and a line that says what is shown. `changed` follows the first two."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        name, placeholder = tr("Filter the problems"), tr("Filter by words, code or file")
        self.words = search_field(self, name, placeholder, lambda _text: self.changed.emit())
        choices = {
            Severity.INFO: tr("All"), Severity.WARNING: tr("Warnings and errors"), Severity.ERROR: tr("Errors"),
        }  # fmt: skip
        self.severity = combo(self, tr("Severity"), {least.value: words for least, words in choices.items()})
        self.severity.setCurrentIndex(self.severity.findData(Severity.WARNING.value))  # what has to be mended
        self.severity.currentIndexChanged.connect(lambda _row: self.changed.emit())
        self._told = label(self, kind="small")
        self._told.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        column(row((self.words, 1), self.severity), self._told, of=self, spacing=3, margins=(8, 8, 8, 4))

    @property
    def least(self) -> Severity:
        """The least severity that is to be shown."""
        return Severity(self.severity.currentData())

    @property
    def told(self) -> str:
        """What the line says."""
        return self._told.text()

    def tell(self, text: str) -> None:
        """Say what is shown."""
        self._told.setText(text)
        self._told.setToolTip(plain(text))


class ProblemDetails(QWidget):
    """What a finding means, and the buttons for its fix and for all safe fixes."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.browser = named(QTextBrowser(self), tr("Explanation"))
        self.browser.document().setDocumentMargin(8)
        self.browser.setMinimumHeight(40)
        tip = tr("Show what the fix of the chosen problem changes")
        self.fix = button(self, tr("Fix…"), tip=tip)
        tip = tr("Show what all fixes change of which it is certain that they are meant")
        self.fix_all = button(self, tr("Fix all safe…"), tip=tip)
        tight((self.browser, 1), row(self.fix, self.fix_all, 1, spacing=8, margins=(8, 4, 8, 6)), of=self)

    def explain(self, finding: Finding | None) -> None:
        """Show what a finding means."""
        palette = self._theme.palette
        if finding is None:
            told = tr("Choose a problem to read what it means. Enter goes to the note.")
            self.browser.setHtml(html.page(palette, html.paragraph(told, color=palette.text_muted)))
            return
        check = check_of(finding.code)
        parts = [html.paragraph(check.title, bold=True), html.paragraph(finding.message)]
        if check.explanation:
            parts.append(html.paragraph(check.explanation, color=palette.text_muted, above=4))
        if finding.advice:
            parts.append(html.box(finding.advice, tr("To do:"), palette.neutral_soft, palette.neutral))
        if finding.fix is not None:
            kind = tr("Fix:") if finding.fix.safe else tr("Possible fix, if that is what you meant:")
            parts.append(html.box(f"{finding.fix.title}.", kind, palette.good_soft, palette.good))
        where = f"{finding.filename}:{finding.line}" if finding.filename and finding.line else finding.filename
        theirs = "deeplore-tools" in check.source
        origin = tr("a check of DeepLore's") if theirs else tr("the studio's own check")
        told = " · ".join(part for part in (check.code, tr(NAMES[finding.severity][0]), origin, where) if part)
        parts.append(html.paragraph(told, color=palette.text_faint, above=4))
        self.browser.setHtml(html.page(palette, "".join(parts)))
