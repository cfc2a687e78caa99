"""Full-text search over the notes of a vault, and plans that change what was found.

A query has words, phrases and operators as in Obsidian, or is a regular expression:

    ferry "long flood"          notes that have both, each anywhere
    storm OR flood              notes that have one of the two
    -draft                      notes without the word
    path:characters/ file:hob   only where path or file name has this
    tag:npc key:bell            only where a tag is this one or below it, or a key has this

Operators take quotes (`path:"old town"`) and a minus sign. With regular expressions on, operators stand at the front,
and everything behind them is one expression. Plans replace hits, link mentions and mend problems; a note whose file is
no longer what was looked at stays as it is, and a remark says so.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from time import thread_time
from typing import Final

import regex
from msgspec import Struct

from lorestudio.domain.javascript import fold
from lorestudio.domain.lifecycle import CancelToken, heed
from lorestudio.domain.patterns import LONGEST, compile_guarded, is_slow
from lorestudio.domain.records import Terse, grouped
from lorestudio.exchange.problems import InputError
from lorestudio.studio.notes.book_entries import file_changes, is_book_entry, read_text
from lorestudio.studio.notes.changes.change_set import ChangeSet, NoteFileChange
from lorestudio.studio.notes.vault_notes import Planned, VaultNotes, home_of
from lorestudio.trace.wording import plural
from lorestudio.vault.files import NoteFile, VaultError
from lorestudio.vault.front_matter import BOM
from lorestudio.vault.links.mentions import Mention, link_edit, stands_alone
from lorestudio.vault.links.references import Excerpt, excerpt, heading_text
from lorestudio.vault.links.targets import IndexedNote, base_name
from lorestudio.vault.lint.fixes import Repair
from lorestudio.vault.note.document import NoteDocument
from lorestudio.vault.note.spans import split_places
from lorestudio.vault.note.text_edits import TextEdit, apply_edits


class SearchPlace(StrEnum):
    """The parts of a note that are searched. TITLE: the heading or the file's name, whichever carries the title."""

    TITLE = "title"
    PROPERTIES = "properties"
    BODY = "body"


ANYWHERE: Final = frozenset(SearchPlace)
_PATIENCE_SECONDS: Final = 2.0
"""No sensible expression takes so long in one note."""


class SearchOptions(Struct, frozen=True):
    """How words are compared and where they are looked for."""

    case: bool = False
    word: bool = False
    regex: bool = False
    where: frozenset[SearchPlace] = ANYWHERE


class Condition(Struct, frozen=True):
    """An operator: `name` is path, file, tag or key; `wanted` False after a minus sign."""

    name: str
    value: str
    wanted: bool

    def holds(self, note: IndexedNote) -> bool:
        """Whether the note is searched at all. Neither letter case nor how accents are encoded matters here."""
        return self._is_so(note) is self.wanted

    def _is_so(self, note: IndexedNote) -> bool:
        value = fold(self.value)
        if self.name == "path":
            return value in fold(note.filename)
        if self.name == "file":
            return value in fold(note.filename.rpartition("/")[2])
        if self.name == "key":
            return any(value in fold(key) for key in note.keys)
        tag = value.removeprefix("#")
        return any(own == tag or own.startswith(f"{tag}/") for own in map(fold, note.tags))


class Occurrence(Struct, frozen=True):
    """Where something occurs in a text, and what was matched, where an expression finds every line end as one sign."""

    start: int
    end: int
    of: regex.Match[str]


class Term(Struct, frozen=True):
    """One thing to look for. `alone`: only where it is no part of a longer word, in any script.

    `seconds` is how long an expression may take in one note, None for words, which take no time.
    """

    pattern: regex.Pattern[str]
    alone: bool = False
    seconds: float | None = None

    def matches(self, text: str, start: int = 0, end: int | None = None) -> Iterator[Occurrence]:
        """Where it occurs from `start` to `end`; empty matches are passed over.

        Raises TimeoutError where the expression takes too long.
        """
        limit = len(text) if end is None else end
        # `$` and `.` know line feeds alone: a carriage return before one would be no end of a line, and part of it.
        returns = [] if self.seconds is None else [found.start() for found in re.finditer("\r\n", text)]
        if returns:
            text = text.replace("\r\n", "\n")
            start, limit = (place - bisect_left(returns, place) for place in (start, limit))
        feeds = [place - number for number, place in enumerate(returns)]
        for found in self.pattern.finditer(text, start, limit, timeout=self.seconds):
            first, last = found.span()
            if last > first and not (self.alone and not stands_alone(text, first, last)):
                yield Occurrence(first + bisect_left(feeds, first), last + bisect_left(feeds, last), found)

    def occurs(self, text: str) -> bool:
        """Whether it occurs at all. Raises TimeoutError as `matches` does."""
        return next(self.matches(text), None) is not None


class SearchQuery(Struct, frozen=True):
    """A query that was understood.

    A note is found where all `conditions` hold, none of `unwanted` occurs in it, and of each group of `wanted` at least
    one occurs. Without `wanted` it is found by the conditions alone.
    """

    options: SearchOptions
    conditions: tuple[Condition, ...]
    wanted: tuple[tuple[Term, ...], ...]
    unwanted: tuple[Term, ...] = ()

    @property
    def only(self) -> Term | None:
        """The one term that is looked for, None where there are several or none: replacing needs one."""
        terms = [term for group in self.wanted for term in group]
        return terms[0] if len(terms) == 1 else None

    def may_find(self, note: NoteFile) -> bool:
        """Whether a note is worth a closer look: without one of the words it is not; an expression takes its time."""
        name = base_name(note.filename)
        return all(
            any(term.seconds is not None or term.occurs(note.text) or term.occurs(name) for term in group)
            for group in self.wanted
        )


_OPERATOR = re.compile(r"(-?)(path|file|tag|key):(?:\"([^\"]*)\"?|(\S*))", re.IGNORECASE)
_TERM = re.compile(r"(-?)(?:\"([^\"]*)\"?|(\S+))")
_CALL = re.compile(r"\(\?(?:R|[+-]?\d|&|P>)")
_SPACES = re.compile(r"\s*")


def parse_query(text: str, options: SearchOptions | None = None) -> SearchQuery:
    """Understand what was typed. Raises InputError: nothing to look for, or a bad expression with the place."""
    options = options or SearchOptions()
    if len(text) > LONGEST:
        raise InputError("search", f"it has more than {LONGEST:,} characters. Look for fewer.")
    query = _parse_regex(text, options) if options.regex else _parse_words(text, options)
    if not (query.conditions or query.wanted or query.unwanted):
        raise InputError("search", "there is nothing to look for. Type a word, a “phrase”, path:, tag: or key:.")
    return query


def _parse_regex(text: str, options: SearchOptions) -> SearchQuery:
    conditions: list[Condition] = []
    place = _after_spaces(text, 0)
    while (operator := _OPERATOR.match(text, place)) is not None:
        conditions += _condition(operator)
        place = _after_spaces(text, operator.end())
    expression = text[place:] if conditions else text
    wanted = ((_expression(expression, options, place if conditions else 0),),) if expression else ()
    return SearchQuery(options, tuple(conditions), wanted)


def _parse_words(text: str, options: SearchOptions) -> SearchQuery:
    conditions: list[Condition] = []
    wanted: list[tuple[Term, ...]] = []
    unwanted: list[Term] = []
    either = False
    place = _after_spaces(text, 0)
    while place < len(text):
        operator = _OPERATOR.match(text, place)
        term = _TERM.match(text, place)
        if operator is not None:
            conditions += _condition(operator)
            place = _after_spaces(text, operator.end())
        elif term is not None:
            place = _after_spaces(text, term.end())
            words = term[2] if term[3] is None else term[3]
            if words == "OR" and term[3] and not term[1] and wanted:
                either = True
                continue
            if words:
                one = _literal(words, options)
                if term[1]:
                    unwanted.append(one)
                elif either:
                    wanted[-1] = (*wanted[-1], one)
                else:
                    wanted.append((one,))
        either = False
    return SearchQuery(options, tuple(conditions), tuple(wanted), tuple(unwanted))


def _after_spaces(text: str, place: int) -> int:
    found = _SPACES.match(text, place)
    return place if found is None else found.end()


def _condition(operator: re.Match[str]) -> Sequence[Condition]:
    """Nothing for an operator that nothing stands behind yet."""
    value = operator[4] if operator[3] is None else operator[3]
    return [Condition(operator[2].lower(), value, wanted=not operator[1])] if value else []


def _literal(words: str, options: SearchOptions) -> Term:
    """Words as they are; white space in them stands for any white space, and letters may be apart from accents."""
    forms = dict.fromkeys((words, *(unicodedata.normalize(form, words) for form in ("NFC", "NFD"))))
    expression = "|".join(
        r"\s+".join(regex.escape(word, literal_spaces=True) for word in re.split(r"\s+", form)) for form in forms
    )
    return Term(compile_guarded(expression, _flags(options)), alone=options.word)


def _expression(expression: str, options: SearchOptions, offset: int) -> Term:
    if _CALL.search(expression):
        raise InputError("search", "a group that is called, as by (?R), may take all memory. Write it out.")
    try:
        pattern = compile_guarded(expression, _flags(options))
        if options.word:
            pattern = compile_guarded(rf"(?<!\w)(?:{expression})(?!\w)", _flags(options))
    except regex.error as error:
        place = offset + (getattr(error, "pos", None) or 0) + 1
        what = getattr(error, "msg", str(error))
        raise InputError(
            "search", f"the regular expression is not well formed at character {place}: {what}. Mend it there."
        ) from error
    except (RecursionError, OverflowError, ValueError) as error:
        raise InputError("search", f"the regular expression cannot be used: {error}.") from error
    return Term(pattern, seconds=_PATIENCE_SECONDS)


def _flags(options: SearchOptions) -> int:
    return int(regex.MULTILINE | (0 if options.case else regex.IGNORECASE))


class SearchHit(Struct, frozen=True):
    """One place that was found. `start` and `end` are code points of the note's text, or of its name with `in_name`."""

    where: SearchPlace
    start: int
    end: int
    in_name: bool = False


class FoundNote(Terse, frozen=True):
    """A note with its hits in the order of the text, those in its name first; none where only operators were given."""

    unprinted = ("text",)

    path: Path
    filename: str
    title: str
    hits: tuple[SearchHit, ...]
    text: str

    def excerpt(self, hit: SearchHit, known: tuple[int, int] = (0, 1)) -> Excerpt:
        """The line of the hit, worked out when it is shown. For a hit in the name: the name, and line 0.

        `known` is an earlier place of the text and its line number.
        """
        if hit.in_name:
            return Excerpt(0, base_name(self.filename), hit.start, hit.end)
        return excerpt(self.text, hit.start, hit.end, known)

    def excerpts(self) -> Iterator[tuple[SearchHit, Excerpt]]:
        """Every hit with its line; the text is gone through once."""
        known = (0, 1)
        for hit in self.hits:
            place = self.excerpt(hit, known)
            known = known if hit.in_name else (hit.start, place.line)
            yield hit, place


def search(vault: VaultNotes, query: SearchQuery, cancel: CancelToken | None = None) -> Iterator[FoundNote]:
    """The notes that the query finds, one by one in the order of the vault.

    Raises Cancelled, and InputError where a regular expression takes too long.
    """
    slow = 0.0
    for note in vault.index.notes.values():
        heed(cancel)
        if not all(condition.holds(note) for condition in query.conditions):
            continue
        try:
            begun = thread_time()
            occurs = _occurs(note, query)
            taken = thread_time() - begun
            hits = hits_in(note, query) if occurs else None
        except TimeoutError as error:
            raise InputError(
                note.filename, "the regular expression takes too long in this note. Repeat fewer things inside it."
            ) from error
        slow += taken if is_slow(taken, note.text) else 0
        if slow > _PATIENCE_SECONDS:
            raise InputError("search", "the regular expression takes too long. Repeat fewer things inside it.")
        if hits is not None:
            yield FoundNote(vault.path(note.filename), note.filename, note.names.title, tuple(hits), note.text)


def _occurs(note: IndexedNote, query: SearchQuery) -> bool:
    """Whether anything may be found in a note: most have no hit, and their parts are not looked at.

    Raises TimeoutError where an expression takes too long.
    """
    name = note.names.base_name
    return all(any(term.occurs(note.text) or term.occurs(name) for term in group) for group in query.wanted)


def hits_in(note: IndexedNote, query: SearchQuery) -> list[SearchHit] | None:
    """The hits in one note, None where it is not found. Raises TimeoutError where an expression takes too long."""
    if any(next(_hits(note, term, query), None) is not None for term in query.unwanted):
        return None
    hits: list[SearchHit] = []
    for group in query.wanted:
        found = [hit for term in group for hit in _hits(note, term, query)]
        if not found:
            return None
        hits += found
    if sum(map(len, query.wanted)) > 1:
        hits = sorted(set(hits), key=lambda hit: (not hit.in_name, hit.start, hit.end))
    return hits


def _hits(note: IndexedNote, term: Term, query: SearchQuery) -> Iterator[SearchHit]:
    name = note.names.base_name
    if SearchPlace.TITLE in query.options.where:
        for match in term.matches(name):
            yield SearchHit(SearchPlace.TITLE, match.start, match.end, in_name=True)
    for where, start, end in matched_spans(note.text, term, query):
        yield SearchHit(where, start, end)


def matched_spans(text: str, term: Term, query: SearchQuery) -> Iterator[tuple[SearchPlace, int, int]]:
    """Where the term occurs in the parts of a note that the query looks at, in the order of the text."""
    wanted = query.options.where
    yaml_start, yaml_end, body_start = split_places(text)
    if SearchPlace.PROPERTIES in wanted:
        for match in term.matches(text, yaml_start, yaml_end):
            yield SearchPlace.PROPERTIES, match.start, match.end
    if SearchPlace.TITLE in wanted or SearchPlace.BODY in wanted:
        heading = heading_text(text, body_start) or (0, 0)
        for match in term.matches(text, body_start):
            where = SearchPlace.TITLE if heading[0] <= match.start < heading[1] else SearchPlace.BODY
            if where in wanted:
                yield where, match.start, match.end


def plan_links(vaults: Sequence[VaultNotes], path: Path, mentions: Sequence[Mention]) -> Planned:
    """Link these mentions of a note to it, as one step. The remarks name the notes that stay as they are.

    Raises InputError where no mention is given or no link can name the note.
    """
    if not mentions:
        raise InputError("mentions", "no mention is chosen.")
    vault, filename = home_of(vaults, path)
    title = vault.index.notes[filename].names.title
    places_now = {(one.source, one.start, one.end) for one in vault.index.mentions(filename)}
    by_source = grouped((mention.source, mention) for mention in mentions)
    made: list[NoteFileChange] = []
    remarks: list[str] = []
    places = 0
    for source, found in by_source.items():
        there = all((source, one.start, one.end) in places_now for one in found)
        known = vault.index.notes.get(source) if there else None  # else they were looked at in another text
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
        self._parts = tuple(_parts(words, self.term.pattern)) if query.options.regex else ((words, None),)

    def replacements(self, note: FoundNote) -> tuple[Replacement, ...]:
        """For each hit in the note's text what takes its place; hits in the file's name have no replacement.

        Raises InputError where the expression takes too long.
        """
        by_span = {(hit.start, hit.end): hit for hit in note.hits if not hit.in_name}
        document = NoteDocument(note.text)
        try:
            spans = {span[1:] for span in matched_spans(note.text, self.term, self.query)}
            return tuple(
                Replacement(by_span[span], self._text(match.of).replace("\n", document.newline))
                for match in self._matches(document)
                if (span := (match.start, match.end)) in by_span and span in spans
            )
        except TimeoutError as error:
            raise InputError(note.filename, "the regular expression takes too long in this note.") from error

    def _matches(self, document: NoteDocument) -> Iterator[Occurrence]:
        yield from self.term.matches(document.text, 0, document.body_start)
        yield from self.term.matches(document.text, document.body_start)

    def _text(self, match: regex.Match[str]) -> str:
        return "".join(text + ("" if group is None else match[group] or "") for text, group in self._parts)


def _parts(words: str, pattern: regex.Pattern[str]) -> Iterator[tuple[str, int | str | None]]:
    """The pieces of a replacement: a text, and the group that stands behind it, if one does."""
    done = 0
    for found in _PART.finditer(words):
        text, done = words[done : found.start()], found.end()
        if found["escape"]:
            yield text + _ESCAPES.get(found["escape"], found[0]), None
        elif found["dollar"]:
            yield f"{text}$", None
        else:
            group: int | str = int(found["number"]) if found["number"] else found["name"]
            there = group <= pattern.groups if isinstance(group, int) else group in pattern.groupindex
            if not there:
                raise InputError(
                    "replace",
                    f"the expression has no group for {found[0]} at character {found.start() + 1}. "
                    "Write $$ for a dollar sign.",
                )
            yield text, group
    yield words[done:], None


def plan_replace(replacer: Replacer, chosen: Sequence[FoundNote]) -> Planned:
    """Replace the hits of these notes; leave out of `hits` what is to stay.

    A note whose file is no longer what was searched is left alone, and a remark says so. Raises InputError and
    VaultError where the entry of a lorebook cannot have the text.
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
    entries = sum(is_book_entry(change.path) for change in made)
    notes = plural(len(made), "# entry|# entries" if entries else "# note|# notes")
    what = f"Replace {plural(count, '# place|# places')} in {notes}"
    return Planned(ChangeSet(what, file_changes(made)), tuple(remarks), entries)


def _consequences(note: FoundNote, before: str, after: str, found: Sequence[Replacement]) -> Iterator[str]:
    if is_book_entry(note.path):
        return
    if any(one.hit.where is SearchPlace.TITLE for one in found):
        yield f"{note.filename}: its title changes, and references to it do not. Rename the note to change both."
    if any(one.hit.where is SearchPlace.PROPERTIES for one in found):
        problems = {problem.message for problem in NoteDocument(before).problems}
        for problem in NoteDocument(after).problems:
            if problem.message not in problems:
                yield f"{note.filename}, line {problem.line}: {problem.message}"


def plan_repairs(folders: Mapping[str, Path], repairs: Sequence[Repair]) -> Planned:
    """Mend these notes as one step. `folders` are those of the vaults by name, or the files of lorebooks.

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
    return Planned(ChangeSet(title, file_changes(made)), tuple(remarks))


def _as_looked_at(path: Path, known: str | None, stale: str, remarks: list[str]) -> str | None:
    """The note's text, None with a remark where it cannot be read or is no longer what was looked at."""
    try:
        text, _ = read_text(path)
    except VaultError as error:
        remarks.append(str(error))
        return None
    if known is None or text.removeprefix(BOM) != known.removeprefix(BOM):
        remarks.append(stale)
        return None
    return text
