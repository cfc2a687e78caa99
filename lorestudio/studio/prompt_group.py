"""A group in a prompt: who speaks next, and what the members' cards give together.

The cards are swapped with whoever speaks, or joined: each field of every member, between the group's own prefix and
suffix, in which `<FIELDNAME>` stands for the field and `{{char}}` for the member. Source: SillyTavern's group chats.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from lorestudio.domain.chat import Chat
from lorestudio.engine.macros import Segment
from lorestudio.exchange.character_card import CardData, CharacterCard
from lorestudio.exchange.group_file import Activation, Group
from lorestudio.studio.prompt_card import CardTexts, Texts, depth_prompt, of_card, with_chat_texts
from lorestudio.trace.assembled import Origin, PromptOrigin

_FIELD: Final = re.compile("<FIELDNAME>", re.IGNORECASE)
_CHARACTER: Final = re.compile(r"\{\{char\}\}|<BOT>|<CHAR>", re.IGNORECASE)
_WORDS: Final = re.compile(r"\b\w+\b", re.IGNORECASE)
_JOIN: Final = PromptOrigin(Origin.FRAME, "between members")


def next_speaker(group: Group, chat: Chat, end: int) -> tuple[str, str]:
    """Who speaks behind the first `end` messages, and a sentence where SillyTavern might have chosen another one.

    By list, members speak in turn. Naturally, whoever is named in the last message speaks; where nobody is, SillyTavern
    draws by lot, and here whoever spoke last does.
    """
    able = [each.name for each in group.members if not each.muted] or [each.name for each in group.members]
    said = [each for each in chat.messages[:end] if not each.is_system]
    last = said[-1] if said else None
    spoke = next((each.name for each in reversed(said) if not each.is_user and each.name in able), "") or ""
    if group.fields.activation_strategy is Activation.LIST:
        turn = able.index(last.name) + 1 if last is not None and not last.is_user and last.name in able else 0
        return able[turn % len(able)], ""
    if group.fields.activation_strategy is Activation.NATURAL and last is not None:
        silent = last.name if not last.is_user and not group.fields.allow_self_responses else None
        for word in _words(last.text):
            named = next((name for name in able if name != silent and word in _words(name)), None)
            if named is not None:
                return named, ""
    speaker = spoke or able[0]
    how = "you choose" if group.fields.activation_strategy is Activation.MANUAL else "SillyTavern draws by lot"
    return (
        speaker,
        f"In this group {how} who speaks next; here {speaker} does. Say who under “Speaks next”, or with --speaker.",
    )


def card_texts(card: CharacterCard | None, chat: Chat, group: Group | None, speaker: str) -> CardTexts:
    """The texts of whoever speaks, or of the whole group, in this chat."""
    own = of_card(card) if card is not None else CardTexts()
    return with_chat_texts(joined_texts(group, speaker, own) if group is not None else own, chat)


def joined_texts(group: Group, speaker: str, own: CardTexts) -> CardTexts:
    """The texts of a prompt of this group; `own` are those of the speaker's card, which swapped cards stay with."""
    if not group.joined:
        return own
    depth = [
        (each.card.data.extensions.depth_prompt, f" of {each.name}")
        for each in group.members
        if each.card is not None and (not each.muted or each.name == speaker)
    ]
    numbered = [(prompt, of) for prompt, of in depth if prompt.prompt.strip()]
    return replace(
        own,
        description=_field(group, speaker, "Description", "description", lambda data: data.description),
        personality=_field(group, speaker, "Personality", "personality", lambda data: data.personality),
        scenario=_field(group, speaker, "Scenario", "scenario", lambda data: data.scenario),
        examples=_field(group, speaker, "Example Messages", "example messages", _marked_examples),
        depth_prompts=tuple(depth_prompt(prompt, f"DEPTH_PROMPT_{at}", of) for at, (prompt, of) in enumerate(numbered))
        or own.depth_prompts,
    )


def _field(group: Group, speaker: str, title: str, label: str, text_of: Callable[[CardData], str]) -> Texts:
    made: list[Segment] = []
    for member in group.joined_members(speaker):
        text = text_of(member.card.data).strip() if member.card is not None else ""
        if not text:
            continue
        if made:
            made.append(("\n", _JOIN))
        for piece, source in (
            (group.fields.generation_mode_join_prefix, _JOIN),
            (text, PromptOrigin(Origin.CARD, f"{label} of {member.name}")),
            (group.fields.generation_mode_join_suffix, _JOIN),
        ):
            if piece:
                made.append((_named(_FIELD.sub(title, piece), member.name), source))
    return tuple(made)


def _named(text: str, name: str) -> str:
    return _CHARACTER.sub(lambda _found: name, text)


def _marked_examples(data: CardData) -> str:
    text = data.mes_example.strip()
    return text if not text or text.startswith("<START>") else f"<START>\n{text}"


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORDS.findall(text)]
