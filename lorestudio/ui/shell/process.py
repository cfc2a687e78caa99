"""Cyclic garbage is collected on the GUI thread alone.

Python collects wherever memory happens to be asked for, a worker included. A cycle may hold Qt objects, and those end
the program when they are destroyed on any other thread than the window's.

Ctrl+C in the terminal and `kill` close the window as its close button does.
"""

from __future__ import annotations

import gc
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from PySide6.QtCore import QObject, QSocketNotifier, Qt, QTimerEvent
from PySide6.QtGui import QGuiApplication

LOOK_MS: Final = 200
"""How often the window looks whether enough was allocated for a collection."""


class _Collector(QObject):
    def timerEvent(self, _event: QTimerEvent) -> None:
        active = QGuiApplication.applicationState() is Qt.ApplicationState.ApplicationActive
        collect_if_due(everything=not active)


def collect_if_due(*, everything: bool = True) -> None:
    """Collect the oldest generation that Python itself would collect by now; call it on the GUI thread.

    `everything` False leaves out the oldest of all: walking through all traces takes longer than a person at work may
    wait, and hardly anything old is a cycle. It is done when the person turns to another program.
    """
    counts = list(zip(gc.get_count(), gc.get_threshold(), strict=True))
    due = [generation for generation, (counted, threshold) in enumerate(counts) if 0 < threshold < counted]
    if not everything:
        due = [generation for generation in due if generation < len(counts) - 1]
    if due:
        gc.collect(due[-1])


@contextmanager
def collected_on_gui_thread() -> Iterator[None]:
    """No other thread collects cyclic garbage meanwhile.

    What exists already, the program's modules above all, is never looked at again: walking through it takes 50 ms.
    """
    before = gc.isenabled()
    gc.disable()
    gc.freeze()
    collector = _Collector()
    timer = collector.startTimer(LOOK_MS)
    try:
        yield
    finally:
        collector.killTimer(timer)
        if before:
            gc.enable()


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
