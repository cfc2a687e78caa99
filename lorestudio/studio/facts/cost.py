"""What drawing facts out would cost: it is done once without a model, in memory, and the requests are counted."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from lorestudio.domain.chat import Chat
from lorestudio.domain.tokens import TokenCounter
from lorestudio.llm.budgeting import CostEstimate, estimate
from lorestudio.llm.embedding import HashEmbedder
from lorestudio.llm.messages import FACTS, ChatReply, ChatRequest
from lorestudio.studio.answering import load_recorded
from lorestudio.studio.facts.passages import Passage
from lorestudio.studio.facts.session import FactsSession

_FACT: Final = json.dumps({"memories": [{"content": "Somebody said something.", "source": "inferred"}]})


@dataclass(slots=True)
class _Counted:
    """Answers every request with one fact, and keeps the requests."""

    requests: list[ChatRequest] = field(default_factory=list)
    name: str = "count"
    label: str = "count"

    async def answer(self, request: ChatRequest) -> ChatReply:
        self.requests.append(request)
        return ChatReply(_FACT if request.kind == FACTS else "{}")


async def facts_cost(
    session: FactsSession,
    chat: Chat,
    path: Path | None,
    passages: Sequence[Passage],
    counter: TokenCounter,
    *,
    fresh: bool = False,
) -> CostEstimate:
    """What drawing facts out of these passages costs with the session's model; recorded answers are free unless fresh.

    Vectors are not counted: how many are made depends on how many facts there are. A second look is counted without the
    facts that it is shown. Raises AnsweringError where the recording is unreadable.
    """
    counted = _Counted()
    settings = session.settings
    with FactsSession(settings, None, counted, session.model, HashEmbedder(), in_memory=True) as trial:
        await trial.extract(chat, path, passages)
    is_recorded: Callable[[ChatRequest], bool] | None = None
    if path is not None and not fresh:
        is_recorded = (await asyncio.to_thread(load_recorded, path)).holds
    return estimate(counted.requests, counter, is_recorded)
