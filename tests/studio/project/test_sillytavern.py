"""SillyTavern's folder as people have it: what of it can be opened here, and what is said of one that is none."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from lorestudio.exchange.chats.loading import chat_of_text
from lorestudio.exchange.problems import InputError
from lorestudio.studio.project.sillytavern import look_into

DEEPLORE = {"extension_settings": {"deeplore_enhanced": {"enabled": True}}}


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """An installation of today's shape with two chats, the second one newer."""
    user = tmp_path / "SillyTavern" / "data" / "default-user"
    for age, (character, name) in enumerate((("Ottoline", "evening"), ("Wren", "morning"))):
        path = user / "chats" / character / f"{name}.jsonl"
        path.parent.mkdir(parents=True)
        path.write_text("{}\n")
        os.utime(path, (1_700_000_000 + age, 1_700_000_000 + age))
    return tmp_path / "SillyTavern"


@pytest.mark.parametrize("below", ["", "data", "data/default-user"])
def test_chats_are_found_whichever_folder_is_named_the_newest_first(installed: Path, below: str) -> None:
    found = look_into(installed / below)
    assert [(chat.character, chat.path.stem) for chat in found.chats] == [("Wren", "morning"), ("Ottoline", "evening")]
    assert found.chats[0].when > found.chats[1].when
    assert found.settings is None


@pytest.mark.parametrize(("written", "usable"), [(DEEPLORE, True), ({"extension_settings": {}}, False), ("{", False)])
def test_settings_come_along_where_they_are_deeplores(installed: Path, written: object, *, usable: bool) -> None:
    path = installed / "data" / "default-user" / "settings.json"
    path.write_text(written if isinstance(written, str) else json.dumps(written))
    assert look_into(installed).settings == (path if usable else None)


def test_another_folder_is_refused_with_what_is_expected(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="data/default-user"):
        look_into(tmp_path)
    (tmp_path / "chats").mkdir()
    with pytest.raises(InputError, match="no chat in this folder"):
        look_into(tmp_path)


def test_a_pasted_text_is_a_chat_of_either_kind() -> None:
    plain = chat_of_text("Wren: Fog.\nOttoline: Shut the door.", "the text")
    assert [(each.name, each.text) for each in plain.chat.messages] == [
        ("Wren", "Fog."),
        ("Ottoline", "Shut the door."),
    ]
    lines = chat_of_text('{"name":"Wren","is_user":true,"mes":"Wren: Fog."}\n', "the text")
    assert [each.text for each in lines.chat.messages] == ["Wren: Fog."]
    with pytest.raises(InputError, match="the text"):
        chat_of_text(" \n", "the text")
