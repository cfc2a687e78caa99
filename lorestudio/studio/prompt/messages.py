"""The messages of a prompt: those of the chat as the host hands them over, and a card's or World Info's examples.

Examples are read as SillyTavern reads them: blocks begin with `<START>`, turns with a name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct

from lorestudio.domain.chat import Chat, Message
from lorestudio.domain.records import replace
from lorestudio.domain.tokens import TokenCounter
from lorestudio.exchange.chat_preset import ChatPreset
from lorestudio.studio.prompt.card import is_group
from lorestudio.studio.prompt.handed import handed_text
from lorestudio.studio.prompt.regex import RegexRun
from lorestudio.studio.prompt.setup import PromptSetup
from lorestudio.systems.macros import Macros, Segment
from lorestudio.trace.prompt.assembled import (
    AssembledMessage,
    AssembledPart,
    MessageRole,
    Origin,
    PromptOrigin,
    PromptSection,
)

_START: Final = re.compile(r"<START>", re.IGNORECASE)


class ExampleMessage(Struct, frozen=True):
    """One turn of an example; `by_user` says which side speaks, `name` who."""

    text: str
    by_user: bool
    name: str = ""


def example_blocks(
    text: str, user: str, character: str, group: Sequence[str] = ()
) -> tuple[tuple[ExampleMessage, ...], ...]:
    """The examples of a card whose macros are filled in. Blocks without any turn are left out.

    Lines before the first name of a block belong to its first turn. Members of a `group` speak for the character's
    side; of several in one turn the last one that is not the character names it, as in SillyTavern.
    """
    text = text.replace("\r", "").strip()
    if not text or _START.fullmatch(text):
        return ()
    blocks = _START.split(text)
    if not _START.match(text):
        blocks = ["", *blocks]
    read = (_turns(block.strip(), user, character, group) for block in blocks[1:])
    return tuple(block for block in read if block)


def _turns(block: str, user: str, character: str, group: Sequence[str]) -> tuple[ExampleMessage, ...]:
    turns: list[ExampleMessage] = []
    lines: list[str] = []
    by_user: bool | None = None
    bot = character
    for line in block.split("\n"):
        speaker: bool | None = None
        found = bot
        if line.startswith(f"{user}:"):
            speaker = True
        elif line.startswith(f"{character}:"):
            speaker = False
        elif (member := next((name for name in group if line.startswith(f"{name}:")), None)) is not None:
            speaker, found = False, member
        if speaker is not None:
            if by_user is not None and speaker != by_user:
                turns.append(_turn(lines, by_user, user if by_user else bot))
                lines = []
            by_user = speaker
        bot = found
        lines.append(line)
    if by_user is not None:
        turns.append(_turn(lines, by_user, user if by_user else bot))
    return tuple(turns)


def _turn(lines: list[str], by_user: bool, name: str) -> ExampleMessage:
    return ExampleMessage("\n".join(lines).replace(f"{name}:", "", 1).strip(), by_user, name)


CHAT_MARK: Final = PromptOrigin(Origin.FRAME, "start of the chat")
EXAMPLE_MARK: Final = PromptOrigin(Origin.FRAME, "start of an example")
GROUP_MARK: Final = PromptOrigin(Origin.FRAME, "who speaks next")
_MARKS: Final = frozenset({CHAT_MARK, EXAMPLE_MARK, GROUP_MARK})
_BETWEEN: Final = PromptOrigin(Origin.FRAME, "between messages")


def message_of(
    role: MessageRole, segments: Iterable[Segment], section: PromptSection, counter: TokenCounter
) -> AssembledMessage | None:
    """One message of these texts, None where they hold nothing."""
    texts: list[str] = []
    parts: list[AssembledPart] = []
    start = 0
    for text, source in segments:
        if text:
            texts.append(text)
            parts.append(AssembledPart(start, start + len(text), source, counter.count(text)))
            start += len(text)
    whole = "".join(texts)
    if not whole.strip():
        return None
    return AssembledMessage(role, whole, tuple(parts), section, counter.count(whole))


def squashed(messages: Sequence[AssembledMessage], counter: TokenCounter) -> tuple[AssembledMessage, ...]:
    """Neighbouring system messages as one, joined by line ends; named ones and the marks of a beginning stay alone."""
    made: list[AssembledMessage] = []
    for message in messages:
        last = made[-1] if made else None
        if last is None or not _may_join(message) or not _may_join(last):
            made.append(message)
            continue
        segments = [(last.text_of(part), part.source) for part in last.parts]
        segments.append(("\n", _BETWEEN))
        segments += [(message.text_of(part), part.source) for part in message.parts]
        joined = message_of(MessageRole.SYSTEM, segments, last.section, counter)
        if joined is not None:
            made[-1] = replace(joined, depth=last.depth if last.depth == message.depth else None)
    return tuple(made)


def _may_join(message: AssembledMessage) -> bool:
    return message.role is MessageRole.SYSTEM and not message.name and message.parts[0].source not in _MARKS


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
        handed = handed_text(message, index, len(made), scripts, chat.files)
        label = f"#{index} {message.name or ''}".strip()
        source = PromptOrigin(Origin.CHAT, label, message=index, changed_by=handed.scripts)
        text = handed.text.replace("\r", "")
        if _is_named(message, user, preset.names, group=group):
            text = f"{message.name}: {text}"
        role = _role(message)
        # Depth counts every message of the chat; one with an empty text too, although it is not sent.
        sent = message_of(role, macros.expand(text, source), PromptSection.HISTORY, counter)
        sent = sent or AssembledMessage(role, "", (), PromptSection.HISTORY, 0)
        if preset.names == IN_FIELD and message.name:
            sent = replace(sent, name=_NOT_IN_NAME.sub("_", message.name)[:_LONGEST_NAME])
        made.append(sent)
    return made


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


def _role(message: Message) -> MessageRole:
    if message.extra.get("type") == "narrator":
        return MessageRole.SYSTEM
    return MessageRole.USER if message.is_user else MessageRole.ASSISTANT


def example_messages(
    texts: Iterable[Segment], macros: Macros, counter: TokenCounter, group: Sequence[str] = ()
) -> Iterator[list[AssembledMessage]]:
    """The examples block by block; blocks in which nobody speaks are left out.

    In a group its members speak too, and texts begin with the names of those who do.
    """
    user, character = macros.values["user"], macros.values["char"]
    for raw, source in texts:
        for block in example_blocks(macros.fill(raw), user, character, group):
            turns: list[AssembledMessage] = []
            for turn in block:
                name = "example_user" if turn.by_user else "example_assistant"
                text = f"{turn.name}: {turn.text}" if group else turn.text
                message = message_of(MessageRole.SYSTEM, macros.spread(text, source), PromptSection.EXAMPLES, counter)
                if message is not None:
                    turns.append(replace(message, name=name))
            if turns:
                yield turns
