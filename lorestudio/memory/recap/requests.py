"""Questions as they are sent: a template cut at its macros, a preset in front, the beginning of the answer behind."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from lorestudio.domain.javascript import Json, trim
from lorestudio.domain.tokens import TokenCounter
from lorestudio.llm.messages import ChatRequest
from lorestudio.memory.recap.answer_json import conditionals, filled
from lorestudio.memory.recap.records import mapping, text_of

_MACRO = re.compile(r"\{\{([A-Za-z0-9_]+)\}\}")
_WORDS_OF_PROMPT: Final = frozenset(
    {"user", "char", "words", "minimum_scene_length", "earliest_allowed_break", "prefill"}
)
"""Macros that stand for a word inside a sentence, so that the prompt is not cut there."""

_ROLES: Final = frozenset({"system", "user", "assistant"})


@dataclass(frozen=True, slots=True)
class Preset:
    """Prompts that come first, each with its role, and limits; None where the settings decide."""

    prompts: tuple[tuple[str, str], ...] = ()
    prefill: str = ""
    max_tokens: int | None = None
    max_context: int | None = None


NO_PRESET: Final = Preset()


def read_preset(document: Json) -> Preset:
    """A preset from JSON: SillyTavern's for chat completion, or a short one of our own.

    Raises ValueError where it is neither.
    """
    stored = mapping(document)
    prefill = text_of(stored.get("assistant_prefill")) or text_of(stored.get("prefill"))
    limits = tuple(
        _whole(stored.get(long), stored.get(short))
        for long, short in (("openai_max_tokens", "max_tokens"), ("openai_max_context", "max_context"))
    )
    prompts = stored.get("prompts")
    if isinstance(prompts, list):
        return Preset(_ordered(prompts, stored.get("prompt_order")), prefill, *limits)
    system = text_of(stored.get("system"))
    if not system and not prefill and limits == (None, None):
        raise ValueError('it has neither "prompts" nor "system", "prefill" or "max_tokens"')
    return Preset((("system", system),) if system else (), prefill, *limits)


def make_request(
    kind: str,
    template: str,
    params: Mapping[str, Json],
    *,
    max_tokens: int,
    timeout_ms: int,
    prefill: str = "",
    preset: Preset = NO_PRESET,
    with_preset_prompts: bool = True,
    nested: bool = False,
    model: str = "",
) -> ChatRequest:
    """A question from a template. `nested` sends it as one text; otherwise its own words are instructions.

    A given prefill wins over the preset's (spec: recap-memory 21.7).
    """
    spoken = _pieces(template, params, nested=nested)
    first = list(preset.prompts) if with_preset_prompts else []
    user = spoken.pop()[1] if spoken else ""
    before = [*first, *spoken]
    system: list[str] = []
    while before and before[0][0] == "system":
        system.append(before.pop(0)[1])
    return ChatRequest(
        kind,
        "\n\n".join(system),
        user,
        max_tokens=preset.max_tokens or max_tokens,
        timeout_ms=timeout_ms,
        model=model,
        before=tuple(before),
        prefill=prefill or preset.prefill,
    )


@dataclass(frozen=True, slots=True)
class RequestTokens:
    """What a question takes. `total` is its JSON with the safety factor; `room` is 0 where nobody knows it."""

    system: int
    messages: int
    user: int
    prefill: int
    total: int
    room: int

    @property
    def too_large(self) -> bool:
        """Whether it does not fit the model."""
        return 0 < self.room < self.total

    @property
    def metadata(self) -> dict[str, Json]:
        """Under the names that the original keeps (spec: recap-memory 21.6)."""
        return {
            "tokens_system": self.system,
            "tokens_messages": self.messages,
            "tokens_user": self.user,
            "tokens_prefill": self.prefill,
            "tokens_content_subtotal": self.system + self.messages + self.user + self.prefill,
            "tokens_total": self.total,
            "tokens_max_context": self.room,
        }


def count_request(request: ChatRequest, counter: TokenCounter, factor: float, room: int) -> RequestTokens:
    """Count a question against the room that its model has for prompts."""
    roles = [("system", request.system), *request.before, ("user", request.user), ("assistant", request.prefill)]
    spoken = json.dumps([{"role": role, "content": text} for role, text in roles if text], ensure_ascii=False)
    return RequestTokens(
        counter.count(request.system),
        sum(counter.count(text) for _, text in request.before),
        counter.count(request.user),
        counter.count(request.prefill),
        math.ceil(counter.count(spoken) * factor),
        room,
    )


def _pieces(template: str, params: Mapping[str, Json], *, nested: bool) -> list[tuple[str, str]]:
    """The template as messages: its own words as system, what its macros bring as the user's."""
    words = {name: value for name, value in params.items() if name in _WORDS_OF_PROMPT}
    if nested:
        return [("user", trim(filled(template, params)))]
    text = filled(conditionals(template, params), words)
    pieces: list[tuple[str, str]] = []
    place = 0
    for found in _MACRO.finditer(text):
        if found[1] not in params:
            continue
        pieces += [("system", text[place : found.start()]), ("user", filled(found[0], params))]
        place = found.end()
    pieces.append(("system", text[place:]))
    return [(role, trim(piece)) for role, piece in pieces if trim(piece)]


def _ordered(prompts: Sequence[Json], order: Json) -> tuple[tuple[str, str], ...]:
    """The prompts that are switched on, in the preset's order; markers have no text of their own."""
    known = {text_of(item.get("identifier")): item for item in prompts if isinstance(item, Mapping)}
    wanted = list(known)
    orders = [item for item in order if isinstance(item, Mapping)] if isinstance(order, list) else []
    if orders:
        listed = orders[-1].get("order")
        steps = [item for item in listed if isinstance(item, Mapping)] if isinstance(listed, list) else []
        wanted = [text_of(step.get("identifier")) for step in steps if step.get("enabled") is not False]
    found: list[tuple[str, str]] = []
    for name in wanted:
        item = mapping(known.get(name))
        role, content = text_of(item.get("role")) or "system", trim(text_of(item.get("content")))
        if content and item.get("marker") is not True and role in _ROLES:
            found.append((role, content))
    return tuple(found)


def _whole(*values: Json) -> int | None:
    return next(
        (
            int(value)
            for value in values
            if isinstance(value, int | float) and not isinstance(value, bool) and value > 0
        ),
        None,
    )
