"""Who speaks in a prompt, what the card gives it field by field, and what its macros stand for.

A chat may have texts of its own that go before the card's: scenario, example messages and main prompt, in its metadata
(rules: sillytavern 5.2). In a group the cards are swapped with whoever speaks, or joined: each field of every
member, between the group's own prefix and suffix, in which `<FIELDNAME>` stands for the field and `{{char}}` for the
member. Source: SillyTavern's group chats.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from msgspec import Struct

from lorestudio.domain.chat import Chat
from lorestudio.domain.javascript import Json, to_string
from lorestudio.domain.records import picked, replace
from lorestudio.exchange.character_card import CardData, CharacterCard, DepthPrompt, GroupChat, Member, SpeakingOrder
from lorestudio.studio.prompt.setup import PromptSetup
from lorestudio.systems.macros import Macros, Segment
from lorestudio.trace.prompt import Origin, PromptOrigin

Texts = tuple[Segment, ...]


class CardTexts(Struct, frozen=True):
    """The fields, macros not yet filled in; an empty one has no segments. `depth_prompts` by the tag of the host."""

    description: Texts = ()
    personality: Texts = ()
    scenario: Texts = ()
    examples: Texts = ()
    system_prompt: Texts = ()
    post_history: Texts = ()
    depth_prompts: tuple[tuple[str, DepthPrompt, PromptOrigin], ...] = ()
    values: Mapping[str, str] = {}


def plain(segments: Texts) -> str:
    """The text without its origins."""
    return "".join(text for text, _source in segments)


def of_card(card: CharacterCard) -> CardTexts:
    """The texts of the card alone."""
    data = card.data
    prompt = data.extensions.depth_prompt
    return CardTexts(
        card_text(data.description, "description"),
        card_text(data.personality, "personality"),
        card_text(data.scenario, "scenario"),
        card_text(data.mes_example, "example messages"),
        card_text(data.system_prompt, "main prompt"),
        card_text(data.post_history_instructions, "post-history"),
        (depth_prompt(prompt),) if prompt.prompt.strip() else (),
        {"charversion": data.character_version, "char_version": data.character_version},
    )


def depth_prompt(prompt: DepthPrompt, tag: str = "DEPTH_PROMPT", of: str = "") -> tuple[str, DepthPrompt, PromptOrigin]:
    """A card's note in the chat under the tag that the host holds it by."""
    return tag, prompt, PromptOrigin(Origin.CARD, f"depth prompt{of}", tag=tag)


def card_text(text: str, label: str) -> Texts:
    """A field of a card with its origin."""
    return ((text, PromptOrigin(Origin.CARD, label)),) if text.strip() else ()


def _own(chat: Chat, name: str, label: str = "") -> Texts:
    text: Json = chat.metadata.get(name)
    if not isinstance(text, str) or not text.strip():
        return ()
    return ((text, PromptOrigin(Origin.NOTE, f"the chat's own {label or name}")),)


def card_in(chat: Chat, card: CharacterCard | None, group: GroupChat | None = None) -> CharacterCard | None:
    """The card with the texts that it has in this chat, and in the group where it speaks there; None for no card."""
    if card is None:
        return None
    texts = card_texts(card, chat, group, card.name)
    told = picked(texts, "description", "personality", "scenario", "system_prompt") | {"mes_example": texts.examples}
    return replace(card, data=card.data.model_copy(update={name: plain(text) for name, text in told.items()}))


def cast_in(chat: Chat, group: GroupChat) -> dict[str, Member]:
    """The members by name, each with the card that is in the prompt where that one speaks."""
    cast: dict[str, Member] = {}
    for each in group.members:
        cast.setdefault(each.name, replace(each, card=card_in(chat, each.card, group)))
    return cast


_FIELD: Final = re.compile("<FIELDNAME>", re.IGNORECASE)
_CHARACTER: Final = re.compile(r"\{\{char\}\}|<BOT>|<CHAR>", re.IGNORECASE)
_WORDS: Final = re.compile(r"\b\w+\b", re.IGNORECASE)
_JOIN: Final = PromptOrigin(Origin.FRAME, "between members")


def next_speaker(group: GroupChat, chat: Chat, end: int) -> tuple[str, str]:
    """Who speaks behind the first `end` messages, and a sentence where SillyTavern might have chosen another one.

    By list, members speak in turn. Naturally, whoever is named in the last message speaks; where nobody is, SillyTavern
    draws by lot, and here whoever spoke last does.
    """
    able = [each.name for each in group.members if not each.muted] or [each.name for each in group.members]
    said = [each for each in chat.messages[:end] if not each.is_system]
    last = said[-1] if said else None
    spoke = next((each.name for each in reversed(said) if not each.is_user and each.name in able), "") or ""
    if group.fields.activation_strategy is SpeakingOrder.LIST:
        turn = able.index(last.name) + 1 if last is not None and not last.is_user and last.name in able else 0
        return able[turn % len(able)], ""
    if group.fields.activation_strategy is SpeakingOrder.NATURAL and last is not None:
        silent = last.name if not last.is_user and not group.fields.allow_self_responses else None
        for word in _words(last.text):
            named = next((name for name in able if name != silent and word in _words(name)), None)
            if named is not None:
                return named, ""
    speaker = spoke or able[0]
    how = "you choose" if group.fields.activation_strategy is SpeakingOrder.MANUAL else "SillyTavern draws by lot"
    return (
        speaker,
        f"In this group {how} who speaks next; here {speaker} does. Say who under “Speaks next”, or with --speaker.",
    )


def card_texts(card: CharacterCard | None, chat: Chat, group: GroupChat | None, speaker: str) -> CardTexts:
    """The texts of whoever speaks, or of the whole group, in this chat."""
    own = of_card(card) if card is not None else CardTexts()
    texts = joined_texts(group, speaker, own) if group is not None else own
    return replace(
        texts,
        scenario=_own(chat, "scenario") or texts.scenario,
        examples=_own(chat, "mes_example", "example messages") or texts.examples,
        system_prompt=_own(chat, "system_prompt", "main prompt") or texts.system_prompt,
    )


def joined_texts(group: GroupChat, speaker: str, own: CardTexts) -> CardTexts:
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


def _field(group: GroupChat, speaker: str, title: str, label: str, text_of: Callable[[CardData], str]) -> Texts:
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


def speaker_of(setup: PromptSetup, chat: Chat, end: int) -> tuple[str, str]:
    """Who is to speak behind the first `end` messages, and a sentence where that is not certain.

    In a group that is whoever wrote the reply, or was chosen, or would speak next; where nothing is known of the group,
    whoever spoke last.
    """
    return group_speaker(setup, chat, end) if is_group(setup, chat) else (setup.character_name(chat), "")


def group_speaker(setup: PromptSetup, chat: Chat, end: int) -> tuple[str, str]:
    """As `speaker_of`, for a chat that is known to be a group's."""
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
    others = ", ".join([*(name for name in every if name != speaker), values["user"]])
    values |= {"group": together, "charifnotgroup": together, "groupnotmuted": ", ".join(heard), "notchar": others}
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
    held = chat.metadata.get("variables")
    variables = {name: to_string(value) for name, value in held.items()} if isinstance(held, dict) else {}
    return Macros(values, variables)


def _members(setup: PromptSetup, chat: Chat) -> tuple[list[str], list[str]]:
    """All members, and those that are not muted; of a group that nothing is known of, those that spoke."""
    if setup.group is not None:
        members = setup.group.members
        return [each.name for each in members], [each.name for each in members if not each.muted]
    spoke = {each.name: None for each in chat.messages if each.name and not each.is_user and each.is_story}
    names = [name for name in spoke if name]
    return names, names
