"""The legend below the bars: squares with words in one line, and how many had no room."""

from __future__ import annotations

from itertools import pairwise

import pytest
from PySide6.QtGui import QFontMetricsF
from pytestqt.qtbot import QtBot

from lorestudio.ui.features.timeline.strip import Legend
from lorestudio.ui.shell.theme import Theme, scaled
from tests.ui.drawing import drawn, words_drawn

PARTS = (("green", "keyword", False), ("purple", "cut", True), ("", "● as it should be", False))


def test_words_stand_behind_their_squares_without_covering_each_other(theme: Theme, qtbot: QtBot) -> None:
    legend = Legend(theme)
    qtbot.addWidget(legend)
    legend.resize(600, 20)
    legend.say(PARTS)
    assert legend.accessibleName() == legend.toolTip() == "keyword, cut, ● as it should be"
    assert words_drawn(legend) == [word for _fill, word, _hatched in PARTS]
    shapes = [each for each in drawn(legend) if each.kind == "rect" and each.box.width() == 10]
    words = [each for each in drawn(legend) if each.words]
    assert shapes[0].fill == theme.fill("green")[0].name()
    assert shapes[1].fill.startswith("url(#fillpattern")
    assert len(shapes) == 2  # a word without a fill has its own sign
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
    words = [word for _fill, word, _hatched in PARTS]
    assert list(seen) == [tuple(words), (*words[:2], "+1"), (words[0], "+2"), ("+3",)]
