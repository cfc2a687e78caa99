"""What asking a provider would cost, found by a dry run before anybody is asked."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

from lorestudio.domain.chat import Chat
from lorestudio.llm.cost import CostEstimate, estimate
from lorestudio.llm.messages import ChatReply, ChatRequest
from lorestudio.llm.recorded_answers import RecordedAnswers
from lorestudio.llm.stand_in import StandInAnswers
from lorestudio.studio.project.answering import load_recorded
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

    def priced(self, project: Project) -> CostEstimate:
        """What the requests cost; recorded answers are free."""
        return estimate(self.requests, project.counter, self.recorded.holds if self.recorded is not None else None)


async def live_cost(project: Project, chat: Path | None, model: str, *, fresh: bool = False) -> CostEstimate:
    """How many calls a replay of the project's chat makes with a provider, and roughly how many tokens they are.

    `model` is the one that the replay will name; answers recorded beside `chat` are free unless everything is asked
    again. A live run may differ a little, since its answers decide which later ones come from the cache. Takes as long
    as a replay. Raises AnsweringError where the recording is unreadable.
    """
    collector = RequestCollector(None if fresh else await _recorded(chat))
    await Simulator(project, system_of(project.scene(collector, model))).replay()
    return collector.priced(project)


async def note_cost(project: Project, focus: str = "") -> CostEstimate:
    """What one session note about the project's chat costs with a provider; a recorded one is free.

    Raises AnsweringError where the recording is unreadable.
    """
    collector = RequestCollector(await _recorded(project.chat_path))
    system = system_of(project.scene(collector))
    # The stand-in writes none; the question is what is wanted.
    await system.write_note(project.chat or Chat(), project.controls, focus)
    return collector.priced(project)


async def _recorded(chat: Path | None) -> RecordedAnswers | None:
    return await asyncio.to_thread(load_recorded, chat) if chat is not None else None
