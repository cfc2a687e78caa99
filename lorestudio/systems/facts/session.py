"""The memories of chats as a person works with them (rules: fact-memory 3).

Threads leave their facts behind; memories are drawn out, listed, searched, edited, pinned, deleted. What drawing out
costs is counted: it is done once without a model, in memory.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from dataclasses import field as data_field
from pathlib import Path
from typing import Final

from msgspec import Struct, field

from lorestudio.domain.chat import Chat
from lorestudio.domain.lifecycle import Closing, Stopped
from lorestudio.domain.records import replace
from lorestudio.domain.tokens import TokenCounter
from lorestudio.exchange.problems import InputError
from lorestudio.llm.cost import CostEstimate, RequestCollector, estimate
from lorestudio.llm.embedding import Embedder, HashEmbedder
from lorestudio.llm.errors import LlmError
from lorestudio.llm.messages import FACTS, AnswerSource, ChatReply, ChatRequest
from lorestudio.settings.facts import FactsSettings
from lorestudio.systems.facts.extraction import AskedModel, PlainModel
from lorestudio.systems.facts.options import FactOptions, options_of, own_text, store_path, timeouts_of
from lorestudio.systems.facts.pipeline import ExtractionResult, Model, run_pipeline
from lorestudio.systems.facts.records import (
    DrawnMeanwhileError,
    ExtractionRun,
    FactError,
    Line,
    Memory,
    MemoryChanges,
    MemoryMatch,
    MemoryOrigin,
    Profile,
    Thread,
    ThreadState,
)
from lorestudio.systems.facts.similarity import comparable
from lorestudio.systems.facts.store import FactStore
from lorestudio.systems.facts.threads import (
    Passage,
    Timeouts,
    chat_name,
    lined_threads,
    moved_threads,
    numbers_of,
    owner_of,
    should_close,
    transition,
    waiting_passages,
)
from lorestudio.systems.vectors import embedder_named
from lorestudio.vault.files import epoch_ms

MOST_ATTEMPTS: Final = 3
"""After so many failures in a row what asks for passages that are due leaves the passage alone; asking for it still
tries (rules: fact-memory 3.5 S3).
"""


class Extractor(Struct, frozen=True):
    """Draws facts out of threads, with a model and into a store. `label` says who does it."""

    store: FactStore
    model: Model
    options: FactOptions = field(default_factory=FactOptions)
    timeouts: Timeouts = field(default_factory=Timeouts)
    now: Callable[[], int] = epoch_ms
    label: str = ""

    def close_old(self, threads: Sequence[Thread]) -> None:
        """End those of these threads for good that have been dormant for long enough (rules: fact-memory 3.2)."""
        now = self.now()
        for thread in threads:
            if should_close(thread, self.timeouts.closed, now):
                self.store.update_thread(transition(thread, ThreadState.CLOSED, now))

    async def extract(
        self, thread: Thread, lines: Sequence[Line], origin: MemoryOrigin | None = None
    ) -> ExtractionResult:
        """Draw the facts out of a thread with these lines, which goes dormant. Raises whatever made it fail.

        Strict mode keeps the new state first, as the original does. Safe mode keeps the state, the facts and the run's
        record in one transaction at the end, so that a thread is dormant exactly when its facts are there.
        """
        now = self.now()
        cooling = thread if thread.state is ThreadState.COOLING else transition(thread, ThreadState.COOLING, now)
        dormant = replace(transition(cooling, ThreadState.DORMANT, now), attempts=0)
        origin = replace(origin or MemoryOrigin(), run=uuid.uuid4().hex[:12])
        if self.options.strict:
            self.store.update_thread(dormant)
            result = await run_pipeline(dormant, lines, self.model, self.store, self.options, origin)
            self.store.add_run(self._run(dormant, origin, result), result.decisions)
            return result
        unit = self.store.begin()
        try:
            result = await run_pipeline(dormant, lines, self.model, unit, self.options, origin)
            unit.move_thread(thread, dormant)
            unit.add_run(self._run(dormant, origin, result), result.decisions)
            unit.commit()
        except (Stopped, DrawnMeanwhileError):
            raise
        except Exception:
            failed = self.store.get_thread(thread.id)
            if failed is not None:
                self.store.update_thread(replace(failed, attempts=failed.attempts + 1))
            raise
        return result

    def _run(self, thread: Thread, origin: MemoryOrigin, result: ExtractionResult) -> ExtractionRun:
        return ExtractionRun(origin.run, thread.user_id, thread.id, self.now(), self.label, result.data, result.problem)


OPTION: Final = "--set embedder"


class Drawn(Struct, frozen=True):
    """What came of one passage: its counters, or why there are none. `recurs`: it would be so with any other, too."""

    passage: Passage
    result: ExtractionResult | None = None
    problem: str = ""
    recurs: bool = False


@dataclass(slots=True, eq=False)
class FactsSession(Closing):
    """The file of memories with its settings, open. One thread at a time.

    Without `answers` facts are drawn out by plain rules and no model is asked. `model` is the one that requests name.
    """

    settings: FactsSettings = data_field(default_factory=FactsSettings)
    path: Path | None = None
    answers: AnswerSource | None = None
    model: str = ""
    embedder: Embedder | None = None
    now: Callable[[], int] = epoch_ms
    in_memory: bool = False
    store: FactStore = data_field(init=False)
    _at: int | None = data_field(default=None, init=False)

    def __post_init__(self) -> None:
        self.embedder = self.embedder or embedder_named(self.settings.embedder)
        if self.embedder is None:
            raise InputError(OPTION, "facts are kept with their vectors. Choose stand-in or a provider profile.")
        path = None if self.in_memory else self.path or store_path(self.settings)
        model, strict = self.embedder.model_id, self.settings.strict
        self.store = FactStore(path, now=self._clock, strict=strict, vector_model=model)

    def close(self) -> None:
        """Close the file."""
        self.store.close()

    # ---- drawing out ------------------------------------------------------------------------------------------------

    def waiting(
        self, chat: Chat, path: Path | None, *, again: bool = False, due: bool = False, only: str = ""
    ) -> tuple[Passage, ...]:
        """The passages of a chat whose facts are not kept yet.

        `again` takes all. `only` takes the one of this key, with `again` also where its facts are kept. `due` leaves
        out the last one while its silence is too short (rules: fact-memory 3.2), and those that have failed too often,
        except in strict mode.
        """
        times = timeouts_of(self.settings)
        silence = times.cooling + times.dormant
        name = chat_name(chat, path)
        threads = [] if again and not only else self.threads(name)
        if again:
            threads = [replace(thread, state=ThreadState.ACTIVE) for thread in threads]
        found = waiting_passages(
            chat, name, threads, self.settings.passage, silence, hidden=self.settings.include_hidden
        )
        if due and found and found[-1].ended is not None and found[-1].last == _last_spoken(found, chat):
            found = found[:-1] if self.now() - found[-1].ended < silence else found
        if due and not self.settings.strict:
            moved = self.moved(chat, path)
            tired = {moved.get(each.id, each.id) for each in threads if each.attempts >= MOST_ATTEMPTS}
            found = tuple(passage for passage in found if passage.id not in tired)
        return tuple(passage for passage in found if only in {"", passage.key})

    async def extract(
        self,
        chat: Chat,
        path: Path | None,
        passages: Sequence[Passage],
        on_progress: Callable[[int, int, Drawn | None], None] | None = None,
    ) -> tuple[Drawn, ...]:
        """Draw the facts out of passages, each kept as a whole before the next begins.

        A passage that fails is reported and stays waiting, and so do all after it where they would fail in the same way
        (a refused key). One whose facts another window or command has kept since
        this began is reported and left.
        """
        moved = self.moved(chat, path)
        taken = set(moved.values())  # else an id is kept for messages that may come back
        self.store.rename_threads({old: new for old, new in moved.items() if old in taken or numbers_of(new)})
        name, hidden = chat_name(chat, path), self.settings.include_hidden
        self.store.add_line_digests(lined_threads(chat, name, self.threads(name), hidden=hidden))
        known = {thread.id: thread for thread in self.store.all_threads()}
        options = options_of(self.settings, self._embedder.model_id)
        extractor = Extractor(self.store, self._model(), options, timeouts_of(self.settings), self._clock, self.label)
        extractor.close_old(self.threads(name))
        owner = owner_of(self.settings, chat, path)
        drawn: list[Drawn] = []
        for place, passage in enumerate(passages):
            if on_progress is not None:
                on_progress(place, len(passages), drawn[-1] if drawn else None)
            drawn.append(await self._drawn(extractor, passage, owner, known.get(passage.id)))
            if drawn[-1].recurs:
                break
        if on_progress is not None:
            on_progress(len(drawn), len(passages), drawn[-1] if drawn else None)
        return tuple(drawn)

    def moved(self, chat: Chat, path: Path | None) -> dict[str, str]:
        """The ids of threads of a chat whose messages stand elsewhere now, by those that they are kept under."""
        name = chat_name(chat, path)
        return moved_threads(chat, name, self.threads(name), hidden=self.settings.include_hidden)

    @property
    def label(self) -> str:
        """Who draws facts out."""
        return "plain rules" if self.answers is None else self.answers.label

    async def _drawn(self, extractor: Extractor, passage: Passage, owner: str, before: Thread | None) -> Drawn:
        self._at = passage.ended
        try:
            begun = passage.begun if passage.begun is not None else self._clock()
            ended = passage.ended if passage.ended is not None else begun
            known = self.store.get_thread(passage.id)
            if known is not None and known != before and known.is_drawn_from(passage.digest):
                return Drawn(passage, problem=DrawnMeanwhileError().message)
            attempts = 0 if known is None else known.attempts
            fresh = Thread(
                passage.id, owner, begun, ended, ThreadState.ACTIVE, ended,
                attempts=attempts, digest=passage.digest, line_digests=passage.line_digests,
            )  # fmt: skip
            self.store.update_thread(fresh)
            return Drawn(passage, await extractor.extract(fresh, passage.lines, passage.origin))
        except DrawnMeanwhileError as error:
            return Drawn(passage, problem=error.message)
        except (FactError, LlmError) as error:
            problem = error.message if isinstance(error, FactError) else str(error)
            run = ExtractionRun(uuid.uuid4().hex[:12], owner, passage.id, self.now(), self.label, {}, problem)
            self.store.add_run(run)  # so that it is known after a restart, too
            return Drawn(passage, problem=problem, recurs=isinstance(error, LlmError) and error.recurs)
        finally:
            self._at = None

    # ---- looking after memories -------------------------------------------------------------------------------------

    def memories(self, owner: str = "", tag: str = "") -> list[Memory]:
        """The memories of an owner, of all without one; with a tag only those that have it."""
        found = self.store.get_memories(owner) if owner else self.store.all_memories()
        return [memory for memory in found if not tag or tag in memory.tag_names]

    async def search(self, text: str, owner: str, limit: int = 10, tags: Sequence[str] = ()) -> list[MemoryMatch]:
        """The memories most similar to a text, of all owners without one. Raises LlmError where it gets no vector."""
        vector = (await self._embedder.embed([text]))[0]
        return self.store.search_memories(owner or None, vector, limit, tags)

    def find(self, beginning: str) -> Memory:
        """The memory whose id begins like this. Raises InputError where there is none, or more than one."""
        found = self.store.find_memories(beginning) if beginning else []
        if len(found) != 1:
            many = f"{len(found)} memories begin" if found else "no memory begins"
            raise InputError(beginning or "ID", f"{many} with this id. `lorestudio facts list` shows the ids.")
        return found[0]

    def fetch(self, ids: Sequence[str]) -> list[Memory]:
        """The memories of these ids, whole; those that are gone are left out."""
        return [memory for each in ids for memory in self.store.find_memories(each) if memory.id == each]

    async def edit(self, memory: Memory, text: str, tags: Sequence[str] | None = None) -> None:
        """Give a memory another text, with the vector of it. Raises LlmError; then it stays as it was."""
        content = text.strip()
        if not content:
            raise InputError(memory.id, "a memory needs a text. Delete it if it is to go.")
        vector = (await self._embedder.embed([content]))[0]
        changes = MemoryChanges(content=content, embedding=vector, vector_model=self._embedder.model_id)
        if tags is not None:
            changes["tags"] = list(tags)
        self.store.update_memory(memory.id, changes)

    def tag(self, memory: Memory, tags: Sequence[str]) -> None:
        """Give a memory other tags."""
        self.store.update_memory(memory.id, MemoryChanges(tags=list(tags)))

    def pin(self, memory: Memory, *, pinned: bool) -> None:
        """Pin a memory, or take its pin away."""
        self.store.update_memory(memory.id, MemoryChanges(pinned=pinned))

    def delete(self, memories: Sequence[Memory]) -> None:
        """Delete memories, all or none."""
        with self.store.transaction():
            for memory in memories:
                self.store.delete_memory(memory.id)

    def restore(self, memories: Sequence[Memory]) -> None:
        """Take a deletion back; they come after all others."""
        with self.store.transaction():
            for memory in memories:
                self.store.put_memory(memory)

    def stale(self, owner: str = "") -> list[Memory]:
        """The memories (an owner's, or all) whose vectors the chosen model has not made; they come without any."""
        found = self.store.bare_memories()
        return [
            each
            for each, has_vector in found
            if (not owner or each.user_id == owner) and (not has_vector or not comparable(each, self.vector_model))
        ]

    @property
    def vector_model(self) -> str:
        """The model whose vectors are compared."""
        return self._embedder.model_id

    async def refresh(self, memories: Sequence[Memory], on_progress: Callable[[int, int], None] | None = None) -> None:
        """Make the vectors of memories anew, each kept as it comes. Raises LlmError; what came before it is kept."""
        for place, memory in enumerate(memories):
            if on_progress is not None:
                on_progress(place, len(memories))
            vector = (await self._embedder.embed([memory.content]))[0]
            self.store.update_memory(memory.id, MemoryChanges(embedding=vector, vector_model=self._embedder.model_id))
        if on_progress is not None:
            on_progress(len(memories), len(memories))

    def run_of(self, memory: Memory) -> ExtractionRun | None:
        """The run that made or last changed a memory."""
        return self.store.get_run(memory.origin.run)

    def threads(self, chat: str = "") -> list[Thread]:
        """The threads of a chat, of all without one."""
        found = self.store.all_threads()
        return [thread for thread in found if not chat or thread.id.rpartition("#")[0] == chat]

    def profile(self, owner: str) -> Profile | None:
        """The owner's profile."""
        return self.store.get_profile(owner)

    @property
    def _embedder(self) -> Embedder:
        if self.embedder is None:
            raise InputError(OPTION, "nobody makes vectors.")
        return self.embedder

    def _clock(self) -> int:
        """Now, or when the passage ended whose facts are being kept: memories are as old as what was said."""
        return self.now() if self._at is None else self._at

    def _model(self) -> Model:
        if self.answers is None:
            return PlainModel(self._embedder)
        settings, structured = self.settings, bool(self.settings.structured_rules)
        prompt, strict = own_text(settings.prompt_file), settings.strict
        return AskedModel(self._embedder, self.answers, prompt, structured=structured, strict=strict, model=self.model)


def _last_spoken(found: Sequence[Passage], chat: Chat) -> int:
    """Where the last passage ends if it is the chat's last one, else -1."""
    last = found[-1].lines[-1].place if found[-1].lines else None
    return found[-1].last if last is not None and last >= len(chat.messages) - 1 else -1


async def _one_fact(request: ChatRequest) -> ChatReply:
    fact = json.dumps({"memories": [{"content": "Somebody said something.", "source": "inferred"}]})
    return ChatReply(fact if request.kind == FACTS else "{}")


async def facts_cost(
    session: FactsSession,
    chat: Chat,
    path: Path | None,
    passages: Sequence[Passage],
    counter: TokenCounter,
    is_recorded: Callable[[ChatRequest], bool] | None = None,
) -> CostEstimate:
    """What drawing facts out of these passages costs with the session's model; what is recorded is free.

    Vectors are not counted: how many are made depends on how many facts there are. A second look is counted without the
    facts that it is shown.
    """
    counted = RequestCollector(_one_fact)
    with FactsSession(session.settings, None, counted, session.model, HashEmbedder(), in_memory=True) as trial:
        await trial.extract(chat, path, passages)
    return estimate(counted.requests, counter, is_recorded)
