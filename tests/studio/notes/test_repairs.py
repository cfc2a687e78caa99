from __future__ import annotations

from pathlib import Path

from lorestudio.studio.notes.book_entries import read_text
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


def test_an_entry_of_a_lorebook_is_mended_in_its_file(tmp_path: Path) -> None:
    book = tmp_path / "Book.json"
    text = '{"entries": {"3": {"uid": 3, "key": ["bell", "bell"],  "order": 1e2, "content": "It rings."}}}'
    book.write_text(text, "utf-8")
    before, _ = read_text(book / "uid 3")
    after = before.replace("  - bell\n  - bell\n", "  - bell\n")
    stale = Repair("Book", "uid 3", before + "!", after, ("Lost",))
    planned = plan_repairs({"Book": book}, (Repair("Book", "uid 3", before, after, ("Remove the copies",)), stale))
    (change,) = planned.changes.changes
    assert (change.path, change.before, change.after) == (book, text, text.replace('["bell", "bell"]', '["bell"]'))
    assert planned.changes.title == "Remove the copies"
    assert "uid 3 has changed meanwhile" in planned.remarks[0]
