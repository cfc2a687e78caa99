"""DeepLore as a retrieval system, and what differs between two runs of it besides settings, notes, choices, chat."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Final, Self

from lorestudio.domain.chat import Chat, Message
from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.domain.javascript import trim
from lorestudio.domain.records import replace
from lorestudio.domain.state import AiState, ChatControls, EngineState, Tally
from lorestudio.exchange.chats.notepad import notes_of, withdrawn
from lorestudio.exchange.chats.recorded import SOURCES, RecordedEntry
from lorestudio.exchange.settings_files import DeepLoreCarrier
from lorestudio.llm.messages import AnswerSource
from lorestudio.llm.stand_in import StandInAnswers
from lorestudio.settings.behaviour import FIXED, Behaviour, switches
from lorestudio.settings.declaration import Section
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.settings.rules import NEW, OLD, changed_rules, with_rule
from lorestudio.systems import ideas
from lorestudio.systems.base import (
    NOTHING_GIVEN,
    Carried,
    Counting,
    Decided,
    Generated,
    Given,
    LastNote,
    Moment,
    NotedReply,
    Offline,
    Reuse,
    RunInputs,
    Scene,
    State,
    System,
    SystemKind,
    WrittenNote,
    inputs_digest,
)
from lorestudio.systems.deeplore import NAME, SUMMARY, TITLE
from lorestudio.systems.deeplore.ai.prompts import asked_about
from lorestudio.systems.deeplore.counts import COUNTS
from lorestudio.systems.deeplore.ideas import DeepLoreSituation, options
from lorestudio.systems.deeplore.inputs import Inputs, RandomSource
from lorestudio.systems.deeplore.matching.index import DeepLoreIndex
from lorestudio.systems.deeplore.matching.key_search import DeepLoreKeySearch, DeepLoreWakes, key_places, would_match
from lorestudio.systems.deeplore.reads import Reads, Unaffected, reads_all_entries
from lorestudio.systems.deeplore.run import (
    Lots,
    RecordedChoice,
    as_recorded,
    digests,
    recalled,
    run,
    unrecorded,
    without_choices,
)
from lorestudio.systems.deeplore.scribe import is_due, last_length, take_notes, write_note
from lorestudio.systems.deeplore.stages.bm25 import figures
from lorestudio.systems.deeplore.stages.placement import entry_text
from lorestudio.systems.deeplore.words import VOCABULARY
from lorestudio.systems.differences import DifferenceKind, InputDifference
from lorestudio.systems.ideas import Option
from lorestudio.systems.offline import OfflineAnswers, Unanswered
from lorestudio.trace.found_keys import FoundKey, WouldMatch
from lorestudio.trace.model import Trace
from lorestudio.trace.scores import Bm25Figures
from lorestudio.trace.storage.serialize import Gist


def _switches(before: RunInputs, after: RunInputs) -> Iterator[InputDifference]:
    for switch in switches():
        old, new = (getattr(each.system.behaviour, switch.name) for each in (before, after))
        if old != new:
            carry = partial(_carry_switch, switch.name)
            yield InputDifference(DifferenceKind.SWITCH, switch.title, str(old), str(new), carry, switch.affects)


def _carry_switch(name: str, target: RunInputs, source: RunInputs) -> RunInputs:
    behaviour = target.system.behaviour.model_copy(update={name: getattr(source.system.behaviour, name)})
    return target.decided_by(behaviour=behaviour)


def _rules(before: RunInputs, after: RunInputs) -> Iterator[InputDifference]:
    """Each rule by itself; of those about reading notes, what they made of the notes is told as differing notes."""
    old, new = (each.system.settings.rule_set for each in (before, after))
    for rule in changed_rules():
        if rule.affects and getattr(old, rule.name) != getattr(new, rule.name):
            one, other = (NEW if getattr(each, rule.name) else OLD for each in (old, new))
            carry = partial(_carry_rule, rule.name)
            yield InputDifference(DifferenceKind.RULE, rule.title, one, other, carry, rule.affects, setting="rules")


def _carry_rule(name: str, target: RunInputs, source: RunInputs) -> RunInputs:
    holds = getattr(source.system.settings.rule_set, name)
    settings = target.system.settings
    changed = settings.model_copy(update={"rules": with_rule(settings.rules, name, holds=holds)})
    return target.decided_by(settings=changed)


def _trackers(before: RunInputs, after: RunInputs) -> Iterator[InputDifference]:
    old, new = before.state, after.state
    if replace(old, random_state=0, ai=AiState()) != replace(new, random_state=0, ai=AiState()):
        yield InputDifference(
            DifferenceKind.TRACKERS, "Trackers", "", "cooldowns, warmups and logs as earlier turns left them",
            lambda target, source: target.begun_from(
                replace(source.state, random_state=target.state.random_state, ai=target.state.ai)
            ),
        )  # fmt: skip
    if old.ai != new.ai:
        yield InputDifference(
            DifferenceKind.TRACKERS, "AI cache and circuit breaker", "", "as earlier turns left them",
            lambda target, source: replace(
                target.begun_from(replace(target.state, ai=source.state.ai)),
                moment=replace(target.moment, clock_ms=source.moment.clock_ms),
            ),
        )  # fmt: skip
    if old.random_state != new.random_state:
        yield InputDifference(
            DifferenceKind.ROLLS, "Probability rolls", "", "other random numbers are next",
            lambda target, source: replace(
                target.begun_from(replace(target.state, random_state=source.state.random_state)),
                moment=replace(target.moment, seed=source.moment.seed),
            ),
        )  # fmt: skip


class Indexes:
    """The prepared indexes of vaults: the latest is kept, and the one that it was derived from. For any thread."""

    def __init__(self) -> None:
        self._latest: DeepLoreIndex | None = None
        self._lock = threading.Lock()

    def of(self, vault: VaultIndex) -> DeepLoreIndex:
        """The vault prepared; what it has in common with the one before is not prepared again."""
        with self._lock:
            known = self._latest
            for index in (known, known.origin if known is not None else None):
                if index is not None and index.vault is vault:
                    return index
            self._latest = DeepLoreIndex(vault, known)
            return self._latest


@dataclass(frozen=True, slots=True)
class DeepLoreSystem(System):
    """DeepLore with its settings (whose rules hold is one), its behaviour switches and whoever answers for the model.

    `random` makes the stream of random numbers from the state it stood at; `lots` says how lots of entries fell where
    that is known.
    """

    swipes_go_on: ClassVar[bool] = True
    counting: ClassVar[Counting | None] = COUNTS
    kind: ClassVar[SystemKind]

    settings: DeepLoreSettings
    behaviour: Behaviour = field(default_factory=Behaviour)
    answers: AnswerSource = field(default_factory=StandInAnswers)
    model: str = ""
    random: Callable[[int], RandomSource] | None = None
    lots: Callable[[Entry], float] | None = None
    indexes: Indexes = field(default_factory=Indexes, repr=False, compare=False)

    @property
    def inputs(self) -> str:
        """The digest of the settings, the behaviour switches and whoever answers."""
        return inputs_digest(self.settings, self.behaviour.model_dump_json(), f"{self.answers.name}:{self.model}")

    @property
    def asks_model(self) -> bool:
        """Whether the mode has a model choose."""
        return self.settings.uses_ai

    async def decide(self, moment: Moment, state: State = None) -> Decided:
        """Run one generation from the trackers that the one before left."""
        decided = await run(self.inputs_of(moment, state))
        if (
            moment.seen.followed
            and not isinstance(self.answers, RecordedChoice)
            and isinstance(decided.state, EngineState)
        ):
            return replace(decided, state=without_choices(decided.state))
        return decided

    def inputs_of(self, moment: Moment, state: State = None) -> Inputs:
        """The inputs of a generation with the vault prepared."""
        before = state if isinstance(state, EngineState) else self.first_state(moment.seed)
        if isinstance(self.answers, RecordedChoice) and self.answers.names_any:
            before = without_choices(before)
        index = self.indexes.of(moment.index)
        return Inputs(
            moment, index, self.settings, before, self.answers, self.model, self.behaviour, self.random, self.lots
        )

    def first_state(self, seed: int) -> EngineState:
        """The trackers stored with a chat are those of its end; a replay begins before all of them."""
        return EngineState(random_state=seed)

    def controls_at(self, controls: ChatControls, chat: Chat, message: int) -> ChatControls:
        """The chat's choices as they stood then: later replies have not added to the notepad yet."""
        notepad = controls.notepad
        if not notepad:
            return controls
        for later in reversed(chat.messages[message:]):
            notepad = withdrawn(notepad, notes_of(later))
        return replace(controls, notepad=notepad)

    def searched(self, moment: Moment) -> int:
        """The deepest window of all; for a model one more, as the reply that ends the chat is hidden from it."""
        depths = (self.settings.scan_depth, *self.indexes.of(moment.index).scan_depths, 0)
        if any(0 < depth < 1 for depth in depths):
            return len(moment.chat)
        asked = self.settings.ai_search_scan_depth + 1 if self.asks_model else 0
        return int(min(max(*depths, asked), len(moment.chat)))

    def reads_of(self, message: Message) -> str:
        """What a run reads of a message; at the end of the chat its tools decide whether a generation runs."""
        tools = message.extra.get("tool_invocations")
        flags = (message.is_user, message.is_system, message.scannable, isinstance(tools, list | dict) or bool(tools))
        return repr((message.name, message.text, flags, message.swipe))

    def reads_of_chat(self, chat: Chat, controls: ChatControls) -> str:
        """Every generation begins with the notepad without the notes of later replies."""
        return repr([notes_of(message) for message in chat.messages]) if controls.notepad else ""

    def knowing(self, other: System) -> Self:
        """The same with the other's prepared index."""
        return replace(self, indexes=other.indexes) if isinstance(other, DeepLoreSystem) else self

    def differences(self, before: RunInputs, after: RunInputs) -> Iterator[InputDifference]:
        """Behaviour switches and rules, then what follows from earlier turns, then who answers."""
        yield from _switches(before, after)
        yield from _rules(before, after)
        yield from _trackers(before, after)
        one, other = before.system, after.system
        if (one.answers.name, one.model) != (other.answers.name, other.model):
            yield InputDifference(
                DifferenceKind.OTHER,
                "Who answers",
                f"{one.answers.name} {one.model}".strip(),
                f"{other.answers.name} {other.model}".strip(),
                lambda target, source: replace(
                    target, system=replace(target.system, answers=source.system.answers, model=source.system.model)
                ),
            )

    def reuse(self) -> Reuse:
        """By what a generation reads (`systems.deeplore.reads`)."""
        return ReadsReuse(self)

    def with_settings(self, settings: Section, scene: Scene) -> DeepLoreSystem:
        """The same with other settings. Raises TypeError for those of another system."""
        if not isinstance(settings, DeepLoreSettings):
            raise TypeError(f"{type(settings).__name__} are no settings of {self.title}")
        return replace(self, settings=settings)

    def offline(self, given: Given = NOTHING_GIVEN, known: System | None = None) -> Offline:
        """Answers given before; no provider and no person is asked."""
        if isinstance(self.answers, RecordedChoice):
            return Offline(self)
        unanswered = given.unanswered
        if unanswered is None:
            unanswered = Unanswered.STAND_IN if self.answers.name == Unanswered.STAND_IN else Unanswered.FAIL
        answers = OfflineAnswers(lambda: given.before, given.recorded, unanswered)

        def turn_to(trace: Callable[[], Trace]) -> None:
            answers.earlier = trace

        return Offline(replace(self, answers=answers), answers.lacks, lambda: answers.sentences, turn_to)

    def following(self, recorded: Sequence[RecordedEntry], went_in: Sequence[Entry]) -> DeepLoreSystem:
        """With what was recorded in place of a model's choice and of lots."""
        lots = Lots(frozenset(each.note_key for each in went_in))
        return replace(self, answers=RecordedChoice(tuple(recorded)), lots=lots)

    def recalled(
        self, moment: Moment, before: State, went_in: Sequence[Entry], decided: Decided | None = None
    ) -> EngineState:
        """The trackers as these entries leave them."""
        return recalled(self.inputs_of(moment, before), went_in, decided)

    def as_recorded(self, entry: Entry, recorded: RecordedEntry) -> Entry:
        """Also with the key that it had, or what it was."""
        return as_recorded(System.as_recorded(self, entry, recorded), recorded.reason)

    def unrecorded(self, run: RunInputs) -> Iterator[tuple[str, Any]]:
        """A model that failed or chose nothing, other lots."""
        return unrecorded(run)

    async def write_note(
        self, chat: Chat, controls: ChatControls, focus: str = "", vault: Path | None = None
    ) -> WrittenNote:
        """A session note, due or not, the scribe switched on or not."""
        return await write_note(chat, controls, focus, self.answers, self.settings, vault)

    def last_note(self, chat: Chat, controls: ChatControls) -> LastNote:
        """The session scribe's (rules: deeplore-tools 2.2)."""
        written, now = last_length(chat.metadata), len(chat.messages)
        due = is_due(self.settings, now, written)
        return LastNote(controls.scribe_summary, max(0, now - written), due, self.settings.scribe_folder)

    async def take_notes(self, chat: Chat, controls: ChatControls, place: int) -> NotedReply | None:
        """In the AI notepad's extract mode, what a second request finds in the reply (rules: deeplore-tools 2.3)."""
        if not self.settings.asks_for_notes or not trim(chat.messages[place].text):
            return None
        return await take_notes(chat, controls, place, self.answers, self.settings)

    def options(self, situation: ideas.Situation, moment: Moment, state: State) -> tuple[Option, ...]:
        """What can concern the stage that stopped the entry, or what brought it in."""
        stands_in = self.answers.name == Unanswered.STAND_IN
        return options(DeepLoreSituation.of(situation, self.inputs_of(moment, state), stand_in=stands_in))

    def key_places(self, moment: Moment, state: State, trace: Trace) -> tuple[FoundKey, ...]:
        """Every occurrence of a key in the text that the run searched."""
        return key_places(self.inputs_of(moment, state))

    def would_match(self, moment: Moment, state: State, entry: Entry) -> WouldMatch:
        """Key by key, what an entry's keys find in its window."""
        return would_match(self.inputs_of(moment, state), entry)

    def entry_text(self, moment: Moment, entry: Entry) -> str:
        """The entry in its template."""
        return entry_text(entry, self.settings, literal=self.behaviour.template_patterns == FIXED)

    def explain_score(self, moment: Moment, state: State, trace: Trace, entry: int) -> Bm25Figures | None:
        """The numbers of the run's own index; it is built on first use, which takes a moment on a large vault."""
        return figures(self.inputs_of(moment, state), trace, entry)


class ReadsReuse(Reuse):
    """Compares generation by generation what a run reads, which is proved to be enough in `systems.deeplore.reads`.

    Since the state before a generation is part of that, nothing has to be known of how the two replays came there: they
    may have parted at an edit and met again, when its effect on the trackers had died out. What is taken over is what a
    run would have made: the same trace but for the times, with the names of the inputs as they are now, and the same
    state, its counts counted anew from those before.

    Not taken over is a generation whose question to a model failed: asked again it may be answered. One that was
    answered keeps its answer, and says who gave it, as if it had been recorded.
    """

    def __init__(self, system: DeepLoreSystem) -> None:
        self._system = system
        self._reads: Reads | None = None
        self._digests: tuple[dict[int, str], dict[int, str]] = ({}, {})
        self._entries: tuple[tuple[Sequence[Entry], Sequence[Entry]], Unaffected] | None = None

    def digest(self, generated: Generated, *, of_state: bool) -> str:
        """What the generation reads of the state before it, or of all else; one replay has one index and settings."""
        known, place = self._digests[of_state], generated.place
        if place not in known:
            ctx = self._system.inputs_of(generated.moment, generated.read_state() if of_state else None)
            if self._reads is None:
                self._reads = Reads(ctx)
            known[place] = self._reads.state(ctx) if of_state else self._reads.around(ctx)
        return known[place]

    def cut(self, length: int) -> None:
        """The generations from `length` on were forgotten; what the next one reads is still known."""
        around, states = ({key: told for key, told in each.items() if key <= length} for each in self._digests)
        self._digests = around, states

    def again(self, before: Generated, mine: Reuse, now: Generated, *, same_state: bool) -> Carried | None:
        """What `now` comes to by what `before` came to, None where only a run can tell."""
        known = super().again(before, mine, now, same_state=True) if same_state else None
        gist = before.gist
        if known is not None or not isinstance(mine, ReadsReuse) or gist is None or gist.failed:
            return known
        for of_state in (False,) if same_state else (False, True):
            if self.digest(before, of_state=of_state) != mine.digest(now, of_state=of_state):
                return None
        new = mine._system.inputs_of(now.moment)  # noqa: SLF001  # the same class
        entries = (before.moment.index.entries, now.moment.index.entries)
        same = entries[0] is entries[1] or reads_all_entries(new.settings)
        if not same and not self._unaffected(*entries).leaves(gist, new):
            return None
        return Carried(digests(new)) if same_state else _carried(gist, before, now, digests(new))

    def _unaffected(self, before: Sequence[Entry], after: Sequence[Entry]) -> Unaffected:
        """The comparison of entries `before` with those `after`, made once."""
        known = self._entries
        if known is None or known[0][0] is not before or known[0][1] is not after:
            known = self._entries = ((before, after), Unaffected(before, after))
        return known[1]


def _carried(gist: Gist, before: Generated, now: Generated, names: Mapping[str, str]) -> Carried | None:
    """The run of `before` for `now`, whose state reads the same; None where it drew from another stream of numbers."""
    state = now.read_state()
    if gist.skipped:  # it never began
        return Carried(names, state, same_after=False)
    if state.random_state == before.read_state().random_state:
        return Carried(names)
    if gist.drew or before.read_after is None:
        return None
    return Carried(names, replace(before.read_after(), random_state=state.random_state), same_after=False)


KIND: Final = SystemKind(
    NAME,
    TITLE,
    SUMMARY,
    DeepLoreSettings,
    lambda settings, scene: DeepLoreSystem(settings, scene.behaviour, scene.answers, scene.model),
    VOCABULARY,
    in_project=True,
    state=EngineState,
    tally=Tally,
    of_vault=True,
    passed_over=frozenset({("offered", "ai_not_selected")}),
    filters=frozenset({"gated_field", "outside_folders", "blocked"}),
    heeds=frozenset({"pins", "blocks", "folders", "context", "notebook", "notepad", "character"}),
    budget="max_tokens_budget",
    budget_alone={"unlimited_budget": False},
    key_search=DeepLoreKeySearch,
    wakes=lambda settings, scene: DeepLoreWakes(scene.index, settings),
    carrier=DeepLoreCarrier,
    reading=lambda settings: settings,
    records=(SOURCES,),
    asked_about=asked_about,
)
DeepLoreSystem.kind = KIND
