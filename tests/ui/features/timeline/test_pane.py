"""The timeline in the window: what it shows is what the traces say, and it is filled and walked through."""

from __future__ import annotations

import csv
import io
import itertools
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QFocusEvent, QFont, QImage
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from lorestudio.domain.chat import Chat, Generation, Message
from lorestudio.domain.entry import Entry
from lorestudio.domain.records import replace
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.studio.project.project import Project
from lorestudio.studio.prompt.setup import Persona
from lorestudio.studio.replay import timeline
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.replay.timeline_grid import RowOrder
from lorestudio.trace.diff import InjectionChanges
from lorestudio.trace.journey import Journeys
from lorestudio.ui.features.timeline import drawing
from lorestudio.ui.features.timeline import pane as pane_module
from lorestudio.ui.features.timeline.actions import TimelineFeature
from lorestudio.ui.features.timeline.drawing import picture
from lorestudio.ui.features.timeline.map_content import MapContent
from lorestudio.ui.features.timeline.pane import CACHE, ENTRIES, LOW, TURNS, USUAL, ZOOMS, HeatMap, TimelinePane
from lorestudio.ui.features.timeline.tables import TOTALS, changes_text
from lorestudio.ui.shell.main_window import MainWindow
from lorestudio.ui.shell.qt import ACCESSIBLE_TEXT, DISPLAY, HORIZONTAL
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.widgets import dialogs
from lorestudio.ui.widgets.paint import fate_mark
from tests.ui.conftest import drain
from tests.ui.drawing import PaintWatch, drawn
from tests.ui.worlds import ENTRIES as NOTES
from tests.ui.worlds import make_project

MakeWindow = Callable[..., MainWindow]


@pytest.fixture
def window(share_window: MakeWindow, qtbot: QtBot) -> MainWindow:
    """The window on a chat of ten replies, really run, with the timeline in front."""

    def prepare(window: MainWindow) -> None:
        window.show_pane("timeline")
        settle(window, qtbot)

    return share_window(lambda _folder: project_with(long_chat(10)), prepare=prepare, make_simulator=Simulator)


def opened(make_window: MakeWindow, qtbot: QtBot, chat: Chat | None) -> MainWindow:
    made = make_window(project_with(chat), make_simulator=Simulator)
    made.show_pane("timeline")
    settle(made, qtbot)
    return made


def project_with(chat: Chat | None, entries: tuple[Entry, ...] = NOTES) -> Project:
    settings = DeepLoreSettings(enabled=True, scan_depth=2)
    return replace(make_project(entries=entries), chat=chat, settings=settings, vault_folders=(None,))


def long_chat(replies: int) -> Chat:
    """Turns about different things; the second reply has two swipes."""
    about = ("the fortress", "Skarn", "a bell", "nothing")
    messages: list[Message] = [Message("Ada", "Welcome.")]
    for turn in range(replies):
        messages.append(Message("Wren", f"Tell me about {about[turn % 4]}.", is_user=True))
        swipes = ("Well.", "Hm.") if turn == 1 else ()
        messages.append(Message("Ada", "Well.", swipe_id=0 if swipes else None, swipes=swipes))
    return Chat(tuple(messages), "Wren", "Ada")


def settle(window: MainWindow, qtbot: QtBot) -> None:
    """Wait until the pane has shown by itself what was found out."""
    session, pane = window.session, commands(window).timeline
    qtbot.waitUntil(
        lambda: not (session.busy or pane.feed.busy or pane._refresh.isActive()) and session.jobs.idle, timeout=20_000
    )
    QApplication.processEvents()


def commands(window: MainWindow) -> TimelineFeature:
    return window.features.timeline


def pane_of(window: MainWindow) -> TimelinePane:
    return commands(window).timeline


def column(pane: TimelinePane, message: int) -> int:
    return pane.content.column_of(Generation(message))


def injected(pane: TimelinePane) -> int:
    return sum(turn.summary.tokens for turn in pane.feed.turns.values())


# ---- what is shown --------------------------------------------------------------------------------------------------


def test_every_cell_is_what_the_trace_says(window: MainWindow) -> None:
    content = pane_of(window).content
    assert len(content.columns) == 11  # ten replies and the one to come
    assert content.rows
    for at, generation in enumerate(content.generations):
        told = Journeys(window.session.runs.traces[generation]).fates
        for row in range(len(content.rows)):
            entry = content.entry(row)
            assert entry is not None
            ending = content.ending(row, at)
            if ending is None:
                assert entry not in told or not told[entry].state.value.startswith("inject")
                continue
            assert content.word(row, at) == fate_mark(told[entry]).word
            assert f"{NOTES[entry].title}, {content.label(at)}: " in content.describe(row, at)


def test_whoever_follows_the_turns_hears_of_those_that_go_and_of_the_end(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed, session = pane_of(window).feed, window.session
    every, told = len(feed.turns), list[tuple[int, bool]]()
    assert every > 0
    feed.changed.connect(lambda: told.append((len(feed.turns), feed.busy)))
    with monkeypatch.context() as none_is_run:
        none_is_run.setattr(session.runs, "traces", {})
        session.traces_changed.emit(None)
        settle(window, qtbot)
    assert told == [(0, False)]
    session.traces_changed.emit(None)
    settle(window, qtbot)
    assert told[-1] == (every, False)


def test_turns_before_a_change_of_the_chat_stay_as_they_were_looked_at(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = opened(make_window, qtbot, long_chat(6))
    feed, session = pane_of(window).feed, window.session
    known, project, cells = dict(feed.turns), session.project, feed.grid.codes.copy()
    assert project is not None
    assert project.chat is not None
    more = (Message("Wren", "Tell me about Skarn.", is_user=True), Message("Ada", "He came back."))
    longer = replace(project, chat=replace(project.chat, messages=(*project.chat.messages, *more)))
    session.parts.chat_went_on(longer, longer)
    assert feed.turns == {each: turn for each, turn in known.items() if each.message <= 12}  # before anything is run
    settle(window, qtbot)
    assert [each.message for each in feed.generations] == [2, 4, 4, 6, 8, 10, 12, 14, 15]
    assert all(feed.turns[each] is known[each] for each in feed.generations[:7])
    assert (feed.grid.codes[: len(cells), :7] == cells[:, :7]).all()
    for generation, at in feed.columns.items():
        shown = {entry: feed.grid.ending(row, at) for row, entry in enumerate(feed.grid.entries)}
        assert {entry: ending for entry, ending in shown.items() if ending} == feed.turns[generation].summary.endings

    for place, same in ((10, [2, 4, 4, 6, 8, 10]), (9, [2, 4, 4, 6, 8])):  # its own text says nothing of a reply's run
        assert longer.chat is not None
        kept, said = dict(feed.turns), replace(longer.chat.messages[place], text="Tell me about a bell.")
        longer = replace(longer, chat=longer.chat.with_message(place, said))
        session.parts.chat_went_on(longer, longer)
        assert [each.message for each in feed.turns] == same
        settle(window, qtbot)
        assert [each.message for each in feed.generations if feed.turns[each] is kept[each]] == same


def test_a_chat_that_becomes_too_long_for_whole_prompts_is_looked_at_anew(
    make_window: MakeWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timeline, "MOST_MESSAGES", 9)
    window = opened(make_window, qtbot, long_chat(4))
    feed, project = pane_of(window).feed, window.session.project
    assert feed.whole_prompts
    assert project is not None
    longer = replace(project, chat=long_chat(5))
    window.session.parts.chat_went_on(longer, longer)
    assert not feed.whole_prompts
    assert not feed.turns
    settle(window, qtbot)
    assert feed.turns.keys() == set(feed.generations)


def test_several_batches_that_came_at_once_are_taken_one_a_turn(window: MainWindow) -> None:
    feed, taken = pane_of(window).feed, []
    for batch in "abc":
        feed._soon(partial(taken.append, batch))
    seen = []
    for _turn in range(20):
        QApplication.processEvents()
        seen.append(len(taken))
    assert taken == ["a", "b", "c"]
    assert {1, 2, 3} <= set(seen)


def test_a_timeline_that_is_turned_to_again_is_filled_only_if_something_changed(window: MainWindow) -> None:
    pane = pane_of(window)
    content = pane.content
    pane.set_seen(False)
    pane.set_seen(True)
    assert pane.content is content
    pane.set_seen(False)
    pane.feed.changed.emit()
    assert pane.content is content
    pane.set_seen(True)
    assert pane.content is not content


def test_what_changed_since_the_turn_before_is_said_with_links(window: MainWindow) -> None:
    pane = pane_of(window)
    commands(window).jump(Generation(4), None)  # Skarn was asked for
    assert "Since #2:" in pane.changes.text()
    assert ">Skarn</a>" in pane.changes.text()
    assert "Prompt cache: " in pane.cache.text()
    assert pane.changes.focusPolicy() is Qt.FocusPolicy.StrongFocus, "Tab comes to its links"
    pane.changes.linkActivated.emit("entry:1")
    assert window.selection.entry == 1


def test_the_first_reply_has_no_turn_before(window: MainWindow) -> None:
    commands(window).jump(Generation(2), None)
    assert "First reply:" in pane_of(window).changes.text()
    assert pane_of(window).cache.text() == "Prompt cache: nothing was sent before this."


def test_a_prompt_that_was_not_compared_yet_is_no_first_one(window: MainWindow) -> None:
    """Prompts are compared behind everything else: seconds later in a long chat."""
    pane, reply = pane_of(window), Generation(4)
    turn = pane.feed.turns[reply]
    pane.feed.turns[reply] = replace(turn, cache=None)
    commands(window).jump(reply, None)
    assert pane.cache.text() == "Prompt cache: not compared yet."
    pane.feed.turns[reply] = turn
    pane._tell_chosen()
    assert "are read again" in pane.cache.text()


def test_swipes_are_turns_of_their_own_when_wanted(window: MainWindow) -> None:
    pane = pane_of(window)
    window.run("timeline.swipes")
    assert len(pane.content.columns) == 12
    assert [pane.content.label(at) for at in range(4)] == ["#2", "#4 ‹1›", "#4 ‹2›", "#6"]
    assert window.commands.actions["timeline.swipes"].isChecked()
    assert pane.swipes.isChecked()
    window.run("timeline.swipes")
    assert len(pane.content.columns) == 11
    assert not pane.swipes.isChecked()


@pytest.mark.own_window
def test_a_swipe_that_is_looked_at_takes_the_place_of_the_other(window: MainWindow) -> None:
    pane = pane_of(window)
    commands(window).jump(Generation(4, 1), None)
    assert pane.content.generations[1] == Generation(4, 1)
    assert pane.map._column == 1


@pytest.mark.parametrize(("took", "rests"), [(0.0, pane_module.REFRESH_MS), (0.1, 800), (9.0, 2000)])
def test_a_map_that_takes_long_is_filled_less_often(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch, took: float, rests: int
) -> None:
    """It rests eight times as long as it worked, but two seconds at most."""
    pane, clock = pane_of(window), itertools.count(1000.0, took)
    monkeypatch.setattr(pane_module, "time", SimpleNamespace(perf_counter=lambda: next(clock)))
    pane._replaced()
    assert pane._refresh.interval() == rests


def test_rows_are_sorted_and_filtered(window: MainWindow) -> None:
    pane = pane_of(window)
    pane.show_as(replace(pane.shown, order=RowOrder.TITLE))
    assert list(pane.content.titles) == sorted(pane.content.titles, key=str.casefold)
    assert pane.order.currentText() == "By title"
    pane.show_as(replace(pane.shown, only_injected=True))
    assert pane.injected.isChecked()
    content = pane.content
    for row in range(len(content.rows)):
        endings = [content.ending(row, at) for at in range(len(content.columns))]
        assert any(ending is not None and ending.injected for ending in endings)


# ---- walking --------------------------------------------------------------------------------------------------------


@pytest.mark.own_window
def test_arrows_go_from_turn_to_turn_and_from_entry_to_entry(window: MainWindow, qtbot: QtBot) -> None:
    pane = pane_of(window)
    view = pane.map
    commands(window).jump(Generation(6), pane.content.entry(0))
    qtbot.keyClick(view, Qt.Key.Key_Right)
    assert window.selection.generation == Generation(8)
    qtbot.keyClick(view, Qt.Key.Key_Down)
    assert window.selection.entry == pane.content.entry(1)
    qtbot.keyClick(view, Qt.Key.Key_Home)
    assert window.selection.generation == Generation(2)
    qtbot.keyClick(view, Qt.Key.Key_End)
    assert window.selection.generation == Generation(21)
    assert pane.content.titles[1] in view.accessibleDescription()


@pytest.mark.own_window
def test_a_click_goes_to_the_turn_and_the_entry(window: MainWindow, qtbot: QtBot) -> None:
    pane = pane_of(window)
    at = pane.map.geometry_now()
    point = QPoint(round(at.left_of(2) + at.cell / 2), round(at.top_of(1) + 8))
    qtbot.mouseClick(pane.map.viewport(), Qt.MouseButton.LeftButton, pos=point)
    assert window.selection.generation == pane.content.generations[2]
    assert window.selection.entry == pane.content.entry(1)
    bar = QPoint(round(at.left_of(4) + at.cell / 2), 10)
    qtbot.mouseClick(pane.map.viewport(), Qt.MouseButton.LeftButton, pos=bar)
    assert window.selection.generation == pane.content.generations[4]
    assert window.selection.entry == pane.content.entry(1)


def test_enter_asks_why(window: MainWindow, qtbot: QtBot) -> None:
    pane = pane_of(window)
    commands(window).jump(Generation(6), pane.content.entry(0))
    qtbot.keyClick(pane.map, Qt.Key.Key_Return)
    assert window.why.browser.hasFocus()


@pytest.mark.own_window
def test_brackets_make_turns_wider_and_narrower(window: MainWindow, qtbot: QtBot) -> None:
    pane = pane_of(window)
    before = pane.map.cell
    pane.map.setFocus()
    qtbot.keyClick(pane.map, Qt.Key.Key_BracketLeft)
    assert pane.map.cell < before
    window.run("timeline.wider")
    assert pane.map.cell == before


# ---- zoom and overview ----------------------------------------------------------------------------------------------


def content_of(columns: int) -> MapContent:
    generations = tuple(Generation(place) for place in range(columns))
    return MapContent(generations=generations, columns=tuple(range(columns)), turns=(None,) * columns)


def make_map(theme: Theme, qtbot: QtBot, columns: int) -> HeatMap:
    view = HeatMap(theme)
    qtbot.addWidget(view)
    view.resize(600, 300)
    view.show()
    view.set_content(content_of(columns), fresh=True)
    return view


def test_zooming_keeps_the_chosen_turn_where_it_is(theme: Theme, qtbot: QtBot) -> None:
    view = make_map(theme, qtbot, 5000)
    view.choose(-1, 2500)
    before = view.geometry_now().left_of(2500)
    view.zoom(-1)
    assert view.cell < USUAL
    assert abs(view.geometry_now().left_of(2500) - before) <= 1
    for _ in range(20):
        view.zoom(-1)
    assert view.cell == ZOOMS[0]
    for _ in range(20):
        view.zoom(1)
    assert view.cell == ZOOMS[-1]


def test_a_chosen_turn_comes_into_sight(theme: Theme, qtbot: QtBot) -> None:
    view = make_map(theme, qtbot, 5000)
    assert view.content.column_of(None) == -1  # before one is chosen
    view.choose(-1, 4999)
    at = view.geometry_now()
    assert at.grid.left() <= at.left_of(4999) <= at.grid.right()


def test_what_is_scrolled_is_drawn_anew(theme: Theme, qtbot: QtBot) -> None:
    view = make_map(theme, qtbot, 5000)
    view.show()
    drain()
    before = [each.box for each in drawn(view.viewport()) if each.kind == "text"]
    painted = PaintWatch(view.viewport())
    view.horizontalScrollBar().setValue(view.horizontalScrollBar().maximum())
    drain()
    assert painted.seen > 0
    assert [each.box for each in drawn(view.viewport()) if each.kind == "text"] != before


def test_it_shows_at_once_that_it_has_the_keyboard_or_not(theme: Theme, qtbot: QtBot) -> None:
    view = make_map(theme, qtbot, 5)
    drain()
    for kind in (QEvent.Type.FocusIn, QEvent.Type.FocusOut):
        painted = PaintWatch(view.viewport())
        QApplication.sendEvent(view, QFocusEvent(kind))
        drain()
        assert painted.seen == 1


# ---- tables and files -----------------------------------------------------------------------------------------------


@pytest.mark.own_window
def test_tables_say_the_same_as_the_map(window: MainWindow) -> None:
    pane = pane_of(window)
    pane.tabs.setCurrentIndex(TURNS)
    table = pane.turn_table
    for row, generation in enumerate(pane.content.generations):
        trace = window.session.runs.traces[generation]
        assert table.data(table.index(row, 1)) == str(len(trace.injections))
        assert table.data(table.index(row, 2)) == f"{trace.total_tokens:,}"
        assert str(table.data(table.index(row, 2), ACCESSIBLE_TEXT)).startswith("Tokens: ")
    pane.tabs.setCurrentIndex(ENTRIES)
    entries = pane.entry_table
    assert entries.columnCount() == 5 + len(pane.content.columns)
    assert entries.headerData(5, HORIZONTAL, DISPLAY) == "#2"
    spans: set[tuple[str, str]] = set()
    for row in range(entries.rowCount()):
        cells = [entries.data(entries.index(row, 5 + at)) for at in range(len(pane.content.columns))]
        went_in = [at for at, cell in enumerate(cells) if cell in {"injected", "trimmed"}]
        ends = [entries.headerData(5 + at, HORIZONTAL, DISPLAY) for at in (*went_in[:1], *went_in[-1:])] or ["", ""]
        totals = [str(len(went_in)), str(len([cell for cell in cells if cell])), *ends]
        assert [entries.data(entries.index(row, column)) for column in range(1, 5)] == totals
        spans.add((ends[0], ends[-1]))
    assert any(first != last for first, last in spans)


@pytest.mark.always
@pytest.mark.own_window
def test_a_row_of_a_table_goes_there(window: MainWindow) -> None:
    pane = pane_of(window)
    pane.tabs.setCurrentIndex(TURNS)
    pane.turns.activated.emit(pane.turn_table.index(3, 0))
    assert window.selection.generation == pane.content.generations[3]
    pane.tabs.setCurrentIndex(ENTRIES)
    pane.entries.activated.emit(pane.entry_table.index(1, 7))
    assert window.selection.entry == pane.content.entry(1)
    assert window.selection.generation == pane.content.generations[2]


@pytest.mark.own_window
def test_the_cache_view_counts_whole_prompts_and_follows_the_setup(window: MainWindow, qtbot: QtBot) -> None:
    pane, session = pane_of(window), window.session
    pane.tabs.setCurrentIndex(CACHE)
    assert "Counted is the whole prompt" in pane.legend.text()
    before = pane.feed.totals.tokens
    assert session.project is not None
    session.parts.take_setup(replace(session.project.setup, persona=Persona("Wren", "A courier. " * 40)))
    qtbot.waitUntil(lambda: pane.feed.totals.tokens > before and not pane.feed.busy, timeout=20_000)
    grown = pane.feed.totals.tokens - before
    assert grown == pane.feed.totals.turns * session.project.counter.count("A courier. " * 40)


@pytest.mark.own_window
def test_the_cache_view_adds_up(window: MainWindow) -> None:
    pane = pane_of(window)
    pane.tabs.setCurrentIndex(CACHE)
    totals = pane.feed.totals
    turns = [turn.cache for turn in pane.feed.turns.values() if turn.cache is not None and turn.generation.swipe == 0]
    assert totals.turns == len(turns)
    assert totals.missed == sum(turn.missed for turn in turns)
    assert f"{totals.lore_share:.0%}" in pane.totals.text()
    shown = [pane.cause_table.data(pane.cause_table.index(row, 2)) for row in range(pane.cause_table.rowCount())]
    assert shown == [f"{cause.tokens:,}" for cause in totals.causes]


def test_saving_as_csv_and_as_pictures(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    turns, entries = tmp_path / "turns.csv", tmp_path / "entries.csv"
    commands(window).save(turns)
    commands(window).save(entries, entries=True)
    for suffix in (".png", ".svg"):
        commands(window).save(tmp_path / f"map{suffix}")
    qtbot.waitUntil(lambda: window.session.jobs.idle)
    rows = list(csv.reader(io.StringIO(turns.read_text(encoding="utf-8-sig"))))
    assert rows[0][0] == "Reply"
    assert len(rows) == 1 + len(pane_of(window).content.columns)
    assert "injected" in entries.read_text(encoding="utf-8-sig")
    image = QImage(str(tmp_path / "map.png"))
    assert image.width() > 200
    assert "<svg" in (tmp_path / "map.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["turns.csv", "entries.csv", "map.png", "map.svg"])
def test_what_is_saved_is_made_beside_the_window(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    made_in: list[threading.Thread] = []

    def noting(make: Callable[..., bytes]) -> Callable[..., bytes]:
        def made(*args: object, **words: object) -> bytes:
            made_in.append(threading.current_thread())
            return make(*args, **words)

        return made

    for module, maker in ((pane_module, "csv_bytes"), (drawing, "png_bytes"), (drawing, "svg_bytes")):
        monkeypatch.setattr(module, maker, noting(getattr(module, maker)))
    commands(window).save(tmp_path / name, entries=name == "entries.csv")
    assert window.status.currentMessage() == f"Saving {name}…"
    qtbot.waitUntil(lambda: window.session.jobs.idle)
    assert window.status.currentMessage() == f"{name} was saved."
    assert len(made_in) == 1
    assert made_in[0] is not threading.main_thread()


def test_what_is_saved_is_what_was_seen_though_more_comes_in_and_colours_change(
    window: MainWindow, theme: Theme
) -> None:
    content, font = pane_of(window).content.as_now(), QFont()
    pane = pane_of(window)
    pane.content = content

    def makers() -> list[Callable[[], bytes]]:
        pictures = [picture(theme, font, content, cell, kind) for kind in (".png", ".svg") for cell in (4.0, 20.0)]
        return [pane.csv(entries=True), pane.csv(entries=False), *pictures]

    before, late = [make() for make in makers()], makers()
    theme.choose("dark" if theme.palette.name == "light" else "light")
    for place in content.columns:
        content.grid.drop(place)
    assert [make() for make in late] == before
    assert all(now != then for now, then in zip([make() for make in makers()[2:]], before[2:], strict=True))


def test_a_file_that_cannot_be_written_is_said(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    commands(window).save(tmp_path / "file" / "turns.csv")
    qtbot.waitUntil(lambda: window.session.jobs.idle)
    assert "turns.csv cannot be written" in window.bars.details() or window.bars.isVisible()
    commands(window).save(tmp_path / "map.gif")
    assert not (tmp_path / "map.gif").exists()


def test_a_turn_beyond_the_bars_of_the_cache_is_looked_at_without_one(make_window: MakeWindow, qtbot: QtBot) -> None:
    """The bars are those of the part that was shown when their page was in front last."""
    window = opened(make_window, qtbot, long_chat(6))
    pane = pane_of(window)
    pane.show_as(replace(pane.shown, part=(Generation(2), Generation(6))))
    pane.tabs.setCurrentIndex(CACHE)
    pane.tabs.setCurrentIndex(0)
    pane.show_as(replace(pane.shown, part=None))
    commands(window).jump(Generation(12), None)
    assert "Since #10:" in pane.changes.text()
    assert pane.cache_bars.accessibleDescription() == ""
    pane.tabs.setCurrentIndex(CACHE)
    assert pane.cache_bars.accessibleDescription().startswith("#12")


def test_the_names_of_what_changed_are_those_of_now_and_all_of_them(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = opened(make_window, qtbot, long_chat(6))
    pane, project = pane_of(window), window.session.project
    commands(window).jump(Generation(4), None)
    assert ">Skarn</a>" in pane.changes.text()
    assert project is not None
    renamed = tuple(replace(each, title="The wyrm") if each.title == "Skarn" else each for each in NOTES)
    window.session.set_project(replace(project, index=replace(project.index, entries=renamed)), renewed="A title.")
    settle(window, qtbot)
    assert ">The&nbsp;wyrm</a>" in pane.changes.text()
    many = [("vault", f"{number}.md") for number in range(9)]
    changes = InjectionChanges(entered=tuple(many), left=(), resized=(), moved=(), rewritten=())
    assert changes_text(changes, lambda key: key[1]).count(".md") == 9


def test_nothing_to_draw_is_said(theme: Theme, qapp: QApplication) -> None:
    with pytest.raises(ValueError, match="no turns"):
        picture(theme, qapp.font(), MapContent(), 14.0, ".png")


# ---- in the window --------------------------------------------------------------------------------------------------


@pytest.mark.own_window
def test_each_page_has_its_view_and_takes_the_keyboard(window: MainWindow) -> None:
    pane = pane_of(window)
    for page, view in enumerate((pane.map, pane.turns, pane.entries, pane.causes)):
        pane.tabs.setCurrentIndex(page)
        assert pane.focus_target() is view
    pane.tabs.setCurrentIndex(0)


@pytest.mark.own_window
def test_tables_follow_the_turn_and_the_entry_that_are_looked_at(window: MainWindow) -> None:
    pane = pane_of(window)
    pane.tabs.setCurrentIndex(TURNS)
    commands(window).jump(Generation(8), pane.content.entry(1))
    assert pane.turns.currentIndex().row() == pane.content.column_of(Generation(8))
    pane.tabs.setCurrentIndex(ENTRIES)
    assert pane.entries.currentIndex().row() == 1
    pane.tabs.setCurrentIndex(CACHE)
    commands(window).jump(Generation(10), pane.content.entry(0))
    assert pane.cache_bars.accessibleDescription().startswith("#10: ")
    pane.tabs.setCurrentIndex(0)
    assert (pane.map._row, pane.map._column) == (0, pane.content.column_of(Generation(10)))


@pytest.mark.own_window
def test_a_click_on_a_bar_of_the_cache_goes_to_its_turn(window: MainWindow) -> None:
    pane = pane_of(window)
    pane.tabs.setCurrentIndex(CACHE)
    pane.cache_bars.picked.emit(3)
    assert window.selection.generation == pane.content.generations[3]
    caches = [turn.cache for turn in pane.content.turns if turn is not None]
    layers = {layer.fill: list(layer.values) for layer in pane.cache_bars.bars.layers}
    assert list(layers) == ["grey", "sky", "purple"]
    for fill, name in (("grey", "kept"), ("sky", "new"), ("purple", "by_lore")):
        assert layers[fill] == [getattr(each, name) if each is not None else 0 for each in caches]
    pane.tabs.setCurrentIndex(0)


@pytest.mark.own_window
def test_in_a_row_of_the_entries_totals_belong_to_the_turn_that_is_looked_at(window: MainWindow) -> None:
    pane = pane_of(window)
    commands(window).jump(Generation(6), pane.content.entry(0))
    pane.tabs.setCurrentIndex(ENTRIES)
    pane.entries.clicked.emit(pane.entry_table.index(2, TOTALS - 1))
    assert (window.selection.generation, window.selection.entry) == (Generation(6), pane.content.entry(2))
    pane.entries.clicked.emit(pane.entry_table.index(1, TOTALS))
    assert (window.selection.generation, window.selection.entry) == (
        pane.content.generations[0], pane.content.entry(1),
    )  # fmt: skip
    pane.tabs.setCurrentIndex(0)


@pytest.mark.own_window
def test_only_links_to_entries_go_anywhere(window: MainWindow) -> None:
    pane = pane_of(window)
    told: list[object] = []
    pane.jump.connect(lambda *news: told.append(news))
    for link in ("entry:", "entry:x", "https://x", "entry:2"):
        pane.changes.linkActivated.emit(link)
    assert told == [(window.selection.generation, 2)]


def test_enter_on_a_turn_alone_goes_there_and_asks_nothing(window: MainWindow) -> None:
    pane = pane_of(window)
    told: list[str] = []
    pane.wanted.connect(told.append)
    pane.map.entered.emit(-1, 2)
    assert window.selection.generation == pane.content.generations[2]
    assert told == []
    pane.map.moved.emit(0, 99)  # there is no such turn
    assert window.selection.generation == pane.content.generations[2]


@pytest.mark.own_window
def test_buttons_show_what_is_shown(window: MainWindow) -> None:
    pane = pane_of(window)
    pane.injected.click()
    assert (pane.shown.only_injected, pane.injected.isChecked()) == (True, True)
    pane.injected.click()
    assert (pane.shown.only_injected, pane.injected.isChecked()) == (False, False)
    place = [*RowOrder].index(RowOrder.TITLE)
    pane.order.activated.emit(place)
    assert pane.shown.order is RowOrder.TITLE
    assert pane.order.currentText() == "By title"
    assert pane.order.itemData(pane.order.currentIndex(), Qt.ItemDataRole.ToolTipRole) == "From A to Z"
    before = pane.map.cell
    pane.out.click()
    assert pane.map.cell < before
    pane.into.click()
    assert pane.map.cell == before


def test_on_a_line_of_their_own_the_order_begins_it_and_the_buttons_end_it(window: MainWindow) -> None:
    pane = pane_of(window)
    commands(window).jump(Generation(4), None)
    pane.resize(340, 400)
    drain()
    order, *buttons = (pane.order, pane.swipes, pane.injected, pane.save)
    line = order.parentWidget()
    assert not pane.tabs.isAncestorOf(line)
    assert order.x() == 0
    assert [after.x() - before.geometry().right() for before, after in itertools.pairwise(buttons)] == [3, 3]
    assert buttons[-1].geometry().right() == line.rect().right()


def test_a_narrow_pane_has_fewer_buttons_and_a_low_one_fewer_lines(window: MainWindow) -> None:
    pane = pane_of(window)
    commands(window).jump(Generation(4), None)
    for wide in (True, False):
        pane.resize(500 if wide else 499, 400)
        assert (pane.out.isHidden(), pane.into.isHidden()) == (not wide, not wide)
        assert pane.order.maximumWidth() == (140 if wide else 92)
    for height, seen in ((LOW, True), (LOW - 1, False)):
        pane.resize(600, height)
        assert pane.cache.isHidden() == (not seen)


def test_files_are_offered_in_a_menu(window: MainWindow, qtbot: QtBot) -> None:
    pane = pane_of(window)
    names = ("timeline.csv", "timeline.csv_entries", "timeline.picture")
    assert pane.save.menu().actions() == [window.commands.actions[name] for name in names]


def test_a_file_is_asked_for_by_its_kind(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str, str]] = []
    saved: list[tuple[str, bool]] = []

    def choose(
        _parent: object, _title: str, name: str, filters: str, suffix: str, then: Callable[[Path], None]
    ) -> None:
        asked.append((name, filters.split(" ", maxsplit=1)[0], suffix))
        then(Path("x"))

    monkeypatch.setattr(dialogs, "choose_new_file", choose)
    monkeypatch.setattr(commands(window), "save", lambda path, *, entries: saved.append((str(path), entries)))
    for action in ("timeline.csv", "timeline.csv_entries", "timeline.picture"):
        window.run(action)
    offered = [("timeline.csv", "Tables"), ("entries.csv", "Tables"), ("timeline.png", "Pictures")]
    assert asked == [(name, kind, name[-4:]) for name, kind in offered]
    assert saved == [("x", False), ("x", True), ("x", False)]


@pytest.mark.always
def test_nothing_is_saved_of_no_turns(make_window: MakeWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    window = make_window(project_with(long_chat(2)), make_simulator=Simulator, replay=False)
    window.show_pane("timeline")
    pane_of(window).content = MapContent()
    monkeypatch.setattr(dialogs, "choose_new_file", lambda *_args: pytest.fail("there is nothing to save"))
    window.run("timeline.csv")
    assert window.bars.texts == ["There are no turns to save yet. Replay the chat first."]


# ---- states ---------------------------------------------------------------------------------------------------------


@pytest.mark.always
def test_without_a_chat_it_says_what_it_needs(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = opened(make_window, qtbot, None)
    pane = pane_of(window)
    assert pane.empty.isVisible()
    assert pane.empty.title.text() == "No chat open"
    window.docks["timeline"].hide()
    session = window.session
    session.set_project(project_with(long_chat(2)))
    qtbot.waitUntil(lambda: not session.busy and session.jobs.idle and len(session.runs.traces) == 4, timeout=20_000)
    window.show_pane("timeline")
    QApplication.processEvents()
    # At once, and not what was so when it was seen last; the strip in the chat's pane may have looked at them already.
    assert pane.empty.isHidden() or pane.empty.title.text() == "Looking at the turns"
    qtbot.waitUntil(lambda: pane.empty.isHidden() and len(pane.content.columns) == 3)  # then by itself


def test_before_a_replay_it_offers_one(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window(project_with(long_chat(2)), make_simulator=Simulator, replay=False)
    window.show_pane("timeline")
    pane = pane_of(window)
    assert pane.empty.title.text() == "No turn was run yet"
    pane.empty.pressed.emit("replay.all")
    settle(window, qtbot)
    assert not pane.empty.isVisible()
    assert len(pane.feed.turns) == 4  # two replies, one of them with two swipes, and the one to come


def test_nothing_is_looked_at_while_nobody_looks(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window(project_with(long_chat(2)), make_simulator=Simulator, replay=False)
    pane = pane_of(window)
    window.docks["chat"].hide()
    window.session.replays.run_all()
    qtbot.waitUntil(lambda: not window.session.busy and window.session.jobs.idle)
    assert not pane.feed.turns
    window.show_pane("timeline")
    settle(window, qtbot)
    assert len(pane.feed.turns) == len(window.session.generations)


def test_a_chat_in_which_nothing_was_found_says_so(make_window: MakeWindow, qtbot: QtBot) -> None:
    entries = tuple(replace(entry, constant=False, keys=("nowhere",)) for entry in NOTES)
    window = make_window(project_with(long_chat(2), entries), make_simulator=Simulator)
    window.show_pane("timeline")
    settle(window, qtbot)
    assert pane_of(window).empty.title.text() == "Nothing was found in this chat"
    assert "No note was a candidate" in pane_of(window).empty.text.text()
    window.session.replays.choose(system="facts")  # chooses from no notes
    settle(window, qtbot)
    assert pane_of(window).empty.title.text() == "Nothing was found in this chat"
    assert pane_of(window).empty.text.text().startswith("Fact memory had nothing to choose from")


@pytest.mark.own_window
def test_another_chat_begins_anew(window: MainWindow, qtbot: QtBot) -> None:
    project = window.session.project
    assert project is not None
    window.session.set_project(replace(project, chat=long_chat(3)))
    settle(window, qtbot)
    assert len(pane_of(window).content.columns) == 4


@pytest.mark.own_window
def test_a_changed_setting_fills_it_anew(window: MainWindow, qtbot: QtBot) -> None:
    pane, session = pane_of(window), window.session
    assert session.project is not None
    before = injected(pane)
    session.parts.adjust("one entry", settings=session.project.settings.model_copy(update={"max_entries": 1}))
    settle(window, qtbot)
    for generation, turn in pane.feed.turns.items():
        assert turn.summary.tokens == session.runs.traces[generation].total_tokens
    assert injected(pane) < before


def test_a_reply_that_the_line_of_the_chat_lacks_is_told_of_without_end(make_window: MakeWindow, qtbot: QtBot) -> None:
    """While a changed chat is looked at anew, the reply may be run and yet stand beside the columns there are."""
    window = opened(make_window, qtbot, long_chat(4))
    pane = window.docks["timeline"].pane
    reply = pane.feed.line[-1]
    pane.feed.line = pane.feed.line[:-1]
    window.selection.choose_message(reply.message, reply)
    settle(window, qtbot)
    pane._fill()  # nothing tells of a line that was cut by hand
    pane.feed.line = pane.feed.line[:-1]
    pane._show_chosen()
    strip = window.features.timeline.strip
    strip._fill()
    assert reply not in pane.content.generations
    assert pane.content.column_of(reply) == -1
    assert reply not in strip.generations


@pytest.mark.always
def test_while_nothing_went_in_candidates_are_offered(make_window: MakeWindow, qtbot: QtBot) -> None:
    notes = tuple(replace(entry, constant=False) for entry in NOTES)
    window = make_window(project_with(long_chat(2), notes), make_simulator=Simulator)
    settings = window.session.project.settings.model_copy(update={"unlimited_budget": False, "max_tokens_budget": 1})
    window.session.parts.adjust("tight", settings=settings)
    window.show_pane("timeline")
    settle(window, qtbot)
    pane = pane_of(window)
    assert not pane.empty.isVisible()
    pane.toggle_injected()
    assert (pane.empty.isVisible(), pane.empty.title.text()) == (True, "Nothing went in")
    pane.empty.pressed.emit("timeline.injected")
    assert not pane.empty.isVisible()
    assert pane.focus_target() is pane.map


def test_it_says_what_it_waits_for(make_window: MakeWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    window = make_window(project_with(long_chat(2)), make_simulator=Simulator, replay=False)
    window.show_pane("timeline")
    pane, strip = pane_of(window), commands(window).strip

    def said() -> tuple[str, str]:
        return pane.empty.title.text(), pane.empty.text.text()

    assert pane.focus_target() is pane
    assert "Replay all" in strip.nothing.text()
    monkeypatch.setattr(type(window.session), "busy", True)
    pane._fill()
    strip._fill()
    assert said() == ("The chat is being replayed", "Turns appear here as they are run.")
    assert strip.nothing.text() == "The replies appear here as they are run."
    monkeypatch.undo()
    pane._fill()
    assert said() == (
        "No turn was run yet", "Replay the chat to see which notes went into its replies, turn by turn."
    )  # fmt: skip
    window.session.replays.run_all()
    qtbot.waitUntil(lambda: 0 < len(pane.feed.turns) == len(window.session.runs.traces) and window.session.jobs.idle)
    turns, pane.feed.turns = pane.feed.turns, {}
    pane._fill()
    strip._fill()
    assert said() == ("Looking at the turns", "They appear here in a moment.")
    assert strip.nothing.text() == "The replies are being counted."
    pane.feed.turns = dict([*turns.items()][:1])
    pane.content = MapContent()
    pane._show_page()
    assert said()[0] == "Looking at the turns"  # what is not looked at yet may be in
    pane.feed.turns = turns
    pane._show_page()
    assert said()[0] == "Nothing was found in this chat"
    pane._fill()


def test_a_reply_that_was_not_run_is_said(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = opened(make_window, qtbot, long_chat(2))
    pane = pane_of(window)
    reply = pane.feed.line[0]
    commands(window).jump(reply, None)
    assert pane.cache.text()
    turn = pane.feed.turns.pop(reply)
    pane._tell_chosen()
    assert (pane.changes.text(), pane.cache.text(), pane.cache.isHidden()) == ("This reply was not run yet.", "", True)
    pane.feed.turns[reply] = turn
    window.selection.choose_message(None, None)
    pane._tell_chosen()
    assert pane.changes.text() == "Choose a reply."
