"""Vectors of texts: who makes them, and the stand-in that needs no model (rules: offline-models 3, 4)."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, Protocol, TypeAlias

import numpy as np
from msgspec import Struct

Vector: TypeAlias = np.ndarray[tuple[int], np.dtype[np.float64]]

HASH_DIMENSIONS: Final = 256

_WORD: Final = re.compile(r"\w+")
_GRAM: Final = 3


class Embedder(Protocol):
    """Makes vectors. The same text gives the same vector as long as `model_id` is the same."""

    @property
    def model_id(self) -> str:
        """Which model, for caches and traces."""
        ...

    @property
    def label(self) -> str:
        """Who it is, for people."""
        ...

    async def embed(self, texts: Sequence[str]) -> tuple[Vector, ...]:
        """A vector for each text, in order. Raises LlmError."""
        ...


class HashEmbedder(Struct, frozen=True):
    """Vectors of words and their letters, by hashing: deterministic, offline, and without any idea of meaning."""

    dimensions: int = HASH_DIMENSIONS

    @property
    def model_id(self) -> str:
        """The method and its size."""
        return f"hash-{self.dimensions}"

    @property
    def label(self) -> str:
        """Says that it is no model."""
        return "offline stand-in (words and letters, no model)"

    async def embed(self, texts: Sequence[str]) -> tuple[Vector, ...]:
        """A vector for each text; zero for a text without words."""
        return tuple(hashed(text, self.dimensions) for text in texts)


def hashed(text: str, dimensions: int = HASH_DIMENSIONS) -> Vector:
    """The hash embedder's vector of a text, of length 1, or zero (rules: offline-models 4)."""
    counts = Counter(_WORD.findall(text.lower()))
    if not counts:
        return np.zeros(dimensions)
    places, weights = zip(*map(_features, counts), strict=True)
    repeated = np.repeat([*counts.values()], [len(each) for each in places])
    told = np.concatenate(weights) * repeated
    vector = np.bincount(np.concatenate(places) % dimensions, told, dimensions).astype(np.float64)
    norm = float(np.linalg.norm(vector))
    return vector / norm if norm else vector


@lru_cache(maxsize=32768)  # the words of a vault come again and again
def _features(word: str) -> tuple[np.ndarray, np.ndarray]:
    """Where a word and its letters count, and how much, all in whole numbers, whose sum knows no order."""
    framed = f"<{word}>"
    grams = {framed[start : start + _GRAM] for start in range(len(word))}
    features = [f"w:{word}", *(f"g:{gram}" for gram in grams)]
    digests = [hashlib.blake2b(each.encode("utf-8", "surrogatepass"), digest_size=8).digest() for each in features]
    signs = [1 if digest[4] & 1 else -1 for digest in digests]
    places = np.array([int.from_bytes(digest[:4], "little") for digest in digests])
    return places, np.array([2 * signs[0], *signs[1:]], dtype=np.float64)


def embeddings_address(base: str) -> str:
    """The address for embeddings from a provider's base address (rules: hybrid-retrieval 6)."""
    trimmed = base.removesuffix("/")
    return trimmed if "/embeddings" in trimmed else f"{trimmed}/embeddings"
