"""Keeps a growing list at its end, smoothly, as long as the person has not scrolled away from it."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QEasingCurve, QObject, QVariantAnimation, Signal
from PySide6.QtWidgets import QStyle

from lorestudio.ui.widgets.message_list import MessageList

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
