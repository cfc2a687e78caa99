from __future__ import annotations

import json
from pathlib import Path

import pytest

from lorestudio.domain.entry import NoteProblem
from lorestudio.domain.resources import resource
from lorestudio.domain.state import EntryRule
from lorestudio.exchange.problems import InputError
from lorestudio.settings.files import SettingsError
from lorestudio.studio.project.project import DEMO_SEED, Project, demo_project, open_project
from lorestudio.vault.files import VaultError

LAMP = "---\ntags: [lorebook]\nkeys: [lamp]\n---\nLight.\n"


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "brume"
    (folder / "places").mkdir(parents=True)
    (folder / "Lamp.md").write_text(LAMP)
    (folder / "places" / "Quay.md").write_text(LAMP.replace("lamp", "quay"))
    return folder


def chat_file(tmp_path: Path, metadata: object = None, *lines: str) -> Path:
    path = tmp_path / "chat.jsonl"
    header = {"user_name": "Wren", "character_name": "Ottoline", "chat_metadata": metadata or {}}
    message = {"name": "Wren", "is_user": True, "mes": "A lamp."}
    path.write_text("\n".join([json.dumps(header), *lines, json.dumps(message)]))
    return path


def settings_file(tmp_path: Path, **settings: object) -> Path:
    path = tmp_path / "settings.json"
    path.write_text(json.dumps(settings))
    return path


def test_a_vault_alone(vault: Path) -> None:
    project = open_project([vault])
    assert [entry.title for entry in project.index.entries] == ["Lamp", "Quay"]
    assert (project.chat, project.chat_path, project.problems) == (None, None, ())
    assert project.settings.enabled
    assert project.name == "brume"


def test_several_vaults_are_merged_in_order(vault: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "Bell.md").write_text(LAMP)
    project = open_project([other, vault])
    assert project.name == "other + brume"
    assert [(entry.vault, entry.title) for entry in project.index.entries][:2] == [("other", "Bell"), ("brume", "Lamp")]


def test_a_vault_that_is_named_twice_is_read_once(vault: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(vault, target_is_directory=True)
    project = open_project([vault, tmp_path / "link", f"{vault}/"])
    assert (project.name, [entry.title for entry in project.index.entries]) == ("brume", ["Lamp", "Quay"])


def test_a_chat_brings_its_controls(vault: Path, tmp_path: Path) -> None:
    metadata = {"deeplore_pins": ["Lamp"], "deeplore_folder_filter": ["places"], "deeplore_context": {"era": "now"}}
    path = chat_file(tmp_path, metadata)
    project = open_project([vault], path, seed=9)
    assert project.chat is not None
    assert (project.chat.user_name, project.chat_path, project.seed) == ("Wren", path, 9)
    assert project.controls.pins == (EntryRule("Lamp"),)
    assert project.controls.folders == ("places",)
    assert project.controls.context == {"era": "now"}
    assert project.problems == ()


def test_what_a_chat_lost_is_said(vault: Path, tmp_path: Path) -> None:
    path = chat_file(tmp_path, {"deeplore_folder_filter": ["places", "gone", "lost"]}, "{broken")
    project = open_project([vault], path)
    line, folders = project.problems
    assert line.startswith("chat.jsonl: Line 2 is no JSON")
    assert folders == "chat.jsonl: the folder filter names folders that the vault does not have: gone, lost."
    assert project.controls.folders == ("places",)


def test_another_chat_makes_another_project(vault: Path, tmp_path: Path) -> None:
    before = open_project([vault])
    after = before.with_chat(chat_file(tmp_path))
    assert before.chat is None
    assert after.chat is not None
    assert after.index is before.index


def test_settings_are_read_and_corrections_are_said(vault: Path, tmp_path: Path) -> None:
    project = open_project([vault], settings=settings_file(tmp_path, enabled=True, scanDepth=7, maxEntries=5000))
    assert (project.settings.scan_depth, project.settings.max_entries) == (7, 100)
    assert len(project.problems) == 1
    assert "maxEntries" in project.problems[0]


def test_deeplore_switched_off_is_simulated_as_switched_on_and_said(vault: Path, tmp_path: Path) -> None:
    project = open_project([vault], settings=settings_file(tmp_path, enabled=False, scanDepth=7))
    assert project.settings.enabled
    assert project.settings.scan_depth == 7
    assert project.problems == ("DeepLore is switched off in these settings; the studio simulates it as switched on.",)


def test_reading_again_sees_what_changed_on_disk(vault: Path, tmp_path: Path) -> None:
    project = open_project([vault], chat_file(tmp_path), settings_file(tmp_path, enabled=True, scanDepth=2), seed=4)
    (vault / "Bell.md").write_text(LAMP)
    (vault / "Lamp.md").write_bytes(b"---\ntags: [lorebook]\n---\n\xff")
    again = project.reloaded()
    assert [entry.title for entry in again.index.entries] == ["Bell", "Quay"]
    assert [note.problem for note in again.index.left_out] == [NoteProblem.BAD_ENCODING]
    assert (again.seed, again.settings.scan_depth, again.chat) == (4, 2, project.chat)


def test_home_folder_is_understood(vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(vault.parent))
    monkeypatch.setenv("USERPROFILE", str(vault.parent))
    assert open_project([Path("~/brume")]).vault_folders == (vault,)


def test_a_vault_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(VaultError, match="gone"):
        open_project([tmp_path / "gone"])


def test_a_vault_that_is_a_file(vault: Path) -> None:
    with pytest.raises(VaultError, match=r"Lamp\.md"):
        open_project([vault / "Lamp.md"])


def test_a_chat_that_cannot_be_used(vault: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"gone\.jsonl"):
        open_project([vault], tmp_path / "gone.jsonl")


def test_settings_that_cannot_be_used(vault: Path, tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text('{\n"enabled": }')
    with pytest.raises(SettingsError, match=r"settings\.json, line 2"):
        open_project([vault], settings=path)
    path.write_text('{"user_name": "A"}\n{"name": "A", "mes": "Hi."}\n')
    with pytest.raises(SettingsError, match=r"settings\.json: this is a chat, and no settings file\. Give it with"):
        open_project([vault], settings=path)
    path.write_text('{"power_user": {}, "extension_settings": {}}')
    with pytest.raises(SettingsError, match=r"deeplore_enhanced.* is missing"):
        open_project([vault], settings=path)


def test_the_demo_comes_with_the_program(demo: Project) -> None:
    assert demo.seed == DEMO_SEED
    assert demo.chat_path == resource("demo", "chat.jsonl")
    assert demo_project().index.digest == demo.index.digest


def test_resources_are_found_from_any_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert resource("demo", "settings.json").is_file()


def test_notes_and_chats_of_a_newer_deeplore_offer_its_rules(tmp_path: Path) -> None:
    """One sign is enough to offer them; it decides nothing (rules: deeplore-newer 4)."""
    vault = tmp_path / "vault"
    vault.mkdir()
    note = vault / "Gate.md"
    note.write_text("---\ntags: [lorebook]\nkeys: [gate]\nselective_logic: not_any\n---\nOld.\n", encoding="utf-8")
    project = open_project([vault])
    assert project.settings.rules == "2.0.2"
    assert "selective_logic" in project.rules_offer
    assert project.problems == (project.rules_offer,)
    newer = project.with_settings(project.settings.model_copy(update={"rules": "2.6"}))
    assert (newer.rules_offer, newer.problems) == ("", ())
    assert newer.index.entries[0].selective_logic == "not_any"
    again = newer.reloaded()
    assert (again.settings.rules, again.given_settings.rules, again.as_given().settings.rules) == (
        "2.6",
        "2.0.2",
        "2.0.2",
    )

    note.write_text("---\ntags: [lorebook]\nkeys: [gate]\nsticky: 3\n---\nOld.\n", encoding="utf-8")
    assert open_project([vault]).rules_offer == ""  # 2.0.2 knows sticky too
    log = [{"gen": 1, "entries": [{"title": "Gate", "vaultSource": "vault"}]}]
    chat = tmp_path / "chat.jsonl"
    header = {"user_name": "Wren", "chat_metadata": {"deeplore_injection_log": log}}
    chat.write_text(f"{json.dumps(header)}\n{json.dumps({'name': 'Wren', 'is_user': True, 'mes': 'gate'})}\n")
    assert "deeplore_injection_log" in open_project([vault], chat).rules_offer
    assert open_project([vault], chat, rules="2.6").rules_offer == ""
