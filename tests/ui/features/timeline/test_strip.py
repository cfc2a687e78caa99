"""The strip under the chat: its bars are what the traces say, and a click or a key goes there."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from lorestudio.domain.chat import Generation
from lorestudio.domain.records import replace
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.trace.budget import budget_view
from lorestudio.ui.features.timeline.strip import BarOrder, ReplyStrip
from lorestudio.ui.shell.main_window import MainWindow
from tests.ui.features.timeline.test_pane import long_chat, project_with, settle
from tests.ui.worlds import ENTRIES as NOTES

MakeWindow = Callable[..., MainWindow]


def tight_project() -> Project:
    """Ten replies with room for little, so that notes are cut."""
    notes = tuple(replace(note, keys=(*note.keys, "fortress"), tokens=90) for note in NOTES)
    settings = DeepLoreSettings(enabled=True, scan_depth=2, unlimited_budget=False, max_tokens_budget=150)
    chat = long_chat(10)
    rows = [{"title": "Skarn", "tokens": 40}, {"title": "Bell", "tokens": 30}]
    noted = replace(chat.messages[2], extra={"deeplore_sources": rows})
    chat = replace(chat, messages=(*chat.messages[:2], noted, *chat.messages[3:]))
    return replace(project_with(chat, notes), settings=settings)


@pytest.fixture
def window(share_window: MakeWindow, qtbot: QtBot) -> MainWindow:
    def prepare(window: MainWindow) -> None:
        settle(window, qtbot)

    return share_window(lambda _folder: tight_project(), prepare=prepare, make_simulator=Simulator)


@pytest.fixture
def strip(window: MainWindow) -> ReplyStrip:
    return window.features.timeline.strip


def shown(strip: ReplyStrip) -> dict[Generation, tuple[float, float]]:
    """Of each bar what went in, and what was cut."""
    layers = strip.chart.bars.layers
    inside = np.sum([each.values for each in layers if not each.beyond], axis=0)
    beyond = np.sum([each.values for each in layers if each.beyond], axis=0)
    return {each: (inside[place], beyond[place]) for place, each in enumerate(strip.generations)}


def test_it_stands_under_the_chat_without_being_asked(window: MainWindow, strip: ReplyStrip) -> None:
    assert strip.isVisible()
    assert window.docks["chat"].isAncestorOf(strip)
    assert len(strip.generations) == 11  # ten replies, and the one to come


def test_bars_are_what_went_in_by_origin_and_what_was_cut(window: MainWindow, strip: ReplyStrip) -> None:
    cut = 0.0
    for generation, (inside, beyond) in shown(strip).items():
        view = budget_view(window.session.runs.traces[generation])
        assert inside == sum(each.tokens for each in view.segments if not each.cut)
        assert beyond == sum(each.tokens for each in view.cut)
        cut += beyond
    assert cut, "this world cuts something"
    words = strip.legend.accessibleName()
    assert "keyword" in words
    assert words.startswith("cut")


def test_what_the_chat_has_noted_and_what_is_expected_next_is_marked(window: MainWindow, strip: ReplyStrip) -> None:
    bars, traces = strip.chart.bars, window.session.runs.traces
    assert bars.marked is not None
    assert bars.marked[0] == 70, "two notes of 40 and 30 tokens"
    assert "the chat's file has noted 70 tokens" in bars.words(0)
    assert np.isnan(bars.marked[1:-1]).all()
    assert bars.expected == len(strip.generations) - 1
    assert bars.marked[-1] == traces[strip.generations[-1]].total_tokens
    assert bars.words(bars.expected).startswith("The reply to come, as expected now")


def test_a_click_goes_to_the_reply_everywhere(window: MainWindow, strip: ReplyStrip, qtbot: QtBot) -> None:
    chart = strip.chart
    child = chart.childAt(chart.point_of(3))
    assert child is not None
    QTest.mouseClick(child, Qt.MouseButton.LeftButton, pos=child.mapFrom(chart, chart.point_of(3)))
    assert window.selection.generation == strip.generations[3]
    assert window.features.chat.pane.view.currentIndex().row() == strip.generations[3].message
    assert QApplication.focusWidget() is chart
    assert strip.chart.accessibleDescription().startswith(f"#{strip.generations[3].message}")


def test_keys_go_from_reply_to_reply_and_pick_some_out(window: MainWindow, strip: ReplyStrip, qtbot: QtBot) -> None:
    strip.chart.setFocus()
    qtbot.keyClick(window.focusWidget(), Qt.Key.Key_Home)
    assert window.selection.generation == strip.generations[0]
    qtbot.keyClick(window.focusWidget(), Qt.Key.Key_Right)
    assert window.selection.generation == strip.generations[1]
    for _ in range(2):
        qtbot.keyClick(window.focusWidget(), Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    part = (strip.generations[1], strip.generations[3])
    assert window.features.timeline.timeline.shown.part == part
    window.features.timeline.unfold(0)
    settle(window, qtbot)
    assert window.features.timeline.timeline.content.generations == strip.generations[1:4]
    strip.chart.setFocus()
    qtbot.keyClick(window.focusWidget(), Qt.Key.Key_Escape)
    assert window.features.timeline.timeline.shown.part is None


def test_sorted_by_most_cut_and_most_changed(window: MainWindow, strip: ReplyStrip) -> None:
    strip.order_by(BarOrder.CUT)
    cuts = [beyond for _inside, beyond in shown(strip).values()]
    assert cuts == sorted(cuts, reverse=True)
    assert strip.sort.text() == "Most cut first"
    strip.order_by(BarOrder.CHANGED)
    turns = window.features.timeline.feed.turns
    changed = [turns[each].changes.amount for each in strip.generations]
    assert changed == sorted(changed, reverse=True)
    strip.order_by(BarOrder.CHAT)
    assert list(strip.generations) == sorted(strip.generations)


def test_which_reply_was_cut_most_is_one_command(window: MainWindow, strip: ReplyStrip) -> None:
    window.run("strip.cut")
    most = max(beyond for _inside, beyond in shown(strip).values())
    chosen = window.features.timeline.feed.turns[window.selection.generation]
    assert chosen.summary.cut == most > 0
    assert strip.chart.hasFocus()
    assert strip.generations[0] == window.selection.generation
    assert [action.text() for action in strip.sort.menu().actions() if action.isChecked()] == ["Most cut first"]
    window.run("strip.chat")
    assert window.features.timeline.feed.turns[window.selection.generation] is chosen


def test_prompts_are_compared_only_once_somebody_looks_at_the_pane(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window(project_with(long_chat(4)), make_simulator=Simulator)
    feed = window.features.timeline.feed
    qtbot.waitUntil(lambda: len(feed.turns) == len(window.session.generations) and not feed.busy)
    assert all(turn.cache is None for turn in feed.turns.values())
    window.features.timeline.unfold(3)
    settle(window, qtbot)
    assert sum(turn.cache is not None for turn in feed.turns.values()) == len(feed.turns) - 1


def test_each_page_of_the_timeline_unfolds_from_it(window: MainWindow, strip: ReplyStrip) -> None:
    pane = window.features.timeline.timeline
    for page, action in enumerate(strip.unfold.menu().actions()):
        action.trigger()
        assert pane.isVisible()
        assert pane.tabs.currentIndex() == page


def test_before_a_replay_it_offers_one(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window(project_with(long_chat(2)), make_simulator=Simulator, replay=False)
    strip = window.features.timeline.strip
    assert strip.nothing.isVisible()
    strip.nothing.linkActivated.emit("replay.all")
    settle(window, qtbot)
    qtbot.waitUntil(strip.chart.isVisible)
