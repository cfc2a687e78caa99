"""Recorded runs of the original: all decisions of all generations come out the same."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from lorestudio.exchange.scenario_file import Scenario
from lorestudio.studio.replay.scenario import run_scenario
from tests.examples import some_at_once
from tests.golden.__main__ import main
from tests.golden.compare import Case, differences, read_cases
from tests.golden.files import GOLDEN_DEV

CASES = read_cases(GOLDEN_DEV)
KEYWORDS_ONLY = [case for case in CASES if case.keywords_only]
WITH_AI = [case for case in CASES if not case.keywords_only]


def test_all_recorded_runs_are_there() -> None:
    assert (len(CASES), len(KEYWORDS_ONLY)) == (400, 204)


def check(case: Case) -> None:
    got = run_scenario(Scenario.model_validate(case.scenario))["expected"]
    found = differences(case, got)
    assert not found, "\n".join(map(str, found[:10]))


@pytest.mark.parametrize("case", some_at_once(KEYWORDS_ONLY, lambda case: case.id))
def test_keywords_only(case: Case) -> None:
    check(case)


@pytest.mark.parametrize("case", some_at_once(WITH_AI, lambda case: case.id))
def test_with_an_ai_selection(case: Case) -> None:
    check(case)


@pytest.mark.long
def test_the_command_prints_what_was_recorded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first ones through `lorestudio run`, then with one record changed."""
    lines = gzip.decompress(GOLDEN_DEV.read_bytes()).decode("utf-8").splitlines()[:8]
    record = json.loads(lines[3])
    record["expected"]["generations"][0]["outcome"] = "another"
    for name, changed, told in (("same", lines[3], "8 of 8 equal"), ("other", json.dumps(record), "7 of 8 equal")):
        file = tmp_path / name
        file.write_text("\n".join([*lines[:3], changed, *lines[4:]]), encoding="utf-8")
        assert main([str(file), "--command"]) == (changed != lines[3])
        assert capsys.readouterr().out.splitlines()[-1] == told
