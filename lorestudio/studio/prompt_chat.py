"""The messages of a chat as the host hands them over to the model."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from lorestudio.domain.chat import Chat, Message
from lorestudio.domain.tokens import TokenCounter
from lorestudio.exchange.chat_preset import ChatPreset
from lorestudio.exchange.regex_scripts import Placement
from lorestudio.studio.prompt_messages import empty_message, message_of
from lorestudio.studio.prompt_regex import RegexRun
from lorestudio.studio.prompt_setup import PromptSetup
from lorestudio.studio.prompt_values import is_group
from lorestudio.trace.assembled import AssembledMessage, Origin, PromptOrigin, Role, Section

NO_NAMES, IN_GROUPS, IN_FIELD, IN_TEXT = -1, 0, 1, 2
"""How a preset names speakers: not at all, in groups and for guests, as the message's own field, before every text."""

_NOT_IN_NAME: Final = re.compile(r"[^a-zA-Z0-9_]")
_LONGEST_NAME: Final = 64


def said(
    chat: Chat, end: int, setup: PromptSetup, preset: ChatPreset, scripts: RegexRun, counter: TokenCounter
) -> list[AssembledMessage]:
    """What was said in the first `end` messages, newest first; hidden messages are left out."""
    user, group, macros = setup.user_name(chat), is_group(setup, chat), scripts.macros
    made: list[AssembledMessage] = []
    for index in range(end - 1, -1, -1):
        message = chat.messages[index]
        if message.is_system:
            continue
        # The host fills in the macros of the greeting before the scripts see it, and all others after.
        text = message.text if index else macros.fill(message.text)
        placement = Placement.USER_INPUT if message.is_user else Placement.AI_OUTPUT
        text, changed_by = scripts.run(text, placement, len(made))
        label = f"#{index} {message.name or ''}".strip()
        source = PromptOrigin(Origin.CHAT, label, message=index, changed_by=changed_by)
        text = text.replace("\r", "")
        if _is_named(message, user, preset.names, group=group):
            text = f"{message.name}: {text}"
        role = _role(message)
        # Depth counts every message of the chat, one with an empty text too.
        sent = message_of(role, macros.expand(text, source), Section.HISTORY, counter) or empty_message(role)
        if preset.names == IN_FIELD and message.name:
            sent = replace(sent, name=_NOT_IN_NAME.sub("_", message.name)[:_LONGEST_NAME])
        made.append(sent)
    return made


def empty_place(message: AssembledMessage) -> bool:
    """Whether a message only counts for depths, and is not sent."""
    return not message.text


def _is_named(message: Message, user: str, names: int, *, group: bool) -> bool:
    """Whether the text begins with the speaker's name."""
    if not message.name:
        return False
    narrator = message.extra.get("type") == "narrator"
    if names == IN_TEXT:
        return not narrator
    if names != IN_GROUPS or message.name == user or narrator:
        return False
    return group or bool(message.raw.get("force_avatar") and not message.is_user)


def _role(message: Message) -> Role:
    if message.extra.get("type") == "narrator":
        return Role.SYSTEM
    return Role.USER if message.is_user else Role.ASSISTANT
