"""Scores of a chat: what is counted, which intervals there are, and what only chance did."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorestudio.domain.chat import Chat, Generation, Message
from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.domain.records import replace
from lorestudio.exchange.problems import InputError
from lorestudio.studio.tuning.expectations import Expectation, Should, TurnOutcome, judge
from lorestudio.studio.tuning.scores import METRICS, Interval, Scores, TurnScore, blocks, bootstrap, score

INDEX = VaultIndex((Entry(0, "Lamp.md", "", "Lamp"), Entry(1, "Tide.md", "", "Tide"), Entry(2, "Bell.md", "", "Bell")))
CHAT = Chat((Message("A", "Hello."), Message("U", "The lamp!", is_user=True), Message("A", "Yes.")))
OUTCOMES = (
    TurnOutcome(2, 0, 0, ((0, 30), (1, 50)), (0, 1, 2), cut=((2, 40),), ai_calls=1),
    TurnOutcome(3, 0, 1, ((2, 20),), (2,)),
)
EXPECTED = (
    Expectation(Should.IN, ("Lamp", "Bell")),  # reply 2: Lamp in, Bell out; reply 3: the other way round
    Expectation(Should.OUT, ("Tide",)),  # reply 2: in; reply 3: out
    Expectation(Should.WHOLE, ("Lamp",), whenever="lamp"),  # reply 2: in, whole
    Expectation(Should.WITHIN, ("Lamp", "Tide"), tokens=60),  # 80 and 0
)


def scores() -> Scores:
    return score(OUTCOMES, judge(EXPECTED, CHAT, "", INDEX, OUTCOMES), {Generation(3, 0): 12})


def test_what_is_counted_of_each_reply() -> None:
    assert scores().turns == (
        TurnScore(Generation(2, 0), hits=2, missed=1, wrong=1, met=1, judged=4, tokens=80, cut=40, ai_calls=1),
        TurnScore(Generation(3, 0), hits=1, missed=1, met=2, judged=3, tokens=20, churn=3, read_again=12),
    )


@pytest.mark.parametrize(
    ("metric", "value"),
    [
        ("met", 3 / 7),
        ("precision", 3 / 4),
        ("recall", 3 / 5),
        ("f1", 6 / 9),
        ("tokens", 50),
        ("cut", 20),
        ("churn", 3),
        ("read_again", 12),
        ("ai_calls", 0.5),
    ],
)
def test_every_metric(metric: str, value: float) -> None:
    assert scores().value(metric) == pytest.approx(value)


def test_what_nothing_was_said_about_has_no_score() -> None:
    plain = score(OUTCOMES)
    assert {name for name in METRICS if plain.value(name) is None} == {"met", "precision", "recall", "f1", "read_again"}
    assert all(Scores().value(name) is None for name in METRICS)
    with pytest.raises(InputError, match=r"there is no metric “zz”\. There are: met, precision"):
        plain.value("zz")


def test_a_part_of_a_chat_is_scored_alone() -> None:
    judged = judge(EXPECTED, CHAT, "", INDEX, OUTCOMES)
    assert score(OUTCOMES[1:], judged).turns == (replace(scores().turns[1], churn=None, read_again=None),)


def test_two_chats_are_scored_together_and_no_block_crosses_them() -> None:
    both = scores() + scores()
    assert both.value("tokens") == 50
    assert [list(block) for block in both.blocks] == [[0], [1], [2], [3]]


@given(st.integers(0, 400))
def test_blocks_cover_every_reply_once(replies: int) -> None:
    assert [place for block in blocks(replies) for place in block] == list(range(replies))


def _run(tokens: list[int]) -> Scores:
    return score([TurnOutcome(place, 0, place, ((0, each),)) for place, each in enumerate(tokens)])


def test_a_figure_that_never_moves_has_no_width() -> None:
    assert _run([7] * 40).interval("tokens") == Interval(7, 7)


def test_intervals_hold_the_true_mean_as_often_as_they_say() -> None:
    noise = np.random.default_rng(1)
    held = 0
    for seed in range(60):
        found = _run([int(each) for each in noise.poisson(100, 120)]).interval("tokens", seed)
        assert found is not None
        held += found.low <= 100 <= found.high
    assert held >= 50  # 57 of 60 are promised; blocks are few, so that a little less is held


def test_the_same_seed_gives_the_same_interval() -> None:
    run = _run(list(range(50)))
    assert run.interval("tokens", 3) == run.interval("tokens", 3) != run.interval("tokens", 4)


def test_a_gain_is_told_from_chance_by_the_same_blocks() -> None:
    tokens = [int(each) for each in np.random.default_rng(2).integers(0, 1000, 60)]
    before = _run(tokens)
    better, other = _run([each + 5 for each in tokens]), _run(tokens[::-1])
    sure, chance = better.gain(before, "tokens"), other.gain(before, "tokens")
    assert sure == Interval(5, 5)
    assert sure.sure
    assert chance is not None
    assert not chance.sure
    with pytest.raises(ValueError, match="same replies"):
        _run(tokens[1:]).gain(before, "tokens")


@pytest.mark.parametrize("sums", [[[1, 1]] * 3, [[0, 0]] * 9], ids=["too few blocks", "nothing to divide by"])
def test_no_interval_where_none_can_be_told(sums: list[list[float]]) -> None:
    assert bootstrap(np.array(sums, dtype=np.float64)) is None


def test_the_manual_defines_every_metric() -> None:
    page = (Path(__file__).parents[3] / "resources/docs/tuning.md").read_text(encoding="utf-8")
    assert [each.title for each in METRICS.values() if f"| {each.title} |" not in page] == []


def test_a_figure_in_tokens_says_so() -> None:
    """A table of figures has no column for units: “Cut by the budget a reply 80” could be entries."""
    in_tokens = [each.title for each in METRICS.values() if each.unit == "tokens"]
    assert len(in_tokens) == 3
    assert [title for title in in_tokens if "tokens" not in title.lower()] == []
