"""Words of notes, chats and providers are shown as they are: no label and no tool tip takes them for markup."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import Qt as Gui
from PySide6.QtWidgets import QAbstractItemView, QLabel, QListView, QWidget

from lorestudio.domain.chat import Chat, Message
from lorestudio.domain.records import replace
from lorestudio.studio.project.project import open_project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.ui.shell.qt import TOOLTIP, plain
from tests.ui.conftest import drain, settle
from tests.ui.vaults import write_vault

EVIL = "<img src='x'> <b>Lamp</b>"
FRONT = """tags: [lorebook, "<i>tag</i>"]
keys: [lamp, "<b>key</b>"]
summary: "<u>of it</u>"
"""
NOTE = f"---\n{FRONT}---\n# {EVIL}\n\n{EVIL}\n"


@pytest.mark.long
def test_a_name_with_markup_stays_a_name_everywhere(make_window, tmp_path) -> None:
    vault = write_vault(tmp_path / "vault", {"Lamp.md": NOTE, "Bad.md": f"---\ntags: [lorebook]\n---\n# {EVIL}\n\n"})
    chat = Chat((Message(EVIL, EVIL), Message(EVIL, f"lamp {EVIL}", is_user=True), Message(EVIL, EVIL)), EVIL, EVIL)
    window = make_window(make_simulator=Simulator)
    window.features.vault.keep_in(tmp_path / "kept")
    window.session.set_project(replace(open_project([vault]), chat=chat))
    settle(window)
    window.selection.choose_entry(0)
    for name in window.docks:
        window.show_pane(name)
        settle(window)
    drain()
    for widget in window.findChildren(QWidget):
        told = widget.toolTip()
        assert EVIL not in told or not Gui.mightBeRichText(told), (widget, told)
        if isinstance(widget, QLabel) and widget.textFormat() is Qt.TextFormat.AutoText:
            assert not Gui.mightBeRichText(widget.text()), widget.text()
        if isinstance(widget, QLabel) and widget.textFormat() is Qt.TextFormat.RichText:
            assert "<img" not in widget.text(), widget.text()
        if isinstance(widget, QAbstractItemView) and widget.model() is not None:
            model, root = widget.model(), widget.rootIndex()
            columns = 1 if isinstance(widget, QListView) else model.columnCount(root)
            for row in range(min(model.rowCount(root), 20)):
                tips = [str(model.index(row, column, root).data(TOOLTIP) or "") for column in range(columns)]
                assert not [tip for tip in tips if "<img" in tip and Gui.mightBeRichText(tip)], (widget, row)


def test_what_is_not_taken_for_markup_stays_as_it_is() -> None:
    assert plain("a < b & c") == "a < b & c"
    assert plain("<b>x</b>\ny") == "<span style='white-space: pre-wrap'>&lt;b&gt;x&lt;/b&gt;\ny</span>"
