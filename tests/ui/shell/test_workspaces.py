"""Workspaces: where the panes stand for a kind of work, and that each is as it was left."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QTabBar

from lorestudio.ui.shell.layout import DEBUG, TEST, TUNE, WORKSPACES, WRITE
from lorestudio.ui.shell.main_window import MainWindow
from tests.ui.conftest import drain, settle
from tests.ui.worlds import make_project

pytestmark = pytest.mark.dressed


def shown(window) -> set[str]:
    return {name for name, dock in window.docks.items() if not dock.isHidden()}


def test_every_pane_has_one_place_in_every_workspace(window) -> None:
    for workspace in WORKSPACES:
        assert sorted(workspace.placed) == sorted(window.docks), workspace.name
        assert set(workspace.placed) >= workspace.hidden, workspace.name


@pytest.mark.long
@pytest.mark.parametrize("size", [(1280, 800), (1024, 640), (1920, 1080)])
def test_each_workspace_shows_its_panes_and_fits(make_window, tmp_path, size: tuple[int, int]) -> None:
    window = make_window(make_project(tmp_path / "vault"))
    window.resize(*size)
    for workspace in (WRITE, TEST, TUNE, DEBUG):
        window.run(f"workspace.{workspace.name}")
        drain()
        assert shown(window) == set(workspace.shown)
        assert (window.width(), window.height()) == size
        middle = window.docks[workspace.columns[1].stacks[0].panes[0]]
        assert not middle.visibleRegion().isEmpty()  # in front of the panes that share its place
        assert window.current_pane() is middle.pane


@pytest.mark.long
def test_many_panes_in_one_place_keep_their_names_and_are_scrolled(make_window, tmp_path) -> None:
    window = make_window(make_project(tmp_path / "vault"))
    window.resize(1024, 640)
    window.run("view.reset")
    for name in ("graph", "links", "bench", "settings", "recap"):
        window.show_pane(name)
    drain()
    bars = [bar for bar in window.findChildren(QTabBar) if bar.isVisible() and bar.count() > 5]
    assert len(bars) == 1
    assert bars[0].elideMode() is Qt.TextElideMode.ElideNone
    assert bars[0].usesScrollButtons()
    assert window.width() == 1024


@pytest.mark.long
def test_a_workspace_is_as_it_was_left(window) -> None:
    window.docks["budget"].close()
    window.run("workspace.write")
    assert not window.docks["budget"].isHidden()
    window.run("workspace.debug")
    assert window.docks["budget"].isHidden()
    window.run("view.reset")
    assert shown(window) == set(DEBUG.shown)
    window.run("workspace.write")
    window.run("workspace.debug")
    assert shown(window) == set(DEBUG.shown)


@pytest.mark.long
def test_the_window_comes_back_in_the_workspace_that_it_was_closed_in(make_window, tmp_path) -> None:
    first = make_window(make_project(tmp_path / "vault"))
    first.run("workspace.test")
    first.docks["budget"].close()
    first.close()
    second = make_window(make_project(tmp_path / "vault"))
    assert shown(second) == set(TEST.shown) - {"budget"}
    assert second.commands.actions["workspace.test"].isChecked()
    assert not second.commands.actions["workspace.debug"].isChecked()
    second.run("workspace.debug")
    assert shown(second) == set(DEBUG.shown)


def test_without_a_project_there_are_no_panes_to_arrange(make_window) -> None:
    window = make_window()
    window.run("workspace.write")
    assert shown(window) == set()
    assert window.commands.actions["workspace.debug"].isChecked()


@pytest.mark.long
@pytest.mark.parametrize("name", [workspace.name for workspace in WORKSPACES])
def test_no_workspace_is_wider_than_a_small_window(window: MainWindow, name: str) -> None:
    window.resize(1024, 640)
    window.run(f"workspace.{name}")
    window.status.show_problems(1, 7)  # as it is said once the notes were checked
    settle(window)
    assert window.minimumSizeHint().width() <= 1024
    in_sight = (dock.made for dock in window.docks.values() if not dock.visibleRegion().isEmpty())
    right = {pane.name: pane.mapTo(window, pane.rect().topRight()).x() for pane in in_sight if pane is not None}
    assert [name for name, edge in right.items() if edge >= 1024] == []
