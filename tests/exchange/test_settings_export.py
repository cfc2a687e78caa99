"""Carrying settings into SillyTavern's file (rules: deeplore-tools 4.2, 4.3)."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lorestudio.exchange import json_file
from lorestudio.exchange.problems import InputError
from lorestudio.exchange.settings_files import (
    DeepLoreCarrier,
    by_default,
    changes_list,
    import_file,
    import_text,
    taken_over,
    unknown_keys,
)
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.settings.files import SettingsError
from lorestudio.settings.sections import differences
from lorestudio.settings.store import Layout, load

TEXT = """{
    "firstRun": false,
    "temp": 1.0,
    "extension_settings": {
        "connectionManager": {"profiles": [{"id": "p"}]},
        "deeplore_enhanced": {
            "enabled": true,
            "scanDepth": "6",
            "vaults": [{"name": "W", "apiKey": "s3cret"}],
            "mystery": {"a": [1, null]},
            "settingsVersion": 3
        }
    },
    "power_user": {"name": "\\u017curaw"}
}"""

CARRIER = DeepLoreCarrier(DeepLoreSettings())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "settings.json"
    file.write_text(TEXT, encoding="utf-8", newline="")
    return file


def test_only_the_chosen_keys_change_and_a_copy_lies_beside_it(path: Path) -> None:
    merge = CARRIER.plan(path, {"scanDepth": 8, "maxEntries": 12, "enabled": True})
    assert path.read_text(encoding="utf-8") == TEXT
    assert [change.text for change in merge.changes] == [
        "scanDepth: “6” → 8 messages",
        "maxEntries: 10 entries (not written) → 12 entries",
    ]
    copy = json_file.carry_out(merge.file, datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC))
    assert copy == path.with_name("settings.json.2026-01-02_03-04-05.bak")
    assert copy.read_text(encoding="utf-8") == TEXT
    assert path.read_text(encoding="utf-8") == TEXT.replace('"6"', "8").replace(
        '"settingsVersion": 3', '"settingsVersion": 3,\n            "maxEntries": 12'
    )
    assert load(path).settings == DeepLoreSettings(enabled=True, scan_depth=8, max_entries=12)


def test_nothing_is_written_where_nothing_differs(path: Path) -> None:
    merge = CARRIER.plan(path, {"enabled": True})
    assert merge.changes == ()
    assert merge.file.data == path.read_bytes()


def test_a_file_that_was_changed_meanwhile_is_left_alone(path: Path) -> None:
    merge = CARRIER.plan(path, {"scanDepth": 8})
    path.write_text(TEXT + "\n", encoding="utf-8")
    with pytest.raises(InputError, match="changed meanwhile"):
        json_file.carry_out(merge.file)
    assert path.read_text(encoding="utf-8") == TEXT + "\n"
    assert [item.name for item in path.parent.iterdir()] == ["settings.json"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{oops}", "line 1"),
        ("[1]", "no JSON object"),
        ('{"scanDepth": 4}', "nothing else that SillyTavern writes"),
        ('{"format": "lorestudio-deeplore-settings", "version": 1, "settings": {}}', "settings file of lorestudio"),
        ('{"extension_settings": [1]}', "field “extension_settings”"),
        ('{"extension_settings": {"deeplore_enhanced": "x"}}', "field “extension_settings.deeplore_enhanced”"),
    ],
)
def test_a_file_that_is_not_what_it_seems_is_refused(path: Path, text: str, told: str) -> None:
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        CARRIER.plan(path, {"scanDepth": 8})
    assert told in str(caught.value)
    assert str(path) in str(caught.value)
    assert path.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("text", ['{"power_user": {}}', '{"extension_settings": {}}'])
def test_missing_objects_are_made_and_said(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    merge = CARRIER.plan(path, {"scanDepth": 8})
    json_file.carry_out(merge.file)
    found = json.loads(path.read_text(encoding="utf-8"))
    assert found["extension_settings"] == {"deeplore_enhanced": {"scanDepth": 8, "settingsVersion": 3}}
    assert "no settings in this file yet" in merge.remarks[0]


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    for place in (tmp_path / "absent.json", tmp_path):
        with pytest.raises(InputError):
            CARRIER.plan(place, {"scanDepth": 8})


def test_a_byte_order_mark_goes_because_sillytavern_cannot_read_it(path: Path) -> None:
    path.write_bytes(b"\xef\xbb\xbf" + TEXT.encode())
    assert CARRIER.plan(path, {"scanDepth": 8}).file.data.startswith(b"{")


def test_what_an_older_version_would_be_brought_up_to_is_written_with_the_version(path: Path) -> None:
    """Else DeepLore would not bring it up to date any more (rules: deeplore-tools 4.2 step 4)."""
    old = {"librarianSessionModel": "m1", "librarianConnectionMode": "profile", "settingsVersion": 1}
    path.write_text(json.dumps({"extension_settings": {"deeplore_enhanced": old}}), encoding="utf-8")
    merge = CARRIER.plan(path, {"scanDepth": 8})
    found = json.loads(merge.file.data)["extension_settings"]["deeplore_enhanced"]
    assert found == old | {
        "librarianModel": "m1", "librarianConnectionMode": "inherit", "scanDepth": 8, "settingsVersion": 3,
    }  # fmt: skip
    assert len(merge.remarks) == 2


def test_the_version_of_newer_settings_stays(path: Path) -> None:
    for version, told in ((4, False), (5, False), (6, True)):  # 5 is that of 2.6 (rules: deeplore-newer 2)
        path.write_text(TEXT.replace('"settingsVersion": 3', f'"settingsVersion": {version}'), encoding="utf-8")
        merge = CARRIER.plan(path, {"scanDepth": 8})
        assert json.loads(merge.file.data)["extension_settings"]["deeplore_enhanced"]["settingsVersion"] == version
        assert any("newer version" in remark for remark in merge.remarks) is told


def test_what_deeplore_would_take_wrongly_is_mended_or_left_out() -> None:
    settings = DeepLoreSettings(
        ai_search_proxy_url="http://localhost:42069/v1", injection_position=-1, injection_role=3,
        optimize_keys_mode="both", scan_depth=9,
    )  # fmt: skip
    chosen = {"aiSearchProxyUrl", "injectionPosition", "injectionRole", "optimizeKeysMode", "scanDepth"}
    values, remarks = DeepLoreCarrier(settings).prepared(chosen)
    assert values == {"scanDepth": 9, "aiSearchProxyUrl": "http://127.0.0.1:42069/v1"}
    assert sorted(remark.partition(":")[0] for remark in remarks) == sorted(chosen - {"scanDepth"})


def test_what_belongs_to_one_computer_is_not_carried_unless_asked_for() -> None:
    changed = differences(
        DeepLoreSettings(), DeepLoreSettings(ai_search_profile_id="x", graph_gravity=1.0, scan_depth=9)
    )
    assert [each.declaration.alias for each in by_default(changed)] == ["scanDepth"]
    assert unknown_keys(["scanDepth", "nope", "settingsVersion"]) == ["nope", "settingsVersion"]


def test_candidates_are_what_differs_from_the_file(path: Path) -> None:
    found = DeepLoreCarrier(DeepLoreSettings(enabled=True, scan_depth=8)).candidates(path)
    assert [(each.declaration.alias, each.before, each.after) for each in found] == [("scanDepth", 6, 8)]


def test_a_snippet_is_read_back_and_says_only_what_it_holds() -> None:
    text = CARRIER.snippet({"scanDepth": 8, "injectionTemplate": "ż"})
    assert json.loads(text) == {"scanDepth": 8, "injectionTemplate": "ż", "settingsVersion": 3}
    imported = import_text(text, "the clipboard")
    assert (imported.layout, imported.said) == (Layout.PLAIN, {"scanDepth", "injectionTemplate"})
    current = DeepLoreSettings(max_entries=3)
    assert {each.declaration.name for each in imported.changes(current)} == {"scan_depth", "injection_template"}
    taken = taken_over(current, imported, {"scanDepth"})
    assert taken == DeepLoreSettings(max_entries=3, scan_depth=8)


def test_an_import_from_sillytavern_speaks_about_every_setting(path: Path) -> None:
    imported = import_file(path)
    assert imported.layout is Layout.SILLYTAVERN
    assert {each.declaration.alias for each in imported.changes(DeepLoreSettings(max_entries=3))} == {
        "enabled", "scanDepth", "maxEntries",
    }  # fmt: skip
    assert taken_over(DeepLoreSettings(max_entries=3), imported, {"maxEntries"}).max_entries == 10
    with pytest.raises(SettingsError, match="the clipboard, line 1"):
        import_text("{", "the clipboard")


def test_the_list_of_changes_can_be_set_by_hand() -> None:
    changed = differences(DeepLoreSettings(), DeepLoreSettings(scan_depth=9, max_entries=3, injection_template="a\nb"))
    assert changes_list(changed) == (
        "Matching\n  Scan depth (scanDepth): 4 messages → 9 messages\n"
        "\nBudget\n  Most entries (maxEntries): 10 entries → 3 entries\n"
        "\nPlacement\n  Template (injectionTemplate): “<{{title}}> {{content}} </{{title}}>” → “a b”\n"
        "    | a\n    | b\n"
    )
    assert changes_list(()) == "No setting differs.\n"


def test_no_secret_is_in_anything_that_is_said(path: Path) -> None:
    merge = CARRIER.plan(path, {"scanDepth": 8})
    assert "s3cret" not in repr(merge) + repr(import_file(path))
