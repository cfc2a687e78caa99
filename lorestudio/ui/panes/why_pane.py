"""Why an entry went in or stayed out: the decision, what would change it, and the whole way through the stages."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QGuiApplication, QTextDocument
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QStackedWidget, QTextBrowser, QToolButton, QWidget

from lorestudio.trace.journey import Cell, CellState, explain_cell
from lorestudio.trace.model import StageRecord, Trace
from lorestudio.trace.reasons import Explanation
from lorestudio.trace.text import entry_as_text
from lorestudio.ui import html
from lorestudio.ui.models.journey_table import cell_sentence
from lorestudio.ui.models.marks import Mark, cell_mark, fate_mark
from lorestudio.ui.panes.score_page import ScorePage
from lorestudio.ui.selection import Selection
from lorestudio.ui.session import Session
from lorestudio.ui.theme import Theme
from lorestudio.ui.widgets.empty import EmptyState
from lorestudio.ui.widgets.paint import mark_pixmap
from lorestudio.ui.widgets.pane import Pane
from lorestudio.ui.words import sentence_case, tr

_SILENT: Final = frozenset({CellState.NOT_REACHED, CellState.ABSENT})
_INNER: Final = frozenset({"start", "end", "source_id"})
"""Details that help the program and not the reader."""


class WhyPane(Pane):
    """Follows the chosen entry, stage and generation; a click on a stage chooses it. `copied` follows a copy."""

    copied = Signal()
    message_wanted = Signal(int)

    def __init__(self, theme: Theme, session: Session, selection: Selection) -> None:
        super().__init__("why", tr("Why?"), theme)
        self._session, self._selection = session, selection
        self._head = QWidget(self)
        row = QHBoxLayout(self._head)
        row.setContentsMargins(12, 7, 6, 2)
        row.setSpacing(7)
        self._icon = QLabel(self._head)
        self._title = QLabel(self._head)
        self._title.setProperty("kind", "title")
        self._title.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._state = QLabel(self._head)
        self._state.setProperty("kind", "small")
        self.copy_button = QToolButton(self._head)
        self.copy_button.setAccessibleName(tr("Copy the explanation"))
        self.copy_button.setToolTip(tr("Copy the explanation"))
        self.copy_button.clicked.connect(self.copy)
        self.scores_button = QToolButton(self._head)
        self.scores_button.setCheckable(True)
        self.scores_button.setAccessibleName(tr("Scores and order"))
        self.scores_button.setToolTip(tr("Scores and order in numbers"))
        self.scores_button.clicked.connect(self._show_page)
        row.addWidget(self._icon)
        row.addWidget(self._title, 1)
        row.addWidget(self._state)
        row.addWidget(self.scores_button)
        row.addWidget(self.copy_button)
        self.browser = QTextBrowser(self)
        self.browser.setOpenLinks(False)
        self.browser.anchorClicked.connect(self._follow)
        self.browser.setAccessibleName(tr("Explanation"))
        self.browser.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextBrowserInteraction | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.browser.document().setDocumentMargin(10)
        self.browser.setMinimumHeight(40)
        self.empty = EmptyState(theme, "question", self)
        self._pages = QStackedWidget(self)
        self._pages.addWidget(self.browser)
        self.scores = ScorePage(theme, session.jobs, self)
        self.scores.entry_chosen.connect(selection.choose_entry)
        self._pages.addWidget(self.scores)
        self._pages.addWidget(self.empty)
        self.column.addWidget(self._head)
        self.column.addWidget(self._pages, 1)
        for signal in (
            session.project_changed,
            session.choice_changed,
            session.state_changed,
            session.preview_changed,
            selection.generation_changed,
            selection.entry_changed,
            selection.stage_changed,
            theme.changed,
        ):
            signal.connect(self._show)
        session.traces_changed.connect(lambda _generations: self._show())
        self._shown: tuple[object, ...] = ()
        self._show()

    def focus_target(self) -> QWidget:
        """The explanation, or the numbers."""
        return self.scores.tree if self._pages.currentWidget() is self.scores else self.browser

    def copy(self) -> None:
        """Put the whole explanation on the clipboard, as plain text; where the numbers are shown, those."""
        if self._pages.currentWidget() is self.scores:
            self.scores.copy()
            self.copied.emit()
            return
        trace, entry = self._session.trace(self._selection.generation), self._selection.entry
        project = self._session.project
        if trace is not None and entry is not None and project is not None:
            QGuiApplication.clipboard().setText(entry_as_text(trace, entry, project.index))
            self.copied.emit()

    @property
    def text(self) -> str:
        """What is shown, as plain text."""
        return self.browser.toPlainText() if self._pages.currentWidget() is self.browser else self.empty.text.text()

    def show_scores(self, shown: bool) -> None:
        """Show the numbers about the entry, or its explanation again."""
        self.scores_button.setChecked(shown)
        self._show_page()

    # ---- inside -----------------------------------------------------------------------------------------------------

    def _show_page(self) -> None:
        trace, entry = self._session.trace(self._selection.generation), self._selection.entry
        if trace is None or entry is None or not self._shown:
            return
        if self.scores_button.isChecked():
            self.scores.show_entry(trace, entry, self._session.scorer(self._selection.generation))
        self._pages.setCurrentWidget(self.scores if self.scores_button.isChecked() else self.browser)

    def _show(self) -> None:
        selection = self._selection
        trace, entry = self._session.trace(selection.generation), self._session.entry(selection.entry)
        old = self._session.outdated(selection.generation)
        shown = (id(trace), selection.entry, selection.stage, self.theme.palette.name, old)
        if entry is None or trace is None:
            self._shown = ()
            self._show_empty(entry is not None)
            return
        if shown == self._shown:
            return
        self._shown = shown
        end = self._session.journeys(trace).fate(entry.id)
        mark = fate_mark(end)
        self._head.show()
        self._title.setText(entry.title)
        self._title.setToolTip(entry.filename)
        self._show_mark(mark)
        body = html.paragraph(old, color=self.theme.palette.warning) if old else ""
        body += self._body(trace, entry.id, end.explain(trace))
        self.browser.setHtml(html.page(self.theme.palette, body))
        self._show_page()

    def _show_mark(self, mark: Mark) -> None:
        self._icon.setPixmap(mark_pixmap(mark, self.theme, 18))
        self._state.setText(tr(mark.word))

    def _show_empty(self, has_entry: bool) -> None:
        self._head.hide()
        if has_entry:
            self.empty.say(tr("No trace to explain yet"), tr("Choose a message of the chat and run it."))
        else:
            self.empty.say(tr("Why?"), tr("Choose an entry, or a cell of the journey, to read why it went in or not."))
        self._pages.setCurrentWidget(self.empty)

    def _body(self, trace: Trace, entry: int, outcome: Explanation) -> str:
        palette = self.theme.palette
        records = {record.name: record for record in trace.stages}
        cells = self._session.journeys(trace).cells(entry)
        chosen = next((cell for cell in cells if cell.stage == self._selection.stage), None)
        parts = []
        parts.append(self._sources(trace, entry))
        if chosen is not None:
            record = records[chosen.stage]
            parts.append(html.paragraph(sentence_case(record.name), color=palette.text_muted, bold=True))
            parts.append(html.paragraph(cell_sentence(trace, entry, record, chosen)))
            explanation = explain_cell(trace, entry, chosen)
            if explanation is not None and explanation.fix:
                parts.append(self._fix(explanation))
            if chosen.verdict is not None and chosen.verdict.reason:
                parts.append(self._details(chosen))
            parts.append(html.paragraph(tr("In the end"), color=palette.text_muted, bold=True, above=8))
        parts.append(html.paragraph(outcome.sentence, bold=chosen is None))
        if outcome.fix and chosen is None:
            parts.append(self._fix(outcome))
        parts.append(html.paragraph(tr("The way through the stages"), color=palette.text_muted, bold=True, above=8))
        parts.append(self._journey(trace, entry, cells, records))
        return "".join(parts)

    def _sources(self, trace: Trace, entry: int) -> str:
        """Where the reasons lead: the message with the key, the entry that woke or pulled this one in."""
        links: dict[str, str] = {}
        for record in trace.stages:
            for verdict in record.verdicts:
                if verdict.entry != entry:
                    continue
                message, source = verdict.details.get("message"), verdict.details.get("source_id")
                if isinstance(message, int):
                    name = tr("matched in message #{message}", message=message)
                    links[f"message:{message}"] = name
                if isinstance(source, int) and source in trace.entries:
                    words = tr("by recursion from {title}") if verdict.reason == "recursion" else tr("from {title}")
                    links[f"entry:{source}"] = words.format(title=trace.entries[source].title)
        if not links:
            return ""
        shown = " · ".join(f"<a href='{link}'>{html.text(text)}</a>" for link, text in links.items())
        return f"<p style='margin-top:0px;margin-bottom:4px'>{shown}</p>"

    def _fix(self, explanation: Explanation) -> str:
        palette = self.theme.palette
        tone = str(explanation.tone)
        ground, ink = getattr(palette, f"{tone}_soft"), getattr(palette, tone)
        return html.box(explanation.fix, tr("To change this:"), ground, ink)

    def _details(self, cell: Cell) -> str:
        if cell.verdict is None:
            return ""
        items = [f"{name}: {value}" for name, value in cell.verdict.details.items() if name not in _INNER]
        code = tr("reason {code}", code=cell.verdict.reason)
        return html.paragraph(" · ".join([code, *items]), color=self.theme.palette.text_faint)

    def _journey(self, trace: Trace, entry: int, cells: tuple[Cell, ...], records: dict[str, StageRecord]) -> str:
        palette = self.theme.palette
        rows, silent = [], 0
        for cell in cells:
            record = records[cell.stage]
            explained = explain_cell(trace, entry, cell)
            if (
                cell.verdict is None
                and (cell.state in _SILENT or cell.state is CellState.KEPT)
                and not (cell.state is CellState.ABSENT and explained is not None)
            ):
                silent += 1
                continue
            mark = cell_mark(cell, record.phase)
            picture = f"mark:{mark.icon}:{mark.fill or 'none'}"
            self._add_picture(picture, mark)
            sentence = cell_sentence(trace, entry, record, cell)
            ground = f" bgcolor='{palette.accent_soft}'" if cell.stage == self._selection.stage else ""
            rows.append(
                f"<tr><td{ground} width='20' style='padding:2px 3px'><img src='{picture}' width='15' height='15'></td>"
                f"<td{ground} style='padding:2px 10px 2px 2px' width='118'>"
                f"<a href='stage:{html.text(cell.stage)}'>{html.text(cell.stage)}</a></td>"
                f"<td{ground} style='padding:2px 0'>{html.text(sentence)}</td></tr>"
            )
        if silent:
            words = tr("{silent} other stages let it pass, or did not look at it.", silent=silent)
            style = f"padding-top:3px;color:{palette.text_faint}"
            rows.append(f"<tr><td></td><td colspan='2' style='{style}'>{words}</td></tr>")
        return f"<table cellspacing='0' cellpadding='0' width='100%'>{''.join(rows)}</table>"

    def _add_picture(self, name: str, mark: Mark) -> None:
        picture = mark_pixmap(mark, self.theme, 16)
        self.browser.document().addResource(QTextDocument.ResourceType.ImageResource, QUrl(name), picture)

    def _follow(self, link: QUrl) -> None:
        if link.scheme() == "stage":
            self._selection.choose_entry(self._selection.entry, link.path())
        elif link.scheme() == "entry":
            self._selection.choose_entry(int(link.path()))
        elif link.scheme() == "message":
            self.message_wanted.emit(int(link.path()))
