"""Tokens of the context window, counted by a heuristic over a word list, no tokenizer, and what is cut to so many.

Texts and lists are cut top, bottom or middle (rules: context-window 2, 3), elements and turns also with what a text
mentions first (rules: context-window 10, 11). Lengths are UTF-16 code units. A unit is a letter where its category is
one of Lu, Ll, Lt, Lm and Lo; both halves of a surrogate pair are none.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from functools import lru_cache
from itertools import accumulate, takewhile
from pathlib import Path
from typing import Final, TypeAlias

from msgspec import Struct

from lorestudio.domain.javascript import as_units
from lorestudio.domain.records import Terse, grouped
from lorestudio.domain.texts import text_digest
from lorestudio.domain.tokens import TokenCounter
from lorestudio.settings.contextwindow import ContextWindowSettings

LONGEST_WORD: Final = 50
"""No longer entry of the word list is looked for."""

MOST_UNITS: Final = 10_000
"""A piece longer than this is counted by its length alone (rules: context-window 18)."""

CountTokens: TypeAlias = Callable[[str], int]
"""Tokens of a text."""

_LETTERS: Final = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo"})


class WordList(Terse, frozen=True):
    """Words that cost one token each, in lower case. `digest` tells one list from another."""

    unprinted = ("words",)

    name: str
    words: frozenset[str]
    digest: str = ""

    @classmethod
    def of(cls, name: str, lines: Iterable[str]) -> WordList:
        """The list of these lines; blank ones are dropped, nothing else is cleaned (rules: context-window 2.1)."""
        words = frozenset(line.lower() for line in lines if line)
        digest = text_digest("\n".join(sorted(words)))[:8]
        return cls(name, words, digest)

    @classmethod
    def read(cls, path: Path) -> WordList:
        """The list in a file, a word a line. Raises OSError and UnicodeDecodeError."""
        return cls.of(path.name, path.read_text(encoding="utf-8").splitlines())


class WordListCounter:
    """Counts the tokens of a text. The same object gives the same counts; it may be used in every thread."""

    exact: Final = False

    def __init__(self, words: WordList, settings: ContextWindowSettings | None = None) -> None:
        self.words = words
        self.settings = settings or ContextWindowSettings()
        self.name = f"word list {words.name}"
        self.identity = f"word list {words.digest} {self.settings!r}"
        self._count = lru_cache(maxsize=20_000)(self._counted)

    def count(self, text: str) -> int:
        """Tokens of a text, 0 for the empty one; an estimate."""
        return self._count(text)

    def _counted(self, text: str) -> int:
        if not text:
            return 0
        total = sum(self._piece(piece, first=not place) for place, piece in enumerate(text.split(" ")))
        return math.floor(total * (1.0 + self.settings.token_counting_bias) + 0.5)

    def _piece(self, piece: str, *, first: bool) -> int:
        """Tokens of what stands between two spaces: at least one where anything does."""
        if not piece:
            return 0
        units = as_units(piece)
        if len(units) > MOST_UNITS:
            return self._by_length(len(units))
        return sum(self._parts(units, first=first and self.settings.count_sub_words_in_first_word)) or 1

    def _parts(self, units: str, *, first: bool) -> Iterator[int]:
        """Tokens of the entries of the list and of what lies between and behind them, one after the other."""
        options = self.settings
        lowered = "".join(low if len(low := unit.lower()) == 1 else unit for unit in units)
        letters = [unicodedata.category(unit) in _LETTERS for unit in units]
        at, end = 0, len(units)
        while at < end:
            if not letters[at]:
                after = _run(letters, at)
                yield self._by_length(after - at)
                at = after
                continue
            found = self._match(lowered, letters, at, first=first)
            if not found:
                yield self._by_length(end - at)
                return
            yield 1
            if options.count_only_first_word_found:
                return
            at += found
            gap = options.split_for_non_word_char and at < end and not letters[at]
            if gap:
                after = _run(letters, at)
                yield self._by_length(after - at)
                at = after
            if (gap or options.always_split_if_whole_word_exists) and at < end and not options.count_sub_words_if_split:
                yield self._by_length(end - at)
                return

    def _match(self, lowered: str, letters: list[bool], at: int, *, first: bool) -> int:
        """How many units an entry of the list takes up at the front, 0 where there is none."""
        if first:  # the longest anywhere; only its length counts, wherever it was found
            return max((self._longest(lowered, start) for start in range(at, len(lowered))), default=0)
        if self.settings.favor_whole_words:
            return self._longest(lowered, at, whole=letters)
        return self._longest(lowered, at)

    def _longest(self, lowered: str, at: int, whole: list[bool] | None = None) -> int:
        end = len(lowered)
        for length in range(min(LONGEST_WORD, end - at), 0, -1):
            if whole is not None and at + length < end and whole[at + length]:
                continue
            if lowered[at : at + length] in self.words.words:
                return length
        return 0

    def _by_length(self, units: int) -> int:
        return -(-units // self.settings.non_word_split_count)


def _run(letters: list[bool], at: int) -> int:
    """Where the run of non-letters that begins at `at` ends."""
    while at < len(letters) and not letters[at]:
        at += 1
    return at


class Method(StrEnum):
    """What is dropped when not everything fits."""

    TOP = "TruncateTop"
    BOTTOM = "TruncateBottom"
    MIDDLE = "TruncateMiddle"


class CutReason(StrEnum):
    """What became of one item of a list that was cut, and why, as the reason for an element tells it."""

    WITHIN_LIMIT = "all of them fit"
    FITS = "it fits"
    MISFIT_STOP = "with it they no longer fit, and the cut begins"
    AFTER_STOP = "the cut began before it"
    MISFIT_SKIPPED = "it does not fit into its half"
    NO_BUDGET = "what the text mentions took them all"
    KEPT_ELSEWHERE = "the same text counts once"


class CutItem(Struct, frozen=True, gc=False):
    """One item of a list: its place in the list before, its tokens, whether it is kept, and why."""

    place: int
    tokens: int
    kept: bool
    reason: CutReason


def effective(limit: int, multiplier: int) -> int:
    """The limit in tokens; a multiplier of 0 or less is none."""
    return limit * multiplier if multiplier > 0 else limit


def half(value: int, parts: int = 2) -> int:
    """Integer division toward zero, also for negative budgets (rules: context-window 18)."""
    return value // parts if value >= 0 else -(-value // parts)


def cut(costs: Sequence[int], limit: int, method: Method) -> tuple[CutItem, ...]:
    """What is kept of items that cost so many tokens each, in their order; items are never cut themselves.

    Cutting in the middle can drop something though all of it would fit: each end has half of the limit.
    """
    pairs = enumerate(zip(costs, _reasons(costs, limit, method), strict=True))
    return tuple(CutItem(place, cost, reason is CutReason.FITS, reason) for place, (cost, reason) in pairs)


def _reasons(costs: Sequence[int], limit: int, method: Method) -> list[CutReason]:
    room = half(limit) if method is Method.MIDDLE else limit
    stop = fitting(reversed(costs) if method is Method.TOP else costs, room)
    reasons = [CutReason.FITS] * stop + [CutReason.MISFIT_STOP] + [CutReason.AFTER_STOP] * len(costs)
    del reasons[len(costs) :]
    if method is Method.TOP:
        reasons.reverse()
    elif method is Method.MIDDLE:
        total = 0
        for place in reversed(range(stop, len(costs))):
            fits = total + costs[place] <= room
            total += costs[place] if fits else 0
            reasons[place] = CutReason.FITS if fits else CutReason.MISFIT_SKIPPED
    return reasons


def fitting(costs: Iterable[int], limit: int) -> int:
    """How many of the costs fit one after the other; none behind the first that does not fit is looked at."""
    return sum(1 for _ in takewhile(limit.__ge__, accumulate(costs)))


def truncated_list(
    texts: Sequence[str], limit: int, multiplier: int, method: Method, counter: TokenCounter
) -> tuple[CutItem, ...]:
    """What is kept of a list of texts: all of it where it fits (rules: context-window 3.2)."""
    costs, room = [counter.count(text) for text in texts], effective(limit, multiplier)
    return whole(costs) if sum(costs) <= room else cut(costs, room, method)


def whole(costs: Sequence[int]) -> tuple[CutItem, ...]:
    """All items kept."""
    return tuple(CutItem(place, cost, True, CutReason.WITHIN_LIMIT) for place, cost in enumerate(costs))


_NO_WORD: Final = re.compile("[^A-Za-z0-9_]+")


class Cutting(Struct, frozen=True):
    """How a list is cut. `text` with `preserve`: what shares a word with it is kept before all others."""

    limit: int
    multiplier: int = 0
    method: Method = Method.TOP
    text: str = ""
    preserve: bool = False
    source_compatible: bool = False

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the text, in lower case: runs of unaccented letters, digits and underscores."""
        return tuple(word for word in _NO_WORD.split(self.text.lower()) if word) if self.preserve else ()


class CutList(Struct, frozen=True):
    """What became of a list: `items` by place in the list before, `order` the places kept, as they stand now.

    `tokens` are those of what is kept. A conversation has no items: nobody asks for each of thousands of turns.
    """

    items: tuple[CutItem, ...] = ()
    order: tuple[int, ...] = ()
    tokens: int = 0

    @classmethod
    def of(cls, items: tuple[CutItem, ...]) -> CutList:
        """Those kept in the order that they have."""
        kept = [item for item in items if item.kept]
        return cls(items, tuple(item.place for item in kept), sum(item.tokens for item in kept))


def cut_elements(elements: Sequence[str], how: Cutting, counter: TokenCounter) -> CutList:
    """Which elements stay; all of them where the limit is 0 or less."""
    if how.limit <= 0:
        return CutList.of(whole([counter.count(text) for text in elements]))
    if how.words:
        return _preserving(elements, how, counter)
    return CutList.of(truncated_list(elements, how.limit, how.multiplier, how.method, counter))


def cut_turns(texts: Sequence[str], how: Cutting, counter: TokenCounter, known: CountTokens | None = None) -> CutList:
    """Which turns of these texts stay. Without words to preserve, one stays as soon as one of the same text does.

    `known` counts as the counter does and remembers.
    """
    if how.words:
        return cut_elements(texts, how, counter)
    count, room, kept = known or counter.count, effective(how.limit, how.multiplier), texts
    if how.limit > 0 and how.method is Method.MIDDLE:
        every = list(map(count, texts))
        if sum(every) > room:
            reasons = _reasons(every, room, how.method)
            kept = [text for text, reason in zip(texts, reasons, strict=True) if reason is CutReason.FITS]
    elif how.limit > 0:  # what is cut away of a long chat is not counted
        inward = list(texts if how.method is Method.BOTTOM else reversed(texts))
        kept = inward[: fitting(map(count, inward), room)]
    costs = {text: count(text) for text in kept}
    order = tuple(place for place, text in enumerate(texts) if text in costs)
    return CutList((), order, sum(costs[texts[place]] for place in order))


def _preserving(texts: Sequence[str], how: Cutting, counter: TokenCounter) -> CutList:
    """What matches first, then what is left of the budget for the others (rules: context-window 10, 17 row 16).

    The original compares with the limit as it is and cuts with the multiplied one; here both are the multiplied one.
    """
    words, lowered = how.words, [text.lower() for text in texts]
    mentioned = [any(word in low for word in words) for low in lowered]
    matching, others = ([place for place, is_one in enumerate(mentioned) if is_one is first] for first in (True, False))
    limit, multiplier = how.limit, how.multiplier
    if not how.source_compatible:
        limit, multiplier = effective(limit, multiplier), 0
    costs = [counter.count(text) for text in texts]
    fits = sum(costs[place] for place in matching) <= limit
    items = [CutItem(place, cost, False, CutReason.NO_BUDGET) for place, cost in enumerate(costs)]

    def kept(group: Sequence[int], room: int, multiplier: int) -> list[int]:
        """The places kept of a group: for each text that survives the earliest one that has it."""
        chosen = truncated_list([texts[place] for place in group], room, multiplier, how.method, counter)
        earliest = {text: iter(same) for text, same in grouped((texts[place], place) for place in group).items()}
        stay = [next(earliest[texts[group[item.place]]]) for item in chosen if item.kept]
        staying = set(stay)
        for item in chosen:
            place, stays = group[item.place], group[item.place] in staying
            reason = item.reason if stays is item.kept else CutReason.KEPT_ELSEWHERE
            items[place] = CutItem(place, item.tokens, stays, reason)
        return stay

    first = kept(matching, limit, 0 if fits else multiplier)
    remaining = limit - sum(costs[place] for place in first)
    second = kept(others, remaining, multiplier) if remaining > 0 else []
    return CutList(tuple(items), (*first, *second), sum(costs[place] for place in (*first, *second)))
