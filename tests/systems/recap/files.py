"""Chat files for tests of recap memory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from lorestudio.settings.recap import RecapSettings

SETTINGS = RecapSettings(
    auto_scene_break_minimum_scene_length=3,
    auto_scene_break_message_offset=1,
    auto_recap_message_limit=0,
    auto_hide_scene_count=2,
)

TALE = (
    "I open the gate of the old mill.", "It creaks. The miller looks up.", "I greet him.", "He nods and goes on.",
    "The next morning I ride to the harbour.", "Rain begins. Gulls scream.", "I look for the ferry.",
    "The ferryman asks for silver.", "Hours later the ferry lands on the far side.", "The shore is empty.",
    "I call out.", "Nobody answers.",
)  # fmt: skip
"""Scenes end before messages 4 and 8, which name another time."""


def write_chat(path: Path, texts: tuple[str, ...] = TALE, **header: Any) -> Path:
    """A SillyTavern chat in which user and character speak in turn; one reply has two swipes."""
    first = {"user_name": "Wren", "character_name": "Quay", "chat_metadata": {"note_depth": 4}, **header}
    lines = [json.dumps(first, ensure_ascii=False)]
    for index, text in enumerate(texts):
        record: dict[str, Any] = {
            "name": "Quay" if index % 2 else "Wren", "is_user": index % 2 == 0, "is_system": False, "mes": text,
            "extra": {"api": "x", "own": [1.50, "ż"]},
        }  # fmt: skip
        if index == 1:
            record |= {
                "swipes": ["It is shut.", text], "swipe_id": 1,
                "swipe_info": [{"extra": {}}, {"send_date": "d", "extra": {"api": "x"}}],
            }  # fmt: skip
        lines.append(json.dumps(record, ensure_ascii=False, separators=(",", ":")))
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def records(path: Path) -> list[dict[str, Any]]:
    """All lines of a chat file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n")]


def without_times(value: Any) -> Any:
    """The value without the moments at which things were made."""
    if isinstance(value, dict):
        return {key: without_times(item) for key, item in value.items() if key not in {"timestamp", "combined_at"}}
    return [without_times(item) for item in value] if isinstance(value, list) else value
