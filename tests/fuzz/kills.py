"""Killing the program while it writes: `python -m tests.fuzz.kills [KILLS]`, 500 by default, over all writers.

A child writes one version after another and tells each that is done. It is killed at some moment; then the files are
opened as the next start opens them. What was told is there, whole, or what came after it, and nothing is in the way.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from random import Random
from typing import Final

from lorestudio.domain.records import replace
from lorestudio.domain.state import ChatControls
from lorestudio.exchange.chats.loading import load_chat
from lorestudio.exchange.json_file import carry_out, change_of
from lorestudio.exchange.lorebooks.formats import parse_lore
from lorestudio.llm.messages import ChatReply, ChatRequest
from lorestudio.llm.profiles import Profile, load_profiles, save_profiles
from lorestudio.llm.recorded_answers import RecordedAnswers, read_recording
from lorestudio.settings.files import write_atomically
from lorestudio.studio.attach.captures import Capture, Captures
from lorestudio.studio.chat.saving import ChatToSave, save_chat
from lorestudio.studio.lorebooks.exporting import ExportChoice, plan_export
from lorestudio.studio.lorebooks.importing import ImportChoice, plan_import, read_books
from lorestudio.studio.lorebooks.links import links_of
from lorestudio.studio.lorebooks.syncing import SyncChoice, plan_sync
from lorestudio.studio.notes.changes.change_set import ChangeSet, NoteFileChange
from lorestudio.studio.notes.changes.log import ChangeLog
from lorestudio.studio.notes.recovery import Recovery
from lorestudio.studio.notes.vault_notes import read_vault_notes
from lorestudio.systems.facts.records import Memory
from lorestudio.systems.facts.store import FactStore
from lorestudio.vault.entries import ParseRules

FILL: Final = "The lamp burns. " * 4000
NOTES: Final = [f"Note {number}.md" for number in range(12)]
NOW: Final = datetime(2024, 10, 5, 12, tzinfo=UTC)

Write = Callable[[Path], Iterator[None]]
"""Lays out what there is before, and writes a version each further time that it is asked for the next."""


def _atomic(folder: Path) -> Iterator[None]:
    yield
    for version in count(1):
        write_atomically(folder / "file", f"{version} {FILL} {version}".encode())
        yield


def _atomic_holds(folder: Path, told: int) -> None:
    first, *_, last = (folder / "file").read_text().split() if (folder / "file").exists() else ["0", "0"]
    assert first == last
    assert told <= int(first) <= told + 1


def _profiles(folder: Path) -> Iterator[None]:
    yield
    for version in count(1):
        save_profiles(
            folder / "profiles.json", [Profile(f"P{number}", url="http://localhost:1") for number in range(version)]
        )
        yield


def _profiles_hold(folder: Path, told: int) -> None:
    assert told <= len(load_profiles(folder / "profiles.json").profiles) <= told + 1


def _chat(folder: Path) -> Iterator[None]:
    path = folder / "Chat.jsonl"
    lines = [{"user_name": "U", "character_name": "C"}, {"name": "C", "mes": f"0 {FILL}"}]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    loaded = load_chat(path)
    document = loaded.document
    yield
    for version in count(1):
        messages = (replace(loaded.chat.messages[0], text=f"{version} {FILL}"),)
        wanted = ChatToSave(document, replace(loaded.chat, messages=messages), ChatControls())
        document = save_chat(wanted, path, folder / "kept", NOW).document
        yield


def _chat_holds(folder: Path, told: int) -> None:
    (message,) = load_chat(folder / "Chat.jsonl").chat.messages
    version = int(message.text.split()[0])
    assert told <= version <= told + 1
    kept = [load_chat(path).chat.messages[0].text for path in (folder / "kept").glob("*/[!.]*")]
    assert not version or any(text.startswith("0 ") for text in kept), "the chat as it was is not kept"


def _change_set(folder: Path) -> Iterator[None]:
    vault = folder / "vault"
    vault.mkdir()
    for name in NOTES:
        (vault / name).write_text("0", encoding="utf-8")
    log = ChangeLog(folder / "log", [vault])
    yield
    for version in count(1):
        changes = tuple(NoteFileChange(vault / name, str(version - 1), str(version)) for name in NOTES)
        log.apply(ChangeSet(f"To {version}", changes))
        yield


def _change_set_holds(folder: Path, told: int) -> None:
    log = ChangeLog(folder / "log", [folder / "vault"])
    log.mend_interrupted()
    (version,) = {(folder / "vault" / name).read_text(encoding="utf-8") for name in NOTES}
    assert told <= int(version) <= told + 1
    if int(version):
        log.undo()
        assert {(folder / "vault" / name).read_text(encoding="utf-8") for name in NOTES} == {str(int(version) - 1)}


def _memories(folder: Path) -> Iterator[None]:
    store = FactStore(folder / "memories.sqlite")
    yield
    for version in count(1):
        with store.transaction():
            for part in "ab":
                store.save_memory(Memory(f"{version}{part}", "U", "T", "The lamp burns.", "fact"))
        yield


def _memories_hold(folder: Path, told: int) -> None:
    store = FactStore(folder / "memories.sqlite")
    found = len(store.all_memories())
    store.close()
    assert found % 2 == 0
    assert told <= found // 2 <= told + 1


def _captures(folder: Path) -> Iterator[None]:
    captures = Captures(folder)
    yield
    for version in count(1):
        at = int(time.time() * 1000)
        captures.add(Capture(f"{at}-{version:06x}", at, at, "/v1", body=FILL, answer=FILL))
        yield


def _captures_hold(folder: Path, told: int) -> None:
    captures = Captures(folder)
    found = captures.list()
    assert not captures.problems
    assert told <= len(found) <= told + 1


def _recording(folder: Path) -> Iterator[None]:
    answers = RecordedAnswers(folder / "answers.jsonl")
    yield
    for version in count(1):
        answers.record(ChatRequest("ai_search", "s", str(version)), ChatReply(FILL))
        yield


def _recording_holds(folder: Path, told: int) -> None:
    path = folder / "answers.jsonl"
    assert told <= len(read_recording(path).replies) <= told + 1
    RecordedAnswers(path).record(ChatRequest("ai_search", "s", "after"), ChatReply("x"))
    assert ChatRequest("ai_search", "s", "after").digest in read_recording(path).replies


def _host_file(folder: Path) -> Iterator[None]:
    path, before = folder / "settings.json", b'{"version": 0}'
    path.write_bytes(before)
    yield
    for version in count(1):
        after = json.dumps({"version": version, "fill": FILL}).encode()
        carry_out(change_of(path, before, after), NOW)
        before = after
        yield


def _host_file_holds(folder: Path, told: int) -> None:
    version = json.loads((folder / "settings.json").read_bytes())["version"]
    assert told <= version <= told + 1
    copies = [json.loads(path.read_bytes())["version"] for path in folder.glob("settings.json.*.bak")]
    assert set(range(version)) <= set(copies)


def _recovery(folder: Path) -> Iterator[None]:
    (folder / "kept").mkdir()
    kept = Recovery(folder / "kept")
    yield
    for version in count(1):
        kept.keep(folder / "Lamp.md", f"{version} {FILL}", None)
        yield


def _recovery_holds(folder: Path, told: int) -> None:
    kept = Recovery(folder / "kept")
    found = kept.found()
    kept.close()
    assert not kept.problems
    assert len(found) == 1 or not told
    assert all(told <= int(each.text.split()[0]) <= told + 1 for each in found)


def _lore(folder: Path) -> Iterator[None]:
    """A book becomes notes, the notes another book, and that one is brought together with its notes, over and over."""
    vault, rules = folder / "vault", ParseRules()
    vault.mkdir()
    raw = {str(uid): {"uid": uid, "key": [f"k{uid}"], "comment": f"N{uid}", "content": FILL} for uid in range(6)}
    (folder / "Sea.json").write_text(json.dumps({"entries": raw}), encoding="utf-8")
    log = ChangeLog(folder / "log", [vault])
    yield
    plan = plan_import(read_books([folder / "Sea.json"]), read_vault_notes(vault), rules, ImportChoice())
    log.apply(plan.planned.changes)
    yield
    for version in count(2):
        if version % 2:
            _touch(folder / "Sea.json", version)
            notes = read_vault_notes(vault)
            both = plan_sync(links_of(notes)[0], notes, rules, SyncChoice())
            both.keep_copy()
            log.apply(both.changes)
        else:
            note = vault / "Sea/N0.md"
            write_atomically(note, f"{note.read_text(encoding='utf-8')}\n{version}".encode())
            out = plan_export(read_vault_notes(vault), folder / "Sea.json", rules, ExportChoice())
            out.keep_copy()
            log.apply(out.changes)
        yield


def _touch(book: Path, order: int) -> None:
    whole = json.loads(book.read_bytes())
    for raw in whole["entries"].values():
        raw["order"] = order
    write_atomically(book, json.dumps(whole).encode())


def _lore_holds(folder: Path, told: int) -> None:
    vault = folder / "vault"
    log = ChangeLog(folder / "log", [vault])
    log.mend_interrupted()
    made = {path.name for path in vault.rglob("*") if path.is_file() and path.suffix != ".tmp"}
    if not made:
        assert not told
        return
    assert made == {"Sea.book.json", *(f"N{uid}.md" for uid in range(6))}
    notes = read_vault_notes(vault)
    (link,) = links_of(notes)
    book = parse_lore((folder / "Sea.json").read_bytes(), folder / "Sea.json")
    assert [len(raw) for raw in book.entries] == [len(book.entries[0])] * 6
    plan = plan_sync(link, notes, ParseRules(), SyncChoice())
    # What was touched by hand before the kill may wait on one side, and nothing clashes.
    assert not any(item.clashes or len(item.members) > 1 for item in plan.items)
    assert len({raw["order"] for raw in book.entries if "order" in raw}) <= 1


WRITERS: Final[dict[str, tuple[Write, Callable[[Path, int], None]]]] = {
    "a file": (_atomic, _atomic_holds),
    "profiles": (_profiles, _profiles_hold),
    "a chat": (_chat, _chat_holds),
    "a change set": (_change_set, _change_set_holds),
    "memories": (_memories, _memories_hold),
    "captures": (_captures, _captures_hold),
    "a recording": (_recording, _recording_holds),
    "SillyTavern's file": (_host_file, _host_file_holds),
    "unsaved texts": (_recovery, _recovery_holds),
    "lorebooks in, out and in step": (_lore, _lore_holds),
}


LONGEST: Final = {"lorebooks in, out and in step": 1.5}
"""How many seconds a writer has at the most, where its versions take longer."""


def killed(name: str, random: Random) -> int:
    """Kill the writer at some moment, and look at what is there; how many versions it had told."""
    write, holds = WRITERS[name]
    with tempfile.TemporaryDirectory(prefix="kill-") as place:
        folder = Path(place)
        told, tells = os.pipe()
        child = os.fork()
        if not child:
            os.close(told)
            try:
                for _ in write(folder):
                    os.write(tells, b".")
            finally:
                traceback.print_exc()
                os._exit(1)
        os.close(tells)
        os.read(told, 1)  # what there is before is laid out
        time.sleep(random.random() ** 2 * LONGEST.get(name, 0.1))
        os.kill(child, signal.SIGKILL)
        _, ended = os.waitpid(child, 0)
        done = b"".join(iter(lambda: os.read(told, 65536), b""))
        os.close(told)
        assert os.WIFSIGNALED(ended), f"the writer of {name} failed by itself"
        holds(folder, len(done))
        return len(done)


def main() -> None:
    """Kill them in turn."""
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    random = Random(time.time_ns())
    names = list(WRITERS)
    versions = dict.fromkeys(names, 0)
    for number in range(kills):
        name = names[number % len(names)]
        versions[name] += killed(name, random)
    told = "; ".join(f"{name}: {versions[name]} versions" for name in names)
    sys.stdout.write(f"{kills} kills, nothing lost. {told}\n")


if __name__ == "__main__":
    main()
