"""Cycles of Python objects are collected on the GUI thread alone, and the window makes none of Qt objects."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Callable, Iterator
from functools import partial

import pytest
from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from lorestudio.ui.features.chat.pane import ModeBar
from lorestudio.ui.shell import app
from lorestudio.ui.shell.app import LOOK_MS, collect_if_due, collected_on_gui_thread, come_to_rest
from lorestudio.ui.shell.main_window import MainWindow
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.state.choices import RunChoice

MANY = 5_000
"""Cycles; Python's own collector would have begun long before."""


@pytest.fixture(autouse=True)
def _python_as_before() -> Iterator[None]:
    before, thresholds = gc.isenabled(), gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*thresholds)
    (gc.enable if before else gc.disable)()


class Knot:
    """An object that only a collection can free, and that tells which thread did."""

    def __init__(self, freed_by: list[int]) -> None:
        self._me = self
        self._freed_by = freed_by

    def __del__(self) -> None:
        self._freed_by.append(threading.get_ident())


def knots_from_a_thread() -> list[int]:
    freed_by: list[int] = []

    def work() -> None:
        for _ in range(MANY):
            Knot(freed_by)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return freed_by


def test_a_worker_frees_its_own_cycles_where_nobody_prevents_it() -> None:
    gc.enable()
    assert knots_from_a_thread()


def test_cycles_of_a_worker_are_freed_on_the_gui_thread() -> None:
    with collected_on_gui_thread():
        freed_by = knots_from_a_thread()
        assert freed_by == []
        collect_if_due()
        assert freed_by == [threading.get_ident()] * MANY


def test_the_window_looks_for_garbage_by_itself(qtbot: QtBot) -> None:
    with collected_on_gui_thread():
        freed_by = knots_from_a_thread()
        qtbot.waitUntil(lambda: len(freed_by) == MANY, timeout=20 * LOOK_MS)


def test_old_cycles_wait_until_the_person_turns_to_something_else() -> None:
    freed_by: list[int] = []
    with collected_on_gui_thread():
        gc.collect()
        old = Knot(freed_by)
        gc.collect(0)
        gc.collect(1)  # it survived both, so only a collection of everything looks at it again
        del old
        gc.set_threshold(700, 10, 1000)
        collect_if_due()
        assert freed_by == [], "few others have become old since"
        gc.set_threshold(700, 10, 1)
        for _ in range(3):
            gc.collect(1)
        assert freed_by == []
        collect_if_due(everything=False)
        assert freed_by == []
        collect_if_due()
        assert freed_by == [threading.get_ident()]


@pytest.mark.parametrize("enabled", [True, False])
def test_afterwards_pythons_collector_is_as_it_was(qapp: QApplication, enabled: bool) -> None:
    (gc.enable if enabled else gc.disable)()
    with collected_on_gui_thread():
        assert not gc.isenabled()
    assert gc.isenabled() == enabled


def test_menus_that_are_filled_again_leave_no_qt_objects_to_collect(qtbot: QtBot) -> None:
    bar = ModeBar(Theme("light"))
    qtbot.addWidget(bar)
    gc.collect()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        for _ in range(3):
            bar.show_choice(RunChoice(), ())
        gc.collect()
        assert [item for item in gc.garbage if isinstance(item, QObject)] == []
    finally:
        gc.set_debug(0)
        gc.garbage.clear()


@pytest.mark.always
def test_a_picture_waits_for_what_follows_later(window: MainWindow, qapp: QApplication) -> None:
    told: list[str] = []
    timer = QTimer(window, singleShot=True, interval=150)
    timer.timeout.connect(lambda: told.append("later"))
    QTimer(window, interval=60_000).start()  # what comes again and again is not waited for
    timer.start()
    come_to_rest(window, qapp)
    assert told == ["later"]


@pytest.mark.parametrize(
    ("kind", "before", "after"), [({}, None, None), ({"offscreen": True}, None, "offscreen"),
                                  ({"offscreen": True}, "xcb", "xcb")],
)  # fmt: skip
def test_the_program_is_seen_unless_only_pictures_are_wanted(
    monkeypatch: pytest.MonkeyPatch, kind: dict[str, bool], before: str | None, after: str | None
) -> None:
    monkeypatch.setenv("QT_QPA_PLATFORM", before or "")
    if before is None:
        monkeypatch.delenv("QT_QPA_PLATFORM")
    begun: list[str | None] = []
    told: dict[str, object] = {}

    class First:
        """Stands for Qt's application, of which a process has one."""

        instance = staticmethod(lambda: None)

        def __init__(self, _words: list[str]) -> None:
            begun.append(os.environ.get("QT_QPA_PLATFORM"))

        def __getattr__(self, name: str) -> Callable[[str], None]:
            return partial(told.__setitem__, name)

    monkeypatch.setattr(app, "QApplication", First)
    monkeypatch.setattr(app, "prepare_fonts", partial(told.__setitem__, "fonts"))
    made = app.application(**kind)
    assert begun == [after]
    assert told.pop("fonts") is made
    name = "lorestudio"
    assert told == {"setApplicationName": name, "setApplicationDisplayName": name, "setStyle": "Fusion"}
