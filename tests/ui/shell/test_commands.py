"""Menus and Qt's actions made of a table of its own: keys, tips, ticks, lines and what is rare."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMenu, QMenuBar, QWidget

from lorestudio.domain.records import replace
from lorestudio.ui.shell import actions as shell_actions
from lorestudio.ui.shell.actions import Action, Commands, Need, Where, about, conflicts, in_menu_order, pane_action

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from lorestudio.ui.shell.theme import Theme


class Table:
    """Four actions, and what they are asked."""

    def __init__(self, window: QWidget, theme: Theme) -> None:
        self.can, self.on, self.ran = True, False, [""][:0]
        self.window = window
        self.commands = Commands(window, self.ran.append, theme)
        self.actions = (
            Action("view.all", "Show all…", "View", 200, int, ("Ctrl+L",), icon="search"),
            Action("view.dim", "Dim", "View", 120, int, ticked=lambda: self.on, text=lambda: f"Dim ({self.on})"),
            Action(
                "chat.go",
                "Go",
                "Chat/Recap",
                10,
                int,
                ("G",),
                Where.CHAT,
                Need(lambda: self.can, "Choose one first."),
                tip="Go there",
            ),
            Action("view.theme", "Dark", "View/Theme", 110, int),
        )
        self.commands.take(self.actions, {"in the chat": (("Write", "Return"), ("Walk", "Up  Down"))})


@pytest.fixture
def table(theme: Theme, qtbot: QtBot) -> Table:
    window = QWidget()
    qtbot.addWidget(window)
    return Table(window, theme)


def words(menu: QMenu) -> list[str]:
    return [each.text() or "-" for each in menu.actions() if each.isVisible()]


def test_what_qt_knows_of_an_action(table: Table) -> None:
    made = table.commands.actions
    assert list(made) == ["chat.go", "view.theme", "view.dim", "view.all"]  # as they stand in the menus
    assert [made[name].toolTip() for name in ("view.all", "chat.go", "view.dim")] == [
        "Show all (Ctrl+L)", "Go there (G)", "Dim",
    ]  # fmt: skip
    assert [made[name].statusTip() for name in ("view.all", "chat.go")] == ["Show all…", "Go there"]
    assert [name for name, each in made.items() if each.isCheckable()] == ["view.dim"]
    assert [name for name, each in made.items() if not each.icon().isNull()] == ["view.all"]
    inside = Qt.ShortcutContext.WidgetWithChildrenShortcut
    assert [name for name, each in made.items() if each.shortcutContext() == inside] == ["chat.go"]
    made["view.all"].trigger()
    assert table.ran == ["view.all"]
    assert table.commands.view_keys() == [
        ("in the chat", "Write", ("Return",)),
        ("in the chat", "Walk", ("Up", "Down")),
    ]


def test_before_the_first_look_only_what_makes_sense_at_any_time_is_enabled(table: Table) -> None:
    made = table.commands.actions
    told = []
    for name, each in made.items():
        each.enabledChanged.connect(lambda on, name=name: told.append((name, on)))
    assert [name for name, each in made.items() if not each.isEnabled()] == ["chat.go"]
    table.commands.update()
    assert told == [("chat.go", True)]


def test_what_makes_sense_is_asked_again_and_again(table: Table) -> None:
    go, dim = table.commands.actions["chat.go"], table.commands.actions["view.dim"]
    seen = []
    for table.can, table.on in ((True, False), (False, True), (True, False)):
        table.commands.update()
        seen.append((go.isEnabled(), dim.isChecked(), dim.text()))
    assert seen == [(True, False, "Dim (False)"), (False, True, "Dim (True)"), (True, False, "Dim (False)")]


def test_menus_have_lines_between_hundreds_and_what_is_rare_once_it_was_used(
    table: Table, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shell_actions, "RARE", frozenset({"Chat/Recap", "view.dim"}))
    bar = QMenuBar()
    qtbot.addWidget(bar)
    table.commands.fill_menu_bar(bar)
    titles = bar.actions()  # kept: PySide6 before 6.11 forgets a menu with the action that was asked for it
    menus = {each.text().replace("&", ""): each.menu() for each in titles}
    assert list(menus) == ["File", "Edit", "Entry", "Chat", "View", "Run", "Trace", "Help"]
    assert words(menus["View"]) == ["Theme", "Dim", "-", "Show all…"]
    assert words(menus["Chat"]) == ["Recap"]
    assert set(table.window.actions()) == {made for name, made in table.commands.actions.items() if name != "chat.go"}
    names = ("view.all", "", "chat.go", "view.dim")
    known = []
    for used in (set(), {"Chat/Recap"}, {"view.dim"}):
        table.commands.show_used(used)
        known.append((words(menus["Chat"]), "Dim" in words(menus["View"]), table.commands.known(names)))
    assert known == [
        ([], False, ["view.all", ""]), (["Recap"], False, ["view.all", "", "chat.go"]),
        ([], True, ["view.all", "", "view.dim"]),
    ]  # fmt: skip
    menu = QMenu(table.window)
    table.commands.fill(menu, names)
    assert words(menu) == ["Show all…", "-", "Go", "Dim"]


def test_shortcuts_of_a_place_work_in_its_widgets_and_can_be_others(table: Table) -> None:
    chat, trace = QWidget(table.window), QWidget(table.window)
    table.commands.attach({Where.CHAT: (chat,), Where.TRACE: (trace,)})
    go = table.commands.actions["chat.go"]
    assert (chat.actions(), trace.actions()) == ([go], [])
    dark = table.commands.actions["view.theme"]
    dark.setToolTip("as it was")
    table.commands.rebind([replace(each, shortcuts=("J",) if each.id == "chat.go" else each.shortcuts)
                           for each in table.actions])  # fmt: skip
    assert ([key.toString() for key in go.shortcuts()], go.toolTip()) == (["J"], "Go there (J)")
    assert (dark.toolTip(), table.commands.table["chat.go"].shortcuts) == ("as it was", ("J",))


def one(name: str, where: Where, key: str = "G") -> Action:
    return Action(name, name, "Chat", 1, int, (key,), where)


@pytest.mark.parametrize(
    ("first", "second", "clash"),
    [
        (Where.WINDOW, Where.MEMORIES, True), (Where.VAULT, Where.WINDOW, True), (Where.CHAT, Where.RUNS, True),
        (Where.RUNS, Where.TIMELINE, True), (Where.TRACE, Where.RUNS, True), (Where.TIMELINE, Where.RUNS, True),
        (Where.CHAT, Where.TRACE, False), (Where.VAULT, Where.EDITOR, False), (Where.MEMORIES, Where.CHAT, False),
        (Where.RUNS, Where.EDITOR, False),
    ],
)  # fmt: skip
def test_keys_clash_only_where_both_work(first: Where, second: Where, clash: bool) -> None:
    assert bool(conflicts([one("a", first), one("b", second, "g")])) is clash
    assert conflicts([one("a", first), one("b", second, "H")]) == []


def test_panes_and_what_is_undone_are_named_and_placed() -> None:
    ninth, tenth = pane_action(9, "graph", "Graph", int), pane_action(10, "bench", "Bench", int)
    assert (ninth.id, ninth.menu, ninth.order, ninth.shortcuts) == ("pane.graph", "View/Panes", 509, ("Ctrl+9",))
    assert (tenth.menu, tenth.order, tenth.shortcuts) == ("View/More panes", 510, ())
    assert in_menu_order([tenth, ninth, one("z", Where.CHAT)])[0].id == "z"
    assert (about("Undo setting", "rename Skarn"), about("Undo setting", "")) == ("Undo: rename Skarn", "Undo setting")
