"""Who speaks in a prompt, and what its macros stand for."""

from __future__ import annotations

from lorestudio.domain.chat import Chat
from lorestudio.domain.javascript import Json, to_string
from lorestudio.studio.macros import Macros
from lorestudio.studio.prompt_card import CardTexts, plain
from lorestudio.studio.prompt_setup import PromptSetup


def speaker_of(setup: PromptSetup, chat: Chat, end: int, *, group: bool) -> str:
    """Who is to speak behind the first `end` messages: in a group whoever wrote the reply, or spoke last."""
    if not group:
        return setup.character_name(chat)
    messages = chat.messages
    wrote = messages[end].name if end < len(messages) and not messages[end].is_user else None
    earlier = (each.name for each in reversed(messages[:end]) if not each.is_user and each.scannable)
    return wrote or next((name for name in earlier if name), None) or setup.character_name(chat)


def members_of(chat: Chat) -> list[str]:
    """The characters that speak in the chat, in the order of their first words."""
    names = {each.name: None for each in chat.messages if each.name and not each.is_user and each.scannable}
    return [name for name in names if name]


def macros_for(setup: PromptSetup, chat: Chat, end: int, speaker: str, card: CardTexts, *, group: bool) -> Macros:
    """The macros of a generation behind the first `end` messages."""
    together = ", ".join(members_of(chat)) if group else speaker
    values = {"char": speaker, "user": setup.user_name(chat), "newline": "\n", "noop": "", "trim": ""}
    values |= {"group": together, "charifnotgroup": together}
    first = Macros(values)
    values |= {
        "persona": first.fill(setup.persona.text),
        "description": first.fill(plain(card.description)),
        "personality": first.fill(plain(card.personality)),
        "scenario": first.fill(plain(card.scenario)),
        "mesexamples": first.fill(plain(card.examples)),
        "charprompt": first.fill(plain(card.system_prompt)),
        "charinstruction": first.fill(plain(card.post_history)),
        **card.values,
    }
    seen = [each for each in chat.messages[:end] if not each.is_system]
    for name, found in (
        ("lastmessage", seen),
        ("lastusermessage", [each for each in seen if each.is_user]),
        ("lastcharmessage", [each for each in seen if not each.is_user]),
    ):
        values[name] = found[-1].text if found else ""
    return Macros(values, _variables(chat.metadata.get("variables")))


def _variables(held: Json) -> dict[str, str]:
    return {name: to_string(value) for name, value in held.items()} if isinstance(held, dict) else {}
