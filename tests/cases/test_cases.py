import gzip
import json

import pytest

from tests.cases import __main__ as command
from tests.cases.runner import FOLDER, Failure, plain_cases, read_document, run, same, systems

FILES = {path.name.removesuffix(".json.gz"): path for path in sorted(FOLDER.glob("*.json.gz"))}
"""The case files kept here, each named like its system; where it has several, `SYSTEM.PART`."""
LARGE = ("deeplore-functions.engine", "world-info")
"""Hundreds of cases, which take seconds: one in four at once, all with the tests marked `long`."""


@pytest.mark.parametrize(
    ("name", "every"),
    [
        *(pytest.param(name, 1, id=name, marks=pytest.mark.long if name in LARGE else ()) for name in FILES),
        *(pytest.param(name, 4, id=f"{name}, one in four") for name in LARGE),
    ],
)
def test_every_case_has_the_expected_outcome(name, every):
    report = run(name.partition(".")[0], FILES[name], every)
    assert report.total > 0
    assert not report.failures, report.text


def test_a_system_is_named_like_its_module():
    assert "recap" in systems()
    assert not {"runner", "test-cases"} & set(systems())


@pytest.mark.parametrize(
    ("actual", "expected", "equal"),
    [
        (1, True, False),
        (1.0, 1, True),
        ({"a": [1, None]}, {"a": (1, None)}, True),
        ({"a": None}, {}, False),
        ([1, 2], [2, 1], False),
    ],
)
def test_values_are_compared_as_json(actual, expected, equal):
    assert same(actual, expected) is equal


def test_files_may_be_compressed_plain_or_json_lines(tmp_path):
    case = {"id": "1", "operation": "retry_delay", "input": {"retries": 1}, "expected": {"seconds": 10}}
    plain, packed, lines = (tmp_path / name for name in ("plain.json", "packed.json.gz", "lines.jsonl"))
    plain.write_text(json.dumps({"cases": [case]}))
    packed.write_bytes(gzip.compress(json.dumps([case]).encode()))
    lines.write_text(f"{json.dumps(case)}\n{json.dumps(case)}\n")
    assert [len(plain_cases(read_document(path))) for path in (plain, packed, lines)] == [1, 1, 2]


def test_the_command_says_which_cases_differ(tmp_path, capsys):
    file = tmp_path / "cases.json"
    good = {"id": "1", "operation": "retry_delay", "input": {"retries": 1}, "expected": {"seconds": 10}}
    file.write_text(json.dumps({"cases": [good]}))
    assert command.main(["recap", str(file)]) == 0
    assert capsys.readouterr().out == "1 of 1 equal\n"
    unknown = {"id": "3", "operation": "no_such", "input": {}, "expected": {}}
    file.write_text(json.dumps({"cases": [good, {**good, "id": "2", "expected": {"seconds": 11}}, unknown]}))
    assert command.main(["recap", str(file)]) == 1
    out = capsys.readouterr().out.splitlines()
    assert out[0] == '2 retry_delay: expected {"seconds": 11}, got {"seconds": 10}'
    assert out[1].startswith("3 no_such: expected {}, KeyError")
    assert out[2] == "1 of 3 equal"


def test_a_failing_case_is_one_line_whatever_it_holds():
    failure = Failure({"id": "1", "expected": "a\u2028b"}, problem="ValueError: first\nsecond")
    assert failure.line == '1: expected "a\\nb", ValueError: first\\nsecond'


def test_a_command_that_cannot_be_used_says_why(tmp_path, capsys):
    assert command.main(["recap"]) == 2
    assert command.main(["nothing", str(tmp_path)]) == 2
    assert "There is no system “nothing”" in capsys.readouterr().err
