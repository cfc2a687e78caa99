"""The cases of fact memory (rules: fact-memory 14): each as the original does it, and by the safe rules."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from datetime import datetime
from itertools import count
from typing import Any

import numpy as np

from lorestudio.domain.records import replace
from lorestudio.systems.facts import extraction, options, retrieval, similarity, threads
from lorestudio.systems.facts.extraction import Review, chat_request, payload, tags_of
from lorestudio.systems.facts.options import FactOptions, field_rule, pattern_rule
from lorestudio.systems.facts.pipeline import ExtractionResult, extract_facts, review_facts, run_pipeline
from lorestudio.systems.facts.profile import Structured, group_rule, matching_goal, sort_facts
from lorestudio.systems.facts.records import (
    PROFILE_KEYS,
    Fact,
    FactError,
    Line,
    Memory,
    MemoryChanges,
    MemoryMatch,
    Thread,
    ThreadState,
    iso,
)
from lorestudio.systems.facts.session import Extractor
from lorestudio.systems.facts.store import FactStore
from lorestudio.systems.facts.threads import InvalidTransitionError

USER = "u1"
_NOW = "2026-03-10T12:00:00.000Z"
_TOLERANCE = 1e-12
_HI = ({"role": "user", "content": "hi"},)


def cases(document: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Two cases for each: as the original does it, and by the safe rules."""
    default = document.get("default_now", _NOW)
    for case in document["cases"]:
        kept = {**case, "default_now": default}
        yield {**kept, "operation": f"{case['op']} strict", "strict": True}
        safe = case.get("safe", case["expected"])
        yield {**kept, "operation": f"{case['op']} safe", "strict": False, "expected": safe}


def outcome(case: Mapping[str, Any]) -> Any:
    """What the program makes of a case."""
    bench = _Bench(case["strict"], case["input"].get("now", case["default_now"]))
    try:
        with bench.stores:
            return getattr(bench, case["op"])(case["input"])
    except Exception as error:  # noqa: BLE001  # errors are outcomes here
        return {"error": _error(error), "error_any": True}


def same(actual: Any, expected: Any) -> bool:
    """Equal, numbers within the tolerance; what is absent is null."""
    if isinstance(actual, bool) or isinstance(expected, bool):
        return actual is expected
    if isinstance(actual, int | float) and isinstance(expected, int | float):
        return abs(actual - expected) <= _TOLERANCE
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        if "error" in actual and "error_any" in actual:
            drop = "error_any" if "error" in expected else "error"
            actual = {key: value for key, value in actual.items() if key != drop}
        names = actual.keys() | expected.keys()
        return all(same(actual.get(name), expected.get(name)) for name in names)
    if isinstance(actual, list | tuple) and isinstance(expected, list | tuple):
        return len(actual) == len(expected) and all(map(same, actual, expected))
    return bool(actual == expected)


class _Bench:
    """Runs the operations of the case file through the public functions."""

    def __init__(self, strict: bool, now: str) -> None:
        self.strict = strict
        self.clock = _Clock(_ms(now))
        self.stores = ExitStack()

    # ---- single rules -----------------------------------------------------------------------------------------------

    def cosine(self, given: Mapping[str, Any]) -> Any:
        return {"value": similarity.cosine(_vector(given["a"]), _vector(given["b"]))}

    def classify_fact(self, given: Mapping[str, Any]) -> Any:
        table = similarity.VectorTable([_vector(each) for each in given["existing"]])
        best = table.best_of([_vector(given["new"])], strict=self.strict)[0]
        made = similarity.classify(best, given["dedup"], given["supersede"])
        if made is not similarity.FactAction.SUPERSEDE:
            return {"action": str(made)}
        return {"action": "supersede", "existingIndex": best.index, "similarity": best.similarity}

    def find_most_similar(self, given: Mapping[str, Any]) -> Any:
        best = similarity.VectorTable(self._existing(given)).best_of([_vector(given["new"])], strict=self.strict)[0]
        if best is None or best.similarity < self._threshold(given):
            return {"value": None}
        return {"value": {"index": best.index, "similarity": best.similarity}}

    def is_duplicate(self, given: Mapping[str, Any]) -> Any:
        return {"value": self._repeats(_vector(given["new"]), self._existing(given), self._threshold(given))}

    def dedupe_batch(self, given: Mapping[str, Any]) -> Any:
        known, kept = self._existing(given), []
        for fact in given["facts"]:
            if not self._repeats(_vector(fact["embedding"]), known, self._threshold(given)):
                kept.append(fact["content"])
                known.append(_vector(fact["embedding"]))
        return {"kept": kept}

    def _repeats(self, vector: Any, rows: Sequence[Any], threshold: float) -> bool:
        """Whether any row reaches the threshold; the safe rules pass over those of another length."""
        comparable = (row for row in rows if row is not None and (self.strict or len(row) == len(vector)))
        return any(similarity.cosine(vector, row) >= threshold for row in comparable)

    def _existing(self, given: Mapping[str, Any]) -> list[Any]:
        return [_vector(each) for each in given["existing"]]

    def _threshold(self, given: Mapping[str, Any]) -> float:
        return float(given.get("threshold", similarity.DEDUPLICATION))

    def validate_extraction(self, given: Mapping[str, Any]) -> Any:
        return {"value": list(extraction.validated(given["parsed"]))}

    def normalize_extraction(self, given: Mapping[str, Any]) -> Any:
        model = _Model(given["raw"])
        lines = _lines(given.get("messages", _HI))
        facts = asyncio.run(extract_facts(lines, "2026-03-10", model, FactOptions(strict=self.strict)))
        return {"facts": [fact.data for fact in facts]}

    def parse_reply(self, given: Mapping[str, Any]) -> Any:
        template = given.get("prompt", "P {conversation} / {sessionDate}")
        lines = _lines(given.get("messages", _HI))
        date = given.get("sessionDate", "2026-03-10")
        request = chat_request(template, lines, date, strict=self.strict)
        try:
            facts = list(extraction.read_reply(given["reply"], strict=self.strict))
        except ValueError:
            facts = []  # the pipeline counts any error of the extraction as no facts
        return {
            "facts": facts,
            "prompt_sent": request.user,
            "response_format": {"type": "json_object"} if request.json_object else None,
        }

    def extract_simple(self, given: Mapping[str, Any]) -> Any:
        return {"facts": [fact.data for fact in extraction.extract_simple(_lines(given["messages"]))]}

    def classify_tags(self, given: Mapping[str, Any]) -> Any:
        return {"tags": list(tags_of(given["text"]))}

    def reflection(self, given: Mapping[str, Any]) -> Any:
        facts = [_fact(fact) for fact in given["facts"]]
        existing = [_memory(memory, number) for number, memory in enumerate(given.get("existing", ()))]
        shown = payload(facts, existing, _lines(given.get("messages", _HI)))
        model = _Model([], reply=given["reply"])
        prompt = given.get("prompt", "")
        options = FactOptions(reflection_prompt=prompt, strict=self.strict)
        review = asyncio.run(review_facts(facts, shown, model, options))
        found = {"result": _review(review), "applied": [fact.data for fact in review.facts]}
        if given.get("show_payload"):
            system, user = model.reviewed[0]
            assert user == json.dumps(json.loads(user), indent=2, ensure_ascii=False)
            found |= {"payload": json.loads(user), "system_is_custom": bool(prompt) and system == prompt}
        return found

    def structured(self, given: Mapping[str, Any]) -> Any:
        structured, freeform = sort_facts(
            [_fact(fact) for fact in given["facts"]], _rules(given["rules"]), strict=self.strict
        )
        return {"structured": [_structured(made) for made in structured], "freeform": [fact.data for fact in freeform]}

    def profile_ops(self, given: Mapping[str, Any]) -> Any:
        store = self._store()
        self._profile(store, given["ops"])
        return {"profile": store.get_profile(USER)}

    def goals(self, given: Mapping[str, Any]) -> Any:
        store = self._store()
        store.update_profile_field(USER, "goals", given.get("start", []), "set")
        matched = []
        for goal in given["add"]:
            known = store.get_profile(USER)["goals"]
            matched.append(matching_goal(goal, known, strict=self.strict))
            store.update_profile_field(USER, "goals", goal, "add")
        return {"goals": store.get_profile(USER)["goals"], "matched_index": matched}

    # ---- the pipeline -----------------------------------------------------------------------------------------------

    def pipeline(self, given: Mapping[str, Any]) -> Any:
        store = self._store()
        before = [_memory(memory, number) for number, memory in enumerate(given.get("memories", ()))]
        for memory in before:
            store.put_memory(memory)
        model = _Model(
            given.get("extraction", []),
            given.get("vectors", {}),
            given.get("embed_fail", ()),
            given.get("reflection_reply"),
        )
        unit = None if self.strict else store.begin()
        writes = _Recorder(unit or store, given.get("storage", {}))
        found: dict[str, Any] = {}
        try:
            thread = _thread({"state": "dormant"} | dict(given.get("thread", {})))
            lines = _lines(given.get("messages", _HI))
            result = asyncio.run(
                run_pipeline(thread, lines, model, writes, _options(given.get("options", {}), self.strict))
            )
            if unit is not None:
                unit.commit()
            found["result"] = result.data
        except Exception as error:  # noqa: BLE001  # an error is part of the outcome
            found["error"] = _error(error)
        return found | {
            "writes": writes.calls,
            "memories_after": [_shown(memory, {each.id for each in before}) for memory in store.get_memories(USER)],
            "profile_after": store.get_profile(USER),
            "embed_calls": model.embedded,
            "session_date": model.dates[0] if model.dates else None,
        }

    # ---- threads ----------------------------------------------------------------------------------------------------

    def can_transition(self, _given: Mapping[str, Any]) -> Any:
        return {"table": {str(one): [str(to) for to in allowed] for one, allowed in threads.ALLOWED.items()}}

    def transition(self, given: Mapping[str, Any]) -> Any:
        made = threads.transition(_thread(given["thread"]), ThreadState(given["to"]), self.clock())
        return _thread_data(made) | {
            "userId": made.user_id, "messages": [], "createdAt": iso(made.created_at), "updatedAt": iso(made.updated_at)
        }  # fmt: skip

    def should_cool(self, given: Mapping[str, Any]) -> Any:
        return {"value": should_cool(_thread(given["thread"]), given["timeoutMs"], self.clock())}

    def should_go_dormant(self, given: Mapping[str, Any]) -> Any:
        return {"value": should_go_dormant(_thread(given["thread"]), given["timeoutMs"], self.clock())}

    def should_close(self, given: Mapping[str, Any]) -> Any:
        return {"value": threads.should_close(_thread(given["thread"]), given["timeoutMs"], self.clock())}

    def lifecycle(self, given: Mapping[str, Any]) -> Any:
        config = given.get("config", {})
        store = self._store()
        model = _Model(given.get("extraction", []), given.get("vectors", {}), given.get("embed_fail", ()))
        extractor = Extractor(
            store,
            model,
            _options(config, self.strict),
            threads.timeouts(
                config.get("preset", ""), config.get("coolingTimeoutMs"), config.get("dormantTimeoutMs"),
                config.get("closedTimeoutMs"),
            ),
            self.clock,
        )  # fmt: skip
        memory = Conversations(extractor)
        steps, current = [], ""
        for step in given["steps"]:
            self.clock.now = _ms(step["at"]) if "at" in step else self.clock.now
            done: dict[str, Any] = {"do": step["do"]}
            try:
                did, current = asyncio.run(_do(memory, step, current))
                done |= did
            except Exception as error:  # noqa: BLE001  # an error is part of the outcome
                done["error"] = _error(error)
            steps.append(
                done
                | {
                    "threads": [_thread_data(thread) for thread in store.all_threads()],
                    "extraction_calls": len(model.dates),
                    "memory_count": len(store.get_memories(USER)),
                }
            )
        return {"steps": steps}

    # ---- finding again ----------------------------------------------------------------------------------------------

    def decay(self, given: Mapping[str, Any]) -> Any:
        half_life = given.get("config", {}).get("forgettingHalfLifeMs", retrieval.HALF_LIFE)
        return _scores(retrieval.decayed(_matches(given["matches"]), self.clock(), half_life))

    def recency(self, given: Mapping[str, Any]) -> Any:
        max_age = given.get("maxAgeMs", retrieval.RECENT)
        return _scores(retrieval.recent_first(_matches(given["matches"]), self.clock(), given["weight"], max_age))

    def mmr(self, given: Mapping[str, Any]) -> Any:
        made = retrieval.varied(_matches(given["matches"]), given["weight"], given["limit"])
        return {"ids": [match.memory.id for match in made]}

    def should_archive(self, given: Mapping[str, Any]) -> Any:
        config = given.get("config", {})
        below, half_life = config.get("minRetrievalScore", 0.1), config.get("forgettingHalfLifeMs", retrieval.HALF_LIFE)
        memory = _match({"content": "", "score": 0, **given["memory"]}).memory
        left = retrieval.fading(
            memory.last_retrieved_at, memory.created_at, memory.retrieval_count, self.clock(), half_life
        )
        return {"value": not memory.pinned and left < below}

    def retrieve(self, given: Mapping[str, Any]) -> Any:
        store = self._store()
        for number, raw in enumerate(given["memories"]):
            store.put_memory(_memory(raw, number))
        self._profile(store, given.get("profile_ops", ()))
        config, limit = given.get("config", {}), given.get("limit", 10)
        search = _search(config, self.strict)
        pinned = [MemoryMatch(memory, 1.0) for memory in store.get_memories(USER) if memory.pinned]
        considered = store.search_memories(
            USER, _vector(given["vectors"][given["query"]]), limit * (5 if search.diversity_weight > 0 else 1),
            given.get("filterTags") or (),
        )  # fmt: skip
        found = retrieval.chosen(pinned, considered, store.get_profile(USER), search, self.clock(), limit).matches
        matches = found[1:] if config.get("onRetrieve") == "drop_first" else found
        updates = []
        for match in matches if search.half_life is not None else ():
            lost = self.strict and match.memory.pinned  # the original loses the counters of pinned ones
            times = 0 if lost else match.memory.retrieval_count or 0
            asked = MemoryChanges(last_retrieved_at=self.clock(), retrieval_count=times + 1)
            store.update_memory(match.memory.id, asked)
            updates.append({"op": "update", "id": match.memory.id, "updates": _changes(asked)})
        return {
            "matches": [
                {"id": match.memory.id, "score": match.score, "pinned": match.memory.pinned} for match in matches
            ],
            "metadata_updates": updates,
        }

    def context(self, given: Mapping[str, Any]) -> Any:
        options = given.get("options", {})
        layout = retrieval.MemoryLayout(
            options.get("prioritySignaling", True), options.get("chronologicalRetrieval", True),
            options.get("cacheableContext", False),
        )  # fmt: skip
        pieces = retrieval.context_pieces(_matches(given["memories"]), given.get("profile"), layout)
        return {"text": "".join(piece.text for piece in pieces)}

    # ---- the bench --------------------------------------------------------------------------------------------------

    def _store(self) -> FactStore:
        numbers = count(1)
        new_id = lambda: f"new-{next(numbers)}"  # noqa: E731
        return self.stores.enter_context(FactStore(now=self.clock, new_id=new_id, strict=self.strict))

    def _profile(self, store: FactStore, operations: Sequence[Mapping[str, Any]]) -> None:
        start = self.clock.now
        for operation in operations:
            self.clock.now = _ms(operation["now"]) if "now" in operation else self.clock.now
            if "merge" in operation:
                for field, value in operation["merge"].items():
                    before = (store.get_profile(USER) or {}).get(field, {})
                    both = before | value if isinstance(value, dict) else value
                    store.update_profile_field(USER, field, both, "set")
            else:
                store.update_profile_field(USER, operation["field"], operation.get("value"), operation["action"])
        self.clock.now = start


class _Clock:
    def __init__(self, now: int) -> None:
        self.now = now

    def __call__(self) -> int:
        return self.now


class _Model:
    """Answers as the case says."""

    def __init__(
        self, raw: Any, vectors: Mapping[str, Any] | None = None, failing: Sequence[str] = (), reply: Any = None
    ) -> None:
        self.raw, self.vectors, self.failing, self.reply = raw, vectors or {}, failing, reply
        self.dates: list[str] = []
        self.embedded: list[str] = []
        self.reviewed: list[tuple[str, str]] = []

    async def extract(self, _lines: Sequence[Line], session_date: str) -> Any:
        self.dates.append(session_date)
        if isinstance(self.raw, Mapping) and "throws" in self.raw:
            raise RuntimeError(self.raw["throws"])
        return self.raw

    async def review(self, system: str, user: str) -> str | None:
        self.reviewed.append((system, user))
        problem = self.reply["throws"] if isinstance(self.reply, Mapping) else ""
        if problem:
            raise RuntimeError(problem)
        return self.reply

    async def embed(self, text: str) -> Any:
        self.embedded.append(text)
        await asyncio.sleep(0)
        if text in self.failing:
            raise RuntimeError(f"embed failed: {text}")
        if text not in self.vectors:
            raise RuntimeError(f"no vector for: {text}")
        return _vector(self.vectors[text])


class _Recorder:
    """Writes down the calls of a run, and refuses those that the case wants to fail."""

    def __init__(self, writes: Any, offered: Mapping[str, Any]) -> None:
        self._writes, self._offered = writes, offered
        self.calls: list[dict[str, Any]] = []
        self._numbers = {"save": 0, "update": 0, "profile": 0}
        self.can_update = offered.get("updateMemory", True)
        self.has_profiles = offered.get("updateProfileField", True)

    def get_memories(self, user: str) -> Any:
        self.calls.append({"op": "getMemories"})
        return self._writes.get_memories(user)

    def save_memory(self, memory: Any) -> None:
        self._count("save")
        self._writes.save_memory(memory)
        self.calls.append(
            {
                "op": "save", "content": memory.content, "source": memory.source, "tags": memory.tags,
                "pinned": memory.pinned, "embedding": _listed(memory.embedding),
            }
        )  # fmt: skip

    def update_memory(self, memory: str, changes: Any) -> None:
        self._count("update")
        self._writes.update_memory(memory, changes)
        self.calls.append({"op": "update", "id": memory, "updates": _changes(changes)})

    def update_profile_field(self, user: str, field: str, value: Any, action: str) -> None:
        self._count("profile")
        self._writes.update_profile_field(user, field, value, action)
        self.calls.append({"op": "profile", "field": field, "value": value, "action": action})

    def _count(self, kind: str) -> None:
        self._numbers[kind] += 1
        if self._numbers[kind] == self._offered.get(f"fail_{kind}_number"):
            raise RuntimeError(f"{kind} failed")


class Conversations:
    """What the original does with threads that are spoken in; here chats are read from files, which are never silent.

    Which state follows which, what drawing out leaves behind and when a thread closes is the program's.
    """

    def __init__(self, extractor: Extractor) -> None:
        self.extractor, self.store, self.times = extractor, extractor.store, extractor.timeouts
        self.strict, self.now = extractor.options.strict, extractor.now
        self._lines: dict[str, list[Line]] = {}

    def create(self) -> Thread:
        now = self.now()
        thread = Thread(f"thread-{len(self._lines) + 1}", USER, now, now)
        self._lines[thread.id] = []
        self.store.update_thread(thread)
        return thread

    def get_or_create(self) -> Thread:
        awake = [each for each in self.store.all_threads() if each.state in {ThreadState.ACTIVE, ThreadState.COOLING}]
        return self._woken(max(awake, key=lambda each: each.updated_at)) if awake else self.create()

    async def sweep(self) -> list[Exception]:
        for thread in self._in_state(ThreadState.ACTIVE):
            if should_cool(thread, self.times.cooling, self.now()):
                self._moved(thread, ThreadState.COOLING)
        failures: list[Exception] = []
        for thread in self._in_state(ThreadState.COOLING):
            if should_go_dormant(thread, self.times.dormant, self.now()):
                try:
                    await self._extract(thread)
                except Exception as error:
                    if self.strict:
                        raise
                    failures.append(error)
        self.extractor.close_old(self._in_state(ThreadState.DORMANT))
        return failures

    async def trigger(self, thread_id: str) -> ExtractionResult:
        thread = self._thread(thread_id)
        if thread.state is ThreadState.CLOSED:
            raise FactError(f"Cannot trigger dormant transition on closed thread: {thread_id}")
        return ExtractionResult() if thread.state is ThreadState.DORMANT else await self._extract(thread)

    def close(self, thread_id: str) -> None:
        thread = self._thread(thread_id)
        if thread.state is not ThreadState.DORMANT:
            raise FactError(f"Cannot close thread in state: {thread.state}. Must be dormant.")
        self._moved(thread, ThreadState.CLOSED)

    def exchange(self, thread_id: str, message: str, reply: str) -> Thread:
        meant = self._thread(thread_id)
        over = meant.state in {ThreadState.DORMANT, ThreadState.CLOSED}
        thread = self.create() if over else self._woken(meant)
        self._lines[thread.id] += Line("user", message), Line("assistant", reply)
        now = self.now()
        spoken = replace(thread, last_message_at=now, updated_at=now)
        self.store.update_thread(spoken)
        return thread if over and self.strict else spoken

    async def _extract(self, thread: Thread) -> ExtractionResult:
        return await self.extractor.extract(thread, self._lines[thread.id])

    def _thread(self, thread_id: str) -> Thread:
        thread = self.store.get_thread(thread_id)
        if thread is None:
            raise FactError(f"Thread not found: {thread_id}")
        return thread

    def _in_state(self, state: ThreadState) -> list[Thread]:
        return [thread for thread in self.store.all_threads() if thread.state is state]

    def _woken(self, thread: Thread) -> Thread:
        return self._moved(thread, ThreadState.ACTIVE) if thread.state is ThreadState.COOLING else thread

    def _moved(self, thread: Thread, to: ThreadState) -> Thread:
        moved = threads.transition(thread, to, self.now())
        self.store.update_thread(moved)
        return moved


def should_cool(thread: Thread, timeout: int, now: int) -> bool:
    since = thread.last_message_at
    return thread.state is ThreadState.ACTIVE and since is not None and now - since >= timeout


def should_go_dormant(thread: Thread, timeout: int, now: int) -> bool:
    since = thread.cooling_started_at
    return thread.state is ThreadState.COOLING and since is not None and now - since >= timeout


async def _do(memory: Conversations, step: Mapping[str, Any], current: str) -> tuple[dict[str, Any], str]:
    """One step of a lifecycle; also the thread that the next ones are about."""
    what, thread = step["do"], step.get("thread", current)
    if what == "create":
        return {}, memory.create().id
    if what == "get_or_create":
        made = memory.get_or_create()
        return {"returned_thread": {"id": made.id, "state": str(made.state)}}, made.id
    if what == "sweep":
        failures = await memory.sweep()
        return ({"error": _error(failures[0])} if failures else {}), current
    if what == "trigger":
        return {"result": (await memory.trigger(thread)).data}, current
    if what == "close":
        memory.close(thread)
        return {}, current
    if what != "chat":
        raise LookupError(f"no step is called {what}")
    back = memory.exchange(thread, step.get("message", ""), "noted")
    last = None if back.last_message_at is None else iso(back.last_message_at)
    return {
        "redirected": back.id != thread,
        "previousThreadId": thread if back.id != thread else None,
        "returned_thread": {"id": back.id, "state": str(back.state), "lastMessageAt": last},
    }, current


def _error(error: Exception) -> str:
    message = error.message if isinstance(error, FactError) else str(error)
    return f"InvalidTransitionError: {message}" if isinstance(error, InvalidTransitionError) else message


def _ms(text: str) -> int:
    at = datetime.fromisoformat(text)
    return round(at.timestamp() * 1000)


def _when(raw: Mapping[str, Any], name: str) -> int | None:
    return None if raw.get(name) is None else _ms(raw[name])


def _vector(values: Any) -> Any:
    return None if values is None else np.array(values, dtype=np.float64)


def _listed(vector: Any) -> Any:
    return None if vector is None else [float(value) for value in vector]


def _lines(messages: Sequence[Mapping[str, Any]]) -> list[Line]:
    return [Line(message["role"], message["content"]) for message in messages]


def _fact(raw: Mapping[str, Any]) -> Fact:
    profile = {key: raw[key] for key in PROFILE_KEYS if key in raw}
    return Fact(raw["content"], raw.get("source", ""), raw.get("tags"), profile)


def _structured(made: Structured) -> dict[str, Any]:
    return {"field": made.field, "value": made.value, "action": made.action, "sourceText": made.source_text}


def _review(review: Review) -> dict[str, Any]:
    return {
        "correctedFacts": [
            {**made.fact.data, "action": made.action, **({} if made.reason is None else {"reason": made.reason})}
            for made in review.corrected
        ],
        "missedFacts": [fact.data for fact in review.missed],
        "conflicts": [
            {"newFact": each.new_fact, "existingMemory": each.existing, "resolution": each.resolution}
            for each in review.conflicts
        ],
    }


def _memory(raw: Mapping[str, Any], number: int) -> Memory:
    return Memory(
        raw.get("id", f"m{number}"), raw.get("userId", USER), raw.get("threadId", "t0"), raw["content"],
        raw.get("source", "confirmed"), _vector(raw.get("embedding")),
        _ms(raw.get("createdAt") or "2026-01-01T00:00:00.000Z"), raw.get("pinned"), raw.get("tags"),
        _when(raw, "lastRetrievedAt"), raw.get("retrievalCount"), "embedding" not in raw,
    )  # fmt: skip


def _match(raw: Mapping[str, Any]) -> MemoryMatch:
    memory = Memory(
        raw.get("id", ""), USER, "t0", raw["content"], raw.get("source", ""), _vector(raw.get("embedding")),
        _when(raw, "createdAt"), raw.get("pinned"), raw.get("tags"), _when(raw, "lastRetrievedAt"),
        raw.get("retrievalCount"),
    )  # fmt: skip
    return MemoryMatch(memory, raw["score"])


def _matches(raw: Sequence[Mapping[str, Any]]) -> list[MemoryMatch]:
    return [_match({"score": 0, **each}) for each in raw]


def _scores(matches: Sequence[MemoryMatch]) -> Any:
    return {"matches": [{"id": match.memory.id, "score": match.score} for match in matches]}


def _thread(raw: Mapping[str, Any]) -> Thread:
    created = _ms(raw.get("createdAt", "2026-03-01T09:00:00.000Z"))
    updated = _when(raw, "updatedAt") or created
    return Thread(
        raw.get("id", "t1"), raw.get("userId", USER), created, updated, ThreadState(raw["state"]),
        _when(raw, "lastMessageAt"), _when(raw, "coolingStartedAt"), _when(raw, "dormantAt"), _when(raw, "closedAt"),
    )  # fmt: skip


def _thread_data(thread: Thread) -> dict[str, Any]:
    times = {
        "lastMessageAt": thread.last_message_at, "coolingStartedAt": thread.cooling_started_at,
        "dormantAt": thread.dormant_at, "closedAt": thread.closed_at,
    }  # fmt: skip
    shown = {name: None if at is None else iso(at) for name, at in times.items()}
    return {"id": thread.id, "state": str(thread.state)} | shown


def _changes(changes: Mapping[str, Any]) -> dict[str, Any]:
    names = {"content": "content", "source": "source", "tags": "tags", "pinned": "pinned"}
    made = {names[name]: changes[name] for name in names if name in changes}
    if "embedding" in changes:
        made["embedding"] = _listed(changes["embedding"])
    if "last_retrieved_at" in changes:
        made["lastRetrievedAt"] = iso(changes["last_retrieved_at"])
    if "retrieval_count" in changes:
        made["retrievalCount"] = changes["retrieval_count"]
    return made


def _shown(memory: Memory, known: set[str]) -> dict[str, Any]:
    last = memory.last_retrieved_at
    return {
        "id": memory.id, "threadId": memory.thread_id, "content": memory.content, "source": memory.source,
        "embedding": _listed(memory.embedding), "tags": memory.tags, "pinned": memory.pinned,
        "createdAt": None if memory.created_at is None else iso(memory.created_at),
        "lastRetrievedAt": None if last is None else iso(last), "retrievalCount": memory.retrieval_count,
    }  # fmt: skip


def _rules(raw: Any) -> Any:
    if raw == "HEALTH":
        return options.health_rules()
    return [group_rule(rule["pattern"], rule["profileField"], rule["group"], rule["action"]) for rule in raw]


def _pins(raw: Any) -> Any:
    if raw == "HEALTH":
        return options.health_pins()
    return tuple(
        pattern_rule(rule["pattern"], rule.get("flags", "i"))
        if "pattern" in rule
        else field_rule(rule["field"], rule["equals"])
        for rule in raw
    )


def _options(raw: Mapping[str, Any], strict: bool) -> FactOptions:
    concurrency = raw.get("embeddingConcurrency", 5)
    is_number = isinstance(concurrency, int | float) and not isinstance(concurrency, bool)
    rules = raw.get("structuredRules", raw.get("structuredExtractionRules"))
    return FactOptions(
        deduplication=raw.get("deduplicationThreshold", similarity.DEDUPLICATION),
        supersede=raw.get("supersedeThreshold", similarity.SUPERSEDE),
        concurrency=concurrency if is_number else float("nan"),
        pins=_pins(raw.get("autoPinRules", ())),
        structured=None if rules is None else tuple(_rules(rules)),
        reflection=raw.get("enableReflection", False),
        reflection_prompt=raw.get("reflectionPrompt", ""),
        strict=strict,
    )


def _search(raw: Mapping[str, Any], strict: bool) -> retrieval.MemorySearch:
    forgetting = raw.get("forgetting")
    return retrieval.MemorySearch(
        raw.get("minScore", 0),
        raw.get("recencyWeight", 0),
        raw.get("recencyMaxAgeMs", retrieval.RECENT),
        raw.get("diversityWeight", 0),
        None if forgetting is None else forgetting.get("forgettingHalfLifeMs", retrieval.HALF_LIFE),
        strict,
    )
