"""The text in which keys are searched: the last messages of the chat, one line each (rules: deeplore 3.3)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from msgspec import Struct

from lorestudio.domain.chat import Message
from lorestudio.domain.javascript import fold


class ScanLine(Struct, frozen=True):
    """One scanned message: its index in the prompt view, its place in the window's count, and its line."""

    message: int
    place: int
    raw: str
    name_length: int
    text: str


class ScanWindow:
    """The scanned lines of a chat, deepest window first; every shallower window is a suffix of the same text.

    A line is `name: text`. Hidden, system, narrator and tool messages are not searched but use up places of the window,
    unless `searched_only` says that they do not.
    """

    def __init__(
        self, chat: Sequence[Message], deepest: float, *, case_sensitive: bool, searched_only: bool = False
    ) -> None:
        # The places of the window: all messages, or only those that are searched.
        places: Sequence[int] = range(len(chat))
        if searched_only:
            places = [index for index in places if chat[index].scannable]
        self._length = len(places)
        self.lines: list[ScanLine] = []
        for place in range(self._first_place(deepest), len(places)):
            index = places[place]
            message = chat[index]
            if message.scannable:
                name = message.name or ""
                raw = f"{name}: {message.text}"
                self.lines.append(ScanLine(index, place, raw, len(name) + 2, raw if case_sensitive else fold(raw)))
        self.text = "\n".join(line.text for line in self.lines)
        self._starts = []
        offset = 0
        for line in self.lines:
            self._starts.append(offset)
            offset += len(line.text) + 1

    def _first_place(self, depth: float) -> int:
        if depth <= 0:
            return self._length
        # A depth between 0 and 1 truncates to "minus zero", which JavaScript's slice reads as the whole chat.
        return self._length - int(min(depth, self._length)) if depth >= 1 else 0

    def offset(self, depth: float) -> int:
        """Where the window of `depth` messages begins in `text`; past its end for an empty window."""
        first = self._first_place(depth)
        for line, start in zip(self.lines, self._starts, strict=True):
            if line.place >= first:
                return start
        return len(self.text) + 1

    def tail(self, depth: float) -> str:
        """The window of `depth` messages as it is searched."""
        return self.text[self.offset(depth) :]

    def raw_tail(self, depth: float) -> str:
        """The window of `depth` messages as it is written."""
        first = self._first_place(depth)
        return "\n".join(line.raw for line in self.lines if line.place >= first)

    def count(self, depth: float) -> int:
        """How many messages the window of `depth` really searches."""
        first = self._first_place(depth)
        return sum(1 for line in self.lines if line.place >= first)

    def locate(self, start: int, size: int) -> dict[str, int | bool]:
        """Which message holds the hit at `start`: its index in the prompt view, and the span in its text.

        The span is left out where lower-casing changed the length of the line; a hit in the speaker's name says so.
        """
        place = bisect_right(self._starts, start) - 1
        line = self.lines[place]
        where: dict[str, int | bool] = {"message": line.message}
        first = start - self._starts[place] - line.name_length
        if first < 0:
            where["in_name"] = True
        elif len(line.raw) == len(line.text):
            where |= {"start": first, "end": first + size}
        return where
