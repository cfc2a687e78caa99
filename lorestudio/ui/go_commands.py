"""Getting about in the window: the palette, searching, panes, messages and swipes of the chat, rows of the trace."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from lorestudio.ui.command_group import CommandGroup
from lorestudio.ui.widgets.picker import Choice, Picker
from lorestudio.ui.words import tr


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
