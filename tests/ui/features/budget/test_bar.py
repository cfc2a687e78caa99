"""The budget's bar alone: where its segments lie, what it says of them, how it is walked and what is drawn."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from lorestudio.trace.budget import AI, ALWAYS, KEYWORD, BudgetView, Segment
from lorestudio.ui.features.budget.pane import BudgetBar
from lorestudio.ui.shell.theme import Theme
from tests.ui.drawing import drawn, words_drawn

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
        "C", ALWAYS.word, "K", "keyword", "cut by the budget: 50",
        "over the limit of entries: 150",
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
