"""Runs side by side: what they share, what one alone puts in, and how far they agree."""

import pytest

from lorestudio.studio.compare.comparison import Contender, compare
from lorestudio.trace.model import EntryRef, Injection, RunOutcome, Trace, Turn


def trace(message, *titles, tokens=10):
    refs = {place: EntryRef(place, title, "v", f"{title}.md", 100, tokens) for place, title in enumerate(titles)}
    injections = tuple(
        Injection(place, title, "", tokens, 100, 0, 0, 0, "lore", "") for place, title in enumerate(titles)
    )
    turn = Turn(message, 0, 0)
    return Trace("x", "x", RunOutcome.INJECTED, turn, refs, len(titles), (), injections)


def test_turns_and_totals():
    one = Contender("one", (trace(2, "A", "B"), trace(4)))
    other = Contender("other", (trace(2, "B", "C", tokens=5), trace(4)))
    found = compare([one, other])
    first, second = found.turns
    assert first.alone == (frozenset({("v", "A.md")}), frozenset({("v", "C.md")}))
    assert first.overlap == pytest.approx(1 / 3)
    assert second.overlap == 1  # both are silent
    figures = [(each.entries, each.tokens, each.most_tokens, each.different, each.silent) for each in found.totals]
    assert figures == [(1.0, 10.0, 20, 2, 1), (1.0, 5.0, 10, 2, 1)]
    assert found.agreement == ((1.0, pytest.approx(2 / 3)), (pytest.approx(2 / 3), 1.0))
    assert found.titles == {("v", "A.md"): "A", ("v", "B.md"): "B", ("v", "C.md"): "C"}


def test_entries_are_the_same_by_their_files_not_by_their_numbers():
    found = compare([Contender("one", (trace(2, "A", "B"),)), Contender("other", (trace(2, "B", "A"),))])
    assert found.turns[0].overlap == 1


def test_runs_of_other_turns_cannot_be_compared():
    with pytest.raises(ValueError, match="same generations"):
        compare([Contender("one", (trace(2),)), Contender("other", (trace(4),))])
    with pytest.raises(ValueError, match="same generations"):
        compare([])
