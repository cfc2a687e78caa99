from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

import pytest

from lorestudio.domain.entry import NoteProblem
from lorestudio.domain.lifecycle import Cancelled, CancelToken
from lorestudio.vault import folder
from lorestudio.vault.files import NoteFile, VaultError
from lorestudio.vault.folder import MAX_LEVELS, read_listed, walked
from tests.vault.folders import read_folder


def write(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(f"text of {name}".encode())


def names(root: Path) -> list[str]:
    return [file.filename for file in read_folder(root).files]


def problems(root: Path) -> dict[str, NoteProblem]:
    return {note.filename: note.problem for note in read_folder(root).left_out}


def refuse(monkeypatch: pytest.MonkeyPatch, name: str, error: OSError) -> None:
    """Reading the file of that name fails; permission bits would not stop an administrator's tests."""
    read_bytes = Path.read_bytes

    def read(path: Path) -> bytes:
        if path.name == name:
            raise error
        return read_bytes(path)

    monkeypatch.setattr(Path, "read_bytes", read)


def test_order(tmp_path: Path) -> None:
    write(tmp_path, "b.md", "a.md", "Z.md", "A/z.md", "A/S/t.md", "A B/q.md", "x.MD", "A/0/a.md", "n.txt")
    # A space sorts before the slash that stands behind a folder's name.
    assert names(tmp_path) == ["Z.md", "a.md", "b.md", "A B/q.md", "A/z.md", "A/0/a.md", "A/S/t.md"]


def test_order_is_by_code_units(tmp_path: Path) -> None:
    write(tmp_path, "\U0001f600.md", "\uff01.md", "é.md", "z.md")
    assert names(tmp_path) == ["z.md", "é.md", "\U0001f600.md", "\uff01.md"]


def test_dot_names_are_passed_over(tmp_path: Path) -> None:
    write(tmp_path, ".hidden.md", ".obsidian/a.md", ".md", "a/.b/c.md", "a/d.md")
    assert names(tmp_path) == ["a/d.md"]
    assert problems(tmp_path) == {}


def test_texts_and_names(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"\xef\xbb\xbfone\r\ntwo\rthree\xc3\xa9")
    vault = read_folder(tmp_path, "My vault")
    assert vault.name == "My vault"
    assert vault.files[0].text == "one\r\ntwo\rthreeé"
    assert read_folder(tmp_path).name == tmp_path.name
    kept = read_listed("a.md", tmp_path / "a.md", "V", keep_bom=True)
    assert isinstance(kept, NoteFile)
    assert kept.text.startswith("\ufeffone")


def test_definition_file_is_read_too(tmp_path: Path) -> None:
    write(tmp_path, "DeepLore/field-definitions.yaml", "own/f.yaml", "a.md")
    assert names(tmp_path) == ["a.md", "DeepLore/field-definitions.yaml"]
    assert [file.filename for file in read_folder(tmp_path, definition_path="own/f.yaml").files] == [
        "a.md",
        "own/f.yaml",
    ]
    assert [file.filename for file in read_folder(tmp_path, definition_path="").files] == names(tmp_path)
    assert [file.filename for file in read_folder(tmp_path / "own", definition_path="../a.yaml").files] == []


def test_bad_encoding(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "c.md")
    (tmp_path / "b.md").write_bytes(b"first\nsecond \xe9t\xe9\n")
    vault = read_folder(tmp_path)
    assert [file.filename for file in vault.files] == ["a.md", "c.md"]
    (note,) = vault.left_out
    assert (note.filename, note.vault, note.problem) == ("b.md", tmp_path.name, NoteProblem.BAD_ENCODING)
    assert "“b.md”" in note.message
    assert "0xE9" in note.message
    assert "line 2" in note.message
    assert "byte offset 13" in note.message


def test_no_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "a.md", "b.md")
    refuse(monkeypatch, "a.md", PermissionError(errno.EACCES, "Permission denied"))
    vault = read_folder(tmp_path)
    assert [file.filename for file in vault.files] == ["b.md"]
    assert vault.left_out[0].problem is NoteProblem.UNREADABLE
    assert "Permission denied" in vault.left_out[0].message


def test_folder_without_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "a.md", "closed/b.md")
    scandir = os.scandir

    def scan(path: Path) -> object:
        if Path(path).name == "closed":
            raise PermissionError(errno.EACCES, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", scan)
    assert names(tmp_path) == ["a.md"]
    assert problems(tmp_path) == {"closed": NoteProblem.UNREADABLE}
    with pytest.raises(VaultError, match="Permission denied"):
        read_folder(tmp_path / "closed")


def test_file_that_vanishes_while_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "a.md", "b.md")
    refuse(monkeypatch, "b.md", FileNotFoundError(errno.ENOENT, "No such file or directory"))
    assert names(tmp_path) == ["a.md"]
    assert problems(tmp_path) == {"b.md": NoteProblem.UNREADABLE}


def test_dead_link_is_unreadable(tmp_path: Path) -> None:
    (tmp_path / "a.md").symlink_to(tmp_path / "nowhere.md")
    assert problems(tmp_path) == {"a.md": NoteProblem.UNREADABLE}


def test_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "a.md")
    with (tmp_path / "big.md").open("wb") as file:
        file.truncate(9 * 1024 * 1024)
    refuse(monkeypatch, "big.md", OSError("it must not be read"))
    assert names(tmp_path) == ["a.md"]
    assert problems(tmp_path) == {"big.md": NoteProblem.TOO_LARGE}
    assert "9.0 MiB" in read_folder(tmp_path).left_out[0].message


def test_not_an_ordinary_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")  # reading it would wait for ever
    assert problems(tmp_path) == {"pipe.md": NoteProblem.UNREADABLE}


def test_link_loops(tmp_path: Path) -> None:
    vault = tmp_path / "outer" / "vault"
    write(vault, "a/b/n.md", "c/m.md")
    (vault / "a" / "b" / "back").symlink_to(vault / "a", target_is_directory=True)
    (vault / "a" / "home").symlink_to(vault, target_is_directory=True)
    (vault / "c" / "above").symlink_to(tmp_path, target_is_directory=True)
    (vault / "d").symlink_to(vault / "c", target_is_directory=True)  # no loop: a second way to the same folder
    assert names(vault) == ["a/b/n.md", "c/m.md", "d/m.md"]
    loops = ["a/b/back", "a/home", "c/above", "d/above"]
    assert problems(vault) == dict.fromkeys(loops, NoteProblem.LOOP)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only there the system tells of itself in folders")
def test_a_link_to_what_the_system_does_is_not_followed(tmp_path: Path) -> None:
    """Its names are others at every look, so that the vault never stood still."""
    write(tmp_path, "a.md")
    (tmp_path / "proc").symlink_to("/proc/self")
    (tmp_path / "sys").symlink_to("/sys/kernel")
    (tmp_path / "cycle").symlink_to(tmp_path)
    assert names(tmp_path) == ["a.md"]
    expected = {"cycle": NoteProblem.LOOP, "proc": NoteProblem.UNREADABLE, "sys": NoteProblem.UNREADABLE}
    assert problems(tmp_path) == expected
    assert [place for place, _ in walked(tmp_path, follow_links=True)] == [tmp_path]


def test_link_to_itself(tmp_path: Path) -> None:
    write(tmp_path, "a.md")
    (tmp_path / "self.md").symlink_to(tmp_path / "self.md")
    assert names(tmp_path) == ["a.md"]
    assert problems(tmp_path) == {"self.md": NoteProblem.LOOP}


def test_twenty_levels(tmp_path: Path) -> None:
    deep = "/".join("d" * 20)
    write(tmp_path, f"{deep[:-2]}/seen.md", f"{deep}/unseen.md")
    assert names(tmp_path) == [f"{deep[:-2]}/seen.md"]
    assert problems(tmp_path) == {deep: NoteProblem.TOO_DEEP}


def test_name_that_is_no_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    item = folder._FolderItem("bad\udcff.md", tmp_path / "x.md", is_folder=False)
    monkeypatch.setattr(folder, "_list", lambda _: [item])
    assert names(tmp_path) == []
    assert problems(tmp_path) == {"bad?.md": NoteProblem.UNREADABLE}


def test_missing_folder_and_file_in_its_place(tmp_path: Path) -> None:
    with pytest.raises(VaultError, match="There is no folder"):
        read_folder(tmp_path / "gone")
    with pytest.raises(VaultError, match=r"There is no file “.*Gone\.json”. Choose a lorebook"):
        read_folder(tmp_path / "Gone.json")
    with pytest.raises(VaultError, match="Give the vault's folder on this computer"):
        read_folder(Path("http://127.0.0.1:27123/Demo").absolute())
    write(tmp_path, "a.md")
    with pytest.raises(VaultError, match="is a file"):
        read_folder(tmp_path / "a.md")


def test_progress_and_cancelling(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "b.md", "c.md")
    seen: list[tuple[int, int]] = []
    read_folder(tmp_path, on_progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 3), (2, 3), (3, 3)]
    seen.clear()
    token = CancelToken()

    def stop_behind_two(done: int, total: int) -> None:
        seen.append((done, total))
        if done == 2:
            token.cancel()

    with pytest.raises(Cancelled):
        read_folder(tmp_path, on_progress=stop_behind_two, cancel=token)
    assert seen == [(1, 3), (2, 3)]


def test_folders_are_walked_as_deep_as_notes_are_listed_and_no_further(tmp_path: Path) -> None:
    """A thousand levels end the system's own walk in a RecursionError."""
    write(tmp_path, *("d/" * level + f"{level}.txt" for level in range(MAX_LEVELS + 5)), ".hidden/x.txt")
    found = [(place.relative_to(tmp_path).parts, files) for place, files in walked(tmp_path)]
    assert found == [(("d",) * level, [f"{level}.txt"]) for level in range(MAX_LEVELS)]


def test_a_walk_along_links_comes_to_each_folder_once(tmp_path: Path) -> None:
    write(tmp_path, "a/x.txt")
    (tmp_path / "a" / "back").symlink_to(tmp_path)
    assert [place for place, _ in walked(tmp_path, follow_links=True)] == [tmp_path, tmp_path / "a"]
