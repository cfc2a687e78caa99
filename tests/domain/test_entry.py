"""What thousands of entries cost."""

from __future__ import annotations

import gc

from lorestudio.domain.entry import Entry


def test_entries_are_no_work_for_the_garbage_collector() -> None:
    """The window waits while it goes through all that can be part of a cycle; an entry cannot."""
    assert not gc.is_tracked(Entry(0, "Crown.md", "v", "Crown", keys=("crown",)))
