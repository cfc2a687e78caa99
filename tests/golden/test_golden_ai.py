"""Recorded runs of the original in which a model chooses: what the comparison of decisions cannot see.

Beside the decisions, these are the numbers inside wordings that are our own, and that no behaviour switch is noted.
At the end stands what the recorded runs cover.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest

from lorestudio.exchange.scenario_file import Scenario
from lorestudio.studio.replay.scenario import run_scenario
from lorestudio.systems.base import Decided
from lorestudio.systems.deeplore import system as deeplore
from lorestudio.systems.deeplore.inputs import Inputs
from lorestudio.systems.deeplore.run import run
from tests.examples import some_at_once
from tests.golden.compare import Case, differences, read_cases
from tests.golden.files import GOLDEN_DEV

CASES = [case for case in read_cases(GOLDEN_DEV) if not case.keywords_only]

EXACTLY = re.compile(r"exactly (\d+) entries")


def numbers(system: dict[str, Any]) -> list[str]:
    """How many entries a new chat is asked for, from the paragraph that is appended to the prompt."""
    return EXACTLY.findall(system.get("suffix", system.get("text", "")))


@pytest.mark.parametrize("case", some_at_once(CASES, lambda case: case.id))
def test_all_decisions_numbers_and_switches(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    traces = []

    async def seen(context: Inputs) -> Decided:
        result = await run(context)
        traces.append(result.trace)
        return result

    monkeypatch.setattr(deeplore, "run", seen)
    got = run_scenario(Scenario.model_validate(case.scenario))["expected"]
    assert differences(case, got) == []
    for expected, mine, trace in zip(case.expected["generations"], got["generations"], traces, strict=True):
        for theirs, ours in zip(expected.get("ai_calls", ()), mine.get("ai_calls", ()), strict=True):
            if theirs["kind"] == "search":
                assert numbers(ours["system"]) == numbers(theirs["system"])
        assert not trace.facts.get("switches")
        for record in trace.stages:
            assert record.error == ""


def census() -> Counter[str]:
    """What happens in the recorded generations, and how often."""
    seen: Counter[str] = Counter()
    for case in CASES:
        settings = dict(case.scenario["settings"])
        for scripted, expected in zip(case.scenario["generations"], case.expected["generations"], strict=True):
            settings |= scripted.get("settings_patch", {})
            ai = expected.get("ai")
            for call in expected.get("ai_calls", ()):
                seen[call["kind"]] += 1
                seen["a new chat's number"] += bool(numbers(call["system"]))
            if ai is None:
                continue
            mode = settings.get("aiSearchMode", "two-stage")
            seen[f"{mode} from the cache"] += bool(ai.get("cache_hit"))
            if ai["error"]:
                seen[f"{mode} error {settings.get('aiErrorFallback', 'keyword')}"] += 1
            elif not ai["results"]:
                seen[f"{mode} empty {settings.get('aiEmptyFallback', 'constants')}"] += 1
            else:
                seen[f"{mode} chosen"] += 1
    return seen


def test_what_the_recorded_runs_cover() -> None:
    """Every mode with a choice, a cached choice and every fallback is among them."""
    seen = census()
    assert len(CASES) == 196
    wanted = {"search", "prefilter", "a new chat's number"}
    for mode in ("two-stage", "ai-only"):
        wanted |= {f"{mode} chosen", f"{mode} from the cache"}
        wanted |= {f"{mode} error {value}" for value in ("keyword", "constants_only", "bootstrap_only", "none")}
        wanted |= {f"{mode} empty {value}" for value in ("constants", "constants_bootstrap", "keyword", "none")}
    assert {key for key in wanted if not seen[key]} == set()
