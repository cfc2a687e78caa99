"""What the offline stand-in answers where recap memory asks a model.

A recap is the first sentence of what is recapped; a scene ends before a message that speaks of another time or place.
What it reads is the request alone (its parts: memory.recap.prompts).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from lorestudio.domain.javascript import Json, head, length, trim
from lorestudio.domain.json_text import parse_json, spell
from lorestudio.llm.messages import (
    RECAP,
    RECAP_CHECK,
    RECAP_STAGES,
    RUNNING_RECAP,
    SCENE_BREAK,
    SCENE_RECAP,
    ChatRequest,
)
from lorestudio.llm.stand_in_writing import first_sentences, names_in, sentences_of

MESSAGE_LENGTH: Final = 160
SCENE_LENGTH: Final = 700
RUNNING_LENGTH: Final = 4000
MOST_EXTRACTS: Final = 12

_SCENE_BLOCK = re.compile(r"^\[(?:USER|CHARACTER): ([^\n]*)\]\n", re.MULTILINE)
_MESSAGE = re.compile(r"^Message #(\d+|invalid choice) \[(?:USER|CHARACTER)\]: ", re.MULTILINE)
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
    found = list(_MESSAGE.finditer(request.user))
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
    given = _json(request.user)
    listed = given.get("extracted")
    texts = [text for text in listed if isinstance(text, str)] if isinstance(listed, list) else []
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
    recap = _json(request.user).get("recap")
    outcomes = recap.get("outcomes") if isinstance(recap, Mapping) else None
    texts = [text for text in outcomes if isinstance(text, str)] if isinstance(outcomes, list) else []
    new: list[Json] = [text for text in texts if text not in before]
    return spell({"developments": new, "open": [], "state": [], "resolved": []})


def kept_entities(request: ChatRequest) -> str:
    """All of them."""
    try:
        return spell({"entities": parse_json(request.user)})
    except ValueError:
        return spell({"entities": []})


RECAP_WRITERS: Final[Mapping[str, Callable[[ChatRequest], str]]] = {
    RECAP: message_recap,
    SCENE_RECAP: scene_recap,
    RUNNING_RECAP: running_recap,
    SCENE_BREAK: scene_break,
    RECAP_CHECK: approval,
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


def _json(text: str) -> Mapping[str, Json]:
    try:
        value = parse_json(text)
    except ValueError:
        return {}
    return value if isinstance(value, Mapping) else {}
