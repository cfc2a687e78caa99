"""Which words of a message are marked as keys of the chosen entry, and what each mark says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lorestudio.trace.found_keys import FoundKey, places_in
from lorestudio.ui.words import tr


@dataclass(frozen=True, slots=True)
class KeyMark:
    """Characters `start` to `end` of a message's text, or with `in_name` the speaker's name. `words` are its tooltip.

    `refine` marks a refine key; it is drawn with a broken line where a key has a full one. `lacking` marks a key that
    was not enough, for want of refine keys.
    """

    start: int
    end: int
    key: str
    words: str
    refine: bool = False
    in_name: bool = False
    lacking: bool = False

    def describe(self) -> str:
        """The mark in a few words, for screen readers."""
        if self.refine:
            return tr("the refine key “{key}” was found here", key=self.key)
        if self.lacking:
            return tr("the key “{key}” was found here, its refine keys were not", key=self.key)
        return tr("the key “{key}” was found here", key=self.key)


@dataclass(frozen=True, slots=True)
class KeyQuery:
    """What is to be marked: the keys of the entry called `title`, in the messages before `until`."""

    found: tuple[FoundKey, ...] = ()
    until: int = 0
    title: str = ""

    def marks(self, message: int, text: str) -> tuple[KeyMark, ...]:
        """The marks in one message with this text, in the order of the text; none lies over another.

        Where keys and refine keys meet, the key is marked.
        """
        if message >= self.until:
            return ()
        kept: list[KeyMark] = []
        for one in sorted(self.found, key=lambda one: one.refine):
            if one.message in {None, message}:
                words = self._words(one)
                for start, end in [(0, 1)] if one.in_name else places_in(one, message, text):
                    mark = KeyMark(start, end, one.key, words, one.refine, one.in_name, bool(one.missing))
                    if not any(_meet(mark, other) for other in kept):
                        kept.append(mark)
        return tuple(sorted(kept, key=lambda mark: (not mark.in_name, mark.start)))

    def _words(self, one: FoundKey) -> str:
        if one.refine:
            words = tr("“{key}” is a refine key of “{title}”.", key=one.key, title=self.title)
        else:
            words = tr("“{key}” is a key of “{title}”.", key=one.key, title=self.title)
        others = [other for other in self.found if other.refine is not one.refine and other.message is not None]
        for other in others[:3]:
            kind = tr("Its key") if one.refine else tr("Its refine key")
            words += " " + tr("{kind} “{key}” is in #{message}.", kind=kind, key=other.key, message=other.message)
        return " ".join(part for part in (words, one.missing) if part)


def _meet(one: KeyMark, other: KeyMark) -> bool:
    return one.in_name is other.in_name and one.start < other.end and other.start < one.end


def spans(marks: Sequence[KeyMark]) -> tuple[tuple[int, int], ...]:
    """Start and end of the marks in the text."""
    return tuple((mark.start, mark.end) for mark in marks if not mark.in_name)
