"""Which captured request made which reply of a chat, and which made none: by times, the answer and the chat's tail.

Nothing is taken for certain: each match carries what speaks for it (rules: live-capture 4).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Final

from msgspec import Struct

from lorestudio.domain.chat import Chat, Generation, Message
from lorestudio.domain.javascript import Json
from lorestudio.domain.records import replace
from lorestudio.studio.attach.captures import Capture
from lorestudio.studio.attach.wire import SentPrompt

_SLACK_MS: Final = 2_000
"""A request may be seen so much before or after the times that the browser's clock kept."""

_TAIL: Final = 4
"""So many visible messages before a reply are looked for in its prompt."""

_TELLING: Final = 20
"""An answer of fewer characters may be another's by chance."""

_NOTES: Final = "<dle-notes>"


class RequestKind(StrEnum):
    """What a request was for."""

    REPLY = "a reply"
    SELECTION = "a question which entries matter"
    TOOL = "a tool's question"
    QUIET = "a background prompt over the chat"
    UNREADABLE = "no prompt"


class MatchedCapture(Struct, frozen=True):
    """A capture and the reply that it made; None where no reply of the chat is its.

    `evidence` says in words what speaks for the match. `replaced`: the reply has a later request that fits better.
    """

    capture: Capture
    kind: RequestKind
    generation: Generation | None = None
    evidence: tuple[str, ...] = ()
    replaced: bool = False


class _Written(Struct, frozen=True):
    """One answer of a chat: its text, and when it was being written, in milliseconds since 1970."""

    generation: Generation
    text: str
    started_ms: float
    finished_ms: float


def matched(captures: Iterable[Capture], chat: Chat) -> tuple[MatchedCapture, ...]:
    """Every capture, oldest first, with the reply of `chat` that it most probably made.

    Captures must have been read whole.
    """
    written = tuple(_written(chat))
    found = [_match(each, written, chat) for each in sorted(captures, key=lambda one: one.started_ms)]
    best: dict[Generation, MatchedCapture] = {}
    for each in found:
        if each.generation is not None:
            before = best.get(each.generation)
            if before is None or len(each.evidence) >= len(before.evidence):  # of equals the later one
                best[each.generation] = each
    return tuple(
        replace(each, replaced=True) if each.generation is not None and best[each.generation] is not each else each
        for each in found
    )


def _match(capture: Capture, written: Sequence[_Written], chat: Chat) -> MatchedCapture:
    try:
        prompt = capture.prompt
    except ValueError:
        return MatchedCapture(capture, RequestKind.UNREADABLE)
    if kind := _own_kind(prompt, auxiliary=capture.auxiliary):
        return MatchedCapture(capture, kind)
    whole = "\n".join(message.text for message in prompt.messages)
    chosen: tuple[int, _Written | None, tuple[str, ...]] = (0, None, ())
    for each in written:
        evidence = tuple(_evidence(capture, whole, each, chat))
        # Times and a place in the chat fit a background prompt, too: the answer decides where there is one.
        if len(evidence) > chosen[0] and ("text" in evidence or not any(capture.replies) or len(evidence) > 1):
            chosen = (len(evidence), each, evidence)
    _, reply, evidence = chosen
    if reply is None or evidence == ("place",):
        return MatchedCapture(capture, RequestKind.QUIET)
    return MatchedCapture(capture, RequestKind.REPLY, reply.generation, tuple(_EVIDENCE[each] for each in evidence))


_EVIDENCE: Final[Mapping[str, str]] = {
    "time": "it was asked while the reply was being written",
    "text": "the answer is the reply",
    "place": "it ends with the messages before the reply",
}


def _own_kind(prompt: SentPrompt, *, auxiliary: bool) -> RequestKind | None:
    """What a request is by itself; None where it may be for a reply."""
    if prompt.is_text or len(prompt.messages) > 2:
        return RequestKind.TOOL if auxiliary and not prompt.tools else None
    asks = "manifest" in prompt.messages[-1].text.lower() or "candidate" in prompt.messages[0].text.lower()
    return RequestKind.SELECTION if prompt.schema or asks else RequestKind.TOOL


def _evidence(capture: Capture, whole: str, reply: _Written, chat: Chat) -> Iterator[str]:
    if reply.started_ms - _SLACK_MS <= capture.started_ms <= reply.finished_ms + _SLACK_MS:
        yield "time"
    if any(_is_answer(each, reply.text) for each in capture.replies):
        yield "text"
    if _ends_before(whole, reply.generation.message, chat):
        yield "place"


def _is_answer(answer: str, text: str) -> bool:
    """Whether the answer is the reply, or was before its end was trimmed or the writer's notes were taken out."""
    said, kept = answer.partition(_NOTES)[0].strip(), text.strip()
    if not said or not kept:
        return False
    return said == kept or (min(len(said), len(kept)) >= _TELLING and (said.startswith(kept) or kept.startswith(said)))


def _ends_before(whole: str, place: int, chat: Chat) -> bool:
    """Whether the last visible messages before that place stand in the prompt in order, and the next one does not."""
    spoken = [each.text.strip() for each in chat.messages[:place] if each.scannable and each.text.strip()]
    if not spoken:
        return False
    end = -1
    for text in spoken[-_TAIL:]:
        end = whole.find(text, end + 1)
        if end < 0:
            return False
    after = chat.messages[place + 1 :]
    later = next((each.text.strip() for each in after if each.is_user and len(each.text.strip()) >= _TELLING), "")
    return not later or later not in whole


def _written(chat: Chat) -> Iterator[_Written]:
    for place, message in enumerate(chat.messages):
        if message.is_user or not message.is_story:
            continue
        for swipe, text in enumerate(message.swipes or (message.text,)):
            times = _times(message, swipe)
            yield _Written(
                Generation(place, swipe), text,
                _moment(times.get("gen_started"), math.inf), _moment(times.get("gen_finished"), -math.inf),
            )  # fmt: skip


def _times(message: Message, swipe: int) -> Mapping[str, Json]:
    infos = message.raw.get("swipe_info")
    info = infos[swipe] if isinstance(infos, list | tuple) and swipe < len(infos) else None
    if isinstance(info, Mapping) and info.get("gen_started"):
        return info
    return message.raw if swipe == message.swipe else {}


def _moment(value: Json, otherwise: float) -> float:
    """Milliseconds since 1970 of a time as SillyTavern keeps it."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    try:
        return datetime.fromisoformat(value).timestamp() * 1000 if isinstance(value, str) else otherwise
    except ValueError:
        return otherwise
