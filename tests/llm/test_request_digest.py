from __future__ import annotations

import re
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorestudio.domain.records import replace
from lorestudio.llm.messages import ChatReply, ChatRequest

TEXT = st.text(st.characters(), max_size=30)  # lone surrogates included
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
REQUESTS = st.builds(
    ChatRequest,
    kind=TEXT,
    system=TEXT,
    user=TEXT,
    model=TEXT,
    max_tokens=st.integers(1, 9999),
    json_schema=st.none() | st.dictionaries(TEXT, JSON, max_size=3),
)


@given(REQUESTS)
def test_digest_is_stable(request_: ChatRequest) -> None:
    again = replace(request_, timeout_ms=1, stable_prefix=2, schema_name="other")
    assert again.digest == request_.digest
    assert re.fullmatch("[0-9a-f]{64}", request_.digest)


@given(REQUESTS, REQUESTS)
def test_digests_differ_as_requests_do(one: ChatRequest, other: ChatRequest) -> None:
    def deciding(request: ChatRequest) -> tuple[object, ...]:
        # repr, since True and 1 are the same to Python and not to JSON
        schema = repr(sorted(request.json_schema.items())) if request.json_schema is not None else None
        return request.kind, request.system, request.user, request.model, request.max_tokens, schema

    if deciding(one) != deciding(other):
        assert one.digest != other.digest


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "b"}, {"system": "b"}, {"user": "c"}, {"model": "b"}, {"max_tokens": 2}, {"json_schema": {}},
        {"system": "ab", "user": ""},
    ],
)  # fmt: skip
def test_what_decides(change: dict[str, object]) -> None:
    request = ChatRequest("a", "a", "b", 1, json_schema=None, model="a")
    assert replace(request, **change).digest != request.digest


def test_order_and_kind_of_schema_mappings_do_not_matter() -> None:
    one = ChatRequest("a", "", "", json_schema={"x": 1, "y": {"z": 2, "a": 3}})
    other = replace(one, json_schema=MappingProxyType({"y": MappingProxyType({"a": 3, "z": 2}), "x": 1}))
    assert one.digest == other.digest


def test_digest_of_a_known_request() -> None:
    # sha256 of {"kind":"search","max_tokens":1024,"model":"","schema":null,"system":"s","user":"\u00fc"}
    assert ChatRequest("search", "s", "ü").digest == "2fc9533d59ef2a49bbac9a11a3e322fd93de7d06e010760386d60decbf6676de"


def test_texts_are_not_in_the_repr() -> None:
    assert "private" not in repr(ChatRequest("search", "private", "private"))
    assert "private" not in repr(ChatReply("private", raw="private", value="private"))


def test_content_is_the_value_where_there_is_one() -> None:
    assert ChatReply("[]").content == "[]"
    assert ChatReply("[]", value=[]).content == []
