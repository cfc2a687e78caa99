"""A source of answers that follows a script, in place of a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lorestudio.domain.javascript import Json
from lorestudio.domain.json_text import spell
from lorestudio.llm.errors import ErrorKind, LlmError, failed, timed_out
from lorestudio.llm.messages import ChatReply, ChatRequest


@dataclass(slots=True)
class ScriptedAnswers:
    """Replies by kind of request, in order: `{"text": str}`, `{"json": value}` or
    `{"error": {"message", "status"?, "name"?}}` (rules: scenario-format 1.5).

    An error called `AbortError` plays the transport that gives up at the time limit, so it becomes a timeout.
    Raises ValueError naming the place when a reply has none of these shapes.
    """

    replies: Mapping[str, Sequence[Mapping[str, Json]]]
    name: str = "scripted"
    label: str = "scripted answers"
    _used: Counter[str] = field(default_factory=Counter, init=False, repr=False)

    def __post_init__(self) -> None:
        for kind, replies in self.replies.items():
            for place, reply in enumerate(replies):
                if not (
                    isinstance(reply.get("text"), str) or "json" in reply or isinstance(reply.get("error"), Mapping)
                ):
                    raise ValueError(f'{kind}[{place}]: a reply needs "text", "json" or "error".')

    async def answer(self, request: ChatRequest) -> ChatReply:
        """The next reply of this kind. Raises the scripted LlmError, or one that says that the script has ended."""
        replies = self.replies.get(request.kind, ())
        place = self._used[request.kind]
        if place >= len(replies):
            raise LlmError(
                ErrorKind.UNKNOWN,
                "No scripted AI answer",
                who="the script",
                advice=f'Add a reply of kind "{request.kind}" to the script.',
            )
        self._used[request.kind] += 1
        reply = replies[place]
        error = reply.get("error")
        if isinstance(error, Mapping):
            raise _scripted_failure(error, request)
        if "json" in reply:
            value = reply["json"]
            return ChatReply(spell(value), source=self.label, value=value, repeatable=True)
        return ChatReply(str(reply["text"]), source=self.label, repeatable=True)


def _scripted_failure(error: Mapping[str, Json], request: ChatRequest) -> LlmError:
    if error.get("name") == "AbortError":
        return timed_out(request.timeout_ms)
    status, message = error.get("status"), error.get("message", "")
    return failed(message if isinstance(message, str) else spell(message), status if isinstance(status, int) else None)
