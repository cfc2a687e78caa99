"""Two texts side by side with their differences marked; equal parts far from a difference are folded."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final

from PySide6.QtGui import QColor, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPlainTextEdit, QTextEdit, QVBoxLayout, QWidget

from lorestudio.ui.theme import Theme, fixed_font
from lorestudio.ui.words import count, tr

AROUND: Final = 3
"""So many equal lines are shown around a difference."""


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One line of both sides; None where a side has none. `folded` counts equal lines that are left out here."""

    left: str | None
    right: str | None
    changed: bool = False
    folded: int = 0


def diff_lines(left: str, right: str) -> tuple[DiffLine, ...]:
    """The lines of two texts beside each other."""
    old, new = left.splitlines(), right.splitlines()
    lines: list[DiffLine] = []
    groups = SequenceMatcher(None, old, new, autojunk=len(old) > 3000).get_grouped_opcodes(AROUND)
    shown = 0
    for group in groups:
        start = group[0][1]
        if start > shown:
            lines.append(DiffLine(None, None, folded=start - shown))
        for tag, first, last, first_new, last_new in group:
            if tag == "equal":
                lines += [DiffLine(line, line) for line in old[first:last]]
                continue
            before, after = old[first:last], new[first_new:last_new]
            for place in range(max(len(before), len(after))):
                lines.append(
                    DiffLine(
                        before[place] if place < len(before) else None,
                        after[place] if place < len(after) else None,
                        changed=True,
                    )
                )
        shown = group[-1][2]
    if lines and shown < len(old):
        lines.append(DiffLine(None, None, folded=len(old) - shown))
    return tuple(lines)


class DiffView(QWidget):
    """Shows what differs between two texts. `summary` says it in words, for a screen reader too."""

    def __init__(self, theme: Theme, titles: tuple[str, str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._lines: tuple[DiffLine, ...] = ()
        self.summary = QLabel(self)
        self.summary.setProperty("kind", "small")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        sides = QHBoxLayout()
        sides.setSpacing(6)
        self.sides: list[QPlainTextEdit] = []
        for title in titles:
            half = QVBoxLayout()
            head = QLabel(title, self)
            head.setProperty("kind", "section")
            view = QPlainTextEdit(self)
            view.setReadOnly(True)
            view.setObjectName("Diff")
            view.setFont(fixed_font(self.font().pointSizeF()))
            view.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
            view.setAccessibleName(title)
            view.setTabChangesFocus(True)
            half.addWidget(head)
            half.addWidget(view, 1)
            sides.addLayout(half)
            self.sides.append(view)
        left, right = self.sides
        for one, other in ((left, right), (right, left)):
            one.verticalScrollBar().valueChanged.connect(other.verticalScrollBar().setValue)
            one.horizontalScrollBar().valueChanged.connect(other.horizontalScrollBar().setValue)
        column.addLayout(sides, 1)
        column.addWidget(self.summary)
        theme.changed.connect(self._fill)

    def show_texts(self, left: str, right: str) -> None:
        """Show two texts."""
        self._lines = diff_lines(left, right)
        changed = sum(line.changed for line in self._lines)
        words = tr("{lines} differ", lines=count(changed, "line", "lines"))
        if not changed:
            words = tr("The texts are the same.") if left == right else tr("Only line ends differ.")
        self.summary.setText(words)
        self._fill()

    def _fill(self) -> None:
        colours = (self._theme.color("error_soft"), self._theme.color("good_soft"))
        for side, (view, colour) in enumerate(zip(self.sides, colours, strict=True)):
            view.clear()
            texts = [line.left if side == 0 else line.right for line in self._lines]
            marks = ("- ", "+ ")
            shown = [
                tr("⋯ {lines} alike", lines=count(line.folded, "line", "lines"))
                if line.folded
                else (marks[side] if line.changed and text is not None else "  ") + (text or "")
                for line, text in zip(self._lines, texts, strict=True)
            ]
            view.setPlainText("\n".join(shown))
            view.setExtraSelections(self._marks(view, colour, side))
        self._go_to_first()

    def _marks(self, view: QPlainTextEdit, colour: QColor, side: int) -> list[QTextEdit.ExtraSelection]:
        marks = []
        for place, line in enumerate(self._lines):
            text = line.left if side == 0 else line.right
            if not (line.changed or line.folded):
                continue
            mark = QTextEdit.ExtraSelection()
            style = QTextCharFormat()
            style.setProperty(QTextCharFormat.Property.FullWidthSelection, True)
            style.setBackground(colour if line.changed and text is not None else self._theme.color("sunken"))
            if line.folded:
                style.setForeground(self._theme.color("text_faint"))
            mark.format = style
            mark.cursor = QTextCursor(view.document().findBlockByNumber(place))
            marks.append(mark)
        return marks

    def _go_to_first(self) -> None:
        first = next((place for place, line in enumerate(self._lines) if line.changed), 0)
        self.sides[0].verticalScrollBar().setValue(max(0, first - AROUND))
