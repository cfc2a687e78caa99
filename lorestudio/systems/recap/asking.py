"""Asking a model: templates cut at their macros, presets, what a question takes, and the JSON of an answer.

Parts of messages such as status blocks are taken out before a model reads them; the chat keeps them
(rules: recap-memory 21).
"""

from __future__ import annotations

import json
import math
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, TypeAlias

from msgspec import Struct, field

from lorestudio.domain.javascript import Json, trim, truthy
from lorestudio.domain.json_text import decoded, mapping_in, object_in, objects_in, text_in
from lorestudio.domain.patterns import Pattern, PatternError, PatternTimeoutError, compile_pattern
from lorestudio.domain.resources import prompt_text
from lorestudio.domain.texts import joined_spans
from lorestudio.llm.errors import LlmError
from lorestudio.llm.messages import RECAP_CHECK, AnswerSource, ChatReply, ChatRequest, NoAnswers
from lorestudio.settings.recap import RecapSettings
from lorestudio.systems.recap.chat import RecapChat, RecapSurroundings
from lorestudio.systems.recap.queue import HopelessError, QueuedOperation, StoredAnswer
from lorestudio.systems.recap.records import Record, message_text
from lorestudio.trace.model import AiCall
from lorestudio.vault.files import epoch_ms

_FENCE = re.compile(r"```[A-Za-z0-9_-]*[^\S\n]*\n?(.*?)```", re.DOTALL)
_BARE_KEY = re.compile(r'"[^"\n]*"\s*:')
_CONDITIONAL = re.compile(r"\{\{#if ([^{}]+?)\}\}(.*?)\{\{/if\}\}", re.DOTALL)
_MACRO = re.compile(r"\{\{([A-Za-z0-9_]+)\}\}")
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")

_CLOSERS: Final = {"{": "}", "[": "]"}


def answer_value(text: str) -> Json:
    """The JSON value in a model's text; small faults are mended. Raises ValueError where there is none."""
    cut = _cut(text)
    for answer in decoded(cut) or decoded(_mended(cut)):
        return answer
    raise ValueError("The model's answer holds no JSON that can be read.")


def answer_object(text: str, required: Sequence[str] = ()) -> Mapping[str, Json]:
    """The JSON object in a model's text. Raises ValueError where it is none, or lacks a key."""
    value = answer_value(text)
    if not isinstance(value, Mapping):
        raise ValueError("The model's answer is no JSON object.")  # noqa: TRY004  # a bad answer, not a bad argument
    for key in required:
        if key not in value:
            raise ValueError(f"The model's answer has no “{key}”.")
    return value


def is_valid(answer: str) -> bool:
    """Whether a checker approves of a recap: its answer has VALID and not INVALID in it."""
    said = answer.upper()
    return "VALID" in said and "INVALID" not in said


def conditionals(text: str, params: Mapping[str, Json]) -> str:
    """The text with its `{{#if name}}...{{/if}}` resolved: kept where the parameter has any text."""

    def resolve(found: re.Match[str]) -> str:
        return found[2] if trim(_rendered(params.get(trim(found[1])))) else ""

    return _CONDITIONAL.sub(resolve, text)


def filled(text: str, params: Mapping[str, Json]) -> str:
    """The template with conditions resolved and macros replaced; unknown macros stay. Values are taken literally."""

    def replace(found: re.Match[str]) -> str:
        return _rendered(params[found[1]]) if found[1] in params else found[0]

    return _MACRO.sub(replace, conditionals(text, params))


def _rendered(value: Json) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, indent=2)


def _cut(text: str) -> str:
    """The part that should be JSON; a brace that the prefill had supplied comes back."""
    found = _FENCE.search(text)
    inside = trim(found[1] if found else trim(text))
    if _BARE_KEY.match(inside) and "}" in inside:
        inside = "{" + inside
    else:
        starts = [place for place in (inside.find("{"), inside.find("[")) if place >= 0]
        inside = inside[min(starts) :] if starts else inside
    end = max(inside.rfind("}"), inside.rfind("]"))
    return inside[: end + 1] if end >= 0 else inside


def _mended(text: str) -> str:
    """The text with curly quotation marks straightened, trailing commas gone, and open brackets closed."""
    plain = _TRAILING_COMMA.sub(r"\1", text.replace("“", '"').replace("”", '"'))
    stack: list[str] = []
    inside = escaped = False
    for char in plain:
        if inside:
            if escaped:
                escaped = False
            elif char == "\\":
                escaped = True
            elif char == '"':
                inside = False
        elif char == '"':
            inside = True
        elif char in _CLOSERS:
            stack.append(_CLOSERS[char])
        elif stack and char == stack[-1]:
            stack.pop()
    return plain + ('"' if inside else "") + "".join(reversed(stack))


_WORDS_OF_PROMPT: Final = frozenset(
    {"user", "char", "words", "minimum_scene_length", "earliest_allowed_break", "prefill"}
)
"""Macros that stand for a word inside a sentence, so that the prompt is not cut there."""

_ROLES: Final = frozenset({"system", "user", "assistant"})


class QuestionPreset(Struct, frozen=True):
    """Prompts that come first, each with its role, and limits; None where the settings decide."""

    prompts: tuple[tuple[str, str], ...] = ()
    prefill: str = ""
    max_tokens: int | None = None
    max_context: int | None = None


NO_PRESET: Final = QuestionPreset()


def read_preset(document: Json) -> QuestionPreset:
    """A preset from JSON: SillyTavern's for chat completion, or a short one of our own.

    Raises ValueError where it is neither.
    """
    stored = mapping_in(document)
    prefill = text_in(stored.get("assistant_prefill")) or text_in(stored.get("prefill"))
    limits = tuple(
        _whole(stored.get(long), stored.get(short))
        for long, short in (("openai_max_tokens", "max_tokens"), ("openai_max_context", "max_context"))
    )
    prompts = stored.get("prompts")
    if isinstance(prompts, list):
        return QuestionPreset(_ordered(prompts, stored.get("prompt_order")), prefill, *limits)
    system = text_in(stored.get("system"))
    if not system and not prefill and limits == (None, None):
        raise ValueError('it has neither "prompts" nor "system", "prefill" or "max_tokens"')
    return QuestionPreset((("system", system),) if system else (), prefill, *limits)


class RequestTokens(Struct, frozen=True):
    """What a question takes, against the `room` of its model, 0 where nobody knows it."""

    total: int
    room: int

    @property
    def too_large(self) -> bool:
        """Whether it does not fit the model."""
        return 0 < self.room < self.total


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
    known = {text_in(item.get("identifier")): item for item in objects_in(prompts)}
    wanted = list(known)
    if orders := objects_in(order):
        steps = objects_in(orders[-1].get("order"))
        wanted = [text_in(step.get("identifier")) for step in steps if step.get("enabled") is not False]
    found: list[tuple[str, str]] = []
    for name in wanted:
        item = object_in(known, name)
        role, content = text_in(item.get("role")) or "system", trim(text_in(item.get("content")))
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


_GLOBAL: Final = "gy"


def patterns_of(text: str) -> tuple[Pattern, ...]:
    """One pattern a line, `/pattern/flags` or the pattern alone. Raises HopelessError naming the line."""
    found: list[Pattern] = []
    for number, line in enumerate(text.splitlines(), start=1):
        written = line.strip()
        if not written:
            continue
        source, flags = written, ""
        if written.startswith("/") and written.rfind("/") > 0:
            end = written.rfind("/")
            source, flags = written[1:end], written[end + 1 :]
        try:
            found.append(compile_pattern(source, "".join(flag for flag in flags if flag not in _GLOBAL)))
        except PatternError as error:
            message = f"Line {number} of the recap setting “Strip” cannot be used: {error}. Correct it in the settings."
            raise HopelessError(message) from None
    return tuple(found)


def stripped(
    messages: Sequence[Record], indexes: Iterable[int], settings: RecapSettings, *, keep: int = 0
) -> tuple[Record, ...]:
    """The messages, those at `indexes` without what the patterns find.

    The first `keep` finds stay, counted from the newest message, in each from its start. Raises HopelessError.
    """
    patterns = patterns_of(settings.strip_patterns)
    if not patterns:
        return tuple(messages)
    result = list(messages)
    left = keep
    for index in sorted(set(indexes), reverse=True):
        message = messages[index]
        wanted = settings.strip_message_types
        if wanted != "both" and (wanted == "user") is not truthy(message.get("is_user")):
            continue
        text = message_text(message)
        spans = _spans(patterns, text)
        gone = spans[left:]
        left = max(0, left - len(spans))
        if gone:
            result[index] = {**message, "mes": trim(_without(text, gone))}
    return tuple(result)


def _spans(patterns: Iterable[Pattern], text: str) -> list[tuple[int, int]]:
    """Where any of the patterns is found; finds that overlap are one."""
    found: list[tuple[int, int]] = []
    for pattern in patterns:
        try:
            found += pattern.spans(text)
        except PatternTimeoutError as error:
            message = f"The recap setting “Strip” cannot be used here: {error}. Make the pattern simpler."
            raise HopelessError(message) from None
    return joined_spans(found, -1)


def _without(text: str, spans: Iterable[tuple[int, int]]) -> str:
    pieces: list[str] = []
    at = 0
    for start, end in spans:
        pieces.append(text[at:start])
        at = end
    return "".join((*pieces, text[at:]))


CHECK_TOKENS: Final = 16


class WorkContext(Struct, frozen=True):
    """The surroundings of an operation. `context_size` is the room of the model for prompts, 0 where nobody knows it.

    `presets` are those that the settings name. `on_call` hears of every question with its answer.
    """

    around: RecapSurroundings = field(default_factory=RecapSurroundings)
    answers: AnswerSource = field(default_factory=NoAnswers)
    presets: Mapping[str, QuestionPreset] = {}
    context_size: int = 0
    model: str = ""
    now_ms: Callable[[], int] = epoch_ms
    on_call: Callable[[AiCall], None] | None = None

    @property
    def settings(self) -> RecapSettings:
        """The settings of recap memory."""
        return self.around.settings

    def request(
        self,
        kind: str,
        template: str,
        params: Mapping[str, Json],
        max_tokens: int,
        *,
        preset: str = "",
        prefill: str = "",
        with_preset_prompts: bool = True,
        nested: bool = False,
        prose: bool = False,
    ) -> ChatRequest:
        """A question from a template. `nested` sends it as one text; otherwise its own words are instructions.

        A given prefill wins over the preset's (rules: recap-memory 21.7). Raises HopelessError where the preset is not
        there.
        """
        if preset and preset not in self.presets:
            raise HopelessError(f"The preset “{preset}” cannot be used. Choose another one in the settings.")
        chosen = self.presets.get(preset, NO_PRESET)
        spoken = _pieces(template, {**params, "prefill": prefill}, nested=nested)
        user = spoken.pop()[1] if spoken else ""
        before = [*(chosen.prompts if with_preset_prompts else ()), *spoken]
        first = next((place for place, (role, _) in enumerate(before) if role != "system"), len(before))
        return ChatRequest(
            kind,
            "\n\n".join(text for _, text in before[:first]),
            user,
            max_tokens=chosen.max_tokens or max_tokens,
            timeout_ms=self.settings.recap_timeout,
            model=self.settings.recap_model or self.model,
            before=tuple(before[first:]),
            prefill=prefill or chosen.prefill,
            prose=prose,
        )

    def tokens(self, request: ChatRequest, preset: str = "") -> RequestTokens:
        """What a question takes as JSON, with the safety factor, against the room that its model has for prompts."""
        roles = [("system", request.system), *request.before, ("user", request.user), ("assistant", request.prefill)]
        spoken = json.dumps([{"role": role, "content": text} for role, text in roles if text], ensure_ascii=False)
        count = math.ceil(self.around.counter.count(spoken) * self.settings.tokenizer_correction_factor)
        return RequestTokens(count, self.presets.get(preset, NO_PRESET).max_context or self.context_size)

    async def ask(self, request: ChatRequest) -> ChatReply:
        """The reply to a question, without what the model thought first. Raises LlmError; no text is one, too."""
        begun = time.perf_counter()
        reply, error = ChatReply(), ""
        try:
            reply = (await self.answers.answer(request)).without_thinking(request.prefill)
            if not reply.text.strip():
                raise reply.empty_error  # on record as the others
        except LlmError as failure:
            error = str(failure)
            raise
        finally:
            if self.on_call is not None:
                self.on_call(_call(request, reply, error, 1000 * (time.perf_counter() - begun)))
        return reply

    async def is_sound(self, recap: str, kind: str) -> bool:
        """Whether a second question approves of a recap; where nobody can say, it counts as sound."""
        template = self.settings.error_detection_prompt or prompt_text("recap", "check")
        request = self.request(RECAP_CHECK, template, {"recap": recap, "type": kind}, CHECK_TOKENS)
        try:
            return is_valid((await self.ask(request)).text)
        except LlmError:
            return True


Stored: TypeAlias = tuple[RecapChat, StoredAnswer]
"""A chat after an operation, the same one where nothing changed, and what follows."""


class Handler(ABC):
    """What one kind of operation means."""

    @abstractmethod
    async def ask(self, operation: QueuedOperation, chat: RecapChat, ctx: WorkContext) -> Json:
        """What the model says, as JSON."""

    @abstractmethod
    def store(self, operation: QueuedOperation, answer: Json, chat: RecapChat, ctx: WorkContext) -> Stored:
        """The chat with the answer in it, and what follows. The same chat where it was there already."""

    def failed(self, operation: QueuedOperation, error: str, chat: RecapChat, ctx: WorkContext) -> Stored:
        """The chat after the operation failed for good, and what is to be done nevertheless."""
        return chat, StoredAnswer()


def unusable(reply: ChatReply, problem: str) -> Exception:
    """An answer that cannot be used. Asking a source that repeats itself again would not help."""
    return HopelessError(problem) if reply.repeatable else ValueError(problem)


def _call(request: ChatRequest, reply: ChatReply, error: str, duration_ms: float) -> AiCall:
    said = "\n\n".join([*(f"[{role}]\n{text}" for role, text in request.before), request.user])
    details: dict[str, Json] = {"prefill": request.prefill} if request.prefill else {}
    if reply.cut_off:
        details["cut_off"] = True
    return AiCall(
        request.kind, request.system, said, request.max_tokens, request.json_schema is not None, request.model,
        reply.text, error, reply.source, duration_ms, details,
    )  # fmt: skip
