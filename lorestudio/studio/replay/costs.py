"""What asking a provider would cost, found by a dry run before anybody is asked."""

from __future__ import annotations

from dataclasses import dataclass, field

from lorestudio.domain.chat import Chat
from lorestudio.llm.cost import CostEstimate, estimate
from lorestudio.llm.messages import ChatReply, ChatRequest
from lorestudio.llm.recorded_answers import RecordedAnswers
from lorestudio.llm.stand_in import StandInAnswers
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.systems.registry import system_of


@dataclass(slots=True)
class RequestCollector:
    """Keeps every request, and answers with what is recorded, otherwise like the offline stand-in."""

    recorded: RecordedAnswers | None = None
    requests: list[ChatRequest] = field(default_factory=list)
    name: str = "dry run"
    label: str = "dry run"
    _stand_in: StandInAnswers = field(default_factory=StandInAnswers)

    async def answer(self, request: ChatRequest) -> ChatReply:
        """The recorded answer or the stand-in's. Raises LlmError as they do."""
        self.requests.append(request)
        if self.recorded is not None and self.recorded.holds(request):
            return await self.recorded.answer(request)
        return await self._stand_in.answer(request)


async def estimate_replay(
    project: Project, recorded: RecordedAnswers | None = None, *, model: str = ""
) -> CostEstimate:
    """How many calls a replay of the project's chat makes and roughly how many tokens they are.

    `model` is the one that the replay will name; answers in `recorded`, which was read already, are free. A live run
    may differ a little, since its answers decide which later ones come from the cache.
    """
    collector = RequestCollector(recorded)
    await Simulator(project, system_of(project.scene(collector, model))).replay()
    return _priced(collector, project)


async def estimate_note(project: Project, focus: str = "", recorded: RecordedAnswers | None = None) -> CostEstimate:
    """What one session note about the project's chat costs; answers in `recorded` (read already) are free."""
    collector = RequestCollector(recorded)
    system = system_of(project.scene(collector))
    # The stand-in writes none; the question is what is wanted.
    await system.write_note(project.chat or Chat(), project.controls, focus)
    return _priced(collector, project)


def _priced(collector: RequestCollector, project: Project) -> CostEstimate:
    recorded = collector.recorded
    return estimate(collector.requests, project.counter, recorded.holds if recorded is not None else None)
