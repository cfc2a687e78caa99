"""Problems: what the checks found, with the reason, the way there, and a fix where there is one.

Findings are a tree by severity, then by note, with the filter above, the explanation and the fixes below. What fixes
would change is shown as a diff before they are made.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Final

from PySide6.QtCore import QModelIndex, QObject, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QPushButton, QTextBrowser, QWidget

from lorestudio.domain.entry import NoteKey, VaultIndex
from lorestudio.domain.texts import comparable
from lorestudio.studio.project.problems import ProblemFinder, Problems, preview
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.runs import TraceBook
from lorestudio.ui.shell.jobs import Beat, Job, Newest
from lorestudio.ui.shell.qt import later, plain
from lorestudio.ui.shell.theme import Theme, fixed_font, html_box, html_page, html_paragraph, html_text
from lorestudio.ui.shell.words import Notice, count, number, sentence_case, sentence_of, tr
from lorestudio.ui.state.drafts import Drafts
from lorestudio.ui.state.project_files import VAULT_CHANGED
from lorestudio.ui.state.selection import Selection
from lorestudio.ui.state.session import Session
from lorestudio.ui.widgets.cells import Column, Glyph, Look, Piece, Words, one_line
from lorestudio.ui.widgets.dialogs import Dialog
from lorestudio.ui.widgets.layouts import (
    SearchField,
    able,
    button,
    column,
    combo,
    label,
    letters,
    named,
    row,
    split,
    tight,
)
from lorestudio.ui.widgets.pane import Pane, filter_doors
from lorestudio.ui.widgets.rows import action
from lorestudio.ui.widgets.tree import RecordTree, RecordTreeView, TreeRow
from lorestudio.vault.lint.fixes import Repair
from lorestudio.vault.lint.model import Finding, Severity, check_of

SHOWN_NOTES = 200
"""Diffs of so many notes are shown; nobody reads more, and the browser would take long."""


class FixDialog(Dialog):
    """`agreed` carries the repairs, once the person has seen what they change and wants it."""

    agreed = Signal(object)

    def __init__(
        self,
        repairs: Sequence[Repair],
        theme: Theme,
        parent: QWidget | None = None,
        title_of: Callable[[Repair], str] = attrgetter("filename"),
    ) -> None:
        super().__init__(parent, tr("Fix"), (720, 460))
        self._title_of = title_of
        self.repairs = tuple(repairs)
        self._theme = theme
        changes = sum(len(repair.titles) for repair in self.repairs)
        notes = count(len(self.repairs), "note", "notes")
        told = tr("{changes} in {notes}:", changes=count(changes, "change", "changes"), notes=notes)
        self.browser = named(QTextBrowser(self), tr("What changes"))
        self.browser.setLineWrapMode(QTextBrowser.LineWrapMode.NoWrap)
        self.browser.setFont(fixed_font(self.font().pointSizeF()))
        self.browser.setHtml(html_page(theme.palette, self._body()))
        hint = tr("Nothing else in these files changes. The files are compared again before they are written.")
        self.apply_button = QPushButton(tr("Change {notes}", notes=notes), self)
        head, ends = label(self, told, "title", wrap=False), self.answers(self.apply_button)
        column(head, (self.browser, 1), label(self, hint, "small"), ends, of=self, spacing=8)
        self.apply_button.setDefault(True)
        self.apply_button.setFocus()
        self.accepted.connect(lambda: self.agreed.emit(self.repairs))

    def _body(self) -> str:
        palette = self._theme.palette
        parts: list[str] = []
        for repair in self.repairs[:SHOWN_NOTES]:
            parts.append(html_paragraph(self._title_of(repair), bold=True, above=6))
            told = dict.fromkeys(repair.titles)
            parts.append(html_paragraph("; ".join(told), color=palette.text_muted))
            rows = []
            for line in repair.diff().split("\n")[2:]:
                if not line:
                    continue
                ground, ink = palette.panel, palette.text_faint
                if line[0] in "+-":
                    good = line[0] == "+"
                    ground = palette.good_soft if good else palette.error_soft
                    ink = palette.good if good else palette.error
                shown = html_text(line).replace(" ", "&nbsp;")
                rows.append(f"<tr><td bgcolor='{ground}' style='color:{ink}'>{shown}</td></tr>")
            parts.append(f"<table cellspacing='0' cellpadding='1' width='100%'>{''.join(rows)}</table>")
        rest = len(self.repairs) - SHOWN_NOTES
        if rest > 0:
            others = tr("And {notes}.", notes=count(rest, "more note", "more notes"))
            parts.append(html_paragraph(others, color=palette.text_muted))
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


def search_text(finding: Finding) -> bytes:
    """What a filter looks in: what is shown of a finding, in any case; a quotation mark makes a text twice as large."""
    check = check_of(finding.code)
    parts = (finding.code, check.title, check.group, finding.filename, finding.message, finding.field)
    return comparable(" ".join(parts)).encode("utf-8", "surrogatepass")


class ProblemTree(RecordTree[ProblemNode]):
    """What, and at the end of the row where, which is a column for who copies rows. `ITEM` is the node.

    `shown` counts findings, and `safe` says whether one of them can be mended without a look at it.
    """

    def __init__(self, parent: QObject | None = None, theme: Theme | None = None) -> None:
        columns = (
            Column("Problem", _words, look=_look, spoken=_spoken,
                   tip=lambda node: node.finding.message if node.finding is not None else node.title),
            Column("Where", attrgetter("place")),
        )  # fmt: skip
        super().__init__(
            ProblemNode("", Severity.INFO), columns, theme=theme, parent=parent,
            entry=lambda node: node.finding.entry if node.finding is not None else None,
            about=lambda node: node.finding.advice if node.finding is not None else "",
        )  # fmt: skip
        self._findings: tuple[Finding, ...] = ()
        self._texts: tuple[bytes, ...] = ()
        self._words: tuple[str, ...] = ()
        self._least = Severity.INFO
        self.titles: Callable[[Finding], str] = lambda finding: finding.filename
        """What the note of a finding is called."""
        self.shown, self.safe = 0, False

    # ---- content ----------------------------------------------------------------------------------------------------

    def set_findings(self, findings: Sequence[Finding], texts: Sequence[bytes] | None = None) -> None:
        """Show other findings, which are in order already; `texts` are their search texts."""
        self._findings = tuple(findings)
        self._texts = tuple(map(search_text, findings)) if texts is None else tuple(texts)
        self._rebuild()

    def set_filter(self, text: str, least: Severity) -> None:
        """Show only what contains every word of `text` and is at least that bad."""
        words = tuple(comparable(text).split())
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
            return None if one is None else (one.code, one.note_key, one.message)

        return self.index_of(next((node for node in self.root.below() if said(node.finding) == said(finding)), None))

    def _rebuild(self) -> None:
        self.beginResetModel()
        self.root = ProblemNode("", Severity.INFO)
        self.shown, self.safe = 0, False
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
        for word in (each.encode("utf-8", "surrogatepass") for each in self._words):
            places = [place for place in places if word in self._texts[place]]
        return places

    def _rank(self, place: int) -> int:
        return self._findings[place].severity.rank

    def _add_severity(self, severity: Severity, places: Sequence[int]) -> None:
        top = _add(self.root, ProblemNode(tr(NAMES[severity][1]).capitalize(), severity, amount=len(places)))
        self.shown += len(places)
        notes: dict[NoteKey, ProblemNode] = {}
        for finding in (self._findings[place] for place in places[:MOST]):
            note = notes.get(finding.note_key)
            if note is None:
                title = self.titles(finding)
                place = finding.filename if finding.filename != title else ""
                note = notes[finding.note_key] = _add(top, ProblemNode(title, severity, place))
            place = tr("line {line}", line=finding.line) if finding.line else finding.field
            _add(note, ProblemNode("", severity, place, finding))
            note.amount += 1
            self.safe |= finding.fix is not None and finding.fix.safe
        if len(places) > MOST:
            rest = tr("{amount} more; filter to see them", amount=number(len(places) - MOST))
            _add(top, ProblemNode(rest, severity))


def _add(above: ProblemNode, node: ProblemNode) -> ProblemNode:
    above.add(node)
    return node


def _words(node: ProblemNode) -> str:
    if node.finding is None:
        return f"{node.title}   {number(node.amount)}" if node.amount else node.title
    told = node.finding.message.removeprefix(f"“{node.above.title}” ")  # the row above names it
    return told if told == node.finding.message else sentence_case(told)


def _look(node: ProblemNode) -> Look:
    """All of the row is for the words: a column for the place, as wide as paths are, cut most findings short."""
    signed = node.finding is not None or node.above.above is None
    pieces: tuple[Piece, ...] = (Glyph(*SIGNS[node.severity], size=13),) if signed else ()
    right = (Words(node.place, tone="text_muted", scale=0.9, gap=0, share=0.4, middle=True),) if node.place else ()
    return one_line(*pieces, Words(_words(node)), right=right, margin=3)


def _spoken(node: ProblemNode) -> str:
    if node.finding is None:
        return f"{node.title}: {count(node.amount, 'finding', 'findings')}"
    return f"{tr(NAMES[node.severity][0])}: {node.finding.message} {node.place}"


class ProblemFilter(QWidget):
    """Words, the least severity, and a line that says what is shown. `changed` follows the first two."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        name, placeholder = tr("Filter the problems"), tr("Words, code, file")
        self.words = SearchField(self, name, placeholder, lambda _text: self.changed.emit())
        choices = {
            Severity.INFO: tr("All"), Severity.WARNING: tr("Warnings and errors"), Severity.ERROR: tr("Errors"),
        }  # fmt: skip
        self.severity = combo(self, tr("Severity"), {least.value: words for least, words in choices.items()})
        self.severity.setCurrentIndex(self.severity.findData(Severity.WARNING.value))  # what has to be mended
        self.severity.currentIndexChanged.connect(lambda _row: self.changed.emit())
        self.told = label(self, kind="small", yields=True)
        column(row((self.words, 1), self.severity), self.told, of=self, spacing=2, margins=(8, 8, 8, 4))

    @property
    def least(self) -> Severity:
        """The least severity that is to be shown."""
        return Severity(self.severity.currentData())

    def tell(self, text: str) -> None:
        """Say what is shown."""
        self.told.setText(text)
        self.told.setToolTip(plain(text))


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
            self.browser.setHtml(html_page(palette, html_paragraph(told, color=palette.text_muted)))
            return
        check = check_of(finding.code)
        parts = [html_paragraph(check.title, bold=True), html_paragraph(finding.message)]
        if check.explanation:
            parts.append(html_paragraph(check.explanation, color=palette.text_muted, above=4))
        if finding.advice:
            parts.append(html_box(finding.advice, tr("To do:"), palette.neutral_soft, palette.neutral))
        if finding.fix is not None:
            kind = tr("Fix:") if finding.fix.safe else tr("Possible fix, if that is what you meant:")
            parts.append(html_box(f"{finding.fix.title}.", kind, palette.good_soft, palette.good))
        where = f"{finding.filename}:{finding.line}" if finding.filename and finding.line else finding.filename
        theirs = "deeplore-tools" in check.source
        origin = tr("a check of DeepLore's") if theirs else tr("the studio's own check")
        told = " · ".join(part for part in (check.code, tr(NAMES[finding.severity][0]), origin, where) if part)
        parts.append(html_paragraph(told, color=palette.text_faint, above=4))
        self.browser.setHtml(html_page(palette, "".join(parts)))


SETTLE_MS: Final = 300
"""So long nothing may change before the checks begin, so that a burst of changes is looked at once."""

ALL: Final = "all"
"""The button that shows what there is besides warnings and errors."""

WIDE: Final = 600
"""From this width on (device-independent pixels) a finding can be read beside its explanation."""

LOW: Final = 250
"""A pane less high than this has no room for both below each other."""

REPORT_SECONDS: Final = 0.1
OPEN_UP_TO: Final = 300
"""A severity starts wholly open while it has at most this many findings; of the worst one the notes are seen always."""


def _far(job: Job) -> Callable[[int, int], None]:
    """Tells the job's owner how far it is, not more often than can be read."""
    beat = Beat(REPORT_SECONDS, at_once=True)

    def on_progress(done: int, total: int) -> None:
        if beat.due():
            job((done, total))

    return on_progress


class ProblemsPane(Pane):
    """Follows the project, its runs and its unsaved texts; looks for problems in a job and shows them.

    `jump` carries a file (`Path`, or None for a note without one), a line from 1, and where that is 0 the name of a
    property, "" for the whole file; `wanted_fixes` carries `Repair`s that a person has seen and wants; `counted` the
    errors and warnings.
    """

    jump = Signal(object, int, str)
    wanted_fixes = Signal(object)
    counted = Signal(int, int)

    def __init__(self, theme: Theme, session: Session, selection: Selection, drafts: Drafts) -> None:
        super().__init__("problems", tr("Problems"), theme)
        self._session, self._selection, self._drafts = session, selection, drafts
        self.finder = ProblemFinder()
        self.problems: Problems | None = None
        self._rows_of: VaultIndex | None = None
        self._newest = Newest(session.jobs)
        self._fixing = False
        self._ran = -1
        self._settle = later(self, self.look, SETTLE_MS)
        self._build()
        session.project_changed.connect(self._project_changed)
        session.state_changed.connect(self._runs_changed)
        session.choice_changed.connect(self._wait)
        drafts.changed.connect(lambda _path: self._wait())
        theme.changed.connect(self._explain)
        self._explain()
        self._project_changed()

    def _build(self) -> None:
        self.head = ProblemFilter(self)
        self.search_field = self.head.words
        self.details = ProblemDetails(self.theme, self)
        self.model = ProblemTree(self, self.theme)
        self.model.set_filter("", self.head.least)
        self.tree = RecordTreeView(self.theme, self.model, tr("Problems"), self)
        self.tree.setIndentation(14)
        self.tree.setHeaderHidden(True)
        self.tree.setColumnHidden(1, True)
        self.splitter = split(self.tree, self.details, stretch=(3, 2))
        self.column.addWidget(self.head)
        self.column.addWidget(self.or_empty("check", self.splitter), 1)
        self.model.titles = self._title
        self.head.changed.connect(self._filter)
        self.tree.selectionModel().currentChanged.connect(lambda _new, _old: self._explain())
        self.tree.pressed.connect(self._go)
        self.details.fix.clicked.connect(self.fix_chosen)
        self.details.fix_all.clicked.connect(self.fix_all)
        self.go = action(tr("Go to the note"), lambda: self._go(self.model.node(self.tree.currentIndex())), self.tree)
        self.tree.offered = [self.go, self.details.fix, self.details.fix_all]
        self.tree.look = lambda index: self._choose_note(self.model.node(index).finding)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: in a flat pane the explanation stands beside the tree instead of below it, where that is wide enough."""
        larger = letters(self)
        beside = self.is_flat and (self.width() >= WIDE * larger or self.height() < LOW * larger)
        self.splitter.setOrientation(Qt.Orientation.Horizontal if beside else Qt.Orientation.Vertical)

    # ---- what can be done -------------------------------------------------------------------------------------------

    def focus_target(self) -> QWidget:
        """The tree."""
        return self.tree if self.pages.currentWidget() is self.splitter else self.head.words

    @property
    def looking(self) -> bool:
        """Whether the checks run or are about to."""
        return self._busy or self._settle.isActive()

    @property
    def _busy(self) -> bool:
        return self._newest.busy or self._fixing

    def look(self) -> None:
        """Look for problems now; where that is under way already, once more afterwards."""
        self._settle.stop()
        project = self._session.project
        if project is None:
            return
        if self._fixing:
            self._settle.start()
            return
        traces = TraceBook(self._session.runs.traces).values()  # unpacked by the worker, one after the other
        drafts = {path: draft.text for path, draft in self._drafts.all.items()}
        finder, by = self.finder, self._session.choice.deciding(project)

        def work(job: Job) -> tuple[Problems, tuple[bytes, ...]]:
            problems = finder.find(project, traces, drafts, _far(job), job.token, by)
            return problems, tuple(map(search_text, problems.findings))

        done = partial(self._found, project)
        self._newest.start(tr("Looking for problems"), work, done=done, failed=self._failed, reported=self._reported)
        self._tell()

    def stop(self) -> None:
        """Stop looking."""
        self._settle.stop()
        self._newest.cancel()

    def chosen(self) -> Finding | None:
        """The finding that is chosen."""
        return self.model.node(self.tree.currentIndex()).finding

    def choose(self, finding: Finding) -> None:
        """Choose a finding, where it is shown."""
        index = self.model.index_of_finding(finding)
        if index.isValid():
            self.tree.setCurrentIndex(index)
            self.tree.scrollTo(index)

    def fix_chosen(self) -> None:
        """Show what the fix of the chosen finding changes."""
        finding = self.chosen()
        if finding is None or finding.fix is None:
            return
        text = self.finder.text(finding.note_key)
        repair = preview(finding, text) if text is not None else None
        if repair is not None:
            self._offer((repair,))
            return
        text = tr("{file} has changed since it was checked, so nothing is fixed. Read it again.", file=finding.filename)
        self._session.notice.emit(Notice(text, "warning", actions=("vault.reload",), key=VAULT_CHANGED))

    def fix_all(self) -> None:
        """Work out all safe fixes of what is shown, and show what they change."""
        project = self._session.project
        notes = tuple(
            dict.fromkeys(item.note_key for item in self.model.findings() if item.fix is not None and item.fix.safe)
        )
        if project is None or not notes or self._busy:
            return
        self._fixing = True
        finder, by = self.finder, self._session.choice.deciding(project)
        able(self.details.fix_all, False, tr("Wait until the fixes are worked out."))
        self._newest.start(
            tr("Working out the fixes"), lambda job: finder.repairs(project, notes, by, _far(job), job.token),
            done=self._worked_out, failed=self._failed, reported=self._reported, ended=self._fixed,
        )  # fmt: skip

    def _project_changed(self) -> None:
        if self._session.project is None:
            self.stop()
            self.problems = None
            self.model.set_findings(())
            self._tell()
            return
        self._wait()

    def _runs_changed(self) -> None:
        """Look again once a replay has ended; while one runs, its numbers change all the time."""
        ran = -1 if self._session.busy else len(self._session.runs.traces)
        ended, self._ran = ran not in (-1, self._ran), ran
        if ended:
            self._wait()

    def _wait(self) -> None:
        if self._session.project is not None:
            self._settle.start()
            self._tell()

    def _reported(self, far: tuple[int, int]) -> None:
        done, total = far
        self.head.tell(tr("Checking… {done} of {notes}", done=number(done), notes=count(total, "note", "notes")))

    def _found(self, project: Project, found: tuple[Problems, tuple[bytes, ...]]) -> None:
        (problems, texts), now = found, self._session.project
        if now is not None and now.index is project.index:
            before, self.problems = self.problems, problems
            if before is None or self._rows_of is not project.index or before.findings != problems.findings:
                self._rows_of = project.index
                self._show(problems, texts)
            else:  # the rows stay as they are, folded and scrolled
                self._tell()
                self._explain()

    def _worked_out(self, repairs: tuple[Repair, ...]) -> None:
        self._fixing = False
        if repairs:
            self._tell()
            self._offer(repairs)
        else:
            self.head.tell(tr("There is nothing left that can be fixed safely."))
        self._explain()

    def _fixed(self) -> None:
        """Where that was stopped, nobody else says that it is over."""
        if self._fixing:
            self._fixing = False
            self._tell()
            self._explain()

    def _failed(self, error: Exception) -> None:
        self._fixing = False
        self.head.tell(tr("The checks failed: {error}", error=sentence_of(error)))

    def _show(self, problems: Problems, texts: tuple[bytes, ...]) -> None:
        before = self.chosen()
        self.model.set_findings(problems.findings, texts)
        self._open()
        if before is not None:
            self.choose(before)
        self._tell()
        self._explain()
        self.counted.emit(problems.count(Severity.ERROR), problems.count(Severity.WARNING))

    def _press(self, name: str) -> None:
        if name == ALL:
            self.head.severity.setCurrentIndex(0)
        else:
            super()._press(name)

    def _filter(self) -> None:
        self.model.set_filter(self.head.words.text(), self.head.least)
        self._open()
        self._tell()
        self._explain()

    def _open(self) -> None:
        for place in range(self.model.rowCount()):
            index = self.model.index(place, 0)
            if self.model.node(index).amount <= OPEN_UP_TO:
                self.tree.expandRecursively(index)
            elif place == 0:
                self.tree.expand(index)

    def _tell(self) -> None:
        """What is shown, in words."""
        problems = self.problems
        project = self._session.project
        for widget in (self.head.words, self.head.severity):
            able(widget, project is not None, tr("Open a vault, a lorebook or the demo first."))
        if project is None:
            self.head.tell("")
            self.empty.say(
                tr("No vault"), tr("Open the folder with your notes, or a lorebook, and its problems appear here.")
            )
        elif problems is None:
            self.head.tell(tr("Checking…"))
            self.empty.say(tr("Checking…"), tr("The entries and the settings are being looked at."))
        else:
            self._tell_found(problems)
        self.pages.setCurrentWidget(self.splitter if self.model.shown else self.empty)

    def _tell_found(self, problems: Problems) -> None:
        counts = ", ".join(count(problems.count(severity), *NAMES[severity]) for severity in Severity)
        if self.model.filtered and problems.findings:
            counts = tr("{counts}; {shown} shown", shown=number(self.model.shown), counts=counts)
        more = " ".join(problems.failures)
        if problems.unread:
            notes = count(problems.unread, "note", "notes")
            more += tr(" The text of {notes} behind Obsidian's plugin was not looked at.", notes=notes)
        waiting = tr(" Checking again…") if self.looking else ""
        self.head.tell(f"{counts}.{waiting} {more}".strip())
        self.note_changed.emit(count(len(problems.findings), "finding", "findings"))
        if problems.findings and not self.head.words.text():
            self.empty.say(tr("Nothing to mend"), f"{counts}.", ((ALL, tr("Show all")),))
        elif problems.findings:
            text = tr("No problem has all these words and this severity.")
            self.empty.say(tr("Nothing found"), text, filter_doors())
        else:
            self.empty.say(tr("No problems found"), problems.checked)

    def _explain(self) -> None:
        finding = self.chosen()
        busy = tr("Wait until the notes are checked and the fixes worked out.") if self._busy else ""
        none = tr("Choose a problem first.") if finding is None else tr("It has no fix that can be worked out.")
        self.go.setVisible(finding is not None)
        able(self.details.fix, finding is not None and finding.fix is not None and not self._busy, busy or none)
        able(self.details.fix_all, self.model.safe and not self._busy, busy or tr("No problem listed has a safe fix."))
        self.details.explain(finding)

    def _go(self, node: ProblemNode) -> None:
        project, finding = self._session.project, node.finding
        if finding is None:
            return
        self._choose_note(finding)
        entry = self._session.entry(finding.entry)  # of several of one number, only it tells which
        key = finding.note_key if entry is None else entry.note_key
        path = project.note_path(*key) if project is not None and finding.filename else None
        if path is not None:
            self.jump.emit(path, finding.line, "" if finding.line else finding.field)

    def _choose_note(self, finding: Finding | None) -> None:
        project = self._session.project
        if finding is None or project is None:
            return
        if finding.entry is not None:
            self._selection.choose_entry(finding.entry)
            return
        note = next((item for item in project.index.left_out if item.note_key == finding.note_key), None)
        if note is not None:
            self._selection.choose_left_out(note)

    def _offer(self, repairs: tuple[Repair, ...]) -> None:
        dialog = FixDialog(repairs, self.theme, self, self._name_of)
        dialog.agreed.connect(self.wanted_fixes)
        dialog.open()

    def _name_of(self, repair: Repair) -> str:
        """The file, which of a lorebook's entry says less than its title."""
        project, key = self._session.project, repair.note_key
        if project is None or not project.of_books:
            return repair.filename
        titles = (entry.title for entry in project.index.entries if entry.note_key == key)
        return next(titles, repair.filename)

    def _title(self, finding: Finding) -> str:
        entry = self._session.entry(finding.entry)
        project = self._session.project
        rest = tr("Lorebook and chat") if project is not None and project.of_books else tr("Settings, vault and chat")
        return entry.title if entry is not None else finding.filename or rest
