"""Whether what went into the prompt was used in the reply, so far as words tell: names, keys and rare words.

A model may be guided by a note without a word of it, so this is a sign and no proof; what is never used over many
replies costs its tokens all the same, and is worth a look.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from lorestudio.domain.chat import Chat, Generation, Message
from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.domain.javascript import fold
from lorestudio.studio.tuning.outcomes import TurnOutcome
from lorestudio.systems.key_search import KeySearch

RARE_NOTES: Final = 2
"""A word is rare where no more notes than these have it."""

RARE_WORDS: Final = 2
"""So many rare words of a note in a reply, none of them said before, tell that it was used."""

FEWEST_REPLIES: Final = 3
"""A note that was in fewer replies is not called dead weight."""

_WORD: Final = re.compile(r"[^\W\d_]{4,}")
_ARTICLE: Final = re.compile(r"^(?:the|a|an) ", re.IGNORECASE)


class EntryUse(Struct, frozen=True):
    """An entry over a chat: the replies that it was in for, how many used it, and the tokens of those that did not."""

    entry: int
    title: str
    replies: int
    used: int
    tokens: int
    idle: int
    constant: bool = False

    @property
    def dead(self) -> bool:
        """Whether it was in several replies and used in none."""
        return not self.used and self.replies >= FEWEST_REPLIES


def words_of(text: str) -> frozenset[str]:
    """The words of four letters or more, folded."""
    return frozenset(_WORD.findall(fold(text)))


class UseReader:
    """Reads of replies which entries they use; what the vault says is looked through once. For workers."""

    def __init__(self, index: VaultIndex, search: KeySearch) -> None:
        self._entries = {entry.id: entry for entry in index.entries}
        self._search = search
        words = {entry.id: words_of(entry.content) for entry in index.entries}
        often = Counter(word for of in words.values() for word in of)
        self._rare = {entry: frozenset(word for word in of if often[word] <= RARE_NOTES) for entry, of in words.items()}
        names = [
            (name, entry.id)
            for entry in index.entries
            for name in (_ARTICLE.sub("", entry.title), *entry.keys)
            if name.strip()
        ]
        self._owners = [entry for _, entry in names]
        self._find = search.finder([name for name, _ in names])

    def used(self, chat: Chat, outcomes: Sequence[TurnOutcome]) -> dict[Generation, frozenset[int]]:
        """For each reply that was written, which of the entries in its prompt it uses; `outcomes` are in order."""
        found = {}
        said: set[str] = set()
        done = 0
        for outcome in outcomes:
            if outcome.message >= len(chat.messages):
                continue
            for message in chat.messages[done : outcome.message]:
                said |= words_of(message.text)
            done = max(done, outcome.message)
            reply = chat.messages[outcome.message]
            named = {self._owners[place] for place in self._find(self._search.line(Message("", reply.text)))}
            fresh = words_of(reply.text) - said
            found[Generation(outcome.message, outcome.swipe)] = frozenset(
                entry
                for entry, _ in outcome.injected
                if entry in named or len(self._rare.get(entry, frozenset()) & fresh) >= RARE_WORDS
            )
        return found

    def uses(
        self, chat: Chat, outcomes: Sequence[TurnOutcome], used: Mapping[Generation, frozenset[int]] | None = None
    ) -> tuple[EntryUse, ...]:
        """Every entry that went in, those with the most idle tokens first; entries that are no notes are left out.

        `used` is what somebody else says that each reply has used.
        """
        used = self.used(chat, outcomes) if used is None else used
        replies, times, tokens, idle = Counter[int](), Counter[int](), Counter[int](), Counter[int]()
        for outcome in outcomes:
            using = used.get(Generation(outcome.message, outcome.swipe))
            for entry, size in outcome.injected if using is not None else ():
                replies[entry] += 1
                tokens[entry] += size
                if using is not None and entry in using:
                    times[entry] += 1
                else:
                    idle[entry] += size
        known = ((self._entries[entry], entry) for entry in replies if entry in self._entries)
        rows = (_use(of, replies[each], times[each], tokens[each], idle[each]) for of, each in known)
        return tuple(sorted(rows, key=lambda row: (-row.idle, row.title.casefold())))


def _use(entry: Entry, replies: int, used: int, tokens: int, idle: int) -> EntryUse:
    return EntryUse(entry.id, entry.title, replies, used, tokens, idle, entry.constant)
