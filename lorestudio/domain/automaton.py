"""Finding many words in one pass over a text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Any, Final

import ahocorasick
from msgspec import Struct

from lorestudio.domain.lifecycle import heeding

LONGEST_WORD: Final = 10_000
"""Automatons take longer words apart level by level on the stack, which ends the program at some hundred thousand."""

MOST_WORDS: Final = 75_000
"""Of one automaton, which takes 0.1 s then to be made ready: nothing can stop it meanwhile."""


class WordFinder(Struct, frozen=True):
    """Finds the words of all its automatons, each of which is in one of them."""

    parts: tuple[ahocorasick.Automaton, ...]

    def iter(self, text: str, start: int = 0) -> Iterator[tuple[int, Any]]:
        """Where in the text from `start` on a word ends, with its value; those of each automaton in order."""
        return chain.from_iterable(part.iter(text, start) for part in self.parts)


def automaton_of(words: Mapping[str, object]) -> WordFinder | None:
    """What finds the words and gives the values for them; None where there is nothing to find.

    It does not find those that are empty or longer than LONGEST_WORD. Raises Cancelled.
    """
    parts = []
    short = ((word, value) for word, value in heeding(words.items()) if 0 < len(word) <= LONGEST_WORD)
    while some := tuple(islice(short, MOST_WORDS)):
        automaton = ahocorasick.Automaton()
        for word, value in heeding(some):
            automaton.add_word(word, value)
        automaton.make_automaton()
        parts.append(automaton)
    return WordFinder(tuple(parts)) if parts else None


class WordGroups:
    """Groups of words, of which one pass over a text finds those that can have a word in it.

    A group is None where only trying it tells, and so is one with a word that is empty or longer than LONGEST_WORD.
    Words are in the case of the texts.
    """

    def __init__(self, groups: Iterable[Iterable[str] | None]) -> None:
        words: dict[str, set[int]] = {}
        self._always: set[int] = set()
        for place, group in enumerate(heeding(groups)):
            for word in ("",) if group is None else group:
                if 0 < len(word) <= LONGEST_WORD:
                    words.setdefault(word, set()).add(place)
                else:
                    self._always.add(place)
        self._automaton = automaton_of(words)

    def near(self, text: str) -> list[int]:
        """The places of those groups, in order."""
        found = set(self._always)
        for _end, places in self._automaton.iter(text) if self._automaton is not None else ():
            found |= places
        return sorted(found)
