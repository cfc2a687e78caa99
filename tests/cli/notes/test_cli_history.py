from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from lorestudio.exchange.lorebooks.entry import NEW_ENTRY
from lorestudio.studio.notes.changes.change_set import ChangeSet, NoteFileChange
from lorestudio.studio.notes.changes.log import ChangeLog
from lorestudio.vault.files import default_folder
from lorestudio.vault.writer import digest_of
from tests.digests import digest

Run = Callable[..., Result]


@pytest.fixture
def log(vault: Path) -> ChangeLog:
    """The log of the test's own person: the folders are those of the surroundings."""
    return ChangeLog(default_folder(), [vault])


def lines(result: Result) -> list[str]:
    return [" ".join(line.split()) for line in result.stdout.splitlines()]


def test_listing_showing_and_restoring(lorestudio: Run, log: ChangeLog, vault: Path) -> None:
    note = vault / "Lamp.md"
    first = note.read_bytes()
    log.snapshots.save(note, "zwölf\r\n", digest(note))
    log.apply(ChangeSet("Batch [1]", (NoteFileChange(note, "zwölf\r\n", "three"),)))
    result = lorestudio("history", note)
    assert result.exit_code == 0
    heading, newer, older = lines(result)
    assert heading == "version kept bytes why"
    assert newer.startswith("1 20")
    assert newer.endswith(" 8 before “Batch [1]”")
    assert older.startswith("2 20")
    assert older.endswith(f" {len(first)} before saving")

    last, first_kept = json.loads(lorestudio("history", note, "--json").stdout)
    assert (last["version"], last["size"], last["reason"]) == (1, 8, "before “Batch [1]”")
    assert (first_kept["version"], first_kept["digest"]) == (2, digest_of(first))

    assert lorestudio("history", note, "--show", 1).stdout_bytes == "zwölf\r\n".encode()
    assert lorestudio("history", note, "--show", 2).stdout_bytes == first

    result = lorestudio("history", note, "--restore", 2)
    assert result.exit_code == 0
    assert note.read_bytes() == first
    assert "--restore 1" in result.stderr
    log.refresh()
    assert log.undo_title == "Restore an earlier version of Lamp"
    log.undo()  # in the window, whose vault is the whole folder
    assert note.read_bytes() == b"three"


def test_the_advice_for_undoing_is_right(lorestudio: Run, log: ChangeLog, vault: Path) -> None:
    note = vault / "Lamp.md"
    log.snapshots.save(note, "two", digest(note))
    lorestudio("history", note, "--restore", 1)
    assert note.read_text(encoding="utf-8") != "two"
    lorestudio("history", note, "--restore", 1)
    assert note.read_text(encoding="utf-8") == "two"


def test_a_deleted_note_comes_back(
    lorestudio: Run, log: ChangeLog, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = vault / "Lamp.md"
    text = note.read_text(encoding="utf-8")
    log.apply(ChangeSet("Delete Lamp", (NoteFileChange(note, text, None),)))
    monkeypatch.chdir(vault)
    assert "before “Delete Lamp”" in lorestudio("history", "Lamp.md").stdout
    assert lorestudio("history", "Lamp.md", "--restore", 1).exit_code == 0
    assert note.read_text(encoding="utf-8") == text


def test_a_version_that_is_the_text_already(lorestudio: Run, log: ChangeLog, vault: Path) -> None:
    note = vault / "Lamp.md"
    before = note.read_text(encoding="utf-8")
    log.snapshots.save(note, "two", digest(note))
    log.snapshots.save(note, before, digest(note))
    result = lorestudio("history", note, "--restore", 2)
    assert result.stdout == "“Lamp.md” has this text already.\n"


def test_a_note_without_history(lorestudio: Run, vault: Path) -> None:
    result = lorestudio("history", vault / "Lamp.md")
    assert result.exit_code == 0
    assert " ".join(result.stdout.split()) == (
        "Nothing is kept of “Lamp.md” in this folder. A version is kept before each change from here. "
        "Check its path, too."
    )


def test_a_note_that_was_moved(lorestudio: Run, log: ChangeLog, vault: Path) -> None:
    note, target = vault / "Lamp.md", vault / "Lantern.md"
    text = note.read_text(encoding="utf-8")
    log.apply(ChangeSet("Rename", (NoteFileChange(note, text, text, target),)))
    assert str(target) in lorestudio("history", note).stdout.replace("\n", "")
    assert "before “Rename”" in lorestudio("history", target).stdout


def test_a_vault_that_was_moved_is_told_where_its_history_is(lorestudio: Run, log: ChangeLog, vault: Path) -> None:
    note = vault / "Lamp.md"
    first = note.read_text(encoding="utf-8")
    log.apply(ChangeSet("Rewrite", (NoteFileChange(note, first, "two"),)))
    moved = vault.rename(vault.with_name("moved"))
    told = lorestudio("history", moved / "Lamp.md").stdout
    assert f"Of “{note}”, which is gone, there is 1 version: if that is where it lay, give that path." in told
    assert lorestudio("history", note, "--show", 1).stdout == first
    for asked in ("undo", moved), ("undo", moved, "--list"):
        told = lorestudio(*asked).stderr
        assert "here is nothing to undo. Changes are kept of notes in “" in told
        assert f"“{vault}”, which is gone. If this vault was moved from there" in told
    moved.rename(vault)
    assert lorestudio("undo", vault, "--yes").exit_code == 0
    assert note.read_text(encoding="utf-8") == first


@pytest.mark.parametrize("option", ["--show", "--restore"])
def test_a_version_that_is_not_there(lorestudio: Run, log: ChangeLog, vault: Path, option: str) -> None:
    note = vault / "Lamp.md"
    result = lorestudio("history", note, option, 1)
    assert result.exit_code == 2
    assert result.stderr == f"lorestudio: {option}: “Lamp.md” has no version 1. None was kept.\n"
    log.snapshots.save(note, "two", digest(note))
    assert "The oldest is 1." in lorestudio("history", note, option, 2).stderr


def test_both_options_are_too_much(lorestudio: Run, vault: Path) -> None:
    result = lorestudio("history", vault / "Lamp.md", "--show", 1, "--restore", 1)
    assert result.exit_code == 2
    assert "--restore" in result.stderr


def test_damaged_lines_are_told(lorestudio: Run, log: ChangeLog, vault: Path) -> None:
    note = vault / "Lamp.md"
    log.snapshots.save(note, "two", digest(note))
    (file,) = (default_folder() / "history" / "places").glob("*.jsonl")
    with file.open("ab") as stream:
        stream.write(b"{half a li")
    result = lorestudio("history", note)
    assert result.exit_code == 0
    assert "before saving" in result.stdout
    assert "line 2 is damaged" in result.stderr


def test_a_name_that_is_no_text_has_its_history(lorestudio: Run, log: ChangeLog, vault: Path) -> None:
    note = vault / os.fsdecode(b"L\xe9mp.md")
    try:
        note.write_text("one", encoding="utf-8")
    except OSError:
        pytest.skip("names are text on this file system")
    log.snapshots.save(note, "two", digest(note))
    assert "before saving" in lorestudio("history", note).stdout
    assert lorestudio("history", note, "--show", 1).stdout == "one"
    assert "has the text of" in lorestudio("history", note, "--restore", 1).stdout
    assert note.read_text(encoding="utf-8") == "one"


def test_undoing_names_the_change_and_asks(lorestudio: Run, log: ChangeLog, vault: Path) -> None:
    note = vault / "Lamp.md"
    first = note.read_text(encoding="utf-8")
    log.apply(ChangeSet("Rewrite", (NoteFileChange(note, first, "two"),)))
    nobody = lorestudio("undo", vault)
    assert (nobody.exit_code, note.read_text(encoding="utf-8")) == (2, "two")
    assert "Undo “Rewrite”? [y/N]" in nobody.stderr
    assert "--yes" in nobody.stderr
    assert json.loads(lorestudio("undo", vault, "--list", "--json").stdout) == ["Rewrite"]
    done = lorestudio("undo", vault, "--yes", "--json")
    assert json.loads(done.stdout) == {"title": "Rewrite", "files": [str(note)]}
    assert "Do again “Rewrite”? [y/N]" in lorestudio("undo", vault, "--redo").stderr
    assert note.read_text(encoding="utf-8") == first


def test_a_list_without_changes_and_a_folder_that_is_not_there_are_told(lorestudio: Run, vault: Path) -> None:
    nothing = lorestudio("undo", vault, "--list")
    assert (nothing.exit_code, nothing.output) == (0, "lorestudio: there is nothing to undo.\n")
    note = lorestudio("undo", vault / "Lamp.md")
    assert (note.exit_code, f"undone by its folder: lorestudio undo {vault}" in note.stderr) == (2, True)
    gone = lorestudio("undo", vault / "none", "--list")
    assert (gone.exit_code, "There is no folder" in gone.stderr) == (2, True)


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """A lorebook of two entries."""
    made = tmp_path / "Book.json"
    entries = {str(uid): {"uid": uid, **NEW_ENTRY, "key": [f"key {uid}"], "content": f"Text {uid}."} for uid in (0, 1)}
    made.write_text(json.dumps({"entries": entries}), encoding="utf-8")
    return made


def test_an_entry_has_what_the_command_line_changed_in_it(lorestudio: Run, book: Path) -> None:
    entry = book / "uid 0"
    for number in (7, 8):
        lorestudio("change", book, f"order={number}", "uid 0")
    lorestudio("change", book, "order=9", "uid 1")
    newer, older = json.loads(lorestudio("history", entry, "--json").stdout)
    assert (newer["version"], newer["reason"]) == (1, "before “Set order in 1 entry”")
    shown = [lorestudio("history", entry, "--show", each["version"]).stdout for each in (newer, older)]
    assert ["order: 7" in shown[0], "order: 100" in shown[1]] == [True, True]
    assert older["size"] == len(shown[1].encode())
    (other,) = lines(lorestudio("history", book / "uid 1"))[1:]
    assert other.startswith("1 20")


def test_a_version_of_an_entry_is_put_back_also_where_the_entry_is_gone(lorestudio: Run, book: Path) -> None:
    entry, before = book / "uid 0", json.loads(book.read_bytes())
    lorestudio("change", book, "order=7", "uid 0")
    result = lorestudio("history", entry, "--restore", 1)
    assert (result.exit_code, json.loads(book.read_bytes())["entries"]) == (0, before["entries"])
    assert f"lorestudio history '{entry}' --restore 1" in result.stderr
    assert lorestudio("history", entry, "--restore", 2).stdout == "“uid 0” has this text already.\n"
    lorestudio("delete", book, "uid 0")
    result = lorestudio("history", entry, "--restore", 1)
    assert (result.exit_code, result.stderr) == (0, "")
    back = json.loads(book.read_bytes())["entries"]["0"]
    assert (back["content"], back["order"], back["key"]) == ("Text 0.", 100, ["key 0"])


def test_a_kept_book_that_cannot_be_read_is_told_beside_the_other_versions(lorestudio: Run, book: Path) -> None:
    for number in (7, 8):
        lorestudio("change", book, f"order={number}", "uid 0")
    log = ChangeLog(default_folder(), [book.parent])
    log.snapshots.blobs.place(log.snapshots.list(book)[1].digest).unlink()
    result = lorestudio("history", book / "uid 0")
    assert len(lines(result)) == 2
    assert "The kept text is gone" in result.stderr


def test_a_deleted_note_is_listed_read_and_put_back(lorestudio: Run, vault: Path) -> None:
    text = (vault / "Lamp.md").read_bytes()
    assert lorestudio("trash", vault).stderr == "lorestudio: the trash has no note of this vault.\n"
    for title in ("Tide", "Lamp"):
        assert lorestudio("delete", vault, title).exit_code == 0
    heading, first, second = lines(lorestudio("trash", vault))
    assert (heading, first[:9], second[:9]) == ("note file deleted", "1 Lamp.md", "2 Tide.md")
    assert [each["filename"] for each in json.loads(lorestudio("trash", vault, "--json").stdout)] == [
        "Lamp.md",
        "Tide.md",
    ]
    assert lorestudio("trash", vault, "--show", 1).stdout_bytes == text
    (vault / "Lamp.md").write_text("Another lamp.", encoding="utf-8")
    refused = lorestudio("trash", vault, "--restore", 1)
    assert (refused.exit_code, "--as 'Lamp (2).md'" in refused.stderr) == (2, True)
    for name in ("", "..", "notes/Lamp", "Lamp?"):
        assert lorestudio("trash", vault, "--restore", 1, "--as", name).exit_code == 2, name
    assert lorestudio("trash", vault, "--restore", 1, "--as", "Lamp (2)").exit_code == 0
    assert (vault / "Lamp (2).md").read_bytes() == text
    assert [line[:9] for line in lines(lorestudio("trash", vault))[1:]] == ["1 Tide.md"]


def test_the_trash_is_emptied_only_where_the_person_agrees(lorestudio: Run, vault: Path) -> None:
    for title in ("Tide", "Lamp", "Old Bell"):
        assert lorestudio("delete", vault, title).exit_code == 0
    nobody = lorestudio("trash", vault, "--empty")
    assert (nobody.exit_code, len(lines(lorestudio("trash", vault)))) == (2, 4)
    gone = lorestudio("trash", vault, "--delete", 2, "--yes")
    assert (gone.exit_code, gone.stderr) == (0, "lorestudio: deleted for good: “Lamp.md”.\n")
    assert [line.split(" 20")[0] for line in lines(lorestudio("trash", vault))[1:]] == ["1 Old Bell.md", "2 Tide.md"]
    assert lorestudio("trash", vault, "--empty", "--yes").stderr == "lorestudio: deleted for good: 2 notes.\n"
    beyond = lorestudio("trash", vault, "--restore", 1)
    assert (beyond.exit_code, "The trash has none" in beyond.stderr) == (2, True)
    for asked in (("--show", 1, "--empty"), ("--show", 1, "--delete", 1)):
        assert "do not go together" in lorestudio("trash", vault, *asked).stderr
    assert lorestudio("trash", vault, "--as", "Lamp.md").exit_code == 2


def test_an_entry_that_does_not_say_order_and_position_is_put_back_as_it_was(lorestudio: Run, tmp_path: Path) -> None:
    book = tmp_path / "Book.json"
    sparse = {"uid": 0, "key": ["bell"], "keysecondary": ["sea"], "comment": "Bell", "content": "It rings."}
    entries = {"0": sparse, "1": {"uid": 1, **NEW_ENTRY, "key": ["tide"]}}
    book.write_text(json.dumps({"entries": entries}), encoding="utf-8")
    assert lorestudio("delete", book, "uid 0").exit_code == 0
    result = lorestudio("history", book / "uid 0", "--restore", 1)
    assert (result.exit_code, result.stderr) == (0, "")
    back = json.loads(book.read_bytes())["entries"]["0"]
    assert sparse.items() <= back.items()
    assert back.keys().isdisjoint({"order", "position", "selective"})
