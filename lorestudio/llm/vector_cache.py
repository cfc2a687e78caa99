"""Vectors kept from one start of the studio to the next, by model and text (rules: hybrid-retrieval 9.1).

Losing the file costs nothing but asking again, so a damaged one is laid aside.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import numpy as np
import platformdirs

from lorestudio.domain.lifecycle import Closing
from lorestudio.llm.embedding import Embedder, Vector, text_digest

FILE_NAME: Final = "vectors.sqlite"

BATCH: Final = 64
"""So many new vectors are asked for and kept at a time, so that stopping loses no more."""

_SCHEMA: Final = (
    "CREATE TABLE IF NOT EXISTS vectors (model TEXT NOT NULL, digest TEXT NOT NULL, vector BLOB NOT NULL, "
    "PRIMARY KEY (model, digest)) WITHOUT ROWID"
)
_READ: Final = "SELECT vector FROM vectors WHERE model = ? AND digest = ?"


def default_path() -> Path:
    """Where the vectors are when nothing else is said."""
    return platformdirs.user_cache_path("lorestudio", appauthor=False) / FILE_NAME


class VectorCache(Closing):
    """Vectors in a file, or only in memory without one. One thread at a time."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._lines = self._open()

    def find(self, model: str, texts: Iterable[str]) -> dict[str, Vector]:
        """The vectors that are known, by text."""
        found: dict[str, Vector] = {}
        for text in texts:
            row = self._lines.execute(_READ, (model, text_digest(text))).fetchone()
            if row is not None:
                found[text] = np.frombuffer(row[0], dtype=np.float64)
        return found

    def keep(self, model: str, vectors: Iterable[tuple[str, Vector]]) -> None:
        """Keep these vectors, in one step. Raises OSError where the disk does not take them."""
        rows = [(model, text_digest(text), np.asarray(vector, np.float64).tobytes()) for text, vector in vectors]
        try:
            with self._lines:
                self._lines.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)
        except sqlite3.OperationalError as error:
            raise OSError(f"{self._path or 'the cache of vectors'}: {error}") from None

    def close(self) -> None:
        """Close the file."""
        self._lines.close()

    def _open(self) -> sqlite3.Connection:
        if self._path is None:
            return self._prepared(":memory:")
        self._path.parent.mkdir(parents=True, exist_ok=True)
        try:
            return self._prepared(str(self._path))
        except sqlite3.DatabaseError:
            aside = self._path.with_suffix(".damaged")
            with contextlib.suppress(FileNotFoundError):
                self._path.replace(aside)
            return self._prepared(str(self._path))

    @staticmethod
    def _prepared(path: str) -> sqlite3.Connection:
        lines = sqlite3.connect(path, check_same_thread=False)
        try:
            lines.execute("PRAGMA journal_mode=WAL")
            lines.execute("PRAGMA synchronous=NORMAL")
            lines.execute(_SCHEMA)
        except sqlite3.Error:
            lines.close()
            raise
        return lines


async def cached_vectors(texts: Sequence[str], embedder: Embedder, cache: VectorCache) -> dict[str, Vector]:
    """The vectors of all texts, asked for only where they are not known; kept batch by batch.

    Raises LlmError; what came before is kept.
    """
    different = list(dict.fromkeys(texts))
    known = cache.find(embedder.model_id, different)
    missing = [text for text in different if text not in known]
    for start in range(0, len(missing), BATCH):
        batch = missing[start : start + BATCH]
        vectors = tuple(zip(batch, await embedder.embed(batch), strict=True))
        cache.keep(embedder.model_id, vectors)
        known.update(vectors)
    return known
