"""What SillyTavern's settings.json says besides (rules: sillytavern 5.9)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lorestudio.domain.records import replace
from lorestudio.exchange.host_settings import load_host_settings
from lorestudio.settings.studio import ChatBasis
from lorestudio.studio.project.basis import KeptBasis
from lorestudio.studio.project.project import open_project
from lorestudio.studio.prompt.setup import REPLY_TOKENS, PromptSetup

SCRIPT = {"scriptName": "Veil", "findRegex": "/a/", "promptOnly": True, "placement": [1, 2]}


def written(path: Path, **values: object) -> Path:
    path.write_text(
        json.dumps({"extension_settings": {"deeplore_enhanced": {"enabled": True}, "regex": [SCRIPT]}, **values}),
        "utf-8",
    )
    return path


@pytest.mark.parametrize(
    ("values", "size"),
    [
        ({"main_api": "openai", "max_context": 1, "oai_settings": {"openai_max_context": 32000}}, 32000),
        ({"main_api": "textgenerationwebui", "max_context": 8192, "oai_settings": {"openai_max_context": 1}}, 8192),
        ({"oai_settings": {"openai_max_context": 4095}}, 4095),
        ({"main_api": "kobold"}, 0),
        ({"main_api": "kobold", "max_context": "many"}, 0),
        ({"main_api": "kobold", "max_context": -5}, 0),
        ({"main_api": "kobold", "max_context": True}, 0),
        ({"main_api": "kobold", "max_context": float("1e308")}, int(1e308)),
        ({"main_api": "kobold", "max_context": 10**398}, 0),
    ],
)
def test_the_context_size_is_that_of_the_api_in_use(tmp_path: Path, values: dict[str, object], size: int) -> None:
    found = load_host_settings(written(tmp_path / "settings.json", **values))
    assert found.context_size == size
    assert [each.name for each in found.scripts.scripts] == ["Veil"]


@pytest.mark.parametrize(
    ("values", "reply"),
    [
        ({"main_api": "openai", "amount_gen": 1, "oai_settings": {"openai_max_tokens": 300}}, 300),
        ({"main_api": "textgenerationwebui", "amount_gen": 250, "oai_settings": {"openai_max_tokens": 1}}, 250),
        ({"main_api": "kobold", "amount_gen": "many"}, 0),
    ],
)
def test_so_is_the_room_for_a_reply(tmp_path: Path, values: dict[str, object], reply: int) -> None:
    path = written(tmp_path / "settings.json", **values)
    assert load_host_settings(path).reply_tokens == reply
    (tmp_path / "vault").mkdir()
    project = open_project([tmp_path / "vault"], None, path)
    assert project.reply_setup.reply_tokens == project.scene().reply_tokens == (reply or REPLY_TOKENS)
    said = replace(project, setup=PromptSetup(reply_tokens=77))
    assert said.reply_setup.reply_tokens == said.scene().reply_tokens == 77


def test_a_file_of_deeplore_settings_alone_says_nothing(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text('{"scanDepth": 4, "max_context": 3}', "utf-8")
    assert load_host_settings(path).context_size == 0


def test_scripts_that_cannot_be_read_are_named_and_the_rest_counts(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text('{"extension_settings": {"regex": 3}, "oai_settings": {"openai_max_context": 9}}', "utf-8")
    found = load_host_settings(path)
    assert found.context_size == 9
    assert found.problems[0].startswith("Its regex scripts do not run: ")


def test_a_project_knows_both_and_a_persons_word_goes_first(tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    settings = written(tmp_path / "settings.json", oai_settings={"openai_max_context": 32000})
    project = open_project([tmp_path / "vault"], None, settings)
    assert project.known_context == 32000
    assert project.reply_setup.context_size == 32000
    assert project.reply_setup.regex_paths == (settings,)
    said = replace(project, basis=KeptBasis(ChatBasis(context_size=8000)))
    assert said.known_context == 8000
    assert replace(said, context_size=4000).known_context == 4000
    assert replace(project, setup=PromptSetup(context_size=16000)).known_context == 16000
