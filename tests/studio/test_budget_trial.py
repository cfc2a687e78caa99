from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from lorestudio.studio import Simulator, demo_project
from lorestudio.studio.budget_trial import BudgetTrial
from lorestudio.studio.generation import Generation
from lorestudio.trace.limits import positional, token_limit


def test_another_budget_is_really_run() -> None:
    simulator = Simulator(demo_project())
    generation = simulator.generations[3]
    asyncio.run(simulator.generate(generation))
    trial = BudgetTrial(simulator, generation)
    wide = trial.run(50_000)
    limit = token_limit(wide)
    assert limit is not None
    assert limit.maximum == 50_000
    assert {each.entry for each in wide.injections} >= {each.entry for each in trial.before.injections}
    assert not [each for each in wide.injections if each.truncated]
    narrow = trial.run(200)
    assert sum(each.tokens for each in positional(narrow)) <= 200
    project = simulator.project
    settings = project.settings.model_copy(update={"max_tokens_budget": 200})
    other = Simulator(replace(project, settings=settings))
    asyncio.run(other.generate(simulator.generations[0]))
    first = BudgetTrial(simulator, simulator.generations[0])
    assert first.run(200).injections == other.traces[simulator.generations[0]].injections
    assert first.run(first.budget).injections == first.before.injections
    assert simulator.traces[generation] is trial.before
    assert wide.digests["inputs"] != trial.before.digests["inputs"]


def test_a_generation_that_was_not_run_is_refused() -> None:
    with pytest.raises(ValueError, match="has not been run"):
        BudgetTrial(Simulator(demo_project()), Generation(2, 0))
