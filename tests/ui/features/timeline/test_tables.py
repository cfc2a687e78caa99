"""Changes and prompt caches in words."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from PySide6.QtCore import Qt

from lorestudio.domain.chat import Generation
from lorestudio.domain.entry import VaultIndex
from lorestudio.studio.replay.timeline import TimelineTurn
from lorestudio.trace.diff import InjectionChanges
from lorestudio.trace.journey import FOREIGN_IDS
from lorestudio.trace.prompt_cache import CacheMiss, CacheTotals, CacheTurn, CauseKind, CauseTotal
from lorestudio.ui.features.timeline.map_content import MapContent
from lorestudio.ui.features.timeline.tables import (
    Names,
    advice,
    cache_bar_words,
    cache_text,
    cause_columns,
    cause_text,
    changes_html,
    changes_text,
    how_many,
    place_table,
    totals_text,
    turn_columns,
)
from lorestudio.ui.widgets.cells import FIT
from lorestudio.ui.widgets.record_table import RecordTable
from tests.ui.drawing import at_the_right
from tests.ui.worlds import ENTRIES, LEFT_OUT, SKARN

ENTERED = CacheMiss(CauseKind.ENTERED, "Skarn", ("World", "Skarn.md"), 30)
ROOM = CacheMiss(CauseKind.ROOM, "#3")


@pytest.mark.parametrize(
    ("cache", "said", "not_said"),
    [
        (None, "nothing was sent before this", "tokens"),
        (CacheTurn(100, 40, 30, 30, ENTERED), "60 are read again, 30 of them because Skarn entered.", "new messages"),
        (CacheTurn(100, 40, 60, 0, ENTERED), "60 are read again: new messages only.", "Skarn"),
        (CacheTurn(100, 40, 60, 0, ROOM), "60 are read again, because message #3 has no room any more.", "of them"),
        (CacheTurn(100, 100, 0, 0), "0 are read again.", "because"),
    ],
)
def test_what_a_cache_keeps_of_a_turn(cache: CacheTurn | None, said: str, not_said: str) -> None:
    text = cache_text(turn(cache=cache, sent_before=None), "as before")
    assert said in text
    assert not_said not in text


def test_a_bar_of_the_cache_says_why_nothing_is_known_of_its_turn() -> None:
    turns = (None, turn(sent_before=None), turn(sent_before=Generation(2)))
    content = cast("MapContent", SimpleNamespace(turns=turns, label=lambda column: f"#{column}"))
    assert [cache_bar_words(content, column) for column in range(3)] == [
        "#0: not run yet", "#1: nothing was sent before this", "#2: not compared yet",
    ]  # fmt: skip


def test_changes_are_listed_by_kind_and_none_is_left_out() -> None:
    changes = InjectionChanges(entered=tuple(("World", f"{n}.md") for n in range(8)), left=(("World", "x.md"),))
    text = changes_text(changes, lambda key: key[1].removesuffix(".md"))
    assert text == "+ 0, 1, 2, 3, 4, 5, 6, 7   − x"
    assert changes_text(InjectionChanges(), lambda _key: "") == ""


def test_the_worst_cause_is_named_and_there_is_advice() -> None:
    worst = CauseTotal(CauseKind.DEPTH, "lore", tokens=90, depth=4, turns=2)
    totals = CacheTotals(turns=3, tokens=300, kept=180, by_lore=90, causes=(worst,))
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
    totals = CacheTotals(turns=3, tokens=300, kept=180, by_lore=90, causes=(cause,))
    assert totals_text(totals).startswith("Lore and other placed texts made" if cause.host else "Lore made")


# ---- columns --------------------------------------------------------------------------------------------------------


def turn(**more: Any) -> TimelineTurn:
    return cast("TimelineTurn", SimpleNamespace(**{"cache": None, "changes": InjectionChanges()} | more))


def summary(used: int, budget: int | None, tokens: int = 0) -> SimpleNamespace:
    return SimpleNamespace(used=used, budget=budget, tokens=tokens, injected={1: None, 2: None})


def said(table: RecordTable, row: int) -> list[str]:
    return [table.index(row, column).data() for column in range(table.columnCount())]


def test_turns_in_columns_of_numbers_and_words(qapp: object) -> None:
    left = InjectionChanges(entered=(("World", "Skarn.md"),), left=(("World", "x.md"), ("World", "y.md")))
    turns = (
        None,
        turn(summary=summary(150, 600, 1200)),
        turn(summary=summary(0, None), changes=left, cache=CacheTurn(100, 40, 30, 30, ENTERED)),
        turn(summary=summary(0, None), cache=CacheTurn(100, 40, 60, 0)),
        turn(summary=summary(0, None), cache=CacheTurn(100, 100, 0, 0)),
    )
    content = MapContent(generations=tuple(Generation(place) for place in range(5)), columns=(0, 1, 2, 3, 4),
                         turns=turns)  # fmt: skip
    table = place_table(columns=turn_columns(content, Names()))
    table.set_rows(range(5))
    assert said(table, 0) == ["#0", "not run yet", "", "", "", "", "", "", "", "", ""]
    assert said(table, 1) == ["#1", "2", "1,200", "25%", "0", "0", "", "", "", "", ""]
    assert said(table, 2)[3:] == ["", "1", "2", "+ Skarn.md   − x.md, y.md", "40", "60", "30", "Skarn entered"]
    assert said(table, 3)[7:] == ["40", "60", "0", "new messages"]
    assert said(table, 4)[7:] == ["100", "0", "0", ""]
    numbers = [table.headerData(column, Qt.Orientation.Horizontal) for column in at_the_right(table)]
    assert numbers == ["In", "Tokens", "Of budget", "Entered", "Left", "Cache kept", "Read again", "By placed texts"]
    tips = [table.headerData(column, Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole) for column in range(4)]
    assert ("outlets" in tips[2], "counts against the budget" in tips[3]) == (True, True), "1,330 of 1,300 is not 95%"
    assert table.columns[0].width == FIT, "“#28 ‹1›” had no room in large letters"


def test_causes_in_columns_with_their_share(qapp: object) -> None:
    one, two = (
        CauseTotal(CauseKind.ENTERED, name, tokens=tokens, turns=3) for name, tokens in (("Skarn", 90), ("Bell", 30))
    )
    totals = CacheTotals(turns=3, tokens=300, kept=180, by_lore=90, causes=(one, two))
    table = place_table(columns=cause_columns(totals))
    table.set_rows(totals.causes)
    assert said(table, 0)[1:] == ["3", "90", f"{90 / totals.missed:.0%}"]
    assert at_the_right(table) == [1, 2, 3]
    nothing = place_table(columns=cause_columns(CacheTotals()))
    nothing.set_rows([one])
    assert said(nothing, 0)[3] == ""


def test_how_many_turns_and_entries() -> None:
    assert how_many(MapContent()) == ""
    content = MapContent(rows=(0,), columns=(0, 1))
    assert how_many(content) == "2 turns · 1 entry"


def test_a_memory_is_called_by_its_words_and_leads_to_itself() -> None:
    key = ("", "a29b8fc640ce4e57")  # a memory has no file, and nobody knows it by its mark
    memory = FOREIGN_IDS + 4
    told = cast(
        "Any", SimpleNamespace(strangers={memory: "The moth is red"}, injected={key: SimpleNamespace(entry=memory)})
    )
    names = Names.of(VaultIndex(), [turn(summary=told)])
    changes = InjectionChanges(entered=(key,))
    assert changes_text(changes, names.title) == "+ The moth is red"
    shown = changes_html(turn(summary=told, changes=changes, before=Generation(2)), "#2", names.title, names.id)
    assert f"<a href='entry:{memory}'>The&nbsp;moth&nbsp;is&nbsp;red</a>" in shown


def test_what_is_gone_from_the_vault_has_its_file_name_and_no_number() -> None:
    names = Names.of(VaultIndex(ENTRIES, LEFT_OUT, vaults=("vault",)))
    known = ENTRIES[SKARN]
    assert (names.title((known.vault, known.filename)), names.id((known.vault, known.filename))) == ("Skarn", SKARN)
    assert (names.title(("vault", "gone.md")), names.id(("vault", "gone.md"))) == ("gone.md", None)
