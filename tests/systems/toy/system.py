"""The toy as a system."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Final

from lorestudio.domain.entry import Position, Role
from lorestudio.domain.records import replace
from lorestudio.systems.base import Decided, Moment, Scene, State, System, SystemKind
from lorestudio.systems.ledger import Ledger
from lorestudio.systems.runner import Run
from lorestudio.trace.model import Injection, Limit, Phase, PromptBlock, PromptPart, StageRecord
from tests.systems.toy import SUMMARY, TITLE
from tests.systems.toy.settings import ToySettings
from tests.systems.toy.words import VOCABULARY


@dataclass(frozen=True, slots=True)
class ToySystem(System):
    """Takes notes whose titles were said."""

    kind: ClassVar[SystemKind]

    settings: ToySettings = field(default_factory=ToySettings)

    async def decide(self, moment: Moment, state: State = None) -> Decided:
        """Run one generation; nothing is remembered."""
        run = Run(moment)
        first = max(0, len(moment.chat) - self.settings.messages)

        def titles(ledger: Ledger) -> StageRecord:
            for entry in moment.index.entries:
                said = [place for place in range(first, len(moment.chat))
                        if entry.title.lower() in moment.chat[place].text.lower()]  # fmt: skip
                if any(rule.matches(entry) for rule in moment.controls.blocks):
                    ledger.refuse(entry, "toy_blocked")
                elif said:
                    run.candidates.append(entry)
                    ledger.add(entry, "toy_said", message=moment.position(said[-1]))
            return ledger.close(run.candidates, default_reason="toy_unsaid")

        def most_urgent(ledger: Ledger) -> StageRecord:
            run.candidates.sort(key=lambda entry: entry.priority)
            for entry in run.candidates[self.settings.most_notes :]:
                run.drop(ledger, entry, "toy_late")
            return ledger.close(run.candidates)

        def place(ledger: Ledger) -> StageRecord:
            at, text, parts, injections = int(Position.BEFORE), "", [], []
            for entry in run.candidates:
                parts.append(PromptPart(len(text), len(text) + len(entry.content), entry.id))
                text += entry.content
                tokens = moment.counter.count(entry.content)
                ledger.keep(entry, "toy_placed", tokens=tokens)
                injections.append(Injection(entry.id, entry.title, "title", tokens, entry.priority, at, 0,
                                            int(Role.SYSTEM), "toy", entry.content_hash))  # fmt: skip
            run.injections = tuple(injections)
            run.blocks = (PromptBlock("toy", at, 0, int(Role.SYSTEM), text, tuple(parts)),) if parts else ()
            return ledger.close(run.candidates)

        records = await run.through((
            run.step("titles", Phase.MATCH, titles),
            run.step("the most urgent", Phase.BUDGET, most_urgent),
            run.step("placing", Phase.INJECT, place),
        ))  # fmt: skip
        limits = (Limit("notes", len(run.injections), self.settings.most_notes, "entries"),)
        return Decided(replace(run.trace("toy", "titles", records), limits=limits, words=VOCABULARY), state)


def make(settings: ToySettings, _scene: Scene) -> ToySystem:
    """The toy for a scene."""
    return ToySystem(settings)


KIND: Final = SystemKind(
    "toy", TITLE, SUMMARY, ToySettings, make, VOCABULARY,
    of_vault=True, filters=frozenset({"toy_blocked"}),
    not_held="It is too small to hold a note in.", no_budget="It counts notes and no tokens.",
)  # fmt: skip
ToySystem.kind = KIND
