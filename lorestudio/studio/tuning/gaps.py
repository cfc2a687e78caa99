"""Names that recur in a chat and that no note answers to.

A name is a word with a capital letter that also stands where none is due, within a sentence; words that the chat writes
small too are none. Scripts without capital letters show no names in this way.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator
from typing import Final

from msgspec import Struct

from lorestudio.domain.chat import Chat, Message
from lorestudio.domain.entry import VaultIndex
from lorestudio.domain.javascript import fold
from lorestudio.systems.key_search import KeySearch

FEWEST_MESSAGES: Final = 3
"""A name in fewer messages is passed over."""

_WORD: Final = re.compile(r"[^\W\d_](?:[\w'’-]*\w)?")
_POSSESSIVE: Final = re.compile(r"['’]s$")
_I: Final = re.compile(r"I(?:['’].*)?$")
_WITHIN: Final = re.compile(r"[\w,;)]['’]?[ \t]+$")
"""What stands before a word within a sentence."""
_NEAR: Final = 4


class Gap(Struct, frozen=True):
    """A name without an answer, and the indices of the messages that say it.

    `near` is the title of a note that is called so and has no key for it, "" where there is none.
    """

    name: str
    messages: tuple[int, ...]
    near: str = ""


def gaps(chat: Chat, index: VaultIndex, search: KeySearch) -> tuple[Gap, ...]:
    """The names without an answer, those in the most messages first. Whose chat it is is no gap."""
    told = [(place, message.text) for place, message in enumerate(chat.messages) if message.scannable]
    small = {word for _, text in told for word in _WORD.findall(text) if word[0].islower()}
    names: dict[str, list[int]] = defaultdict(list)
    sure: set[str] = set()
    for place, text in told:
        for name, within in _named(text, small):
            if within:
                sure.add(name)
            if names[name][-1:] != [place]:
                names[name].append(place)
    people = (chat.user_name, chat.character_name, *(message.name or "" for message in chat.messages))
    known = {fold(word) for name in people for word in _WORD.findall(name)}
    found_in = search.finder([key for entry in index.entries for key in entry.keys])
    titles = {fold(entry.title): entry.title for entry in index.entries}
    found = [
        Gap(name, tuple(messages), next((title for words, title in titles.items() if fold(name) in words), ""))
        for name, messages in names.items()
        if name in sure
        and len(messages) >= FEWEST_MESSAGES
        and not known.issuperset(map(fold, name.split()))
        and not found_in(search.line(Message("", name)))
    ]
    whole = [gap for gap in found if not any(_part_of(gap, other) for other in found)]
    return tuple(sorted(whole, key=lambda gap: (-len(gap.messages), gap.name)))


def _part_of(gap: Gap, other: Gap) -> bool:
    """Whether it is said only as a part of the other name."""
    return gap is not other and gap.name in other.name and set(gap.messages) <= set(other.messages)


def _named(text: str, small: Collection[str]) -> Iterator[tuple[str, bool]]:
    """Words with a capital letter, those side by side as one name, and whether it stands within a sentence.

    One that begins a sentence is also told without its first word.
    """
    runs: list[tuple[bool, list[str]]] = []
    end = -1
    for word in _WORD.finditer(text):
        one = _POSSESSIVE.sub("", word[0])
        if not one[0].isupper() or len(one) < 2 or fold(one) in small or _I.match(one):
            continue
        if not runs or text[end : word.start()] != " ":
            before = text[max(0, word.start() - _NEAR) : word.start()]
            runs.append((_WITHIN.search(before) is not None, []))
        runs[-1][1].append(one)
        end = word.end()
    for within, words in runs:
        yield " ".join(words), within
        if not within and len(words) > 1:
            yield " ".join(words[1:]), True
