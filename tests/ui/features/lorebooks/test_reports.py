"""The reports of lorebooks alone: what becomes of fields and entries, how far work is, and when it may be done."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtWidgets import QWidget

from lorestudio.domain.lifecycle import Cancelled
from lorestudio.exchange.lorebooks.crossing import EntryFate, Fidelity, FieldFate, LoreReport
from lorestudio.studio.lorebooks.exporting import ExportedNote
from lorestudio.studio.lorebooks.importing import ImportedEntry
from lorestudio.studio.lorebooks.syncing import SyncItem, SyncState
from lorestudio.ui.features.lorebooks import dialogs
from lorestudio.ui.features.lorebooks.dialogs import (
    EntryRow,
    LoreDialog,
    _as_text,
    _exported,
    _imported,
    _short,
    _synced,
    said_of,
)
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.state.drafts import Drafts
from lorestudio.ui.state.note_changes import NoteWork

EXACT, CARRIED, LOST = Fidelity.EXACT, Fidelity.CARRIED, Fidelity.LOST


def fate(*fields: tuple[str, Fidelity], left_out: str = "") -> EntryFate:
    return EntryFate("7", "Skarn", tuple(FieldFate(name, how) for name, how in fields), left_out)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (fate(), ""),
        (fate(("key", EXACT)), ""),
        (fate(("key", EXACT), ("sticky", CARRIED), *[("order", LOST)] * 2), "sticky: carried along, order: lost"),
        (fate(("order", LOST), left_out="It is empty."), "It is empty."),
    ],
)  # fmt: skip
def test_an_entry_says_what_is_not_exact(made: EntryFate, said: str) -> None:
    assert said_of(made) == said


@pytest.mark.parametrize(
    ("one", "row"),
    [
        (ImportedEntry("Isles", fate(("order", LOST)), "a.md"), ("a.md", "order: lost", True)),
        (ImportedEntry("Isles", fate(), "a.md", "b.md", "the same keys"), ("a.md", "b.md has the same keys", True)),
        (
            ImportedEntry("Isles", fate(("order", LOST)), "a.md", "b.md", "the same keys"),
            ("a.md", "b.md has the same keys; order: lost", True),
        ),
        (ImportedEntry("Isles", fate(left_out="b.md has it."), "", "b.md", "all"), ("", "b.md has it.", False)),
    ],
)
def test_an_entry_that_comes_in_says_what_the_vault_has_of_it(one: ImportedEntry, row: tuple[str, str, bool]) -> None:
    assert _imported(one) == EntryRow(("Isles", "7"), "Skarn", *row)


@pytest.mark.parametrize(
    ("raw", "tried", "row"),
    [
        ({}, "", ("7", "order: lost", True)),
        ({}, "in 2 replies", ("7", "in 2 replies", True)),
        (None, "", ("", "order: lost", False)),
    ],
)
def test_a_note_that_goes_out_says_its_number(raw: Any, tried: str, row: tuple[str, str, bool]) -> None:
    note = ExportedNote("a.md", raw, fate(("order", LOST)))
    assert _exported(note, tried) == EntryRow(("a.md", ""), "Skarn", *row)


def test_a_pair_says_what_differs_and_what_each_side_says_where_both_changed() -> None:
    item = SyncItem("7", "Skarn", "a.md", SyncState.BOTH, ("key", "order"), {"order": (40, ["x" * 60])})
    row = _synced(item)
    assert (row.key, row.place) == (("7", "changed in both"), "changed in both")
    assert row.said.startswith('order: the note says 40, the book ["xxx')
    assert len(row.said) < 90
    calm = SyncItem("7", "Skarn", "a.md", SyncState.THERE, ("key", "order"))
    assert _synced(calm).said == "key, order"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a\nb", "a\nb"), (["a", "b"], "a\nb\n"), (("a",), "a\n"), ([], ""), (["a\nb"], '["a\\nb"]'), ([1], "[1]"),
        (3, "3"), (None, "null"),
    ],
)  # fmt: skip
def test_values_become_lines_where_they_can(value: Any, text: str) -> None:
    assert _as_text(value) == text


def test_long_values_are_shortened() -> None:
    assert _short("x" * 10) == '"xxxxxxxxxx"'
    assert len(_short("x" * 100)) == 40


# ---- the dialog -----------------------------------------------------------------------------------------------------


@pytest.fixture
def parent(qtbot) -> QWidget:
    made = QWidget()
    qtbot.addWidget(made)
    return made


@pytest.fixture
def dialog(theme: Theme, parent: QWidget, qtbot, make_session) -> LoreDialog:
    session = make_session(replay=False)
    work = NoteWork(session, Drafts(), lambda _paths, _told: None, session)
    made = LoreDialog(theme, work, "Import", "Make notes", ("Entry", "Note"), parent)
    made.arrange()
    made.show()
    qtbot.waitExposed(made)
    return made


ROWS = (EntryRow(("b", "1"), "Skarn", "a.md", ""), EntryRow(("b", "2"), "Bell", "", "", going=False))


def test_what_is_found_is_shown_and_may_be_done_once_losses_are_agreed_to(dialog: LoreDialog) -> None:
    assert not dialog.ok.isEnabled()
    dialog.show_reports([LoreReport("a", "b", (fate(("key", EXACT)),))], ROWS)
    assert [texts[:3] for texts in dialog.fields.texts()[1:]] == [["key", "exact", "1"]]
    assert (dialog.entries.rows, dialog.entries.chosen) == (ROWS, {("b", "1")})
    assert (dialog.bar.isVisible(), dialog.lossy.isVisible(), dialog.ok.isEnabled()) == (False, False, True)
    losing = LoreReport("a", "b", (fate(("order", LOST)),), ("It scans less.", "It scans less.", "Twice."))
    dialog.show_reports([LoreReport("a", "b"), losing], ROWS)
    assert dialog.bar.label.text() == "It scans less. (2 times) Twice."
    assert (dialog.lossy.isVisible(), dialog.ok.isEnabled()) == (True, False)
    dialog.lossy.click()
    assert dialog.ok.isEnabled()
    dialog.lossy.click()
    assert not dialog.ok.isEnabled()
    dialog.wait_for("Name a file.")
    assert (dialog.state.text(), dialog.bar.isVisible(), dialog.ok.isEnabled()) == ("Name a file.", False, False)
    dialog.refuse("No such file.")
    assert (dialog.fields.rows, dialog.entries.rows, dialog.bar.label.text()) == ((), (), "No such file.")
    assert (dialog.lossy.isVisible(), dialog.ok.isEnabled()) == (False, False)


def test_how_far_it_is_is_told_after_a_while_and_it_stops_where_somebody_wants(
    dialog: LoreDialog, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr(dialogs.time, "monotonic", lambda: now[0])
    seen: list[tuple[int, int]] = []
    dialog.progressed.connect(lambda done, total: seen.append((done, total)))
    report = dialog.watched("Reading:")
    for done in range(1, 42):
        report(done, 45)
    assert seen == [(20, 45), (40, 45)]
    assert not dialog.strip.isVisible()
    now[0] += 1
    report(44, 45)
    assert not dialog.strip.isVisible()  # not every entry is told
    report(60, 90)
    assert (dialog.strip.isVisible(), dialog.strip.label.text()) == (True, "Reading: 60 of 90")
    assert dialog.strip.stop.isVisible()
    report(90, 90)
    assert not dialog.strip.isVisible()
    report(60, 90)
    dialog.show_reports([], ROWS)
    assert not dialog.strip.isVisible()
    report(60, 90)
    dialog.refuse("It broke.")
    assert not dialog.strip.isVisible()
    report(60, 90)
    dialog.strip.stop.click()
    assert dialog.strip.label.text() == "Stopping…"
    dialog.progressed.emit(80, 90)
    assert dialog.strip.label.text() == "Stopping…"
    with pytest.raises(Cancelled, match="Nothing was changed"):
        report(80, 90)
    again, newest = dialog.watched("Reading:"), dialog.watched("Reading:")
    newest(1, 90)
    with pytest.raises(Cancelled):
        again(1, 90)  # whatever was begun before
    dialog.reject()
    with pytest.raises(Cancelled):
        newest(1, 90)
