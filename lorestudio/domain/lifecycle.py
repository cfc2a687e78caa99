"""Long work: how far it is, how it is waited for and stopped, and what is closed when it is no longer needed."""

from __future__ import annotations

import asyncio
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from types import TracebackType
from typing import Any, Final, Self, TypeAlias, TypeVar

from msgspec import Struct

from lorestudio.domain.chat import Generation

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def run_whole(work: Coroutine[Any, Any, _Result]) -> _Result:
    """What the work comes to, in an event loop of its own; also where one runs already, as in a notebook."""
    found: list[_Result] = []

    async def keep() -> None:  # asyncio makes the repr of what it ran comes to, and throws it away: of a vault 40 MB
        found.append(await work)

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(keep())
    else:
        with ThreadPoolExecutor(1) as pool:
            pool.submit(asyncio.run, keep()).result()
    return found[0]


class Closing(ABC):
    """Closed at the end of a `with` block, whatever happened in it."""

    @abstractmethod
    def close(self) -> None:
        """Give back what is held."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


class Stopped(Exception):  # noqa: N818  # it is no error
    """Somebody stopped the work, or something newer took its place.

    Whoever contains failures lets it through: it says nothing about what was being done.
    """


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


_asking: Final[ContextVar[CancelToken | None]] = ContextVar("asking", default=None)
"""The token of whoever waits for what is done just now. It decides nothing: work is done whole, or not at all."""


@contextmanager
def stoppable(cancel: CancelToken | None) -> Iterator[None]:
    """Have all work in the block heed the token, also what is made once for many and is not handed one."""
    before = _asking.set(cancel if cancel is not None else _asking.get())
    try:
        yield
    finally:
        _asking.reset(before)


def heed(cancel: CancelToken | None = None) -> None:
    """Raises Cancelled after a request to stop, by default to stop the work around (`stoppable`).

    Work without a token is never stopped.
    """
    asking = cancel if cancel is not None else _asking.get()
    if asking is not None and asking.cancelled:
        raise Cancelled


def heeding(items: Iterable[_Item], cancel: CancelToken | None = None) -> Iterator[_Item]:
    """The items one by one, as long as nobody asks to stop. Raises Cancelled."""
    for item in items:
        heed(cancel)
        yield item


class Progress(Struct, frozen=True):
    """`done` of `total` generations; `generation` is the one just finished, None before the first."""

    done: int
    total: int
    generation: Generation | None = None


OnProgress: TypeAlias = Callable[[Progress], None] | None
"""Whoever wants to know how far work is."""


@contextmanager
def taking_turns(seconds: float) -> Iterator[None]:
    """Let a thread that wants its turn wait so long for it; without a word, Python lets it wait 5 ms."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(seconds)
    try:
        yield
    finally:
        sys.setswitchinterval(before)
