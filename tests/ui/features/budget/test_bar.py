"""The budget's bar alone: where its segments lie, what it says of them, how it is walked and what is drawn."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QRectF, Qt
from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QSizePolicy
from pytestqt.qtbot import QtBot

from lorestudio.trace.budget import AI, ALWAYS, BESIDES, KEYWORD, NO_ENTRY, BudgetView, Segment
from lorestudio.ui.features.budget.pane import BudgetBar
from lorestudio.ui.shell.theme import Theme, scaled
from tests.ui.drawing import Drawn, drawn, words_drawn

RULES = Segment(0, "Rules", 150, ALWAYS)
SKARN = Segment(1, "Skarn", 300, KEYWORD)
CROWN = Segment(2, "Crown", 50, KEYWORD, cut=True, why="needs 20 more")
BELL = Segment(3, "Bell", 150, AI, cut=True, over_count=True, why="one too many")
OUTLET = Segment(4, "Map", 70, KEYWORD, outlet=True)
VIEW = BudgetView((RULES, OUTLET, SKARN, CROWN, BELL), 450, 600, 2, 2)
# 624 pixels have 600 for the bar, of which what was cut takes a quarter: 200 of 800 tokens
PLACES = {RULES: (12, 124.5), SKARN: (124.5, 349.5), CROWN: (465, 501.75), BELL: (501.75, 612)}


@pytest.fixture
def bar(theme: Theme, qtbot: QtBot) -> BudgetBar:
    made = BudgetBar(theme)
    qtbot.addWidget(made)
    made.resize(624, 80)
    made.set_view(VIEW)
    return made


def at(x: float, y: float = 30) -> QPoint:
    return QPoint(round(x), round(y))


def test_segments_lie_to_scale_and_what_was_cut_behind_the_limit(bar: BudgetBar) -> None:
    for segment, (left, right) in PLACES.items():
        assert bar.words_at(at(left + 2)) == bar.words_at(at(right - 2)) == segment.describe(600)
    assert [bar.words_at(at(*place)) for place in ((400, 30), (463, 30), (5, 30), (50, 12), (50, 46))] == [""] * 5
    assert bar.words_at(at(50, 14)) == bar.words_at(at(50, 44)) == RULES.describe(600)  # a little above and below too


def test_much_that_was_cut_takes_a_third_at_most(bar: BudgetBar) -> None:
    bar.set_view(BudgetView((RULES, Segment(2, "Crown", 50_000, KEYWORD, cut=True)), 150, 600, 1, None))
    budget = 600 * 0.66
    assert bar.words_at(at(12 + budget / 4 - 2)).startswith("Rules")
    assert not bar.words_at(at(12 + budget / 4 + 2))
    assert bar.words_at(at(12 + budget + 5)).startswith("Crown")


def test_what_is_no_entry_takes_its_room_and_cannot_be_chosen(bar: BudgetBar, qtbot: QtBot) -> None:
    talk = Segment(NO_ENTRY, "Conversation", 90, BESIDES)
    bar.set_view(BudgetView((RULES, SKARN), 540, 600, 2, None, talk))
    assert bar.words_at(at(12 + 451)) == bar.words_at(at(12 + 539)) == talk.describe(600)
    assert not bar.words_at(at(12 + 541))
    assert {"60 free", "Conversation"} <= set(words_drawn(bar))
    chosen: list[int] = []
    bar.entry_chosen.connect(chosen.append)
    qtbot.mouseClick(bar, Qt.MouseButton.LeftButton, pos=at(12 + 500))
    qtbot.keyClick(bar, Qt.Key.Key_Return)
    assert (bar.current, chosen) == (talk, [])
    qtbot.keyClick(bar, Qt.Key.Key_Left)
    qtbot.keyClick(bar, Qt.Key.Key_Return)
    assert chosen == [SKARN.entry]


def test_without_a_limit_the_bar_is_what_went_in(bar: BudgetBar) -> None:
    bar.set_view(BudgetView((RULES, SKARN), 450, None, 2, None))
    assert bar.words_at(at(610)).startswith("Skarn")
    assert bar.words_at(at(213)).startswith("Skarn")
    assert not {"limit", "free", "out:"} & {word for words in words_drawn(bar) for word in words.split()}


def test_the_arrows_go_from_segment_to_segment(bar: BudgetBar, qtbot: QtBot) -> None:
    told: list[int] = []
    bar.entry_chosen.connect(told.append)
    assert bar.accessibleDescription().startswith("450 of 600 tokens. Rules: 150 tokens (25% of the budget)")
    qtbot.keyClick(bar, Qt.Key.Key_Return)
    assert told == []  # on none yet
    key = Qt.Key
    walk = [
        (key.Key_Right, RULES), (key.Key_Right, SKARN), (key.Key_Left, RULES), (key.Key_Left, RULES),
        (key.Key_End, BELL), (key.Key_Right, BELL), (key.Key_Left, CROWN), (key.Key_Home, RULES),
    ]  # fmt: skip
    for pressed, segment in walk:
        qtbot.keyClick(bar, pressed)
        assert (bar.current, bar.accessibleDescription()) == (segment, segment.describe(600))
    for pressed in (key.Key_Return, key.Key_Enter, key.Key_Space, key.Key_A):
        qtbot.keyClick(bar, pressed)
    assert told == [RULES.entry] * 3


def test_the_keyboard_comes_to_the_first_segment_or_stays(bar: BudgetBar, qtbot: QtBot) -> None:
    bar.show()
    bar.setFocus()
    qtbot.waitUntil(bar.hasFocus)
    assert (bar.current, bar.accessibleDescription()) == (RULES, RULES.describe(600))
    qtbot.keyClick(bar, Qt.Key.Key_End)
    bar.clearFocus()
    bar.setFocus()
    assert bar.current == BELL
    bar.set_view(None)
    assert bar.current is None
    qtbot.keyClick(bar, Qt.Key.Key_Right)
    assert bar.current is None


def test_an_entry_chosen_elsewhere_is_the_current_one(bar: BudgetBar) -> None:
    bar.choose(CROWN.entry)
    assert (bar.current, bar.accessibleDescription()) == (CROWN, CROWN.describe(600))
    ring = drawn(bar)[-1]
    assert ring.box.left() == pytest.approx(465 - 1, abs=0.6)
    bar.choose(None)  # nothing is chosen, but the keyboard stays where it was
    assert bar.current == CROWN
    assert drawn(bar)[-1] != ring


def test_a_click_chooses(bar: BudgetBar, qtbot: QtBot) -> None:
    told: list[int] = []
    bar.entry_chosen.connect(told.append)
    for x in (20, 550, 400):
        qtbot.mouseClick(bar, Qt.MouseButton.LeftButton, pos=at(x))
    assert told == [RULES.entry, BELL.entry]
    assert bar.current == BELL


def test_what_is_drawn(bar: BudgetBar, theme: Theme) -> None:
    words = words_drawn(bar)
    assert words == [
        "Rules", "Skarn", "150 free", "limit 600", "out: 200",
        "C", f"{ALWAYS.word}: 150", "K", "keyword: 300", "cut by the budget: 50",
        "over the entry limit: 150",
    ]  # fmt: skip
    letters = {each.words: each.fill for each in drawn(bar) if len(each.words) == 1}
    assert letters == {each.letter: theme.fill(each.fill)[1].name() for each in (ALWAYS, KEYWORD)}
    boxes = [each for each in drawn(bar) if each.kind == "rect" and each.box.height() == 23]
    fills = [theme.fill(segment.origin.fill)[0].name() for segment in (RULES, SKARN)]
    assert [each.fill for each in boxes[:2]] == fills
    assert [round(each.box.left() - 0.5) for each in boxes] == [12, 124, 465, 465, 502, 502]
    tokens, entries = boxes[3].fill, boxes[5].fill
    pattern, color = tokens.split("_")
    assert pattern.startswith("url(#")
    assert (entries.split("_")[0] != pattern, color in entries) == (True, False)  # another hatching, another colour


def test_where_there_is_no_room_a_letter_stands_for_the_title_and_the_limit_above(bar: BudgetBar) -> None:
    tight = (Segment(0, "Rules", 20, ALWAYS), Segment(1, "Skarn", 970, KEYWORD), Segment(2, "Bell", 5, AI))
    bar.set_view(BudgetView(tight, 995, 1000, 3, None))
    words = words_drawn(bar)
    assert words[:4] == ["C", "Skarn", "5 free", "limit 1,000"]
    free = next(each for each in drawn(bar) if each.words == "5 free")
    assert free.box.top() < 15


def test_the_number_of_what_was_cut_is_read_whole_where_little_was_cut(bar: BudgetBar) -> None:
    little = Segment(2, "Crown", 12, KEYWORD, cut=True)
    bar.set_view(BudgetView((RULES, little), 150, 1_500, 1, None))
    metrics = QFontMetricsF(scaled(bar.font(), 0.86))
    lefts = {each.words: each.box.left() for each in drawn(bar) if each.words in {"out: 12", "limit 1,500"}}
    assert lefts["out: 12"] + metrics.horizontalAdvance("out: 12") < bar.width()
    assert lefts["limit 1,500"] + metrics.horizontalAdvance("limit 1,500") < lefts["out: 12"]


def test_the_legend_takes_as_many_lines_as_it_needs(bar: BudgetBar, theme: Theme, qtbot: QtBot) -> None:
    low = bar.sizeHint().height()
    assert bar.minimumSizeHint().height() == low
    bar.resize(300, 80)
    assert bar.sizeHint().height() >= low + 18
    rows = {each.box.top() for each in drawn(bar) if len(each.words) > 1 and each.box.top() > 45}
    assert len(rows) == (bar.sizeHint().height() - 49) // 18
    bare = BudgetBar(theme, legend=False)
    qtbot.addWidget(bare)
    bare.resize(624, 80)
    bare.set_view(VIEW)
    assert bare.sizeHint().height() == 49
    assert words_drawn(bare) == ["Rules", "Skarn", "150 free", "limit 600", "out: 200"]


BAR = QRectF(12, 17, 450, 24)
"""The part of the bar that stands for the budget."""


def test_the_budget_is_a_trough_that_ends_at_its_limit(bar: BudgetBar, theme: Theme) -> None:
    trough = next(each for each in drawn(bar) if each.fill == theme.color("sunken").name())
    assert (trough.box, trough.edge) == (BAR.adjusted(0.5, 0.5, -0.5, -0.5), theme.color("border_strong").name())
    (limit,) = (each for each in drawn(bar) if each.kind == "polyline")
    assert (limit.box, limit.edge, limit.wide) == (QRectF(463.5, 10, 0, 36), theme.color("text").name(), 2)
    bar.set_view(BudgetView((RULES, SKARN), 450, 600, 2, None))
    assert not [each for each in drawn(bar) if each.kind == "polyline"]  # nothing lies behind it


def test_segments_have_the_height_of_the_bar_and_what_was_cut_an_edge(bar: BudgetBar, theme: Theme) -> None:
    boxes = [each for each in drawn(bar) if each.kind == "rect" and each.box.height() == 23]
    assert {each.box.top() for each in boxes} == {17.5}
    assert {each.edge for each in boxes} == {theme.color("fill_edge").name()}
    under = [boxes[2].fill, boxes[4].fill]
    assert under == [theme.color("panel").name()] * 2  # the hatching lies on the colour of a pane
    widths = [each.box.width() for each in boxes]
    assert widths == [pytest.approx(right - left - 1) for left, right in (
        PLACES[RULES], PLACES[SKARN], PLACES[CROWN], PLACES[CROWN], PLACES[BELL], PLACES[BELL]
    )]  # fmt: skip


def test_hundreds_that_were_cut_are_two_hatchings_and_not_one_dark_surface(bar: BudgetBar) -> None:
    """Edges of segments narrower than themselves covered the hatching, which says why they are out."""
    cut = [Segment(10 + place, "Cut", 2, KEYWORD, cut=True, over_count=place >= 150) for place in range(450)]
    bar.set_view(BudgetView((RULES, SKARN, *cut, BELL), 450, 600, 2, None))
    boxes = [each.box for each in drawn(bar) if each.kind == "rect" and each.box.height() == 23][2::2]
    # a third of 600 pixels less the line of the limit; 300 and 600 of 1,050 tokens, and the 150 of one that is wide
    left, token = 12 + 600 * 0.66 + 3, (600 * 0.34 - 3) / 1050
    ends = [0, 300, 900, 1050]
    assert [box.left() for box in boxes] == [pytest.approx(left + token * end + 0.5) for end in ends[:-1]]
    assert [box.right() for box in boxes] == [pytest.approx(left + token * end - 0.5) for end in ends[1:]]
    assert bar.words_at(at(left + 1)) == cut[0].describe(600)  # each is found as before


def test_the_ring_goes_around_the_segment_that_the_keyboard_is_on(bar: BudgetBar, theme: Theme, qtbot: QtBot) -> None:
    ink = theme.color("focus").name()
    assert ink not in {each.edge for each in drawn(bar)}
    bar.show()
    bar.setFocus()
    qtbot.waitUntil(bar.hasFocus)
    left, right = PLACES[RULES]
    (ring,) = (each for each in drawn(bar) if each.edge == ink)
    assert (ring.box.left(), ring.box.top(), ring.box.bottom()) == (left - 2, 17 - 2, 41 + 2)
    assert ring.box.right() == pytest.approx(right + 2)


def test_the_chosen_segment_has_an_edge_of_its_own(bar: BudgetBar, theme: Theme) -> None:
    bar.choose(SKARN.entry)
    edge = drawn(bar)[-1]
    left, right = PLACES[SKARN]
    assert (edge.edge, edge.wide, edge.fill) == (theme.color("text").name(), 2, "none")
    assert (edge.box.left(), edge.box.top(), edge.box.bottom()) == (left - 1, 16, 42)
    assert edge.box.right() == pytest.approx(right + 1)


def test_words_stand_where_what_they_name_is(bar: BudgetBar, theme: Theme) -> None:
    places = {each.words: each.box for each in drawn(bar) if each.kind == "text"}
    for segment in (RULES, SKARN):
        left, right = PLACES[segment]
        assert left + 4 < places[segment.title].left() < (left + right) / 2
    assert 349.5 < places["150 free"].left() < (349.5 + 462) / 2
    assert 462 - 100 < places["limit 600"].left() < 462
    assert places["out: 200"].left() == 462 + 5
    ascent = QFontMetricsF(scaled(bar.font(), 0.86)).ascent()
    for word in ("limit 600", "out: 200"):  # in the middle between the upper edge and the bar
        assert 15 / 2 < places[word].top() < 15 / 2 + ascent / 2
    muted = theme.color("text_muted").name()
    ink = {each.words: (each.fill, each.points) for each in drawn(bar) if each.kind == "text"}
    assert ink["Rules"][0] == theme.fill(ALWAYS.fill)[1].name()
    assert {ink[word][0] for word in ("150 free", "limit 600", "out: 200", "keyword: 300")} == {muted}
    whole = bar.font().pointSizeF()
    assert [round(ink[word][1] / whole, 2) for word in ("Rules", "limit 600", "keyword: 300", "K")] == [
        pytest.approx(part, abs=0.02) for part in (0.86, 0.86, 0.88, 0.74)
    ]  # fmt: skip


def test_the_legend_has_squares_before_its_words_and_lines_below_each_other(bar: BudgetBar, theme: Theme) -> None:
    metrics = QFontMetricsF(scaled(bar.font(), 0.88))

    def legend() -> tuple[list[QRectF], list[Drawn]]:
        shapes = [each for each in drawn(bar) if (round(each.box.width()), round(each.box.height())) == (14, 13)]
        words = [each for each in drawn(bar) if len(each.words) > 1 and each.box.top() > 48]
        return list({(each.box.left(), each.box.top()): each.box for each in shapes}.values()), words

    squares, words = legend()
    assert len(squares) == len(words) == 4
    assert [word.box.left() - box.left() for box, word in zip(squares, words, strict=True)] == [
        pytest.approx(18.5, abs=0.01)
    ] * 4
    for box, after, word in zip(squares, squares[1:], words, strict=False):
        assert after.left() - box.left() == pytest.approx(metrics.horizontalAdvance(word.words) + 34, abs=0.01)
    assert (squares[0].left(), squares[0].top()) == (12.5, 41 + 7 + 2.5)
    bar.resize(200, 80)
    squares, words = legend()
    assert {box.top() for box in squares} == {50.5 + 18 * line for line in range(len(bar._legend_lines()))}
    assert min(box.left() for box in squares) == 12.5
    assert len({round(word.box.top()) for word in words}) > 1


def test_a_title_is_written_where_it_has_room_and_a_letter_where_that_has(bar: BudgetBar) -> None:
    """The whole bar is 600 pixels for 600 tokens: an edge takes one of each segment's."""
    letter = QFontMetricsF(scaled(bar.font(), 0.86)).horizontalAdvance(ALWAYS.letter)
    tokens = (48, 47, int(letter) + 6, int(letter) + 3)
    some = tuple(Segment(place, "Al", each, ALWAYS) for place, each in enumerate(tokens))
    bar.set_view(BudgetView(some, sum(tokens), 600, 4, None))
    assert words_drawn(bar)[:3] == ["Al", ALWAYS.letter, ALWAYS.letter]
    assert "free" in words_drawn(bar)[3]


def test_free_room_is_named_in_it_as_long_as_it_is_wide_enough(bar: BudgetBar) -> None:
    wide = QFontMetricsF(scaled(bar.font(), 0.86)).horizontalAdvance("60 free")
    for free, inside in ((int(wide) + 12, True), (int(wide) + 8, False)):
        taken = 600 - free
        bar.set_view(BudgetView((Segment(0, "Rules", taken, ALWAYS),), taken, 600, 1, None))
        (word,) = (each for each in drawn(bar) if each.words.endswith("free"))
        assert (word.box.top() > 17) == inside


def test_a_bar_is_as_high_as_it_needs(bar: BudgetBar) -> None:
    assert bar.sizePolicy().verticalPolicy() is QSizePolicy.Policy.Fixed
    bar.set_view(None)
    assert bar.sizeHint().height() == 49  # no legend
    assert bar.accessibleName() == "Token budget"
