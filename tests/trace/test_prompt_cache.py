"""What a prompt cache keeps: worked out by hand with a counter that counts characters."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorestudio.domain.chat import Message
from lorestudio.trace.model import EntryRef, PromptBlock, PromptPart, Trace, Turn
from lorestudio.trace.prompt_cache import (
    CacheMiss,
    CacheTurn,
    CauseKind,
    ChatPieces,
    PromptPiece,
    Stretch,
    cache_totals,
    cache_turn,
    prompt_pieces,
)
from tests.trace.examples import trace


@dataclass(frozen=True)
class Characters:
    name: str = "characters"
    exact: bool = True

    def count(self, text: str) -> int:
        return len(text)


COUNTER = Characters()
MESSAGES = tuple(Message(None, f"message {place}.") for place in range(8))  # ten characters each
MESSAGE = len("message 0.")
TITLES = ("Amber", "Brook", "Cliff")
KEYS = {title: ("World", f"{title}.md") for title in TITLES}


def chat(messages: tuple[Message, ...] = MESSAGES) -> ChatPieces:
    return ChatPieces(messages, COUNTER)


def block(position: int, depth: float, *texts: tuple[str, str], role: int = 0, tag: str = "") -> PromptBlock:
    """Entries with their texts, joined as placement joins them."""
    text, parts = "", []
    for title, content in texts:
        text += "\n\n" if text else ""
        parts.append(PromptPart(len(text), len(text) + len(content), TITLES.index(title)))
        text += content
    return PromptBlock(tag or f"deeplore_p{position}_d{depth}_r{role}", position, depth, role, text, tuple(parts))


def run(message: int, *blocks: PromptBlock) -> Trace:
    refs = {place: EntryRef(place, title, "World", f"{title}.md", 100, 10) for place, title in enumerate(TITLES)}
    return trace(turn=Turn(message, 0, 1), entries=refs, prompt=blocks)


def turn(before: Trace, after: Trace, told: ChatPieces | None = None) -> CacheTurn:
    shared = told or chat()
    return cache_turn(prompt_pieces(before, shared), prompt_pieces(after, shared), COUNTER)


def order(told: Trace) -> list[str]:
    found: list[str] = []
    for item in prompt_pieces(told, chat()):
        found += [item.title] if isinstance(item, PromptPiece) else [f"#{item.start}-{item.stop}"]
    return found


def test_the_order_of_a_prompt() -> None:
    told = run(6, block(0, 0, ("Cliff", "after")), block(1, 4, ("Brook", "deep")), block(2, 0, ("Amber", "before")))
    assert order(told) == ["Amber", "Cliff", "#0-2", "Brook", "#2-6"]


def test_before_the_main_prompt_the_last_tag_stands_first() -> None:
    before = [block(2, 0, (title, title), tag=tag) for title, tag in (("Amber", "a"), ("Brook", "b"))]
    after = [block(0, 0, (title, title), tag=tag) for title, tag in (("Amber", "a"), ("Brook", "b"))]
    assert order(run(0, *before)) == ["Brook", "Amber"]
    assert order(run(0, *after)) == ["Amber", "Brook"]


def test_at_one_depth_assistant_comes_first_and_system_last() -> None:
    told = run(
        2,
        block(1, 1, ("Amber", "system")),
        block(1, 1, ("Brook", "assistant"), role=2),
        block(1, 1, ("Cliff", "user"), role=1),
    )
    assert order(told) == ["#0-1", "Brook", "Cliff", "Amber", "#1-2"]


def test_a_depth_beyond_the_chat_is_its_beginning_and_a_broken_one_is_nowhere() -> None:
    assert order(run(2, block(1, 9, ("Amber", "deep")))) == ["Amber", "#0-2"]
    assert order(run(2, block(1, 1.5, ("Amber", "half")))) == ["#0-2"]
    assert order(run(2, block(1, 1001, ("Amber", "too deep")))) == ["#0-2"]


def test_outlets_are_not_part_of_it() -> None:
    assert order(run(2, block(-1, 0, ("Amber", "outlet")))) == ["#0-2"]


def test_hidden_messages_are_not_sent() -> None:
    messages = (*MESSAGES[:2], Message(None, "(secret)", is_system=True), *MESSAGES[3:])
    (stretch,) = prompt_pieces(run(4), chat(messages))
    assert isinstance(stretch, Stretch)
    assert stretch.tokens == 3 * MESSAGE


def test_without_lore_only_the_new_messages_are_read() -> None:
    found = turn(run(2), run(4))
    assert found == CacheTurn(tokens=4 * MESSAGE, kept=2 * MESSAGE, new=2 * MESSAGE, by_lore=0)
    assert found.missed == 2 * MESSAGE


def test_lore_that_stays_before_the_chat_costs_nothing() -> None:
    lore = block(2, 0, ("Amber", "amber text"))
    found = turn(run(2, lore), run(4, lore))
    assert (found.kept, found.new, found.by_lore) == (10 + 2 * MESSAGE, 2 * MESSAGE, 0)
    assert found.cause is None


def test_an_entry_that_enters_before_the_chat_costs_all_that_is_behind_it() -> None:
    found = turn(
        run(2, block(2, 0, ("Amber", "amber text"))), run(4, block(2, 0, ("Amber", "amber text"), ("Brook", "brook")))
    )
    assert found.kept == len("amber text")
    assert found.new == 2 * MESSAGE
    # its own text with the blank line before it, and the two messages that were there before
    assert found.by_lore == len("\n\nbrook") + 2 * MESSAGE
    assert found.cause == CacheMiss(CauseKind.ENTERED, "Brook", KEYS["Brook"], len("\n\nbrook"))


def test_an_entry_that_leaves() -> None:
    found = turn(run(2, block(2, 0, ("Amber", "amber text"))), run(4))
    assert (found.kept, found.new, found.by_lore) == (0, 2 * MESSAGE, 2 * MESSAGE)
    assert found.cause == CacheMiss(CauseKind.LEFT, "Amber", KEYS["Amber"], 10)


def test_a_shortened_entry_keeps_its_beginning() -> None:
    found = turn(run(2, block(2, 0, ("Amber", "amber text"))), run(2, block(2, 0, ("Amber", "amber"))))
    assert found.kept == len("amber")
    assert found.cause is not None
    assert found.cause.kind is CauseKind.CHANGED
    assert (found.new, found.by_lore) == (0, 2 * MESSAGE)


def test_entries_that_change_places() -> None:
    one, other = ("Amber", "amber"), ("Brook", "brook")
    found = turn(run(2, block(2, 0, one, other)), run(2, block(2, 0, other, one)))
    assert found.kept == 0
    assert found.cause is not None
    assert found.cause.kind is CauseKind.MOVED


def test_what_is_placed_at_a_depth_moves_with_the_chat_though_it_stays_the_same() -> None:
    lore = block(1, 2, ("Amber", "amber text"))
    found = turn(run(4, lore), run(6, lore))
    # before: #0 #1 [Amber] #2 #3; now: #0 #1 #2 #3 [Amber] #4 #5
    assert found.kept == 2 * MESSAGE
    assert found.new == 2 * MESSAGE
    assert found.by_lore == 10 + 2 * MESSAGE
    assert found.cause == CacheMiss(CauseKind.DEPTH, "Amber", KEYS["Amber"], 10, 2)


def test_the_first_of_several_differences_is_to_blame() -> None:
    found = turn(
        run(2, block(2, 0, ("Amber", "amber")), block(0, 0, ("Brook", "brook"))),
        run(2, block(2, 0, ("Cliff", "cliff")), block(0, 0, ("Brook", "other"))),
    )
    assert found.cause is not None
    assert (found.cause.kind, found.cause.title) == (CauseKind.ENTERED, "Cliff")


def test_an_edited_message_is_not_lores_doing() -> None:
    lore = block(1, 0, ("Amber", "amber"))
    edited = (MESSAGES[0], Message(None, "edited now"), *MESSAGES[2:])
    found = cache_turn(prompt_pieces(run(4, lore), chat()), prompt_pieces(run(4, lore), chat(edited)), COUNTER)
    assert found.kept == MESSAGE
    assert found.by_lore == 0
    assert found.new == found.missed
    assert found.cause == CacheMiss(CauseKind.CHAT, "#1")


def test_messages_that_went_first_made_room_for_newer_ones() -> None:
    found = said("#0 #1 #2", "#1 #2 #3")
    assert found.cause == CacheMiss(CauseKind.ROOM, "#0")
    assert (found.kept, found.by_lore) == (0, 0)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("#0 #1 #2", "#7 #8"),  # nothing of it is left: that is another chat
        ("#0 #1 #2", "#1 #0 #2"),  # it still is there
        ("#0 #1 #2", "#0 #2"),  # it did not stand first
    ],
)
def test_other_messages_than_before_made_no_room(before: str, after: str) -> None:
    found = said(before, after)
    assert found.cause is not None
    assert found.cause.kind is CauseKind.CHAT


def said(before: str, after: str) -> CacheTurn:
    """What a cache keeps of messages with these names."""
    one, other = (tuple(PromptPiece(f"says {name}", 10, name) for name in names.split()) for names in (before, after))
    return cache_turn(one, other, COUNTER)


def test_equal_messages_of_another_reading_of_the_chat_are_the_same() -> None:
    found = cache_turn(prompt_pieces(run(2), chat()), prompt_pieces(run(4), chat(tuple(MESSAGES))), COUNTER)
    assert found.kept == 2 * MESSAGE


def test_a_notebook_is_called_by_its_tag() -> None:
    note = PromptBlock("deeplore_notebook", 2, 0, 0, "notes", ())
    found = turn(run(2), run(2, note))
    assert found.cause == CacheMiss(CauseKind.ENTERED, "deeplore_notebook", None, 5)


def test_totals() -> None:
    lore = block(1, 2, ("Amber", "amber text"))
    other = block(1, 2, ("Brook", "brook text"))
    turns = [
        turn(run(4, lore), run(6, lore)),
        turn(run(4, other), run(6, other)),
        turn(run(2), run(4, block(2, 0, ("Cliff", "cliff")))),
        turn(run(2), run(4)),
    ]
    totals = cache_totals(turns)
    assert totals.turns == 4
    assert totals.missed == sum(each.missed for each in turns)
    assert totals.by_lore == 30 + 30 + len("cliff") + 20
    assert totals.lore_share == totals.by_lore / (totals.by_lore + 4 * 20)
    # both entries at the depth are one cause
    assert [(cause.kind, cause.turns, cause.tokens) for cause in totals.causes] == [
        (CauseKind.DEPTH, 2, 60),
        (CauseKind.ENTERED, 1, 25),
    ]


def test_no_turns_no_share() -> None:
    assert cache_totals(()).lore_share == 0


TEXT = st.sampled_from(("", "amber", "amber text", "brook"))
BLOCKS = st.lists(
    st.tuples(st.sampled_from((0, 1, 2)), st.integers(0, 5), st.sampled_from(TITLES), TEXT),
    max_size=3,
    unique_by=lambda item: item[:2],
)


@given(BLOCKS, BLOCKS, st.integers(0, 8), st.integers(0, 8))
def test_the_parts_always_add_up(one: list, other: list, before: int, after: int) -> None:
    made = [
        run(message, *(block(position, depth, (title, text)) for position, depth, title, text in blocks))
        for message, blocks in ((before, one), (after, other))
    ]
    found = turn(*made)
    assert found.tokens == found.kept + found.new + found.by_lore
    assert min(found.kept, found.new, found.by_lore) >= 0
    assert found.tokens == sum(item.tokens for item in prompt_pieces(made[1], chat()))
    assert turn(made[1], made[1]).missed == 0
