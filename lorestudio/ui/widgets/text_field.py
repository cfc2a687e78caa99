"""A recap as text that can be written, with buttons that appear once it was."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from lorestudio.ui.shell.words import tr


class SmallText(QPlainTextEdit):
    """A text that asks for three lines and makes do with two."""

    def sizeHint(self) -> QSize:
        """Qt: see the class."""
        return QSize(200, self.fontMetrics().lineSpacing() * 3 + 16)

    def minimumSizeHint(self) -> QSize:
        """Qt: see the class."""
        return QSize(80, self.fontMetrics().lineSpacing() * 2 + 16)


class _Lines(SmallText):
    """Ctrl+Enter keeps the text, Escape gives it up; Tab goes on."""

    kept = Signal()
    given_up = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: see the class."""
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if enter and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.kept.emit()
        elif event.key() == Qt.Key.Key_Escape:
            self.given_up.emit()
        else:
            super().keyPressEvent(event)


class RecapText(QWidget):
    """Shows the text of something known by a key. `written` carries that key and another text for it.

    What a person has written and not kept is there again whenever the same thing is shown. `left` follows Escape where
    nothing is to be given up.
    """

    written = Signal(object, str)
    left = Signal()

    def __init__(self, name: str, parent: QWidget | None = None, *, tip: str = "") -> None:
        super().__init__(parent)
        self._key: object = None
        self._text = ""
        self._sent: str | None = None
        self._drafts: dict[object, str] = {}
        self.lines = _Lines(self)
        self.lines.setObjectName("Boxed")
        self.lines.setTabChangesFocus(True)
        self.lines.setAccessibleName(name)
        self.remark = QLabel(self)
        self.remark.setProperty("kind", "small")
        self.remark.setWordWrap(True)
        self.keep = QPushButton(tr("Keep"), self)
        self.keep.setProperty("kind", "primary")
        self.keep.setToolTip(tip or tr("Write it into the chat's file (Ctrl+Enter)"))
        self.back = QPushButton(tr("Back"), self)
        self.back.setToolTip(tr("Give up what was written (Esc)"))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addWidget(self.lines, 1)
        row = QHBoxLayout()
        row.setSpacing(6)
        row.addWidget(self.remark, 1)
        row.addWidget(self.keep)
        row.addWidget(self.back)
        column.addLayout(row)
        self.lines.textChanged.connect(self._show_buttons)
        self.lines.kept.connect(self._keep)
        self.lines.given_up.connect(self._give_up)
        self.keep.clicked.connect(self._keep)
        self.back.clicked.connect(self._give_up)
        self._show_buttons()

    @property
    def changed(self) -> bool:
        """Whether a person has written something that is not kept."""
        return self.lines.toPlainText() != self._text and not self.lines.isReadOnly()

    def show_text(self, key: object, text: str, *, editable: bool, placeholder: str = "", remark: str = "") -> None:
        """Show the text of another thing, or what the same one says by now."""
        if key == self._key and text != self._text and self.lines.toPlainText() == self._sent:
            self.taken()
        if self.changed and self._key is not None:
            self._drafts[self._key] = self.lines.toPlainText()
        draft = self._drafts.pop(key, text) if editable else text
        self._key, self._text = key, text
        if self.lines.toPlainText() != draft:
            self.lines.setPlainText(draft)
        self.lines.setReadOnly(not editable)
        self.lines.setPlaceholderText(placeholder)
        self.remark.setText(remark)
        self.remark.setVisible(bool(remark))
        self._show_buttons()

    def taken(self) -> None:
        """What was written last stands in the file now, whatever it was made of there."""
        if self.lines.toPlainText() == self._sent:
            self._text, self._sent = self._sent, None

    def forget(self) -> None:
        """Other things are shown from now on: what was written about the ones before is given up."""
        self._drafts.clear()
        self._key, self._text = None, ""
        self.lines.setPlainText("")

    def _show_buttons(self) -> None:
        for button in (self.keep, self.back):
            button.setVisible(self.changed)

    def _keep(self) -> None:
        if self.changed:
            self._sent = self.lines.toPlainText()
            self.written.emit(self._key, self._sent)

    def _give_up(self) -> None:
        if self.changed:
            self.lines.setPlainText(self._text)
        else:
            self.left.emit()
