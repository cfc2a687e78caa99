"""Taking parts out of messages before a model reads them, such as status blocks (spec: recap-memory 21.5).

The messages of the chat stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from lorestudio.domain.javascript import trim, truthy
from lorestudio.domain.patterns import Pattern, PatternError, PatternTimeoutError, compile_pattern
from lorestudio.memory.recap.records import Record, message_text
from lorestudio.memory.recap.worker import HopelessError
from lorestudio.settings.recap import RecapSettings

_GLOBAL: Final = "gy"


def patterns_of(text: str) -> tuple[Pattern, ...]:
    """One pattern a line, `/pattern/flags` or the pattern alone. Raises HopelessError naming the line."""
    found: list[Pattern] = []
    for number, line in enumerate(text.splitlines(), start=1):
        written = line.strip()
        if not written:
            continue
        source, flags = written, ""
        if written.startswith("/") and written.rfind("/") > 0:
            end = written.rfind("/")
            source, flags = written[1:end], written[end + 1 :]
        try:
            found.append(compile_pattern(source, "".join(flag for flag in flags if flag not in _GLOBAL)))
        except PatternError as error:
            message = f"Line {number} of the recap setting “Strip” cannot be used: {error}. Correct it in the settings."
            raise HopelessError(message) from None
    return tuple(found)


def stripped(
    messages: Sequence[Record], indexes: Iterable[int], settings: RecapSettings, *, keep: int = 0
) -> tuple[Record, ...]:
    """The messages, those at `indexes` without what the patterns find.

    The first `keep` finds stay, counted from the newest message, in each from its start. Raises HopelessError.
    """
    patterns = patterns_of(settings.strip_patterns)
    if not patterns:
        return tuple(messages)
    result = list(messages)
    left = keep
    for index in sorted(set(indexes), reverse=True):
        message = messages[index]
        if not _of_type(message, settings.strip_message_types):
            continue
        text = message_text(message)
        spans = _spans(patterns, text)
        gone = spans[left:]
        left = max(0, left - len(spans))
        if gone:
            result[index] = {**message, "mes": trim(_without(text, gone))}
    return tuple(result)


def _of_type(message: Record, which: str) -> bool:
    return which == "both" or (which == "user") is truthy(message.get("is_user"))


def _spans(patterns: Iterable[Pattern], text: str) -> list[tuple[int, int]]:
    """Where any of the patterns is found; finds that overlap are one."""
    found: list[tuple[int, int]] = []
    for pattern in patterns:
        try:
            found += pattern.spans(text)
        except PatternTimeoutError as error:
            message = f"The recap setting “Strip” cannot be used here: {error}. Make the pattern simpler."
            raise HopelessError(message) from None
    merged: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _without(text: str, spans: Iterable[tuple[int, int]]) -> str:
    pieces: list[str] = []
    at = 0
    for start, end in spans:
        pieces.append(text[at:start])
        at = end
    return "".join((*pieces, text[at:]))
