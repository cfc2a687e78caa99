"""A small project whose notes can be tried out, and traces to compare."""

from __future__ import annotations

import json
from typing import Any

from lorestudio.domain.chat import Chat, Message
from lorestudio.domain.records import replace
from lorestudio.domain.tokens import CHARS_4
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.studio.project.project import Project
from lorestudio.trace.model import Trace
from lorestudio.trace.storage.serialize import to_json
from lorestudio.vault.edited_vaults import NoteText
from lorestudio.vault.files import NoteFile, VaultFiles
from lorestudio.vault.folder import ScannedVault
from lorestudio.vault.index import VaultState, update

TWO_STAGE = {"ai_search_enabled": True, "ai_search_mode": "two-stage"}
CHAT = Chat(
    (
        Message("Wren", "The lamp burns.", is_user=True), Message("Ann", "Yes, by the gate."),
        Message("Wren", "And the tide?", is_user=True), Message("Ann", "It rises."),
        Message("Wren", "Then the lamp goes out.", is_user=True),
    ),
    "Wren", "Ann",
)  # fmt: skip
TEXTS = {
    "Dice.md": "---\ntags: [lorebook]\nkeys: [tide]\nprobability: 0.5\n---\nDice are cast.\n",
    "Gate.md": "---\ntags: [lorebook]\nkeys: [portcullis]\n---\nThe gate is shut.\n",
    "Lamp.md": "---\ntags: [lorebook]\nkeys: [lamp]\ncooldown: 1\n---\nA brass lamp.\n",
    "Tide.md": "---\ntags: [lorebook]\nkeys: [tide]\nrequires: [Lamp]\n---\nThe tide comes twice.\n",
    "plain.md": "Just a note.\n",
}


def state_of(texts: dict[str, str], settings: DeepLoreSettings) -> VaultState:
    files = tuple(NoteFile(name, text) for name, text in texts.items())
    return update(None, [ScannedVault.of(VaultFiles("v", files))], settings, CHARS_4).state


def project_of(texts: dict[str, str] | None = None, **values: Any) -> Project:
    settings = DeepLoreSettings(enabled=True, **values)
    state = state_of(texts or TEXTS, settings)
    return Project((), state.index, settings, chat=CHAT, seed=5, vault_state=state)


def note(filename: str, text: str | None) -> NoteText:
    return NoteText("v", filename, text)


def comparable(trace: Trace) -> str:
    """A trace without what differs from run to run, and without the digest of its inputs."""
    calls = tuple(replace(call, duration_ms=0.0) for call in trace.ai_calls)
    stages = tuple(replace(record, duration_ms=0.0) for record in trace.stages)
    return json.dumps(to_json(replace(trace, stages=stages, ai_calls=calls, digests={"vault": trace.digests["vault"]})))
