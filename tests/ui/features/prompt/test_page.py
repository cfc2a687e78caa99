"""The prompt view: what it says an entry takes is what the budget counted, whoever counts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import lorestudio
from lorestudio.domain.chat import Generation
from lorestudio.studio.prompt.assembly import assemble
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.trace.budget import budget_view
from lorestudio.trace.limits import positional
from lorestudio.trace.summary import summary
from lorestudio.trace.wording import number_words
from lorestudio.ui.features.prompt.page import PromptRow, prompt_rows
from tests.ui.conftest import settle

if TYPE_CHECKING:
    from collections.abc import Callable

    from lorestudio.ui.shell.main_window import MainWindow

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
