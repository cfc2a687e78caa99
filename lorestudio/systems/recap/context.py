"""What every operation has at hand: settings, who answers, and how much room there is."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

from lorestudio.domain.javascript import Json
from lorestudio.llm.errors import ErrorKind, LlmError
from lorestudio.llm.messages import RECAP_CHECK, AnswerSource, ChatReply, ChatRequest, NoAnswers
from lorestudio.settings.recap import RecapSettings
from lorestudio.systems.recap import prompts
from lorestudio.systems.recap.chat import RecapChat
from lorestudio.systems.recap.inclusion import Surroundings
from lorestudio.systems.recap.queue import Operation, QueueState
from lorestudio.systems.recap.requests import NO_PRESET, Preset, RequestTokens, count_request, is_valid, make_request
from lorestudio.systems.recap.worker import HopelessError, Stored
from lorestudio.trace.model import AiCall

CHECK_TOKENS: Final = 16


@dataclass(frozen=True, slots=True)
class WorkContext:
    """The surroundings of an operation. `context_size` is the room of the model for prompts, 0 where nobody knows it.

    `presets` are those that the settings name. `on_call` hears of every question with its answer.
    """

    around: Surroundings = field(default_factory=Surroundings)
    answers: AnswerSource = field(default_factory=NoAnswers)
    presets: Mapping[str, Preset] = field(default_factory=dict)
    context_size: int = 0
    model: str = ""
    now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000
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
    ) -> ChatRequest:
        """A question. Raises HopelessError where its preset is not there."""
        if preset and preset not in self.presets:
            raise HopelessError(f"The preset “{preset}” cannot be used. Choose another one in the settings.")
        return make_request(
            kind,
            template,
            {**params, "prefill": prefill},
            max_tokens=max_tokens,
            timeout_ms=self.settings.recap_timeout,
            prefill=prefill,
            preset=self.presets.get(preset, NO_PRESET),
            with_preset_prompts=with_preset_prompts,
            nested=nested,
            model=self.settings.recap_model or self.model,
        )

    def tokens(self, request: ChatRequest, preset: str = "") -> RequestTokens:
        """What a question takes."""
        room = self.presets.get(preset, NO_PRESET).max_context or self.context_size
        return count_request(request, self.around.counter, self.settings.tokenizer_correction_factor, room)

    async def ask(self, request: ChatRequest) -> ChatReply:
        """The reply to a question. Raises LlmError; a reply without text is one, too."""
        begun = time.perf_counter()
        reply, error = ChatReply(), ""
        try:
            reply = _with_text(await self.answers.answer(request))
        except LlmError as failure:
            error = str(failure)
            raise
        finally:
            if self.on_call is not None:
                self.on_call(_call(request, reply, error, 1000 * (time.perf_counter() - begun)))
        return reply

    async def is_sound(self, recap: str, kind: str) -> bool:
        """Whether a second question approves of a recap; where nobody can say, it counts as sound."""
        template = self.settings.error_detection_prompt or prompts.CHECK
        request = self.request(RECAP_CHECK, template, {"recap": recap, "type": kind}, CHECK_TOKENS)
        try:
            return is_valid((await self.ask(request)).text)
        except LlmError:
            return True


class Handler(Protocol):
    """What one kind of operation means."""

    async def ask(self, operation: Operation, chat: RecapChat, ctx: WorkContext) -> Json:
        """What the model says, as JSON."""
        ...

    def store(
        self, operation: Operation, answer: Json, chat: RecapChat, queue: QueueState, ctx: WorkContext
    ) -> tuple[RecapChat, Stored]:
        """The chat with the answer in it, and what follows. The same chat where it was there already."""
        ...

    def failed(self, operation: Operation, error: str, chat: RecapChat, ctx: WorkContext) -> tuple[RecapChat, Stored]:
        """The chat after the operation failed for good, and what is to be done nevertheless."""
        ...


def unusable(reply: ChatReply, problem: str) -> Exception:
    """An answer that cannot be used. Asking a source that repeats itself again would not help."""
    return HopelessError(problem) if reply.repeatable else ValueError(problem)


def _with_text(reply: ChatReply) -> ChatReply:
    """The reply, if it says anything. Raises LlmError."""
    if not reply.text.strip():
        raise LlmError(ErrorKind.INVALID_ANSWER, "the answer is empty")
    return reply


def _call(request: ChatRequest, reply: ChatReply, error: str, duration_ms: float) -> AiCall:
    said = "\n\n".join([*(f"[{role}]\n{text}" for role, text in request.before), request.user])
    details: dict[str, Json] = {"prefill": request.prefill} if request.prefill else {}
    return AiCall(
        request.kind, request.system, said, request.max_tokens, request.json_schema is not None, request.model,
        reply.text, error, reply.source, duration_ms, details,
    )  # fmt: skip
