"""Runs of every system survive the studio, each kept by itself."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lorestudio.domain.chat import Chat, Generation, Message
from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.domain.records import replace
from lorestudio.domain.state import ChatControls, EntryRule
from lorestudio.settings.declaration import Section
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.settings.hybrid import HybridSettings
from lorestudio.settings.worldinfo import WorldInfoSettings
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.run_store import RunPlace, RunStore, chat_id
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.systems.registry import KINDS
from lorestudio.trace.model import Trace

ROOT = Path(__file__).parents[3]
SYSTEMS = tuple(KINDS)


def story(turns: int = 3) -> tuple[Message, ...]:
    """A question about the lamp and its reply, so many times."""
    return tuple(
        message
        for turn in range(turns)
        for message in (Message("Wren", f"A lamp {turn}.", is_user=True), Message("Ann", f"Reply {turn}."))
    )


def note(place: int, title: str, key: str, **fields: Any) -> Entry:
    return Entry(place, f"{title}.md", "vault", title, f"About {title}.", (key,), **fields)


INDEX = VaultIndex(
    (note(0, "Lamp", "lamp", cooldown=2), note(1, "Dice", "lamp", probability=0.5)), vaults=("vault",), digest="one"
)


def project(**changes: Any) -> Project:
    base = Project(
        (), INDEX, DeepLoreSettings(), chat=Chat(story(), "Wren", "Ann"), chat_path=Path("/chats/one.jsonl"), seed=7
    )
    return replace(base, **changes)


def simulator(system: str, there: Project | None = None, settings: Section | None = None) -> Simulator:
    there, kind = there or project(), KINDS[system]
    return Simulator(there, kind.make(settings or kind.settings(), there.scene()))


def kept(folder: Path, made: Simulator, slot: str = "") -> Simulator:
    asyncio.run(made.replay())
    with RunStore(folder) as store:
        store.keep(made, slot)
    return made


def restored(folder: Path, made: Simulator, slot: str = "") -> int:
    with RunStore(folder) as store:
        count = store.restore(made, slot)
        assert store.problems == []
    return count


def in_order(made: Simulator) -> list[Trace]:
    return [made.traces[one] for one in made.generations if one in made.traces]


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_systems_runs_survive_a_restart_and_are_not_run_again(tmp_path: Path, system: str) -> None:
    first = kept(tmp_path, simulator(system))
    second = simulator(system)
    assert restored(tmp_path, second) == len(second.generations) == 4
    assert (in_order(second), second.states) == (in_order(first), first.states)
    asyncio.run(second.replay())
    assert second.ran == 0


def test_what_a_system_remembers_goes_on_where_it_stopped(tmp_path: Path) -> None:
    """World Info's cooldown and its random numbers are those of a replay without a restart."""
    whole = simulator("world-info")
    asyncio.run(whole.replay())
    begun = simulator("world-info")
    asyncio.run(begun.generate(begun.generations[1]))
    with RunStore(tmp_path) as store:
        store.keep(begun)
    second = simulator("world-info")
    assert restored(tmp_path, second) == 2
    asyncio.run(second.replay())
    assert second.states == whole.states
    assert [one.injections for one in in_order(second)] == [one.injections for one in in_order(whole)]
    assert second.ran == 2


def test_systems_and_deeplore_are_kept_beside_each_other(tmp_path: Path) -> None:
    deeplore = Simulator(project())
    asyncio.run(deeplore.replay())
    with RunStore(tmp_path) as store:
        store.keep(deeplore)
    for system in ("hybrid", "world-info"):
        kept(tmp_path, simulator(system))
    with RunStore(tmp_path) as store:
        assert store.counts(project()) == {"deeplore": 4, "hybrid": 4, "world-info": 4}
        assert {one.system for one in store.history(project(), Generation(1), "hybrid")} == {"hybrid"}
        assert {one.system for one in store.history(project(), Generation(1))} == {"deeplore"}
        again = Simulator(project())
        assert store.restore(again) == 4
    assert restored(tmp_path, simulator("hybrid")) == restored(tmp_path, simulator("world-info")) == 4
    assert restored(tmp_path, simulator("context-window")) == 0


def test_a_chat_that_goes_on_keeps_what_came_before(tmp_path: Path) -> None:
    kept(tmp_path, simulator("hybrid"))
    longer = simulator("hybrid", project(chat=Chat(story(4), "Wren", "Ann")))
    assert restored(tmp_path, longer) == 3  # the reply to come is another place now
    asyncio.run(longer.replay())
    assert longer.ran == 2


@pytest.mark.parametrize(
    "changes",
    [
        {"index": replace(INDEX, digest="two")},
        {"seed": 8},
        {"context_size": 4096},
        {"controls": ChatControls(blocks=(EntryRule("Lamp"),))},
        {"chat": Chat(story(), "Wren", "Bob")},
        {"chat": Chat((replace(story()[0], send_date="2024-01-01"), *story()[1:]), "Wren", "Ann")},
    ],
    ids=",".join,
)
def test_with_another_input_nothing_is_reused(tmp_path: Path, changes: dict[str, Any]) -> None:
    kept(tmp_path, simulator("hybrid"))
    assert restored(tmp_path, simulator("hybrid", project(**changes))) == 0


def test_settings_of_deeplore_are_no_input_of_other_systems(tmp_path: Path) -> None:
    kept(tmp_path, simulator("hybrid"))
    settings = DeepLoreSettings(max_entries=3)
    assert restored(tmp_path, simulator("hybrid", project(settings=settings))) == 4


def test_other_settings_of_the_system_or_another_lorebook_are(tmp_path: Path) -> None:
    kept(tmp_path, simulator("hybrid"))
    assert restored(tmp_path, simulator("hybrid", settings=HybridSettings(limit=1))) == 0
    assert restored(tmp_path, simulator("hybrid", settings=HybridSettings(embedder="none"))) == 0
    book = tmp_path / "book.json"
    book.write_text('{"entries": {"0": {"uid": 0, "key": ["lamp"], "position": 0, "content": "Old."}}}')
    settings = WorldInfoSettings(book=str(book))
    kept(tmp_path, simulator("world-info", settings=settings))
    assert restored(tmp_path, simulator("world-info", settings=settings)) == 4
    book.write_text('{"entries": {"0": {"uid": 0, "key": ["lamp"], "position": 0, "content": "New."}}}')
    assert restored(tmp_path, simulator("world-info", settings=settings)) == 0


def test_slots_keep_runs_with_other_settings(tmp_path: Path) -> None:
    first = kept(tmp_path, simulator("hybrid"))
    other = kept(tmp_path, simulator("hybrid", settings=HybridSettings(limit=1)), "one entry")
    one, two = simulator("hybrid"), simulator("hybrid", settings=HybridSettings(limit=1))
    assert restored(tmp_path, one) == restored(tmp_path, two, "one entry") == 4
    assert (in_order(one), in_order(two)) == (in_order(first), in_order(other))


def test_what_was_kept_last_is_there_also_where_it_is_stale(tmp_path: Path) -> None:
    first = kept(tmp_path, simulator("hybrid"))
    changed = list(story())
    changed[2] = replace(changed[2], text="No light.")
    with RunStore(tmp_path) as store:
        same = store.last(simulator("hybrid"))
        edited = store.last(simulator("hybrid", project(chat=Chat(tuple(changed), "Wren", "Ann"))))
        none = store.last(simulator("context-window"))
    assert (list(same.traces), same.current) == (in_order(first), 4)
    assert (list(edited.traces), edited.current) == (in_order(first), 1)
    assert (none.traces, none.current) == ((), 0)


def test_a_damaged_file_of_states_is_told_and_the_chat_is_run_anew(tmp_path: Path) -> None:
    kept(tmp_path, simulator("hybrid"))
    (tmp_path / RunPlace(chat_id(project()), "hybrid").states_file).write_bytes(b"no states")
    with RunStore(tmp_path) as store:
        assert store.restore(simulator("hybrid")) == 0
        assert "cannot be read" in store.problems[0]
    kept(tmp_path, simulator("hybrid"))
    assert restored(tmp_path, simulator("hybrid")) == 4


CHILD = """
import os, signal, sys
from pathlib import Path
from tests.studio.replay.test_run_store_of_every_system import kept, simulator

kept(Path(sys.argv[1]), simulator("world-info"))
kept(Path(sys.argv[1]), simulator("hybrid"))
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.long
def test_kept_runs_survive_a_kill(tmp_path: Path) -> None:
    child = subprocess.run(  # noqa: S603  # our own interpreter and our own text
        [sys.executable, "-c", CHILD, str(tmp_path)], cwd=ROOT, check=False, timeout=60,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert child.returncode == -signal.SIGKILL
    assert restored(tmp_path, simulator("world-info")) == restored(tmp_path, simulator("hybrid")) == 4
