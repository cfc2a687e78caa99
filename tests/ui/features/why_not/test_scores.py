"""The bars of similarity in the Why pane."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lorestudio.domain.chat import Generation
from lorestudio.domain.records import replace
from lorestudio.settings.hybrid import HybridSettings
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.ui.shell.qt import ACCESSIBLE_TEXT, DISPLAY
from tests.ui.conftest import drain
from tests.ui.worlds import ENTRIES, RULES, SKARN, make_project

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from lorestudio.ui.shell.main_window import MainWindow
    from lorestudio.ui.shell.theme import Theme

SCORE, RESULT = 2, 3
"""Columns of the table of similarities."""


@pytest.fixture
def hybrid(make_window: Callable[..., MainWindow], tmp_path: Path, qtbot: QtBot) -> MainWindow:
    """The small project, run with hybrid retrieval that takes only the most similar entry."""
    entries = tuple(replace(entry, content_hash=entry.title) for entry in ENTRIES)
    window = make_window(make_project(tmp_path / "vault", entries=entries), make_simulator=Simulator)
    window.features.systems.configure("hybrid", HybridSettings(limit=1, semantic_threshold=-1.0))
    window.run("system.hybrid")
    qtbot.waitUntil(lambda: not window.session.busy and window.session.jobs.idle)
    drain()
    return window


def test_every_scored_candidate_has_a_bar(hybrid: MainWindow) -> None:
    hybrid.chat.show_generation(Generation(5))
    hybrid.selection.choose_entry(SKARN)
    hybrid.why.show_scores(True)
    page = hybrid.why.similarity
    assert hybrid.why._pages.currentWidget() is page
    found = page.model.found
    assert found is not None
    assert {each.title for each in found.entries} == {"Skarn", "Dawnkeep", "Crown"}  # their keys occur
    assert sum(each.taken for each in found.entries) == 1
    scores = [float(str(page.model.index(row, SCORE).data(DISPLAY))) for row in range(page.model.rowCount())]
    assert scores == sorted(scores, reverse=True)
    assert page.model.index(0, RESULT).data(DISPLAY) == "Taken"
    assert "threshold -1" in str(page.model.index(0, SCORE).data(ACCESSIBLE_TEXT))
    assert page.view.currentIndex().row() == page.model.place_of(SKARN)
    assert hybrid.why.focus_target() is page.view


def test_a_row_chooses_its_entry_and_other_systems_show_their_own_numbers(hybrid: MainWindow, qtbot: QtBot) -> None:
    hybrid.chat.show_generation(Generation(5))
    hybrid.selection.choose_entry(RULES)  # a constant has no similarity
    hybrid.why.show_scores(True)
    page = hybrid.why.similarity
    assert not page.view.currentIndex().isValid()
    page.view.selectRow(1)
    assert hybrid.selection.entry == page.model.found.entries[1].entry  # type: ignore[union-attr]  # shown above
    hybrid.run("system.world-info")
    qtbot.waitUntil(lambda: not hybrid.session.busy and hybrid.session.jobs.idle)
    drain()
    assert hybrid.why._pages.currentWidget() is hybrid.why.scores


def test_the_threshold_is_drawn_through_all_rows(hybrid: MainWindow, theme: Theme) -> None:
    hybrid.chat.show_generation(Generation(5))
    hybrid.selection.choose_entry(SKARN)
    hybrid.why.show_scores(True)
    drain()
    view = hybrid.why.similarity.view
    image = view.viewport().grab().toImage()
    fills = {image.pixelColor(x, y).name() for x in range(0, image.width(), 2) for y in range(0, image.height(), 2)}
    assert theme.fill("green")[0].name() in fills  # the one that was taken
    assert theme.fill("grey")[0].name() in fills  # those that were not
