"""Threads: which state follows which and when, and a chat file as threads (rules: fact-memory 3.1, 3.2).

A chat file is parted into passages by long silences and by size. What was drawn out stays where it was: a passage that
is kept is only read again where its messages have changed. It is known again as a whole by its digest, and what is left
of it by those of its lines.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from operator import itemgetter
from pathlib import Path
from typing import Final

from msgspec import Struct

from lorestudio.domain.chat import Chat, Message
from lorestudio.domain.records import replace
from lorestudio.domain.texts import text_digest
from lorestudio.exchange.chats.document import sent_at
from lorestudio.settings.facts import OWN_CHARACTER, FactsSettings
from lorestudio.settings.files import real_path
from lorestudio.systems.facts.records import FactError, Line, MemoryOrigin, Thread, ThreadState

MINUTE: Final = 60_000
HOUR: Final = 60 * MINUTE
DAY: Final = 24 * HOUR

ALLOWED: Final[Mapping[ThreadState, tuple[ThreadState, ...]]] = {
    ThreadState.ACTIVE: (ThreadState.COOLING,),
    ThreadState.COOLING: (ThreadState.ACTIVE, ThreadState.DORMANT),
    ThreadState.DORMANT: (ThreadState.CLOSED,),
    ThreadState.CLOSED: (),
}
"""The states that may follow each."""


class InvalidTransitionError(FactError):
    """A state that may not follow the one a thread is in."""


class Timeouts(Struct, frozen=True):
    """How long a thread stays as it is, in milliseconds."""

    cooling: int = 6 * HOUR
    dormant: int = 6 * HOUR
    closed: int = 30 * DAY


PRESETS: Final[Mapping[str, Timeouts]] = {
    "daily-checkin": Timeouts(2 * HOUR, 30 * MINUTE, 7 * DAY),
    "weekly-therapy": Timeouts(24 * HOUR, 6 * HOUR, 90 * DAY),
    "on-demand": Timeouts(30 * MINUTE, 15 * MINUTE, 30 * DAY),
    "long-term": Timeouts(12 * HOUR, 6 * HOUR, 365 * DAY),
}


def timeouts(
    preset: str = "", cooling: int | None = None, dormant: int | None = None, closed: int | None = None
) -> Timeouts:
    """The timeouts given, the others by the preset or by default; without either, dormant is as long as cooling."""
    chosen = PRESETS.get(preset)
    cooled = cooling if cooling is not None else (chosen or Timeouts()).cooling
    slept = dormant if dormant is not None else chosen.dormant if chosen else cooled
    return Timeouts(cooled, slept, closed if closed is not None else (chosen or Timeouts()).closed)


def transition(thread: Thread, to: ThreadState, now: int) -> Thread:
    """The thread in another state. Raises InvalidTransitionError."""
    if to not in ALLOWED[thread.state]:
        raise InvalidTransitionError(f"Invalid transition: {thread.state} → {to}")
    moved = replace(thread, state=to, updated_at=now)
    if to is ThreadState.COOLING:
        return replace(moved, cooling_started_at=now)
    if to is ThreadState.DORMANT:
        return replace(moved, dormant_at=now, cooling_started_at=None)
    if to is ThreadState.CLOSED:
        return replace(moved, closed_at=now)
    return replace(moved, cooling_started_at=None)


def should_close(thread: Thread, timeout: int, now: int) -> bool:
    """Whether a dormant thread is over for good."""
    since = thread.dormant_at
    return thread.state is ThreadState.DORMANT and since is not None and now - since >= timeout


class Passage(Struct, frozen=True):
    """Messages `first` to `last` of a chat. `begun` and `ended` are moments, None where no date can be read."""

    chat: str
    first: int
    last: int
    lines: tuple[Line, ...]
    begun: int | None = None
    ended: int | None = None
    changed: bool = False

    @property
    def key(self) -> str:
        """What tells it from the others of its chat."""
        return f"{self.first}-{self.last}"

    @property
    def id(self) -> str:
        """The thread's id."""
        return f"{self.chat}#{self.key}"

    @property
    def digest(self) -> str:
        """SHA-256 of what was said."""
        return _digest(self.lines)

    @property
    def line_digests(self) -> tuple[str, ...]:
        """What tells each of its lines."""
        return tuple(line.digest for line in self.lines)

    @property
    def origin(self) -> MemoryOrigin:
        """Where memories of it come from."""
        return MemoryOrigin(chat=self.chat, first=self.first, last=self.last)


def chat_name(chat: Chat, path: Path | None) -> str:
    """What tells a chat from others: SillyTavern's own mark where there is one, else its folder's and file's names.

    A branch has its parent's mark, so that its names count.
    """
    mark = chat.metadata.get("integrity")
    if isinstance(mark, str) and mark and not (path is not None and chat.metadata.get("main_chat")):
        return mark
    if path is None:
        return "chat"
    place = real_path(path)
    name = f"{place.parent.name}/{place.stem}" if place.parent.name else place.stem
    return name.encode("utf-8", "backslashreplace").decode()  # bytes that are no text stay told apart


def owner_of(settings: FactsSettings, chat: Chat, path: Path | None) -> str:
    """Whose memories those of a chat are."""
    if settings.owner == OWN_CHARACTER:
        return f"character:{chat.character_name or chat_name(chat, path)}"
    return f"chat:{chat_name(chat, path)}"


def waiting_passages(
    chat: Chat, name: str, threads: Sequence[Thread], size: int, silence_ms: int, *, hidden: bool = True
) -> tuple[Passage, ...]:
    """The passages whose facts are not kept yet, or are those of another text, in order.

    `size` is in messages; a silence of `silence_ms` ends a passage. A text that messages before it have moved is kept
    as it was.
    """
    lines, placed = _placed(chat, name, threads, hidden=hidden)
    waiting: list[Passage] = []
    done = {place for _, places in placed for place in places}
    for thread, places in placed:
        if not places:
            continue
        passage, over = _passage(chat, name, places), thread.state not in _UNDER_WAY
        edited = passage.digest != thread.digest
        if edited or not over:
            waiting.append(replace(passage, changed=edited and over))
    left = [index for index in lines if index not in done]
    waiting += [_passage(chat, name, places) for places in _parted(chat, left, size, silence_ms)]
    return tuple(sorted(waiting, key=lambda passage: passage.first))


def moved_threads(chat: Chat, name: str, threads: Sequence[Thread], *, hidden: bool = True) -> dict[str, str]:
    """The ids that threads of a chat have by where their texts stand now, by those that they are kept under.

    One whose messages are gone has none with numbers.
    """
    placed = _placed(chat, name, threads, hidden=hidden)[1]
    now = {thread.id: f"{name}#{places[0]}-{places[-1]}" for thread, places in placed if places}
    gone = {thread.id for thread, places in placed if not places}
    moved = {before: after for before, after in now.items() if before != after}
    return moved | {before: f"{before} until {uuid.uuid4().hex[:12]}" for before in gone}


def lined_threads(chat: Chat, name: str, threads: Sequence[Thread], *, hidden: bool = True) -> tuple[Thread, ...]:
    """Threads of older files whose texts stand in the chat as they were, now with the digests of their lines."""
    placed = _placed(chat, name, threads, hidden=hidden)[1]
    met = ((thread, _passage(chat, name, places)) for thread, places in placed if places and not thread.line_digests)
    return tuple(
        replace(thread, line_digests=passage.line_digests) for thread, passage in met if passage.digest == thread.digest
    )


def moved_origin(origin: MemoryOrigin, moved: Mapping[str, str]) -> MemoryOrigin:
    """Where the messages of an origin stand now, by `moved_threads`; nowhere where they are gone."""
    place = moved.get(f"{origin.chat}#{origin.first}-{origin.last}")
    if place is None:
        return origin
    first, last = numbers_of(place) or (None, None)
    return replace(origin, first=first, last=last)


def numbers_of(thread: str) -> tuple[int, int] | None:
    """The first and the last message of a passage, by the id of its thread; None where it stands nowhere."""
    first, dash, last = thread.rpartition("#")[2].partition("-")
    return (int(first), int(last)) if dash and first.isdigit() and last.isdigit() else None


def _placed(
    chat: Chat, name: str, threads: Sequence[Thread], *, hidden: bool
) -> tuple[dict[int, Line], list[tuple[Thread, list[int]]]]:
    """What is spoken, and the threads of a chat with where their messages are."""
    lines = {
        index: _line(message, index) for index, message in enumerate(chat.messages) if _spoken(message, hidden=hidden)
    }
    kept = sorted(_kept(name, threads), key=itemgetter(1))
    found = _found_again(kept, lines)
    if len(found) < len(kept):
        found |= _what_is_left(kept, found, lines)
    return lines, [(thread, found.get(thread.id, [])) for thread, _, _ in kept]


_UNDER_WAY: Final = (ThreadState.ACTIVE, ThreadState.COOLING)
_FARTHEST: Final = 20
"""So far a passage may be from where it would be if it had moved as the one before it, or now followed that at once."""
_FEW: Final = 500
"""Among so many messages a passage is looked for everywhere."""
_MANY: Final = 3000
"""Among more lines than these, those that are said all the time are not looked for one by one."""


def _found_again(kept: Sequence[tuple[Thread, int, int]], lines: Mapping[int, Line]) -> dict[str, list[int]]:
    """Where the texts of these passages stand, by the ids of their threads; those that changed stand nowhere."""
    found: dict[str, list[int]] = {}
    moved = follows = 0
    near = (0, *(step * way for step in range(1, _FARTHEST + 1) for way in (-1, 1)))
    anywhere = lines if len(lines) <= _FEW else ()
    taken: set[int] = set()
    for thread, first, last in kept:
        shifts = (start + step for start in (moved, follows - first) for step in near)
        for shift in (*shifts, *(place - first for place in anywhere)):
            places = [index for index in range(first + shift, last + shift + 1) if index in lines]
            if not places or not taken.isdisjoint(places):
                continue
            if _digest([lines[index] for index in places]) == thread.digest:
                found[thread.id], moved, follows = places, shift, places[-1] + 1
                taken.update(places)
                break
    return found


def _what_is_left(
    kept: Sequence[tuple[Thread, int, int]], found: Mapping[str, list[int]], lines: Mapping[int, Line]
) -> dict[str, list[int]]:
    """Where passages stand of which lines are edited or gone, beside those that were found as a whole.

    The lines of all passages are laid beside those of the chat. What stands between two that are the same counts as
    edited: first for the passages around it, the rest for those of which no line is the same.
    """
    now = {index: line.digest for index, line in lines.items()}
    owners: list[str] = []
    before: list[str] = []
    for thread, first, last in kept:
        whole = [now[place] for place in found.get(thread.id, ())]
        told = whole or thread.line_digests or [""] * (last - first + 1)  # an older file tells only how many
        before += told
        owners += [thread.id] * len(told)
    order = list(now)
    taken = {place for places in found.values() for place in places}
    own: dict[str, set[int]] = {thread.id: set() for thread, _, _ in kept if thread.id not in found}
    matcher = SequenceMatcher(None, before, list(now.values()), autojunk=len(before) > _MANY)
    for tag, start, end, start_now, end_now in matcher.get_opcodes():
        theirs, free = owners[start:end], [place for place in order[start_now:end_now] if place not in taken]
        if tag == "replace":
            ahead = theirs.count(owners[start - 1]) if start else 0
            behind = min(theirs.count(owners[end]) if end < len(owners) else 0, len(theirs) - ahead)
            between = free[ahead : max(len(free) - behind, ahead)]
            pairs = [
                *zip(theirs[:ahead], free, strict=False),
                *zip(theirs[ahead : len(theirs) - behind], between, strict=False),
                *zip(reversed(theirs[len(theirs) - behind :]), reversed(free[ahead:]), strict=False),
            ]
        else:
            pairs = [*zip(theirs, order[start_now:end_now], strict=False)]
        for thread_id, place in pairs:
            if thread_id in own and place not in taken:
                own[thread_id].add(place)
    taken.update(*own.values())
    return {
        thread_id: [each for each in order if min(mine) <= each <= max(mine) and (each in mine or each not in taken)]
        for thread_id, mine in own.items()
        if mine
    }


def message_times(messages: Sequence[Message]) -> list[int]:
    """The moments of those messages whose date can be read."""
    return [at for at in (sent_at(message.send_date) for message in messages) if at is not None]


def _kept(name: str, threads: Sequence[Thread]) -> Iterator[tuple[Thread, int, int]]:
    for thread in threads:
        numbers = numbers_of(thread.id)
        if numbers is not None and thread.id.rpartition("#")[0] == name:
            yield thread, *numbers


def _parted(chat: Chat, places: Sequence[int], size: int, silence_ms: int) -> Iterator[list[int]]:
    piece: list[int] = []
    before: int | None = None
    for place in places:
        at = sent_at(chat.messages[place].send_date)
        silent = at is not None and before is not None and at - before >= silence_ms
        follows = (
            not piece
            or place == piece[-1] + 1
            or not any(_spoken(message, hidden=True) for message in chat.messages[piece[-1] + 1 : place])
        )
        if piece and (silent or len(piece) >= size or not follows):
            yield piece
            piece = []
        piece.append(place)
        before = at if at is not None else before
    if piece:
        yield piece


def _passage(chat: Chat, name: str, places: Sequence[int]) -> Passage:
    messages = [chat.messages[place] for place in places]
    lines = tuple(_line(message, place) for message, place in zip(messages, places, strict=True))
    times = message_times(messages)
    return Passage(name, places[0], places[-1], lines, min(times, default=None), max(times, default=None))


def _line(message: Message, place: int) -> Line:
    role = "user" if message.is_user else "assistant"
    return Line(role, message.text, place, message.name or "")


def _spoken(message: Message, *, hidden: bool) -> bool:
    """Whether a message tells the story: no thoughts, no tools, no empty ones."""
    tools = message.extra.get("tool_invocations")
    if message.is_thoughts or isinstance(tools, list | dict) or not message.text.strip():
        return False
    return hidden or not message.is_system


def _digest(lines: Sequence[Line]) -> str:
    told = "\n".join(f"{line.role}\x00{line.told}" for line in lines)
    return text_digest(told)
