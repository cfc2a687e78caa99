"""What sort of entry a note is, as a mark."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QPoint, QRectF, QSizeF, Qt
from PySide6.QtGui import QAccessible, QColor, QFont, QFontMetricsF, QHelpEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QToolTip, QWidget
from pytestqt.qtbot import QtBot

from lorestudio.domain.records import replace
from lorestudio.trace.found_keys import FoundKey
from lorestudio.trace.held_run import WouldCell, WouldState
from lorestudio.trace.journey import CellState, Fate, FateState, JourneyCell
from lorestudio.trace.model import Outcome, Phase, Verdict
from lorestudio.ui.shell.qt import plain
from lorestudio.ui.shell.theme import Theme, glyph
from lorestudio.ui.widgets import paint
from lorestudio.ui.widgets.paint import (
    KeyMark,
    KeyQuery,
    Mark,
    Picture,
    Wrapper,
    cell_mark,
    chip_width,
    draw_chip,
    draw_focus,
    draw_glyph,
    draw_key_mark,
    draw_mark,
    draw_words,
    entry_kind,
    fate_mark,
    hatch,
    mark_pixmap,
    shows_tip,
    tell,
    whole_parts,
    would_mark,
)
from tests.ui.conftest import drain
from tests.ui.drawing import PaintWatch, drawn, drawn_by, image_of, smooth
from tests.ui.worlds import ENTRIES, RULES, SKARN


def test_kinds() -> None:
    assert entry_kind(ENTRIES[RULES]).icon == "constant"
    assert entry_kind(replace(ENTRIES[RULES], guide=True)).icon == "guide"
    assert entry_kind(replace(ENTRIES[SKARN], seed=True)).icon == "seed"
    assert entry_kind(replace(ENTRIES[SKARN], bootstrap=True)).icon == "bootstrap"
    assert entry_kind(ENTRIES[SKARN]).icon == "normal"


@pytest.mark.parametrize(
    ("state", "phase", "reason", "word"),
    [
        (CellState.REMOVED, Phase.BUDGET, "over_budget", "cut"),
        (CellState.REMOVED, Phase.MATCH, "x", "not selected"),
        (CellState.REMOVED, Phase.GATE, "x", "gated out"),
        (CellState.REMOVED, Phase.GATE, "cooling_down", "cooling down"),
        (CellState.KEPT, Phase.INJECT, "x", "injected"),
        (CellState.KEPT, Phase.INJECT, "", "kept"),
        (CellState.KEPT, Phase.BUDGET, "x", "kept"),
        (CellState.ADDED, Phase.SELECT, "ai_pick", "chosen by AI"),
        (CellState.ADDED, Phase.MATCH, "x", "candidate"),
        (CellState.NOT_REACHED, Phase.MATCH, "", "not reached"),
    ],
)
def test_what_a_stage_did(state: CellState, phase: Phase, reason: str, word: str) -> None:
    verdict = Verdict(1, Outcome.KEPT, reason) if reason else None
    assert cell_mark(JourneyCell("stage", state, verdict), phase).word == word


@pytest.mark.parametrize(
    ("state", "reason", "word", "fill"),
    [
        (WouldState.NOT_ASKED, "", "not offered to AI", "sky"),
        (WouldState.STOP, "over_budget", "would be cut", "purple"),
        (WouldState.STOP, "cooling_down", "would be cooling down", "grey"),
        (WouldState.STOP, "not_offered", "would be not offered to AI", "grey"),  # without an outline it would be bare
        (WouldState.STOP, "", "would pass", "grey"),
        (WouldState.CHANGE, "truncated", "would be trimmed", "green"),
        (WouldState.CHANGE, "x", "would pass", "grey"),
        (WouldState.CHANGE, "", "would pass", "grey"),
        (WouldState.GO_ON, "truncated", "would pass", "grey"),
    ],
)
def test_what_a_stage_would_have_done(state: WouldState, reason: str, word: str, fill: str) -> None:
    verdict = Verdict(1, Outcome.REMOVED, reason) if reason else None
    mark = would_mark(WouldCell("budget", Phase.BUDGET, state, verdict))
    assert (mark.word, mark.hollow, mark.fill) == (word, True, fill)


@pytest.mark.parametrize(
    ("state", "phase", "reason", "word"),
    [
        (FateState.INJECTED, None, "", "injected"),
        (FateState.TRUNCATED, None, "", "trimmed"),
        (FateState.REMOVED, Phase.BUDGET, "over_budget", "cut"),
        (FateState.REMOVED, None, "x", "gated out"),
        (FateState.REMOVED, Phase.GATE, "reinjection_pause", "cooling down"),
        (FateState.REFUSED, None, "x", "refused"),
        (FateState.REFUSED, None, "not_offered", "not offered to AI"),
        (FateState.UNDECIDED, None, "", "candidate"),
        (FateState.NEVER, None, "", "not a candidate"),
    ],
)
def test_what_became_of_an_entry(state: FateState, phase: Phase | None, reason: str, word: str) -> None:
    assert fate_mark(Fate(1, state, "stage", phase, reason)).word == word


def test_found_keys_lie_in_order_and_none_over_another() -> None:
    keys = (
        FoundKey(SKARN, "bell", 0, 4, 8, refine=True), FoundKey(SKARN, "the bell", 0, 0, 8),
        FoundKey(SKARN, "rings", 0, 9, 14), FoundKey(SKARN, "Wren", 0, in_name=True), FoundKey(SKARN, "sea", 1, 0, 3),
    )  # fmt: skip
    found = KeyQuery(keys, 2, "Skarn").marks(0, "the bell rings")
    assert [(mark.key, mark.in_name) for mark in found] == [("Wren", True), ("the bell", False), ("rings", False)]
    assert [mark.key for mark in KeyQuery(keys, 2, "Skarn").marks(1, "sea")] == ["sea"]
    assert KeyQuery(keys, 1, "Skarn").marks(1, "sea") == ()
    lacking = KeyQuery((replace(keys[2], missing="Not all of them."),), 1, "Skarn").marks(0, "the bell rings")[0]
    assert lacking.describe() == "the key “rings” was found here, its refine keys were not"


@pytest.mark.parametrize(
    ("mark", "words"),
    [
        (KeyMark(0, 4, "bell", "tip"), "the key “bell” was found here"),
        (KeyMark(0, 4, "bell", "tip", refine=True), "the refine key “bell” was found here"),
        (KeyMark(0, 4, "bell", "tip", lacking=True), "the key “bell” was found here, its refine keys were not"),
    ],
)
def test_a_found_key_is_filled_a_refine_key_has_an_edge_only_and_what_lacks_one_a_line_below(
    theme: Theme, qtbot: QtBot, mark: KeyMark, words: str
) -> None:
    class Marked(QWidget):
        def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 (Qt)
            painter = QPainter(self)
            painter.setBrush(theme.color("error"))  # whatever was drawn before
            draw_key_mark(painter, QRectF(20, 10, 60, 20), mark, theme)

    assert mark.describe() == words
    widget = Marked()
    qtbot.addWidget(widget)
    widget.resize(120, 40)
    box, *below = drawn(widget)[1:]  # after the ground
    assert box.edge == theme.color("text" if mark.refine else "border_strong").name()
    assert (box.dashes not in {"", "none"}) == mark.refine
    assert box.fill == ("none" if mark.refine else theme.color("mark").name())
    assert (box.box.left(), box.box.top()) == ((19, 11) if mark.refine else (18.5, 10.5))
    assert [each.edge for each in below] == ([theme.color("on_mark").name()] if mark.lacking else [])
    for line in below:
        assert line.box == QRectF(19.5, 28.5, 61, 0)


# ---- what is drawn --------------------------------------------------------------------------------------------------

ROOM = QRectF(20, 10, 60, 40)
"""Where the marks below are drawn: its middle is at 50, 30."""


def middle(box: QRectF) -> tuple[float, float]:
    return box.center().x(), box.center().y()


@pytest.mark.parametrize(
    ("icon", "tone"), [("check", "text_faint"), ("dot", "text_faint"), ("slash", "text_muted"), ("tilde", "text_muted")]
)
def test_a_mark_without_a_fill_is_its_glyph_alone_and_faint_where_nothing_was_done(
    theme: Theme, icon: str, tone: str
) -> None:
    (sign,) = drawn_by(lambda painter: draw_mark(painter, ROOM, Mark(icon, "", "x"), theme))
    assert sign.image == image_of(glyph(icon, getattr(theme.palette, tone), 14))
    assert (middle(sign.box), sign.box.size()) == ((50, 30), QSizeF(14, 14))


@pytest.mark.parametrize("size", [18, 14])
def test_a_filled_mark_is_a_square_of_its_size_with_its_glyph_in_the_middle(theme: Theme, size: int) -> None:
    square, sign = drawn_by(lambda painter: draw_mark(painter, ROOM, Mark("check", "green", "x"), theme, size))
    ground, ink = theme.palette.fill("green")
    assert (square.fill, square.edge, square.wide) == (ground.lower(), theme.color("fill_edge").name(), 1)
    assert (middle(square.box), square.box.width(), square.box.height()) == ((50, 30), size - 1, size - 1)
    assert sign.image == image_of(glyph("check", ink, size - 5))
    assert middle(sign.box) == (50, 30)


@pytest.mark.parametrize("look", ["light", "dark"])
@pytest.mark.parametrize("icon", ["scissors", ""])
def test_a_hollow_mark_is_an_outline_in_its_colour_that_is_broken_around_a_glyph(
    qapp: object, look: str, icon: str
) -> None:
    theme = Theme(look)

    def draw(painter: QPainter) -> None:
        painter.setBrush(theme.color("error"))  # whatever was drawn before
        draw_mark(painter, ROOM, Mark(icon, "green", "x", hollow=True), theme)

    outline, *signs = drawn_by(draw)
    fill = theme.fill("green")[0]
    assert outline.fill == "none"
    assert outline.edge == (fill if look == "dark" else fill.darker(125)).name()
    assert (outline.dashes not in {"", "none"}) == bool(icon)
    assert middle(outline.box) == pytest.approx((50, 30))
    assert outline.box.width() == pytest.approx(17 if icon else 18 - 2 * 5)  # one without a glyph is small
    assert len(signs) == bool(icon)
    for sign in signs:
        assert (sign.image, middle(sign.box)) == (image_of(glyph(icon, theme.palette.text_muted, 12)), (50, 30))


def test_a_mark_stands_in_the_middle_of_its_picture(qapp: object) -> None:
    pixmap = mark_pixmap(Mark("", "green", "x", hollow=True), Theme("light"), 16)
    assert (pixmap.deviceIndependentSize(), pixmap.devicePixelRatio()) == (QSizeF(16, 16), 2)
    image = pixmap.toImage()
    across = [x for x in range(32) if any(image.pixelColor(x, y).alpha() for y in range(32))]
    down = [y for y in range(32) if any(image.pixelColor(x, y).alpha() for x in range(32))]
    assert across == down
    assert across[0] == 31 - across[-1] > 0


def test_hatching_stands_out_from_a_pane_in_either_theme(qapp: object) -> None:
    color = QColor("#808080")
    assert hatch(color, Theme("light")).color().lightness() < color.lightness()
    assert hatch(color, Theme("dark")).color() == color


def test_a_mark_as_a_picture_fills_it_and_is_clear_around_it(theme: Theme) -> None:
    picture = mark_pixmap(Mark("check", "green", "x"), theme, 16).toImage()
    assert (picture.width(), picture.devicePixelRatio()) == (32, 2)
    assert picture.pixelColor(0, 0).alpha() == 0  # the corner is round
    assert picture.pixelColor(4, 16) == picture.pixelColor(27, 16) == theme.fill("green")[0]
    assert mark_pixmap(Mark("slash", "", "x"), theme, 16).toImage().pixelColor(0, 16).alpha() == 0


def test_a_chip_is_as_wide_as_its_word_with_room_around_it(theme: Theme) -> None:
    chosen = [theme.color(name) for name in ("panel", "error", "accent")]
    metrics = QFontMetricsF(QFont())
    box = QRectF(10, 20, chip_width(metrics, "pinned"), 16)

    def draw(painter: QPainter) -> None:
        painter.setFont(QFont())
        draw_chip(painter, box, "pinned", *chosen)

    edge, words = drawn_by(draw)
    assert (edge.fill, words.fill, edge.edge) == tuple(each.name() for each in chosen)
    assert (edge.box.left(), edge.box.top(), edge.box.bottom()) == (10.5, 20.5, 35.5)
    assert edge.box.right() == pytest.approx(box.right() - 0.5, abs=0.01)
    assert words.words == "pinned"
    assert box.width() == metrics.horizontalAdvance("pinned") + 16
    assert 10 + 7 < words.box.left() < box.center().x()


def test_the_ring_of_the_keyboard_lies_within_what_it_is_on(theme: Theme) -> None:

    def draw(painter: QPainter) -> None:
        painter.setBrush(theme.color("error"))  # whatever was drawn before
        draw_focus(painter, ROOM, theme)

    (ring,) = drawn_by(draw)
    assert (ring.fill, ring.edge, ring.wide) == ("none", theme.color("focus").name(), 2)
    assert ring.box == ROOM.adjusted(1, 1, -1, -1)


def test_round_things_are_smooth_and_leave_the_painter_as_it_was(theme: Theme) -> None:
    full, hollow = Mark("check", "green", "x"), Mark("check", "green", "x", hollow=True)
    key = KeyMark(0, 1, "k", "k")
    colour = theme.color("text")
    for draw in (
        lambda painter: draw_mark(painter, ROOM, full, theme),
        lambda painter: draw_mark(painter, ROOM, hollow, theme),
        lambda painter: draw_chip(painter, ROOM, "x", colour, colour, colour),
        lambda painter: draw_focus(painter, ROOM, theme),
        lambda painter: draw_key_mark(painter, ROOM, key, theme),
        lambda painter: draw_key_mark(painter, ROOM, replace(key, refine=True, lacking=True), theme),
    ):
        assert smooth(draw) == [True]


def test_a_glyph_without_a_name_is_nothing(theme: Theme) -> None:
    assert drawn_by(lambda painter: draw_glyph(painter, ROOM, "", theme.palette.text, 16)) == []


def test_words_are_shortened_only_where_they_have_no_room(theme: Theme) -> None:
    whole = QFontMetricsF(QFont()).horizontalAdvance("The fortress")

    def told(width: float) -> str:
        return drawn_by(lambda painter: draw_words(painter, QRectF(0, 0, width, 20), "The fortress"))[0].words

    assert told(whole + 1) == "The fortress"
    assert told(whole / 2)[-1] == "…"


def test_parts_of_a_line_are_left_out_from_its_end_and_none_is_shortened(qapp: object) -> None:
    metrics = QFontMetricsF(QFont())
    two = metrics.horizontalAdvance("one · two")
    told = [whole_parts("one · two · three", metrics, width) for width in (1000, two, two - 1, 1)]
    assert told == ["one · two · three", "one · two", "one", ""]


# ---- breaking lines -------------------------------------------------------------------------------------------------


def broken(text: str, width: float, most: int | None = None) -> list[str]:
    wrapper = Wrapper(QFont())
    return [text[start:end] for start, end in wrapper.lines(text, width, most)]


def test_a_word_goes_on_a_line_as_long_as_it_fits_with_the_space_before_it(qapp: object) -> None:
    wide = QFontMetricsF(QFont()).horizontalAdvance
    room = wide("gull") + wide(" ") + wide("cries")
    assert broken("gull cries far", room) == ["gull cries", "far"]
    assert broken("gull cries far", room - 0.5) == ["gull", "cries far"]
    assert broken("gull", wide("gull")) == ["gull"]
    assert broken("one\n\ntwo", 1000) == ["one", "", "two"]
    assert broken("", 1000) == [""]


def test_a_word_that_is_wider_than_a_line_is_broken_between_characters(qapp: object) -> None:
    wide = QFontMetricsF(QFont()).horizontalAdvance("m")
    assert broken("m" * 7, 3 * wide) == ["mmm", "mmm", "m"]
    assert broken("m" * 7, 3 * wide - 0.5) == ["mm", "mm", "mm", "m"]
    assert broken("mm", wide / 2) == ["m", "m"]  # at least one on each line
    assert broken("a " + "m" * 4, 3 * wide) == ["a", "mmm", "m"]
    assert broken("m" * 4 + " i", 3 * wide) == ["mmm", "m i"]  # what follows stands behind its end


def test_a_text_of_which_few_lines_are_wanted_is_not_broken_to_its_end(qapp: object) -> None:
    assert len(broken("word " * 10_000, 200, 3)) < 12
    assert broken("one\ntwo\nthree\nfour", 1000, 2) == ["one", "two", "three"]  # one more says that there are more
    assert broken("one\ntwo", 1000, 2) == ["one", "two"]


def test_widths_that_were_forgotten_are_measured_again(qapp: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paint, "_REMEMBERED", 1)
    wrapper = Wrapper(QFont())
    once = [wrapper.width(each) for each in ("a", "bb", "ccc", "a")]
    assert once == [QFontMetricsF(QFont()).horizontalAdvance(each) for each in ("a", "bb", "ccc", "a")]
    assert len(wrapper._widths) <= 2


# ---- painted widgets ------------------------------------------------------------------------------------------------


class Told(Picture):
    def words_at(self, point: QPoint) -> str:
        return f"<b>{point.x()}</b>"


def test_a_picture_says_in_plain_words_what_is_under_the_pointer(theme: Theme, qtbot: QtBot) -> None:
    made = Told(theme, "Flow")
    qtbot.addWidget(made)
    made.show()
    asked = QHelpEvent(QEvent.Type.ToolTip, QPoint(7, 3), made.mapToGlobal(QPoint(7, 3)))
    assert made.event(asked)
    assert QToolTip.text() == plain("<b>7</b>")
    assert shows_tip(made, asked, lambda _point: "")
    assert not shows_tip(made, QEvent(QEvent.Type.Enter), made.words_at)
    QToolTip.hideText()
    assert (made.accessibleName(), made.focusPolicy()) == ("Flow", Qt.FocusPolicy.StrongFocus)
    assert made.hasMouseTracking()


def test_a_picture_is_painted_anew_in_another_theme(theme: Theme, qtbot: QtBot) -> None:
    made = Told(theme, "Flow")
    qtbot.addWidget(made)
    made.show()
    qtbot.waitExposed(made)
    drain()
    watch = PaintWatch(made)
    theme.choose("dark")
    qtbot.waitUntil(lambda: watch.seen > 0)


def test_screen_readers_are_told_at_once_what_a_picture_shows_now(
    theme: Theme, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Told(theme, "Flow")
    qtbot.addWidget(made)
    told: list[tuple[object, QAccessible.Event, str]] = []
    monkeypatch.setattr(
        QAccessible, "updateAccessibility",
        lambda event: told.append((event.object(), event.type(), event.object().accessibleDescription())),
    )  # fmt: skip
    tell(made, "three bars")
    assert told == [(made, QAccessible.Event.DescriptionChanged, "three bars")]
