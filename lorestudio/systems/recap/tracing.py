"""A refresh of recap memory as a trace, so that every view of traces can show it: who came in, who went on, and why.

Candidates are messages, then scenes, then versions of the running recap; messages and scenes leave again, since only
the running recap goes into the prompt. The trace is made from what the refresh decided and decides nothing itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from lorestudio.domain.entry import EMPTY, Position, Role
from lorestudio.domain.javascript import Json
from lorestudio.domain.tokens import TokenCounter
from lorestudio.settings.recap import RecapSettings
from lorestudio.systems.recap.chat import RecapChat
from lorestudio.systems.recap.message_recaps import Exclusion, Inclusion, WalkDecision, WalkStep
from lorestudio.systems.recap.records import get_data, get_memory, message_text, text_of
from lorestudio.systems.recap.refresh import MACRO, PLACE_WORDS, ROLE_NAMES, RecapPlace, Refresh
from lorestudio.systems.recap.running import Ownership, RunningRecaps
from lorestudio.systems.recap.scenes import display_range, has_recap, recap_hash, recap_in_words, versions_of
from lorestudio.systems.recap.words import VOCABULARY
from lorestudio.trace.model import (
    AiCall,
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
        name = text_of(get_data(message, "scene_break_name")) or f"Scene {first}-{last}"
        recap = recap_in_words(text_of(get_data(message, "scene_recap_memory")))
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


def _walked(step: WalkStep, found: Inclusion, cast: Cast) -> Verdict:
    limit, before, after = found.limit, step.before or 0, step.after or 0
    match step.decision:
        case WalkDecision.INCLUDED:
            figures: dict[str, Json] = {"tokens": after - before, "total": after, "limit": limit}
            return Verdict(step.index, Outcome.KEPT, "recap_included", figures)
        case WalkDecision.OVER_LIMIT:
            over = after - (limit or 0)
            return Verdict(
                step.index, Outcome.REMOVED, "recap_over_limit", {"total": after, "limit": limit, "over": over}
            )
        case WalkDecision.AFTER_LIMIT:
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
    if done.place is RecapPlace.NONE:
        gone = Verdict(entered[0], Outcome.REMOVED, "recap_nowhere", {"position": done.injection.position})
        return StageRecord("recap injection", Phase.INJECT, entered=entered, verdicts=(gone,))
    details: dict[str, Json] = {
        "where": PLACE_WORDS[done.place],
        "tag": done.injection.key,
        "speaker": _speaker(done.injection.role),
    }
    if done.place is RecapPlace.IN_CHAT:
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


SYSTEM: Final = "recap"
_HOST_POSITION: Final = {
    RecapPlace.BEFORE_MAIN: Position.BEFORE,
    RecapPlace.AFTER_MAIN: Position.AFTER,
    RecapPlace.IN_CHAT: Position.IN_CHAT,
    RecapPlace.AFTER_HISTORY: Position.IN_CHAT,
}
"""Places as the host's positions; behind the history is in the chat at depth 0."""


def recap_trace(
    done: Refresh,
    settings: RecapSettings,
    counter: TokenCounter,
    *,
    context_size: int = 0,
    turn: Turn | None = None,
    calls: Sequence[AiCall] = (),
    clock_ms: int = 0,
    digests: Mapping[str, str] | None = None,
) -> Trace:
    """The trace of one refresh. `turn` is the reply that the prompt is for, the next one where it is None."""
    cast = cast_of(done, counter, show_prefill=settings.show_prefill)
    placed = _placed(done, settings, cast, counter)
    stages = [hiding_stage(done), *messages_stage(done, cast), scenes_stage(done, cast), running_stage(done, cast)]
    stages.append(injecting_stage(done, settings, cast))
    limits = [Limit("context", sum(item.tokens for item in placed), context_size or None, "tokens")]
    if done.inclusion is not None:
        limits.append(Limit("message recaps", done.inclusion.tokens, done.inclusion.limit, "tokens"))
    return Trace(
        system=SYSTEM,
        mode=settings.running_scene_recap_mode,
        outcome=RunOutcome.INJECTED if placed else RunOutcome.NOTHING_INJECTED,
        turn=turn or Turn(len(done.chat.messages), 0, 0),
        entries=cast.entries,
        index_size=len(cast.entries),
        stages=tuple(stages),
        injections=placed,
        prompt=_prompt(done, settings, cast) if placed else (),
        limits=tuple(limits),
        ai_calls=tuple(calls),
        digests=digests or {},
        clock_ms=clock_ms,
        warnings=(done.storage.notice,) if done.storage.notice else (),
        facts={"recap": _facts(done, settings, context_size)},
        words=VOCABULARY,
    )


def _placed(done: Refresh, settings: RecapSettings, cast: Cast, counter: TokenCounter) -> tuple[Injection, ...]:
    current = done.storage.store.get()
    if current is None or not settings.enabled or not done.injection.value or done.place is RecapPlace.NONE:
        return ()
    number = cast.versions[current.number]
    return (
        Injection(
            entry=number,
            title=cast.entries[number].title,
            label="running recap",
            tokens=counter.count(done.injection.value),
            priority=100,
            position=_HOST_POSITION[done.place],
            depth=0 if done.place is RecapPlace.AFTER_HISTORY else done.injection.depth,
            role=done.injection.role or 0,
            tag=done.injection.key,
            content_hash=recap_hash(current.content),
        ),
    )


def _prompt(done: Refresh, settings: RecapSettings, cast: Cast) -> tuple[PromptBlock, ...]:
    """The injected text, with the parts of it that are the recap's own."""
    current = done.storage.store.get()
    if current is None:
        return ()
    number, text = cast.versions[current.number], done.injection.value
    template = settings.running_scene_recap_template
    pieces = template.split(MACRO) if template.strip() else ["", ""]
    parts: list[PromptPart] = []
    place = 0
    for piece in pieces[:-1]:
        start = place + len(piece)
        parts += [PromptPart(place, start), PromptPart(start, start + len(current.content), number)]
        place = start + len(current.content)
    parts.append(PromptPart(place, len(text)))
    depth = 0 if done.place is RecapPlace.AFTER_HISTORY else done.injection.depth
    return (
        PromptBlock(
            done.injection.key, _HOST_POSITION[done.place], depth, done.injection.role or 0, text,
            tuple(part for part in parts if part.end > part.start),
        ),
    )  # fmt: skip


def _facts(done: Refresh, settings: RecapSettings, context_size: int) -> Json:
    """What the views of recap memory show beside the stages (rules: recap-memory 24)."""
    found, told, store = done.inclusion, done.injection, done.storage
    facts: dict[str, Json] = {
        "auto_hide": {
            "scenes": done.hiding.scene_count,
            "visible_breaks": list(done.hiding.breaks),
            "visible_start": done.hiding.visible_start,
            "hide_ranges": [list(item) for item in done.hiding.hide],
            "unhide_ranges": [list(item) for item in done.hiding.unhide],
            "reverted_user_hides": list(done.shown_again),
        },
        "injection": {
            "key": told.key,
            "current_version": store.store.current,
            "position_code": told.position,
            "dialect": settings.position_dialect,
            "place": done.place.value,
            "depth": told.depth,
            "role": told.role,
            "scan": told.scan,
            "depth_has_effect": done.place is RecapPlace.IN_CHAT,
        },
        "storage": store.outcome.value,
    }
    if found is not None:
        facts["inclusion"] = {
            "context_size": context_size,
            "limit_setting": settings.message_recap_context_limit,
            "limit_type": settings.message_recap_context_type,
            "limit": found.limit,
            "closed_at": found.closed_at,
            "totals": {kind.value: sum(step.decision is kind for step in found.steps) for kind in WalkDecision},
            "steps": [[step.index, step.decision.value, step.before, step.after] for step in found.steps],
        }
    return facts
