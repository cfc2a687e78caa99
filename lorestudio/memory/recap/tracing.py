"""A refresh of recap memory as a trace, so that every view of traces can show it.

Candidates are messages, then scenes, then versions of the running recap; messages and scenes leave again, since only
the running recap goes into the prompt. The trace is made from what the refresh decided and decides nothing itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from lorestudio.domain.entry import Position
from lorestudio.domain.javascript import Json
from lorestudio.domain.tokens import TokenCounter
from lorestudio.memory.recap.inclusion import Decision
from lorestudio.memory.recap.injection import MACRO, Place
from lorestudio.memory.recap.refresh import Refresh
from lorestudio.memory.recap.scene_recaps import recap_hash
from lorestudio.memory.recap.trace_stages import (
    Cast,
    cast_of,
    hiding_stage,
    injecting_stage,
    messages_stage,
    running_stage,
    scenes_stage,
)
from lorestudio.settings.recap import RecapSettings
from lorestudio.trace.model import (
    AiCall,
    Injection,
    Limit,
    PromptBlock,
    PromptPart,
    RunOutcome,
    Trace,
    Turn,
)

SYSTEM: Final = "recap"
_HOST_POSITION: Final = {
    Place.BEFORE_MAIN: Position.BEFORE,
    Place.AFTER_MAIN: Position.AFTER,
    Place.IN_CHAT: Position.IN_CHAT,
    Place.AFTER_HISTORY: Position.IN_CHAT,
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
    )


def _placed(done: Refresh, settings: RecapSettings, cast: Cast, counter: TokenCounter) -> tuple[Injection, ...]:
    current = done.storage.store.get()
    if current is None or not settings.enabled or not done.injection.value or done.place is Place.NONE:
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
            depth=0 if done.place is Place.AFTER_HISTORY else done.injection.depth,
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
    depth = 0 if done.place is Place.AFTER_HISTORY else done.injection.depth
    return (
        PromptBlock(
            done.injection.key, _HOST_POSITION[done.place], depth, done.injection.role or 0, text,
            tuple(part for part in parts if part.end > part.start),
        ),
    )  # fmt: skip


def _facts(done: Refresh, settings: RecapSettings, context_size: int) -> Json:
    """What the views of recap memory show beside the stages (spec: recap-memory 24)."""
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
            "depth_has_effect": done.place is Place.IN_CHAT,
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
            "totals": {kind.value: sum(step.decision is kind for step in found.steps) for kind in Decision},
            "steps": [[step.index, step.decision.value, step.before, step.after] for step in found.steps],
        }
    return facts
