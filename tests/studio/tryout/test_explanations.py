"""Two hundred explanations of the demo, taken at random over replies, entries and systems, are read through.

Nothing is said twice in one of them, no inner name stands in it, and what can be looked up is so.
"""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Iterator

import pytest

from lorestudio.domain.chat import Generation
from lorestudio.domain.javascript import fold
from lorestudio.studio.project.project import Project, demo_project
from lorestudio.studio.replay.rerun import Rerun
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.systems.registry import KINDS, MAIN, system_of
from lorestudio.trace.explain import known_details
from lorestudio.trace.journey import FateState, Journeys
from lorestudio.trace.model import Trace
from lorestudio.trace.text import entry_as_text

MANY = 200
INSIDE = {FateState.INJECTED, FateState.TRUNCATED}
INNER = re.compile(r"\b[a-z0-9]+_[a-z0-9_]+\b|\b[a-z]+[A-Z]\w+\b|[{}]|\b(?:None(?! of)|True|False|nan)\b")
"""Names of the program's own: with underscores or humps, and what Python calls nothing."""

QUOTED = re.compile(r"“[^”]*”")
SENTENCE = re.compile(r"(?<=[.!?]) +|\n+|  +")


@pytest.fixture(scope="module")
def project() -> Project:
    return demo_project()


@pytest.fixture(scope="module")
def simulators(project: Project) -> dict[str, Simulator]:
    """The demo as each system runs it that looks at notes."""
    found: dict[str, Simulator] = {}
    for name, kind in KINDS.items():
        settings = project.settings if kind is MAIN else kind.settings()
        simulator = Simulator(project, system_of(project.scene(), kind, settings))
        asyncio.run(simulator.replay())
        if next(iter(simulator.traces.values())).words.of_notes:
            found[name] = simulator
    return found


@pytest.fixture(scope="module")
def chosen(simulators: dict[str, Simulator]) -> list[tuple[Simulator, Generation, int]]:
    """The half of DeepLore's, and of each reply entries of every kind."""
    draw = random.Random(11)
    every = {
        name: [(simulator, place, entry) for place in simulator.generations for entry in asked(simulator, place)]
        for name, simulator in simulators.items()
    }
    others = [each for name, cases in every.items() if name != MAIN.name for each in cases]
    return [*draw.sample(every[MAIN.name], MANY // 2), *draw.sample(others, MANY // 2)]


def asked(simulator: Simulator, generation: Generation) -> Iterator[int]:
    trace = simulator.traces[generation]
    rows = Journeys(trace).rows
    yield from rows
    yield from [each.id for each in simulator.project.index.entries if each.id not in rows][:3]


def said(simulator: Simulator, generation: Generation, entry: int) -> str:
    return entry_as_text(simulator.traces[generation], entry, simulator.project.index)


def test_nothing_is_said_twice(chosen: list[tuple[Simulator, Generation, int]]) -> None:
    for case in chosen:
        text = said(*case)
        sentences = [each.strip() for each in SENTENCE.split(text) if len(each.strip()) > 20]
        assert len(sentences) == len(set(sentences)), text


def test_no_inner_name_is_said(chosen: list[tuple[Simulator, Generation, int]]) -> None:
    for simulator, generation, entry in chosen:
        text = said(simulator, generation, entry)
        own = QUOTED.sub("", text.split("\n\n", 1)[1])  # what stands in quotation marks is the person's own
        assert not INNER.search(own), (INNER.search(own), text)
        codes = {code for code in simulator.traces[generation].words.reasons if "_" in code}
        assert not any(code in text for code in codes), text


def test_a_key_stands_in_the_message_that_is_named(
    project: Project, chosen: list[tuple[Simulator, Generation, int]]
) -> None:
    assert project.chat is not None
    seen = 0
    for simulator, generation, entry in chosen:
        sentence = Journeys(simulator.traces[generation]).told(entry).sentence
        for key, number in re.findall(r"[Kk]ey “([^”]+)”(?: was found)? in message #(\d+)", sentence):
            message = project.chat.messages[int(number)]
            swipe = message.shown if hasattr(message, "shown") else message
            assert fold(key) in fold(f"{swipe.name}: {swipe.text}"), sentence
            assert int(number) < generation.message
            seen += 1
    assert seen > 20


def test_of_what_went_in_it_is_said_what_brought_it_in(chosen: list[tuple[Simulator, Generation, int]]) -> None:
    seen = 0
    for simulator, generation, entry in chosen:
        journeys = Journeys(simulator.traces[generation])
        if journeys.fate(entry).state in INSIDE:
            sentence = journeys.told(entry).sentence
            assert "makes" not in sentence, sentence
            assert "so far" not in sentence, sentence
            seen += 1
    assert seen > 40


def goes_in_whole(simulator: Simulator, generation: Generation, entry: int, **values: object) -> bool:
    rerun = Rerun.of(simulator, generation)
    tried = rerun.with_settings(rerun.system.settings.model_copy(update=values)).run().trace
    return Journeys(tried).fate(entry).state is FateState.INJECTED


def test_the_figures_of_the_budget_s_advice_let_the_entry_in(simulators: dict[str, Simulator]) -> None:
    """All of them in the demo: a budget, and a limit of entries where that is in the way, too; one less is too few."""
    simulator, seen, capped = simulators[MAIN.name], 0, 0
    for generation in simulator.generations:
        trace: Trace = simulator.traces[generation]
        journeys = Journeys(trace)
        for entry in journeys.rows:
            fate = journeys.fate(entry)
            known = known_details(fate.details, trace, entry)
            wanted = {"max_tokens_budget": known.get("new_budget"), "max_entries": known.get("new_cap")}
            values = {name: round(value) for name, value in wanted.items() if isinstance(value, int | float)}
            if fate.state is not FateState.INJECTED and values:
                fix = journeys.told(entry).fix
                assert all(f"{value:,}" in fix for value in values.values()), fix
                assert goes_in_whole(simulator, generation, entry, **values), fix
                less = {name: value - 1 for name, value in values.items()}
                assert not goes_in_whole(simulator, generation, entry, **less), fix
                seen, capped = seen + 1, capped + ("max_entries" in values)
    assert seen > 10
    assert capped > 2
