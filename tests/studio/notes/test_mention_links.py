from __future__ import annotations

from pathlib import Path

import pytest

from lorestudio.exchange.problems import InputError
from lorestudio.studio.notes.search import plan_links
from lorestudio.studio.notes.vault_notes import read_vault_notes


def write(folder: Path, **notes: str) -> None:
    for name, text in notes.items():
        (folder / f"{name}.md").write_bytes(text.encode())


def test_mentions_of_several_notes_become_links(tmp_path: Path) -> None:
    write(tmp_path, a="# Skarn\n", b="\ufeff# B\r\nSkarn and skarn.\r\n", c="# C\nSkarn.\n")
    vault = read_vault_notes(tmp_path)
    planned = plan_links([vault], tmp_path / "a.md", vault.index.mentions("a.md"))
    assert planned.changes.title == "Link 3 mentions of Skarn"
    assert {change.path.name: change.after for change in planned.changes.changes} == {
        "b.md": "\ufeff# B\r\n[[Skarn]] and [[Skarn|skarn]].\r\n",
        "c.md": "# C\n[[Skarn]].\n",
    }


def test_a_note_that_changed_since_stays_as_it_is(tmp_path: Path) -> None:
    write(tmp_path, a="# Skarn\n", b="# B\nSkarn.\n", c="# C\nSkarn.\n")
    vault = read_vault_notes(tmp_path)
    write(tmp_path, b="# B\nOh, Skarn.\n")
    planned = plan_links([vault], tmp_path / "a.md", vault.index.mentions("a.md"))
    assert [change.path.name for change in planned.changes.changes] == ["c.md"]
    assert len(planned.remarks) == 1
    assert "b.md has changed meanwhile" in planned.remarks[0]


def test_mentions_that_were_looked_at_before_they_were_linked_are_not_linked_again(tmp_path: Path) -> None:
    write(tmp_path, a="# Skarn\n", b="# B\nSkarns and skarn.\n", c="# C\nSkarn.\n")
    seen = read_vault_notes(tmp_path).index.mentions("a.md")
    write(tmp_path, b="# B\nSkarns and [[Skarn|skarn]].\n")
    planned = plan_links([read_vault_notes(tmp_path)], tmp_path / "a.md", seen)
    assert [change.path.name for change in planned.changes.changes] == ["c.md"]
    assert planned.remarks == ("b.md has changed meanwhile and stays as it is. Look at its mentions again.",)


def test_what_cannot_be_linked_is_refused(tmp_path: Path) -> None:
    write(tmp_path, a="# Skarn [x]\n", b="# B\nSkarn [x].\n")
    vault = read_vault_notes(tmp_path)
    with pytest.raises(InputError, match="no mention"):
        plan_links([vault], tmp_path / "a.md", ())
    mentions = vault.index.mentions("a.md")
    if mentions:
        with pytest.raises(InputError, match="No link can lead"):
            plan_links([vault], tmp_path / "a.md", mentions)
