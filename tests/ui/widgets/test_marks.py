"""What sort of entry a note is, as a mark."""

from __future__ import annotations

from lorestudio.domain.records import replace
from lorestudio.ui.widgets.marks import entry_kind
from tests.ui.worlds import ENTRIES, RULES, SKARN


def test_kinds() -> None:
    assert entry_kind(ENTRIES[RULES]).icon == "constant"
    assert entry_kind(replace(ENTRIES[RULES], guide=True)).icon == "guide"
    assert entry_kind(replace(ENTRIES[SKARN], seed=True)).icon == "seed"
    assert entry_kind(replace(ENTRIES[SKARN], bootstrap=True)).icon == "bootstrap"
