"""What tests of the trace share."""

from __future__ import annotations

import pytest

from lorestudio.domain.entry import VaultIndex
from lorestudio.ui.features.trace.answers import AnswerTable
from tests.ui.conftest import check
from tests.ui.worlds import ENTRIES, LEFT_OUT, make_trace

INDEX = VaultIndex(ENTRIES, LEFT_OUT, vaults=("vault",))


@pytest.fixture
def model(qapp: object) -> AnswerTable:
    made = AnswerTable()
    check(made)
    made.set_trace(make_trace(), INDEX)
    return made
