"""Changing between workspaces. Mounted by the main window, which asks here where its panes stand."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

from lorestudio.ui import layout
from lorestudio.ui.actions import Action
from lorestudio.ui.command_group import CommandGroup
from lorestudio.ui.words import tr
from lorestudio.ui.workspaces import WORKSPACES, Workspace

if TYPE_CHECKING:
    from lorestudio.ui.main_window import MainWindow

_MENU: Final = "View/Workspace"

WORKSPACE_ACTIONS: Final[tuple[Action, ...]] = tuple(
    Action(
        f"workspace.{workspace.name}", workspace.title, _MENU, (f"Ctrl+Alt+{place}",), tip=workspace.tip, checkable=True
    )
    for place, workspace in enumerate(WORKSPACES, start=1)
)


class WorkspaceCommands(CommandGroup):
    """Each workspace stands as it was left; the one that the window was closed in comes back."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self.current = layout.remembered(window.settings)
        self._button: QToolButton | None = None

    def handlers(self) -> dict[str, Callable[[], object]]:
        """What each action does."""
        return {
            **{f"workspace.{workspace.name}": partial(self.enter, workspace) for workspace in WORKSPACES},
            "view.reset": self.reset,
        }

    def make_button(self, parent: QWidget) -> QToolButton:
        """A button that says which workspace this is and offers the others."""
        button = self._button = QToolButton(parent)
        button.setProperty("kind", "text")
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        button.setAccessibleName(tr("Workspace"))
        self._window.theme.changed.connect(self._paint)
        self._paint()
        return button

    def connect_window(self) -> None:
        """The actions are there: fill the button's menu."""
        if self._button is not None:
            menu = QMenu(self._button)
            menu.setToolTipsVisible(True)
            menu.addActions([self._window.commands.actions[action.id] for action in WORKSPACE_ACTIONS])
            self._button.setMenu(menu)

    def update(self, actions: dict[str, QAction]) -> None:
        """Tick the workspace that this is."""
        for workspace in WORKSPACES:
            actions[f"workspace.{workspace.name}"].setChecked(workspace is self.current)
        if self._button is not None:
            self._button.setText(tr(self.current.title))
            self._button.setToolTip(tr("Workspace: {what}", what=tr(self.current.tip)))

    def enter(self, workspace: Workspace) -> None:
        """Put the panes as they were left in this workspace, or as it starts."""
        window = self._window
        if workspace is self.current or window.session.project is None:
            return
        layout.keep(window, window.settings, self.current)
        self.current = workspace
        self.arrange()  # also where it comes back as it was left: Qt would leave tabs of the other one standing
        layout.bring_back(window, window.settings, workspace)
        self._focus_first()

    def arrange(self) -> None:
        """Put the panes where the workspace has them in a window of this size."""
        window = self._window
        layout.arrange(window, window.docks, self.current, window.width(), window.height())

    def reset(self) -> None:
        """Put all panes of this workspace back where they belong."""
        pane = self._window.current_pane()
        layout.forget(self._window.settings, self.current)
        self.arrange()
        if pane is not None and not self._window.docks[pane.name].isHidden():
            pane.focus_target().setFocus()
        else:
            self._focus_first()

    def _paint(self) -> None:
        if self._button is not None:
            self._button.setIcon(self._window.theme.icon("columns"))

    def _focus_first(self) -> None:
        """The pane that the workspace is about has the keyboard."""
        middle = self.current.columns[1].stacks[0].panes[0]
        self._window.docks[middle].pane.focus_target().setFocus()
