"""What happens around the program while it works: clocks, disks, folders and other programs."""

from __future__ import annotations

import builtins
import errno
import os
import re
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lorestudio.domain.records import replace
from lorestudio.domain.state import ChatControls
from lorestudio.exchange.chats.document import keep_version
from lorestudio.exchange.chats.loading import load_chat
from lorestudio.exchange.json_file import carry_out, change_of
from lorestudio.exchange.problems import InputError
from lorestudio.llm.messages import ChatReply, ChatRequest
from lorestudio.llm.profiles import Profile, save_profiles
from lorestudio.llm.recorded_answers import RecordedAnswers
from lorestudio.settings.files import SettingsError, append_line, write_atomically
from lorestudio.studio.chat.controls import Preset, PresetFolder
from lorestudio.studio.chat.saving import ChatChangedError, ChatToSave, save_chat
from lorestudio.studio.notes.changes.change_set import ChangeSet, NoteFileChange
from lorestudio.studio.notes.changes.log import ChangeLog
from lorestudio.studio.notes.changes.snapshots import Snapshots
from lorestudio.studio.notes.trash import Trash
from lorestudio.studio.project.files import write_bytes
from lorestudio.studio.project.problems import ProblemFinder
from lorestudio.studio.project.project import open_project
from lorestudio.systems.facts.store import FactStore, MemoryFileError
from lorestudio.systems.recap.chat_file import read_chat_file, write_chat_file
from lorestudio.systems.recap.queue import QueueState, save_queue
from lorestudio.vault.file_lock import FileLock
from lorestudio.vault.files import SaveError, VaultError, told_of_disk
from lorestudio.vault.writer import ChangedOnDisk
from tests.digests import digest

NOON = datetime(2024, 10, 5, 12, tzinfo=UTC)
PROFILE = Profile("P", url="http://localhost:1")
NOTE = "---\ntags: [lorebook]\nkeys: [lamp]\n---\nx\n"
LINES = '{"user_name": "U", "character_name": "C"}\n{"name": "C", "mes": "a"}\n'


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    folder.mkdir()
    (folder / "Lamp.md").write_text(NOTE, encoding="utf-8")
    return folder


def chat_to_save(path: Path) -> ChatToSave:
    path.write_text(LINES, encoding="utf-8")
    loaded = load_chat(path)
    return ChatToSave(loaded.document, loaded.chat, ChatControls())


# ---- the clock goes back --------------------------------------------------------------------------------------------


def test_the_history_is_whole_when_the_clock_goes_back(vault: Path, tmp_path: Path) -> None:
    times = iter([NOON, NOON - timedelta(days=400), NOON - timedelta(days=400), NOON, NOON])
    snapshots = Snapshots(tmp_path / "history", clock=lambda: next(times, NOON))
    note = vault / "Lamp.md"
    for text in ("one", "two", "three"):
        snapshots.save(note, text, digest(note))
    assert {snapshots.read(each) for each in snapshots.list(note)} == {NOTE, "one", "two"}
    snapshots.prune()
    assert "two" in {snapshots.read(each) for each in snapshots.list(note)}  # the newest is never thinned out


def test_the_trash_and_the_log_do_not_rest_on_the_clock(vault: Path, tmp_path: Path) -> None:
    times = iter(NOON - timedelta(days=day) for day in range(1000))
    log = ChangeLog(tmp_path / "log", [vault], clock=lambda: next(times))
    note = vault / "Lamp.md"
    log.apply(ChangeSet("Edit", (NoteFileChange(note, NOTE, "two"),)))
    log.apply(ChangeSet("Delete", (NoteFileChange(note, "two", None),)))
    assert log.titles == ("Delete", "Edit")
    log.undo()
    log.undo()
    assert note.read_text(encoding="utf-8") == NOTE


def test_a_file_of_the_future_is_no_left_over(tmp_path: Path) -> None:
    """Another window writes just now, by a clock that is ahead."""
    other = tmp_path / ".file.0123abcd.tmp"
    other.write_bytes(b"half")
    os.utime(other, (4e9, 4e9))
    write_atomically(tmp_path / "file", b"x")
    assert other.exists()


# ---- the folder is gone ---------------------------------------------------------------------------------------------


def test_a_vault_that_vanishes_is_told_and_its_notes_are_not_lost(vault: Path, tmp_path: Path) -> None:
    project = open_project([vault])
    log = ChangeLog(tmp_path / "log", [vault])
    before = digest(vault / "Lamp.md")
    shutil.rmtree(vault)
    assert ProblemFinder().find(project).failures
    with pytest.raises(VaultError, match="vault"):
        open_project([vault])
    with pytest.raises(ChangedOnDisk):
        log.snapshots.save(vault / "Lamp.md", "two", before)
    with pytest.raises(SaveError):
        log.apply(ChangeSet("Edit", (NoteFileChange(vault / "Lamp.md", NOTE, "two"),)))
    assert not vault.exists()  # nothing is made where a disk is missing


# ---- another program writes at the same moment ----------------------------------------------------------------------


def test_whoever_writes_while_we_write_is_not_overwritten(
    vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note, chat, host = vault / "Lamp.md", tmp_path / "Chat.jsonl", tmp_path / "settings.json"
    wanted, recaps = chat_to_save(chat), read_chat_file(chat)
    host.write_bytes(b"{}")
    writes: list[tuple[Path, Callable[[], object]]] = [
        (note, lambda: Snapshots(tmp_path / "history").save(note, "mine", digest(note))),
        (chat, lambda: save_chat(wanted, chat, None, NOON, overwrite=True)),
        (chat, lambda: write_chat_file(recaps, replace(recaps.chat, metadata={"mine": 1}))),
        (host, lambda: carry_out(change_of(host, b"{}", b'{"a": 1}'))),
    ]
    for path, write in writes:
        before = path.read_bytes()

        def theirs(_descriptor: int, path: Path = path) -> None:
            path.write_bytes(b"theirs")

        with monkeypatch.context() as patched:
            patched.setattr(os, "fsync", theirs)
            with pytest.raises((VaultError, InputError), match="changed"):
                write()
        assert path.read_bytes() == b"theirs"
        path.write_bytes(before)


def test_whoever_wrote_first_is_not_overwritten(vault: Path, tmp_path: Path) -> None:
    note, chat, host = vault / "Lamp.md", tmp_path / "Chat.jsonl", tmp_path / "settings.json"
    seen, wanted = digest(note), chat_to_save(chat)
    host.write_bytes(b"{}")
    change = change_of(host, b"{}", b'{"a": 1}')
    for path in (note, chat, host):
        path.write_text("theirs", encoding="utf-8")
    with pytest.raises(ChangedOnDisk):
        Snapshots(tmp_path / "history").save(note, "mine", seen)
    with pytest.raises(ChatChangedError):
        save_chat(wanted, chat, tmp_path / "kept", NOON)
    with pytest.raises(InputError, match="changed meanwhile"):
        carry_out(change, NOON)
    assert {path.read_text(encoding="utf-8") for path in (note, chat, host)} == {"theirs"}


# ---- nothing can be written -----------------------------------------------------------------------------------------

WRITERS: dict[str, tuple[Callable[[Path], object], type[Exception]]] = {
    "profiles": (lambda folder: save_profiles(folder / "p.json", [PROFILE]), SettingsError),
    "a result": (lambda folder: write_bytes(folder / "report.html", b"x"), InputError),
    "memories": (lambda folder: FactStore(folder / "new" / "memories.sqlite"), MemoryFileError),
    "the trash": (lambda folder: Trash(folder / "trash").put(folder, folder / "a.md", b"x"), SaveError),
    "the history": (
        lambda folder: Snapshots(folder / "history").save(
            folder / "vault" / "Lamp.md", "two", digest(folder / "vault" / "Lamp.md")
        ),
        SaveError,
    ),
    "a chat": (
        lambda folder: save_chat(chat_to_save(folder / "there.jsonl"), folder / "b.jsonl", None, NOON, elsewhere=True),
        InputError,
    ),
    "the version before": (lambda folder: keep_version(b"x", folder / "b.jsonl", folder / "kept", NOON), InputError),
    "a preset": (
        lambda folder: PresetFolder(folder / "presets").save(Preset("Dusk", ChatControls(), frozenset())),
        SettingsError,
    ),
    "a recap queue": (lambda folder: save_queue(folder / "b.recap-queue.json", QueueState(paused=True)), InputError),
    "a recording": (
        lambda folder: RecordedAnswers(folder / "r.jsonl").record(ChatRequest("a", "s", "u"), ChatReply("r")),
        OSError,
    ),
}


@pytest.mark.parametrize("code", [errno.EROFS, errno.ENOSPC, errno.EACCES])
@pytest.mark.parametrize("name", WRITERS)
def test_a_disk_that_takes_nothing_is_told(
    vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, code: int
) -> None:
    write, error = WRITERS[name]
    opened, real_open, made = os.open, builtins.open, os.mkdir
    (tmp_path / "there.jsonl").write_text(LINES, encoding="utf-8")

    def refuse(path: object, flags: int, *more: object, **named: object) -> int:
        if flags & os.O_CREAT and "there" not in str(path):
            raise OSError(code, os.strerror(code), str(path))
        return opened(path, flags, *more, **named)  # type: ignore[arg-type]

    def refused_open(file: object, mode: str = "r", *more: object, **named: object) -> object:
        if set(mode) & set("wxa+") and "there" not in str(file):
            raise OSError(code, os.strerror(code), str(file))
        return real_open(file, mode, *more, **named)  # type: ignore[call-overload]

    def no_folder(path: object, *more: object, **named: object) -> None:
        if not os.path.exists(str(path)):  # noqa: PTH110
            raise OSError(code, os.strerror(code), str(path))
        made(path, *more, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", refuse)
    monkeypatch.setattr(os, "mkdir", no_folder)
    monkeypatch.setattr("io.open", refused_open)
    with pytest.raises(error) as caught:
        write(tmp_path)
    monkeypatch.undo()
    assert os.strerror(code) in str(caught.value)
    assert name == "a recording" or re.search("Check|Look at|Make room", str(caught.value)), "it says what to do"
    assert not list(tmp_path.rglob("*.tmp"))
    assert (vault / "Lamp.md").read_text(encoding="utf-8") == NOTE


def test_a_lock_that_a_full_disk_did_not_let_be_written_is_let_go(
    vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else all of the studio's own work waits for it in vain, also when there is room again."""
    log = ChangeLog(tmp_path / "log", [vault])
    edit = ChangeSet("Edit", (NoteFileChange(vault / "Lamp.md", NOTE, "two"),))

    def full(*_more: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(os, "pwrite", full, raising=False)  # Windows has none
        with pytest.raises(SaveError, match="Make room"):
            log.apply(edit)
    assert FileLock(tmp_path / "log" / "lock").try_acquire()


@pytest.mark.parametrize("write", [write_atomically, append_line])
def test_a_disk_that_fills_up_while_a_file_is_written_names_that_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Callable[[Path, bytes], None]
) -> None:
    """`write` and `fsync` tell none; the command line took that for its own output, which could not be printed."""

    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left") as caught:
        write(tmp_path / "file", b"x")
    assert told_of_disk(caught.value).startswith(f"{tmp_path / 'file'}: No space left on device. Look whether")


@pytest.mark.parametrize(
    ("code", "advice"),
    [
        (errno.EACCES, "Check that you may read and write there, and try again."),
        (errno.EDQUOT, "Look whether your share of its disk has room, and try again."),
        (errno.EIO, "Look whether its disk and folder are there, and try again."),
        (errno.ELOOP, "It is a link that leads back to itself. Remove it, or name what it should lead to."),
        (errno.ENAMETOOLONG, "Give it, or the file that it is named after, a shorter one."),
        (errno.EROFS, "Choose a place that can be written, or make this one so."),
    ],
)
def test_what_the_disk_refuses_is_told_with_what_helps_against_it(code: int, advice: str) -> None:
    assert told_of_disk(OSError(code, os.strerror(code), "file")) == f"file: {os.strerror(code)}. {advice}"


def test_a_name_that_is_too_long_is_no_matter_of_permissions(tmp_path: Path) -> None:
    """Files beside a chat are named after it and longer, as that of what answers rest on."""
    told = "the file cannot be written: File name too long. Give it, or the file that it is named after, a shorter one."
    with pytest.raises(InputError, match=re.escape(told)):
        write_bytes(tmp_path / f"{'n' * 249}.lorestudio.json", b"x")
