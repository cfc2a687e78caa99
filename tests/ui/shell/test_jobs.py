"""Jobs: who hears of them, and who does not any more."""

from __future__ import annotations

from functools import partial
from threading import Event
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import QObject

from lorestudio.ui.shell.jobs import Jobs
from tests.ui.conftest import drain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytestqt.qtbot import QtBot


class Listener(QObject):
    """Somebody who hears of a job."""

    def __init__(self, heard: list[object]) -> None:
        super().__init__()
        self.heard = heard

    def hear(self, news: object) -> None:
        self.heard.append(news)

    def hear_of(self, what: str, news: object) -> None:
        self.heard.append((what, news))


@pytest.fixture
def jobs(qapp: object) -> Iterator[Jobs]:
    made = Jobs()
    yield made
    made.close()
    drain()
    made.deleteLater()
    drain()


def start(jobs: Jobs, go: Event, way: str, listener: Listener) -> None:
    ways: dict[str, dict[str, Any]] = {
        "method": {"done": listener.hear},
        "partial": {"done": partial(listener.hear_of, "it")},
        "lambda": {"done": lambda news: listener.hear_of(way, news), "owner": listener},
    }
    jobs.start("Waiting", lambda _report: go.wait(5), failed=lambda _error: None, **ways[way])


@pytest.mark.parametrize("way", ["method", "partial", "lambda"])
@pytest.mark.parametrize("there", [True, False])
def test_whoever_is_deleted_hears_nothing(jobs: Jobs, qtbot: QtBot, way: str, there: bool) -> None:
    heard: list[object] = []
    listener, go = Listener(heard), Event()
    start(jobs, go, way, listener)
    if not there:
        listener.deleteLater()
        drain()
    go.set()
    qtbot.waitUntil(lambda: jobs.idle)
    assert len(heard) == there
    if there:
        listener.deleteLater()


def test_after_closing_nobody_hears_anything(jobs: Jobs) -> None:
    heard: list[object] = []
    listener, go = Listener(heard), Event()
    start(jobs, go, "lambda", listener)
    go.set()
    jobs.close()
    drain()
    assert heard == []
    listener.deleteLater()
