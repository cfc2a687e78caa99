"""What would bring an entry in, in the window, where another system than DeepLore is chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lorestudio.settings.contextwindow import ContextWindowSettings
from lorestudio.studio.project.project import demo_project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.systems.registry import KINDS
from lorestudio.trace.model import token_limit
from tests.ui.conftest import drain

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytestqt.qtbot import QtBot

    from lorestudio.ui.shell.main_window import MainWindow


def settled(qtbot: QtBot, window: MainWindow) -> None:
    qtbot.waitUntil(lambda: not window.session.busy and window.session.jobs.idle, timeout=30_000)
    drain()


@pytest.fixture
def window(make_window: Callable[..., MainWindow], qtbot: QtBot) -> MainWindow:
    """The demo with the context window, at the first reply."""
    made = make_window(demo_project(), make_simulator=Simulator)
    settled(qtbot, made)
    settings = ContextWindowSettings(total_token_budget=200, with_conversation=False)
    made.session.replays.configure({"context-window": settings})
    made.session.replays.choose(system="context-window")
    settled(qtbot, made)
    made.chat.show_generation(made.session.generations[0])
    drain()
    return made


def left_out(window: MainWindow, reason: str) -> int:
    trace = window.session.runs.trace(window.selection.generation)
    assert trace is not None
    journeys = window.session.runs.journeys(trace)
    return next(entry for entry in journeys.rows if journeys.fate(entry).reason == reason)


@pytest.mark.long
def test_the_chosen_system_is_asked_and_its_setting_applied(window: MainWindow, qtbot: QtBot) -> None:
    window.selection.choose_entry(left_out(window, "cw_no_room"))
    window.run("trace.why_not")
    settled(qtbot, window)
    page = window.features.why_not.page
    assert "bring" in page.summary.text()
    row = next(row for row in page.rows if "total_token_budget" in row.answer.change.settings)
    wanted = row.answer.change.settings["total_token_budget"]
    row.button.click()
    settled(qtbot, window)
    known = window.session.choices.systems["context-window"]
    assert isinstance(known, ContextWindowSettings)
    assert known.total_token_budget == wanted
    assert window.features.why_not.search.goes_in
    entry = window.selection.entry
    assert entry is not None
    change = window.trace.model.change(entry)
    assert change is not None
    assert change.words == "+ came in"
    window.run("adjust.undo")
    settled(qtbot, window)
    known = window.session.choices.systems["context-window"]
    assert isinstance(known, ContextWindowSettings)
    assert known.total_token_budget == 200
    assert not window.features.why_not.search.goes_in
    change = window.trace.model.change(entry)
    assert change is not None
    assert change.words == "− left"


@pytest.mark.long
def test_an_entry_of_no_system_is_answered_from_the_run(window: MainWindow, qtbot: QtBot) -> None:
    window.session.replays.choose(system="facts")
    settled(qtbot, window)
    window.selection.choose_entry(0)
    window.run("trace.why_not")
    settled(qtbot, window)
    trace = window.session.runs.trace(window.selection.generation)
    assert trace is not None
    assert window.session.runs.journeys(trace).fate(0).reason == "fm_no_memory"
    assert "Choose a system that looks at notes" in window.features.why_not.page.summary.text()
    assert not window.features.why_not.page.rows


@pytest.mark.long
def test_why_later_stages_cannot_be_asked(window: MainWindow, qtbot: QtBot) -> None:
    """The context window fits all its parts at once, and says so in place of an answer."""
    window.run("trace.why")
    window.selection.choose_entry(left_out(window, "cw_no_room"))
    settled(qtbot, window)
    assert "What later stages would have done is not known." in window.why.browser.toPlainText()
    assert KINDS["context-window"].not_held in window.why.browser.toPlainText()
    trace = window.session.runs.trace(window.selection.generation)
    assert trace is not None
    window.selection.choose_entry(trace.injections[0].entry)
    settled(qtbot, window)
    assert "is not known" not in window.why.browser.toPlainText()


@pytest.mark.long
def test_another_budget_is_tried_and_kept(window: MainWindow, qtbot: QtBot) -> None:
    pane = window.budget
    window.show_pane("budget")
    drain()
    assert not pane.slider.isHidden()
    assert pane.no_budget.isHidden()
    assert pane.slider.value == 200
    pane.slider.slider.setValue(60)
    qtbot.waitUntil(lambda: "Goes in" in pane.slider.told.text(), timeout=10_000)
    pane.slider.keep.click()
    settled(qtbot, window)
    known = window.session.choices.systems["context-window"]
    assert isinstance(known, ContextWindowSettings)
    assert known.total_token_budget == 600
    trace = window.session.runs.trace(window.selection.generation)
    assert trace is not None
    limit = token_limit(trace)
    assert limit is not None
    assert limit.maximum == 600


@pytest.mark.long
def test_a_system_without_a_budget_says_so(window: MainWindow, qtbot: QtBot) -> None:
    window.show_pane("budget")
    window.session.replays.choose(system="hybrid")
    settled(qtbot, window)
    assert window.budget.slider.isHidden()
    assert window.budget.no_budget.text() == KINDS["hybrid"].no_budget
    assert not window.budget.no_budget.isHidden()
