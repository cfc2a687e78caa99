"""Vectors: the stand-in's exact ones, those of a server, and keeping them."""

import asyncio
import json
import sqlite3
from contextlib import closing

import numpy as np
import pytest

from lorestudio.llm.embedding import BATCH, HashEmbedder, VectorCache, cached_vectors, embeddings_address, hashed
from lorestudio.llm.errors import ErrorKind, LlmError
from lorestudio.llm.http.embedding import HttpEmbedder
from lorestudio.llm.profiles import Profile
from tests.llm.server import Server


def cosine(one, other):
    return float(hashed(one) @ hashed(other))


def test_the_stand_in_is_exact():  # figures of (rules: offline-models 4)
    vector = hashed("oath")
    assert {int(place): round(float(vector[place]), 6) for place in np.nonzero(vector)[0]} == {
        33: 0.866025, 102: 0.288675, 154: 0.288675, 242: 0.288675,
    }  # fmt: skip
    assert np.array_equal(vector, hashed("Oath!"))
    assert len(np.nonzero(hashed("blood oath"))[0]) == 10
    assert cosine("oath", "blood oath") == pytest.approx(0.755929, abs=1e-6)
    assert cosine("oath", "oaths") == pytest.approx(0.481125, abs=1e-6)
    assert cosine("oath", "vow") == 0
    assert not hashed("... !").any()
    assert len(asyncio.run(HashEmbedder(64).embed(["a", "b"]))[1]) == 64


@pytest.mark.parametrize(
    ("base", "address"),
    [
        ("http://x/v1", "http://x/v1/embeddings"),
        ("http://x/v1/", "http://x/v1/embeddings"),
        ("http://x/v1/embeddings", "http://x/v1/embeddings"),
    ],
)
def test_addresses(base, address):
    assert embeddings_address(base) == address


def vectors_for(texts):
    return {"data": [{"index": place, "embedding": [float(len(text)), 1]} for place, text in enumerate(texts)]}


async def answers(call):
    texts = call.body["input"]
    await call.head()
    await call.send(json.dumps(vectors_for([texts] if isinstance(texts, str) else texts)))


async def answers_backwards(call):
    body = vectors_for(call.body["input"])
    body["data"].reverse()
    await call.head()
    await call.send(json.dumps(body))


async def takes_no_lists(call):
    if isinstance(call.body["input"], list):
        await call.head("400 Bad Request")
        await call.send('{"error": {"message": "input must be a string"}}')
    else:
        await answers(call)


async def too_few(call):
    await call.head()
    await call.send('{"data": []}')


async def broken(call):
    await call.head("500 Internal Server Error")
    await call.send("oh no")


def ask(behaviour, texts):
    async def run():
        async with Server(behaviour) as server:
            profile = Profile("Local", url=f"{server.url}/v1", model="small-embed")
            return await HttpEmbedder(profile).embed(texts), server.calls

    return asyncio.run(run())


def test_a_server_is_asked_once_for_many_texts():
    vectors, calls = ask(answers, ["a", "bb", "ccc"])
    assert [vector.tolist() for vector in vectors] == [[1, 1], [2, 1], [3, 1]]
    assert [(call.path, call.body) for call in calls] == [
        ("/v1/embeddings", {"input": ["a", "bb", "ccc"], "model": "small-embed"})
    ]


def test_vectors_are_matched_by_their_index():
    vectors, _calls = ask(answers_backwards, ["a", "bb"])
    assert [vector[0] for vector in vectors] == [1, 2]


def test_many_texts_go_in_batches():
    vectors, calls = ask(answers, ["x" * (1 + place) for place in range(70)])
    assert [vector[0] for vector in vectors] == [1 + place for place in range(70)]
    assert sorted(len(call.body["input"]) for call in calls) == [6, 64]


def test_a_server_that_refuses_lists_is_asked_for_each_text():
    vectors, calls = ask(takes_no_lists, ["a", "bb"])
    assert [vector[0] for vector in vectors] == [1, 2]
    assert [call.body["input"] for call in calls] == [["a", "bb"], "a", "bb"]


@pytest.mark.parametrize(("behaviour", "kind"), [(too_few, ErrorKind.INVALID_ANSWER), (broken, ErrorKind.SERVER)])
def test_failures_have_a_kind_and_advice(behaviour, kind):
    with pytest.raises(LlmError) as error:
        ask(behaviour, ["a", "b"])
    assert error.value.kind is kind
    assert "Local" in str(error.value)


@pytest.mark.parametrize(
    "second",
    [
        "1",
        '{"embedding": []}',
        '{"embedding": [1, true]}',
        '{"embedding": [1, "2"]}',
        '{"embedding": "1"}',
        '{"index": "1", "embedding": [1]}',
        '{"index": 0, "embedding": [1]}',
        '{"embedding": [1, 2]}',
    ],
)
def test_a_reply_with_something_else_in_place_of_a_vector_is_refused(second):
    async def odd(call):
        await call.head()
        await call.send(f'{{"data": [{{"embedding": [1]}}, {second}]}}')

    with pytest.raises(LlmError, match="the reply holds no vectors for 2 texts") as error:
        ask(odd, ["a", "b"])
    assert error.value.kind is ErrorKind.INVALID_ANSWER


def test_a_number_that_no_vector_holds_is_refused():
    async def endless(call):
        await call.head()
        await call.send(f'{{"data": [{{"embedding": [{"9" * 350}]}}]}}')

    with pytest.raises(LlmError) as error:
        ask(endless, ["a"])
    assert error.value.kind is ErrorKind.INVALID_ANSWER


def test_vectors_are_known_by_the_host_and_the_model():
    embedder = HttpEmbedder(Profile("Local", url="http://localhost:9/v1", model="small-embed"))
    assert embedder.model_id == "localhost:9/small-embed"
    assert embedder.label.startswith("Local")


class Counting:
    """Makes vectors and counts what it is asked for; fails at the text `bad`."""

    model_id = "counting"
    label = "counting"

    def __init__(self):
        self.asked = []

    async def embed(self, texts):
        if "bad" in texts:
            raise LlmError(ErrorKind.SERVER, "no")
        self.asked += texts
        return tuple(np.array([float(len(text))]) for text in texts)


def test_vectors_are_asked_for_once(tmp_path):
    embedder = Counting()
    for _ in range(2):
        with VectorCache(tmp_path / "vectors.sqlite") as cache:
            found = asyncio.run(cached_vectors(["a", "bb", "a"], embedder, cache))
            assert {text: vector.tolist() for text, vector in found.items()} == {"a": [1], "bb": [2]}
    assert embedder.asked == ["a", "bb"]


class Longer(Counting):
    """The same server with another model, whose vectors are longer."""

    async def embed(self, texts):
        return tuple(np.append(vector, 0.0) for vector in await super().embed(texts))


def test_vectors_of_the_model_that_a_server_had_before_are_made_again(tmp_path):
    later = Longer()
    with VectorCache(tmp_path / "vectors.sqlite") as cache:
        before = asyncio.run(cached_vectors(["a", "bb"], Counting(), cache))
        found = asyncio.run(cached_vectors(["a", "bb", "ccc"], later, cache, {"a": before["a"]}))
        assert {text: vector.tolist() for text, vector in found.items()} == {"a": [1, 0], "bb": [2, 0], "ccc": [3, 0]}
        assert sorted(later.asked) == ["a", "bb", "ccc"]
        assert {len(vector) for vector in cache.find("counting", ["a", "bb", "ccc"]).values()} == {2}


def test_a_server_whose_vectors_are_never_of_one_length_is_asked_once_for_each_text(tmp_path):
    class Growing(Counting):
        async def embed(self, texts):
            await super().embed(texts)
            return tuple(np.ones(len(self.asked)) for _ in texts)

    growing, texts = Growing(), [f"t{place}" for place in range(BATCH + 1)]
    with VectorCache(tmp_path / "vectors.sqlite") as cache:
        asyncio.run(cached_vectors(texts, growing, cache))
    assert growing.asked == texts


def test_what_came_before_a_failure_is_kept(tmp_path):
    embedder = Counting()
    texts = [f"t{place}" for place in range(64)]
    with VectorCache(tmp_path / "vectors.sqlite") as cache:
        with pytest.raises(LlmError):
            asyncio.run(cached_vectors([*texts, "bad"], embedder, cache))
        assert len(cache.find("counting", texts)) == 64
        assert cache.find("another model", texts) == {}


def test_a_damaged_cache_is_laid_aside(tmp_path):
    file = tmp_path / "vectors.sqlite"
    file.write_text("no database at all" * 100)
    with VectorCache(file) as cache:
        cache.keep("m", [("a", np.array([1.0]))])
        assert cache.find("m", ["a"])["a"].tolist() == [1]
    assert (tmp_path / "vectors.sqlite.damaged-1").exists()


def test_no_damaged_cache_is_written_over(tmp_path):
    file = tmp_path / "vectors.sqlite"
    for text in ("one", "two"):
        file.write_text(f"no database at all, number {text}" * 100)
        VectorCache(file).close()
    kept = [(tmp_path / f"vectors.sqlite.damaged-{number}").read_text() for number in (1, 2)]
    assert ["number one" in kept[0], "number two" in kept[1]] == [True, True]


def test_another_programs_file_is_laid_aside(tmp_path):
    file = tmp_path / "vectors.sqlite"
    with closing(sqlite3.connect(file)) as other:
        other.execute("CREATE TABLE vectors (name TEXT)")
    with VectorCache(file) as cache:
        cache.keep("m", [("a", np.array([1.0]))])
    with VectorCache(file) as cache:
        assert cache.find("m", ["a"])["a"].tolist() == [1]
    assert (tmp_path / "vectors.sqlite.damaged-1").exists()


def test_a_cache_that_another_program_holds_stays_where_it_is(tmp_path):
    file = tmp_path / "vectors.sqlite"
    with VectorCache(file) as cache:
        cache.keep("m", [("a", np.array([1.0]))])
    with closing(sqlite3.connect(file, isolation_level=None)) as other, VectorCache(file) as cache:
        cache._lines.execute("PRAGMA busy_timeout = 0")
        other.execute("BEGIN EXCLUSIVE")
        cache.keep("m", [("b", np.array([2.0]))])  # in memory
        assert cache.find("m", ["b"])["b"].tolist() == [2]
        other.execute("ROLLBACK")
    assert not (tmp_path / "vectors.sqlite.damaged-1").exists()
    with VectorCache(file) as cache:
        assert set(cache.find("m", ["a", "b"])) == {"a"}


def test_a_vector_of_half_numbers_is_not_known(tmp_path):
    file = tmp_path / "vectors.sqlite"
    with VectorCache(file) as cache:
        cache.keep("m", [("a", np.array([1.0]))])
        cache._lines.execute("UPDATE vectors SET vector = x'0102'")
        assert cache.find("m", ["a"]) == {}
