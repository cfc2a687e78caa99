"""Tokenizers from files: what they count, what they refuse, and how a growing text is counted."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from pathlib import Path

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lorestudio.domain.tokens import BYTES_3_35, CHARS_4, CharacterEstimate, ScriptEstimate, TokenCounter, growing
from lorestudio.llm import tokenizers
from lorestudio.llm.tokenizers import (
    NAMED,
    CountingWay,
    KnownCounts,
    TokenizerCounter,
    TokenizerError,
    calibrated,
    estimate_of,
    fetch,
    find_file,
    named_tokenizer,
    read_tokenizer,
    text_key,
)
from tests.examples import examples

FIXTURES = Path(__file__).parents[1] / "cases" / "fixtures"
FILES = ("tiny-bpe.json", "tiny-spm.model", "tiny.tiktoken", "tiny-npm-encoder.json")
SPECIAL = "He wrote <|endoftext|> here."


def counter(name: str, way: CountingWay = CountingWay.MODEL) -> TokenizerCounter:
    return TokenizerCounter(read_tokenizer(FIXTURES / name), way)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("way", CountingWay)
def test_a_text_that_grows_counts_like_the_whole(name: str, way: CountingWay) -> None:
    pieces = [
        "The bell",
        " rang",
        "  ",
        "\n",
        " twice. ",
        "守",
        "",
        "<|endof",
        "text|>",
        " It's over ",
        "12 345",
        "\t",
        " a",
    ]
    ways = counter(name, way)
    text, whole = growing(ways), ""
    for more in pieces * 12:
        whole += more
        assert text.add(more) == ways.count(whole)


@settings(max_examples=examples(60))
@given(st.lists(st.text(st.sampled_from("ab Z1.\n\té守'\u3000"), max_size=30), max_size=20), st.sampled_from(FILES[:3]))
def test_growth_never_differs(pieces: list[str], name: str) -> None:
    ways = counter(name)
    text, whole = growing(ways), ""
    for more in pieces:
        whole += more
        assert text.add(more) == ways.count(whole)
        assert text.add("") == ways.count(whole)


@pytest.mark.parametrize("estimate", [CHARS_4, BYTES_3_35, estimate_of("claude")])
def test_estimates_grow_too(estimate: TokenCounter) -> None:
    text, whole = growing(estimate), ""
    for more in ("Ночь. ", "abc", "守灯人", "\U0001f525"):
        whole += more
        assert text.add(more) == estimate.count(whole)


def test_the_ways_differ_by_what_sillytavern_wraps_around() -> None:
    ranks = read_tokenizer(FIXTURES / "tiny.tiktoken")
    plain, chat = TokenizerCounter(ranks, CountingWay.PLAIN), TokenizerCounter(ranks, CountingWay.CHAT)
    role = ranks.tokens("system")
    assert chat.count("the bell") == 3 + role + plain.count("the bell") + 3 - 1
    old = TokenizerCounter(ranks, CountingWay.CHAT, message=4, extra=9)
    assert old.count("the bell") == chat.count("the bell") + 10
    assert plain.count(SPECIAL) == 0
    assert chat.count(SPECIAL) == 3 + role + 3 - 1
    assert TokenizerCounter(ranks).count(SPECIAL) > 0
    assert plain.count("") == chat.count("") == 0


def test_identity_says_what_decides_a_count_and_not_the_name() -> None:
    npm, ranks = (read_tokenizer(FIXTURES / name) for name in ("tiny-npm-encoder.json", "tiny.tiktoken"))
    assert TokenizerCounter(npm).identity == TokenizerCounter(ranks).identity
    identities = {TokenizerCounter(ranks, way).identity for way in CountingWay}
    identities |= {counter("tiny-spm.model").identity, counter("tiny-bpe.json").identity}
    assert len(identities) == 5


@pytest.mark.parametrize("name", FILES)
def test_hard_texts_are_counted(name: str) -> None:
    tokenizer = read_tokenizer(FIXTURES / name)
    assert tokenizer.tokens("a\ud800b") == tokenizer.tokens("a\ufffdb")
    blanks = tokenizer.tokens(" " * 30_000 + "x")
    assert blanks == tokenizer.tokens(" " * 29_999 + " x") > 0
    assert tokenizer.tokens("\0\0") > 0


def test_a_million_blanks_are_no_panic() -> None:
    ranks = read_tokenizer(FIXTURES / "tiny.tiktoken")
    assert ranks.tokens(" " * 1_000_000 + "x") == 1_000_001  # the tiny table joins no blanks


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("a.model", b"", "empty"),
        ("a.model", b"\0\1\2\3" * 50, "no sentencepiece model"),
        ("a.json", b"[1]", "no JSON object"),
        ("a.json", b'{"model": ', "Expecting value"),
        ("a.json", b'{"a": 1}', "line 1"),
        ("a.json", b'{"bpe_ranks": 5}', "rank table"),
        ("a.tiktoken", b"\xff\xfe", "line 1 is not a token"),
        ("a.tiktoken", b"YQ== 0\nYg== x\n", "line 2 is not a token"),
        ("a.tiktoken", b"YQ== 0\nYQ== 1\n", "line 2 gives a token a second rank"),
        ("a.tiktoken", b"YQ== 0\nYg== 1\n", "254 single bytes are missing"),
        ("a.json", b"\x1f\x8bxx", "no tokenizer that can be used"),
    ],
)
def test_damaged_files_get_a_message(tmp_path: Path, name: str, data: bytes, why: str) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(TokenizerError, match=why) as told:
        read_tokenizer(path)
    assert str(path) in str(told.value)


def test_ranks_that_would_end_the_library_are_refused(tmp_path: Path) -> None:
    lines = (FIXTURES / "tiny.tiktoken").read_text().splitlines()
    path = tmp_path / "two.tiktoken"
    path.write_text("\n".join([*lines[:-1], f"{lines[-1].split()[0]} 5"]))
    with pytest.raises(TokenizerError, match="two tokens have one rank"):
        read_tokenizer(path)
    with pytest.raises(TokenizerError, match="cannot be read"):
        read_tokenizer(tmp_path / "none.model")


def test_a_pattern_that_finds_empty_pieces_is_refused_when_it_is_read_or_counts(tmp_path: Path) -> None:
    ranks = "\n".join(f"! {byte} {base64.b64encode(bytes([byte])).decode()}" for byte in range(256))
    path = tmp_path / "encoder.json"
    for pattern in ("", "x?", r"\b"):
        path.write_text(json.dumps({"pat_str": pattern, "special_tokens": [], "bpe_ranks": ranks}))
        with pytest.raises(TokenizerError, match="no tokenizer that can be used here"):
            read_tokenizer(path)
    path.write_text(json.dumps({"pat_str": "(?=the tide)|.", "special_tokens": [], "bpe_ranks": ranks}))
    counter = read_tokenizer(path)
    assert counter.tokens("a lamp") == 6
    with pytest.raises(TokenizerError, match="no tokenizer that can be used here"):
        counter.tokens("the tide")


def test_a_packed_file_and_one_with_a_limit_count_the_whole_text(tmp_path: Path) -> None:
    document = json.loads((FIXTURES / "tiny-bpe.json").read_text("utf-8"))
    document["truncation"] = {"direction": "Right", "max_length": 3, "strategy": "LongestFirst", "stride": 0}
    path = tmp_path / "short.json"
    path.write_bytes(gzip.compress(json.dumps(document).encode()))
    text = "The keeper of the ninth bell"
    assert read_tokenizer(path).tokens(text) == read_tokenizer(FIXTURES / "tiny-bpe.json").tokens(text) > 3


@pytest.mark.parametrize(
    ("joined", "text", "tokens"),
    [
        ([b"12", b"34", b"1234", b" 1234"], " 1234", 1),  # GPT-2's way; the others cut behind three digits
        ([b"12", b"34", b"1234", b" 1234", b".\n"], " 1234", 4),  # the blank, 12 and 3, 4
        ([b"it", b"'s", b"it's"], "it's", 1),  # the way of o200k; the others cut before the apostrophe
        ([b"it", b"'s", b".\n"], "it's", 2),
    ],
)
def test_a_rank_file_cuts_as_its_tokens_say(tmp_path: Path, joined: list[bytes], text: str, tokens: int) -> None:
    made = [bytes([byte]) for byte in range(256)] + joined
    path = tmp_path / "some.tiktoken"
    path.write_bytes(b"".join(base64.b64encode(token) + b" %d\n" % rank for rank, token in enumerate(made)))
    assert read_tokenizer(path).tokens(text) == tokens


# ---- where files are, and fetching ----------------------------------------------------------------------------------


def test_files_are_found_in_sillytaverns_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokenizers, "own_folder", lambda: tmp_path / "own")
    place = tmp_path / "st" / "src" / "tokenizers" / "llama.model"
    place.parent.mkdir(parents=True)
    place.write_bytes(b"x")
    assert find_file(NAMED["llama"], [tmp_path / "st"]) == place
    assert find_file(NAMED["yi"], [tmp_path / "st"]) is None
    assert named_tokenizer("cl100k").name == "cl100k_base"
    with pytest.raises(TokenizerError, match="There are: cl100k_base"):
        named_tokenizer("nonsense")


def test_fetching_checks_what_came(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokenizers, "own_folder", lambda: tmp_path)
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(str(request.url))
        return httpx.Response(200, content=b"not the table")

    with pytest.raises(TokenizerError, match="another file"):
        fetch("r50k", httpx.MockTransport(answer))
    assert asked[0].endswith("/r50k_base.tiktoken")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(TokenizerError, match="cannot be fetched"):
        fetch("r50k", httpx.MockTransport(lambda _: httpx.Response(404)))
    with pytest.raises(TokenizerError, match="not published"):
        fetch("claude")
    digest = hashlib.sha256(b"a table").hexdigest()
    table = tokenizers._Ranks("mine", digest, "x", ())
    monkeypatch.setattr(tokenizers, "_TABLES", (table,))
    kept = fetch("mine", httpx.MockTransport(lambda _: httpx.Response(200, content=b"a table")))
    assert kept.read_bytes() == b"a table"
    kept.unlink()

    def stopped(_descriptor: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("lorestudio.settings.files.os.fsync", stopped)
    with pytest.raises(KeyboardInterrupt):
        fetch("mine", httpx.MockTransport(lambda _: httpx.Response(200, content=b"a table")))
    assert list(tmp_path.iterdir()) == []  # no half of it, which would be taken for the table


# ---- counts at hand -------------------------------------------------------------------------------------------------


def test_counts_are_kept_by_identity_and_text(tmp_path: Path) -> None:
    file = tmp_path / "tokens.sqlite"
    first = KnownCounts("one")
    first.put(text_key("a"), 7)
    first.keep(file)
    again, other = KnownCounts("one"), KnownCounts("two")
    for known in (again, other):
        known.load(file)
    assert (again.get(text_key("a")), other.get(text_key("a"))) == (7, None)


def test_a_damaged_file_of_counts_is_as_good_as_none(tmp_path: Path) -> None:
    file = tmp_path / "tokens.sqlite"
    file.write_bytes(b"no database" * 100)
    known = KnownCounts("one")
    known.load(file)
    known.put(text_key("a"), 7)
    known.keep(file)  # thrown away
    known.put(text_key("b"), 8)
    known.keep(file)
    again = KnownCounts("one")
    again.load(file)
    assert again.get(text_key("b")) == 8


def test_only_what_is_new_is_counted() -> None:
    found = counter("tiny-spm.model")
    found.known.put(text_key("the bell"), 99)
    assert found.count("the bell") == 99


# ---- estimates ------------------------------------------------------------------------------------------------------


def test_estimates_go_by_script() -> None:
    """A Chinese character is about a token, an English word of five letters too."""
    weights = estimate_of("cl100k")
    assert weights.count("守灯人自从那场洪水") in range(9, 12)
    assert CHARS_4.count("守灯人自从那场洪水") == 3
    assert weights.count("keeper") == 2
    assert weights.count("") == 0


def test_sillytaverns_guess_is_by_bytes() -> None:
    assert (BYTES_3_35.count("я" * 67), CharacterEstimate("u", 3.35).count("я" * 67)) == (40, 20)


def test_known_counts_put_an_estimate_right() -> None:
    guess = ScriptEstimate("g", dict.fromkeys(estimate_of("yi").weights, 0.25))
    made, error = calibrated(guess, [("a" * 40, 20), ("b" * 80, 40), ("", 5)])
    assert (made.count("c" * 400), error) == (200, 0)
    assert made.identity != guess.identity
    assert calibrated(guess, []) == (guess, 0.0)
