"""Words that could be keys of a note because the scanned text has them: its own names first, then what was just said.

They are ideas to try; whether a key hits is only ever said by a run.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from lorestudio.domain.chat import Message
from lorestudio.domain.entry import Entry
from lorestudio.domain.javascript import fold, trim
from lorestudio.llm.common_words import COMMON_WORDS

_WORD: Final = re.compile(r"[^\W\d_][\w'’-]*")
_NAME: Final = re.compile(r"[^\W\d_a-zß-öø-ÿ][\w'’-]+(?: [^\W\d_a-zß-öø-ÿ][\w'’-]+)*")
_SHORTEST: Final = 4
_STEM: Final = 4
"""Letters that two forms of a word have in common at least."""

_PER_SOURCE: Final = 4
MOST_IDEAS: Final = 14


def key_ideas(
    entry: Entry,
    window: str,
    chat: Sequence[Message],
    known: Iterable[str],
    aliases: Iterable[str] = (),
    notes: Sequence[str] = (),
) -> tuple[str, ...]:
    """Words and names that occur in `window`, best first; none of `known`, the keys that there are already.

    `window` is the scanned text, `chat` all messages so far, `notes` the folded texts of all notes: of several words
    those come first that fewer notes have, and then those that the chat has said less often.
    """
    searched, whole = fold(window), Counter(fold(word) for message in chat for word in _words(message.text))
    taken = {fold(key) for key in known}
    newest = next((message.text for message in reversed(chat) if message.scannable), "")

    def rare(words: Iterable[str]) -> list[str]:
        there = [word for word in dict.fromkeys(words) if fold(word) in searched]
        return sorted(there, key=lambda word: (sum(fold(word) in note for note in notes), whole[fold(word)]))

    names = [entry.title, *aliases, *_without_article([entry.title, *aliases])]
    own = [*_words(entry.title), *(word for key in entry.keys for word in _words(key))]
    sources = (
        names,
        [*rare(own), *rare(_other_forms(own, window))],
        rare(_names(f"{entry.summary}\n{entry.content}")),
        rare(_words(f"{entry.summary}\n{entry.content}")),
        rare(_words(newest)),
    )
    found: dict[str, str] = {}
    for source in sources:
        wanted = (word for word in source if _is_good(fold(word), searched, taken, found))
        for word, _number in zip(wanted, range(_PER_SOURCE), strict=False):
            found.setdefault(fold(word), trim(word))
    return tuple(found.values())[:MOST_IDEAS]


def _is_good(word: str, searched: str, taken: set[str], found: dict[str, str]) -> bool:
    return bool(trim(word)) and word in searched and word not in taken and word not in found


def _words(text: str) -> Iterator[str]:
    for found in _WORD.finditer(text):
        word = re.sub(r"['’]s$", "", found[0]).rstrip("'’-")
        if len(word) >= _SHORTEST and not {"'", "’"} & set(word) and word.casefold() not in COMMON_WORDS:
            yield word


def _names(text: str) -> Iterator[str]:
    """Runs of words that begin with a capital letter, but for single words at the beginning of a sentence."""
    for found in _NAME.finditer(text):
        lead = text[: found.start()].rstrip()
        begins = not lead or lead[-1] in ".!?:#\n" or text[found.start() - 1] == "\n"
        name = found[0].rstrip("'’-")
        if " " in name or (not begins and len(name) >= _SHORTEST and name.casefold() not in COMMON_WORDS):
            yield name


def _without_article(names: Iterable[str]) -> Iterator[str]:
    for name in names:
        first, _, rest = name.partition(" ")
        if first.lower() in {"the", "a", "an"} and rest:
            yield rest


def _other_forms(words: Iterable[str], window: str) -> Iterator[str]:
    """Words of the window that begin as one of `words` does, such as the plural."""
    stems = {fold(word)[: max(_STEM, len(word) - 2)] for word in words}
    for word in _words(window):
        if any(fold(word).startswith(stem) for stem in stems):
            yield word
