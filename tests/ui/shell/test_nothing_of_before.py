"""Whatever was open and chosen before, the window looks like one in which only this was opened."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from lorestudio.studio.project.project import Project
from lorestudio.ui.shell.main_window import MainWindow
from tests.ui.conftest import settle
from tests.ui.sharing import Look, is_due, looks_in
from tests.ui.worlds import SKARN, make_project

pytestmark = pytest.mark.long


def rest(window: MainWindow) -> None:
    settle(window)
    while is_due(window, 500):
        settle(window)


def looks(window: MainWindow) -> dict[str, Counter[Look]]:
    """What a person sees of each pane and can do, but where the keyboard is; checks of notes begin by the clock."""
    found = {}
    for name, dock in window.context.layout.docks.items():
        window.context.uncover(name)
        rest(window)
        if name != "problems":
            seen = [look[:3] + look[4:] for look in looks_in(dock).elements()]
            found[name] = Counter(
                look
                for look in seen
                if not {"QScrollBar", "QScrollArea"} & {*look}
                # Columns of memories follow the width, which a window that never had anything open has not shared out.
                and look[:2] not in {("QLabel", "PaneTitle"), ("_Head", "MemoryView")}
            )
    actions = window.context.commands.actions.items()
    found["actions"] = Counter((name, each.text(), each.isEnabled(), each.isChecked()) for name, each in actions)
    return found


STATES: dict[str, Callable[[Path], Project | None]] = {
    "nothing": lambda _folder: None,
    "no chat": lambda folder: make_project(folder, chat=False),
    "a chat": make_project,
}


@pytest.mark.parametrize("state", STATES)
def test_a_window_shows_nothing_of_what_was_open_before(
    make_window: Callable[..., MainWindow], tmp_path: Path, state: str
) -> None:
    project = STATES[state](tmp_path / "now")
    used, fresh = make_window(make_project(tmp_path / "before"), file="used.ini"), make_window(file="fresh.ini")
    used.context.selection.choose_entry(SKARN)
    looks(used)
    for window in (used, fresh):
        window.session.close_project() if project is None else window.session.set_project(project)
        rest(window)
    mine, theirs = looks(used), looks(fresh)
    differing = {name: (mine[name] - theirs[name], theirs[name] - mine[name]) for name in theirs}
    assert {name: both for name, both in differing.items() if any(both)} == {}
