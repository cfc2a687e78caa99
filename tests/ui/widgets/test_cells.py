"""The one delegate draws what a cell's look says: pieces from both ends, bars, wrapped text, the ring."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QImage, QPainter, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QListView, QProxyStyle, QStyle, QStyleOption, QStyleOptionViewItem, QWidget

from lorestudio.ui.shell.qt import CHECK, LOOK
from lorestudio.ui.shell.theme import glyph, scaled
from lorestudio.ui.widgets import cells
from lorestudio.ui.widgets.cells import (
    Bar,
    Body,
    Canvas,
    CellDelegate,
    Chip,
    Column,
    Glyph,
    Look,
    Marked,
    Piece,
    Strip,
    Swatch,
    Words,
    one_line,
)
from lorestudio.ui.widgets.layouts import letters
from lorestudio.ui.widgets.paint import Mark
from lorestudio.ui.widgets.record_table import RecordTable
from tests.ui.drawing import Drawn, drawn, drawn_by, image_of, smooth, words_drawn

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytestqt.qtbot import QtBot

    from lorestudio.ui.shell.theme import Theme


@pytest.fixture
def shown(qtbot: QtBot, theme: Theme) -> Callable[..., tuple[QListView, QImage]]:
    def show(look: Look, high: int = 0) -> tuple[QListView, QImage]:
        view = QListView()
        qtbot.addWidget(view)
        view.model_of_test = RecordTable([Column("", str, look=lambda _row: look)])
        view.model_of_test.set_rows(["row"])
        view.setModel(view.model_of_test)
        view.setItemDelegate(CellDelegate(theme, view, high))
        view.resize(300, 160)
        return view, view.viewport().grab().toImage()

    return show


def colours(image: QImage, left: int, right: int, top: int = 0, bottom: int = 24) -> set[str]:
    return {image.pixelColor(x, y).name() for x in range(left, right) for y in range(top, bottom)}


@pytest.mark.parametrize(
    ("piece", "fill"),
    [
        (Marked(Mark("check", "green", "in")), "green"),
        (Swatch("sky", "P"), "sky"),
        (Chip("pinned", "yellow"), "yellow"),
        (Bar(((0, 0.5, "orange"),)), "orange"),
    ],
)
def test_pieces_are_drawn_in_their_fill(
    shown: Callable[[Look], tuple[QListView, QImage]], theme: Theme, piece: Piece, fill: str
) -> None:
    _view, image = shown(one_line(piece))
    assert theme.fill(fill)[0].name() in colours(image, 0, 150)


def test_what_stands_at_the_right_end_keeps_its_room(
    shown: Callable[[Look], tuple[QListView, QImage]], theme: Theme
) -> None:
    mark = Marked(Mark("check", "green", "in"), 16, 17)
    view, image = shown(one_line(Words("a title that is far too long for this narrow row " * 3), right=(mark,)))
    wide = view.viewport().width()
    assert theme.fill("green")[0].name() in colours(image, wide - 26, wide)
    assert theme.fill("green")[0].name() not in colours(image, 0, wide - 30)


def test_a_ground_marks_words_and_a_chosen_row_has_its_own_ink(
    shown: Callable[[Look], tuple[QListView, QImage]], theme: Theme
) -> None:
    look = one_line(Words("found", ground="mark", gap=0), Glyph("warning", "error", steady=True), ring=True)
    view, image = shown(look)
    assert theme.color("mark").name() in colours(image, 0, 60)
    view.setCurrentIndex(view.model().index(0, 0))
    chosen = view.viewport().grab().toImage()
    assert theme.color("accent_soft").name() in colours(chosen, 100, 200)
    assert theme.color("error").name() in colours(chosen, 0, 120)  # a steady glyph keeps its colour


def test_a_bar_has_its_line_through_the_whole_row(
    shown: Callable[[Look], tuple[QListView, QImage]], theme: Theme
) -> None:
    view, image = shown(one_line(Bar(((0, 1, "green"),), line=0.5, after=0), margin=0))
    middle = view.viewport().width() // 2
    above = colours(image, middle - 3, middle + 4, 0, 4)
    assert theme.color("panel").name() in above
    assert len(above) > 1  # above the bar, which is lower than the row
    assert theme.fill("green")[0].name() in colours(image, middle - 1, middle + 1, 6, 18)  # through its gaps


def test_wrapped_text_folds_and_makes_the_row_taller(
    shown: Callable[[Look], tuple[QListView, QImage]], theme: Theme
) -> None:
    heights = []
    for most in (0, 3):
        body = Body("word " * 200, most=most, more="… more")
        view, _image = shown(Look((Strip((Words("title"),), height=24),), side="green", body=body))
        option = QStyleOptionViewItem()
        view.initViewItemOption(option)
        heights.append(view.itemDelegate().sizeHint(option, view.model().index(0, 0)).height())
    assert heights[0] > heights[1] > 24 + 3 * theme_line(view)
    title, *lines, more = words_drawn(view)
    assert (title, len(lines), more) == ("title", 3, "… more")
    assert {word for line in lines for word in line.split()} == {"word"}
    view, image = shown(Look((Strip((Words("title"),), height=24),), side="green", body=Body("short")))
    assert theme.fill("green")[0].name() in colours(image, 6, 12, 4, 30)


def test_words_begin_beside_what_is_painted_before_them(
    shown: Callable[[Look], tuple[QListView, QImage]], theme: Theme
) -> None:
    """No letter lies on the colour at the side: with one, the words begin behind it, a gap between."""
    line = (Strip((Words("HHH"),)),)
    begins = []
    for look, behind in ((Look(line), 0), (Look(line, side="green"), 12)):
        image, ink = shown(look)[1], theme.color("text").lightness()
        dark = [x for x in range(behind, 150) for y in range(8, 16) if image.pixelColor(x, y).lightness() < ink + 40]
        begins.append(min(dark))
    assert begins[1] - begins[0] == 12


def theme_line(view: QListView) -> float:
    return view.fontMetrics().height()


def test_a_cell_without_a_look_is_left_to_qt(qtbot: QtBot, theme: Theme) -> None:
    view = QListView()
    qtbot.addWidget(view)
    model = RecordTable([Column("", str)], parent=view)
    model.set_rows(["plain"])
    view.setModel(model)
    view.setItemDelegate(CellDelegate(theme, view, 44))
    assert model.index(0, 0).data(LOOK) is None
    assert view.sizeHintForRow(0) < 44
    assert view.viewport().grab().toImage().format() is not QImage.Format.Format_Invalid
    assert model.flags(model.index(0, 0)) & Qt.ItemFlag.ItemIsSelectable


def test_words_wrap_or_are_shortened_at_their_end_or_in_their_middle(
    shown: Callable[..., tuple[QListView, QImage]], theme: Theme
) -> None:
    long = "The fortress above the pass that a dragon circles in every winter, and in some summers"
    view, _image = shown(one_line(Words(long, wraps=True)), 100)
    lines = words_drawn(view)
    assert " ".join(lines) == long
    assert len({each.box.top() for each in drawn(view) if each.words}) == len(lines) > 1
    for wraps in (False, True):  # in a row of one line they do not run into the next one
        view, _image = shown(one_line(Words(long, wraps=wraps)))
        (words,) = words_drawn(view)
        assert (words[:12], words[-1]) == (long[:12], "…")
    view, _image = shown(one_line(Words(long, middle=True)))
    assert words_drawn(view)[0].endswith(long[-8:])
    view, _image = shown(one_line(Words("in", width=50), Words("out", tone="error"), right=(Words("7", gap=0),)))
    places = {each.words: (round(each.box.left()), each.fill) for each in drawn(view) if each.words}
    assert places["out"][0] - places["in"][0] == 50 + 8
    assert (places["out"][1], places["in"][1]) == (theme.color("error").name(), theme.color("text").name())
    assert places["7"][0] > 250


def test_a_bar_is_to_scale_with_what_is_left_hatched(
    shown: Callable[[Look], tuple[QListView, QImage]], theme: Theme
) -> None:
    view, _image = shown(one_line(Bar(((0.25, 0.5, "orange"), (0.5, 0.75, "")), track=True, after=0), margin=0))
    shapes = [each for each in drawn(view) if each.kind in {"rect", "path"} and each.box.height() < 16]
    track = next(each for each in shapes if each.fill == theme.color("sunken").name())
    part = next(each for each in shapes if each.fill == theme.fill("orange")[0].name())
    rest = next(each for each in shapes if each.fill.startswith("url(#fillpattern"))
    wide = track.box.width()
    assert part.box.left() - track.box.left() == pytest.approx(wide / 4, abs=1)
    assert part.box.width() == pytest.approx(wide / 4, abs=2)
    assert rest.box.left() == pytest.approx(track.box.left() + wide / 2, abs=1)
    view, _image = shown(one_line(Bar(((0.5, 0.5, "orange"),), track=True)))
    assert theme.fill("orange")[0].name() not in {each.fill for each in drawn(view)}  # nothing of it


def test_a_swatch_has_its_letter_or_a_sign_on_hatching(
    shown: Callable[[Look], tuple[QListView, QImage]], theme: Theme
) -> None:
    view, _image = shown(one_line(Swatch("sky", "P")))
    assert words_drawn(view) == ["P"]
    assert not [each for each in drawn(view) if each.kind == "image"]
    view, _image = shown(one_line(Swatch("purple", icon="scissors")))
    assert [each for each in drawn(view) if each.kind == "image"]
    assert [each for each in drawn(view) if each.fill.startswith("url(#fillpattern")]


# ---- pieces alone ---------------------------------------------------------------------------------------------------

BOX = QRectF(10, 20, 100, 24)
"""A cell's room: its middle is at 32."""


def piece_drawn(theme: Theme, piece: Piece, box: QRectF = BOX, *, chosen: bool = False) -> list[Drawn]:
    return drawn_by(lambda painter: piece.draw(Canvas(painter, theme, QFont(), chosen), box))


def room_of(theme: Theme, piece: Piece) -> float | None:
    found: list[float | None] = []
    drawn_by(lambda painter: found.append(piece.room(Canvas(painter, theme, QFont(), chosen=False))))
    return found[0]


def test_words_take_their_width_and_the_gap_behind_them(theme: Theme) -> None:
    wide = QFontMetricsF(QFont()).horizontalAdvance("gull")
    assert room_of(theme, Words("gull")) == wide + 8
    assert room_of(theme, Words("gull", gap=3)) == wide + 3
    assert room_of(theme, Words("gull", width=50, gap=3)) == 53
    assert room_of(theme, Words("gull", scale=2)) == pytest.approx(2 * wide + 8, abs=2)
    chip = QFontMetricsF(scaled(QFont(), 0.86)).horizontalAdvance("gull")
    assert room_of(theme, Chip("gull")) == chip + 16 + 8
    assert (room_of(theme, Glyph("star")), room_of(theme, Bar(()))) == (20, None)


def test_words_are_whole_as_long_as_they_fit_and_shortened_with_their_gap_left_free(theme: Theme) -> None:
    wide = QFontMetricsF(QFont()).horizontalAdvance("the gull cries")
    for width, gap, whole in (
        (wide + 8, 8, True), (wide + 7, 8, False), (wide, 0, True), (wide - 1, 0, False),
    ):  # fmt: skip
        (words,) = piece_drawn(theme, Words("the gull cries", gap=gap), QRectF(10, 20, width, 24))
        assert (words.words == "the gull cries") == whole
        assert words.words[-1] == ("s" if whole else "…")
        assert words.box.left() == 10
    (words,) = piece_drawn(theme, Words("the gull cries", width=40, gap=0), QRectF(10, 20, 40, 24))
    assert words.words.endswith("…")
    (words,) = piece_drawn(theme, Words("the gull cries", wraps=True), QRectF(10, 20, wide, 24))
    assert words.words == "the gull cries"  # in a column of its own there is no gap to leave


def test_words_have_their_size_their_weight_and_a_line_through_what_goes_away(theme: Theme) -> None:
    plain, large = (piece_drawn(theme, Words("gull", scale=scale))[0] for scale in (1, 2))
    assert large.points == pytest.approx(2 * plain.points)
    assert (plain.weight, piece_drawn(theme, Words("gull", bold=True))[0].weight) == (400, 600)
    words, line = piece_drawn(theme, Words("gull", struck=True))
    assert (words.box.left(), line.box.left(), line.box.height()) == (10, 10, 0)
    drawn_lines = piece_drawn(theme, Words("the gull " * 9, bold=True, wraps=True), QRectF(10, 20, 100, 200))
    lines = [each.weight for each in drawn_lines if each.words]
    assert set(lines) == {600}
    assert len(lines) > 1


def test_words_at_the_right_end_where_their_width_ends(theme: Theme) -> None:
    left, right = (
        piece_drawn(theme, Words("7", width=40, right=right), QRectF(10, 20, 48, 24))[0].box.left()
        for right in (False, True)
    )
    assert left == 10
    assert 10 + 40 - QFontMetricsF(QFont()).horizontalAdvance("7") <= right < 10 + 40


def test_a_ground_is_as_wide_as_its_words_and_as_high_as_a_line(theme: Theme) -> None:
    metrics = QFontMetricsF(QFont())
    ground, words = piece_drawn(theme, Words("gull", ground="mark"))
    assert ground.fill == theme.color("mark").name()
    assert ground.box.left() == 9
    assert ground.box.width() == pytest.approx(metrics.horizontalAdvance("gull") + 2, abs=0.01)
    assert ground.box.center().y() == pytest.approx(32, abs=0.01)
    assert ground.box.height() == pytest.approx(metrics.height(), abs=0.01)
    assert words.box.left() == 10
    ground, _words = piece_drawn(theme, Words("gull " * 40, ground="mark", gap=8))
    assert ground.box.width() == 100 - 8 + 2


def test_the_colour_of_a_piece_changes_on_a_chosen_row_unless_it_is_steady(theme: Theme) -> None:
    soft, error = theme.color("on_accent_soft"), theme.color("error")
    long = "gull " * 40
    for steady in (False, True):
        ink = error if steady else soft
        for words in (Words("gull", "error", steady=steady), Words(long, "error", steady=steady, wraps=True)):
            assert {each.fill for each in piece_drawn(theme, words, chosen=True)} == {ink.name()}
            assert {each.fill for each in piece_drawn(theme, words)} == {error.name()}
        (sign,) = piece_drawn(theme, Glyph("star", "error", steady=steady), chosen=True)
        assert sign.image == image_of(glyph("star", ink.name(), 14))
    for usual in (Words("gull", "error"), Glyph("star", "error")):
        (piece,) = piece_drawn(theme, usual, chosen=True)
        assert soft.name() == piece.fill or piece.image == image_of(glyph("star", soft.name(), 14))


def test_lines_of_wrapped_words_stand_around_the_middle(theme: Theme) -> None:
    high = QFontMetricsF(QFont()).height()
    lines = piece_drawn(theme, Words("the gull cries over the quay", wraps=True), QRectF(10, 20, 90, 80))
    tops = [each.box.top() for each in lines]
    assert len(tops) > 1
    assert [b - a for a, b in pairwise(tops)] == [pytest.approx(high, abs=0.01)] * (len(tops) - 1)
    one = piece_drawn(theme, Words("gull"), QRectF(10, 20, 90, 80))[0].box.top()
    assert (tops[0] + tops[-1]) / 2 == pytest.approx(one, abs=0.6)
    assert {each.box.left() for each in lines} == {10}


def test_signs_stand_at_the_left_of_their_room_and_halfway_down(theme: Theme) -> None:
    (sign,) = piece_drawn(theme, Glyph("star", size=14))
    assert (sign.box.center().x(), sign.box.center().y(), sign.box.width()) == (10 + 8, 32, 14)
    (sign,) = piece_drawn(theme, Glyph("star", size=24, width=20))
    assert sign.box.center().x() == 10 + 10  # no further than its room
    square, sign = piece_drawn(theme, Marked(Mark("check", "green", "in"), 18))
    assert (square.box.center().x(), square.box.center().y(), square.box.width()) == (10 + 9.5, 32, 17)
    assert sign.box.center().y() == 32


def test_a_swatch_is_a_square_with_its_letter_in_the_middle(theme: Theme) -> None:
    square, letter = piece_drawn(theme, Swatch("sky", "P"))
    ground, ink = theme.fill("sky")
    assert (square.fill, square.edge) == (ground.name(), theme.color("fill_edge").name())
    assert square.box == QRectF(10, 25, 14, 14)
    assert (letter.words, letter.fill, letter.weight) == ("P", ink.name(), 600)
    assert 10 < letter.box.left() < 17
    assert letter.points == pytest.approx(0.76 * piece_drawn(theme, Words("P"))[0].points)
    under, hatched, sign = piece_drawn(theme, Swatch("sky", icon="scissors"))
    assert (under.fill, under.box, hatched.box) == (theme.color("panel").name(), square.box, square.box)
    assert hatched.fill.startswith("url(#fillpattern")
    assert sign.image == image_of(glyph("scissors", theme.palette.text, 12))
    assert (sign.box.center().x(), sign.box.center().y()) == (17, 32)


def test_a_chip_has_its_fill_or_a_ground_and_its_word_in_the_colour_for_it(theme: Theme) -> None:
    wide = QFontMetricsF(scaled(QFont(), 0.86)).horizontalAdvance("pinned") + 16
    for chip, ground, ink, edge in (
        (Chip("pinned", "sky"), theme.fill("sky")[0], theme.fill("sky")[1], "fill_edge"),
        (Chip("pinned", ground="good_soft"), theme.color("good_soft"), theme.color("text"), "border_strong"),
    ):
        shape, words = piece_drawn(theme, chip, QRectF(10, 20, wide + 8, 24))
        assert (shape.fill, shape.edge, words.fill) == (ground.name(), theme.color(edge).name(), ink.name())
        assert (shape.box.left(), shape.box.top(), shape.box.height()) == (10.5, 24.5, 15)
        assert shape.box.width() == pytest.approx(wide - 1, abs=0.01)
        assert words.words == "pinned"
        assert words.points == pytest.approx(0.86 * piece_drawn(theme, Words("P"))[0].points)
    _shape, words = piece_drawn(theme, Chip("pinned"), QRectF(10, 20, wide - 16, 24))
    assert words.words[-1] == "…"


def test_a_bar_leaves_its_gap_free_and_shows_the_narrowest_part(theme: Theme) -> None:
    (part,) = piece_drawn(theme, Bar(((0, 1, "sky"),)))
    assert part.box == QRectF(10.5, 25.5, 100 - 8 - 1, 13)
    assert (part.edge, part.kind) == (theme.color("fill_edge").name(), "rect")
    (part,) = piece_drawn(theme, Bar(((0.5, 0.5, "sky"),), after=0))
    assert part.box.left() == 10 + 50 + 0.5  # one pixel, which its edge takes
    track, part = piece_drawn(theme, Bar(((0, 0.5, "sky"),), after=0, track=True, height=6, edge="border"))
    assert (track.box, track.edge, track.fill) == (QRectF(10, 29, 100, 6), "none", theme.color("sunken").name())
    assert part.box == QRectF(10.5, 29.5, 49, 5)
    assert part.edge == theme.color("border").name()
    _part, line = piece_drawn(theme, Bar(((0, 1, "sky"),), after=0, line=0.25))
    assert line.box == QRectF(35, 20, 0, 24)
    assert (line.edge, line.wide) == (theme.color("text").name(), 1.5)
    assert line.dashes not in {"", "none"}


# ---- a whole cell ---------------------------------------------------------------------------------------------------


def shapes(view: QListView) -> list[Drawn]:
    """What is drawn of the first row, without the ground of the view."""
    return [each for each in drawn(view.viewport()) if each.box.height() < 150]


def test_pieces_follow_each_other_and_those_at_the_right_end_at_it(
    shown: Callable[[Look], tuple[QListView, QImage]],
) -> None:
    line = one_line(Glyph("star"), Glyph("check"), right=(Glyph("pause"), Glyph("cross")), margin=9)
    view, _image = shown(line)
    wide = view.viewport().width()
    signs = [each.box.center().x() for each in shapes(view) if each.image]
    assert signs == [wide - 9 - 20 + 8, wide - 9 - 40 + 8, 9 + 8, 9 + 20 + 8]


def test_a_share_is_that_of_the_room_which_the_others_left(
    shown: Callable[[Look], tuple[QListView, QImage]], theme: Theme
) -> None:
    half = Words("gull " * 40, share=0.5, gap=0)
    view, _image = shown(one_line(half, Words("end"), right=(Glyph("star"),), margin=0))
    room = view.viewport().width() - 20
    places = {each.words[:3]: each.box.left() for each in shapes(view) if each.words}
    assert places == {"gul": 0, "end": pytest.approx(room / 2, abs=1)}
    view, _image = shown(one_line(Words("in"), right=(half,), margin=0))
    places = {each.words[:3]: each.box.left() for each in shapes(view) if each.words}
    assert places["gul"] == pytest.approx(view.viewport().width() / 2, abs=1)
    view, _image = shown(one_line(Bar(((0, 1, "sky"),), after=0), Words("no room"), right=(Glyph("star"),), margin=0))
    bar = next(each for each in shapes(view) if each.edge == theme.color("fill_edge").name())
    assert bar.box.width() == room - 1
    assert not [each for each in shapes(view) if each.words]


@pytest.mark.parametrize("rule", ["top", "bottom", ""])
def test_a_rule_is_a_line_across_the_whole_row(
    shown: Callable[[Look], tuple[QListView, QImage]], theme: Theme, rule: str
) -> None:
    view, _image = shown(one_line(Words("in"), rule=rule))
    row = QRectF(view.visualRect(view.model().index(0, 0)))
    lines = [each.box for each in shapes(view) if each.edge == theme.color("border").name()]
    at = row.top() + 0.5 if rule == "top" else row.bottom() - 0.5
    assert lines == ([QRectF(row.left(), at, row.width(), 0)] if rule else [])


@pytest.mark.parametrize(("side", "edge"), [("green", "fill_edge"), ("neutral_soft", "border_strong"), ("hatched", "")])
def test_the_side_of_a_cell_is_a_narrow_bar_along_it(
    shown: Callable[[Look], tuple[QListView, QImage]], theme: Theme, side: str, edge: str
) -> None:
    view, _image = shown(Look((Strip((Words("in"),)),), side=side))
    row = QRectF(view.visualRect(view.model().index(0, 0)))
    bar = next(each for each in shapes(view) if each.box.width() <= 4 and each.kind in {"rect", "path"})
    whole = QRectF(6, row.top() + 3, 4, row.height() - 6)
    if side == "hatched":
        assert (bar.box, bar.fill[:16]) == (whole, "url(#fillpattern")
    else:
        ground = theme.fill(side)[0] if side == "green" else theme.color(side)
        assert (bar.box, bar.fill) == (whole.adjusted(0.5, 0.5, -0.5, -0.5), ground.name())
        assert bar.edge == theme.color(edge).name()
    words = next(each for each in shapes(view) if each.words)
    assert words.box.left() == 6 + 4 + 8


def test_a_ground_lies_behind_the_whole_cell_until_it_is_chosen(
    shown: Callable[[Look], tuple[QListView, QImage]], theme: Theme
) -> None:
    view, _image = shown(Look((Strip((Words("in"),)),), ground="good_soft"))
    row = QRectF(view.visualRect(view.model().index(0, 0)))
    ground = theme.color("good_soft").name()
    assert [each.box for each in shapes(view) if each.fill == ground] == [row]
    view.setCurrentIndex(view.model().index(0, 0))
    assert [each.box for each in shapes(view) if each.fill == ground] == []


def test_the_ring_is_there_only_with_the_keyboard_on_the_row(
    shown: Callable[[Look], tuple[QListView, QImage]], theme: Theme, qtbot: QtBot
) -> None:
    ink = theme.color("focus").name()
    for ring in (True, False):
        view, _image = shown(one_line(Words("in"), ring=ring))
        view.show()
        assert ink not in {each.edge for each in shapes(view)}
        view.setCurrentIndex(view.model().index(0, 0))
        view.clearFocus()
        assert ink not in {each.edge for each in shapes(view)}
        view.activateWindow()
        view.setFocus()
        qtbot.waitUntil(view.hasFocus)
        assert (ink in {each.edge for each in shapes(view)}) == ring


def test_strips_stand_below_each_other_and_the_text_below_them(
    shown: Callable[[Look], tuple[QListView, QImage]], theme: Theme
) -> None:
    strips = (Strip((Glyph("star"),), height=24), Strip((Glyph("check"),), height=30))
    view, _image = shown(Look(strips, top=2, body=Body("the gull\ncries", "text_muted")))
    signs = [each.box.center().y() for each in shapes(view) if each.image]
    assert signs == [2 + 12, 2 + 24 + 15]
    first, second = (each for each in shapes(view) if each.words)
    line = 1.1 * QFontMetricsF(view.font()).height()
    assert second.box.top() - first.box.top() == pytest.approx(line, abs=0.1)
    assert 2 + 54 < first.box.top() < 2 + 54 + line
    assert {first.fill, second.fill} == {theme.color("text_muted").name()}
    option = QStyleOptionViewItem()
    view.initViewItemOption(option)
    assert view.sizeHintForRow(0) == round(54 + 2 * line + 8)


def test_a_text_with_one_line_more_than_wanted_is_shown_whole(
    shown: Callable[[Look], tuple[QListView, QImage]], theme: Theme
) -> None:
    """In place of that line would stand no more than that there is one."""
    for lines, told in ((2, 2), (3, 3), (4, 2)):
        body = Body("\n".join(["gull"] * lines), most=2, more="more")
        view, _image = shown(Look((Strip((Words("title"),), height=24),), body=body))
        words = words_drawn(view)[1:]
        assert words == ["gull"] * told + (["more"] if told < lines else [])
        line = 1.1 * QFontMetricsF(view.font()).height()
        assert view.sizeHintForRow(0) == round(24 + len(words) * line + 8)
        ink = {each.words: each.fill for each in drawn(view)}
        assert ink.get("more", theme.color("accent").name()) == theme.color("accent").name()
        places = [each.box.top() for each in drawn(view) if each.words][1:]
        assert [b - a for a, b in pairwise(places)] == [pytest.approx(line, abs=0.1)] * (len(words) - 1)


def test_text_is_broken_where_the_side_and_the_margins_leave_it_room(
    shown: Callable[[Look], tuple[QListView, QImage]],
) -> None:
    wide = QFontMetricsF(QListView().font()).horizontalAdvance
    word = "i"
    for side, left in (("", 6), ("green", 6 + 12)):
        view, _image = shown(Look((Strip((Words("title"),), height=24),), side=side, body=Body(f"{word} " * 400)))
        room = view.viewport().width() - left - 6
        lines = [line.rstrip() for line in words_drawn(view)[1:]]
        fit = int((room + wide(" ")) // (wide(word) + wide(" ")))
        assert lines[0] == " ".join([word] * fit)


def test_a_row_is_as_high_as_its_line_or_as_was_asked(qtbot: QtBot, theme: Theme) -> None:
    view = QListView()
    qtbot.addWidget(view)
    look = one_line(Words("in"))
    model = RecordTable([Column("", str, look=lambda _row: look)], parent=view)
    model.set_rows(["row"])
    view.setModel(model)
    view.setItemDelegate(CellDelegate(theme, view))
    assert view.sizeHintForRow(0) == max(23, round(QFontMetricsF(view.font()).height()) + 7)
    font = view.font()
    font.setPointSizeF(40)
    view.setFont(font)
    assert view.sizeHintForRow(0) == round(QFontMetricsF(font).height()) + 7 > 23
    view.setItemDelegate(CellDelegate(theme, view, 44, 77))
    assert (view.sizeHintForRow(0), view.sizeHintForColumn(0)) == (round(44 * letters(view)), 77)
    font.setPointSizeF(4)
    view.setFont(font)
    assert view.sizeHintForRow(0) == 44


class TickStyle(QProxyStyle):
    """Notes where boxes are drawn, and how."""

    def __init__(self, told: list[tuple[QRect, QStyle.StateFlag]]) -> None:
        super().__init__()
        self._told = told

    def drawPrimitive(  # noqa: N802 (Qt)
        self, element: QStyle.PrimitiveElement, option: QStyleOption, painter: QPainter, widget: QWidget | None = None
    ) -> None:
        if element is QStyle.PrimitiveElement.PE_IndicatorItemViewItemCheck:
            self._told.append((QRect(option.rect), option.state))
        super().drawPrimitive(element, option, painter, widget)


@pytest.mark.parametrize("state", [*Qt.CheckState])
def test_a_box_says_whether_it_is_ticked_and_the_words_stand_behind_it(
    qtbot: QtBot, theme: Theme, state: Qt.CheckState
) -> None:
    look = one_line(Words("in"))
    view = QListView()
    qtbot.addWidget(view)
    model = QStandardItemModel(view)
    item = QStandardItem()
    item.setData(look, LOOK)
    item.setData(state, CHECK)
    model.appendRow(item)
    view.setModel(model)
    view.setItemDelegate(CellDelegate(theme, view))
    view.resize(300, 160)
    told: list[tuple[QRect, QStyle.StateFlag]] = []
    style = TickStyle(told)
    view.setStyle(style)
    (words,) = (each for each in shapes(view) if each.words)
    assert words.box.left() == 6 + 20
    (button,) = told
    row = view.visualRect(model.index(0, 0))
    flag = QStyle.StateFlag
    on = {Qt.CheckState.Checked: flag.State_On, Qt.CheckState.Unchecked: flag.State_Off}.get(state, flag.State_NoChange)
    assert button == (QRect(row.left() + 3, row.center().y() - 7, 15, 15), flag.State_Enabled | on)


def test_text_is_broken_anew_where_the_letters_became_larger(shown: Callable[[Look], tuple[QListView, QImage]]) -> None:
    view, _image = shown(Look((Strip((Words("title"),), height=24),), body=Body("word " * 60)))
    before = len(words_drawn(view))
    font = view.font()
    font.setPointSizeF(2 * font.pointSizeF())
    view.setFont(font)
    assert len(words_drawn(view)) > before


def test_lines_that_were_forgotten_are_broken_again(
    shown: Callable[[Look], tuple[QListView, QImage]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cells, "_REMEMBERED", 0)
    view, _image = shown(Look((), body=Body("one")))
    model, delegate = view.model(), view.itemDelegate()
    for text in ("two", "word " * 60, "two"):
        body = Look((), body=Body(text))
        model.set_rows(["row"], [Column("", str, look=lambda _row, body=body: body)])
        drawn_lines = words_drawn(view)
        assert (len(drawn_lines) == 1) is (text == "two")
        assert " ".join(drawn_lines).split() == text.split()
        assert len(delegate._lines) == 1


def test_round_pieces_of_a_cell_are_smooth_and_leave_the_painter_as_it_was(
    shown: Callable[[Look], tuple[QListView, QImage]],
) -> None:
    view, _image = shown(Look((Strip((Bar(((0, 0.5, "sky"),), track=True),)),), side="green", rule="top"))
    option = QStyleOptionViewItem()
    view.initViewItemOption(option)
    option.rect = QRect(0, 0, 100, 24)
    assert smooth(lambda painter: view.itemDelegate().paint(painter, option, view.model().index(0, 0))) == [True, True]
