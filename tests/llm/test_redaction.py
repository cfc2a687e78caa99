from __future__ import annotations

import copy
import json
import pickle
import re
from base64 import b64encode, urlsafe_b64encode
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorestudio.llm.redaction import MASK, SHORTEST_SECRET, Secret, cut, hide_known, redact

PRINTABLE = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=SHORTEST_SECRET, max_size=60)
KEY_CHARACTERS = st.text("abcXYZ0189_-", min_size=8, max_size=60)


@given(st.text(), PRINTABLE, st.text())
def test_known_keys_are_hidden(before: str, key: str, after: str) -> None:
    for spelling in (key, json.dumps(key), quote(key, safe="")):
        for hide in (redact, hide_known):
            result = hide(before + spelling + after, [key])
            assert key not in result
            assert MASK in result


@given(st.lists(PRINTABLE, max_size=4), st.text())
def test_hiding_twice_changes_nothing(keys: list[str], text: str) -> None:
    once = redact(" ".join([text, *keys]), keys)
    assert redact(once, keys) == once


@given(
    st.sampled_from(["sk-", "sk-proj-", "sk-ant-api03-", "AIza", "gsk_"]),
    KEY_CHARACTERS,
    st.sampled_from(["", " ", '"', "'", "(", ":", "="]),
)
def test_keys_are_known_by_their_looks(prefix: str, rest: str, before: str) -> None:
    assert rest not in redact(f"key{before and ' '}{before} {prefix}{rest} end")


@given(st.text("abcdefABC0123456789-._~+/=", min_size=4))
def test_bearer_tokens(token: str) -> None:
    result = redact(f'authorization: "Bearer {token}", next')
    assert token not in result
    assert result.endswith(", next")


@given(st.text(st.characters(categories=["Lu", "Ll", "Nd", "Zs"]), max_size=200))
def test_without_keys_hide_known_changes_nothing(text: str) -> None:
    assert hide_known(text, []) == text


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("Incorrect API key provided: sk-abcd1234.", "Incorrect API key provided: •••"),
        ("sk-proj-ab***************yz is wrong", "••• is wrong"),
        ("Bearer abc.def refused", "Bearer ••• refused"),
        ("https://me:pass@host/x", "https://•••@host/x"),
        ("?api_key=abcdef&x=1", "?api_key=•••&x=1"),
        ('{"x-api-key": "abcdef"}', '{"x-api-key": "•••"}'),
        ("Authorization: Basic bWU6cGFzcw==, next", "Authorization: •••, next"),
        (r"{\"api_key\": \"abcdef\"}", r"{\"api_key\": \"•••\"}"),
        ("a task-force with a risk-assessment", "a task-force with a risk-assessment"),
        ("AIzaSyA-1234_abcd", "•••"),
        ("gsk_abcdefgh", "•••"),
    ],
)
def test_looks(text: str, result: str) -> None:
    assert redact(text) == result


def test_a_key_that_begins_another() -> None:
    assert hide_known("abcd1234 abcd", ["abcd", "abcd1234"]) == "••• •••"


def test_a_short_key_is_known_in_the_json_of_php() -> None:
    assert hide_known(r'{"said": "ab\/cd"}', ["ab/cd"]) == f'{{"said": "{MASK}"}}'


def test_short_keys_are_place_holders() -> None:
    assert hide_known("x marks the spot", ["x", ""]) == "x marks the spot"


def test_secrets_show_nothing() -> None:
    secret = Secret("hidden-value")
    assert "hidden" not in f"{secret} {secret!r} {[secret]}"
    assert secret.reveal() == "hidden-value"
    assert secret == Secret("hidden-value")
    assert not Secret("")
    with pytest.raises(TypeError):
        pickle.dumps(secret)
    with pytest.raises(TypeError):
        copy.deepcopy(secret)


def test_cut() -> None:
    assert cut("abc", 3) == "abc"
    assert cut("abcd", 3) == "abc…"


KEY = "sk-Proj_Zz9+abc.DEF/42"


@pytest.mark.parametrize(
    "spelled",
    [
        KEY.upper(),
        KEY.lower(),
        "".join(f"\\u{ord(char):04x}" for char in KEY),
        "".join(f"\\u{ord(char):04X}" if place % 2 else char for place, char in enumerate(KEY)),
        "".join(f"\\\\u{ord(char):04x}" for char in KEY),  # JSON inside JSON
        "".join(f"\\x{ord(char):02x}" for char in KEY),
        "".join(f"%{ord(char):02X}" for char in KEY),
        "".join(f"&#{ord(char)};" for char in KEY),
        "".join(f"&#x{ord(char):x};" for char in KEY),
        "".join(f"\\u{{{ord(char):x}}}" for char in KEY),
        "".join(f"\\U{ord(char):08x}" for char in KEY),
        "".join(f"\\{ord(char):03o}" for char in KEY),
        "".join(f"%25{ord(char):02x}" for char in KEY),
        "".join(f"&amp;#{ord(char)};" for char in KEY),
        "=".join(f"{ord(char):02X}" for char in KEY),  # as mail is encoded
        KEY.encode().hex(),
        KEY.encode().hex(":").upper(),
        ", ".join(str(ord(char)) for char in KEY),
        b64encode(KEY.encode()).decode(),
        urlsafe_b64encode(KEY.encode()).decode(),
        "\r\n".join(re.findall(".{1,16}", b64encode(KEY.encode()).decode())),
        "\u00ad".join(KEY),
        r"\n".join(KEY),
        "**".join([KEY[:9], KEY[9:]]),
        f'{KEY[:9]}" + "{KEY[9:]}',
        "\n".join(KEY),
        KEY[:9] + "\r\n    " + KEY[9:],
        f'"{KEY[:9]}", "{KEY[9:]}"',
        KEY.replace("/", r"\/"),  # as PHP writes JSON
    ],
)
def test_a_known_key_is_hidden_in_any_spelling(spelled: str) -> None:
    assert hide_known(f"I was told {spelled} by you.", [KEY]).replace('"', "") == f"I was told {MASK} by you."


@pytest.mark.parametrize("before", [b"", b"-", b"--", b"me:"])
@pytest.mark.parametrize("behind", [b"", b".", b".."])
def test_a_known_key_is_hidden_among_other_bytes_in_base64(before: bytes, behind: bytes) -> None:
    hidden = hide_known(f"Basic {b64encode(before + KEY.encode() + behind).decode()} is wrong", [KEY])
    assert re.fullmatch(f"Basic [A-Za-z0-9]{{0,2}}{MASK}[A-Za-z0-9=]{{0,4}} is wrong", hidden)


def test_words_are_no_short_keys() -> None:
    assert hide_known("The TEST of the t e s t.", ["test"]) == "The TEST of the t e s t."


def test_looking_for_a_key_takes_no_longer_than_the_text() -> None:
    assert MASK not in hide_known("a" * 100_000, ["a" * 40 + "b"])


def events(pieces: list[str], *, named: bool) -> str:
    """A stream of these pieces, as OpenAI's servers or (with names of events) Anthropic's write one."""
    if named:
        lines = [{"type": "content_block_delta", "delta": {"type": "text_delta", "text": piece}} for piece in pieces]
        return "".join(f"event: content_block_delta\ndata: {json.dumps(each)}\n\n" for each in lines)
    deltas = [{"id": "c", "choices": [{"delta": {"content": piece}, "finish_reason": None}]} for piece in pieces]
    return "".join(f"data: {json.dumps(each)}\n\n" for each in deltas)


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("size", [1, 3, 7, 20])
def test_a_key_that_is_spread_over_the_events_of_a_stream(size: int, named: bool) -> None:
    pieces = ["It is ", *(KEY[start : start + size] for start in range(0, len(KEY), size)), ". Keep it."]
    hidden = hide_known(events(pieces, named=named), [KEY])
    told = [json.loads(line[6:]) for line in hidden.splitlines() if line.startswith("data: ")]
    texts = [each["delta"]["text"] if named else each["choices"][0]["delta"]["content"] for each in told]
    assert "".join(texts) == f"It is {MASK}. Keep it."


def test_a_stream_made_to_be_searched_for_ever_is_not() -> None:
    line = 'data: {"x": ' + '": "'.join(["a"] * 300) + '"}\n\n'
    assert MASK not in hide_known(line * 300, ["a" * 40 + "b"])
