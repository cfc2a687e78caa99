"""Entries by turns as one array of small numbers, so that thousands of turns can be drawn and sorted at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lorestudio.domain.texts import reading_order
from lorestudio.trace.journey import FateState
from lorestudio.trace.timeline import Ending, TurnSummary

NOTHING: Final = 0
"""The code of a cell where the run says nothing of the entry."""

_WEIGHT: Final = {
    FateState.REFUSED: 1,
    FateState.NEVER: 1,
    FateState.UNDECIDED: 2,
    FateState.REMOVED: 3,
    FateState.TRUNCATED: 4,
    FateState.INJECTED: 5,
}
"""Which of several outcomes is shown where they share a pixel: the highest."""


class RowOrder(StrEnum):
    """How rows are sorted."""

    FIRST = "first appearance"
    OFTEN = "how often"
    FOLDER = "folder"
    TITLE = "title"


class TimelineGrid:
    """`codes[row, column]` says how a run ended for an entry: 0 for nothing, else 1 + the index in `endings`.

    Rows come in the order in which entries turn up; `rows` gives them in the order wanted. Columns are as given.
    """

    def __init__(self, columns: int) -> None:
        self.entries: list[int] = []
        """The entry of each row."""
        self.endings: list[Ending] = []
        self.known = np.zeros(columns, dtype=bool)
        """Which columns have been filled."""
        self._row_of: dict[int, int] = {}
        self._code_of: dict[Ending, int] = {}
        self._codes: NDArray[np.uint8] = np.zeros((64, columns), dtype=np.uint8)

    @property
    def codes(self) -> NDArray[np.uint8]:
        """All cells; a view that grows with the rows."""
        return self._codes[: len(self.entries)]

    def put(self, column: int, summary: TurnSummary) -> None:
        """Fill one column, or fill it anew."""
        endings = summary.endings
        rows = np.fromiter((self._row(entry) for entry in endings), dtype=np.intp, count=len(endings))
        codes = np.fromiter((self._code(ending) for ending in endings.values()), dtype=np.uint8, count=len(endings))
        self._codes[:, column] = NOTHING
        self._codes[rows, column] = codes
        self.known[column] = True

    def drop(self, column: int) -> None:
        """Empty one column: it has no run any more."""
        self._codes[:, column] = NOTHING
        self.known[column] = False

    def go_on(self, kept: int, columns: int) -> None:
        """Have so many columns from now on, of which the first `kept` stay as they are."""
        codes, known = np.zeros((len(self._codes), columns), dtype=np.uint8), np.zeros(columns, dtype=bool)
        codes[:, :kept], known[:kept] = self._codes[:, :kept], self.known[:kept]
        self._codes, self.known = codes, known

    def _row(self, entry: int) -> int:
        row = self._row_of.get(entry)
        if row is None:
            row = self._row_of[entry] = len(self.entries)
            self.entries.append(entry)
            if row >= len(self._codes):
                self._codes = np.concatenate([self._codes, np.zeros_like(self._codes)])
        return row

    def _code(self, ending: Ending) -> int:
        code = self._code_of.get(ending)
        if code is None:
            self.endings.append(ending)
            # More kinds than a byte holds are drawn as the first one that they are alike to.
            alike = next((place for place, one in enumerate(self.endings) if one.state is ending.state), 0) + 1
            code = self._code_of[ending] = len(self.endings) if len(self.endings) <= 255 else alike
        return code

    def ending(self, row: int, column: int) -> Ending | None:
        """How a run ended for an entry, None where the run says nothing of it."""
        code = int(self._codes[row, column])
        return self.endings[code - 1] if code else None

    # ---- over rows --------------------------------------------------------------------------------------------------

    def injected(self, columns: Sequence[int] | None = None) -> NDArray[np.int64]:
        """How often each row's entry went in."""
        return self._often(self._told(self._of(columns), lambda ending: ending.injected))

    def candidates(self, columns: Sequence[int] | None = None) -> NDArray[np.int64]:
        """How often each row's entry went in or could have."""
        return self._often(self._told(self._of(columns), lambda ending: ending.candidate))

    def _of(self, columns: Sequence[int] | None) -> NDArray[np.uint8]:
        """The cells of these columns; of columns side by side without a copy."""
        if columns is None:
            return self.codes
        places = np.asarray(columns, dtype=np.intp)
        if len(places) and places[-1] - places[0] == len(places) - 1 and bool(np.all(np.diff(places) == 1)):
            return self.codes[:, places[0] : places[-1] + 1]
        return self.codes[:, places]

    def _told(self, codes: NDArray[np.uint8], value: Callable[[Ending], bool]) -> NDArray[np.bool_]:
        table = np.zeros(256, dtype=np.bool_)
        told = [False, *(value(ending) for ending in self.endings)][:256]
        table[: len(told)] = told
        # Bytes are looked up in bytes, without a number of eight bytes for each: ten times as quick.
        return np.frombuffer(codes.tobytes().translate(table.tobytes()), dtype=np.bool_).reshape(codes.shape)

    @staticmethod
    def _often(told: NDArray[np.bool_]) -> NDArray[np.int64]:
        found: NDArray[np.int64] = np.count_nonzero(told, axis=1).astype(np.int64)
        return found

    def rows(
        self,
        order: RowOrder,
        name: Callable[[int], tuple[str, str]],
        columns: Sequence[int] | None = None,
        *,
        only_injected: bool = False,
    ) -> tuple[int, ...]:
        """The rows to show, in order: those whose entry went in or was a candidate in one of `columns`.

        `name` gives an entry's folder and title, which also decide between equals.
        """
        codes = self._of(columns)
        went_in = self._told(codes, lambda ending: ending.injected)
        could = self._told(codes, lambda ending: ending.candidate)
        often = self._often(went_in)
        shown = np.flatnonzero(often if only_injected else could.any(axis=1))
        if not len(shown):
            return ()
        # the first turn that an entry went in; of one that never did, the first in which it could have
        first = np.where(often > 0, np.argmax(went_in, axis=1), np.argmax(could, axis=1))

        def key(row: int) -> tuple[object, ...]:
            folder, title = name(self.entries[row])
            if order is RowOrder.FOLDER:
                return reading_order(folder), reading_order(title), row
            if order is RowOrder.TITLE:
                return reading_order(title), reading_order(folder), row
            early = int(first[row])
            often_in = int(often[row])
            front = (-often_in, early) if order is RowOrder.OFTEN else (early, -often_in)
            return *front, reading_order(title), row

        return tuple(sorted((int(row) for row in shown), key=key))

    # ---- for drawing ------------------------------------------------------------------------------------------------

    def picture(self, rows: Sequence[int], columns: Sequence[int], width: int) -> NDArray[np.uint8]:
        """The codes of these rows and columns in at most `width` columns.

        Where several cells share one, the outcome that matters most stands for them (an entry that went in once is
        seen from any distance).
        """
        codes = np.take(self._of(columns), np.asarray(rows, dtype=np.intp), axis=0)
        across = codes.shape[1]
        if across <= width or not codes.size:
            return codes
        order = sorted(range(len(self.endings)), key=lambda place: _WEIGHT[self.endings[place].state])
        rank = np.zeros(256, dtype=np.uint8)
        back = np.zeros(256, dtype=np.uint8)
        for level, place in enumerate(order[:255], start=1):
            if place < 255:
                rank[place + 1], back[level] = level, place + 1
        ranks = np.maximum.reduceat(np.take(rank, codes), _starts(across, max(1, width)), axis=1)
        found: NDArray[np.uint8] = np.take(back, ranks)
        return found


def _starts(count: int, parts: int) -> NDArray[np.int64]:
    """Where each of so many parts of `count` things begins."""
    found: NDArray[np.int64] = (np.arange(parts, dtype=np.int64) * count) // parts
    return found
