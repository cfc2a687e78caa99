"""Which single changes of a note may lift what World Info has against it: by the reason that kept it out."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Final

from lorestudio.domain.entry import OFF, Entry
from lorestudio.domain.records import replace
from lorestudio.systems.ideas import Change, NoteEdit, Option, Steps, without_property
from lorestudio.trace.journey import Fate
from lorestudio.trace.wording import quoted

_CERTAIN: Final = 100
_OBJECTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "wi_disabled": (OFF,),
    "wi_trigger": ("wi_triggers",),
    "wi_character": ("wi_character_filter",),
    "wi_tags": ("wi_character_filter",),
    "wi_cooling": ("wi_cooldown", "cooldown"),
    "wi_delay": ("wi_delay",),
    "wi_only_recursion": ("wi_delay_until_recursion",),
    "wi_no_recursion": ("wi_exclude_recursion", "excludeRecursion"),
    "wi_secondary": ("wi_secondary", "wi_logic"),
    **dict.fromkeys(("wi_group_active", "wi_group_lost", "wi_group_score", "wi_group_sticky"), ("wi_group",)),
}
"""The properties without which there is no such reason."""


def note_options(note: Entry, fate: Fate) -> Iterator[Option]:
    """What to change in the note, the property that says it being there."""
    probing = fate.reason == "wi_no_recursion"  # that no key is found in the texts of other entries either is no news
    for name in _OBJECTIONS.get(fate.reason, ()):
        if _says(note, name):
            yield replace(without_property(note, name), probing=probing)
    name = quoted(note.title)
    if fate.reason in {"wi_group_lost", "wi_group_active"}:
        edit = NoteEdit.of(note, "wi_group_override", True)
        yield Option((Change("group_priority", f"Give {name} priority in its group", note=edit),))
    chance = fate.details.get("probability")
    if fate.reason == "wi_lost" and isinstance(chance, int | float):
        yield Option(Steps(range(max(0, math.floor(chance)) + 1, _CERTAIN + 1), lambda number: _likelier(note, number)))


def _likelier(note: Entry, per_cent: int) -> Change:
    own = "wi_probability" in note.system_fields
    edit = NoteEdit.of(note, "wi_probability", per_cent) if own else NoteEdit.of(note, "probability", per_cent / 100)
    title = f"Raise the probability of {quoted(note.title)} to {per_cent} %"
    return Change("probability", title, note=edit, brief=f"Probability {per_cent} %")


def _says(note: Entry, name: str) -> bool:
    own = {"cooldown": note.cooldown is not None, "excludeRecursion": note.exclude_recursion}
    return own.get(name, name in note.system_fields)
