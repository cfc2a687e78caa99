"""The part of the chat that the selecting model reads (spec: deeplore-engine 4.7 steps 2 to 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lorestudio.domain.chat import Message
from lorestudio.domain.entry import Entry
from lorestudio.domain.javascript import trim
from lorestudio.settings.deeplore import DeepLoreSettings

STORY_HEADING = "[STORY CONTEXT: the setting, for your understanding]"
CHAT_HEADING = "[RECENT CHAT]"
SUMMARY_HEADING = "[SESSION SUMMARY: what happened before the messages above]"


@dataclass(frozen=True, slots=True)
class Conversation:
    """The text, and whether the chat counts as new. The text is empty when there is nothing to read."""

    text: str
    new_chat: bool


def lines(chat: Sequence[Message], depth: int, *, searched_only: bool = False) -> str:
    """The last `depth` messages, the unscannable ones left out, as `Name (user|character): text`.

    With `searched_only` the unscannable ones use up no place.
    """
    if searched_only:
        chat = [message for message in chat if message.scannable]
    return "\n".join(
        f"{message.name or 'Unknown'} ({'user' if message.is_user else 'character'}): {message.text}"
        for message in chat[max(0, len(chat) - depth) :]
        if message.scannable
    )


def settled(chat: Sequence[Message]) -> Sequence[Message]:
    """The chat without a trailing reply, so that a swipe sees the same conversation."""
    return chat[:-1] if chat and not chat[-1].is_user and not chat[-1].is_system else chat


def conversation(
    chat: Sequence[Message],
    visible: Sequence[Entry],
    summary: str,
    settings: DeepLoreSettings,
    *,
    hide_trailing: bool = True,
    searched_only: bool = False,
) -> Conversation:
    """What the model is told of the chat, with the seeds' story in a new chat and the session summary if wanted."""
    known = settled(chat) if hide_trailing else chat
    new_chat = len(known) <= settings.new_chat_threshold
    text = lines(known, settings.ai_search_scan_depth, searched_only=searched_only)
    if not trim(text):
        return Conversation("", new_chat)
    seeds = [entry.content for entry in visible if entry.seed] if new_chat else []
    if seeds:
        story = "\n\n".join(seeds)
        text = f"{STORY_HEADING}\n{story}\n\n{CHAT_HEADING}\n{text}"
    if settings.scribe_informed_retrieval and trim(summary):
        text = f"{text}\n\n{SUMMARY_HEADING}\n{trim(summary)}"
    return Conversation(text, new_chat)
