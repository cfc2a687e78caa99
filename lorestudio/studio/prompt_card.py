"""What the character's card gives a prompt, field by field, with where each text comes from.

A chat may have texts of its own that go before the card's: scenario, example messages and main prompt, in its metadata
(spec: deeplore-ai-and-tools 5.2).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from lorestudio.domain.chat import Chat
from lorestudio.domain.javascript import Json
from lorestudio.engine.macros import Segment
from lorestudio.exchange.character_card import CharacterCard, DepthPrompt
from lorestudio.trace.assembled import Origin, PromptOrigin

Texts = tuple[Segment, ...]


@dataclass(frozen=True, slots=True)
class CardTexts:
    """The fields, macros not yet filled in; an empty one has no segments. `depth_prompts` by the tag of the host."""

    description: Texts = ()
    personality: Texts = ()
    scenario: Texts = ()
    examples: Texts = ()
    system_prompt: Texts = ()
    post_history: Texts = ()
    depth_prompts: tuple[tuple[str, DepthPrompt, PromptOrigin], ...] = ()
    values: Mapping[str, str] = field(default_factory=dict)


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


def with_chat_texts(texts: CardTexts, chat: Chat) -> CardTexts:
    """The same with the chat's own texts in the place of the card's."""
    return replace(
        texts,
        scenario=_own(chat, "scenario") or texts.scenario,
        examples=_own(chat, "mes_example", "example messages") or texts.examples,
        system_prompt=_own(chat, "system_prompt", "main prompt") or texts.system_prompt,
    )


def _own(chat: Chat, name: str, label: str = "") -> Texts:
    text: Json = chat.metadata.get(name)
    if not isinstance(text, str) or not text.strip():
        return ()
    return ((text, PromptOrigin(Origin.NOTE, f"the chat's own {label or name}")),)
