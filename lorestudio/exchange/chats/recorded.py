"""What extensions write into a chat of the lore that went in beside a reply (rules: recorded-sources 1, 4).

A record is what a program said it handed over. Whether it can be trusted, and what its absence means, is judged in
`studio.verify.recorded`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, Protocol, TypeAlias, TypeVar

from msgspec import Struct

from lorestudio.domain.chat import Message
from lorestudio.domain.javascript import Json
from lorestudio.domain.json_text import objects_in, text_in, texts_in
from lorestudio.exchange.chats.document import sent_at
from lorestudio.exchange.chats.notepad import swipe_extra

SOURCES: Final = "deeplore_sources"
PINNED: Final = "(pinned)"
"""Why an entry went in that a person had pinned."""

TAG: Final = "_deeplore_sources_tag"
"""Written beside the sources by DeepLore 2.5 and later: which generation they are of, and when."""

ACTIVE_BOOKS: Final = "activeLorebookEntries"
BOOK_VIEWER: Final = "worldInfoViewer"


class RecordedEntry(Struct, frozen=True):
    """One entry of a record. `vault` is the vault's or the book's name in the program that wrote it.

    `tokens` and `priority` are None, and `reason` and `keys` empty, where the writer does not keep them.
    """

    title: str
    filename: str = ""
    vault: str = ""
    reason: str = ""
    tokens: int | None = None
    priority: float | None = None
    keys: tuple[str, ...] = ()


def recorded_entries(message: Message, swipe: int, key: str = SOURCES) -> tuple[RecordedEntry, ...] | None:
    """What is recorded under `key` for one swipe of a reply, None where nothing is (rules: recorded-sources 2).

    The swipe that the chat goes on with has its record in the message, else in its `swipe_info`; the others have theirs
    there only. One is never taken for the other.
    """
    places = [message.extra] if swipe == message.swipe else []
    for place in (*places, swipe_extra(message, swipe)):
        found = tuple(_READERS[key](place.get(key)))
        if found:
            return found
    return None


class Findable(Protocol):
    """What an entry is found by."""

    @property
    def title(self) -> str: ...  # noqa: D102  # its name says it
    @property
    def vault(self) -> str: ...  # noqa: D102  # its name says it
    @property
    def filename(self) -> str: ...  # noqa: D102  # its name says it


FindableT = TypeVar("FindableT", bound=Findable)


def found_among(recorded: RecordedEntry, entries: Iterable[FindableT]) -> FindableT | None:
    """The entry that a record speaks of: of the same title, else of the same file; None where there is none.

    Vaults have names of their own in DeepLore's settings, so they only choose among several.
    """
    named = [each for each in entries if recorded.title and each.title == recorded.title]
    if not named:
        named = [each for each in entries if recorded.filename and each.filename == recorded.filename]
    return min(named, key=lambda each: (each.vault != recorded.vault, each.filename != recorded.filename), default=None)


def noted_tokens(message: Message, swipe: int) -> int | None:
    """The lore tokens that DeepLore noted beside a reply, None where it noted nothing."""
    found = recorded_entries(message, swipe)
    return None if found is None else sum(each.tokens or 0 for each in found)


def written_by_newer(message: Message) -> bool:
    """Whether DeepLore 2.5 or later wrote the record of the message."""
    return TAG in message.extra


def generated(message: Message) -> bool:
    """Whether the message says when its generation began, which those that no model wrote do not."""
    return bool(message.raw.get("gen_started"))


def generated_at(message: Message) -> int | None:
    """When its generation began, in ms since the epoch; when it was sent where that is all it says; else None."""
    began = message.raw.get("gen_started")
    return sent_at(str(began) if began else message.send_date)


def _sources(value: Json) -> Iterator[RecordedEntry]:
    for each in objects_in(value):
        title, filename = text_in(each.get("title")), text_in(each.get("filename"))
        if title or filename:
            tokens, priority = _number(each.get("tokens")), _number(each.get("priority"))
            yield RecordedEntry(
                title, filename, text_in(each.get("vaultSource")), text_in(each.get("matchedBy")),
                None if tokens is None else int(tokens), priority,
            )  # fmt: skip


def _active(value: Json) -> Iterator[RecordedEntry]:
    for each in objects_in(value):
        if title := text_in(each.get("comment")):
            world, strategy = text_in(each.get("world")), text_in(each.get("strategy"))
            yield RecordedEntry(title, vault=world, reason=strategy, keys=texts_in(each.get("keys")))


def _viewed(value: Json) -> Iterator[RecordedEntry]:
    for group in value.values() if isinstance(value, Mapping) else ():
        for each in objects_in(group):
            if title := text_in(each.get("entryName")):
                yield RecordedEntry(title, vault=text_in(each.get("worldName")), keys=texts_in(each.get("keys")))


_Reader: TypeAlias = Callable[[Json], Iterator[RecordedEntry]]
_READERS: Final[Mapping[str, _Reader]] = {SOURCES: _sources, ACTIVE_BOOKS: _active, BOOK_VIEWER: _viewed}


def _number(value: Json) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 2**53 else None
