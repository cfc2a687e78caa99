"""The dialogs of lorebooks without a window: what becomes of fields and entries, and when it may be done."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QFormLayout, QPushButton, QRadioButton, QWidget

from lorestudio.domain.lifecycle import Cancelled
from lorestudio.exchange.lorebooks.crossing import EntryFate, Fidelity, FieldFate, LoreReport
from lorestudio.exchange.lorebooks.formats import FORMATS
from lorestudio.studio.lorebooks.exporting import ExportedNote
from lorestudio.studio.lorebooks.importing import ImportedEntry
from lorestudio.studio.lorebooks.syncing import SyncItem, SyncState
from lorestudio.studio.project.project import open_project
from lorestudio.ui.features.lorebooks import dialogs
from lorestudio.ui.features.lorebooks.dialogs import (
    EntryRow,
    ExportBookDialog,
    ImportBooksDialog,
    LoreDialog,
    SyncDialog,
    _as_text,
    _exported,
    _imported,
    _short,
    _synced,
    said_of,
)
from lorestudio.ui.features.notes.conflict_dialog import ConflictDialog
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.state.drafts import Drafts
from lorestudio.ui.state.note_changes import NoteWork
from lorestudio.ui.widgets import dialogs as choosing
from tests.studio.lorebooks.test_exporting import imported
from tests.studio.lorebooks.test_importing import book

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
    assert (dialog.ok.isEnabled(), dialog.ok.toolTip()) == (False, "There is nothing to do yet.")
    dialog.show_reports([LoreReport("a", "b", (fate(("key", EXACT)),))], ROWS)
    assert dialog.ok.toolTip() == ""
    assert [texts[:3] for texts in dialog.fields.texts()[1:]] == [["key", "exact", "1"]]
    assert (dialog.entries.rows, dialog.entries.chosen) == (ROWS, {("b", "1")})
    assert (dialog.bar.isVisible(), dialog.lossy.isVisible(), dialog.ok.isEnabled()) == (False, False, True)
    losing = LoreReport("a", "b", (fate(("order", LOST)),), ("It scans less.", "It scans less.", "Twice."))
    dialog.show_reports([LoreReport("a", "b"), losing], ROWS)
    assert dialog.bar.label.text() == "It scans less. (2 times) Twice."
    assert (dialog.lossy.isVisible(), dialog.ok.isEnabled()) == (True, False)
    assert dialog.ok.toolTip() == "Agree to what is lost first."
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


# ---- a book and its notes -------------------------------------------------------------------------------------------

SKARN = {"key": ["skarn"], "comment": "Skarn", "content": "An isle."}
OTHER = {"key": ["other"], "comment": "Other", "content": "Else."}


class Linked:
    """A book, the vault of its notes, and dialogs over both."""

    def __init__(self, folder: Path, theme: Theme, parent: QWidget, make_session: Callable[..., Any], qtbot) -> None:
        self.path = book(folder, SKARN, OTHER)
        self.place = imported(folder, self.path)
        self.note = self.place / "Sea/Skarn.md"
        self.session = make_session(open_project([self.place]), replay=False)
        self.work = NoteWork(self.session, Drafts(), lambda _paths, told: told([]), self.session)
        self.work.use(folder / "kept")
        self._theme, self._parent, self._qtbot = theme, parent, qtbot

    def shown(self, kind: type[Any]) -> Any:
        made = kind(self._theme, self.work, self.session.project, self._parent)
        made.show()
        self.settle()
        return made

    def settle(self) -> None:
        self._qtbot.waitUntil(lambda: self.session.jobs.idle and not self.session.busy)

    def press(self, which: QPushButton) -> None:
        which.click()
        self.settle()

    def choose(self, box: Any, words: str) -> None:
        box.setCurrentIndex(box.findText(words))
        self.settle()

    @property
    def entries(self) -> dict[str, Any]:
        return json.loads(self.path.read_bytes())["entries"]

    def change(self, **entries: dict[str, Any] | None) -> None:
        """Change these entries of the book, by their numbers; those that are None are gone."""
        whole = json.loads(self.path.read_bytes())
        for name, members in entries.items():
            uid = name.strip("_")
            if members is None:
                del whole["entries"][uid]
            else:
                whole["entries"].setdefault(uid, dict(whole["entries"]["0"]) | {"uid": int(uid)}).update(members)
        self.path.write_text(json.dumps(whole), encoding="utf-8")

    def write(self, *changes: tuple[str, str]) -> None:
        """Change the note."""
        text = self.note.read_text(encoding="utf-8")
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        self.note.write_text(text, encoding="utf-8")


@pytest.fixture
def linked(tmp_path: Path, theme: Theme, parent: QWidget, make_session: Callable[..., Any], qtbot) -> Linked:
    return Linked(tmp_path, theme, parent, make_session, qtbot)


def found(dialog: LoreDialog) -> dict[str, str]:
    return {row.title: row.place for row in dialog.entries.rows}


def test_what_only_one_side_has_is_taken_over_left_or_deleted_as_chosen(linked: Linked) -> None:
    dialog = linked.shown(SyncDialog)
    able = [each.isEnabled() for each in (dialog.ok, dialog.decide, dialog.elsewhere)]
    assert (dialog.state.text(), able) == ("Both sides say the same.", [False, False, True])
    assert dialog.decide.toolTip() == "Nothing was changed in both."
    assert (dialog.book.currentText(), dialog.view.isVisible()) == (f"Sea · {linked.path}", False)
    linked.change(_1=None, _3={"key": ["reef"], "comment": "Reef", "content": "Sharp."})
    dialog = linked.shown(SyncDialog)
    assert found(dialog) == {"Other": "gone there", "Reef": "new there"}
    assert (dialog.state.text(), dialog.new.isChecked()) == ("2 entries; left open: 1", True)
    linked.press(dialog.new)
    assert (dialog.state.text(), dialog.ok.isEnabled()) == ("2 entries; left open: 2", False)
    linked.press(dialog.new)
    assert dialog.ok.isEnabled()
    linked.choose(dialog.gone, "delete the other one, too")
    assert dialog.state.text() == "2 entries"
    taken: list[bool] = []
    dialog.accepted.connect(lambda: taken.append(True))
    linked.press(dialog.ok)
    assert taken == [True]
    assert sorted(path.stem for path in linked.note.parent.glob("*.md")) == ["Reef", "Skarn"]


def test_what_both_changed_is_decided_for_all_or_field_by_field(linked: Linked) -> None:
    linked.change(_0={"order": 40, "content": "An island."})
    linked.write(("priority: 900", "priority: 700"), ("An isle.", "An islet."))
    dialog = linked.shown(SyncDialog)
    said = 'content: the note says "An islet.", the book "An island."; order: the note says 300, the book 40'
    assert [(row.title, row.place, row.said) for row in dialog.entries.rows] == [("Skarn", "changed in both", said)]
    assert (dialog.state.text(), dialog.decide.isEnabled()) == ("1 entry; left open: 1", True)
    linked.choose(dialog.prefer, "the book is right")
    assert (dialog.state.text(), dialog.ok.isEnabled(), dialog.decide.isEnabled()) == ("1 entry", True, False)
    linked.choose(dialog.prefer, "leave both as they are")

    def asked() -> ConflictDialog:
        return next(one for one in dialog.findChildren(ConflictDialog) if one.isVisible())

    linked.press(dialog.decide)
    assert asked().windowTitle() == "Two versions of Skarn: content"
    asked().reject()
    linked.settle()
    assert (dialog.state.text(), dialog.decide.isEnabled()) == ("1 entry; left open: 1", True)
    linked.press(dialog.decide)
    for name, side, ways in (("content", "both", 3), ("order", "mine", 2)):  # of a number both cannot be taken
        assert asked().windowTitle() == f"Two versions of Skarn: {name}"
        assert len(asked().findChildren(QRadioButton)) == ways
        asked().choose(0, side)
        linked.press(asked().take)
    assert (dialog.state.text(), dialog.decide.isEnabled(), dialog.ok.isEnabled()) == ("1 entry", False, True)
    linked.press(dialog.ok)
    assert (linked.entries["0"]["content"], linked.entries["0"]["order"]) == ("An islet.\nAn island.", 300)
    assert linked.note.read_text(encoding="utf-8").endswith("An islet.\nAn island.")


def test_only_what_is_ticked_is_brought_together(linked: Linked) -> None:
    linked.change(_0={"order": 40}, _1={"order": 30})
    dialog = linked.shown(SyncDialog)
    assert {(row.title, row.place, row.said) for row in dialog.entries.rows} == {
        ("Skarn", "changed there", "order"), ("Other", "changed there", "order"),
    }  # fmt: skip
    dialog.entries.choose([("0", "changed there")])
    linked.press(dialog.ok)
    assert "priority: 960" in linked.note.read_text(encoding="utf-8")
    assert "priority: 900" in linked.note.with_name("Other.md").read_text(encoding="utf-8")


def test_a_book_that_was_moved_is_looked_for_where_the_person_says(
    linked: Linked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved = linked.path.rename(tmp_path / "Moved.json")
    linked.write(("An isle.", "An islet."))
    dialog = linked.shown(SyncDialog)
    assert ("It lies elsewhere…" in dialog.bar.label.text(), dialog.ok.isEnabled()) == (True, False)
    assert dialog.state.text() == ""
    looked_in = []
    monkeypatch.setattr(
        choosing, "choose_file", lambda _dialog, _title, folder, _kinds, then: (looked_in.append(folder), then(moved))
    )
    linked.press(dialog.elsewhere)
    assert looked_in == [str(linked.place)]
    assert found(dialog) == {"Skarn": "changed here"}
    linked.press(dialog.ok)
    assert json.loads(moved.read_bytes())["entries"]["0"]["content"] == "An islet."


def test_a_vault_that_is_linked_to_no_book_offers_to_make_the_link(linked: Linked) -> None:
    for note in linked.note.parent.iterdir():
        note.unlink()
    linked.session.set_project(open_project([linked.place]))
    linked.settle()
    dialog = linked.shown(SyncDialog)
    assert dialog.bar.label.text() == "The vault is linked to no lorebook."
    ways = dialog.bar.findChildren(QPushButton)
    assert [each.text() for each in ways] == ["Import lorebooks…", "Export a lorebook…"]
    assert dialog.focusWidget() is ways[0]
    assert [each.isEnabled() for each in (dialog.ok, dialog.decide, dialog.elsewhere)] == [False] * 3
    assert dialog.elsewhere.toolTip() == "No book is linked."


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        (ImportBooksDialog, {
            "Files": "files", "Into": "into", "Folder": "folder", "Duplicates": "twins", "Also": "excludes",
            "Markdown": "split",
        }),
        (ExportBookDialog, {"Notes of": "vault", "Format": "form", "File": "file", "Into a copy of": "card"}),
        (SyncDialog, {"Book": "book", "Changed in both": "prefer", "Gone": "gone"}),
    ],
)  # fmt: skip
def test_each_field_stands_beside_its_name(linked: Linked, kind: type[LoreDialog], names: dict[str, str]) -> None:
    dialog = linked.shown(kind)
    (form,) = dialog.findChildren(QFormLayout)
    roles = QFormLayout.ItemRole
    found = {form.itemAt(row, roles.LabelRole): form.itemAt(row, roles.FieldRole) for row in range(form.rowCount())}
    fields = {name.widget().text(): field.widget() for name, field in found.items() if name is not None}
    for name, field in names.items():
        one = getattr(dialog, field)
        assert fields[name] is one or fields[name].isAncestorOf(one)
    dialog.reject()


def test_chosen_books_become_a_new_vault(
    linked: Linked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot
) -> None:
    dialog = linked.shown(ImportBooksDialog)
    made: list[Path] = []
    dialog.made.connect(made.append)
    kinds: list[str] = []
    paths = [str(linked.path), str(book(tmp_path, OTHER, name="Far"))]
    monkeypatch.setattr(
        choosing, "choose_files", lambda _dialog, _title, _start, filters, then: (kinds.append(filters), then(paths))
    )
    next(each for each in dialog.findChildren(QPushButton) if each.text() == "Choose…").click()
    assert dialog.files.text() == "; ".join(paths)
    assert kinds[0].startswith("Lorebooks and cards (*.json ")
    assert kinds[0].endswith(";;All files (*)")
    dialog.into.setCurrentIndex(dialog.into.findData(""))
    dialog.vault.setText(str(tmp_path / "new"))
    dialog._look()
    linked.settle()
    assert dialog.state.text() == "3 notes. One undo takes all back."
    dialog.entries.choose([key for key in dialog.entries.chosen if key[0] == "Sea"])
    linked.press(dialog.ok)
    assert made == [tmp_path / "new"]
    assert sorted(path.stem for path in made[0].rglob("*.md")) == ["Other", "Skarn"]


def test_what_cannot_be_exported_is_refused_and_compared_with_nothing(linked: Linked, tmp_path: Path) -> None:
    dialog = linked.shown(ExportBookDialog)
    into_card = next(each.name for each in FORMATS if not each.makes_new)
    dialog.form.setCurrentIndex(dialog.form.findData(into_card))
    dialog.card.setText(str(tmp_path / "gone.card"))
    dialog.file.setText(str(tmp_path / "out.card"))
    dialog._look()
    linked.settle()
    assert ("gone.card" in dialog.bar.label.text(), dialog.state.text()) == (True, "")
    assert (dialog.compare.isEnabled(), dialog.ok.isEnabled(), dialog.tried.text()) == (False, False, "")
    dialog.reject()


def test_an_export_asks_for_a_card_only_where_the_book_goes_into_one(
    linked: Linked, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    dialog = linked.shown(ExportBookDialog)
    into_cards = [each.name for each in FORMATS if not each.makes_new]
    offered: list[tuple[str, str]] = []
    monkeypatch.setattr(
        choosing, "choose_new_file",
        lambda _dialog, _title, name, _kinds, suffix, then: (offered.append((name, suffix)), then(tmp_path / name)),
    )  # fmt: skip
    for each in FORMATS:
        dialog.form.setCurrentIndex(dialog.form.findData(each.name))
        assert dialog.card.isVisible() is (each.name in into_cards)
        dialog.file.clear()
        dialog._ask()
        assert offered[-1] == (f"vault{each.endings[0]}", each.endings[0])
        assert dialog.file.text() == str(tmp_path / offered[-1][0])
    linked.settle()
    dialog.reject()
