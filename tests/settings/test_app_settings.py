"""The studio's own settings and their file."""

from __future__ import annotations

import json
from pathlib import Path

import platformdirs
import pytest
from pydantic import ValidationError

from lorestudio.settings.app import MAX_RECENT, AppSettings, default_path, load_app_settings, save_app_settings


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "config" / "studio.json"


def write(path: Path, document: object) -> bytes:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(document), encoding="utf-8")
    return path.read_bytes()


def test_no_file_means_the_defaults(path: Path) -> None:
    loaded = load_app_settings(path)
    assert loaded.settings == AppSettings()
    assert loaded.problems == ()
    assert not path.parent.exists()


def test_settings_come_back_as_they_were_saved(path: Path) -> None:
    settings = AppSettings(
        theme="dark",
        reduced_motion=True,
        editor_font_size=15,
        recent_vaults=(Path("/vaults/a"), Path("/vaults/ż")),
        last_project=Path("/p/one.lore"),
    )
    save_app_settings(settings, path)
    loaded = load_app_settings(path)
    assert loaded.settings == settings
    assert loaded.problems == ()
    assert [item.name for item in path.parent.iterdir()] == ["studio.json"]


def test_a_file_name_that_is_no_text_survives(path: Path) -> None:
    settings = AppSettings(recent_chats=(Path("/chats/\udcff.jsonl"),), last_project=Path("/p/\udcff"))
    save_app_settings(settings, path)
    assert load_app_settings(path).settings == settings


def test_recent_paths_are_newest_first_each_once_and_not_too_many() -> None:
    settings = AppSettings()
    for number in range(MAX_RECENT + 3):
        settings = settings.with_recent_vault(Path(f"/v{number}"))
    settings = settings.with_recent_vault(Path("/v10"))
    assert MAX_RECENT == 12
    assert len(settings.recent_vaults) == 12
    assert settings.recent_vaults[:3] == (Path("/v10"), Path("/v14"), Path("/v13"))
    assert settings.recent_chats == ()
    assert settings.with_recent_chat(Path("/c")).recent_chats == (Path("/c"),)


def test_a_long_list_in_the_file_is_shortened(path: Path) -> None:
    write(path, {"recent_chats": [f"/c{number}" for number in range(40)]})
    loaded = load_app_settings(path)
    assert loaded.settings.recent_chats == tuple(Path(f"/c{number}") for number in range(12))
    assert loaded.problems == ()


def test_only_the_keys_at_fault_get_their_defaults(path: Path) -> None:
    bad = {"theme": "pink", "editor_font_size": 500, "reduced_motion": "yes", "recent_vaults": [1]}
    data = write(path, {**bad, "recent_chats": ["/c"], "last_project": "/p"})
    loaded = load_app_settings(path)
    assert loaded.settings == AppSettings(recent_chats=(Path("/c"),), last_project=Path("/p"))
    assert path.with_name("studio.json.bak").read_bytes() == data
    assert len(loaded.problems) == len(bad) + 1
    for key in bad:
        assert any(str(path) in problem and f'"{key}"' in problem for problem in loaded.problems)
    assert "studio.json.bak" in loaded.problems[-1]


@pytest.mark.parametrize("content", [b"{", b"[]", b"null", b"\xff\xfe", b""])
def test_a_file_that_cannot_be_understood_is_kept(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    loaded = load_app_settings(path)
    assert loaded.settings == AppSettings()
    assert str(path) in loaded.problems[0]
    save_app_settings(loaded.settings, path)
    assert path.with_name("studio.json.bak").read_bytes() == content


def test_an_earlier_copy_is_not_overwritten(path: Path) -> None:
    path.parent.mkdir()
    for content in (b"{1", b"{2", b"{2"):
        path.write_bytes(content)
        load_app_settings(path)
    names = sorted(item.name for item in path.parent.iterdir())
    assert names == ["studio.json", "studio.json.2.bak", "studio.json.bak"]


def test_keys_of_a_newer_version_are_kept(path: Path) -> None:
    write(path, {"theme": "light", "hologram": {"depth": 3}})
    save_app_settings(load_app_settings(path).settings.with_recent_vault(Path("/v")), path)
    document = json.loads(path.read_text(encoding="utf-8"))
    assert document["hologram"] == {"depth": 3}
    assert document["theme"] == "light"


def test_a_folder_in_place_of_the_file_is_told(path: Path) -> None:
    path.mkdir(parents=True)
    loaded = load_app_settings(path)
    assert loaded.settings == AppSettings()
    assert len(loaded.problems) == 1
    assert str(path) in loaded.problems[0]


def test_the_default_place_is_the_configuration_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(platformdirs, "user_config_path", lambda name, **_options: tmp_path / name)
    assert default_path() == tmp_path / "lorestudio" / "studio.json"
    save_app_settings(AppSettings(theme="dark"))
    assert load_app_settings().settings.theme == "dark"


def test_settings_do_not_change_in_place() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        AppSettings().theme = "dark"
