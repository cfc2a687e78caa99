"""Searching for settings in the window, with the real engine, and what becomes of a point."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from lorestudio.settings.store import SettingsProfiles, load
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.ui.features.tuning import searching
from lorestudio.ui.features.tuning.search_pane import TuningPane
from lorestudio.ui.features.tuning.searching import PointDialog
from lorestudio.ui.shell.main_window import MainWindow
from lorestudio.ui.widgets.picker import Picker
from tests.studio.tuning.searches import make_world
from tests.ui.conftest import settle

EXPECTED = """\
expectations:
  - {note: Lamp.md, should: be in}
"""


def project_of(folder: Path) -> Project:
    project = make_world(folder / "vault")
    (folder / "vault" / "lorestudio-expectations.yaml").write_text(EXPECTED, encoding="utf-8")
    return project.with_settings(project.settings.model_copy(update={"scan_depth": 1}))


@pytest.fixture
def window(share_window) -> MainWindow:
    def prepare(window: MainWindow) -> None:
        window.session.replays.run_all()
        settle(window)

    return share_window(project_of, prepare=prepare, make_simulator=Simulator)


def pane(window: MainWindow) -> TuningPane:
    return window.features.searching.pane


def searched(window: MainWindow, lines: str = "scanDepth=1..6\nmaxEntries=1,2") -> TuningPane:
    there = pane(window)
    window.show_pane("tuning")
    there.over.setPlainText(lines)
    there.way.setCurrentIndex(2)
    there.start.click()
    settle(window)
    return there


@pytest.mark.own_window
def test_a_search_shows_its_points_and_what_is_best(window: MainWindow, qtbot) -> None:
    heads: list[str] = []
    pane(window).note_changed.connect(heads.append)
    there = searched(window)
    assert heads[-1] == "12 points"
    assert there.model.rows[0].number == -1
    assert len(there.model.rows) == 13
    best = there.current
    assert best is not None
    assert best.point == {"scanDepth": 5, "maxEntries": 2}  # of equal ones the nearest to ten entries
    row = there.view.current
    assert row.values[0] == "100 %"
    assert row.sign == ("check", "good")
    assert "; there a change of +" in there.story.text()
    assert "12 points run." in there.state.text()
    assert there.start.isVisible()
    assert set(there.chart.points.places) == {-1, *range(12)}
    there.chart.setFocus()
    front = there.chart.points.front
    qtbot.keyClick(there.chart, Qt.Key.Key_Left)
    assert there.current is not None
    assert there.current.number in front
    assert "scanDepth" in there.chart.accessibleDescription()


@pytest.mark.long
def test_a_point_is_looked_at_kept_and_used(window: MainWindow, monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    there = searched(window)
    there.acts["look"].click()
    settle(window)
    assert window.preview.whole.effects.won > 0
    window.preview.whole.try_changes(None, ())

    def answer(_parent: object, _title: str, _name: str, _start: str, answered) -> None:
        answered("found")

    monkeypatch.setattr("lorestudio.ui.features.tuning.searching.dialogs.ask_name", answer)
    there.acts["keep"].click()
    settle(window)
    assert SettingsProfiles().find("found").settings.scan_depth == 5
    there.acts["use"].click()
    settle(window)
    project = window.session.project
    assert project is not None
    assert (project.settings.scan_depth, project.settings.max_entries) == (5, 2)
    said = window.status.currentMessage()
    assert said.startswith("Done: Settings of point ")
    assert said.endswith("Undo takes it back (Ctrl+Z in the chat).")
    assert "before the last change" in there.state.text()
    assert there.view.isEnabled(), "another point may be better"
    there.acts["use"].click()
    assert window.status.currentMessage().endswith(" is set already.")
    window.session.parts.undo()
    settle(window)
    assert window.session.project.settings.scan_depth == 1


@pytest.mark.long
@pytest.mark.own_window
def test_what_a_point_turns_in_notes_is_shown_and_written_and_undone(window: MainWindow, tmp_path: Path) -> None:
    window.features.vault.keep_in(tmp_path / "kept")
    settle(window)
    lamp = window.session.project.roots[0] / "Lamp.md"
    before = lamp.read_text(encoding="utf-8")
    there = searched(window, "scanDepth=4..6\nLamp.md:priority=10,99\nLamp.md:keys")
    at = {"scanDepth": 6, "Lamp.md: priority": 99, "Lamp.md: key lamp": True, "Lamp.md: key lantern": False}
    there.view.choose(next(each.number for each in there.found.tried if each.point == at))
    there.acts["use"].click()
    settle(window)
    (dialog,) = window.findChildren(PointDialog)
    assert lamp.read_text(encoding="utf-8") == before
    assert window.session.project.settings.scan_depth == 1
    assert "+ priority: 99" in dialog.view.diff.view.toPlainText()
    assert "scanDepth 1 → 6" in dialog.form.itemAt(0).widget().text()
    dialog.ok.click()
    settle(window)
    after = lamp.read_text(encoding="utf-8")
    assert "priority: 99" in after
    assert "lantern" not in after
    assert window.session.project.settings.scan_depth == 6
    window.features.vault.work.undo()
    settle(window)
    assert lamp.read_text(encoding="utf-8") == before


@pytest.mark.own_window
def test_a_note_that_was_changed_since_is_not_written_over(window: MainWindow, tmp_path: Path) -> None:
    window.features.vault.keep_in(tmp_path / "kept")
    settle(window)
    there = searched(window, "Lamp.md:priority=99,100")
    lamp = window.session.project.roots[0] / "Lamp.md"
    lamp.write_text(lamp.read_text(encoding="utf-8") + "More.\n", encoding="utf-8")
    there.view.choose(0)
    there.acts["use"].click()
    settle(window)
    (dialog,) = window.findChildren(PointDialog)
    assert "the note was changed since it was searched with" in dialog.problem.text()
    assert not dialog.ok.isEnabled()
    dialog.reject()


@pytest.mark.long
def test_a_point_is_compared_and_saved(window: MainWindow, monkeypatch, tmp_path: Path) -> None:
    there = searched(window)
    number = there.current.number
    there.acts["compare"].click()
    settle(window)
    found = window.features.systems.compare.found
    assert found.labels[1] == f"Point {number}"
    assert found.changed > 0
    file = tmp_path / "point.json"
    monkeypatch.setattr(
        "lorestudio.ui.features.tuning.searching.dialogs.choose_new_file", lambda *given: given[-1](file)
    )
    there.acts["export"].click()
    settle(window)
    assert load(file).settings.scan_depth == 5


@pytest.mark.long
def test_a_report_is_written(window: MainWindow, monkeypatch, tmp_path: Path) -> None:
    there = searched(window, "scanDepth=1..3\nLamp:keys")
    monkeypatch.setattr(
        "lorestudio.ui.features.tuning.searching.dialogs.choose_new_file",
        lambda *given: given[-1](tmp_path / "page.html"),
    )
    there.acts["report"].click()
    settle(window)
    assert "To carry over" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_what_cannot_be_searched_is_said_and_a_setting_is_added(window: MainWindow) -> None:
    there = searched(window, "scanDept=1..3")
    assert any("has no setting “scanDept”" in text for text in window.bars.texts)
    assert there.start.isVisible()
    there.over.clear()
    window.context.run("tuning.add")
    (picker,) = (each for each in window.findChildren(Picker) if each.isVisible())
    QTest.keyClicks(picker.field, "scanDepth")
    QTest.keyClick(picker.field, Qt.Key.Key_Return)
    assert there.lines() == ("scanDepth=0..4",), "about the 1 of now"


def test_a_search_is_stopped(window: MainWindow) -> None:
    there = pane(window)
    window.show_pane("tuning")
    there.over.setPlainText("scanDepth=1..60\nmaxTokensBudget=100..4000")
    there.way.setCurrentIndex(1)
    there.start.click()
    assert there.stop.isVisible()
    assert not window.context.action("tuning.start").isEnabled()
    assert window.context.action("tuning.stop").isEnabled()
    there.stop.click()
    assert window.context.action("tuning.start").isEnabled()
    assert not window.context.action("tuning.stop").isEnabled()
    settle(window)
    assert there.start.isVisible()
    assert "Stopped." in there.state.text()


@pytest.mark.own_window
def test_a_search_shows_what_it_has_found_so_far(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "NEWS_SECONDS", 0)
    there = pane(window)
    told: set[int] = set()
    for changed in (there.model.modelReset, there.model.rowsInserted):
        changed.connect(lambda: told.add(len(there.model.rows)))
    searched(window)
    assert len(told) > 5
    assert max(told) == 13
    assert 1 not in told, "the present settings alone are no find"


@pytest.mark.own_window
def test_points_that_equal_one_of_the_front_do_not_hide_it(window: MainWindow) -> None:
    there = searched(window)
    drawn, front = list(there.chart.points.places), there.chart.points.front
    assert set(drawn[-len(front) :]) == set(front)
