"""Any text, tried with a system beside DeepLore."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from lorestudio.studio.tryout.system_bench import MOST_FAR, SystemBench

from lorestudio.domain.chat import Generation
from lorestudio.domain.lifecycle import Cancelled, CancelToken
from lorestudio.settings.contextwindow import ContextWindowSettings
from lorestudio.settings.declaration import Section
from lorestudio.settings.facts import FactsSettings
from lorestudio.settings.hybrid import HybridSettings
from lorestudio.settings.recap import RecapSettings
from lorestudio.settings.worldinfo import WorldInfoSettings
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.tryout.bench import BenchResult, NotReplayedError
from lorestudio.systems.registry import KINDS
from tests.studio.previews import CHAT, project_of

NOTES = {
    "Lamp.md": "---\ntags: [lorebook]\nkeys: [lamp, brass lantern]\n---\nThe tide is seen from here.\n",
    "Quay.md": "---\ntags: [lorebook]\nkeys: [quay]\n---\nStone.\n",
    "Tide.md": "---\ntags: [lorebook]\nkeys: [tide]\nrefine_keys: [rises]\n---\nTwice a day.\n",
    "Rules.md": "---\ntags: [lorebook, lorebook-always]\n---\nBe kind.\n",
    "Guide.md": "---\ntags: [lorebook, lorebook-guide]\nkeys: [lamp]\n---\nFor the Librarian.\n",
}


def bench(name: str, settings: Section, project: Project | None = None) -> SystemBench:
    return SystemBench(replace(project_of(NOTES), chat=None) if project is None else project, KINDS[name], settings)


def injected(result: BenchResult) -> set[str]:
    return {row.title for row in result.injected}


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("world-info", WorldInfoSettings()),
        ("hybrid", HybridSettings(embedder="none")),
        ("context-window", ContextWindowSettings(total_token_budget=500)),
    ],
)
def test_who_goes_in_and_by_which_key(name: str, settings: Section) -> None:
    result = bench(name, settings).test("At the quay stands a Lamp, an old lamp.")
    assert injected(result) == {"Lamp", "Quay", "Rules"}
    lamp = next(row for row in result.rows if row.title == "Lamp")
    assert [(result.text[place.start : place.end], place.message) for place in lamp.places] == [
        ("Lamp", 0),
        ("lamp", 0),
    ]
    assert lamp.keys
    assert lamp.how_sentence
    assert not lamp.elsewhere
    assert "Guide" not in {row.title for row in result.rows}
    assert result.trace.system == name


def test_who_was_matched_but_stopped_and_why() -> None:
    result = bench("world-info", WorldInfoSettings()).test("Low tide.")
    (stopped,) = [row for row in result.stopped if row.keys]
    assert stopped.title == "Tide"
    assert "rises" in stopped.sentence


def replayed(name: str, settings: Section, project: Project | None = None) -> SystemBench:
    project = project or project_of(NOTES)
    simulator = Simulator(project, KINDS[name].make(settings, project))
    asyncio.run(simulator.replay())
    return SystemBench(project, KINDS[name], settings, simulator)


def test_behind_the_chat_the_whole_window_counts() -> None:
    """The newest message of the chat speaks of the lamp, the text of the quay."""
    tried = replayed("world-info", WorldInfoSettings(depth=2))
    assert tried.can_append
    result = tried.test("And the quay?", append=True)
    assert result.message == len(CHAT.messages)
    assert injected(result) == {"Lamp", "Quay", "Rules"}
    lamp = next(row for row in result.rows if row.title == "Lamp")
    assert (lamp.places, lamp.elsewhere) == ((), True)
    assert injected(tried.test("And the quay?")) == {"Quay", "Rules"}


def test_what_the_replies_left_counts_behind_the_chat_only() -> None:
    """The lamp of message 0 brought the oil in for reply 1; then it rests for nine messages."""
    oil = "---\ntags: [lorebook]\nkeys: [lamp]\nwi_cooldown: 9\n---\nOil.\n"
    tried = replayed("world-info", WorldInfoSettings(), project_of({**NOTES, "Oil.md": oil}))
    behind, alone = tried.test("A lamp.", append=True), tried.test("A lamp.")
    assert injected(alone) - injected(behind) == {"Oil"}
    assert "Oil" in {row.title for row in behind.stopped}


def test_the_text_is_the_reply_to_come_of_a_chat_that_ends_with_it() -> None:
    """What the bench says is what the chat gives once the text is its last message."""
    settings = WorldInfoSettings(depth=3)
    result = replayed("world-info", settings).test("And the quay?", append=True)
    project = project_of(NOTES)
    said = replace(CHAT.messages[0], text="And the quay?")
    longer = replace(project, chat=replace(CHAT, messages=(*CHAT.messages, said)))
    simulator = Simulator(longer, KINDS["world-info"].make(settings, longer))
    trace = asyncio.run(simulator.generate(Generation(6)))
    assert result.trace.injections == trace.injections
    assert result.trace.prompt == trace.prompt


def test_without_a_replay_nothing_stands_behind_the_chat() -> None:
    with pytest.raises(NotReplayedError, match="has to be replayed"):
        bench("hybrid", HybridSettings(), project_of(NOTES)).test("x", append=True)
    with pytest.raises(NotReplayedError, match="no chat"):
        bench("hybrid", HybridSettings()).test("x", append=True)


def test_of_what_was_only_compared_the_nearest_are_told() -> None:
    notes = {f"N{number:02}.md": f"---\ntags: [lorebook]\n---\nWord {number}.\n" for number in range(MOST_FAR + 9)}
    settings = HybridSettings(mode="semantic_first", threshold=1.0)
    project = replace(project_of(notes), chat=None)
    result = bench("hybrid", settings, project).test("Nothing of it.")
    assert len(result.rows) == MOST_FAR
    assert "9 more were compared" in " ".join(result.remarks)
    scores = [float(str(row.fate.details["score"])) for row in result.rows]
    all_scores = [
        float(str(verdict.details["score"]))
        for record in result.trace.stages
        for verdict in record.verdicts
        if "score" in verdict.details
    ]
    assert min(scores) >= sorted(all_scores, reverse=True)[MOST_FAR - 1]


def test_memories(tmp_path: Path) -> None:
    project = project_of(NOTES)
    recap = bench("recap", RecapSettings(), project).test("lamp")
    assert "looks at no text" in recap.remarks[0]
    facts = bench("facts", FactsSettings(store=str(tmp_path / "none.sqlite")), project).test("lamp")
    assert facts.rows == ()
    assert facts.trace.turn.message == len(CHAT.messages) + 1  # nothing that is kept lies behind it


def test_a_request_to_stop() -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        bench("hybrid", HybridSettings()).test("lamp", cancel=token)
