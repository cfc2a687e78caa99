"""Making the vectors of many texts with so many calls at a time (spec: fact-memory 9.2)."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from lorestudio.llm.embedding import Vector

USUAL: Final = 5


async def embed_all(
    texts: Sequence[str], embed: Callable[[str], Awaitable[Vector]], concurrency: float = USUAL, *, strict: bool
) -> list[Vector | None]:
    """The vectors in the order of the texts. Calls start in order, at most `concurrency` at a time.

    The first call that fails is raised. In safe mode the others are stopped before; in strict mode they empty the queue
    first, as the original's do behind one's back. Without a worker (strict, concurrency below 1) there are no vectors.
    """
    found: list[Vector | None] = [None] * len(texts)
    upcoming = iter(range(len(texts)))
    failures: list[Exception] = []

    async def work() -> None:
        for place in upcoming:
            try:
                found[place] = await embed(texts[place])
            except Exception as error:
                failures.append(error)
                raise

    workers = [asyncio.ensure_future(work()) for _ in range(min(_workers(concurrency, strict=strict), len(texts)))]
    if not workers:
        return found
    try:
        await asyncio.wait(workers, return_when=asyncio.ALL_COMPLETED if strict else asyncio.FIRST_EXCEPTION)
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
    if failures:
        raise failures[0]
    return found


def _workers(concurrency: float, *, strict: bool) -> int:
    if math.isnan(concurrency):
        return 0 if strict else USUAL
    if math.isinf(concurrency):
        return 10_000 if concurrency > 0 else int(not strict)
    return int(concurrency) if strict and concurrency > 0 else 0 if strict else max(1, int(concurrency))
