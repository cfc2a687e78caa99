"""Bars: the numbers beside them, what is drawn of many, the brush and the keyboard."""

from __future__ import annotations

import sys
from itertools import pairwise

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QWheelEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from lorestudio.ui.shell.theme import Theme, load_palettes, scaled
from lorestudio.ui.widgets.chart import BarChart, Bars, Layer, nice_steps
from tests.ui.conftest import drain
from tests.ui.drawing import drawn


@pytest.mark.parametrize(
    ("top", "most", "steps"),
    [
        (1300, 3, [0, 500, 1000]),
        (1650, 4, [0, 500, 1000, 1500]),
        (7, 3, [0, 5]),
        (2, 4, [0, 1, 2]),
        (1, 3, [0, 1]),
        (2400, 3, [0, 1000, 2000]),
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
    places, centres, wide = made._drawn()
    assert 100 < len(places) < 420
    whole = made.bars.layers[0].values
    share = round(wide)
    assert all(whole[place] == whole[at * share : (at + 1) * share].max() for at, place in enumerate(places))
    assert list(centres) == [at * share + (share - 1) / 2 for at in range(len(places))]


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


# ---- what is given to the plot --------------------------------------------------------------------------------------


def bar_items(made: BarChart) -> list[dict[str, object]]:
    """What the layers of bars are drawn with."""
    return [item.opts for item in made._layers]


def test_bars_stand_upon_each_other_and_what_is_beyond_above_the_limit(theme: Theme, qtbot: QtBot) -> None:
    made = chart(theme, qtbot, 2)
    layers = [
        Layer("green", np.array([4.0, 2.0])), Layer("sky", np.array([3.0, 0.0])),
        Layer("purple", np.array([5.0, 6.0]), beyond=True),
    ]  # fmt: skip
    made.set_bars(Bars(layers, np.array([10.0, np.nan])))
    low, middle, high = bar_items(made)
    assert [list(each["x"]) for each in (low, middle, high)] == [[0, 1], [0], [0, 1]]  # nothing is drawn of nothing
    assert list(middle["y0"]) == [4]
    assert list(high["y0"]) == [10, 2]  # above the limit, and without one upon the others
    assert [list(each["height"]) for each in (low, middle, high)] == [[4, 2], [3], [5, 6]]
    assert made._top == pytest.approx(1.08 * 15)
    made.set_bars(Bars([Layer("green", np.array([12.0])), layers[2]], np.array([10.0])))
    assert list(bar_items(made)[1]["y0"]) == [12]  # not below what is over the limit already


def test_colours_of_layers_are_fills_and_what_is_beyond_is_hatched(theme: Theme, qtbot: QtBot) -> None:
    made = chart(theme, qtbot, 12)
    inside, beyond = bar_items(made)
    assert inside["brush"].color() == theme.fill("green")[0]
    assert inside["brush"].style() is Qt.BrushStyle.SolidPattern
    assert beyond["brush"].style() is Qt.BrushStyle.BDiagPattern
    assert inside["pen"].color() == theme.color("fill_edge")
    assert beyond["pen"].color() == theme.fill("purple")[0]
    made.set_bars(Bars([Layer("green", np.ones(5_000))]))
    assert bar_items(made)[0]["pen"].style() is Qt.PenStyle.NoPen  # edges would cover bars that are so narrow


def test_other_bars_take_the_place_of_those_that_were_shown(theme: Theme, qtbot: QtBot) -> None:
    made = chart(theme, qtbot, 24)
    assert spots(made, theme.fill("green")[0], 0.3, 1)
    made.set_bars(Bars([Layer("sky", np.ones(24))]))
    assert spots(made, theme.fill("green")[0], 0, 1) == []
    assert spots(made, theme.fill("sky")[0], 0.3, 1)
    made.set_bars(Bars())
    assert spots(made, theme.fill("sky")[0], 0, 1) == []
    assert made.place_at(QPointF(100, 40)) == -1


def test_points_and_signs_stand_on_their_bars(theme: Theme, qtbot: QtBot) -> None:
    made = chart(theme, qtbot, 4)
    marked = np.array([3.0, np.nan, 5.0, np.nan])
    signs = {1: ("t1", "accent"), 3: ("x", "error")}
    made.set_bars(Bars([Layer("green", np.ones(4))], marked=marked, expected=2, flags={0: True, 3: False}, signs=signs))
    points = [(each.pos().x(), each.pos().y(), each.brush().color()) for each in made._points.points()]
    assert points == [(0, 3, theme.color("text")), (2, 5, theme.color("panel"))]  # what is expected is hollow
    flags = [(each.pos().x(), each.symbol(), each.brush().color()) for each in made._flags.points()]
    assert flags == [(0, "o", theme.color("good")), (3, "x", theme.color("error"))]
    assert {each.pos().y() for each in made._flags.points()} == {0.95 * made._top}
    shown = [(each.pos().x(), each.symbol(), each.brush().color()) for each in made._signs.points()]
    assert shown == [(1, "t1", theme.color("accent")), (3, "x", theme.color("error"))]
    assert all(each.pos().y() < 0 for each in made._signs.points())  # in a row of their own, below the bars
    low, high = made._plot.viewRange()[1]
    assert all(low < each.pos().y() for each in made._signs.points())
    assert high == made._top > 5
    made.set_bars(Bars([Layer("green", np.ones(4))]))
    assert made._plot.viewRange()[1][0] == 0
    assert made._plot.viewRange()[0] == [-0.5, 3.5]
    assert not [*made._points.points(), *made._flags.points(), *made._signs.points()]


def test_the_limit_is_a_line_as_wide_as_the_bars_that_share_it(theme: Theme, qtbot: QtBot) -> None:
    made = chart(theme, qtbot, 5)
    made.set_bars(Bars([Layer("green", np.ones(5))], np.array([10.0, 10.0, 20.0, np.nan, 20.0])))
    x, y = made._limit.getData()
    ends = [(x[at], x[at + 1], y[at]) for at in range(0, len(x), 2) if not np.isnan(y[at])]
    assert ends == [(-0.5, 1.5, 10), (1.5, 2.5, 20), (3.5, 4.5, 20)]
    assert made._limit.opts["pen"].style() is Qt.PenStyle.DashLine


def names(made: BarChart) -> dict[float, str]:
    return dict(made._axes["bottom"]._tickLevels[0])


def test_names_leave_each_other_room_and_the_chosen_bar_has_its_own_always(theme: Theme, qtbot: QtBot) -> None:
    few = chart(theme, qtbot, 6)
    assert names(few) == {place: str(place) for place in range(6)}
    made = chart(theme, qtbot, 150)
    wide = QFontMetricsF(scaled(made.font(), 0.82)).horizontalAdvance("149")
    apart = (wide + 10) * 150 / made._plot.width()
    for chosen in (-1, 0, 77, 149):
        made.choose(chosen)
        found = sorted(names(made))
        assert (chosen in found) == (chosen >= 0)
        assert all(after - before >= apart for before, after in pairwise(found))
        assert len(found) > 100 / apart
    made.set_bars(Bars())
    assert names(made) == {}


def test_names_that_are_wider_in_the_middle_leave_each_other_room(theme: Theme, qtbot: QtBot) -> None:
    made = chart(theme, qtbot, 1600)
    bars = made.bars
    made.set_bars(Bars(bars.layers, bars.limits, label=lambda place: f"#{place}" + " ‹4›" * (200 < place < 1500)))
    wide = QFontMetricsF(scaled(made.font(), 0.82)).horizontalAdvance
    for chosen in (-1, 2, 777):
        made.choose(chosen)
        found = sorted(names(made).items())
        assert len(found) > 3
        for (before, left), (after, right) in pairwise(found):
            assert (after - before) * made._plot.width() / 1600 > (wide(left) + wide(right)) / 2


def test_numbers_beside_the_bars_are_as_many_as_there_is_room_for(theme: Theme, qtbot: QtBot) -> None:
    made = chart(theme, qtbot, 4)
    made.set_bars(Bars([Layer("green", np.full(4, 1300.0))]))
    texts = [text for _place, text in made._axes["left"]._tickLevels[0]]
    assert texts[0] == "0"
    assert [place for place, _text in made._axes["left"]._tickLevels[0]] == [0, 500, 1000]
    metrics = QFontMetricsF(scaled(made.font(), 0.82))
    widest = max(metrics.horizontalAdvance(each) for each in texts)
    assert made._axes["left"].width() == pytest.approx(widest + 8)
    assert made._axes["bottom"].height() == pytest.approx(metrics.height() + 5)
    room, plot = made._room.rect(), made._plot.geometry()
    assert plot.left() == pytest.approx(widest + 8)
    assert (plot.right(), plot.top()) == (pytest.approx(room.width() - 4), 2)
    assert plot.bottom() == pytest.approx(room.height() - metrics.height() - 5)
    assert made._axes["bottom"].geometry().top() == pytest.approx(plot.bottom())
    made.resize(420, 400)
    made.set_bars(Bars([Layer("green", np.full(4, 1300.0))]))
    assert [place for place, _text in made._axes["left"]._tickLevels[0]] == [0, 500, 1000]
    made.set_bars(Bars([Layer("green", np.full(4, 2000.0))]))
    assert [place for place, _text in made._axes["left"]._tickLevels[0]] == [0, 500, 1000, 1500, 2000]


# ---- picking bars out -----------------------------------------------------------------------------------------------


def veils(made: BarChart) -> list[tuple[float, float]]:
    opts = made._veil.opts
    assert list(opts["height"]) == [made._top] * len(opts["x0"])
    return [*zip(opts["x0"], opts["x1"], strict=True)]


def test_what_is_not_picked_out_lies_under_a_veil(theme: Theme, qtbot: QtBot) -> None:
    made, told = chart(theme, qtbot, 24), []
    made.brushed.connect(told.append)
    assert (veils(made), made._brush.getRegion()) == ([], (-0.5, 23.5))
    made.brush((4, 9))
    assert veils(made) == [(-0.5, 3.5), (8.5, 23.5)]
    assert (made.range, made._brush.getRegion()) == ((4, 9), (3.5, 8.5))
    made.brush((0, 24))  # all of them
    assert (made.range, veils(made)) == (None, [])
    assert told == []
    colour = made._veil.opts["brush"]
    assert (colour.name(), 0 < colour.alpha() < 255) == (theme.color("panel").name(), True)


def test_dragging_the_ends_takes_whole_bars_and_at_least_one(theme: Theme, qtbot: QtBot) -> None:
    made, told = chart(theme, qtbot, 24), []
    made.brushed.connect(told.append)
    made._brush.setRegion((3.3, 8.6))
    assert (told, made._brush.getRegion()) == ([(4, 9)], (3.5, 8.5))
    made._brush.setRegion((3.4, 8.7))  # the same bars
    assert told == [(4, 9)]
    made._brush.setRegion((5.6, 5.7))
    assert told[1:] == [(6, 7)]
    made._brush.setRegion((-0.5, 23.5))
    assert told[2:] == [None]
    made._brush.lines[0].setValue(-7)  # no further than there are bars
    made._brush.lines[1].setValue(40)
    assert made._brush.getRegion() == (-0.5, 23.5)


def test_the_part_that_is_picked_out_lasts_while_there_are_as_many_bars(theme: Theme, qtbot: QtBot) -> None:
    made = chart(theme, qtbot, 24)
    made.brush((4, 9))
    made.set_bars(Bars([Layer("sky", np.ones(24))]))
    assert made.range == (4, 9)
    made.set_bars(Bars([Layer("sky", np.ones(24))]), brush=False)
    assert (made.range, made._brush.isVisible()) == (None, False)
    made.set_bars(Bars([Layer("sky", np.ones(24))]))
    made.brush((4, 9))
    made.set_bars(Bars([Layer("sky", np.ones(23))]))
    assert (made.range, made._brush.isVisible()) == (None, True)
    made.set_bars(Bars([Layer("sky", np.ones(1))]))
    assert not made._brush.isVisible()  # one bar has no part


def test_a_chosen_bar_that_is_gone_gives_way_to_the_last(theme: Theme, qtbot: QtBot) -> None:
    made = chart(theme, qtbot, 24)
    made.choose(20)
    made.set_bars(Bars([Layer("sky", np.ones(12))], words=lambda place: f"bar {place}"))
    assert made.accessibleDescription() == "bar 11"


def test_a_chart_without_a_brush_draws_and_has_nothing_to_pick_out(theme: Theme, qtbot: QtBot) -> None:
    made = BarChart(theme, "Tokens")
    qtbot.addWidget(made)
    made.resize(420, 90)
    told: list[object] = []
    made.brushed.connect(told.append)
    made.set_bars(Bars([Layer("green", np.ones(6))]))
    made.choose(2)
    qtbot.keyClick(made, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    assert (told, made.range) == ([], None)


def test_keys_go_from_bar_to_bar_and_stay_at_the_ends(theme: Theme, qtbot: QtBot) -> None:
    made, told = chart(theme, qtbot, 24), []
    made.picked.connect(told.append)
    made.picked.connect(made.choose)
    key = Qt.Key
    for pressed in (key.Key_Right, key.Key_Right, key.Key_Left, key.Key_Left, key.Key_End, key.Key_Right, key.Key_Home):
        qtbot.keyClick(made, pressed)
    assert told == [0, 1, 0, 0, 23, 23, 0]
    told.clear()
    made.set_bars(Bars())
    for pressed in (key.Key_Right, key.Key_Escape, key.Key_A):
        qtbot.keyClick(made, pressed)
    assert told == []


def test_bars_are_picked_out_from_where_shift_was_held_first(theme: Theme, qtbot: QtBot) -> None:
    made, told = chart(theme, qtbot, 24), []
    made.brushed.connect(told.append)
    made.picked.connect(made.choose)
    made.choose(4)
    shift, key = Qt.KeyboardModifier.ShiftModifier, Qt.Key
    for pressed in (key.Key_Left, key.Key_Left, key.Key_Right, key.Key_Right, key.Key_Right):
        qtbot.keyClick(made, pressed, shift)
    assert told == [(3, 5), (2, 5), (3, 5), (4, 5), (4, 6)]
    qtbot.keyClick(made, key.Key_Right)  # without it another place to begin at
    qtbot.keyClick(made, key.Key_Right, shift)
    assert told[5:] == [(6, 8)]


def press(made: BarChart, place: int, qtbot: QtBot) -> None:
    child = made.childAt(made.point_of(place))
    qtbot.mouseClick(child, Qt.MouseButton.LeftButton, pos=child.mapFrom(made, made.point_of(place)))


def test_a_click_goes_to_its_bar_and_begins_anew_with_picking_out(theme: Theme, qtbot: QtBot) -> None:
    made, told, brushed = chart(theme, qtbot, 24), [], []
    made.picked.connect(told.append)
    made.picked.connect(made.choose)
    made.brushed.connect(brushed.append)
    made.choose(4)
    qtbot.keyClick(made, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    made.brush(None)
    for place in (0, 23, 12):
        press(made, place, qtbot)
    assert told[1:] == [0, 23, 12]
    assert made.focusWidget() is made
    qtbot.keyClick(made, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    assert brushed[1:] == [(12, 14)]


def test_a_tip_says_what_the_bar_under_the_pointer_is(theme: Theme, qtbot: QtBot) -> None:
    made = chart(theme, qtbot, 6)
    made.set_bars(Bars(made.bars.layers, words=lambda place: f"bar {place}"))
    assert [made._words_at(made.point_of(place)) for place in (0, 3, 5)] == ["bar 0", "bar 3", "bar 5"]
    assert made._words_at(QPoint(0, 40)) == "bar 0"  # beside the first
    assert made._words_at(QPoint(made.width() - 1, 40)) == "bar 5"
    made.set_bars(Bars())
    assert made._words_at(QPoint(100, 40)) == ""


def test_the_ring_shows_which_chart_has_the_keyboard(theme: Theme, qtbot: QtBot) -> None:
    made = chart(theme, qtbot, 6)
    ink = theme.color("focus").name()

    def ring() -> list[QRectF]:
        return [each.box for each in drawn(made) if each.edge == ink and each.wide == 2]

    made.clearFocus()
    assert ring() == []
    qtbot.mouseClick(made, Qt.MouseButton.LeftButton, pos=QPoint(1, 1))  # beside the bars
    qtbot.waitUntil(made.hasFocus)
    assert ring() == [QRectF(1, 1, made.width() - 2, made.height() - 2)]


def test_more_room_holds_more_names(theme: Theme, qtbot: QtBot) -> None:
    made = chart(theme, qtbot, 60)
    before = len(names(made))
    made.resize(1200, 90)
    qtbot.waitUntil(lambda: len(names(made)) > before)


def test_a_chart_is_drawn_anew_in_another_theme(theme: Theme, qtbot: QtBot) -> None:
    made = chart(theme, qtbot, 6)
    theme.palette = load_palettes()["dark"]
    theme.changed.emit()
    qtbot.waitUntil(lambda: made._chosen_bar.opts["brush"] == theme.color("accent_soft"))
    assert bar_items(made)[0]["brush"].color() == theme.fill("green")[0]


def test_names_and_numbers_stand_beside_what_they_name(theme: Theme, qtbot: QtBot) -> None:
    made = chart(theme, qtbot, 6)
    drain()
    texts = {each.words: each.box for each in drawn(made) if each.kind == "text"}
    for place in range(6):
        assert abs(texts[str(place)].left() - made.point_of(place).x()) < 8
    assert made.point_of(0).y() < texts["3"].top()


def test_the_wheel_and_the_pointer_change_nothing_of_a_chart(theme: Theme, qtbot: QtBot) -> None:
    made = chart(theme, qtbot, 24)
    before = made._plot.viewRange()
    place = QPointF(made.point_of(12))
    child = made.childAt(place.toPoint())
    inside = QPointF(child.mapFrom(made, place.toPoint()))
    event = QWheelEvent(
        inside, child.mapToGlobal(inside), QPoint(), QPoint(0, 120), Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(child, event)
    assert made._plot.viewRange() == before
    assert made._brush.hoverBrush.style() is made._brush.brush.style() is Qt.BrushStyle.NoBrush
