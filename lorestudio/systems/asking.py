"""Asking on behalf of a tool beside the selection: on record, and stoppable (rules: deeplore-tools 1.3)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Final

from msgspec import Struct

from lorestudio.domain.javascript import Json
from lorestudio.domain.lifecycle import Cancelled, CancelToken
from lorestudio.llm.errors import ErrorKind, LlmError
from lorestudio.llm.messages import AnswerSource, ChatReply, ChatRequest, as_sent
from lorestudio.trace.model import AiCall

_POLL_S: Final = 0.05
"""How often a waiting tool looks whether somebody asked it to stop."""


class ToolAnswer(Struct, frozen=True):
    """A question with its answer in `reply`, or with the reason why there is none in `error`.

    `switches` are the fixed behaviour switches that changed what came of it.
    """

    call: AiCall
    reply: ChatReply | None = None
    error: LlmError | None = None
    switches: tuple[str, ...] = ()


class Asking(Struct, frozen=True):
    """Whom to ask, and how: with `merged` everything goes as one user message. `timer` measures in seconds."""

    answers: AnswerSource
    merged: bool = False
    timer: Callable[[], float] = time.perf_counter

    async def ask(self, request: ChatRequest, cancel: CancelToken | None = None) -> ToolAnswer:
        """Ask. A failure is a part of the result; a token that stops the call makes an error of kind `aborted`.

        When the task is cancelled, the call is cancelled with it and CancelledError goes on.
        """
        begun = self.timer()
        reply, error = None, None
        try:
            reply = await _answer(self.answers, as_sent(request, merged=self.merged), cancel)
        except Cancelled:
            error = LlmError(ErrorKind.ABORTED)
        except LlmError as reported:
            error = reported
        duration_ms = 1000 * (self.timer() - begun)
        call = on_record(request, self.answers.label, duration_ms, merged=self.merged, reply=reply, error=error)
        return ToolAnswer(call, reply, error)


async def _answer(answers: AnswerSource, request: ChatRequest, cancel: CancelToken | None) -> ChatReply:
    """The answer. Raises LlmError, and Cancelled where the token said so first; either way nothing goes on running."""
    if cancel is None:
        return await answers.answer(request)
    task = asyncio.ensure_future(answers.answer(request))
    try:
        while not cancel.cancelled:
            done, _ = await asyncio.wait({task}, timeout=_POLL_S)
            if done:
                return task.result()
        raise Cancelled
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


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
