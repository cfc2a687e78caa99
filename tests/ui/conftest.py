"""A window without a display, and nothing left behind: extra windows, tasks, threads and running timers fail a test."""

from __future__ import annotations

import asyncio
import gc
import os
import pathlib
import time
from contextlib import contextmanager
from functools import partial
from itertools import compress

os.environ["QT_QPA_PLATFORM"] = "offscreen"  # before Qt is loaded

from typing import TYPE_CHECKING, Any, ClassVar, Final

import pytest

pytest.importorskip("PySide6.QtWidgets")
pytest.importorskip("pytestqt")

from PySide6.QtCore import QAbstractItemModel, QEvent, QEventLoop, QObject, QSettings, Qt, QThreadPool, QTimer
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QMenu, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import getAllValidWrappers

from lorestudio.studio.project.answering import Connections, Keys
from lorestudio.ui.shell import app as ui_app
from lorestudio.ui.shell import theme as themes
from lorestudio.ui.shell.app import collected_on_gui_thread
from lorestudio.ui.shell.jobs import Jobs, window_loop
from lorestudio.ui.shell.main_window import MainWindow
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.state.session import Session
from tests.ui.sharing import SharedWindow, close
from tests.ui.worlds import FakeSimulator, MemoryKeyring, make_project

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from PySide6.QtCore import QModelIndex, QPoint
    from PySide6.QtWidgets import QAbstractItemView

    from lorestudio.studio.project.project import Project
    from lorestudio.ui.shell.actions import Action


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "dressed: with the stylesheet, and drawn: for tests of room and looks")
    config.addinivalue_line("markers", "own_window: a window of its own, for a test that changes files or closes it")
    config.addinivalue_line("markers", "always: not one of the long tests, though it has a window of its own")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Qt's own warnings fail a test. The settings of pytest-qt stay here, for runs where it is not installed.

    A window of a test's own takes a third of a second, and hundreds have one: they are `long`. Those marked `always`
    are the main line of each feature: nearly everything in `ui/` that a long one reaches is reached by these, too.
    """
    here = f"{pathlib.Path(__file__).parent}{os.sep}"  # as text: comparing paths of all tests takes a second
    fails = pytest.mark.qt_log_level_fail("WARNING")
    no_window_manager = pytest.mark.qt_log_ignore("^This plugin does not support ")  # has the offscreen platform
    ends = pytest.mark.timeout(method="thread")  # what a signal raises in Qt's loop does not end it
    for item in items:
        if str(item.path).startswith(here):
            item.add_marker(fails)
            item.add_marker(ends)
            if has_own_window(item) and item.get_closest_marker("always") is None:
                item.add_marker(pytest.mark.long)
            item.add_marker(no_window_manager)
    modules = {path: place for place, path in enumerate(dict.fromkeys(item.path for item in items))}
    # Others than its own end a shared window: those first. No test depends on those that ran before it.
    items.sort(key=lambda item: (modules[item.path], "share_window" in getattr(item, "fixturenames", ())))


@pytest.fixture(scope="session")
def qapp() -> Iterator[QApplication]:
    """The application. Its loop needs no running: tasks go on whenever a test lets Qt handle events."""
    yield ui_app.application(offscreen=True)
    window_loop().close()


_LENT: list[object] = []


@pytest.fixture
def monkeypatch(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """What a class of Qt objects is given for a while stays: PySide calls what it once found there, and holds none."""
    usual = monkeypatch.setattr

    def lend(target: Any, name: Any, *value: Any, **more: Any) -> None:
        if isinstance(target, type) and issubclass(target, QObject):
            _LENT.extend(value)
        usual(target, name, *value, **more)

    monkeypatch.setattr = lend  # type: ignore[method-assign]
    return monkeypatch


@pytest.fixture(scope="package", autouse=True)
def _garbage_as_in_the_program(request: pytest.FixtureRequest) -> Iterator[None]:
    """A test's jobs run in threads too, which must not collect what belongs to Qt."""
    request.getfixturevalue("qapp")  # not a parameter: tests without a window would be watched like those with one
    with collected_on_gui_thread():
        yield


def rest() -> None:
    """Handle events for a millisecond. Other threads go on meanwhile, which `QTest.qWait` does not let them."""
    loop = QEventLoop()
    QTimer.singleShot(1, loop.quit)
    loop.exec()


class Bot(QtBot):
    """As pytest-qt's, but it looks every millisecond, not every ten: a thousand windows wait ten times each.

    It looks as often as `timeout` has milliseconds. By the clock, a machine that works for others would fail a test.
    """

    def waitUntil(self, callback: Callable[[], bool | None], *, timeout: int = 5000) -> None:  # noqa: N802 (its name)
        failure = None
        for _ in range(timeout):
            try:
                if callback() is not False:
                    QApplication.processEvents()  # what waits for the end of this turn follows
                    return
                failure = None
            except AssertionError as error:
                failure = error
            rest()
        raise TimeoutError(f"still not so after {timeout} looks") from failure


@pytest.fixture
def qtbot(qapp: QApplication, request: pytest.FixtureRequest) -> Bot:
    """In place of pytest-qt's."""
    return Bot(request)


def check(model: QAbstractItemModel) -> None:
    """Qt's own test of a model."""
    QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)


def drain() -> None:
    """Handle what is pending, deletions included."""
    for _ in range(3):
        QApplication.processEvents()
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def menu_of_row(view: QAbstractItemView, index: QModelIndex) -> QMenu:
    """The menu that the right button opens on a row."""
    point = view.visualRect(index).center()
    QTest.mouseClick(view.viewport(), Qt.MouseButton.RightButton, pos=point)
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, point, view.viewport().mapToGlobal(point))
    QApplication.sendEvent(view.viewport(), event)
    (menu,) = (each for each in view.findChildren(QMenu) if each.isVisible())
    return menu


def menu_of_picture(picture: QWidget, point: QPoint) -> QMenu:
    """The menu that the right button opens at a place of a painted widget."""
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, point, picture.mapToGlobal(point))
    viewport = picture.viewport() if isinstance(picture, QAbstractScrollArea) else picture
    QApplication.sendEvent(viewport, event)
    (menu,) = (each for each in picture.findChildren(QMenu) if each.isVisible())
    return menu


LONGEST_MENU: Final = 15
"""No menu has more entries than this; a longer list is no longer read."""


def titles_of(menu: QMenu, *, enabled: bool = False) -> list[str]:
    """What a menu offers, or what of it can be done."""
    there = [each for each in menu.actions() if each.text() and each.isVisible()]
    return [each.text().split("\t")[0] for each in there if each.isEnabled() or not enabled]


def settle(window: MainWindow) -> None:
    """Wait until nothing runs in the window, and until what follows from it was shown."""
    begun = time.process_time()  # what this process works: the clock goes on while a busy machine works for others
    quiet = 0
    while quiet < 4:  # what is shown may start something
        assert time.process_time() - begun < 20, "the window does not come to rest"
        rest()
        quiet = quiet + 1 if window.session.jobs.idle and not window.session.busy else 0
    drain()


@contextmanager
def turned_round(settle: Callable[[], None]) -> Iterator[None]:
    """What is asked in here is answered at the end, the newest question first."""
    answers: list[list[Callable[[], object]]] = []

    def start(self: Jobs, title: str, work: Any, *, done: Any = None, failed: Any = None, **more: Any) -> object:
        mine: list[Callable[[], object]] = []
        answers.append(mine)
        held = {
            name: lambda news, tell=tell: mine.append(partial(tell, news))
            for name, tell in (("done", done), ("failed", failed))
            if tell is not None
        }
        return begin(self, title, work, **held, **more)

    begin = Jobs.start
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Jobs, "start", start)
        yield
        settle()
    for answer in reversed(answers):
        for tell in answer:
            tell()
    settle()


@pytest.fixture(autouse=True)
def _nothing_left(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test that leaves windows, tasks, busy threads or running timers of ours."""
    if "qapp" not in request.fixturenames:
        yield
        return
    shared = request.getfixturevalue("shared_window")
    if {"share_window", "make_window"}.isdisjoint(request.fixturenames):
        shared.end()  # whoever looks for windows of the application finds those of the test only
    before = set(QApplication.topLevelWidgets())
    yield
    request.node.funcargs.clear()  # what is frozen below while the test's record holds it is never freed
    drain()
    # What the shared window is made of was looked through once, and is not what a test leaves.
    gc.collect(2 if shared.window is None else 1)
    drain()
    QApplication.instance().setStyleSheet("")  # what the next test measures would be as wide as in this one
    left = [each for each in QApplication.topLevelWidgets() if each not in before and not shared.owns(each)]
    assert not left, f"close and delete these windows: {left}"
    assert QThreadPool.globalInstance().activeThreadCount() == 0, "wait for the threads that the test started"
    tasks = asyncio.all_tasks(window_loop())
    assert not tasks, f"stop these tasks, or wait for them: {tasks}"
    wrappers = getAllValidWrappers()
    kinds = {QTimer, *QTimer.__subclasses__()}  # of thousands, after each test: `isinstance` takes four times as long
    timers = list(compress(wrappers, map(kinds.__contains__, map(type, wrappers))))
    left = [timer for timer in timers if _active(timer) and not shared.owns(timer)]
    assert not left, f"stop the timers that the test started: {left}"
    del timers, wrappers
    if shared.window is None:
        gc.freeze()  # what one test leaves in caches is not walked through after each of the next thousand


def _active(timer: QTimer) -> bool:
    try:
        return timer.isActive()
    except RuntimeError:  # its C++ half is gone already
        return False


def has_own_window(item: pytest.Item) -> bool:
    """Whether a test makes a window that no other one uses."""
    fixtures = getattr(item, "fixturenames", ())
    return "make_window" in fixtures or ("share_window" in fixtures and shares_none(item))


def shares_none(item: pytest.Item) -> bool:
    """Whether a test has a window of its own where others share one."""
    return any(item.get_closest_marker(name) is not None for name in ("own_window", "dressed"))


def is_dressed(request: pytest.FixtureRequest) -> bool:
    """Whether the test's windows have the stylesheet and are drawn, which takes longer than all else of most tests."""
    return request.node.get_closest_marker("dressed") is not None


@pytest.fixture
def theme(qapp: QApplication, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Theme]:
    """Colours and fonts, and the stylesheet for tests marked `dressed`: it takes as long as building the window."""
    if not is_dressed(request):
        monkeypatch.setattr(themes, "stylesheet", lambda _points: "")
    made = Theme("light")
    made.apply()
    yield made
    for dressing in made.findChildren(QTimer):  # of what nobody sees any more
        dressing.stop()


@pytest.fixture
def letters(qapp: QApplication, request: pytest.FixtureRequest) -> Iterator[float]:
    """How many times as large as usual letters are; to be named before what makes the window."""
    usual, larger = qapp.font(), float(request.param)
    font = qapp.font()
    font.setPointSizeF(usual.pointSizeF() * larger)
    qapp.setFont(font)
    yield larger
    qapp.setFont(usual)


@pytest.fixture
def connections(tmp_path: Path) -> Connections:
    """Profiles in a file of the test's own, a keyring in memory, and no environment."""
    return Connections(tmp_path / "profiles" / "profiles.json", Keys(MemoryKeyring(), {}))


@pytest.fixture
def make_session(qtbot: QtBot, connections: Connections) -> Iterator[Callable[..., Session]]:
    made: list[Session] = []

    def make(project: Project | None = None, *, replay: bool = True, **more: Any) -> Session:
        session = Session(**{"make_simulator": FakeSimulator, "connections": connections} | more)
        session.replays.automatic = replay
        made.append(session)
        if project is not None:
            session.set_project(project)
            qtbot.waitUntil(lambda: not session.busy and session.jobs.idle)
        return session

    yield make
    for session in made:
        session.close()
        drain()
        session.deleteLater()
    drain()


class NamedWindow(MainWindow):
    """A window whose panes and helpers a test names shortly: `window.chat`, `window.run`; a pane is made when named."""

    _PANES = ("vault", "entry", "chat", "trace", "budget", "problems")
    _KEPT = (
        "selection", "drafts", "preview", "history", "theme", "settings", "commands", "bars", "status", "say", "run",
        "current_pane", "update_actions",
    )  # fmt: skip
    _CALLED: ClassVar = {"show_pane": "show", "raise_pane": "uncover"}

    def __getattr__(self, name: str) -> Any:
        if name in self._PANES:
            return self.docks[name].pane
        if name in self._KEPT or name in self._CALLED:
            return getattr(self.context, self._CALLED.get(name, name))
        raise AttributeError(name)

    @property
    def docks(self) -> Any:
        return self.context.layout.docks

    @property
    def why(self) -> Any:
        return self.features.why_not.pane


@pytest.fixture(scope="session")
def table(qapp: QApplication, tmp_path_factory: pytest.TempPathFactory) -> tuple[Action, ...]:
    """Every action of the window, for tests that only look at what is declared; the window is closed again."""
    folder = tmp_path_factory.mktemp("table")
    session = Session(connections=Connections(folder / "profiles.json", Keys(MemoryKeyring(), {})))
    with collected_on_gui_thread():
        settings = QSettings(str(folder / "window.ini"), QSettings.Format.IniFormat)
        window = MainWindow(session, Theme("light"), settings)
        session.setParent(window)
        actions = tuple(window.context.commands.table.values())
        window.close()
        window.deleteLater()
        drain()
    return actions


@pytest.fixture(scope="module")
def shared_window(qapp: QApplication, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedWindow]:
    """The window of `share_window`."""
    shared = SharedWindow(lambda: tmp_path_factory.mktemp("shared"), settle)
    yield shared
    shared.end()


@pytest.fixture
def share_window(shared_window: SharedWindow, request: pytest.FixtureRequest) -> Iterator[Callable[..., MainWindow]]:
    """A window that the tests of a module have one after another, for those that look, or leave it as it was.

    `project_of` makes its project in a folder of its own, `prepare` what the tests find in the window. A test that is
    marked `own_window` has one of its own instead, as tests that write files or close the window do, and one that is
    `dressed`.
    """

    def share(
        project_of: Callable[[Path], Project], *, prepare: Callable[[MainWindow], object] = id, **more: Any
    ) -> MainWindow:
        if shares_none(request.node):
            make_window, folder = request.getfixturevalue("make_window"), request.getfixturevalue("tmp_path")
            window = make_window(project_of(folder), **more)
            prepare(window)
            return window

        def make(folder: Path) -> MainWindow:
            connections = Connections(folder / "profiles" / "profiles.json", Keys(MemoryKeyring(), {}))
            session = Session(**{"make_simulator": FakeSimulator, "connections": connections} | more)
            theme = Theme("light")
            theme.apply()
            QApplication.instance().setStyleSheet("")
            settings = QSettings(str(folder / "window.ini"), QSettings.Format.IniFormat)
            window = NamedWindow(session, theme, settings)
            window.setUpdatesEnabled(False)
            window.resize(1280, 800)
            window.welcome.hide()
            window.show()
            session.set_project(project_of(folder))
            settle(window)
            prepare(window)
            return window

        return shared_window.lend(make, f"{project_of.__qualname__} {prepare.__qualname__}")

    yield share
    shared_window.take_back()


@pytest.fixture
def make_window(
    qtbot: QtBot, theme: Theme, tmp_path: Path, make_session: Callable[..., Session], request: pytest.FixtureRequest
) -> Iterator[Callable[..., MainWindow]]:
    made: list[MainWindow] = []

    def make(
        project: Project | None = None, *, replay: bool = True, file: str = "window.ini", **more: Any
    ) -> MainWindow:
        settings = QSettings(str(tmp_path / file), QSettings.Format.IniFormat)
        with theme.held_back():
            window = NamedWindow(make_session(replay=replay, **more), theme, settings)
        made.append(window)
        window.resize(1280, 800)
        window.setUpdatesEnabled(is_dressed(request))
        window.welcome.setVisible(project is None)
        window.show()
        qtbot.waitExposed(window)
        if project is not None:
            window.session.set_project(project)
            qtbot.waitUntil(lambda: not window.session.busy and window.session.jobs.idle)
        drain()
        return window

    yield make
    for window in made:
        close(window)
    drain()


@pytest.fixture
def window(make_window: Callable[..., MainWindow], tmp_path: Path) -> MainWindow:
    """The window on a small project, replayed."""
    return make_window(make_project(tmp_path / "vault"))
