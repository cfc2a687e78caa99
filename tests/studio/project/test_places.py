"""Where vaults are: folders, and Obsidian behind its plugin."""

from __future__ import annotations

import pytest

from lorestudio.studio.project.places import KEY_VARIABLE, is_address, vault_sources
from lorestudio.studio.project.project import open_project
from lorestudio.vault.files import VaultError
from lorestudio.vault.obsidian_host import obsidian_address
from tests.vault.obsidian_server import KEY, ObsidianServer, running

NOTE = "---\ntags: [lorebook]\nkeys: [gate]\n---\n# The Gate\nIt is shut."


@pytest.mark.parametrize(
    ("place", "host", "port", "https", "name"),
    [
        ("http://127.0.0.1", "127.0.0.1", 27123, False, "Obsidian"),
        ("https://127.0.0.1", "127.0.0.1", 27124, True, "Obsidian"),
        ("http://localhost:4000/My%20World", "localhost", 4000, False, "My World"),
    ],
)
def test_an_address_says_where_the_plugin_listens_and_what_the_vault_is_called(place, host, port, https, name):
    address = obsidian_address(place)
    assert (address.host, address.port, address.https, address.name) == (host, port, https, name)
    assert is_address(place)


@pytest.mark.parametrize("place", ["http://", "http://127.0.0.1:port", "http://user:word@127.0.0.1", "http://h?key=1"])
def test_what_is_no_address_is_refused_with_an_example(place):
    with pytest.raises(VaultError, match=r"http://127\.0\.0\.1:27123"):
        obsidian_address(place)


def test_a_folder_and_obsidian_are_read_into_one_project(tmp_path, monkeypatch):
    (tmp_path / "wall.md").write_text(NOTE.replace("Gate", "Wall"), encoding="utf-8")
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    with running(ObsidianServer()) as server:
        server.write(gate=NOTE)
        place = f"http://127.0.0.1:{server.port}/World"
        project = open_project([tmp_path, place])
    assert [(entry.vault, entry.title) for entry in project.index.entries] == [
        (tmp_path.name, "The Wall"),
        ("World", "The Gate"),
    ]
    assert project.vault_folders == (tmp_path.resolve(), None)
    assert project.places == (str(tmp_path.resolve()), place)


def test_a_refused_key_is_told_and_not_repeated(monkeypatch):
    monkeypatch.setenv(KEY_VARIABLE, "wrong-key-0123456789")
    with running(ObsidianServer()) as server, pytest.raises(VaultError) as refused:
        open_project([f"http://127.0.0.1:{server.port}"])
    assert "key" in str(refused.value).lower()
    assert "wrong-key" not in str(refused.value)


def test_vaults_at_one_host_share_a_breaker():
    first, second = vault_sources(["http://127.0.0.1:1/A", "http://127.0.0.1:1/B"])
    assert first.vault.breaker == second.vault.breaker


def test_folders_of_one_name_are_vaults_of_their_own(tmp_path):
    folders = [tmp_path / above / "Lore" for above in ("old", "new", "x/new")]
    for folder in folders:
        folder.mkdir(parents=True)
        (folder / "Gate.md").write_text(NOTE, encoding="utf-8")
    project = open_project(folders)
    assert project.index.vaults == ("Lore", "Lore (new)", "Lore 2")
    assert [project.note_path(entry.vault, entry.filename) for entry in project.index.entries] == [
        folder / "Gate.md" for folder in folders
    ]


def test_a_folder_is_not_taken_for_a_vault_of_its_name_behind_obsidian(tmp_path):
    places = [str(tmp_path / "World"), "http://127.0.0.1:1/World"]
    assert [source.name for source in vault_sources(places)] == [f"World ({tmp_path.name})", "World"]
