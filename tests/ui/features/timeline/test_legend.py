"""The legend below the bars: squares with words in one line, and how many had no room."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from PySide6.QtGui import QFontMetricsF
from pytestqt.qtbot import QtBot

from lorestudio.ui.features.timeline.strip import Legend, LegendPart
from lorestudio.ui.shell.theme import Theme, scaled
from tests.ui.drawing import drawn, words_drawn

PARTS = (
    LegendPart("keyword", "green"), LegendPart("cut", "purple", hatched=True), LegendPart("● as it should be"),
)  # fmt: skip
WORDS = [part.word for part in PARTS]


def test_words_stand_behind_their_squares_without_covering_each_other(theme: Theme, qtbot: QtBot) -> None:
    legend = Legend(theme)
    qtbot.addWidget(legend)
    legend.resize(600, 20)
    legend.say(PARTS)
    assert legend.accessibleName() == legend.toolTip() == "keyword, cut, ● as it should be"
    assert words_drawn(legend) == WORDS
    shapes = [each for each in drawn(legend) if each.kind == "rect" and each.box.width() == 10]
    words = [each for each in drawn(legend) if each.words]
    assert shapes[0].fill == theme.fill("green")[0].name()
    assert shapes[1].fill.startswith("url(#fillpattern")
    assert len(shapes) == 2  # a word without a fill has its own sign
    assert {each.edge for each in shapes} == {theme.color("fill_edge").name()}
    assert {(each.box.top(), each.box.height()) for each in shapes} == {(5, 10)}
    assert [word.box.left() - shape.box.left() for shape, word in zip(shapes, words, strict=False)] == [
        pytest.approx(14, abs=1)
    ] * 2
    metrics = QFontMetricsF(scaled(legend.font(), 0.88))
    ends = [(each.box.left(), each.box.left() + metrics.horizontalAdvance(each.words)) for each in words]
    assert all(end + 8 <= start + 1 for (_left, end), (start, _end) in pairwise(ends))
    assert {each.fill for each in words} == {theme.color("text_muted").name()}


def test_what_has_no_room_is_counted(theme: Theme, qtbot: QtBot) -> None:
    legend = Legend(theme)
    qtbot.addWidget(legend)
    legend.say(PARTS)
    seen: dict[tuple[str, ...], None] = {}
    for width in range(400, 20, -10):
        legend.resize(width, 20)
        seen[tuple(words_drawn(legend))] = None
    assert list(seen) == [tuple(WORDS), (*WORDS[:2], "+1"), (WORDS[0], "+2"), ("+3",)]


def test_parts_stand_as_close_as_their_words_allow(theme: Theme, qtbot: QtBot) -> None:
    legend = Legend(theme)
    qtbot.addWidget(legend)
    legend.say(PARTS)
    metrics = QFontMetricsF(scaled(legend.font(), 0.88))
    whole = 0.5 + sum((14 if part.fill else 0) + metrics.horizontalAdvance(part.word) + 8 for part in PARTS) - 8
    legend.resize(math.ceil(whole), 20)
    assert words_drawn(legend) == WORDS
    places = [each.box.left() for each in drawn(legend) if each.words]
    assert places[0] == 0.5 + 14
    for place, part in enumerate(PARTS[1:]):
        apart = metrics.horizontalAdvance(PARTS[place].word) + 8 + (14 if part.fill else 0)
        assert places[place + 1] - places[place] == pytest.approx(apart, abs=0.01)
    legend.resize(math.floor(whole), 20)
    assert words_drawn(legend)[-1] == "+1"
    assert legend.sizeHint().height() == math.ceil(QFontMetricsF(legend.font()).height()) + 2
