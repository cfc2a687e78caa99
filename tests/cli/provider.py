"""A provider on the loopback address that runs beside the command line, in a thread of its own."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.llm.server import Behaviour, Server, completion, reply


@contextmanager
def provider(*behaviours: Behaviour) -> Iterator[Server]:
    """A server that answers each request with the next behaviour, the last one again and again."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="provider")
    thread.start()

    def wait(work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, loop).result(10)

    server = Server(*behaviours)
    try:
        wait(server.__aenter__())
        try:
            yield server
        finally:
            wait(server.__aexit__(None, None, None))
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()


def choosing(*titles: str) -> Behaviour:
    """The answer of a model that chooses these entries."""
    picks = [{"title": title, "confidence": "high", "reason": "it is named"} for title in titles]
    return reply(completion(json.dumps(picks)))
