"""What a choice for the chat does to the chosen reply, in words. Qt is not needed here."""

from __future__ import annotations

from lorestudio.studio.control_effects import Effect
from lorestudio.studio.project import Project
from lorestudio.trace.wording import joined
from lorestudio.ui.words import count, tr


def effect_words(found: Effect | None) -> str:
    """The effect on a chip, "" where it is not known."""
    if found is None:
        return ""
    if found.lets_in and not found.filters:
        return tr("lets in {amount}", amount=len(found.lets_in))
    return tr("filters {amount}", amount=len(found.filters))


def with_effect(tip: str, found: Effect | None, project: Project) -> str:
    """A tip with the effect in a line below."""
    return f"{tip}\n{effect_sentence(found, project)}" if found is not None else tip


def effect_sentence(found: Effect, project: Project) -> str:
    """What a choice does in the chosen reply, found by running that reply with it and without it."""

    def named(entries: tuple[int, ...]) -> str:
        return joined([project.index.entries[entry].title for entry in entries])

    parts = []
    for entries, words in (
        (found.filters, tr("filters {entries}: {titles}.")),
        (found.lets_in, tr("lets {entries} through: {titles}.")),
    ):
        if entries:
            parts.append(words.format(entries=count(len(entries), "entry", "entries"), titles=named(entries)))
    text = tr("In the chosen reply it {what}", what=" ".join(parts) or tr("filters no entry."))
    if found.keeps_out:
        text += " " + tr("Without it {titles} would go in.", titles=named(found.keeps_out))
    if found.brings_in:
        text += " " + tr("Without it {titles} would not go in.", titles=named(found.brings_in))
    return text
