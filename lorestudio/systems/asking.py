"""Asking on behalf of a tool beside the selection: on record (rules: deeplore-tools 1.3)."""

from __future__ import annotations

import time
from collections.abc import Callable

from msgspec import Struct

from lorestudio.domain.javascript import Json
from lorestudio.llm.errors import LlmError
from lorestudio.llm.messages import AnswerSource, ChatReply, ChatRequest, as_sent
from lorestudio.trace.model import AiCall


class ToolAnswer(Struct, frozen=True):
    """A question with its answer in `reply`, or with the reason why there is none in `error`."""

    call: AiCall
    reply: ChatReply | None = None
    error: LlmError | None = None


class Asking(Struct, frozen=True):
    """Whom to ask, and how: with `merged` everything goes as one user message. `timer` measures in seconds."""

    answers: AnswerSource
    merged: bool = False
    timer: Callable[[], float] = time.perf_counter

    async def ask(self, request: ChatRequest) -> ToolAnswer:
        """Ask. A failure is a part of the result."""
        begun = self.timer()
        reply, error = None, None
        try:
            reply = await self.answers.answer(as_sent(request, merged=self.merged))
        except LlmError as reported:
            error = reported
        duration_ms = 1000 * (self.timer() - begun)
        call = on_record(request, self.answers.label, duration_ms, merged=self.merged, reply=reply, error=error)
        return ToolAnswer(call, reply, error)


def on_record(
    request: ChatRequest,
    source: str,
    duration_ms: float,
    *,
    merged: bool,
    reply: ChatReply | None = None,
    error: LlmError | None = None,
) -> AiCall:
    """The call as a trace keeps it; `source` names who was asked where the reply does not.

    Kind and status of an error decide whether the circuit breaker counts it, so they are kept with its message, and so
    is what to do about it.
    """
    details: dict[str, Json] = {"merged_into_user": merged}
    if request.reasoning_effort:
        details["reasoning_effort"] = request.reasoning_effort
    if error is not None:
        details |= {"error_kind": error.kind.value, "error_status": error.status, "advice": error.advice}
    if reply is not None:
        details |= {
            "input_tokens": reply.usage.input,
            "output_tokens": reply.usage.output,
            "notes": reply.notes,
            "live": reply.live,
        }
        if reply.value is not None:
            details["value"] = reply.value
    return AiCall(
        kind=request.kind,
        system=request.system,
        user=request.user,
        max_tokens=request.max_tokens,
        json_schema=request.json_schema is not None,
        model=request.model,
        reply="" if reply is None else reply.text,
        error="" if error is None else error.message or str(error),
        source=(reply.source if reply is not None else "") or source,
        duration_ms=duration_ms,
        details=details,
    )
