"""Bars: the numbers beside them, what is drawn of many, the brush and the keyboard."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QHelpEvent, QImage, QMouseEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolTip
from pytestqt.qtbot import QtBot

from lorestudio.ui.shell.theme import Theme, scaled
from lorestudio.ui.widgets.chart import BarChart, Bars, Layer, nice_steps
from tests.ui.conftest import drain
from tests.ui.drawing import Drawn, PaintWatch, drawn, place_point, words_drawn


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
            assert made.place_at(QPointF(place_point(made, place))) == place


def bars(made: BarChart, fill: str) -> list[Drawn]:
    """The bars of a layer as they are drawn, those of a hatched one by the edge that they have."""
    color = made._theme.fill(fill)[0].name()
    return [each for each in drawn(made) if each.kind == "rect" and color in {each.fill, each.edge}]


def test_of_bars_that_share_a_pixel_the_highest_is_drawn(theme: Theme, qtbot: QtBot) -> None:
    made = chart(theme, qtbot, 5_000)
    values = np.ones(5_000)
    values[[40, 2_504, 4_999]] = 7
    made.set_bars(Bars([Layer("green", values)]))
    room = made.frame.room
    found = [each.box for each in bars(made, "green")]
    assert 100 < len(found) <= room.width()
    assert all(after.left() == pytest.approx(before.right(), abs=0.01) for before, after in pairwise(found))
    assert (found[0].left(), found[-1].right()) == (
        pytest.approx(room.left(), abs=0.01), pytest.approx(room.right(), abs=0.01),
    )  # fmt: skip
    assert all(box.width() >= 1 for box in found[:-1])
    low = min(box.height() for box in found)
    high = [box for box in found if box.height() > low + 1]
    assert [box.height() for box in high] == [pytest.approx(7 * low, abs=0.1)] * 3
    for box, place in zip(high, (40, 2_504, 4_999), strict=True):
        assert box.left() - 0.01 <= made.frame.x(place) <= box.right() + 0.01


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
    found, middle = spots(made, color, 0, 0.5), place_point(made, amount // 2).x()
    assert found == [*range(found[0], found[-1] + 1)]
    assert found[0] <= middle <= found[-1]
    assert 3 <= len(found) + 2 <= made.width() / 15, "with its edge, which has another colour"
    made.choose(-1)
    assert spots(made, color, 0, 0.5) == []


def test_a_broken_line_stands_over_the_bars_that_have_a_limit(theme: Theme, qtbot: QtBot) -> None:
    made, color = chart(theme, qtbot, 24), theme.color("text")
    made.set_bars(Bars([Layer("green", np.ones(24))], np.array([10.0] * 12 + [np.nan] * 12)))
    found, half = spots(made, color, 0, 0.5), (place_point(made, 11).x() + place_point(made, 12).x()) / 2
    assert place_point(made, 0).x() - 12 < found[0] < place_point(made, 0).x()
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
        at = place_point(made, place).x()
        box = [image.pixelColor(x, y) for x in range(at - 6, at + 7) for y in range(image.height() // 4)]
        dots[name] = box.count(theme.color(name))
    assert dots["good"] > 1.2 * dots["error"] > 0, "a full circle, and a cross"


# ---- what is drawn --------------------------------------------------------------------------------------------------


def heights(made: BarChart, fill: str) -> list[tuple[float, float]]:
    """Where the bars of a layer begin and end, as the numbers on the left have it."""
    zero, unit = made.frame.y(0), made.frame.y(0) - made.frame.y(1)
    boxes = [each.box for each in bars(made, fill)]
    return [(round((zero - box.bottom()) / unit, 2), round((zero - box.top()) / unit, 2)) for box in boxes]


def places(made: BarChart, fill: str) -> list[int]:
    """Which places the bars of a layer stand at."""
    return [made.place_at(each.box.center()) for each in bars(made, fill)]


def test_bars_stand_upon_each_other_and_what_is_beyond_above_the_limit(theme: Theme, qtbot: QtBot) -> None:
    made = chart(theme, qtbot, 2)
    layers = [
        Layer("green", np.array([4.0, 2.0])), Layer("sky", np.array([3.0, 0.0])),
        Layer("purple", np.array([5.0, 6.0]), beyond=True),
    ]  # fmt: skip
    made.set_bars(Bars(layers, np.array([10.0, np.nan])))
    assert [places(made, fill) for fill in ("green", "sky", "purple")] == [[0, 1], [0], [0, 1]]  # nothing of nothing
    assert [heights(made, fill) for fill in ("green", "sky", "purple")] == [
        [(0, 4), (0, 2)],
        [(4, 7)],
        [(10, 15), (2, 8)],  # above the limit, and without one upon the others
    ]
    assert made.frame.up == (0, pytest.approx(1.08 * 15))
    made.set_bars(Bars([Layer("green", np.array([12.0, 1.0])), layers[2]], np.array([10.0, 10.0])))
    assert heights(made, "purple") == [(12, 17), (10, 16)]  # not below what is over the limit already
    none = Layer("purple", np.zeros(2), beyond=True)
    made.set_bars(Bars([layers[0], none, Layer("sky", np.ones(2))], np.full(2, 10.0)))
    assert heights(made, "sky") == [(4, 5), (2, 3)]  # where nothing is beyond, what follows does not hang up there


def test_much_beyond_the_limit_leaves_what_is_below_it_in_sight(theme: Theme, qtbot: QtBot) -> None:
    """In a vault of a thousand notes the part that went in was two pixels high; a gap says that a bar goes on."""
    made = chart(theme, qtbot, 3)
    inside, cut = np.array([10.0, 8.0, 9.0]), np.array([150.0, 0.0, 12.0])
    made.set_bars(Bars([Layer("green", inside), Layer("purple", cut, beyond=True)], np.full(3, 10.0)))
    room = made.frame.room
    assert bars(made, "green")[0].box.height() > room.height() / 4
    gaps = [each.box for each in drawn(made) if each.fill == theme.color("panel").name() and each.box.height() == 2]
    assert [made.place_at(box.center()) for box in gaps] == [0]
    assert all(each.box.top() > room.top() for each in bars(made, "purple")), "the ground of a chosen bar is seen"


def test_all_that_is_drawn_has_room_below_the_top(theme: Theme, qtbot: QtBot) -> None:
    made = chart(theme, qtbot, 2)
    for more in (
        {"limits": np.array([40.0, np.nan])},
        {"marked": np.array([np.nan, 40.0])},
        {"layers": [Layer("green", np.array([20.0, 1.0])), Layer("sky", np.array([20.0, 1.0]))]},
    ):
        made.set_bars(Bars(**{"layers": [Layer("green", np.ones(2))], **more}))
        assert made.frame.up == (0, pytest.approx(1.08 * 40))
    made.set_bars(Bars([Layer("green", np.zeros(2))]))
    assert made.frame.up == (0, pytest.approx(1.08))


def test_colours_of_layers_are_fills_and_what_is_beyond_is_hatched(theme: Theme, qtbot: QtBot) -> None:
    made = chart(theme, qtbot, 12)
    inside, beyond = bars(made, "green")[0], bars(made, "purple")[0]
    assert (inside.fill, inside.edge) == (theme.fill("green")[0].name(), theme.color("fill_edge").name())
    assert beyond.fill.startswith("url("), "a pattern"
    assert beyond.edge == theme.fill("purple")[0].name()
    assert inside.box.width() == pytest.approx(0.82 * made.frame.room.width() / 12, abs=0.05)  # with room between them
    made.set_bars(Bars([Layer("green", np.ones(5_000))]))
    assert {each.edge for each in bars(made, "green")} == {"none"}  # edges would cover bars that are so narrow


@pytest.mark.parametrize(("amount", "edged"), [(97, True), (99, False)])
def test_bars_have_edges_from_four_pixels_on(theme: Theme, qtbot: QtBot, amount: int, edged: bool) -> None:
    made = chart(theme, qtbot, amount)
    made.resize(round(392 - made.frame.room.width() + made.width()), 90)  # so that the room is 392 pixels wide
    assert made.frame.room.width() == pytest.approx(392, abs=0.5)
    assert {each.edge != "none" for each in bars(made, "green")} == {edged}


def test_other_bars_take_the_place_of_those_that_were_shown(theme: Theme, qtbot: QtBot) -> None:
    made = chart(theme, qtbot, 24)
    assert spots(made, theme.fill("green")[0], 0.3, 1)
    made.set_bars(Bars([Layer("sky", np.ones(24))]))
    assert spots(made, theme.fill("green")[0], 0, 1) == []
    assert spots(made, theme.fill("sky")[0], 0.3, 1)
    made.set_bars(Bars())
    assert spots(made, theme.fill("sky")[0], 0, 1) == []
    assert made.place_at(QPointF(100, 40)) == -1


def signs(made: BarChart) -> list[QPointF]:
    """The middles of points, flags and signs."""
    return [each.box.center() for each in drawn(made) if each.image]


def near(image: QImage, at: QPointF, color: QColor, away: int = 5) -> int:
    """How many pixels around a place have a colour."""
    spots = [(round(at.x()) + x, round(at.y()) + y) for x in range(-away, away) for y in range(-away, away)]
    return sum(image.pixelColor(*each) == color for each in spots if image.rect().contains(QPoint(*each)))


def test_points_and_signs_stand_on_their_bars(theme: Theme, qtbot: QtBot) -> None:
    made = chart(theme, qtbot, 4)
    marked = np.array([3.0, np.nan, 5.0, np.nan])
    row = {1: ("triangle", "accent"), 3: ("cross", "error")}
    made.set_bars(Bars([Layer("green", np.ones(4))], marked=marked, expected=2, flags={0: True, 3: False}, signs=row))
    frame, image = made.frame, made.grab().toImage()
    assert frame.up == (pytest.approx(-0.17 * 5), pytest.approx(1.08 * 5))  # a row of their own, below the bars
    assert frame.room.bottom() == pytest.approx(frame.y(-0.17 * 5))
    top, below = frame.y(1.03 * 5), (frame.y(0) + frame.room.bottom()) / 2
    wanted = [(0, frame.y(3)), (2, frame.y(5)), (0, top), (3, top), (1, below), (3, below)]
    points = sorted((frame.x(place), y) for place, y in wanted)
    for at, point in zip(sorted(at.toTuple() for at in signs(made)), points, strict=True):
        assert at == pytest.approx(point, abs=0.51)
    recorded, expected, met, failed, maybe, differs = (QPointF(frame.x(place), y) for place, y in wanted)
    text, panel = theme.color("text"), theme.color("panel")
    assert near(image, recorded, text) > 10
    assert near(image, recorded, panel, 2) == 0
    assert near(image, expected, panel, 2) > 3, "what is expected is hollow"
    dark = [image.pixelColor(round(expected.x()) + x, round(expected.y())).lightness() < 160 for x in range(-5, 5)]
    assert dark.count(True) >= 2, "between two edges"
    for at, name in ((met, "good"), (failed, "error"), (maybe, "accent"), (differs, "error")):
        assert near(image, at, theme.color(name)) > 5, name
    assert near(image, met, theme.color("good"), 8) == near(image, met, theme.color("good")) > 20, "it is whole"
    made.set_bars(Bars([Layer("green", np.ones(4))]))
    assert (made.frame.up[0], made.frame.across) == (0, (-0.5, 3.5))
    assert signs(made) == []


def test_of_signs_in_the_same_pixel_one_is_drawn(theme: Theme, qtbot: QtBot) -> None:
    made = chart(theme, qtbot, 5_000)
    made.set_bars(Bars(made.bars.layers, signs=dict.fromkeys(range(5_000), ("circle", "good"))))
    found = signs(made)
    assert made.frame.room.width() - 2 <= len(found) <= made.frame.room.width() + 2
    assert len({at.x() for at in found}) == len(found)


def test_shapes_differ(theme: Theme, qtbot: QtBot) -> None:
    made = chart(theme, qtbot, 3)
    row = {0: ("circle", "error"), 1: ("triangle", "error"), 2: ("cross", "error")}
    made.set_bars(Bars([Layer("green", np.ones(3))], signs=row))
    image, at = made.grab().toImage(), sorted(signs(made), key=QPointF.x)

    def seen(place: int, away: int) -> int:
        """How wide a sign is, so many pixels below its middle."""
        y = round(at[place].y()) + away
        return sum(image.pixelColor(round(at[place].x()) + x, y) != nothing for x in range(-6, 6))

    nothing = image.pixelColor(QPointF(at[0].x() + 20, at[0].y()).toPoint())
    assert seen(0, -4) == seen(0, 3) < seen(0, -1) == seen(0, 0)
    assert seen(1, 2) > 2 * seen(1, -4) > 0, "a triangle stands on its side"
    assert seen(2, 2) > seen(2, 0) < seen(2, -3), "a cross is narrow in its middle"


def test_the_limit_is_a_line_as_wide_as_the_bars_that_share_it(theme: Theme, qtbot: QtBot) -> None:
    made, frame = chart(theme, qtbot, 5), None

    def lines() -> list[QRectF]:
        found = [each for each in drawn(made) if each.kind == "path" and each.edge == theme.color("text").name()]
        assert all(each.wide == 1.5 and each.dashes not in {"", "none"} for each in found)
        return [each.box for each in found]

    def box(left: float, right: float, low: float, high: float) -> list[object]:
        sides = QRectF(frame.point(left, high), frame.point(right, low)).getRect()
        return [pytest.approx(each, abs=0.05) for each in sides]

    for limits, ends in (
        ([10.0, 10.0, np.nan, np.nan, np.nan], (-0.5, 1.5, 10, 10)),
        ([np.nan, np.nan, 20.0, np.nan, np.nan], (1.5, 2.5, 20, 20)),
        ([np.nan, 10.0, 20.0, np.nan, np.nan], (0.5, 2.5, 10, 20)),
        ([10.0, 10.0, 20.0, np.nan, 20.0], (-0.5, 4.5, 10, 20)),
    ):
        made.set_bars(Bars([Layer("green", np.ones(5))], np.array(limits)))
        frame = made.frame
        assert [[*each.getRect()] for each in lines()] == [box(*ends)]
    image, y = made.grab().toImage(), round(frame.y(20))
    ink = theme.color("text")
    over = [place for place in range(5) if near(image, QPointF(frame.x(place), y), ink, 12)]
    step = [image.pixelColor(round(frame.x(1.5)) + x, at) == ink for at in range(y + 4, round(frame.y(10)) - 3)
            for x in (-1, 0, 1)]  # fmt: skip
    assert step.count(True) > 5, "it goes from one to the other"
    assert over == [2, 4], "none over the bar without a limit, and that of others is lower"
    made.set_bars(Bars([Layer("green", np.ones(5))], np.full(5, np.nan)))
    assert lines() == []


def named(made: BarChart) -> dict[str, QRectF]:
    """The names below the bars, in their order, with where they stand."""
    metrics = QFontMetricsF(scaled(made.font(), 0.82))
    return {
        each.words: QRectF(each.box.topLeft(), QPointF(each.box.left() + metrics.horizontalAdvance(each.words), 0))
        for each in drawn(made) if each.kind == "text" and each.box.top() > made.frame.room.bottom() + 6
    }  # fmt: skip


def names(made: BarChart) -> dict[float, str]:
    """The names below the bars by their places."""
    return {int(name.split()[0].removeprefix("#")): name for name in named(made)}


def test_names_leave_each_other_room_and_the_chosen_bar_has_its_own_always(theme: Theme, qtbot: QtBot) -> None:
    few = chart(theme, qtbot, 6)
    assert names(few) == {place: str(place) for place in range(6)}
    made = chart(theme, qtbot, 150)
    wide = QFontMetricsF(scaled(made.font(), 0.82)).horizontalAdvance("149")
    apart = (wide + 10) * 150 / made.frame.room.width()
    for chosen in (-1, 0, 77, 149):
        made.choose(chosen)
        found = sorted(names(made))
        assert chosen < 0 or chosen in found
        assert found[0] == 0 or chosen == 0
        assert all(after - before >= apart - 0.01 for before, after in pairwise(found) if after < 149)
        boxes = [*named(made).values()]
        assert all(after.left() - before.right() > 9.9 for before, after in pairwise(boxes))
        assert (boxes[0].left() >= 3, boxes[-1].right() <= made.width() - 2.9) == (True, True), "they are whole"
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
            assert (after - before) * made.frame.room.width() / 1600 > (wide(left) + wide(right)) / 2


def test_the_name_of_the_chosen_bar_stands_out_and_is_whole_at_the_end(theme: Theme, qtbot: QtBot) -> None:
    made = chart(theme, qtbot, 150)
    made.set_bars(Bars(made.bars.layers, label=lambda place: f"#{place} of the whole long chat"))
    inks = {each.words.split()[0]: each.fill for each in drawn(made) if each.words.startswith("#")}
    assert {*inks.values()} == {theme.color("text_muted").name()}
    for chosen in (0, 40, 149):
        made.choose(chosen)
        inks = {each.words.split()[0]: each.fill for each in drawn(made) if each.words.startswith("#")}
        assert [name for name, ink in inks.items() if ink == theme.color("accent").name()] == [f"#{chosen}"]
        boxes = [*named(made).values()]
        assert (boxes[0].left() >= 3, boxes[-1].right() <= made.width() - 2.9) == (True, True)
        assert all(after.left() - before.right() > 9.9 for before, after in pairwise(boxes))


def beside(made: BarChart) -> dict[str, float]:
    """The numbers on the left of the bars, with how high they stand."""
    room = made.frame.room
    found = [each for each in drawn(made) if each.kind == "text" and each.box.top() <= room.bottom() + 6]
    return {each.words: each.box.top() for each in found}


def test_numbers_beside_the_bars_are_as_many_as_there_is_room_for(theme: Theme, qtbot: QtBot) -> None:
    made = chart(theme, qtbot, 4)
    made.set_bars(Bars([Layer("green", np.full(4, 1300.0))]))
    metrics, frame = QFontMetricsF(scaled(made.font(), 0.82)), made.frame
    assert [*beside(made)] == ["0", "500", "1,000"]
    for value, base in zip((0, 500, 1000), beside(made).values(), strict=True):
        assert base == pytest.approx(frame.y(value) - metrics.height() / 2 + metrics.ascent(), abs=1)
    widest, room = metrics.horizontalAdvance("1,000"), frame.room
    assert room.left() == pytest.approx(widest + 11)
    assert (room.right(), room.top()) == (pytest.approx(made.width() - 7), 5)
    assert room.bottom() == pytest.approx(made.height() - metrics.height() - 8)
    made.resize(420, 400)
    assert [*beside(made)] == ["0", "500", "1,000"]
    made.set_bars(Bars([Layer("green", np.full(4, 2000.0))]))
    assert [*beside(made)] == ["0", "500", "1,000", "1,500", "2,000"]
    made.resize(420, 40)  # however low it is
    assert [*beside(made)] == ["0", "1,000", "2,000"]


def test_lines_go_along_the_numbers_and_the_names(theme: Theme, qtbot: QtBot) -> None:
    made = chart(theme, qtbot, 4)
    ink = theme.color("border_strong").name()
    (axes,) = (each.box for each in drawn(made) if each.kind == "polyline" and each.edge == ink)
    assert [*axes.getRect()] == [pytest.approx(each, abs=0.05) for each in made.frame.room.getRect()]
    corners: list[QPointF] = []
    made._draw_axes(SimpleNamespace(setPen=lambda _pen: None, drawPolyline=corners.extend), made.frame)
    assert all(one.x() == other.x() or one.y() == other.y() for one, other in pairwise(corners)), "none goes across"
    made.set_bars(Bars())
    assert [each.kind for each in drawn(made) if each.kind != "rect"] == [], "without bars there is nothing"


# ---- picking bars out -----------------------------------------------------------------------------------------------


def veils(made: BarChart) -> list[tuple[float, float]]:
    """From where to where there is a veil over the bars, in places of theirs."""
    frame, panel = made.frame, made._theme.color("panel").name()
    found = [each.box for each in drawn(made) if each.fill == panel and each.kind == "rect" and each.box.width() > 0.01]
    assert all((box.top(), box.bottom()) == (frame.room.top(), pytest.approx(frame.y(0), abs=0.01)) for box in found)
    return [(round(frame.value_at(box.left()), 2), round(frame.value_at(box.right()), 2)) for box in found]


def edges(made: BarChart) -> list[tuple[float, float]]:
    """Where the edges of what is picked out are drawn, in places of bars, and how wide."""
    frame, ink = made.frame, made._theme.color("accent").name()
    found = [each for each in drawn(made) if each.kind == "polyline" and each.edge == ink]
    for each in found:
        assert each.box.width() == 0
        assert (each.box.top(), each.box.bottom()) == (frame.room.top(), pytest.approx(frame.room.bottom(), abs=0.01))
    return [(round(frame.value_at(each.box.left()), 2), each.wide) for each in found]


def test_what_is_not_picked_out_lies_under_a_veil(theme: Theme, qtbot: QtBot) -> None:
    made, told = chart(theme, qtbot, 24), []
    made.brushed.connect(told.append)
    green = spots(made, theme.fill("green")[0], 0.5, 0.8)
    assert (veils(made), edges(made)) == ([], [(-0.5, 2), (23.5, 2)])
    made.brush((4, 9))
    assert veils(made) == [(-0.5, 3.5), (8.5, 23.5)]
    assert (made.range, edges(made)) == ((4, 9), [(3.5, 2), (8.5, 2)])
    inside = spots(made, theme.fill("green")[0], 0.5, 0.8)
    assert inside == [x for x in green if 4 <= made.place_at(QPointF(x, 40)) < 9] != []
    paler = made.grab().toImage().pixelColor(place_point(made, 13).x(), round(made.frame.y(1)))
    assert paler.name() not in {theme.fill("green")[0].name(), theme.color("panel").name()}, "it can be seen through"
    made.set_bars(Bars(made.bars.layers, signs={1: ("circle", "good"), 6: ("circle", "good")}))
    made.choose(6)
    assert veils(made) == [(-0.5, 3.5), (8.5, 23.5)]  # signs stand below it
    (band,) = (each.box for each in drawn(made) if each.fill == theme.color("accent_soft").name())
    assert (band.top(), band.bottom()) == (made.frame.room.top(), pytest.approx(made.frame.y(0), abs=0.01))
    made.brush((0, 24))  # all of them
    assert (made.range, veils(made)) == (None, [])
    assert told == []


def drag(made: BarChart, start: float, *stops: float, release: bool = True, up: float = 3.0) -> None:
    """Press the left button at a place among the bars, and move over others; then let go."""

    def point(place: float) -> QPoint:
        return made.frame.point(place, up).toPoint()

    left, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    QTest.mousePress(made, left, none, point(start))
    for stop in stops:
        move(made, point(stop), left)
    if release:
        QTest.mouseRelease(made, left, none, point((start, *stops)[-1]))


def move(made: BarChart, at: QPoint, held: Qt.MouseButton = Qt.MouseButton.NoButton) -> None:
    event = QMouseEvent(
        QMouseEvent.Type.MouseMove, QPointF(at), QPointF(made.mapToGlobal(at)), Qt.MouseButton.NoButton, held,
        Qt.KeyboardModifier.NoModifier,
    )  # fmt: skip
    QApplication.sendEvent(made, event)


def test_dragging_an_edge_takes_whole_bars_and_at_least_one(theme: Theme, qtbot: QtBot) -> None:
    made, told, picked = chart(theme, qtbot, 24), [], []
    made.brushed.connect(told.append)
    made.picked.connect(picked.append)
    drag(made, -0.5, 2.0, 3.3)
    assert (told, edges(made)[0][0]) == ([(4, 24)], 3.5)
    drag(made, 23.5, 12.0, 8.6)
    assert (told[1:], edges(made)[1][0]) == ([(4, 9)], 8.5)
    drag(made, 8.5, 8.9)  # the same bars
    drag(made, 3.5, 2.0, 3.4)
    assert told[2:] == []
    drag(made, 3.5, 7.6)
    assert told[2:] == [(8, 9)]
    drag(made, 8.5, 7.7)
    assert told[3:] == []  # one is the least
    drag(made, 8.5, 5.0, release=False)  # edges may pass each other
    assert [round(each, 1) for veil in veils(made) for each in veil] == [-0.5, 5.0, 7.5, 23.5]
    QTest.mouseRelease(made, Qt.MouseButton.LeftButton, pos=made.frame.point(5.0, 3).toPoint())
    assert told[3:] == [(5, 8)]
    drag(made, 7.5, 80.0)  # no further than there are bars
    drag(made, 4.5, -80.0)
    assert (told[4:], made.range, veils(made)) == ([(5, 24), None], None, [])
    drag(made, -0.5, 80.0)
    assert told[6:] == [(23, 24)], "the last one, there is none beyond it"
    assert picked == []


def test_dragging_what_is_picked_out_moves_it(theme: Theme, qtbot: QtBot) -> None:
    made, told, picked = chart(theme, qtbot, 24), [], []
    made.brushed.connect(told.append)
    made.picked.connect(picked.append)
    made.brush((4, 9))
    drag(made, 6.0, 9.0, 11.1, release=False)
    assert (told, made.range) == ([], (4, 9)), "told once, when it is let go"
    assert [place for place, _wide in edges(made)] == [pytest.approx(8.6, abs=0.1), pytest.approx(13.6, abs=0.1)]
    assert [round(each, 1) for veil in veils(made) for each in veil] == [-0.5, 8.6, 13.6, 23.5]
    QTest.mouseRelease(made, Qt.MouseButton.LeftButton, pos=made.frame.point(11.1, 3).toPoint())
    assert (told, made.range) == ([(9, 14)], (9, 14))
    drag(made, 20.0, 12.0)  # beside it there is nothing to move
    drag(made, 2.0, 12.0)
    assert told[1:] == []
    drag(made, 11.0, 20.0)  # it stops where the bars do
    assert told[1:] == [(18, 23)]
    drag(made, 20.0, 23.0)
    assert told[2:] == [(21, 24)]
    assert picked == []


def test_a_drag_of_a_few_pixels_is_a_click(theme: Theme, qtbot: QtBot) -> None:
    made, told, picked = chart(theme, qtbot, 24), [], []
    made.brushed.connect(told.append)
    made.picked.connect(picked.append)
    made.brush((4, 9))
    left, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    for place, away, moves in ((6, 4, False), (6, 5, True), (15, 4, False), (15, 5, False)):
        at = place_point(made, place)
        QTest.mousePress(made, left, none, at)
        move(made, at + QPoint(away, 0), left)
        assert (made.edges != (3.5, 8.5)) == moves
        QTest.mouseRelease(made, left, none, at + QPoint(away, 0))
    assert picked == [6, 15]


def test_another_button_puts_back_what_is_dragged(theme: Theme, qtbot: QtBot) -> None:
    made, told, picked = chart(theme, qtbot, 24), [], []
    made.brushed.connect(told.append)
    made.picked.connect(picked.append)
    made.brush((4, 9))
    at = made.frame.point(12, 3).toPoint()
    drag(made, 6.0, 12.0, release=False)
    QTest.mousePress(made, Qt.MouseButton.RightButton, pos=at)
    assert [place for place, _wide in edges(made)] == [3.5, 8.5]
    for button in (Qt.MouseButton.RightButton, Qt.MouseButton.LeftButton):
        QTest.mouseRelease(made, button, pos=at)
    assert (told, picked, made.range) == ([], [], (4, 9))
    qtbot.mouseClick(made, Qt.MouseButton.RightButton, pos=at)
    assert picked == []


def test_other_bars_end_a_drag_where_there_are_more_of_them(theme: Theme, qtbot: QtBot) -> None:
    made, told, picked = chart(theme, qtbot, 24), [], []
    made.brushed.connect(told.append)
    made.picked.connect(picked.append)
    drag(made, -0.5, 5.0, release=False)
    made.set_bars(Bars([Layer("sky", np.ones(24))]))  # a reply was run meanwhile
    assert [place for place, _wide in edges(made)] == [pytest.approx(5, abs=0.1), 23.5]
    made.set_bars(Bars([Layer("sky", np.ones(25))]))
    assert [place for place, _wide in edges(made)] == [-0.5, 24.5]
    QTest.mouseRelease(made, Qt.MouseButton.LeftButton, pos=made.frame.point(5, 3).toPoint())
    assert (told, picked, made.range) == ([], [], None)


def test_the_pointer_says_what_can_be_dragged(theme: Theme, qtbot: QtBot) -> None:
    made = chart(theme, qtbot, 24)
    made.brush((4, 9))
    left, right = (round(made.frame.x(place)) for place in (3.5, 8.5))
    seen = {}
    for x in (left - 6, left - 4, left + 4, left + 6, right - 6, right - 4, right + 4, right + 6):
        move(made, QPoint(x, 30))
        seen[x] = (made.cursor().shape() is Qt.CursorShape.SplitHCursor, [wide for _place, wide in edges(made)])
    on, off = (True, [4, 2]), (False, [2, 2])
    assert [*seen.values()] == [off, on, on, off, off, (True, [2, 4]), (True, [2, 4]), off]
    move(made, QPoint(left, 30))
    QApplication.sendEvent(made, QEvent(QEvent.Type.Leave))
    assert [wide for _place, wide in edges(made)] == [2, 2]
    move(made, QPoint(left, made.height() - 4))  # among the names
    assert made.cursor().shape() is not Qt.CursorShape.SplitHCursor
    made.set_bars(made.bars, brush=False)
    move(made, QPoint(round(made.frame.x(-0.5)), 30))
    assert made.cursor().shape() is not Qt.CursorShape.SplitHCursor


def test_the_part_that_is_picked_out_lasts_while_there_are_as_many_bars(theme: Theme, qtbot: QtBot) -> None:
    made = chart(theme, qtbot, 24)
    made.brush((4, 9))
    made.set_bars(Bars([Layer("sky", np.ones(24))]))
    assert made.range == (4, 9)
    made.set_bars(Bars([Layer("sky", np.ones(24))]), brush=False)
    assert (made.range, made.brushable) == (None, False)
    made.set_bars(Bars([Layer("sky", np.ones(24))]))
    made.brush((4, 9))
    made.set_bars(Bars([Layer("sky", np.ones(23))]))
    assert (made.range, made.brushable) == (None, True)
    made.set_bars(Bars([Layer("sky", np.ones(1))]))
    assert (made.brushable, edges(made)) == (False, [])  # one bar has no part
    made.set_bars(Bars([Layer("sky", np.ones(2))]))
    assert made.brushable


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
    qtbot.mouseClick(made, Qt.MouseButton.LeftButton, pos=place_point(made, place))


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
    assert [made.words_at(place_point(made, place)) for place in (0, 3, 5)] == ["bar 0", "bar 3", "bar 5"]
    assert made.words_at(QPoint(0, 40)) == "bar 0"  # beside the first
    assert made.words_at(QPoint(made.width() - 1, 40)) == "bar 5"
    made.set_bars(Bars())
    assert made.words_at(QPoint(100, 40)) == ""


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
    made.choose(0)
    before, watch = made.grab().toImage(), PaintWatch(made)
    theme.choose("dark")
    qtbot.waitUntil(lambda: watch.seen > 0)
    assert made.grab().toImage() != before
    assert spots(made, theme.color("accent_soft"), 0, 0.5) != []
    assert {each.fill for each in bars(made, "green")} == {theme.fill("green")[0].name()}


def test_a_chart_is_painted_when_something_changed_and_once(theme: Theme, qtbot: QtBot) -> None:
    made = chart(theme, qtbot, 24)
    made.brush((4, 9))
    made.choose(3)
    drain()
    watch = PaintWatch(made)
    for change, times in (
        (lambda: made.choose(3), 0),
        (lambda: made.brush((4, 9)), 0),
        (lambda: move(made, QPoint(place_point(made, 15))), 0),
        (lambda: made.choose(5), 1),
        (lambda: made.brush((4, 10)), 1),
        (lambda: move(made, QPoint(round(made.frame.x(3.5)), 30)), 1),
        (lambda: made.set_bars(Bars([Layer("sky", np.ones(24))])), 1),
    ):
        watch.seen = 0
        change()
        drain()
        assert watch.seen == times


def test_a_tip_comes_up_under_the_pointer(theme: Theme, qtbot: QtBot) -> None:
    made = chart(theme, qtbot, 6)
    made.set_bars(Bars(made.bars.layers, words=lambda place: f"bar {place}"))
    at = place_point(made, 4)
    QApplication.sendEvent(made, QHelpEvent(QHelpEvent.Type.ToolTip, at, made.mapToGlobal(at)))
    assert QToolTip.text() == "bar 4"
    QToolTip.hideText()


def test_names_and_numbers_stand_beside_what_they_name(theme: Theme, qtbot: QtBot) -> None:
    made = chart(theme, qtbot, 6)
    drain()
    texts = {each.words: each.box for each in drawn(made) if each.kind == "text"}
    for place in range(6):
        assert abs(texts[str(place)].left() - place_point(made, place).x()) < 8
    assert place_point(made, 0).y() < texts["3"].top()


def test_the_wheel_and_the_pointer_change_nothing_of_a_chart(theme: Theme, qtbot: QtBot) -> None:
    made = chart(theme, qtbot, 24)
    before = made.grab().toImage()
    inside = QPointF(place_point(made, 12))
    event = QWheelEvent(
        inside, made.mapToGlobal(inside), QPoint(), QPoint(0, 120), Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(made, event)
    move(made, place_point(made, 12))
    assert made.grab().toImage() == before
    assert made.cursor().shape() is Qt.CursorShape.ArrowCursor


def test_a_chart_that_was_given_nothing_names_nothing(theme: Theme, qtbot: QtBot) -> None:
    made = BarChart(theme, "Tokens")
    qtbot.addWidget(made)
    made.resize(420, 90)
    QTest.keyClick(made, Qt.Key.Key_End)
    assert (made.amount, made.chosen, "0" in words_drawn(made)) == (0, -1, False)
