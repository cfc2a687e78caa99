from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from lorestudio.domain.resources import resource

Run = Callable[..., Result]


@pytest.fixture
def card(tmp_path: Path) -> Path:
    path = tmp_path / "card.json"
    fields = {"name": "Ottoline", "description": "{{char}} minds {{user}}.", "first_mes": "Early."}
    path.write_text(json.dumps({"spec": "chara_card_v2", "spec_version": "2.0", "data": fields}), "utf-8")
    return path


def test_the_whole_prompt_with_card_and_persona(lorestudio: Run, vault: Path, chat: Path, card: Path) -> None:
    before = chat.read_bytes()
    result = lorestudio(
        "prompt", vault, "--chat", chat, "--message", 1, "--card", card, "--persona", "# Quill\nQuill is {{user}}."
    )
    assert result.exit_code == 0, result.output
    assert "card: description\nOttoline minds Quill." in result.stdout
    assert "persona: persona Quill\nQuill is Quill." in result.stdout
    assert "entry: Lamp" in result.stdout
    assert "chat: #1" not in result.stdout  # that is the reply itself
    assert chat.read_bytes() == before


def test_as_json(lorestudio: Run, vault: Path, chat: Path) -> None:
    result = lorestudio("prompt", vault, "--chat", chat, "--message", 1, "--json")
    document = json.loads(result.stdout)
    roles = [message["role"] for message in document["messages"]]
    assert roles[0] == "system"
    assert {"system", "assistant"} >= set(roles) - {"user"}
    origins = {part["source"]["origin"] for message in document["messages"] for part in message["parts"]}
    assert {"frame", "chat", "entry"} <= origins


def test_a_main_prompt_of_ones_own_and_a_small_context(
    lorestudio: Run, vault: Path, chat: Path, tmp_path: Path
) -> None:
    main = tmp_path / "main.txt"
    main.write_text("Only {{char}} speaks. {{roll:d6}}", "utf-8")
    result = lorestudio("prompt", vault, "--chat", chat, "--main", main, "--context-size", 40, "--reply", 10)
    assert result.exit_code == 0
    assert "Only Ottoline speaks. {{roll:d6}}" in result.stdout
    assert "no room" in result.stdout
    assert "{{roll:d6}} is a macro that only SillyTavern can fill in" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--card", "gone.png"), "gone.png: there is no such file"),
        (("--message", "0"), "#0 is no reply"),
        (("--answers", "Ollama"), "asks no provider"),
        (("--mode", "magic"), "there is no mode"),
        (("--main", "gone.txt"), "gone.txt: there is no such file"),
    ],
)
def test_input_that_cannot_be_used(
    lorestudio: Run, vault: Path, chat: Path, arguments: tuple[str, str], told: str
) -> None:
    result = lorestudio("prompt", vault, "--chat", chat, *arguments)
    assert result.exit_code == 2
    assert told in result.stderr


def test_a_preset_orders_the_prompt_and_says_what_it_cannot(
    lorestudio: Run, vault: Path, chat: Path, tmp_path: Path
) -> None:
    preset = tmp_path / "Mine.json"
    prompts = [{"identifier": "style", "name": "Style", "content": "Be brief.", "system_prompt": False}]
    places = [{"identifier": name, "enabled": True} for name in ("style", "main", "chatHistory")]
    document = {"prompts": prompts, "prompt_order": [{"character_id": 100001, "order": places}], "shiny": 1}
    preset.write_text(json.dumps({**document, "openai_max_context": 9000, "openai_max_tokens": 500}), "utf-8")
    result = lorestudio("prompt", vault, "--chat", chat, "--message", 1, "--preset", preset)
    assert result.exit_code == 0, result.output
    assert "preset: Style\nBe brief." in result.stdout
    assert "of 8,500 tokens" in result.stdout
    assert "without effect: shiny" in result.stderr
    smaller = lorestudio("prompt", vault, "--chat", chat, "--preset", preset, "--context", 3000, "--reply", 1000)
    assert "of 2,000 tokens" in smaller.stdout


def test_regex_scripts_change_what_is_sent_and_are_named(
    lorestudio: Run, vault: Path, chat: Path, tmp_path: Path
) -> None:
    scripts = tmp_path / "settings.json"
    whole = {"scriptName": "Hush", "findRegex": "/^[^]*$/", "replaceString": "Hush.", "promptOnly": True}
    lasting = {"scriptName": "Lasting", "findRegex": "a"}
    held = [{**whole, "placement": [1, 2]}, {**lasting, "placement": [2]}]
    scripts.write_text(json.dumps({"extension_settings": {"regex": held}}), "utf-8")
    result = lorestudio("prompt", vault, "--chat", chat, "--message", 1, "--regex", scripts)
    assert result.exit_code == 0, result.output
    assert "changed by the regex script “Hush”\nHush." in result.stdout
    assert "“Lasting”: changes the chat itself" in result.stderr
    gone = lorestudio("prompt", vault, "--chat", chat, "--regex", tmp_path / "gone.json")
    assert gone.exit_code == 2
    assert "no such file" in gone.stderr


def test_a_group_names_its_members_and_who_speaks(lorestudio: Run, vault: Path, chat: Path, tmp_path: Path) -> None:
    cards, group = tmp_path / "characters", tmp_path / "groups" / "1.json"
    cards.mkdir()
    group.parent.mkdir()
    for name in ("Mina", "Hob"):
        document = {"spec": "chara_card_v2", "data": {"name": name, "description": f"{name} waits."}}
        (cards / f"{name}.png").write_text(json.dumps(document), "utf-8")
    group.write_text(json.dumps({"members": ["Mina.png", "Hob.png"]}), "utf-8")
    result = lorestudio("prompt", vault, "--chat", chat, "--group", group, "--speaker", "Hob")
    assert result.exit_code == 0, result.output
    assert "card: description\nHob waits." in result.stdout
    assert "Group members: Mina, Hob" in result.stdout
    stranger = lorestudio("prompt", vault, "--chat", chat, "--group", group, "--speaker", "Tom")
    assert stranger.exit_code == 2
    assert "Its members are Mina, Hob" in stranger.stderr
    alone = lorestudio("prompt", vault, "--chat", chat, "--speaker", "Hob")
    assert "give it with --group" in alone.stderr


def test_a_group_is_named_to_every_command_that_runs_a_chat(lorestudio: Run, tmp_path: Path) -> None:
    """The lorebook of a member is scanned where that one speaks."""
    user = tmp_path / "user"
    for name in ("characters", "groups", "worlds"):
        (user / name).mkdir(parents=True)
    for name in ("Mina", "Hob"):
        document = {"spec": "chara_card_v2", "data": {"name": name, "extensions": {"world": f"Of {name}"}}}
        (user / "characters" / f"{name}.png").write_text(json.dumps(document), "utf-8")
        entry = {"uid": 0, "comment": f"{name}'s", "constant": True, "content": f"{name}.", "position": 0}
        (user / "worlds" / f"Of {name}.json").write_text(json.dumps({"entries": {"0": entry}}), "utf-8")
    group = user / "groups" / "1.json"
    group.write_text(json.dumps({"members": ["Mina.png", "Hob.png"]}), "utf-8")
    chat = tmp_path / "chat.jsonl"
    lines = [{"user_name": "Wren", "character_name": "", "chat_metadata": {}}]
    lines += [{"name": name, "is_user": name == "Wren", "mes": "Hm."} for name in ("Wren", "Mina", "Hob")]
    chat.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    vault = tmp_path / "vault"
    vault.mkdir()
    by = ("--chat", chat, "--group", group, "--set", f"worlds={user / 'worlds'}", "--set", "source=books")
    told = json.loads(lorestudio("replay", vault, "--system", "world-info", "--speaker", "Mina", *by, "--json").stdout)
    assert [[each["title"] for each in turn["trace"]["injections"]] for turn in told] == [
        ["Mina's"], ["Hob's"], ["Mina's"]
    ]  # fmt: skip


def test_a_chat_of_one_is_sent_as_one_though_a_narrator_speaks(lorestudio: Run) -> None:
    demo = resource("demo")
    result = lorestudio("prompt", demo / "vault", "--chat", demo / "chat.jsonl", "--message", 6)
    assert "[Start a new Chat]" in result.stdout
    assert "group" not in result.stdout
