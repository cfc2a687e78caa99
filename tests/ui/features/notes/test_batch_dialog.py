"""The batch editor: which of its fields make sense for what is done with a property."""

from __future__ import annotations

import json

import pytest
from PySide6.QtWidgets import QApplication, QWidget

from lorestudio.studio.notes.vault_notes import Planned
from lorestudio.studio.project.project import open_project
from lorestudio.ui.features.notes.batch_dialog import BatchDialog, Operation, ValueKind
from tests.ui.conftest import drain, settle
from tests.ui.shell.conftest import unplaced
from tests.ui.vaults import NOTES, choose, contents, open_vault, write_vault


@pytest.fixture
def dialog(make_window, tmp_path):
    window = make_window()
    open_vault(window, write_vault(tmp_path / "vault"), tmp_path / "kept")
    choose(window, "Skarn.md")
    window.run("note.batch")
    settle(window)
    made = next(one for one in QApplication.topLevelWidgets() if isinstance(one, BatchDialog))
    yield made
    made.reject()


@pytest.mark.parametrize(
    ("operation", "asks_for_value", "asks_for_kind"),
    [
        (Operation.SET, True, True),
        (Operation.ADD, True, False),
        (Operation.REMOVE, True, False),
        (Operation.EMPTY, False, False),
        (Operation.CLEAR, False, False),
    ],
)
def test_only_what_is_set_has_a_kind_and_only_what_is_not_removed_a_value(
    dialog, operation, asks_for_value, asks_for_kind
) -> None:
    dialog.operation.setCurrentIndex(dialog.operation.findData(operation.value))
    assert dialog.form.isRowVisible(dialog.value) is asks_for_value
    assert dialog.form.isRowVisible(dialog.kind) is asks_for_kind


def test_a_flag_says_how_it_is_written(dialog) -> None:
    dialog.operation.setCurrentIndex(dialog.operation.findData(Operation.SET.value))
    dialog.kind.setCurrentIndex(dialog.kind.findData(ValueKind.FLAG.value))
    assert dialog.value.placeholderText() == "yes or no"
    dialog.kind.setCurrentIndex(dialog.kind.findData(ValueKind.TEXT.value))
    assert dialog.value.placeholderText() == ""


def write(dialog: BatchDialog, name: str, operation: Operation, value: str = "", kind: ValueKind | None = None) -> None:
    dialog.name.setCurrentText(name)
    dialog.operation.setCurrentIndex(dialog.operation.findData(operation.value))
    if kind is not None:
        dialog.kind.setCurrentIndex(dialog.kind.findData(kind.value))
    dialog.value.setText(value)


@pytest.mark.always
def test_it_asks_for_what_is_missing(dialog) -> None:
    for name, operation, value, kind, asks in (
        ("", Operation.SET, "x", ValueKind.TEXT, "Choose a property above"),
        ("priority", Operation.SET, "x", ValueKind.NUMBER, "Type a number."),
        ("priority", Operation.SET, "4,5", ValueKind.NUMBER, ""),
        ("enabled", Operation.SET, "maybe", ValueKind.FLAG, "Type yes or no."),
        ("enabled", Operation.SET, " No", ValueKind.FLAG, ""),
        ("priority", Operation.SET, "1,000", ValueKind.NUMBER, "“1,000” may be two numbers. Type 1000 or 1.000."),
        ("priority", Operation.SET, "0,125", ValueKind.NUMBER, ""),
        ("summary", Operation.SET, " ", ValueKind.TEXT, "Type a value, or choose “Empty it, and keep the property”"),
        ("keys", Operation.SET, " , ", ValueKind.LIST, "Type a value, or choose “Empty it, and keep the property”"),
        ("summary", Operation.EMPTY, "", ValueKind.TEXT, ""),
        ("keys", Operation.ADD, " , ", None, "Type what to add or to take out"),
        ("keys", Operation.REMOVE, "skarn", None, ""),
        ("keys", Operation.CLEAR, "", None, ""),
    ):
        write(dialog, name, operation, value, kind)
        assert (dialog.plan() is None) == bool(asks)
        assert not asks or dialog.nothing_yet().startswith(asks)


def test_what_was_typed_is_written(dialog) -> None:
    for name, operation, value, line in (
        ("priority", Operation.SET, "4.5", "priority: 4.5"),
        ("priority", Operation.SET, "40", "priority: 40"),
        ("enabled", Operation.SET, "off", "enabled: false"),
        ("summary", Operation.SET, " Old. ", "summary: Old."),
        ("keys", Operation.ADD, "drake, wyrm", "keys: [skarn, drake, wyrm]"),
        ("keys", Operation.REMOVE, "skarn", "keys: []"),
        ("keys", Operation.ADD, 'old, "1,000", "a cliff, high", old', 'keys: [skarn, old, "1,000", "a cliff, high"]'),
        ("keys", Operation.EMPTY, "", "keys: []"),
    ):
        write(dialog, name, operation, value)
        planned: list[Planned] = []
        dialog.work.ask(dialog.plan(), planned.append)
        settle(dialog.parent())
        (change,) = planned[0].changes.changes
        assert line in change.after
        assert dialog.summary(planned[0]) == "1 note changes"


@pytest.mark.always
def test_that_notes_leave_the_lore_is_seen_before(dialog) -> None:
    for operation, value, leaves in (
        (Operation.EMPTY, "", True), (Operation.CLEAR, "", True), (Operation.REMOVE, "lorebook", True),
        (Operation.ADD, "old", False),
    ):  # fmt: skip
        write(dialog, "tags", operation, value)
        dialog.preview()
        settle(dialog.parent())
        told = " · 1 note is no lore any more: the tag “lorebook” goes" if leaves else ""
        assert dialog.view.summary.text() == f"1 note changes{told}", operation


def test_a_known_property_brings_its_kind_and_a_chosen_one_its_value(dialog) -> None:
    seen = []
    for name in ("priority", "enabled", "keys", "summary", "priority"):
        dialog.name.setCurrentText(name)
        seen.append((dialog.kind.currentData(), dialog.chosen_operation))
    assert seen == [
        ("number", Operation.SET), ("flag", Operation.SET), ("list", Operation.ADD), ("text", Operation.SET),
        ("number", Operation.SET),
    ]  # fmt: skip
    rows = {one.name: one for one in dialog.properties.rows}
    assert dialog.state.text() == "Choose a property of the 1 note:"
    for name, value in (("priority", "20"), ("keys", "")):
        dialog.table.picked.emit(rows[name])
        assert (dialog.name.currentText(), dialog.value.text()) == (name, value)


# ---- the dialog alone -----------------------------------------------------------------------------------------------


@pytest.fixture
def make_alone(make_desk, theme, qtbot):
    parents: list[QWidget] = []

    def make(*names: str, notes=NOTES):
        desk = make_desk(notes)
        parent = QWidget()
        parents.append(parent)
        dialog = BatchDialog(theme, desk.work, [desk.folder / name for name in names], parent)
        dialog.show()
        desk.settle()
        return dialog, desk

    yield make
    for parent in parents:
        parent.close()
        parent.deleteLater()
    drain()


def seen(dialog: BatchDialog, desk) -> str:
    dialog.preview()
    desk.settle()
    return dialog.view.summary.text()


def test_items_are_offered_for_what_was_typed_before_the_notes_were_read(make_desk, theme, qtbot) -> None:
    desk, parent = make_desk(NOTES), QWidget()
    qtbot.addWidget(parent)
    dialog = BatchDialog(theme, desk.work, [desk.folder / "Skarn.md"], parent)
    dialog.name.setCurrentText("keys")
    assert dialog.value.completer().completionCount() == 0
    desk.settle()
    assert dialog.value.completer().completionCount() == 1
    assert dialog.value.completer().currentCompletion() == "skarn"


def test_it_tells_what_the_notes_have(make_alone) -> None:
    dialog, desk = make_alone("Skarn.md", "Bell.md", "places/Dawnkeep.md", "draft.md")
    assert dialog.windowTitle() == "Change a property of 4 notes"
    assert dialog.state.text() == "Choose a property of the 4 notes:"
    assert dialog.name.hasFocus() or dialog.name.lineEdit().hasFocus()
    assert unplaced(dialog) == []
    rows = {one.name: one for one in dialog.properties.rows}
    value, inside = dialog.properties.columns[1], dialog.properties.columns[2]
    assert (inside.words(rows["keys"]), value.words(rows["keys"])) == ("3 of 4", "differs: 3 values")
    assert (inside.words(rows["enabled"]), value.words(rows["enabled"])) == ("1 of 4", "not in all")
    offered = [dialog.name.itemText(each) for each in range(dialog.name.count())]
    assert offered[: len(rows)] == list(rows)  # what they have comes first
    assert {"summary", "requires"} <= set(offered[len(rows) :])
    assert len(offered) == len(set(offered))
    assert dialog.name.currentText() == ""
    assert dialog.view.summary.text().startswith("Choose a property above")
    dialog.reject()
    desk.settle()


def test_a_note_that_cannot_be_read_is_counted(make_alone) -> None:
    dialog, desk = make_alone("Skarn.md", "gone.md")
    assert dialog.state.text() == "Choose a property of the 1 note: 1 cannot be read."
    dialog.reject()
    desk.settle()


def test_how_many_change_and_how_many_have_it_already(make_alone) -> None:
    dialog, desk = make_alone("Skarn.md", "places/Dawnkeep.md", "Bell.md")
    write(dialog, "priority", Operation.SET, "40")
    assert not dialog.ok.isEnabled()
    assert seen(dialog, desk) == "2 notes change · 1 is so already"
    dialog.value.setText("41")
    assert not dialog.ok.isEnabled()
    dialog.value.setText("40")
    seen(dialog, desk)
    dialog.name.setCurrentText("priorit")
    assert not dialog.ok.isEnabled()
    dialog.name.setCurrentText("priority")
    seen(dialog, desk)
    dialog.ok.click()
    desk.settle()
    after = contents(desk.folder)
    assert all("priority: 40\n" in after[name] for name in ("Skarn.md", "places/Dawnkeep.md", "Bell.md"))
    assert after["draft.md"] == NOTES["draft.md"]


def test_a_note_that_cannot_be_changed_is_told_below(make_alone) -> None:
    nested = {**NOTES, "Nest.md": "---\npriority:\n  x: 1\n---\nText\n"}
    dialog, desk = make_alone("Skarn.md", "Nest.md", notes=nested)
    write(dialog, "priority", Operation.ADD, "40")
    said = seen(dialog, desk)
    assert "cannot be changed, see below" in said
    assert dialog.view.remarks.isVisible()
    dialog.reject()
    desk.settle()


@pytest.mark.parametrize("typed", ["nan", "inf", "-Infinity", "4,5,6", ""])
def test_what_is_no_number_is_asked_for_again(make_alone, typed: str) -> None:
    dialog, desk = make_alone("Skarn.md")
    write(dialog, "priority", Operation.SET, typed, ValueKind.NUMBER)
    assert dialog.plan() is None
    assert seen(dialog, desk) == "Type a number."
    assert not dialog.ok.isEnabled()
    dialog.reject()
    desk.settle()


def test_a_property_is_taken_with_its_value_and_its_items_are_offered(make_alone) -> None:
    dialog, desk = make_alone("Skarn.md", "Bell.md")
    rows = {one.name: one for one in dialog.properties.rows}
    dialog.table.picked.emit(rows["enabled"])
    assert (dialog.name.currentText(), dialog.kind.currentData()) == ("enabled", "flag")
    assert dialog.value.text() == ""  # only one of them has it
    dialog.table.picked.emit(rows["keys"])
    completer = dialog.value.completer()
    completer.setCompletionPrefix("SK")
    assert completer.currentCompletion() == "skarn"
    write(dialog, "mood", Operation.SET)
    assert dialog.value.completer().completionCount() == 0
    dialog.name.setCurrentText(" keys ")
    assert dialog.chosen_operation is Operation.ADD
    dialog.reject()
    single, desk = make_alone("Bell.md")
    rows = {one.name: one for one in single.properties.rows}
    single.table.picked.emit(rows["enabled"])
    assert single.value.text() == "yes"
    single.reject()
    desk.settle()


@pytest.mark.parametrize(
    ("typed", "written"), [("on", "true"), (" YES ", "true"), ("1", "true"), ("Off", "false"), ("0", "false")]
)
def test_a_flag_is_written_as_deeplore_reads_it(make_alone, typed: str, written: str) -> None:
    dialog, desk = make_alone("Skarn.md")
    write(dialog, "enabled", Operation.SET, typed, ValueKind.FLAG)
    assert seen(dialog, desk) == "1 note changes"
    assert f"+ enabled: {written}" in dialog.view.diff.view.toPlainText()
    dialog.reject()
    desk.settle()


def test_the_value_that_all_have_is_shown_and_what_is_read_again_is_listed_once(make_alone) -> None:
    dialog, desk = make_alone("Moth.md", notes={"Moth.md": "---\nmood:\npriority: 5\n---\n# Moth\n"})
    rows = {one.name: one for one in dialog.properties.rows}
    words = dialog.properties.columns[1].words
    assert (words(rows["mood"]), words(rows["priority"])) == ("(empty)", "5")
    offered = dialog.name.count()
    dialog.name.setCurrentText("mood")
    dialog._read()
    desk.settle()
    assert (dialog.name.count(), dialog.name.currentText()) == (offered, "mood")
    assert (dialog.state.isVisible(), dialog.table.isVisible()) == (True, True)
    dialog.reject()
    desk.settle()


@pytest.mark.always
def test_entries_of_a_lorebook_have_the_fields_of_their_form(make_window, tmp_path) -> None:
    raws = [
        {"uid": uid, "comment": title, "key": [title], "content": "A", "order": 5, "position": 0}
        for uid, title in enumerate(("Bell", "Oak"))
    ]
    book = tmp_path / "Book.json"
    book.write_text(json.dumps({"entries": {str(raw["uid"]): raw for raw in raws}}), encoding="utf-8")
    window = make_window(open_project([book]))
    window.keep_notes_safe(tmp_path / "kept")
    settle(window)
    window.vault.view.selectAll()
    window.run("note.batch")
    settle(window)
    dialog = next(one for one in QApplication.topLevelWidgets() if isinstance(one, BatchDialog))
    assert dialog.windowTitle() == "Change a property of 2 entries"
    rows = {dialog._words.get(one.name, one.name): dialog._shown(one) for one in dialog.properties.rows}
    assert rows == {
        "title": "differs: 2 values", "keys": "differs: 2 values", "order": "5", "position": "before the character",
    }  # fmt: skip
    assert dialog.name.findText("non-recursable") > 0
    write(dialog, "position", Operation.SET)
    assert "before the character, after the character" in dialog.nothing_yet()
    assert dialog.plan() is None
    write(dialog, "position", Operation.SET, "in the chat")
    assert not dialog.form.isRowVisible(dialog.kind)
    settle(window)
    assert dialog.summary(dialog.plan()(())) == "2 entries change"
    write(dialog, "non-recursable", Operation.SET, "yes")
    assert dialog.kind.currentData() == ValueKind.FLAG.value
    settle(window)
    dialog.preview()
    settle(window)
    dialog.ok.click()
    settle(window)
    saved = json.loads(book.read_text("utf-8"))["entries"]
    assert [(raw["position"], raw["excludeRecursion"]) for raw in saved.values()] == [(0, True), (0, True)]
    window.run("vault.undo")
    settle(window)
    assert json.loads(book.read_text("utf-8"))["entries"]["0"] == raws[0]
