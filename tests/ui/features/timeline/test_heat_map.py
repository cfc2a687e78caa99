"""The heat map alone: what is drawn of it, where the keyboard, the mouse and the wheel lead, and what it says."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from lorestudio.domain.records import replace
from lorestudio.ui.features.timeline.drawing import AXIS, ROW_HEIGHT, Geometry, picture
from lorestudio.ui.features.timeline.map_content import MapContent
from lorestudio.ui.features.timeline.pane import USUAL, ZOOMS, HeatMap
from lorestudio.ui.shell.main_window import MainWindow
from lorestudio.ui.shell.theme import Theme
from tests.ui.drawing import drawn, words_drawn
from tests.ui.features.timeline.test_pane import content_of, window  # noqa: F401 (a fixture)


@pytest.fixture
def content(window: MainWindow) -> MapContent:  # noqa: F811 (the fixture)
    """Four entries over ten replies and the one to come."""
    return window.docks["timeline"].pane.map.content


@pytest.fixture
def view(theme: Theme, qtbot: QtBot, content: MapContent) -> HeatMap:
    made = HeatMap(theme)
    qtbot.addWidget(made)
    made.resize(600, 200)
    made.show()
    made.set_content(content, fresh=True)
    return made


def at(view: HeatMap, row: int, column: int) -> QPoint:
    place = view.geometry_now()
    return QPointF(place.left_of(column) + view.cell / 2, place.top_of(row) + ROW_HEIGHT / 2).toPoint()


def test_the_part_in_sight() -> None:
    place = Geometry(500, 197, 100, 20, x=30, y=40)
    assert (place.columns(100), place.columns(10), place.columns(0)) == (range(1, 22), range(1, 10), range(1, 1))
    assert (place.rows(100), place.rows(4)) == (range(2, 13), range(2, 4))
    assert (place.left_of(2), place.top_of(3)) == (110, AXIS + 14)


def test_titles_have_a_share_of_the_room_within_limits(view: HeatMap) -> None:
    seen = []
    for width in (200, 500, 2000):
        view.resize(width, 200)
        seen.append(view.geometry_now().titles)
    assert seen == [84, pytest.approx(140, abs=6), 180]


def test_titles_turns_and_cells_are_drawn(view: HeatMap, theme: Theme, content: MapContent) -> None:
    words = words_drawn(view)
    assert set(content.titles) <= set(words)
    assert "next" in words
    assert "#2" in words
    last = len(content.columns) - 1
    view.choose(1, last)
    ink = {each.words: each.fill for each in drawn(view) if each.kind == "text"}
    assert ink[content.titles[1]] == theme.color("on_accent_soft").name()
    assert (ink[content.titles[0]], ink["next"]) == (theme.color("text").name(), theme.color("accent").name())
    images = len([each for each in drawn(view) if each.kind == "image"])
    view.set_cell(8)  # too narrow for glyphs
    assert len([each for each in drawn(view) if each.kind == "image"]) == 1 < images
    assert len([word for word in words_drawn(view) if word[0] == "#"]) < len([word for word in words if word[0] == "#"])


def test_turns_that_were_not_run_are_hatched(view: HeatMap, content: MapContent) -> None:
    def hatched() -> list[tuple[int, int]]:
        boxes = [each.box for each in drawn(view) if each.fill.startswith("url(#fillpattern")]
        place = view.geometry_now()
        return [(round((box.left() - place.titles) / view.cell), round(box.width() / view.cell)) for box in boxes]

    assert hatched() == []
    turns = [None if place in {1, 2, 10} else turn for place, turn in enumerate(content.turns)]
    view.set_content(replace(content, turns=tuple(turns)))
    assert hatched() == [(1, 2), (10, 1)]
    view.choose(0, 1)
    assert view.accessibleDescription().endswith("not run yet")
    view.choose(-1, 2)
    assert view.accessibleDescription().endswith(": not run yet")


def test_keys_go_from_cell_to_cell(view: HeatMap, content: MapContent, qtbot: QtBot) -> None:
    told: list[tuple[int, int]] = []
    view.moved.connect(lambda row, column: told.append((row, column)))
    key, rows, last = Qt.Key, len(content.rows), len(content.columns) - 1
    walk = [
        ((-1, -1), key.Key_Left, (-1, last)), ((-1, 3), key.Key_Down, (0, 3)), ((-1, 3), key.Key_Up, (rows - 1, 3)),
        ((1, 3), key.Key_Right, (1, 4)), ((1, 3), key.Key_Left, (1, 2)), ((1, 0), key.Key_Left, (1, 0)),
        ((1, last), key.Key_Right, (1, last)), ((1, 3), key.Key_Up, (0, 3)), ((0, 3), key.Key_Up, (0, 3)),
        ((1, 3), key.Key_PageDown, (rows - 1, 3)), ((1, 3), key.Key_PageUp, (0, 3)),
        ((1, 3), key.Key_Home, (1, 0)), ((1, 3), key.Key_End, (1, last)),
    ]  # fmt: skip
    for start, pressed, _end in walk:
        view.choose(*start)
        qtbot.keyClick(view, pressed)
    assert told == [end for _start, _pressed, end in walk]
    told.clear()
    qtbot.keyClick(view, key.Key_Left, Qt.KeyboardModifier.ControlModifier)
    view.set_content(MapContent())
    for pressed in (key.Key_Left, key.Key_Home):
        qtbot.keyClick(view, pressed)
    assert told == []


def test_a_cell_is_wanted_by_enter_and_by_two_clicks(view: HeatMap, qtbot: QtBot) -> None:
    told: list[tuple[int, int]] = []
    view.entered.connect(lambda row, column: told.append((row, column)))
    qtbot.keyClick(view, Qt.Key.Key_Return)  # nothing is looked at
    view.choose(1, 3)
    for pressed in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
        qtbot.keyClick(view, pressed)
    qtbot.mouseDClick(view.viewport(), Qt.MouseButton.LeftButton, pos=at(view, 2, 5))
    qtbot.mouseDClick(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(20, 40))  # a title
    assert told == [(1, 3), (1, 3), (2, 5)]


@pytest.mark.qt_log_ignore("not accepted by receiving widget")  # whoever holds the map takes them
def test_clicks_lead_to_a_cell_a_title_or_a_turn(view: HeatMap, content: MapContent, qtbot: QtBot) -> None:
    told: list[tuple[int, int]] = []
    view.moved.connect(lambda row, column: told.append((row, column)))
    view.choose(0, 7)
    title, axis = QPoint(20, at(view, 2, 0).y()), QPoint(at(view, 0, 4).x(), 5)
    for place in (at(view, 1, 3), title, axis, QPoint(5, 5), QPoint(590, 195)):
        qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.RightButton, pos=at(view, 1, 3))
    assert told == [(1, 3), (2, 7), (0, 4)]
    assert view.cell_at(QPointF(at(view, len(content.rows) - 1, 0)) + QPointF(0, ROW_HEIGHT)) == (-1, 0)


def test_it_says_what_is_looked_at(view: HeatMap, content: MapContent) -> None:
    assert view.accessibleDescription() == f"{len(content.rows)} entries, {len(content.columns)} turns"
    for row in range(len(content.rows)):
        view.choose(row, 0)
        assert view.accessibleDescription().startswith(f"{content.titles[row]}, {content.label(0)}: ")
        assert ("tokens" in view.accessibleDescription()) == (content.word(row, 0) == "injected")
    view.choose(-1, 0)
    assert view.accessibleDescription().startswith(f"{content.label(0)}: ")
    assert "entr" in view.accessibleDescription()


def turn_wheel(view: HeatMap, by: int, held: Qt.KeyboardModifier) -> None:
    place = QPointF(view.geometry_now().titles + 100, 60)
    event = QWheelEvent(
        place, view.viewport().mapToGlobal(place), QPoint(), QPoint(0, by), Qt.MouseButton.NoButton, held,
        Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(view.viewport(), event)


def test_the_wheel_zooms_around_the_pointer_and_scrolls_across(theme: Theme, view: HeatMap) -> None:
    view.set_content(content_of(500), fresh=True)
    bar, shift, control = view.horizontalScrollBar(), *(
        getattr(Qt.KeyboardModifier, name) for name in ("ShiftModifier", "ControlModifier")
    )  # fmt: skip
    turn_wheel(view, -120, shift)
    assert bar.value() == 120
    turn_wheel(view, 120, shift)
    assert bar.value() == 0
    bar.setValue(700)
    under = view.cell_at(QPointF(view.geometry_now().titles + 100, 60))
    turn_wheel(view, 120, control)
    assert view.cell == ZOOMS[ZOOMS.index(USUAL) + 1]
    assert view.cell_at(QPointF(view.geometry_now().titles + 100, 60)) == under
    turn_wheel(view, -120, control)
    assert view.cell == USUAL
    view.resize(900, 200)
    assert view.cell == USUAL  # a width that was chosen stays
    view.set_content(content_of(12), fresh=True)
    assert view.cell > USUAL


def test_what_is_chosen_scrolls_into_sight_with_a_little_around_it(theme: Theme, qtbot: QtBot) -> None:
    view = HeatMap(theme)
    qtbot.addWidget(view)
    view.resize(600, 200)
    view.set_content(replace(content_of(200), rows=tuple(range(60)), titles=("x",) * 60), fresh=True)
    across, down = view.horizontalScrollBar(), view.verticalScrollBar()

    def edges() -> tuple[float, float]:
        place, column = view.geometry_now(), view.chosen[1]
        return place.left_of(column) - place.grid.left(), place.grid.right() - place.left_of(column + 1)

    around = 3 * view.cell
    view.choose(-1, 100)
    assert edges()[1] == pytest.approx(around, abs=1)
    view.choose(-1, 95)  # it is in sight already
    assert edges()[1] == pytest.approx(around + 5 * view.cell, abs=1)
    view.choose(-1, 20)
    assert edges()[0] == pytest.approx(around, abs=1)
    before = across.value()
    view.choose(40, -1)
    assert across.value() == before
    assert view.geometry_now().top_of(41) == pytest.approx(view.geometry_now().height, abs=1)
    view.choose(3, -1)
    assert view.geometry_now().top_of(3) == pytest.approx(AXIS, abs=1)
    view.choose(4, -1, reveal=False)
    assert (down.value(), view.chosen) == (3 * ROW_HEIGHT, (4, -1))


@pytest.mark.parametrize("kind", [".svg", ".png"])
def test_a_picture_has_the_whole_map(content: MapContent, theme: Theme, view: HeatMap, kind: str) -> None:
    made = picture(theme, view.font(), content, 20, kind)
    assert made.startswith(b"<?xml" if kind == ".svg" else b"\x89PNG")
    if kind == ".svg":
        wide = 200 + 20 * len(content.columns) + 12
        assert f'viewBox="0 0 {wide} {AXIS + ROW_HEIGHT * len(content.rows) + 6}"'.encode() in made
        assert all(title.encode() in made for title in content.titles)
