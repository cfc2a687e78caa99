"""Asking the selecting model: what it reads of the chat (rules: deeplore 4.7 steps 2 to 5), and what is put on record.

A circuit breaker and a throttle stand around AI calls (rules: deeplore 4.9).
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from lorestudio.domain.chat import Message, transcript
from lorestudio.domain.entry import Entry
from lorestudio.domain.javascript import Json, trim
from lorestudio.domain.lifecycle import Stopped
from lorestudio.domain.records import picked, replace
from lorestudio.domain.state import AiState
from lorestudio.llm.errors import ErrorKind, LlmError
from lorestudio.llm.messages import ChatReply, ChatRequest, as_sent
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.systems.ledger import Ledger
from lorestudio.trace.model import AiCall, Breaker, BreakerState

FAILURES_TO_OPEN = 2
COOLDOWN_MS = 30_000
PROBE_LOST_MS = 60_000
THROTTLE_MS = 500


def is_open(state: AiState) -> bool:
    """Whether the breaker is tripped; once it has cooled down, the next call is a probe."""
    return state.failures >= FAILURES_TO_OPEN


def acquire(state: AiState, now_ms: int) -> tuple[bool, AiState]:
    """Ask for a call. Once the pause is over exactly one probe is let through."""
    if not is_open(state):
        return True, state
    if not _cooled(state, now_ms) or _probing(state, now_ms):
        return False, state
    return True, replace(state, probe_ms=now_ms)


def released(state: AiState) -> AiState:
    """The probe came back without a verdict."""
    return replace(state, probe_ms=None)


def succeeded(state: AiState) -> AiState:
    """A usable answer closes the breaker."""
    return replace(state, failures=0, last_failure_ms=None, probe_ms=None)


def failed(state: AiState, now_ms: int) -> AiState:
    """A failure; the second in a row opens the breaker, a failed probe opens it again."""
    return replace(state, failures=state.failures + 1, last_failure_ms=now_ms, probe_ms=None)


def throttled(state: AiState, now_ms: int) -> bool:
    """Whether the last successful call is too recent for another."""
    return state.last_success_ms is not None and now_ms - state.last_success_ms < THROTTLE_MS


def observed(state: AiState, now_ms: int) -> Breaker:
    """The breaker as a trace keeps it."""
    if not is_open(state):
        return Breaker(BreakerState.CLOSED, state.failures)
    if not _cooled(state, now_ms):
        last = now_ms if state.last_failure_ms is None else state.last_failure_ms
        return Breaker(BreakerState.OPEN, state.failures, last + COOLDOWN_MS + 1)
    if state.probe_ms is not None and _probing(state, now_ms):
        return Breaker(BreakerState.PROBING, state.failures, state.probe_ms + PROBE_LOST_MS + 1)
    return Breaker(BreakerState.HALF_OPEN, state.failures)


def _cooled(state: AiState, now_ms: int) -> bool:
    return state.last_failure_ms is not None and now_ms - state.last_failure_ms > COOLDOWN_MS


def _probing(state: AiState, now_ms: int) -> bool:
    return state.probe_ms is not None and now_ms - state.probe_ms <= PROBE_LOST_MS


if TYPE_CHECKING:
    from lorestudio.systems.deeplore.inputs import Inputs
    from lorestudio.systems.deeplore.state import RunState


logger = logging.getLogger(__name__)

_NEVER_ASKED: Final = frozenset({ErrorKind.NO_RECORDED_ANSWER, ErrorKind.NOT_SUPPORTED, ErrorKind.NO_KEY})


NO_PROXY: Final = "DeepLore has no proxy connections since 2.5. Choose a connection profile for the AI selection."


async def ask(state: RunState, ctx: Inputs, request: ChatRequest) -> ChatReply:
    """The answer. Raises LlmError where there is none; question and outcome are in the trace.

    Whatever else the source raises is such an error too, as in DeepLore (rules: deeplore-tools 1.8 "Count as failure"),
    named by its class; only being stopped on purpose passes through.
    """
    if ctx.rules.no_proxy and ctx.settings.ai_search_connection_mode == "proxy":
        raise LlmError(ErrorKind.UNKNOWN, NO_PROXY, who=ctx.answers.label)
    merged, label, begun = ctx.settings.ai_force_user_role, ctx.answers.label, ctx.moment.timer()
    reply, error = None, None
    try:
        reply = await ctx.answers.answer(as_sent(request, merged=merged))
    except LlmError as reported:
        error = reported
        raise
    except Stopped:
        raise
    except Exception as failure:
        logger.exception("The answer source %r failed", label)
        error = LlmError(ErrorKind.UNKNOWN, f"{type(failure).__name__}: {failure}", who=label)
        raise error from failure
    else:
        return reply
    finally:
        if reply is not None or (error is not None and error.kind not in _NEVER_ASKED):
            duration_ms = 1000 * (ctx.moment.timer() - begun)
            state.ai_calls.append(on_record(request, label, duration_ms, merged=merged, reply=reply, error=error))


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
            **picked(reply, "notes", "live"),
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


def give_probe_back(state: RunState, ctx: Inputs, ledger: Ledger) -> None:
    """A call without a verdict keeps the breaker's probe out in 2.0.2, unless that is mended."""
    if ctx.rules.probe_freed:
        state.ai = released(state.ai)
    elif ctx.is_fixed("probe_leak") and state.ai.probe_ms is not None:
        state.ai = released(state.ai)
        state.note_switch("probe_leak", ledger.name, "the probe was given back")


STORY_HEADING = "[STORY CONTEXT: the setting, for your understanding]"
CHAT_HEADING = "[RECENT CHAT]"
SUMMARY_HEADING = "[SESSION SUMMARY: what happened before the messages above]"


class Conversation(Struct, frozen=True):
    """The text, and whether the chat counts as new. The text is empty when there is nothing to read."""

    text: str
    new_chat: bool


def settled(chat: Sequence[Message]) -> Sequence[Message]:
    """The chat without a trailing reply, so that a swipe sees the same conversation."""
    return chat[:-1] if chat and not chat[-1].is_user and not chat[-1].is_system else chat


def conversation(
    chat: Sequence[Message],
    visible: Sequence[Entry],
    summary: str,
    settings: DeepLoreSettings,
    *,
    hide_trailing: bool = True,
    searched_only: bool = False,
) -> Conversation:
    """What the model is told of the chat, with the seeds' story in a new chat and the session summary if wanted."""
    known = settled(chat) if hide_trailing else chat
    new_chat = len(known) <= settings.new_chat_threshold
    text = transcript(known, settings.ai_search_scan_depth, searched_only=searched_only)
    if not trim(text):
        return Conversation("", new_chat)
    seeds = [entry.content for entry in visible if entry.seed] if new_chat else []
    if seeds:
        story = "\n\n".join(seeds)
        text = f"{STORY_HEADING}\n{story}\n\n{CHAT_HEADING}\n{text}"
    if settings.scribe_informed_retrieval and trim(summary):
        text = f"{text}\n\n{SUMMARY_HEADING}\n{trim(summary)}"
    return Conversation(text, new_chat)
