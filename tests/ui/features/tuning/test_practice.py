"""The steps of resources/docs/tuning.md, “Ten minutes on a broken copy”, walked in the window."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from lorestudio.settings.deeplore import declarations
from lorestudio.studio.project.project import demo_project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.tuning.checking import checked as check
from lorestudio.studio.tuning.expectations import FILE_NAME, load
from lorestudio.ui.shell.main_window import MainWindow
from tests.ui.conftest import drain, settle
from tests.ui.features.tuning.test_expectations import checked

CAFE, GLASS = "places/Café Brouillard.md", "items/Storm Glass.md"


@pytest.fixture
def window(make_window, tmp_path: Path, qtbot) -> MainWindow:
    made = make_window(make_simulator=Simulator)
    made.features.vault.keep_in(tmp_path / "kept")
    made.session.set_project(demo_project(tmp_path / "practice", broken=True))
    checked(made, qtbot)
    return made


def broken(window: MainWindow, qtbot) -> dict[str, str]:
    """By the beginning of each sentence what the pane says, of those that are not met."""
    rows = checked(window, qtbot).model.rows
    return {row.sentence.partition(" should")[0]: row.verdict for row in rows if row.verdict.startswith("broken")}


def edited(window: MainWindow, filename: str, old: str, new: str) -> None:
    """Choose a note, change its source, and save."""
    project = window.session.project
    window.selection.choose_entry(next(each.id for each in project.index.entries if each.filename == filename))
    settle(window)
    source = window.entry.source
    text = source.toPlainText()
    assert text.count(old) == 1
    cursor = source.textCursor()
    cursor.setPosition(text.index(old))
    cursor.setPosition(text.index(old) + len(old), cursor.MoveMode.KeepAnchor)
    cursor.insertText(new)
    drain()
    window.run("entry.save")
    settle(window)


@pytest.mark.long
def test_the_three_faults_are_found_and_mended(window: MainWindow, qtbot) -> None:
    assert broken(window, qtbot) == {
        "Café Brouillard": "broken in 20 of 24 replies",
        "Storm Glass": "broken in 1 of 1 reply",
        "Captain Ingram Vane": "broken in 1 of 1 reply",
        "Nether Hollin": "broken in 1 of 1 reply",
        "Honey Lamp": "broken in 1 of 1 reply",
    }
    edited(window, CAFE, ", the]", "]")
    assert "Café Brouillard" not in broken(window, qtbot)
    edited(window, GLASS, "era: before the flood\n", "")
    # The gate is open now, and the budget still keeps it out; without the café two others have room.
    assert set(broken(window, qtbot)) == {"Storm Glass", "Honey Lamp"}
    # What a budget of 1,300 tokens would do is told before it is set.
    window.features.settings.pane.trial.move(
        next(each for each in declarations() if each.name == "max_tokens_budget"), 1300
    )
    settle(window)
    effects = window.preview.whole.effects
    assert (effects.won, effects.lost) == (2, 0)
    window.features.settings.pane.trial.end()
    project = window.session.project
    window.session.parts.adjust("budget", settings=project.settings.model_copy(update={"max_tokens_budget": 1300}))
    settle(window)
    assert broken(window, qtbot) == {}


def test_the_demo_itself_does_what_its_story_needs(tmp_path: Path) -> None:
    practice, demo = tmp_path / "practice", tmp_path / "demo"
    broken_copy = demo_project(practice, broken=True)
    assert broken_copy.settings.max_tokens_budget == 420
    expected = load(practice / "The Brume" / FILE_NAME).every
    whole = demo_project(demo)
    traces = asyncio.run(Simulator(whole).replay())
    assert [each.expectation.sentence for each in check(whole, expected, "", traces).failed] == []
