"""Putting a question to the answer source, and the question and its answer on record."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from lorestudio.domain.javascript import Json
from lorestudio.domain.stopping import Stopped
from lorestudio.llm.errors import ErrorKind, LlmError
from lorestudio.llm.messages import ChatReply, ChatRequest
from lorestudio.trace.model import AiCall

if TYPE_CHECKING:
    from lorestudio.engine.context import RunContext
    from lorestudio.engine.deeplore.state import RunState

logger = logging.getLogger(__name__)

_NEVER_ASKED: Final = frozenset({ErrorKind.NO_RECORDED_ANSWER, ErrorKind.NOT_SUPPORTED, ErrorKind.NO_KEY})


async def ask(state: RunState, ctx: RunContext, request: ChatRequest) -> ChatReply:
    """The answer. Raises LlmError where there is none; question and outcome are in the trace.

    Whatever else the source raises is such an error too, as in DeepLore (spec: deeplore-ai-and-tools 1.8 "Count as
    failure: every other exception"), named by its class; only being stopped on purpose passes through.
    """
    merged = ctx.settings.ai_force_user_role
    begun = ctx.timer()

    def record(reply: ChatReply | None = None, error: LlmError | None = None) -> None:
        duration_ms = 1000 * (ctx.timer() - begun)
        state.ai_calls.append(
            on_record(request, ctx.answers.label, duration_ms, merged=merged, reply=reply, error=error)
        )

    try:
        reply = await ctx.answers.answer(as_sent(request, merged=merged))
    except LlmError as error:
        if error.kind not in _NEVER_ASKED:
            record(error=error)
        raise
    except Stopped:
        raise
    except Exception as error:
        logger.exception("The answer source %r failed", ctx.answers.label)
        failure = LlmError(ErrorKind.UNKNOWN, f"{type(error).__name__}: {error}", who=ctx.answers.label)
        record(error=failure)
        raise failure from error
    record(reply)
    return reply


def as_sent(request: ChatRequest, *, merged: bool) -> ChatRequest:
    """The request as it goes out: `merged` is for models that take no system message."""
    return replace(request, system="", user=merged_message(request)) if merged else request


def merged_message(request: ChatRequest) -> str:
    """Instructions and question as one message."""
    return f"[Instructions]\n{request.system}\n\n---\n\n{request.user}"


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
