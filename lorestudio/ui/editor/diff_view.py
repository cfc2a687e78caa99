"""Two texts as one list of lines: what stays, what goes, what comes, and the words that differ."""

from __future__ import annotations

from PySide6.QtGui import QTextBlockFormat, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPlainTextEdit, QVBoxLayout, QWidget

from lorestudio.ui.editor.word_diff import DiffLine, diff_lines
from lorestudio.ui.theme import Theme, fixed_font
from lorestudio.ui.words import count, tr


class DiffView(QWidget):
    """Shows what differs between two texts. `summary` says it in words, for a screen reader too."""

    def __init__(self, theme: Theme, titles: tuple[str, str], parent: QWidget | None = None) -> None:
        """`titles` are what the two texts are called, the one with minus signs first."""
        super().__init__(parent)
        self._theme = theme
        self._lines: tuple[DiffLine, ...] = ()
        self.summary = QLabel(self)
        self.summary.setProperty("kind", "small")
        head = QHBoxLayout()
        for sign, title in zip("-+", titles, strict=True):
            label = QLabel(f"{sign}  {title}", self)
            label.setProperty("kind", "section")
            head.addWidget(label)
            head.addSpacing(16)
        head.addStretch(1)
        head.addWidget(self.summary)
        self.view = QPlainTextEdit(self)
        self.view.setReadOnly(True)
        self.view.setObjectName("Diff")
        self.view.setFont(fixed_font(self.font().pointSizeF()))
        self.view.setAccessibleName(tr("What differs"))
        self.view.setTabChangesFocus(True)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addLayout(head)
        column.addWidget(self.view, 1)
        theme.changed.connect(self._fill)

    def show_texts(self, before: str, after: str) -> None:
        """Show two texts."""
        self._lines = diff_lines(before, after)
        changed = sum(line.sign != " " for line in self._lines)
        words = tr("{lines} differ", lines=count(changed, "line", "lines"))
        if not changed:
            words = tr("The texts are the same.") if before == after else tr("Only line ends differ.")
        self.summary.setText(words)
        self.view.setAccessibleDescription(words)
        self._fill()

    def _fill(self) -> None:
        theme = self._theme
        grounds = {"-": theme.color("error_soft"), "+": theme.color("good_soft")}
        marked = QTextCharFormat()
        marked.setBackground(theme.color("mark"))
        marked.setForeground(theme.color("on_mark"))
        faint = QTextCharFormat()
        faint.setForeground(theme.color("text_faint"))
        plain = QTextCharFormat()
        plain.setForeground(theme.color("text"))
        self.view.clear()
        cursor = QTextCursor(self.view.document())
        for place, line in enumerate(self._lines):
            block = QTextBlockFormat()
            if line.sign in grounds:
                block.setBackground(grounds[line.sign])
            if place:
                cursor.insertBlock(block, plain)
            else:
                cursor.setBlockFormat(block)
            if line.folded:
                cursor.insertText(tr("⋯ {lines} alike", lines=count(line.folded, "line", "lines")), faint)
                continue
            cursor.insertText(f"{line.sign} ", faint if line.sign == " " else plain)
            at = 0
            for start, end in line.spans:
                cursor.insertText(line.text[at:start], plain)
                cursor.insertText(line.text[start:end], marked)
                at = end
            cursor.insertText(line.text[at:], plain)
        self._go_to_first()

    def _go_to_first(self) -> None:
        first = next((place for place, line in enumerate(self._lines) if line.sign != " "), 0)
        self.view.setTextCursor(QTextCursor(self.view.document().findBlockByNumber(first)))
        self.view.centerCursor()
