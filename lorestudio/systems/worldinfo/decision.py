"""One generation decided: the entries in play, what was compared and scanned, and where the active ones stand."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from lorestudio.domain.chat import AuthorsNote, Message
from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.domain.javascript import round_half_up
from lorestudio.exchange.lorebooks.books import BooksInPlay, InsertionStrategy, Lorebook, in_order, in_play
from lorestudio.exchange.lorebooks.entry import BookEntry, Extra
from lorestudio.settings.worldinfo import WorldInfoSettings
from lorestudio.systems.base import Moment
from lorestudio.systems.macros import Macros
from lorestudio.systems.randomness import Mulberry32
from lorestudio.systems.vectors import TextVectors
from lorestudio.systems.worldinfo.haystack import TextSource
from lorestudio.systems.worldinfo.mapping import as_book_entry, index_of
from lorestudio.systems.worldinfo.placing import Placement, placed
from lorestudio.systems.worldinfo.scan import Scanned, Scanner
from lorestudio.systems.worldinfo.similarity import Similar, similar_entries
from lorestudio.systems.worldinfo.timed import TimedState, after, at


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Nothing of it is needed: without it there is no note and no card.

    `by_user` says of every message of the chat's file whether the person wrote it, which the note's interval counts.
    `characters` are the names by which a character filter may know the character, besides the speaker's name.
    `extras` are texts of card and persona; `macros` stand for themselves without braces, in lower case.
    `reply_tokens` is how much of the context is kept for the reply.
    """

    note: AuthorsNote = field(default_factory=AuthorsNote)
    by_user: tuple[bool, ...] = field(default=(), repr=False)
    characters: frozenset[str] = frozenset()
    extras: Mapping[Extra, str] = field(default_factory=lambda: MappingProxyType({}), repr=False)
    macros: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), repr=False)
    reply_tokens: int = 0

    def note_due(self, message: int) -> bool:
        """Whether the note is inserted in the turn that writes that message."""
        return self.note.due(sum(self.by_user[:message]))

    @property
    def told(self) -> tuple[object, ...]:
        """All of it that the messages before a turn do not tell, in an order of its own: for a digest."""
        texts = (sorted(self.extras.items()), sorted(self.macros.items()))
        return (self.note, sorted(self.characters), *texts, self.reply_tokens)


@dataclass(frozen=True, slots=True)
class WorldInfoState:
    """What goes on from one generation to the next."""

    timed: TimedState = field(default_factory=TimedState)
    random_state: int = 0


@dataclass(frozen=True, slots=True)
class World:
    """The entries in the order they are offered to the budget, and how traces call them.

    `entries` are by uid; `books` is None where the entries are the vault's notes.
    """

    book: tuple[BookEntry, ...]
    index: VaultIndex
    entries: dict[str, Entry]
    books: BooksInPlay | None = None

    @property
    def digest(self) -> str:
        """Tells one set of entries from another."""
        told = "\n".join(f"{entry.uid} {entry.digest}" for entry in self.book)
        return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class Decision:
    """Everything that one generation decided."""

    world: World
    similar: Similar
    scanned: Scanned
    placement: Placement
    after: WorldInfoState


async def decided(
    moment: Moment,
    settings: WorldInfoSettings,
    books: tuple[Lorebook, ...] | None,
    around: Surroundings,
    vectors: TextVectors | None,
    state: WorldInfoState,
) -> Decision:
    """Decide one generation. Timed effects count the messages that the generation sees."""
    world = _of_vault(moment) if books is None else _of_books(moment, settings, books)
    macros = Macros(_values(moment, around))
    due, note = around.note_due(moment.turn.message), macros.fill(around.note.text)
    newest = [macros.fill(message.text) for message in reversed(moment.chat)]
    similar = await similar_entries(world.book, newest, settings, vectors)
    timed = at(len(moment.chat), world.book, state.timed)
    random = Mulberry32(state.random_state)
    scanned = Scanner(
        world.book,
        _source(moment, settings, around, macros, note if due else ""),
        settings,
        timed,
        moment.counter,
        random.next,
        _budget(moment, settings, around),
        macros.fill,
        similar.taken,
    ).run()
    placement = placed(scanned.active, scanned.contents, around.note, note, note_due=due)
    later = WorldInfoState(after(len(moment.chat), scanned.active, timed.state), random.state)
    return Decision(world, similar, scanned, placement, later)


def _of_vault(moment: Moment) -> World:
    notes = [
        as_book_entry(entry, disabled=any(rule.matches(entry) for rule in moment.controls.blocks))
        for entry in moment.index.entries
        if not entry.guide
    ]
    book = tuple(sorted(notes, key=lambda entry: -entry.order))
    return World(book, moment.index, {str(entry.id): entry for entry in moment.index.entries})


def _of_books(moment: Moment, settings: WorldInfoSettings, books: tuple[Lorebook, ...]) -> World:
    playing = in_play(books)
    book = in_order(playing.used, InsertionStrategy(settings.character_strategy))
    index = index_of(book, moment.counter)
    return World(book, index, dict(zip((each.uid for each in book), index.entries, strict=True)), playing)


def _values(moment: Moment, around: Surroundings) -> dict[str, str]:
    """The macros that can stand in keys and texts."""
    values = {"user": moment.user, "char": moment.character, "newline": "\n", "noop": "", "trim": ""}
    for name, seen in (
        ("lastmessage", moment.chat),
        ("lastusermessage", [each for each in moment.chat if each.is_user]),
        ("lastcharmessage", [each for each in moment.chat if not each.is_user]),
    ):
        values[name] = seen[-1].text if seen else ""
    return values | dict(around.macros)


def _source(moment: Moment, settings: WorldInfoSettings, around: Surroundings, macros: Macros, note: str) -> TextSource:
    texts = tuple(_searched(message, names=settings.include_names) for message in reversed(moment.chat))
    characters = {settings.avatar} if settings.avatar else {moment.character, *around.characters}
    extras = {extra: macros.fill(text) for extra, text in around.extras.items()}
    prompts: list[tuple[str, str]] = []
    if settings.scan_note:
        depth_prompt = extras.get(Extra.DEPTH_PROMPT, "")
        prompts = [("the author's note", note), ("the character's depth prompt", depth_prompt)]
    turn = moment.turn
    kind = "swipe" if turn.kind == "normal" and turn.swipe else turn.kind
    return TextSource(texts, frozenset(characters) - {""}, tuple(prompts), extras, kind)


def _budget(moment: Moment, settings: WorldInfoSettings, around: Surroundings) -> int:
    """In tokens: a share of the context without the reply, and no more than the cap."""
    size = moment.context_size
    context = max(0, size - around.reply_tokens) if size else settings.context
    budget = round_half_up(settings.budget * context / 100) or 1
    return min(budget, settings.budget_cap) if settings.budget_cap > 0 else budget


def _searched(message: Message, *, names: bool) -> str:
    return f"{message.name}: {message.text}" if names and message.name is not None else message.text
