"""The prompt view: what it says an entry takes is what the budget counted, whoever counts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QListView, QScrollBar

import lorestudio
from lorestudio.domain.chat import Generation
from lorestudio.domain.records import replace
from lorestudio.domain.tokens import CHARS_4
from lorestudio.studio.prompt.assembly import assemble
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.trace.budget import budget_view
from lorestudio.trace.model import Trace, within_limits
from lorestudio.trace.prompt import Left, LeftOutPart, Origin, PromptOrigin
from lorestudio.trace.summary import summary
from lorestudio.trace.wording import number_words
from lorestudio.ui.features.trace import prompt_page
from lorestudio.ui.features.trace.prompt_page import FOLDED_LINES, PromptList, PromptPage, PromptRow, prompt_rows
from lorestudio.ui.shell.jobs import Jobs
from lorestudio.ui.shell.qt import LOOK, TOOLTIP
from lorestudio.ui.widgets.cells import CellDelegate
from tests.ui.conftest import drain, settle
from tests.ui.drawing import drawn, words_drawn
from tests.ui.worlds import RULES, SKARN, empty_trace, make_chat, make_trace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytestqt.qtbot import QtBot

    from lorestudio.ui.shell.main_window import MainWindow
    from lorestudio.ui.shell.theme import Theme

FIXTURES = Path(__file__).parents[3] / "cases" / "fixtures"
TOKENIZERS = (f"chat:{FIXTURES / 'tiny.tiktoken'}", f"plain:{FIXTURES / 'tiny-spm.model'}", "estimate")


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
def test_the_rows_of_entries_add_up_to_the_budget_in_every_reply(tokenizer: str) -> None:
    project = lorestudio.demo_project().with_tokenizer(tokenizer)
    assert project.chat is not None
    for trace in lorestudio.replay(project):
        rows = prompt_rows(assemble(trace, project.chat, project.setup, project.bills), trace, lore_only=True)
        counted = {row.entry: row.counted for row in rows if row.counted is not None}
        assert counted == {each.entry: each.tokens for each in trace.injections}
        guessed = tokenizer == "estimate"
        assert all(row.amount.startswith("≈") is guessed for row in rows if row.counted is not None)
        inside = sum(counted[each.entry] for each in within_limits(trace))
        assert inside == budget_view(trace).used
        assert f"({number_words(inside)} of " in summary(trace)


@pytest.mark.long
@pytest.mark.parametrize("tokenizer", TOKENIZERS)
def test_budget_bar_sentence_and_prompt_say_one_figure(make_window: Callable[..., MainWindow], tokenizer: str) -> None:
    window = make_window(lorestudio.demo_project().with_tokenizer(tokenizer), make_simulator=Simulator)
    headlines: list[str] = []
    window.budget.note_changed.connect(headlines.append)
    window.selection.choose_message(48, Generation(48, 0))
    window.trace.tabs.setCurrentIndex(2)
    settle(window)
    trace, note = window.session.runs.trace(window.selection.generation), window.trace.prompt.note.text()
    assert trace is not None
    assert trace.turn.message == 48
    guess = "≈ " if tokenizer == "estimate" else ""
    assert note.startswith(f"SillyTavern: lore {guess}{trace.total_tokens:,} · model: ")
    assert sum(row.counted or 0 for row in window.trace.prompt.model.rows) == trace.total_tokens
    inside = trace.total_tokens - sum(each.tokens for each in trace.injections if each.position == -1)
    assert headlines[-1].startswith(f"{inside:,} of 1,300 tokens")
    assert f"({inside:,} of 1,300 tokens" in re.sub(r"<[^>]*>", "", window.trace.summary.text())


@pytest.mark.parametrize(
    ("given", "amount", "words"),
    [
        ({"counted": 70}, "70 · model 64", "Bell, keyword, 70 tokens, 64 as the model counts"),
        ({"counted": 64}, "64", "Bell, keyword, 64 tokens"),
        ({"counted": 64, "budget_estimate": True}, "≈ 64 · model 64", "Bell, keyword, ≈ 64 tokens"),
        ({"estimate": True}, "≈ 64", "Bell, keyword, ≈ 64 tokens"),
    ],
)
def test_both_counts_of_an_entry_are_said_where_they_differ(given: dict[str, Any], amount: str, words: str) -> None:
    row = PromptRow("Bell", "keyword", 64, entry=1, **given)
    assert row.amount == amount
    assert row.describe() == words


@pytest.mark.parametrize(
    ("row", "amount", "words"),
    [
        (PromptRow("", "remark", text="No card.", remark=True), "", "remark: No card."),
        (PromptRow("About this prompt", head=True, remark=True), "", "About this prompt"),
        (PromptRow("Card", "card", 1, lost="no room"), "1", "Card, card, no room, 1 token"),
        (PromptRow("User", tokens=1200, text="Hi."), "1,200", "User, 1,200 tokens. Hi."),
    ],
)
def test_a_row_in_words(row: PromptRow, amount: str, words: str) -> None:
    assert (row.amount, row.describe()) == (amount, words)


@pytest.fixture
def listed(theme: Theme, qtbot: QtBot) -> tuple[QListView, PromptList]:
    view, model = QListView(), PromptList()
    qtbot.addWidget(view)
    view.setModel(model)
    view.setItemDelegate(CellDelegate(theme, view, width=100))
    view.resize(500, 400)
    long = "word " * 400
    model.set_rows([
        PromptRow("User · in the chat", tokens=30, head=True),
        PromptRow("Skarn", "keyword", 20, long, "green", entry=1),
        PromptRow("Rules", "chat", 10, "Be kind.", message=4),
        PromptRow("Bell", "keyword", 5, fill="green", entry=2, lost="no room"),
    ])  # fmt: skip
    return view, model


def test_parts_are_drawn_folded_until_they_are_opened(listed: tuple[QListView, PromptList], theme: Theme) -> None:
    view, model = listed
    shown = drawn(view)
    ink = {each.words: each.fill for each in shown if each.kind == "text"}
    text, muted = theme.color("text").name(), theme.color("text_muted").name()
    assert (ink["Skarn"], ink["20"], ink["Be kind."]) == (text, muted, muted)
    assert {"User · in the chat", "no room", "keyword", "chat"} <= ink.keys()
    assert len([word for word in words_drawn(view) if word.startswith("word")]) == FOLDED_LINES
    assert "… more (X shows all)" in ink
    model.toggle(1)
    view.doItemsLayout()
    assert len([word for word in words_drawn(view) if word.startswith("word")]) > FOLDED_LINES
    model.toggle(1)
    model.toggle(0)  # a head has nothing to open
    assert model.index(0, 0).data(LOOK).body is None
    assert [model.place_of_entry(entry) for entry in (1, 2, 9, None)] == [1, 3, -1, -1]
    tips = [model.index(place, 0).data(TOOLTIP) for place in range(4)]
    assert (tips[0] or "", tips[1]) == ("", "Skarn\nkeyword")


@pytest.fixture
def page(theme: Theme, qtbot: QtBot) -> Iterator[PromptPage]:
    jobs = Jobs()
    made = PromptPage(theme, jobs)
    qtbot.addWidget(made)
    made.resize(500, 400)
    yield made
    qtbot.waitUntil(lambda: jobs.idle)
    jobs.close()


def put(page: PromptPage, qtbot: QtBot, trace: Trace | None) -> None:
    page.set_trace(trace, make_chat())
    qtbot.waitUntil(lambda: page.prompt is not None or trace is None)


def test_rows_lead_to_entries_and_messages(page: PromptPage, qtbot: QtBot) -> None:
    assert page.model.rows == ()
    put(page, qtbot, make_trace())
    assert page._pages.currentWidget() is page.view
    entries, messages = [], []
    page.entry_chosen.connect(entries.append)
    page.message_chosen.connect(messages.append)
    rows = page.model.rows
    skarn = page.model.place_of_entry(SKARN)
    page.view.setCurrentIndex(page.model.index(skarn, 0))
    assert entries == [SKARN]
    opened = []
    for key in (Qt.Key.Key_Return, Qt.Key.Key_X):  # an entry opens and folds, a message of the chat is gone to
        qtbot.keyClick(page.view, key)
        opened.append(id(rows[skarn]) in page.model._opened)
    assert opened == [True, False]
    chat = next(place for place, row in enumerate(rows) if row.message is not None and row.entry is None)
    page.view.setCurrentIndex(page.model.index(chat, 0))
    qtbot.keyClick(page.view, Qt.Key.Key_Return)
    assert (entries, messages) == ([SKARN], [rows[chat].message])
    qtbot.keyClick(page.view, Qt.Key.Key_Home)
    assert page.view.currentIndex().row() == 0
    page.view.keyboardSearch(rows[chat].text[:8])
    assert page.view.currentIndex().row() == chat, "what a part begins with, typed, leads to it"
    page.choose_entry(RULES)
    assert page.view.currentIndex().row() == page.model.place_of_entry(RULES)
    assert entries == [SKARN], "who asked is not told"
    page.choose_entry(None)
    assert not page.view.selectionModel().hasSelection()


def test_an_entry_that_was_chosen_before_the_prompt_is_there_is_looked_at_in_it(page: PromptPage, qtbot: QtBot) -> None:
    page.choose_entry(SKARN)
    put(page, qtbot, make_trace())
    assert page.view.currentIndex().row() == page.model.place_of_entry(SKARN) > 0


def test_another_width_breaks_the_lines_anew(page: PromptPage) -> None:
    page.model.set_rows([PromptRow("Skarn", text="word " * 60), PromptRow("Bell", text="Ring.")])
    page._pages.setCurrentWidget(page.view)
    page.model.toggle(0)
    page.show()
    drain()
    high = []
    for width in (500, 250, 900):
        page.resize(width, 400)
        drain()
        first, second = (page.view.visualRect(page.model.index(place, 0)) for place in range(2))
        assert (first.height(), second.top()) == (
            page.view.sizeHintForIndex(page.model.index(0, 0)).height(),
            first.bottom() + 1,
        )
        high.append(first.height())
    assert high[2] < high[0] < high[1]


def test_the_middle_of_a_part_that_is_higher_than_the_page_is_scrolled_to(page: PromptPage) -> None:
    page.model.set_rows([PromptRow("Skarn", text="word " * 900), PromptRow("Bell", text="Ring.")])
    page._pages.setCurrentWidget(page.view)
    page.model.toggle(0)
    page.show()
    drain()
    assert page.view.visualRect(page.model.index(0, 0)).height() > page.view.height()
    bar = page.view.verticalScrollBar()
    for _step in range(3):  # as one notch of the wheel makes
        bar.triggerAction(QScrollBar.SliderAction.SliderSingleStepAdd)
    assert 0 < bar.value() < page.view.viewport().height() / 2
    bar.setSliderPosition(bar.maximum() // 2)
    long = page.view.visualRect(page.model.index(0, 0))
    assert long.top() < 0
    assert long.bottom() > page.view.viewport().height()


def test_only_the_lore_is_shown_and_that_there_is_none(page: PromptPage, qtbot: QtBot) -> None:
    whole, lore = page._shown.buttons()
    put(page, qtbot, make_trace())
    everything = page.model.rows
    lore.click()
    assert 0 < len(page.model.rows) < len(everything)
    assert {row.entry for row in page.model.rows if not row.head} == {RULES, SKARN}
    put(page, qtbot, empty_trace(2))
    assert page._pages.currentWidget() is page.empty
    assert page.empty.title.text() == "No lore in this prompt"
    whole.click()
    assert page._pages.currentWidget() is page.view
    assert page.note.text().startswith("≈ ")
    assert page.note.toolTip().startswith("≈ ")
    page.set_trace(make_trace(), make_chat())  # its prompt is not wanted any more when it is there
    put(page, qtbot, None)
    qtbot.waitUntil(lambda: not page._newest.busy)
    assert (page.empty.title.text(), page.note.text(), page.model.rows) == ("No prompt", "", ())
    before = QGuiApplication.clipboard().text()
    page.copy_button.click()
    page.copy(markdown=True)
    assert QGuiApplication.clipboard().text() == before


def test_that_it_cannot_be_put_together_is_said(
    page: PromptPage, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_given: object) -> None:
        raise ValueError("the card is torn")

    monkeypatch.setattr(prompt_page, "assemble", broken)
    page.set_trace(make_trace(), make_chat())
    assert page.empty.title.text() == "Putting the prompt together…"
    qtbot.waitUntil(lambda: page.empty.title.text() == "The prompt could not be put together")
    assert page.empty.text.text() == "the card is torn"


def test_what_the_host_alone_can_do_is_remarked() -> None:
    trace = make_trace()
    prompt = replace(
        assemble(trace, make_chat(), None, CHARS_4), remarks=("It was late.",), unknown_macros=("{{a}}", "{{b}}")
    )
    last = prompt_rows(prompt, trace)[-3:]
    assert [(row.title, row.origin, row.text, row.head) for row in last] == [
        ("About this prompt", "", "", True),
        ("", "remark", "It was late.", False),
        ("", "macros", "Only SillyTavern can fill in {{a}}, {{b}}; they stay as they are.", False),
    ]
    assert [(row.amount, row.describe()) for row in last] == [
        ("", "About this prompt"), ("", "remark: It was late."), ("", f"macros: {last[2].text}"),
    ]  # fmt: skip
    assert not any(row.remark for row in prompt_rows(prompt, trace, lore_only=True))


def test_what_was_not_sent_stands_at_the_end_with_its_tokens() -> None:
    trace = make_trace()
    lost = [
        LeftOutPart(PromptOrigin(Origin.CHAT, "Tessa", message=1), Left.NO_ROOM, 3),
        LeftOutPart(PromptOrigin(Origin.ENTRY, "Rules", entry=RULES), Left.NO_PLACE, 20),
    ]
    prompt = replace(assemble(trace, make_chat(), None, CHARS_4), left_out=tuple(lost), remarks=(), unknown_macros=())
    for lore_only, titles, tokens in ((False, ["Tessa", "Rules"], "≈ 23"), (True, ["Rules"], "≈ 20")):
        rows = prompt_rows(prompt, trace, lore_only=lore_only)
        head = next(place for place, row in enumerate(rows) if row.title == "Not in the prompt")
        assert (rows[head].head, rows[head].amount) == (True, tokens)
        assert [(row.title, row.head) for row in rows[head + 1 :]] == [(title, False) for title in titles]
        assert [row.origin for row in rows[head + 1 :]] == [*(() if lore_only else (Origin.CHAT.value,)), "constant"]


def test_the_side_of_a_part_says_where_it_comes_from_or_that_it_was_lost(
    listed: tuple[QListView, PromptList], theme: Theme
) -> None:
    model = listed[1]
    model.set_rows([
        PromptRow("User", head=True), PromptRow("Skarn", "keyword", 20, "x", "green", entry=1),
        PromptRow("Rules", "chat", 10, "x", ground="good_soft", message=4),
        PromptRow("Bell", "keyword", 5, fill="green", entry=2, lost="no room"),
    ])  # fmt: skip
    looks = [model.index(row, 0).data(LOOK) for row in range(4)]
    assert [look.side for look in looks] == ["", "green", "good_soft", "hatched"]
    assert [look.ground for look in looks] == ["raised", "", "", ""]
    assert [(look.rule, look.ring) for look in looks] == [("top", True), ("", True), ("", True), ("", True)]
    assert [look.strips[0].height for look in looks] == [26, 24, 24, 24]
    titles = [look.strips[0].left[-1] for look in looks]
    assert [(title.text, title.bold) for title in titles] == [
        ("User", True), ("Skarn", True), ("Rules", False), ("Bell", True),
    ]  # fmt: skip
    chips = [look.strips[0].left[0] for look in looks[1:]]
    assert [(chip.text, chip.fill, chip.ground) for chip in chips] == [
        ("keyword", "green", "neutral_soft"), ("chat", "", "good_soft"), ("no room", "green", "neutral_soft"),
    ]  # fmt: skip
    assert [look.body.tone for look in looks[1:]] == ["text", "text_muted", "text"]
    assert [look.body.most for look in looks[1:]] == [FOLDED_LINES] * 3
    model.toggle(1)
    model.toggle(0)  # there is nothing to unfold of who speaks
    assert model.index(1, 0).data(LOOK).body.most == 0
    model.toggle(1)
    assert model.index(1, 0).data(LOOK).body.most == FOLDED_LINES
    model.toggle(9)
    assert [model.place_of_entry(entry) for entry in (1, 2, 7, None)] == [1, 3, -1, -1]
