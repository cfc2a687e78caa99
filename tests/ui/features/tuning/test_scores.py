"""Scores of the chat, and what is tried out run over all of it, in the window with the real engine."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from threading import Event, Thread, current_thread, main_thread
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from lorestudio.domain.chat import Generation
from lorestudio.domain.records import replace
from lorestudio.settings.deeplore import declarations
from lorestudio.studio.project.project import Project, open_project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.tuning.effects import StepEffect, WholeChat, sensitivity
from lorestudio.studio.tuning.expectations import FILE_NAME
from lorestudio.studio.tuning.scores import METRICS, Scores, TurnScore, blocks
from lorestudio.studio.tuning.scoring import Gap, ScoredChat, value_words
from lorestudio.ui.features.tuning import actions
from lorestudio.ui.features.tuning.scores_pane import ScoresPane
from lorestudio.ui.shell.main_window import MainWindow
from lorestudio.ui.shell.qt import ALIGNMENT, HORIZONTAL, V_RIGHT
from lorestudio.ui.shell.theme import Theme
from tests.ui.conftest import drain, settle
from tests.ui.features.tuning.test_expectations import CHAT, checked
from tests.ui.vaults import write_vault

EXPECTED = """\
expectations:
  - {note: Bell.md, should: be in, whenever: sail on}
  - {note: Bell.md, should: be in, whenever: bell}
"""


def project_of(folder: Path) -> Project:
    vault = write_vault(folder / "vault")
    (vault / FILE_NAME).write_text(EXPECTED, encoding="utf-8")
    project = open_project([vault])
    settings = project.settings.model_copy(update={"scan_depth": 1, "new_chat_threshold": 1})
    return replace(project.with_settings(settings), chat=CHAT)


@pytest.fixture
def window(share_window, qtbot) -> MainWindow:
    return share_window(project_of, prepare=lambda window: checked(window, qtbot), make_simulator=Simulator)


def pane(window: MainWindow) -> ScoresPane:
    return window.features.tuning.scores


def try_depth(window: MainWindow, depth: int) -> None:
    project = window.session.project
    assert project is not None
    window.preview.try_settings(project.settings.model_copy(update={"scan_depth": depth}))


@pytest.mark.own_window
def test_a_moved_setting_is_run_over_the_whole_chat(window: MainWindow, qtbot, monkeypatch: pytest.MonkeyPatch) -> None:
    window.show_pane("scores")
    whole, scores = window.preview.whole, pane(window)
    scores.tabs.setCurrentWidget(scores.change_page)
    assert not whole.trying
    try_depth(window, 5)
    assert (whole.current, whole.words) == (False, "Whole chat: running…")
    settle(window)
    # Nothing is said of a bell in the last message alone; in the last five it is.
    assert whole.effects.complete
    assert whole.effects.won == 1
    rows = {row.turn.generation.message: row for row in scores.effects.model.rows}
    assert "Bell" in rows[6].turn.entered
    assert rows[6].first
    assert rows[6].expected == "✓ Bell should be in whenever “sail on” is said"
    assert scores.changed_words.text() == whole.words
    assert "+1 expected" in whole.words
    assert scores.effects.view.isEnabled()

    gate, effects = Event(), WholeChat.effects
    monkeypatch.setattr(WholeChat, "effects", lambda *given: (gate.wait(60), effects(*given))[1])
    try_depth(window, 6)  # what stands there is of other settings now: greyed, until the first replies are there
    qtbot.waitUntil(lambda: not scores.effects.view.isEnabled())
    assert scores.effects.model.rows
    gate.set()
    settle(window)
    assert scores.effects.view.isEnabled()

    scores.effects.view.picked.emit(rows[6])
    assert window.selection.generation == Generation(6)
    window.preview.try_settings(None)
    settle(window)
    assert (whole.words, scores.effects.model.rows) == ("", ())


@pytest.mark.own_window
def test_numbers_stand_at_the_right(window: MainWindow) -> None:
    scores = pane(window)
    right = {
        sheet.view.accessibleName(): [
            sheet.model.headerData(column, HORIZONTAL)
            for column in range(sheet.model.columnCount())
            if sheet.model.headerData(column, HORIZONTAL, ALIGNMENT) == V_RIGHT
        ]
        for sheet in (scores.scores, scores.uses, scores.gaps, scores.effects, scores.steps)
    }
    assert right == {
        "Scores": ["Value", "95 % interval"],
        "What replies used": ["Replies", "Used", "Idle tokens"],
        "Names without a note": ["Messages"],
        "What the change does": ["Tokens"],
        "Every setting by a step": ["Replies", "Won", "Lost", "Tokens"],
    }


@pytest.mark.own_window
def test_intervals_are_drawn_while_the_window_goes_on(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn_in: list[Thread] = []
    interval = Scores.interval

    def drawn(*of: Any) -> Any:
        drawn_in.append(current_thread())
        return interval(*of)

    monkeypatch.setattr(Scores, "interval", drawn)
    window.show_pane("scores")
    settle(window)
    assert pane(window).scores.model.rows
    assert drawn_in
    assert main_thread() not in drawn_in


@pytest.mark.own_window
def test_where_there_are_no_gaps_that_is_said(theme: Theme, window: MainWindow, qtbot) -> None:
    scores = ScoresPane(theme, window.preview.whole)
    qtbot.addWidget(scores)
    for found, shown in (((Gap("Wren", (1, 2)),), scores.gaps), ((), scores.no_gaps)):
        scores.show_scores(ScoredChat("chat", "run", Scores(), gaps=found), ())
        assert scores.gaps_or_none.currentWidget() is shown
    assert scores.no_gaps.title.text() == "No gaps"
    assert "Names that are said often" in scores.no_gaps.text.text()
    scores.show_nothing("No vault", "Open one.")
    assert scores.gaps_or_none.currentWidget() is scores.gaps  # nobody knows


@pytest.mark.own_window
def test_the_field_and_the_slider_say_it_too(window: MainWindow, qtbot) -> None:
    window.chat.show_generation(Generation(6))
    drain()
    trial = window.features.settings.pane.trial
    declaration = next(each for each in declarations() if each.name == "scan_depth")
    trial.move(declaration, 5)
    settle(window)
    assert trial.words.splitlines()[1] == window.preview.whole.words
    trial.end()
    budget = window.budget
    window.show_pane("budget")
    window.chat.show_generation(Generation(2))
    settle(window)
    budget.slider.slider.setValue(budget.slider.slider.minimum())
    qtbot.waitUntil(lambda: window.preview.whole.trying)
    settle(window)
    assert window.preview.whole.words in budget.slider.told.text()
    budget.slider.reset()
    assert not window.preview.whole.trying


@pytest.mark.own_window
def test_a_pin_is_tried_on_the_whole_chat_and_nothing_is_pinned(window: MainWindow) -> None:
    project, whole, scores = window.session.project, window.preview.whole, pane(window)
    bell = next(each for each in project.index.entries if each.title == "Bell")
    window.selection.choose_entry(bell.id)
    settle(window)
    window.run("scores.pin")
    settle(window)
    assert scores.tabs.currentWidget() is scores.change_page
    assert whole.effects.won == 1
    assert window.commands.actions["scores.back"].isEnabled()
    assert {title for turn in whole.effects.turns for title in turn.entered} == {"Bell"}
    assert window.session.project.controls == project.controls
    assert scores.back_button.isVisibleTo(scores)
    scores.back_button.click()
    settle(window)
    assert not whole.trying
    assert not scores.back_button.isVisibleTo(scores)
    try_depth(window, 5)  # what is being edited is left where it is edited
    assert whole.trying
    assert not scores.back_button.isVisibleTo(scores)
    window.preview.try_settings(None)
    settle(window)


@pytest.mark.own_window
def test_the_scores_have_the_keyboard_once_they_are_there(window: MainWindow) -> None:
    window.show_pane("scores")
    settle(window)
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_End)
    scores = pane(window).scores
    assert scores.view.currentIndex().row() == len(scores.model.rows) - 1 > 0


@pytest.mark.own_window
def test_the_chat_is_scored_when_somebody_looks(window: MainWindow) -> None:
    scores = pane(window)
    window.show_pane("scores")
    settle(window)
    rows = {row.name: row.value for row in scores.scores.model.rows}
    assert (rows["met"], rows["recall"], rows["ai_calls"]) == ("50 %", "50 %", "0")
    assert "precision" in rows
    assert {use.title for use in scores.uses.model.rows} >= {"Bell"}


@pytest.mark.long
def test_every_setting_is_tried_by_a_step(window: MainWindow) -> None:
    scores = pane(window)
    window.run("scores.steps")
    assert scores.stop_button.isVisibleTo(scores)
    settle(window)
    steps = {(each.name, each.after): each.effects for each in scores.steps.model.rows}
    assert all(effects.changed for effects in steps.values())
    assert steps["enabled", False].lost == 1
    assert scores.chart.bars.amount == len(steps)
    scores.chart.picked.emit(0)
    assert scores.steps.view.current is scores.steps.model.rows[0]
    assert not scores.stop_button.isVisibleTo(scores)
    project = window.session.project
    window.session.set_project(replace(project, settings=project.settings.model_copy(update={"max_entries": 9})))
    assert not scores.steps.view.isEnabled()
    assert scores.steps.model.rows
    assert not scores.scores.view.isEnabled()
    settle(window)
    window.session.set_project(project)
    settle(window)


@pytest.fixture
def few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the first settings are tried."""
    monkeypatch.setattr(actions, "sensitivity", lambda chat, **more: islice(sensitivity(chat, **more), 12))


@pytest.mark.own_window
def test_what_was_tried_stays_where_steps_are_stopped(window: MainWindow, qtbot, monkeypatch) -> None:
    scores, stopped = pane(window), Event()

    def some(chat: WholeChat, **more: Any) -> Iterator[StepEffect]:
        yield from islice(sensitivity(chat, **more), 12)
        stopped.wait()

    monkeypatch.setattr(actions, "sensitivity", some)
    window.run("scores.steps")
    qtbot.waitUntil(lambda: scores.steps_words.text().startswith("12 steps"))
    found = scores.steps.model.rows
    assert found
    scores.stop_button.click()
    stopped.set()
    settle(window)
    assert scores.steps.model.rows == found
    assert scores.steps.view.isEnabled()
    assert scores.steps_words.text() == f"Stopped after 12 steps; {12 - len(found)} change nothing."


@pytest.mark.own_window
def test_intervals_are_drawn_by_the_seed_of_the_project(window: MainWindow, qtbot, monkeypatch) -> None:
    turns = tuple(TurnScore(Generation(each), tokens=each * each * 37 % 101) for each in range(40))
    scores = Scores(turns, blocks(len(turns)))
    drawn = {seed: scores.interval("tokens", seed) for seed in (0, 7)}
    assert drawn[0] != drawn[7]
    monkeypatch.setattr(actions, "scored", lambda *_given: [ScoredChat("chat", "run", scores)])
    window.session.set_project(replace(window.session.project, seed=7))
    window.session.replays.run_all()
    checked(window, qtbot)
    window.show_pane("scores")
    settle(window)
    qtbot.waitUntil(lambda: not window.features.tuning._scoring.busy)
    shown = next(row.interval for row in pane(window).scores.model.rows if row.name == "tokens")
    assert shown == " to ".join(value_words(each, METRICS["tokens"].unit) for each in (drawn[7].low, drawn[7].high))


@pytest.mark.always
@pytest.mark.own_window
@pytest.mark.usefixtures("few_steps")
def test_steps_are_those_of_this_run_and_can_be_stopped(window: MainWindow, qtbot) -> None:
    scores, can = pane(window), window.commands.actions
    window.show_pane("scores")
    assert (can["scores.steps"].isEnabled(), can["scores.stop"].isEnabled()) == (True, False)
    scores.try_button.click()
    assert scores.tabs.currentWidget() is scores.steps_page
    assert scores.steps_words.text() == "0 steps were tried; 0 change nothing."
    drain()
    assert can["scores.stop"].isEnabled()
    scores.stop_button.click()
    settle(window)
    assert scores.stop_button.isHidden()
    assert scores.steps_words.text().startswith("Stopped after ")
    scores.try_button.click()
    settle(window)
    found = scores.steps.model.rows
    assert scores.steps_words.text() == f"12 steps were tried; {12 - len(found)} change nothing."
    assert found
    assert scores.steps.view.isEnabled()
    drain()
    assert not can["scores.stop"].isEnabled()
    window.run("replay.all")  # as it was run: while that goes on, and afterwards, the steps are of this run
    assert window.session.busy
    assert scores.steps.view.isEnabled()
    settle(window)
    assert scores.steps.view.isEnabled()
    project = window.session.project
    window.session.set_project(replace(project, settings=project.settings.model_copy(update={"max_entries": 9})))
    assert scores.steps_words.text() == "Of an earlier run. Try again to see them now."
    greyed = (scores.steps.view, scores.chart, scores.scores.view)
    assert [each.isEnabled() for each in greyed] == [False] * 3
    settle(window)
    checked(window, qtbot)
    assert [each.isEnabled() for each in greyed] == [False, False, True]
    window.session.set_project(project)
    settle(window)


@pytest.mark.own_window
@pytest.mark.usefixtures("few_steps")
def test_steps_of_another_vault_are_gone(window: MainWindow) -> None:
    scores, project = pane(window), window.session.project
    window.show_pane("scores")
    scores.try_button.click()
    settle(window)
    assert scores.steps.model.rows
    window.session.set_project(replace(project, places=("elsewhere",)))
    assert (len(scores.steps.model.rows), scores.chart.isHidden()) == (0, True)
    assert scores.steps_words.text().startswith("Tries each setting alone")
    window.session.set_project(project)


def test_buttons_that_need_a_run_or_a_vault_are_enabled_with_it(make_window, tmp_path: Path) -> None:
    window = make_window()
    for name in ("scores", "tuning"):
        window.show_pane(name)
    drain()
    tuning = window.features.searching.pane
    buttons = (pane(window).try_button, tuning.start, tuning.add)
    assert [each.isEnabled() for each in buttons] == [False] * 3
    window.session.set_project(project_of(tmp_path))
    settle(window)
    drain()
    assert [each.isEnabled() for each in buttons] == [True] * 3
    window.session.close_project()
    drain()
    assert [each.isEnabled() for each in buttons] == [False] * 3


@pytest.mark.own_window
def test_what_may_be_tried_needs_a_note_and_a_run(window: MainWindow) -> None:
    window.selection.choose_entry(None)
    names = ("scores.pin", "scores.block", "scores.back")

    def can() -> list[bool]:
        window.context.update_actions()
        return [window.commands.actions[name].isEnabled() for name in names]

    assert can() == [False] * 3
    window.selection.choose_entry(window.session.project.index.entries[0].id)
    assert can() == [True, True, False]
    window.run("scores.block")
    assert can() == [True, True, True]
    settle(window)
    window.run("scores.back")
    settle(window)
    assert can() == [True, True, False]
    window.session.replays.choose(system="hybrid")  # heeds blocks, and no pins
    settle(window)
    assert can() == [False, True, False]


@pytest.mark.own_window
def test_rows_lead_to_a_reply_and_to_an_entry(window: MainWindow) -> None:
    scores = pane(window)
    window.show_pane("scores")
    settle(window)
    bell = next(use for use in scores.uses.model.rows if use.title == "Bell")
    scores.uses.view.picked.emit(bell)
    settle(window)
    assert window.session.entry(window.selection.entry).title == "Bell"
    window.features.tuning._look_at(3, None)  # as a gap in the fourth message
    settle(window)
    assert window.selection.generation == Generation(4)
    window.features.tuning._look_at(6, None)  # a reply itself
    settle(window)
    assert window.selection.generation == Generation(6)


@pytest.mark.own_window
def test_without_a_run_there_are_no_scores(window: MainWindow, qtbot) -> None:
    scores = pane(window)
    window.show_pane("scores")
    settle(window)
    assert scores.scores.model.rows
    window.session.replays.automatic = False
    window.session.set_project(replace(window.session.project, chat=None))
    settle(window)
    checked(window, qtbot)
    assert (scores.empty.title.text(), scores.scores.model.rows) == ("No chat open", ())
    assert scores.scored.currentWidget() is scores.empty
    assert not window.commands.actions["scores.steps"].isEnabled()
    window.features.tuning.try_every_setting()
    settle(window)
    assert window.bars.texts == []
