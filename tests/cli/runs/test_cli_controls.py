"""Pins, blocks, context, folders and presets on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from lorestudio.domain.state import ChatControls, EntryRule
from lorestudio.studio.chat.controls import ControlsPart, Preset, PresetFolder
from lorestudio.trace.storage.serialize import from_json
from lorestudio.vault.files import default_folder

Run = Callable[..., Result]


@pytest.fixture
def injected(lorestudio: Run, vault: Path, chat: Path) -> Callable[..., list[set[str]]]:
    """Who goes in with these options, generation by generation."""

    def run(*options: object) -> list[set[str]]:
        result = lorestudio("replay", vault, "--chat", chat, "--json", *options)
        assert result.exit_code == 0, result.stderr
        traces = [from_json(item) for item in json.loads(result.stdout)]
        return [{each.title for each in trace.injections} for trace in traces]

    return run


def test_a_context_option_takes_the_place_of_the_chats_value(injected: Callable[..., list[set[str]]]) -> None:
    assert "Old Bell" not in injected()[0]  # the chat's era is another one
    assert "Old Bell" in injected("--context", "era=Before the Flood")[0]
    assert "Old Bell" in injected("--context", "Era=x", "--context", "era=before the flood")[0]
    assert "Old Bell" in injected("--context", "era=")[0]
    assert "Old Bell" not in injected("--context", "era=never")[0]


def test_pins_and_blocks(injected: Callable[..., list[set[str]]]) -> None:
    assert all("Old Bell" in titles for titles in injected("--pin", "old bell"))
    assert not any("Lamp" in titles for titles in injected("--block", "LAMP"))
    both = injected("--pin", "Lamp", "--block", "Tide")
    assert all("Lamp" in titles and "Tide" not in titles for titles in both)


def test_a_pin_given_twice_stays_a_pin(injected: Callable[..., list[set[str]]]) -> None:
    assert all("Old Bell" in titles for titles in injected("--pin", "Old Bell", "--pin", "old bell"))


def test_only_some_folders(injected: Callable[..., list[set[str]]], vault: Path) -> None:
    (vault / "deep").mkdir()
    (vault / "Lamp.md").rename(vault / "deep" / "Lamp.md")
    (vault / "sea").mkdir()
    (vault / "Tide.md").rename(vault / "sea" / "Tide.md")
    titles = injected("--folder", "deep/")[0]
    assert ("Lamp" in titles, "Tide" in titles) == (True, False)
    titles = injected("--folder", "deep", "--folder", "sea")[0]
    assert ("Lamp" in titles, "Tide" in titles) == (True, True)


def test_a_preset_by_name_and_by_file(injected: Callable[..., list[set[str]]]) -> None:
    preset = Preset("Storm", ChatControls(pins=(EntryRule("Old Bell"),)), frozenset({ControlsPart.PINS}))
    path = PresetFolder().save(preset)
    assert all("Old Bell" in titles for titles in injected("--preset", "storm"))
    assert all("Old Bell" in titles for titles in injected("--preset", path))
    assert not any("Old Bell" in titles for titles in injected("--preset", "storm", "--block", "Old Bell"))


def test_what_of_a_preset_the_vault_does_not_have_is_told(lorestudio: Run, vault: Path, chat: Path) -> None:
    PresetFolder().save(Preset("Storm", ChatControls(pins=(EntryRule("Wasp"),)), frozenset({ControlsPart.PINS})))
    result = lorestudio("replay", vault, "--chat", chat, "--preset", "Storm", "--json")
    assert result.exit_code == 0
    assert "preset “Storm”: It pins “Wasp”" in result.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--context", "era"], ["--context", "KEY=VALUE"]),
        (["--context", "8192"], ["--context-size"]),
        (["--context", "eera=x"], ["no field", "era, location"]),
        (["--pin", "Lamb"], ["--pin", "Did you mean “Lamp”"]),
        (["--block", "Zzz"], ["--block", "no entry is called “Zzz”"]),
        (["--folder", "deep"], ["--folder", "no folder"]),
        (["--preset", "Storm"], ["no preset “Storm”", "None is kept"]),
    ],
)
def test_what_is_not_there_is_said(
    lorestudio: Run, vault: Path, chat: Path, options: list[str], words: list[str]
) -> None:
    result = lorestudio("replay", vault, "--chat", chat, *options)
    assert result.exit_code == 2
    assert [word for word in words if word not in result.stderr] == []


def test_what_the_chats_file_says_in_vain_is_told(lorestudio: Run, vault: Path, chat: Path) -> None:
    head, _, rest = chat.read_text("utf-8").partition("\n")
    header = json.loads(head)
    header["chat_metadata"] |= {"deeplore_pins": [7]}
    chat.write_text(json.dumps(header) + "\n" + rest, encoding="utf-8")
    for asked in (("--json",), ("-o", "made.csv")):
        result = lorestudio("replay", vault, "--chat", chat, *asked)
        assert "deeplore_pins, item 1: it is a number" in result.stderr, asked


def test_what_is_chosen_is_kept_in_the_chats_file(lorestudio: Run, vault: Path, chat: Path) -> None:
    before = chat.read_bytes()
    shown = lorestudio("choose", vault, "--chat", chat)
    assert (shown.exit_code, shown.stdout) == (0, "context: era: after the flood\n"), shown.output
    tried = lorestudio("choose", vault, "--chat", chat, "--pin", "Tide", "--dry-run")
    assert (tried.stdout.splitlines()[0], chat.read_bytes()) == ("pins: Tide", before)
    kept = lorestudio("choose", vault, "--chat", chat, "--pin", "Tide", "--block", "Lamp", "--context", "era=")
    assert (kept.exit_code, kept.stdout) == (0, "pins: Tide\nblocks: Lamp\n"), kept.output
    assert kept.stderr == f"lorestudio: {chat} was written.\n"
    assert lorestudio("choose", vault, "--chat", chat).stdout == "pins: Tide\nblocks: Lamp\n"
    (copy,) = (default_folder() / "chats").rglob("*.jsonl")
    assert copy.read_bytes() == before
    assert lorestudio("choose", vault, "--chat", chat, "--free", "Tide", "--free", "Lamp").exit_code == 0
    assert lorestudio("choose", vault, "--chat", chat).stdout == "Nothing is chosen for this chat.\n"
    era = "before the flood, when the quay was a hill and the lamp stood a mile from any water"
    told = lorestudio("choose", vault, "--chat", chat, "--context", f"era={era}", "--dry-run").stdout
    assert " ".join(told.split()) == f"context: era: {era}"


def test_a_preset_is_made_listed_renamed_and_removed(lorestudio: Run, vault: Path, chat: Path, tmp_path: Path) -> None:
    assert "There is no preset yet." in lorestudio("presets", "list").stdout
    made = lorestudio("choose", vault, "--chat", chat, "--pin", "Tide", "--dry-run", "--json")
    (tmp_path / "Storm.json").write_bytes(made.stdout_bytes)
    again = lorestudio("choose", vault, "--chat", chat, "--preset", tmp_path / "Storm.json", "--as-preset", "Storm")
    assert again.exit_code == 0, again.output
    before = chat.read_bytes()
    taken = lorestudio("choose", vault, "--chat", chat, "--block", "Lamp", "--as-preset", "storm")
    assert (taken.exit_code, "a preset “Storm” already" in taken.stderr, chat.read_bytes()) == (2, True, before)
    assert "say with --as-preset" in lorestudio("choose", vault, "--chat", chat, "--replace").stderr
    assert lorestudio("choose", vault, "--chat", chat, "--as-preset", "storm", "--replace").exit_code == 0
    listed = "storm\n  pins: Tide\n  context: era: after the flood\n"
    assert lorestudio("presets", "list").stdout == listed
    assert lorestudio("presets", "rename", "Storm", "Night").exit_code == 0
    assert [each["name"] for each in json.loads(lorestudio("presets", "list", "--json").stdout)] == ["Night"]
    assert lorestudio("presets", "remove", "night").exit_code == 2  # nobody agrees
    assert lorestudio("presets", "remove", "night", "--yes").exit_code == 0
    assert PresetFolder().all() == ()


def test_a_chat_that_cannot_keep_what_is_chosen_is_left_alone(lorestudio: Run, vault: Path, chat: Path) -> None:
    group = chat.with_name("group.jsonl")
    group.write_text(chat.read_text("utf-8").partition("\n")[2], encoding="utf-8")
    text = chat.with_name("text.txt")
    text.write_text("Wren: A lamp.\nOttoline: Yes.\n", encoding="utf-8")
    for path, told in ((group, "as those of group chats"), (text, "Give a chat of SillyTavern's")):
        before = path.read_bytes()
        refused = lorestudio("choose", vault, "--chat", path, "--pin", "Tide")
        assert (refused.exit_code, told in refused.stderr, path.read_bytes()) == (2, True, before), refused.output
        assert lorestudio("choose", vault, "--chat", path, "--pin", "Tide", "--dry-run").stdout == "pins: Tide\n"
