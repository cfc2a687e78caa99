"""A refresh of recap memory as a trace, so that every view of traces can show it: who came in, who went on, and why.

Candidates are messages, then scenes, then versions of the running recap; messages and scenes leave again, since only
the running recap goes into the prompt. The trace is made from what the refresh decided and decides nothing itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from msgspec import Struct

from lorestudio.domain.entry import EMPTY, Position, Role
from lorestudio.domain.javascript import Json, truthy
from lorestudio.domain.json_text import text_in
from lorestudio.domain.texts import shorten
from lorestudio.domain.tokens import TokenCounter
from lorestudio.settings.recap import RecapSettings
from lorestudio.systems.ledger import Ledger
from lorestudio.systems.recap import NAME
from lorestudio.systems.recap.message_recaps import Inclusion, WalkDecision, WalkStep
from lorestudio.systems.recap.records import get_memory, message_text
from lorestudio.systems.recap.refresh import MACRO, PLACE_WORDS, ROLE_NAMES, RecapPlace, Refresh
from lorestudio.systems.recap.running import Ownership, RunningRecaps
from lorestudio.systems.recap.scenes.scenes import (
    display_range,
    has_recap,
    name_of,
    recap_hash,
    recap_in_words,
    recap_of,
    versions_of,
)
from lorestudio.systems.recap.words import VOCABULARY
from lorestudio.trace.model import (
    AiCall,
    EntryRef,
    Injection,
    Limit,
    Phase,
    PromptBlock,
    PromptPart,
    RunOutcome,
    StageRecord,
    Trace,
    Turn,
)

SCENE_IDS: Final = 1_000_000
VERSION_IDS: Final = 2_000_000
"""Where the ids of scenes and versions begin, so that each keeps its own from turn to turn."""

_TITLE: Final = 48


class Cast(Struct, frozen=True):
    """Who the candidates are: messages with their index as id, scenes by their breaks, versions by their numbers."""

    messages: Sequence[EntryRef]
    scenes: Mapping[int, EntryRef]
    versions: Mapping[int, EntryRef]

    @property
    def entries(self) -> dict[int, EntryRef]:
        """All of them by their ids."""
        return {entry.id: entry for entry in (*self.messages, *self.scenes.values(), *self.versions.values())}


def cast_of(done: Refresh, counter: TokenCounter, *, show_prefill: bool) -> Cast:
    """All candidates of a refresh."""
    chat = done.chat

    def candidate(number: int, title: str, filename: str, text: str) -> EntryRef:
        return EntryRef(number, title, chat.id, filename, 100, counter.count(text))

    messages, scenes = [], {}
    for index, message in enumerate(chat.messages):
        name, text = text_in(message.get("name")), message_text(message)
        spoken = f"{name}: {text}" if name else text
        memory = get_memory(message, show_prefill=show_prefill)
        messages.append(candidate(index, f"#{index} {shorten(spoken, _TITLE)}", f"message {index}", memory))
    for index in chat.breaks:
        where, message = display_range(chat.breaks, chat.recaps, index), chat.messages[index]
        recap = recap_in_words(recap_of(message))
        scenes[index] = candidate(SCENE_IDS + index, name_of(message, where), f"scene {where[0]}-{where[1]}", recap)
    versions = {
        each.number: candidate(
            VERSION_IDS + each.number,
            f"Running recap, version {each.number}",
            f"running recap {each.number}",
            each.content,
        )
        for each in done.storage.store.versions
    }
    return Cast(messages, scenes, versions)


class _Step(NamedTuple):
    """What a record says of its stage."""

    name: str
    phase: Phase


def hiding_stage(done: Refresh, cast: Cast) -> StageRecord:
    """All messages come in; those that hiding by scenes hides or shows again are marked."""
    hiding, again = done.hiding, frozenset(done.shown_again)
    ledger = Ledger(_Step("auto-hide", Phase.LOAD), ())
    for entry in cast.messages:
        if hiding.hides(entry.id):
            ledger.add(entry, "recap_hidden", scenes=hiding.scene_count)
        elif entry.id in again:
            ledger.add(entry, "recap_shown_again")
        else:
            ledger.add(entry, "recap_in_chat", index=entry.id)
    if hiding.visible_start is not None:
        return ledger.close(cast.messages)
    idle: dict[str, Json] = {"breaks": len(hiding.breaks), "scenes": max(hiding.scene_count, 0)}
    return ledger.close(cast.messages, "recap_nothing_hidden", details=idle)


def messages_stages(done: Refresh, cast: Cast) -> tuple[StageRecord, StageRecord]:
    """The exclusion tree and the walk."""
    tree, walk = _Step("exclusion tree", Phase.GATE), _Step("inclusion walk", Phase.BUDGET)
    found = done.inclusion
    if found is None:
        return Ledger(tree, cast.messages).skipped("recap_off"), Ledger(walk, cast.messages).skipped("recap_off")
    ledger = Ledger(tree, cast.messages)
    for step in found.steps:
        if not step.exclusion.included:
            reason = f"excluded_{step.exclusion.reason}"
            ledger.remove(cast.messages[step.index], reason, **step.exclusion.figures)
    tried = [step for step in reversed(found.steps) if step.exclusion.included]
    passed = [cast.messages[step.index] for step in tried]
    excluded = ledger.close(passed)
    ledger = Ledger(walk, passed)
    for step in reversed(tried):
        _walked(ledger, step, found, cast)
    details: dict[str, Json] = {"included": len(found.included), "total": found.tokens, "limit": found.limit}
    return excluded, ledger.close((cast.messages[index] for index in found.included), "recap_walk", details=details)


def _walked(ledger: Ledger, step: WalkStep, found: Inclusion, cast: Cast) -> None:
    entry, limit, before, after = cast.messages[step.index], found.limit, step.before or 0, step.after or 0
    match step.decision:
        case WalkDecision.INCLUDED:
            ledger.keep(entry, "recap_included", tokens=after - before, total=after, limit=limit)
        case WalkDecision.OVER_LIMIT:
            ledger.remove(entry, "recap_over_limit", total=after, limit=limit, over=after - (limit or 0))
        case WalkDecision.AFTER_LIMIT:
            stopper = "" if found.closed_at is None else cast.messages[found.closed_at].title
            ledger.remove(entry, "recap_after_limit", stopped_by=stopper)
        case _:
            ledger.remove(entry, "recap_no_memory")


def scenes_stage(done: Refresh, cast: Cast) -> StageRecord:
    """Messages leave, since their recaps are for reading; scenes with a recap come in."""
    chat, found = done.chat, done.inclusion
    entered = cast.messages if found is None else [cast.messages[index] for index in found.included]
    ledger, left = Ledger(_Step("scene recaps", Phase.SELECT), entered), []
    for entry in entered:
        ledger.remove(entry, "recap_flag_only")
    for index, entry in cast.scenes.items():
        first, last = display_range(chat.breaks, chat.recaps, index)
        if has_recap(chat.messages[index]):
            left.append(entry)
            ledger.add(entry, "recap_scene", first=first, last=last, versions=versions_of(chat.messages[index]).words)
        else:
            ledger.refuse(entry, "recap_bookmark", last=last)
    return ledger.close(left)


def running_stage(done: Refresh, cast: Cast) -> StageRecord:
    """Scenes leave into the running recap; its current version comes in."""
    store = done.storage.store
    current = store.get()
    entered = {index: entry for index, entry in cast.scenes.items() if has_recap(done.chat.messages[index])}
    ledger = Ledger(_Step("running recap", Phase.SELECT), tuple(entered.values()))
    for index, entry in entered.items():
        if current is None:
            ledger.remove(entry, "recap_scene_alone")
        elif index <= current.reaches:
            ledger.remove(entry, "recap_scene_covered", version=current.number)
        else:
            ledger.remove(entry, "recap_scene_behind", version=current.number, reaches=current.reaches)
    for version in store.versions:
        entry = cast.versions[version.number]
        if version is current:
            ledger.add(entry, "recap_current", version=version.number, scenes=version.scene_count)
        else:
            ledger.refuse(entry, "recap_other_version", version=version.number, current=store.current)
    note, details = _ownership(done, store)
    return ledger.close(_current(done, cast), note, details=details)


def _current(done: Refresh, cast: Cast) -> tuple[EntryRef, ...]:
    """The current version of the running recap, where there is one."""
    current = done.storage.store.get()
    return () if current is None else (cast.versions[current.number],)


def _ownership(done: Refresh, store: RunningRecaps) -> tuple[str, Mapping[str, Json]]:
    """What there is to say about where the running recap comes from."""
    outcome = done.storage.outcome
    if outcome is Ownership.RESET:
        return "recap_foreign", EMPTY
    if store.get() is None:
        return "recap_no_running", EMPTY
    if outcome in (Ownership.ADOPTED_BRANCH, Ownership.ADOPTED_IMPORT):
        return "recap_adopted", {"owner": text_in(done.chat.metadata.get("main_chat")) or "another chat"}
    return "", EMPTY


def injecting_stage(done: Refresh, settings: RecapSettings, cast: Cast) -> StageRecord:
    """The current version of the running recap is placed, or is not."""
    step, entered = _Step("recap injection", Phase.INJECT), _current(done, cast)
    told, role = done.injection, done.injection.role
    ledger = Ledger(step, entered)
    if not settings.enabled:
        return ledger.skipped("recap_off")
    if not entered or not told.value:
        return ledger.skipped("no_prompt")
    if done.place is RecapPlace.NONE:
        ledger.remove(entered[0], "recap_nowhere", position=told.position)
        return ledger.close(())
    speaker = ROLE_NAMES[Role(role)] if role in tuple(Role) else "system"
    depth: dict[str, Json] = {"depth": told.depth} if done.place is RecapPlace.IN_CHAT else {}
    ledger.keep(entered[0], "recap_placed", where=PLACE_WORDS[done.place], tag=told.key, speaker=speaker, **depth)
    return ledger.close(entered)


HOST_POSITION: Final = {
    RecapPlace.BEFORE_MAIN: Position.BEFORE,
    RecapPlace.AFTER_MAIN: Position.AFTER,
    RecapPlace.IN_CHAT: Position.IN_CHAT,
    RecapPlace.AFTER_HISTORY: Position.IN_CHAT,
}
"""Places as the host's positions; behind the history is in the chat, before the message that is answered."""


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
    injections, prompt = _placed(done, settings, cast, counter)
    limits = [Limit("context", sum(item.tokens for item in injections), context_size or None, "tokens")]
    if done.inclusion is not None:
        limits.append(Limit("message recaps", done.inclusion.tokens, done.inclusion.limit, "tokens"))
    return Trace(
        system=NAME,
        mode=settings.running_scene_recap_mode,
        outcome=RunOutcome.INJECTED if injections else RunOutcome.NOTHING_INJECTED,
        turn=turn or Turn(len(done.chat.messages), 0, 0),
        entries=cast.entries,
        index_size=len(cast.entries),
        stages=(
            hiding_stage(done, cast),
            *messages_stages(done, cast),
            scenes_stage(done, cast),
            running_stage(done, cast),
            injecting_stage(done, settings, cast),
        ),
        injections=injections,
        prompt=prompt,
        limits=tuple(limits),
        ai_calls=tuple(calls),
        digests=digests or {},
        clock_ms=clock_ms,
        warnings=(done.storage.notice,) if done.storage.notice else (),
        facts={"recap": _facts(done, settings, context_size)},
        words=VOCABULARY,
    )


def _placed(
    done: Refresh, settings: RecapSettings, cast: Cast, counter: TokenCounter
) -> tuple[tuple[Injection, ...], tuple[PromptBlock, ...]]:
    """What goes in, with the parts of its text that are the recap's own; nothing where nothing does."""
    current, told = done.storage.store.get(), done.injection
    if current is None or not settings.enabled or not told.value or done.place is RecapPlace.NONE:
        return (), ()
    entry, position, role = cast.versions[current.number], HOST_POSITION[done.place], told.role or 0
    shown = (message for message in reversed(done.chat.messages) if not truthy(message.get("is_system")))
    answered = int(truthy(next(shown, {}).get("is_user")))  # (rules: recap-memory 16.4)
    depth = answered if done.place is RecapPlace.AFTER_HISTORY else told.depth
    injection = Injection(
        entry.id, entry.title, "running recap", counter.count(told.value), 100, position, depth, role, told.key,
        recap_hash(current.content),
    )  # fmt: skip
    template = settings.running_scene_recap_template
    parts: list[PromptPart] = []
    place = 0
    for piece in template.split(MACRO)[:-1] if template.strip() else [""]:
        start = place + len(piece)
        place = start + len(current.content)
        parts += [PromptPart(start - len(piece), start), PromptPart(start, place, entry.id)]
    parts.append(PromptPart(place, len(told.value)))
    kept = tuple(part for part in parts if part.end > part.start)
    return (injection,), (PromptBlock(told.key, position, depth, role, told.value, kept),)


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
