"""A reply that grows in the chat while it comes: its place in the list, its text so far, and the end kept in sight."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QObject, QTimer, Signal

from lorestudio.studio.generation import Generation
from lorestudio.ui.panes.chat_pane import ChatPane
from lorestudio.ui.widgets.end_keeper import EndKeeper
from lorestudio.ui.words import tr

PAUSE_MS: Final = 33
"""Pieces that come faster than this are shown together."""


class ArrivingReply(QObject):
    """Shows the reply to one generation in the message list. `out_of_sight` says whether its end is not followed."""

    out_of_sight = Signal(bool)

    def __init__(self, pane: ChatPane) -> None:
        super().__init__(pane)
        self._pane = pane
        self._keeper = EndKeeper(pane.view)
        self._keeper.changed.connect(self._tell)
        self._generation: Generation | None = None
        self._text = ""
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(PAUSE_MS)
        self._timer.timeout.connect(self._show)
        self._place: tuple[bool, tuple[int, int]] | None = None
        pane.model.modelReset.connect(self._look_again)

    @property
    def text(self) -> str:
        """What came so far."""
        return self._text

    def begin(self, generation: Generation) -> None:
        """A reply is asked for."""
        self._generation, self._text, self._place = generation, "", None
        self._keeper.start()
        self._show()
        self._tell()

    def hear(self, piece: str) -> None:
        """A piece of it arrived."""
        self._text += piece
        if self._generation is not None and not self._timer.isActive():
            self._timer.start()

    def undecided(self) -> None:
        """It stays as it is until the person decides about it."""
        self._timer.stop()
        self._show(tr("not kept yet"))

    def put(self, text: str) -> None:
        """The person changed what came."""
        if self._generation is not None and text != self._text:
            self._text = text
            self._show(tr("not kept yet"))

    def end(self) -> None:
        """It is in the chat, or thrown away. What is looked at stays so through the change of the chat that follows."""
        self._timer.stop()
        if self._generation is None:
            return
        self._keep_place()
        self._generation, self._text = None, ""
        self._keeper.stop()
        self._pane.model.end_reply()

    def reveal(self) -> None:
        """Bring its end into sight, and follow it."""
        bar = self._pane.view.verticalScrollBar()
        bar.setValue(bar.maximum())

    def _show(self, words: str = "") -> None:
        if self._generation is not None:
            self._pane.model.write_reply(self._generation.message, self._text, words or tr("being written…"))

    def _look_again(self) -> None:
        """The chat is another one by a step: it got room for another swipe, or was changed while the reply comes."""
        if self._generation is not None:
            self._keep_place()

    def _keep_place(self) -> None:
        if self._place is None:
            self._place = self._keeper.following, self._pane.view.top()
            QTimer.singleShot(0, self, self._settle)

    def _settle(self) -> None:
        """Put the view back where it was: at the end, or on what was read."""
        if self._place is not None:
            (at_end, top), self._place = self._place, None
            if at_end:
                self.reveal()
            else:
                self._pane.view.put_top(*top)

    def _tell(self) -> None:
        self.out_of_sight.emit(self._generation is not None and not self._keeper.following)
