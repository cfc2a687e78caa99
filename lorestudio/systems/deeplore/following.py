"""Deciding a generation of which the chat has a record: what no file keeps is taken as it was recorded.

That is what a model chose, how lots fell, and which entries were resting afterwards (rules: recorded-sources 5).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from lorestudio.domain.entry import Entry
from lorestudio.domain.json_text import spell
from lorestudio.domain.state import AiState, Counters, EngineState, LoggedGeneration
from lorestudio.exchange.chats.recorded import RecordedEntry, found_among
from lorestudio.llm.errors import ErrorKind, LlmError
from lorestudio.llm.messages import SEARCH, ChatReply, ChatRequest
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.systems.base import Decided, Moment, RunInputs
from lorestudio.systems.deeplore.pipeline import uses_ai
from lorestudio.systems.deeplore.stages.bookkeeping import remember, run_down
from lorestudio.systems.deeplore.stages.recent_lore import logged

if TYPE_CHECKING:
    from lorestudio.systems.deeplore.system import DeepLoreSystem

_CHOICE: Final = re.compile(r"(?:^|→ )AI: (.*) \((high|medium|low)\)$", re.DOTALL)
"""What is recorded of an entry that a model chose: its reason, and how sure it was."""


@dataclass(frozen=True, slots=True)
class RecordedChoice:
    """Answers with the titles that a record names as chosen; where it names none, the question fails.

    With `empty` the model chose nothing at all.
    """

    recorded: tuple[RecordedEntry, ...] = ()
    empty: bool = False
    name: str = "record"
    label: str = "what the chat recorded"

    async def answer(self, request: ChatRequest) -> ChatReply:
        """The choice. Raises LlmError for another question, and where none is recorded."""
        found = ((each, _CHOICE.search(each.reason)) for each in self.recorded)
        items = [{"title": each.title, "confidence": said[2], "reason": said[1]} for each, said in found if said]
        if request.kind != SEARCH or not (items or self.empty):
            raise LlmError(ErrorKind.NO_RECORDED_ANSWER, "the chat recorded no choice of a model")
        return ChatReply(spell(items), source=self.label, repeatable=True)


@dataclass(frozen=True, slots=True)
class Lots:
    """How lots fell: those of the recorded entries let them in, the others did not, or with `all_in` did as well."""

    recorded: tuple[RecordedEntry, ...] = field(repr=False)
    all_in: bool = False

    def __call__(self, entry: Entry) -> float:
        """0 for an entry that goes in, else 1."""
        return 0.0 if self.all_in or any(found_among(each, [entry]) for each in self.recorded) else 1.0


def following(system: DeepLoreSystem, recorded: Sequence[RecordedEntry]) -> DeepLoreSystem:
    """The system with the model's choice and the lots of a record."""
    return replace(system, answers=RecordedChoice(tuple(recorded)), lots=Lots(tuple(recorded)))


def recalled(
    settings: DeepLoreSettings, moment: Moment, decided: Decided, recorded: Sequence[RecordedEntry]
) -> EngineState:
    """The state after a generation in which the recorded entries went in: their pauses begin, others' run down."""
    state: EngineState = replace(decided.state, ai=AiState(cache=decided.state.ai.cache))
    entries = [entry for each in recorded if (entry := found_among(each, moment.index.entries)) is not None]
    if [entry.id for entry in entries] == [each.entry for each in decided.trace.injections]:
        return state
    before = state.snapshot.counters if state.snapshot is not None else state.counters
    counters = run_down(remember(before, entries, settings), entries, settings)
    log = state.injection_log
    if settings.strip_duplicate_injections:
        own = LoggedGeneration(before.generation_count + 1, tuple(logged(entry, settings) for entry in entries))
        log = (*(each for each in log if each.generation != own.generation), own)
    return replace(state, counters=counters, injection_log=log)


def unrecorded(system: DeepLoreSystem, run: RunInputs) -> Iterator[tuple[str, Any]]:
    """What else may have been: trackers that began anew, a model that failed or chose nothing, other lots."""
    state, settings = run.state, system.settings

    def of(**changes: Any) -> Any:  # noqa: ANN401  # whoever asks gets back what he came with
        return replace(run, **changes)  # type: ignore[type-var]  # a dataclass

    fresh = replace(state, counters=Counters(), snapshot=None, injection_log=(), ai=AiState())
    if state.counters != fresh.counters or state.injection_log:
        yield "the chat had just been opened, so that all trackers were empty", of(state=fresh)
    if uses_ai(settings):
        for words, choice in (("the model's answer failed", RecordedChoice()),
                              ("the model chose nothing", RecordedChoice(empty=True))):  # fmt: skip
            yield words, of(system=replace(system, answers=choice))
        if state.ai.cache is not None:
            yield "no earlier choice of the model was remembered", of(state=replace(state, ai=AiState()))
    if isinstance(system.lots, Lots) and any(_draws(entry.probability) for entry in run.moment.index.entries):
        yield "lots fell otherwise", of(system=replace(system, lots=replace(system.lots, all_in=True)))


def _draws(chance: float | None) -> bool:
    return chance is not None and 0 < chance < 1
