"""A library in a thread of its own: cached first, compared afterwards, followed from then on."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.studio.project.library import LibraryListener
from lorestudio.studio.project.library_thread import LibraryThread
from lorestudio.vault.sources import FolderSource

NOTE = "---\ntags: [lorebook]\nkeys: [gate]\n---\n# {title}\nIt is shut."
PATIENCE_S = 20


class Heard:
    """What the listener was told, and a way to wait for more."""

    def __init__(self) -> None:
        self.news = []
        self._more = threading.Condition()

    def take(self, news) -> None:
        with self._more:
            self.news.append(news)
            self._more.notify_all()

    def wait(self, fits) -> object:
        with self._more:
            assert self._more.wait_for(lambda: any(fits(news) for news in self.news), PATIENCE_S), self.news
            return next(news for news in self.news if fits(news))


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    folder.mkdir()
    (folder / "gate.md").write_text(NOTE.format(title="Gate"), encoding="utf-8")
    return folder


def opened(vault: Path, tmp_path: Path, heard: Heard) -> LibraryThread:
    listener = LibraryListener(news=heard.take)
    return LibraryThread([FolderSource(vault)], DeepLoreSettings(), listener, cache_file=tmp_path / "cache.sqlite")


def test_the_second_opening_begins_with_the_cache_and_then_takes_in_what_changed(vault, tmp_path):
    first = opened(vault, tmp_path, Heard())
    assert [entry.title for entry in first.open().index.entries] == ["Gate"]
    first.close()
    (vault / "wall.md").write_text(NOTE.format(title="Wall"), encoding="utf-8")
    heard = Heard()
    second = opened(vault, tmp_path, heard)
    try:
        cached = second.open()
        assert not cached.confirmed
        assert [entry.title for entry in cached.index.entries] == ["Gate"]
        confirmed = heard.wait(lambda news: news.confirmed)
        assert [entry.title for entry in confirmed.index.entries] == ["Gate", "Wall"]
        assert confirmed.parsed == 1
    finally:
        second.close()


def test_a_change_on_disk_is_told_while_the_vault_is_open(vault, tmp_path):
    heard = Heard()
    library = opened(vault, tmp_path, heard)
    try:
        library.open()
        (vault / "gate.md").write_text(NOTE.format(title="Gate") + " And locked.", encoding="utf-8")
        library.request_refresh()
        told = heard.wait(lambda news: bool(news.changes.modified))
        assert told.index.entries[0].content.endswith("And locked.")
    finally:
        library.close()


def test_closing_ends_the_thread(vault, tmp_path):
    before = threading.active_count()
    library = opened(vault, tmp_path, Heard())
    library.open()
    library.close()
    library.close()
    assert all(thread.name != "vaults" for thread in threading.enumerate())
    assert threading.active_count() <= before + 1  # the watcher's helper may end a moment later
