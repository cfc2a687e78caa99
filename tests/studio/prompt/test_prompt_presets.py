from __future__ import annotations

import json
from typing import Any

import pytest

from lorestudio.domain.chat import Chat, Message
from lorestudio.domain.records import replace
from lorestudio.exchange.character_card import CardData, CharacterCard
from lorestudio.exchange.chat_preset import ChatPreset, parse_preset
from lorestudio.studio.prompt.assembly import assemble
from lorestudio.studio.prompt.setup import Persona, PromptSetup, with_preset
from lorestudio.trace.model import EntryRef, PromptBlock, PromptPart, RunOutcome, Trace, Turn
from lorestudio.trace.prompt import AssembledPrompt, Left, MessageRole, Origin, PromptSection
from tests.studio.prompt.parts import parts_of_entry

SYSTEM, USER, ASSISTANT = MessageRole.SYSTEM, MessageRole.USER, MessageRole.ASSISTANT
CHAT = Chat(
    (Message("Ada", "Welcome."), Message("Wren", "Hello.", is_user=True)), user_name="Wren", character_name="Ada"
)
CARD = CharacterCard(
    CardData(
        name="Ada", description="Keeps maps.", personality="dry", scenario="Night.", system_prompt="Mine. {{original}}"
    )
)


def own(identifier: str, content: str, **fields: Any) -> dict[str, Any]:
    return {"identifier": identifier, "name": identifier.title(), "content": content, "system_prompt": False, **fields}


def preset(*prompts: dict[str, Any], order: str = "", **fields: Any) -> ChatPreset:
    places = [{"identifier": each.removeprefix("-"), "enabled": not each.startswith("-")} for each in order.split()]
    document = {"prompts": [{"identifier": "main", "content": "Write {{char}}.", "system_prompt": True}, *prompts]}
    if places:
        document["prompt_order"] = [{"character_id": 100001, "order": places}]
    return parse_preset(json.dumps({**document, **fields}).encode(), "Mine.json")


def block(text: str, position: int, depth: float = 0, role: int = 0, tag: str = "deeplore_x") -> PromptBlock:
    return PromptBlock(tag, position, depth, role, text, (PromptPart(0, len(text), 7),))


def trace(*blocks: PromptBlock, message: int = len(CHAT.messages), swipe: int = 0) -> Trace:
    entries = {7: EntryRef(7, "Lamp", "v", "Lamp.md", 100, 3)}
    turn = Turn(message, swipe, 0)
    return Trace("deeplore", "keywords-only", RunOutcome.INJECTED, turn, entries, 9, (), prompt=blocks)


def made(read: ChatPreset, *blocks: PromptBlock, chat: Chat = CHAT, swipe: int = 0, **fields: Any) -> AssembledPrompt:
    setup = replace(with_preset(PromptSetup(), read), **fields)
    return assemble(trace(*blocks, message=len(chat.messages), swipe=swipe), chat, setup)


def shown(prompt: AssembledPrompt) -> list[tuple[MessageRole, str]]:
    return [(message.role, message.text) for message in prompt.messages]


def test_the_presets_order_and_roles_with_the_origin_of_each_text() -> None:
    read = preset(own("style", "Be brief.", role="user"), order="style main chatHistory")
    prompt = made(read)
    assert shown(prompt) == [
        (USER, "Be brief."), (SYSTEM, "Write Ada."), (SYSTEM, "[Start a new Chat]"),
        (ASSISTANT, "Welcome."), (USER, "Hello."),
    ]  # fmt: skip
    first, second = (message.parts[0].source for message in prompt.messages[:2])
    assert (first.origin, first.label) == (Origin.PRESET, "Style")
    assert (second.origin, second.label) == (Origin.PRESET, "Main Prompt")
    assert [each.section for each in prompt.messages[:2]] == [PromptSection.PRESET, PromptSection.MAIN]


def test_a_main_prompt_of_ones_own_goes_before_the_presets() -> None:
    prompt = made(preset(order="main chatHistory"), main="Mine.")
    assert prompt.messages[0].text == "Mine."
    assert prompt.messages[0].parts[0].source.origin is Origin.FRAME


def test_what_is_switched_off_is_told_and_not_sent() -> None:
    read = preset(own("style", "Be brief."), order="main -style -charDescription chatHistory")
    prompt = made(read, card=CARD)
    assert "Be brief." not in [text for _, text in shown(prompt)]
    told = {(each.source.label, each.reason) for each in prompt.left_out}
    assert told == {("Style", Left.SWITCHED_OFF), ("description", Left.SWITCHED_OFF)}


def test_card_and_persona_stand_at_the_end_where_the_order_does_not_name_them() -> None:
    prompt = made(preset(order="main chatHistory"), card=CARD, persona=Persona("", "Small."))
    assert [text for _, text in shown(prompt)][-4:] == ["Keeps maps.", "dry", "Night.", "Small."]


def test_lore_keeps_its_place_beside_a_main_prompt_that_is_switched_off() -> None:
    prompt = made(preset(order="-main chatHistory"), block("Before", 2, tag="a"), block("After", 0, tag="b"), card=CARD)
    assert [text for _, text in shown(prompt)][:3] == ["Before", "After", "[Start a new Chat]"]
    assert ("Main Prompt", Left.SWITCHED_OFF) in {(each.source.label, each.reason) for each in prompt.left_out}


def test_lore_has_no_place_where_there_is_no_main_prompt() -> None:
    prompt = made(preset(order="chatHistory"), block("Lamp!", 0))
    assert parts_of_entry(prompt, 7) == ()
    assert [(each.source.entry, each.reason) for each in prompt.left_out] == [(7, Left.SWITCHED_OFF)]


def test_lore_goes_with_a_main_prompt_among_the_messages() -> None:
    main = {"identifier": "main", "content": "Write.", "injection_position": 1, "injection_depth": 1}
    read = parse_preset(json.dumps({"prompts": [main]}).encode(), "Mine.json")
    prompt = made(read, block("Before", 2, tag="a"), block("After", 0, tag="b"))
    assert shown(prompt)[1:] == [
        (ASSISTANT, "Welcome."), (SYSTEM, "Before\nWrite.\nAfter"), (USER, "Hello."),
    ]  # fmt: skip


def test_prompts_of_one_depth_by_order_and_role_and_with_the_lore() -> None:
    # Within a depth a lower order is read first; the lore has 100; the preset's text stands before it.
    read = preset(
        own("late", "200", injection_position=1, injection_depth=0, injection_order=200),
        own("same", "100", injection_position=1, injection_depth=0),
        own("helper", "100a", injection_position=1, injection_depth=0, role="assistant"),
        own("early", "9", injection_position=1, injection_depth=0, injection_order=9),
        own("deep", "x", injection_position=1, injection_depth=0.5),
        order="main late same helper early deep chatHistory",
    )
    prompt = made(read, block("Lamp!", 1, 0))
    assert shown(prompt)[-4:] == [(SYSTEM, "9"), (ASSISTANT, "100a"), (SYSTEM, "100\nLamp!"), (SYSTEM, "200")]
    assert [(each.source.label, each.reason) for each in prompt.left_out] == [("Deep", Left.NO_PLACE)]


def test_a_chat_that_is_switched_off_takes_what_is_injected_with_it() -> None:
    prompt = made(preset(order="main -chatHistory"), block("Lamp!", 1, 1))
    assert shown(prompt) == [(SYSTEM, "Write Ada.")]
    assert {(each.source.label, each.reason) for each in prompt.left_out} == {
        ("#0 Ada", Left.SWITCHED_OFF), ("#1 Wren", Left.SWITCHED_OFF), ("Lamp", Left.SWITCHED_OFF),
    }  # fmt: skip


@pytest.mark.parametrize(("swipe", "there"), [(0, False), (1, True)])
def test_a_prompt_for_some_kinds_of_generations(swipe: int, there: bool) -> None:
    read = preset(own("again", "Another one.", injection_trigger=["swipe"]), order="main again chatHistory")
    prompt = made(read, swipe=swipe)
    assert ("Another one." in [text for _, text in shown(prompt)]) is there
    assert [each.reason for each in prompt.left_out] == ([] if there else [Left.OTHER_KIND])


def test_the_card_goes_before_the_main_prompt_unless_the_preset_forbids_it() -> None:
    read = preset(order="main chatHistory charDescription")
    assert made(read, card=CARD).messages[0].text == "Mine. Write Ada."
    strict = {"identifier": "main", "content": "Write.", "forbid_overrides": True}
    forbidding = parse_preset(json.dumps({"prompts": [strict]}).encode(), "Mine.json")
    assert made(forbidding, card=CARD).messages[0].text == "Write."


@pytest.mark.parametrize(
    ("names", "texts", "fields"),
    [
        (-1, ["Welcome.", "Hello."], ["", ""]),
        (0, ["Welcome.", "Hello."], ["", ""]),
        (1, ["Welcome.", "Hello."], ["Ada", "Wren"]),
        (2, ["Ada: Welcome.", "Wren: Hello."], ["", ""]),
    ],
)
def test_names_of_speakers(names: int, texts: list[str], fields: list[str]) -> None:
    prompt = made(preset(order="main chatHistory", names_behavior=names))
    assert [text for _, text in shown(prompt)][-2:] == texts
    assert [message.name for message in prompt.messages][-2:] == fields


def test_a_name_that_providers_refuse_is_made_harmless() -> None:
    chat = Chat((Message("Dr. Ada", "Hm."),), character_name="Dr. Ada")
    prompt = made(preset(order="main chatHistory", names_behavior=1), chat=chat)
    assert prompt.messages[-1].name == "Dr__Ada"


def test_neighbouring_system_messages_become_one_but_not_marks_and_named_ones() -> None:
    read = preset(own("style", "Brief."), order="main style chatHistory", squash_system_messages=True)
    prompt = made(
        read, block("Lamp!", 1, 0), card=replace(CARD, data=CARD.data.model_copy(update={"system_prompt": ""}))
    )
    assert shown(prompt)[:2] == [(SYSTEM, "Write Ada.\nBrief."), (SYSTEM, "[Start a new Chat]")]
    assert shown(prompt)[-1] == (SYSTEM, "Lamp!\nKeeps maps.\ndry\nNight.")
    message = prompt.messages[0]
    assert [message.text_of(part) for part in message.parts] == ["Write Ada.", "\n", "Brief."]
    assert parts_of_entry(prompt, 7)


def test_the_texts_around_the_chat_are_the_presets() -> None:
    read = preset(
        order="main chatHistory",
        new_chat_prompt="***",
        send_if_empty="[go on]",
        assistant_prefill="{{char}}:",
        scenario_format="",
        personality_format="[{{Personality}}]",
    )
    chat = replace(CHAT, messages=CHAT.messages[:1])
    prompt = made(read, chat=chat, card=CARD)
    assert shown(prompt)[1:4] == [(SYSTEM, "***"), (ASSISTANT, "Welcome."), (USER, "[go on]")]
    assert shown(prompt)[-3:] == [(SYSTEM, "[dry]"), (SYSTEM, "Night."), (ASSISTANT, "Ada:")]
    assert prompt.messages[-1].section is PromptSection.PREFILL
    dry = prompt.messages[-3]
    assert [(dry.text_of(part), part.source.origin) for part in dry.parts] == [
        ("[", Origin.PRESET), ("dry", Origin.CARD), ("]", Origin.PRESET),
    ]  # fmt: skip


def test_behind_ones_own_words_nothing_stands_for_an_empty_message() -> None:
    prompt = made(preset(order="main chatHistory", send_if_empty="[go on]"))
    assert shown(prompt)[-1] == (USER, "Hello.")


def test_variables_are_set_by_one_prompt_and_asked_for_by_another() -> None:
    read = preset(
        own("set", "{{setvar::tone::grim, says {{user}}}}{{addvar::n::2}}{{// note}}"),
        own("ask", "Tone: {{getvar::tone}}; {{incvar::n}}; {{getvar::held}}{{getvar::none}}."),
        order="set main ask chatHistory",
    )
    chat = replace(CHAT, metadata={"variables": {"held": 7, "n": 1}})
    prompt = made(read, chat=chat)
    assert [text for _, text in shown(prompt)][:2] == ["Write Ada.", "Tone: grim, says Wren; 4; 7."]
    assert prompt.unknown_macros == ()


def test_sizes_and_texts_of_a_preset_are_taken_over_and_given_back() -> None:
    read = preset(own("jailbreak", "Now."), openai_max_context=8000, openai_max_tokens=300)
    setup = with_preset(PromptSetup(persona=Persona("Quill")), read)
    assert (setup.main, setup.post_history) == ("Write {{char}}.", "Now.")
    assert (setup.context_size, setup.reply_tokens) == (8000, 300)
    assert with_preset(setup, None) == PromptSetup(persona=Persona("Quill"))


def test_without_room_the_fixed_texts_stay_and_the_chat_gives_way() -> None:
    prompt = made(preset(order="main chatHistory", openai_max_context=40, openai_max_tokens=10), context_size=30)
    assert shown(prompt)[0] == (SYSTEM, "Write Ada.")
    assert ("#0 Ada", Left.NO_ROOM) in {(each.source.label, each.reason) for each in prompt.left_out}
