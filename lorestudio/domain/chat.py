"""Chats: messages with their swipes, what SillyTavern adds to them, and which of them a generation sees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from msgspec import Struct

from lorestudio.domain.javascript import Json, to_number
from lorestudio.domain.records import replace, same_ends, same_start

NOTE_TAG: Final = "2_floating_prompt"
"""The name under which SillyTavern holds the note (rules: sillytavern 5.7)."""

HOST_NAME: Final = "SillyTavern System"
"""Who speaks in the host's own notices."""

NOTICES: Final = frozenset(
    {"help", "welcome", "group", "empty", "generic", "comment", "slash_commands", "formatting", "hotkeys", "macros"}
    | {"welcome_prompt", "assistant_note", "assistant_message"}
)
"""The types of the host's own notices and of comments, which were never sent (rules: sillytavern 5.9)."""

EXAMPLE_TAGS: Final = ("worldInfo_examples_top", "worldInfo_examples_bottom")
"""The names under which it holds what stands before and after the card's example dialogue."""


class AuthorsNote(Struct, frozen=True):
    """The note with SillyTavern's defaults; `interval` counts the person's messages (rules: sillytavern 5.7).

    `position` is that of extension prompts: 0 after the main prompt, 1 in the chat, 2 before the main prompt.
    """

    text: str = ""
    interval: int = 1
    position: int = 1
    depth: int = 4
    role: int = 0

    def due(self, messages: Sequence[Message]) -> bool:
        """Whether it is inserted in the turn that comes behind these messages."""
        if self.interval == 1:
            return True
        written = sum(each.is_user for each in messages)
        return self.interval > 1 and written > 0 and written % self.interval == 0


def authors_note(metadata: Mapping[str, Json]) -> AuthorsNote:
    """The note of a chat's metadata (rules: sillytavern 5.2). What is no whole number counts as its default."""
    text = metadata.get("note_prompt")
    return AuthorsNote(
        text if isinstance(text, str) else "",
        _whole(metadata.get("note_interval"), 1),
        _whole(metadata.get("note_position"), 1),
        _whole(metadata.get("note_depth"), 4),
        _whole(metadata.get("note_role"), 0),
    )


def _whole(value: Json, default: int) -> int:
    if value is None or isinstance(value, bool):
        return default
    number = to_number(value)
    return int(number) if float(number).is_integer() else default


@dataclass(frozen=True, slots=True)
class Message:
    """One message (rules: deeplore 0.2; sillytavern 5.2).

    `name` is None when the record has none; `text` is "" when the record's text is no string. `raw` keeps the record
    as it was read, unknown fields included; where it and another field disagree, the other field is newer. `line` is
    the place in the chat's document that the message was read from, None for one that was written since.
    """

    name: str | None
    text: str
    is_user: bool = False
    is_system: bool = False
    is_thoughts: bool = False
    swipe_id: int | None = None
    swipes: tuple[str, ...] = ()
    extra: Mapping[str, Json] = field(default_factory=dict)
    send_date: str = ""
    raw: Mapping[str, Json] = field(default_factory=dict, repr=False, compare=False)
    line: int | None = field(default=None, repr=False, compare=False)

    @property
    def swipe(self) -> int:
        """The active swipe, 0 where the record has none."""
        return self.swipe_id or 0

    @property
    def scannable(self) -> bool:
        """Whether the message's text is searched for keys (rules: deeplore 3.3)."""
        return not self.is_system and self.is_speech

    @property
    def is_speech(self) -> bool:
        """Whether somebody in the story says it, hidden or not."""
        if self.is_thoughts:
            return False
        tools = self.extra.get("tool_invocations")
        if isinstance(tools, list | dict) or tools:
            return False  # an empty list counts as a tool message
        return self.extra.get("type") != "narrator" and not self.extra.get("isSmallSys")

    @property
    def is_story(self) -> bool:
        """Whether it is speech that was sent with a prompt, today or until somebody hid it."""
        return self.is_speech and (not self.is_system or self.was_hidden)

    @property
    def was_hidden(self) -> bool:
        """Whether somebody has hidden it, so that it was in the prompt once: neither a notice nor a call of a tool.

        Source: what SillyTavern 1.18 writes as a system message itself (rules: sillytavern 5.9).
        """
        if not self.is_system or not self.text.strip() or self.name == HOST_NAME or self.extra.get("isSmallSys"):
            return False
        kind = self.extra.get("type")
        return "tool_invocations" not in self.extra and not (isinstance(kind, str) and kind in NOTICES)


@dataclass(frozen=True, slots=True)
class Chat:
    """A whole chat as it stands in its file, hidden messages included.

    `metadata` is the file's `chat_metadata`; `files` are the texts of attached files by their addresses.
    """

    messages: tuple[Message, ...] = ()
    user_name: str = "User"
    character_name: str = ""
    metadata: Mapping[str, Json] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict, repr=False)
    header: Mapping[str, Json] = field(default_factory=dict, repr=False, compare=False)

    @property
    def is_group(self) -> bool:
        """Whether several characters speak in the chat.

        What slash commands write says nothing of that: they give a `gen_id` in every chat, and "/sendas" any name.
        """
        if self.header.get("character_name") not in (None, "", "unused"):
            return False
        written = [each for each in self.messages if each.extra.get("model") != "slash command"]
        names = {each.name for each in written if not each.is_user and each.is_story and each.name}
        return len(names) > 1 or any("gen_id" in each.extra for each in written)

    @property
    def replies(self) -> tuple[int, ...]:
        """Indices of the messages that a generation wrote, those that were hidden later included, but the greeting."""
        return tuple(
            index for index, message in enumerate(self.messages) if index and not message.is_user and message.is_story
        )

    def active(self, message: int) -> Generation:
        """The generation of a message's active swipe, the first one for a message that is still to come."""
        return Generation(message, self.messages[message].swipe if message < len(self.messages) else 0)

    def with_message(self, place: int, message: Message) -> Chat:
        """The chat with another message at `place`."""
        return replace(self, messages=(*self.messages[:place], message, *self.messages[place + 1 :]))


def first_difference(before: Chat | None, after: Chat | None) -> int:
    """The first message that is not the same in both chats; where one goes on from the other, the shorter's length."""
    return same_start(before.messages if before is not None else (), after.messages if after is not None else ())


def places_in(after: Sequence[Message], before: Sequence[Message]) -> dict[int, int]:
    """Where the messages of a chat stand after it was changed, in order; those that were taken out are not in it.

    A message is the same one where all that changed is beside its words, or where as many stand in the place of it and
    its changed neighbours.
    """
    was, now = ([(each.name, each.is_user, each.send_date, each.text) for each in chat] for chat in (before, after))
    head, tail = same_ends(was, now)
    edges = [(place, place) for place in range(-1, head)]
    end, new_end = len(was) - tail, len(now) - tail
    counts, new_counts = Counter(was[head:end]), Counter(now[head:new_end])
    found = {words: place for place, words in enumerate(now[head:new_end], head)}
    for place, words in enumerate(was[head:end], head):
        if counts[words] == new_counts[words] == 1 and found[words] > edges[-1][1]:
            edges.append((place, found[words]))
    edges += [(end + place, new_end + place) for place in range(tail + 1)]
    places: dict[int, int] = {}
    for (above, new_above), (below, new_below) in pairwise(edges):
        first = above + 1 if below - above == new_below - new_above else below
        places |= {place: new_below - below + place for place in range(first, below + 1)}
    places.pop(len(before))
    return places


class Generation(Struct, frozen=True, order=True):
    """A reply and one of its swipes. `message` is the reply's index in the chat, the chat's length for the next one."""

    message: int
    swipe: int = 0

    @property
    def name(self) -> str:
        """`#7`, and the swipe where it is not the first: `#7 ‹2›`."""
        return f"#{self.message}" + (f" ‹{self.swipe + 1}›" if self.swipe else "")


def transcript(chat: Sequence[Message], depth: int, *, searched_only: bool = False) -> str:
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
