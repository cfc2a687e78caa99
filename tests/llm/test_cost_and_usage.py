from __future__ import annotations

from lorestudio.domain.records import replace
from lorestudio.domain.tokens import CHARS_4, CharacterEstimate
from lorestudio.llm.cost import CostEstimate, estimate
from lorestudio.llm.messages import ChatRequest

EXACT = CharacterEstimate("letters", 1, exact=True)
ONE = ChatRequest("search", "s" * 10, "u" * 20, max_tokens=100)
TWO = ChatRequest("prefilter", "", "u" * 8, max_tokens=50)


def test_estimate() -> None:
    # 10 + 20 and 8 letters, and 4 tokens around each of the three messages
    assert estimate([ONE, TWO], EXACT) == CostEstimate(2, 0, 38 + 12, 150, True)


def test_schemas_are_sent_too() -> None:
    more = estimate([replace(ONE, json_schema={"a": 1})], EXACT)
    assert more.input_tokens - estimate([ONE], EXACT).input_tokens == len('{"a":1}') + 4


def test_models_that_are_asked() -> None:
    requests = [replace(ONE, model="b"), replace(ONE, model="a"), ONE, replace(TWO, model="b")]
    assert estimate(requests, EXACT).models == ("b", "a")
    assert estimate(requests, EXACT, lambda request: request.model == "b").models == ("a",)


def test_recorded_answers_are_free() -> None:
    cost = estimate([ONE, TWO, ONE], CHARS_4, lambda request: request == ONE)
    assert (cost.calls, cost.recorded, cost.most_output_tokens) == (1, 2, 50)


def test_sentences() -> None:
    assert estimate([], EXACT).sentence == "No calls to a provider are needed."
    assert (
        CostEstimate(1200, 1, 3400, 5000, False).sentence
        == "1,200 calls to the provider: ≈ 3,400 tokens sent, at most 5,000 received. 1 answer already recorded."
    )
    assert CostEstimate(1, 0, 5, 6).sentence == "1 call to the provider: 5 tokens sent, at most 6 received."
    assert CostEstimate(0, 2).sentence == "No calls to a provider are needed. 2 answers already recorded."
