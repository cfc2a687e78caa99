"""The batch editor: which of its fields make sense for what is done with a property."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication

from lorestudio.studio.notes.vault_notes import Planned
from lorestudio.ui.features.notes.batch_dialog import BatchDialog, Operation, ValueKind
from tests.ui.conftest import settle
from tests.ui.vaults import choose, open_vault, write_vault


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


def test_it_asks_for_what_is_missing(dialog) -> None:
    for name, operation, value, kind, asks in (
        ("", Operation.SET, "x", ValueKind.TEXT, "Choose a property above"),
        ("priority", Operation.SET, "x", ValueKind.NUMBER, "Type a number."),
        ("priority", Operation.SET, "4,5", ValueKind.NUMBER, ""),
        ("enabled", Operation.SET, "maybe", ValueKind.FLAG, "Type yes or no."),
        ("enabled", Operation.SET, " No", ValueKind.FLAG, ""),
        ("summary", Operation.SET, "", ValueKind.TEXT, ""),
        ("keys", Operation.SET, "", ValueKind.LIST, ""),
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
    ):
        write(dialog, name, operation, value)
        planned: list[Planned] = []
        dialog.work.ask(dialog.plan(), planned.append)
        settle(dialog.parent())
        (change,) = planned[0].changes.changes
        assert line in change.after
        assert dialog.summary(planned[0]) == "1 note changes"


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
