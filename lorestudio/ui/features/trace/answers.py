"""The answers of a run: an entry a row with what became of it and why, its tokens, a mark for each phase, and a fix.

Entry and result stay in sight while the rest scrolls. A phase unfolds into its stages. What a change of the vault, the
settings or the chat has changed stands in the rows until the next one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from msgspec import Struct
from PySide6.QtCore import QObject, Qt

from lorestudio.domain.entry import NoteKey, VaultIndex
from lorestudio.domain.texts import comparable
from lorestudio.studio.verify.agreement import ComparedReply, WentIn
from lorestudio.systems.ideas import Change
from lorestudio.trace.diff import EntryChange, TraceDiff, injections_by_key
from lorestudio.trace.explain import explain_stage
from lorestudio.trace.held_run import WouldAlso, WouldCell
from lorestudio.trace.journey import (
    PHASES,
    CellState,
    JourneyCell,
    Journeys,
    counted_in,
    explain_cell,
    phase_cell,
    phase_of,
)
from lorestudio.trace.model import Phase, StageRecord, StageStatus, Trace
from lorestudio.trace.wording import ordinal
from lorestudio.ui.shell.qt import (
    ACCESSIBLE_DESCRIPTION,
    ACCESSIBLE_TEXT,
    DISPLAY,
    HELD,
    HORIZONTAL,
    ITEM,
    MARK,
    NO_INDEX,
    TOOLTIP,
    Index,
    plain,
)
from lorestudio.ui.shell.words import count, number, sentence_case, tr
from lorestudio.ui.state.ai_calls import failures
from lorestudio.ui.state.expected import ExpectedMark
from lorestudio.ui.widgets.cells import Column
from lorestudio.ui.widgets.paint import BLANK, BROKEN, DECIDING, Mark, cell_mark, fate_mark, would_mark
from lorestudio.ui.widgets.record_table import RecordTable

WHY: Final = 0
TOKENS: Final = 1
"""The columns before those of the phases."""

_UNREACHED: Final = frozenset({CellState.NOT_REACHED, CellState.ABSENT})
"""Cells that have room for what would have been."""


class RowChange(Struct, frozen=True):
    """What the last change has done to an entry, in words of a tone of the palette."""

    words: str
    tone: str


def row_changes(diff: TraceDiff) -> dict[NoteKey, RowChange]:
    """What each entry's row says of the difference between two runs."""
    places = {key: place for place, key in enumerate(injections_by_key(diff.after), start=1)}
    found: dict[NoteKey, RowChange] = {}
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
    return tr("{grown} tokens", grown=f"{'+' if change.growth >= 0 else '−'}{number(abs(change.growth))}")


_RECORDED: Final = {
    WentIn.BOTH: Mark("check", "green", "in both"),
    WentIn.THERE: Mark("plus", "orange", "only recorded"),
    WentIn.HERE: Mark("minus", "purple", "only in the run"),
    WentIn.TOKENS: Mark("tilde", "yellow", "other tokens recorded"),
}


def recorded_marks(reply: ComparedReply) -> dict[int, tuple[Mark, str]]:
    """What was recorded of each entry of a reply: a mark, and a sentence."""
    return {
        each.entry: (_RECORDED[each.where], f"{sentence_case(tr(each.where.value))}: {each.words}")
        for each in reply.entries
        if each.entry is not None
    }


class AnswerTable(RecordTable):
    """Why, tokens, then a column for each phase, or for each stage of a phase that is unfolded. A row is an entry's id.

    The row header is the entry with what became of it. Cells are worked out when first shown. `trace` is the run that
    is shown.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__((), key=int, entry=int, parent=parent)
        self.trace: Trace | None = None
        self.unfolded: frozenset[Phase] = frozenset()
        self._index: VaultIndex | None = None
        self._candidates: list[int] = []
        self._shown: list[tuple[Phase, int | None]] = []  # the columns of phases, with the place of a single stage
        self._journey_cells: dict[int, tuple[JourneyCell, ...]] = {}
        self._reasons: dict[int, str] = {}
        self._journeys: Journeys | None = None
        self._wanted = ""
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

    def set_trace(
        self,
        trace: Trace | None,
        index: VaultIndex | None = None,
        running: str = "",
        journeys: Journeys | None = None,
        changes: Mapping[NoteKey, RowChange] | None = None,
    ) -> None:
        """Show another run; `index` names the entries that no stage decided about.

        `journeys` is the same trace, where it was read already. `running` is the stage of a run under way that has not
        decided yet; it is the last one. `changes` are those against the run before the last change.
        """
        self._failed = dict(failures(trace)) if trace is not None else {}
        self.trace, self._index, self._running = trace, index, running
        self._journey_cells, self._reasons, self._would, self._fixes = {}, {}, {}, {}
        self._journeys = (journeys or Journeys(trace)) if trace is not None else None
        self._changes = self._numbered(changes or {})
        rows = self._journeys.rows if self._journeys is not None else ()
        self._candidates = list(dict.fromkeys((*rows, *self._changes)))
        self._arrange()

    def set_there(self, there: Mapping[int, tuple[Mark, str]] | None) -> None:
        """Show in a last column what was recorded of the entries, a mark and a sentence each; None for no column."""
        if there != self._there:
            self._there = there
            self._arrange()

    def unfold(self, phases: frozenset[Phase]) -> None:
        """These phases have a column for each of their stages, the others one for all of them."""
        if phases != self.unfolded:
            self.unfolded = phases
            self._arrange()

    def set_filter(self, text: str) -> None:
        """Show only entries whose title, result or reason contains `text`."""
        self._wanted = comparable(text).strip()
        self.show_only(self._is_shown)

    def set_only(self, entries: frozenset[int] | None) -> None:
        """Show only these entries, None for all."""
        if entries != self._only:
            self._only = entries
            self.show_only(self._is_shown)

    def set_guest(self, entry: int | None) -> None:
        """The chosen entry has a row even where it never came into question."""
        guest = entry if self.trace is not None and entry not in self._candidates else None
        if guest != self._guest:
            last = len(self.rows) - 1
            if self._guest is not None and self.place_of(self._guest) == last:  # all others stay as they are
                self.beginRemoveRows(NO_INDEX, last, last)
                self.rows = self.rows[:last]
                self._number()
                self.endRemoveRows()
            self._guest = guest
            self.set_rows([*self._candidates, *([guest] if guest is not None else [])])

    def set_would(self, entry: int, would: WouldAlso) -> bool:
        """Show what the stages behind the one that stopped the entry would have done; returns whether that is news."""
        news = self._would.get(entry) is not would
        if news:
            self._would[entry] = would
            self.touch(entry)
        return news

    def set_fix(self, entry: int, change: Change) -> None:
        """Offer a change that was tried as a button."""
        if self._fixes.get(entry) is not change:
            self._fixes[entry] = change
            self.touch(entry)

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
        found: int | None = self.row(row)
        return found

    def phase(self, column: int) -> Phase | None:
        """The phase of a column, None for those before them."""
        return self._shown[column - 2][0] if TOKENS < column < len(self._shown) + 2 else None

    def stage(self, column: int) -> StageRecord | None:
        """The stage of a column, None where the column is none of a single stage."""
        place = self._shown[column - 2][1] if self.phase(column) is not None else None
        return self.trace.stages[place] if self.trace is not None and place is not None else None

    def stage_column(self, stage: str | None) -> int:
        """The column of a stage, that of its phase where that is folded; the first one where it has none."""
        record = self.trace.stage(stage) if self.trace is not None and stage else None
        for column in range(2, self.columnCount()):
            own = self.stage(column)
            if record is not None and (own is record or (own is None and self.phase(column) is phase_of(record))):
                return column
        return WHY

    def stage_at(self, row: int, column: int) -> str | None:
        """The name of the stage that a cell is about, None for the columns before the phases."""
        entry, record, phase = self.entry(row), self.stage(column), self.phase(column)
        if record is not None or entry is None or phase is None:
            return record.name if record is not None else None
        return self._phase_cell(entry, phase)[0].stage or None

    @property
    def candidates(self) -> int:
        """How many entries came into question."""
        return len(self._candidates)

    def data(self, index: Index, role: int = DISPLAY) -> object:
        """Qt: marks to draw, and the same in words; what tells more of a cell than its own words describes it."""
        if role == ACCESSIBLE_DESCRIPTION and index.column() != TOKENS:
            tip, entry = self.columns[index.column()].tip, self.entry(index.row())
            return tip(entry) if tip is not None and entry is not None else None
        return super().data(index, role)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = DISPLAY) -> object:
        """Qt: what the columns are about across, entries down."""
        if self.trace is None:
            return None
        across = orientation == HORIZONTAL
        told = self._column_header(self.trace, section, role) if across else self._row_header(section, role)
        return plain(told) if role == TOOLTIP and isinstance(told, str) else told

    # ---- what is read off an entry ----------------------------------------------------------------------------------

    def title(self, entry: int) -> str:
        """What an entry is called."""
        ref = self.trace.entries.get(entry) if self.trace is not None else None
        if ref is not None:
            return ref.title
        entries = self._index.entries if self._index is not None else ()
        return entries[entry].title if entry < len(entries) else tr("entry {entry}", entry=entry)

    def cell(self, entry: int, stage: int) -> JourneyCell:
        """What the stage at index `stage` of the run did with an entry."""
        if entry not in self._journey_cells and self._journeys is not None:
            self._journey_cells[entry] = self._journeys.cells(entry)
        return self._journey_cells[entry][stage]

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

    def is_there(self, column: int) -> bool:
        """Whether a column says what was recorded."""
        return column == len(self._shown) + 2

    def _phase_cell(self, entry: int, phase: Phase) -> tuple[JourneyCell, WouldCell | None]:
        """What a folded phase was to an entry, or would have been."""
        stages = self.trace.stages if self.trace is not None else ()
        self.cell(entry, 0)
        cell = phase_cell(phase, self._journey_cells[entry], stages)
        if cell.state not in _UNREACHED:
            return cell, None
        own = [self.would(entry, record.name) for record in stages if phase_of(record) is phase]
        known = [would for would in own if would is not None]
        would = next((each for each in known if each.sentence), known[-1] if known else None)
        return (JourneyCell(would.stage, cell.state), would) if would is not None else (cell, None)

    def _why_spoken(self, entry: int) -> str:
        offer = tr("Enter: {fix}", fix=self.fix(entry)) if self.fix(entry) else ""
        return ". ".join(filter(None, (self._row_words(entry), self.reason(entry), offer)))

    def _why_told(self, entry: int) -> str:
        known, fix = self._would.get(entry), self._fixes.get(entry)
        sentence = self._journeys.told(entry).sentence if self._journeys is not None else ""
        later = [f"{sentence_case(each)}." for each in known.sentences] if known is not None else []
        tried = [tr("Tried, and it goes in (Enter): {fix}", fix=fix.title)] if fix is not None else []
        return "\n".join([sentence, *later, *tried])

    def _tokens_told(self, entry: int) -> str:
        taken, whole = self.tokens(entry)
        if whole is None:
            return count(taken, "token", "tokens")
        return tr("{taken} of {whole}", taken=number(taken), whole=count(whole, "token", "tokens"))

    def _recorded(self, entry: int) -> tuple[Mark, str]:
        return (self._there or {}).get(entry, (BLANK, tr("Not recorded.")))

    def _row_words(self, entry: int, between: str = ": ") -> str:
        """An entry with what became of it."""
        change, held = self.change(entry), self.held(entry)
        parts = [tr(self.result(entry).word), change.words if change is not None else ""]
        parts += [held.words] if held is not None else []
        return f"{self.title(entry)}{between}{', '.join(filter(None, parts))}"

    # ---- columns ----------------------------------------------------------------------------------------------------

    def _mark_column(self, trace: Trace, phase: Phase, place: int | None) -> Column:
        """What the stage at a place did with entries, or without a place the stage of the phase that says most."""

        def seen(entry: int) -> tuple[StageRecord | None, JourneyCell, WouldCell | None]:
            if place is None:
                cell, would = self._phase_cell(entry, phase)
                return trace.stage(cell.stage), cell, would
            record, cell = trace.stages[place], self.cell(entry, place)
            return record, cell, self.would(entry, record.name) if cell.state in _UNREACHED else None

        def mark(entry: int) -> Mark:
            record, cell, would = seen(entry)
            if record is None:
                return BLANK
            if record is self._undecided and entry in record.left:
                return DECIDING
            return would_mark(would) if would is not None else cell_mark(cell, counted_in(trace, record, cell.verdict))

        def told(entry: int) -> str:
            record, cell, would = seen(entry)
            if record is None:
                return ""
            if mark(entry) is DECIDING:
                return tr("{stage}: running; it has not decided yet.", stage=record.name)
            passes = would.sentence or tr("would let it pass") if would is not None else ""
            return f"{record.name}: {passes or cell_sentence(trace, entry, record, cell)}"

        def words(entry: int) -> str:
            return "" if seen(entry)[0] is None else tr(mark(entry).word)

        def spoken(entry: int) -> str:
            word = words(entry)
            return tr("{title}, {stage}: {word}", title=self.title(entry), stage=name, word=word) if word else ""

        name = tr(phase.value) if place is None else trace.stages[place].name
        return Column(name, words, mark=mark, spoken=spoken, tip=told)

    def _arrange(self) -> None:
        """Show the rows and columns of the run as it is to be seen now."""
        trace, self._guest, self._shown = self.trace, None, []
        for phase in PHASES if trace is not None else ():
            own = [place for place, record in enumerate(trace.stages) if phase_of(record) is phase] if trace else []
            if own:
                self._shown += [(phase, place) for place in own] if phase in self.unfolded else [(phase, None)]
        columns: list[Column] = []
        if trace is not None:
            columns = [
                Column("Why", self.reason, mark=self.result, spoken=self._why_spoken, tip=self._why_told),
                Column(
                    "Tokens", lambda entry: number(self.tokens(entry)[0]), tip=self._tokens_told,
                    spoken=lambda entry: f"{self.title(entry)}: {self._tokens_told(entry)}",
                ),
                *(self._mark_column(trace, *each) for each in self._shown),
            ]  # fmt: skip
        if trace is not None and self._there is not None:
            columns.append(Column(
                "Recorded", lambda entry: tr(self._recorded(entry)[0].word),
                mark=lambda entry: self._recorded(entry)[0],
                spoken=lambda entry: f"{self.title(entry)}: {self._recorded(entry)[1]}",
                tip=lambda entry: self._recorded(entry)[1],
            ))  # fmt: skip
        self.set_rows(self._candidates, columns)

    def _is_shown(self, entry: int) -> bool:
        if entry == self._guest:  # filters are about what came into question
            return self._only is None and not self._wanted
        if self._only is not None and entry not in self._only:
            return False
        return not self._wanted or self._wanted in comparable(f"{self._row_words(entry)}\n{self.reason(entry)}")

    def _column_header(self, trace: Trace, section: int, role: int) -> object:
        record, phase = self.stage(section), self.phase(section)
        if record is not None:
            return self._stage_header(trace, record, role)
        if phase is not None:
            return self._phase_header(trace, phase, role)
        return self._cells.heading(section, role) if role in {DISPLAY, ACCESSIBLE_TEXT} else None

    def _phase_header(self, trace: Trace, phase: Phase, role: int) -> object:
        own, name = [each for each in trace.stages if phase_of(each) is phase], sentence_case(tr(phase.value))
        if role == DISPLAY:
            return name
        if role == ACCESSIBLE_TEXT:
            return tr("{phase}: {stages}, folded", phase=name, stages=count(len(own), "stage", "stages"))
        if role == MARK:
            return next(filter(None, map(self._sign, reversed(own))), None)
        if role == TOOLTIP:
            told = (f"{each.name}: {self._failed.get(each.name) or explain_stage(each, trace)}"
                    for each in own if not self.is_quiet(each))  # fmt: skip
            return "\n".join([tr("{phase}: a click unfolds its stages (Space; Q all)", phase=name), *told])
        return None

    def _stage_header(self, trace: Trace, record: StageRecord, role: int) -> object:
        if role in {DISPLAY, ACCESSIBLE_TEXT}:
            return record.name
        if role == MARK:
            return self._sign(record)
        if role == TOOLTIP:
            if record is self._undecided:
                return tr("{stage}\nThis stage is running.", stage=record.name)
            quiet = tr("{stage} (quiet: it decided nothing)", stage=record.name)
            name = quiet if self.is_quiet(record) else record.name
            return f"{name}\n{self._failed.get(record.name) or explain_stage(record, trace)}"
        return None

    def _sign(self, record: StageRecord) -> Mark | None:
        """That a stage runs, which the last one may do, or has failed."""
        if record is self._undecided:
            return DECIDING
        return BROKEN if record.name in self._failed else None

    @property
    def _undecided(self) -> StageRecord | None:
        """The stage that runs."""
        stages = self.trace.stages if self.trace is not None else ()
        return stages[-1] if self._running and stages else None

    def _row_header(self, section: int, role: int) -> object:
        entry = self.entry(section)
        read: dict[int, Callable[[int], object]] = {
            DISPLAY: self.title, ACCESSIBLE_TEXT: self._row_words, MARK: self.result, ITEM: self.change,
            HELD: self.held, TOOLTIP: lambda entry: self._row_words(entry, "\n"),
        }  # fmt: skip
        return read[role](entry) if entry is not None and role in read else None

    def _numbered(self, changes: Mapping[NoteKey, RowChange]) -> dict[int, RowChange]:
        """The changes by the entries of this run, also those that only the vault knows."""
        if not changes or self.trace is None:
            return {}
        known: dict[NoteKey, int] = {}
        if self._index is not None:
            known = {note.note_key: note.id for note in self._index.entries}
        known |= {ref.note_key: ref.id for ref in self.trace.entries.values()}
        return {known[key]: change for key, change in changes.items() if key in known}


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
