"""The whole prompt of one generation: the messages in the order and roles that the model gets, as data and as text.

Every character of every message belongs to exactly one part, and each part says where it comes from: the frame (main
prompt, markers, separators), the character's card, the persona, the chat, an entry of the vault, or a note of the chat.
Parts of one message lie side by side: the first begins at 0, each begins where the one before it ends.

The host puts what it was handed before or after the main prompt, among the messages, or nowhere, in SillyTavern's order
(rules: sillytavern 5.7):

* prompts of one place follow each other by tag; of those before the main prompt the last one stands first, because the
  host puts each in front of what is already there;
* in the chat, exactly `depth` messages are newer than a prompt. Within a depth the model reads assistant, user, system.
  A depth beyond the first message is the beginning of the chat;
* the host asks for the depths 0, 1, 2 … up to `DEEPEST`. What has another depth, or a role that it does not know, is
  never placed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Final, Generic, Protocol, TypeVar

from msgspec import Struct

from lorestudio.domain.entry import Position, Role
from lorestudio.trace.text import escaped
from lorestudio.trace.wording import number_words, plural


class MessageRole(StrEnum):
    """Who speaks a message, as chat completion has it."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


class Origin(StrEnum):
    """Where a part of the prompt comes from.

    `FRAME` is the main prompt, post-history text, markers and separators; `PRESET` a prompt of the chosen preset;
    `NOTE` the chat's own notes: author's note, notebook and AI notepad.
    """

    FRAME = "frame"
    PRESET = "preset"
    CARD = "card"
    PERSONA = "persona"
    CHAT = "chat"
    ENTRY = "entry"
    NOTE = "note"


class PromptSection(StrEnum):
    """The place of a message in the prompt, in this order where no preset has another one.

    `PRESET` is a further prompt of the preset, `PREFILL` the beginning of the reply (see
    `lorestudio.studio.prompt.assembly`).
    """

    BEFORE_MAIN = "before the main prompt"
    MAIN = "main prompt"
    AFTER_MAIN = "after the main prompt"
    PERSONA = "persona"
    DESCRIPTION = "description"
    PERSONALITY = "personality"
    SCENARIO = "scenario"
    EXAMPLES = "example messages"
    HISTORY = "chat history"
    POST_HISTORY = "post-history"
    PRESET = "preset prompt"
    PREFILL = "beginning of the reply"


class Left(StrEnum):
    """Why something that belongs to the prompt is not in it."""

    NO_ROOM = "no room"
    """The context of the model is full; older messages and what was put among them give way first."""
    OUTLET_UNUSED = "outlet unused"
    """An outlet's text goes where a macro asks for it, and nothing does."""
    NO_PLACE = "no place"
    """Its position, depth or role names no place that the host knows."""
    SWITCHED_OFF = "switched off"
    """The preset has it, or its place, switched off."""
    OTHER_KIND = "other kind"
    """The preset has it for other kinds of generations than this one."""


class PromptOrigin(Struct, frozen=True):
    """Where a text comes from; `label` says it for people, such as `description`, `#4 Wren`, or an entry's title.

    `entry` is the entry's id and `message` the index in the chat file where there is one; `tag` is the name that the
    host knows an injection by. `changed_by` names the regex scripts that changed the text, in the order they ran in.
    """

    origin: Origin
    label: str
    entry: int | None = None
    message: int | None = None
    tag: str = ""
    changed_by: tuple[str, ...] = ()


class AssembledPart(Struct, frozen=True):
    """The characters `text[start:end]` of a message and where they come from.

    `tokens` are those of this text by itself, so that the parts of a message need not add up to the message's.
    """

    start: int
    end: int
    source: PromptOrigin
    tokens: int


class AssembledMessage(Struct, frozen=True):
    """One message as it is sent. `depth` is that of what was injected into the chat, None for everything else.

    `name` is the speaker's where the role alone does not say it (example messages); `tokens` are those of the text.
    """

    role: MessageRole
    text: str
    parts: tuple[AssembledPart, ...]
    section: PromptSection
    tokens: int
    name: str = ""
    depth: float | None = None

    def text_of(self, part: AssembledPart) -> str:
        """The part's own text."""
        return self.text[part.start : part.end]


class LeftOutPart(Struct, frozen=True):
    """A text that is not in the prompt although it was meant to be, and why."""

    source: PromptOrigin
    reason: Left
    tokens: int


class AssembledPrompt(Struct, frozen=True):
    """A whole prompt.

    `room` is how many tokens the messages may take (context less reply), None where nobody said how large the model's
    context is. `exact` is False for an estimate; `lore_tokens` are those of the lore as SillyTavern counts it, which is
    what the budget looked at. `unknown_macros` are those that only the host itself could fill in; they stay in the text
    as they are. `speaker` is who is to speak next. `remarks` are sentences about what could not be done as in the host.
    """

    messages: tuple[AssembledMessage, ...] = ()
    left_out: tuple[LeftOutPart, ...] = ()
    room: int | None = None
    exact: bool = True
    unknown_macros: tuple[str, ...] = ()
    speaker: str = ""
    remarks: tuple[str, ...] = ()
    lore_tokens: int = 0

    @property
    def parts(self) -> Iterator[tuple[AssembledMessage, AssembledPart]]:
        """Every part with its message, in the order of the prompt."""
        return ((message, part) for message in self.messages for part in message.parts)

    @property
    def tokens(self) -> int:
        """Tokens of all texts, without what a provider adds for each message."""
        return sum(message.tokens for message in self.messages)

    @property
    def tokens_by_origin(self) -> Mapping[Origin, int]:
        """Tokens of all parts by where they come from; origins that the prompt has nothing of are not there."""
        found: Counter[Origin] = Counter()
        for _message, part in self.parts:
            found[part.source.origin] += part.tokens
        return found


def message_head(message: AssembledMessage) -> str:
    """Who speaks, where, and how much: `system, in the chat at depth 4 (120 tokens)`."""
    where = message.section.value if message.depth is None else f"in the chat at depth {number_words(message.depth)}"
    name = f" ({message.name})" if message.name else ""
    return f"{message.role.value}{name}, {where} ({plural(message.tokens, '# token|# tokens')})"


def source_words(source: PromptOrigin) -> str:
    """Where a text comes from: `chat: #4 Wren, changed by the regex script “Brackets”`."""
    words = f"{source.origin.value}: {source.label}"
    return f"{words}, {changed_words(source)}" if source.changed_by else words


def changed_words(source: PromptOrigin) -> str:
    """Which regex scripts changed a text, "" where none did."""
    names = ", ".join(f"“{name}”" for name in source.changed_by)
    return f"changed by {plural(len(source.changed_by), 'the regex script|the regex scripts')} {names}" if names else ""


def prompt_as_text(prompt: AssembledPrompt) -> str:
    """The messages in order, each under a line that says who speaks."""
    return "\n\n".join(f"--- {message_head(message)}\n{message.text}" for message in prompt.messages) + "\n"


def prompt_as_markdown(prompt: AssembledPrompt) -> str:
    """The messages in order, each under a heading, their texts in code blocks."""
    parts = [f"# Prompt ({plural(prompt.tokens, '# token|# tokens')})"]
    for message in prompt.messages:
        longest = max((len(run) for run in re.findall(r"`+", message.text)), default=0)
        fence = "`" * max(3, longest + 1)
        parts.append(f"## {escaped(message_head(message))}\n\n{fence}\n{message.text}\n{fence}")
    return "\n\n".join(parts) + "\n"


DEEPEST: Final = 1000
"""The host places nothing deeper than that.

DeepLore cuts depths to `domain.entry.MAX_DEPTH` instead, which is ten times as much: what lies between is handed over
and never seen by the model (rules: deeplore 5.8; sillytavern 5.7).
"""

_READ: Final = {Role.ASSISTANT: 0, Role.USER: 1, Role.SYSTEM: 2}
"""Which role the model reads first within a depth."""


class OrderedText(Protocol):
    """What has to be known of a prompt to place it."""

    @property
    def tag(self) -> str:
        """The name under which the host holds it."""

    @property
    def position(self) -> int:
        """One of `Position`."""

    @property
    def depth(self) -> float:
        """How many messages are newer; it counts in the chat only."""

    @property
    def role(self) -> int:
        """One of `Role`."""


P = TypeVar("P", bound=OrderedText)


class AtDepth(Struct, Generic[P], frozen=True):
    """The prompts of one depth and role, by tag."""

    depth: int
    role: Role
    prompts: tuple[P, ...]

    def older(self, messages: int) -> int:
        """How many of that many messages stand before them."""
        return max(0, messages - self.depth)


class PromptOrder(Struct, Generic[P], frozen=True):
    """Prompts in the order in which the model reads them; `nowhere` are those that it never sees.

    An outlet (position -1) is `nowhere`, too: only a macro of the host's own texts may ask for it.
    """

    before: tuple[P, ...]
    after: tuple[P, ...]
    in_chat: tuple[AtDepth[P], ...]
    nowhere: tuple[P, ...]


def prompt_order(prompts: Iterable[P]) -> PromptOrder[P]:
    """The order of prompts that go to the host together."""
    before: list[P] = []
    after: list[P] = []
    nowhere: list[P] = []
    places: dict[tuple[int, Role], list[P]] = {}
    for prompt in sorted(prompts, key=lambda prompt: prompt.tag):
        if prompt.position == Position.BEFORE:
            before.append(prompt)
        elif prompt.position == Position.AFTER:
            after.append(prompt)
        elif prompt.position == Position.IN_CHAT and _is_placed(prompt):
            places.setdefault((int(prompt.depth), Role(prompt.role)), []).append(prompt)
        else:
            nowhere.append(prompt)
    return PromptOrder(tuple(reversed(before)), tuple(after), tuple(_read(places)), tuple(nowhere))


def _is_placed(prompt: OrderedText) -> bool:
    return prompt.role in _READ and 0 <= prompt.depth <= DEEPEST and float(prompt.depth).is_integer()


def _read(places: dict[tuple[int, Role], list[P]]) -> Iterator[AtDepth[P]]:
    for (depth, role), prompts in sorted(places.items(), key=lambda place: (-place[0][0], _READ[place[0][1]])):
        yield AtDepth(depth, role, tuple(prompts))
