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

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Final

from msgspec import Struct, field

from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.domain.javascript import Json, to_number
from lorestudio.domain.records import replace
from lorestudio.domain.state import EntryRule
from lorestudio.settings.contextwindow import ContextWindowSettings
from lorestudio.systems.base import Moment
from lorestudio.systems.contextwindow.locks import Lock, LockTable
from lorestudio.systems.contextwindow.window import ContextWindow, KnownBook, LoreEntry, WindowTurn
from lorestudio.systems.known import Known

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

    A closed page comes out empty; `hidden` are its notes then.
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
        turns = tuple(
            WindowTurn("user" if message.is_user else "assistant", message.text, str(place))
            for place, message in enumerate(moment.chat)
        )
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
    notes: dict[str, list[Entry]] = {}
    for entry in index.entries:
        if not entry.guide:
            notes.setdefault(pages.page_of(entry), []).append(entry)
    for name in pages.named(notes):
        here = notes.get(name, ())
        if name in pages.locked:
            yield MappedVault(name, hidden=tuple(here)), {}
            continue
        entries: dict[str, Entry] = {}
        elements: list[Entry] = []
        for entry in here:
            if _flag(entry.system_fields.get("cw_element"), entry.constant):
                elements.append(entry)
            else:
                entries[entry.title if entry.title not in entries else f"{entry.title} ({entry.filename})"] = entry
        elements.sort(key=lambda entry: entry.priority)
        book = KnownBook({key: _lore_entry(key, entry) for key, entry in entries.items()})
        window = ContextWindow(book, tuple(entry.content for entry in elements))
        lockable = {key: entry for key, entry in entries.items() if _lock(entry, blocks, "") is not None}
        yield MappedVault(name, window, entries, tuple(elements)), lockable


def _lock(entry: Entry, blocks: Sequence[EntryRule], lowered: str) -> Lock | None:
    """The lock of a note over a text in lower case. What is blocked in the chat stays out, whatever the note says."""
    if any(rule.matches(entry) for rule in blocks):
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
        texts_of(own.get("cw_links"), entry.cascade_links),
        tuple(alias for alias in aliases if alias),  # an empty alias would match every text
        texts_of(own.get("cw_requires"), entry.requires),
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
