"""Finding lore in a prompt that was really sent: which entry stands where, how much of it, and what else is there.

Only texts are compared, so it works for whatever system put them there (rules: live-capture 5).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Final, TypeAlias

from msgspec import Struct

from lorestudio.domain.entry import Entry
from lorestudio.domain.records import Terse
from lorestudio.studio.attach.exchange import SentPrompt


class Grade(StrEnum):
    """How much of an entry stands in a prompt; earlier ones prove more."""

    BLOCK = "as it was put in"
    TEXT = "its whole text"
    FILLED = "its text with macros filled in"
    BEGINNING = "its beginning"
    CHANGED = "a changed text"


_ORDER: Final = {grade: place for place, grade in enumerate(Grade)}
_SHORT: Final = 40
"""A text of fewer characters may stand in a prompt by chance, unless its title or line ends are around it."""

_TINY: Final = 12
"""One of so few counts behind its title only."""

_SHINGLE: Final = 6
"""Words in a row that are compared where a text was changed."""

_ALIKE: Final = 0.5
_MACRO: Final = re.compile(r"\{\{[^{}]*\}\}")
_WORD: Final = re.compile(r"\w+")
_FILLING: Final = r"[\s\S]{0,200}?"
_CLOSINGS: Final = ("", "\n", "<", "]", ")", "}", "|")
"""What follows a text that was cut: nothing, or the closing of a template."""

_NEAR: Final = 60
"""So many characters before a text its title may begin."""


class FoundLore(Struct, frozen=True):
    """Where an entry stands: message from 0, and the characters `start` to `end` of its text without carriage returns.

    `from_end` counts messages after it; `role` is that of the message.
    """

    entry: int
    grade: Grade
    message: int
    start: int
    end: int
    role: str = ""
    from_end: int = 0


_Words: TypeAlias = tuple[str, ...]
_Run: TypeAlias = tuple[int, int, _Words]
"""Where some words stand that follow one another, from and to, and the words."""


class SearchedEntry(Terse, frozen=True):
    """What is looked for: an entry's text, its title, and the blocks that a run would put in for it."""

    unprinted = ("text", "blocks")

    id: int
    title: str
    text: str
    blocks: tuple[str, ...] = ()


def searched(entries: Iterable[Entry], blocks: Mapping[int, Sequence[str]] | None = None) -> tuple[SearchedEntry, ...]:
    """The entries with their own texts, and with the blocks that a run made of them."""
    made = blocks or {}
    return tuple(
        SearchedEntry(each.id, each.title, _clean(each.content), tuple(map(_clean, made.get(each.id, ()))))
        for each in entries
    )


def find_lore(prompt: SentPrompt, entries: Iterable[SearchedEntry], said: Iterable[str] = ()) -> tuple[FoundLore, ...]:
    """Every entry that stands in the prompt, once, in the order of the prompt.

    What is only quoted in one of the texts `said` in the chat, or in another entry, does not count.
    """
    texts = [_clean(message.text) for message in prompt.messages]
    quoted = [list(_spans(text, said)) for text in texts]
    wanted = {each: frozenset(words for _, _, words in _runs(each.text)) for each in entries}
    sought = frozenset[_Words]().union(*wanted.values())
    runs = [[run for run in _runs(text) if run[2] in sought] for text in texts]  # once, and not for each entry
    claims = [claim for each, words in wanted.items() for claim in _claims(each, texts, words, runs)]
    claims.sort(key=lambda claim: (_ORDER[claim.grade], not claim.titled, claim.start - claim.end, claim.entry))
    taken: list[list[tuple[int, int]]] = [[] for _ in texts]
    found: dict[int, FoundLore] = {}
    for claim in claims:
        inside = any(start <= claim.start and claim.end <= end for start, end in quoted[claim.message])
        overlaps = any(claim.start < end and start < claim.end for start, end in taken[claim.message])
        if claim.entry in found or inside or overlaps:
            continue
        taken[claim.message].append((claim.start, claim.end))
        found[claim.entry] = FoundLore(
            claim.entry, claim.grade, claim.message, claim.start, claim.end,
            prompt.messages[claim.message].role, len(texts) - 1 - claim.message,
        )  # fmt: skip
    return tuple(sorted(found.values(), key=lambda each: (each.message, each.start, each.entry)))


def unknown_lines(prompt: SentPrompt, found: Iterable[FoundLore], known: Iterable[str]) -> tuple[tuple[int, str], ...]:
    """Lines of the prompt that are neither lore nor in a known text, with the number of their message.

    Lines without three words are left out.
    """
    lines = {" ".join(line.split()) for text in known for line in _clean(text).split("\n")}
    whole = "\n".join(lines)
    told: list[tuple[int, str]] = []
    lore = list(found)
    for number, message in enumerate(prompt.messages):
        text = list(_clean(message.text))
        for each in lore:
            if each.message == number:
                text[each.start : each.end] = "\n" * (each.end - each.start)
        for line in "".join(text).split("\n"):
            shown = " ".join(line.split())
            spoken = shown.partition(": ")[2] or shown
            if len(_WORD.findall(shown)) >= 3 and shown not in lines and shown not in whole and spoken not in whole:
                told.append((number, shown))
    return tuple(told)


def _clean(text: str) -> str:
    return text.replace("\r", "").strip()


class _Claim(Struct, frozen=True):
    entry: int
    grade: Grade
    message: int
    start: int
    end: int
    titled: bool


def _spans(text: str, said: Iterable[str]) -> Iterator[tuple[int, int]]:
    """Where texts of the chat stand."""
    for each in {_clean(one) for one in said}:
        if len(each) >= _TINY:
            yield from ((start, start + len(each)) for start in _places(text, each))


def _places(text: str, part: str) -> Iterator[int]:
    start = text.find(part)
    while start >= 0:
        yield start
        start = text.find(part, start + 1)


def _claims(
    entry: SearchedEntry, texts: Sequence[str], wanted: frozenset[_Words], runs: Sequence[Sequence[_Run]]
) -> Iterator[_Claim]:
    """Where an entry may stand, by the surest way of finding it; `wanted` are its runs of words, `runs` the texts'."""
    by_block = [
        _Claim(entry.id, Grade.BLOCK, number, start, start + len(block), titled=True)
        for number, text in enumerate(texts)
        for block in entry.blocks
        if block
        for start in _places(text, block)
    ]
    if by_block or not entry.text:
        yield from by_block
        return
    for way in (_whole, _filled, _begun, None):
        found = [
            _Claim(entry.id, grade, number, start, end, _is_titled(entry.title, text, start))
            for number, text in enumerate(texts)
            for grade, start, end in (way(entry, text) if way is not None else _changed(wanted, text, runs[number]))
        ]
        if found:
            yield from found
            return


def _is_titled(title: str, text: str, start: int) -> bool:
    return bool(title) and title.lower() in text[max(0, start - len(title) - _NEAR) : start].lower()


def _is_sure(entry: SearchedEntry, text: str, start: int, end: int) -> bool:
    """Whether a short text stands there on purpose."""
    if end - start >= _SHORT or _is_titled(entry.title, text, start):
        return True
    alone = (start == 0 or text[start - 1] == "\n") and (end == len(text) or text[end] == "\n")
    return alone and end - start >= _TINY


def _whole(entry: SearchedEntry, text: str) -> Iterator[tuple[Grade, int, int]]:
    for start in _places(text, entry.text):
        if _is_sure(entry, text, start, start + len(entry.text)):
            yield Grade.TEXT, start, start + len(entry.text)


def _filled(entry: SearchedEntry, text: str) -> Iterator[tuple[Grade, int, int]]:
    """Where the pieces between macros stand in order."""
    pieces = _MACRO.split(entry.text)
    if len(pieces) == 1 or sum(map(len, pieces)) < _TINY or max(map(len, pieces)) < _TINY // 2:
        return
    for match in re.finditer(_FILLING.join(map(re.escape, pieces)), text):
        if _is_sure(entry, text, match.start(), match.end()):
            yield Grade.FILLED, match.start(), match.end()


def _begun(entry: SearchedEntry, text: str) -> Iterator[tuple[Grade, int, int]]:
    """Where the text begins and breaks off: at the end of a line, or before the closing of a template."""
    plain = _MACRO.split(entry.text)[0]
    begin = plain[:_SHORT] if len(plain) >= _SHORT else ""
    titled = "" if begin else plain[:_TINY]
    for start in _places(text, begin or titled) if begin or titled else ():
        if not begin and not _is_titled(entry.title, text, start):
            continue
        end = start
        while end < len(text) and end - start < len(entry.text) and text[end] == entry.text[end - start]:
            end += 1
        if end - start >= _TINY and text[end : end + 1] in _CLOSINGS:
            yield Grade.BEGINNING, start, end


def _changed(wanted: frozenset[_Words], text: str, runs: Iterable[_Run]) -> Iterator[tuple[Grade, int, int]]:
    """The stretch that has most of the wanted runs of words."""
    if len(wanted) < _SHINGLE:
        return
    found = [(start, end) for start, end, words in runs if words in wanted]
    if len({text[start:end].lower() for start, end in found}) >= _ALIKE * len(wanted):
        yield Grade.CHANGED, min(start for start, _ in found), max(end for _, end in found)


def _runs(text: str) -> Iterator[_Run]:
    words = list(_WORD.finditer(text))
    for place in range(len(words) - _SHINGLE + 1):
        run = words[place : place + _SHINGLE]
        yield run[0].start(), run[-1].end(), tuple(each.group().lower() for each in run)
