"""Getting a list out of whatever a model answers (spec: deeplore-engine 4.8)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from lorestudio.domain.javascript import LINE_END, LINE_START, WS, Json, trim, truthy

_FENCE_LINE: Final = re.compile(rf"{LINE_START}{WS}*`{{3,}}\w*{WS}*{LINE_END}", re.ASCII)
_FENCED: Final = re.compile(rf"`{{3,}}(?:json)?{WS}*([\s\S]*?)`{{3,}}")
_PREFERRED: Final = ("results", "entries", "titles", "selected")


def extract_list(value: Json) -> list[Any] | None:
    """The list that the reply means, None where it means none. An empty list is an answer."""
    if not truthy(value):
        return None
    if isinstance(value, str):
        return _from_text(value)
    if isinstance(value, list):
        return value if _usable(value) else None
    if isinstance(value, Mapping):
        return _from_object(value)
    return None


def _usable(items: list[Any]) -> bool:
    """Empty, or with at least one text or titled object in it."""
    return not items or any(
        isinstance(item, str) or (isinstance(item, Mapping) and (truthy(item.get("title")) or truthy(item.get("name"))))
        for item in items
    )


def _from_object(value: Mapping[str, Any]) -> list[Any] | None:
    text = _enveloped(value)
    if text:
        found = extract_list(text)
        if found is not None:
            return found
    for key in _PREFERRED:
        items = value.get(key)
        if isinstance(items, list) and _usable(items):
            return items
    for key in _property_order(value):
        items = value[key]
        if isinstance(items, list) and _usable(items):
            return items
    return None


def _property_order(value: Mapping[str, Any]) -> list[str]:
    """JavaScript's order of properties: whole numbers first, ascending, then as written."""
    indices = sorted((key for key in value if re.fullmatch(r"0|[1-9]\d{0,9}", key, re.ASCII)), key=int)
    return indices + [key for key in value if key not in indices]


def _enveloped(value: Mapping[str, Any]) -> str:
    """Model text inside a provider's own response object."""
    candidates = value.get("candidates")
    if isinstance(candidates, list):
        texts = [
            part["text"]
            for candidate in candidates
            if isinstance(candidate, Mapping) and isinstance(candidate.get("content"), Mapping)
            for part in candidate["content"].get("parts") or ()
            if isinstance(part, Mapping) and isinstance(part.get("text"), str)
        ]
        if texts:
            return "\n".join(texts)
    for key in ("text", "output_text"):
        text = value.get(key)
        if isinstance(text, str) and trim(text):
            return text
    content = value.get("content")
    if isinstance(content, list):
        return "\n".join(
            part["text"] for part in content if isinstance(part, Mapping) and isinstance(part.get("text"), str)
        )
    return ""


def _from_text(text: str) -> list[Any] | None:
    text = trim(_FENCE_LINE.sub("", text))
    if not text:
        return None
    for candidate in _readings(text):
        for decoded in _decode(candidate):
            found = extract_list(decoded)
            if found is not None:
                return found
    return None


def _readings(text: str) -> Iterator[str]:
    """Parts of the text that may be the JSON: all of it, what a fence holds, balanced pieces from the longest on."""
    yield text
    fenced = _FENCED.search(text)
    if fenced:
        yield trim(fenced[1])
    yield from sorted(_balanced(text), key=len, reverse=True)


def _balanced(text: str) -> Iterator[str]:
    for start, char in enumerate(text):
        if char in "[{":
            end = _closing(text, start)
            if end:
                yield text[start:end]


def _closing(text: str, start: int) -> int:
    """End of the bracketed piece that begins at `start`, 0 where it never closes; quotes hide brackets."""
    opening = text[start]
    closing = "]" if opening == "[" else "}"
    depth, quote, escaped = 0, "", False
    for place in range(start, len(text)):
        char = text[place]
        if escaped:
            escaped = False
        elif char == "\\":
            escaped = True
        elif quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char == opening:
            depth += 1
        elif char == closing:
            depth -= 1
            if not depth:
                return place + 1
    return 0


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def _decode(text: str) -> list[Json]:
    """The value of a JSON text, as a list of one; an empty list where it is none."""
    try:
        return [json.loads(text, parse_constant=_refuse)]
    except (ValueError, RecursionError):
        return []


@dataclass(frozen=True, slots=True)
class Pick:
    """One entry that the model named."""

    title: str
    confidence: str
    reason: str


def normalize(items: list[Any]) -> list[Pick]:
    """The usable items of an answer; what cannot name an entry is dropped."""
    picks = [pick for item in items if (pick := _pick(item)) is not None]
    return [pick for pick in picks if trim(pick.title) and pick.title not in {"null", "undefined"}]


def _pick(item: object) -> Pick | None:
    if isinstance(item, str):
        return Pick(item, "medium", "AI search")
    if not isinstance(item, Mapping):
        return None
    title = item.get("title") if truthy(item.get("title")) else item.get("name")
    confidence, reason = item.get("confidence"), item.get("reason")
    if not isinstance(title, str):
        return None
    return Pick(
        title,
        confidence if confidence in ("high", "medium", "low") else "medium",
        reason if isinstance(reason, str) else "AI search",
    )
