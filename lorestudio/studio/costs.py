"""What a live replay would cost, found by a dry run before anybody is asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from lorestudio.llm.budgeting import CostEstimate, estimate
from lorestudio.llm.messages import ChatReply, ChatRequest
from lorestudio.llm.stand_in import StandInAnswers
from lorestudio.studio.project import Project
from lorestudio.studio.simulator import Simulator


@dataclass(slots=True)
class RequestCollector:
    """Answers like the offline stand-in and keeps every request."""

    requests: list[ChatRequest] = field(default_factory=list)
    name: str = "dry run"
    label: str = "dry run"
    _stand_in: StandInAnswers = field(default_factory=StandInAnswers)

    async def answer(self, request: ChatRequest) -> ChatReply:
        """The stand-in's answer. Raises LlmError as it does."""
        self.requests.append(request)
        return await self._stand_in.answer(request)


async def estimate_replay(project: Project, is_recorded: Callable[[ChatRequest], bool] | None = None) -> CostEstimate:
    """How many calls a replay of the project's chat makes and roughly how many tokens they are.

    A live run may differ a little, since its answers decide which later ones come from the cache.
    """
    collector = RequestCollector()
    await Simulator(project, collector).replay()
    return estimate(collector.requests, project.counter, is_recorded)
