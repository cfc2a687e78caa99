"""Real changes of real files; every wait ends at the latest after WAIT_S."""

from __future__ import annotations

import asyncio
import errno
import logging
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from lorestudio.vault import watching
from lorestudio.vault.watching import WatchTimes, watch_folder

WAIT_S = 20
QUICK = WatchTimes(debounce_ms=50, check_s=0.1, poll_s=0.05, retry_s=0.2)


class Watch(logging.Handler):
    """Collects what a watch says; `reasons` is why it polls, as the log has it."""

    def __init__(self) -> None:
        super().__init__()
        self.events: list[frozenset[str]] = []
        self.reasons: list[str] = []
        self._news = asyncio.Event()

    async def run(self, folder: Path) -> None:
        async with aclosing(watch_folder(folder, QUICK)) as events:
            async for event in events:
                self.events.append(event)
                self._news.set()

    def emit(self, record: logging.LogRecord) -> None:
        self.reasons.append(record.getMessage())
        self._news.set()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait for it; the deadline is that of the whole test."""
        while not condition():
            self._news.clear()
            await self._news.wait()

    @property
    def names(self) -> set[str]:
        return {name for event in self.events for name in event}


@asynccontextmanager
async def watch_of(folder: Path) -> AsyncIterator[Watch]:
    seen = Watch()
    watching._log.addHandler(seen)
    task = asyncio.create_task(seen.run(folder))
    try:
        await seen.until(lambda: bool(seen.events))
        yield seen
    finally:
        watching._log.removeHandler(seen)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert task.cancelled()


def run(work: Awaitable[None]) -> None:
    async def limited() -> None:
        async with asyncio.timeout(WAIT_S):
            await work

    asyncio.run(limited())


def refusing(*_paths: Path, **_options: Any) -> AsyncIterator[Any]:
    raise RuntimeError("there is no watcher")


@pytest.mark.parametrize("polling", [False, True])
def test_files_that_come_change_and_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, polling: bool) -> None:
    if polling:
        monkeypatch.setattr(watching, "awatch", refusing)
    (tmp_path / "old.md").write_text("1")
    (tmp_path / "f").mkdir()

    async def work() -> None:
        async with watch_of(tmp_path) as seen:
            assert seen.events == [frozenset()]
            (tmp_path / "f" / "new.md").write_text("2")
            await seen.until(lambda: "f/new.md" in seen.names)
            (tmp_path / "old.md").write_text("changed")
            await seen.until(lambda: "old.md" in seen.names)
            count = len(seen.events)
            (tmp_path / "f" / "new.md").unlink()
            await seen.until(lambda: any("f/new.md" in event for event in seen.events[count:]))
            assert bool(seen.reasons) is polling

    run(work())


def test_new_folders_are_watched_too(tmp_path: Path) -> None:
    async def work() -> None:
        async with watch_of(tmp_path) as seen:
            (tmp_path / "a" / "b").mkdir(parents=True)
            await seen.until(lambda: any(name.startswith("a") for name in seen.names))
            (tmp_path / "a" / "b" / "n.md").write_text("1")
            await seen.until(lambda: "a/b/n.md" in seen.names or "a/b" in seen.names)

    run(work())


def test_dot_names_do_not_count(tmp_path: Path) -> None:
    (tmp_path / ".obsidian").mkdir()

    async def work() -> None:
        async with watch_of(tmp_path) as seen:
            (tmp_path / ".obsidian" / "workspace.json").write_text("{}")
            (tmp_path / ".x.tmp").write_text("")
            (tmp_path / "n.md").write_text("")
            await seen.until(lambda: "n.md" in seen.names)
            assert seen.names == {"n.md"}

    run(work())


def test_several_writes_are_one_event(tmp_path: Path) -> None:
    async def work() -> None:
        async with watch_of(tmp_path) as seen:
            for number in range(20):
                (tmp_path / f"{number}.md").write_text("")
            await seen.until(lambda: len(seen.names) == 20)
            assert len(seen.events) < 10

    run(work())


def test_a_folder_that_goes_and_comes_back(tmp_path: Path) -> None:
    folder = tmp_path / "vault"
    folder.mkdir()
    (folder / "a.md").write_text("1")

    async def work() -> None:
        async with watch_of(folder) as seen:
            shutil.rmtree(folder)
            await seen.until(lambda: bool(seen.reasons))
            assert f"“{folder}” is not there" in seen.reasons[-1]
            await seen.until(lambda: seen.events.count(frozenset()) == 2)
            folder.mkdir()
            (folder / "b.md").write_text("2")
            await seen.until(lambda: seen.events.count(frozenset()) > 2)
            while "c.md" not in seen.names:  # whether the folder is watched again already is told to nobody
                with (folder / "c.md").open("a") as file:
                    file.write("3")
                await asyncio.sleep(0.1)

    run(work())


def test_a_folder_that_is_replaced_by_another(tmp_path: Path) -> None:
    folder, other = tmp_path / "vault", tmp_path / "other"
    folder.mkdir()
    other.mkdir()

    async def work() -> None:
        async with watch_of(folder) as seen:
            folder.rename(tmp_path / "old")
            other.rename(folder)
            await seen.until(lambda: len(seen.events) > 1)
            (folder / "n.md").write_text("1")
            await seen.until(lambda: "n.md" in seen.names)

    run(work())


@pytest.mark.parametrize(("error", "words"), [
    (OSError(errno.ENOSPC, "OS file watch limit reached."), "max_user_watches"),
    (PermissionError(errno.EACCES, "Permission denied"), "Permission denied"),
    (RuntimeError("the watcher broke"), "the watcher broke"),
])  # fmt: skip
def test_where_watching_is_impossible_it_polls_and_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, words: str
) -> None:
    attempts: list[int] = []
    real = watching.awatch
    broken = True

    async def refuse(*paths: Path, **options: Any) -> AsyncIterator[Any]:
        attempts.append(1)
        if broken:
            raise error
        async with aclosing(real(*paths, **options)) as events:
            async for event in events:
                yield event

    monkeypatch.setattr(watching, "awatch", refuse)

    async def work() -> None:
        nonlocal broken
        async with watch_of(tmp_path) as seen:
            (reason,) = seen.reasons
            assert words in reason
            assert "every 0.05 s" in reason
            (tmp_path / "n.md").write_text("1")
            await seen.until(lambda: "n.md" in seen.names)
            while len(attempts) < 3:  # noqa: ASYNC110 - an attempt is told to nobody
                await asyncio.sleep(0.02)
            assert seen.reasons == [reason]
            assert seen.events.count(frozenset()) == 1
            broken = False
            await seen.until(lambda: seen.events.count(frozenset()) == 2)

    run(work())


def test_a_folder_that_was_never_there(tmp_path: Path) -> None:
    async def work() -> None:
        async with watch_of(tmp_path / "gone") as seen:
            assert len(seen.reasons) == 1

    run(work())
