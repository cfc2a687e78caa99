"""What is searched for: words, phrases and operators as in Obsidian, or a regular expression.

    ferry "long flood"          notes that have both, each anywhere
    storm OR flood              notes that have one of the two
    -draft                      notes without the word
    path:characters/ file:hob   only where path or file name has this
    tag:npc key:bell            only where a tag is this one or below it, or a key has this

Operators take quotes (`path:"old town"`) and a minus sign. With regular expressions on, operators stand at the front,
and everything behind them is one expression.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import regex

from lorestudio.exchange.problems import InputError
from lorestudio.vault.link_index import IndexedNote
from lorestudio.vault.words import stands_alone


class Where(StrEnum):
    """The parts of a note that are searched. TITLE: the heading or the file's name, whichever carries the title."""

    TITLE = "title"
    PROPERTIES = "properties"
    BODY = "body"


ANYWHERE: Final = frozenset(Where)
_PATIENCE_SECONDS: Final = 2.0
"""No sensible expression takes so long in one note."""


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """How words are compared and where they are looked for."""

    case: bool = False
    word: bool = False
    regex: bool = False
    where: frozenset[Where] = ANYWHERE


@dataclass(frozen=True, slots=True)
class Condition:
    """An operator: `name` is path, file, tag or key; `wanted` False after a minus sign."""

    name: str
    value: str
    wanted: bool

    def holds(self, note: IndexedNote) -> bool:
        """Whether the note is searched at all. Letter case does not matter here."""
        return self._is_so(note) is self.wanted

    def _is_so(self, note: IndexedNote) -> bool:
        value = self.value.lower()
        if self.name == "path":
            return value in note.filename.lower()
        if self.name == "file":
            return value in note.filename.rpartition("/")[2].lower()
        if self.name == "key":
            return any(value in key.lower() for key in note.keys)
        tag = value.removeprefix("#")
        return any(own == tag or own.startswith(f"{tag}/") for own in note.tags)


@dataclass(frozen=True, slots=True)
class Term:
    """One thing to look for. `alone`: only where it is no part of a longer word, in any script.

    `seconds` is how long an expression may take in one note, None without limit.
    """

    pattern: regex.Pattern[str]
    alone: bool = False
    seconds: float | None = None

    def matches(self, text: str, start: int = 0, end: int | None = None) -> Iterator[regex.Match[str]]:
        """Where it occurs from `start` to `end`; empty matches are passed over.

        Raises TimeoutError where the expression takes too long.
        """
        limit = len(text) if end is None else end
        for found in self.pattern.finditer(text, start, limit, timeout=self.seconds):
            if found.end() > found.start() and not (self.alone and not stands_alone(text, *found.span())):
                yield found

    def occurs(self, text: str, start: int = 0, end: int | None = None) -> bool:
        """Whether it occurs at all. Raises TimeoutError as `matches` does."""
        return next(self.matches(text, start, end), None) is not None


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A query that was understood.

    A note is found where all `conditions` hold, none of `unwanted` occurs in it, and of each group of `wanted` at least
    one occurs. Without `wanted` it is found by the conditions alone.
    """

    text: str
    options: SearchOptions
    conditions: tuple[Condition, ...]
    wanted: tuple[tuple[Term, ...], ...]
    unwanted: tuple[Term, ...] = ()

    @property
    def only(self) -> Term | None:
        """The one term that is looked for, None where there are several or none: replacing needs one."""
        terms = [term for group in self.wanted for term in group]
        return terms[0] if len(terms) == 1 else None


_OPERATOR = re.compile(r"(-?)(path|file|tag|key):(?:\"([^\"]*)\"?|(\S*))", re.IGNORECASE)
_TERM = re.compile(r"(-?)(?:\"([^\"]*)\"?|(\S+))")
_SPACES = re.compile(r"\s*")


def parse_query(text: str, options: SearchOptions | None = None) -> SearchQuery:
    """Understand what was typed. Raises InputError: nothing to look for, or a bad expression with the place."""
    options = options or SearchOptions()
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
    return SearchQuery(text, options, tuple(conditions), wanted)


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
    return SearchQuery(text, options, tuple(conditions), tuple(wanted), tuple(unwanted))


def _after_spaces(text: str, place: int) -> int:
    found = _SPACES.match(text, place)
    return place if found is None else found.end()


def _condition(operator: re.Match[str]) -> Sequence[Condition]:
    """Nothing for an operator that nothing stands behind yet."""
    value = operator[4] if operator[3] is None else operator[3]
    return [Condition(operator[2].lower(), value, wanted=not operator[1])] if value else []


def _literal(words: str, options: SearchOptions) -> Term:
    """Words as they are; white space in them stands for any white space."""
    expression = r"\s+".join(regex.escape(word, literal_spaces=True) for word in re.split(r"\s+", words))
    return Term(regex.compile(expression, _flags(options)), alone=options.word)


def _expression(expression: str, options: SearchOptions, offset: int) -> Term:
    try:
        pattern = regex.compile(expression, _flags(options))
        if options.word:
            pattern = regex.compile(rf"(?<!\w)(?:{expression})(?!\w)", _flags(options))
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
