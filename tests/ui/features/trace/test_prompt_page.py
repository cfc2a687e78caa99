"""The prompt view: what it says an entry takes is what the budget counted, whoever counts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtWidgets import QListView

import lorestudio
from lorestudio.domain.chat import Generation
from lorestudio.studio.prompt.assembly import assemble
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.trace.budget import budget_view
from lorestudio.trace.model import positional
from lorestudio.trace.summary import summary
from lorestudio.trace.wording import number_words
from lorestudio.ui.features.trace.prompt_page import FOLDED_LINES, PromptList, PromptRow, prompt_rows
from lorestudio.ui.shell.qt import LOOK, TOOLTIP
from lorestudio.ui.widgets.cells import CellDelegate
from tests.ui.conftest import settle
from tests.ui.drawing import drawn, words_drawn

if TYPE_CHECKING:
    from collections.abc import Callable

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
        inside = sum(counted[each.entry] for each in positional(trace))
        assert inside == budget_view(trace).used
        assert f"({number_words(inside)} of " in summary(trace)


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
    guess = "≈" if tokenizer == "estimate" else ""
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
        ({"counted": 64, "budget_estimate": True}, "≈64 · model 64", "Bell, keyword, ≈ 64 tokens"),
        ({"estimate": True}, "≈64", "Bell, keyword, ≈ 64 tokens"),
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
