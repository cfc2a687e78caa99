"""The simulator: the generations of a chat by one system, each from the state that the ones before it left."""

from __future__ import annotations

import asyncio
import hashlib
from bisect import bisect_left
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from functools import partial

from lorestudio.domain.chat import Chat, Generation
from lorestudio.domain.entry import Entry, NoteKey, VaultIndex
from lorestudio.domain.lifecycle import CancelToken, OnProgress, Progress, heed, stoppable
from lorestudio.domain.records import replace
from lorestudio.domain.resources import VERSION
from lorestudio.settings.studio import FOLLOWED
from lorestudio.studio.project.library import reading_key
from lorestudio.studio.project.project import Project
from lorestudio.studio.prompt.card import group_speaker, is_group
from lorestudio.studio.replay.ranges import Superseded, clock_ms, generations
from lorestudio.studio.replay.runs import Aftermath, FinishedRun, Runs, TraceBook
from lorestudio.studio.replay.seen import SeenChats, searched_of
from lorestudio.studio.verify.recorded import RecordedReply, recorded_replies
from lorestudio.systems.base import INPUTS, Decided, Generated, Moment, Reuse, State, System, Watcher
from lorestudio.systems.registry import kind_of, system_of
from lorestudio.trace.journey import FOREIGN_IDS, renumbered
from lorestudio.trace.model import EntryRef, Trace, Turn
from lorestudio.trace.storage.serialize import record_to_json


class Simulator:
    """Runs the generations of a project's chat in order with a system and keeps every trace and the state after it.

    Without a `system` the project's own one decides, and the offline stand-in answers. `watcher` sees the stages of the
    run under way. `earlier` are simulators of the same chat with other texts, notes or settings, the latest first: what
    they ran is taken over where it would come out the same (`systems.base.Reuse`).
    """

    def __init__(
        self,
        project: Project,
        system: System | None = None,
        watcher: Watcher | None = None,
        earlier: Sequence[Simulator] = (),
    ) -> None:
        made: System = system_of(project.scene(), kind_of(project.system)) if system is None else system
        self.project = project = project.read_for(made.kind)
        for one in reversed(earlier):
            made = made.knowing(one.system) if one.system.kind is made.kind else made
        self.system: System = made
        self._watcher = watcher
        self.generations = generations(project.chat)
        self._places = {generation: place for place, generation in enumerate(self.generations)}
        self._epoch = 0  # goes up whenever what is under way is given up: a run of an earlier one is not kept
        self._characters = _active_characters(project, self.generations)
        self._seen = SeenChats(project)
        followed = project.basis.settings.records == FOLLOWED
        self._records: Mapping[Generation, RecordedReply] = recorded_replies(project, made.kind) if followed else {}
        self.inputs = _input_digests(project, self.generations, self._characters, made, self._seen, self._records)
        """For each generation the digest of everything that it and the ones before it depend on."""
        self._runs = Runs(made.first_state(project.seed), made.counting)
        self._traces = TraceBook()
        self._reuse: Reuse = made.reuse()
        self.earlier = tuple(one for one in earlier if one.system.kind is made.kind)
        self.ran = 0

    @property
    def traces(self) -> Mapping[Generation, Trace]:
        """The traces made so far."""
        return self._traces

    @property
    def states(self) -> tuple[State, ...]:
        """The state after each generation run so far, in order; each is made anew."""
        return tuple(map(self._runs.state, range(len(self._runs))))

    def shown(self, message: int) -> Generation | None:
        """The generation that wrote the message's active swipe, None for a message that no generation wrote."""
        generation = (self.project.chat or Chat()).active(message)
        return generation if generation in self._places else None

    def place(self, generation: Generation) -> int:
        """Where a generation stands in the order of running. Raises ValueError for one that the chat does not have."""
        place = self._places.get(generation)
        if place is None:
            message = f"The chat has no reply #{generation.message} with swipe {generation.swipe + 1}."
            raise ValueError(message)
        return place

    def abandon(self) -> None:
        """Give up whatever is running: it writes neither a trace nor a state, however it ends."""
        self._epoch += 1

    def release(self) -> None:
        """Let go of the earlier simulators; nothing is taken over from now on."""
        self.earlier = ()

    def let_go(self, generation: Generation) -> None:
        """Let go of the trace of a generation that was run: nobody asks for it again. What it left stays."""
        held = self._runs.held(self.place(generation))
        held.shelf.let_go(held.run)

    def resume(self, runs: Sequence[FinishedRun], counts: State = None) -> None:
        """Go on from runs of the first generations on the same inputs; `counts` are those after the last if known."""
        self.rewind(0)
        for place, run in enumerate(runs):
            self._runs.take(run, counts if place == len(runs) - 1 else None)
            self._traces.put(self.generations[place], self._runs, place)

    def rewind(self, length: int) -> None:
        """Forget all but the first `length` generations."""
        self.abandon()
        forgotten = max(0, len(self._runs) - length)
        self._runs.cut(length)
        self._reuse.cut(length)
        self._traces = self._traces.part(self.generations[: len(self._runs)])
        self.ran = max(0, self.ran - forgotten)

    @property
    def finished(self) -> tuple[FinishedRun, ...]:
        """The generations run so far, in order."""
        return tuple(map(self._runs.__getitem__, range(len(self._runs))))

    @property
    def counts(self) -> State:
        """What is counted after the last generation run, None by a system that counts nothing."""
        return None if self.system.counting is None else self._runs.counts(len(self._runs) - 1)

    def decider(self, generation: Generation) -> System:
        """Who decides a generation: the system, where records are followed with what is recorded of it."""
        record = self._records.get(generation)
        if record is None or not record.holds_for(anything_went_in=True):
            return self.system
        return self.system.following(record.entries, record.found_in(self.project.index))

    def moment(self, generation: Generation) -> Moment:
        """What the system is given for a generation. Raises ValueError for one that the chat does not have."""
        return self._moment(self.place(generation))

    def state_before(self, generation: Generation) -> State:
        """The state that a generation begins with; the ones before it must have been run.

        Raises ValueError where they have not, and for a generation that the chat does not have.
        """
        return self._runs.state(self._run_before(generation))

    def later_state_before(self, generation: Generation) -> Callable[[], State]:
        """Gives that state as it is now, put together when it is first asked for. Raises ValueError as above."""
        return self._runs.later_state(self._run_before(generation))

    def _run_before(self, generation: Generation) -> int:
        place = self._place_before(self.place(generation))
        if place >= len(self._runs):
            message = f"The generations before reply #{generation.message} have not been run yet."
            raise ValueError(message)
        return place

    async def generate(self, generation: Generation) -> Trace:
        """The trace of one generation; the ones before it are run first where they are missing.

        Raises ValueError for a generation that the chat does not have.
        """
        place = self.place(generation)
        while len(self._runs) <= place:
            await self._run_next(place)
        return self._runs.trace(place)

    async def replay(self) -> tuple[Trace, ...]:
        """Run what is missing, and return the traces of all generations in order."""
        await self.run_missing()
        return tuple(map(self._runs.trace, range(len(self.generations))))

    async def run_missing(
        self, on_progress: OnProgress = None, cancel: CancelToken | None = None, until: int | None = None
    ) -> None:
        """Run what is missing up to place `until` (without it: all), for `traces`, which gives them one by one.

        `on_progress` is called after each generation. Raises Cancelled after a request to stop, also in the middle of a
        generation, which is then not kept; a later call goes on from there.
        """
        total = len(self.generations[:until])
        while len(self._runs) < total:
            heed(cancel)
            generation = self.generations[len(self._runs)]
            with stoppable(cancel):
                await self._run_next(total - 1)
            if on_progress is not None:
                on_progress(Progress(len(self._runs), total, generation))
            await asyncio.sleep(0)  # let a cancelled task notice

    async def unrecorded(self, cancel: CancelToken | None = None) -> AsyncIterator[Trace]:
        """Run all generations with their recording switched off: the same decisions, in traces without details.

        Nothing is taken over and nothing is kept. Raises Cancelled after a request to stop.
        """
        before = after = self.system.first_state(self.project.seed)
        for place in range(len(self.generations)):
            heed(cancel)
            if self._place_before(place) == place - 1:  # else another swipe, which begins where the one before began
                before = after
            with stoppable(cancel):
                decided = await _decided(self.system, replace(self._moment(place), recorded=False), before)
            after = decided.state
            yield decided.trace

    def offer(self, mine: Simulator, now: Generated) -> FinishedRun | None:
        """What the next generation of `mine` comes to by what was run here, None where only a run can tell."""
        turn, runs = now.moment.turn, self._runs
        place = self._places.get(turn.generation)
        if place is None or place >= len(runs):
            return None
        start, done = self._place_before(place), runs[place]
        same_state = runs.goes_on_as(start, mine._runs, mine._place_before(now.place))
        before = Generated(
            place, self._moment(place), partial(runs.lean_state, start), done.gist, partial(runs.lean_state, place)
        )
        carried = self._reuse.again(before, mine._reuse, now, same_state=same_state)
        if carried is None:
            return None
        after = None if carried.same_after else Aftermath(carried.state, runs.tally(place))
        return done.taken_over(carried.digests, searched_of(mine.system, now.moment), after, mine._again(now.place))

    async def _run_next(self, last: int) -> None:
        """Run one more on the way to the one at place `last`, whose trace somebody wants."""
        place, epoch = len(self._runs), self._epoch
        start = self._place_before(place)
        now = Generated(place, self._moment(place), partial(self._runs.lean_state, start))
        alike = (other for other in self.earlier if other._records == self._records)  # noqa: SLF001  # the same class
        offers = (other.offer(self, now) for other in alike)
        known = next((offer for offer in offers if offer is not None), None)
        again, result = self._again(place), None
        recorded = again is None or place == last or not self._runs.is_full
        if known is None:
            decider, state = self.decider(self.generations[place]), self._runs.state(start)
            moment = now.moment if recorded else replace(now.moment, recorded=False)
            result = self._recalled(now, state, await _decided(decider, moment, state))
        if epoch != self._epoch:
            raise Superseded
        if self.generations[place] in self._traces:  # another task was quicker, with the same trace
            return
        if known is not None:
            self._runs.take(known)
        elif result is not None:
            self.ran += 1
            self._runs.append(result, again, recorded=recorded)
        self._traces.put(self.generations[place], self._runs, place)

    def _again(self, place: int) -> Callable[[], Trace] | None:
        """Makes the trace at this place once more, None by a system whose traces have to be kept."""
        decider = self.decider(self.generations[place])
        return None if decider.traced is None else partial(self._made_again, place, decider, decider.traced)

    def _made_again(self, place: int, decider: System, traced: Callable[[Moment], Trace]) -> Trace:
        moment = replace(self._moment(place), watcher=None)
        return _told(Decided(traced(moment)), decider, moment).trace

    def _recalled(self, now: Generated, before: State, result: Decided) -> Decided:
        """What was decided, with the state that the recorded entries leave where records are followed."""
        record = self._records.get(self.generations[now.place])
        if record is None or not record.holds_for(anything_went_in=bool(result.trace.injections)):
            return result
        went_in = record.found_in(now.moment.index)
        return replace(result, state=self.system.recalled(now.moment, before, went_in, result))

    def _place_before(self, place: int) -> int:
        """The place of the generation whose state the one at `place` begins with, -1 for the first state."""
        return (place if self.system.swipes_go_on else self._first_swipe(place)) - 1

    def _first_swipe(self, place: int) -> int:
        """The place of the first generation of the same reply."""
        message = self.generations[place].message
        return bisect_left(self.generations, message, key=lambda generation: generation.message)

    def _moment(self, place: int) -> Moment:
        project, generation = self.project, self.generations[place]
        chat = project.chat or Chat()
        character = self._characters[place]
        seen = self._seen.of(generation, character)
        again = self._first_swipe(place) != place
        return Moment(
            index=project.index,
            chat=seen.messages,
            turn=Turn(generation.message, generation.swipe, place, "swipe" if again else "normal"),
            controls=self.system.controls_at(project.controls, chat, generation.message),
            positions=seen.positions,
            character=character,
            user=chat.user_name,
            counter=project.counter,
            context_size=project.known_context,
            clock_ms=clock_ms(place),
            seed=project.seed,
            watcher=self._watcher,
            digests={INPUTS: self.inputs[place]},
            seen=replace(seen.record(), followed=bool(self._records)),
            for_claude=project.counting.for_claude,
        )


async def decided_trace(system: System, moment: Moment, state: State) -> Trace:
    """The trace of a decision that begins with this state; nothing of it is kept."""
    return (await _decided(system, moment, state)).trace


async def _decided(system: System, moment: Moment, state: State) -> Decided:
    return _told(await system.decide(moment, state), system, moment)


def _told(decided: Decided, system: System, moment: Moment) -> Decided:
    """The decision as the studio tells it: with what was seen of the chat, and no entry by another one's number."""
    if moment.recorded or system.traced is not None:
        seen = searched_of(system, moment)
        if decided.trace.seen != seen:
            decided = replace(decided, trace=replace(decided.trace, seen=seen))
    if system.kind.of_vault:
        return decided
    return Decided(_own_numbers(decided.trace, system, moment), decided.state, decided.tally)


def knowing_all(trace: Trace, system: System, moment: Moment) -> Trace:
    """The trace; where it chose from lorebooks of the system's, it also knows the entries that no stage spoke of."""
    scanned = system.scanned(moment)
    if scanned is moment.index:
        return trace
    known = _in_both(scanned, moment.index)
    refs = (
        replace(EntryRef.of(entry), id=known.get(entry.note_key, entry.id + FOREIGN_IDS)) for entry in scanned.entries
    )
    return replace(trace, entries={**{ref.id: ref for ref in refs}, **trace.entries})


def _own_numbers(trace: Trace, system: System, moment: Moment) -> Trace:
    """The trace; those of its entries that are none of the project's with numbers that no entry there has.

    A lorebook that is opened as it is may be scanned with others: its entries keep the project's numbers.
    """
    if trace.others:  # they have them already
        return trace
    scanned = system.scanned(moment)
    named: Mapping[int, EntryRef | Entry] = trace.entries or {entry.id: entry for entry in scanned.entries}
    theirs = any(not _of_vault(number, ref, moment.index) for number, ref in named.items())
    if not theirs and named and trace.words.of_notes:
        return trace
    known = _in_both(scanned, moment.index) if trace.words.of_notes else {}
    places = {number: known.get(ref.note_key) for number, ref in trace.entries.items()}

    def number_of(entry: int) -> int:
        place = places.get(entry)
        return entry + FOREIGN_IDS if place is None else place

    return renumbered(trace, number_of, others=not known)


def _in_both(scanned: VaultIndex, index: VaultIndex) -> dict[NoteKey, int]:
    """The project's numbers of entries of books that are scanned; none where no vault of its is one of these."""
    shared = set(scanned.vaults) & set(index.vaults)
    return {entry.note_key: entry.id for entry in index.entries if entry.vault in shared}


def _of_vault(number: int, ref: EntryRef | Entry, index: VaultIndex) -> bool:
    return 0 <= number < len(index.entries) and index.entries[number].note_key == ref.note_key


def _active_characters(project: Project, generations: Sequence[Generation]) -> tuple[str, ...]:
    """Who is to speak in each generation: in a group the host makes that member the character (rules: deeplore 3.6)."""
    chat = project.chat or Chat()
    if not is_group(project.setup, chat):
        return (chat.character_name,) * len(generations)
    return tuple(group_speaker(project.setup, chat, each.message)[0] for each in generations)


def _input_digests(
    project: Project,
    generations: Sequence[Generation],
    characters: Sequence[str],
    system: System,
    seen: SeenChats,
    records: Mapping[Generation, RecordedReply],
) -> tuple[str, ...]:
    """For each generation the SHA-256 of everything that it and the ones before it depend on.

    An edit late in the chat leaves the digests of earlier generations as they were.
    """
    chat = project.chat or Chat()
    digest = hashlib.sha256()
    for part in (
        VERSION,  # another version may decide otherwise
        f"{system.name}:{system.inputs}",
        project.index.digest,
        repr(reading_key(project.settings, project.counter)),
        repr(record_to_json(project.controls)),
        system.reads_of_chat(chat, project.controls),
        repr((project.seed, project.counter.identity, chat.user_name, project.known_context)),
        seen.told,
    ):
        digest.update(part.encode("utf-8", "surrogatepass"))
    found: list[str] = []
    done = 0
    for generation, character in zip(generations, characters, strict=True):
        for message in chat.messages[done : generation.message]:
            # Whether it is hidden counts as the generation sees it; what keeps the chat's own state is told of both.
            read = message if system.kind.remembers else seen.shown(message)
            digest.update(system.reads_of(read).encode("utf-8", "surrogatepass"))
        done = max(done, generation.message)
        told = seen.told_of(generation, character)
        record = (records[generation],) if generation in records else ()
        digest.update(repr((generation, character, told, *record)).encode("utf-8", "surrogatepass"))
        found.append(digest.hexdigest())
    return tuple(found)
