"""Vectors of texts: who makes them, the stand-in that needs no model, and a file that keeps them by model and text.

Losing the file costs nothing but asking again: one that is damaged or another program's is laid aside, and where it
cannot be read or written just now, vectors are kept in memory. Rules: offline-models 3, 4; hybrid-retrieval 9.1.
"""

from __future__ import annotations

import hashlib
import logging
import re
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Final, Protocol, TypeAlias

import numpy as np
from msgspec import Struct

from lorestudio.domain.lifecycle import Closing, heed, heeding
from lorestudio.domain.resources import OWN_FOLDERS
from lorestudio.domain.sqlite_file import connect, is_damage, set_aside, transaction
from lorestudio.domain.texts import text_digest

Vector: TypeAlias = np.ndarray[tuple[int], np.dtype[np.float64]]

HASH_DIMENSIONS: Final = 256

_WORD: Final = re.compile(r"\w+")
_GRAM: Final = 3


class Embedder(Protocol):
    """Makes vectors. The same text gives the same vector as long as `model_id` is the same."""

    @property
    def model_id(self) -> str:
        """Which model, for caches and traces."""

    @property
    def label(self) -> str:
        """Who it is, for people."""

    async def embed(self, texts: Sequence[str]) -> tuple[Vector, ...]:
        """A vector for each text, in order. Raises LlmError."""


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


logger = logging.getLogger(__name__)

FILE_NAME: Final = "vectors.sqlite"

BATCH: Final = 64
"""So many new vectors are asked for and kept at a time, so that stopping loses no more."""

_SCHEMA: Final = (
    "CREATE TABLE IF NOT EXISTS vectors (model TEXT NOT NULL, digest TEXT NOT NULL, vector BLOB NOT NULL, "
    "PRIMARY KEY (model, digest)) WITHOUT ROWID"
)
_NUMBER: Final = np.dtype(np.float64)
_READ: Final = "SELECT vector FROM vectors WHERE model = ? AND digest = ?"


def default_path() -> Path:
    """Where the vectors are when nothing else is said."""
    return OWN_FOLDERS.user_cache_path / FILE_NAME


class VectorCache(Closing):
    """Vectors in a file, or only in memory without one. One thread at a time."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._lines = self._open()

    def find(self, model: str, texts: Iterable[str]) -> dict[str, Vector]:
        """The vectors that are known, by text; what cannot be read is not."""
        found: dict[str, Vector] = {}
        try:
            for text in heeding(texts):
                row = self._lines.execute(_READ, (model, text_digest(text))).fetchone()
                if row is not None and isinstance(row[0], bytes) and len(row[0]) % _NUMBER.itemsize == 0:
                    found[text] = np.frombuffer(row[0], dtype=_NUMBER)
        except sqlite3.Error as error:
            self._go_on_in_memory(error)
        return found

    def keep(self, model: str, vectors: Iterable[tuple[str, Vector]]) -> None:
        """Keep these vectors, in one step; in memory from now on where the disk does not take them."""
        rows = [(model, text_digest(text), np.asarray(vector, _NUMBER).tobytes()) for text, vector in vectors]
        try:
            self._write(rows)
        except sqlite3.Error as error:
            self._go_on_in_memory(error)
            self._write(rows)

    def _write(self, rows: Sequence[tuple[str, str, bytes]]) -> None:
        with transaction(self._lines):
            self._lines.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)

    def _go_on_in_memory(self, error: Exception) -> None:
        logger.warning("The cache of vectors %s cannot be used now: %s", self._path, error)
        self._lines.close()
        self._lines = connect(None, _prepare)

    def close(self) -> None:
        """Close the file."""
        self._lines.close()

    def _open(self) -> sqlite3.Connection:
        try:
            return connect(self._path, _prepare)
        except (OSError, sqlite3.Error) as error:
            if self._path is None or not is_damage(error, or_other_tables=True):
                logger.warning("The cache of vectors %s cannot be used now: %s", self._path, error)
                return connect(None, _prepare)
        set_aside(self._path)
        return connect(self._path, _prepare)


def _prepare(lines: sqlite3.Connection) -> None:
    lines.execute(_SCHEMA)
    lines.execute(_READ, ("", "")).fetchone()


async def cached_vectors(
    texts: Sequence[str], embedder: Embedder, cache: VectorCache, known: Mapping[str, Vector] = MappingProxyType({})
) -> dict[str, Vector]:
    """The vectors of all texts, asked for only where they are neither `known` nor in the cache; kept batch by batch.

    Known ones that are longer or shorter than those that come are of a model that the server had before: they are asked
    for again. Raises LlmError; what came before is kept.
    """
    different = list(dict.fromkeys(texts))
    here = {text: known[text] for text in different if text in known}
    here |= cache.find(embedder.model_id, [text for text in different if text not in here])
    missing = [text for text in different if text not in here]
    made: dict[str, Vector] = {}
    while missing:
        heed()
        batch, missing = missing[:BATCH], missing[BATCH:]
        vectors = tuple(zip(batch, await embedder.embed(batch), strict=True))
        cache.keep(embedder.model_id, vectors)
        made.update(vectors)
        others = [text for text, vector in here.items() if len(vector) != len(vectors[0][1])]
        missing += others
        for text in others:
            del here[text]
    return here | made
