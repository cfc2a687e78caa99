"""The budget's pane: what it says of a run, what stands beside it, and another budget: tried, kept, undone."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QListView, QMenu, QPushButton
from pytestqt.qtbot import QtBot

from lorestudio.domain.records import replace
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.studio.project.project import Project, open_project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.trace.budget import AI, KEYWORD, BudgetView, Segment
from lorestudio.trace.diff import compare
from lorestudio.trace.model import OUTLET_TAG, Limit
from lorestudio.trace.summary import estimate
from lorestudio.ui.features.budget.pane import BudgetPane, BudgetSlider, SegmentTable, caps_words, trial_words
from lorestudio.ui.shell.main_window import MainWindow
from lorestudio.ui.shell.qt import ACCESSIBLE_TEXT, ENTRY_ID, LOOK
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.widgets.cells import CellDelegate, Swatch
from tests.ui.conftest import drain, menu_of_picture, settle, titles_of, turned_round
from tests.ui.drawing import words_drawn
from tests.ui.vaults import write_vault
from tests.ui.worlds import BELL, CROWN, DAWNKEEP, RULES, SKARN, make_trace

LONG = "Of stone, and older than the pass. " * 8


def tight(folder: Path) -> Project:
    """Two notes of 70 tokens each, and a budget that holds one; the second reply is about both."""
    notes = {
        f"{title}.md": f"---\ntags: [lorebook]\nkeys: [{title.lower()}]\npriority: {rank}\n---\n# {title}\n\n{LONG}\n"
        for title, rank in (("Gate", 10), ("Tower", 20))
    }
    write_vault(folder / "vault", notes)
    said = ("Hello.", "Hi.", "See the gate!", "I see it.", "And gate and tower?", "Both.")
    lines = [{}, *({"name": "ab"[at % 2], "is_user": not at % 2, "mes": text} for at, text in enumerate(said))]
    chat = folder / "chat.jsonl"
    chat.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    settings = DeepLoreSettings(enabled=True, scan_depth=1, unlimited_budget=False, max_tokens_budget=100)
    return replace(open_project([folder / "vault"], chat), settings=settings)


@pytest.fixture
def window(share_window: Callable[..., MainWindow]) -> MainWindow:
    def prepare(window: MainWindow) -> None:
        window.show_pane("budget")
        window.chat.choose(5)
        settle(window)

    return share_window(tight, prepare=prepare, make_simulator=Simulator)


@pytest.fixture
def pane(window: MainWindow) -> BudgetPane:
    return window.budget


@pytest.mark.own_window
@pytest.mark.parametrize("by", ["mouse", "keyboard"])
def test_an_entry_is_pinned_and_copied_from_its_row(window: MainWindow, pane: BudgetPane, by: str) -> None:
    place = next(at for at, words in enumerate(listed(pane)) if "Tower" in words)
    view, index = pane.list, pane.model.index(place, 0)
    point = view.visualRect(index).center()
    if by == "mouse":
        QTest.mouseClick(view.viewport(), Qt.MouseButton.RightButton, pos=point)
        event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, point, view.viewport().mapToGlobal(point))
        QApplication.sendEvent(view.viewport(), event)
    else:
        view.setFocus()
        view.setCurrentIndex(index)
        event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, QPoint(0, 0), QPoint(0, 0))
        QApplication.sendEvent(view, event)
    (menu,) = (each for each in view.findChildren(QMenu) if each.isVisible())
    assert [each.text().split("\t")[0] for each in menu.actions() if each.text()] == [
        "Pin in this chat", "Block in this chat", "Copy", "Choose all",
    ]  # fmt: skip
    settle(window)
    QTest.keyClick(menu, Qt.Key.Key_Down)
    QTest.keyClick(menu, Qt.Key.Key_Return)
    settle(window)
    assert [each.title for each in window.session.project.controls.pins] == ["Tower"]


def listed(pane: BudgetPane) -> list[str]:
    return [pane.model.index(place, 0).data(ACCESSIBLE_TEXT) for place in range(pane.model.rowCount())]


def try_budget(window: MainWindow, pane: BudgetPane, tens: int, qtbot: QtBot) -> None:
    """With the keyboard, one step at a time would take long: the slider goes there, and rests."""
    pane.slider.slider.setValue(tens)
    qtbot.waitUntil(lambda: bool(pane.slider.told.text()) or not pane.slider.moved)
    settle(window)


# ---- what is said of a run -----------------------------------------------------------------------------------------


def test_a_run_its_list_and_the_reply_before(window: MainWindow, pane: BudgetPane) -> None:
    gate, tower = listed(pane)[::-1]
    assert gate.startswith("in: Gate: ")
    assert tower.startswith("cut: Tower: ")
    assert "of 100 tokens" in window.docks["budget"].bar._note.text()
    assert pane.last_label.text().startswith("Reply #4: ")
    assert (pane.last.isVisible(), pane.now_label.text()) == (True, "This reply")
    assert pane.slider.label.text() == "Budget: 100 tokens"
    assert pane.slider.isVisible()
    assert not pane.no_budget.isVisible()
    trace = window.session.runs.trace(window.selection.generation)
    assert (pane.counts.text(), pane.counts.isVisible()) == (estimate(trace), True)
    assert pane.focus_target() is pane.bar
    window.chat.choose(3)  # the reply before that one had nothing
    assert not pane.last.isVisible()
    assert not pane.now_label.isVisible()
    assert [row[:9] for row in listed(pane)] == ["in: Gate:"]


def test_a_run_that_took_nothing_and_no_run_say_so(window: MainWindow, pane: BudgetPane) -> None:
    window.chat.choose(1)
    assert pane.empty.isVisible()
    assert pane.focus_target() is pane
    assert "Nothing was injected" in pane.empty.accessibleName() + pane.empty.title.text()
    assert window.docks["budget"].bar._note.text() == "0 of 100 tokens · 0 of 10 entries"


def test_why_a_memory_took_nothing_is_said_in_its_own_words(
    make_window: Callable[..., MainWindow], tmp_path: Path
) -> None:
    window = make_window(tight(tmp_path), make_simulator=Simulator)
    settle(window)
    window.session.replays.choose(system="recap")
    settle(window)
    window.show_pane("budget")
    assert window.budget.empty.isVisible()
    assert window.budget.empty.text.text().endswith("and no running recap goes into the prompt.")
    *_others, last = window.budget.empty.page.findChildren(QPushButton)
    assert last.text() == "Open Recap"
    last.click()
    assert not window.docks["recap"].visibleRegion().isEmpty()


def test_before_anything_is_run_there_is_no_budget(make_window: Callable[..., MainWindow], tmp_path: Path) -> None:
    window = make_window(tight(tmp_path), make_simulator=Simulator, replay=False)
    pane = window.budget
    assert (pane.empty.title.text(), pane.focus_target()) == ("No budget yet", pane)
    assert pane.empty.text.text() == "A run shows here what it spent its tokens on."
    window.show_pane("budget")
    (door,) = pane.empty.findChildren(QPushButton)
    door.click()
    settle(window)
    assert not pane.empty.isVisible()


@pytest.mark.always
def test_without_a_chat_the_budget_offers_to_open_one(make_window: Callable[..., MainWindow], tmp_path: Path) -> None:
    window = make_window(replace(tight(tmp_path), chat=None, chat_path=None))
    asked: list[str] = []
    window.budget.empty.pressed.connect(asked.append)
    drain()
    (door,) = window.budget.empty.findChildren(QPushButton)
    door.click()
    assert asked == ["chat.open"]
    assert [each for each in window.findChildren(QFileDialog) if each.isVisible()]
    for dialog in window.findChildren(QFileDialog):
        dialog.close()


def test_rows_and_segments_choose_entries_and_follow_them(window: MainWindow, pane: BudgetPane, qtbot: QtBot) -> None:
    by_title = {row.title: row.entry for row in pane.model.rows}
    window.selection.choose_entry(by_title["Gate"])
    assert pane.list.currentIndex().data(ENTRY_ID) == by_title["Gate"]
    assert pane.bar.current is not None
    assert pane.bar.current.title == "Gate"
    qtbot.keyClick(pane.list, Qt.Key.Key_Up)
    assert window.selection.entry == by_title["Tower"]
    qtbot.keyClick(pane.bar, Qt.Key.Key_Home)
    qtbot.keyClick(pane.bar, Qt.Key.Key_Return)
    assert window.selection.entry == by_title["Gate"]
    window.selection.choose_entry(None)
    assert not pane.list.currentIndex().isValid()


def test_a_copied_row_has_its_tokens(window: MainWindow, pane: BudgetPane, qtbot: QtBot) -> None:
    row, view = pane.model.rows[0], pane.list
    copy = Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier
    view.setCurrentIndex(pane.model.index(0, 0))
    qtbot.keyClick(view, *copy)
    head, line = QGuiApplication.clipboard().text().split("\n")
    assert head.split("\t") == ["Entry", "Note", "Tokens"]
    assert (line.split("\t")[0], line.split("\t")[-1]) == (row.title, str(row.tokens))
    qtbot.keyClick(view, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClick(view, *copy)
    assert len(QGuiApplication.clipboard().text().split("\n")) == pane.model.rowCount() + 1


# ---- another budget ------------------------------------------------------------------------------------------------


@pytest.mark.always
@pytest.mark.own_window
def test_another_budget_is_tried_and_left(window: MainWindow, pane: BudgetPane, qtbot: QtBot) -> None:
    try_budget(window, pane, 30, qtbot)
    window.session.state_changed.emit()  # as when something else is done meanwhile
    assert pane.slider.label.text() == "Try: 300 tokens"
    assert "Goes in: Tower." in pane.slider.told.text()
    assert "Whole chat: " in pane.slider.told.text()
    assert [row[:3] for row in listed(pane)] == ["in:", "in:"]
    assert (pane.now_label.text(), pane.last_label.text()[:4]) == ("As tried out", "Now:")
    assert pane.last.isVisible()
    assert (pane.slider.keep.isVisible(), pane.slider.back.isVisible()) == (True, True)
    assert window.session.project.settings.max_tokens_budget == 100
    pane.slider.back.click()
    settle(window)
    assert [row[:3] for row in listed(pane)] == ["cut", "in:"]
    assert pane.slider.label.text() == "Budget: 100 tokens"
    assert not pane.slider.told.isVisible()
    assert not window.context.preview.whole.trying


def test_a_trial_that_ends_when_another_reply_is_shown_says_nothing_of_it(window: MainWindow, pane: BudgetPane) -> None:
    with turned_round(lambda: settle(window)):
        pane.slider.tried.emit(300)
        settle(window)
        window.chat.choose(3)
    assert [row[:8] for row in listed(pane)] == ["in: Gate"]
    assert (pane.slider.moved, pane.slider.told.text()) == (False, "")


@pytest.mark.always
@pytest.mark.own_window
def test_a_budget_is_kept_and_undone(window: MainWindow, pane: BudgetPane, qtbot: QtBot) -> None:
    try_budget(window, pane, 30, qtbot)
    pane.slider.keep.click()
    settle(window)
    assert window.session.project.settings.max_tokens_budget == 300
    assert pane.last_label.text().startswith("Before the change: ")
    assert pane.slider.label.text() == "Budget: 300 tokens"
    window.run("adjust.undo")
    settle(window)
    assert window.session.project.settings.max_tokens_budget == 100
    window.run("system.world-info")
    settle(window)
    assert pane.slider.isVisible() or pane.no_budget.isVisible()


# ---- the slider alone ----------------------------------------------------------------------------------------------


@pytest.fixture
def slider(qtbot: QtBot) -> BudgetSlider:
    made = BudgetSlider()
    qtbot.addWidget(made)
    made.set_budget(155, 20, 300)
    made.show()
    return made


def test_the_slider_goes_in_tens_and_keeps_the_settings_own(slider: BudgetSlider, qtbot: QtBot) -> None:
    tried: list[int] = []
    left: list[bool] = []
    slider.tried.connect(tried.append)
    slider.left.connect(lambda: left.append(True))
    assert (slider.slider.minimum(), slider.slider.maximum(), slider.value) == (2, 31, 155)
    assert (slider.moved, slider.keep.isVisible(), slider.back.isVisible()) == (False, False, False)
    qtbot.keyClick(slider.slider, Qt.Key.Key_Right)
    assert (slider.value, slider.label.text(), slider.keep.isVisible()) == (160, "Try: 160 tokens", True)
    assert tried == []  # it has to rest
    qtbot.waitUntil(lambda: tried == [160])
    slider.say("Goes in: Tower.")
    assert slider.told.isVisible()
    kept: list[int] = []
    slider.applied.connect(kept.append)
    slider.keep.click()
    assert kept == [160]
    qtbot.keyClick(slider.slider, Qt.Key.Key_PageUp)
    assert slider.value == 260
    qtbot.keyClick(slider.slider, Qt.Key.Key_Left)
    slider.slider.setValue(15)  # where it was: that is the way back, and nothing is tried any more
    assert (slider.value, left, slider.told.text()) == (155, [True], "")
    slider.slider.setValue(20)
    slider.back.click()
    assert (slider.value, left, slider.keep.isVisible(), slider.back.isVisible()) == (155, [True, True], False, False)
    assert (slider.slider.minimum(), slider.slider.maximum()) == (2, 31)
    qtbot.wait(120)
    assert tried == [160]


# ---- words ---------------------------------------------------------------------------------------------------------


def test_the_limits_of_a_run_in_words() -> None:
    trace = make_trace()
    assert caps_words(trace) == "Budget: 100 of 100 · Entries: 3 of 8 · The token budget ended the list"
    unlimited = replace(trace, limits=(Limit("budget", 100, None, "tokens"),), stages=trace.stages[:2])
    assert caps_words(unlimited) == "Budget: 100 of any number"
    outlet = replace(trace.injections[1], tag=f"{OUTLET_TAG}map")
    assert caps_words(replace(unlimited, injections=(trace.injections[0], outlet))).endswith(" · Outlets: 60, no limit")


def test_what_a_trial_changes_in_words() -> None:
    before = make_trace()
    rules, _skarn, dawnkeep = before.injections
    after = replace(before, injections=(rules, replace(dawnkeep, tokens=40, truncated=False)))
    assert trial_words(compare(before, before)) == "The same entries would go in."
    assert trial_words(compare(before, after)) == "Leaves: Skarn; another length: Dawnkeep 30 → 40."
    assert trial_words(compare(after, before)) == "Goes in: Skarn; another length: Dawnkeep 40 → 30."


def test_the_list_says_why_an_entry_is_in_or_out(qtbot: QtBot, theme: Theme) -> None:
    view = BudgetView(
        (
            Segment(RULES, "Rules", 30, AI, truncated_from=90),
            Segment(SKARN, "Skarn", 60, KEYWORD),
            Segment(BELL, "Bell", 5, KEYWORD, outlet=True),
            Segment(CROWN, "Crown", 158, KEYWORD, cut=True, needs=58, why="no room"),
            Segment(DAWNKEEP, "Dawnkeep", 40, KEYWORD, cut=True, over_count=True, why="one too many"),
            Segment(5, "Moor", 40, KEYWORD, cut=True, why="it is below the line"),
        ),
        90, 100, 2, 2,
    )  # fmt: skip
    shown = QListView()
    qtbot.addWidget(shown)
    model = SegmentTable(shown)
    shown.setModel(model)
    shown.setItemDelegate(CellDelegate(theme, shown))
    shown.resize(900, 300)
    model.show_view(view)
    assert words_drawn(shown) == [
        "158", "Crown", "cut, needs 58 more tokens", "40", "Dawnkeep", "over the entry limit",
        "40", "Moor", "cut: it is below the line", "30", "A", "Rules", f"{AI.word}, trimmed from 90",
        "60", "K", "Skarn", "keyword", "5", "K", "Bell", "outlet, outside the budget",
    ]  # fmt: skip


def test_a_row_of_the_list_looks_like_its_segment(qtbot: QtBot, theme: Theme) -> None:
    view = BudgetView(
        (
            Segment(SKARN, "Skarn", 1200, KEYWORD),
            Segment(CROWN, "Crown", 158, KEYWORD, cut=True, needs=58, why="no room"),
            Segment(DAWNKEEP, "Dawnkeep", 40, AI, cut=True, over_count=True, why="one too many"),
        ),
        90, 100, 2, 2,
    )  # fmt: skip
    model = SegmentTable(theme)
    model.show_view(view)
    looks = {row.title: model.index(place, 0).data(LOOK) for place, row in enumerate(model.rows)}
    swatches = {title: look.strips[0].left[0] for title, look in looks.items()}
    assert swatches == {
        "Skarn": Swatch(KEYWORD.fill, KEYWORD.letter), "Crown": Swatch("purple", icon="scissors"),
        "Dawnkeep": Swatch("grey", icon="slash"),
    }  # fmt: skip
    assert all(look.ring for look in looks.values())
    assert [each.text for each in looks["Skarn"].strips[0].right] == ["1,200"]


@pytest.mark.always
@pytest.mark.own_window
def test_a_trial_that_fails_is_told_and_one_that_is_left_shows_the_run_again(
    window: MainWindow, pane: BudgetPane, qtbot: QtBot, caplog: pytest.LogCaptureFixture
) -> None:
    pane._trial_failed(ValueError("no such budget"))
    assert pane.slider.told.text().casefold().startswith("no such budget")
    assert "another budget could not be tried" in caplog.text
    pane.slider.say("")
    before = listed(pane)
    try_budget(window, pane, 30, qtbot)
    assert listed(pane) != before
    entry = pane.model.rows[0].entry
    window.selection.choose_entry(entry)
    pane.slider.slider.setValue(10)
    settle(window)
    assert listed(pane) == before
    assert pane.list.currentIndex().data(ENTRY_ID) == entry
    assert not window.context.preview.whole.trying


def test_a_run_is_shown_once_and_follows_the_entry_that_is_chosen(window: MainWindow, pane: BudgetPane) -> None:
    notes: list[str] = []
    pane.note_changed.connect(notes.append)
    window.session.traces_changed.emit(())
    assert notes == [], "it is the same run"
    window.chat.choose(3)
    window.chat.choose(5)
    assert len(notes) == 2
    chosen: list[object] = []
    window.selection.entry_changed.connect(lambda: chosen.append(window.selection.entry))
    entry = pane.model.rows[0].entry
    pane.bar.entry_chosen.emit(entry)
    pane.bar.entry_chosen.emit(entry)
    pane.last.entry_chosen.emit(entry)
    assert chosen == [entry]


def test_the_list_is_of_one_height_and_small_where_there_is_little_room(pane: BudgetPane) -> None:
    assert len({pane.list.rowHeight(place) for place in range(pane.model.rowCount())}) == 1
    assert (pane.list.minimumHeight(), pane.list.hasMouseTracking()) == (20, True)
    assert isinstance(pane.list.itemDelegate(), CellDelegate)
    assert (pane.bar.accessibleName(), pane.list.accessibleName()) == ("Token budget", "Budget as a list")
    parts = (pane.last_label, pane.last, pane.now_label, pane.bar, pane.slider, pane.list)
    tops = [part.mapTo(pane, part.rect().topLeft()).y() for part in parts if part.isVisibleTo(pane)]
    assert tops == sorted(tops)
    assert len(tops) == 6


def test_the_bar_is_copied_as_a_picture_and_as_a_table(window: MainWindow, pane: BudgetPane) -> None:
    menu = menu_of_picture(pane.bar, QPoint(2, 2))
    assert titles_of(menu) == [
        "Copy as a table", "What would bring it in, or keep it out?", "Pin in this chat", "Block in this chat",
        "Copy as a picture",
    ]  # fmt: skip
    table, *_others, picture = menu.actions()
    table.trigger()
    lines = QGuiApplication.clipboard().text().splitlines()
    assert lines[0].split("\t") == ["Entry", "Note", "Tokens"]
    assert {line.split("\t")[0] for line in lines[1:]} == {"Gate", "Tower"}
    picture.trigger()
    assert QGuiApplication.clipboard().image().size() == pane.bar.grab().size()
    menu.close()
    menu = menu_of_picture(pane.last, QPoint(2, 2))
    assert "Copy as a table" not in titles_of(menu), "the rows below are those of the reply that is shown"
    menu.close()
