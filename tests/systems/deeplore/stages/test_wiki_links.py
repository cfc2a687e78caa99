"""Wiki links of matched entries (rules: deeplore 4.2 step 2)."""

from __future__ import annotations

import pytest

from lorestudio.systems.deeplore.stages.candidates import wiki_links_stage
from tests.systems.worlds import Draft, World, entry, run_stage, world


def linking(title: str, *titles: str, **fields: object) -> Draft:
    return entry(title, resolved_links=titles, **fields)


TABLE = [
    pytest.param(
        world(linking("A", "C", "B"), entry("B"), entry("C")), "A",
        ["added C: wiki_link source=A source_id=0", "added B: wiki_link source=A source_id=0", "left: A, C, B"],
        id="in the order of the links",
    ),
    pytest.param(
        world(linking("A", "C"), linking("B", "D"), entry("C"), entry("D")), "B, A",
        ["added D: wiki_link source=B source_id=1", "added C: wiki_link source=A source_id=0", "left: B, A, D, C"],
        id="in the order of the matched entries",
    ),
    pytest.param(
        world(linking("A", "B"), linking("B", "C"), entry("C")), "A",
        ["added B: wiki_link source=A source_id=0", "left: A, B"],
        id="one hop",
    ),
    pytest.param(world(linking("A", "B"), entry("B")), "A, B", ["left: A, B"], id="already matched"),
    pytest.param(
        world(linking("A", "C"), linking("B", "C"), entry("C")), "A, B",
        ["added C: wiki_link source=A source_id=0", "left: A, B, C"],
        id="linked twice: the first link counts",
    ),
    pytest.param(world(linking("A", "K"), entry("K", constant=True)), "A", ["left: A"], id="never a constant"),
    pytest.param(world(linking("A", "G"), entry("G", guide=True)), "A", ["left: A"], id="never a guide"),
    pytest.param(world(linking("A", "b"), entry("B")), "A", ["left: A"], id="titles are exact"),
    pytest.param(world(linking("A", "A")), "A", ["left: A"], id="to itself"),
    pytest.param(
        world(linking("K", "B", constant=True), entry("B")), "K",
        ["added B: wiki_link source=K source_id=0", "left: K, B"],
        id="a matched constant links too",
    ),
    pytest.param(
        world(linking("A", "B"), entry("B", probability=0, cooldown=3, warmup=9), cooldown={"V:B": 3}, draws=[]), "A",
        ["added B: wiki_link source=A source_id=0", "left: A, B"],
        id="no probability, cooldown or warmup",
    ),
    pytest.param(
        world(linking("A", "B"), entry("B"), entry("B", vault="W")), "A",
        ["added B#2: wiki_link source=A source_id=0", "left: A, B#2"],
        id="of equal titles the last entry",
    ),
    pytest.param(world(entry("A")), "", ["left: -"], id="nothing matched"),
]  # fmt: skip


@pytest.mark.parametrize(("there", "before", "expected"), TABLE)
def test_links(there: World, before: str, expected: list[str]) -> None:
    ran = run_stage(wiki_links_stage, there, before)
    assert ran.table == expected
    assert ran.state.keyword_matches is not None
    assert [one.title for one in ran.state.keyword_matches] == list(filter(None, before.split(", ")))


def test_the_label_names_the_source() -> None:
    ran = run_stage(wiki_links_stage, world(linking("A", "B"), entry("B")), "A")
    assert ran.labels == {"A": "key", "B": "(wiki-linked from: A)"}


def test_a_linked_entry_takes_over_the_label_of_a_refused_namesake() -> None:
    """Labels are kept by title (rules: deeplore 3.11)."""
    there = world(linking("A", "B"), entry("B"))
    ran = run_stage(wiki_links_stage, there, "A", labels={"A": "x"})
    assert ran.labels["B"] == "(wiki-linked from: A)"
