"""One generation decided: the entries in play, what was compared and scanned, and where the active ones stand.

A vault becomes a lorebook (resources/docs/world-info.md tells it to people): keys are keys, refine keys secondary ones
of which any has to be found; the order is 1000 less the priority number, so that what DeepLore takes first is offered
to the budget first here, too. A cooldown of generations is one of twice as many messages. Properties whose names begin
with `wi_` say it as a lorebook would: `wi_order`, `wi_sticky`, `wi_group`. Lorebook entries become those of an index,
so that traces can name them.

Where they stand in the prompt: rules: sillytavern 5.6 "Output", 5.7. A higher order stands later, but in an outlet
first. What has no text, or no place, stands nowhere.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Final, NamedTuple

from msgspec import Struct, field

from lorestudio.domain.chat import NOTE_TAG, AuthorsNote, Message
from lorestudio.domain.entry import EMPTY, OFF, Entry, Position, Role, VaultIndex
from lorestudio.domain.javascript import round_half_up, trim
from lorestudio.domain.lifecycle import heeding
from lorestudio.domain.records import Terse, replace
from lorestudio.domain.state import has_rule
from lorestudio.domain.texts import text_digest
from lorestudio.domain.tokens import CHARS_4, TokenCounter
from lorestudio.exchange.lorebooks.entry import DEFAULT_DEPTH, BookEntry, BookPlace, native_entry, of_1_12
from lorestudio.exchange.lorebooks.notes import BOOK, UID, native_of
from lorestudio.exchange.lorebooks.reading import (
    NAMED,
    BookRole,
    BooksInPlay,
    InsertionStrategy,
    Lorebook,
    in_order,
    in_play,
)
from lorestudio.llm.embedding import Vector
from lorestudio.llm.errors import LlmError
from lorestudio.settings.worldinfo import WorldInfoSettings
from lorestudio.systems.base import Moment
from lorestudio.systems.hybrid.retrieval import cosine
from lorestudio.systems.known import Known
from lorestudio.systems.macros import Macros
from lorestudio.systems.runner import Mulberry32
from lorestudio.systems.vectors import TextVectors
from lorestudio.systems.worldinfo.haystack import TextSource, Watch
from lorestudio.systems.worldinfo.scan import Scanned, Scanner, TimedState, after, at
from lorestudio.trace.wording import quoted

CARD_TEXTS: Final = {
    **{name: name for name in ("description", "personality", "scenario")},
    "mes_example": "mesexamples",
    "system_prompt": "charprompt",
    "post_history_instructions": "charinstruction",
    "creator_notes": "creatornotes",
    "depth_prompt": "chardepthprompt",
}
"""The macros that stand for the texts of a card, by their fields."""


def index_of(entries: Sequence[BookEntry], counter: TokenCounter = CHARS_4) -> VaultIndex:
    """An index with an entry for each; its number is the place, its vault the lorebook, its file the uid there."""
    made = []
    for place, entry in enumerate(heeding(entries)):
        name = f"{NAMED}{entry.name.removeprefix(f'{entry.world}.')}"
        made.append(
            Entry(
                place,
                name,
                entry.world or "lorebook",
                title_of(entry),
                entry.content,
                entry.keys,
                entry.secondary,
                priority=0 if math.isnan(entry.order) else entry.order,
                constant=entry.constant,
                tokens=counter.count(entry.content),
                content_hash=entry.digest,
                system_fields={OFF: True} if entry.disabled else EMPTY,
            )
        )
    return VaultIndex(tuple(made), vaults=tuple(dict.fromkeys(entry.vault for entry in made)))


def title_of(entry: BookEntry) -> str:
    """What people know the entry by: its comment, else its keys, else its uid."""
    return entry.comment or ", ".join(entry.keys) or f"entry {entry.uid.removeprefix(f'{entry.world}.')}"


def as_book_entry(entry: Entry, *, disabled: bool = False) -> BookEntry:
    """A note as an entry of a lorebook; its uid is the note's number."""
    native = native_of(entry)
    return native_entry({"uid": entry.id, **native, "disable": disabled or native["disable"]}, str(entry.id))


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


class LoreBlock(Struct, frozen=True):
    """Texts that the host is handed as one; `slot` says where it stands where the position does not."""

    tag: str
    position: int
    depth: int
    role: int
    pieces: tuple[LorePiece, ...]
    slot: str = ""


def placed(
    active: Sequence[BookEntry], contents: Mapping[str, str], note: AuthorsNote, note_text: str, *, note_due: bool
) -> tuple[tuple[LoreBlock, ...], tuple[tuple[BookEntry, str], ...]]:
    """The blocks of a generation, and the entries that stand nowhere with the reason code.

    `contents` are the entries' texts and `note_text` the note's, macros filled in.
    """
    nowhere: list[tuple[BookEntry, str]] = []
    slots: dict[tuple[BookPlace, int, int, str], list[BookEntry]] = {}
    # The highest order last (in outlets: first); of the same order what became active first stands last.
    for entry in [*_settled(sorted(active, key=lambda entry: -entry.order), contents)][::-1]:
        reason = _why_nowhere(entry, contents[entry.uid], note_due=note_due)
        if reason:
            nowhere.append((entry, reason))
            continue
        depth, role = (entry.depth or 0, entry.role) if entry.place is BookPlace.AT_DEPTH else (0, int(Role.SYSTEM))
        outlet = entry.outlet if entry.place is BookPlace.OUTLET else ""
        members = slots.setdefault((entry.place, depth, role, outlet), [])
        members.insert(0 if outlet else len(members), entry)
    blocks = [
        LoreBlock(_tag(*slot), int(_POSITIONS.get(slot[0], Position.AFTER)), slot[1], slot[2],
              tuple(_joined(members, contents)),
              SLOTS.get(slot[0], f"in the outlet {quoted(slot[3])}" if slot[3] else ""))
        for slot, members in sorted(slots.items())
        if slot[0] not in {BookPlace.NOTE_TOP, BookPlace.NOTE_BOTTOM}
    ]  # fmt: skip
    above, below = BookPlace.NOTE_TOP, BookPlace.NOTE_BOTTOM
    top, bottom = (slots.get((place, 0, int(Role.SYSTEM), ""), []) for place in (above, below))
    if top or bottom:
        feed = LorePiece("\n")
        pieces = [*_joined(top, contents), feed, LorePiece(note_text, note=True), feed, *_joined(bottom, contents)]
        pieces[0] = pieces[0]._replace(text=pieces[0].text.removeprefix("\n"))
        pieces[-1] = pieces[-1]._replace(text=pieces[-1].text.removesuffix("\n"))
        blocks.append(LoreBlock(NOTE_TAG, note.position, note.depth, note.role, tuple(pieces)))
    return tuple(blocks), tuple(nowhere)


def _settled(entries: Iterable[BookEntry], contents: Mapping[str, str]) -> Iterator[BookEntry]:
    """The entries, the highest order first; one without a depth joins those above it of its role at the usual depth."""
    roles: set[int] = set()
    for entry in entries:
        joins = entry.depth is None and entry.role in roles
        yield replace(entry, place=BookPlace.AT_DEPTH, depth=DEFAULT_DEPTH) if joins else entry
        if entry.place is BookPlace.AT_DEPTH and entry.depth == DEFAULT_DEPTH and contents[entry.uid]:
            roles.add(entry.role)


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


_POSITIONS: Final = {
    BookPlace.AT_DEPTH: Position.IN_CHAT, BookPlace.OUTLET: Position.OUTLET, BookPlace.BEFORE: Position.BEFORE,
}  # fmt: skip
"""Those that are not behind the character."""


def _tag(place: BookPlace, depth: int, role: int, outlet: str) -> str:
    if place is BookPlace.OUTLET:
        return f"{_OUTLET_TAG}{outlet}"
    return f"customDepthWI-{depth}-{role}" if place is BookPlace.AT_DEPTH else f"worldInfo_{place.name.lower()}"


_NEW_LINES: Final = re.compile(r"\n+")


class Similar(Struct, frozen=True):
    """The scores of all entries that were compared, by uid, and those of the ones that come in.

    `problem` says why nothing was compared although it should have been.
    """

    query: str = ""
    scores: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    taken: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    problem: str = ""


async def similar_entries(
    entries: Sequence[BookEntry], newest: Sequence[str], settings: WorldInfoSettings, vectors: TextVectors | None
) -> Similar:
    """The entries like the newest messages, which come newest first with their macros filled in.

    Disabled entries and those without a text are not compared, and without “for all entries” only marked ones are.
    Entries of the same text share a vector, and either all of them come in or none.
    """
    if not settings.vectors:
        return Similar()
    compared = [
        entry
        for entry in entries
        if not entry.disabled and entry.content and (entry.vectorized or settings.vectors_for_all)
    ]
    query = query_of(newest, settings.vector_messages)
    if not compared or not query:
        return Similar(query)
    if vectors is None:
        return Similar(query, problem="nobody makes vectors")
    try:
        known = await vectors.of([query, *dict.fromkeys(entry.content for entry in compared)])
    except LlmError as error:
        return Similar(query, problem=str(error).rstrip("."))
    if query not in known:
        return Similar(query, problem="the end of the chat has no vector")
    return chosen([entry for entry in compared if entry.content in known], query, known, settings)


def query_of(newest: Sequence[str], amount: int) -> str:
    """What entries are compared with: the newest messages that have a text, the newest first, a line break between."""
    texts = [text for text in newest if text][:amount]
    return trim(_NEW_LINES.sub("\n", "\n".join(texts)))


def chosen(
    compared: Sequence[BookEntry], query: str, known: Mapping[str, Vector], settings: WorldInfoSettings
) -> Similar:
    """Of all texts the most similar ones, as many as may come in at most, as far as they reach the threshold.

    A threshold of 0 keeps none out: the offline stand-in may find two texts less than unlike.
    """
    asked = known[query]
    by_text = {entry.content: cosine(asked, known[entry.content]) for entry in compared}
    reached = [text for text in by_text if max(0.0, by_text[text]) >= settings.vector_threshold]
    best = sorted(reached, key=lambda text: -by_text[text])
    first = set(best[: settings.vector_entries])
    scores = {entry.uid: by_text[entry.content] for entry in compared}
    return Similar(query, scores, {entry.uid: scores[entry.uid] for entry in compared if entry.content in first})


class Surroundings(Terse, frozen=True):
    """Nothing of it is needed: without it there is no note and no card.

    `messages` are all of the chat's file, hidden ones too: the note's interval counts the person's, and macros name the
    last one. `characters` are the names by which a character filter may know the character, besides the speaker's name
    unless `only_these` count; `tags` are its tags, None where nobody knows them. `macros` stand for themselves without
    braces, in lower case; those that are `filled` are texts of card and persona, which macros are filled in, and which
    are searched. `variables` are the chat's. `reply_tokens` is how much of the context is kept for the reply. `cast` is
    what holds where a member of a group speaks, by name; that one may be `muted`.
    """

    unprinted = ("messages", "macros", "filled", "variables", "cast")

    note: AuthorsNote = field(default_factory=AuthorsNote)
    messages: tuple[Message, ...] = ()
    characters: frozenset[str] = frozenset()
    only_these: bool = False
    tags: frozenset[str] | None = None
    macros: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    filled: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    variables: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    reply_tokens: int = 0
    cast: Mapping[str, Surroundings] = field(default_factory=lambda: MappingProxyType({}))
    muted: bool = False

    def spoken_by(self, name: str) -> Surroundings:
        """What holds where that one speaks."""
        own = self.cast.get(name)
        return self if own is None else replace(own, messages=self.messages)

    def note_due(self, message: int) -> bool:
        """Whether the note is inserted in the turn that writes that message."""
        return self.note.due(self.messages[:message])

    @property
    def told(self) -> tuple[object, ...]:
        """All of it that the messages before a turn do not tell, in an order of its own: for a digest."""
        texts = [sorted(each.items()) for each in (self.macros, self.filled, self.variables)]
        tags = None if self.tags is None else sorted(self.tags)
        cast = [(name, own.told) for name, own in sorted(self.cast.items())]
        return (self.note, sorted(self.characters), self.only_these, tags, *texts, self.reply_tokens, *cast)


class WorldInfoState(Struct, frozen=True):
    """What goes on from one generation to the next. `variables` are None before the first one."""

    timed: TimedState = field(default_factory=TimedState)
    random_state: int = 0
    variables: Mapping[str, str] | None = None


class World(Struct, frozen=True):
    """The entries in the order they are offered to the budget, and how traces call them.

    `entries` are by uid, those of `silent` books among them: of members of a group who do not speak. `books` is None
    where the entries are the vault's notes. `digest` tells one set of entries from another. Where a content that is no
    text `stops` SillyTavern's scan, none of them is offered.
    """

    book: tuple[BookEntry, ...]
    watch: Watch
    index: VaultIndex
    entries: dict[str, Entry]
    books: BooksInPlay | None = None
    digest: str = ""
    silent: tuple[Lorebook, ...] = ()
    stops: tuple[str, ...] = ()


def world_of(moment: Moment, settings: WorldInfoSettings, books: tuple[Lorebook, ...] | None, known: Known) -> World:
    """The entries of a moment, of these books or of the vault where there are none."""
    if books is None:
        return known.of(moment.index, ("world", moment.controls.blocks), lambda: _of_vault(moment))
    counter = moment.counter  # kept beside what it counted, so that no other one has its number
    by = ("world", id(counter), settings.character_strategy, settings.version)
    world = known.of(books, by, lambda: (counter, _of_books(moment, settings, books)))[1]
    playing = world.books.used if world.books is not None else ()
    silent = tuple(book for book in playing if book.owners and moment.character not in book.owners)
    stops = tuple(book.name for book in playing if book.spoils and book not in silent)
    if not silent and not stops:
        return world
    less = (*by, "without", *(book.name for book in silent))
    return known.of(books, less, lambda: _without(world, silent, stops))


class Decision(Struct, frozen=True):
    """Everything that one generation decided; `nowhere` are the active entries that stand in no block, and why.

    `unfilled` are the macros that stayed in keys and texts.
    """

    world: World
    similar: Similar
    scanned: Scanned
    blocks: tuple[LoreBlock, ...]
    nowhere: tuple[tuple[BookEntry, str], ...]
    after: WorldInfoState
    unfilled: tuple[str, ...] = ()


async def decided(
    moment: Moment,
    settings: WorldInfoSettings,
    books: tuple[Lorebook, ...] | None,
    around: Surroundings,
    vectors: TextVectors | None,
    state: WorldInfoState,
    known: Known | None = None,
) -> Decision:
    """Decide one generation. Timed effects count the messages that the generation sees."""
    around = around.spoken_by(moment.character)
    world = world_of(moment, settings, books, known or Known())
    macros = _macros(moment, around, around.variables if state.variables is None else state.variables)
    due = around.note_due(moment.turn.message)
    newest = [macros.fill(message.text) for message in reversed(moment.chat)] if settings.vectors else ()
    similar = await similar_entries(world.book, newest, settings, vectors)
    timed = at(len(moment.chat), world.watch.lasting, state.timed)
    random = Mulberry32(state.random_state)
    forced = [entry.uid for entry in world.book if entry.name in moment.forced] if moment.forced else ()
    scanned = Scanner(
        world.book,
        _source(moment, settings, around, macros, note_due=due),
        settings,
        timed,
        moment.counter,
        random.next,
        budget_of(settings, moment.context_size, around.reply_tokens),
        macros.fill,
        {**dict.fromkeys(forced, 1.0), **similar.taken},
        world.watch,
    ).run()
    note = macros.fill(around.note.text)
    blocks, nowhere = placed(scanned.active, scanned.contents, around.note, note, note_due=due)
    later = WorldInfoState(after(len(moment.chat), scanned.active, timed.state), random.state, macros.variables)
    return Decision(world, similar, scanned, blocks, nowhere, later, tuple(macros.unknown))


def _of_vault(moment: Moment) -> World:
    blocks = moment.controls.blocks
    notes = [
        as_book_entry(entry, disabled=has_rule(blocks, entry))
        for entry in heeding(sorted(moment.index.entries, key=_place_in_book))
        if not entry.guide
    ]
    book = tuple(sorted(notes, key=lambda entry: -entry.order))
    return World(book, Watch(book), moment.index, {str(entry.id): entry for entry in moment.index.entries})


def _place_in_book(entry: Entry) -> tuple[bool, str, float]:
    """Notes of lorebooks stand as they stood there, as that settles entries of one order; the other notes follow."""
    uid, book = entry.system_fields.get(UID), entry.system_fields.get(BOOK)
    place = uid if isinstance(uid, int | float) else math.inf
    return uid is None, book if isinstance(book, str) else "", place


def _of_books(moment: Moment, settings: WorldInfoSettings, books: tuple[Lorebook, ...]) -> World:
    known = books if settings.newer else tuple(book for book in books if book.role is not BookRole.PERSONA)
    playing = in_play(known)
    listed = in_order(playing.used, InsertionStrategy(settings.character_strategy))
    every = listed if settings.newer else tuple(map(of_1_12, listed))
    index = index_of(every, moment.counter)
    told = "\n".join(f"{entry.uid} {entry.digest}" for entry in every)
    digest = text_digest(told)
    entries = dict(zip((each.uid for each in every), index.entries, strict=True))
    return World(every, Watch(every), index, entries, playing, digest)


def _without(world: World, silent: tuple[Lorebook, ...], stops: tuple[str, ...]) -> World:
    names = {book.name for book in silent}
    book = () if stops else tuple(entry for entry in world.book if entry.world not in names)
    return replace(world, book=book, watch=Watch(book), silent=silent, stops=stops)


def _macros(moment: Moment, around: Surroundings, variables: Mapping[str, str]) -> Macros:
    """The macros that can stand in keys and texts."""
    user, character = moment.user, moment.character
    values = {"user": user, "char": character, "noop": ""}
    values |= {"group": character, "charifnotgroup": character, "groupnotmuted": character, "notchar": user}
    last = around.messages[: moment.turn.message] or moment.chat
    values |= {"lastmessage": last[-1].text if last else "", "lastmessageid": str(len(last) - 1) if last else ""}
    for name, is_user in (("lastusermessage", True), ("lastcharmessage", False)):
        values[name] = next((each.text for each in reversed(moment.chat) if each.is_user is is_user), "")
    values |= around.macros
    inside = Macros({**values, **dict.fromkeys(around.filled, "")}, dict(variables))  # no text of the card in another
    filled = {name: inside.fill(trim(text)).replace("\r", "") for name, text in around.filled.items()}
    return Macros(values | filled, inside.variables)


def _source(
    moment: Moment, settings: WorldInfoSettings, around: Surroundings, macros: Macros, *, note_due: bool
) -> TextSource:
    speaker = () if around.only_these else (moment.character,)
    characters = {settings.avatar} if settings.avatar else {*speaker, *around.characters}
    prompts: list[tuple[str, str]] = []
    if settings.scan_note:
        depth_prompt = macros.values.get("chardepthprompt", "")
        note = macros.fill(around.note.text) if note_due else ""
        prompts = [("the author's note", note), ("the character's depth prompt", depth_prompt)]
    if moment.quiet_prompt:
        prompts.append(("the quiet prompt", macros.fill(moment.quiet_prompt)))
    kind = moment.turn.host_kind
    kind = settings.generation_type if kind == "normal" else kind
    line = partial(searched_line, names=settings.include_names)
    names = frozenset(characters) - {""}
    return TextSource(moment.chat[::-1], names, around.tags, tuple(prompts), macros.values, kind, line)


def budget_of(settings: WorldInfoSettings, size: int, reply_tokens: int) -> int:
    """In tokens: a share of the context without the reply, and no more than the cap. `size` is 0 where unknown."""
    context = max(0, size - reply_tokens) if size else settings.context
    budget = round_half_up(settings.budget * context / 100) or 1
    return min(budget, settings.budget_cap) if settings.budget_cap > 0 else budget


def searched_line(message: Message, *, names: bool) -> str:
    """A message as it is searched."""
    name = "undefined" if message.name is None else message.name  # as JavaScript writes a field that is not there
    return f"{name}: {message.text}" if names else message.text
