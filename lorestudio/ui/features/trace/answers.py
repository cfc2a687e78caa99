"""The answers of a run: an entry a row with what became of it and why, its tokens, a mark for each phase, and a fix.

Entry and result stay in sight while the rest scrolls. A phase unfolds into its stages. What a change of the vault, the
settings or the chat has changed stands in the rows until the next one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

from msgspec import Struct
from PySide6.QtCore import QAbstractTableModel, QEvent, QObject, QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFont, QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from lorestudio.domain.entry import VaultIndex
from lorestudio.studio.verify.agreement import ComparedReply, WentIn
from lorestudio.systems.ideas import Change
from lorestudio.trace.diff import EntryChange, Key, TraceDiff, injections_by_key
from lorestudio.trace.explain import explain_stage
from lorestudio.trace.held_run import WouldAlso, WouldCell
from lorestudio.trace.journey import (
    PHASES,
    CellState,
    FateState,
    JourneyCell,
    Journeys,
    explain_cell,
    phase_cell,
    phase_of,
)
from lorestudio.trace.model import Phase, StageRecord, StageStatus, Trace
from lorestudio.ui.shell.qt import (
    ACCESSIBLE_DESCRIPTION,
    ACCESSIBLE_TEXT,
    DISPLAY,
    ENTRY_ID,
    HELD,
    HORIZONTAL,
    ITEM,
    MARK,
    NO_INDEX,
    TOOLTIP,
    V_LEFT,
    V_RIGHT,
    VERTICAL,
    Index,
    plain,
)
from lorestudio.ui.shell.theme import Theme, scaled
from lorestudio.ui.shell.words import count, number, sentence_case, tr
from lorestudio.ui.state.ai_calls import stage_failure
from lorestudio.ui.state.expected import ExpectedMark
from lorestudio.ui.widgets.paint import (
    BLANK,
    BROKEN,
    DECIDING,
    Mark,
    Wrapper,
    cell_mark,
    draw_focus,
    draw_glyph,
    draw_mark,
    draw_words,
    fate_mark,
    hairline,
    would_mark,
)

WHY: Final = 0
TOKENS: Final = 1
"""The columns before those of the phases."""

_UNREACHED: Final = frozenset({CellState.NOT_REACHED, CellState.ABSENT})
"""Cells that have room for what would have been."""

_INSIDE: Final = frozenset({FateState.INJECTED, FateState.TRUNCATED})


class RowChange(Struct, frozen=True):
    """What the last change has done to an entry, in words of a tone of the palette."""

    words: str
    tone: str


def row_changes(diff: TraceDiff) -> dict[Key, RowChange]:
    """What each entry's row says of the difference between two runs."""
    places = {key: place for place, key in enumerate(injections_by_key(diff.after), start=1)}
    found: dict[Key, RowChange] = {}
    for change in diff.refated:
        was, now = tr(fate_mark(change.before_fate).word), tr(fate_mark(change.after_fate).word)
        if was != now:
            found[change.key] = RowChange(tr("was: {word}", word=was), "text_muted")
    for change in diff.rewritten:
        found[change.key] = RowChange(tr("~ other text"), "text_muted")
    for change in diff.resized:
        found[change.key] = RowChange(_resized(change), "text_muted")
    for change in diff.moved:
        found.setdefault(change.key, RowChange(tr("now {place}", place=ordinal(places[change.key])), "text_muted"))
    found |= {change.key: RowChange(tr("− left"), "warning") for change in diff.left}
    return found | {change.key: RowChange(tr("+ came in"), "good") for change in diff.entered}


def _resized(change: EntryChange) -> str:
    before, after = change.before, change.after
    grown = (after.tokens if after is not None else 0) - (before.tokens if before is not None else 0)
    return tr("{grown} tokens", grown=f"{'+' if grown >= 0 else '−'}{number(abs(grown))}")


_RECORDED: Final = {
    WentIn.BOTH: Mark("check", "green", "in both"),
    WentIn.THERE: Mark("plus", "orange", "only there"),
    WentIn.HERE: Mark("minus", "purple", "only here"),
    WentIn.TOKENS: Mark("tilde", "yellow", "other tokens there"),
}


def recorded_marks(reply: ComparedReply) -> dict[int, tuple[Mark, str]]:
    """What was recorded of each entry of a reply: a mark, and a sentence."""
    return {
        each.entry: (_RECORDED[each.where], f"{sentence_case(tr(each.where.value))}: {each.words}")
        for each in reply.entries
        if each.entry is not None
    }


def ordinal(place: int) -> str:
    """`3rd`."""
    ending = "th" if 10 <= place % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th")
    return f"{place}{ending}"


class AnswerTable(QAbstractTableModel):
    """Why, tokens, then a column for each phase, or for each stage of a phase that is unfolded.

    The row header is the entry with what became of it. Cells are worked out when first shown. `trace` is the run that
    is shown.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.trace: Trace | None = None
        self.unfolded: frozenset[Phase] = frozenset()
        self._index: VaultIndex | None = None
        self._all_rows: list[int] = []
        self._rows: list[int] = []
        self._columns: list[tuple[Phase, int | None]] = []
        self._cells: dict[int, tuple[JourneyCell, ...]] = {}
        self._reasons: dict[int, str] = {}
        self._journeys: Journeys | None = None
        self._filter = ""
        self._only: frozenset[int] | None = None
        self._guest: int | None = None
        self._running = ""
        self._failed: dict[str, str] = {}
        self._would: dict[int, WouldAlso] = {}
        self._fixes: dict[int, Change] = {}
        self._changes: dict[int, RowChange] = {}
        self.held: Callable[[int], ExpectedMark | None] = lambda _entry: None
        """What is expected of an entry in the reply that is shown."""
        self._there: Mapping[int, tuple[Mark, str]] | None = None

    # ---- content ----------------------------------------------------------------------------------------------------

    @contextmanager
    def _arranging(self) -> Iterator[None]:
        """Other rows or columns are to be shown after what is done within."""
        self.beginResetModel()
        yield
        self._arrange()
        self.endResetModel()

    def set_trace(
        self,
        trace: Trace | None,
        index: VaultIndex | None = None,
        running: str = "",
        journeys: Journeys | None = None,
        changes: Mapping[Key, RowChange] | None = None,
    ) -> None:
        """Show another run; `index` names the entries that no stage decided about.

        `journeys` is the same trace, where it was read already. `running` is the stage of a run under way that has not
        decided yet; it is the last one. `changes` are those against the run before the last change.
        """
        stages = trace.stages if trace is not None else ()
        with self._arranging():
            found = ((record.name, stage_failure(record, trace)) for record in stages) if trace is not None else ()
            self._failed = {name: sentence for name, sentence in found if sentence}
            self.trace, self._index, self._running = trace, index, running
            self._cells, self._reasons, self._would, self._fixes = {}, {}, {}, {}
            self._journeys = (journeys or Journeys(trace)) if trace is not None else None
            self._all_rows = list(self._journeys.rows) if self._journeys is not None else []
            self._changes = self._numbered(changes or {})
            known = set(self._all_rows)
            self._all_rows += [entry for entry in self._changes if entry not in known]

    def set_there(self, there: Mapping[int, tuple[Mark, str]] | None) -> None:
        """Show in a last column what was recorded of the entries, a mark and a sentence each; None for no column."""
        if there != self._there:
            with self._arranging():
                self._there = there

    def unfold(self, phases: frozenset[Phase]) -> None:
        """These phases have a column for each of their stages, the others one for all of them."""
        if phases != self.unfolded:
            with self._arranging():
                self.unfolded = phases

    def set_filter(self, text: str) -> None:
        """Show only entries whose title, result or reason contains `text`."""
        with self._arranging():
            self._filter = text.casefold().strip()

    def set_only(self, entries: frozenset[int] | None) -> None:
        """Show only these entries, None for all."""
        if entries != self._only:
            with self._arranging():
                self._only = entries

    def set_guest(self, entry: int | None) -> None:
        """The chosen entry has a row even where it never came into question."""
        if self.trace is not None and entry is not None and entry not in self._rows:
            self._drop_guest()
            self.beginInsertRows(NO_INDEX, len(self._rows), len(self._rows))
            self._guest = entry
            self._rows.append(entry)
            self.endInsertRows()
        elif entry != self._guest:
            self._drop_guest()

    def set_would(self, entry: int, would: WouldAlso) -> None:
        """Show what the stages behind the one that stopped the entry would have done."""
        self._would[entry] = would
        self._touch(entry)

    def set_fix(self, entry: int, change: Change) -> None:
        """Offer a change that was tried as a button."""
        self._fixes[entry] = change
        self._touch(entry)

    def fix(self, entry: int | None) -> str:
        """What the button of an entry says, "" where it has none."""
        change = self._fixes.get(entry) if entry is not None else None
        return change.label if change is not None else ""

    def change(self, entry: int) -> RowChange | None:
        """What the last change has done to the entry, None where nothing."""
        return self._changes.get(entry)

    def would(self, entry: int, stage: str) -> WouldCell | None:
        """What a stage that the entry did not reach would have done, None where that is not known."""
        known = self._would.get(entry)
        return known.at(stage) if known is not None else None

    def entry(self, row: int) -> int | None:
        """The entry of a row."""
        return self._rows[row] if 0 <= row < len(self._rows) else None

    def row_of(self, entry: int | None) -> int:
        """The row of an entry, -1 where it has none."""
        return self._rows.index(entry) if entry in self._rows else -1

    def phase(self, column: int) -> Phase | None:
        """The phase of a column, None for those before them."""
        return self._columns[column - 2][0] if TOKENS < column < len(self._columns) + 2 else None

    def stage(self, column: int) -> StageRecord | None:
        """The stage of a column, None where the column is none of a single stage."""
        place = self._columns[column - 2][1] if self.phase(column) is not None else None
        return self.trace.stages[place] if self.trace is not None and place is not None else None

    def column_of(self, stage: str | None) -> int:
        """The column of a stage, that of its phase where that is folded; the first one where it has none."""
        record = self.trace.stage(stage) if self.trace is not None and stage else None
        for column in range(2, self.columnCount()):
            own = self.stage(column)
            if record is not None and (own is record or (own is None and self.phase(column) is phase_of(record))):
                return column
        return WHY

    def stage_at(self, row: int, column: int) -> str | None:
        """The name of the stage that a cell is about, None for the columns before the phases."""
        entry, record = self.entry(row), self.stage(column)
        if record is not None or entry is None or self.phase(column) is None:
            return record.name if record is not None else None
        return self._phase_cell(entry, column)[0].stage or None

    @property
    def candidates(self) -> int:
        """How many entries came into question."""
        return len(self._all_rows)

    # ---- Qt ---------------------------------------------------------------------------------------------------------

    def rowCount(self, parent: Index = NO_INDEX) -> int:
        """Qt: one row per entry."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = NO_INDEX) -> int:
        """Qt: why, tokens, the phases or their stages, and what was recorded."""
        beside = self._there is not None
        return 0 if parent.isValid() or self.trace is None else 2 + len(self._columns) + beside

    def data(self, index: Index, role: int = DISPLAY) -> object:
        """Qt: marks to draw, and the same in words."""
        told = self._data(index, role)
        return plain(told) if role == TOOLTIP and isinstance(told, str) else told

    def _data(self, index: Index, role: int) -> object:
        trace, entry = self.trace, self.entry(index.row())
        if trace is None or entry is None:
            return None
        if role == ENTRY_ID:
            return entry
        if index.column() == WHY:
            return self._why(trace, entry, role)
        if index.column() == TOKENS:
            return self._tokens(trace, entry, role)
        if self.is_there(index.column()):
            return self._recorded(entry, role)
        record = self.stage(index.column())
        if record is not None:
            place = self._columns[index.column() - 2][1] or 0
            cell = self.cell(entry, place)
            would = self.would(entry, record.name) if cell.state in _UNREACHED else None
            return self._mark(trace, entry, record, cell, would, record.name, role)
        cell, would = self._phase_cell(entry, index.column())
        own = trace.stage(cell.stage)
        phase = self.phase(index.column())
        if own is None or phase is None:
            return BLANK if role == MARK else None
        return self._mark(trace, entry, own, cell, would, tr(phase.value), role)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = DISPLAY) -> object:
        """Qt: what the columns are about across, entries down."""
        if self.trace is None:
            return None
        across = orientation == HORIZONTAL
        told = self._column_header(self.trace, section, role) if across else self._row_header(section, role)
        return plain(told) if role == TOOLTIP and isinstance(told, str) else told

    # ---- inside -----------------------------------------------------------------------------------------------------

    def title(self, entry: int) -> str:
        """What an entry is called."""
        ref = self.trace.entries.get(entry) if self.trace is not None else None
        if ref is not None:
            return ref.title
        entries = self._index.entries if self._index is not None else ()
        return entries[entry].title if entry < len(entries) else tr("entry {entry}", entry=entry)

    def cell(self, entry: int, stage: int) -> JourneyCell:
        """What the stage at index `stage` of the run did with an entry."""
        if entry not in self._cells and self._journeys is not None:
            self._cells[entry] = self._journeys.cells(entry)
        return self._cells[entry][stage]

    def result(self, entry: int) -> Mark:
        """What became of an entry."""
        return fate_mark(self._journeys.fate(entry)) if self._journeys is not None else BLANK

    def reason(self, entry: int) -> str:
        """What became of it, in short."""
        if self._journeys is None or self._running:
            return ""
        if entry not in self._reasons:
            self._reasons[entry] = self._journeys.told(entry).brief
        return self._reasons[entry]

    def tokens(self, entry: int) -> tuple[int, int | None]:
        """The tokens that went in, or would, and those of the whole note where it was shortened."""
        trace = self.trace
        taken = next((each for each in trace.injections if each.entry == entry), None) if trace is not None else None
        if taken is not None:
            return taken.tokens, taken.original_tokens
        ref = trace.entries.get(entry) if trace is not None else None
        entries = self._index.entries if self._index is not None else ()
        return (ref.tokens if ref is not None else entries[entry].tokens if entry < len(entries) else 0), None

    def is_quiet(self, record: StageRecord) -> bool:
        """Whether a stage decided nothing, did not fail and does not run."""
        return not record.verdicts and record.name not in self._failed and record is not self._undecided

    def _phase_cell(self, entry: int, column: int) -> tuple[JourneyCell, WouldCell | None]:
        """What a folded phase was to an entry, or would have been."""
        stages, phase = self.trace.stages if self.trace is not None else (), self.phase(column)
        if phase is None:
            return JourneyCell("", CellState.NOT_REACHED), None
        self.cell(entry, 0)
        cell = phase_cell(phase, self._cells[entry], stages)
        if cell.state not in _UNREACHED:
            return cell, None
        own = [self.would(entry, record.name) for record in stages if phase_of(record) is phase]
        known = [would for would in own if would is not None]
        would = next((each for each in known if each.sentence), known[-1] if known else None)
        return (JourneyCell(would.stage, cell.state), would) if would is not None else (cell, None)

    def _why(self, trace: Trace, entry: int, role: int) -> object:
        if role == MARK:
            return self.result(entry)
        if role == DISPLAY:
            return self.reason(entry)
        if role == ACCESSIBLE_TEXT:
            head = f"{self.title(entry)}: {self._result_words(entry)}"
            offer = tr("Enter: {fix}", fix=self.fix(entry)) if self.fix(entry) else ""
            return ". ".join(filter(None, (head, self.reason(entry), offer)))
        if role in {TOOLTIP, ACCESSIBLE_DESCRIPTION} and self._journeys is not None:
            known, fix = self._would.get(entry), self._fixes.get(entry)
            later = [f"{sentence_case(each)}." for each in known.sentences] if known is not None else []
            tried = [tr("Tried, and it goes in (Enter): {fix}", fix=fix.title)] if fix is not None else []
            return "\n".join([self._journeys.told(entry).sentence, *later, *tried])
        return None

    def _tokens(self, trace: Trace, entry: int, role: int) -> object:
        taken, whole = self.tokens(entry)
        if role == DISPLAY:
            return number(taken)
        if role in {ACCESSIBLE_TEXT, TOOLTIP}:
            words = count(taken, "token", "tokens")
            if whole is not None:
                words = tr("{taken} of {whole}", taken=number(taken), whole=count(whole, "token", "tokens"))
            return f"{self.title(entry)}: {words}" if role == ACCESSIBLE_TEXT else words
        return None

    def is_there(self, column: int) -> bool:
        """Whether a column says what was recorded."""
        return column == len(self._columns) + 2

    def _recorded(self, entry: int, role: int) -> object:
        mark, sentence = (self._there or {}).get(entry, (BLANK, tr("Not recorded.")))
        if role == MARK:
            return mark
        if role == DISPLAY:
            return tr(mark.word)
        if role == ACCESSIBLE_TEXT:
            return f"{self.title(entry)}: {sentence}"
        return sentence if role in {TOOLTIP, ACCESSIBLE_DESCRIPTION} else None

    def _mark(
        self, trace: Trace, entry: int, record: StageRecord, cell: JourneyCell, would: WouldCell | None, name: str,
        role: int,
    ) -> object:  # fmt: skip
        """A cell of a stage, or of the phase called `name` of which that stage says most."""
        mark = cell_mark(cell, record.phase) if would is None else would_mark(would)
        if record is self._undecided:
            mark = DECIDING if entry in record.left else mark
        if role == MARK:
            return mark
        if role == ITEM:
            return cell
        if role == DISPLAY:
            return tr(mark.word)
        if role == ACCESSIBLE_TEXT:
            return tr("{title}, {stage}: {word}", title=self.title(entry), stage=name, word=tr(mark.word))
        if role in {TOOLTIP, ACCESSIBLE_DESCRIPTION}:
            if mark is DECIDING:
                return tr("{stage}: running; it has not decided yet.", stage=record.name)
            if would is not None:
                return f"{record.name}: {would.sentence or tr('would let it pass')}"
            return f"{record.name}: {cell_sentence(trace, entry, record, cell)}"
        return None

    def _column_header(self, trace: Trace, section: int, role: int) -> object:
        record, phase = self.stage(section), self.phase(section)
        if phase is None:
            words = tr("There") if self.is_there(section) else tr("Why") if section == WHY else tr("Tokens")
            return words if role in {DISPLAY, ACCESSIBLE_TEXT} else None
        if role == ITEM:
            return record
        if record is not None:
            return self._stage_header(trace, record, role)
        return self._phase_header(trace, phase, role)

    def _phase_header(self, trace: Trace, phase: Phase, role: int) -> object:
        own, name = [each for each in trace.stages if phase_of(each) is phase], sentence_case(tr(phase.value))
        if role == DISPLAY:
            return name
        if role == ACCESSIBLE_TEXT:
            return tr("{phase}: {stages}, folded", phase=name, stages=count(len(own), "stage", "stages"))
        if role == MARK:
            if self._undecided in own:
                return DECIDING
            return BROKEN if any(each.name in self._failed for each in own) else None
        if role == TOOLTIP:
            told = (f"{each.name}: {self._failed.get(each.name) or explain_stage(each, trace)}"
                    for each in own if not self.is_quiet(each))  # fmt: skip
            return "\n".join([tr("{phase}: a click unfolds its stages (Space; Q all)", phase=name), *told])
        return None

    def _stage_header(self, trace: Trace, record: StageRecord, role: int) -> object:
        if role in {DISPLAY, ACCESSIBLE_TEXT}:
            return record.name
        if role == MARK:
            if record is self._undecided:
                return DECIDING
            return BROKEN if record.name in self._failed else None
        if role == TOOLTIP:
            if record is self._undecided:
                return tr("{stage}\nThis stage is running.", stage=record.name)
            quiet = tr("{stage} (quiet: it decided nothing)", stage=record.name)
            name = quiet if self.is_quiet(record) else record.name
            return f"{name}\n{self._failed.get(record.name) or explain_stage(record, trace)}"
        return None

    @property
    def _undecided(self) -> StageRecord | None:
        """The stage that runs."""
        stages = self.trace.stages if self.trace is not None else ()
        return stages[-1] if self._running and stages else None

    def _result_words(self, entry: int) -> str:
        change, held = self.change(entry), self.held(entry)
        parts = [tr(self.result(entry).word), change.words if change is not None else ""]
        parts += [held.words] if held is not None else []
        return ", ".join(part for part in parts if part)

    def _row_header(self, section: int, role: int) -> object:
        entry = self.entry(section)
        if entry is None:
            return None
        if role == DISPLAY:
            return self.title(entry)
        if role == ACCESSIBLE_TEXT:
            return f"{self.title(entry)}: {self._result_words(entry)}"
        if role == MARK:
            return self.result(entry)
        if role == ITEM:
            return self.change(entry)
        if role == HELD:
            return self.held(entry)
        return f"{self.title(entry)}\n{self._result_words(entry)}" if role == TOOLTIP else None

    def _touch(self, entry: int) -> None:
        row = self.row_of(entry)
        if row >= 0:
            self.dataChanged.emit(self.index(row, 0), self.index(row, self.columnCount() - 1))

    def _numbered(self, changes: Mapping[Key, RowChange]) -> dict[int, RowChange]:
        """The changes by the entries of this run, also those that only the vault knows."""
        if not changes or self.trace is None:
            return {}
        known: dict[Key, int] = {}
        if self._index is not None:
            known = {(note.vault, note.filename): note.id for note in self._index.entries}
        known |= {(ref.vault, ref.filename): ref.id for ref in self.trace.entries.values()}
        return {known[key]: change for key, change in changes.items() if key in known}

    def _arrange(self) -> None:
        trace = self.trace
        self._guest = None
        if trace is None:
            self._rows, self._columns = [], []
            return
        self._rows = [
            entry
            for entry in self._all_rows
            if (self._only is None or entry in self._only) and (not self._filter or self._filter in self._text(entry))
        ]
        self._columns = []
        for phase in PHASES:
            own = [place for place, record in enumerate(trace.stages) if phase_of(record) is phase]
            if own:
                self._columns += [(phase, place) for place in own] if phase in self.unfolded else [(phase, None)]

    def _text(self, entry: int) -> str:
        return "\n".join((self.title(entry), self._result_words(entry), self.reason(entry))).casefold()

    def _drop_guest(self) -> None:
        if self._guest is not None and self._guest in self._rows:
            row = self._rows.index(self._guest)
            self.beginRemoveRows(NO_INDEX, row, row)
            del self._rows[row]
            self.endRemoveRows()
        self._guest = None


def cell_sentence(trace: Trace, entry: int, record: StageRecord, cell: JourneyCell) -> str:
    """Why a cell is as it is, in one sentence."""
    explanation = explain_cell(trace, entry, cell)
    if explanation is not None:
        return explanation.sentence
    if cell.state is CellState.NOT_REACHED:
        if record.status is StageStatus.SKIPPED:
            return tr("This stage was skipped.")
        return tr("This stage did not look at it: it was no candidate here.")
    if cell.state is CellState.ABSENT:
        return tr("This stage could have brought it in and found no reason to.")
    return tr("It passed; this stage had nothing to say about it.")


# ---- how it looks ---------------------------------------------------------------------------------------------------

_PHASE_FILL: Final = {
    Phase.MATCH: "yellow",
    Phase.SELECT: "sky",
    Phase.GATE: "orange",
    Phase.BUDGET: "purple",
    Phase.INJECT: "green",
}
_SMALL: Final = 0.9
_REASON: Final = 0.95
_BUTTON: Final = 26
"""Pixels that a button of a row needs around its words."""
_SIGN: Final = 20
"""The room of the mark before a result."""
MEASURED: Final = 60
"""The titles of so many rows are measured."""


def cell_width(font: QFont) -> int:
    """How wide a column of marks is: a mark, and a name written upwards."""
    return max(24, round(QFontMetricsF(scaled(font, _SMALL)).height()) + 6)


def row_height(font: QFont) -> int:
    """Two lines."""
    return round(QFontMetricsF(font).height() + QFontMetricsF(scaled(font, _SMALL)).height()) + 7


class RowWords(Struct, frozen=True):
    """The words of a row, broken into the lines that its cells have room for; none is shortened.

    `beside` says that what has changed stands in the line of the result. `fix` is what the button says.
    """

    title: tuple[str, ...]
    result: tuple[str, ...]
    change: tuple[str, ...]
    reason: tuple[str, ...]
    fix: tuple[str, ...]
    beside: bool


class RowFonts:
    """The fonts of a row, with what breaks texts in them: titles stand out where their row is chosen."""

    def __init__(self, font: QFont) -> None:
        self.font = QFont(font)
        self.title = Wrapper(scaled(font, 1.0, bold=True))
        self.small = Wrapper(scaled(font, _SMALL))
        self.change = Wrapper(scaled(font, _SMALL, bold=True))
        self.reason = Wrapper(scaled(font, _REASON))

    def height(self, words: RowWords) -> int:
        """The height of a row in pixels, two lines at least."""
        small = self.small.metrics.height()
        below = len(words.result) + len(words.change) - (words.beside and bool(words.change))
        head = len(words.title) * self.title.metrics.height() + below * small
        why = len(words.reason) * self.reason.metrics.height() + (self.button_height(words) + 2 if words.fix else 0)
        return max(row_height(self.font), math.ceil(max(head, why)) + 6)

    def button_height(self, words: RowWords) -> float:
        """The height of the button of a row."""
        return len(words.fix) * self.small.metrics.height() + 3

    def button(self, cell: QRectF, words: RowWords) -> QRectF:
        """Where the button is in the cell of the reason."""
        widest = max((self.small.metrics.horizontalAdvance(line) for line in words.fix), default=0.0)
        high = self.button_height(words)
        wide = max(0.0, min(widest + _BUTTON, cell.width() - 10))
        return QRectF(cell.left() + 6, cell.bottom() - high - 2, wide, high)


def _broken(wrapper: Wrapper, text: str, width: float) -> tuple[str, ...]:
    return tuple(text[start:end] for start, end in wrapper.lines(text, max(width, 20.0))) if text else ()


def draw_lines(painter: QPainter, box: QRectF, texts: Sequence[str]) -> float:
    """Lines of text in the painter's font from the top of `box`; returns where they end."""
    top, high = box.top(), QFontMetricsF(painter.font()).height()
    for text in texts:
        painter.drawText(QRectF(box.left(), top, box.width() + 40, high), V_LEFT, text)
        top += high
    return top


class PhaseHeader(QHeaderView):
    """Names of phases and stages written upwards, each phase under a band of its colour. A click folds and unfolds."""

    BAND = 5
    SIGN = 15
    """Room for the sign of a stage that runs or failed, and for the one that folds."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(HORIZONTAL, parent)
        self._theme = theme
        self._most = 260
        self.setSectionsClickable(True)
        self.setHighlightSections(False)
        self.setMinimumSectionSize(20)
        self.setAccessibleName(tr("Phases and stages"))
        theme.changed.connect(self.viewport().update)

    def leave_room(self, height: int) -> None:
        """Take at most half of the view's `height` in pixels, so that a low pane shows rows too."""
        names = round(self._longest(phases=True)) + self.BAND + self.SIGN + 8
        low = 2 * height < 3 * names  # with large letters: bands and signs only, so that the rows are in sight
        most = self.BAND + self.SIGN + 2 if low else max(names, height // 2)
        if most != self._most:
            self._most = most
            self.updateGeometry()

    def _longest(self, *, phases: bool = False) -> float:
        model, metrics = self.model(), QFontMetricsF(scaled(self.font(), _SMALL))
        if phases:
            names = [tr("Tokens"), *(sentence_case(tr(phase.value)) for phase in PHASES)]
            return max(metrics.horizontalAdvance(name) for name in names)
        names = [str(model.headerData(column, HORIZONTAL) or "") for column in range(TOKENS, model.columnCount())]
        return max((metrics.horizontalAdvance(name) for name in names), default=40.0)

    def sizeHint(self) -> QSize:
        """Qt: as high as the longest name, so that none is cut off while there is room."""
        return QSize(100, min(round(self._longest()) + self.BAND + self.SIGN + 8, self._most))

    def paintSection(self, painter: QPainter, rect: QRect, logicalIndex: int) -> None:
        """Qt: draw one phase or stage."""
        theme, model = self._theme, self.model()
        if not isinstance(model, AnswerTable):
            return
        painter.save()
        painter.fillRect(rect, theme.color("panel"))
        painter.setPen(hairline(theme.color("border")))
        painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        painter.setFont(scaled(self.font(), _SMALL))
        text = str(model.headerData(logicalIndex, HORIZONTAL) or "")
        phase, record = model.phase(logicalIndex), model.stage(logicalIndex)
        if model.is_there(logicalIndex) or logicalIndex == TOKENS:
            painter.setPen(theme.color("text_muted" if logicalIndex == TOKENS else "text"))
            self._write_upwards(painter, rect, text)
            painter.restore()
            return
        if phase is None:
            painter.setPen(theme.color("text_muted"))
            painter.drawText(rect.adjusted(6, 0, -4, -5), int(Qt.AlignmentFlag.AlignBottom), text)
            painter.restore()
            return
        first = model.phase(logicalIndex - 1) is not phase
        ground, _ink = theme.fill(_PHASE_FILL[phase])
        painter.fillRect(QRect(rect.left() + first, rect.top(), rect.width() - first, self.BAND - 1), ground)
        if first:
            painter.drawLine(rect.topLeft(), rect.bottomLeft())
        mark = model.headerData(logicalIndex, HORIZONTAL, MARK)
        sign = QRectF(rect.left(), rect.top() + self.BAND, rect.width(), self.SIGN)
        if isinstance(mark, Mark):
            draw_glyph(painter, sign, mark.icon, theme.palette.error if mark is BROKEN else theme.palette.accent, 13)
        elif first:
            draw_glyph(painter, sign, "plus" if record is None else "minus", theme.palette.text_faint, 10)
        quiet = record is not None and model.is_quiet(record)
        painter.setPen(theme.color("error" if mark is BROKEN else "text_muted" if quiet else "text"))
        font = painter.font()
        font.setItalic(quiet)
        painter.setFont(font)
        self._write_upwards(painter, rect, text)
        painter.restore()

    def _write_upwards(self, painter: QPainter, rect: QRect, text: str) -> None:
        painter.translate(rect.left() + rect.width() / 2, rect.bottom() - 4)
        painter.rotate(-90)
        room = rect.height() - self.BAND - self.SIGN - 5
        draw_words(painter, QRectF(0, -rect.width() / 2, room, rect.width()), text)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Qt: the sections, then the names of unfolded phases over theirs."""
        super().paintEvent(event)
        model = self.model()
        if not isinstance(model, AnswerTable):
            return
        painter = QPainter(self.viewport())
        painter.setFont(scaled(self.font(), _SMALL))
        painter.setPen(self._theme.color("text_muted"))
        for phase in model.unfolded:
            own = [column for column in range(2, model.columnCount()) if model.phase(column) is phase]
            if own:
                left = self.sectionViewportPosition(own[0]) + self.sectionSize(own[0])
                right = self.sectionViewportPosition(own[-1]) + self.sectionSize(own[-1])
                box = QRectF(left, self.BAND, right - left, self.SIGN)
                draw_words(painter, box, sentence_case(tr(phase.value)))
        painter.end()


class EntryHeader(QHeaderView):
    """Entries with what became of them; as a header they stay in sight while the phases scroll."""

    def __init__(self, theme: Theme, parent: AnswerView) -> None:
        super().__init__(VERTICAL, parent)
        self._theme, self._view = theme, parent
        self.setSectionsClickable(True)
        self.setHighlightSections(False)
        self.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.setAccessibleName(tr("Entries and what became of them"))
        theme.changed.connect(self.viewport().update)

    def sizeHint(self) -> QSize:
        """Qt: the width is set by the view; Qt itself would measure hundreds of titles."""
        return QSize(self.maximumWidth(), self.length())

    def paintSection(self, painter: QPainter, rect: QRect, logicalIndex: int) -> None:
        """Qt: draw one entry."""
        theme, model = self._theme, self.model()
        chosen = self._view.currentIndex().row() == logicalIndex
        mark, change = (model.headerData(logicalIndex, VERTICAL, role) for role in (MARK, ITEM))
        painter.save()
        painter.fillRect(rect, theme.color("accent_soft" if chosen else "panel"))
        if chosen:
            painter.fillRect(QRect(rect.left(), rect.top(), 3, rect.height()), theme.color("accent"))
        painter.setPen(hairline(theme.color("border")))
        painter.drawLine(rect.topRight(), rect.bottomRight())
        painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        ink = "on_accent_soft" if chosen else ""
        fonts, words = self._view.fonts, self._view.words(logicalIndex)
        area = QRectF(rect).adjusted(_LEFT, 3, -_RIGHT, 0)
        held = model.headerData(logicalIndex, VERTICAL, HELD)
        if isinstance(held, ExpectedMark):
            icon, tone = held.glyph
            box = QRectF(area.right() - 15, area.top(), 14, fonts.title.metrics.height())
            draw_glyph(painter, box, icon, theme.color(tone).name(), 13)
        painter.setFont(scaled(self.font(), 1.0, bold=chosen))
        painter.setPen(theme.color(ink or "text"))
        area.setTop(draw_lines(painter, area, words.title))
        painter.setFont(fonts.small.font)
        painter.setPen(theme.color(ink or "text_muted"))
        if isinstance(mark, Mark):
            draw_mark(painter, QRectF(area.left(), area.top(), 15, fonts.small.metrics.height()), mark, theme, 14)
            area.setLeft(area.left() + _SIGN)
        area.setTop(draw_lines(painter, area, words.result))
        if isinstance(change, RowChange):
            if words.beside and words.result:
                wide = fonts.small.metrics.horizontalAdvance(words.result[-1]) + _APART
                area.adjust(wide, -fonts.small.metrics.height(), 0, 0)
            painter.setFont(fonts.change.font)
            painter.setPen(theme.color(ink or change.tone))
            draw_lines(painter, area, words.change)
        painter.restore()


_LEFT: Final = 9
_RIGHT: Final = 4
_APART: Final = 8
"""Pixels beside the words of an entry, and between its result and what has changed."""


class AnswerDelegate(QStyledItemDelegate):
    """Draws the reason with its button, tokens, and marks."""

    def __init__(self, theme: Theme, parent: AnswerView) -> None:
        super().__init__(parent)
        self._theme, self._view = theme, parent

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Qt: draw a cell."""
        theme, view = self._theme, self._view
        chosen, current = view.currentIndex().row() == index.row(), view.currentIndex() == index
        painter.save()
        if chosen:
            painter.fillRect(option.rect, theme.color("accent_soft"))
        painter.setPen(hairline(theme.color("border")))
        painter.drawLine(option.rect.bottomLeft(), option.rect.bottomRight())
        ink = theme.color("on_accent_soft" if chosen else "text")
        if index.column() == WHY:
            self._draw_why(painter, QRectF(option.rect), index.row(), chosen=chosen)
        elif index.column() == TOKENS:
            painter.setFont(scaled(option.font, _REASON))
            painter.setPen(ink)
            painter.drawText(QRectF(option.rect).adjusted(0, 0, -5, 0), V_RIGHT, str(index.data(DISPLAY)))
        else:
            mark = index.data(MARK)
            if isinstance(mark, Mark):
                draw_mark(painter, QRectF(option.rect), mark, theme)
        if current and (bool(option.state & QStyle.StateFlag.State_HasFocus) or index.column() > TOKENS):
            draw_focus(painter, option.rect.adjusted(1, 1, -1, -2), theme)
        painter.restore()

    def _draw_why(self, painter: QPainter, cell: QRectF, row: int, *, chosen: bool) -> None:
        theme, fonts, words = self._theme, self._view.fonts, self._view.words(row)
        painter.setPen(theme.color("on_accent_soft" if chosen else "text"))
        painter.setFont(fonts.reason.font)
        area = cell.adjusted(6, 3, -4, 0)
        if not words.fix:
            room = cell.height() - len(words.reason) * fonts.reason.metrics.height()
            area.setTop(cell.top() + max(0.0, room / 2))
            draw_lines(painter, area, words.reason)
            return
        draw_lines(painter, area, words.reason)
        box = fonts.button(cell, words)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(hairline(theme.color("border_strong")))
        painter.setBrush(theme.color("panel"))
        painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        draw_glyph(painter, QRectF(box.left() + 4, box.top(), 14, box.height()), "bolt", theme.palette.accent, 12)
        painter.setFont(fonts.small.font)
        painter.setPen(theme.color("text"))
        draw_lines(painter, box.adjusted(20, 1.5, 0, 0), words.fix)


class AnswerView(QTableView):
    """`fix_wanted` carries an entry whose fix is to be made, `fold_wanted` a phase to fold or unfold."""

    fix_wanted = Signal(int)
    fold_wanted = Signal(object)

    def __init__(self, theme: Theme, model: AnswerTable, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.table = model
        self.fonts = RowFonts(self.font())
        self._fitting = False
        self.setModel(model)
        self.setItemDelegate(AnswerDelegate(theme, self))
        self.phases = PhaseHeader(theme, self)
        self.setHorizontalHeader(self.phases)
        self.setVerticalHeader(EntryHeader(theme, self))
        self.setShowGrid(False)
        self.setCornerButtonEnabled(False)
        self.setMouseTracking(True)
        self.setSelectionMode(QTableView.SelectionMode.SingleSelection)
        self.setHorizontalScrollMode(QTableView.ScrollMode.ScrollPerPixel)
        self.setVerticalScrollMode(QTableView.ScrollMode.ScrollPerPixel)
        self.setTabKeyNavigation(False)
        self.setAccessibleName(tr("Answers: entries, why, and the phases of the run"))
        self.verticalHeader().sectionPressed.connect(self._choose_row)
        self.phases.sectionPressed.connect(self._fold)
        self._watching = False
        self.horizontalScrollBar().rangeChanged.connect(self._keep_last)
        model.modelReset.connect(self._size)
        self.verticalScrollBar().valueChanged.connect(self.fit)
        model.rowsInserted.connect(self.fit)
        model.dataChanged.connect(self._grow)
        self._size()

    def watch_last(self, on: bool) -> None:
        """Keep the last stage in sight, as long as a run is under way; scrolling by hand still works."""
        self._watching = on
        self._keep_last()

    def changeEvent(self, event: QEvent) -> None:
        """Qt: with another font everything has another size."""
        super().changeEvent(event)
        if event.type() in {QEvent.Type.FontChange, QEvent.Type.StyleChange}:
            self._size()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: the chosen cell stays in sight."""
        self._size()
        super().resizeEvent(event)
        if self.currentIndex().isValid():
            self.scrollTo(self.currentIndex())
        self._keep_last()

    def currentChanged(self, current: Index, previous: Index) -> None:
        """Qt: the entries show the chosen row too."""
        super().currentChanged(current, previous)
        self.verticalHeader().viewport().update()
        self.viewport().update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: Enter makes the change that the row offers, Space folds or unfolds the phase of the cell."""
        index, model = self.currentIndex(), self.table
        phase = model.phase(index.column()) if index.isValid() else None
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter} and model.fix(model.entry(index.row())):
            self._make(index.row())
        elif event.key() == Qt.Key.Key_Space and phase is not None:
            self.fold_wanted.emit(phase)
        else:
            super().keyPressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Qt: a click on the button of a row makes its change."""
        super().mouseReleaseEvent(event)
        row = self._button_at(event.position())
        if row >= 0 and event.button() is Qt.MouseButton.LeftButton:
            self._make(row)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Qt: buttons look as if they could be pressed."""
        super().mouseMoveEvent(event)
        over = self._button_at(event.position()) >= 0
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if over else Qt.CursorShape.ArrowCursor)

    def button(self, row: int) -> QRect:
        """Where the button of a row is in the viewport; empty where it has none."""
        if not self.table.fix(self.table.entry(row)):
            return QRect()
        return self.fonts.button(QRectF(self.visualRect(self.table.index(row, WHY))), self.words(row)).toRect()

    def words(self, row: int) -> RowWords:
        """The words of a row as its cells have room for them."""
        table, fonts, entry = self.table, self.fonts, self.table.entry(row)
        if entry is None:
            return RowWords((), (), (), (), (), beside=False)
        change, word = table.change(entry), tr(table.result(entry).word)
        wide = self.verticalHeader().width() - _LEFT - _RIGHT
        title = _broken(fonts.title, table.title(entry), wide - (18 if table.held(entry) is not None else 0))
        result = _broken(fonts.small, word, wide - _SIGN)
        news = change.words if change is not None else ""
        last = fonts.small.metrics.horizontalAdvance(result[-1]) + _APART if result else 0.0
        beside = last + fonts.change.metrics.horizontalAdvance(news) <= wide - _SIGN
        why = self.columnWidth(WHY)
        return RowWords(
            title, result, (news,) if beside and news else _broken(fonts.change, news, wide - _SIGN),
            _broken(fonts.reason, table.reason(entry), why - 10),
            _broken(fonts.small, table.fix(entry), why - 10 - _BUTTON), beside,
        )  # fmt: skip

    def _grow(self, first: Index, last: Index) -> None:
        """Rows say other things: the chosen one stays in sight as it was."""
        chosen, across = self.currentIndex(), self.horizontalScrollBar().value()
        seen = chosen.isValid() and self.visualRect(chosen).intersects(self.viewport().rect())
        self._fit(range(first.row(), last.row() + 1))
        if seen:
            super().scrollTo(chosen)
            self.horizontalScrollBar().setValue(across)

    def fit(self) -> None:
        """Each row in sight is as high as its words need; the others when they come into sight."""
        self._fit(range(self.table.rowCount()))

    def _fit(self, rows: range) -> None:
        """The same for those of these rows that are in sight."""
        if self._fitting:
            return
        self._fitting = True  # other heights scroll the rows
        row, down, room = max(self.rowAt(0), 0), self.verticalHeader(), self.viewport().height()
        top = self.rowViewportPosition(row)
        while row < self.table.rowCount() and top < room:
            if row in rows and (high := self.fonts.height(self.words(row))) != self.rowHeight(row):
                down.resizeSection(row, high)
            row, top = row + 1, top + self.rowHeight(row)
        self.updateGeometries()  # who scrolls now needs the new range, for which Qt would wait
        self._fitting = False
        self.verticalHeader().viewport().update()

    def scrollTo(self, index: Index, hint: QTableView.ScrollHint = QTableView.ScrollHint.EnsureVisible) -> None:
        """Qt: rows that come into sight get their heights; a reason stays in sight while nobody walks over marks."""
        if not self.hasFocus() and not self.table.unfolded:
            index = self.table.index(index.row(), WHY)
        super().scrollTo(index, hint)
        self.fit()
        super().scrollTo(index, hint)

    # ---- inside -----------------------------------------------------------------------------------------------------

    def _make(self, row: int) -> None:
        entry = self.table.entry(row)
        if entry is not None:
            self.fix_wanted.emit(entry)

    def _button_at(self, place: QPointF) -> int:
        row = self.rowAt(round(place.y()))
        return row if row >= 0 and self.button(row).contains(QPoint(round(place.x()), round(place.y()))) else -1

    def _keep_last(self) -> None:
        if self._watching:
            bar = self.horizontalScrollBar()
            bar.setValue(bar.maximum())

    def _choose_row(self, row: int) -> None:
        self.setCurrentIndex(self.table.index(row, WHY))
        self.setFocus()

    def _fold(self, section: int) -> None:
        phase = self.table.phase(section)
        if phase is not None:
            self.fold_wanted.emit(phase)

    def _size(self) -> None:
        """Everything by the font, and the reason with what the others leave."""
        font = self.font()
        if self.fonts.font != font:
            self.fonts = RowFonts(font)
        em = QFontMetricsF(font).averageCharWidth()
        across, down = self.horizontalHeader(), self.verticalHeader()
        down.setDefaultSectionSize(row_height(font))
        # By the width of the whole view: the viewport's own changes with that of the titles.
        bold = QFontMetricsF(scaled(font, 1.0, bold=True))
        shown = (self.table.entry(row) for row in range(min(self.table.rowCount(), MEASURED)))
        longest = max((bold.horizontalAdvance(self.table.title(each)) for each in shown if each is not None), default=0)
        marks, tokens = cell_width(font), math.ceil(self.fonts.reason.metrics.horizontalAdvance("00,000")) + 9
        columns: Sequence[int] = range(2, self.table.columnCount())
        bar = self.verticalScrollBar().sizeHint().width()
        others = tokens + marks * len(columns) + bar + 2 * self.frameWidth() + 1
        folded = len(columns) - self.table.is_there(columns[-1]) <= len(PHASES) if columns else True
        least, enough = round((13 if folded else 24) * em), round(16 * em)
        room = self.width() - others
        crowded = room - least < enough  # words are read before numbers
        self.setColumnHidden(TOKENS, crowded)
        room += tokens * crowded
        widest = min(round(self.width() * 0.36), max(enough, room // 2), room - least)
        titles = max(round(11 * em), min(round(longest) + 16, widest))
        if titles != down.maximumWidth():
            down.setFixedWidth(titles)
        why = max(least, room - titles)
        for column in range(self.table.columnCount()):
            across.resizeSection(column, why if column == WHY else tokens if column == TOKENS else marks)
        self.phases.leave_room(self.height())
        across.updateGeometry()
        self.updateGeometries()
        self.fit()
