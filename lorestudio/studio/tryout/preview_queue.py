"""Previews while somebody types or moves a setting: one at a time, always of the newest."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TypeAlias

from lorestudio.domain.lifecycle import Cancelled, CancelToken
from lorestudio.settings.declaration import Section
from lorestudio.studio.tryout.preview import Preview, Previewer
from lorestudio.vault.edited_vaults import NoteText

_Wanted: TypeAlias = tuple[Previewer, tuple[NoteText, ...], Section | None]


class PreviewQueue:
    """Takes texts as they are typed and runs the newest in a worker.

    A newer text stops the preview under way at its next stage and takes the place of one that waits. All methods may be
    called from every thread and none but `work` waits:

        if queue.submit(previewer, notes):
            start_in_a_worker(queue.work)
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: _Wanted | None = None
        self._token = CancelToken()
        self._works = False

    def submit(self, previewer: Previewer, notes: Sequence[NoteText], settings: Section | None = None) -> bool:
        """Ask for a preview; True where nobody is at work, so that `work` has to be started."""
        with self._lock:
            self._waiting = previewer, tuple(notes), settings
            self._token.cancel()
            idle, self._works = not self._works, True
            return idle

    def cancel(self) -> None:
        """Ask for nothing any more; what is under way is not reported."""
        with self._lock:
            self._waiting = None
            self._token.cancel()

    @property
    def idle(self) -> bool:
        """Whether nothing waits and nothing is under way."""
        with self._lock:
            return not self._works

    def work(self, report: Callable[[Preview], object]) -> None:
        """Run what waits until nothing does, and report each preview that no newer text has overtaken.

        Raises what a preview raised, unless it was overtaken; then nothing is at work any more.
        """
        while (taken := self._next()) is not None:
            (previewer, notes, settings), token = taken
            try:
                preview = previewer.preview(notes, token, settings)
            except Cancelled:
                continue
            except Exception:
                if self._has_ended(token):
                    raise
                continue
            if not token.cancelled:
                report(preview)

    def _next(self) -> tuple[_Wanted, CancelToken] | None:
        with self._lock:
            if self._waiting is None:
                self._works = False
                return None
            wanted, self._waiting = self._waiting, None
            self._token = CancelToken()
            return wanted, self._token

    def _has_ended(self, token: CancelToken) -> bool:
        """After a failure: whether it counts, and the work ends with it."""
        with self._lock:
            if token.cancelled:
                return False
            self._works = False
            return True
