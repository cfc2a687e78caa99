"""The page of what a model was asked, alone: calls and parts, searching, copying, and a question under way."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QColor, QGuiApplication, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QToolButton
from pytestqt.qtbot import QtBot

from lorestudio.domain.chat import Generation
from lorestudio.domain.records import replace
from lorestudio.llm.messages import ChatRequest
from lorestudio.trace.model import AiCall, AiRecord, ItemResult, Phase, ReplyItem, StageRecord, TitleMatch, Trace
from lorestudio.ui.features.trace.ai_page import CHUNK, OVERVIEW, REPLY, SYSTEM, USER, AiPage
from lorestudio.ui.shell.theme import Palette, Theme
from lorestudio.ui.state.ai_calls import ChosenItem
from lorestudio.ui.state.replay_worker import LiveRun
from lorestudio.ui.widgets import find_line
from lorestudio.ui.widgets.find_line import MOST_FOUND
from tests.ui.worlds import make_trace

ASKED = AiCall("search", "Choose well.", "Which of these?", 64, False, "tiny", "[]", source="Local", duration_ms=1500)
BROKEN = replace(ASKED, kind="prefilter", reply="", source="", error="no answer")
RECORD = StageRecord("AI selection", Phase.SELECT, details={"cached": False})


def run(*calls: AiCall) -> Trace:
    return replace(make_trace(), stages=(RECORD,), ai_calls=calls)


@pytest.fixture
def page(theme: Theme, qtbot: QtBot) -> AiPage:
    made = AiPage(theme)
    qtbot.addWidget(made)
    made.resize(500, 400)
    made.show()
    return made


def choose(page: AiPage, part: int) -> None:
    page.parts.button(part).click()


def open_search(page: AiPage) -> None:
    (button,) = (each for each in page.findChildren(QToolButton) if each.toolTip() == "Find in the text of the call")
    button.click()


def enabled(page: AiPage) -> list[bool]:
    return [page.parts.button(part).isEnabled() for part in range(4)]


def test_a_run_without_a_question_says_why(page: AiPage) -> None:
    assert "No question has been put yet." in page.plain
    page.set_trace(run())
    assert page.plain.startswith("No model was asked in this run")
    assert "What the reply was matched to (0)" in page.plain
    assert enabled(page) == [True, False, False, False]
    assert not page.calls.isVisible()
    page.set_trace(replace(run(), stages=()))
    assert "matched to" not in page.plain


def test_a_word_of_the_results_is_never_broken(page: AiPage) -> None:
    items = tuple(
        ReplyItem(title, TitleMatch.EXACT, result, (), title, 1.0, "medium")
        for title, result in (
            ("Sigil Theory — Fundamentals", ItemResult.CHOSEN),
            ("Amberburgh Merchants", ItemResult.DOUBLE),
        )
    )
    page.resize(380, 400)
    page.set_trace(replace(run(ASKED), stages=(replace(RECORD, ai=AiRecord(items=items)),)))
    words = page.overview.document()
    lines = {
        block.text().replace("\xa0", " "): block.layout().lineCount()
        for block in map(words.findBlockByNumber, range(words.blockCount()))
    }
    assert [lines[said] for said in ("chosen", "chosen already", "medium")] == [1, 1, 1]


def test_only_the_prefilter_says_what_it_left_out(page: AiPage) -> None:
    page.set_trace(run(ASKED))
    assert "left out" not in page.plain
    prefilter = replace(run(replace(ASKED, kind="prefilter")), stages=(replace(RECORD, name="category prefilter"),))
    page.set_trace(prefilter)
    assert "Nothing was left out." in page.plain


def test_the_parts_of_a_call(page: AiPage) -> None:
    page.set_trace(run(ASKED))
    assert enabled(page) == [True] * 4
    assert page.focus_target() is page.overview
    for part, text in ((SYSTEM, "Choose well."), (USER, "Which of these?"), (REPLY, "[]")):
        choose(page, part)
        assert (page.part, page.plain, page.text.toPlainText()) == (part, text, text)
        assert page.focus_target() is page.text
    page.copy_button.click()
    assert QGuiApplication.clipboard().text() == "[]"
    choose(page, OVERVIEW)
    assert "1.5 s" in page.plain
    page.set_trace(run(replace(ASKED, system="")))
    choose(page, SYSTEM)
    assert page.plain == "(empty)"


def test_the_last_of_several_calls_is_shown_first(page: AiPage) -> None:
    page.set_trace(run(BROKEN, ASKED))
    assert page.calls.isVisible()
    assert [page.calls.itemText(place).split(" · ")[1:] for place in range(2)] == [
        ["nobody", "failed"], ["Local", "1.5 s"],
    ]  # fmt: skip
    assert [page.calls.itemText(place)[:3] for place in range(2)] == ["1. ", "2. "]
    assert page.calls.currentIndex() == 1
    choose(page, REPLY)
    assert page.plain == "[]"
    page.calls.setCurrentIndex(0)
    assert page.plain == "No reply arrived: no answer"
    page.set_trace(run(replace(ASKED, reply="")))
    assert page.plain == "(empty)"


def test_what_is_searched_is_counted_and_walked_through(page: AiPage, qtbot: QtBot) -> None:
    page.set_trace(run(replace(ASKED, user="bell, book, bell")))
    choose(page, USER)
    field, found = page.finder.field, page.finder.found
    open_search(page)
    assert field.hasFocus()
    qtbot.keyClicks(field, "bell")
    assert (found.text(), len(page.text.extraSelections())) == ("1 of 2", 2)
    seen = []
    for _ in range(3):
        seen.append(page.text.textCursor().selectionStart())
        qtbot.keyClick(field, Qt.Key.Key_Return)
    assert seen == [0, 12, 0]
    choose(page, SYSTEM)
    qtbot.waitUntil(lambda: found.text() == "none")
    field.clear()
    assert (found.text(), page.text.extraSelections()) == ("", [])
    page.set_trace(run(replace(ASKED, user="x " * (MOST_FOUND + 5))))
    choose(page, USER)
    field.setText("x")
    assert found.text().endswith(f" of {MOST_FOUND}+")


def test_a_long_text_is_whole_in_the_end(page: AiPage, qtbot: QtBot) -> None:
    long = "word " * (CHUNK // 5 * 2 + 10)
    page.set_trace(run(replace(ASKED, system=long)))
    choose(page, SYSTEM)
    assert page.plain == long
    assert len(page.text.toPlainText()) == CHUNK
    qtbot.waitUntil(lambda: page.text.toPlainText() == long)


def test_an_entry_of_the_overview_leads_to_it(page: AiPage) -> None:
    told: list[int] = []
    page.entry_chosen.connect(told.append)
    page.overview.anchorClicked.emit(QUrl("entry:3"))
    assert told == [3]


def test_a_question_under_way_shows_what_has_arrived(page: AiPage) -> None:
    page.set_trace(run(BROKEN, ASKED))
    live = LiveRun(Generation(5, 0), (), "AI selection")
    page.set_live(live)
    assert (page.calls.isVisible(), enabled(page)) == (False, [True, False, False, False])
    assert "No question has been put yet." in page.plain
    asked = replace(live, request=ChatRequest("search", "Choose.", "Which?", max_tokens=64, model="tiny"))
    page.set_live(asked)
    assert enabled(page) == [True] * 4
    assert "Waiting for an answer" in page.plain
    assert "0 characters" in page.plain
    assert "can be read under System, User and Reply while it waits" in page.plain
    for part, text in ((SYSTEM, "Choose."), (USER, "Which?"), (REPLY, "Nothing has arrived yet.")):
        choose(page, part)
        assert page.text.toPlainText() == text
    for reply in ("[{", '[{"title"', '[{"title": 1}]'):
        page.set_live(replace(asked, reply=reply))
        assert (page.text.toPlainText(), page.plain) == (reply, reply)
    page.set_live(replace(asked, reply="Another"))
    assert page.text.toPlainText() == "Another"
    page.set_trace(run(ASKED))
    assert page.plain == "[]"


def test_several_calls_are_offered_and_one_needs_no_choice(page: AiPage) -> None:
    seen = []
    for calls in ((BROKEN, ASKED), (ASKED,), (BROKEN, BROKEN, ASKED)):
        page.set_trace(run(*calls))
        seen.append((page.calls.isVisible(), page.calls.count()))
    assert seen == [(True, 2), (False, 1), (True, 3)]
    question = ChatRequest("search", "Choose.", "Which?", max_tokens=64, model="tiny")
    page.set_live(LiveRun(Generation(5, 0), (), "AI selection", request=question))
    assert not page.calls.isVisible()  # they are of another run


def test_what_is_found_is_marked_until_the_field_is_empty(page: AiPage, theme: Theme) -> None:
    page.set_trace(run(ASKED))
    choose(page, USER)
    open_search(page)
    page.finder.field.setText("these")
    (mark,) = page.text.extraSelections()
    colors = (mark.format.background().color().name(), mark.format.foreground().color().name())
    assert colors == (QColor(theme.palette.mark).name(), QColor(theme.palette.on_mark).name())
    open_search(page)
    assert page.finder.field.selectedText() == "these"  # to write over it
    page.finder.field.clear()
    assert page.text.extraSelections() == []


def test_a_search_goes_on_in_what_is_shown_next(page: AiPage, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    open_search(page)
    page.finder.field.setText("marvel")
    page.set_trace(run(replace(ASKED, model="marvel")))
    assert page.finder.found.text() == "1"
    page.set_trace(run(ASKED))
    assert page.finder.found.text() == "none"
    looked: list[str] = []
    mark_all = find_line.mark_all

    def marked(text: find_line.Text, words: str, palette: Palette) -> str:
        looked.append(words)
        return mark_all(text, words, palette)

    monkeypatch.setattr(find_line, "mark_all", marked)
    page.set_trace(run(replace(ASKED, system="word " * (CHUNK // 5 * 6) + "marvel")))
    choose(page, SYSTEM)
    assert page.finder.found.text() == "none"  # the end is not laid out yet
    qtbot.waitUntil(lambda: page.finder.found.text() == "1")
    assert len(looked) <= 4, "not after each piece"


@pytest.mark.parametrize("at_end", [False, True])
def test_a_reply_that_grows_is_followed_only_at_its_end(page: AiPage, at_end: bool) -> None:
    question = ChatRequest("search", "Choose.", "Which?", max_tokens=64, model="tiny")
    live = LiveRun(Generation(5, 0), (), "AI selection", request=question)
    page.set_live(live)
    choose(page, REPLY)
    begun = "line\n" * 200
    page.set_live(replace(live, reply=begun))
    bar = page.text.verticalScrollBar()
    assert bar.maximum() > 0
    bar.setValue(bar.maximum() if at_end else 3)
    page.set_live(replace(live, reply=begun * 2))
    assert bar.value() == (bar.maximum() if at_end else 3)


def test_the_links_of_the_overview_are_left_to_the_pane(page: AiPage) -> None:
    page.set_trace(run(ASKED))
    before = page.plain
    page.overview.setHtml("<a href='entry:3'>Bell</a>")
    told: list[int] = []
    page.entry_chosen.connect(told.append)
    page.overview.moveCursor(QTextCursor.MoveOperation.Start)
    page.overview.setFocus()
    QTest.keyClick(page.overview, Qt.Key.Key_Tab)
    QTest.keyClick(page.overview, Qt.Key.Key_Return)
    assert told == [3]
    assert page.plain == "Bell" != before  # it was not left for another page


def test_the_overview_takes_the_colours_of_another_theme(page: AiPage, theme: Theme) -> None:
    page.set_trace(run(ASKED))
    seen = []
    for name in ("light", "dark", "light"):
        theme.choose(name)
        seen.append(theme.palette.text_muted.lower() in page.overview.toHtml().lower())
    assert seen == [True] * 3


def test_what_became_of_a_choice_has_the_colour_of_its_tone(page: AiPage, theme: Theme) -> None:
    inks = {"neutral": theme.palette.text_muted, "good": theme.palette.good, "error": theme.palette.error}
    for tone, ink in inks.items():
        shown = page._choices(RECORD, [ChosenItem("Bell", (), "", "", "", "so it went", tone)])
        assert f"color:{ink}" in shown.partition("so it went")[0].rpartition("<")[2].replace(" ", "")
