"""The tuning pane alone: what may be turned, how far a search is, and what can be done without a point."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QRectF, Qt
from PySide6.QtGui import QFontMetricsF
from pytestqt.qtbot import QtBot

from lorestudio.domain.records import replace
from lorestudio.ui.features.tuning.search_pane import PointChart, Points, TuningPane
from lorestudio.ui.shell.qt import ALIGNMENT, HORIZONTAL, TOOLTIP, V_RIGHT
from lorestudio.ui.shell.theme import Theme, scaled
from tests.ui.drawing import drawn, words_drawn


@pytest.fixture
def pane(theme: Theme, qtbot: QtBot) -> TuningPane:
    made = TuningPane(theme)
    qtbot.addWidget(made)
    return made


def test_empty_lines_turn_nothing(pane: TuningPane) -> None:
    pane.over.setPlainText("  scanDepth=1..6 \n\n   \nmaxEntries=1,2\n")
    assert pane.lines() == ("scanDepth=1..6", "maxEntries=1,2")


@pytest.mark.parametrize(
    ("running", "words", "said"),
    [
        (True, "", "3 of 12 points"),
        (True, "Nearly done.", "Nearly done."),
        (False, "", ""),
        (False, "12 points run.", "12 points run."),
    ],
)
def test_how_far_a_search_is(pane: TuningPane, running: bool, words: str, said: str) -> None:
    pane.show_running(3, 12, running=running, words=words)
    assert pane.state.text() == said
    assert (pane.bar.value(), pane.bar.maximum()) == (3, 12)
    assert [each.isHidden() for each in (pane.bar, pane.stop, pane.start)] == [not running, not running, running]


def test_the_keyboard_stays_in_the_pane_when_a_search_begins_and_ends(pane: TuningPane, qtbot: QtBot) -> None:
    pane.show()
    pane.activateWindow()
    pane.start.setFocus()
    qtbot.waitUntil(pane.start.hasFocus)
    pane.show_running(0, 12, running=True)
    assert pane.stop.hasFocus()
    pane.show_running(0, 0, running=False)
    assert pane.over.hasFocus(), "there are no points to go to"
    pane.show_running(0, 12, running=True)
    assert pane.over.hasFocus(), "whoever is elsewhere stays there"


def test_without_points_it_says_what_to_do_and_offers_nothing(pane: TuningPane) -> None:
    heads: list[str] = []
    pane.note_changed.connect(heads.append)
    pane.show_found(None)
    assert (heads, pane.current, pane.focus_target()) == ([""], None, pane.over)
    assert pane.story.text().startswith("Write down what should be in the prompt")
    assert not any(each.isVisibleTo(pane) for each in pane.acts.values()), "there is no point to do anything with"
    assert not any(act.isEnabled() for act in pane.acts.values())
    wanted: list[str] = []
    pane.wanted.connect(wanted.append)
    pane.first.click()
    assert wanted == ["pane.expectations"]
    pane.show()
    assert pane.story.geometry().bottom() < pane.first.y(), "what to do stands above the button that begins it"
    assert [part.isHidden() for part in (pane.chart, pane.view, pane.story)] == [True, True, False]


POINTS = Points(
    {-1: (0.0, 0.0), 0: (10.0, 1.0), 1: (20.0, 0.5), 2: (20.0, 1.0)}, (0, 2), "met and tokens",
    lambda number: f"point {number}", lambda value: f"{value:g} tokens", lambda value: f"{value:.0%} of all",
)  # fmt: skip


@pytest.fixture
def chart(theme: Theme, qtbot: QtBot) -> PointChart:
    made = PointChart(theme, "Points")
    qtbot.addWidget(made)
    made.resize(700, 200)
    made.set_points(POINTS)
    made.show()
    return made


def at(chart: PointChart, number: int, aside: int = 0) -> QPoint:
    """Where a point is drawn, or so many pixels to the left of it."""
    return chart.frame.point(*chart.points.places[number]).toPoint() - QPoint(aside, 0)


def looks(chart: PointChart, number: int) -> tuple[str, int]:
    """The colour in the middle of a point, and how many pixels wide it is with its edge."""
    image, middle = chart.grab().toImage(), at(chart, number)
    ground = image.pixelColor(at(chart, number) - QPoint(0, 14))
    wide = [image.pixelColor(middle + QPoint(x, 0)) != ground for x in range(-10, 11)].count(True)
    return image.pixelColor(middle).name(), wide


@pytest.mark.parametrize("wide", [300, 420, 700])
def test_the_numbers_at_both_ends_are_whole_however_narrow_it_is(chart: PointChart, theme: Theme, wide: int) -> None:
    chart.resize(wide, 200)
    metrics = QFontMetricsF(scaled(chart.font(), 0.82))
    told = {each.words: each.box for each in drawn(chart) if each.kind == "text"}
    first, last, name = told["0 tokens"], told["20 tokens"], told["met and tokens"]
    assert first.x() >= 0
    assert first.x() + metrics.horizontalAdvance("0 tokens") < last.x()
    assert last.x() + metrics.horizontalAdvance("20 tokens") <= wide
    assert name.y() > first.y() == last.y()


def test_points_have_all_the_room_and_their_ends_are_told(chart: PointChart, theme: Theme) -> None:
    frame = chart.frame
    assert frame.across == pytest.approx((-1.2, 21.2))
    assert frame.up == pytest.approx((-0.06, 1.06))
    words = words_drawn(chart)
    assert sorted(words) == ["0 tokens", "0% of all", "100% of all", "20 tokens", "met and tokens"]
    metrics = QFontMetricsF(scaled(chart.font(), 0.82))
    wide = metrics.horizontalAdvance("100% of all")
    assert wide < frame.room.left() < wide + 20
    told = {each.words: each.box for each in drawn(chart) if each.kind == "text"}
    for name, x in (("0 tokens", 0), ("20 tokens", 20), ("met and tokens", 10)):
        middle = told[name].left() + metrics.horizontalAdvance(name) / 2
        assert middle == pytest.approx(frame.x(x), abs=0.01), "under what it names"
    assert frame.room.bottom() < told["0 tokens"].top() - metrics.ascent()
    assert told["met and tokens"].top() + metrics.descent() <= 200 - 3
    for name, y in (("0% of all", 0), ("100% of all", 1)):
        assert told[name].top() == pytest.approx(frame.y(y) - metrics.height() / 2 + metrics.ascent(), abs=1)
        assert told[name].left() + metrics.horizontalAdvance(name) <= frame.room.left() - 4.9
    grey, blue, panel = (color.name() for color in (theme.fill("grey")[0], theme.fill("blue")[0], theme.color("panel")))
    assert [looks(chart, number)[0] for number in (-1, 0, 1, 2)] == [panel, blue, grey, blue]
    assert {looks(chart, number)[1] for number in (-1, 1)} <= {9, 10}
    assert list(chart.points.places) == [-1, 1, 0, 2], "the front lies above the others"
    middles = sorted(each.box.center().toTuple() for each in drawn(chart) if each.image)
    points = sorted(frame.point(*place).toTuple() for place in POINTS.places.values())
    for middle, point in zip(middles, points, strict=True):
        assert middle == pytest.approx(point, abs=0.51)
    (front,) = (each for each in drawn(chart) if each.kind == "polyline" and each.edge == theme.color("accent").name())
    ends = (frame.point(10, 1), frame.point(20, 1))
    assert [*front.box.getRect()] == pytest.approx([*QRectF(*ends).getRect()], abs=0.01)
    before = chart.grab().toImage()
    chart.choose(1)
    assert chart.accessibleDescription() == "point 1"
    assert chart.grab().toImage() != before
    assert looks(chart, 1)[0] == grey
    assert 15 <= looks(chart, 1)[1] <= 17, "with a wide edge"
    beside = chart.grab().toImage().pixelColor(at(chart, 1, 7))
    assert beside == theme.color("accent")
    chart.choose(None)
    assert chart.accessibleDescription() == ""
    chart.set_points(Points())
    assert words_drawn(chart) == []
    one = Points({0: (5.0, 0.0)}, (0,), "alone", str, str, str)
    chart.set_points(one)
    assert sorted(words_drawn(chart)) == ["0.0", "5.0", "alone"]


def test_a_chosen_point_is_whole_where_others_are_the_same(chart: PointChart) -> None:
    places = {0: (10.0, 1.0), 1: (20.0, 0.5), 2: (5.0, 0.2)}
    chart.set_points(replace(POINTS, places=places, front=(0,)))
    chart.choose(1)
    alone = chart.grab().toImage()
    chart.set_points(replace(POINTS, places={**places, 3: (20.0, 0.5), 4: (20.0, 0.5)}, front=(0,)))
    assert chart.grab().toImage() == alone


def test_clicks_near_a_point_mean_it_and_keys_go_along_the_front(chart: PointChart, qtbot: QtBot) -> None:
    told: list[int] = []
    chart.picked.connect(told.append)
    for number, aside in ((1, 0), (0, 10), (0, 30), (-1, 0)):
        qtbot.mouseClick(chart, Qt.MouseButton.LeftButton, pos=at(chart, number, aside))
    qtbot.mouseClick(chart, Qt.MouseButton.RightButton, pos=at(chart, 1))
    assert told == [1, 0, -1]
    tips = [chart.words_at(at(chart, *place)) for place in ((1, 0), (0, 13), (0, 16), (-1, 0))]
    assert tips == ["point 1", "point 0", "", "point -1"]
    assert chart.hasFocus()
    equal = {0: (10.0, 1.0), 1: (20.0, 0.5), 2: (20.0, 0.5), 3: (20.0, 0.5)}
    chart.set_points(replace(POINTS, places=equal, front=(0, 2)))
    qtbot.mouseClick(chart, Qt.MouseButton.LeftButton, pos=at(chart, 2))
    assert told[-1] == 2, "the one on top, which can be seen"
    chart.set_points(POINTS)
    told.clear()
    right, left = Qt.Key.Key_Right, Qt.Key.Key_Left
    for chosen, key in ((None, right), (0, right), (2, right), (2, left), (0, left), (1, left), (0, Qt.Key.Key_Up)):
        chart.choose(chosen)
        qtbot.keyClick(chart, key)
    assert told == [0, 2, 2, 0, 0, 0]
    chart.set_points(Points())
    qtbot.keyClick(chart, right)
    assert len(told) == 6


def test_what_may_be_turned_and_how_is_asked_for_by_buttons(pane: TuningPane) -> None:
    told: list[str] = []
    pane.wanted.connect(told.append)
    assert pane.focus_target() is pane.over
    assert [pane.way.itemText(place) for place in range(pane.way.count())] == ["Guided", "At random", "Every one"]
    assert all(pane.way.itemData(place, TOOLTIP) for place in range(pane.way.count()))
    said = pane.model.headerData(2, HORIZONTAL, TOOLTIP)
    assert said == pane.model.headerData(4, HORIZONTAL, TOOLTIP)
    assert "no point is chosen by them" in said
    assert [(box.minimum(), box.maximum(), box.value()) for box in (pane.runs, pane.workers)] == [
        (1, 10_000, 100), (1, 64, 1),
    ]  # fmt: skip
    for each in (pane.add, pane.start, pane.stop):
        each.click()
    assert told == ["tuning.add", "tuning.start", "tuning.stop"]
    heads = [pane.model.headerData(place, HORIZONTAL) for place in range(pane.model.columnCount())]
    assert (heads[0], heads[2], heads[4:]) == ("Point", "held out", ["held out", "Settings"])
    right = [pane.model.headerData(at, HORIZONTAL, ALIGNMENT) == V_RIGHT for at in range(pane.model.columnCount())]
    assert right == [False, True, True, True, True, False]
    high = pane.over.fontMetrics().lineSpacing()
    assert (pane.over.minimumHeight(), pane.over.maximumHeight()) == (high + 14, 3 * high + 14)
    assert (pane.bar.maximumHeight(), pane.bar.isTextVisible()) == (4, False)
    told.clear()
    for act in pane.acts.values():
        act.setEnabled(True)
        act.click()
    assert told == [f"tuning.{name}" for name in pane.acts]
    pane.resize(700, 700)
    pane.show()
    parts = (pane.over, pane.way, pane.start, pane.state, pane.chart, pane.view, pane.acts["look"])
    tops = [part.mapTo(pane, QPoint()).y() for part in parts]
    assert tops == sorted(tops)
    assert pane.story.textInteractionFlags() & Qt.TextInteractionFlag.TextSelectableByMouse


def test_tab_leaves_the_lines(pane: TuningPane, qtbot: QtBot) -> None:
    pane.show()
    pane.activateWindow()
    pane.over.setFocus()
    qtbot.waitUntil(pane.over.hasFocus)
    qtbot.keyClick(pane.over, Qt.Key.Key_Tab)
    assert not pane.over.hasFocus()
    assert pane.over.toPlainText() == ""
