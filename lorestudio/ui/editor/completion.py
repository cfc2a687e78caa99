"""Offering names while a link or a title is typed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from PySide6.QtCore import QEvent, QObject, QStringListModel, Qt
from PySide6.QtGui import QKeyEvent, QTextCursor
from PySide6.QtWidgets import QCompleter, QLineEdit, QListView, QWidget

from lorestudio.ui.editor.body import BodyEdit
from lorestudio.ui.editor.link_text import half_typed
from lorestudio.ui.editor.titles import Name, TitleBook
from lorestudio.ui.words import tr

_KEEP: Final = QTextCursor.MoveMode.KeepAnchor
_MOVES: Final = {
    Qt.Key.Key_Up,
    Qt.Key.Key_Down,
    Qt.Key.Key_Left,
    Qt.Key.Key_Right,
    Qt.Key.Key_Escape,
    Qt.Key.Key_Home,
    Qt.Key.Key_End,
}

Offers = Callable[[str], Sequence[str]]
"""What fits a typed text, best first."""


class OffersCompleter(QCompleter):
    """Shows what `offers` gives for the text typed so far, in that order; Qt's own search is not used."""

    def __init__(self, offers: Offers, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._offers = offers
        self._names = QStringListModel(self)
        self.setModel(self._names)
        self.setCompletionMode(QCompleter.CompletionMode.UnfilteredPopupCompletion)
        self.setMaxVisibleItems(10)
        popup = QListView()
        popup.setObjectName("Offers")
        popup.setAccessibleName(tr("Suggestions"))
        self.setPopup(popup)

    def serve(self, line: QLineEdit) -> None:
        """Offer in a line while a person types there."""
        line.textEdited.connect(self._typed)

    def _typed(self, text: str) -> None:
        self.fill(text)

    def fill(self, text: str) -> int:
        """Take what fits `text`; how much that is."""
        found = list(self._offers(text)) if text else []
        self._names.setStringList(found)
        return len(found)

    def splitPath(self, path: str) -> list[str]:
        """Qt: a name is one piece, whatever signs it has."""
        return [path]


class LinkCompleter(QObject):
    """Offers titles and aliases behind `[[` in a body."""

    def __init__(self, editor: BodyEdit, book: Callable[[], TitleBook]) -> None:
        super().__init__(editor)
        self._editor, self._book = editor, book
        self._names: list[Name] = []
        self.completer = QCompleter(self)
        self._model = QStringListModel(self)
        self.completer.setModel(self._model)
        self.completer.setCompletionMode(QCompleter.CompletionMode.UnfilteredPopupCompletion)
        self.completer.setMaxVisibleItems(10)
        self.completer.setWidget(editor)
        self._popup = QListView()
        self._popup.setObjectName("Offers")
        self.completer.setPopup(self._popup)
        self._popup.setAccessibleName(tr("Notes to link to"))
        self.completer.activated.connect(self._take_text)
        editor.installEventFilter(self)
        editor.textChanged.connect(self._text_changed)
        editor.cursorPositionChanged.connect(self._moved)
        self._typing = False

    @property
    def offered(self) -> list[str]:
        """What the popup shows, [] while it is closed."""
        return self._model.stringList() if self._popup.isVisible() else []

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Qt: Enter and Tab take the offer while there is one."""
        if event.type() is QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            self._typing = event.key() not in _MOVES
            if self._popup.isVisible() and event.key() in {
                Qt.Key.Key_Return,
                Qt.Key.Key_Enter,
                Qt.Key.Key_Tab,
            }:
                self.take(max(self._popup.currentIndex().row(), 0))
                return True
        return super().eventFilter(watched, event)

    def take(self, row: int) -> None:
        """Write the offered name in place of what was typed, and close the link."""
        self._popup.hide()
        typed = self._half_typed()
        if typed is None or not 0 <= row < len(self._names):
            return
        cursor = self._editor.textCursor()
        cursor.movePosition(QTextCursor.MoveOperation.Left, _KEEP, len(typed.encode("utf-16-le")) // 2)
        rest = cursor.block().text().encode("utf-16-le")[2 * self._editor.textCursor().positionInBlock() :]
        closed = rest.decode("utf-16-le", "replace").startswith("]]")
        cursor.insertText(self._names[row].link + ("" if closed else "]]"))
        if closed:
            cursor.movePosition(QTextCursor.MoveOperation.Right, QTextCursor.MoveMode.MoveAnchor, 2)
        self._editor.setTextCursor(cursor)

    def _text_changed(self) -> None:
        if self._editor.hasFocus() and self._typing:
            self._offer()

    def _moved(self) -> None:
        if self._popup.isVisible() and self._half_typed() is None:
            self._popup.hide()

    def _offer(self) -> None:
        typed = self._half_typed()
        if typed is None:
            self._popup.hide()
            return
        self._names = self._book().offers(typed)
        self._model.setStringList(
            [f"{name.text}   → {name.alias_of}" if name.alias_of else name.text for name in self._names]
        )
        if not self._names:
            self._popup.hide()
            return
        box = self._editor.cursorRect()
        box.translate(self._editor.viewport().pos())
        box.setWidth(min(420, max(240, self._editor.width() - box.x())))
        self.completer.complete(box)
        self._popup.setCurrentIndex(self._model.index(0, 0))

    def _take_text(self, text: str) -> None:
        rows = self._model.stringList()
        if text in rows:
            self.take(rows.index(text))

    def _half_typed(self) -> str | None:
        cursor = self._editor.textCursor()
        units = cursor.block().text().encode("utf-16-le", "surrogatepass")[: 2 * cursor.positionInBlock()]
        return half_typed(units.decode("utf-16-le", "replace"))


def offering(line: QLineEdit, offers: Offers, parent: QWidget) -> OffersCompleter:
    """A completer for a line that offers what fits."""
    made = OffersCompleter(offers, parent)
    made.serve(line)
    return made
