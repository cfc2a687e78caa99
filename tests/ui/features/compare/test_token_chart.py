"""The chart of compared runs alone: its lines, its legend, walking through the turns, and what it says."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from PySide6.QtCore import QPoint, QSize, Qt
from pytestqt.qtbot import QtBot

from lorestudio.studio.compare.comparison import Comparison, PromptShare, TurnComparison
from lorestudio.trace.model import Turn
from lorestudio.ui.features.compare.token_chart import FILLS, TokenChart
from lorestudio.ui.shell.theme import Theme
from tests.ui.drawing import drawn, words_drawn

TOKENS = ((100, 0), (50, 200), (0, 10), (20, 20))


def comparison(tokens: tuple[tuple[int, ...], ...] = TOKENS) -> Comparison:
    nothing: frozenset[Any] = frozenset()
    turns = []
    for place, both in enumerate(tokens):
        shares = tuple(PromptShare((), each) for each in both)
        turns.append(TurnComparison(Turn(2 * place, 0, place), shares, nothing, (nothing,) * 2))
    return Comparison(("Old", "New"), tuple(turns), (), {}, ())


@pytest.fixture
def chart(theme: Theme, qtbot: QtBot) -> TokenChart:
    made = TokenChart(theme)
    qtbot.addWidget(made)
    made.resize(460, 200)  # 400 pixels for four turns
    made.set_comparison(comparison())
    made.show()
    return made


def lines(chart: TokenChart, theme: Theme, place: int) -> list[float]:
    """The box of a run's line: left, right, and how high it is."""
    color = theme.fill(FILLS[place])[0].name()
    box = next(each.box for each in drawn(chart) if each.kind == "polyline" and each.edge == color)
    return [round(box.left()), round(box.right()), round(box.height())]


def test_each_run_has_a_line_to_scale_and_a_name(chart: TokenChart, theme: Theme) -> None:
    words = words_drawn(chart)
    assert words[:5] == ["Old", "New", "0", "100", "200"]
    assert words[5:] == ["#0", "#2", "#4", "#6"]
    old, new = (lines(chart, theme, place) for place in range(2))
    assert old[:2] == new[:2] == [98, 398]
    assert new[2] == pytest.approx(2 * old[2], abs=1)
    dots = [each for each in drawn(chart) if each.fill in {theme.fill(FILLS[place])[0].name() for place in range(2)}]
    assert len(dots) == 8
    assert len({each.kind for each in dots}) == 2  # each run has a shape of its own
    chart.set_comparison(comparison(TOKENS * 200))
    narrow = words_drawn(chart)
    assert 5 < len([word for word in narrow if word.startswith("#")]) < 20
    assert lines(chart, theme, 1)[2] == 0  # of turns that share pixels the largest is drawn: 200 of each four


def test_the_turn_that_is_looked_at_is_marked_and_told(chart: TokenChart, theme: Theme) -> None:
    assert chart.accessibleDescription() == ""
    chart.choose(1)
    assert chart.accessibleDescription().splitlines()[1:] == ["Old: 50 tokens", "New: 200 tokens"]
    ink = {each.words: each.fill for each in drawn(chart) if each.kind == "text"}
    assert (ink["#2"], ink["#4"]) == (theme.color("accent").name(), theme.color("text_muted").name())
    band = next(each for each in drawn(chart) if each.fill == theme.color("accent_soft").name())
    assert (round(band.box.left()), round(band.box.width())) == (148, 100)
    chart.choose(9)
    assert (chart.row, chart.accessibleDescription()) == (-1, "")
    chart.choose(3)
    chart.set_comparison(comparison(TOKENS[:2]))
    assert chart.row == -1
    chart.set_comparison(None)
    assert words_drawn(chart) == []


def test_keys_and_clicks_go_to_turns(chart: TokenChart, qtbot: QtBot) -> None:
    told: list[int] = []
    chart.moved.connect(told.append)
    key = Qt.Key
    for row, pressed in ((0, key.Key_Left), (0, key.Key_Right), (3, key.Key_Right), (3, key.Key_Left),
                         (2, key.Key_Home), (1, key.Key_End), (-1, key.Key_Right), (1, key.Key_A)):  # fmt: skip
        chart.choose(row)
        qtbot.keyClick(chart, pressed)
    assert told == [0, 1, 3, 2, 0, 3, 0]
    told.clear()
    left = Qt.MouseButton.LeftButton
    for x in (50, 147, 149, 447, 30, 455):
        qtbot.mouseClick(chart, left, pos=QPoint(x, 100))
    qtbot.mouseClick(chart, Qt.MouseButton.RightButton, pos=QPoint(50, 100))
    assert told == [0, 0, 1, 3]
    assert chart.words_at(QPoint(300, 90)).endswith("New: 10 tokens")
    assert chart.words_at(QPoint(20, 90)) == ""
    chart.set_comparison(None)
    qtbot.keyClick(chart, key.Key_Right)
    qtbot.mouseClick(chart, left, pos=QPoint(150, 100))
    assert len(told) == 4


def test_names_that_do_not_fit_take_another_line(chart: TokenChart) -> None:
    places = [each.box.topLeft() for each in drawn(chart) if each.words in {"Old", "New"}]
    assert all(one.y() == two.y() and one.x() < two.x() for one, two in pairwise(places))
    chart.resize(120, 200)
    one, two = (each.box.topLeft() for each in drawn(chart) if each.words in {"Old", "New"})
    assert (one.x(), one.y() < two.y()) == (two.x(), True)
    assert chart.picture(QSize(300, 200)).startswith(b"\x89PNG")
