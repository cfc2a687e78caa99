"""Choosing entries: keywords first, or vectors first (rules: hybrid-retrieval 3, 4, 8, 10).

A vault and a chat become a worldbook and the texts to look at (rules: hybrid-retrieval 1, 2). A note is an entry: its
title, keys, text and constant mark as they are, its priority number as the order, before or after the character by
where DeepLore puts it. Writing guides are no lore; blocked entries are switched off. resources/docs/hybrid-retrieval.md
says it, too.

`prepare` does everything before the query vector is asked for, `finish` everything after it; in between somebody may
ask an embedder. Nothing here waits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from itertools import islice
from typing import Final, TypeAlias

import numpy as np
from msgspec import Struct

from lorestudio.domain.automaton import WordGroups
from lorestudio.domain.chat import Message
from lorestudio.domain.entry import Position, VaultIndex
from lorestudio.domain.javascript import Json, code_units, head, number, to_number, truthy
from lorestudio.domain.patterns import PatternError, PatternTimeoutError, compile_pattern
from lorestudio.domain.records import replace
from lorestudio.domain.state import ChatControls, has_rule

POSITIONS: Final = ("before_char", "after_char", "before_input", "after_input")
"""Where an entry can stand; what stands anywhere else is not printed by the original."""

Numbers: TypeAlias = Sequence[float] | np.ndarray[tuple[int], np.dtype[np.float64]]
"""A vector."""

DEFAULT_LIMIT: Final = 5
DEFAULT_THRESHOLD: Final = 0.5


class FirstStep(StrEnum):
    """What comes first."""

    KEYWORDS = "keyword_first"
    SEMANTIC = "semantic_first"


class WorldEntry(Struct, frozen=True, eq=False):
    """An entry of the worldbook as it was read: what is absent is None, what is of another type is kept as it is.

    `embedding` is empty where the entry has no vector.
    """

    id: str
    keys: Json = None
    content: str = ""
    comment: str = ""
    enabled: Json = None
    constant: Json = None
    selective: Json = None
    use_regex: Json = None
    position: str = ""
    insertion_order: Json = None
    embedding: Numbers = ()


class Options(Struct, frozen=True):
    """How entries are chosen. `limit` and `threshold` are as `slice` and `>=` take them.

    `strict` does everything as the listing under study does it; else the rules R1 to R12 hold.
    """

    limit: float = DEFAULT_LIMIT
    threshold: float = DEFAULT_THRESHOLD
    use_semantic: bool = True
    mode: FirstStep = FirstStep.KEYWORDS
    keyword_boost: float = 0.1
    strict: bool = False


class Texts(Struct, frozen=True):
    """What is looked at: the newest exchanges, the person's last message, and which messages these are."""

    history: str
    user_input: str
    messages: tuple[int, ...]


def worldbook(index: VaultIndex, controls: ChatControls, held: str = "") -> tuple[WorldEntry, ...]:
    """The vault as a worldbook; an entry's id is the number of the note. The one that is `held` in is there anyway."""
    return tuple(
        WorldEntry(
            str(entry.id),
            entry.keys,
            entry.content,
            entry.title,
            enabled=str(entry.id) == held or not has_rule(controls.blocks, entry),
            constant=entry.constant,
            position="before_char" if entry.position == Position.BEFORE else "after_char",
            insertion_order=entry.priority,
        )
        for entry in index.entries
        if not entry.guide or str(entry.id) == held
    )


def texts_of(chat: Sequence[Message], exchanges: int) -> Texts:
    """The newest complete exchanges before the last message of the person, and that message
    (rules: hybrid-retrieval 2).
    """
    last = next((place for place in range(len(chat) - 1, -1, -1) if chat[place].is_user), len(chat))
    user_input = chat[last].text if last < len(chat) else ""
    begins = (place for place in range(last - 1, -1, -1) if chat[place].is_user)
    shown = range(next(islice(begins, exchanges - 1, None), 0) if exchanges else last, last)
    lines = [f"{'User' if chat[place].is_user else 'AI'}: {chat[place].text}" for place in shown]
    looked_at = (*shown, last) if last < len(chat) else tuple(shown)
    return Texts("\n".join(lines), user_input, looked_at)


def with_vector(entry: WorldEntry, vector: np.ndarray[tuple[int], np.dtype[np.float64]] | None) -> WorldEntry:
    """The entry with its vector, without one where there is none."""
    return entry if vector is None else replace(entry, embedding=vector)


QUERY_TAIL: Final = 500
"""So many characters from the end of the history are part of the query."""

TITLE_LENGTH: Final = 50
"""Entries without a title are the same where so many characters of their content are."""

NO_POSITION: Final = "after_char"
"""Where entries without a known position go (R10)."""


class Way(StrEnum):
    """How far retrieval came."""

    EMPTY = "empty"
    KEYWORD = "keyword"
    FAILED_QUERY = "keyword_after_failed_query"
    UNUSABLE_VECTORS = "keyword_after_unusable_vectors"
    HYBRID = "hybrid"
    SEMANTIC_FIRST = "semantic_first"


class PreparedRanking(Struct, frozen=True):
    """What is decided before any vector is asked for.

    `candidates` may be ranked: entries with a key hit, or all eligible ones where vectors come first.
    `hits` are the keys found, by entry. `remarks` say which patterns could not be used, by entry. `held` is a candidate
    without a key, and goes in whatever its rank and its title.
    """

    book: tuple[WorldEntry, ...]
    options: Options
    constants: tuple[WorldEntry, ...] = ()
    candidates: tuple[WorldEntry, ...] = ()
    hits: Mapping[str, str] = {}
    query_text: str = ""
    asks: bool = False
    """Whether a query vector is wanted."""
    remarks: Mapping[str, str] = {}
    held: str = ""

    @property
    def keyed(self) -> frozenset[str]:
        """Entries that need no vector: those with a key, and where keys come first the one that is held in."""
        return frozenset(self.hits) | ({self.held} if self.options.mode is FirstStep.KEYWORDS else set())


class Retrieved(Struct, frozen=True):
    """The entries that go in, in their final order, and everything that led there.

    `scores` are those of the ranked candidates; `ranked` the ones within the limit, best first; `duplicates` what was
    dropped because of another entry's title: entry -> entry. In strict mode an unknown position is in no group.
    """

    way: Way
    entries: tuple[WorldEntry, ...] = ()
    scores: Mapping[str, float] = {}
    ranked: tuple[WorldEntry, ...] = ()
    duplicates: Mapping[str, str] = {}
    positions: Mapping[str, tuple[WorldEntry, ...]] = {}


class LookedThrough(Struct, frozen=True):
    """A worldbook with the keys that were found in a text. `possible` are the entries that keys are looked for of."""

    constants: tuple[WorldEntry, ...]
    possible: tuple[WorldEntry, ...]
    hits: Mapping[str, str]
    remarks: Mapping[str, str]


class KeyedBook(Struct, frozen=True):
    """A worldbook made ready for texts to come; `possible` are the entries that keys are looked for of."""

    constants: tuple[WorldEntry, ...]
    possible: tuple[WorldEntry, ...]
    keys: WordGroups


def keyed_book(book: Sequence[WorldEntry], options: Options) -> KeyedBook:
    """The worldbook ready to be looked through. Of the options it reads `mode` and `strict` alone."""
    possible = tuple(entry for entry in book if _is_possible(entry, options))
    constants = tuple(entry for entry in book if truthy(entry.constant) and entry.enabled is not False)
    return KeyedBook(constants, possible, WordGroups(map(_words, possible)))


def look_through(book: KeyedBook, context: str, options: Options) -> LookedThrough:
    """The keys found in a context text. Of the options it reads `strict` alone. Raises TypeError (R6)."""
    remarks: dict[str, str] = {}
    near = [book.possible[place] for place in book.keys.near(context)]
    hits = {entry.id: hit for entry in near if (hit := _hit(entry, context, options, remarks)) is not None}
    return LookedThrough(book.constants, book.possible, hits, remarks)


def context_text(history: str, user_input: str) -> str:
    """The text that keys are looked for in."""
    return f"{history}\nUser: {user_input}".lower()


def prepare(
    book: Sequence[WorldEntry],
    history: str,
    user_input: str,
    options: Options,
    *,
    has_model: bool,
    held: str = "",
    looked: LookedThrough | None = None,
    embedded_as: Callable[[WorldEntry], WorldEntry] = lambda entry: entry,
) -> PreparedRanking:
    """Steps 1 to 3. `has_model` says that somebody can make a query vector; `held` names an entry that is to be ranked
    and to go in in any case. `looked` is what looking through the book came to, where that is known; `embedded_as`
    gives a candidate its vector. Raises TypeError in strict mode (R6).
    """
    if not book:
        return PreparedRanking((), options)
    looked = looked or look_through(keyed_book(book, options), context_text(history, user_input), options)
    hits, semantic = looked.hits, options.mode is FirstStep.SEMANTIC
    candidates = tuple(
        embedded_as(entry) for entry in looked.possible if semantic or entry.id in hits or entry.id == held
    )
    embedded = any(len(entry.embedding) for entry in candidates)
    query, asks = (
        query_text(history, user_input, strict=options.strict),
        options.use_semantic and has_model and embedded,
    )
    return PreparedRanking(tuple(book), options, looked.constants, candidates, hits, query, asks, looked.remarks, held)


def finish(prepared: PreparedRanking, query: Numbers | None) -> Retrieved:
    """Steps 4 to 7. `query` is the query's vector, None or empty where none was wanted or none came."""
    if not prepared.book:
        return _placed(Way.EMPTY, (), prepared.options)
    if not prepared.asks:
        return _by_keywords(prepared, Way.KEYWORD)
    if query is None or not len(query):
        return _by_keywords(prepared, Way.FAILED_QUERY)
    options = prepared.options
    if not options.strict and not (np.any(query) and any(_usable(each, query) for each in prepared.candidates)):
        return _by_keywords(prepared, Way.UNUSABLE_VECTORS)
    embedded = [
        each for each in prepared.candidates if (len(each.embedding) if options.strict else _usable(each, query))
    ]
    scores = {each.id: cosine(query, each.embedding) for each in embedded}
    if options.mode is FirstStep.SEMANTIC:
        scores = {
            key: score + (options.keyword_boost if key in prepared.hits else 0.0) for key, score in scores.items()
        }
    enough = [each for each in embedded if scores[each.id] >= options.threshold]
    enough.sort(key=lambda each: -scores[each.id])
    ranked = tuple(enough[: math.trunc(options.limit)] if math.isfinite(options.limit) else enough)
    with_vector = {each.id for each in embedded}
    unembedded = tuple(each for each in prepared.candidates if each.id not in with_vector and each.id in prepared.keyed)
    held = tuple(
        each for each in prepared.candidates if each.id == prepared.held and each not in (*ranked, *unembedded)
    )
    merged, duplicates = _without_duplicates((*prepared.constants, *ranked, *unembedded, *held), prepared)
    way = Way.HYBRID if options.mode is FirstStep.KEYWORDS else Way.SEMANTIC_FIRST
    return _placed(way, merged, options, scores, ranked, duplicates)


def query_text(history: str, user_input: str, *, strict: bool = False) -> str:
    """The end of the history and the whole input; strict counts UTF-16 units and may cut a character (R8)."""
    if not strict:
        return f"{history[-QUERY_TAIL:]}\n{user_input}"
    units = code_units(history)[-2 * QUERY_TAIL :]
    return f"{units.decode('utf-16-le', 'surrogatepass')}\n{user_input}"


def cosine(one: Numbers, other: Numbers) -> float:
    """The cosine of two vectors; 0 where one is empty or zero, or where their lengths differ. It never raises."""
    if not len(one) or len(one) != len(other):
        return 0.0
    a, b = np.asarray(one, np.float64), np.asarray(other, np.float64)
    norm = math.sqrt(float(a @ a)) * math.sqrt(float(b @ b))
    return float(a @ b) / norm if norm else 0.0


def embedded_text(entry: WorldEntry) -> str:
    """What an entry's vector is made of: title, content and keys (rules: hybrid-retrieval 9.1)."""
    keys = entry.keys if isinstance(entry.keys, list | tuple) else ()
    return f"{entry.comment} {entry.content} {' '.join(str(key) for key in keys)}".strip()


def _is_possible(entry: WorldEntry, options: Options) -> bool:
    if truthy(entry.constant) or entry.selective is False:
        return False
    if options.strict and options.mode is FirstStep.KEYWORDS:
        return truthy(entry.enabled)
    return entry.enabled is not False and (entry.enabled is None or truthy(entry.enabled))


def _words(entry: WorldEntry) -> list[str] | None:
    """The keys as they are looked for, None where there are patterns or keys of another type among them."""
    keys = entry.keys if isinstance(entry.keys, list | tuple) else ()
    words = [key.lower() for key in keys if isinstance(key, str)]
    return words if len(words) == len(keys) and not truthy(entry.use_regex) else None


def _hit(entry: WorldEntry, context: str, options: Options, remarks: dict[str, str]) -> str | None:
    """The first key that is in the context text. Raises TypeError (R6)."""
    if not isinstance(entry.keys, list | tuple):
        return None
    for key in entry.keys:
        if not isinstance(key, str):
            if options.strict:
                raise TypeError(f"a key of “{entry.comment}” is no text")
            continue
        if not options.strict and not key.strip():
            continue
        if _matches(entry, key, context, remarks) if truthy(entry.use_regex) else key.lower() in context:
            return key
    return None


def _matches(entry: WorldEntry, key: str, context: str, remarks: dict[str, str]) -> bool:
    try:
        return compile_pattern(key, "i").search(context) is not None
    except (PatternError, PatternTimeoutError) as error:
        remarks[entry.id] = str(error)
        return False


def _usable(entry: WorldEntry, query: Numbers) -> bool:
    return len(entry.embedding) == len(query) and bool(np.any(entry.embedding))


def _by_keywords(prepared: PreparedRanking, way: Way) -> Retrieved:
    found = [each for each in prepared.candidates if each.id in prepared.keyed or each.id == prepared.held]
    return _placed(way, (*prepared.constants, *found), prepared.options)


def _without_duplicates(
    entries: Iterable[WorldEntry], prepared: PreparedRanking
) -> tuple[tuple[WorldEntry, ...], Mapping[str, str]]:
    strict = prepared.options.strict
    seen: dict[str, str] = {}
    kept: list[WorldEntry] = []
    dropped: dict[str, str] = {}
    for entry in entries:
        content = head(entry.content, TITLE_LENGTH) if strict else entry.content[:TITLE_LENGTH]
        key = entry.comment or content
        if key in seen and (key or strict):
            dropped[entry.id] = seen[key]
        seen.setdefault(key, entry.id)
        if entry.id not in dropped or entry.id == prepared.held:
            kept.append(entry)
    return tuple(kept), dropped


def _placed(
    way: Way,
    entries: Sequence[WorldEntry],
    options: Options,
    scores: Mapping[str, float] | None = None,
    ranked: tuple[WorldEntry, ...] = (),
    duplicates: Mapping[str, str] | None = None,
) -> Retrieved:
    order: Callable[[Json], float] = _listing_order if options.strict else _order
    final = tuple(sorted(entries, key=lambda each: order(each.insertion_order)))
    groups: dict[str, list[WorldEntry]] = {position: [] for position in POSITIONS}
    for entry in final:
        if entry.position in groups or not options.strict:
            groups[entry.position if entry.position in groups else NO_POSITION].append(entry)
    grouped = {position: tuple(group) for position, group in groups.items()}
    return Retrieved(way, final, scores or {}, ranked, duplicates or {}, grouped)


def _order(value: Json) -> float:
    """A number as it is, everything else 0 (R12)."""
    known = isinstance(value, int | float) and not isinstance(value, bool) and not math.isnan(value)
    return float(value) if known and isinstance(value, int | float) else 0.0


def _listing_order(value: Json) -> float:
    """As the listing's subtraction reads it: numeric text is its number (rules: hybrid-retrieval 3 step 7)."""
    found = to_number(value) if truthy(value) else 0
    return 0.0 if math.isnan(found) else float(number(found))
