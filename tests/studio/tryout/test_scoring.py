"""A score's tree holds the very numbers of the run."""

from __future__ import annotations

import asyncio
import math
from pathlib import Path

import pytest

from lorestudio.domain.chat import Generation
from lorestudio.domain.javascript import added
from lorestudio.domain.records import replace
from lorestudio.settings.behaviour import Behaviour
from lorestudio.settings.deeplore import sanitise
from lorestudio.studio.project.project import demo_project
from lorestudio.studio.project.settings import Mode, with_mode
from lorestudio.studio.replay.rerun import Rerun
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.trace.scores import Bm25Figures, ScoreNode, score_tree, tree_text
from tests.studio.report.worlds import replayed, secret_world


@pytest.fixture(scope="module")
def fuzzy() -> Simulator:
    project = demo_project()
    settings = project.settings.model_copy(
        update={"fuzzy_search_enabled": True, "fuzzy_search_min_score": 0.3, "keyword_occurrence_weighting": True}
    )
    simulator = Simulator(replace(project, settings=settings))
    asyncio.run(simulator.generate(simulator.generations[4]))
    return simulator


def figures_of(simulator: Simulator, generation: Generation, entry: int) -> Bm25Figures | None:
    run = Rerun.of(simulator, generation)
    return run.system.explain_score(run.moment, run.state, run.before, entry)


def node(nodes: tuple[ScoreNode, ...], title: str) -> ScoreNode:
    return next(each for each in nodes if each.title == title)


def test_the_figures_are_those_of_the_run(fuzzy: Simulator) -> None:
    generation = fuzzy.generations[4]
    record = fuzzy.traces[generation].stage("BM25")
    assert record is not None
    scores = record.details["scores"]
    assert scores
    for entry, score in scores:
        figures = figures_of(fuzzy, generation, entry)
        assert figures is not None
        assert figures.score == score
        assert added(term.score for term in figures.terms) == figures.score
        assert figures.weight == pytest.approx(1 - 0.75 + 0.75 * figures.words / figures.average)
        for term in figures.terms:
            idf = math.log(1 + (figures.documents - term.documents_with + 0.5) / (term.documents_with + 0.5))
            assert term.idf == pytest.approx(idf)
            tf = term.frequency
            assert term.score == pytest.approx(idf * tf * 2.5 / (tf + 1.5 * figures.weight))


def test_an_entry_below_the_threshold_has_figures_too(fuzzy: Simulator) -> None:
    generation = fuzzy.generations[4]
    record = fuzzy.traces[generation].stage("BM25")
    assert record is not None
    best = {entry for entry, _score in record.details["scores"]}
    others = [figures_of(fuzzy, generation, entry.id) for entry in fuzzy.project.index.entries if entry.id not in best]
    assert all(each is not None for each in others)
    worst = min(score for _entry, score in record.details["scores"])
    assert all(each.score <= worst or each.score < each.threshold for each in others if each is not None)


def test_the_tree_says_where_a_score_comes_from(fuzzy: Simulator) -> None:
    generation = fuzzy.generations[4]
    trace = fuzzy.traces[generation]
    entry = next(each.entry for record in trace.stages for each in record.verdicts if each.reason == "fuzzy")
    figures = figures_of(fuzzy, generation, entry)
    assert figures is not None
    bm25 = node(score_tree(trace, entry, figures), "BM25")
    assert bm25.value == f"{figures.score:.4f}"
    total, norm = bm25.details
    assert [each.value for each in total.details] == sorted(
        (f"{each.score:.4f}" for each in figures.terms), reverse=True
    )
    assert norm.value == f"{figures.weight:.4f}"
    assert {each.title for each in total.details[0].details} == {"tf", "idf"}
    without = node(score_tree(trace, entry), "BM25")
    assert len(without.details) == len(figures.terms)  # the run keeps the words of those that it let in


def test_orders_say_what_decided_between_neighbours(fuzzy: Simulator) -> None:
    trace = fuzzy.traces[fuzzy.generations[4]]
    record = trace.stage("requires and excludes")
    assert record is not None
    assert record.details["order_by"] == ["priority", "title"]
    assert [row[0] for row in record.details["order"]] == list(record.left)
    counted = {row[0]: row[1] for row in record.details["order"]}
    assert list(counted.values()) == sorted(counted.values())
    pinned = next(each.entry for other in trace.stages for each in other.verdicts if each.reason.startswith("pin"))
    assert counted[pinned] == 10  # whatever its note says (rules: deeplore 5.1)
    for place, entry in enumerate(record.left):
        priority = node(score_tree(trace, entry), "Priority")
        order = node(priority.details, "requires and excludes")
        assert order.value == f"{place + 1} of {len(record.left)}"
        for neighbour in order.details:
            assert neighbour.entry is not None
            mine, theirs = counted[entry], counted[neighbour.entry]
            if mine == theirs:
                assert "title decides" in neighbour.description
            else:
                assert neighbour.description == f"priority {mine:g} against {theirs:g}"
    matched = trace.stage("match order")
    assert matched is not None
    assert matched.details["order_by"] == ["priority", "occurrences", "title"]


def test_confidence_and_its_switch(tmp_path: Path) -> None:
    project, answers = secret_world(tmp_path)
    project = replace(project, behaviour=Behaviour(confidence_order="fixed"))
    simulator = replayed(project, answers)
    trace = next(each for each in simulator.traces.values() if not each.facts.get("ai_error") and each.ai_calls)
    chosen = next(each.entry for record in trace.stages for each in record.verdicts if each.reason == "ai_pick")
    confidence = node(score_tree(trace, chosen), "AI confidence")
    assert confidence.value == "high"
    assert any(each.title == "the AI's reason" for each in confidence.details)
    record = trace.stage("priority order")
    assert record is not None
    assert record.details["order_by"] == ["confidence", "priority", "title"]
    passed = next(each.entry for record in trace.stages for each in record.verdicts if each.reason == "ai_not_selected")
    assert node(score_tree(trace, passed), "AI confidence").description == "offered to the AI, which did not name it"


def test_a_run_without_words_has_no_score(fuzzy: Simulator) -> None:
    plain = replayed(with_mode(replace(demo_project(), settings=sanitise({"enabled": True}).settings), Mode.KEYWORDS))
    generation = plain.generations[0]
    assert figures_of(plain, generation, 0) is None
    assert "BM25" not in [each.title for each in score_tree(plain.traces[generation], 0)]


def test_the_tree_as_text(fuzzy: Simulator) -> None:
    trace = fuzzy.traces[fuzzy.generations[4]]
    text = tree_text(
        (ScoreNode("a", "1", "why", (ScoreNode("b", "2"), ScoreNode("c", details=(ScoreNode("d", "", "x"),)))),)
    )
    assert text == "a: 1 (why)\n  b: 2\n  c\n    d (x)\n"
    assert tree_text(score_tree(trace, trace.injections[0].entry)).startswith("Match: ")
