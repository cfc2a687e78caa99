"""Which messages of the chat a new note is drafted from, and what it should be about."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from lorestudio.domain.chat import Chat
from lorestudio.ui.words import count, shorten, tr

USUAL: Final = 8
"""So many messages are chosen to begin with: the chosen one and those before it."""
MOST: Final = 100
_SHOWN: Final = 160


class PassageDialog(QDialog):
    """`chosen` carries the indices of the messages and the subject, "" for any."""

    chosen = Signal(object, str)

    def __init__(self, chat: Chat, message: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Draft a note from messages"))
        self._chat = chat
        last = len(chat.messages) - 1
        message = max(0, min(message, last))
        column = QVBoxLayout(self)
        intro = QLabel(
            tr(
                "The messages are read for something that has no note yet. Nothing is written before you accept the "
                "draft."
            ),
            self,
        )
        intro.setWordWrap(True)
        column.addWidget(intro)
        form = QFormLayout()
        form.setHorizontalSpacing(12)
        row = QHBoxLayout()
        row.setSpacing(8)
        self.first, self.last = QSpinBox(self), QSpinBox(self)
        for box, name in ((self.first, tr("First message")), (self.last, tr("Last message"))):
            box.setRange(0, max(0, last))
            box.setPrefix("#")
            box.setMinimumWidth(72)
            box.setAccessibleName(name)
        self.first.setValue(max(0, message - USUAL + 1))
        self.last.setValue(message)
        self.first.valueChanged.connect(self._show)
        self.last.valueChanged.connect(self._show)
        row.addWidget(self.first)
        row.addWidget(QLabel(tr("to"), self))
        row.addWidget(self.last)
        self.amount = QLabel(self)
        self.amount.setProperty("kind", "small")
        row.addWidget(self.amount, 1)
        form.addRow(tr("Messages"), row)
        self.focus = QLineEdit(self)
        self.focus.setPlaceholderText(tr("whatever is worth a note"))
        self.focus.setAccessibleName(tr("What the note should be about"))
        form.addRow(tr("About"), self.focus)
        column.addLayout(form)
        self.passage = QPlainTextEdit(self)
        self.passage.setReadOnly(True)
        self.passage.setTabChangesFocus(True)
        self.passage.setAccessibleName(tr("The messages"))
        column.addWidget(self.passage, 1)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, self)
        self.go_on = QPushButton(tr("Draft a note"), self)
        self.go_on.setProperty("kind", "primary")
        buttons.addButton(self.go_on, QDialogButtonBox.ButtonRole.AcceptRole)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        column.addWidget(buttons)
        self._show()
        self.resize(620, 440)

    @property
    def numbers(self) -> tuple[int, ...]:
        """The chosen messages; hidden ones are left out when the draft is asked for."""
        return tuple(range(self.first.value(), self.last.value() + 1))

    def accept(self) -> None:
        """Qt: hand the choice over and close."""
        self.chosen.emit(self.numbers, self.focus.text().strip())
        super().accept()

    def _show(self) -> None:
        numbers = self.numbers
        messages = [(number, self._chat.messages[number]) for number in numbers[:MOST] if self._chat.messages]
        visible = [(number, message) for number, message in messages if message.scannable and message.text.strip()]
        self.passage.setPlainText(
            "\n".join(
                f"#{number}  {message.name or tr('Unknown')}: {shorten(message.text, _SHOWN)}"
                for number, message in visible
            )
        )
        problem = ""
        if not numbers:
            problem = tr("The first message comes after the last one.")
        elif len(numbers) > MOST:
            problem = tr("These are too many; choose at most {most}.", most=MOST)
        elif not visible:
            problem = tr("These are all hidden or empty.")
        hidden = len(messages) - len(visible)
        words = count(len(visible), "message", "messages")
        if hidden:
            words = tr("{visible}, {hidden} hidden or empty left out", visible=words, hidden=hidden)
        self.amount.setText(problem or words)
        self.go_on.setEnabled(not problem)
