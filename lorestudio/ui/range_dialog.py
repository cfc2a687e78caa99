"""Choosing which messages of a chat to replay."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from lorestudio.studio.generation import Generation
from lorestudio.studio.ranges import MessageRange
from lorestudio.ui.words import count, tr


class RangeDialog(QDialog):
    """Two message numbers, and what they mean. `chosen` carries the `MessageRange` that the person wants replayed."""

    chosen = Signal(object)

    def __init__(
        self, generations: Sequence[Generation], done: int, message: int | None, parent: QWidget | None = None
    ) -> None:
        """`done` is how many of the generations were run; `message` is where the range begins at first."""
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Replay some messages"))
        self._generations, self._done = generations, done
        last = generations[-1].message if generations else 0
        self.first, self.last = QSpinBox(self), QSpinBox(self)
        for box, name in ((self.first, tr("From message")), (self.last, tr("To message"))):
            box.setRange(0, last)
            box.setPrefix("#")
            box.setButtonSymbols(QSpinBox.ButtonSymbols.NoButtons)  # the arrow keys do the same
            box.setAccessibleName(name)
        self.first.setValue(message or 0)
        self.last.setValue(last)
        column = QVBoxLayout(self)
        form = QFormLayout()
        form.addRow(tr("From message"), self.first)
        form.addRow(tr("To message"), self.last)
        column.addLayout(form)
        self.meaning = QLabel(self)
        self.meaning.setWordWrap(True)
        self.meaning.setMinimumWidth(360)
        self.meaning.setMinimumHeight(3 * self.meaning.fontMetrics().height())
        self.meaning.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.meaning.setProperty("kind", "muted")
        column.addWidget(self.meaning, 1)
        buttons = QHBoxLayout()
        cancel = QPushButton(tr("Cancel"), self)
        cancel.clicked.connect(self.reject)
        self.go = QPushButton(tr("Replay"), self)
        self.go.setProperty("kind", "primary")
        self.go.setDefault(True)
        self.go.clicked.connect(self.accept)
        buttons.addStretch(1)
        buttons.addWidget(cancel)
        buttons.addWidget(self.go)
        column.addLayout(buttons)
        for box in (self.first, self.last):
            box.valueChanged.connect(self._explain)
        self._explain()
        self.first.setFocus()
        self.first.selectAll()

    def accept(self) -> None:
        """Qt: the person wants it."""
        self.chosen.emit(MessageRange(self.first.value(), self.last.value()))
        super().accept()

    def _explain(self) -> None:
        try:
            part = MessageRange(self.first.value(), self.last.value()).part(self._generations)
        except ValueError as error:
            self.meaning.setText(tr(str(error)))
            self.go.setEnabled(False)
            return
        self.go.setEnabled(True)
        sentences = [tr("{runs}, swipes included.", runs=count(part.stop - part.start, "run", "runs"))]
        missing = part.before(self._done)
        if missing:
            text = tr(
                "{before} missing before them; what these leave is where the range begins, so they are run first."
            )
            sentences.append(text.format(before=count(missing, "run is", "runs are")))
        sentences.append(tr("What was run already and would come out the same is kept."))
        self.meaning.setText(" ".join(sentences))
