"""Files that are neither a lorebook nor a chat that can be opened: what they are, and what to give instead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from lorestudio.domain.javascript import Json
from lorestudio.domain.json_text import parse_json
from lorestudio.exchange.containers import SIGNATURE

_ZIP: Final = b"PK\x03\x04"
_RISU_MODULE: Final = b"\x6f\x00"
_CHAT_FIELDS: Final = frozenset({"mes", "user_name", "chat_metadata"})

_BY_FIELD: Final = {
    "gamestarted": "a saved story of KoboldAI's. Save its World Info from KoboldAI Lite as a file of its own, and give "
    "that",
    "storyContainerVersion": "a story of NovelAI's. Export its lorebook there (.lorebook), and give that",
    "scenarioVersion": "a scenario of NovelAI's. Export its lorebook there (.lorebook), and give that",
    "power_user": "a settings file of SillyTavern's. Give it with --settings, or open its folder from the start screen",
}
"""What a JSON object with this field is, and what to do."""


def json_of(data: bytes) -> tuple[bool, Json]:
    """Whether the bytes are one JSON document, and that document."""
    try:
        return True, parse_json(data.decode("utf-8-sig"))
    except ValueError:
        return False, None


def what_it_is(data: bytes) -> str:
    """What a file with these bytes is and what to do, as a sentence from “this is …” on; "" for what is not known."""
    if not data.strip():
        return "the file is empty. Give a lorebook, or a chat with at least one message."
    if data.startswith(_RISU_MODULE):
        return "this is a Risu module in its packed form, which cannot be read. Export its lorebook in Risu as JSON."
    if data.startswith(_ZIP):
        if b"card.json" in data:
            return "this is a card as CharX. Export the card as PNG or JSON, and give that."
        return "this is a ZIP archive. Unpack it, and give what it holds."
    is_json, document = json_of(data)
    return _what_document(document) if is_json else ""


def _what_document(document: Json) -> str:
    if document is None:
        return "the file holds only “null”, as a save that failed leaves it. Give a copy of before."
    if is_story_cards(document):
        return f"these are AI Dungeon's story cards; World Info would switch every one of them off. {_AS_CARDS}"
    if not isinstance(document, Mapping):
        return ""
    if document.get("type") == "risuModule":
        return "this is a Risu module. Export its lorebook in Risu as a file of its own, and give that."
    known = next((words for field, words in _BY_FIELD.items() if field in document), "")
    return known and f"this is {known}."


_AS_CARDS: Final = "Make a World Info book of them, with “keys” and “value” as its keys and content, and give that."


def is_story_cards(document: Json) -> bool:
    """Whether the document is AI Dungeon's list of story cards."""
    cards = document if isinstance(document, list | tuple) else ()
    return bool(cards) and all(isinstance(card, Mapping) and {"keys", "value"} <= card.keys() for card in cards)


def may_be_chat(data: bytes) -> bool:
    """False for a picture and for one JSON document without anything that a line of a chat has."""
    if data.startswith(SIGNATURE):
        return False
    is_json, document = json_of(data)
    return not is_json or (isinstance(document, Mapping) and not _CHAT_FIELDS.isdisjoint(document))
