"""How a vault and a chat become a context window (resources/docs/context-window.md tells it to people).

A note is an entry of the lorebook under its title; of equal titles the later ones carry their file's name as well. Its
keys are aliases, its priority number with the sign turned is the weight, its cascade links are links and its requires
are requirements. A constant note is a context element. Properties `cw_aliases`, `cw_weight`, `cw_links`, `cw_requires`
and `cw_element` say it otherwise. Writing guides are no lore. Blocked entries are locked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lorestudio.domain.chat import Message
from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.domain.javascript import Json, to_number
from lorestudio.domain.state import ChatControls
from lorestudio.engine.contextwindow import lore
from lorestudio.engine.contextwindow.lore import LoreBook, LoreEntry
from lorestudio.engine.contextwindow.window import ContextWindow, Role, Turn


@dataclass(frozen=True, slots=True)
class MappedVault:
    """A window, and which note each of its entries and elements is. `blocked` are the keys that a person locked."""

    window: ContextWindow
    entries: Mapping[str, Entry]
    elements: tuple[Entry, ...]
    blocked: frozenset[str]


def mapped(
    index: VaultIndex, chat: Sequence[Message], controls: ChatControls, *, with_conversation: bool = True
) -> MappedVault:
    """The window that a vault and the messages of a chat make."""
    book: LoreBook = {}
    entries: dict[str, Entry] = {}
    elements: list[Entry] = []
    for entry in index.entries:
        if entry.guide:
            continue
        if _flag(entry.system_fields.get("cw_element"), entry.constant):
            elements.append(entry)
            continue
        key = entry.title if entry.title not in entries else f"{entry.title} ({entry.filename})"
        entries[key] = entry
        book = _added(book, key, entry)
    elements.sort(key=lambda entry: entry.priority)
    turns = tuple(_turn(message, place) for place, message in enumerate(chat)) if with_conversation else ()
    blocked = frozenset(key for key, entry in entries.items() if any(rule.matches(entry) for rule in controls.blocks))
    window = ContextWindow(book, tuple(entry.content for entry in elements), turns)
    return MappedVault(window, entries, tuple(elements), blocked)


def _added(book: LoreBook, key: str, entry: Entry) -> LoreBook:
    own = entry.system_fields
    made = LoreEntry(
        key,
        entry.content,
        _weight(own.get("cw_weight"), entry.priority),
        _texts(own.get("cw_links"), entry.cascade_links),
        (*entry.keys, *_texts(own.get("cw_aliases"), ())),
        _texts(own.get("cw_requires"), entry.requires),
    )
    aliases = tuple(alias for alias in made.alias_keys if alias)  # an empty alias would match every text
    book = dict(book) if not isinstance(book, dict) else book
    book.update(lore.with_entry({}, LoreEntry(key, made.value, made.weight, made.linked_keys, aliases,
                                              made.required_keys)))  # fmt: skip
    return book


def _turn(message: Message, place: int) -> Turn:
    return Turn(Role.USER if message.is_user else Role.ASSISTANT, message.text, str(place))


def _weight(value: Json, priority: float) -> int:
    number = -priority if value is None else to_number(value)
    return int(number) if abs(number) < 2**31 else 0  # also for what is no number


def _texts(value: Json, otherwise: Iterable[str]) -> tuple[str, ...]:
    if isinstance(value, str):
        return tuple(text for part in value.split(",") if (text := part.strip()))
    if isinstance(value, list | tuple):
        return tuple(str(item) for item in value)
    return tuple(otherwise)


def _flag(value: Json, otherwise: bool) -> bool:
    return otherwise if value is None else value is True or value == "true"
