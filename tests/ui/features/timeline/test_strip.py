"""The strip under the chat: its bars are what the traces say, and a click or a key goes there."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from lorestudio.domain.chat import Generation
from lorestudio.domain.records import replace
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.replay.timeline import TimelineTurn
from lorestudio.trace.budget import KEYWORD, budget_view
from lorestudio.trace.diff import InjectionChanges
from lorestudio.ui.features.timeline.strip import REFRESH_MS, BarOrder, ReplyStrip, reply_words
from lorestudio.ui.shell.main_window import MainWindow
from tests.ui.conftest import menu_of_picture, titles_of
from tests.ui.drawing import place_point
from tests.ui.features.timeline.test_pane import long_chat, opened, project_with, settle
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
    QTest.mouseClick(chart, Qt.MouseButton.LeftButton, pos=place_point(chart, 3))
    assert window.selection.generation == strip.generations[3]
    assert window.features.chat.pane.view.currentIndex().row() == strip.generations[3].message
    assert QApplication.focusWidget() is chart
    assert strip.chart.accessibleDescription().startswith(f"#{strip.generations[3].message}")


@pytest.mark.own_window
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


@pytest.mark.always
@pytest.mark.own_window
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


# ---- what a bar says and shows --------------------------------------------------------------------------------------


def turn(budget: int | None = 600, cut: int = 0, entered: int = 0, left: int = 0, used: int = 150) -> TimelineTurn:
    keys = [("World", f"{place}.md") for place in range(entered + left)]
    summary = SimpleNamespace(
        injected={1: None}, tokens=150, used=used, budget=budget, by_origin={KEYWORD: 150}, cut=cut
    )
    changes = InjectionChanges(entered=tuple(keys[:entered]), left=tuple(keys[entered:]))
    return cast("TimelineTurn", SimpleNamespace(summary=summary, changes=changes, before=Generation(2)))


def test_a_bar_in_words_says_only_what_there_is() -> None:
    assert reply_words("#4", None) == "#4: not run yet"
    assert reply_words("#4", turn(None)) == "#4: 1 entry, 150 tokens; 150 keyword"
    assert reply_words("#4", turn(cut=1)) == "#4: 1 entry, 150 tokens of 600; 150 keyword; cut: 1 token"
    # World Info counts all texts as one, and the context window has the conversation in its budget.
    assert reply_words("#4", turn(used=149)).startswith("#4: 1 entry, 150 tokens; budget: 149 of 600; ")
    assert reply_words("#4", turn(), 70).endswith("; the chat's file has noted 70 tokens")
    assert reply_words("#4", turn(), expected=True).startswith("The reply to come, as expected now: 1 entry")
    assert reply_words("#4", turn(entered=2, left=1)).endswith("; since #2: 2 entered, 1 left")
    assert reply_words("#4", turn(left=1)).endswith("; since #2: 0 entered, 1 left")


def test_the_legend_explains_only_what_is_drawn(window: MainWindow, strip: ReplyStrip) -> None:
    assert strip.legend.accessibleName().endswith("◆ recorded in the chat, ◇ expected next")
    assert strip.legend.accessibleName().startswith("cut, ")
    chosen = strip._selection.generation
    strip._noted = dict.fromkeys(strip._noted)
    strip._fill()
    assert "recorded" not in strip.legend.accessibleName()
    strip._noted_chat = None
    strip._fill()
    assert "recorded" in strip.legend.accessibleName()
    line = strip._feed.line
    strip._feed.line = line[:-1]  # without the reply to come
    strip._fill()
    strip._feed.line = line
    assert "expected next" not in strip.legend.accessibleName()
    assert strip.chart.bars.expected == -1
    strip._fill()
    assert strip._selection.generation == chosen


def test_one_order_is_ticked_at_a_time(window: MainWindow, strip: ReplyStrip) -> None:
    def ticked() -> list[str]:
        return [action.text() for action in strip.sort.menu().actions() if action.isChecked()]

    assert (ticked(), strip.sort.text()) == (["As in the chat"], "")
    for order, text in ((BarOrder.CHANGED, "Most changed first"), (BarOrder.CUT, "Most cut first")):
        strip.order_by(order)
        assert (ticked(), strip.sort.text()) == ([text], text)
        assert strip.sort.accessibleName() == f"Order of the replies: {text}"
    strip.order_by(BarOrder.CHAT)
    assert (ticked(), strip.sort.text()) == (["As in the chat"], "")


def pick_out(window: MainWindow, strip: ReplyStrip, qtbot: QtBot) -> tuple[Generation, Generation]:
    """Pick the second to the fourth reply out."""
    strip.chart.setFocus()
    qtbot.keyClick(window.focusWidget(), Qt.Key.Key_Home)
    qtbot.keyClick(window.focusWidget(), Qt.Key.Key_Right)
    for _ in range(2):
        qtbot.keyClick(window.focusWidget(), Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    return strip.generations[1], strip.generations[3]


def test_what_is_picked_out_stays_while_the_chat_changes_and_goes_with_it(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    window = opened(make_window, qtbot, long_chat(6))
    strip, session, map_of = window.features.timeline.strip, window.session, window.features.timeline.timeline
    part = pick_out(window, strip, qtbot)
    assert map_of.shown.part == part
    assert session.project is not None
    assert session.project.chat is not None
    chat = session.project.chat
    session.parts.adjust("delete a message", chat=replace(chat, messages=chat.messages[:-2]))
    settle(window, qtbot)
    strip._fill()
    assert (strip.chart.range, map_of.shown.part) == ((1, 4), part)
    qtbot.keyClick(strip.chart, Qt.Key.Key_Escape)
    assert (strip.chart.range, map_of.shown.part) == (None, None)

    part = pick_out(window, strip, qtbot)
    session.parts.adjust("delete nearly all", chat=replace(chat, messages=chat.messages[:2]))
    settle(window, qtbot)
    strip._fill()
    assert (strip.chart.range, map_of.shown.part) == (None, None)

    session.parts.undo()
    settle(window, qtbot)
    strip._fill()
    pick_out(window, strip, qtbot)
    session.set_project(project_with(long_chat(6), NOTES[:2]))
    settle(window, qtbot)
    assert (strip.chart.range, map_of.shown.part) == (None, None)


@pytest.mark.always
@pytest.mark.own_window
def test_another_order_takes_all_replies_again(window: MainWindow, strip: ReplyStrip, qtbot: QtBot) -> None:
    told: list[object] = []
    strip.order_by(BarOrder.CHAT)
    strip.brushed.connect(told.append)
    part = pick_out(window, strip, qtbot)
    assert told[-1] == part
    told.clear()
    strip.order_by(BarOrder.CHAT)
    assert (told, strip.chart.range) == ([], (1, 4))
    strip.order_by(BarOrder.CUT)
    assert (told, strip.chart.range) == ([None], None)
    strip.order_by(BarOrder.CHANGED)  # there is nothing to take back
    assert told == [None]
    strip.order_by(BarOrder.CHAT)


def test_the_chosen_reply_keeps_its_bar_in_every_order(window: MainWindow, strip: ReplyStrip) -> None:
    window.features.timeline.jump(strip.generations[3], None)
    chosen = window.selection.generation
    for order in (BarOrder.CUT, BarOrder.CHAT):
        strip.order_by(order)
        place = strip.generations.index(chosen)
        assert strip.chart.accessibleDescription() == strip.chart.bars.words(place)
        assert strip.chart.chosen == place


def test_replies_that_were_not_counted_yet_stand_at_the_end(window: MainWindow, strip: ReplyStrip) -> None:
    feed = window.features.timeline.feed
    missing = feed.line[4]
    turn = feed.turns.pop(missing)
    try:
        for order in (BarOrder.CUT, BarOrder.CHANGED):
            strip.order_by(order)
            assert strip.generations[-1] == missing
    finally:
        feed.turns[missing] = turn
        strip.order_by(BarOrder.CHAT)


def test_the_strip_is_filled_at_once_when_nothing_more_is_to_be_expected(
    window: MainWindow, strip: ReplyStrip, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[int] = []
    monkeypatch.setattr(strip._refresh, "start", pauses.append)
    monkeypatch.setattr(strip._refresh, "isActive", lambda: True)
    strip._later()
    assert pauses == [0]
    monkeypatch.setattr(type(strip._feed), "busy", True)
    strip._later()
    assert pauses == [0], "it is filled soon already"
    monkeypatch.setattr(strip._refresh, "isActive", lambda: False)
    strip._later()
    assert pauses == [0, REFRESH_MS + len(strip.generations) // 4]
    monkeypatch.undo()
    strip._fill()


def test_without_a_chat_there_is_no_strip(make_window: MakeWindow) -> None:
    window = make_window(replace(tight_project(), chat=None), make_simulator=Simulator)
    assert window.features.timeline.strip.isHidden()


def test_a_bar_is_gone_to_and_the_bars_are_copied_from_the_menu(window: MainWindow, strip: ReplyStrip) -> None:
    window.chat.choose(1)
    menu = menu_of_picture(strip.chart, place_point(strip.chart, 2))
    assert titles_of(menu) == ["Save turns as CSV…", "Copy as a picture"]
    assert window.selection.generation == strip.generations[2]
    menu.actions()[-1].trigger()
    menu.close()
    assert QGuiApplication.clipboard().image().size() == strip.chart.grab().size()
