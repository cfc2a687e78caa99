"""A refresh of recap memory as a trace, so that every view of traces can show it: who came in, who went on, and why.

Candidates are messages, then scenes, then versions of the running recap; messages and scenes leave again, since only
the running recap goes into the prompt. The trace is made from what the refresh decided and decides nothing itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final, NamedTuple

from msgspec import Struct

from lorestudio.domain.entry import EMPTY, Position, Role
from lorestudio.domain.javascript import Json, truthy
from lorestudio.domain.json_text import text_in
from lorestudio.domain.records import picked
from lorestudio.domain.texts import shorten
from lorestudio.settings.recap import RecapSettings
from lorestudio.systems.ledger import Ledger
from lorestudio.systems.recap import NAME
from lorestudio.systems.recap.message_recaps import Inclusion, WalkDecision, WalkStep
from lorestudio.systems.recap.records import get_memory, message_text
from lorestudio.systems.recap.refresh import MACRO, PLACE_WORDS, ROLE_NAMES, ReadChat, RecapPlace, Refresh
from lorestudio.systems.recap.running import Ownership, RunningRecaps, RunningVersion
from lorestudio.systems.recap.scenes.scenes import (
    Range,
    has_recap,
    name_of,
    recap_hash,
    recap_in_words,
    recap_of,
    scene_ranges,
    versions_of,
)
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
    Trace,
    Turn,
    Verdict,
)

SCENE_IDS: Final = 1_000_000
VERSION_IDS: Final = 2_000_000
"""Where the ids of scenes and versions begin, so that each keeps its own from turn to turn."""

_TITLE: Final = 48


class Telling(Struct, frozen=True, dict=True):
    """What the traces of a chat and of its beginnings say alike, each made once; `first` is the number of message 0."""

    read: ReadChat
    first: int = 0
    _sizes: dict[str, int] = {}
    _alike: dict[str, list[Verdict]] = {}
    _excluded: dict[tuple[int, str], Verdict] = {}
    _rows: dict[tuple[int, str], Json] = {}
    newest: dict[Hashable, Trace] = {}
    """The trace made last, by what else decided: another swipe of the reply gets the same."""

    @cached_property
    def messages(self) -> list[EntryRef]:
        """The messages as candidates."""
        found = []
        for index, message in enumerate(self.read.chat.messages):
            name, text = text_in(message.get("name")), message_text(message)
            title = f"#{index} {shorten(f'{name}: {text}' if name else text, _TITLE)}"
            memory = get_memory(message, show_prefill=self.read.around.settings.show_prefill)
            found.append(self._candidate(index, title, f"message {index}", memory))
        return found

    @cached_property
    def scenes(self) -> dict[int, EntryRef]:
        """The scenes as candidates, by their breaks."""
        found = {}
        for index, where in self.ranges.items():
            message = self.read.chat.messages[index]
            name, recap = name_of(message, where), recap_in_words(recap_of(message))
            found[index] = self._candidate(SCENE_IDS + index, name, f"scene {where[0]}-{where[1]}", recap)
        return found

    @cached_property
    def ranges(self) -> Mapping[int, Range]:
        """Where the scenes lie, by their breaks."""
        return scene_ranges(self.read.chat.breaks, self.read.chat.recaps)

    def version(self, one: RunningVersion) -> EntryRef:
        """A version of the running recap as a candidate."""
        number = one.number
        return self._candidate(
            VERSION_IDS + number, f"Running recap, version {number}", f"running recap {number}", one.content
        )

    def _candidate(self, number: int, title: str, filename: str, text: str) -> EntryRef:
        tokens = self._sizes.get(text)
        if tokens is None:
            tokens = self._sizes[text] = self.read.around.counter.count(text)
        return EntryRef(self.first + number, title, self.read.chat.id, filename, 100, tokens)

    @cached_property
    def in_chat(self) -> list[Verdict]:
        """That a message is in the chat."""
        return [
            Verdict(entry.id, Outcome.ADDED, "recap_in_chat", {"index": index})
            for index, entry in enumerate(self.messages)
        ]

    def of_all(self, outcome: Outcome, reason: str, details: Mapping[str, Json] = EMPTY) -> list[Verdict]:
        """The same of each message; a reason has the same `details` in all traces of the chat."""
        if reason not in self._alike:
            self._alike[reason] = [Verdict(entry.id, outcome, reason, details) for entry in self.messages]
        return self._alike[reason]

    def excluded(self, step: WalkStep) -> Verdict:
        """Why the message of a step takes no part."""
        key = step.index, step.exclusion.reason
        if key not in self._excluded:
            entry, (_, reason) = self.messages[step.index].id, key
            self._excluded[key] = Verdict(entry, Outcome.REMOVED, f"excluded_{reason}", step.exclusion.figures or EMPTY)
        return self._excluded[key]

    def row(self, step: WalkStep) -> Json:
        """A step that was not tried, among the facts."""
        key = step.index, step.decision
        if key not in self._rows:
            self._rows[key] = [step.index, step.decision.value, None, None]
        return self._rows[key]

    @cached_property
    def of_scenes(self) -> dict[int, Verdict]:
        """What the stage of the scenes says of each."""
        found = {}
        for index, (first, last) in self.ranges.items():
            entry, message = self.scenes[index].id, self.read.chat.messages[index]
            details: dict[str, Json] = {"first": first, "last": last, "versions": versions_of(message).words}
            bookmark = Verdict(entry, Outcome.REFUSED, "recap_bookmark", {"last": last})
            found[index] = Verdict(entry, Outcome.ADDED, "recap_scene", details) if has_recap(message) else bookmark
        return found


class Cast(Struct, frozen=True):
    """Who the candidates are: messages with their index as id, scenes by their breaks, versions by their numbers."""

    told: Telling
    messages: Sequence[EntryRef]
    scenes: Mapping[int, EntryRef]
    versions: Mapping[int, EntryRef]

    @classmethod
    def of(cls, done: Refresh, told: Telling) -> Cast:
        """All candidates of a refresh."""
        scenes = {index: told.scenes[index] for index in done.hiding.breaks}
        versions = {each.number: told.version(each) for each in done.storage.store.versions}
        return cls(told, told.messages[: done.length], scenes, versions)

    @property
    def entries(self) -> dict[int, EntryRef]:
        """All of them by their ids."""
        return {entry.id: entry for entry in (*self.messages, *self.scenes.values(), *self.versions.values())}


class _Step(NamedTuple):
    """What a record says of its stage."""

    name: str
    phase: Phase


def hiding_stage(done: Refresh, cast: Cast) -> StageRecord:
    """All messages come in; those that hiding by scenes hides or shows again are marked."""
    hiding, start = done.hiding, done.hiding.visible_start or 0
    hidden = cast.told.of_all(Outcome.ADDED, "recap_hidden", {"scenes": hiding.scene_count})
    told = [*hidden[:start], *cast.told.in_chat[start : done.length]]
    for index in done.shown_again:
        told[index] = Verdict(cast.messages[index].id, Outcome.ADDED, "recap_shown_again", EMPTY)
    ledger = Ledger(_Step("auto-hide", Phase.LOAD), ())
    ledger.repeat(*told)
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
    ledger.repeat(*[cast.told.excluded(step) for step in found.steps if step.decision is WalkDecision.EXCLUDED])
    passed = [cast.messages[step.index] for step in found.steps if step.decision is not WalkDecision.EXCLUDED]
    passed.reverse()
    excluded = ledger.close(passed)
    ledger = Ledger(walk, passed)
    ledger.repeat(*_walked(found, cast))
    details: dict[str, Json] = {"included": len(found.included), "total": found.tokens, "limit": found.limit}
    return excluded, ledger.close([cast.messages[index] for index in found.included], "recap_walk", details=details)


def _walked(found: Inclusion, cast: Cast) -> Iterator[Verdict]:
    """What the walk decided about each message that takes part, the newest first."""
    limit, messages = found.limit, cast.messages
    without_recap = cast.told.of_all(Outcome.REMOVED, "recap_no_memory")
    stopper: dict[str, Json] = {"stopped_by": "" if found.closed_at is None else messages[found.closed_at].title}
    for step in found.steps:
        decision, index, after = step.decision, step.index, step.after or 0
        if decision is WalkDecision.INCLUDED:
            details: dict[str, Json] = {"tokens": after - (step.before or 0), "total": after, "limit": limit}
            yield Verdict(messages[index].id, Outcome.KEPT, "recap_included", details)
        elif decision is WalkDecision.AFTER_LIMIT:
            yield Verdict(messages[index].id, Outcome.REMOVED, "recap_after_limit", stopper)
        elif decision is WalkDecision.NO_MEMORY:
            yield without_recap[index]
        elif decision is WalkDecision.OVER_LIMIT:
            details = {"total": after, "limit": limit, "over": after - (limit or 0)}
            yield Verdict(messages[index].id, Outcome.REMOVED, "recap_over_limit", details)


def scenes_stage(done: Refresh, cast: Cast) -> StageRecord:
    """Messages leave, since their recaps are for reading; scenes with a recap come in."""
    found, told = done.inclusion, cast.told
    entered = range(done.length) if found is None else found.included
    ledger = Ledger(_Step("scene recaps", Phase.SELECT), [cast.messages[index] for index in entered])
    for_reading = told.of_all(Outcome.REMOVED, "recap_flag_only")
    ledger.repeat(*[for_reading[index] for index in entered], *[told.of_scenes[index] for index in cast.scenes])
    return ledger.close(_with_recaps(done, cast).values())


def _with_recaps(done: Refresh, cast: Cast) -> dict[int, EntryRef]:
    """The scenes that have a recap, by their breaks."""
    known = frozenset(done.read.chat.recaps)
    return {index: entry for index, entry in cast.scenes.items() if index in known}


def running_stage(done: Refresh, cast: Cast) -> StageRecord:
    """Scenes leave into the running recap; its current version comes in."""
    store = done.storage.store
    current = store.get()
    entered = _with_recaps(done, cast)
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
        return "recap_adopted", {"owner": text_in(done.read.chat.metadata.get("main_chat")) or "another chat"}
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
    *,
    context_size: int = 0,
    turn: Turn | None = None,
    calls: Sequence[AiCall] = (),
    told: Telling | None = None,
) -> Trace:
    """The trace of one refresh. `turn` is the reply that the prompt is for, the next one where it is None.

    `told` is what other traces of the chat say as well. Where that numbers from elsewhere than 0, so does the trace.
    What was not recorded has but the stages of what goes in.
    """
    cast, settings = Cast.of(done, told or Telling(done.read)), done.read.around.settings
    entries, (injections, prompt) = cast.entries, _placed(done, settings, cast)
    limits = [Limit("context", sum(item.tokens for item in injections), context_size or None, "tokens")]
    if done.inclusion is not None:
        limits.append(Limit("message recaps", done.inclusion.tokens, done.inclusion.limit, "tokens"))
    for_reading: tuple[StageRecord, ...] = ()
    if done.recorded:
        for_reading = hiding_stage(done, cast), *messages_stages(done, cast), scenes_stage(done, cast)
    return Trace(
        system=NAME,
        mode=settings.running_scene_recap_mode,
        outcome=RunOutcome.INJECTED if injections else RunOutcome.NOTHING_INJECTED,
        turn=turn or Turn(done.length, 0, 0),
        entries=entries,
        index_size=len(entries),
        stages=(*for_reading, running_stage(done, cast), injecting_stage(done, settings, cast)),
        injections=injections,
        prompt=prompt,
        limits=tuple(limits),
        ai_calls=tuple(calls),
        warnings=(done.storage.notice,) if done.storage.notice else (),
        facts={"recap": _facts(done, cast.told, context_size)} if done.recorded else {},
        others=cast.told.first > 0,
        words=VOCABULARY,
    )


def _placed(
    done: Refresh, settings: RecapSettings, cast: Cast
) -> tuple[tuple[Injection, ...], tuple[PromptBlock, ...]]:
    """What goes in, with the parts of its text that are the recap's own; nothing where nothing does."""
    current, told = done.storage.store.get(), done.injection
    if current is None or not settings.enabled or not told.value or done.place is RecapPlace.NONE:
        return (), ()
    entry, position, role = cast.versions[current.number], HOST_POSITION[done.place], told.role or 0
    shown = next((place for place in range(done.length - 1, -1, -1) if not done.hides(place)), None)
    answered = shown is not None and truthy(done.read.chat.messages[shown].get("is_user"))  # (rules: recap-memory 16.4)
    depth = int(answered) if done.place is RecapPlace.AFTER_HISTORY else told.depth
    tokens = done.read.around.counter.count(told.value)
    injection = Injection(
        entry.id, entry.title, "running recap", tokens, 100, position, depth, role, told.key,
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


def _facts(done: Refresh, told: Telling, context_size: int) -> Json:
    """What the views of recap memory show beside the stages (rules: recap-memory 24)."""
    found, given, store, settings = done.inclusion, done.injection, done.storage, done.read.around.settings
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
            "key": given.key,
            "current_version": store.store.current,
            "position_code": given.position,
            "dialect": settings.position_dialect,
            "place": done.place.value,
            **picked(given, "depth", "role", "scan"),
            "depth_has_effect": done.place is RecapPlace.IN_CHAT,
        },
        "storage": store.outcome.value,
    }
    if found is not None:
        totals, words = Counter([step.decision for step in found.steps]), {kind: kind.value for kind in WalkDecision}
        facts["inclusion"] = {
            "context_size": context_size,
            "limit_setting": settings.message_recap_context_limit,
            "limit_type": settings.message_recap_context_type,
            **picked(found, "limit", "closed_at"),
            "totals": {kind.value: totals[kind] for kind in WalkDecision},
            "steps": [
                told.row(step) if step.before is None else [step.index, words[step.decision], step.before, step.after]
                for step in found.steps
            ],
        }
    return facts
