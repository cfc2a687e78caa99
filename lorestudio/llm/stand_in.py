"""The offline stand-in: a local selector by shared words, so that the whole pipeline works without a provider.

It stands in for a model and is no model: it knows words and their rarity, nothing of meaning (rules: offline-models 5).
The same request always gets the same answer. What it reads is the request alone, as a model would: the catalogue and
the transcript in the user message, and in the instructions how many entries may be chosen.
"""

from __future__ import annotations

import asyncio
import html
import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final

from msgspec import Struct

from lorestudio.domain.javascript import Json
from lorestudio.domain.json_text import spell
from lorestudio.llm.errors import ErrorKind, LlmError
from lorestudio.llm.messages import PREFILTER, SEARCH, ChatReply, ChatRequest
from lorestudio.llm.stand_in_writing import COMMON_WORDS, WRITERS, WRITTEN

TITLE_WEIGHT: Final = 3.0
LINK_WEIGHT: Final = 1.5
SPEAKER_WEIGHT: Final = 0.3
BACKGROUND_WEIGHT: Final = 0.15
FADING: Final = 0.5
"""A word of the last message weighs 1, of the one before half of that, and so on."""

LEAST_SHARE: Final = 0.15
MEDIUM_SHARE: Final = 0.35
HIGH_SHARE: Final = 0.6
REASON_WORDS: Final = 5

_CATALOGUE = re.compile(
    r"^<available_lore_entries>\n(.*?)\n</available_lore_entries>$", re.MULTILINE | re.DOTALL | re.IGNORECASE
)
_TRANSCRIPT = re.compile(
    r"^<recent_chat_transcript>\n(.*?)\n</recent_chat_transcript>$", re.MULTILINE | re.DOTALL | re.IGNORECASE
)
_ENTRY = re.compile(r'^<entry name="([^"\n]*)">\n', re.MULTILINE)
_HEAD = re.compile(r" \(-?[\d.]+tok\)(?: → (?P<links>.*?))?(?: \[(?:STALE|FREQUENT)\b[^\]]*\])?")
_MESSAGE = re.compile(r"^(?P<name>[^\n]*?) \((?:user|character)\): ", re.MULTILINE)
_CATEGORY = re.compile(r"^\[(?P<name>.*)\] \(\d+ entries\): (?P<titles>.*?)(?: \(\+\d+ more\))?$", re.MULTILINE)
_COUNT = re.compile(
    r"\b(?:up to|at most|no more than|maximum(?: of)?|exactly|select|choose|pick)\s+(\d+)\s+(?:\w+\s+){0,2}?"
    r"(?:entr|item|title|record|note|lore)",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")


class Item(Struct, frozen=True):
    """Something to choose: its name, its words with their weights, and how it spells them."""

    name: str
    title_words: frozenset[str]
    weights: Mapping[str, float]
    spellings: Mapping[str, str]


class RankedItem(Struct, frozen=True):
    """An item that shares words with the conversation; `words` by falling weight."""

    item: Item
    score: float
    words: tuple[str, ...]


class StandInAnswers(Struct, frozen=True):
    """Answers selections of entries and of categories, proposals and recaps, and holds the place of a reply."""

    name: str = "stand-in"
    label: str = "offline stand-in"

    async def answer(self, request: ChatRequest) -> ChatReply:
        """A choice as JSON, a proposal, a recap or a placeholder.

        Raises LlmError of kind `not_supported` for other requests.
        """
        write = WRITERS.get(request.kind)
        if write is not None:
            text = await asyncio.to_thread(write, request)
            return ChatReply(text, source=self.label, finish="stop", notes=(WRITTEN,), repeatable=True)
        select = _SELECTORS.get(request.kind)
        if select is None:
            raise LlmError(
                ErrorKind.NOT_SUPPORTED,
                f"the offline stand-in cannot answer a request of kind {request.kind}",
                advice="It only chooses entries, makes proposals and recaps. Choose a provider, or type the answer.",
            )
        # Large catalogues take a moment.
        text = spell(await asyncio.to_thread(select, request))
        note = "Chosen by shared words on this computer, not by a model."
        return ChatReply(text, source=self.label, finish="stop", notes=(note,), repeatable=True)


def select_entries(request: ChatRequest) -> Json:
    """The entries of the catalogue that share most with the conversation, as a list of selections."""
    catalogue = _CATALOGUE.search(request.user)
    transcript = _TRANSCRIPT.search(request.user, catalogue.end() if catalogue else 0)
    if not catalogue or not transcript:
        return []
    instructions = request.system or request.user[: catalogue.start()]
    said = conversation_weights(transcript[1])
    choices = rank(read_catalogue(catalogue[1]), said)
    limit = min((int(count) for count in _COUNT.findall(instructions)), default=len(choices))
    best = choices[0].score if choices else 0.0
    return [
        {
            "title": choice.item.name,
            "confidence": confidence(choice, best),
            "reason": f"shares: {', '.join(choice.item.spellings[word] for word in choice.words[:REASON_WORDS])}",
        }
        for choice in choices[:limit]
        if choice.score >= LEAST_SHARE * best
    ]


def select_categories(request: ChatRequest) -> Json:
    """The categories with any word in common with the conversation, as a list of names."""
    data = request.user.partition("## Categories\n")[2]
    categories, _, transcript = data.partition("\n\n## Recent Chat\n")
    items = [_item(found["name"], found["titles"], "", "") for found in _CATEGORY.finditer(categories)]
    chosen = {choice.item.name for choice in rank(items, conversation_weights(transcript))}
    return [item.name for item in items if item.name in chosen]


def rank(items: Sequence[Item], said: Mapping[str, float]) -> list[RankedItem]:
    """The items that share a word with the conversation, the best first, equal ones in their own order.

    A word counts by its weight on both sides and by its rarity, log(1 + items / items with it); the sum is divided by
    the fourth root of the item's squared length, which holds long descriptions back without burying them.
    """
    frequency = Counter(word for item in items for word in item.weights)
    rarity = {word: math.log(1 + len(items) / count) for word, count in frequency.items()}
    choices = []
    for item in items:
        shared = {word: said[word] * weight * rarity[word] for word, weight in item.weights.items() if word in said}
        if shared:
            length = math.sqrt(math.fsum((weight * rarity[word]) ** 2 for word, weight in item.weights.items()))
            words = tuple(sorted(shared, key=lambda word: (-shared[word], word)))
            choices.append(RankedItem(item, math.fsum(shared.values()) / math.sqrt(length), words))
    return sorted(choices, key=lambda choice: -choice.score)


def confidence(choice: RankedItem, best: float) -> str:
    """By the share of the best score; `high` is only for an entry of whose title a word was said."""
    if choice.score >= HIGH_SHARE * best and not choice.item.title_words.isdisjoint(choice.words):
        return "high"
    return "medium" if choice.score >= MEDIUM_SHARE * best else "low"


@lru_cache(maxsize=1)  # in AI-only mode the catalogue is large and the same turn after turn
def read_catalogue(text: str) -> tuple[Item, ...]:
    """The entries of a manifest (rules: deeplore 4.5)."""
    items = []
    heads = list(_ENTRY.finditer(text))
    for number, head in enumerate(heads):
        end = heads[number + 1].start() if number + 1 < len(heads) else len(text)
        body = text[head.end() : end].rstrip().removesuffix("</entry>")
        title = html.unescape(head[1])
        first, _, description = body.partition("\n")
        found = _HEAD.fullmatch(first.removeprefix(title))
        links = (found["links"] or "") if found else first
        items.append(_item(title, description, title, links))
    return tuple(items)


def conversation_weights(transcript: str) -> dict[str, float]:
    """The words of a conversation and how much each weighs; a word's messages add up."""
    weights: defaultdict[str, float] = defaultdict(float)
    lines = list(_MESSAGE.finditer(transcript))
    background = transcript[: lines[0].start()] if lines else transcript
    _add(weights, background, BACKGROUND_WEIGHT)
    weight = 1.0
    for number in range(len(lines) - 1, -1, -1):
        line = lines[number]
        end = lines[number + 1].start() if number + 1 < len(lines) else len(transcript)
        _add(weights, transcript[line.end() : end], weight)
        _add(weights, line["name"], SPEAKER_WEIGHT * weight)
        weight *= FADING
    return dict(weights)


def words(text: str) -> Iterator[tuple[str, str]]:
    """The words that can tell subjects apart, each with its spelling; common ones are left out.

    Words that differ in case, accents, possessive or plural s are the same. Scripts without spaces give pairs of
    characters.
    """
    if not text.isascii():
        plain = "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))
        text = unicodedata.normalize("NFC", plain)
    for found in _WORD.finditer(text.casefold()):
        word = found[0].replace("’", "'")
        if word in COMMON_WORDS:
            continue
        if _CJK.search(word):
            yield from ((word[place : place + 2],) * 2 for place in range(max(1, len(word) - 1)))
            continue
        spelling = word = word.removesuffix("'s")
        if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
            word = word[:-1]
        if len(word) > 1 and word not in COMMON_WORDS:
            yield word, spelling


@lru_cache(maxsize=1024)  # of an edited vault's catalogue, all but one entry are the same as before
def _item(name: str, description: str, title: str, links: str) -> Item:
    """An item; several occurrences in the description count by their square root."""
    spellings: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for word, spelling in words(description):
        counts[word] += 1
        spellings.setdefault(word, spelling)
    weights = {word: math.sqrt(count) for word, count in counts.items()}
    linked, titled = dict(words(links)), dict(words(title or name))
    for part, weight in ((linked, LINK_WEIGHT), (titled, TITLE_WEIGHT)):
        for word in part:
            weights[word] = weights.get(word, 0.0) + weight
    return Item(name, frozenset(titled), weights, spellings | linked | titled)


def _add(weights: defaultdict[str, float], text: str, weight: float) -> None:
    for word in dict(words(text)):
        weights[word] += weight


_SELECTORS: Final[Mapping[str, Callable[[ChatRequest], Json]]] = {SEARCH: select_entries, PREFILTER: select_categories}
