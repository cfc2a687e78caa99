"""AI Dungeon's story cards, and its World Info of 2021 (rules: lorebooks 10)."""

from __future__ import annotations

import re
from typing import Final

from lorestudio.domain.javascript import Json
from lorestudio.domain.json_text import text_in
from lorestudio.exchange.lorebooks.crossing import EntryForm, FieldLink, Raw, split_keys, title_of

_SCRIPT: Final = re.compile(r"[|#]|\(.*\)")
"""What only keys have that a script of 2021 reads."""


def _reads(raw: Raw) -> dict[str, Json]:
    content = text_in(raw.get("value")) or text_in(raw.get("entry")) or text_in(raw.get("description"))
    keys = raw.get("keys")
    return {"content": content, "key": [keys] if isinstance(keys, str) and _SCRIPT.search(keys) else split_keys(keys)}


CARDS: Final = EntryForm(
    name="aidungeon",
    title="AI Dungeon",
    reads=_reads,
    new=lambda entry: {
        "keys": "",
        "value": "",
        "type": "",
        "title": title_of(entry) if entry else "",
        "description": "",
        "useForCharacterCreation": False,
    },
    ranked=True,
    longest=1000,
    cannot="a story card has no place for it",
    links=(
        FieldLink(
            "keys",
            "key",
            "a script's pattern is kept as one key, which World Info looks for as it stands",
            applies=lambda raw: bool(_SCRIPT.search(text_in(raw.get("keys")))),
            spelled="joined",
        ),
        FieldLink("value", "content", spelled="text"),
        FieldLink("entry", "content"),
        FieldLink("title", "comment", spelled="text"),
        FieldLink(
            "description",
            "content",
            "the card has no text, so its description is taken for it",
            applies=lambda raw: not text_in(raw.get("value")) and not text_in(raw.get("entry")),
        ),
    ),
)
