"""What asking a provider would cost, found by a dry run before anybody is asked."""

from __future__ import annotations

from lorestudio.domain.chat import Chat
from lorestudio.llm.cost import CostEstimate, RequestCollector, estimate
from lorestudio.llm.messages import AnswerSource, ChatReply, ChatRequest
from lorestudio.llm.recorded_answers import RecordedAnswers
from lorestudio.llm.stand_in import StandInAnswers
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.systems.registry import system_of


def _collector(recorded: RecordedAnswers | None) -> RequestCollector:
    """Answers with what is recorded, otherwise like the offline stand-in."""
    stand_in = StandInAnswers()

    async def ask(request: ChatRequest) -> ChatReply:
        source: AnswerSource = stand_in if recorded is None or not recorded.holds(request) else recorded
        return await source.answer(request)

    return RequestCollector(ask)


async def estimate_replay(
    project: Project, recorded: RecordedAnswers | None = None, *, model: str = ""
) -> CostEstimate:
    """How many calls a replay of the project's chat makes and roughly how many tokens they are.

    `model` is the one that the replay will name; answers in `recorded`, which was read already, are free. A live run
    may differ a little, since its answers decide which later ones come from the cache.
    """
    collector = _collector(recorded)
    await Simulator(project, system_of(project.scene(collector, model))).replay()
    return _priced(collector, project, recorded)


async def estimate_note(project: Project, focus: str = "", recorded: RecordedAnswers | None = None) -> CostEstimate:
    """What one session note about the project's chat costs; answers in `recorded` (read already) are free."""
    collector = _collector(recorded)
    system = system_of(project.scene(collector))
    # The stand-in writes none; the question is what is wanted.
    await system.write_note(project.chat or Chat(), project.controls, focus)
    return _priced(collector, project, recorded)


def _priced(collector: RequestCollector, project: Project, recorded: RecordedAnswers | None) -> CostEstimate:
    return estimate(collector.requests, project.counter, recorded.holds if recorded is not None else None)
