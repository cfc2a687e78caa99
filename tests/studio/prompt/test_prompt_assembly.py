from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorestudio.domain.chat import Chat, Message
from lorestudio.domain.records import replace
from lorestudio.domain.tokens import CHARS_4
from lorestudio.exchange.character_card import CardData, CharacterCard
from lorestudio.exchange.problems import InputError
from lorestudio.studio.project.project import demo_project
from lorestudio.studio.prompt.assembly import assemble
from lorestudio.studio.prompt.messages import example_blocks
from lorestudio.studio.prompt.setup import Persona, PromptSetup, read_persona
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.systems.registry import words_of
from lorestudio.trace.model import EntryRef, PromptBlock, PromptPart, RunOutcome, Trace, Turn
from lorestudio.trace.prompt import AssembledPrompt, Left, MessageRole, Origin, PromptSection
from lorestudio.trace.prompt_cache import ChatPieces, PromptPiece, prompt_pieces
from tests.studio.prompt.parts import parts_of_entry

SYSTEM, USER, ASSISTANT = MessageRole.SYSTEM, MessageRole.USER, MessageRole.ASSISTANT

CHAT = Chat(
    (
        Message("Ada", "Welcome, {{user}}."),
        Message("Wren", "Hello.", is_user=True),
        Message("Wren", "(aside)", is_user=True, is_system=True),
        Message("Ada", "The fortress\r\nstands."),
        Message("Wren", "Go on.", is_user=True),
    ),
    user_name="Wren",
    character_name="Ada",
)
CARD = CharacterCard(
    CardData(
        name="Ada",
        description="{{char}} keeps <USER>'s maps.",
        personality="dry",
        scenario="Night.",
        mes_example="<START>\n{{user}}: Hi\nthere\n{{char}}: No.\n<START>\nnobody speaks",
        system_prompt="{{original}} Be brief.",
        post_history_instructions="Now, {{char}}.",
        extensions={"depth_prompt": {"prompt": "Hums.", "depth": 1, "role": "system"}},  # type: ignore[arg-type]  # read
    )
)
BARE = PromptSetup(main="Write {{char}}.")


def block(text: str, position: int = 1, depth: float = 4, role: int = 0, tag: str = "deeplore_x", **ids: Any) -> Any:
    entry = ids.get("entry", 7)
    return PromptBlock(tag, position, depth, role, text, (PromptPart(0, len(text), entry),))


def trace(*blocks: PromptBlock, message: int = len(CHAT.messages), notes: tuple[PromptBlock, ...] = ()) -> Trace:
    entries = {7: EntryRef(7, "Lamp", "v", "Lamp.md", 100, 3), 8: EntryRef(8, "Tide", "v", "Tide.md", 100, 3)}
    return Trace(
        "deeplore",
        "keywords-only",
        RunOutcome.INJECTED,
        Turn(message, 0, 0),
        entries,
        9,
        (),
        prompt=blocks,
        words=words_of("deeplore"),
        notes=notes,
    )


def shown(prompt: AssembledPrompt) -> list[tuple[MessageRole, str]]:
    return [(message.role, message.text) for message in prompt.messages]


def history(prompt: AssembledPrompt) -> list[tuple[MessageRole, str]]:
    found = [(each.role, each.text) for each in prompt.messages if each.section is PromptSection.HISTORY]
    return found[1:]  # without the mark of its start


SAID = [(ASSISTANT, "Welcome, Wren."), (USER, "Hello."), (ASSISTANT, "The fortress\nstands."), (USER, "Go on.")]


def test_without_card_and_lore_there_are_main_prompt_and_chat() -> None:
    prompt = assemble(trace(), CHAT, BARE)
    assert shown(prompt) == [(SYSTEM, "Write Ada."), (SYSTEM, "[Start a new Chat]"), *SAID]
    assert prompt.unknown_macros == ()
    assert prompt.room is None


def test_the_order_of_sillytavern() -> None:
    setup = replace(BARE, card=CARD, persona=Persona("", "{{user}} is small."))
    prompt = assemble(trace(block("Lamp!", 0), block("Tide!", 2, tag="deeplore_y")), CHAT, setup)
    assert shown(prompt) == [
        (SYSTEM, "Tide!"),
        (SYSTEM, "Write Ada. Be brief."),
        (SYSTEM, "Lamp!"),
        (SYSTEM, "Wren is small."),
        (SYSTEM, "Ada keeps Wren's maps."),
        (SYSTEM, "dry"),
        (SYSTEM, "Night."),
        (SYSTEM, "[Example Chat]"),
        (SYSTEM, "Hi\nthere"),
        (SYSTEM, "No."),
        (SYSTEM, "[Start a new Chat]"),
        *SAID[:3],
        (SYSTEM, "Hums."),
        SAID[3],
        (SYSTEM, "Now, Ada."),
    ]
    assert [each.name for each in prompt.messages if each.name] == ["example_user", "example_assistant"]
    origins = [part.source.origin for _, part in prompt.parts]
    assert origins[:4] == [Origin.ENTRY, Origin.CARD, Origin.ENTRY, Origin.PERSONA]


@pytest.mark.parametrize(("depth", "newer"), [(0, 0), (1, 1), (3, 3), (4, 4), (99, 4)])
def test_a_text_in_the_chat_has_as_many_newer_messages_behind_it(depth: int, newer: int) -> None:
    found = history(assemble(trace(block("Lamp!", depth=depth)), CHAT, BARE))
    assert found == [*SAID[: 4 - newer], (SYSTEM, "Lamp!"), *SAID[4 - newer :]]


def test_within_a_depth_the_model_reads_assistant_user_system() -> None:
    blocks = [block(f"{role}", depth=0, role=role, tag=f"t{role}") for role in (0, 1, 2)]
    assert history(assemble(trace(*blocks), CHAT, BARE))[-3:] == [(ASSISTANT, "2"), (USER, "1"), (SYSTEM, "0")]


def test_texts_of_one_place_are_one_message_in_order_of_their_tags() -> None:
    blocks = (block(" b \n", depth=1, tag="deeplore_b", entry=8), block("\na", depth=1, tag="deeplore_a"))
    prompt = assemble(trace(*blocks), CHAT, BARE)
    (message,) = (each for each in prompt.messages if each.depth == 1)
    assert message.text == "a\nb"
    assert [(message.text_of(part), part.source.label) for part in message.parts] == [
        ("a", "Lamp"), ("\n", "between texts"), ("b", "Tide"),
    ]  # fmt: skip


def test_the_parts_of_a_block_are_its_entries_and_what_stands_between() -> None:
    text = "<Lamp>\n\n<Tide>"
    two = PromptBlock("t", 0, 0, 0, text, (PromptPart(0, 6, 7), PromptPart(8, 14, 8)))
    prompt = assemble(trace(two), CHAT, BARE)
    (message,) = (each for each in prompt.messages if each.section is PromptSection.AFTER_MAIN)
    assert [(each.source.label, each.source.entry) for each in message.parts] == [
        ("Lamp", 7), ("between entries", None), ("Tide", 8),
    ]  # fmt: skip
    assert parts_of_entry(prompt, 8) == ((message, message.parts[2]),)


def test_of_several_texts_before_the_main_prompt_the_last_stands_first() -> None:
    prompt = assemble(trace(block("1", 2, tag="a"), block("2", 2, tag="b")), CHAT, BARE)
    assert [text for _, text in shown(prompt)][:3] == ["2", "1", "Write Ada."]


def test_outlets_go_where_a_macro_asks_for_them() -> None:
    outlet = block("Rules.", -1, tag="customWIOutlet_rules")
    setup = replace(BARE, main="Write. {{outlet::rules}} Good.{{outlet::none}}")
    prompt = assemble(trace(outlet), CHAT, setup)
    main = prompt.messages[0]
    assert main.text == "Write. Rules. Good."
    assert [part.source.origin for part in main.parts] == [Origin.FRAME, Origin.ENTRY, Origin.FRAME]
    assert prompt.left_out == ()


def test_an_outlet_that_nothing_asks_for_is_told() -> None:
    prompt = assemble(trace(block("Rules.", -1, tag="customWIOutlet_rules")), CHAT, BARE)
    assert [(each.reason, each.source.entry) for each in prompt.left_out] == [(Left.OUTLET_UNUSED, 7)]


@pytest.mark.parametrize(
    "bad", [block("x", -1), block("x", 1, 2.5), block("x", 1, 0, 9), block("x", 7), block("x", 1, 1e9)]
)
def test_a_text_for_no_known_place_is_told(bad: PromptBlock) -> None:
    prompt = assemble(trace(bad), CHAT, BARE)
    assert [each.reason for each in prompt.left_out] == [Left.NO_PLACE]
    assert parts_of_entry(prompt, 7) == ()


def test_the_chat_ends_before_the_reply_that_the_run_is_for() -> None:
    assert history(assemble(trace(message=3), CHAT, BARE)) == SAID[:2]


def test_notebook_and_notepad_are_notes() -> None:
    notes = (PromptBlock("deeplore_notebook", 1, 0, 1, "Mind the step."),)
    prompt = assemble(trace(notes=notes), CHAT, BARE)
    message = prompt.messages[-1]
    assert (message.role, message.text) == (USER, "Mind the step.")
    assert (message.parts[0].source.origin, message.parts[0].source.label) == (Origin.NOTE, "notebook")


@pytest.mark.parametrize(("interval", "there"), [(1, True), (2, True), (3, False), (0, False), (5, False)])
def test_the_authors_note_comes_every_so_many_messages_of_the_person(interval: int, there: bool) -> None:
    # Two messages of the person's are in the prompt besides a hidden one, which counts too: three.
    chat = replace(CHAT, metadata={"note_prompt": "Slowly.", "note_interval": interval, "note_depth": 0})
    chat = replace(chat, messages=tuple(each for each in chat.messages if not each.is_system))
    assert ((SYSTEM, "Slowly.") in shown(assemble(trace(message=4), chat, BARE))) is there


def test_a_narrator_speaks_as_system_and_a_guest_under_its_name() -> None:
    chat = replace(
        CHAT,
        messages=(
            *CHAT.messages[:1],
            Message("Rain", "It rains.", extra={"type": "narrator"}),
            Message("Hob", "Cheese?", raw={"force_avatar": "hob.png"}, extra={"type": "narrator"}),
            Message("Ada", "", is_user=False),
        ),
    )
    assert history(assemble(trace(message=4), chat, BARE)) == [
        (ASSISTANT, "Welcome, Wren."), (SYSTEM, "It rains."), (SYSTEM, "Cheese?"),
    ]  # fmt: skip


def test_an_empty_message_counts_for_the_depth_and_is_not_sent() -> None:
    chat = replace(CHAT, messages=(*CHAT.messages, Message("Ada", "")))
    found = history(assemble(trace(block("Lamp!", depth=1), message=6), chat, BARE))
    assert found[-1] == (SYSTEM, "Lamp!")


def test_in_a_group_characters_are_named_and_one_is_asked() -> None:
    chat = Chat(
        (Message("Mina", "Evening."), Message("Wren", "Hi.", is_user=True), Message("Hob", "Cheese?")),
        user_name="Wren",
        character_name="Mina",
    )
    prompt = assemble(trace(message=2), chat, BARE)
    assert shown(prompt) == [
        (SYSTEM, "Write Hob."),
        (SYSTEM, "[Start a new group chat. Group members: Mina, Hob]"),
        (ASSISTANT, "Mina: Evening."),
        (USER, "Hi."),
        (SYSTEM, "[Write the next reply only as Hob.]"),
    ]


def test_macros_that_only_the_host_knows_stay_and_are_told() -> None:
    prompt = assemble(trace(), CHAT, replace(BARE, main="{{roll:d6}} {{CHAR}} {{// not for the model}}{{unknown}}!"))
    assert prompt.messages[0].text == "{{roll:d6}} Ada {{unknown}}!"
    assert prompt.unknown_macros == ("{{roll:d6}}", "{{unknown}}")


def test_where_there_is_no_room_the_oldest_give_way_with_what_is_among_them() -> None:
    # 4 characters a token and 4 tokens a message; the frame is "Write Ada." (3) and the mark (5), 3 for the reply.
    fixed = 3 + (3 + 4) + (5 + 4)
    newest = (2 + 4) + (5 + 4)
    setup = replace(BARE, context_size=fixed + newest + 5, reply_tokens=0)
    prompt = assemble(trace(block("Lamp! 12", depth=2)), CHAT, setup)
    assert history(prompt) == SAID[2:]
    assert [(each.source.label, each.reason) for each in prompt.left_out] == [
        ("Lamp", Left.NO_ROOM), ("#1 Wren", Left.NO_ROOM), ("#0 Ada", Left.NO_ROOM),
    ]  # fmt: skip
    roomier = assemble(trace(block("Lamp! 12", depth=2)), CHAT, replace(setup, context_size=fixed + newest + 6))
    assert history(roomier) == [(SYSTEM, "Lamp! 12"), *SAID[2:]]
    assert roomier.remarks == ()
    for size, reply, left in ((fixed - 1, 0, fixed - 1), (fixed, 0, None), (20, 400, 0)):
        remarks = assemble(trace(), CHAT, replace(BARE, context_size=size, reply_tokens=reply)).remarks
        assert [f"takes {fixed} tokens" in each and f"leaves {left}:" in each for each in remarks] == (
            [] if left is None else [True]
        )


def test_example_messages_take_the_room_that_the_chat_leaves() -> None:
    setup = replace(BARE, card=CARD, context_size=80, reply_tokens=0)
    prompt = assemble(trace(), CHAT, setup)
    assert not any(each.section is PromptSection.EXAMPLES for each in prompt.messages)
    assert ("example messages", Left.NO_ROOM) in {(each.source.label, each.reason) for each in prompt.left_out}


def test_examples_without_a_mark_are_one_block() -> None:
    (block_,) = example_blocks("Wren: Hi\nAda: No.\nWren: Why?", "Wren", "Ada")
    assert [(turn.text, turn.by_user) for turn in block_] == [("Hi", True), ("No.", False), ("Why?", True)]
    assert example_blocks("<START>", "Wren", "Ada") == ()
    assert example_blocks(" \n", "Wren", "Ada") == ()


def test_a_persona_is_a_text_or_a_file(tmp_path: Any) -> None:
    path = tmp_path / "me.md"
    path.write_text("# Wren Quay\n\nSmall, curious.\n")
    assert read_persona(str(path)) == Persona("Wren Quay", "Small, curious.")
    for text in ("Tall.", "# Wren\nReads me.txt", "A she/her rider."):
        assert read_persona(text).text == text.removeprefix("# Wren\n")


@pytest.mark.parametrize("name", ["me.txt", "My persona.md", "people/wren", "{folder}"])
def test_a_persona_s_file_that_is_not_there_is_no_text(tmp_path: Any, name: str) -> None:
    with pytest.raises(InputError, match="there is no such file"):
        read_persona(name.format(folder=tmp_path))


_text = st.text("ab {}\n\r<>:", max_size=12)


@given(
    st.lists(st.tuples(_text, st.integers(-1, 3), st.integers(-1, 6), st.integers(0, 3)), max_size=4),
    st.lists(st.tuples(_text, st.booleans(), st.booleans()), max_size=5),
    st.integers(0, 60),
    _text,
)
def test_every_character_has_one_origin(
    held: list[tuple[str, int, int, int]], said: list[tuple[str, bool, bool]], room: int, main: str
) -> None:
    blocks = [block(text, *place, tag=f"t{at}") for at, (text, *place) in enumerate(held)]
    messages = tuple(Message("A", text, is_user=user, is_system=hidden) for text, user, hidden in said)
    prompt = assemble(
        trace(*blocks, message=len(messages)),
        Chat(messages),
        PromptSetup(card=CARD, main=main, context_size=room, reply_tokens=0),
    )
    for message in prompt.messages:
        places = [(part.start, part.end) for part in message.parts]
        assert [start for start, _ in places] == [0, *(end for _, end in places[:-1])]
        assert places[-1][1] == len(message.text)
        assert message.text.strip()


def test_the_prompt_of_the_demo_has_the_lore_of_its_trace() -> None:
    project = demo_project()
    simulator = Simulator(project)
    traces = asyncio.run(simulator.replay())
    assert project.chat is not None
    for found in traces:
        prompt = assemble(found, project.chat, PromptSetup())
        texts = {each.entry for each in found.injections}
        placed = {part.source.entry for _, part in prompt.parts if part.source.entry is not None}
        unused = {each.source.entry for each in prompt.left_out if each.reason is Left.OUTLET_UNUSED}
        assert placed | unused == texts
        for one in found.prompt:
            for part in one.parts:
                wanted = one.text[part.start : part.end].strip()
                here = [message.text_of(each) for message, each in prompt.parts if each.source.entry == part.entry]
                assert "{{" in wanted or one.position == -1 or wanted in [text.strip() for text in here]


@pytest.mark.parametrize(("depth", "placed"), [(1000, True), (1001, False)])
def test_the_prompt_and_the_timeline_place_the_same(depth: int, placed: bool) -> None:
    run = trace(block("Lamp!", depth=depth), block("Tide!", 0, tag="deeplore_y"))
    prompt = assemble(run, CHAT, BARE)
    told = [each for each in prompt_pieces(run, ChatPieces(CHAT.messages, CHARS_4)) if isinstance(each, PromptPiece)]
    texts = [text for _, text in shown(prompt)]
    assert ("Lamp!" in texts) is placed
    assert [each.text for each in told] == (["Tide!", "Lamp!"] if placed else ["Tide!"])
    assert [each.reason for each in prompt.left_out] == ([] if placed else [Left.NO_PLACE])
