"""Actions of the trace in the window: which tab, what is copied, saved and opened, which phases are unfolded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog

from lorestudio.trace.journey import PHASES
from lorestudio.trace.model import Phase
from lorestudio.ui.features.trace.actions import UNFOLDED
from lorestudio.ui.features.trace.pane import AI, PROMPT
from tests.ui.conftest import drain, settle
from tests.ui.features.trace.test_pane import Runs
from tests.ui.worlds import CROWN, RULES, make_project

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from lorestudio.ui.shell.main_window import MainWindow

OF_A_RUN = (
    "copy.report", "trace.prompt", "trace.ai", "trace.filter", "flow.measure", "flow.table",
    "flow.save_csv", "flow.save_svg", "flow.save_png", "prompt.copy_text", "prompt.copy_markdown",
)  # fmt: skip


@pytest.fixture
def window(share_window: Callable[..., MainWindow]) -> MainWindow:
    def prepare(window: MainWindow) -> None:
        window.chat.choose(5)
        window.selection.choose_entry(CROWN)
        settle(window)

    return share_window(lambda folder: make_project(folder / "vault"), prepare=prepare, make_simulator=Runs)


def can(window: MainWindow) -> set[str]:
    window.context.update_actions()
    actions = window.commands.actions
    return {name for name in (*OF_A_RUN, "copy.row", "trace.entry") if actions[name].isEnabled()}


def test_what_can_be_done_needs_a_run_and_a_row(window: MainWindow) -> None:
    assert can(window) == {*OF_A_RUN, "copy.row", "trace.entry"}
    window.selection.choose_entry(None)
    assert can(window) == set(OF_A_RUN)
    window.selection.choose_message(None, None)
    window.selection.choose_entry(CROWN)
    assert can(window) == {"trace.entry"}


@pytest.mark.always
@pytest.mark.own_window
def test_keys_lead_to_the_tabs_and_to_the_note(window: MainWindow) -> None:
    tabs = window.trace.tabs
    for key, tab in ((Qt.Key.Key_A, AI), (Qt.Key.Key_P, PROMPT)):
        window.show_pane("chat")
        QTest.keyClick(QApplication.focusWidget(), key)
        settle(window)
        assert tabs.currentIndex() == tab
        assert window.current_pane() is window.trace
    tabs.setCurrentIndex(0)
    window.show_pane("trace")
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_E)
    drain()
    assert window.current_pane() is window.entry
    opened: list[str] = []
    window.features.trace.openers.insert(0, lambda: lambda: opened.append("memory"))
    window.run("trace.entry")
    window.trace.answers.opened.emit()  # a double click
    assert opened == ["memory", "memory"], "what another feature opens comes first"
    window.features.trace.openers.pop(0)


@pytest.mark.own_window
def test_the_prompt_has_the_keyboard_before_and_after_it_is_put_together(window: MainWindow) -> None:
    window.show_pane("chat")
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_P)
    settle(window)
    prompt = window.trace.prompt
    for reply in ("first", "other"):
        if reply == "other":
            window.run("message.previous")
            settle(window)
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Home)
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Down)
        assert prompt.view.hasFocus()
        assert prompt.view.currentIndex().row() == 1
    window.selection.choose_entry(RULES)
    part = prompt.view.currentIndex().data()
    QTest.keyClick(window.windowHandle(), Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == part, "the part that is looked at, no row of another tab"
    window.trace.tabs.setCurrentIndex(0)


@pytest.mark.own_window
def test_what_is_copied_is_said(window: MainWindow) -> None:
    window.run("copy.report")
    assert window.status.currentMessage() == "The report was copied."
    assert "Crown" in QGuiApplication.clipboard().text()
    window.trace.tabs.setCurrentIndex(0)
    window.trace.prompt.prompt = None
    QGuiApplication.clipboard().setText("before")
    window.run("prompt.copy_text")
    assert window.trace.tabs.currentIndex() == PROMPT
    assert window.status.currentMessage() == "The prompt is being put together; copy it once it is shown."
    assert QGuiApplication.clipboard().text() == "before"
    settle(window)
    window.run("prompt.copy_text")
    assert window.status.currentMessage() == "The prompt was copied as text."
    text = QGuiApplication.clipboard().text()
    window.run("prompt.copy_markdown")
    assert window.status.currentMessage() == "The prompt was copied as Markdown."
    assert "A dragon." in text
    assert text != QGuiApplication.clipboard().text()


def test_unfolded_phases_are_remembered(window: MainWindow) -> None:
    model, settings = window.trace.model, window.settings
    assert model.unfolded == frozenset()
    window.run("trace.all_stages")
    assert model.unfolded == frozenset(PHASES)
    assert set(settings.value(UNFOLDED).split()) == {phase.value for phase in PHASES}
    assert window.commands.actions["trace.all_stages"].isChecked()
    window.trace.unfold(frozenset({Phase.MATCH}))
    window.run("trace.all_stages")
    assert (model.unfolded, settings.value(UNFOLDED)) == (frozenset(), "")


@pytest.mark.own_window
def test_the_funnel_is_saved(window: MainWindow, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    offered: list[tuple[str, str]] = []

    def choose(dialog: QFileDialog) -> None:
        name = dialog.selectedFiles()[0].rpartition("/")[2]
        offered.append((name, dialog.defaultSuffix()))
        dialog.fileSelected.emit(str(tmp_path / name))
        dialog.deleteLater()

    monkeypatch.setattr(QFileDialog, "open", choose)
    window.trace.flow.save("csv")  # as it is made when its tab is looked at
    begins = {"csv": b"\xef\xbb\xbf", "svg": b"<", "png": b"\x89PNG"}
    for ending in begins:
        window.run(f"flow.save_{ending}")
        settle(window)
    files = [f"stages-5.{ending}" for ending in begins]
    assert offered[-3:] == [(file, file.rpartition(".")[2]) for file in files]
    for file, begin in zip(files, begins.values(), strict=True):
        assert (tmp_path / file).read_bytes().startswith(begin)
    assert window.status.currentMessage() == "stages-5.png was saved."
