"""What a heat map shows: rows of entries, columns of turns, and for each cell how it ends and how that looks."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from copy import deepcopy
from functools import cached_property

from msgspec import Struct, field

from lorestudio.domain.chat import Generation
from lorestudio.domain.entry import VaultIndex
from lorestudio.domain.records import Terse, replace
from lorestudio.studio.replay.timeline import TimelineTurn
from lorestudio.studio.replay.timeline_grid import RowOrder, TimelineGrid
from lorestudio.trace.timeline import Ending
from lorestudio.ui.shell.words import count, tr
from lorestudio.ui.widgets.paint import BLANK, Mark, fate_mark


class Shown(Struct, frozen=True):
    """What of a timeline is shown: the order of rows, all swipes or one for each reply, only what went in.

    `part` is the first and the last reply of those that are shown, None for the whole chat.
    """

    order: RowOrder = RowOrder.FIRST
    swipes: bool = False
    only_injected: bool = False
    part: tuple[Generation, Generation] | None = None


class MapContent(Terse, frozen=True, dict=True):
    """`rows` are rows of the grid and `generations` its columns, both in the order in which they are drawn."""

    unprinted = ("grid",)

    grid: TimelineGrid = field(default_factory=lambda: TimelineGrid(0))
    rows: tuple[int, ...] = ()
    generations: tuple[Generation, ...] = ()
    columns: tuple[int, ...] = ()
    titles: tuple[str, ...] = ()
    turns: tuple[TimelineTurn | None, ...] = ()
    swiped: frozenset[int] = frozenset()
    """Messages that have several swipes."""
    last: int = -1
    """The message that is the reply to come."""

    @cached_property
    def marks(self) -> tuple[Mark, ...]:
        """How each code of the grid looks; 0 is a cell of which the run says nothing."""
        return (BLANK, *(fate_mark(ending.as_fate(0)) for ending in self.grid.endings))

    def as_now(self) -> MapContent:
        """The same, whose cells stay as they are now while more runs come in: for other threads."""
        return replace(self, grid=deepcopy(self.grid))

    def entry(self, row: int) -> int | None:
        """The entry of a drawn row."""
        return self.grid.entries[self.rows[row]] if 0 <= row < len(self.rows) else None

    def row_of(self, entry: int | None) -> int:
        """The drawn row of an entry, -1 where it is not shown."""
        return self._places.get(entry, -1) if entry is not None else -1

    @cached_property
    def _places(self) -> dict[int, int]:
        return {self.grid.entries[row]: place for place, row in enumerate(self.rows)}

    def column_of(self, generation: Generation | None) -> int:
        """The drawn column of a generation, or that of its reply; -1 where neither is shown."""
        if generation is None:
            return -1
        return self._own.get(generation, self._of_message.get(generation.message, -1))

    @cached_property
    def _own(self) -> dict[Generation, int]:
        return {generation: place for place, generation in enumerate(self.generations)}

    @cached_property
    def _of_message(self) -> dict[int, int]:
        return {generation.message: place for place, generation in enumerate(self.generations)}

    def ending(self, row: int, column: int) -> Ending | None:
        """How the run of a drawn column ended for the entry of a drawn row."""
        return self.grid.ending(self.rows[row], self.columns[column])

    def filled(self, column: int) -> tuple[int, ...]:
        """The drawn rows whose entries went into a drawn column, or where none did, those that were candidates."""
        rows = range(len(self.rows) if 0 <= column < len(self.columns) else 0)
        there = {row: ending for row in rows if (ending := self.ending(row, column)) is not None}
        return tuple(row for row, ending in there.items() if ending.injected) or tuple(there)

    def label(self, column: int) -> str:
        """A column's name; see `label_of`."""
        return label_of(self.generations[column], self.swiped, self.last)

    def word(self, row: int, column: int) -> str:
        """A cell in a word or two."""
        if self.turns[column] is None:
            return tr("not run yet")
        ending = self.ending(row, column)
        if ending is None:
            return tr("not a candidate")
        return tr(fate_mark(ending.as_fate(0)).word)

    def describe(self, row: int, column: int) -> str:
        """A cell in a sentence, for tooltips and screen readers."""
        where = tr(
            "{title}, {reply}: {word}", title=self.titles[row], reply=self.label(column), word=self.word(row, column)
        )
        ending = self.ending(row, column)
        turn = self.turns[column]
        parts = [where]
        reason = turn.summary.words.reasons.get(ending.reason) if turn is not None and ending is not None else None
        if reason is not None and ending is not None and not ending.injected:
            parts.append(tr(reason.label))
        if turn is not None and ending is not None and ending.injected:
            entry = self.grid.entries[self.rows[row]]
            injection = next((each for each in turn.summary.injected.values() if each.entry == entry), None)
            if injection is not None:
                parts.append(count(injection.tokens, "token", "tokens"))
        return ". ".join(parts)

    def describe_column(self, column: int) -> str:
        """A column in a sentence."""
        turn = self.turns[column]
        if turn is None:
            return tr("{reply}: not run yet", reply=self.label(column))
        entries = count(len(turn.summary.injected), "entry", "entries")
        tokens = count(turn.summary.tokens, "token", "tokens")
        return tr("{reply}: {entries}, {tokens}", reply=self.label(column), entries=entries, tokens=tokens)


def label_of(generation: Generation, swiped: Collection[int], last: int) -> str:
    """`#12`, `#12 ‹2›` where the reply is one of those with several swipes, or that it is the reply to come."""
    if generation.message == last:
        return tr("next")
    swipe = f" ‹{generation.swipe + 1}›" if generation.message in swiped else ""
    return f"#{generation.message}{swipe}"


def shown_generations(
    generations: Sequence[Generation], line: Sequence[Generation], chosen: Generation | None, *, swipes: bool
) -> tuple[Generation, ...]:
    """The columns: all generations, or the `line` of the swipes that the chat went on from, with the one looked at."""
    if swipes:
        return tuple(generations)
    wanted = {generation.message: generation for generation in line}
    if chosen is not None and chosen.message in wanted and chosen in generations:
        wanted[chosen.message] = chosen
    return tuple(wanted.values())


def make_content(
    grid: TimelineGrid,
    columns: Mapping[Generation, int],
    turns: Mapping[Generation, TimelineTurn],
    generations: Sequence[Generation],
    index: VaultIndex,
    shown: Shown,
    swiped: frozenset[int],
    last: int,
) -> MapContent:
    """The map of these columns, of which only the wanted part is shown.

    Sorting hundreds of rows over thousands of columns takes some milliseconds.
    """
    strangers: dict[int, str] = {}
    for turn in turns.values():
        strangers.update(turn.summary.strangers)

    def name(entry: int) -> tuple[str, str]:
        known = index.entries[entry] if 0 <= entry < len(index.entries) else None
        return (known.folder or "", known.title) if known is not None else ("", strangers.get(entry, f"#{entry}"))

    if shown.part is not None:
        generations = [each for each in generations if shown.part[0] <= each <= shown.part[1]] or generations
    places = tuple(columns[generation] for generation in generations)
    rows = grid.rows(shown.order, name, places, only_injected=shown.only_injected)
    titles = tuple(name(grid.entries[row])[1] for row in rows)
    drawn = tuple(turns.get(generation) for generation in generations)
    return MapContent(grid, rows, tuple(generations), places, titles, drawn, swiped, last)
