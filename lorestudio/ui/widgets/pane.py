"""What every pane is: a named dock with a quiet title that can say what it shows."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QDockWidget, QHBoxLayout, QLabel, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from lorestudio.ui.theme import Theme
from lorestudio.ui.widgets.folding_row import ElidedLabel
from lorestudio.ui.words import tr


class Pane(QWidget):
    """The content of a dock. `note_changed` carries a few words for the dock's title.

    `focus_target` is the widget that takes the keyboard when the pane is entered.
    """

    note_changed = Signal(str)

    def __init__(self, name: str, title: str, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("Pane")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.name = name
        self.title = title
        self.theme = theme
        self.setAccessibleName(title)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(0, 0, 0, 2)
        self.column.setSpacing(0)

    def focus_target(self) -> QWidget:
        """Where the keyboard goes when the pane is entered."""
        return self

    def open_search(self) -> bool:
        """Open the pane's search field; False where it has none."""
        return False


class PaneTitle(QWidget):
    """The bar on top of a dock: name, a note, float and close."""

    def __init__(self, dock: QDockWidget, pane: Pane, theme: Theme) -> None:
        super().__init__(dock)
        self.setObjectName("PaneTitle")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._dock, self._theme = dock, theme
        row = QHBoxLayout(self)
        row.setContentsMargins(10, 2, 4, 2)
        row.setSpacing(8)
        self._name = QLabel(pane.title, self)
        self._name.setObjectName("PaneName")
        self._note = ElidedLabel(self)
        self._note.setObjectName("PaneNote")
        self._note.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        pane.note_changed.connect(self._say)
        row.addWidget(self._name)
        row.addWidget(self._note, 1)
        self._float = self._button(tr("Float {pane}", pane=pane.title), self._toggle_floating)
        self._close = self._button(tr("Close {pane}", pane=pane.title), dock.close)
        row.addWidget(self._float)
        row.addWidget(self._close)
        theme.changed.connect(self._paint_icons)
        self._paint_icons()

    def set_active(self, active: bool) -> None:
        """Show that the keyboard is in this pane."""
        self.setProperty("active", active)
        self.style().unpolish(self)
        self.style().polish(self)

    def show_name(self, shown: bool) -> None:
        """Hide the name where a tab says it already."""
        self._name.setVisible(shown)

    def _say(self, note: str) -> None:
        self._note.setText(note)
        self._note.setToolTip(note)

    def _button(self, text: str, slot: object) -> QToolButton:
        button = QToolButton(self)
        button.setAccessibleName(text)
        button.setToolTip(text)
        button.setIconSize(QSize(13, 13))
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # both are in the View menu, for the keyboard
        button.clicked.connect(slot)
        return button

    def _toggle_floating(self) -> None:
        self._dock.setFloating(not self._dock.isFloating())

    def _paint_icons(self) -> None:
        self._float.setIcon(self._theme.icon("float", "text_faint"))
        self._close.setIcon(self._theme.icon("close", "text_faint"))


class PaneDock(QDockWidget):
    """A dock with our own title bar; the object name is what a saved layout knows it by."""

    def __init__(self, pane: Pane, theme: Theme, parent: QWidget) -> None:
        super().__init__(pane.title, parent)
        self.setObjectName(f"dock-{pane.name}")
        self.setAccessibleName(pane.title)
        self.pane = pane
        self.setWidget(pane)
        self.bar = PaneTitle(self, pane, theme)
        self.setTitleBarWidget(self.bar)
