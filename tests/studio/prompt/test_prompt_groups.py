from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lorestudio.domain.chat import Chat, Message
from lorestudio.domain.records import replace
from lorestudio.exchange.character_card import CardData, CharacterCard, GroupChat, GroupFields, Member
from lorestudio.exchange.regex_scripts import RegexScript, RegexScripts, ScriptPlace
from lorestudio.studio.prompt.assembly import assemble
from lorestudio.studio.prompt.card import next_speaker
from lorestudio.studio.prompt.messages import HandedChat, example_blocks
from lorestudio.studio.prompt.setup import PromptSetup, all_scripts, remarks_of, with_group
from lorestudio.trace.model import RunOutcome, Trace, Turn
from lorestudio.trace.prompt import AssembledPrompt, MessageRole, Origin, PromptSection

SYSTEM, USER, ASSISTANT = MessageRole.SYSTEM, MessageRole.USER, MessageRole.ASSISTANT


def card(name: str, **fields: Any) -> CharacterCard:
    return CharacterCard(CardData(name=name, description=f"{{{{char}}}} of {name}.", **fields))


def note(prompt: str) -> dict[str, Any]:
    return {"depth_prompt": {"prompt": prompt, "depth": 0, "role": "system"}}


def group(mode: int = 0, **fields: Any) -> GroupChat:
    members = (
        Member("mina.png", card=card("Mina", system_prompt="As Mina.", extensions=note("Mina hums."))),
        Member("hob.png", card=card("Hob", mes_example="Hob: Cheese?", extensions=note("Hob itches."))),
        Member("old.png", muted=True, card=card("Old Tom")),
    )
    read = GroupFields(members=tuple(each.avatar for each in members), generation_mode=mode, **fields)  # type: ignore[arg-type]  # pydantic reads the number
    return GroupChat(read, members)


CHAT = Chat(
    (Message("Mina", "Evening."), Message("Wren", "Hi.", is_user=True)), user_name="Wren", character_name="unused"
)


def made(inn: GroupChat, chat: Chat = CHAT, **more: Any) -> AssembledPrompt:
    setup = replace(
        with_group(PromptSetup(main="Write {{char}}; {{group}}; {{groupNotMuted}}; not {{notChar}}."), inn), **more
    )
    run = Trace("deeplore", "", RunOutcome.INJECTED, Turn(len(chat.messages), 0, 0), {}, 9, ())
    return assemble(run, chat, setup)


def texts(prompt: AssembledPrompt) -> list[str]:
    return [message.text for message in prompt.messages]


def test_of_swapped_cards_the_speakers_is_in_the_prompt() -> None:
    prompt = made(group(), speaker="Hob")
    assert [(message.role, message.text) for message in prompt.messages] == [
        (SYSTEM, "Write Hob; Mina, Hob, Old Tom; Mina, Hob; not Mina, Old Tom, Wren."),
        (SYSTEM, "Hob of Hob."),
        (SYSTEM, "[Example Chat]"),
        (SYSTEM, "Hob: Cheese?"),
        (SYSTEM, "[Start a new group chat. Group members: Mina, Hob, Old Tom]"),
        (ASSISTANT, "Mina: Evening."),
        (USER, "Hi."),
        (SYSTEM, "Hob itches."),
        (SYSTEM, "[Write the next reply only as Hob.]"),
    ]
    assert prompt.speaker == "Hob"


def test_the_main_prompt_is_the_speakers_whether_cards_are_joined_or_not() -> None:
    for mode in (0, 1):
        assert made(group(mode), speaker="Mina").messages[0].text == "As Mina."
        assert made(group(mode), speaker="Hob").messages[0].text.startswith("Write Hob")


def test_joined_cards_with_prefix_and_suffix_and_the_origin_of_each() -> None:
    inn = group(1, generation_mode_join_prefix="<{{char}}: <FIELDNAME>>", generation_mode_join_suffix="</>")
    prompt = made(inn, speaker="Hob")
    (message,) = (each for each in prompt.messages if each.section is PromptSection.DESCRIPTION)
    assert message.text == "<Mina: Description>Mina of Mina.</>\n<Hob: Description>Hob of Hob.</>"
    cards = [part.source.label for part in message.parts if part.source.origin is Origin.CARD]
    assert cards == ["description of Mina", "description of Hob"]
    assert texts(prompt)[-2] == "Mina hums.\nHob itches."


@pytest.mark.parametrize(("mode", "speaker", "there"), [(1, "Mina", False), (1, "Old Tom", True), (2, "Mina", True)])
def test_muted_members_are_joined_where_the_group_says_so_or_they_speak(mode: int, speaker: str, there: bool) -> None:
    (message,) = (
        each for each in made(group(mode), speaker=speaker).messages if each.section is PromptSection.DESCRIPTION
    )
    assert ("Old Tom of Old Tom." in message.text) is there


def said(*words: tuple[str, str]) -> Chat:
    return Chat(tuple(Message(name, text, is_user=name == "Wren") for name, text in words), user_name="Wren")


@pytest.mark.parametrize(
    ("strategy", "words", "speaker", "certain"),
    [
        (0, [("Mina", "Evening."), ("Wren", "Tell me, hob!")], "Hob", True),
        (0, [("Mina", "Evening."), ("Wren", "Hi.")], "Mina", False),  # drawn by lot
        (0, [("Wren", "Hi.")], "Mina", False),
        (0, [("Hob", "Hob is me, Mina.")], "Mina", True),  # nobody answers to themselves
        (0, [("Wren", "Tom?")], "Mina", False),  # he is muted
        (1, [("Mina", "Evening."), ("Wren", "Hi.")], "Mina", True),
        (1, [("Wren", "Hi."), ("Mina", "Evening.")], "Hob", True),
        (1, [("Wren", "Hi."), ("Hob", "Evening.")], "Mina", True),
        (2, [("Hob", "Evening."), ("Wren", "Hob!")], "Hob", False),
        (3, [("Hob", "Evening."), ("Wren", "Mina!")], "Hob", False),
    ],
)
def test_who_speaks_next(strategy: int, words: list[tuple[str, str]], speaker: str, certain: bool) -> None:
    chat = said(*words)
    found, doubt = next_speaker(group(activation_strategy=strategy), chat, len(chat.messages))
    assert found == speaker
    assert (doubt == "") is certain


def test_that_the_speaker_is_a_guess_is_told_in_the_prompt() -> None:
    assert "draws by lot" in made(group()).remarks[0]
    assert made(group(), speaker="Hob").remarks == ()


def test_whoever_wrote_the_reply_speaks() -> None:
    chat = replace(CHAT, messages=(*CHAT.messages, Message("Hob", "Me.")))
    run = Trace("deeplore", "", RunOutcome.INJECTED, Turn(2, 0, 0), {}, 9, ())
    assert assemble(run, chat, with_group(PromptSetup(speaker="Mina"), group())).speaker == "Hob"


@pytest.mark.parametrize(
    ("avatar", "text"), [("twin.png", "The twin."), ("", "Hob of Hob."), ("mina.png", "Hob of Hob.")]
)
def test_two_of_one_name_are_told_apart_by_the_file_that_a_reply_names(avatar: str, text: str) -> None:
    inn = group()
    twin = Member("twin.png", card=CharacterCard(CardData(name="Hob", description="The twin.")))
    inn = replace(inn, members=(*inn.members, twin))
    reply = Message("Hob", "Me.", raw={"original_avatar": avatar})
    run = Trace("deeplore", "", RunOutcome.INJECTED, Turn(2, 0, 0), {}, 9, ())
    prompt = assemble(run, replace(CHAT, messages=(*CHAT.messages, reply)), with_group(PromptSetup(), inn))
    assert [each.text for each in prompt.messages if each.section is PromptSection.DESCRIPTION] == [text]


def test_the_scripts_of_the_speakers_card_run() -> None:
    script = RegexScript(
        name="Loud", find="/Hi/", replace="HI", placement=frozenset({ScriptPlace.USER_INPUT}), prompt_only=True
    )
    inn = group()
    assert inn.members[1].card is not None
    hob = replace(inn.members[1], card=replace(inn.members[1].card, scripts=RegexScripts((script,))))
    inn = replace(inn, members=(inn.members[0], hob))
    assert "HI." in texts(made(inn, speaker="Hob"))
    assert "Hi." in texts(made(inn, speaker="Mina"))
    setup = with_group(PromptSetup(), inn)
    assert [where for where, _scripts in all_scripts(setup)] == ["Hob"]
    handed = HandedChat(setup, CHAT)
    assert handed.changes_anything
    searched = {
        name: handed.handed(CHAT.messages, (0, 1), lambda: CHAT, 2, name)[0][1].text for name in ("Hob", "Mina")
    }
    assert searched == {"Hob": "HI.", "Mina": "Hi."}


@pytest.mark.parametrize(("avatar", "text"), [("twin.png", "HI."), ("", "Hi."), ("mina.png", "Hi.")])
def test_texts_to_search_go_by_the_scripts_of_the_twin_who_wrote_the_reply(avatar: str, text: str) -> None:
    script = RegexScript(
        name="Loud", find="/Hi/", replace="HI", placement=frozenset({ScriptPlace.USER_INPUT}), prompt_only=True
    )
    card = CharacterCard(CardData(name="Hob"), scripts=RegexScripts((script,)))
    inn = group()
    inn = replace(inn, members=(*inn.members, Member("twin.png", card=card)))
    chat = replace(CHAT, messages=(*CHAT.messages, Message("Hob", "Me.", raw={"original_avatar": avatar})))
    handed = HandedChat(with_group(PromptSetup(), inn), chat)
    assert handed.changes_anything
    # What another member of the name saw does not stay.
    assert handed.handed(chat.messages[:2], (0, 1), lambda: chat, 3, "Hob")[0][1].text == "Hi."
    assert handed.handed(chat.messages[:2], (0, 1), lambda: chat, 2, "Hob")[0][1].text == text
    # Runs are stale where another one's scripts are used, and not where the file alone differs.
    named = replace(chat, messages=(*CHAT.messages, Message("Hob", "Me.", raw={})))
    told = [
        each.told_of(lambda: chat, 2, "Hob") for each in (handed, HandedChat(with_group(PromptSetup(), inn), named))
    ]
    assert (told[0] == told[1]) is (text == "Hi.")


def test_what_the_group_keeps_for_a_chat_without_metadata() -> None:
    inn = group(chat_id="inn", chat_metadata={"note_prompt": "Slowly.", "note_depth": 0, "scenario": "An inn."})
    setup = with_group(PromptSetup(speaker="Hob"), inn, Path("1.json"), Path("inn.jsonl"))
    run = Trace("deeplore", "", RunOutcome.INJECTED, Turn(2, 0, 0), {}, 9, ())
    prompt = assemble(run, CHAT, setup)
    assert "Slowly.\nHob itches." in texts(prompt)
    (scenario,) = (each for each in prompt.messages if each.section is PromptSection.SCENARIO)
    assert scenario.text == "An inn."
    own = replace(CHAT, metadata={"scenario": "A road."})
    assert "A road." in texts(assemble(run, own, setup))


def test_without_a_group_its_remarks_and_speaker_are_gone() -> None:
    inn = replace(group(), remarks=("x",))
    setup = with_group(PromptSetup(speaker="Hob"), inn)
    assert remarks_of(setup) == ("x",)
    assert setup.speaker == "Hob"
    assert with_group(setup, None) == PromptSetup()
    assert with_group(PromptSetup(speaker="Nobody"), inn).speaker == ""


def test_members_speak_in_examples_for_the_characters_side() -> None:
    text = "Hob: Cheese?\nWren: No.\nMina: Yes."
    (block,) = example_blocks(text, "Wren", "Mina", ("Mina", "Hob"))
    # SillyTavern keeps the last other name, so what Mina says last goes under Hob's.
    assert [(turn.name, turn.text) for turn in block] == [("Hob", "Cheese?"), ("Wren", "No."), ("Hob", "Mina: Yes.")]
