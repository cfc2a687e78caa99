"""Where the active entries stand in the prompt (rules: sillytavern 5.6 "Output", 5.7).

A higher order stands later. What has no text, or no place, stands nowhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from lorestudio.domain.chat import NOTE_TAG, AuthorsNote
from lorestudio.domain.entry import Position, Role
from lorestudio.exchange.lorebooks.entry import BookEntry, BookPlace

SLOTS: Final = {
    BookPlace.NOTE_TOP: "above the author's note",
    BookPlace.NOTE_BOTTOM: "below the author's note",
    BookPlace.EXAMPLES_TOP: "before the example dialogue",
    BookPlace.EXAMPLES_BOTTOM: "after the example dialogue",
}
"""Places that are no position of their own, in words."""

_OUTLET_TAG: Final = "customWIOutlet_"


@dataclass(frozen=True, slots=True)
class LorePiece:
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
    for entry in _in_prompt_order(active):
        reason = _why_nowhere(entry, contents[entry.uid], note_due=note_due)
        if reason:
            nowhere.append((entry, reason))
            continue
        at_depth = entry.place is BookPlace.AT_DEPTH
        outlet = entry.outlet if entry.place is BookPlace.OUTLET else ""
        slot = (entry.place, entry.depth if at_depth else 0, entry.role if at_depth else int(Role.SYSTEM), outlet)
        slots.setdefault(slot, []).append(entry)
    blocks = [
        LoreBlock(_tag(*slot), _position(slot[0]), slot[1], slot[2], tuple(_joined(members, contents)),
              SLOTS.get(slot[0], f"in the outlet {slot[3]}" if slot[3] else ""))
        for slot, members in sorted(slots.items())
        if slot[0] not in {BookPlace.NOTE_TOP, BookPlace.NOTE_BOTTOM}
    ]  # fmt: skip
    around = {
        slot[0]: members for slot, members in slots.items() if slot[0] in {BookPlace.NOTE_TOP, BookPlace.NOTE_BOTTOM}
    }
    if around:
        top, bottom = around.get(BookPlace.NOTE_TOP, []), around.get(BookPlace.NOTE_BOTTOM, [])
        pieces = [
            *_joined(top, contents),
            LorePiece("\n"),
            LorePiece(note_text, note=True),
            LorePiece("\n"),
            *_joined(bottom, contents),
        ]
        if not top:
            pieces.pop(0)
        if not bottom:
            pieces.pop()
        blocks.append(LoreBlock(NOTE_TAG, note.position, note.depth, note.role, tuple(pieces)))
    return Placement(tuple(blocks), tuple(nowhere))


def _in_prompt_order(active: Sequence[BookEntry]) -> list[BookEntry]:
    """The highest order last; of the same order what became active first stands last."""
    by_order = sorted(active, key=lambda entry: -entry.order)  # each is put before those that are there already
    return by_order[::-1]


def _why_nowhere(entry: BookEntry, content: str, *, note_due: bool) -> str:
    if not content:
        return "wi_empty"
    if entry.place in {BookPlace.NOTE_TOP, BookPlace.NOTE_BOTTOM} and not note_due:
        return "wi_note_not_due"
    return (
        "wi_nowhere"
        if entry.place is BookPlace.NOWHERE or (entry.place is BookPlace.OUTLET and not entry.outlet)
        else ""
    )


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
