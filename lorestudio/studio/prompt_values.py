"""Who speaks in a prompt, and what its macros stand for."""

from __future__ import annotations

from lorestudio.domain.chat import Chat
from lorestudio.domain.javascript import Json, to_string
from lorestudio.engine.macros import Macros
from lorestudio.studio.prompt_card import CardTexts, plain
from lorestudio.studio.prompt_group import next_speaker
from lorestudio.studio.prompt_setup import PromptSetup


def speaker_of(setup: PromptSetup, chat: Chat, end: int) -> tuple[str, str]:
    """Who is to speak behind the first `end` messages, and a sentence where that is not certain.

    In a group that is whoever wrote the reply, or was chosen, or would speak next; where nothing is known of the group,
    whoever spoke last.
    """
    if not is_group(setup, chat):
        return setup.character_name(chat), ""
    messages = chat.messages
    wrote = messages[end].name if end < len(messages) and not messages[end].is_user else None
    if wrote or setup.speaker:
        return wrote or setup.speaker, ""
    if setup.group is not None:
        return next_speaker(setup.group, chat, end)
    earlier = (each.name for each in reversed(messages[:end]) if not each.is_user and each.scannable)
    return next((name for name in earlier if name), None) or setup.character_name(chat), ""


def is_group(setup: PromptSetup, chat: Chat) -> bool:
    """Whether several characters speak."""
    return setup.group is not None or chat.is_group


def macros_for(setup: PromptSetup, chat: Chat, end: int, speaker: str, card: CardTexts) -> Macros:
    """The macros of a generation behind the first `end` messages."""
    every, heard = _members(setup, chat) if is_group(setup, chat) else ([speaker], [speaker])
    together = ", ".join(every)
    values = {"char": speaker, "user": setup.user_name(chat), "newline": "\n", "noop": "", "trim": ""}
    values |= {"group": together, "charifnotgroup": together, "groupnotmuted": ", ".join(heard)}
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


def _members(setup: PromptSetup, chat: Chat) -> tuple[list[str], list[str]]:
    """All members, and those that are not muted; of a group that nothing is known of, those that spoke."""
    if setup.group is not None:
        members = setup.group.members
        return [each.name for each in members], [each.name for each in members if not each.muted]
    spoke = {each.name: None for each in chat.messages if each.name and not each.is_user and each.scannable}
    names = [name for name in spoke if name]
    return names, names


def _variables(held: Json) -> dict[str, str]:
    return {name: to_string(value) for name, value in held.items()} if isinstance(held, dict) else {}
