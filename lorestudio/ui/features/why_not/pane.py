"""Why the chosen row is as it is: what decided, what would change it, and the whole way through the stages.

The numbers behind score and place are a tree of value, description and details, to open, follow and copy. The
similarity of every candidate of a turn is a bar, with the threshold as a line through all of them.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from functools import cached_property, partial
from operator import attrgetter
from typing import Final, TypeVar

from PySide6.QtCore import QObject, Qt, QUrl, Signal
from PySide6.QtGui import QGuiApplication, QTextDocument
from PySide6.QtWidgets import QLabel, QSizePolicy, QTextBrowser, QToolButton, QWidget

from lorestudio.domain.entry import LeftOutNote
from lorestudio.studio.replay.rerun import Rerun
from lorestudio.trace.found_keys import keys_of_verdict
from lorestudio.trace.journey import CellState, JourneyCell, counted_in, explain_cell
from lorestudio.trace.model import StageRecord, Trace
from lorestudio.trace.scores import (
    Bm25Figures,
    ScoreNode,
    Similarities,
    Similarity,
    score_tree,
    similarities,
    tree_text,
)
from lorestudio.trace.text import entry_as_text
from lorestudio.ui.features.trace.answers import cell_sentence
from lorestudio.ui.features.why_not.page import WhyNotPage
from lorestudio.ui.features.why_not.search import WhyNotSearch, WouldWork
from lorestudio.ui.shell.jobs import Jobs, Newest
from lorestudio.ui.shell.theme import Theme, html_page, html_paragraph, html_text
from lorestudio.ui.shell.words import count, sentence_case, tr
from lorestudio.ui.state.selection import Selection
from lorestudio.ui.state.session import Session
from lorestudio.ui.widgets.cells import Bar, Column, Look, Words, one_line, same_words
from lorestudio.ui.widgets.layouts import holding, iconed, label, named, row, stack, tight, tool
from lorestudio.ui.widgets.paint import cell_mark, fate_mark, mark_pixmap, would_mark
from lorestudio.ui.widgets.pane import ElidedLabel, EmptyState, FoldingRow
from lorestudio.ui.widgets.record_table import RecordTable, RecordView
from lorestudio.ui.widgets.tree import ItemRow, RecordTree, RecordTreeView

logger = logging.getLogger(__name__)


def _score_row(node: ScoreNode) -> ItemRow:
    row = ItemRow(node)
    row.add(*map(_score_row, node.details))
    return row


def _spoken_node(row: ItemRow) -> str:
    node: ScoreNode = row.item
    return ", ".join(text for text in (node.title, node.value, node.description) if text)


def score_model(parent: QObject) -> RecordTree[ItemRow]:
    """The numbers about an entry; a line may lead to another entry."""
    columns = (
        Column("What", lambda row: tr(row.item.title), spoken=_spoken_node),
        Column("Value", lambda row: tr(row.item.value)),
        Column("How it came about", lambda row: tr(row.item.description)),
    )
    return RecordTree(ItemRow(None), columns, tip=same_words, parent=parent)


class ScorePage(QWidget):
    """`entry_chosen` carries the entry that a line leads to (Enter or a double click)."""

    entry_chosen = Signal(int)

    def __init__(self, theme: Theme, jobs: Jobs, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._newest = Newest(jobs)
        self.nodes: tuple[ScoreNode, ...] = ()
        self.model = score_model(self)
        self.tree = RecordTreeView(theme, self.model, tr("Scores and order, as a tree"), self)
        self.tree.pressed.connect(self._open)
        told = tr("No number decided about it in this run.")
        self.nothing = label(self, told, "muted", top=True, margins=(12, 6, 12, 6))
        self.nothing.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByKeyboard)
        tight(self.nothing, (self.tree, 1), of=self)

    def show_entry(self, trace: Trace, entry: int, run: Rerun | None) -> None:
        """Show an entry's numbers: those of the trace at once, those of its score when they have been worked out."""
        self._newest.cancel()
        self._fill(score_tree(trace, entry))
        if run is not None and run.before is trace:
            self._newest.start(
                tr("Explaining a score"),
                lambda _job: run.system.explain_score(run.moment, run.state, trace, entry),
                done=partial(self._scored, trace, entry),
                failed=self._failed,
            )

    def focus_target(self) -> QWidget:
        """The tree, or what is said in its place."""
        return self.tree if self.nodes else self.nothing

    def copy(self) -> None:
        """The tree as indented text, on the clipboard."""
        QGuiApplication.clipboard().setText(tree_text(self.nodes))

    def _scored(self, trace: Trace, entry: int, figures: Bm25Figures | None) -> None:
        if figures is not None:
            self._fill(score_tree(trace, entry, figures))

    def _failed(self, error: Exception) -> None:
        logger.error("a score could not be explained: %s", error, exc_info=error)
        self._fill((*self.nodes, ScoreNode(tr("The score could not be explained"), "", str(error))))

    def _fill(self, nodes: tuple[ScoreNode, ...]) -> None:
        self.nodes = nodes
        root = ItemRow(None)
        root.add(*map(_score_row, nodes))
        self.model.show_root(root)
        here = self.tree.hasFocus() or self.nothing.hasFocus()
        self.nothing.setVisible(not nodes)
        self.tree.setVisible(bool(nodes))
        if here:  # what vanishes with it would send the keyboard out of the pane
            self.focus_target().setFocus()
        self.tree.expandToDepth(0)
        for place, most, more in ((0, 190, 24), (1, 170, 8)):
            self.tree.resizeColumnToContents(place)
            self.tree.setColumnWidth(place, min(most, self.tree.columnWidth(place) + more))

    def _open(self, row: ItemRow) -> None:
        if row.item is not None and row.item.entry is not None:
            self.entry_chosen.emit(row.item.entry)


class SimilarityTable(RecordTable):
    """A row for each candidate: its similarity in digits and as a bar, with the threshold through all rows."""

    def __init__(self, parent: QObject | None = None) -> None:
        self.found: Similarities | None = None
        entry = attrgetter("entry")
        columns = (
            Column("#", lambda each: str(each.rank), width=34, numeric=True),
            Column("Entry", attrgetter("title"), width=150),
            Column("Similarity", lambda each: f"{each.score:.3f}", look=self._bar),
            Column("Result", lambda each: tr(each.result), width=124),
        )
        super().__init__(columns, key=entry, entry=entry, spoken=self._say, tip=self._say, parent=parent)

    def set_similarities(self, found: Similarities | None) -> None:
        """Show another run."""
        self.found = found
        self.set_rows(found.entries if found is not None else ())

    def _say(self, each: Similarity, _column: Column) -> str:
        return tr(
            "{title}: similarity {score}, threshold {threshold}, number {rank}: {result}",
            title=each.title,
            score=f"{each.score:.3f}",
            threshold=f"{self.found.threshold if self.found is not None else 0:g}",
            rank=each.rank,
            result=tr(each.result),
        )

    def _bar(self, each: Similarity) -> Look | None:
        found = self.found
        if found is None:
            return None
        low, high = min(0.0, found.entries[-1].score), max(1.0, found.entries[0].score, found.threshold)

        def across(value: float) -> float:
            return (min(max(value, low), high) - low) / (high - low)

        start, end = sorted((across(0.0), across(each.score)))
        fill = "green" if each.taken else "grey"
        bar = Bar(((start, end, fill),), edge="border_strong", line=across(found.threshold))
        return one_line(Words(f"{each.score:.3f}", width=46, gap=6, right=True), bar, margin=0)


class SimilarityPage(QWidget):
    """A sentence and the bars. `entry_chosen` carries the entry of the row that somebody goes to."""

    entry_chosen = Signal(int)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model = SimilarityTable(self)
        self.sentence = label(self, kind="small", margins=(12, 2, 12, 4))
        self.view = RecordView(theme, self.model, tr("Similarity of every candidate"), self)
        self.view.horizontalHeader().setMinimumSectionSize(30)
        tight(self.sentence, (self.view, 1), of=self)
        self.view.picked.connect(lambda each: self.entry_chosen.emit(each.entry))

    def show_run(self, found: Similarities, entry: int | None) -> None:
        """Show a run, with an entry chosen."""
        if found != self.model.found:
            self.model.set_similarities(found)
            self.sentence.setText(tr(found.sentence))
        self.view.choose(entry)


_SILENT: Final = frozenset({CellState.NOT_REACHED, CellState.ABSENT})


def _linked(sentence: str, links: Mapping[str, str]) -> str:
    """A sentence in which these words lead somewhere."""
    shown = html_text(sentence)
    for link, words in links.items():
        text = html_text(words)
        shown = re.sub(rf"{re.escape(text)}(?!\d)", f"<a href='{link}'>{text}</a>", shown, count=1)
    return shown


def _paragraph(sentence: str, links: Mapping[str, str], *, bold: bool = False) -> str:
    weight = "bold" if bold else "normal"
    return f"<p style='margin-top:0px;margin-bottom:4px;font-weight:{weight}'>{_linked(sentence, links)}</p>"


_NumbersT = TypeVar("_NumbersT", ScorePage, SimilarityPage)


class WhyView(QWidget):
    """Follows the chosen entry, stage and generation; a click on a stage chooses it. `copied` follows a copy.

    `searched` follows the wish to find what would bring the entry in; the answers have a `page` of their own.
    """

    copied = Signal()
    message_wanted = Signal(int)
    searched = Signal()

    def __init__(
        self, theme: Theme, session: Session, selection: Selection, search: WhyNotSearch, would: WouldWork
    ) -> None:
        super().__init__()
        self.theme, self._session, self._selection = theme, session, selection
        self._search, self._would = search, would
        self.setAccessibleName(tr("Why?"))
        self._make_buttons()
        self._icon = QLabel(self)
        self._title = named(ElidedLabel(self), "", kind="title")
        self._state = named(ElidedLabel(self), "", kind="small")
        self._state.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        name = holding(row(self._icon, (self._title, 1), self._state, spacing=6, margins=0), self)
        buttons = FoldingRow(holding(row(1, self.answers_button, margins=0)), holding(self._buttons), self)
        self._head = FoldingRow(name, buttons, self, margins=(12, 6, 6, 2))
        self.browser = named(QTextBrowser(self, openLinks=False), tr("Explanation"))
        self.browser.anchorClicked.connect(self._follow)
        self.browser.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextBrowserInteraction | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.browser.document().setDocumentMargin(10)
        self.browser.setMinimumHeight(40)
        self.empty = EmptyState(theme, "question", self)
        self.page = WhyNotPage(theme, search, self)
        self._pages = stack(self.browser, self.empty, self.page)
        tight(self._head, (self._pages, 1), of=self)
        search.changed.connect(self._show_button)
        for signal in (
            session.project_changed, session.choice_changed, session.state_changed, session.preview_changed,
            selection.generation_changed, selection.entry_changed, selection.stage_changed, theme.changed,
        ):  # fmt: skip
            signal.connect(self._show)
        session.traces_changed.connect(lambda _generations: self._show())
        self._shown: tuple[object, ...] = ()
        self._show()

    @cached_property
    def scores(self) -> ScorePage:
        """Scores and order in numbers, made when somebody first asks for them."""
        return self._numbers_page(ScorePage(self.theme, self._session.jobs, self))

    @cached_property
    def similarity(self) -> SimilarityPage:
        """The same where vectors ranked."""
        return self._numbers_page(SimilarityPage(self.theme, self))

    def _numbers_page(self, page: _NumbersT) -> _NumbersT:
        page.entry_chosen.connect(self._selection.choose_entry)
        self._pages.addWidget(page)
        return page

    def _make_buttons(self) -> None:
        tip = tr("Try changes with the engine, and list those that bring the entry in (Y)")
        text = tr("What would bring it in?")
        self.answers_button = tool(self, "", self._toggle_answers, text=text, tip=tip, kind="text", checkable=True)
        self.copy_button = iconed(self.theme, tool(self, tr("Copy the explanation")), "copy")
        tip = tr("Scores and order in numbers (S)")
        scores = tool(self, tr("Scores and order"), self._toggle_scores, tip=tip, checkable=True)
        self.scores_button = iconed(self.theme, scores, "number")
        self._buttons = row(1, self.scores_button, self.copy_button, spacing=6, margins=0)

    def focus_target(self) -> QWidget:
        """The explanation, the numbers, or the answers."""
        page = self._pages.currentWidget()
        if isinstance(page, ScorePage):
            return page.focus_target()
        if isinstance(page, SimilarityPage):
            return page.view
        return self.page.area if self.answers_button.isChecked() else self.browser

    def show_answers(self, on: bool) -> None:
        """Show what would bring the entry in, or the explanation."""
        self.answers_button.setChecked(on)
        if on:
            self.scores_button.setChecked(False)
        self.refresh()

    def refresh(self) -> None:
        """Show everything anew."""
        self._shown = ()
        self._show()

    def add_button(self, button: QToolButton) -> None:
        """Put a button that is about the entry before the one that copies."""
        self._buttons.insertWidget(self._buttons.indexOf(self.copy_button), button)

    def copy(self) -> None:
        """Put the whole explanation on the clipboard, as plain text; where the numbers are shown, those."""
        page = self._pages.currentWidget()
        if isinstance(page, ScorePage):
            page.copy()
            self.copied.emit()
            return
        trace, entry = self._session.runs.trace(self._selection.generation), self._selection.entry
        project = self._session.project
        if trace is not None and entry is not None and project is not None:
            QGuiApplication.clipboard().setText(entry_as_text(trace, entry, project.index))
            self.copied.emit()

    def show_scores(self, shown: bool) -> None:
        """Show the numbers about the entry, or its explanation again."""
        self.scores_button.setChecked(shown)
        self._toggle_scores()

    def _show(self) -> None:
        selection = self._selection
        trace, number = self._session.runs.trace(selection.generation), selection.entry
        note = self._session.entry(number)
        ref = trace.entries.get(number) if trace is not None and number is not None else None
        entry = note or ref  # what is no note of the vault is known to the run only: a recap, a lorebook's entry
        if number is None and selection.left_out is not None:
            self._show_left_out(selection.left_out)
            return
        shown = (id(trace), selection.entry, selection.stage, self.theme.palette.name)
        if entry is None or trace is None:
            self._shown = ()
            self._show_empty(note is not None)
            return
        if shown == self._shown:
            return
        if self._shown and self._untried:  # of another row the reason is wanted first
            self.answers_button.setChecked(False)
        self._shown = shown
        end = self._session.runs.journeys(trace).fate(entry.id)
        mark = fate_mark(end)
        self._show_head(entry.title, f"{entry.title}\n{entry.filename}", tr(mark.word))
        self._icon.setPixmap(mark_pixmap(mark, self.theme, 18))
        self.browser.setHtml(html_page(self.theme.palette, self._body(trace, entry.id)))
        self._show_page()

    def _show_page(self) -> None:
        self._show_button()
        if self.answers_button.isChecked():
            self._pages.setCurrentWidget(self.page)
        else:
            self._pages.setCurrentWidget((self._numbers() if self.scores_button.isChecked() else None) or self.browser)

    def _numbers(self) -> QWidget | None:
        """The page of numbers, filled; None where nothing is looked at.

        Where vectors ranked the candidates, their similarities are what counts.
        """
        trace, entry = self._session.runs.trace(self._selection.generation), self._selection.entry
        if trace is None or entry is None:
            return None
        found = similarities(trace)
        if found is not None:
            self.similarity.show_run(found, entry)
            return self.similarity
        self.scores.show_entry(trace, entry, self._session.runs.rerun(self._selection.generation))
        return self.scores

    def _toggle_scores(self) -> None:
        if self.scores_button.isChecked():
            self.answers_button.setChecked(False)
        self._show_page()

    def _show_button(self) -> None:
        search = self._search
        self.answers_button.setVisible(search.note is not None and search.takes_part)
        self.answers_button.setText(tr("What would keep it out?") if search.goes_in else tr("What would bring it in?"))

    @property
    def _untried(self) -> bool:
        search = self._search
        return search.found is None and not (search.running or search.obstacle or search.error)

    def _toggle_answers(self, on: bool) -> None:
        if on:
            self.searched.emit()
        else:
            self.show_answers(False)

    def _show_left_out(self, note: LeftOutNote) -> None:
        """A note that is no entry: why, and what makes it one."""
        self._shown = ()
        self._show_head(note.title or note.filename, note.filename, tr("no entry"))
        self._icon.clear()
        self.browser.setHtml(html_page(self.theme.palette, html_paragraph(note.message, bold=True)))
        self._show_page()

    def _show_head(self, title: str, tip: str, state: str) -> None:
        self._head.show()
        named(self._title, "", tip).setText(title)
        self._state.setText(state)

    def _show_empty(self, has_entry: bool) -> None:
        self._head.hide()
        if has_entry:
            self.empty.say(tr("No trace to explain yet"), tr("Choose a message of the chat and run it."))
        else:
            self.empty.say(tr("Why?"), tr("Choose an entry, or a cell of the answers, to read why it went in or not."))
        self._pages.setCurrentWidget(self.empty)

    def _body(self, trace: Trace, entry: int) -> str:
        """What decided, once; then what is said of the chosen stage, unless that is what decided."""
        palette = self.theme.palette
        records = {record.name: record for record in trace.stages}
        journeys = self._session.runs.journeys(trace)
        cells, outcome = journeys.cells(entry), journeys.told(entry)
        chosen = next((cell for cell in cells if cell.stage == self._selection.stage), None)
        links = self._sources(trace, entry)
        would = self._would.of(trace, entry)  # what the stages behind the one that stopped it would have done
        later = would.sentences if would is not None else ()
        parts = [_paragraph(outcome.sentence, links, bold=True)]
        parts += [html_paragraph(tr("It {sentence}.", sentence=sentence)) for sentence in later]
        if chosen is not None:
            sentence = cell_sentence(trace, entry, records[chosen.stage], chosen)
            if sentence not in outcome.sentence:
                parts.append(_paragraph(f"{sentence_case(chosen.stage)}: {sentence}", links))
        parts.append(html_paragraph(tr("The way through the stages"), color=palette.text_muted, bold=True, above=8))
        parts.append(self._journey(trace, entry, cells, records, outcome.sentence, links))
        if why := self._would.not_held(trace, entry):
            text = tr("What later stages would have done is not known. {why}", why=why)
            parts.append(html_paragraph(text, color=palette.text_faint, above=8))
        return "".join(parts)

    def _sources(self, trace: Trace, entry: int) -> dict[str, str]:
        """Where the reasons lead: words of their sentences by links to messages, and to entries that brought it in."""
        links: dict[str, str] = {}
        for record in trace.stages:
            for verdict in record.verdicts:
                if verdict.entry == entry:
                    source = verdict.details.get("source_id")
                    for found in keys_of_verdict(verdict, trace.words):
                        if found.message is not None:
                            links[f"message:{found.message}"] = tr("message #{message}", message=found.message)
                    if isinstance(source, int) and source in trace.entries:
                        links[f"entry:{source}"] = f"“{trace.entries[source].title}”"
        return links

    def _journey(
        self, trace: Trace, entry: int, cells: tuple[JourneyCell, ...], records: dict[str, StageRecord], said: str,
        links: Mapping[str, str],
    ) -> str:  # fmt: skip
        """The stages that had something to say, with that where it is not `said` above."""
        palette = self.theme.palette
        rows, silent = [], 0
        would = self._would.of(trace, entry)
        later_said = would.sentences if would is not None else ()
        for cell in cells:
            record = records[cell.stage]
            explained = explain_cell(trace, entry, cell)
            later = would.at(cell.stage) if would is not None and cell.state in _SILENT else None
            if later is not None and not later.sentence:
                later = None
            if (
                later is None
                and cell.verdict is None
                and (cell.state in _SILENT or cell.state is CellState.KEPT)
                and not (cell.state is CellState.ABSENT and explained is not None)
            ):
                silent += 1
                continue
            phase = counted_in(trace, record, cell.verdict)
            mark = cell_mark(cell, phase) if later is None else would_mark(later)
            picture = f"mark:{mark.icon}:{mark.fill or 'none'}:{'hollow' if mark.hollow else 'full'}"
            image = QTextDocument.ResourceType.ImageResource
            self.browser.document().addResource(image, QUrl(picture), mark_pixmap(mark, self.theme, 16))
            sentence = cell_sentence(trace, entry, record, cell) if later is None else later.sentence
            if sentence in said or any(sentence in told for told in later_said):
                sentence = tr(mark.word)
            ground = f" bgcolor='{palette.accent_soft}'" if cell.stage == self._selection.stage else ""
            rows.append(
                f"<tr><td{ground} width='20' style='padding:2px 3px'><img src='{picture}' width='15' height='15'></td>"
                f"<td{ground} style='padding:2px 10px 2px 2px' width='118'>"
                f"<a href='stage:{html_text(cell.stage)}'>{html_text(cell.stage)}</a></td>"
                f"<td{ground} style='padding:2px 0'>{_linked(sentence, links)}</td></tr>"
            )
        if silent:
            words = tr(
                "{stages} let it pass, or did not look at it.", stages=count(silent, "other stage", "other stages")
            )
            style = f"padding-top:3px;color:{palette.text_faint}"
            first = "<td></td><td colspan='2'" if rows else "<td colspan='3'"
            rows.append(f"<tr>{first} style='{style}'>{words}</td></tr>")
        return f"<table cellspacing='0' cellpadding='0' width='100%'>{''.join(rows)}</table>"

    def _follow(self, link: QUrl) -> None:
        if link.scheme() == "stage":
            self._selection.choose_entry(self._selection.entry, link.path())
        elif link.scheme() == "entry":
            self._selection.choose_entry(int(link.path()))
        elif link.scheme() == "message":
            self.message_wanted.emit(int(link.path()))
