"""Comparing systems in the window.

The chart of compared runs alone: its lines, its legend, walking through the turns, and what it says.
"""

from __future__ import annotations

import csv
import io
import json
import math
import threading
from contextvars import ContextVar
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QFontMetricsF, QGuiApplication, QImage, QPainter, QPaintEvent
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from lorestudio.domain.chat import Generation
from lorestudio.domain.records import replace
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.settings.store import SettingsProfiles
from lorestudio.settings.worldinfo import WorldInfoSettings
from lorestudio.studio.compare.comparison import Comparison, PromptShare, TurnComparison
from lorestudio.studio.project.answering import AnswerKind
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.systems import registry
from lorestudio.systems.hybrid.system import HybridSystem
from lorestudio.systems.registry import Registered
from lorestudio.systems.worldinfo.system import WorldInfoSystem
from lorestudio.trace.model import Turn
from lorestudio.ui.features.compare import systems, systems_pane
from lorestudio.ui.features.compare.systems import ComparedSystems, total_columns, turn_columns
from lorestudio.ui.features.compare.systems_pane import FILLS, SystemsPane, TokenChart, draw_line, swatch
from lorestudio.ui.shell.qt import ACCESSIBLE_TEXT, DISPLAY, HORIZONTAL
from lorestudio.ui.shell.theme import Theme, scaled
from lorestudio.ui.state.choices import system_help
from lorestudio.ui.state.selection import Selection
from tests.studio.compare.test_rule_causes import made
from tests.ui.conftest import drain, settle
from tests.ui.drawing import drawn, image_of, words_drawn
from tests.ui.worlds import make_project

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from pytestqt.qtbot import QtBot

    from lorestudio.systems.base import Moment, System, SystemKind
    from lorestudio.ui.shell.main_window import MainWindow
    from lorestudio.ui.state.session import Session


def settled(qtbot: QtBot, window: MainWindow) -> None:
    qtbot.waitUntil(lambda: not window.session.busy and window.session.jobs.idle)
    drain()


@pytest.fixture
def real(make_window: Callable[..., MainWindow], tmp_path: Path, qtbot: QtBot) -> MainWindow:
    project = replace(make_project(tmp_path / "vault"), settings=DeepLoreSettings(enabled=True))
    window = make_window(project, make_simulator=Simulator)
    settled(qtbot, window)
    return window


@pytest.fixture
def compared(real: MainWindow, qtbot: QtBot) -> MainWindow:
    real.run("systems.compare")
    settled(qtbot, real)
    return real


def test_the_pane_comes_before_any_system_is_loaded_that_nobody_asked_for(
    real: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Loading all of them takes longer than a window may stand still."""
    loaded, built_in = set[str](), registry._built_in
    monkeypatch.setattr(registry, "_built_in", lambda name: (loaded.add(name), built_in(name))[1])
    real.chat.choose(5)
    real.show_pane("compare")
    drain()
    assert "system:hybrid" in {choice.key for choice in real.features.timeline.comparable.choices()}
    assert loaded <= {registry.MAIN.name}
    real.features.systems.show_page()
    settled(qtbot, real)
    assert "hybrid" in loaded
    assert real.features.systems.compare.choose_button.text() == "Runs: 3"


def able(window: MainWindow) -> list[bool]:
    """Whether a comparison can be copied and saved."""
    return [window.commands.actions[f"systems.{name}"].isEnabled() for name in ("copy", "csv", "picture")]


def test_before_anything_was_compared_the_pane_says_what_it_is_for(real: MainWindow, qtbot: QtBot) -> None:
    pane = real.features.systems.compare
    real.features.systems.show_page()
    settled(qtbot, real)
    pane.look_for_kept()  # runs are kept nowhere
    assert not pane.running
    assert pane.empty.title.text() == "Which system would serve this chat best?"
    assert pane.empty.text.text() == (
        "DeepLore, Hybrid retrieval, World Info: each runs the whole chat, and you see turn by turn what each would "
        "put in. No model answers anew: recorded answers are used, or the offline stand-in's. Vectors come from whom a "
        "system's settings name."
    )
    primary = [each for each in pane.findChildren(QPushButton) if each.property("kind") == "primary"]
    assert [each for each in primary if each.isVisibleTo(pane)] == [pane.run_button], "one button of a pane stands out"
    assert able(real) == [False] * 3
    for key in pane.chosen[1:]:
        pane.choose(key, on=False)
    assert pane.empty.title.text() == "Choose two or more runs"
    assert pane.empty.text.text() == "“Runs” above has the systems and your profiles."
    assert (pane.run_button.isEnabled(), pane.run_button.toolTip()) == (
        False,
        "Open a chat, and choose two systems or more.",
    )


def test_the_system_that_the_chat_runs_is_compared_until_somebody_chooses_otherwise(
    real: MainWindow, qtbot: QtBot
) -> None:
    pane = real.features.systems.compare
    real.features.systems.show_page()
    settled(qtbot, real)
    for action, name in (("system.context-window", "Context window"), ("system.facts", "Fact memory")):
        real.run(action)
        settled(qtbot, real)
        assert pane.choose_button.toolTip() == f"What is compared: DeepLore, {name}, Hybrid retrieval, World Info"
    pane.fill_menu()
    next(each for each in pane.menu.actions() if each.text() == "Fact memory").trigger()
    assert pane.choose_button.toolTip() == "What is compared: DeepLore, Hybrid retrieval, World Info"


def test_one_run_alone_is_compared_with_nothing_and_two_only_once_at_a_time(
    real: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    pane, work, begun = real.features.systems.compare, systems_pane.compare_offers, list[object]()

    def counted(*args: Any) -> object:
        begun.append(args)
        return work(*args)

    monkeypatch.setattr(systems_pane, "compare_offers", counted)
    first, second = pane.chosen[:2]
    for key in pane.chosen[1:]:
        pane.choose(key, on=False)
    pane.run()
    assert not pane.running
    pane.choose(second, on=True)
    pane.run()
    assert (pane.running, pane.state.text()) == (True, "Comparing…")
    pane.run()
    pane.choose(first, on=False)  # for the next time; how far this one is stays
    assert pane.state.text() == "Comparing…"
    settled(qtbot, real)
    assert (pane.running, len(begun), pane.found is not None) == (False, 1, True)


@pytest.mark.always
def test_where_there_is_no_chat_one_can_be_opened(make_window: Callable[..., MainWindow], tmp_path: Path) -> None:
    window = make_window(make_project(tmp_path / "vault", chat=False))
    window.features.systems.show_page()
    settle(window)  # the systems are loaded
    empty = window.features.systems.compare.empty
    next(each for each in empty.findChildren(QPushButton) if each.text() == "Open chat…").click()
    (dialog,) = [each for each in QApplication.topLevelWidgets() if isinstance(each, QFileDialog)]
    assert (dialog.isVisible(), dialog.windowTitle()) == (True, "Open a chat")
    dialog.reject()


def test_turns_and_totals_stand_side_by_side(compared: MainWindow) -> None:
    pane = compared.features.systems.compare
    assert pane.found is not None
    assert pane.found.labels == ("DeepLore", "Hybrid retrieval", "World Info")
    assert pane.turns.rowCount() == len(compared.session.generations)
    heads = [pane.turns.headerData(place, HORIZONTAL) for place in range(pane.turns.columnCount())]
    assert heads == [
        "Reply", "Overlap", "DeepLore", "Hybrid retrieval", "World Info",
        "only DeepLore", "only Hybrid retrieval", "only World Info",
    ]  # fmt: skip
    own = compared.session.runs.trace(Generation(5))
    assert own is not None
    row = pane.turns.place_of(Generation(5))
    assert pane.turns.index(row, 2).data(DISPLAY) == f"{len(own.injections)} · {own.total_tokens}"
    assert pane.totals.rowCount() == 3
    assert pane.totals.index(0, 6).data(DISPLAY) == "100%"
    assert able(compared) == [True] * 3


@pytest.mark.long
def test_the_title_says_how_much_was_compared_as_long_as_it_is_shown(compared: MainWindow, qtbot: QtBot) -> None:
    note = compared.docks["compare"].bar.findChild(QLabel, "PaneNote")
    assert compared.features.systems.compare.found is not None
    turns = len(compared.features.systems.compare.found.turns)
    assert (turns > 1, note.text()) == (True, f"3 runs · {turns} turns")
    compared.session.set_project(make_project(chat=False))
    settled(qtbot, compared)
    assert note.text() == ""


@pytest.mark.long
def test_what_is_in_front_has_the_keyboard_and_buttons_follow(compared: MainWindow, qtbot: QtBot) -> None:
    pane = compared.features.systems.compare
    for place, view in ((0, pane.turns_view), (1, pane.totals_view)):
        pane.tabs.setCurrentIndex(place)
        assert pane.focus_target() is view
    assert (pane.run_button.isEnabled(), pane.run_button.isHidden(), pane.stop_button.isHidden()) == (True, False, True)
    pane.run_button.click()
    assert (pane.run_button.isHidden(), pane.stop_button.isHidden()) == (True, False)
    assert pane.state.text() == "Comparing…"
    assert not pane.state.isHidden()
    before = pane.found
    pane.stop_button.click()
    settled(qtbot, compared)
    assert pane.found is before or pane.found == before
    assert (pane.run_button.isHidden(), pane.stop_button.isHidden()) == (False, True)
    pane.choose("hybrid", on=False)
    assert pane.choose_button.text() == "Runs: 2"
    assert pane.choose_button.toolTip() == "What is compared: DeepLore, World Info"
    compared.session.parts.adjust(
        "less", settings=compared.session.project.settings.model_copy(update={"max_entries": 3})
    )
    assert pane.state.text() == ("Compared before the last change of settings, notes or chat. “Compare” runs it again.")
    settled(qtbot, compared)
    compared.session.replays.run_all(fresh=True)
    pane.run()
    assert pane.state.text() == "The chat is being replayed; compare when that is done."
    assert not pane.running
    settled(qtbot, compared)
    compared.session.set_project(replace(compared.session.project, chat=None, chat_path=None))
    settled(qtbot, compared)
    assert pane.focus_target() is pane.choose_button
    assert (pane.empty.title.text(), pane.run_button.isEnabled()) == ("No chat to compare on", False)


def test_rows_say_what_each_run_has_of_its_own(compared: MainWindow) -> None:
    pane = compared.features.systems.compare
    row = pane.turns.place_of(Generation(5))
    cells = [pane.turns.index(row, column).data(ACCESSIBLE_TEXT) for column in range(pane.turns.columnCount())]
    assert cells[0] == "Reply #5"
    assert [cells[2], cells[5]] == [
        "DeepLore: entries and tokens: 4 entries, 268 tokens: Crown, Dawnkeep, Rules, Skarn",
        "Entries that DeepLore alone puts in: none",
    ]


def test_going_to_a_turn_goes_to_its_message_and_back(compared: MainWindow) -> None:
    pane = compared.features.systems.compare
    pane.turns_view.setCurrentIndex(pane.turns.index(pane.turns.place_of(Generation(5)), 0))
    assert compared.selection.generation == Generation(5)
    compared.chat.show_generation(Generation(2, 0))
    assert pane.turns_view.currentIndex().row() == pane.turns.place_of(Generation(2, 0))
    assert pane.chart.chosen == pane.turns.place_of(Generation(2, 0))


@pytest.mark.long
def test_the_chart_is_walked_with_keys_and_clicked(compared: MainWindow, qtbot: QtBot) -> None:
    chart = compared.features.systems.compare.chart
    chart.resize(400, 150)
    qtbot.keyClick(chart, Qt.Key.Key_Home)
    assert compared.selection.generation == compared.session.generations[0]
    qtbot.keyClick(chart, Qt.Key.Key_Right)
    assert compared.selection.generation == compared.session.generations[1]
    assert "DeepLore: " in chart.accessibleDescription()
    qtbot.mouseClick(chart, Qt.MouseButton.LeftButton, pos=QPoint(chart.width() - 16, 80))
    assert compared.selection.generation == compared.session.generations[-1]


@pytest.mark.always
def test_the_menu_ticks_what_is_compared_and_adds_files(compared: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    pane = compared.features.systems.compare
    pane.fill_menu()
    ticked = {action.text() for action in pane.menu.actions() if action.isChecked()}
    assert ticked == {"DeepLore", "Hybrid retrieval", "World Info"}
    file = tmp_path / "deep.json"
    file.write_text(json.dumps({"world_info_depth": 0}))
    pane.add_file("world-info", file)
    pane.fill_menu()
    tips = {action.text(): action.toolTip() for action in pane.menu.actions()}
    assert tips["World Info: deep.json"] == str(file)
    assert tips["Hybrid retrieval"] == system_help("hybrid")
    pane.choose("hybrid", on=False)
    assert "Shown is the comparison of" in pane.state.text()
    pane.run()
    settled(qtbot, compared)
    assert pane.found is not None
    assert pane.found.labels == ("DeepLore", "World Info", "World Info: deep.json")
    with_depth, without = pane.found.totals[1:]
    assert without.entries < with_depth.entries  # no message is looked at


def test_stopping_keeps_what_was_compared_before(
    compared: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    pane, before = compared.features.systems.compare, compared.features.systems.compare.found
    work = systems_pane.compare_offers

    def stopped(*args: Any) -> object:
        args[-1].cancel()
        return work(*args)

    monkeypatch.setattr(systems_pane, "compare_offers", stopped)
    pane.run()
    assert not pane.stop_button.isHidden()
    settled(qtbot, compared)
    assert pane.state.text() == "Stopped."
    assert pane.found is before


@pytest.mark.long
def test_a_change_is_said_and_another_chat_begins_anew(compared: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    pane = compared.features.systems.compare
    compared.features.systems.configure("world-info", WorldInfoSettings(depth=1))
    compared.run("system.world-info")
    settled(qtbot, compared)
    assert "before the last change" in pane.state.text()
    pane.run()
    settled(qtbot, compared)
    assert pane.state.text() == ""
    compared.session.set_project(make_project(tmp_path / "other"))
    settled(qtbot, compared)
    assert pane.found is None


@pytest.mark.always
def test_it_is_copied_and_saved(compared: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    compared.run("systems.copy")
    assert "| DeepLore |" in QGuiApplication.clipboard().text()
    compared.features.systems.save(tmp_path / "found.csv")
    compared.features.systems.save(tmp_path / "found.png")
    compared.features.systems.save(tmp_path / "found.doc")
    settled(qtbot, compared)
    rows = list(csv.reader(io.StringIO((tmp_path / "found.csv").read_text("utf-8-sig"))))
    assert len(rows) == 1 + len(compared.session.generations)
    assert rows[0][1] == "DeepLore: entries"
    image = QImage(str(tmp_path / "found.png"))
    assert image.size() == QSize(1200, 480)
    assert len({image.pixel(x, y) for x in range(0, 1200, 7) for y in range(0, 480, 7)}) > 3
    assert not (tmp_path / "found.doc").exists()
    assert any(".csv or .png" in text for text in compared.bars.texts)
    compared.run("systems.csv")
    (asked,) = compared.findChildren(QFileDialog)
    assert asked.selectedFiles()[0].endswith("/comparison.csv")
    asked.reject()
    drain()


# What an earlier start has kept


def start(
    make_window: Callable[..., MainWindow], folder: Path, qtbot: QtBot, system: str = "hybrid", **changes: object
) -> MainWindow:
    """A window on the same vault and chat; with `system` chosen."""
    project = replace(make_project(folder / "vault"), settings=DeepLoreSettings(enabled=True))
    window = make_window(replace(project, **changes), make_simulator=Simulator, keep_in=folder / "runs")
    settled(qtbot, window)
    window.session.replays.choose(system=system)
    settled(qtbot, window)
    return window


@pytest.fixture
def decisions(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The systems beside DeepLore that decided about a generation in a replay of the chat, one for each time.

    What advice tries meanwhile, when the machine lets it, is no replay.
    """
    ran: list[str] = []
    replays: ContextVar[bool] = ContextVar("replays", default=False)
    run_missing = Simulator.run_missing

    async def replay(self: Simulator, *given: object) -> None:
        replays.set(True)
        await run_missing(self, *given)
        replays.set(False)

    monkeypatch.setattr(Simulator, "run_missing", replay)
    for kind in (HybridSystem, WorldInfoSystem):
        own = kind.decide

        async def decide(
            self: System, moment: Moment, *given: object, _own: Callable[..., Awaitable[object]] = own
        ) -> object:
            if replays.get():
                ran.append(self.name)
            return await _own(self, moment, *given)

        monkeypatch.setattr(kind, "decide", decide)
    return ran


@pytest.mark.long
def test_after_a_restart_the_last_runs_of_a_system_are_shown_and_not_run_again(
    make_window: Callable[..., MainWindow], tmp_path: Path, qtbot: QtBot, decisions: list[str]
) -> None:
    first = start(make_window, tmp_path, qtbot)
    before = dict(first.session.runs.traces)
    assert {trace.system for trace in before.values()} == {"hybrid"}
    first.close()
    assert decisions
    decisions.clear()
    second = start(make_window, tmp_path, qtbot)
    assert dict(second.session.runs.traces) == before
    assert decisions == []
    assert not second.session.runs.outdated(second.session.generations[-1])


@pytest.mark.long
def test_after_a_restart_only_what_has_changed_is_run(
    make_window: Callable[..., MainWindow], tmp_path: Path, qtbot: QtBot, decisions: list[str]
) -> None:
    first = start(make_window, tmp_path, qtbot)
    chat = first.session.project.chat if first.session.project is not None else None
    assert chat is not None
    first.close()
    decisions.clear()
    last = replace(chat.messages[-1], text="Something else.")
    second = start(make_window, tmp_path, qtbot, chat=replace(chat, messages=(*chat.messages[:-1], last)))
    assert len(decisions) == 1  # the reply to come
    assert len(second.session.runs.traces) == len(second.session.generations)


@pytest.mark.long
def test_after_a_restart_the_last_comparison_is_shown_at_once(
    make_window: Callable[..., MainWindow], tmp_path: Path, qtbot: QtBot, decisions: list[str]
) -> None:
    first = start(make_window, tmp_path, qtbot, "deeplore")
    settings = tmp_path / "deeper.json"
    settings.write_text('{"depth": 4}', "utf-8")
    first.features.systems.compare.choose("context-window", on=True)
    first.features.systems.compare.add_file("world-info", settings)
    first.run("systems.compare")
    settled(qtbot, first)
    found = first.features.systems.compare.found
    assert found is not None
    first.close()
    decisions.clear()
    second = start(make_window, tmp_path, qtbot, "deeplore")
    second.features.systems.show_page()
    settled(qtbot, second)
    pane = second.features.systems.compare
    assert pane.found == found
    assert pane.found is not None
    assert len(pane.found.labels) == 5
    assert pane.files == [("world-info", settings)]
    assert decisions == []
    assert pane.state.text() == ""


@pytest.mark.long
def test_what_the_newer_rules_change_is_said_with_the_rule_that_did_it(
    make_window: Callable[..., MainWindow], tmp_path: Path, qtbot: QtBot
) -> None:
    project = made(tmp_path, {"Gate": "keys: [gate]"}, ["gate", "gate"])
    window = make_window(project, make_simulator=Simulator)
    settled(qtbot, window)
    window.run("systems.upgrade")
    settled(qtbot, window)
    pane = window.features.systems.compare
    assert pane.found is not None
    assert pane.found.labels == ("DeepLore 2.0.2", "DeepLore 2.6")
    heads = [pane.turns.headerData(place, HORIZONTAL) for place in range(pane.turns.columnCount())]
    assert heads[4:] == ["leaves", "comes in"]
    assert pane.state.text() == "What made the difference:  Duplicate stripping: 1 turn"
    row = pane.turns.place_of(Generation(4))
    assert pane.turns.index(row, 4).data(DISPLAY) == "Gate (Duplicate stripping)"
    assert window.session.project is not None
    assert window.session.project.settings.rules == "2.0.2"  # it was only compared


# ---- without a window ------------------------------------------------------------------------------------------------


class Desk:
    """The pane over a chat, as after a start of the program: what was compared before is kept in a folder."""

    def __init__(self, pane: SystemsPane, session: Session, qtbot: QtBot) -> None:
        self.pane, self.session, self._qtbot = pane, session, qtbot
        self.told: list[str] = []
        session.notice.connect(lambda notice: self.told.append(notice.text))

    def settle(self) -> None:
        self._qtbot.waitUntil(lambda: self.session.jobs.idle and not self.session.busy)

    def look(self) -> None:
        self.pane.show()
        self.pane.looked_at.emit()
        self.settle()

    def run(self) -> None:
        self.pane.run()
        self.settle()


@pytest.fixture
def desk(make_session: Callable[..., Session], theme: Theme, tmp_path: Path, qtbot: QtBot) -> Callable[..., Desk]:
    def make(**changes: object) -> Desk:
        project = replace(make_project(tmp_path / "vault"), settings=DeepLoreSettings(enabled=True))
        session = make_session(
            replace(project, **changes), replay=False, make_simulator=Simulator, keep_in=tmp_path / "runs"
        )
        pane = SystemsPane(theme, session, Selection())
        qtbot.addWidget(pane)
        return Desk(pane, session, qtbot)

    return make


def test_of_rules_that_were_compared_nothing_is_looked_for_after_a_restart(
    make_session: Callable[..., Session], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which rule did what is not kept, so what was kept of such runs would be half of a comparison."""
    session = make_session(make_project(tmp_path / "vault"), replay=False)
    offers = [each for each in systems.offers(session, (), ()) if each.key in systems.UPGRADE]
    assert len(offers) == 2
    monkeypatch.setattr(systems, "ComparisonStore", lambda _folder: pytest.fail("it is looked for"))
    given: Any = (session.project, offers, AnswerKind.STAND_IN, tmp_path, True, None)
    assert systems.compare_offers(*given).comparison is None


def test_systems_that_are_not_there_are_loaded_beside_the_window(
    desk: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch
) -> None:
    built_in, go_on, window = registry._built_in, threading.Event(), threading.current_thread()
    loaded: dict[str, threading.Thread | None] = {registry.MAIN.name: None}  # the one that is chosen

    def load(name: str) -> SystemKind:
        if name not in loaded:
            assert go_on.wait(60)
        loaded.setdefault(name, threading.current_thread())
        return built_in(name)

    begun = desk()
    pane = begun.pane
    monkeypatch.setattr(registry, "_built_in", load)
    monkeypatch.setattr(Registered, "loaded", property(lambda _kinds: len(loaded) == len(registry.BUILT_IN)))
    pane.show()
    pane.looked_at.emit()
    pane.run()
    drain()
    assert len(loaded) == 1
    assert (pane.empty.title.text(), pane.choose_button.isVisible()) == ("Loading the systems…", False)
    go_on.set()
    begun.settle()
    assert window not in loaded.values()
    assert (pane.choose_button.text(), pane.choose_button.isVisible()) == ("Runs: 3", True)
    assert pane.found is not None


def test_a_system_that_cannot_be_loaded_is_told_and_tried_again(
    desk: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(name: str) -> SystemKind:
        raise ImportError(f"{name} is broken")

    begun = desk()
    pane = begun.pane
    with monkeypatch.context() as patched:
        patched.setattr(Registered, "loaded", False)
        patched.setattr(Registered, "values", lambda _kinds: [broken("recap")])
        begun.look()
        assert pane.empty.title.text() == "The systems cannot be loaded"
        assert "recap is broken" in pane.empty.text.text()
    begun.run()
    assert pane.found is not None


def test_the_last_comparison_is_shown_again_with_its_files_and_run_by_nobody(
    desk: Callable[..., Desk], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = desk()
    settings = tmp_path / "deeper.json"
    settings.write_text('{"depth": 4}', "utf-8")
    first.pane.chosen = ["deeplore", "world-info"]
    first.pane.add_file("world-info", settings)
    first.look()
    assert first.pane.found is None, "nothing was kept"
    first.run()
    found = first.pane.found
    assert found is not None
    monkeypatch.setattr(systems, "compare_candidates", None)
    second = desk()
    second.pane.look_for_kept()
    assert not second.pane.running, "nobody looks yet"
    second.look()
    assert (second.pane.found, second.pane.files) == (found, [("world-info", settings)])
    assert (second.pane.state.text(), second.pane.state.isVisible()) == ("", False)
    assert second.pane.chosen == ["deeplore", "world-info", f"file:world-info:{settings}"]


def test_a_kept_comparison_of_a_changed_chat_says_so_and_one_of_a_lost_profile_is_not_shown(
    desk: Callable[..., Desk], tmp_path: Path
) -> None:
    first = desk()
    deaf = SettingsProfiles(tmp_path / "profiles").save("Deaf", DeepLoreSettings(enabled=True, scan_depth=0))
    first.pane.set_profiles((deaf,))
    first.pane.chosen = ["deeplore", "profile:Deaf"]
    first.look()
    first.run()
    found, chat = first.pane.found, first.session.chat
    assert found is not None, first.pane.state.text()
    assert found.labels == ("DeepLore", "DeepLore: Deaf")
    assert found.totals[1].entries < found.totals[0].entries
    assert chat is not None
    second = desk()
    second.look()
    assert second.pane.found is None
    second.pane.set_profiles(first.pane.profiles)  # they were read now
    second.settle()
    assert second.pane.found == found
    changed = replace(chat, messages=(replace(chat.messages[0], text="Something else."), *chat.messages[1:]))
    third = desk(chat=changed)
    third.pane.set_profiles(first.pane.profiles)
    third.look()
    assert third.pane.state.text().startswith("Compared before the last change of settings, notes or chat.")
    assert third.pane.state.isVisible()
    third.run()
    assert third.pane.state.text() == ""


def test_what_stands_in_the_way_is_told_and_what_was_compared_stays(
    desk: Callable[..., Desk], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = desk()
    first.pane.chosen = ["deeplore", "world-info"]
    first.look()
    first.run()
    before, file = first.pane.found, tmp_path / "odd.json"
    file.write_text('{"nothing_like_it": 1}')
    first.pane.add_file("hybrid", file)
    first.run()
    assert "nothing_like_it" in first.pane.state.text()
    assert (first.pane.found is before, first.pane.run_button.isEnabled()) == (True, True)
    first.pane._done(ComparedSystems(None, problems=("The disk is full.",)), now=False)  # of one that was given up
    assert (first.pane.found is before, first.told) == (True, ["The disk is full."])

    def locked(_folder: Path) -> None:
        raise OSError("The file is locked")

    monkeypatch.setattr(systems, "ComparisonStore", locked)
    second = desk()
    second.look()
    assert (second.pane.found, second.told) == (None, ["The file is locked"])
    second.run()
    assert second.pane.found is not None, "it is compared all the same"


def test_what_is_asked_for_while_the_kept_one_is_looked_for_is_run_once_there_is_none(
    desk: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(systems_pane, "compared_last", lambda *_all: ["deeplore", "world-info"])  # but no runs of them
    begun = desk()
    begun.pane.show()
    begun.pane.looked_at.emit()
    assert (begun.pane.running, begun.pane.state.text()) == (True, "Looking for the last comparison…")
    begun.pane.run_or_find()
    assert begun.pane.found is None
    begun.settle()
    found = begun.pane.found
    assert found is not None
    begun.pane.run_or_find()
    begun.settle()
    assert begun.pane.found is found, "it answers the question"


def test_a_comparison_that_is_stopped_or_of_another_chat_is_not_shown(
    desk: Callable[..., Desk], tmp_path: Path
) -> None:
    begun = desk()
    pane = begun.pane
    begun.look()
    assert (pane.focus_target(), pane.stop_button.isVisible()) == (pane.choose_button, False)
    pane.stop()  # of nothing
    assert pane.state.text() == ""
    pane.run()
    assert (pane.run_button.isVisible(), pane.stop_button.isVisible()) == (False, True)
    pane.run()  # one at a time
    pane.stop_button.click()
    assert pane.state.text() == "Stopping…"
    begun.settle()
    assert (pane.found, pane.state.text(), pane.run_button.isVisible()) == (None, "Stopped.", True)
    pane.run()
    assert pane._job is not None
    assert pane._job.wait(20)  # it ends in the moment in which it is stopped
    pane.stop_button.click()
    begun.settle()
    assert (pane.found, pane.state.text()) == (None, "Stopped.")
    begun.run()
    assert (pane.found is not None, pane.focus_target()) == (True, pane.turns_view)
    pane.tabs.setCurrentIndex(1)
    assert pane.focus_target() is pane.totals_view
    pane.run()
    begun.session.set_project(replace(make_project(tmp_path / "other"), chat_path=tmp_path / "Other.jsonl"))
    assert pane.found is None
    begun.settle()
    assert pane.found is None, "what came of the other chat is not shown"


def test_after_a_change_the_comparison_stays_and_says_so(desk: Callable[..., Desk]) -> None:
    begun = desk()
    begun.look()
    begun.run()
    pane, found, project = begun.pane, begun.pane.found, begun.session.project
    assert project is not None
    noted: list[str] = []
    pane.note_changed.connect(noted.append)
    pane.choose("world-info", on=False)
    assert pane.state.text().startswith("Shown is the comparison of ")
    assert noted[-1].startswith("3 runs · ")
    pane.choose("world-info", on=True)
    assert pane.state.text() == ""
    jumps: list[object] = []
    pane.jump.connect(jumps.append)
    at = Generation(5, 1)
    pane.turns_view.picked.emit(next(turn for turn in pane.turns.rows if turn.turn.generation.message == 5))
    assert [jump.message for jump in jumps] == [at.message]  # type: ignore[attr-defined]  # a generation
    begun.session.replays.choose(system="world-info")
    begun.settle()
    assert (pane.found, pane.state.text()[:32]) == (found, "Compared before the last change ")
    begun.session.set_project(replace(project, chat=None))
    begun.settle()
    assert (pane.found, noted[-1]) == (None, "")
    assert pane.empty.title.text() == "No chat to compare on"


TOKENS = ((100, 0), (50, 200), (0, 10), (20, 20))


def comparison(tokens: tuple[tuple[int, ...], ...] = TOKENS) -> Comparison:
    nothing: frozenset[Any] = frozenset()
    turns = []
    for place, both in enumerate(tokens):
        shares = tuple(PromptShare((), each) for each in both)
        turns.append(TurnComparison(Turn(2 * place, 0, place), shares, (nothing,) * 2))
    return Comparison(("Old", "New"), tuple(turns), (), {}, ())


WIDE = 460


@pytest.fixture
def chart(theme: Theme, qtbot: QtBot) -> TokenChart:
    made = TokenChart(theme)
    qtbot.addWidget(made)
    made.set_comparison(comparison())
    made.resize(WIDE, 200)
    made.resize(WIDE + 400 - round(made.frame.room.width()), 200)  # 400 pixels for four turns
    made.show()
    return made


def lines(chart: TokenChart, theme: Theme, place: int) -> list[float]:
    """The box of a run's line: left, right, and how high it is."""
    color = theme.fill(FILLS[place])[0].name()
    box = next(each.box for each in drawn(chart) if each.kind == "polyline" and each.edge == color)
    return [round(box.left()), round(box.right()), round(box.height())]


def test_each_run_has_a_line_to_scale_and_a_name(chart: TokenChart, theme: Theme) -> None:
    words = words_drawn(chart)
    assert words == ["0", "50", "100", "150", "200", "#0", "#2", "#4", "#6", "Old", "New"]
    old, new = (lines(chart, theme, place) for place in range(2))
    left = chart.frame.room.left()
    assert old[:2] == new[:2] == [round(left + 50), round(left + 350)]
    assert new[2] == pytest.approx(2 * old[2], abs=1)
    dots = [each for each in drawn(chart) if each.fill in {theme.fill(FILLS[place])[0].name() for place in range(2)}]
    assert len(dots) == 8
    assert len({each.kind for each in dots}) == 2  # each run has a shape of its own
    chart.set_comparison(comparison(TOKENS * 200))
    narrow = words_drawn(chart)
    assert 5 < len([word for word in narrow if word.startswith("#")]) < 20
    assert lines(chart, theme, 1)[2] == 0  # of turns that share pixels the largest is drawn: 200 of each four


def test_the_turn_that_is_looked_at_is_marked_and_told(chart: TokenChart, theme: Theme) -> None:
    assert chart.accessibleDescription() == ""
    chart.choose(1)
    assert chart.accessibleDescription().splitlines()[1:] == ["Old: 50 tokens", "New: 200 tokens"]
    ink = {each.words: each.fill for each in drawn(chart) if each.kind == "text"}
    assert (ink["#2"], ink["#4"]) == (theme.color("accent").name(), theme.color("text_muted").name())
    band = next(each for each in drawn(chart) if each.fill == theme.color("accent_soft").name())
    assert (round(band.box.left()), round(band.box.width())) == (round(chart.frame.room.left() + 100), 100)
    chart.choose(9)
    assert (chart.chosen, chart.accessibleDescription()) == (-1, "")
    chart.choose(3)
    chart.set_comparison(comparison(TOKENS[:2]))
    assert chart.chosen == -1
    chart.set_comparison(None)
    assert words_drawn(chart) == []


def test_another_turn_and_another_comparison_are_drawn_at_once(chart: TokenChart) -> None:
    painted: list[QEvent] = []

    class Watcher(QObject):
        def eventFilter(self, _chart: QObject, event: QEvent) -> bool:  # noqa: N802 (Qt)
            painted.extend([event] if event.type() is QEvent.Type.Paint else [])
            return False

    drain()
    watcher = Watcher(chart)
    chart.installEventFilter(watcher)
    for change in (partial(chart.choose, 2), partial(chart.set_comparison, comparison(TOKENS[:2]))):
        painted.clear()
        change()
        drain()
        assert len(painted) == 1


def test_no_turn_is_written_over_the_one_that_is_looked_at(chart: TokenChart) -> None:
    chart.set_comparison(comparison(TOKENS * 10))  # ten pixels for each
    for row in range(12, 18):
        chart.choose(row)
        places = [each.box.left() for each in drawn(chart) if each.words.startswith("#")]
        assert f"#{2 * row}" in words_drawn(chart)
        assert min(right - left for left, right in pairwise(sorted(places))) > 20


def test_keys_and_clicks_go_to_turns(chart: TokenChart, qtbot: QtBot) -> None:
    told: list[int] = []
    chart.picked.connect(told.append)
    key = Qt.Key
    for row, pressed in ((0, key.Key_Left), (0, key.Key_Right), (3, key.Key_Right), (3, key.Key_Left),
                         (2, key.Key_Home), (1, key.Key_End), (-1, key.Key_Right), (1, key.Key_A)):  # fmt: skip
        chart.choose(row)
        qtbot.keyClick(chart, pressed)
    assert told == [0, 1, 3, 2, 0, 3, 0]
    told.clear()
    left = Qt.MouseButton.LeftButton
    room = chart.frame.room
    for x in (2, 99, 101, 398, -18, 402):
        qtbot.mouseClick(chart, left, pos=QPoint(round(room.left()) + x, 100))
    qtbot.mouseClick(chart, Qt.MouseButton.RightButton, pos=QPoint(round(room.left()) + 2, 100))
    assert told == [0, 0, 1, 3]
    for x, words in ((250, "New: 10 tokens"), (-20, "New: 0 tokens"), (404, "New: 20 tokens")):  # beside them the next
        assert chart.words_at(QPoint(round(room.left()) + x, 90)).endswith(words)
    chart.set_comparison(None)
    assert chart.words_at(QPoint(150, 100)) == ""
    qtbot.keyClick(chart, key.Key_Right)
    qtbot.mouseClick(chart, left, pos=QPoint(150, 100))
    assert len(told) == 4


def test_names_that_do_not_fit_take_another_line(chart: TokenChart) -> None:
    places = [each.box.topLeft() for each in drawn(chart) if each.words in {"Old", "New"}]
    assert all(one.y() == two.y() and one.x() < two.x() for one, two in pairwise(places))
    chart.resize(120, 200)
    one, two = (each.box.topLeft() for each in drawn(chart) if each.words in {"Old", "New"})
    assert (one.x(), one.y() < two.y()) == (two.x(), True)
    assert chart.picture(QSize(300, 200)).startswith(b"\x89PNG")


def test_runs_that_bring_nothing_in_have_lines_at_the_bottom(chart: TokenChart, theme: Theme) -> None:
    chart.set_comparison(comparison(((0, 0), (0, 0))))
    assert words_drawn(chart) == ["0", "1", "#0", "#2", "Old", "New"]
    assert lines(chart, theme, 0)[2] == 0


def test_each_of_four_runs_has_a_point_of_its_own(theme: Theme, qtbot: QtBot) -> None:
    class Points(QWidget):
        def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 (Qt)
            painter = QPainter(self)
            for place in range(4):
                draw_line(painter, theme, place, [QPointF(20 + 20 * place, 20)], dots=False)

    points = Points()
    qtbot.addWidget(points)
    points.resize(120, 40)
    found = drawn(points)[1:]  # without the ground
    assert [each.fill for each in found] == [theme.fill(fill)[0].name() for fill in FILLS[:4]]
    boxes = [(each.kind, each.box.center().x(), each.box.top(), each.box.height()) for each in found]
    assert [height for *_, height in boxes] == [7, 7, 8, 9]
    assert [top for _, _, top, _ in boxes] == [16.5, 16.5, 15.5, 15.5]
    assert [middle for _, middle, _, _ in boxes] == [20, 40, 60, 80]
    assert [each.box.width() for each in found] == [7, 7, 9, 9]


def test_the_lines_room_is_what_numbers_names_and_the_legend_leave(chart: TokenChart) -> None:
    small = QFontMetricsF(scaled(chart.font(), 0.82))
    room, legend = chart.frame.room, QFontMetricsF(scaled(chart.font(), 0.9)).height()
    assert room.left() == pytest.approx(small.horizontalAdvance("200") + 11)
    assert room.right() == pytest.approx(chart.width() - 7)
    assert room.bottom() == pytest.approx(200 - small.height() - 8)
    assert 5 + legend < room.top() < 5 + legend + 16
    chart.set_comparison(comparison(((20_000, 1),)))
    assert chart.frame.room.left() == pytest.approx(small.horizontalAdvance("20,000") + 11)


def test_numbers_stand_at_lines_through_the_whole_room(chart: TokenChart, theme: Theme) -> None:
    frame, ink = chart.frame, theme.color("border").name()
    room, values = frame.room, (0, 50, 100, 150, 200)
    found = [each.box for each in drawn(chart) if each.edge == ink]
    heights = [room.bottom() - value / 216 * room.height() for value in values]  # with a little room above 200
    ends = pytest.approx((room.left(), room.right()), abs=0.01)
    assert [(box.left(), box.right()) for box in found] == [ends] * 5
    assert [box.top() for box in found] == [pytest.approx(each, abs=0.01) for each in heights]
    numbers = [each for each in drawn(chart) if each.words in {str(value) for value in values}]
    assert [each.words for each in numbers] == [str(value) for value in values]
    assert {each.fill for each in numbers} == {theme.color("text_muted").name()}
    for each, height in zip(numbers, heights, strict=True):
        assert each.box.left() < room.left() - 6
        assert height - 8 < each.box.top() < height + 8


def test_points_stand_in_the_middle_of_their_turns_and_to_scale(chart: TokenChart, theme: Theme) -> None:
    room = chart.frame.room
    for place in range(2):
        color = theme.fill(FILLS[place])[0].name()
        dots = [each for each in drawn(chart) if each.fill == color]
        assert {each.edge for each in dots} == {theme.color("text_muted").name()}
        for row, dot in enumerate(dots):
            height = room.bottom() - room.height() * TOKENS[row][place] / 216
            assert dot.box.center().x() == pytest.approx(room.left() + (row + 0.5) * room.width() / 4, abs=0.01)
            assert dot.box.center().y() == pytest.approx(height, abs=0.01)
    old, new = (next(each for each in drawn(chart) if each.edge == theme.fill(FILLS[place])[0].name())
                for place in range(2))  # fmt: skip
    assert (old.wide, old.fill, old.dashes in {"", "none"}, new.dashes in {"", "none"}) == (2, "none", True, False)


def test_points_are_left_out_where_turns_are_narrow(chart: TokenChart, theme: Theme) -> None:
    fills = {theme.fill(FILLS[place])[0].name() for place in range(2)}
    chart.resize(chart.width() + 1, 200)
    for turns, seen in ((44, True), (45, False)):  # some 401 pixels: a turn of 9 and one of less
        chart.set_comparison(comparison((TOKENS * 12)[:turns]))
        assert bool([each for each in drawn(chart) if each.fill in fills]) == seen
    chart.set_comparison(comparison(TOKENS[:1]))
    assert len([each for each in drawn(chart) if each.fill in fills]) == 2  # a line of one point is that point


def test_of_turns_that_share_pixels_the_largest_stands_in_their_middle(chart: TokenChart, theme: Theme) -> None:
    tokens = [(10, 0)] * 401
    tokens[5] = (200, 0)
    chart.set_comparison(comparison(tuple(tokens)))  # three turns share what is two pixels wide at least
    color = theme.fill(FILLS[0])[0].name()
    line = next(each for each in drawn(chart) if each.kind == "polyline" and each.edge == color)
    room = chart.frame.room
    cell = room.width() / 401
    assert line.box.left() == pytest.approx(room.left() + 1.5 * cell, abs=0.01)
    assert line.box.right() == pytest.approx(room.left() + 400 * cell, abs=0.01)  # two turns are left for the last one
    assert line.box.height() == pytest.approx(room.height() * 190 / 216, abs=0.01)


def test_the_band_of_the_chosen_turn_is_three_pixels_wide_at_least(chart: TokenChart, theme: Theme) -> None:
    def band() -> list[float]:
        return [*next(each.box for each in drawn(chart) if each.fill == theme.color("accent_soft").name()).getRect()]

    chart.choose(0)
    room = chart.frame.room
    wanted = (room.left(), room.top(), room.width() / 4, room.height())
    assert band() == [pytest.approx(each, abs=0.01) for each in wanted]
    chart.set_comparison(comparison(TOKENS * 200))
    chart.choose(400)
    middle = room.left() + 400.5 * room.width() / 800
    assert (band()[0], band()[2]) == (pytest.approx(middle - 1.5, abs=0.01), 3)
    chart.setFocus()
    picture = QImage.fromData(chart.picture(QSize(460, 200)))
    assert (picture.width(), picture.height()) == (460, 200)
    seen = {picture.pixelColor(x, y).name() for x in range(460) for y in range(0, 200, 2)}
    assert theme.color("accent_soft").name() not in seen  # nobody looks at a turn of a file
    assert {theme.fill(FILLS[1])[0].name(), theme.color("border").name()} <= seen
    assert picture.pixelColor(1, 1) == picture.pixelColor(1, 100) == theme.color("panel")  # nor has it the keyboard


LEFT = 12
"""Where the legend begins, as other lines of the pane do."""


def test_names_of_runs_stand_beside_their_lines(chart: TokenChart, theme: Theme) -> None:
    wide = QFontMetricsF(scaled(chart.font(), 0.9)).horizontalAdvance("Old")
    names = {each.words: each for each in drawn(chart) if each.words in {"Old", "New"}}
    assert names["Old"].box.left() == LEFT + 30
    assert names["New"].box.left() == pytest.approx(LEFT + 30 + 30 + wide + 16, abs=0.01)
    assert {each.fill for each in names.values()} == {theme.color("text").name()}
    signs = [each for each in drawn(chart) if each.image]
    beside = [each.box.left() - 30 for each in names.values()]
    assert [each.box.left() for each in signs] == pytest.approx(beside, abs=0.01)
    assert [each.image for each in signs] == [image_of(swatch(theme, place).pixmap(24, 16)) for place in range(2)]
    assert signs[0].image != signs[1].image


def test_turns_are_named_below_the_middle_of_them(chart: TokenChart) -> None:
    room, wide = chart.frame.room, QFontMetricsF(scaled(chart.font(), 0.82)).horizontalAdvance
    names = {each.words: each.box.left() for each in drawn(chart) if each.words.startswith("#")}
    for row, (name, left) in enumerate(names.items()):
        assert left + wide(name) / 2 == pytest.approx(room.left() + (row + 0.5) * room.width() / 4, abs=0.05)
    chart.set_comparison(comparison(TOKENS * 10))  # ten pixels each
    names = {each.words: each.box.left() for each in drawn(chart) if each.words.startswith("#")}
    step = math.ceil((wide("#78") + 10) / (room.width() / 40))
    assert [int(name[1:]) // 2 for name in names] == [*range(0, 40, step)]
    assert min(names.values()) >= 3  # whole at both ends
    assert max(left + wide(name) for name, left in names.items()) <= chart.width() - 2.9


def test_the_ring_says_that_the_chart_has_the_keyboard(chart: TokenChart, theme: Theme, qtbot: QtBot) -> None:
    def rings() -> list[QRectF]:
        ink = theme.color("focus").name()
        return [each.box for each in drawn(chart) if each.kind == "path" and (each.edge, each.fill) == (ink, "none")]

    chart.clearFocus()
    assert rings() == []
    chart.setFocus()
    qtbot.waitUntil(chart.hasFocus)
    assert rings() == [QRectF(1, 1, chart.width() - 2, 198)]


# ---- the tables of a comparison -------------------------------------------------------------------------------------


def test_columns_of_runs_are_as_wide_as_their_names_within_limits(qapp: object) -> None:
    metrics = QFontMetrics(QFont())
    names = ("A", "A name of middling length", "A name of a run that is by far too long for a column of its own")
    nothing: frozenset[Any] = frozenset()
    shares = tuple(PromptShare((), 1200) for _ in names)
    turns = (TurnComparison(Turn(4, 1, 1), shares, (nothing,) * 3),)
    columns = turn_columns(Comparison(names, turns, (), {}, ()), metrics)
    middling = metrics.horizontalAdvance(names[1]) + 28
    assert 84 < middling < 190
    alone = max(130, middling)
    assert [column.width for column in columns] == [74, 68, 84, middling, 190, 130, alone, 190]
    assert [column.title for column in columns[2:]] == [*names, *(f"only {name}" for name in names)]
    assert columns[0].words(turns[0]) == "#4 ‹2›"  # as everywhere else
    assert [column.numeric for column in columns] == [False, True, *[False] * 6]
    assert [column.words(turns[0]) for column in (columns[2], columns[5])] == ["0 · 1,200", ""]
    assert columns[2].tip is not None
    assert columns[2].tip(turns[0]) == "A: entries and tokens: 0 entries, 1,200 tokens: "
    assert columns[5].tip is not None
    assert columns[5].tip(turns[0]) == "Entries that A alone puts in: none"
    assert [column.numeric for column in total_columns(("Run", "One", "Two"))] == [False, True, True]
