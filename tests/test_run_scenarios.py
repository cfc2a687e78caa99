from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from lorestudio.exchange.problems import InputError
from lorestudio.exchange.scenario_file import Scenario
from lorestudio.studio.replay.scenario import run_scenario, run_scenarios

NOW = 1_700_000_000_000
LAMP = "---\ntags: [lorebook]\nkeys: [lamp]\npriority: 40\n---\nIt burns."
OIL = "---\ntags: [lorebook]\nkeys: [oil]\nrequires: [Bell]\n---\nIt smells."
BELL = "---\ntags: [lorebook]\nkeys: [bell]\ncooldown: 2\n---\nIt rings."

SCENARIO: dict[str, Any] = {
    "id": "lamps",
    "vaults": [{"name": "v", "files": [["Bell.md", BELL], ["Lamp.md", LAMP], ["Oil.md", OIL], ["list.txt", "x"]]}],
    "messages": [
        {"name": "Wren", "is_user": True, "mes": "A lamp with oil."},
        {"name": "Ottoline", "is_user": False, "mes": "And the bell!"},
    ],
    "generations": [{"now_ms": NOW, "chat": [0]}, {"now_ms": NOW + 1, "chat": [0, 1]}],
}


def ran(**changes: Any) -> dict[str, Any]:
    scenario = {**deepcopy(SCENARIO), **changes}
    return run_scenario(Scenario.model_validate(scenario))["expected"]


def accepted(generation: dict[str, Any]) -> list[str]:
    return [row["title"] for row in generation["budget"]["accepted"]]


def test_index_holds_only_what_differs_from_the_defaults() -> None:
    bell, lamp, oil = ran()["index"]["entries"]
    assert bell == {
        "id": 0,
        "filename": "Bell.md",
        "vaultSource": "v",
        "title": "Bell",
        "tokenEstimate": 3,
        "contentHash": bell["contentHash"],
        "content": "It rings.",
        "keys": ["bell"],
        "cooldown": 2,
    }
    assert lamp["priority"] == 40
    assert oil["requires"] == ["Bell"]


def test_each_generation_says_what_it_decided() -> None:
    first, second = ran()["generations"]
    assert first["outcome"] == second["outcome"] == "injected"
    assert first["rng_draws"] == 0
    assert "rng" not in first
    assert first["keyword"]["matched_keys"] == [["Lamp", "lamp"], ["Oil", "oil"]]
    assert accepted(first) == ["Lamp"]
    (requires,) = [stage for stage in first["stages"] if stage["stage"] == "requires_excludes"]
    assert requires["removed"] == [{"id": 2, "reason": "requires_excludes", "requires": ["Bell"], "excludes": []}]
    assert accepted(second) == ["Lamp", "Bell", "Oil"]
    assert second["trackers"]["generation_count"] == 2
    assert second["trackers"]["cooldown"] == {"v:Bell": 2}


def test_a_repeated_text_points_to_where_it_stood_first() -> None:
    first, second = ran(generations=[{"now_ms": NOW, "chat": [0]}] * 2, settings={"stripDuplicateInjections": False})[
        "generations"
    ]
    assert first["groups"][0]["text"] == "<Lamp>\nIt burns.\n</Lamp>"
    assert second["groups"][0]["same_text_as"] == [0, 0]
    assert "text" not in second["groups"][0]


def test_usage_is_reported_with_the_last_generation_only() -> None:
    first, second = ran()["generations"]
    assert "analytics" not in first["trackers"]
    assert second["trackers"]["analytics"]["v:Lamp"][2] == NOW + 1


def test_corrected_settings_are_listed_where_the_scenario_named_them() -> None:
    assert ran(settings={"scanDepth": "9", "maxEntries": 1000})["settings_corrected"] == {
        "scanDepth": 9,
        "maxEntries": 100,
    }
    assert "settings_corrected" not in ran()


def test_settings_patch_stays_and_character_stays() -> None:
    generations = [
        {"now_ms": NOW, "chat": [0], "settings_patch": {"enabled": False}},
        {"now_ms": NOW, "chat": [0]},
        {"now_ms": NOW, "chat": [0], "settings_patch": {"enabled": True, "characterContextScan": True}},
        {"now_ms": NOW, "chat": [0], "character": "Bell"},
        {"now_ms": NOW, "chat": [0]},
    ]
    off, still, on, bell, later = ran(generations=generations, settings={"stripDuplicateInjections": False})[
        "generations"
    ]
    assert [off["outcome"], still["outcome"], on["outcome"]] == ["skipped", "skipped", "injected"]
    assert off["skip_reason"] == "quiet_or_disabled"
    assert accepted(on) == ["Lamp"]
    assert ["Bell", "(active character)"] in bell["keyword"]["matched_keys"]
    assert accepted(bell) == ["Lamp", "Bell", "Oil"]
    assert accepted(later) == accepted(bell)  # the character stays, and no cooldown stops it (rules: deeplore 3.6)


def test_metadata_patch_sets_and_null_deletes() -> None:
    generations = [
        {"now_ms": NOW, "chat": [0], "metadata_patch": {"deeplore_blocks": ["Lamp"]}},
        {"now_ms": NOW, "chat": [0]},
        {"now_ms": NOW, "chat": [0], "metadata_patch": {"deeplore_blocks": None, "deeplore_pins": ["Oil", "Bell"]}},
    ]
    blocked, still, pinned = ran(generations=generations)["generations"]
    assert (blocked["outcome"], still["outcome"]) == ("empty_after_requires_excludes",) * 2
    assert accepted(pinned) == ["Bell", "Oil", "Lamp"]


def test_opening_the_chat_drops_unknown_folders_and_counts() -> None:
    expected = ran(
        metadata={"deeplore_folder_filter": ["gone", "places"], "deeplore_chat_counts": {"v:Lamp": 2, "v:Gone": 3}},
        vaults=[{"name": "v", "files": [["places/Lamp.md", LAMP]]}],
    )
    assert expected["open"] == {"folder_filter": ["places"], "chat_counts": {"v:Lamp": 2}}
    assert "open" not in ran()


def test_a_swipe_rolls_the_trackers_back() -> None:
    generations = [{"now_ms": NOW, "chat": [0, 1]}, {"now_ms": NOW, "chat": [0, 1], "type": "swipe", "swipe": True}]
    first, second = ran(generations=generations)["generations"]
    assert first["trackers"]["generation_count"] == second["trackers"]["generation_count"] == 1
    assert accepted(first) == accepted(second)


def test_a_title_that_came_in_is_not_cut() -> None:
    """Two notes of a title, one behind the entry cap (rules: scenario-format 2.3)."""
    files = [["a/Lamp.md", LAMP], ["b/Lamp.md", LAMP], ["Bell.md", BELL]]
    found = ran(vaults=[{"name": "v", "files": files}], settings={"maxEntries": 1})["generations"]
    assert [accepted(each) for each in found] == [["Lamp"], ["Lamp"]]
    bell = 2
    assert [each["budget"]["cut"] for each in found] == [[], [bell]]


@pytest.mark.parametrize(
    ("profile", "words"), [("", "No connection profile selected."), ("mine", "Connection profile not found.")]
)
def test_a_profile_that_is_not_known_makes_no_call(profile: str, words: str) -> None:
    (found, _next) = ran(
        settings={"aiSearchEnabled": True, "aiSearchProfileId": profile},
        generations=[
            {"now_ms": NOW, "chat": [0], "ai": {"search": {"text": "[]"}}},
            {"now_ms": NOW + 1, "chat": [0, 1]},
        ],
    )["generations"]
    assert found["ai"]["error_message"] == words
    assert found["trackers"]["ai"]["failures"] == 1


AI = {"aiSearchEnabled": True, "aiSearchMode": "ai-only", "aiErrorFallback": "none", "aiSearchModel": "m"}
PICK = {"search": {"text": '["Lamp"]'}}


@pytest.mark.parametrize(
    ("settings", "picked", "words"),
    [
        ({"aiSearchProfileId": ""}, True, ""),  # whose profile it would be is not asked
        ({"aiSearchProxyUrl": ""}, True, ""),  # the built-in address
        ({"aiSearchModel": ""}, False, "model"),
        ({"aiSearchProxyUrl": "http://localhost:42069"}, False, "“localhost” is refused"),
        ({"aiSearchProxyUrl": "http://192.168.1.7:42069"}, False, "192.168.1.7"),
        ({"aiSearchProxyUrl": "file:///etc"}, False, "no address of http"),
    ],
)
def test_a_proxy_answers_where_deeplore_would_ask_it(settings: dict[str, str], picked: bool, words: str) -> None:
    """Rules: deeplore-tools 1.2, 1.3.2."""
    generations = [{"now_ms": NOW, "chat": [0], "ai": PICK}]
    chosen = {**AI, "aiSearchConnectionMode": "proxy", **settings}
    (generation,) = ran(settings=chosen, generations=generations)["generations"]
    assert [row["title"] for row in generation["ai"]["results"]] == ["Lamp"] * picked
    assert words in generation["ai"].get("error_message", "")
    assert generation["trackers"]["ai"]["failures"] == (0 if picked else 1)


def test_an_error_behind_a_proxy_names_no_profile() -> None:
    failing = [{"now_ms": NOW, "chat": [0], "ai": {"search": {"error": {"message": "boom", "status": 500}}}}]
    by_profile = ran(settings=AI, generations=failing)["generations"][0]["ai"]["error_message"]
    by_proxy = ran(settings={**AI, "aiSearchConnectionMode": "proxy"}, generations=failing)["generations"][0]["ai"]
    assert by_profile == "boom [profile: oracle-profile] [model: m]"
    assert by_proxy["error_message"] == "boom"


@pytest.mark.parametrize("kind", ["no such kind", ["auth"], {"a": 1}, None])
def test_an_error_of_no_known_kind_is_one_all_the_same(kind: object) -> None:
    failing = [{"now_ms": NOW, "chat": [0], "ai": {"search": {"error": {"message": "boom", "kind": kind}}}}]
    assert ran(settings=AI, generations=failing)["generations"][0]["ai"]["error_message"] == "boom"


def test_a_note_is_edited_and_the_vault_is_read_again() -> None:
    """Rules: deeplore 1.13: the cached selection is void, and a note that is gone loses its usage."""
    patch = {"Lamp.md": LAMP.replace("burns", "smokes"), "Bell.md": None, "New.md": LAMP.replace("lamp", "oil")}
    found = ran(
        settings={**AI, "aiSearchMode": "two-stage"},
        generations=[
            {"now_ms": NOW, "chat": [0], "ai": PICK},
            {"now_ms": NOW + 1000, "chat": [0], "vault_patch": patch},  # not read yet, and the cache answers
            {"now_ms": NOW + 2000, "chat": [0], "reindex": True, "ai": PICK},
        ],
    )
    first, second, third = found["generations"]
    assert (first["ai"]["cached"], second["ai"]["cached"], third["ai"]["cached"]) == (False, True, False)
    assert "index" not in second
    assert [row["filename"] for row in third["index"]["entries"]] == ["Lamp.md", "Oil.md", "New.md"]
    assert "It smokes." in third["groups"][0]["text"]
    assert "It burns." in second["groups"][0].get("text", first["groups"][0]["text"])
    assert set(third["trackers"]["analytics"]) == {"v:Lamp"}


@pytest.mark.parametrize(
    ("reindex", "behaviour", "content", "requires"),
    [
        ("changes", {}, ["It burns.", "It hangs.", "It hangs."], []),
        ("changes", {"kept_notes": "fixed"}, ["It burns.", "It hangs."], ["New"]),
        (True, {}, ["It burns.", "It hangs."], ["New"]),
    ],
)
def test_deeplores_look_for_changes_keeps_notes_as_they_were_indexed(
    reindex: object, behaviour: dict[str, str], content: list[str], requires: list[str]
) -> None:
    """Rules: deeplore 1.12, 1.13: the note that was merged is no entry, so it is read and merged again."""
    first = LAMP.replace("keys:", "requires: [New]\nkeys:")
    vaults = [{"name": "v", "files": [["Lamp.md", first], ["Sub/Lamp.md", LAMP.replace("It burns.", "It hangs.")]]}]
    generations = [
        {"now_ms": NOW, "chat": [0]},
        {"now_ms": NOW + 1, "chat": [0], "vault_patch": {"New.md": LAMP}, "reindex": reindex},
    ]
    found = ran(
        vaults=vaults, settings={"multiVaultConflictResolution": "merge"}, behaviour=behaviour, generations=generations
    )
    lamp, new = found["generations"][1]["index"]["entries"]
    assert lamp["content"].split("\n\n---\n\n") == content
    assert (lamp.get("requires", []), new["title"]) == (requires, "New")
    assert found["index"]["entries"][0]["content"].split("\n\n---\n\n") == ["It burns.", "It hangs."]


def test_a_patch_names_the_vault_where_there_are_several() -> None:
    vaults = [{"name": name, "files": [["Lamp.md", LAMP]]} for name in ("v", "w")]
    generation = {"now_ms": NOW, "chat": [0], "reindex": True, "vault_patch": {"w": {"Lamp.md": None}}}
    (report,) = ran(vaults=vaults, generations=[generation])["generations"]
    assert [row["vaultSource"] for row in report["index"]["entries"]] == ["v"]
    with pytest.raises(ValueError, match=r"there is no such vault; there are: v"):
        Scenario.model_validate({**SCENARIO, "generations": [{**generation, "vault_patch": {"x": {}}}]})


def test_a_scenario_without_notes() -> None:
    (first, _) = ran(vaults=[{"name": "v", "files": []}])["generations"]
    assert (first["outcome"], first["skip_reason"]) == ("skipped", "empty_vault")


def test_a_vault_by_reference_is_read_in_the_order_of_the_format(tmp_path: Path) -> None:
    folder = tmp_path / "vaults" / "brume"
    (folder / "a").mkdir(parents=True)
    for name in ("b.md", "Z.md", "a/deep.md", "LICENSE"):
        (folder / name).write_text(LAMP)
    path = tmp_path / "s.json"
    path.write_text(json.dumps({**SCENARIO, "vaults": [{"name": "v", "ref": "brume"}]}))
    (result,) = run_scenarios(path, tmp_path / "vaults")
    names = [entry["filename"] for entry in result["expected"]["index"]["entries"]]
    assert names == ["Z.md", "b.md", "a/deep.md"]


def test_a_byte_order_mark_stays(tmp_path: Path) -> None:
    (tmp_path / "brume").mkdir()
    (tmp_path / "brume" / "Lamp.md").write_text("\ufeff" + LAMP, encoding="utf-8")
    path = tmp_path / "s.json"
    path.write_text(json.dumps({**SCENARIO, "vaults": [{"name": "v", "ref": "brume"}]}))
    (result,) = run_scenarios(path, tmp_path)
    (entry,) = result["expected"]["index"]["entries"]
    assert entry["contentHash"].split("_")[0] == str(len(LAMP) + 1)  # the hash is of the whole text, mark included
    assert entry["keys"] == ["lamp"]


@pytest.mark.parametrize("root", [None, "here"])
def test_a_missing_vault_is_named_before_anything_is_run(tmp_path: Path, root: str | None) -> None:
    path = tmp_path / "s.jsonl"
    by_reference = {**SCENARIO, "vaults": [SCENARIO["vaults"][0], {"name": "w", "ref": "brume"}]}
    path.write_text(f"{json.dumps(SCENARIO)}\n{json.dumps({'id': 'r', 'scenario': by_reference})}\n")
    with pytest.raises(InputError, match="--vault-root") as caught:
        run_scenarios(path, tmp_path / root if root else None)
    assert (caught.value.source, caught.value.line, caught.value.field) == (path, 2, "scenario.vaults.1.ref")


# Other systems


def test_a_scenario_may_name_another_system() -> None:
    """World Info knows no requirements, so the oil comes in without the bell; it looks at one message here."""
    ran_by = ran(system="world-info", system_settings={"depth": 1})
    assert "open" not in ran_by
    first, second = ran_by["generations"]
    assert {each["title"] for each in first["injected"]} == {"Lamp", "Oil"}
    assert (first["system"], first["outcome"], first["injected"][0]["vault"]) == ("world-info", "injected", "v")
    assert [each["title"] for each in second["injected"]] == ["Bell"]
    assert "It rings." in second["prompt"][0]["text"]


def test_what_a_system_left_out_has_its_reason() -> None:
    (first, _) = ran(system="context-window")["generations"]
    assert {each["filename"]: each["reason"] for each in first["left_out"]} == {"Oil.md": "cw_unsatisfied"}
    (first, _) = ran(system="context-window", metadata={"deeplore_blocks": ["Lamp"]})["generations"]
    assert {each["filename"]: each["reason"] for each in first["left_out"]}["Lamp.md"] == "cw_locked"


def test_what_changes_before_a_generation_counts_for_a_system_too() -> None:
    generations = [
        {"now_ms": NOW, "chat": [0]},
        {"now_ms": NOW, "chat": [0], "metadata_patch": {"deeplore_blocks": ["Lamp"]}},
    ]
    first, second = ran(system="hybrid", system_settings={"embedder": "none"}, generations=generations)["generations"]
    assert [each["title"] for each in first["injected"]] == ["Lamp", "Oil"]
    assert [each["title"] for each in second["injected"]] == ["Oil"]


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"system": "odd"}, "system", "there is no system “odd”"),
        ({"system": "hybrid", "system_settings": {"limmit": 1}}, "system_settings", "Did you mean “limit”"),
        ({"system_settings": {"limit": 1}}, "system", "deeplore has its settings"),
    ],
)
def test_a_system_that_cannot_be_run_is_said_before_anything_is(
    tmp_path: Path, changes: dict[str, Any], field: str, words: str
) -> None:
    path = tmp_path / "scenario.json"
    path.write_text(json.dumps({**SCENARIO, **changes}), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        run_scenarios(path)
    assert field in str(caught.value)
    assert words in str(caught.value)
