"""The stages of a refresh as records: who came in, who went on, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from lorestudio.domain.entry import EMPTY, Role
from lorestudio.domain.javascript import Json
from lorestudio.domain.tokens import TokenCounter
from lorestudio.memory.recap.chat import RecapChat
from lorestudio.memory.recap.exclusion import Exclusion
from lorestudio.memory.recap.inclusion import Decision, Inclusion, Step
from lorestudio.memory.recap.injection import PLACE_WORDS, ROLE_NAMES, Place
from lorestudio.memory.recap.records import get_memory, message_text, namespace, text_of
from lorestudio.memory.recap.refresh import Refresh
from lorestudio.memory.recap.running import RunningRecaps
from lorestudio.memory.recap.scene_recaps import versions_of
from lorestudio.memory.recap.scenes import display_range, has_recap
from lorestudio.memory.recap.stages import recap_in_words
from lorestudio.memory.recap.storage import Ownership
from lorestudio.settings.recap import RecapSettings
from lorestudio.trace.model import (
    EntryRef,
    Outcome,
    Phase,
    StageRecord,
    StageStatus,
    Verdict,
)

SCENE_IDS: Final = 1_000_000
VERSION_IDS: Final = 2_000_000
"""Where the ids of scenes and versions begin, so that each keeps its own from turn to turn."""

_TITLE: Final = 48


@dataclass(slots=True)
class Cast:
    """Who the candidates are: messages have their index as id, scenes and versions theirs above."""

    chat: RecapChat
    counter: TokenCounter
    entries: dict[int, EntryRef] = field(default_factory=dict)
    scenes: dict[int, int] = field(default_factory=dict)
    versions: dict[int, int] = field(default_factory=dict)

    def add(self, number: int, title: str, filename: str, text: str) -> int:
        """One candidate; its id."""
        self.entries[number] = EntryRef(number, title, self.chat.id, filename, 100, self.counter.count(text))
        return number


def cast_of(done: Refresh, counter: TokenCounter, *, show_prefill: bool) -> Cast:
    """All candidates of a refresh."""
    chat = done.chat
    cast = Cast(chat, counter)
    for index, message in enumerate(chat.messages):
        name, text = text_of(message.get("name")), " ".join(message_text(message).split())
        spoken = f"{name}: {text}" if name else text
        shown = spoken if len(spoken) <= _TITLE else f"{spoken[: _TITLE - 1]}…"
        cast.add(index, f"#{index} {shown}", f"message {index}", get_memory(message, show_prefill=show_prefill))
    for index in chat.breaks:
        first, last = display_range(chat.breaks, chat.recaps, index)
        message = chat.messages[index]
        name = text_of(_data(message, "scene_break_name")) or f"Scene {first}-{last}"
        recap = recap_in_words(text_of(_data(message, "scene_recap_memory")))
        cast.scenes[index] = cast.add(SCENE_IDS + index, name, f"scene {first}-{last}", recap)
    for version in done.storage.store.versions:
        title = f"Running recap, version {version.number}"
        cast.versions[version.number] = cast.add(
            VERSION_IDS + version.number, title, f"running recap {version.number}", version.content
        )
    return cast


def hiding_stage(done: Refresh) -> StageRecord:
    """All messages come in; those that hiding by scenes hides or shows again are marked."""
    hiding, again = done.hiding, frozenset(done.shown_again)
    verdicts: list[Verdict] = []
    for index in range(len(done.chat.messages)):
        if hiding.hides(index):
            verdicts.append(Verdict(index, Outcome.ADDED, "recap_hidden", {"scenes": hiding.scene_count}))
        elif index in again:
            verdicts.append(Verdict(index, Outcome.ADDED, "recap_shown_again"))
        else:
            verdicts.append(Verdict(index, Outcome.ADDED, "recap_in_chat", {"index": index}))
    idle: dict[str, Json] = {"breaks": len(hiding.breaks), "scenes": max(hiding.scene_count, 0)}
    return StageRecord(
        "auto-hide",
        Phase.LOAD,
        left=tuple(range(len(done.chat.messages))),
        verdicts=tuple(verdicts),
        note="" if hiding.visible_start is not None else "recap_nothing_hidden",
        details=idle if hiding.visible_start is None else EMPTY,
    )


def messages_stage(done: Refresh, cast: Cast) -> tuple[StageRecord, StageRecord]:
    """The exclusion tree and the walk."""
    every = tuple(range(len(done.chat.messages)))
    found = done.inclusion
    if found is None:
        return _off("exclusion tree", Phase.GATE, every), _off("inclusion walk", Phase.BUDGET, every)
    passed = tuple(sorted(step.index for step in found.steps if step.exclusion.included))
    tree = StageRecord(
        "exclusion tree",
        Phase.GATE,
        entered=every,
        left=passed,
        verdicts=tuple(
            Verdict(step.index, Outcome.REMOVED, f"excluded_{step.exclusion.reason}", _why(step.exclusion))
            for step in found.steps
            if not step.exclusion.included
        ),
    )
    steps = [step for step in found.steps if step.exclusion.included]
    walked = StageRecord(
        "inclusion walk",
        Phase.BUDGET,
        entered=passed,
        left=found.included,
        verdicts=tuple(_walked(step, found, cast) for step in steps),
        note="recap_walk",
        details={"included": len(found.included), "total": found.tokens, "limit": found.limit},
    )
    return tree, walked


def _walked(step: Step, found: Inclusion, cast: Cast) -> Verdict:
    limit, before, after = found.limit, step.before or 0, step.after or 0
    match step.decision:
        case Decision.INCLUDED:
            figures: dict[str, Json] = {"tokens": after - before, "total": after, "limit": limit}
            return Verdict(step.index, Outcome.KEPT, "recap_included", figures)
        case Decision.OVER_LIMIT:
            over = after - (limit or 0)
            return Verdict(
                step.index, Outcome.REMOVED, "recap_over_limit", {"total": after, "limit": limit, "over": over}
            )
        case Decision.AFTER_LIMIT:
            stopper = "" if found.closed_at is None else cast.entries[found.closed_at].title
            return Verdict(step.index, Outcome.REMOVED, "recap_after_limit", {"stopped_by": stopper})
    return Verdict(step.index, Outcome.REMOVED, "recap_no_memory")


def scenes_stage(done: Refresh, cast: Cast) -> StageRecord:
    """Messages leave, since their recaps are for reading; scenes with a recap come in."""
    entered = _included(done)
    verdicts = [Verdict(index, Outcome.REMOVED, "recap_flag_only") for index in entered]
    left: list[int] = []
    for index, number in cast.scenes.items():
        message = done.chat.messages[index]
        first, last = display_range(done.chat.breaks, done.chat.recaps, index)
        if has_recap(message):
            left.append(number)
            details: dict[str, Json] = {"first": first, "last": last, "versions": versions_of(message).words}
            verdicts.append(Verdict(number, Outcome.ADDED, "recap_scene", details))
        else:
            verdicts.append(Verdict(number, Outcome.REFUSED, "recap_bookmark", {"last": last}))
    return StageRecord("scene recaps", Phase.SELECT, entered=entered, left=tuple(left), verdicts=tuple(verdicts))


def running_stage(done: Refresh, cast: Cast) -> StageRecord:
    """Scenes leave into the running recap; its current version comes in."""
    store = done.storage.store
    current = store.get()
    verdicts: list[Verdict] = []
    entered = tuple(number for index, number in cast.scenes.items() if has_recap(done.chat.messages[index]))
    for index, number in cast.scenes.items():
        if number not in entered:
            continue
        if current is None:
            verdicts.append(Verdict(number, Outcome.REMOVED, "recap_scene_alone"))
        elif index <= current.reaches:
            verdicts.append(Verdict(number, Outcome.REMOVED, "recap_scene_covered", {"version": current.number}))
        else:
            behind: dict[str, Json] = {"version": current.number, "reaches": current.reaches}
            verdicts.append(Verdict(number, Outcome.REMOVED, "recap_scene_behind", behind))
    for version in store.versions:
        number = cast.versions[version.number]
        if version is current:
            made: dict[str, Json] = {"version": version.number, "scenes": version.scene_count}
            verdicts.append(Verdict(number, Outcome.ADDED, "recap_current", made))
        else:
            other: dict[str, Json] = {"version": version.number, "current": store.current}
            verdicts.append(Verdict(number, Outcome.REFUSED, "recap_other_version", other))
    note, details = _ownership(done, store)
    return StageRecord(
        "running recap",
        Phase.SELECT,
        entered=entered,
        left=() if current is None else (cast.versions[current.number],),
        verdicts=tuple(verdicts),
        note=note,
        details=details,
    )


def _ownership(done: Refresh, store: RunningRecaps) -> tuple[str, Mapping[str, Json]]:
    """What there is to say about where the running recap comes from."""
    outcome = done.storage.outcome
    if outcome is Ownership.RESET:
        return "recap_foreign", EMPTY
    if store.get() is None:
        return "recap_no_running", EMPTY
    if outcome in (Ownership.ADOPTED_BRANCH, Ownership.ADOPTED_IMPORT):
        return "recap_adopted", {"owner": text_of(done.chat.metadata.get("main_chat")) or "another chat"}
    return "", EMPTY


def injecting_stage(done: Refresh, settings: RecapSettings, cast: Cast) -> StageRecord:
    """The current version of the running recap is placed, or is not."""
    current = done.storage.store.get()
    entered = () if current is None else (cast.versions[current.number],)
    if not settings.enabled:
        return _off("recap injection", Phase.INJECT, entered)
    if not entered or not done.injection.value:
        return StageRecord("recap injection", Phase.INJECT, StageStatus.SKIPPED, entered, entered, note="no_prompt")
    if done.place is Place.NONE:
        gone = Verdict(entered[0], Outcome.REMOVED, "recap_nowhere", {"position": done.injection.position})
        return StageRecord("recap injection", Phase.INJECT, entered=entered, verdicts=(gone,))
    details: dict[str, Json] = {
        "where": PLACE_WORDS[done.place],
        "tag": done.injection.key,
        "speaker": _speaker(done.injection.role),
    }
    if done.place is Place.IN_CHAT:
        details["depth"] = done.injection.depth
    kept = Verdict(entered[0], Outcome.KEPT, "recap_placed", details)
    return StageRecord("recap injection", Phase.INJECT, entered=entered, left=entered, verdicts=(kept,))


def _off(name: str, phase: Phase, entered: Iterable[int]) -> StageRecord:
    ids = tuple(entered)
    return StageRecord(name, phase, StageStatus.SKIPPED, ids, ids, note="recap_off")


def _included(done: Refresh) -> tuple[int, ...]:
    """Messages that are candidates still when the scenes come."""
    return done.inclusion.included if done.inclusion is not None else tuple(range(len(done.chat.messages)))


def _why(exclusion: Exclusion) -> Mapping[str, Json]:
    """The figures of the test that a message did not pass."""
    test = exclusion.tests[-1] if exclusion.tests else None
    if test is None or test.code != "too_short":
        return EMPTY
    return {"tokens": test.value, "threshold": test.setting}


def _speaker(role: int | None) -> str:
    return ROLE_NAMES[Role(role)] if role in tuple(Role) else "system"


def _data(message: Mapping[str, Json], key: str) -> Json:
    return namespace(message).get(key)
