"""The cases of hybrid retrieval (rules: hybrid-retrieval 12): each by the listing and by the recommended rules."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from lorestudio.domain.javascript import length, truthy
from lorestudio.llm.embedding import embeddings_address
from lorestudio.systems.hybrid.retrieval import (
    DEFAULT_LIMIT,
    DEFAULT_THRESHOLD,
    FirstStep,
    Options,
    PreparedRanking,
    Retrieved,
    Way,
    WorldEntry,
    context_text,
    finish,
    prepare,
)

_SHOWN = 12


def cases(document: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Two cases for each: what the listing gives, and what the recommended rules give."""
    for case in document["cases"]:
        yield {**case, "operation": "literal"}
        yield {**case, "operation": "resolved", "expected": case.get("resolved", case["expected"])}


def outcome(case: Mapping[str, Any]) -> Any:
    """Everything that the expected outcome speaks of."""
    given, strict, expected = case["input"], case["operation"] == "literal", case["expected"]
    options = _options(given.get("options", {}), FirstStep(case["listing"]), strict=strict)
    book = [_entry(entry) for entry in given["worldbook"]]
    embedder = given["embedder"]
    try:
        prepared = prepare(
            book, given["history"], given["user_input"], options, has_model=embedder.get("model") is not None
        )
        query = None if embedder.get("failure") else embedder.get("query_vector")
        found = finish(prepared, query)
    except TypeError:
        return {"error": "TypeError"}
    known = _found(prepared, found, embedder, expected)
    known["context_text"] = context_text(given["history"], given["user_input"]) if book else ""
    return {name: known[name] for name in expected if name in known}


def same(actual: Any, expected: Any) -> bool:
    """Equal, scores within the tolerance of the case file."""
    if actual.keys() != expected.keys():
        return False
    for name in expected:
        if name == "scores":
            one, other = actual[name], expected[name]
            if one.keys() != other.keys() or any(abs(one[key] - other[key]) > 1e-12 for key in other):
                return False
        elif actual[name] != expected[name]:
            return False
    return True


def _options(given: Mapping[str, Any], mode: FirstStep, *, strict: bool) -> Options:
    """Options as a caller of the listing writes them; an absent one has its default.

    By the listing null counts as 0 and everything else as it is; else null and what is no number have the default,
    and a limit below 0 is 0 (R9).
    """

    def number(name: str, default: float) -> float:
        value = given.get(name, default)
        if value is None and strict:
            return 0.0
        known = isinstance(value, int | float) and not isinstance(value, bool) and not math.isnan(value)
        return float(value) if known else default

    limit, semantic = number("limit", DEFAULT_LIMIT), given.get("useSemanticSearch", True)
    return Options(
        limit if strict else max(0.0, limit),
        number("semanticThreshold", DEFAULT_THRESHOLD),
        truthy(semantic) if strict else semantic is not False,
        mode,
        number("keywordBoost", 0.1),
        strict,
    )


def _entry(raw: Mapping[str, Any]) -> WorldEntry:
    return WorldEntry(
        raw["id"],
        raw.get("keys"),
        raw.get("content") or "",
        raw.get("comment") or "",
        raw.get("enabled"),
        raw.get("constant"),
        raw.get("selective"),
        raw.get("useRegex"),
        raw.get("position") or "",
        raw.get("insertionOrder"),
        tuple(raw.get("embedding") or ()),
    )


def _found(
    prepared: PreparedRanking, found: Retrieved, embedder: Mapping[str, Any], expected: Mapping[str, Any]
) -> dict[str, Any]:
    positions = {name: [entry.id for entry in group] for name, group in found.positions.items()}
    if "unplaced" in expected.get("positions", ()):
        placed = {entry.id for group in found.positions.values() for entry in group}
        positions["unplaced"] = [entry.id for entry in found.entries if entry.id not in placed]
    query = prepared.query_text
    asked = embedder.get("base_url", "http://embed.local/v1")
    ranks = found.way in {Way.HYBRID, Way.SEMANTIC_FIRST}
    known: dict[str, Any] = {
        "mode": str(found.way),
        "constant": [entry.id for entry in prepared.constants],
        "candidates": [entry.id for entry in prepared.candidates],
        "ids": [entry.id for entry in found.entries],
        "positions": positions,
    }
    if prepared.asks:
        known |= {
            "query_text": query,
            "query_text_length_utf16": length(query),
            "query_text_head": query[:_SHOWN],
            "query_text_tail": query[-30:],
            "request": {"url": embeddings_address(asked), "body": {"input": query, "model": embedder["model"]}},
        }
    if ranks:
        unscored = prepared.keyed.difference(found.scores)
        known |= {
            "scores": dict(found.scores),
            "top_k": [entry.id for entry in found.ranked],
            "unembedded": [entry.id for entry in prepared.candidates if entry.id in unscored],
            "dropped_as_duplicate": list(found.duplicates),
        }
    return known
