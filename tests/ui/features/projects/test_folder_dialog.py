"""What a folder of SillyTavern's has, in rows, and which of them can be opened."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from lorestudio.studio.project.sillytavern import FoundChat, FoundPersona, SillyTavernFolder
from lorestudio.ui.features.projects.folder_dialog import FolderDialog, things_of
from lorestudio.ui.shell.theme import Theme


def chat(place: str, character: str, group: Path | None = None) -> FoundChat:
    return FoundChat(Path(place), character, datetime(2026, 1, 2, tzinfo=UTC), group)


NEWER, OLDER = chat("chats/Ada/newer.jsonl", "Ada"), chat("chats/Ada/older.jsonl", "Ada")
CREW = chat("group chats/1.jsonl", "The Crew", Path("groups/7.json"))
BOOK = Path("worlds/Brume.json")


def folder(**more: Any) -> SillyTavernFolder:
    return SillyTavernFolder(**{
        "user": Path("data/wren"), "chats": (NEWER, OLDER, CREW), "host": {"main_api": "openai"}, "books": (BOOK,),
        "characters": (Path("characters/Ada.png"), Path("characters/Bo.png")),
        "groups": (Path("groups/7.json"), Path("groups/8.json")),
        "personas": (FoundPersona("wren.png", "Wren", book="Brume"),), "presets": (Path("presets/Calm.json"),),
    } | more)  # fmt: skip


def test_a_character_and_a_group_open_their_newest_chat() -> None:
    assert [(each.kind, each.name, each.of, each.opens) for each in things_of(folder())] == [
        ("Chat", "newer", "Ada", NEWER),
        ("Chat", "older", "Ada", OLDER),
        ("Chat", "1", "The Crew", CREW),
        ("Character", "Ada", "", NEWER),
        ("Character", "Bo", "", None),
        ("Group", "The Crew", "", CREW),
        ("Group", "8", "", None),
        ("Lorebook", "Brume", "", BOOK),
        ("Persona", "Wren", "Brume", None),
        ("Preset", "Calm", "", None),
        ("Settings", "settings.json", "", None),
    ]


@pytest.mark.parametrize(
    ("more", "of"), [({"settings": Path("settings.json")}, ["with DeepLore's"]), ({"host": {}}, [])]
)
def test_settings_say_whether_deeplores_are_in_them(more: dict[str, object], of: list[str]) -> None:
    assert [each.of for each in things_of(folder(**more)) if each.kind == "Settings"] == of


@pytest.mark.parametrize(
    ("words", "opened"), [("", [NEWER]), ("older", [OLDER]), ("lorebook", [BOOK]), ("persona", []), ("nothing", [])]
)
def test_the_first_that_is_found_is_opened_where_it_can_be(
    theme: Theme, qtbot: QtBot, words: str, opened: list[object]
) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    dialog = FolderDialog(theme, folder(), parent)
    wanted: list[object] = []
    dialog.wanted.connect(wanted.append)
    dialog.field.setText(words)
    assert dialog.open_button.isEnabled() is bool(opened)
    dialog.show()
    dialog.accept()
    assert (wanted, dialog.isVisible()) == (opened, not opened)


def test_what_is_not_seen_of_the_folder_is_said(qtbot: QtBot, theme: Theme) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    found = folder(problem="settings.json, line 1: this is no valid JSON.", others=(Path("data/alice"),))
    dialog = FolderDialog(theme, found, parent)
    said = [each.text() for each in dialog.findChildren(QLabel)]
    assert found.problem in said
    assert any("data/alice" in each for each in said)
