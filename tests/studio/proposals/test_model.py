from __future__ import annotations

from pathlib import Path

import pytest

from lorestudio.settings.files import SettingsError
from lorestudio.studio.proposals.model import NoteLocks, is_locked, is_locked_itself, locked_by
from lorestudio.vault.files import SaveError


@pytest.mark.parametrize("value", ["true", "True", "yes", "1", "on", "true # keep out", '"true"', "[a]", "by Wren"])
def test_anything_but_a_clear_no_locks(value: str) -> None:
    assert is_locked_itself(f"---\nlocked: {value}\n---\nx")
    assert is_locked_itself(f"---\r\nLocked: {value}\r\n---\r\nx")


@pytest.mark.parametrize("value", ["false", "False", "no", "off", "0", "", "null", "~", '""', "[]"])
def test_a_clear_no_does_not(value: str) -> None:
    assert not is_locked_itself(f"---\nlocked: {value}\n---\nx")


def test_a_note_without_the_property_is_open() -> None:
    assert not is_locked_itself("---\nkeys: [locked]\n---\nlocked: true")
    assert not is_locked_itself("locked: true")


def test_the_list_takes_notes_on_and_off(tmp_path: Path) -> None:
    vault, other = tmp_path / "vault", tmp_path / "other"
    locks = NoteLocks(tmp_path / "data" / "locked-notes.json")
    assert locks.load() == frozenset()
    locks.set([vault / "b.md", vault / "in" / "a.md", other / "c.md"], locked_now=True)
    again = NoteLocks(locks.path)
    assert is_locked(vault / "b.md", again.load())
    assert not is_locked(vault / "a.md", again.load())
    assert again.list(vault) == (vault / "b.md", vault / "in" / "a.md")
    again.set([vault / "b.md"], locked_now=False)
    assert locks.list(vault) == (vault / "in" / "a.md",)
    assert locks.list(other) == (other / "c.md",)


@pytest.mark.parametrize("link", [False, True])
def test_a_folder_and_a_book_lock_what_lies_in_them(tmp_path: Path, link: bool) -> None:
    (tmp_path / "vault/in/below").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "vault/in")
    (tmp_path / "Book.json").write_text("{}")
    locks = NoteLocks(tmp_path / "locked.json")
    folder = tmp_path / ("link" if link else "vault/in")
    locks.set([folder, tmp_path / "Book.json"], locked_now=True)
    notes = [
        tmp_path / name for name in ("vault/in/below/later.md", "vault/inside.md", "vault/a.md", "Book.json/uid 3")
    ]
    assert [is_locked(note, locks.load()) for note in notes] == [True, False, False, True]
    assert locked_by(notes[0], locks.load()) == tmp_path / "vault/in"
    assert locks.list(tmp_path / "vault") == (tmp_path / "vault/in",)
    locks.set([folder], locked_now=False)
    assert not is_locked(notes[0], locks.load())


def test_a_link_to_the_vault_is_the_same_place(tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "vault")
    locks = NoteLocks(tmp_path / "locked.json")
    locks.set([tmp_path / "link" / "a.md"], locked_now=True)
    assert is_locked(tmp_path / "vault" / "a.md", locks.load())


@pytest.mark.parametrize(
    "text", ["[]", '{"notes": 3, "version": 1}', '{"notes": [], "version": 2}', '{"notes": [], "version": true}', "{"]
)
def test_an_unreadable_list_is_told_and_not_taken_for_empty(tmp_path: Path, text: str) -> None:
    path = tmp_path / "locked.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError, match=r"locked\.json"):
        NoteLocks(path).load()
    with pytest.raises(SettingsError):
        NoteLocks(path).set([tmp_path / "a.md"], locked_now=True)
    assert path.read_text(encoding="utf-8") == text


def test_a_list_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(SaveError):
        NoteLocks(tmp_path / "file" / "locked.json").set([tmp_path / "a.md"], locked_now=True)
