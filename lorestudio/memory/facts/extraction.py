"""Drawing facts out of a conversation: the prompt, the reply, and what is made of it (spec: fact-memory 5)."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from lorestudio.domain.javascript import Json, trim
from lorestudio.domain.patterns import compile_pattern
from lorestudio.memory.facts.records import (
    CONFIRMED,
    INFERRED,
    NO_FIELD,
    PROFILE_FIELDS,
    PROFILE_KEYS,
    Fact,
    FactError,
    Line,
)
from lorestudio.memory.facts.tags import GENERAL, tags_of

logger = logging.getLogger(__name__)

KEYWORDS: Final = "keywords"
MODEL: Final = "model"
BOTH: Final = "both"

CONVERSATION: Final = "{conversation}"
SESSION_DATE: Final = "{sessionDate}"

_SHOWN: Final = 200
_DOLLAR: Final = re.compile(r"\$([$&`'])")
_OPENING: Final = re.compile(r"\A```(?:json)?\n?")
_CLOSING: Final = re.compile(r"\n?```\Z")
_LONGEST_SCRAP: Final = 10
_CUES: Final = compile_pattern(r"\b(?:I|my|prefer|work|use|like|am|have|need|want)\b", "i")
_ENDS: Final = re.compile(r"[.!?\n]+")


def conversation(lines: Sequence[Line]) -> str:
    """The lines as models read them, one `role: text` each (spec: 5.1)."""
    return "\n".join(f"{line.role}: {line.told}" for line in lines)


def filled(template: str, lines: Sequence[Line], session_date: str, *, strict: bool) -> str:
    """The prompt with its slots filled (spec: 5.3; in strict mode with JavaScript's dollar signs and second pass)."""
    talk = conversation(lines)
    if not strict:
        return template.replace(SESSION_DATE, session_date).replace(CONVERSATION, talk)
    before, slot, after = template.partition(CONVERSATION)
    if not slot:
        return template.replace(SESSION_DATE, session_date)
    meant = {"$": "$", "&": slot, "`": before, "'": after}
    talk = _DOLLAR.sub(lambda found: meant[found[1]], talk)
    return f"{before}{talk}{after}".replace(SESSION_DATE, session_date)


def read_reply(reply: str | None, *, strict: bool) -> tuple[dict[str, Json], ...]:
    """The items of a model's reply; a reply that is no JSON gives none and a warning (spec: 5.4)."""
    text = "{}" if reply is None else reply
    if not strict:
        text = trim(text)
    text = trim(_CLOSING.sub("", _OPENING.sub("", text)))
    try:
        parsed = parse_json(text)
    except ValueError:
        logger.warning("The reply with the facts is no JSON: %s", (reply or "")[:_SHOWN])
        return ()
    return validated(parsed)


def parse_json(text: str) -> Json:
    """JSON as JavaScript reads it, NaN and Infinity refused. Raises ValueError."""

    def refuse(word: str) -> Json:
        raise ValueError(f"{word} is no JSON")

    try:
        value: Json = json.loads(text, parse_constant=refuse)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return value


def validated(parsed: Json) -> tuple[dict[str, Json], ...]:
    """The usable items of a reply, each with its known fields; a bad one never affects another (spec: 5.5)."""
    items = parsed.get("memories") if isinstance(parsed, Mapping) else parsed
    return tuple(_items(items)) if isinstance(items, list | tuple) else ()


def _items(items: Sequence[Json]) -> Iterator[dict[str, Json]]:
    for item in items:
        if not isinstance(item, Mapping):
            continue
        content, source, tags = item.get("content"), item.get("source"), item.get("tags")
        if not isinstance(content, str) or not trim(content) or source not in (CONFIRMED, INFERRED):
            continue
        kept: dict[str, Json] = {"content": content, "source": source}
        if isinstance(tags, list | tuple):
            kept["tags"] = [tag for tag in tags if isinstance(tag, str)]
        if item.get("profileField") in (*PROFILE_FIELDS, NO_FIELD):
            kept["profileField"] = item["profileField"]
        for key in ("profileKey", "profileUnit"):
            if isinstance(item.get(key), str):
                kept[key] = item[key]
        if item.get("profileValue") is not None:
            kept["profileValue"] = item["profileValue"]
        yield kept


def normalised(raw: Json, *, strict: bool, tagging: str = KEYWORDS) -> tuple[Fact, ...]:
    """Facts from whatever an extractor returned (spec: 5.6). Raises FactError in strict mode for an odd item."""
    if not isinstance(raw, list | tuple):
        if strict:
            raise FactError("the extractor returned no list")
        return ()
    facts: list[Fact] = []
    for item in raw:
        content = item.get("content") if isinstance(item, Mapping) else None
        if not isinstance(item, Mapping) or not isinstance(content, str):
            if strict:
                raise FactError("an extracted item has no text")
            continue
        text = trim(content)
        if not text:
            continue
        source = CONFIRMED if item.get("source") == CONFIRMED else INFERRED
        profile = {key: item[key] for key in PROFILE_KEYS if key in item}
        facts.append(Fact(text, source, _tags(text, item.get("tags"), tagging), profile))
    return tuple(facts)


def _tags(text: str, given: Json, tagging: str) -> list[Json]:
    own = [tag for tag in given if isinstance(tag, str) and trim(tag)] if isinstance(given, list | tuple) else []
    found = list(tags_of(text)) if tagging != MODEL else []
    if tagging == KEYWORDS:
        own = []
    tags = list(dict.fromkeys([*own, *(tag for tag in found if tag != GENERAL)]))
    return [*tags] or [GENERAL]


def extract_simple(lines: Sequence[Line]) -> tuple[Fact, ...]:
    """Facts without a model: sentences that hold one of a few words about oneself (spec: 5.7)."""
    facts: list[Fact] = []
    for line in lines:
        if line.role == "system":
            continue
        source = CONFIRMED if line.role == "user" else INFERRED
        facts += [
            Fact(piece, source, list(tags_of(piece)))
            for piece in map(trim, _ENDS.split(line.content))
            if len(piece) > _LONGEST_SCRAP and _CUES.search(piece)
        ]
    return tuple(facts)
