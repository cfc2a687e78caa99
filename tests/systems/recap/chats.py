"""Chats and answers for tests of recap memory."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping, Sequence
from typing import Any

from lorestudio.domain.records import replace
from lorestudio.settings.recap import RecapSettings
from lorestudio.systems.recap.asking import WorkContext
from lorestudio.systems.recap.chat import RecapChat, RecapSurroundings
from lorestudio.systems.recap.queue import NewOperation, QueueState
from lorestudio.systems.recap.worker import MemoryBook, RecapWork, Worker
from tests.cases.recap import Words
from tests.scripted_answers import ScriptedAnswers

QUIET: Mapping[str, Any] = {
    "auto_scene_break_minimum_scene_length": 2,
    "auto_scene_break_message_offset": 0,
    "auto_hide_scene_count": 0,
}
"""Short scenes, nothing left alone, nothing hidden."""


def chat(*texts: str, name: str = "Tale") -> RecapChat:
    """User and character in turn."""
    return RecapChat(
        name,
        tuple(
            {"name": "Wren" if index % 2 == 0 else "Quay", "is_user": index % 2 == 0, "is_system": False, "mes": text}
            for index, text in enumerate(texts)
        ),
        user_name="Wren",
        character_name="Quay",
    )


async def no_sleep(seconds: float) -> None:
    await asyncio.sleep(0)


class World:
    """A chat in memory with its queue, and a script for the model."""

    def __init__(
        self,
        start: RecapChat,
        script: Mapping[str, Sequence[Any]] | None = None,
        context_size: int = 0,
        **settings: Any,
    ) -> None:
        replies = {
            kind: [item if isinstance(item, dict) else {"text": item} for item in items]
            for kind, items in (script or {}).items()
        }
        self.answers = Asked(ScriptedAnswers(replies))
        self.book = MemoryBook(start)
        own = RecapSettings(**{**QUIET, "max_retries": 2, **settings})
        self.context = WorkContext(
            RecapSurroundings(own, Words()), self.answers, context_size=context_size, now_ms=lambda: 1000
        )
        self.worker = Worker(
            QueueState(),
            RecapWork(self.book, self.context),
            own.max_retries,
            now_ms=lambda: 1000,
            sleep=no_sleep,
            draw=random.Random(1).random,
        )

    @property
    def chat(self) -> RecapChat:
        return self.book.chat

    def do(self, *operations: NewOperation) -> World:
        """Queue operations and work until nothing is left."""

        async def work() -> None:
            for operation in operations:
                await self.worker.enqueue(operation)
            await self.worker.run()

        asyncio.run(work())
        return self

    def data(self, index: int) -> Any:
        return self.chat.messages[index].get("extra", {}).get("auto_recap", {})

    @property
    def log(self) -> list[tuple[str, str]]:
        return [(item.type, item.outcome) for item in self.worker.state.log]


class Asked:
    """Answers that may be asked again: not marked as repeating, so that a bad one is tried once more."""

    name = "scripted"
    label = "scripted"

    def __init__(self, source: ScriptedAnswers) -> None:
        self.source = source
        self.requests: list[Any] = []

    async def answer(self, request: Any) -> Any:
        self.requests.append(request)
        return replace(await self.source.answer(request), repeatable=False)
