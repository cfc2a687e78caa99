"""The batch editor: which of its fields make sense for what is done with a property."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication

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
