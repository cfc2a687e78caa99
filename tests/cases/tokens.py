"""Cases of token counts: a text, tokenizer files beside the file of cases, and the counts in each way."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lorestudio.domain.records import replace
from lorestudio.domain.tokens import BYTES_3_35, CHARS_4
from lorestudio.llm.tokenizers import CountingWay, TokenizerCounter, read_tokenizer
from tests.cases.runner import Case

ESTIMATES = {each.name: each for each in (CHARS_4, BYTES_3_35)}
WAYS = {"counts": CountingWay.MODEL, "sillytavern_chat": CountingWay.CHAT, "sillytavern_plain": CountingWay.PLAIN}


def cases_in(document: Any, folder: Path) -> Iterator[Case]:
    """The cases, each with where its files lie and the counts that are expected."""
    special = tuple(document.get("rank_file_special", ()))
    for case in document["cases"]:
        expected = {way: case[way] for way in WAYS if way in case}
        text = text_of(case)
        yield {"id": case["name"], "folder": folder, "special": special, "text": text, "expected": expected}


def text_of(case: Case) -> str:
    """The text, written out where the file says how often it is repeated."""
    text, times = case["repeat"] if "repeat" in case else (case["text"], 1)
    return str(text) * int(times)


def outcome(case: Case) -> Any:
    """The counts of the text, by way and file."""
    return {way: {name: _count(case, name, WAYS[way]) for name in counts} for way, counts in case["expected"].items()}


def _count(case: Case, name: str, way: CountingWay) -> int:
    if name in ESTIMATES:
        return ESTIMATES[name].count(case["text"])
    places = (case["folder"] / name, case["folder"] / "fixtures" / name)
    tokenizer = read_tokenizer(next((place for place in places if place.exists()), places[0]))
    if name.endswith(".tiktoken") and case["special"]:  # which a file of ranks does not hold
        tokenizer = replace(tokenizer, special=case["special"])
    return TokenizerCounter(tokenizer, way).count(case["text"])
