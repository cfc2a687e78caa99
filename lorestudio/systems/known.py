"""What runs of one vault have in common, kept while somebody runs them again and again with other settings."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Any, Final, TypeVar

_Made = TypeVar("_Made")

_SOURCES: Final = 2
"""Of so many sources it is kept: of the notes as they are, and of those that are tried out."""

_MOST: Final = 4096
"""So many things of one source; then the oldest is forgotten."""


class Known:
    """What was made of sources, each by what else it was made of. For any thread."""

    def __init__(self) -> None:
        self._made: dict[Hashable, tuple[object, dict[Hashable, Any]]] = {}
        self._lock = threading.RLock()

    def of(self, source: object, key: Hashable, make: Callable[[], _Made]) -> _Made:
        """What was made of this very source, or of the very parts of a tuple, and of what equals `key`, else made now.

        It must not be changed.
        """
        mark = tuple(map(id, source)) if isinstance(source, tuple) else id(source)
        with self._lock:
            _, made = self._made[mark] = self._made.pop(mark, (source, {}))
            while len(self._made) > _SOURCES:
                del self._made[next(iter(self._made))]
            if key not in made:
                while len(made) >= _MOST:
                    del made[next(iter(made))]
                made[key] = make()
            found: _Made = made[key]
            return found
