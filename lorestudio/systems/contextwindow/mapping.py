"""How a vault and a chat become a context window (resources/docs/context-window.md tells it to people).

A note is an entry of the lorebook under its title; of equal titles the later ones carry their file's name as well. Its
keys are aliases, its priority number with the sign turned is the weight, its cascade links are links and its requires
are requirements. A constant note is a context element. Properties `cw_aliases`, `cw_weight`, `cw_links`, `cw_requires`
and `cw_element` say it otherwise. Writing guides are no lore. Blocked entries are locked, and so are those with
`cw_lock: true`; `cw_passthrough` are words that let an entry through its lock where the text holds one of them, and
keep it out where it holds none.

Everything is on one page, or `Pages` says how notes are spread over several: by `cw_page`, folder or vault. The
conversation is on the main page.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from lorestudio.domain.chat import Message
from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.domain.javascript import Json, to_number
from lorestudio.domain.state import ChatControls
from lorestudio.systems.contextwindow import lore
from lorestudio.systems.contextwindow.locks import LockTable, Passthrough
from lorestudio.systems.contextwindow.lore import LoreBook, LoreEntry
from lorestudio.systems.contextwindow.window import ContextWindow, WindowRole, WindowTurn

MAIN_PAGE: Final = "main"


class PagesBy(StrEnum):
    """What makes pages of a vault."""

    NOTHING = "one"
    PROPERTIES = "properties"
    FOLDERS = "folders"
    VAULTS = "vaults"


@dataclass(frozen=True, slots=True)
class Pages:
    """How notes are spread over pages: `order` are pages that come first, with notes or without; `locked` are closed.

    Every other page stands where its first note does, the main one before them. Names differ by case.
    """

    by: PagesBy = PagesBy.NOTHING
    main: str = MAIN_PAGE
    order: tuple[str, ...] = ()
    locked: frozenset[str] = frozenset()

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


@dataclass(frozen=True, slots=True)
class MappedVault:
    """A page: its window, and which note each of its entries and elements is. `locks` are those of its keys.

    A closed page comes out empty; `hidden` are its notes then.
    """

    window: ContextWindow
    entries: Mapping[str, Entry]
    elements: tuple[Entry, ...]
    locks: LockTable = field(default_factory=LockTable)
    name: str = MAIN_PAGE
    hidden: tuple[Entry, ...] = ()


@dataclass(frozen=True, slots=True)
class HowMapped:
    """What says how a vault is mapped, besides the vault: `text` is the one that is looked at."""

    text: str = ""
    with_conversation: bool = True
    pages: Pages = field(default_factory=Pages)
    source_compatible: bool = False


def mapped_pages(
    index: VaultIndex, chat: Sequence[Message], controls: ChatControls, how: HowMapped
) -> tuple[MappedVault, ...]:
    """The pages that a vault and the messages of a chat make, in their order."""
    notes: dict[str, list[Entry]] = {}
    for entry in index.entries:
        if not entry.guide:
            notes.setdefault(how.pages.page_of(entry), []).append(entry)
    found = []
    for name in how.pages.named(notes):
        turns = chat if how.with_conversation and name == how.pages.main else ()
        if name in how.pages.locked:
            found.append(MappedVault(ContextWindow(), {}, (), name=name, hidden=tuple(notes.get(name, ()))))
        else:
            found.append(_page(name, notes.get(name, ()), turns, controls, how))
    return tuple(found)


def mapped(
    index: VaultIndex, chat: Sequence[Message], controls: ChatControls, *, with_conversation: bool = True
) -> MappedVault:
    """The window that a vault and the messages of a chat make where everything is on one page."""
    return mapped_pages(index, chat, controls, HowMapped(with_conversation=with_conversation))[0]


def _page(
    name: str, notes: Iterable[Entry], chat: Sequence[Message], controls: ChatControls, how: HowMapped
) -> MappedVault:
    book: LoreBook = {}
    entries: dict[str, Entry] = {}
    elements: list[Entry] = []
    for entry in notes:
        if _flag(entry.system_fields.get("cw_element"), entry.constant):
            elements.append(entry)
            continue
        key = entry.title if entry.title not in entries else f"{entry.title} ({entry.filename})"
        entries[key] = entry
        book = _added(book, key, entry)
    elements.sort(key=lambda entry: entry.priority)
    turns = tuple(_turn(message, place) for place, message in enumerate(chat))
    window = ContextWindow(book, tuple(entry.content for entry in elements), turns)
    return MappedVault(window, entries, tuple(elements), _locks(name, book, entries, controls, how), name)


def _locks(
    page: str, book: LoreBook, entries: Mapping[str, Entry], controls: ChatControls, how: HowMapped
) -> LockTable:
    """The locks of a page's keys. What is blocked in the chat stays out, whatever the note says."""
    table = LockTable(source_compatible=how.source_compatible)
    for key, entry in entries.items():
        own = entry.system_fields
        blocked = any(rule.matches(entry) for rule in controls.blocks)
        words = () if blocked else texts_of(own.get("cw_passthrough"), ())
        locked = blocked or _flag(own.get("cw_lock"), otherwise=False)
        if locked or words:
            table = table.with_lock(
                key, {page: book}, page, locked=locked, passthrough=_passthrough(words, how.text) if words else None
            )
    return table


def _passthrough(words: Sequence[str], text: str) -> Passthrough:
    lowered = text.lower()
    return lambda: any(word.lower() in lowered for word in words)


def _added(book: LoreBook, key: str, entry: Entry) -> LoreBook:
    own = entry.system_fields
    made = LoreEntry(
        key,
        entry.content,
        _weight(own.get("cw_weight"), entry.priority),
        texts_of(own.get("cw_links"), entry.cascade_links),
        (*entry.keys, *texts_of(own.get("cw_aliases"), ())),
        texts_of(own.get("cw_requires"), entry.requires),
    )
    aliases = tuple(alias for alias in made.alias_keys if alias)  # an empty alias would match every text
    book = dict(book) if not isinstance(book, dict) else book
    book.update(lore.with_entry({}, LoreEntry(key, made.value, made.weight, made.linked_keys, aliases,
                                              made.required_keys)))  # fmt: skip
    return book


def _turn(message: Message, place: int) -> WindowTurn:
    return WindowTurn(WindowRole.USER if message.is_user else WindowRole.ASSISTANT, message.text, str(place))


def _weight(value: Json, priority: float) -> int:
    number = -priority if value is None else to_number(value)
    return int(number) if abs(number) < 2**31 else 0  # also for what is no number


def texts_of(value: Json, otherwise: Iterable[str]) -> tuple[str, ...]:
    """The texts of a property: of a list, or of a text with commas; `otherwise` where there is none."""
    if isinstance(value, str):
        return tuple(text for part in value.split(",") if (text := part.strip()))
    if isinstance(value, list | tuple):
        return tuple(str(item) for item in value)
    return tuple(otherwise)


def _flag(value: Json, otherwise: bool) -> bool:
    return otherwise if value is None else value is True or value == "true"
