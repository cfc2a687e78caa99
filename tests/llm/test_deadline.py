from __future__ import annotations

import asyncio
import time

import pytest

from lorestudio.llm.http.client import GRACE_S, within


async def stubborn(seconds: float, log: list[str]) -> str:
    """Does not stop when told to."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            await asyncio.sleep(end - time.monotonic())
        except asyncio.CancelledError:
            log.append("told to stop")
    return "late"


async def closing(log: list[str]) -> None:
    try:
        await asyncio.sleep(60)
    finally:
        await asyncio.sleep(0.05)
        log.append("closed")


def test_result_and_error_pass() -> None:
    async def good() -> int:
        return 5

    async def bad() -> int:
        raise KeyError("x")

    assert asyncio.run(within(1, good())) == 5
    with pytest.raises(KeyError):
        asyncio.run(within(1, bad()))


def test_limit_holds_for_work_that_does_not_stop() -> None:
    log: list[str] = []

    async def scenario() -> float:
        begun = time.monotonic()
        with pytest.raises(TimeoutError):
            await within(0.1, stubborn(GRACE_S + 0.3, log))
        taken = time.monotonic() - begun
        await asyncio.sleep(0.3)  # lets the abandoned work end inside the test
        return taken

    assert 0.1 <= asyncio.run(scenario()) < 0.1 + GRACE_S + 0.2
    assert log == ["told to stop"]


def test_work_has_closed_when_the_limit_strikes() -> None:
    log: list[str] = []
    with pytest.raises(TimeoutError):
        asyncio.run(within(0.05, closing(log)))
    assert log == ["closed"]


def test_work_has_closed_when_the_waiting_is_cancelled() -> None:
    log: list[str] = []

    async def scenario() -> None:
        task = asyncio.create_task(within(60, closing(log)))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(scenario())
    assert log == ["closed"]
