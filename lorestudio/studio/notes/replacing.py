"""Plans that change places in notes that were found before: hits of a search, mentions of a name, problems to mend.

A note whose file is no longer what was looked at stays as it is, and a remark says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import regex
from msgspec import Struct

from lorestudio.exchange.problems import InputError
from lorestudio.studio.notes.changes.change_set import ChangeSet, NoteFileChange
from lorestudio.studio.notes.search import FoundNote, SearchHit, SearchPlace, SearchQuery, Term, matched_spans
from lorestudio.studio.notes.vault_notes import Planned, VaultNotes, home_of
from lorestudio.trace.wording import plural
from lorestudio.vault.files import VaultError
from lorestudio.vault.front_matter import BOM
from lorestudio.vault.links.mentions import Mention, link_edit
from lorestudio.vault.lint.fixes import Repair
from lorestudio.vault.note.document import NoteDocument
from lorestudio.vault.note.text_edits import TextEdit, apply_edits
from lorestudio.vault.writer import read_note


def plan_links(vaults: Sequence[VaultNotes], path: Path, mentions: Sequence[Mention]) -> Planned:
    """Link these mentions of a note to it, as one step. The remarks name the notes that stay as they are.

    Raises InputError where no mention is given or no link can name the note.
    """
    if not mentions:
        raise InputError("mentions", "no mention is chosen.")
    vault, filename = home_of(vaults, path)
    title = vault.index.notes[filename].names.title
    by_source: dict[str, list[Mention]] = {}
    for mention in mentions:
        by_source.setdefault(mention.source, []).append(mention)
    made: list[NoteFileChange] = []
    remarks: list[str] = []
    places = 0
    for source, found in by_source.items():
        known = vault.index.notes.get(source)
        stale = f"{source} has changed meanwhile and stays as it is. Look at its mentions again."
        before = _as_looked_at(vault.path(source), None if known is None else known.text, stale, remarks)
        if before is None or known is None:
            continue
        offset = len(before) - len(known.text)
        try:
            edits = [link_edit(before, one.start + offset, one.end + offset, title) for one in found]
        except ValueError as error:
            raise InputError(filename, str(error)) from error
        places += len(edits)
        made.append(NoteFileChange(vault.path(source), before, apply_edits(before, edits)))
    return Planned(ChangeSet(f"Link {plural(places, '# mention|# mentions')} of {title}", tuple(made)), tuple(remarks))


_PART = re.compile(r"\$(?:(?P<number>\d{1,2})|\{(?P<name>\w+)\}|(?P<dollar>\$))|\\(?P<escape>.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "\\": "\\", "$": "$"}


class Replacement(Struct, frozen=True):
    """What a hit is replaced by."""

    hit: SearchHit
    text: str


class Replacer:
    r"""A query with one term and what takes its place.

    With a regular expression `$1` and `${name}` stand for groups, `$$` for a dollar sign, `\n` and `\t` for line break
    and tabulator, two backslashes for one; otherwise the words are taken as they are.
    Raises InputError where the query has not exactly one term, or the replacement names a group that is not there.
    """

    def __init__(self, query: SearchQuery, words: str) -> None:
        if query.only is None:
            raise InputError(
                "replace",
                "only one thing can be replaced at a time. Put several words in quotes to replace the phrase.",
            )
        self.query = query
        self.term: Term = query.only
        self._parts = tuple(_parts(words, self.term.pattern)) if query.options.regex else (words,)

    def replacements(self, note: FoundNote) -> tuple[Replacement, ...]:
        """For each hit in the note's text what takes its place; hits in the file's name have no replacement.

        Raises InputError where the expression takes too long.
        """
        by_span = {(hit.start, hit.end): hit for hit in note.hits if not hit.in_name}
        try:
            spans = {span[1:] for span in matched_spans(note.text, self.term, self.query)}
            return tuple(
                Replacement(by_span[match.span()], self._text(match))
                for match in self._matches(note.text)
                if match.span() in by_span and match.span() in spans
            )
        except TimeoutError as error:
            raise InputError(note.filename, "the regular expression takes too long in this note.") from error

    def _matches(self, text: str) -> Iterator[regex.Match[str]]:
        body_start = NoteDocument(text).body_start
        yield from self.term.matches(text, 0, body_start)
        yield from self.term.matches(text, body_start)

    def _text(self, match: regex.Match[str]) -> str:
        return "".join(part if isinstance(part, str) else match[part.group] or "" for part in self._parts)


class _GroupPart(Struct, frozen=True):
    group: int | str


def _parts(words: str, pattern: regex.Pattern[str]) -> Iterator[str | _GroupPart]:
    done = 0
    for found in _PART.finditer(words):
        yield words[done : found.start()]
        done = found.end()
        if found["escape"]:
            yield _ESCAPES.get(found["escape"], found[0])
        elif found["dollar"]:
            yield "$"
        else:
            group: int | str = int(found["number"]) if found["number"] else found["name"]
            there = group <= pattern.groups if isinstance(group, int) else group in pattern.groupindex
            if not there:
                raise InputError(
                    "replace",
                    f"the expression has no group for {found[0]} at character {found.start() + 1}. "
                    "Write $$ for a dollar sign.",
                )
            yield _GroupPart(group)
    yield words[done:]


def plan_replace(replacer: Replacer, chosen: Sequence[FoundNote]) -> Planned:
    """Replace the hits of these notes; leave out of `hits` what is to stay.

    A note whose file is no longer what was searched is left alone, and a remark says so.
    """
    made: list[NoteFileChange] = []
    remarks: list[str] = []
    count = 0
    for note in chosen:
        if any(hit.in_name for hit in note.hits):
            remarks.append(f"{note.filename}: its name stays. Rename the note, so that references follow.")
        stale = f"{note.filename} has changed since the search and stays as it is. Search again."
        before = _as_looked_at(note.path, note.text, stale, remarks)
        if before is None:
            continue
        offset = len(before) - len(note.text)
        found = replacer.replacements(note)
        edits = [TextEdit(one.hit.start + offset, one.hit.end + offset, one.text) for one in found]
        after = apply_edits(before, edits)
        if after == before:
            continue
        count += len(found)
        made.append(NoteFileChange(note.path, before, after))
        remarks += _consequences(note, before, after, found)
    what = f"Replace {plural(count, '# place|# places')} in {plural(len(made), '# note|# notes')}"
    return Planned(ChangeSet(what, tuple(made)), tuple(remarks))


def _consequences(note: FoundNote, before: str, after: str, found: Sequence[Replacement]) -> Iterator[str]:
    if any(one.hit.where is SearchPlace.TITLE for one in found):
        yield f"{note.filename}: its title changes, and references to it do not. Rename the note to change both."
    if any(one.hit.where is SearchPlace.PROPERTIES for one in found):
        problems = {problem.message for problem in NoteDocument(before).problems}
        for problem in NoteDocument(after).problems:
            if problem.message not in problems:
                yield f"{note.filename}, line {problem.line}: {problem.message}"


def plan_repairs(folders: Mapping[str, Path], repairs: Sequence[Repair]) -> Planned:
    """Mend these notes as one step. `folders` are those of the vaults by name.

    A note whose file is no longer what was looked at stays as it is, and a remark says so.
    """
    made: list[NoteFileChange] = []
    remarks: list[str] = []
    titles: list[str] = []
    for repair in repairs:
        folder = folders.get(repair.vault)
        if folder is None:
            remarks.append(f"{repair.filename} lies behind Obsidian's plugin and stays as it is. Mend it there.")
            continue
        path = folder / repair.filename
        stale = f"{repair.filename} has changed meanwhile and stays as it is. Look at its problems again."
        before = _as_looked_at(path, repair.before, stale, remarks)
        if before is None:
            continue
        mark = BOM if before.startswith(BOM) else ""
        made.append(NoteFileChange(path, before, mark + repair.after.removeprefix(BOM)))
        titles += repair.titles
    title = titles[0] if len(titles) == 1 else f"Mend {len(titles)} problems"
    return Planned(ChangeSet(title, tuple(made)), tuple(remarks))


def _as_looked_at(path: Path, known: str | None, stale: str, remarks: list[str]) -> str | None:
    """The note's text, None with a remark where it cannot be read or is no longer what was looked at."""
    try:
        text, _ = read_note(path)
    except VaultError as error:
        remarks.append(str(error))
        return None
    if known is None or text.removeprefix(BOM) != known.removeprefix(BOM):
        remarks.append(stale)
        return None
    return text
