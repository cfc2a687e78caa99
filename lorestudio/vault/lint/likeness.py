"""Titles that nearly say the same, found without comparing every title with every other.

Texts are as alike as `fuzz.ratio` says: the fewer characters have to be taken out of both until the rest is the same,
the more alike they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from rapidfuzz import fuzz, process
from rapidfuzz.distance import Indel

NEAR: Final = 88
"""Titles that resemble each other so much (0 to 100) are likely the same name, once misspelled."""

FEW: Final = 500
"""So many titles are compared sooner than looked up."""

_SLIGHT: Final = 2
"""Characters that differ in most mistakes: a letter too many, one too few, or another one."""

_Parts = Callable[[str], Sequence[str]]


def _pairs(text: str) -> list[str]:
    return [text[place : place + 2] for place in range(len(text) - 1)]


def _shortened(text: str) -> list[str]:
    """The text without each of its characters in turn."""
    return [text[:place] + text[place + 1 :] for place in range(len(text))]


class Titles:
    """Titles in lower case, kept by first character and length, for the most similar one to be asked for."""

    def __init__(self, titles: Iterable[str]) -> None:
        self._by_shape: dict[tuple[str, int], list[str]] = {}
        for title in titles:
            self._by_shape.setdefault((title[:1], len(title)), []).append(title)
        self._by_part: dict[tuple[str, int, _Parts], dict[str, list[int]]] = {}

    def nearest(self, title: str) -> str:
        """The title most like this one, of equals the shortest and then the first; "" where none is near.

        The first letter has to be right.
        """
        size = len(title)
        # What differs more is less alike than these, so they alone are enough where one of them is found.
        found = self._best(title, {size - 1: 1, size: 2, size + 1: 1, size + 2: 2})
        if found and Indel.distance(title, found) <= _SLIGHT:
            return found
        widest = 2 * size * (100 - NEAR) // NEAR
        return self._best(title, {length: size + length for length in range(max(size - widest, 1), size + widest + 1)})

    def _best(self, title: str, most: Mapping[int, int]) -> str:
        """The nearest of the titles of these lengths, each with how many characters may differ at most."""
        names = [name for length, upto in most.items() for name in self._candidates(title, length, upto)]
        best = process.extractOne(title, names, scorer=fuzz.ratio, score_cutoff=NEAR)
        return "" if best is None else str(best[0])

    def _candidates(self, title: str, length: int, most: int) -> Sequence[str]:
        """Titles of that length, among them all near ones that differ from this one in so many characters at most."""
        names = self._by_shape.get((title[:1], length), [])
        differing = min(most, (len(title) + length) * (100 - NEAR) // 100)
        mine, yours = (differing + len(title) - length) // 2, (differing - len(title) + length) // 2
        if mine < 0 or yours < 0:  # the lengths alone differ by more
            return ()
        if len(names) <= FEW:
            return names
        if mine == yours == 1:
            parts, needed = _shortened, len(title)
        else:  # what this title has more breaks two of its pairs, what it lacks breaks one; the others are found
            parts, needed = _pairs, 2 * mine + yours + 1
        sharing = self._sharing(title[:1], length, parts)
        places = sorted((sharing.get(part, []) for part in parts(title)), key=len)[:needed]
        return names if len(places) < needed else [names[place] for place in sorted(set().union(*places))]

    def _sharing(self, start: str, length: int, parts: _Parts) -> Mapping[str, list[int]]:
        """The places of the titles of that shape, by their parts."""
        found = self._by_part.get((start, length, parts))
        if found is None:
            found = self._by_part[start, length, parts] = {}
            for place, name in enumerate(self._by_shape[start, length]):
                for part in dict.fromkeys(parts(name)):
                    found.setdefault(part, []).append(place)
        return found
