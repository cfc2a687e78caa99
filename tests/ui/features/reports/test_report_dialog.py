"""The dialogs that show what would be written, alone: what they ask for, show, say and write."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget

from lorestudio.studio.report.page import Format
from lorestudio.ui.features.reports.dialog import (
    LONGEST_PAGE,
    LONGEST_PREVIEW,
    Made,
    ReportDialog,
    ReportWish,
    ScenarioDialog,
)
from lorestudio.ui.shell.jobs import Jobs
from tests.ui.conftest import drain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytestqt.qtbot import QtBot

PAGE = b"<!DOCTYPE html><p>Hear the <mark>bell</mark>.</p>"


@pytest.fixture
def jobs(qtbot: QtBot) -> Iterator[Jobs]:
    made = Jobs()
    yield made
    qtbot.waitUntil(lambda: made.idle)
    made.close()


@pytest.fixture
def parent(qtbot: QtBot) -> QWidget:
    made = QWidget()
    qtbot.addWidget(made)
    return made


def begun(jobs: Jobs, parent: QWidget, qtbot: QtBot, make: Callable[[], Made]) -> ScenarioDialog:
    dialog = ScenarioDialog(jobs, make, "Tale 3", parent)
    assert dialog.remark.text() == "Making it…"
    assert not dialog.save_button.isEnabled()
    assert not dialog.copy_button.isEnabled()
    qtbot.waitUntil(lambda: jobs.idle)
    return dialog


@pytest.mark.parametrize("redacted", [False, True])
def test_what_a_report_is_asked_for(jobs: Jobs, parent: QWidget, qtbot: QtBot, redacted: bool) -> None:
    asked: list[ReportWish] = []

    def make(wish: ReportWish) -> Made:
        asked.append(wish)
        return Made(wish.format.value.encode())

    dialog = ReportDialog(jobs, make, "Tale 3", parent, redacted=redacted)
    qtbot.waitUntil(lambda: jobs.idle)
    assert asked == [ReportWish(whole_chat=False, redacted=redacted, format=Format.HTML)]
    choices = [dialog.format.itemText(place) for place in range(dialog.format.count())]
    assert choices == ["HTML page", "Markdown", "Plain text", "JSON"]
    assert dialog.file_name() == ("report" if redacted else "Tale 3") + f".{Format.HTML.value}"
    for change in (
        lambda: dialog.scope.setCurrentIndex(1),
        lambda: dialog.format.setCurrentIndex(dialog.format.findData(Format.JSON.value)),
        lambda: dialog.redacted.setChecked(not redacted),
    ):
        change()
        qtbot.waitUntil(lambda: jobs.idle)
    assert asked[1:] == [
        ReportWish(whole_chat=True, redacted=redacted, format=Format.HTML),
        ReportWish(whole_chat=True, redacted=redacted, format=Format.JSON),
        ReportWish(whole_chat=True, redacted=not redacted, format=Format.JSON),
    ]
    assert dialog.text.toPlainText() == Format.JSON.value


def test_a_page_is_shown_as_it_reads_or_as_it_is_written(jobs: Jobs, parent: QWidget, qtbot: QtBot) -> None:
    dialog = begun(jobs, parent, qtbot, lambda: Made(PAGE, ("A remark.",)))
    assert dialog.remark.text() == f"This is what would be written, {len(PAGE)} bytes. A remark."
    assert (dialog.written.isHidden(), dialog.page.toPlainText()) == (False, "Hear the bell.")
    assert dialog._views.currentWidget() is dialog.page
    dialog.written.setChecked(True)
    assert dialog._views.currentWidget() is dialog.text
    assert dialog.text.toPlainText() == PAGE.decode()
    dialog.copy_button.click()
    assert QApplication.clipboard().text() == PAGE.decode()


@pytest.mark.parametrize("more", [0, 1])
def test_of_a_very_long_text_the_beginning_is_shown_and_that_is_said(
    jobs: Jobs, parent: QWidget, qtbot: QtBot, more: int
) -> None:
    line = "x" * 99 + "\n"
    data = (line * (LONGEST_PREVIEW // 100) + "x" * more).encode()
    dialog = begun(jobs, parent, qtbot, lambda: Made(data))
    assert dialog.written.isHidden()
    assert len(dialog.text.toPlainText()) == LONGEST_PREVIEW
    assert ("Only the beginning is shown here" in dialog.remark.text()) is bool(more)


def test_what_cannot_be_made_is_said_and_cannot_be_saved(
    jobs: Jobs, parent: QWidget, qtbot: QtBot, tmp_path: Path
) -> None:
    def make() -> Made:
        raise ValueError("The run is gone.")

    dialog = begun(jobs, parent, qtbot, make)
    assert dialog.remark.text() == "The run is gone."
    assert not dialog.save_button.isEnabled()
    dialog.write(tmp_path / "tale.json")
    assert jobs.idle
    assert not (tmp_path / "tale.json").exists()


def test_it_is_written_and_where_that_fails_it_can_be_tried_again(
    jobs: Jobs, parent: QWidget, qtbot: QtBot, tmp_path: Path
) -> None:
    dialog = begun(jobs, parent, qtbot, lambda: Made(b"{}"))
    saved: list[Path] = []
    dialog.saved.connect(saved.append)
    assert dialog.file_name() == "Tale 3.json"
    dialog.write(tmp_path)  # a folder
    assert not dialog.save_button.isEnabled()
    qtbot.waitUntil(lambda: jobs.idle)
    assert dialog.save_button.isEnabled()
    assert "This is what would be written" not in dialog.remark.text()
    assert saved == []
    dialog.write(tmp_path / "tale.json")
    qtbot.waitUntil(lambda: jobs.idle)
    assert (tmp_path / "tale.json").read_bytes() == b"{}"
    assert saved == [tmp_path / "tale.json"]
    drain()


def test_that_a_page_was_cut_is_said_of_that_page_only(jobs: Jobs, parent: QWidget, qtbot: QtBot) -> None:
    def make(wish: ReportWish) -> Made:
        long = b"<!DOCTYPE html>" + b"<p>word</p>" * LONGEST_PAGE
        return Made(long if wish.format is Format.HTML else b"short")

    def said(dialog: ReportDialog) -> bool:
        qtbot.waitUntil(lambda: jobs.idle)
        return "Only the beginning is shown here" in dialog.remark.text()

    dialog = ReportDialog(jobs, make, "Tale 3", parent)
    assert said(dialog)
    dialog.format.setCurrentIndex(dialog.format.findData(Format.TEXT.value))
    assert not said(dialog)


def test_a_link_of_the_page_leads_nowhere(jobs: Jobs, parent: QWidget, qtbot: QtBot) -> None:
    dialog = begun(jobs, parent, qtbot, lambda: Made(b"<!DOCTYPE html><p><a href='other.html'>Elsewhere</a></p>"))
    dialog.show()
    where = dialog.page.cursorRect().center()
    assert dialog.page.anchorAt(where) == "other.html"
    qtbot.mouseClick(dialog.page.viewport(), Qt.MouseButton.LeftButton, pos=where)
    assert dialog.page.toPlainText() == "Elsewhere"
    assert dialog.page.source().isEmpty()
    dialog.reject()
