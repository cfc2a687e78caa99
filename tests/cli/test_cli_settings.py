"""`lorestudio settings`: listing, comparing, carrying over (rules: deeplore-tools 4.3)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lorestudio.cli.app import app
from lorestudio.exchange.settings_files import declarations
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.settings.store import SettingsProfiles


@pytest.fixture
def tuned(tmp_path: Path) -> Path:
    path = tmp_path / "tuned.json"
    path.write_text('{"enabled": true, "maxTokensBudget": 900, "graphGravity": 2, "scanDepth": 6}', encoding="utf-8")
    return path


@pytest.fixture
def sillytavern(tmp_path: Path) -> Path:
    path = tmp_path / "st" / "settings.json"
    path.parent.mkdir()
    settings = {"enabled": True, "scanDepth": 6, "obsidianApiKey": "s3cret"}
    path.write_text(json.dumps({"extension_settings": {"deeplore_enhanced": settings}}, indent=4), encoding="utf-8")
    return path


def deeplore(path: Path) -> dict[str, object]:
    return json.loads(path.read_text(encoding="utf-8"))["extension_settings"]["deeplore_enhanced"]


def test_list_finds_by_words_and_stage(lorestudio, tuned) -> None:
    result = lorestudio("settings", "list", "budget", "tokens", "--settings", tuned)
    assert result.exit_code == 0
    assert "* 900 tokens" in " ".join(result.stdout.split())
    assert "scanDepth" not in result.stdout
    found = json.loads(lorestudio("settings", "list", "--stage", "recursion", "--json").stdout)
    assert {"scanDepth", "recursiveScan", "maxRecursionSteps"} <= {each["key"] for each in found}
    assert all("recursion" in each["stages"] for each in found)
    found = json.loads(lorestudio("settings", "list", "--settings", tuned, "--changed", "--json").stdout)
    assert {each["key"]: each["value"] for each in found} == {
        "enabled": True, "maxTokensBudget": 900, "graphGravity": 2, "scanDepth": 6,
    }  # fmt: skip
    assert lorestudio("settings", "list", "--stage", "nowhere").exit_code == 2


def test_show_says_everything_that_is_declared(lorestudio, tuned) -> None:
    result = lorestudio("settings", "show", "maxTokensBudget", "aiSearchMode", "--settings", tuned)
    assert result.exit_code == 0
    for part in ("900 tokens", "Default: 3,072 tokens", "100 to 100000 tokens", "manifest, budget", "ai-only: "):
        assert part in result.stdout
    assert "(the default)" not in result.stdout.partition("Default: ")[0]
    usual = lorestudio("settings", "show", "scanDepth").stdout
    assert ("(the default)" in usual, "Default: " in usual) == (True, False)
    result = lorestudio("settings", "show", "tokensBudget")
    assert result.exit_code == 2
    assert "maxTokensBudget" in result.stderr
    for slip in (("show", "scanDepht"), ("export", "--key", "scanDepht", "--settings", tuned)):
        assert "Did you mean “scanDepth”?" in lorestudio("settings", *slip).stderr


def test_diff_of_a_file_a_profile_and_the_defaults(lorestudio, tuned, monkeypatch) -> None:
    SettingsProfiles().save("Tight", DeepLoreSettings(enabled=True, scan_depth=6, max_tokens_budget=500))
    found = json.loads(lorestudio("settings", "diff", tuned, "profile:tight", "--json").stdout)
    assert found == [
        {"key": "maxTokensBudget", "before": 900, "after": 500},
        {"key": "graphGravity", "before": 2, "after": 11},
    ]
    assert "Token budget" in lorestudio("settings", "diff", "defaults", tuned).stdout
    monkeypatch.setenv("COLUMNS", "60")
    assert "maxTokensBudget " in lorestudio("settings", "diff", "defaults", tuned).stdout, "a key can be copied"
    assert lorestudio("settings", "diff", tuned, tuned).stdout == "No setting differs.\n"
    result = lorestudio("settings", "diff", tuned, "profile:loose")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "There are: “Tight”" in result.stderr


def test_export_merges_only_what_differs_and_keeps_a_copy(lorestudio, tuned, sillytavern) -> None:
    before = sillytavern.read_bytes()
    dry = lorestudio("settings", "export", "--settings", tuned, "--to", sillytavern, "--dry-run")
    assert dry.stdout == "maxTokensBudget: 3,072 tokens (not written) → 900 tokens\n"
    assert sillytavern.read_bytes() == before
    result = lorestudio("settings", "export", "--settings", tuned, "--to", sillytavern, "--yes")
    assert result.exit_code == 0, result.stderr
    assert deeplore(sillytavern) == {
        "enabled": True, "scanDepth": 6, "obsidianApiKey": "s3cret", "maxTokensBudget": 900, "settingsVersion": 3,
    }  # fmt: skip
    (copy,) = sillytavern.parent.glob("*.bak")
    assert copy.read_bytes() == before
    assert "s3cret" not in result.output
    every = lorestudio("settings", "export", "--settings", tuned, "--to", sillytavern, "--all", "--json", "--yes")
    assert json.loads(every.stdout) == [{"key": "graphGravity", "before": None, "after": 2}]


def test_settings_that_say_nothing_of_the_main_switch_leave_it_on(lorestudio, sillytavern, tmp_path) -> None:
    """DeepLore's default is off, and a new project has it."""
    (mine := tmp_path / "mine.json").write_text('{"scanDepth": 8}')
    lorestudio("settings", "import", mine, "--profile", "Deep")
    for said in (("--settings", mine), ("--profile", "Deep")):
        dry = lorestudio("settings", "export", *said, "--to", sillytavern, "--dry-run")
        assert dry.stdout == "scanDepth: 6 messages → 8 messages\n", "as a run is made, and as the window exports"
    lorestudio("settings", "export", "--settings", mine, "--to", sillytavern, "--yes")
    assert (deeplore(sillytavern)["enabled"], deeplore(sillytavern)["scanDepth"]) == (True, 8)
    lorestudio("settings", "export", "--settings", mine, "--to", sillytavern, "--key", "enabled", "--yes")
    assert deeplore(sillytavern)["enabled"] is False


def test_export_asks_first_and_a_no_writes_nothing(tuned, sillytavern) -> None:
    before = sillytavern.read_bytes()
    arguments = ["settings", "export", "--settings", str(tuned), "--to", str(sillytavern)]
    assert CliRunner().invoke(app, arguments, input="n\n").exit_code == 130
    assert CliRunner().invoke(app, arguments, input="").exit_code == 2
    assert sillytavern.read_bytes() == before
    assert CliRunner().invoke(app, arguments, input="y\n").exit_code == 0
    assert deeplore(sillytavern)["maxTokensBudget"] == 900


def test_export_as_text(lorestudio, tuned, tmp_path) -> None:
    snippet = json.loads(lorestudio("settings", "export", "--settings", tuned, "--key", "scanDepth").stdout)
    assert snippet == {"scanDepth": 6, "settingsVersion": 3}
    listed = lorestudio("settings", "export", "--settings", tuned, "--as", "list").stdout
    assert "Token budget (maxTokensBudget): 3,072 tokens → 900 tokens" in listed
    assert "Gravity" not in listed
    out = tmp_path / "out.json"
    done = lorestudio("settings", "export", "--settings", tuned, "--as", "file", "-o", out)
    assert (done.exit_code, done.stderr) == (0, f"lorestudio: {out} was written.\n")
    assert json.loads(out.read_text(encoding="utf-8"))["settings"] == {
        "enabled": True, "scanDepth": 6, "maxTokensBudget": 900,
    }  # fmt: skip
    written = out.read_bytes()
    assert lorestudio("settings", "export", "--settings", tuned, "-o", out).exit_code == 2
    assert out.read_bytes() == written


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--settings", "absent.json"),
        ("--profile", "absent"),
        ("--settings", "{tuned}", "--profile", "x"),
        ("--settings", "{tuned}", "--to", "{tuned}"),
        ("--settings", "{tuned}", "--to", "absent.json"),
        ("--settings", "{tuned}", "--key", "nope"),
        ("--settings", "{tuned}", "--to", "{tuned}", "-o", "x"),
    ],
)
def test_export_of_what_cannot_be_used_ends_with_2_and_writes_nothing(lorestudio, tuned, arguments) -> None:
    before = tuned.read_bytes()
    result = lorestudio("settings", "export", *(each.format(tuned=tuned) for each in arguments))
    assert result.exit_code == 2
    assert result.stderr.startswith("lorestudio: ")
    assert tuned.read_bytes() == before
    assert list(Path.cwd().iterdir()) == []


def test_import_makes_a_profile_that_a_replay_can_use(lorestudio, sillytavern, vault, chat) -> None:
    result = lorestudio("settings", "import", sillytavern, "--profile", "From ST", "--json")
    assert result.exit_code == 0, result.stderr
    assert {each["key"] for each in json.loads(result.stdout)} == {"enabled", "scanDepth"}
    assert "To use it: --profile 'From ST'" in result.stderr
    assert SettingsProfiles().find("from st").settings == DeepLoreSettings(enabled=True, scan_depth=6)
    again = lorestudio("settings", "import", sillytavern, "--profile", "from ST")
    assert again.exit_code == 2
    assert "already. Add --replace" in again.stderr
    SettingsProfiles().save("None", DeepLoreSettings(enabled=True, scan_depth=0))
    traces = json.loads(lorestudio("replay", vault, "--chat", chat, "--profile", "none", "--json").stdout)
    assert all(trace["trace"]["injections"] == [] for trace in traces)
    traces = json.loads(lorestudio("replay", vault, "--chat", chat, "--profile", "From ST", "--json").stdout)
    assert any(trace["trace"]["injections"] for trace in traces)
    assert lorestudio("replay", vault, "--chat", chat, "--profile", "gone").exit_code == 2
    explained = lorestudio("explain", vault, "--chat", chat, "--entry", "Lamp", "--profile", "none")
    assert explained.exit_code == 0, explained.stderr
    assert explained.stdout != lorestudio("explain", vault, "--chat", chat, "--entry", "Lamp").stdout


def test_import_of_a_snippet_changes_only_what_it_says(lorestudio, tmp_path) -> None:
    SettingsProfiles().save("Mine", DeepLoreSettings(enabled=True, max_entries=3))
    snippet = tmp_path / "snippet.json"
    snippet.write_text('{"scanDepth": 9, "caseSensitive": true}', encoding="utf-8")
    result = lorestudio("settings", "import", snippet, "--profile", "mine", "--replace", "--key", "scanDepth")
    assert result.exit_code == 0, result.stderr
    assert SettingsProfiles().find("Mine").settings == DeepLoreSettings(enabled=True, max_entries=3, scan_depth=9)


def test_settings_of_another_system_are_no_profile(lorestudio, tmp_path) -> None:
    file = tmp_path / "world.json"
    exported = ("settings", "export", "--system", "world-info", "--set", "depth=7", "--as", "file", "-o", file)
    assert lorestudio(*exported).exit_code == 0
    result = lorestudio("settings", "import", file, "--profile", "Deep")
    told = " ".join(result.stderr.split())
    assert result.exit_code != 0
    assert "world.json: these are settings of World Info" in told
    assert "--system world-info --system-settings" in told
    assert SettingsProfiles().all() == ()


def test_profiles_are_listed_with_those_that_cannot_be_read(lorestudio) -> None:
    assert "no settings profile yet" in lorestudio("settings", "profiles").stdout
    made = SettingsProfiles().save("Mine", DeepLoreSettings(max_entries=3))
    made.path.with_name("torn.json").write_text("{", encoding="utf-8")
    result = lorestudio("settings", "profiles")
    assert "cannot be read" in result.stdout
    assert "line 1" in result.stderr
    found = json.loads(lorestudio("settings", "profiles", "--json").stdout)
    assert [(each["name"], each["readable"], each["changed"]) for each in found] == [
        ("Mine", True, ["maxEntries"]),
        ("torn", False, []),
    ]


def test_settings_of_another_system_are_exported(lorestudio, sillytavern) -> None:
    by = ["--system", "world-info", "--set", "depth=7"]
    result = lorestudio("settings", "export", *by, "--to", sillytavern, "--yes")
    assert "world_info_depth: 2 messages (not written) → 7 messages" in result.stdout
    assert json.loads(sillytavern.read_text(encoding="utf-8"))["world_info_settings"] == {"world_info_depth": 7}
    assert json.loads(lorestudio("settings", "export", *by).stdout) == {"world_info_depth": 7}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--system", "world-info", "--profile", "Tight"], "--profile: it holds settings of DeepLore"),
        (["--system", "world-info", "--settings", "s.json", "--set", "depth=7"], "--settings: it holds settings of"),
        (["--system", "context-window", "--to", "settings.json"], "no place"),
    ],
)
def test_an_export_of_another_system_that_makes_no_sense(lorestudio, arguments, told) -> None:
    result = lorestudio("settings", "export", *arguments)
    assert (result.exit_code, told in result.stderr) == (2, True)


def test_a_narrow_terminal_cuts_no_key(lorestudio, monkeypatch, tuned) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    listed = lorestudio("settings", "list", "--settings", tuned).stdout
    assert max(map(len, listed.splitlines())) <= 80
    assert {each.alias for each in declarations()} <= set(listed.split())
    assert "fewer words" not in lorestudio("settings", "list", "--changed").stderr


def test_of_settings_that_are_none_it_is_not_said_that_they_are_added(lorestudio, tuned, sillytavern) -> None:
    sillytavern.write_text('{"power_user": {}}', encoding="utf-8")
    for given, added in (({}, False), ({"scanDepth": 6}, True)):
        tuned.write_text(json.dumps(given), encoding="utf-8")
        told = lorestudio("settings", "export", "--settings", tuned, "--to", sillytavern, "--dry-run")
        assert told.stderr.count("DeepLore has no settings in this file yet") == 1
        assert ("they are added" in told.stderr, "nothing is written" in told.stdout) == (added, not added)


def test_a_profile_is_saved_renamed_and_removed(lorestudio) -> None:
    assert lorestudio("settings", "save", "Tight", "--set", "scanDepth=2").exit_code == 0
    taken = lorestudio("settings", "save", "tight", "--set", "scanDepth=3")
    assert (taken.exit_code, "“Tight” already" in taken.stderr) == (2, True)
    more = lorestudio("settings", "save", "tight", "--profile", "Tight", "--set", "maxEntries=3", "--replace")
    assert more.exit_code == 0, more.output
    renamed = lorestudio("settings", "rename", "Tight", "Very tight")
    assert renamed.stderr == "lorestudio: to use the settings profile: --profile 'Very tight'\n"
    (found,) = json.loads(lorestudio("settings", "profiles", "--json").stdout)
    assert (found["name"], found["changed"]) == ("Very tight", ["scanDepth", "maxEntries"])
    assert lorestudio("settings", "remove", "Very tight").exit_code == 2  # nobody agrees
    assert lorestudio("settings", "remove", "Very tight", "--yes").exit_code == 0
    assert json.loads(lorestudio("settings", "profiles", "--json").stdout) == []
