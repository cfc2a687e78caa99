"""A chat replayed with a system beside DeepLore."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from lorestudio.domain.chat import Chat, Generation, Message
from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.domain.lifecycle import Cancelled, CancelToken, Progress
from lorestudio.settings.declaration import Section
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.settings.worldinfo import WorldInfoSettings
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.order import Superseded
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.systems.base import Decided, Moment, System, SystemKind
from lorestudio.systems.registry import KINDS
from lorestudio.trace.journey import FOREIGN_IDS
from lorestudio.trace.model import RunOutcome, Trace
from lorestudio.trace.vocabulary import plain

if TYPE_CHECKING:
    from pathlib import Path


def project() -> Project:
    """Two replies, the first with three swipes of which the second is active; one note."""
    chat = Chat(
        (
            Message("Wren", "The lamp?", is_user=True),
            Message("Ada", "Lit.", swipe_id=1, swipes=("Out.", "Lit.", "Broken.")),
            Message("Wren", "Go on.", is_user=True),
            Message("Ada", "It burns."),
        ),
        "Wren",
        "Ada",
    )
    entries = (Entry(0, "Lamp.md", "vault", "Lamp", "It is of brass.", ("lamp",)),)
    return Project((), VaultIndex(entries, vaults=("vault",)), DeepLoreSettings(), chat)


@dataclass(frozen=True, slots=True)
class Remembering(System):
    """Its state is the list of the generations that it came through."""

    settings: Section = field(default_factory=Section)

    async def decide(self, moment: Moment, state: object = None) -> Decided:
        seen = (*(state if isinstance(state, tuple) else ()), (moment.turn.message, moment.turn.swipe))
        trace = Trace(self.name, "", RunOutcome.NOTHING_INJECTED, moment.turn, {}, 1, (), facts={"seen": repr(seen)})
        return Decided(trace, seen)


Remembering.kind = SystemKind(
    "remembering", "Remembering", "", Section, lambda settings, _scene: Remembering(settings), plain("remembering")
)


def test_a_swipe_begins_where_the_reply_began_and_the_chat_goes_on_from_the_active_one() -> None:
    traces = asyncio.run(Simulator(project(), Remembering()).replay())
    assert [trace.facts["seen"] for trace in traces] == [
        "((1, 0),)",
        "((1, 2),)",
        "((1, 1),)",
        "((1, 1), (3, 0))",
        "((1, 1), (3, 0), (4, 0))",
    ]


def test_a_part_is_run_and_the_rest_later() -> None:
    simulator = Simulator(project(), Remembering())
    told: list[Progress] = []
    trace = asyncio.run(simulator.generate(Generation(1, 1)))
    assert trace.turn.swipe == 1
    assert simulator.ran == 3
    asyncio.run(simulator.replay(told.append))
    assert [(each.done, each.total) for each in told] == [(4, 5), (5, 5)]
    assert list(simulator.traces) == list(simulator.generations)
    assert asyncio.run(simulator.generate(Generation(1, 1))) is trace
    with pytest.raises(ValueError, match="no reply #2"):
        asyncio.run(simulator.generate(Generation(2)))


def test_stopping_keeps_what_was_run() -> None:
    simulator, token = Simulator(project(), Remembering()), CancelToken()

    def stop(progress: Progress) -> None:
        if progress.done == 2:
            token.cancel()

    with pytest.raises(Cancelled):
        asyncio.run(simulator.replay(stop, token))
    assert simulator.ran == 2


def test_what_was_given_up_writes_nothing() -> None:
    simulator = Simulator(project(), Remembering())

    class GivingUp(Remembering):
        async def decide(self, moment: Moment, state: object = None) -> Decided:
            simulator.abandon()
            return await Remembering.decide(self, moment, state)

    simulator.system = GivingUp()
    with pytest.raises(Superseded):
        asyncio.run(simulator.replay())
    assert not simulator.traces


def test_entries_of_a_lorebook_are_not_taken_for_notes_of_the_vault(tmp_path: Path) -> None:
    book = tmp_path / "book.json"
    book.write_text(json.dumps({"entries": {"0": {"uid": 0, "key": ["lamp"], "content": "Old.", "comment": "Oil"}}}))
    kind = KINDS["world-info"]
    system = kind.make(WorldInfoSettings(book=str(book)), project().scene())
    first = asyncio.run(Simulator(project(), system).replay())[0]
    assert [injection.entry for injection in first.injections] == [FOREIGN_IDS]
    assert first.entries[FOREIGN_IDS].title == "Oil"


def test_notes_of_the_vault_keep_their_numbers() -> None:
    kind = KINDS["world-info"]
    first = asyncio.run(Simulator(project(), kind.make(kind.settings(), project().scene())).replay())[0]
    assert [injection.entry for injection in first.injections] == [0]
