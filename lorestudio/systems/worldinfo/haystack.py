"""What is searched for the keys of an entry (rules: sillytavern 5.6 "Scan text"), and which entries a loop looks at.

A loop looks at the entries in whose text one of their keys stands, which changes no decision: a key that is found in a
text stands in it in lower case, so that a search for all keys at once tells which entries may have one; what is refused
for another reason, or needs no key, is always looked at.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as data_field
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

from msgspec import Struct, field

from lorestudio.domain.automaton import LONGEST_WORD, WordFinder, automaton_of
from lorestudio.domain.javascript import Json, to_number, trim
from lorestudio.domain.lifecycle import heeding
from lorestudio.exchange.lorebooks.entry import BookEntry, Extra
from lorestudio.exchange.lorebooks.keys import MARK, KeyMatching, is_plain, occurs
from lorestudio.settings.worldinfo import WorldInfoSettings
from lorestudio.systems.macros import has_macros

MOST_DEPTH: Final = 1000

_JOINER: Final = f"\n{MARK}"
_EXTRAS: Final = {
    Extra.PERSONA: ("persona", "the persona's description"),
    Extra.DESCRIPTION: ("description", "the character's description"),
    Extra.PERSONALITY: ("personality", "the character's personality"),
    Extra.DEPTH_PROMPT: ("chardepthprompt", "the character's depth prompt"),
    Extra.SCENARIO: ("scenario", "the scenario"),
    Extra.CREATOR_NOTES: ("creatornotes", "the creator's notes"),
}
"""The macros that stand for them, and what they are called."""


class Scan(StrEnum):
    """What a loop looks at: the chat, also the texts of active entries, or more of the chat."""

    FIRST = "first"
    RECURSION = "recursion"
    WIDER = "wider scan"


class TextSource(Struct, frozen=True):
    """What is scanned: the messages, the newest first, `line` making each as it is searched, and who is to speak.

    `characters` are the names that a character filter may call the speaker by, `tags` the ids of its tags, None where
    nobody knows them. `prompts` are texts that other parts of the prompt lend to every entry, each with its name;
    `extras` those that an entry asks for itself, by their macros. `kind` is the kind of generation.
    """

    messages: Sequence[Any]
    characters: frozenset[str] = frozenset()
    tags: frozenset[str] | None = None
    prompts: tuple[tuple[str, str], ...] = ()
    extras: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    kind: str = "normal"
    line: Callable[[Any], str] = str


class Haystack:
    """The texts of one scan. They grow by recursion and by looking further back."""

    def __init__(self, source: TextSource, settings: WorldInfoSettings) -> None:
        self._source, self._settings = source, settings
        self._messages: list[str] = []  # as many of them as somebody looked at
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
            found = [*(self._newest(depth) or [""]), *(text for _, text in self._lent(entry))]
            if scan is not Scan.WIDER:
                found += self._recursion
            self._texts[asked] = MARK + _JOINER.join(found)
        return self._texts[asked]

    def where(self, key: str, how: KeyMatching, entry: BookEntry) -> dict[str, Json]:
        """The newest message that holds the key, else the text that was lent, else the entry whose text it is."""
        found: dict[str, Json] = {"key": key}
        depth = self._depth_of(entry)
        self._lowered += [message.lower() for message in self._newest(depth)[len(self._lowered) :]]
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

    def _newest(self, depth: int) -> list[str]:
        """So many messages, or all."""
        further = self._source.messages[len(self._messages) : depth]
        self._messages += [trim(self._source.line(message)) for message in further]
        return self._messages[:depth]

    def _depth_of(self, entry: BookEntry) -> int:
        """How many messages; none where the entry's own depth is no number, or less than one."""
        own = self.depth if entry.scan_depth is None else entry.scan_depth
        return 0 if math.isnan(own) else int(max(0, min(own, MOST_DEPTH)))

    def _lent(self, entry: BookEntry) -> list[tuple[str, str]]:
        extras = self._source.extras
        asked = [(told, extras.get(name, "")) for name, told in map(_EXTRAS.__getitem__, entry.extras)]
        return [(name, text) for name, text in (*asked, *self._source.prompts) if text]


_SIGMA: Final = "Σ"
"""The letter whose lower case depends on what stands behind it."""

Reach = tuple[float | None, tuple[Extra, ...]]
"""How far back an entry looks, None for the general depth, and what it looks at besides."""


@dataclass(slots=True)
class Watch:
    """The entries of a scan, put in order for finding those that matter. It is made once for a set of entries.

    `lasting` are those with timed effects, `levels` the levels of delayed recursion in order.
    """

    entries: Sequence[BookEntry]
    lasting: tuple[BookEntry, ...] = data_field(init=False)
    levels: tuple[float | str, ...] = data_field(init=False)
    marked: int = data_field(init=False)
    """How many are marked as vectorized."""
    always: frozenset[int] = data_field(init=False)
    """The places of the entries that every loop looks at."""
    _reaches: dict[Reach, BookEntry] = data_field(init=False)
    _places: dict[str, int] = data_field(init=False)
    _keys: WordFinder | None = data_field(init=False)

    def __post_init__(self) -> None:
        entries = self.entries
        self.lasting = tuple(each for each in entries if (each.sticky, each.cooldown, each.delay) != (None,) * 3)
        # In the order of the entries: a level that is no number stays where it is met.
        levels = dict.fromkeys(each.recursion_level for each in entries if each.recursion_level is not None)
        self.levels = tuple(sorted(levels, key=to_number))
        self.marked = sum(entry.vectorized for entry in entries)
        self._places = {entry.uid: place for place, entry in enumerate(entries)}
        owners: dict[str, list[int]] = {}
        self._reaches = {}
        always: set[int] = set()
        for place, entry in enumerate(heeding(entries)):
            if _is_special(entry):
                always.add(place)
                continue
            for key in map(trim, entry.keys):
                lower = key.lower()
                owners.setdefault(key if lower == key else lower, []).append(place)  # most are written so
            self._reaches.setdefault((entry.scan_depth, entry.extras), entry)
        self.always = frozenset(always)
        self._keys = automaton_of(owners)

    def places(self, haystack: Haystack, scan: Scan, others: Iterable[Collection[str]]) -> list[int]:
        """The places of the entries to look at, in order; `others` are uids of entries that matter besides."""
        found = set(self.always)
        for uids in others:
            found.update(self._places[uid] for uid in uids if uid in self._places)
        if self._keys is not None:
            for entry in self._reaches.values():  # one of those that look at the same text
                for _end, owners in self._keys.iter(haystack.text(entry, scan).lower()):
                    found.update(owners)
        return sorted(found)


def _is_special(entry: BookEntry) -> bool:
    """Whether something else than plain keys decides about the entry, or may refuse it."""
    refusable = (
        entry.disabled, entry.triggers, entry.characters, entry.tags, entry.delay is not None,
        entry.recursion_level is not None, entry.exclude_recursion, entry.never_activates, entry.looks_nowhere,
    )  # fmt: skip
    return any(refusable) or entry.constant or entry.activates or not (entry.keys and all(map(is_searched, entry.keys)))


def is_searched(key: str) -> bool:
    """Whether a search for all keys at once, in lower case, tells where this one may stand."""
    sought = trim(key)
    return 0 < len(sought.lower()) <= LONGEST_WORD and not has_macros(key) and _SIGMA not in key and is_plain(sought)
