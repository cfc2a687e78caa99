"""A small vault on disk, a chat, traces made by hand, and a simulator that replays without an engine."""

from __future__ import annotations

import asyncio
import threading
import time
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Never, Self

from lorestudio.domain.chat import Chat, Generation, Message
from lorestudio.domain.entry import Entry, Folder, LeftOutNote, NoteProblem, ParserWarning, VaultIndex
from lorestudio.domain.lifecycle import Cancelled, CancelToken, Progress
from lorestudio.domain.records import replace
from lorestudio.domain.state import EngineState
from lorestudio.llm.messages import TokenUsage
from lorestudio.llm.stand_in import StandInAnswers
from lorestudio.settings.deeplore import DeepLoreSettings, sanitise
from lorestudio.studio.project.answering import ChatReply, ChatRequest, Keys, LlmError, Profile
from lorestudio.studio.project.project import Project
from lorestudio.systems.base import Decided
from lorestudio.systems.deeplore.words import VOCABULARY
from lorestudio.systems.registry import system_of
from lorestudio.trace.model import (
    EntryRef,
    Injection,
    Limit,
    Outcome,
    Phase,
    PromptBlock,
    PromptPart,
    RunOutcome,
    StageRecord,
    StageStatus,
    Trace,
    Turn,
    Verdict,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from lorestudio.domain.javascript import Json

DAWNKEEP, SKARN, CROWN, RULES, BELL = range(5)

ENTRIES = (
    Entry(DAWNKEEP, "places/Dawnkeep.md", "vault", "Dawnkeep", "A fortress.", ("fortress", "dawnkeep"), tokens=40),
    Entry(SKARN, "Skarn.md", "vault", "Skarn", "A dragon.", ("skarn",), priority=20, tokens=60),
    Entry(
        CROWN,
        "items/Crown.md",
        "vault",
        "Crown",
        "Lost.",
        ("crown",),
        tokens=158,
        requires=("Dawnkeep",),
        written_requires=("Dawnkeep", "Nobody"),
        warnings=(ParserWarning("UNKNOWN_VALUE", "priority", "priority is no number", "Write a number."),),
    ),
    Entry(RULES, "Rules.md", "vault", "Rules", "Be kind.", constant=True, tokens=10),
    Entry(BELL, "Bell.md", "vault", "Bell", "It rings.", ("bell",), tokens=5),
)

LEFT_OUT = (
    LeftOutNote("bad.md", "vault", NoteProblem.BAD_ENCODING, "not UTF-8: byte 0xFF in line 3"),
    LeftOutNote("README.md", "vault", NoteProblem.NO_LOREBOOK_TAG, "no lorebook tag"),
)


def make_chat() -> Chat:
    """Seven messages: a greeting, two replies of which one has two swipes, a hidden message."""
    return Chat(
        (
            Message("Ada", "Welcome, traveller."),
            Message("Wren", "Tell me about the fortress.", is_user=True),
            Message("Ada", "Dawnkeep stands.", swipe_id=1, swipes=("It fell.", "Dawnkeep stands.")),
            Message("Wren", "(( out of character ))", is_user=True, is_system=True),
            Message("Wren", "And Skarn? And the crown?", is_user=True),
            Message("Ada", "Skarn circles above Dawnkeep."),
            Message("Wren", "I run.", is_user=True),
        ),
        "Wren",
        "Ada",
    )


def make_project(folder: Path | None = None, *, chat: bool = True, entries: tuple[Entry, ...] = ENTRIES) -> Project:
    """A project; with `folder`, the notes are written there."""
    if folder is not None:
        for entry in entries:
            path = folder / entry.filename
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"---\ntags: [lorebook]\n---\n{entry.content}\n", encoding="utf-8", newline="")
        (folder / "README.md").write_text("Hello\n", encoding="utf-8")
        (folder / "bad.md").write_bytes(b"\xff")
    index = VaultIndex(entries, LEFT_OUT, (Folder("places", 1),), vaults=("vault",))
    folders = (folder,) if folder is not None else ()
    return Project(folders, index, DeepLoreSettings(), make_chat() if chat else None)


def make_trace(message: int = 5, swipe: int = 0) -> Trace:
    """Rules is constant, Dawnkeep and Skarn go in, Crown does not fit, Bell is refused, all by hand."""
    refs = {
        item.id: EntryRef(item.id, item.title, "vault", item.filename, item.priority, item.tokens) for item in ENTRIES
    }
    candidates = (RULES, SKARN, DAWNKEEP, CROWN)
    stages = (
        StageRecord("snapshot", Phase.LOAD),
        StageRecord("constants", Phase.MATCH, left=(RULES,), verdicts=(Verdict(RULES, Outcome.ADDED, "constant"),)),
        StageRecord(
            "keywords",
            Phase.MATCH,
            entered=(RULES,),
            left=candidates,
            verdicts=(
                Verdict(DAWNKEEP, Outcome.ADDED, "key_hit", {"key": "fortress", "message": 1, "depth": 4}),
                Verdict(SKARN, Outcome.ADDED, "key_hit", {"key": "Skarn", "message": 4, "depth": 4}),
                Verdict(CROWN, Outcome.ADDED, "key_hit", {"key": "crown", "message": 4, "depth": 4}),
                Verdict(BELL, Outcome.REFUSED, "warmup_short", {"needed": 3, "found": 1}),
            ),
            default_reason="no_key_hit",
            details={"messages": 4, "characters": 812},
        ),
        StageRecord("folder filter", Phase.GATE, StageStatus.SKIPPED, candidates, candidates, note="no_folder_filter"),
        StageRecord(
            "budget",
            Phase.BUDGET,
            entered=candidates,
            left=(RULES, SKARN, DAWNKEEP),
            verdicts=(
                Verdict(RULES, Outcome.KEPT, "fits", {"tokens": 10, "total": 10}),
                Verdict(SKARN, Outcome.KEPT, "fits", {"tokens": 60, "total": 70}),
                Verdict(DAWNKEEP, Outcome.CHANGED, "truncated", {"tokens": 30, "original_tokens": 40}),
                Verdict(CROWN, Outcome.REMOVED, "over_budget", {"tokens": 158, "free": 0, "needs": 158}),
            ),
        ),
        StageRecord(
            "placement",
            Phase.INJECT,
            entered=(RULES, SKARN, DAWNKEEP),
            left=(RULES, SKARN, DAWNKEEP),
            verdicts=tuple(
                Verdict(entry, Outcome.KEPT, "placed", {"tag": "t", "position": 2, "depth": 4, "role": 0})
                for entry in (RULES, SKARN, DAWNKEEP)
            ),
        ),
    )
    text = "Be kind.\n\nA dragon.\n\nA fort"
    return Trace(
        "deeplore",
        "keywords-only",
        RunOutcome.INJECTED,
        Turn(message, swipe, message),
        refs,
        len(ENTRIES),
        stages,
        (
            Injection(RULES, "Rules", "constant", 10, 100, 2, 4, 0, "t", "h"),
            Injection(SKARN, "Skarn", "Skarn", 60, 20, 2, 4, 0, "t", "h"),
            Injection(DAWNKEEP, "Dawnkeep", "fortress", 30, 100, 2, 4, 0, "t", "h", truncated=True, original_tokens=40),
        ),
        (PromptBlock("t", 2, 4, 0, text, (PromptPart(0, 8, RULES), PromptPart(10, 19, SKARN))),),
        limits=(Limit("budget", 100, 100, "tokens"), Limit("entries", 3, 8, "entries")),
        words=VOCABULARY,
    )


def empty_trace(message: int) -> Trace:
    """A run that matched nothing."""
    record = StageRecord(
        "keywords", Phase.MATCH, default_reason="no_key_hit", details={"messages": 2, "characters": 44}
    )
    return Trace(
        "deeplore", "keywords-only", RunOutcome.NOTHING_INJECTED, Turn(message, 0, 1), {}, len(ENTRIES), (record,),
        words=VOCABULARY,
    )  # fmt: skip


class FakeSimulator:
    """The simulator's interface over `make_trace`.

    `pause` seconds pass before each generation, and after the first one it waits for `more`.
    """

    pause = 0.0
    more: threading.Event | None = None
    fails_at: int | None = None

    def __init__(
        self,
        project: Project,
        _answers: object = None,
        _watcher: object = None,
        model: str = "",
        _earlier: Sequence[object] = (),
    ) -> None:
        chat = project.chat or Chat()
        self.model = model
        self.answers = StandInAnswers()
        self.project = project
        self.system = system_of(project.scene())
        self.generations = (
            *(
                Generation(place, swipe)
                for place in chat.replies
                for swipe in (range(len(chat.messages[place].swipes)) or (0,))
            ),
            Generation(len(chat.messages)),
        )
        self._traces: dict[Generation, Trace] = {}

    @property
    def traces(self) -> Mapping[Generation, Trace]:
        return MappingProxyType(self._traces)

    @property
    def states(self) -> tuple[EngineState, ...]:
        return (EngineState(),) * len(self._traces)

    def decider(self, _generation: Generation) -> Any:
        return self.system

    def abandon(self) -> None:
        pass

    def resume(self, results: Sequence[Decided]) -> None:
        traces = [result.trace for result in results]
        self._traces = {Generation(trace.turn.message, trace.turn.swipe): trace for trace in traces}

    def rewind(self, length: int) -> None:
        self._traces = {key: self._traces[key] for key in self.generations[:length]}

    def release(self) -> None:
        pass

    def place(self, generation: Generation) -> int:
        return self.generations.index(generation)

    @property
    def ran(self) -> int:
        return len(self._traces)

    def moment(self, generation: Generation) -> Never:
        """There is no engine whose inputs these would be."""
        message = f"Reply #{generation.message} was made by hand."
        raise ValueError(message)

    def shown(self, message: int) -> Generation | None:
        chat = self.project.chat or Chat()
        swipe = chat.messages[message].swipe if message < len(chat.messages) else 0
        generation = Generation(message, swipe)
        return generation if generation in self.generations else None

    async def generate(self, generation: Generation) -> Trace:
        for item in self.generations[: self.generations.index(generation) + 1]:
            self._traces.setdefault(item, self._make(item))
        return self._traces[generation]

    async def run_missing(
        self,
        on_progress: Callable[[Progress], None] | None = None,
        cancel: CancelToken | None = None,
        until: int | None = None,
    ) -> None:
        for place, item in enumerate(self.generations[:until], start=1):
            if cancel is not None and cancel.cancelled:
                raise Cancelled
            time.sleep(self.pause)  # noqa: ASYNC251 - stands for a stage that keeps its thread busy
            if place == self.fails_at:
                raise ValueError("the third stage broke")
            self._traces.setdefault(item, self._make(item))
            if on_progress is not None:
                on_progress(Progress(place, len(self.generations), item))
            if self.more is not None:
                assert self.more.wait(60)
            await asyncio.sleep(0)

    def _make(self, generation: Generation) -> Trace:
        return empty_trace(generation.message) if generation.message == 2 else make_trace(*_pair(generation))


def _pair(generation: Generation) -> tuple[int, int]:
    return generation.message, generation.swipe


class FakeStream:
    """A reply that comes in pieces, each after the client's delay."""

    def __init__(self, client: FakeClient, request: ChatRequest) -> None:
        self.client, self.request = client, request
        self.reply = ChatReply()
        self._pieces: list[str] = []

    async def __aenter__(self) -> Self:
        self.client.asked.append(self.request)
        if self.client.error is not None:
            raise self.client.error
        text = self.client.text
        self._pieces = [text[place : place + 8] for place in range(0, len(text), 8)]
        self.reply = ChatReply(text, TokenUsage(100, 20), self.client.label, duration_ms=1234, live=True)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.client.closed += 1

    def __aiter__(self) -> FakeStream:
        return self

    async def __anext__(self) -> str:
        if not self._pieces:
            raise StopAsyncIteration
        await asyncio.sleep(self.client.delay)
        return self._pieces.pop(0)


class FakeClient:
    """A provider that answers `text`, or fails with `error`; `make` is what `Connections.make_client` wants."""

    def __init__(self, text: str = '[{"title": "Skarn", "confidence": "high", "reason": "it circles"}]') -> None:
        self.text, self.answer = text, "ready"
        self.error: LlmError | None = None
        self.delay = 0.0
        self.asked: list[ChatRequest] = []
        self.closed = 0
        self.profile = Profile("none", url="http://127.0.0.1:1/v1")

    def make(self, profile: Profile, _keys: Keys) -> FakeClient:
        self.profile = profile
        return self

    @property
    def label(self) -> str:
        return f"{self.profile.name} · {self.profile.model}"

    async def complete(self, request: ChatRequest) -> ChatReply:
        self.asked.append(request)
        await asyncio.sleep(self.delay)
        if self.error is not None:
            raise self.error
        return ChatReply(self.answer, TokenUsage(5, 1), self.label, duration_ms=210)

    def stream(self, request: ChatRequest) -> FakeStream:
        return FakeStream(self, request)


def ai_project(folder: Path, **more: Json) -> Project:
    """The small project with its chat file in `folder`, in two-stage mode, for the real engine."""
    values: dict[str, Json] = {"enabled": True, "aiSearchEnabled": True, "aiSearchMode": "two-stage", **more}
    project = make_project(folder / "vault")
    return replace(project, settings=sanitise(values).settings, chat_path=folder / "chat.jsonl")


class MemoryKeyring:
    """A keyring that forgets with the test; with `fails`, one that is not there."""

    def __init__(self, fails: Exception | None = None) -> None:
        self.kept: dict[tuple[str, str], str] = {}
        self.fails = fails

    def get_password(self, service: str, username: str) -> str | None:
        self._check()
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self._check()
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        self._check()
        del self.kept[service, username]

    def _check(self) -> None:
        if self.fails is not None:
            raise self.fails
