from __future__ import annotations

from typing import TYPE_CHECKING

from lorestudio.studio.notes.vault_notes import read_aliases
from lorestudio.studio.project.project import open_project

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_aliases_by_title(tmp_path: Path) -> None:
    front = "---\ntags: [lorebook]\n"
    (tmp_path / "a.md").write_text(f"{front}aliases: [the Grey, Skarn]\n---\n# Skarn\n", encoding="utf-8")
    (tmp_path / "b.md").write_text(f"{front}alias: Keep, Fort\n---\n# Dawnkeep\n", encoding="utf-8")
    (tmp_path / "c.md").write_text(f"{front}summary: an alias\n---\n# Bell\n", encoding="utf-8")
    project = open_project([tmp_path])
    (tmp_path / "c.md").unlink()  # gone since it was read
    assert read_aliases(project) == {"skarn": ("the Grey",), "dawnkeep": ("Keep", "Fort")}


def test_entries_of_a_lorebook_are_not_looked_for_as_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (book := tmp_path / "Book.json").write_text('{"entries": {"0": {"uid": 0, "key": ["bell"]}}}', encoding="utf-8")
    project = open_project([book])
    looked: list[Path] = []
    monkeypatch.setattr("lorestudio.studio.notes.vault_notes.read_note", looked.append)
    assert read_aliases(project) == {}
    assert not looked
