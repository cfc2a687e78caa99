"""What fixes would change, as a diff, before they are made."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QLabel,
    QPushButton,
    QTextBrowser,
    QVBoxLayout,
    QWidget,
)

from lorestudio.studio.problems import Repair
from lorestudio.ui import html
from lorestudio.ui.theme import Theme, fixed_font
from lorestudio.ui.words import count, number, tr

SHOWN_NOTES = 200
"""Diffs of so many notes are shown; nobody reads more, and the browser would take long."""


class FixDialog(QDialog):
    """`agreed` carries the repairs, once the person has seen what they change and wants it."""

    agreed = Signal(object)

    def __init__(self, repairs: Sequence[Repair], theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Fix"))
        self.repairs = tuple(repairs)
        self._theme = theme
        column = QVBoxLayout(self)
        column.setSpacing(8)
        changes = sum(len(repair.titles) for repair in self.repairs)
        notes = count(len(self.repairs), "note", "notes")
        told = QLabel(tr("{changes} in {notes}:", changes=count(changes, "change", "changes"), notes=notes), self)
        told.setProperty("kind", "title")
        column.addWidget(told)
        self.browser = QTextBrowser(self)
        self.browser.setAccessibleName(tr("What changes"))
        self.browser.setLineWrapMode(QTextBrowser.LineWrapMode.NoWrap)
        self.browser.setFont(fixed_font(self.font().pointSizeF()))
        self.browser.setHtml(html.page(theme.palette, self._body()))
        column.addWidget(self.browser, 1)
        hint = QLabel(tr("Nothing else in these files changes. The files are compared again before they are written."))
        hint.setProperty("kind", "small")
        hint.setWordWrap(True)
        column.addWidget(hint)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, self)
        self.apply_button = QPushButton(tr("Change {notes}", notes=notes), self)
        self.apply_button.setProperty("kind", "primary")
        buttons.addButton(self.apply_button, QDialogButtonBox.ButtonRole.AcceptRole)
        buttons.accepted.connect(self._agree)
        buttons.rejected.connect(self.reject)
        column.addWidget(buttons)
        self.apply_button.setDefault(True)
        self.apply_button.setFocus()
        self.resize(720, 460)

    def _agree(self) -> None:
        self.agreed.emit(self.repairs)
        self.accept()

    def _body(self) -> str:
        palette = self._theme.palette
        parts: list[str] = []
        for repair in self.repairs[:SHOWN_NOTES]:
            parts.append(html.paragraph(repair.filename, bold=True, above=6))
            told = dict.fromkeys(repair.titles)
            parts.append(html.paragraph("; ".join(told), color=palette.text_muted))
            rows = []
            for line in repair.diff().split("\n")[2:]:
                if not line:
                    continue
                ground, ink = palette.panel, palette.text_faint
                if line[0] in "+-":
                    good = line[0] == "+"
                    ground = palette.good_soft if good else palette.error_soft
                    ink = palette.good if good else palette.error
                shown = html.text(line).replace(" ", "&nbsp;")
                rows.append(f"<tr><td bgcolor='{ground}' style='color:{ink}'>{shown}</td></tr>")
            parts.append(f"<table cellspacing='0' cellpadding='1' width='100%'>{''.join(rows)}</table>")
        rest = len(self.repairs) - SHOWN_NOTES
        if rest > 0:
            parts.append(html.paragraph(tr("And {notes} more notes.", notes=number(rest)), color=palette.text_muted))
        return "".join(parts)
