import os
import signal
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lorestudio.domain.records import replace
from lorestudio.trace.model import Turn
from lorestudio.trace.storage.store import KEPT_RUNS, StoreError, TraceStore
from tests.trace.examples import stored_run, story, strange, trace

ROOT = Path(__file__).parents[3]


def at(message, swipe=0, **fields):
    return replace(trace(**fields), turn=Turn(message, swipe, 0))


def add_many(store, chat, traces):
    return store.add_runs(chat, map(stored_run, traces))


def add(store, chat, trace):
    return add_many(store, chat, [trace])[0]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "new folder" / "traces.sqlite"


@pytest.fixture
def store(path):
    with TraceStore(path) as opened:
        yield opened


def test_a_trace_comes_back(store):
    assert add(store, "chat", story()) == 1
    assert store.latest("chat", 12, 0, "deeplore") == story()


def test_what_is_not_there_is_none(store):
    add(store, "chat", at(1))
    assert store.latest("chat", 2, 0, "deeplore") is None
    assert store.latest("chat", 1, 1, "deeplore") is None
    assert store.latest("other", 1, 0, "deeplore") is None
    assert store.history("chat", 2, 0, "deeplore") == ()
    assert store.latest_all("other", "deeplore") == ()


def test_every_run_is_kept(store):
    runs = [at(3, seed=seed) for seed in range(3)]
    assert [add(store, "chat", run) for run in runs] == [1, 2, 3]
    assert store.history("chat", 3, 0, "deeplore") == tuple(runs)
    assert store.latest("chat", 3, 0, "deeplore") == runs[2]


def test_pruning_leaves_the_newest_runs(store):
    add_many(store, "chat", [at(3, seed=seed) for seed in range(5)] + [at(3, 1), at(4), at(4)])
    add_many(store, "other", [at(3)] * 3)
    assert store.prune("chat", [(3, 0), (3, 1), (9, 9)], keep=2, system="deeplore") == 3
    assert [run.seed for run in store.history("chat", 3, 0, "deeplore")] == [3, 4]
    others = (("chat", 3, 1), ("chat", 4, 0), ("other", 3, 0))
    assert [len(store.history(*one, "deeplore")) for one in others] == [1, 2, 3]
    assert store.prune("chat", [(3, 0)], keep=2, system="deeplore") == 0
    assert store.prune("chat", [], keep=1, system="deeplore") == 0


def test_runs_are_numbered_on_after_pruning(store):
    add_many(store, "chat", [at(1, seed=seed) for seed in range(3)])
    store.prune("chat", [(1, 0)], keep=1, system="deeplore")
    assert add(store, "chat", at(1, seed=9)) == 4
    assert store.prune("chat", [(1, 0)], keep=2, system="deeplore") == 0
    assert [run.seed for run in store.history("chat", 1, 0, "deeplore")] == [2, 9]


def test_pruning_is_generous_by_itself(store):
    add_many(store, "chat", [at(1, seed=seed) for seed in range(KEPT_RUNS + 3)])
    assert store.prune("chat", [(1, 0)], system="deeplore") == 3
    assert [run.seed for run in store.history("chat", 1, 0, "deeplore")] == list(range(3, KEPT_RUNS + 3))


def test_the_newest_run_is_never_dropped(store):
    add(store, "chat", at(1))
    with pytest.raises(ValueError, match="at least the newest"):
        store.prune("chat", [(1, 0)], keep=0, system="deeplore")
    assert store.latest("chat", 1, 0, "deeplore") == at(1)


def test_pruning_is_all_or_nothing(store):
    add_many(store, "chat", [at(1), at(1)])
    with pytest.raises(StoreError, match="failed"):
        store.prune("chat", [(1, 0), (2, {})], keep=1, system="deeplore")
    assert len(store.history("chat", 1, 0, "deeplore")) == 2
    assert add(store, "chat", at(1)) == 3


def test_the_file_stays_as_large_as_it_was(path):
    """A dropped run's room is used again, so a person who runs again all evening fills no disk."""
    sizes = []
    for _ in range(8):
        with TraceStore(path) as store:
            for _ in range(30):
                add_many(store, "chat", [replace(strange(), turn=Turn(n, 0, 0)) for n in range(3)])
                store.prune("chat", [(n, 0) for n in range(3)], system="deeplore")
        sizes.append(path.stat().st_size)
    assert set(sizes[1:]) == {sizes[0]}


def test_the_newest_of_each_generation_by_message_and_swipe(store):
    add_many(store, "chat", [at(10), at(2, 1), at(2, 0, seed=1), at(2, 0, seed=2), at(10, seed=5)])
    add(store, "other", at(1))
    found = [(run.turn.message, run.turn.swipe, run.seed) for run in store.latest_all("chat", "deeplore")]
    assert found == [(2, 0, 2), (2, 1, 0), (10, 0, 5)]


def test_many_are_added_with_one_number_each(store):
    assert add_many(store, "chat", [at(1), at(1), at(2), at(1)]) == (1, 2, 1, 3)
    assert add_many(store, "chat", []) == ()


def test_all_or_none(store):
    add(store, "chat", at(1))
    with pytest.raises(StoreError, match="failed"):
        add_many(store, "chat", [at(2), replace(at(3), turn=Turn(None, 0, 0))])
    assert [run.turn.message for run in store.latest_all("chat", "deeplore")] == [1]
    assert add(store, "chat", at(2)) == 1


def test_a_chat_that_is_called_otherwise_keeps_its_runs(store):
    add_many(store, "chat", [at(1), at(2)])
    add(store, "other", at(3))
    store.move("chat", "moved")
    assert store.latest_all("chat", "deeplore") == ()
    assert [len(store.latest_all(each, "deeplore")) for each in ("moved", "other")] == [2, 1]


def test_clearing_a_chat_leaves_the_others(store):
    add_many(store, "chat", [at(1), at(1), at(2)])
    add(store, "other", at(1))
    assert store.clear("chat") == 3
    assert store.latest_all("chat", "deeplore") == ()
    assert len(store.latest_all("other", "deeplore")) == 1
    assert store.clear("chat") == 0


def test_traces_outlive_the_store_object(path):
    with TraceStore(path) as store:
        add(store, "chat", strange())
    with TraceStore(path) as store:
        assert add(store, "chat", story()) == 2
        assert len(store.history("chat", 12, 0, "deeplore")) == 2
        assert store.problems == ()


def test_the_file_is_small_and_safe(path, store):
    add(store, "chat", story())
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA user_version").fetchone() == (3,)
        size = connection.execute("SELECT length(trace) FROM traces").fetchone()[0]
    connection.close()
    assert size < 2500


def test_closing_twice_does_no_harm_and_using_a_closed_store_is_an_error(path):
    store = TraceStore(path)
    store.close()
    store.close()
    with pytest.raises(StoreError, match=r"traces\.sqlite: the trace store failed"):
        add(store, "chat", at(1))


def test_worker_threads_share_a_store(store):
    def work(worker):
        for message in range(20):
            add(store, f"chat {worker % 2}", at(message))
            store.latest("chat 0", message, 0, "deeplore")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    for chat in ("chat 0", "chat 1"):
        assert [len(store.history(chat, message, 0, "deeplore")) for message in range(20)] == [2] * 20


def test_two_stores_on_one_file(path, store):
    with TraceStore(path) as second:
        barrier = threading.Barrier(2)

        def work(one):
            barrier.wait()
            for _ in range(20):
                add(one, "chat", at(1))

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(work, (store, second)))
        assert len(store.history("chat", 1, 0, "deeplore")) == 40


CHILD = """
import sys
from lorestudio.domain.records import replace
from lorestudio.trace.model import Turn
from lorestudio.trace.storage.store import TraceStore
from tests.trace.examples import story, stored_run

store = TraceStore(sys.argv[1])
for message in range(10**6):
    store.add_runs("chat", [stored_run(replace(story(), turn=Turn(message, swipe, 0))) for swipe in range(3)])
    print(message, flush=True)
"""


@pytest.mark.long
def test_committed_traces_survive_a_kill(path):
    child = subprocess.Popen(  # noqa: S603  # our own interpreter and our own text
        [sys.executable, "-c", CHILD, str(path)], cwd=ROOT, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    try:
        for _ in range(25):
            assert child.stdout.readline()
        child.send_signal(signal.SIGKILL)
        reported = 25 + len(child.stdout.read().split())
    finally:
        child.kill()
        child.stdout.close()
        assert child.wait(30) == -signal.SIGKILL
    with TraceStore(path) as store:
        found = [(run.turn.message, run.turn.swipe) for run in store.latest_all("chat", "deeplore")]
        whole = [(message, swipe) for message in range(reported) for swipe in range(3)]
        assert found[: len(whole)] == whole
        assert len(found) % 3 == 0, "half a transaction came through"
        assert store.problems == ()
        assert add(store, "chat", at(0)) == 2


def test_a_file_that_is_no_database_is_moved_aside(path):
    path.parent.mkdir()
    path.write_bytes(b"this is a letter to my aunt\n" * 100)
    with TraceStore(path) as store:
        (problem,) = store.problems
        assert problem == (
            "traces.sqlite was damaged (file is not a database); it is now traces.sqlite.damaged-1, "
            "and a new store was begun."
        )
        assert add(store, "chat", at(1)) == 1
    assert path.with_name("traces.sqlite.damaged-1").read_bytes() == b"this is a letter to my aunt\n" * 100
    path.write_bytes(b"and another one" * 100)
    with TraceStore(path) as store:
        assert "it is now traces.sqlite.damaged-2," in store.problems[0]


def test_a_database_with_a_broken_page_is_moved_aside(path):
    with TraceStore(path) as store:
        add_many(store, "chat", [replace(strange(), turn=Turn(n, 0, 0)) for n in range(20)])
    data = bytearray(path.read_bytes())
    data[4096:8192] = b"\xa5" * 4096
    path.write_bytes(data)
    with TraceStore(path) as store:
        assert ["it is now traces.sqlite.damaged-1," in problem for problem in store.problems] == [True]
        assert store.latest_all("chat", "deeplore") == ()
        add(store, "chat", at(1))
    assert path.with_name("traces.sqlite.damaged-1").read_bytes() == bytes(data)


def test_a_store_is_checked_unless_it_is_as_it_was_left(path):
    """Damage that changes neither size nor date is met by whoever reads it; the next opening looks again."""
    with TraceStore(path) as store:
        add_many(store, "chat", [replace(strange(), turn=Turn(n, 0, 0)) for n in range(20)])
    data, left = bytearray(path.read_bytes()), path.stat()
    data[4096:8192] = b"\xa5" * 4096
    path.write_bytes(data)
    os.utime(path, ns=(left.st_atime_ns, left.st_mtime_ns))
    with TraceStore(path) as store:
        assert store.problems == ()
        with pytest.raises(StoreError, match="malformed"):
            store.latest_all("chat", "deeplore")
    with TraceStore(path) as store:
        assert ["it is now traces.sqlite.damaged-1," in problem for problem in store.problems] == [True]


def test_a_store_that_nobody_closed_is_checked(path):
    with TraceStore(path) as store:
        add_many(store, "chat", [replace(strange(), turn=Turn(n, 0, 0)) for n in range(20)])
    data, left = bytearray(path.read_bytes()), path.stat()
    data[4096:8192] = b"\xa5" * 4096
    path.write_bytes(data)
    os.utime(path, ns=(left.st_atime_ns, left.st_mtime_ns))
    path.with_name("traces.sqlite-wal").touch()
    with TraceStore(path) as store:
        assert ["it is now traces.sqlite.damaged-1," in problem for problem in store.problems] == [True]


def test_a_trace_that_cannot_be_read_is_reported_and_passed_over(path, store):
    add_many(store, "chat", [at(1, seed=1), at(1, seed=2), at(2)])
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE traces SET trace = x'00' WHERE message = 1 AND run = 2")
    connection.close()
    assert store.latest("chat", 1, 0, "deeplore").seed == 1
    assert len(store.history("chat", 1, 0, "deeplore")) == 1
    (problem,) = store.problems
    assert problem.startswith("The trace of message 1, swipe 0, run 2 of chat cannot be read and was passed")


def test_a_store_of_a_newer_version_is_left_alone(path, store):
    add(store, "chat", at(1))
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 9")
    connection.close()
    store.close()
    with pytest.raises(StoreError, match=r"written by a newer version \(schema 9, this one knows 3\)"):
        TraceStore(path)
    assert {item.name for item in path.parent.iterdir()} == {"traces.sqlite", "traces.sqlite.closed"}


OF_VERSION_1 = """
CREATE TABLE traces (
    id INTEGER PRIMARY KEY,
    chat_id TEXT NOT NULL,
    message INTEGER NOT NULL,
    swipe INTEGER NOT NULL,
    run INTEGER NOT NULL,
    trace BLOB NOT NULL,
    UNIQUE (chat_id, message, swipe, run)
)
"""


def test_a_store_from_before_there_were_systems_keeps_its_traces(path):
    """What version 1 kept were DeepLore's runs, and they are found as such."""
    with TraceStore(path.with_name("other.sqlite")) as other:
        add(other, "chat", at(1, seed=5))
    with sqlite3.connect(path.with_name("other.sqlite")) as connection:
        (blob,) = connection.execute("SELECT trace FROM traces").fetchone()
    connection.close()
    with sqlite3.connect(path) as connection:
        connection.execute(OF_VERSION_1)
        connection.executemany(
            "INSERT INTO traces (chat_id, message, swipe, run, trace) VALUES ('chat', ?, 0, ?, ?)",
            [(1, 1, blob), (1, 2, blob), (4, 1, blob)],
        )
        connection.execute("PRAGMA user_version = 1")
    connection.close()
    for _ in range(2):  # the second time it is of the newer version
        with TraceStore(path) as store:
            assert store.problems == ()
            assert store.history("chat", 1, 0, "deeplore") == (at(1, seed=5),) * 2
            assert store.latest("chat", 4, 0, "deeplore") is not None
            assert store.latest("chat", 1, 0, "hybrid") is None
            assert store.counts("chat") == {"deeplore": 3}
    with TraceStore(path) as store:
        assert add(store, "chat", at(1, system="hybrid")) == 3
        assert len(store.history("chat", 1, 0, "deeplore")) == 2


def test_runs_of_systems_are_kept_apart(store):
    add_many(store, "chat", [at(1, seed=1), at(1, seed=2, system="hybrid"), at(1, seed=3), at(2, system="hybrid")])
    add_many(store, "chat", [at(1, seed=4, system="hybrid"), at(1, seed=5, system="recap")])
    assert [run.seed for run in store.history("chat", 1, 0, "deeplore")] == [1, 3]
    assert [run.seed for run in store.history("chat", 1, 0, "hybrid")] == [2, 4]
    assert store.latest("chat", 1, 0, "recap").seed == 5
    assert [run.seed for run in store.latest_all("chat", "hybrid")] == [4, 0]
    assert [run.seed for run in store.latest_all("chat", "deeplore")] == [3]
    assert store.counts("chat") == {"deeplore": 2, "hybrid": 3, "recap": 1}
    assert store.counts("other") == {}


def test_pruning_one_system_leaves_the_others(store):
    for seed in range(4):
        add_many(store, "chat", [at(1, seed=seed), at(1, seed=seed, system="hybrid")])
    assert store.prune("chat", [(1, 0)], keep=1, system="hybrid") == 3
    assert store.counts("chat") == {"deeplore": 4, "hybrid": 1}
    assert store.latest("chat", 1, 0, "hybrid").seed == 3
    assert store.clear("chat") == 5


def test_a_place_that_cannot_be_written_is_an_error(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="cannot be opened"):
        TraceStore(tmp_path / "file" / "traces.sqlite")
    (tmp_path / "folder").mkdir()
    with pytest.raises(StoreError, match="cannot be opened"):
        TraceStore(tmp_path / "folder")
