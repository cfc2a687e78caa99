"""The line at the bottom: the vault in numbers, the limits in force, and what is going on."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from lorestudio.domain.records import replace
from lorestudio.ui.shell import bars
from lorestudio.ui.shell.bars import StatusLine
from tests.ui.conftest import drain
from tests.ui.worlds import make_project

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from lorestudio.ui.shell.theme import Theme


class Said(QObject):
    """What the line reads of a session."""

    project_changed, state_changed, choice_changed, traces_changed = Signal(), Signal(), Signal(), Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.project: Any = None
        self.busy, self.activity, self.generations = False, "Reading the vault…", ()
        self.runs = SimpleNamespace(traces={}, current={}, stale="")
        self.replays: Any = SimpleNamespace(tally=None)
        self.reading = SimpleNamespace(stoppable=False)
        self.choice = SimpleNamespace(title="Keywords only", is_main=True, system="deeplore")


@pytest.fixture
def session(theme: Theme) -> Said:
    return Said()


@pytest.fixture
def line(session: Said, qtbot: QtBot) -> StatusLine:
    made = StatusLine(session)  # type: ignore[arg-type]
    qtbot.addWidget(made)
    made.resize(1200, 30)
    made.show()
    return made


def in_sight(line: StatusLine) -> list[str]:
    parts: tuple[Any, ...] = (line._vault, line._broken, line._limits, line.problems, line.basis, line._run)
    return [part.text() for part in parts if isinstance(part, QWidget) and part.isVisible()]


@pytest.mark.parametrize(
    ("left_out", "words"),
    [
        ((False, True, True), ["5 entries · 1 note left out", "▲ 2 broken notes"]),
        ((True,), ["5 entries", "▲ 1 broken note"]),
        ((False, False), ["5 entries · 2 notes left out"]),
        ((), ["5 entries"]),
    ],
)
def test_the_vault_in_numbers(
    session: Said, line: StatusLine, tmp_path: Path, left_out: tuple[bool, ...], words: list[str]
) -> None:
    project = make_project(tmp_path)
    notes = tuple(SimpleNamespace(problem=SimpleNamespace(broken=broken)) for broken in left_out)
    session.project = replace(project, index=replace(project.index, left_out=notes))
    session.project_changed.emit()
    limits = in_sight(line)[len(words)]
    assert in_sight(line)[: len(words)] == words
    assert limits.startswith("depth ")
    session.choice.is_main = False
    session.choice_changed.emit()
    assert limits not in in_sight(line)
    assert "As DeepLore" in line.basis.toolTip()
    session.choice.system = "world-info"
    session.choice_changed.emit()
    assert "As World Info decides" in line.basis.toolTip()
    assert "DeepLore" not in line.basis.toolTip()
    line.flash("Saved.")
    assert not set(words) & set(in_sight(line))
    line.clearMessage()
    assert in_sight(line)[: len(words)] == words


def test_what_is_not_told_does_not_come_and_go(
    session: Said, line: StatusLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = make_project(tmp_path)
    session.project = replace(project, index=replace(project.index, left_out=()))
    told: list[bool] = []
    for part in (line._broken, line._limits):
        monkeypatch.setattr(part, "setVisible", told.append)
    for session.choice.is_main in (False, True):
        session.choice_changed.emit()
    assert told == [False, False, False, True]


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({"unlimited_budget": True, "unlimited_entries": False, "max_entries": 1}, "no token limit · at most 1 entry"),
        ({"unlimited_budget": False, "unlimited_entries": True, "max_tokens_budget": 2048},
         "at most 2,048 tokens · no entry limit"),
    ],
)  # fmt: skip
def test_the_limits_in_force(
    session: Said, line: StatusLine, tmp_path: Path, limits: dict[str, Any], words: str
) -> None:
    project = make_project(tmp_path)
    session.project = replace(project, settings=project.settings.model_copy(update={"scan_depth": 6} | limits))
    session.project_changed.emit()
    assert f"depth 6 · {words}" in in_sight(line)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"busy": True}, "Reading the vault…"),
        ({"generations": ()}, "No chat"),
        ({}, "2 of 3 replies run · Keywords only"),
        ({"generations": (1,), "runs": SimpleNamespace(traces={}, current={1: 1}, stale="")},
         "1 of 1 reply run · Keywords only"),
        ({"runs": SimpleNamespace(traces={1: 1}, stale="A note was saved.")}, "1 of 3 replies run · out of date"),
        ({"replays": SimpleNamespace(tally=SimpleNamespace(begun=1, kept=2, words="2 kept"))},
         "2 of 3 replies run · 2 kept · Keywords only"),
        ({"replays": SimpleNamespace(tally=SimpleNamespace(begun=0, kept=2, words="2 kept"))},
         "2 of 3 replies run · Keywords only"),
        ({"replays": SimpleNamespace(tally=SimpleNamespace(begun=1, kept=0, words="0 kept"))},
         "2 of 3 replies run · Keywords only"),
    ],
)  # fmt: skip
def test_what_is_going_on(session: Said, line: StatusLine, more: dict[str, Any], words: str) -> None:
    session.generations, session.runs.current = (1, 2, 3), {1: 1, 2: 2}  # type: ignore[assignment]
    session.runs.traces = {1: 1, 2: 2, 3: 3}  # also those of another choice
    vars(session).update(more)
    session.state_changed.emit()
    assert in_sight(line) == [words]


def test_whatever_changes_is_said_at_once(session: Said, line: StatusLine) -> None:
    session.generations = (1, 2, 3)  # type: ignore[assignment]
    for done, told in enumerate(
        (session.project_changed.emit, session.state_changed.emit, session.choice_changed.emit,
         lambda: session.traces_changed.emit(None)),
    ):  # fmt: skip
        session.runs.current = dict.fromkeys(range(done))
        told()
        assert in_sight(line) == [f"{done} of 3 replies run · Keywords only"]


def test_problems_are_counted_while_a_vault_is_open(session: Said, line: StatusLine, tmp_path: Path) -> None:
    line.show_problems(1, 2)
    assert "1 error, 2 warnings" not in in_sight(line)
    session.project = make_project(tmp_path)
    session.project_changed.emit()
    line.show_problems(1, 2)
    assert "1 error, 2 warnings" in in_sight(line)
    assert line.basis.isVisible()
    assert line.basis.text() in line.basis.accessibleName()
    session.project = None
    session.project_changed.emit()
    assert in_sight(line) == ["No chat"]


def test_a_narrow_window_says_less_and_the_tips_say_all(line: StatusLine, session: Said, tmp_path: Path) -> None:
    session.project = make_project(tmp_path)
    session.generations = (1, 2)
    session.state_changed.emit()
    texts = (line._vault, line._limits, line._run)
    assert all(part.minimumSizeHint().width() < part.sizeHint().width() // 2 for part in texts)
    assert all(part.text() and part.toolTip() == part.text() for part in texts)


def test_what_is_said_is_not_cut_off_by_what_is_there_at_any_time(
    line: StatusLine, session: Said, tmp_path: Path
) -> None:
    session.project = make_project(tmp_path / "vault")
    session.project_changed.emit()
    line.show_problems(0, 7)
    drain()
    always = [line.problems, line.basis]
    line.flash("Done.")
    assert all(part.isVisible() for part in always)
    text = "Done: Give “Aldous Pym” a higher priority: 39 instead of 48. Ctrl+Alt+Z takes it back. " * 2
    line.flash(text)
    drain()
    line.show_problems(0, 6)  # as the change has mended one
    assert not any(part.isVisible() for part in always)
    assert line.fontMetrics().horizontalAdvance(text) < line._run.x()
    line.clearMessage()
    assert all(part.isVisible() for part in always)


def test_each_part_of_the_line_has_its_place_and_its_name(line: StatusLine, session: Said, tmp_path: Path) -> None:
    assert not any(part.isVisible() for part in (line.problems, line.basis, line.stop))
    assert not line.isSizeGripEnabled()
    session.project = make_project(tmp_path)
    session.generations = (1, 2)  # type: ignore[assignment]
    session.reading.stoppable = True
    line.show_problems(1, 2)
    session.state_changed.emit()
    drain()
    parts = (line._vault, line._broken, line._limits, line.problems, line.basis, line._run, line.stop)
    assert all(part.isVisible() for part in parts)
    assert all(one.geometry().right() < other.x() for one, other in pairwise(parts))
    names = ["Problems: 1 error, 2 warnings", "Replay state", "Stop reading (Ctrl+.)"]
    assert [part.accessibleName() for part in (line.problems, line._run, line.stop)] == names


def test_what_is_read_can_be_stopped_as_long_as_that_makes_sense(line: StatusLine, session: Said) -> None:
    assert (line.stop.isVisible(), line.stop.text()) == (False, "Stop")
    assert line.stop.accessibleName() == "Stop reading (Ctrl+.)"
    for can in (True, False):
        session.reading.stoppable = can
        session.state_changed.emit()
        assert line.stop.isVisible() is can


def test_what_answers_rest_on_is_worked_out_for_another_project_or_system_only(
    line: StatusLine, session: Said, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def basis(_project: object, system: str) -> list[SimpleNamespace]:
        asked.append(system)
        known = SimpleNamespace(words="10 tokens", subject="Tokens", sentence="They are counted. " * 10)
        return [known, SimpleNamespace(words="", subject="Rules", sentence=f"Those of {system}.")]

    monkeypatch.setattr(bars, "basis_of", basis)
    for system in ("deeplore", "world-info"):
        session.choice.system = system
        for name in ("one", "two"):
            session.project = make_project(tmp_path / name)
            for _ in range(2):
                session.state_changed.emit()
        assert line.basis.text() == "10 tokens"
        assert line.basis.toolTip().endswith(f"Rules: Those of {system}.")
        assert max(map(len, line.basis.toolTip().splitlines())) <= bars.TIP_WIDTH
    assert asked == ["deeplore", "deeplore", "world-info", "world-info"]
    session.choice.system = "deeplore"
    session.choice_changed.emit()
    assert asked[4:] == ["deeplore"]


def test_what_is_said_stays_for_a_while_and_what_it_hid_comes_back(
    line: StatusLine, session: Said, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.project = make_project(tmp_path)
    session.project_changed.emit()
    usual = in_sight(line)
    monkeypatch.setattr(bars, "FLASH_MS", 1)
    line.flash("Done.")
    assert line.currentMessage() == "Done."
    assert line._vault.text() not in in_sight(line)
    session.state_changed.emit()
    assert line._vault.text() not in in_sight(line)
    qtbot.waitUntil(lambda: not line.currentMessage())
    assert in_sight(line) == usual


def test_what_is_longer_stays_longer(line: StatusLine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The key that takes a step back is the last word of a long sentence."""
    told: list[int] = []
    monkeypatch.setattr(line, "showMessage", lambda _text, milliseconds: told.append(milliseconds))
    for words in ("Done.", "Done: Remove the key “market” of “Hollow Market”. Ctrl+Alt+Z takes it back."):
        line.flash(words)
    assert told[1] > told[0] >= 4000
