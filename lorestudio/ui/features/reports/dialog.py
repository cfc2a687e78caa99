"""Saving a report or a scenario: the dialog shows exactly what would be written, before anything is.

Of a report's page it shows words and tables, in the program's own colours.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from msgspec import Struct
from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QCheckBox, QDialogButtonBox, QPushButton, QTextBrowser, QWidget

from lorestudio.studio.project.files import write_bytes
from lorestudio.studio.report.page import Format
from lorestudio.ui.shell.jobs import Jobs, Newest
from lorestudio.ui.shell.words import count, sentence_of, tr
from lorestudio.ui.widgets import dialogs
from lorestudio.ui.widgets.dialogs import Dialog
from lorestudio.ui.widgets.layouts import able, column, combo, label, named, row, stack, text_view

LONGEST_PAGE: Final = 80_000
"""Characters of a page that are laid out at once without a pause that is felt."""

STYLE: Final = "pre{white-space:pre-wrap}td,th{padding:2px 10px 2px 0px}"
"""For QTextDocument.setDefaultStyleSheet."""

_DROPPED: Final = re.compile(
    r"<svg\b.*?</svg>|<style>.*?</style>|<a class='(?:skip|top)'.*?</a>|<p class='paper'>.*?</p>", re.DOTALL
)
_OWN_COLOURS: Final = re.compile(r" style='[^']*'")
_MARK: Final = re.compile(r"<mark\b[^>]*>")


def preview_html(page: str) -> tuple[str, bool]:
    """The page without pictures, colours of its own and links that lead nowhere here; and whether that is all of it.

    Qt's rich text knows neither variables nor `mark`, so that found keys are underlined.
    """
    words = _MARK.sub("<u>", _OWN_COLOURS.sub("", _DROPPED.sub("", page))).replace("</mark>", "</u>")
    if len(words) <= LONGEST_PAGE:
        return words, True
    return words[: words.rfind("<", 0, LONGEST_PAGE)], False


logger = logging.getLogger(__name__)

LONGEST_PREVIEW = 400_000
"""Characters that the preview lays out; a longer text is shown up to there, and said to be."""

FORMAT_NAMES = {Format.HTML: "HTML page", Format.MARKDOWN: "Markdown", Format.TEXT: "Plain text", Format.JSON: "JSON"}


class Made(Struct, frozen=True):
    """What would be written, and sentences about it."""

    data: bytes
    remarks: tuple[str, ...] = ()


class ReportWish(Struct, frozen=True):
    """What the fields of the dialog say."""

    whole_chat: bool = False
    redacted: bool = False
    format: Format = Format.HTML


class PreviewDialog(Dialog):
    """Makes a text in a job, shows it, and writes it where the person says. `saved` carries the path."""

    saved = Signal(Path)

    def __init__(self, jobs: Jobs, title: str, intro: str, name: str, parent: QWidget) -> None:
        super().__init__(parent, title, (760, 560))
        self._name = name
        self._jobs, self._newest = jobs, Newest(jobs)
        self.made = Made(b"")
        """What would be written now; empty while it is made."""
        self._all_shown = True
        self.fields = row(spacing=10)
        self.remark = label(self, kind="muted")
        self.text = text_view(self, tr("What would be written"), fixed=True)
        self.page = named(QTextBrowser(self, openLinks=False), tr("What would be written, as it reads"))
        self.page.document().setDefaultStyleSheet(STYLE)
        self.written = QCheckBox(tr("Show the file's own text"), self)
        self.written.toggled.connect(lambda _on: self._show_text())
        self.written.hide()
        self._views = stack(self.text, self.page)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, self)
        self.save_button = named(QPushButton(tr("Save…"), self, default=True), "", kind="primary")
        self.copy_button = named(QPushButton(tr("Copy"), self), tr("Copy the text"))
        self.buttons.addButton(self.save_button, QDialogButtonBox.ButtonRole.AcceptRole)
        self.buttons.addButton(self.copy_button, QDialogButtonBox.ButtonRole.ActionRole)
        self.buttons.rejected.connect(self.reject)
        self.save_button.clicked.connect(self.ask_where)
        put = QGuiApplication.clipboard().setText
        self.copy_button.clicked.connect(lambda _on: put(self.made.data.decode("utf-8", "replace")))
        column(
            label(self, intro), self.fields, self.remark, (self._views, 1), self.written, self.buttons, of=self,
            spacing=8,
        )  # fmt: skip

    def file_name(self) -> str:
        """The name that is offered."""
        return self._name

    def begin(self, work: Callable[[], Made]) -> None:
        """Make the text anew, off the GUI thread."""
        self.made = Made(b"")
        self._enable(False)
        self.remark.setText(tr("Making it…"))
        self._newest.start(self.windowTitle(), lambda _job: work(), done=self._shown, failed=self._failed)

    def ask_where(self) -> None:
        """Ask for the file."""
        name = self.file_name()
        dialogs.choose_new_file(self, self.windowTitle(), name, "", name.rpartition(".")[2], self.write)

    def write(self, path: Path) -> None:
        """Write what is shown to this file, off the GUI thread; the dialog closes once that is done."""
        data = self.made.data
        if not data:
            return
        self._enable(False)
        self._jobs.start(
            tr("Saving {name}", name=path.name),
            lambda _report: write_bytes(path, data),
            done=lambda _none: self._written(path),
            failed=self._failed,
        )

    def _shown(self, made: Made) -> None:
        self.made = made
        text = made.data.decode("utf-8", "replace")
        self.text.setPlainText(text[:LONGEST_PREVIEW])
        self._show_text()
        size = count(len(made.data), "byte", "bytes")
        parts = [tr("This is what would be written, {size}.", size=size), *made.remarks]
        if len(text) > LONGEST_PREVIEW or not self._all_shown:
            parts.append(tr("Only the beginning is shown here; the file gets all of it."))
        self.remark.setText(" ".join(parts))
        self._enable(True)

    def _show_text(self) -> None:
        """A page is shown as it reads, without its pictures, or as it is written; everything else as it is written."""
        is_page = self.made.data.startswith(b"<!DOCTYPE html>")
        self.written.setVisible(is_page)
        as_page = is_page and not self.written.isChecked()
        self._all_shown = True
        if as_page:
            shown, self._all_shown = preview_html(self.made.data.decode("utf-8", "replace"))
            self.page.setHtml(shown)
        self._views.setCurrentWidget(self.page if as_page else self.text)

    def _failed(self, error: Exception) -> None:
        logger.error("%s: %s", self.windowTitle(), error, exc_info=error)
        self.remark.setText(sentence_of(error))
        self._enable(bool(self.made.data))

    def _written(self, path: Path) -> None:
        self.saved.emit(path)
        self.accept()

    def _enable(self, ready: bool) -> None:
        able(self.save_button, ready, tr("Wait until the report is made."))
        able(self.copy_button, ready, tr("Wait until the report is made."))


class ReportDialog(PreviewDialog):
    """A report of the chosen reply or of the whole chat; `make` turns what is wanted into the text."""

    def __init__(
        self, jobs: Jobs, make: Callable[[ReportWish], Made], name: str, parent: QWidget, *, redacted: bool = False
    ) -> None:
        intro = tr(
            "A report says what the pipeline did and why, in one file that needs nothing else. A redacted one is safe "
            "to post: names, keys and texts are replaced, numbers and reasons stay."
        )
        super().__init__(jobs, tr("Save a report"), intro, name, parent)
        self._make = make
        scopes = {False: tr("This reply"), True: tr("The whole chat")}
        self.scope = combo(self, tr("What the report is about"), scopes)
        tip = tr("Replace names, keys and texts; keep numbers and reasons")
        self.redacted = named(QCheckBox(tr("Redacted"), self), "", tip)
        self.redacted.setChecked(redacted)
        self.format = combo(self, tr("Format"), {each.value: tr(title) for each, title in FORMAT_NAMES.items()})
        for widget in (self.scope, self.format, self.redacted):
            self.fields.addWidget(widget)
        self.fields.addStretch(1)
        for box in (self.scope, self.format):
            box.currentIndexChanged.connect(lambda _place: self.refresh())
        self.redacted.toggled.connect(lambda _on: self.refresh())
        self.refresh()

    @property
    def wanted(self) -> ReportWish:
        """What the fields say."""
        return ReportWish(self.scope.currentIndex() == 1, self.redacted.isChecked(), Format(self.format.currentData()))

    def file_name(self) -> str:
        """Names nothing of the person's where the report does not."""
        name = "report" if self.wanted.redacted else self._name
        return f"{name}.{self.wanted.format.value}"

    def refresh(self) -> None:
        """Make the text that the fields ask for."""
        self.begin(partial(self._make, self.wanted))


class ScenarioDialog(PreviewDialog):
    """The chosen turn as a scenario."""

    def __init__(self, jobs: Jobs, make: Callable[[], Made], name: str, parent: QWidget) -> None:
        intro = tr(
            "A scenario holds the notes, the chat up to this reply, settings, seed and the model's answers; "
            "“lorestudio run” decides the same again. It holds your texts: to post something, make a redacted report."
        )
        super().__init__(jobs, tr("Save as scenario"), intro, f"{name}.json", parent)
        self.begin(make)
