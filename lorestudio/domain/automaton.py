"""Finding many words in one pass over a text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import ahocorasick

LONGEST_WORD: Final = 10_000
"""Automatons take longer words apart level by level on the stack, which ends the program at some hundred thousand."""


def automaton_of(words: Mapping[str, object]) -> ahocorasick.Automaton | None:
    """What finds the words and gives the values for them; None where there is nothing to find.

    It does not find those that are longer than LONGEST_WORD.
    """
    automaton = ahocorasick.Automaton()
    for word, value in words.items():
        if len(word) <= LONGEST_WORD:
            automaton.add_word(word, value)
    if not len(automaton):
        return None
    automaton.make_automaton()
    return automaton


class WordGroups:
    """Groups of words, of which one pass over a text finds those that can have a word in it.

    A group is None where only trying it tells, and so is one with a word that is empty or longer than LONGEST_WORD.
    Words are in the case of the texts.
    """

    def __init__(self, groups: Iterable[Iterable[str] | None]) -> None:
        words: dict[str, set[int]] = {}
        self._always: set[int] = set()
        for place, group in enumerate(groups):
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
