"""Starting the window: application, event loop, theme, and what happens to exceptions nobody caught.

Cyclic garbage is collected on the GUI thread alone. Python collects wherever memory happens to be asked for, a worker
included; a cycle may hold Qt objects, and those end the program when they are destroyed on any other thread than the
window's.

Ctrl+C in the terminal and `kill` close the window as its close button does.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType, TracebackType
from typing import Final

from PySide6.QtCore import (
    QEvent,
    QMessageLogContext,
    QObject,
    QSettings,
    QSocketNotifier,
    Qt,
    QTimer,
    QTimerEvent,
    QtMsgType,
    qInstallMessageHandler,
)
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication

from lorestudio.domain.lifecycle import taking_turns
from lorestudio.domain.resources import OWN_FOLDERS
from lorestudio.settings.declaration import Section
from lorestudio.studio.project.answering import Connections, default_profiles_path
from lorestudio.studio.project.project import Project, demo_folder, is_demo
from lorestudio.studio.replay.run_store import default_folder
from lorestudio.ui.features.projects.actions import COACHED, stopped_entry
from lorestudio.ui.shell.jobs import WindowLoop, window_loop
from lorestudio.ui.shell.main_window import MainWindow
from lorestudio.ui.shell.theme import Theme, prepare_fonts
from lorestudio.ui.shell.words import Notice, tr
from lorestudio.ui.state.replay_worker import TURN_SECONDS
from lorestudio.ui.state.session import Session
from lorestudio.vault import files as note_data
from lorestudio.vault.cache import default_path as default_cache

LOOK_MS: Final = 100
"""How often the window looks whether enough was allocated for a collection."""

SURVIVORS: Final = 2
"""After more than so many collections of the youngest objects those that survived them are looked at again: Python
waits for ten, and then walks for longer than a turn of the window may take."""


class _Collector(QObject):
    def timerEvent(self, _event: QTimerEvent) -> None:
        active = QGuiApplication.applicationState() is Qt.ApplicationState.ApplicationActive
        collect_if_due(everything=not active)


def collect_if_due(*, everything: bool = True) -> None:
    """Collect the garbage that is due by Python's own thresholds, but for SURVIVORS; call it on the GUI thread.

    `everything` False leaves out the oldest objects: walking through all traces takes longer than a person at work may
    wait, and hardly anything old is a cycle. It is done when the person turns to another program.
    """
    (young, middle, old), (most_young, _most_middle, most_old) = gc.get_count(), gc.get_threshold()
    if everything and 0 < most_old < old:
        gc.collect()
    elif middle > SURVIVORS:
        gc.collect(1)
    elif 0 < most_young < young:
        gc.collect(0)


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


logger = logging.getLogger(__name__)

RENDER_SECONDS: Final = 60.0
"""A picture of the window waits for its replay at most this long."""

RESTING_TURNS: Final = 20
"""So many turns of the event loop without a job count as rest."""

_LEVELS: Final = {
    QtMsgType.QtDebugMsg: logging.DEBUG,
    QtMsgType.QtInfoMsg: logging.INFO,
    QtMsgType.QtWarningMsg: logging.WARNING,
    QtMsgType.QtCriticalMsg: logging.ERROR,
    QtMsgType.QtFatalMsg: logging.CRITICAL,
}


def run(
    project: Project | None = None,
    *,
    screenshot: Path | None = None,
    settings_file: Path | None = None,
    folder: Path | None = None,
    systems: Mapping[str, Section] = MappingProxyType({}),
) -> int:
    """Show the window, with `project` where one is given, until it is closed; returns the exit code.

    `systems` are settings of systems, by their names, that hold from now on, as a SillyTavern has them. `screenshot`
    writes a picture of the window instead and returns at once; it needs no display. `folder` takes the place of the
    person's own folders for kept runs and provider profiles.
    """
    if screenshot is not None:
        render_window(project, screenshot, systems=systems)
        return 0
    app = application()
    app.setQuitOnLastWindowClosed(False)
    settings = QSettings(str(settings_file or _settings_file()), QSettings.Format.IniFormat)
    theme = Theme(str(settings.value("theme", "system")))
    theme.apply()
    loop = window_loop()
    connections = Connections(default_profiles_path() if folder is None else folder / "profiles.json")
    session = Session(
        connections=connections,
        keep_in=default_folder() if folder is None else folder / "runs",
        cache_file=default_cache() if folder is None else folder / "vaults.sqlite",
        demo_in=demo_folder() if folder is None else folder / "demo",
    )
    with theme.held_back():
        window = MainWindow(session, theme, settings)
    window.session.setParent(window)
    closed = asyncio.Event()  # connected at once: the window may be closed before the loop's first turn is over
    window.closed.connect(closed.set)
    app.aboutToQuit.connect(closed.set)
    turns = taking_turns(TURN_SECONDS)
    with collected_on_gui_thread(), turns, _hooks(window), closed_by_signals(window.close), loop:
        window.begin_on_screen()
        window.welcome.setVisible(project is None)
        window.show()
        window.activateWindow()
        if not settings.isWritable():
            told = tr(
                "What the window remembers is lost when it closes: {file} cannot be written.", file=settings.fileName()
            )
            session.notice.emit(Notice(told, "warning"))
        if project is not None:
            session.choices.systems.update(systems)
            window.session.set_project(project)
            window.session.reading.follow()
        window.keep_notes_safe(note_data.default_folder() if folder is None else folder / "notes")
        loop.run_until_complete(closed.wait())
        _finish_tasks(loop)
    return 0


def render_window(
    project: Project | None,
    path: Path,
    size: tuple[int, int] = (1280, 800),
    theme: str = "light",
    then: Callable[[MainWindow], object] = lambda _window: None,
    systems: Mapping[str, Section] = MappingProxyType({}),
) -> None:
    """Write a picture (PNG) of the window with `project` replayed, and with what is done `then`; needs no display.

    `size` is in device-independent pixels, `systems` as for `run`. Raises OSError where the picture cannot be written,
    and TimeoutError where the replay does not end.
    """
    app = application(offscreen=True)
    dress = Theme(theme)
    dress.apply()
    # A picture neither knows nor changes what the person's window looks like.
    with TemporaryDirectory() as folder, collected_on_gui_thread():
        settings = QSettings(str(Path(folder) / "window.ini"), QSettings.Format.IniFormat)
        settings.setValue(COACHED, "true")
        session = Session(connections=Connections(Path(folder) / "profiles.json"))
        session.choices.systems.update(systems)
        with dress.held_back():
            window = MainWindow(session, dress, settings)
        session.setParent(window)
        window.resize(*size)
        window.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
        window.welcome.setVisible(project is None)
        window.show()
        try:
            if project is not None:
                session.set_project(project)
                wait_until_idle(session)
                show_something(window)
                come_to_rest(window, app)
                then(window)
                come_to_rest(window, app)
            _settle(app)
            if not window.grab().save(str(path), "PNG"):
                message = "the picture could not be written: look at its folder, and at the permissions there"
                raise OSError(message)
        finally:
            window.close()
            window.deleteLater()
            _settle(app)


def application(*, offscreen: bool = False) -> QApplication:
    """The application, made on first use; `offscreen` only counts then."""
    existing = QApplication.instance()
    if isinstance(existing, QApplication):
        return existing
    if offscreen:
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    app = QApplication(sys.argv[:1])
    app.setApplicationName("lorestudio")
    app.setApplicationDisplayName("lorestudio")
    app.setStyle("Fusion")
    prepare_fonts(app)
    return app


def wait_until_idle(session: Session, seconds: float = RENDER_SECONDS) -> None:
    """Handle events until the session's jobs are done; for pictures, not for a window in use.

    Raises TimeoutError where the replay takes longer than that; what else goes on then, a search for advice say, is not
    waited for.
    """
    end = time.monotonic() + seconds
    while session.busy or not session.jobs.idle:
        if time.monotonic() > end:
            if not session.busy:
                return
            message = f"the replay did not end within {seconds:g} seconds"
            raise TimeoutError(message)
        QApplication.processEvents()
        time.sleep(0.005)


def show_something(window: MainWindow) -> None:
    """Choose the reply with the most to tell, and in it an entry that was stopped; the demo chooses its own."""
    session = window.session
    if session.project is not None and is_demo(session.project):
        return  # it has its own first look
    told = {
        key: [record.removed for record in trace.stages if record.removed] for key, trace in session.runs.traces.items()
    }
    if not told:
        return
    best = max(told, key=lambda key: (len(told[key]), sum(told[key]), key))
    window.context.selection.choose_message(best.message, best)
    stopped = stopped_entry(session.runs.traces[best])
    if stopped is not None:
        window.context.selection.choose_entry(*stopped)


def come_to_rest(window: MainWindow, app: QApplication) -> None:
    """Wait for what follows from a choice: jobs that start jobs, what waits for a pause, heights that are shared later.

    What goes on and on is waited for no longer than a replay.
    """
    quiet, end = 0, time.monotonic() + RENDER_SECONDS
    while quiet < RESTING_TURNS and time.monotonic() < end:
        wait_until_idle(window.session)
        _settle(app)
        time.sleep(0.005)
        waits = any(timer.isActive() and timer.isSingleShot() for timer in window.findChildren(QTimer))
        quiet = quiet + 1 if window.session.jobs.idle and not waits else 0


def _settle(app: QApplication) -> None:
    for _ in range(5):
        app.processEvents()
        app.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def _settings_file() -> Path:
    folder = OWN_FOLDERS.user_config_path
    with suppress(OSError):  # the window says so where it cannot be written
        folder.mkdir(0o700, parents=True, exist_ok=True)
    return folder / "window.ini"


def _finish_tasks(loop: WindowLoop) -> None:
    """Cancel what is left and wait for it, so that nothing is destroyed while it runs."""
    left = asyncio.all_tasks(loop)
    for task in left:
        task.cancel()
    if left:
        loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))


@contextmanager
def _hooks(window: MainWindow) -> Iterator[None]:
    """Every exception that nobody caught is logged and shown; Qt's own messages go to the log."""

    def show(kind: type[BaseException], error: BaseException | None, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            window.close()
            return
        logger.critical("unexpected error", exc_info=(kind, error or kind(), trace))
        window.went_wrong.emit(error or kind())  # from any thread

    before, before_thread = sys.excepthook, threading.excepthook
    sys.excepthook = show
    threading.excepthook = lambda told: show(told.exc_type, told.exc_value, told.exc_traceback)
    qInstallMessageHandler(_log_qt)
    try:
        yield
    finally:
        sys.excepthook, threading.excepthook = before, before_thread
        qInstallMessageHandler(None)


def _log_qt(kind: QtMsgType, context: QMessageLogContext, message: str) -> None:
    logging.getLogger("qt").log(_LEVELS.get(kind, logging.WARNING), "%s (%s)", message, context.category)
