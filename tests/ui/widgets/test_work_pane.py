"""Pages of rows with what is said about one of them: how they share the room."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.widgets.cells import Column
from lorestudio.ui.widgets.work_pane import RowsPage
from tests.ui.conftest import drain


@pytest.mark.parametrize("halved", [None, True, False])
def test_rows_and_what_is_below_share_the_room_unless_the_rows_have_more(
    qtbot: QtBot, theme: Theme, halved: bool | None
) -> None:
    how = {} if halved is None else {"halved": halved}
    page = RowsPage(theme, [Column("Word", str)], str, str, "Words", **how)
    page.add_text("Text")
    page.model.set_rows(["a", "b"])
    qtbot.addWidget(page)
    page.resize(500, 700)
    page.show()
    drain()
    rows, detail = page.splitter.sizes()
    assert (abs(rows - detail) <= 10) is (halved is not False)  # a handle lies between them
