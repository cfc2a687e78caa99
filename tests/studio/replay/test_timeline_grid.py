"""Entries by turns as one array: rows, their order, and what stands for several columns."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lorestudio.studio.replay.timeline_grid import RowOrder, TimelineGrid
from lorestudio.trace.journey import FateState
from lorestudio.trace.model import Phase
from lorestudio.trace.timeline import Ending, TurnSummary

IN = Ending(FateState.INJECTED, Phase.BUDGET, "fits")
CUT = Ending(FateState.REMOVED, Phase.BUDGET, "behind_cut")
REFUSED = Ending(FateState.REFUSED, Phase.MATCH, "probability_lost")
NAMES = {0: ("b", "Zoe"), 1: ("a", "Yew"), 2: ("a", "ash"), 3: ("", "Oak")}


def turn(**endings: Ending) -> TurnSummary:
    found = {int(name[1:]): ending for name, ending in endings.items()}
    return TurnSummary(0, 0, None, MappingProxyType(found), {})


def grid(*turns: TurnSummary) -> TimelineGrid:
    made = TimelineGrid(len(turns))
    for column, summary in enumerate(turns):
        made.put(column, summary)
    return made


def entries(made: TimelineGrid, order: RowOrder, **more: Any) -> list[int]:
    return [made.entries[row] for row in made.rows(order, NAMES.__getitem__, **more)]


STORY = (turn(e0=CUT, e1=IN), turn(e2=IN, e0=IN, e3=REFUSED), turn(e2=IN, e1=CUT))


def test_cells_say_how_a_run_ended() -> None:
    made = grid(*STORY)
    row = made.entries.index(0)
    assert [made.ending(row, column) for column in range(3)] == [CUT, IN, None]


def test_an_entry_that_was_only_refused_has_no_row_to_show() -> None:
    assert 3 not in entries(grid(*STORY), RowOrder.TITLE)


def test_orders() -> None:
    made = grid(*STORY)
    assert entries(made, RowOrder.TITLE) == [2, 1, 0]
    assert entries(made, RowOrder.FOLDER) == [2, 1, 0]
    # 1 went in in the first turn; 0 and 2 in the second, of which 2 went in more often
    assert entries(made, RowOrder.FIRST) == [1, 2, 0]
    assert entries(made, RowOrder.OFTEN) == [2, 1, 0]


def test_only_some_columns_count() -> None:
    made = grid(*STORY)
    assert entries(made, RowOrder.TITLE, columns=[2]) == [2, 1]
    assert entries(made, RowOrder.TITLE, columns=[2], only_injected=True) == [2]
    assert entries(made, RowOrder.TITLE, columns=[]) == []


def test_a_turn_that_was_run_again_replaces_what_was_there() -> None:
    made = grid(*STORY)
    made.put(1, turn(e1=IN))
    assert entries(made, RowOrder.OFTEN) == [1, 2, 0]
    made.drop(1)
    assert not made.known[1]
    assert made.ending(made.entries.index(0), 1) is None


def test_more_rows_than_there_was_room_for() -> None:
    made = TimelineGrid(2)
    many = MappingProxyType(dict.fromkeys(range(1000), IN))
    made.put(1, TurnSummary(0, 0, None, many, {}))
    assert made.codes.shape == (1000, 2)
    assert int(made.injected().sum()) == 1000


def test_what_matters_most_stands_for_several_columns() -> None:
    made = grid(turn(e0=REFUSED), turn(e0=IN), turn(e0=CUT), turn(e0=REFUSED))
    picture = made.picture([0], range(4), 2)
    assert [made.endings[code - 1] for code in picture[0]] == [IN, CUT]
    assert made.picture([0], range(4), 4).shape == (1, 4)


def test_without_rows_there_is_an_empty_picture() -> None:
    assert TimelineGrid(3).picture([], range(3), 2).size == 0
    assert TimelineGrid(0).rows(RowOrder.FIRST, NAMES.__getitem__) == ()


@given(st.lists(st.booleans(), min_size=1, max_size=40), st.integers(1, 50))
def test_an_entry_that_went_in_is_seen_from_any_distance(went_in: list[bool], width: int) -> None:
    made = grid(*(turn(e0=IN) if each else turn(e0=CUT) for each in went_in))
    picture = made.picture([0], range(len(went_in)), width)
    code = made.endings.index(IN) + 1 if IN in made.endings else -1
    assert bool(np.any(picture == code)) == any(went_in)
    assert picture.shape[1] <= max(width, len(went_in))


def test_a_chat_that_goes_on_has_more_columns_and_keeps_those_before() -> None:
    made = grid(*STORY)
    made.go_on(2, 4)
    assert made.known.tolist() == [True, True, False, False]
    assert [[made.ending(row, column) for column in range(4)] for row in range(3)] == [
        [CUT, IN, None, None], [IN, None, None, None], [None, IN, None, None],
    ]  # fmt: skip
    made.put(3, turn(e2=CUT, e3=IN))
    assert made.ending(2, 3) == CUT
    assert entries(made, RowOrder.FIRST) == [1, 2, 0, 3]
