from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import pytest

from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.settings.files import SettingsError
from lorestudio.settings.store import SettingsProfiles

SMALL = DeepLoreSettings(enabled=True, max_tokens_budget=800)


@pytest.fixture
def profiles(tmp_path: Path) -> SettingsProfiles:
    return SettingsProfiles(tmp_path / "settings")


def test_what_is_saved_is_found_again_by_its_name(profiles: SettingsProfiles) -> None:
    assert profiles.all() == ()
    made = profiles.save("  Small budget ", SMALL)
    assert made.name == "Small budget"
    assert profiles.find("small BUDGET").settings == SMALL
    document = json.loads(made.path.read_text(encoding="utf-8"))
    assert document["format"] == "lorestudio-deeplore-settings"
    assert document["name"] == "Small budget"
    assert document["settings"] == {"enabled": True, "maxTokensBudget": 800}


def test_a_name_is_not_taken_twice_unless_it_is_to_be_replaced(profiles: SettingsProfiles) -> None:
    profiles.save("Small", SMALL)
    with pytest.raises(SettingsError, match="already"):
        profiles.save("SMALL", DeepLoreSettings())
    assert profiles.find("Small").settings == SMALL
    profiles.save("SMALL", DeepLoreSettings(scan_depth=9), replace=True)
    assert [each.name for each in profiles.all()] == ["Small"]
    assert profiles.find("small").settings == DeepLoreSettings(scan_depth=9)


def test_replacing_keeps_what_the_file_has_besides(profiles: SettingsProfiles) -> None:
    path = profiles.save("Small", SMALL).path
    document = json.loads(path.read_text(encoding="utf-8"))
    document["note"] = "from Wren"
    document["settings"]["newSetting"] = 7
    path.write_text(json.dumps(document), encoding="utf-8")
    profiles.save("Small", DeepLoreSettings(enabled=True, max_tokens_budget=900), replace=True)
    document = json.loads(path.read_text(encoding="utf-8"))
    assert (document["note"], document["settings"]["newSetting"]) == ("from Wren", 7)
    assert document["settings"]["maxTokensBudget"] == 900


def test_names_that_are_no_file_names(profiles: SettingsProfiles) -> None:
    names = ["a/b", "a:b", "..", "con", "Żuraw – nocny", "x" * 80]
    for place, name in enumerate(names, start=1):
        profiles.save(name, DeepLoreSettings(scan_depth=place))
    assert {each.name: each.settings.scan_depth for each in profiles.all() if each.settings} == {
        name: place for place, name in enumerate(names, start=1)
    }
    assert all(each.path.parent == profiles.folder for each in profiles.all())


@pytest.mark.parametrize("name", ["", "  ", "x" * 81, "two\nlines"])
def test_a_name_has_to_be_one_line(profiles: SettingsProfiles, name: str) -> None:
    with pytest.raises(SettingsError, match="one line"):
        profiles.save(name, SMALL)
    assert profiles.all() == ()


def test_renaming_moves_the_file_and_keeps_the_settings(profiles: SettingsProfiles) -> None:
    old = profiles.save("Small", SMALL).path
    profiles.save("Other", DeepLoreSettings())
    with pytest.raises(SettingsError, match="“Other” already"):
        profiles.rename("Small", "other")
    made = profiles.rename("Small", "Tiny")
    assert not old.exists()
    assert made.path.name == "Tiny.json"
    assert profiles.find("Tiny").settings == SMALL
    assert profiles.rename("Tiny", "TINY").name == "TINY"
    assert {each.name for each in profiles.all()} == {"Other", "TINY"}


@pytest.mark.parametrize("step", ["replace", "rename", "unlink"])
def test_a_renaming_that_ends_midway_leaves_one_profile(
    profiles: SettingsProfiles, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    profiles.save("Small", SMALL)
    monkeypatch.setattr(Path, step, _ended)
    with suppress(KeyboardInterrupt):  # as little is tidied as where the program is killed
        profiles.rename("Small", "Tiny")
    (left,) = profiles.all()
    assert (left.name in {"Small", "Tiny"}, left.settings) == (True, SMALL)


def _ended(*_arguments: object, **_named: object) -> None:
    raise KeyboardInterrupt


def test_a_renamed_profile_whose_file_cannot_be_renamed_can_be_used_and_it_is_said(
    profiles: SettingsProfiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    profiles.save("Small", SMALL)

    def refused(*_arguments: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "rename", refused)
    with pytest.raises(SettingsError, match=r"called “Tiny” now, .*Small\.json cannot be renamed to Tiny\.json"):
        profiles.rename("Small", "Tiny")
    assert profiles.find("Tiny").settings == SMALL


def test_a_file_laid_there_by_hand_is_a_profile_and_a_broken_one_is_seen(profiles: SettingsProfiles) -> None:
    profiles.folder.mkdir()
    (profiles.folder / "friend.json").write_text('{"scanDepth": 8}', encoding="utf-8")
    (profiles.folder / "torn.json").write_text('{"scanDepth": ', encoding="utf-8")
    friend, torn = profiles.all()
    assert (friend.name, friend.settings) == ("friend", DeepLoreSettings(scan_depth=8))
    assert torn.settings is None
    assert "line 1" in torn.problems[0]
    with pytest.raises(SettingsError, match="line 1"):
        profiles.find("torn")
    profiles.rename("friend", "Hob")
    assert profiles.find("hob").settings == DeepLoreSettings(scan_depth=8)
    profiles.delete("torn")
    assert [each.name for each in profiles.all()] == ["Hob"]


def test_a_profile_that_is_not_there_is_said_with_those_that_are(profiles: SettingsProfiles) -> None:
    profiles.save("Small", SMALL)
    with pytest.raises(SettingsError, match="There are: “Small”"):
        profiles.find("Smal")
    with pytest.raises(SettingsError, match="no settings profile"):
        profiles.delete("Smal")


def test_a_folder_that_cannot_be_read_is_not_taken_for_an_empty_one(profiles: SettingsProfiles) -> None:
    profiles.folder.write_text("a file in the way", encoding="utf-8")
    with pytest.raises(SettingsError, match="cannot be read"):
        profiles.all()
