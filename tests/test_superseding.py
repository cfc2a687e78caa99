"""Runs that are given up write neither a trace nor a state, whatever they were doing (rules: deeplore 6.7)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from lorestudio.domain.chat import Chat, Message
from lorestudio.domain.lifecycle import Cancelled, CancelToken
from lorestudio.domain.records import replace
from lorestudio.domain.tokens import CHARS_4
from lorestudio.llm.messages import ChatReply, ChatRequest
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.ranges import Superseded
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.trace.model import StageRecord, Trace
from lorestudio.trace.storage.serialize import to_json
from lorestudio.vault.files import NoteFile, VaultFiles
from lorestudio.vault.index import build_index
from tests.simulators import answered

SETTINGS = DeepLoreSettings(enabled=True, ai_search_enabled=True, ai_search_mode="ai-only")
NOTES = tuple(
    NoteFile(f"{name}.md", f"---\ntags: [lorebook]\nkeys: [{name}]\n---\nText.\n") for name in ("Lamp", "Tide")
)
INDEX = build_index([VaultFiles("v", NOTES)], SETTINGS, CHARS_4)
CHAT = Chat(
    (
        Message("U", "The Lamp.", is_user=True), Message("Ann", "Yes."), Message("U", "The Tide.", is_user=True),
        Message("Ann", "No."), Message("U", "The Lamp again.", is_user=True),
    ),
    "U", "Ann",
)  # fmt: skip
PROJECT = Project((), INDEX, SETTINGS, chat=CHAT, seed=5)


class Slow:
    """Answers when it is told to. `asked` counts questions, `waiting` those that nobody has answered yet."""

    name = label = "slow"

    def __init__(self) -> None:
        self.asked = self.given_up = 0
        self.waiting: list[asyncio.Future[str]] = []
        self._news = asyncio.Event()

    async def answer(self, _request: ChatRequest) -> ChatReply:
        self.asked += 1
        future: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.waiting.append(future)
        self._news.set()
        try:
            return ChatReply(await future, source="slow")
        except asyncio.CancelledError:
            self.given_up += 1
            raise

    async def question(self, number: int = 1) -> None:
        """Wait until so many questions have been asked."""
        while self.asked < number:
            self._news.clear()
            await self._news.wait()

    def reply(self, text: str = '["Lamp"]') -> None:
        """Answer the oldest question."""
        self.waiting.pop(0).set_result(text)

    def keep_replying(self) -> asyncio.Task[None]:
        async def forever() -> None:
            while True:
                while self.waiting:
                    self.reply()
                self._news.clear()
                await self._news.wait()

        return asyncio.create_task(forever())


class Prompt:
    """Answers at once, as `Slow` does."""

    name = label = "slow"

    async def answer(self, _request: ChatRequest) -> ChatReply:
        return ChatReply('["Lamp"]', source="slow")


def comparable(trace: Trace) -> dict[str, Any]:
    """A trace without what differs from run to run: the time that things took."""
    calls = tuple(replace(call, duration_ms=0.0) for call in trace.ai_calls)
    return to_json(replace(trace, stages=tuple(map(still, trace.stages)), ai_calls=calls))


def still(record: StageRecord) -> StageRecord:
    return replace(record, duration_ms=0.0)


def undisturbed() -> Simulator:
    simulator = answered(PROJECT, Prompt())
    asyncio.run(simulator.replay())
    return simulator


WHOLE = undisturbed()


def is_whole(simulator: Simulator) -> bool:
    """Whether traces and states are those of a replay that nobody disturbed."""
    same = [comparable(trace) for trace in simulator.traces.values()] == [
        comparable(trace) for trace in WHOLE.traces.values()
    ]
    return same and simulator.states == WHOLE.states


def is_untouched(simulator: Simulator, done: int = 0) -> bool:
    """Whether exactly the first `done` generations are there, as in an undisturbed replay."""
    return list(simulator.traces) == list(WHOLE.generations[:done]) and simulator.states == WHOLE.states[:done]


Story = Callable[[Simulator, Slow], Awaitable[None]]


def play(story: Story) -> Simulator:
    slow = Slow()
    simulator = answered(PROJECT, slow)

    async def whole() -> None:
        await story(simulator, slow)

    asyncio.run(whole())
    return simulator


async def finish(simulator: Simulator, slow: Slow) -> None:
    """Replay to the end with an answer to every question."""
    replying = slow.keep_replying()
    await simulator.replay()
    replying.cancel()
    await asyncio.gather(replying, return_exceptions=True)


def test_the_undisturbed_replay_asks_in_every_generation() -> None:
    assert len(WHOLE.generations) == 3
    assert [len(trace.ai_calls) for trace in WHOLE.traces.values()] == [1, 1, 1]


def test_an_abandoned_run_writes_nothing_when_its_answer_comes() -> None:
    async def story(simulator: Simulator, slow: Slow) -> None:
        task = asyncio.create_task(simulator.generate(simulator.generations[0]))
        await slow.question()
        simulator.abandon()
        assert not task.done()
        slow.reply()
        with pytest.raises(Superseded):
            await task
        assert is_untouched(simulator)
        await finish(simulator, slow)

    assert is_whole(play(story))


def test_an_abandoned_run_keeps_what_was_finished_before() -> None:
    async def story(simulator: Simulator, slow: Slow) -> None:
        task = asyncio.create_task(simulator.replay())
        await slow.question()
        slow.reply()
        await slow.question(2)
        simulator.abandon()
        slow.reply('["Tide"]')
        with pytest.raises(Superseded):
            await task
        assert is_untouched(simulator, 1)
        await finish(simulator, slow)

    assert is_whole(play(story))


def test_an_abandoned_run_writes_nothing_though_a_newer_one_waits_at_the_same_place() -> None:
    """The old answer comes last, first, or not at all: only the newer run's counts."""

    async def story(simulator: Simulator, slow: Slow) -> None:
        old = asyncio.create_task(simulator.generate(simulator.generations[0]))
        await slow.question()
        simulator.abandon()
        new = asyncio.create_task(simulator.generate(simulator.generations[0]))
        await slow.question(2)
        slow.reply('["Tide"]')  # the old question
        with pytest.raises(Superseded):
            await old
        assert is_untouched(simulator)
        slow.reply()
        await new
        assert is_untouched(simulator, 1)
        await finish(simulator, slow)

    assert is_whole(play(story))


def test_an_old_answer_after_the_newer_run_is_over() -> None:
    async def story(simulator: Simulator, slow: Slow) -> None:
        old = asyncio.create_task(simulator.replay())
        await slow.question()
        simulator.abandon()
        late = slow.waiting.pop()
        await finish(simulator, slow)
        late.set_result('["Tide"]')
        with pytest.raises(Superseded):
            await old

    assert is_whole(play(story))


def test_resuming_supersedes_what_runs() -> None:
    async def story(simulator: Simulator, slow: Slow) -> None:
        task = asyncio.create_task(simulator.replay())
        await slow.question()
        traces = [WHOLE.traces[one] for one in WHOLE.generations[:2]]
        simulator.resume(WHOLE.finished[:2])
        slow.reply('["Tide"]')
        with pytest.raises(Superseded):
            await task
        assert list(simulator.traces.values()) == traces
        await finish(simulator, slow)

    assert is_whole(play(story))


def test_two_runs_of_one_epoch_write_each_generation_once() -> None:
    async def story(simulator: Simulator, slow: Slow) -> None:
        tasks = [asyncio.create_task(simulator.replay()) for _ in range(3)]
        replying = slow.keep_replying()
        results = await asyncio.gather(*tasks)
        replying.cancel()
        await asyncio.gather(replying, return_exceptions=True)
        assert results[0] == results[1] == results[2]

    assert is_whole(play(story))


def test_a_slow_run_behind_a_quicker_one_writes_no_second_state() -> None:
    """The slow one's answer to the first question comes when all generations are there."""

    async def story(simulator: Simulator, slow: Slow) -> None:
        behind = asyncio.create_task(simulator.replay())
        await slow.question()
        late = slow.waiting.pop()
        await finish(simulator, slow)
        late.set_result('["Tide"]')
        assert await behind == tuple(simulator.traces.values())

    assert is_whole(play(story))


def test_cancelling_in_the_middle_of_a_question_leaves_no_trace() -> None:
    async def story(simulator: Simulator, slow: Slow) -> None:
        task = asyncio.create_task(simulator.replay())
        await slow.question()
        slow.reply()
        await slow.question(2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert slow.given_up == 1  # the question itself was cancelled: a provider's connection would be closed
        assert is_untouched(simulator, 1)
        slow.waiting.clear()
        await finish(simulator, slow)
        assert slow.asked == 4  # the second generation was asked for again

    assert is_whole(play(story))


@pytest.mark.parametrize("after", [1, 2, 3])
def test_cancelling_at_any_question_and_going_on(after: int) -> None:
    async def story(simulator: Simulator, slow: Slow) -> None:
        task = asyncio.create_task(simulator.replay())
        for number in range(1, after):
            await slow.question(number)
            slow.reply()
        await slow.question(after)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert is_untouched(simulator, after - 1)
        slow.waiting.clear()
        await finish(simulator, slow)

    assert is_whole(play(story))


def test_a_stop_during_a_question_lets_that_generation_finish() -> None:
    """A token stops at the next generation; what was asked and answered is kept."""

    async def story(simulator: Simulator, slow: Slow) -> None:
        token = CancelToken()
        task = asyncio.create_task(simulator.run_missing(cancel=token))
        await slow.question()
        token.cancel()
        slow.reply()
        with pytest.raises(Cancelled):
            await task
        assert is_untouched(simulator, 1)
        await finish(simulator, slow)

    assert is_whole(play(story))


def test_abandoning_when_nothing_runs_changes_nothing() -> None:
    async def story(simulator: Simulator, slow: Slow) -> None:
        simulator.abandon()
        await finish(simulator, slow)
        simulator.abandon()

    assert is_whole(play(story))


def test_a_failing_question_is_a_trace_and_not_a_superseded_run() -> None:
    async def story(simulator: Simulator, slow: Slow) -> None:
        task = asyncio.create_task(simulator.generate(simulator.generations[0]))
        await slow.question()
        slow.reply("no list at all")
        trace = await task
        assert trace.facts["ai_error"]
        assert list(simulator.traces) == list(simulator.generations[:1])

    play(story)
