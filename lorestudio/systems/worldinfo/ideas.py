"""Which single changes of a note may lift what World Info has against it: by the reason that kept it out.

An entry of a lorebook is changed in the fields that World Info itself has for it, a note in its properties.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from lorestudio.domain.entry import OFF, Entry
from lorestudio.domain.records import replace
from lorestudio.exchange.lorebooks.notes import TOP_ORDER, member_of, native_of
from lorestudio.systems.ideas import Change, NoteEdit, Option, Situation, Steps, declared_options, without_property
from lorestudio.trace.journey import Fate
from lorestudio.trace.wording import quoted

_CERTAIN: Final = 100
_SECONDARY: Final = "keysecondary"
_OBJECTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "wi_disabled": (OFF,),
    "wi_trigger": ("wi_triggers",),
    "wi_character": ("wi_character_filter",),
    "wi_tags": ("wi_character_filter",),
    "wi_cooling": ("wi_cooldown", "cooldown"),
    "wi_delay": ("wi_delay",),
    "wi_only_recursion": ("wi_delay_until_recursion",),
    "wi_no_recursion": ("wi_exclude_recursion", "excludeRecursion"),
    "wi_no_depth": ("wi_scan_depth", "scanDepth"),
    "wi_secondary": ("wi_secondary", "wi_logic"),
    **dict.fromkeys(("wi_group_active", "wi_group_lost", "wi_group_score", "wi_group_sticky"), ("wi_group",)),
}
"""The properties without which there is no such reason."""
_FILTERS: Final = {"wi_character": "characterFilter.names", "wi_tags": "characterFilter.tags"}
"""Their parts of a lorebook entry's filter."""
_WORDS: Final = {
    "triggers": "the triggers", "characterFilter.names": "the characters", "characterFilter.tags": "the character tags",
    "cooldown": "the cooldown", "delay": "the delay", "delayUntilRecursion": "“recursion level”",
    "excludeRecursion": "“non-recursable”", _SECONDARY: "the secondary keys", "selectiveLogic": "the logic",
    "group": "the group", "scanDepth": "the scan depth",
}  # fmt: skip
"""What an entry's fields are called where they are edited."""


def tried_by_any(situation: Situation, *, in_book: bool) -> tuple[Option, ...]:
    """What any system tries, for a note or for an entry that is `in_book`."""
    note = situation.note
    if note is None or not in_book:
        return declared_options(situation)
    unrefined = without_property(note, _SECONDARY, _WORDS[_SECONDARY])
    return declared_options(situation, keys="key", unrefined=unrefined)


def note_options(note: Entry, fate: Fate, entries: Iterable[Entry], *, in_book: bool) -> Iterator[Option]:
    """What to change in the note, the property that says it being there, or in the entry where it is `in_book`.

    `entries` are all that are scanned.
    """
    probing = fate.reason == "wi_no_recursion"  # that no key is found in the texts of other entries either is no news
    said = _OBJECTIONS.get(fate.reason, ())
    if in_book:
        found = dict.fromkeys(_FILTERS.get(fate.reason, member_of(name)) for name in said)
        names = [name for name in found if name != _SECONDARY]  # any system tries that
    else:
        names = [name for name in said if _says(note, name)]
    for name in names:
        if fate.reason == "wi_disabled":
            edit = NoteEdit.of(note, name, removed=True)
            yield Option((Change("enable", f"Switch {quoted(note.title)} on", note=edit, brief="Switch it on"),))
        else:
            yield replace(without_property(note, name, _WORDS.get(name, "")), probing=probing)
    if fate.reason in {"wi_group_lost", "wi_group_active"}:
        edit = NoteEdit.of(note, "groupOverride" if in_book else "wi_group_override", True)
        yield Option((Change("group_priority", f"Give {quoted(note.title)} priority in its group", note=edit),))
    chance = fate.details.get("probability")
    if fate.reason == "wi_lost" and isinstance(chance, int | float):
        chances = range(max(0, math.floor(chance)) + 1, _CERTAIN + 1)
        yield Option(Steps(chances, lambda number: _likelier(note, number, in_book=in_book)))
    if fate.reason in {"wi_over_budget", "wi_behind_budget"}:
        yield from _earlier(note, entries, in_book=in_book)


def _likelier(note: Entry, per_cent: int, *, in_book: bool) -> Change:
    if in_book or "wi_probability" not in note.system_fields:
        edit = NoteEdit.of(note, "probability", per_cent if in_book else per_cent / 100)
    else:
        edit = NoteEdit.of(note, "wi_probability", per_cent)
    title = f"Raise the probability of {quoted(note.title)} to {per_cent} %"
    return Change("probability", title, note=edit, brief=f"Probability {per_cent} %")


def _earlier(note: Entry, entries: Iterable[Entry], *, in_book: bool) -> Iterator[Option]:
    """Each order up to one above the highest: entries are offered to the budget by it, the highest first."""
    orders = [_order(entry, in_book=in_book) for entry in (note, *entries)]
    numbers: Sequence[int] = range(math.floor(orders[0]) + 1, math.floor(max(orders)) + 2)

    def make(number: int) -> Change:
        if in_book or "wi_order" in note.system_fields or number >= TOP_ORDER:  # no priority is less than 1
            edit = NoteEdit.of(note, "order" if in_book else "wi_order", number)
            return Change("order", f"Raise the order of {quoted(note.title)} to {number:,}", note=edit)
        edit = NoteEdit.of(note, "priority", TOP_ORDER - number)
        return Change("order", f"Lower the priority of {quoted(note.title)} to {TOP_ORDER - number:,}", note=edit)

    if numbers:
        yield Option(Steps(numbers, make))


def _order(entry: Entry, *, in_book: bool) -> float:
    order = entry.priority if in_book else native_of(entry).get("order")
    return order if isinstance(order, int | float) and math.isfinite(order) else 0


def _says(note: Entry, name: str) -> bool:
    own = {
        "cooldown": note.cooldown is not None,
        "excludeRecursion": note.exclude_recursion,
        "scanDepth": note.scan_depth is not None,
    }
    return own.get(name, name in note.system_fields)
