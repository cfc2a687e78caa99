"""Pages under one budget; figures from the rules (rules: context-window 16) or by plain reasoning."""

from __future__ import annotations

import json
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorestudio.domain.javascript import length
from lorestudio.domain.tokens import CHARS_3_35, CHARS_4, CharacterEstimate
from lorestudio.systems.contextwindow.mapping import (
    ContextWindow,
    KnownBook,
    LoreEntry,
    MappedVault,
    WindowTurn,
    window_to_json,
)
from lorestudio.systems.contextwindow.pages import (
    PageStrategy,
    Paging,
    Sharing,
    allocated,
    content_tokens,
    fit_pages,
    page_size,
    redistributed,
)


def everything_used(_place: int, limit: int) -> int:
    return limit


def shares(total: int, sizes: list[int], strategy: PageStrategy, weights: list[float] | None = None) -> tuple[int, ...]:
    return allocated(total, sizes, strategy, weights or [0] * len(sizes), everything_used)


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        (PageStrategy.PRIORITY_FILL, (30, 50, 20)),
        (PageStrategy.DYNAMIC_FILL, (30, 50, 20)),
        (PageStrategy.DYNAMIC_SIZE_FILL, (30, 30, 40)),
        (PageStrategy.EQUAL_SPLIT, (34, 33, 33)),
    ],
)
def test_the_strategies_on_pages_of_30_50_and_40(strategy: PageStrategy, expected: tuple[int, ...]) -> None:
    assert shares(100, [30, 50, 40], strategy) == expected


def test_weights_share_and_what_is_left_goes_to_the_first_pages() -> None:
    assert shares(10, [99, 99], PageStrategy.WEIGHTED_SPLIT, [1, 2]) == (4, 6)
    assert shares(10, [99] * 3, PageStrategy.WEIGHTED_SPLIT, [0, 1, 2]) == (1, 3, 6)  # also to a page of weight 0
    assert shares(10, [99, 99], PageStrategy.WEIGHTED_SPLIT, [0, 0]) == (5, 5)
    assert shares(10, [99, 99], PageStrategy.WEIGHTED_SPLIT, [-1, 3]) == (5, 5)


def test_what_nobody_uses_goes_by_need() -> None:
    assert redistributed([3, 6], [10, 10], 10) == (10, 9)
    assert redistributed([10, 5], [10, 5], 10) == (10, 5)


@pytest.mark.parametrize("strategy", list(PageStrategy))
def test_without_a_budget_nobody_gets_anything(strategy: PageStrategy) -> None:
    assert shares(0, [30, 50], strategy, [1, 1]) == shares(-5, [30, 50], strategy, [1, 1]) == (0, 0)


def test_what_a_page_does_not_use_is_handed_out_again() -> None:
    """Of 60 the first page has 40 and uses 30; the second, which wanted 50 and had 20, gets the other 10."""
    assert allocated(
        60, [40, 50], PageStrategy.DYNAMIC_FILL, [0, 0], lambda place, limit: limit - 10 * (place == 0)
    ) == (30, 30)
    kept = allocated(
        60, [40, 50], PageStrategy.DYNAMIC_FILL, [0, 0], lambda place, limit: limit - 10 * (place == 0), overcommit=True
    )
    assert kept == (40, 30)


@given(
    st.integers(-10, 300),
    st.lists(st.tuples(st.integers(0, 120), st.integers(0, 9)), min_size=1, max_size=6),
    st.sampled_from(list(PageStrategy)),
    st.integers(0, 20),
)
def test_shares_are_never_negative_and_hold_the_total(
    total: int, pages: list[tuple[int, int]], strategy: PageStrategy, idle: int
) -> None:
    sizes, weights = [size for size, _ in pages], [float(weight) for _, weight in pages]
    found = allocated(total, sizes, strategy, weights, lambda _place, limit: limit - idle)
    assert all(share >= 0 for share in found)
    assert sum(found) <= max(0, total)
    if strategy in {PageStrategy.EQUAL_SPLIT, PageStrategy.WEIGHTED_SPLIT}:
        assert sum(found) == max(0, total)
    else:
        assert all(share <= size for share, size in zip(found, sizes, strict=True))


def lore(**values: str) -> dict[str, LoreEntry]:
    return {key: LoreEntry(key, value) for key, value in values.items()}


PEOPLE = ContextWindow(lore(ann="Ann keeps the lamp alight.", bob="Bob is away at sea."))
PLACES = ContextWindow(lore(harbour="The harbour freezes over."), elements=("It is winter, and cold.",))


def taken(pages: dict[str, ContextWindow], sharing: Sharing, paging: Paging, text: str = "ann bob harbour") -> list:
    vaults = [MappedVault(name, window) for name, window in pages.items()]
    found = fit_pages(vaults, text, sharing, CHARS_4, paging)
    return [(page.name, page.budget, list(page.fitted.window.lore), page.is_whole) for page in found]


def test_every_page_is_fitted_to_its_own_share() -> None:
    """Lore of 7 and 5 tokens on the first page, 7 on the second with an element of 6, for which half is kept."""
    paging = Paging(PageStrategy.EQUAL_SPLIT)
    pages = {"people": PEOPLE, "places": PLACES}
    assert taken(pages, Sharing(28), paging) == [
        ("people", 14, ["ann", "bob"], False),
        ("places", 14, ["harbour"], False),
    ]
    assert taken(pages, Sharing(16), paging)[0] == ("people", 8, ["ann"], False)


def test_a_single_page_has_everything_and_is_not_measured() -> None:
    assert taken({"main": PEOPLE}, Sharing(12), Paging(PageStrategy.DYNAMIC_SIZE_FILL)) == [
        ("main", 12, ["ann", "bob"], False)
    ]


def test_a_page_without_a_share_is_left_whole() -> None:
    weights = {"places": 1.0}
    vaults = [MappedVault("people", PEOPLE), MappedVault("places", PLACES)]
    found = fit_pages(vaults, "", Sharing(10), CHARS_4, Paging(PageStrategy.WEIGHTED_SPLIT, weights))
    assert [(page.budget, page.is_whole) for page in found] == [(0, True), (10, False)]
    assert found[0].tokens == content_tokens(PEOPLE, CHARS_4)


def test_empty_pages_reserve_a_share_unless_told_otherwise() -> None:
    pages = {"people": PEOPLE, "empty": ContextWindow()}
    assert [row[1] for row in taken(pages, Sharing(20), Paging(PageStrategy.EQUAL_SPLIT))] == [10, 10]
    without = Paging(PageStrategy.EQUAL_SPLIT, reserve_empty=False)
    assert [row[1] for row in taken(pages, Sharing(20), without)] == [20, 0]


def test_the_size_of_a_page_counts_names_and_punctuation() -> None:
    assert page_size(PEOPLE, CHARS_4) > content_tokens(PEOPLE, CHARS_4)
    assert page_size(ContextWindow(), CHARS_4) > 0


@given(st.lists(st.text(st.characters()), max_size=4), st.text('\ud83d\x00\x7f\u2028\n"/\\é🔥'))
def test_the_size_of_a_page_is_that_of_its_document_as_python_lays_it_out(elements: list[str], text: str) -> None:
    turns = tuple(WindowTurn("user", text, uuid) for uuid in ("", text))
    for window in (ContextWindow(), ContextWindow(PEOPLE.lore, (*elements, text), turns)):
        document = json.dumps(window_to_json(window), indent=4, ensure_ascii=False)
        assert page_size(window, CharacterEstimate("each", 1)) == length(document)


def test_lore_keeps_its_room_in_the_dynamic_strategies() -> None:
    """The trial has no text and so takes no lore; a page of lore alone gives nothing away for it."""
    pages = {"people": PEOPLE, "places": PLACES}
    budget = page_size(PEOPLE, CHARS_4) + 20
    for strategy in (PageStrategy.DYNAMIC_FILL, PageStrategy.DYNAMIC_SIZE_FILL):
        assert sum(row[1] for row in taken(pages, Sharing(budget), Paging(strategy))) <= budget
    assert taken(pages, Sharing(budget), Paging(PageStrategy.DYNAMIC_FILL))[0][1] == page_size(PEOPLE, CHARS_4)


def test_the_original_forgets_fill_half_with_several_pages() -> None:
    """Half of 14 is room for one of the two; all of it for both."""
    history = (WindowTurn("user", "One two three.", "1"),)
    window = ContextWindow(PEOPLE.lore, history=history)
    pages = {"people": window, "places": ContextWindow()}
    paging = Paging(PageStrategy.EQUAL_SPLIT)
    sharing = Sharing(28, fill=True, fill_and_split=True)
    assert taken(pages, sharing, paging)[0][2] == ["ann"]
    original = Sharing(28, fill=True, fill_and_split=True, source_compatible=True)
    assert taken(pages, original, paging)[0][2] == ["ann", "bob"]


def test_a_known_book_is_measured_with_all_that_is_beside_it() -> None:
    book = {"bell": LoreEntry("bell", "It rings at four.")}
    known = KnownBook(book)
    for _ in range(2):
        for counter, elements, history in product(
            (CHARS_4, CHARS_3_35), ((), ("Wren sails home.",)), ((), (WindowTurn("user", "Ahoy, whoever is there!"),))
        ):
            expected = page_size(ContextWindow(book, elements, history), counter)
            assert page_size(ContextWindow(known, elements, history), counter) == expected
