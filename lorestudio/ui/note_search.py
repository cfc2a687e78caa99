"""Searching notes and working out what replaces the hits, as jobs: the rows come out while the search runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from lorestudio.exchange.problems import InputError
from lorestudio.studio.jobs import Cancelled, CancelToken
from lorestudio.studio.replacing import Replacer
from lorestudio.studio.search import FoundNote, SearchHit, search
from lorestudio.studio.search_query import SearchQuery
from lorestudio.studio.vault_notes import VaultNotes
from lorestudio.ui.models.place_tree import PlaceRow
from lorestudio.ui.words import number, sentence_of, tr

STREAM_SECONDS: Final = 0.05
"""What was found meanwhile is shown this often."""
MOST_HITS: Final = 5000
"""Nobody reads more; the search ends there and says so."""


@dataclass(frozen=True, slots=True)
class FoundRows:
    """Some rows of one search, made in the worker."""

    search: int
    rows: tuple[PlaceRow, ...]


@dataclass(frozen=True, slots=True)
class SearchEnd:
    """How a search came out; `cut` says that it ended at `MOST_HITS`."""

    hits: int
    notes: int
    cut: bool


def search_rows(
    vaults: Sequence[VaultNotes], query: SearchQuery, cancel: CancelToken, send: Callable[[tuple[PlaceRow, ...]], None]
) -> SearchEnd:
    """Search all vaults and send the rows as they are found. Raises Cancelled and InputError."""
    rows: list[PlaceRow] = []
    hits = notes = 0
    last = time.monotonic()
    try:
        for vault in vaults:
            for note in search(vault, query, cancel):
                row = _place_group(note)
                rows.append(row)
                notes += 1
                hits += len(row.children)
                now = time.monotonic()
                if now - last > STREAM_SECONDS:
                    send(tuple(rows))
                    rows, last = [], now
                if hits >= MOST_HITS:
                    return SearchEnd(hits, notes, cut=True)
    except Cancelled as error:
        raise Cancelled(tr("The search was stopped.")) from error
    except InputError as error:
        raise InputError("search", sentence_of(error)) from error
    finally:
        send(tuple(rows))
    return SearchEnd(hits, notes, cut=False)


def replacements(replacer: Replacer, notes: Sequence[FoundNote]) -> dict[tuple[Path, SearchHit], str]:
    """What takes the place of each hit. Raises InputError where an expression takes too long."""
    return {(note.path, one.hit): one.text for note in notes for one in replacer.replacements(note)}


def _place_group(note: FoundNote) -> PlaceRow:
    children = []
    for hit in note.hits:
        place = note.excerpt(hit)
        title = number(place.line) if place.line else tr("name")
        children.append(PlaceRow(title, place.text, place.start, place.end, note.path, place.line, key=hit))
    folder = note.filename.rpartition("/")[0]
    group = PlaceRow(note.title, path=note.path, icon="entry", after="", key=note, tip=note.filename, children=children)
    if not children:  # only operators were given: the note itself is what was found
        group.after = folder
    else:
        group.after = f"{folder}  {number(len(children))}".strip()
    return group
