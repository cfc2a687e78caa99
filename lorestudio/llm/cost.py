"""What a live replay will roughly cost, said before it starts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field

from lorestudio.domain.json_text import spell
from lorestudio.domain.tokens import TokenCounter
from lorestudio.llm.messages import ChatReply, ChatRequest
from lorestudio.llm.stand_in import StandInAnswers

MESSAGE_OVERHEAD = 4
"""Tokens that a message costs beside its text, as chat formats have it; a rule of thumb, part of the estimate."""


@dataclass(frozen=True, slots=True)
class CostEstimate:
    """Calls to be made, and tokens: those sent, and at most those received. `recorded` calls are not made.

    `exact` is False where the texts were counted by estimate. `models` are those that the requests name.
    """

    calls: int = 0
    recorded: int = 0
    input_tokens: int = 0
    most_output_tokens: int = 0
    exact: bool = True
    by_kind: Mapping[str, int] = field(default_factory=dict)
    models: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """For people, before they agree."""
        free = f" {self.recorded:,} {_plural('answer', self.recorded)} already recorded." if self.recorded else ""
        if not self.calls:
            return f"No calls to a provider are needed.{free}"
        about = "" if self.exact else "≈ "
        return (
            f"{self.calls:,} {_plural('call', self.calls)} to the provider: {about}{self.input_tokens:,} tokens sent, "
            f"at most {self.most_output_tokens:,} received.{free}"
        )


@dataclass(slots=True)
class RequestCollector:
    """Keeps every request of a dry run; `ask` answers it, the offline stand-in unless told otherwise."""

    ask: Callable[[ChatRequest], Awaitable[ChatReply]] = field(default_factory=lambda: StandInAnswers().answer)
    requests: list[ChatRequest] = field(default_factory=list)
    name: str = "dry run"
    label: str = "dry run"

    async def answer(self, request: ChatRequest) -> ChatReply:
        """The answer to a request. Raises LlmError."""
        self.requests.append(request)
        return await self.ask(request)


def estimate(
    requests: Iterable[ChatRequest], counter: TokenCounter, is_recorded: Callable[[ChatRequest], bool] | None = None
) -> CostEstimate:
    """Estimate what asking all `requests` costs; those that `is_recorded` says are free.

    The requests are those of a dry run with the offline stand-in. A live run may differ by a few, since answers decide
    which later ones come from the cache. Counts every text, so a window calls it from a worker.
    """
    kinds: Counter[str] = Counter()
    models: dict[str, None] = {}
    recorded = sent = received = 0
    for request in requests:
        if is_recorded is not None and is_recorded(request):
            recorded += 1
            continue
        kinds[request.kind] += 1
        if request.model:
            models[request.model] = None
        texts = list(request.texts)
        if request.json_schema is not None:
            texts.append(spell(request.json_schema))
        sent += sum(counter.count(text) + MESSAGE_OVERHEAD for text in texts)
        received += request.max_tokens
    return CostEstimate(kinds.total(), recorded, sent, received, counter.exact, dict(kinds), tuple(models))


def _plural(word: str, count: int) -> str:
    return word if count == 1 else f"{word}s"
