"""What differs between two runs of a reply, in short lines. Qt is not needed here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from lorestudio.trace.diff import EntryChange, TraceDiff
from lorestudio.ui.words import count, number, tr

MOST_NAMES: Final = 6


def diff_lines(diff: TraceDiff) -> list[str]:
    """The tokens first, then who enters, leaves, moves, and takes more or less room."""
    before, after = diff.tokens
    tokens = count(after, "token", "tokens")
    if not diff and diff.before.prompt != diff.after.prompt:
        return [
            tr("The same entries go in, {tokens}, but the text around them or their place is another.", tokens=tokens)
        ]
    if not diff:
        return [tr("No difference: the same entries go in, {tokens}.", tokens=tokens)]
    lines = [
        tr("{before} → {after} in the prompt", before=number(before), after=tokens)
        if before != after
        else tr("{tokens} in the prompt, as before", tokens=tokens)
    ]
    for words, changes in (
        ("+ Enters: {titles}", diff.entered),
        ("− Leaves: {titles}", diff.left),
        ("↕ Moves: {titles}", diff.moved),
        ("~ Another length: {titles}", diff.resized),
        ("~ Another text: {titles}", diff.rewritten),
    ):
        if changes:
            lines.append(tr(words, titles=titles(changes)))
    return lines


def titles(changes: Sequence[EntryChange]) -> str:
    """The first titles, and how many more there are."""
    shown = ", ".join(change.title for change in changes[:MOST_NAMES])
    more = len(changes) - MOST_NAMES
    return tr("{titles} and {more}", titles=shown, more=count(more, "other", "others")) if more > 0 else shown
