"""A reply that grows in the chat while it comes: its place in the list, its text so far, and the end kept in sight.

Keeps a growing list at its end, smoothly, as long as the person has not scrolled away from it.
"""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QEasingCurve, QObject, QTimer, QVariantAnimation, Signal
from PySide6.QtWidgets import QStyle

from lorestudio.domain.chat import Generation
from lorestudio.ui.features.chat.message_list import MessageList
from lorestudio.ui.features.chat.pane import ChatPane
from lorestudio.ui.shell.qt import later
from lorestudio.ui.shell.words import tr

NEAR: Final = 4
"""So many pixels from the end still count as the end."""


class EndKeeper(QObject):
    """`following` says whether the end is kept; scrolling up lets go of it, and scrolling to the end takes it up again.

    The end moves where rows grow, and where the list gets lower. Nothing is done until `start` and after `stop`. How
    long a movement takes is the style's choice, which may be none where the person wants no animations.
    """

    changed = Signal()

    def __init__(self, view: MessageList) -> None:
        super().__init__(view)
        self._view, self._bar = view, view.verticalScrollBar()
        self.active = False
        self.following = False
        self._own = False
        self._value = 0
        self._motion = QVariantAnimation(self)
        self._motion.setEasingCurve(QEasingCurve.Type.OutCubic)
        self._motion.valueChanged.connect(self._move)
        self._bar.valueChanged.connect(self._scrolled)
        self._bar.rangeChanged.connect(self._grew)

    @property
    def at_end(self) -> bool:
        """Whether the end is in sight."""
        return self._bar.value() >= self._bar.maximum() - NEAR

    def start(self) -> None:
        """Keep the end in sight from here on, if it is."""
        self.active, self._value = True, self._bar.value()
        self._follow(self.at_end)

    def stop(self) -> None:
        """Let the list be."""
        self.active = False
        self._motion.stop()
        self._follow(False)

    def _grew(self) -> None:
        """The end is somewhere else."""
        if not self.active or not self.following:
            return
        target = self._bar.maximum()
        duration = self._view.style().styleHint(QStyle.StyleHint.SH_Widget_Animation_Duration, None, self._view)
        if duration <= 0 or not self._view.isVisible():
            self._move(target)
            return
        self._motion.stop()
        self._motion.setDuration(duration)
        self._motion.setStartValue(self._bar.value())
        self._motion.setEndValue(target)
        self._motion.start()

    def _move(self, value: object) -> None:
        if isinstance(value, int):
            self._own = True
            self._bar.setValue(value)
            self._own = False
            self._value = self._bar.value()

    def _scrolled(self, value: int) -> None:
        before, self._value = self._value, value
        if self._own or not self.active or self._view.settling:
            return
        if self.at_end:
            self._follow(True)
        elif value < before:  # upwards: the person reads something else
            self._motion.stop()
            self._follow(False)

    def _follow(self, following: bool) -> None:
        if following != self.following:
            self.following = following
            self.changed.emit()


SETTLING: Final = 4
"""After so many turns of the event loop the list has the height that it keeps."""

PAUSE_MS: Final = 33
"""Pieces that come faster than this are shown together."""


class StreamingReply(QObject):
    """Shows the reply to one generation in the message list. `out_of_sight` says whether its end is not followed."""

    out_of_sight = Signal(bool)

    def __init__(self, pane: ChatPane) -> None:
        super().__init__(pane)
        self._pane = pane
        self._keeper = EndKeeper(pane.view)
        self._keeper.changed.connect(self._tell)
        self._generation: Generation | None = None
        self._text = ""
        self._timer = later(self, self._show, PAUSE_MS)
        self._place: tuple[bool, tuple[int, int]] | None = None
        self._turns = 0
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
        while bar.value() < bar.maximum():  # rows that come into sight turn out higher than guessed
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
            self._turns = SETTLING
            QTimer.singleShot(0, self, self._settle)

    def _settle(self) -> None:
        """Put the view back where it was: at the end, or on what was read. It gets its height in the turns after."""
        if self._place is None:
            return
        at_end, top = self._place
        if at_end:
            self.reveal()
        else:
            self._pane.view.put_top(*top)
        self._turns -= 1
        if self._turns:
            QTimer.singleShot(0, self, self._settle)
        else:
            self._place = None

    def _tell(self) -> None:
        self.out_of_sight.emit(self._generation is not None and not self._keeper.following)
