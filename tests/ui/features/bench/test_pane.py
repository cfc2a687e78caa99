"""The test bench in the window, with the real engine."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QHelpEvent, QTextCharFormat, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton, QToolTip

from lorestudio.domain.chat import Chat
from lorestudio.domain.records import replace
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.tryout import bench as studio_bench
from lorestudio.studio.tryout.bench import BenchRow
from lorestudio.trace.found_keys import FoundKey
from lorestudio.trace.journey import Fate, FateState
from lorestudio.trace.summary import summary
from lorestudio.ui.features.bench.pane import (
    ENTRY,
    KEY,
    TOKENS,
    WHY,
    BenchPane,
    BenchText,
    full_words,
    key_words,
    why_words,
)
from lorestudio.ui.shell.main_window import MainWindow
from lorestudio.ui.shell.qt import ACCESSIBLE_TEXT, TOOLTIP
from tests.studio.previews import CHAT, project_of
from tests.ui.conftest import drain
from tests.ui.drawing import at_the_right, words_drawn

NOTES = {
    "Lamp.md": "---\ntags: [lorebook]\nkeys: [lamp]\n---\nBrass.\n",
    "Tide.md": "---\ntags: [lorebook]\nkeys: [tide]\nrefine_keys: [storm]\n---\nTwice a day.\n",
    "Quay.md": "---\ntags: [lorebook]\nkeys: [quay]\n---\nStone.\n",
}


TOKENIZER = Path(__file__).parents[3] / "cases" / "fixtures" / "tiny.tiktoken"


def make_project(chat: Chat | None = CHAT) -> Project:
    return replace(project_of(NOTES), vault_folders=(None,), places=("v",), chat=chat)


@pytest.fixture
def shown(make_window: Callable[..., MainWindow]) -> Callable[..., MainWindow]:
    def make(chat: Chat | None = CHAT) -> MainWindow:
        window = make_window(make_project(chat), make_simulator=Simulator)
        window.show_pane("bench")
        drain()
        return window

    return make


def settle(pane: BenchPane, qtbot) -> None:
    qtbot.waitUntil(lambda: not pane._pause.isActive() and not pane._newest.busy and pane._session.jobs.idle)
    drain()


def type_in(pane: BenchPane, text: str, qtbot) -> None:
    pane.text.setPlainText(text)
    settle(pane, qtbot)


def titles(pane: BenchPane) -> list[str]:
    return [pane.model.index(row, ENTRY).data() for row in range(pane.model.rowCount())]


def marked(pane: BenchPane) -> list[tuple[str, bool]]:
    """The marked words, and whether their line is a full one."""
    full = QTextCharFormat.UnderlineStyle.SingleUnderline
    return [(each.cursor.selectedText(), each.format.underlineStyle() == full) for each in pane.text.extraSelections()]


def test_a_text_says_what_it_triggers(shown, qtbot) -> None:
    window = shown()
    pane = window.features.bench.pane
    type_in(pane, "The lamp, the Lamp and the tide.", qtbot)
    assert titles(pane) == ["Lamp", "Tide"]
    cells = [pane.model.index(0, column).data() for column in (KEY, WHY, TOKENS)]
    assert cells[:2] == ["lamp", "Key found"]
    assert int(cells[2]) > 0
    assert at_the_right(pane.model) == [TOKENS]
    assert pane.model.index(1, WHY).data() == "Refine keys missing"
    assert pane.model.index(1, ENTRY).data(ACCESSIBLE_TEXT) == "Tide: refused"
    guess = pane.tokens.text()
    assert guess.startswith("≈ ")
    window.session.set_project(window.session.project.with_tokenizer(f"chat:{TOKENIZER}"))
    settle(pane, qtbot)
    assert re.fullmatch(r"\d+ tokens", pane.tokens.text())
    assert sorted(marked(pane)) == [("Lamp", True), ("lamp", True), ("tide", False)]


def test_the_newest_text_wins(shown, qtbot, monkeypatch) -> None:
    pane = shown().features.bench.pane
    tested: list[str] = []
    real = studio_bench.Bench.test

    def test(self, text, **more):
        tested.append(text)
        return real(self, text, **more)

    monkeypatch.setattr(studio_bench.Bench, "test", test)
    for text in ("l", "la", "lam", "lamp"):
        pane.text.setPlainText(text)
    settle(pane, qtbot)
    assert tested == ["lamp"]
    pane.text.setPlainText("quay")
    pane.run()
    pane.text.setPlainText("tide storm")
    pane.run()
    settle(pane, qtbot)
    assert titles(pane) == ["Tide"]
    assert pane.result is not None
    assert pane.result.text == "tide storm"


def test_choosing_a_row_chooses_the_entry_everywhere_and_the_other_way_round(shown, qtbot) -> None:
    window = shown()
    pane = window.features.bench.pane
    type_in(pane, "lamp and quay", qtbot)
    pane.table.selectRow(1)
    chosen = window.session.entry(window.selection.entry)
    assert chosen is not None
    assert chosen.title == titles(pane)[1]
    assert chosen.title in pane.why.text()
    other = next(each for each in window.session.project.index.entries if each.title == titles(pane)[0])
    window.selection.choose_entry(other.id)
    assert pane.table.currentIndex().row() == 0
    tide = next(each for each in window.session.project.index.entries if each.title == "Tide")
    window.selection.choose_entry(tide.id)
    assert not pane.table.selectionModel().hasSelection()
    assert not pane.why.isVisible()
    type_in(pane, "the tide", qtbot)
    assert titles(pane)[pane.table.currentIndex().row()] == "Tide"
    assert pane.why.text().startswith("Tide: ")


def test_the_keys_of_the_chosen_entry_stand_out(shown, qtbot) -> None:
    window = shown()
    pane = window.features.bench.pane
    type_in(pane, "lamp and quay", qtbot)
    before = [each.format.background().color() for each in pane.text.extraSelections()]
    assert before[0] == before[1]
    pane.table.selectRow(0)
    looks = {each.cursor.selectedText(): each.format.background().color() for each in pane.text.extraSelections()}
    assert (looks["lamp"], looks["quay"]) == (window.theme.fill("yellow")[0], before[0])


def test_of_marks_in_one_place_the_chosen_entry_lies_on_top_then_one_that_goes_in(qtbot, theme) -> None:
    text = BenchText(theme)
    qtbot.addWidget(text)
    text.setPlainText("lamplight")
    goes_in, stays_out = (
        replace(row(state=state, places=(FoundKey(entry, key, start=0, end=len(key)),)), entry=entry)
        for entry, state, key in ((1, FateState.INJECTED, "lamp"), (2, FateState.REMOVED, "lamplight"))
    )
    text.show_rows("lamplight", (goes_in, stays_out))
    tops: list[str] = []
    for chosen in (None, goes_in.entry, stays_out.entry):
        text.choose(chosen)
        tops.append([each.cursor.selectedText() for each in text.extraSelections()][-1])
    assert tops == ["lamp", "lamp", "lamplight"]


@pytest.mark.parametrize("name", ["light", "dark"])
def test_marked_words_are_written_in_the_ink_of_their_ground(shown, qtbot, name) -> None:
    window = shown()
    window.run(f"view.theme.{name}")
    pane = window.features.bench.pane
    type_in(pane, "The lamp and the tide.", qtbot)
    pane.table.selectRow(0)
    theme = window.theme
    plain, chosen = (theme.color("mark"), theme.color("on_mark")), tuple(theme.fill("yellow"))
    inks = {
        each.cursor.selectedText(): (each.format.background().color(), each.format.foreground().color())
        for each in pane.text.extraSelections()
    }
    assert inks == {"tide": plain, "lamp": chosen}
    lines = {each.cursor.selectedText(): each.format.underlineColor() for each in pane.text.extraSelections()}
    assert lines == {"tide": plain[1], "lamp": chosen[1]}


def test_marks_stand_where_the_keys_do_beyond_the_basic_plane(shown, qtbot) -> None:
    pane = shown().features.bench.pane
    type_in(pane, "🌊🌊 a lamp\nand a quay", qtbot)
    assert sorted(word for word, _ in marked(pane)) == ["lamp", "quay"]
    assert pane.text.names_at(7) == "“lamp” is a key of “Lamp”"
    assert pane.text.names_at(0) == ""


def test_behind_the_chat_its_messages_count(shown, qtbot) -> None:
    pane = shown().features.bench.pane
    assert (pane.alone.isChecked(), pane.behind.isChecked()) == (True, False)
    type_in(pane, "the quay", qtbot)
    assert titles(pane) == ["Quay"]
    pane.behind.click()
    settle(pane, qtbot)
    assert set(titles(pane)) == {"Quay", "Lamp", "Tide"}  # the chat speaks of lamp and tide
    assert [word for word, _ in marked(pane)] == ["quay"]
    pane.alone.click()
    settle(pane, qtbot)
    assert titles(pane) == ["Quay"]


@pytest.mark.long
def test_what_is_chosen_for_the_chat_holds_and_a_change_runs_the_text_again(shown, qtbot) -> None:
    window = shown()
    pane = window.features.bench.pane
    type_in(pane, "the quay", qtbot)
    quay = next(each for each in window.session.project.index.entries if each.title == "Quay")
    window.selection.choose_entry(quay.id)
    window.run("controls.block")
    qtbot.waitUntil(lambda: pane.result is not None and bool(pane.result.stopped))
    assert pane.model.index(0, WHY).data() == "Blocked"
    window.run("adjust.undo")
    qtbot.waitUntil(lambda: pane.result is not None and not pane.result.stopped)
    settle(pane, qtbot)


@pytest.mark.always
def test_without_a_chat_it_works_at_once_and_the_trace_offers_it(shown, qtbot) -> None:
    window = shown(None)
    pane = window.features.bench.pane
    window.docks["bench"].hide()
    offer = next(each for each in window.trace.empty.findChildren(QPushButton) if each.text() == "Test a text")
    offer.click()
    drain()
    assert not window.docks["bench"].isHidden()
    assert not pane.behind.isEnabled()
    type_in(pane, "lamp", qtbot)
    assert titles(pane) == ["Lamp"]


@pytest.mark.long
def test_empty_states_are_sentences(shown, qtbot, make_window) -> None:
    window = shown()
    pane = window.features.bench.pane
    assert pane.empty.title.text() == "Test a text"
    type_in(pane, "nothing of that kind", qtbot)
    assert pane.empty.title.text() == "Nothing is triggered"
    assert pane.empty.isVisible()
    assert "vault" not in pane.empty.text.text()  # the entries may be a lorebook's
    type_in(pane, "", qtbot)
    assert pane.empty.title.text() == "Test a text"
    assert make_window(file="other.ini").features.bench.pane.empty.title.text() == "No vault"


def test_nothing_runs_while_nobody_looks(shown, qtbot) -> None:
    window = shown()
    pane = window.features.bench.pane
    window.docks["bench"].hide()
    pane.text.setPlainText("lamp")
    qtbot.waitUntil(lambda: not pane._pause.isActive())
    assert pane.result is None
    window.show_pane("bench")
    qtbot.waitUntil(lambda: pane.result is not None)
    settle(pane, qtbot)
    assert titles(pane) == ["Lamp"]
    pane.text.setPlainText("quay")
    window.docks["bench"].hide()  # before it was run
    assert not pane._pause.isActive()
    window.show_pane("bench")
    qtbot.waitUntil(lambda: titles(pane) == ["Quay"])
    settle(pane, qtbot)


@pytest.mark.always
def test_a_failure_is_said(shown, qtbot, monkeypatch) -> None:
    def fail(*_args, **_more):
        raise OSError("the disk is on fire")

    monkeypatch.setattr(studio_bench.Bench, "test", fail)
    pane = shown().features.bench.pane
    type_in(pane, "lamp", qtbot)
    assert "the disk is on fire" in pane.state.text()


def test_enter_opens_the_entry(shown, qtbot) -> None:
    window = shown()
    pane = window.features.bench.pane
    type_in(pane, "lamp", qtbot)
    pane.table.selectRow(0)
    heard: list[bool] = []
    pane.opened.connect(lambda: heard.append(True))
    QTest.keyClick(pane.table, Qt.Key.Key_Return)
    assert heard
    assert window.current_pane() is window.entry


def row(**more: Any) -> BenchRow:
    known: dict[str, Any] = {"state": FateState.INJECTED, "label": "Goes in", "sentence": "It fits."}
    known |= more
    fate = Fate(1, known.pop("state"), "keywords", None, "key_hit")
    return BenchRow(1, "Lamp", fate, tokens=3, **known)


@pytest.mark.parametrize(
    ("made", "why", "full"),
    [
        (row(how="Key found", how_sentence="“lamp” was said."), "Key found", "“lamp” was said."),
        (row(), "Goes in", "It fits."),
        (
            row(state=FateState.TRUNCATED, label="Shortened", how="Key found", how_sentence="“lamp” was said."),
            "Key found", "“lamp” was said. It fits.",
        ),
        (
            row(state=FateState.REMOVED, label="Over budget", how="Key found", how_sentence="“lamp” was said."),
            "Over budget", "“lamp” was said. It fits.",
        ),
    ],
)  # fmt: skip
def test_a_row_says_how_it_came_in_or_what_stopped_it(made: BenchRow, why: str, full: str) -> None:
    assert (why_words(made), full_words(made)) == (why, full)
    assert [key_words(replace(made, keys=keys)) for keys in ((), ("lamp", "light"))] == ["", "lamp, light"]


@pytest.mark.always
def test_a_row_is_drawn_with_all_that_it_says(shown, qtbot) -> None:
    window = shown()
    pane = window.features.bench.pane
    type_in(pane, "The lamp.", qtbot)
    tokens = pane.model.index(0, TOKENS).data()
    assert words_drawn(pane.table.viewport()) == ["Lamp", "lamp", "Key found", tokens]
    assert pane.model.index(0, KEY).data(TOOLTIP) == full_words(pane.model.row(0))
    title, key, why = (pane.table.columnWidth(place) for place in (ENTRY, KEY, WHY))
    assert (key, why) == (round(pane.width() * 0.22), round(pane.width() * 0.28))
    assert title > why, "a third each cut titles beside empty columns"
    pane.table.selectRow(0)
    assert pane.why.text() == f"Lamp: {full_words(pane.model.row(0))}"
    assert window.docks["bench"].bar._note.text() == "1 in, 0 stopped"
    assert pane.tokens.text().startswith("≈ ")
    assert pane.state.text().startswith(summary(pane.result.trace))
    type_in(pane, "", qtbot)
    assert (window.docks["bench"].bar._note.text(), pane.tokens.text(), pane.state.text()) == ("", "", "")
    assert (pane.empty.isVisible(), pane.table.isVisible()) == (True, False)


@pytest.mark.always
def test_a_marked_word_says_whose_key_it_is_under_the_mouse(shown, qtbot, monkeypatch) -> None:
    pane = shown().features.bench.pane
    type_in(pane, "A storm, a tide.", qtbot)
    assert pane.text.names_at(2) == "“storm” refines “Tide”"
    assert [pane.text.names_at(place) != "" for place in (1, 2, 6, 7, 10, 11, 14, 15)] == [
        False, True, True, False, False, True, True, False,
    ]  # fmt: skip
    told: list[str] = []
    monkeypatch.setattr(QToolTip, "showText", lambda _place, words, _widget: told.append(words))
    pane.text.setTextCursor(QTextCursor(pane.text.document().find("storm")))
    place = pane.text.viewport().mapToParent(pane.text.cursorRect().center())
    for point in (place - QPoint(12, 0), place + QPoint(0, 60)):
        QApplication.sendEvent(pane.text, QHelpEvent(QEvent.Type.ToolTip, point, pane.text.mapToGlobal(point)))
    assert ["storm" in words for words in told] == [True, False]


def test_a_button_runs_the_text_at_once_and_once(shown, qtbot, monkeypatch) -> None:
    pane = shown().features.bench.pane
    tested: list[tuple[str, bool]] = []
    real = studio_bench.Bench.test

    def test(self, text, *, append, cancel):
        tested.append((text, append))
        return real(self, text, append=append, cancel=cancel)

    monkeypatch.setattr(studio_bench.Bench, "test", test)
    pane.text.setPlainText("lamp")
    pane.behind.click()
    assert not pane._pause.isActive()
    settle(pane, qtbot)
    assert tested == [("lamp", True)]
    pane.text.setPlainText("quay")
    pane.run()
    pane.text.setPlainText("")
    pane.run()  # what is under way is given up
    settle(pane, qtbot)
    assert (pane.result, titles(pane)) == (None, [])


@pytest.mark.always
def test_another_system_says_how_it_decides_and_runs_the_text_again(shown, qtbot) -> None:
    window = shown()
    pane = window.features.bench.pane
    assert pane.empty.text.text().startswith("The same engine runs it")
    window.run("system.world-info")
    settle(pane, qtbot)
    assert pane.empty.text.text() == "World Info decides as it does in the chat. No provider is asked."
    type_in(pane, "lamp", qtbot)
    assert pane.result.trace.system == "world-info"
    window.run("system.facts")
    settle(pane, qtbot)
    assert pane.empty.title.text() == "Nothing is triggered"
    assert pane.empty.text.text() == "Fact memory goes by what was kept of chats, and there is nothing for this text."


@pytest.mark.always
def test_behind_a_chat_that_was_not_run_it_says_what_to_do(make_window, qtbot) -> None:
    window = make_window(make_project(), make_simulator=Simulator, replay=False)
    window.show_pane("bench")
    pane = window.features.bench.pane
    pane.behind.click()
    type_in(pane, "the quay", qtbot)
    assert (pane.state.text(), pane.result) == ("Replay the chat first.", None)
    window.session.replays.run_all()
    pane.run()
    assert pane.state.text() == "The chat is being replayed; the result follows."
    qtbot.waitUntil(lambda: pane.result is not None)
    settle(pane, qtbot)
    assert "Quay" in titles(pane)


@pytest.mark.always
def test_a_project_without_a_chat_has_nothing_to_stand_behind(make_window, qtbot) -> None:
    window = make_window(make_simulator=Simulator)
    window.show_pane("bench")
    pane = window.features.bench.pane
    assert (pane.text.isEnabled(), pane.behind.isEnabled(), pane.alone.isChecked()) == (False, False, True)
    window.session.set_project(make_project())
    window.show_pane("bench")
    settle(pane, qtbot)
    assert (pane.text.isEnabled(), pane.behind.isEnabled()) == (True, True)
    window.run("find.pane")
    type_in(pane, "the quay", qtbot)
    pane.behind.click()
    settle(pane, qtbot)
    made = pane._made
    window.session.set_project(make_project(None))
    qtbot.waitUntil(lambda: titles(pane) == ["Quay"])
    settle(pane, qtbot)
    assert (pane.behind.isEnabled(), pane.alone.isChecked()) == (False, True)
    assert pane._made is not made  # the bench of the other project is of no use
    pane.text.clearFocus()
    assert pane.open_search()
    assert (pane.focus_target(), pane.text.tabChangesFocus()) == (pane.text, True)
    assert (pane.text.hasFocus(), pane.text.textCursor().selectedText()) == (True, "the quay")


def test_a_narrow_pane_keeps_to_the_entry_and_the_reason(shown, qtbot) -> None:
    window = shown()
    pane = BenchPane(window.theme, window.session, window.selection)
    qtbot.addWidget(pane)
    pane.resize(500, 600)
    pane.show()
    above, below = pane.splitter.sizes()
    assert above / (above + below) == pytest.approx(1 / 3, abs=0.03)
    pane.splitter.setSizes([above + below - 200, 200])
    pane.resize(500, 601)
    pane.hide()
    pane.show()
    assert pane.splitter.sizes()[0] > above + 50  # as the person has put it
    seen = []
    for width in (500, 430, 429):
        pane.resize(width, 600)
        seen.append((pane.table.isColumnHidden(KEY), pane.table.columnWidth(WHY)))
    assert seen == [(False, 140), (False, 120), (True, 163)]
    assert (pane.table.columnWidth(KEY), pane.table.columnWidth(TOKENS)) == (0, 62)
    pane.resize(500, 600)
    assert pane.table.columnWidth(KEY) == 110
    pane.close()
    pane.stop()


def test_a_long_reason_keeps_its_room_in_a_low_pane(shown, qtbot) -> None:
    pane = shown().docks["bench"].pane
    type_in(pane, "The lamp and the tide.", qtbot)
    pane.table.selectRow(0)
    pane.why.setText("A reason of many words. " * 40)
    pane.splitter.setSizes([10_000, 0])
    drain()
    assert pane.why.height() >= pane.why.heightForWidth(pane.why.width()) > 100
