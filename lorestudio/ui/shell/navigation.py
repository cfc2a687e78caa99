"""Changing between workspaces. Mounted by the main window, which asks here where its panes stand.

Getting about in the window: the palette, searching, panes, messages and swipes of the chat, rows of the trace.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

from lorestudio.ui.shell import layout
from lorestudio.ui.shell.actions import Action
from lorestudio.ui.shell.command_group import CommandGroup
from lorestudio.ui.shell.words import tr
from lorestudio.ui.shell.workspaces import WORKSPACES, Workspace
from lorestudio.ui.widgets.picker import Choice, Picker

if TYPE_CHECKING:
    from lorestudio.ui.shell.main_window import MainWindow


class GoCommands(CommandGroup):
    """Changes what is looked at, and nothing else."""

    def handlers(self) -> dict[str, Callable[[], object]]:
        """What each action does."""
        window = self._window
        chat, trace = window.chat, window.trace
        return {
            "go.command": self._open_palette,
            "go.graph": partial(window.show_pane, "graph"),
            "find.pane": self._find,
            "copy.why": window.why.copy,
            "copy.row": trace.copy_row,
            "copy.report": self._copy_report,
            "message.first": partial(chat.go_to_end, last=False),
            "message.previous": partial(chat.step, -1),
            "message.next": partial(chat.step, 1),
            "message.last": partial(chat.go_to_end, last=True),
            "message.number": self._go_to_number,
            "message.previous_change": partial(chat.step_change, -1),
            "message.next_change": partial(chat.step_change, 1),
            "message.expand": chat.toggle_expanded,
            "swipe.previous": partial(self._step_swipe, -1),
            "swipe.next": partial(self._step_swipe, 1),
            "trace.ai": self._show_ai,
            "trace.entry": partial(window.show_pane, "entry"),
            "trace.why": partial(window.show_pane, "why"),
            "trace.filter": trace.open_search,
            "view.next_pane": partial(window.cycle_panes, 1),
            "view.previous_pane": partial(window.cycle_panes, -1),
        }

    def _open_palette(self) -> None:
        commands = self._window.commands
        choices = [
            Choice(
                action.title.rstrip("…"),
                action.menu.replace("/", " › "),
                commands.actions[action.id].shortcut().toString(),
                action.id,
                commands.actions[action.id].isEnabled(),
            )
            for action in commands.table.values()
            if action.id != "go.command"
        ]
        window = self._window
        picker = Picker(window.theme, tr("Command palette"), tr("Type a few letters of a command"), choices, window)
        picker.picked.connect(lambda key: window.run(str(key)))
        picker.open_over(window)

    def _find(self) -> None:
        pane = self._window.current_pane()
        if pane is None or not pane.open_search():
            self._window.show_pane("vault")
            self._window.vault.open_search()

    def _copy_report(self) -> None:
        self._window.trace.copy_report()
        self._window.status.flash(tr("The report was copied."))

    def _show_ai(self) -> None:
        self._window.raise_pane("trace")
        self._window.trace.show_ai()

    def _go_to_number(self) -> None:
        self._window.raise_pane("chat")
        self._window.chat.open_search()

    def _step_swipe(self, steps: int) -> None:
        if self._window.selection.message is not None:
            self._window.chat.step_swipe(self._window.selection.message, steps)


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
