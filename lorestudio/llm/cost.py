"""What a live replay will roughly cost, said before it starts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Final

from msgspec import Struct, field

from lorestudio.domain.json_text import spell
from lorestudio.domain.tokens import TokenCounter
from lorestudio.llm.messages import ChatReply, ChatRequest
from lorestudio.llm.stand_in import StandInAnswers
from lorestudio.trace.wording import plural

MESSAGE_OVERHEAD = 4
"""Tokens that a message costs beside its text, as chat formats have it; a rule of thumb, part of the estimate."""


class CostEstimate(Struct, frozen=True):
    """Calls to be made, and tokens: those sent, and at most those received. `recorded` calls are not made.

    `exact` is False where the texts were counted by estimate, and `calibrated` says by how many answers, whose size the
    provider reported, that was put right. `models` are those that the requests name.
    """

    calls: int = 0
    recorded: int = 0
    input_tokens: int = 0
    most_output_tokens: int = 0
    exact: bool = True
    models: tuple[str, ...] = ()
    calibrated: int = 0

    @property
    def sentence(self) -> str:
        """For people, before they agree."""
        free = f" {plural(self.recorded, '# answer|# answers')} already recorded." if self.recorded else ""
        if not self.calls:
            return f"No calls to a provider are needed.{free}"
        about = "" if self.exact else "≈ "
        by = f" (calibrated by {plural(self.calibrated, '# answer|# answers')})" if self.calibrated else ""
        return (
            f"{plural(self.calls, '# call|# calls')} to the provider: {about}{self.input_tokens:,} tokens sent"
            f"{by}, at most {self.most_output_tokens:,} received.{free}"
        )


class RequestCollector(Struct):
    """Keeps every request of a dry run, and of recorded answers the size that the provider reported.

    `ask` answers, the offline stand-in unless told otherwise.
    """

    ask: Callable[[ChatRequest], Awaitable[ChatReply]] = field(default_factory=lambda: StandInAnswers().answer)
    requests: list[ChatRequest] = []
    reported: list[tuple[ChatRequest, int]] = []
    name: str = "dry run"
    label: str = "dry run"

    async def answer(self, request: ChatRequest) -> ChatReply:
        """The answer to a request. Raises LlmError."""
        self.requests.append(request)
        reply = await self.ask(request)
        if reply.usage.input > 0:
            self.reported.append((request, reply.usage.input))
        return reply


def estimate(
    requests: Iterable[ChatRequest],
    counter: TokenCounter,
    is_recorded: Callable[[ChatRequest], bool] | None = None,
    reported: Sequence[tuple[ChatRequest, int]] = (),
) -> CostEstimate:
    """Estimate what asking all `requests` costs; those that `is_recorded` says are free.

    `reported` are requests with the tokens that the provider found in them: they say by what factor an estimate is off.

    The requests are those of a dry run with the offline stand-in. A live run may differ by a few, since answers decide
    which later ones come from the cache. Counts every text, so a window calls it from a worker.
    """
    models: dict[str, None] = {}
    calls = recorded = sent = received = 0
    for request in requests:
        if is_recorded is not None and is_recorded(request):
            recorded += 1
            continue
        calls += 1
        if request.model:
            models[request.model] = None
        sent += _size(request, counter)
        received += request.max_tokens
    pairs = [] if counter.exact or not sent else [(_size(request, counter), tokens) for request, tokens in reported]
    pairs = [(size, tokens) for size, tokens in pairs if _LEAST <= tokens / size <= 1 / _LEAST]
    if pairs:
        sent = round(sent * sum(tokens for _, tokens in pairs) / sum(size for size, _ in pairs))
    return CostEstimate(calls, recorded, sent, received, counter.exact, tuple(models), len(pairs))


_LEAST: Final = 0.2
"""No tokenizer is so far off; such an answer was mostly cached, or the provider counts something else."""


def _size(request: ChatRequest, counter: TokenCounter) -> int:
    texts = list(request.texts)
    if request.json_schema is not None:
        texts.append(spell(request.json_schema))
    return sum(counter.count(text) + MESSAGE_OVERHEAD for text in texts)
