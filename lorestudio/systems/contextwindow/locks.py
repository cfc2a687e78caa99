"""Locks: entries that may not be taken for the moment (rules: context-window 15).

A lock names a key of the lorebook, or pages (windows by name). A passthrough is asked each time a locked key is looked
at and may let it through, also against an open lock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType

from lorestudio.systems.contextwindow import lore
from lorestudio.systems.contextwindow.lore import LoreBook

Passthrough = Callable[[], bool]


class Refused(StrEnum):
    """Why a key may not be taken."""

    LOCKED = "locked"
    PASSTHROUGH = "passthrough said no"
    FAILED = "passthrough failed"


@dataclass(frozen=True, slots=True)
class Lock:
    """One lock: `keys` are the entries it was found for, `pages` those it is for (all there were if `is_global`)."""

    name: str
    keys: frozenset[str] = frozenset()
    pages: tuple[str, ...] = ()
    is_global: bool = False
    is_locked: bool = True
    is_page_lock: bool = False
    passthrough: Passthrough | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class LockTable:
    """All locks by their names in lower case, and the flags of the windows that they close.

    `flags` are the original's: the last change of any lock of a window wins. Otherwise a window is closed while some
    lock of a key of it is (rules: context-window 17 row 14).
    """

    locks: Mapping[str, Lock] = field(default_factory=lambda: MappingProxyType({}))
    flags: Mapping[str, bool] = field(default_factory=lambda: MappingProxyType({}))
    source_compatible: bool = False

    def with_lock(
        self,
        name: str,
        windows: Mapping[str, LoreBook],
        pages: str = "",
        *,
        page_lock: bool = False,
        locked: bool = True,
        passthrough: Passthrough | None = None,
    ) -> LockTable:
        """The table with a lock, in place of one of the same name. `pages` are separated by commas, none means all."""
        named = tuple(page for part in pages.split(",") if (page := part.strip()))
        if page_lock:
            lock = Lock(name, frozenset(), named or (name,), not named, locked, True, passthrough)
            return self._with(lock, ())
        affected = named or tuple(windows)
        found = (lore.find(windows.get(page, lore.EMPTY), name) for page in affected)
        keys = frozenset(entry.key for entry in found if entry is not None)
        return self._with(Lock(name, keys, affected, not named, locked, False, passthrough), affected)

    def switched(self, name: str, *, locked: bool) -> LockTable:
        """The table with a lock closed or opened; unchanged where there is none of that name."""
        lock = self.locks.get(name.lower())
        if lock is None:
            return self
        return self._with(replace(lock, is_locked=locked), () if lock.is_page_lock else lock.pages)

    def without(self, name: str) -> LockTable:
        """The table without a lock; in the original the windows that it was for are open then."""
        lock = self.locks.get(name.lower())
        if lock is None:
            return self
        locks = {key: other for key, other in self.locks.items() if other is not lock}
        gone = () if lock.is_page_lock else lock.pages
        return replace(self, locks=locks, flags={page: on for page, on in self.flags.items() if page not in gone})

    def is_closed(self, page: str) -> bool:
        """Whether the locks of a window count."""
        if self.source_compatible:
            return self.flags.get(page, False)
        return any(not lock.is_page_lock and page in lock.pages for lock in self.locks.values())

    def hides_page(self, page: str) -> bool:
        """Whether a closed page lock of that name makes the page come out empty."""
        lock = self.locks.get(page.lower())
        return lock is not None and lock.is_page_lock and lock.is_locked

    def refusal(self, page: str, key: str) -> Refused | None:
        """Why a key of a window may not be taken, None where it may."""
        lock = self.locks.get(key.lower()) if self.is_closed(page) else None
        if lock is None:
            return None
        if lock.passthrough is None:
            return Refused.LOCKED if lock.is_locked else None
        try:
            return None if lock.passthrough() else Refused.PASSTHROUGH
        except Exception:  # noqa: BLE001  # whatever it raises, the lock itself decides then
            return Refused.FAILED if lock.is_locked else None

    def may_take(self, page: str) -> Callable[[str], bool]:
        """The check of one window, as selecting takes it."""
        return lambda key: self.refusal(page, key) is None

    def locked_keys(self, page: str, keys: Iterable[str]) -> tuple[str, ...]:
        """Which of a window's keys may not be taken; in the original the keys of closed locks for all pages."""
        if not self.source_compatible:
            return tuple(key for key in keys if self.refusal(page, key) is not None)
        if not self.is_closed(page):
            return ()
        closed = [lock for lock in self.locks.values() if lock.is_locked and lock.is_global and not lock.is_page_lock]
        return tuple(dict.fromkeys(key for lock in closed for key in sorted(lock.keys)))

    def _with(self, lock: Lock, pages: Iterable[str]) -> LockTable:
        flags = {**self.flags, **dict.fromkeys(pages, lock.is_locked)}
        return replace(self, locks={**self.locks, lock.name.lower(): lock}, flags=flags)
