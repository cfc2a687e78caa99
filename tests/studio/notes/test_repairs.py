from __future__ import annotations

from pathlib import Path

from lorestudio.studio.notes.search import plan_repairs
from lorestudio.vault.lint.fixes import Repair


def test_repairs_become_one_step(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes("\ufeffone\r\n".encode())
    (tmp_path / "b.md").write_bytes(b"changed\n")
    repairs = (
        Repair("v", "a.md", "one\r\n", "two\r\n", ("Say two", "Say it well")),
        Repair("v", "b.md", "as it was\n", "x\n", ("Lost",)),
        Repair("v", "gone.md", "x", "y", ("Lost",)),
        Repair("far", "c.md", "x", "y", ("Lost",)),
    )
    planned = plan_repairs({"v": tmp_path}, repairs)
    assert planned.changes.title == "Mend 2 problems"
    (change,) = planned.changes.changes
    assert (change.before, change.after) == ("\ufeffone\r\n", "\ufefftwo\r\n")
    assert len(planned.remarks) == 3
    assert "b.md has changed meanwhile" in planned.remarks[0]
    assert "c.md lies behind Obsidian's plugin" in planned.remarks[2]


def test_one_repair_gives_its_own_title(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"one\n")
    planned = plan_repairs({"v": tmp_path}, (Repair("v", "a.md", "one\n", "two\n", ("Say two",)),))
    assert planned.changes.title == "Say two"
