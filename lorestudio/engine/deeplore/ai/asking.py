"""Putting a question to the answer source, and the question and its answer on record."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from lorestudio.domain.javascript import Json
from lorestudio.llm.errors import ErrorKind, LlmError
from lorestudio.llm.messages import ChatReply, ChatRequest
from lorestudio.trace.model import AiCall

if TYPE_CHECKING:
    from lorestudio.engine.context import RunContext
    from lorestudio.engine.deeplore.state import RunState

_NEVER_ASKED: Final = frozenset({ErrorKind.NO_RECORDED_ANSWER, ErrorKind.NOT_SUPPORTED, ErrorKind.NO_KEY})


async def ask(state: RunState, ctx: RunContext, request: ChatRequest) -> ChatReply:
    """The answer. Raises LlmError where there is none; question and outcome are in the trace."""
    merged = ctx.settings.ai_force_user_role
    sent = replace(request, system="", user=merged_message(request)) if merged else request
    begun = ctx.timer()
    try:
        reply = await ctx.answers.answer(sent)
    except LlmError as error:
        if error.kind not in _NEVER_ASKED:
            state.ai_calls.append(_call(ctx, request, begun, merged=merged, error=error.message or str(error)))
        raise
    state.ai_calls.append(_call(ctx, request, begun, merged=merged, reply=reply))
    return reply


def merged_message(request: ChatRequest) -> str:
    """Instructions and question as one message, for models that take no system message."""
    return f"[Instructions]\n{request.system}\n\n---\n\n{request.user}"


def _call(
    ctx: RunContext,
    request: ChatRequest,
    begun: float,
    *,
    merged: bool,
    reply: ChatReply | None = None,
    error: str = "",
) -> AiCall:
    details: dict[str, Json] = {"merged_into_user": merged}
    if reply is not None:
        details |= {"input_tokens": reply.usage.input, "output_tokens": reply.usage.output, "notes": reply.notes}
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
        error=error,
        source=(reply.source if reply is not None else "") or ctx.answers.label,
        duration_ms=1000 * (ctx.timer() - begun),
        details=details,
    )
