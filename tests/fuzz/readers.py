"""Every reader of the program with files that it takes, and the errors with which it may refuse others."""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
import struct
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from lorestudio.exchange.character_card import load_card, load_group
from lorestudio.exchange.chat_preset import load_preset
from lorestudio.exchange.chats.loading import load_chat
from lorestudio.exchange.host_settings import load_host_settings
from lorestudio.exchange.lorebooks.reading import load_lorebook
from lorestudio.exchange.problems import InputError
from lorestudio.exchange.regex_scripts import load_scripts
from lorestudio.exchange.settings_files import import_file
from lorestudio.llm.http.dialect import read_answer, read_body, read_problem
from lorestudio.llm.messages import ChatReply
from lorestudio.llm.profiles import load_profiles
from lorestudio.llm.recorded_answers import read_recording
from lorestudio.llm.tokenizers import TokenizerError, read_tokenizer
from lorestudio.settings import store
from lorestudio.settings.files import SettingsError
from lorestudio.settings.recap import load_recap_settings
from lorestudio.studio.attach import exchange
from lorestudio.studio.attach.captures import Captures, load_attachment
from lorestudio.studio.chat.controls import read_preset
from lorestudio.studio.graph.layout import LayoutStore
from lorestudio.studio.lorebooks.importing import ImportChoice, plan_import, read_books
from lorestudio.studio.notes.changes.change_set import changed_references
from lorestudio.studio.notes.changes.journal import Journal
from lorestudio.studio.notes.changes.snapshots import Snapshots
from lorestudio.studio.notes.recovery import Recovery
from lorestudio.studio.notes.renaming import NewName, plan_rename
from lorestudio.studio.notes.trash import Trash
from lorestudio.studio.notes.vault_notes import read_vault_notes
from lorestudio.studio.project.basis import load_basis
from lorestudio.studio.project.problems import ProblemFinder
from lorestudio.studio.project.project import open_project
from lorestudio.studio.proposals import reading
from lorestudio.studio.proposals.model import NoteLocks
from lorestudio.studio.replay.scenario import run_scenarios
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.tuning import expectations
from lorestudio.systems.deeplore.ai import replies
from lorestudio.systems.facts import extraction
from lorestudio.systems.recap import asking
from lorestudio.systems.recap.chat_file import read_chat_file
from lorestudio.systems.recap.queue import HopelessError, load_queue
from lorestudio.systems.recap.scenes import break_search
from lorestudio.systems.recap.scenes import breaks as scene_breaks
from lorestudio.systems.registry import KINDS
from lorestudio.trace.wording import time_words
from lorestudio.vault.entries import ParseRules
from lorestudio.vault.files import VaultError, place_key

Read = Callable[[Path], object]


@dataclass(frozen=True)
class Reader:
    """What reads a file of this name, seeds that it takes, and how it may refuse."""

    name: str
    file: str
    read: Read
    seeds: tuple[bytes, ...]
    refuses: tuple[type[Exception], ...] = (InputError, SettingsError, VaultError)
    needs: str = ""


def _json(*values: object) -> tuple[bytes, ...]:
    return tuple(json.dumps(value, ensure_ascii=False).encode() for value in values)


def _lines(*values: object) -> bytes:
    return b"\n".join(_json(*values))


def _png(text: bytes) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    return b"\x89PNG\r\n\x1a\n" + b"".join(
        chunk(*each) for each in ((b"IHDR", bytes(13)), (b"tEXt", b"chara\0" + base64.b64encode(text)), (b"IEND", b""))
    )


HEADER: Final = {
    "user_name": "Wren",
    "character_name": "Ottoline",
    "chat_metadata": {
        "note_prompt": "lamp", "note_interval": 1, "note_depth": 4, "timedWorldInfo": {"sticky": {"a": {"hash": 1}}},
        "deeplore_context": {"era": "flood"}, "deeplore_pins": ["Lamp"], "deeplore_blocks": [{"title": "Tide"}],
        "deeplore_chat_counts": {"v:Lamp": 2}, "deeplore_folder_filter": ["a"], "deeplore_notebook": "x",
    },
}  # fmt: skip
MESSAGE: Final = {
    "name": "Ottoline", "is_user": False, "is_system": False, "send_date": "2024-10-05@12h30m15s", "mes": "The lamp.",
    "swipes": ["The lamp.", "The tide."], "swipe_id": 0, "swipe_info": [{"send_date": 1, "extra": {}}, {}],
    "extra": {"token_count": 3, "deeplore_sources": [{"title": "Lamp"}], "bias": "", "reasoning": "x"},
}  # fmt: skip
SPOKEN: Final = {"name": "Wren", "is_user": True, "mes": "A lamp?", "send_date": 1728000000000, "extra": {}}
CHAT: Final = _lines(HEADER, SPOKEN, MESSAGE)
ENTRY: Final = {
    "uid": 0, "key": ["lamp", "/la.p/i"], "keysecondary": ["tide"], "comment": "Lamp", "content": "A lamp. {{char}}",
    "constant": False, "selective": True, "selectiveLogic": 0, "order": 100, "position": 4, "depth": 2, "role": 0,
    "disable": False, "probability": 80, "useProbability": True, "group": "a,b", "groupWeight": 10, "sticky": 2,
    "cooldown": 1, "delay": 1, "scanDepth": None, "caseSensitive": None, "excludeRecursion": False,
    "delayUntilRecursion": 1, "characterFilter": {"isExclude": False, "names": ["A"], "tags": []},
    "triggers": ["normal"],
}  # fmt: skip
BOOK: Final = {"entries": {"0": ENTRY, "1": {"uid": 1, "key": [], "content": "B", "constant": True}}, "name": "Book"}
CARD_ENTRY: Final = {
    "keys": ["lamp"], "secondary_keys": [], "content": "@@depth 3\nA lamp.", "name": "Lamp", "enabled": True, "id": 1,
    "insertion_order": 1, "position": "before_char", "extensions": {"position": 4, "depth": 2}, "use_regex": False,
}  # fmt: skip
CARD: Final = {
    "spec": "chara_card_v2", "spec_version": "2.0",
    "data": {
        "name": "Ottoline", "description": "d", "first_mes": "Hi", "alternate_greetings": ["Ho"], "tags": ["a"],
        "character_book": {"name": "B", "entries": [CARD_ENTRY], "scan_depth": 2, "extensions": {}},
        "extensions": {"depth_prompt": {"prompt": "x", "depth": 4, "role": "system"}, "regex_scripts": []},
    },
}  # fmt: skip
SCRIPT: Final = {
    "id": "1", "scriptName": "S", "findRegex": "/la(m)p/gi", "replaceString": "{{match}}$1", "trimStrings": ["a"],
    "placement": [1, 2], "disabled": False, "markdownOnly": False, "promptOnly": True, "runOnEdit": True,
    "substituteRegex": 0, "minDepth": None, "maxDepth": 3,
}  # fmt: skip
DEEPLORE: Final = {
    "scanDepth": 4, "maxEntries": 10, "unlimitedEntries": False, "maxTokensBudget": 2000, "recursiveScan": True,
    "aiSearchEnabled": True, "aiSearchMode": "two-stage", "vaults": [{"name": "V", "port": 1, "apiKey": "k"}],
    "fuzzySearchMinScore": 0.5, "lorebookTag": "lorebook", "customFieldDefinitions": [], "settingsVersion": 5,
}  # fmt: skip
HOST: Final = {
    "extension_settings": {"deeplore_enhanced": DEEPLORE, "regex": [SCRIPT], "note": {"default": "n"},
    "disabledExtensions": []},
    "power_user": {"personas": {"a.png": "Wren"}, "persona_descriptions": {"a.png": {"description": "x"}},
    "tokenizer": 3},
    "world_info_settings": {"world_info": {"globalSelect": ["B"]}, "world_info_depth": 2, "world_info_budget": 25},
    "username": "Wren", "user_avatar": "a.png", "main_api": "openai", "tags": [], "tag_map": {},
}  # fmt: skip
SCENARIO: Final = {
    "id": "lamps", "settings": {"scanDepth": 4}, "seed": 7, "metadata": {"deeplore_pins": ["Tide"]},
    "vaults": [{"name": "v", "files": [["Lamp.md", "---\ntags: [lorebook]\nkeys: [lamp]\n---\nA."], ["a.txt", "x"]]}],
    "messages": [{"name": "Wren", "is_user": True, "mes": "A lamp."}, {"name": "A", "is_user": False, "mes": "Yes."}],
    "generations": [{"now_ms": 1700000000000, "chat": [0]}, {"now_ms": 1700000000001, "chat": [0, 1]}],
}  # fmt: skip
SCENARIOS: Final = (
    *_json(SCENARIO, {**SCENARIO, "system": "world-info"}),
    _lines(SCENARIO, SCENARIO),
    gzip.compress(_lines(SCENARIO), mtime=0),
)
OF_SYSTEMS: Final = _json(HOST, *(kind.settings().model_dump(by_alias=True) for kind in KINDS.values()))
PICKS: Final = (
    {"results": [{"title": "Lamp", "confidence": "high", "reason": "r"}]}, ["Lamp", {"title": "Tide"}],
    {"summary": "A."},
    {"memories": [{"content": "c", "source": "fact", "tags": ["a"], "profileKey": "k", "profileValue": 1}]},
    {"correctedFacts": [{"content": "c", "action": "keep"}], "missedFacts": [], "conflicts": []},
    {"scene_break_at": 4, "rationale": "r"}, {"scene_name": "s", "recap": {"developments": ["a"]}},
    {"keys": ["a", "b"]},
    {"choices": [{"index": 0, "message": {"content": [{"text": "a"}]}, "finish_reason": "stop"}], "usage": {"a": 1}},
    {"candidates": [{"content": {"parts": [{"text": "a"}]}}], "usageMetadata": {"promptTokenCount": 1}},
    {"content": [{"type": "text", "text": "a"}], "stop_reason": "x", "error": {"message": {"error": "a"}, "code": 400}},
    {"model": "m", "messages": [{"role": "user", "content": [{"text": "a"}]}], "tools": [{"function": {"name": "n"}}]},
    {"is_scene_break": True, "rationale": "r", "title": "T", "keys": ["a"], "content": "x", "type": "y"},
)  # fmt: skip
NOTE: Final = b"""---
tags: [lorebook, lorebook-always]
keys: [lamp, "/la.p/i", 5]
refine_keys:
  - tide
priority: 10
requires: [Tide]
era: before the flood
cooldown: 2
probability: 0.5
summary: >-
  A lamp
  of oil.
outlet: &a x
other: *a
---
# Lamp

The [[Tide|sea]] <!-- hidden --> {{char}} %%no%% $& and `code`.
"""


PRESET: Final = {
    "temperature": 1, "openai_max_context": 4096, "openai_max_tokens": 300, "names_behavior": 0,
    "squash_system_messages": 1,
    "prompts": [{"identifier": "main", "name": "Main", "role": "system", "content": "Write {{char}}",
    "system_prompt": True,
                 "injection_position": 0, "injection_depth": 4, "marker": False}],
    "prompt_order": [{"character_id": 100001, "order": [{"identifier": "main", "enabled": True}]}],
    "extensions": {"regex_scripts": [SCRIPT]},
}  # fmt: skip
PROFILES: Final = {
    "format": "lorestudio-profiles", "version": 1,
    "profiles": [{"name": "P", "api": "openai", "url": "http://localhost:1", "model": "m", "timeout_ms": 5000}],
}  # fmt: skip
RECORDED: Final = _lines(
    {"v": 1, "digest": "d", "alike": "a", "kind": "k", "source": "s", "text": "t", "usage": [1, 2], "notes": ["n"]}
)
CAPTURED: Final = _lines(
    {
        "started": 1,
        "finished": 2,
        "path": "/v1/chat/completions",
        "ending": "complete",
        "status": 200,
        "headers": ["a"],
    },
    ['{"messages": [{"role": "user", "content": "x"}]}', '{"choices": [{"message": {"content": "y"}}]}'],
)
CHAT_PRESET: Final = {
    "format": "lorestudio-preset", "version": 1, "name": "P", "pins": [{"title": "Lamp", "vaultSource": "v"}],
    "folders": ["a"], "context": {"era": "flood", "n": 1, "l": ["a", 1, True]}, "notebook": "x",
}  # fmt: skip
EXPECTED: Final = b"""# mine
expectations:
  - {note: Lamp.md, should: be in}
  - notes: [Lamp, constants]
    should: take at most
    tokens: 800
    whenever: the ferry
    because: of it
"""
QUEUE: Final = {
    "queue": [{"id": "op_1", "type": "recap", "params": {"index": 1}, "status": "pending", "created_at": 1,
    "retries": 0,
               "priority": 3, "dependencies": ["op_0"], "metadata": {"a": 1}, "queueVersion": 0}],
    "current_operation_id": None, "paused": False, "version": 1, "queueVersion": 0,
}  # fmt: skip
ANSWERED: Final = (
    b'data: {"choices": [{"index": 0, "delta": {"content": "a"}}]}\n\n'
    b'data: {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "b"}}\n\ndata: [DONE]\n\n'
)
TOKENIZER: Final = {
    "version": "1.0", "added_tokens": [], "normalizer": None, "pre_tokenizer": {"type": "Whitespace"},
    "decoder": None,
    "post_processor": None, "model": {"type": "WordLevel", "vocab": {"a": 0, "[UNK]": 1}, "unk_token": "[UNK]"},
}  # fmt: skip
KEPT: Final = (
    {"vault": "/a", "path": "/a/Lamp.md", "time": "2024-10-05T12:00:00+00:00", "run": "1", "digest": "x"},
    {"path": "/a/Lamp.md", "text": "A lamp.", "digest": None, "time": "2024-10-05T12:00:00+00:00"},
    {"path": "/a/Lamp.md", "digest": "x", "time": "2024-10-05T12:00:00+00:00", "reason": "saved", "size": 1},
)
JOURNAL: Final = _lines(
    {"op": "begin", "run": "1", "kind": "apply", "title": "T", "time": "2024-10-05T12:00:00+00:00",
    "step": "1", "part": [],
     "changes": [{"path": "/a/Lamp.md", "before": "x", "after": None, "moved_to": None}], "clears": [],
     "folders": []},
    {"op": "end", "run": "1", "ok": True},
)  # fmt: skip

CANVAS: Final = {"nodes": [
    {"id": "1", "type": "file", "file": "Lamp.md", "subpath": "#Lamp", "x": 0},
    {"id": "2", "type": "text", "text": "See [[Lamp|it]], ![[Lamp#Lamp]] and [x](Lamp.md)", "styleAttributes": {}},
]}  # fmt: skip
CHAT_VAULT: Final = {"Lamp.md": NOTE, "Tide.md": b"---\ntags: [lorebook]\nkeys: [tide]\n---\nWet.\n"}


def _replayed(path: Path) -> object:
    """The vault that the file is a note of, or the chat of, run and checked."""
    is_note = path.suffix == ".md"
    project = open_project([path.parent if is_note else path.parent / "vault"], None if is_note else path)
    simulator = Simulator(project)
    asyncio.run(simulator.replay())
    return ProblemFinder().find(project) if is_note else None


def _imported(path: Path) -> object:
    """The notes that a vault gets of the lorebook."""
    (vault := path.parent / "vault").mkdir()
    return plan_import(read_books([path]), read_vault_notes(vault), ParseRules(), ImportChoice())


def _canvas(path: Path) -> object:
    """The rename of a note that the canvas beside it names, counted as it is shown, and what is written of it."""
    (path.parent / "Lamp.md").write_bytes(b"# Lamp\n")
    vault = read_vault_notes(path.parent)
    planned = plan_rename([vault], vault.path("Lamp.md"), NewName("Lantern"))
    changed_references(planned.changes)
    return [each.new or b"" for each in planned.changes.changes]


def _kinds(path: Path) -> object:
    """Every system's settings out of the file, which is one system's."""
    for kind in KINDS.values():
        with suppress(SettingsError):
            kind.read_file(path)
    return None


def _reply(path: Path) -> object:
    """What every reader of a model's reply makes of it."""
    text = path.read_bytes().decode("utf-8", "replace")
    reply = ChatReply(text)
    for strict in (False, True):
        replies.normalize(replies.extract_list(text, strict=strict) or [])
        with suppress(ValueError):
            extraction.read_reply(text, strict=strict)
        extraction.read_review(text, (), strict=strict)
    for read in (reading.read_summary, reading.read_keys, reading.read_drafts):
        read(reply)
    for ask in (partial(break_search.read_reply, reply), partial(scene_breaks.read_answer, text)):
        with suppress(ValueError, HopelessError):  # which the queue takes for a failed attempt
            ask()
    with suppress(ValueError):
        asking.answer_object(text)
    with suppress(ValueError):
        exchange.read_prompt(text)
    with suppress(ValueError):
        body = read_body(text)
        read_problem(body)
        read_answer(body)
    return exchange.read_replies(text)


def _graph(path: Path) -> object:
    """The layout of the vaults at no place, whatever its file is called."""
    store = LayoutStore(path.parent)
    path.rename(store._path(()))
    return store.load(())


def _trash(path: Path) -> object:
    """The trash with the label beside its note, and the same record as a kept text and as a line of the history."""
    data = path.read_bytes()
    path.with_suffix(".md").write_bytes(b"A lamp.")
    (path.parent / "kept" / "a").mkdir(parents=True)
    (path.parent / "kept" / "a" / "1.json").write_bytes(data)
    recovery = Recovery(path.parent / "kept")
    recovery.found()
    recovery.close()
    snapshots = Snapshots(path.parent)
    file = snapshots._file(place_key(Path("/a/Lamp.md")))
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    snapshots.list(Path("/a/Lamp.md"))
    return Trash(path.parents[1]).list()


def _captured(path: Path) -> object:
    captures = Captures(path.parent.parent)
    return [(time_words(each.started_ms), captures.read(each.id).replies) for each in captures.list()]


ALL: Final = (
    Reader("chat", "Chat.jsonl", load_chat, (CHAT,)),
    Reader("chat of text", "Chat.txt", load_chat, (b"Wren: Hello.\nOttoline: The lamp.\n\nWren: Yes\n", CHAT)),
    Reader("chat replayed", "Chat.jsonl", _replayed, (CHAT,), needs="vault"),
    Reader("chat for recap", "Chat.jsonl", read_chat_file, (CHAT,), (InputError, SettingsError)),
    Reader("group", "Group.json", load_group, _json({"name": "G", "members": ["A.png"], "chat_id": "Chat"})),
    Reader("lorebook", "Book.json", load_lorebook, _json(BOOK, CARD, {"entries": [CARD_ENTRY]})),
    Reader("lorebook imported", "Book.json", _imported, _json(BOOK, CARD, {"entries": [CARD_ENTRY]})),
    Reader("card", "Card.json", load_card, _json(CARD)),
    Reader("picture", "Card.png", load_card, tuple(map(_png, _json(CARD)))),
    Reader("prompt preset", "Preset.json", load_preset, _json(PRESET)),
    Reader("regex scripts", "Scripts.json", load_scripts, _json(SCRIPT, [SCRIPT], HOST)),
    Reader("host settings", "settings.json", load_host_settings, _json(HOST)),
    Reader("settings", "settings.json", store.load, _json(HOST)),
    Reader("settings taken over", "settings.json", import_file, _json(DEEPLORE, HOST)),
    Reader("settings of systems", "system.json", _kinds, OF_SYSTEMS),
    Reader("settings of recap", "recap.json", load_recap_settings, _json({"auto_scene_break_min_scene_length": 3})),
    Reader("basis", "Chat.lorestudio.json", load_basis, _json({"hidden": [[0, 3, 5], [7, 9, 0]]})),
    Reader("profiles", "profiles.json", load_profiles, _json(PROFILES)),
    Reader("recorded answers", "Chat.answers.jsonl", read_recording, (RECORDED,)),
    Reader("captures", "captures/1700000000000-abcdef.capture", _captured, (CAPTURED,)),
    Reader("live capture", "attach.json", lambda path: load_attachment(path.parent), _json({"token": "t", "port": 1})),
    Reader("preset of a chat", "Preset.json", read_preset, _json(CHAT_PRESET)),
    Reader("expectations", "expectations.yaml", expectations.load, (EXPECTED,)),
    Reader("scenario", "scenario.json", run_scenarios, SCENARIOS),
    Reader("note", "Lamp.md", _replayed, (NOTE,)),
    Reader("queue", "Chat.queue.json", load_queue, _json(QUEUE)),
    Reader("reply", "reply.txt", _reply, (*_json(*PICKS), b"Here: ```json\n" + _json(*PICKS)[0] + b"\n```", ANSWERED)),
    Reader("tokenizer", "tokenizer.json", read_tokenizer, _json(TOKENIZER), (TokenizerError,)),
    Reader("graph", "0.json", _graph, _json({"version": 1, "positions": {"v\0a": [1.5, 2]}, "pinned": ["v\0a"]})),
    Reader("locks", "locks.json", lambda path: NoteLocks(path).load(), _json({"version": 1, "notes": ["/a/Lamp.md"]})),
    Reader("trash", "trash/v-1/1.json", _trash, _json(*KEPT)),
    Reader("canvas", "Plot.canvas", _canvas, _json(CANVAS)),
    Reader("journal", "journal.jsonl", lambda path: Journal(path).read(), (JOURNAL,)),
)
