"""Bars: the numbers beside them, what is drawn of many, the brush and the keyboard."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor
from pytestqt.qtbot import QtBot

from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.widgets.chart import BarChart, Bars, Layer, nice_steps


@pytest.mark.parametrize(
    ("top", "most", "steps"),
    [
        (1300, 3, [0, 500, 1000]),
        (1650, 4, [0, 500, 1000, 1500]),
        (7, 3, [0, 5]),
        (2, 4, [0, 1, 2]),
        (60_000, 3, [0, 20_000, 40_000, 60_000]),
        (0, 3, [0]),
    ],
)
def test_axis_numbers_are_those_that_people_choose(top: float, most: int, steps: list[float]) -> None:
    assert nice_steps(top, most) == steps


def chart(theme: Theme, qtbot: QtBot, amount: int) -> BarChart:
    made = BarChart(theme, "Tokens", brush=True)
    qtbot.addWidget(made)
    made.resize(420, 90)
    values = np.arange(amount, dtype=float) % 7
    made.set_bars(Bars([Layer("green", values), Layer("purple", values, beyond=True)], np.full(amount, 10.0)))
    made.show()
    return made


def test_a_place_is_found_again_at_its_point(theme: Theme, qtbot: QtBot) -> None:
    for amount in (1, 24, 150):
        made = chart(theme, qtbot, amount)
        for place in range(amount):
            assert made.place_at(QPointF(made.point_of(place))) == place


def test_of_bars_that_share_a_pixel_the_highest_is_drawn(theme: Theme, qtbot: QtBot) -> None:
    made = chart(theme, qtbot, 5_000)
    places, _centres, wide = made._drawn()
    assert 100 < len(places) < 420
    whole = made.bars.layers[0].values
    share = round(wide)
    assert all(whole[place] == whole[at * share : (at + 1) * share].max() for at, place in enumerate(places))


def test_shift_picks_bars_out_and_escape_takes_all_again(theme: Theme, qtbot: QtBot) -> None:
    made, told = chart(theme, qtbot, 24), []
    made.brushed.connect(told.append)
    made.picked.connect(made.choose)
    made.choose(4)
    for _ in range(3):
        qtbot.keyClick(made, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    assert told[-1] == (4, 8)
    qtbot.keyClick(made, Qt.Key.Key_Escape)
    assert told[-1] is None


def test_errors_stay_with_whoever_handled_them_before() -> None:
    """pyqtgraph puts itself before the program's own report of errors."""
    assert "pyqtgraph" not in getattr(sys.excepthook, "__module__", "")


def test_what_a_screen_reader_says_of_a_chart_follows_the_chosen_bar(theme: Theme, qtbot: QtBot) -> None:
    made = chart(theme, qtbot, 3)
    made.set_bars(Bars(made.bars.layers, words=lambda place: f"bar {place}"))
    told = []
    for place in (0, 2, 3, -1):
        made.choose(place)
        told.append(made.accessibleDescription())
    assert told == ["bar 0", "bar 2", "", ""]


def spots(made: BarChart, color: QColor, top: float, bottom: float) -> list[int]:
    """At which pixels from the left a colour stands between two shares of the height."""
    image = made.grab().toImage()
    down = range(round(image.height() * top), round(image.height() * bottom))
    return [x for x in range(image.width()) if any(image.pixelColor(x, y) == color for y in down)]


@pytest.mark.parametrize("amount", [24, 5_000])
def test_the_ground_of_the_chosen_bar_is_marked_however_narrow_it_is(theme: Theme, qtbot: QtBot, amount: int) -> None:
    made, color = chart(theme, qtbot, amount), theme.color("accent_soft")
    assert spots(made, color, 0, 0.5) == []
    made.choose(amount // 2)
    found, middle = spots(made, color, 0, 0.5), made.point_of(amount // 2).x()
    assert found == [*range(found[0], found[-1] + 1)]
    assert found[0] <= middle <= found[-1]
    assert 2 <= len(found) <= made.width() / 15
    made.choose(-1)
    assert spots(made, color, 0, 0.5) == []


def test_a_broken_line_stands_over_the_bars_that_have_a_limit(theme: Theme, qtbot: QtBot) -> None:
    made, color = chart(theme, qtbot, 24), theme.color("text")
    made.set_bars(Bars([Layer("green", np.ones(24))], np.array([10.0] * 12 + [np.nan] * 12)))
    found, half = spots(made, color, 0, 0.5), (made.point_of(11).x() + made.point_of(12).x()) / 2
    assert made.point_of(0).x() - 12 < found[0] < made.point_of(0).x()
    assert half - 12 < found[-1] <= half + 1
    assert len(found) < found[-1] - found[0], "it has gaps"
    made.set_bars(Bars([Layer("green", np.ones(24))]))
    assert spots(made, color, 0, 0.5) == []


def test_what_held_and_what_did_not_differ_in_shape_as_well_as_in_colour(theme: Theme, qtbot: QtBot) -> None:
    made = chart(theme, qtbot, 24)
    made.set_bars(Bars([Layer("grey", np.ones(24))], flags={4: True, 16: False}))
    image = made.grab().toImage()
    dots: dict[str, int] = {}
    for place, name in ((4, "good"), (16, "error")):
        at = made.point_of(place).x()
        box = [image.pixelColor(x, y) for x in range(at - 6, at + 7) for y in range(image.height() // 4)]
        dots[name] = box.count(theme.color(name))
    assert dots["good"] > 1.2 * dots["error"] > 0, "a full circle, and a cross"
