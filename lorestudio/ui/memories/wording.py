"""Memories and who draws them out, in words."""

from __future__ import annotations

from collections.abc import Sequence

from lorestudio.studio.answering import AnswerKind, Source
from lorestudio.studio.facts.picture import MemoryRow
from lorestudio.ui.choices import source_title
from lorestudio.ui.memories.table import day_words
from lorestudio.ui.words import shorten, tr


def short_source(source: Source) -> str:
    """Who draws facts out, as short as a button needs it."""
    if source.kind is AnswerKind.PROVIDER:
        return shorten(source.profile, 18)
    return {AnswerKind.STAND_IN: tr("Plain rules"), AnswerKind.RECORDED: tr("Recorded")}.get(source.kind, tr("I type"))


def spoken_source(source: Source) -> str:
    """The same in full."""
    if source.kind is AnswerKind.STAND_IN:
        return tr("Plain rules, offline, without a model: they take sentences with words such as “I” and “my”")
    return source_title(source)


def as_markdown(rows: Sequence[MemoryRow]) -> str:
    """The memories as a table."""
    lines = [tr("| Memory | Tags | Pinned | When | Messages |"), "|---|---|---|---|---|"]
    for row in rows:
        memory, origin = row.memory, row.memory.origin
        where = f"#{origin.first} to #{origin.last}" if origin.first is not None else ""
        pinned = tr("yes") if memory.pinned else ""
        cells = (memory.content, row.tags, pinned, day_words(memory.created_at), where)
        lines.append("| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"
