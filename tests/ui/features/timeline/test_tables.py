"""Changes and prompt caches in words."""

from __future__ import annotations

import pytest

from lorestudio.trace.diff import InjectionChanges
from lorestudio.trace.prompt_cache import CacheMiss, CacheTotals, CacheTurn, CauseKind, CauseTotal
from lorestudio.ui.features.timeline.tables import advice, cache_text, cause_text, changes_text, totals_text

ENTERED = CacheMiss(CauseKind.ENTERED, "Skarn", ("World", "Skarn.md"), 30)
ROOM = CacheMiss(CauseKind.ROOM, "#3")


@pytest.mark.parametrize(
    ("turn", "said", "not_said"),
    [
        (None, "nothing was sent before this", "tokens"),
        (CacheTurn(100, 40, 30, 30, ENTERED), "60 are read again, 30 of them because Skarn entered.", "new messages"),
        (CacheTurn(100, 40, 60, 0, ENTERED), "60 are read again: new messages only.", "Skarn"),
        (CacheTurn(100, 40, 60, 0, ROOM), "60 are read again, because message #3 has no room any more.", "of them"),
        (CacheTurn(100, 100, 0, 0), "0 are read again.", "because"),
    ],
)
def test_what_a_cache_keeps_of_a_turn(turn: CacheTurn | None, said: str, not_said: str) -> None:
    text = cache_text(turn, "as before")
    assert said in text
    assert not_said not in text


def test_changes_are_listed_by_kind_and_long_lists_are_cut() -> None:
    changes = InjectionChanges(entered=tuple(("World", f"{n}.md") for n in range(8)), left=(("World", "x.md"),))
    text = changes_text(changes, lambda key: key[1].removesuffix(".md"))
    assert text == "+ 0, 1, 2, 3, 4, 5 and 2 more   − x"
    assert changes_text(InjectionChanges(), lambda _key: "") == ""


def test_the_worst_cause_is_named_and_there_is_advice() -> None:
    worst = CauseTotal(CauseKind.DEPTH, "lore", tokens=90, depth=4, turns=2)
    totals = CacheTotals(turns=3, tokens=300, kept=180, new=30, by_lore=90, causes=(worst,))
    assert "75% of the 120 prompt tokens" in totals_text(totals)
    assert "the worst: lore at depth 4 moves on with the chat (2 turns, 90 tokens)" in totals_text(totals)
    assert "depth 0" in advice((worst,))
    assert advice(()) == ""
    assert totals_text(CacheTotals()).startswith("Two turns have to be run")
    assert "neither lore nor" in totals_text(CacheTotals(turns=2))


@pytest.mark.parametrize(
    ("cause", "words", "cure"),
    [
        (CauseTotal(CauseKind.DEPTH, "lore", 9, 1, depth=4), "lore at depth 4 moves", "moves on with them"),
        (CauseTotal(CauseKind.DEPTH, "Persona", 9, 1, depth=2, host=True), "Persona at depth 2 moves", "moves on with"),
        (CauseTotal(CauseKind.ENTERED, "Persona", 9, 1, host=True), "Persona entered", "Persona is a text of the host"),
        (CauseTotal(CauseKind.MOVED, "Skarn", 9, 1), "Skarn ", "Another order costs"),
        (CauseTotal(CauseKind.ENTERED, "Skarn", 9, 1), "Skarn entered", "comes and goes costs"),
        (CauseTotal(CauseKind.CHAT, "3", 9, 1), "message 3 ", "comes and goes costs"),
    ],
)
def test_each_cause_has_words_and_what_to_do(cause: CauseTotal, words: str, cure: str) -> None:
    assert cause_text(cause).startswith(words)
    assert cure in advice((cause,))
    totals = CacheTotals(turns=3, tokens=300, kept=180, new=30, by_lore=90, causes=(cause,))
    assert totals_text(totals).startswith("Lore and other placed texts made" if cause.host else "Lore made")
