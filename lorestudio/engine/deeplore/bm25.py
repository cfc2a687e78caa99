"""BM25 scores exactly as DeepLore computes them (spec: deeplore-engine 3.8, 12.6)."""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from rank_bm25 import BM25

from lorestudio.domain.entry import Entry
from lorestudio.domain.javascript import fold, length

K1 = 1.5
B = 0.75
TOP = 20
"""Hits that are kept, best first, before anything else is decided about them."""

Places: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.intp]]"
Weights: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.float64]]"

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


@dataclass(frozen=True, slots=True)
class TermScore:
    """What one query term adds to a document's score."""

    term: str
    frequency: int
    idf: float
    score: float


@dataclass(frozen=True, slots=True)
class Scored:
    """An entry's score for a query, with the terms it is made of in query order."""

    entry: Entry
    score: float
    terms: tuple[TermScore, ...]


class EntryBM25(BM25):  # type: ignore[misc]  # rank-bm25 has no type information
    """rank-bm25's corpus statistics with DeepLore's idf and summation.

    Documents are title, keys and content of every entry, guides included. Two entries of the same vault and file name
    are one document, the later one, but both count in the statistics.
    """

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._entries = tuple(entries)
        self._idf: dict[str, float] = {}
        self._postings: dict[str, list[int]] = {}
        self._weighted: dict[str, tuple[Places, Weights]] = {}
        if not entries:
            return
        super().__init__([tokenize(f"{entry.title} {' '.join(entry.keys)} {entry.content}") for entry in entries])
        latest = {(entry.vault, entry.filename or entry.title): place for place, entry in enumerate(entries)}
        documents = [latest[entry.vault, entry.filename or entry.title] for entry in entries]
        for place, frequencies in zip(documents, self.doc_freqs, strict=True):
            for term in frequencies:
                self._postings.setdefault(term, []).append(place)

    def _calc_idf(self, nd: dict[str, int]) -> None:
        count = self.corpus_size
        self._idf = {term: _log((count - df + 0.5) / (df + 0.5) + 1) for term, df in nd.items()}

    def _weights(self, term: str) -> tuple[Places, Weights]:
        """The documents that contain the term, in order of discovery, and what it adds to the score of each."""
        if term not in self._weighted:
            places = list(dict.fromkeys(self._postings[term]))
            scores = [self._term(term, place).score for place in places]
            self._weighted[term] = np.array(places, dtype=np.intp), np.array(scores)
        return self._weighted[term]

    def _term(self, term: str, place: int) -> TermScore:
        frequency = self.doc_freqs[place].get(term, 0)
        weight = (1 - B) + (B * self.doc_len[place]) / self.avgdl
        score = self._idf[term] * ((frequency * (K1 + 1)) / (frequency + K1 * weight))
        return TermScore(term, frequency, self._idf[term], score)

    def search(self, query: str, threshold: float, *, guides: bool = True) -> list[Scored]:
        """The best `TOP` entries with a score of at least `threshold`, best first, ties in order of discovery.

        Without `guides` those are passed over.
        """
        terms = [term for term in dict.fromkeys(tokenize(query)) if term in self._postings]
        scores = np.zeros(len(self._entries))
        found = np.zeros(len(self._entries), dtype=bool)
        discovered: list[Places] = []
        for term in terms:  # one addition a term, in query order, as the last bit depends on it
            places, weights = self._weights(term)
            scores[places] += weights
            discovered.append(places[~found[places]])
            found[places] = True
        if not discovered:
            return []
        order = np.concatenate(discovered)
        order = order[scores[order] >= threshold]
        if not guides:
            order = order[[not self._entries[place].guide for place in order.tolist()]]
        best = order[np.argsort(-scores[order], kind="stable")[:TOP]]
        return [
            Scored(
                self._entries[place],
                float(scores[place]),
                tuple(self._term(term, place) for term in terms if term in self.doc_freqs[place]),
            )
            for place in best.tolist()
        ]
