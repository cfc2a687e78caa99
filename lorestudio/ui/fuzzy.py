"""Finding names by a few of their letters, for the command palette and the quick switcher."""

from __future__ import annotations

from collections.abc import Iterable

_START_OF_WORD, _IN_A_ROW, _WHOLE = 8, 5, 40


def score(query: str, text: str) -> int | None:
    """How well `query` fits `text`: None where its letters do not occur in order; letters at word starts count most."""
    wanted, name = query.casefold().replace(" ", ""), text.casefold()
    if not wanted:
        return 0
    best: int | None = None
    for start in (place for place, letter in enumerate(name) if letter == wanted[0]):
        points = _score_from(wanted, name, start)
        if points is not None and (best is None or points > best):
            best = points
    if best is not None and query.casefold() in name:
        best += _WHOLE
    return best


def _score_from(wanted: str, name: str, start: int) -> int | None:
    points, place, before = 0, start, -2
    for letter in wanted:
        place = _best_place(name, letter, place)
        if place < 0:
            return None
        if place == 0 or not name[place - 1].isalnum():
            points += _START_OF_WORD
        if place == before + 1:
            points += _IN_A_ROW
        before, place = place, place + 1
    return points - start - len(name) // 8


def _best_place(name: str, letter: str, start: int) -> int:
    """The next place of `letter`: the start of a following word before one inside a word."""
    plain = name.find(letter, start)
    if plain < 0 or plain == start:
        return plain
    word = plain
    while word >= 0:
        if not name[word - 1].isalnum():
            return word
        word = name.find(letter, word + 1)
    return plain


def ranked(query: str, texts: Iterable[str]) -> list[int]:
    """The places of the texts that fit, best first; equally good ones stay in order."""
    scored = ((score(query, text), place) for place, text in enumerate(texts))
    return [place for _points, place in sorted((-points, place) for points, place in scored if points is not None)]
