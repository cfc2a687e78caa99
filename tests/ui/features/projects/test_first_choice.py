"""The demo opens with something to look at; what is a person's own opens with nothing chosen."""

from __future__ import annotations

import pytest

from lorestudio.studio.project.project import DEMO_LOOK
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.trace.journey import FateState, Journeys


@pytest.fixture
def demo(make_window, qtbot):
    window = make_window(make_simulator=Simulator)
    window.session.reading.open_demo()
    qtbot.waitUntil(lambda: window.session.project is not None and not window.session.busy, timeout=30_000)
    qtbot.waitUntil(lambda: window.session.jobs.idle)
    return window


@pytest.mark.long
def test_the_demo_opens_with_an_entry_that_was_stopped(demo) -> None:
    assert demo.selection.entry is not None
    told = Journeys(demo.session.runs.trace(demo.selection.generation)).fate(demo.selection.entry)
    assert told.state is FateState.REMOVED
    assert demo.selection.stage == told.stage
    assert (demo.selection.message, demo.session.entry(demo.selection.entry).title) == DEMO_LOOK


@pytest.mark.long
def test_what_was_chosen_since_stays(demo, qtbot) -> None:
    first = demo.selection.entry
    other = next(entry.id for entry in demo.session.project.index.entries if entry.id != first)
    demo.selection.choose_entry(other)
    demo.session.replays.run_all()
    qtbot.waitUntil(lambda: not demo.session.busy and demo.session.jobs.idle, timeout=30_000)
    assert demo.selection.entry == other


def test_of_a_persons_own_vault_nothing_is_chosen(window) -> None:
    assert window.selection.entry is None
