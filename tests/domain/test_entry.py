"""What thousands of entries cost."""

from __future__ import annotations

import gc

from lorestudio.domain.entry import Entry, LeftOutNote, NoteProblem, VaultIndex


def test_entries_are_no_work_for_the_garbage_collector() -> None:
    """The window waits while it goes through all that can be part of a cycle; an entry cannot."""
    assert not gc.is_tracked(Entry(0, "Crown.md", "v", "Crown", keys=("crown",)))


def test_a_note_is_found_by_its_vault_and_its_file() -> None:
    here, there = Entry(0, "Lamp.md", "one", "Lamp"), Entry(1, "Lamp.md", "two", "Lamp")
    plain = LeftOutNote("Wick.md", "two", NoteProblem.NO_LOREBOOK_TAG, "")
    index = VaultIndex((here, there), (plain,))
    assert [index.note(note.note_key) for note in (here, there, plain)] == [here, there, plain]
    assert index.note(("one", "Wick.md")) is None
    assert index.note_keys == {("one", "Lamp.md"), ("two", "Lamp.md"), ("two", "Wick.md")}
