"""Where the active entries stand in the prompt (rules: sillytavern 5.6 "Output", 5.7).

A higher order stands later, but in an outlet first. What has no text, or no place, stands nowhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from lorestudio.domain.chat import NOTE_TAG, AuthorsNote
from lorestudio.domain.entry import Position, Role
from lorestudio.exchange.lorebooks.entry import BookEntry, BookPlace
from lorestudio.trace.wording import quoted

SLOTS: Final = {
    BookPlace.NOTE_TOP: "above the author's note",
    BookPlace.NOTE_BOTTOM: "below the author's note",
    BookPlace.EXAMPLES_TOP: "before the example dialogue",
    BookPlace.EXAMPLES_BOTTOM: "after the example dialogue",
}
"""Places that are no position of their own, in words."""

_OUTLET_TAG: Final = "customWIOutlet_"


class LorePiece(NamedTuple):
    """A stretch of a block's text; `uid` is "" for what is no entry's. `note`: the author's note itself."""

    text: str
    uid: str = ""
    note: bool = False


@dataclass(frozen=True, slots=True)
class LoreBlock:
    """Texts that the host is handed as one; `slot` says where it stands where the position does not."""

    tag: str
    position: int
    depth: int
    role: int
    pieces: tuple[LorePiece, ...]
    slot: str = ""


@dataclass(frozen=True, slots=True)
class Placement:
    """The blocks, and the entries that stand nowhere with the reason code."""

    blocks: tuple[LoreBlock, ...]
    nowhere: tuple[tuple[BookEntry, str], ...]


def placed(
    active: Sequence[BookEntry], contents: Mapping[str, str], note: AuthorsNote, note_text: str, *, note_due: bool
) -> Placement:
    """The blocks of a generation. `contents` are the entries' texts and `note_text` the note's, macros filled in."""
    nowhere: list[tuple[BookEntry, str]] = []
    slots: dict[tuple[BookPlace, int, int, str], list[BookEntry]] = {}
    # The highest order last (in outlets: first); of the same order what became active first stands last.
    for entry in sorted(active, key=lambda entry: -entry.order)[::-1]:
        reason = _why_nowhere(entry, contents[entry.uid], note_due=note_due)
        if reason:
            nowhere.append((entry, reason))
            continue
        at_depth = entry.place is BookPlace.AT_DEPTH
        outlet = entry.outlet if entry.place is BookPlace.OUTLET else ""
        slot = (entry.place, entry.depth if at_depth else 0, entry.role if at_depth else int(Role.SYSTEM), outlet)
        slots.setdefault(slot, []).insert(0 if outlet else len(slots.get(slot, ())), entry)
    blocks = [
        LoreBlock(_tag(*slot), _position(slot[0]), slot[1], slot[2], tuple(_joined(members, contents)),
              SLOTS.get(slot[0], f"in the outlet {quoted(slot[3])}" if slot[3] else ""))
        for slot, members in sorted(slots.items())
        if slot[0] not in {BookPlace.NOTE_TOP, BookPlace.NOTE_BOTTOM}
    ]  # fmt: skip
    top, bottom = (
        [entry for slot, members in slots.items() if slot[0] is place for entry in members]
        for place in (BookPlace.NOTE_TOP, BookPlace.NOTE_BOTTOM)
    )
    if top or bottom:
        feed = LorePiece("\n")
        above, below = [*_joined(top, contents), feed], [feed, *_joined(bottom, contents)]
        pieces = [*(above if top else ()), LorePiece(note_text, note=True), *(below if bottom else ())]
        blocks.append(LoreBlock(NOTE_TAG, note.position, note.depth, note.role, tuple(pieces)))
    return Placement(tuple(blocks), tuple(nowhere))


def _why_nowhere(entry: BookEntry, content: str, *, note_due: bool) -> str:
    if not content:
        return "wi_empty"
    if entry.place in {BookPlace.NOTE_TOP, BookPlace.NOTE_BOTTOM} and not note_due:
        return "wi_note_not_due"
    nowhere = entry.place is BookPlace.NOWHERE or (entry.place is BookPlace.OUTLET and not entry.outlet)
    return "wi_nowhere" if nowhere else ""


def _joined(members: Iterable[BookEntry], contents: Mapping[str, str]) -> Iterator[LorePiece]:
    for number, entry in enumerate(members):
        if number:
            yield LorePiece("\n")
        yield LorePiece(contents[entry.uid], entry.uid)


def _position(place: BookPlace) -> int:
    if place is BookPlace.AT_DEPTH:
        return int(Position.IN_CHAT)
    if place is BookPlace.OUTLET:
        return int(Position.OUTLET)
    return int(Position.BEFORE if place is BookPlace.BEFORE else Position.AFTER)


def _tag(place: BookPlace, depth: int, role: int, outlet: str) -> str:
    if place is BookPlace.OUTLET:
        return f"{_OUTLET_TAG}{outlet}"
    return f"customDepthWI-{depth}-{role}" if place is BookPlace.AT_DEPTH else f"worldInfo_{place.name.lower()}"
