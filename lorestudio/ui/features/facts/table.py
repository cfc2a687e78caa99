"""The list of memories: its columns with their words, and putting rows in order and through a filter."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from operator import attrgetter
from typing import Final

from PySide6.QtCore import QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from lorestudio.domain.texts import shorten
from lorestudio.studio.project.answering import AnswerKind, Source
from lorestudio.systems.facts.picture import MemoryRow
from lorestudio.trace.wording import time_words
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import count, tr
from lorestudio.ui.state.choices import source_title
from lorestudio.ui.widgets.cells import Column
from lorestudio.ui.widgets.record_table import RecordTable, RecordView
from lorestudio.ui.widgets.record_table import as_markdown as table_markdown

TEXT, SIMILARITY, STATE, WHEN, USES, TAGS = range(6)

ORDERS: Final = {
    WHEN: "Newest first", TEXT: "By text", TAGS: "By tags", STATE: "Pinned first", USES: "Most used first",
    SIMILARITY: "Most similar first",
}  # fmt: skip
"""The columns that the list can be ordered by, with the words of their usual direction."""

_ROOM: Final = ((TAGS, 560), (USES, 420), (STATE, 340), (WHEN, 250))
"""A view narrower than this (device-independent pixels) goes without the column, so that texts can be read."""


def usual_direction(column: int) -> bool:
    """Whether a column is first ordered from the greatest down."""
    return column not in {TEXT, TAGS}


def day_words(moment: int | None) -> str:
    """The day of a moment on this computer's calendar, "" where it is not known."""
    return time_words(moment, "%Y-%m-%d")


def state_words(row: MemoryRow) -> str:
    """What is to be known of a memory at a glance."""
    told = [tr("pinned")] if row.memory.pinned else []
    if row.stale:
        told.append(tr("stale"))
    return ", ".join(told)


def _icon(row: MemoryRow) -> tuple[str, str] | None:
    if row.stale:
        return "warning", "warning"
    return ("star", "accent") if row.memory.pinned else None


class MemoryTable(RecordTable):
    """The memories as they are listed. By ids, `scores` are those of a search, and `uses` in how many replies of the
    run they went; None where no run of fact memory is shown.
    """

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        self.scores: Mapping[str, float] = {}
        self.uses: Mapping[str, int] | None = None
        columns = (
            Column("Memory", lambda row: shorten(row.memory.content, 300), icon=_icon, spoken=_spoken,
                   sort=attrgetter("folded")),
            Column("Similarity", self._score, width=92, numeric=True, sort=lambda row: self.scores.get(row.id, -2.0)),
            Column("State", state_words, width=84, tone=lambda row: "warning" if row.stale else "",
                   sort=attrgetter("rank")),
            Column("When", lambda row: day_words(row.memory.created_at), width=88, sort=attrgetter("at")),
            Column("Used", lambda row: str(self._used(row)), width=52, numeric=True,
                   spoken=lambda row: tr("used in {replies}", replies=count(self._used(row), "reply", "replies")),
                   sort=self._used),
            Column("Tags", lambda row: row.tags, width=130, sort=attrgetter("tags")),
        )  # fmt: skip
        super().__init__(
            columns, theme=theme, key=attrgetter("id"), tip=self._say, text=attrgetter("folded"), parent=parent
        )

    def _score(self, row: MemoryRow) -> str:
        score = self.scores.get(row.id)
        return "" if score is None else f"{score:.3f}"

    def _used(self, row: MemoryRow) -> int:
        return self.uses.get(row.id, 0) if self.uses is not None else 0

    def _say(self, row: MemoryRow, _column: Column) -> str:
        told = [row.memory.content]
        if row.stale:
            told.append(tr("Its vector was made by another model, or is missing: it takes no part in searches."))
        return "\n\n".join(told)


def _spoken(row: MemoryRow) -> str:
    """The text, with what its icon says: the column of states may be hidden."""
    state = state_words(row)
    text = shorten(row.memory.content, 300)
    return f"{text} ({state})" if state else text


class MemoryView(RecordView):
    """The list. A narrow one goes without the lesser columns."""

    def __init__(self, theme: Theme, model: MemoryTable, parent: QWidget) -> None:
        super().__init__(theme, model, tr("Memories"), parent)
        self._without: Collection[int] = ()
        head = self.horizontalHeader()
        head.setSectionsClickable(True)
        head.setSortIndicatorShown(True)
        head.setMinimumSectionSize(40)
        self.setMinimumHeight(self.fontMetrics().lineSpacing() * 3)
        self._fit()

    def go_without(self, columns: Collection[int]) -> None:
        """Show the other columns, as far as there is room."""
        self._without = columns
        self._fit()

    def sizeHint(self) -> QSize:
        """Qt: a few rows."""
        return QSize(300, 200)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: more or less room for columns."""
        self._fit()
        super().resizeEvent(event)

    def _fit(self) -> None:
        scored = SIMILARITY not in self._without
        self.setColumnHidden(SIMILARITY, not scored)
        room = self.width() - (self.columnWidth(SIMILARITY) if scored else 0)
        for column, least in _ROOM:
            self.setColumnHidden(column, room < least or column in self._without)


def spoken_source(source: Source) -> str:
    """The same in full."""
    if source.kind is AnswerKind.STAND_IN:
        return tr("Plain rules, offline, without a model: they take sentences with words such as “I” and “my”")
    return source_title(source)


def as_markdown(rows: Sequence[MemoryRow]) -> str:
    """The memories as a table in Markdown."""
    found = [[tr(head) for head in ("Memory", "Tags", "Pinned", "When", "Messages")]]
    for row in rows:
        memory, origin = row.memory, row.memory.origin
        where = f"#{origin.first} to #{origin.last}" if origin.first is not None else ""
        pinned = tr("yes") if memory.pinned else ""
        found.append([memory.content, row.tags, pinned, day_words(memory.created_at), where])
    return table_markdown(found)
