"""`lorestudio test`: what a text triggers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from lorestudio.cli.app import app
from lorestudio.trace.storage.serialize import from_json

Run = Callable[..., Result]


def flat(result: Result) -> str:
    assert result.exit_code == 0, result.stderr
    return " ".join(result.stdout.split())


def test_who_goes_in_by_which_key_and_who_does_not(lorestudio: Run, vault: Path) -> None:
    (vault / "Fog.md").write_text(
        "---\ntags: [lorebook]\nkeys: [fog]\nrefine_keys: [storm]\n---\nGrey.\n", encoding="utf-8"
    )
    text = flat(lorestudio("test", vault, "--text", "The lamp in the fog."))
    assert "+ Lamp" in text
    assert "The key “lamp” was found in message #0" in text
    assert "- Fog" in text
    assert "“storm” was not" in text
    assert "1 was injected" in text
    assert "Tide" not in text


def test_a_file_and_standard_input(lorestudio: Run, vault: Path, tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text("\ufeffThe tide turns.", encoding="utf-8")
    assert "+ Tide" in flat(lorestudio("test", vault, "--file", path))
    for arguments in (["test", str(vault), "-"], ["test", str(vault), "--file", "-"]):
        assert "+ Lamp" in flat(CliRunner().invoke(app, arguments, input="A lamp."))


def test_standard_input_without_an_end_is_refused_as_such_a_file_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lorestudio.cli.output.TEXT_AT_MOST", 2**20)
    for length, code in ((2**20, 0), (2**20 + 1, 2)):
        result = CliRunner().invoke(app, ["tokens", "count", "-"], input="a" * length)
        assert (result.exit_code, result.stderr) == (code, "lorestudio: -: it is larger than 1 MiB.\n" * (code > 0))


def test_json_has_rows_places_and_the_trace(lorestudio: Run, vault: Path) -> None:
    result = lorestudio("test", vault, "--text", "Lamp, lamp", "--json")
    assert result.exit_code == 0
    data = json.loads(result.stdout)
    (row,) = data["entries"]
    assert (row["title"], row["injected"], row["keys"]) == ("Lamp", True, ["lamp"])
    assert row["places"] == [{"key": "lamp", "start": 0, "end": 4}, {"key": "lamp", "start": 6, "end": 10}]
    assert data["tokens"] == row["tokens"] == from_json(data["trace"]).total_tokens


def test_behind_a_chat_its_messages_and_its_choices_count(lorestudio: Run, vault: Path, chat: Path) -> None:
    alone = flat(lorestudio("test", vault, "--text", "the bell"))
    assert "+ Old Bell" in alone
    behind = flat(lorestudio("test", vault, "--text", "the bell", "--chat", chat))
    assert "- Old Bell" in behind
    assert "before the flood" in behind
    assert "+ Old Bell" in flat(lorestudio("test", vault, "--text", "the bell", "--chat", chat, "--context", "era="))


def test_settings_mode_and_choices(lorestudio: Run, vault: Path, tmp_path: Path) -> None:
    settings = tmp_path / "settings.json"
    settings.write_text(json.dumps({"enabled": True, "scanDepth": 0}), encoding="utf-8")
    nothing = flat(lorestudio("test", vault, "--text", "lamp", "--settings", settings))
    assert "+ Lamp" not in nothing
    pinned = flat(lorestudio("test", vault, "--text", "nothing", "--pin", "Lamp"))
    assert "“Lamp” is pinned in this chat" in pinned
    asked = lorestudio("test", vault, "--text", "lamp", "--mode", "two-stage")
    assert "stand-in" in asked.stderr


@pytest.mark.parametrize(
    ("options", "said"), [([], "say what to test"), (["--text", "a", "--file", "b"], "give one of the two")]
)
def test_one_text_has_to_be_given(lorestudio: Run, vault: Path, options: list[str], said: str) -> None:
    result = lorestudio("test", vault, *options)
    assert result.exit_code == 2
    assert said in result.stderr


def test_a_text_that_cannot_be_read(lorestudio: Run, vault: Path, tmp_path: Path) -> None:
    assert "no-such.txt" in lorestudio("test", vault, "--file", tmp_path / "no-such.txt").stderr
    path = tmp_path / "odd.txt"
    path.write_bytes(b"\xff\xfe")
    result = lorestudio("test", vault, "--file", path)
    assert (result.exit_code, "not UTF-8" in result.stderr) == (2, True)
    assert lorestudio("test", "-").exit_code == 2


def test_another_system_decides(lorestudio: Run, vault: Path, chat: Path) -> None:
    text = flat(lorestudio("test", vault, "--text", "A lamp.", "--system", "world-info"))
    assert "+ Lamp" in text
    behind = ["test", vault, "--text", "And then?", "--chat", chat, "--system", "world-info", "--json"]
    near = json.loads(lorestudio(*behind, "--set", "depth=1").stdout)
    far = json.loads(lorestudio(*behind, "--set", "depth=100").stdout)
    assert from_json(near["trace"]).system == from_json(far["trace"]).system == "world-info"
    inside = [{row["title"] for row in data["entries"] if row["injected"]} for data in (near, far)]
    assert inside[0] < inside[1]


def test_settings_of_no_other_system(lorestudio: Run, vault: Path) -> None:
    whose = "“depth” is a setting of facts or world-info. Name it with --system."
    for options, told in ((("--set", "depth=1"), whose), (("--book", "x.json"), "world-info")):
        result = lorestudio("test", vault, "--text", "A lamp.", *options)
        assert result.exit_code == 2
        assert told in result.stderr
