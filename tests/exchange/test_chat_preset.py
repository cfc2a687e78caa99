from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

from lorestudio.exchange.chat_preset import ChatPreset, PresetPrompt, load_preset, parse_preset
from lorestudio.exchange.problems import InputError


def preset(name: str = "Mine.json", **fields: Any) -> ChatPreset:
    return parse_preset(json.dumps(fields).encode(), name)


def order(*identifiers: str, character: Any = 100001) -> list[dict[str, Any]]:
    """An order; a leading `-` switches a prompt off."""
    places = [{"identifier": each.removeprefix("-"), "enabled": not each.startswith("-")} for each in identifiers]
    return [{"character_id": character, "order": places}]


def test_prompts_in_their_order_with_their_switches() -> None:
    read = preset(
        prompts=[{"identifier": "x", "name": "Style", "content": "Be brief.", "system_prompt": False}],
        prompt_order=order("x", "-main"),
    )
    assert [(prompt.title, enabled) for prompt, enabled in read.order] == [("Style", True), ("Main Prompt", False)]
    assert read.name == "Mine"
    assert read.remarks == ()


def test_the_order_of_single_characters_is_not_used_and_that_is_told() -> None:
    read = preset(prompts=[], prompt_order=order("main", character=100000))
    assert [prompt.identifier for prompt, _ in read.order][:3] == ["main", "worldInfoBefore", "personaDescription"]
    assert any("none for all characters (100001)" in remark for remark in read.remarks)


def test_places_without_a_prompt_and_prompts_without_a_place_are_told() -> None:
    read = preset(
        prompts=[
            {"identifier": "spare", "name": "Spare", "content": "a", "system_prompt": False},
            {"identifier": "odd", "name": "Odd", "content": "a", "system_prompt": True},
        ],
        prompt_order=order("main", "gone", "odd"),
    )
    assert [prompt.identifier for prompt, _ in read.order] == ["main", "odd"]
    told = " ".join(read.remarks)
    assert "does not have: gone" in told
    assert "In no order, so not sent: Spare" in told
    assert "never sent: Odd" in told


def test_what_the_preset_says_beside_the_prompt_is_told_once() -> None:
    read = preset(
        prompts=[], temperature=1.2, claude_model="x", wrap_in_quotes=True, image_inlining=False, wi_format="[{0}]",
        shiny_new=3, assistant_prefill="Ada:", chat_completion_source="openai",
    )  # fmt: skip
    told = " ".join(read.remarks)
    assert "wrap_in_quotes" in told
    assert "image_inlining" not in told
    assert "wi_format" in told
    assert "without effect: shiny_new" in told
    assert "the connection says so" in told
    assert "prefill to Claude only" in told
    assert read.prefill == ""
    assert preset(prompts=[], assistant_prefill="Ada:", chat_completion_source="claude").prefill == "Ada:"


def test_settings_of_sillytavern_hold_the_preset_in_use() -> None:
    held = {"preset_settings_openai": "Nightly", "prompts": [], "openai_max_context": "8192"}
    read = preset("settings.json", oai_settings=held, power_user={})
    assert (read.name, read.fields.openai_max_context) == ("Nightly", 8192)


def test_presets_from_before_the_prompt_manager() -> None:
    read = preset(main_prompt="Write.", jailbreak_prompt="Go on.", openai_max_context=4095)
    texts = {prompt.identifier: prompt.content for prompt, _ in read.order if prompt.content}
    assert texts["main"] == "Write."
    assert texts["jailbreak"] == "Go on."


@pytest.mark.parametrize(
    ("fields", "names"), [({}, 0), ({"names_behavior": 2}, 2), ({"names_in_completion": True}, 1), ({"n": 1}, 0)]
)
def test_how_speakers_are_named(fields: dict[str, Any], names: int) -> None:
    assert preset(prompts=[], **fields).names == names


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"{\n}x", "line 2: this is no valid JSON (Extra data, column 2)"),
        (b"[]", "no JSON object"),
        (b'{"story_string": ""}', "no preset of chat completion"),
        (b'{"prompts": [{"content": []}]}', "prompts.0.content"),
        (b'{"prompts": [], "openai_max_context": -1}', "openai_max_context"),
        (b'{"oai_settings": {"prompts": 3}}', "oai_settings.prompts"),
        (b"\xff\xfe", "line 1: byte 0 of the file is not UTF-8"),
    ],
)
def test_files_that_cannot_be_used(data: bytes, told: str) -> None:
    with pytest.raises(InputError, match=r"^bad\.json") as caught:
        parse_preset(data, "bad.json")
    assert told in str(caught.value)


def test_a_file_that_is_gone(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        load_preset(tmp_path / "gone.json")


def test_a_prompt_that_sillytavern_would_fill_with_its_own_words_is_told() -> None:
    read = preset(prompts=[], prompt_order=order("main", "-enhanceDefinitions", "nsfw"))
    (told,) = read.remarks
    assert told.startswith("The preset has no text for Main Prompt;")


class Prompts(tuple[PresetPrompt, ...]):
    """Counts how often somebody goes through them."""

    __slots__ = ()
    times: ClassVar[int] = 0

    def __iter__(self) -> Iterator[PresetPrompt]:
        Prompts.times += 1
        return super().__iter__()

    def __reversed__(self) -> Iterator[PresetPrompt]:
        Prompts.times += 1
        return reversed(tuple(super().__iter__()))


def test_of_several_prompts_of_one_name_the_first_counts_and_all_are_gone_through_once() -> None:
    names = [f"p{number}" for number in range(20)]
    prompts = [{"identifier": name, "name": text} for text in ("First", "Second") for name in names]
    read = preset(prompts=prompts, prompt_order=order(*names))
    counting = ChatPreset("Mine", read.fields.model_copy(update={"prompts": Prompts(read.fields.prompts)}))
    assert [prompt.name for prompt, _on in counting.order] == ["First"] * len(names)
    assert Prompts.times == 1
