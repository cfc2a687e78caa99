"""What a change does to a whole chat: who enters and who leaves, reply by reply, and which expectations that mends.

Before are the traces of the real run; after is the same chat run with the change, from its first reply on, asking
nobody: questions that were answered before have their answers, others those of the offline stand-in where that
answers anyway.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from typing import Final

from msgspec import Struct, field

from lorestudio.domain.chat import Chat, Generation
from lorestudio.domain.entry import NoteKey, VaultIndex
from lorestudio.domain.lifecycle import CancelToken
from lorestudio.domain.records import replace
from lorestudio.domain.state import ChatControls
from lorestudio.settings.declaration import Declaration, Section, Value, declared
from lorestudio.settings.sections import value_text
from lorestudio.studio.chat.controls import ControlsPart, heeds, without_rule
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.rerun import Rerun
from lorestudio.studio.replay.runs import TraceBook
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.tuning.checking import chat_name
from lorestudio.studio.tuning.expectations import Expectation, Judged, TurnOutcome, judge, shown_swipes, turn_outcome
from lorestudio.studio.tuning.scores import Scores, score
from lorestudio.systems.base import SystemKind
from lorestudio.trace.wording import plural, signed_words
from lorestudio.vault.edited_vaults import EditedVaults, NoteText

WORTH_A_LOOK: Final = 3
"""So many replies are named to be looked at first."""


class TurnEffect(Struct, frozen=True):
    """One reply before and after. `entered` and `left` are titles; `won` and `lost` are expectations that hold now and
    did not, and the other way round; `tokens` are those of before and after.
    """

    generation: Generation
    entered: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    tokens: tuple[int, int] = (0, 0)
    won: tuple[Expectation, ...] = ()
    lost: tuple[Expectation, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.entered or self.left or self.won or self.lost or self.tokens[0] != self.tokens[1])


class Effects(Struct, frozen=True):
    """What a change does to the replies of a chat, in order; those that are not run yet are not there.

    `replies` is how many there are in all. The scores are of the replies that are there.
    """

    turns: tuple[TurnEffect, ...] = ()
    replies: int = 0
    before: Scores = field(default_factory=Scores)
    after: Scores = field(default_factory=Scores)

    @property
    def complete(self) -> bool:
        """Whether all replies are there."""
        return len(self.turns) == self.replies

    @property
    def changed(self) -> tuple[TurnEffect, ...]:
        """The replies that it changes."""
        return tuple(filter(None, self.turns))

    @property
    def won(self) -> int:
        """How often an expectation holds that did not."""
        return sum(len(turn.won) for turn in self.turns)

    @property
    def lost(self) -> int:
        """How often an expectation does not hold that did."""
        return sum(len(turn.lost) for turn in self.turns)

    @property
    def tokens(self) -> float:
        """Tokens more a reply, less than 0 for fewer."""
        more = sum(turn.tokens[1] - turn.tokens[0] for turn in self.turns)
        return more / len(self.turns) if self.turns else 0.0

    @property
    def brief(self) -> str:
        """`12 of 26 replies change, +3 expected, -1, +212 tokens a reply`."""
        replies = plural(len(self.turns), "# reply|# replies")
        parts = [f"{len(self.changed)} of {replies} change"]
        parts += [f"+{self.won} expected"] if self.won else []
        parts += [f"−{self.lost}{'' if self.won else ' expected'}"] if self.lost else []
        return ", ".join([*parts, f"{signed_words(round(self.tokens))} tokens a reply"])

    @property
    def worth_a_look(self) -> tuple[TurnEffect, ...]:
        """The replies to look at first: what is lost, then what is won, then most of who comes and goes."""

        def weight(turn: TurnEffect) -> tuple[int, int, int, int]:
            moved = len(turn.entered) + len(turn.left)
            return len(turn.lost), len(turn.won), moved, abs(turn.tokens[1] - turn.tokens[0])

        return tuple(sorted(self.changed, key=weight, reverse=True)[:WORTH_A_LOOK])


class WholeChat:
    """A chat that was run, for trying changes on all of it.

    It takes what it needs from the simulator when it is made, at once, and may then be used in any thread. Raises
    ValueError where a generation has not been run.
    """

    def __init__(self, simulator: Simulator, expectations: Sequence[Expectation]) -> None:
        self.expectations = tuple(expectations)
        self.generations = simulator.generations
        self._rerun = Rerun.of(simulator, self.generations[-1])
        self._traces = TraceBook(simulator.traces)
        self.project: Project = simulator.project

    @property
    def settings(self) -> Section:
        """Those that the chat was run with."""
        settings: Section = self._rerun.system.settings
        return settings

    @property
    def kind(self) -> SystemKind:
        """That of the system it was run with."""
        return self._rerun.system.kind

    @cached_property
    def outcomes(self) -> tuple[TurnOutcome, ...]:
        """What each generation came to. Unpacks the traces, so it is work for a worker."""
        return tuple(map(turn_outcome, self._traces.part(self.generations).values()))

    @cached_property
    def _vaults(self) -> EditedVaults | None:
        return self.project.edited_vaults()

    def with_change(
        self, settings: Section | None = None, notes: Sequence[NoteText] = (), controls: ChatControls | None = None
    ) -> tuple[Project, Section]:
        """The project with these settings, texts of notes and choices, and the settings of the system that decides.

        Raises VaultError, InputError, and ValueError where the project does not know what its index was made of.
        """
        settings = settings or self.settings
        project = self.project.with_settings_of(self.kind, settings)
        if notes:
            same = project.index is self.project.index and project.settings == self.project.settings
            project = project.with_texts(notes, self._vaults if same else None)
        return replace(project, controls=controls or project.controls), settings

    def effects(
        self,
        settings: Section | None = None,
        notes: Sequence[NoteText] = (),
        report: Callable[[Effects], object] | None = None,
        cancel: CancelToken | None = None,
        controls: ChatControls | None = None,
    ) -> Effects:
        """Run the chat with these settings, texts and choices of the person, from its first reply on.

        `report` hears of the first reply, then of twice as many.

        For a worker thread. Raises Cancelled, and what `with_change` raises.
        """
        project, used = self.with_change(settings, notes, controls)
        offline = self._rerun.with_project(project, used).offline()
        simulator = Simulator(project, offline.system)
        done: list[TurnOutcome] = []

        async def run() -> None:
            runs = simulator.unrecorded(cancel)
            for generation in simulator.generations:
                offline.turn_to(partial(self._traces.__getitem__, generation))
                done.append(turn_outcome(await anext(runs)))
                if report is not None and len(done) < len(simulator.generations) and len(done).bit_count() == 1:
                    report(self._told(project, done))

        asyncio.run(run())
        return self._told(project, done)

    def _told(self, project: Project, done: Sequence[TurnOutcome]) -> Effects:
        chat = project.chat or Chat()
        before, after = shown_swipes(chat, self.outcomes[: len(done)]), shown_swipes(chat, done)
        replies = len(shown_swipes(chat, self.outcomes))
        judged = tuple(
            judge(self.expectations, chat, chat_name(project), index, outcomes)
            for index, outcomes in ((self.project.index, before), (project.index, after))
        )
        met = [_met(each) for each in judged]
        turns = []
        for old, new in zip(before, after, strict=True):
            generation = Generation(new.message, new.swipe)
            inside, was_inside = _titles(project.index, new), _titles(self.project.index, old)
            held, holds = (each.get(generation, {}) for each in met)
            turns.append(
                TurnEffect(
                    generation,
                    tuple(title for key, title in inside.items() if key not in was_inside),
                    tuple(title for key, title in was_inside.items() if key not in inside),
                    (old.tokens, new.tokens),
                    tuple(judged[1][each].called for each, met in holds.items() if met and held.get(each) is False),
                    tuple(judged[1][each].called for each, met in holds.items() if not met and held.get(each)),
                )
            )
        return Effects(tuple(turns), replies, score(before, judged[0]), score(after, judged[1]))


def _met(judged: Iterable[Judged]) -> dict[Generation, dict[int, bool]]:
    """For each reply whether the expectations hold that speak of it, by their places."""
    found: dict[Generation, dict[int, bool]] = {}
    for place, each in enumerate(judged):
        for turn in each.turns:
            found.setdefault(turn.generation, {})[place] = turn.met
    return found


def _titles(index: VaultIndex, outcome: TurnOutcome) -> dict[NoteKey, str]:
    """The titles of what went in, by vault and file; ids mean another entry where notes have changed."""
    strangers = dict(outcome.strangers)
    found = {}
    for number, _ in outcome.injected:
        if number in strangers:
            found["", strangers[number]] = strangers[number]
        else:
            entry = index.entries[number]
            found[entry.note_key] = entry.title
    return found


# ---- how sensitive a chat is to each setting -------------------------------------------------------------------------


class StepEffect(Struct, frozen=True):
    """One setting with another value, or a pin or block gone, everything else as it is, and what that does.

    `title` is short, `label` also says where it belongs; `words` tell both values.
    """

    name: str
    title: str
    label: str
    before: Value
    after: Value
    words: tuple[str, str]
    effects: Effects


def moving_steps(steps: Iterable[StepEffect]) -> list[StepEffect]:
    """The steps that change something, those first that win most."""
    moving = [each for each in steps if each.effects.changed]
    return sorted(moving, key=lambda each: (each.effects.lost - each.effects.won, -len(each.effects.changed)))


def one_step(known: Declaration, value: Value) -> tuple[Value, ...]:
    """The values that a setting is tried with: the other one, the other choices, or half as much less and more.

    None for one that changes nothing in a run, is about one computer, or has neither choices nor a range.
    """
    if not known.affects or known.local:
        return ()
    if known.type is bool:
        return (not value,)
    if known.choices:
        return tuple(choice for choice in known.choices if choice != value)
    if known.low is None or known.high is None or isinstance(value, str):
        return ()
    half = abs(value) / 2 or (known.high - known.low) / 10
    step = max(1, round(half)) if known.type is int else half
    tried = (max(known.low, value - step), min(known.high, value + step))
    return tuple(known.type(each) for each in tried if each != value)


def sensitivity(chat: WholeChat, names: Sequence[str] = (), cancel: CancelToken | None = None) -> Iterator[StepEffect]:
    """What a step of each setting does to the whole chat, then each pin and block that counts gone; `names` chooses
    settings.

    Raises what `WholeChat.effects` raises.
    """
    settings = chat.settings
    for known in declared(type(settings)):
        if names and known.name not in names and known.alias not in names:
            continue
        before = getattr(settings, known.name)
        for value in one_step(known, before):
            tried = settings.model_copy(update={known.name: value})
            words = value_text(known, before), value_text(known, value)
            found = chat.effects(tried, cancel=cancel)
            yield StepEffect(known.alias, known.title, known.label, before, value, words, found)
    controls = chat.project.controls
    for part, what in ((ControlsPart.PINS, "Pin"), (ControlsPart.BLOCKS, "Block")) if not names else ():
        for rule in getattr(controls, part.value) if heeds(chat.project, chat.kind, part) else ():
            label = f"{what} of {rule.title}"
            found = chat.effects(controls=without_rule(controls, part, rule), cancel=cancel)
            yield StepEffect(label, label, label, True, False, ("there", "gone"), found)
