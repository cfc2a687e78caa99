from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence

from lorestudio.ui.shell.actions import MENUS, Where, conflicts, pane_action
from lorestudio.ui.shell.theme import ICONS


@pytest.mark.long
def test_no_two_actions_share_a_shortcut_where_both_work(table) -> None:
    assert conflicts(table) == []


def test_a_conflict_is_found(table) -> None:
    chat = next(action for action in table if action.id == "message.number")
    assert conflicts((*table, chat)) == [("G", "message.number", "message.number")]


def test_ids_are_unique_and_every_action_has_a_title_and_a_known_menu(table) -> None:
    ids = [action.id for action in table]
    assert len(ids) == len(set(ids))
    for action in table:
        assert action.title.strip()
        assert action.menu.partition("/")[0] in MENUS, f"{action.id} exists only as a shortcut"


def test_shortcuts_are_valid_and_icons_exist(table) -> None:
    for action in table:
        for shortcut in action.shortcuts:
            assert not QKeySequence(shortcut).isEmpty(), action.id
            assert QKeySequence(shortcut)[0].key() != Qt.Key.Key_unknown, action.id
        assert not action.icon or (ICONS / f"{action.icon}.svg").is_file(), action.id


def test_single_keys_belong_to_a_pane(table) -> None:
    for action in table:
        for shortcut in action.shortcuts:
            if len(shortcut) == 1 and shortcut != "?":
                assert action.where is not Where.WINDOW


@pytest.mark.parametrize(
    ("shortcut", "wanted"),
    [
        ("Ctrl+O", "go.entry"),
        ("Ctrl+P", "go.command"),
        ("Ctrl+Shift+P", "go.command"),
        ("Ctrl+Shift+F", "find.vault"),
        ("Ctrl+F", "find.pane"),
        ("Ctrl+G", "go.graph"),
        ("Ctrl+S", "entry.save"),
        ("F6", "view.next_pane"),
        ("Shift+F6", "view.previous_pane"),
        ("F11", "view.full_screen"),
        ("Ctrl+Q", "app.quit"),
        ("Ctrl+E", "entry.source"),
        ("Ctrl+R", "replay.all"),
        ("Ctrl+.", "replay.cancel"),
        ("Ctrl+Alt+1", "workspace.debug"),
        ("Alt+1", "mode.keywords-only"),
        ("G", "message.number"),
        ("J", "message.next_change"),
        ("K", "message.previous_change"),
        ("E", "trace.entry"),
        ("W", "trace.why"),
        ("X", "message.expand"),
        ("F", "trace.filter"),
        ("F1", "help.pane"),
        ("Shift+F1", "help.shortcuts"),
        ("?", "help.shortcuts"),
        ("Ctrl+Shift+R", "vault.reload"),
    ],
)
def test_the_keys_that_people_know(shortcut: str, wanted: str, table) -> None:
    assert [action.id for action in table if shortcut in action.shortcuts] == [wanted]


def test_panes_beyond_the_digits_have_no_shortcut() -> None:
    assert pane_action(9, "a", "A", print).shortcuts == ("Ctrl+9",)
    assert pane_action(10, "b", "B", print).shortcuts == ()
