"""Asking on behalf of a tool beside the selection: on record, and stoppable (spec: deeplore-ai-and-tools 1.3)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from lorestudio.domain.javascript import Json
from lorestudio.engine.deeplore.ai.asking import merged_message
from lorestudio.llm import AnswerSource, ChatReply, ChatRequest, ErrorKind, LlmError
from lorestudio.studio.jobs import Cancelled, CancelToken
from lorestudio.trace.model import AiCall

_POLL_S: Final = 0.05
"""How often a waiting tool looks whether somebody asked it to stop."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with its answer in `reply`, or with the reason why there is none in `error`."""

    call: AiCall
    reply: ChatReply | None = None
    error: LlmError | None = None


@dataclass(frozen=True, slots=True)
class Asking:
    """Whom to ask, and how: with `merged` everything goes as one user message. `timer` measures in seconds."""

    answers: AnswerSource
    merged: bool = False
    timer: Callable[[], float] = time.perf_counter

    async def ask(self, request: ChatRequest, cancel: CancelToken | None = None) -> Asked:
        """Ask. A failure is a part of the result; a token that stops the call makes an error of kind `aborted`.

        When the task is cancelled, the call is cancelled with it and CancelledError goes on.
        """
        sent = replace(request, system="", user=merged_message(request)) if self.merged else request
        begun = self.timer()
        try:
            reply = await _answer(self.answers, sent, cancel)
        except Cancelled:
            error = LlmError(ErrorKind.ABORTED)
        except LlmError as reported:
            error = reported
        else:
            return Asked(self._call(request, begun, reply=reply), reply)
        return Asked(self._call(request, begun, error=error.message or str(error)), error=error)

    def _call(self, request: ChatRequest, begun: float, *, reply: ChatReply | None = None, error: str = "") -> AiCall:
        details: dict[str, Json] = {"merged_into_user": self.merged}
        if reply is not None:
            details |= {"input_tokens": reply.usage.input, "output_tokens": reply.usage.output, "notes": reply.notes}
        return AiCall(
            kind=request.kind,
            system=request.system,
            user=request.user,
            max_tokens=request.max_tokens,
            json_schema=False,
            model=request.model,
            reply="" if reply is None else reply.text,
            error=error,
            source=(reply.source if reply is not None else "") or self.answers.label,
            duration_ms=1000 * (self.timer() - begun),
            details=details,
        )


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
