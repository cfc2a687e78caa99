"""What asking a provider would cost, found by a dry run before anybody is asked."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from lorestudio.domain.chat import Chat
from lorestudio.llm.cost import CostEstimate, RequestCollector, estimate
from lorestudio.llm.messages import AnswerSource, ChatReply, ChatRequest
from lorestudio.llm.stand_in import StandInAnswers
from lorestudio.studio.project.answering import load_recorded
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.systems.base import VectorCount
from lorestudio.systems.registry import system_of
from lorestudio.trace.wording import plural


async def _dry_run(
    project: Project, chat: Path | None, work: Callable[[RequestCollector], Awaitable[object]], *, fresh: bool
) -> CostEstimate:
    """What the work asks for, which is answered with what is recorded beside `chat`, or by the offline stand-in.

    Recorded answers are free unless everything is asked again. Raises AnsweringError where the recording is unreadable.
    """
    recorded = None if fresh or chat is None else await asyncio.to_thread(load_recorded, chat)
    stand_in = StandInAnswers()

    async def ask(request: ChatRequest) -> ChatReply:
        source: AnswerSource = stand_in if recorded is None or not recorded.holds(request) else recorded
        return await source.answer(request)

    collector = RequestCollector(ask)
    await work(collector)
    holds = recorded.holds if recorded is not None else None
    return estimate(collector.requests, project.bills, holds, collector.reported)


async def live_cost(
    project: Project, chat: Path | None, model: str, *, fresh: bool = False, until: int | None = None
) -> CostEstimate:
    """How many calls a replay of the project's chat makes with a provider, and roughly how many tokens they are.

    `until` is the place that the replay ends before, None for the chat's end; `model` is the one that the replay will
    name; answers recorded beside `chat` are free unless everything is asked again. A live run may differ a little,
    since its answers decide which later ones come from the cache. Takes as long as a replay. Raises AnsweringError
    where the recording is unreadable.
    """

    def replay(collector: RequestCollector) -> Awaitable[object]:
        return Simulator(project, system_of(project.scene(collector, model))).run_missing(until=until)

    return await _dry_run(project, chat, replay, fresh=fresh)


async def vector_cost(project: Project, counted: VectorCount, earlier: Simulator, until: int | None = None) -> str:
    """A sentence on the texts that a replay sends away for their vectors, "" where it has them all.

    `earlier` is who will replay: what it has run or takes over need not be run to find that out.
    """
    await Simulator(project, counted.system, earlier=(earlier, *earlier.earlier)).run_missing(until=until)
    if not counted.texts:
        return ""
    counter = project.bills
    tokens = sum(map(counter.count, counted.texts))
    whose = "notes and the chat" if counted.system.kind.heeds else "the chat"
    sent = plural(len(counted.texts), f"# text of {whose} goes|# texts of {whose} go")
    about = "" if counter.exact else "≈ "
    return f"{sent} to {counted.maker} for vectors: {about}{tokens:,} tokens. Vectors are kept and not asked for again."


async def note_cost(project: Project, focus: str = "", *, fresh: bool = False) -> CostEstimate:
    """What one session note about the project's chat costs with a provider; a recorded one is free unless `fresh`.

    Raises AnsweringError where the recording is unreadable.
    """

    def write(collector: RequestCollector) -> Awaitable[object]:  # the stand-in writes none; the question is wanted
        return system_of(project.scene(collector)).write_note(project.chat or Chat(), project.controls, focus)

    return await _dry_run(project, project.chat_path, write, fresh=fresh)


async def taking_cost(project: Project, place: int, *, fresh: bool = False) -> CostEstimate:
    """The same of notes taken from one reply."""

    def take(collector: RequestCollector) -> Awaitable[object]:
        return system_of(project.scene(collector)).take_notes(project.chat or Chat(), project.controls, place)

    return await _dry_run(project, project.chat_path, take, fresh=fresh)
