"""The whole prompt as pieces, and what a prompt cache loses by texts of the host's own."""

from __future__ import annotations

from lorestudio.domain.chat import Chat, Message
from lorestudio.domain.records import replace
from lorestudio.domain.tokens import CHARS_4
from lorestudio.exchange.character_card import CardData, CharacterCard
from lorestudio.studio.prompt.assembly import assemble
from lorestudio.studio.prompt.setup import Persona, PromptSetup
from lorestudio.studio.replay.timeline import MOST_MESSAGES, TimelineMaker, is_countable, sent_pieces
from lorestudio.trace.prompt_cache import CacheTurn, CauseKind, PromptPiece, cache_turn
from tests.studio.prompt.test_prompt_assembly import CARD, CHAT, block, trace

SETUP = PromptSetup(card=CARD, persona=Persona("Wren", "A courier."), main="Write {{char}}.")


def turn(setup: PromptSetup, chat: Chat, *, earlier: int = 4) -> CacheTurn:
    """The last prompt of the chat beside the one that was sent `earlier` messages into it."""
    before = sent_pieces(trace(block("Lamp.", 0), message=earlier), chat, setup, CHARS_4)
    after = sent_pieces(trace(block("Lamp.", 0), message=len(chat.messages)), chat, setup, CHARS_4)
    return cache_turn(before, after, CHARS_4)


def test_every_character_of_the_prompt_is_in_one_piece() -> None:
    run = trace(block("Lamp.", 0), block("Tide.", 1, 1, tag="deeplore_y", entry=8))
    pieces = sent_pieces(run, CHAT, SETUP, CHARS_4)
    prompt = assemble(run, CHAT, SETUP, CHARS_4)
    told = [piece for piece in pieces if isinstance(piece, PromptPiece)]
    assert len(told) == len(pieces)
    assert "".join(piece.text for piece in told) == "".join(message.text for message in prompt.messages)
    keys = {piece.title: piece.key for piece in told if piece.key is not None}
    assert keys == {"Lamp": ("v", "Lamp.md"), "Tide": ("v", "Tide.md")}
    hosts = {piece.title for piece in told if piece.host}
    assert {"main prompt", "description", "persona Wren", "start of the chat"} <= hosts
    assert [piece.title for piece in told if not piece.placed] == ["#0", "#1", "#3", "#4"]


def test_only_new_messages_are_read_again_where_everything_else_stays() -> None:
    setup = PromptSetup(persona=Persona("Wren", "A courier."), main="Write {{char}}.")
    found = turn(setup, CHAT)
    assert (found.by_lore, found.cause) == (0, None)
    assert found.new == found.missed == CHARS_4.count("Go on.")
    assert found.kept > CHARS_4.count("A courier.")


def test_a_card_that_says_something_else_each_turn_is_to_blame() -> None:
    card = CharacterCard(CardData(name="Ada", description="Last heard: {{lastMessage}}"))
    found = turn(PromptSetup(card=card, main="Write."), CHAT)
    assert found.cause is not None
    assert (found.cause.kind, found.cause.title, found.cause.host) == (CauseKind.CHANGED, "description", True)
    assert found.by_lore > 0


def test_an_authors_note_in_the_chat_moves_on_with_it() -> None:
    chat = replace(CHAT, metadata={"note_prompt": "Be brief.", "note_depth": 1, "note_position": 1})
    found = turn(PromptSetup(main="Write."), chat)
    assert found.cause is not None
    assert (found.cause.kind, found.cause.title, found.cause.depth) == (CauseKind.DEPTH, "author's note", 1)
    assert found.cause.host


def test_the_oldest_message_that_has_no_room_any_more_is_said() -> None:
    messages = tuple(Message("Ada", f"{place}" + "x" * 200, is_user=place % 2 == 1) for place in range(8))
    setup = PromptSetup(main="Write.", context_size=300, reply_tokens=20)
    found = turn(setup, Chat(messages, "Wren", "Ada"), earlier=6)
    assert found.cause is not None
    assert (found.cause.kind, found.by_lore) == (CauseKind.ROOM, 0)


def test_a_very_long_chat_is_compared_by_lore_and_chat() -> None:
    chat = Chat((Message("Ada", "Hm."),) * (MOST_MESSAGES + 1), "Wren", "Ada")
    assert not is_countable(chat)
    assert not TimelineMaker(chat, (), CHARS_4, SETUP).whole
    assert TimelineMaker(CHAT, (), CHARS_4, SETUP).whole
