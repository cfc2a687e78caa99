"""BM25 scores exactly as DeepLore computes them (rules: deeplore 3.8, 12.6)."""

from __future__ import annotations

import re
import struct
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain, count
from operator import itemgetter
from typing import TypeAlias

import numpy as np
from msgspec import Struct
from rank_bm25 import BM25

from lorestudio.domain.entry import Entry
from lorestudio.domain.javascript import Json, added, fold, length
from lorestudio.systems.deeplore.matching.kept import NOTHING_KEPT, Kept, Places
from lorestudio.trace.scores import Bm25Figures, TermFigures

K1 = 1.5
B = 0.75
TOP = 20
"""Hits that are kept, best first, before anything else is decided about them."""

_ROUNDING = 1e-9
"""Above what sums of `_MOST_ADDED` terms in another order can be off, as a part of the largest."""

_MOST_ADDED = 100_000
_MOST_BEST = 500
"""Of so many documents every term's part is known."""

_MOST_LINES = 8192
"""Of so many lines the words are known."""

Frequencies: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.float64]]"

_TOKEN = re.compile(r"[^\W_]+")


def tokenize(text: str) -> list[str]:
    """Runs of letters and numbers of the folded text that are at least two code units long."""
    return [token for token in _TOKEN.findall(fold(text)) if len(token) > 1 or length(token) > 1]


@lru_cache(maxsize=8192)
def _log(x: float) -> float:
    """Natural logarithm by the fdlibm algorithm, for finite x >= 1; C libraries differ in the last bit."""
    ln2_high, ln2_low = 6.93147180369123816490e-01, 1.90821492927058770002e-10
    bits: int = struct.unpack("<Q", struct.pack("<d", x))[0]
    high = bits >> 32
    k = (high >> 20) - 1023
    mantissa = high & 0xFFFFF
    i = (mantissa + 0x95F64) & 0x100000
    high = mantissa | (i ^ 0x3FF00000)
    k += i >> 20
    f: float = struct.unpack("<d", struct.pack("<Q", (high << 32) | (bits & 0xFFFFFFFF)))[0] - 1.0
    if ((mantissa + 2) & 0xFFFFF) < 3:
        if f == 0:
            return k * ln2_high + k * ln2_low if k else 0.0
        r = f * f * (0.5 - 0.33333333333333333 * f)
        return k * ln2_high - ((r - k * ln2_low) - f) if k else f - r
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    t1 = w * (3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01))
    t2 = z * (
        6.666666666666735130e-01
        + w * (2.857142874366239149e-01 + w * (1.818357216161805012e-01 + w * 1.479819860510658591e-01))
    )
    r = t2 + t1
    if ((mantissa - 0x6147A) | (0x6B851 - mantissa)) > 0:
        half_square = 0.5 * f * f
        if k:
            return k * ln2_high - ((half_square - (s * (half_square + r) + k * ln2_low)) - f)
        return f - (half_square - s * (half_square + r))
    return k * ln2_high - ((s * (f - r) - k * ln2_low) - f) if k else f - s * (f - r)


class TermScore(Struct, frozen=True, gc=False):  # no part of a cycle; a long window has thousands
    """What one query term adds to a document's score; `row` is the same for a record."""

    term: str
    frequency: int
    idf: float
    score: float
    row: list[Json]


class Scored(Struct, frozen=True):
    """An entry's score for a query, with the terms it is made of in query order."""

    entry: Entry
    score: float
    terms: tuple[TermScore, ...]


class EntryBM25(BM25):  # type: ignore[misc]  # rank-bm25 has no type information
    """rank-bm25's corpus statistics with DeepLore's idf and summation.

    Documents are title, keys and content of every entry, guides included. Two entries of the same vault and file name
    are one document, the later one, but both count in the statistics.

    With a `base`, only documents that are not in `kept` are read; the result is the same as without.
    """

    corpus_size: int
    avgdl: float
    doc_freqs: list[dict[str, int]]
    doc_len: list[int]

    def __init__(self, entries: Sequence[Entry], base: EntryBM25 | None = None, kept: Kept = NOTHING_KEPT) -> None:
        self._entries = tuple(entries)
        base = base if base is not None and base.corpus_size and entries else None
        self._base, self._kept = base, kept
        self._documents_with: dict[str, int] = {}
        self._idfs: dict[str, float] = {}
        self._lines: dict[str, tuple[str, ...]] = {}
        self._sums: tuple[frozenset[str], Frequencies, float, int] = (frozenset(), np.zeros(len(entries)), 0.0, 0)
        self._twins: dict[int, list[int]] = {}
        self._terms: dict[int, dict[str, TermScore]] = {}
        self._weight = np.zeros(0)
        self.corpus_size, self.avgdl = len(entries), 0.0
        if not entries:
            return
        if base is None:
            super().__init__([_document(entry) for entry in entries])
            latest = {(entry.vault, entry.filename or entry.title): place for place, entry in enumerate(entries)}
            for place, entry in enumerate(entries):
                document = latest[entry.vault, entry.filename or entry.title]
                if document != place:
                    self._twins.setdefault(document, []).append(place)
            self._post(sorted(latest.values()))
        else:
            self._derive(base, kept)
        if self.avgdl:
            self._weight = (1 - B) + (B * np.array(self.doc_len, dtype=np.float64)) / self.avgdl

    def _derive(self, base: EntryBM25, kept: Kept) -> None:
        """Take over the statistics of the documents that stayed, and count the others."""
        read: dict[int, dict[str, int]] = {place: Counter(_document(self._entries[place])) for place in kept.new}
        self.doc_freqs = [base.doc_freqs[old] if old >= 0 else read[place] for place, old in enumerate(kept.sources)]
        self.doc_len = [
            base.doc_len[old] if old >= 0 else sum(read[place].values()) for place, old in enumerate(kept.sources)
        ]
        self.avgdl = sum(self.doc_len) / self.corpus_size
        changes: Counter[str] = Counter()
        for frequencies in read.values():
            changes.update(frequencies.keys())
        for old in kept.gone:
            changes.subtract(base.doc_freqs[old].keys())
        self._documents_with = {term: base.document_count(term) + change for term, change in changes.items()}
        self._post(kept.new)

    def _post(self, places: Sequence[int]) -> None:
        """Note for each term which of the documents at these places have it, and how often each does."""
        frequencies = [self.doc_freqs[place] for place in places]
        terms = [*chain.from_iterable(frequencies)]
        self._numbers = {term: number for number, term in enumerate(dict.fromkeys(terms))}
        numbers = np.fromiter(map(self._numbers.__getitem__, terms), np.intp, len(terms))
        counts = np.fromiter(chain.from_iterable(each.values() for each in frequencies), np.float64, len(terms))
        order = np.argsort(numbers, kind="stable")
        self._places = np.repeat(np.array(places, np.intp), [*map(len, frequencies)])[order]
        self._counts = counts[order]
        sizes = np.bincount(numbers, minlength=len(self._numbers) + 1)  # of terms that none has, the last
        self._starts = np.concatenate(([0], np.cumsum(sizes)))

    def _calc_idf(self, nd: dict[str, int]) -> None:
        self._documents_with = nd

    def document_count(self, term: str) -> int:
        """How many documents contain the term."""
        count = self._documents_with.get(term)
        if count is None:
            count = 0 if self._base is None else self._base.document_count(term)
        return count

    def _idf(self, term: str) -> float:
        idf = self._idfs.get(term)
        if idf is None:
            df = self.document_count(term)
            idf = self._idfs[term] = _log((self.corpus_size - df + 0.5) / (df + 0.5) + 1)
        return idf

    def columns(self, terms: Sequence[str]) -> tuple[Places, Places, Frequencies]:
        """Of each term, by its place among these: the documents that contain it, and how often each does."""
        numbers = np.array([self._numbers.get(term, len(self._numbers)) for term in terms])
        starts, sizes = self._starts[numbers], self._starts[numbers + 1] - self._starts[numbers]
        which = np.repeat(np.arange(len(terms)), sizes)
        rows = (starts + sizes - np.cumsum(sizes))[which] + np.arange(len(which))
        places, counts = self._places[rows], self._counts[rows]
        if self._base is None:
            return which, places, counts
        base_which, base_places, base_counts = self._base.columns(terms)
        base_places = self._kept.targets[base_places]
        still = base_places >= 0
        return (
            np.concatenate((base_which[still], which)),
            np.concatenate((base_places[still], places)),
            np.concatenate((base_counts[still], counts)),
        )

    def _parts(self, place: int, terms: Sequence[str]) -> tuple[TermScore, ...]:
        """What each of these terms, which the document at `place` has, adds to its score."""
        known = self._terms.get(place)
        if known is None:  # the best of one turn are mostly those of the next
            if len(self._terms) >= _MOST_BEST:
                self._terms = {}
            known = self._terms[place] = {}
        frequencies, slow = self.doc_freqs[place], K1 * self._weight.item(place)
        for term in terms:
            if term not in known:
                frequency, idf = frequencies[term], self._idf(term)
                score = idf * ((frequency * (K1 + 1)) / (frequency + slow))
                known[term] = TermScore(term, frequency, idf, score, [term, frequency, idf, score])
        return tuple(map(known.__getitem__, terms))

    def figures(self, entry: Entry, query: str) -> Bm25Figures | None:
        """How the entry's score for a query comes about, None where the index has no such document.

        The very numbers of `search`, for any entry, whatever the threshold.
        """
        place = next((at for at, each in enumerate(self._entries) if each is entry), None)
        if place is None or not self.avgdl:
            return None
        asked = dict.fromkeys(tokenize(query))
        scores = self._parts(place, [term for term in asked if term in self.doc_freqs[place]])
        return Bm25Figures(
            added(each.score for each in scores),
            tuple(
                TermFigures(each.term, each.frequency, self.document_count(each.term), each.idf, each.score)
                for each in scores
            ),
            self.doc_len[place],
            self.avgdl,
            self._weight.item(place),
            self.corpus_size,
            len(asked),
            K1,
            B,
        )

    def search(self, query: str, threshold: float, *, guides: bool = True) -> list[Scored]:
        """The best `TOP` entries with a score of at least `threshold`, best first, ties in order of discovery.

        Without `guides` those are passed over.
        """
        asked = dict.fromkeys(chain.from_iterable(map(self._words, query.split("\n"))))
        terms = dict(zip(asked, count()))
        if not terms:
            return []
        near, margin = self._near(frozenset(terms))
        if not guides:
            near = np.where([entry.guide for entry in self._entries], -np.inf, near)
        border = np.partition(near, -TOP)[-TOP] if len(near) > TOP else threshold
        few = [self._scored(place, terms) for place in np.flatnonzero(near >= max(border, threshold) - margin).tolist()]
        found = [(-one.score, where, one) for one, where in few if one.score >= threshold and where is not None]
        return [one for _, _, one in sorted(found, key=itemgetter(0, 1))[:TOP]]

    def _words(self, line: str) -> tuple[str, ...]:
        """The different words of a line that documents have, kept for the next query that it stands in."""
        words = self._lines.get(line)
        if words is None:
            if len(self._lines) >= _MOST_LINES:
                self._lines = {}
            asked = dict.fromkeys(tokenize(line))
            words = self._lines[line] = tuple([term for term in asked if self.document_count(term)])
        return words

    def _near(self, terms: frozenset[str]) -> tuple[Frequencies, float]:
        """About the scores of all documents, and by how much they may be off: summed in any order.

        It goes on from the query before, so that what a chat costs is what is new in its window and what fell out.
        """
        before, sums, peak, added = self._sums
        changes = [(term, 1) for term in terms - before] + [(term, -1) for term in before - terms]
        if len(changes) > len(terms) or added > _MOST_ADDED:
            before, sums, peak, added = frozenset(), np.zeros(len(self._entries)), 0.0, 0
            changes = [(term, 1) for term in terms]
        if changes:
            which, places, counts = self.columns([term for term, _ in changes])
            idfs = np.array([sign * self._idf(term) for term, sign in changes])
            weights = idfs[which] * ((counts * (K1 + 1)) / (counts + K1 * self._weight[places]))
            sums = sums + np.bincount(places, weights, len(sums))
            peak, added = max(peak, float(sums.max())), added + len(changes)
            self._sums = terms, sums, peak, added  # one assignment: any thread finds what belongs together
        return sums, _ROUNDING * peak

    def _scored(self, place: int, terms: Mapping[str, int]) -> tuple[Scored, tuple[int, int] | None]:
        """The score of a document, and where it is discovered, if it is: at which term, and in which entry.

        Added one after the other, in query order, because the last bit depends on it.
        """
        found = sorted(self.doc_freqs[place].keys() & terms.keys(), key=terms.__getitem__)
        parts = self._parts(place, found)
        rows = (place, *self._twins.get(place, ()))
        first = (next(((at, row) for term, at in terms.items() if term in self.doc_freqs[row]), None) for row in rows)
        where = min(filter(None, first), default=None)
        return Scored(self._entries[place], added(part.score for part in parts), parts), where


def _document(entry: Entry) -> list[str]:
    return tokenize(f"{entry.title} {' '.join(entry.keys)} {entry.content}")
