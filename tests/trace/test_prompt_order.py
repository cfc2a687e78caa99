"""The host's order of prompts (rules: sillytavern 5.7), worked out by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorestudio.trace.model import PromptBlock
from lorestudio.trace.prompt import DEEPEST, PromptOrder, prompt_order


def block(tag: str, position: int, depth: float = 4, role: int = 0) -> PromptBlock:
    return PromptBlock(tag, position, depth, role, tag)


def read(order: PromptOrder[PromptBlock]) -> list[str]:
    """The tags of the chat in the order in which the model reads them."""
    return [prompt.tag for place in order.in_chat for prompt in place.prompts]


def test_before_the_main_prompt_the_last_tag_comes_first_and_after_it_the_first() -> None:
    order = prompt_order([block(f"{place}{tag}", place) for place in (2, 0) for tag in "bca"])
    assert [prompt.tag for prompt in order.before] == ["2c", "2b", "2a"]
    assert [prompt.tag for prompt in order.after] == ["0a", "0b", "0c"]


def test_the_deepest_is_read_first_then_by_role_then_by_tag() -> None:
    order = prompt_order(
        [
            block("system", 1, 2, 0),
            block("user", 1, 2, 1),
            block("assistant b", 1, 2, 2),
            block("assistant a", 1, 2, 2),
            block("newest", 1, 0, 2),
            block("oldest", 1, 7, 0),
        ]
    )
    assert read(order) == ["oldest", "assistant a", "assistant b", "user", "system", "newest"]
    assert [len(place.prompts) for place in order.in_chat] == [1, 2, 1, 1, 1]
    assert [place.older(5) for place in order.in_chat] == [0, 3, 3, 3, 5]


@pytest.mark.parametrize("depth", [-1, 0.5, math.inf, math.nan, DEEPEST + 1, 10_000])
def test_a_depth_that_the_host_does_not_ask_for_is_nowhere(depth: float) -> None:
    order = prompt_order([block("lost", 1, depth), block("found", 1, DEEPEST)])
    assert read(order) == ["found"]
    assert [prompt.tag for prompt in order.nowhere] == ["lost"]


@pytest.mark.parametrize(("position", "role"), [(-1, 0), (7, 0), (1, 3), (1, -1)])
def test_an_unknown_place_or_role_is_nowhere(position: int, role: int) -> None:
    lost = block("lost", position, 0, role)
    assert prompt_order([lost]) == PromptOrder((), (), (), (lost,))


@given(
    st.lists(
        st.builds(
            block,
            st.text("abc", max_size=3),
            st.integers(-2, 3),
            st.sampled_from([-1, 0, 1, 2.5, DEEPEST, DEEPEST + 1]),
            st.integers(-1, 3),
        )
    )
)
def test_each_prompt_has_one_place(prompts: list[PromptBlock]) -> None:
    order = prompt_order(prompts)
    inside = [prompt for place in order.in_chat for prompt in place.prompts]
    found = [*order.before, *order.after, *inside, *order.nowhere]
    assert sorted(map(id, found)) == sorted(map(id, prompts))
