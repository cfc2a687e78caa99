"""A chat of three replies with records that were worked out by hand, and the vault that they were made with."""

from __future__ import annotations

from typing import Any

from lorestudio.domain.chat import Chat
from lorestudio.domain.records import replace
from lorestudio.domain.tokens import CHARS_4
from lorestudio.exchange.chats.document import read_message
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.studio.project.project import Project
from lorestudio.studio.verify.causes import Verified, verify
from lorestudio.vault.files import NoteFile, VaultFiles
from lorestudio.vault.index import build_index

TEXTS = {
    "Lamp.md": "---\ntags: [lorebook]\nkeys: [lamp]\n---\nA brass lamp.\n",
    "Reed.md": "---\ntags: [lorebook]\nkeys: [reed]\n---\nReeds in the wind.\n",
    "Bell.md": "---\ntags: [lorebook]\nkeys: [bell]\n---\nThe bell is cracked.\n",
}
TOKENS = {"Lamp": 4, "Reed": 5, "Bell": 5}  # a quarter of the characters of the text, rounded up
SAID = ("Well met.", "The lamp!", "Yes.", "And?", "So.", "A reed.", "Hm.")


def source(title: str, reason: str = "", **changed: Any) -> dict[str, Any]:
    return {
        "title": title, "filename": f"{title}.md", "matchedBy": reason or title.lower(), "priority": 100,
        "tokens": TOKENS.get(title, 4), "vaultSource": "Default", **changed,
    }  # fmt: skip


# With a scan depth of 4 the lamp of #1 is read for #2 and for #4, and the reed of #5 for #6.
RECORDS: dict[int, list[dict[str, Any]]] = {2: [source("Lamp")], 4: [source("Lamp")], 6: [source("Reed")]}
SLOTS = {"1|0": [], "3|0": [], "5|0": []}


def chat(
    records: dict[int, list[dict[str, Any]]] | None = None, slots: dict[str, Any] | None = None, **changed: Any
) -> Chat:
    """The chat; `changed` are fields of messages by `m` and their number."""
    messages = []
    for place, text in enumerate(SAID):
        raw: dict[str, Any] = {"name": "Wren" if place % 2 else "Ann", "is_user": bool(place % 2), "mes": text}
        if not place % 2:
            raw["gen_started"] = "2026-03-01T10:00:00.000Z"
        found = (RECORDS if records is None else records).get(place)
        raw["extra"] = {"deeplore_sources": found} if found else {}
        messages.append(read_message({**raw, **changed.get(f"m{place}", {})}))
    metadata = {"deeplore_swipe_injected_keys": SLOTS if slots is None else slots}
    return Chat(tuple(messages), "Wren", "Ann", metadata)


def project(texts: dict[str, str | None] | None = None, of: Chat | None = None, **settings: Any) -> Project:
    """The project; `texts` are notes that are other ones, or None where they are gone."""
    made = DeepLoreSettings(**{"enabled": True, "scan_depth": 4, "new_chat_threshold": 1, **settings})
    every = {**TEXTS, **(texts or {})}
    files = tuple(NoteFile(name, text) for name, text in every.items() if text is not None)
    return Project((None,), build_index([VaultFiles("v", files)], made, CHARS_4), made, of or chat())


def verified(*given: Any, **settings: Any) -> Verified:
    return verify(project(*given, **settings))


def titles(found: Verified) -> list[str]:
    return [each.title for each in found.causes]


def pinned(made: Project, **controls: Any) -> Project:
    return replace(made, controls=replace(made.controls, **controls))
