"""A retrieval system that nobody has heard of, in the window."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from lorestudio.domain.chat import Generation
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.systems.registry import kind_of
from lorestudio.ui.features.systems.dialogs import SystemSettingsDialog
from tests.systems.toy.registering import install, looked_again, toy_registered
from tests.systems.toy.settings import ToySettings
from tests.ui.features.systems.test_choosing import settled, systems_of
from tests.ui.worlds import BELL, SKARN, make_project

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from lorestudio.ui.shell.main_window import MainWindow


@pytest.fixture(params=["built in", "installed"])
def toy(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[None]:
    """It is there until the window, which is made after it, is gone."""
    with toy_registered(request.param, tmp_path):
        yield


@pytest.mark.long
@pytest.mark.usefixtures("toy")
def test_it_is_chosen_run_shown_and_set(make_window: Callable[..., MainWindow], tmp_path: Path, qtbot: QtBot) -> None:
    window = make_window(make_project(tmp_path / "vault"), make_simulator=Simulator)
    settled(qtbot, window)
    menu = window.chat.modes.system.menu()
    (choose,) = [action for action in menu.actions() if action.data() == "toy"]
    assert (choose.text(), choose.toolTip()) == ("Toy", kind_of("toy").summary)
    choose.trigger()
    settled(qtbot, window)
    assert systems_of(window) == {"toy"}
    assert len(window.session.runs.traces) == len(window.session.generations)
    assert window.chat.modes.system.text() == "Toy"
    assert window.commands.actions["system.toy"].isChecked()
    window.chat.choose(5)
    trace = window.session.runs.trace(Generation(5))
    assert trace is not None
    assert SKARN in {injection.entry for injection in trace.injections}
    window.selection.choose_entry(SKARN)
    assert "The title “Skarn” was said." in window.why.browser.toPlainText()
    assert "1 other stage let it pass, or did not look at it." in window.why.browser.toPlainText()
    window.selection.choose_entry(BELL)
    assert "Nobody said the title of this entry." in window.why.browser.toPlainText()
    assert window.trace.model.rowCount() > 0
    window.run("system.settings")
    (dialog,) = window.findChildren(SystemSettingsDialog)
    assert "Toy" in dialog.windowTitle()
    dialog.close()
    window.session.replays.configure({"toy": ToySettings(most_notes=0)}, "Most notes: 0")
    settled(qtbot, window)
    assert not any(trace.injections for trace in window.session.runs.traces.values())
    assert json.loads((tmp_path / "systems" / "toy.json").read_text(encoding="utf-8")) == {"mostNotes": 0}


def test_one_that_cannot_be_used_is_said(make_window: Callable[..., MainWindow], tmp_path: Path, qtbot: QtBot) -> None:
    with looked_again() as patch:
        install(patch, tmp_path / "site", "broken_package", "broken_package:nothing")
        window = make_window()
        settled(qtbot, window)
        assert any("An installed retrieval system cannot be used" in text for text in window.bars.texts)
