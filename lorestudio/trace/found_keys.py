"""The keys that decided about entries, and where the run found them in the chat: told from the verdicts alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from msgspec import Struct

from lorestudio.domain.javascript import Json
from lorestudio.trace.model import Trace, Verdict
from lorestudio.trace.vocabulary import Vocabulary
from lorestudio.trace.wording import fill


class FoundKey(Struct, frozen=True):
    """A key of an entry, and where it was found: the place that decided, or one of all its places in the window.

    `message` is the index in the chat file, None where the run did not tell; `start` to `end` is the span in the
    message's text, None where the key stands in the speaker's name (`in_name`), where folding changed the length of
    the line, or where the place is not known. `refine` says that it is a refine key, or a secondary key of World Info.
    `missing` says why the key was not enough, "" where it was.
    """

    entry: int
    key: str
    message: int | None = None
    start: int | None = None
    end: int | None = None
    in_name: bool = False
    refine: bool = False
    missing: str = ""

    @property
    def place(self) -> tuple[int, int] | None:
        """Start and end, where both are known."""
        return None if self.start is None or self.end is None else (self.start, self.end)


class KeyMatch(Struct, frozen=True):
    """One key as it is written, and where it is found in the entry's own window.

    `count` are its occurrences; of the last one `message` is the index in the chat file and `start` to `end` the span
    in the message's text. The span is None where the hit is in the speaker's name (`in_name`), or where folding changed
    the length of the line. `blank` keys are never searched; of a `cut` key only the beginning is (rules: deeplore 3.4).
    """

    key: str
    count: int = 0
    message: int | None = None
    start: int | None = None
    end: int | None = None
    in_name: bool = False
    blank: bool = False
    cut: bool = False

    @property
    def found(self) -> bool:
        """Whether the key occurs at all."""
        return self.message is not None


class WouldMatch(Struct, frozen=True):
    """What an entry's keys find. `messages` is how many are read for them.

    `key` is the one that the entry would match by, "" where it would not; `refine_key` the one that then decides.
    `unused` says why keys do not count in this generation at all: `constant`, `guide`, `scan_depth_zero`, `ai_only`, or
    "" where they do. Warmup, probability, cooldown and gates come after the keys; the trace tells about those.
    """

    keys: tuple[KeyMatch, ...]
    refine_keys: tuple[KeyMatch, ...]
    messages: int
    key: str = ""
    refine_key: str = ""
    unused: str = ""

    @property
    def missing_refine(self) -> bool:
        """Whether a key is found but none of the refine keys."""
        return not self.key and any(match.found for match in self.keys)


def keys_of(trace: Trace, entry: int) -> tuple[FoundKey, ...]:
    """The keys of the first verdict about an entry that tells of a key in the chat: the key, then the refine keys."""
    verdicts = (verdict for record in trace.stages for verdict in record.verdicts if verdict.entry == entry)
    return next((found for verdict in verdicts if (found := keys_of_verdict(verdict, trace.words))), ())


def keys_of_verdict(verdict: Verdict, words: Vocabulary[Trace]) -> tuple[FoundKey, ...]:
    """The keys that one verdict tells of, none where it was not about keys in the chat."""
    details = verdict.details
    key = details.get("key")
    if verdict.reason not in words.tells_keys or not isinstance(key, str):
        return ()
    primary = _found(verdict.entry, key, details, "", missing=_missing(verdict, words))
    return primary, *_refining(verdict.entry, details)


def places_in(found: FoundKey, message: int, text: str) -> Iterator[tuple[int, int]]:
    """Where a key stands in the text of a message: the place that the run told, or every one where it told none.

    A place that holds something else (another swipe is shown, or the text was changed) is searched for anew.
    """
    place = found.place
    if place is not None and found.message == message and text[slice(*place)].casefold() == found.key.casefold():
        yield place
        return
    yield from (match.span() for match in re.finditer(re.escape(found.key), text, re.IGNORECASE))


def _refining(entry: int, details: Mapping[str, Json]) -> Iterator[FoundKey]:
    refine_key = details.get("refine_key")
    if isinstance(refine_key, str):
        yield _found(entry, refine_key, details, "refine_")
    # Of World Info's secondary keys the message is known and not the place in it.
    keys, messages = details.get("found"), details.get("found_messages")
    if isinstance(keys, list | tuple) and isinstance(messages, list | tuple):
        for key, message in zip(keys, messages, strict=False):
            if isinstance(key, str) and isinstance(message, int):
                yield FoundKey(entry, key, message, refine=True)


def _found(entry: int, key: str, details: Mapping[str, Json], prefix: str, *, missing: str = "") -> FoundKey:
    found = (details.get(prefix + name) for name in ("message", "start", "end"))
    message, start, end = (value if isinstance(value, int) else None for value in found)
    in_name = details.get(f"{prefix}in_name") is True
    return FoundKey(entry, key, message, start, end, in_name=in_name, refine=bool(prefix), missing=missing)


def _missing(verdict: Verdict, words: Vocabulary[Trace]) -> str:
    template = words.key_lacks.get(verdict.reason)
    return "" if template is None else fill(template, verdict.details) or ""


def places_told(trace: Trace, message: int, text: str) -> Iterator[FoundKey]:
    """The keys that a run speaks of, with their places in the text of a message; keys found elsewhere have none."""
    for entry in trace.entries:
        for found in keys_of(trace, entry):
            here = found.message in {None, message} and not found.in_name
            spans = list(places_in(found, message, text)) if here else []
            for start, end in spans:
                yield FoundKey(entry, found.key, message, start, end, refine=found.refine)
            if not spans:
                where = message if found.message is None else found.message
                yield FoundKey(entry, found.key, where, in_name=found.in_name, refine=found.refine)
