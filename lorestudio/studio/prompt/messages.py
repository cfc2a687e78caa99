"""The messages of a prompt: those of the chat as the host hands them over, and a card's or World Info's examples.

In those of the chat the macros of the greeting are filled in, then the regex scripts for prompts run, each by how many
messages are newer; then come the texts of attached files in front, and titles of pictures behind (rules: sillytavern
5.9). Examples are read as SillyTavern reads them: blocks begin with `<START>`, turns with a name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from msgspec import Struct

from lorestudio.domain.chat import Chat, Message
from lorestudio.domain.records import replace
from lorestudio.domain.tokens import TokenCounter
from lorestudio.exchange.chat_preset import ChatPreset
from lorestudio.exchange.chats.attachments import files_of, with_attachments
from lorestudio.exchange.regex_scripts import RegexScript, ScriptPlace
from lorestudio.studio.prompt.card import card_texts, is_group, macros_for
from lorestudio.studio.prompt.regex import RegexRun
from lorestudio.studio.prompt.setup import PromptSetup, avatar_at, of_speaker, scripts_of
from lorestudio.systems.macros import Macros, Segment, has_macros
from lorestudio.trace.prompt import AssembledMessage, AssembledPart, MessageRole, Origin, PromptOrigin, PromptSection

_NAMED: Final = re.compile(r"\{\{([^{}]*)\}\}|<(USER|BOT|CHAR|GROUP|CHARIFNOTGROUP)>", re.IGNORECASE)
_SAID: Final = frozenset({ScriptPlace.USER_INPUT, ScriptPlace.AI_OUTPUT})

_DEEP: Final = 1_000_000

Handed: TypeAlias = tuple[Message, tuple[str, ...]]
"""A message with the text that it is handed over with, and the names of what changed it."""


class HandedText(Struct, frozen=True):
    """A text as it is handed over. `scripts` names the regex scripts that changed it, `others` what else did."""

    text: str
    scripts: tuple[str, ...] = ()
    others: tuple[str, ...] = ()

    @property
    def changed_by(self) -> tuple[str, ...]:
        """All that gave it another text, in words."""
        return (*(f"regex script “{name}”" for name in self.scripts), *self.others)


def handed_text(message: Message, place: int, depth: float, scripts: RegexRun, files: Mapping[str, str]) -> HandedText:
    """The text of the message at this place of the chat, with so many newer ones."""
    text = message.text if place else scripts.macros.fill(message.text)
    filled = () if text == message.text else ("macros of the greeting",)
    placement = ScriptPlace.USER_INPUT if message.is_user else ScriptPlace.AI_OUTPUT
    text, changed_by = scripts.run(text, placement, depth)
    text, attached = with_attachments(message, text, files)
    return HandedText(text, changed_by, (*filled, *attached))


class _Scripts(Struct, frozen=True):
    """The scripts that change what is said where `who` is to speak: a name, and the file of a card."""

    who: tuple[str, str]
    used: tuple[RegexScript, ...]
    names: frozenset[str]
    reaches: Sequence[tuple[int, ...]]  # which run, by depth; the last for all deeper


class HandedChat:
    """The messages of one chat as they are handed over before each of its generations.

    Most texts are the same in every generation, so they are made once: only the depth, and the macros that a script or
    a message names, make a difference. `problems` are sentences about scripts that could not do their work.
    """

    def __init__(self, setup: PromptSetup, chat: Chat) -> None:
        self._setup, self._chat = setup, chat
        self._scripts: dict[tuple[str, str], _Scripts] = {}
        self._made: dict[tuple[int, tuple[str, str], tuple[int, ...], str], tuple[Message, Handed]] = {}
        self._written = any(has_macros(each.text) for each in chat.messages)
        self.problems: dict[str, None] = {}

    @property
    def changes_anything(self) -> bool:
        """Whether any text can be another one than the chat has."""
        messages = self._chat.messages
        if (messages and has_macros(messages[0].text)) or any(map(_has_more, messages)):
            return True
        return bool(_shaping((*scripts_of(self._setup), *scripts_of(self._setup, ""))))

    @property
    def told(self) -> str:
        """What texts depend on besides the messages, whichever generation it is, for digests."""
        return repr((scripts_of(self._setup), sorted(self._chat.files.items())))

    def told_of(self, seen: Callable[[], Chat], end: int, speaker: str) -> str:
        """Whose scripts and what values of macros texts before the reply at `end` depend on; it sees `seen`."""
        group, names = self._setup.group, self._of(end, speaker).names
        member = group.member(speaker, avatar_at(self._chat, end)) if group is not None else None
        whose = member.avatar if member is not None else ""
        if not names and not self._written:
            return whose
        values = self._macros(seen(), end, speaker).values
        used = sorted(values) if self._written else sorted(names)
        return whose + repr([(name, values.get(name)) for name in used])

    def handed(
        self, messages: Sequence[Message], places: Sequence[int], seen: Callable[[], Chat], end: int, speaker: str
    ) -> tuple[tuple[Message, ...], dict[int, tuple[str, ...]]]:
        """These messages (at `places`) before the reply at `end`, and by place what changed which of them."""
        scripts = self._of(end, speaker)
        macros = self._macros(seen(), end, speaker) if scripts.names or self._written else Macros({})
        run = RegexRun(scripts.used, macros, self.problems)
        named = repr([macros.values.get(name) for name in sorted(scripts.names)])
        made: list[Message] = []
        changed: dict[int, tuple[str, ...]] = {}
        for newer, (message, place) in enumerate(zip(reversed(messages), reversed(places), strict=True)):
            reach = scripts.reaches[min(newer, len(scripts.reaches) - 1)]
            # Its own macros may stand for anything, the last message included.
            key = (place, scripts.who, reach, f"{end}" if has_macros(message.text) else named)
            known = self._made.get(key)
            if known is None or known[0] is not message:
                made_of = handed_text(message, place, newer, run, self._chat.files)
                same = made_of.text == message.text
                result = message if same else replace(message, text=made_of.text)
                known = (message, (result, made_of.changed_by))
                self._made[key] = known
            result, by = known[1]
            made.append(result)
            if result is not message:
                changed[place] = by
        return tuple(reversed(made)), changed

    def _of(self, end: int, speaker: str) -> _Scripts:
        who = speaker, avatar_at(self._chat, end)
        if who not in self._scripts:
            used = _shaping(scripts_of(of_speaker(self._setup, self._chat, end, speaker), speaker))
            texts = (text for each in used for text in (each.find, each.replace, *each.trim))
            found = (each for text in texts for each in _NAMED.finditer(text))
            names = frozenset((each[1] or each[2]).strip().lower() for each in found)
            limits = [limit for each in used for limit in (each.min_depth, each.max_depth) if limit is not None]
            deepest = int(min(max((limit for limit in limits if limit < _DEEP), default=0), _DEEP))
            reaches = [
                tuple(at for at, script in enumerate(used) if script.reaches(depth)) for depth in range(deepest + 2)
            ]
            self._scripts[who] = _Scripts(who, used, names, reaches)
        return self._scripts[who]

    def _macros(self, chat: Chat, end: int, speaker: str) -> Macros:
        setup = of_speaker(self._setup, chat, end, speaker)
        return macros_for(setup, chat, end, speaker, card_texts(setup.card, chat, setup.group, speaker))


def _shaping(scripts: Iterable[RegexScript]) -> tuple[RegexScript, ...]:
    """Those that change what is said in a prompt."""
    return tuple(each for each in scripts if each.shapes_prompt and not each.placement.isdisjoint(_SAID))


def _has_more(message: Message) -> bool:
    titled = message.extra.get("append_title") or message.extra.get("media")
    return bool(titled) or next(files_of(message), None) is not None


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
