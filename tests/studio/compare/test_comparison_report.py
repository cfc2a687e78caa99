"""A comparison of several runs as rows and as Markdown."""

from __future__ import annotations

import asyncio

import pytest

from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.studio.compare.comparison import (
    Candidate,
    Contender,
    compare,
    compare_candidates,
    comparison_as_markdown,
    comparison_rows,
    run_candidate,
    total_rows,
)
from lorestudio.studio.project.project import demo_project
from lorestudio.trace.model import EntryRef, Injection, RunOutcome, Trace, Turn


def trace(message: int, *notes: tuple[str, int]) -> Trace:
    refs = {place: EntryRef(place, title, "v", f"{title}.md", 100, 1) for place, (title, _) in enumerate(notes)}
    put_in = tuple(
        Injection(place, title, "", tokens, 100, 0, 0, 0, "t", "h") for place, (title, tokens) in enumerate(notes)
    )
    return Trace("x", "", RunOutcome.INJECTED, Turn(message, 0, 0), refs, 9, (), put_in)


FOUND = compare(
    [
        Contender("One", (trace(1, ("Lamp", 10), ("A|B", 5)), trace(3))),
        Contender("Two", (trace(1, ("Lamp", 12)), trace(3, ("Oil", 7)))),
    ]
)


def test_rows_say_turn_by_turn_what_each_puts_in() -> None:
    head, first, second = comparison_rows(FOUND)
    assert head[:4] == ["Turn", "One: entries", "One: tokens", "One: only here"]
    assert first == ["Reply #1", "2", "15", "A|B", "1", "12", "", "0.50"]
    assert second == ["Reply #3", "0", "0", "", "1", "7", "Oil", "0.00"]


def test_totals_are_means_over_the_chat() -> None:
    _, one, two = total_rows(FOUND)
    # One: 2 and 0 entries, 15 and 0 tokens, silent once; the overlaps of the two turns are 1/2 and 0.
    assert one == ["One", "1.0", "8", "15", "2", "1", "100%", "25%"]
    assert two == ["Two", "1.0", "10", "12", "2", "0", "25%", "100%"]


def test_markdown_takes_titles_literally() -> None:
    text = comparison_as_markdown(FOUND)
    assert "only here: A\\|B" in text
    assert "| Reply \\#3 | 0 entries, 0 tokens | 1 entry, 7 tokens; only here: Oil | 0% |" in text


def test_runs_that_are_known_are_not_run_again_and_settings_are_deeplores_own() -> None:
    project = demo_project()
    plain = asyncio.run(run_candidate(project, Candidate("a", "deeplore")))
    begun: list[str] = []
    none = DeepLoreSettings(enabled=True, scan_depth=0)
    found = asyncio.run(
        compare_candidates(
            project,
            [Candidate("a", "deeplore", traces=plain), Candidate("b", "deeplore", none)],
            on_candidate=lambda each: begun.append(each.label),
        )
    )
    assert begun == ["a", "b"]
    assert found.labels == ("a", "b")
    assert [turn.shares[0].tokens for turn in found.turns] == [each.total_tokens for each in plain.values()]
    assert found.totals[1].entries < found.totals[0].entries  # no message is searched for keys


@pytest.mark.parametrize("amount", [0, 1])
def test_a_comparison_takes_two(amount: int) -> None:
    with pytest.raises(ValueError, match="at least two"):
        asyncio.run(compare_candidates(demo_project(), [Candidate("a", "deeplore")] * amount))
