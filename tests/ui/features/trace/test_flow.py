"""The funnel: how many candidates each stage had and left."""

from __future__ import annotations

import pytest

from lorestudio.ui.features.trace.flow import FunnelList, steps
from lorestudio.ui.shell.qt import ACCESSIBLE_TEXT
from tests.ui.conftest import check
from tests.ui.worlds import make_trace

pytestmark = pytest.mark.usefixtures("qapp")


def test_the_funnel_counts() -> None:
    found = {step.stage: (step.left, step.added, step.removed) for step in steps(make_trace())}
    assert found == {"constants": (1, 1, 0), "keywords": (4, 3, 0), "budget": (3, 0, 1)}
    assert len(steps(make_trace(), everything=True)) == 6
    budget = steps(make_trace())[-1]
    assert (budget.share, budget.removed_share) == (0.75, 0.25)
    assert budget.why == "Cut by the budget × 1"


def test_funnel_rows_are_words_too() -> None:
    model = FunnelList()
    check(model)
    model.set_rows(steps(make_trace()))
    assert model.index(1, 0).data(ACCESSIBLE_TEXT) == "keywords: 4 candidates, 3 added (Key found × 3)"
