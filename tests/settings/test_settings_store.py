"""DeepLore's settings in files (rules: deeplore-tools 4.1, 4.3)."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING

import pytest

from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.settings.files import SettingsError, bytes_if_there, json_bytes, read_bytes, write_atomically
from lorestudio.settings.store import load, merged, new_document

if TYPE_CHECKING:
    from pathlib import Path

DEEPLORE = {"enabled": True, "scanDepth": "6", "vaults": [{"name": "W", "apiKey": "k"}], "mystery": {"a": [1, None]}}
SILLYTAVERN = {
    "firstRun": False,
    "extension_settings": {"connectionManager": {"profiles": []}, "deeplore_enhanced": DEEPLORE},
    "power_user": {"name": "żuraw \ud800"},
}
OWN = {"format": "lorestudio-deeplore-settings", "version": 1, "deeplore_settings_version": 3, "settings": DEEPLORE}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "settings.json"


def write(path: Path, document: object) -> None:
    path.write_text(json.dumps(document), encoding="utf-8")


@pytest.mark.parametrize("document", [DEEPLORE, SILLYTAVERN, OWN], ids=["plain", "sillytavern", "own"])
def test_all_layouts_are_read(path: Path, document: object) -> None:
    write(path, document)
    result = load(path)
    assert result.settings == DeepLoreSettings(enabled=True, scan_depth=6)
    assert result.corrected == {"scanDepth": 6}
    assert result.unknown == {"vaults": DEEPLORE["vaults"], "mystery": DEEPLORE["mystery"]}


def test_a_byte_order_mark_is_passed_over(path: Path) -> None:
    path.write_bytes(b"\xef\xbb\xbf" + b'{"scanDepth": 9}')
    assert load(path).settings.scan_depth == 9


def test_settings_of_an_old_version_in_our_own_file_are_brought_up_to_date(path: Path) -> None:
    write(path, {**OWN, "deeplore_settings_version": 2, "settings": {"librarianConnectionMode": "profile"}})
    assert load(path).settings.librarian_connection_mode == "inherit"


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        (b'{\n  "scanDepth": 4,\n  oops\n}', ["line 3, column 3", "not valid JSON"]),
        (b"", ["it is empty"]),
        (b'{"a": 1,\n "b": "\xff"}', ["line 2, byte 8", "UTF-8"]),
        (b'{"scanDepth": NaN}', ["NaN is no JSON number"]),
        (b"[" * 100_000, ["nested too deeply"]),
        (b"[1]", ["the file holds a list"]),
        (b"null", ["the file holds null"]),
        (b"5", ["the file holds a number"]),
        (b'{"extension_settings": []}', ['"extension_settings" holds a list']),
        (b'{"extension_settings": {}}', ['"extension_settings.deeplore_enhanced" is missing', "Start SillyTavern"]),
        (
            b'{"extension_settings": {"deeplore_enhanced": "x"}}',
            ['"extension_settings.deeplore_enhanced" holds a text'],
        ),
        (b'{"format": "other"}', ['field "format"', "'other'", "lorestudio-deeplore-settings"]),
        (b'{"format": "lorestudio-deeplore-settings", "version": 2, "settings": {}}', ['field "version"', "Update"]),
        (b'{"format": "lorestudio-deeplore-settings", "version": 1}', ['"settings" is missing']),
        (b'{"format": "lorestudio-deeplore-settings", "settings": [1]}', ['"settings" holds a list']),
    ],
)
def test_a_file_that_is_no_settings_file_is_refused_with_its_place(
    path: Path, content: bytes, parts: list[str]
) -> None:
    path.write_bytes(content)
    with pytest.raises(SettingsError) as caught:
        load(path)
    message = str(caught.value)
    assert all(part in message for part in [str(path), *parts]), message


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"absent\.json: there is no such file"):
        load(tmp_path / "absent.json")
    with pytest.raises(SettingsError, match=r"Give the settings file|cannot be read"):
        load(tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="permissions and links of POSIX")
def test_a_write_protected_file_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (path := tmp_path / "settings.json").write_bytes(b"old")
    monkeypatch.setattr(os, "access", lambda _, mode: mode != os.W_OK)
    with pytest.raises(PermissionError, match="write-protected"):
        write_atomically(path, b"new")
    assert [(each.name, each.read_bytes()) for each in tmp_path.iterdir()] == [("settings.json", b"old")]


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")
@pytest.mark.parametrize("name", ["new.json", "n" * 250 + ".json", "長" * 83 + ".json"])
def test_a_name_of_any_length_is_written_and_read(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    for data in (b"old", b"new"):
        write_atomically(path, data)
    assert [(each.name, read_bytes(each)) for each in tmp_path.iterdir()] == [(name, b"new")]
    assert bytes_if_there(path.with_suffix(".lorestudio.json")) is None  # may be too long for the disk


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")
def test_what_few_may_read_is_not_shown_to_more_while_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, modes = tmp_path / "settings.json", list[int]()
    path.write_bytes(b"old")
    path.chmod(0o640)
    monkeypatch.setattr(os, "fsync", lambda descriptor: modes.append(os.fstat(descriptor).st_mode & 0o777))
    write_atomically(path, b"new")
    assert [*modes, path.stat().st_mode & 0o777] == [0o640, 0o640]


def test_permissions_and_links_stay(tmp_path: Path) -> None:
    target, link = tmp_path / "real.json", tmp_path / "link.json"
    target.write_bytes(b"old")
    target.chmod(0o640)
    link.symlink_to(target)
    write_atomically(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert target.stat().st_mode & 0o777 == 0o640


def test_a_new_file_holds_what_differs_and_is_read_back(path: Path) -> None:
    settings = DeepLoreSettings(scan_depth=6, injection_template="ż {{content}}")
    document = new_document(settings)
    assert document["settings"] == {"scanDepth": 6, "injectionTemplate": "ż {{content}}"}
    write_atomically(path, json_bytes(document))
    result = load(path)
    assert result.settings == settings
    assert not result.problems


def test_a_failed_write_leaves_the_old_file_and_nothing_else(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(path, {"scanDepth": 4})
    before = path.read_bytes()

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left on device"):
        write_atomically(path, b"{}")
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_a_number_that_json_cannot_spell_is_refused() -> None:
    with pytest.raises(SettingsError, match="cannot be written as JSON"):
        json_bytes({"x": float("inf")})


@pytest.mark.parametrize("keys", [(), ("extension_settings", "deeplore_enhanced"), ("settings",)])
def test_only_changed_settings_change(path: Path, keys: tuple[str, ...]) -> None:
    document = {(): DEEPLORE, ("settings",): OWN}.get(keys, SILLYTAVERN)
    write(path, document)
    settings = load(path).settings.model_copy(update={"max_entries": 12})
    inner = merged(document, settings)
    expected = json.loads(json.dumps(document))
    place = expected
    for key in keys:
        place = place[key]
    place["maxEntries"] = 12
    assert inner == expected  # "6" is still a text, unknown keys and everything around are there
    write(path, inner)
    assert load(path).settings == settings


def test_a_setting_can_go_back_to_its_default() -> None:
    assert merged({"scanDepth": 9}, DeepLoreSettings()) == {"scanDepth": 4}


def test_a_change_made_elsewhere_survives_when_the_base_is_given() -> None:
    base = DeepLoreSettings(scan_depth=4)
    changed = base.model_copy(update={"max_entries": 12})
    assert merged({"scanDepth": 8}, changed, base) == {"scanDepth": 8, "maxEntries": 12}


def test_merging_leaves_the_document_alone() -> None:
    document = json.loads(json.dumps(SILLYTAVERN))
    result = merged(document, DeepLoreSettings(enabled=True, scan_depth=7))
    assert document == SILLYTAVERN
    assert result["extension_settings"]["deeplore_enhanced"]["scanDepth"] == 7


def test_what_an_earlier_writing_left_is_swept_and_nothing_else(tmp_path: Path) -> None:
    names = [".chat.jsonl.0a1b2c3d.tmp", ".chat.jsonl.0a1b2c3e.tmp", ".chat.jsonl.tmp", ".other.jsonl.0a1b2c3d.tmp"]
    for name in names:
        (tmp_path / name).write_bytes(b"half")
        os.utime(tmp_path / name, (0, 0))
    os.utime(tmp_path / names[1])  # somebody may be writing it
    write_atomically(tmp_path / "chat.jsonl", b"whole")
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted([*names[1:], "chat.jsonl"])


@pytest.mark.parametrize(
    "other", [{"entries": {}}, {"spec": "chara_card_v2", "data": {}}, {"temperature": 1, "prompts": []}]
)
def test_a_lorebook_a_card_and_a_preset_are_no_settings(tmp_path: Path, other: dict[str, object]) -> None:
    write(tmp_path / "other.json", other)
    with pytest.raises(SettingsError, match=r"other\.json: nothing in this file is a setting of DeepLore's\. Give"):
        load(tmp_path / "other.json")
    for fine in (
        {},
        {"main_api": "openai", "oai_settings": {}},
        {"vaults": []},
        {"scanDept": 3},
        {**other, "scanDepth": 3},
    ):
        write(tmp_path / "other.json", fine)
        load(tmp_path / "other.json")
