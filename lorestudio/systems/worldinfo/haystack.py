"""What is searched for the keys of an entry (rules: sillytavern 5.6 "Scan text")."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from msgspec import Struct, field

from lorestudio.domain.javascript import Json, trim
from lorestudio.exchange.lorebooks.entry import BookEntry, Extra
from lorestudio.exchange.lorebooks.keys import MARK, KeyMatching, is_plain, occurs
from lorestudio.settings.worldinfo import WorldInfoSettings

MOST_DEPTH: Final = 1000

_JOINER: Final = f"\n{MARK}"
_EXTRAS: Final = {
    Extra.PERSONA: "the persona's description",
    Extra.DESCRIPTION: "the character's description",
    Extra.PERSONALITY: "the character's personality",
    Extra.DEPTH_PROMPT: "the character's depth prompt",
    Extra.SCENARIO: "the scenario",
    Extra.CREATOR_NOTES: "the creator's notes",
}


class Scan(StrEnum):
    """What a loop looks at: the chat, also the texts of active entries, or more of the chat."""

    FIRST = "first"
    RECURSION = "recursion"
    WIDER = "wider scan"


class TextSource(Struct, frozen=True):
    """What is scanned: the messages, the newest first, as they are searched, and who is to speak.

    `characters` are the names that a character filter may call the speaker by, `tags` the ids of its tags, None where
    nobody knows them. `prompts` are texts that other parts of
    the prompt lend to every entry, each with its name; `extras` those that an entry asks for itself. `kind` is the kind
    of generation.
    """

    messages: tuple[str, ...]
    characters: frozenset[str] = frozenset()
    tags: frozenset[str] | None = None
    prompts: tuple[tuple[str, str], ...] = ()
    extras: Mapping[Extra, str] = field(default_factory=lambda: MappingProxyType({}))
    kind: str = "normal"


class Haystack:
    """The texts of one scan. They grow by recursion and by looking further back."""

    def __init__(self, source: TextSource, settings: WorldInfoSettings) -> None:
        self._source, self._settings = source, settings
        self._messages = tuple(trim(message) for message in source.messages[:MOST_DEPTH])
        self._lowered: list[str] = []
        self._recursion: list[str] = []
        self._feeding: list[tuple[BookEntry, str]] = []
        self._skew = 0
        self._texts: dict[tuple[int, bool, tuple[Extra, ...]], str] = {}

    @property
    def depth(self) -> int:
        """How many messages are looked at where an entry does not say it."""
        return self._settings.depth + self._skew

    @property
    def length(self) -> int:
        """How many messages there are."""
        return len(self._source.messages)

    @property
    def recurs(self) -> bool:
        """Whether a loop has put something aside for recursion."""
        return bool(self._recursion)

    def widen(self) -> None:
        """Look at one more message."""
        self._skew += 1

    def feed(self, entries: Sequence[tuple[BookEntry, str]]) -> str:
        """Let the texts of these entries be searched, too; returns them as they were put aside.

        In 1.12 an empty text was put aside as well, so that a wider scan was followed by recursion.
        """
        text = "\n".join(content for _, content in entries)
        if self._settings.newer and not text:
            return ""
        self._recursion.append(text)
        self._texts.clear()
        self._feeding += entries
        return text

    def text(self, entry: BookEntry, scan: Scan) -> str:
        """What is searched for the entry's keys in this loop."""
        if (self.depth if entry.scan_depth is None else entry.scan_depth) <= 0:
            return ""
        depth = self._depth_of(entry)
        asked = (depth, scan is Scan.WIDER, entry.extras)
        if asked not in self._texts:
            found = [*self._messages[:depth], *(text for _, text in self._lent(entry))]
            if scan is not Scan.WIDER:
                found += self._recursion
            self._texts[asked] = MARK + _JOINER.join(found)
        return self._texts[asked]

    def where(self, key: str, how: KeyMatching, entry: BookEntry) -> dict[str, Json]:
        """The newest message that holds the key, else the text that was lent, else the entry whose text it is."""
        found: dict[str, Json] = {"key": key}
        depth = self._depth_of(entry)
        self._lowered += [message.lower() for message in self._messages[len(self._lowered) : depth]]
        # A look that costs little, before the one that decides.
        plain = key.lower() if is_plain(key) and not how.case_sensitive else ""
        for place, lowered in enumerate(self._lowered[:depth]):
            if plain in lowered and occurs(key, MARK + self._messages[place], how):
                return {**found, "back": place}
        for name, text in self._lent(entry):
            if occurs(key, MARK + text, how):
                return {**found, "lent": name}
        for source, text in self._feeding:
            if occurs(key, MARK + text, how):
                return {**found, "source_uid": source.uid}
        return found

    def _depth_of(self, entry: BookEntry) -> int:
        """How many messages; none where the entry's own depth is no number, or less than one."""
        own = self.depth if entry.scan_depth is None else entry.scan_depth
        return 0 if math.isnan(own) else int(max(0, min(own, MOST_DEPTH)))

    def _lent(self, entry: BookEntry) -> list[tuple[str, str]]:
        extras = self._source.extras
        asked = [(_EXTRAS[extra], trim(text)) for extra in entry.extras if (text := extras.get(extra, ""))]
        return [*asked, *((name, text) for name, text in self._source.prompts if text)]
