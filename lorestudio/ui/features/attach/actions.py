"""Live capture in the window: its dialog, and a sign in the title line for as long as something can come in."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

from lorestudio.ui.shell.actions import Action
from lorestudio.ui.shell.feature import Context, Feature
from lorestudio.ui.shell.words import tr
from lorestudio.ui.widgets.layouts import iconed, tool

if TYPE_CHECKING:
    from lorestudio.ui.features.attach.dialog import LiveCapture, LiveCaptureDialog


class AttachFeature(Feature):
    """Listens only where a person switched it on, and no longer than the window lives."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._folder: Path | None = None
        tip = tr("Requests to SillyTavern's provider go through the studio. Press to see them, or to end it.")
        name, text = tr("Live capture is on"), tr("Listening")
        self.sign = iconed(context.theme, tool(context.window, name, self.open, text=text, tip=tip), "server")
        self.sign.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.sign.hide()

    @cached_property
    def live(self) -> LiveCapture:
        """What listens; loaded when it is first wanted, for it takes a tenth of the window's start."""
        from lorestudio.ui.features.attach.dialog import LiveCapture

        live = LiveCapture(self.context.session.jobs, self)
        live.changed.connect(self._show)
        if self._folder is not None:
            live.use(self._folder)
        return live

    def actions(self) -> Iterable[Action]:
        """What can be done."""
        return (
            Action(
                "attach.open", "Live capture…", "Run", 242, self.open, icon="server",
                tip="Listen between SillyTavern and its provider, and keep the real prompts",
                ticked=lambda: "live" in vars(self) and self.live.listens,
            ),
        )  # fmt: skip

    def open(self) -> LiveCaptureDialog:
        """Show the dialog."""
        from lorestudio.ui.features.attach.dialog import LiveCaptureDialog  # as above

        context = self.context
        dialog = LiveCaptureDialog(context.theme, self.live, context.session, context.window)
        dialog.wanted.connect(lambda reply: context.selection.choose_message(reply.message, reply))
        dialog.open()
        return dialog

    def keep_in(self, folder: Path) -> None:
        """Captures lie beside what else the window keeps."""
        self._folder = folder.parent / "attach"
        if "live" in vars(self):
            self.live.use(self._folder)

    def stop(self) -> None:
        """Nothing listens without a window."""
        if "live" in vars(self):
            self.live.close()

    def _show(self) -> None:
        if self.sign.isVisibleTo(self.context.window) != self.live.listens:
            self.sign.setVisible(self.live.listens)
            self.context.set_title(note=tr("listening") if self.live.listens else "")
            self.context.actions_changed()
