"""The one delegate draws what a cell's look says: pieces from both ends, bars, wrapped text, the ring."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QListView, QStyleOptionViewItem

from lorestudio.ui.shell.qt import LOOK
from lorestudio.ui.widgets.cells import (
    Bar,
    Body,
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
from lorestudio.ui.widgets.paint import Mark
from lorestudio.ui.widgets.record_table import RecordTable
from tests.ui.drawing import drawn, words_drawn

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytestqt.qtbot import QtBot

    from lorestudio.ui.shell.theme import Theme


@pytest.fixture
def shown(qtbot: QtBot, theme: Theme) -> Callable[[Look], tuple[QListView, QImage]]:
    def show(look: Look) -> tuple[QListView, QImage]:
        view = QListView()
        qtbot.addWidget(view)
        view.model_of_test = RecordTable([Column("", str, look=lambda _row: look)])
        view.model_of_test.set_rows(["row"])
        view.setModel(view.model_of_test)
        view.setItemDelegate(CellDelegate(theme, view))
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
    shown: Callable[[Look], tuple[QListView, QImage]], theme: Theme
) -> None:
    long = "The fortress above the pass that a dragon circles in every winter, and in some summers"
    view, _image = shown(one_line(Words(long, wraps=True)))
    lines = words_drawn(view)
    assert " ".join(lines) == long
    assert len({each.box.top() for each in drawn(view) if each.words}) == len(lines) > 1
    view, _image = shown(one_line(Words(long)))
    assert (words_drawn(view)[0][:12], words_drawn(view)[0][-1]) == (long[:12], "…")
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
