"""Recap memory: each operation of the case file as one or a few calls of the engine."""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from lorestudio.domain.entry import Position, Role
from lorestudio.domain.history import ranges_of
from lorestudio.domain.records import replace
from lorestudio.domain.tokens import CHARS_3_35, CHARS_4, TokenCounter, growing
from lorestudio.settings.recap import RecapSettings, read_recap_settings
from lorestudio.systems.recap import asking, message_recaps, records, refresh
from lorestudio.systems.recap import running as running_recaps
from lorestudio.systems.recap.chat import RecapChat, RecapSurroundings
from lorestudio.systems.recap.message_recaps import Inclusion, exclusion
from lorestudio.systems.recap.queue import (
    Priority,
    QueuedOperation,
    QueueState,
    StoredAnswer,
    after_failure,
    normalised,
    retry_delay,
)
from lorestudio.systems.recap.refresh import RecapPlace
from lorestudio.systems.recap.running import RunningRecaps, RunningVersion, read_store, storage, write_store
from lorestudio.systems.recap.scenes import breaks as scene_breaks
from lorestudio.systems.recap.scenes import scenes
from lorestudio.systems.recap.tracing import HOST_POSITION
from lorestudio.systems.recap.worker import Worker
from lorestudio.trace.prompt import prompt_order
from tests.cases.runner import Case

Input = Mapping[str, Any]


@dataclass(frozen=True)
class Words:
    """Runs of characters that are not blank."""

    name: str = "words"
    exact: bool = True

    def count(self, text: str) -> int:
        return len(re.findall(r"\S+", text))


COUNTERS: Final[Mapping[str, TokenCounter]] = {"words": Words(), "chars3.35": CHARS_3_35, "chars4": CHARS_4}


def outcome(case: Case) -> Any:
    """What the engine makes of a case."""
    return OPERATIONS[case["operation"]](case["input"])


def around(given: Input) -> RecapSurroundings:
    read = read_recap_settings(given.get("settings") or {})
    assert not read.problems, read.problems
    return RecapSurroundings(
        read.settings,
        COUNTERS[given.get("tokenizer", "words")],
        disabled=frozenset(given.get("disabled_characters") or () if given.get("in_group") else ()),
    )


def chat_of(count: int, breaks: list[dict[str, Any]] = (), recaps: list[int] = (), checked: list[int] = ()) -> Any:
    """Plain messages with these breaks and scene recaps on them."""
    messages: list[dict[str, Any]] = [{"mes": f"m{index}"} for index in range(count)]

    def put(index: int, **values: Any) -> None:
        messages[index] = records.with_values(messages[index], values)

    for item in breaks:
        put(item["index"], scene_break=True)
        if "visible" in item:
            put(item["index"], scene_break_visible=item["visible"])
        if item.get("recap"):
            put(item["index"], scene_recap_memory="a recap")
        if "current_index" in item:
            put(item["index"], scene_recap_current_index=item["current_index"])
        if "combined_versions" in item:
            marks = {str(number): {"combined_at": 1} for number in item["combined_versions"]}
            put(item["index"], scene_recap_metadata=marks)
    for index in recaps:
        put(index, scene_recap_memory="a recap")
    for index in checked:
        put(index, auto_scene_break_checked=True)
    return tuple(messages)


def speakers(given: Input) -> Any:
    """Messages from one letter each, some without text, some notices."""
    return tuple(
        {
            "mes": "  " if index in given.get("blank", ()) else "text",
            "is_user": letter == "u",
            "extra": {"type": "system"} if index in given.get("system_type", ()) else {},
        }
        for index, letter in enumerate(given["speakers"])
    )


def end_of(given: Input) -> int:
    return max((item["index"] for item in given["breaks"]), default=-1) + 1


def pairs(found: Any) -> list[list[int]]:
    return [list(item) for item in found]


def stored(message: Any) -> Any:
    return dict(records.namespace(message))


# Messages


def _exclusion(given: Input) -> Any:
    found = exclusion(given["message"], around(given))
    return {"include": found.included, "reason": found.reason or None}


def walked(messages: Sequence[Mapping[str, Any]], at: RecapSurroundings, limit: float | None) -> Inclusion:
    """The walk through these messages."""
    items = [message_recaps.WalkItem.of(index, message, at) for index, message in enumerate(messages)]
    return message_recaps.walk(reversed(items), growing(at.counter), limit)


def _walk(given: Input) -> Any:
    limit = message_recaps.token_limit(given.get("context_size", 0), given.get("limit"), given.get("limit_type", ""))
    found = walked(given["messages"], around(given), limit)
    flagged = message_recaps.with_flags(given["messages"], found)
    return {
        "include": [records.get_data(message, "include") for message in flagged],
        "limit": found.limit,
        "closed_at": found.closed_at,
        "steps": [
            {
                "index": step.index,
                "decision": step.decision.value,
                "reason": step.exclusion.reason or None,
                "tokens_before": step.before,
                "tokens_after": step.after,
            }
            for step in found.steps
        ],
    }


def _edit_memory(given: Input) -> Any:
    message = given["message"]
    for text in given["texts"]:
        message = records.edit_memory(message, text, show_prefill=bool(given.get("show_prefill")))
    return {"namespace": stored(message)}


def _flagged(given: Input) -> Any:
    """The original's viewers collect by the flag; the window lists every message with its state."""
    wanted = {"include": given["include"]}
    return {
        "indexes": [
            index
            for index, message in enumerate(given["messages"])
            if records.get_memory(message) and wanted.items() <= records.namespace(message).items()
        ]
    }


def _numbered_recaps(given: Input) -> Any:
    found: list[Any] = []
    for message in (given["messages"][index] for index in given["indexes"]):
        scene, own = scenes.recap_of(message), records.get_memory(message)
        if scene or own:
            kind = "Scene-wide Recap" if scene else records.get_data(message, "include")
            found.append({"id": len(found) + 1, "recap": scene or own, "type": kind})
    return {"recaps": found}


def _new_swipe(given: Input) -> Any:
    """The original clears a swipe that is to come; the studio begins one with nothing on it."""
    message = given["message"]
    asked = message["swipe_id"] == len(message["swipes"])
    empty = dict.fromkeys(("memory", "error", "reasoning", "prefill"))
    values = {**empty, "edited": False, "exclude": False} if asked else {}
    return {"cleared": asked, "namespace": {**records.namespace(message), **values}}


def _namespace(given: Input) -> Any:
    message, write = given["message"], given.get("write")
    read = {key: records.get_data(message, key) for key in given["read"]}
    return {"read": read, "message": records.set_data(message, write["key"], write["value"]) if write else message}


# Scenes


def _auto_hide(given: Input) -> Any:
    messages = chat_of(given["message_count"], given["breaks"])
    found = refresh.auto_hide(len(messages), scenes.visible_breaks(messages), given["scene_count"])
    return {"visible_start": found.visible_start, "hide": pairs(found.hide), "unhide": pairs(found.unhide)}


def _generation_range(given: Input) -> Any:
    breaks = scenes.visible_breaks(chat_of(end_of(given), given["breaks"]))
    return {"range": list(scenes.generation_range(breaks, given["index"], given["scene_history_count"]))}


def _display_range(given: Input) -> Any:
    messages = chat_of(end_of(given), given["breaks"])
    found = scenes.display_range(scenes.visible_breaks(messages), scenes.scene_recaps(messages), given["index"])
    return {"range": list(found)}


def _effective_range(given: Input) -> Any:
    messages = chat_of(end_of(given), given["breaks"])
    breaks, recaps = scenes.visible_breaks(messages), scenes.scene_recaps(messages)
    return {"range": list(scenes.effective_range(breaks, recaps, given["index"], given["scene_history_count"]))}


def _locks(given: Input) -> Any:
    found = scenes.locks(chat_of(end_of(given), given["breaks"]))
    return {
        "scenes": [
            {"index": index, "self": lock.by_itself, "later": lock.by_later, "locked": lock.locked}
            for index, lock in found.items()
        ]
    }


def _toggle(given: Input) -> Any:
    messages = chat_of(given["message_count"], given["breaks"], checked=given["checked"])
    for index in given["toggles"]:
        messages = scenes.toggle(messages, index)
    return {
        "breaks": [
            {"index": index, "visible": scenes.is_visible_break(message)}
            for index, message in enumerate(messages)
            if scenes.is_break(message)
        ],
        "checked": [index for index, message in enumerate(messages) if records.get_data(message, scenes.CHECKED)],
    }


def _scene_name(given: Input) -> Any:
    where = (given["start"], given["end"])
    existing = given.get("existing_name")
    return {"name": scenes.scene_name(given["recap"], existing, where, append_range=given["append_range"])}


def _versions_init(given: Input) -> Any:
    message = {"mes": "m", "extra": {"auto_recap": given["namespace"]}}
    drawn = stored(scenes.edited(message, (*scenes.versions_of(message).texts, "")[0]))
    if "scene_break_recap" not in given["namespace"]:
        del drawn["scene_break_recap"]  # the studio writes all names of a recap, the original's drawing only those
    return {"namespace": drawn}


def _scene_save(given: Input) -> Any:
    message = {"mes": "m", "extra": {"auto_recap": given["namespace"]}}
    where = (given["start"], given["end"])
    saved = scenes.with_recap(message, given["recap"], where, append_range=given["append_range"])
    return {"namespace": stored(saved)}


# Detection


def _detection_range(given: Input) -> Any:
    messages = speakers(given)
    for item in given["breaks"]:
        if item["index"] < len(messages):
            values = {"scene_break": True, **({"scene_break_visible": item["visible"]} if "visible" in item else {})}
            changed = records.with_values(messages[item["index"]], values)
            messages = (*messages[: item["index"]], changed, *messages[item["index"] + 1 :])
    found = scene_breaks.detection_range(
        messages,
        scenes.visible_breaks(messages),
        offset=given["offset"],
        least=given["min"],
        which=given["which"],
        start=given.get("start"),
        end=given.get("end"),
    )
    if found is None:
        return {"operation": None}
    return {
        "operation": {
            "startIndex": found.start,
            "endIndex": found.end,
            "offset": found.offset,
            "priority": Priority.DETECT,
            "filtered_count": found.found,
            "minimum_required": found.required,
            "original_start_index": found.original_start,
            "range_extended": found.extended,
            "last_scene_break_index": found.last_break,
        }
    }


def _choices(given: Input) -> Any:
    found = scene_breaks.detection_choices(
        speakers(given),
        given["start"],
        given["end"],
        least=given["min"],
        which=given["which"],
        mode=given["mode"],
        offset=given.get("offset", 0),
    )
    if not found.choices:
        return {"possible": False}
    return {
        "possible": True,
        "eligible_count": len(found.eligible),
        "earliest": found.earliest,
        "latest": found.latest,
        "choices": list(found.choices),
    }


def _paragraphs(given: Input) -> Any:
    messages = dict(enumerate(given["messages"]))
    return {"text": scene_breaks.paragraphs(messages, messages, given["earliest"], given["latest"])}


def _answer_check(given: Input) -> Any:
    reason = scene_breaks.refusal(
        given["answer"],
        start=given["start"],
        end=given["end"],
        filtered=given["filtered"],
        least=given["min"],
        last_eligible=given["max_eligible"],
    )
    return {"valid": not reason, "reason": reason or None}


def _answer_parse(given: Input) -> Any:
    try:
        found = scene_breaks.read_answer(given["answer"]).at
    except ValueError:
        return {"error": True}
    return {"break_at": "not_a_number" if isinstance(found, float) and math.isnan(found) else found}


# The running recap


def _store(value: Any) -> RunningRecaps:
    return read_store(value) if value is not None else RunningRecaps()


def _plain_store(store: RunningRecaps) -> Any:
    versions = tuple(replace(version, timestamp=None, event_keys=None) for version in store.versions)
    return write_store(replace(store, versions=versions))


def _known(version: RunningVersion | None, *, content: bool = False) -> Any:
    found: dict[str, Any] = {"version": version.number if version else None}
    return {**found, "content": version.content if version else ""} if content else found


def _step(store: RunningRecaps, step: Input) -> tuple[RunningRecaps, Any]:
    match step["do"]:
        case "add":
            store = store.added(
                step["content"],
                step["scene_count"],
                step["excluded_count"],
                step.get("prev_scene_index", 0),
                step.get("new_scene_index", 0),
            )
            return store, {"version": store.current}
        case "set_current" | "delete" as what:
            try:
                store = store.with_current(step["version"]) if what == "set_current" else store.without(step["version"])
            except KeyError:
                return store, {"ok": False}
            return store, {"ok": True}
        case "get":
            return store, _known(store.get(step.get("version")), content=True)
        case "previous_before":
            return store, _known(store.previous_before(step["scene_index"]))
        case "edit":
            store = store.edited(step["content"])
            return store, {"version": store.current}
        case _:
            before = store.previous_before(step["scene_index"])
            store = store.combined(step["scene_index"], step["content"], step["excluded_count"])
            return store, {"base": before.content if before else "", "version": store.current}


def _versions(given: Input) -> Any:
    store, results = _store(given.get("store")), []
    for step in given["steps"]:
        store, result = _step(store, step)
        results.append(result)
    return {"results": results, "store": _plain_store(store)}


def _storage(given: Input) -> Any:
    found = storage(given["chat_id"], given["metadata"], given["lorebooks"])
    return {"outcome": found.outcome.value, "notice": bool(found.notice), "store": _plain_store(found.store)}


def _cleanup(given: Input) -> Any:
    store, gone = running_recaps.cleaned(_store(given["store"]), given["chat_length"], given["recaps"])
    return {"deleted": list(gone), "store": _plain_store(store)}


def _delete_message(given: Input) -> Any:
    store, gone = running_recaps.after_deletion(
        _store(given["store"]), given["deleted_index"], given["chat_length"], given["recaps"]
    )
    return {"deleted": list(gone), "store": _plain_store(store)}


def _running_text(given: Input) -> Any:
    try:
        return {"text": running_recaps.running_text(given["answer"])}
    except ValueError:
        return {"error": True}


def _injection(given: Input) -> Any:
    own = {f"running_scene_recap_{name}": value for name, value in (given.get("settings") or {}).items()}
    settings = RecapSettings(running_scene_recap_template=given["template"], **own)
    found = refresh.injection(_store(given["store"]), settings, enabled=given["enabled"])
    told: dict[str, Any] = {
        "key": found.key, "value": found.value, "position": found.position, "depth": found.depth
    }  # fmt: skip
    if found.role is None:
        return {name: told[name] for name in ("key", "value", "depth")}
    return {**told, "role": found.role, "scan": found.scan}


@dataclass(frozen=True)
class Placed:
    """An injection as the program hands it to the host."""

    place: RecapPlace
    tag: str
    text: str
    position: int
    depth: int
    role: int


def _block(place: RecapPlace, placed: Iterable[Placed]) -> dict[str, Any]:
    """Injections that stand together; each is trimmed."""
    items = tuple(placed)
    text = "\n".join(item.text.strip() for item in items)
    return {"place": place.value, "role": refresh.ROLE_NAMES[Role(items[0].role)], "text": text}


def _prompt_order(given: Input) -> Any:
    placed = []
    for item in given["injections"]:
        place = refresh.place_of(item["position"], given["dialect"])
        depth = 0 if place is RecapPlace.AFTER_HISTORY else item["depth"]
        position = HOST_POSITION.get(place, Position.OUTLET)
        placed.append(Placed(place, item["key"], item["text"], position, depth, item["role"]))
    late = prompt_order([item for item in placed if item.place is RecapPlace.AFTER_HISTORY]).in_chat
    known = prompt_order([item for item in placed if item.place is not RecapPlace.AFTER_HISTORY])
    seen = [message for message in given["history"] if not message.get("is_system")]
    blocks = [_block(RecapPlace.BEFORE_MAIN, [item]) for item in known.before]
    blocks.append({"place": "card", "text": given["card"]})
    blocks += [_block(RecapPlace.AFTER_MAIN, [item]) for item in known.after]
    for number in range(len(seen) + 1):
        here = [group for group in known.in_chat if group.older(len(seen)) == number]
        blocks += [_block(RecapPlace.IN_CHAT, group.prompts) for group in here]
        blocks += [{"place": "history", "text": message["mes"]} for message in seen[number : number + 1]]
    blocks += [_block(RecapPlace.AFTER_HISTORY, group.prompts) for group in late]
    return {"blocks": [*blocks, {"place": "new_message", "text": given["new_message"]}]}


# The queue


class Scripted:
    """Operations that do nothing, or fail with a text."""

    def __init__(self, fails: Mapping[str, str]) -> None:
        self.fails = fails
        self.order: list[str] = []
        self.failures: list[str] = []

    def delays(self, _: QueuedOperation) -> tuple[float, float]:
        return 0, 0

    async def ask(self, operation: QueuedOperation) -> Any:
        if operation.id not in self.order:
            self.order.append(operation.id)
        if operation.id in self.fails:
            raise RuntimeError(self.fails[operation.id])
        return {}

    async def store(self, *_: Any) -> StoredAnswer:
        return StoredAnswer()

    async def failed(self, operation: QueuedOperation, _: str) -> StoredAnswer:
        self.failures.append(operation.id)
        return StoredAnswer()


async def _no_waiting(seconds: float) -> None:
    await asyncio.sleep(0)


def _queue_order(given: Input) -> Any:
    async def work() -> Any:
        operations = tuple(
            QueuedOperation(
                item["name"],
                "recap",
                priority=item["priority"],
                created_at=item["created_at"],
                dependencies=tuple(item.get("depends_on", ())),
            )
            for item in given["operations"]
        )
        performer = Scripted({item["name"]: item["fails_with"] for item in given["operations"] if "fails_with" in item})
        worker = Worker(QueueState(operations, paused=True), performer, sleep=_no_waiting)
        await worker.run()
        assert not performer.order
        await worker.resume()
        await worker.run()
        left = [operation.id for operation in worker.state.operations]
        return {"order": performer.order, "failed": performer.failures, "left": left}

    return asyncio.run(work())


def _failure(given: Input) -> Any:
    found = after_failure(given["error"], given["retries"], given["max_retries"])
    if found.action != "retry":
        return {"action": found.action}
    return {
        "action": "retry", "retries": found.retries, "delay_seconds": found.delay_s, "error": found.error
    }  # fmt: skip


def _enqueue(given: Input) -> Any:
    state = QueueState(queue_version=given["queue_version"])
    return {"accepted": state.accepts(given["given_version"], clearing=bool(given.get("clearing")))}


def _queue_edit(given: Input) -> Any:
    operations = (QueuedOperation(item["id"], "recap", dependencies=tuple(item["dependencies"]))
                  for item in given["operations"])  # fmt: skip
    state, results = QueueState(tuple(operations)), []
    for step in given["steps"]:
        if step["do"] == "remove":
            results.append(state.get(step["id"]) is not None)
            state = state.without(step["id"])
        else:
            results.append(None)
            state = state.with_transferred(step["from"], step["to"])
    return {
        "results": results,
        "operations": [{"id": item.id, "dependencies": sorted(set(item.dependencies))} for item in state.operations],
    }


def _clear_all(given: Input) -> Any:
    chat = RecapChat(given["chat_id"], tuple(given["messages"])).with_running(_store(given["store"]))
    cleared, counts = chat.cleared()
    return {
        "counters": {
            "messageMetadataCleared": counts.messages,
            "singleRecapsCleared": counts.single_recaps,
            "sceneRecapsCleared": counts.scene_recaps,
            "sceneBreaksCleared": counts.scene_breaks,
            "checkedFlagsCleared": counts.checked_flags,
            "swipeRecapsCleared": counts.swipe_recaps,
            "runningRecapCleared": counts.running_recaps,
        },
        "messages": list(cleared.messages),
        "store": _plain_store(cleared.running),
        "force_full_rescan": True,
    }


OPERATIONS: Final[Mapping[str, Callable[[Input], Any]]] = {
    "exclusion": _exclusion,
    "token_limit": lambda given: {
        "limit": message_recaps.token_limit(given["context_size"], given["limit"], given["limit_type"])
    },
    "count_tokens": lambda given: {"tokens": COUNTERS[given["tokenizer"]].count(given["text"] or "")},
    "inclusion_walk": _walk,
    "recap_candidates": lambda given: {"indexes": list(message_recaps.candidates(given["messages"], around(given)))},
    "collect_flagged": _flagged,
    "concatenate_recaps": _numbered_recaps,
    "auto_hide": _auto_hide,
    "index_ranges": lambda given: {"ranges": pairs(ranges_of(given["indexes"]))},
    "scene_generation_range": _generation_range,
    "scene_display_range": _display_range,
    "scene_effective_range": _effective_range,
    "scene_locks": _locks,
    "scene_toggle": _toggle,
    "recap_hash": lambda given: {"hash": scenes.recap_hash(given["text"])},
    "scene_name": _scene_name,
    "scene_versions_init": _versions_init,
    "scene_save": _scene_save,
    "detection_range": _detection_range,
    "detection_choices": _choices,
    "detection_paragraphs": _paragraphs,
    "detection_answer_check": _answer_check,
    "detection_answer_parse": _answer_parse,
    "rationale_formatting": lambda given: {"rejected": scene_breaks.speaks_of_formatting(given["rationale"])},
    "continuity_veto": lambda given: {
        "veto": scene_breaks.is_vetoed(given["messages"], given["candidate"], given["rationale"])
    },
    "strip_decoration": lambda given: {"text": scene_breaks.without_decoration(given["text"])},
    "collect_scene_recaps": lambda given: {
        "indexes": list(
            running_recaps.scenes_to_use(
                scenes.scene_recaps(chat_of(given["message_count"], recaps=given["recaps"])), given["exclude_latest"]
            )
        )
    },
    "running_versions": _versions,
    "running_storage": _storage,
    "running_cleanup": _cleanup,
    "running_delete_message": _delete_message,
    "injection": _injection,
    "running_text": _running_text,
    "prompt_order": _prompt_order,
    "position_place": lambda given: {"place": refresh.place_of(given["code"], given["dialect"]).value},
    "set_data": lambda given: {"message": records.set_data(given["message"], given["key"], given["value"])},
    "get_memory": lambda given: {"memory": records.get_memory(given["message"], show_prefill=given["show_prefill"])},
    "edit_memory": _edit_memory,
    "new_swipe": _new_swipe,
    "toggle_values": lambda given: {
        "values": [not all(given["values"]) if given["value"] is None else given["value"]] * len(given["values"])
    },
    "previous_swipe_value": lambda given: {"value": records.previous_swipe_value(given["message"], given["key"])},
    "namespace": _namespace,
    "conditionals": lambda given: {"text": asking.conditionals(given["text"], given["params"])},
    "validation_answer": lambda given: {"valid": asking.is_valid(given["answer"])},
    "retry_delay": lambda given: {"seconds": retry_delay(given["retries"])},
    "failure_action": _failure,
    "queue_order": _queue_order,
    "enqueue": _enqueue,
    "queue_load": lambda given: {"state": normalised(given["stored"])},
    "queue_edit": _queue_edit,
    "clear_all": _clear_all,
}
