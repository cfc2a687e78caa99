"""Parts of a prompt, for the tests of how it is put together."""

from __future__ import annotations

from lorestudio.trace.prompt import AssembledMessage, AssembledPart, AssembledPrompt


def parts_of_entry(prompt: AssembledPrompt, entry: int) -> tuple[tuple[AssembledMessage, AssembledPart], ...]:
    """Where an entry's text stands in a prompt."""
    return tuple(found for found in prompt.parts if found[1].source.entry == entry)
