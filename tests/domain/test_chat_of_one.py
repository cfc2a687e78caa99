"""Whether several characters speak in a chat, as SillyTavern 1.18 writes it."""

from __future__ import annotations

import pytest

from lorestudio.domain.chat import Chat, Message

BY_COMMAND = {"gen_id": 1700000024, "api": "manual", "model": "slash command"}
ADA = (Message("Ada", "Early."), Message("Wren", "Hi.", is_user=True), Message("Ada", "Late."))


@pytest.mark.parametrize(
    "message",
    [
        Message("Narrator", "It rains.", extra={"type": "narrator", **BY_COMMAND}),
        Message("Note", "Later.", is_system=True, extra={"type": "comment", **BY_COMMAND}),
        Message("Hob", "Cheese?", extra=BY_COMMAND),
    ],
)
def test_slash_commands_make_no_group(message: Message) -> None:
    for header in ({}, {"character_name": "unused"}):
        assert not Chat((*ADA, message), header=header).is_group


def test_a_chat_that_names_its_character_is_no_group() -> None:
    spoken = (*ADA, Message("Hob", "Cheese?"))
    assert not Chat(spoken, header={"character_name": "Ada"}).is_group
    assert Chat(spoken, header={"character_name": "unused"}).is_group


def test_a_member_alone_with_a_user_is_a_group() -> None:
    said = Message("Ada", "Early.", extra={"gen_id": 1700000024, "api": "openai", "model": "gpt-4o"})
    assert Chat((said, *ADA[1:], Message("Hob", "Cheese?", extra=BY_COMMAND))).is_group
