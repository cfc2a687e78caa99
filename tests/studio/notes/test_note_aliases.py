from __future__ import annotations

from typing import TYPE_CHECKING

from lorestudio.studio.notes.vault_notes import read_aliases
from lorestudio.studio.project.project import open_project

if TYPE_CHECKING:
    from pathlib import Path


def test_aliases_by_title(tmp_path: Path) -> None:
    front = "---\ntags: [lorebook]\n"
    (tmp_path / "a.md").write_text(f"{front}aliases: [the Grey, Skarn]\n---\n# Skarn\n", encoding="utf-8")
    (tmp_path / "b.md").write_text(f"{front}alias: Keep, Fort\n---\n# Dawnkeep\n", encoding="utf-8")
    (tmp_path / "c.md").write_text(f"{front}summary: an alias\n---\n# Bell\n", encoding="utf-8")
    project = open_project([tmp_path])
    (tmp_path / "c.md").unlink()  # gone since it was read
    assert read_aliases(project) == {"skarn": ("the Grey",), "dawnkeep": ("Keep", "Fort")}
