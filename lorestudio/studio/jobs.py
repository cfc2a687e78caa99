"""Long work: how far it is, and how it is stopped."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from lorestudio.domain.stopping import Stopped
from lorestudio.studio.generation import Generation


class Cancelled(Stopped):  # the person asked for it
    """The person stopped the work; what was finished before stays."""


class CancelToken:
    """A request to stop, which any thread may make."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def cancel(self) -> None:
        """Ask the work to stop at its next step."""
        self._event.set()

    @property
    def cancelled(self) -> bool:
        """Whether somebody asked."""
        return self._event.is_set()


@dataclass(frozen=True, slots=True)
class Progress:
    """`done` of `total` generations; `generation` is the one just finished, None before the first.

    `kept` of those done were not run, because they are known from before.
    """

    done: int
    total: int
    generation: Generation | None = None
    kept: int = 0
