from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorestudio.domain.json_text import parse_json, spell
from lorestudio.llm.http.dialect import problem_text, read_answer, read_problem, read_usage
from lorestudio.llm.messages import TokenUsage


# (rules: deeplore-tools 1.3.1)
@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("as it is", "as it is"),
        ({"choices": [{"message": {"content": "a"}}]}, "a"),
        ({"choices": [{"message": {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}}]}, "ab"),
        ({"choices": [{"message": {"content": None, "refusal": "I cannot."}}]}, "I cannot."),
        ({"choices": [{"message": {"content": None, "reasoning": "Hm."}}]}, ""),
        ({"choices": [{"text": "a"}]}, "a"),
        (
            {"candidates": [{"content": {"parts": [{"thought": True, "text": "Hm."}, {"text": "a"}, {"text": "b"}]}}]},
            "ab",
        ),
        ({"candidates": [{"finishReason": "SAFETY"}]}, ""),
        ({"responseContent": {"parts": [{"text": "Hm.", "thought": True}, {"text": "a"}]}}, "a"),
        ({"content": {"parts": [{"text": "a"}]}}, "a"),
        (
            {
                "content": [
                    {"type": "thinking", "thinking": "Hm."},
                    {"type": "text", "text": "a"},
                    {"type": "text", "text": "b"},
                ]
            },
            "a",
        ),
        ({"content": [{"type": "thinking", "thinking": "Hm."}]}, ""),
        ({"message": {"role": "assistant", "content": "a"}, "done_reason": "stop"}, "a"),
        ({"response": "a"}, "a"),
        ({"output_text": "a"}, "a"),
        ({"selected": [{"title": "Ż"}]}, '{"selected":[{"title":"Ż"}]}'),
        ({"choices": []}, '{"choices":[]}'),
        ([1, "a"], '[1,"a"]'),
    ],
)
def test_text(body: Any, text: str) -> None:
    assert read_answer(body).text == text


@pytest.mark.parametrize(
    "counts",
    [
        {"usage": {"input_tokens": 3, "output_tokens": 4}},
        {"usage": {"prompt_tokens": 3, "completion_tokens": 4}},
        {"usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 4}},
        {"prompt_eval_count": 3, "eval_count": 4},
    ],
)
def test_usage(counts: dict[str, Any]) -> None:
    assert read_usage(counts) == TokenUsage(3, 4)


@pytest.mark.parametrize(
    "counts",
    [{}, {"usage": None}, {"usage": {"input_tokens": "3", "output_tokens": True}}, {"usage": {"input_tokens": -1}}],
)
def test_no_usage(counts: dict[str, Any]) -> None:
    assert read_usage(counts) == TokenUsage(0, 0)


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ({"error": {"message": "m", "type": "t", "code": 429}}, ("m (t)", 429)),
        ({"error": "m"}, ("m", None)),
        ({"error": {"message": "m", "code": "model_not_found"}}, ("m (model_not_found)", None)),
        ({"type": "error", "error": {"type": "overloaded_error", "message": "m"}}, ("m (overloaded_error)", None)),
        ({"type": "error", "message": "m"}, ("m", None)),
        ({"error": {"error": {"message": "m"}}}, ("m", None)),
        ({"error": {"odd": 1}}, ('{"odd":1}', None)),
        ({"error": None, "choices": []}, None),
        ({"choices": []}, None),
        ([], None),
    ],
)
def test_problems(body: Any, problem: tuple[str, int | None] | None) -> None:
    assert read_problem(body) == problem


@pytest.mark.parametrize(
    ("body", "text"),
    [({"message": "m"}, "m"), ({"detail": [{"msg": "m"}]}, '[{"msg":"m"}]'), ("m", "m"), (["m"], '["m"]'), ({}, "{}")],
)
def test_problem_text(body: Any, text: str) -> None:
    assert problem_text(body) == text


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)
KNOWN = st.sampled_from(
    ["choices", "message", "content", "parts", "candidates", "usage", "text", "error", "code", "type", "delta"]
)
SHAPES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KNOWN, inner, max_size=4),
    max_leaves=12,
)


@given(SHAPES)
def test_any_shape_is_read(body: Any) -> None:
    assert isinstance(read_answer(body).text, str)
    assert isinstance(problem_text(body), str)
    assert read_problem(body) is None or isinstance(read_problem(body)[0], str)  # type: ignore[index]


@given(JSON)
def test_json_comes_back(value: Any) -> None:
    assert parse_json(spell(value)) == value
    assert parse_json(spell(value, ascii_only=True)) == value


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", "[" * 100_000, "{", ""])
def test_no_json(text: str) -> None:
    with pytest.raises(ValueError, match=r"JSON|Expecting|deeply"):
        parse_json(text)
