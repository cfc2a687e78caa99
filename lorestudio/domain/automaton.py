"""Finding many words in one pass over a text."""

from __future__ import annotations

from collections.abc import Mapping
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
