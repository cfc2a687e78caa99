"""The heat map alone: what is drawn of it, where the keyboard, the mouse and the wheel lead, and what it says."""

from __future__ import annotations

from itertools import pairwise, product
from types import MappingProxyType

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QHelpEvent, QImage, QPainter, QWheelEvent
from PySide6.QtWidgets import QApplication, QToolTip
from pytestqt.qtbot import QtBot

from lorestudio.domain.chat import Generation
from lorestudio.domain.records import replace
from lorestudio.studio.replay.timeline import TimelineTurn
from lorestudio.studio.replay.timeline_grid import TimelineGrid
from lorestudio.trace.diff import InjectionChanges
from lorestudio.trace.journey import FateState
from lorestudio.trace.model import Phase
from lorestudio.trace.timeline import Ending, TurnSummary
from lorestudio.ui.features.timeline.drawing import (
    AXIS,
    BAND,
    LARGEST,
    ROW_HEIGHT,
    Geometry,
    MapDrawing,
    cell_colors,
    picture,
)
from lorestudio.ui.features.timeline.map_content import MapContent
from lorestudio.ui.features.timeline.pane import USUAL, ZOOMS, HeatMap
from lorestudio.ui.shell.main_window import MainWindow
from lorestudio.ui.shell.qt import plain
from lorestudio.ui.shell.theme import Theme, glyph, scaled
from lorestudio.ui.widgets.paint import BLANK, Mark, fate_mark
from tests.ui.conftest import menu_of_picture, titles_of
from tests.ui.drawing import Drawn, drawn, drawn_by, image_of, words_drawn
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
    boxes = [each.box for each in drawn(view) if each.fill.startswith("url(#fillpattern")]
    assert {(box.top(), box.height()) for box in boxes} == {(AXIS, ROW_HEIGHT * len(content.rows))}
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


def test_what_is_under_the_pointer_is_told_in_words(
    view: HeatMap, content: MapContent, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    monkeypatch.setattr(QToolTip, "showText", lambda _place, words, *_more: told.append(words))
    turn = content.columns.index(Generation(2)) if Generation(2) in content.columns else 0
    cell, place = at(view, 1, turn), view.geometry_now()
    axis, title = QPoint(cell.x(), int(AXIS) // 2), QPoint(int(place.titles) // 2, cell.y())
    for point in (cell, axis, title, QPoint(title.x(), axis.y())):
        event = QHelpEvent(QEvent.Type.ToolTip, point, view.viewport().mapToGlobal(point))
        QApplication.sendEvent(view.viewport(), event)
    wanted = [content.describe(1, turn), content.describe_column(turn), content.titles[1], ""]
    assert [plain(each) if each else "" for each in wanted] == told


def test_columns_fill_the_room_until_a_width_is_chosen_for_the_chat(theme: Theme, qtbot: QtBot) -> None:
    view = HeatMap(theme)
    qtbot.addWidget(view)
    view.resize(600, 200)
    view.show()
    view.set_content(content_of(12))
    assert view.cell > USUAL
    view.set_content(content_of(500))
    assert view.cell == USUAL
    view.set_content(content_of(12))
    view.zoom(-1)
    chosen = view.cell
    view.set_content(content_of(500))
    view.resize(1800, 200)
    assert view.cell == chosen > USUAL
    view.set_content(content_of(500), fresh=True)
    assert view.cell == USUAL
    view.set_content(content_of(60))
    assert view.cell > USUAL
    view.resize(600, 200)
    assert view.cell == USUAL


def test_what_is_chosen_scrolls_into_sight_with_a_little_around_it(theme: Theme, qtbot: QtBot) -> None:
    view = HeatMap(theme)
    qtbot.addWidget(view)
    view.resize(600, 200)
    rows = {"rows": tuple(range(60)), "titles": ("x",) * 60}
    view.set_content(replace(content_of(200), grid=TimelineGrid(200), **rows), fresh=True)
    across, down = view.horizontalScrollBar(), view.verticalScrollBar()

    def edges() -> tuple[float, float]:
        place, column = view.geometry_now(), view._column
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
    assert (down.value(), view._row, view._column) == (3 * ROW_HEIGHT, 4, -1)


def test_a_turn_shows_what_went_into_it_and_also_what_comes_in_later(theme: Theme, qtbot: QtBot) -> None:
    def summary(*injected: int, cut: tuple[int, ...] = ()) -> TurnSummary:
        went_in = dict.fromkeys(injected, Ending(FateState.INJECTED, Phase.BUDGET, "fits"))
        others = dict.fromkeys(cut, Ending(FateState.REMOVED, Phase.BUDGET, "over"))
        return TurnSummary(0, 0, None, MappingProxyType({**others, **went_in}), {})

    grid = TimelineGrid(4)
    grid.put(0, summary(*range(60)))  # the order of rows: 60 of them, of which some ten have room
    grid.put(1, summary(2, 40, 41, cut=(20,)))
    grid.put(2, summary(cut=(25, 26)))
    view = HeatMap(theme)
    qtbot.addWidget(view)
    view.resize(600, 200)
    content = replace(content_of(4), grid=grid, rows=tuple(range(60)), titles=("x",) * 60)
    view.set_content(content, fresh=True)

    def sees(row: int) -> bool:
        place = view.geometry_now()
        return place.top <= place.top_of(row) and place.top_of(row + 1) <= place.height

    view.choose(-1, 1)
    assert sees(2)  # it is there already: nothing jumps
    assert view.verticalScrollBar().value() == 0
    view.choose(-1, 2)
    assert sees(25)
    assert sees(26)
    view.choose(-1, 1)
    assert sees(40)  # most of it
    assert sees(41)
    view.choose(-1, 3)
    where = view.verticalScrollBar().value()
    grid.put(3, summary(5))
    view.set_content(content)
    assert sees(5)
    assert where != view.verticalScrollBar().value()
    view.verticalScrollBar().setValue(where)
    view.set_content(content)
    assert view.verticalScrollBar().value() == where  # where somebody scrolled to


@pytest.mark.parametrize("kind", [".svg", ".png"])
def test_a_picture_has_the_whole_map(content: MapContent, theme: Theme, view: HeatMap, kind: str) -> None:
    made = picture(theme, view.font(), content, 20, kind)()
    assert made.startswith(b"<?xml" if kind == ".svg" else b"\x89PNG")
    if kind == ".svg":
        wide = 200 + 20 * len(content.columns) + 12
        assert f'viewBox="0 0 {wide} {AXIS + ROW_HEIGHT * len(content.rows) + 6}"'.encode() in made
        assert all(title.encode() in made for title in content.titles)


# ---- how it is drawn ------------------------------------------------------------------------------------------------

TITLES = 140.0


def lay(content: MapContent, theme: Theme, cell: float = 20, x: float = 0, y: float = 0) -> MapDrawing:
    return MapDrawing(theme, QFont(), content, Geometry(600, 200, TITLES, cell, x, y))


def shapes(
    content: MapContent, theme: Theme, row: int, column: int, cell: float = 20, *, focus: bool = False
) -> list[Drawn]:
    made = lay(content, theme, cell)
    return drawn_by(lambda painter: made.draw(painter, (row, column), focus=focus), QSize(600, 200))


def painted(content: MapContent, theme: Theme, x: float = 0, y: float = 0) -> QImage:
    """As on a screen, where something chosen would show if it were not kept within its part."""
    image = QImage(600, 200, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    lay(content, theme, x=x, y=y).draw(painter, (0, 0), focus=True)
    painter.end()
    return image


def test_the_title_of_the_chosen_row_has_a_ground_and_a_bar_of_its_own(content: MapContent, theme: Theme) -> None:
    soft, strong = theme.color("accent_soft").name(), theme.color("accent").name()
    top = AXIS + 2 * ROW_HEIGHT
    found = [each for each in shapes(content, theme, 2, -1) if each.kind == "rect" and each.fill in {soft, strong}]
    assert [(each.fill, each.box) for each in found] == [
        (soft, QRectF(0, top, TITLES - 4, ROW_HEIGHT)), (strong, QRectF(0, top, 3, ROW_HEIGHT)),
    ]  # fmt: skip
    assert not [each for each in shapes(content, theme, -1, -1) if each.fill in {soft, strong}]
    titles = [each for each in shapes(content, theme, 2, -1) if each.words in content.titles]
    assert {each.box.left() for each in titles} == {8}
    lines = [(each.box.top() - AXIS) // ROW_HEIGHT for each in titles]
    assert lines == [*range(len(content.titles))]


def test_the_chosen_cell_has_an_edge_within_it_and_with_the_keyboard_a_ring_around_it(
    content: MapContent, theme: Theme
) -> None:
    cell = QRectF(TITLES + 3 * 20, AXIS + ROW_HEIGHT, 20, ROW_HEIGHT)
    ink = theme.color("focus").name()
    (edge,) = (each for each in shapes(content, theme, 1, 3) if each.edge == ink)
    assert (edge.box, edge.wide) == (cell.adjusted(0.5, 0.5, -0.5, -0.5), 1)
    (ring,) = (each for each in shapes(content, theme, 1, 3, focus=True) if each.edge == ink)
    assert (ring.box, ring.wide) == (cell, 2)
    (narrow,) = (each for each in shapes(content, theme, 1, 3, 1) if each.edge == ink)
    assert narrow.box.width() == 3  # else it would not be seen
    for row, column in ((-1, 3), (1, -1)):
        assert not [each for each in shapes(content, theme, row, column) if each.edge == ink]
    first = [each for each in shapes(content, theme, 0, 0) if each.edge == ink]
    assert [each.box.topLeft() for each in first] == [QPointF(TITLES + 0.5, AXIS + 0.5)]


def test_the_chosen_turn_goes_down_to_the_last_row_and_not_through_its_name(content: MapContent, theme: Theme) -> None:
    soft, strong = theme.color("accent_soft").name(), theme.color("accent").name()
    bottom = AXIS + ROW_HEIGHT * len(content.rows)

    def found(cell: float, column: int = 3) -> tuple[list[QRectF], list[tuple[float, float, float]]]:
        made = shapes(content, theme, -1, column, cell)
        lines = [(each.box.left(), each.box.top(), each.box.bottom()) for each in made
                 if each.edge == strong and not each.box.width()]  # fmt: skip
        return [each.box for each in made if each.fill == soft], lines

    left = TITLES + 3 * 20
    assert found(20) == ([QRectF(left, 0, 20, AXIS)], [(left, AXIS, bottom), (left + 20, AXIS, bottom)])
    assert found(6) == ([QRectF(TITLES + 18, 0, 6, AXIS)], [(TITLES + 18, AXIS, bottom), (TITLES + 24, AXIS, bottom)])
    assert found(4) == ([QRectF(TITLES + 12, 0, 4, AXIS)], [(TITLES + 14, AXIS, bottom)])
    assert found(1) == ([QRectF(TITLES + 3, 0, 2, AXIS)], [(TITLES + 4, AXIS, bottom)])  # never narrower than two
    assert found(20, 0)[0] == [QRectF(TITLES, 0, 20, AXIS)]
    assert found(20, -1) == ([], [])


def test_lines_tell_rows_apart_and_columns_where_they_are_wide_enough(content: MapContent, theme: Theme) -> None:
    rows, columns = len(content.rows), len(content.columns)

    def found(cell: float) -> tuple[list[float], list[float], set[float]]:
        ink = theme.color("panel").name()
        made = [each for each in shapes(content, theme, -1, -1, cell) if each.edge == ink and each.kind != "text"]
        across = [each for each in made if each.box.width() > each.box.height()]
        down = [each for each in made if each.box.width() < each.box.height()]
        for each in across:
            assert (each.box.left(), each.box.right()) == (TITLES, TITLES + cell * columns)
        for each in down:
            assert (each.box.top(), each.box.bottom()) == (AXIS, AXIS + ROW_HEIGHT * rows)
        return [each.box.top() for each in across], [each.box.left() for each in down], {each.wide for each in made}

    between = [AXIS + ROW_HEIGHT * place for place in range(rows + 1)]
    for cell, wide in ((20, 2), (13, 2), (12, 1), (6, 1)):
        assert found(cell) == (between, [TITLES + cell * place for place in range(columns + 1)], {wide})
    assert found(5) == (between, [], {1})


def test_a_glyph_stands_in_the_middle_of_each_cell_that_says_something(content: MapContent, theme: Theme) -> None:
    wanted = {}
    for row, column in product(range(len(content.rows)), range(len(content.columns))):
        ending = content.ending(row, column)
        if ending is not None and (mark := fate_mark(ending.as_fate(0))).icon:
            ink = theme.palette.fill(mark.fill)[1] if mark.fill else theme.palette.text_muted
            place = (TITLES + 20 * column + 10, AXIS + ROW_HEIGHT * (row + 0.5))
            wanted[place] = image_of(glyph(mark.icon, ink, 11))
    assert len(wanted) > 3
    for cell, seen in ((20, True), (13, True), (12, False)):
        _cells, *signs = (each for each in shapes(content, theme, -1, -1, cell) if each.image)
        assert bool(signs) == seen
        if cell == 20:
            assert {(each.box.center().x(), each.box.center().y()): each.image for each in signs} == wanted


def test_what_is_scrolled_out_of_its_part_is_not_seen_in_another(content: MapContent, theme: Theme) -> None:
    panel, soft, strong = (theme.color(name) for name in ("panel", "accent_soft", "accent"))
    image = painted(content, theme, x=10, y=9)  # half of the first cell
    corner = {image.pixelColor(x, y).name() for x in range(int(TITLES)) for y in range(AXIS)}
    assert corner == {panel.name()}  # neither the title nor the number of the chosen cell, nor its ring
    beside = {image.pixelColor(int(TITLES) - 3 + x, y).name() for x in range(3) for y in range(AXIS, 200)}
    assert beside == {panel.name()}
    numbers = [image.pixelColor(int(TITLES) + x, 1) for x in range(15)]
    assert numbers[4] == soft
    assert numbers[-1] == panel
    assert image.pixelColor(1, AXIS) == strong  # the title's bar, half of it
    assert image.pixelColor(1, AXIS + 9) == panel
    below = {image.pixelColor(300, y).name() for y in range(AXIS + ROW_HEIGHT * len(content.rows), 200)}
    assert below == {panel.name()}


def test_numbers_stand_over_their_turns_as_far_as_they_have_room(theme: Theme) -> None:
    long = content_of(100)
    metrics = QFontMetricsF(scaled(QFont(), 0.82))

    def numbers(column: int, cell: float) -> list[Drawn]:
        return [each for each in shapes(long, theme, -1, column, cell) if each.kind == "text"]

    for column, cell in ((-1, 20.0), (7, 20.0), (-1, 8.0), (50, 8.0), (12, 2.0)):
        found = numbers(column, cell)
        ends = [(each.box.left(), each.box.left() + metrics.horizontalAdvance(each.words)) for each in found]
        assert len(ends) > 3
        assert all(end + 3.9 <= start for (_left, end), (start, _end) in pairwise(ends)), (column, cell)
        for each, (left, right) in zip(found, ends, strict=True):
            start = TITLES + int(each.words[1:]) * cell
            middle = (left + right) / 2
            assert left == pytest.approx(start + 1, abs=0.01) or middle == pytest.approx(start + cell / 2, abs=0.01)
        bold = [each.words for each in found if each.weight > 400]
        assert bold == [each.words for each in found if each.fill == theme.color("accent").name()]
        assert bold == ([f"#{column}"] if column >= 0 else [])
        assert {each.fill for each in found} <= {theme.color(name).name() for name in ("accent", "text_faint")}
    assert [each.words for each in numbers(-1, 60)] == [f"#{place}" for place in range(8)]


def test_a_number_that_is_longer_than_those_at_the_ends_takes_the_room_of_the_next(theme: Theme) -> None:
    metrics = QFontMetricsF(scaled(QFont(), 0.82))
    long = replace(content_of(100), swiped=frozenset({10, 40}))
    cell = metrics.horizontalAdvance("#99") + 9
    found = [each.words for each in shapes(long, theme, -1, -1, cell) if each.kind == "text"]
    assert found[9:12] == ["#9", "#10 ‹1›", "#12"]


def test_nothing_is_drawn_of_no_turns_but_the_ground(theme: Theme) -> None:
    found = shapes(MapContent(), theme, -1, -1)
    assert [(each.fill, each.box) for each in found] == [(theme.color("panel").name(), QRectF(0, 0, 600, 200))]


def test_outcomes_without_a_fill_have_the_colour_of_a_line(theme: Theme) -> None:
    colors = cell_colors((BLANK, Mark("check", "green", "in"), Mark("slash", "", "refused")), theme)
    wanted = [theme.color("panel"), theme.fill("green")[0], theme.color("sunken"), theme.color("panel")]
    assert [QColor(int(each)) for each in colors[:4]] == wanted


def test_a_picture_is_never_wider_or_higher_than_can_be_stored(theme: Theme) -> None:
    made = picture(theme, QFont(), content_of(20_000), 20, ".svg")()
    wide = int(made.split(b'viewBox="0 0 ')[1].split()[0])
    assert LARGEST - 50 < wide <= LARGEST + 12


def test_a_picture_of_nothing_or_of_another_kind_is_refused(content: MapContent, theme: Theme) -> None:
    with pytest.raises(ValueError, match="no turns to draw yet"):
        picture(theme, QFont(), MapContent(), 20, ".svg")
    with pytest.raises(ValueError, match=r"not as \.bmp"):
        picture(theme, QFont(), content, 20, ".bmp")
    with pytest.raises(ValueError, match="not as a file without an ending"):
        picture(theme, QFont(), content, 20, "")


def test_a_picture_as_png_shows_the_same_cells(content: MapContent, theme: Theme) -> None:
    image = QImage.fromData(picture(theme, QFont(), content, 20, ".png")())
    assert image.width() == 200 + 20 * len(content.columns) + 12
    assert image.pixelColor(image.width() - 3, image.height() - 3) == theme.color("panel")
    seen = set()
    for row, column in product(range(len(content.rows)), range(len(content.columns))):
        ending = content.ending(row, column)
        mark = fate_mark(ending.as_fate(0)) if ending is not None else BLANK
        ground = theme.fill(mark.fill)[0] if mark.fill else theme.color("sunken" if ending is not None else "panel")
        assert image.pixelColor(200 + 20 * column + 3, AXIS + ROW_HEIGHT * row + 3) == ground
        seen.add(ground.name())
    assert len(seen) > 1


def test_cells_of_many_rows_are_drawn_as_those_of_few_are(theme: Theme) -> None:
    """They are enlarged some at a time; each has its own colour where one time ends and the next begins, too."""
    grid, rows = TimelineGrid(2), 3 * BAND + 5
    ending, turns = Ending(FateState.INJECTED, Phase.BUDGET, "fits"), []
    for column in range(2):
        found = {row: ending for row in range(rows) if row % 2 == column}
        summary = TurnSummary(0, 0, None, MappingProxyType(found), {})
        grid.put(column, summary)
        turns.append(TimelineTurn(Generation(column), summary, None, InjectionChanges()))
    drawn_rows = tuple(grid.entries.index(entry) for entry in range(rows))
    content = replace(content_of(2), grid=grid, rows=drawn_rows, titles=("",) * rows, turns=tuple(turns))
    image = QImage.fromData(picture(theme, QFont(), content, 8, ".png")())
    strong, panel = theme.fill(fate_mark(ending.as_fate(0)).fill)[0], theme.color("panel")
    for row, column, down in product(range(rows), range(2), (2, ROW_HEIGHT - 2)):
        seen = image.pixelColor(200 + 8 * column + 4, AXIS + ROW_HEIGHT * row + down)
        assert seen == (strong if row % 2 == column else panel), (row, column, down)


def test_the_menu_of_a_cell_is_about_it(window: MainWindow) -> None:  # noqa: F811 (the fixture)
    pane = window.docks["timeline"].pane
    pane.map.moved.emit(0, 0)
    column = len(pane.content.columns) - 2
    menu = menu_of_picture(pane.map, at(pane.map, 1, column))
    assert titles_of(menu) == [
        "Why? for the chosen cell", "Open the chosen entry", "Pin in this chat", "Block in this chat",
        "Save entries as CSV…", "Save the map as a picture…", "Copy as a picture",
    ]  # fmt: skip
    menu.close()
    assert window.selection.entry == pane.content.entry(1)
    assert window.selection.generation == pane.content.generations[column]
