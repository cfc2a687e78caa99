"""Counters of a session: calls, cache hits, tokens (spec: deeplore-ai-and-tools 1.6.5, 1.9, 1.11)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from lorestudio.llm.messages import PREFILTER, ChatReply, Usage


@dataclass(frozen=True, slots=True)
class UsageStats:
    """What was asked since the session began; adding to it makes a new one.

    Category calls count in `hierarchical_calls` and not in `calls`, as in DeepLore. Tokens are those that providers
    reported, and only for replies that a provider was asked for; `replayed` counts the others.
    """

    calls: int = 0
    cached_hits: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    hierarchical_calls: int = 0
    replayed: int = 0

    def with_reply(self, kind: str, reply: ChatReply) -> UsageStats:
        """A request of that kind was answered; counts even if the answer proves unusable."""
        spent = reply.usage if reply.live else Usage()
        return replace(
            self,
            calls=self.calls + (kind != PREFILTER),
            hierarchical_calls=self.hierarchical_calls + (kind == PREFILTER),
            input_tokens=self.input_tokens + spent.input,
            output_tokens=self.output_tokens + spent.output,
            replayed=self.replayed + (not reply.live),
        )

    def with_cache_hit(self) -> UsageStats:
        """A selection came from the result cache; nobody was asked."""
        return replace(self, cached_hits=self.cached_hits + 1)
