"""Entries that come in because they are like the end of the chat, as the extension Vector Storage brings them in.

Rules: sillytavern 5.6 "Vectorised".
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from lorestudio.domain.javascript import trim
from lorestudio.exchange.lorebooks.entry import BookEntry
from lorestudio.llm.embedding import Vector
from lorestudio.llm.errors import LlmError
from lorestudio.settings.worldinfo import WorldInfoSettings
from lorestudio.systems.hybrid.retrieval import cosine
from lorestudio.systems.vectors import TextVectors

_NEW_LINES: Final = re.compile(r"\n+")


@dataclass(frozen=True, slots=True)
class Similar:
    """The scores of all entries that were compared, by uid, and those of the ones that come in.

    `problem` says why nothing was compared although it should have been.
    """

    query: str = ""
    scores: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    taken: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    problem: str = ""


async def similar_entries(
    entries: Sequence[BookEntry], newest: Sequence[str], settings: WorldInfoSettings, vectors: TextVectors | None
) -> Similar:
    """The entries like the newest messages, which come newest first with their macros filled in.

    Disabled entries and those without a text are not compared, and without “for all entries” only marked ones are.
    Entries of the same text share a vector, and either all of them come in or none.
    """
    if not settings.vectors:
        return Similar()
    compared = [
        entry
        for entry in entries
        if not entry.disabled and entry.content and (entry.vectorized or settings.vectors_for_all)
    ]
    query = query_of(newest, settings.vector_messages)
    if not compared or not query:
        return Similar(query)
    if vectors is None:
        return Similar(query, problem="nobody makes vectors")
    try:
        known = await vectors.of([query, *dict.fromkeys(entry.content for entry in compared)])
    except LlmError as error:
        return Similar(query, problem=str(error).rstrip("."))
    if query not in known:
        return Similar(query, problem="the end of the chat has no vector")
    return chosen([entry for entry in compared if entry.content in known], query, known, settings)


def query_of(newest: Sequence[str], amount: int) -> str:
    """What entries are compared with: the newest messages that have a text, the newest first, a line break between."""
    texts = [text for text in newest if text][:amount]
    return trim(_NEW_LINES.sub("\n", "\n".join(texts)))


def chosen(
    compared: Sequence[BookEntry], query: str, known: Mapping[str, Vector], settings: WorldInfoSettings
) -> Similar:
    """Of all texts the most similar ones, as many as may come in at most, as far as they reach the threshold.

    A threshold of 0 keeps none out: the offline stand-in may find two texts less than unlike.
    """
    asked = known[query]
    by_text = {entry.content: cosine(asked, known[entry.content]) for entry in compared}
    reached = [text for text in by_text if max(0.0, by_text[text]) >= settings.vector_threshold]
    best = sorted(reached, key=lambda text: -by_text[text])
    first = set(best[: settings.vector_entries])
    scores = {entry.uid: by_text[entry.content] for entry in compared}
    return Similar(query, scores, {entry.uid: scores[entry.uid] for entry in compared if entry.content in first})
