"""What a scan needs to know of a chat beside its messages: the author's note, the card, the persona, the names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from lorestudio.domain.chat import AuthorsNote
from lorestudio.exchange.lorebooks.entry import Extra


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Nothing of it is needed: without it there is no note and no card.

    `by_user` says of every message of the chat's file whether the person wrote it, which the note's interval counts.
    `characters` are the names by which a character filter may know the character, besides the speaker's name.
    `extras` are texts of card and persona; `macros` stand for themselves without braces, in lower case.
    `reply_tokens` is how much of the context is kept for the reply.
    """

    note: AuthorsNote = field(default_factory=AuthorsNote)
    by_user: tuple[bool, ...] = field(default=(), repr=False)
    characters: frozenset[str] = frozenset()
    extras: Mapping[Extra, str] = field(default_factory=lambda: MappingProxyType({}), repr=False)
    macros: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), repr=False)
    reply_tokens: int = 0

    def note_due(self, message: int) -> bool:
        """Whether the note is inserted in the turn that writes that message."""
        return self.note.due(sum(self.by_user[:message]))

    @property
    def told(self) -> tuple[object, ...]:
        """All of it that the messages before a turn do not tell, in an order of its own: for a digest."""
        texts = (sorted(self.extras.items()), sorted(self.macros.items()))
        return (self.note, sorted(self.characters), *texts, self.reply_tokens)
