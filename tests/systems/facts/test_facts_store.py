"""The store: what survives, what is refused, and what a search sees."""

import sqlite3
import subprocess
import sys
from contextlib import closing

import numpy as np
import pytest

from lorestudio.systems.facts.records import FactError, Memory, Thread, ThreadState
from lorestudio.systems.facts.store import FactStore, MemoryFileError
from tests.systems.facts.world import memory

EAST = np.array([1.0, 0.0])

KILLED = """
import os, sys
from pathlib import Path
import numpy as np
from lorestudio.systems.facts.records import Memory
from lorestudio.systems.facts.store import FactStore
store = FactStore(Path(sys.argv[1]))
store.save_memory(Memory("", "u", "t", "kept", "confirmed", np.array([1.0, 0.0])))
with store.transaction():
    store.save_memory(Memory("", "u", "t", "half", "confirmed", np.array([0.0, 1.0])))
    os.kill(os.getpid(), 9)
"""


def names(matches):
    return [match.memory.id for match in matches]


@pytest.mark.skipif(sys.platform == "win32", reason="signal 9 is POSIX's")
def test_a_killed_program_leaves_whole_transactions(tmp_path):
    path = tmp_path / "m.sqlite"
    ended = subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)  # noqa: S603
    assert ended.returncode == -9
    with FactStore(path) as store:
        assert [found.content for found in store.get_memories("u")] == ["kept"]
        store.save_memory(Memory("", "u", "t", "after", "confirmed", EAST))
        assert len(store.get_memories("u")) == 2


def test_everything_is_there_after_a_restart(tmp_path):
    path = tmp_path / "deep" / "m.sqlite"
    made = memory("a", [0.1, 0.7], tags=("sea", "boat"), pinned=True, vector_model="m")
    thread = Thread("t", "u", 1, 2, ThreadState.DORMANT, 3, None, 4, None, 1, "digest")
    with FactStore(path) as store:
        store.put_memory(made)
        store.update_thread(thread)
        store.update_profile_field("u", "goals", "Cross the ford", "add")
    with FactStore(path) as store:
        found = store.get_memories("u")[0]
        assert found == made
        assert list(found.embedding) == [0.1, 0.7]
        assert store.get_thread("t") == thread
        assert store.get_profile("u")["goals"] == ["Cross the ford"]


def test_a_search_sees_what_another_program_writes(tmp_path):
    path = tmp_path / "m.sqlite"
    with FactStore(path) as one, FactStore(path) as other:
        one.put_memory(memory("a", [1, 0]))
        assert names(one.search_memories("u", EAST, 5)) == ["a"]
        other.put_memory(memory("b", [4, 3]))
        assert names(one.search_memories("u", EAST, 5)) == ["a", "b"]
        other.delete_memory("a")
        assert names(one.search_memories("u", EAST, 5)) == ["b"]


def test_a_search_stays_with_one_owner_and_with_tags():
    with FactStore() as store:
        store.put_memory(memory("a", [1, 0], tags=("sea",)))
        store.put_memory(memory("b", [4, 3], tags=("land", "sea")))
        store.put_memory(memory("c", [0, 1]))
        store.put_memory(memory("d", [1, 0], user="other"))
        assert names(store.search_memories("u", EAST, 2)) == ["a", "b"]
        assert names(store.search_memories("u", EAST, 5, ["land", "sky"])) == ["b"]
        assert [match.score for match in store.search_memories("u", EAST, 5)] == [1.0, 0.8, 0.0]


def test_counters_are_those_of_now_though_the_vectors_are_kept():
    with FactStore() as store:
        store.put_memory(memory("a", [1, 0]))
        store.search_memories("u", EAST, 1)
        store.update_memory("a", {"last_retrieved_at": 5, "retrieval_count": 2})
        assert store.search_memories("u", EAST, 1)[0].memory.retrieval_count == 2


def test_changes_of_a_memory_that_is_gone_are_refused():
    with FactStore() as store:
        with pytest.raises(FactError, match="Memory not found: x"):
            store.update_memory("x", {"pinned": True})
        with pytest.raises(FactError, match="Memory not found: x"):
            store.delete_memory("x")


def test_a_unit_with_one_impossible_write_writes_nothing():
    with FactStore() as store:
        unit = store.begin()
        unit.save_memory(Memory("", "u", "t", "new", "confirmed", EAST))
        unit.update_memory("gone", {"content": "x"})
        with pytest.raises(FactError):
            unit.commit()
        assert store.get_memories("u") == []


def test_a_thread_that_was_spoken_in_meanwhile_stays_awake():
    with FactStore() as store:
        before = Thread("t", "u", 1, 1)
        store.update_thread(before)
        unit = store.begin()
        unit.move_thread(before, Thread(before.id, "u", 0, 0, ThreadState.DORMANT))
        spoken = Thread(before.id, "u", before.created_at, before.updated_at + 1, ThreadState.ACTIVE, 5)
        store.update_thread(spoken)
        unit.commit()
        assert store.get_thread(before.id) == spoken


def test_a_file_that_the_disk_refuses_is_told_in_words(tmp_path):
    path = tmp_path / "m.sqlite"
    path.symlink_to(path)
    with pytest.raises(MemoryFileError) as caught:
        FactStore(path)
    assert str(caught.value).startswith(f"memories: {path} cannot be opened as memories (")
    assert "Errno" not in str(caught.value)


def test_a_damaged_file_is_reported_and_left_alone(tmp_path):
    path = tmp_path / "m.sqlite"
    path.write_bytes(b"no database" * 200)
    before = path.read_bytes()
    with pytest.raises(MemoryFileError, match=r"m\.sqlite cannot be opened as memories .*Move it away"):
        FactStore(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("damaged", ["text", b"\0\1\2"])
def test_a_memory_whose_vector_is_damaged_has_none(tmp_path, damaged):
    path, made = tmp_path / "m.sqlite", memory("a", [0.1, 0.7])
    with FactStore(path) as store:
        store.put_memory(made)
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("UPDATE memories SET embedding = ?", (damaged,))
    with FactStore(path) as store:
        assert [(found.content, found.embedding) for found in store.get_memories("u")] == [(made.content, None)]


def test_memories_that_are_only_out_of_reach_are_not_to_be_moved_away(tmp_path, monkeypatch):
    full = sqlite3.OperationalError("database or disk is full")
    full.sqlite_errorcode = sqlite3.SQLITE_FULL

    def refuse(*_given, **_named):
        raise full

    monkeypatch.setattr(sqlite3, "connect", refuse)
    with pytest.raises(MemoryFileError, match=r"m\.sqlite cannot be opened .*is full\)\. Look at its disk"):
        FactStore(tmp_path / "m.sqlite")


def test_a_disk_that_fills_up_later_is_told_with_what_to_do(tmp_path):
    with FactStore(tmp_path / "m.sqlite") as store:
        pages = store._lines.execute("PRAGMA page_count").fetchone()[0]
        store._lines.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(MemoryFileError, match=r"m\.sqlite cannot be .*is full\)\. Look at its disk"):
            store.put_memory(memory("a" * 400_000, [0.1, 0.7]))
        store._lines.execute("PRAGMA max_page_count = 100000")
        store.put_memory(made := memory("a" * 400_000, [0.1, 0.7]))  # there is room again
        assert [each.content for each in store.get_memories("u")] == [made.content]


def test_a_newer_file_is_refused(tmp_path):
    path = tmp_path / "m.sqlite"
    FactStore(path).close()
    lines = sqlite3.connect(path)
    lines.execute("PRAGMA user_version = 99")
    lines.close()
    with pytest.raises(MemoryFileError, match="newer lorestudio"):
        FactStore(path)
