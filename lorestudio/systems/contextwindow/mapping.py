"""What a context window holds (rules: context-window 1), and how a vault and a chat become one.

resources/docs/context-window.md tells it to people. A note is an entry of the lorebook under its title; of equal titles
the later ones carry their file's name as well. Its keys are aliases, its priority number with the sign turned is the
weight, its cascade links are links and its requires are requirements. A constant note is a context element. Properties
`cw_aliases`, `cw_weight`, `cw_links`, `cw_requires` and `cw_element` say it otherwise. Writing guides are no lore.

Everything is on one page, or `Pages` says how notes are spread over several: by `cw_page`, folder or vault. The
conversation is on the main page.

An entry that is locked may not be taken for the moment (rules: context-window 15): a blocked one, and one with
`cw_lock: true`. `cw_passthrough` are words that let an entry in where the text holds one of them, and keep it out where
it holds none, whatever its lock; that is asked each time its key is looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from typing import Final, Literal, TypeAlias

from msgspec import Struct, field

from lorestudio.domain.automaton import WordGroups
from lorestudio.domain.chat import Message
from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.domain.javascript import Json, to_number
from lorestudio.domain.lifecycle import heeding
from lorestudio.domain.records import grouped, picked, replace
from lorestudio.domain.state import EntryRule, has_rule
from lorestudio.settings.contextwindow import ContextWindowSettings
from lorestudio.systems.base import Moment
from lorestudio.systems.known import Known

Passthrough = Callable[[], bool]


class Refused(StrEnum):
    """Why a key may not be taken."""

    LOCKED = "locked"
    PASSTHROUGH = "passthrough said no"
    FAILED = "passthrough failed"


class Lock(Struct, frozen=True):
    """The lock of an entry, closed or open."""

    is_closed: bool = True
    passthrough: Passthrough | None = None


class LockTable(Struct, frozen=True):
    """The locks of a page that count, by key in lower case."""

    locks: Mapping[str, Lock] = {}

    @classmethod
    def of(cls, locks: Mapping[str, Lock], *, source_compatible: bool = False) -> LockTable:
        """The table of these locks, the last added one last.

        With `source_compatible` they count only while that one is closed (rules: context-window 17 row 14).
        """
        if source_compatible and not all(lock.is_closed for lock in [*locks.values()][-1:]):
            return cls()
        return cls({key.lower(): lock for key, lock in locks.items()})

    def refusal(self, key: str) -> Refused | None:
        """Why a key may not be taken, None where it may."""
        lock = self.locks.get(key.lower())
        if lock is None:
            return None
        if lock.passthrough is None:
            return Refused.LOCKED if lock.is_closed else None
        try:
            return None if lock.passthrough() else Refused.PASSTHROUGH
        except Exception:  # noqa: BLE001  # whatever it raises, the lock itself decides then
            return Refused.FAILED if lock.is_closed else None

    def may_take(self, key: str) -> bool:
        """Whether a key may be taken."""
        return self.refusal(key) is None


PROPOSED_SIZE: Final = 8000
"""What a window's document says of its size in tokens; only a proposal (rules: context-window 17 row 1)."""


class LoreEntry(Struct, frozen=True):
    """One entry. Only `value` costs tokens; of two entries the one with the larger `weight` goes first.

    `linked_keys` come in with it, `alias_keys` trigger it as its key does, all `required_keys` have to be there.
    """

    key: str = ""
    value: str = ""
    weight: int = 0
    linked_keys: tuple[str, ...] = ()
    alias_keys: tuple[str, ...] = ()
    required_keys: tuple[str, ...] = ()

    def with_spellings(self) -> LoreEntry:
        """With its key in upper and in lower case added to the aliases, also where it is there already."""
        return replace(self, alias_keys=(*self.alias_keys, self.key.upper(), self.key.lower()))


LoreBook: TypeAlias = Mapping[str, LoreEntry]
"""Entries by their keys; their order counts (rules: context-window 4)."""


def triggers(book: LoreBook) -> WordGroups:
    """Of each entry what its key and aliases are looked for as (rules: context-window 5)."""
    return WordGroups([[word.lower() for word in (key, *entry.alias_keys)] for key, entry in heeding(book.items())])


class KnownBook(dict[str, LoreEntry]):
    """A book that is looked through again and again: `found` keeps what looking for its keys in a text came to."""

    def __init__(self, entries: LoreBook) -> None:
        super().__init__(entries)
        self.found = Known()

    @cached_property
    def triggers(self) -> WordGroups:
        """As `triggers` makes them."""
        return triggers(self)


class WindowTurn(Struct, frozen=True, gc=False):
    """One turn of a conversation. Two turns are the same one when their `uuid` is, whatever they say."""

    role: Literal["user", "assistant"]
    text: str
    uuid: str = ""


class ChatTurns:
    """Makes the turns of chats: those of the chat before that this one goes on from are taken as they are."""

    def __init__(self) -> None:
        self._newest: tuple[tuple[Message, ...], tuple[WindowTurn, ...]] = (), ()

    def turns(self, chat: tuple[Message, ...]) -> tuple[WindowTurn, ...]:
        """A turn for each message, by its place."""
        before, turns = self._newest
        if chat[: len(before)] != before:
            turns = ()
        turns += tuple(
            WindowTurn("user" if message.is_user else "assistant", message.text, str(place))
            for place, message in enumerate(chat[len(turns) :], len(turns))
        )
        self._newest = chat, turns
        return turns


class ContextWindow(Struct, frozen=True):
    """Lore, context elements and conversation of one request."""

    lore: LoreBook = {}
    elements: tuple[str, ...] = ()
    history: tuple[WindowTurn, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether there are no entries, no elements and no turns."""
        return not (self.lore or self.elements or self.history)


def window_to_json(window: ContextWindow) -> dict[str, Json]:
    """The window as the JSON document that the original measures it by (rules: context-window 1.3)."""
    return {
        "loreBookKeys": {
            key: {
                **picked(entry, "key", "value", "weight"),
                "linkedKeys": list(entry.linked_keys),
                "aliasKeys": list(entry.alias_keys),
                "requiredKeys": list(entry.required_keys),
            }
            for key, entry in window.lore.items()
        },
        "contextElements": list(window.elements),
        "converseHistory": {
            "history": [
                {"role": turn.role, "content": {"text": turn.text}} | ({"uuid": turn.uuid} if turn.uuid else {})
                for turn in window.history
            ]
        },
        "contextSize": PROPOSED_SIZE,
        "version": 0,
    }


MAIN_PAGE: Final = "main"


class PagesBy(StrEnum):
    """What makes pages of a vault."""

    NOTHING = "one"
    PROPERTIES = "properties"
    FOLDERS = "folders"
    VAULTS = "vaults"


class Pages(Struct, frozen=True):
    """How notes are spread over pages: `order` are pages that come first, with notes or without; `locked` are closed.

    Every other page stands where its first note does, the main one before them. Names differ by case.
    """

    by: PagesBy = PagesBy.NOTHING
    main: str = MAIN_PAGE
    order: tuple[str, ...] = ()
    locked: frozenset[str] = frozenset()

    @classmethod
    def of(cls, settings: ContextWindowSettings) -> Pages:
        """How settings spread notes over pages."""
        main = settings.main_page.strip() or MAIN_PAGE
        locked = frozenset(names(settings.locked_pages))
        return cls(PagesBy(settings.pages_by), main, names(settings.page_order), locked)

    def page_of(self, entry: Entry) -> str:
        """The page of a note; `cw_page` wins over folder and vault."""
        if self.by is PagesBy.NOTHING:
            return self.main
        own = entry.system_fields.get("cw_page")
        if isinstance(own, str | int | float) and not isinstance(own, bool) and str(own).strip():
            return str(own).strip()
        if self.by is PagesBy.VAULTS:
            return entry.vault
        folder, slash, _ = entry.filename.partition("/")
        return folder if slash and self.by is PagesBy.FOLDERS else self.main

    def named(self, found: Iterable[str]) -> tuple[str, ...]:
        """All pages in order, given those of the notes."""
        if self.by is PagesBy.NOTHING:
            return (self.main,)
        first = self.order if self.main in self.order else (*self.order, self.main)
        return tuple(dict.fromkeys((*first, *found)))


class MappedVault(Struct, frozen=True):
    """A page: its window, and which note each of its entries and elements is. `locks` are those of its keys.

    `hidden` are notes that the page leaves out: all where it is closed, which makes it come out empty, else the context
    elements that are blocked in the chat, which have no key that could be locked.
    """

    name: str
    window: ContextWindow = field(default_factory=ContextWindow)
    entries: Mapping[str, Entry] = {}
    elements: tuple[Entry, ...] = ()
    locks: LockTable = field(default_factory=LockTable)
    hidden: tuple[Entry, ...] = ()


def mapped_pages(moment: Moment, settings: ContextWindowSettings, text: str, known: Known) -> tuple[MappedVault, ...]:
    """The pages that the vault and the chat of a moment make, in their order; `text` is the one that is looked at."""
    pages, lowered, blocks = Pages.of(settings), text.lower(), moment.controls.blocks
    made = known.of(moment.index, ("pages", pages, blocks), lambda: tuple(_of_vault(moment.index, pages, blocks)))
    turns: tuple[WindowTurn, ...] = ()
    if settings.with_conversation:
        turns = known.of(moment.index, "turns", ChatTurns).turns(moment.chat)
    found = []
    for page, lockable in made:
        locks = {key: lock for key, entry in lockable.items() if (lock := _lock(entry, blocks, lowered)) is not None}
        table = LockTable.of(locks, source_compatible=settings.source_compatible)
        window = replace(page.window, history=turns) if turns and page.name == pages.main else page.window
        found.append(page if page.name in pages.locked else replace(page, window=window, locks=table))
    return tuple(found)


def _of_vault(
    index: VaultIndex, pages: Pages, blocks: Sequence[EntryRule]
) -> Iterator[tuple[MappedVault, Mapping[str, Entry]]]:
    """The pages without the chat, each with the entries that have a lock, by their keys."""
    notes = grouped((pages.page_of(entry), entry) for entry in index.entries if not entry.guide)
    for name in pages.named(notes):
        here = notes.get(name, ())
        if name in pages.locked:
            yield MappedVault(name, hidden=tuple(here)), {}
            continue
        entries: dict[str, Entry] = {}
        elements: list[Entry] = []
        hidden: list[Entry] = []
        for entry in heeding(here):
            if _flag(entry.system_fields.get("cw_element"), entry.constant):
                (hidden if has_rule(blocks, entry) else elements).append(entry)
            else:
                entries[entry.title if entry.title not in entries else f"{entry.title} ({entry.filename})"] = entry
        elements.sort(key=lambda entry: entry.priority)
        book = KnownBook({key: _lore_entry(key, entry) for key, entry in heeding(entries.items())})
        window = ContextWindow(book, tuple(entry.content for entry in elements))
        lockable = {key: entry for key, entry in entries.items() if _lock(entry, blocks, "") is not None}
        yield MappedVault(name, window, entries, tuple(elements), hidden=tuple(hidden)), lockable


def _lock(entry: Entry, blocks: Sequence[EntryRule], lowered: str) -> Lock | None:
    """The lock of a note over a text in lower case. What is blocked in the chat stays out, whatever the note says."""
    if has_rule(blocks, entry):
        return Lock()
    words, locked = texts_of(entry.system_fields.get("cw_passthrough")), entry.system_fields.get("cw_lock")
    if words:
        return Lock(_flag(locked, otherwise=False), lambda: any(word.lower() in lowered for word in words))
    return Lock() if _flag(locked, otherwise=False) else None


def _lore_entry(key: str, entry: Entry) -> LoreEntry:
    own = entry.system_fields
    aliases = (*entry.keys, *texts_of(own.get("cw_aliases")))
    return LoreEntry(
        key,
        entry.content,
        _weight(own.get("cw_weight"), entry.priority),
        texts_of(own.get("cw_links"), entry.written("cascade_links")),
        tuple(alias for alias in aliases if alias),  # an empty alias would match every text
        texts_of(own.get("cw_requires"), entry.written("requires")),
    ).with_spellings()


def _weight(value: Json, priority: float) -> int:
    number = -priority if value is None else to_number(value)
    return int(number) if abs(number) < 2**31 else 0  # also for what is no number


def texts_of(value: Json, otherwise: Iterable[str] = ()) -> tuple[str, ...]:
    """The texts of a property: of a list, or of a text with commas; `otherwise` where there is none."""
    if isinstance(value, str):
        return names(value)
    if isinstance(value, list | tuple):
        return tuple(str(item) for item in value)
    return tuple(otherwise)


def names(text: str) -> tuple[str, ...]:
    """The parts of a text with commas, without blank ones."""
    return tuple(part for each in text.split(",") if (part := each.strip()))


def _flag(value: Json, otherwise: bool) -> bool:
    return otherwise if value is None else value is True or value == "true"
