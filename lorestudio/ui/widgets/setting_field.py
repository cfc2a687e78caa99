"""What every field for a setting is."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from lorestudio.settings.declaration import Declaration, Value
from lorestudio.ui.words import tr


class SettingField(QWidget):
    """Shows a value. `moved` carries every other one that a person gives it; `accepted` follows Enter."""

    moved = Signal(object)
    accepted = Signal()

    def __init__(self, declaration: Declaration, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.declaration = declaration
        self.row = QHBoxLayout(self)
        self.row.setContentsMargins(0, 0, 0, 0)
        self.row.setSpacing(8)

    def focus_target(self) -> QWidget:
        """Where the keyboard goes."""
        return self

    def set_value(self, value: Value) -> None:
        """Show a value; nothing is emitted."""

    def name(self, widget: QWidget) -> None:
        """Let a widget be called as the setting is."""
        widget.setAccessibleName(tr(self.declaration.label))
        widget.setAccessibleDescription(tr(self.declaration.help))
