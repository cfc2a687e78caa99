"""The tuning pane alone: what may be turned, how far a search is, and what can be done without a point."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from lorestudio.ui.features.tuning.search_pane import TuningPane
from lorestudio.ui.shell.theme import Theme


@pytest.fixture
def pane(theme: Theme, qtbot: QtBot) -> TuningPane:
    made = TuningPane(theme)
    qtbot.addWidget(made)
    return made


def test_empty_lines_turn_nothing(pane: TuningPane) -> None:
    pane.over.setPlainText("  scanDepth=1..6 \n\n   \nmaxEntries=1,2\n")
    assert pane.lines() == ("scanDepth=1..6", "maxEntries=1,2")


@pytest.mark.parametrize(
    ("running", "words", "said"),
    [
        (True, "", "3 of 12 points"),
        (True, "Nearly done.", "Nearly done."),
        (False, "", ""),
        (False, "12 points run.", "12 points run."),
    ],
)
def test_how_far_a_search_is(pane: TuningPane, running: bool, words: str, said: str) -> None:
    pane.show_running(3, 12, running=running, words=words)
    assert pane.state.text() == said
    assert (pane.bar.value(), pane.bar.maximum()) == (3, 12)
    assert [each.isHidden() for each in (pane.bar, pane.stop, pane.start)] == [not running, not running, running]


def test_without_points_it_says_what_to_do_and_offers_nothing(pane: TuningPane) -> None:
    heads: list[str] = []
    pane.note_changed.connect(heads.append)
    pane.show_found(None)
    assert (heads, pane.current, pane.focus_target()) == ([""], None, pane.over)
    assert pane.story.text().startswith("Write down what should be in the prompt")
    assert not any(act.isEnabled() for act in pane.acts.values())
