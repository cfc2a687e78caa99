"""A picture of the window: which reply and entry it shows, when it is taken, and what the program does at its end."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import threading
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import QTimer, QtMsgType
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication

from lorestudio.domain.chat import Generation
from lorestudio.domain.records import replace
from lorestudio.studio.project.project import demo_project
from lorestudio.ui.shell import app as ui_app
from lorestudio.ui.shell.jobs import window_loop
from tests.ui.conftest import drain, settle
from tests.ui.worlds import CROWN, make_project, make_trace

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from lorestudio.ui.shell.main_window import MainWindow


@pytest.fixture
def window(share_window: Callable[..., MainWindow]) -> MainWindow:
    return share_window(lambda folder: make_project(folder / "vault"))


def test_the_reply_with_the_most_to_tell_is_shown_with_an_entry_that_was_stopped(window: MainWindow) -> None:
    runs, selection = window.session.runs, window.selection
    before = dict(runs.traces)
    one = make_trace(5)
    two = replace(one, stages=(*one.stages, replace(one.stages[4], name="late", verdicts=one.stages[4].verdicts[3:])))
    runs.traces = {Generation(2, 1): two, Generation(5, 0): one, Generation(7, 0): one}
    ui_app.show_something(window)
    assert (selection.message, selection.generation) == (2, Generation(2, 1)), "stopped in two stages"
    assert (selection.entry, selection.stage) == (CROWN, "late")
    runs.traces = {Generation(5, 0): one, Generation(7, 0): one}
    ui_app.show_something(window)
    assert selection.generation == Generation(7, 0), "the later of two"
    runs.traces = {}
    ui_app.show_something(window)
    assert selection.generation == Generation(7, 0)
    nobody = replace(one, stages=(replace(one.stages[0], verdicts=(), left=()),))
    runs.traces = {Generation(2, 1): nobody}
    ui_app.show_something(window)
    assert (selection.generation, selection.entry) == (Generation(2, 1), CROWN), "nobody was stopped in it"
    selection.choose_message(7, Generation(7, 0))
    runs.traces = {Generation(5, 0): one}
    shown = window.session.project
    window.session.project = demo_project()  # which has its own first look
    ui_app.show_something(window)
    assert selection.generation == Generation(7, 0)
    window.session.project, runs.traces = shown, before
    settle(window)


def test_a_picture_is_taken_of_what_is_done_then(tmp_path: Path) -> None:
    done: list[bool] = []

    def then(window: MainWindow) -> None:
        done.append(window.session.runs.complete() is not None)
        QTimer(window, interval=200, singleShot=True, timeout=lambda: done.append(True)).start()  # waits for a pause

    path = tmp_path / "window.png"
    assert ui_app.run(replace(make_project(tmp_path / "vault"), chat=None), screenshot=path) == 0
    picture = QImage(str(path))
    assert (picture.width(), picture.height()) == (1280, 800)
    ui_app.render_window(make_project(tmp_path / "other"), path, (900, 600), then=then)
    picture = QImage(str(path))
    assert (picture.width(), picture.height()) == (900, 600)
    assert done == [True, True], "it was done before the window ended"


def test_a_replay_that_does_not_end_is_no_picture() -> None:
    session: Any = SimpleNamespace(busy=True, jobs=SimpleNamespace(idle=True))
    with pytest.raises(TimeoutError, match=r"did not end within 0\.02 seconds"):
        ui_app.wait_until_idle(session, 0.02)
    session.busy, session.jobs.idle = False, False
    QTimer.singleShot(20, lambda: setattr(session.jobs, "idle", True))
    ui_app.wait_until_idle(session, 5)
    assert session.jobs.idle
    session.jobs.idle = False
    ui_app.wait_until_idle(session, 0.02)  # the replay is done: a search that goes on keeps no picture away


@pytest.mark.skipif(sys.platform == "win32", reason="signals of this kind end a program on Windows")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_closes_and_the_handlers_are_those_of_before(qtbot: Any, number: signal.Signals) -> None:
    closed: list[bool] = []
    before = signal.getsignal(number)
    with ui_app.closed_by_signals(lambda: closed.append(True)):
        os.kill(os.getpid(), number)
        qtbot.waitUntil(lambda: bool(closed))
    assert signal.getsignal(number) is before
    assert closed == [True]


def test_outside_of_the_main_thread_no_signals_are_watched() -> None:
    went_on: list[bool] = []

    def work() -> None:
        with ui_app.closed_by_signals(lambda: None):
            went_on.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert went_on == [True]


def test_what_is_left_at_the_end_is_cancelled_and_waited_for(qapp: object) -> None:
    ended: list[str] = []

    async def wait() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("cancelled")

    loop = window_loop()
    task = loop.create_task(wait())
    drain()
    ui_app._finish_tasks(loop)
    assert (ended, task.cancelled()) == (["cancelled"], True)
    ui_app._finish_tasks(loop)


def test_faults_of_threads_are_shown_and_ctrl_c_closes(window: MainWindow, caplog: pytest.LogCaptureFixture) -> None:
    told: list[BaseException] = []
    closed: list[bool] = []
    stand_in: Any = SimpleNamespace(went_wrong=SimpleNamespace(emit=told.append), close=lambda: closed.append(True))
    before = sys.excepthook, threading.excepthook
    with ui_app._hooks(stand_in):
        error = ValueError("the tap drips")
        threading.excepthook(SimpleNamespace(exc_type=ValueError, exc_value=error, exc_traceback=None))
        sys.excepthook(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert (sys.excepthook, threading.excepthook) == before
    assert (told, closed) == ([error], [True])
    assert [record.levelname for record in caplog.records] == ["CRITICAL"]


@pytest.mark.parametrize(
    ("kind", "level"), [(QtMsgType.QtInfoMsg, logging.INFO), (QtMsgType.QtCriticalMsg, logging.ERROR)]
)
def test_what_qt_says_goes_to_the_log(caplog: pytest.LogCaptureFixture, kind: QtMsgType, level: int) -> None:
    caplog.set_level(logging.DEBUG)
    ui_app._log_qt(kind, SimpleNamespace(category="svg"), "No such file")
    assert caplog.record_tuples == [("qt", level, "No such file (svg)")]


@pytest.mark.parametrize("given", [True, False])
def test_a_folder_takes_the_place_of_the_persons_own(
    qapp: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: bool
) -> None:
    """Profiles, runs, the cache and the demo; nothing of the home folder is touched."""
    own = {
        "default_profiles_path": "profiles.json", "default_folder": "runs", "default_cache": "vaults.sqlite",
        "demo_folder": "demo",
    }  # fmt: skip
    for name, place in own.items():
        monkeypatch.setattr(ui_app, name, lambda place=place: tmp_path / "own" / place)
    monkeypatch.setattr(ui_app.note_data, "default_folder", lambda: tmp_path / "own" / "notes")
    folder = tmp_path / ("given" if given else "own")
    seen: list[Any] = []

    def look_and_close() -> None:
        (window,) = [each for each in QApplication.topLevelWidgets() if isinstance(each, ui_app.MainWindow)]
        session = window.session
        seen.extend((session.connections.path, session.keep_in, session.reading._demo_in, window.isVisible()))
        seen.extend((window.context.settings.fileName(), QApplication.quitOnLastWindowClosed()))
        window.close()
        window.deleteLater()

    QApplication.setQuitOnLastWindowClosed(True)
    QTimer.singleShot(50, look_and_close)
    assert ui_app.run(None, settings_file=tmp_path / "w.ini", folder=folder if given else None) == 0
    assert seen[:4] == [folder / "profiles.json", folder / "runs", folder / "demo", True]
    assert seen[4:] == [str(tmp_path / "w.ini"), False]  # the window itself says when it has saved everything
    drain()
