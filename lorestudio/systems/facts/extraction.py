"""Drawing facts out of a conversation: the prompt, the reply, and a second look by a model (rules: fact-memory 5, 6).

Without a model plain rules draw them out. Tags by words in the text are about health, as in the original
(rules: fact-memory 5.6).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from lorestudio.domain.javascript import Json, to_string, trim, truthy
from lorestudio.domain.json_text import decoded, json_or_none, mapping_in, objects_in, texts_in
from lorestudio.domain.patterns import own_pattern
from lorestudio.domain.resources import prompt_text
from lorestudio.llm.embedding import Embedder, Vector
from lorestudio.llm.errors import ErrorKind, LlmError
from lorestudio.llm.messages import FACTS, FACTS_REVIEW, AnswerSource, ChatReply, ChatRequest
from lorestudio.llm.redaction import cut
from lorestudio.systems.facts.records import (
    CONFIRMED,
    INFERRED,
    NO_FIELD,
    PROFILE_FIELDS,
    PROFILE_KEYS,
    Fact,
    Line,
    Memory,
)

GENERAL: Final = "general"

_WORDS: Final = {
    "medication": (
        "medication|medicine|drug|prescription|dose|dosage|pill|tablet|mg|aspirin|metformin|insulin|antibiotic|"
        "supplement|vitamin"
    ),
    "condition": (
        "diabetes|hypertension|asthma|allergy|allergic|diagnosis|condition|disease|disorder|syndrome|symptom|pain|"
        "chronic|cancer|anxiety|depression|blood pressure"
    ),
    "vital": (
        "a1c|hba1c|hemoglobin|blood pressure|bp|systolic|diastolic|blood sugar|glucose|blood glucose|weight|bmi|"
        "body mass|heart rate|pulse|bpm|cholesterol|ldl|hdl|triglycerides"
    ),
    "lifestyle": (
        "exercise|workout|diet|sleep|walk|run|gym|yoga|meditation|smoke|smoking|alcohol|drink|weight|calorie|vegan|"
        "vegetarian"
    ),
    "preference": "prefer|like|dislike|favorite|want|enjoy|love|hate|rather|choose",
    "social": (
        "family|friend|wife|husband|partner|child|children|parent|mother|father|sibling|brother|sister|colleague|"
        "doctor|therapist"
    ),
}


def tags_of(text: str) -> tuple[str, ...]:
    """The tags whose words occur in the text, `general` where none does. Inflected words are other words."""
    low = text.lower()
    return tuple(tag for tag, words in _WORDS.items() if own_pattern(rf"\b(?:{words})\b").search(low)) or (GENERAL,)


KEYWORDS: Final = "keywords"
MODEL: Final = "model"

CONVERSATION: Final = "{conversation}"
SESSION_DATE: Final = "{sessionDate}"

_SHOWN: Final = 200
_DOLLAR: Final = re.compile(r"\$([$&`'])")
_OPENING: Final = re.compile(r"\A```(?:json)?\n?")
_CLOSING: Final = re.compile(r"\n?```\Z")
_LONGEST_SCRAP: Final = 10
_CUES: Final = r"\b(?:I|my|prefer|work|use|like|am|have|need|want)\b"
_ENDS: Final = re.compile(r"[.!?\n]+")


def conversation(lines: Sequence[Line]) -> str:
    """The lines as models read them, one `role: text` each (rules: fact-memory 5.1)."""
    return "\n".join(f"{line.role}: {line.told}" for line in lines)


def filled(template: str, lines: Sequence[Line], session_date: str, *, strict: bool) -> str:
    """The prompt with its slots filled (rules: fact-memory 5.3; in strict mode with JavaScript's dollar signs and
    second pass).
    """
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
    """The items of a model's reply (rules: fact-memory 5.4). Raises ValueError for one that is no JSON."""
    text = "{}" if reply is None else reply
    if not strict:
        text = trim(text)
    text = trim(_CLOSING.sub("", _OPENING.sub("", text)))
    for parsed in decoded(text):
        return validated(parsed)
    raise ValueError(f"the reply with the facts is no JSON: {cut(text, _SHOWN)}")


def validated(parsed: Json) -> tuple[dict[str, Json], ...]:
    """The usable items of a reply, each with its known fields; a bad one never affects another
    (rules: fact-memory 5.5).
    """
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
    """Facts from whatever an extractor returned (rules: fact-memory 5.6). Raises ValueError in strict mode for an odd
    item.
    """
    if not isinstance(raw, list | tuple):
        if strict:
            raise ValueError("the extractor returned no list")
        return ()
    facts: list[Fact] = []
    for item in raw:
        content = item.get("content") if isinstance(item, Mapping) else None
        if not isinstance(item, Mapping) or not isinstance(content, str):
            if strict:
                raise ValueError("an extracted item has no text")
            continue
        text = trim(content)
        if not text:
            continue
        source = CONFIRMED if item.get("source") == CONFIRMED else INFERRED
        profile = {key: item[key] for key in PROFILE_KEYS if key in item}
        facts.append(Fact(text, source, _tags(text, item.get("tags"), tagging), profile))
    return tuple(facts)


def _tags(text: str, given: Json, tagging: str) -> list[Json]:
    own = [tag for tag in texts_in(given) if trim(tag)] if tagging != KEYWORDS else []
    found = list(tags_of(text)) if tagging != MODEL else []
    tags = list(dict.fromkeys([*own, *(tag for tag in found if tag != GENERAL)]))
    return [*tags] or [GENERAL]


def extract_simple(lines: Sequence[Line]) -> tuple[Fact, ...]:
    """Facts without a model: sentences that hold one of a few words about oneself (rules: fact-memory 5.7)."""
    facts: list[Fact] = []
    for line in lines:
        if line.role == "system":
            continue
        source = CONFIRMED if line.role == "user" else INFERRED
        facts += [
            Fact(piece, source, list(tags_of(piece)))
            for piece in map(trim, _ENDS.split(line.content))
            if len(piece) > _LONGEST_SCRAP and own_pattern(_CUES, "i").search(piece)
        ]
    return tuple(facts)


def extraction_prompt(own: str = "", *, structured: bool = False) -> str:
    """The prompt with its slots, the person's own where there is one."""
    if own:
        return own
    names = ("extraction", "structured") if structured else ("extraction",)
    return "\n\n".join([*(prompt_text("facts", name) for name in names), f"The conversation:\n{CONVERSATION}\n"])


MAX_TOKENS: Final = 4096
TIMEOUT_MS: Final = 120_000


def chat_request(
    template: str, lines: Sequence[Line], session_date: str, *, strict: bool = False, model: str = ""
) -> ChatRequest:
    """The request for the facts of these lines (rules: fact-memory 5.3, 5.4)."""
    prompt = filled(template, lines, session_date, strict=strict)
    return ChatRequest(FACTS, "", prompt, max_tokens=MAX_TOKENS, timeout_ms=TIMEOUT_MS, model=model, json_object=True)


class _Embedding(Struct, frozen=True):
    embedder: Embedder

    async def embed(self, text: str) -> Vector:
        """The vector of a text. Raises LlmError."""
        return (await self.embedder.embed([text]))[0]


class AskedModel(_Embedding, frozen=True):
    """A model that is asked through an answer source. `prompt` replaces the built-in."""

    answers: AnswerSource
    prompt: str = ""
    structured: bool = False
    strict: bool = False
    model: str = ""

    async def extract(self, lines: Sequence[Line], session_date: str) -> Json:
        """The validated items of the model's reply. Raises LlmError, also for an empty one, and ValueError where it is
        no JSON.
        """
        template = extraction_prompt(self.prompt, structured=self.structured)
        request = chat_request(template, lines, session_date, strict=self.strict, model=self.model)
        reply = await self._asked(request)
        if reply.value is not None:
            return validated(reply.value)
        if reply.is_empty:
            raise reply.empty_error
        try:
            return read_reply(reply.text, strict=self.strict)
        except ValueError as error:
            raise ValueError(". ".join((str(error), *reply.notes))) from None

    async def review(self, system: str, user: str) -> str | None:
        """The model's answer. Raises LlmError."""
        request = ChatRequest(FACTS_REVIEW, system, user, MAX_TOKENS, TIMEOUT_MS, model=self.model, json_object=True)
        return (await self._asked(request)).text

    async def _asked(self, request: ChatRequest) -> ChatReply:
        """The reply; in safe mode without what the model thought first, which is no JSON."""
        reply = await self.answers.answer(request)
        return reply if self.strict else reply.without_thinking()


class PlainModel(_Embedding, frozen=True):
    """Facts by plain rules, without a model (rules: fact-memory 5.7). It reviews nothing."""

    async def extract(self, lines: Sequence[Line], session_date: str) -> Json:
        """Sentences that hold one of a few words about oneself."""
        del session_date  # the rules write no dates
        return [fact.data for fact in extract_simple(lines)]

    async def review(self, system: str, user: str) -> str | None:
        """There is nobody to look at the facts again."""
        raise LlmError(ErrorKind.NOT_SUPPORTED, "the offline rules review nothing")


KEEP: Final = "keep"
ENRICH: Final = "enrich"
REMOVE: Final = "remove"
_ACTIONS: Final = (KEEP, ENRICH, REMOVE)
_RESOLUTIONS: Final = ("keep_new", "keep_existing", "merge")
_REVIEW_OPENING: Final = re.compile(r"\A```(?:json)?[\s\ufeff]*?\n?")
_REVIEW_CLOSING: Final = re.compile(r"[\s\ufeff]*```[\s\ufeff]*\Z")


class Corrected(Struct, frozen=True):
    """What the reviewer says of one fact."""

    fact: Fact
    action: str
    reason: Json = None


class Conflict(Struct, frozen=True):
    """A new fact and a memory that contradict each other; it is counted and shown, nothing is resolved
    (rules: fact-memory 6.3).
    """

    new_fact: str
    existing: str
    resolution: str


class Review(Struct, frozen=True):
    """A reviewer's answer."""

    corrected: tuple[Corrected, ...] = ()
    missed: tuple[Fact, ...] = ()
    conflicts: tuple[Conflict, ...] = ()

    @property
    def facts(self) -> tuple[Fact, ...]:
        """The facts after the review."""
        return (*(each.fact for each in self.corrected if each.action != REMOVE), *self.missed)

    @property
    def counts(self) -> dict[str, Json]:
        """What the review came to, as JSON (rules: fact-memory 4.1)."""
        actions = [each.action for each in self.corrected]
        return {
            "factsModified": actions.count(ENRICH),
            "factsRemoved": actions.count(REMOVE),
            "missedFactsAdded": len(self.missed),
            "conflictsFound": len(self.conflicts),
        }


def payload(facts: Sequence[Fact], memories: Sequence[Memory], lines: Sequence[Line]) -> str:
    """What the reviewer is shown, as indented JSON (rules: fact-memory 6.1)."""
    shown: dict[str, Json] = {
        "extractedFacts": [fact.data for fact in facts],
        "existingMemories": [{"content": memory.content, "source": memory.source} for memory in memories],
        "conversation": [line.said for line in lines],
    }
    return json.dumps(shown, indent=2, ensure_ascii=False)


def read_review(reply: str | None, facts: Sequence[Fact], *, strict: bool) -> Review:
    """The reviewer's answer, the facts as they were where it cannot be read or, in safe mode, names none of them.

    `reply` None stands for a call that failed.
    """
    parsed = _parsed(reply)
    if not isinstance(parsed, Mapping | list):
        return unreviewed(facts, strict=strict)
    members = mapping_in(parsed)
    corrected = tuple(_corrected(objects_in(members.get("correctedFacts"))))
    missed = tuple(_fact(item) for item in objects_in(members.get("missedFacts")) if _usable(item))
    conflicts = tuple(_conflicts(objects_in(members.get("conflicts"))))
    if not strict and facts and not corrected:
        corrected = unreviewed(facts, strict=False).corrected
    return Review(corrected, missed, conflicts)


def unreviewed(facts: Sequence[Fact], *, strict: bool) -> Review:
    """Every fact kept (rules: fact-memory 6.4; strict mode spells profile values out as text and drops an empty
    key).
    """
    return Review(tuple(Corrected(_spelled(fact) if strict else fact, KEEP) for fact in facts))


def _spelled(fact: Fact) -> Fact:
    profile = {key: value for key, value in fact.profile.items() if key == "profileValue" or truthy(value)}
    if profile.get("profileValue") is not None:
        profile["profileValue"] = to_string(profile["profileValue"])
    return Fact(fact.content, fact.source, fact.tags, profile)


def _parsed(reply: str | None) -> Json:
    if reply is None:
        return None
    text = trim(reply)
    if text.startswith("```"):
        text = trim(_REVIEW_CLOSING.sub("", _REVIEW_OPENING.sub("", text)))
    return json_or_none(text)


def _usable(item: Mapping[str, Json]) -> bool:
    content = item.get("content")
    return isinstance(content, str) and bool(trim(content))


def _fact(item: Mapping[str, Json]) -> Fact:
    source = CONFIRMED if item.get("source") == CONFIRMED else INFERRED
    tags = item.get("tags") if truthy(item.get("tags")) else None
    profile = {key: item[key] for key in PROFILE_KEYS if key in item and (key == "profileValue" or truthy(item[key]))}
    return Fact(trim(str(item["content"])), source, tags, profile)


def _corrected(items: list[Mapping[str, Json]]) -> Iterator[Corrected]:
    for item in items:
        if _usable(item):
            action, reason = item.get("action"), item.get("reason")
            yield Corrected(
                _fact(item), action if isinstance(action, str) and action in _ACTIONS else KEEP,
                reason if truthy(reason) else None,
            )  # fmt: skip


def _conflicts(items: list[Mapping[str, Json]]) -> Iterator[Conflict]:
    for item in items:
        new, existing, resolution = item.get("newFact"), item.get("existingMemory"), item.get("resolution")
        if isinstance(new, str) and isinstance(existing, str):
            known = isinstance(resolution, str) and resolution in _RESOLUTIONS
            yield Conflict(new, existing, str(resolution) if known else _RESOLUTIONS[0])
