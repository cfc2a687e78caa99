"""The parts of the Problems pane around its tree: the filter above, the explanation and the fixes below."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QSizePolicy,
    QTextBrowser,
    QVBoxLayout,
    QWidget,
)

from lorestudio.studio.problems import Finding, Severity, check_of
from lorestudio.ui import html
from lorestudio.ui.models.problems import NAMES
from lorestudio.ui.theme import Theme
from lorestudio.ui.words import tr


class ProblemFilter(QWidget):
    """Words, the least severity, and a line that says what is shown. `changed` follows the first two."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.words = QLineEdit(self)
        self.words.setPlaceholderText(tr("Filter by words, code or file"))
        self.words.setAccessibleName(tr("Filter the problems"))
        self.words.setClearButtonEnabled(True)
        self.severity = QComboBox(self)
        self.severity.setAccessibleName(tr("Severity"))
        self.severity.view().setAccessibleName(tr("Severity"))
        for least, words in (
            (Severity.INFO, tr("All")),
            (Severity.WARNING, tr("Warnings and errors")),
            (Severity.ERROR, tr("Errors")),
        ):
            self.severity.addItem(words, least.value)
        self._told = QLabel(self)
        self._told.setProperty("kind", "small")
        self._told.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        rows = QVBoxLayout(self)
        rows.setContentsMargins(8, 8, 8, 4)
        rows.setSpacing(3)
        line = QHBoxLayout()
        line.addWidget(self.words, 1)
        line.addWidget(self.severity)
        rows.addLayout(line)
        rows.addWidget(self._told)
        self.words.textChanged.connect(lambda _text: self.changed.emit())
        self.severity.currentIndexChanged.connect(lambda _row: self.changed.emit())

    @property
    def least(self) -> Severity:
        """The least severity that is to be shown."""
        return Severity(self.severity.currentData())

    @property
    def told(self) -> str:
        """What the line says."""
        return self._told.text()

    def tell(self, text: str) -> None:
        """Say what is shown."""
        self._told.setText(text)
        self._told.setToolTip(text)


class ProblemDetails(QWidget):
    """What a finding means, and the buttons for its fix and for all safe fixes."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.browser = QTextBrowser(self)
        self.browser.setAccessibleName(tr("Explanation"))
        self.browser.document().setDocumentMargin(8)
        self.browser.setMinimumHeight(40)
        self.fix = QPushButton(tr("Fix…"), self)
        self.fix.setToolTip(tr("Show what the fix of the chosen problem changes"))
        self.fix_all = QPushButton(tr("Fix all safe…"), self)
        self.fix_all.setToolTip(tr("Show what all fixes change of which it is certain that they are meant"))
        buttons = QHBoxLayout()
        buttons.setContentsMargins(8, 4, 8, 6)
        buttons.setSpacing(8)
        buttons.addWidget(self.fix)
        buttons.addWidget(self.fix_all)
        buttons.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.browser, 1)
        column.addLayout(buttons)

    def explain(self, finding: Finding | None) -> None:
        """Show what a finding means."""
        palette = self._theme.palette
        if finding is None:
            told = tr("Choose a problem to read what it means. Enter goes to the note.")
            self.browser.setHtml(html.page(palette, html.paragraph(told, color=palette.text_muted)))
            return
        check = check_of(finding.code)
        parts = [html.paragraph(check.title, bold=True), html.paragraph(finding.message)]
        if check.explanation:
            parts.append(html.paragraph(check.explanation, color=palette.text_muted, above=4))
        if finding.advice:
            parts.append(html.box(finding.advice, tr("To do:"), palette.neutral_soft, palette.neutral))
        if finding.fix is not None:
            kind = tr("Fix:") if finding.fix.safe else tr("Possible fix, if that is what you meant:")
            parts.append(html.box(f"{finding.fix.title}.", kind, palette.good_soft, palette.good))
        where = f"{finding.filename}:{finding.line}" if finding.filename and finding.line else finding.filename
        theirs = "deeplore-ai-and-tools" in check.source
        origin = tr("a check of DeepLore's") if theirs else tr("the studio's own check")
        told = " · ".join(part for part in (check.code, tr(NAMES[finding.severity][0]), origin, where) if part)
        parts.append(html.paragraph(told, color=palette.text_faint, above=4))
        self.browser.setHtml(html.page(palette, "".join(parts)))
