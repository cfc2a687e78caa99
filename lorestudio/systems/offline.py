"""What a model answered before, for runs that nobody wants to pay or wait for, such as those while a person types."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from msgspec import Struct, field

from lorestudio.domain.json_text import texts_in
from lorestudio.llm.errors import ErrorKind, LlmError
from lorestudio.llm.messages import AnswerSource, ChatReply, ChatRequest, as_sent
from lorestudio.llm.recorded_answers import RecordedAnswers
from lorestudio.llm.stand_in import StandInAnswers
from lorestudio.trace.model import AiCall, Trace


class Unanswered(StrEnum):
    """What is done with a question that nobody was asked before."""

    FAIL = "fail"
    """It fails, and the run falls back as the settings say."""
    STAND_IN = "stand-in"
    """The offline stand-in answers it."""


class Answered(StrEnum):
    """Where an answer came from, in a sentence."""

    SAME = "The model's answer is the one it gave before."
    """The very same question was answered before: in the trace that is compared with, or in the recording."""
    STAND_IN = "The offline stand-in answers for the model."
    NONE = "The model was not asked: no answer to the changed question is recorded, so the fallback is taken."


class OfflineAnswers(Struct):
    """Answers from the trace of the same generation that `earlier` gets, and from `recorded`, which was read already.

    Never asks a provider or a person. `answered` says of every question so far where its answer came from.
    """

    earlier: Callable[[], Trace | None]
    recorded: RecordedAnswers | None = None
    unanswered: Unanswered = Unanswered.FAIL
    answered: list[Answered] = []
    label: str = "answers given before"
    _stand_in: AnswerSource = field(default_factory=StandInAnswers)

    @property
    def name(self) -> str:
        """What tells it from other sources; where the stand-in answers in the end, its name."""
        return str(self.unanswered) if self.unanswered is Unanswered.STAND_IN else "offline"

    @property
    def sentences(self) -> tuple[str, ...]:
        """A sentence for each question so far on where its answer came from."""
        return tuple(map(str, self.answered))

    def lacks(self) -> tuple[str, ...]:
        """A sentence where a question had no answer."""
        return (str(Answered.NONE),) if Answered.NONE in self.answered else ()

    async def answer(self, request: ChatRequest) -> ChatReply:
        """The answer. Raises LlmError of kind `no_recorded_answer` where there is none."""
        trace = self.earlier()
        known = trace.ai_calls if trace is not None else ()
        calls = (call for call in known if call.kind == request.kind and not call.error)
        same = next((call for call in calls if _is_same(call, request)), None)
        if same is not None:
            return self._given(Answered.SAME, _reply(same))
        if self.recorded is not None and self.recorded.holds(request):
            return self._given(Answered.SAME, await self.recorded.answer(request))
        if self.unanswered is Unanswered.STAND_IN:
            return self._given(Answered.STAND_IN, await self._stand_in.answer(request))
        self.answered.append(Answered.NONE)
        told = "no answer to the changed question is recorded, and no model is asked for a preview"
        advice = "Save the note and run the generation again to ask."
        raise LlmError(ErrorKind.NO_RECORDED_ANSWER, told, advice=advice)

    def _given(self, answered: Answered, reply: ChatReply) -> ChatReply:
        stood_in = answered is Answered.SAME and reply.source == self._stand_in.label
        self.answered.append(Answered.STAND_IN if stood_in else answered)
        return reply


def _is_same(call: AiCall, request: ChatRequest) -> bool:
    """Whether the recorded call put this question; limits that do not decide the answer may differ."""
    put = as_sent(ChatRequest(call.kind, call.system, call.user), merged=call.details.get("merged_into_user") is True)
    return (put.system, put.user, call.model, call.max_tokens, call.json_schema) == (
        request.system,
        request.user,
        request.model,
        request.max_tokens,
        request.json_schema is not None,
    )


def _reply(call: AiCall) -> ChatReply:
    value, notes = call.details.get("value"), texts_in(call.details.get("notes"))
    return ChatReply(call.reply, source=call.source, value=value, notes=notes, repeatable=True)
