from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lorestudio.domain.entry import Entry
from lorestudio.domain.lifecycle import Cancelled
from lorestudio.settings.deeplore import DeepLoreSettings, sanitise
from lorestudio.studio.project.library import Library, LibraryListener, LibraryNews, changes_text, read_once
from lorestudio.vault.cache import VaultCache
from lorestudio.vault.index import IndexChanges, RefreshReason, changes_between
from lorestudio.vault.obsidian import ObsidianVault
from lorestudio.vault.obsidian_host import CircuitBreakers
from lorestudio.vault.sources import FolderSource, ObsidianSource, VaultSource
from lorestudio.vault.watching import WatchTimes
from tests.vault.obsidian_server import KEY, ObsidianServer, running

WAIT_S = 20
QUICK = WatchTimes(debounce_ms=50, check_s=0.1, poll_s=0.1, retry_s=1)
SETTINGS = DeepLoreSettings()


def lore(body: str = "", **front: str) -> str:
    lines = "".join(f"{name}: {value}\n" for name, value in front.items())
    return f"---\ntags: [lorebook]\n{lines}---\n{body}"


def run(work: Awaitable[None]) -> None:
    async def limited() -> None:
        async with asyncio.timeout(WAIT_S):
            await work

    asyncio.run(limited())


class Heard:
    """What a library told."""

    def __init__(self) -> None:
        self.news: list[LibraryNews] = []
        self.problems: list[str] = []
        self.listener = LibraryListener(self.news.append, self.problems.append)

    async def until(self, condition: Callable[[], bool]) -> None:
        while not condition():  # noqa: ASYNC110 - what is waited for is not always something that is told
            await asyncio.sleep(0.01)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "vault"
    place.mkdir()
    write(place, a=lore("one"), b=lore("two"))
    return place


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[VaultCache]:
    with VaultCache(tmp_path / "cache.sqlite") as opened:
        yield opened


def write(place: Path, **texts: str) -> None:
    """Notes that look old, so that their stamps count."""
    for title, text in texts.items():
        (place / f"{title}.md").write_text(text)


def library(*sources: VaultSource | Path, heard: Heard | None = None, **options: Any) -> Library:
    every = [FolderSource(source) if isinstance(source, Path) else source for source in sources]
    listener = heard.listener if heard is not None else LibraryListener()
    return Library(every, options.pop("settings", SETTINGS), listener=listener, times=QUICK, **options)


def titles(index: Any) -> list[str]:
    return [entry.title for entry in index.entries]


def contents(index: Any) -> list[str]:
    return [entry.content for entry in index.entries]


# ---- opening --------------------------------------------------------------------------------------------------------


def test_without_a_cache_the_vault_is_read(folder: Path) -> None:
    async def work() -> None:
        heard = Heard()
        async with library(folder, heard=heard) as opened:
            assert opened.index.entries == ()
            news = await opened.open()
            assert (news.confirmed, news.parsed, news.reason) == (True, 2, RefreshReason.OPENED)
            assert contents(opened.index) == ["one", "two"]
            assert heard.news == [news]

    run(work())


def test_a_known_vault_is_there_at_once_and_checked_afterwards(folder: Path, cache: VaultCache) -> None:
    async def work() -> None:
        async with library(folder, cache=cache) as first:
            await first.open()
        write(folder, b=lore("changed"), c=lore("new"))
        heard = Heard()
        async with library(folder, heard=heard, cache=cache) as second:
            news = await second.open()
            assert not news.confirmed
            assert contents(news.index) == ["one", "two"]
            await second.settled()
            checked = heard.news[1]
            assert checked.confirmed
            assert checked.parsed == 2
            assert changes_text(changes_between(news.index, checked.index)) == "1 added (c); 1 changed (b)"
            assert contents(second.index) == ["one", "changed", "new"]
            assert second.index.entries[0] is news.index.entries[0]
        async with library(folder, cache=cache) as third:
            assert contents((await third.open()).index) == ["one", "changed", "new"]

    run(work())


def test_nothing_is_parsed_where_nothing_changed(folder: Path, cache: VaultCache) -> None:
    async def work() -> None:
        async with library(folder, cache=cache) as first:
            await first.open()
        heard = Heard()
        async with library(folder, heard=heard, cache=cache) as second:
            await second.open()
            await second.settled()
        opened, checked = heard.news
        assert checked.index is opened.index
        assert (checked.parsed, checked.changed) == (0, False)

    run(work())


def test_what_was_read_elsewhere_is_taken_over_and_kept(folder: Path, cache: VaultCache) -> None:
    known = read_once([FolderSource(folder)], SETTINGS).state
    assert known is not None

    async def work() -> None:
        write(folder, b=lore("changed"))
        heard = Heard()
        async with library(folder, heard=heard, cache=cache, known=known) as opened:
            news = await opened.open()
            assert (news.index, news.confirmed, news.changed) == (known.index, False, True)
            await opened.settled()
            assert [(each.parsed, each.changed) for each in heard.news[1:]] == [(1, True)]
            assert contents(opened.index) == ["one", "changed"]
            assert opened.index.entries[0] is known.index.entries[0]
        async with library(folder, cache=cache) as again:
            assert contents((await again.open()).index) == ["one", "changed"]

    run(work())


def test_other_rules_do_not_use_the_cache(folder: Path, cache: VaultCache) -> None:
    other = sanitise({"lorebookTag": "tale"}).settings

    async def work() -> None:
        async with library(folder, cache=cache) as first:
            await first.open()
        async with library(folder, cache=cache, settings=other) as second:
            news = await second.open()
            assert (news.confirmed, news.parsed, news.index.entries) == (True, 2, ())

    run(work())


def test_all_vaults_are_cached_or_none(folder: Path, tmp_path: Path, cache: VaultCache) -> None:
    other = tmp_path / "other"
    other.mkdir()
    write(other, c=lore("three", requires="[a]"))

    async def work() -> None:
        async with library(folder, cache=cache) as first:
            await first.open()
        async with library(folder, other, cache=cache) as second:
            news = await second.open()
            assert news.confirmed
            assert [(entry.vault, entry.title) for entry in news.index.entries] == [
                ("vault", "a"), ("vault", "b"), ("other", "c"),
            ]  # fmt: skip
        async with library(folder, other, cache=cache) as third:
            news = await third.open()
            assert not news.confirmed
            assert news.index.entries[2].requires == ("a",)

    run(work())


def test_a_damaged_cache_is_told_and_does_no_harm(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    path.write_bytes(b"rubbish" * 1000)
    heard = Heard()

    async def work() -> None:
        with VaultCache(path) as cache:
            async with library(folder, heard=heard, cache=cache) as opened:
                await opened.open()
                assert contents(opened.index) == ["one", "two"]

    run(work())
    (problem,) = heard.problems
    assert "was damaged" in problem


def test_a_vault_that_is_not_there(folder: Path, tmp_path: Path) -> None:
    async def work() -> None:
        async with library(folder, tmp_path / "gone") as opened:
            news = await opened.open()
            assert titles(news.index) == ["a", "b"]
            (failure,) = news.failures
            assert "gone" in failure
            assert not news.confirmed

    run(work())


def test_no_vault() -> None:
    async def work() -> None:
        async with library() as opened:
            assert (await opened.open()).index.entries == ()

    run(work())


def test_reading_once(folder: Path, cache: VaultCache) -> None:
    first = read_once([FolderSource(folder)], SETTINGS, cache=cache)
    write(folder, a=lore("new"))
    second = read_once([FolderSource(folder)], SETTINGS, cache=cache)
    assert (first.parsed, second.parsed) == (2, 1)
    assert contents(second.index) == ["new", "two"]
    assert second.index.vaults == (folder.name,)


# ---- refreshing -----------------------------------------------------------------------------------------------------


def age(folder: Path) -> None:
    for path in folder.iterdir():
        os.utime(path, (1e9, 1e9))


def test_a_manual_refresh_reads_every_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lorestudio.vault.folder.SETTLING_NS", -(10**12))

    async def work() -> None:
        async with library(folder) as opened:
            await opened.open()
            assert (await opened.refresh(RefreshReason.POLL)).read == 0
            assert (await opened.refresh()).read == 2
            assert (await opened.refresh(RefreshReason.POLL)).read == 0

    run(work())


def test_the_check_of_a_cached_index_is_waited_for(folder: Path, cache: VaultCache) -> None:
    async def work() -> None:
        async with library(folder, cache=cache) as first:
            await first.open()
        write(folder, a=lore("new"))
        async with library(folder, cache=cache) as second:
            await second.open()
            await second.settled()
            assert contents(second.index) == ["new", "two"]

    run(work())


class SlowSource:
    """A folder whose scan waits until it is let go."""

    def __init__(self, folder: Path) -> None:
        self.inner = FolderSource(folder)
        self.id, self.name, self.folder = self.inner.id, self.inner.name, None
        self.begun = 0
        self.gate = asyncio.Event()
        self.gate.set()

    async def scan(self, *arguments: Any, **options: Any) -> Any:
        self.begun += 1
        await self.gate.wait()
        return await self.inner.scan(*arguments, **options)


def test_requests_that_come_together_share_a_refresh(folder: Path) -> None:
    async def work() -> None:
        source = SlowSource(folder)
        heard = Heard()
        async with library(source, heard=heard) as opened:
            await opened.open()
            source.gate.clear()
            running_one = asyncio.create_task(opened.refresh(RefreshReason.POLL))
            await heard.until(lambda: source.begun == 2)
            waiting = [asyncio.create_task(opened.refresh(RefreshReason.POLL)) for _ in range(5)]
            await asyncio.sleep(0)
            source.gate.set()
            results = await asyncio.gather(running_one, *waiting)
            assert source.begun == 3
            assert all(result is results[1] for result in results[1:])
            assert results[0] is not results[1]

    run(work())


def test_cancelling_a_refresh(folder: Path) -> None:
    async def work() -> None:
        source = SlowSource(folder)
        heard = Heard()
        async with library(source, heard=heard) as opened:
            await opened.open()
            before = opened.index
            source.gate.clear()
            task = asyncio.create_task(opened.refresh())
            await heard.until(lambda: source.begun == 2)
            opened._running.cancel()
            with pytest.raises(Cancelled):
                await task
            assert opened.index is before
            source.gate.set()
            assert (await opened.refresh()).read == 2
            assert heard.problems == []

    run(work())


def test_a_caller_that_gives_up_does_not_stop_the_refresh(folder: Path) -> None:
    async def work() -> None:
        source = SlowSource(folder)
        heard = Heard()
        async with library(source, heard=heard) as opened:
            await opened.open()
            source.gate.clear()
            task = asyncio.create_task(opened.refresh())
            await heard.until(lambda: source.begun == 2)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            source.gate.set()
            await opened.settled()
            assert len(heard.news) == 2

    run(work())


class BrokenSource(SlowSource):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.folder = folder

    async def scan(self, *arguments: Any, **options: Any) -> Any:
        if self.begun:
            raise LookupError("the keyring broke")
        return await super().scan(*arguments, **options)


def test_what_fails_in_the_background_is_told(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def work() -> None:
        heard = Heard()
        async with library(BrokenSource(folder), heard=heard) as opened:
            await opened.open()
            opened.follow()  # the first look at the folder finds the keyring broken
            await heard.until(lambda: bool(heard.problems))
            assert "the keyring broke" in heard.problems[0]
            with pytest.raises(LookupError):
                await opened.refresh()

    run(work())
    assert "work on the vaults failed" in caplog.text


# ---- following ------------------------------------------------------------------------------------------------------


def test_changes_on_disk_are_followed(folder: Path, cache: VaultCache) -> None:
    async def work() -> None:
        heard = Heard()
        async with library(folder, heard=heard, cache=cache) as opened:
            await opened.open()
            opened.follow()
            opened.follow()
            write(folder, c=lore("three"))
            await heard.until(lambda: titles(opened.index) == ["a", "b", "c"])
            (folder / "a.md").unlink()
            await heard.until(lambda: titles(opened.index) == ["b", "c"])
            assert heard.news[-1].reason is RefreshReason.CHANGED_ON_DISK
        assert threading.active_count() < 10
        async with library(folder, cache=cache) as again:
            assert titles((await again.open()).index) == ["b", "c"]

    run(work())


@pytest.mark.long
def test_polling(folder: Path) -> None:
    every_second = sanitise({"syncPollingInterval": 1}).settings

    async def work() -> None:
        heard = Heard()
        async with library(SlowSource(folder), heard=heard, settings=every_second) as opened:
            await opened.open()
            opened.follow()
            write(folder, c=lore("three"))
            await heard.until(lambda: titles(opened.index) == ["a", "b", "c"])
            assert heard.news[-1].reason is RefreshReason.POLL

    run(work())


# ---- Obsidian -------------------------------------------------------------------------------------------------------


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def obsidian(server: ObsidianServer, breakers: CircuitBreakers | None = None) -> ObsidianSource:
    return ObsidianSource(ObsidianVault(server.address(), lambda: KEY, breakers, timeout_s=5))


def test_obsidian_goes_away_and_comes_back(cache: VaultCache) -> None:
    clock = Clock()
    source_breakers = CircuitBreakers(clock)

    async def work(server: ObsidianServer, started: Callable[[], Any]) -> None:
        heard = Heard()
        async with library(obsidian(server, source_breakers), heard=heard, cache=cache) as opened:
            news = await opened.open()
            assert not news.confirmed
            assert titles(news.index) == ["a", "b"]
            await opened.settled()
            assert not heard.news[-1].confirmed
            assert "cannot be reached" in heard.news[-1].failures[0]
            for _ in range(3):
                news = await opened.refresh()
            assert "left alone" in news.failures[0]
            assert titles(opened.index) == ["a", "b"]
            with started():
                server.write(a=lore("new"))
                assert (await opened.refresh()).failures
                clock.now += 2
                news = await opened.refresh()
                assert (news.failures, news.parsed, contents(news.index)) == ((), 1, ["new", "two"])
                assert news.confirmed

    with running() as server:
        server.write(a=lore("one"), b=lore("two"))
        read_once([obsidian(server)], SETTINGS, cache=cache)
    run(work(server, lambda: running(server)))


def test_a_partial_listing_keeps_the_previous_entries() -> None:
    async def work(server: ObsidianServer) -> None:
        async with library(obsidian(server)) as opened:
            await opened.open()
            server.faults = {"f/": 500}
            server.write(a=lore("new"))
            news = await opened.refresh()
            assert contents(news.index) == ["one", "three"]
            assert "was not listed" in news.failures[0]
            server.faults = {}
            assert contents((await opened.refresh()).index) == ["new", "three"]

    with running() as server:
        server.write(a=lore("one"))
        server.files["f/c.md"] = lore("three").encode()
        run(work(server))


@pytest.mark.parametrize(
    ("files", "said"), [({}, "lists no note"), ({"bad.md": b"\xff"}, "“bad.md” is not UTF-8 text")]
)
def test_a_listing_without_notes_keeps_the_previous_entries(files: dict[str, bytes], said: str) -> None:
    async def work(server: ObsidianServer) -> None:
        async with library(obsidian(server)) as opened:
            await opened.open()
            server.files = files
            news = await opened.refresh()
            assert titles(news.index) == ["a"]
            assert said in news.failures[0]

    with running() as server:
        server.write(a=lore("one"))
        run(work(server))


def test_a_note_that_cannot_be_fetched_stays_as_it_was() -> None:
    async def work(server: ObsidianServer) -> None:
        async with library(obsidian(server)) as opened:
            await opened.open()
            server.write(a=lore("new"), b=lore("new"))
            server.faults = {"b.md": 500, "c.md": 500}
            server.files["c.md"] = b""
            news = await opened.refresh()
            assert contents(news.index) == ["new", "two"]
            assert "It stays as it was." in news.failures[0]
            assert [note.filename for note in news.index.left_out] == ["c.md"]

    with running() as server:
        server.write(a=lore("one"), b=lore("two"))
        run(work(server))


def test_a_folder_and_obsidian_together(folder: Path) -> None:
    async def work(server: ObsidianServer) -> None:
        async with library(folder, obsidian(server)) as opened:
            await opened.open()
            assert [(entry.vault, entry.title) for entry in opened.index.entries] == [
                ("vault", "a"), ("vault", "b"), ("V", "c"),
            ]  # fmt: skip

    with running() as server:
        server.write(c=lore("three"))
        run(work(server))


# ---- words ----------------------------------------------------------------------------------------------------------


def test_changes_in_words() -> None:
    many = tuple(Entry(0, f"{title}.md", "V", title) for title in "abcd")
    lost = Entry(0, "e.md", "V", "e")
    changes = IndexChanges(added=many, removed=(lost,), keys_changed=many[:3], other=many[1:2])
    assert changes_text(changes) == (
        "4 added (a, b, c, …); 1 removed (e); 3 with other keys (a, b, c); 1 with other fields changed (b)"
    )
    moved = IndexChanges(added=(Entry(0, "sea/a.md", "V", "a"),), removed=(*many[:1], lost))
    assert changes_text(moved) == "1 removed (e); 1 moved (a)"
    assert changes_text(IndexChanges()) == ""
