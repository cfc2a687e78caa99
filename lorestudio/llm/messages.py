"""What a model is asked, what it answers, and who answers."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Final, Protocol

from msgspec import Struct, field

from lorestudio.domain.javascript import Json
from lorestudio.domain.json_text import spell
from lorestudio.domain.records import Terse, picked, replace
from lorestudio.llm.errors import THE_PROVIDER, ErrorKind, LlmError

# What a request is for.
SEARCH: Final = "search"  # which entries to take
PREFILTER: Final = "prefilter"  # which categories, before the entries
SUMMARY: Final = "summary"  # a note's summary
KEYS: Final = "keys"  # better keys of a note
DRAFT: Final = "draft"  # a new note about a passage of the chat
RECAP: Final = "recap"  # of one message
SCENE_RECAP: Final = "scene_recap"
RUNNING_RECAP: Final = "running_recap"  # of a whole chat
SCENE_BREAK: Final = "scene_break"  # the message that a scene ends with
RECAP_CHECK: Final = "recap_check"  # whether a recap is sound
RECAP_STAGES: Final = ("recap_extract", "recap_organise", "recap_filter", "recap_entities")  # a scene's, in four steps
FACTS: Final = "facts"  # of a conversation
FACTS_REVIEW: Final = "facts_review"  # the same, looked at again
REPLY: Final = "reply"  # the next message of the story


class ChatMessage(Terse, frozen=True):
    """One message of a conversation; `role` is system, user or assistant.

    `name` tells speakers of one role apart, as in example messages; "" where the role says enough.
    """

    unprinted = ("text",)

    role: str
    text: str
    name: str = ""


class TokenUsage(Struct, frozen=True):
    """Tokens that a provider reports; 0 where it reports none (rules: deeplore-tools 1.6.5)."""

    input: int = 0
    output: int = 0


class ChatRequest(Terse, frozen=True):
    """One question to a model: a system text and one user message, or a conversation (rules: deeplore-tools 1.3).

    `kind` says what for (`search`, `prefilter`, or the name of a tool). An empty `system` sends the user message alone;
    an empty `model` means the connection's own. `max_tokens` limits the reply, `timeout_ms` the whole exchange.
    `json_schema` is a plain JSON schema, sent as strict under `schema_name` where the provider takes schemas;
    `json_object` only asks for some JSON object. To a question for `prose`, bare JSON is no answer.
    The first `stable_prefix` characters of `user` stay the same from call to call and may be cached by the provider.
    `before` are messages between the two, each with its role (system, user or assistant); the answer is to begin with
    `prefill`, which providers do not repeat.
    `reasoning_effort` says how much the model is to think first, "" leaves that to the connection.
    Where there are `messages`, these are the whole conversation, and nothing else of it is given.
    """

    unprinted = ("system", "user", "json_schema", "messages", "before", "prefill")

    kind: str
    system: str
    user: str
    max_tokens: int = 1024
    timeout_ms: int = 20_000
    json_schema: Mapping[str, Json] | None = None
    schema_name: str = "lore_selection"
    model: str = ""
    stable_prefix: int = 0
    messages: tuple[ChatMessage, ...] = ()
    before: tuple[tuple[str, str], ...] = ()
    prefill: str = ""
    json_object: bool = False
    prose: bool = False
    reasoning_effort: str = ""

    @property
    def texts(self) -> tuple[str, ...]:
        """Everything that is sent, in order, without what is empty."""
        said = (*(text for _, text in self.before), self.user, *(each.text for each in self.messages))
        return tuple(text for text in (self.system, *said, self.prefill) if text)

    @property
    def digest(self) -> str:
        """SHA-256, in hexadecimal, of everything that decides the answer; timeout and caching do not."""
        deciding: dict[str, Json] = {
            **picked(self, "kind", "system", "user", "model", "max_tokens"),
            "schema": self.json_schema,
        }
        if self.messages:
            deciding["messages"] = [[each.role, each.name, each.text] for each in self.messages]
        if self.before:
            deciding["before"] = [list(message) for message in self.before]
        if self.prefill:
            deciding["prefill"] = self.prefill
        if self.json_object:
            deciding["json_object"] = True
        if self.reasoning_effort:
            deciding["reasoning_effort"] = self.reasoning_effort
        return hashlib.sha256(spell(deciding, ascii_only=True, sort_keys=True).encode("ascii")).hexdigest()

    @property
    def digest_without_figures(self) -> str:
        """As `digest`, without the tokens of entries that stand in it: the same for every tokenizer."""
        return replace(self, system=without_figures(self.system), user=without_figures(self.user)).digest


_FIGURES: Final = re.compile(r"(?<=\()~?\d+ ?tok(?:ens)?(?=\))")
"""As in `Storm Glass (285tok)` and `2 entries are always included (~340 tokens)`."""


def without_figures(text: str) -> str:
    """A question's text without the tokens of entries, which depend on who counts."""
    return _FIGURES.sub("tok", text)


def as_sent(request: ChatRequest, *, merged: bool) -> ChatRequest:
    """The request as it goes out: `merged`, instructions and question as one, is for models without system messages."""
    user = f"[Instructions]\n{request.system}\n\n---\n\n{request.user}"
    return replace(request, system="", user=user) if merged else request


_FILTERED: Final = frozenset({"content_filter", "refusal", "safety", "prohibited_content", "blocklist", "recitation"})
"""Providers' words for a reply that their filter ended."""


_THOUGHT: Final = re.compile(r"\s*<(think|thinking|reasoning)>(.*?)(?:</\1>\s*|\Z)", re.DOTALL | re.IGNORECASE)


class ChatReply(Terse, frozen=True):
    """What came back.

    `value` is set where the answer arrived as parsed JSON; then it is what counts, and `text` is its spelling.
    `source` is for people: who answered. `raw` is the provider's whole reply. `finish` is the provider's word for why
    the text ended (`stop`, `length`, ...), `notes` what a person should know about this reply.
    `live`: a provider was asked for it now, at a cost. `repeatable`: the source gives the same answer again for
    nothing, so that there is no point in recording it. `thought` is what `without_thinking` took from the text.
    """

    unprinted = ("text", "raw", "value", "thought")

    text: str = ""
    usage: TokenUsage = field(default_factory=TokenUsage)
    source: str = ""
    duration_ms: float = 0.0
    raw: str = ""
    value: Json = None
    finish: str = ""
    notes: tuple[str, ...] = ()
    live: bool = False
    repeatable: bool = False
    thought: str = ""

    def without_thinking(self, prefill: str = "") -> ChatReply:
        """The reply without what a local model thought first, between tags; `prefill` is how its answer was begun.

        Thinking that was cut off leaves no text.
        """
        found = _THOUGHT.match(prefill + self.text)
        if found is None:
            return self
        return replace(self, text=(prefill + self.text)[found.end() :], thought=found[2].strip())

    @property
    def cut_off(self) -> bool:
        """Whether the reply ended at the token limit, so that its JSON is likely to be broken."""
        return self.finish in ("length", "max_tokens")

    @property
    def held_back(self) -> bool:
        """Whether the provider's filter ended the reply."""
        return self.finish.lower() in _FILTERED

    @property
    def is_empty(self) -> bool:
        """Whether it holds nothing, so that it is no answer: asking again may bring one."""
        return self.value is None and not self.text.strip()

    @property
    def advice_on_empty(self) -> str:
        """Why a reply may hold nothing, and what to do."""
        if self.cut_off:
            return (
                "It used up all tokens of its reply before the first word, as models do that think first. "
                "Raise the limit of the reply, or choose another model."
            )
        if self.held_back:
            return "The provider's filter held the answer back. Change what is asked, or choose another model."
        return "Try again, or choose another model."

    @property
    def empty_error(self) -> LlmError:
        """What a reply that holds nothing is to whoever cannot do without an answer."""
        who = self.source or THE_PROVIDER
        return LlmError(ErrorKind.INVALID_ANSWER, "the answer is empty", who=who, advice=self.advice_on_empty)

    @property
    def content(self) -> Json:
        """The parsed value where there is one, otherwise the text."""
        return self.text if self.value is None else self.value


class AnswerSource(Protocol):
    """A provider, recorded answers, a person, or the offline stand-in."""

    @property
    def name(self) -> str:
        """A short word for settings and files."""

    @property
    def label(self) -> str:
        """What the trace calls this source."""

    async def answer(self, request: ChatRequest) -> ChatReply:
        """The answer. Raises LlmError where there is none."""


class NoAnswers(Struct, frozen=True):
    """No source is chosen: every question fails."""

    name: str = "none"
    label: str = "no answer source"

    async def answer(self, request: ChatRequest) -> ChatReply:
        """Fail with what to do."""
        told = f"nobody is there to answer a request of kind {request.kind}"
        advice = "Choose a provider, recorded answers or the offline stand-in."
        raise LlmError(ErrorKind.NOT_SUPPORTED, told, advice=advice)
