"""Deciding a generation of which the chat has a record: what no file keeps is taken as it was recorded.

That is what a model chose, how lots fell, and which entries were resting afterwards (rules: recorded-sources 5).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from msgspec import Struct

from lorestudio.domain.entry import Entry
from lorestudio.domain.json_text import spell
from lorestudio.domain.records import replace
from lorestudio.domain.state import AiState, EngineState, LoggedGeneration, Snapshot
from lorestudio.exchange.chats.recorded import RecordedEntry
from lorestudio.llm.errors import ErrorKind, LlmError
from lorestudio.llm.messages import SEARCH, ChatReply, ChatRequest
from lorestudio.systems.base import Decided, RunInputs
from lorestudio.systems.deeplore.inputs import Inputs
from lorestudio.systems.deeplore.pipeline import uses_ai
from lorestudio.systems.deeplore.stages.bookkeeping import remember, run_down
from lorestudio.systems.deeplore.stages.recent_lore import logged
from lorestudio.systems.deeplore.stages.snapshot import swipe_key

_STEP: Final = re.compile(r" \(recursion step \d+\)$")
_CHOICE: Final = re.compile(r"(?:^|→ )AI: (.*) \((high|medium|low)\)$", re.DOTALL)
"""What is recorded of an entry that a model chose: its reason, and how sure it was."""


class RecordedChoice(Struct, frozen=True):
    """Answers with the titles that a record names as chosen; where it names none, the question fails.

    With `empty` the model chose nothing at all. `also` are titles that it chose besides, whether they went in or not.
    """

    recorded: tuple[RecordedEntry, ...] = ()
    empty: bool = False
    also: tuple[str, ...] = ()
    name: str = "record"
    label: str = "what the chat recorded"

    @property
    def names_any(self) -> bool:
        """Whether the record says of an entry that a model chose it."""
        return any(_CHOICE.search(each.reason) for each in self.recorded)

    async def answer(self, request: ChatRequest) -> ChatReply:
        """The choice. Raises LlmError for another question, and where none is recorded."""
        found = ((each, _CHOICE.search(each.reason)) for each in self.recorded)
        items = [{"title": each.title, "confidence": said[2], "reason": said[1]} for each, said in found if said]
        items += [{"title": title, "confidence": "high", "reason": "not recorded"} for title in self.also]
        if request.kind != SEARCH or not (items or self.empty):
            raise LlmError(ErrorKind.NO_RECORDED_ANSWER, "the chat recorded no choice of a model")
        return ChatReply(spell(items), source=self.label, repeatable=True)


@dataclass(frozen=True, slots=True)
class Lots:
    """How lots fell: those of the entries that went in let them in, and those of the titles `also`; the others did not,
    or with `all_in` did as well. `went_in` are vaults and file names.
    """

    went_in: frozenset[tuple[str, str]] = field(repr=False)
    also: frozenset[str] = frozenset()
    all_in: bool = False

    def __call__(self, entry: Entry) -> float:
        """0 for an entry that goes in, else 1."""
        lucky = self.all_in or entry.title in self.also or (entry.vault, entry.filename) in self.went_in
        return 0.0 if lucky else 1.0


def without_choices(state: EngineState) -> EngineState:
    """The state without a model's choice that is remembered: another one is recorded, or nobody recorded this one."""
    return replace(state, ai=replace(state.ai, cache=None))


def recalled(ctx: Inputs, went_in: Sequence[Entry], decided: Decided | None = None) -> EngineState:
    """The state after a generation in which these entries went in: their pauses begin, others' run down."""
    state = ctx.state if decided is None else decided.state
    if decided is not None and [each.id for each in went_in] == [each.entry for each in decided.trace.injections]:
        return replace(state, ai=AiState(cache=state.ai.cache))
    key, before = swipe_key(ctx), ctx.state.counters
    again = ctx.state.snapshot is not None and ctx.state.snapshot.swipe_key == key
    if again and ctx.state.snapshot is not None:
        before = ctx.state.snapshot.counters
    settings, log = ctx.settings, state.injection_log
    if settings.strip_duplicate_injections:
        own = LoggedGeneration(before.generation_count + 1, tuple(logged(entry, settings) for entry in went_in))
        log = (*(each for each in log if each.generation != own.generation), own)
    return replace(
        state,
        snapshot=Snapshot(key, before),
        counters=run_down(remember(before, list(went_in), settings), went_in, settings),
        injection_log=log,
        ai=AiState(cache=state.ai.cache),
    )


def as_recorded(entry: Entry, reason: str) -> Entry:
    """The entry with what the reason of a record says of it; a reason of another kind leaves it as it is."""
    said = _STEP.sub("", reason.partition(" → ")[0])
    if said == "(constant)":
        return replace(entry, constant=True)
    if said == "(bootstrap)":
        return replace(entry, bootstrap=True)
    plain = said and said != "?" and not said.startswith(("(", "AI: "))
    return replace(entry, keys=(*entry.keys, said)) if plain and said not in entry.keys else entry


def unrecorded(run: RunInputs) -> Iterator[tuple[str, Any]]:
    """What else may have been: a model that failed or chose nothing, other lots."""
    state, system = run.state, run.system

    def of(**changes: Any) -> Any:  # noqa: ANN401  # whoever asks gets back what he came with
        return replace(run, **changes)  # type: ignore[type-var]  # a dataclass

    if uses_ai(system.settings):
        recorded = system.answers.recorded if isinstance(system.answers, RecordedChoice) else ()
        titles = tuple(each.title for each in recorded)
        needed = {title: entry.requires for entry in run.moment.index.entries if (title := entry.title) in titles}
        others = tuple(dict.fromkeys(each for every in needed.values() for each in every if each not in titles))
        for words, choice in (
            ("the model's answer failed", RecordedChoice()),
            ("the model chose nothing", RecordedChoice(empty=True)),
            ("what the model chose was kept out", RecordedChoice(also=titles)),
            ("the model also chose what others require", RecordedChoice(recorded, also=others)),
        ):
            if choice != system.answers:
                yield words, of(system=replace(system, answers=choice))
        if state.ai.cache is not None:
            yield "no earlier choice of the model was remembered", of(state=replace(state, ai=AiState()))
    lots, entries = system.lots, run.moment.index.entries
    if isinstance(lots, Lots) and any(_draws(entry.probability) for entry in entries):
        yield "lots fell otherwise", of(system=replace(system, lots=replace(lots, all_in=True)))
        required = (title for each in entries if (each.vault, each.filename) in lots.went_in for title in each.requires)
        if also := frozenset(required):
            words = "the lots of what others require fell otherwise"
            yield words, of(system=replace(system, lots=replace(lots, also=also)))


def _draws(chance: float | None) -> bool:
    return chance is not None and 0 < chance < 1
