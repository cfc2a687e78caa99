"""Locks: entries that may not be taken for the moment (rules: context-window 15).

A passthrough is asked each time a locked key is looked at and may let it through, also against an open lock.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum

from msgspec import Struct

Passthrough = Callable[[], bool]


class Refused(StrEnum):
    """Why a key may not be taken."""

    LOCKED = "locked"
    PASSTHROUGH = "passthrough said no"
    FAILED = "passthrough failed"


class Lock(Struct, frozen=True):
    """The lock of an entry, closed or open."""

    is_closed: bool = True
    passthrough: Passthrough | None = None


class LockTable(Struct, frozen=True):
    """The locks of a page, by key in lower case.

    They count while there is one; with `source_compatible` while the last that was added is closed
    (rules: context-window 17 row 14).
    """

    locks: Mapping[str, Lock] = {}
    last_closed: bool = True
    source_compatible: bool = False

    @classmethod
    def of(cls, locks: Mapping[str, Lock], *, source_compatible: bool = False) -> LockTable:
        """The table of these locks, the last added one last."""
        closed = [lock.is_closed for lock in locks.values()]
        return cls({key.lower(): lock for key, lock in locks.items()}, all(closed[-1:]), source_compatible)

    def refusal(self, key: str) -> Refused | None:
        """Why a key may not be taken, None where it may."""
        lock = self.locks.get(key.lower())
        if lock is None or (self.source_compatible and not self.last_closed):
            return None
        if lock.passthrough is None:
            return Refused.LOCKED if lock.is_closed else None
        try:
            return None if lock.passthrough() else Refused.PASSTHROUGH
        except Exception:  # noqa: BLE001  # whatever it raises, the lock itself decides then
            return Refused.FAILED if lock.is_closed else None

    def may_take(self, key: str) -> bool:
        """Whether a key may be taken."""
        return self.refusal(key) is None
