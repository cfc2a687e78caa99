"""What every list, table and tree of rows has: the keys to its ends, the menu of a row, a row that stays in sight."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Final, TypeAlias, cast

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPoint, QPointF, Qt
from PySide6.QtGui import (
    QAction,
    QActionEvent,
    QContextMenuEvent,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QDockWidget,
    QListView,
    QListWidget,
    QMenu,
    QTableView,
    QTreeView,
    QWidget,
)

from lorestudio.ui.shell.qt import CHECK, ENTRY_ID, Index, native
from lorestudio.ui.shell.words import tr

Offered: TypeAlias = QAction | QAbstractButton

_MANY: Final = QAbstractItemView.SelectionMode.ExtendedSelection
_SEEN: Final = QAbstractItemView.ScrollHint.EnsureVisible


@contextmanager
def kept_in_sight(view: QAbstractItemView, height: int) -> Iterator[None]:
    """Where the row of the keyboard was in sight in a view so high, it is so in another size of view or rows, too."""
    at = view.currentIndex()
    place = view.visualRect(at)
    seen = not place.isEmpty() and 0 <= place.top() < height
    yield
    if seen and not view.visualRect(at).isEmpty():  # Qt would open again what was closed above it
        across = view.horizontalScrollBar().value()
        view.scrollTo(at)
        view.horizontalScrollBar().setValue(across)


class RowMenu:
    """Mixed into a view: its rows have a menu. Copy does what the view's `copy` does, or else takes a row's text.

    `offered` is what the pane does with the chosen row, besides the view's own actions: actions, and buttons while they
    are shown. `look` is given the row before, where being on it does not choose what it is about. `elsewhere` is what
    the right button offers beside the rows.
    """

    offered: Sequence[Offered] = ()
    elsewhere: Sequence[QAction] = ()
    look: Callable[[QModelIndex], object] | None = None

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Qt: the right button at a row, or the key for it at the row with the keyboard."""
        view, by_key = cast("QAbstractItemView", self), event.reason() is QContextMenuEvent.Reason.Keyboard
        at = view.viewport().mapFromGlobal(event.globalPos())  # beside a row is its heading
        index = view.currentIndex() if by_key else view.indexAt(QPoint(max(0, at.x()), at.y()))
        if not index.isValid():
            if self.elsewhere:
                menu = passing_menu(view)
                menu.addActions(self.elsewhere)
                menu.popup(event.globalPos())
            return
        if self.look is not None:
            self.look(index)
        menu = passing_menu(view)
        _offer(menu, (*view.actions(), *self.offered))
        entry = index.data(ENTRY_ID)
        if isinstance(entry, int) and entry >= 0:
            menu.addActions([each for each in _about_entries(view) if each not in menu.actions()])
        if menu.actions():
            menu.addSeparator()
        copy = getattr(self, "copy", partial(QGuiApplication.clipboard().setText, str(index.data() or "")))
        keys = QKeySequence.StandardKey
        ways: list[tuple[str, QKeySequence.StandardKey, Callable[[], object]]] = [(tr("Copy"), keys.Copy, copy)]
        if view.selectionMode() is _MANY:
            ways.append((tr("Choose all"), keys.SelectAll, view.selectAll))
        for title, key, do in ways:
            menu.addAction(f"{title}\t{native(key)}", do)
        menu.popup(_below_row(view) if by_key else event.globalPos())


class PictureMenu:
    """Mixed into a painted widget: its menu has its actions, and copies it as it is seen."""

    def _clicked(self, point: QPointF) -> None:
        """Go to what is under the pointer, as a click does."""

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Qt: what is under the pointer is gone to before."""
        picture = cast("QWidget", self)
        if event.reason() is not QContextMenuEvent.Reason.Keyboard:
            self._clicked(QPointF(event.pos()))
        menu = passing_menu(picture)
        _offer(menu, picture.actions())
        menu.addAction(tr("Copy as a picture"), lambda: QGuiApplication.clipboard().setPixmap(picture.grab()))
        menu.popup(event.globalPos())


class RowList(RowMenu, QListView):
    """A list whose rows have a menu, and are copied also in a pane that has another use for the key."""

    def event(self, event: QEvent) -> bool:
        """Qt: Copy belongs to the rows here, and Qt itself copies the text of one."""
        asked = isinstance(event, QKeyEvent) and event.matches(QKeySequence.StandardKey.Copy)
        if asked and event.type() is QEvent.Type.ShortcutOverride:
            event.accept()
            return True
        return super().event(event)


class RowTable(RowMenu, QTableView):
    """A table of any model whose rows have a menu."""

    def moveCursor(self, action: QTableView.CursorAction, modifiers: Qt.KeyboardModifier) -> QModelIndex:
        """Qt: Home and End go to the first and the last row; by themselves to cells of the same row."""
        ends = {QTableView.CursorAction.MoveHome: 0, QTableView.CursorAction.MoveEnd: self.model().rowCount() - 1}
        if action in ends:
            return self.model().index(ends[action], max(0, self.currentIndex().column()))
        return super().moveCursor(action, modifiers)


class NameList(RowMenu, QListWidget):
    """A short list of names whose rows have a menu."""


class RowTree(RowMenu, QTreeView):
    """A tree of any model whose rows have a menu."""

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: a lower window, or an explanation that unfolds below, takes its room."""
        with kept_in_sight(self, event.oldSize().height()):
            super().resizeEvent(event)

    def scrollTo(self, index: Index, hint: QAbstractItemView.ScrollHint = _SEEN) -> None:
        """Qt: it counts rows as though all were as high as the last ones, and leaves some below the edge."""
        super().scrollTo(index, hint)
        if hint is _SEEN and self.visualRect(index).bottom() >= self.viewport().height():
            super().scrollTo(index, QAbstractItemView.ScrollHint.PositionAtBottom)

    def doItemsLayout(self) -> None:
        """Qt: rows above get more lines, as where marks leave less room for titles."""
        with kept_in_sight(self, self.viewport().height()):
            super().doItemsLayout()


def passing_menu(parent: QWidget) -> QMenu:
    """A menu that is gone once it is closed. It names the keys that work where it is asked for, and no others."""
    menu = _PassingMenu(parent)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    return menu


class _PassingMenu(QMenu):
    def actionEvent(self, event: QActionEvent) -> None:
        """Qt: an action came in; it may have been in a menu of another pane before."""
        if event.type() is QEvent.Type.ActionAdded:
            made, place = event.action(), self.parentWidget() or self
            owners = [each for each in made.associatedObjects() if isinstance(each, QWidget)]
            works = made.shortcutContext() is not Qt.ShortcutContext.WidgetWithChildrenShortcut
            works = works or any(each is place or each.isAncestorOf(place) for each in owners)
            made.setShortcutVisibleInContextMenu(works and QGuiApplication.styleHints().showShortcutsInContextMenus())
        super().actionEvent(event)


def _below_row(view: QAbstractItemView) -> QPoint:
    """Where the menu of the row with the keyboard stands; the row comes in sight."""
    view.scrollTo(view.currentIndex())
    return view.viewport().mapToGlobal(view.visualRect(view.currentIndex()).bottomLeft())


def action(title: str, do: Callable[[], object], owner: QObject) -> QAction:
    """An action for menus alone."""
    made = QAction(title, owner)
    made.triggered.connect(lambda _on: do())
    return made


def _offer(menu: QMenu, offered: Iterable[Offered]) -> None:
    """Put actions into a menu, and of buttons those that are shown: each is pressed, and says why it cannot be."""
    menu.setToolTipsVisible(True)
    for each in offered:
        if isinstance(each, QAction):
            menu.addAction(each)
        elif not each.isHidden():
            made = menu.addAction(each.text(), each.click)
            made.setCheckable(each.isCheckable())
            made.setChecked(each.isChecked())
            made.setEnabled(each.isEnabled())
            made.setToolTip(each.toolTip())


def _about_entries(view: QWidget) -> Iterator[QAction]:
    """What its window does with a chosen entry; the docks carry it."""
    widget = view.parentWidget()
    while widget is not None:
        if isinstance(widget, QDockWidget):
            yield from widget.actions()
        widget = widget.parentWidget()


def turn_tick(index: QModelIndex) -> None:
    """Tick a row, or tick it no more, where it has a box."""
    state = index.data(CHECK)
    if state is not None:
        on = Qt.CheckState(state) is Qt.CheckState.Checked
        index.model().setData(index, Qt.CheckState.Unchecked if on else Qt.CheckState.Checked, CHECK)
