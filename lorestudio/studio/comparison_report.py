"""A comparison of several runs of one chat as texts: rows for a file, and Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from lorestudio.studio.generation import Generation
from lorestudio.trace.model import Turn
from lorestudio.trace.text import turn_words
from lorestudio.tuning.comparison import Comparison, Note, TurnComparison

MOST_NAMES: Final = 6
"""Titles that a cell of Markdown names."""


def names_of(found: Comparison, notes: Sequence[Note] | frozenset[Note]) -> list[str]:
    """The titles of notes in order, each once."""
    return sorted(Counter(found.titles[note] for note in notes), key=str.casefold)


def generation_of(turn: Turn) -> Generation:
    """The generation of a turn."""
    return Generation(turn.message, turn.swipe)


def comparison_rows(found: Comparison) -> list[list[str]]:
    """A heading and a row for every turn: entries, tokens and what it alone puts in for each run, then the overlap."""
    head = ["Turn"]
    for label in found.labels:
        head += [f"{label}: entries", f"{label}: tokens", f"{label}: only here"]
    rows = [[*head, "Overlap"]]
    for turn in found.turns:
        row = [turn_words(turn.turn)]
        for share, alone in zip(turn.shares, turn.alone, strict=True):
            row += [str(len(share.notes)), str(share.tokens), "; ".join(names_of(found, alone))]
        rows.append([*row, f"{turn.overlap:.2f}"])
    return rows


def total_rows(found: Comparison) -> list[list[str]]:
    """A heading and a row for every run over the whole chat, with how far it agrees with each other one."""
    head = ["Run", "Entries a turn", "Tokens a turn", "Most tokens", "Different entries", "Turns without any"]
    rows = [[*head, *(f"Agrees with {label}" for label in found.labels)]]
    for total, agreement in zip(found.totals, found.agreement, strict=True):
        rows.append(
            [
                total.label,
                f"{total.entries:.1f}",
                f"{total.tokens:,.0f}",
                f"{total.most_tokens:,}",
                f"{total.different:,}",
                f"{total.silent:,}",
                *(f"{share:.0%}" for share in agreement),
            ]
        )
    return rows


def comparison_as_markdown(found: Comparison) -> str:
    """The totals and every turn as Markdown tables."""
    lines = ["## Totals", "", *_table(total_rows(found)), "", "## Turn by turn", ""]
    rows = [["Turn", *found.labels, "Overlap"]]
    for turn in found.turns:
        cells = [_cell(found, turn, place) for place in range(len(found.labels))]
        rows.append([turn_words(turn.turn), *cells, f"{turn.overlap:.0%}"])
    return "\n".join([*lines, *_table(rows)]) + "\n"


def _cell(found: Comparison, turn: TurnComparison, place: int) -> str:
    share, names = turn.shares[place], names_of(found, turn.alone[place])
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    only = f"; only here: {', '.join(names[:MOST_NAMES])}{more}" if names else ""
    return f"{len(share.notes)} entries, {share.tokens:,} tokens{only}"


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    head, *body = [[_escaped(cell) for cell in row] for row in rows]
    return [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *body)]


def _escaped(text: str) -> str:
    line = " ".join(text.split())
    return "".join(f"\\{letter}" if letter in "\\`*_[]<>|#" else letter for letter in line)
