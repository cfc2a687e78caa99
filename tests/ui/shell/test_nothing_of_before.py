"""Whatever was open, chosen and done before, the window looks like one that begins with what is the case now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QAbstractListModel, QModelIndex, QSettings, Qt
from PySide6.QtWidgets import QAbstractItemView, QWidget

from lorestudio.domain.chat import Generation, Message
from lorestudio.domain.records import replace
from lorestudio.domain.state import ChatControls, EntryRule
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.ui.shell.main_window import MainWindow
from lorestudio.ui.shell.theme import Theme
from tests.ui.conftest import NamedWindow, drain, settle
from tests.ui.sharing import Look, close, is_due, looks_in
from tests.ui.worlds import CROWN, ENTRIES, SKARN, make_project

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
            found[name].update(said_in(dock))
    actions = window.context.commands.actions.items()
    found["actions"] = Counter((name, each.text(), each.isEnabled(), each.isChecked()) for name, each in actions)
    return found


def said_in(whole: QWidget) -> Iterator[Look]:
    """What the tooltips and the rows of lists in sight say."""
    for each in whole.findChildren(QWidget):
        if each.isVisible() and each.toolTip():
            yield type(each).__name__, each.toolTip()
        if each.isVisible() and isinstance(each, QAbstractItemView) and each.model() is not None:
            for row in rows_of(each, each.rootIndex()):
                yield each.accessibleName(), *row


def rows_of(view: QAbstractItemView, above: QModelIndex) -> Iterator[Look]:
    model, role = view.model(), Qt.ItemDataRole
    roles = role.DisplayRole, role.CheckStateRole, role.ToolTipRole, role.AccessibleTextRole
    columns = range(1 if model.metaObject().inherits(QAbstractListModel.staticMetaObject) else model.columnCount(above))
    for place in range(model.rowCount(above)):
        cells = [model.index(place, column, above) for column in columns]
        yield tuple(str(cell.data(each)) for cell in cells for each in roles)
        yield from rows_of(view, cells[0])


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
    assert differing(looks(used), looks(fresh)) == {}


def differing(mine: dict[str, Counter[Look]], theirs: dict[str, Counter[Look]]) -> dict[str, tuple[object, ...]]:
    """What one window shows and the other does not, by panes."""
    return {
        name: (mine[name] - theirs[name], theirs[name] - mine[name]) for name in theirs if mine[name] != theirs[name]
    }


def choose(window: MainWindow, _folder: Path) -> None:
    window.context.selection.choose_message(2, Generation(2, 0))
    window.context.selection.choose_entry(CROWN)


def run_otherwise(window: MainWindow, _folder: Path) -> None:
    settings = window.session.project.settings.model_copy(update={"scan_depth": 1, "max_entries": 1})
    window.session.parts.adjust("settings", settings=settings)


def pin(window: MainWindow, _folder: Path) -> None:
    rules = ChatControls(character="Ilse", pins=(EntryRule("Crown"),), blocks=(EntryRule("Bell"),))
    window.session.parts.adjust("rules", controls=rules)


def write_on(window: MainWindow, _folder: Path) -> None:
    chat = window.session.chat
    longer = (*chat.messages, Message("Ada", "The bell rings."), Message("Wren", "Skarn?", is_user=True))
    window.session.parts.adjust("two messages", chat=replace(chat, messages=longer))


def take_back(window: MainWindow, folder: Path) -> None:
    pin(window, folder)
    settle(window)
    window.session.parts.undo()


def change_notes(window: MainWindow, folder: Path) -> None:
    before = window.session.project
    now = make_project(folder / "vault", entries=(replace(ENTRIES[0], title="Dawn"), *ENTRIES[1:4]))
    window.session.set_project(replace(before, index=now.index), renewed="notes")


CHANGES: dict[str, Callable[[MainWindow, Path], object]] = {
    "another reply and entry": choose,
    "another system": lambda window, _folder: window.context.run("system.world-info"),
    "other settings": run_otherwise,
    "rules for the chat": pin,
    "a longer chat": write_on,
    "rules taken back": take_back,
    "other notes": change_notes,
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_window_that_has_followed_a_change_looks_like_one_that_begins_with_it(
    make_window: Callable[..., MainWindow], theme: Theme, tmp_path: Path, change: str
) -> None:
    """Whoever does not hear of something, or leaves anything of what was before, shows something else then."""
    used = make_window(make_project(tmp_path / "vault"), make_simulator=Simulator)
    rest(used)
    session, selection = used.session, used.context.selection
    selection.choose_message(5, Generation(5, 0))
    selection.choose_entry(SKARN)
    looks(used)
    CHANGES[change](used, tmp_path)
    rest(used)
    mine = looks(used)
    fresh = NamedWindow(session, theme, QSettings(str(tmp_path / "fresh.ini"), QSettings.Format.IniFormat))
    fresh.resize(used.size())
    fresh.setUpdatesEnabled(False)
    fresh.show()
    drain()
    fresh.context.selection.choose_message(selection.message, selection.generation)
    fresh.context.selection.choose_entry(selection.entry, selection.stage)
    looks(fresh)
    for signal, news in ((session.project_changed, ()), (session.traces_changed, (None,))):  # panes begin before these
        signal.emit(*news)
    rest(fresh)
    theirs = looks(fresh)
    close(fresh)
    drain()
    for shown in (mine, theirs):
        for name, enough in REMEMBERED.items():
            shown[name] = Counter(look for look in shown[name].elements() if not enough & {*look})
    assert differing(mine, theirs) == {}


REMEMBERED: dict[str, set[object]] = {
    "actions": {"entry.back", "entry.forward", "adjust.undo", "adjust.redo"}, "compare": {"_Combo"},
    "chat": {"ElidedLabel"},
}  # fmt: skip
"""What a window knows of what was before: ways back, earlier runs, and, beside a chat, when a window began."""
