"""What extensions write of the lore beside a reply (rules: recorded-sources 1, 2)."""

from __future__ import annotations

import pytest

from lorestudio.domain.entry import Entry
from lorestudio.exchange.chats.document import read_message
from lorestudio.exchange.chats.recorded import (
    ACTIVE_BOOKS,
    BOOK_VIEWER,
    RecordedEntry,
    found_among,
    noted_tokens,
    recorded_entries,
)

ROW = {"title": "Lamp", "filename": "a/Lamp.md", "matchedBy": "oil", "priority": 20, "tokens": 7, "vaultSource": "W"}


def test_each_swipe_has_its_own_record() -> None:
    def info(*tokens: int) -> dict[str, object]:
        return {"extra": {"deeplore_sources": [{"title": "A", "tokens": each} for each in tokens]}}

    raw = {"name": "Ada", "mes": "b", "swipes": ["a", "b", "c"], "swipe_id": 1,
           "swipe_info": [info(10, 20), {}, {}], **info(7)}  # fmt: skip
    message = read_message(raw)
    assert [noted_tokens(message, swipe) for swipe in range(4)] == [30, 7, None, None]


def test_the_active_swipe_falls_back_on_its_own_information_only() -> None:
    infos = [{"extra": {"deeplore_sources": [ROW]}}, {"extra": {"deeplore_sources": [{"title": "B"}]}}]
    raw = {"mes": "b", "swipes": ["a", "b"], "swipe_id": 1, "extra": {}, "swipe_info": infos}
    message = read_message(raw)
    assert recorded_entries(message, 1) == (RecordedEntry("B"),)
    assert recorded_entries(message, 0) == (RecordedEntry("Lamp", "a/Lamp.md", "W", "oil", 7, 20),)


@pytest.mark.parametrize("broken", [[], "x", 4, None, [3], [{"tokens": 4}], {"title": "A"}])
def test_what_is_no_record_counts_as_none(broken: object) -> None:
    assert recorded_entries(read_message({"mes": "", "extra": {"deeplore_sources": broken}}), 0) is None


def test_figures_that_are_none_are_left_out() -> None:
    row = {"title": "A", "tokens": "9", "priority": True}
    found = recorded_entries(read_message({"mes": "", "extra": {"deeplore_sources": [row]}}), 0)
    assert found == (RecordedEntry("A"),)


def test_records_of_other_extensions() -> None:
    extra = {
        ACTIVE_BOOKS: [{"world": "Marsh", "comment": "Lamp", "strategy": "normal"}, {"world": "x"}],
        BOOK_VIEWER: {"global": [{"worldName": "Marsh", "entryName": "Reed"}], "chat": None},
    }
    message = read_message({"mes": "", "extra": extra})
    assert recorded_entries(message, 0, ACTIVE_BOOKS) == (RecordedEntry("Lamp", vault="Marsh", reason="normal"),)
    assert recorded_entries(message, 0, BOOK_VIEWER) == (RecordedEntry("Reed", vault="Marsh"),)


def test_an_entry_is_found_by_title_then_by_file_and_the_vault_only_chooses() -> None:
    lamp, other, moved = (
        Entry(0, "Lamp.md", "V", "Lamp"),
        Entry(1, "Lamp.md", "W", "Lamp"),
        Entry(2, "x.md", "V", "New"),
    )
    entries = [lamp, other, moved]
    assert found_among(RecordedEntry("Lamp", "Lamp.md", "W"), entries) is other
    assert found_among(RecordedEntry("Lamp", "b/Lamp.md", "Default"), entries) is lamp
    assert found_among(RecordedEntry("Old", "x.md", "Default"), entries) is moved
    assert found_among(RecordedEntry("Gone", "gone.md", "V"), entries) is None
