"""What becomes of a point that was found: each button of the tuning pane, in the window with the real engine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QFileDialog, QLineEdit, QWidget

from lorestudio.domain.records import replace
from lorestudio.settings.store import SettingsProfiles, load
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.tuning.expectations import FILE_NAME
from lorestudio.ui.features.tuning.search_pane import TuningPane
from lorestudio.ui.features.tuning.searching import PointDialog
from lorestudio.ui.shell.main_window import MainWindow
from tests.ui.conftest import drain, settle
from tests.ui.features.tuning.test_scores import project_of

OF_A_POINT = ("look", "compare", "use", "keep", "export")


def search(window: MainWindow, lines: str = "scanDepth=1,5") -> TuningPane:
    pane = window.features.searching.pane
    window.show_pane("tuning")
    pane.over.setPlainText(lines)
    pane.way.setCurrentIndex(2)  # every one
    pane.start.click()
    settle(window)
    return pane


@pytest.fixture
def window(share_window) -> MainWindow:
    return share_window(project_of, make_simulator=Simulator, prepare=search)


def press(window: MainWindow, name: str) -> None:
    window.features.searching.pane.acts[name].click()
    settle(window)


def enabled(window: MainWindow) -> set[str]:
    """What can be done with the point, by the buttons; the actions agree."""
    window.context.update_actions()
    acts = window.features.searching.pane.acts
    can = {name for name, act in acts.items() if act.isEnabled()}
    assert {name for name in OF_A_POINT if window.commands.actions[f"tuning.{name}"].isEnabled()} == can - {"report"}
    return can


def answer(window: MainWindow, text: str) -> None:
    drain()
    field = QApplication.focusWidget()
    assert isinstance(field, QLineEdit)
    field.setText(text)
    QTest.keyClick(field, Qt.Key.Key_Return)
    settle(window)


def saved(monkeypatch: pytest.MonkeyPatch, folder: Path) -> list[Path]:
    """Whatever file is asked for is written into this folder, by the name that is offered."""
    files: list[Path] = []

    def choose(dialog: QFileDialog) -> None:
        (name,) = dialog.selectedFiles()
        files.append(folder / Path(name).name)
        dialog.fileSelected.emit(str(files[-1]))
        dialog.deleteLater()

    monkeypatch.setattr(QFileDialog, "open", choose)
    return files


def test_held_out_replies_are_told_of_where_something_is_judged_there(window: MainWindow) -> None:
    met, tokens = window.features.searching.pane.model.rows[0].story.splitlines()[1:]
    assert (met, tokens) == ("Expectations met: 50 %", "Tokens a reply: 5.0, on the held-out replies 0")


@pytest.mark.own_window
def test_a_point_can_be_used_and_what_is_so_now_can_only_be_reported(window: MainWindow) -> None:
    pane = window.features.searching.pane
    assert [row.name for row in pane.model.rows] == ["now", "1", "0"]
    assert pane.current.point == {"scanDepth": 5}, "the best is chosen"
    assert enabled(window) == {*OF_A_POINT, "report"}
    pane.view.choose(-1)
    assert enabled(window) == {"report"}
    actions = window.commands.actions
    assert actions["tuning.report"].isEnabled()
    assert actions["tuning.start"].isEnabled()
    assert not actions["tuning.stop"].isEnabled()


def test_only_what_is_so_now_has_a_dark_edge(window: MainWindow) -> None:
    chart, dark = window.features.searching.pane.chart, window.theme.palette.text
    edges = {each: chart._sign(each).edge for each in chart.points.places}
    assert len(edges) == 3
    assert [each for each, edge in edges.items() if edge == dark] == [-1]


def test_a_point_is_looked_at_turn_by_turn(window: MainWindow) -> None:
    press(window, "look")
    scores, whole = window.features.tuning.scores, window.preview.whole
    assert scores.isVisible()
    assert scores.tabs.currentWidget() is scores.change_page
    assert (whole.effects.won, whole.effects.lost) == (1, 0)
    assert whole.aside
    scores.back_button.click()
    settle(window)
    assert not whole.trying


@pytest.mark.always
@pytest.mark.own_window
def test_a_point_is_compared_with_now(window: MainWindow) -> None:
    press(window, "compare")
    found = window.features.systems.compare.found
    assert found.labels[1] == "Point 1"
    assert found.changed == 2, "the bell was said before both"
    assert window.features.systems.compare.isVisible()


@pytest.mark.own_window
def test_a_point_is_used_as_one_step_that_can_be_undone(window: MainWindow) -> None:
    press(window, "use")
    parts = window.session.parts
    assert window.session.project.settings.scan_depth == 5
    assert parts.adjustments.undo_title == "Settings of point 1"
    assert window.findChildren(PointDialog) == []
    parts.undo()
    settle(window)
    assert window.session.project.settings.scan_depth == 1


@pytest.mark.always
@pytest.mark.own_window
def test_what_a_point_turns_in_a_note_is_shown_before_its_settings_are_taken(
    window: MainWindow, tmp_path: Path
) -> None:
    window.features.vault.keep_in(tmp_path / "kept")
    settle(window)
    bell = window.session.project.roots[0] / "Bell.md"
    pane = search(window, "scanDepth=1,5\nBell.md:priority=7")
    pane.view.choose(next(each.number for each in pane.found.tried if each.point["scanDepth"] == 5))
    press(window, "use")
    (dialog,) = window.findChildren(PointDialog)
    assert dialog.windowTitle() == f"Use point {pane.current.number}"
    assert "scanDepth 1 → 5" in dialog.form.itemAt(0).widget().text()
    assert "+ priority: 7" in dialog.view.diff.view.toPlainText()
    assert dialog.ok.isEnabled()
    assert "priority" not in bell.read_text("utf-8")
    assert window.session.project.settings.scan_depth == 1
    dialog.ok.click()
    settle(window)
    assert "priority: 7\n" in bell.read_text("utf-8")
    assert window.session.project.settings.scan_depth == 5
    press(window, "use")  # the note is so already, and only the settings are left
    (dialog,) = [each for each in window.findChildren(PointDialog) if each.isVisible()]
    assert dialog.view.summary.text() == "The notes are so already."
    assert dialog.ok.isEnabled()
    dialog.reject()


EARLIER = "Found before the last change: points can still be used. Search again to see what they do now."


def set_to(window: MainWindow, **values: object) -> None:
    settings = window.session.project.settings.model_copy(update=values)
    window.session.parts.adjust("settings", settings=settings)
    settle(window)


@pytest.mark.own_window
def test_a_point_of_an_earlier_run_is_told_for_one_and_changes_what_was_searched_alone(window: MainWindow) -> None:
    pane = window.features.searching.pane
    told = pane.state.text()
    assert not any(part.isHidden() for part in (pane.view, pane.chart))
    set_to(window, max_entries=3)
    assert (pane.state.text(), pane.view.isEnabled(), pane.chart.isEnabled()) == (EARLIER, True, True)
    window.session.parts.undo()
    settle(window)
    assert pane.state.text() == told
    set_to(window, max_entries=3)
    press(window, "use")
    settings = window.session.project.settings
    assert (settings.scan_depth, settings.max_entries) == (5, 3)


@pytest.mark.own_window
def test_a_point_is_used_where_only_the_settings_of_now_differ_from_it(window: MainWindow) -> None:
    pane = window.features.searching.pane
    pane.view.choose(0)
    assert pane.current.point == {"scanDepth": 1}, "as it was when the search began"
    set_to(window, scan_depth=7)
    press(window, "use")
    assert window.session.project.settings.scan_depth == 1


@pytest.mark.always
@pytest.mark.own_window
@pytest.mark.parametrize("name", ["look", "compare", "use"])
def test_a_point_of_another_system_is_refused(window: MainWindow, name: str) -> None:
    before = window.session.project.settings
    window.context.run("system.world-info")
    settle(window)
    press(window, name)
    assert window.bars.texts[-1] == (
        "These points are of DeepLore, and the chat runs with World Info. Choose DeepLore for it first."
    )
    assert window.session.project.settings == before
    assert not window.preview.whole.trying
    window.context.run("system.deeplore")
    settle(window)
    assert window.features.searching.pane.view.isEnabled(), "its run is still there"


@pytest.mark.own_window
def test_what_was_found_is_dropped_with_its_project(window: MainWindow, tmp_path: Path) -> None:
    pane = window.features.searching.pane
    window.session.set_project(project_of(tmp_path / "other"))
    settle(window)
    assert pane.found is None
    assert not pane.model.rows
    assert enabled(window) == set()


@pytest.mark.own_window
def test_a_search_is_given_up_where_its_settings_change(window: MainWindow) -> None:
    pane = window.features.searching.pane
    pane.over.setPlainText("scanDepth=1..60\nmaxTokensBudget=100..4000")
    pane.way.setCurrentIndex(1)
    pane.start.click()
    assert not pane.stop.isHidden()
    window.run("replay.all")
    assert window.session.busy
    assert not pane.stop.isHidden(), "it is run as before"
    set_to(window, max_entries=3)
    assert pane.stop.isHidden()
    assert pane.state.text() in {EARLIER, "Stopped, because the chat is run otherwise now. Search again."}
    search(window)
    assert pane.view.isEnabled()
    assert pane.model.rows[0].number == -1


def test_the_window_searches_with_the_seed_of_the_project(make_window, tmp_path: Path) -> None:
    window = make_window(project=replace(project_of(tmp_path), seed=7), make_simulator=Simulator)
    settle(window)
    assert search(window).found.plan.seed == 7


def test_a_point_is_kept_as_a_profile(window: MainWindow, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    press(window, "keep")
    answer(window, "found")
    assert SettingsProfiles().find("found").settings.scan_depth == 5
    assert window.status.currentMessage() == "The profile “found” holds it."


@pytest.mark.own_window
def test_a_point_of_a_system_without_profiles_is_refused_before_a_name_is_asked_for(window: MainWindow) -> None:
    window.context.run("system.hybrid")
    settle(window)
    search(window, "limit=1,2")
    window.features.searching.pane.view.choose(0)
    press(window, "keep")
    assert window.bars.texts[-1] == (
        "Hybrid retrieval has no settings profiles. Save the settings of the point into a file."
    )
    assert not isinstance(QApplication.activeModalWidget(), QDialog)


def test_a_point_and_a_report_are_saved(window: MainWindow, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    files = saved(monkeypatch, tmp_path)
    press(window, "export")
    assert load(files[0]).settings.scan_depth == 5
    assert json.loads(files[0].read_text("utf-8"))
    press(window, "report")
    assert [file.name for file in files] == ["point-1.json", "tuning.html"]
    page = files[1].read_text("utf-8")
    assert "scanDepth" in page
    assert page.startswith("<!DOCTYPE html>")


@pytest.mark.own_window
def test_why_nothing_can_be_searched(window: MainWindow) -> None:
    pane = search(window, " \n")
    assert window.bars.texts[-1] == "Tuning: say what may be turned, one a line, as in scanDepth=1..8."
    assert not pane.start.isHidden()
    assert len(pane.model.rows) == 3, "what was found stays"
    assert pane.over.placeholderText().splitlines()[0] == "scanDepth=1..8"
    window.session.replays.choose(system="world-info")
    settle(window)
    assert pane.over.placeholderText().splitlines()[0] == "world_info_depth=0..1000"
    search(window, " \n")
    assert window.bars.texts[-1].endswith("as in world_info_depth=0..1000.")


@pytest.mark.own_window
def test_without_expectations_there_is_nothing_to_search_for(window: MainWindow) -> None:
    (window.session.project.roots[0] / FILE_NAME).unlink()
    search(window)
    assert "nothing is expected yet" in window.bars.texts[-1]


def test_a_search_goes_on_where_it_was(window: MainWindow) -> None:
    pane = window.features.searching.pane
    stories = [row.story for row in pane.model.rows]
    search(window)
    assert [row.story for row in pane.model.rows] == stories
    assert pane.state.text() == "2 points run. What mattered: scanDepth 100%."


def test_what_mattered_most_is_told_first_and_of_three_settings_at_most(window: MainWindow) -> None:
    searching = window.features.searching
    pane = searching.pane
    rows, found = tuple(pane.model.rows), pane.found
    shares = {"depth": 0.1, "budget": 0.5, "entries": 0.3, "refine": 0.02}
    searching._done((searching._trial, replace(found, importance=shares), rows))
    assert pane.state.text() == "2 points run. What mattered: budget 50%, entries 30%, depth 10%."
    searching._done((searching._trial, found, rows))


@pytest.mark.always
def test_of_no_point_nothing_is_done(make_window) -> None:
    window = make_window()
    searching = window.features.searching
    for act in (
        searching.start, searching.add, searching.look, searching.compare, searching.use, searching.keep,
        searching.export, searching.report,
    ):  # fmt: skip
        act()
    settle(window)
    assert window.bars.texts == []
    assert [each for each in window.findChildren(QWidget) if each.isWindow() and each.isVisible()] == []


@pytest.mark.always
def test_what_cannot_be_pressed_says_why(make_window, tmp_path: Path) -> None:
    window = make_window(make_simulator=Simulator)
    for name in ("tuning", "scores"):
        window.show_pane(name)
        settle(window)
    pane = window.features.searching.pane
    buttons = [pane.start, pane.add, window.features.tuning.scores.try_button]
    window.context.update_actions()
    assert [(each.isEnabled(), each.toolTip()) for each in buttons] == [
        (False, "Open a chat or begin a new one first."),
        (False, "Open a vault, a lorebook or the demo first."),
        (False, "Open a chat or begin a new one first."),
    ]
    window.session.set_project(project_of(tmp_path))
    settle(window)
    window.context.update_actions()
    assert [each.isEnabled() for each in buttons] == [True, True, True]
    assert [each.toolTip() for each in buttons if "first." in each.toolTip()] == []
