"""SQLite files: whose they are, all or nothing, and what is damaged."""

from __future__ import annotations

import sqlite3
import stat
import sys
from contextlib import closing
from pathlib import Path

import pytest

from lorestudio.domain.sqlite_file import connect, delete, is_damage, parts, set_aside, transaction


def prepared(lines: sqlite3.Connection) -> None:
    lines.execute("CREATE TABLE IF NOT EXISTS words (word TEXT UNIQUE)")


def words(lines: sqlite3.Connection) -> list[str]:
    return [row[0] for row in lines.execute("SELECT word FROM words ORDER BY word")]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other permissions")
def test_a_new_file_and_its_journal_are_for_their_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "new" / "a.sqlite"
    with closing(connect(path, prepared)):
        assert {stat.S_IMODE(part.stat().st_mode) for part in parts(path)} == {0o600}
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_pragmas_come_before_the_first_page(tmp_path: Path) -> None:
    with closing(connect(tmp_path / "a.sqlite", prepared, pragmas=("page_size = 16384", "auto_vacuum = 2"))) as lines:
        asked = ("page_size", "auto_vacuum", "journal_mode", "synchronous")
        assert [lines.execute(f"PRAGMA {name}").fetchone()[0] for name in asked] == [16384, 2, "wal", 1]


def test_a_transaction_is_whole_or_nothing() -> None:
    with closing(connect(None, prepared)) as lines:
        with transaction(lines):
            lines.execute("INSERT INTO words VALUES ('quay')")
        with pytest.raises(sqlite3.IntegrityError), transaction(lines):
            lines.executemany("INSERT INTO words VALUES (?)", [("bell",), ("quay",)])
        assert (words(lines), lines.in_transaction) == (["quay"], False)


def test_a_transaction_that_sqlite_ended_tells_why() -> None:
    with closing(connect(None, prepared)) as lines:
        lines.execute("INSERT INTO words VALUES ('quay')")
        with pytest.raises(sqlite3.IntegrityError), transaction(lines):
            lines.execute("INSERT OR ROLLBACK INTO words VALUES ('quay')")


def test_what_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    path.write_text("a letter to my aunt" * 100)
    with pytest.raises(sqlite3.DatabaseError) as letter:
        connect(path, prepared)
    assert is_damage(letter.value)
    with closing(connect(None, prepared)) as lines, pytest.raises(sqlite3.OperationalError) as other:
        lines.execute("SELECT name FROM words")
    assert (is_damage(other.value), is_damage(other.value, or_other_tables=True)) == (False, True)
    assert not is_damage(OSError("away"), or_other_tables=True)


def test_each_damaged_file_is_kept_with_its_journals(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    for text in ("one", "two"):
        for part in parts(path):
            part.write_text(f"{text} {part.name}")
        set_aside(path)
    assert sorted(each.name for each in tmp_path.iterdir()) == [
        f"a.sqlite.damaged-{number}{ending}" for number in (1, 2) for ending in ("", "-shm", "-wal")
    ]
    assert (tmp_path / "a.sqlite.damaged-1-wal").read_text() == "one a.sqlite-wal"
    path.touch()
    delete(path)
    assert not path.exists()
