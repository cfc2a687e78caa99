import asyncio
import json
import random

import pytest

from lorestudio.exchange.problems import InputError
from lorestudio.llm.errors import ErrorKind, LlmError
from lorestudio.systems.recap.queue import (
    ANSWER,
    HopelessError,
    NewOperation,
    Priority,
    QueuedOperation,
    QueueState,
    Status,
    StoredAnswer,
    read_queue,
    write_queue,
)
from lorestudio.systems.recap.worker import Worker


class Performer:
    """Does what the test says; keeps what was asked and stored."""

    def __init__(self, ask=None, store=None, failed=None):
        self.asked, self.stored, self.failures = [], [], []
        self._ask, self._store, self._failed = ask, store, failed

    def delays(self, _):
        return 0, 0

    async def ask(self, operation):
        self.asked.append(operation.id)
        return await self._ask(operation) if self._ask else f"answer to {operation.type}"

    async def store(self, current):
        operation = current()
        self.stored.append((operation.type, operation.metadata[ANSWER]))
        return self._store(operation) if self._store else StoredAnswer()

    async def failed(self, operation, error):
        self.failures.append((operation.type, error))
        return self._failed(operation) if self._failed else StoredAnswer()


class Sleeps:
    def __init__(self):
        self.seconds = []

    async def __call__(self, seconds):
        self.seconds.append(seconds)
        await asyncio.sleep(0)


def made(performer, state=None, **options):
    options.setdefault("sleep", Sleeps())
    return Worker(state or QueueState(), performer, now_ms=lambda: 5, draw=random.Random(1).random, **options)


def failing(*errors):
    """Raises these errors in order and then answers."""
    left = list(errors)

    async def ask(operation):
        if left:
            raise left.pop(0)
        return "at last"

    return ask


def run(worker, *types, **options):
    async def work():
        for kind in types:
            await worker.enqueue(NewOperation(kind, **options))
        await worker.run()

    asyncio.run(work())


def test_failures_are_tried_again_after_growing_pauses():
    sleeps = Sleeps()
    performer = Performer(failing(*[RuntimeError("HTTP 400")] * 6))
    worker = made(performer, sleep=sleeps)
    run(worker, "recap")
    assert sleeps.seconds == [10, 20, 40, 80, 160, 300]
    assert performer.stored == [("recap", "at last")]
    assert worker.state.operations == ()


@pytest.mark.parametrize(("asked_s", "waited_s"), [(45, 45), (3, 10), (9000, 300)])
def test_a_pause_that_a_provider_asks_for_is_kept(asked_s, waited_s):
    sleeps = Sleeps()
    run(made(Performer(failing(LlmError(ErrorKind.RATE_LIMITED, retry_after_s=asked_s))), sleep=sleeps), "recap")
    assert sleeps.seconds == [waited_s]


def test_after_the_last_attempt_an_operation_fails_and_its_dependants_go_on():
    async def ask(operation):
        if operation.type == "recap":
            raise RuntimeError("busy")
        return "done"

    performer = Performer(ask)
    worker = made(performer, max_retries=2)

    async def work():
        first = await worker.enqueue(NewOperation("recap", priority=5))
        await worker.enqueue(NewOperation("later", dependencies=(first,)))
        await worker.run()

    asyncio.run(work())
    assert performer.failures == [("recap", "busy")]
    assert performer.stored == [("later", "done")]
    assert [(item.type, item.outcome) for item in worker.state.log] == [("recap", "failed"), ("later", "completed")]


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("401 Unauthorized"),
        HopelessError("no such message"),
        KeyError("a mistake in the program"),
        TypeError("another"),
        LlmError(ErrorKind.AUTHENTICATION),
        LlmError(ErrorKind.NO_RECORDED_ANSWER),
    ],
)
def test_what_another_attempt_cannot_mend_fails_at_once(error):
    performer = Performer(failing(error))
    worker = made(performer)
    run(worker, "recap")
    assert len(performer.asked) == 1
    assert [kind for kind, _ in performer.failures] == ["recap"]


@pytest.mark.parametrize("paused", [False, True])
def test_a_wait_for_the_next_attempt_is_cut_short(paused):
    begun = asyncio.Event()

    async def forever(_):
        begun.set()
        await asyncio.Event().wait()

    performer = Performer(failing(ValueError("busy")))
    worker = made(performer, sleep=forever)

    async def work():
        await worker.enqueue(NewOperation("recap"))
        running = asyncio.ensure_future(worker.run())
        await begun.wait()
        if paused:
            await worker.pause()
        else:
            worker.hurry()
        await asyncio.wait_for(running, 20)

    asyncio.run(work())
    assert performer.stored == ([] if paused else [("recap", "at last")])


def test_while_a_failed_operation_waits_it_can_be_paused_and_goes_on_later():
    performer = Performer(failing(RuntimeError("busy")))
    worker = made(performer)

    async def pausing(seconds):
        await worker.pause()

    worker.sleep = pausing
    run(worker, "recap")
    operation = worker.state.operations[0]
    assert (operation.status, operation.retries, worker.state.paused) == (Status.PENDING, 1, True)
    asyncio.run(worker.resume())
    asyncio.run(worker.run())
    assert performer.stored == [("recap", "at last")]


def test_an_operation_is_removed_while_its_question_is_under_way():
    async def work():
        began, cancelled = asyncio.Event(), []

        async def ask(operation):
            began.set()
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                cancelled.append(operation.id)
                raise

        performer = Performer(ask)
        worker = made(performer)
        first = await worker.enqueue(NewOperation("recap"))
        running = asyncio.create_task(worker.run())
        await began.wait()
        assert await worker.remove(first)
        assert not await worker.remove("op_none")
        await asyncio.wait_for(running, 60)
        assert cancelled == [first]
        assert performer.stored == []
        assert worker.state.operations == ()
        assert worker.state.log[-1].outcome == "cancelled"

    asyncio.run(work())


def test_clearing_drops_what_would_follow():
    async def work():
        worker = made(Performer())
        version = worker.state.queue_version
        await worker.enqueue(NewOperation("recap"))
        await worker.enqueue(NewOperation("recap"))
        assert await worker.clear() == 2
        assert worker.state.operations == ()
        assert await worker.enqueue(NewOperation("recap"), version) is None
        assert await worker.enqueue(NewOperation("recap"), version + 1) is not None

    asyncio.run(work())


def test_follow_ups_of_a_cleared_operation_are_dropped():
    async def work():
        worker = made(Performer())

        def store(operation):
            worker.state = worker.state.cleared()
            return StoredAnswer((NewOperation("next"),))

        worker.performer = Performer(store=store)
        await worker.enqueue(NewOperation("recap"))
        await worker.run()
        assert worker.state.operations == ()

    asyncio.run(work())


def test_what_waits_for_an_operation_waits_for_what_follows_it():
    def store(operation):
        if operation.type == "stage 1":
            return StoredAnswer((NewOperation("stage 2", priority=Priority.STAGE),), hands_on=True)
        return StoredAnswer()

    performer = Performer(store=store)
    worker = made(performer)

    async def work():
        first = await worker.enqueue(NewOperation("stage 1", priority=1))
        await worker.enqueue(NewOperation("combine", priority=99, dependencies=(first,)))
        await worker.run()

    asyncio.run(work())
    assert [kind for kind, _ in performer.stored] == ["stage 1", "stage 2", "combine"]


def test_a_pause_before_an_operation_stops_there_once():
    performer = Performer()
    worker = made(performer)

    async def work():
        await worker.enqueue(NewOperation("first", priority=2))
        second = await worker.enqueue(NewOperation("second"))
        assert await worker.toggle_pause_before(second)
        await worker.run()
        assert [kind for kind, _ in performer.stored] == ["first"]
        assert worker.state.paused
        await worker.resume()
        await worker.run()

    asyncio.run(work())
    assert [kind for kind, _ in performer.stored] == ["first", "second"]


class Killed(BaseException):
    """The process ends here."""


def test_whenever_it_ends_nothing_is_asked_or_stored_twice():
    """Ends before each single writing of the queue, and goes on from what was written last."""

    def store(operation):
        return StoredAnswer((NewOperation("second"),) if operation.type == "first" else ())

    for last in range(30):
        disk, asked, stored, writings = [write_queue(QueueState())], [], [], 0

        async def keep(state, disk=disk, last=last):
            nonlocal writings
            if writings == last:
                raise Killed
            writings += 1
            disk[0] = write_queue(state)

        performer = Performer(store=store)
        performer.asked, performer.stored = asked, stored
        worker = made(performer, keep=keep)
        try:
            run(worker, "first")
            finished = True
        except Killed:
            finished = False
        again = Performer(store=store)
        again.asked, again.stored = asked, stored
        after = made(again, read_queue(json.dumps(disk[0])))
        if last == 0:  # the operation was never taken
            assert not after.state.operations
            continue
        asyncio.run(after.run())
        types = [item.type for item in after.state.log]
        assert types == ["first", "second"], last
        # An answer that was written down is never asked for again; only the question under way may be lost.
        assert len(asked) <= 3
        assert {kind for kind, _ in stored} == {"first", "second"}
        if finished:
            assert len(asked) == 2
            break
    else:
        pytest.fail("the queue never came to its end")


def test_an_answer_that_was_written_down_is_not_asked_for_again():
    kept = QueuedOperation("op_1", "recap", status=Status.IN_PROGRESS, metadata={ANSWER: "from before"})
    performer = Performer()
    worker = made(performer, read_queue(json.dumps(write_queue(QueueState((kept,), "op_1")))))
    asyncio.run(worker.run())
    assert performer.asked == []
    assert performer.stored == [("recap", "from before")]


def test_a_chat_that_cannot_be_written_ends_the_work_and_its_answer_stays_in_the_queue():
    left, disk, sleeps = [InputError("chat.jsonl", "the chat cannot be written: disk full.")], [], Sleeps()

    def store(_operation):
        if left:
            raise left.pop() from OSError("disk full")
        return StoredAnswer()

    async def keep(state):
        disk.append(write_queue(state))

    performer = Performer(store=store)
    with pytest.raises(InputError, match="disk full"):
        run(made(performer, keep=keep, sleep=sleeps), "recap")
    assert sleeps.seconds == []
    again = made(performer, read_queue(json.dumps(disk[-1])))
    asyncio.run(again.run())
    assert len(performer.asked) == 1
    assert [item.outcome for item in again.state.log] == ["completed"]


@pytest.mark.parametrize("error", [RuntimeError("busy"), InputError("chat.jsonl", "another program keeps writing.")])
def test_storing_that_goes_wrong_is_tried_again_without_asking_again(error):
    left = [error]

    def store(_operation):
        if left:
            raise left.pop()
        return StoredAnswer()

    performer = Performer(store=store)
    worker = made(performer)
    run(worker, "recap")
    assert len(performer.asked) == 1
    assert len(performer.stored) == 2


def test_progress_tells_what_is_under_way_and_when_it_is_tried_again():
    seen = []
    performer = Performer(failing(RuntimeError("busy")))
    worker = made(performer, on_progress=seen.append)
    run(worker, "recap")
    assert any(item.retry_in_s == 10 for item in seen)
    assert any(item.operation is not None and item.operation.type == "recap" for item in seen)
    assert seen[-1].state.operations == ()


def test_unknown_keys_of_the_queues_file_stay():
    stored = {"queue": [{"id": "op_1", "type": "chat", "own": 1}], "paused": True, "theirs": [2]}
    written = write_queue(read_queue(json.dumps(stored)))
    assert written["theirs"] == [2]
    assert written["queue"][0]["own"] == 1
    assert written["paused"] is True
