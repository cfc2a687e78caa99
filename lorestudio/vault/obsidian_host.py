"""Where Obsidian's Local REST API plugin listens, and circuit breakers for hosts that a vault is fetched from.

After three failures in a row nothing is sent for 2 s. Then one request is let through as a probe; each one that fails
doubles the pause, up to 15 s, and a success ends it (rules: deeplore-tools 1.8 "Obsidian"). Breakers are used from one
thread, that of the event loop.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from lorestudio.vault.files import VaultError

HTTP_PORT: Final = 27123
HTTPS_PORT: Final = 27124


class ObsidianAddress(Struct, frozen=True):
    """Where a vault's plugin listens (rules: deeplore-tools 4.5)."""

    name: str
    host: str = "127.0.0.1"
    port: int = HTTP_PORT
    https: bool = False

    @property
    def url(self) -> str:
        """The address without a path."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.https else 'http'}://{host}:{self.port}"


def obsidian_address(place: str) -> ObsidianAddress:
    """`http://127.0.0.1:27123/Name`: the last part is what the vault is called here. Raises VaultError."""
    try:
        parts = urlsplit(place)
        port = parts.port or (HTTPS_PORT if parts.scheme == "https" else HTTP_PORT)
    except ValueError as error:
        raise VaultError(f"{place} is no address ({error}). Write it as http://127.0.0.1:27123") from error
    if not parts.hostname or parts.username or parts.password or parts.query:
        raise VaultError(f"{place} is no address of Obsidian's plugin. Write it as http://127.0.0.1:27123")
    name = unquote(parts.path.strip("/")) or "Obsidian"
    return ObsidianAddress(name, parts.hostname, port, parts.scheme == "https")


FAILURES_TO_OPEN: Final = 3
FIRST_PAUSE_S: Final = 2.0
LONGEST_PAUSE_S: Final = 15.0


class CircuitOpenError(Exception):
    """Nothing is sent for another `seconds`."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"paused for another {seconds:.1f} s")
        self.seconds = seconds


class HostFailure(Exception):  # noqa: N818 - a signal for the breaker around an error of its own
    """Raised inside `CircuitBreaker.call` to say that the host has failed; the cause is what happened."""


class CircuitBreaker:
    """The breaker of one host. `clock` gives seconds that only grow."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures = 0
        self._pause_s = 0.0
        self._opened_at = 0.0
        self._probing = False

    @property
    def wait_s(self) -> float:
        """Seconds until a probe may be sent; 0 where one may."""
        return max(0.0, self._opened_at + self._pause_s - self._clock()) if self._pause_s else 0.0

    @contextmanager
    def call(self) -> Iterator[None]:
        """Around one request: raises CircuitOpenError instead of sending it where the host is being left alone.

        Leaving the block by HostFailure counts as a failure. Leaving it by CancelledError or another error that says
        nothing about the host gives a probe back, so that the next request is one.
        """
        probe = self._acquire()
        verdict = None
        try:
            yield
            verdict = True
        except HostFailure:
            verdict = False
            raise
        finally:
            if probe:
                self._probing = False
            if verdict is not None:
                self._record(verdict, probe=probe)

    def _acquire(self) -> bool:
        """Whether the request is a probe."""
        if not self._pause_s:
            return False
        if self._probing or self.wait_s:
            raise CircuitOpenError(self.wait_s)
        self._probing = True
        return True

    def _record(self, success: bool, *, probe: bool) -> None:
        if success:
            # One that was under way when the breaker opened says as much as a probe.
            self._failures = 0
            self._pause_s = 0.0
            return
        self._failures += 1
        if probe:
            self._open(min(2 * self._pause_s, LONGEST_PAUSE_S))
        elif not self._pause_s and self._failures >= FAILURES_TO_OPEN:
            self._open(FIRST_PAUSE_S)

    def _open(self, pause_s: float) -> None:
        self._pause_s = pause_s
        self._opened_at = self._clock()


class CircuitBreakers:
    """One breaker a host and port, made when it is first asked for."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._breakers: dict[tuple[str, int], CircuitBreaker] = {}

    def of(self, host: str, port: int) -> CircuitBreaker:
        """The breaker that all sources at this host and port share."""
        return self._breakers.setdefault((host.lower(), port), CircuitBreaker(self._clock))
