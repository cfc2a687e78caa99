"""Recorded runs by the rules of DeepLore 2.6: all decisions of all generations come out the same."""

from __future__ import annotations

import pytest

from lorestudio.exchange.scenario_file import Scenario
from lorestudio.studio.replay.scenario import run_scenario
from lorestudio.systems.registry import kind_of
from tests.examples import some_at_once
from tests.golden.compare import Case, differences, read_cases
from tests.golden.files import GOLDEN_26

CASES = read_cases(GOLDEN_26)


def test_all_recorded_runs_are_there() -> None:
    assert len(CASES) == 391
    assert {case.scenario["rules"] for case in CASES} == {"2.6"}


@pytest.mark.parametrize("case", some_at_once(CASES, lambda case: case.id))
def test_by_the_rules_of_2_6(case: Case) -> None:
    found = differences(case, run_scenario(Scenario.model_validate(case.scenario))["expected"])
    assert not found, "\n".join(map(str, found[:10]))


ASKING = [case for case in CASES if any(one.get("ai_calls") for one in case.expected["generations"])]


@pytest.mark.parametrize("case", ASKING[::12], ids=lambda case: case.id)
def test_its_questions_are_told_by_what_they_are_about(case: Case) -> None:
    """So that an answer captured from DeepLore itself answers the studio's question, which has other words."""
    got = run_scenario(Scenario.model_validate(case.scenario))["expected"]
    theirs, ours = (
        [call["user"] for one in expected["generations"] for call in one.get("ai_calls", ()) if "user" in call]
        for expected in (case.expected, got)
    )
    about = kind_of("deeplore").asked_about
    assert [about([text]) for text in theirs] == [about([text]) for text in ours]
    assert any(theirs)
