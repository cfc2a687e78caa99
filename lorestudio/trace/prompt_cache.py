"""What a provider's prompt cache could keep from one turn to the next, and whom it is lost to.

A provider that caches prompts keeps the longest beginning that two prompts have in common; everything after the first
difference is read (and paid for) again. Two prompts are compared piece by piece, in the order in which the model gets
them. Of what is read again, the messages that are new since are nobody's fault; the rest is put down to the placed text
(lore, or one of the host's own) that stands at the first difference, because mending anything behind it would win
nothing.

A prompt is what was put together for the model (`lorestudio.studio.replay.timeline`), or by `prompt_pieces`
only the chat and what a run injected. In the latter the host's own texts (main prompt, card, examples) are in neither
number, and outlets are not counted, because only the host knows where its macros stand.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import accumulate
from typing import TypeAlias

from msgspec import Struct

from lorestudio.domain.chat import Message
from lorestudio.domain.entry import NoteKey, Position
from lorestudio.domain.records import Terse, replace, same_start
from lorestudio.domain.tokens import TokenCounter
from lorestudio.trace.model import PromptBlock, Trace
from lorestudio.trace.prompt import prompt_order


class PromptPiece(Struct, frozen=True):
    """A text of the prompt that comes from one place.

    `key` is the entry's, None for a message and for what a run injects without an entry (notebook, frames). `tag` is
    the injected prompt's, or the name of a text of the host's own (`host`); "" says that the piece is a message of the
    chat. `depth` is None outside the chat.
    """

    text: str
    tokens: int
    title: str
    key: NoteKey | None = None
    tag: str = ""
    depth: float | None = None
    host: bool = False

    @property
    def placed(self) -> bool:
        """Whether it was put there, and is no message of the chat."""
        return bool(self.tag)


class ChatPieces:
    """The visible messages of a chat, counted once for all turns."""

    def __init__(self, messages: Sequence[Message], counter: TokenCounter) -> None:
        self.counter = counter
        self.places = [place for place, message in enumerate(messages) if not message.is_system]
        self.pieces = [_message(place, messages[place], counter) for place in self.places]
        self._sums = [0, *accumulate(piece.tokens for piece in self.pieces)]

    def before(self, message: int) -> int:
        """How many of the pieces stand before the message with that index in the file."""
        return bisect_left(self.places, message)

    def tokens(self, start: int, stop: int) -> int:
        """Tokens of the pieces from `start` up to `stop`."""
        return self._sums[stop] - self._sums[start]


def _message(place: int, message: Message, counter: TokenCounter) -> PromptPiece:
    text = f"{message.name}: {message.text}" if message.name else message.text
    return PromptPiece(text, counter.count(text), f"#{place}")


class Stretch(Struct, frozen=True):
    """Messages that stand side by side in a prompt: `chat.pieces[start:stop]`."""

    chat: ChatPieces
    start: int
    stop: int

    @property
    def tokens(self) -> int:
        """Tokens of the messages."""
        return self.chat.tokens(self.start, self.stop)


PromptPieces: TypeAlias = tuple[PromptPiece | Stretch, ...]
"""A prompt in the order in which the model gets it."""


def prompt_pieces(trace: Trace, chat: ChatPieces) -> PromptPieces:
    """The prompt of a run: what stands before and after the main prompt, then the chat with what is placed in it.

    What the host does not place is no part of it (see `prompt_order`).
    """
    order = prompt_order(block for block in trace.prompt if block.text.strip())
    made: list[PromptPiece | Stretch] = []
    for block in (*order.before, *order.after):
        made += _block_pieces(trace, block, chat.counter)
    count, done = chat.before(trace.turn.message), 0
    for place in order.in_chat:
        if place.older(count) > done:
            made.append(Stretch(chat, done, place.older(count)))
            done = place.older(count)
        for block in place.prompts:
            made += _block_pieces(trace, block, chat.counter)
    if count > done:
        made.append(Stretch(chat, done, count))
    return tuple(made)


def _block_pieces(trace: Trace, block: PromptBlock, counter: TokenCounter) -> Iterator[PromptPiece]:
    """The parts of a block; what stands between two of them belongs to the one after it."""
    depth = block.depth if block.position == Position.IN_CHAT else None
    start = 0
    for part in (part for part in block.parts if part.entry is not None and part.end > start):
        ref = trace.entries.get(part.entry) if part.entry is not None else None
        text = block.text[start : part.end]
        start = part.end
        title, key = (ref.title, ref.note_key) if ref is not None else (block.tag, None)
        yield PromptPiece(text, counter.count(text), title, key, block.tag, depth)
    if start < len(block.text):
        text = block.text[start:]
        yield PromptPiece(text, counter.count(text), block.tag, None, block.tag, depth)


class CauseKind(StrEnum):
    """What made the first difference between two prompts."""

    ENTERED = "entered"
    LEFT = "left"
    CHANGED = "changed"
    """Its text is another: shortened, or edited."""
    MOVED = "moved"
    """It stands in another order or place."""
    DEPTH = "depth"
    """It is placed in the chat at a depth, and so moves on with every message."""
    CHAT = "chat"
    """A message of before is not what it was."""
    ROOM = "room"
    """A message of before had no room any more: the context is full."""


class CacheMiss(Struct, frozen=True):
    """A difference between two prompts. `key` is None where no entry is behind it; the rest is as in `PromptPiece`."""

    kind: CauseKind
    title: str
    key: NoteKey | None = None
    tokens: int = 0
    depth: float | None = None
    host: bool = False


class CacheTurn(Struct, frozen=True):
    """A prompt beside the one before it, in tokens.

    `kept` is the common beginning, `missed` the rest of `tokens`. `new` is the part of `missed` that is read again
    without any placed text, too: the messages that were added or changed. `by_lore` is what remains, whether lore or a
    text of the host's own is the cause. `cause` stands at the first difference, None where nothing but new messages was
    added.
    """

    tokens: int
    kept: int
    new: int
    by_lore: int
    cause: CacheMiss | None = None

    @property
    def missed(self) -> int:
        """Tokens behind the first difference."""
        return self.tokens - self.kept


def cache_turn(before: PromptPieces, after: PromptPieces, counter: TokenCounter) -> CacheTurn:
    """What of `after` a cache could keep that has seen `before`. Linear in the pieces that are no messages."""
    total = sum(item.tokens for item in after)
    kept, old, new = _common(before, after)
    if old is not None and new is not None and old.key is not None and old.key == new.key:
        kept += counter.count(old.text[: same_start(old.text, new.text)])
    told, known = _said(after), _said(before)
    fresh = sum(item.tokens for item in told) - _common(known, told)[0]
    lore_before, lore_after = _placed(before), _placed(after)
    cause = _cause(old, new, lore_before, lore_after)
    missed = total - kept
    if cause is not None and cause.kind is CauseKind.CHAT and _gone(cause.title, known, told):
        cause = CacheMiss(CauseKind.ROOM, cause.title)
    nobody = cause is None or cause.kind in {CauseKind.CHAT, CauseKind.ROOM}
    by_lore = 0 if nobody else max(0, missed - fresh)
    return CacheTurn(total, kept, missed - by_lore, by_lore, cause)


def _placed(prompt: PromptPieces) -> tuple[PromptPiece, ...]:
    return tuple(item for item in prompt if isinstance(item, PromptPiece) and item.placed)


def _said(prompt: PromptPieces) -> tuple[PromptPiece | Stretch, ...]:
    """The messages of the chat."""
    return tuple(item for item in prompt if isinstance(item, Stretch) or not item.placed)


def _gone(title: str, before: Sequence[PromptPiece | Stretch], after: Sequence[PromptPiece | Stretch]) -> bool:
    """Whether the message called `title` stood first, and is there no more while later ones are."""
    if not before or not after:
        return False
    first = before[0]
    if isinstance(first, Stretch) or first.title != title:
        return False
    now = {item.title for item in after if isinstance(item, PromptPiece)}
    return title not in now and any(isinstance(item, PromptPiece) and item.title in now for item in before)


def _common(
    before: Sequence[PromptPiece | Stretch], after: Sequence[PromptPiece | Stretch]
) -> tuple[int, PromptPiece | None, PromptPiece | None]:
    """Tokens of the common beginning, and what stands behind it in either prompt (None at the end)."""
    kept = 0
    one, other = _Cursor(before), _Cursor(after)
    while (first := one.piece) is not None and (second := other.piece) is not None:
        run = one.same_run(other)
        if run:
            kept += one.advance(run)
            other.advance(run)
        elif first.text == second.text and first.tag == second.tag:
            kept += second.tokens
            one.advance(1)
            other.advance(1)
        else:
            break
    return kept, one.piece, other.piece


class _Cursor:
    """A place in a prompt."""

    def __init__(self, prompt: Sequence[PromptPiece | Stretch]) -> None:
        self._prompt = prompt
        self._item = 0
        self._offset = 0
        self._skip_empty()

    @property
    def piece(self) -> PromptPiece | None:
        """What stands here, None at the end."""
        if self._item >= len(self._prompt):
            return None
        item = self._prompt[self._item]
        return item.chat.pieces[item.start + self._offset] if isinstance(item, Stretch) else item

    def same_run(self, other: _Cursor) -> int:
        """How many messages of the same chat stand here in both prompts, 0 where they have to be looked at."""
        mine, yours = self._stretch(), other._stretch()
        if mine is None or yours is None or mine.chat is not yours.chat:
            return 0
        if mine.start + self._offset != yours.start + other._offset:
            return 0
        return min(mine.stop - mine.start - self._offset, yours.stop - yours.start - other._offset)

    def advance(self, pieces: int) -> int:
        """Go on by so many pieces of what stands here; returns their tokens."""
        item = self._prompt[self._item]
        if isinstance(item, PromptPiece):
            self._item += 1
            self._skip_empty()
            return item.tokens
        start = item.start + self._offset
        self._offset += pieces
        if start + pieces >= item.stop:
            self._item, self._offset = self._item + 1, 0
            self._skip_empty()
        return item.chat.tokens(start, start + pieces)

    def _stretch(self) -> Stretch | None:
        item = self._prompt[self._item]
        return item if isinstance(item, Stretch) else None

    def _skip_empty(self) -> None:
        while self._item < len(self._prompt):
            item = self._prompt[self._item]
            if isinstance(item, PromptPiece) or item.stop > item.start:
                return
            self._item += 1


def _cause(
    old: PromptPiece | None, new: PromptPiece | None, before: Sequence[PromptPiece], after: Sequence[PromptPiece]
) -> CacheMiss | None:
    """What stands at the first difference: `old` gave way to `new`."""
    if (old is None or not old.placed) and (new is None or not new.placed):
        return None if old is None else CacheMiss(CauseKind.CHAT, old.title)
    if old is not None and new is not None and old.placed != new.placed:
        placed = old if old.placed else new
        if placed.depth is not None and any(piece.tag == placed.tag for piece in (after if old.placed else before)):
            return _because(CauseKind.DEPTH, placed)
    if old is not None and new is not None and _name(old) == _name(new):
        return _because(CauseKind.CHANGED, new)
    if new is not None and new.placed and _name(new) not in {_name(piece) for piece in before}:
        return _because(CauseKind.ENTERED, new)
    if old is not None and old.placed and _name(old) not in {_name(piece) for piece in after}:
        return _because(CauseKind.LEFT, old)
    moved = new if new is not None and new.placed else old
    return _because(CauseKind.MOVED, moved) if moved is not None else None


def _because(kind: CauseKind, piece: PromptPiece) -> CacheMiss:
    return CacheMiss(kind, piece.title, piece.key, piece.tokens, piece.depth, piece.host)


def _name(piece: PromptPiece) -> tuple[NoteKey | None, str]:
    """What makes a placed piece the same in two prompts: its entry, or the prompt's tag where there is none."""
    return piece.key, "" if piece.key is not None else piece.tag


class CauseTotal(CacheMiss, frozen=True):
    """What stood at the first difference in so many `turns`; `tokens` were read again because of it."""

    turns: int = 0


class CacheTotals(Terse, frozen=True):
    """Many turns taken together; `causes` are those that cost lore tokens, the worst first.

    What is placed at a depth of the chat is one cause for each depth, whichever entry happens to stand first there.
    """

    unprinted = ("causes",)

    turns: int = 0
    tokens: int = 0
    kept: int = 0
    by_lore: int = 0
    causes: tuple[CauseTotal, ...] = ()

    @property
    def missed(self) -> int:
        """Tokens behind the first differences."""
        return self.tokens - self.kept

    @property
    def lore_share(self) -> float:
        """Which part of what was read again lore is to blame for, from 0 to 1."""
        return self.by_lore / self.missed if self.missed else 0.0


def cache_totals(turns: Iterable[CacheTurn]) -> CacheTotals:
    """All turns of a chat that have one before them, taken together."""
    known = list(turns)
    found: dict[CauseTotal, CauseTotal] = {}
    for turn in known:
        if turn.cause is not None and turn.by_lore:
            cause = turn.cause
            deep = cause.kind is CauseKind.DEPTH
            title = "" if deep and not cause.host else cause.title
            key, depth = (None, cause.depth) if deep else (cause.key, None)
            name = CauseTotal(cause.kind, title, key, 0, depth, cause.host)
            total = found.get(name, name)
            found[name] = replace(total, tokens=total.tokens + turn.by_lore, turns=total.turns + 1)
    causes = tuple(sorted(found.values(), key=lambda each: -each.tokens))
    return CacheTotals(
        len(known),
        sum(turn.tokens for turn in known),
        sum(turn.kept for turn in known),
        sum(turn.by_lore for turn in known),
        causes,
    )
