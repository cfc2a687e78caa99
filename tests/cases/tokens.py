"""Cases of token counts: a text, tokenizer files beside the file of cases, and the counts in each way."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lorestudio.domain.tokens import BYTES_3_35, CHARS_4
from lorestudio.llm.tokenizers import TokenizerCounter, Way, read_tokenizer
from tests.cases.runner import Case

ESTIMATES = {each.name: each for each in (CHARS_4, BYTES_3_35)}
WAYS = {"counts": Way.MODEL, "sillytavern_chat": Way.CHAT, "sillytavern_plain": Way.PLAIN}


def cases_in(document: Any, folder: Path) -> Iterator[Case]:
    """The cases, each with where its files lie and the counts that are expected."""
    for case in document["cases"]:
        expected = {way: case[way] for way in WAYS if way in case}
        yield {"id": case["name"], "folder": folder, "text": text_of(case), "expected": expected}


def text_of(case: Case) -> str:
    """The text, written out where the file says how often it is repeated."""
    text, times = case["repeat"] if "repeat" in case else (case["text"], 1)
    return str(text) * int(times)


def outcome(case: Case) -> Any:
    """The counts of the text, by way and file."""
    return {
        way: {name: _count(case["folder"], name, WAYS[way], case["text"]) for name in counts}
        for way, counts in case["expected"].items()
    }


def _count(folder: Path, name: str, way: Way, text: str) -> int:
    if name in ESTIMATES:
        return ESTIMATES[name].count(text)
    places = (folder / name, folder / "fixtures" / name)
    path = next((place for place in places if place.exists()), places[0])
    return TokenizerCounter(read_tokenizer(path), way).count(text)
