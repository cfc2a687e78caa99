"""Where panes stand, alone: in wide, low and narrow windows, moved or not, and with room for one of them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QRect, QSettings
from PySide6.QtWidgets import QApplication, QMainWindow

from lorestudio.ui.shell import layout as layouts
from lorestudio.ui.shell.layout import (
    DEBUG,
    PANE_ORDER,
    WORKSPACES,
    WRITE,
    DockColumn,
    DockStack,
    PaneLayout,
    Workspace,
)
from lorestudio.ui.widgets.pane import Pane, PlannedPane
from tests.ui.conftest import drain

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from lorestudio.ui.shell.theme import Theme

TALL = (DockStack(("trace", "links"), 0.7), DockStack(("budget", "verify"), 0.3))
LOW = (DockStack(("trace", "budget")),)
ONE = (DockStack(("trace", "budget", "verify", "links")),)


@pytest.mark.parametrize(
    ("narrow", "is_low", "low", "stacks"),
    [
        (False, False, LOW, TALL), (False, True, LOW, LOW), (False, True, (), TALL),
        (True, False, LOW, ONE), (True, True, LOW, ONE),
    ],
)  # fmt: skip
def test_a_column_stands_as_there_is_room(
    narrow: bool, is_low: bool, low: tuple[DockStack, ...], stacks: tuple[DockStack, ...]
) -> None:
    assert DockColumn(0.5, 0.4, TALL, low).stacked(narrow=narrow, low=is_low) == stacks


def test_what_a_workspace_shows_at_first() -> None:
    made = Workspace("w", "W", "", (DockColumn(0.5, 0.5, TALL), DockColumn(0.5, 0.5, LOW)), frozenset({"verify"}))
    assert made.placed == ("trace", "links", "budget", "verify", "trace", "budget")
    assert made.shown == {"trace", "links", "budget"}


class Docks(QMainWindow):
    """A window of empty panes."""

    def __init__(self, theme: Theme, settings: QSettings) -> None:
        super().__init__()
        self.panes = [Pane(name, name.title(), theme) for name in PANE_ORDER]
        self.kept = PaneLayout(self, settings)
        self.kept.take([PlannedPane(each.name, each.title, partial(lambda it: it, each)) for each in self.panes],
                       self.panes, theme)  # fmt: skip
        self.asked: list[bool] = []
        self.at(1300, 950)
        self.show()
        self.kept.arrange()
        drain()

    def focusNextPrevChild(self, forward: bool) -> bool:  # noqa: N802
        self.asked.append(forward)
        return super().focusNextPrevChild(forward)

    def at(self, width: int, height: int) -> None:
        self.resize(width, height)

    def beside(self, name: str) -> set[str]:
        """The panes that are tabs at the place of this one."""
        return {dock.planned.name for dock in self.tabifiedDockWidgets(self.kept.docks[name])}  # type: ignore[attr-defined]

    @property
    def opened(self) -> set[str]:
        return {name for name, dock in self.kept.docks.items() if not dock.isHidden()}


@pytest.fixture
def docks(theme: Theme, qtbot: QtBot, tmp_path: Path) -> Docks:
    made = Docks(theme, QSettings(str(tmp_path / "window.ini"), QSettings.Format.IniFormat))
    qtbot.addWidget(made)
    return made


@pytest.mark.parametrize("workspace", WORKSPACES, ids=lambda each: each.name)
def test_the_columns_of_a_workspace_fill_the_window_and_what_stands_in_one_fills_it(workspace: Workspace) -> None:
    for columns in (workspace.columns, workspace.two_columns):
        widths = [sum(column.width for column in columns), sum(column.narrow for column in columns)]
        assert widths == pytest.approx([1, 1])
    heights = [sum(stack.share for stack in column.stacks) for column in workspace.columns]
    assert heights == pytest.approx([1] * len(heights))


@pytest.mark.parametrize("workspace", WORKSPACES, ids=lambda each: each.name)
def test_panes_below_each_other_share_the_height_as_their_workspace_has_it(docks: Docks, workspace: Workspace) -> None:
    docks.kept.enter(workspace)
    drain()
    for stacks in (column.stacks for column in workspace.columns):
        heights = [docks.kept.docks[stack.panes[0]].height() for stack in stacks]
        assert [height / sum(heights) for height in heights] == pytest.approx(
            [stack.share if len(stacks) > 1 else 1 for stack in stacks], abs=0.03
        )


@pytest.mark.parametrize(
    ("size", "behind_the_trace", "behind_the_chat"),
    [((1300, 950), False, False), ((1300, 850), True, False), ((1100, 950), True, True)],
)
def test_panes_follow_the_size_of_the_window(
    docks: Docks, size: tuple[int, int], behind_the_trace: bool, behind_the_chat: bool
) -> None:
    docks.kept.docks["problems"].hide()
    docks.kept.docks["bench"].show()
    before = docks.opened
    docks.at(*size)
    docks.kept.resized()
    drain()
    assert ("budget" in docks.beside("trace"), "entry" in docks.beside("chat")) == (behind_the_trace, behind_the_chat)
    assert docks.opened == before


@pytest.mark.parametrize("workspace", WORKSPACES, ids=lambda each: each.name)
def test_a_crowded_window_has_two_columns_which_are_kept_apart_from_those_of_others(
    docks: Docks, workspace: Workspace
) -> None:
    """With three of them, panes lay over each other and over the window's edge where letters are large."""
    left, middle, right = (column.stacks[0].panes[0] for column in workspace.columns)
    docks.at(790, 950)
    docks.kept.enter(workspace)
    assert left in docks.beside(middle)
    assert right not in docks.beside(middle)
    assert not docks.kept.docks[middle].visibleRegion().isEmpty()
    docks.kept.docks["budget"].setFloating(True)
    docks.kept.save()
    assert docks.kept._settings.contains(f"window/state-{workspace.name}-crowded")
    docks.at(1100, 950)
    docks.kept.resized()
    drain()
    assert left not in docks.beside(middle)


def test_panes_that_were_moved_stay_and_come_back_as_they_were(docks: Docks) -> None:
    docks.kept.docks["budget"].setFloating(True)
    assert docks.kept.moved
    docks.at(1100, 950)
    docks.kept.resized()
    drain()
    assert docks.kept.docks["budget"].isFloating()
    docks.at(1300, 950)
    docks.kept.resized()
    drain()
    assert docks.kept.docks["budget"].isFloating()
    docks.kept.enter(WRITE)
    assert (docks.kept.docks["budget"].isFloating(), docks.opened) == (False, set(WRITE.shown))
    docks.kept.enter(DEBUG)
    assert docks.kept.docks["budget"].isFloating()
    assert docks.kept.moved
    docks.kept.reset()
    assert not docks.kept.docks["budget"].isFloating()
    assert not docks.kept.moved


def test_panes_that_were_moved_stay_where_only_the_height_is_another(docks: Docks) -> None:
    docks.kept.docks["budget"].setFloating(True)
    docks.tabifyDockWidget(docks.kept.docks["chat"], docks.kept.docks["vault"])
    docks.at(1300, 500)
    docks.kept.resized()
    drain()
    assert "vault" in docks.beside("chat")


def test_what_was_moved_in_a_wide_window_is_kept_for_wide_ones(docks: Docks) -> None:
    docks.kept.docks["budget"].setFloating(True)
    docks.kept.enter(WRITE)
    for size, floats in (((1100, 950), False), ((1300, 950), True)):
        docks.at(*size)
        docks.kept.enter(DEBUG)
        assert docks.kept.docks["budget"].isFloating() == floats
        docks.kept.enter(WRITE)


def test_moved_panes_follow_a_window_that_becomes_narrow_and_stand_as_they_were_when_it_is_wide(docks: Docks) -> None:
    docks.tabifyDockWidget(docks.kept.docks["chat"], docks.kept.docks["vault"])
    docks.kept.docks["problems"].hide()
    docks.kept.docks["budget"].setFloating(True)
    docks.kept.docks["budget"].setGeometry(40, 50, 400, 300)
    opened = docks.opened
    docks.activateWindow()
    docks.kept.docks["vault"].pane.setFocus()

    def becomes(width: int) -> None:
        docks.at(width, 950)
        docks.kept.resized()
        drain()
        assert docks.opened == opened
        budget = docks.kept.docks["budget"]
        assert (budget.isFloating(), budget.geometry()) == (True, QRect(40, 50, 400, 300))
        assert docks.focusWidget().accessibleName() == "Vault", "the keyboard stays where it is"

    assert "vault" in docks.beside("chat")
    assert "entry" not in docks.beside("chat")
    becomes(1100)
    assert "vault" not in docks.beside("chat")
    assert "entry" in docks.beside("chat")
    docks.tabifyDockWidget(docks.kept.docks["trace"], docks.kept.docks["vault"])
    becomes(1300)
    assert "vault" in docks.beside("chat")
    assert "entry" not in docks.beside("chat")
    becomes(1100)
    assert "vault" in docks.beside("trace")
    docks.kept.save()
    keys = [key for key in docks.kept._settings.allKeys() if "state" in key]
    assert keys == ["window/state-debug", "window/state-debug-narrow"]


def test_panes_that_were_only_opened_have_their_sizes_by_the_window(docks: Docks) -> None:
    docks.kept.docks["problems"].hide()
    sizes = {name: dock.size() for name, dock in docks.kept.docks.items() if not dock.visibleRegion().isEmpty()}
    for width in (1100, 1300):
        docks.at(width, 950)
        docks.kept.resized()
        drain()
        assert not docks.kept.moved
    assert {name: docks.kept.docks[name].size() for name in sizes} == sizes
    assert docks.kept._settings.allKeys() == []


def test_an_arrangement_is_kept_only_where_somebody_changed_it(docks: Docks) -> None:
    docks.kept.save()
    assert docks.kept._settings.value("window/state-debug") is None
    docks.kept.docks["bench"].show()
    docks.kept.save()
    assert docks.kept._settings.value("window/state-debug") is not None
    docks.kept.hide_all()
    assert docks.opened == set()
    docks.kept.restore()
    assert docks.opened == set(DEBUG.shown) | {"bench"}
    docks.kept._settings.setValue("window/version", "1")
    docks.kept.restore()
    assert docks.opened == set(DEBUG.shown)


def test_one_pane_gets_room_and_gives_it_back(docks: Docks) -> None:
    trace = docks.kept.docks["trace"]
    before = trace.width()
    docks.kept.widen("trace", 0.1, behind="chat")  # it has more already
    assert trace.width() == before
    docks.kept.widen("trace", 0.6, behind="chat")
    drain()
    wide = trace.width()
    assert wide > before + 50  # the others are as narrow as they can be
    docks.kept.narrow("trace")
    drain()
    assert trace.width() == before


def test_in_a_narrow_window_it_takes_the_place_of_another(docks: Docks) -> None:
    docks.at(1000, 950)
    docks.kept.resized()
    drain()
    docks.kept.docks["problems"].hide()
    docks.kept.widen("trace", 0.6, behind="chat")
    drain()
    assert "chat" in docks.beside("trace")
    docks.kept.narrow("trace")
    drain()
    assert "chat" not in docks.beside("trace")
    assert docks.opened == set(DEBUG.shown) - {"problems"}


def test_panes_are_put_without_a_look_for_who_has_the_keyboard_next(docks: Docks) -> None:
    """Each pane that goes would have the whole window looked through, and each that comes to it would go next."""
    docks.activateWindow()
    docks.kept.focus_first()
    assert docks.focusWidget().accessibleName() == "Chat"
    docks.asked.clear()
    docks.kept.reset()
    drain()
    assert docks.asked == []


def test_the_keyboard_stays_where_it_is_while_a_pane_gives_its_place_back(docks: Docks) -> None:
    docks.activateWindow()
    docks.at(1000, 950)
    docks.kept.resized()
    drain()
    docks.kept.widen("vault", 0.6, behind="chat")
    docks.kept.docks["vault"].pane.setFocus()
    drain()
    docks.kept.narrow("vault")
    drain()
    assert docks.focusWidget().accessibleName() == "Vault"


def test_a_pane_that_was_taken_out_meanwhile_stays_out(docks: Docks) -> None:
    docks.at(1000, 950)
    docks.kept.resized()
    drain()
    docks.kept.widen("trace", 0.6, behind="chat")
    drain()
    docks.kept.docks["trace"].setFloating(True)
    drain()
    docks.kept.narrow("trace")
    drain()
    assert docks.kept.docks["trace"].isFloating()


def test_a_pane_of_its_own_window_is_not_made_wider(docks: Docks) -> None:
    trace = docks.kept.docks["trace"]
    trace.setFloating(True)
    drain()
    before = (trace.width(), docks.kept.docks["chat"].width())
    docks.kept.widen("trace", 0.9, behind="chat")
    drain()
    assert (trace.width(), docks.kept.docks["chat"].width()) == before
    assert trace.isFloating()


def test_where_no_pane_has_the_keyboard_none_gets_it_from_another_arrangement(docks: Docks) -> None:
    docks.activateWindow()
    for act in (
        partial(docks.at, 1000, 700),
        partial(docks.kept.widen, "trace", 0.6, behind="chat"),
        partial(docks.kept.narrow, "trace"),
        partial(docks.at, 1300, 950),
    ):
        if docks.focusWidget() is not None:
            docks.focusWidget().clearFocus()
        act()
        docks.kept.resized()
        drain()
        assert QApplication.focusWidget() in {None, docks}
    for dock in docks.kept.docks.values():
        dock.hide()
    docks.kept.focus_first()
    assert QApplication.focusWidget() in {None, docks}, "no pane is open"


@pytest.mark.always
def test_at_the_start_page_the_keyboard_goes_to_its_first_button(make_window) -> None:
    window = make_window()
    window.activateWindow()
    window.welcome.focus_first()
    first = QApplication.focusWidget()
    assert window.welcome.isAncestorOf(first)
    first.clearFocus()
    drain()
    assert QApplication.focusWidget() is first


def test_the_keyboard_goes_to_the_middle_or_to_what_is_open(docks: Docks) -> None:
    docks.activateWindow()
    docks.kept.focus_first()
    assert docks.focusWidget().objectName() == "Pane"
    assert docks.focusWidget().accessibleName() == "Chat"
    docks.kept.docks["chat"].hide()
    docks.kept.focus_first()
    assert docks.focusWidget().accessibleName() == "Vault"


@pytest.mark.parametrize(("small", "maximised"), [((9999, 1), True), ((1, 9999), True), ((1, 1), False)])
def test_the_first_window_fills_a_small_screen(
    docks: Docks, small: tuple[int, int], maximised: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layouts, "SMALL", small)
    docks.kept.take_place()
    assert docks.isMaximized() is maximised
    if not maximised:
        off = docks.geometry().center() - docks.screen().availableGeometry().center()
        assert off.manhattanLength() < 10  # the frame counts, too
    docks.showNormal()
    docks.at(1290, 940)
    docks.kept.save()
    docks.at(1200, 930)
    docks.kept.take_place()
    assert not docks.isMaximized()  # it has the place that it had


@pytest.mark.always
def test_a_window_closed_at_its_start_page_keeps_no_layout_without_panes(make_window) -> None:
    window = make_window()
    window.close()
    assert [key for key in window.settings.allKeys() if key.startswith("window/")] == []
