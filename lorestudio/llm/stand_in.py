"""The offline stand-in: it selects by shared words and writes by rules, so that everything works without a provider.

It stands in for a model and is no model: it knows words and their rarity, nothing of meaning (rules: offline-models 5).
The same request always gets the same answer. What it reads is the request alone, as a model would: to select, the
catalogue and the transcript in the user message, and in the instructions how many entries may be chosen; to write, the
parts that studio.proposals.planning and systems.recap.asking make.

A summary is the note's own first sentences, keys are its title, its other names, those it has and the names in it; a
recap is the first sentence of what is recapped, and a scene ends before a message that speaks of another time or place.
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

import regex
from msgspec import Struct

from lorestudio.domain.javascript import Json, head, length, trim
from lorestudio.domain.json_text import json_or_none, mapping_in, object_in, parse_json, spell, texts_in
from lorestudio.llm.errors import ErrorKind, LlmError
from lorestudio.llm.messages import (
    DRAFT,
    KEYS,
    PREFILTER,
    RECAP,
    RECAP_CHECK,
    RECAP_STAGES,
    REPLY,
    RUNNING_RECAP,
    SCENE_BREAK,
    SCENE_RECAP,
    SEARCH,
    SUMMARY,
    ChatReply,
    ChatRequest,
)

_WORDS: Final = """
    a about after again all also am an and any are as at away back be because been before being but by came can
    come could did do does don't down even ever every for from get go goes got had has have he her here hers him
    his how i if i'll i'm in into is it its it's just know let like look looked looks made make may me might
    more most much must my never no nor not now of off oh old on once one only or other our out over own right
    said say says see seem she should so some still such take than that that's the their them then there these
    they thing this those though through to too toward two under until up upon us very want was way we well went
    were what when where which while who whom whose why will with without would yes yet you your yours
"""
COMMON_WORDS: Final = frozenset(_WORDS.split())


WRITTEN: Final = "Written by rules on this computer, not by a model: it knows words and nothing of their meaning."

SUMMARY_LENGTH: Final = 600
MOST_KEYS: Final = 10
DRAFT_KEYS: Final = 5
DRAFT_SENTENCES: Final = 12
SHORTEST_KEY: Final = 3

_PART = regex.compile(r"^<(note|note_text|existing_titles|passage)>\n(.*?)\n</\1>$", regex.MULTILINE | regex.DOTALL)
_SENTENCE_END = regex.compile(r"(?=\s)(?<=[.!?…][\"'”’»)\]]*)\s+|\n+|(?<=[。！？])")
_SPEAKER = regex.compile(r"^([^\n]*?) \((?:user|character)\): ", regex.MULTILINE)
# One or more capitalised words, held together by a space or by a small word as in "Order of the Ninth Bell".
_CAPITALIZED = r"\p{Lu}[\p{L}\p{M}\p{N}]*(?:['’-][\p{L}\p{M}]+)*"
_NAME = regex.compile(
    rf"{_CAPITALIZED}(?: (?:(?:of|the|von|van|de|del|della|la|le|du|der|den) ){{0,2}}{_CAPITALIZED})*"
)
_LETTER = regex.compile(r"[\p{L}\p{N}]")
_MARKS = regex.compile(r"^[^\S\n]*(?:#+|[-*+]|\d+\.|>+)\s+|[*_`]{1,3}", regex.MULTILINE)


PLACEHOLDER: Final = "(A reply goes here. The offline stand-in holds its place; no model was asked.)"
"""What stands for the next message of a story, which no rule can write."""


def write_reply(_request: ChatRequest) -> str:
    """The placeholder."""
    return PLACEHOLDER


def write_summary(request: ChatRequest) -> str:
    """The first sentences of the note, as many as fit."""
    return first_sentences(_parts(request.user).get("note_text", ""), SUMMARY_LENGTH)


def suggest_keys(request: ChatRequest) -> str:
    """Title, other names, the keys of now, then the names in the note by how often they occur; as JSON object."""
    parts = _parts(request.user)
    fields = _fields(parts.get("note", ""))
    named = [name for name, _ in names_in(parts.get("note_text", "")).most_common()]
    own = [fields.get("Title", ""), *_listed(fields.get("Aliases", "")), *_listed(fields.get("Keys", ""))]
    keys = _distinct([*own, *named])[:MOST_KEYS]
    reasoning = "Title, other names and the keys of now, then the names in the note, those that occur most first."
    return spell({"suggested": keys, "reasoning": reasoning})


def write_draft(request: ChatRequest) -> str:
    """A note about the name that is spoken of most and has no note yet, of the sentences that hold it."""
    parts = _parts(request.user)
    passage = parts.get("passage", "")
    said = _SPEAKER.sub("", passage)
    taken = [*parts.get("existing_titles", "").split("\n"), *_SPEAKER.findall(passage)]
    names = [name for name, _ in names_in(said).most_common()]
    known = "\n".join(taken).casefold()
    titles = [name for name in names if not _speaks_of(name.casefold(), known)]
    if not titles:
        return spell({"title": "", "keys": [], "summary": "", "content": ""})
    title = titles[0]
    sentences = [sentence for sentence in sentences_of(said) if _speaks_of(title, sentence)][:DRAFT_SENTENCES]
    content = " ".join(sentences)
    keys = _distinct([title, *(name for name in names if any(_speaks_of(name, item) for item in sentences))])
    summary = first_sentences(content, SUMMARY_LENGTH)
    return spell({"title": title, "keys": keys[:DRAFT_KEYS], "summary": summary, "content": content})


def _parts(user: str) -> dict[str, str]:
    return {found[1]: found[2] for found in _PART.finditer(user)}


def _fields(text: str) -> dict[str, str]:
    lines = (line.partition(": ") for line in text.split("\n"))
    return {name: value for name, _, value in lines}


def _listed(text: str) -> list[str]:
    return [trim(item) for item in text.split(", ")]


def sentences_of(text: str) -> Iterator[str]:
    """The sentences of a text, without its marks."""
    plain = _MARKS.sub("", text)
    return (sentence for piece in _SENTENCE_END.split(plain) if piece and (sentence := trim(piece)))


def first_sentences(text: str, limit: int) -> str:
    """As many whole sentences as fit into `limit` code units; of a first one that does not fit, whole words."""
    found = ""
    for sentence in sentences_of(text):
        longer = f"{found} {sentence}" if found else sentence
        if length(longer) > limit:
            break
        found = longer
    if found or not trim(text):
        return found
    beginning = head(next(sentences_of(text), ""), limit)
    return beginning.rpartition(" ")[0] or beginning


def names_in(text: str) -> Counter[str]:
    """How often each name is spoken of; what is capitalised only because a sentence begins with it is none.

    A longer name that holds a shorter one counts for both, so that "Old Tam of the Ferry" speaks of "Old Tam" too.
    """
    counts: Counter[str] = Counter()
    opening: list[str] = []
    for sentence in sentences_of(text):
        for found in _NAME.finditer(sentence):
            name = regex.sub("['’]s$", "", found[0])
            if all(word.casefold() in COMMON_WORDS for word in name.split(" ")):
                continue
            if _LETTER.search(sentence, 0, found.start()):
                counts[name] += 1
            else:
                opening.append(name)
    known = set(counts)
    for name in opening:
        counted = name
        first, _, rest = name.partition(" ")
        if rest and (rest in known or (first.casefold() in COMMON_WORDS and not _begins_with_any(name, known))):
            counted = rest  # the first word only begins the sentence, as in "Ask Old Tam"
        if " " in counted or counted in known:
            counts[counted] += 1
    return Counter(
        {
            name: sum(count for other, count in counts.items() if f" {name} " in f" {other} ")
            for name in counts
            if length(name) >= SHORTEST_KEY
        }
    )


def _begins_with_any(name: str, known: set[str]) -> bool:
    return any(f"{name} ".startswith(f"{other} ") for other in known)


def _speaks_of(name: str, sentence: str) -> bool:
    return regex.search(rf"(?<!\w){regex.escape(name)}(?!\w)", sentence) is not None


def _distinct(names: list[str]) -> list[str]:
    """Without blanks and without what differs from an earlier one in case alone."""
    found: dict[str, str] = {}
    for name in names:
        if trim(name):
            found.setdefault(name.casefold(), name)
    return list(found.values())


MESSAGE_LENGTH: Final = 160
SCENE_LENGTH: Final = 700
RUNNING_LENGTH: Final = 4000
MOST_EXTRACTS: Final = 12

_SCENE_BLOCK = re.compile(r"^\[(?:USER|CHARACTER): ([^\n]*)\]\n", re.MULTILINE)
_NUMBERED_MESSAGE = re.compile(r"^Message #(\d+|invalid choice) \[(?:USER|CHARACTER)\]: ", re.MULTILINE)
_ELSEWHERE = re.compile(
    r"\b(?:next (?:morning|day|night|evening|week)|(?:hours|days|weeks|months|years) later"
    r"|later that (?:day|night|evening)|the following (?:day|morning|night)|at dawn|at dusk|the morning after"
    r"|by (?:morning|evening|nightfall)"
    r"|(?:arrived?|returned?|came back) (?:at|in|to))\b",
    re.IGNORECASE,
)


def message_recap(request: ChatRequest) -> str:
    """The first sentences of the message, with its speaker."""
    speaker, found, text = request.user.partition(": ")
    if not found or "\n" in speaker or length(speaker) > 60:
        return first_sentences(request.user, MESSAGE_LENGTH)
    return f"{speaker}: {first_sentences(text, MESSAGE_LENGTH)}"


def scene_recap(request: ChatRequest) -> str:
    """The first sentence of each message, named after what is spoken of most."""
    told = _told(request.user)
    return spell({"sn": _name(request.user), "recap": _cut(" ".join(told), SCENE_LENGTH)})


def running_recap(request: ChatRequest) -> str:
    """What was there, and below it what is new; too long a text loses its beginning."""
    before = [text for role, text in request.before if role == "user"]
    text = "\n\n".join(trim(part) for part in (*before, request.user) if trim(part))
    if length(text) <= RUNNING_LENGTH:
        return text
    kept = text[-RUNNING_LENGTH:]
    return kept[kept.find(" ") + 1 :]


def scene_break(request: ChatRequest) -> str:
    """The first choice whose next message speaks of another time or place; where one is a must, else the last one."""
    found = list(_NUMBERED_MESSAGE.finditer(request.user))
    ends = [*(item.start() for item in found[1:]), len(request.user)]
    texts = [request.user[item.end() : end] for item, end in zip(found, ends, strict=True)]
    choices = [(place, int(item[1])) for place, item in enumerate(found) if item[1].isdigit()]
    for place, number in choices:
        following = texts[place + 1] if place + 1 < len(texts) else ""
        if cue := _ELSEWHERE.search(following):
            return spell({"sceneBreakAt": number, "rationale": f"the next message says “{cue[0]}”"})
    if choices and "have to choose" in request.system:
        return spell({"sceneBreakAt": choices[-1][1], "rationale": "nothing speaks of another time, so the last one"})
    return spell({"sceneBreakAt": False, "rationale": "no message speaks of another time or place"})


def approval(request: ChatRequest) -> str:
    """Whatever has words is sound."""
    return "VALID" if re.search(r"\w", request.user) else "INVALID"


def extracts(request: ChatRequest) -> str:
    """The first sentence of each message."""
    told: list[Json] = list(_told(request.user)[:MOST_EXTRACTS])
    return spell({"sn": _name(request.user), "extracted": told})


def organised(request: ChatRequest) -> str:
    """All extracts as outcomes, and what they name as entities."""
    given = mapping_in(json_or_none(request.user))
    texts = texts_in(given.get("extracted"))
    names = [name for name, _ in names_in(" ".join(texts)).most_common(3)]
    entities: list[Json] = [
        {"type": "unknown", "name": name, "keywords": [name], "content": [text for text in texts if name in text]}
        for name in names
    ]
    outcomes: list[Json] = list(texts)
    recap: dict[str, Json] = {"outcomes": outcomes, "threads": [], "state": []}
    return spell({"sn": given.get("sn", ""), "recap": recap, "entities": entities})


def news(request: ChatRequest) -> str:
    """The outcomes that the running record does not have word for word."""
    before = "\n".join(text for role, text in request.before if role == "user")
    recap = object_in(mapping_in(json_or_none(request.user)), "recap")
    new: list[Json] = [text for text in texts_in(recap.get("outcomes")) if text not in before]
    return spell({"developments": new, "open": [], "state": [], "resolved": []})


def kept_entities(request: ChatRequest) -> str:
    """All of them."""
    try:
        return spell({"entities": parse_json(request.user)})
    except ValueError:
        return spell({"entities": []})


WRITERS: Final[Mapping[str, Callable[[ChatRequest], str]]] = {
    SUMMARY: write_summary,
    KEYS: suggest_keys,
    DRAFT: write_draft,
    RECAP: message_recap,
    SCENE_RECAP: scene_recap,
    RUNNING_RECAP: running_recap,
    SCENE_BREAK: scene_break,
    RECAP_CHECK: approval,
    REPLY: write_reply,
    **dict(zip(RECAP_STAGES, (extracts, organised, news, kept_entities), strict=True)),
}
"""By kind of request; each gives the text of the reply."""


def _told(scene: str) -> list[str]:
    """For each message of a scene its first sentence."""
    parts = _SCENE_BLOCK.split(scene)
    texts = parts[2::2] if len(parts) > 2 else [scene]
    return [_cut(sentence, MESSAGE_LENGTH) for text in texts if (sentence := next(sentences_of(text), ""))]


def _name(scene: str) -> str:
    parts = _SCENE_BLOCK.split(scene)
    speakers = set(parts[1::2])
    names = (name for name, _ in names_in(" ".join(parts[2::2])).most_common() if name not in speakers)
    return next(names, "Scene")


def _cut(text: str, limit: int) -> str:
    return text if length(text) <= limit else f"{head(text, limit - 1).rstrip()}…"


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


class Catalogue(Struct, frozen=True):
    """Items in their order; `places` of those that have a word, its `rarity`, and the `length` of each item."""

    items: Sequence[Item]
    places: Mapping[str, Sequence[int]]
    rarity: Mapping[str, float]
    lengths: Sequence[float]

    @staticmethod
    def of(items: Sequence[Item]) -> Catalogue:
        """Of items. A word is rare by log(1 + items / items with it)."""
        places: defaultdict[str, list[int]] = defaultdict(list)
        for place, item in enumerate(items):
            for word in item.weights:
                places[word].append(place)
        rarity = {word: math.log(1 + len(items) / len(those)) for word, those in places.items()}
        squares = (math.fsum((part * rarity[word]) ** 2 for word, part in item.weights.items()) for item in items)
        return Catalogue(items, dict(places), rarity, [math.sqrt(square) for square in squares])


class RankedItem(Struct, frozen=True):
    """An item that shares words with the conversation, and what each of them is worth."""

    item: Item
    score: float
    worth: Mapping[str, float]

    @property
    def words(self) -> list[str]:
        """The words they share by falling worth."""
        return sorted(self.worth, key=lambda word: (-self.worth[word], word))


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
    chosen = {choice.item.name for choice in rank(Catalogue.of(items), conversation_weights(transcript))}
    return [item.name for item in items if item.name in chosen]


def rank(catalogue: Catalogue, said: Mapping[str, float]) -> list[RankedItem]:
    """The items that share a word with the conversation, the best first, equal ones in their own order.

    A word counts by its weight on both sides and by its rarity; the sum is divided by the fourth root of the item's
    squared length, which holds long descriptions back without burying them.
    """
    shared: defaultdict[int, dict[str, float]] = defaultdict(dict)
    for word, weight in said.items():
        for place in catalogue.places.get(word, ()):
            shared[place][word] = weight * catalogue.items[place].weights[word] * catalogue.rarity[word]
    choices = [
        RankedItem(catalogue.items[place], math.fsum(worth.values()) / math.sqrt(catalogue.lengths[place]), worth)
        for place, worth in sorted(shared.items())
    ]
    return sorted(choices, key=lambda choice: -choice.score)


def confidence(choice: RankedItem, best: float) -> str:
    """By the share of the best score; `high` is only for an entry of whose title a word was said."""
    if choice.score >= HIGH_SHARE * best and not choice.item.title_words.isdisjoint(choice.worth):
        return "high"
    return "medium" if choice.score >= MEDIUM_SHARE * best else "low"


@lru_cache(maxsize=1)  # in AI-only mode the catalogue is large and the same turn after turn
def read_catalogue(text: str) -> Catalogue:
    """The entries of a manifest (rules: deeplore 4.5)."""
    items = []
    heads = list(_ENTRY.finditer(text))
    for number, heading in enumerate(heads):
        end = heads[number + 1].start() if number + 1 < len(heads) else len(text)
        body = text[heading.end() : end].rstrip().removesuffix("</entry>")
        title = html.unescape(heading[1])
        first, _, description = body.partition("\n")
        found = _HEAD.fullmatch(first.removeprefix(title))
        links = (found["links"] or "") if found else first
        items.append(_item(title, description, title, links))
    return Catalogue.of(items)


def conversation_weights(transcript: str) -> dict[str, float]:
    """The words of a conversation and how much each weighs; a word's messages add up."""
    weights: defaultdict[str, float] = defaultdict(float)
    lines = list(_SPEAKER.finditer(transcript))
    background = transcript[: lines[0].start()] if lines else transcript
    _add(weights, background, BACKGROUND_WEIGHT)
    weight = 1.0
    for number in range(len(lines) - 1, -1, -1):
        line = lines[number]
        end = lines[number + 1].start() if number + 1 < len(lines) else len(transcript)
        _add(weights, transcript[line.end() : end], weight)
        _add(weights, line[1], SPEAKER_WEIGHT * weight)
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
