from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence

from lorestudio.ui.features.chat.actions import CHAT_ACTIONS
from lorestudio.ui.features.controls.actions import CONTROL_ACTIONS
from lorestudio.ui.features.facts.pane import MEMORY_ACTIONS
from lorestudio.ui.features.recap.actions import RECAP_ACTIONS
from lorestudio.ui.features.systems.actions import system_actions
from lorestudio.ui.shell.actions import ACTIONS, MENUS, Where, conflicts, pane_action
from lorestudio.ui.shell.command_group import Situation
from lorestudio.ui.shell.theme import ICONS

PANES = tuple(pane_action(place, f"p{place}", f"Pane {place}") for place in range(1, 7))
TABLE = (*ACTIONS, *system_actions(), *CHAT_ACTIONS, *CONTROL_ACTIONS, *RECAP_ACTIONS, *MEMORY_ACTIONS, *PANES)


def test_no_two_actions_share_a_shortcut_where_both_work() -> None:
    assert conflicts(TABLE) == []


def test_a_conflict_is_found() -> None:
    chat = next(action for action in ACTIONS if action.id == "message.number")
    assert conflicts((*TABLE, chat)) == [("G", "message.number", "message.number")]


def test_ids_are_unique_and_every_action_has_a_title_and_a_known_menu() -> None:
    ids = [action.id for action in TABLE]
    assert len(ids) == len(set(ids))
    for action in TABLE:
        assert action.title.strip()
        assert action.menu.partition("/")[0] in MENUS, f"{action.id} exists only as a shortcut"


@pytest.mark.parametrize("action", TABLE, ids=lambda action: action.id)
def test_shortcuts_are_valid_and_icons_exist(action) -> None:
    for shortcut in action.shortcuts:
        assert not QKeySequence(shortcut).isEmpty()
        assert QKeySequence(shortcut)[0].key() != Qt.Key.Key_unknown
    assert not action.icon or (ICONS / f"{action.icon}.svg").is_file()


def test_single_keys_belong_to_a_pane() -> None:
    for action in TABLE:
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
        ("G", "message.number"),
        ("J", "message.next_change"),
        ("K", "message.previous_change"),
        ("E", "trace.entry"),
        ("W", "trace.why"),
        ("X", "message.expand"),
        ("F", "trace.filter"),
        ("F1", "help.shortcuts"),
        ("?", "help.shortcuts"),
        ("Ctrl+Shift+R", "vault.reload"),
    ],
)
def test_the_keys_that_people_know(shortcut: str, wanted: str) -> None:
    assert [action.id for action in TABLE if shortcut in action.shortcuts] == [wanted]


def test_what_is_enabled_follows_the_situation() -> None:
    by_id = {action.id: action for action in TABLE}
    nothing, running = Situation(), Situation(project=True, chat=True, busy=True, replaying=True)
    assert not by_id["replay.all"].enabled_when(nothing)
    assert by_id["replay.all"].enabled_when(Situation(project=True, chat=True))
    assert not by_id["replay.all"].enabled_when(running)
    assert by_id["replay.cancel"].enabled_when(running)
    assert not by_id["entry.save"].enabled_when(running)
    assert by_id["entry.save"].enabled_when(Situation(unsaved=True))
    assert by_id["vault.open"].enabled_when(nothing)


def test_panes_beyond_the_digits_have_no_shortcut() -> None:
    assert pane_action(9, "a", "A").shortcuts == ("Ctrl+9",)
    assert pane_action(10, "b", "B").shortcuts == ()
