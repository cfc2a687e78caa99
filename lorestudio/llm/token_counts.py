"""Counts that are known: by the counter's identity and the text's digest, in memory and in one file on disk."""

from __future__ import annotations

import hashlib
import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from typing import Final

import platformdirs

MOST: Final = 200_000
"""So many counts of one counter are held in memory."""

MOST_BYTES: Final = 64 * 1024 * 1024
"""A larger file is begun anew."""

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS counts (counter BLOB NOT NULL, text BLOB NOT NULL, tokens INTEGER NOT NULL,
                                   PRIMARY KEY (counter, text)) WITHOUT ROWID
"""


def text_key(text: str) -> bytes:
    """The digest of a text, 16 bytes."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def default_path() -> Path:
    """The file where nothing else is said."""
    return platformdirs.user_cache_path("lorestudio", appauthor=False) / "tokens.sqlite"


class KnownCounts:
    """What one counter has counted. Every thread may use it; a count that is lost is counted again."""

    def __init__(self, identity: str) -> None:
        self.identity = identity
        self._counts: dict[bytes, int] = {}
        self._new: dict[bytes, int] = {}
        self._lock = threading.Lock()

    def get(self, key: bytes) -> int | None:
        """The count of the text with this digest, None where it is not known."""
        return self._counts.get(key)

    def put(self, key: bytes, tokens: int) -> int:
        """Keep a count, and give it back."""
        with self._lock:
            if len(self._counts) >= MOST:
                for old in list(self._counts)[: MOST // 4]:
                    del self._counts[old]
            self._counts[key] = self._new[key] = tokens
        return tokens

    @property
    def _counter(self) -> bytes:
        return hashlib.blake2b(self.identity.encode(), digest_size=16).digest()

    def load(self, path: Path | None = None) -> None:
        """Take in what is on the disk. A file that cannot be used is as good as none."""
        place = path or default_path()
        if not place.exists():
            return
        try:
            with closing(sqlite3.connect(place, timeout=5)) as connection:
                rows = connection.execute(
                    "SELECT text, tokens FROM counts WHERE counter = ? LIMIT ?", (self._counter, MOST)
                ).fetchall()
        except sqlite3.Error:
            return
        with self._lock:
            self._counts = dict(rows) | self._counts

    def keep(self, path: Path | None = None) -> None:
        """Write what is new. Where that fails nothing is lost but time."""
        with self._lock:
            rows, self._new = list(self._new.items()), {}
        if not rows:
            return
        place = path or default_path()
        try:
            if place.exists() and place.stat().st_size > MOST_BYTES:
                place.unlink()
            place.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(place, timeout=5)) as connection, connection:
                connection.execute(_SCHEMA)
                name = self._counter
                connection.executemany(
                    "INSERT OR REPLACE INTO counts VALUES (?, ?, ?)", ((name, key, tokens) for key, tokens in rows)
                )
        except sqlite3.DatabaseError as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
                place.unlink(missing_ok=True)
        except OSError:
            pass
