from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lorestudio.studio.notes.trash import Trash
from lorestudio.vault.files import SaveError, VaultError

NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "My vault: ünï"
    folder.mkdir()
    return folder


@pytest.fixture
def trash(tmp_path: Path) -> Trash:
    return Trash(tmp_path / "trash", lambda: NOW)


def test_what_is_put_in_is_listed_and_read(trash: Trash, vault: Path, tmp_path: Path) -> None:
    item = trash.put(vault, vault / "sub" / "a.md", "ä\r\n".encode(), "run")
    other_vault = tmp_path / "other" / vault.name
    other = trash.put(other_vault, other_vault / "b.json", b"b")
    assert trash.list(vault) == (item,)
    assert trash.list(other_vault) == (other,)
    assert set(trash.list()) == {item, other}
    assert (item.filename, item.time) == ("sub/a.md", NOW)
    assert trash.read(item) == "ä\r\n"
    assert trash.read(other) == "b"
    assert item.file.read_bytes() == "ä\r\n".encode()  # to be found by hand, too
    assert item.file.suffix == ".md"
    assert not item.file.is_relative_to(vault)


def test_only_removing_deletes(trash: Trash, vault: Path, tmp_path: Path) -> None:
    other_vault = tmp_path / "other"
    items = [trash.put(vault, vault / f"{number}.md", b"x") for number in range(3)]
    trash.put(other_vault, other_vault / "b.md", b"x")
    trash.remove(items[0])
    trash.remove(items[0])  # gone already
    assert len(trash.list(vault)) == 2
    for item in trash.list(vault):
        trash.remove(item)
    assert (len(trash.list(vault)), len(trash.list())) == (0, 1)
    trash.remove(trash.list()[0])
    assert [path for path in (tmp_path / "trash").rglob("*") if path.is_file()] == []


def test_what_is_damaged_is_told_and_left(trash: Trash, vault: Path) -> None:
    item = trash.put(vault, vault / "a.md", b"text")
    item.file.write_bytes(b"changed by hand")
    with pytest.raises(VaultError, match="was changed in the trash"):
        trash.read(item)
    item.file.unlink()
    with pytest.raises(VaultError, match=r"“a.md” cannot be read from the trash"):
        trash.read(item)
    assert trash.list() == ()
    label = item.file.with_suffix(".json")
    assert [str(label) in problem for problem in trash.problems] == [True]
    second = trash.put(vault, vault / "b.md", b"text")
    second.file.with_suffix(".json").write_bytes(b'{"vault": 3')
    assert trash.list() == ()
    assert len(trash.problems) == 2
    assert second.file.read_bytes() == b"text"
    if hasattr(os, "mkfifo"):
        third = trash.put(vault, vault / "c.md", b"text")
        for path in (third.file, third.file.with_suffix(".json")):
            path.unlink()
            os.mkfifo(path)  # nobody writes into it, and nobody waits for that
        assert trash.list() == ()
        assert len(trash.problems) == 3
        with pytest.raises(VaultError, match="was changed in the trash"):
            trash.read(third)


def test_a_trash_that_cannot_be_written(vault: Path, tmp_path: Path) -> None:
    (tmp_path / "trash").write_bytes(b"a file where the folder should be")
    with pytest.raises(SaveError, match=r"“a.md” was not deleted.*trash"):
        Trash(tmp_path / "trash").put(vault, vault / "a.md", b"x")
