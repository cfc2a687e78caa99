"""Matching the titles that a model names (rules: deeplore 4.7 "Result matching")."""

from __future__ import annotations

import pytest

from lorestudio.systems.deeplore.ai.replies import SIMILAR_ENOUGH, Pick, above, match_titles, nearest
from tests.systems.worlds import Draft, entries_of, entry


@pytest.mark.parametrize(
    ("title", "candidates", "expected"),
    [
        ("Dragn", ["Dragon"], ("Dragon", 0.6667)),
        ("The Castle", ["Castle"], ("Castle", 0.7143)),
        (" Eris ", ["Eris"], ("Eris", 0.75)),
        ("Kael", ["Kaeli", "Kale"], ("Kaeli", 0.8571)),
        ("Eris Vale", ["Eris"], None),
        ("Valen", ["Valen Ashwick"], None),
        ("aaaa", ["aa"], ("aa", 1.0)),
        ("Dark Council", ["The Dark Council"], ("The Dark Council", 0.8462)),
        ("Eris", ["Iris"], ("Iris", 0.6667)),
        ("kaeli", ["KAELI", "Kaeli"], ("KAELI", 1.0)),  # the first of the best
        ("abc", ["abd", "abc"], ("abc", 1.0)),
        ("abcdef", ["abcdxy"], ("abcdxy", 0.6)),  # 3 of 5 and 5 pairs: just enough
        ("abcde", ["abcxy"], None),
        ("A", ["A"], None),  # one unit has no pair
        ("", [""], None),
        ("😀", ["😀"], ("😀", 1.0)),  # two code units
        ("Dragon", [], None),
    ],
)
def test_similar_titles(title: str, candidates: list[str], expected: tuple[str, float] | None) -> None:
    """The verified rows (rules: deeplore 4.7; deeplore-tools 1.12), and the limits between them."""
    found = nearest(title, candidates)
    if found is not None and found[1] < SIMILAR_ENOUGH:
        found = None
    assert (found and (found[0], round(found[1], 4))) == expected


def pick(title: str, confidence: str = "high", reason: str = "r") -> Pick:
    return Pick(title, confidence, reason)


def matched(picks: list[Pick], *drafts: Draft) -> list[str]:
    """Lines `id title confidence reason`, a fuzzy match with `~`; then those unknown."""
    found = match_titles(picks, entries_of(drafts))
    return [
        f"{one.entry.id} {one.entry.title}{'' if one.similarity == 1 else '~'} {one.confidence} {one.reason}"
        for one in found.selected
    ] + [f"unknown {title}" for title in found.unknown]


CASTLE, DRAGON, SWORD = entry("Castle"), entry("Dragon"), entry("Sword")


@pytest.mark.parametrize(
    ("picks", "drafts", "expected"),
    [
        pytest.param(
            [pick("SWORD"), pick("castle")], (CASTLE, DRAGON, SWORD), ["0 Castle high r", "2 Sword high r"],
            id="exact titles in candidate order, whatever their case",
        ),
        pytest.param(
            [pick("Sword", "low"), pick("Castle", "medium"), pick("Dragon")], (CASTLE, DRAGON, SWORD),
            ["1 Dragon high r", "0 Castle medium r", "2 Sword low r"],
            id="surest first",
        ),
        pytest.param(
            [pick("Castle", "high", "first"), pick("castle", "low", "second")], (CASTLE,), ["0 Castle low second"],
            id="named twice: the last word counts",
        ),
        pytest.param(
            [pick("Castle")], (CASTLE, entry("castle", vault="W")), ["0 Castle high r", "1 castle high r"],
            id="every candidate of that title",
        ),
        pytest.param(
            [pick("The Castle"), pick("Dragon")], (CASTLE, DRAGON), ["1 Dragon high r", "0 Castle~ high r"],
            id="similar titles come behind the exact ones",
        ),
        pytest.param(
            [pick("The Castle")], (CASTLE, entry("castle", vault="W")), ["1 castle~ high r"],
            id="of a similar title the last candidate only",
        ),
        pytest.param(
            [pick("Castles"), pick("The Castle")], (CASTLE,), ["0 Castle~ high r"],
            id="a title is used once",
        ),
        pytest.param([pick("Castle"), pick("Castles")], (CASTLE,), ["0 Castle high r"], id="not even by similarity"),
        pytest.param([pick("Tavern"), pick("Castle")], (CASTLE,), ["0 Castle high r", "unknown Tavern"], id="unknown"),
        pytest.param([pick("X"), pick("x")], (CASTLE,), ["unknown x"], id="one unknown title whatever its case"),
        pytest.param([pick("Castle", reason="")], (CASTLE,), ["0 Castle high AI search"], id="a blank reason"),
        pytest.param(
            [pick("Castles", reason="")], (CASTLE,), ["0 Castle~ high AI search (fuzzy)"],
            id="a blank reason of a similar title",
        ),
        pytest.param([], (CASTLE,), [], id="nothing named"),
        pytest.param([pick("Castle")], (), ["unknown Castle"], id="no candidates"),
    ],
)  # fmt: skip
def test_matching(picks: list[Pick], drafts: tuple[Draft, ...], expected: list[str]) -> None:
    assert matched(picks, *drafts) == expected


def test_what_each_title_was_found_to_mean() -> None:
    entries = entries_of([CASTLE, DRAGON])
    fits = match_titles([pick("Castles"), pick("The Castle"), pick("DRAGON"), pick("Drag"), pick("?")], entries).fits
    assert {title: ([one.title for one in fit.entries], fit.nearest, fit.exact, fit.taken)
            for title, fit in fits.items()} == {
        "castles": (["Castle"], "Castle", False, False),
        "the castle": (["Castle"], "Castle", False, True),
        "dragon": (["Dragon"], "Dragon", True, False),
        "drag": (["Dragon"], "Dragon", False, True),
        "?": ([], "", False, False),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("threshold", "passing"),
    [
        ("low", "high medium low"), ("", "high medium low"), ("medium", "high medium"), ("high", "high"),
        ("other", "high medium"),
    ],
)  # fmt: skip
def test_thresholds(threshold: str, passing: str) -> None:
    assert [word for word in ("high", "medium", "low") if above(threshold, word)] == passing.split()
