"""The journey matrix as a person sees it."""

from __future__ import annotations

import pytest

from lorestudio.ui.shell.main_window import MainWindow

pytestmark = pytest.mark.dressed


@pytest.mark.parametrize("height", [120, 160, 600])
def test_a_low_journey_shows_rows_under_its_stages(window: MainWindow, height: int) -> None:
    journey = window.trace.journey
    journey.resize(600, height)
    assert journey.stages.height() <= max(journey.stages.LEAST, height // 2)
    assert journey.viewport().height() >= 2 * journey.rowHeight(0) - journey.horizontalScrollBar().height()


def test_a_high_journey_shows_the_names_of_its_stages_whole(window: MainWindow) -> None:
    journey = window.trace.journey
    journey.resize(600, 600)
    assert journey.stages.height() == journey.stages.sizeHint().height()
    assert journey.stages.height() > journey.stages.LEAST
