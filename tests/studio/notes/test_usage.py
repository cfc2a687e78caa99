"""How often entries fired, as DeepLore counts it (rules: deeplore 6.6)."""

from __future__ import annotations

import csv
import io

import pytest

from lorestudio.domain.state import Usage
from lorestudio.domain.tokens import CHARS_4
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.studio.notes.usage import COLUMNS, read_usage, usage_csv, usage_of, usage_rows, when_utc
from lorestudio.trace.timeline import Fired
from lorestudio.vault.files import NoteFile, VaultFiles
from lorestudio.vault.index import build_index

NOTE = "---\ntags: [lorebook]\nkeys: [x]\n---\nText.\n"


def index(**vaults: tuple[str, ...]):
    files = [
        VaultFiles(name, tuple(NoteFile(f"{title}.md", NOTE) for title in notes)) for name, notes in vaults.items()
    ]
    return build_index(files, DeepLoreSettings(), CHARS_4)


def test_counts_are_read_and_buckets_about_no_entry_are_not() -> None:
    found = read_usage(
        {
            "Default:Lamp": {"matched": 7, "injected": 4, "lastTriggered": 1_700_000_000_000},
            "Default:Odd": {"matched": "many", "injected": -1, "lastTriggered": True},
            "_librarian": {"totalGapSearches": 3},
            "Default:None": None,
        }
    )
    assert found == {"Default:Lamp": Usage(7, 4, 1_700_000_000_000), "Default:Odd": Usage()}
    assert read_usage(None) == read_usage([1]) == {}


def test_a_count_is_that_of_the_entry_with_vault_and_title() -> None:
    both = index(north=("Lamp", "A: B"), south=("Lamp",))
    ids = {(entry.vault, entry.title): entry.id for entry in both.entries}
    counts = usage_of(both, {"north:Lamp": Usage(2, 1, 5), "south:Lamp": Usage(9, 9, 9), "north:A: B": Usage(1, 1, 1)})
    found = {key: counts[number] for key, number in ids.items()}
    assert found == {
        ("north", "Lamp"): Usage(2, 1, 5), ("south", "Lamp"): Usage(9, 9, 9), ("north", "A: B"): Usage(1, 1, 1),
    }  # fmt: skip


def test_a_vault_of_another_name_counts_where_the_title_is_one_alone() -> None:
    one = index(vault=("Lamp", "Tide"))
    ids = {entry.title: entry.id for entry in one.entries}
    recorded = {"Default:Lamp": Usage(2, 1, 5), "Other: x:Lamp": Usage(1, 1, 9), "Default:Gone": Usage(1, 1, 1)}
    assert usage_of(one, recorded) == {ids["Lamp"]: Usage(3, 2, 9)}
    assert usage_of(index(a=("Lamp",), b=("Lamp",)), {"Default:Lamp": Usage(2, 1, 5)}) == {}


def test_the_table_has_a_row_for_every_entry_those_that_fired_first() -> None:
    known = index(vault=("Lamp", "=Tide", "Moth"))
    ids = {entry.title: entry.id for entry in known.entries}
    fired = {ids["Moth"]: Fired(3, 2)}
    rows = usage_rows(known, {"vault:=Tide": Usage(5, 4, 1_700_000_000_000)}, lambda entry: fired.get(entry, Fired()))
    assert [row.entry.title for row in rows] == ["Moth", "=Tide", "Lamp"]
    table = list(csv.reader(io.StringIO(usage_csv(rows).decode("utf-8-sig"))))
    assert tuple(table[0]) == COLUMNS
    assert table[1] == ["vault", "Moth.md", "Moth", "3", "2", "0", "0", ""]
    assert table[2] == ["vault", "'=Tide.md", "'=Tide", "0", "0", "5", "4", "2023-11-14T22:13:20+00:00"]


@pytest.mark.parametrize("moment", [0, -5, 10**17, 9 * 10**18])
def test_what_no_calendar_has_is_no_time(moment: int) -> None:
    assert when_utc(moment) == ""
