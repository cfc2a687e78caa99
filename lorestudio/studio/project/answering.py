"""Who answers where a model decides: a person's choice made into an answer source, and the profiles behind it.

The front ends' only door to `lorestudio.llm`. What waits (files, the keyring, the network) says so, and a window calls
it from a worker.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from enum import StrEnum
from pathlib import Path
from typing import Final, Protocol

from msgspec import Struct

from lorestudio.domain.records import Terse
from lorestudio.llm.connections import Connections, LiveAnswers, Patience, TypedAnswers, default_profiles_path
from lorestudio.llm.cost import CostEstimate
from lorestudio.llm.errors import AnsweringError, ErrorKind, LlmError
from lorestudio.llm.keys import Keys
from lorestudio.llm.messages import DRAFT, KEYS, PREFILTER, REPLY, SEARCH, SUMMARY, AnswerSource, ChatReply, ChatRequest
from lorestudio.llm.profiles import Api, KeySource, Profile, ProfileError, ProfileFile, load_profiles
from lorestudio.llm.recorded_answers import RecordedAnswers, answers_path
from lorestudio.llm.redaction import fault_report
from lorestudio.llm.stand_in import StandInAnswers
from lorestudio.vault.files import refused

__all__ = [
    "DRAFT", "KEYS", "PREFILTER", "PRESETS", "REPLY", "RESERVED_NAMES", "SEARCH", "SUMMARY", "AnswerKind",
    "AnswerSource", "AnsweringError", "Api", "Asked", "ChatReply", "ChatRequest", "Connections", "CostEstimate",
    "ErrorKind", "KeySource", "Keys", "LlmError", "Observer", "Profile", "ProfileError", "ProfileFile", "Question",
    "RecordedAnswers", "Source", "default_profiles_path", "fault_report", "load_profiles", "load_recorded",
    "make_answers", "try_profile",
]  # fmt: skip

TEST_TOKENS: Final = 64
TEST_TIMEOUT_MS: Final = 20_000


class AnswerKind(StrEnum):
    """The sorts of answer sources."""

    STAND_IN = "stand-in"
    RECORDED = "recorded"
    PROVIDER = "provider"
    TYPED = "typed"


RESERVED_NAMES: Final = frozenset({AnswerKind.STAND_IN.value, AnswerKind.RECORDED.value, AnswerKind.TYPED.value})
"""Words that name a kind of source, so that no profile should have them as its name."""


class Source(Struct, frozen=True):
    """Who is to answer; `profile` names the connection of a provider."""

    kind: AnswerKind = AnswerKind.STAND_IN
    profile: str = ""

    @classmethod
    def named(cls, name: str) -> Source:
        """The source that a command line calls so: the word of a kind that needs nothing else, otherwise a profile."""
        if name in RESERVED_NAMES:
            return cls(AnswerKind(name))
        return cls(AnswerKind.PROVIDER, name)

    @property
    def waits(self) -> bool:
        """Whether a replay spends money or somebody's time, so that it never starts by itself."""
        return self.kind in {AnswerKind.PROVIDER, AnswerKind.TYPED}


PRESETS: Final = (
    Profile("Ollama", url="http://127.0.0.1:11434/v1"),
    Profile("llama.cpp", url="http://127.0.0.1:8080/v1"),
    Profile("LM Studio", url="http://127.0.0.1:1234/v1"),
    Profile("vLLM", url="http://127.0.0.1:8000/v1"),
    Profile("OpenRouter", url="https://openrouter.ai/api/v1", key_source=KeySource.KEYRING),
    Profile("OpenAI", url="https://api.openai.com/v1", key_source=KeySource.KEYRING),
    Profile("Anthropic", Api.ANTHROPIC, "https://api.anthropic.com", key_source=KeySource.KEYRING),
)
"""Where the usual servers listen, to begin a profile with; local ones at the port that they open by default."""


class Observer(Protocol):
    """Sees questions and answers while they are under way; called from the worker."""

    def asked(self, request: ChatRequest) -> None:
        """A question was put."""

    def heard(self, piece: str) -> None:
        """A piece of a streamed reply arrived."""

    def answered(self) -> None:
        """The question is settled, one way or the other."""


class Question(Terse, frozen=True, eq=False):
    """A request that waits for a person. `reply` may be called from any thread; None declines.

    `stop` ends whatever asks, which withdraws the question.
    """

    unprinted = ("request", "suggestion", "reply", "stop")

    request: ChatRequest
    suggestion: str
    reply: Callable[[str | None], None]
    stop: Callable[[], None]


class _Observed(Struct, frozen=True):
    """A source whose questions somebody may see. Its name tells apart what would otherwise be taken for the same."""

    source: AnswerSource
    name: str
    observer: Observer | None = None

    @property
    def label(self) -> str:
        return self.source.label

    async def answer(self, request: ChatRequest) -> ChatReply:
        if self.observer is None:
            return await self.source.answer(request)
        self.observer.asked(request)
        try:
            return await self.source.answer(request)
        finally:
            self.observer.answered()


class Asked(Struct, frozen=True):
    """How a person is asked: `put` shows a question, `withdrawn` takes it away again; `stop` is the questions' own."""

    put: Callable[[Question], None]
    withdrawn: Callable[[Question], None]
    stop: Callable[[], None]


def make_answers(
    source: Source,
    chat: Path | None,
    connections: Connections,
    observer: Observer | None = None,
    asked: Asked | None = None,
    *,
    fresh: bool = False,
    keeps_asking: bool = False,
) -> tuple[AnswerSource, str]:
    """The answer source of a choice, and the model that its requests name ("" where there is none). Waits for the disk.

    A provider's and a person's answers are recorded beside the chat file where there is one; with `fresh`, what is
    recorded is asked again. A provider that failed three times in a row is asked no more, except for who `keeps_asking`
    and waits in between. Recorded answers alone are those of the model that was asked last, because a request that
    names another model is another request. `observer` and `asked` are for those who look on, and for typed answers.
    Raises AnsweringError or SettingsError.
    """
    file = answers_path(chat) if chat is not None else None
    made: AnswerSource = StandInAnswers()
    name, model = source.kind.value, ""
    if source.kind is AnswerKind.RECORDED:
        recorded = load_recorded(chat)
        made, model = recorded, recorded.models[-1] if recorded.models else ""
    elif source.kind is AnswerKind.PROVIDER:
        profile = connections.find(source.profile)
        patience = None if keeps_asking else Patience()
        made = LiveAnswers(connections.client(profile), observer.heard if observer is not None else None, patience)
        name, model = f"{name}:{profile.name}:{profile.url}", profile.model
    elif source.kind is AnswerKind.TYPED:
        if asked is None:
            raise AnsweringError("Answers can be typed in the window only. Choose another answer source.")
        made = TypedAnswers(_asking(asked))
    if source.waits and file is not None:
        made = RecordedAnswers(file, made, fresh=fresh)
    return _Observed(made, name, observer), model


def load_recorded(chat: Path | None) -> RecordedAnswers:
    """The answers recorded beside a chat file, read. Raises AnsweringError where there can be none."""
    if chat is None:
        message = "Recorded answers lie beside a chat file, and this chat has none. Choose another answer source."
        raise AnsweringError(message)
    recorded = RecordedAnswers(answers_path(chat))
    with refused(AnsweringError, f"{recorded.path}: the recorded answers cannot be read ({{reason}})."):
        recorded.load()
    return recorded


def _asking(asked: Asked) -> Callable[[ChatRequest], Awaitable[str | None]]:
    async def ask(request: ChatRequest) -> str | None:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[str | None] = loop.create_future()

        def settle(text: str | None) -> None:
            if not answer.done():
                answer.set_result(text)

        def reply(text: str | None) -> None:
            with contextlib.suppress(RuntimeError):  # the replay was stopped, and its loop is closed
                loop.call_soon_threadsafe(settle, text)

        question = Question(request, await _stand_in_says(request), reply, asked.stop)
        asked.put(question)
        try:
            return await answer
        finally:
            asked.withdrawn(question)

    return ask


async def _stand_in_says(request: ChatRequest) -> str:
    """What the stand-in would answer, "" where it has no answer to such a question."""
    try:
        return (await StandInAnswers().answer(request)).text
    except LlmError:
        return ""


async def try_profile(profile: Profile, connections: Connections) -> ChatReply:
    """A short question to a provider, to see whether the connection works. Raises LlmError."""
    request = ChatRequest("test", "", "Answer with one word: ready", TEST_TOKENS, TEST_TIMEOUT_MS, prose=True)
    return await connections.client(profile).complete(request)
