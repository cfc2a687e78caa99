from __future__ import annotations

import gzip
import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from lorestudio.domain.entry import VaultIndex
from lorestudio.domain.tokens import CHARS_4
from lorestudio.exchange import scenario_file
from lorestudio.exchange.lorebooks.reading import read_lorebook
from lorestudio.exchange.problems import Belongs, InputError
from lorestudio.exchange.scenario_file import read_records
from lorestudio.settings.deeplore import MOST_UNKNOWN
from lorestudio.systems.scenarios import scene_of

SCENARIO: dict[str, Any] = {
    "id": "one",
    "vaults": [{"name": "v", "files": [["Lamp.md", "---\ntags: [lorebook]\nkeys: [lamp]\n---\nLight."]]}],
    "messages": [{"name": "Wren", "is_user": True, "mes": "A lamp!"}],
    "generations": [{"now_ms": 1_700_000_000_000, "chat": [0]}],
}


def scenario(**changes: Any) -> dict[str, Any]:
    return {**deepcopy(SCENARIO), **changes}


def without(key: str) -> dict[str, Any]:
    return {name: value for name, value in scenario().items() if name != key}


def written(tmp_path: Path, data: str | bytes, name: str = "s.json") -> Path:
    path = tmp_path / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def ids(path: Path) -> list[str]:
    return [item.scenario.id for item in read_records(path)]


def refused(tmp_path: Path, data: str | bytes, name: str = "s.json") -> InputError:
    with pytest.raises(InputError) as caught:
        read_records(written(tmp_path, data, name))
    assert str(tmp_path / name) in str(caught.value)
    return caught.value


TWO = json.dumps(scenario()) + "\n" + json.dumps(scenario(id="two")) + "\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (json.dumps(SCENARIO), ["one"]),
        (json.dumps(SCENARIO, indent=2), ["one"]),
        ("\ufeff" + json.dumps(SCENARIO), ["one"]),
        (TWO, ["one", "two"]),
        (TWO.replace("\n", "\r\n"), ["one", "two"]),
        ("\n" + TWO + "\n\n", ["one", "two"]),
        (json.dumps([scenario(id="b"), scenario(id="a")]), ["b", "a"]),
        (json.dumps({"id": "x", "tags": ["t"], "scenario": SCENARIO, "expected": {}}), ["one"]),
        (json.dumps({"id": "x", "scenario": SCENARIO}) + "\n" + json.dumps(scenario(id="two")), ["one", "two"]),
    ],
    ids=["object", "indented", "mark", "lines", "crlf", "blank lines", "list", "recorded line", "mixed lines"],
)
def test_what_a_file_may_be(tmp_path: Path, text: str, expected: list[str]) -> None:
    assert ids(written(tmp_path, text)) == expected
    assert ids(written(tmp_path, gzip.compress(text.encode()), "packed")) == expected


def test_what_a_scenario_need_not_say(tmp_path: Path) -> None:
    (read,) = (record.scenario for record in read_records(written(tmp_path, json.dumps(SCENARIO))))
    assert (read.rng_seed, read.tokenizer, read.character, read.settings) == (0, "chars4", "", {})
    generation = read.generations[0]
    assert (generation.type, generation.context_size, generation.character) == ("normal", 8192, None)


def test_a_lorebook_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    monkeypatch.setattr(scenario_file, "read_lorebook", lambda *given: read.append(given[1]) or read_lorebook(*given))
    books = [{"name": "b", "entries": [{"key": ["lamp"], "content": "Light."}]}]
    (record,) = read_records(written(tmp_path, json.dumps(scenario(books=books))))
    (book,) = scene_of(record.scenario, VaultIndex(()), CHARS_4).books
    assert [entry.content for entry in book.entries] == ["Light."]
    assert read == ["b"]


def test_records_know_where_they_stood(tmp_path: Path) -> None:
    in_lines = read_records(written(tmp_path, "\n" + TWO))
    assert [(record.line, record.prefix) for record in in_lines] == [(2, ""), (3, "")]
    in_list = read_records(written(tmp_path, json.dumps([SCENARIO, {"scenario": SCENARIO}])))
    assert [(record.line, record.prefix) for record in in_list] == [(None, "0."), (None, "1.scenario.")]


@pytest.mark.parametrize("data", [b"", b"\n \n", b"\xef\xbb\xbf", gzip.compress(b"", mtime=0)])
def test_an_empty_file(tmp_path: Path, data: bytes) -> None:
    assert "the file is empty" in str(refused(tmp_path, data))


def test_an_empty_list(tmp_path: Path) -> None:
    assert "there is no scenario in it" in str(refused(tmp_path, "[]"))


def test_a_broken_line_is_named(tmp_path: Path) -> None:
    error = refused(tmp_path, TWO + '{"id": "three", "vaults": [\n')
    assert error.line == 3
    assert "this is no valid JSON" in error.message


def test_a_broken_first_line_is_named(tmp_path: Path) -> None:
    assert refused(tmp_path, '{"id": "zero",\n' + TWO).line == 1


def test_a_broken_line_of_an_indented_object_is_named(tmp_path: Path) -> None:
    text = json.dumps(SCENARIO, indent=2).replace('"messages": [', '"messages": [,')
    error = refused(tmp_path, text)
    assert error.line == text[: text.index("[,")].count("\n") + 1
    assert "column" in error.message


def test_a_single_broken_object(tmp_path: Path) -> None:
    error = refused(tmp_path, json.dumps(SCENARIO)[:-3])
    assert error.line == 1


@pytest.mark.parametrize(
    ("changed", "field", "words"),
    [
        (without("vaults"), "vaults", "it is missing"),
        (without("generations"), "generations", "it is missing"),
        (scenario(vaults=[{"files": []}]), "vaults.0.name", "it is missing"),
        (scenario(vaults=[{"name": "v"}]), "vaults.0", "either “files” or “ref”"),
        (scenario(vaults=[{"name": "v", "files": [["a.md"]]}]), "vaults.0.files.0.1", "it is missing"),
        (scenario(messages={"0": "x"}), "messages", "this is no list"),
        (scenario(messages=["text"]), "messages.0", "this is no object."),
        (scenario(tokenizer=4), "tokenizer", "this is no text"),
        (scenario(rng_seed=-1), "rng_seed", "this is less than 0"),
        (scenario(generations=[{"now_ms": "noon", "chat": [0]}]), "generations.0.now_ms", "this is no whole number"),
        (scenario(generations=[{"now_ms": 1, "chat": [0, 1]}]), "generations.0.chat.1", "there is no message 1"),
        (scenario(generations=[{"now_ms": 1, "chat": [-1]}]), "generations.0.chat.0", "there is no message -1"),
        (scenario(generations=[5]), "generations.0", "this is no object."),
        (
            scenario(generations=[{"now_ms": 1, "chat": [0], "reindex": "x"}]),
            "generations.0.reindex",
            "this is neither true nor false",
        ),
        (
            scenario(generations=[{"now_ms": 1, "chat": [0], "vault_patch": {"v": 5}}]),
            "generations.0.vault_patch.v",
            "this is no text.",
        ),
        (
            scenario(generations=[{"now_ms": 1, "chat": [0], "ai": {"search": {}}}]),
            "generations.0.ai.search",
            "an answer has a “text”, a “json” or an “error”",
        ),
        (
            scenario(generations=[{"now_ms": 1, "chat": [0], "ai": {"search": {"error": "x"}}}]),
            "generations.0.ai.search",
            "an object with its “message”",
        ),
        (scenario(books=[{"name": "b", "entries": [5]}]), "books.0", "one for each entry."),
        (scenario(messages=[]), "generations.0.chat.0", "there are no messages"),
        (scenario(generations=[{"now_ms": 1, "chat": [], "type": "Swipe"}]), "generations.0.type", "normal, swipe, "),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_wrong_field_is_named(tmp_path: Path, changed: dict[str, Any], field: str, words: str) -> None:
    alone = refused(tmp_path, json.dumps(changed))
    assert alone.field == field
    assert words in alone.message
    assert ".." not in alone.message
    assert f"field “{field}”" in str(alone)
    in_lines = refused(tmp_path, json.dumps(SCENARIO) + "\n" + json.dumps(changed))
    assert (in_lines.line, in_lines.field) == (2, field)
    recorded = refused(tmp_path, json.dumps({"id": "x", "scenario": changed}))
    assert recorded.field == f"scenario.{field}"
    in_list = refused(tmp_path, json.dumps([SCENARIO, changed]))
    assert in_list.field == f"1.{field}"


@pytest.mark.parametrize("inside", [lambda given: given, lambda given: [SCENARIO, {"id": "x", "scenario": given}]])
def test_the_line_of_the_wrong_field_is_named_in_a_document_of_many(tmp_path: Path, inside: Any) -> None:
    changed = scenario(generations=[{"now_ms": 1, "chat": [0]}, {"now_ms": 1, "chat": [0, 7]}])
    text = json.dumps(inside(changed), indent=1)
    at = next(number for number, line in enumerate(text.split("\n"), 1) if line.strip() == "7")
    assert refused(tmp_path, text).line == at
    changed = scenario(vaults=[{"name": "v", "files": [["a.md"]]}])  # of what is not there, the line of what lacks it
    text = json.dumps(inside(changed), indent=1)
    at = next(number for number, line in enumerate(text.split("\n"), 1) if "a.md" in line)
    assert refused(tmp_path, text).line == at - 1


def test_fields_and_settings_that_no_run_knows_are_told(tmp_path: Path) -> None:
    generation = {"now_ms": 1, "chat": [0], "typ": "swipe", "swipe": 1, "settings_patch": {"scanDepht": 3}}
    generation["ai"] = {"search": {"text": "[]"}, "prefiler": {"text": "[]"}}
    changed = scenario(sytem="hybrid", seed=1, focus="f", settings={"scanDept": 3}, generations=[generation])
    (record,) = read_records(written(tmp_path, json.dumps(changed)))
    told = record.unheeded
    assert [each.partition(":")[0] for each in told] == ["“sytem”", "scanDept", "“typ”", "“prefiler”", "scanDepht"]
    near = ("“system”?", "scanDepth?", "“type”?", "“prefilter”?", "scanDepth?")
    assert all(each.endswith(f"Did you mean {name}") for each, name in zip(told, near, strict=True))
    assert read_records(written(tmp_path, json.dumps(SCENARIO)))[0].unheeded == ()


@pytest.mark.parametrize(
    ("text", "words", "belongs"),
    [
        ('{"entries": {"0": {"uid": 0, "key": ["fog"], "content": "Grey."}}}', "a lorebook, and no", Belongs.BOOK),
        ('[{"id": "1", "keys": "fog", "entry": "Grey."}]', "“AI Dungeon”", Belongs.OTHER_LORE),
        ('{"chat_metadata": {}}\n{"name": "Ann", "mes": "Fog."}', "a chat, and no scenario", Belongs.CHAT),
        ('{"power_user": {}}', "a settings file of SillyTavern's", Belongs.SETTINGS),
        ("key,content\nfog,Grey.\nbell,Rings.", "this is a table", Belongs.OTHER_LORE),
    ],
)
def test_another_kind_of_file_is_named_with_its_place(tmp_path: Path, text: str, words: str, belongs: Belongs) -> None:
    error = refused(tmp_path, text)
    assert words in error.message
    assert str(belongs) in error.message


def test_further_problems_are_counted(tmp_path: Path) -> None:
    error = refused(tmp_path, json.dumps({"id": "x"}))
    assert error.field == "vaults"
    assert "(2 more problems follow it)" in error.message


@pytest.mark.parametrize("data", ["5", '"text"', "[3]", '{"scenario": []}', json.dumps(SCENARIO) + "\n7\n"])
def test_what_is_no_object(tmp_path: Path, data: str) -> None:
    assert "a scenario is a JSON object" in refused(tmp_path, data).message


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("[" * 200_000, 1, "nested too deeply, column 200000"),
        ("[" * 200_000 + '"[[\\"[', 1, "nested too deeply, column 200000"),  # a text that does not end is one, too
        ('{"id": "[[",\n "tags":\n' + "[" * 200_000 + "]" * 200_000 + "}", 3, "nested too deeply, column 200000"),
        pytest.param("[" * 1_000_100, 1, "nested too deeply, column 1000000", marks=pytest.mark.long),
        ('{"id": "NaN \\" NaN",\n "generations": [1,\n  NaN]}', 3, "NaN is no JSON number, column 3"),
        ('{"id": "x",\n "max_context": -Infinity}', 2, "-Infinity is no JSON number, column 17"),
        (TWO + '{"id": NaN}\n', 3, "NaN is no JSON number, column 8"),
    ],
    ids=["open", "text open", "deep", "bottomless", "number", "endless", "lines"],
)
def test_what_json_does_not_have_is_refused_with_its_line(tmp_path: Path, text: str, line: int, words: str) -> None:
    error = refused(tmp_path, text)
    assert error.line == line
    assert words in error.message


def test_text_that_is_not_utf_8(tmp_path: Path) -> None:
    error = refused(tmp_path, b'{"id":\n "caf\xe9"}')
    assert error.line == 2
    assert "byte 12 of the file is not UTF-8" in error.message


@pytest.mark.parametrize("cut", [slice(0, 40), slice(0, -8)])
def test_a_damaged_gz_file(tmp_path: Path, cut: slice) -> None:
    packed = gzip.compress(TWO.encode())
    assert "cannot be read" in refused(tmp_path, packed[cut], "s.gz").message


def test_garbage_behind_the_gz_mark(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(TWO.encode()))
    packed[12:40] = b"\xff" * 28
    assert "cannot be read" in refused(tmp_path, bytes(packed), "s.gz").message


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"gone\.json: the file cannot be read: No such file"):
        read_records(tmp_path / "gone.json")


def test_of_very_many_strange_fields_the_first_are_told_and_the_others_counted(tmp_path: Path) -> None:
    strange = {f"strange{number:05}": number for number in range(MOST_UNKNOWN + 1234)}
    told = read_records(written(tmp_path, json.dumps({**SCENARIO, **strange})))[0].unheeded
    assert [each.partition("”")[0].removeprefix("“") for each in told] == [*strange][:MOST_UNKNOWN]
    assert told[-1].endswith("1,234 more.")
    assert " more." not in "".join(told[:-1])
