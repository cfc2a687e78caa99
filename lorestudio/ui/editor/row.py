"""One row of the form: the property's name, its field, and below what there is to say about it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from PySide6.QtCore import QPoint, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QMenu, QPushButton, QToolButton, QVBoxLayout, QWidget

from lorestudio.ui.editor.fields import Field
from lorestudio.ui.editor.remarks import Remark
from lorestudio.ui.editor.schema import FieldSpec
from lorestudio.ui.theme import Theme, glyph
from lorestudio.ui.words import tr

NAME_WIDTH: Final = 128
"""Width of the names' column in device-independent pixels."""


class NameButton(QToolButton):
    """The name of a property. Enter opens its menu, Delete removes the property, F2 renames it where that is sensible.

    `asked` carries remove, rename or source.
    """

    asked = Signal(str)

    def __init__(self, theme: Theme, spec: FieldSpec, parent: QWidget | None = None, *, fixed: bool = False) -> None:
        super().__init__(parent)
        self._theme, self._icon_name, self._fixed = theme, spec.icon, fixed
        self.renamable = False
        self.written = False
        self.setObjectName("PropertyName")
        self.setText(tr(spec.title))
        self.setToolTip(tr(spec.help))
        self.setAccessibleName(tr("Property {name}", name=tr(spec.title)))
        self.setAccessibleDescription(tr(spec.help))
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setIconSize(QSize(14, 14))
        self.setFixedWidth(NAME_WIDTH)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus if fixed else Qt.FocusPolicy.StrongFocus)
        self.clicked.connect(self.open_menu)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self.open_menu)
        theme.changed.connect(self._paint)
        self._paint()

    def open_menu(self, _where: QPoint | bool = False) -> QMenu | None:
        """What can be done with the property."""
        if self._fixed:
            return None
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        remove = menu.addAction(tr("Remove property"), partial(self.asked.emit, "remove"))
        remove.setShortcut(Qt.Key.Key_Delete)
        if self.renamable:
            rename = menu.addAction(tr("Rename…"), partial(self.asked.emit, "rename"))
            rename.setShortcut(Qt.Key.Key_F2)
        if self.written:
            menu.addAction(tr("Show in source"), partial(self.asked.emit, "source"))
        menu.popup(self.mapToGlobal(QPoint(0, self.height())))
        return menu

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: see the class."""
        if event.key() in {Qt.Key.Key_Delete, Qt.Key.Key_Backspace}:
            self.asked.emit("remove")
        elif event.key() == Qt.Key.Key_F2 and self.renamable:
            self.asked.emit("rename")
        elif event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            self.open_menu()
        else:
            super().keyPressEvent(event)

    def _paint(self) -> None:
        self.setIcon(self._theme.icon(self._icon_name, "text_faint"))


class _RemarkLine(QWidget):
    """A remark with its sign and its button."""

    def __init__(self, theme: Theme, remark: Remark, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 1, 0, 2)
        row.setSpacing(6)
        icons = {"good": "check", "neutral": "info", "warning": "warning", "error": "error"}
        sign = QLabel(self)
        sign.setPixmap(glyph(icons[remark.tone], getattr(theme.palette, remark.tone), 14))
        sign.setFixedWidth(16)
        text = QLabel(remark.text, self)
        text.setTextFormat(Qt.TextFormat.PlainText)
        text.setProperty("kind", "small")
        text.setWordWrap(True)
        row.addWidget(sign, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(text, 1)
        for title, act in ((remark.button, remark.act), (remark.other_button, remark.other_act)):
            if title and act is not None:
                button = QPushButton(title, self)
                button.setProperty("kind", "small")
                button.setAccessibleDescription(remark.text)
                button.clicked.connect(partial(_press, act))
                row.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)


class FieldRow(QWidget):
    """A row. Its field is made by the form, which also says what there is to remark."""

    def __init__(self, theme: Theme, spec: FieldSpec, field: Field, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self.spec, self.field = theme, spec, field
        self.name = NameButton(theme, spec, self, fixed=spec.name == "")
        self._remarks: tuple[Remark, ...] = ()
        self._lines: list[QWidget] = []
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 1, 0, 1)
        grid.setHorizontalSpacing(6)
        grid.setVerticalSpacing(1)
        grid.setColumnStretch(1, 1)
        grid.addWidget(self.name, 0, 0, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(field, 0, 1)
        self.below = QVBoxLayout()
        self.below.setSpacing(0)
        grid.addLayout(self.below, 1, 1)

    @property
    def remarks(self) -> tuple[Remark, ...]:
        """What is said below the field."""
        return self._remarks

    def say(self, remarks: tuple[Remark, ...]) -> None:
        """Say something about the value; what was said before goes."""
        if [item.words for item in remarks] == [item.words for item in self._remarks]:
            return
        self._remarks = remarks
        for line in self._lines:
            self.below.removeWidget(line)
            line.hide()
            line.deleteLater()
        self._lines = [_RemarkLine(self._theme, remark, self) for remark in remarks]
        for line in self._lines:
            self.below.addWidget(line)
        self.field.setAccessibleDescription(" ".join(remark.text for remark in remarks))


def _press(act: Callable[[], object], _checked: bool = False) -> None:
    act()
