"""Several lorebooks: which is used, and in what order their entries are offered (rules: sillytavern 5.4, 5.6)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lorestudio.exchange.lorebooks.entry import BookEntry
from lorestudio.exchange.lorebooks.reading import BookRole, InsertionStrategy, Lorebook, in_order, in_play

GLOBAL, CHARACTER, CHAT, PERSONA = BookRole.GLOBAL, BookRole.CHARACTER, BookRole.CHAT, BookRole.PERSONA


def book(name: str, role: BookRole, *orders: float) -> Lorebook:
    return Lorebook(name, tuple(BookEntry(str(place), order=order) for place, order in enumerate(orders)), role)


def orders(books: list[Lorebook], strategy: InsertionStrategy) -> list[str]:
    return [f"{entry.world}{entry.order:g}" for entry in in_order(books, strategy)]


def test_the_strategies() -> None:
    books = [book("g", GLOBAL, 10, 30), book("c", CHARACTER, 20, 40)]
    assert orders(books, InsertionStrategy.EVENLY) == ["c40", "g30", "c20", "g10"]
    assert orders(books, InsertionStrategy.CHARACTER_FIRST) == ["c40", "c20", "g30", "g10"]
    assert orders(books, InsertionStrategy.GLOBAL_FIRST) == ["g30", "g10", "c40", "c20"]


def test_the_chat_goes_first_and_the_persona_behind_it_whatever_the_strategy() -> None:
    books = [book("g", GLOBAL, 99), book("p", PERSONA, 5), book("c", CHARACTER, 98), book("t", CHAT, 1, 2)]
    for strategy in InsertionStrategy:
        assert orders(books, strategy)[:3] == ["t2", "t1", "p5"]


def test_of_the_same_order_global_entries_come_first_when_mixed() -> None:
    assert orders([book("c", CHARACTER, 7), book("g", GLOBAL, 7)], InsertionStrategy.EVENLY) == ["g7", "c7"]


def test_a_book_listed_twice_is_used_once_by_precedence() -> None:
    books = [book("a", CHARACTER), book("a", CHAT), book("b", CHARACTER), book("b", PERSONA), book("a", GLOBAL)]
    playing = in_play(books)
    assert [(each.name, each.role) for each in playing.used] == [("b", PERSONA), ("a", GLOBAL)]
    assert [(one.role, other.role) for one, other in playing.dropped] == [
        (CHARACTER, GLOBAL), (CHAT, GLOBAL), (CHARACTER, PERSONA),
    ]  # fmt: skip


def test_entries_have_uids_of_their_own() -> None:
    twin = Lorebook("a", (BookEntry("1"), BookEntry("1")), GLOBAL)
    assert [entry.uid for entry in in_order([twin, book("b", GLOBAL, 1)], InsertionStrategy.EVENLY)] == [
        "a.1",
        "a.1 (2)",
        "b.0",
    ]


BOOKS = st.lists(
    st.builds(
        lambda number, role, values: book(f"book{number}", role, *values),
        st.integers(0, 3),
        st.sampled_from(BookRole),
        st.lists(st.integers(0, 3), max_size=4),
    ),
    max_size=5,
)


@given(BOOKS, st.sampled_from(InsertionStrategy))
def test_the_order_is_a_stable_merge(books: list[Lorebook], strategy: InsertionStrategy) -> None:
    used = in_play(books).used
    made = in_order(used, strategy)
    assert len(made) == sum(len(each.entries) for each in used)
    assert len({entry.uid for entry in made}) == len(made)
    roles = {each.name: each.role for each in used}
    mixed = {GLOBAL, CHARACTER} if strategy is InsertionStrategy.EVENLY else {GLOBAL}
    for part in ({GLOBAL}, {CHARACTER}, {CHAT}, {PERSONA}, mixed):
        inside = [entry.order for entry in made if roles[entry.world] in part]
        assert inside == sorted(inside, reverse=True)
    for each in used:  # entries of the same order keep the order of their book
        places = [(-entry.order, int(entry.uid.rpartition(".")[2])) for entry in made if entry.world == each.name]
        assert places == sorted(places)
    firsts = [roles[entry.world] for entry in made]
    rank = {CHAT: 0, PERSONA: 1, GLOBAL: 2, CHARACTER: 2}
    if strategy is not InsertionStrategy.EVENLY:
        rank[CHARACTER if strategy is InsertionStrategy.GLOBAL_FIRST else GLOBAL] = 3
    assert [rank[role] for role in firsts] == sorted(rank[role] for role in firsts)


@given(BOOKS)
def test_no_book_counts_twice_and_none_is_forgotten(books: list[Lorebook]) -> None:
    playing = in_play(books)
    names = [each.name for each in playing.used]
    assert len(set(names)) == len(names)
    assert set(names) == {each.name for each in books}
    assert len(playing.used) + len(playing.dropped) == len(books)
