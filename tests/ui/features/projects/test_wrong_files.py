"""Files that were given in the wrong place: the window says what they are, and has the button that takes them."""

from __future__ import annotations

import json

import pytest
from PySide6.QtWidgets import QPushButton

CARD = {"spec": "chara_card_v2", "data": {"name": "Ada", "first_mes": "Hm.", "description": ""}}
KOBOLD = {"gamestarted": True, "prompt": "", "actions": [], "worldinfo": [{"key": "a", "content": "A."}]}
CARDS = [{"keys": "mira", "value": "Mira.", "type": "character", "title": "Mira", "enabled": False}]
BOOK = {"entries": {"0": {"uid": 0, "key": ["a"], "content": "A"}}}
HEADER = {"user_name": "U", "character_name": "C"}


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "document", "as_chat", "told", "buttons"),
    [
        ("card.json", CARD, False, "no lorebook inside", ["Open chat…"]),
        ("card.json", CARD, True, "no lorebook inside", ["Open chat…"]),
        ("save.json", KOBOLD, False, "“KoboldAI”", ["Import lorebooks…"]),
        ("cards.json", CARDS, True, "“AI Dungeon”", ["Import lorebooks…"]),
        ("book.json", BOOK, True, "a lorebook, and no chat", ["Open lorebook…", "Import lorebooks…"]),
        ("chat.jsonl", HEADER, False, "a chat, and no vault", ["Open chat…"]),
        ("null.jsonl", None, True, "only “null”", []),
        (
            "settings.json",
            {"power_user": {}},
            True,
            "a settings file",
            ["Import settings…", "Open SillyTavern's folder…"],
        ),
        ("data", None, False, "SillyTavern's folder, and no vault", ["Open SillyTavern's folder…"]),
    ],
)
def test_what_it_is_and_the_button_that_takes_it(
    make_window, qtbot, tmp_path, name, document, as_chat, told, buttons
) -> None:
    window, path = make_window(), tmp_path / name
    if name == "data":
        for folder in ("chats", "worlds"):
            (path / "default-user" / folder).mkdir(parents=True)
    else:
        path.write_text(json.dumps(document) + "\n", encoding="utf-8")
    window.session.reading.open([] if as_chat else [path], path if as_chat else None)
    qtbot.waitUntil(lambda: bool(window.bars.texts) and not window.session.busy)
    assert told in window.bars.texts[0]
    assert [one.text() for one in window.bars.findChildren(QPushButton) if one.text()] == buttons
    assert window.session.project is None


def test_what_was_said_goes_when_another_thing_opens(make_window, qtbot, tmp_path) -> None:
    window = make_window()
    (tmp_path / "card.json").write_text(json.dumps(CARD), encoding="utf-8")
    (tmp_path / "book.json").write_text(json.dumps(BOOK), encoding="utf-8")
    window.session.reading.open([tmp_path / "card.json"])
    qtbot.waitUntil(lambda: bool(window.bars.texts))
    window.session.reading.open([tmp_path / "book.json"])
    qtbot.waitUntil(lambda: window.session.project is not None and not window.session.busy)
    assert window.bars.texts == []
