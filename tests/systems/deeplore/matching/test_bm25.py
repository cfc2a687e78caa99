"""BM25 scores (rules: deeplore 3.8, 12.6)."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lorestudio.systems.deeplore.matching.bm25 import TOP, EntryBM25, tokenize
from tests.examples import examples
from tests.systems.worlds import Draft, entries_of, entry


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        (
            "King's C3PO x a1 naïve cafe\u0301 हिन्दी 魔法使い 𝐀 don't_stop 3.14 Ⅻ ²x İstanbul",
            ["king", "c3po", "a1", "naïve", "café", "魔法使い", "𝐀", "don", "stop", "14", "²x", "stanbul"],
        ),
        ("", []),
        ("a b c", []),
        ("x_y ab_cd", ["ab", "cd"]),
        ("The the THE", ["the", "the", "the"]),
    ],
)
def test_tokens(text: str, tokens: list[str]) -> None:
    assert tokenize(text) == tokens


LORE = [
    entry("Dragon Lore", "wyrm", content="The dragon sleeps under mountain gold and fire"),
    entry("Sword Smith", "forge", content="A smith who makes swords"),
    entry("Guide", content="dragon dragon style", guide=True),
    entry("Const", content="dragon", constant=True),
    entry("Cafe", content="nothing here at all"),
]


def search(drafts: list[Draft], query: str, threshold: float = 0.1) -> list[tuple[str, float]]:
    return [(hit.entry.title, hit.score) for hit in EntryBM25(entries_of(drafts)).search(query, threshold)]


def test_the_verified_scores() -> None:
    """Bit for bit: idf from the fdlibm logarithm, added in query order."""
    assert search(LORE, "U: the dragon and the dragon\nA: sword", 0.5) == [
        ("Dragon Lore", 2.573294523022375),
        ("Sword Smith", 1.2682188161664614),
        ("Guide", 0.85531592455529),
        ("Const", 0.7643471159534438),
    ]


def test_repeating_a_query_term_changes_nothing() -> None:
    assert search(LORE, "dragon") == search(LORE, "dragon dragon, Dragon!")


def test_title_and_keys_are_part_of_the_document() -> None:
    assert [title for title, _ in search(LORE, "cafe forge")] == ["Cafe", "Sword Smith"]


def test_ties_stand_in_order_of_discovery() -> None:
    drafts = [entry("T1", content="bb"), entry("T2", content="aa"), entry("T3", content="aa")]
    assert [title for title, _ in search(drafts, "aa bb")] == ["T1", "T2", "T3"]
    equal = [entry(f"E{number}", content=word) for number, word in enumerate(["bb", "aa", "cc"])]
    assert [title for title, _ in search(equal, "aa bb cc")] == ["E1", "E0", "E2"]


def test_the_best_twenty() -> None:
    drafts = [entry(f"T{number:02}", content="gold " * (number + 1) + "x y z") for number in range(30)]
    drafts += [entry(f"F{number:02}", content="silver") for number in range(70)]
    found = search(drafts, "gold", 0.01)
    assert len(found) == TOP
    assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)


def test_two_notes_of_one_file_are_the_later_one_but_both_count() -> None:
    """Document id is vault and file name: N, df and the average length count both."""
    twice = [
        entry("A", filename="x.md", content="gold gold"), entry("B", filename="x.md", content="gold"),
        entry("C", content="silver"),
    ]  # fmt: skip
    ((title, score),) = search(twice, "gold")
    assert title == "B"
    idf = math.log((3 - 2 + 0.5) / (2 + 0.5) + 1)
    average = (2 + 1 + 1) / 3  # one-letter titles are no tokens
    assert score == pytest.approx(idf * 2.5 / (1 + 1.5 * (0.25 + 0.75 * 1 / average)), abs=1e-12)
    apart = [twice[0] | {"vault": "W"}, *twice[1:]]
    assert {title for title, _ in search(apart, "gold")} == {"A", "B"}


def test_without_a_file_name_the_title_names_the_document() -> None:
    twice = [entry("A", filename="", content="gold"), entry("A", filename="", content="gold gold"), entry("C")]
    assert len(search(twice, "gold")) == 1


@pytest.mark.parametrize("query", ["", "absent words", "x"])
def test_nothing_to_find(query: str) -> None:
    assert search(LORE, query) == []
    assert search([], query) == []


def test_a_threshold_is_inclusive() -> None:
    assert search(LORE, "dragon gold", 1.5) == [hit for hit in search(LORE, "dragon gold") if hit[1] >= 1.5]
    best = search(LORE, "dragon gold")[0][1]
    assert len(search(LORE, "dragon gold", best)) == 1


def test_what_stands_in_lines_counts_as_on_one_line() -> None:
    """Each word once, in the order in which the lines name them, the last letter of a line lower-cased as such."""
    drafts = [*LORE, entry("Odysseus", "ὈΔΥΣΣΕΎΣ")]
    on_one = search(drafts, "U: fire A: dragon ὈΔΥΣΣΕΎΣ fire B: sword")
    assert {"Odysseus", "Dragon Lore", "Sword Smith"} < {title for title, _ in on_one}
    assert search(drafts, "U: fire\nA: dragon ὈΔΥΣΣΕΎΣ\nfire\n\nB: sword") == on_one


def test_the_terms_of_a_score() -> None:
    (best, *_) = EntryBM25(entries_of(LORE)).search("sword fire dragon fire", 0.1)
    assert [(term.term, term.frequency) for term in best.terms] == [("fire", 1), ("dragon", 2)]
    total = 0.0
    for term in best.terms:
        total += term.score
    assert total == best.score


WORDS = ["gold", "sea", "lamp", "tide", "wyrm", "forge", "ash", "oak"]
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)


@settings(max_examples=examples(200), deadline=None)
@given(
    notes=st.lists(st.tuples(TEXTS, st.integers(0, 40)), min_size=1, max_size=60),
    queries=st.lists(TEXTS, min_size=1, max_size=6),
    threshold=st.sampled_from([0.01, 0.5, 1.5]),
)
def test_a_query_finds_what_adding_up_every_document_finds(
    notes: list[tuple[str, int]], queries: list[str], threshold: float
) -> None:
    """One query after the other, which go on from each other; by the formula, document by document, in query order."""
    entries = entries_of([entry(f"N{n}", filename=f"{name}.md", content=text) for n, (text, name) in enumerate(notes)])
    index = EntryBM25(entries)
    documents = {each.filename: at for at, each in enumerate(entries)}
    for query in queries:
        terms = [term for term in dict.fromkeys(tokenize(query)) if index.document_count(term)]
        scores: dict[int, float] = {}
        for term in terms:
            for each in entries:
                place = documents[each.filename]
                if term in index.doc_freqs[each.id]:
                    scores.setdefault(place, 0.0)
            for place in scores:
                if term in index.doc_freqs[place]:
                    figures = index.figures(entries[place], term)
                    assert figures is not None
                    scores[place] += figures.score
        best = sorted((place for place in scores if scores[place] >= threshold), key=lambda place: -scores[place])
        found = index.search(query, threshold)
        assert [(hit.entry.id, hit.score) for hit in found] == [(place, scores[place]) for place in best[:TOP]]


def test_what_fell_out_of_the_window_counts_no_more() -> None:
    notes = [entry(f"S{n}", content="sea sea sea") for n in range(30)]
    notes += [*(entry(f"G{n}", content="gold") for n in range(30)), entry("Wood", content="ash"), entry("Oak")]
    index = EntryBM25(entries_of(notes))
    index.search("sea gold ash oak", 0.1)
    assert [hit.entry.title for hit in index.search("gold ash oak", 0.1)][2:] == [f"G{n}" for n in range(TOP - 2)]
