"""The test bench: any text, run through the engine at once, to see what it would trigger.

The text is a message of the person's, in a chat of its own or behind the open chat. The run is a whole generation, as
for a real message; no provider is asked, and nothing of it is kept.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from lorestudio.domain.chat import Chat, Message
from lorestudio.domain.lifecycle import CancelToken
from lorestudio.domain.state import EngineState
from lorestudio.llm.stand_in import StandInAnswers
from lorestudio.studio.project.modes import Mode
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.systems.context import RunContext, StopBetweenStages
from lorestudio.systems.deeplore.key_places import KeyPlace, key_places
from lorestudio.systems.deeplore.run import run
from lorestudio.trace.journey import Fate, FateState, Journeys, came_in
from lorestudio.trace.model import Phase, Trace, Turn

__all__ = ["Bench", "BenchResult", "BenchRow", "KeyPlace", "NotReplayedError"]

STAND_IN = "No model is asked here: the offline stand-in chose in its place, by shared words alone."

NOT_CHOSEN = "{amount:,} more were offered and not chosen."


class NotReplayedError(ValueError):
    """The text cannot stand behind a chat whose replies have not been run; the message says what to do."""

    @classmethod
    def of(cls, project: Project) -> NotReplayedError:
        """Without a chat, or with one that has to be replayed."""
        if project.chat is None:
            return cls("There is no chat that the text could stand behind.")
        return cls("The chat has to be replayed before a text can stand behind it.")


@dataclass(frozen=True, slots=True)
class BenchRow:
    """One entry that the text brought into question.

    `how` and `how_sentence` say what made it a candidate, "" where nothing did; `label` and `sentence` what settled it.
    `places` are the occurrences of its keys in the text itself; `elsewhere` says that a key was found in the chat
    before it, or in the speaker's name. `tokens` are those that went in, or those of the whole note where it did not.
    """

    entry: int
    title: str
    fate: Fate
    label: str
    sentence: str
    tokens: int
    how: str = ""
    how_sentence: str = ""
    keys: tuple[str, ...] = ()
    places: tuple[KeyPlace, ...] = field(default=(), repr=False)
    elsewhere: bool = False

    @property
    def injected(self) -> bool:
        """Whether it goes in, shortened or not."""
        return self.fate.state in {FateState.INJECTED, FateState.TRUNCATED}


@dataclass(frozen=True, slots=True)
class BenchResult:
    """What a text triggers. `message` is its index in the chat that was run, `remarks` sentences for the person."""

    text: str = field(repr=False)
    trace: Trace = field(repr=False)
    message: int
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
        first, last = simulator.generations[0], simulator.generations[-1]
        chat = self.project.chat
        self._alone = replace(
            simulator.context(first),
            chat=(),
            positions=(),
            state=EngineState(random_state=self.project.seed),
            controls=self.project.controls,
        )
        self._behind: RunContext | None = None
        if chat is not None:
            with suppress(ValueError):  # the generations before it have not been run
                self._behind = simulator.context(last)

    @classmethod
    def of(cls, project: Project) -> Bench:
        """A bench for a project without a chat, or for texts that stand alone."""
        return cls(Simulator(project))

    @property
    def can_append(self) -> bool:
        """Whether a text can stand behind the chat: there is one, and all its replies have been run."""
        return self._behind is not None

    def test(
        self,
        text: str,
        *,
        append: bool = False,
        cancel: CancelToken | None = None,
    ) -> BenchResult:
        """What the text triggers. For a worker thread, since it may take more than a moment.

        Raises Cancelled between two stages after a request to stop, and NotReplayedError where it should stand behind a
        chat that was not run.
        """
        ctx = self._context(text, append=append)
        ctx = replace(ctx, watcher=StopBetweenStages(cancel or CancelToken()))
        trace = asyncio.run(run(ctx)).trace
        message = ctx.turn.message - 1
        rows = bench_rows(trace, key_places(ctx), message)
        remarks = [STAND_IN] if trace.ai_calls else []
        passed_over = [row for row in rows if trace.mode == Mode.AI_ONLY and row.fate.reason == "ai_not_selected"]
        if passed_over:  # nearly the whole vault, every time
            rows = tuple(row for row in rows if row not in passed_over)
            remarks.append(NOT_CHOSEN.format(amount=len(passed_over)))
        return BenchResult(text, trace, message, rows, tuple(remarks))

    def _context(self, text: str, *, append: bool) -> RunContext:
        project = self.project
        chat = project.chat or Chat()
        said = Message(chat.user_name, text, is_user=True)
        if append:
            behind = self._behind
            if behind is None:
                raise NotReplayedError.of(project)
            place = len(chat.messages)
            ctx = replace(behind, chat=(*behind.chat, said), positions=(*behind.positions, place))
        else:
            place = 0
            ctx = replace(self._alone, chat=(said,), positions=(0,))
        return replace(
            ctx,
            turn=Turn(place + 1, 0, 0),
            answers=StandInAnswers(),
            model="",
            digests={},
        )


def bench_rows(trace: Trace, places: Sequence[KeyPlace], message: int) -> tuple[BenchRow, ...]:
    """A row for each entry that the run speaks of; `places` are those of keys in all that was searched."""
    journeys = Journeys(trace)
    injected = {injection.entry: injection for injection in trace.injections}
    by_entry: dict[int, list[KeyPlace]] = {}
    for place in places:
        by_entry.setdefault(place.entry, []).append(place)
    rows: list[BenchRow] = []
    for entry in journeys.rows:
        fate = journeys.fate(entry)
        if fate.phase is Phase.LOAD:
            continue  # a guide: no text brings it in
        ref = trace.entries[entry]
        explained = fate.explain(trace)
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
                *_came_in(journeys, entry),
                tuple(dict.fromkeys(place.key for place in own)),
                here,
                elsewhere=len(here) < len(own),
            )
        )
    return tuple(rows)


def _came_in(journeys: Journeys, entry: int) -> tuple[str, str]:
    how = came_in(journeys, entry)
    return ("", "") if how is None else (how.label, how.sentence)
