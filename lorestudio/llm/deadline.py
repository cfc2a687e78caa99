"""A time limit that holds even when what is being waited for does not stop when told to."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, Final, TypeVar

GRACE_S: Final = 0.5
"""How long a cancelled exchange may take to close its connection (spec: deeplore-ai-and-tools 1.3, backup timer)."""

_Result = TypeVar("_Result")


async def within(seconds: float, work: Coroutine[Any, Any, _Result]) -> _Result:
    """The result of `work`, or TimeoutError after `seconds`; at most GRACE_S later if it does not stop by itself.

    When the waiting task is cancelled, `work` is cancelled and has closed its connection before this returns.
    """
    task = asyncio.create_task(work)
    try:
        await asyncio.wait({task}, timeout=max(seconds, 0))
    except asyncio.CancelledError:
        await _stop(task)
        raise
    if not task.done():
        await _stop(task)
        raise TimeoutError
    return task.result()


async def _stop(task: asyncio.Task[Any]) -> None:
    task.cancel()
    # What it ends with is of no interest any more, but has to be fetched, or asyncio complains that nobody did.
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
    await asyncio.wait({task}, timeout=GRACE_S)
