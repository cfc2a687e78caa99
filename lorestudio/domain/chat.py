"""Chats: messages with their swipes, and which of them a generation sees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from lorestudio.domain.javascript import Json


@dataclass(frozen=True, slots=True)
class Message:
    """One message (spec: deeplore-engine 0.2, deeplore-ai-and-tools 5.2).

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
        """Whether the message's text is searched for keys (spec: deeplore-engine 3.3)."""
        if self.is_system or self.is_thoughts:
            return False
        tools = self.extra.get("tool_invocations")
        if isinstance(tools, list | dict) or tools:
            return False  # an empty list counts as a tool message
        return self.extra.get("type") != "narrator" and not self.extra.get("isSmallSys")

    def at_swipe(self, swipe: int) -> Message:
        """The same message with another swipe active."""
        return replace(self, swipe_id=swipe, text=self.swipes[swipe])


@dataclass(frozen=True, slots=True)
class Chat:
    """A whole chat as it stands in its file, hidden messages included; `metadata` is the file's `chat_metadata`."""

    messages: tuple[Message, ...] = ()
    user_name: str = "User"
    character_name: str = ""
    metadata: Mapping[str, Json] = field(default_factory=dict)
    header: Mapping[str, Json] = field(default_factory=dict, repr=False, compare=False)

    @property
    def is_group(self) -> bool:
        """Whether several characters speak in the chat."""
        names = {each.name for each in self.messages if not each.is_user and each.scannable and each.name}
        return len(names) > 1 or any("gen_id" in each.extra for each in self.messages)

    def prompt_view(self, until: int) -> tuple[Message, ...]:
        """The messages before index `until` that the host hands to a generation: hidden ones are left out."""
        return tuple(message for message in self.messages[:until] if not message.is_system)

    @property
    def replies(self) -> tuple[int, ...]:
        """Indices of the messages that a generation wrote: neither the user's nor hidden, and not the greeting."""
        return tuple(
            index
            for index, message in enumerate(self.messages)
            if index and not message.is_user and not message.is_system and message.scannable
        )
