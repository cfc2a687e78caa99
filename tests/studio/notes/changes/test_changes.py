from __future__ import annotations

import errno
import os
import random
import signal
import subprocess
import sys
import textwrap
import time
import tracemalloc
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lorestudio.domain.lifecycle import Cancelled
from lorestudio.domain.records import replace
from lorestudio.studio.notes.changes import log as changes
from lorestudio.studio.notes.changes.change_set import (
    ChangedMeanwhileError,
    ChangeSet,
    HistoryError,
    NameTakenError,
    NoteFileChange,
    RollBackError,
)
from lorestudio.studio.notes.changes.log import ChangeLog
from lorestudio.studio.notes.changes.plan import DiskStep
from lorestudio.vault.files import ChangedOnDisk, SaveError
from lorestudio.vault.writer import digest_of, read_note
from tests.digests import digest

START = datetime(2026, 3, 1, 12, tzinfo=UTC)


class Clock:
    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    folder.mkdir()
    (folder / "Skarn.md").write_bytes(b"\xef\xbb\xbf---\r\nkeys: [skarn]\r\n---\r\nA giant.\r\n")
    (folder / "Lamp.md").write_bytes("Ein Licht für [[Skarn]].\n".encode())
    (folder / "Tide.md").write_bytes(b"")
    return folder


@pytest.fixture
def log(tmp_path: Path, vault: Path) -> ChangeLog:
    return ChangeLog(tmp_path / "data", [vault], Clock())


def reopened(tmp_path: Path, vault: Path) -> ChangeLog:
    return ChangeLog(tmp_path / "data", [vault], Clock())


def files_in(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


def edit(path: Path, after: str) -> NoteFileChange:
    return NoteFileChange(path, read_note(path)[0], after)


def move(path: Path, target: Path, after: str | None = None) -> NoteFileChange:
    text, _ = read_note(path)
    return NoteFileChange(path, text, text if after is None else after, target)


def trash(path: Path) -> NoteFileChange:
    return NoteFileChange(path, read_note(path)[0], None)


def rename_set(vault: Path) -> ChangeSet:
    return ChangeSet(
        "Rename Skarn to Skarn the Grey",
        (
            move(vault / "Skarn.md", vault / "giants" / "old" / "Skarn the Grey.md"),
            edit(vault / "Lamp.md", "Ein Licht für [[Skarn the Grey]].\n"),
            NoteFileChange(vault / "New.md", None, "new"),
            trash(vault / "Tide.md"),
        ),
    )


def test_a_set_of_everything_and_back(log: ChangeLog, vault: Path) -> None:
    before = files_in(vault)
    skarn = before["Skarn.md"]
    wanted = rename_set(vault)
    inverse = log.apply(wanted)
    after = files_in(vault)
    assert after == {
        "Lamp.md": "Ein Licht für [[Skarn the Grey]].\n".encode(),
        "New.md": b"new",
        "giants/old/Skarn the Grey.md": skarn,
    }
    assert (log.can_undo, log.undo_title) == (True, "Rename Skarn to Skarn the Grey")
    assert not log.can_redo
    assert inverse.inverse == wanted
    assert log.undo() == inverse
    assert files_in(vault) == before
    assert not (vault / "giants").exists()  # a folder that was made goes with it
    assert (log.can_undo, log.can_redo, log.redo_title) == (False, True, "Rename Skarn to Skarn the Grey")
    log.redo()
    assert files_in(vault) == after
    log.apply(log.undo().inverse)  # the returned sets are what happened
    assert files_in(vault) == after


def test_applying_the_inverse_undoes(log: ChangeLog, vault: Path) -> None:
    before = files_in(vault)
    log.apply(log.apply(rename_set(vault)))
    assert files_in(vault) == before
    assert log.titles == ("Rename Skarn to Skarn the Grey",) * 2


def test_the_log_survives_a_restart(log: ChangeLog, tmp_path: Path, vault: Path) -> None:
    before = files_in(vault)
    log.apply(ChangeSet("first", (edit(vault / "Lamp.md", "1"),)))
    middle = files_in(vault)
    log.apply(rename_set(vault))
    after = files_in(vault)
    again = reopened(tmp_path, vault)
    assert again.titles == ("Rename Skarn to Skarn the Grey", "first")
    again.undo()
    assert files_in(vault) == middle
    third = reopened(tmp_path, vault)
    assert (third.undo_title, third.redo_title) == ("first", "Rename Skarn to Skarn the Grey")
    third.undo()
    assert files_in(vault) == before
    third.redo()
    third.redo()
    assert files_in(vault) == after


def test_two_studios_share_one_log(log: ChangeLog, tmp_path: Path, vault: Path) -> None:
    other = reopened(tmp_path, vault)
    log.apply(ChangeSet("mine", (edit(vault / "Lamp.md", "1"),)))
    assert not other.can_undo
    other.refresh()
    assert other.undo_title == "mine"
    other.undo()
    with pytest.raises(SaveError, match="nothing to undo"):
        log.undo()
    assert log.redo_title == "mine"


def test_a_file_with_two_names_is_written_once(log: ChangeLog, vault: Path) -> None:
    lamp, link = vault / "Lamp.md", vault / "Link.md"
    link.symlink_to("Lamp.md")
    before = files_in(vault)
    log.apply(ChangeSet("both", (edit(link, "1"), edit(lamp, "1"))))
    assert (lamp.read_bytes(), link.is_symlink()) == (b"1", True)
    log.undo()
    assert (files_in(vault), link.is_symlink()) == (before, True)
    with pytest.raises(SaveError, match="are one file by two names, and would get different texts"):
        log.apply(ChangeSet("both", (edit(link, "1"), edit(lamp, "2"))))
    assert files_in(vault) == before


def test_only_the_step_that_was_shown_is_undone(log: ChangeLog, tmp_path: Path, vault: Path) -> None:
    log.apply(ChangeSet("first", (edit(vault / "Lamp.md", "1"),)))
    other = reopened(tmp_path, vault)
    log.apply(rename_set(vault))
    after = files_in(vault)
    with pytest.raises(SaveError, match=r"“first” was not undone: .* “Rename Skarn to Skarn the Grey”; undo again"):
        other.undo()
    assert files_in(vault) == after
    assert other.undo_title == "Rename Skarn to Skarn the Grey"
    other.undo()
    log.refresh()
    other.undo()
    before = files_in(vault)
    with pytest.raises(SaveError, match=r"“Rename .* was not done again: .* “first”; try again"):
        log.redo()
    assert files_in(vault) == before


def test_a_new_change_ends_what_could_be_redone(log: ChangeLog, tmp_path: Path, vault: Path) -> None:
    log.apply(ChangeSet("first", (edit(vault / "Lamp.md", "1"),)))
    log.undo()
    log.apply(ChangeSet("second", (edit(vault / "Lamp.md", "2"),)))
    for one in (log, reopened(tmp_path, vault)):
        assert (one.titles, one.can_redo) == (("second",), False)
    with pytest.raises(SaveError, match="nothing to do again"):
        log.redo()


def test_steps_of_other_vaults_stay_out_of_sight(log: ChangeLog, tmp_path: Path, vault: Path) -> None:
    log.apply(ChangeSet("here", (edit(vault / "Lamp.md", "1"),)))
    elsewhere = tmp_path / "other"
    elsewhere.mkdir()
    other = ChangeLog(tmp_path / "data", [elsewhere], Clock())
    assert not other.can_undo
    other.apply(ChangeSet("there", (NoteFileChange(elsewhere / "a.md", None, "a"),)))
    log.refresh()
    assert log.titles == ("here",)
    assert ChangeLog(tmp_path / "data", [vault, elsewhere]).titles == ("there", "here")


def test_changes_that_change_nothing_leave_no_step(log: ChangeLog, vault: Path) -> None:
    assert log.apply(ChangeSet("nothing", (edit(vault / "Tide.md", ""),))).changes == ()
    assert not log.can_undo


@pytest.mark.parametrize(
    ("happens", "words"),
    [
        (lambda path: path.write_bytes(b"somebody else"), "“Lamp.md” has changed on disk"),
        (lambda path: path.unlink(), "“Lamp.md” has been deleted"),
    ],
)
def test_a_file_that_is_not_as_expected_stops_all(
    log: ChangeLog, vault: Path, happens: Callable[[Path], object], words: str
) -> None:
    wanted = rename_set(vault)
    happens(vault / "Lamp.md")
    before = files_in(vault)
    with pytest.raises(ChangedMeanwhileError, match=words) as caught:
        log.apply(wanted)
    assert caught.value.path == vault / "Lamp.md"
    assert caught.value.paths == (vault / "Lamp.md",)
    assert caught.value.others == (vault / "Skarn.md", vault / "New.md", vault / "Tide.md")
    assert "nothing was changed" in str(caught.value)
    assert files_in(vault) == before
    assert not (vault / "giants").exists()
    assert not log.can_undo


def test_targets_that_exist_are_refused(log: ChangeLog, vault: Path) -> None:
    before = files_in(vault)
    for change in (move(vault / "Skarn.md", vault / "Lamp.md"), NoteFileChange(vault / "Lamp.md", None, "new")):
        with pytest.raises(ChangedOnDisk, match=r"“Lamp.md” exists already"):
            log.apply(ChangeSet("take a name", (change,)))
    assert files_in(vault) == before


def test_every_wrong_file_is_named_at_once(log: ChangeLog, vault: Path) -> None:
    wanted = rename_set(vault)
    (vault / "Lamp.md").write_bytes(b"x")
    (vault / "New.md").write_bytes(b"y")
    with pytest.raises(ChangedMeanwhileError, match="1 more of its files") as caught:
        log.apply(wanted)
    assert set(caught.value.paths) == {vault / "Lamp.md", vault / "New.md"}
    assert set(caught.value.others) == {vault / "Skarn.md", vault / "Tide.md"}


@pytest.mark.parametrize("target", ["../outside.md", "sub/../../outside.md", "/outside.md"])
def test_nothing_outside_the_vault(log: ChangeLog, vault: Path, target: str) -> None:
    before = files_in(vault)
    with pytest.raises(SaveError, match="outside the open vaults"):
        log.apply(ChangeSet("flee", (move(vault / "Lamp.md", vault / target),)))
    with pytest.raises(SaveError, match="outside the open vaults"):
        log.apply(ChangeSet("flee", (NoteFileChange(vault / target, None, "x"),)))
    assert files_in(vault) == before
    assert files_in(vault.parent).keys() == {f"vault/{name}" for name in before} | {"data/lock"}


def test_a_vault_that_is_not_there(log: ChangeLog, vault: Path) -> None:
    wanted = ChangeSet("make", (NoteFileChange(vault / "a.md", None, "x"),))
    vault.rename(vault.with_name("elsewhere"))
    with pytest.raises(SaveError, match=r"vault's folder .* is not there"):
        log.apply(wanted)
    assert not vault.exists()


def test_undo_where_the_folder_vanished(log: ChangeLog, vault: Path) -> None:
    sub = vault / "sub"
    sub.mkdir()
    (sub / "a.md").write_bytes(b"a")
    log.apply(ChangeSet("delete a", (trash(sub / "a.md"),)))
    sub.rmdir()
    log.undo()
    assert (sub / "a.md").read_bytes() == b"a"
    log.apply(ChangeSet("edit a", (edit(sub / "a.md", "b"),)))
    (sub / "a.md").unlink()
    sub.rmdir()
    with pytest.raises(ChangedMeanwhileError, match="deleted, moved or renamed"):
        log.undo()
    assert not sub.exists()


def test_folders_that_become_empty_stay(log: ChangeLog, vault: Path) -> None:
    (vault / "sub").mkdir()
    (vault / "sub" / "a.md").write_bytes(b"a")
    log.apply(ChangeSet("move", (move(vault / "sub" / "a.md", vault / "a.md"),)))
    assert (vault / "sub").is_dir()
    log.undo()
    assert (vault / "sub" / "a.md").read_bytes() == b"a"


def test_a_folder_in_use_is_not_removed_by_undo(log: ChangeLog, vault: Path) -> None:
    log.apply(rename_set(vault))
    (vault / "giants" / "mine.txt").write_bytes(b"x")
    log.undo()
    assert files_in(vault / "giants") == {"mine.txt": b"x"}
    assert not (vault / "giants" / "old").exists()


def test_notes_trade_names_and_move_up(log: ChangeLog, vault: Path) -> None:
    before = files_in(vault)
    lamp, skarn, tide = (vault / f"{name}.md" for name in ("Lamp", "Skarn", "Tide"))
    log.apply(ChangeSet("trade", (move(lamp, skarn), move(skarn, lamp, "changed"))))
    assert (skarn.read_bytes(), lamp.read_bytes()) == (before["Lamp.md"], b"changed")
    log.undo()
    assert files_in(vault) == before
    log.apply(ChangeSet("chain", (move(lamp, skarn), move(skarn, vault / "Third.md"))))
    assert files_in(vault) == {"Skarn.md": before["Lamp.md"], "Third.md": before["Skarn.md"], "Tide.md": b""}
    log.undo()
    assert files_in(vault) == before
    log.apply(ChangeSet("replace", (trash(skarn), move(lamp, skarn), NoteFileChange(lamp, None, "a new lamp"))))
    assert files_in(vault) == {"Lamp.md": b"a new lamp", "Skarn.md": before["Lamp.md"], "Tide.md": b""}
    assert [item.path for item in log.trash.list()] == [skarn]
    log.undo()
    assert files_in(vault) == before
    assert [item.path for item in log.trash.list()] == [lamp]  # undoing its making put the new lamp there
    assert tide.exists()


def test_every_text_is_somewhere_in_the_vault_at_any_moment(log: ChangeLog, vault: Path) -> None:
    """Seen from outside, as by a program that copies the vault: only notes for the trash go, and they are in it."""
    lamp, skarn = vault / "Lamp.md", vault / "Skarn.md"
    texts = {path.read_bytes() for path in (lamp, skarn)}
    seen: list[bool] = []

    def report(_done: int, _total: int) -> None:
        seen.append(texts <= set(files_in(vault).values()))

    log.apply(ChangeSet("chain", (move(lamp, skarn), move(skarn, vault / "sub" / "Third.md"))), report)
    assert seen == [True] * 4


def test_one_path_twice_is_refused(log: ChangeLog, vault: Path) -> None:
    before = files_in(vault)
    lamp = vault / "Lamp.md"
    sets = [
        (edit(lamp, "1"), edit(lamp, "2")),
        (move(lamp, vault / "x.md"), move(vault / "Tide.md", vault / "x.md")),
        (NoteFileChange(lamp, None, None),),
        (NoteFileChange(lamp, None, "x", vault / "x.md"),),
    ]
    for one in sets:
        with pytest.raises(SaveError):
            log.apply(ChangeSet("twice", one))
    assert files_in(vault) == before


@pytest.mark.parametrize("home", [None, Path("/vault")])
@pytest.mark.parametrize("target", [None, Path("/vault/b.json")])
def test_what_undoes_a_change_is_undone_by_it(target: Path | None, home: Path | None) -> None:
    change = NoteFileChange(Path("/vault/a.json"), b"before", b"after", target, home)
    undone = change.inverse
    assert (undone.old, undone.new, undone.home, undone.place) == (b"after", b"before", home, change.path)
    assert undone.inverse == change


@pytest.mark.parametrize("half", [0xD83D, 0xDC09, 0xD800, 0xDFFF])
def test_half_a_character(log: ChangeLog, vault: Path, half: int) -> None:
    bad = edit(vault / "Lamp.md", f"a\n{chr(half)}")
    for change in (bad, bad.inverse):
        with pytest.raises(SaveError, match="line 2 contains half of a character"):
            log.apply(ChangeSet("bad", (change,)))


def test_another_programs_file_may_hold_any_bytes(log: ChangeLog, vault: Path, tmp_path: Path) -> None:
    path, before, after = tmp_path / "Book.json", b"\xef\xbb\xbf\xe9\r\n\xed\xa0\x80\xff", b"\xed\xb0\x80\0"
    path.write_bytes(before)
    log.apply(ChangeSet("sync", (NoteFileChange(path, before, after, home=vault),)))
    assert path.read_bytes() == after
    log.undo()
    assert path.read_bytes() == before


def test_a_log_about_a_lorebook_leaves_the_others_of_its_folder_alone(tmp_path: Path) -> None:
    """What is new in the folder belongs to it, as what is expected of it does; to a folder alone belongs all of it."""
    other, new = tmp_path / "Other.json", tmp_path / "New.json"
    other.write_bytes(b"{}")
    for path, before, expected in ((other, b"{}", [False, True]), (new, None, [True, True])):
        log = ChangeLog(tmp_path / "log", [tmp_path])
        log.apply(ChangeSet("sync", (NoteFileChange(path, before, b"[]", home=tmp_path),)))
        of = ((tmp_path / "Book.json", tmp_path), (tmp_path,))
        assert [ChangeLog(tmp_path / "log", [tmp_path], about=about).can_undo for about in of] == expected


def test_a_text_with_an_emoji_is_held_in_its_bytes(log: ChangeLog, vault: Path) -> None:
    path, size = vault / "Dragons.md", 2_000_000
    tracemalloc.start()
    changes = ChangeSet(
        "make", (NoteFileChange(path, None, random.Random(0).randbytes(size // 2).hex() + "\U0001f409"),)
    )
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    log.apply(changes)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert held < 1.2 * size
    assert peak < 1.5 * size
    assert path.read_text("utf-8") == changes.changes[0].after


def test_permissions_stay(log: ChangeLog, vault: Path) -> None:
    (vault / "Lamp.md").chmod(0o640)
    log.apply(ChangeSet("move", (move(vault / "Lamp.md", vault / "x" / "Lamp.md", "changed"),)))
    assert (vault / "x" / "Lamp.md").stat().st_mode & 0o777 == 0o640


def fail_on(monkeypatch: pytest.MonkeyPatch, name: str, number: int, *, also_later: bool = False) -> None:
    """Let writing to the disk fail for files in the vault once a file called `name` is to be replaced or made."""
    real_replace, real_link, failing = Path.replace, os.link, []

    def check(target: Path) -> None:
        if Path(target).name == name or (also_later and failing and "vault" in Path(target).parts):
            failing.append(target)
            raise OSError(number, os.strerror(number))

    def replace(self: Path, target: Path) -> Path:
        check(target)
        return real_replace(self, target)

    def link(source: Path, target: Path, **options: bool) -> None:
        check(target)
        real_link(source, target, **options)

    monkeypatch.setattr(Path, "replace", replace)
    monkeypatch.setattr(os, "link", link)


@pytest.mark.parametrize(
    ("number", "words"),
    [(errno.ENOSPC, "disk is full"), (errno.EROFS, "read-only"), (errno.EACCES, "may not write here")],
)
@pytest.mark.parametrize("name", ["Skarn the Grey.md", "Lamp.md", "New.md"])
def test_failure_in_the_middle_is_rolled_back(
    log: ChangeLog, tmp_path: Path, vault: Path, monkeypatch: pytest.MonkeyPatch, number: int, words: str, name: str
) -> None:
    before = files_in(vault)
    wanted = rename_set(vault)
    with monkeypatch.context() as patch:
        fail_on(patch, name, number)
        with pytest.raises(SaveError, match=words) as caught:
            log.apply(wanted)
    message = str(caught.value)
    assert f"“{name}”" in message
    assert "everything is as it was" in message
    assert files_in(vault) == before
    assert not (vault / "giants").exists()
    assert log.trash.list() == ()
    assert not log.can_undo
    assert reopened(tmp_path, vault).mend_interrupted() == ()
    log.apply(wanted)  # and now it works
    assert (vault / "New.md").exists()


def test_folders_of_notes_that_were_being_written_when_it_was_stopped_go_with_them(
    log: ChangeLog, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, attempt = files_in(vault), changes._attempt

    def stopped(action: DiskStep) -> Exception | None:
        attempt(action)
        return stop() if action.paths else None

    monkeypatch.setattr(changes, "_attempt", stopped)
    new = vault / "giants" / "old" / "New.md"
    with pytest.raises(KeyboardInterrupt):
        log.apply(ChangeSet("new", (NoteFileChange(new, None, "x"), edit(vault / "Lamp.md", "1"))))
    assert (files_in(vault), (vault / "giants").exists()) == (before, False)


def test_many_notes_at_once_all_go_back(log: ChangeLog, vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(30):
        (vault / f"{number}.md").write_bytes(b"%d" % number)
    before = files_in(vault)
    wanted = ChangeSet("batch", tuple(edit(path, "new") for path in sorted(vault.glob("*.md"))))
    with monkeypatch.context() as patch:
        fail_on(patch, "17.md", errno.ENOSPC)
        with pytest.raises(SaveError, match=r"“17\.md” was not saved"):
            log.apply(wanted)
    assert files_in(vault) == before
    log.apply(wanted)
    assert set(files_in(vault).values()) == {b"new"}
    log.undo()
    assert files_in(vault) == before


def test_deleting_fails_after_all_else_was_done(log: ChangeLog, vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = files_in(vault)
    wanted = rename_set(vault)
    real = Path.unlink

    def unlink(self: Path, missing_ok: bool = False) -> None:
        if self.name == "Tide.md":
            raise PermissionError(errno.EPERM, "Operation not permitted")
        real(self, missing_ok=missing_ok)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", unlink)
        with pytest.raises(SaveError, match=r"“Tide.md” was not deleted"):
            log.apply(wanted)
    assert files_in(vault) == before
    assert log.trash.list() == ()


def test_rolling_back_fails_and_the_next_start_mends(
    log: ChangeLog, tmp_path: Path, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = files_in(vault)
    wanted = rename_set(vault)
    with monkeypatch.context() as patch:
        fail_on(patch, "New.md", errno.EROFS, also_later=True)
        with pytest.raises(RollBackError) as caught:
            log.apply(wanted)
    assert files_in(vault) != before
    place = log.snapshots.blobs.place(digest_of(before["Skarn.md"]))
    assert str(place) in str(caught.value)
    assert place.is_file()
    (told,) = reopened(tmp_path, vault).mend_interrupted()
    assert "was taken back" in told
    assert files_in(vault) == before
    assert not (vault / "giants").exists()
    assert reopened(tmp_path, vault).mend_interrupted() == ()


def test_what_a_full_disk_leaves_half_done_is_taken_back_once_there_is_room(
    log: ChangeLog, tmp_path: Path, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, wanted = files_in(vault), rename_set(vault)
    assert log.half_done == ""
    with monkeypatch.context() as patch:
        fail_on(patch, "New.md", errno.ENOSPC, also_later=True)
        with pytest.raises(RollBackError, match=r"Make room on the disk.*before the next change"):
            log.apply(wanted)
        half = files_in(vault)
        for again in (log, reopened(tmp_path, vault)):
            assert again.half_done == wanted.title
            (told,) = again.mend_interrupted()  # it is still full
            assert "cannot be taken back yet" in told
            assert "Make room" in told
            assert files_in(vault) == half
    (told,) = log.mend_interrupted()
    assert "was taken back" in told
    assert files_in(vault) == before
    assert log.half_done == ""
    assert log.mend_interrupted() == ()


def test_what_nobody_can_take_back_is_named_once(
    log: ChangeLog, tmp_path: Path, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = files_in(vault)
    with monkeypatch.context() as patch:
        fail_on(patch, "New.md", errno.ENOSPC, also_later=True)
        with pytest.raises(RollBackError):
            log.apply(rename_set(vault))
    log.snapshots.blobs.place(digest_of(before["Skarn.md"])).unlink()
    (told,) = log.mend_interrupted()
    assert "not all of it could be taken back" in told
    assert log.half_done == ""


def test_mending_leaves_foreign_text_alone(
    log: ChangeLog, tmp_path: Path, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = files_in(vault)
    with monkeypatch.context() as patch:
        stop_without_taking_back(patch, log)
        with pytest.raises(KeyboardInterrupt):
            log.apply(ChangeSet("two", (edit(vault / "Lamp.md", "1"), edit(vault / "Tide.md", "2"))))
    (vault / "Tide.md").write_bytes(b"somebody else")
    (told,) = reopened(tmp_path, vault).mend_interrupted()
    assert str(vault / "Tide.md") in told
    assert "somebody else meanwhile" in told
    assert files_in(vault) == before | {"Tide.md": b"somebody else"}
    assert reopened(tmp_path, vault).mend_interrupted() == ()


def stop(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def stop_without_taking_back(monkeypatch: pytest.MonkeyPatch, log: ChangeLog) -> None:
    """As if the process was killed between the last file and the line that says so."""
    monkeypatch.setattr(log._journal, "end", stop)
    monkeypatch.setattr("lorestudio.studio.notes.changes.log._take_back", lambda _done: None)
    monkeypatch.setattr("lorestudio.studio.notes.changes.log.mend", stop)


def test_an_end_that_was_not_written_down_is_understood(
    log: ChangeLog, tmp_path: Path, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = files_in(vault)
    log.apply(rename_set(vault))
    after = files_in(vault)
    file = tmp_path / "data" / "changes.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:-1]))  # killed between the last file and the line about it
    again = reopened(tmp_path, vault)
    assert not again.can_undo
    (told,) = again.mend_interrupted()
    assert "was finished" in told
    assert files_in(vault) == after
    again.undo()
    assert files_in(vault) == before


def test_a_log_that_cannot_be_written_leaves_the_vault_alone(
    log: ChangeLog, tmp_path: Path, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = files_in(vault)
    real = log._journal.end

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    for method in ("begin", "end"):
        with monkeypatch.context() as patch:
            patch.setattr(log._journal, method, full)
            with pytest.raises(HistoryError, match=r"Nothing was changed.*No space left"):
                log.apply(rename_set(vault))
        assert files_in(vault) == before
    assert log._journal.end == real
    assert log.snapshots.list(vault / "Skarn.md")[0].path == vault / "Skarn.md"  # its history has not gone away
    (told,) = reopened(tmp_path, vault).mend_interrupted()
    assert "was taken back" in told


def test_a_history_that_cannot_be_kept_leaves_the_vault_alone(
    log: ChangeLog, tmp_path: Path, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = files_in(vault)
    wanted = rename_set(vault)
    real = os.fsync

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(HistoryError, match=r"could not be kept .*No space left on device"):
        log.apply(wanted)
    monkeypatch.setattr(os, "fsync", real)
    assert files_in(vault) == before


def test_cancelling_takes_everything_back(log: ChangeLog, vault: Path) -> None:
    before = files_in(vault)
    seen: list[tuple[int, int]] = []

    def report(done: int, total: int) -> None:
        seen.append((done, total))
        if done == total - 1:
            raise Cancelled

    with pytest.raises(Cancelled):
        log.apply(rename_set(vault), report)
    assert seen == [(done, 10) for done in range(4, 10)]  # behind four texts: two folders, three texts, one deletion
    assert files_in(vault) == before
    assert not log.can_undo


def test_many_changes_can_be_stopped_before_anything_is_written(log: ChangeLog, tmp_path: Path, vault: Path) -> None:
    before, seen = files_in(vault), list[int]()
    wanted = ChangeSet("many", tuple(NoteFileChange(vault / f"{n}.md", None, f"Text {n}.") for n in range(200)))

    def stop_at(least: int) -> Callable[[int, int], None]:
        def report(done: int, _total: int) -> None:
            seen.append(done)
            if done >= least:
                raise Cancelled

        return report

    for least in (0, 1, 200):
        seen.clear()
        with pytest.raises(Cancelled):
            log.apply(wanted, stop_at(least))
        assert files_in(vault) == before
        assert not log.can_undo
    assert seen == sorted(seen)
    assert len([done for done in seen if done == 0]) > 6, "while files are compared"
    assert len([done for done in seen if 0 < done < 200]) == 3, "while texts are kept"
    log.apply(wanted, lambda _done, _total: None)
    assert len(files_in(vault)) == len(before) + 200


def test_somebody_writes_in_the_middle(log: ChangeLog, vault: Path) -> None:
    """A file that was not touched yet is changed after it was compared: nothing is overwritten, all goes back."""
    before = files_in(vault)

    def report(done: int, total: int) -> None:
        if done == 2:  # both texts are kept
            (vault / "Lamp.md").write_bytes(b"somebody else")

    wanted = ChangeSet("two", (edit(vault / "Tide.md", "1"), edit(vault / "Lamp.md", "2")))
    with pytest.raises(ChangedMeanwhileError) as caught:
        log.apply(wanted, report)
    assert caught.value.path == vault / "Lamp.md"
    assert files_in(vault) == before | {"Lamp.md": b"somebody else"}


def test_undo_refuses_what_was_changed_and_takes_the_rest(log: ChangeLog, tmp_path: Path, vault: Path) -> None:
    before = files_in(vault)
    log.apply(rename_set(vault))
    lamp = vault / "Lamp.md"
    lamp.write_bytes(b"edited in another program")
    after = files_in(vault)
    with pytest.raises(ChangedMeanwhileError, match=r"“Lamp.md” has changed on disk") as caught:
        log.undo()
    assert caught.value.paths == (lamp,)
    assert files_in(vault) == after
    assert log.can_undo
    log.undo(only=caught.value.others)
    rest = {"Skarn.md": before["Skarn.md"], "Tide.md": b"", "Lamp.md": b"edited in another program"}
    assert files_in(vault) == rest
    again = reopened(tmp_path, vault)
    again.redo()  # the same three files, the fourth stays
    assert files_in(vault) == after
    again.undo()
    assert files_in(vault) == rest


def test_what_was_written_into_other_lines_since_stays_when_a_step_is_undone_and_redone(
    log: ChangeLog, vault: Path
) -> None:
    lamp, light = vault / "Lamp.md", vault / "lights" / "Light.md"
    lamp.write_bytes(b"\xef\xbb\xbf# Lamp\r\n\r\nIt burns.\r\n")
    log.apply(ChangeSet("rename", (replace(edit(lamp, "\ufeff# Light\r\n\r\nIt burns.\r\n"), new_path=light),)))
    light.write_bytes(light.read_bytes() + b"Day and night.\r\n")
    log.undo()
    assert files_in(vault)["Lamp.md"] == b"\xef\xbb\xbf# Lamp\r\n\r\nIt burns.\r\nDay and night.\r\n"
    lamp.write_bytes(lamp.read_bytes().replace(b"night", b"dusk"))
    log.redo()
    assert not lamp.exists()
    assert light.read_bytes() == b"\xef\xbb\xbf# Light\r\n\r\nIt burns.\r\nDay and dusk.\r\n"
    assert log.can_undo


@pytest.mark.parametrize(("name", "since"), [("Lamp.canvas", b"A\n\n\nc\n"), ("Lamp.md", b"\xff\n\n\nc\n")])
def test_lines_of_what_is_no_note_or_no_text_are_not_brought_together(
    log: ChangeLog, vault: Path, name: str, since: bytes
) -> None:
    file = vault / name
    file.write_bytes(b"a\n\n\nb\n")
    log.apply(ChangeSet("edit", (edit(file, "a\n\n\nc\n"),)))
    file.write_bytes(since)
    with pytest.raises(ChangedMeanwhileError):
        log.undo()
    assert file.read_bytes() == since


def test_undoing_one_of_two_deletions_leaves_the_other_in_the_trash(log: ChangeLog, vault: Path) -> None:
    log.apply(ChangeSet("delete", (trash(vault / "Lamp.md"), trash(vault / "Tide.md"))))
    log.undo(only=[vault / "Tide.md"])
    assert [item.filename for item in log.trash.list()] == ["Lamp.md"]
    log.redo()
    with pytest.raises(SaveError, match="none of the chosen files"):
        log.undo(only=[vault / "Skarn.md"])


def test_redo_refuses_too(log: ChangeLog, vault: Path) -> None:
    log.apply(ChangeSet("edit", (edit(vault / "Lamp.md", "1"),)))
    log.undo()
    (vault / "Lamp.md").write_bytes(b"somebody else")
    with pytest.raises(ChangedMeanwhileError):
        log.redo()
    assert log.can_redo


def test_damaged_lines_are_told_and_skipped(log: ChangeLog, tmp_path: Path, vault: Path) -> None:
    log.apply(ChangeSet("first", (edit(vault / "Lamp.md", "1"),)))
    file = tmp_path / "data" / "changes.jsonl"
    with file.open("ab") as stream:
        stream.write(b'{"op":"begin","run":7}\n[1]\n{"op":"beg')  # strange, strange, and cut off by a crash
    again = reopened(tmp_path, vault)
    assert again.titles == ("first",)
    assert len(again.problems) == 3
    assert all(str(file) in problem for problem in again.problems)
    assert {number for number in (3, 4, 5) if any(f"line {number} " in one for one in again.problems)} == {3, 4, 5}
    again.apply(ChangeSet("second", (edit(vault / "Lamp.md", "2"),)))
    third = reopened(tmp_path, vault)
    assert third.titles == ("second", "first")
    third.undo()
    third.undo()
    assert (vault / "Lamp.md").read_bytes() == "Ein Licht für [[Skarn]].\n".encode()


def test_a_lost_text_is_told(log: ChangeLog, vault: Path) -> None:
    found = digest(vault / "Lamp.md")
    log.apply(ChangeSet("edit", (edit(vault / "Lamp.md", "1"),)))
    log.snapshots.blobs.place(found).unlink()
    with pytest.raises(OSError, match=r"The kept text is gone: .*\.gz"):
        log.undo()
    assert (vault / "Lamp.md").read_bytes() == b"1"


def test_deleted_notes_are_restored(log: ChangeLog, vault: Path) -> None:
    lamp = vault / "Lamp.md"
    before = lamp.read_bytes()
    log.apply(ChangeSet("Delete Lamp", (trash(lamp),)))
    (item,) = log.trash.list(vault)
    lamp.write_bytes(b"another lamp")
    (vault / "Lamp (2).md").write_bytes(b"and another")
    with pytest.raises(NameTakenError) as caught:
        log.restore(item)
    assert caught.value.offer == vault / "Lamp (3).md"
    assert log.restore(item, caught.value.offer) == vault / "Lamp (3).md"
    assert (vault / "Lamp (3).md").read_bytes() == before
    assert lamp.read_bytes() == b"another lamp"
    assert log.trash.list() == ()
    assert log.undo_title == "Put Lamp back"
    log.undo()
    assert [one.filename for one in log.trash.list()] == ["Lamp (3).md"]


def test_moves_carry_the_history_along_and_undo_brings_it_back(log: ChangeLog, vault: Path) -> None:
    lamp, new = vault / "Lamp.md", vault / "sub" / "Lantern.md"
    log.apply(ChangeSet("edit", (edit(lamp, "1"),)))
    log.apply(ChangeSet("rename", (move(lamp, new, "2"),)))
    assert [one.reason for one in log.snapshots.list(new)] == ["before “rename”", "before “edit”"]
    assert log.snapshots.list(lamp) == ()
    assert log.snapshots.moved_to(lamp) == new
    log.undo()
    reasons = ["before undoing “rename”", "before “rename”", "before “edit”"]
    assert [one.reason for one in log.snapshots.list(lamp)] == reasons
    assert log.snapshots.list(new) == ()


def test_links_stay_links(log: ChangeLog, tmp_path: Path, vault: Path) -> None:
    real = tmp_path / "real.md"
    real.write_bytes(b"real")
    link = vault / "Link.md"
    link.symlink_to("../real.md")
    log.apply(ChangeSet("move", (move(link, vault / "sub" / "Link.md"),)))
    moved = vault / "sub" / "Link.md"
    assert moved.is_symlink()
    assert moved.read_bytes() == b"real"
    log.apply(ChangeSet("edit", (edit(moved, "changed"),)))
    assert real.read_bytes() == b"changed"
    log.apply(ChangeSet("rename", (move(moved, vault / "New.md", "renamed"),)))
    assert (vault / "New.md").is_symlink()
    assert (real.read_bytes(), os.path.lexists(moved)) == (b"renamed", False)
    for _ in range(3):
        log.undo()
    assert link.is_symlink()
    assert (link.read_bytes(), real.read_bytes()) == (b"real", b"real")


def test_tidying_keeps_what_can_be_undone(
    log: ChangeLog, tmp_path: Path, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "KEPT_STEPS", 4)
    tide = vault / "Tide.md"
    for number in range(7):
        log.apply(ChangeSet(f"edit {number}", (edit(tide, str(number)),)))
    log.undo()
    size = (tmp_path / "data" / "changes.jsonl").stat().st_size
    log.tidy()
    assert (tmp_path / "data" / "changes.jsonl").stat().st_size < size
    for again in (log, reopened(tmp_path, vault)):
        assert again.titles == ("edit 5", "edit 4", "edit 3")
        assert again.redo_title == "edit 6"
    again.redo()
    for _ in range(4):
        again.undo()
    assert tide.read_bytes() == b"2"
    assert not again.can_undo


def test_a_change_of_case_alone_where_the_disk_does_not_tell_cases_apart(
    log: ChangeLog, tmp_path: Path, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forget_case(monkeypatch)
    before = files_in(vault)
    with pytest.raises(ChangedMeanwhileError, match="exists already"):
        log.apply(ChangeSet("make", (NoteFileChange(vault / "LAMP.md", None, "x"),)))
    with pytest.raises(ChangedMeanwhileError, match="exists already"):
        log.apply(ChangeSet("move", (move(vault / "Tide.md", vault / "LAMP.md"),)))
    for text in (None, "LAMP"):
        log.apply(ChangeSet("shout", (move(vault / "Lamp.md", vault / "LAMP.md", text),)))
        renamed = {"LAMP.md" if name == "Lamp.md" else name: data for name, data in before.items()}
        after = renamed if text is None else renamed | {"LAMP.md": text.encode()}
        assert files_in(vault) == after
        assert log.snapshots.moved_to(vault / "Lamp.md") == vault / "LAMP.md"
        log.undo()
        assert files_in(vault) == before
    two = ChangeSet("two", (move(vault / "Lamp.md", vault / "LAMP.md", "x"), edit(vault / "Tide.md", "2")))
    with monkeypatch.context() as patch:
        stop_without_taking_back(patch, log)
        with pytest.raises(KeyboardInterrupt):
            log.apply(two)
    (vault / "Tide.md").write_bytes(b"")
    (told,) = reopened(tmp_path, vault).mend_interrupted()
    assert "was taken back" in told
    assert files_in(vault) == before


def forget_case(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let looking at files behave as on a disk that does not tell cases apart; writing and renaming stay."""
    real_read = Path.read_bytes

    def real_place(path: Path | str) -> Path | None:
        path = Path(path)
        if not path.parent.is_dir():
            return None
        return next((one for one in path.parent.iterdir() if one.name.casefold() == path.name.casefold()), None)

    def samefile(self: Path, other: Path) -> bool:
        places = [real_place(self), real_place(other)]
        if None in places:
            raise FileNotFoundError(errno.ENOENT, "No such file")
        return places[0] == places[1]

    monkeypatch.setattr(Path, "samefile", samefile)
    monkeypatch.setattr(Path, "read_bytes", lambda self: real_read(real_place(self) or self))
    monkeypatch.setattr(os.path, "lexists", lambda path: real_place(path) is not None)


KILLED = """
    import sys
    from pathlib import Path
    from lorestudio.studio.notes.changes.log import ChangeLog
    from lorestudio.studio.notes.changes.change_set import ChangeSet, NoteFileChange
    vault, data = Path(sys.argv[1]), Path(sys.argv[2])
    log = ChangeLog(data, [vault])
    print("ready", flush=True)
    while True:
        changes = []
        for path in sorted(vault.glob("*.md")):
            text = path.read_text(encoding="utf-8")
            number = int(path.stem.split("-")[1])
            other = "b" if path.stem.startswith("a") else "a"
            if number % 2:
                changes.append(NoteFileChange(path, text, text + "x", path.with_name(f"{other}-{number}.md")))
            else:
                changes.append(NoteFileChange(path, text, text + "x"))
        log.apply(ChangeSet("all", tuple(changes)))
        print("changed", flush=True)
"""


@pytest.mark.long
def test_killed_in_the_middle_of_a_set(tmp_path: Path) -> None:
    """After `mend_interrupted` all notes have been changed equally often, or the run is taken back."""
    vault = tmp_path / "vault"
    vault.mkdir()
    for number in range(8):
        (vault / f"a-{number}.md").write_bytes(b"")
    mended = 0
    for round_number in range(4):
        with subprocess.Popen(  # noqa: S603  # our own interpreter and our own text
            [sys.executable, "-c", textwrap.dedent(KILLED), str(vault), str(tmp_path / "data")], stdout=subprocess.PIPE
        ) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            assert process.stdout.readline() == b"changed\n"
            time.sleep(0.05 + 0.037 * round_number)
            process.send_signal(signal.SIGKILL)
        mended += len(ChangeLog(tmp_path / "data", [vault]).mend_interrupted())
        texts = {path.read_bytes() for path in vault.glob("*.md")}
        assert len(texts) == 1
        assert len(list(vault.glob("*.md"))) == 8
    log = ChangeLog(tmp_path / "data", [vault])
    assert len(texts.pop()) == len(log.titles) > 0
    while log.can_undo:
        log.undo()
    assert files_in(vault).keys() >= {f"a-{number}.md" for number in range(8)}
    assert {path.read_bytes() for path in vault.glob("*.md")} == {b""}
