"""The test bench: any text, run through the system at once, to see what it would trigger.

The text is a message of the person's, in a chat of its own or behind the open chat. The run is a whole generation, as
for a real message; no provider is asked, and nothing of it is kept.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from typing import Final

from lorestudio.domain.chat import Chat, Generation, Message
from lorestudio.domain.lifecycle import CancelToken, stoppable
from lorestudio.domain.records import Terse, grouped, replace
from lorestudio.studio.replay.seen import SeenChats
from lorestudio.studio.replay.simulator import Simulator, decided_trace
from lorestudio.systems.base import Given, Moment, State, StopBetweenStages, System
from lorestudio.systems.offline import Unanswered
from lorestudio.trace.found_keys import FoundKey
from lorestudio.trace.journey import CellState, Fate, Journeys
from lorestudio.trace.model import AS_STORED, Phase, Trace, Turn
from lorestudio.trace.wording import plural

STAND_IN: Final = "No model is asked here: the offline stand-in chose in its place, by shared words alone."

NOT_CHOSEN: Final = "# more was offered and not chosen.|# more were offered and not chosen."

MOST_FAR: Final = 25
"""Of entries that no key brought into question and that do not go in, so many are told, the nearest first."""

FARTHER: Final = "# more was compared and is less alike.|# more were compared and are less alike."

UNSEARCHED: Final = "No text here brings in # more: switched off, bound to other characters, and the like."


class NotReplayedError(ValueError):
    """The text cannot stand behind a chat whose replies have not been run; the message says what to do."""


class BenchRow(Terse, frozen=True):
    """One entry that the text brought into question.

    `how` and `how_sentence` say what made it a candidate, "" where nothing did; `label` and `sentence` what settled it.
    `places` are the occurrences of its keys in the text itself. `tokens` are those that went in, or those of the whole
    note where it did not.
    """

    unprinted = ("places",)

    entry: int
    title: str
    fate: Fate
    label: str
    sentence: str
    tokens: int
    how: str = ""
    how_sentence: str = ""
    keys: tuple[str, ...] = ()
    places: tuple[FoundKey, ...] = ()

    @property
    def injected(self) -> bool:
        """Whether it goes in, shortened or not."""
        return self.fate.state.went_in


class BenchResult(Terse, frozen=True):
    """What a text triggers. `remarks` are sentences for the person."""

    unprinted = ("text", "trace")

    text: str
    trace: Trace
    rows: tuple[BenchRow, ...]
    remarks: tuple[str, ...] = ()

    @property
    def injected(self) -> tuple[BenchRow, ...]:
        """Who goes in, in injection order."""
        return tuple(row for row in self.rows if row.injected)

    @property
    def stopped(self) -> tuple[BenchRow, ...]:
        """Who was matched, or looked at, and does not go in."""
        return tuple(row for row in self.rows if not row.injected)


class Bench:
    """Runs texts on one project.

    It takes what it needs when it is made, at once, and may then be used in any thread. Over a simulator that has run
    its chat, texts can stand behind that chat. The chat's choices are those of the project.
    """

    def __init__(self, simulator: Simulator) -> None:
        self.project = simulator.project
        self._system: System = simulator.system
        self._first = replace(simulator.moment(simulator.generations[0]), controls=self.project.controls)
        self._behind: tuple[Moment, State] | None = None
        last = simulator.generations[-1]
        if self.project.chat is not None:
            with suppress(ValueError):  # the generations before it have not been run
                self._behind = simulator.moment(last), simulator.state_before(last)

    def test(self, text: str, *, append: bool = False, cancel: CancelToken | None = None) -> BenchResult:
        """What the text triggers. For a worker thread, since it may take more than a moment.

        Raises Cancelled between two stages after a request to stop, and NotReplayedError where it should stand behind a
        chat that was not run.
        """
        stop = StopBetweenStages(cancel or CancelToken())
        stop.look()
        chat = self.project.chat or Chat()
        said = Message(chat.user_name, text, is_user=True)
        moment, state = self._moment(said, append=append)
        moment = self._as_handed(moment, said, append=append)
        system = self._system.saying((*chat.messages, said) if append else (said,))
        offline = system.offline(Given(unanswered=Unanswered.STAND_IN), self._system)
        with stoppable(stop.token):
            trace = asyncio.run(decided_trace(offline.system, replace(moment, watcher=stop), state))
        message = moment.position(len(moment.chat) - 1)
        kind, journeys = self._system.kind, Journeys(trace)
        rows = bench_rows(journeys, offline.system.key_places(moment, state, trace), message)
        rows, kept_back = _told(self._by_own_keys(rows, journeys, said), journeys, kind.passed_over)
        remarks = ((kind.no_text,) if kind.no_text else ()) + ((STAND_IN,) if offline.answers() else ())
        return BenchResult(text, trace, rows, (*remarks, *trace.warnings, *offline.lacks(), *kept_back))

    def _by_own_keys(self, rows: Iterable[BenchRow], journeys: Journeys, said: Message) -> tuple[BenchRow, ...]:
        """The rows, with the keys that the text has of entries which were kept out before any was looked for."""
        trace, search = journeys.trace, self._system.kind.key_search(self._system.settings)
        keys = {entry.note_key: entry.keys for entry in self.project.index.entries}
        line = search.line(replace(said, name=""))

        def looked_up(row: BenchRow) -> BenchRow:
            own = keys.get(trace.entries[row.entry].note_key, ())
            return replace(row, keys=tuple(own[place] for place in sorted({*search.finder(own)(line)})))

        return tuple(looked_up(row) if row.fate.reason in trace.words.unsearched else row for row in rows)

    def _moment(self, said: Message, *, append: bool) -> tuple[Moment, State]:
        end = len(self.project.chat.messages) if self.project.chat is not None else 0
        if append:
            if self._behind is None:
                none = "There is no chat that the text could stand behind."
                unrun = "The chat has to be replayed before a text can stand behind it."
                raise NotReplayedError(none if self.project.chat is None else unrun)
            (moment, state), place = self._behind, end
            moment = replace(moment, chat=(*moment.chat, said), positions=(*moment.positions, place))
        else:
            place = end if self._system.kind.remembers else 0
            moment = replace(self._first, chat=(said,), positions=(place,))
            state = self._system.first_state(self.project.seed)
        return replace(moment, turn=Turn(place + 1, 0, 0), digests={}), state

    def _as_handed(self, moment: Moment, said: Message, *, append: bool) -> Moment:
        """The moment with texts as the host hands them over, the new one and those that are one message older by it."""
        chat = self.project.chat or Chat()
        messages = (*chat.messages, said) if append else (said,)
        seen = SeenChats(replace(self.project, chat=replace(chat, messages=messages)))
        found = seen.of(Generation(len(messages)), moment.character)
        if not append:  # whatever number it is given
            return replace(moment, chat=found.messages, seen=AS_STORED)
        return replace(moment, chat=found.messages, positions=found.positions, seen=found.record())


def bench_rows(journeys: Journeys, places: Sequence[FoundKey], message: int) -> tuple[BenchRow, ...]:
    """A row for each entry that the run speaks of; `places` are those of keys in all that was searched."""
    trace = journeys.trace
    injected = {injection.entry: injection for injection in trace.injections}
    by_entry = grouped((place.entry, place) for place in places)
    rows: list[BenchRow] = []
    for entry in journeys.rows:
        fate = journeys.fate(entry)
        if fate.phase is Phase.LOAD:
            continue  # a guide: no text brings it in
        ref = trace.entries[entry]
        explained = fate.explain(trace)
        how, how_sentence, waking = _came_in(journeys, entry)
        own = by_entry.get(entry, [])
        here = tuple(place for place in own if place.message == message and place.start is not None)
        went_in = injected.get(entry)
        rows.append(
            BenchRow(
                entry,
                ref.title,
                fate,
                explained.label,
                explained.sentence,
                ref.tokens if went_in is None else went_in.tokens,
                how,
                how_sentence,
                tuple(dict.fromkeys((*waking, *(place.key for place in own)))),
                here,
            )
        )
    return tuple(rows)


def _came_in(journeys: Journeys, entry: int) -> tuple[str, str, tuple[str, ...]]:
    """What made the entry a candidate, in short and as a sentence: of a key in another entry's text, whose, and which.

    Such keys are in no text of the chat, where keys are looked for otherwise.
    """
    how = journeys.came_in(entry)
    if how is None:
        return "", "", ()
    details = journeys.ways_in[entry][1].details
    source = details.get("source")
    if source is None:
        return how.label, how.sentence, ()
    keys = (details.get("key"), details.get("refine_key"))
    return f"Key in “{source}”", how.sentence, tuple(key for key in keys if isinstance(key, str))


def _told(
    rows: Sequence[BenchRow], journeys: Journeys, passed_over: Collection[tuple[str, str]]
) -> tuple[tuple[BenchRow, ...], tuple[str, ...]]:
    """The rows without those that come by the hundred whatever the text is, and sentences about these."""
    alike = sorted((row for row in rows if _only_compared(row)), key=_score, reverse=True)
    far = {row.entry for row in alike[MOST_FAR:]}
    unsearched = {row.entry for row in rows if row.fate.reason in journeys.trace.words.unsearched and not row.keys}
    passed = {row.entry for row in rows if (_brought_in(journeys, row.entry), row.fate.reason) in passed_over}
    apart = {FARTHER: far, NOT_CHOSEN: passed, UNSEARCHED: unsearched}
    told = tuple(plural(len(entries), sentence) for sentence, entries in apart.items() if entries)
    return tuple(row for row in rows if row.entry not in far | passed | unsearched), told


def _brought_in(journeys: Journeys, entry: int) -> str:
    """The reason that made the entry a candidate, "" where none did."""
    added = (cell.verdict for cell in journeys.cells(entry) if cell.state is CellState.ADDED)
    return next((verdict.reason for verdict in added if verdict is not None), "")


def _only_compared(row: BenchRow) -> bool:
    return not row.injected and not row.keys and "score" in row.fate.details


def _score(row: BenchRow) -> float:
    score = row.fate.details.get("score")
    return score if isinstance(score, int | float) else 0.0
