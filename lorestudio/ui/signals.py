"""Ctrl+C in the terminal and `kill` close the window as its close button does."""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from PySide6.QtCore import QSocketNotifier

ENDING: Final = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def closed_by_signals(close: Callable[[], object]) -> Iterator[None]:
    """Call `close` on the GUI thread when the program is asked to end; the window then saves what it always saves.

    Python runs signal handlers only between its own instructions, and an idle window has none; so the signal's number
    comes through a socket that Qt watches.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    inside, outside = socket.socketpair()
    inside.setblocking(False)
    outside.setblocking(False)
    notifier = QSocketNotifier(inside.fileno(), QSocketNotifier.Type.Read)

    def arrived() -> None:
        if any(number in ENDING for number in inside.recv(256)):
            close()

    notifier.activated.connect(arrived)
    before = {number: signal.signal(number, lambda *_: None) for number in ENDING}
    wakeup = signal.set_wakeup_fd(outside.fileno(), warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(wakeup)
        for number, handler in before.items():
            signal.signal(number, handler)
        notifier.setEnabled(False)
        notifier.deleteLater()
        inside.close()
        outside.close()
