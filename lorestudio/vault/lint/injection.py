"""Places in the prompt that an entry asks for in vain (spec: deeplore-engine 5.8)."""

from __future__ import annotations

from collections.abc import Iterator

from lorestudio.domain.entry import Position
from lorestudio.domain.javascript import number_text
from lorestudio.vault.lint.model import Hit
from lorestudio.vault.lint.note import Note, Rules


def idle_places(note: Note, rules: Rules) -> Iterator[Hit]:
    """I01, I02: a depth or a role where none counts. Of an outlet's entries the role does count."""
    entry = note.entry
    position = rules.settings.injection_position if entry.position is None else entry.position
    in_chat = position == Position.IN_CHAT and not entry.outlet
    where = f"into the outlet “{entry.outlet}”" if entry.outlet else "outside the chat"
    if entry.depth is not None and not in_chat:
        told = f"“{entry.title}” goes {where}, so its depth of {number_text(entry.depth)} has no effect."
        yield Hit("I01", told, "depth")
    if entry.role is not None and not in_chat and not entry.outlet:
        yield Hit("I02", f"“{entry.title}” goes {where}, so its role has no effect.", "role")
