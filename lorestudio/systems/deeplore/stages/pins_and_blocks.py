"""The chat's pins and blocks (rules: deeplore 5.1)."""

from __future__ import annotations

from collections.abc import Iterable

from lorestudio.domain.entry import Entry
from lorestudio.domain.javascript import Json
from lorestudio.domain.records import replace
from lorestudio.systems.deeplore.inputs import Inputs
from lorestudio.systems.deeplore.state import RunState
from lorestudio.systems.ledger import Ledger
from lorestudio.systems.runner import stage
from lorestudio.trace.model import Phase, StageRecord

PIN_PRIORITY = 10


@stage("pins and blocks", Phase.GATE)
def pins_and_blocks_stage(state: RunState, ctx: Inputs, ledger: Ledger) -> StageRecord:
    """Pinned entries come in as constants of priority 10; then blocked ones leave, pinned or not."""
    pins, blocks = ctx.moment.controls.pins, ctx.moment.controls.blocks
    if not pins and not blocks:
        return ledger.skipped("no_pins_or_blocks")
    before = list(state.candidates)
    added = _pin(state, ctx, ledger) if pins else []
    present = {entry.id for entry in state.candidates}
    for entry in _once([*before, *added]):
        if entry.id not in present:
            # Two notes of one vault share a title: the pinned one took the other's place.
            ledger.remove(entry, "replaced_by_pin", title=entry.title)
    blocked = [entry for entry in state.candidates if any(block.matches(entry) for block in blocks)]
    for entry in _once(blocked):
        ledger.remove(entry, "blocked")
    gone = {entry.id for entry in blocked}
    state.candidates = [entry for entry in state.candidates if entry.id not in gone]
    # Of two notes of one vault with the same title only a copy that was pinned counts as pinned.
    pinned: list[Json] = [entry.id for entry in state.candidates if entry is not ctx.index.vault.entries[entry.id]]
    return ledger.close(state.candidates, details={"pinned": pinned})


def _once(entries: Iterable[Entry]) -> list[Entry]:
    """The entries without repetitions."""
    return list({entry.id: entry for entry in entries}.values())


def _pin(state: RunState, ctx: Inputs, ledger: Ledger) -> list[Entry]:
    """Put every pinned entry in the place of the first candidate with its tracker key, or at the end.

    Returns those that were no candidates before.
    """
    present = {entry.id for entry in state.candidates}
    added: list[Entry] = []
    places: dict[str, int] = {}
    for number, entry in enumerate(state.candidates):
        places.setdefault(entry.tracker_key, number)
    for entry in ctx.index.visible:
        if not any(pin.matches(entry) for pin in ctx.moment.controls.pins):
            continue
        pinned = replace(entry, constant=True, priority=PIN_PRIORITY)
        place = places.get(entry.tracker_key)
        if place is None:
            places[entry.tracker_key] = len(state.candidates)
            state.candidates.append(pinned)
            state.set_label(entry, "(pinned)")
        else:
            state.candidates[place] = pinned
        if entry.id in present:
            ledger.change(entry, "pin_upgraded", priority=PIN_PRIORITY)
        else:
            ledger.add(entry, "pinned")
            added.append(entry)
    return added
