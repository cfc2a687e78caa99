"""Comparing vectors: exact where a decision hangs on it, quick over many (rules: fact-memory 2, 9.3, 9.7).

What is decided is decided on sums taken one after the other from the first place on, in ordinary doubles. Over many
rows a matrix product in single precision finds the few that can matter, and only those are summed exactly.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Final

import numpy as np
from msgspec import Struct

from lorestudio.llm.embedding import Vector
from lorestudio.systems.facts.records import FactAction, FactError, Memory

DEDUPLICATION: Final = 0.92
SUPERSEDE: Final = 0.75

NO_VECTOR: Final = "Cannot read properties of undefined (reading 'length')"
"""What strict mode says where a vector is missing altogether, as the original's runtime puts it."""

_ROUNDING: Final = 1.5e-7
"""Above the error that a place of a vector of length 1 adds to a product in single precision, on both sides."""


class Best(Struct, frozen=True):
    """The row most similar to a vector."""

    index: int
    similarity: float


def cosine(a: Vector, b: Vector) -> float:
    """The cosine of two vectors; 0 where one of them is zero. Raises FactError for lengths that differ or are 0."""
    if len(a) != len(b):
        raise FactError(f"Vector dimension mismatch: {len(a)} vs {len(b)}")
    if not len(a):
        raise FactError("Cannot compute cosine similarity of zero-length vectors")
    return float(_exact(b[np.newaxis, :], a)[0])


class VectorTable:
    """The vectors of many rows, ready to be compared with others.

    Rows without a vector keep their number and are passed over. In safe mode so are rows whose vector has another
    length; `stale` counts them (rules: fact-memory 2 S1). In strict mode such a row ends the comparison with an error.
    """

    def __init__(self, vectors: Sequence[Vector | None]) -> None:
        self._vectors = vectors
        self._lengths = np.array([-1 if vector is None else len(vector) for vector in vectors], dtype=np.int64)
        self._groups: dict[int, tuple[np.ndarray, np.ndarray]] = {}  # in single precision

    def __len__(self) -> int:
        return len(self._vectors)

    def stale(self, vector: Vector) -> int:
        """How many rows have a vector of another length."""
        return int(np.count_nonzero((self._lengths >= 0) & (self._lengths != len(vector))))

    def check(self, vector: Vector, rows: np.ndarray | None = None, unasked: Collection[int] = frozenset()) -> None:
        """Raise FactError for the first row that strict mode cannot compare: see `cosine`, and `unasked` rows.

        `rows` narrows; `unasked` are those whose vector is missing altogether.
        """
        suspect = (self._lengths >= 0) & ((self._lengths != len(vector)) | (self._lengths == 0))
        wrong = set(np.flatnonzero(suspect).tolist()) | set(unasked)
        if rows is not None:
            wrong &= set(rows.tolist())
        if not wrong:
            return
        first = min(wrong)
        if first in unasked:
            raise FactError(NO_VECTOR)
        if self._lengths[first] != len(vector):
            raise FactError(f"Vector dimension mismatch: {len(vector)} vs {self._lengths[first]}")
        raise FactError("Cannot compute cosine similarity of zero-length vectors")

    def best_of(self, vectors: Sequence[Vector], *, strict: bool) -> list[Best | None]:
        """For each vector the row it is most similar to: the greatest, the first among equals, above -1."""
        found: list[Best | None] = [None] * len(vectors)
        for length in {len(vector) for vector in vectors}:
            places = [place for place, vector in enumerate(vectors) if len(vector) == length]
            if strict:
                self.check(vectors[places[0]])
            rows, matrix = self._group(length)
            if not length or not len(rows):
                continue
            near = matrix @ _normalised(np.array([vectors[place] for place in places])).T
            for column, place in enumerate(places):
                found[place] = self._exact_best(rows, near[:, column], vectors[place])
        return found

    def search(self, vector: Vector, limit: int | None, rows: np.ndarray | None = None) -> list[Best]:
        """The `limit` most similar rows (all without one), most similar first, equal ones in order; `rows` narrows."""
        numbers, matrix = self._group(len(vector))
        if not len(vector) or not len(numbers) or limit == 0:
            return []
        near = matrix @ _normalised(vector[np.newaxis, :])[0]
        if rows is not None:
            kept = np.isin(numbers, rows)
            numbers, near = numbers[kept], near[kept]
        if not len(numbers):
            return []
        if limit is not None and 0 < limit < len(numbers):
            border = np.partition(near, len(near) - limit)[len(near) - limit]
            numbers = numbers[~(near < border - _margin(vector))]
        scores = _exact(np.array([self._vectors[int(number)] for number in numbers]), vector)
        order = np.argsort(-scores, kind="stable")
        return [Best(int(numbers[place]), float(scores[place])) for place in order[:limit]]

    def _exact_best(self, rows: np.ndarray, near: np.ndarray, vector: Vector) -> Best | None:
        finite = near[~np.isnan(near)]
        if not len(finite):
            return None
        few = rows[near >= finite.max() - _margin(vector)]
        scores = _exact(np.array([self._vectors[int(row)] for row in few]), vector)
        best, found = -1.0, None
        for row, score in zip(few, scores, strict=True):
            if score > best:
                best, found = float(score), int(row)
        return None if found is None else Best(found, best)

    def _group(self, length: int) -> tuple[np.ndarray, np.ndarray]:
        """The numbers of the rows whose vectors have this length, and their vectors at length 1."""
        known = self._groups.get(length)
        if known is None:
            rows = np.flatnonzero(self._lengths == length)
            vectors = [vector for row in rows if (vector := self._vectors[int(row)]) is not None]
            matrix = np.concatenate(vectors or [np.empty(0)], dtype=np.float64).reshape(len(rows), length)
            known = self._groups[length] = (rows, _normalised(matrix))
        return known


def classify(best: Best | None, deduplication: float = DEDUPLICATION, supersede: float = SUPERSEDE) -> FactAction:
    """Skip, supersede or save by the two thresholds, borders inclusive, the first one first
    (rules: fact-memory 9.3).
    """
    if best is not None and best.similarity >= deduplication:
        return FactAction.SKIP
    return FactAction.SUPERSEDE if best is not None and best.similarity >= supersede else FactAction.SAVE


def greater(one: Best | None, other: Best | None) -> Best | None:
    """The greater of two, the first among equals."""
    if one is None or (other is not None and other.similarity > one.similarity):
        return other
    return one


def _margin(vector: Vector) -> float:
    """How far two products in single precision can be out against each other."""
    return 2 * _ROUNDING * (len(vector) + 4)


def _normalised(matrix: np.ndarray) -> np.ndarray:
    """The rows at length 1, in single precision."""
    with np.errstate(all="ignore"):
        lengths = np.sqrt(np.einsum("ij,ij->i", matrix, matrix))
        lengths[lengths == 0] = 1
        scaled = np.empty(matrix.shape, np.float32)
        np.divide(matrix, lengths[:, np.newaxis], out=scaled, casting="same_kind")
    return scaled


def _exact(rows: np.ndarray, vector: Vector) -> np.ndarray:
    """The cosines of the rows with the vector, each sum taken from the first place on."""
    with np.errstate(all="ignore"):
        dots = np.add.accumulate(rows * vector, axis=1)[:, -1]
        squares = np.add.accumulate(rows * rows, axis=1)[:, -1]
        own = float(np.add.accumulate(vector * vector)[-1])
        below = math.sqrt(own) * np.sqrt(squares) if own >= 0 else squares * math.nan
        result: np.ndarray = np.where(below == 0, 0.0, dots / below)
    return result


def comparable(memory: Memory, model: str) -> bool:
    """Whether a memory's vector was made by this model; where either is unknown, its length alone decides."""
    return not model or not memory.vector_model or memory.vector_model == model
