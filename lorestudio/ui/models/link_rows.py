"""How a note hangs together with others, as rows: references both ways, mentions without a link, and wakes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.studio.entry_wakes import WakeFinder
from lorestudio.studio.jobs import CancelToken
from lorestudio.studio.vault_notes import VaultNotes
from lorestudio.studio.wakes import Wake
from lorestudio.ui.models.place_tree import PlaceRow
from lorestudio.ui.words import count, number, tr
from lorestudio.vault.excerpts import Excerpt
from lorestudio.vault.link_index import Backlink, OutgoingLink
from lorestudio.vault.links import ReferenceKind
from lorestudio.vault.mentions import Mention

MOST_WAKES = 300
"""More rows than this say nothing any more; their number is said."""

_OBSTACLES = {
    "warmup_short": "too rarely for its warmup",
    "probability_zero": "but its probability is 0",
}


class Section(StrEnum):
    """The groups of the pane."""

    BACKLINKS = "backlinks"
    MENTIONS = "mentions"
    OUTGOING = "outgoing"
    MISSING = "missing"
    WAKES = "wakes"
    WOKEN_BY = "woken by"


TITLES = {
    Section.BACKLINKS: "Linked from",
    Section.MENTIONS: "Mentioned without a link",
    Section.OUTGOING: "Links to",
    Section.MISSING: "Links to notes that do not exist",
    Section.WAKES: "Wakes",
    Section.WOKEN_BY: "Woken by",
}
TIPS = {
    Section.BACKLINKS: "References of other notes to this one, in links and in properties",
    Section.MENTIONS: "Where a name or a key of this note stands in the text of others",
    Section.OUTGOING: "References of this note to others",
    Section.MISSING: "References of this note that lead nowhere yet; Enter makes the note",
    Section.WAKES: "Entries whose keys stand in the text of this one: recursion lets them in",
    Section.WOKEN_BY: "Entries whose text has a key of this one",
}


@dataclass(frozen=True, slots=True)
class NoteLinks:
    """The references and mentions of one note."""

    path: Path
    rows: tuple[PlaceRow, ...]


def link_rows(vaults: Sequence[VaultNotes], path: Path) -> NoteLinks:
    """The groups for a note, empty ones left out; no rows for a file that is no note of the vaults."""
    for vault in vaults:
        filename = vault.filename(path)
        if filename is not None:
            index = vault.index
            outgoing = index.outgoing(filename)
            groups = (
                _section(Section.BACKLINKS, [_backlink(vault, link) for link in index.backlinks(filename)]),
                _section(Section.MENTIONS, [_mention(vault, mention) for mention in index.mentions(filename)]),
                _section(Section.OUTGOING, [_outgoing(vault, link) for link in outgoing if link.target.exists]),
                _section(
                    Section.MISSING, [_missing(vault, filename, link) for link in outgoing if not link.target.exists]
                ),
            )
            return NoteLinks(path, tuple(group for group in groups if group.children))
    return NoteLinks(path, ())


def wake_rows(
    finder: WakeFinder, entry: Entry, folders: Sequence[Path | None], cancel: CancelToken
) -> tuple[PlaceRow, ...]:
    """What the entry wakes and what wakes it, empty groups left out. Raises Cancelled."""
    found = (
        (Section.WAKES, [(wake, wake.target) for wake in finder.wakes(entry)]),
        (Section.WOKEN_BY, [(wake, wake.source) for wake in finder.woken_by(entry, cancel)]),
    )
    groups = []
    for section, wakes in found:
        group = _section(section, [_wake(finder.vault, wake, other, folders) for wake, other in wakes[:MOST_WAKES]])
        group.after = number(len(wakes))
        if len(wakes) > MOST_WAKES:
            group.after = tr("{shown} of {all}", shown=number(MOST_WAKES), all=number(len(wakes)))
        groups.append(group)
    return tuple(group for group in groups if group.children)


def _section(section: Section, rows: list[PlaceRow]) -> PlaceRow:
    return PlaceRow(tr(TITLES[section]), key=section, tip=tr(TIPS[section]), children=rows)


def _line(title: str, path: Path, place: Excerpt, key: object, after: str = "") -> PlaceRow:
    return PlaceRow(title, place.text, place.start, place.end, path, place.line, after=after, key=key)


def _backlink(vault: VaultNotes, link: Backlink) -> PlaceRow:
    title = vault.index.notes[link.source].names.title
    return _line(title, vault.path(link.source), link.excerpt, link, _readers(link.in_deeplore, link.reference.kind))


def _mention(vault: VaultNotes, mention: Mention) -> PlaceRow:
    title = vault.index.notes[mention.source].names.title
    row = _line(title, vault.path(mention.source), mention.excerpt, mention, tr(mention.of.value))
    row.tip = tr("Its {what} stands here as plain text.", what=tr(mention.of.value))
    return row


def _outgoing(vault: VaultNotes, link: OutgoingLink) -> PlaceRow:
    filename = link.target.filename or ""
    known = vault.index.notes.get(filename)
    title = known.names.title if known is not None else filename
    # Going to it is what is wanted, not to the line that names it.
    row = PlaceRow(title, path=vault.path(filename), after=_readers(link.in_deeplore, link.reference.kind), key=link)
    row.tip = link.excerpt.text.strip()
    return row


def _missing(vault: VaultNotes, filename: str, link: OutgoingLink) -> PlaceRow:
    return _line(link.reference.target, vault.path(filename), link.excerpt, link)


def _readers(in_deeplore: bool, kind: ReferenceKind) -> str:  # private
    words = {
        ReferenceKind.REQUIRES: "requires",
        ReferenceKind.EXCLUDES: "excludes",
        ReferenceKind.CASCADE_LINKS: "cascade",
        ReferenceKind.PROPERTY: "property",
        ReferenceKind.EMBED: "embedded",
    }
    word = tr(words[kind]) if kind in words else ""
    return word if in_deeplore else tr("{word} · not for DeepLore", word=word).removeprefix(" · ")


def _wake(vault: VaultIndex, wake: Wake, other: int, folders: Sequence[Path | None]) -> PlaceRow:
    entry = vault.entries[other]
    home = folders[vault.vaults.index(entry.vault)] if entry.vault in vault.vaults else None
    words = tr("“{key}”", key=wake.key)
    if wake.refine_key:
        words += " + " + tr("“{key}”", key=wake.refine_key)
    if wake.obstacle:
        words += ", " + tr(_OBSTACLES.get(wake.obstacle, wake.obstacle))
    path = home / entry.filename if home is not None else None
    return PlaceRow(entry.title, path=path, after=words, key=wake)


def how_many(rows: Sequence[PlaceRow], section: Section) -> str:
    """`3 backlinks` for the pane's title."""
    amount = next((len(row.children) for row in rows if row.key is section), 0)
    return count(amount, "backlink", "backlinks")
