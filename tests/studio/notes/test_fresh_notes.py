from __future__ import annotations

import os
from pathlib import Path

import pytest

from lorestudio.studio.notes.changes.change_set import ChangeSet, NoteFileChange
from lorestudio.studio.notes.vault_notes import MOST_CHANGES, FreshNotes
from lorestudio.vault.files import VaultError

LONG_AGO = 1_000_000_000


def write(folder: Path, name: str, text: str, *, settled: bool = True) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    if settled:
        os.utime(path, (LONG_AGO, LONG_AGO))
    return path


def links(fresh: FreshNotes, name: str) -> list[str]:
    return [link.source for link in fresh.get()[0].index.backlinks(name)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path, "a.md", "# A\n[[B]]\n")
    write(tmp_path, "b.md", "# B\n")
    return tmp_path


def test_what_others_changed_is_read_again(folder: Path) -> None:
    fresh = FreshNotes([folder])
    assert not fresh.loaded
    assert links(fresh, "b.md") == ["a.md"]
    assert fresh.loaded
    write(folder, "sub/c.md", "# C\n[[B]]\n", settled=False)
    assert links(fresh, "b.md") == ["a.md", "sub/c.md"]
    write(folder, "a.md", "# A\n", settled=False)
    assert links(fresh, "b.md") == ["sub/c.md"]
    (folder / "sub/c.md").unlink()
    assert links(fresh, "b.md") == []


def test_many_changes_at_once_give_the_same_as_one_by_one(folder: Path) -> None:
    fresh = FreshNotes([folder])
    fresh.get()
    for number in range(MOST_CHANGES + 5):
        write(folder, f"n{number:02}.md", f"# N{number}\n[[B]]\n", settled=False)
    assert links(fresh, "b.md") == ["a.md", *(f"n{number:02}.md" for number in range(MOST_CHANGES + 5))]


def test_what_was_done_here_is_known_without_reading(folder: Path) -> None:
    fresh = FreshNotes([folder])
    before = fresh.get()[0]
    text = before.index.notes["a.md"].text
    done = ChangeSet(
        "x",
        (
            NoteFileChange(folder / "a.md", text, "# A\n[[B]] [[B]]\n", folder / "new/a.md"),
            NoteFileChange(folder / "c.md", None, "# C\n"),
        ),
    )
    (folder / "new").mkdir()
    (folder / "a.md").rename(folder / "new/a.md")
    write(folder, "new/a.md", "# A\n[[B]] [[B]]\n", settled=False)
    write(folder, "c.md", "# C\n", settled=False)
    fresh.take(done)
    assert sorted(fresh.get()[0].index.notes) == ["b.md", "c.md", "new/a.md"]
    assert links(fresh, "b.md") == ["new/a.md", "new/a.md"]


def test_a_new_picture_is_no_missing_link_any_more(folder: Path) -> None:
    write(folder, "a.md", "# A\n![[map.png]]\n")
    fresh = FreshNotes([folder])
    assert [link.target.exists for link in fresh.get()[0].index.outgoing("a.md")] == [False]
    (folder / "map.png").write_bytes(b"x")
    assert [link.target.exists for link in fresh.get()[0].index.outgoing("a.md")] == [True]


def test_a_note_that_cannot_be_read_is_told(folder: Path) -> None:
    (folder / "bad.md").write_bytes(b"\xff")
    assert [note.filename for note in FreshNotes([folder]).get()[0].left_out] == ["bad.md"]


def test_a_folder_that_is_gone_is_said(tmp_path: Path) -> None:
    with pytest.raises(VaultError, match="nowhere"):
        FreshNotes([tmp_path / "nowhere"]).get()
