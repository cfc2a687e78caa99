"""Full-text search over the notes of a vault, note by note."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from lorestudio.exchange.problems import InputError
from lorestudio.studio.jobs import Cancelled, CancelToken
from lorestudio.studio.search_query import SearchQuery, Term, Where
from lorestudio.studio.vault_notes import VaultNotes
from lorestudio.vault.excerpts import Excerpt, excerpt
from lorestudio.vault.link_index import IndexedNote
from lorestudio.vault.link_targets import base_name
from lorestudio.vault.links import heading_text
from lorestudio.vault.property_texts import split_places


@dataclass(frozen=True, slots=True)
class SearchHit:
    """One place that was found. `start` and `end` are code points of the note's text, or of its name with `in_name`."""

    where: Where
    start: int
    end: int
    in_name: bool = False


@dataclass(frozen=True, slots=True)
class FoundNote:
    """A note with its hits in the order of the text, those in its name first; none where only operators were given."""

    path: Path
    filename: str
    title: str
    hits: tuple[SearchHit, ...]
    text: str = field(repr=False)

    def excerpt(self, hit: SearchHit) -> Excerpt:
        """The line of the hit, worked out when it is shown. For a hit in the name: the name, and line 0."""
        if hit.in_name:
            return Excerpt(0, base_name(self.filename), hit.start, hit.end)
        return excerpt(self.text, hit.start, hit.end)


def search(vault: VaultNotes, query: SearchQuery, cancel: CancelToken | None = None) -> Iterator[FoundNote]:
    """The notes that the query finds, one by one in the order of the vault.

    Raises Cancelled, and InputError where a regular expression takes too long.
    """
    for note in vault.index.notes.values():
        if cancel is not None and cancel.cancelled:
            raise Cancelled
        if not all(condition.holds(note) for condition in query.conditions):
            continue
        try:
            hits = hits_in(note, query)
        except TimeoutError as error:
            raise InputError(
                note.filename, "the regular expression takes too long in this note. Repeat fewer things inside it."
            ) from error
        if hits is not None:
            yield FoundNote(vault.path(note.filename), note.filename, note.names.title, tuple(hits), note.text)


def hits_in(note: IndexedNote, query: SearchQuery) -> list[SearchHit] | None:
    """The hits in one note, None where it is not found. Raises TimeoutError where an expression takes too long."""
    # Most notes have no hit, so the parts of a note are looked at only where all of it has one.
    name = note.names.base_name
    if not all(any(term.occurs(note.text) or term.occurs(name) for term in group) for group in query.wanted):
        return None
    if any(next(_hits(note, term, query), None) is not None for term in query.unwanted):
        return None
    hits: list[SearchHit] = []
    for group in query.wanted:
        found = [hit for term in group for hit in _hits(note, term, query)]
        if not found:
            return None
        hits += found
    if sum(map(len, query.wanted)) > 1:
        hits = sorted(set(hits), key=_order)
    return hits


def _order(hit: SearchHit) -> tuple[bool, int, int]:
    return not hit.in_name, hit.start, hit.end


def _hits(note: IndexedNote, term: Term, query: SearchQuery) -> Iterator[SearchHit]:
    name = note.names.base_name
    if Where.TITLE in query.options.where:
        for match in term.matches(name):
            yield SearchHit(Where.TITLE, *match.span(), in_name=True)
    for where, start, end in matched_spans(note.text, term, query):
        yield SearchHit(where, start, end)


def matched_spans(text: str, term: Term, query: SearchQuery) -> Iterator[tuple[Where, int, int]]:
    """Where the term occurs in the parts of a note that the query looks at, in the order of the text."""
    wanted = query.options.where
    yaml_start, yaml_end, body_start = split_places(text)
    if Where.PROPERTIES in wanted:
        for match in term.matches(text, yaml_start, yaml_end):
            yield (Where.PROPERTIES, *match.span())
    if Where.TITLE in wanted or Where.BODY in wanted:
        heading = heading_text(text, body_start) or (0, 0)
        for match in term.matches(text, body_start):
            where = Where.TITLE if heading[0] <= match.start() < heading[1] else Where.BODY
            if where in wanted:
                yield (where, *match.span())
