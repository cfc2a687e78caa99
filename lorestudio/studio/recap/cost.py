"""What the work on a queue would cost: it is done once with the offline stand-in, in memory, and counted."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from lorestudio.llm.budgeting import CostEstimate, estimate
from lorestudio.llm.messages import ChatReply, ChatRequest
from lorestudio.llm.stand_in import StandInAnswers
from lorestudio.memory.recap.work import MemoryBook, RecapWork
from lorestudio.memory.recap.worker import Worker
from lorestudio.studio.recap.session import RecapSession


@dataclass(slots=True)
class _Counted:
    """The stand-in, with its questions kept."""

    requests: list[ChatRequest] = field(default_factory=list)
    name: str = "stand-in"
    label: str = "offline stand-in"

    async def answer(self, request: ChatRequest) -> ChatReply:
        self.requests.append(request)
        return await StandInAnswers().answer(request)


async def recap_cost(session: RecapSession) -> CostEstimate:
    """What the queue costs with a provider. A model that finds other scenes asks more, or less."""
    counted = _Counted()
    context = replace(session.context, answers=counted, on_call=None)
    state = replace(session.queue, paused=False)
    await Worker(state, RecapWork(MemoryBook(session.chat), context), max_retries=1).run()
    return estimate(counted.requests, context.around.counter)
